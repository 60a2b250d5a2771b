//! Legal moves, all at once or in parts: noisy ones, quiet ones, quiet checks.
//!
//! A search is mostly done after the captures, and quiescence wants nothing else but a few checks. So each part looks at
//! its own targets alone. The board's pins and checkers decide what is legal. All moves together come in the order of the
//! `chess` crate's generator, on which random openings of a seed depend; tests hold the parts against the whole and the
//! whole against that crate and others.

use super::squares::{FILE_A, FILE_H};
use super::{BitBoard, Board, ChessMove, Color, EMPTY, Piece, Square, Squares, attacks, each, square, square_set};

const ALL: BitBoard = BitBoard(!0);
/// What a pawn may become.
const PROMOTIONS: [Piece; 4] = [Piece::Queen, Piece::Knight, Piece::Rook, Piece::Bishop];

/// A step of pawns of one color: to the left, straight on, to the right, as rotations of a set.
struct Steps {
    left: u32,
    ahead: u32,
    right: u32,
    /// Where a single step must end for a double step.
    third: BitBoard,
    /// Where pawns are promoted.
    last: BitBoard,
}

const STEPS: [Steps; 2] = [
    Steps { left: 7, ahead: 8, right: 9, third: BitBoard(0xFF << 16), last: BitBoard(0xFF << 56) },
    Steps { left: 55, ahead: 56, right: 57, third: BitBoard(0xFF << 40), last: BitBoard(0xFF) },
];

/// A set moved by a number of squares.
#[inline(always)]
fn moved(set: BitBoard, step: u32) -> BitBoard {
    BitBoard(set.0.rotate_left(step))
}

/// The square that a pawn came from.
#[inline(always)]
fn back(to: Square, step: u32) -> Square {
    square(to.to_index().wrapping_sub(step as usize))
}

/// What decides about the legality of all moves of a position.
struct Generator<'a> {
    board: &'a Board,
    us: Color,
    king: Square,
    pinned: BitBoard,
    /// Squares where a piece other than the king ends a check.
    evasions: BitBoard,
}

impl Board {
    /// Visits the legal moves, castling left out: by piece type, those of pinned pieces after the others, a pawn's en
    /// passant captures after all of these, the king's last.
    #[inline]
    pub(super) fn for_each_but_castling(&self, mut visit: impl FnMut(ChessMove)) {
        let generator = Generator::new(self);
        let targets = !self.colors(generator.us);
        if generator.evasions.any() {
            for piece in [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
                let own = self.colored(generator.us, piece);
                for from in each(own & !generator.pinned).chain(each(own & generator.pinned)) {
                    let reach = generator.reach(piece, from) & targets & generator.evasions;
                    for to in each(reach & generator.free_of_pins(from)) {
                        if piece == Piece::Pawn && generator.steps().last.has(to) {
                            PROMOTIONS.into_iter().for_each(|to_be| visit(ChessMove::new(from, to, Some(to_be))));
                        } else {
                            visit(ChessMove::new(from, to, None));
                        }
                    }
                }
                if piece == Piece::Pawn {
                    generator.en_passant(&mut |_, mv| visit(mv));
                }
            }
        }
        generator.king_steps(targets, &mut |_, mv| visit(mv));
    }

    /// Visits the legal moves that are noisy (see [`Board::is_noisy`]), each with the piece that moves.
    #[inline]
    pub fn for_each_noisy(&self, mut visit: impl FnMut(Piece, ChessMove)) {
        let enemy = self.colors(!self.side_to_move());
        Generator::new(self).each(enemy, &mut visit, |generator, visit| {
            generator.pawn_captures(enemy, visit);
            generator.queen_promotions(visit);
            generator.en_passant(visit);
        });
    }

