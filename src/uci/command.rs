//! Parses a line to a command.
//!
//! One table lists the commands: their names, help texts and parsers. Parsing is pure, so it is tested without an
//! engine.
//!
//! `vampirc-uci` parses the simple messages of the protocol, but not `go`, `position` and `setoption`: its grammar
//! drops `ponder` next to clocks, truncates long numbers, stops at two spaces and panics on numbers above 255. The line
//! is split into words before, and a panic of the library results in an error message.

use std::panic::catch_unwind;

use dyad_engine::board::{Board, Game, quote};
use dyad_formats::epd::Epd;
use dyad_trainer::arena::openings::Variant;
use vampirc_uci::{UciMessage, parse_one};

use super::go::{Go, number};

/// A command.
#[derive(Debug)]
pub enum Command {
    /// `uci`: name the engine and list its options.
    Uci,
    /// `isready`: answer `readyok`.
    IsReady,
    /// `ucinewgame`: the next search is of another game.
    NewGame,
    /// `stop`: end the search and send `bestmove`.
    Stop,
    /// `ponderhit`: the opponent played the expected move.
    PonderHit,
    /// `quit`: end the program.
    Quit,
    /// A command without an effect.
    Nothing,
    /// `setoption`, with its arguments as text: only the table of options knows where a name ends.
    SetOption(String),
    /// `position`: set up a position and its game, or the error.
    Position(Result<Box<Game>, String>),
    /// `go`: search, or perft.
    Go(Box<Go>),
    /// `d`: print the board.
    Display,
    /// `eval`: print the static evaluation.
    Eval,
    /// `explain`: explain the static evaluation, or the difference between two moves.
    Explain(Explain),
    /// `bench`: search the positions of the benchmark.
    Bench(Bench),
    /// `genfens`: generate openings.
    Genfens(Genfens),
    /// `train`: start, stop or report a training.
    Train(Train),
    /// `help`: list the commands.
    Help,
}

/// The arguments of `explain`.
#[derive(Debug, PartialEq, Eq)]
pub struct Explain {
    /// Up to two moves, as text, because only the position can parse them.
    pub moves: Vec<String>,
    /// Nodes to search.
    pub nodes: u64,
    /// Whether to print one line of JSON.
    pub json: bool,
    /// Whether to print all parts of the difference, also that of equally good moves.
    pub all: bool,
}

impl Explain {
    /// The default of [`Explain::nodes`], about a second.
    const NODES: u64 = 1_000_000;
}

/// The arguments of `bench`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bench {
    /// The depth; `None` for the default.
    pub depth: Option<u32>,
    /// Whether to print one line of JSON.
    pub json: bool,
}

/// The arguments of `train`.
#[derive(Debug, PartialEq, Eq)]
pub enum Train {
    /// Stop; all files are kept.
    Stop,
    /// Report the progress.
    Status,
}

/// The arguments of `genfens`.
#[derive(Debug, PartialEq, Eq)]
pub struct Genfens {
    /// Number of openings.
    pub count: u64,
    /// Seed of the openings.
    pub seed: u64,
    /// A book of starting positions; `None` for the initial position.
    pub book: Option<String>,
    /// Initial positions without a book.
    pub variant: Variant,
}

struct Entry {
    word: &'static str,
    usage: &'static str,
    about: &'static str,
    /// Whether this is a UCI command, which may follow unknown words. The names of other commands are too short for
    /// that.
    protocol: bool,
    parse: fn(&str) -> Result<Command, String>,
}

