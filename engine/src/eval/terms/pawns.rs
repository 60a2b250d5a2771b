//! [Pawn structure](https://www.chessprogramming.org/Pawn_Structure): terms that depend on the pawns alone.
//!
//! Search caches their sum, and the [`PawnInfo`] that other terms read, by the pawn key
//! ([pawn hash table](https://www.chessprogramming.org/Pawn_Hash_Table)).

use crate::board::squares::*;
use crate::board::{BitBoard, Board, Color, EMPTY, Piece, Square};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Bitboards of the pawns of one color, for other terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PawnSide {
    /// Squares attacked by the pawns.
    pub attacks: BitBoard,
    /// Squares attacked by two pawns.
    pub double_attacks: BitBoard,
    /// The attack span: squares attacked now or after advancing.
    pub span: BitBoard,
    /// Passed pawns; of doubled pawns only the front one.
    pub passed: BitBoard,
}

/// Bitboards of White's and Black's pawns, for other terms.
pub type PawnInfo = [PawnSide; 2];

/// Visits the terms of the pawn structure, for both colors.
pub fn pawn_terms<V: Visitor>(board: &Board, visitor: &mut V) -> PawnInfo {
    let white = board.colored(Color::White, Piece::Pawn);
    let black = board.colored(Color::Black, Piece::Pawn);
    [
        our_terms(Pawns { us: white, them: black }, 1, visitor),
        our_terms(Pawns { us: black.flip(), them: white.flip() }, -1, visitor).flip(),
    ]
}

impl PawnSide {
    pub(super) fn flip(&self) -> Self {
        Self {
            attacks: self.attacks.flip(),
            double_attacks: self.double_attacks.flip(),
            span: self.span.flip(),
            passed: self.passed.flip(),
        }
    }
}

/// All pawns; ours move up.
struct Pawns {
    us: BitBoard,
    them: BitBoard,
}

/// Visits the terms of our pawns.
fn our_terms<V: Visitor>(pawns: Pawns, sign: i32, visitor: &mut V) -> PawnSide {
    let attacks = pawns.us.pawn_attacks();
    let mut info =
        PawnSide { attacks, double_attacks: pawns.us.pawn_double_attacks(), span: attacks.fill_north(), passed: EMPTY };
    for square in each(pawns.us) {
        let pawn = Pawn::new(&pawns, square);
        pawn.structure(sign, visitor);
        if pawn.is_passed() {
            info.passed |= square_set(square);
            pawn.passed(sign, visitor);
        } else {
            pawn.candidate(&pawns, sign, visitor);
        }
    }
    islands(pawns.us, sign, visitor);
    info
}

/// [Pawn islands](https://www.chessprogramming.org/Pawn_Islands_(Bitboards)).
fn islands<V: Visitor>(us: BitBoard, sign: i32, visitor: &mut V) {
    let files = us.fill_south().0 & 0xFF;
    let starts = files & !(files << 1);
    visitor.add(PAWN_ISLANDS.at(Islands(starts.count_ones() as usize)), sign);
}

/// One pawn in relation to the others.
struct Pawn {
    square: Square,
    /// Rank from its own side, 1 for the second to 6 for the seventh.
    rank: usize,
    /// Own pawns on the adjacent files.
    neighbors: BitBoard,
    /// Own pawns next to it on its rank.
    phalanx: BitBoard,
    /// Own pawns that defend it.
    support: BitBoard,
    /// Own pawns ahead of it on its file.
    leading: BitBoard,
    /// Own pawns behind it on its file.
    trailing: BitBoard,
    /// Enemy pawns ahead on its file.
    opposing: BitBoard,
    /// Enemy pawns ahead of it on its file and the adjacent files.
    stoppers: BitBoard,
    /// Enemy pawns that it attacks.
    levers: BitBoard,
    /// Enemy pawns that it would attack after a push.
    push_levers: BitBoard,
    /// The enemy pawn on its stop square.
    ram: BitBoard,
}

impl Pawn {
    fn new(pawns: &Pawns, square: Square) -> Self {
        let here = square_set(square);
        let path = ahead(square);
        let neighbors = pawns.us & file_set(file(square)).adjacent_files();
        Self {
            square,
            rank: rank(square),
            neighbors,
            phalanx: pawns.us & here.adjacent_files(),
            support: pawns.us & here.adjacent_files().south(),
            leading: pawns.us & path,
            trailing: pawns.us & behind(square),
            opposing: pawns.them & path,
            stoppers: pawns.them & (path | path.adjacent_files()),
            levers: pawns.them & here.pawn_attacks(),
            push_levers: pawns.them & here.north().pawn_attacks(),
            ram: pawns.them & here.north(),
        }
    }

