//! Comparisons of moves by search.

use super::*;
use crate::difference::Subject;
use crate::testing::{compare, engine, game, random_boards};

#[test]
fn a_position_that_occurs_twice_is_no_draw_yet() {
    let fen = "4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1";
    let compared = compare(&game(fen, "a1a2 e8d8 a2a1 d8e8"), ["a1b1", "a1a2"], 2_000);
    assert!(compared.moves.iter().all(|one| matches!(one.score, Score::Cp(300..) | Score::Mate(1..))));
    // The third time it is one.
    let twice = "a1a2 e8d8 a2a1 d8e8 a1a2 e8d8 a2a1 d8e8";
    let compared = compare(&game(fen, twice), ["a1b1", "a1a2"], 2_000);
    assert_eq!(compared.moves[1].score, Score::Cp(0));
}

/// The numbers above each closing line add up to the number below it.
fn assert_shown_numbers_add_up(text: &str) {
    let (mut sum, mut closed, mut sums) = (0, false, 0);
    for line in text.lines().filter(|line| line.starts_with("  ")) {
        if line.trim_start().starts_with("====") {
            closed = true;
            continue;
        }
        // Parts of a topic are indented, and lines of moves begin with a letter.
        let number = line.get(2..9).and_then(|column| column.trim().parse::<f64>().ok());
        let Some(number) = number.map(|number| (100.0 * number).round() as i32) else { continue };
        if std::mem::take(&mut closed) {
            assert_eq!(sum, number, "{text}");
            (sum, sums) = (0, sums + 1);
        } else {
            sum += number;
        }
    }
    assert_eq!(sums, 2, "{text}");
}

#[test]
fn searched_moves_differ_by_the_sum_of_their_parts() {
    let mut engine = engine();
    let (mut count, mut nth) = (0, 0);
    random_boards(1_500, 5, |board| {
        nth += 1;
        let moves = board.moves();
        if nth % 7 != 0 || moves.len() < 2 {
            return;
        }
        count += 1;
        let (game, control) = (Game::new(*board), Control::new(false));
        let pair = [moves[nth % moves.len()], moves[(nth + 1) % moves.len()]];
        let limits = Limits::nodes(600);
        let options = Options::default();
        let found = Comparison::search(&mut engine, &game, pair, &limits, &options, &control);
        let found = found.unwrap_or_else(|| panic!("{} {pair:?}", board.fen()));
        assert_eq!(found.moves.each_ref().map(|compared| compared.line[0]), pair);
        let sum: i64 = found.difference.parts().iter().map(|part| part.amount).sum();
        let sign = sign(board.side_to_move());
        let [first, second] = found.moves.each_ref().map(|compared| compared.leaf.value);
        assert_eq!(sum, FIXED_POINT * i64::from(sign * (first - second)));
        for compared in &found.moves {
            // The variation ends in the leaf.
            let end = compared.line.iter().fold(*board, |board, &mv| {
                assert!(board.is_legal(mv));
                board.after(mv)
            });
            assert_eq!(end.fen(), compared.leaf.board.fen());
        }
        assert_shown_numbers_add_up(&found.to_string());
    });
    assert!(count > 150, "{count}");
}

#[test]
fn mates_and_draws_are_named() {
    let mating = game("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "");
    let found = compare(&mating, ["d1d8", "d1d2"], 2_000);
    assert_eq!(found.moves[0].score, Score::Mate(1));
    assert!(found.difference.parts().iter().any(|part| part.subject == Subject::Mate(0)));
    let text = found.to_string();
    assert!(text.contains("#1  1. Rd8#") && text.contains("the line of Rd8# ends in mate"), "{text}");
    // Stalemate.
    let stalemating = game("7k/8/6K1/p7/P7/8/8/5Q2 w - - 0 1", "");
    let found = compare(&stalemating, ["f1f2", "f1f7"], 2_000);
    assert_eq!(found.moves[1].leaf.end, PvEnd::Draw);
    assert!(found.difference.parts().iter().any(|part| part.subject == Subject::Draw(1)));
}

#[test]
fn a_move_is_compared_with_the_best_other_one() {
    let start = game("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "");
    let mut engine = engine();
    let mut with_best = |fen: &Game, mv: &str, control: &Control| {
        let mv = fen.board().parse_uci(mv).expect("a legal move");
        let (limits, options) = (Limits::nodes(2_000), Options::default());
        Comparison::with_best(&mut engine, fen, mv, &limits, &options, control)
    };
    let run = Control::new(false);
    let found = with_best(&start, "d1d2", &run).expect("there are two moves");
    assert_eq!(found.names(), ["Rd8#", "Rd2"]);
    let found = with_best(&start, "d1d8", &run).expect("there are two moves");
    assert_eq!(found.names()[1], "Rd8#");
    assert!(found.difference.value < -10_000);
    // The only move.
    let forced = game("7k/8/8/8/8/8/1q6/K7 w - - 0 1", "");
    assert!(with_best(&forced, "a1b2", &run).is_none());
}
