use super::*;
use crate::board::{Board, Color, Ending, Squares};
use crate::engine::{DEFAULT_HASH, Engine};
use crate::search::tt::Bound;
use crate::value::{INFINITE, mate_in};

fn engine() -> Engine {
    Engine::with_hash(Weights::embedded(), DEFAULT_HASH).unwrap()
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

pub(super) const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "4k3/8/8/8/8/8/PPPP4/4K3 w - - 0 1",
];

#[test]
fn a_cleared_engine_is_like_a_new_one() {
    let mut used = engine();
    let nodes = |engine: &mut Engine, fen| search(engine, &game(fen), &Limits::depth(6)).0.nodes;
    let first = nodes(&mut used, FENS[1]);
    nodes(&mut used, FENS[3]);
    used.clear();
    assert_eq!(nodes(&mut used, FENS[1]), first);
}

#[test]
fn threads_share_the_limit_of_nodes() {
    for threads in [1, 2, 4, 7] {
        let mut engine = engine();
        engine.set_threads(threads);
        for limit in [1_000, 5_000, 40_000] {
            let (outcome, _) = search(&mut engine, &game(FENS[0]), &Limits::nodes(limit));
            // Worker 0 completes its first iteration, of some 20 nodes here, even if the helpers left it none.
            assert!(outcome.nodes < limit + 100, "{threads} threads, {limit}: {}", outcome.nodes);
            assert!(threads > 1 || outcome.nodes == limit, "{limit}: {}", outcome.nodes);
        }
    }
}

#[test]
fn hundreds_of_threads_give_one_answer() {
    let mut engine = engine();
    engine.set_threads(300);
    for fen in FENS {
        let mut reports = Vec::new();
        let report = &mut |report: &Report| reports.push(report.clone());
        let outcome =
            engine.search(&game(fen), &Limits::nodes(5_000), &Options::default(), &Control::new(false), report);
        let answers = reports.iter().filter(|report| matches!(report, Report::Answer(_))).count();
        let Some([Report::Info(info), Report::Answer(answer)]) = reports.last_chunk() else {
            panic!("expected the answer last, after an info on its move: {reports:?}")
        };
        assert_eq!((answers, answer.best, info.pv.first().copied()), (1, outcome.best, outcome.best), "{fen}");
    }
    engine.clear();
    assert_eq!(engine.threads(), 300);
}

/// Complete, and stopped anywhere.
#[test]
fn multipv_variations_differ_and_are_sorted() {
    let options = Options { multipv: 3, ..Options::default() };
    let mut engine = engine();
    for fen in FENS {
        for limits in (2_500..25_000).step_by(1_111).map(Limits::nodes).chain([Limits::depth(6)]) {
            engine.clear();
            let (outcome, infos) = search_with(&mut engine, &game(fen), &limits, &options);
            let lines = &infos[infos.len() - 3..];
            assert_eq!([0, 1, 2].map(|index| lines[index].multipv), [1, 2, 3], "{fen}, {limits:?}");
            assert_eq!(lines[0].pv.first().copied(), outcome.best);
            let firsts = [0, 1, 2].map(|index| lines[index].pv[0]);
            assert!(firsts[0] != firsts[1] && firsts[0] != firsts[2] && firsts[1] != firsts[2], "{fen}: {lines:?}");
            assert!(lines.is_sorted_by(|better, worse| better.value >= worse.value), "{fen}, {limits:?}: {lines:?}");
            assert!(lines.is_sorted_by(|better, worse| better.depth >= worse.depth), "{fen}, {limits:?}: {lines:?}");
        }
    }
}

#[test]
fn a_stopped_search_reports_proved_moves_or_a_bound_and_a_reply() {
    let mut engine = engine();
    let (mut bounds, mut without_reply, mut searches) = (0, 0, 0);
    for fen in FENS {
        for nodes in (500..30_000).step_by(301) {
            engine.clear();
            let (outcome, infos) = search(&mut engine, &game(fen), &Limits::nodes(nodes));
            let [.., full, last] = &infos[..] else { continue };
            // Either the next iteration proved a move, or the last complete one is repeated.
            if last.depth == full.depth {
                assert_eq!((last.pv.first(), last.value), (full.pv.first(), full.value), "{fen} {nodes}");
            } else {
                assert!(last.depth == full.depth + 1 && last.value.abs() < INFINITE, "{fen} {nodes}");
            }
            assert_eq!(outcome.best, last.pv.first().copied());
            assert_ne!(last.bound, Bound::Upper, "{fen}, {nodes} nodes");
            searches += 1;
            bounds += usize::from(last.bound == Bound::Lower);
            without_reply += usize::from(outcome.ponder.is_none());
            if let (Some(best), Some(ponder)) = (outcome.best, outcome.ponder) {
                assert!(game(fen).board().after(best).is_legal(ponder), "{fen}, {nodes} nodes");
            }
        }
    }
    assert!(bounds > 0 && without_reply * 50 < searches, "{bounds} bounds, {without_reply} without of {searches}");
}

