//! The reading of a game's text.

use dyad_engine::board::{Board, Color};

use super::GameText;
use super::notes::{Note, Notes, Variations, note, notes_of_move, result};
use super::spelling::{NO_MOVE, Spelled, is_known_remark};
use super::words::{Tag, Token, Words};
use crate::game::{PlayedMove, Tags};
use crate::input::decode;
use crate::remark::Remark;
use crate::score::{GameResult, Score, ScoreSide};

/// The result of a reading.
pub(super) struct Read {
    pub tags: Tags,
    pub start: Board,
    pub moves: Vec<PlayedMove>,
    pub result: Option<GameResult>,
    pub notes: Notes,
    /// The moves whose score has a form that is always White's, by their number from 0.
    pub white_scores: Vec<usize>,
}

/// The content of the tags.
#[derive(Default)]
struct Header {
    tags: Tags,
    fen: Option<String>,
    variant: Option<String>,
    is_set_up: bool,
    /// Whether the result tag says that both sides lost.
    both_lost: bool,
    /// How many there are.
    count: usize,
    /// A bit for each of [`NAMES`] that has come: of those that come again the first counts.
    seen: u16,
}

const NAMES: [&str; 10] =
    ["Event", "TimeControl", "Site", "White", "Black", "WhiteElo", "BlackElo", "Result", "FEN", "Variant"];
/// Ends of tags of a player, and the value of each that marks a program.
const PROGRAMS: [(&str, &str); 3] = [("Title", "BOT"), ("IsComp", "Yes"), ("Type", "program")];
/// Those that decide what is played.
const DECISIVE: [&str; 3] = ["Result", "FEN", "Variant"];

impl Header {
    fn read(&mut self, tag: &Tag<'_>) -> Result<(), String> {
        self.count += 1;
        let is = |name: &str| tag.name.eq_ignore_ascii_case(name.as_bytes());
        if is("SetUp") {
            self.is_set_up = tag.value().trim() == "1";
        }
        for (side, name) in ["White", "Black"].into_iter().enumerate() {
            let marks = PROGRAMS
                .iter()
                .any(|(end, value)| is(&format!("{name}{end}")) && tag.value().eq_ignore_ascii_case(value));
            self.tags.programs[side] |= marks;
        }
        let Some(place) = NAMES.iter().position(|name| is(name)) else { return Ok(()) };
        if self.seen & 1 << place != 0 {
            return Ok(());
        }
        self.seen |= 1 << place;
        let name = NAMES[place];
        if !tag.is_whole && DECISIVE.contains(&name) {
            return Err(format!("expected a quote and a bracket at the end of the {name} tag"));
        }
        let (value, tags) = (tag.value(), &mut self.tags);
        match name {
            "Event" => tags.event.insert_str(0, &value),
            "TimeControl" => tags.event.extend([" ", &value]),
            "Site" => tags.site = value.into_owned(),
            "White" => tags.players[0] = value.into_owned(),
            "Black" => tags.players[1] = value.into_owned(),
            "WhiteElo" | "BlackElo" => {
                tags.ratings[usize::from(name == "BlackElo")] = value.trim().parse().ok();
            }
            "Result" => {
                tags.result = result(value.trim().as_bytes()).flatten();
                self.both_lost = value.trim() == "0-0";
            }
            "FEN" => self.fen = Some(value.into_owned()).filter(|fen| !["", "?", "-"].contains(&fen.trim())),
            _ => self.variant = Some(value.into_owned()),
        }
        Ok(())
    }

    /// The position that the game begins with.
    fn start(&self) -> Result<Board, String> {
        if let Some(variant) = self.variant.as_ref().filter(|name| !is_chess(name)) {
            return Err(format!("a game of {}", shown(variant)));
        }
        match &self.fen {
            Some(fen) => Board::from_fen(fen).map_err(|error| format!("FEN tag: {error}")),
            None if self.is_set_up => Err("the SetUp tag says 1, expected a FEN tag too".to_string()),
            None => Ok(Board::startpos()),
        }
    }
}

/// Whether a variant tag means standard chess or Chess960, by any of their names. Which of them it is the position
/// says.
fn is_chess(variant: &str) -> bool {
    const NAMES: &str = "standard standardchess chess classical classic normal regular orthodox fromposition setup \
        chess960 960 chess9lx 9lx freestyle freestylechess fischerandom fischerrandom fischerrandomchess \
        fischerandomchess wildfr fr frc dfrc doublefischerrandom";
    let name: String = variant.chars().filter(char::is_ascii_alphanumeric).collect();
    name.is_empty() || NAMES.split(' ').any(|known| name.eq_ignore_ascii_case(known))
}

