use super::*;
use crate::base::group_value::GroupValue;
use crate::base::json_lines;
use crate::learn::examples::Example;
use crate::learn::settings::{ObjectiveName, OptimizerName};
use crate::learn::testing::{InMemory, Watched, random_examples};
use dyad_engine::control::Control;
use dyad_engine::eval::layout::{GROUPS, MATERIAL};
use dyad_engine::search::{LeafBudget, LeafSearcher};
use dyad_engine::value::INFINITE;
use dyad_formats::testing::Temporary;
use dyad_formats::weights_file;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

fn small() -> TrainingSettings {
    TrainingSettings { batch: 7, iterations: 2, keep_going: true, ..TrainingSettings::default() }
}

fn examples() -> InMemory {
    InMemory { examples: random_examples(150, 5, 100), test_every: 5 }
}

/// Begins or resumes a run.
fn attempt(settings: &TrainingSettings, folder: &Path, examples: &dyn Examples) -> Result<TrainingSummary, String> {
    let stop = Control::new(false);
    let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
    train(settings, folder, examples, &mut context).map_err(|error| error.to_string())
}

fn run(settings: &TrainingSettings, folder: &Path) -> TrainingSummary {
    attempt(settings, folder, &examples()).expect("the settings are good")
}

fn refusal(settings: &TrainingSettings, folder: &Path) -> String {
    attempt(settings, folder, &examples()).unwrap_err()
}

/// Runs in parts, each of which ends after this many batches; the number of parts.
fn in_parts(threads: usize, batches: u32, settings: &TrainingSettings, folder: &Path) -> u32 {
    for part in 1.. {
        let (stop, mut done) = (Control::new(false), 0);
        let mut progress = |progress: TrainingProgress| {
            done += u32::from(progress.line.is_none());
            if done >= batches {
                stop.stop();
            }
        };
        let mut context = Context { threads, stop: &stop, on_event: &mut progress };
        if train(settings, folder, &examples(), &mut context).unwrap().finished {
            return part;
        }
    }
    unreachable!("a training ends")
}

/// The files of weights, by name.
type Files = Vec<(String, Vec<u8>)>;

