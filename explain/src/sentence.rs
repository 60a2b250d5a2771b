//! Why a move is worse than another, in one or two sentences that a chess player can check.
//!
//! First what happens on the board, in moves: mate, material, a draw. Only if nothing of that kind decides, up to two
//! reasons that can be seen at the ends of the two lines. Every statement is a [`Claim`], and tests check the claims
//! against the lines. A pure function of a [`Comparison`]: no files, no threads, no clock.

use super::comparison::Comparison;
use super::difference::{Subject, TopicSum};
use super::line::{DrawKind, Fork, Gain, Line, attackers, counted, joined, variation};
use super::visible::{self, Reason};
use dyad_engine::board::{Board, Color, Move, PAWN_UNITS, Piece, Square, Squares, color_name, piece_name};
use dyad_engine::search::Score;

/// An explanation with marks for a board.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// One or two sentences.
    pub text: String,
    /// What the text claims.
    pub claims: Vec<Claim>,
    /// Marks on the board after the worse move.
    pub marks: Vec<Mark>,
    /// Marks on the board at the end of the better line.
    pub goal: Vec<Mark>,
}

/// A statement of an explanation. `line` is 0 for the better move and 1 for the worse one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A side mates.
    Mate {
        /// The line.
        line: usize,
        /// The side that mates.
        winner: Color,
        /// Moves to mate.
        moves: i32,
    },
    /// A side wins material.
    Gain {
        /// The line.
        line: usize,
        /// What it wins.
        gain: Gain,
    },
    /// A move attacks two pieces and takes one of them.
    Fork {
        /// The line.
        line: usize,
        /// The number of the move in the line, from 0.
        ply: usize,
        /// What it attacks.
        fork: Fork,
    },
    /// A move attacks a piece that is not defended, or more valuable.
    Attack {
        /// The line.
        line: usize,
        /// The number of the move in the line, from 0.
        ply: usize,
        /// The attacked piece.
        piece: Piece,
        /// Its square.
        square: Square,
    },
    /// The line ends in a draw.
    Draw {
        /// The line.
        line: usize,
        /// How.
        kind: DrawKind,
    },
    /// A feature of one end only.
    Seen(Reason),
}

/// A colored arrow or square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The arrow or square.
    pub place: Place,
    /// Green for what is good, red for what is bad.
    pub good: bool,
}

/// An arrow for a move, or a tinted square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A move from one square to another.
    Arrow(Square, Square),
    /// A square.
    Square(Square),
}

/// Maximum number of reasons.
const REASONS: usize = 2;
/// Smallest topic that gives a reason, as a fraction of the difference, and in centipawns.
const MIN_FRACTION: f64 = 0.15;
const MIN_CENTIPAWNS: f64 = 12.0;
/// Plies after which a reason must hold already.
const SOON: usize = 8;
/// Maximum number of plies shown.
const MAX_SHOWN: usize = 7;
/// Smallest pair that is marked, in centipawns.
const MIN_PAIR: f64 = 5.0;

