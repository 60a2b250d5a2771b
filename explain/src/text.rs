//! Explanations as English text.

use super::comparison::{ComparedMove, Comparison};
use super::difference::{EvalSteps, FIXED_POINT, Subject, Topic, TopicSum};
use super::evaluation::{Contribution, PawnScale, Source, Sums, contributions, letter, piece_values, reasons};
use super::line::variation;
use super::sentence::verdict;
use dyad_engine::board::{ALL_SQUARES, Board, Color, PieceSquare, color_name, piece_name, sign};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{Family, describe};
use dyad_engine::eval::pairs::name;
use dyad_engine::search::Score;
use std::collections::HashMap;
use std::fmt::{self, Write};

/// The label of what endgame evaluations and scale factors add to the sum of weights.
const NOT_LINEAR: &str = "known ending: not linear";
/// The head of a column of the table: middlegame, endgame and tapered value.
const COLUMN_HEAD: &str = "|       mg      eg     now ";
/// Most contributions or parts shown in a list.
const MAX_PARTS: usize = 20;
/// Most topics shown.
const MAX_TOPICS: usize = 12;
/// Most parts shown under a topic.
const MAX_PARTS_PER_TOPIC: usize = 2;

/// The evaluation by group and side: middlegame (mg), endgame (eg) and tapered (now) values.
pub fn table(weights: &Weights, board: &Board) -> String {
    let scale = PawnScale::new(weights, board);
    let mut rows = contributions(weights, board);
    rows.retain(|(_, contribution)| *contribution != Contribution::default());
    let sum = rows.iter().fold(Contribution::default(), |sum, (_, contribution)| sum.plus(contribution));
    rows.sort_by_key(|(_, contribution)| -scale.tapered(contribution.total()).abs());
    let mut text = String::new();
    let width = rows.iter().map(|(group, _)| group.name.len()).max().unwrap_or(0).max(8);
    let columns_width = 3 * COLUMN_HEAD.len();
    let rule = "-".repeat(width + columns_width);
    let sides = ["White", "Black", "both"].map(|side| format!("| {side:^24} ")).concat();
    let phases = COLUMN_HEAD.repeat(3);
    let _ = writeln!(text, "{:width$} {sides}\n{:width$} {phases}\n{rule}", "group", "");
    for (group, contribution) in &rows {
        let _ = writeln!(text, "{:width$} {}", group.name, row(&scale, contribution));
    }
    let _ = writeln!(text, "{rule}\n{:width$} {}", "sum", row(&scale, &sum));
    let [linear, evaluated] = values(weights, board);
    if linear != evaluated {
        // The values line up with the last tapered column.
        let label_width = width + 1 + columns_width - "+1000.00 ".len();
        for (label, amount) in [(NOT_LINEAR, evaluated - linear), ("evaluation", evaluated)] {
            let _ = writeln!(text, "{label:label_width$}{:>8} ", pawns(amount));
        }
    }
    let _ = writeln!(
        text,
        "\nPhase: {} % middlegame (mg), {} % endgame (eg). Values in pawns, positive for White.",
        scale.middlegame_percent(),
        100 - scale.middlegame_percent()
    );
    text
}

/// The columns of a row: White, Black and both.
fn row(scale: &PawnScale, contribution: &Contribution) -> String {
    let column = |sums: Sums| {
        let [mg, eg, now] = [sums[0] as i32, sums[1] as i32, scale.tapered(sums)].map(|value| scale.pawns_of(value));
        format!("| {mg:+8.2}{eg:+8.2}{now:+8.2} ")
    };
    [contribution.white, contribution.black, contribution.total()].map(column).concat()
}

/// The largest contributions, and the board with the value of each piece.
pub fn evaluation(weights: &Weights, board: &Board) -> String {
    let mut text = String::from(
        "Largest contributions in pawns, positive for White; what both sides have cancels and is left out:\n\n",
    );
    let all = reasons(weights, board);
    let shown = &all[..all.len().min(MAX_PARTS)];
    for (number, reason) in shown.iter().enumerate() {
        let _ = writeln!(text, "{:3}. {:+.2}  {}", number + 1, reason.pawns, reason.source.words());
    }
    let [linear, evaluated] = values(weights, board);
    let remainder = linear - shown.iter().map(|reason| hundredths(reason.pawns)).sum::<i32>();
    let remainder_label = match all.len() - shown.len() {
        0 => "rounding of these numbers".to_string(),
        others => format!("{others} others"),
    };
    for (amount, label) in [(remainder, &*remainder_label), (evaluated - linear, NOT_LINEAR)] {
        if amount != 0 {
            let _ = writeln!(text, "     {}  {label}", pawns(amount));
        }
    }
    let _ = writeln!(text, "     =====\n     {}  evaluation", pawns(evaluated));
    text.push_str("\nValue of each piece here (the sum of weights with it minus the sum without it):\n\n");
    text.push_str(&piece_board(board, &piece_values(weights, board)));
    text
}

