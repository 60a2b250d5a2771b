//! The way of the data: games to samples, labels, weights and their measure.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use dyad_engine::board::Board;
use dyad_engine::eval::Weights;
use dyad_formats::hash;
use dyad_formats::samples::SampleFile;
use dyad_formats::weights_file;

use crate::driver::folder;
#[cfg(unix)]
use crate::driver::pipe;

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyad"));
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

/// Runs the program in a folder and expects it to succeed.
fn run(folder: &Path, arguments: &str) -> String {
    let output = command(folder, arguments).output().expect("the program was built");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{arguments}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Runs the program in a folder and expects it to fail with a sentence.
fn refuse(folder: &Path, arguments: &str, expected: &str) {
    let Output { status, stderr, .. } = command(folder, arguments).output().expect("the program was built");
    let printed = String::from_utf8_lossy(&stderr).into_owned();
    assert!(!status.success() && printed.contains(expected), "{arguments}: expected {expected}, found {printed}");
}

/// Games of random moves that end in favor of who has more material left, with its balance as the score of
/// each move; every tenth is broken.
pub fn write_games(path: &Path, count: u64) {
    let weights = Weights::material();
    let pawns = |board: &Board| f64::from(weights.value(weights.sums(board), board)) / 200.0;
    let mut pgn = String::new();
    for game in 0..count {
        let (mut board, mut moves) = (Board::startpos(), String::new());
        for ply in 0..80 {
            let legal = board.moves();
            if legal.is_empty() {
                break;
            }
            let mv = legal[(hash::fold(game, ply) % legal.len() as u64) as usize];
            moves += &format!("{} {{{:.2}/1}} ", board.san(mv), pawns(&board));
            board = board.after(mv);
        }
        let result = match pawns(&board) {
            ahead if ahead > 1.0 => "1-0",
            ahead if ahead < -1.0 => "0-1",
            _ => "1/2-1/2",
        };
        let fault = if game % 10 == 9 { "Ka9 " } else { "" };
        pgn += &format!("[Event \"Random blitz\"]\n[White \"A{game}\"]\n[Black \"B\"]\n[Result \"{result}\"]\n\n");
        pgn += &format!("{moves}{fault}{result}\n\n");
    }
    fs::write(path, pgn).expect("the folder may be written");
}

fn identity(path: PathBuf) -> u64 {
    SampleFile::open(&path).unwrap().summary.identity
}

#[test]
fn games_become_samples_labels_and_weights() {
    let folder = folder("data");
    write_games(&folder.join("games.pgn"), 60);
    let printed = run(&folder, "prepare games.pgn -o a.samples --scores white --quiet --min-ply 6 --test-percent 25");
    assert!(printed.contains("60 games or lines read, 6 of them broken"), "{printed}");

    let fit = "fit a.samples --epochs 2 --seed 7 --groups material,piece_square -o w.json --result-share 0";
    let printed = run(&folder, fit);
    assert!(printed.contains("test loss"), "{printed}");
    let weights = weights_file::load(&folder.join("w.json")).unwrap();
    assert_eq!((weights.meta.name.as_str(), &weights.meta.provenance["by"]), ("w", &serde_json::json!("dyad fit")));
    let first = fs::read(folder.join("w.json")).unwrap();
    run(&folder, &format!("{fit} --threads 3"));
    assert!(fs::read(folder.join("w.json")).unwrap() == first, "threads changed the weights");
    let on_leaves = "-o leaves.json --result-share 1 --leaves material --threads 2";
    run(&folder, &format!("fit a.samples --epochs 2 --seed 7 --groups material,piece_square {on_leaves}"));
    let led = weights_file::load(&folder.join("leaves.json")).unwrap();
    let material = Weights::material().id();
    assert_eq!(
        (&led.meta.provenance["leaves"], &weights.meta.provenance["leaves"]),
        (&material.into(), &serde_json::Value::Null)
    );
    assert!(led.ints() != weights.ints(), "the leaves are the positions themselves");
    refuse(&folder, "fit a.samples -o leaves.json --leaves none.json", "none.json");
    refuse(&folder, "prepare none.pgn -o c.samples", "cannot open none.pgn");
    refuse(&folder, "prepare games.pgn -o ./games.pgn", "the output ./games.pgn is the input games.pgn");
    refuse(&folder, "label a.samples -o ../data/a.samples", "is the input a.samples");
    refuse(&folder, "fit a.samples -o a.samples", "is the input a.samples");
    refuse(&folder, "fit games.pgn -o w.json", "not a sample file");
    refuse(&folder, "fit a.samples -o w.json --groups pears", "no group of features is called pears");
    let cut = fs::read(folder.join("a.samples")).unwrap();
    fs::write(folder.join("cut.samples"), &cut[..cut.len() / 2]).unwrap();
    refuse(&folder, "fit cut.samples -o w.json", "cut.samples, header: the file is cut");
}

/// Runs the program with the text on its standard input.
fn piped(folder: &Path, arguments: &str, input: &[u8]) -> Output {
    let mut command = command(folder, arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = command.spawn().expect("the program was built");
    let mut stdin = program.stdin.take().expect("it was asked for");
    thread::scope(|scope| {
        // A program that refuses its arguments reads nothing.
        scope.spawn(move || stdin.write_all(input).ok());
        program.wait_with_output().expect("it was started")
    })
}

/// Standard input is read as a file is, more than once where the tool needs that.
#[test]
fn standard_input_is_a_file_of_games_or_positions() {
    let folder = folder("data-pipe");
    write_games(&folder.join("games.pgn"), 16);
    let games = fs::read(folder.join("games.pgn")).unwrap();
    let line = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 bm e4; c9 \"1-0\";\n";
    fs::write(folder.join("a.epd"), line).unwrap();
    let works = |arguments: &str, input: &[u8]| {
        let output = piped(&folder, arguments, input);
        let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{arguments}: {printed}");
        printed
    };
    let packed = |program: &str| {
        let packed = Command::new(program).arg("-c").arg(folder.join("games.pgn")).output().expect("it is installed");
        packed.stdout
    };
    // The side of the scores, the draw and the samples take a reading each.
    let draw = "--scores white --positions 100 --min-ply 6";
    run(&folder, &format!("prepare games.pgn -o file.samples {draw}"));
    for input in [&games, &packed("gzip")] {
        works(&format!("prepare - -o pipe.samples {draw}"), input);
        assert_eq!(identity(folder.join("pipe.samples")), identity(folder.join("file.samples")));
    }
    run(&folder, "prepare a.epd -o file.samples --test-percent 0");
    works("prepare - -o pipe.samples --test-percent 0", line.as_bytes());
    assert_eq!(identity(folder.join("pipe.samples")), identity(folder.join("file.samples")));
    works("match material default --nodes 10 --games 2 --openings -", line.as_bytes());
    let pgn = b"[White \"A\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";
    works("annotate - --nodes 1000 --out a.pgn", pgn);
    assert!(fs::read_to_string(folder.join("a.pgn")).unwrap().contains("Qh4#"));

    for (arguments, input, expected) in [
        ("level prepare - --out l.records", &pgn[..], "no position was found in 1 games"),
        ("annotate -", pgn, "name the annotated games with --out FILE"),
        ("selftrain --games-file - --out run", pgn, "name a file"),
        ("prepare - -o b.samples", b"", "no position was found in 0 games"),
        ("prepare - -o b.samples", b"BZh91AY&SY", "it is packed by bzip2: unpack it with `bzip2 -dc`"),
        ("prepare - -o b.samples", b"PK\x03\x04", "it is a zip archive: unpack it with `unzip -p`"),
    ] {
        let output = piped(&folder, arguments, input);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && printed.contains(expected), "{arguments}: {printed}");
    }
    // Without a tool `-` is a file like others: standard input has the commands.
    let output = piped(&folder, "", b"genfens 2 seed 1 book -\nquit\n");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!printed.contains("genfens 2") && !printed.contains("panic"), "{printed}");
}

