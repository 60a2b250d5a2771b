use super::*;
use crate::board::Board;
use crate::engine::Engine;
use crate::eval::Weights;
use crate::value::{INFINITE, mate_in};
use std::sync::Arc;

fn engine() -> Engine {
    Engine::new(Weights::embedded())
}

fn game(fen: &str) -> Game {
    Game::new(Board::from_fen(fen).unwrap())
}

fn search(engine: &mut Engine, game: &Game, limits: &Limits) -> (Outcome, Vec<Info>) {
    search_with(engine, game, limits, &Options::default())
}

fn search_with(engine: &mut Engine, game: &Game, limits: &Limits, options: &Options) -> (Outcome, Vec<Info>) {
    let mut infos = Vec::new();
    let outcome = engine.search(game, limits, options, &Control::new(limits.ponder), &mut |report| {
        if let Report::Info(info) = report {
            infos.push(info.clone());
        }
    });
    (outcome, infos)
}

const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "4k3/8/8/8/8/8/PPPP4/4K3 w - - 0 1",
];

#[test]
fn the_same_search_has_the_same_nodes() {
    for fen in FENS {
        let nodes: Vec<u64> = (0..2).map(|_| search(&mut engine(), &game(fen), &Limits::depth(7)).0.nodes).collect();
        assert_eq!(nodes[0], nodes[1], "{fen}");
    }
}

#[test]
fn clearing_makes_an_engine_new() {
    let mut used = engine();
    let nodes = |engine: &mut Engine, fen| search(engine, &game(fen), &Limits::depth(6)).0.nodes;
    let first = nodes(&mut used, FENS[1]);
    nodes(&mut used, FENS[3]);
    used.clear();
    assert_eq!(nodes(&mut used, FENS[1]), first);
}

#[test]
fn a_crowd_of_threads_answers_once_and_last() {
    let mut crowd = engine();
    crowd.set_threads(300);
    for fen in FENS {
        let mut reports = Vec::new();
        let report = &mut |report: &Report| reports.push(report.clone());
        let outcome =
            crowd.search(&game(fen), &Limits::nodes(5_000), &Options::default(), &Control::new(false), report);
        let answers = reports.iter().filter(|report| matches!(report, Report::Answer(_))).count();
        let Some([Report::Info(info), Report::Answer(answer)]) = reports.last_chunk() else {
            panic!("the answer comes last, after a line on it: {reports:?}")
        };
        assert_eq!((answers, answer.best, info.pv.first().copied()), (1, outcome.best, outcome.best), "{fen}");
    }
    crowd.clear();
    assert_eq!(crowd.threads(), 300);
}

#[test]
fn mates_are_found_with_their_length_and_line() {
    let cases = [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", 1),
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 0 1", 1),
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", 1),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("8/8/8/8/8/1R6/R7/4K2k w - - 0 1", 2),
    ];
    for (fen, moves) in cases {
        let limits = Limits { mate: Some(moves), nodes: Some(1_000_000), ..Limits::default() };
        let (outcome, _) = search(&mut engine(), &game(fen), &limits);
        assert_eq!(outcome.score, Score::Mate(moves as i32), "{fen}");
        assert_eq!(outcome.value, mate_in(2 * moves as usize - 1), "{fen}");
        assert_eq!(outcome.pv.len(), 2 * moves as usize - 1, "{fen}");
    }
}

#[test]
fn a_search_cut_short_tells_what_it_proved() {
    for fen in FENS {
        let mut engine = engine();
        for nodes in (500..20_000).step_by(500) {
            engine.clear();
            let (outcome, infos) = search(&mut engine, &game(fen), &Limits::nodes(nodes));
            let [.., full, last] = &infos[..] else { continue };
            // Either a deeper iteration found something, or it is the last full one's word.
            if last.depth == full.depth {
                assert_eq!((last.pv.first(), last.value), (full.pv.first(), full.value), "{fen} {nodes}");
            } else {
                assert!(last.depth == full.depth + 1 && last.value.abs() < INFINITE, "{fen} {nodes}");
            }
            assert_eq!(outcome.best, last.pv.first().copied());
        }
    }
}

#[test]
fn a_finished_game_has_no_move() {
    for fen in ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"] {
        assert!(search(&mut engine(), &game(fen), &Limits::depth(3)).0.best.is_none());
    }
}

#[test]
fn variations_are_legal_and_begin_with_the_move_played() {
    let mut engine = engine();
    for fen in FENS {
        let (outcome, infos) = search(&mut engine, &game(fen), &Limits::depth(8));
        assert_eq!(infos.last().unwrap().pv.first().copied(), outcome.best);
        for info in &infos {
            let mut game = game(fen);
            for &mv in &info.pv {
                assert_eq!(game.ending(), None, "{fen} goes on after the end");
                assert!(game.board().is_legal(mv), "{fen} {mv}");
                game.push(mv);
            }
        }
    }
}

