//! How much an advantage is worth: what other engines do by scaling the evaluation.
//!
//! Whether pawns are on both wings, or the bishops stand on opposite colors, is the same for both
//! players, so a linear feature of it would mean nothing. But it says how much the player who is ahead can
//! make of it, so these features count for the player who is ahead in material, and not at all when
//! nobody is.

use super::material::Balance;
use super::view::*;
use crate::board::BitBoard;
use crate::board::squares::*;
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits the terms about the player who is ahead; White's view.
pub fn standing<S: Visitor>(view: &View, balance: &Balance, visitor: &mut S) {
    let &Balance { lead, pieces, .. } = balance;
    if lead == 0 {
        return;
    }
    let sign = lead.signum();
    let (ahead, behind): (&Side, &Side) = if lead > 0 { (view.us, view.them) } else { (view.them, view.us) };
    let board = Both { ahead, behind, lead: lead.unsigned_abs() as usize, pieces: pieces * lead.signum() };
    board.winning_chances(sign, visitor);
    if let Some(ending) = if board.opposite_bishops() { balance.opposite_bishops } else { balance.ending } {
        visitor.add(ENDING.at(ending, LeadSize(board.lead), BothWings(board.on_both_wings())), sign);
    }
}

struct Both<'a> {
    ahead: &'a Side,
    behind: &'a Side,
    /// By how many pawns' worth.
    lead: usize,
    /// Of which in pieces, negative when pawns make up for missing pieces.
    pieces: i32,
}

impl Both<'_> {
    fn both(&self, piece: usize) -> BitBoard {
        self.ahead.pieces[piece] | self.behind.pieces[piece]
    }

    fn on_both_wings(&self) -> bool {
        (self.both(PAWN) & QUEEN_SIDE).any() && (self.both(PAWN) & !QUEEN_SIDE).any()
    }

    /// What Stockfish's initiative term looks at, and how many pawns are left to win with.
    fn winning_chances<S: Visitor>(&self, sign: i32, visitor: &mut S) {
        let large = LargeLead(self.lead > 2);
        let (king, enemy_king) = (self.ahead.king(), self.behind.king());
        let across = file(king).abs_diff(file(enemy_king)) as i32;
        let apart = rank(king).abs_diff(rank(enemy_king)) as i32;
        let passed = (self.ahead.passed | self.behind.passed).len();
        visitor.add(AHEAD_PAWNS_LEFT.at(large, AllPawns(self.both(PAWN).len())), sign);
        visitor.add(AHEAD_WINGS.at(large, BothWings(self.on_both_wings())), sign);
        visitor.add(AHEAD_OUTFLANKING.at(large, Outflanking(across - apart)), sign);
        visitor.add(AHEAD_PASSED.at(large, AllPassed(passed)), sign);
        let pieces = match self.pieces {
            ..=-1 => PieceLead::Behind,
            0 => PieceLead::Pawns,
            1..=2 => PieceLead::Little,
            3..=4 => PieceLead::Piece,
            _ => PieceLead::More,
        };
        visitor.add(AHEAD_OWN_PAWNS.at(pieces, OwnPawns(self.ahead.pieces[PAWN].len())), sign);
    }

    fn opposite_bishops(&self) -> bool {
        let dark = |side: &Side| (side.pieces[BISHOP] & DARK_SQUARES).any();
        dark(self.ahead) != dark(self.behind)
    }
}
