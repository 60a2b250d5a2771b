//! Threats: attacks on pieces, now and with the next move.
//!
//! `ATTACKED` is the papers' "chasing the opponent's pieces" (COP in Tseng, Chen, Wu), refined by the defense of the
//! attacked piece. The others are threats of Stockfish and Ethereal: [hanging
//! pieces](https://www.chessprogramming.org/Hanging_Piece), overloaded defenders, attacks by pawns and pawn pushes,
//! squares to attack the queen from, restricted squares.

use super::view::*;
use crate::board::squares::*;
use crate::board::{BitBoard, attacks};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits our threats; needs the attack maps of both sides.
pub(crate) fn threats<V: Visitor>(view: &View, visitor: &mut V) {
    let squares = Protection::new(view);
    attacked_pieces(view, &squares, visitor);
    pawn_threats(view, &squares, visitor);
    queen_threats(view, &squares, visitor);
    let restricted = view.them.attacked & view.us.attacked & !squares.strong;
    let empty = (restricted & !view.occupied).len();
    visitor.add(RESTRICTED.at(Occupied(false)), empty as i32);
    visitor.add(RESTRICTED.at(Occupied(true)), (restricted.len() - empty) as i32);
}

/// How squares are attacked and defended.
struct Protection {
    /// Squares that they strongly protect: by a pawn, or twice where we do not attack twice.
    strong: BitBoard,
    /// Their pieces that we attack and that are not strongly protected.
    weak: BitBoard,
    /// Squares that are safe for our pieces: not attacked by them, or defended by us.
    safe: BitBoard,
}

impl Protection {
    fn new(view: &View) -> Self {
        let (us, them) = (&view.us, &view.them);
        let strong = them.attacks[PAWN] | (them.twice & !us.twice);
        Self { strong, weak: them.all & !strong & us.attacked, safe: !them.attacked | us.attacked }
    }
}

/// Their attacked pieces, by the types of the attackers and their defense.
fn attacked_pieces<V: Visitor>(view: &View, squares: &Protection, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let weak = squares.weak & !them.pieces[KING];
    let pieces = weak & !them.pieces[PAWN];
    // `add_if` and `add_batch` in place of unpredictable branches.
    let hanging = (weak & !them.attacked) | (pieces & us.twice);
    for at in each(them.all & us.attacked & !them.pieces[KING]) {
        let target = Target(them.piece_on(at));
        let defense = if them.attacks[PAWN].has(at) {
            Defense::ByPawn
        } else if them.attacked.has(at) {
            Defense::ByPiece
        } else {
            Defense::Undefended
        };
        visitor.add_batch(ATTACKED.batch(defense, target), us.attacks.map(|attacks| attacks.has(at)));
        visitor.add_if(hanging.has(at), HANGING.at(OnMove(view.to_move), target), 1);
    }
    let queen_defends = weak & them.attacks[QUEEN] & !them.twice;
    // Attacked once, and defended by a piece other than the queen.
    let overloaded = weak & them.attacked & !us.twice & !queen_defends;
    visitor.add(QUEEN_DEFENDS.at(), queen_defends.len() as i32);
    visitor.add(OVERLOADED.at(NotPawn(false)), (overloaded & them.pieces[PAWN]).len() as i32);
    visitor.add(OVERLOADED.at(NotPawn(true)), (overloaded & !them.pieces[PAWN]).len() as i32);
    visitor.add(TARGETS.at(OnMove(view.to_move), Targets(pieces.len())), 1);
}

/// Attacks by safe pawns, and by pawns after a safe push.
fn pawn_threats<V: Visitor>(view: &View, squares: &Protection, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let attacked = (us.pieces[PAWN] & squares.safe).pawn_attacks();
    let free = !view.occupied;
    let one = us.pieces[PAWN].north() & free;
    let pushes = one | ((one & rank_set(2)).north() & free);
    let pushes = pushes & !them.attacks[PAWN] & squares.safe;
    for (group, attacked) in [(PAWN_THREAT, attacked), (PUSH_THREAT, pushes.pawn_attacks() & !attacked)] {
        for at in each(attacked & them.all & !them.pieces[PAWN] & !them.pieces[KING]) {
            visitor.add(group.at(NotPawnNorKing(them.piece_on(at))), 1);
        }
    }
}

/// Safe squares from which our knight, bishop or rook would attack their queen.
fn queen_threats<V: Visitor>(view: &View, squares: &Protection, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let queens = them.pieces[QUEEN];
    if queens.is_empty() || queens.more_than_one() {
        return;
    }
    let queen = queens.to_square();
    let without_queen = WithoutQueen(us.pieces[QUEEN].is_empty());
    let free = !us.all & !squares.strong;
    let mut add = |attacker: usize, from: BitBoard| {
        visitor.add(QUEEN_THREAT.at(QueenAttacker(attacker), without_queen), from.len() as i32);
    };
    add(KNIGHT, us.attacks[KNIGHT] & attacks::knight(queen) & free);
    // A slider on the square needs a second defender, as in Stockfish.
    let twice = us.twice & free;
    add(BISHOP, us.attacks[BISHOP] & attacks::bishop(queen, view.occupied) & twice);
    add(ROOK, us.attacks[ROOK] & attacks::rook(queen, view.occupied) & twice);
}
