//! The page of weights: pair values of every piece on every square, and all other features.
//!
//! A linear evaluation can be read, but not as a list of 147,000 numbers. So the reader chooses a piece and its square,
//! and twelve boards show what each other piece adds on each square; the other features are bars, in the words of
//! `explain`. With a second set of weights the page shows both and the changes.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dyad_engine::board::{ALL_SQUARES, COLORS, Color, PIECES, Piece, PieceSquare, Square};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{self, Family, GROUPS, Group, LEN, MATERIAL, PAIRS};
use dyad_engine::eval::pairs::{self, ROWS, pair};
use maud::{Markup, html};

use super::pieces::{STAGES, can_stand, in_pawns, pawn, piece_name, piece_square, piece_square_boards};
use crate::page::figures;
use crate::page::html::{Page, data, flatten};

const SCRIPT: &str = include_str!("assets/explorer.js");

/// Number of changes listed.
const SHOWN_CHANGES: usize = 40;

/// The piece selected initially.
const FOCUS: PieceSquare = PieceSquare { color: Color::White, piece: Piece::Knight, square: Square::F5 };

/// A named set of weights.
type Set<'a> = (String, &'a Weights);

/// Writes the page of one set of weights, or of two with the changes.
#[must_use]
pub fn weights_page(sets: &[Set]) -> String {
    let mut page = Page::default();
    for ((name, weights), which) in sets.iter().zip(["First", "Second"]) {
        let before = if sets.len() > 1 { format!("{which}: ") } else { String::new() };
        let (own_name, id) = (&weights.meta.name, weights.id());
        page.paragraph(&format!("{before}{name}: weights \u{201c}{own_name}\u{201d}, identity {id}."));
    }
    page.put(html! {
        p.muted {
            "Values are in pawns, of which a queen is worth about 9, positive for the player whose piece it is. Each weight exists for the \
             middlegame and for the endgame, and counts between the two by the pieces that are left. What a piece is worth is \
             the sum of its material, its square, its company and its features, so none of them alone."
        }
    });
    if let [(_, before), (_, after)] = sets {
        changes(&mut page, before, after);
    }
    explorer(&mut page, sets);
    material(&mut page, sets);
    piece_squares(&mut page, sets);
    features(&mut page, sets);
    history(&mut page, sets);
    let names: Vec<&str> = sets.iter().map(|(name, _)| name.as_str()).collect();
    page.finish(&format!("Weights: {}", names.join(" and ")))
}

