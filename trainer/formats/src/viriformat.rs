//! Games in viriformat, the binary form in which engines exchange games of self-play.
//!
//! A game is its starting position in 32 bytes (marlinformat), four bytes for each move, and four zeros. Only start,
//! moves, scores and result are stored, so a game takes a fifth of its PGN, and the rules take most of the reading
//! time. Specified by the README of the `viriformat` crate (Cosmo Bobak), whose example is a test here. A missing score
//! is 32767, which other programs treat as no score.

use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::{ALL_SQUARES, BitBoard, Board, Color, EMPTY, Move, Piece, Setup, Square, Squares, square_set};

use crate::error::Error;
use crate::game::BrokenGame;
use crate::game::{GameRecord, PlayedMove, Tags};
use crate::input;
use crate::score::{GameResult, Score};

/// Bytes of a position.
const START: usize = 32;
/// Bytes of a move with its score.
const MOVE: usize = 4;
/// Maximum number of moves of a game.
const MOST_MOVES: usize = 1 << 16;
const NO_SCORE: i16 = i16::MAX;
const NO_SQUARE: u8 = 64;
const UNMOVED_ROOK: u8 = 6;
const BLACK: u8 = 8;
const TYPES: [Piece; 6] = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen, Piece::King];
const PROMOTIONS: [Piece; 4] = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
const EN_PASSANT: u16 = 1;
const CASTLING: u16 = 2;
const PROMOTION: u16 = 3;

/// The bytes of a game and their place.
#[derive(Clone, Debug)]
pub struct GameBytes {
    path: Arc<Path>,
    /// Number of the game, from 1.
    number: u64,
    /// Offset of the first byte in the file.
    offset: u64,
    bytes: Vec<u8>,
}

/// The games of a file, one after another.
pub struct GamesInBytes {
    input: Box<dyn BufRead + Send>,
    path: Arc<Path>,
    number: u64,
    offset: u64,
}

impl GamesInBytes {
    /// The games of the file at `path`, which may be compressed.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<GamesInBytes, Error> {
        Ok(GamesInBytes { input: input::open_bytes(path)?, path: path.into(), number: 0, offset: 0 })
    }

    fn next_game(&mut self) -> Result<Option<GameBytes>, Error> {
        let GamesInBytes { input, path, number, offset } = self;
        let place = (*number + 1, *offset);
        let fault = |problem: String| {
            Error::content(path, format!("game {}, which begins at byte {}", place.0, place.1), problem)
        };
        if input.fill_buf().map_err(|error| fault(error.to_string()))?.is_empty() {
            return Ok(None);
        }
        let mut bytes = vec![0; START];
        let mut read = |bytes: &mut [u8]| {
            input.read_exact(bytes).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => fault("the file ends within it".into()),
                _ => fault(error.to_string()),
            })
        };
        read(&mut bytes)?;
        loop {
            let mut mv = [0; MOVE];
            read(&mut mv)?;
            bytes.extend(mv);
            if mv == [0; MOVE] {
                break;
            }
            if bytes.len() > START + MOST_MOVES * MOVE {
                return Err(fault(format!("more than {MOST_MOVES} moves: this is no viriformat")));
            }
        }
        let game = GameBytes { path: path.clone(), number: place.0, offset: place.1, bytes };
        *number = place.0;
        *offset += game.bytes.len() as u64;
        Ok(Some(game))
    }
}

impl Iterator for GamesInBytes {
    type Item = Result<GameBytes, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_game().transpose()
    }
}

impl GameBytes {
    /// Replays the game.
    ///
    /// # Errors
    /// The position, result or move that cannot be read.
    pub fn parse(&self) -> Result<GameRecord, BrokenGame> {
        decode(&self.bytes).map_err(|problem| BrokenGame {
            path: self.path.to_path_buf(),
            line: self.number,
            problem: format!("game {}, which begins at byte {}: {problem}", self.number, self.offset),
        })
    }
}

fn decode(bytes: &[u8]) -> Result<GameRecord, String> {
    let (start, moves) = bytes.split_at_checked(START).ok_or("no position")?;
    let result = match start[30] {
        0 => GameResult::BlackWins,
        1 => GameResult::Draw,
        2 => GameResult::WhiteWins,
        other => return Err(format!("a result of {other}, expected 0 to 2")),
    };
    let start = decode_board(start)?;
    let mut board = start;
    let mut played = Vec::with_capacity(moves.len() / MOVE);
    let (moves, _) = moves.as_chunks::<MOVE>();
    for record in moves.iter().take_while(|record| **record != [0; MOVE]) {
        let bits = u16::from_le_bytes([record[0], record[1]]);
        let mv = decode_move(&board, bits).filter(|&mv| board.is_legal(mv));
        let mv =
            mv.ok_or_else(|| format!("move {} ({bits:#06x}) is not legal in {}", played.len() + 1, board.fen()))?;
        let score = decode_score(i16::from_le_bytes([record[2], record[3]]), board.side_to_move());
        played.push(PlayedMove::scored(mv, score));
        board = board.after(mv);
    }
    Ok(GameRecord {
        tags: Tags { result: Some(result), ..Tags::default() },
        start,
        moves: played,
        result: Some(result),
        left_out: None,
    })
}

