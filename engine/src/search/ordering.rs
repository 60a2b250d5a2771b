//! [Move ordering](https://www.chessprogramming.org/Move_Ordering): a staged move picker.
//!
//! The stages: the TT move, captures that do not lose material, killers and the counter-move, quiet moves by their
//! histories and threats, losing captures. Captures are generated after the TT move and quiet moves after the good
//! captures, so that an early cutoff saves the rest. The move lists are in an arena that all plies share.

use super::history::{Histories, OrderingContext, piece_to};
use crate::board::{
    BitBoard, Board, Color, EMPTY, Move, Piece, PieceTo, Square, Squares, attacks, each, piece_index, piece_value,
};
use crate::params::{DerivedParams, Params};

/// A move as the picker returns it.
#[derive(Clone, Copy)]
pub(super) struct ScoredMove {
    pub(super) mv: Move,
    pub(super) piece_to: PieceTo,
    pub(super) score: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    TtMove,
    GenerateNoisy,
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    BadNoisy,
}

/// The set of moves that a picker returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MoveSet {
    /// All legal moves.
    All,
    /// Captures and promotions to a queen.
    Noisy,
    /// Noisy moves, and quiet checks with a SEE value of at least 0.
    NoisyAndChecks,
}

/// A generated move in 26 bits: the move in 16, rotated so that the castling flag is the lowest and does not affect the
/// order of moves, then its piece-to in 10.
#[derive(Clone, Copy, Default)]
struct GeneratedMove(u32);

impl GeneratedMove {
    fn new(mv: Move, piece_to: PieceTo) -> GeneratedMove {
        GeneratedMove(u32::from(mv.bits().rotate_left(1)) << 10 | u32::from(piece_to))
    }

    fn mv(self) -> Move {
        Move::from_bits(((self.0 >> 10) as u16).rotate_right(1)).unwrap_or_default()
    }

    fn piece_to(self) -> PieceTo {
        (self.0 & 0x3FF) as PieceTo
    }
}

/// A scored move and its index in the list, packed into one word so that SIMD finds the best move as the largest word.
///
/// From the top: score 24 bits, move 16, piece-to 10, index 14.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ListEntry(u64);

impl ListEntry {
    /// Added to scores to make them positive.
    const BIAS: i32 = 1 << 23;
    const INDICES: u64 = 1 << 14;

    fn new(generated: GeneratedMove, score: i32, index: usize) -> ListEntry {
        debug_assert!(score.abs() < ListEntry::BIAS && (index as u64) < ListEntry::INDICES);
        let score = (score + ListEntry::BIAS) as u64;
        ListEntry(score << 40 | u64::from(generated.0) << 14 | index as u64)
    }

    fn score(self) -> i32 {
        (self.0 >> 40) as i32 - ListEntry::BIAS
    }

    fn generated(self) -> GeneratedMove {
        GeneratedMove((self.0 >> 14) as u32 & 0x3FF_FFFF)
    }

    fn index(self) -> usize {
        (self.0 % ListEntry::INDICES) as usize
    }

    fn at_index(self, index: usize) -> ListEntry {
        ListEntry((self.0 / ListEntry::INDICES * ListEntry::INDICES) | index as u64)
    }

    fn scored_move(self) -> ScoredMove {
        let generated = self.generated();
        ScoredMove { mv: generated.mv(), piece_to: generated.piece_to(), score: self.score() }
    }
}

/// The move lists of all plies of the current line, one after another.
pub(super) struct Arena {
    noisy: Vec<ListEntry>,
    quiet: Vec<ListEntry>,
    /// The generated moves of one node, which a second loop scores.
    generated: Box<[GeneratedMove; 256]>,
}

impl Arena {
    pub(super) fn new() -> Arena {
        Arena {
            noisy: Vec::with_capacity(4096),
            quiet: Vec::with_capacity(16_384),
            generated: Box::new([GeneratedMove::default(); 256]),
        }
    }

    pub(super) fn clear(&mut self) {
        self.noisy.clear();
        self.quiet.clear();
    }
}

/// Collects the generated moves of a node without the TT move.
struct GeneratedMoves<'a> {
    list: &'a mut [GeneratedMove; 256],
    /// A byte, so that indexing the list needs no bounds check.
    count: u8,
    us: Color,
    tt_move: Option<Move>,
}

