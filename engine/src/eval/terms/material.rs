//! Material pairs: counts of one piece type against counts of another.
//!
//! The papers' MATL2: what a rook is worth depends on how many pawns there are, two bishops on whether
//! the enemy has minor pieces to exchange for one, and so on. Each pair of types is a 2-tuple over the
//! two counts, once for own with own men and once for own with enemy men.

use super::bits::Squares;
use crate::board::{Board, Color, PIECES, Piece};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// How many counts are told apart, by piece type: 0 to 8 pawns, up to two knights, bishops and rooks,
/// up to one queen. What is above counts as the most.
pub const LEVELS: [usize; 5] = [9, 3, 3, 3, 2];

/// Values by which it is judged who is ahead, in pawns.
const VALUES: [i32; 5] = [1, 3, 3, 5, 9];

/// The number of kinds of endings that are told apart.
pub const ENDINGS: usize = 10;

/// What the material says to the other terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// By how many pawns' worth White is ahead.
    pub lead: i32,
    /// Of which in pieces.
    pub pieces: i32,
    /// Which of the endings with well-known drawing chances this is.
    pub ending: Option<u8>,
    /// The same when the bishops stand on opposite colors.
    pub opposite_bishops: Option<u8>,
}

impl Balance {
    fn new(board: &Board) -> Self {
        let [white, black] = [Color::White, Color::Black]
            .map(|color| -> [usize; 5] { std::array::from_fn(|piece| board.colored(color, PIECES[piece]).len()) });
        let worth = |piece: usize| VALUES[piece] * (white[piece] as i32 - black[piece] as i32);
        let pawns = Piece::Pawn.to_index();
        let pieces = (pawns + 1..VALUES.len()).map(worth).sum::<i32>();
        Self {
            lead: pieces + worth(pawns),
            pieces,
            ending: ending(&white, &black, false),
            opposite_bishops: ending(&white, &black, true),
        }
    }
}

/// The kind of ending with these numbers of pawns, knights, bishops, rooks and queens.
fn ending(&[_, ref white @ ..]: &[usize; 5], &[_, ref black @ ..]: &[usize; 5], opposite_bishops: bool) -> Option<u8> {
    Some(match (white, black) {
        ([0, 0, 0, 0], [0, 0, 0, 0]) => 0,
        ([1, 0, 0, 0], [1, 0, 0, 0]) => 1,
        ([0, 1, 0, 0], [0, 1, 0, 0]) if opposite_bishops => 2,
        ([0, 1, 0, 0], [0, 1, 0, 0]) => 3,
        ([0, 1, 0, 0], [1, 0, 0, 0]) | ([1, 0, 0, 0], [0, 1, 0, 0]) => 4,
        ([0, 0, 1, 0], [0, 0, 1, 0]) => 5,
        ([0, 0, 2, 0], [0, 0, 2, 0]) => 6,
        ([0, 0, 0, 1], [0, 0, 0, 1]) => 7,
        ([0, 1, 1, 0], [0, 1, 1, 0]) if opposite_bishops => 8,
        ([_, 1, _, _], [_, 1, _, _]) if opposite_bishops => 9,
        _ => return None,
    })
}

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
pub fn material_terms<S: Visitor>(board: &Board, visitor: &mut S) -> Balance {
    let levels = |color: Color| {
        std::array::from_fn(|piece| {
            let count = board.colored(color, PIECES[piece]).popcnt() as usize;
            count.min(LEVELS[piece] - 1)
        })
    };
    let (white, black) = (levels(Color::White), levels(Color::Black));
    if white != black {
        pairs(&white, &black, 1, visitor);
        pairs(&black, &white, -1, visitor);
    }
    Balance::new(board)
}

fn pairs<S: Visitor>(us: &[usize; 5], them: &[usize; 5], sign: i32, visitor: &mut S) {
    for one in 0..5 {
        for other in one..5 {
            let pair = one * 5 + other;
            let row = us[one] * LEVELS[other];
            visitor.add(MATERIAL_PAIRS_ENEMY.at(ENEMY[pair] + row + them[other]), sign);
            if other > one {
                visitor.add(MATERIAL_PAIRS_OWN.at(OWN[pair] + row + us[other]), sign);
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
