//! Scores in comments and lines, in the forms that programs write.
//!
//! | form | written by | side |
//! |---|---|---|
//! | `[%eval 0.25]`, `[%eval #-3]`, `[%eval 0.25,18]` | Lichess, Scid, En Croissant, Dyad | White's, after the move |
//! | `wv=0.25` | TCEC | White's |
//! | `+0.35/20 1.2s`, `-M12/40` | Cute Chess, fastchess, OpenBench | see `ScoreSide` |
//! | `(Bb5 a6) +0.4/18` | Arena, CCRL | see `ScoreSide` |
//!
//! `M` counts plies to the mate, `#` moves. A comment is of one of these forms as a whole, or its score is not read:
//! `3.5/6 after six rounds` is no score.

use crate::input::decode;
use crate::score::{GameResult, Score};

/// The content of a comment about the move before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The move is a book move.
    Book,
    /// The score, from the side that the writer of the file uses.
    Score(Score),
    /// The score, in a form that is always from White's side.
    WhiteScore(Score),
    /// The score of the position after the move, from White's side. The other forms are of the search that chose the
    /// move, so of the position before it.
    After(Score),
}

impl Remark {
    /// Reads a comment.
    pub fn parse(comment: &[u8]) -> Option<Remark> {
        let text = decode(comment);
        let text = text.trim();
        // Most comments are of this form.
        if let Some(score) = score_and_depth(text) {
            return Some(Remark::Score(score));
        }
        let first = text.split_whitespace().next()?;
        if first.trim_end_matches(',').eq_ignore_ascii_case("book") {
            return Some(Remark::Book);
        }
        let white = || {
            let value = text.split([' ', ',', ';', '\n', '\r', '\t']).find_map(|field| field.strip_prefix("wv="))?;
            pawns(value).or_else(|| plies_to_mate(value))
        };
        let behind_line = || {
            let (_, rest) = text.strip_prefix('(')?.split_once(')')?;
            score_and_depth(rest.trim_start())
        };
        evaluation(text)
            .map(Remark::After)
            .or_else(|| white().map(Remark::WhiteScore))
            .or_else(|| behind_line().map(Remark::Score))
    }
}

/// `+0.35/20`, alone, before times and counts, or with any text after a comma.
fn score_and_depth(text: &str) -> Option<Score> {
    let (mut words, mut score) = (text.split_whitespace(), None);
    loop {
        let Some(word) = words.next() else { return score };
        let whole = word.strip_suffix(',');
        let word = whole.unwrap_or(word);
        if score.is_none() {
            let (value, depth) = word.split_once('/')?;
            score = Some(number(value).filter(|_| is_whole(depth))?);
        } else if !is_measure(word) {
            return None;
        }
        if whole.is_some() {
            return score;
        }
    }
}

/// A score as match programs write it: decimals, two of them where it has no sign, or a mate. A whole number may be
/// anything.
fn number(text: &str) -> Option<Score> {
    let (_, digits) = sign(text);
    let is_signed = digits.len() < text.len();
    match digits.rsplit_once('.') {
        Some((_, decimals)) if is_signed || decimals.len() == 2 => pawns(text),
        Some(_) => None,
        None => plies_to_mate(text).or_else(|| moves_to_mate(text)),
    }
}

/// A time or a count: `1.2s`, `0.35`, `0:01:20`, `500000`.
fn is_measure(word: &str) -> bool {
    let number = ["ms", "min", "sec", "s", "m", "h"].iter().find_map(|unit| word.strip_suffix(unit)).unwrap_or(word);
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    is_whole(decimals) && whole.split(':').all(is_whole)
}

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The value of `[%eval ...]`, without the depth behind a comma. ChessBase writes whole centipawns, which are not read.
fn evaluation(text: &str) -> Option<Score> {
    let (_, rest) = text.split_once("[%eval ")?;
    let value = rest.split([']', ',', '/']).next()?.trim();
    if value.contains('.') { pawns(value) } else { moves_to_mate(value) }.filter(|_| rest.contains(']'))
}

/// A mate in plies, `-M12`: of the side that mates an odd number.
fn plies_to_mate(text: &str) -> Option<Score> {
    let (is_negative, digits) = sign(text);
    let plies: i32 = digits.strip_prefix('M').filter(|plies| is_whole(plies))?.parse().ok()?;
    mate(plies / 2 + plies % 2, is_negative)
}

/// A mate in moves, `#-3`, `-#3`.
fn moves_to_mate(text: &str) -> Option<Score> {
    let (is_negative, digits) = sign(text);
    let (is_opposite, moves) = sign(digits.strip_prefix('#')?);
    mate(Some(moves).filter(|moves| is_whole(moves))?.parse().ok()?, is_negative != is_opposite)
}

fn mate(moves: i32, is_negative: bool) -> Option<Score> {
    let mate = (0..=1_999).contains(&moves).then(|| Score::mate(moves))?;
    Some(if is_negative { mate.opposite() } else { mate })
}