/// Games of a DATAGEN workload of Chess960, as OpenBench handed them out in `tools/openbench/loopback`.
#[test]
fn games_of_openbench_become_samples() {
    let folder = folder("openbench");
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/openbench/4.pgn.gz");
    let printed = run(&folder, &format!("prepare {games} -o a.samples --scores mover --test-percent 0"));
    assert!(printed.contains("32 games or lines read, 0 of them broken"), "{printed}");
    let samples = SampleFile::open(&folder.join("a.samples")).unwrap().samples;
    assert!(samples.iter().all(|sample| sample.has_result() && sample.has_score()));
    // Some openings of Chess960 castle as in standard chess.
    assert!(samples.iter().any(|sample| sample.board().unwrap().castles_unusually()));
}

#[test]
fn an_average_that_could_not_be_loaded_is_not_written() {
    let folder = folder("average");
    let material = concat!(env!("CARGO_MANIFEST_DIR"), "/weights/material.json");
    fs::copy(material, folder.join("a.json")).unwrap();
    for scale in [1, 2] {
        refuse(&folder, &format!("average a.json -o b.json --scale {scale}"), &format!("{scale}/1024 is too small"));
    }
    assert!(!folder.join("b.json").exists());
    run(&folder, "average a.json -o b.json --scale 700");
    assert_eq!(weights_file::load(&folder.join("b.json")).unwrap().units.scale, 700);
}

