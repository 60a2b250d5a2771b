//! The page of weights: pair values of every piece on every square, and all other features.
//!
//! A linear evaluation can be read, but not as a list of 147,000 numbers. So the reader chooses a piece and its square,
//! and twelve boards show what each other piece adds on each square; the other features are bars, in the words of
//! `explain`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dyad_engine::board::{ALL_SQUARES, COLORS, Color, PIECES, Piece, PieceSquare, Square};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{Family, GROUPS, Group, MATERIAL, PAIRS};
use dyad_engine::eval::pairs::{self, ROWS, pair};
use maud::{Markup, html};

use super::pieces::{STAGES, can_stand, in_pawns, pawn, piece_name, piece_square, piece_square_boards};
use crate::page::figures;
use crate::page::html::{Page, data};

const SCRIPT: &str = include_str!("assets/explorer.js");

/// The piece selected initially.
const FOCUS: PieceSquare = PieceSquare { color: Color::White, piece: Piece::Knight, square: Square::F5 };

/// Writes the page of weights, which are called `name` there.
#[must_use]
pub fn weights_page(name: &str, weights: &Weights) -> String {
    let mut page = Page::default();
    page.paragraph(&format!("{name}: weights \u{201c}{}\u{201d}, identity {}.", weights.meta.name, weights.id()));
    page.put(html! {
        p.muted {
            "Values are in pawns, of which a queen is worth about 9, positive for the player whose piece it is. Each weight exists for the \
             middlegame and for the endgame, and counts between the two by the pieces that are left. What a piece is worth is \
             the sum of its material, its square, its company and its features, so none of them alone."
        }
    });
    explorer(&mut page, weights);
    material(&mut page, weights);
    page.heading("Piece-square tables");
    page.figure(&piece_square_boards(weights, None), "What a White piece gains from its square, without its material.");
    features(&mut page, weights);
    history(&mut page, name, weights);
    page.finish(&format!("Weights: {name}"))
}

/// The pair explorer: a piece on a square, and twelve boards of what others add.
fn explorer(page: &mut Page, weights: &Weights) {
    page.heading("A piece and its company");
    if !weights.compiled().has_pairs() {
        page.paragraph("These weights have no 2-tuples: no piece is worth more or less by where another one stands.");
        return;
    }
    page.paragraph(
        "Choose a White piece and click a square of the large board, which shows what the piece gains there by its square \
         alone. The twelve boards then show what each other piece adds on each of its squares, with both 2-tuples of the \
         two. Click a square there to read it in words.",
    );
    let squares = ALL_SQUARES.map(|square| square.to_string());
    let numbers = numbers(weights);
    page.put(html! {
        div #explorer {
            p.choices {
                (choice("Piece", "piece", &PIECES.map(piece_name), FOCUS.piece.to_index()))
                (choice("Square", "square", &squares, FOCUS.square.to_index()))
                (choice("Stage", "stage", &STAGES, 0))
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

/// The data for the script.
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
    let (colors, inks): (Vec<String>, Vec<&str>) = figures::palette().unzip();
    serde_json::json!({
        "rows": ALL_SQUARES.map(|square| pairs::row(PieceSquare::new(Color::White, Piece::King, square))).to_vec(),
        "colors": colors,
        "inks": inks,
        "alone": alone,
        "pairs": BASE64_STANDARD.encode(bytes),
    })
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

fn material(page: &mut Page, weights: &Weights) {
    page.heading("Material");
    let row = |piece: &Piece| {
        let numbers = [0, 1].map(|stage| format!("{:.2}", in_pawns(weights, MATERIAL.at(*piece), stage)));
        [piece_name(*piece).to_string()].into_iter().chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = PIECES.iter().filter(|piece| **piece != Piece::King).map(row).collect();
    let caption = "Values of the pieces without their squares and their company.";
    page.table(caption, &["Piece", "middlegame", "endgame"], &rows);
}

/// All other features as bars, by families and groups.
fn features(page: &mut Page, weights: &Weights) {
    page.heading("Everything else, feature by feature");
    const SHOWN_ELSEWHERE: [Family; 3] = [Family::Material, Family::PieceSquare, Family::Pairs];
    for family in Family::ALL.into_iter().filter(|family| !SHOWN_ELSEWHERE.contains(family)) {
        page.put(html! { h3 { (family.name().replace('_', " ")) } });
        for group in GROUPS.iter().filter(|group| group.family == family) {
            page.folded(&format!("{}: {}", group.name, group.about), |page| page.put(bars(group, weights)));
        }
    }
}

fn bars(group: &Group, weights: &Weights) -> Markup {
    let values = group.range().flat_map(|feature| [0, 1].map(|stage| in_pawns(weights, feature, stage)));
    let largest = values.fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    html! {
        div.scroll tabindex="0" role="region" aria-label=(group.name) {
            table.bars {
                thead { tr {
                    th scope="col" { "Feature" }
                    @for stage in STAGES { th scope="col" { (stage) } }
                } }
                tbody { @for index in 0..group.len { tr {
                    th scope="row" { (group.words(index)) }
                    @for stage in [0, 1] {
                        @let value = in_pawns(weights, group.nth(index), stage);
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
fn history(page: &mut Page, name: &str, weights: &Weights) {
    if weights.meta.provenance.is_null() {
        return;
    }
    page.heading("How they were made");
    page.values(name, &weights.meta.provenance);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board as Position;
    use dyad_engine::eval::layout::{KnightSquares, MOBILITY_KNIGHT};
    use dyad_engine::eval::visit;
    use dyad_engine::eval::visitor::Visitor;

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
        let weights = Weights::embedded();
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
    fn the_page_has_one_and_a_half_megabytes() {
        let weights = Weights::embedded();
        let page = weights_page("default <&>", &weights);
        assert!(page.len() < 1_500_000, "{}", page.len());
        let (words, value) = (MOBILITY_KNIGHT.words(3), in_pawns(&weights, MOBILITY_KNIGHT.at(KnightSquares(3)), 0));
        assert!(page.contains(&format!("<th scope=\"row\">{words}</th><td>{}<i", signed(value))));
        assert!(page.contains("<select id=\"piece\">") && page.contains("default &lt;&amp;&gt;"));
        let bare = weights_page("material", &Weights::material());
        assert!(bare.contains("have no 2-tuples") && !bare.contains("<select"));
    }
}
