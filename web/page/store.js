// What the browser keeps: small settings in its local storage, what is learned in a database.
function remember(key, value, ofTab = false) {
  try {
    const text = JSON.stringify(value);
    localStorage.setItem("dyad-" + key, text);
    if (ofTab) sessionStorage.setItem("dyad-" + key, text);
  } catch {
    // Storage may be off; then nothing is kept.
  }
}

function recall(key) {
  try {
    return JSON.parse(sessionStorage.getItem("dyad-" + key) ?? localStorage.getItem("dyad-" + key));
  } catch {
    return null;
  }
}

// What is learned: byte arrays by name.
class Store {
  constructor() {
    this.opened = null;
  }

  open() {
    this.opened ??= this.openNow().catch((error) => {
      this.opened = null;
      throw error;
    });
    return this.opened;
  }

  openNow() {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open("dyad", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("learn");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () =>
        reject(
          new Error(`what is learned cannot be kept in this browser: ${request.error?.message ?? "unknown reason"}`),
        );
      request.onblocked = () => reject(new Error("another tab blocks the store of this page"));
    });
  }

  async transaction(mode, act) {
    const database = await this.open();
    return new Promise((resolve, reject) => {
      const transaction = database.transaction("learn", mode);
      const request = act(transaction.objectStore("learn"));
      transaction.oncomplete = () => resolve(request?.result);
      const fail = () =>
        reject(new Error(`the browser does not keep it: ${transaction.error?.message ?? "unknown reason"}`));
      transaction.onerror = fail;
      transaction.onabort = fail;
    });
  }

  get(key) {
    return this.transaction("readonly", (store) => store.get(key));
  }

  keys() {
    return this.transaction("readonly", (store) => store.getAllKeys());
  }

  // Writes all entries or none; an entry that is undefined is deleted.
  put(entries) {
    return this.transaction("readwrite", (store) => {
      for (const [key, value] of Object.entries(entries)) {
        if (value === undefined) store.delete(key);
        else store.put(value, key);
      }
    });
  }

  clear() {
    return this.transaction("readwrite", (store) => store.clear());
  }
}
