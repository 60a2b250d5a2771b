//! A position to learn from, and its form in 32 bytes.
//!
//! Training reads millions of positions many times and in random order, so they must be small and all of one size.

use dyad_engine::board::{
    BitBoard, Board, COLORS, Color, EMPTY, Move, PIECES, Piece, Setup, Square, Squares, square_set,
};

use crate::score::{GameResult, Score};

/// Bytes of a sample.
pub const SAMPLE_BYTES: usize = 32;

/// A position to learn from.
#[derive(Clone, Copy)]
pub struct Sample {
    /// The position.
    pub board: Board,
    /// The desired move.
    pub desired: Option<Move>,
    /// The result of its game.
    pub result: Option<GameResult>,
    /// The score of a search, for the side to move.
    pub score: Option<Score>,
    /// Whether it is held out for testing.
    pub test: bool,
    /// Whether it is the first of its game.
    pub starts_game: bool,
    /// Whether the desired move has the margin over the second-best move. Without it, only result and score are
    /// learned.
    pub has_margin: bool,
}

impl Sample {
    /// The result as seen by the side to move: 0, 0.5 or 1.
    pub fn points(&self) -> Option<f64> {
        let white = self.result?.points();
        Some(if self.board.side_to_move() == Color::White { white } else { 1.0 - white })
    }

    /// The score as seen by White.
    pub fn white_score(&self) -> Option<Score> {
        Some(self.score?.white_or(self.board.side_to_move()))
    }
}

/// A sample in 32 bytes.
///
/// | bytes | |
/// |---|---|
/// | 0..8 | occupied squares |
/// | 8..24 | four bits for each piece, in the order of its square |
/// | 24..26 | desired move (from, to, promotion: 15 bits), side to move (the highest bit) |
/// | 26..28 | score |
/// | 28..30 | move number |
/// | 30 | halfmove clock |
/// | 31 | result (2 bits), test, first of its game, below the margin |
///
/// Twelve of the sixteen kinds are the pieces; rooks with a castling right and a pawn that can be captured en passant
/// are kinds of their own, so these rights take no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed(pub [u8; SAMPLE_BYTES]);

const CASTLING_ROOK: u8 = 12;
const PASSING_PAWN: u8 = 14;
const NO_SCORE: i16 = i16::MIN;
const RESULT_BITS: u8 = 3;
/// Results by these bits.
const RESULTS: [Option<GameResult>; 4] =
    [None, Some(GameResult::BlackWins), Some(GameResult::Draw), Some(GameResult::WhiteWins)];
const TEST_BIT: u8 = 4;
const START_BIT: u8 = 8;
const BELOW_MARGIN_BIT: u8 = 16;

impl Packed {
    /// Packs a sample.
    pub fn new(sample: &Sample) -> Packed {
        let board = &sample.board;
        let mut bytes = [0; SAMPLE_BYTES];
        bytes[..8].copy_from_slice(&board.occupied().0.to_le_bytes());
        for (index, square) in board.occupied().enumerate() {
            bytes[8 + index / 2] |= kind_of_piece(board, square) << (4 * (index % 2));
        }
        let black = u16::from(board.side_to_move() == Color::Black) << 15;
        let score = sample.score.map_or(NO_SCORE, |score| score.0);
        let number = board.fullmove_number().min(u32::from(u16::MAX)) as u16;
        bytes[24..26].copy_from_slice(&(Move::packed(sample.desired) | black).to_le_bytes());
        bytes[26..28].copy_from_slice(&score.to_le_bytes());
        bytes[28..30].copy_from_slice(&number.to_le_bytes());
        bytes[30] = board.halfmove_clock().min(255) as u8;
        bytes[31] = sample.result.map_or(0, |result| 1 + result as u8);
        bytes[31] |= if sample.test { TEST_BIT } else { 0 } | if sample.starts_game { START_BIT } else { 0 };
        bytes[31] |= if sample.has_margin { 0 } else { BELOW_MARGIN_BIT };
        Packed(bytes)
    }

    /// Whether it is held out for testing.
    pub fn is_test(&self) -> bool {
        self.0[31] & TEST_BIT != 0
    }

    /// Whether it is the first of its game.
    pub fn starts_game(&self) -> bool {
        self.0[31] & START_BIT != 0
    }

