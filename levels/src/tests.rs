use super::analysis::{Analysis, DEPTHS, MAX_NODES, MoveAnalyzer, PLIES};
use super::features::{NAMED_FEATURES, NAMES, PositionContext};
use super::file::{Calibrated, MAX_ELO, MIN_ELO, MoveModel, Strength};
use super::model::{SPLINE_KNOTS, SkillLevel, basis};
use super::player::{LevelPlayer, PlayerProfile, position_input};
use dyad_engine::board::{Board, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::search::{Clock, Limits, Options, Report, Score};
use dyad_engine::value::MATE;
use std::sync::Arc;
use std::time::Duration;

fn game(fen: &str) -> Game {
    Game::new(Board::from_fen(fen).unwrap())
}

fn play(player: &mut LevelPlayer, game: &Game, limits: &Limits) -> (Move, Vec<Vec<Move>>) {
    let mut lines = Vec::new();
    let mut note = |report: &Report| {
        if let Report::Info(info) = report {
            lines.push(info.pv.clone());
        }
    };
    let outcome = player.search(game, limits, &Options::default(), &Control::new(false), &mut note);
    (outcome.best.unwrap(), lines)
}

fn player(elo: f64, seed: u64) -> LevelPlayer {
    LevelPlayer::new(PlayerProfile::with_elo(&MoveModel::embedded(), elo, seed))
}

/// A player says of a mate that it gives, not of one that it walks into.
#[test]
fn a_mate_that_is_not_seen_is_not_announced() {
    for (fen, gives) in [("k7/8/1K6/8/8/8/8/7R b - - 0 1", false), ("k7/8/1K6/8/8/8/8/7R w - - 0 1", true)] {
        let mut scores = Vec::new();
        let mut note =
            |report: &Report| scores.extend(if let Report::Info(info) = report { Some(info.score) } else { None });
        player(2_600.0, 1).search(&game(fen), &Limits::default(), &Options::default(), &Control::new(false), &mut note);
        assert!(
            matches!(scores[..], [Score::Mate(1)]) == gives && !matches!(scores[..], [Score::Mate(..0)]),
            "{scores:?}"
        );
    }
}

#[test]
fn the_embedded_model_survives_a_round_trip() {
    let model = MoveModel::embedded();
    assert_eq!(MoveModel::from_json(model.to_json().as_bytes()).as_ref(), Ok(&*model));
    let ends = [model.calibration.first(), model.calibration.last()].map(|end| end.unwrap().elo);
    assert!(ends[0] <= f64::from(MIN_ELO) && f64::from(MAX_ELO) <= ends[1], "{ends:?}");
}

#[test]
fn invalid_files_are_refused_with_the_reason() {
    let good = MoveModel::embedded().to_json();
    for (from, to, expected) in [
        ("{\"format\":1", "{\"format\":9", "found 9"),
        ("\"plies\":[0,", "\"plies\":[7,", "expected plies"),
        ("\"check\":[", "\"checks\":[", "unknown name checks"),
        ("\"mate\":[", "\"mate\":[1000,", "line 1"),
        ("\"slopes\":[", "\"slopes\":[[],", "invalid length 0, expected an array of length 2"),
        ("\"cues_by_depth\":{", "\"cues_by_depth\":{\"chess\":[],", "expected an array of length 7"),
        ("\"squares_by_depth\":[", "\"squares_by_depth\":[[0,0,0,0,0,0],", "trailing characters"),
        ("\"elo\":", "\"elo\":-", "calibration"),
        ("{", "", "line 1"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good, "{from}");
        let error = MoveModel::from_json(bad.as_bytes()).unwrap_err();
        assert!(error.contains(expected), "{from}: {error}");
    }
}

#[test]
fn spline_weights_sum_to_one() {
    for rating in (500..3100).step_by(50).map(f64::from) {
        let basis = basis(rating);
        let sum: f64 = basis.iter().sum();
        let back: f64 = basis.iter().zip(SPLINE_KNOTS).map(|(weight, knot)| weight * knot).sum();
        assert!((sum - 1.0).abs() < 1e-9 && (back - rating).abs() < 1e-6, "{rating}: {basis:?}");
    }
}

/// The embedded model with these points: Elo, its deviation, rating, nodes.
fn calibrated(points: [(f64, f64, f64, u64); 2]) -> MoveModel {
    let calibration = points.map(|(elo, elo_deviation, rating, nodes)| {
        let strength = Strength { rating, inverse_temperature: 0.0, nodes };
        Calibrated { elo, elo_deviation, strength }
    });
    MoveModel { calibration: calibration.into(), ..(*MoveModel::embedded()).clone() }
}

#[test]
fn strengths_are_interpolated_between_calibrated_ones() {
    let model = calibrated([(1000.0, 100.0, 1100.0, 0), (2000.0, 200.0, 2300.0, 1000)]);
    for (elo, rating) in [(900.0, 1100.0), (1000.0, 1100.0), (1500.0, 1700.0), (2000.0, 2300.0), (2500.0, 2300.0)] {
        assert_eq!(model.strength(elo, 0.0).rating, rating, "{elo}");
    }
    assert_eq!(model.strength(1500.0, 0.0).nodes, 500);
    assert_eq!(model.strength(1500.0, 1.0), model.strength(1650.0, 0.0), "a game played 150 Elo better");
}

#[test]
fn an_analysis_sees_deeper_with_each_step_and_is_reproducible() {
    // Qxf7+ loses the queen to the next ply; Ra8 mates.
    let mut analyzer = MoveAnalyzer::new(Weights::embedded());
    let game = game("6k1/5ppp/3p4/4p3/8/8/5QPP/R5K1 w - - 0 1");
    let mut analyze = |only: &[Move]| analyzer.analyze(&game, only, None, &Control::new(false));
    let analysis = analyze(&[]);
    let of = |text: &str| {
        let mv = game.board().parse_uci(text).unwrap();
        analysis.moves.iter().find(|analyzed| analyzed.mv == mv).unwrap().values
    };
    assert_eq!(of("a1a8")[1..], [MATE - 1; DEPTHS - 1]);
    let blunder = of("f2f7");
    assert!(blunder[0] > blunder[1] + 1000, "{blunder:?}");
    let again = analyze(&[]);
    let values =
        |analysis: &Analysis| analysis.moves.iter().map(|analyzed| (analyzed.mv, analyzed.values)).collect::<Vec<_>>();
    assert_eq!((values(&again), again.nodes), (values(&analysis), analysis.nodes));
    let mv = game.board().parse_uci("g2g3").unwrap();
    assert_eq!(analyze(&[mv]).moves.len(), 1);
}

/// Without a limit the levels take two and six million nodes here.
#[test]
fn nodes_limit_an_analysis() {
    let queens = [
        "q1q1k1q1/1q1q1q2/q6q/8/8/Q6Q/1Q1Q1Q2/Q1Q1K1Q1 w - - 0 1",
        "1q2k2q/q1q2q2/3q2q1/4q3/4Q3/3Q2Q1/Q1Q2Q2/1Q2K2Q w - - 0 1",
    ];
    for fen in queens {
        let game = game(fen);
        let mut analyzer = MoveAnalyzer::new(Weights::embedded());
        let mut analysis = analyzer.analyze(&game, &[], None, &Control::new(false));
        // Each search checks its limit every few nodes.
        let most = MAX_NODES + MAX_NODES / 10;
        assert!((MAX_NODES / 2..most).contains(&analysis.nodes), "{fen}: {}", analysis.nodes);
        assert!(analysis.plies < PLIES[DEPTHS - 1], "{fen}: {}", analysis.plies);
        assert!(analysis.moves.iter().all(|analyzed| analyzed.info.is_some()), "{fen}: a move without a search");
        analyzer.deepen(&game, &mut analysis, 1_000_000, None, &Control::new(false));
        assert!(analysis.nodes < most, "{fen}: {}", analysis.nodes);
    }
}

/// The deepened search finds the best moves itself; the input of the model does not change.
#[test]
fn a_deepened_search_values_the_best_moves() {
    const NODES: u64 = 30_000;
    let mut analyzer = MoveAnalyzer::new(Weights::embedded());
    let game = game("r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9");
    let before = analyzer.analyze(&game, &[], None, &Control::new(false));
    let mut after = before.clone();
    let stopped = Control::new(false);
    stopped.stop();
    analyzer.deepen(&game, &mut after, NODES, None, &stopped);
    let deep = |analysis: &Analysis| analysis.moves.iter().map(|analyzed| analyzed.deep).collect::<Vec<_>>();
    assert_eq!(deep(&after), deep(&before), "a stopped search changes nothing");
    analyzer.deepen(&game, &mut after, NODES, None, &Control::new(false));
    let (found, rest): (Vec<_>, Vec<_>) = after
        .moves
        .iter()
        .partition(|analyzed| analyzed.info.as_ref().is_some_and(|info| info.depth > PLIES[DEPTHS - 1]));
    let worst = found.iter().map(|analyzed| analyzed.deep).min();
    assert_eq!(found.len(), 2);
    assert!(rest.iter().all(|analyzed| Some(analyzed.deep) <= worst), "{worst:?}");
    assert!(after.moves.iter().zip(&before.moves).all(|(after, before)| after.values == before.values));
    // A search checks its limit every few nodes.
    let most = before.nodes + NODES + NODES / 100;
    assert!((before.nodes + NODES / 2..=most).contains(&after.nodes), "{} {}", before.nodes, after.nodes);
}

#[test]
fn features_of_moves() {
    let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let trade = "r1bqkbnr/ppp2ppp/2np4/4p3/4P3/3P1N2/PPP2PPP/RNBQKB1R w KQkq - 0 1";
    for (fen, last, mv, has, has_not) in [
        (kiwipete, None, "e1g1", "castles", "king"),
        (kiwipete, None, "e1d1", "loses-castling", "castles"),
        (kiwipete, None, "e5f7", "takes-pawn", "takes-mover"),
        (kiwipete, None, "f3f6", "loses-exchange", "wins-exchange"),
        (kiwipete, None, "a2a4", "double", "center-pawn"),
        (kiwipete, None, "g2g3", "near-last", "forward"),
        (kiwipete, Some("d7e6"), "d5e6", "takes-mover", "recapture"),
        (trade, None, "f3e5", "takes-pawn", "takes-minor"),
        (trade, None, "b1c3", "develops", "backward"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", None, "a7a8q", "promotes", "underpromotes"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", None, "a7a8n", "underpromotes", "promotes"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", None, "e1e2", "late-king", "king"),
    ] {
        let board = Board::from_fen(fen).unwrap();
        let last = last.or(Some("h4h3")).map(|text| {
            let square = |at: usize| text[at..at + 2].parse().unwrap();
            Move::new(square(0), square(2))
        });
        let context = PositionContext { board: &board, last, last_captured: false, own: None };
        let mv = board.parse_uci(mv).unwrap();
        let names: Vec<&str> = context
            .features(mv, &[0; DEPTHS], &[0; DEPTHS], false)
            .iter()
            .filter(|(feature, _)| usize::from(*feature) < NAMED_FEATURES)
            .map(|(feature, _)| NAMES[usize::from(*feature)])
            .collect();
        assert!(names.contains(&has) && !names.contains(&has_not), "{fen} {mv}: {names:?}");
    }
}

/// A move and its mirror image have the same features.
#[test]
fn features_are_the_same_for_both_colors() {
    let white = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let black = "r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b KQkq - 0 1";
    let features = |fen: &str, [last, own, mv]: [&str; 3]| {
        let board = Board::from_fen(fen).unwrap();
        let [last, own, mv] =
            [last, own, mv].map(|text| Move::new(text[..2].parse().unwrap(), text[2..4].parse().unwrap()));
        let context = PositionContext { board: &board, last: Some(last), last_captured: false, own: Some(own) };
        context.features(board.mark_castling(mv), &[0; DEPTHS], &[0; DEPTHS], false)
    };
    let moves =
        [["b4b3", "d1f3", "f3f6"], ["h7h3", "e4e5", "a2a4"], ["e8e7", "c1d2", "d2a5"], ["d8e7", "c1d2", "e1g1"]];
    for moves in moves {
        let mirrored = moves.map(|text| {
            let flip = |rank: char| char::from_digit(9 - rank.to_digit(10).unwrap(), 10).unwrap();
            text.chars().map(|c| if c.is_ascii_digit() { flip(c) } else { c }).collect::<String>()
        });
        let mirrored = [mirrored[0].as_str(), mirrored[1].as_str(), mirrored[2].as_str()];
        assert_eq!(features(white, moves), features(black, mirrored), "{moves:?}");
    }
    // Features depend on the opponent's last move and on the own one.
    let of = |last: &str, own: &str| features(white, [last, own, "d2a5"]);
    assert_ne!(of("b4b3", "d1f3"), of("h7h3", "d1f3"));
    assert_ne!(of("b4b3", "d1f3"), of("b4b3", "c1d2"));
}

#[test]
fn probabilities_sum_to_one_and_better_players_lose_less() {
    // The queen can be taken by a pawn after Qxd5.
    let game = game("4k3/4pppp/2p5/3p4/8/3Q4/5PPP/4K3 w - - 0 1");
    let mut analyzer = MoveAnalyzer::new(Weights::embedded());
    let analysis = analyzer.analyze(&game, &[], None, &Control::new(false));
    let position = position_input(&game, &analysis);
    let blunder = analysis.moves.iter().position(|analyzed| analyzed.mv.to_string() == "d3d5").unwrap();
    let of = |rating: f64| {
        let moves = SkillLevel::new(&MoveModel::embedded().parameters, rating).predict(&position).moves;
        assert!((moves.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        moves[blunder]
    };
    assert!(of(900.0) > 2.0 * of(2200.0), "{} {}", of(900.0), of(2200.0));
}

#[test]
fn a_move_depends_on_seed_and_position_alone() {
    let game = Game::default();
    let limits = Limits::default();
    let mut one = player(1400.0, 1);
    let (first, lines) = play(&mut one, &game, &limits);
    assert_eq!(lines.last().unwrap()[0], first, "the last line starts with the move played");
    let mut after = game.clone();
    after.push(first);
    play(&mut one, &after, &limits);
    assert_eq!(play(&mut one, &game, &limits).0, first);
    assert_eq!(play(&mut player(1400.0, 1), &game, &Limits::depth(1)).0, first);
    let moves: std::collections::HashSet<String> =
        (0..20).map(|seed| play(&mut player(1400.0, seed), &game, &limits).0.to_string()).collect();
    assert!(moves.len() > 2, "{moves:?}");
    // Games differ, too.
    let mut in_game = |number| {
        one.new_game(number);
        play(&mut one, &game, &limits).0.to_string()
    };
    assert!((0..20).map(&mut in_game).collect::<std::collections::HashSet<_>>().len() > 2);
}

#[test]
fn the_strength_of_games_is_distributed_around_its_mean() {
    const GAMES: u64 = 2_000;
    let model = calibrated([1000.0, 3000.0].map(|elo| (elo, 100.0, elo, 0)));
    let profile = PlayerProfile::with_elo(&Arc::new(model), 2000.0, 7);
    let ratings: Vec<f64> = (0..GAMES).map(|game| profile.strength(game).rating).collect();
    let mean = ratings.iter().sum::<f64>() / GAMES as f64;
    let deviation = (ratings.iter().map(|rating| (rating - mean).powi(2)).sum::<f64>() / GAMES as f64).sqrt();
    assert!((mean - 2000.0).abs() < 8.0, "{mean}");
    assert!((90.0..100.0).contains(&deviation), "{deviation}: clamped at two deviations");
    assert!(ratings.iter().all(|rating| (1800.0..=2200.0).contains(rating)));
    assert_eq!(profile.strength(3), profile.strength(3));
}

#[test]
fn an_expired_clock_still_gets_a_move() {
    let clock = Some(Clock { remaining: Duration::from_millis(1), ..Clock::default() });
    let limits = Limits { clock, ..Limits::default() };
    let game = game("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    let (mv, lines) = play(&mut player(1800.0, 1), &game, &limits);
    assert!(game.board().is_legal(mv) && lines[0][0] == mv);
}

#[test]
fn basic_mates_are_won_against_the_best_defense() {
    let (queen, rook) = ("8/8/8/4k3/8/8/8/3QK3 w - - 0 1", "8/8/8/4k3/8/8/8/R3K3 w - - 0 1");
    for (fen, elo) in [(queen, 1000.0), (rook, 1000.0), (queen, 1200.0), (rook, 1200.0)] {
        let mut game = game(fen);
        let mut winner = player(elo, 3);
        let mut defender = dyad_engine::Engine::with_hash(Weights::embedded(), 1).unwrap();
        while game.ending().is_none() {
            let mv = play(&mut winner, &game, &Limits::default()).0;
            game.push(mv);
            if game.ending().is_none() {
                let control = Control::new(false);
                let limits = Limits::nodes(3000);
                let outcome = defender.search(&game, &limits, &Options::default(), &control, &mut |_| {});
                game.push(outcome.best.unwrap());
            }
        }
        assert_eq!(game.ending(), Some(dyad_engine::board::Ending::Checkmate), "{elo} {fen}: {}", game.board());
    }
}

#[test]
fn a_level_usually_plays_a_mate_in_one() {
    let game = game("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    let mates =
        (0..20).filter(|&seed| play(&mut player(1600.0, seed), &game, &Limits::default()).0.to_string() == "a1a8");
    assert!(mates.count() >= 12);
}

#[test]
fn chess960_castling_is_played() {
    let game = game("4k3/8/8/8/8/8/8/1R1RK3 w D - 0 1").with_chess960(true);
    let castling = game.board().parse_uci("e1d1").unwrap();
    let limits = Limits { searchmoves: vec![castling], ..Limits::default() };
    assert_eq!(play(&mut player(1500.0, 1), &game, &limits).0, castling);
}