/// A value in pawns, `+0.35`.
fn pawns(text: &str) -> Option<Score> {
    let (is_negative, digits) = sign(text);
    let is_number = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let value: f64 = Some(digits).filter(|digits| digits.bytes().all(is_number))?.parse().ok()?;
    Some(Score::centipawns(if is_negative { -100.0 } else { 100.0 } * value))
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A whole number of centipawns. The EPD standard has mates beyond 32,000: 32,767 less the moves to it.
///
/// # Errors
/// If `text` is not a whole number of centipawns.
pub(super) fn centipawns(text: &str) -> Result<Score, String> {
    let value: i32 = text.parse().map_err(|_| format!("'{text}', expected centipawns"))?;
    // A mate that is nearer than the scale shows is cut to it.
    let value = value.clamp(-32_766, 32_766);
    let mate = 32_767 - value.abs();
    Ok(if mate < 1_000 { Score::mate(mate * value.signum()) } else { Score::centipawns(f64::from(value)) })
}

/// A result as lines of positions have it: `1-0`, `1/2`, `[0.5]`, `1.0`. White's points.
pub(super) fn result(text: &str) -> Option<GameResult> {
    match text.trim().trim_matches('"').trim() {
        // A whole number without brackets may mean anything.
        "1-0" | "1.0" | "[1.0]" | "[1]" | "[1-0]" => Some(GameResult::WhiteWins),
        "0-1" | "0.0" | "[0.0]" | "[0]" | "[0-1]" => Some(GameResult::BlackWins),
        "1/2-1/2" | "1/2" | "0.5" | "[0.5]" | "[1/2-1/2]" | "[1/2]" => Some(GameResult::Draw),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_scores() {
        let score = |centipawns| Some(Remark::Score(Score(centipawns)));
        let white = |centipawns| Some(Remark::WhiteScore(Score(centipawns)));
        let after = |centipawns| Some(Remark::After(Score(centipawns)));
        let cases = [
            ("+0.35/20 1.2s", score(35)),
            ("-1.07/8", score(-107)),
            ("0.00/1 0.00s", score(0)),
            (" +M19/30 0.1s, White mates", score(31_990)),
            ("-M2/3", score(-31_999)),
            ("-M0/1", score(-32_000)),
            ("#5/12 3", score(31_995)),
            ("+400.00/3", score(30_000)),
            ("+0.35/20, line=depth 4 weights 00000000", score(35)),
            ("\u{2212}0.35/20", score(-35)),
            ("0.35/12 5", score(35)),
            ("book", Some(Remark::Book)),
            ("Book, the main line", Some(Remark::Book)),
            ("[%eval 0.25]", after(25)),
            ("a word [%eval -1.5] [%clk 0:01:00]", after(-150)),
            ("[%eval #-3]", after(-31_997)),
            ("[%eval #3]", after(31_997)),
            ("[%eval 0.25,18]", after(25)),
            ("[%eval #3,18]", after(31_997)),
            ("[%eval +1.2/18]", after(120)),
            ("d=35, sd=48, mt=145000, pv=Nf3 d5, wv=0.25, R50=49, ", white(25)),
            ("d=35, wv=-M25, mb=+0+0+0+0+0,", white(-31_987)),
            ("(Bb5 a6) +0.4/18", score(40)),
            ("(Nf3) -0.25/14 12s", score(-25)),
            ("+0.35/20 0:01:20 500000", score(35)),
            ("0.35/20 1.2 12345", score(35)),
            ("-0.35/20 120ms", score(-35)),
            ("3.5/6 after six rounds", None),
            ("+3.5/6 after six rounds", None),
            ("3.5/6", None),
            ("3.50/6 rounds, and now", None),
            ("(Nf3) 3.5/6 in all", None),
            ("+0.35/d20", None),
            ("+3/12", None),
            ("+0.35", None),
            ("[%eval 35,21]", None),
            ("[%eval 0,25,18]", None),
            ("+35/12 1.2s", None),
            ("+3", None),
            ("+0.5", None),
            ("+M3 is near", None),
            ("1.2.3/4", None),
            ("[%eval x]", None),
            ("[%eval 0.3", None),
            ("[%eval M5]", None),
            ("d=35, wv=good", None),
            ("a good move", None),
            ("12.5", None),
            ("5", None),
            ("5.2s", None),
            ("0:01:20/40", None),
            ("inf/3", None),
            ("NaN/3", None),
            ("+/3", None),
            ("+/-", None),
            ("M/3", None),
            ("1/2", None),
            ("1/2-1/2", None),
            ("3/6 after six rounds", None),
            ("/", None),
            ("", None),
            ("unknown", None),
            ("[%evaluation 1.0]", None),
            ("[%evp 0,34,19]", None),
            ("(0.63 \u{2192} 0.00) Inaccuracy. d4 was best.", None),
            ("0.12 seconds", None),
        ];
        for (comment, expected) in cases {
            assert_eq!(Remark::parse(comment.as_bytes()), expected, "{comment}");
        }
        assert_eq!(Remark::parse(b"\xFF\xFE/3"), None);
        assert_eq!(Remark::parse(b"[%eval 0.25] f\xFCr Schwarz"), after(25));
    }

    #[test]
    fn forms_of_results() {
        for (text, expected) in [
            ("[0.5]", Some(GameResult::Draw)),
            ("\"1-0\"", Some(GameResult::WhiteWins)),
            ("0.0", Some(GameResult::BlackWins)),
            ("1/2-1/2", Some(GameResult::Draw)),
            ("e4", None),
            ("", None),
        ] {
            assert_eq!(result(text), expected, "{text}");
        }
    }
}
