//! Games from PGN files, one at a time, so that a file of any size can be read.
//!
//! Real collections are dirty: braces that never close, moves that cannot be played, results that
//! contradict themselves. A broken game must cost that game and nothing else, and must be reported so that it
//! can be found. So a file is first cut into games by its lines, which is easy to do safely, and each
//! piece is parsed by itself (tokens by `pgn-reader`, moves by `shakmaty`), on any thread. Both
//! programs' boards are compared after every move: a difference is a fault of one of them and must not become
//! training data.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::board::{ALL_SQUARES, Board, ChessMove, Color, PIECES, Piece};
use pgn_reader::{KnownOutcome, Outcome, RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position, Role};

use crate::base::error::Error;
use crate::data::choice::Choice;
use crate::data::game::{GameRecord, Played, Tags};
use crate::data::input::Lines;
use crate::data::score::{GameResult, Score, ScoreSide};

/// Largest text of one game; more than that is no game.
const LARGEST_GAME: usize = 1 << 20;

/// What a comment says of the move before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The move came out of an opening book.
    Book,
    /// The search's value, from whichever side the writer takes.
    Score(Score),
}

impl Remark {
    /// Reads `book`, and the `score/depth` form of Cute Chess and fastchess: `+0.35/20 1.2s`, `-M12/40`.
    #[must_use]
    pub fn parse(comment: &[u8]) -> Option<Remark> {
        let text = std::str::from_utf8(comment).ok()?;
        let word = text.split([' ', ',', '\n', '\r', '\t']).find(|word| !word.is_empty())?;
        if word == "book" {
            return Some(Remark::Book);
        }
        let (score, _depth) = word.split_once('/')?;
        parse_score(score).map(Remark::Score)
    }
}

fn parse_score(text: &str) -> Option<Score> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let sign = if negative { -1 } else { 1 };
    if let Some(moves) = digits.strip_prefix(['M', '#']) {
        let moves: i32 = moves.parse().ok().filter(|&moves| (0..=1_000).contains(&moves))?;
        let mate = Score::mate(moves);
        return Some(if negative { mate.opposite() } else { mate });
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    Some(Score::centipawns(digits.parse::<f64>().ok()? * 100.0 * f64::from(sign)))
}

/// The text of one game and where it stands.
#[derive(Clone, Debug)]
pub struct GameText {
    /// The file.
    pub path: Arc<Path>,
    /// Its first line.
    pub line: u64,
    text: Vec<u8>,
    oversized: bool,
}

/// A game that could not be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenGame {
    /// The file.
    pub path: PathBuf,
    /// The first line of the game; in a binary file, its number.
    pub line: u64,
    /// Who played, as far as it is known, and what is wrong.
    pub problem: String,
}

impl fmt::Display for BrokenGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.problem)
    }
}

/// Cuts a file into games by its lines. A game begins where a tag follows moves, where anything
/// follows a blank line after a result, or where after a blank line among tags one comes that the game has already: the
/// game before had tags and no moves. A blank line alone does not part tags, since some files have one within them.
pub struct GameTexts {
    lines: Lines,
    path: Arc<Path>,
    /// A line that was read and belongs to the next game.
    ahead: Option<(u64, Vec<u8>)>,
}

impl GameTexts {
    /// The games of the file at `path`.
    pub fn open(path: &Path) -> Result<GameTexts, Error> {
        Ok(GameTexts::new(Lines::open(path)?, path))
    }

    /// The games of `lines`, which reports call `path`.
    #[must_use]
    pub fn new(lines: Lines, path: &Path) -> GameTexts {
        GameTexts { lines, path: path.into(), ahead: None }
    }

    fn next_line(&mut self) -> Result<Option<(u64, Vec<u8>)>, Error> {
        if let Some(line) = self.ahead.take() {
            return Ok(Some(line));
        }
        let mut line = Vec::new();
        Ok(self.lines.read(&mut line)?.map(|number| (number, line)))
    }

