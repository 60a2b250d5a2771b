//! Positions in bulletformat, the records of 32 bytes of the trainer bullet.
//!
//! | bytes | |
//! |---|---|
//! | 0..8 | occupied squares |
//! | 8..24 | four bits for each piece, in the order of its square: type (pawn to king), 8 for the opponent's |
//! | 24..26 | score in centipawns, from the side to move |
//! | 26 | result for the side to move: 0 lost, 1 drawn, 2 won |
//! | 27, 28 | square of its king, and of the opponent's seen from there |
//! | 29..32 | free for the user |
//!
//! The board is flipped if Black is to move, so that the side to move plays up. Castling, en passant, clocks and moves
//! are not stored, so such positions serve `fit`, which needs only result and score. Specified by the crate
//! `bulletformat` (Jamie Whiting), which the tests compare with.

use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::squares::relative_square;
use dyad_engine::board::{BitBoard, Board, Color, EMPTY, PIECES, Piece, Setup, Square};

use crate::epd::Epd;
use crate::error::Error;
use crate::game::BrokenGame;
use crate::input;
use crate::score::{GameResult, Score};

/// Bytes of a position.
pub const BYTES: usize = 32;
const OPPONENT: u8 = 8;
/// Flips a square to the other side of the board.
const MIRROR: u8 = 56;

/// Batches of positions of a file.
pub struct RecordBatches {
    input: Box<dyn BufRead + Send>,
    path: Arc<Path>,
    /// Positions read so far.
    number: u64,
    most: usize,
}

/// Consecutive positions of a file.
pub struct RecordBatch {
    path: Arc<Path>,
    /// Number of the first position, from 1.
    number: u64,
    bytes: Vec<u8>,
}

impl RecordBatches {
    /// The positions of the file at `path`, which may be compressed, in batches of at most `most`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, most: usize) -> Result<RecordBatches, Error> {
        Ok(RecordBatches { input: input::open_bytes(path)?, path: path.into(), number: 0, most })
    }

    fn next_block(&mut self) -> Result<Option<RecordBatch>, Error> {
        let mut bytes = Vec::with_capacity(self.most * BYTES);
        let fault = |number: u64, problem: String| {
            let place = format!("position {number}, which begins at byte {}", (number - 1) * BYTES as u64);
            Error::content(&self.path, place, problem)
        };
        let read = (&mut self.input).take((self.most * BYTES) as u64).read_to_end(&mut bytes);
        let next = self.number + 1 + (bytes.len() / BYTES) as u64;
        match read {
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(fault(next, error.to_string())),
            Err(_) => return Err(fault(next, "the file ends within it".into())),
            Ok(_) if !bytes.len().is_multiple_of(BYTES) => return Err(fault(next, "the file ends within it".into())),
            Ok(0) => return Ok(None),
            Ok(_) => {}
        }
        let block = RecordBatch { path: self.path.clone(), number: self.number + 1, bytes };
        self.number = next - 1;
        Ok(Some(block))
    }
}

impl Iterator for RecordBatches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_block().transpose()
    }
}

impl RecordBatch {
    /// The positions, with White to move in all of them.
    pub fn positions(&self) -> impl Iterator<Item = Result<Epd, BrokenGame>> + '_ {
        let (records, _) = self.bytes.as_chunks::<BYTES>();
        records.iter().zip(self.number..).map(|(bytes, number)| {
            decode(bytes).map_err(|problem| BrokenGame {
                path: self.path.to_path_buf(),
                line: number,
                problem: format!("position {number}, which begins at byte {}: {problem}", (number - 1) * BYTES as u64),
            })
        })
    }
}

fn decode(bytes: &[u8; BYTES]) -> Result<Epd, String> {
    let occupied = bytes.first_chunk().map_or(EMPTY, |bytes| BitBoard(u64::from_le_bytes(*bytes)));
    if occupied.popcnt() > 32 {
        return Err(format!("{} pieces on the board", occupied.popcnt()));
    }
    let mut setup = Setup {
        pieces: [None; 64],
        side_to_move: Color::White,
        castling: EMPTY,
        en_passant: None,
        halfmove_clock: 0,
        fullmove_number: 1,
    };
    for (index, square) in occupied.enumerate() {
        let code = bytes[8 + index / 2] >> (4 * (index % 2)) & 15;
        let color = if code & OPPONENT == 0 { Color::White } else { Color::Black };
        let kind = usize::from(code & !OPPONENT);
        let piece = PIECES.get(kind).ok_or_else(|| format!("a piece of type {kind} on {square}"))?;
        setup.pieces[square.to_index()] = Some((*piece, color));
    }
    let board = Board::from_setup(&setup).map_err(|error| error.to_string())?;
    let kings = kings(&board);
    if bytes[27..29] != kings {
        return Err(format!("kings on the squares {:?}, expected {kings:?} by its pieces", &bytes[27..29]));
    }
    let result = match bytes[26] {
        0 => GameResult::BlackWins,
        1 => GameResult::Draw,
        2 => GameResult::WhiteWins,
        other => return Err(format!("a result of {other}, expected 0 to 2")),
    };
    let score = Score::centipawns(f64::from(i16::from_le_bytes([bytes[24], bytes[25]])));
    Ok(Epd { board, best: None, result: Some(result), score: Some(score) })
}

/// Squares of the kings as the format has them, of a board on which White is to move.
fn kings(board: &Board) -> [u8; 2] {
    let square = |color| board.king(color).to_index() as u8;
    [square(Color::White), square(Color::Black) ^ MIRROR]
}

