//! How a line wins: the motif behind a capture, a promotion or a mate.
//!
//! Each motif is a test on the moves and the boards of the line that ends at that move. What is not sure has no name.
//! The definitions follow those of Lichess's puzzle themes (its tagger, lichess-puzzler), so that its puzzles judge
//! them; docs/explain.md says how often the two agree.

use super::line::{Line, attackers, joined, piece_list};
use dyad_engine::board::squares::rank;
use dyad_engine::board::{
    BitBoard, Board, Color, PAWN_UNITS, Piece, Square, Squares, attacks, each, piece_name, square_set,
};

/// A motif.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A piece attacks two others and takes one of them.
    Fork,
    /// A piece that is attacked moves away, and the one behind it is taken.
    Skewer,
    /// A piece moves out of the way of another, which then takes.
    Discovery,
    /// The defender of a piece is taken.
    Removal,
    /// The defender of a square is drawn away from it.
    Deflection,
    /// A piece is attacked and has no safe square.
    Trap,
    /// A pinned piece is taken, or cannot take back.
    Pin,
    /// Another move comes before a recapture.
    InBetween,
    /// A pawn promotes.
    Promotion,
    /// Mate of a king behind its own pawns.
    BackRank,
}

/// The motif of a move of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Motif {
    /// Which.
    pub kind: Kind,
    /// The number of the move that makes it, from 0.
    pub ply: usize,
    /// What it is about: the attacked pieces; the piece that is taken, pinned or trapped.
    pub squares: Vec<Square>,
}

/// The motifs behind the move number `at` of a line, the most telling first. `before` is the square on which the move
/// before the line captured.
pub fn motifs(line: &Line, at: usize, before: Option<Square>) -> Vec<Motif> {
    let Some(case) = Case::new(line, at) else { return Vec::new() };
    let tests = [
        case.back_rank(),
        case.promotion(),
        case.fork(),
        case.skewer(),
        case.discovery(),
        case.trap(),
        case.removal(),
        case.in_between(before),
        case.deflection(),
        case.pin(),
    ];
    tests.into_iter().flatten().collect()
}

/// A capture, promotion or mate with the moves before it.
struct Case<'a> {
    line: &'a Line<'a>,
    at: usize,
    side: Color,
    from: Square,
    to: Square,
    taker: Piece,
    taken: Option<Piece>,
}