impl<'a> GeneratedMoves<'a> {
    fn new(list: &'a mut [GeneratedMove; 256], board: &Board, tt_move: Option<Move>) -> GeneratedMoves<'a> {
        GeneratedMoves { list, count: 0, us: board.side_to_move(), tt_move }
    }

    #[inline(always)]
    fn add(&mut self, piece: Piece, mv: Move) {
        self.list[usize::from(self.count)] = GeneratedMove::new(mv, piece_index(self.us, piece, mv.to()));
        self.count += u8::from(Some(mv) != self.tt_move);
    }

    fn count(&self) -> usize {
        usize::from(self.count)
    }
}

fn refutation_scores(context: &OrderingContext) -> impl Fn(Move) -> Option<i32> {
    let ([first, second], counter) = (context.killers, context.counter);
    move |mv| match Some(mv.unmarked()) {
        mv if mv == first => Some(3 * KILLER_SCORE),
        mv if mv == second => Some(2 * KILLER_SCORE),
        mv if mv == counter => Some(KILLER_SCORE),
        _ => None,
    }
}

/// Scores moves.
pub(super) trait Scorer {
    /// Score of a capture or promotion.
    fn noisy(&self, captured: Option<Piece>, mv: Move, piece_to: PieceTo) -> i32;

    /// Material that a good capture with this score may lose by SEE.
    fn see_allowance(&self, score: i32) -> i32;

    /// Scores the quiet moves of a node.
    fn quiet(&self, board: &Board, context: &OrderingContext) -> impl Fn(Move, PieceTo) -> i32;
}

/// Scores by the histories.
pub(super) struct HistoryScorer<'a> {
    pub(super) histories: &'a Histories,
    pub(super) params: &'a Params,
    pub(super) derived: &'a DerivedParams,
}

impl Scorer for HistoryScorer<'_> {
    /// [Most valuable victim](https://www.chessprogramming.org/MVV-LVA) first, plus the capture history.
    fn noisy(&self, captured: Option<Piece>, mv: Move, piece_to: PieceTo) -> i32 {
        let history = self.histories.capture(piece_to, captured.unwrap_or(Piece::Pawn));
        self.params.ordering_gain * gain(captured, mv) + history * self.params.ordering_capture / 16
    }

    fn see_allowance(&self, score: i32) -> i32 {
        score * self.params.ordering_see / 1024
    }

    fn quiet(&self, board: &Board, context: &OrderingContext) -> impl Fn(Move, PieceTo) -> i32 {
        let &HistoryScorer { histories, params, derived } = self;
        let scores = histories.quiet_scores(params, board, context);
        let threat_bonus = context.ply.map(|_| ThreatBonus::new(derived, board, context.threats));
        let low_ply = context.ply.and_then(|ply| histories.low_ply(params, ply));
        move |mv, piece_to| {
            let mut score = scores.score(mv, piece_to);
            if let Some(threat_bonus) = &threat_bonus {
                score += threat_bonus.bonus(mv, piece_to);
            }
            if let Some(low_ply) = &low_ply {
                score += low_ply(mv);
            }
            score
        }
    }
}

/// The threat bonus of quiet moves: for a check, for leaving an attack by a less valuable piece and, negative, for
/// entering one.
struct ThreatBonus<'a> {
    derived: &'a DerivedParams,
    /// The lowest [`PieceTo`] of the side to move: its pawn on a1.
    first: PieceTo,
    /// By piece type: squares from which it gives check.
    checks: [BitBoard; 6],
    /// By piece type: squares attacked by less valuable enemy pieces.
    attacked_by_lesser: [BitBoard; 6],
}

impl<'a> ThreatBonus<'a> {
    /// For the side to move; `pawn_attacks` are the squares attacked by enemy pawns.
    fn new(derived: &'a DerivedParams, board: &Board, pawn_attacks: u64) -> ThreatBonus<'a> {
        let (them, occupied) = (!board.side_to_move(), board.occupied());
        let enemy = |piece: Piece| board.colored(them, piece);
        let pawns = BitBoard(pawn_attacks);
        let minors = each(enemy(Piece::Knight)).fold(pawns, |all, square| all | attacks::knight(square));
        let minors = each(enemy(Piece::Bishop)).fold(minors, |all, square| all | attacks::bishop(square, occupied));
        let rooks = each(enemy(Piece::Rook)).fold(minors, |all, square| all | attacks::rook(square, occupied));
        ThreatBonus {
            derived,
            first: piece_index(!them, Piece::Pawn, Square::A1),
            checks: board.check_squares(),
            attacked_by_lesser: [EMPTY, pawns, pawns, minors, rooks, EMPTY],
        }
    }

    fn bonus(&self, mv: Move, piece_to: PieceTo) -> i32 {
        let piece = usize::from((piece_to - self.first) / 64);
        let (attacked, checks) = (self.attacked_by_lesser[piece], self.checks[piece]);
        self.derived.threat_bonus(piece, attacked.has(mv.from()), attacked.has(mv.to()), checks.has(mv.to()))
    }
}

/// Scores captures by the victim, without tunable constants: the move order determines which of several leaves of equal
/// value training finds.
pub(super) struct VictimScorer;

impl Scorer for VictimScorer {
    fn noisy(&self, captured: Option<Piece>, mv: Move, _: PieceTo) -> i32 {
        4 * gain(captured, mv)
    }