/// Why the second move of a comparison is worse than the first.
#[must_use]
pub fn explain(compared: &Comparison) -> Explanation {
    let mut writer = Writer::new(compared);
    let text = writer.text();
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

impl<'a> Writer<'a> {
    fn new(compared: &'a Comparison) -> Writer<'a> {
        let board = &compared.board;
        let firsts = compared.moves.each_ref().map(|one| one.line[0]);
        let same = firsts[0].to() == firsts[1].to() && firsts.iter().all(|&mv| board.is_capture(mv));
        let lines = compared.moves.each_ref().map(|one| Line::new(board, &one.line, &one.leaf, usize::from(same)));
        let names = compared.moves.each_ref().map(|one| variation(board, &one.line[..1]));
        let gains = lines.each_ref().map(Line::gain);
        let mover = board.side_to_move();
        Writer { compared, lines, names, mover, gains, claims: Vec::new(), names_reply: false, squares: Vec::new() }
    }

    fn text(&mut self) -> String {
        let [better, worse] = self.compared.moves.each_ref().map(|one| one.score);
        let [won, lost] = [0, 1].map(|line| self.pawns(line));
        let stalemates = self.lines[1].draw() == Some(DrawKind::Stalemate) && self.lines[1].moves.len() == 1;
        match (better, worse) {
            _ if stalemates => self.draw(),
            (Score::Mate(moves), _) if moves > 0 => self.missed_mate(moves),
            (_, Score::Mate(moves)) if moves < 0 => self.allowed_mate(-moves),
            _ if self.lines[0].draw().is_some() != self.lines[1].draw().is_some() => self.draw(),
            _ if lost < 0 && won > lost => self.loss(),
            _ if won > lost => self.missed_win(),
            _ => self.positional(),
        }
    }

    /// The lasting gain of the mover in a line, in pawns.
    fn pawns(&self, line: usize) -> i32 {
        self.gains[line].map_or(0, |gain| if gain.winner == self.mover { gain.pawns() } else { -gain.pawns() })
    }

    /// Moves `from..to` of a line with numbers; the middle of a long one is left out.
    fn moves(&self, line: usize, from: usize, to: usize) -> String {
        let part = |from: usize, to: usize| variation(self.lines[line].board(from), &self.lines[line].moves[from..to]);
        if to - from <= MAX_SHOWN {
            return part(from, to);
        }
        format!("{} ... {}", part(from, from + 4), part(to - 1, to))
    }

    /// Claims the gain of a line and names it.
    fn claim_gain(&mut self, line: usize) -> String {
        let Some(gain) = self.gains[line] else { return "nothing".into() };
        self.claims.push(Claim::Gain { line, gain });
        gain.words()
    }

    fn missed_mate(&mut self, moves: i32) -> String {
        self.claims.push(Claim::Mate { line: 0, winner: self.mover, moves });
        let line = self.mating_line(0, 0);
        let misses = match moves {
            1 => format!("Misses mate: {line}"),
            _ => format!("Misses mate in {moves}: {line}"),
        };
        match self.compared.moves[1].score {
            Score::Mate(other) if other < 0 => format!("{misses}, and {} loses to mate.", self.names[1]),
            _ => format!("{misses}."),
        }
    }

    fn allowed_mate(&mut self, moves: i32) -> String {
        let opponent = !self.mover;
        self.claims.push(Claim::Mate { line: 1, winner: opponent, moves });
        self.names_reply = true;
        self.squares = vec![self.lines[1].board(1).king(self.mover)];
        let line = self.mating_line(1, 1);
        let allows = match moves {
            1 => format!("{} allows mate: {line}", self.names[1]),
            _ => format!("{} allows mate in {moves}: {line}", self.names[1]),
        };
        match self.compared.moves[0].score {
            Score::Mate(_) => format!("{allows}; {} only delays it.", self.names[0]),
            _ => format!("{allows}; {} prevents it.", self.names[0]),
        }
    }

    /// The moves to mate, or the first ones if the line is long or does not reach it.
    fn mating_line(&self, line: usize, from: usize) -> String {
        let plies = self.lines[line].moves.len();
        let is_complete = self.lines[line].mates() && plies - from <= MAX_SHOWN;
        let text = self.moves(line, from, if is_complete { plies } else { plies.min(from + 3) });
        if is_complete { text } else { format!("{text} and so on") }
    }

    fn draw(&mut self) -> String {
        let line = usize::from(self.lines[1].draw().is_some());
        let Some(kind) = self.lines[line].draw() else { return self.positional() };
        self.claims.push(Claim::Draw { line, kind });
        let plies = self.lines[line].moves.len();
        let moves = self.moves(line, 0, plies);
        let how = match kind {
            DrawKind::Stalemate => "is stalemate",
            DrawKind::Material => "leaves too little material to win",
            DrawKind::FiftyMoves => "is a draw by the fifty-move rule",
            // The search stops at the first one.
            DrawKind::Repetition => "ends in a repetition",
        };
        let other = &self.names[1 - line];
        match self.compared.moves[1 - line].score {
            Score::Mate(1) => format!("{moves} {how}; {other} mates."),
            _ => format!("{moves} {how}; after {other} {}.", self.state(1 - line)),
        }
    }

    /// The opponent wins material after the worse move.
    fn loss(&mut self) -> String {
        let Some(gain) = self.gains[1] else { return self.positional() };
        let what = self.claim_gain(1);
        self.names_reply = true;
        let (name, opponent) = (self.names[1].clone(), color_name(gain.winner));
        let line = &self.lines[1];
        let (own, reply) = (line.moves[0], line.moves[1]);
        let (root, after) = (*line.board(0), *line.board(1));
        let moves = self.moves(1, 1, gain.plies);
        let main = line.captures(gain.plies, gain.winner).fold(None, |main: Option<(usize, Piece)>, next| match main {
            Some((_, piece)) if value(piece) >= value(next.1) => main,
            _ => Some(next),
        });
        let target = main.map_or(reply.to(), |(ply, _)| line.moves[ply].to());
        let loses_mover = main.is_some_and(|(ply, _)| line.stays(own.to(), 1, ply) && target == own.to());
        let taken = main.filter(|&(ply, _)| ply == 1 || loses_mover).map(|(_, piece)| piece);
        let promotes =
            (1..gain.plies).step_by(2).find(|&ply| line.moves[ply].promotion().is_some()).filter(|_| gain.net[4] > 0);
        let fork = line.fork(1).filter(|_| gain.plies > 3);
        let is_all = taken.is_some_and(|piece| {
            gain.net.iter().enumerate().all(|(index, &count)| count == i32::from(index == piece.to_index()))
        });
        let result = if is_all { String::new() } else { format!(", and {opponent} wins {what}") };
        let text = if let Some(piece) = taken.filter(|_| loses_mover) {
            match is_all {
                true => format!("{name} loses the {}: {moves}", piece_name(piece)),
                false => format!("{name} loses {what}: {moves}"),
            }
        } else if let Some(fork) = fork {
            self.squares = fork.targets.clone();
            let targets = target_words(self.lines[1].board(2), &fork.targets);
            self.claims.push(Claim::Fork { line: 1, ply: 1, fork });
            let first = self.moves(1, 1, 2);
            let rest = self.moves(1, 2, gain.plies);
            format!("{name} allows {first} with a fork of {targets}, and {opponent} wins {what}: {rest}")
        } else if let Some(piece) = taken {
            self.squares = vec![target];
            let piece = piece_name(piece);
            let before = attackers(&root, target, self.mover);
            let now = attackers(&after, target, self.mover);
            let was_defender = before.has(own.from()) && !now.has(own.to());
            let was_attacked = attackers(&root, target, gain.winner).has(reply.from());
            if now.is_empty() && was_defender {
                format!("{name} takes the last defender from the {piece} on {target}: {moves}{result}")
            } else if now.is_empty() && was_attacked && root.piece_on(target).is_some() {
                format!("{name} leaves the {piece} on {target} hanging: {moves}{result}")
            } else if was_defender {
                format!("{name} takes a defender from the {piece} on {target}: {moves}, and {opponent} wins {what}")
            } else {
                format!("{name} allows {moves}, and {opponent} wins {what}")
            }
        } else if let Some(ply) = promotes {
            // The file on which the pawn stood before the line.
            let earlier = (1..ply).step_by(2).rev().map(|ply| line.moves[ply]);
            let origin = earlier.fold(line.moves[ply].from(), |at, mv| if mv.to() == at { mv.from() } else { at });
            let file = visible::file_name(origin);
            format!("{name} lets {opponent}'s {file}-pawn promote: {moves}")
        } else {
            format!("{name} allows {moves}, and {opponent} wins {what}")
        };
        format!("{text}; {}.", self.remedy(taken.map(|piece| (piece, target)), reply))
    }

    /// What the better move does about the loss of the worse one.
    fn remedy(&mut self, threatened: Option<(Piece, Square)>, reply: Move) -> String {
        let (name, mover) = (self.names[0].clone(), self.mover);
        let better = self.lines[0].moves[0];
        let (root, after) = (*self.lines[0].board(0), *self.lines[0].board(1));
        let own = self.lines[1].moves[0];
        if self.pawns(0) >= 1 {
            let what = self.claim_gain(0);
            return match self.gains[0] {
                Some(gain) if gain.plies > 1 => format!("{} wins {what}", self.moves(0, 0, gain.plies)),
                _ => format!("{name} wins {what}"),
            };
        }
        if self.pawns(0) < 0 {
            let what = self.claim_gain(0);
            return format!("{name} loses only {what}");
        }
        if let Some((piece, square)) = threatened.filter(|&(_, square)| square != own.to()) {
            let piece = piece_name(piece);
            if better.from() == square {
                return format!("{name} saves the {piece}");
            }
            let defends = attackers(&after, square, mover).has(better.to());
            if defends && !attackers(&root, square, mover).has(better.from()) && !better.is_castling() {
                return format!("{name} defends the {piece}");
            }
        }
        if better.to() == reply.from() && root.is_capture(better) {
            let attacker = root.piece_on(reply.from()).map_or("piece", piece_name);
            return format!("{name} takes the {attacker} first");
        }
        let saved = self.gains[1].map_or(0, |gain| gain.pawns());
        // Where the better line also loses material at some point, it only loses more slowly.
        match self.lines[0].least(mover) > -saved.min(2) {
            true => format!("{name} avoids this"),
            false => format!("after {name} {}", self.state(0)),
        }
    }

    /// The better move wins material, the worse one does not, or less.
    fn missed_win(&mut self) -> String {
        let Some(gain) = self.gains[0].filter(|gain| gain.winner == self.mover) else { return self.positional() };
        let what = self.claim_gain(0);
        let [name, other] = self.names.clone();
        let line = &self.lines[0];
        let (first, root) = (line.moves[0], *line.board(0));
        let played = self.lines[1].moves[0].to();
        let recaptures = self.compared.recaptures == Some(first.to()) && played != first.to();
        if let Some(piece) = root.captured(first).filter(|_| recaptures && !first.is_castling()) {
            let taken = piece_name(piece);
            let down = match self.pawns(1) {
                0 => format!("{other} leaves {} {what} down", color_name(self.mover)),
                _ => format!("{other} does not"),
            };
            return format!("{name} takes the {taken} back; {down}.");
        }
        let rest = self.moves(0, 1, gain.plies);
        let fork = line.fork(0).filter(|_| gain.plies > 2);
        let promotes = gain.net[4] > 0 && (0..gain.plies).step_by(2).any(|ply| line.moves[ply].promotion().is_some());
        let wins = if let Some(fork) = fork {
            let targets = target_words(self.lines[0].board(1), &fork.targets);
            self.claims.push(Claim::Fork { line: 0, ply: 0, fork });
            format!("{name} forks {targets} and wins {what}: {rest}")
        } else if promotes && gain.plies > 1 {
            format!("{name} promotes a pawn: {rest}")
        } else if promotes && gain.plies == 1 {
            format!("{name} promotes")
        } else if gain.plies == 1 {
            format!("{name} wins {what}")
        } else {
            format!("{name} wins {what}: {rest}")
        };
        match self.missed(gain) {
            Some(missed) => format!("{wins}; {missed}."),
            None => format!("{wins}."),
        }
    }

    /// What becomes of the gain of the better line after the worse move; `None` if the worse move takes it as well.
    fn missed(&mut self, gain: Gain) -> Option<String> {
        let other = self.names[1].clone();
        if self.pawns(1) >= 1 {
            let what = self.claim_gain(1);
            let verb = if gain_is_trade(self.gains[1]) { "gets" } else { "wins" };
            return Some(format!("{other} {verb} only {what}"));
        }
        let line = &self.lines[0];
        let capture = (0..gain.plies).step_by(2).find(|&ply| line.board(ply).is_capture(line.moves[ply]));
        let target = capture.map(|ply| line.moves[ply].to());
        if let (Some(target), Some(&reply)) = (target, self.lines[1].moves.get(1)) {
            let opponent = color_name(!self.mover);
            let moves = self.moves(1, 0, 2);
            let [before, after] = [1, 2].map(|plies| *self.lines[1].board(plies));
            let stood = before.color_on(target) == Some(!self.mover);
            if stood && reply.from() == target && !reply.is_castling() {
                let piece = before.piece_on(target).map_or("piece", piece_name);
                self.names_reply = true;
                let captures = before.is_capture(reply);
                let how = if captures { "captures first" } else { "is gone" };
                return Some(format!("after {moves} the {piece} {how}"));
            }
            let is_new = !attackers(&before, target, !self.mover).has(reply.from());
            if stood && is_new && attackers(&after, target, !self.mover).has(reply.to()) {
                self.names_reply = true;
                return Some(format!("after {moves} {opponent} holds it"));
            }
        }
        let takes = target.is_some() && target == Some(self.lines[1].moves[0].to());
        (!takes).then(|| format!("{other} misses this"))
    }

    /// Nothing is won or lost: who is better after each move, and what can be seen.
    fn positional(&mut self) -> String {
        let [name, other] = self.names.clone();
        let states = [0, 1].map(|line| self.state(line));
        let reasons = self.reasons();
        let clauses = [0, 1].map(|line| {
            let clauses: Vec<String> =
                reasons.iter().filter(|reason| reason.line == line).map(Reason::clause).collect();
            clauses.join(", and ")
        });
        self.claims.extend(reasons.into_iter().map(Claim::Seen));
        let gives = match [0, 1].map(|line| self.pawns(line)) {
            [won, lost] if lost > won && lost > 0 && self.is_clear(1) => {
                let what = self.claim_gain(1);
                Some(format!("{other} wins {what}, but {name} is stronger"))
            }
            [won, lost] if won < lost && won < 0 && self.is_clear(0) => {
                let what = self.claim_gain(0);
                Some(format!("{name} gives up {what}, and is stronger than {other}"))
            }
            _ => None,
        };
        let reply = self.moves(1, 0, self.lines[1].moves.len().min(2));
        let [name, reply] = [self.with_attack(0, 0, name), self.with_attack(1, 1, reply)];
        let lead = match gives {
            Some(gives) => gives,
            None if states[0] != states[1] => {
                self.names_reply = true;
                let with = |clause: &String| if clause.is_empty() { String::new() } else { format!(": {clause}") };
                return format!(
                    "After {name} {}{}; after {reply} {}{}.",
                    states[0],
                    with(&clauses[0]),
                    states[1],
                    with(&clauses[1])
                );
            }
            None => format!("{name} is stronger than {other}"),
        };
        let after = |name: &str, clause: &String| (!clause.is_empty()).then(|| format!("after {name} {clause}"));
        let parts: Vec<String> =
            [after(&other, &clauses[1]), after(&name, &clauses[0])].into_iter().flatten().collect();
        if parts.is_empty() { format!("{lead}.") } else { format!("{lead}: {}.", parts.join("; ")) }
    }

    /// Whether the material won or lost in a line is so at once, and the mover is not lost anyway.
    fn is_clear(&self, line: usize) -> bool {
        let is_soon = self.gains[line].is_some_and(|gain| gain.plies <= 3);
        let is_playable = !matches!(self.compared.moves[0].score, Score::Cp(..-150) | Score::Mate(..0));
        is_soon && is_playable && self.compared.recaptures.is_none()
    }

    /// Moves that end with the move number `ply`, and what that move attacks.
    fn with_attack(&mut self, line: usize, ply: usize, moves: String) -> String {
        let Some(&mv) = self.lines[line].moves.get(ply) else { return moves };
        let mut attacked = visible::new_attacks(self.lines[line].board(ply), mv);
        attacked.truncate(2);
        if attacked.is_empty() {
            return moves;
        }
        let names: Vec<String> =
            attacked.iter().map(|(piece, square)| format!("the {} on {square}", piece_name(*piece))).collect();
        self.claims.extend(attacked.into_iter().map(|(piece, square)| Claim::Attack { line, ply, piece, square }));
        format!("{moves}, which attacks {},", joined(&names))
    }

    /// Who is better after the first move of a line, in words.
    fn state(&self, line: usize) -> String {
        let score = match self.compared.moves[line].score.after_move() {
            Score::Cp(centipawns) => centipawns,
            Score::Mate(moves) => {
                let side = color_name(if moves > 0 { self.mover } else { !self.mover });
                return format!("{side} mates in {}", moves.abs());
            }
        };
        let side = color_name(if score > 0 { self.mover } else { !self.mover });
        match score.abs() {
            0..40 => "the game is level".into(),
            40..100 => format!("{side} is slightly better"),
            100..250 => format!("{side} is clearly better"),
            _ => format!("{side} is winning"),
        }
    }

    /// Up to two reasons, those of the largest topics first.
    fn reasons(&self) -> Vec<Reason> {
        let leaves = [0, 1].map(|line| self.lines[line].last());
        let soon = [0, 1].map(|line| self.lines[line].board(self.lines[line].moves.len().min(SOON)));
        let total: f64 =
            self.compared.centipawns(self.compared.difference.parts().iter().map(|part| part.amount).sum());
        let is_large =
            |topic: &&TopicSum| self.compared.centipawns(topic.amount) >= (MIN_FRACTION * total).max(MIN_CENTIPAWNS);
        let mut found: Vec<Reason> = Vec::new();
        for topic in self.compared.difference.topics().iter().filter(is_large) {
            let reason = visible::reasons(topic, leaves, self.mover).into_iter().find(|reason| {
                let squares = reason.feature.squares();
                let is_new = found.iter().all(|other| !other.feature.squares().iter().any(|one| squares.contains(one)));
                is_new && reason.holds(leaves) && reason.holds(soon)
            });
            found.extend(reason);
            if found.len() == REASONS {
                break;
            }
        }
        found
    }

    /// The better move, the answer to the worse one if the text names it, and the squares that the text names.
    fn marks(&self) -> Vec<Mark> {
        let after = self.lines[1].board(1);
        let mut marks = vec![Mark { place: arrow(self.lines[0].moves[0]), good: true }];
        if let Some(&reply) = self.lines[1].moves.get(1).filter(|_| self.names_reply) {
            marks.push(Mark { place: arrow(reply), good: false });
        }
        let mut squares = self.squares.clone();
        for claim in &self.claims {
            if let Claim::Seen(Reason { line: 1, feature, .. }) = claim
                && feature.is_on(after)
            {
                squares.extend(feature.squares());
            }
        }
        marks.extend(squares.into_iter().map(|square| Mark { place: Place::Square(square), good: false }));
        marks
    }

    /// The squares that the text names at the end of the better line, or the pair of pieces that counts most for it.
    fn goal(&self) -> Vec<Mark> {
        let seen = self.claims.iter().filter_map(|claim| match claim {
            Claim::Seen(Reason { line: 0, feature, .. }) => Some(feature.squares()),
            _ => None,
        });
        let mut squares: Vec<Square> = seen.flatten().collect();
        if squares.is_empty() {
            let pair = self.compared.difference.parts().into_iter().find_map(|part| match part.subject {
                Subject::Pair(first, second, 1) if self.compared.centipawns(part.amount) >= MIN_PAIR => {
                    Some([first.square, second.square])
                }
                _ => None,
            });
            squares.extend(pair.into_iter().flatten());
        }
        squares.into_iter().map(|square| Mark { place: Place::Square(square), good: true }).collect()
    }
}

fn value(piece: Piece) -> i32 {
    PAWN_UNITS[piece.to_index()]
}

/// Whether a side pays for what it wins.
fn gain_is_trade(gain: Option<Gain>) -> bool {
    gain.is_some_and(|gain| gain.net.iter().any(|&count| count < 0))
}

fn arrow(mv: Move) -> Place {
    Place::Arrow(mv.from(), mv.to())
}

/// The pieces on squares of a board: "king and two rooks".
fn target_words(board: &Board, targets: &[Square]) -> String {
    let pieces: Vec<Piece> = targets.iter().filter_map(|&square| board.piece_on(square)).collect();
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
    joined(&words)
}

#[cfg(test)]
mod tests;