/// The largest changes.
fn changes(page: &mut Page, before: &Weights, after: &Weights) {
    page.heading("What has changed most");
    let values = |feature, stage| [before, after].map(|weights| in_pawns(weights, feature, stage));
    let change = |feature: usize, stage: usize| {
        let [before, after] = values(feature, stage);
        after - before
    };
    let size = |feature: &usize| change(*feature, 0).abs().max(change(*feature, 1).abs());
    let mut all: Vec<usize> = (0..LEN).filter(|feature| size(feature) >= 0.001).collect();
    all.sort_by(|one, other| size(other).total_cmp(&size(one)));
    if all.is_empty() {
        page.paragraph("Nothing: they play alike.");
        return;
    }
    let row = |&feature: &usize| {
        let numbers = [0, 1].into_iter().flat_map(|stage| {
            let [before, after] = values(feature, stage);
            [before, after, after - before].map(signed)
        });
        [layout::describe(feature)].into_iter().chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = all.iter().take(SHOWN_CHANGES).map(row).collect();
    page.table(
        &format!("The largest of {} changes.", all.len()),
        &["Feature", "middlegame, first", "second", "change", "endgame, first", "second", "change"],
        &rows,
    );
}

/// The pair explorer: a piece on a square, and twelve boards of what others add.
fn explorer(page: &mut Page, sets: &[Set]) {
    page.heading("A piece and its company");
    if !sets.iter().any(|(_, weights)| weights.compiled().has_pairs()) {
        page.paragraph("These weights have no 2-tuples: no piece is worth more or less by where another one stands.");
        return;
    }
    page.paragraph(
        "Choose a White piece and click a square of the large board, which shows what the piece gains there by its square \
         alone. The twelve boards then show what each other piece adds on each of its squares, with both 2-tuples of the \
         two. Click a square there to read it in words.",
    );
    let squares = ALL_SQUARES.map(|square| square.to_string());
    let (colors, inks): (Vec<String>, Vec<&str>) = figures::palette().unzip();
    let numbers = serde_json::json!({
        "rows": ALL_SQUARES.map(|square| pairs::row(PieceSquare::new(Color::White, Piece::King, square))).to_vec(),
        "colors": colors,
        "inks": inks,
        "sets": sets.iter().map(|(_, weights)| numbers(weights)).collect::<Vec<_>>(),
    });
    page.put(html! {
        div #explorer {
            p.choices {
                (choice("Piece", "piece", &PIECES.map(piece_name), FOCUS.piece.to_index()))
                (choice("Square", "square", &squares, FOCUS.square.to_index()))
                (choice("Stage", "stage", &STAGES, 0))
                @if sets.len() > 1 { (choice("Show", "set", &["change from first to second", "first", "second"], 0)) }
            }
            div.focus {
                div { (figures::empty_board("board chosen", "The chosen piece on its squares")) }
                div {
                    p #status role="status" {}
                    h3 { "What matters most to it" }
                    ol #most {}
                }
            }
            @for owner in ["Own", "Enemy"] {
                h3 { (owner) " pieces" }
                div.boards {
                    @for piece in PIECES {
                        (figures::empty_board("board other", &format!("{owner} {}", piece_name(piece).to_lowercase())))
                    }
                }
            }
            (figures::scale(&html! { span #least {} }, &html! { span #greatest {} }))
        }
        script #numbers type="application/json" { (data(&numbers)) }
    });
    page.script(SCRIPT);
}

fn choice(label: &str, id: &str, names: &[impl AsRef<str>], chosen: usize) -> Markup {
    html! {
        label {
            (label) " "
            select id=(id) {
                @for (value, name) in names.iter().enumerate() {
                    option value=(value) selected[value == chosen] { (name.as_ref()) }
                }
            }
        }
    }
}

/// The data of a set of weights for the script.
fn numbers(weights: &Weights) -> serde_json::Value {
    let alone = [0, 1].map(|stage| {
        PIECES.map(|piece| {
            let value = |&square: &Square| (1000.0 * piece_square(weights, piece, square, stage)).round() / 1000.0;
            ALL_SQUARES.iter().map(value).collect::<Vec<f64>>()
        })
    });
    let (pairs, pawn) = (pair_table(weights), pawn(weights));
    let thousandths = pairs.iter().map(|&value| (1000.0 * f64::from(value) / pawn).round() as i16);
    let bytes: Vec<u8> = thousandths.flat_map(i16::to_le_bytes).collect();
    serde_json::json!({ "alone": alone, "pairs": BASE64_STANDARD.encode(bytes) })
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
                        if there { value_of_pair(weights, one, other)[stage] } else { 0 }
                    }));
                }
            }
        }
    }
    table
}

/// The pair weight of two pieces for White, in middlegame and endgame: the sum of both 2-tuples, one from each piece's
/// view.
fn value_of_pair(weights: &Weights, one: PieceSquare, other: PieceSquare) -> [i32; 2] {
    let views = [pair(one, other), pair(other, one)];
    [0, 1].map(|stage| views.iter().map(|view| view.sign * weights.ints()[PAIRS.at(*view)][stage]).sum())
}

