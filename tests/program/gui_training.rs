//! The self-training as a GUI starts it: by options, during a game.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Command;

use dyad_engine::eval::{FloatWeights, Weights};
use dyad_formats::weights_file;

use crate::data::write_games;
#[cfg(target_os = "linux")]
use crate::driver::dyad;
#[cfg(unix)]
use crate::driver::pipe;
use crate::driver::{Program, after, check_search, folder};

/// Settings so small that a generation takes seconds, written into the folder before the training begins.
fn write_settings(folder: &Path, others: serde_json::Value) {
    let mut settings = serde_json::json!({
        "nodes": 30, "positions": 150, "match-games": 10, "long-games": 100, "long-nodes": 300,
    });
    for (name, value) in others.as_object().expect("settings are an object") {
        settings[name] = value.clone();
    }
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
}

/// Those of a comparison training.
fn write_small(folder: &Path) {
    if !folder.join("state.json").exists() {
        write_settings(folder, serde_json::json!({ "label-nodes": 60 }));
    }
}

/// The options of a training. `Train` comes first, as it does from a GUI.
fn options(mode: &str, folder: &Path) -> String {
    let folder = folder.display();
    [
        ("Threads", "1"),
        ("Train", mode),
        ("TrainFolder", &format!("{folder}")),
        ("TrainMethod", "comparison"),
        ("TrainMinutes", "0"),
        ("TrainThreads", "1"),
        ("WeightsFile", "weights/material.json"),
    ]
    .map(|(name, value)| format!("setoption name {name} value {value}"))
    .join("\n")
}

/// A program that has begun or resumed a training.
fn training(mode: &str, folder: &Path) -> Program {
    write_small(folder);
    let mut program = Program::with(&options(mode, folder));
    // On a busy machine a second may pass between two lines.
    let verb = if folder.join("state.json").exists() && mode != "off" { "resumes" } else { "begins" };
    let begins = format!("info string train {verb}: {mode}, ");
    if !program.sync().iter().any(|line| line.starts_with(&begins)) {
        program.until(&begins);
    }
    program
}

fn stop(program: &mut Program) {
    program.send("train stop");
    program.until("info string train stopped: ");
}

fn stop_and_quit(mut program: Program) {
    stop(&mut program);
    program.quit();
}

fn json(path: &Path) -> serde_json::Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Moves a training to the match of its generation, with the new weights `made`: such a small training seldom makes
/// better ones.
fn await_match(folder: &Path, made: &Weights) {
    let path = folder.join("state.json");
    let mut state = json(&path);
    let generation = folder.join(format!("generation-{:03}", state["generation"].as_u64().unwrap()));
    fs::create_dir_all(&generation).unwrap();
    weights_file::save(made, &generation.join("weights.json")).unwrap();
    fs::remove_file(generation.join("match.pgn")).ok();
    state["stage"] = "match".into();
    state.as_object_mut().unwrap().remove("checksum");
    fs::write(path, state.to_string()).unwrap();
}

/// Nearly the weights that are built in.
fn better() -> Weights {
    let built_in = weights_file::load(Path::new("weights/default.json")).unwrap();
    let mut floats = FloatWeights::from(&built_in);
    floats.mg[0] += 20.0;
    let mut better = Weights::from_floats(&floats, serde_json::Value::Null).unwrap();
    better.units = built_in.units;
    better
}