/// The evaluation in hundredths of a pawn from White's side, without and with endgame evaluations and scale factors.
fn values(weights: &Weights, board: &Board) -> [i32; 2] {
    let steps = EvalSteps::of(weights, board);
    [steps.scaled, steps.value].map(|value| hundredths(weights.pawns(f64::from(value))))
}

/// An amount of pawns as it is printed: sums of printed numbers are exact.
fn hundredths(pawns: f64) -> i32 {
    (100.0 * pawns).round() as i32
}

/// A board with each piece's letter and value.
fn piece_board(board: &Board, values: &[(PieceSquare, f64)]) -> String {
    let values: HashMap<usize, f64> = values.iter().map(|(piece, pawns)| (piece.square.to_index(), *pawns)).collect();
    let rule = format!("   +{}\n", "-------+".repeat(8));
    let mut text = rule.clone();
    for rank in (0..8).rev() {
        let squares = (0..8).map(|file| ALL_SQUARES[rank * 8 + file]);
        let letters: String =
            squares.clone().map(|at| format!("   {}   |", letter(board, at).unwrap_or(' '))).collect();
        let numbers: String = squares
            .map(|at| match values.get(&at.to_index()) {
                Some(pawns) => format!("{pawns:+6.2} |"),
                None => "       |".into(),
            })
            .collect();
        let _ = write!(text, " {} |{letters}\n   |{numbers}\n{rule}", rank + 1);
    }
    let files: String = ('a'..='h').map(|file| format!("    {file}   ")).collect();
    let _ = writeln!(text, "   {}", files.trim_end());
    text
}

impl Source {
    /// The source in words.
    pub fn words(&self) -> String {
        match self {
            Source::Square(piece) => format!("{} on its square", name(*piece)),
            Source::Pair(first, second) => format!("{} with {}", name(*first), name(*second)),
            Source::Group { group, white, black, pawns: [white_pawns, black_pawns] } => {
                match (&white[..], &black[..]) {
                    ([feature], []) | ([], [feature]) => feature_words(*feature),
                    ([white], [black]) => format!("{}; {}", feature_words(*white), feature_words(*black)),
                    _ => format!("{} (White {white_pawns:+.2}, Black {black_pawns:+.2})", group.about),
                }
            }
        }
    }
}

/// A feature in words, with the side that has it and how often.
fn feature_words((feature, count): (usize, i32)) -> String {
    let side = color_name(if count > 0 { Color::White } else { Color::Black });
    format!("{side}: {}{}", describe(feature), times(count))
}

fn times(count: i32) -> String {
    if count.abs() > 1 { format!(", {} times", count.abs()) } else { String::new() }
}

impl Subject {
    /// The subject in words; `moves` are the first moves of the two variations.
    pub fn words(self, moves: [&str; 2]) -> String {
        // A negative count means more of it in the second variation.
        let after = |count: i32| moves[usize::from(count < 0)];
        match self {
            Subject::Material(piece, count) => {
                let (color, count) = (if count > 0 { Color::White } else { Color::Black }, count.abs());
                let plural = if count == 1 { "" } else { "s" };
                format!("after {}: {count} more {}{plural} for {}", moves[0], piece_name(piece), color_name(color))
            }
            Subject::Square(piece, count) => format!("after {}: {} on its square", after(count), name(piece)),
            Subject::Pair(first, second, count) => {
                format!("after {}: {} with {}", after(count), name(first), name(second))
            }
            Subject::Feature(feature, color, count) => {
                format!("after {}: {}: {}{}", after(count), color_name(color), describe(feature), times(count))
            }
            Subject::Instead(features, color) => {
                let [first, second] = features.map(describe);
                format!("{}: {first} rather than {second}", color_name(color))
            }
            Subject::Several(group, color) => format!("{}: {}", color_name(color), group.about),
            Subject::Phase => {
                "not linear: game phase, middlegame and endgame weights count in different proportions".into()
            }
            Subject::Rounding => "not linear: rounding of the evaluation to integers".into(),
            Subject::Ending(index) => format!("not linear: endgame evaluation or scale factor after {}", moves[index]),
            Subject::Mate(index) => format!("not linear: the line of {} ends in mate", moves[index]),
            Subject::Draw(index) => format!("not linear: the line of {} ends in a draw", moves[index]),
            Subject::Search => "not linear: search (correction history, variations other than the two shown)".into(),
        }
    }
}

