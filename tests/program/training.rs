//! Trainings that are killed, interrupted and resumed.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use dyad_engine::board::Board;
use dyad_engine::eval::Weights;
use dyad_formats::packed::{Packed, Sample};
use dyad_formats::samples::SampleWriter;
use dyad_formats::weights_file;

use crate::driver::{folder, kill_until_it_ends, refusal, tool};

/// Positions of random games with random desired moves; one in ten is for testing.
pub fn write_samples(path: &Path, count: u64) {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut writer = SampleWriter::create(path, serde_json::json!({})).unwrap();
    let mut board = Board::startpos();
    while writer.count() < count {
        let moves = board.moves();
        if moves.len() < 2 || board.halfmove_clock() > 40 {
            board = Board::startpos();
            continue;
        }
        let desired = Some(moves[random(moves.len())]);
        let test = writer.count().is_multiple_of(10);
        let sample = Sample { board, desired, result: None, score: None, test, starts_game: false, has_margin: true };
        writer.push(&Packed::new(&sample)).unwrap();
        board = board.after(moves[random(moves.len())]);
    }
    writer.finish().unwrap();
}

fn train(arguments: &[&str]) -> Child {
    tool("train", arguments, Stdio::null())
}

/// Begins the same training in a folder.
fn begin(samples: &Path, out: &Path) -> Child {
    let (samples, out) = (samples.to_str().unwrap(), out.to_str().unwrap());
    train(&[samples, "--out", out, "--batch", "20", "--iterations", "2", "--keep-going"])
}

#[test]
fn weights_are_found_by_their_names() {
    let folder = folder("weights-by-name");
    let [samples, out, mean] = ["samples.bin", "run", "mean.json"].map(|name| folder.join(name));
    write_samples(&samples, 60);
    let [samples, out, mean] = [&samples, &out, &mean].map(|path| path.to_str().unwrap());
    let rest = ["--batch", "20", "--iterations", "1", "--keep-scale"];
    let trained = [&[samples, "--out", out, "--weights", "default"], &rest[..]].concat();
    assert!(train(&trained).wait().unwrap().success());
    let start = weights_file::load(&Path::new(out).join("iteration-00.json")).unwrap();
    assert_eq!(start.id(), Weights::embedded().id());

    let mut averaged = tool("average", &["material", "default", "--out", mean], Stdio::null());
    assert!(averaged.wait().unwrap().success());
    let pairs = [Weights::material(), weights_file::load(Path::new(mean)).unwrap()];
    assert_eq!(pairs.map(|weights| weights.group("pairs").unwrap().iter().any(|&pair| pair != [0, 0])), [false, true]);
}

#[test]
fn a_training_that_is_killed_loses_nothing_but_time() {
    let folder = folder("killed");
    let samples = folder.join("samples");
    write_samples(&samples, 300);
    let (whole, killed) = (folder.join("whole"), folder.join("killed"));
    assert!(begin(&samples, &whole).wait().unwrap().success());

    // Killed before there was a run, it is begun again.
    kill_until_it_ends(Duration::from_millis(400), || match killed.join("settings.json").exists() {
        true => train(&["--out", killed.to_str().unwrap(), "--resume", "--threads", "2"]),
        false => begin(&samples, &killed),
    });
    for file in ["iteration-00.json", "iteration-01.json", "iteration-02.json", "best.json"] {
        let [one, other] = [&whole, &killed].map(|folder| fs::read(folder.join(file)).unwrap());
        assert!(one == other, "{file} differs");
    }
    // The same command and --resume; other settings than those of the run are refused by name.
    let again = |batch| {
        refusal(&["train", samples.to_str().unwrap(), "--out", killed.to_str().unwrap(), "--resume", "--batch", batch])
    };
    assert!(again("21").contains("other settings: batch is 21 here, and 20 in the run"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_training_ends_with_a_checkpoint() {
    let folder = folder("interrupted");
    let samples = folder.join("samples");
    write_samples(&samples, 3000);
    let out = folder.join("run");
    let mut running = train(&[samples.to_str().unwrap(), "--out", out.to_str().unwrap(), "--depth", "2"]);
    while fs::read_to_string(out.join("log.jsonl")).unwrap_or_default().is_empty() {
        thread::sleep(Duration::from_millis(10));
    }
    let checkpoint = fs::read(out.join("checkpoint.bin")).unwrap_or_default();
    let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(1), "it is not complete");
    assert!(fs::read(out.join("checkpoint.bin")).unwrap() != checkpoint);
    assert!(!out.join("iteration-01.json").exists(), "it ended in the first iteration");
}
