//! Games in Stockfish's binpack, in two and a half bytes a position.
//!
//! A file is a row of chunks; a chunk is a row of chains, each a position in 32 bytes and the moves that were played
//! from there with their scores, packed in as few bits as the rules leave open. `sfbinpack` unpacks them. A chain is
//! taken for a game: that is what engines write, while files that were filtered hold pieces of games, whose positions
//! may then be split between training and test. The crate replays what it reads without a doubt, and ends in a panic
//! where that is nonsense. So every move is tested by our rules before the crate makes it, and a panic is caught: what
//! is left of the chunk is then lost, and reported with its place. Scores are the writer's, from the mover's side.

use std::io::{BufRead, ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::{ALL_SQUARES, BitBoard, Board, COLORS, Color, EMPTY, Move, PIECES, Setup, Square, square_set};
use sfbinpack::chess::castling_rights::CastlingRights;
use sfbinpack::chess::coords::Square as TheirSquare;
use sfbinpack::chess::r#move::{Move as TheirMove, MoveType};
use sfbinpack::chess::position::Position;
use sfbinpack::{ChunkReader, TrainingDataEntry};

use crate::error::Error;
use crate::game::BrokenGame;
use crate::game::{GameRecord, PlayedMove, Tags};
use crate::input;
use crate::score::{GameResult, Score};

const MAGIC: &[u8; 4] = b"BINP";
/// Larger chunks are refused by the reference, too.
const LARGEST_CHUNK: u32 = 100 << 20;
/// What Stockfish writes where there is no score.
const NO_SCORE: i16 = 32_002;
/// Scores from here on are mates: 32,000 less the plies to it.
const MATES: i16 = 32_000 - 246;
/// The number that stands for no piece.
const NO_PIECE: u8 = 12;

/// The chunks of a file, one after another.
pub struct Chunks {
    input: Box<dyn BufRead + Send>,
    path: Arc<Path>,
    number: u64,
    offset: u64,
}

/// A chunk and where it stands.
pub struct Chunk {
    path: Arc<Path>,
    /// Counted from 1.
    number: u64,
    /// Of its first byte in the file.
    offset: u64,
    bytes: Vec<u8>,
}

impl Chunks {
    /// The chunks of the file at `path`, which may be packed once more.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<Chunks, Error> {
        Ok(Chunks { input: input::open_bytes(path)?, path: path.into(), number: 0, offset: 0 })
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk>, Error> {
        let Chunks { input, path, number, offset } = self;
        let place = (*number + 1, *offset);
        let fault = |problem: &str| {
            Error::content(path, format!("chunk {}, which begins at byte {}", place.0, place.1), problem)
        };
        if input.fill_buf().map_err(|error| fault(&error.to_string()))?.is_empty() {
            return Ok(None);
        }
        let mut read = |bytes: &mut [u8]| {
            input.read_exact(bytes).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => fault("the file ends within it"),
                _ => fault(&error.to_string()),
            })
        };
        let mut header = [0; 8];
        read(&mut header)?;
        let (magic, size) = header.split_at(4);
        if magic != MAGIC {
            return Err(fault("it does not begin with BINP: this is no binpack, or what is before is damaged"));
        }
        let size = u32::from_le_bytes(size.try_into().expect("half of eight is four"));
        if size > LARGEST_CHUNK {
            return Err(fault(&format!("a chunk of {size} bytes, expected at most {LARGEST_CHUNK}")));
        }
        let mut bytes = vec![0; size as usize];
        read(&mut bytes)?;
        *number = place.0;
        *offset += (header.len() + bytes.len()) as u64;
        Ok(Some(Chunk { path: path.clone(), number: place.0, offset: place.1, bytes }))
    }
}

impl Iterator for Chunks {
    type Item = Result<Chunk, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_chunk().transpose()
    }
}

