//! `go perft`: counts positions, to find faults of the move generator.
//!
//! A count takes from no time to forever, and must still obey `stop`. Above the lowest plies the
//! count is therefore made here, where it can look at the control between moves.

use std::time::Instant;

use dyad_engine::board::Board;
use dyad_engine::control::Control;
use dyad_engine::engine::perft;

use crate::display::Say;
use crate::info::nps;

/// No machine will ever count deeper.
pub const MAX_DEPTH: u32 = 20;

/// Counts so deep are made in one go: milliseconds in most positions.
const UNSTOPPABLE: u32 = 3;

/// Says how many positions lie behind each move, and then how many in all.
pub fn divide(board: &Board, depth: u32, control: &Control, say: &mut Say) -> Vec<String> {
    let start = Instant::now();
    let mut total = 0;
    if depth == 0 {
        total = 1;
    } else {
        for &mv in board.moves().iter() {
            let nodes = count(&board.after(mv), depth - 1, control);
            if control.stopped() {
                return vec!["info string perft stopped".to_string()];
            }
            say(format!("{}: {nodes}", board.uci(mv)));
            total += nodes;
        }
    }
    let speed = nps(total, start.elapsed());
    vec![format!("info string {speed} nps"), String::new(), format!("Nodes searched: {total}")]
}

fn count(board: &Board, depth: u32, control: &Control) -> u64 {
    if depth <= UNSTOPPABLE {
        return perft(board, depth);
    }
    board.moves().iter().take_while(|_| !control.stopped()).map(|&mv| count(&board.after(mv), depth - 1, control)).sum()
}
