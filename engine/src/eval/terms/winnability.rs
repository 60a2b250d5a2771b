//! Winnability: how likely a material advantage is to win, Stockfish's initiative made linear.
//!
//! Stockfish scales the evaluation by pawns on both wings, opposite bishops and the number of pawns. A linear
//! evaluation cannot scale, and features that are the same for both players would cancel. So these features count for
//! the side that is ahead in material, and for neither side if material is equal.

use super::material::Balance;
use super::view::*;
use crate::board::BitBoard;
use crate::board::squares::*;
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits the terms of the side that is ahead; `view` is White's.
pub(crate) fn winnability<V: Visitor>(view: &View, balance: &Balance, visitor: &mut V) {
    let &Balance { lead, pieces, .. } = balance;
    if lead == 0 {
        return;
    }
    let sign = lead.signum();
    let (ahead, behind): (&Side, &Side) = if lead > 0 { (view.us, view.them) } else { (view.them, view.us) };
    let advantage = Advantage { ahead, behind, lead: lead.unsigned_abs() as usize, pieces: pieces * sign };
    advantage.visit(sign, visitor);
    if let Some(ending) = if advantage.opposite_bishops() { balance.opposite_bishops } else { balance.ending } {
        visitor.add(DRAWISH_ENDING.at(ending, LeadSize(advantage.lead), BothWings(advantage.on_both_wings())), sign);
    }
}

/// Both sides, ordered by material.
struct Advantage<'a> {
    ahead: &'a Side,
    behind: &'a Side,
    /// The advantage in pawns.
    lead: usize,
    /// The advantage in pieces other than pawns, negative if pawns outweigh missing pieces.
    pieces: i32,
}

impl Advantage<'_> {
    fn both(&self, piece: usize) -> BitBoard {
        self.ahead.pieces[piece] | self.behind.pieces[piece]
    }

    fn on_both_wings(&self) -> bool {
        (self.both(PAWN) & QUEEN_SIDE).any() && (self.both(PAWN) & !QUEEN_SIDE).any()
    }

    fn visit<V: Visitor>(&self, sign: i32, visitor: &mut V) {
        let large = LargeLead(self.lead > 2);
        let (king, enemy_king) = (self.ahead.king(), self.behind.king());
        let across = file(king).abs_diff(file(enemy_king)) as i32;
        let apart = rank(king).abs_diff(rank(enemy_king)) as i32;
        let passed = (self.ahead.passed | self.behind.passed).len();
        visitor.add(WINNABILITY_PAWNS.at(large, AllPawns(self.both(PAWN).len())), sign);
        visitor.add(WINNABILITY_WINGS.at(large, BothWings(self.on_both_wings())), sign);
        visitor.add(WINNABILITY_OUTFLANKING.at(large, Outflanking(across - apart)), sign);
        visitor.add(WINNABILITY_PASSED.at(large, AllPassed(passed)), sign);
        let pieces = match self.pieces {
            ..=-1 => PieceLead::Behind,
            0 => PieceLead::Pawns,
            1..=2 => PieceLead::Little,
            3..=4 => PieceLead::Piece,
            _ => PieceLead::More,
        };
        visitor.add(WINNABILITY_OWN_PAWNS.at(pieces, OwnPawns(self.ahead.pieces[PAWN].len())), sign);
    }

    fn opposite_bishops(&self) -> bool {
        let dark = |side: &Side| (side.pieces[BISHOP] & DARK_SQUARES).any();
        dark(self.ahead) != dark(self.behind)
    }
}