fn material(page: &mut Page, sets: &[Set]) {
    page.heading("Material");
    let row = |piece: &Piece| {
        let numbers = [0, 1].into_iter().flat_map(|stage| {
            sets.iter().map(move |(_, weights)| format!("{:.2}", in_pawns(weights, MATERIAL.at(*piece), stage)))
        });
        [piece_name(*piece).to_string()].into_iter().chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = PIECES.iter().filter(|piece| **piece != Piece::King).map(row).collect();
    let head: &[&str] = match sets {
        [_] => &["Piece", "middlegame", "endgame"],
        _ => &["Piece", "middlegame, first", "second", "endgame, first", "second"],
    };
    page.table("Values of the pieces without their squares and their company.", head, &rows);
}

fn piece_squares(page: &mut Page, sets: &[Set]) {
    page.heading("Piece-square tables");
    let caption = "What a White piece gains from its square, without its material.";
    if let [(_, before), (_, after)] = sets {
        let boards = piece_square_boards(after, Some(before));
        page.figure(&boards, &format!("{caption} The change from the first weights to the second."));
        for (name, weights) in sets {
            page.folded(name, |page| page.figure(&piece_square_boards(weights, None), caption));
        }
    } else {
        sets.iter().for_each(|(_, weights)| page.figure(&piece_square_boards(weights, None), caption));
    }
}

/// All other features as bars, by families and groups.
fn features(page: &mut Page, sets: &[Set]) {
    page.heading("Everything else, feature by feature");
    const SHOWN_ELSEWHERE: [Family; 3] = [Family::Material, Family::PieceSquare, Family::Pairs];
    for family in Family::ALL.into_iter().filter(|family| !SHOWN_ELSEWHERE.contains(family)) {
        page.put(html! { h3 { (family.name().replace('_', " ")) } });
        for group in GROUPS.iter().filter(|group| group.family == family) {
            page.folded(&format!("{}: {}", group.name, group.about), |page| page.put(bars(group, sets)));
        }
    }
}

fn bars(group: &Group, sets: &[Set]) -> Markup {
    let columns: Vec<(usize, &Weights, &str)> = [0, 1]
        .into_iter()
        .flat_map(|stage| sets.iter().zip([", first", ", second"]).map(move |(set, which)| (stage, set.1, which)))
        .collect();
    let values =
        group.range().flat_map(|feature| columns.iter().map(move |(stage, set, _)| in_pawns(set, feature, *stage)));
    let largest = values.fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    html! {
        div.scroll tabindex="0" role="region" aria-label=(group.name) {
            table.bars {
                thead { tr {
                    th scope="col" { "Feature" }
                    @for (stage, _, which) in &columns {
                        th scope="col" { (STAGES[*stage]) @if sets.len() > 1 { (which) } }
                    }
                } }
                tbody { @for index in 0..group.len { tr {
                    th scope="row" { (group.words(index)) }
                    @for (stage, set, _) in &columns {
                        @let value = in_pawns(set, group.nth(index), *stage);
                        td {
                            (signed(value))
                            i class=[(value < 0.0).then_some("minus")] style=(format!("--v:{:.3}", value.abs() / largest)) {}
                        }
                    }
                } } }
            }
        }
    }
}

fn signed(pawns: f64) -> String {
    let text = format!("{pawns:+.3}");
    if ["+0.000", "-0.000"].contains(&text.as_str()) { "0".to_string() } else { text }
}

/// The provenance of the weights.
fn history(page: &mut Page, sets: &[Set]) {
    let provenance = |weights: &Weights| Some(weights.meta.provenance.clone()).filter(|value| !value.is_null());
    if sets.iter().any(|(_, weights)| provenance(weights).is_some()) {
        page.heading("How they were made");
    }
    for (name, provenance) in sets.iter().filter_map(|(name, weights)| Some((name, provenance(weights)?))) {
        let mut rows = Vec::new();
        flatten(&mut rows, String::new(), &provenance);
        page.folded(name, |page| page.table(&format!("What {name} says of itself."), &["Setting", "Value"], &rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board as Position;
    use dyad_engine::eval::layout::{KnightSquares, MOBILITY_KNIGHT};
    use dyad_engine::eval::visit;
    use dyad_engine::eval::visitor::Visitor;
    use dyad_formats::weights_file;

    fn set(name: &str, file: &str) -> (String, Weights) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../weights").join(file);
        (name.to_string(), weights_file::load(&path).unwrap())
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
            assert_eq!(value, value_of_pair(&weights, knight, rook)[stage]);
        }
    }

    #[test]
    fn one_set_or_two_fit_a_page_of_three_megabytes() {
        let (default, linear) = (set("default", "default.json"), set("linear <&>", "linear.json"));
        let one = weights_page(&[(default.0.clone(), &default.1)]);
        assert!(one.len() < 1_500_000, "{}", one.len());
        let words = MOBILITY_KNIGHT.words(3);
        assert!(one.contains(&format!("<th scope=\"row\">{words}</th>")));
        let value = in_pawns(&default.1, MOBILITY_KNIGHT.at(KnightSquares(3)), 0);
        assert!(one.contains(&format!("<th scope=\"row\">{words}</th><td>{}<i", signed(value))));
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
