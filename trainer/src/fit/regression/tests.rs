//! Tests of the fit: its gradient, its independence of threads, and what it learns.

use super::gradient::{LossFunction, Model};
use super::*;
use crate::base::group_value::GroupValue;
use crate::base::logistic::sigmoid;
use dyad_engine::board::sign;
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{LEN, MATERIAL, PAIRS, PIECE_SQUARE};
use dyad_engine::eval::units::MAX_SCALE;
use dyad_formats::hash;
use dyad_formats::packed::{Packed, Sample};
use dyad_formats::score::{GameResult, Score};
use dyad_formats::testing::walk;
use std::ops::Range;

/// Positions whose results are drawn from the evaluation of `teacher`, with `logits` per unit.
fn taught(teacher: &Weights, logits: f64, count: usize) -> Data {
    let mut data = Data { train: Vec::new(), test: Vec::new() };
    for (index, sample) in walk(count).into_iter().enumerate() {
        let z = logits * f64::from(teacher.value(teacher.sums(&sample.board), &sample.board));
        let won = hash::unit(hash::fold(7, index as u64)) < sigmoid(z);
        let result = if won { GameResult::WhiteWins } else { GameResult::BlackWins };
        let white = 1.2 * z;
        let pawns = f64::from(sign(sample.board.side_to_move())) * white;
        let score = Some(Score::centipawns(100.0 * pawns));
        let packed = Packed::new(&Sample { result: Some(result), score, ..sample });
        if index % 10 == 0 { data.test.push(packed) } else { data.train.push(packed) }
    }
    data
}

fn run(settings: &FitSettings, data: &Data, start: &FloatWeights, threads: usize) -> Fitted {
    fit(settings, data, start, &mut Context { threads, stop: &Control::new(false), on_event: &mut |_| () }).unwrap()
}

fn objective(result_share: f64, range: FeatureRange, threads: usize) -> LossFunction {
    LossFunction { target: Target { result_share, ..Target::default() }, range, threads }
}

#[test]
fn the_gradient_is_that_of_the_loss() {
    let data = taught(&Weights::material(), 1.0 / 400.0, 600);
    let mut weights = FloatWeights::material();
    for feature in 0..LEN {
        weights.mg[feature] += 60.0 * (hash::unit(hash::mix(feature as u64)) - 0.5);
        weights.eg[feature] += 60.0 * (hash::unit(hash::mix(feature as u64 + 1_000_000)) - 0.5);
    }
    let objective = objective(0.3, FeatureRange::Pairs, 2);
    let batch: Vec<u32> = (0..data.train.len() as u32).collect();
    let mut model = Model::new(&weights, 1.0 / 400.0, FeatureRange::Pairs, &data.test).unwrap();
    let (loss, gradient) = objective.gradient(&model, &data, &batch).unwrap();
    assert!((loss / batch.len() as f64 - objective.loss(&model, &data.train).unwrap().unwrap()).abs() < 1e-9);
    let mut largest: Vec<usize> = (0..LEN).collect();
    largest.sort_by(|&a, &b| gradient[b][0].abs().total_cmp(&gradient[a][0].abs()));
    let step = 1e-4;
    for &feature in largest[..25].iter().chain(&largest[2_000..2_010]).chain(&[MATERIAL.nth(2), PIECE_SQUARE.nth(40)]) {
        for phase in [0, 1] {
            let mut loss_at = |change: f64| {
                model.weights[feature][phase] += change;
                let loss = objective.loss(&model, &data.train).unwrap().unwrap();
                model.weights[feature][phase] -= change;
                loss
            };
            let slope = (loss_at(step) - loss_at(-step)) / (2.0 * step);
            let found = gradient[feature][phase];
            assert!((slope - found).abs() < 1e-6 + 1e-4 * slope.abs(), "feature {feature}: {slope} {found}");
        }
    }
}

#[test]
fn the_fit_does_not_depend_on_the_thread_count() {
    let data = taught(&Weights::material(), 1.0 / 400.0, 1_500);
    let settings = FitSettings { epochs: 2, batch: 500, ..FitSettings::default() };
    let fitted = [1, 2, 5].map(|threads| run(&settings, &data, &FloatWeights::material(), threads));
    for other in &fitted[1..] {
        assert_eq!(other.weights, fitted[0].weights);
        assert_eq!(other.epochs, fitted[0].epochs);
    }
}

