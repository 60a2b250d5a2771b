//! What rare 2-tuples share with others like them.
//!
//! There are 145,152 2-tuples, and 20,000 of them are 95 % of all that occur: most have too few positions to learn their own
//! weight from. So a 2-tuple's weight is made the sum of a rest of its own and of weights that it shares, by
//!
//! - both pieces and where the other stands as seen from the first: an own pawn two ranks ahead of the king, on its file;
//! - both pieces and the square of the first; and both pieces and the square of the other.
//!
//! Shared weights and rests are learned together, each held to zero by L2, so what is rare falls back on what it shares. Only
//! the sums leave: the tables of the network stay as they are.

use dyad_engine::board::Square;
use dyad_engine::eval::layout::PAIRS;
use dyad_engine::eval::pairs::{Pair, ROWS, TABLES, pair, pieces_of};

/// Kinds of shared weights that every 2-tuple has one of.
const KINDS: usize = 3;
/// Ranks or files from one square to another: -7 to 7.
const STEPS: usize = 15;
const BY_DISTANCE: usize = TABLES * STEPS * STEPS;
const BY_FIRST: usize = TABLES * ROWS;
const BY_OTHER: usize = TABLES * 64;

/// Number of shared weights.
pub(super) const SHARED: usize = BY_DISTANCE + BY_FIRST + BY_OTHER;

/// Which shared weights belong to each 2-tuple.
pub(super) struct BackOff(Vec<[u32; KINDS]>);

impl BackOff {
    pub(super) fn new() -> BackOff {
        BackOff((0..PAIRS.len).map(shared).collect())
    }

    /// What 2-tuples have of `weights` in common.
    pub(super) fn sums<'a>(&'a self, weights: &'a [[f64; 2]]) -> impl Iterator<Item = [f64; 2]> + 'a {
        self.0.iter().map(|shared| {
            shared.iter().map(|&number| weights[number as usize]).fold([0.0; 2], |[a, b], [mg, eg]| [a + mg, b + eg])
        })
    }

    /// The gradient of the shared weights, by that of the 2-tuples.
    pub(super) fn gradient(&self, gradient: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut sums = vec![[0.0; 2]; SHARED];
        for (shared, [mg, eg]) in self.0.iter().zip(gradient) {
            for &number in shared {
                let sum = &mut sums[number as usize];
                sum[0] += mg;
                sum[1] += eg;
            }
        }
        sums
    }
}

/// The shared weights of the 2-tuple at `index`.
fn shared(index: usize) -> [u32; KINDS] {
    let (first, other) = pieces_of(index);
    let Pair { table, row, .. } = pair(first, other);
    let place = |square: Square| (square.get_rank().to_index(), square.get_file().to_index());
    let ((rank, file), (other_rank, other_file)) = (place(first.square), place(other.square));
    let distance = (other_rank + 7 - rank) * STEPS + other_file + 7 - file;
    [
        table * STEPS * STEPS + distance,
        BY_DISTANCE + table * ROWS + row,
        BY_DISTANCE + BY_FIRST + table * 64 + other.square.to_index(),
    ]
    .map(|number| number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::{Color, Piece, PieceSquare};

    #[test]
    fn pairs_share_by_distance_and_by_squares() {
        let of = |knight, king| {
            let knight = PieceSquare::new(Color::White, Piece::Knight, knight);
            shared(pair(knight, PieceSquare::new(Color::Black, Piece::King, king)).index())
        };
        let agree = |a: [u32; KINDS], b: [u32; KINDS]| std::array::from_fn::<bool, KINDS, _>(|kind| a[kind] == b[kind]);
        // One rank and two files to the right of the knight, twice; and the mirror image of one.
        assert_eq!(agree(of(Square::B4, Square::D5), of(Square::C3, Square::E4)), [true, false, false]);
        assert_eq!(agree(of(Square::B4, Square::D5), of(Square::G4, Square::E5)), [true; KINDS]);
        assert_eq!(agree(of(Square::B4, Square::D5), of(Square::B4, Square::D6)), [false, true, false]);
        assert_eq!(agree(of(Square::B4, Square::D5), of(Square::B3, Square::D5)), [false, false, true]);
        assert!((0..PAIRS.len).flat_map(shared).all(|number| (number as usize) < SHARED));
    }

    #[test]
    fn sums_and_gradient_are_of_one_table() {
        let back_off = BackOff::new();
        let weights: Vec<[f64; 2]> = (0..SHARED).map(|number| [number as f64, 1.0]).collect();
        let sums: Vec<[f64; 2]> = back_off.sums(&weights).collect();
        assert_eq!(sums.len(), PAIRS.len);
        assert_eq!(sums[5_000], [shared(5_000).iter().map(|&number| f64::from(number)).sum(), KINDS as f64]);
        let mut gradient = vec![[0.0; 2]; PAIRS.len];
        gradient[5_000] = [2.0, -1.0];
        let shared_gradient = back_off.gradient(&gradient);
        for (number, slope) in shared_gradient.into_iter().enumerate() {
            let own = shared(5_000).contains(&(number as u32));
            assert_eq!(slope, if own { [2.0, -1.0] } else { [0.0; 2] }, "{number}");
        }
    }
}
