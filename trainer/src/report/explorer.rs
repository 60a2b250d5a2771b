//! The page of weights: pair values of every piece on every square, and all other features.
//!
//! A linear evaluation can be read, but not as a list of 147,000 numbers. So the reader chooses a piece and its square,
//! and twelve boards show what each other piece adds on each square; the other features are bars, in the words of
//! `explain`. With a second set of weights the page shows both and the changes. All values are hundredths of a pawn:
//! the middlegame value of a pawn is 100.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dyad_engine::board::{ALL_SQUARES, COLORS, Color, PIECES, Piece, PieceSquare, Square};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{self, Family, GROUPS, Group, HalfSquare, LEN, MATERIAL, PIECE_SQUARE};
use dyad_engine::eval::pairs::{self, ROWS};

use super::pieces::{STAGES, can_stand, letter, piece_name, worth_of_pair};
use crate::page::figures::{self, Board};
use crate::page::html::{Page, data, escape, flatten};

const SCRIPT: &str = include_str!("assets/explorer.js");

/// Number of changes listed.
const SHOWN_CHANGES: usize = 40;

/// The piece selected initially.
const FOCUS: PieceSquare = PieceSquare { color: Color::White, piece: Piece::Knight, square: Square::F5 };

/// A named set of weights.
struct Set<'a> {
    name: String,
    weights: &'a Weights,
    /// Hundredths of a pawn per unit of the weights.
    unit: f64,
}

impl Set<'_> {
    fn new(name: String, weights: &Weights) -> Set<'_> {
        let pawn = f64::from(weights.ints()[MATERIAL.at(Piece::Pawn)][0]);
        let unit = if pawn > 0.0 { 100.0 / pawn } else { 1.0 };
        Set { name, weights, unit }
    }

    /// The value of a feature in hundredths of a pawn.
    fn worth(&self, feature: usize, stage: usize) -> f64 {
        f64::from(self.weights.ints()[feature][stage]) * self.unit
    }

    fn location(&self, piece: Piece, square: Square, stage: usize) -> f64 {
        let row = pairs::row(PieceSquare::new(Color::White, piece, square));
        self.worth(PIECE_SQUARE.at(piece, HalfSquare(row)), stage)
    }
}

/// Writes the page of one set of weights, or of two with the changes.
#[must_use]
pub fn weights_page(sets: &[(String, &Weights)]) -> String {
    let sets: Vec<Set> = sets.iter().map(|(name, weights)| Set::new(name.clone(), weights)).collect();
    let mut page = Page::default();
    for (set, which) in sets.iter().zip(["First", "Second"]) {
        let before = if sets.len() > 1 { format!("{which}: ") } else { String::new() };
        page.paragraph(&format!(
            "{before}{}: weights \u{201c}{}\u{201d}, identity {}.",
            set.name,
            set.weights.meta.name,
            set.weights.id()
        ));
    }
    page.put(format_args!(
        "<p class=\"muted\">Values are hundredths of a pawn, positive for the player whose piece it is. \
         Each weight exists for the middlegame and for the endgame, and counts between the two by the pieces that are left. What a \
         piece is worth is the sum of its material, its square, its company and its features, so none of them alone.</p>\n"
    ));
    if let [before, after] = &sets[..] {
        changes(&mut page, before, after);
    }
    explorer(&mut page, &sets);
    material(&mut page, &sets);
    locations(&mut page, &sets);
    features(&mut page, &sets);
    history(&mut page, &sets);
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    page.finish(&format!("Weights: {}", names.join(" and ")))
}

/// The largest changes.
fn changes(page: &mut Page, before: &Set, after: &Set) {
    page.heading("What has changed most");
    let change = |feature: usize| [0, 1].map(|stage| after.worth(feature, stage) - before.worth(feature, stage));
    let size = |change: &[f64; 2]| change[0].abs().max(change[1].abs());
    let mut all: Vec<(usize, [f64; 2])> = (0..LEN).map(|feature| (feature, change(feature))).collect();
    all.retain(|(_, change)| size(change) >= 0.05);
    all.sort_by(|(_, one), (_, other)| size(other).total_cmp(&size(one)));
    if all.is_empty() {
        page.paragraph("Nothing: they play alike.");
        return;
    }
    let number = all.len();
    let row = |(feature, change): &(usize, [f64; 2])| {
        let mut row = vec![layout::describe(*feature)];
        for (stage, change) in change.iter().enumerate() {
            row.extend([before.worth(*feature, stage), after.worth(*feature, stage), *change].map(centipawns));
        }
        row
    };
    let rows: Vec<Vec<String>> = all.iter().take(SHOWN_CHANGES).map(row).collect();
    page.table(
        &format!("The largest of {number} changes."),
        &["Feature", "middlegame, first", "second", "change", "endgame, first", "second", "change"],
        &rows,
    );
}