impl<'a> Case<'a> {
    fn new(line: &'a Line, at: usize) -> Option<Case<'a>> {
        let (mv, board) = (*line.moves.get(at)?, line.board(at));
        if mv.is_castling() {
            return None;
        }
        let (side, taker, taken) = (board.side_to_move(), board.moved_piece(mv), board.captured(mv));
        Some(Case { line, at, side, from: mv.from(), to: mv.to(), taker, taken })
    }

    fn motif(&self, kind: Kind, back: usize, squares: Vec<Square>) -> Option<Motif> {
        Some(Motif { kind, ply: self.at - back, squares })
    }

    /// The move `back` plies earlier, with the board before it.
    fn earlier(&self, back: usize) -> Option<(&Board, Square, Square)> {
        let ply = self.at.checked_sub(back)?;
        let mv = self.line.moves[ply];
        (!mv.is_castling()).then(|| (self.line.board(ply), mv.from(), mv.to()))
    }

    fn fork(&self) -> Option<Motif> {
        self.taken?;
        // Its fruit is taken at once, or after one or two other moves and their answers.
        [2, 4, 6].into_iter().find_map(|back| {
            let (before, _, to) = self.earlier(back)?;
            let first = self.at - back;
            if to != self.from || !self.line.stays(to, first + 1, self.at) || !self.line.stays(self.to, first, self.at)
            {
                return None;
            }
            let after = self.line.board(first + 1);
            let forker = after.piece_on(to).filter(|&piece| piece != Piece::King && !in_danger(after, to))?;
            let is_target = |&square: &Square| {
                after.piece_on(square).is_some_and(|piece| {
                    let is_loose = !is_defended(after, square) && !attackers(after, to, !self.side).has(square);
                    piece != Piece::Pawn && (value(piece) > value(forker) || is_loose)
                })
            };
            let reach = attacks::of(forker, self.side, to, after.occupied()) & before.colors(!self.side);
            let mut targets: Vec<Square> = each(reach).filter(is_target).collect();
            targets.sort_by_key(|&square| -after.piece_on(square).map_or(0, value));
            (targets.len() >= 2 && targets.contains(&self.to)).then(|| self.motif(Kind::Fork, back, targets))?
        })
    }

    fn skewer(&self) -> Option<Motif> {
        let taken = self.taken.filter(|_| is_slider(self.taker))?;
        let (before, front, to) = self.earlier(1)?;
        let (_, _, mine) = self.earlier(2)?;
        let piece = before.piece_on(front)?;
        let is_skewer = mine == self.from
            && to != self.to
            && attacks::between(self.from, self.to).has(front)
            && value(piece) > value(taken)
            && in_danger(self.line.board(self.at), self.to);
        is_skewer.then(|| self.motif(Kind::Skewer, 2, vec![front, self.to]))?
    }

    fn discovery(&self) -> Option<Motif> {
        self.taken?;
        let ((_, _, answer), (_, from, to)) = (self.earlier(1)?, self.earlier(2)?);
        if answer == self.to {
            return None;
        }
        let uncovered = from != self.from
            && to != self.to
            && to != self.from
            && attacks::between(self.from, self.to).has(from)
            && !attacks::between(self.from, self.to).has(to);
        // The moved piece takes while another gives check.
        let checkers = self.line.board(self.at - 1).checkers();
        let checks = to == self.from && checkers.any() && !checkers.has(to);
        // Named is what the other piece attacks.
        let target = if checks { self.line.board(self.at - 1).king(!self.side) } else { self.to };
        (uncovered || checks).then(|| self.motif(Kind::Discovery, 2, vec![target]))?
    }

    fn trap(&self) -> Option<Motif> {
        let taken = self.taken.filter(|&piece| !matches!(piece, Piece::Pawn))?;
        let (before, from, to) = self.earlier(1)?;
        let stood = if to == self.to { from } else { self.to };
        (before.piece_on(stood) == Some(taken) && is_trapped(before, stood))
            .then(|| self.motif(Kind::Trap, 2.min(self.at), vec![stood]))?
    }

    fn removal(&self) -> Option<Motif> {
        let taken = self.taken?;
        let (_, _, answer) = self.earlier(1)?;
        let (before, from, defender) = self.earlier(2)?;
        let now = self.line.board(self.at);
        let removes = self.taker != Piece::King
            && value(taken) <= value(self.taker)
            && !is_defended(now, self.to)
            && answer != self.to
            && defender != self.from
            && from != self.from
            && !before.in_check()
            && !self.line.board(self.at - 1).in_check()
            && before.piece_on(defender).is_some()
            && attackers(before, self.to, !self.side).has(defender);
        removes.then(|| self.motif(Kind::Removal, 2, vec![self.to, defender]))?
    }

    fn deflection(&self) -> Option<Motif> {
        let promotes = self.line.moves[self.at].promotion().is_some();
        if self.taken.is_none() && !promotes || self.taken.is_some_and(|taken| value(taken) > value(self.taker)) {
            return None;
        }
        let ((before, from, to), (root, _, bait)) = (self.earlier(1)?, self.earlier(2)?);
        let offered = root.moved_piece(self.line.moves[self.at - 2]);
        let is_offer = root.piece_on(bait).is_none_or(|piece| value(piece) < value(offered));
        let reach = |board: &Board, square: Square| {
            board
                .piece_on(square)
                .map_or(dyad_engine::board::EMPTY, |piece| attacks::of(piece, !self.side, square, board.occupied()))
        };
        let deflects = is_offer
            && self.to != to
            && self.to != bait
            && (to == bait || before.in_check())
            && reach(before, from).has(self.to)
            && !reach(self.line.board(self.at), to).has(self.to);
        deflects.then(|| self.motif(Kind::Deflection, 2, vec![self.to, from]))?
    }

    fn pin(&self) -> Option<Motif> {
        let after = self.line.board(self.at + 1);
        let enemy = !self.side;
        // Defenders that would have to leave the king.
        if self.taken.is_some() || after.in_check() && !after.has_legal_move() {
            let guards = attackers(after, self.to, enemy);
            let king = after.king(enemy);
            let is_held = |square: &Square| {
                pin_line(after, enemy, *square).is_some_and(|line| !line.has(self.to)) && *square != king
            };
            let worth_taking = |square: Square| {
                let guard = after.piece_on(square).map_or(0, value);
                value(self.taker) > guard || !is_defended(after, self.to)
            };
            let pinned: Vec<Square> = each(guards).filter(is_held).collect();
            if !pinned.is_empty() && each(guards).all(|square| pinned.contains(&square)) && worth_taking(pinned[0]) {
                return self.motif(Kind::Pin, 0, pinned);
            }
        }
        // A pinned piece that could not move away.
        let taken = self.taken?;
        let before = self.line.board(self.at.checked_sub(1)?);
        let line = pin_line(before, enemy, self.to).filter(|_| before.piece_on(self.to) == Some(taken))?;
        let pinner = each(line & attackers(before, self.to, self.side)).next()?;
        let piece = before.piece_on(pinner)?;
        let is_lost = value(taken) > value(piece)
            || !is_defended(before, self.to) && !attackers(before, pinner, enemy).has(self.to);
        (is_lost && self.from == pinner).then(|| self.motif(Kind::Pin, 0, vec![self.to]))?
    }

    fn in_between(&self, before: Option<Square>) -> Option<Motif> {
        self.taken?;
        let ((now, from, _), (root, _, to)) = (self.earlier(1)?, self.earlier(2)?);
        let between = before == Some(self.to)
            && self.at == 2
            && to != self.to
            && !attackers(now, self.to, !self.side).has(from)
            && root.is_legal(self.line.moves[self.at]);
        between.then(|| self.motif(Kind::InBetween, 2, vec![self.to]))?
    }

    fn promotion(&self) -> Option<Motif> {
        self.line.moves[self.at].promotion()?;
        self.motif(Kind::Promotion, 0, vec![self.from])
    }

    fn back_rank(&self) -> Option<Motif> {
        let after = self.line.board(self.at + 1);
        if !after.in_check() || after.has_legal_move() {
            return None;
        }
        let (enemy, king) = (!self.side, after.king(!self.side));
        let home = if enemy == Color::White { 0 } else { 7 };
        let ahead = each(attacks::king(king)).filter(|&square| rank(square) != home);
        let shut = |square: Square| after.colors(enemy).has(square) && attackers(after, square, self.side).is_empty();
        let is_mate = rank(king) == home
            && ahead.into_iter().all(shut)
            && each(after.checkers()).any(|square| rank(square) == home);
        is_mate.then(|| self.motif(Kind::BackRank, 0, vec![king]))?
    }
}

impl Kind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Fork => "fork",
            Kind::Skewer => "skewer",
            Kind::Discovery => "discovered attack",
            Kind::Removal => "removed defender",
            Kind::Deflection => "deflection",
            Kind::Trap => "trapped piece",
            Kind::Pin => "pin",
            Kind::InBetween => "in-between move",
            Kind::Promotion => "promotion",
            Kind::BackRank => "back rank",
        }
    }
}

