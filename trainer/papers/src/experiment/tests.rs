use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::search::LeafSearcher;
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_formats::testing::Temporary;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::arena::statistics::MatchResults;
use dyad_trainer::base::context::Context;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::learn::examples::{Examples, FileExamples};
use dyad_trainer::learn::leaves::{LeafSettings, Leaves};
use dyad_trainer::learn::settings::TrainingSettings;

use super::catalog::{ALL, plan};
use super::plan::{Cell, FIXED_SCALE, Inputs, PageElement, Plan, Scale, Step, Work};
use super::run::run;
use super::work::{ExperimentEvent, Results, StepResult};

/// The self-play games of the tutorial, cut in two for bands.
fn inputs(folder: &Path) -> Inputs {
    let games = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorial/games.pgn"));
    let text = fs::read_to_string(&games).unwrap();
    let starts: Vec<usize> = text.match_indices("[Event ").map(|(at, _)| at).collect();
    let half = starts[starts.len() / 2];
    let bands = [("band_1000.pgn", &text[..half]), ("band_1600.pgn", &text[half..])].map(|(name, games)| {
        let path = folder.join(name);
        fs::write(&path, games).unwrap();
        path
    });
    Inputs { games: vec![games], bands: bands.to_vec(), ..Inputs::default() }
}

/// Runs, and stops at the event of this number.
fn run_until(plan: &Plan, folder: &Path, threads: usize, events: usize) -> Result<Results, Error> {
    let stop = Control::new(false);
    let mut left = events;
    let mut report = |event: ExperimentEvent| {
        if matches!(event, ExperimentEvent::Progress(_) | ExperimentEvent::Done { .. }) {
            left = left.saturating_sub(1);
            if left == 0 {
                stop.stop();
            }
        }
    };
    run(plan, folder, "abc", &mut Context { threads, stop: &stop, on_event: &mut report })
}

/// The hashes of all repeatable results.
fn hashes(results: &Results) -> Vec<(&String, &String)> {
    results.iter().filter(|(_, result)| result.repeatable).map(|(name, result)| (name, &result.hash)).collect()
}

/// Runs an experiment whole and in parts: every table and figure exists, and both give the same.
fn check(name: &str) {
    let folder = Temporary::folder();
    let plan = plan(name, Scale::Tiny, inputs(&folder), 1).unwrap();
    let (whole, pieces) = (folder.join("whole"), folder.join("pieces"));
    let results = run_until(&plan, &whole, 1, usize::MAX).unwrap();
    assert_eq!(results.len(), plan.steps.len());

    let page = fs::read_to_string(whole.join("report.html")).unwrap();
    let mut tables = 0;
    for exhibit in &plan.elements {
        match exhibit {
            PageElement::Table { rows, .. } => {
                tables += 1;
                assert!(!rows.is_empty());
            }
            PageElement::Chart { caption, .. } | PageElement::Boards { caption, .. } => {
                assert!(page.contains(&format!(". {caption}</figcaption>")), "{caption}");
            }
            PageElement::Heading { .. } | PageElement::Text { .. } => {}
        }
    }
    assert_eq!(page.matches("<caption>").count(), tables + 2, "with the steps and the settings");
    assert!(!page.contains("NaN") && !page.contains("not finished"));
    let record: serde_json::Value = serde_json::from_slice(&fs::read(whole.join("results.json")).unwrap()).unwrap();
    assert_eq!((&record["finished"], &record["experiment"]), (&true.into(), &name.into()));
    assert!(record["results"][&plan.steps[0].name]["program"].as_str().unwrap().contains("revision abc, executable "));
    assert_eq!(record["hashes"].as_object().unwrap().len(), hashes(&results).len());

    check_trainings(&plan, &whole.join("steps"), &results);

    // Stopped repeatedly, within steps and between them, later each time, with other thread counts.
    let mut events = 1;
    let resumed = loop {
        match run_until(&plan, &pieces, 2, events) {
            Err(Error::Stopped) => events += 1 + events / 2,
            other => break other.unwrap(),
        }
    };
    assert!(events > 3);
    assert_eq!(hashes(&results), hashes(&resumed));
    // Nothing is left to do, and another experiment is refused.
    assert_eq!(hashes(&run_until(&plan, &pieces, 1, 1).unwrap()), hashes(&resumed));
    let other = Plan { seed: 2, ..plan };
    let refused = run_until(&other, &pieces, 1, usize::MAX).unwrap_err().to_string();
    assert!(refused.contains("name another folder"), "{refused}");
}

