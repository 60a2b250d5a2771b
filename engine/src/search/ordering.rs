//! Which move first? Moves are picked in stages, so that a cutoff early on costs little:
//! the table's move, captures that do not lose material, killers and the counter-move, quiet moves
//! by their histories and by what they gain or risk at once, losing captures.
//!
//! Captures are generated when the table's move did not suffice, quiet moves when no capture did, both into an
//! arena that the nodes of the line share.

use super::history::{Context, Histories, QuietScores, piece_to, squares};
use crate::board::{
    BitBoard, Board, ChessMove, Color, EMPTY, PIECE_VALUES, Piece, PieceTo, Square, attacks, each, move_bits,
    move_from_bits, piece_index,
};
use crate::params::{Derived, Params};

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

/// A move and the piece that makes it, generated and not yet scored, in one word: the move 16 bits, the mover 10.
#[derive(Clone, Copy, Default)]
struct Unscored(u32);

impl Unscored {
    #[inline]
    fn new(mv: ChessMove, mover: PieceTo) -> Unscored {
        Unscored(u32::from(move_bits(Some(mv))) << 10 | u32::from(mover))
    }

    #[inline]
    fn bits(self) -> u16 {
        (self.0 >> 10) as u16
    }

    #[inline]
    fn mv(self) -> ChessMove {
        move_from_bits(self.bits()).unwrap_or_default()
    }

    #[inline]
    fn mover(self) -> PieceTo {
        (self.0 & 0x3FF) as PieceTo
    }
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
    fn new(found: Unscored, score: i32, place: usize) -> Candidate {
        debug_assert!(score.abs() < Candidate::BIAS && (place as u64) < Candidate::PLACES);
        let score = (score + Candidate::BIAS) as u64;
        Candidate(score << 40 | u64::from(found.0) << 14 | place as u64)
    }

    #[inline]
    fn score(self) -> i32 {
        (self.0 >> 40) as i32 - Candidate::BIAS
    }

    #[inline]
    fn unscored(self) -> Unscored {
        Unscored((self.0 >> 14) as u32 & 0x3FF_FFFF)
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
        let found = self.unscored();
        Scored { mv: found.mv(), mover: found.mover(), score: self.score() }
    }
}

/// The moves of the nodes of a line: noisy moves and quiet ones, one node after another.
pub(super) struct Arena {
    noisy: Vec<Candidate>,
    quiet: Vec<Candidate>,
    /// The moves of one node that are being generated: first all are written down here, then all are scored. Either loop is
    /// short, and the second knows how many there will be.
    unscored: Box<[Unscored; 256]>,
}

impl Arena {
    pub(super) fn new() -> Arena {
        Arena {
            noisy: Vec::with_capacity(4096),
            quiet: Vec::with_capacity(16_384),
            unscored: Box::new([Unscored::default(); 256]),
        }
    }

    pub(super) fn clear(&mut self) {
        self.noisy.clear();
        self.quiet.clear();
    }
}

/// Writes the moves of a node down as they are generated.
struct Notes<'a> {
    list: &'a mut [Unscored; 256],
    /// In a byte, so that no move can be outside the list.
    count: u8,
    us: Color,
    /// Left out: it was searched before.
    table_move: u16,
}

impl<'a> Notes<'a> {
    #[inline]
    fn new(list: &'a mut [Unscored; 256], board: &Board, table_move: Option<ChessMove>) -> Notes<'a> {
        Notes { list, count: 0, us: board.side_to_move(), table_move: move_bits(table_move) }
    }

    #[inline(always)]
    fn add(&mut self, moved: Piece, mv: ChessMove) {
        let found = Unscored::new(mv, piece_index(self.us, moved, mv.get_dest()));
        self.list[usize::from(self.count)] = found;
        self.count += u8::from(found.bits() != self.table_move);
    }

    #[inline]
    fn count(&self) -> usize {
        usize::from(self.count)
    }
}

/// What ordering knows of a node.
pub(super) struct Hints {
    pub(super) killers: [Option<ChessMove>; 2],
    pub(super) counter: Option<ChessMove>,
    pub(super) context: Context,
    /// Squares attacked by enemy pawns.
    pub(super) threats: u64,
    /// Plies from the root; none where quiet moves are not worth a closer look.
    pub(super) ply: Option<usize>,
}

impl Hints {
    /// Scores killers and counter-move by their [packed](move_bits) form. No move packs to 0, which no generated one does.
    #[inline]
    fn specials(&self) -> impl Fn(u16) -> Option<i32> {
        let [first, second] = self.killers.map(move_bits);
        let counter = move_bits(self.counter);
        move |bits| match bits {
            _ if bits == first => Some(3 * KILLER),
            _ if bits == second => Some(2 * KILLER),
            _ if bits == counter => Some(KILLER),
            _ => None,
        }
    }
}

/// How moves are scored.
pub(super) trait Scorer {
    /// Score of a capture or promotion; `captured` is what it captures.
    fn noisy(&self, captured: Option<Piece>, mv: ChessMove, mover: PieceTo) -> i32;