#[test]
fn several_variations_differ_and_are_sorted() {
    let options = Options { multipv: 4, ..Options::default() };
    let (_, infos) = search_with(&mut engine(), &game(FENS[1]), &Limits::depth(6), &options);
    let last: Vec<&Info> = infos.iter().filter(|info| info.depth == 6).take(4).collect();
    assert_eq!(last.iter().map(|info| info.multipv).collect::<Vec<_>>(), [1, 2, 3, 4]);
    for pair in last.windows(2) {
        assert!(pair[0].value >= pair[1].value);
        assert_ne!(pair[0].pv[0], pair[1].pv[0]);
    }
}

#[test]
fn only_the_moves_asked_for_are_searched() {
    let game = game(FENS[0]);
    let mv = game.board().parse_uci("a2a3").unwrap();
    let limits = Limits { searchmoves: vec![mv], depth: Some(5), ..Limits::default() };
    assert_eq!(search(&mut engine(), &game, &limits).0.best, Some(mv));
}

#[test]
fn node_limits_are_kept_and_helpers_help() {
    let mut engine = engine();
    let (outcome, _) = search(&mut engine, &game(FENS[0]), &Limits::nodes(20_000));
    assert!((19_000..=20_100).contains(&outcome.nodes), "{}", outcome.nodes);
    engine.set_threads(3);
    let (outcome, _) = search(&mut engine, &game(FENS[1]), &Limits::nodes(50_000));
    assert!(outcome.best.is_some());
}

#[test]
fn a_stop_before_the_search_begins_is_obeyed() {
    let control = Control::new(false);
    control.stop();
    let limits = Limits { infinite: true, ..Limits::default() };
    let outcome = engine().search(&game(FENS[0]), &limits, &Options::default(), &control, &mut |_| {});
    assert!(outcome.best.is_some());
}

#[test]
fn a_repetition_is_a_draw() {
    // White is a queen down and checks for ever.
    let (outcome, _) = search(&mut engine(), &game("6k1/5ppp/8/8/8/7q/5P2/4QK2 w - - 0 1"), &Limits::depth(6));
    assert!(outcome.best.is_some());
    let mut repeated = game("7k/8/8/8/8/8/r7/K6q w - - 0 1");
    assert!(repeated.board().in_check());
    repeated.push(repeated.board().moves()[0]);
}

/// The value of the full tree by plain minimax with the evaluation at quiet leaves: what a leaf search must find.
fn minimax(searcher: &mut LeafSearcher, board: &Board, depth: u32) -> Value {
    if depth == 0 || board.insufficient_material() || board.halfmove_clock() >= 100 {
        return searcher.search(board, 0, -INFINITE, INFINITE).value;
    }
    let moves = board.moves();
    if moves.is_empty() {
        return if board.in_check() { -crate::value::MATE } else { 0 };
    }
    moves
        .iter()
        .map(|&mv| {
            let value = -minimax(searcher, &board.after(mv), depth - 1);
            // A mate is one ply further away, seen from here.
            if value >= crate::value::MATE_IN_MAX {
                value - 1
            } else if value <= -crate::value::MATE_IN_MAX {
                value + 1
            } else {
                value
            }
        })
        .max()
        .unwrap_or(0)
}

#[test]
fn leaf_searches_equal_minimax_and_end_in_their_value() {
    let weights = Weights::embedded();
    let mut searcher = LeafSearcher::new(Arc::clone(&weights));
    let mut plain = LeafSearcher::new(weights);
    for fen in FENS {
        let board = Board::from_fen(fen).unwrap();
        for depth in 0..=2 {
            searcher.begin_position();
            let leaf = searcher.search(&board, depth, -INFINITE, INFINITE);
            plain.begin_position();
            assert_eq!(leaf.value, minimax(&mut plain, &board, depth), "{fen} depth {depth}");
            assert!(!matches!(leaf.end, LeafEnd::Bound), "{fen}");
            // The null window finds on which side the value lies.
            let above = searcher.search(&board, depth, leaf.value - 1, leaf.value);
            let below = searcher.search(&board, depth, leaf.value, leaf.value + 1);
            assert!(above.value >= leaf.value && below.value <= leaf.value, "{fen} depth {depth}");
        }
    }
}

#[test]
fn leaf_searches_do_not_depend_on_what_was_searched_before() {
    let mut used = LeafSearcher::new(Weights::embedded());
    for fen in FENS {
        let board = Board::from_fen(fen).unwrap();
        let mut fresh = LeafSearcher::new(Weights::embedded());
        used.begin_position();
        fresh.begin_position();
        let (a, b) = (used.search(&board, 3, -INFINITE, INFINITE), fresh.search(&board, 3, -INFINITE, INFINITE));
        assert_eq!((a.value, a.nodes), (b.value, b.nodes), "{fen}");
        assert_eq!(format!("{:?}", a.end), format!("{:?}", b.end), "{fen}");
    }
}