#[test]
fn where_nothing_is_found_nothing_is_written() {
    let folder = folder("data-nothing");
    fs::write(folder.join("empty.pgn"), "").unwrap();
    let utf16: Vec<u8> = "\u{FEFF}[Event \"a\"]\n\n1. e4 e5 1-0\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(folder.join("utf16.pgn"), utf16).unwrap();
    refuse(&folder, "prepare empty.pgn --out out.samples", "no position was found in 0 games");
    refuse(&folder, "prepare utf16.pgn --out out.samples", "UTF-16");
    write_games(&folder.join("games.pgn"), 3);
    refuse(&folder, "prepare games.pgn --out out.samples --min-ply 5000", "no position was found in 3 games");
    refuse(&folder, "prepare games.pgn --out out.samples --min-players 2500", " left out: rating");
    assert!(!folder.join("out.samples").exists());
}

/// An output that is no file stays what it is, and so does one that must not be written; a link stays a link.
#[cfg(unix)]
#[test]
fn outputs_replace_files_and_nothing_else() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = folder("data-outputs");
    let path = |name: &str| folder.join(name);
    for name in ["a.json", "b.json"] {
        weights_file::save(&Weights::material(), &path(name)).unwrap();
    }
    pipe(&path("pipe"));
    fs::write(path("protected"), "kept").unwrap();
    fs::set_permissions(path("protected"), fs::Permissions::from_mode(0o444)).unwrap();
    refuse(&folder, "average a.json b.json --out pipe", "a pipe, not a regular file");
    refuse(&folder, "average a.json b.json --out protected", "write-protected");
    refuse(&folder, "average a.json b.json --out .", "a folder, not a regular file");
    refuse(&folder, "match a.json b.json --nodes 1 --games 2 --pgn pipe --resume", "a pipe, not a regular file");
    refuse(&folder, "prepare pipe --out out.samples", "a pipe, not a regular file");
    refuse(&folder, "average pipe b.json --out c.json", "a pipe, not a regular file");
    fs::create_dir(path("run")).unwrap();
    pipe(&path("run/settings.json"));
    refuse(&folder, "train --out run --resume", "a pipe, not a regular file");
    refuse(&folder, "report run", "a pipe, not a regular file");
    assert!(fs::metadata(path("pipe")).unwrap().file_type().is_fifo());
    assert_eq!(fs::read_to_string(path("protected")).unwrap(), "kept");
    fs::write(path("target"), "old").unwrap();
    symlink("target", path("link")).unwrap();
    run(&folder, "average a.json b.json --out link");
    assert!(path("link").is_symlink() && weights_file::load(&path("target")).is_ok());
}

#[test]
fn outputs_replace_neither_inputs_nor_files_of_others() {
    let folder = folder("data-outputs-lost");
    let path = |name: &str| folder.join(name);
    weights_file::save(&Weights::material(), &path("a.json")).unwrap();
    crate::training::write_samples(&path("s.samples"), 60);
    let kept = || ["a.json", "s.samples"].map(|name| fs::read(path(name)).unwrap());
    let before = kept();
    refuse(&folder, "average a.json a.json --out a.json", "would be lost");
    refuse(&folder, "average a.json a.json --samples s.samples --out s.samples", "would be lost");
    for option in ["--weights", "--leaves", "--scale-like"] {
        refuse(&folder, &format!("fit s.samples {option} a.json --out a.json"), "would be lost");
    }
    assert_eq!(kept(), before);
    for name in ["log.jsonl", "best.json", "iteration-01.json"] {
        let run = path(&format!("of-others-{name}"));
        fs::create_dir(&run).unwrap();
        fs::write(run.join(name), "mine").unwrap();
        refuse(&folder, &format!("train s.samples --out of-others-{name}"), "is of no run here and would be lost");
        assert_eq!(fs::read_to_string(run.join(name)).unwrap(), "mine");
    }
    run(&folder, "train s.samples --out run --batch 20 --iterations 1 --threads 1");
    for name in ["settings.json", "log.jsonl"] {
        let before = fs::read(path("run").join(name)).unwrap();
        refuse(&folder, &format!("report run -o run/{name}"), "is a file of the training, which would be lost");
        assert_eq!(fs::read(path("run").join(name)).unwrap(), before);
    }
    run(&folder, "report run -o run/other.html");
    run(&folder, "report run -o run/other.html");
}

