//! Positions resolved by quiescence search.
//!
//! The score of a search says little about the static evaluation of a position with hanging pieces: it is the value of
//! a position after all exchanges, and a search evaluates only such leaves. So a fit can learn from the leaves of all
//! positions instead of quiescent positions alone, and makes stronger weights of the same games (T43 in
//! `docs/experiments.md`).

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

/// Node limit of a quiescence search; a position that needs more has no leaf.
const LONGEST: u64 = 100_000;
/// Samples per unit of work.
const CHUNK: usize = 4_096;

/// Finds leaves; the result does not depend on earlier positions.
pub(crate) struct Leaves(LeafSearcher);

impl Leaves {
    pub(crate) fn new(weights: &Arc<Weights>) -> Leaves {
        Leaves(LeafSearcher::new(weights.clone()))
    }

    /// The leaf of the quiescence search of a position; `None` if it is in check or the game ends there.
    pub(crate) fn find(&mut self, board: &Board) -> Option<Board> {
        let budget = LeafBudget { nodes: LONGEST, stop: &AtomicBool::new(false) };
        self.0.begin_position();
        match self.0.search(board, 0, (-INFINITE, INFINITE), &budget).ok()?.end {
            LeafEnd::Quiet(leaf) if leaf.has_legal_move() && !leaf.in_check() => Some(leaf),
            _ => None,
        }
    }

    /// A sample resolved to its leaf, without the desired move.
    fn resolve(&mut self, sample: &Sample) -> Option<Sample> {
        let board = self.find(&sample.board)?;
        let score = sample.score.map(|score| match board.side_to_move() == sample.board.side_to_move() {
            true => score,
            false => score.opposite(),
        });
        Some(Sample { board, desired: None, score, ..*sample })
    }
}

/// Resolves samples to the leaves of their quiescence search with `weights`. Results, scores (for the side to move at
/// the leaf) and the split are kept; positions without a leaf are skipped. The result does not depend on the number of
/// threads.
///
/// # Errors
/// When a sample is damaged, and [`Error::Stopped`] if stopped.
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
            let resolved = |packed: &Packed| Ok(leaves.resolve(&packed.unpack()?).as_ref().map(Packed::new));
            chunk.iter().map(resolved).collect::<Result<Vec<_>, _>>().map_err(Error::Settings)
        },
        |resolved| {
            all.extend(resolved.into_iter().flatten());
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

    fn resolved(samples: &[Packed], threads: usize) -> Vec<Packed> {
        at_leaves(samples, &Arc::new(Weights::material()), threads, &Control::new(false)).unwrap()
    }

    /// A hanging queen is captured, and the score is then for the other side.
    #[test]
    fn hanging_pieces_are_captured() {
        let hangs = packed("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", 900);
        let leaf = resolved(&[hangs], 1)[0].unpack().unwrap();
        assert!(leaf.board.fen().starts_with("4k3/8/8/3P4/8/8/8/4K3 b"), "{}", leaf.board);
        assert_eq!((leaf.score, leaf.desired), (Some(Score(-900)), None));
        assert_eq!((leaf.result, leaf.test, leaf.starts_game), (Some(GameResult::WhiteWins), true, true));
        assert_eq!(leaf.white_score(), hangs.unpack().unwrap().white_score());
    }

    /// A quiescent position is its own leaf; a mate has none.
    #[test]
    fn quiescent_positions_stay_and_mates_are_skipped() {
        let quiescent = packed("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", -100);
        let mated = packed("R6k/6pp/8/8/8/8/8/K7 b - - 0 1", 100);
        let samples = resolved(&[quiescent, mated], 2);
        assert_eq!(samples[0].unpack().unwrap().board, quiescent.unpack().unwrap().board);
        assert_eq!(samples.len(), 1);
    }

    #[test]
    fn leaves_are_quiet_and_the_same_on_any_threads() {
        let samples: Vec<Packed> = walk(2 * CHUNK).iter().map(Packed::new).collect();
        let leaves = resolved(&samples, 1);
        assert!(leaves.len() > samples.len() / 2, "{} of {}", leaves.len(), samples.len());
        let others = resolved(&samples, 3);
        assert_eq!(leaves, others);
        let turned = leaves.iter().filter(|leaf| leaf.board().unwrap().side_to_move() == Color::White).count();
        assert!(turned > leaves.len() / 4, "{turned}");
        assert!(leaves.iter().all(|leaf| !leaf.board().unwrap().in_check()));
    }
}