    /// Visits the legal moves that are not noisy, each with the piece that moves.
    #[inline]
    pub fn for_each_quiet(&self, mut visit: impl FnMut(Piece, ChessMove)) {
        let generator = Generator::new(self);
        generator.each(!self.occupied(), &mut visit, |generator, visit| generator.pawn_steps(ALL, visit));
        if self.can_castle(generator.us) {
            self.castling_moves().for_each(|mv| visit(Piece::King, mv));
        }
    }

    /// Visits the legal moves that are not noisy and give check, each with the piece that moves.
    #[inline]
    pub fn for_each_quiet_check(&self, mut visit: impl FnMut(Piece, ChessMove)) {
        let (generator, checks) = (Generator::new(self), self.checks());
        let free = !self.occupied();
        // These may give check in more ways than by where they go.
        let mut visit_checks = |piece, mv| {
            if checks.given_by(self, mv) {
                visit(piece, mv);
            }
        };
        let discover = (checks.discoverers() & generator.pawns()).any();
        let pawn_targets = if discover { ALL } else { checks.targets(Piece::Pawn) | generator.steps().last };
        if generator.evasions.any() {
            generator.pawn_steps(pawn_targets, &mut visit_checks);
        }
        if self.can_castle(generator.us) {
            self.castling_moves().for_each(|mv| visit_checks(Piece::King, mv));
        }
        let targets = |piece, from| free & checks.targets_from(piece, from);
        generator.pieces(|piece, from| targets(piece, from) & generator.evasions, &mut visit);
        generator.king_steps(targets(Piece::King, generator.king), &mut visit);
    }
}

impl<'a> Generator<'a> {
    #[inline]
    fn new(board: &'a Board) -> Self {
        let us = board.side_to_move();
        let king = board.king(us);
        let checkers = board.checkers();
        let evasions = match checkers.len() {
            0 => ALL,
            1 => attacks::between(checkers.to_square(), king) | checkers,
            _ => EMPTY,
        };
        Generator { board, us, king, pinned: board.pinned(), evasions }
    }

    /// Visits what king and pieces do to `targets`, and what pawns do as told by `pawns`.
    #[inline(always)]
    fn each<V: FnMut(Piece, ChessMove)>(&self, targets: BitBoard, visit: &mut V, pawns: impl FnOnce(&Self, &mut V)) {
        if self.evasions.any() {
            pawns(self, visit);
            self.pieces(|_, _| targets & self.evasions, visit);
        }
        self.king_steps(targets, visit);
    }

    /// Moves of knights, bishops, rooks and queens to the `targets` of each.
    #[inline(always)]
    fn pieces(&self, targets: impl Fn(Piece, Square) -> BitBoard, visit: &mut impl FnMut(Piece, ChessMove)) {
        let mut moves = |piece, from, reach: BitBoard| {
            for to in each(reach & targets(piece, from) & self.free_of_pins(from)) {
                visit(piece, ChessMove::new(from, to, None));
            }
        };
        let own = |piece| self.board.colored(self.us, piece);
        for from in each(own(Piece::Knight)) {
            moves(Piece::Knight, from, attacks::knight(from));
        }
        // All sliders alike: which of them comes next no processor predicts.
        let [bishops, rooks, queens] = [own(Piece::Bishop), own(Piece::Rook), own(Piece::Queen)];
        for from in each(bishops | rooks | queens) {
            let only_if = |condition: bool| BitBoard(u64::from(condition).wrapping_neg());
            let occupied = self.board.occupied();
            let diagonal = attacks::bishop(from, occupied) & only_if((bishops | queens).has(from));
            let straight = attacks::rook(from, occupied) & only_if((rooks | queens).has(from));
            let piece = if queens.has(from) {
                Piece::Queen
            } else if rooks.has(from) {
                Piece::Rook
            } else {
                Piece::Bishop
            };
            moves(piece, from, diagonal | straight);
        }
    }

    /// Squares that a piece of ours reaches from `from`, those of our own pieces among them.
    #[inline(always)]
    fn reach(&self, piece: Piece, from: Square) -> BitBoard {
        let occupied = self.board.occupied();
        match piece {
            Piece::Pawn => {
                let captures = attacks::pawn(self.us, from) & self.board.colors(!self.us);
                captures | chess::get_pawn_quiets(from, self.us, occupied)
            }
            _ => attacks::of(piece, self.us, from, occupied),
        }
    }