    fn see_allowance(&self, score: i32) -> i32 {
        score / 32
    }

    fn quiet(&self, _: &Board, _: &OrderingContext) -> impl Fn(Move, PieceTo) -> i32 {
        |_, _| 0
    }
}

/// The material that a capture or promotion wins.
fn gain(captured: Option<Piece>, mv: Move) -> i32 {
    let captured = captured.map_or(0, piece_value);
    let promotion = if mv.promotion() == Some(Piece::Queen) { piece_value(Piece::Queen) } else { 0 };
    captured + promotion
}

/// Returns the moves of one node, best first.
pub(super) struct Picker {
    stage: Stage,
    moves: MoveSet,
    tt_move: Option<Move>,
    /// Smallest SEE value of a good capture.
    see_threshold: i32,
    noisy_start: usize,
    noisy_next: usize,
    /// End of the losing captures, which are moved to the front of the noisy moves.
    bad_end: usize,
    quiet_start: usize,
    quiet_next: usize,
    skip_quiets: bool,
}

/// Lowest score of killers and counter-move, above the sum of all histories.
pub(super) const KILLER_SCORE: i32 = 1 << 20;

impl Picker {
    /// A picker for a node; `tt_move` must be legal. [`Picker::release`] frees its part of the arena.
    pub(super) fn new(arena: &Arena, moves: MoveSet, tt_move: Option<Move>, see_threshold: i32) -> Picker {
        let (noisy, quiet) = (arena.noisy.len(), arena.quiet.len());
        Picker {
            stage: if tt_move.is_some() { Stage::TtMove } else { Stage::GenerateNoisy },
            moves,
            tt_move,
            see_threshold,
            noisy_start: noisy,
            noisy_next: noisy,
            bad_end: noisy,
            quiet_start: quiet,
            quiet_next: quiet,
            skip_quiets: false,
        }
    }

    /// Frees the node's part of the arena.
    pub(super) fn release(&self, arena: &mut Arena) {
        arena.noisy.truncate(self.noisy_start);
        arena.quiet.truncate(self.quiet_start);
    }

    pub(super) fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// Whether the last move returned was a capture that loses material.
    pub(super) fn in_bad_noisy(&self) -> bool {
        self.stage == Stage::BadNoisy
    }