#[rustfmt::skip]
const COMMANDS: [Entry; 18] = [
    Entry { word: "uci", usage: "", about: "name the engine and list its options", protocol: true, parse: |_| message("uci") },
    Entry { word: "isready", usage: "", about: "answer readyok", protocol: true, parse: |_| message("isready") },
    Entry { word: "debug", usage: "on|off", about: "accepted and ignored", protocol: true, parse: debug },
    Entry { word: "setoption", usage: "name N [value V]", about: "set an option", protocol: true, parse: |rest| Ok(Command::SetOption(rest.to_string())) },
    Entry { word: "register", usage: "", about: "accepted and ignored", protocol: true, parse: |_| Ok(Command::Nothing) },
    Entry { word: "ucinewgame", usage: "", about: "clear hash table and histories", protocol: true, parse: |_| message("ucinewgame") },
    Entry { word: "position", usage: "startpos|fen F [moves M...]", about: "set up a position", protocol: true, parse: |rest| Ok(Command::Position(position(rest).map(Box::new))) },
    Entry { word: "go", usage: "[depth N] [infinite] ...", about: "search; go perft N counts positions, move by move", protocol: true, parse: |rest| Ok(Command::Go(Box::new(Go::parse(rest)))) },
    Entry { word: "stop", usage: "", about: "end the search", protocol: true, parse: |_| message("stop") },
    Entry { word: "ponderhit", usage: "", about: "the move pondered on was played", protocol: true, parse: |_| message("ponderhit") },
    Entry { word: "quit", usage: "", about: "end the program", protocol: true, parse: |_| message("quit") },
    Entry { word: "d", usage: "", about: "show the board", protocol: false, parse: |_| Ok(Command::Display) },
    Entry { word: "eval", usage: "", about: "show the static evaluation", protocol: false, parse: |_| Ok(Command::Eval) },
    Entry { word: "explain", usage: "[MOVE [MOVE]] [nodes N] [--all] [--json]", about: "explain the evaluation, or why one move is better than another", protocol: false, parse: explain },
    Entry { word: "bench", usage: "[DEPTH] [--json]", about: "search the positions of the benchmark", protocol: false, parse: bench },
    Entry { word: "genfens", usage: "N seed S book None|FILE [chess960|dfrc]", about: "make N openings", protocol: false, parse: genfens },
    Entry { word: "train", usage: "stop|status", about: "self-play training; options Train...", protocol: false, parse: train },
    Entry { word: "help", usage: "", about: "this list", protocol: false, parse: |_| Ok(Command::Help) },
];

/// Parses a line to a command, or `None` if it is empty.
///
/// Unknown words before a command are skipped, as UCI requires.
pub fn parse(line: &str) -> Result<Option<Command>, String> {
    let line = line.trim_start_matches('\u{feff}').trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let mut rest = line;
    let mut first = true;
    while !rest.is_empty() {
        let (word, after) = split_word(rest);
        if let Some(entry) = find(word).filter(|entry| first || entry.protocol) {
            return (entry.parse)(after).map(Some);
        }
        (rest, first) = (after, false);
    }
    Err(format!("unknown command {}; help lists the commands", quote(line)))
}

/// Whether the first word of an argument of the program is a command. `train` is not: as an argument it is a tool.
pub fn is_command(text: &str) -> bool {
    find(split_word(text).0).is_some_and(|entry| entry.word != "train")
}

/// The lines of `help`.
pub fn help() -> Vec<String> {
    COMMANDS
        .iter()
        .map(|entry| {
            let call = format!("{} {}", entry.word, entry.usage);
            format!("  {:<38} {}", call.trim_end(), entry.about)
        })
        .collect()
}

fn find(word: &str) -> Option<&'static Entry> {
    COMMANDS.iter().find(|entry| entry.word.eq_ignore_ascii_case(word))
}

/// Splits off the first word.
pub fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    let end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii_start())
}

/// Parses a simple message by the library.
fn message(line: &str) -> Result<Command, String> {
    let unexpected = || format!("expected a UCI message, not {}", quote(line));
    match catch_unwind(|| parse_one(line)).map_err(|_| unexpected())? {
        UciMessage::Uci => Ok(Command::Uci),
        UciMessage::IsReady => Ok(Command::IsReady),
        UciMessage::Debug(_) => Ok(Command::Nothing),
        UciMessage::UciNewGame => Ok(Command::NewGame),
        UciMessage::Stop => Ok(Command::Stop),
        UciMessage::PonderHit => Ok(Command::PonderHit),
        UciMessage::Quit => Ok(Command::Quit),
        _ => Err(unexpected()),
    }
}