#[test]
fn known_weights_are_recovered() {
    // Material in another order than Table I's: knights above bishops, pawns with a higher value.
    let mut known = FloatWeights::zeros();
    for (piece, value) in [300.0, 1100.0, 700.0, 1200.0, 2400.0].into_iter().enumerate() {
        known.mg[MATERIAL.nth(piece)] = value;
        known.eg[MATERIAL.nth(piece)] = 1.2 * value;
    }
    let teacher = Weights::from_floats(&known, serde_json::Value::Null).unwrap();
    let data = taught(&teacher, 1.0 / 600.0, 20_000);
    let mut settings = FitSettings { epochs: 15, batch: 1_000, ..FitSettings::default() };
    settings.target.result_share = 0.0;
    settings.groups = vec![MATERIAL.name.to_string()];
    settings.l2 = vec![GroupValue::new(MATERIAL.name, 0.0)];
    let fitted = run(&settings, &data, &FloatWeights::material(), 2);
    assert!(fitted.test_loss() < fitted.start_loss);
    let found = Weights::from_floats(&fitted.weights, serde_json::Value::Null).unwrap();
    for piece in 0..5 {
        for phase in [0, 1] {
            let [expected, found] =
                [&teacher, &found].map(|weights| f64::from(weights.ints()[MATERIAL.nth(piece)][phase]));
            assert!((found / expected - 1.0).abs() < 0.1, "piece {piece} phase {phase}: {expected} {found}");
        }
    }
}

#[test]
fn frozen_groups_do_not_change_and_l2_shrinks() {
    let start = FloatWeights::material();
    let mut known = start.clone();
    for feature in PIECE_SQUARE.range() {
        known.mg[feature] = 300.0 * (hash::unit(hash::mix(feature as u64)) - 0.5);
    }
    let data = taught(&Weights::from_floats(&known, serde_json::Value::Null).unwrap(), 1.0 / 400.0, 3_000);
    let norm = |settings: &FitSettings, features: Range<usize>| {
        let fitted = run(settings, &data, &start, 2);
        fitted.weights.mg[features].iter().map(|weight| weight * weight).sum::<f64>().sqrt()
    };
    let mut settings = FitSettings { epochs: 3, batch: 500, patience: 9, ..FitSettings::default() };
    settings.target.result_share = 0.0;
    settings.freeze = vec!["pairs".to_string()];
    assert_eq!(norm(&settings, PAIRS.range()), 0.0);
    let free = norm(&settings, PIECE_SQUARE.range());
    settings.l2 = vec![GroupValue::new("piece_square", 1e6)];
    assert!(norm(&settings, PIECE_SQUARE.range()) < 0.5 * free, "{free}");
}

/// Initial weights whose squares have a nonzero mean: nothing moves to material that does not learn, or from squares
/// that do not.
#[test]
fn squares_are_centered_only_if_both_groups_learn() {
    let mut start = FloatWeights::material();
    for feature in PIECE_SQUARE.range() {
        start.mg[feature] = 100.0 * hash::unit(hash::mix(feature as u64));
        start.eg[feature] = 50.0;
    }
    let data = taught(&Weights::material(), 1.0 / 400.0, 1_000);
    for (learn, frozen) in [
        (&["tempo"][..], &[MATERIAL.range(), PIECE_SQUARE.range()][..]),
        (&["material"], &[PIECE_SQUARE.range()]),
        (&["piece_square", "tempo"], &[MATERIAL.range()]),
    ] {
        let groups = learn.iter().map(ToString::to_string).collect();
        let settings = FitSettings { epochs: 1, batch: 200, groups, ..FitSettings::default() };
        // Without test positions the result is the weights after the last epoch.
        let data = Data { train: data.train.clone(), test: Vec::new() };
        let fitted = run(&settings, &data, &start, 1);
        for features in frozen {
            let [before, after] = [&start, &fitted.weights].map(|weights| &weights.mg[features.clone()]);
            let scale = after[1] / before[1];
            let same = before.iter().zip(after).all(|(before, after)| (scale * before - after).abs() < 1e-9);
            assert!(same, "{:?} {features:?}", settings.groups);
        }
    }
}

#[test]
fn a_stopped_fit_returns_the_best_epoch() {
    let data = taught(&Weights::material(), 1.0 / 400.0, 1_000);
    let settings = FitSettings { epochs: 50, batch: 100, patience: 50, ..FitSettings::default() };
    let stop = Control::new(false);
    let mut passes = 0;
    let mut on_event = |event: FitEvent| {
        if let FitEvent::Epoch(_) = event {
            passes += 1;
            stop.stop();
        }
    };
    let mut context = Context { threads: 1, stop: &stop, on_event: &mut on_event };
    let fitted = fit(&settings, &data, &FloatWeights::material(), &mut context).unwrap();
    assert_eq!((fitted.epochs.len(), passes, fitted.stopped), (1, 1, true));

    // Within the first epoch there is no result yet.
    let stop = Control::new(false);
    stop.stop();
    let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| () };
    let stopped = fit(&settings, &data, &FloatWeights::material(), &mut context);
    assert!(matches!(stopped, Err(Error::Stopped)));
}