impl Motif {
    /// What the move does, as the end of "a move that ...": "forks king and rook".
    pub fn verb(&self, line: &Line) -> String {
        let (before, after) = (line.board(self.ply), line.board(self.ply + 1));
        let on = |board: &Board, square: Square| match board.piece_on(square) {
            Some(piece) => format!("the {} on {square}", piece_name(piece)),
            None => square.to_string(),
        };
        let [first, second] = [0, 1].map(|place| self.squares.get(place).or(self.squares.first()).copied());
        let (Some(first), Some(second)) = (first, second) else { return String::new() };
        match self.kind {
            Kind::Fork => format!("forks {}", joined(&piece_list(after, &self.squares))),
            Kind::Skewer => format!("skewers {}", joined(&piece_list(after, &self.squares))),
            Kind::Discovery if after.piece_on(first) == Some(Piece::King) => "gives discovered check".to_string(),
            Kind::Discovery => format!("uncovers an attack on {}", on(after, first)),
            Kind::Removal => format!("takes the defender of {}", on(before, first)),
            Kind::Deflection => {
                format!("draws the {} away from {first}", before.piece_on(second).map_or("piece", piece_name))
            }
            Kind::Trap => format!("traps {}", on(after, first)),
            Kind::InBetween => format!("comes before the recapture on {first}"),
            Kind::Pin => format!("exploits the pin of {}", on(before, first)),
            Kind::Promotion => "promotes".to_string(),
            Kind::BackRank => "mates on the back rank".to_string(),
        }
    }
}

/// The king counts more than all others.
pub(super) fn value(piece: Piece) -> i32 {
    if piece == Piece::King { 100 } else { PAWN_UNITS[piece.to_index()] }
}

fn is_slider(piece: Piece) -> bool {
    matches!(piece, Piece::Bishop | Piece::Rook | Piece::Queen)
}

/// Whether the piece on a square has a defender, also one behind an attacker on its line.
pub(super) fn is_defended(board: &Board, square: Square) -> bool {
    let Some(color) = board.color_on(square) else { return false };
    if attackers(board, square, color).any() {
        return true;
    }
    each(attackers(board, square, !color)).filter(|&one| board.piece_on(one).is_some_and(is_slider)).any(|one| {
        let without = board.occupied() & !square_set(one);
        let behind = board.attackers_to(square, without) & board.colors(color) & !square_set(one);
        behind.any()
    })
}