impl Chunk {
    /// The games of the chunk. The last one is broken where the rest could not be read.
    #[must_use]
    pub fn games(&self) -> Vec<Result<GameRecord, BrokenGame>> {
        let (mut games, mut reader) = (Vec::new(), ChunkReader::default());
        while reader.has_next(&self.bytes) {
            let game = catch_unwind(AssertUnwindSafe(|| chain(&mut reader, &self.bytes)));
            let game = game.unwrap_or_else(|_| Err("the bytes make no moves".to_string()));
            let broken = game.is_err();
            games.push(game.map_err(|problem| self.broken(games.len() + 1, &problem)));
            if broken {
                break;
            }
        }
        games
    }

    fn broken(&self, game: usize, problem: &str) -> BrokenGame {
        let problem = format!(
            "game {game} of chunk {}, which begins at byte {}: {problem}; the rest of the chunk is left out",
            self.number, self.offset
        );
        BrokenGame { path: self.path.to_path_buf(), line: self.number, problem }
    }
}

/// The next chain.
fn chain(reader: &mut ChunkReader, bytes: &[u8]) -> Result<GameRecord, String> {
    let first = reader.next(bytes);
    let start = board_of(&first)?;
    let result = match (first.result, start.side_to_move()) {
        (0, _) => GameResult::Draw,
        (1, Color::White) | (-1, Color::Black) => GameResult::WhiteWins,
        (1, Color::Black) | (-1, Color::White) => GameResult::BlackWins,
        (other, _) => return Err(format!("a result of {other}, expected -1 to 1")),
    };
    let (mut board, mut entry) = (start, first);
    let mut moves = Vec::new();
    loop {
        let mv = move_of(&board, &entry.mv).filter(|&mv| board.is_legal(mv));
        let mv =
            mv.ok_or_else(|| format!("move {} ({}) is not legal in {}", moves.len() + 1, text(&entry), board.fen()))?;
        moves.push(PlayedMove::scored(mv, score_of(entry.score)));
        // Only within a chain is there more to come without another byte.
        if !reader.has_next(&[]) {
            break;
        }
        board = board.after(mv);
        entry = reader.next(bytes);
        if board.occupied().0 != entry.pos.occupied().bits() {
            return Err(format!("after move {} the pieces are not those of {}", moves.len(), board.fen()));
        }
    }
    Ok(GameRecord {
        tags: Tags { result: Some(result), ..Tags::default() },
        start,
        moves,
        result: Some(result),
        left_out: None,
    })
}

fn text(entry: &TrainingDataEntry) -> String {
    format!("{} to {}", entry.mv.from().index(), entry.mv.to().index())
}

fn square_of(square: TheirSquare) -> Option<Square> {
    ALL_SQUARES.get(square.index() as usize).copied()
}

fn board_of(entry: &TrainingDataEntry) -> Result<Board, String> {
    const ROOKS: [(CastlingRights, Square); 4] = [
        (CastlingRights::WHITE_KING_SIDE, ALL_SQUARES[7]),
        (CastlingRights::WHITE_QUEEN_SIDE, ALL_SQUARES[0]),
        (CastlingRights::BLACK_KING_SIDE, ALL_SQUARES[63]),
        (CastlingRights::BLACK_QUEEN_SIDE, ALL_SQUARES[56]),
    ];
    let position: &Position = &entry.pos;
    let rights = position.castling_rights();
    let held = ROOKS.iter().filter(|(right, _)| rights.contains(*right));
    let mut setup = Setup {
        pieces: [None; 64],
        side_to_move: COLORS[usize::from(position.side_to_move().ordinal())],
        castling: held.fold(EMPTY, |all, (_, square)| all | square_set(*square)),
        en_passant: square_of(position.ep_square()),
        halfmove_clock: position.rule50_counter(),
        fullmove_number: entry.ply / 2 + 1,
    };
    for square in BitBoard(position.occupied().bits()) {
        let id = position.piece_at(TheirSquare::new(square.to_index() as u32)).id();
        let piece = (id != NO_PIECE).then(|| (PIECES[usize::from(id >> 1)], COLORS[usize::from(id & 1)]));
        setup.pieces[square.to_index()] = piece;
    }
    Board::from_setup(&setup).map_err(|error| error.to_string())
}