/// Every training leaves Table I, plays the moves it learned from more often than Table I does, and has the fixed scale.
fn check_trainings(plan: &Plan, steps: &Path, results: &Results) {
    let start = Weights::material();
    for step in &plan.steps {
        let Work::Train { samples, settings, .. } = &step.work else { continue };
        let trained = Weights::load(&steps.join(&step.name).join("weights.json")).unwrap();
        let samples = SampleFile::open(&steps.join(samples).join("positions.samples")).unwrap();
        let before = training_accuracy(&start, &samples, settings);
        let after = training_accuracy(&trained, &samples, settings);
        assert!(after > before, "{} {}: {before} -> {after}", plan.name, step.name);
    }
    for (name, StepResult { result, .. }) in results {
        let is_fitted = plan.name == "weights-default";
        if let Some(scale) = result.get("scale").filter(|_| !is_fitted) {
            assert_eq!(*scale, FIXED_SCALE, "{} {name}", plan.name);
        }
    }
}

/// Move-match accuracy on the training positions.
fn training_accuracy(weights: &Weights, samples: &SampleFile, settings: &TrainingSettings) -> f64 {
    let stop = Control::new(false);
    let examples = FileExamples::new(samples, weights);
    let searcher = LeafSearcher::new(Arc::new(weights.clone()));
    let mut leaves = Leaves::new(searcher, LeafSettings::from(settings), stop.flag());
    let positions: Vec<usize> = (0..examples.len()).filter(|&index| !examples.is_test(index)).collect();
    let accuracies = positions.iter().map(|&index| leaves.accuracy(&examples.get(index).unwrap()).unwrap());
    accuracies.sum::<f64>() / positions.len() as f64
}

/// Two versions with equal weights, trained on games of other players, score one half: matches do not compare scales.
#[test]
fn versions_have_one_scale() {
    let folder = Temporary::folder();
    let inputs = inputs(&folder);
    let step = |name: &str, work: Work| Step { name: name.into(), work };
    let mut steps = Vec::new();
    for (name, games) in ["weak", "strong"].into_iter().zip(&inputs.bands) {
        let samples = format!("positions-{name}");
        let (games, filters) = (vec![games.clone()], Filters::default());
        steps.push(step(&samples, Work::Prepare { games, filters, count: 2_000, test_percent: 5.0 }));
        // No iterations: the weights stay those of Table I.
        let settings = Box::new(TrainingSettings { iterations: 0, ..TrainingSettings::default() });
        let learn = vec!["material".into()];
        steps.push(step(name, Work::Train { samples, learn, settings, fixed_scale: FIXED_SCALE }));
    }
    let players = ["weak", "strong"].map(String::from);
    steps.push(step("match", Work::Match { players, budget: SearchLimits::Nodes(100), pairs: 4, plies: 100 }));
    let plan = Plan { steps, elements: Vec::new(), ..plan("ct-chess", Scale::Tiny, inputs, 1).unwrap() };
    let results = run_until(&plan, &folder.join("run"), 1, usize::MAX).unwrap();
    for name in ["weak", "strong"] {
        assert_eq!(results[name].result["scale"], FIXED_SCALE, "{name}");
        let positions = &results[&format!("positions-{name}")].result["positions"];
        assert!(positions.as_u64().unwrap() > 1_000, "enough positions for a scale of their own");
    }
    let tally: MatchResults = serde_json::from_value(results["match"].result["tally"].clone()).unwrap();
    assert_eq!((tally.games(), tally.points()), (8, 4.0));
}

#[test]
fn ct_chess() {
    check("ct-chess");
}

#[test]
fn ct_features() {
    check("ct-features");
}

#[test]
fn ranking_svm() {
    check("ranking-svm");
}

#[test]
fn deepchess() {
    check("deepchess");
}

#[test]
fn weights_default() {
    check("weights-default");
}

/// A later program may have other work under the same step name: old output is not used for it.
#[test]
fn a_step_with_other_work_starts_over() {
    let folder = Temporary::new();
    let plan = |nodes: u64, pairs: u64| {
        let players = ["material", "default"].map(String::from);
        let work = Work::Match { players, budget: SearchLimits::Nodes(nodes), pairs, plies: 30 };
        Plan {
            name: "games".into(),
            title: String::new(),
            paper: String::new(),
            scale: Scale::Tiny,
            seed: 1,
            inputs: Inputs::default(),
            steps: vec![Step { name: "games".into(), work }],
            elements: Vec::new(),
        }
    };
    let games = folder.join("steps/games/games.jsonl");
    let stopped = run_until(&plan(50, 5_000), &folder, 1, 3).unwrap_err();
    assert!(matches!(stopped, Error::Stopped) && fs::read_to_string(&games).unwrap().lines().count() >= 2);
    // Resumed games are not played again.
    fs::write(&games, "\"1-0\"\n".repeat(2)).unwrap();
    let resumed = run_until(&plan(50, 5_000), &folder, 1, 3);
    assert!(resumed.is_err() && fs::read_to_string(&games).unwrap().starts_with(&"\"1-0\"\n".repeat(2)));
    run_until(&plan(60, 2), &folder, 1, usize::MAX).unwrap();
    let again = Temporary::new();
    run_until(&plan(60, 2), &again, 1, usize::MAX).unwrap();
    let games_of = |folder: &Path| fs::read_to_string(folder.join("steps/games/games.jsonl")).unwrap();
    assert_eq!(games_of(&folder), games_of(&again));
}

