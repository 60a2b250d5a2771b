//! Material pairs: counts of one piece type against counts of another.
//!
//! The papers' MATL2: what a rook is worth depends on how many pawns there are, two bishops on whether
//! the enemy has minor pieces to exchange for one, and so on. Each pair of types is a 2-tuple over the
//! two counts, once for own with own men and once for own with enemy men.

use crate::board::{Board, Color, PIECES};
use crate::eval::layout::*;
use crate::eval::sink::Sink;

/// How many counts are told apart, by piece type: 0 to 8 pawns, up to two knights, bishops and rooks,
/// up to one queen. What is above counts as the most.
pub const LEVELS: [usize; 5] = [9, 3, 3, 3, 2];

/// Features of the pairs of different types among the men of one player.
pub const OWN_LEN: usize = starts(0, false).1;
/// Features of the pairs of a type with a type among the enemy's men.
pub const ENEMY_LEN: usize = starts(0, true).1;

/// First feature of each pair of types, by the place of the pair: each type with itself and those after it.
const OWN: [usize; 25] = starts(0, false).0;
const ENEMY: [usize; 25] = starts(0, true).0;

const fn starts(first: usize, with_itself: bool) -> ([usize; 25], usize) {
    let mut starts = [0; 25];
    let mut next = first;
    let mut one = 0;
    while one < 5 {
        let mut other = if with_itself { one } else { one + 1 };
        while other < 5 {
            starts[one * 5 + other] = next;
            next += LEVELS[one] * LEVELS[other];
            other += 1;
        }
        one += 1;
    }
    (starts, next)
}

/// Visits the material pairs of both players. They depend on the material key alone.
pub fn material_terms<S: Sink>(board: &Board, sink: &mut S) {
    let levels = |color: Color| {
        std::array::from_fn(|piece| {
            let count = board.colored(color, PIECES[piece]).popcnt() as usize;
            count.min(LEVELS[piece] - 1)
        })
    };
    let (white, black) = (levels(Color::White), levels(Color::Black));
    if white == black {
        return;
    }
    pairs(&white, &black, 1, sink);
    pairs(&black, &white, -1, sink);
}

fn pairs<S: Sink>(us: &[usize; 5], them: &[usize; 5], sign: i32, sink: &mut S) {
    for one in 0..5 {
        for other in one..5 {
            let pair = one * 5 + other;
            let row = us[one] * LEVELS[other];
            sink.add(MATERIAL_PAIRS_ENEMY.at(ENEMY[pair] + row + them[other]), sign);
            if other > one {
                sink.add(MATERIAL_PAIRS_OWN.at(OWN[pair] + row + us[other]), sign);
            }
        }
    }
}

/// The two piece types and the two counts that a feature of [`MATERIAL_PAIRS_OWN`] (or, `with_itself`,
/// of [`MATERIAL_PAIRS_ENEMY`]) is about.
pub fn decode(index: usize, with_itself: bool) -> [(usize, usize); 2] {
    let starts = if with_itself { &ENEMY } else { &OWN };
    let pairs = (0..5).flat_map(|one| (one + usize::from(!with_itself)..5).map(move |other| (one, other)));
    let started = pairs.filter(|&(one, other)| starts[one * 5 + other] <= index);
    let (one, other) = started.max().expect("the first pair starts at 0");
    let place = index - starts[one * 5 + other];
    [(one, place / LEVELS[other]), (other, place % LEVELS[other])]
}