    /// Where a pin lets the piece on `from` go.
    #[inline(always)]
    fn free_of_pins(&self, from: Square) -> BitBoard {
        if self.pinned.has(from) { attacks::line(self.king, from) } else { ALL }
    }

    #[inline(always)]
    fn king_steps(&self, targets: BitBoard, visit: &mut impl FnMut(Piece, ChessMove)) {
        let occupied = self.board.occupied() ^ square_set(self.king);
        let enemy = self.board.colors(!self.us);
        for to in each(attacks::king(self.king) & targets) {
            if (self.board.attackers_to(to, occupied) & enemy).is_empty() {
                visit(Piece::King, ChessMove::new(self.king, to, None));
            }
        }
    }

    #[inline(always)]
    fn steps(&self) -> &'static Steps {
        &STEPS[self.us.to_index()]
    }

    #[inline(always)]
    fn pawns(&self) -> BitBoard {
        self.board.colored(self.us, Piece::Pawn)
    }

    /// Visits a pawn's move if no pin forbids it; as each of these promotions when it ends on the last rank.
    #[inline(always)]
    fn pawn(&self, to: Square, step: u32, promotions: &[Piece], visit: &mut impl FnMut(Piece, ChessMove)) {
        let from = back(to, step);
        if !self.free_of_pins(from).has(to) {
            return;
        }
        if !self.steps().last.has(to) {
            visit(Piece::Pawn, ChessMove::new(from, to, None));
        } else {
            for &promotion in promotions {
                visit(Piece::Pawn, ChessMove::new(from, to, Some(promotion)));
            }
        }
    }

    /// Captures, promotions of all kinds among them.
    #[inline(always)]
    fn pawn_captures(&self, enemy: BitBoard, visit: &mut impl FnMut(Piece, ChessMove)) {
        let (pawns, steps) = (self.pawns(), self.steps());
        for (edge, step) in [(FILE_A, steps.left), (FILE_H, steps.right)] {
            for to in each(moved(pawns & !edge, step) & enemy & self.evasions) {
                self.pawn(to, step, &PROMOTIONS, visit);
            }
        }
    }

    /// Promotions to a queen that capture nothing.
    #[inline(always)]
    fn queen_promotions(&self, visit: &mut impl FnMut(Piece, ChessMove)) {
        let steps = self.steps();
        for to in each(moved(self.pawns(), steps.ahead) & steps.last & !self.board.occupied() & self.evasions) {
            self.pawn(to, steps.ahead, &[Piece::Queen], visit);
        }
    }

    #[inline(always)]
    fn en_passant(&self, visit: &mut impl FnMut(Piece, ChessMove)) {
        let Some(target) = self.board.en_passant else { return };
        for from in each(attacks::pawn(!self.us, target) & self.pawns()) {
            if self.board.en_passant_leaves_no_check(from, target) {
                visit(Piece::Pawn, ChessMove::new(from, target, None));
            }
        }
    }

    /// Single and double steps to `targets`, and promotions to less than a queen.
    #[inline(always)]
    fn pawn_steps(&self, targets: BitBoard, visit: &mut impl FnMut(Piece, ChessMove)) {
        let (steps, free) = (self.steps(), !self.board.occupied());
        let targets = targets & self.evasions;
        let single = moved(self.pawns(), steps.ahead) & free;
        for to in each(single & targets) {
            self.pawn(to, steps.ahead, &[Piece::Knight, Piece::Rook, Piece::Bishop], visit);
        }
        for to in each(moved(single & steps.third, steps.ahead) & free & targets) {
            // Two steps back, of which none can be a promotion.
            self.pawn(to, 2 * steps.ahead % 64, &[], visit);
        }
    }
}
