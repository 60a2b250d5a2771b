//! The UCI lines of a search.
//!
//! `vampirc-uci` writes them, except for moves, whose notation the board knows, and `currmovenumber`, which it
//! misspells.

use std::borrow::Cow;
use std::time::Duration;

use dyad_engine::board::{Board, Move};
use dyad_engine::search::{Bound, Info, Score};
use vampirc_uci::{Serializable, UciInfoAttribute as Attribute, UciMessage};

/// An info line on the root position `board`.
pub fn info_line(info: &Info, board: &Board, show_wdl: bool) -> String {
    let mut attributes = vec![
        Attribute::Depth(saturate(info.depth, u8::MAX)),
        Attribute::SelDepth(saturate(info.seldepth, u8::MAX)),
        Attribute::MultiPv(saturate(info.multipv, u16::MAX)),
        score(info.score, info.bound),
    ];
    if show_wdl {
        let [win, draw, loss] = info.wdl;
        attributes.push(Attribute::Any("wdl".to_string(), format!("{win} {draw} {loss}")));
    }
    attributes.extend([
        Attribute::Nodes(info.nodes),
        Attribute::Nps(nps(info.nodes, info.time)),
        Attribute::HashFull(saturate(info.hashfull, u16::MAX)),
        Attribute::TbHits(info.tbhits),
        Attribute::Time(vampirc_uci::Duration::milliseconds(saturate(info.time.as_millis(), i64::MAX))),
        Attribute::Any("pv".to_string(), line(board, &info.pv)),
    ]);
    UciMessage::Info(attributes).serialize()
}

/// The info line of a position without a legal move.
pub fn ended_line(board: &Board) -> String {
    let score = if board.in_check() { Score::Mate(0) } else { Score::Cp(0) };
    UciMessage::Info(vec![Attribute::Depth(0), self::score(score, Bound::Exact)]).serialize()
}

/// The `currmove` line; the first root move has number 1.
pub fn current_move_line(board: &Board, depth: u32, mv: Move, number: usize) -> String {
    format!("info depth {depth} currmove {} currmovenumber {number}", board.uci(mv))
}

/// The `bestmove` line.
pub fn best_move_line(board: &Board, best: Option<Move>, ponder: Option<Move>) -> String {
    match (best, ponder) {
        (None, _) => "bestmove 0000".to_string(),
        (Some(best), None) => format!("bestmove {}", board.uci(best)),
        (Some(best), Some(ponder)) => format!("bestmove {} ponder {}", board.uci(best), board.after(best).uci(ponder)),
    }
}

/// Words that XBoard takes for the failed start of an engine, after which it reads no more of the engine's lines, and
/// what is printed in their place.
const XBOARD_ERRORS: [(&str, &str); 6] = [
    ("no such file", "no file"),
    ("not found", "missing"),
    ("permission denied", "access refused"),
    ("can't alloc", "cannot alloc"),
    ("unknown host", "unknown name"),
    ("no remote directory", "no remote folder"),
];

/// An `info string` line. Control characters of the text are replaced by blanks.
pub fn info_string(text: &str) -> String {
    UciMessage::info_string(text.replace(char::is_control, " ")).serialize()
}

/// A line as it is printed: info strings without the words that XBoard takes for a failed start.
pub fn printable(line: &str) -> Cow<'_, str> {
    let mut line = Cow::Borrowed(line);
    if !line.starts_with("info string ") {
        return line;
    }
    for (words, others) in XBOARD_ERRORS {
        while let Some(at) = line.to_ascii_lowercase().find(words) {
            line.to_mut().replace_range(at..at + words.len(), others);
        }
    }
    line
}

/// Nodes per second.
pub fn nps(nodes: u64, time: Duration) -> u64 {
    let microseconds = time.as_micros().max(1);
    saturate(u128::from(nodes) * 1_000_000 / microseconds, u64::MAX)
}

fn score(score: Score, bound: Bound) -> Attribute {
    let (cp, mate) = match score {
        Score::Cp(cp) => (Some(cp), None),
        Score::Mate(moves) => (None, Some(moves.clamp(i8::MIN.into(), i8::MAX.into()) as i8)),
    };
    Attribute::Score {
        cp,
        mate,
        lower_bound: (bound == Bound::Lower).then_some(true),
        upper_bound: (bound == Bound::Upper).then_some(true),
    }
}

