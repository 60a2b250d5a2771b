//! Two moves searched alike, the leaves of their lines, and what makes the difference.
//!
//! Both moves are searched to the same depth as the two variations of one search. A line is followed to its last
//! position, and on by captures to one that is quiet, and the difference of the values is [taken to
//! pieces](crate::eval::difference) there. What search knows and the two last positions do not show is one of the pieces.

use crate::board::{Board, ChessMove, Color, Ending, Game, upcoming_repetition};
use crate::control::Control;
use crate::engine::Engine;
use crate::eval::Weights;
use crate::eval::difference::{Difference, FINE, Leaf, LineEnd, Net, Part, color_name};
use crate::search::{Info, LeafBudget, LeafEnd, LeafSearcher, Limits, Options, Report, Score};
use crate::value::{DECIDED, INFINITE, Value, is_mate};
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A move, its line, and where it leads.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The move in short notation.
    pub san: String,
    /// The principal variation, the move itself first, with captures after it until all is quiet.
    pub line: Vec<ChessMove>,
    /// The value for people, from the side that moves.
    pub score: Score,
    /// The last position of the line.
    pub leaf: Leaf,
}

/// Two moves of a position, and what makes the difference.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The position.
    pub board: Board,
    /// The moves.
    pub moves: [Examined; 2],
    /// The first less the second, as the side to move sees it.
    pub difference: Difference,
    /// Plies that both were searched.
    pub depth: u32,
    weights: Arc<Weights>,
}

/// Follows lines to quiet positions. One a thread.
pub struct Follower {
    quiet: LeafSearcher,
}

/// Nodes of quiescence at the end of a line: many more than a position of a game takes.
const QUIET_NODES: u64 = 200_000;

impl Follower {
    /// A follower with these weights.
    #[must_use]
    pub fn new(weights: Arc<Weights>) -> Follower {
        Follower { quiet: LeafSearcher::new(weights) }
    }

    /// The leaf of a line from the current position of `game` that has this value for the side to move there; `line` is
    /// made longer by the captures that follow.
    pub fn follow(&mut self, game: &Game, line: &mut Vec<ChessMove>, value: Value) -> Leaf {
        let sign = if game.board().side_to_move() == Color::White { 1 } else { -1 };
        let mut ahead = game.clone();
        line.iter().for_each(|&mv| ahead.push(mv));
        let leaf = |board: &Board, end| Leaf { board: *board, end, value: sign * value };
        let end = end_of(&ahead, line.len(), value);
        if end == LineEnd::Evaluated {
            let budget = LeafBudget { nodes: QUIET_NODES, stop: &AtomicBool::new(false) };
            self.quiet.begin_position();
            let found = self.quiet.search(ahead.board(), 0, (-INFINITE, INFINITE), &budget);
            if let Ok(LeafEnd::Quiet(board)) = found.map(|found| found.end) {
                line.extend_from_slice(self.quiet.line());
                return leaf(&board, end);
            }
        }
        leaf(ahead.board(), end)
    }
}

/// How a line of so many moves ends that has led to the current position of `game`.
fn end_of(game: &Game, plies: usize, value: Value) -> LineEnd {
    /// Search blurs the value of a draw by so much.
    const BLUR: Value = 1;
    match game.ending() {
        Some(Ending::Checkmate) => return LineEnd::Mate,
        Some(_) => return LineEnd::Draw,
        None if is_mate(value) => return LineEnd::Mate,
        None if value.abs() >= DECIDED => return LineEnd::Decided,
        None => {}
    }
    // For search a position that has stood before in the line, or can stand again, is a draw.
    let repeats = || game.repetitions() > 1 || upcoming_repetition(game.board(), game.keys(), plies);
    if value.abs() <= BLUR && repeats() { LineEnd::Draw } else { LineEnd::Evaluated }
}

