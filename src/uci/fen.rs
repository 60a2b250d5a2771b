//! Incomplete FENs.
//!
//! The board parses FENs strictly. Other programs omit fields at the end, write `-` for a counter, or append the
//! operations of an EPD. Such a FEN is completed here, with notes of the assumptions; every other is refused, since a
//! game from a wrong position is lost.

use dyad_engine::board::quote;

use super::go::number;

/// EPD operations that are accepted without a semicolon at the end.
const OPERATIONS: [&str; 14] =
    ["acd", "acn", "acs", "am", "bm", "c0", "ce", "dm", "fmvn", "hmvc", "id", "pm", "pv", "sm"];

/// A strict FEN for the same position, and the assumptions. A text that is not understood is returned unchanged.
pub fn complete(fen: &str) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let mut fields = fen.split_whitespace().peekable();
    let mut complete = fields.next().unwrap_or_default().to_string();
    for (name, default) in [("side to move", "w"), ("castling", "-"), ("en passant square", "-")] {
        let field = fields.next().unwrap_or_else(|| {
            notes.push(format!("no {name}: {default}"));
            default
        });
        complete += &format!(" {field}");
    }
    for (name, least) in [("halfmove clock", 0), ("fullmove number", 1)] {
        // Some files end a line by a semicolon.
        let counter = |field: &str| field.strip_suffix(';').unwrap_or(field).to_string();
        let field = fields.next_if(|field| ["-", "-;"].contains(field) || number(&counter(field)).is_some());
        let field = field.map(counter);
        let value = field.as_deref().and_then(number).map_or(least, |number| number.max(least));
        match field {
            None => notes.push(format!("{name} {value}")),
            Some(field) if field.bytes().all(|byte| byte.is_ascii_digit()) => {}
            Some(field) => notes.push(format!("{name} {value} for {}", quote(&field))),
        }
        complete += &format!(" {value}");
    }
    let rest: Vec<&str> = fields.collect();
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        let listed = last.ends_with(';') && first.starts_with(|c: char| c.is_ascii_alphabetic());
        if !(listed || OPERATIONS.contains(first)) {
            return (fen.to_string(), Vec::new());
        }
        notes.push(format!("EPD operations ignored: {}", quote(&rest.join(" "))));
    }
    (complete, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

    #[test]
    fn what_has_one_meaning_is_completed() {
        for (fields, expected, notes) in [
            ("w KQkq - 0 1", "w KQkq - 0 1", ""),
            ("w KQkq -", "w KQkq - 0 1", "halfmove clock 0, fullmove number 1"),
            ("w KQkq - 7", "w KQkq - 7 1", "fullmove number 1"),
            ("w KQkq", "w KQkq - 0 1", "no en passant square: -, halfmove clock 0, fullmove number 1"),
            ("w KQkq - - -", "w KQkq - 0 1", "halfmove clock 0 for '-', fullmove number 1 for '-'"),
            ("w KQkq - -1 -1", "w KQkq - 0 1", "halfmove clock 0 for '-1', fullmove number 1 for '-1'"),
            ("w KQkq - 1.5 1", "w KQkq - 1 1", "halfmove clock 1 for '1.5'"),
            ("w KQkq - 0 1;", "w KQkq - 0 1", ""),
            ("w KQkq - 3;", "w KQkq - 3 1", "fullmove number 1"),
            (
                "w KQkq - bm e4; id \"x 1\";",
                "w KQkq - 0 1",
                "halfmove clock 0, fullmove number 1, EPD operations ignored: 'bm e4; id \\\"x 1\\\";'",
            ),
            ("w KQkq - 0 1 bm e4", "w KQkq - 0 1", "EPD operations ignored: 'bm e4'"),
            (
                "",
                "w - - 0 1",
                "no side to move: w, no castling: -, no en passant square: -, halfmove clock 0, fullmove number 1",
            ),
        ] {
            let (complete, assumed) = complete(&format!("{START} {fields}"));
            let board = Board::from_fen(&complete).unwrap_or_else(|error| panic!("{fields}: {error}"));
            assert_eq!((board.fen(), assumed.join(", ")), (format!("{START} {expected}"), notes.to_string()));
        }
    }

    #[test]
    fn what_may_have_two_meanings_is_refused() {
        for rest in [
            "KQkq",
            "KQkq - 0 1",
            "x KQkq - 0 1",
            "w 0 1",
            "w KQkq 0 1",
            "w KQkq - 0 1; 2",
            "w KQkq ee 0 1",
            "w KQkq e9 0 1",
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