/// An output that cannot be written is refused before its input is read.
#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let folder = folder("data-outputs-refused");
    for (arguments, expected) in [
        ("prepare none.pgn --out none/a.samples", "cannot create none/a.samples: "),
        ("fit none.samples --out none/w.json", "cannot write none/w.json: "),
        ("level prepare none.pgn --out none/l.records", "cannot write none/l.records: "),
        ("level train none.records --out none/l.json", "cannot write none/l.json: "),
    ] {
        refuse(&folder, arguments, expected);
    }
    // An input that cannot be read leaves no output.
    refuse(&folder, "fit none.samples --out w.json", "none.samples");
    refuse(&folder, "level train none.records --out l.json", "none.records");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// The number is that of the games in the file.
#[test]
fn games_are_counted_as_they_stand_in_the_file() {
    let folder = folder("data-games");
    let datagen = "datagen --nodes 10 --weights material --out g.pgn --games";
    assert_eq!(run(&folder, &format!("{datagen} 3")), "3 games in g.pgn\n");
    let games = fs::read(folder.join("g.pgn")).unwrap();
    assert_eq!(run(&folder, &format!("{datagen} 2 --resume")), "3 games in g.pgn\n");
    assert!(fs::read(folder.join("g.pgn")).unwrap() == games, "the file changed");
    assert_eq!(run(&folder, &format!("{datagen} 4 --resume")), "4 games in g.pgn\n");
}

/// What the system says of a disk that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_called_that() {
    let folder = folder("data-full");
    for name in ["a.json", "b.json"] {
        weights_file::save(&Weights::material(), &folder.join(name)).unwrap();
    }
    // Files may not grow beyond a kilobyte: another limit that is met in the middle of writing.
    let command =
        format!("ulimit -f 1; trap '' XFSZ; {} average a.json b.json --out c.json", env!("CARGO_BIN_EXE_dyad"));
    let output = Command::new("sh").current_dir(&folder).args(["-c", &command]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && printed.contains("c.json: cannot be written: "), "{printed}");
    assert!(!folder.join("c.json").exists());
}

/// A file that is read is no file to write, by whatever name, and two files to write are not one.
#[cfg(unix)]
#[test]
fn outputs_never_replace_inputs() {
    let folder = folder("data-inputs");
    let path = |name: &str| folder.join(name);
    weights_file::save(&Weights::material(), &path("w.json")).unwrap();
    std::os::unix::fs::symlink("w.json", path("link.json")).unwrap();
    fs::write(path("o.pgn"), "1. e4 e5 *\n\n").unwrap();
    for (arguments, expected) in [
        ("match w.json material --pgn w.json", "the output w.json is the input w.json"),
        ("match w.json material --pgn link.json", "the output link.json is the input w.json"),
        ("match material link.json --pgn w.json", "the output w.json is the input link.json"),
        ("match material default --openings o.pgn --pgn ./o.pgn", "the output ./o.pgn is the input o.pgn"),
        ("datagen --openings o.pgn --out o.pgn", "the output o.pgn is the input o.pgn"),
        ("datagen --weights w.json --out link.json", "the output link.json is the input w.json"),
    ] {
        refuse(&folder, &format!("{arguments} --games 2 --nodes 10"), expected);
    }
    refuse(&folder, "annotate o.pgn --weights w.json --out link.json", "the output link.json is the input w.json");
    refuse(&folder, "annotate o.pgn --out a.pgn --html ./a.pgn", "the output ./a.pgn is another output");
    // A file of another kind is nothing to append to, though it is no input.
    refuse(&folder, "match material default --games 2 --nodes 10 --pgn w.json", "w.json exists: continue it");
    let not_ours = "not the games that are to be continued";
    refuse(&folder, "match material default --games 2 --nodes 10 --pgn w.json --resume", not_ours);
    refuse(&folder, "datagen --games 2 --nodes 10 --out w.json", "w.json exists: continue it with --resume");
    refuse(&folder, "datagen --games 2 --nodes 10 --out w.json --resume", "they stay");
    assert_eq!(fs::read_to_string(path("o.pgn")).unwrap(), "1. e4 e5 *\n\n");
    assert!(weights_file::load(&path("w.json")).is_ok() && !path("new.pgn").exists());
    // A page under a name that the user did not choose follows no link.
    fs::copy(path("w.json"), path("best.json")).unwrap();
    std::os::unix::fs::symlink("o.pgn", path("report.html")).unwrap();
    refuse(&folder, "report .", "report.html is a link");
    assert_eq!(fs::read_to_string(path("o.pgn")).unwrap(), "1. e4 e5 *\n\n");
}