/// The state of a reading.
pub(super) struct Reader<'a> {
    game: &'a GameText,
    scores: Option<ScoreSide>,
    keeps_notes: bool,
    variations: Variations<'a>,
    words: Words<'a>,
    header: Header,
    /// The positions after and before the last move; the first one only once the tags are read.
    board: Option<Board>,
    before: Board,
    /// A number that no move has followed yet.
    number: Option<u32>,
    /// What the game's numbers are more than those of the board.
    offset: Option<i64>,
    /// The result at the end of the moves; none in it for `*`.
    outcome: Option<Option<GameResult>>,
    late_moves: usize,
    /// Whether a comment has said something of the value of the last move.
    is_remarked: bool,
    /// The score of the current position, from White's side, by a comment on the move before.
    next_score: Option<Score>,
    read: Read,
}

impl<'a> Reader<'a> {
    pub(super) fn new(game: &'a GameText, scores: Option<ScoreSide>, keeps_notes: bool) -> Reader<'a> {
        let start = Board::startpos();
        let read = Read {
            tags: Tags::default(),
            start,
            moves: Vec::with_capacity(128),
            result: None,
            notes: Notes { moves: vec![Vec::new()], ..Notes::default() },
            white_scores: Vec::new(),
        };
        Reader {
            game,
            scores,
            keeps_notes,
            variations: Variations::new(&game.text),
            words: Words::new(&game.text),
            header: Header::default(),
            board: None,
            before: start,
            number: None,
            offset: None,
            outcome: None,
            late_moves: 0,
            is_remarked: false,
            next_score: None,
            read,
        }
    }

    /// Reads the game to its end.
    pub(super) fn read(mut self) -> Result<Read, String> {
        let (mut depth, mut opened) = (0usize, 0);
        while let Some(token) = self.words.next() {
            match token {
                Token::Tag(tag) => self.tag(&tag)?,
                Token::Unclosed => return Err(self.at_place("unterminated comment: expected a }")),
                Token::Open => {
                    if depth == 0 {
                        opened = self.words.start;
                    }
                    depth += 1;
                    if self.keeps_notes {
                        let board = self.board()?;
                        let before = if self.read.moves.is_empty() { board } else { self.before };
                        self.variations.open(self.words.start, before);
                    }
                }
                Token::Close => match depth.checked_sub(1) {
                    Some(less) => {
                        depth = less;
                        let notes = self.variations.close(self.words.start);
                        self.keep(notes);
                    }
                    None => return Err(self.at_place("a ) that closes no variation")),
                },
                _ if depth > 0 => self.variations.read(self.words.start, token),
                Token::Comment(text) => self.comment(text),
                Token::Number(number) => self.number = Some(number),
                Token::Dots => {}
                Token::Glyph(_) => self.keep(note(token)),
                Token::Word(word) => self.word(word)?,
            }
        }
        if depth > 0 {
            self.words.start = opened;
            return Err(self.at_place("a variation that is never closed: expected a )"));
        }
        self.finish()
    }

    fn tag(&mut self, tag: &Tag<'_>) -> Result<(), String> {
        if self.keeps_notes {
            self.read.notes.tags.push((decode(tag.name).into_owned(), tag.value().into_owned()));
        }
        self.header.read(tag).map_err(|text| self.of_game(text))
    }

    /// The current position.
    fn board(&mut self) -> Result<Board, String> {
        if let Some(board) = self.board {
            return Ok(board);
        }
        let board = self.header.start().map_err(|text| self.of_game(text))?;
        (self.read.start, self.board) = (board, Some(board));
        Ok(board)
    }

    fn keep(&mut self, notes: impl IntoIterator<Item = Note>) {
        if self.keeps_notes {
            self.read.notes.moves.last_mut().expect("the list before the first move").extend(notes);
        }
    }

    fn comment(&mut self, text: &[u8]) {
        if self.keeps_notes {
            self.keep(note(Token::Comment(text)));
        }
        let count = self.read.moves.len();
        let Some(last) = self.read.moves.last_mut() else { return };
        if let Some(remark) = Remark::parse(text).filter(|_| !self.is_remarked) {
            self.is_remarked = true;
            let mover = self.before.side_to_move();
            match remark {
                Remark::Book => (last.book, last.score) = (true, None),
                Remark::Score(score) => {
                    // It takes the place of the evaluation of the position.
                    self.read.white_scores.pop_if(|number| *number + 1 == count);
                    last.score = self.scores.map(|side| match side {
                        ScoreSide::White => score.white_or(mover),
                        ScoreSide::Mover => score,
                    });
                }
                Remark::WhiteScore(score) => {
                    last.score = self.scores.map(|_| score.white_or(mover));
                    self.read.white_scores.push(count - 1);
                }
                Remark::After(score) => {
                    self.next_score = self.scores.map(|_| score);
                    self.read.white_scores.push(count);
                }
            }
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), String> {
        if word == b"0-0" && self.header.both_lost && self.words.is_at_end() {
            return Ok(());
        }
        if let Some(spelled) = Spelled::parse(word) {
            return self.play(word, spelled);
        }
        if let Some(outcome) = result(word) {
            return match self.outcome {
                Some(before) if before != outcome => Err(self.at_word(word, "a second result")),
                _ => {
                    self.outcome = Some(outcome);
                    Ok(())
                }
            };
        }
        if !is_known_remark(word) {
            return Err(self.at_word(word, NO_MOVE));
        }
        self.keep(note(Token::Word(word)));
        Ok(())
    }

    fn play(&mut self, word: &[u8], spelled: Spelled) -> Result<(), String> {
        let board = self.board()?;
        if self.outcome.is_some() {
            self.number = None;
            self.late_moves += 1;
            return Ok(());
        }
        if let Some(number) = self.number.take() {
            let number = i64::from(number);
            let of_board = i64::from(board.fullmove_number());
            let first = if self.header.fen.is_some() { number - of_board } else { 0 };
            let due = of_board + *self.offset.get_or_insert(first);
            if number != due {
                return Err(self.at_word(word, &format!("the number {number}, expected {due}")));
            }
        }
        let mv = spelled.find(&board).map_err(|refusal| self.at_word(word, refusal))?;
        let score = self.next_score.take().map(|score| score.white_or(board.side_to_move()));
        self.read.moves.push(PlayedMove::scored(mv, score));
        if self.keeps_notes {
            self.read.notes.moves.push(notes_of_move(word));
        }
        self.is_remarked = false;
        self.before = board;
        self.board = Some(board.after(mv));
        Ok(())
    }

    fn finish(mut self) -> Result<Read, String> {
        self.board()?;
        if self.header.count == 0 && self.read.moves.is_empty() {
            let text = self.game.text.trim_ascii_start();
            let what = match text {
                [b'{', b'"', ..] | [b'[', b'{', ..] => ": it looks like JSON",
                _ => "",
            };
            return Err(self.of_game(format!("neither tags nor moves{what}")));
        }
        let tag = self.header.tags.result;
        self.read.result = match (tag, self.outcome.flatten()) {
            (Some(tag), Some(end)) if tag != end => {
                return Err(self.of_game(format!("the result tag says {tag}, the moves end in {end}")));
            }
            (tag, end) => tag.or(end),
        };
        if let (Some(board), Some(given)) = (self.board, self.read.result)
            && !board.has_legal_move()
        {
            let on_board = if board.in_check() { GameResult::win_of(!board.side_to_move()) } else { GameResult::Draw };
            if given != on_board {
                return Err(self.of_game(format!("the result is {given}, on the board it is {on_board}")));
            }
        }
        if self.late_moves > 0 {
            return Err(self.of_game(format!("{} moves after the result", self.late_moves)));
        }
        self.read.tags = std::mem::take(&mut self.header.tags);
        Ok(self.read)
    }

    /// A problem of the game, with its players.
    fn of_game(&self, text: String) -> String {
        let [white, black] = &self.header.tags.players;
        if white.is_empty() && black.is_empty() {
            return text;
        }
        format!("{}: {text}", shown(&format!("{white} - {black}")))
    }

    fn at_place(&self, text: &str) -> String {
        let line = self.game.line + self.words.lines_before();
        self.of_game(format!("{text} (line {line})"))
    }

    /// A problem of a word of the main line, with the number of its move.
    fn at_word(&self, word: &[u8], text: &str) -> String {
        let board = self.board.unwrap_or(self.read.start);
        let dots = if board.side_to_move() == Color::White { "." } else { "..." };
        let word = shown(&decode(word));
        let line = self.game.line + self.words.lines_before();
        self.of_game(format!("{}{dots} {word}: {text} (line {line})", board.fullmove_number()))
    }
}

/// What a message repeats of a game.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}