/// Whether the piece on a square is attacked and undefended, or attacked by a less valuable one.
pub(super) fn in_danger(board: &Board, square: Square) -> bool {
    let (Some(color), Some(piece)) = (board.color_on(square), board.piece_on(square)) else { return false };
    let enemies = attackers(board, square, !color);
    let by_lesser =
        each(enemies).filter_map(|one| board.piece_on(one)).any(|one| one != Piece::King && value(one) < value(piece));
    enemies.any() && (by_lesser || !is_defended(board, square))
}

/// Whether the piece of the side to move on a square is in danger and can neither leave it safely nor take as much.
pub(super) fn is_trapped(board: &Board, square: Square) -> bool {
    let Some(piece) = board.piece_on(square).filter(|&piece| !matches!(piece, Piece::Pawn | Piece::King)) else {
        return false;
    };
    let escapes = |mv: &dyad_engine::board::Move| {
        let taken = board.captured(*mv).map_or(0, value);
        taken >= value(piece) || !in_danger(&board.after(*mv), mv.to())
    };
    !board.in_check()
        && pin_line(board, board.side_to_move(), square).is_none()
        && in_danger(board, square)
        && !board.moves().iter().filter(|mv| mv.from() == square).any(escapes)
}

/// The line on which the piece on a square is pinned to its king.
fn pin_line(board: &Board, color: Color, square: Square) -> Option<BitBoard> {
    let (king, occupied) = (board.king(color), board.occupied());
    if king == square || !board.colors(color).has(square) {
        return None;
    }
    let pinned = [Piece::Bishop, Piece::Rook].into_iter().any(|slider| {
        let reach = |occupied| attacks::of(slider, color, king, occupied);
        let behind = reach(occupied & !square_set(square)) & !reach(occupied);
        (behind & (board.pieces(slider) | board.pieces(Piece::Queen)) & board.colors(!color)).any()
    });
    pinned.then(|| attacks::line(king, square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::PvEnd;
    use crate::testing::game;

    /// The motifs behind the last move of a line in SAN.
    fn of(fen: &str, line: &str, before: Option<Square>) -> Vec<Kind> {
        let game = game(fen, line);
        let line = Line::new(game.start(), game.moves(), PvEnd::Evaluated, 0);
        motifs(&line, game.moves().len() - 1, before).into_iter().map(|motif| motif.kind).collect()
    }

    #[test]
    fn motifs_are_found_where_they_are() {
        let cases = [
            ("r3k3/5p1p/8/3N4/8/8/5PPP/6K1 w q - 0 1", "Nc7+ Kd8 Nxa8", Kind::Fork),
            ("4q3/8/8/4k3/8/8/8/R5K1 w - - 0 1", "Re1+ Kd4 Rxe8", Kind::Skewer),
            ("3qk3/8/8/8/3N4/8/8/3RK3 w - - 0 1", "Nf5 Kf7 Rxd8", Kind::Discovery),
            ("6k1/3r2p1/5n2/6B1/8/8/8/3R2K1 w - - 0 1", "Bxf6 gxf6 Rxd7", Kind::Removal),
            ("3r2k1/5ppp/8/3q4/8/8/5PPP/3QR1K1 w - - 0 1", "Re8+ Rxe8 Qxd5", Kind::Deflection),
            ("6k1/5ppp/8/8/8/6P1/5P1b/5K2 w - - 0 1", "Kg2 Kf8 Kxh2", Kind::Trap),
            ("4k3/8/4n3/8/8/8/5PPP/R5K1 w - - 0 1", "Re1 Kf8 Rxe6", Kind::Pin),
            ("6k1/5pp1/7p/8/2b5/1P6/5PPP/3Q2K1 w - - 0 1", "Qd8+ Kh7 bxc4", Kind::InBetween),
            ("8/1P4k1/8/8/8/8/r7/5K2 w - - 0 1", "b8=Q", Kind::Promotion),
            ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd8#", Kind::BackRank),
        ];
        for (fen, line, kind) in cases {
            assert_eq!(of(fen, line, Some(Square::C4)).first(), Some(&kind), "{fen} {line}");
        }
    }

    #[test]
    fn what_is_not_sure_has_no_name() {
        let cases = [
            // A capture, an exchange, and a piece that just stays where it is attacked.
            ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "exd5"),
            ("4k3/8/8/3n4/8/8/8/3RK3 w - - 0 1", "Rxd5"),
            ("4k3/p7/8/3n4/8/8/8/3RK3 w - - 0 1", "Rd2 a6 Rxd5"),
            // The fork takes something else.
            ("r3k3/5p1p/8/3N4/8/8/5PPP/6K1 w q - 0 1", "Nc7+ Kd7 Nb5"),
            // The king has a square.
            ("6k1/5pp1/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd8+"),
        ];
        for (fen, line) in cases {
            assert_eq!(of(fen, line, None), [], "{fen} {line}");
        }
    }
}
