use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_formats::testing::{Temporary, names};
use dyad_formats::weights_file;
use dyad_trainer::base::context::Context;
use dyad_trainer::learn::examples::{Examples, FileExamples};
use dyad_trainer::learn::leaves::{Leaves, NODE_LIMIT};
use dyad_trainer::learn::training::saved_settings;
use serde_json::Value as Json;

use super::steps::FIXED_SCALE;
use super::{ALL, ExperimentEvent, ExperimentSettings, Size, run};

/// A tiny experiment with the self-play games of the tutorial, cut in two for bands.
fn settings(name: &str, folder: &Path) -> ExperimentSettings {
    let games = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorial/games.pgn"));
    let text = fs::read_to_string(&games).unwrap();
    let starts: Vec<usize> = text.match_indices("[Event ").map(|(at, _)| at).collect();
    let half = starts[starts.len() / 2];
    let bands = [("band_1000.pgn", &text[..half]), ("band_1600.pgn", &text[half..])].map(|(name, games)| {
        let path = folder.join(name);
        fs::write(&path, games).unwrap();
        path
    });
    ExperimentSettings {
        name: name.to_string(),
        size: Size::Tiny,
        games_file: if name == "ranking-svm" { [&bands[..], &[games]].concat() } else { vec![games] },
        openings: None,
        weights: Vec::new(),
        positions: None,
        rate: None,
        seed: 1,
    }
}

/// Runs, and stops at the event of this number.
fn run_until(settings: &ExperimentSettings, folder: &Path, threads: usize, events: usize) -> Result<usize, Error> {
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
    run(settings, folder, "abc", &mut Context { threads, stop: &stop, on_event: &mut report })
}

fn results(folder: &Path) -> Json {
    serde_json::from_slice(&fs::read(folder.join("results.json")).unwrap()).unwrap()
}

/// Runs an experiment whole and in parts: every table exists, and both give the same.
fn check(name: &str, tables: usize) {
    let folder = Temporary::folder();
    let settings = settings(name, &folder);
    let (whole, pieces) = (folder.join("whole"), folder.join("pieces"));
    let steps = run_until(&settings, &whole, 1, usize::MAX).unwrap();
    let record = results(&whole);
    assert_eq!((&record["finished"], &record["settings"]["name"]), (&true.into(), &name.into()));
    let all = record["results"].as_object().unwrap();
    assert_eq!(all.len(), steps);
    assert!(all.values().all(|done| done["program"].as_str().unwrap().contains("revision abc, executable ")));
    let page = fs::read_to_string(whole.join("results.md")).unwrap();
    assert_eq!(page.matches("\n|---|").count(), tables + 1, "with that of the steps");
    assert!(!page.contains("NaN") && !page.contains(" inf "), "{page}");
    check_trainings(name, &whole.join("steps"));

    // Stopped repeatedly, within steps and between them, later each time, with another number of threads.
    let mut events = 1;
    while let Err(error) = run_until(&settings, &pieces, 2, events) {
        assert!(matches!(error, Error::Stopped), "{error}");
        events *= 3;
    }
    assert!(events > 3);
    assert_eq!(record["hashes"], results(&pieces)["hashes"]);
    // Nothing is left to do.
    assert_eq!(run_until(&settings, &pieces, 1, 1).unwrap(), steps);
}

/// Every training leaves Table I, plays the moves it learned from more often than Table I does, and has the fixed scale.
fn check_trainings(experiment: &str, steps: &Path) {
    let (start, mut learned) = (Weights::material(), Vec::new());
    for name in names(steps) {
        let file = steps.join(&name).join("weights.json");
        let done = results(steps.parent().unwrap())["results"][&name]["result"].clone();
        let run = steps.join(&name).join(format!("rate-{}", done["rate"].as_f64().unwrap_or_default()));
        if !file.exists() {
            continue;
        }
        let weights = weights_file::load(&file).unwrap();
        assert_eq!(weights.units.scale, FIXED_SCALE, "{experiment} {name}");
        if run.exists() {
            let settings = saved_settings(&run).unwrap();
            let samples = SampleFile::open(&settings.samples).unwrap();
            let accuracy = |weights| training_accuracy(weights, &samples, settings.depth);
            let (before, after) = (accuracy(&start), accuracy(&weights));
            // What no validation game shows to be better stays Table I.
            let stays = done["best"] == 0;
            learned.push(!stays);
            assert!(after > before || stays && after == before, "{experiment} {name}: {before} -> {after}");
        }
    }
    assert!(3 * learned.iter().filter(|&&learned| learned).count() >= 2 * learned.len(), "{learned:?}");
}

/// Move-match accuracy on the training positions.
fn training_accuracy(weights: &Weights, samples: &SampleFile, depth: u32) -> f64 {
    let stop = Control::new(false);
    let examples = FileExamples { file: samples, start: weights };
    let mut leaves = Leaves::new(Arc::new(weights.clone()), depth, NODE_LIMIT, stop.flag());
    let positions = examples.indices(false);
    let accuracies = positions.iter().map(|&index| leaves.accuracy(&examples.get(index as usize).unwrap()).unwrap());
    accuracies.sum::<f64>() / positions.len() as f64
}

#[test]
fn ct_chess() {
    check("ct-chess", 10);
}

#[test]
fn ct_features() {
    check("ct-features", 5);
}

#[test]
fn ranking_svm() {
    check("ranking-svm", 9);
}

#[test]
fn deepchess() {
    check("deepchess", 3);
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let folder = Temporary::folder();
    let good = || settings("ct-chess", &folder);
    let file = |name: &str| {
        fs::write(folder.join(name), "").unwrap();
        folder.join(name)
    };
    let refused = |settings: &ExperimentSettings, expected: &str| {
        let out = folder.join("refused");
        let error = run_until(settings, &out, 1, usize::MAX).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        out
    };
    let nowhere = || vec![PathBuf::from("/nowhere.pgn")];
    for experiment in &ALL {
        let nothing = ExperimentSettings { games_file: Vec::new(), ..settings(experiment.name, &folder) };
        refused(&nothing, "needs --");
    }
    refused(&ExperimentSettings { name: "nonsense".into(), ..good() }, "there are ct-chess");
    refused(&ExperimentSettings { games_file: nowhere(), ..good() }, "/nowhere.pgn");
    refused(&ExperimentSettings { weights: vec![file("default.json")], ..good() }, "another name");
    let out = refused(&ExperimentSettings { rate: Some(2.0), ..settings("deepchess", &folder) }, "--rate");
    let names = |names: [&str; 2]| ExperimentSettings {
        games_file: names.map(file).to_vec(),
        ..settings("ranking-svm", &folder)
    };
    refused(&names(["a b.pgn", "c.pgn"]), "cannot be called 'a b'");
    assert!(!out.exists(), "a refused start leaves no folder");
    // Another experiment in the folder.
    let out = folder.join("refused");
    assert!(matches!(run_until(&good(), &out, 1, 1), Err(Error::Stopped)));
    refused(&ExperimentSettings { seed: 2, ..good() }, "has 1 for 'seed', not 2; name another folder");
    refused(&ExperimentSettings { positions: Some(7), ..good() }, "'positions'");
}
