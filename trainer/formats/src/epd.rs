//! Positions from EPD files: four FEN fields, then operations.
//!
//! Three operations are used: `bm` the move to prefer, `ce` the value that a search gave the position (centipawns from
//! the side to move), and the result of the game, which files keep in `c9` or another comment, or in brackets behind
//! the position (`[0.5]`). `hmvc` and `fmvn` hold the clocks. A comment that is no result is left alone: the same `c9`
//! holds lists of moves elsewhere.

use dyad_engine::board::{Board, Move};

use crate::remark;
use crate::score::{GameResult, Score};

/// A line of an EPD file.
#[derive(Clone)]
pub struct Epd {
    /// The position.
    pub board: Board,
    /// The first of the best moves, which may be in UCI notation.
    pub best: Option<Move>,
    /// The result of the game it comes from.
    pub result: Option<GameResult>,
    /// Its value from the side to move.
    pub score: Option<Score>,
}

impl Epd {
    /// Reads a line; FEN lines with clocks are understood too.
    ///
    /// ```
    /// # use dyad_formats::epd::Epd;
    /// let epd = Epd::parse(r#"6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; ce 900; c9 "1-0";"#)?;
    /// assert_eq!(epd.board.san(epd.best.unwrap()), "Ra8#");
    /// assert_eq!(epd.score.unwrap().pawns(), 9.0);
    /// assert!(Epd::parse("6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Rb8;").is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// Says what is wrong with the line.
    pub fn parse(line: &str) -> Result<Epd, String> {
        let (fields, mut rest) = split_fields(line, 4).ok_or("expected four fields of a FEN")?;
        // Some writers end the fields as if they were an operation.
        let fields = fields.trim_end_matches(';');
        let mut clocks = [None, None];
        for clock in &mut clocks {
            let Some((word, after)) = split_fields(rest, 1) else { break };
            let number = word.trim_end_matches(';');
            if !is_number(number) {
                if number.starts_with(|c: char| c.is_ascii_digit()) && remark::result(number).is_none() {
                    return Err(format!("'{number}', expected a clock or an operation"));
                }
                break;
            }
            (*clock, rest) = (Some(number), after);
            if number.len() < word.len() {
                break;
            }
        }
        let operations: Vec<(&str, &str)> = operations(rest).map(split_operation).collect();
        let find = |code: &str| operations.iter().find(|(name, _)| *name == code).map(|(_, operand)| *operand);
        let [halfmove, number] = [clocks[0].or_else(|| find("hmvc")), clocks[1].or_else(|| find("fmvn"))];
        let fen = format!("{fields} {} {}", halfmove.unwrap_or("0"), number.unwrap_or("1"));
        let board = Board::from_fen(&fen).map_err(|error| error.to_string())?;
        // `bm #5` says how near the mate is.
        let best = find("bm").filter(|operand| !operand.starts_with('#')).map(|operand| best_move(&board, operand));
        let score = find("ce").map(|text| remark::centipawns(text).map_err(|error| format!("ce {error}")));
        Ok(Epd { board, best: best.transpose()?, result: result(&operations)?, score: score.transpose()? })
    }
}

/// The first move of an operand.
fn best_move(board: &Board, operand: &str) -> Result<Move, String> {
    let word = operand.split([' ', '\t', ',']).find(|word| !word.is_empty()).ok_or("bm without a move")?;
    board.parse_san(word).or_else(|_| board.parse_uci(word)).map_err(|error| format!("bm: {error}"))
}

