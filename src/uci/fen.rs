//! Incomplete FENs.
//!
//! The board parses FENs strictly. Other programs omit fields, write `-` for a counter, or append the operations of an
//! EPD. A FEN with one possible meaning is completed here, with notes of the assumptions; an ambiguous one is refused,
//! since a game from a wrong position is lost.

use dyad_engine::board::quote;

use super::go::number;

/// EPD operations that are accepted without a semicolon at the end.
const OPERATIONS: [&str; 14] =
    ["acd", "acn", "acs", "am", "bm", "c0", "ce", "dm", "fmvn", "hmvc", "id", "pm", "pv", "sm"];

/// A strict FEN for the same position, and the assumptions. An ambiguous text is returned unchanged.
pub fn complete(fen: &str) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    match try_complete(fen, &mut notes) {
        Some(complete) => (complete, notes),
        None => (fen.to_string(), Vec::new()),
    }
}

fn try_complete(fen: &str, notes: &mut Vec<String>) -> Option<String> {
    let mut fields = fen.split_whitespace().peekable();
    let placement = fields.next()?;
    let mut missing = |name: &str, default: &'static str| {
        notes.push(format!("no {name}: {default}"));
        default
    };
    let side = fields.next().unwrap_or_else(|| missing("side to move", "w"));
    let mut castling = fields.next().unwrap_or_else(|| missing("castling", "-"));
    if castling == "0" && fields.peek().is_some_and(|next| is_en_passant(next)) {
        notes.push("no castling for '0'".to_string());
        castling = "-";
    }
    let en_passant = match fields.next_if(|field| is_en_passant(field)) {
        Some(field) => {
            let square = field.to_ascii_lowercase();
            let rank = if side.eq_ignore_ascii_case("w") { '6' } else { '3' };
            if square == "-" || square.ends_with(rank) {
                square
            } else {
                notes.push(format!("no en passant square for {}", quote(field)));
                "-".to_string()
            }
        }
        // A counter or the end must follow: another field is not an omitted field.
        None if fields.peek().is_none_or(|next| number(next).is_some()) => {
            notes.push("no en passant square".to_string());
            "-".to_string()
        }
        None => return None,
    };
    let mut counter = |name: &str, default: i64| {
        let is_counter = |field: &str| field == "-" || number(field).is_some();
        let (value, field) = match fields.next_if(|field| is_counter(closed(field))).map(closed) {
            Some(field) => (number(field).map_or(default, |number| number.max(default)), Some(field)),
            None => (default, None),
        };
        match field {
            None => notes.push(format!("{name} {value}")),
            Some(field) if field.bytes().all(|byte| byte.is_ascii_digit()) => {}
            Some(field) => notes.push(format!("{name} {value} for {}", quote(field))),
        }
        value
    };
    let (halfmoves, fullmoves) = (counter("halfmove clock", 0), counter("fullmove number", 1));
    let rest: Vec<&str> = fields.collect();
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        let listed = last.ends_with(';') && first.starts_with(|c: char| c.is_ascii_alphabetic());
        if !(listed || OPERATIONS.contains(first)) {
            return None;
        }
        notes.push(format!("EPD operations ignored: {}", quote(&rest.join(" "))));
    }
    Some(format!("{placement} {side} {castling} {en_passant} {halfmoves} {fullmoves}"))
}

/// A field without the semicolon that ends a line in some files.
fn closed(field: &str) -> &str {
    field.strip_suffix(';').unwrap_or(field)
}