/// The pair explorer: a piece on a square, and twelve boards of what others add.
fn explorer(page: &mut Page, sets: &[Set]) {
    page.heading("A piece and its company");
    if !sets.iter().any(|set| set.weights.compiled().has_pairs()) {
        page.paragraph("These weights have no 2-tuples: no piece is worth more or less by where another one stands.");
        return;
    }
    page.paragraph(
        "Choose a White piece and click a square of the large board, which shows what the piece gains there by its square \
         alone. The twelve boards then show what each other piece adds on each of its squares, with both 2-tuples of the \
         two. Click a square there to read it in words.",
    );
    let pieces: String =
        PIECES.iter().map(|&piece| option(piece.to_index(), piece_name(piece), piece == FOCUS.piece)).collect();
    let squares: String = ALL_SQUARES
        .iter()
        .enumerate()
        .map(|(index, square)| option(index, &square.to_string(), *square == FOCUS.square))
        .collect();
    let stages: String = STAGES.iter().enumerate().map(|(stage, name)| option(stage, name, stage == 0)).collect();
    let shown = match sets {
        [_] => String::new(),
        _ => {
            let options: String = ["change from first to second", "first", "second"]
                .iter()
                .enumerate()
                .map(|(index, name)| option(index, name, index == 0))
                .collect();
            format!("<label>Show <select id=\"set\">{options}</select></label>\n")
        }
    };
    page.put(format_args!(
        "<div id=\"explorer\">\n<p class=\"choices\"><label>Piece <select id=\"piece\">{pieces}</select></label>\n\
         <label>Square <select id=\"square\">{squares}</select></label>\n\
         <label>Stage <select id=\"stage\">{stages}</select></label>\n{shown}</p>\n<div class=\"focus\">\n"
    ));
    page.put(format_args!("<div>{}</div>\n", figures::empty_board("The chosen piece on its squares", "chosen")));
    page.put(format_args!(
        "<div><p id=\"status\" role=\"status\"></p>\n<h3>What matters most to it</h3>\n<ol id=\"most\"></ol></div>\n</div>\n"
    ));
    for (color, owner) in COLORS.iter().zip(["Own", "Enemy"]) {
        page.put(format_args!("<h3>{owner} pieces</h3>\n<div class=\"boards\">\n"));
        for piece in PIECES {
            let class = format!("other {}", piece.to_index() + 6 * usize::from(*color == Color::Black));
            let title = format!("{owner} {}", piece_name(piece).to_lowercase());
            page.put(format_args!("{}", figures::empty_board(&title, &class)));
        }
        page.put(format_args!("</div>\n"));
    }
    let (colors, inks) = figures::palette();
    page.put(format_args!("{}</div>\n", figures::scale("<span id=\"least\"></span>", "<span id=\"greatest\"></span>")));
    let sets: Vec<serde_json::Value> = sets.iter().map(numbers).collect();
    let all = serde_json::json!({
        "rows": ALL_SQUARES.map(|square| pairs::row(PieceSquare::new(Color::White, Piece::King, square))).to_vec(),
        "letters": PIECES.map(letter),
        "colors": colors,
        "inks": inks,
        "sets": sets,
    });
    page.put(format_args!("<script type=\"application/json\" id=\"numbers\">{}</script>\n", data(&all)));
    page.script(SCRIPT);
}

fn option(value: usize, name: &str, chosen: bool) -> String {
    let chosen = if chosen { " selected" } else { "" };
    format!("<option value=\"{value}\"{chosen}>{}</option>", escape(name))
}

/// The data of a set of weights for the script.
fn numbers(set: &Set) -> serde_json::Value {
    let alone = [0, 1].map(|stage| {
        PIECES.map(|piece| {
            let value = |square: Square| (10.0 * set.location(piece, square, stage)).round() / 10.0;
            ALL_SQUARES.iter().map(|&square| value(square)).collect::<Vec<f64>>()
        })
    });
    let pairs = pair_table(set.weights);
    // Nearly always two bytes per value are enough.
    let narrow: Option<Vec<i16>> = pairs.iter().map(|&value| value.try_into().ok()).collect();
    let (size, bytes): (usize, Vec<u8>) = match narrow {
        Some(narrow) => (2, narrow.iter().flat_map(|value| value.to_le_bytes()).collect()),
        None => (4, pairs.iter().flat_map(|value| value.to_le_bytes()).collect()),
    };
    serde_json::json!({ "unit": set.unit, "alone": alone, "size": size, "pairs": BASE64_STANDARD.encode(bytes) })
}

