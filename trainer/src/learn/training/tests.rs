use super::*;
use crate::base::json_lines;
use crate::learn::examples::Example;
use crate::learn::settings::{GroupSettings, L2Target, ObjectiveSettings, OptimizerSettings};
use crate::learn::testing::{Children, InMemory, random_examples};
use dyad_engine::board::sign;
use dyad_engine::control::Control;
use dyad_engine::eval::layout::MATERIAL;
use dyad_formats::testing::Temporary;
use dyad_formats::weights_file;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

fn small() -> TrainingSettings {
    let mut settings =
        TrainingSettings { depth: 1, batch: 7, iterations: 2, report_every: 40, ..TrainingSettings::default() };
    settings.report_positions = 10;
    settings.keep_going = true;
    settings.machine.threads = 1;
    settings
}

fn examples() -> InMemory {
    InMemory { examples: random_examples(150, 5, 100), test_every: 5 }
}

fn run(settings: &TrainingSettings, folder: &Path) -> TrainingSummary {
    run_on(1, settings, folder)
}

fn run_on(threads: usize, settings: &TrainingSettings, folder: &Path) -> TrainingSummary {
    let (examples, stop) = (examples(), Control::new(false));
    let mut context = Context { threads, stop: &stop, on_event: &mut |_| {} };
    begin(settings, folder, &examples, &mut context).expect("the settings are good")
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
    state.accuracy = measured(state.accuracy).unwrap_or(-1.0);
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

#[test]
fn results_do_not_depend_on_the_thread_count() {
    let settings_and_results = [1, 2, 4].map(|threads| {
        let folder = Temporary::new();
        run_on(threads, &small(), &folder);
        results(&folder)
    });
    let [one, two, four] = settings_and_results;
    assert_eq!(one.1.iter().filter(|line| line.kind == LineKind::Iteration).count(), 3);
    assert!(one.0.updates > 20);
    assert_eq!(one, two);
    assert_eq!(one, four);
}

#[test]
fn a_resumed_run_ends_as_an_uninterrupted_one() {
    let optimizers = [
        OptimizerSettings::Plain { rate: 1.0 },
        OptimizerSettings::AdaGrad { rate: 2.0 },
        OptimizerSettings::Adam { rate: 1.0, beta1: 0.9, beta2: 0.999 },
    ];
    for optimizer in optimizers {
        let settings = TrainingSettings { optimizer, ..small() };
        let (whole, parts) = (Temporary::new(), Temporary::new());
        run(&settings, &whole);
        let examples = examples();
        let mut begun = false;
        loop {
            // Each part ends after eleven batches.
            let (stop, mut batches) = (Control::new(false), 0);
            let mut progress = |progress: TrainingProgress| {
                batches += u32::from(progress.line.is_none());
                if batches >= 11 {
                    stop.stop();
                }
            };
            let mut context = Context { threads: 1, stop: &stop, on_event: &mut progress };
            let summary = match begun {
                false => begin(&settings, &parts, &examples, &mut context),
                true => resume(&parts, &|_| {}, &examples, &mut context),
            };
            begun = true;
            if summary.unwrap().finished {
                break;
            }
        }
        assert_eq!(results(&whole), results(&parts));
    }
}

/// As after a kill: no last checkpoint is written.
#[test]
fn a_killed_run_resumes_from_its_checkpoint() {
    let mut settings = small();
    settings.machine.checkpoint_seconds = 0;
    let (whole, parts) = (Temporary::new(), Temporary::new());
    run(&settings, &whole);
    let (examples, stop) = (examples(), Control::new(false));
    let broken = catch_unwind(AssertUnwindSafe(|| {
        let mut progress = |progress: TrainingProgress| assert!(progress.iteration < 2 || progress.done < 50, "killed");
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut progress };
        begin(&settings, &parts, &examples, &mut context)
    }));
    assert!(broken.is_err());
    let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
    resume(&parts, &|_| {}, &examples, &mut context).unwrap();
    assert_eq!(results(&whole), results(&parts));
}

#[test]
fn a_run_is_not_overwritten_and_other_samples_are_refused() {
    let folder = Temporary::new();
    run(&small(), &folder);
    let (examples, stop) = (examples(), Control::new(false));
    let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
    assert!(matches!(begin(&small(), &folder, &examples, &mut context), Err(TrainError::File(..))));
    let other = InMemory { examples: random_examples(151, 5, 100), test_every: 5 };
    for checkpoint in [true, false] {
        if !checkpoint {
            fs::remove_file(folder.join("checkpoint.bin")).unwrap();
        }
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
        let error = resume(&folder, &|_| {}, &other, &mut context).unwrap_err().to_string();
        assert!(error.contains("other samples"), "{error}");
    }
}