    pub(super) fn next<S: Scorer>(
        &mut self,
        arena: &mut Arena,
        board: &Board,
        scorer: &S,
        context: &OrderingContext,
    ) -> Option<ScoredMove> {
        loop {
            match self.stage {
                Stage::TtMove => {
                    self.stage = Stage::GenerateNoisy;
                    if let Some(mv) = self.tt_move {
                        return Some(ScoredMove { mv, piece_to: piece_to(board, mv), score: i32::MAX });
                    }
                }
                Stage::GenerateNoisy => {
                    self.generate_noisy(arena, board, scorer);
                    self.stage = Stage::GoodNoisy;
                }
                Stage::GoodNoisy => match self.next_good_noisy(arena, board, scorer) {
                    Some(picked) => return Some(picked),
                    None if self.moves == MoveSet::Noisy => return None,
                    None => self.stage = Stage::GenerateQuiet,
                },
                Stage::GenerateQuiet => {
                    if !self.skip_quiets {
                        self.generate_quiet(arena, board, scorer, context);
                    }
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet => match self.next_quiet(arena) {
                    Some(picked) => return Some(picked),
                    None => {
                        self.stage = Stage::BadNoisy;
                        self.noisy_next = self.noisy_start;
                    }
                },
                Stage::BadNoisy => {
                    // Quiescence skips losing captures.
                    if self.moves != MoveSet::All || self.noisy_next == self.bad_end {
                        return None;
                    }
                    self.noisy_next += 1;
                    return Some(arena.noisy[self.noisy_next - 1].scored_move());
                }
            }
        }
    }

    /// Not inlined: the large stack frame of the generators would slow down [`Picker::next`].
    #[inline(never)]
    fn generate_noisy<S: Scorer>(&self, arena: &mut Arena, board: &Board, scorer: &S) {
        let mut generated = GeneratedMoves::new(&mut arena.generated, board, self.tt_move);
        board.for_each_noisy(|piece, mv| generated.add(piece, mv));
        let count = generated.count();
        let score = |(index, &generated): (usize, &GeneratedMove)| {
            let mv = generated.mv();
            ListEntry::new(generated, scorer.noisy(board.captured(mv), mv, generated.piece_to()), index)
        };
        arena.noisy.extend(arena.generated[..count].iter().enumerate().map(score));
    }

    #[inline(never)]
    fn generate_quiet<S: Scorer>(&self, arena: &mut Arena, board: &Board, scorer: &S, context: &OrderingContext) {
        let mut generated = GeneratedMoves::new(&mut arena.generated, board, self.tt_move);
        if self.moves == MoveSet::NoisyAndChecks {
            board.for_each_quiet_check(|piece, mv| {
                if board.see_ge(mv, 0) {
                    generated.add(piece, mv);
                }
            });
        } else {
            board.for_each_quiet(|piece, mv| generated.add(piece, mv));
        }
        let count = generated.count();
        let refutation_score = refutation_scores(context);
        let quiet_score = scorer.quiet(board, context);
        let score = |(index, &generated): (usize, &GeneratedMove)| {
            let mv = generated.mv();
            let score = refutation_score(mv).unwrap_or_else(|| quiet_score(mv, generated.piece_to()));
            ListEntry::new(generated, score, index)
        };
        arena.quiet.extend(arena.generated[..count].iter().enumerate().map(score));
    }

    /// The next good capture; losing captures are moved to the front of the list.
    fn next_good_noisy<S: Scorer>(&mut self, arena: &mut Arena, board: &Board, scorer: &S) -> Option<ScoredMove> {
        while let Some(entry) = select(&mut arena.noisy[self.noisy_start..], self.noisy_next - self.noisy_start) {
            self.noisy_next += 1;
            // No allowance in quiescence: the set of moves searched must not depend on the histories.
            let allowance = if self.moves == MoveSet::All { scorer.see_allowance(entry.score()) } else { 0 };
            let scored = entry.scored_move();
            if board.see_ge(scored.mv, self.see_threshold - allowance) {
                return Some(scored);
            }
            arena.noisy[self.bad_end] = entry;
            self.bad_end += 1;
        }
        None
    }

    fn next_quiet(&mut self, arena: &mut Arena) -> Option<ScoredMove> {
        if self.skip_quiets {
            return None;
        }
        let entry = select(&mut arena.quiet[self.quiet_start..], self.quiet_next - self.quiet_start)?;
        self.quiet_next += 1;
        Some(entry.scored_move())
    }
}

/// Selection sort: swaps the best of the moves from index `next` on to `next`.
fn select(list: &mut [ListEntry], next: usize) -> Option<ListEntry> {
    let best = list[next..].iter().copied().max()?;
    let index = best.index();
    list[index] = list[next].at_index(index);
    list[next] = best;
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_bonus_of_quiet_moves() {
        let params = Params::DEFAULT;
        let derived = DerivedParams::new(&params);
        let escape = params.ordering_escape * 6_000 / 64;
        let both = escape - params.ordering_expose * 6_000 / 64;
        let cases = [
            // A pawn attacks the knight, another pawn d5, a bishop h8.
            ("6k1/8/4p3/8/1p6/2N5/8/4K2R w - - 0 1", "c3e4", escape),
            ("6k1/8/4p3/8/1p6/2N5/8/4K2R w - - 0 1", "c3d5", both),
            ("6k1/8/4p3/8/1p6/2N5/8/4K2R w - - 0 1", "h1h7", 0),
            ("6k1/8/4p3/8/1p6/2N5/8/4K2R w - - 0 1", "h1h8", params.ordering_check),
            ("6k1/8/4pb2/8/1p6/2N5/8/4K2R w - - 0 1", "h1h8", -params.ordering_expose * 10_000 / 64),
            ("6k1/8/4pb2/8/1p6/2N5/8/4K2R w - - 0 1", "c3e4", escape),
            ("4k2r/8/2n5/1P6/8/4P3/8/6K1 b - - 0 1", "c6e5", escape),
            ("4k2r/8/2n5/1P6/8/4P3/8/6K1 b - - 0 1", "h8h1", params.ordering_check),
        ];
        for (fen, text, expected) in cases {
            let board = Board::from_fen(fen).unwrap();
            let mv = board.parse_uci(text).unwrap();
            let them = !board.side_to_move();
            let pawn_attacks = attacks::pawns(them, board.colored(them, Piece::Pawn)).0;
            let bonus = ThreatBonus::new(&derived, &board, pawn_attacks).bonus(mv, piece_to(&board, mv));
            assert_eq!(bonus, expected, "{text} in {fen}");
        }
    }
}