fn debug(rest: &str) -> Result<Command, String> {
    let (word, _) = split_word(rest);
    match message(&format!("debug {word}")) {
        Ok(command) => Ok(command),
        Err(_) => Err(format!("debug: expected on or off, not {}", quote(word))),
    }
}

fn position(rest: &str) -> Result<Game, String> {
    let (kind, rest) = split_word(rest);
    let (board, rest) = if kind.eq_ignore_ascii_case("startpos") {
        (Board::startpos(), rest)
    } else if kind.eq_ignore_ascii_case("fen") {
        let (text, rest) = split_at(rest, "moves");
        (read_fen(text)?, rest)
    } else {
        return Err(format!("expected startpos or fen, not {}", quote(kind)));
    };
    let (word, moves) = split_word(rest);
    if !word.is_empty() && !word.eq_ignore_ascii_case("moves") {
        return Err(format!("expected moves, not {}", quote(word)));
    }
    play(board, moves)
}

/// The position of a FEN or of a line of an EPD file, which may lack the clocks or have operations in their place. What
/// else follows a FEN is an error: a game from a wrong position is lost.
fn read_fen(text: &str) -> Result<Board, String> {
    let is_clock = |word: &str| word == "-" || number(word).is_some();
    let mut rest = text.split_ascii_whitespace().skip(4);
    let has_clocks_at_most = rest.by_ref().take(2).all(is_clock) && rest.next().is_none();
    let is_epd = has_clocks_at_most || text.trim_ascii_end().ends_with(';');
    match Board::from_fen(text) {
        Err(_) if is_epd => Epd::parse(text).map(|epd| epd.board),
        board => board.map_err(|error| error.to_string()),
    }
}

/// Splits the text before a word.
pub fn split_at<'a>(text: &'a str, at: &str) -> (&'a str, &'a str) {
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = split_word(rest);
        if word.eq_ignore_ascii_case(at) {
            return (&text[..text.len() - rest.len()], rest);
        }
        rest = after;
    }
    (text, "")
}

fn play(board: Board, moves: &str) -> Result<Game, String> {
    let mut game = Game::new(board);
    for (index, text) in moves.split_ascii_whitespace().enumerate() {
        let mv = game.board().parse_uci(text).map_err(|error| format!("move {}: {error}", index + 1))?;
        game.push(mv);
    }
    Ok(game)
}

fn bench(rest: &str) -> Result<Command, String> {
    let mut found = Bench::default();
    for word in rest.split_ascii_whitespace() {
        if word.eq_ignore_ascii_case("--json") {
            found.json = true;
            continue;
        }
        let depth = number(word).filter(|depth| (1..=100).contains(depth) && found.depth.is_none());
        let depth = depth.ok_or_else(|| format!("bench: expected a depth from 1 to 100, not {}", quote(word)))?;
        found.depth = Some(depth as u32);
    }
    Ok(Command::Bench(found))
}

/// Parses the arguments of `explain`: up to two moves, the number of nodes, `--all` and `--json`.
fn explain(rest: &str) -> Result<Command, String> {
    let mut found = Explain { moves: Vec::new(), nodes: Explain::NODES, json: false, all: false };
    let mut words = rest.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match word.to_ascii_lowercase().as_str() {
            "--json" => found.json = true,
            "--all" => found.all = true,
            "nodes" => found.nodes = natural("explain", "a number of nodes", words.next(), 1)?,
            _ if found.moves.len() == 2 => {
                return Err(format!("explain: expected at most two moves, and then {}", quote(word)));
            }
            _ => found.moves.push(word.to_string()),
        }
    }
    Ok(Command::Explain(found))
}