#[test]
fn two_processes_never_train_in_one_folder() {
    let folder = Temporary::new();
    run(&small(), &folder);
    // A second lock is refused, also within one process.
    let held = RunFolder::open(&folder).unwrap().lock().unwrap();
    let log = fs::read(folder.join("log.jsonl")).unwrap();
    let error = resume_run(&folder, &|settings| settings.iterations = 3).unwrap_err();
    assert!(error.contains("is in use: process "), "{error}");
    assert_eq!(fs::read(folder.join("log.jsonl")).unwrap(), log);
    drop(held);
    assert!(resume_run(&folder, &|settings| settings.iterations = 3).unwrap().finished);
}

/// Resumes a run with the usual examples.
fn resume_run(folder: &Path, change: &dyn Fn(&mut TrainingSettings)) -> Result<TrainingSummary, String> {
    let (examples, stop) = (examples(), Control::new(false));
    let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
    resume(folder, change, &examples, &mut context).map_err(|error| error.to_string())
}

#[test]
fn a_run_is_not_resumed_with_other_settings_or_another_start() {
    let folder = Temporary::folder();
    let (start, run_folder) = (folder.join("start.json"), folder.join("run"));
    weights_file::save(&Weights::material(), &start).unwrap();
    let settings = TrainingSettings { start: Some(start.clone()), ..small() };
    run(&settings, &run_folder);
    let path = run_folder.join("settings.json");
    let edited = TrainingSettings { batch: 8, seed: 7, ..settings.clone() };
    fs::write(&path, edited.to_json()).unwrap();
    let error = resume_run(&run_folder, &|_| {}).unwrap_err();
    assert!(error.contains("settings.json") && error.contains("other settings: batch, seed"), "{error}");
    // The content of the initial weights matters, not their path.
    let moved = folder.join("moved.json");
    fs::rename(&start, &moved).unwrap();
    fs::write(&path, TrainingSettings { start: Some(moved.clone()), ..settings }.to_json()).unwrap();
    assert!(resume_run(&run_folder, &|_| {}).unwrap().finished);
    for change in [|start: &mut Weights| start.units.scale += 1, |start: &mut Weights| start.units.win_rate.b[0] += 1] {
        let mut other = Weights::material();
        change(&mut other);
        weights_file::save(&other, &moved).unwrap();
        let error = resume_run(&run_folder, &|_| {}).unwrap_err();
        assert!(error.contains("begun with the weights"), "{error}");
    }
    weights_file::save(&Weights::embedded(), &moved).unwrap();
    let error = resume_run(&run_folder, &|_| {}).unwrap_err();
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
    assert_eq!(resume_run(&folder, &|_| {}).unwrap(), ended);
    assert!(resume_run(&folder, &|settings| settings.keep_going = true).unwrap().finished);
    assert_eq!(iterations(), 9);
    resume_run(&folder, &|settings| settings.iterations = 10).unwrap();
    assert_eq!(iterations(), 10);
    let kept = saved_settings(&folder).unwrap();
    assert_eq!((kept.keep_going, kept.iterations), (true, 10));
}

#[test]
fn the_best_iteration_is_the_last_one_without_measurements() {
    for (accuracy, best, expected) in [
        (None, None, true),
        (Some(0.2), None, true),
        (Some(0.3), Some(0.2), true),
        (Some(0.2), Some(0.2), false),
        (None, Some(0.2), false),
    ] {
        assert_eq!(is_best(accuracy, best), expected, "{accuracy:?} {best:?}");
    }
}