    /// Whether the result of its game is known.
    pub fn has_result(&self) -> bool {
        self.0[31] & RESULT_BITS != 0
    }

    /// Whether it has a score.
    pub fn has_score(&self) -> bool {
        self.number(26) as i16 != NO_SCORE
    }

    /// Whether the desired move has the margin over the second-best move.
    pub fn has_margin(&self) -> bool {
        self.0[31] & BELOW_MARGIN_BIT == 0
    }

    /// Sets whether the desired move has the margin over the second-best move.
    pub fn set_has_margin(&mut self, has_margin: bool) {
        self.0[31] = self.0[31] & !BELOW_MARGIN_BIT | if has_margin { 0 } else { BELOW_MARGIN_BIT };
    }

    /// Marks it as the first of its game, or not.
    pub fn set_starts_game(&mut self, starts: bool) {
        self.0[31] = self.0[31] & !START_BIT | if starts { START_BIT } else { 0 };
    }

    /// Number of pieces on the board.
    pub fn pieces(&self) -> u32 {
        self.occupied().count_ones()
    }

    /// Replaces the desired move and the score.
    pub fn relabel(&mut self, desired: Move, score: Score) {
        let black = self.number(24) & 0x8000;
        self.0[24..26].copy_from_slice(&(Move::packed(Some(desired)) | black).to_le_bytes());
        self.0[26..28].copy_from_slice(&score.0.to_le_bytes());
    }

    fn occupied(&self) -> u64 {
        self.0[..8].try_into().map(u64::from_le_bytes).expect("eight bytes are eight bytes")
    }

