//! Endgames with textbook results.

use super::*;
use crate::board::sign;
use crate::eval::tests::board;

fn eval(fen: &str) -> Option<EndgameEval> {
    probe(&board(fen), Color::White)
}

fn value(fen: &str) -> i32 {
    match eval(fen) {
        Some(EndgameEval::Value(value)) => value,
        other => panic!("{fen}: {other:?}"),
    }
}

#[test]
fn king_and_pawn_against_king_has_the_known_number_of_wins() {
    assert_eq!(kpk::count_wins(), 111_282);
}

#[test]
fn king_and_pawn_facts() {
    let cases = [
        // The opposition decides.
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", true),
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", true),
        ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", false),
        ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", true),
        ("4k3/4P3/4K3/8/8/8/8/8 b - - 0 1", false),
        // A rook pawn with the defending king in the corner.
        ("k7/8/K7/P7/8/8/8/8 w - - 0 1", false),
        // The square of the pawn.
        ("8/8/8/7P/8/2k5/8/K7 w - - 0 1", true),
        ("8/8/8/7P/3k4/8/8/K7 b - - 0 1", false),
    ];
    for (fen, won) in cases {
        let sign = sign(board(fen).side_to_move());
        assert_eq!(sign * value(fen) > KNOWN_WIN, won, "{fen}");
        assert_eq!(value(fen) == 0, !won, "{fen}");
    }
}

#[test]
fn draws_are_draws() {
    for fen in [
        "4k3/8/8/8/8/8/8/4K1N1 w - - 0 1",
        "4k3/8/8/8/8/8/8/4KNN1 w - - 0 1",
        "4k3/8/8/8/8/8/8/2B1K3 b - - 0 1",
        "4kn2/8/8/8/8/8/8/4KB2 w - - 0 1",
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    ] {
        assert_eq!(eval(fen), KNOWN_DRAW, "{fen}");
    }
}

#[test]
fn advantages_that_cannot_be_won_are_scaled() {
    let cases = [
        ("k7/8/8/8/P7/8/8/2B1K3 w - - 0 1", Color::White, 0),
        ("4k3/2b5/8/7p/8/8/8/7K w - - 0 1", Color::Black, 0),
        ("4k3/5b2/8/7p/8/8/8/7K w - - 0 1", Color::Black, 64),
        ("1k6/8/8/8/8/P7/P7/4K3 w - - 0 1", Color::White, 0),
        ("4k3/8/8/3BPP2/8/8/3b4/4K3 w - - 0 1", Color::White, 38),
        ("4k3/8/r7/8/3PK3/8/8/1R6 w - - 0 1", Color::White, 0),
        ("4kr2/8/8/8/8/8/8/3RKN2 w - - 0 1", Color::White, 16),
    ];
    for (fen, color, scale) in cases {
        match eval(fen) {
            Some(EndgameEval::ScaleFactor(of, parts)) => assert_eq!((of, parts), (color, scale), "{fen}"),
            None => assert_eq!(scale, FULL_SCALE, "{fen}"),
            other => panic!("{fen}: {other:?}"),
        }
    }
}

#[test]
fn wins_improve_towards_the_mate() {
    let ladders = [
        ["8/8/8/3k4/8/8/8/KR6 w - - 0 1", "8/8/3k4/8/3K4/8/8/1R6 w - - 0 1", "3k4/8/3K4/8/8/8/8/1R6 w - - 0 1"],
        ["8/8/8/3k4/8/8/8/KBN5 w - - 0 1", "4k3/8/4K3/8/8/8/8/1BN5 w - - 0 1", "k7/8/1K6/8/8/8/8/1BN5 w - - 0 1"],
    ];
    for fens in ladders {
        let values = fens.map(value);
        assert!(values.is_sorted() && values[0] >= KNOWN_WIN, "{values:?}");
        assert!(values[2] < crate::eval::evaluator::MAX_EVALUATION, "{values:?}");
    }
    // The bishop on b1 is light-squared: a8 is its corner, h8 is not.
    let (right, wrong) = (value("k7/8/1K6/8/8/8/8/1B1N4 w - - 0 1"), value("7k/8/6K1/8/8/8/8/1B1N4 w - - 0 1"));
    assert!(right > wrong);
}

#[test]
fn exceptions_of_the_rules_are_recognized() {
    assert!(value("7K/8/8/8/8/8/pk6/4Q3 w - - 0 1") < 300);
    assert!(value("7K/8/8/8/8/8/1pk5/4Q3 w - - 0 1") > 1000);
    assert!(value("8/8/8/4k3/8/8/r7/4KQ2 w - - 0 1") > 500);
    assert!(value("8/8/8/4k3/8/8/n7/4KQ2 w - - 0 1") > value("8/8/8/4k3/8/8/r7/4KQ2 w - - 0 1"));
    assert!(value("8/8/8/8/8/3pk3/8/K6R w - - 0 1") < 300);
    assert!(value("7k/8/8/3p4/8/3K4/8/R7 w - - 0 1") > 700);
}

#[test]
fn middlegames_have_no_endgame_evaluation() {
    assert_eq!(probe(&Board::startpos(), Color::White), None);
    assert_eq!(eval("r1bq1rk1/pp3ppp/2n2n2/3p4/3P4/2N2N2/PP3PPP/R1BQ1RK1 w - - 0 1"), None);
}
