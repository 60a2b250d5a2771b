//! Scores in comments and lines, in the forms that programs write.
//!
//! | form | written by | side |
//! |---|---|---|
//! | `[%eval 0.25]`, `[%eval #-3]`, `[%eval 0.25,18]` | Lichess, Scid, En Croissant, Dyad | White's, after the move |
//! | `[%eval 35,21]`, in centipawns | ChessBase | White's, after the move |
//! | `wv=0.25` | TCEC | White's |
//! | `+0.35/20 1.2s`, `-M12/40`, `+0,35/20` | Cute Chess, fastchess, Fritz | see `ScoreSide` |
//! | `+0.35 20/31 1200 500000`, `+0.35`, `M5` | OpenBench | see `ScoreSide` |
//! | `(Bb5 a6) +0.4/18` | Arena, CCRL | see `ScoreSide` |
//! | `ev=0.25` | TCEC, early seasons | see `ScoreSide` |

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
    #[must_use]
    pub fn parse(comment: &[u8]) -> Option<Remark> {
        let text = decode(comment);
        let text = text.trim();
        let first = text.split([' ', '\n', '\r', '\t']).next()?;
        // Most comments are of this form.
        if let Some(score) = score_and_depth(first) {
            return Some(Remark::Score(score));
        }
        if first.trim_end_matches(',').eq_ignore_ascii_case("book") {
            return Some(Remark::Book);
        }
        if let Some(score) = command(text) {
            return Some(Remark::After(score));
        }
        if let Some(score) = field(text, "wv=") {
            return Some(Remark::WhiteScore(score));
        }
        let score = bare(text).or_else(|| after_line(text)).or_else(|| field(text, "ev="))?;
        Some(Remark::Score(score))
    }
}

/// `+0.35/20`, possibly with text after a comma. Two whole numbers, `1/2`, are no score.
fn score_and_depth(word: &str) -> Option<Score> {
    let (score, depth) = word.split_once('/')?;
    let is_score = score.contains(['.', ',', '+', '-', '\u{2212}', 'M', '#']);
    (is_score && depth.starts_with(|c: char| c.is_ascii_digit())).then(|| pawns(score))?
}

/// `[%eval ...]`
fn command(text: &str) -> Option<Score> {
    let (_, rest) = text.split_once("[%eval")?;
    let (value, _) = rest.split_once(']')?;
    if !value.starts_with(char::is_whitespace) {
        return None;
    }
    // Some programs break lines within it.
    let value: String = value.split_whitespace().collect();
    let is_whole = |text: &str| text.strip_prefix(['+', '-']).unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
    match value.split_once(',') {
        Some((whole, depth)) if is_whole(whole) && is_whole(depth) => centipawns(whole.trim()).ok(),
        // A comma may be the decimal one, with the depth behind another.
        Some((whole, rest)) if is_whole(whole) => {
            let fraction = rest.split([',', '/']).next().unwrap_or_default();
            pawns(&format!("{whole}.{fraction}"))
        }
        Some((score, _)) => pawns(score),
        None => pawns(value.split('/').next().unwrap_or_default()),
    }
}

/// `name=value` among others, as TCEC writes them.
fn field(text: &str, name: &str) -> Option<Score> {
    let mut fields = text.split([' ', ',', ';', '\n', '\r', '\t']);
    fields.find_map(|field| pawns(field.strip_prefix(name)?))
}

/// A comment of OpenBench: only the score, or the score, depths, milliseconds and nodes.
fn bare(text: &str) -> Option<Score> {
    let mut words = text.split_whitespace();
    let score = words.next()?;
    match words.next() {
        None => {
            let decimals = score.rsplit_once('.').is_some_and(|(_, decimals)| decimals.len() == 2);
            (score.starts_with(['+', '-', 'M']) || decimals).then(|| pawns(score))?
        }
        Some(depths) => {
            let (depth, most) = depths.split_once('/')?;
            let whole = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            (whole(depth) && whole(most) && words.next().is_some_and(whole)).then(|| pawns(score))?
        }
    }
}

/// `(Bb5 a6) +0.4/18`: the score after the expected line.
fn after_line(text: &str) -> Option<Score> {
    let (_, rest) = text.strip_prefix('(')?.split_once(')')?;
    score_and_depth(rest.split_whitespace().next()?)
}

/// A value in pawns, with a point or a comma, or a mate: `+0.35`, `0,35`, `-M12`, `#-3`.
fn pawns(text: &str) -> Option<Score> {
    let (negative, digits) = sign(text);
    if let Some(moves) = digits.strip_prefix(['M', '#']) {
        let (below, moves) = sign(moves);
        let moves: i32 = moves.parse().ok().filter(|moves| (0..=1_999).contains(moves))?;
        let mate = Score::mate(moves);
        return Some(if negative != below { mate.opposite() } else { mate });
    }
    let is_number = |byte: u8| byte.is_ascii_digit() || byte == b'.' || byte == b',';
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !digits.bytes().all(is_number) {
        return None;
    }
    let value: f64 = match digits.contains(',') {
        true => digits.replace(',', ".").parse().ok()?,
        false => digits.parse().ok()?,
    };
    Some(Score::centipawns(if negative { -100.0 } else { 100.0 } * value))
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
            (" +M12/30 0.1s, White mates", score(31_988)),
            ("-M1/3", score(-31_999)),
            ("+400.00/3", score(30_000)),
            ("+0,35/20", score(35)),
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
            ("[%eval 35,21]", after(35)),
            ("[%eval -35,21]", after(-35)),
            ("[%eval 32765,21]", after(31_998)),
            ("[%eval 0,25,18]", after(25)),
            ("[%eval +1.2/18]", after(120)),
            ("[%eval\n86,35]", after(86)),
            ("[%eval 91,\n17] [%clk 0:01:00]", after(91)),
            ("[%eval -281, 37]", after(-281)),
            ("[%evaluation 1.0]", None),
            ("d=35, sd=48, mt=145000, pv=Nf3 d5, wv=0.25, R50=49, ", white(25)),
            ("d=35, wv=-M25, mb=+0+0+0+0+0,", white(-31_975)),
            ("ev=0.25, d=26, mt=00:03:00, pv=Nf3", score(25)),
            ("(Bb5 a6) +0.4/18", score(40)),
            ("(Nf3) -0.25/14 12s", score(-25)),
            ("+0.15 12/20 1000 12345", score(15)),
            ("0.00 12/20 1000 12345", score(0)),
            ("-M5 12/20 1000 12345", score(-31_995)),
            ("+0.35", score(35)),
            ("0.00", score(0)),
            ("-M5", score(-31_995)),
            ("M5", score(31_995)),
            ("a good move", None),
            ("12.5", None),
            ("5", None),
            ("inf/3", None),
            ("NaN/3", None),
            ("+/3", None),
            ("M/3", None),
            ("1.2.3/4", None),
            ("1/2", None),
            ("/", None),
            ("", None),
            ("unknown", None),
            ("[%eval x]", None),
            ("[%eval 0.3", None),
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