    fn number(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    /// Unpacks the sample.
    ///
    /// # Errors
    /// When the bytes are no valid position, or the move is not legal.
    pub fn unpack(&self) -> Result<Sample, String> {
        let board = self.board()?;
        let desired = move_of(self.number(24) & 0x7FFF)?.map(|mv| board.mark_castling(mv));
        if let Some(mv) = desired.filter(|&mv| !board.is_legal(mv)) {
            return Err(format!("the move {mv} is not legal in {}", board.fen()));
        }
        let score = Some(self.number(26) as i16).filter(|&score| score != NO_SCORE).map(Score);
        let result = RESULTS[usize::from(self.0[31] & RESULT_BITS)];
        let (test, starts_game, has_margin) = (self.is_test(), self.starts_game(), self.has_margin());
        Ok(Sample { board, desired, result, score, test, starts_game, has_margin })
    }

    /// Unpacks the position alone.
    ///
    /// # Errors
    /// When the bytes are no valid position.
    pub fn board(&self) -> Result<Board, String> {
        let occupied = self.occupied();
        if occupied.count_ones() > 32 {
            return Err(format!("{} pieces on a board", occupied.count_ones()));
        }
        let black_to_move = self.number(24) & 0x8000 != 0;
        let mut setup = Setup {
            pieces: [None; 64],
            side_to_move: if black_to_move { Color::Black } else { Color::White },
            castling: EMPTY,
            en_passant: None,
            halfmove_clock: u16::from(self.0[30]),
            fullmove_number: self.number(28),
        };
        for (index, square) in BitBoard(occupied).enumerate() {
            let kind = self.0[8 + index / 2] >> (4 * (index % 2)) & 15;
            let color = COLORS[usize::from(kind & 1)];
            let piece = match kind & !1 {
                CASTLING_ROOK => {
                    setup.castling |= square_set(square);
                    (Piece::Rook, color)
                }
                PASSING_PAWN if kind == PASSING_PAWN => {
                    // The pawn that may be taken belongs to the side that has just moved.
                    setup.en_passant = square.forward(setup.side_to_move);
                    (Piece::Pawn, !setup.side_to_move)
                }
                _ if kind < CASTLING_ROOK => (PIECES[usize::from(kind / 2)], color),
                _ => return Err(format!("a piece of kind {kind} on {square}")),
            };
            setup.pieces[square.to_index()] = Some(piece);
        }
        Board::from_setup(&setup).map_err(|error| error.to_string())
    }
}

/// Kinds 0 to 11 are piece type times two plus color, then the rooks that may castle, and the pawn that may be taken.
fn kind_of_piece(board: &Board, square: Square) -> u8 {
    let color = board.color_on(square).unwrap_or(Color::White);
    let piece = board.piece_on(square).unwrap_or(Piece::Pawn);
    if board.castling_rooks().has(square) {
        return CASTLING_ROOK + color.to_index() as u8;
    }
    if piece == Piece::Pawn
        && board.en_passant().and_then(|target| target.backward(board.side_to_move())) == Some(square)
    {
        return PASSING_PAWN;
    }
    (2 * piece.to_index() + color.to_index()) as u8
}

fn move_of(bits: u16) -> Result<Option<Move>, String> {
    match Move::unpacked(bits) {
        None if bits != 0 => Err(format!("promotion to a piece of kind {}", bits >> 12)),
        mv => Ok(mv),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::walk;

    fn sample(fen: &str, mv: &str) -> Sample {
        let board = Board::from_fen(fen).expect("the FEN is valid");
        let desired = (!mv.is_empty()).then(|| board.parse_uci(mv).expect("the move is legal"));
        Sample { board, desired, result: None, score: None, test: false, starts_game: false, has_margin: true }
    }

    fn text(sample: &Sample) -> String {
        let Sample { board, desired, result, score, test, starts_game, has_margin } = sample;
        format!("{} {desired:?} {result:?} {score:?} {test} {starts_game} {has_margin}", board.fen())
    }

    #[test]
    fn packing_keeps_everything() {
        let cases = [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 12", "e8c8"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Qk - 3 12", "e8g8"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w Kq - 99 200", "e1g1"),
            ("4k3/P7/8/8/8/8/8/4K3 w - - 0 30", "a7a8n"),
            ("4k3/8/8/8/8/8/p7/1N2K3 b - - 0 30", "a2b1q"),
            ("rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3", "d4e3"),
            ("rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3", "e5d6"),
            ("4k3/8/8/8/8/8/8/4K3 b - - 120 9000", ""),
            ("4k3/8/8/8/8/8/8/1R1RK2R w KD - 0 1", "e1d1"),
            ("4k3/8/8/8/8/8/8/1R1RK2R w KQ - 0 1", "e1h1"),
            ("r4kr1/8/8/8/8/8/8/4K3 b kq - 0 1", "f8g8"),
            ("6kr/8/8/8/8/8/8/4K3 b k - 0 1", "g8h8"),
        ];
        let walk = walk(20_000);
        let cases = cases.iter().map(|(fen, mv)| sample(fen, mv));
        for sample in cases.chain(walk) {
            let packed = Packed::new(&sample);
            let back = packed.unpack().unwrap_or_else(|problem| panic!("{}: {problem}", text(&sample)));
            assert_eq!(text(&back), text(&sample));
            assert_eq!(back.board.key(), sample.board.key());
            assert_eq!((packed.is_test(), packed.starts_game()), (sample.test, sample.starts_game));
        }
    }

    #[test]
    fn relabeling_changes_move_and_score_alone() {
        for sample in walk(2_000) {
            let moves = sample.board.moves();
            let Some(&desired) = moves.last() else { continue };
            let mut packed = Packed::new(&sample);
            packed.relabel(desired, Score(-7));
            let expected = Sample { desired: Some(desired), score: Some(Score(-7)), ..sample };
            assert_eq!(packed, Packed::new(&expected));
        }
    }

    #[test]
    fn nonsense_is_no_sample() {
        let good = Packed::new(&sample("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4"));
        let cases: [(&str, usize, u8); 6] = [
            ("pieces on a board", 0, 0xFF),
            ("kings", 8, 0x00),
            ("kind 15", 8, 0xFF),
            ("not legal", 24, 0x00),
            ("promotion", 25, 0x7F),
            ("can be captured", 25, 0x80),
        ];
        for (expected, at, byte) in cases {
            let mut bad = good;
            if at == 0 {
                bad.0[..8].fill(byte);
            } else {
                bad.0[at] = byte;
            }
            if expected == "can be captured" {
                bad = Packed::new(&sample("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", ""));
                bad.0[25] ^= 0x80;
            }
            let problem = bad.unpack().err().unwrap_or_else(|| panic!("{expected}: was unpacked"));
            assert!(problem.contains(expected), "{expected}: {problem}");
        }
    }
}
