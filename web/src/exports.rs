//! The classes and functions that a page calls.

use std::cell::RefCell;

use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::LEN;
use js_sys::{Function, Uint8Array};
use serde::Serialize;
use serde_json::json;
use wasm_bindgen::prelude::*;

use crate::play::Play;
use crate::{explain, learn, play, tables, weights};

/// An error of JavaScript with this text.
fn error(text: impl std::fmt::Display) -> JsError {
    JsError::new(&text.to_string())
}

fn text(value: &impl Serialize) -> Result<String, JsError> {
    serde_json::to_string(value).map_err(error)
}

fn value<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Result<T, JsError> {
    serde_json::from_str(text).map_err(error)
}

/// Calls `function`, if there is one, with a value as JSON. What it throws is not of interest here.
fn call(function: Option<&Function>, value: &impl Serialize) {
    if let (Some(function), Ok(text)) = (function, serde_json::to_string(value)) {
        let _ = function.call1(&JsValue::NULL, &text.into());
    }
}

thread_local! {
    /// What receives the iterations of the running search: reports of a search must be `Send`, which a function is not.
    static ON_INFO: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// A panic becomes a runtime error of the module with its text: the instance is of no use afterwards.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        wasm_bindgen::throw_val(js_sys::WebAssembly::RuntimeError::new(&panic.to_string()).into())
    }));
}

/// The version of the program.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

/// The weights file of the piece values. (The page calls both functions by `${name}_weights`.)
#[wasm_bindgen]
pub fn start_weights() -> Vec<u8> {
    Weights::material().to_json()
}

/// The built-in weights file.
#[wasm_bindgen]
pub fn builtin_weights() -> Vec<u8> {
    Weights::embedded().to_json()
}

/// What a weights file holds.
#[wasm_bindgen]
pub fn weights_info(file: &[u8]) -> Result<String, JsError> {
    let weights = weights(file).map_err(error)?;
    let nonzero = weights.ints().iter().filter(|weight| **weight != [0; 2]).count();
    text(&json!({ "name": weights.meta.name, "id": weights.id(), "weights": LEN, "nonzero": nonzero }))
}

/// All levels, weakest first.
#[wasm_bindgen]
pub fn levels() -> Result<String, JsError> {
    text(&play::levels())
}

/// The starting position of Chess960 with this number.
#[wasm_bindgen]
pub fn chess960(number: u32) -> Result<String, JsError> {
    play::chess960(number).map_err(error)
}

/// Piece values and piece-square tables of a weights file.
#[wasm_bindgen]
pub fn tables(file: &[u8]) -> Result<String, JsError> {
    text(&tables::tables(&*weights(file).map_err(error)?))
}

/// What a white piece on a square is worth together with another piece on each square.
#[wasm_bindgen]
pub fn pair_map(file: &[u8], piece: &str, square: &str, other: &str) -> Result<String, JsError> {
    let weights = weights(file).map_err(error)?;
    text(&tables::pair_map(&weights, piece, square, other).map_err(error)?)
}

/// A game, the engine and the levels.
#[wasm_bindgen]
pub struct Engine(Play);

#[wasm_bindgen]
impl Engine {
    /// An engine with a weights file, or with the built-in weights.
    #[wasm_bindgen(constructor)]
    pub fn new(file: Option<Vec<u8>>) -> Result<Engine, JsError> {
        Ok(Engine(Play::new(given(file)?)))
    }

    /// Replaces the weights.
    pub fn set_weights(&mut self, file: Option<Vec<u8>>) -> Result<(), JsError> {
        self.0.set_weights(given(file)?);
        Ok(())
    }

    /// Forgets what was searched.
    pub fn new_game(&mut self, seed: f64) {
        self.0.new_game(seed as u64);
    }

    /// Sets the position.
    pub fn position(&mut self, request: &str) -> Result<String, JsError> {
        text(&self.0.position(&value(request)?).map_err(error)?)
    }

    /// Searches the current position.
    pub fn go(&mut self, request: &str, on_info: Option<Function>) -> Result<String, JsError> {
        ON_INFO.set(on_info);
        let found =
            self.0.go(&value(request)?, &mut |info| ON_INFO.with_borrow(|on_info| call(on_info.as_ref(), info)));
        ON_INFO.set(None);
        text(&found.map_err(error)?)
    }

    /// Explains the static evaluation of the current position.
    pub fn explain(&self) -> Result<String, JsError> {
        text(&explain::explain(self.0.weights(), self.0.board()))
    }

    /// The pairs of the piece on a square.
    pub fn hint(&self, square: &str) -> Result<String, JsError> {
        text(&explain::hint(self.0.weights(), self.0.board(), square).map_err(error)?)
    }

    /// Explains a move of the current position.
    pub fn why(&mut self, uci: &str) -> Result<String, JsError> {
        text(&explain::why(&mut self.0, uci, explain::WHY_NODES).map_err(error)?)
    }