/// Scores are read from the side that they are given from, or not at all.
#[test]
fn scores_of_the_wrong_side_are_refused() {
    let folder = folder("data-sides");
    fs::write(folder.join("lichess.pgn"), "1. e4 {[%eval 0.25]} e5 {[%eval 0.30]} 2. Nf3 {[%eval 0.2]} 1-0\n").unwrap();
    fs::write(folder.join("plain.pgn"), "1. e4 e5 2. Nf3 1-0\n").unwrap();
    write_games(&folder.join("games.pgn"), 20);
    refuse(&folder, "prepare games.pgn -o a.samples --scores mover", "given from White's side, not the mover's");
    // This form is always White's.
    for side in ["mover", "white"] {
        run(&folder, &format!("prepare lichess.pgn -o {side}.samples --scores {side} --scored"));
    }
    assert_eq!(identity(folder.join("mover.samples")), identity(folder.join("white.samples")));
    // A copy without scores before it hides nothing; positions have no ratings.
    fs::write(folder.join("bare.pgn"), "1. e4 e5 2. Nf3 1-0\n").unwrap();
    let printed = run(&folder, "prepare bare.pgn lichess.pgn -o c.samples --scores white --scored");
    assert!(printed.contains("2 positions written"), "{printed}");
    fs::write(folder.join("bare.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n").unwrap();
    refuse(&folder, "prepare bare.epd -o b.samples --min-players 2000", "no position was found");
    refuse(&folder, "prepare plain.pgn -o b.samples --scores white --scored", "0 of them broken, and no score");
    refuse(&folder, "prepare lichess.pgn -o b.samples --scored", "--scores white or --scores mover");
    let output =
        command(&folder, "prepare plain.pgn -o b.samples --scores white").output().expect("the program was built");
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && warned.contains("no game or line has a score"), "{warned}");
}

/// What is no file of games is called what it is.
#[test]
fn files_of_other_kinds_are_named() {
    let folder = folder("data-kinds");
    fs::write(folder.join("page.pgn"), "{\"error\": \"Not found\"}\n").unwrap();
    fs::write(folder.join("a.pgn.xz"), b"\xFD7zXZ\0\0\x04").unwrap();
    fs::write(folder.join("a.zip"), b"PK\x03\x04\x14\0\0\0").unwrap();
    fs::write(folder.join("text.pgn"), "Dear reader,\nthese are no games.\n").unwrap();
    refuse(&folder, "prepare page.pgn -o a.samples", "no position was found in 1 games and lines, 1 of them broken");
    refuse(&folder, "prepare a.pgn.xz -o a.samples", "packed by xz: unpack it with `xz -dc` to standard input");
    refuse(&folder, "prepare a.zip -o a.samples", "a zip archive: unpack it with `unzip -p` to standard input");
    refuse(&folder, "annotate text.pgn", "no game can be read; the first: text.pgn:1: 1. Dear: expected a move");
    fs::write(folder.join("game.pgn"), "[White \"Ann\"]\n\n1. e4 e5 *\n").unwrap();
    refuse(&folder, "annotate game.pgn --player Nobody --html m.html", "no player of game.pgn is called 'Nobody'");
}