/// The first batch makes the 2-tuples huge. The error comes from the test positions after the only batch of a pass, or
/// from the next batch.
#[test]
fn a_fit_that_diverges_is_refused() {
    let data = taught(&Weights::material(), 1.0 / 400.0, 1_000);
    let without_tests = Data { train: data.train.clone(), test: Vec::new() };
    for (data, batch) in [(&data, 10_000), (&data, 100), (&without_tests, 100)] {
        let rate = vec![GroupValue::new("pairs", 1e308)];
        let settings = FitSettings { epochs: 2, batch, rate, ..FitSettings::default() };
        let mut improved = 0;
        let mut on_event = |event: FitEvent| improved += u32::from(matches!(event, FitEvent::Improved(_)));
        let mut context = Context { threads: 1, stop: &Control::new(false), on_event: &mut on_event };
        let fitted = fit(&settings, data, &FloatWeights::material(), &mut context);
        let error = fitted.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("the fit diverged in pass 1: lower the rate"), "{batch}: {error}");
        assert_eq!(improved, 0);
    }
}

#[test]
fn without_test_positions_the_last_epoch_is_the_best() {
    let data = Data { test: Vec::new(), ..taught(&Weights::material(), 1.0 / 400.0, 500) };
    let settings = FitSettings { epochs: 3, batch: 200, patience: 1, ..FitSettings::default() };
    let fitted = run(&settings, &data, &FloatWeights::material(), 1);
    assert_eq!((fitted.start_loss, fitted.test_loss()), (None, None));
    assert_eq!(fitted.epochs.iter().map(|epoch| epoch.best).collect::<Vec<_>>(), [true; 3]);
}

#[test]
fn targets_blend_what_a_sample_has() {
    let sample = |result, score| {
        let board = dyad_engine::board::Board::from_fen("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1").unwrap();
        Sample { board, desired: None, result, score, test: false, starts_game: false, has_margin: true }
    };
    let score = Some(Score::centipawns(-120.0));
    let expected = sigmoid(1.0);
    let draw = Some(GameResult::Draw);
    let cases = [
        (1.0, draw, score, Some(0.5)),
        (0.0, draw, score, Some(expected)),
        (0.5, draw, score, Some(0.25 + 0.5 * expected)),
        (0.5, draw, None, Some(0.5)),
        (0.5, None, score, None),
        (0.0, draw, None, None),
        (1.0, None, score, None),
    ];
    for (result_share, result, score, expected) in cases {
        let sample = sample(result, score);
        let target = Target { result_share, ..Target::default() };
        assert_eq!(target.of(&sample).is_some(), expected.is_some(), "{result_share} {result:?} {score:?}");
        assert!(target.of(&sample).zip(expected).is_none_or(|(a, b)| (a - b).abs() < 1e-12));
        assert!(target.of(&sample).is_none() || target.exists(&Packed::new(&sample)));
    }
}

#[test]
fn centering_squares_changes_no_evaluation() {
    let data = taught(&Weights::material(), 1.0 / 400.0, 500);
    let mut weights = FloatWeights::material();
    for feature in PIECE_SQUARE.range() {
        weights.mg[feature] += 100.0 * hash::unit(hash::mix(feature as u64));
        weights.eg[feature] += 100.0 * hash::unit(hash::mix(feature as u64 + 1_000_000));
    }
    let mut model = Model::new(&weights, 1.0, FeatureRange::Squares, &data.train).unwrap();
    let sums = |weights: &FloatWeights, sample: &Packed| {
        let mut features = Vec::new();
        FeatureRange::Squares.list(&sample.board().unwrap(), &mut features);
        weights.dot(&features)
    };
    model.center_squares();
    let settled = model.weights();
    for sample in &data.test {
        let [before, after] = [&weights, &settled].map(|weights| sums(weights, sample));
        assert!((0..2).all(|phase| (before[phase] - after[phase]).abs() < 1e-6));
    }
    assert!(settled.mg[MATERIAL.nth(3)] > 1_320.0);
    model.center_squares();
    assert!((model.weights().mg[MATERIAL.nth(3)] - settled.mg[MATERIAL.nth(3)]).abs() < 1e-9);
}

#[test]
fn a_scale_that_is_kept_can_be_loaded() {
    assert_eq!(scale_in_units_of(1_000, 0.5).unwrap(), 2_000);
    assert_eq!(scale_in_units_of(MAX_SCALE, 1.0).unwrap(), MAX_SCALE);
    for (scale, unit) in [(MAX_SCALE, 0.999), (1, 3.0), (1_000, f64::NAN)] {
        assert!(scale_in_units_of(scale, unit).unwrap_err().to_string().contains("must be 1 to 1000000"));
    }
}
