//! Which move first? Moves are picked in stages, so that a cutoff early on costs little:
//! the table's move, captures that do not lose material, killers and the counter-move, quiet moves
//! by their histories, losing captures.
//!
//! Captures are generated when the table's move did not suffice, quiet moves when no capture did, both into an
//! arena that the nodes of the line share.

use super::history::{Context, Histories, PieceTo, QuietScores, piece_index, piece_to};
use crate::board::{Board, ChessMove, PIECE_VALUES, Piece};
use crate::params::Params;
use crate::tt::{pack_move, unpack_move};

/// A move with what was found out about it.
#[derive(Clone, Copy)]
pub(super) struct Scored {
    pub(super) mv: ChessMove,
    pub(super) mover: PieceTo,
    pub(super) score: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    Table,
    Generate,
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    BadNoisy,
}

/// What kind of moves a picker yields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All legal moves.
    All,
    /// Captures and promotions to queen.
    Noisy,
    /// These, and quiet moves that give check and lose nothing by static exchange.
    NoisyAndChecks,
}

/// A move with its score, the piece that makes it and its place in the list in one word, ordered by score and move: the
/// best of a list is then the largest word, which vector instructions find.
///
/// From the top: score 24 bits, move 16, mover 10, place 14.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate(u64);

impl Candidate {
    /// Added to scores to make them positive; all are smaller.
    const BIAS: i32 = 1 << 23;
    const PLACES: u64 = 1 << 14;

    #[inline]
    fn new(mv: ChessMove, mover: PieceTo, score: i32, place: usize) -> Candidate {
        debug_assert!(score.abs() < Candidate::BIAS && (place as u64) < Candidate::PLACES);
        let score = (score + Candidate::BIAS) as u64;
        Candidate(score << 40 | pack_move(Some(mv)) << 24 | u64::from(mover) << 14 | place as u64)
    }

    #[inline]
    fn score(self) -> i32 {
        (self.0 >> 40) as i32 - Candidate::BIAS
    }

    #[inline]
    fn mv(self) -> ChessMove {
        unpack_move(self.0 >> 24 & 0xFFFF).unwrap_or_default()
    }

    #[inline]
    fn place(self) -> usize {
        (self.0 % Candidate::PLACES) as usize
    }

    #[inline]
    fn moved_to(self, place: usize) -> Candidate {
        Candidate((self.0 / Candidate::PLACES * Candidate::PLACES) | place as u64)
    }

    #[inline]
    fn scored(self) -> Scored {
        Scored { mv: self.mv(), mover: (self.0 >> 14 & 0x3FF) as PieceTo, score: self.score() }
    }
}

/// The moves of the nodes of a line: noisy moves and quiet ones, one node after another.
pub(super) struct Arena {
    noisy: Vec<Candidate>,
    quiet: Vec<Candidate>,
}

impl Arena {
    pub(super) fn new() -> Arena {
        Arena { noisy: Vec::with_capacity(4096), quiet: Vec::with_capacity(16_384) }
    }

    pub(super) fn clear(&mut self) {
        self.noisy.clear();
        self.quiet.clear();
    }
}

/// What ordering knows of a node.
pub(super) struct Hints {
    pub(super) killers: [Option<ChessMove>; 2],
    pub(super) counter: Option<ChessMove>,
    pub(super) context: Context,
    /// Squares attacked by enemy pawns.
    pub(super) threats: u64,
}

impl Hints {
    /// The score of a killer or counter-move.
    #[inline]
    fn special(&self, mv: ChessMove) -> Option<i32> {
        let specials = [(self.killers[0], 3 * KILLER), (self.killers[1], 2 * KILLER), (self.counter, KILLER)];
        specials.into_iter().find(|&(special, _)| special == Some(mv)).map(|(_, score)| score)
    }
}

/// How moves are scored.
pub(super) trait Scorer {
    /// Score of a capture or promotion.
    fn noisy(&self, board: &Board, mv: ChessMove, mover: PieceTo) -> i32;

    /// What a capture of this score may lose by static exchange and still come early.
    fn slack(&self, score: i32) -> i32;

