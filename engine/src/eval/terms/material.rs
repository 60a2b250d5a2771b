//! Material pairs: counts of one piece type against counts of another.
//!
//! The papers' MATL2: what a rook is worth depends on how many pawns there are, two bishops on whether
//! the enemy has minor pieces to exchange for one, and so on. Each pair of types is a 2-tuple over the
//! two counts, once for own with own pieces and once for own with enemy pieces.

use crate::board::squares::Squares;
use crate::board::{Board, Color, PIECES, Piece};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Values by which it is judged who is ahead, in pawns.
const VALUES: [i32; 5] = [1, 3, 3, 5, 9];

/// What the material says to the other terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// By how many pawns' worth White is ahead.
    pub lead: i32,
    /// Of which in pieces.
    pub pieces: i32,
    /// Which of the endings with well-known drawing chances this is.
    pub ending: Option<EndingKind>,
    /// The same when the bishops stand on opposite colors.
    pub opposite_bishops: Option<EndingKind>,
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
fn ending(
    &[_, ref white @ ..]: &[usize; 5],
    &[_, ref black @ ..]: &[usize; 5],
    opposite_bishops: bool,
) -> Option<EndingKind> {
    Some(match (white, black) {
        ([0, 0, 0, 0], [0, 0, 0, 0]) => EndingKind::Pawns,
        ([1, 0, 0, 0], [1, 0, 0, 0]) => EndingKind::Knights,
        ([0, 1, 0, 0], [0, 1, 0, 0]) if opposite_bishops => EndingKind::OppositeBishops,
        ([0, 1, 0, 0], [0, 1, 0, 0]) => EndingKind::SameBishops,
        ([0, 1, 0, 0], [1, 0, 0, 0]) | ([1, 0, 0, 0], [0, 1, 0, 0]) => EndingKind::KnightBishop,
        ([0, 0, 1, 0], [0, 0, 1, 0]) => EndingKind::Rooks,
        ([0, 0, 2, 0], [0, 0, 2, 0]) => EndingKind::TwoRooks,
        ([0, 0, 0, 1], [0, 0, 0, 1]) => EndingKind::Queens,
        ([0, 1, 1, 0], [0, 1, 1, 0]) if opposite_bishops => EndingKind::RooksOppositeBishops,
        ([_, 1, _, _], [_, 1, _, _]) if opposite_bishops => EndingKind::MoreOppositeBishops,
        _ => return None,
    })
}

/// Visits the material pairs of both players. They depend on the material key alone.
pub fn material_terms<S: Visitor>(board: &Board, visitor: &mut S) -> Balance {
    let levels = |color: Color| {
        std::array::from_fn(|piece| {
            let count = board.colored(color, PIECES[piece]).len();
            count.min(COUNT_LEVELS[piece] - 1)
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
            let types = [one, other];
            visitor.add(MATERIAL_PAIRS_ENEMY.at(Counts { types, counts: [us[one], them[other]] }), sign);
            if other > one {
                visitor.add(MATERIAL_PAIRS_OWN.at(Counts { types, counts: [us[one], us[other]] }), sign);
            }
        }
    }
}
