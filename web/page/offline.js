// The service worker: keeps the files of one revision, so that the page works offline and can be installed.
const CACHE = "dyad-REVISION";
const FILES = [
  "index.html", "page.css", "engine.js", "board.js", "remote.js", "game.js", "table.js", "play.js", "explain.js",
  "maps.js", "store.js", "learn.js", "page.js", "manifest.json", "icon.svg",
];

self.addEventListener("install", (event) => {
  // Not from the browser's own cache: all files have to be of one revision.
  const requests = FILES.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(requests))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const old = async () => {
    for (const name of await caches.keys()) if (name.startsWith("dyad-") && name !== CACHE) await caches.delete(name);
  };
  event.waitUntil(old());
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  const page = new URL(event.request.url);
  page.search = page.hash = "";
  if (page.pathname.endsWith("/")) page.pathname += "index.html";
  const kept = caches.open(CACHE).then((cache) => cache.match(page.href));
  event.respondWith(kept.then((found) => found ?? fetch(event.request)));
});