    fn next_game(&mut self) -> Result<Option<GameText>, Error> {
        let mut game = GameText { path: self.path.clone(), line: 0, text: Vec::new(), oversized: false };
        let (mut moves, mut result, mut gap) = (false, false, false);
        let mut tags: HashSet<Vec<u8>> = HashSet::new();
        while let Some((number, line)) = self.next_line()? {
            let trimmed = line.trim_ascii();
            if trimmed.is_empty() {
                gap = true;
                // The tokenizer takes a blank line among the moves for the end of the game.
                if !moves && game.line != 0 {
                    game.text.extend(&line);
                }
                continue;
            }
            let tag = tag_name(trimmed);
            let again = gap && tag.is_some_and(|name| tags.contains(name));
            if again || moves && (tag.is_some() || (result && gap)) {
                self.ahead = Some((number, line));
                break;
            }
            if game.line == 0 {
                game.line = number;
            }
            if let Some(name) = tag {
                tags.insert(name.to_vec());
            } else {
                moves = true;
                result = [&b"1-0"[..], b"0-1", b"1/2-1/2", b"*"].iter().any(|end| trimmed.ends_with(end));
            }
            gap = false;
            if game.text.len() + line.len() <= LARGEST_GAME {
                game.text.extend(&line);
            } else {
                game.oversized = true;
            }
        }
        Ok((game.line != 0).then_some(game))
    }
}

impl Iterator for GameTexts {
    type Item = Result<GameText, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_game().transpose()
    }
}

/// The name of a line that is a tag pair: `[Name "...`.
fn tag_name(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let inner = line.strip_prefix(b"[")?;
    let length = inner.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let (name, rest) = inner.split_at(length);
    (length > 0 && rest.trim_ascii_start().starts_with(b"\"")).then_some(name)
}

/// From whose side the scores in the comments of a file are: those of two moves in a row agree if they are White's, and
/// are opposite if they are the movers'. Nothing if its first games do not tell.
///
/// # Errors
/// When the file cannot be read.
pub fn side_of_scores(path: &Path) -> Result<Option<ScoreSide>, Error> {
    const GAMES: usize = 200;
    const PAIRS: u32 = 20;
    /// Where all are of one kind this is 1, and 0 where there is nothing in them.
    const CLEAR: f64 = 0.5;
    /// A mate weighs as much as a queen.
    const LARGEST: f64 = 10.0;
    let (mut pairs, mut sum, mut whole) = (0, 0.0, 0.0);
    for text in GameTexts::open(path)?.take(GAMES) {
        let Ok(game) = text?.parse(Some(ScoreSide::Mover)) else { continue };
        let scores: Vec<Option<f64>> =
            game.moves.iter().map(|played| Some(played.score?.pawns().clamp(-LARGEST, LARGEST))).collect();
        for pair in scores.windows(2) {
            let [Some(one), Some(other)] = pair else { continue };
            if *one != 0.0 && *other != 0.0 {
                pairs += 1;
                sum += one * other;
                whole += (one * other).abs();
            }
        }
    }
    Ok(match sum / whole {
        share if pairs < PAIRS || share.abs() < CLEAR => None,
        share if share > 0.0 => Some(ScoreSide::White),
        _ => Some(ScoreSide::Mover),
    })
}

impl GameText {
    /// Parses and replays the game. Scores in comments are read only when it is known from whose side.
    pub fn parse(&self, scores: Option<ScoreSide>) -> Result<GameRecord, BrokenGame> {
        let broken = |problem| BrokenGame { path: self.path.to_path_buf(), line: self.line, problem };
        if self.oversized {
            return Err(broken(format!("more than {LARGEST_GAME} bytes before the next game begins")));
        }
        let read = Reader::new(self.text.as_slice()).read_game(&mut Collector);
        let tokens = match read {
            Ok(Some(tokens)) => tokens,
            Ok(None) => return Err(broken("nothing but space".to_string())),
            Err(error) => return Err(broken(error.to_string())),
        };
        let [white, black] = &tokens.tags.players;
        let players: String = format!("{white} - {black}").chars().filter(|c| !c.is_control()).take(80).collect();
        replay(tokens, &self.text, scores).map_err(|problem| broken(format!("{players}: {problem}")))
    }
}

/// What a game says beside its moves, for those who write it down again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// All tags, in their order.
    pub tags: Vec<(String, String)>,
    /// The comments before the first move, behind it, and so on.
    pub comments: Vec<Vec<String>>,
}

impl GameText {
    /// The tags and comments of the game; variations are left out. Of a game that [can be read](GameText::parse) nothing
    /// is missing.
    #[must_use]
    pub fn notes(&self) -> Notes {
        let read = Reader::new(self.text.as_slice()).read_game(&mut NoteTaker);
        read.ok().flatten().unwrap_or_default()
    }
}

struct NoteTaker;

impl Visitor for NoteTaker {
    type Tags = Notes;
    type Movetext = Notes;
    type Output = Notes;

