//! What happens on the board along a line of play: material that changes hands, forks, mate, draws.
//!
//! The functions replay the moves and count the pieces; they use neither evaluation nor search.

use super::difference::{PvEnd, PvLeaf};
use dyad_engine::board::{
    BitBoard, Board, Color, Move, PAWN_UNITS, PIECE_VALUES, PIECES, Piece, Square, Squares, attacks, each, piece_name,
    sign,
};

/// Plies within which a gain of material is attributed to the first move of a line.
const HORIZON: usize = 8;

/// A line of play with its positions.
pub struct Line<'a> {
    /// The moves.
    pub moves: &'a [Move],
    /// The positions before and after each move.
    boards: Vec<Board>,
    end: PvEnd,
    /// Number of moves after which gains are counted: 1 if both lines begin with the same capture.
    base: usize,
}

/// Material that one side wins along a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gain {
    /// The side that wins it.
    pub winner: Color,
    /// Number of moves of the line until it is won.
    pub plies: usize,
    /// How much the winner's surplus of each piece type grows, pawn to queen.
    pub net: [i32; 5],
}

/// A double attack that wins material.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The attacked squares, king and most valuable piece first.
    pub targets: Vec<Square>,
}

/// How a game is drawn at the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawKind {
    /// The side to move has no legal move.
    Stalemate,
    /// Neither side can mate.
    Material,
    /// By the fifty-move rule.
    FiftyMoves,
    /// By repetition.
    Repetition,
}