impl Comparison {
    /// Searches two legal moves of the current position of `game` and compares them. None when the search was ended
    /// before it had looked at both.
    pub fn search(
        engine: &mut Engine,
        follower: &mut Follower,
        game: &Game,
        moves: [ChessMove; 2],
        limits: &Limits,
        options: &Options,
        control: &Control,
    ) -> Option<Comparison> {
        let limits = Limits { searchmoves: moves.to_vec(), ..limits.clone() };
        // Tables would take the worse move from the search.
        let options = Options { multipv: 2, tables: None, ..options.clone() };
        let found = best_two(engine, game, &limits, &options, control)?;
        let [first, second] = moves.map(|mv| found.iter().find(|info| info.pv.first() == Some(&mv)));
        let examine = |info: &Info, follower: &mut Follower| {
            let mut line = info.pv.clone();
            let leaf = follower.follow(game, &mut line, info.value);
            Examined { san: game.board().san(line[0]), line, score: info.score, leaf }
        };
        let moves = [examine(first?, follower), examine(second?, follower)];
        let weights = Arc::clone(engine.weights());
        let side = game.board().side_to_move();
        let difference = Difference::new(&weights, [&moves[0].leaf, &moves[1].leaf], side);
        Some(Comparison { board: *game.board(), moves, difference, depth: found[0].depth, weights })
    }

    /// As [`Comparison::search`], with the best other move in place of the first.
    ///
    /// None also when there is no other move.
    pub fn with_best(
        engine: &mut Engine,
        follower: &mut Follower,
        game: &Game,
        mv: ChessMove,
        limits: &Limits,
        options: &Options,
        control: &Control,
    ) -> Option<Comparison> {
        let wide = Options { multipv: 2, tables: None, ..options.clone() };
        let found = best_two(engine, game, limits, &wide, control)?;
        let other = found.iter().map(|info| info.pv[0]).find(|&other| other != mv)?;
        Comparison::search(engine, follower, game, [other, mv], limits, options, control)
    }

    /// The moves in short notation.
    #[must_use]
    pub fn names(&self) -> [&str; 2] {
        [&self.moves[0].san, &self.moves[1].san]
    }

    /// A part of the difference in hundredths of a pawn, not rounded.
    #[must_use]
    pub fn centipawns(&self, amount: i64) -> f64 {
        let value = amount as f64 / FINE as f64;
        self.weights.units.win_rate.centipawns_of(value, self.weights.phase(&self.board))
    }

    /// The difference in hundredths of a pawn, as that of the two values that are shown.
    fn shown(&self) -> i32 {
        let phase = self.weights.phase(&self.board);
        let sign = if self.board.side_to_move() == Color::White { 1 } else { -1 };
        let [first, second] =
            [0, 1].map(|place| self.weights.units.centipawns(sign * self.moves[place].leaf.value, phase));
        first - second
    }
}

/// The two best variations of the last iteration in which both were searched.
fn best_two(
    engine: &mut Engine,
    game: &Game,
    limits: &Limits,
    options: &Options,
    control: &Control,
) -> Option<[Info; 2]> {
    let (mut first, mut both): (Option<Info>, Option<[Info; 2]>) = (None, None);
    engine.search(game, limits, options, control, &mut |report| match report {
        Report::Info(info) if info.multipv == 1 => first = Some(info.clone()),
        Report::Info(info) if info.multipv == 2 => {
            both =
                first.take().map(|first| [first, info.clone()]).filter(|[first, second]| first.pv[0] != second.pv[0]);
        }
        _ => {}
    });
    both
}

/// Topics that the text shows, each with its heaviest parts.
const TOPICS: usize = 12;
const PARTS_OF_A_TOPIC: usize = 2;
/// Parts that the text shows.
const PARTS: usize = 20;