/// The built-in weights differ between releases.
#[test]
fn steps_that_the_built_in_weights_decide_are_known() {
    let games = |players: [&str; 2]| {
        let players = players.map(String::from);
        Work::Match { players, budget: SearchLimits::Nodes(50), pairs: 1, plies: 30 }
    };
    let drawn = Inputs::default();
    let given = Inputs { openings: Some("openings.epd".into()), ..Inputs::default() };
    for (work, inputs, expected) in [
        (games(["a", "b"]), &drawn, true),
        (games(["a", "b"]), &given, false),
        (games(["a", "default"]), &given, true),
        (Work::Label { samples: "a".into(), nodes: 1 }, &given, true),
        (Work::Mean { weights: vec![("default".into(), 1.0)] }, &given, true),
        (Work::HandTuned { tapered: true }, &drawn, false),
    ] {
        assert_eq!(work.uses_built_in(inputs), expected, "{work:?}");
    }
}

/// The scales of an experiment have the same steps with other numbers, except for lists.
#[test]
fn plans_are_consistent_at_every_scale() {
    let folder = Temporary::folder();
    let inputs = inputs(&folder);
    for entry in &ALL {
        for scale in Scale::ALL {
            let plan = plan(entry.name, scale, inputs.clone(), 1).unwrap();
            plan.check().unwrap_or_else(|error| panic!("{} {scale:?}: {error}", entry.name));
            for cell in cells(&plan) {
                let named: Vec<&String> = match cell {
                    Cell::Score { step, .. } | Cell::Games { step } | Cell::Verdict { step, .. } => vec![step],
                    Cell::Value { step, .. } => vec![step],
                    Cell::Ratio { step, by, .. } => vec![step, by],
                    Cell::Total { steps } => steps.iter().map(|(step, _)| step).collect(),
                    Cell::Weight { weights, .. } => vec![weights],
                    Cell::Text { .. } | Cell::Paper { .. } => Vec::new(),
                };
                for name in named {
                    let known = plan.steps.iter().any(|step| step.name == *name);
                    assert!(known, "{} shows {name}, which no step makes", entry.name);
                }
            }
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        }
        let error = plan(entry.name, Scale::Tiny, Inputs::default(), 1).unwrap_err();
        assert!(error.contains("needs --"), "{error}");
    }
    assert!(plan("nonsense", Scale::Tiny, inputs, 1).unwrap_err().contains("there are ct-chess"));
}

/// A night of ct-chess: one iteration over five million moves of masters.
#[test]
fn a_night_has_its_numbers() {
    let folder = Temporary::folder();
    let plan = plan("ct-chess", Scale::Night, inputs(&folder), 1).unwrap();
    let mut trained = Vec::new();
    for step in &plan.steps {
        match &step.work {
            Work::Prepare { count, .. } => assert_eq!(*count, 5_000_000),
            Work::Train { samples, settings, .. } => {
                assert_eq!((samples.as_str(), settings.iterations), ("positions", 1), "{}", step.name);
                trained.push((step.name.as_str(), settings.depth));
            }
            Work::Match { budget, pairs, .. } => assert_eq!((*budget, *pairs), (SearchLimits::Nodes(20_000), 500)),
            Work::Without { .. } => {}
            other => panic!("{} is not part of a night: {other:?}", step.name),
        }
    }
    let expected = [("base1", 2), ("ct1", 1), ("ct5", 1), ("ct2", 2), ("ct6", 2), ("ct3", 3), ("ct7", 3)];
    assert_eq!(trained, expected);
}

fn cells(plan: &Plan) -> Vec<&Cell> {
    let mut all = Vec::new();
    for exhibit in &plan.elements {
        match exhibit {
            PageElement::Table { rows, .. } => all.extend(rows.iter().flatten()),
            PageElement::Chart { series, .. } => {
                all.extend(series.iter().flat_map(|(_, points)| points.iter().map(|(_, cell)| cell)));
            }
            _ => {}
        }
    }
    all
}

#[test]
fn invalid_plans_are_refused() {
    let folder = Temporary::folder();
    let good = plan("ct-chess", Scale::Tiny, inputs(&folder), 1).unwrap();
    let with = |step: Step| Plan { steps: [good.steps.clone(), vec![step]].concat(), ..good.clone() };
    let hand_tuned = Work::HandTuned { tapered: true };
    for (name, work, expected) in [
        ("../up", hand_tuned.clone(), "cannot be called"),
        ("ct1", hand_tuned, "the name of two"),
        ("new", Work::Label { samples: "nowhere".into(), nodes: 1 }, "uses 'nowhere'"),
    ] {
        let error = with(Step { name: name.into(), work }).check().unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let missing = Plan { inputs: Inputs { games: vec!["/nowhere.pgn".into()], ..Inputs::default() }, ..good };
    let error = run_until(&missing, &folder.join("run"), 1, usize::MAX).unwrap_err().to_string();
    assert!(error.contains("/nowhere.pgn"), "{error}");
}