#[test]
fn frozen_groups_do_not_change() {
    let folder = Temporary::new();
    let mut settings = small();
    settings.groups.insert("pairs".into(), GroupSettings { learn: false, ..GroupSettings::default() });
    run(&settings, &folder);
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
    let objectives = [(ObjectiveSettings::Perceptron, 10.0), (ObjectiveSettings::RankingSvm { margin: 100 }, 300.0)];
    for (objective, rate) in objectives {
        let examples: Vec<Example> =
            random_examples(3000, 11, 400).into_iter().filter_map(|example| best_move(example, &hidden)).collect();
        let examples = InMemory { examples, test_every: 10 };
        let folder = Temporary::folder();
        let start = folder.join("start.json");
        weights_file::save(&wrong, &start).unwrap();
        let mut settings = TrainingSettings { start: Some(start), depth: 1, iterations: 3, objective, ..small() };
        settings.optimizer = OptimizerSettings::Plain { rate };
        for group in layout::GROUPS.iter().filter(|group| group.name != "material") {
            settings.groups.insert(group.name.into(), GroupSettings { learn: false, ..GroupSettings::default() });
        }
        let stop = Control::new(false);
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
        begin_with(&settings, &folder.join("run"), &examples, &mut context, &Children).unwrap();
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

/// The example with the best move by `weights`, if it is unique.
fn best_move(example: Example, weights: &Weights) -> Option<Example> {
    let value = |child: &dyad_engine::board::Board| {
        let sign = -sign(child.side_to_move());
        sign * weights.value(weights.sums(child), child)
    };
    let mut moves: Vec<_> = example.board.moves().iter().map(|&mv| (value(&example.board.after(mv)), mv)).collect();
    moves.sort_by_key(|&(value, _)| -value);
    (moves[0].0 > moves[1].0).then_some(Example { desired: moves[0].1, ..example })
}

/// The quiescence search of this position does not end in reasonable time.
const EXPLOSIVE: &str = "8/PPPPPPPP/8/k7/8/K7/pppppppp/8 w - - 0 1";

/// The usual examples with explosive ones at these indices; every fifth is for testing.
fn explosive_examples(places: &[usize]) -> InMemory {
    let mut examples = examples();
    for &place in places {
        examples.examples[place] = crate::learn::testing::example(EXPLOSIVE, "a7a8q");
    }
    examples
}

#[test]
fn a_position_over_the_node_limit_is_skipped_and_counted() {
    let all = [1, 2].map(|threads| {
        let folder = Temporary::new();
        let settings = TrainingSettings { node_limit: 300_000, ..small() };
        let (examples, stop) = (explosive_examples(&[5, 6]), Control::new(false));
        let mut context = Context { threads, stop: &stop, on_event: &mut |_| {} };
        assert!(begin(&settings, &folder, &examples, &mut context).unwrap().finished);
        results(&folder)
    });
    let iterations: Vec<_> = all[0].1.iter().filter(|line| line.kind == LineKind::Iteration).collect();
    let counted: Vec<_> = iterations.iter().map(|line| (line.over_limit, line.accuracy_positions)).collect();
    assert_eq!(counted, [(0, 29), (1, 29), (1, 29)]);
    assert!(iterations.iter().all(|line| line.skipped >= line.over_limit));
    assert_eq!(all[0], all[1]);
}

/// Examples that set the stop when a certain one is read, like Ctrl-C during its search.
struct Interrupted<'a, F> {
    examples: InMemory,
    stop: &'a Control,
    when: F,
}

impl<F: Fn(usize) -> bool + Sync> Examples for Interrupted<'_, F> {
    fn identity(&self) -> String {
        self.examples.identity()
    }

    fn len(&self) -> usize {
        self.examples.len()
    }

    fn is_test(&self, index: usize) -> bool {
        self.examples.is_test(index)
    }

    fn get(&self, index: usize) -> std::io::Result<Example> {
        if (self.when)(index) {
            self.stop.stop();
        }
        self.examples.get(index)
    }
}

#[test]
fn a_stop_ends_the_search_of_a_position() {
    let settings = TrainingSettings { node_limit: u64::MAX, ..small() };
    // During a comparison, and during a measurement of the accuracy.
    for place in [6, 5] {
        let (folder, stop) = (Temporary::new(), Control::new(false));
        let examples =
            Interrupted { examples: explosive_examples(&[place]), stop: &stop, when: |index| index == place };
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
        assert!(!begin(&settings, &folder, &examples, &mut context).unwrap().finished);
    }
}

/// A stopped report is repeated when the training is resumed, and the log equals that of an uninterrupted run.
#[test]
fn a_stop_in_a_report_loses_nothing() {
    let settings = small();
    let (whole, parts) = (Temporary::new(), Temporary::new());
    run(&settings, &whole);
    // The initial weights are measured on 30 positions; the first report comes after six batches of seven and measures
    // ten positions. The first part ends in it, the second as well, and the third ends in the second report.
    for (part, gets) in [30 + 42 + 5, 3, 10 + 42 + 2].into_iter().enumerate() {
        let stop = Control::new(false);
        let count = AtomicU32::new(0);
        let when = |_| count.fetch_add(1, Ordering::Relaxed) + 1 == gets;
        let interrupted = Interrupted { examples: examples(), stop: &stop, when };
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
        let summary = match part {
            0 => begin(&settings, &parts, &interrupted, &mut context),
            _ => resume(&parts, &|_| {}, &interrupted, &mut context),
        };
        assert!(!summary.unwrap().finished);
        let reports = json_lines::read::<LogLine>(&parts.join("log.jsonl")).unwrap();
        assert_eq!(reports.iter().filter(|line| line.kind == LineKind::Report).count(), part / 2);
    }
    resume_run(&parts, &|_| {}).unwrap();
    assert_eq!(results(&whole), results(&parts));
}

