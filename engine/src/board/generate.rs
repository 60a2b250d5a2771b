//! Legal move generation: all moves, or in stages for the move picker: noisy moves, quiet moves, quiet checks.
//!
//! Most nodes cut off on a capture, and quiescence search needs captures and a few checks only, so each stage generates
//! its own targets. All moves come in the order of the `chess` crate's generator: the random openings of a seed depend
//! on it.

use super::squares::{FILE_A, FILE_H, rank_set};
use super::{BitBoard, Board, Color, EMPTY, Move, MoveList, Piece, Square, Squares, attacks, each, square, square_set};

const ALL: BitBoard = BitBoard(!0);
const PROMOTIONS: [Piece; 4] = [Piece::Queen, Piece::Knight, Piece::Rook, Piece::Bishop];

/// Directions of the pawns of one color, as rotations of a set.
struct Directions {
    west: u32,
    ahead: u32,
    east: u32,
    /// The rank on which a single step ends that a double step continues.
    third: BitBoard,
    /// The promotion rank.
    last: BitBoard,
}

const DIRECTIONS: [Directions; 2] = [
    Directions { west: 7, ahead: 8, east: 9, third: rank_set(2), last: rank_set(7) },
    Directions { west: 55, ahead: 56, east: 57, third: rank_set(5), last: rank_set(0) },
];

#[inline(always)]
fn shifted(set: BitBoard, direction: u32) -> BitBoard {
    BitBoard(set.0.rotate_left(direction))
}

/// The origin of a pawn that moved to `to` in a direction.
#[inline(always)]
fn back(to: Square, direction: u32) -> Square {
    square(to.to_index().wrapping_sub(direction as usize))
}

/// What the legality of all moves depends on.
struct Generator<'a> {
    board: &'a Board,
    us: Color,
    king: Square,
    pinned: BitBoard,
    /// Squares on which a piece other than the king resolves a check; all squares without a check.
    evasions: BitBoard,
}