impl Topic {
    /// The topic in words; `moves` are the first moves of the two variations.
    pub fn words(self, moves: [&str; 2]) -> String {
        match self {
            Topic::Material => "material".into(),
            Topic::Piece(color, piece, [first, second]) => {
                format!("{}'s {} on {first} rather than {second}", color_name(color), piece_name(piece))
            }
            Topic::Family(family, color) => {
                let color = color_name(color);
                match family {
                    Family::Mobility => format!("mobility of {color}'s pieces"),
                    Family::Pawns => format!("{color}'s pawn structure"),
                    Family::Passed => format!("{color}'s passed pawns"),
                    Family::Pieces => format!("placement of {color}'s pieces (outposts, files, pins)"),
                    Family::Threats => format!("{color}'s threats"),
                    Family::King => format!("safety of {color}'s king"),
                    Family::Space => format!("{color}'s space and center control"),
                    Family::Winnability => format!("{color}'s winning chances (winnability)"),
                    Family::Material => format!("{color}'s material"),
                    Family::MaterialPairs => format!("{color}'s combination of pieces"),
                    Family::PieceSquare => format!("{color}'s piece-square tables"),
                    Family::Pairs => format!("{color}'s pairs of pieces"),
                }
            }
            Topic::Alone(subject) => subject.words(moves),
        }
    }
}

impl fmt::Display for Comparison {
    /// Both variations, the topics, and the largest parts. Each list ends with the remainder and the sum.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = color_name(self.board.side_to_move());
        writeln!(
            f,
            "Two moves for {side}, searched to depth {}; values in pawns, + is good for {side}:\n",
            self.depth
        )?;
        for compared in &self.moves {
            let line = variation(&self.board, &compared.line);
            writeln!(f, "  {:<7} {:>7}  {line}", compared.san, self.score(compared))?;
            writeln!(f, "  {:<7} {:>7}  leaf {}", "", "", compared.leaf.board.fen())?;
        }
        let ([first, second], difference) = (self.names(), self.amount(self.difference.total()));
        writeln!(f, "\n{}", verdict(self))?;
        writeln!(f, "\nBy topic; + favors {first}, - favors {second}:\n")?;
        let topics = self.difference.topics();
        let mut remainder = difference;
        for topic in topics.iter().take(MAX_TOPICS) {
            let amount = self.amount(topic.amount);
            remainder -= amount;
            self.write_topic(f, topic, amount)?;
        }
        write!(f, "{}", list_end(remainder, topics.len().saturating_sub(MAX_TOPICS), difference))?;
        let parts = self.difference.parts();
        let count = parts.len().min(MAX_PARTS);
        writeln!(f, "\nThe {count} largest of {} parts (features and pairs of pieces):\n", parts.len())?;
        let mut remainder = difference;
        for part in &parts[..count] {
            let amount = self.amount(part.amount);
            remainder -= amount;
            writeln!(f, "  {:>7}  {}", pawns(amount), part.subject.words(self.names()))?;
        }
        write!(f, "{}", list_end(remainder, parts.len() - count, difference))
    }
}

impl Comparison {
    /// An amount of the difference in hundredths of a pawn.
    fn amount(&self, amount: i64) -> i32 {
        hundredths(self.pawns(amount))
    }

    /// The value of a move in pawns, or `#` and the moves to mate.
    fn score(&self, compared: &ComparedMove) -> String {
        match compared.score {
            Score::Cp(_) => {
                pawns(self.amount(FIXED_POINT * i64::from(sign(self.board.side_to_move()) * compared.leaf.value)))
            }
            Score::Mate(moves) => format!("{}#{}", if moves < 0 { "-" } else { "" }, moves.abs()),
        }
    }

    /// A topic, with its largest parts unless it is a single part.
    fn write_topic(&self, f: &mut fmt::Formatter<'_>, topic: &TopicSum, amount: i32) -> fmt::Result {
        writeln!(f, "  {:>7}  {}", pawns(amount), topic.topic.words(self.names()))?;
        if topic.parts.len() == 1 {
            return Ok(());
        }
        let parts = topic.parts.iter().map(|part| (part, self.amount(part.amount)));
        for (part, amount) in parts.filter(|(_, amount)| *amount != 0).take(MAX_PARTS_PER_TOPIC) {
            writeln!(f, "             {:>7}  {}", pawns(amount), part.subject.words(self.names()))?;
        }
        Ok(())
    }
}