impl fmt::Display for Comparison {
    /// All of it in words: both lines, the topics, the heaviest parts. The numbers shown add up: what rounding leaves is
    /// in the line of all else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mover = color_name(self.board.side_to_move());
        writeln!(
            f,
            "Two moves for {mover}, searched to depth {}; values in pawns, + is good for {mover}:\n",
            self.depth
        )?;
        for examined in &self.moves {
            writeln!(f, "  {:<7} {:>7}  {}", examined.san, score(examined.score), self.line(&examined.line))?;
            writeln!(f, "  {:<7} {:>7}  leaf {}", "", "", examined.leaf.board.fen())?;
        }
        let ([first, second], shown) = (self.names(), self.shown());
        match shown {
            0 => writeln!(f, "\n{first} and {second} are worth the same.")?,
            _ => {
                let (better, worse) = if shown > 0 { (first, second) } else { (second, first) };
                writeln!(f, "\n{better} is worth {} more than {worse}.", pawns(shown.abs()).trim_start_matches('+'))?;
            }
        }
        writeln!(f, "\nWhere that comes from, net; + speaks for {first}, - for {second}:\n")?;
        let topics = self.difference.topics();
        let mut text = String::new();
        let mut rest = shown;
        for net in topics.iter().take(TOPICS) {
            let amount = self.centipawns(net.amount).round() as i32;
            rest -= amount;
            self.topic(&mut text, net, amount)?;
        }
        let others = topics.len().saturating_sub(TOPICS);
        write!(f, "{text}{}", closing(rest, others, shown))?;
        let parts = self.difference.parts();
        let count = parts.len().min(PARTS);
        writeln!(f, "\nIn full, the heaviest {count} of {} features and pairs of pieces:\n", parts.len())?;
        let mut rest = shown;
        for part in &parts[..count] {
            let amount = self.centipawns(part.amount).round() as i32;
            rest -= amount;
            writeln!(f, "  {:>7}  {}", pawns(amount), part.subject.words(self.names()))?;
        }
        write!(f, "{}", closing(rest, parts.len() - count, shown))
    }
}

impl Comparison {
    fn topic(&self, text: &mut String, net: &Net, amount: i32) -> fmt::Result {
        writeln!(text, "  {:>7}  {}", pawns(amount), net.topic.words(self.names()))?;
        let worth_telling = |part: &&Part| net.parts.len() > 1 && self.centipawns(part.amount).abs() >= 1.0;
        for part in net.parts.iter().filter(worth_telling).take(PARTS_OF_A_TOPIC) {
            let amount = self.centipawns(part.amount).round() as i32;
            writeln!(text, "             {:>7}  {}", pawns(amount), part.subject.words(self.names()))?;
        }
        Ok(())
    }

    /// A line in short notation.
    fn line(&self, moves: &[ChessMove]) -> String {
        line_in_words(&self.board, moves)
    }
}

/// A line in short notation with the numbers of its moves.
#[must_use]
pub fn line_in_words(start: &Board, moves: &[ChessMove]) -> String {
    let (mut board, mut text) = (*start, String::new());
    for (ply, &mv) in moves.iter().enumerate() {
        match board.side_to_move() {
            Color::White => write!(text, "{}. ", board.fullmove_number()),
            Color::Black if ply == 0 => write!(text, "{}... ", board.fullmove_number()),
            Color::Black => Ok(()),
        }
        .expect("writing to a string cannot fail");
        text += &board.san(mv);
        text.push(' ');
        board = board.after(mv);
    }
    text.truncate(text.trim_end().len());
    text
}

/// The end of a list of numbers that add up.
fn closing(rest: i32, others: usize, sum: i32) -> String {
    let else_ = match others {
        0 if rest == 0 => String::new(),
        0 => format!("  {:>7}  rounding of these numbers\n", pawns(rest)),
        others => format!("  {:>7}  all else, {others} more\n", pawns(rest)),
    };
    format!("{else_}  =======\n  {:>7}\n", pawns(sum))
}

/// Hundredths of a pawn in pawns.
fn pawns(centipawns: i32) -> String {
    format!("{:+.2}", f64::from(centipawns) / 100.0)
}

fn score(score: Score) -> String {
    match score {
        Score::Cp(centipawns) => pawns(centipawns),
        Score::Mate(moves) => format!("{}#{}", if moves < 0 { "-" } else { "" }, moves.abs()),
    }
}

#[cfg(test)]
mod tests;