    fn is_isolated(&self) -> bool {
        self.neighbors.is_empty()
    }

    /// [Backward](https://www.chessprogramming.org/Backward_Pawn): behind all its neighbors, and its stop square is
    /// blocked or attacked by a pawn.
    fn is_backward(&self) -> bool {
        let not_ahead = !ranks_from(self.rank + 1);
        (self.neighbors & not_ahead).is_empty() && (self.push_levers | self.ram).any()
    }

    /// No enemy pawn ahead on its file and the adjacent files; of doubled pawns only the first counts.
    fn is_passed(&self) -> bool {
        self.stoppers.is_empty() && self.leading.is_empty()
    }

    fn structure<V: Visitor>(&self, sign: i32, visitor: &mut V) {
        let (rank, file) = (PawnRank(self.rank), EdgeFile::of(self.square));
        let opposed = Opposed(self.opposing.any());
        let supporters = self.support.len();
        let supported = Supported(supporters > 0);
        if self.is_isolated() {
            let doubled = Doubled((self.leading | self.trailing).any());
            visitor.add(PAWN_ISOLATED.at(opposed, doubled, file), sign);
        } else if self.is_backward() {
            visitor.add(PAWN_BACKWARD.at(opposed, file), sign);
        }
        if self.trailing.any() {
            let close = Close(self.trailing.has(square(self.square.to_index() - 8)));
            visitor.add(PAWN_DOUBLED.at(close, file), sign);
        }
        if self.phalanx.any() {
            visitor.add(PAWN_PHALANX.at(opposed, rank), sign);
        }
        if supporters > 0 {
            visitor.add(PAWN_SUPPORTED.at(Supporters(supporters), opposed, rank), sign);
        }
        if self.levers.any() {
            let lever = match supported {
                _ if self.levers.more_than_one() => Lever::Two,
                Supported(true) => Lever::Supported,
                Supported(false) => Lever::Unsupported,
            };
            visitor.add(PAWN_LEVER.at(lever, rank), sign);
        }
        if self.ram.any() {
            visitor.add(PAWN_RAMMED.at(supported, rank), sign);
        }
    }

    fn passed<V: Visitor>(&self, sign: i32, visitor: &mut V) {
        let rank = PawnRank(self.rank);
        visitor.add(PASSED_RANK.at(rank), sign);
        visitor.add(PASSED_FILE.at(EdgeFile::of(self.square)), sign);
        if self.support.any() {
            visitor.add(PASSED_CONNECTED.at(Connected::Supported, rank), sign);
        } else if self.phalanx.any() {
            visitor.add(PASSED_CONNECTED.at(Connected::Phalanx, rank), sign);
        }
    }

    /// [Candidate passed pawns](https://www.chessprogramming.org/Candidate_Passed_Pawn): by an exchange, with at least
    /// as many helpers as guards, or by a sacrifice.
    fn candidate<V: Visitor>(&self, pawns: &Pawns, sign: i32, visitor: &mut V) {
        if self.leading.any() {
            return;
        }
        let guards = self.stoppers & !self.levers;
        let how = if guards.is_empty() {
            Candidate::Exchange
        } else if guards == self.push_levers && self.phalanx.len() >= guards.len() {
            Candidate::Helpers
        } else if self.opposing.is_empty() {
            let helpers = self.neighbors & !ranks_from(self.rank + 1);
            if helpers.len() >= self.stoppers.len() { Candidate::HalfOpen } else { return }
        } else if self.stoppers == self.ram && self.rank >= 4 && self.can_break(pawns) {
            Candidate::Breakthrough
        } else {
            return;
        };
        visitor.add(PAWN_CANDIDATE.at(how, PawnRank(self.rank)), sign);
    }

    /// A supporter can advance next to the pawn as a sacrifice that only the ram can capture.
    fn can_break(&self, pawns: &Pawns) -> bool {
        let enemy_double = pawns.them.flip().pawn_double_attacks().flip();
        (self.support.north() & !pawns.them & !enemy_double).any()
    }
}