/// The end of a list of numbers: the `remainder` of the `others` that are not shown, and the sum of all.
fn list_end(remainder: i32, others: usize, sum: i32) -> String {
    let remainder_line = match others {
        0 if remainder == 0 => String::new(),
        0 => format!("  {:>7}  rounding of these numbers\n", pawns(remainder)),
        others => format!("  {:>7}  {others} others\n", pawns(remainder)),
    };
    format!("{remainder_line}  =======\n  {:>7}\n", pawns(sum))
}

/// Hundredths of a pawn in pawns, with a sign.
fn pawns(hundredths: i32) -> String {
    format!("{:+.2}", f64::from(hundredths) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{board, strange_weights};

    const MIDDLEGAME: &str = "r1bq1rk1/pp3ppp/2n2n2/3pN3/3P4/2N5/PP3PPP/R1BQ1RK1 w - - 0 1";

    #[test]
    fn the_table_has_a_line_for_each_group_that_counts() {
        let text = table(&strange_weights(), &board(MIDDLEGAME));
        for name in ["material", "pairs", "mobility_knight", "king_danger", "sum"] {
            assert!(text.lines().any(|line| line.starts_with(name)), "{name}\n{text}");
        }
        let widths: Vec<_> = text.lines().take_while(|line| !line.is_empty()).map(str::len).collect();
        assert!(widths[2..].iter().all(|width| width.abs_diff(widths[2]) <= 1), "{text}");
    }

    #[test]
    fn reasons_are_in_words_and_sorted() {
        let all = reasons(&strange_weights(), &board(MIDDLEGAME));
        assert!(all.is_sorted_by(|one, next| one.pawns.abs() >= next.pawns.abs()));
        assert!(all.iter().any(|reason| reason.source.words() == "white Ne5 with black Kg8"), "{all:?}");
    }

    /// In the starting position tempo is the only reason; after Nf3 the knights and their pairs are reasons, too.
    #[test]
    fn what_both_sides_have_is_left_out() {
        let words = |board: &Board| -> Vec<String> {
            reasons(&strange_weights(), board).into_iter().map(|reason| reason.source.words()).collect()
        };
        let start = words(&Board::startpos());
        assert!(start.iter().all(|words| words.contains("the move")), "{start:?}");
        let moved = words(&board("rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1"));
        for expected in ["white Nf3 on its square", "black Ng8 with black Ke8", "white Nf3 with black e7"] {
            assert!(moved.iter().any(|words| words == expected), "{expected} in {moved:?}");
        }
        let cancels = |words: &&String| words.contains("Nb1 on") || words.contains("Qd1 with white Ke1");
        assert_eq!(moved.iter().find(cancels), None);
        let mobility = "White: knight with 5 safe squares; Black: knight with 2 safe squares";
        assert!(moved.iter().any(|words| words == mobility), "{moved:?}");
    }

    #[test]
    fn an_explanation_shows_the_board() {
        let text = evaluation(&strange_weights(), &board(MIDDLEGAME));
        assert!(text.contains(" 20. ") && !text.contains(" 21. "), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("   +---")).count(), 9);
    }

    /// The numbers of both texts add up to the evaluation, in known endings, too.
    #[test]
    fn numbers_add_up_to_the_evaluation() {
        let number = |line: &str| line.split_whitespace().find_map(|word| word.parse::<f64>().ok()).expect("a number");
        for (fen, is_known) in [
            (MIDDLEGAME, false),
            ("8/8/4k3/8/2KP4/8/8/8 w - - 0 1", true),
            ("8/8/8/4k3/8/8/4K3/7R b - - 0 1", true),
            ("4k3/5pp1/4b3/8/8/4B3/1PPP4/4K3 w - - 0 1", true),
            ("8/8/4k3/8/2KN4/8/8/8 b - - 0 1", true),
        ] {
            let board = board(fen);
            let evaluated = f64::from(values(&strange_weights(), &board)[1]);
            let table = table(&strange_weights(), &board);
            let line = |start: &str| table.lines().find(|line| line.starts_with(start));
            let last = |line: &str| line.split_whitespace().last().expect("a number").parse::<f64>().expect("a number");
            let sum = last(line("sum").expect("a sum"));
            let not_linear = line(NOT_LINEAR).map_or(0.0, last);
            assert_eq!((100.0 * (sum + not_linear)).round(), evaluated, "{table}");
            assert_eq!(line(NOT_LINEAR).is_some(), is_known, "{table}");
            let text = evaluation(&strange_weights(), &board);
            let lines = text.lines().skip(2).take_while(|line| !line.contains("====="));
            let total: f64 = lines.map(|line| number(line.split_once(". ").map_or(line, |(_, line)| line))).sum();
            assert_eq!((100.0 * total).round(), evaluated, "{text}");
            assert_eq!(text.contains(NOT_LINEAR), is_known, "{text}");
        }
    }
}