/// A position in 32 bytes; the score is from the side to move, and mates are cut to what the format can say.
#[must_use]
pub fn encode(board: &Board, score: Score, result: GameResult) -> [u8; BYTES] {
    let us = board.side_to_move();
    let turn = |square: Square| relative_square(us, square).to_index() as u8;
    let mut pieces: Vec<(u8, u8)> = board
        .placed_pieces()
        .map(|placed| {
            let code = placed.piece.to_index() as u8 | if placed.color == us { 0 } else { OPPONENT };
            (turn(placed.square), code)
        })
        .collect();
    pieces.sort_unstable();
    let mut bytes = [0; BYTES];
    let occupied = pieces.iter().fold(0u64, |all, (square, _)| all | 1 << square);
    bytes[..8].copy_from_slice(&occupied.to_le_bytes());
    for (index, (_, code)) in pieces.iter().enumerate() {
        bytes[8 + index / 2] |= code << (4 * (index % 2));
    }
    bytes[24..26].copy_from_slice(&score.0.clamp(-Score::LARGEST, Score::LARGEST).to_le_bytes());
    let white = (2.0 * result.points()) as u8;
    bytes[26] = if us == Color::White { white } else { 2 - white };
    bytes[27] = turn(board.king(us));
    bytes[28] = turn(board.king(!us)) ^ MIRROR;
    bytes
}

const _: () = assert!(PIECES.len() == 6 && matches!(PIECES[5], Piece::King), "types are numbered as in the format");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Temporary;
    use crate::testing::walk;
    use bulletformat::ChessBoard;
    use proptest::prelude::*;
    use std::fs;

    fn bytes_of(theirs: &ChessBoard) -> Vec<u8> {
        let mut bytes = theirs.occ.to_le_bytes().to_vec();
        bytes.extend(theirs.pcs);
        bytes.extend(theirs.score.to_le_bytes());
        bytes.extend([theirs.result, theirs.ksq, theirs.opp_ksq]);
        bytes.extend(theirs.extra);
        bytes
    }

    /// The same position seen from the other side, without castling.
    fn mirrored(fen: &str) -> String {
        let rows: Vec<String> = fen.split(' ').next().expect("a board").split('/').rev().map(str::to_string).collect();
        let swap = |c: char| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
        rows.join("/").chars().map(swap).collect()
    }

    #[test]
    fn positions_are_those_of_the_reference_and_come_back() {
        for (index, sample) in walk(3_000).iter().enumerate() {
            let board = &sample.board;
            let result = [GameResult::BlackWins, GameResult::Draw, GameResult::WhiteWins][index % 3];
            let score = Score((index as i32 * 20 - 30_000) as i16);
            let bytes = encode(board, score, result);
            let white = score.white_or(board.side_to_move());
            let line = format!("{} | {} | {:.1}", board.fen(), white.0, result.points());
            assert_eq!(bytes.to_vec(), bytes_of(&line.parse::<ChessBoard>().unwrap()), "{line}");
            let read = decode(&bytes).unwrap_or_else(|problem| panic!("{line}: {problem}"));
            let (placed, turned) = (board.fen(), board.side_to_move() == Color::Black);
            let placed = if turned { mirrored(&placed) } else { placed.split(' ').next().unwrap().to_string() };
            assert_eq!(read.board.fen(), format!("{placed} w - - 0 1"));
            assert_eq!(read.score, Some(score));
            let points = result.points();
            assert_eq!(read.result.unwrap().points(), if turned { 1.0 - points } else { points });
            assert_eq!(encode(&read.board, read.score.unwrap(), read.result.unwrap()), bytes);
        }
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let whole = encode(&Board::startpos(), Score(20), GameResult::Draw);
        let changed = |at: usize, byte: u8| {
            let mut bytes = whole;
            bytes[at] = byte;
            decode(&bytes).err().expect("it is damaged")
        };
        assert_eq!(changed(26, 3), "a result of 3, expected 0 to 2");
        assert_eq!(changed(27, 5), "kings on the squares [5, 4], expected [4, 4] by its pieces");
        assert_eq!(changed(8, 0x16), "a piece of type 6 on a1");
        assert_eq!(changed(2, 1), "33 pieces on the board");
        let folder = Temporary::folder();
        let path = folder.join("a.bullet");
        let mut broken = whole;
        broken[26] = 9;
        fs::write(&path, [whole, whole, broken].concat()).unwrap();
        let blocks: Vec<_> = RecordBatches::open(&path, 2).unwrap().map(|block| block.unwrap()).collect();
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[0].positions().filter(Result::is_ok).count(), 2);
        let problem = blocks[1].positions().next().unwrap().err().unwrap().to_string();
        let expected = "a.bullet:3: position 3, which begins at byte 64: a result of 9, expected 0 to 2";
        assert!(problem.ends_with(expected), "{problem}");
        fs::write(&path, &[whole, whole].concat()[..40]).unwrap();
        let error = RecordBatches::open(&path, 9).unwrap().next().unwrap().err().unwrap().to_string();
        assert!(error.ends_with("position 2, which begins at byte 32: the file ends within it"), "{error}");
    }

    proptest! {
        /// Whatever is accepted is written again as what says the same.
        #[test]
        fn any_bytes_are_read_or_refused(flips in prop::collection::vec(any::<(u8, u8)>(), 0..4), index in 0..500usize) {
            let board = walk(500)[index].board;
            let mut bytes = encode(&board, Score(index as i16), GameResult::Draw);
            for (place, flip) in flips {
                bytes[usize::from(place) % BYTES] ^= flip;
            }
            if let Ok(Epd { board, score: Some(score), result: Some(result), .. }) = decode(&bytes) {
                let again = decode(&encode(&board, score, result)).expect("it was written");
                prop_assert_eq!(again.board.fen(), board.fen());
                prop_assert_eq!((again.score, again.result), (Some(score), Some(result)));
            }
        }
    }
}
