use dyad_engine::control::Control;
use dyad_formats::samples::SampleFile;
use dyad_formats::score::ScoreSide;
use dyad_formats::testing::Temporary;
use dyad_formats::weights_file;

use super::SelfTrainEvent::Logged;
use super::*;
use crate::arena::game_file::GameFile;
use crate::learn::settings::ObjectiveName;
use crate::learn::training::saved_settings;
use crate::report::RunData;
use std::collections::BTreeSet;
use std::fs;

fn tiny() -> SelfTrainSettings {
    // Fine-tuning from the positions of two generations on.
    SelfTrainSettings { passes: 1, fine_tune_from: 200, ..tiny_by(Method::Comparison) }
}

fn tiny_by(method: Method) -> SelfTrainSettings {
    SelfTrainSettings {
        nodes: 40,
        label_nodes: 80,
        positions: 150,
        batch: 20,
        generations: 2,
        match_games: 6,
        match_nodes: 40,
        tuning_pairs: 0,
        long_nodes: 40,
        long_games: 6,
        positions_per_game: 10,
        window: 2,
        ..SelfTrainSettings::of(method)
    }
}

fn given(name: &str, value: impl Into<serde_json::Value>) -> Given {
    Given::from_iter([(name.to_string(), value.into())])
}

/// A training from the games of a file.
fn from_games(games: &Path, scores: Option<ScoreSide>) -> SelfTrainSettings {
    SelfTrainSettings { generations: 1, games_file: Some(games.to_path_buf()), scores, ..tiny() }
}

/// Whether there are generations left to do.
fn is_unfinished(folder: &Path) -> bool {
    saved(folder).is_ok_and(|(state, settings)| !state.is_over(&settings))
}