/// The generation whose weights a file has.
fn generation_of(path: &Path) -> u64 {
    json(&path.with_file_name("state.json"))["playing"].as_u64().unwrap()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// What a training leaves when it ends is whole.
fn check_files(folder: &Path) {
    assert!(json(&folder.join("state.json"))["generation"].as_u64() >= Some(1));
    assert_eq!(json(&folder.join("settings.json"))["positions"], 150);
    weights_file::load(&folder.join("start.json")).unwrap();
    for path in files(folder) {
        let name = path.display().to_string();
        assert!(!name.ends_with(".new") && !name.ends_with(".tmp"), "{name} was left");
    }
}

#[test]
fn from_the_first_option_to_the_adopted_weights() {
    let folder = folder("gui-training");
    let out = folder.join("run");

    // Begun during a game; the same commands again begin nothing.
    let mut program = training("scratch", &out);
    let page = out.join("report.html");
    let printed = program.until_contains("info string train page ");
    assert_eq!(printed, format!("info string train page {}", page.display()));
    let text = fs::read_to_string(&page).expect("it is there when its path is reported");
    assert!(text.contains("Generation 1: self-play") && text.contains("location.reload()"), "what is under way");
    program.until("info string train generation 1 ");
    program.send("position startpos moves e2e4");
    check_search(&after("e2e4"), &moves(&program.search("go depth 6")));
    program.send(&options("scratch", &out));
    program.send("ucinewgame\ngo infinite");
    let said = program.sync();
    assert!(!said.iter().any(|line| line.contains("train begins") || line.contains("train page")), "{said:?}");
    program.send("train status\nstop");
    let said = program.until("bestmove");
    let status = format!("info string train status: scratch, running, {}: ", out.display());
    assert!(said.iter().any(|line| line.starts_with(&status)), "{said:?}");
    program.send("setoption name Train value off");
    program.until("info string train stopping");
    program.until("info string train stopped: ");
    program.send("train status");
    program.until("info string train status: off");
    program.quit();
    check_files(&out);

    // Resumed, before a match that is sure to be won, and a line that is sure to be crossed: the engine plays with the
    // value of the pieces. A search is not disturbed by the better weights.
    let better = better();
    await_match(&out, &better);
    let mut program = training("resume", &out);
    program.send("position startpos\ngo infinite");
    let adopted = program.until_contains(" adopted: ");
    assert!(adopted.contains(" adopted: +"), "{adopted}");
    let above = program.until_contains(" Elo above the weights 'material'");
    assert!(above.starts_with("info string train generation "), "{above}");
    let proven = program.until_contains(" is proven to beat the weights 'material' (");
    assert!(proven.ends_with(" Elo"), "{proven}");
    let path = out.join("playing.json");
    assert!(!program.sync().iter().any(|line| line.contains("train playing with")));
    program.send("stop");
    program.until("bestmove");
    let playing = program.until_contains("train playing with");
    stop(&mut program);
    let (number, id) = (generation_of(&path), weights_file::load(&path).unwrap().id());
    assert_eq!(playing, format!("info string train playing with generation {number}, {} ({id})", path.display()));
    // The window of a GUI shows it once a game.
    let plays = format!("info string Dyad {} (trained, generation {number}) plays", env!("CARGO_PKG_VERSION"));
    assert_eq!(program.search("go depth 1").iter().filter(|line| **line == plays).count(), 1);
    assert_eq!(program.search("go depth 1").iter().filter(|line| **line == plays).count(), 0);
    program.send("ucinewgame");
    assert_eq!(program.search("go depth 1").iter().filter(|line| **line == plays).count(), 1);
    // Options that are sent again undo nothing, the same file's name among them.
    program.send("setoption name WeightsFile value weights/material.json\nsetoption name PlayTrained value proven");
    assert!(program.sync().is_empty());
    check_search(&after(""), &program.search("go depth 4"));
    program.quit();
    check_files(&out);

    // The weights it has learned, in a later game and whatever the order of the options.
    let trained = |option: &str, line: &str| {
        let begins = format!("info string {option}: playing with generation {number}, proven stronger on 20");
        assert!(line.starts_with(&begins) && line.ends_with(&format!(", {} ({id})", path.display())), "{line}");
    };
    let set = format!("setoption name TrainFolder value {}", out.display());
    let empty = "setoption name WeightsFile value <empty>";
    let mut program = Program::with(&format!("{set}\nsetoption name PlayTrained value proven\n{empty}"));
    let other = format!(
        "info string PlayTrained: the built-in weights; generation {number} is proven stronger than others only: WeightsFile {} plays \
         with it",
        path.display()
    );
    // On a busy machine `readyok` comes before it.
    assert_eq!(program.until_contains("PlayTrained: "), other);
    program.quit();
    // As if it had beaten the built-in weights.
    fs::copy("weights/default.json", out.join("reference.json")).unwrap();
    let mut program = Program::with(&format!("{set}\nsetoption name PlayTrained value proven\n{empty}"));
    trained("PlayTrained", &program.until_contains("PlayTrained: "));
    program.send(&format!("{set}\nsetoption name PlayTrained value proven\n{empty}"));
    assert!(program.sync().is_empty());
    program.send("setoption name WeightsFile value weights/material.json");
    program.until_contains("material.json");
    program.send(empty);
    trained("WeightsFile", &program.until_contains("WeightsFile: "));
    // A level plays with the built-in weights, and says so.
    program.send("ucinewgame\nsetoption name UCI_LimitStrength value true\ngo depth 1");
    let said = program.until("bestmove");
    assert!(said.iter().any(|line| line.contains("a level plays with the built-in weights")), "{said:?}");
    program.send("setoption name UCI_LimitStrength value false\nsetoption name PlayTrained value never");
    program.until("info string PlayTrained: the built-in weights");
    // The best weights of the training, whatever their strength.
    program.send("setoption name PlayTrained value latest");
    let latest = program.until_contains("PlayTrained: ");
    let best = json(&out.join("state.json"))["best"].as_u64().unwrap();
    if best == number {
        trained("PlayTrained", &latest);
    } else {
        let begins =
            format!("info string PlayTrained: playing with generation {best}, the latest of the training and not");
        assert!(latest.starts_with(&begins), "{latest}");
    }
    program.send("setoption name PlayTrained value never");
    program.until("info string PlayTrained: the built-in weights");
    // It stays off when the training is resumed.
    program.send(&options("resume", &out).replace("weights/material.json", "<empty>"));
    program.send("isready");
    program.until("info string train resumes: resume");
    program.send("eval\nuci");
    assert!(program.until("uciok").contains(&format!("id name Dyad {}", env!("CARGO_PKG_VERSION"))));
    stop_and_quit(program);
    fs::copy("weights/material.json", out.join("reference.json")).unwrap();

    // Resumed, it is played with from the first move on, if the engine would play with what it has beaten, or with
    // itself.
    let eval = |program: &mut Program| {
        // With a pawn more, since equal weights cancel.
        program.send("position startpos moves e2e4 d7d5 e4d5\neval");
        program.until("evaluation ").pop()
    };
    let mut program = Program::start();
    let built_in = eval(&mut program);
    program.send(&format!("setoption name WeightsFile value {}", path.display()));
    let expected = eval(&mut program);
    assert_ne!(expected, built_in);
    program.quit();
    for own in ["weights/material.json", path.to_str().unwrap()] {
        let mut program = Program::with(&options("resume", &out).replace("weights/material.json", own));
        program.sync();
        assert_eq!(eval(&mut program), expected);
        stop_and_quit(program);
    }
    // Weights that it has not beaten stay in use, and are the line from now on.
    let mut program = Program::with(&options("resume", &out).replace("weights/material.json", "<empty>"));
    program.sync();
    assert_eq!(eval(&mut program), built_in);
    program.until_contains("distance");
    stop_and_quit(program);

    // The end of the program in the middle of it, by `quit` and by the end of input.
    let mut program = training("scratch", &out);
    program.until("info string train generation ");
    let said = program.quit();
    assert!(said.iter().any(|line| line.starts_with("info string train stopped: ")), "{said:?}");
    let mut program = training("resume", &out);
    program.until("info string train generation ");
    program.send("go infinite");
    let said = program.close();
    assert!(said.iter().any(|line| line.starts_with("bestmove ")), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("info string train stopped: ")), "{said:?}");
    check_files(&out);

    // Another one, from the games of a file.
    write_settings(&folder.join("games"), serde_json::json!({ "generations": 1 }));
    let mut program = Program::with(&options("games", &folder.join("games")));
    let games = folder.join("games.pgn");
    write_games(&games, 20);
    program.send(&format!("setoption name TrainGamesFile value {}", games.display()));
    let said = program.sync();
    assert!(said.iter().any(|line| line.starts_with("info string train begins: games")), "{said:?}");
    program.until("info string train finished: 1 generation done");
    program.quit();
    assert_eq!(json(&folder.join("games/settings.json"))["games-file"], games.display().to_string());
}