#[test]
fn before_anything_is_searched_the_value_is_the_static_evaluation() {
    let fens = [EXPLOSIVE[0], EXPLOSIVE[1], "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"];
    let mut unsearched = 0;
    for fen in fens {
        let (_, infos) = search(&mut engine(), &game(fen), &Limits::nodes(1));
        let mut evaluator = Evaluator::new(Weights::embedded());
        evaluator.reset(game(fen).board());
        unsearched += usize::from(infos.last().unwrap().value == evaluator.evaluate(game(fen).board()));
        assert_ne!(infos.last().unwrap().value, 0, "{fen}");
    }
    assert!(unsearched > 0);
}

#[test]
fn mates_have_their_length_and_a_complete_variation() {
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

/// Two rooks down, White gives perpetual check on g6 and h6.
#[test]
fn a_repetition_is_a_draw() {
    let perpetual = game("r4rk1/8/7Q/8/8/8/q7/7K w - - 0 1");
    let (outcome, _) = search(&mut engine(), &perpetual, &Limits::depth(9));
    assert!(outcome.value.abs() <= 1, "{}", outcome.value);
}

/// A rook ahead, the move to the third occurrence is a draw.
#[test]
fn the_third_occurrence_is_a_draw() {
    let mut shuffled = game("7k/8/8/8/8/8/R7/K7 w - - 0 1");
    let play = |game: &mut Game, uci: &str| {
        let mv = game.board().parse_uci(uci).unwrap();
        game.push(mv);
        mv
    };
    // The position after Kb1 occurs twice.
    for uci in ["a1b1", "h8g8", "b1a1", "g8h8", "a1b1", "h8g8", "b1a1", "g8h8"] {
        play(&mut shuffled, uci);
    }
    let repeat = shuffled.board().parse_uci("a1b1").unwrap();
    let only = Limits { searchmoves: vec![repeat], depth: Some(4), ..Limits::default() };
    let (outcome, _) = search(&mut engine(), &shuffled, &only);
    assert!(outcome.value.abs() <= 1, "{}", outcome.value);
    let (outcome, _) = search(&mut engine(), &shuffled, &Limits::depth(4));
    assert!(outcome.best != Some(repeat) && outcome.value > 200, "{:?} {}", outcome.best, outcome.value);
}

/// The weak king needs no more than to stay where it is, or to capture the last pawn or piece.
#[test]
fn dead_draws_stay_draws() {
    let draws = [
        // Wrong bishop, with pawns and piece that promote and are lost.
        "k7/8/8/P7/P7/8/1B6/K7 w - - 0 1",
        "7k/8/8/6KP/8/8/8/5B2 w - - 0 1",
        "7k/8/7P/5B2/8/K7/8/8 w - - 0 1",
        "8/8/8/2b5/7p/6k1/8/7K b - - 0 1",
        // Rook pawns alone.
        "1k6/8/8/8/8/P7/P7/4K3 w - - 0 1",
        // The opposition, and two knights.
        "8/4k3/8/4K3/4P3/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/3NKN2 w - - 0 1",
        // Bishop against knight.
        "4k1n1/8/8/8/8/8/8/2B1K3 w - - 0 1",
    ];
    for fen in draws {
        let mut engine = engine();
        for nodes in [1_000, 30_000, 150_000] {
            let value = search(&mut engine, &game(fen), &Limits::nodes(nodes)).0.value;
            assert!(value.abs() <= 1, "{fen}, {nodes} nodes: {value}");
        }
    }
}

/// The moves of a game against a bare king, which `defend` moves. None if it is not mated.
fn moves_to_mate(fen: &str, nodes: u64, defend: &mut dyn FnMut(&Game) -> Move) -> Option<usize> {
    let mut game = game(fen);
    let mut engine = engine();
    let strong = if game.board().non_pawn_pieces(Color::White).any() { Color::White } else { Color::Black };
    let mut moves = 0;
    while game.ending().is_none() {
        let mv = if game.board().side_to_move() == strong {
            moves += 1;
            search(&mut engine, &game, &Limits::nodes(nodes)).0.best.unwrap()
        } else {
            defend(&game)
        };
        game.push(mv);
    }
    (game.ending() == Some(Ending::Checkmate) && game.board().side_to_move() != strong).then_some(moves)
}

#[cfg(feature = "syzygy")]
#[test]
fn queen_and_rook_mate_against_the_longest_resistance() {
    let (tables, errors) =
        crate::tablebase::Tablebase::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/syzygy"));
    assert!(errors.is_empty(), "{errors:?}");
    // A move that captures leads to a draw; of all others, the one with the most plies to the mate.
    let mut defend = |game: &Game| {
        let board = game.board();
        let plies = |mv: Move| {
            let after = board.after(mv);
            if after.insufficient_material() { i32::MAX } else { tables.most_plies(&after).unwrap() }
        };
        *board.moves().iter().max_by_key(|&&mv| plies(mv)).unwrap()
    };
    for fen in [
        "8/8/8/3k4/8/8/8/K3R3 w - - 0 1",
        "8/8/3r3k/8/8/2K5/8/8 w - - 0 1",
        "8/8/5k2/8/8/8/8/3R3K w - - 0 1",
        "8/5K2/8/8/3k4/8/8/1r6 b - - 0 1",
        "8/8/8/3k4/8/8/8/K3Q3 w - - 0 1",
        "8/8/8/4K3/8/8/8/k6q w - - 0 1",
        "8/2k5/8/8/8/5K2/8/Q7 b - - 0 1",
    ] {
        let moves = moves_to_mate(fen, 5_000, &mut defend);
        assert!(moves.is_some_and(|moves| moves <= 25), "{fen}: {moves:?}");
    }
}

#[test]
fn two_bishops_and_bishop_and_knight_mate() {
    let mut defender = engine();
    let mut defend = |game: &Game| search(&mut defender, game, &Limits::nodes(2_000)).0.best.unwrap();
    for fen in [
        "8/8/8/3k4/8/8/8/K1BB4 w - - 0 1",
        "8/8/2B5/8/8/B7/7K/4k3 b - - 0 1",
        "8/4K3/8/8/3b4/8/8/6kb w - - 0 1",
        "8/8/8/3k4/8/8/8/K1BN4 w - - 0 1",
        "7k/8/6K1/8/8/8/8/3BN3 w - - 0 1",
        "8/8/B7/8/8/2K1k3/2N5/8 b - - 0 1",
        "5k2/8/6n1/7b/1K6/8/8/8 w - - 0 1",
    ] {
        let moves = moves_to_mate(fen, 20_000, &mut defend);
        assert!(moves.is_some(), "{fen}");
    }
}

/// The value of a known win does not fall as the clock rises, so that each step toward the mate counts.
#[test]
fn the_fifty_move_clock_hardly_changes_the_nodes_of_a_known_win() {
    for placement in [
        "7k/8/6K1/8/8/8/8/3BN3 w",
        "8/8/8/3k4/8/8/8/K3R3 w",
        "8/8/8/3k4/8/8/8/K1BB4 w",
        "8/8/8/3k4/8/8/8/K3Q3 w",
        "8/8/8/4k3/8/8/8/K1RN4 w",
    ] {
        let nodes = [0, 24, 32, 40, 60].map(|clock| {
            let game = game(&format!("{placement} - - {clock} 80"));
            search(&mut engine(), &game, &Limits::depth(7)).0.nodes
        });
        let (fewest, most) = (nodes.iter().min().unwrap(), nodes.iter().max().unwrap());
        assert!(*most <= 2 * fewest, "{placement}: {nodes:?}");
    }
}

#[test]
fn a_known_win_without_time_to_mate_is_a_draw() {
    for (fen, mates) in [
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", true),
        ("7k/8/5K2/8/8/8/8/R7 w - - 98 80", false),
        ("8/8/8/3k4/8/8/8/K3R3 w - - 93 80", false),
    ] {
        let value = search(&mut engine(), &game(fen), &Limits::depth(10)).0.value;
        assert_eq!((value.abs() <= 1, value > TABLEBASE_WIN_IN_MAX), (!mates, mates), "{fen}: {value}");
    }
}

/// One move to choose from, by the rules, by `searchmoves` or by the tablebase at the root, needs little time.
#[test]
fn a_single_move_takes_a_fraction_of_the_time() {
    let game = game(FENS[3]);
    let nodes = |searchmoves: Vec<Move>| {
        let clock = Some(Clock { remaining: Duration::from_secs(10), ..Clock::default() });
        search(&mut engine(), &game, &Limits { clock, searchmoves, ..Limits::default() }).0.nodes
    };
    let moves = game.board().moves();
    let (all, one) = (nodes(Vec::new()), nodes(vec![moves[0]]));
    assert!(3 * one < all, "{one} nodes of {all}");
}

/// A search that has pondered for its time answers at once.
#[test]
fn a_ponder_hit_after_the_soft_bound_ends_the_search() {
    let clock = Some(Clock { remaining: Duration::from_secs(10), ..Clock::default() });
    let limits = Limits { clock, ponder: true, ..Limits::default() };
    let soft = crate::engine::bounds(&limits, &Options::default()).unwrap().soft;
    for threads in [1, 2] {
        let mut engine = engine();
        engine.set_threads(threads);
        let control = Control::new(true);
        std::thread::scope(|scope| {
            let pondering =
                scope.spawn(|| engine.search(&game(FENS[3]), &limits, &Options::default(), &control, &mut |_| {}));
            std::thread::sleep(4 * soft);
            control.ponderhit();
            pondering.join().unwrap();
        });
        assert!(control.hit().unwrap().elapsed() < soft, "{threads} threads");
    }
}

/// Quiescence does not end here in any reasonable time.
pub(super) const EXPLOSIVE: [&str; 3] = [
    "6Q1/PPP2PPP/2b2Rq1/8/4n1b1/1R2Q3/ppppppKp/2k2n2 b - - 0 1",
    "Kr6/PPPPPPPP/8/b1qQ4/8/R7/pppppkpp/5r2 w - - 0 1",
    "8/PPPPPPPP/8/k7/8/K7/pppppppp/8 w - - 0 1",
];

/// Nodes of the first iteration and of one check of the limits.
const OVERRUN: u64 = FIRST_ITERATION_NODES + CHECK_INTERVAL;

#[test]
fn the_first_iteration_ends_at_every_limit() {
    let stopped = Limits { infinite: true, ..Limits::default() };
    // A clock of a millisecond ends before a million nodes on any machine.
    let cases = [
        (Limits::nodes(1), 1 + OVERRUN),
        (Limits::nodes(5_000), 5_000 + OVERRUN),
        (Limits { movetime: Some(Duration::ZERO), ..Limits::default() }, 1_000_000),
        (Limits { clock: Some(Clock::default()), ..Limits::default() }, 1_000_000),
        (stopped, OVERRUN),
    ];
    for fen in EXPLOSIVE {
        for (limits, most) in &cases {
            for (threads, multipv) in [(1, 1), (1, 4), (2, 1)] {
                let mut engine = Engine::with_hash(Weights::embedded(), 1).unwrap();
                engine.set_threads(threads);
                let control = Control::new(false);
                if limits.infinite {
                    control.stop();
                }
                let options = Options { multipv, ..Options::default() };
                let mut last = None;
                let outcome = engine.search(&game(fen), limits, &options, &control, &mut |report| {
                    if let Report::Info(info) = report
                        && info.multipv == 1
                    {
                        last = info.pv.first().copied();
                    }
                });
                assert!(outcome.nodes <= threads as u64 * most, "{fen}: {}", outcome.nodes);
                assert!(game(fen).board().is_legal(outcome.best.unwrap()), "{fen}");
                assert_eq!(last, outcome.best, "{fen}");
                assert!(outcome.value.abs() < INFINITE, "{fen}: {}", outcome.value);
            }
        }
    }
}

#[test]
fn the_first_iteration_is_complete_in_positions_of_games() {
    for fen in FENS {
        let (outcome, _) = search(&mut engine(), &game(fen), &Limits::nodes(1));
        let (full, _) = search(&mut engine(), &game(fen), &Limits::depth(1));
        assert_eq!((outcome.depth, outcome.best, outcome.value), (1, full.best, full.value), "{fen}");
    }
}

/// Two sets of parameters in one process do not interfere; an engine may change its own between searches.
#[cfg(feature = "tune")]
#[test]
fn parameters_belong_to_a_search() {
    let mut params = crate::params::Params::DEFAULT;
    for (name, value) in [("lmr_quiet_base", 300), ("rfp_factor", 250), ("qs_see", 20)] {
        params.set(name, value).unwrap();
    }
    let other = Options { params, ..Options::default() };
    let nodes = |engine: &mut Engine, options: &Options| {
        engine.clear();
        search_with(engine, &game(FENS[1]), &Limits::depth(7), options).0.nodes
    };
    let (mut one, mut two) = (engine(), engine());
    let (usual, changed) = (nodes(&mut one, &Options::default()), nodes(&mut two, &other));
    assert_ne!(usual, changed);
    let again = [nodes(&mut one, &Options::default()), nodes(&mut two, &other), nodes(&mut one, &other)];
    assert_eq!(again, [usual, changed, changed]);
    assert_eq!(nodes(&mut one, &Options::default()), usual);
}
