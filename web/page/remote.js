// Instances of the engine's module, each in a worker of its own. Workers start from a blob: a page that is opened as a
// file may not load scripts of workers.

// Runs in the worker. A call names a method of one of its objects, or a function of the module.
function workerMain() {
  const objects = {};
  const answer = (message, transfer) => self.postMessage(message, transfer ?? []);
  self.onmessage = ({ data }) => {
    const { id, module, target, method, args, progress } = data;
    try {
      let value;
      if (module) value = void wasm_bindgen.initSync({ module });
      else {
        const values = [...args];
        if (progress !== undefined) {
          values[progress] = (text, bytes) => answer({ id, progress: text, bytes }, bytes ? [bytes.buffer] : []);
        }
        if (method === "new") objects[target] = new wasm_bindgen[target](...values);
        else if (method.startsWith("new ")) objects[target] = wasm_bindgen[target][method.slice(4)](...values);
        else value = (target ? objects[target] : wasm_bindgen)[method](...values);
      }
      answer({ id, value }, value instanceof Uint8Array ? [value.buffer] : []);
    } catch (error) {
      // A trap leaves the instance in an unknown state.
      answer({ id, error: String(error?.message ?? error), fatal: error instanceof WebAssembly.RuntimeError });
    }
  };
}

let compiled = null;
let workerAddress = null;

// The module, compiled once for all workers.
function compileModule() {
  compiled ??= (async () => {
    const { DYAD } = globalThis;
    if (!DYAD) throw new Error("the file engine.js is missing or damaged");
    const packed = Uint8Array.from(atob(DYAD.wasm), (letter) => letter.charCodeAt(0));
    DYAD.wasm = "";
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    workerAddress = URL.createObjectURL(new Blob([DYAD.glue, `\n(${workerMain})();\n`], { type: "text/javascript" }));
    return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
  })();
  return compiled;
}

class Stopped extends Error {}

class Remote {
  // `setup` is called after each start, to make the worker's objects.
  constructor(name, setup) {
    this.name = name;
    this.setup = setup;
    this.waiting = new Map();
    this.count = 0;
    this.worker = null;
    this.ready = null;
    // Whether it is not started again once it has stopped: a new worker would not know what this one did.
    this.isFinal = false;
    this.isOver = false;
  }

  start() {
    if (this.isOver) return Promise.reject(new Stopped("stopped"));
    this.ready ??= (async () => {
      const module = await compileModule();
      const worker = new Worker(workerAddress, { name: this.name });
      this.worker = worker;
      worker.onmessage = ({ data }) => this.receive(data);
      worker.onerror = (event) => {
        event.preventDefault();
        this.fail(new Error(event.message || "the worker stopped"));
      };
      worker.onmessageerror = () => this.fail(new Error("a message of the worker cannot be read"));
      await this.post({ module });
      await this.setup(this);
    })();
    const { ready } = this;
    // A failed start is tried again by the next call.
    ready.catch((error) => {
      if (this.ready === ready) this.stop(error);
    });
    return ready;
  }

  post(message, progress) {
    return new Promise((resolve, reject) => {
      const id = ++this.count;
      this.waiting.set(id, { resolve, reject, progress });
      this.worker.postMessage({ ...message, id });
    });
  }

  receive({ id, value, error, fatal, progress, bytes }) {
    const call = this.waiting.get(id);
    if (!call) return;
    if (progress !== undefined) {
      call.progress?.(progress, bytes);
      return;
    }
    this.waiting.delete(id);
    if (error === undefined) call.resolve(value);
    else {
      call.reject(new Error(error));
      if (fatal) this.fail(new Error(error));
    }
  }

  // Ends the worker; the next call starts a new one, unless this one is final.
  stop(reason = new Stopped("stopped")) {
    this.isOver = this.isFinal;
    this.worker?.terminate();
    this.worker = null;
    this.ready = null;
    for (const { reject } of this.waiting.values()) reject(reason);
    this.waiting.clear();
  }

  fail(error) {
    this.stop(new Error(`${this.name}: ${error.message}`));
  }

  // A call of a method of the object `target`, or of a function of the module if it is null. The callback is the last
  // argument.
  async call(target, method, args = [], onProgress) {
    await this.start();
    return this.direct(target, method, args, onProgress);
  }

  // The same without waiting for the start: for `setup`.
  direct(target, method, args = [], onProgress) {
    const message = { target, method, args };
    if (onProgress) message.progress = args.length;
    return this.post(message, onProgress);
  }

  async json(target, method, args, onProgress) {
    const text = await this.call(
      target,
      method,
      args,
      onProgress && ((part, bytes) => onProgress(JSON.parse(part), bytes)),
    );
    return JSON.parse(text);
  }
}

// An engine in a worker, with the weights it is given.
class EngineRemote extends Remote {
  constructor(name) {
    super(name, async (remote) => {
      await remote.direct("Engine", "new", this.weights ? [this.weights] : []);
      if (this.seed !== undefined) await remote.direct("Engine", "new_game", [this.seed]);
    });
    this.weights = null;
  }

  async setWeights(weights) {
    if (this.weights === weights) return;
    this.weights = weights;
    if (this.ready) await this.call("Engine", "set_weights", [weights ?? undefined]);
  }

  async newGame(seed) {
    this.seed = seed;
    if (this.ready) await this.call("Engine", "new_game", [seed]);
  }

  // Sets the position and calls a method on it, with no other call between them.
  async callAt(position, method, args, onProgress) {
    await this.start();
    const set = this.direct("Engine", "position", [JSON.stringify(position)]);
    const [, value] = await Promise.all([set, this.direct("Engine", method, args, onProgress)]);
    return value;
  }

  async at(position, method, args, onProgress) {
    return JSON.parse(
      await this.callAt(position, method, args, onProgress && ((part) => onProgress(JSON.parse(part)))),
    );
  }

  position(position) {
    return this.json("Engine", "position", [JSON.stringify(position)]);
  }
}