/// Fine-tuning: moves and values in one loss, a falling rate, L2 toward the initial weights.
fn fine_tuning() -> TrainingSettings {
    let objective = ObjectiveSettings::Listwise {
        temperature: 80.0,
        move_weight: 1.0,
        result_weight: 0.5,
        score_weight: 0.5,
        bound_weight: 0.5,
        outcome_scale: 400.0,
    };
    let mut settings = TrainingSettings { batch: 1, objective, average: Averaging::Off, ..small() };
    (settings.l2_target, settings.anneal, settings.keep_scale) = (L2Target::Start, true, true);
    settings.groups.insert("material".into(), GroupSettings { l2: 0.01, ..GroupSettings::default() });
    settings
}

#[test]
fn a_listwise_training_is_the_same_on_threads_and_when_resumed() {
    let whole = Temporary::new();
    run(&fine_tuning(), &whole);
    let parts = Temporary::new();
    let (examples, settings) = (examples(), fine_tuning());
    let mut finished = false;
    for part in 0.. {
        // Each part ends after 90 batches.
        let (stop, mut batches) = (Control::new(false), 0);
        let mut progress = |progress: TrainingProgress| {
            batches += u32::from(progress.line.is_none());
            if batches >= 90 {
                stop.stop();
            }
        };
        let mut context = Context { threads: 3, stop: &stop, on_event: &mut progress };
        let summary = match part {
            0 => begin(&settings, &parts, &examples, &mut context),
            _ => resume(&parts, &|_| {}, &examples, &mut context),
        };
        if summary.unwrap().finished {
            finished = part > 1;
            break;
        }
    }
    assert!(finished, "it took several parts");
    assert_eq!(results(&whole).0, results(&parts).0);
}

/// L2 toward the initial weights and the falling rate both keep the weights closer to them.
#[test]
fn l2_and_annealing_keep_the_weights_near_the_start() {
    let distance = |settings: &TrainingSettings| {
        let folder = Temporary::new();
        run(settings, &folder);
        let (state, ..) = results(&folder);
        let start = FloatWeights::material();
        MATERIAL.range().map(|feature| (state.weights.mg[feature] - start.mg[feature]).abs()).sum::<f64>()
    };
    let mut free = fine_tuning();
    (free.anneal, free.groups) = (false, Default::default());
    let annealed = TrainingSettings { groups: Default::default(), ..fine_tuning() };
    let [held, annealed, free] = [fine_tuning(), annealed, free].map(|settings| distance(&settings));
    assert!(0.0 < held && held < annealed && annealed < free, "{held} {annealed} {free}");
}

/// The rate depends on the number of iterations, so a run keeps it.
#[test]
fn an_annealed_run_keeps_its_iterations() {
    let folder = Temporary::new();
    let (examples, stop) = (examples(), Control::new(false));
    stop.stop();
    let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
    assert!(!begin(&fine_tuning(), &folder, &examples, &mut context).unwrap().finished);
    let stop = Control::new(false);
    let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| {} };
    let refused = resume(&folder, &|settings| settings.iterations += 1, &examples, &mut context).unwrap_err();
    assert!(refused.to_string().contains("iterations"), "{refused}");
}

/// Weights are scaled to the phase when they are rounded; with the scale kept, a set whose weights doubled values a
/// queen twice as high.
#[test]
fn weights_keep_their_units() {
    let mut origin = Weights::clone(&Weights::embedded());
    origin.units.scale = 700;
    let folder = Temporary::folder();
    let path = folder.join("start.json");
    weights_file::save(&origin, &path).unwrap();
    let start = InitialWeights::new(&TrainingSettings { start: Some(path), ..TrainingSettings::default() }).unwrap();
    let mut floats = start.floats();
    MATERIAL.range().for_each(|feature| {
        (floats.mg[feature], floats.eg[feature]) = (2.0 * floats.mg[feature], 2.0 * floats.eg[feature])
    });
    // The numbers are those that the training uses, whatever the common size of the weights.
    let trained = start.finish(&floats, serde_json::Value::Null).unwrap();
    assert_eq!(trained.units, origin.units);
    assert_eq!(trained.ints(), Weights::from_floats(&floats, serde_json::Value::Null).unwrap().ints());
}