    /// Reads the games of a PGN.
    pub fn read_pgn(&self, pgn: &str) -> Result<String, JsError> {
        text(&explain::read_pgn(pgn))
    }

    /// Annotates the games of a PGN.
    pub fn annotated_pgn(&self, pgn: &str, nodes: u32, on_progress: Option<Function>) -> Result<String, JsError> {
        let report = |done, of| call(on_progress.as_ref(), &json!({ "done": done, "of": of }));
        explain::annotated_pgn(self.0.weights(), pgn, nodes.into(), report).map_err(error)
    }

    /// The game in PGN; `tags` is an object of names and values.
    pub fn pgn(&self, tags: &str) -> Result<String, JsError> {
        let tags: serde_json::Map<String, serde_json::Value> = value(tags)?;
        let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
        let tags: Vec<_> = tags.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        Ok(self.0.pgn(&tags))
    }

    /// The nodes of the program's `bench`, and the speed here.
    pub fn bench(&self) -> Result<String, JsError> {
        text(&play::bench())
    }
}

/// The weights of a file, or else the built-in ones.
fn given(file: Option<Vec<u8>>) -> Result<std::sync::Arc<Weights>, JsError> {
    file.map_or_else(|| Ok(Weights::embedded()), |file| weights(&file).map_err(error))
}

/// Plays the games of tasks.
#[wasm_bindgen]
#[derive(Default)]
pub struct Worker(learn::Worker);

#[wasm_bindgen]
impl Worker {
    /// A worker without weights.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Worker {
        Worker::default()
    }

    /// Takes weights.
    pub fn set_weights(&mut self, id: &str, file: &[u8]) -> Result<(), JsError> {
        self.0.set_weights(id, file).map_err(error)
    }

    /// Does a task.
    pub fn run(&mut self, task: &str) -> Result<Vec<u8>, JsError> {
        self.0.run(task).map_err(error)
    }
}

/// A training.
#[wasm_bindgen]
pub struct Learner(learn::Learner);

#[wasm_bindgen]
impl Learner {
    /// A training from the piece values.
    #[wasm_bindgen(constructor)]
    pub fn new(seed: f64) -> Learner {
        Learner(learn::Learner::new(learn::settings(seed as u64), Weights::material().into()))
    }

    /// A training that continues from a weights file.
    pub fn from_weights(file: &[u8], seed: f64) -> Result<Learner, JsError> {
        Ok(Learner(learn::Learner::new(learn::settings(seed as u64), weights(file).map_err(error)?)))
    }

    /// A training from its state.
    pub fn restore(state: &[u8]) -> Result<Learner, JsError> {
        learn::Learner::restore(state).map(Learner).map_err(error)
    }

    /// Everything but the samples of finished generations.
    pub fn state(&self) -> Vec<u8> {
        self.0.state()
    }

    /// The generations whose samples the training needs.
    pub fn kept(&self) -> Result<String, JsError> {
        text(&self.0.kept())
    }

    /// The samples of a generation.
    pub fn samples(&self, generation: u32) -> Vec<u8> {
        self.0.samples(generation)
    }

    /// Takes the samples of a generation.
    pub fn restore_samples(&mut self, generation: u32, samples: &[u8]) -> Result<(), JsError> {
        self.0.restore_samples(generation, samples).map_err(error)
    }

    /// The next task.
    pub fn next(&mut self) -> Result<String, JsError> {
        text(&self.0.next_task().map_err(error)?)
    }

    /// The weights file of an identifier.
    pub fn weights(&self, id: &str) -> Result<Vec<u8>, JsError> {
        Ok(self.0.weights(id).map_err(error)?.to_json())
    }

    /// Takes the result of a task.
    pub fn done(&mut self, task: &str, result: &[u8]) -> Result<String, JsError> {
        text(&self.0.done(task, result).map_err(error)?)
    }

    /// Hands a task out again.
    pub fn lost(&mut self, task: &str) -> Result<(), JsError> {
        self.0.lost(task).map_err(error)
    }

    /// Fits new weights to the games. After each pass `on_progress` also receives the weights file so far.
    pub fn fit(&mut self, on_progress: Option<Function>) -> Result<String, JsError> {
        let mut report = |progress: &learn::FitProgress, weights: Option<&Weights>| {
            let (Some(function), Ok(text)) = (&on_progress, serde_json::to_string(progress)) else { return };
            let file = weights.map_or(JsValue::UNDEFINED, |weights| Uint8Array::from(&weights.to_json()[..]).into());
            let _ = function.call2(&JsValue::NULL, &text.into(), &file);
        };
        let events = self.0.fit(&mut report);
        text(&events.map_err(error)?)
    }

    /// Where the training is.
    pub fn status(&self) -> Result<String, JsError> {
        text(&self.0.status())
    }

    /// Name of the file of the best weights.
    pub fn export_name(&self) -> String {
        self.0.export_name()
    }
}