fn decode_board(bytes: &[u8]) -> Result<Board, String> {
    let occupied = bytes.first_chunk().map(|bytes| BitBoard(u64::from_le_bytes(*bytes))).unwrap_or(EMPTY);
    if occupied.popcnt() > 32 {
        return Err(format!("{} pieces on the board", occupied.popcnt()));
    }
    let (side, target) = (bytes[24] >> 7, bytes[24] & 0x7F);
    let en_passant = match target {
        NO_SQUARE => None,
        target => Some(*ALL_SQUARES.get(usize::from(target)).ok_or_else(|| format!("en passant on square {target}"))?),
    };
    let mut setup = Setup {
        pieces: [None; 64],
        side_to_move: if side == 0 { Color::White } else { Color::Black },
        castling: EMPTY,
        en_passant,
        halfmove_clock: u16::from(bytes[25]),
        // Some writers store zero.
        fullmove_number: u16::from_le_bytes([bytes[26], bytes[27]]).max(1),
    };
    for (index, square) in occupied.enumerate() {
        let code = bytes[8 + index / 2] >> (4 * (index % 2)) & 15;
        let color = if code & BLACK == 0 { Color::White } else { Color::Black };
        let piece = match code & 7 {
            UNMOVED_ROOK => {
                setup.castling |= square_set(square);
                Piece::Rook
            }
            kind => *TYPES.get(usize::from(kind)).ok_or_else(|| format!("a piece of type {kind} on {square}"))?,
        };
        setup.pieces[square.to_index()] = Some((piece, color));
    }
    Board::from_setup(&setup).map_err(|error| error.to_string())
}

fn square_at(bits: u16, shift: u32) -> Square {
    ALL_SQUARES[usize::from(bits >> shift & 63)]
}

fn decode_move(board: &Board, bits: u16) -> Option<Move> {
    let (from, to) = (square_at(bits, 0), square_at(bits, 6));
    match bits >> 14 {
        CASTLING => board.castling_with(to).filter(|_| from == board.king(board.side_to_move())),
        PROMOTION => Some(Move::new(from, to).with_promotion(PROMOTIONS[usize::from(bits >> 12 & 3)])),
        _ => Some(Move::new(from, to)),
    }
}

/// Scores are White's; values beyond every mate mean no score.
fn decode_score(score: i16, mover: Color) -> Option<Score> {
    let score = Some(score).filter(|score| score.unsigned_abs() <= Score::MATE.unsigned_abs()).map(Score)?;
    Some(score.white_or(mover))
}

/// Encodes a game: start, moves, scores and result. Tags and book moves are lost.
///
/// # Errors
/// When the game has no result, which the format cannot express.
pub fn encode(game: &GameRecord) -> Result<Vec<u8>, String> {
    let result = match game.result {
        Some(GameResult::BlackWins) => 0,
        Some(GameResult::Draw) => 1,
        Some(GameResult::WhiteWins) => 2,
        None => return Err("a game without a result".into()),
    };
    let mut bytes = vec![0; START];
    encode_board(&game.start, &mut bytes);
    bytes[30] = result;
    for (board, played) in game.positions() {
        let score = played.score.map_or(NO_SCORE, |score| score.white_or(board.side_to_move()).0);
        bytes.extend(encode_move(&board, played.mv).to_le_bytes());
        bytes.extend(score.to_le_bytes());
    }
    bytes.extend([0; MOVE]);
    Ok(bytes)
}

fn encode_board(board: &Board, bytes: &mut [u8]) {
    bytes[..8].copy_from_slice(&board.occupied().0.to_le_bytes());
    for (index, square) in board.occupied().enumerate() {
        let piece = board.piece_on(square).expect("the square is occupied");
        let unmoved = board.castling_rooks().has(square);
        let black = board.color_on(square) == Some(Color::Black);
        let code = if unmoved { UNMOVED_ROOK } else { piece.to_index() as u8 } | if black { BLACK } else { 0 };
        bytes[8 + index / 2] |= code << (4 * (index % 2));
    }
    let target = board.en_passant().map_or(NO_SQUARE, |square| square.to_index() as u8);
    bytes[24] = target | if board.side_to_move() == Color::Black { 0x80 } else { 0 };
    bytes[25] = board.halfmove_clock().min(u32::from(u8::MAX)) as u8;
    let number = board.fullmove_number().min(u32::from(u16::MAX)) as u16;
    bytes[26..28].copy_from_slice(&number.to_le_bytes());
}

