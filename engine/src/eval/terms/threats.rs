//! Threats: what attacks what, and what could next move.
//!
//! The first table is the papers' "chasing the opponent's pieces" (COP in Tseng, Chen, Wu), refined by
//! how the attacked piece is defended. The others are the threats that Stockfish and Ethereal count.

use super::view::*;
use crate::board::squares::*;
use crate::board::{BitBoard, attacks};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits our threats against their pieces; needs the attack maps of both.
pub fn threats<S: Visitor>(view: &View, visitor: &mut S) {
    let squares = Contested::new(view);
    attacked_pieces(view, &squares, visitor);
    pawn_threats(view, &squares, visitor);
    queen_threats(view, &squares, visitor);
    let restricted = view.them.attacked & view.us.attacked & !squares.strong;
    let empty = (restricted & !view.occupied).len();
    visitor.add(RESTRICTED.at(Occupied(false)), empty as i32);
    visitor.add(RESTRICTED.at(Occupied(true)), (restricted.len() - empty) as i32);
}

/// Who holds which squares.
struct Contested {
    /// Squares they hold against anything: defended by a pawn, or twice while we attack once.
    strong: BitBoard,
    /// Their pieces that we attack and they do not hold.
    weak: BitBoard,
    /// Squares where our pieces are not lost: not attacked by them, or defended by us.
    safe: BitBoard,
}

impl Contested {
    fn new(view: &View) -> Self {
        let (us, them) = (&view.us, &view.them);
        let strong = them.attacks[PAWN] | (them.twice & !us.twice);
        Self { strong, weak: them.all & !strong & us.attacked, safe: !them.attacked | us.attacked }
    }
}

/// Each of their pieces that we attack, with each of our piece types that attacks it.
fn attacked_pieces<S: Visitor>(view: &View, squares: &Contested, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let weak = squares.weak & !them.pieces[KING];
    let pieces = weak & !them.pieces[PAWN];
    // What holds is not branched on: no processor can predict it.
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
        visitor.add_attacked(defense, target, us.attacks.map(|attacks| attacks.has(at)));
        visitor.add_if(hanging.has(at), HANGING.at(OnMove(view.to_move), target), 1);
    }
    let held = weak & them.attacked;
    let queen_defends = held & them.attacks[QUEEN] & !them.twice;
    let overloaded = held & !us.twice & !queen_defends;
    visitor.add(QUEEN_DEFENDS.at(), queen_defends.len() as i32);
    visitor.add(OVERLOADED.at(NotPawn(false)), (overloaded & them.pieces[PAWN]).len() as i32);
    visitor.add(OVERLOADED.at(NotPawn(true)), (overloaded & !them.pieces[PAWN]).len() as i32);
    visitor.add(TARGETS.at(OnMove(view.to_move), Targets(pieces.len())), 1);
}

/// Attacks by pawns that stand safely, or could after a push.
fn pawn_threats<S: Visitor>(view: &View, squares: &Contested, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let count = |group: Group<(NotPawnNorKing,)>, attacked: BitBoard, visitor: &mut S| {
        for at in each(attacked & them.all & !them.pieces[PAWN] & !them.pieces[KING]) {
            visitor.add(group.at(NotPawnNorKing(them.piece_on(at))), 1);
        }
    };
    let attacked = (us.pieces[PAWN] & squares.safe).pawn_attacks();
    count(PAWN_THREAT, attacked, visitor);

    let free = !view.occupied;
    let one = us.pieces[PAWN].north() & free;
    let pushes = one | ((one & rank_set(2)).north() & free);
    let pushes = pushes & !them.attacks[PAWN] & squares.safe;
    count(PUSH_THREAT, pushes.pawn_attacks() & !attacked, visitor);
}

/// Safe squares from which a knight or a slider of ours would attack their queen.
fn queen_threats<S: Visitor>(view: &View, squares: &Contested, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let queens = them.pieces[QUEEN];
    if queens.is_empty() || queens.more_than_one() {
        return;
    }
    let queen = queens.to_square();
    let alone = WithoutQueen(us.pieces[QUEEN].is_empty());
    let open = !us.pieces[PAWN] & !squares.strong;
    let mut add = |attacker: usize, from: BitBoard| {
        let count = from.len() as i32;
        visitor.add_if(count > 0, QUEEN_THREAT.at(QueenAttacker(attacker), alone), count);
    };
    add(KNIGHT, us.attacks[KNIGHT] & attacks::knight(queen) & open & !us.all);
    let twice = us.twice & open & !us.all;
    add(BISHOP, us.attacks[BISHOP] & attacks::bishop(queen, view.occupied) & twice);
    add(ROOK, us.attacks[ROOK] & attacks::rook(queen, view.occupied) & twice);
}
