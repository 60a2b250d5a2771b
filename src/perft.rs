//! `go perft`, which `stop` can end.

use std::time::Instant;

use dyad_engine::board::Board;
use dyad_engine::control::Control;

use crate::display::PrintLine;
use crate::info::nps;

/// Larger depths are clamped to this one, which no machine can finish.
pub const MAX_DEPTH: u32 = 20;

/// Reports the leaves below each root move, and returns the lines that report the total.
pub fn divide(board: &Board, depth: u32, control: &Control, print: &mut PrintLine) -> Vec<String> {
    let start = Instant::now();
    let mut total = 0;
    if depth == 0 {
        total = 1;
    } else {
        for &mv in board.moves().iter() {
            let nodes = board.after(mv).perft(depth - 1, &|| control.stopped());
            if control.stopped() {
                return vec!["info string perft stopped".to_string()];
            }
            print(format!("{}: {nodes}", board.uci(mv)));
            total += nodes;
        }
    }
    let speed = nps(total, start.elapsed());
    vec![format!("info string {speed} nps"), String::new(), format!("Nodes searched: {total}")]
}