/// All pair values with a White piece on files a to d, by phase, piece, row, other piece and its square.
fn pair_table(weights: &Weights) -> Vec<i32> {
    let mut table = Vec::with_capacity(2 * 6 * ROWS * 12 * 64);
    for stage in [0, 1] {
        for piece in PIECES {
            for row in 0..ROWS {
                let one = PieceSquare::new(Color::White, piece, pairs::square_of_row(row));
                for (color, other) in COLORS.iter().flat_map(|color| PIECES.map(|piece| (*color, piece))) {
                    table.extend(ALL_SQUARES.map(|square| {
                        let other = PieceSquare::new(color, other, square);
                        let there =
                            square != one.square && can_stand(piece, one.square) && can_stand(other.piece, square);
                        if there { worth_of_pair(weights, one, other)[stage] } else { 0 }
                    }));
                }
            }
        }
    }
    table
}

fn material(page: &mut Page, sets: &[Set]) {
    page.heading("Material");
    let row = |piece: &Piece| {
        let mut row = vec![piece_name(*piece).to_string()];
        for stage in [0, 1] {
            row.extend(sets.iter().map(|set| format!("{:.0}", set.worth(MATERIAL.at(*piece), stage))));
        }
        row
    };
    let rows: Vec<Vec<String>> = PIECES.iter().filter(|piece| **piece != Piece::King).map(row).collect();
    let head: &[&str] = match sets {
        [_] => &["Piece", "middlegame", "endgame"],
        _ => &["Piece", "middlegame, first", "second", "endgame, first", "second"],
    };
    page.table("Values of the pieces without their squares: a pawn of the middlegame is 100.", head, &rows);
}

fn locations(page: &mut Page, sets: &[Set]) {
    page.heading("Piece-square tables");
    let draw = |value: &dyn Fn(Piece, Square, usize) -> f64| {
        let board = |piece: Piece, stage: usize| {
            let values = ALL_SQUARES.map(|square| can_stand(piece, square).then(|| value(piece, square, stage)));
            Board { title: format!("{}, {}", piece_name(piece), STAGES[stage]), values, mark: None }
        };
        let all: Vec<Board> = [0, 1].into_iter().flat_map(|stage| PIECES.map(|piece| board(piece, stage))).collect();
        figures::boards(&all)
    };
    let caption = "What a White piece gains from its square, without its material, in hundredths of a pawn.";
    if let [before, after] = sets {
        let change = |piece: Piece, square: Square, stage: usize| {
            after.location(piece, square, stage) - before.location(piece, square, stage)
        };
        page.figure(&draw(&change), &format!("{caption} The change from the first weights to the second."));
        for set in sets {
            page.folded(&set.name, |page| {
                page.figure(&draw(&|piece, square, stage| set.location(piece, square, stage)), caption);
            });
        }
    } else {
        for set in sets {
            page.figure(&draw(&|piece, square, stage| set.location(piece, square, stage)), caption);
        }
    }
}

/// All other features as bars, by families and groups.
fn features(page: &mut Page, sets: &[Set]) {
    page.heading("Everything else, feature by feature");
    const SHOWN_ELSEWHERE: [Family; 3] = [Family::Material, Family::PieceSquare, Family::Pairs];
    for family in Family::ALL.into_iter().filter(|family| !SHOWN_ELSEWHERE.contains(family)) {
        page.put(format_args!("<h3>{}</h3>\n", escape(&family.name().replace('_', " "))));
        for group in GROUPS.iter().filter(|group| group.family == family) {
            page.folded(&format!("{}: {}", group.name, group.about), |page| bars(page, group, sets));
        }
    }
}

fn bars(page: &mut Page, group: &Group, sets: &[Set]) {
    let all = || group.range().flat_map(|feature| [0, 1].map(|stage| (feature, stage)));
    let largest = sets.iter().flat_map(|set| all().map(|(feature, stage)| set.worth(feature, stage).abs()));
    let largest = largest.fold(0.0, f64::max);
    let name = escape(group.name);
    page.put(format_args!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\"><table class=\"bars\">\n<thead><tr><th \
         scope=\"col\">Feature</th>"
    ));
    for stage in STAGES {
        for which in ["first", "second"].iter().take(sets.len()) {
            let which = if sets.len() > 1 { format!(", {which}") } else { String::new() };
            page.put(format_args!("<th scope=\"col\">{stage}{which}</th>"));
        }
    }
    page.put(format_args!("</tr></thead>\n<tbody>\n"));
    for index in 0..group.len {
        page.put(format_args!("<tr><th scope=\"row\">{}</th>", escape(&group.words(index))));
        for stage in [0, 1] {
            for set in sets {
                let worth = set.worth(group.nth(index), stage);
                let share = if largest > 0.0 { worth.abs() / largest } else { 0.0 };
                let class = if worth < 0.0 { " class=\"minus\"" } else { "" };
                page.put(format_args!("<td>{}<i{class} style=\"--v:{share:.3}\"></i></td>", centipawns(worth)));
            }
        }
        page.put(format_args!("</tr>\n"));
    }
    page.put(format_args!("</tbody>\n</table></div>\n"));
}