/// The result of the game that a position comes from: behind the position or in a comment.
fn result(operations: &[(&str, &str)]) -> Result<Option<GameResult>, String> {
    let is_comment = |name: &str| matches!(name.as_bytes(), [b'c', b'0'..=b'9']);
    let found = operations.iter().find_map(|(name, operand)| match operand.is_empty() {
        true => remark::result(name),
        false => remark::result(operand).filter(|_| is_comment(name)).or_else(|| remark::result(name)),
    });
    match operations.iter().find(|(name, _)| name.starts_with('[')) {
        Some((other, _)) if found.is_none() => Err(format!("result '{other}', expected [1.0], [0.5] or [0.0]")),
        _ => Ok(found),
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first `count` words, as they stand, and what follows them.
fn split_fields(text: &str, count: usize) -> Option<(&str, &str)> {
    let text = text.trim();
    let mut end = 0;
    for _ in 0..count {
        end += text[end..].len() - text[end..].trim_start().len();
        let word = text[end..].find(char::is_whitespace).unwrap_or(text.len() - end);
        if word == 0 {
            return None;
        }
        end += word;
    }
    Some((&text[..end], &text[end..]))
}

/// Operations end in a semicolon outside quotes.
fn operations(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let ends = move |c| {
        quoted ^= c == '"';
        c == ';' && !quoted
    };
    text.split(ends).map(str::trim).filter(|operation| !operation.is_empty())
}

fn split_operation(operation: &str) -> (&str, &str) {
    let (code, operand) = operation.split_once(char::is_whitespace).unwrap_or((operation, ""));
    (code, operand.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read() {
        let cases = [
            ("4k3/8/8/8/8/8/4P3/4K3 w - -", "- - -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - bm e4 Kd2; id \"some; thing\"; c9 \"1-0\";", "e2e4 1-0 -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - c9 \"1/2-1/2\"; ce -35", "- 1/2-1/2 -35"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - 3 40 bm e2e4; c0 \"0-1\";", "e2e4 0-1 -"),
            ("4k3/8/8/8/8/8/4P3/4K3  w  -  - c9 \"e2e4 e1d2\"; c8 \"10 5\";", "- - -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 [0.5]", "- 1/2-1/2 -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - [1.0] 35", "- 1-0 -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 10; [0.0]", "- 0-1 -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - c0 \"0.5\"; c1 \"1.0\"", "- 1/2-1/2 -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - ce 0; c8 \"1\"; c9 \"e2e4\"", "- - 0"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; id \"A|B|C\"; ce 35; c9 \"1-0\";", "e2e4 1-0 35"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - -; bm e4;", "e2e4 - -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - ; bm e4, e3;", "e2e4 - -"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - bm #5; ce 32762;", "- - 31995"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - ce 32765;", "- - 31998"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - ce -32765;", "- - -31998"),
        ];
        for (line, expected) in cases {
            let epd = Epd::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_string());
            let best = text(epd.best.map(|mv| epd.board.uci(mv)));
            let result = text(epd.result.map(|result| result.to_string()));
            let score = text(epd.score.map(|score| score.0.to_string()));
            assert_eq!(format!("{best} {result} {score}"), expected, "{line}");
        }
    }

    #[test]
    fn clocks_come_from_fields_or_operations() {
        let clocks = ["7 41", "7 41; bm e4;", "fmvn 41; hmvc 7;", "7; fmvn 41;"];
        for line in clocks.map(|clocks| format!("4k3/8/8/8/8/8/4P3/4K3 w - - {clocks}")) {
            let board = Epd::parse(&line).unwrap().board;
            assert_eq!((board.halfmove_clock(), board.fullmove_number()), (7, 41), "{line}");
        }
    }

    #[test]
    fn faults_are_reported() {
        let cases = [
            ("", "expected four fields"),
            ("4k3/8/8/8/8/8/4P3/4K3 w -", "expected four fields"),
            ("4k3/8/8/8/8/8/4P3 w - - bm e4;", "7 ranks"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - bm e5;", "bm: "),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - bm;", "bm without"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - ce 0.3;", "ce '0.3', expected centipawns"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 [0.7]", "result '[0.7]', expected [1.0]"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 3,0.5", "'3,0.5', expected a clock or an operation"),
        ];
        for (line, expected) in cases {
            let error = Epd::parse(line).err().unwrap_or_else(|| panic!("{line} was read"));
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