fn encode_move(board: &Board, mv: Move) -> u16 {
    let (king_takes_rook, promotion) = (board.castling_squares(mv), mv.promotion());
    let (from, to) = king_takes_rook.unwrap_or((mv.from(), mv.to()));
    let (kind, piece) = match promotion {
        _ if king_takes_rook.is_some() => (CASTLING, 0),
        Some(piece) => (PROMOTION, piece.to_index() as u16 - Piece::Knight.to_index() as u16),
        None if board.is_en_passant(mv) => (EN_PASSANT, 0),
        None => (0, 0),
    };
    from.to_index() as u16 | (to.to_index() as u16) << 6 | piece << 12 | kind << 14
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::ScoreSide;
    use crate::testing::Temporary;
    use crate::testing::{MATE, SPECIAL, texts};
    use proptest::prelude::*;

    /// The example of the specification, except for the order of the two pieces of a byte: the specification writes the
    /// first one first, the crate and all data have it in the lower four bits.
    const EXAMPLE: &str = "ffff00000000ffff 1642256100000000 888888889ecaade9 40 00 0100 0000 02 00 \
        0c070a00 34091400 c309e2ff 3c0dff7f 2709ff7f 00000000";

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).expect("digits are text"), 16).expect("hex");
        digits.chunks(2).map(byte).collect()
    }

    #[test]
    fn the_example_of_the_specification() {
        let game = decode(&bytes(EXAMPLE)).unwrap();
        assert_eq!((game.start.fen(), game.result), (Board::startpos().fen(), Some(GameResult::WhiteWins)));
        let said: Vec<String> = game
            .positions()
            .map(|(board, played)| format!("{} {:?}", board.san(played.mv), played.score.map(|score| score.0)))
            .collect();
        assert_eq!(said, ["e4 Some(10)", "e5 Some(-20)", "Qh5 Some(-30)", "Ke7 None", "Qxe5# None"]);
        assert_eq!(encode(&game).unwrap(), bytes(EXAMPLE));
    }

    #[test]
    fn games_of_all_kinds_of_moves_come_back() {
        let chess960 = "[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"4rkr1/8/8/8/8/8/8/RK5R w HAge - 3 9\"]\n\
            [Result \"0-1\"]\n\n9. O-O-O {+0.35/20} O-O {-M3/9} 0-1\n";
        let passing =
            "[SetUp \"1\"]\n[FEN \"4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1\"]\n[Result \"1/2-1/2\"]\n\n1... bxa3 1/2-1/2\n";
        for pgn in [SPECIAL, MATE, chess960, passing] {
            let game = texts(pgn)[0].parse(Some(ScoreSide::Mover)).unwrap();
            let bytes = encode(&game).unwrap();
            let read = decode(&bytes).unwrap();
            assert_eq!((read.start.fen(), read.result), (game.start.fen(), game.result), "{pgn}");
            let unbooked = |game: &GameRecord| -> Vec<_> { game.moves.iter().map(|m| (m.mv, m.score)).collect() };
            assert_eq!(unbooked(&read), unbooked(&game), "{pgn}");
            assert_eq!(encode(&read).unwrap(), bytes);
        }
        let unfinished = texts("1. e4 *\n")[0].parse(None).unwrap();
        assert_eq!(encode(&unfinished).unwrap_err(), "a game without a result");
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let whole = bytes(EXAMPLE);
        let changed = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            decode(&bytes).expect_err("it is damaged")
        };
        assert_eq!(changed(30, 3), "a result of 3, expected 0 to 2");
        assert!(changed(8, 0x67).contains("a piece of type 7 on a1"));
        assert!(changed(33, 0x09).contains("move 1 (0x090c) is not legal in rnbqkbnr/"));
        assert!(changed(24, 70).contains("en passant on square 70"));
        let folder = Temporary::folder();
        let path = folder.join("games.vf");
        std::fs::write(&path, [whole.clone(), whole[..40].to_vec()].concat()).unwrap();
        let mut games = GamesInBytes::open(&path).unwrap();
        assert!(games.next().unwrap().unwrap().parse().is_ok());
        let error = games.next().unwrap().unwrap_err().to_string();
        assert!(error.ends_with("games.vf, game 2, which begins at byte 56: the file ends within it"), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(start in prop::collection::vec(any::<u8>(), 0..60), flip in any::<(u8, u8)>()) {
            let _ = decode(&start);
            let mut bytes = bytes(EXAMPLE);
            let place = usize::from(flip.0) % bytes.len();
            bytes[place] ^= flip.1;
            if let Ok(game) = decode(&bytes) {
                let again = encode(&game).expect("it has a result");
                prop_assert_eq!(decode(&again).expect("it was written").moves, game.moves);
            }
        }
    }
}
