//! Properties of all weights and all positions.

use super::*;
use crate::board::tests::random_boards_from;
use crate::board::{ALL_SQUARES, Board, Color, Delta, EMPTY, Piece, PieceSquare, Setup, Square, sign, square_set};
use crate::eval::gradient::Trace;
use crate::eval::layout::{GROUPS, Kind, LEN, MATERIAL, PAIRS, PIECE_SQUARE, group_of};
use crate::eval::pairs;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::{Pcg64, Pcg64Mcg};
use std::collections::HashMap;
use std::sync::Arc;

/// Middlegames, endings, promotions on every file, en passant and castling.
pub(crate) const STARTS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
    "8/8/4k3/3q4/8/2QK4/8/8 w - - 0 1",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
];

fn random(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

/// Dense random float weights, about as large as trained ones.
pub(crate) fn random_floats(seed: u64) -> FloatWeights {
    let mut random = random(seed);
    let mut weights = FloatWeights::material();
    for feature in MATERIAL.range().end..LEN {
        let size = if feature < PAIRS.start { 150.0 } else { 60.0 };
        weights.mg[feature] += random.random_range(-size..size);
        weights.eg[feature] += random.random_range(-size..size);
    }
    for piece in 0..5 {
        weights.mg[MATERIAL.nth(piece)] *= random.random_range(0.9..1.1);
        weights.eg[MATERIAL.nth(piece)] *= random.random_range(0.9..1.1);
    }
    weights
}

pub(crate) fn random_weights(seed: u64) -> Weights {
    Weights::from_floats(&random_floats(seed), serde_json::Value::Null).expect("random weights are small")
}

/// Calls `visit` with positions of random games from the [`STARTS`].
fn random_positions(seed: u64, count: usize, mut visit: impl FnMut(&Board)) {
    let start = |random: &mut Pcg64Mcg| board(STARTS[(random.next_u64() % STARTS.len() as u64) as usize]);
    random_boards_from(start, count, seed.into(), |board, _| visit(board));
}

pub(crate) fn board(fen: &str) -> Board {
    Board::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn features(board: &Board) -> Vec<(u32, i32)> {
    let mut features = Vec::new();
    visit(board, &mut features);
    features
}

/// The count of each feature, without zeros.
pub(crate) fn counts(board: &Board) -> HashMap<u32, i32> {
    summed(&features(board))
}

pub(crate) fn summed(features: &[(u32, i32)]) -> HashMap<u32, i32> {
    let mut counts = HashMap::new();
    for &(feature, count) in features {
        *counts.entry(feature).or_insert(0) += count;
    }
    counts.retain(|_, count| *count != 0);
    counts
}

#[test]
fn integer_evaluation_is_the_dot_product_of_the_features() {
    let weights = Arc::new(random_weights(1));
    let floats = FloatWeights::from(&*weights);
    let mut evaluator = Evaluator::new(weights.clone());
    random_positions(2, 100_000, |board| {
        evaluator.reset(board);
        let [mg, eg] = evaluator.sums(board);
        let features = features(board);
        assert_eq!([mg, eg], weights.dot(&features), "{}", board.fen());
        assert_eq!([mg, eg].map(f64::from), floats.dot(&features), "{}", board.fen());
        let phase = weights.phase(board);
        let alpha = f64::from(phase) / f64::from(PHASE_MAX);
        let tapered = alpha * f64::from(mg) + (1.0 - alpha) * f64::from(eg);
        let white = sign(board.side_to_move());
        let value = f64::from(white * evaluator.evaluate_raw(board));
        // The tapered value is cut to an integer toward zero.
        assert!(value.abs() <= tapered.abs() + 1e-6 && (tapered - value).abs() < 1.0 + 1e-6, "{}", board.fen());
    });
}

#[test]
fn integers_are_the_rounded_floats() {
    let floats = random_floats(3);
    let gamma = floats.gamma().unwrap();
    let weights = random_weights(3);
    for feature in 0..LEN {
        assert_eq!(f64::from(weights.ints()[feature][0]), (floats.mg[feature] * gamma).round());
        assert_eq!(f64::from(weights.ints()[feature][1]), (floats.eg[feature] * gamma).round());
    }
    let middlegame = |piece: Piece| weights.ints()[MATERIAL.at(piece)][0];
    let full = 2 * middlegame(Piece::Queen)
        + 4 * (middlegame(Piece::Rook) + middlegame(Piece::Bishop) + middlegame(Piece::Knight));
    assert!((full - 16488).abs() <= 7, "{full}");
}

/// Walks a tree as a search does, with null moves and positions that are not evaluated.
fn walk(evaluator: &mut Evaluator, fresh: &mut Evaluator, board: &Board, depth: usize, random: &mut Pcg64) {
    let check = |evaluator: &mut Evaluator, fresh: &mut Evaluator| {
        fresh.reset(board);
        assert_eq!(evaluator.sums(board), fresh.sums(board), "{board}");
        let value = evaluator.weights().forward(board, &mut Trace::default());
        assert_eq!(evaluator.evaluate_raw(board), value, "{board}");
    };
    if depth == 0 || random.random_bool(0.5) {
        check(evaluator, fresh);
    }
    if depth == 0 {
        return;
    }
    let step = |evaluator: &mut Evaluator, fresh: &mut Evaluator, after: &Board, delta: &Delta, random: &mut Pcg64| {
        evaluator.push(delta);
        walk(evaluator, fresh, after, depth - 1, random);
        evaluator.pop();
    };
    for &mv in board.moves().iter() {
        let special = mv.is_castling() || board.is_en_passant(mv) || mv.promotion().is_some();
        if special || random.random_bool(0.12) {
            let mut after = *board;
            let delta = board.make_move(mv, &mut after);
            step(evaluator, fresh, &after, &delta, random);
        }
    }
    if !board.in_check() && random.random_bool(0.3) {
        let mut after = *board;
        board.make_null(&mut after);
        step(evaluator, fresh, &after, &Delta::none(), random);
    }
    check(evaluator, fresh);
}

#[test]
fn incremental_values_equal_fresh_ones_at_every_node() {
    let weights = [random_weights(4), Weights::material()].map(Arc::new);
    let (mut evaluator, mut fresh) = (Evaluator::new(weights[0].clone()), Evaluator::new(weights[0].clone()));
    for (seed, start) in STARTS.iter().enumerate() {
        let board = board(start);
        for weights in &weights {
            evaluator.set_weights(weights.clone());
            fresh.set_weights(weights.clone());
            evaluator.reset(&board);
            walk(&mut evaluator, &mut fresh, &board, 4, &mut random(seed as u64));
        }
    }
}

/// The position with colors exchanged (`flip`) or left and right exchanged (`mirror`).
pub(crate) fn flipped(board: &Board, flip: bool, mirror: bool) -> Board {
    let image = if flip { 56 } else { 0 } ^ if mirror { 7 } else { 0 };
    let color = |color: Color| if flip { !color } else { color };
    let setup = board.setup();
    let pieces = std::array::from_fn(|at| setup.pieces[at ^ image].map(|(piece, owner)| (piece, color(owner))));
    let square = |square: Square| ALL_SQUARES[square.to_index() ^ image];
    let castling = setup.castling.map(square).fold(EMPTY, |set, rook| set | square_set(rook));
    let (side_to_move, en_passant) = (color(setup.side_to_move), setup.en_passant.map(square));
    Board::from_setup(&Setup { pieces, castling, side_to_move, en_passant, ..setup }).expect("a flipped board is valid")
}

#[test]
fn a_color_flip_negates_and_a_mirroring_keeps() {
    let mut evaluator = Evaluator::new(Arc::new(random_weights(9)));
    random_positions(8, 5_000, |board| {
        let original = counts(board);
        let negated: HashMap<_, _> = original.iter().map(|(&feature, &count)| (feature, -count)).collect();
        assert_eq!(counts(&flipped(board, true, false)), negated, "flip of {board}");
        assert_eq!(counts(&flipped(board, false, true)), original, "mirror of {board}");
        let mut value = |flip, mirror| {
            let board = flipped(board, flip, mirror);
            evaluator.reset(&board);
            (evaluator.evaluate_raw(&board), evaluator.evaluate(&board))
        };
        let same = [value(true, false), value(false, true), value(true, true)];
        assert_eq!(same, [value(false, false); 3], "{board}");
    });
}

#[test]
fn phase_counts_the_pieces_with_their_middlegame_weights() {
    let weights = random_weights(12);
    random_positions(13, 2_000, |board| {
        let pieces = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
        let material: i32 = pieces
            .iter()
            .map(|&piece| board.pieces(piece).popcnt() as i32 * weights.ints()[MATERIAL.at(piece)][0])
            .sum();
        assert_eq!(weights.phase(board), material.clamp(3915, 15258) - 3915, "{}", board.fen());
    });
    assert_eq!(weights.phase(&Board::startpos()), PHASE_MAX);
    let kings = Board::from_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1").unwrap();
    assert_eq!(weights.phase(&kings), 0);
}

/// Nine queens against a king with the largest weights: no sum of search overflows.
#[test]
fn largest_weights_do_not_overflow() {
    let half = i32::from(i16::MAX) / 2;
    // A table entry sums two 2-tuples and at most one other term of two pieces.
    let ints = (0..LEN).map(|feature| match feature {
        _ if group_of(feature).kind == Kind::Pair => [1; 2],
        _ if PAIRS.range().contains(&feature) => [half; 2],
        _ => [i32::from(i16::MAX); 2],
    });
    let weights = Arc::new(Weights::from_ints(ints.collect()).unwrap());
    let mut evaluator = Evaluator::new(weights.clone());
    for (fen, sign) in [("7k/8/8/8/8/QQ1Q4/Q1QQQQQ1/K7 w - - 0 1", 1), ("k7/q1qqqqq1/qq1q4/8/8/8/8/7K b - - 0 1", -1)] {
        let board = board(fen);
        let mut features: Vec<(u32, i32)> = Vec::new();
        visit(&board, &mut features);
        let sum: i64 = features.iter().map(|&(f, n)| i64::from(weights.ints()[f as usize][0]) * i64::from(n)).sum();
        assert!(sum * sign > 1_000_000, "{fen}: {sum}");
        evaluator.reset(&board);
        assert_eq!(evaluator.sums(&board).map(i64::from), [sum; 2], "{fen}");
        assert!(evaluator.evaluate(&board).abs() <= evaluator::MAX_EVALUATION, "{fen}");
    }
}

fn assert_same(refreshed: &Weights, compiled: &Weights) {
    assert!(refreshed.ints() == compiled.ints());
    assert!(refreshed.compiled() == compiled.compiled());
}

fn has_pairs_or_terms(weights: &Weights) -> bool {
    !weights.compiled().pairs.is_empty() || weights.compiled().has_terms
}

mod refreshing {
    use super::*;

    #[test]
    fn a_refresh_equals_a_new_compilation() {
        let mut random = random(14);
        let mut floats = random_floats(15);
        let mut weights = Weights::from_floats(&floats, serde_json::Value::Null).unwrap();
        for round in 0..12 {
            let mut changed = Vec::new();
            // Rounds with few and with most features, with and without the pieces' weights.
            let count = if round % 4 == 3 { LEN } else { 2000 };
            let first = if round % 2 == 0 { MATERIAL.range().end } else { 0 };
            for _ in 0..count {
                let feature = random.random_range(first..LEN);
                floats.mg[feature] += random.random_range(-3.0..3.0);
                floats.eg[feature] += random.random_range(-3.0..3.0);
                changed.push(feature);
            }
            weights.refresh(changed, &floats).unwrap();
            assert_same(&weights, &Weights::from_floats(&floats, serde_json::Value::Null).unwrap());
        }
    }

    #[test]
    fn the_first_pair_adds_the_table() {
        let mut floats = FloatWeights::material();
        let mut weights = Weights::from_floats(&floats, serde_json::Value::Null).unwrap();
        assert!(!has_pairs_or_terms(&weights));
        floats.mg[PAIRS.nth(77_777)] = 31.0;
        weights.refresh([PAIRS.nth(77_777)], &floats).unwrap();
        assert!(has_pairs_or_terms(&weights));
        assert_same(&weights, &Weights::from_floats(&floats, serde_json::Value::Null).unwrap());
    }

    #[test]
    fn bad_floats_are_refused() {
        let refusal = |feature: usize, value: f64| {
            let mut floats = random_floats(17);
            floats.eg[feature] = value;
            Weights::from_floats(&floats, serde_json::Value::Null).unwrap_err().to_string()
        };
        assert_eq!(refusal(PAIRS.nth(5), f64::NAN), "endgame weight 5 of group `pairs` is NaN, not a finite number");
        assert!(refusal(2, f64::INFINITY).starts_with("endgame weight 2 of group `material` is inf"));
        assert!(refusal(PAIRS.nth(3), 1e5).contains("outside -32767 to 32767"));
        let mut floats = FloatWeights::zeros();
        assert!(Weights::from_floats(&floats, serde_json::Value::Null).unwrap_err().to_string().contains("sum to 0"));
        floats.mg[MATERIAL.nth(4)] = f64::NAN;
        assert!(Weights::from_floats(&floats, serde_json::Value::Null).is_err());
        floats.mg.pop();
        assert!(
            Weights::from_floats(&floats, serde_json::Value::Null).unwrap_err().to_string().contains("weights for")
        );
    }

    #[test]
    fn pairs_that_overflow_together_are_refused() {
        let mut floats = FloatWeights::material();
        let knight = PieceSquare::new(Color::White, Piece::Knight, ALL_SQUARES[37]);
        let king = PieceSquare::new(Color::Black, Piece::King, ALL_SQUARES[62]);
        let (one, other) = (pairs::pair(knight, king), pairs::pair(king, knight));
        floats.mg[PAIRS.at(one)] = 20_000.0 * f64::from(one.sign);
        floats.mg[PAIRS.at(other)] = 20_000.0 * f64::from(other.sign);
        let error = Weights::from_floats(&floats, serde_json::Value::Null).unwrap_err().to_string();
        assert!(error.contains("the middlegame pair weights of white N") && error.contains(" and black K"), "{error}");
    }
}

mod files {
    use super::*;
    use serde_json::{Value, json};

    fn example() -> Weights {
        let mut weights = random_weights(20);
        weights.meta.name = "an \"example\"".to_string();
        weights.units.scale = 1100;
        weights.units.win_rate = WinRate { a: [180, 30, 2, 1], b: [70, 20, 0, 0] };
        weights.meta.provenance = json!({"seed": 20, "data": ["random"], "rate": 0.25});
        weights
    }

    #[test]
    fn weights_survive_a_round_trip() {
        let weights = example();
        let text = weights.to_json();
        let read = Weights::from_json(&text).unwrap();
        assert_eq!(read.units, weights.units);
        assert_eq!(read.meta, weights.meta);
        assert_eq!(read.meta.notes, Vec::<String>::new());
        assert_same(&read, &weights);
        assert_eq!(read.id(), weights.id());
        assert_eq!(read.to_json(), text);
        let marked = [b"\xef\xbb\xbf", &text[..]].concat();
        assert_same(&Weights::from_json(&marked).unwrap(), &weights);
        assert!(!text[..text.len() - 1].contains(&b'\n') && !text.contains(&b'\t'));
    }

    #[test]
    fn damaged_text_is_refused_with_a_reason() {
        let text = String::from_utf8(example().to_json()).unwrap();
        let refusal = |text: &str| Weights::from_json(text.as_bytes()).unwrap_err().to_string();
        let replace = |from: &str, to: &str| {
            assert!(text.contains(from));
            refusal(&text.replacen(from, to, 1))
        };
        for part in [0, 1, 50, 400, 5_000, text.len() / 2, text.len() - 3] {
            assert!(refusal(&text[..part]).contains("cut off"), "{part}: {}", refusal(&text[..part]));
        }
        let cases = [
            (replace("\"pairs\":{\"mg\":[", "\"pairs\":{\"mg\":[1.5,"), vec!["pairs", "1.5", "line 1"]),
            (replace("\"pairs\":{\"mg\":[", "\"pairs\":{\"mg\":[null,"), vec!["pairs", "null"]),
            (replace("\"pairs\":{\"mg\":[", "\"pairs\":{\"mg\":[NaN,"), vec!["not valid JSON", "line 1"]),
            (replace("\"pairs\":{\"mg\":[", "\"pairs\":{\"mg\":[1e3,"), vec!["pairs"]),
            (replace("\"pairs\":{\"mg\":[", "\"pairs\":{\"mg\":[99999999999,"), vec!["pairs", "99999999999"]),
            (replace("\"pairs\":{\"mg\":[", "\"pairs\":{\"mg\":[7,"), vec!["pairs", "145153", "middlegame", "145152"]),
            (replace("\"material\":{\"mg\":[", "\"material\":{\"mg\":[32768,"), vec!["material", "7 middlegame"]),
            (replace("\"format\":2", "\"format\":3"), vec!["version 3", "reads version 2"]),
            (replace("\"scale\":1100", "\"scale\":0"), vec!["scale", "0"]),
            (replace("\"scale\":1100", "\"scale\":2147483647"), vec!["scale", "2147483647", "1000000"]),
            (replace("\"a\":[180,", "\"a\":[-180,"), vec!["WDL model"]),
            (replace("[\"location\",192]", "[\"location\",193]"), vec!["checksum"]),
            (replace("\"name\":", "\"nom\":"), vec!["nom"]),
            (refusal("[]"), vec!["not as expected"]),
        ];
        for (message, words) in cases {
            for word in words {
                assert!(message.contains(word), "`{message}` should mention `{word}`");
            }
        }
    }

    /// A damaged file is refused, unless the flipped bit is in the name.
    #[test]
    fn every_flipped_bit_is_refused_or_changes_nothing() {
        let mut weights = Weights::material();
        weights.units = Units { scale: 1100, win_rate: WinRate { a: [180, 30, 2, 1], b: [70, 20, 0, 0] } };
        let small = |text: &[u8]| {
            let mut document: Value = serde_json::from_slice(text).unwrap();
            let groups = [("material", 6), ("tempo", 2)];
            document["layout"] = json!({"checksum": layout::checksum_of(groups.into_iter()), "groups": groups});
            document["weights"]
                .as_object_mut()
                .unwrap()
                .retain(|name, _| groups.iter().any(|(group, _)| name == group));
            document.to_string()
        };
        let text = small(&weights.to_json());
        let name = text.find("\"name\":\"material\"").unwrap() + "\"name\":\"".len();
        let mut passed = 0;
        for byte in 0..text.len() {
            for bit in 0..8 {
                let mut flipped = text.clone().into_bytes();
                flipped[byte] ^= 1 << bit;
                let Ok(read) = Weights::from_json(&flipped) else { continue };
                assert!((name..name + "material".len()).contains(&byte), "{}", String::from_utf8_lossy(&flipped));
                assert!(read.plays_as(&weights) && read.id() == weights.id());
                passed += 1;
            }
        }
        assert!(passed > 0, "a flipped bit in the name may pass");
    }

    #[test]
    fn the_content_hash_is_checked() {
        let text = String::from_utf8(example().to_json()).unwrap();
        let id = example().id();
        let hash = format!("\"hash\":\"{id}\",");
        let refusal = |text: &str| Weights::from_json(text.as_bytes()).unwrap_err().to_string();
        let other = text.replacen("\"scale\":1100", "\"scale\":1101", 1);
        let message = refusal(&other);
        assert!(message.contains(&format!("the file says {id}")) && message.contains("damaged"), "{message}");
        let edited = Weights::from_json(text.replacen(&hash, "", 1).as_bytes()).unwrap();
        assert!(
            edited.plays_as(&example()) && edited.meta.notes[0].contains("no content hash"),
            "{:?}",
            edited.meta.notes
        );
        // Name and provenance may be edited.
        let renamed = text.replacen("an \\\"example\\\"", "another", 1).replacen("\"rate\":0.25", "\"rate\":0.5", 1);
        assert_eq!(Weights::from_json(renamed.as_bytes()).unwrap().meta.name, "another");
    }

    #[test]
    fn the_id_depends_on_numbers_and_units_only() {
        let id = |change: &dyn Fn(&mut Weights)| {
            let mut weights = example();
            change(&mut weights);
            weights.id()
        };
        let changed = |feature: usize, phase: usize| {
            let mut ints = example().ints().to_vec();
            ints[feature][phase] += 1;
            id(&|weights| {
                let units = weights.units;
                *weights = Weights::from_ints(ints.clone()).unwrap();
                weights.units = units;
            })
        };
        let same = id(&|_| {});
        assert_eq!(id(&|weights| weights.meta = Weights::material().meta), same);
        let others = [
            id(&|weights| weights.units.scale += 1),
            id(&|weights| weights.units.win_rate.a[3] += 1),
            id(&|weights| weights.units.win_rate.b[0] += 1),
            changed(0, 0),
            changed(0, 1),
            changed(PAIRS.nth(PAIRS.len - 1), 1),
        ];
        for (i, other) in others.iter().enumerate() {
            assert!(*other != same && !others[..i].contains(other), "{i}");
        }
    }

    /// A document with another list of groups and their weights.
    fn relaid(groups: &[(&str, usize)]) -> Vec<u8> {
        let mut document: Value = serde_json::from_slice(&Weights::material().to_json()).unwrap();
        let weights = document["weights"].as_object().unwrap().clone();
        let of = |name: &str| weights.get(name).cloned().unwrap_or(json!(0));
        document["layout"] = json!({"checksum": layout::checksum_of(groups.iter().copied()), "groups": groups});
        document["weights"] =
            groups.iter().map(|(name, _)| (name.to_string(), of(name))).collect::<serde_json::Map<_, _>>().into();
        document.to_string().into_bytes()
    }

    #[test]
    fn an_older_layout_is_read_by_group_name_with_a_note() {
        let older: Vec<_> = GROUPS
            .iter()
            .rev()
            .filter(|group| **group != PIECE_SQUARE)
            .map(|group| (group.stored_name, group.len))
            .collect();
        let weights = Weights::from_json(&relaid(&older)).unwrap();
        assert!(weights.ints() == Weights::material().ints());
        assert_eq!(weights.meta.notes.len(), 1);
        assert!(weights.meta.notes[0].contains("piece_square"), "{:?}", weights.meta.notes);
    }

    #[test]
    fn another_layout_is_refused() {
        let cases: [(&[(&str, usize)], &str); 3] = [
            (&[("material", 6), ("castles", 4)], "a group `castles` that this engine does not know"),
            (&[("material", 6), ("location", 64)], "group `location` has 64 features in the weights and 192 in this"),
            (&[("material", 6), ("material", 6)], "group `material` comes twice"),
        ];
        for (groups, words) in cases {
            let error = Weights::from_json(&relaid(groups)).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn built_in_and_shipped_weights_load() {
        assert!(!Weights::embedded().meta.name.is_empty());
        let material = Weights::from_json(include_bytes!("../../../weights/material.json")).unwrap();
        assert!(material.ints() == Weights::material().ints());
        assert!(!has_pairs_or_terms(&material));
        let full: i32 =
            [(1, 4), (2, 4), (3, 4), (4, 2)].map(|(piece, count)| count * material.ints()[piece][0]).iter().sum();
        assert!((full - 16488).abs() <= 7);
        let squares = Weights::from_json(include_bytes!("../../../weights/psq.json")).unwrap();
        assert!(!has_pairs_or_terms(&squares));
        let others: [&[u8]; 4] = [
            include_bytes!("../../../weights/hand-made.json"),
            include_bytes!("../../../weights/hand-made-linear.json"),
            include_bytes!("../../../weights/linear.json"),
            include_bytes!("../../../weights/previous.json"),
        ];
        for text in others {
            // A new group is not in the files of releases.
            let notes = Weights::from_json(text).unwrap().meta.notes;
            assert!(notes.iter().all(|note| note.contains("older than group")), "{notes:?}");
        }
    }
}