/// The moves of a line. The board of each move determines its notation.
fn line(board: &Board, moves: &[Move]) -> String {
    let mut board = *board;
    let texts = moves.iter().map(|&mv| {
        let text = board.uci(mv);
        board = board.after(mv);
        text
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Converts a number to the type of its field in a message; `largest` if it does not fit.
fn saturate<Number: TryInto<Field>, Field>(number: Number, largest: Field) -> Field {
    number.try_into().unwrap_or(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> Info {
        let board = Board::startpos();
        let e4 = board.parse_uci("e2e4").expect("it is legal");
        Info {
            depth: 12,
            seldepth: 300,
            multipv: 1,
            value: 62,
            bound: Bound::Exact,
            nodes: 1_000_000,
            time: Duration::from_millis(500),
            hashfull: 17,
            tbhits: 0,
            pv: vec![e4],
            wdl: [300, 500, 200],
            score: Score::Cp(31),
        }
    }

    #[test]
    fn lines_of_a_search() {
        let board = Board::startpos();
        let rest = "nodes 1000000 nps 2000000 hashfull 17 tbhits 0 time 500 pv e2e4";
        let begin = "info depth 12 seldepth 255 multipv 1 score";
        for (info, wdl, score) in [
            (info(), false, "cp 31"),
            (info(), true, "cp 31 wdl 300 500 200"),
            (Info { score: Score::Cp(-5), bound: Bound::Lower, ..info() }, false, "cp -5 lowerbound"),
            (Info { score: Score::Mate(-3), bound: Bound::Upper, ..info() }, false, "mate -3 upperbound"),
            (Info { score: Score::Mate(5), ..info() }, true, "mate 5 wdl 300 500 200"),
        ] {
            assert_eq!(info_line(&info, &board, wdl), format!("{begin} {score} {rest}"));
        }
    }

    #[test]
    fn best_moves() {
        let board = Board::from_fen("4k3/P7/8/8/8/8/8/4K2R w K - 0 1").expect("a good FEN");
        let mv = |board: &Board, text: &str| board.parse_uci(text).expect("it is legal");
        let castling = mv(&board, "e1g1");
        let reply = mv(&board.after(castling), "e8d7");
        assert_eq!(best_move_line(&board, None, None), "bestmove 0000");
        assert_eq!(best_move_line(&board, Some(castling), Some(reply)), "bestmove e1g1 ponder e8d7");
        assert_eq!(best_move_line(&board, Some(mv(&board, "a7a8n")), None), "bestmove a7a8n");
        assert_eq!(current_move_line(&board, 9, castling, 3), "info depth 9 currmove e1g1 currmovenumber 3");
    }

    #[test]
    fn info_strings_have_no_words_of_a_failed_start() {
        for (line, expected) in [
            (
                "info string a: No such file or directory (os error 2)",
                "info string a: no file or directory (os error 2)",
            ),
            ("info string b NOT FOUND, not found", "info string b missing, missing"),
            ("info string c: Permission denied", "info string c: access refused"),
            ("info string can't allocate", "info string cannot allocate"),
            ("info string unknown host", "info string unknown name"),
            ("info string é No remote directory é", "info string é no remote folder é"),
            ("info depth 1 pv not found", "info depth 1 pv not found"),
        ] {
            assert_eq!(printable(line), expected);
        }
    }

    #[test]
    fn ended_games() {
        let line = |fen| ended_line(&Board::from_fen(fen).expect("a good FEN"));
        assert_eq!(line("7k/6Q1/5K2/8/8/8/8/8 b - - 0 1"), "info depth 0 score mate 0");
        assert_eq!(line("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), "info depth 0 score cp 0");
    }

    #[test]
    fn no_time_is_no_division_by_zero() {
        assert_eq!(nps(5, Duration::ZERO), 5_000_000);
        assert_eq!(nps(u64::MAX, Duration::ZERO), u64::MAX);
    }
}