    /// What a capture of this score may lose by static exchange and still come early.
    fn slack(&self, score: i32) -> i32;

    /// Scores the quiet moves of a node by their [packed](move_bits) form and mover.
    fn quiet(&self, board: &Board, hints: &Hints) -> impl Fn(u16, PieceTo) -> i32;
}

/// By what they capture and what earlier cutoffs say of them: the histories, and how much each counts.
pub(super) struct History<'a>(pub(super) &'a Histories, pub(super) &'a Params, pub(super) &'a Derived);

impl<'a> History<'a> {
    #[inline]
    pub(super) fn quiet_scores(&self, board: &Board, hints: &Hints) -> QuietScores<'a> {
        self.0.quiet_scores(self.1, board, &hints.context, hints.threats)
    }
}

impl Scorer for History<'_> {
    /// Most valuable victim first, corrected by what captures of this kind led to.
    #[inline]
    fn noisy(&self, captured: Option<Piece>, mv: ChessMove, mover: PieceTo) -> i32 {
        let &History(histories, params, _) = self;
        let history = histories.capture(mover, captured.unwrap_or(Piece::Pawn));
        params.ordering_gain * gain(captured, mv) + history * params.ordering_capture / 16
    }

    #[inline]
    fn slack(&self, score: i32) -> i32 {
        score * self.1.ordering_see / 1024
    }

    #[inline]
    fn quiet(&self, board: &Board, hints: &Hints) -> impl Fn(u16, PieceTo) -> i32 {
        let &History(histories, params, derived) = self;
        let scores = self.quiet_scores(board, hints);
        let stakes = hints.ply.map(|_| Stakes::new(derived, board, hints.threats));
        let low_ply = hints.ply.and_then(|ply| histories.low_ply(params, ply));
        move |bits, mover| {
            let mut score = scores.of(bits, mover);
            if let Some(stakes) = &stakes {
                score += stakes.of(bits, mover);
            }
            if let Some(low_ply) = &low_ply {
                score += low_ply.of(bits);
            }
            score
        }
    }
}

/// What quiet moves gain or risk at once, whatever the histories say: a check, an attack by a lesser piece that is left or
/// entered.
struct Stakes<'a> {
    derived: &'a Derived,
    /// The [`PieceTo`] of the mover's pawn on a1, the first of those of its pieces.
    first: PieceTo,
    /// By piece type: from where it gives check.
    checks: [BitBoard; 6],
    /// By piece type: squares that lesser enemy pieces attack.
    lesser: [BitBoard; 6],
}

impl<'a> Stakes<'a> {
    /// Those of the side to move; `pawns` are the squares that enemy pawns attack.
    #[inline]
    fn new(derived: &'a Derived, board: &Board, pawns: u64) -> Stakes<'a> {
        let (them, occupied) = (!board.side_to_move(), board.occupied());
        let enemy = |piece: Piece| board.colored(them, piece);
        let pawns = BitBoard(pawns);
        let minors = each(enemy(Piece::Knight)).fold(pawns, |all, square| all | attacks::knight(square));
        let minors = each(enemy(Piece::Bishop)).fold(minors, |all, square| all | attacks::bishop(square, occupied));
        let rooks = each(enemy(Piece::Rook)).fold(minors, |all, square| all | attacks::rook(square, occupied));
        Stakes {
            derived,
            first: piece_index(!them, Piece::Pawn, Square::A1),
            checks: board.check_squares(),
            lesser: [EMPTY, pawns, pawns, minors, rooks, EMPTY],
        }
    }

    /// Those of a quiet move, packed.
    #[inline]
    fn of(&self, bits: u16, mover: PieceTo) -> i32 {
        let (piece, [from, to]) = (usize::from((mover - self.first) / 64), squares(bits));
        let on = |board: BitBoard, square: usize| (board.0 >> square & 1) as usize;
        let (lesser, checks) = (self.lesser[piece], self.checks[piece]);
        self.derived.at_stake(piece, on(lesser, from) | on(lesser, to) << 1 | on(checks, to) << 2)
    }
}

/// By what they capture and nothing else. Which of several leaves with the same value a training finds depends on the
/// order: it is no matter of constants to be tuned.
pub(super) struct Unlearned;

impl Scorer for Unlearned {
    #[inline]
    fn noisy(&self, captured: Option<Piece>, mv: ChessMove, _: PieceTo) -> i32 {
        4 * gain(captured, mv)
    }