    /// Scores the quiet moves of a node.
    fn quiet(&self, board: &Board, hints: &Hints) -> impl Fn(ChessMove, PieceTo) -> i32;
}

/// By what they capture and what earlier cutoffs say of them: the histories, and how much each counts.
pub(super) struct History<'a>(pub(super) &'a Histories, pub(super) &'a Params);

impl<'a> History<'a> {
    #[inline]
    pub(super) fn quiet_scores(&self, board: &Board, hints: &Hints) -> QuietScores<'a> {
        self.0.quiet_scores(self.1, board, &hints.context, hints.threats)
    }
}

impl Scorer for History<'_> {
    /// Most valuable victim first, corrected by what captures of this kind led to.
    #[inline]
    fn noisy(&self, board: &Board, mv: ChessMove, mover: PieceTo) -> i32 {
        let &History(histories, params) = self;
        let history = histories.capture(mover, board.captured(mv).unwrap_or(Piece::Pawn));
        params.ordering_gain * gain(board, mv) + history * params.ordering_capture / 16
    }

    #[inline]
    fn slack(&self, score: i32) -> i32 {
        score * self.1.ordering_see / 1024
    }

    #[inline]
    fn quiet(&self, board: &Board, hints: &Hints) -> impl Fn(ChessMove, PieceTo) -> i32 {
        let scores = self.quiet_scores(board, hints);
        move |mv, mover| scores.of(mv, mover)
    }
}

/// By what they capture and nothing else. Which of several leaves with the same value a training finds depends on the
/// order: it is no matter of constants to be tuned.
pub(super) struct Unlearned;

impl Scorer for Unlearned {
    #[inline]
    fn noisy(&self, board: &Board, mv: ChessMove, _: PieceTo) -> i32 {
        4 * gain(board, mv)
    }

    #[inline]
    fn slack(&self, score: i32) -> i32 {
        score / 32
    }

    #[inline]
    fn quiet(&self, _: &Board, _: &Hints) -> impl Fn(ChessMove, PieceTo) -> i32 {
        |_, _| 0
    }
}

/// What a capture or promotion wins at once.
#[inline]
fn gain(board: &Board, mv: ChessMove) -> i32 {
    let captured = board.captured(mv).map_or(0, |piece| PIECE_VALUES[piece.to_index()]);
    let promotion = if mv.get_promotion() == Some(Piece::Queen) { PIECE_VALUES[Piece::Queen.to_index()] } else { 0 };
    captured + promotion
}

/// Yields the moves of one node, best first.
pub(super) struct Picker {
    stage: Stage,
    kind: Kind,
    table_move: Option<ChessMove>,
    /// Captures must win this much to come early.
    see_threshold: i32,
    noisy_start: usize,
    noisy_next: usize,
    bad_end: usize,
    quiet_start: usize,
    quiet_next: usize,
    skip_quiets: bool,
}

/// The score of a killer in place of its histories', above all of these.
pub(super) const KILLER: i32 = 1 << 20;

impl Picker {
    /// A picker for the node; `table_move` must be legal. The arena is given back by [`Picker::done`].
    pub(super) fn new(arena: &Arena, kind: Kind, table_move: Option<ChessMove>, see_threshold: i32) -> Picker {
        let (noisy, quiet) = (arena.noisy.len(), arena.quiet.len());
        Picker {
            stage: if table_move.is_some() { Stage::Table } else { Stage::Generate },
            kind,
            table_move,
            see_threshold,
            noisy_start: noisy,
            noisy_next: noisy,
            bad_end: noisy,
            quiet_start: quiet,
            quiet_next: quiet,
            skip_quiets: false,
        }
    }

    /// Gives the node's part of the arena back.
    pub(super) fn done(&self, arena: &mut Arena) {
        arena.noisy.truncate(self.noisy_start);
        arena.quiet.truncate(self.quiet_start);
    }

    /// From here on quiet moves are left out.
    pub(super) fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// Whether the moves that come now are captures that lose material.
    pub(super) fn in_bad_noisy(&self) -> bool {
        self.stage == Stage::BadNoisy
    }