/// Whether a field can only be about en passant: `-`, a square, or what some programs write for none, such as `x`.
fn is_en_passant(field: &str) -> bool {
    let is_file = |letter: &u8| letter.is_ascii_alphabetic();
    match field.as_bytes() {
        [b'-'] => true,
        [letter] => is_file(letter),
        [letter, digit] => is_file(letter) && digit.is_ascii_digit() && !OPERATIONS.contains(&field),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board;

    #[test]
    fn what_has_one_meaning_is_completed() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        const ENDING: &str = "4k3/8/8/8/4P3/8/8/4K3";
        for (fen, expected, notes) in [
            (format!("{START} w KQkq - 0 1"), format!("{START} w KQkq - 0 1"), ""),
            (format!("{START} w KQkq -"), format!("{START} w KQkq - 0 1"), "halfmove clock 0, fullmove number 1"),
            (format!("{START} w KQkq - 7"), format!("{START} w KQkq - 7 1"), "fullmove number 1"),
            (
                format!("{START} w KQkq"),
                format!("{START} w KQkq - 0 1"),
                "no en passant square, halfmove clock 0, fullmove number 1",
            ),
            (format!("{START} w KQkq 3 9"), format!("{START} w KQkq - 3 9"), "no en passant square"),
            (
                format!("{START} w KQkq - - -"),
                format!("{START} w KQkq - 0 1"),
                "halfmove clock 0 for '-', fullmove number 1 for '-'",
            ),
            (
                format!("{START} w KQkq - -1 -1"),
                format!("{START} w KQkq - 0 1"),
                "halfmove clock 0 for '-1', fullmove number 1 for '-1'",
            ),
            (format!("{START} w KQkq - 1.5 1"), format!("{START} w KQkq - 1 1"), "halfmove clock 1 for '1.5'"),
            (
                format!("{START} w KQkq - bm e4; id \"x 1\";"),
                format!("{START} w KQkq - 0 1"),
                "halfmove clock 0, fullmove number 1, EPD operations ignored: 'bm e4; id \\\"x 1\\\";'",
            ),
            (format!("{START} w KQkq - 0 1 bm e4"), format!("{START} w KQkq - 0 1"), "EPD operations ignored: 'bm e4'"),
            (
                START.to_string(),
                format!("{START} w - - 0 1"),
                "no side to move: w, no castling: -, no en passant square, halfmove clock 0, fullmove number 1",
            ),
            (
                format!("{ENDING} b"),
                format!("{ENDING} b - - 0 1"),
                "no castling: -, no en passant square, halfmove clock 0, fullmove number 1",
            ),
            (format!("{START} w KQkq e9 0 1"), format!("{START} w KQkq - 0 1"), "no en passant square for 'e9'"),
            (format!("{START} w KQkq x 0 1"), format!("{START} w KQkq - 0 1"), "no en passant square for 'x'"),
            (format!("{START} w KQkq - 0 1;"), format!("{START} w KQkq - 0 1"), ""),
            (format!("{START} w KQkq - 3;"), format!("{START} w KQkq - 3 1"), "fullmove number 1"),
            (format!("{ENDING} b 0 - 0 1"), format!("{ENDING} b - - 0 1"), "no castling for '0'"),
            (format!("{ENDING} b - e4 0 1"), format!("{ENDING} b - - 0 1"), "no en passant square for 'e4'"),
            (format!("{ENDING} b - e6 0 1"), format!("{ENDING} b - - 0 1"), "no en passant square for 'e6'"),
            (format!("{ENDING} b - E3 0 1"), format!("{ENDING} b - - 0 1"), ""),
        ] {
            let (complete, assumed) = complete(&fen);
            let board = Board::from_fen(&complete).unwrap_or_else(|error| panic!("{fen}: {error}"));
            assert_eq!((board.fen(), assumed.join(", ")), (expected, notes.to_string()), "{fen}");
        }
    }

    #[test]
    fn what_may_have_two_meanings_is_refused() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        for rest in [
            "KQkq",
            "KQkq - 0 1",
            "x KQkq - 0 1",
            "w 0 1",
            "w KQkq - 0 1; 2",
            "w KQkq ee 0 1",
            "w KQkq x - 0 1",
            "w KQkq - x 1",
            "w KQkq - 0 x",
            "w KQkq - 0 1 e2e4",
            "w KQkq - 0 1 2",
            "w KQkq - e2e4 e7e5",
            "w KQxq - 0 1",
        ] {
            let (fen, notes) = complete(&format!("{START} {rest}"));
            assert!(Board::from_fen(&fen).is_err(), "{rest}: {fen} {notes:?}");
        }
    }
}