fn move_of(board: &Board, mv: &TheirMove) -> Option<Move> {
    let (from, to) = (square_of(mv.from())?, square_of(mv.to())?);
    match mv.mtype() {
        MoveType::Castle => board.castling_with(to),
        MoveType::Promotion => {
            Some(Move::new(from, to).with_promotion(PIECES[usize::from(mv.promoted_piece().piece_type().ordinal())]))
        }
        MoveType::Normal | MoveType::EnPassant => Some(Move::new(from, to)),
    }
}

fn score_of(score: i16) -> Option<Score> {
    match score {
        NO_SCORE => None,
        _ if score.unsigned_abs() >= MATES.unsigned_abs() => {
            // The mating side makes the last ply, so its distance in plies is odd and that of the other side even.
            let plies = (32_000 - i32::from(score).abs()).max(1);
            Some(Score::mate((plies + 1) / 2 * i32::from(score.signum())))
        }
        _ => Some(Score::centipawns(f64::from(score))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::ScoreSide;
    use crate::testing::Temporary;
    use crate::testing::{MATE, SPECIAL, texts};
    use proptest::prelude::*;
    use sfbinpack::CompressedTrainingDataEntryWriter;
    use std::fs;

    /// The games as the crate writes them.
    fn packed(games: &[GameRecord]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = CompressedTrainingDataEntryWriter::new(&mut bytes).expect("memory takes all");
        for game in games {
            let mut ply = 2 * (game.start.fullmove_number() as u16 - 1);
            ply += u16::from(game.start.side_to_move() == Color::Black);
            for (board, played) in game.positions() {
                let white = (game.result.expect("it has one").points() * 2.0) as i16 - 1;
                let result = if board.side_to_move() == Color::White { white } else { -white };
                let score = played.score.map_or(NO_SCORE, |score| score.0);
                let pos = Position::from_fen(&board.fen()).expect("it is valid");
                let mv = their_move(&board, played.mv);
                writer.write_entry(&TrainingDataEntry { pos, mv, score, ply, result }).expect("memory takes all");
                ply += 1;
            }
        }
        drop(writer);
        bytes
    }

    fn their_move(board: &Board, mv: Move) -> TheirMove {
        use sfbinpack::chess::{color::Color as TheirColor, piece::Piece as TheirPiece, piecetype::PieceType};
        let square = |square: Square| TheirSquare::new(square.to_index() as u32);
        let (from, to) = board.castling_squares(mv).unwrap_or((mv.from(), mv.to()));
        let color = TheirColor::from_ordinal(board.side_to_move().to_index() as u8);
        let (kind, promoted) = match mv.promotion() {
            _ if mv.is_castling() => (MoveType::Castle, TheirPiece::none()),
            Some(piece) => {
                (MoveType::Promotion, TheirPiece::new(PieceType::from_ordinal(piece.to_index() as u8), color))
            }
            None if board.is_en_passant(mv) => (MoveType::EnPassant, TheirPiece::none()),
            None => (MoveType::Normal, TheirPiece::none()),
        };
        TheirMove::new(square(from), square(to), kind, promoted)
    }

    fn read(bytes: Vec<u8>) -> Vec<Result<GameRecord, BrokenGame>> {
        let chunks = Chunks {
            input: Box::new(std::io::Cursor::new(bytes)),
            path: Path::new("a.binpack").into(),
            number: 0,
            offset: 0,
        };
        chunks.flat_map(|chunk| chunk.expect("memory can be read").games()).collect()
    }

    fn games() -> Vec<GameRecord> {
        let white = "[SetUp \"1\"]\n[FEN \"r3k2r/8/8/8/Pp6/8/6p1/R3K3 b Qkq a3 3 40\"]\n[Result \"0-1\"]\n\n\
            40... bxa3 {+3.00/9} 41. O-O-O {-3.10/8} g1=N {+5.00/9} 42. Rxg1 {-31.00/9} O-O-O 0-1\n";
        let games = [SPECIAL, MATE, white];
        games.iter().map(|pgn| texts(pgn)[0].parse(Some(ScoreSide::Mover)).expect("it is a game")).collect()
    }

    type Facts = (String, Option<GameResult>, Vec<(Move, Option<i16>)>);

    /// A game as a binpack stores it: without book moves, and with mates in plies.
    fn facts(game: &GameRecord) -> Facts {
        let scores = game.moves.iter().map(|played| (played.mv, played.score.map(|score| score.0)));
        (game.start.fen(), game.result, scores.collect())
    }

    #[test]
    fn what_the_reference_writes_is_read() {
        let mut games = games();
        for played in games.iter_mut().flat_map(|game| &mut game.moves) {
            played.score = played.score.filter(|score| !score.is_mate());
        }
        let read: Vec<_> = read(packed(&games)).into_iter().map(|game| facts(&game.unwrap())).collect();
        assert_eq!(read, games.iter().map(facts).collect::<Vec<_>>());
    }

    #[test]
    fn scores_that_are_none_or_mates() {
        for (score, expected) in [
            (NO_SCORE, None),
            (0, Some(Score(0))),
            (-31_000, Some(Score(-30_000))),
            (31_999, Some(Score::mate(1))),
            (31_998, Some(Score::mate(1))),
            (31_997, Some(Score::mate(2))),
            (-31_998, Some(Score::mate(-1))),
            (-31_996, Some(Score::mate(-2))),
            (-31_754, Some(Score::mate(-123))),
        ] {
            assert_eq!(score_of(score), expected, "{score}");
        }
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let whole = packed(&games());
        let folder = Temporary::folder();
        let path = folder.join("a.binpack");
        let error = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            Chunks::open(&path).unwrap().find_map(Result::err).map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(error(&whole), "");
        assert!(error(&whole[..whole.len() - 1]).ends_with("chunk 1, which begins at byte 0: the file ends within it"));
        let place = format!("chunk 2, which begins at byte {}: ", whole.len());
        assert!(error(&[&whole[..], b"BINP"].concat()).ends_with(&format!("{place}the file ends within it")));
        assert!(
            error(&[&whole[..], b"PNIB\0\0\0\0"].concat()).contains(&format!("{place}it does not begin with BINP"))
        );
        assert!(error(b"BINP\xFF\xFF\xFF\xFF").contains("a chunk of 4294967295 bytes"));
        // Two kings of a color.
        let mut damaged = whole.clone();
        damaged[8 + 8] = 0xAA;
        let problem = read(damaged).pop().unwrap().unwrap_err().problem;
        assert!(problem.starts_with("game 1 of chunk 1, which begins at byte 0: "), "{problem}");
        // A game that ends before its moves do.
        let cut = whole.len() - 3;
        let mut short = whole[..cut].to_vec();
        short[4..8].copy_from_slice(&(cut as u32 - 8).to_le_bytes());
        let mut games = read(short);
        let problem = games.pop().unwrap().unwrap_err().problem;
        assert!(problem.starts_with("game 3 of chunk 1") && problem.contains("the bytes make no moves"), "{problem}");
        assert_eq!(games.len(), 2);
    }

    proptest! {
        // With RUST_BACKTRACE a caught panic prints its backtrace, which takes long.
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever the bytes are, what is read of them are legal games.
        #[test]
        fn any_bytes_are_read_or_refused(flips in prop::collection::vec(any::<(u16, u8)>(), 1..8)) {
            let mut bytes = packed(&games());
            for (place, flip) in flips {
                let place = 8 + usize::from(place) % (bytes.len() - 8);
                bytes[place] ^= flip;
            }
            for game in read(bytes).into_iter().flatten() {
                prop_assert!(game.positions().all(|(board, played)| board.is_legal(played.mv)));
            }
        }
    }
}