    /// The next move.
    #[inline]
    pub(super) fn next<S: Scorer>(
        &mut self,
        arena: &mut Arena,
        board: &Board,
        scorer: &S,
        hints: &Hints,
    ) -> Option<Scored> {
        loop {
            match self.stage {
                Stage::Table => {
                    self.stage = Stage::Generate;
                    if let Some(mv) = self.table_move {
                        return Some(Scored { mv, mover: piece_to(board, mv), score: i32::MAX });
                    }
                }
                Stage::Generate => {
                    self.generate_noisy(arena, board, scorer);
                    self.stage = Stage::GoodNoisy;
                }
                Stage::GoodNoisy => match self.next_good(arena, board, scorer) {
                    Some(found) => return Some(found),
                    None if self.kind == Kind::Noisy => return None,
                    None => self.stage = Stage::GenerateQuiet,
                },
                Stage::GenerateQuiet => {
                    if !self.skip_quiets {
                        self.generate_quiet(arena, board, scorer, hints);
                    }
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet => match self.next_quiet(arena) {
                    Some(found) => return Some(found),
                    None => {
                        self.stage = Stage::BadNoisy;
                        self.noisy_next = self.noisy_start;
                    }
                },
                Stage::BadNoisy => {
                    // Quiescence leaves losing captures out.
                    if self.kind != Kind::All || self.noisy_next == self.bad_end {
                        return None;
                    }
                    self.noisy_next += 1;
                    return Some(arena.noisy[self.noisy_next - 1].scored());
                }
            }
        }
    }

    #[inline]
    fn generate_noisy<S: Scorer>(&self, arena: &mut Arena, board: &Board, scorer: &S) {
        let us = board.side_to_move();
        board.for_each_noisy(|moved, mv| {
            if Some(mv) != self.table_move {
                let mover = piece_index(us, moved, mv.get_dest());
                let place = arena.noisy.len() - self.noisy_start;
                arena.noisy.push(Candidate::new(mv, mover, scorer.noisy(board, mv, mover), place));
            }
        });
    }

    #[inline]
    fn generate_quiet<S: Scorer>(&self, arena: &mut Arena, board: &Board, scorer: &S, hints: &Hints) {
        let us = board.side_to_move();
        let quiet_score = scorer.quiet(board, hints);
        let checks = (self.kind == Kind::NoisyAndChecks).then(|| board.checks());
        let wanted = |mv| checks.is_none_or(|checks| checks.given_by(board, mv) && board.see_ge(mv, 0));
        board.for_each_quiet(|moved, mv| {
            if Some(mv) != self.table_move && wanted(mv) {
                let mover = piece_index(us, moved, mv.get_dest());
                let score = hints.special(mv).unwrap_or_else(|| quiet_score(mv, mover));
                let place = arena.quiet.len() - self.quiet_start;
                arena.quiet.push(Candidate::new(mv, mover, score, place));
            }
        });
    }

    /// Noisy moves from the best score down; those that lose material are put aside at the front.
    fn next_good<S: Scorer>(&mut self, arena: &mut Arena, board: &Board, scorer: &S) -> Option<Scored> {
        while let Some(found) = select(&mut arena.noisy[self.noisy_start..], self.noisy_next - self.noisy_start) {
            self.noisy_next += 1;
            // In quiescence the threshold is exact: what it looks at must not depend on the histories.
            let slack = if self.kind == Kind::All { scorer.slack(found.score()) } else { 0 };
            if board.see_ge(found.mv(), self.see_threshold - slack) {
                return Some(found.scored());
            }
            arena.noisy[self.bad_end] = found;
            self.bad_end += 1;
        }
        None
    }

    fn next_quiet(&mut self, arena: &mut Arena) -> Option<Scored> {
        if self.skip_quiets {
            return None;
        }
        let found = select(&mut arena.quiet[self.quiet_start..], self.quiet_next - self.quiet_start)?;
        self.quiet_next += 1;
        Some(found.scored())
    }
}

/// Brings the best of a node's moves from `next` on to `next`.
#[inline]
fn select(moves: &mut [Candidate], next: usize) -> Option<Candidate> {
    let best = moves[next..].iter().copied().max()?;
    let place = best.place();
    moves[place] = moves[next].moved_to(place);
    moves[next] = best;
    Some(best)
}
