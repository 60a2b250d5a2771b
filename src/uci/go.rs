//! The arguments of `go`.
//!
//! GUIs and users send huge numbers, negative clocks, arguments of other engines and the clock of one side only. Each
//! argument is parsed separately: invalid ones are reported and skipped. Numbers saturate, and are clamped to a valid
//! range when they become [`Limits`].

use std::collections::BTreeMap;
use std::time::Duration;

use dyad_engine::board::{Board, Color, Move, quote};
use dyad_engine::search::{Clock, Limits};
use dyad_engine::value::MAX_PLY;

/// The arguments of `go` as given.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Search until `stop`.
    pub infinite: bool,
    /// Search on the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// Moves to search, as text, because only the position can parse them.
    pub searchmoves: Vec<String>,
    numbers: BTreeMap<&'static str, i64>,
    /// Errors of arguments, for the user.
    pub notes: Vec<String>,
}

/// The arguments that are followed by a number.
const NUMBERS: [&str; 10] =
    ["wtime", "btime", "winc", "binc", "movestogo", "movetime", "depth", "nodes", "mate", "perft"];

/// Upper bound of times in milliseconds: a year, sums of which do not overflow.
const MAX_TIME: i64 = 365 * 24 * 60 * 60 * 1000;

impl Go {
    /// Parses the arguments of `go`.
    pub fn parse(text: &str) -> Go {
        let mut go = Go::default();
        let mut words = text.split_ascii_whitespace().peekable();
        let mut ignored = Vec::new();
        while let Some(word) = words.next() {
            if word.eq_ignore_ascii_case("infinite") {
                go.infinite = true;
            } else if word.eq_ignore_ascii_case("ponder") {
                go.ponder = true;
            } else if word.eq_ignore_ascii_case("searchmoves") {
                let before = go.searchmoves.len();
                while let Some(mv) = words.next_if(|word| !is_keyword(word)) {
                    go.searchmoves.push(mv.to_string());
                }
                if go.searchmoves.len() == before {
                    go.notes.push("go: searchmoves without a move".to_string());
                }
            } else if let Some(name) = number_name(word) {
                match words.next_if(|word| !is_keyword(word)) {
                    None => go.notes.push(format!("go: {word} without a number")),
                    Some(text) => match number(text) {
                        Some(number) => {
                            go.numbers.insert(name, number);
                        }
                        None => go.notes.push(format!("go: expected a number after {word}, not {}", quote(text))),
                    },
                }
            } else {
                ignored.push(word);
            }
        }
        if !ignored.is_empty() {
            go.notes.push(format!("go: ignored {}", quote(&ignored.join(" "))));
        }
        let is_given = |name: &str| go.numbers.contains_key(name);
        if is_given("movestogo") && !["wtime", "btime", "winc", "binc"].into_iter().any(is_given) {
            go.notes.push("go: movestogo without a clock".to_string());
        }
        go.notes.truncate(MAX_NOTES);
        go
    }

    /// The number behind an argument.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.numbers.get(name).copied()
    }

    /// The limits of a search of `board`, and notes for the user.
    ///
    /// An invalid argument may have been the limit. So a search without any other limit gets a clock without time, to
    /// move at once in place of searching forever.
    pub fn limits(&self, board: &Board) -> (Limits, Vec<String>) {
        let (searchmoves, illegal) = self.legal_searchmoves(board);
        let invalid = !self.notes.is_empty() || (searchmoves.is_empty() && illegal.is_some());
        let mut notes = Vec::from_iter(illegal);
        let mut limits = Limits {
            depth: self.number("depth").map(|depth| depth.clamp(1, MAX_PLY as i64 - 1) as u32),
            nodes: self.number("nodes").map(|nodes| nodes.max(1) as u64),
            mate: self.number("mate").map(|mate| mate.clamp(1, MAX_PLY as i64 / 2) as u32),
            movetime: self.number("movetime").map(|time| milliseconds(time.max(1))),
            clock: self.clock(board.side_to_move()),
            infinite: self.infinite,
            ponder: self.ponder,
            searchmoves,
        };
        let limited = limits.depth.is_some()
            || limits.nodes.is_some()
            || limits.mate.is_some()
            || limits.movetime.is_some()
            || limits.clock.is_some();
        if invalid && !limited && !limits.infinite {
            limits.clock = Some(Clock::default());
            notes.push("go: no limit was understood, so the answer comes at once".to_string());
        }
        (limits, notes)
    }

    /// The clock of `us`, if any clock was given. A GUI that sends only the other side's clock most likely means both;
    /// one that sends only increments means that no other time is left.
    fn clock(&self, us: Color) -> Option<Clock> {
        let (ours, theirs) = match us {
            Color::White => (["wtime", "winc"], ["btime", "binc"]),
            Color::Black => (["btime", "binc"], ["wtime", "winc"]),
        };
        let [ours, theirs] = [ours, theirs].map(|names| names.map(|name| self.number(name)));
        let remaining = match (ours, theirs) {
            ([Some(remaining), _], _) | ([None, None], [Some(remaining), _]) => remaining,
            ([None, None], [None, None]) => return None,
            _ => 0,
        };
        Some(Clock {
            remaining: milliseconds(remaining),
            increment: milliseconds(ours[1].unwrap_or(0)),
            moves_to_go: self.number("movestogo").filter(|&moves| moves > 0).map(|moves| moves.clamp(1, 1000) as u32),
        })
    }

    fn legal_searchmoves(&self, board: &Board) -> (Vec<Move>, Option<String>) {
        let mut legal: Vec<Move> = Vec::new();
        let mut illegal = Vec::new();
        for text in &self.searchmoves {
            match board.parse_uci(text) {
                Ok(mv) if !legal.contains(&mv) => legal.push(mv),
                Ok(_) => {}
                Err(_) => illegal.push(text.as_str()),
            }
        }
        let note = (!illegal.is_empty()).then(|| format!("searchmoves: not legal here: {}", quote(&illegal.join(" "))));
        (legal, note)
    }
}

