//! The output of `bench`.

use std::sync::Arc;

use dyad_engine::bench::{self, DEPTH};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use serde_json::json;

use crate::display::PrintLine;
use crate::info::nps;

/// Runs the benchmark with the weights of `engine`. The last line is the one that programs read; as JSON it is the only
/// one.
pub fn run(
    depth: Option<u32>,
    json: bool,
    engine: &Engine,
    control: &Control,
    print: &mut PrintLine,
) -> Result<Vec<String>, String> {
    let (depth, mut positions) = (depth.unwrap_or(DEPTH), Vec::new());
    let mut number = 0;
    let mut on_position = |fen: &str, nodes: u64| {
        number += 1;
        match json {
            true => positions.push(json!({ "fen": fen, "nodes": nodes })),
            false => print(format!("{number:2} {nodes:>10}  {fen}")),
        }
    };
    let (nodes, time) = match bench::run(Arc::clone(engine.weights()), depth, control, &mut on_position) {
        Ok(Some(done)) => done,
        Ok(None) => return Err("bench stopped".to_string()),
        Err(error) => return Err(format!("bench: {error}")),
    };
    if json {
        let (nps, milliseconds) = (nps(nodes, time), time.as_millis() as u64);
        let found =
            json!({ "nodes": nodes, "nps": nps, "milliseconds": milliseconds, "depth": depth, "positions": positions });
        return Ok(vec![found.to_string()]);
    }
    Ok(vec![format!("{nodes} nodes {} nps", nps(nodes, time))])
}