/// The output of a search without the reports of a training.
fn moves(output: &[String]) -> Vec<String> {
    output.iter().filter(|line| !line.starts_with("info string train ")).cloned().collect()
}

/// What options and the folder give is used and reported with the others, or refused.
#[test]
fn settings_are_used_and_reported_or_refused() {
    let folder = folder("gui-training-settings");
    for (run, option, settings, reported) in [
        (
            "threads",
            "TrainThreads value 1",
            r#"{"match-games": 121}"#,
            "of at most 122 games at 2,500 nodes a move, 1 thread",
        ),
        ("minutes", "TrainMinutes value 5", r#"{"minutes": 7}"#, ", 5 minutes, "),
        (
            "batch",
            "",
            r#"{"batch": 256}"#,
            "/settings.json: batch belongs to a training by comparison (method comparison), and this one is by regression",
        ),
        (
            "range",
            "",
            r#"{"nodes": 0}"#,
            "error: invalid value '0' for '--nodes <NODES>': expected a whole number, at least 1",
        ),
    ] {
        let out = folder.join(run);
        fs::create_dir_all(&out).unwrap();
        fs::write(out.join("settings.json"), settings).unwrap();
        let mut program = Program::start();
        let option = if option.is_empty() { String::new() } else { format!("\nsetoption name {option}") };
        program.send(&format!("setoption name TrainFolder value {}", out.display()));
        program.send(&format!("setoption name Train value scratch{option}\nisready"));
        program.until_contains(reported);
        program.send("train stop");
        program.quit();
        assert_eq!(
            out.join("state.json").exists(),
            !reported.starts_with("error") && !reported.starts_with('/'),
            "{run}"
        );
    }
}

#[test]
fn commands() {
    let out = folder("gui-training-commands").join("run");
    let mut program = Program::with("train stop");
    assert_eq!(program.sync(), ["info string train nothing to stop"]);
    program.quit();
    let mut program = training("scratch", &out);
    program.send("setoption name Train value resume\nisready");
    program.until("info string train is running already");
    stop(&mut program);
    program.send("setoption name Train value off\nsetoption name Train value resume\nisready");
    program.until("info string train resumes: resume, generation 1 (");
    program.send("setoption name Train value off\nsetoption name Train value scratch\nisready");
    program.until("info string train stopped: ");
    program.until("info string train resumes: scratch");
    program.quit();
}

/// What cannot begin does not end a training, and other options do not change it.
#[test]
fn a_running_training_is_not_disturbed() {
    let home = folder("gui-training-undisturbed");
    let mut program = training("scratch", &home.join("run"));
    program.until("info string train generation 1 ");
    program.send("setoption name Train value games");
    let said = program.sync();
    let refusal = "info string train error: name a PGN file by TrainGamesFile";
    assert!(said.iter().any(|line| line.starts_with(refusal)), "{said:?}");
    program.send("setoption name Train value scratch");
    assert!(program.sync().contains(&"info string train is running already".to_string()));
    program.send(&format!("setoption name TrainFolder value {}", home.join("other").display()));
    program.send("setoption name TrainMinutes value 77\ntrain status");
    let said = program.sync();
    let kept = said.iter().filter(|line| line.contains("the option counts when a training starts")).count();
    assert_eq!(kept, 2, "{said:?}");
    let status = said.iter().find(|line| line.starts_with("info string train status: "));
    assert!(status.is_some_and(|status| status.contains("scratch, running, ") && status.contains("run: ")), "{said:?}");
    stop_and_quit(program);
}

/// Few positions hold the pairs of pieces, and weights that did not change play no match.
#[test]
fn small_and_equal_trainings_say_so() {
    let out = folder("gui-training-small").join("run");
    write_settings(&out, serde_json::json!({}));
    let mut program = Program::with(&options("scratch", &out).replace("value comparison", "value regression"));
    program.send("isready");
    let held = program.until_contains(" positions to fit: pieces, squares and terms learn; pairs of pieces need ");
    assert!(held.starts_with("info string train "), "{held}");
    stop_and_quit(program);
    await_match(&out, &Weights::material());
    let mut program = Program::with(&options("resume", &out).replace("value comparison", "value automatic"));
    program.send("isready");
    let equal = program.until_contains(" changed no weight, no match is played");
    assert!(equal.starts_with("info string train generation "), "{equal}");
    program.quit();
}

/// A new generation that proves nothing is no better one.
#[test]
fn undecided_matches_adopt_nothing() {
    let out = folder("gui-training-undecided").join("run");
    let mut program = training("scratch", &out);
    program.until("info string train generation 1 ");
    stop_and_quit(program);
    // Hardly other weights than those that it plays.
    let mut floats = FloatWeights::from(&Weights::material());
    floats.mg[0] += 2.0;
    await_match(&out, &Weights::from_floats(&floats, serde_json::Value::Null).unwrap());
    let mut program = training("resume", &out);
    let undecided = program.until_contains(" not decided, the best weights stay: ");
    assert!(undecided.starts_with("info string train generation "), "{undecided}");
    program.quit();
    assert!(!out.join("best.json").exists() && !out.join("playing.json").exists());
}

/// After a restart a GUI shows that the engine plays with trained weights, and a benchmark does not use them.
#[cfg(target_os = "linux")]
#[test]
fn trained_weights_are_distinguished_after_a_restart() {
    let home = folder("gui-training-restart");
    let out = home.join(".local/share/dyad");
    let mut program = training("scratch", &out);
    program.until("info string train generation 1 ");
    stop_and_quit(program);
    // Adopted, but not yet proven: one line says how far it is, and the weights are played with on request.
    let best = out.join("best.json");
    weights_file::save(&Weights::material(), &best).unwrap();
    let state = fs::read(out.join("state.json")).unwrap();
    let mut adopted = json(&out.join("state.json"));
    adopted.as_object_mut().unwrap().remove("checksum");
    (adopted["generation"], adopted["best"], adopted["adopted"]) = (2.into(), 1.into(), 1.into());
    fs::create_dir_all(out.join("generation-001")).unwrap();
    weights_file::save(&Weights::material(), &out.join("generation-001/weights.json")).unwrap();
    fs::write(out.join("state.json"), adopted.to_string()).unwrap();
    let mut program = Program::start_at_home(&home);
    program.send("setoption name PlayTrained value latest");
    let line =
        "info string PlayTrained: playing with generation 1, the latest of the training and not proven stronger, ";
    program.until(line);
    program.send("uci");
    program.until(&format!("id name Dyad {} (in training, generation 1)", env!("CARGO_PKG_VERSION")));
    program.quit();
    fs::write(out.join("state.json"), state).unwrap();
    fs::remove_file(best).unwrap();
    let mut program = Program::start_at_home(&home);
    program.send("uci");
    program.until(&format!("id name Dyad {}", env!("CARGO_PKG_VERSION")));
    program.until("info string PlayTrained: the built-in weights; no generation of the training in ");
    program.quit();
    await_match(&out, &better());
    let mut program = training("resume", &out);
    program.until_contains(" is proven to beat ");
    stop_and_quit(program);
    // As if it had beaten the built-in weights.
    fs::copy("weights/default.json", out.join("reference.json")).unwrap();
    let number = generation_of(&out.join("playing.json"));
    let mut program = Program::start_at_home(&home);
    program.send("uci");
    let name = format!("id name Dyad {} (trained, generation {number})", env!("CARGO_PKG_VERSION"));
    let said = program.until("uciok");
    assert!(said.contains(&name), "{said:?}");
    program.until(&format!("info string PlayTrained: playing with generation {number}, proven stronger on 20"));
    check_search(&after(""), &program.search("go depth 4"));
    program.send("setoption name PlayTrained value never");
    program.until("info string PlayTrained: the built-in weights");
    program.quit();
    let mut program = Program::start_at_home(&home);
    program.send("go depth 1");
    assert!(!program.until("bestmove").iter().any(|line| line.contains("trained")));
    program.quit();
}

/// The button and the check open the program's own page, by the system's own way.
#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened_in_the_browser() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("gui-training-browser");
    let (out, opened) = (folder.join("run"), folder.join("opened"));
    let browser = folder.join("xdg-open");
    fs::write(&browser, format!("#!/bin/sh\necho noise\nprintf '%s\\n' \"$1\" >> '{}'\n", opened.display())).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let await_opened = |count: usize| {
        let page = format!("{}\n", out.join("report.html").display());
        for _ in 0..6_000 {
            if fs::read_to_string(&opened).unwrap_or_default() == page.repeat(count) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{count} times: {:?}", fs::read_to_string(&opened));
    };
    let mut command = dyad();
    command.env("PATH", &path);
    let mut program = Program::spawn(command);
    program.send(&format!("setoption name TrainFolder value {}\nsetoption name Open Training Page", out.display()));
    let said = program.sync();
    assert!(said[0].starts_with("info string train error: there is no page of a training in "), "{said:?}");
    write_small(&out);
    program.send("setoption name TrainOpenPage value true");
    program.send(&options("scratch", &out));
    program.send("isready");
    program.until("info string train page ");
    await_opened(1);
    program.send("setoption name Open Training Page");
    await_opened(2);
    stop(&mut program);
    fs::write(out.join("report.html"), "<html>of another program").unwrap();
    program.send("setoption name Open Training Page");
    let error = program.until_contains("train error: ");
    assert!(error.contains("there is no page of a training in "), "{error}");
    let said = program.quit();
    assert!(!said.iter().any(|line| line.contains("noise")), "{said:?}");
}

/// From the engine's own priority, not from any other.
#[cfg(target_os = "linux")]
#[test]
fn a_training_comes_after_the_search_whatever_the_priority_of_that() {
    for niceness in [3, 12] {
        let out = folder(&format!("gui-training-nice-{niceness}")).join("run");
        write_small(&out);
        let mut command = Command::new("nice");
        command.args(["-n", &niceness.to_string(), env!("CARGO_BIN_EXE_dyad")]);
        let mut program = Program::spawn(command);
        program.send(&options("scratch", &out));
        program.until("info string train generation 1 ");
        let [jobs, training] = ["job", "training"].map(|name| program.niceness(name));
        // The tests themselves may run at a low priority, from which `nice` counts.
        assert!(jobs.len() == 1 && jobs[0] >= niceness, "{jobs:?}");
        // Those that it starts have its name.
        let expected = (jobs[0] + 10).min(19);
        assert!(!training.is_empty() && training.iter().all(|&found| found == expected), "{training:?}");
        program.quit();
    }
}

/// A pipe would block the training, so that it could not be stopped.
#[cfg(unix)]
#[test]
fn games_from_a_pipe_are_refused() {
    let folder = folder("gui-training-pipe");
    let games = folder.join("games.pgn");
    pipe(&games);
    let mut program = Program::with(&options("games", &folder.join("run")));
    program.send(&format!("setoption name TrainGamesFile value {}\nisready", games.display()));
    let error = program.until_contains("train error: ");
    assert!(error.contains("games.pgn") && error.contains("a pipe, not a regular file"), "{error}");
    program.send(&format!("genfens 1 seed 1 book {}", games.display()));
    let error = program.until_contains("genfens: ");
    assert!(error.contains("a pipe, not a regular file"), "{error}");
    program.quit();
}

/// The engine does not wait for pipes with the names of the training's files.
#[cfg(unix)]
#[test]
fn pipes_in_the_folder_are_not_read() {
    let folder = folder("gui-training-pipes");
    // A page that cannot be written does not stop the training.
    let out = folder.join("page");
    fs::create_dir(&out).unwrap();
    pipe(&out.join("report.html"));
    let mut program = training("scratch", &out);
    program.until_contains("train no page: ");
    stop_and_quit(program);
    check_files(&out);
    fs::remove_file(out.join("state.json")).unwrap();
    pipe(&out.join("state.json"));
    let mut program = Program::with(&options("resume", &out));
    program.send("isready");
    let error = program.until_contains("train error: ");
    assert!(error.contains("state.json") && error.contains("a pipe, not a regular file"), "{error}");
    program.quit();
}

#[test]
fn a_second_program_is_refused() {
    let folder = folder("gui-training-second");
    let (out, games) = (folder.join("run"), folder.join("games.pgn"));
    write_games(&games, 1);
    let mut first = training("scratch", &out);
    first.until("info string train generation ");
    let in_use = format!("{} is in use: process ", out.display());
    for (mode, refusal) in [("scratch", in_use.as_str()), ("resume", &in_use), ("games", "learns from its own games")] {
        let mut second = Program::with(&options(mode, &out));
        second.send(&format!("setoption name TrainGamesFile value {}", games.display()));
        second.send("isready");
        let refused = second.until_contains("train error: ");
        assert!(refused.contains(refusal), "{refused}");
        check_search(&after(""), &second.search("go depth 4"));
        second.quit();
    }
    stop_and_quit(first);
    check_files(&out);
}

#[test]
fn a_training_that_cannot_begin_is_reported_and_the_engine_plays_on() {
    let folder = folder("gui-training-refused");
    let nowhere = Path::new("Cargo.toml/run");
    let long = PathBuf::from("x".repeat(5000));
    for (mode, folder) in [
        ("scratch", nowhere),
        ("scratch", &long),
        ("scratch", Path::new("a\0b")),
        ("resume", nowhere),
        ("resume", &folder.join("none")),
        ("games", &folder.join("no-file-named")),
    ] {
        let mut program = Program::with(&options(mode, folder));
        let error = program.until_contains("train error: ");
        assert!(!error.contains("internal"), "{error}");
        check_search(&after(""), &program.search("go depth 4"));
        program.quit();
    }
    let mut program = Program::with(&options("games", &folder.join("no-games")));
    program.send(&format!("setoption name TrainGamesFile value {}\nisready", folder.join("none.pgn").display()));
    let error = program.until_contains("train error: ");
    assert!(error.contains("none.pgn"), "{error}");
    program.quit();
    assert!(!folder.join("no-games").exists(), "a wrong name leaves nothing that a right one would resume");
    assert!(!folder.join("none").exists(), "nothing is made where there is nothing to resume");
}

#[test]
fn without_it_nothing_is_made() {
    let home = folder("gui-training-off");
    let mut program = Program::start_at_home(&home);
    program.send("uci");
    let listing = program.until("uciok");
    let default = listing.iter().find_map(|line| line.strip_prefix("option name TrainFolder type string default "));
    let default = Path::new(default.expect("it is listed")).to_path_buf();
    assert!(default.starts_with(&home) && default.ends_with("dyad"), "{}", default.display());
    program.send("setoption name Train value off\nsetoption name PlayTrained value proven\ntrain status");
    program.until("info string train status: off");
    check_search(&after(""), &program.search("go depth 8"));
    #[cfg(target_os = "linux")]
    assert!(!program.threads().contains(&"training".to_string()), "{:?}", program.threads());
    program.quit();
    assert!(files(&home).is_empty() && !default.exists(), "{:?}", files(&home));
}
