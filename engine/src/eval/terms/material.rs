//! [Material](https://www.chessprogramming.org/Material) imbalance, MATL2 of the papers.
//!
//! The value of a rook depends on the number of pawns, that of a bishop pair on the enemy's minor pieces, and so on.
//! Each pair of piece types has a table indexed by both numbers, of the same player or of both players.

use crate::board::squares::Squares;
use crate::board::{Board, Color, PAWN_UNITS, PIECES, Piece};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// The material balance, for other terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// White's advantage in pawns.
    pub lead: i32,
    /// White's advantage in pieces other than pawns, in pawns.
    pub pieces: i32,
    /// The kind of drawish ending without opposite bishops.
    pub ending: Option<DrawishEnding>,
    /// The kind of drawish ending with opposite bishops.
    pub opposite_bishops: Option<DrawishEnding>,
}

impl Balance {
    fn new(board: &Board) -> Self {
        let [white, black] = [Color::White, Color::Black]
            .map(|color| -> [usize; 5] { std::array::from_fn(|piece| board.colored(color, PIECES[piece]).len()) });
        let value = |piece: usize| PAWN_UNITS[piece] * (white[piece] as i32 - black[piece] as i32);
        let pawns = Piece::Pawn.to_index();
        let pieces = (pawns + 1..white.len()).map(value).sum::<i32>();
        Self {
            lead: pieces + value(pawns),
            pieces,
            ending: ending(&white, &black, false),
            opposite_bishops: ending(&white, &black, true),
        }
    }
}

/// The kind of drawish ending with these numbers of pawns, knights, bishops, rooks and queens.
fn ending(
    &[_, ref white @ ..]: &[usize; 5],
    &[_, ref black @ ..]: &[usize; 5],
    opposite_bishops: bool,
) -> Option<DrawishEnding> {
    Some(match (white, black) {
        ([0, 0, 0, 0], [0, 0, 0, 0]) => DrawishEnding::Pawns,
        ([1, 0, 0, 0], [1, 0, 0, 0]) => DrawishEnding::Knights,
        ([0, 1, 0, 0], [0, 1, 0, 0]) if opposite_bishops => DrawishEnding::OppositeBishops,
        ([0, 1, 0, 0], [0, 1, 0, 0]) => DrawishEnding::SameBishops,
        ([0, 1, 0, 0], [1, 0, 0, 0]) | ([1, 0, 0, 0], [0, 1, 0, 0]) => DrawishEnding::KnightBishop,
        ([0, 0, 1, 0], [0, 0, 1, 0]) => DrawishEnding::Rooks,
        ([0, 0, 2, 0], [0, 0, 2, 0]) => DrawishEnding::TwoRooks,
        ([0, 0, 0, 1], [0, 0, 0, 1]) => DrawishEnding::Queens,
        ([0, 1, 1, 0], [0, 1, 1, 0]) if opposite_bishops => DrawishEnding::RooksOppositeBishops,
        ([_, 1, _, _], [_, 1, _, _]) if opposite_bishops => DrawishEnding::MoreOppositeBishops,
        _ => return None,
    })
}

/// Visits the material terms of both players.
pub fn material_terms<V: Visitor>(board: &Board, visitor: &mut V) -> Balance {
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

fn pairs<V: Visitor>(us: &[usize; 5], them: &[usize; 5], sign: i32, visitor: &mut V) {
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