impl Board {
    /// The legal moves: by piece type, pinned pieces after the others of their type, en passant after all pawn moves, the
    /// king last.
    pub fn moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.for_each_but_castling(|mv| list.push(mv));
        // Castling is ordered among the king's moves, which come last.
        if self.can_castle(self.side_to_move()) {
            for mv in self.castling_moves() {
                let before = |other: &Move| other.from() != mv.from() || other.to() <= mv.to();
                list.insert(list.iter().rposition(before).map_or(0, |last| last + 1), mv);
            }
        }
        list
    }

    /// Visits the legal moves, castling last.
    pub(crate) fn for_each_legal(&self, mut visit: impl FnMut(Move)) {
        self.for_each_but_castling(&mut visit);
        if self.can_castle(self.side_to_move()) {
            self.castling_moves().for_each(visit);
        }
    }

    /// Whether there is a legal move.
    pub fn has_legal_move(&self) -> bool {
        // In Chess960 castling may be the only move: the king does not always move.
        self.count_moves() > 0
    }

    /// The number of legal moves.
    pub fn count_moves(&self) -> usize {
        let mut count = 0;
        self.for_each_legal(|_| count += 1);
        count
    }

    /// [Perft](https://www.chessprogramming.org/Perft): counts the leaves of the tree of legal moves, to test the generator.
    /// The count of a tree of more than three plies, which takes longer than milliseconds, ends early when `stopped`.
    pub fn perft(&self, depth: u32, stopped: &impl Fn() -> bool) -> u64 {
        match depth {
            0 => 1,
            1 => self.count_moves() as u64,
            _ => {
                let mut nodes = 0;
                self.for_each_legal(|mv| {
                    if depth <= 3 || !stopped() {
                        nodes += self.after(mv).perft(depth - 1, stopped);
                    }
                });
                nodes
            }
        }
    }

    fn for_each_but_castling(&self, mut visit: impl FnMut(Move)) {
        let generator = Generator::new(self);
        let targets = !self.colors(generator.us);
        if generator.evasions.any() {
            for piece in [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
                let own = self.colored(generator.us, piece);
                for from in each(own & !generator.pinned).chain(each(own & generator.pinned)) {
                    let reach = generator.reach(piece, from) & targets & generator.evasions;
                    for to in each(reach & generator.pin_line(from)) {
                        if piece == Piece::Pawn && generator.directions().last.has(to) {
                            PROMOTIONS.into_iter().for_each(|to_be| visit(Move::new(from, to).with_promotion(to_be)));
                        } else {
                            visit(Move::new(from, to));
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

    /// Visits the legal noisy moves (see [`Board::is_noisy`]), each with the moving piece.
    pub(crate) fn for_each_noisy(&self, mut visit: impl FnMut(Piece, Move)) {
        let enemy = self.colors(!self.side_to_move());
        Generator::new(self).all(enemy, &mut visit, |generator, visit| {
            generator.pawn_captures(enemy, visit);
            generator.queen_promotions(visit);
            generator.en_passant(visit);
        });
    }

    /// Visits the legal moves that are not noisy, each with the moving piece.
    pub(crate) fn for_each_quiet(&self, mut visit: impl FnMut(Piece, Move)) {
        let generator = Generator::new(self);
        generator.all(!self.occupied(), &mut visit, |generator, visit| generator.pawn_steps(ALL, visit));
        if self.can_castle(generator.us) {
            self.castling_moves().for_each(|mv| visit(Piece::King, mv));
        }
    }

    /// Visits the legal moves that are not noisy and give check, each with the moving piece.
    pub(crate) fn for_each_quiet_check(&self, mut visit: impl FnMut(Piece, Move)) {
        let (generator, checks) = (Generator::new(self), self.checks());
        let free = !self.occupied();
        // Pawn moves and castling can give check in more ways than from their destination.
        let mut visit_checks = |piece, mv| {
            if checks.given_by(self, mv) {
                visit(piece, mv);
            }
        };
        let discover = (checks.blockers & generator.pawns()).any();
        let pawn_targets =
            if discover { ALL } else { checks.squares[Piece::Pawn.to_index()] | generator.directions().last };
        if generator.evasions.any() {
            generator.pawn_steps(pawn_targets, &mut visit_checks);
        }
        if self.can_castle(generator.us) {
            self.castling_moves().for_each(|mv| visit_checks(Piece::King, mv));
        }
        let targets = |piece, from| free & checks.squares_from(piece, from);
        generator.pieces(|piece, from| targets(piece, from) & generator.evasions, &mut visit);
        generator.king_steps(targets(Piece::King, generator.king), &mut visit);
    }
}

impl<'a> Generator<'a> {
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

    /// Visits the moves of pieces and king to `targets`, and the pawn moves that `pawns` visits.
    #[inline(always)]
    fn all<V: FnMut(Piece, Move)>(&self, targets: BitBoard, visit: &mut V, pawns: impl FnOnce(&Self, &mut V)) {
        if self.evasions.any() {
            pawns(self, visit);
            self.pieces(|_, _| targets & self.evasions, visit);
        }
        self.king_steps(targets, visit);
    }

    /// Moves of knights, bishops, rooks and queens to the `targets` of each.
    #[inline(always)]
    fn pieces(&self, targets: impl Fn(Piece, Square) -> BitBoard, visit: &mut impl FnMut(Piece, Move)) {
        let mut moves = |piece, from, reach: BitBoard| {
            for to in each(reach & targets(piece, from) & self.pin_line(from)) {
                visit(piece, Move::new(from, to));
            }
        };
        let own = |piece| self.board.colored(self.us, piece);
        for from in each(own(Piece::Knight)) {
            moves(Piece::Knight, from, attacks::knight(from));
        }
        // One loop for all sliders: a loop per piece type mispredicts its exits.
        let [bishops, rooks, queens] = [own(Piece::Bishop), own(Piece::Rook), own(Piece::Queen)];
        for from in each(bishops | rooks | queens) {
            let mask_if = |condition: bool| BitBoard(u64::from(condition).wrapping_neg());
            let occupied = self.board.occupied();
            let diagonal = attacks::bishop(from, occupied) & mask_if((bishops | queens).has(from));
            let straight = attacks::rook(from, occupied) & mask_if((rooks | queens).has(from));
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

    /// Pseudo-legal destinations of a piece, including squares of own pieces.
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

    /// The squares to which the piece on `from` can move with respect to pins.
    #[inline(always)]
    fn pin_line(&self, from: Square) -> BitBoard {
        if self.pinned.has(from) { attacks::line(self.king, from) } else { ALL }
    }

    #[inline(always)]
    fn king_steps(&self, targets: BitBoard, visit: &mut impl FnMut(Piece, Move)) {
        let occupied = self.board.occupied() ^ square_set(self.king);
        let enemy = self.board.colors(!self.us);
        for to in each(attacks::king(self.king) & targets) {
            if (self.board.attackers_to(to, occupied) & enemy).is_empty() {
                visit(Piece::King, Move::new(self.king, to));
            }
        }
    }

    #[inline(always)]
    fn directions(&self) -> &'static Directions {
        &DIRECTIONS[self.us.to_index()]
    }

    #[inline(always)]
    fn pawns(&self) -> BitBoard {
        self.board.colored(self.us, Piece::Pawn)
    }

    /// Visits the pawn move to `to` unless a pin forbids it: as each of `promotions` on the last rank.
    #[inline(always)]
    fn pawn(&self, to: Square, direction: u32, promotions: &[Piece], visit: &mut impl FnMut(Piece, Move)) {
        let from = back(to, direction);
        if !self.pin_line(from).has(to) {
            return;
        }
        if !self.directions().last.has(to) {
            visit(Piece::Pawn, Move::new(from, to));
        } else {
            for &promotion in promotions {
                visit(Piece::Pawn, Move::new(from, to).with_promotion(promotion));
            }
        }
    }

    /// Captures, including all promotions with capture.
    #[inline(always)]
    fn pawn_captures(&self, enemy: BitBoard, visit: &mut impl FnMut(Piece, Move)) {
        let (pawns, directions) = (self.pawns(), self.directions());
        for (edge, direction) in [(FILE_A, directions.west), (FILE_H, directions.east)] {
            for to in each(shifted(pawns & !edge, direction) & enemy & self.evasions) {
                self.pawn(to, direction, &PROMOTIONS, visit);
            }
        }
    }

    /// Promotions to a queen without capture.
    #[inline(always)]
    fn queen_promotions(&self, visit: &mut impl FnMut(Piece, Move)) {
        let directions = self.directions();
        for to in
            each(shifted(self.pawns(), directions.ahead) & directions.last & !self.board.occupied() & self.evasions)
        {
            self.pawn(to, directions.ahead, &[Piece::Queen], visit);
        }
    }

    #[inline(always)]
    fn en_passant(&self, visit: &mut impl FnMut(Piece, Move)) {
        let Some(target) = self.board.en_passant else { return };
        for from in each(attacks::pawn(!self.us, target) & self.pawns()) {
            if self.board.en_passant_leaves_no_check(from, target) {
                visit(Piece::Pawn, Move::new(from, target));
            }
        }
    }

    /// Single and double steps to `targets`, including underpromotions.
    #[inline(always)]
    fn pawn_steps(&self, targets: BitBoard, visit: &mut impl FnMut(Piece, Move)) {
        let (directions, free) = (self.directions(), !self.board.occupied());
        let targets = targets & self.evasions;
        let single = shifted(self.pawns(), directions.ahead) & free;
        for to in each(single & targets) {
            self.pawn(to, directions.ahead, &[Piece::Knight, Piece::Rook, Piece::Bishop], visit);
        }
        for to in each(shifted(single & directions.third, directions.ahead) & free & targets) {
            // Two steps back; never a promotion.
            self.pawn(to, 2 * directions.ahead % 64, &[], visit);
        }
    }
}
