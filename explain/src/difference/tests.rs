//! Parts of a difference add up to it.

use super::*;
use crate::testing::{board, random_boards};
use dyad_engine::board::{Move, sign};
use dyad_engine::eval::visit;
use dyad_engine::search::{LeafBudget, LeafEnd, LeafSearcher};
use dyad_engine::value::INFINITE;
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The scale is not 1.
fn strange_weights() -> Weights {
    let mut weights = crate::testing::strange_weights();
    weights.units.scale = 937;
    weights
}

/// The sum of weights of a position in fixed point, feature by feature.
fn exact(weights: &Weights, board: &Board) -> i64 {
    let mut list: Vec<(u32, i32)> = Vec::new();
    visit(board, &mut list);
    let ([mg, eg], phase) = (weights.dot(&list).map(i64::from), i64::from(weights.phase(board)));
    2 * (mg * phase + eg * (i64::from(PHASE_MAX) - phase)) * i64::from(weights.units.scale)
}

/// Whether a part belongs to the sum of weights.
fn is_linear(subject: Subject) -> bool {
    matches!(subject, Subject::Material(..) | Subject::Square(..) | Subject::Pair(..)) || subject.group().is_some()
}

/// The parts of a difference, checked to add up, as they are and by topic.
fn checked(weights: &Weights, leaves: [&PvLeaf; 2], side: Color) -> Vec<Part> {
    let difference = Difference::new(weights, leaves, side);
    let parts = difference.parts();
    let sign = i64::from(sign(side));
    let sum = |choose: &dyn Fn(Subject) -> bool| -> i64 {
        parts.iter().filter(|part| choose(part.subject)).map(|part| part.amount).sum()
    };
    let expected = FIXED_POINT * sign * i64::from(leaves[0].value - leaves[1].value);
    assert_eq!(sum(&|_| true), expected);
    assert_eq!(FIXED_POINT * i64::from(difference.value), expected);
    let topics = difference.topics();
    assert_eq!(topics.iter().map(|net| net.amount).sum::<i64>(), expected);
    let inside = |net: &TopicSum| net.parts.iter().map(|part| part.amount).sum::<i64>();
    assert!(topics.iter().all(|net| net.amount == inside(net)));
    assert!(parts.windows(2).all(|two| two[0].amount.abs() >= two[1].amount.abs()));
    // The linear parts and the phase are exactly the difference of the two sums.
    let [first, second] = leaves.map(|leaf| exact(weights, &leaf.board));
    assert_eq!(sum(&|subject| is_linear(subject) || subject == Subject::Phase), sign * (first - second));
    parts
}

/// Two moves in each of 10,000 positions of random games. The leaves are quiescent and have the value of their
/// evaluation, so that no search part remains.
#[test]
fn parts_sum_to_the_difference_exactly() {
    let mut random = Pcg64Mcg::new(20);
    let stop = AtomicBool::new(false);
    let budget = LeafBudget { nodes: u64::MAX, stop: &stop };
    let all = [Weights::embedded(), Arc::new(strange_weights())];
    let mut searchers = all.clone().map(LeafSearcher::new);
    let (mut pairs_of_moves, mut endings, mut phases) = (0, 0, 0);
    random_boards(11_000, 21, |board| {
        let moves = board.moves();
        if moves.len() < 2 || pairs_of_moves == 10_000 {
            return;
        }
        let which = pairs_of_moves % 2;
        let weights = &all[which];
        let mut leaf = |mv: Move| {
            let after = board.after(mv);
            let found = searchers[which].search(&after, 0, (-INFINITE, INFINITE), &budget).expect("it is not stopped");
            let stm_sign = sign(after.side_to_move());
            match found.end {
                LeafEnd::Quiet(quiet) => {
                    let value = weights.units.scaled(stm_sign * found.value);
                    let white = sign(quiet.side_to_move());
                    let known = white * with_endgame_knowledge(&quiet, white * value);
                    endings += usize::from(known != value);
                    PvLeaf { board: quiet, end: PvEnd::Evaluated, value: known }
                }
                _ => PvLeaf { board: after, end: PvEnd::Mate, value: stm_sign * found.value },
            }
        };
        let first = (random.next_u64() % moves.len() as u64) as usize;
        let second = (first + 1 + (random.next_u64() % (moves.len() as u64 - 1)) as usize) % moves.len();
        let leaves = [leaf(moves[first]), leaf(moves[second])];
        let parts = checked(weights, [&leaves[0], &leaves[1]], board.side_to_move());
        for part in &parts {
            match part.subject {
                Subject::Search | Subject::Draw(_) => panic!("{part:?} in {}", board.fen()),
                Subject::Rounding => assert!(part.amount.abs() <= 4 * FIXED_POINT, "{part:?}"),
                Subject::Phase => phases += 1,
                Subject::Mate(place) => assert_eq!(leaves[place].end, PvEnd::Mate),
                Subject::Ending(place) => assert!(leaves[place].board.occupied().popcnt() < 32),
                _ => {}
            }
        }
        pairs_of_moves += 1;
    });
    assert_eq!(pairs_of_moves, 10_000);
    assert!(endings > 50 && phases > 1_000, "{endings} known endings, {phases} changes of the phase");
}

