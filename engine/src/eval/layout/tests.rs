//! The table of features and what is derived from it.

use super::*;
use std::collections::HashSet;
use std::fmt::Write;

#[test]
fn names_are_unique_and_lie_end_to_end() {
    let names: HashSet<_> = GROUPS.iter().map(|group| group.name).collect();
    assert_eq!(names.len(), GROUPS.len());
    for pair in GROUPS.windows(2) {
        assert_eq!(pair[0].start + pair[0].len, pair[1].start, "{}", pair[1].name);
    }
    assert_eq!(GROUPS[0].start, 0);
    assert_eq!(PAIRS.len, 145_152);
    assert_eq!(PAWN_ISOLATED.name, "pawn_isolated");
}

#[test]
fn families_are_runs_of_groups() {
    let mut families: Vec<Family> = GROUPS.iter().map(|group| group.family).collect();
    families.dedup();
    assert_eq!(families, Family::ALL);
    assert_eq!(Family::ALL.map(Family::name).into_iter().collect::<HashSet<_>>().len(), Family::ALL.len());
}

#[test]
fn a_feature_knows_its_group() {
    for known in GROUPS {
        assert_eq!(group(known.name), Some(known));
        for feature in [known.start, known.start + known.len - 1] {
            assert_eq!(group_of(feature), known);
        }
    }
    assert_eq!(group("nonsense"), None);
}

#[test]
fn a_selection_is_a_group_a_beginning_or_a_family() {
    let expect = |selection: &str, expected: &[&str]| {
        let names: Vec<&str> = select(selection).expect("known groups").iter().map(|group| group.name).collect();
        assert_eq!(names, expected, "{selection}");
    };
    expect("space", &["space"]);
    expect("@space", &["space", "center_control", "tempo"]);
    expect("minor_*", &["minor_behind_pawn", "minor_king_distance"]);
    expect("@pairs", &["pairs"]);
    assert_eq!(select("*").map(|groups| groups.len()), Ok(GROUPS.len()));
    for wrong in ["location", "@lead", "minor_", "@minor", "@", "", "bishops*"] {
        let error = select(wrong).expect_err(wrong);
        assert!(
            error.starts_with(&format!("no group of features is called {wrong}; there are material, piece_square"))
        );
        assert!(error.ends_with("@winnability, @pairs"), "{error}");
    }
}

/// No two features of a group have the same words.
#[test]
fn every_feature_has_words_of_its_own() {
    for group in GROUPS.iter().filter(|group| **group != PAIRS) {
        let all: HashSet<String> = (0..group.len).map(|index| group.words(index)).collect();
        assert_eq!(all.len(), group.len, "{}", group.name);
        for words in all {
            let tidy = !words.contains(['{', '}']) && !words.contains("  ") && !words.ends_with([' ', ',', ':']);
            assert!(tidy && words.len() > 4, "{}: '{words}'", group.name);
        }
    }
}

#[test]
fn words_are_those_of_a_player() {
    let cases = [
        (MATERIAL.at(Piece::Queen), "extra queen"),
        (PIECE_SQUARE.at(Piece::Knight, HalfSquare(4)), "knight on a2"),
        (
            PAWN_ISOLATED.at(Opposed(false), Doubled(true), EdgeFile(3)),
            "doubled isolated pawn on the d- or e-file, unopposed",
        ),
        (PAWN_ISOLATED.at(Opposed(true), Doubled(false), EdgeFile(0)), "isolated pawn on an edge file, opposed"),
        (MOBILITY_KNIGHT.at(KnightSquares(1)), "knight with 1 safe square"),
        (MOBILITY_QUEEN.at(QueenSquares(27)), "queen with 27 or more safe squares"),
        (
            PASSED_ENEMY_KING.at(PawnRank(5), Distance(2)),
            "passed pawn on the 6th rank, enemy king 2 moves from the stop square",
        ),
        (ROOK_SEVENTH.at(ConfinesKing(false), AgainstPawns(true)), "rook on the 7th rank, against pawns"),
        (ATTACKED.at(Defense::ByPawn, Attacker(1), Target(3)), "knight attacking a rook, defended by a pawn"),
        (SAFE_CHECKS.at(SafeChecks::All(0)), "no safe checks"),
        (
            SHELTER.at(BeforeKing(true), EdgeFile(1), NearestPawn(1)),
            "shelter in front of the king on the b- or g-file: pawn on the 2nd rank",
        ),
        (PAIRS.start, "white a1 with white b1"),
        (MATERIAL_PAIRS_OWN.nth(0), "no pawns with no knights"),
        (MATERIAL_PAIRS_ENEMY.nth(80), "8 pawns against 8 pawns"),
    ];
    for (feature, expected) in cases {
        assert_eq!(describe(feature), expected);
    }
}

fn markdown() -> String {
    let mut text =
        String::from("| family | group | features | what they count | properties |\n|---|---|---:|---|---|\n");
    let mut family = None;
    for group in GROUPS {
        let first = family.replace(group.family) != Some(group.family);
        let family = if first { group.family.name() } else { "" };
        let properties: Vec<String> = match group.properties {
            [property] => vec![property.name.to_string()],
            several => several.iter().map(|property| format!("{} ({})", property.name, property.len)).collect(),
        };
        let (name, features, about) = (group.name, thousands(group.len), group.about);
        let _ = writeln!(text, "| {family} | `{name}` | {features} | {about} | {} |", properties.join(", "));
    }
    let _ = writeln!(text, "| | **{} groups** | **{}** | | |", GROUPS.len(), thousands(LEN));
    text
}

fn thousands(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

/// The table of features in the documentation is up to date.
/// `DYAD_RENEW=1 cargo test -p dyad-engine features_in_the_documentation` rewrites it.
#[test]
fn features_in_the_documentation() {
    const BEGIN: &str = "<!-- features: written by the test features_in_the_documentation -->\n";
    const END: &str = "<!-- features end -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/evaluation.md");
    let text = std::fs::read_to_string(path).expect("docs/evaluation.md");
    let (before, rest) = text.split_once(BEGIN).expect("the table has a beginning");
    let (table, after) = rest.split_once(END).expect("the table has an end");
    if table != markdown() {
        if std::env::var_os("DYAD_RENEW").is_some() {
            std::fs::write(path, format!("{before}{BEGIN}{}{END}{after}", markdown())).expect("docs/evaluation.md");
        } else {
            panic!(
                "the table of features in docs/evaluation.md differs from eval/layout.rs: \
                 DYAD_RENEW=1 cargo test -p dyad-engine features_in_the_documentation rewrites it"
            );
        }
    }
}