    fn begin_tags(&mut self) -> ControlFlow<Notes, Notes> {
        ControlFlow::Continue(Notes::default())
    }

    fn tag(&mut self, notes: &mut Notes, name: &[u8], value: RawTag<'_>) -> ControlFlow<Notes> {
        let name = String::from_utf8_lossy(name).into_owned();
        notes.tags.push((name, value.decode_utf8_lossy().into_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, notes: Notes) -> ControlFlow<Notes, Notes> {
        ControlFlow::Continue(Notes { comments: vec![Vec::new()], ..notes })
    }

    fn san(&mut self, notes: &mut Notes, _: SanPlus) -> ControlFlow<Notes> {
        notes.comments.push(Vec::new());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, notes: &mut Notes, comment: RawComment<'_>) -> ControlFlow<Notes> {
        let text = String::from_utf8_lossy(comment.as_bytes()).trim().to_string();
        notes.comments.last_mut().expect("there is one before the first move").push(text);
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Notes) -> ControlFlow<Notes, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, notes: Notes) -> Notes {
        notes
    }
}

/// A move as it is written, and what is said of it.
struct Token {
    san: San,
    remark: Option<Remark>,
    /// The words that may be of a [`Choice`].
    choice: Option<String>,
}

/// What the tokenizer found in a game.
struct Tokens {
    tags: Tags,
    variant: Option<String>,
    moves: Vec<Token>,
    outcome: Option<Outcome>,
    late_moves: usize,
}

/// What the tags say.
#[derive(Default)]
struct Heading {
    tags: Tags,
    variant: Option<String>,
    /// The names so far: of those that come again the first counts, as for [`Notes`]' readers.
    names: HashSet<Vec<u8>>,
}

struct Collector;

impl Visitor for Collector {
    type Tags = Heading;
    type Movetext = Tokens;
    type Output = Tokens;

    fn begin_tags(&mut self) -> ControlFlow<Tokens, Self::Tags> {
        ControlFlow::Continue(Heading::default())
    }