/// Upper bound of the errors reported for one `go`.
const MAX_NOTES: usize = 4;

fn number_name(word: &str) -> Option<&'static str> {
    NUMBERS.into_iter().find(|name| word.eq_ignore_ascii_case(name))
}

fn is_keyword(word: &str) -> bool {
    ["infinite", "ponder", "searchmoves"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
        || number_name(word).is_some()
}

/// Parses a number of any length, saturated to the range of the type; a fraction is truncated.
pub fn number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !all_digits(digits) || !all_digits(fraction) {
        return None;
    }
    let size =
        digits.bytes().fold(0i64, |number, digit| number.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some(if negative { -size } else { size })
}

fn milliseconds(number: i64) -> Duration {
    Duration::from_millis(number.clamp(0, MAX_TIME) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(text: &str) -> Limits {
        Go::parse(text).limits(&Board::startpos()).0
    }

    fn clock(text: &str) -> Option<(u64, u64, Option<u32>)> {
        limits(text)
            .clock
            .map(|clock| (clock.remaining.as_millis() as u64, clock.increment.as_millis() as u64, clock.moves_to_go))
    }

    #[test]
    fn numbers_saturate() {
        assert_eq!(number("17"), Some(17));
        assert_eq!(number("+17"), Some(17));
        assert_eq!(number("-50"), Some(-50));
        assert_eq!(number("1000.5"), Some(1000));
        assert_eq!(number("99999999999999999999999999"), Some(i64::MAX));
        assert_eq!(number("-99999999999999999999999999"), Some(-i64::MAX));
        for text in ["", "-", "+", ".", ".5", "1.x", "ten", "1e5", "0x10", "--5", "5-", "٣"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn limits_of_one_kind() {
        assert_eq!(limits("depth 5").depth, Some(5));
        assert_eq!(limits("depth 300").depth, Some(MAX_PLY as u32 - 1));
        assert_eq!(limits("depth 0").depth, Some(1));
        assert_eq!(limits("DEPTH 5").depth, Some(5));
        assert_eq!(limits("nodes 1000000000000").nodes, Some(1_000_000_000_000));
        assert_eq!(limits("nodes 18446744073709551615").nodes, Some(i64::MAX as u64));
        assert_eq!(limits("mate 3").mate, Some(3));
        assert_eq!(limits("movetime 500").movetime, Some(Duration::from_millis(500)));
        assert_eq!(limits("movetime -5").movetime, Some(Duration::from_millis(1)));
        assert!(limits("infinite ").infinite);
        assert!(limits("ponder movetime 500").ponder);
    }

    #[test]
    fn clocks() {
        assert_eq!(clock("depth 3"), None);
        assert_eq!(clock("wtime 1000 btime 2000"), Some((1000, 0, None)));
        assert_eq!(clock("ponder wtime 1000 btime 2000 winc 5"), Some((1000, 5, None)));
        assert_eq!(clock("wtime -50 movestogo 300"), Some((0, 0, Some(300))));
        assert_eq!(clock("wtime 10 movestogo 0"), Some((10, 0, None)));
        assert_eq!(clock("btime 2000"), Some((2000, 0, None)));
        assert_eq!(clock("winc 100"), Some((0, 100, None)));
        assert_eq!(clock("wtime 99999999999999999999 btime 1"), Some((MAX_TIME as u64, 0, None)));
        assert_eq!(clock("wtime 1000.5 foo 7 winc 5"), Some((1000, 5, None)));
        assert_eq!(clock("wtime btime 1000"), Some((1000, 0, None)));
    }

    #[test]
    fn searchmoves_end_at_the_next_keyword() {
        let limits = limits("searchmoves e2e4 d2d4 e2e4 depth 3");
        assert_eq!(limits.depth, Some(3));
        assert_eq!(limits.searchmoves.len(), 2);
        let (limits, notes) = Go::parse("searchmoves e2e5 xyz").limits(&Board::startpos());
        assert!(limits.searchmoves.is_empty());
        assert_eq!(notes[0], "searchmoves: not legal here: 'e2e5 xyz'");
    }

    #[test]
    fn a_misread_limit_ends_the_search_at_once() {
        let immediate = |text: &str| limits(text).clock == Some(Clock::default());
        for text in [
            "wtime abc",
            "wtime",
            "depth x",
            "nodes 1e6",
            "movetime fast",
            "mate ?",
            "perft x",
            "deph 10",
            "searchmoves",
            "searchmoves a1a1",
            "movestogo 40",
            "ponder wtime abc",
        ] {
            assert!(immediate(text), "{text}");
        }
        for text in ["", "ponder", "searchmoves e2e4", "searchmoves e2e4 a1a1", "infinite foo", "depth 3 nodes x"] {
            assert!(!immediate(text), "{text}");
        }
    }

    #[test]
    fn nonsense_is_noted_and_skipped() {
        let go = Go::parse("foo 5 depth x nodes wtime 8");
        assert_eq!(
            go.notes,
            ["go: expected a number after depth, not 'x'", "go: nodes without a number", "go: ignored 'foo 5'"]
        );
        assert_eq!(go.number("wtime"), Some(8));
    }
}