impl<'a> Line<'a> {
    /// The line of these legal moves, which ends in `leaf`. Gains are counted from the position after `base` moves.
    #[must_use]
    pub fn new(start: &Board, moves: &'a [Move], leaf: &PvLeaf, base: usize) -> Line<'a> {
        let mut boards = vec![*start];
        boards.extend(moves.iter().scan(*start, |board, &mv| {
            *board = board.after(mv);
            Some(*board)
        }));
        Line { moves, boards, end: leaf.end, base }
    }

    /// The position after `plies` moves.
    #[must_use]
    pub fn board(&self, plies: usize) -> &Board {
        &self.boards[plies]
    }

    /// The last position.
    #[must_use]
    pub fn last(&self) -> &Board {
        &self.boards[self.moves.len()]
    }

    /// The lasting gain of the line: material won at a quiet point within eight plies of which no more than a quarter is
    /// given back later. The first one, or a later one that is two pawns larger; a pawn more counts within two plies.
    #[must_use]
    pub fn gain(&self) -> Option<Gain> {
        let quiet: Vec<usize> = self.quiet_points().collect();
        let &last = quiet.last()?;
        let winner = [Color::White, Color::Black].into_iter().find(|&side| self.surplus(last, side) >= 1)?;
        // From the end: what the winner still has at every later quiet point.
        let mut lasting = i32::MAX;
        let mut candidates: Vec<(usize, i32)> = Vec::new();
        for &plies in quiet.iter().rev() {
            let won = self.surplus(plies, winner);
            lasting = lasting.min(won);
            // A pawn given back does not change who has won a piece.
            let lasts = won >= 1 && 4 * lasting >= 3 * won;
            if lasts && plies <= HORIZON && self.is_sound(plies, winner, won) {
                candidates.push((plies, won));
            }
        }
        let mut best = candidates.pop()?;
        for &(plies, won) in candidates.iter().rev() {
            if won >= best.1 + 2 || won > best.1 && plies <= best.0 + 2 {
                best = (plies, won);
            }
        }
        Some(Gain { winner, plies: best.0, net: self.net(best.0, winner) })
    }

    /// The smallest lasting surplus of `side` at a quiet point of the line, in pawns; 0 at its base.
    #[must_use]
    pub fn least(&self, side: Color) -> i32 {
        self.quiet_points().map(|plies| self.surplus(plies, side)).min().unwrap_or(0)
    }

    /// The numbers of moves after which the line is quiet.
    fn quiet_points(&self) -> impl Iterator<Item = usize> {
        (self.base.max(1)..=self.moves.len()).filter(|&plies| self.is_quiet(plies))
    }

    /// [`net`](Self::net) in pawns.
    fn surplus(&self, plies: usize, side: Color) -> i32 {
        pawns(&self.net(plies, side))
    }

    /// By how much the surplus of `side` in each piece type grows from the base to the position after `plies` moves.
    #[must_use]
    pub fn net(&self, plies: usize, side: Color) -> [i32; 5] {
        let surplus = |board: &Board, piece: Piece| {
            let count = |color| board.colored(color, piece).popcnt() as i32;
            sign(side) * (count(Color::White) - count(Color::Black))
        };
        std::array::from_fn(|index| {
            surplus(&self.boards[plies], PIECES[index]) - surplus(&self.boards[self.base], PIECES[index])
        })
    }

    /// Captures by `side` within the first `plies` moves: the number of the move, from 0, and the captured piece.
    pub(super) fn captures(&self, plies: usize, side: Color) -> impl Iterator<Item = (usize, Piece)> {
        (self.base..plies)
            .filter(move |&ply| self.boards[ply].side_to_move() == side)
            .filter_map(|ply| self.boards[ply].captured(self.moves[ply]).map(|piece| (ply, piece)))
    }

    /// Whether the piece on a square neither moves nor is taken by the moves `from..to`.
    pub(super) fn stays(&self, square: Square, from: usize, to: usize) -> bool {
        self.moves[from..to].iter().all(|mv| mv.from() != square && mv.to() != square)
    }

    /// Whether a pawn is really won, not just offered: by a side that could recapture, or that moves it there.
    fn is_sound(&self, plies: usize, winner: Color, won: i32) -> bool {
        let Some((ply, _)) = self.captures(plies, winner).last().filter(|_| won == 1) else { return true };
        if ply > 0 && self.moves[ply - 1].to() == self.moves[ply].to() {
            return self.boards[ply - 1].is_capture(self.moves[ply - 1]);
        }
        self.boards[ply].see_ge(self.moves[ply], PIECE_VALUES[Piece::Pawn.to_index()])
    }

    /// Whether no exchange is going on after `plies` moves.
    fn is_quiet(&self, plies: usize) -> bool {
        let board = &self.boards[plies];
        match self.moves.get(plies) {
            Some(&next) => !board.is_noisy(next),
            None if self.end == PvEnd::Evaluated => !board.in_check(),
            None => {
                let pawn = PIECE_VALUES[Piece::Pawn.to_index()];
                board.moves().iter().all(|&mv| !board.is_noisy(mv) || !board.see_ge(mv, pawn))
            }
        }
    }

    /// The fork by the move number `ply` (from 0) whose fruit the same piece takes two plies later.
    #[must_use]
    pub fn fork(&self, ply: usize) -> Option<Fork> {
        let (mv, board) = (*self.moves.get(ply)?, self.boards.get(ply + 1)?);
        let (&answer, &fruit) = (self.moves.get(ply + 1)?, self.moves.get(ply + 2)?);
        let forker = board.piece_on(mv.to())?;
        if answer.to() == mv.to() || fruit.from() != mv.to() || mv.is_castling() {
            return None;
        }
        let side = !board.side_to_move();
        let value = |piece: Piece| if piece == Piece::King { 100 } else { PAWN_UNITS[piece.to_index()] };
        let attacked = attacks::of(forker, side, mv.to(), board.occupied()) & board.colors(!side);
        let is_target = |&square: &Square| {
            board.piece_on(square).is_some_and(|piece| {
                let is_loose = piece != Piece::Pawn && attackers(board, square, !side).is_empty();
                value(piece) > value(forker) || is_loose
            })
        };
        let mut targets: Vec<Square> = each(attacked).filter(is_target).collect();
        targets.sort_by_key(|&square| -board.piece_on(square).map_or(0, value));
        (targets.len() >= 2 && targets.contains(&fruit.to())).then_some(Fork { targets })
    }

    /// How the line ends in a draw, if it does.
    #[must_use]
    pub fn draw(&self) -> Option<DrawKind> {
        let last = self.last();
        if self.end != PvEnd::Draw {
            None
        } else if !last.has_legal_move() {
            Some(DrawKind::Stalemate)
        } else if last.insufficient_material() {
            Some(DrawKind::Material)
        } else if last.halfmove_clock() >= 100 {
            Some(DrawKind::FiftyMoves)
        } else {
            Some(DrawKind::Repetition)
        }
    }

    /// Whether the last position is checkmate.
    #[must_use]
    pub fn mates(&self) -> bool {
        self.last().in_check() && !self.last().has_legal_move()
    }
}

impl Gain {
    /// The gain in pawns, by the usual values.
    #[must_use]
    pub fn pawns(&self) -> i32 {
        pawns(&self.net)
    }