/// Begins a training from the pieces alone, or resumes it with the threads of `settings`.
fn run(
    folder: &Path,
    settings: &SelfTrainSettings,
    stop: &Control,
    on_event: &mut dyn FnMut(&SelfTrainEvent),
) -> SelfTrainSummary {
    let summary = match is_unfinished(folder) {
        true => resume(folder, &given("threads", settings.threads), None, stop, on_event),
        false => begin(settings, &Weights::material(), folder, stop, on_event),
    };
    summary.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end, or to the event with this number.
fn run_until(
    folder: &Path,
    settings: &SelfTrainSettings,
    last: usize,
    events: &mut Vec<SelfTrainEvent>,
) -> SelfTrainSummary {
    let (stop, mut count) = (Control::new(false), 0);
    let mut report = |event: &SelfTrainEvent| {
        events.push(event.clone());
        count += 1;
        if count >= last {
            stop.stop();
        }
    };
    run(folder, settings, &stop, &mut report)
}

fn weights(folder: &Path) -> Vec<Vec<u8>> {
    let file = |number: u32| folder.join(format!("generation-{number:03}/weights.json"));
    (1..=2).map(|number| fs::read(file(number)).unwrap()).collect()
}

/// A training runs from games to a report. Whatever the stage, a stop loses nothing, and neither stops nor threads change
/// a weight.
#[test]
fn a_training_is_the_same_whole_and_in_parts() {
    let [whole, broken] = [(); 2].map(|()| Temporary::new());
    let mut events = Vec::new();
    let summary = run_until(&whole, &tiny(), usize::MAX, &mut events);
    assert_eq!((summary.end, summary.generations), (End::Finished, 2));
    assert!(!is_unfinished(&whole));
    for number in 1..=2 {
        let path = whole.join(format!("generation-{number:03}"));
        let trained = weights_file::load(&path.join("weights.json")).unwrap();
        assert_ne!(trained.id(), Weights::material().id());
        for (file, least) in [("games.pgn", 15), ("match.pgn", 2)] {
            let games = GameFile::open(&path.join(file)).unwrap().1;
            assert!(games.len() >= least && games.iter().all(|game| game.result.is_some()), "{file}");
        }
        assert!(path.join("labeled.samples").exists() && !path.join("training/checkpoint.bin").exists());
    }
    let adopted = |event: &&SelfTrainEvent| matches!(event, Logged(SelfTrainLogLine::Generation { adopted: true, .. }));
    let adopted = events.iter().filter(adopted).count();
    assert_eq!((summary.adopted as usize, summary.best.is_some()), (adopted, adopted > 0));
    assert_eq!(latest(&whole).map(|(_, path)| path), summary.best);
    let report = RunData::load(&whole).unwrap();
    assert_eq!(report.generations.iter().filter(|generation| generation.adopted).count(), adopted);
    // There are enough positions for a fine-tuning pass from the second generation on.
    let file = |name: &str| whole.join(name);
    assert!(!file("generation-001/refinement").exists() && !file("generation-001/base.json").exists());
    assert_eq!(saved_settings(&file("generation-002/training")).unwrap().batch, 20);
    let refinement = saved_settings(&file("generation-002/refinement")).unwrap();
    assert_eq!((refinement.objective, refinement.iterations), (ObjectiveName::Perceptron, 1));
    let id = |name: &str| weights_file::load(&file(name)).unwrap().id();
    assert_ne!(id("generation-002/base.json"), id("generation-002/weights.json"));
    assert!(!file("generation-002/refinement/checkpoint.bin").exists());

    let mut ended_in = BTreeSet::new();
    loop {
        let (stop, threads) = (Control::new(false), 1 + ended_in.len() % 2);
        // Each leg ends within a stage that none has ended in.
        let mut report = |event: &SelfTrainEvent| {
            let &SelfTrainEvent::Progress(StageProgress { generation, stage, done, .. }) = event else { return };
            let is_within = done > 0 || stage == Stage::Scale;
            if is_within && !stop.stopped() && ended_in.insert((generation, stage)) {
                stop.stop();
            }
        };
        if run(&broken, &SelfTrainSettings { threads, ..tiny() }, &stop, &mut report).end == End::Finished {
            break;
        }
    }
    assert!(ended_in.len() >= 10, "{ended_in:?}");
    assert!(weights(&whole) == weights(&broken));
    let games = |folder: &Path| fs::read(folder.join("generation-002/games.pgn")).unwrap();
    assert!(games(&whole) == games(&broken));
}

/// From the piece values every quiescent position of unbalanced games is used: the weights learn, piece values and
/// scale stay, intermediate files are removed, and neither stops nor threads change a weight. Games tune the factors of
/// the third fit. No stage and no setting of comparison training shows.
#[test]
fn a_regression_learns_from_search_scores() {
    let settings = |threads| SelfTrainSettings {
        passes: 6,
        growth: 2,
        long_games: 40,
        // So few games that none is kept for tests, by which the initial weights might stay the best.
        positions: 320,
        positions_per_game: 40,
        sprt: HOPELESS.to_vec(),
        generations: 3,
        tuning_pairs: 4,
        threads,
        ..tiny_by(Method::Regression)
    };
    let [whole, broken] = [(); 2].map(|()| Temporary::new());
    run_until(&whole, &settings(2), usize::MAX, &mut Vec::new());
    let start = weights_file::load(&whole.join("start.json")).unwrap();
    for (number, nodes, file) in [(1, 40, "weights.json"), (2, 80, "weights.json"), (3, 80, "trained.json")] {
        let path = whole.join(format!("generation-{number:03}"));
        let weights = weights_file::load(&path.join(file)).unwrap();
        assert_eq!((weights.units.scale, &weights.meta.provenance["generation"]), (start.units.scale, &number.into()));
        assert_ne!(weights.id(), start.id());
        assert!(weights.meta.provenance["positions"].as_u64().unwrap() > 100 * number, "{}", weights.meta.provenance);
        let games = fs::read_to_string(path.join("games.pgn")).unwrap();
        assert_eq!(games.matches(&format!("{nodes} nodes a move")).count(), 8);
        for gone in ["fitted.json", "positions.samples", "training"] {
            assert!(!path.join(gone).exists(), "{gone}");
        }
    }
    let trained = weights_file::load(&whole.join("generation-003/trained.json")).unwrap();
    let made = weights_file::load(&whole.join("generation-003/weights.json")).unwrap().meta.provenance;
    let tuned = made["tuned"].as_object().unwrap();
    assert!(tuned.len() > 10 && tuned.values().any(|factor| *factor != 1.0), "{made}");
    assert!(!tuned.contains_key("interpolation") && made["pairs"] == 4 && made["from"] == trained.id(), "{made}");
    let (mut legs, mut events) = (0, Vec::new());
    // A fit that was stopped begins again, so each leg has to be longer than the one before.
    while run_until(&broken, &settings(1 + legs % 2), 1 + legs, &mut events).end != End::Finished {
        legs += 1;
    }
    assert!(legs > 3 && weights(&whole) == weights(&broken), "{legs}");
    RunData::load(&whole).unwrap();
    let stages = events.iter().filter_map(|event| match event {
        SelfTrainEvent::Progress(progress) => Some((progress.stage, progress.stages.clone())),
        _ => None,
    });
    let own =
        [Stage::Games, Stage::Positions, Stage::Training, Stage::Scale, Stage::Match, Stage::Distance, Stage::Proof];
    assert!(stages.clone().count() > 10 && stages.clone().all(|(stage, all)| all.contains(&stage)));
    assert!(stages.clone().any(|(stage, _)| stage == Stage::Tuning));
    assert!(stages.clone().all(|(_, all)| all.iter().filter(|stage| **stage != Stage::Tuning).eq(&own)));
    let log = fs::read_to_string(whole.join("log.jsonl")).unwrap();
    assert!(log.contains("\"stage\":\"scale\"") && !log.contains("labels"), "{log}");
    let file = fs::read_to_string(whole.join("settings.json")).unwrap();
    assert!(file.contains("\"passes\": 6") && !file.contains("label-nodes"), "{file}");
}

/// A test that everything passes.
const EASY: [f64; 4] = [-1_000.0, -100.0, 0.05, 0.05];
/// A test that nothing passes.
const HOPELESS: [f64; 4] = [500.0, 600.0, 0.05, 0.05];

/// The engine plays with a generation only after a long match; stops and threads change nothing of it, and another
/// reference begins again.
#[test]
fn the_engine_plays_with_what_is_proven() {
    let by =
        |seed, threads| SelfTrainSettings { sprt: EASY.to_vec(), long_sprt: EASY.to_vec(), seed, threads, ..tiny() };
    let run = |settings: &SelfTrainSettings| {
        let (folder, mut events) = (Temporary::new(), Vec::new());
        let summary = run_until(&folder, settings, usize::MAX, &mut events);
        ((summary.adopted, summary.playing) == (2, 2)).then_some((folder, events))
    };
    // With a new reference the best weights are measured again.
    let measure = |folder: &Path, reference: &Weights| {
        let (stop, mut events) = (Control::new(false), Vec::new());
        let mut listen = |event: &SelfTrainEvent| match event {
            SelfTrainEvent::Progress(StageProgress { stage: Stage::Games, .. }) => stop.stop(),
            Logged(SelfTrainLogLine::Distance { distance, .. }) => events.push(distance.generation),
            _ => (),
        };
        let more = given("generations", 3);
        let playing = resume(folder, &more, Some(reference), &stop, &mut listen).unwrap().playing;
        (events, playing)
    };
    // Few games of few nodes are luck: in one of many trainings the weights are near enough for each long match.
    let (seed, (whole, events), measured_events) = (4..30)
        .find_map(|seed| {
            let whole = run(&by(seed, 2))?;
            let (measured, events) = run(&SelfTrainSettings { long_games: 40, ..by(seed, 2) })?;
            assert_eq!(RunData::load(&measured).unwrap().distances.len(), 3);
            for reference in [&*Weights::embedded(), &Weights::material()] {
                assert_eq!(measure(&measured, reference), (vec![2], 0));
            }
            Some((seed, whole, events))
        })
        .expect("a training whose weights are proven stronger");
    let settings = |threads| by(seed, threads);
    let [broken, hopeless] = [(); 2].map(|()| Temporary::new());
    let promoted = events.iter().filter_map(|event| match event {
        Logged(SelfTrainLogLine::Proof { generation, promoted: true, .. }) => Some(*generation),
        _ => None,
    });
    assert!(promoted.eq([1, 2]));
    let distances = measured_events.iter().filter_map(|event| match event {
        Logged(SelfTrainLogLine::Distance { distance, .. }) => Some(distance.generation),
        _ => None,
    });
    assert!(distances.eq([0, 1, 2]));
    let found = playing(&whole).unwrap();
    assert_eq!(found.generation, 2);
    assert!(found.has_beaten(&Weights::material()) && !found.has_beaten(&Weights::embedded()));
    assert_eq!(fs::read(&found.path).unwrap(), fs::read(whole.join("generation-002/weights.json")).unwrap());
    let (mut legs, mut events) = (0, Vec::new());
    while run_until(&broken, &settings(1 + legs % 2), 1 + 3 * legs, &mut events).end != End::Finished {
        legs += 1;
    }
    let file = |folder: &Path, name: &str| fs::read(folder.join(name)).unwrap();
    for name in ["playing.json", "generation-002/proof.pgn"] {
        assert!(file(&whole, name) == file(&broken, name), "{name}");
    }
    assert_eq!(RunData::load(&whole).unwrap().proofs.len(), 2);
    // A promotion is made again if the program ended between `playing.json` and the state.
    with_state(&broken, |state| {
        (state["generation"], state["stage"], state["playing"]) = (2.into(), "proof".into(), 1.into());
    });
    let summary = run_until(&broken, &settings(2), usize::MAX, &mut events);
    assert_eq!((summary.end, summary.playing), (End::Finished, 2));
    // The same reference keeps what is proven, and so do the weights that are played with; another one does not.
    let again = |reference: &Weights| {
        let (stop, mut ignore) = (Control::new(false), |_: &SelfTrainEvent| ());
        stop.stop();
        let more = given("generations", 3);
        resume(&whole, &more, Some(reference), &stop, &mut ignore).unwrap();
        playing(&whole).map(|playing| playing.generation)
    };
    assert_eq!(again(&Weights::material()), Some(2));
    assert_eq!(again(&weights_file::load(&found.path).unwrap()), Some(2));
    assert_eq!(again(&Weights::embedded()), None);
    assert_eq!(saved(&whole).unwrap().0.distance, None);
    // Without a proof nothing changes.
    let unproven = SelfTrainSettings { long_sprt: HOPELESS.to_vec(), generations: 1, ..settings(2) };
    let mut events = Vec::new();
    let summary = run_until(&hopeless, &unproven, usize::MAX, &mut events);
    assert_eq!((summary.adopted, summary.playing, playing(&hopeless)), (1, 0, None));
    let unproven = |event: &SelfTrainEvent| matches!(event, Logged(SelfTrainLogLine::Proof { promoted: false, .. }));
    assert!(events.iter().any(unproven));
}

#[test]
fn games_of_a_file_teach_their_moves() {
    let source = Temporary::new();
    run_until(&source, &SelfTrainSettings { generations: 1, ..tiny() }, usize::MAX, &mut Vec::new());
    let folder = Temporary::new();
    let games = source.join("generation-001/games.pgn");
    let settings = from_games(&games, None);
    let summary = run_until(&folder, &settings, usize::MAX, &mut Vec::new());
    assert_eq!(summary.end, End::Finished);
    let generation = folder.join("generation-001");
    assert!(!generation.join("games.pgn").exists());
    let played = GameFile::open(&games).unwrap().1;
    let moves: BTreeSet<(String, String)> = played
        .iter()
        .flat_map(|game| game.positions().map(|(board, played)| (board.key().to_string(), played.mv.to_string())))
        .collect();
    let samples = SampleFile::open(&generation.join("labeled.samples")).unwrap();
    let all = |samples: &SampleFile| -> Vec<dyad_formats::packed::Sample> {
        (0..samples.samples.len()).map(|index| samples.read(index).unwrap()).collect()
    };
    let unscored = all(&samples);
    for sample in &unscored {
        assert!(moves.contains(&(sample.board.key().to_string(), sample.desired.unwrap().to_string())));
        assert_eq!(sample.score, None);
    }

    // Scores are read from the side that the settings name, which the file itself must not contradict.
    let mover = Temporary::new();
    run_until(&mover, &from_games(&games, Some(ScoreSide::Mover)), 6, &mut Vec::new());
    let samples = SampleFile::open(&mover.join("generation-001/labeled.samples"));
    let scored = all(&samples.unwrap());
    assert!(unscored.len() == scored.len() && scored.iter().any(|sample| sample.score.unwrap().0 > 0));
    let white = Temporary::new();
    let refused = begin(
        &from_games(&games, Some(ScoreSide::White)),
        &Weights::material(),
        &white,
        &Control::new(false),
        &mut |_: &SelfTrainEvent| (),
    );
    assert!(refused.unwrap_err().to_string().contains("mover's side"));
}

#[test]
fn a_time_limit_stops_the_work_alone() {
    let (stop, moment) = (Control::new(false), std::time::Duration::from_millis(60));
    let wait = |limited: &Control| {
        while !limited.stopped() {
            std::thread::yield_now();
        }
        stop.stopped()
    };
    assert!(!stages::within(Some(std::time::Instant::now() + moment), &stop, wait), "the time was over");
    assert!(!stages::within(None, &stop, Control::stopped));
    stop.stop();
    assert!(stages::within(Some(std::time::Instant::now() + 60 * moment), &stop, wait), "it was stopped");
}

/// What was named wrongly makes nothing, and what teaches nothing is in the way of nothing else.
#[test]
fn other_games_take_the_place_of_those_that_teach_nothing() {
    let (path, others) = (Temporary::new(), Temporary::folder());
    let games = others.join("other-games.pgn");
    let settings = from_games(&games, None);
    let stop = Control::new(false);
    let mut ignore = |_: &SelfTrainEvent| ();
    let error = begin(&settings, &Weights::material(), &path, &stop, &mut ignore).unwrap_err().to_string();
    assert!(error.contains("other-games") && !path.exists(), "{error}");
    fs::write(&games, "no game\n").unwrap();
    let error = begin(&settings, &Weights::material(), &path, &stop, &mut ignore).unwrap_err().to_string();
    assert!(error.contains("no position was found"), "{error}");
    let own = given("games-file", serde_json::Value::Null);
    assert_eq!(resume(&path, &own, None, &stop, &mut ignore).unwrap().end, End::Finished);
    assert!(path.join("generation-001/games.pgn").exists());
}

/// The names and the contents of all files below a folder, but for the lock.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(contents(&path)),
            path => found.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn a_damaged_state_is_refused_and_nothing_is_touched() {
    let path = Temporary::new();
    run_until(&path, &SelfTrainSettings { generations: 1, ..tiny() }, usize::MAX, &mut Vec::new());
    let (state, settings) = (path.join("state.json"), path.join("settings.json"));
    let good = fs::read_to_string(&state).unwrap();
    let good_settings = fs::read_to_string(&settings).unwrap();
    let stop = Control::new(false);
    let refused = |word: &str| {
        let before = contents(&path);
        let error = resume(&path, &given("generations", 2), None, &stop, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains(" is damaged: "), "{error}");
        assert!(error.to_string().contains(word), "{error}, not {word}");
        assert!(contents(&path) == before, "something was changed");
    };
    for text in ["", "{}", "[]", "null", "{\"generation\": 1}"] {
        fs::write(&state, text).unwrap();
        refused("state.json");
    }
    fs::write(&state, good.replacen("\"generation\": 2", "\"generation\": 7", 1)).unwrap();
    refused("checksum");
    // Without one, by what cannot be true.
    let with = |name: &str, value: serde_json::Value| {
        let mut fields: serde_json::Value = serde_json::from_str(&good).unwrap();
        fields.as_object_mut().unwrap().remove("checksum");
        fields[name] = value;
        fs::write(&state, fields.to_string()).unwrap();
    };
    for (name, value, word) in [
        ("generation", 0.into(), "counted from 1"),
        ("generation", u32::MAX.into(), "no generation before"),
        ("best", 2.into(), "cannot be the best"),
        ("adopted", 9.into(), "9 were not adopted"),
        ("log-bytes", 1_000_000.into(), "log.jsonl"),
        ("stage", "dinner".into(), "dinner"),
        ("lunch", 1.into(), "lunch"),
    ] {
        with(name, value);
        refused(word);
    }
    fs::write(&state, &good).unwrap();
    for (from, to, word) in [
        ("\"positions-per-game\": 10", "\"positions-per-game\": 0", "positions-per-game"),
        ("\"nodes\": 40", "\"nodes\": 0", "nodes"),
        ("{", "[", "settings.json"),
    ] {
        fs::write(&settings, good_settings.replacen(from, to, 1)).unwrap();
        refused(word);
    }
    fs::write(&settings, &good_settings).unwrap();
    with("seconds", 9.5.into());
    let own = given("generations", 1);
    assert_eq!(resume(&path, &own, None, &stop, &mut |_| ()).unwrap().end, End::Finished);
}

/// As after a kill between two calls of the system.
#[test]
fn positions_that_are_labeled_do_not_stay() {
    let path = Temporary::new();
    let generation = path.join("generation-001");
    let mut events = 0;
    while !generation.join("labeled.samples").exists() {
        events += 1;
        run_until(&path, &tiny(), events, &mut Vec::new());
    }
    fs::copy(generation.join("labeled.samples"), generation.join("positions.samples")).unwrap();
    with_state(&path, |state| state["stage"] = "labels".into());
    run_until(&path, &tiny(), 3, &mut Vec::new());
    assert!(!generation.join("positions.samples").exists());
}

/// Changes `state.json` by hand.
fn with_state(folder: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let path = folder.join("state.json");
    let mut state: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    state.as_object_mut().unwrap().remove("checksum");
    change(&mut state);
    fs::write(path, state.to_string()).unwrap();
}

/// Nothing of anybody else's is overwritten or removed, and what a killed beginning left is no hindrance.
#[test]
fn a_folder_of_another_program_is_left_alone() {
    let stop = Control::new(false);
    stop.stop();
    let begin =
        |path: &Path| begin(&tiny(), &Weights::material(), path, &stop, &mut |_| ()).map_err(|error| error.to_string());
    let path = Temporary::folder();
    for name in ["log.jsonl", "best.json", "start.json", "checkpoint.bin", "lock"] {
        fs::write(path.join(name), "of another program").unwrap();
        let error = begin(&path).unwrap_err();
        assert!(error.contains(&format!("holds {name}")) && error.contains("another folder"), "{error}");
        assert_eq!(fs::read_to_string(path.join(name)).unwrap(), "of another program");
        fs::remove_file(path.join(name)).unwrap();
    }
    let others = ["download.tmp", "thesis.new", "thesis.12.tmp"];
    others.iter().for_each(|name| fs::write(path.join(name), "of another program").unwrap());

    // As after a kill in the middle of the beginning.
    fs::write(path.join("beginning"), "").unwrap();
    fs::write(path.join("start.json"), "half").unwrap();
    fs::write(path.join("settings.json.0123456789aZ.tmp"), "half").unwrap();
    fs::write(path.join("settings.json"), "{}").unwrap();
    begin(&path).unwrap();
    assert!(is_unfinished(&path) && weights_file::load(&path.join("start.json")).is_ok());
    assert!(others.iter().all(|name| path.join(name).exists()));
    assert!(!path.join("beginning").exists() && !path.join("settings.json.0123456789aZ.tmp").exists());
    assert!(begin(&path).unwrap_err().contains("resume it"));
    assert!(begin(Path::new("/")).unwrap_err().contains("root of a file system"));
}

/// A user may write settings into the folder before the training begins; those that are given have precedence.
#[test]
fn settings_in_the_folder_are_those_of_a_new_training() {
    let folder = Temporary::folder();
    let path = folder.join("settings.json");
    let resolve = |given: &Given| SelfTrainSettings::resolve(&folder, given);
    fs::write(&path, r#"{"method": "comparison", "label-nodes": 80, "minutes": 10, "match-games": 6}"#).unwrap();
    let settings = resolve(&given("label-nodes", 90)).unwrap();
    assert_eq!((settings.method, settings.label_nodes, settings.match_games), (Method::Comparison, 90, 6));
    assert_eq!((settings.positions, settings.minutes), (5_000, 10));
    for (text, expected) in [
        ("{", "settings.json: EOF"),
        (r#"{"label": 7}"#, "unknown field `label`, expected one of `method`, "),
        (r#"{"label-nodes": 7}"#, "label-nodes belongs to a training by comparison"),
        (r#"{"minutes": "x"}"#, "minutes: invalid type"),
    ] {
        fs::write(&path, text).unwrap();
        let error = resolve(&Given::new()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