/// Everything that a run writes, without times.
fn results(folder: &Path) -> (TrainingState, Vec<LogLine>, Files) {
    let mut state = Checkpoint::load(&folder.join("checkpoint.bin")).unwrap().state;
    state.seconds = 0.0;
    // The log's length varies with the digits of the times.
    state.log_bytes = 0;
    for counters in [&mut state.report, &mut state.iteration_counters] {
        counters.seconds = 0.0;
    }
    let mut lines = json_lines::read::<LogLine>(&folder.join("log.jsonl")).unwrap();
    for line in &mut lines {
        line.seconds = 0.0;
        line.positions_per_second = 0.0;
    }
    let mut files: Files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("iteration") || path.ends_with("best.json"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    (state, lines, files)
}

/// Moves and values in one loss, one average of all iterations, L2.
fn of_values() -> TrainingSettings {
    TrainingSettings {
        batch: 1,
        objective: ObjectiveName::Logistic,
        temperature: 80.0,
        result_weight: 0.5,
        score_weight: 0.5,
        averaging: Averaging::All,
        l2: vec![GroupValue::new("pairs", 0.001)],
        keep_scale: true,
        ..small()
    }
}

#[test]
fn neither_threads_nor_stops_change_anything() {
    let adam = TrainingSettings { optimizer: OptimizerName::Adam, ..small() };
    for (settings, threads, batches) in [(small(), 4, 11), (adam, 2, 11), (of_values(), 3, 90)] {
        let (whole, parts) = (Temporary::new(), Temporary::new());
        run(&settings, &whole);
        assert!(in_parts(threads, batches, &settings, &parts) > 2, "it took several parts");
        let whole = results(&whole);
        assert_eq!(whole.1.iter().filter(|line| line.kind == LineKind::Iteration).count(), 3);
        assert!(whole.0.updates > 20);
        assert_eq!(whole, results(&parts));
    }
}

#[test]
fn a_run_is_resumed_with_its_own_settings_samples_and_start_alone() {
    let folder = Temporary::folder();
    let (start, run_folder) = (folder.join("start.json"), folder.join("run"));
    weights_file::save(&Weights::material(), &start).unwrap();
    let settings = TrainingSettings { weights: Some(start.clone()), ..small() };
    run(&settings, &run_folder);
    let edited = TrainingSettings { batch: 8, seed: 7, ..settings.clone() };
    let error = refusal(&edited, &run_folder);
    assert!(error.contains("settings.json") && error.contains("other settings: batch is 8 here, and "), "{error}");
    assert!(error.contains(", seed is 7 here"), "{error}");
    let other = InMemory { examples: random_examples(151, 5, 100), test_every: 5 };
    assert!(attempt(&settings, &run_folder, &other).unwrap_err().contains("other samples"));
    // A second process is refused.
    let held = FolderLock::take(&run_folder).unwrap();
    assert!(refusal(&settings, &run_folder).contains("is in use: process "));
    drop(held);
    // The content of the initial weights matters, not their path.
    let moved = folder.join("moved.json");
    fs::rename(&start, &moved).unwrap();
    let settings = TrainingSettings { weights: Some(moved.clone()), ..settings };
    assert!(run(&settings, &run_folder).finished);
    for change in [|start: &mut Weights| start.units.scale += 1, |start: &mut Weights| start.units.win_rate.b[0] += 1] {
        let mut other = Weights::material();
        change(&mut other);
        weights_file::save(&other, &moved).unwrap();
        let error = refusal(&settings, &run_folder);
        assert!(error.contains("begun with the weights"), "{error}");
    }
    weights_file::save(&Weights::embedded(), &moved).unwrap();
    let error = refusal(&settings, &run_folder);
    assert!(error.contains("begun with the weights"), "{error}");
}

/// Random moves cannot be learned, so the accuracy soon falls.
#[test]
fn a_finished_run_resumes_with_new_settings_and_keeps_them() {
    let folder = Temporary::new();
    let settings = TrainingSettings { keep_going: false, iterations: 9, ..small() };
    let ended = run(&settings, &folder);
    let iterations = || json_lines::read::<LogLine>(&folder.join("log.jsonl")).unwrap().last().unwrap().iteration;
    assert!(ended.finished && iterations() < 9, "{}", iterations());
    assert_eq!(run(&settings, &folder), ended);
    let on = TrainingSettings { keep_going: true, ..settings };
    assert!(run(&on, &folder).finished);
    assert_eq!(iterations(), 9);
    run(&TrainingSettings { iterations: 10, ..on }, &folder);
    assert_eq!(iterations(), 10);
    let kept = saved_settings(&folder).unwrap();
    assert_eq!((kept.keep_going, kept.iterations), (true, 10));
}

#[test]
fn frozen_groups_do_not_change() {
    let folder = Temporary::new();
    run(&TrainingSettings { freeze: vec!["pairs".to_string()], ..small() }, &folder);
    let (state, ..) = results(&folder);
    assert!(state.weights.mg[layout::PAIRS.range()].iter().all(|&w| w == 0.0));
    assert!(state.weights.mg[layout::PIECE_SQUARE.range()].iter().any(|&w| w != 0.0));
}

/// Desired moves are the best captures by hidden weights; the initial weights have the pieces in reverse order.
#[test]
fn the_order_of_hidden_piece_values_is_learned() {
    let weights = |pieces: [f64; 5]| {
        let mut floats = FloatWeights::zeros();
        for (piece, value) in pieces.into_iter().enumerate() {
            floats.mg[MATERIAL.nth(piece)] = value;
            floats.eg[MATERIAL.nth(piece)] = value;
        }
        Arc::new(Weights::from_floats(&floats, serde_json::Value::Null).unwrap())
    };
    let hidden = weights([200.0, 700.0, 900.0, 1300.0, 2600.0]);
    let wrong = weights([2600.0, 1300.0, 900.0, 700.0, 300.0]);
    for (objective, rate) in [(ObjectiveName::Perceptron, 10.0), (ObjectiveName::RankingSvm, 300.0)] {
        let mut searcher = LeafSearcher::new(Arc::clone(&hidden));
        let examples = random_examples(3000, 11, 400).into_iter();
        let examples: Vec<Example> = examples.filter_map(|example| best_move(example, &mut searcher)).collect();
        let examples = InMemory { examples, test_every: 10 };
        let folder = Temporary::folder();
        let start = folder.join("start.json");
        weights_file::save(&wrong, &start).unwrap();
        let others = GROUPS.iter().map(|group| group.name.to_string()).filter(|name| name != "material");
        let freeze = others.collect();
        let settings = TrainingSettings { weights: Some(start), iterations: 6, objective, rate, freeze, ..small() };
        attempt(&settings, &folder.join("run"), &examples).unwrap();
        let lines = json_lines::read::<LogLine>(&folder.join("run").join("log.jsonl")).unwrap();
        let last = lines.last().unwrap();
        let pieces = &last.material[..5];
        for phase in [0, 1] {
            let in_order = pieces.windows(2).all(|pair| pair[0][phase] < pair[1][phase]);
            assert!(in_order, "{:?}: {pieces:?}", settings.objective);
        }
        assert!(last.accuracy > lines[0].accuracy, "{:?} {:?}", lines[0].accuracy, last.accuracy);
    }
}

/// The example with the best move by a quiescence search, if it is unique.
fn best_move(example: Example, searcher: &mut LeafSearcher) -> Option<Example> {
    let stop = Control::new(false);
    let budget = LeafBudget { nodes: u64::MAX, stop: stop.flag() };
    searcher.begin_position();
    let mut value = |mv| -searcher.search(&example.board.after(mv), 0, (-INFINITE, INFINITE), &budget).unwrap().value;
    let mut moves: Vec<_> = example.board.moves().iter().map(|&mv| (value(mv), mv)).collect();
    moves.sort_by_key(|&(value, _)| -value);
    (moves[0].0 > moves[1].0).then_some(Example { desired: moves[0].1, ..example })
}

/// A stopped report is repeated when the training is resumed, and the log equals that of an uninterrupted run.
#[test]
fn a_stop_in_a_report_loses_nothing() {
    let (whole, parts) = (Temporary::new(), Temporary::new());
    run(&small(), &whole);
    // The initial weights are measured on 30 positions; the first report comes after five batches of seven and measures
    // 30 positions. The first part ends in it, the second as well, and the third ends in the second report.
    for (part, gets) in [30 + 35 + 5, 3, 30 + 28 + 2].into_iter().enumerate() {
        let stop = Control::new(false);
        let count = AtomicU32::new(0);
        let on_get = || {
            if count.fetch_add(1, Ordering::Relaxed) + 1 == gets {
                stop.stop();
            }
        };
        let watched = Watched { examples: examples(), on_get };
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
        assert!(!train(&small(), &parts, &watched, &mut context).unwrap().finished);
        let reports = json_lines::read::<LogLine>(&parts.join("log.jsonl")).unwrap();
        assert_eq!(reports.iter().filter(|line| line.kind == LineKind::Report).count(), part / 2);
    }
    run(&small(), &parts);
    assert_eq!(results(&whole), results(&parts));
}

/// Weights are scaled to the phase when they are rounded; the units of the initial weights are kept, so a value means
/// the same as during the training.
#[test]
fn weights_keep_their_units() {
    let mut origin = Weights::clone(&Weights::embedded());
    origin.units.scale = 700;
    let folder = Temporary::folder();
    let path = folder.join("start.json");
    weights_file::save(&origin, &path).unwrap();
    let trained = run(&TrainingSettings { weights: Some(path), iterations: 1, ..small() }, &folder.join("run"));
    assert_eq!(weights_file::load(&trained.file).unwrap().units, origin.units);
    let iteration = weights_file::load(&folder.join("run/iteration-01.json")).unwrap();
    assert_eq!(iteration.units, origin.units);
    assert_ne!(iteration.ints(), origin.ints());
}
