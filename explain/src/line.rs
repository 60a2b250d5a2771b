//! What happens on the board along a line of play: material that changes hands, mate, draws.
//!
//! The functions replay the moves and count the pieces; they use neither evaluation nor search.

use super::difference::PvEnd;
use dyad_engine::board::{
    BitBoard, Board, Color, Ending, Game, Move, PAWN_UNITS, PIECE_VALUES, PIECES, Piece, Square, piece_name, sign,
};

/// Plies within which a gain of material is attributed to the first move of a line, and within which a single pawn is.
const HORIZON: usize = 10;
const PAWN_HORIZON: usize = 6;
/// Plies for which it must be kept; lines are not reliable further on.
const KEPT: usize = 4;
/// Plies after which up to two pawns may be given back for a piece.
const SOON: usize = 6;

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
    /// Number of moves of the line until nothing of it is given back.
    pub settled: usize,
    /// How much the winner's surplus of each piece type grows, pawn to queen.
    pub net: [i32; 5],
}

impl<'a> Line<'a> {
    /// The line of these legal moves, which ends so. Gains are counted from the position after `base` moves.
    pub fn new(start: &Board, moves: &'a [Move], end: PvEnd, base: usize) -> Line<'a> {
        let boards = std::iter::once(*start).chain(start.along(moves).map(|(board, mv)| board.after(mv))).collect();
        Line { moves, boards, end, base }
    }

    /// The position after `plies` moves.
    pub fn board(&self, plies: usize) -> &Board {
        &self.boards[plies]
    }

    /// The last position.
    pub fn last(&self) -> &Board {
        &self.boards[self.moves.len()]
    }

    /// The lasting gain of the line: material won at a quiet point within [`HORIZON`] plies and kept for the next ones.
    /// Of several the first, or a later one that is much larger. Of what is won no more than a quarter is given back, or
    /// it counts without what is given back.
    pub fn gain(&self) -> Option<Gain> {
        let quiet: Vec<usize> = self.quiet_points().take_while(|&plies| plies <= HORIZON + KEPT).collect();
        let &last = quiet.last()?;
        let winner = [Color::White, Color::Black].into_iter().find(|&side| self.surplus(last, side) >= 1)?;
        // From the end: what the winner still has at every later quiet point.
        let mut lasting = i32::MAX;
        let (mut candidates, mut first): (Vec<(usize, i32)>, _) = (Vec::new(), None);
        for &plies in quiet.iter().rev() {
            let won = self.surplus(plies, winner);
            lasting = lasting.min(won);
            let horizon = if won == 1 { PAWN_HORIZON } else { HORIZON };
            if lasting < 1 || plies > horizon || !self.is_sound(plies, winner, won) {
                continue;
            }
            // A pawn given back does not change who has won a piece if that takes some moves, nor two if it takes long.
            let is_kept_for = |more: usize| {
                let soon = quiet.iter().filter(|&&later| (plies..=plies + more).contains(&later));
                soon.map(|&later| self.surplus(later, winner)).all(|surplus| 4 * surplus >= 3 * won)
            };
            let is_kept = (1..=2).zip([KEPT, SOON]).any(|(less, more)| lasting + less >= won && is_kept_for(more));
            if 4 * lasting >= 3 * won || won >= 3 && is_kept {
                candidates.push((plies, won));
            }
            first = Some(plies);
        }
        let Some(mut best) = candidates.pop() else {
            let plies = first.filter(|_| self.surplus(last, winner) >= 2)?;
            return Some(Gain { winner, plies, settled: last, net: self.net(last, winner) });
        };
        for &(plies, won) in candidates.iter().rev() {
            // Where a piece is won at once, more that follows is not the reason.
            let follows = best.1 < 3 && won > best.1 && plies <= best.0 + 2;
            let is_much_larger = match best {
                (..=2, 3..) => won >= 3 * best.1,
                _ => 3 * won >= 5 * best.1 && won >= best.1 + 2,
            };
            if follows || is_much_larger {
                best = (plies, won);
            }
        }
        Some(Gain { winner, plies: best.0, settled: best.0, net: self.net(best.0, winner) })
    }

    /// The smallest lasting surplus of `side` at a quiet point of the line, in pawns; 0 at its base.
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
    pub fn net(&self, plies: usize, side: Color) -> [i32; 5] {
        let [now, before] = [plies, self.base].map(|plies| self.more(plies, side));
        std::array::from_fn(|index| now[index] - before[index])
    }

    /// How many more pieces of each type `side` has after `plies` moves than the other side.
    fn more(&self, plies: usize, side: Color) -> [i32; 5] {
        let count = |color, index: usize| self.boards[plies].colored(color, PIECES[index]).popcnt() as i32;
        std::array::from_fn(|index| sign(side) * (count(Color::White, index) - count(Color::Black, index)))
    }

    /// By how much `side` is ahead in material after `plies` moves, in pawns.
    pub(super) fn lead(&self, plies: usize, side: Color) -> i32 {
        pawns(&self.more(plies, side))
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

    /// Whether the piece of the first move is not taken within `plies` moves.
    pub(super) fn keeps_first(&self, plies: usize) -> bool {
        let mut at = self.moves[0].to();
        self.moves.iter().take(plies).skip(1).all(|mv| {
            let stays = mv.to() != at;
            if mv.from() == at {
                at = mv.to();
            }
            stays
        })
    }

    /// Whether a pawn is really won, not just offered: by a side that could recapture, or that moves it there.
    fn is_sound(&self, plies: usize, winner: Color, won: i32) -> bool {
        let Some((ply, _)) = self.captures(plies, winner).last().filter(|_| won == 1) else { return true };
        if ply > 0 && self.moves[ply - 1].to() == self.moves[ply].to() {
            return self.boards[ply - 1].is_capture(self.moves[ply - 1]);
        }
        let takes_at_least = |value| self.boards[ply].see_ge(self.moves[ply], value);
        // A line shows that a piece cannot be taken, but not that a pawn cannot be taken back.
        let is_shown = self.moves.len() >= plies + KEPT && !takes_at_least(0);
        is_shown || takes_at_least(PIECE_VALUES[Piece::Pawn.to_index()])
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

    /// How the line ends in a draw, if it does.
    pub fn draw(&self) -> Option<Ending> {
        if self.end != PvEnd::Draw {
            return None;
        }
        // Neither player need follow a long line to a repetition.
        let repetition = || (self.moves.len() <= HORIZON).then_some(Ending::Repetition);
        Game::new(*self.last()).ending().or_else(repetition)
    }

    /// Whether the last position is checkmate.
    pub fn mates(&self) -> bool {
        self.last().in_check() && !self.last().has_legal_move()
    }
}

impl Gain {
    /// The gain in pawns, by the usual values.
    pub fn pawns(&self) -> i32 {
        pawns(&self.net)
    }

    /// [`net`](Self::net) without knights for bishops: both are minor pieces, and one for the other changes nothing.
    pub(super) fn without_trades(&self) -> [i32; 5] {
        let mut net = self.net;
        while net[1] * net[2] < 0 {
            net[1] -= net[1].signum();
            net[2] -= net[2].signum();
        }
        net
    }

    /// What is won, as players say it: "a rook", "the exchange", "a queen for a rook".
    pub fn words(&self) -> String {
        let [pawns, knights, bishops, rooks, queens] = self.without_trades();
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
    let with_number = |(ply, (board, mv)): (usize, (Board, Move))| match board.side_to_move() {
        Color::White => format!("{}. {}", board.fullmove_number(), board.san(mv)),
        Color::Black if ply == 0 => format!("{}... {}", board.fullmove_number(), board.san(mv)),
        Color::Black => board.san(mv),
    };
    start.along(moves).enumerate().map(with_number).collect::<Vec<_>>().join(" ")
}

/// Moves in SAN.
pub fn sans(start: &Board, moves: &[Move]) -> Vec<String> {
    start.along(moves).map(|(board, mv)| board.san(mv)).collect()
}

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

/// The pieces on squares of a board, as a list: "king", "two rooks".
pub(super) fn piece_list(board: &Board, squares: &[Square]) -> Vec<String> {
    let pieces: Vec<Piece> = squares.iter().filter_map(|&square| board.piece_on(square)).collect();
    let mut words: Vec<String> = Vec::new();
    for &piece in &pieces {
        let text = match pieces.iter().filter(|&&other| other == piece).count() {
            1 => piece_name(piece).to_string(),
            count => counted(count as i32, piece),
        };
        if !words.contains(&text) {
            words.push(text);
        }
    }
    words
}
