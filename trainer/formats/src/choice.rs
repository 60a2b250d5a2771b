//! The margin of a move over the second-best one, which training needs in addition to the score.
//!
//! Comparison training skips a position whose two best moves are nearly equal: the desired move must be better by a
//! margin. Finding the margin afterwards costs a search of each position (`dyad label --min-margin`), but the engine
//! that played the move has just searched it. So Dyad reports it with its move (`info string pgncomment`, a UCI
//! option), match programs copy the line into the comment of the move, and `dyad prepare` reads it there. The text has
//! pairs of a name and a value without quotes and braces: OpenBench cuts the line at a quote, and PGN ends a comment at
//! a brace. Unknown names are skipped.

use dyad_engine::board::{Board, Move};

/// The beginning of the line.
pub const BEGINNING: &str = "info string pgncomment";

/// The ID of weights as text.
#[must_use]
pub fn weights_id(id: u32) -> String {
    format!("{id:08x}")
}

/// The margin of the move that an engine played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The second-best move and the margin over it, in centipawns ([`gap`](dyad_engine::value::gap)). `None` if the
    /// search ended before both were searched to the same depth, or if there is no other move.
    pub second: Option<(Move, u32)>,
    /// Depth in plies of both moves; without a second one, that of the last complete iteration.
    pub depth: u32,
    /// The ID of the weights of the search.
    pub weights: u32,
}

impl Choice {
    /// The text without the [beginning](BEGINNING) of its line.
    ///
    /// ```
    /// # use dyad_engine::board::Board;
    /// # use dyad_formats::choice::Choice;
    /// let board = Board::startpos();
    /// let choice = Choice { second: Some((board.parse_uci("d2d4").unwrap(), 23)), depth: 12, weights: 0x5a44_3ad5 };
    /// assert_eq!(choice.text(&board), "second d2d4 gap 23 depth 12 weights 5a443ad5");
    /// let comment = format!("+0.35/12 0.1s, line=\"info string pgncomment {}\"", choice.text(&board));
    /// assert_eq!(Choice::in_comment(&comment, &board), Some(choice));
    /// ```
    #[must_use]
    pub fn text(&self, board: &Board) -> String {
        let second = self.second.map(|(mv, gap)| format!("second {} gap {gap} ", board.uci(mv)));
        format!("{}depth {} weights {}", second.unwrap_or_default(), self.depth, self.weights_id())
    }

    /// The ID of the weights as text.
    #[must_use]
    pub fn weights_id(self) -> String {
        weights_id(self.weights)
    }

    /// The part of a comment after `line=`, as fastchess (`line="info string pgncomment ..."`)
    /// and the client of OpenBench (`line=...`) write it.
    #[must_use]
    pub fn words(comment: &str) -> Option<&str> {
        let (_, line) = comment.split_once("line=")?;
        let line = line.strip_prefix('"').unwrap_or(line);
        Some(line.split(['"', ',']).next()?.trim()).filter(|words| !words.is_empty())
    }

    /// Parses the text, with or without the [beginning](BEGINNING), of a move made on this board. `None` if depth or
    /// weights are missing, or the second move is not legal: then the text is of another program.
    #[must_use]
    pub fn parse(words: &str, board: &Board) -> Option<Choice> {
        let (mut second, mut gap, mut depth, mut weights) = (None, None, None, None);
        // Lines of PGN are cut between any two words.
        let mut words = words.split_whitespace().skip_while(|word| BEGINNING.split(' ').any(|known| known == *word));
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            match name {
                "second" => second = Some(board.parse_uci(value).ok()?),
                "gap" => gap = Some(value.parse().ok()?),
                "depth" => depth = Some(value.parse().ok()?),
                "weights" => weights = Some(u32::from_str_radix(value, 16).ok()?),
                _ => {}
            }
        }
        let second = match (second, gap) {
            (None, None) => None,
            (second, gap) => Some((second?, gap?)),
        };
        Some(Choice { second, depth: depth?, weights: weights? })
    }

    /// Parses the comment of a move made on this board.
    #[must_use]
    pub fn in_comment(comment: &str, board: &Board) -> Option<Choice> {
        Choice::parse(Choice::words(comment)?, board)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_match_programs() {
        let board = Board::startpos();
        let second = |text: &str, gap| Some((board.parse_uci(text).expect("it is legal"), gap));
        let choice = |second| Some(Choice { second, depth: 12, weights: 0xabc });
        for (comment, expected) in [
            ("+0.35/12, line=second d2d4 gap 23 depth 12 weights 00000abc", choice(second("d2d4", 23))),
            (
                "+0.35/12 0.01s, n=3000, sd=20, line=\"info string pgncomment second d2d4 gap 0 depth 12 weights abc\", \
                 White mates",
                choice(second("d2d4", 0)),
            ),
            ("+0.35/12 0.01s, line=\"info\nstring pgncomment depth 12\nweights abc\"", choice(None)),
            ("line=depth 12 color red weights abc", choice(None)),
            ("+0.35/12 0.01s", None),
            ("+0.35/12, line=", None),
            ("line=second d2d5 gap 23 depth 12 weights abc", None),
            ("line=second d2d4 depth 12 weights abc", None),
            ("line=gap 23 depth 12 weights abc", None),
            ("line=second d2d4 gap -3 depth 12 weights abc", None),
            ("line=second d2d4 gap 23 depth 12", None),
            ("line=second d2d4 gap 23 depth 12 weights xyz", None),
            ("line=second", None),
        ] {
            assert_eq!(Choice::in_comment(comment, &board), expected, "{comment}");
        }
    }

    #[test]
    fn castling_is_read_in_both_ways() {
        let board = Board::from_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1").expect("it is valid");
        for chess960 in [false, true] {
            let board = board.with_chess960(chess960);
            let castling = board.parse_uci("e1h1").expect("it is legal");
            let choice = Choice { second: Some((castling, 5)), depth: 1, weights: 0 };
            let text = choice.text(&board);
            assert_eq!(text.starts_with("second e1h1"), chess960, "{text}");
            assert_eq!(Choice::parse(&text, &board), Some(choice));
        }
    }
}