/// Parses the arguments of `genfens`: `N seed S book B` as test frameworks send them, then `chess960` or `dfrc`. Other
/// words are ignored.
fn genfens(rest: &str) -> Result<Command, String> {
    let mut words = rest.split_ascii_whitespace();
    let count = natural("genfens", "a number of openings", words.next(), 0)?;
    let mut found = Genfens { count, seed: 0, book: None, variant: Variant::Standard };
    while let Some(word) = words.next() {
        match word.to_ascii_lowercase().as_str() {
            "chess960" => found.variant = Variant::Chess960,
            "dfrc" => found.variant = Variant::DoubleChess960,
            "seed" => found.seed = natural("genfens", "a number as seed", words.next(), 0)?,
            "book" => {
                let book = words.next().filter(|book| !book.eq_ignore_ascii_case("none"));
                found.book = book.map(str::to_string);
            }
            _ => {}
        }
    }
    Ok(Command::Genfens(found))
}

/// Parses a number of an own command, at least `least`.
fn natural(command: &str, expected: &str, word: Option<&str>, least: i64) -> Result<u64, String> {
    let word = word.unwrap_or_default();
    number(word)
        .filter(|&number| number >= least)
        .map(|number| number as u64)
        .ok_or_else(|| format!("{command}: expected {expected}, not {}", quote(word)))
}