    fn tag(&mut self, heading: &mut Heading, name: &[u8], value: RawTag<'_>) -> ControlFlow<Tokens> {
        let Heading { tags, variant, names } = heading;
        if !names.insert(name.to_vec()) {
            return ControlFlow::Continue(());
        }
        let text = || value.decode_utf8_lossy().into_owned();
        match name {
            b"Event" => tags.event.insert_str(0, &text()),
            b"TimeControl" => tags.event.extend([" ", &text()]),
            b"Site" => tags.site = text(),
            b"White" => tags.players[0] = text(),
            b"Black" => tags.players[1] = text(),
            b"WhiteElo" => tags.ratings[0] = text().trim().parse().ok(),
            b"BlackElo" => tags.ratings[1] = text().trim().parse().ok(),
            b"Result" => tags.result = text().trim().parse().ok(),
            b"FEN" => tags.fen = Some(text()),
            b"Variant" => *variant = Some(text()),
            _ => (),
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, Heading { tags, variant, .. }: Heading) -> ControlFlow<Tokens, Tokens> {
        let moves = Vec::with_capacity(128);
        ControlFlow::Continue(Tokens { tags, variant, moves, outcome: None, late_moves: 0 })
    }

    fn san(&mut self, tokens: &mut Tokens, san: SanPlus) -> ControlFlow<Tokens> {
        if tokens.outcome.is_some() {
            tokens.late_moves += 1;
        }
        tokens.moves.push(Token { san: san.san, remark: None, choice: None });
        ControlFlow::Continue(())
    }

    fn comment(&mut self, tokens: &mut Tokens, comment: RawComment<'_>) -> ControlFlow<Tokens> {
        if let Some(Token { remark, choice, .. }) = tokens.moves.last_mut() {
            *remark = remark.or_else(|| Remark::parse(comment.as_bytes()));
            let words = std::str::from_utf8(comment.as_bytes()).ok().and_then(Choice::words);
            *choice = choice.take().or_else(|| words.map(str::to_string));
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Tokens) -> ControlFlow<Tokens, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn outcome(&mut self, tokens: &mut Tokens, outcome: Outcome) -> ControlFlow<Tokens> {
        tokens.outcome.get_or_insert(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, tokens: Tokens) -> Tokens {
        tokens
    }
}

fn replay(tokens: Tokens, text: &[u8], scores: Option<ScoreSide>) -> Result<GameRecord, String> {
    if let Some(variant) = tokens.variant.filter(|name| !is_chess(name)) {
        return Err(format!("a game of {variant}"));
    }
    if tokens.late_moves > 0 {
        return Err(format!("{} moves after the result", tokens.late_moves));
    }
    let result = agreed_result(tokens.tags.result, tokens.outcome)?;
    let (start, mut theirs) = match &tokens.tags.fen {
        None => (Board::startpos(), Chess::default()),
        Some(fen) => starting_boards(fen)?,
    };
    let mut board = start;
    let mut moves = Vec::with_capacity(tokens.moves.len());
    for Token { san, remark, choice } in tokens.moves {
        let broken = |problem: &dyn fmt::Display| {
            let dots = if board.side_to_move() == Color::White { "." } else { "..." };
            Err(format!("{}{dots} {san}: {problem}", board.fullmove_number()))
        };
        let chosen = match san.to_move(&theirs) {
            Ok(chosen) => chosen,
            Err(error) => return broken(&error),
        };
        let Some(mv) = convert(&board, chosen).filter(|&mv| board.is_legal(mv)) else {
            return broken(&"the two rule books disagree");
        };
        let score = match (remark, scores) {
            (Some(Remark::Score(score)), Some(ScoreSide::White)) if board.side_to_move() == Color::Black => {
                Some(score.opposite())
            }
            (Some(Remark::Score(score)), Some(_)) => Some(score),
            _ => None,
        };
        let choice = choice.and_then(|words| Choice::parse(&words, &board));
        // Words on another position may fit by chance; that the move played is second to itself is a sure sign.
        let choice = choice.filter(|choice| choice.second.is_none_or(|(second, _)| second != mv));
        moves.push(Played { mv, score, book: remark == Some(Remark::Book), choice });
        theirs.play_unchecked(chosen);
        let after = board.after(mv);
        if !same_pieces(&after, &theirs) {
            return broken(&"the two boards differ after it");
        }
        board = after;
    }
    if !same_rights(&board, &theirs) {
        return Err("the two boards differ in castling, en passant or clocks at the end".to_string());
    }
    let unread = count_move_words(text) as i64 - moves.len() as i64;
    if unread != 0 {
        return Err(format!("{} words that look like moves could not be read", unread.abs()));
    }
    Ok(GameRecord { tags: tokens.tags, start, moves, result })
}

/// Whether a variant tag means standard chess or Chess960, by any of their names. Which of them it is the position says.
fn is_chess(variant: &str) -> bool {
    let name: String = variant.chars().filter(char::is_ascii_alphanumeric).collect();
    [
        "",
        "standard",
        "chess",
        "normal",
        "chess960",
        "fischerandom",
        "fischerrandom",
        "fischerrandomchess",
        "frc",
        "dfrc",
    ]
    .contains(&name.to_ascii_lowercase().as_str())
}

/// The tokenizer skips what it cannot read, and a game with a hole may still replay. So the words that
/// look like moves are counted, to be compared with the moves it found.
fn count_move_words(text: &[u8]) -> usize {
    let mut count = 0;
    let (mut comment_end, mut depth, mut line_start) = (None, 0usize, true);
    let mut word = Word::default();
    for &byte in text.iter().chain(b"\n") {
        let first_of_line = std::mem::replace(&mut line_start, byte == b'\n');
        if comment_end.is_some() {
            if comment_end == Some(byte) {
                comment_end = None;
            }
            continue;
        }
        let inside_variation = depth > 0;
        match byte {
            b'%' | b'[' if first_of_line => comment_end = Some(b'\n'),
            b'{' => comment_end = Some(b'}'),
            b';' => comment_end = Some(b'\n'),
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => (),
        }
        if b" \t\r\n{}()!?$;.*".contains(&byte) {
            count += usize::from(std::mem::take(&mut word).is_move() && !inside_variation);
        } else {
            word.push(byte);
        }
    }
    count
}

/// A word of the movetext, as far as it matters for telling moves from the rest.
#[derive(Default)]
struct Word {
    start: [u8; 3],
    len: usize,
    digit: bool,
}

impl Word {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.start.get_mut(self.len) {
            *place = byte;
        }
        self.digit |= self.len > 0 && byte.is_ascii_digit();
        self.len += 1;
    }

    /// Begins like a move and holds a digit, or castles. `e.p.` and a lone `N` are remarks.
    fn is_move(&self) -> bool {
        match &self.start {
            b"O-O" | b"0-0" => true,
            [b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N' | b'P', ..] => self.digit,
            _ => false,
        }
    }
}

fn agreed_result(tag: Option<GameResult>, outcome: Option<Outcome>) -> Result<Option<GameResult>, String> {
    let end = match outcome {
        Some(Outcome::Known(KnownOutcome::Draw)) => Some(GameResult::Draw),
        Some(Outcome::Known(KnownOutcome::Decisive { winner: shakmaty::Color::White })) => Some(GameResult::WhiteWins),
        Some(Outcome::Known(KnownOutcome::Decisive { winner: shakmaty::Color::Black })) => Some(GameResult::BlackWins),
        Some(Outcome::Unknown) | None => None,
    };
    match (tag, end) {
        (Some(tag), Some(end)) if tag != end => Err(format!("the result tag says {tag}, the moves end in {end}")),
        (tag, end) => Ok(tag.or(end)),
    }
}

fn starting_boards(fen: &str) -> Result<(Board, Chess), String> {
    let board = Board::from_fen(fen).map_err(|error| format!("FEN tag: {error}"))?;
    // Their reader gets our text of the position, so that both mean the same by it.
    let theirs = Fen::from_ascii(board.fen().as_bytes())
        .map_err(|error| format!("FEN tag: {error}"))?
        .into_position(CastlingMode::Chess960)
        .map_err(|error| format!("FEN tag: {error}"))?;
    Ok((board, theirs))
}

/// Our move for theirs. Castling is theirs by the rook's square.
fn convert(board: &Board, mv: shakmaty::Move) -> Option<ChessMove> {
    let ours = |square: shakmaty::Square| ALL_SQUARES[usize::from(square)];
    match mv {
        shakmaty::Move::Castle { rook, .. } => board.castling_with(ours(rook)),
        _ => Some(ChessMove::new(ours(mv.from()?), ours(mv.to()), mv.promotion().map(piece_of))),
    }
}

fn piece_of(role: Role) -> Piece {
    PIECES[role as usize - Role::Pawn as usize]
}

fn same_pieces(ours: &Board, theirs: &Chess) -> bool {
    let board = theirs.board();
    let side = theirs.turn() == shakmaty::Color::White;
    ours.colors(Color::White).0 == board.white().0
        && ours.occupied().0 == board.occupied().0
        && Role::ALL.iter().all(|&role| ours.pieces(piece_of(role)).0 == board.by_role(role).0)
        && (ours.side_to_move() == Color::White) == side
}

fn same_rights(ours: &Board, theirs: &Chess) -> bool {
    let setup = theirs.to_setup(EnPassantMode::Legal);
    let text = Fen::try_from_setup(setup).map_or_else(|_| String::new(), |fen| fen.to_string());
    // The clocks end somewhere in our FEN; everything before them must agree.
    let fields = |fen: &str| fen.split(' ').take(5).map(str::to_string).collect::<Vec<_>>();
    fields(&text) == fields(&ours.fen())
}

#[cfg(test)]
pub(in crate::data) mod tests {
    use super::*;
    use crate::base::hash;
    use std::io::Cursor;

    /// A short game of every special move: en passant, both castlings, an underpromotion.
    pub(crate) const SPECIAL: &str = "[Event \"Rated Blitz game\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\
        [WhiteElo \"1500\"]\n[BlackElo \"1700\"]\n[TimeControl \"300+2\"]\n\n\
        1. e4 {+0.35/20 1.2s} Nf6 {-0.10/18 0.9s} 2. e5 {book} d5 {M12/30} 3. exd6 {-M4/9, lost} cxd6 4. Nf3 g6 5. Be2\n\
        Bg7 6. O-O {0.00/1} a5 (6... O-O 7. d4 {a variation} (7. a4)) 7. a3 a4 8. b4 axb3 9. d4 bxc2 10. Qd2\n\
        cxb1=N $6 11. Qd1 Nc6 12. Re1 Be6 13. Rf1 Qd7 14. Re1 O-O-O 15. Rf1 Nxa3 0-1\n";

    pub(crate) const MATE: &str = "[White \"C\"]\n[Black \"D\"]\n[Result \"1-0\"]\n[WhiteElo \"2500\"]\n\
        [BlackElo \"2400\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n";

    pub(crate) fn texts(pgn: &str) -> Vec<GameText> {
        let path = Path::new("games.pgn");
        let lines = Lines::new(Box::new(Cursor::new(pgn.as_bytes().to_vec())), path);
        GameTexts::new(lines, path).collect::<Result<_, _>>().expect("memory can be read")
    }

    fn parse(pgn: &str) -> Result<GameRecord, String> {
        let texts = texts(pgn);
        assert_eq!(texts.len(), 1, "{pgn}");
        texts[0].parse(Some(ScoreSide::Mover)).map_err(|broken| broken.to_string())
    }

    #[test]
    fn the_side_of_scores_is_told_by_the_games() {
        let folder = crate::base::testing::Temporary::folder();
        let path = folder.join("games.pgn");
        // A game of knights that come and go, with White ahead by more and more.
        let file = |sign: [f64; 2]| {
            let moves = ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle().take(40).enumerate();
            let score = |ply: usize| sign[ply % 2] * (0.1 + ply as f64 / 20.0);
            moves.map(|(ply, mv)| format!("{mv} {{{:+.2}/5}} ", score(ply))).collect::<String>() + "*\n"
        };
        for (sign, side) in
            [([1.0, 1.0], Some(ScoreSide::White)), ([1.0, -1.0], Some(ScoreSide::Mover)), ([0.0, 1.0], None)]
        {
            std::fs::write(&path, file(sign)).unwrap();
            assert_eq!(side_of_scores(&path).unwrap(), side, "{sign:?}");
        }
        std::fs::write(&path, MATE).unwrap();
        assert_eq!(side_of_scores(&path).unwrap(), None);
    }

    #[test]
    fn special_moves_replay() {
        let game = parse(SPECIAL).unwrap();
        assert_eq!(game.moves.len(), 30);
        assert_eq!(game.result, Some(GameResult::BlackWins));
        assert_eq!(game.tags.ratings, [Some(1500), Some(1700)]);
        assert_eq!(game.tags.event, "Rated Blitz game 300+2");
        let moves: Vec<String> = game.positions().map(|(board, played)| board.uci(played.mv)).collect();
        for (ply, mv) in [(4, "e5d6"), (10, "e1g1"), (15, "a4b3"), (19, "c2b1n"), (27, "e8c8")] {
            assert_eq!(moves[ply], mv, "ply {ply}");
        }
    }

    #[test]
    fn chess960_replays() {
        let pgn = |variant: &str, fen: &str, moves: &str| {
            format!("[Variant \"{variant}\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n[Result \"*\"]\n\n{moves} *\n")
        };
        let x_fen = "4rkr1/8/8/8/8/8/8/RK5R w KQkq - 0 1";
        let shredder = "4rkr1/8/8/8/8/8/8/RK5R w HAge - 0 1";
        for (variant, fen) in
            [("Chess960", x_fen), ("chess 960", shredder), ("fischerandom", shredder), ("Standard", x_fen)]
        {
            let game = parse(&pgn(variant, fen, "1. O-O-O O-O")).unwrap();
            let texts: Vec<String> = game.positions().map(|(board, played)| board.uci(played.mv)).collect();
            assert_eq!(texts, ["b1a1", "f8g8"]);
            let last = game.positions().last().map(|(board, played)| board.after(played.mv).fen());
            assert_eq!(last.as_deref(), Some("4rrk1/8/8/8/8/8/8/2KR3R w - - 2 2"));
        }
        // The rook that is not the outermost.
        let game = parse(&pgn("Chess960", "4k3/8/8/8/8/8/8/1R1RK3 w D - 0 1", "1. O-O-O Ke7")).unwrap();
        assert_eq!(game.positions().nth(1).unwrap().0.fen(), "4k3/8/8/8/8/8/8/1RKR4 b - - 1 1");
    }

    #[test]
    fn remarks_belong_to_the_move_before_and_to_a_side() {
        for (side, expected) in [
            (Some(ScoreSide::Mover), [Some(35), Some(-10), None, Some(31_988), Some(-31_996)]),
            (Some(ScoreSide::White), [Some(35), Some(10), None, Some(-31_988), Some(-31_996)]),
            (None, [None; 5]),
        ] {
            let game = texts(SPECIAL)[0].parse(side).unwrap();
            let scores: Vec<Option<i16>> = game.moves.iter().map(|played| played.score.map(|score| score.0)).collect();
            assert_eq!(scores[..5], expected, "{side:?}");
            let books: Vec<usize> = (0..game.moves.len()).filter(|&ply| game.moves[ply].book).collect();
            assert_eq!(books, [2], "{side:?}");
        }
    }

    /// As the client of OpenBench writes games: no move numbers, a comment behind every move, whatever the match program
    /// said reduced to score and depth, and what the engine wanted told.
    #[test]
    fn openbench_writes_without_numbers() {
        let pgn = "[Event \"?\"]\n[White \"Dyad-main\"]\n[Black \"Dyad-test\"]\n[Result \"1-0\"]\n[ScaleFactor \"1.0\"]\n\n\
            e4 {book} e5 {+0.35/20, line=second d7d5 gap 23} Bc4 {unknown} Nc6 {-0.10/9} Qh5 {+1.20/31} Nf6 {-M2/8} \
            Qxf7# {+M1/12} 1-0\n";
        let game = parse(pgn).unwrap();
        let scores: Vec<Option<i16>> = game.moves.iter().map(|played| played.score.map(|score| score.0)).collect();
        let mate = |moves| Some(Score::mate(moves).0);
        assert_eq!(scores, [None, Some(35), None, Some(-10), Some(120), mate(-2), mate(1)]);
        assert!(game.moves[0].book && !game.moves[1].book);
        assert_eq!(game.result, Some(GameResult::WhiteWins));
    }

    #[test]
    fn forms_of_scores() {
        let cases = [
            ("+0.35/20 1.2s", Some(Remark::Score(Score(35)))),
            ("-1.07/8", Some(Remark::Score(Score(-107)))),
            ("0.00/1 0.00s", Some(Remark::Score(Score(0)))),
            (" +M12/30 0.1s, White mates", Some(Remark::Score(Score(31_988)))),
            ("-M1/3", Some(Remark::Score(Score(-31_999)))),
            ("+400.00/3", Some(Remark::Score(Score(30_000)))),
            ("book", Some(Remark::Book)),
            ("book, the main line", Some(Remark::Book)),
            ("a good move", None),
            ("+0.35", None),
            ("inf/3", None),
            ("NaN/3", None),
            ("+/3", None),
            ("M/3", None),
            ("1.2.3/4", None),
            ("/", None),
            ("", None),
        ];
        for (comment, expected) in cases {
            assert_eq!(Remark::parse(comment.as_bytes()), expected, "{comment}");
        }
        assert_eq!(Remark::parse(b"\xFF\xFE/3"), None);
    }

    #[test]
    fn broken_games_tell_where_and_why() {
        let cases = [
            ("1. e4 e5 2. Ke3 1-0", "2. Ke3: "),
            ("1. e4 e5 2. Nf3 Nc6 3. Bb5 Nge7 4. Nc3 Nd4 5. Nd5 O-O 1-0", "5... O-O: "),
            ("1. e4 e5 2. N3 Nc6 1-0", "Nc6: "),
            ("1. e4 e5 2. Nf3xyz 1-0", "1 words that look like moves"),
            ("1. e4 -- 2. d4 1-0", "--: "),
            ("1. e4 e5 {never closed", "unterminated comment"),
            ("1. e4 e5 1-0 2. Nf3", "1 moves after the result"),
            ("[Result \"1-0\"]\n\n1. e4 e5 0-1", "result tag says 1-0, the moves end in 0-1"),
            ("[FEN \"8/8/8/8/8/8/8/K7 w - - 0 1\"]\n\n1. Kb2 *", "FEN tag: Black has 0 kings"),
            ("[Variant \"Crazyhouse\"]\n\n1. e4 *", "a game of Crazyhouse"),
            ("[Variant \"Crazyhouse\"]\n[Variant \"Standard\"]\n\n1. e4 *", "a game of Crazyhouse"),
        ];
        for (pgn, expected) in cases {
            let error = parse(pgn).err().unwrap_or_else(|| panic!("{pgn} was read"));
            assert!(error.starts_with("games.pgn:1: ") && error.contains(expected), "{pgn}: {error}");
        }
    }

    #[test]
    fn unusual_games_are_read() {
        let cases = [
            ("1. e4 e5 2. Nf3", 3),
            ("*", 0),
            ("[Event \"x\"]\n\n*", 0),
            ("1.e4e5", 0),
            ("1.e4 e5 2.0-0?? *", 0),
            ("1.e4 c5 2.Nf3 d6 3.Bb5+!? Bd7 4.0-0 Nf6 e.p. N +- 1/2-1/2", 8),
            ("%escaped line e4\n1. e4 ; a comment to the end e5\ne5 *", 2),
            ("1. e4 {two\n\nparagraphs Nf3} e5\n\n2. Nf3 *", 3),
            ("[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 30\"]\n\n30. a8=Q+ Kd7 31. Qb7+ *", 3),
            ("\u{FEFF}[Event \"marked\"]\n\n1. e4 e5 *", 2),
            ("[Event \"a \\\"quoted\\\" name\"]\r\n\r\n1. e4\r\ne5 *\r\n", 2),
        ];
        for (pgn, plies) in cases {
            match parse(pgn) {
                Ok(game) => assert_eq!(game.moves.len(), plies, "{pgn}"),
                Err(error) => assert_eq!(plies, 0, "{error}"),
            }
        }
    }

    #[test]
    fn a_broken_game_costs_only_itself() {
        let pgn = format!(
            "{MATE}\n[White \"broken\"]\n\n1. e4 {{unclosed\n\n{MATE}\n\n1. d4 d5 *\n\n1. c4 *\n[White \"tight\"]\n1. Nf3 1-0\n\n\n{SPECIAL}"
        );
        let texts = texts(&pgn);
        let lines: Vec<u64> = texts.iter().map(|text| text.line).collect();
        assert_eq!(lines, [1, 9, 13, 22, 24, 25, 29]);
        let plies: Vec<Option<usize>> =
            texts.iter().map(|text| text.parse(None).ok().map(|game| game.moves.len())).collect();
        assert_eq!(plies, [Some(7), None, Some(7), Some(2), Some(1), Some(1), Some(30)]);
    }

    #[test]
    fn a_game_of_tags_alone_costs_only_itself() {
        let pgn = "[Event \"a\"]\n[Result \"1-0\"]\n\n[Event \"b\"]\n[Result \"0-1\"]\n\n1. e4 e5 0-1\n\n\
            [Event \"c\"]\n\n\n[Event \"d\"]\n\n1. d4 *\n\n[Event \"e\"]\n\n[White \"parted\"]\n\n1. c4 c5 *\n\n\
            [Event \"f\"]\n[Event \"twice\"]\n\n1. g3 *\n\n[Event \"g\"]\n";
        let games: Vec<String> = texts(pgn)
            .iter()
            .map(|text| {
                let game = text.parse(None).unwrap();
                format!("{} {} {}", text.line, game.tags.event, game.moves.len())
            })
            .collect();
        assert_eq!(games, ["1 a 0", "4 b 2", "9 c 0", "12 d 1", "16 e 2", "22 f 1", "27 g 0"]);
    }

    #[test]
    fn garbage_is_refused_without_harm() {
        const GARBAGE: &[u8] = b" \n\n[]\"{}()1.e45Nf3O-KQ*/x=+#;%\\\xFF\xC2\xBD";
        let mut word = 7;
        for length in 0..400 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    word = hash::mix(word);
                    GARBAGE[word as usize % GARBAGE.len()]
                })
                .collect();
            let path = Path::new("garbage.pgn");
            for text in GameTexts::new(Lines::new(Box::new(Cursor::new(bytes)), path), path) {
                let _ = text.expect("memory can be read").parse(Some(ScoreSide::White));
            }
        }
        let huge = format!("1. e4 {{{}}} e5 *", "x\n".repeat(LARGEST_GAME));
        assert!(parse(&huge).unwrap_err().contains("more than"));
    }

    #[test]
    fn notes_are_all_that_is_said_beside_the_moves() {
        let pgn = "[Event \"a \\\"quoted\\\" name\"]\n[ECO \"C20\"]\n\n{before} 1. e4 {one} {two} (1. d4 {skipped}) e5 $6\n\
            2. Nf3 {[%clk 0:01:00]} *\n";
        let notes = texts(pgn)[0].notes();
        let tags: Vec<(&str, &str)> = notes.tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(tags, [("Event", "a \"quoted\" name"), ("ECO", "C20")]);
        assert_eq!(notes.comments, [vec!["before"], vec!["one", "two"], vec![], vec!["[%clk 0:01:00]"]]);
        assert_eq!(texts(SPECIAL)[0].notes().comments.len(), 31);
    }

    #[test]
    fn the_hash_knows_the_moves_and_nothing_else() {
        let hash = |pgn: &str| parse(pgn).unwrap().hash();
        assert_eq!(hash("1. e4 e5 *"), hash("[White \"X\"]\n\n1.e4 {book} e5 1-0"));
        assert_ne!(hash("1. e4 e5 *"), hash("1. e4 e6 *"));
        assert_ne!(hash("1. e4 e5 *"), hash("1. e4 e5 2. d4 *"));
    }
}