    #[inline]
    fn slack(&self, score: i32) -> i32 {
        score / 32
    }

    #[inline]
    fn quiet(&self, _: &Board, _: &Hints) -> impl Fn(u16, PieceTo) -> i32 {
        |_, _| 0
    }
}

/// What a capture or promotion wins at once.
#[inline]
fn gain(captured: Option<Piece>, mv: ChessMove) -> i32 {
    let captured = captured.map_or(0, |piece| PIECE_VALUES[piece.to_index()]);
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

    /// Not inlined, as the generators make a large frame, which every call of [`Picker::next`] would have to set up.
    #[inline(never)]
    fn generate_noisy<S: Scorer>(&self, arena: &mut Arena, board: &Board, scorer: &S) {
        let mut notes = Notes::new(&mut arena.unscored, board, self.table_move);
        board.for_each_noisy(|moved, mv| notes.add(moved, mv));
        let count = notes.count();
        let score = |(place, &found): (usize, &Unscored)| {
            let mv = found.mv();
            Candidate::new(found, scorer.noisy(board.captured(mv), mv, found.mover()), place)
        };
        arena.noisy.extend(arena.unscored[..count].iter().enumerate().map(score));
    }

    #[inline(never)]
    fn generate_quiet<S: Scorer>(&self, arena: &mut Arena, board: &Board, scorer: &S, hints: &Hints) {
        let mut notes = Notes::new(&mut arena.unscored, board, self.table_move);
        if self.kind == Kind::NoisyAndChecks {
            board.for_each_quiet_check(|moved, mv| {
                if board.see_ge(mv, 0) {
                    notes.add(moved, mv);
                }
            });
        } else {
            board.for_each_quiet(|moved, mv| notes.add(moved, mv));
        }
        let count = notes.count();
        let special = hints.specials();
        let quiet_score = scorer.quiet(board, hints);
        let score = |(place, &found): (usize, &Unscored)| {
            let bits = found.bits();
            Candidate::new(found, special(bits).unwrap_or_else(|| quiet_score(bits, found.mover())), place)
        };
        arena.quiet.extend(arena.unscored[..count].iter().enumerate().map(score));
    }

    /// Noisy moves from the best score down; those that lose material are put aside at the front.
    fn next_good<S: Scorer>(&mut self, arena: &mut Arena, board: &Board, scorer: &S) -> Option<Scored> {
        while let Some(found) = select(&mut arena.noisy[self.noisy_start..], self.noisy_next - self.noisy_start) {
            self.noisy_next += 1;
            // In quiescence the threshold is exact: what it looks at must not depend on the histories.
            let slack = if self.kind == Kind::All { scorer.slack(found.score()) } else { 0 };
            let scored = found.scored();
            if board.see_ge(scored.mv, self.see_threshold - slack) {
                return Some(scored);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_moves_are_scored_by_what_they_gain_and_risk_at_once() {
        let params = Params::DEFAULT;
        let derived = Derived::new(&params);
        let leaves = params.ordering_escape * 6_000 / 64;
        let both = leaves - params.ordering_expose * 6_000 / 64;
        let cases = [
            // A pawn attacks the knight, another one the square d5, a bishop h8.
            ("6k1/8/4p3/8/1p6/2N5/8/4K2R w - - 0 1", "c3e4", leaves),
            ("6k1/8/4p3/8/1p6/2N5/8/4K2R w - - 0 1", "c3d5", both),
            ("6k1/8/4p3/8/1p6/2N5/8/4K2R w - - 0 1", "h1h7", 0),
            ("6k1/8/4p3/8/1p6/2N5/8/4K2R w - - 0 1", "h1h8", params.ordering_check),
            ("6k1/8/4pb2/8/1p6/2N5/8/4K2R w - - 0 1", "h1h8", -params.ordering_expose * 10_000 / 64),
            ("6k1/8/4pb2/8/1p6/2N5/8/4K2R w - - 0 1", "c3e4", leaves),
            ("4k2r/8/2n5/1P6/8/4P3/8/6K1 b - - 0 1", "c6e5", leaves),
            ("4k2r/8/2n5/1P6/8/4P3/8/6K1 b - - 0 1", "h8h1", params.ordering_check),
        ];
        for (fen, text, expected) in cases {
            let board = Board::from_fen(fen).unwrap();
            let mv = board.parse_uci(text).unwrap();
            let them = !board.side_to_move();
            let pawns = attacks::pawns(them, board.colored(them, Piece::Pawn)).0;
            let found = Stakes::new(&derived, &board, pawns).of(move_bits(Some(mv)), piece_to(&board, mv));
            assert_eq!(found, expected, "{text} in {fen}");
        }
    }
}