    /// What is won, as players say it: "a rook", "the exchange", "a queen for a rook".
    #[must_use]
    pub fn words(&self) -> String {
        let [pawns, mut knights, mut bishops, rooks, queens] = self.net;
        // Knight and bishop are both minor pieces: one for the other changes nothing.
        while knights * bishops < 0 {
            knights -= knights.signum();
            bishops -= bishops.signum();
        }
        let minors = knights + bishops;
        let and_pawns = match pawns {
            0 => String::new(),
            pawns if pawns > 0 => format!(" and {}", counted(pawns, Piece::Pawn)),
            pawns => format!(" for {}", counted(-pawns, Piece::Pawn)),
        };
        match (queens, rooks, minors) {
            (0, 1, -1) => return format!("the exchange{and_pawns}"),
            (0, -1, 2) if pawns <= 0 => {
                let rook =
                    if pawns == 0 { "a rook".into() } else { format!("a rook and {}", counted(-pawns, Piece::Pawn)) };
                return format!("two pieces for {rook}");
            }
            _ => {}
        }
        let types = [
            (queens, Piece::Queen),
            (rooks, Piece::Rook),
            (bishops, Piece::Bishop),
            (knights, Piece::Knight),
            (pawns, Piece::Pawn),
        ];
        let list = |sign: i32| -> String {
            let words: Vec<String> = types
                .iter()
                .filter(|(count, _)| count * sign > 0)
                .map(|&(count, piece)| counted(count * sign, piece))
                .collect();
            joined(&words)
        };
        match (list(1), list(-1)) {
            (won, lost) if lost.is_empty() => won,
            (won, lost) if won.is_empty() => format!("compensation for {lost}"),
            (won, lost) => format!("{won} for {lost}"),
        }
    }
}

/// A variation in SAN with move numbers.
pub fn variation(start: &Board, moves: &[Move]) -> String {
    let (mut board, mut text) = (*start, String::new());
    for (ply, &mv) in moves.iter().enumerate() {
        match board.side_to_move() {
            Color::White => text += &format!("{}. ", board.fullmove_number()),
            Color::Black if ply == 0 => text += &format!("{}... ", board.fullmove_number()),
            Color::Black => {}
        }
        text += &board.san(mv);
        text.push(' ');
        board = board.after(mv);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Moves in SAN.
pub fn sans(start: &Board, moves: &[Move]) -> Vec<String> {
    let mut board = *start;
    let name = |&mv: &Move| {
        let name = board.san(mv);
        board = board.after(mv);
        name
    };
    moves.iter().map(name).collect()
}

/// The pieces of `side` that attack a square.
pub(super) fn attackers(board: &Board, target: Square, side: Color) -> BitBoard {
    board.attackers_to(target, board.occupied()) & board.colors(side)
}

/// Counts of the piece types, pawn to queen, in pawns.
fn pawns(net: &[i32; 5]) -> i32 {
    net.iter().zip(PAWN_UNITS).map(|(net, value)| net * value).sum()
}

/// "a knight", "two pawns".
pub(super) fn counted(count: i32, piece: Piece) -> String {
    const NUMBERS: [&str; 9] = ["no", "a", "two", "three", "four", "five", "six", "seven", "eight"];
    let name = piece_name(piece);
    let number = NUMBERS.get(count as usize).map_or_else(|| count.to_string(), ToString::to_string);
    if count == 1 { format!("{number} {name}") } else { format!("{number} {name}s") }
}

/// "a, b and c".
pub(super) fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