fn centipawns(value: f64) -> String {
    let tenths = (10.0 * value).round() / 10.0;
    if tenths == 0.0 { "0".to_string() } else { format!("{tenths:+.1}") }
}

/// The provenance of the weights.
fn history(page: &mut Page, sets: &[Set]) {
    let with_provenance: Vec<&Set> = sets.iter().filter(|set| !set.weights.meta.provenance.is_null()).collect();
    if with_provenance.is_empty() {
        return;
    }
    page.heading("How they were made");
    for set in with_provenance {
        let mut rows = Vec::new();
        flatten(&mut rows, String::new(), &set.weights.meta.provenance);
        page.folded(&set.name, |page| {
            page.table(&format!("What {} says of itself.", set.name), &["Setting", "Value"], &rows);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board as Position;
    use dyad_engine::eval::layout::PAIRS;
    use dyad_engine::eval::layout::{KnightSquares, MOBILITY_KNIGHT};
    use dyad_engine::eval::visit;
    use dyad_engine::eval::visitor::Visitor;

    fn set(name: &str, file: &str) -> (String, Weights) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../weights").join(file);
        (name.to_string(), Weights::load(&path).unwrap())
    }

    /// Sums the 2-tuples of a position.
    struct Pairs<'a>(&'a Weights, [i32; 2]);

    impl Visitor for Pairs<'_> {
        fn add(&mut self, feature: usize, count: i32) {
            if PAIRS.range().contains(&feature) {
                for stage in [0, 1] {
                    self.1[stage] += self.0.ints()[feature][stage] * count;
                }
            }
        }
    }

    /// The table's value of a pair is the gain of the evaluation when both pieces are on the board.
    #[test]
    fn pair_values_match_the_evaluation() {
        let (_, weights) = set("default", "default.json");
        let table = pair_table(&weights);
        let sums = |placement: &str| {
            let mut sums = Pairs(&weights, [0; 2]);
            visit(&Position::from_fen(&format!("{placement} w - - 0 1")).unwrap(), &mut sums);
            sums.1
        };
        let knight = PieceSquare::new(Color::White, Piece::Knight, Square::F5);
        let rook = PieceSquare::new(Color::Black, Piece::Rook, Square::B7);
        let [both, one, other, none] =
            ["7k/1r6/8/5N2/8/8/8/K7", "7k/8/8/5N2/8/8/8/K7", "7k/1r6/8/8/8/8/8/K7", "7k/8/8/8/8/8/8/K7"].map(sums);
        // The table has the mirrored board.
        let row = pairs::row(knight);
        assert_eq!(pairs::square_of_row(row), Square::C5);
        for stage in [0, 1] {
            let place = (((stage * 6 + knight.piece.to_index()) * ROWS + row) * 12 + 6 + rook.piece.to_index()) * 64;
            let value = table[place + Square::G7.to_index()];
            assert_ne!(value, 0);
            assert_eq!(value, both[stage] - one[stage] - other[stage] + none[stage]);
            assert_eq!(value, worth_of_pair(&weights, knight, rook)[stage]);
        }
    }

    #[test]
    fn one_set_or_two_fit_a_page_of_three_megabytes() {
        let (default, linear) = (set("default", "default.json"), set("linear <&>", "linear.json"));
        let one = weights_page(&[(default.0.clone(), &default.1)]);
        assert!(one.len() < 1_500_000, "{}", one.len());
        let words = MOBILITY_KNIGHT.words(3);
        assert!(one.contains(&format!("<th scope=\"row\">{words}</th>")));
        let worth = Set::new(String::new(), &default.1).worth(MOBILITY_KNIGHT.at(KnightSquares(3)), 0);
        assert!(one.contains(&format!("<th scope=\"row\">{words}</th><td>{}<i", centipawns(worth))));
        assert!(one.contains("<select id=\"piece\">") && !one.contains("<select id=\"set\">"));
        let two = weights_page(&[(default.0, &default.1), (linear.0, &linear.1)]);
        assert!(two.len() < 3_000_000, "{}", two.len());
        assert!(two.contains("<select id=\"set\">") && two.contains("What has changed most"));
        assert!(two.contains("linear &lt;&amp;&gt;"));
        let material = Weights::material();
        let bare = weights_page(&[("material".to_string(), &material)]);
        assert!(bare.contains("have no 2-tuples") && !bare.contains("<select"));
        let same = weights_page(&[("a".to_string(), &material), ("b".to_string(), &material)]);
        assert!(same.contains("Nothing: they play alike."));
    }
}