fn leaf(fen: &str, value: Value) -> PvLeaf {
    PvLeaf { board: board(fen), end: PvEnd::Evaluated, value }
}

#[test]
fn topics_are_those_of_a_player() {
    let weights = strange_weights();
    // The knight goes to f3 or h3; the e5 pawn is captured in the first leaf only.
    let leaves = [
        leaf("rnbqkbnr/ppp2ppp/8/3p4/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 0 1", 400),
        leaf("rnbqkbnr/ppp2ppp/8/3pp3/8/7N/PPPPPPPP/RNBQKB1R b KQkq - 0 1", 10),
    ];
    let difference = Difference::new(&weights, [&leaves[0], &leaves[1]], Color::White);
    let names = ["Nf3", "Nh3"];
    let words: Vec<String> = difference.topics().iter().map(|net| net.topic.words(names)).collect();
    for expected in ["material", "White's knight on f3 rather than h3", "safety of Black's king"] {
        assert!(words.iter().any(|word| word == expected), "{expected} in {words:?}");
    }
    let parts: Vec<String> = difference.parts().iter().map(|part| part.subject.words(names)).collect();
    for expected in [
        "after Nf3: 1 more pawn for White",
        "after Nf3: white Nf3 on its square",
        "after Nh3: black e5 on its square",
        "after Nh3: white Nh3 with black e5",
        "after Nf3: White: knight with 5 safe squares",
    ] {
        assert!(parts.iter().any(|part| part == expected), "{expected} in {parts:#?}");
    }
    // A piece that has not moved has no part, nor has a pair of such pieces.
    assert!(!parts.iter().any(|part| part.contains("Ke1 on") || part.contains("Ke1 with white d2")));
}

#[test]
fn endgame_evaluations_and_search_have_parts_of_their_own() {
    let weights = Weights::embedded();
    // Two knights do not mate.
    let value = |board: &Board| EvalSteps::of(&weights, board).value;
    let mut drawn = leaf("8/8/8/4k3/8/8/8/KNN5 w - - 0 1", 0);
    drawn.value = value(&drawn.board);
    let mut won = leaf("8/8/8/4k3/8/8/8/KR6 b - - 0 1", 0);
    won.value = value(&won.board);
    let parts = checked(&weights, [&won, &drawn], Color::White);
    for place in [0, 1] {
        assert!(parts.iter().any(|part| part.subject == Subject::Ending(place)), "{parts:?}");
    }
    assert!(parts.iter().all(|part| part.subject != Subject::Search));
    let repeated = PvLeaf { end: PvEnd::Draw, value: 0, ..won };
    let mated = PvLeaf { end: PvEnd::Mate, value: 31_990, ..won };
    let parts = checked(&weights, [&mated, &repeated], Color::Black);
    for subject in [Subject::Mate(0), Subject::Draw(1)] {
        assert!(parts.iter().any(|part| part.subject == subject), "{parts:?}");
    }
    // The search returns a higher value than the evaluation.
    let raised = PvLeaf { value: drawn.value + 7, ..drawn };
    let parts = checked(&weights, [&raised, &drawn], Color::White);
    assert!(parts.contains(&Part { subject: Subject::Search, amount: 7 * FIXED_POINT }), "{parts:?}");
    assert!(parts.iter().all(|part| part.subject == Subject::Search || matches!(part.subject, Subject::Ending(_))));
}
