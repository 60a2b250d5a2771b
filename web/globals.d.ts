// What the page's scripts get from engine.js.
declare const wasm_bindgen: any;
declare var DYAD: { version: string; revision: string; glue: string; wasm: string };
