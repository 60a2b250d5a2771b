//! Why a move is worse than another, in one sentence that a chess player can check.
//!
//! First what happens on the board, in moves: mate, material, a draw. Only if nothing of that kind decides, one reason
//! that can be seen within four plies. Where there is none, there is no sentence. Every statement is a [`Claim`], and
//! tests check the claims against the lines. A pure function of a [`Comparison`]: no files, no threads, no clock.

use super::comparison::Comparison;
use super::difference::{Subject, TopicSum};
use super::line::{Gain, Line, attackers, variation};
use super::motif::{Kind, Motif, in_danger, motifs, value};
use super::visible::Kind as Seen;
use super::visible::{self, Feature, Reason};
use dyad_engine::board::{
    Board, Color, Ending, Move, PIECE_VALUES, Piece, Square, Squares, attacks, color_name, piece_name,
};
use dyad_engine::search::Score;

/// An explanation with marks for a board.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// One sentence; empty if there is nothing to say.
    pub text: String,
    /// What the text claims.
    pub claims: Vec<Claim>,
    /// Marks on the board after the worse move.
    pub marks: Vec<Mark>,
    /// Marks on the board at the end of the better line.
    pub goal: Vec<Mark>,
}

/// A statement of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The line that it is about: 0 for the better move, 1 for the worse one.
    pub line: usize,
    /// What it says.
    pub what: Statement,
}

/// What a line of play has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A side mates.
    Mate {
        /// The side that mates.
        winner: Color,
        /// Moves to mate.
        moves: i32,
    },
    /// A side wins material.
    Gain(Gain),
    /// How it is won.
    Motif(Motif),
    /// It ends in a draw.
    Draw(Ending),
    /// Its end has a feature that the end of the other line has not.
    Seen(Feature),
}

/// A colored arrow, or a tinted square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Green for what is good, red for what is bad.
    pub good: bool,
    /// The square, or where the arrow begins.
    pub square: Square,
    /// Where the arrow ends.
    pub to: Option<Square>,
}

impl Mark {
    fn arrow(mv: Move, good: bool) -> Mark {
        Mark { good, square: mv.from(), to: Some(mv.to()) }
    }
}

/// Moves whose values differ by less, in pawns, are equally good.
pub const EQUAL: f64 = 0.2;
/// Smallest topic that gives a reason, as a fraction of the difference, and in pawns.
const MIN_FRACTION: f64 = 0.15;
const MIN_PAWNS: f64 = 0.2;
/// Plies after which a reason must hold already.
const SOON: usize = 4;
/// Maximum number of plies shown.
const MAX_SHOWN: usize = 5;
/// Smallest score of a side for each pawn that it is ahead, in centipawns, with which a gain is believed.
const LEAST: i32 = 20;
/// Smallest difference of the two moves for each pawn of a loss that explains it, in centipawns.
const SHARE: i32 = 60;
/// Smallest pair that is marked, in pawns.
const MIN_PAIR: f64 = 0.1;

/// The sentence for two moves that a user compares.
pub fn verdict(compared: &Comparison) -> String {
    let [first, second] = compared.names();
    if compared.is_equal() {
        return format!("{first} and {second} are equally good.");
    }
    if compared.difference.value < 0 {
        return verdict(&compared.swapped());
    }
    let text = explain(compared).text;
    match compared.pawns_apart() {
        Some(pawns) if text.is_empty() => format!("{first} is {pawns:.1} pawns better than {second}."),
        _ if text.is_empty() => format!("{first} is better than {second}."),
        _ => text,
    }
}

/// Why the second move of a comparison is worse than the first.
pub fn explain(compared: &Comparison) -> Explanation {
    let mut writer = Writer::new(compared);
    let text = writer.text();
    if text.is_empty() {
        writer.claims.clear();
    }
    let (marks, goal) = (writer.marks(), writer.goal());
    Explanation { text, claims: writer.claims, marks, goal }
}