fn train(rest: &str) -> Result<Command, String> {
    let (word, _) = split_word(rest);
    match word.to_ascii_lowercase().as_str() {
        "stop" => Ok(Command::Train(Train::Stop)),
        "status" => Ok(Command::Train(Train::Status)),
        _ => Err(format!("train: expected stop or status, not {}", quote(word))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The command of a line as text.
    fn kind(line: &str) -> String {
        match parse(line) {
            Err(_) | Ok(Some(Command::Position(Err(_)))) => "error".to_string(),
            Ok(None) => "none".to_string(),
            Ok(Some(Command::Position(Ok(game)))) => format!("position {}", game.board().fen()),
            Ok(Some(Command::Go(_))) => "go".to_string(),
            Ok(Some(Command::Explain(Explain { moves, nodes, json, all }))) => {
                format!("explain {moves:?} {nodes} {json} {all}")
            }
            Ok(Some(Command::Genfens(Genfens { count, seed, book, variant }))) => {
                format!("genfens {count} {seed} {book:?} {variant:?}")
            }
            Ok(Some(command)) => format!("{command:?}"),
        }
    }

    fn check(cases: &[(&str, &str)]) {
        for (line, expected) in cases {
            assert_eq!(kind(line), *expected, "{line:?}");
        }
    }

    #[test]
    fn plain_messages() {
        check(&[
            ("", "none"),
            (" \t\r", "none"),
            ("uci", "Uci"),
            ("\u{feff}uci", "Uci"),
            ("UCI\r", "Uci"),
            ("  isready  ", "IsReady"),
            ("IsReady now", "IsReady"),
            ("debug on", "Nothing"),
            ("debug\toff", "Nothing"),
            ("debug", "error"),
            ("debug maybe", "error"),
            ("ucinewgame", "NewGame"),
            ("stop", "Stop"),
            ("ponderhit", "PonderHit"),
            ("quit", "Quit"),
            ("register later", "Nothing"),
            ("register name value code 4359874324", "Nothing"),
            ("d", "Display"),
            ("help", "Help"),
        ]);
    }

    #[test]
    fn a_command_is_a_whole_word_and_may_follow_unknown_ones() {
        check(&[
            ("isreadyfoo", "error"),
            ("ucinewgamex", "error"),
            ("ponderhitter", "error"),
            ("joho debug on", "Nothing"),
            ("foo bar isready", "IsReady"),
            ("foo d", "error"),
            ("bench d", "error"),
            ("go perft 3", "go"),
        ]);
    }

    #[test]
    fn options_keep_their_text() {
        check(&[
            ("setoption name Hash value 128 ", "SetOption(\"name Hash value 128\")"),
            ("setoption  name X value a  b", "SetOption(\"name X value a  b\")"),
        ]);
    }

    #[test]
    fn positions() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let start = format!("position {start}");
        let bare = "position 4k3/8/8/8/8/8/8/4K2R b K - 0 1";
        check(&[
            ("position startpos", &start),
            ("position  STARTPOS  moves", &start),
            ("position startpos moves  g1f3 g8f6\tf3g1 f6g8 ", &start.replace("0 1", "4 3")),
            ("position startpos e2e4", "error"),
            ("position startpos moves e2e4 0000 e7e5", "error"),
            ("position startpos moves e2e4 xyz", "error"),
            ("position fen 4k3/8/8/8/8/8/8/4K2R b K -", bare),
            ("position fen  4k3/8/8/8/8/8/8/4K2R  b  K  -  0  1 ", bare),
            ("position fen 4k3/8/8/8/8/8/8/4K2R w K - moves h1h8", "position 4k2R/8/8/8/8/8/8/4K3 b - - 1 1"),
            ("position fen 4k3/8/8/8/8/8/8/4K2R b K - - - moves e8d8", "position 3k4/8/8/8/8/8/8/4K2R w K - 1 2"),
            ("position fen 4k3/8/8/8/8/8/8/4K2R b K - bm Kd7; id \"x 1\";", bare),
            ("position fen 4k3/8/8/8/8/8/8/4K2R b K", "error"),
            ("position fen 4k3/8/8/8/8/8/8/4K2R b K - 0 1 e8d8", "error"),
            ("position fen 4k3/8/8/8/8/8/8/4K2R b K - e8d8 e1e2", "error"),
            ("position fen 4k3/8/8/8/8/8/8/4K2R b K - 0 1 2", "error"),
            ("position fen", "error"),
            ("position fen moves e2e4", "error"),
            ("position", "error"),
            ("position rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "error"),
        ]);
    }

    #[test]
    fn an_illegal_move_is_reported_with_its_place() {
        let Ok(Some(Command::Position(Err(error)))) = parse("position startpos moves e2e4 e7e4") else {
            panic!("the move is not legal");
        };
        assert!(error.starts_with("move 2: move 'e7e4' is not legal in rnbqkbnr/"), "{error}");
    }

    #[test]
    fn own_commands() {
        check(&[
            ("bench", "Bench(Bench { depth: None, json: false })"),
            ("bench 5", "Bench(Bench { depth: Some(5), json: false })"),
            ("bench 5 --json", "Bench(Bench { depth: Some(5), json: true })"),
            ("bench 5 6", "error"),
            ("bench 0", "error"),
            ("explain", "explain [] 1000000 false false"),
            ("explain Nf3 --json", "explain [\"Nf3\"] 1000000 true false"),
            ("explain e2e4  Nf3", "explain [\"e2e4\", \"Nf3\"] 1000000 false false"),
            ("explain last nodes 5000", "explain [\"last\"] 5000 false false"),
            ("explain e4 d4 --all", "explain [\"e4\", \"d4\"] 1000000 false true"),
            ("explain e2e4 g1f3 d2d4", "error"),
            ("explain e2e4 nodes", "error"),
            ("explain e2e4 nodes 0", "error"),
            ("genfens 100 seed 1 book None", "genfens 100 1 None Standard"),
            ("genfens 3 seed 7 book a.epd extra", "genfens 3 7 Some(\"a.epd\") Standard"),
            ("genfens 3 seed 7 book None dfrc", "genfens 3 7 None DoubleChess960"),
            ("genfens 3 Chess960 other seed 7", "genfens 3 7 None Chess960"),
            ("genfens 3", "genfens 3 0 None Standard"),
            ("genfens", "error"),
            ("genfens x", "error"),
            ("genfens -3", "error"),
            ("genfens 3 seed", "error"),
            ("train STOP now", "Train(Stop)"),
            ("train stop", "Train(Stop)"),
            ("train status", "Train(Status)"),
            ("train", "error"),
            ("train on", "error"),
            ("please train status", "error"),
        ]);
    }

    proptest! {
        #[test]
        fn any_line_is_survived(line in any::<String>()) {
            drop(parse(&line));
        }

        #[test]
        fn any_words_are_survived(words in vec("go|position|fen|startpos|moves|depth|wtime|-?[0-9]{1,40}|[a-h][1-8][a-h][1-8]|setoption|name|genfens|bench|seed", 0..12)) {
            drop(parse(&words.join(" ")));
        }
    }
}
