//! Positions led to where evaluations are made: the leaves of their quiescence.
//!
//! What a search thought of a position of a game says little of that position's own evaluation while something can be taken. It
//! says it of the position in which all exchanges are over; and search evaluates nowhere else. So a fit may learn from the
//! leaves of all positions, where otherwise it could use only the still ones among them, and with the same games makes stronger
//! weights (T43 in `docs/experiments.md`).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dyad_engine::board::Board;
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::search::{LeafBudget, LeafEnd, LeafSearcher};
use dyad_engine::value::INFINITE;
use dyad_formats::error::Error;
use dyad_formats::packed::{Packed, Sample};

use crate::base::parallel::ordered_for_each;

/// Nodes of a quiescence; a position that needs more has no leaf.
const LONGEST: u64 = 100_000;
/// Samples that a thread takes at a time.
const CHUNK: usize = 4_096;

/// Finds leaves, the same for a position whatever was searched before.
pub(crate) struct Leaves(LeafSearcher);

impl Leaves {
    pub(crate) fn new(weights: &Arc<Weights>) -> Leaves {
        Leaves(LeafSearcher::new(weights.clone()))
    }

    /// The leaf of a position's quiescence: none where the game ends, and none that is in check.
    pub(crate) fn find(&mut self, board: &Board) -> Option<Board> {
        let budget = LeafBudget { nodes: LONGEST, stop: &AtomicBool::new(false) };
        self.0.begin_position();
        match self.0.search(board, 0, (-INFINITE, INFINITE), &budget).ok()?.end {
            LeafEnd::Quiet(leaf) if leaf.has_legal_move() && !leaf.in_check() => Some(leaf),
            _ => None,
        }
    }

    /// A sample led to its leaf; the desired move, which is not one of the leaf's, is left out.
    fn lead(&mut self, sample: &Sample) -> Option<Sample> {
        let board = self.find(&sample.board)?;
        let score = sample.score.map(|score| match board.side_to_move() == sample.board.side_to_move() {
            true => score,
            false => score.opposite(),
        });
        Some(Sample { board, desired: None, score, ..*sample })
    }
}

/// Leads samples to the leaves of their quiescence with `weights`. Results, scores (from the side that is to move there) and
/// the side of the split come along; what has no leaf is left out. The same whatever the number of threads.
///
/// # Errors
/// Where a sample is damaged, and [`Error::Stopped`] when `stop` was set.
pub fn at_leaves(
    samples: &[Packed],
    weights: &Arc<Weights>,
    threads: usize,
    stop: &Control,
) -> Result<Vec<Packed>, Error> {
    let mut all = Vec::with_capacity(samples.len());
    ordered_for_each(
        threads,
        samples.chunks(CHUNK),
        || Ok(Leaves::new(weights)),
        |leaves, chunk| {
            if stop.stopped() {
                return Err(Error::Stopped);
            }
            let lead = |packed: &Packed| Ok(leaves.lead(&packed.unpack()?).as_ref().map(Packed::new));
            let led = chunk.iter().map(lead).collect::<Result<Vec<_>, _>>();
            led.map_err(Error::Settings)
        },
        |led| {
            all.extend(led.into_iter().flatten());
            Ok(())
        },
    )?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Color;
    use dyad_formats::score::{GameResult, Score};
    use dyad_formats::testing::walk;

    fn packed(fen: &str, score: i16) -> Packed {
        let board = Board::from_fen(fen).unwrap();
        let (desired, result) = (board.moves().first().copied(), Some(GameResult::WhiteWins));
        let (test, starts_game, has_margin) = (true, true, true);
        Packed::new(&Sample { board, desired, result, score: Some(Score(score)), test, starts_game, has_margin })
    }

    fn led(samples: &[Packed], threads: usize) -> Vec<Packed> {
        at_leaves(samples, &Arc::new(Weights::material()), threads, &Control::new(false)).unwrap()
    }

    /// A queen that hangs is taken, and the score is then told from the other side.
    #[test]
    fn what_is_lost_is_gone() {
        let hangs = packed("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", 900);
        let leaf = led(&[hangs], 1)[0].unpack().unwrap();
        assert!(leaf.board.fen().starts_with("4k3/8/8/3P4/8/8/8/4K3 b"), "{}", leaf.board);
        assert_eq!((leaf.score, leaf.desired), (Some(Score(-900)), None));
        assert_eq!((leaf.result, leaf.test, leaf.starts_game), (Some(GameResult::WhiteWins), true, true));
        assert_eq!(leaf.white_score(), hangs.unpack().unwrap().white_score());
    }

    /// A still position is its own leaf; a mate is none.
    #[test]
    fn still_positions_stay_and_ends_are_left_out() {
        let still = packed("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", -100);
        let mated = packed("R6k/6pp/8/8/8/8/8/K7 b - - 0 1", 100);
        let samples = led(&[still, mated], 2);
        assert_eq!(samples[0].unpack().unwrap().board, still.unpack().unwrap().board);
        assert_eq!(samples.len(), 1);
    }

    #[test]
    fn leaves_are_quiet_and_the_same_on_any_threads() {
        let samples: Vec<Packed> = walk(2 * CHUNK).iter().map(Packed::new).collect();
        let leaves = led(&samples, 1);
        assert!(leaves.len() > samples.len() / 2, "{} of {}", leaves.len(), samples.len());
        let others = led(&samples, 3);
        assert_eq!(leaves, others);
        let turned = leaves.iter().filter(|leaf| leaf.board().unwrap().side_to_move() == Color::White).count();
        assert!(turned > leaves.len() / 4, "{turned}");
        assert!(leaves.iter().all(|leaf| !leaf.board().unwrap().in_check()));
    }

    #[test]
    fn stops() {
        let stop = Control::new(false);
        stop.stop();
        let stopped =
            at_leaves(&[packed("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", 0)], &Arc::new(Weights::material()), 1, &stop);
        assert!(matches!(stopped, Err(Error::Stopped)));
    }
}