struct Writer<'a> {
    compared: &'a Comparison,
    lines: [Line<'a>; 2],
    /// The two moves with their numbers.
    names: [String; 2],
    mover: Color,
    /// Lasting gains of either side in the two lines.
    gains: [Option<Gain>; 2],
    claims: Vec<Claim>,
    /// Whether the text names the answer to the worse move.
    names_reply: bool,
    /// Squares that the text names on the board after the worse move.
    squares: Vec<Square>,
}

/// The largest capture of a gain.
#[derive(Clone, Copy)]
struct Prize {
    /// The number of the move that takes it, from 0.
    ply: usize,
    piece: Piece,
    square: Square,
}

impl<'a> Writer<'a> {
    fn new(compared: &'a Comparison) -> Writer<'a> {
        let board = &compared.board;
        let firsts = compared.moves.each_ref().map(|one| one.line[0]);
        // What both moves take back counts for neither.
        let same = firsts.iter().all(|mv| compared.recaptures == Some(mv.to()));
        let lines = compared.moves.each_ref().map(|one| Line::new(board, &one.line, one.leaf.end, usize::from(same)));
        let names = compared.moves.each_ref().map(|one| variation(board, &one.line[..1]));
        let mover = board.side_to_move();
        // A side that is pieces ahead and hardly better pays for them in a way that the line does not show. But a loss
        // counts if the better move is better by as much.
        let apart = match compared.moves.each_ref().map(|one| one.score) {
            [Score::Cp(better), Score::Cp(worse)] => better - worse,
            _ => 0,
        };
        let is_worth_it = |line: usize, gain: &Gain| {
            let lead = lines[line].lead(gain.settled, gain.winner);
            let sign = if gain.winner == mover { 1 } else { -1 };
            let explains = line == 1 && gain.winner != mover && apart >= SHARE * gain.pawns();
            lead < 2
                || explains
                || !matches!(compared.moves[line].score, Score::Cp(score) if sign * score < LEAST * lead)
        };
        let gains = [0, 1].map(|line| lines[line].gain().filter(|gain| is_worth_it(line, gain)));
        Writer { compared, lines, names, mover, gains, claims: Vec::new(), names_reply: false, squares: Vec::new() }
    }

    fn text(&mut self) -> String {
        let [better, worse] = self.compared.moves.each_ref().map(|one| one.score);
        let [won, lost] = [0, 1].map(|line| self.pawns(line));
        let stalemates = self.lines[1].draw() == Some(Ending::Stalemate) && self.lines[1].moves.len() == 1;
        let text = match (better, worse) {
            _ if stalemates => self.draw(),
            (Score::Mate(moves), _) if moves > 0 => Some(self.missed_mate(moves)),
            (_, Score::Mate(moves)) if moves < 0 => Some(self.allowed_mate(-moves)),
            _ if self.lines[0].draw().is_some() && lost < won.min(0) => self.loss(),
            _ if self.lines[0].draw().is_some() != self.lines[1].draw().is_some() => self.draw(),
            // What is missed comes first where it is much more than what is lost.
            _ if lost < 0 && won > lost && won < -3 * lost => self.loss(),
            // What is lost at once comes before what the better line loses later.
            _ if lost < 0 && won == lost && self.is_at_once() => self.loss(),
            _ if won > lost => self.missed_win(),
            _ => self.positional(),
        };
        text.unwrap_or_default()
    }

    /// The lasting gain of the mover in a line, in pawns.
    fn pawns(&self, line: usize) -> i32 {
        self.gains[line].map_or(0, |gain| if gain.winner == self.mover { gain.pawns() } else { -gain.pawns() })
    }

    /// Whether the answer to the worse move captures all that is lost, and the better line loses as much later.
    fn is_at_once(&self) -> bool {
        let settled = self.gains.map(|gain| gain.map_or(0, |gain| gain.settled));
        settled[1] == 2 && settled[0] > SOON
    }

    /// Moves `from..to` of a line with numbers; the middle of a long one is left out.
    fn moves(&self, line: usize, from: usize, to: usize) -> String {
        let part = |from: usize, to: usize| variation(self.lines[line].board(from), &self.lines[line].moves[from..to]);
        if to - from <= MAX_SHOWN {
            return part(from, to);
        }
        // A recapture is shown with the capture before it.
        let moves = &self.lines[line].moves;
        let last = if moves[to - 2].to() == moves[to - 1].to() { to - 2 } else { to - 1 };
        format!("{} ... {}", part(from, from + MAX_SHOWN - 2), part(last, to))
    }

    fn claim_gain(&mut self, line: usize) -> String {
        let Some(gain) = self.gains[line] else { return "nothing".into() };
        self.claims.push(Claim { line, what: Statement::Gain(gain) });
        gain.words()
    }

    /// The captures of the gain of a line: those of pieces that are not only traded first, the largest first.
    fn prizes(&self, line: usize) -> Vec<Prize> {
        let (Some(gain), line) = (self.gains[line], &self.lines[line]) else { return Vec::new() };
        let net = gain.without_trades();
        let prize = |(ply, piece): (usize, Piece)| Prize { ply, piece, square: line.moves[ply].to() };
        let mut prizes: Vec<Prize> = line.captures(gain.plies, gain.winner).map(prize).collect();
        prizes.sort_by_key(|prize| (net[prize.piece.to_index()] <= 0, -value(prize.piece)));
        prizes
    }

    /// The motif behind the first of the moves `at` of a line that has one that is `wanted`, claimed.
    fn motif(
        &mut self,
        line: usize,
        at: impl IntoIterator<Item = usize>,
        wanted: impl Fn(&Motif) -> bool,
    ) -> Option<Motif> {
        let of = |at| motifs(&self.lines[line], at, self.compared.recaptures).into_iter().next().filter(&wanted);
        let motif = at.into_iter().find_map(of)?;
        self.claims.push(Claim { line, what: Statement::Motif(motif.clone()) });
        Some(motif)
    }

    /// The number of the move that promotes, if the gain of a line is a new queen.
    fn promotion(&self, line: usize) -> Option<usize> {
        let gain = self.gains[line].filter(|gain| gain.net[4] > 0)?;
        let first = usize::from(gain.winner != self.mover);
        (first..gain.plies).step_by(2).find(|&ply| self.lines[line].moves[ply].promotion().is_some())
    }

    fn missed_mate(&mut self, moves: i32) -> String {
        self.claims.push(Claim { line: 0, what: Statement::Mate { winner: self.mover, moves } });
        let line = self.mating_line(0, 0);
        let misses = format!("Misses mate{}{line}", mate_in(moves));
        match self.compared.moves[1].score {
            Score::Mate(other) if other < 0 => format!("{misses}, and {} loses to mate.", self.names[1]),
            _ => format!("{misses}."),
        }
    }

    fn allowed_mate(&mut self, moves: i32) -> String {
        self.claims.push(Claim { line: 1, what: Statement::Mate { winner: !self.mover, moves } });
        self.names_reply = true;
        self.squares = vec![self.lines[1].board(1).king(self.mover)];
        let line = self.mating_line(1, 1);
        let allows = format!("{} allows mate{}{line}", self.names[1], mate_in(moves));
        match self.compared.moves[0].score {
            Score::Mate(_) => format!("{allows}; {} only delays it.", self.names[0]),
            _ => format!("{allows}; {} prevents it.", self.names[0]),
        }
    }

    /// The moves to mate, or the first ones if the line is long or does not reach it, with how it mates.
    fn mating_line(&mut self, line: usize, from: usize) -> String {
        let plies = self.lines[line].moves.len();
        if !self.lines[line].mates() {
            return format!(": {} and so on", self.moves(line, from, plies.min(from + 3)));
        }
        let back_rank = self.motif(line, [plies - 1], |motif| motif.kind == Kind::BackRank);
        let how = if back_rank.is_some() { " on the back rank" } else { "" };
        format!("{how}: {}", self.moves(line, from, plies))
    }

    fn draw(&mut self) -> Option<String> {
        let line = usize::from(self.lines[1].draw().is_some());
        let kind = self.lines[line].draw()?;
        let other = self.names[1 - line].clone();
        let otherwise = match (self.compared.moves[1 - line].score, self.pawns(1 - line)) {
            (Score::Mate(moves), _) if moves > 0 => format!("{other} mates{}", mate_in(moves)),
            (_, 1..) if line == 1 => format!("{other} wins {}", self.claim_gain(0)),
            _ => format!("after {other} {}", self.state(1 - line)?),
        };
        self.claims.push(Claim { line, what: Statement::Draw(kind) });
        let moves = self.moves(line, 0, self.lines[line].moves.len());
        let how = match kind {
            Ending::Stalemate => "is stalemate",
            Ending::InsufficientMaterial => "leaves too little material to win",
            Ending::FiftyMoves => "is a draw by the fifty-move rule",
            // The search stops at the first one, which the players need not repeat.
            Ending::Repetition => "leads to a repetition",
            Ending::Checkmate => return None,
        };
        Some(format!("{moves} {how}; {otherwise}."))
    }

    /// The opponent wins material after the worse move.
    fn loss(&mut self) -> Option<String> {
        let (gain, what) = (self.gains[1]?, self.claim_gain(1));
        self.names_reply = true;
        if let Some(ply) = self.promotion(1) {
            // The file on which the pawn stood before the line.
            let line = &self.lines[1];
            let earlier = (1..ply).step_by(2).rev().map(|ply| line.moves[ply]);
            let origin = earlier.fold(line.moves[ply].from(), |at, mv| if mv.to() == at { mv.from() } else { at });
            let (file, moves) = (visible::file_name(origin), self.moves(1, 1, ply + 1));
            let lets = format!("{} lets {}'s {file}-pawn promote: {moves}", self.names[1], color_name(gain.winner));
            return Some(format!("{lets}; {}.", self.remedy(None, self.lines[1].moves[1])?));
        }
        let (name, opponent) = (self.names[1].clone(), color_name(gain.winner));
        let (own, reply) = (self.lines[1].moves[0], *self.lines[1].moves.get(1)?);
        let (prizes, after) = (self.prizes(1), *self.lines[1].board(1));
        let prize = prizes.first().copied();
        let target = prize.map_or(reply.to(), |prize| prize.square);
        let is_all = prize.is_some_and(|prize| {
            let index = prize.piece.to_index();
            let net = gain.without_trades();
            net.iter().enumerate().all(|(other, &count)| count == i32::from(other == index))
        });
        let result = if is_all { String::new() } else { format!(", and {opponent} wins {what}") };
        let moves = self.moves(1, 1, gain.settled);
        let loses_mover = prize.is_some_and(|prize| target == own.to() && self.lines[1].stays(target, 1, prize.ply));
        let pawn = PIECE_VALUES[Piece::Pawn.to_index()];
        let is_most = |prize: &Prize| 3 * value(prize.piece) >= 2 * gain.pawns();
        let at_once = prize.filter(|prize| prize.ply == 1 && is_most(prize) && after.see_ge(reply, pawn));
        let takes = self.lines[1].board(0).captured(own).filter(|_| !own.is_castling());
        let allows = match takes.filter(|&piece| value(piece) > 1) {
            Some(taken) => format!("{name} takes the {} but allows", piece_name(taken)),
            None => format!("{name} allows"),
        };
        let plies = prizes.iter().map(|prize| prize.ply);
        let text = if let Some(prize) = prize.filter(|_| loses_mover) {
            let lost = if is_all { format!("the {}", piece_name(prize.piece)) } else { what };
            match takes.filter(|_| prize.ply > 1) {
                Some(taken) => format!("{name} takes the {} but loses {lost}: {moves}", piece_name(taken)),
                None => format!("{name} loses {lost}: {moves}"),
            }
        } else if let Some(prize) = at_once {
            self.squares = vec![target];
            format!("{}: {moves}{result}", self.gives_up(prize, own, reply)?)
        } else if let Some(motif) = self.motif(1, plies, |motif| motif.ply % 2 == 1 && motif.kind != Kind::Promotion) {
            self.squares.clone_from(&motif.squares);
            let (first, rest) = (self.moves(1, 1, motif.ply + 1), self.moves(1, motif.ply + 1, gain.settled));
            let rest = if rest.is_empty() { rest } else { format!(": {rest}") };
            format!("{allows} {first}, which {}, and {opponent} wins {what}{rest}", motif.verb(&self.lines[1]))
        } else {
            format!("{allows} {moves}, and {opponent} wins {what}")
        };
        let threatened = prize.filter(|_| !loses_mover);
        Some(format!("{text}; {}.", self.remedy(threatened, reply)?))
    }

    /// How the move `own` leaves a piece to the answer `reply`.
    fn gives_up(&self, prize: Prize, own: Move, reply: Move) -> Option<String> {
        let (root, after, name) = (self.lines[1].board(0), self.lines[1].board(1), &self.names[1]);
        let (piece, target) = (piece_name(prize.piece), prize.square);
        let defenders = |board: &Board| attackers(board, target, self.mover);
        let was_attacked = attackers(root, target, !self.mover).has(reply.from());
        let stood = root.piece_on(target).is_some();
        let opens = !was_attacked && attacks::between(reply.from(), target).has(own.from());
        let left = defenders(root).has(own.from()) && !defenders(after).has(own.to());
        let by = piece_name(after.piece_on(reply.from())?);
        Some(if opens {
            format!("{name} opens the way to the {piece} on {target}")
        } else if stood && left && defenders(after).is_empty() {
            format!("{name} leaves the {piece} on {target} without a defender")
        } else if stood && defenders(after).is_empty() {
            format!("{name} leaves the {piece} on {target} hanging")
        } else if stood && left {
            format!("{name} takes a defender from the {piece} on {target}")
        } else if stood && was_attacked && in_danger(after, target) {
            format!("{name} leaves the {piece} on {target} to the {by}")
        } else if stood && was_attacked {
            format!("{name} leaves the {piece} on {target} with too few defenders")
        } else {
            format!("{name} gives up the {piece} on {target}")
        })
    }

    /// What the better move does about the loss of the worse one.
    fn remedy(&mut self, threatened: Option<Prize>, reply: Move) -> Option<String> {
        let (name, mover) = (self.names[0].clone(), self.mover);
        let better = self.lines[0].moves[0];
        let (root, after) = (*self.lines[0].board(0), *self.lines[0].board(1));
        if self.pawns(0) >= 1 {
            return self.wins();
        }
        let after_it = |state: String| format!("after {name} {state}");
        if self.pawns(0) < 0 && self.pawns(0) == self.pawns(1) {
            return self.state(0).map(after_it);
        }
        if self.pawns(0) < 0 {
            let what = self.claim_gain(0);
            return Some(format!("{name} loses only {what}"));
        }
        // A piece that comes to its square later is not yet there to save.
        let stands = |prize: &Prize| root.piece_on(prize.square) == Some(prize.piece);
        if let Some(Prize { piece, square, .. }) = threatened.filter(stands) {
            let piece = piece_name(piece);
            if better.from() == square && self.lines[0].keeps_first(self.gains[1].map_or(0, |gain| gain.settled)) {
                return Some(format!("{name} saves the {piece}"));
            }
            let defends = better.from() != square && attackers(&after, square, mover).has(better.to());
            if defends && !attackers(&root, square, mover).has(better.from()) && !better.is_castling() {
                return Some(format!("{name} defends the {piece}"));
            }
        }
        if better.to() == reply.from() && root.is_capture(better) {
            let attacker = root.piece_on(reply.from()).map_or("piece", piece_name);
            return Some(format!("{name} takes the {attacker} first"));
        }
        let saved = self.gains[1].map_or(0, |gain| gain.pawns());
        let least = self.lines[0].least(mover);
        // Where the better line also loses material at some point, it only loses more slowly.
        match least > -saved.min(2) && 2 * least > -saved {
            true => Some(format!("{name} avoids this")),
            false => self.state(0).map(after_it),
        }
    }

    /// What the better move wins, and how.
    fn wins(&mut self) -> Option<String> {
        let gain = self.gains[0].filter(|gain| gain.winner == self.mover)?;
        let (what, name) = (self.claim_gain(0), self.names[0].clone());
        let rest = |plies: usize| {
            let moves = self.moves(0, 1, plies);
            if moves.is_empty() { moves } else { format!(": {moves}") }
        };
        if let Some(ply) = self.promotion(0) {
            let does = if ply == 0 { "promotes" } else { "promotes a pawn" };
            return Some(format!("{name} {does}{}", rest(ply + 1)));
        }
        let rest = rest(gain.settled);
        let line = &self.lines[0];
        let prizes = self.prizes(0);
        let prize = *prizes.first()?;
        let (first, root) = (line.moves[0], *line.board(0));
        let takes = root.captured(first).filter(|&piece| !first.is_castling() && prize.ply == 0 && value(piece) > 1);
        if let Some(piece) = takes {
            let (piece, at) = (piece_name(piece), first.to());
            let is_free = attackers(&root, at, !self.mover).is_empty();
            return Some(match (self.compared.recaptures == Some(at), is_free) {
                (true, _) => format!("{name} takes the {piece} back"),
                (false, true) if gain.plies == 1 => format!("{name} wins the {piece}, which is not defended"),
                _ => format!("{name} wins {what}{rest}"),
            });
        }
        let motif = self.motif(0, prizes.iter().map(|prize| prize.ply), |motif| motif.ply == 0);
        Some(match motif {
            Some(motif) => format!("{name} {} and wins {what}{rest}", motif.verb(&self.lines[0])),
            None => format!("{name} wins {what}{rest}"),
        })
    }

    /// The better move wins material, the worse one does not, or less.
    fn missed_win(&mut self) -> Option<String> {
        let (gain, wins) = (self.gains[0]?, self.wins()?);
        Some(match self.missed(gain) {
            Some(missed) => format!("{wins}; {missed}."),
            None => format!("{wins}."),
        })
    }

    /// What becomes of the gain of the better line after the worse move; `None` if the worse move takes it as well.
    fn missed(&mut self, gain: Gain) -> Option<String> {
        let other = self.names[1].clone();
        if self.pawns(1) < 0 {
            let (what, plies) = (self.claim_gain(1), self.gains[1]?.settled);
            return Some(format!("{other} loses {what}: {}", self.moves(1, 1, plies)));
        }
        let (own, better) = (self.lines[1].moves[0], self.lines[0].moves[0]);
        let takes = self.lines[1].board(0).captured(own).filter(|_| !own.is_castling());
        let recaptures = |mv: Move| self.compared.recaptures == Some(mv.to());
        if let Some(piece) =
            takes.filter(|&piece| self.pawns(1) == value(piece) && recaptures(own) && !recaptures(better))
        {
            return Some(format!("{other} only takes the {} back", piece_name(piece)));
        }
        if self.pawns(1) >= 1 {
            let what = self.claim_gain(1);
            // A gain that costs something in return is not a win.
            let pays = self.gains[1]?.net.iter().any(|&count| count < 0);
            let verb = if pays { "gets" } else { "wins" };
            return Some(format!("{other} {verb} only {what}"));
        }
        let first = &self.lines[0];
        let capture = (0..gain.plies).step_by(2).find(|&ply| first.board(ply).is_capture(first.moves[ply]));
        let target = capture.map(|ply| first.moves[ply].to());
        if recaptures(better) && own.to() != better.to() && !self.lines[1].board(0).is_capture(own) {
            return Some(format!("{other} does not"));
        }
        if let (Some(target), Some(&reply)) = (target, self.lines[1].moves.get(1)) {
            let moves = self.moves(1, 0, 2);
            let [before, after] = [1, 2].map(|plies| *self.lines[1].board(plies));
            let stood = (before.colors(!self.mover) & !before.pieces(Piece::King)).has(target);
            let attacked = double_attack(&after, reply);
            let and_attacks = match attacked.is_empty() {
                true => String::new(),
                false => format!(" and attacks {}", super::line::joined(&attacked)),
            };
            let piece = before.piece_on(target).map_or("piece", piece_name);
            if stood && reply.from() == target && !reply.is_castling() {
                self.names_reply = true;
                let how = if before.is_capture(reply) { "captures first" } else { "is safe" };
                return Some(format!("after {moves} the {piece} {how}{and_attacks}"));
            }
            let is_new = !attackers(&before, target, !self.mover).has(reply.from());
            if stood && is_new && attackers(&after, target, !self.mover).has(reply.to()) {
                self.names_reply = true;
                return Some(format!("after {moves} the {piece} is defended{and_attacks}"));
            }
            if let (Some(taken), Some(given)) = (takes, before.piece_on(own.to()))
                && reply.to() == own.to()
                && value(taken) == value(given)
            {
                self.names_reply = true;
                return Some(format!("{moves} only trades a {} for a {}", piece_name(given), piece_name(taken)));
            }
        }
        let takes_it = target.is_some() && target == Some(own.to());
        (!takes_it).then(|| format!("{other} misses this"))
    }

    /// Nothing is won or lost: one reason that can be seen on the board soon.
    fn positional(&mut self) -> Option<String> {
        if let [won, lost] = [0, 1].map(|line| self.pawns(line))
            && lost > won
            && lost > 0
        {
            return None;
        }
        self.trade().or_else(|| self.seen())
    }

    /// The worse move lets the queens be traded at once, the better line keeps them.
    fn trade(&mut self) -> Option<String> {
        let queens = |line: usize, plies: usize| {
            self.lines[line].board(plies.min(self.lines[line].moves.len())).pieces(Piece::Queen).len()
        };
        let keeps = queens(0, 0) == 2 && queens(0, 2 * SOON) == 2 && queens(1, 2 * SOON) == 0;
        let plies = (2..=3).find(|&plies| queens(1, plies) == 0).filter(|_| keeps)?;
        let state = self.state(1)?;
        self.names_reply = true;
        Some(format!("{} trades queens, and {state}; {} keeps them.", self.moves(1, 0, plies), self.names[0]))
    }

    /// The feature of the largest topic that is on the board within four plies in one line only.
    fn seen(&mut self) -> Option<String> {
        let leaves = [0, 1].map(|line| self.lines[line].last());
        let soon = [0, 1].map(|line| self.lines[line].board(self.lines[line].moves.len().min(SOON)));
        let total = self.compared.pawns(self.compared.difference.total());
        let is_large = |topic: &&TopicSum| self.compared.pawns(topic.amount) >= (MIN_FRACTION * total).max(MIN_PAWNS);
        let topics = self.compared.difference.topics();
        let castling = self.lost_castling(soon);
        // A weak pawn is no reason where a pawn is lost.
        let is_main = |reason: &Reason| {
            let pawns = |line: usize| soon[line].colored(reason.feature.color, Piece::Pawn).len();
            !matches!(reason.feature.kind, Seen::Isolated | Seen::Doubled)
                || pawns(reason.line) >= pawns(1 - reason.line)
        };
        // A knight that has come in may be exchanged later.
        let lasts = |reason: &Reason| reason.holds(leaves) || reason.feature.kind == Seen::Outpost;
        let found = [leaves, soon].map(|boards| {
            let of = |topic| visible::reasons(topic, boards, self.mover);
            topics.iter().filter(is_large).flat_map(of).collect::<Vec<_>>()
        });
        let found = found.into_iter().flatten().filter(|reason| lasts(reason) && reason.holds(soon) && is_main(reason));
        let (reason, text) =
            castling.into_iter().chain(found).find_map(|reason| Some((reason, self.words_of(&reason)?)))?;
        self.names_reply = reason.line == 1;
        self.claims.push(Claim { line: reason.line, what: Statement::Seen(reason.feature) });
        Some(text)
    }

    /// The worse line gives up castling at once with queens on the board, the better one does not.
    fn lost_castling(&self, soon: [&Board; 2]) -> Option<Reason> {
        let feature = soon.map(|board| Feature {
            kind: Seen::LostCastling,
            color: self.mover,
            square: Some(board.king(self.mover)),
        });
        let is_lost = self.lines[0].board(0).can_castle(self.mover)
            && feature[1].is_on(soon[1])
            && !feature[0].is_on(soon[0])
            && soon[1].pieces(Piece::Queen).len() == 2;
        is_lost.then(|| Reason { line: 1, feature: feature[1] })
    }

    /// A reason with the moves to the first moment at which it is there to stay.
    fn words_of(&self, reason: &Reason) -> Option<String> {
        let [better, worse] = &self.names;
        let (line, feature) = (&self.lines[reason.line], &reason.feature);
        let until = SOON.min(line.moves.len());
        let plies = (0..=until).rev().take_while(|&ply| feature.is_on(line.board(ply))).last()?;
        let clause = feature.clause();
        match (reason.line, plies, feature.kind) {
            (0, 0, Seen::BishopPair) => {
                let other = &self.lines[1];
                let lost = (1..=SOON.min(other.moves.len())).find(|&ply| !feature.is_on(other.board(ply)))?;
                Some(format!("{} gives up the bishop pair; {better} keeps it.", self.moves(1, 0, lost)))
            }
            (_, 0, _) => None,
            (0, ..) => Some(format!("After {} {clause}; {worse} misses this.", self.moves(0, 0, plies))),
            _ => Some(format!("After {} {clause}; {better} avoids this.", self.moves(1, 0, plies))),
        }
    }

    /// Who is better after the first move of a line, in words, by the score of that line; `None` if neither side is.
    fn state(&self, line: usize) -> Option<String> {
        let score = match self.compared.moves[line].score.after_move() {
            Score::Cp(centipawns) => centipawns,
            Score::Mate(moves) => {
                let side = color_name(if moves > 0 { self.mover } else { !self.mover });
                return Some(format!("{side} mates in {}", moves.abs()));
            }
        };
        let side = color_name(if score > 0 { self.mover } else { !self.mover });
        Some(match score.abs() {
            0..40 => "the game is level".into(),
            40..100 => format!("{side} is slightly better"),
            100..250 => format!("{side} is clearly better"),
            _ => format!("{side} is winning"),
        })
    }

    /// The better move, the answer to the worse one if the text names it, and the squares that the text names.
    fn marks(&self) -> Vec<Mark> {
        let after = self.lines[1].board(1);
        let mut marks = vec![Mark::arrow(self.lines[0].moves[0], true)];
        if let Some(&reply) = self.lines[1].moves.get(1).filter(|_| self.names_reply) {
            marks.push(Mark::arrow(reply, false));
        }
        let mut squares = self.squares.clone();
        for claim in &self.claims {
            if let Claim { line: 1, what: Statement::Seen(feature) } = claim
                && feature.is_on(after)
            {
                squares.extend(feature.square);
            }
        }
        marks.extend(squares.into_iter().map(|square| Mark { good: false, square, to: None }));
        marks
    }

    /// The squares that the text names at the end of the better line, or the pair of pieces that counts most for it.
    fn goal(&self) -> Vec<Mark> {
        let seen = self.claims.iter().filter_map(|claim| match claim {
            Claim { line: 0, what: Statement::Seen(feature) } => feature.square,
            _ => None,
        });
        let mut squares: Vec<Square> = seen.collect();
        if squares.is_empty() {
            let pair = self.compared.difference.parts().into_iter().find_map(|part| match part.subject {
                Subject::Pair(first, second, 1) if self.compared.pawns(part.amount) >= MIN_PAIR => {
                    Some([first.square, second.square])
                }
                _ => None,
            });
            squares.extend(pair.into_iter().flatten());
        }
        squares.into_iter().map(|square| Mark { good: true, square, to: None }).collect()
    }
}

/// When a side mates: nothing for the next move.
fn mate_in(moves: i32) -> String {
    if moves == 1 { String::new() } else { format!(" in {moves}") }
}

/// The pieces that the piece of a move attacks, if it attacks two: undefended ones, and more valuable ones.
fn double_attack(after: &Board, mv: Move) -> Vec<String> {
    let Some(piece) = after.piece_on(mv.to()).filter(|_| !mv.is_castling() && !in_danger(after, mv.to())) else {
        return Vec::new();
    };
    let enemy = after.side_to_move();
    let reach = attacks::of(piece, !enemy, mv.to(), after.occupied()) & after.colors(enemy);
    let targets: Vec<Square> = dyad_engine::board::each(reach)
        .filter(|&square| after.piece_on(square).is_some_and(|one| one != Piece::Pawn && in_danger(after, square)))
        .collect();
    if targets.len() < 2 { Vec::new() } else { super::line::piece_list(after, &targets) }
}

#[cfg(test)]
mod tests;
