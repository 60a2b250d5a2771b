//! Levels on the command line and over UCI.

use std::fs;

use crate::driver::{Program, folder, output, refusal, text};

#[test]
fn from_games_to_a_model() {
    let folder = folder("levels");
    let [games, records, model] = ["games.pgn", "records", "model.json"].map(|name| folder.join(name));
    let prepare = ["level", "prepare", text(&games), "--out", text(&records), "--test-percent"];
    let begun = "[White \"a\"]\n[Black \"b\"]\n[WhiteElo \"1010\"]\n[BlackElo \"990\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 \
        4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O *\n\n[White \"c\"]\n[Black \"d\"]\n\n1. e4 e5 *\n";
    fs::write(&games, begun).unwrap();
    let printed = refusal(&["level", "train", text(&games), "--out", text(&model)]);
    assert!(printed.contains("no records"), "{printed}");
    let lines = output(&[&prepare[..], &["100"]].concat());
    assert!(lines[0].starts_with("16 positions of 1 games"), "{lines:?}");
    assert_eq!(lines[1], "         1 games left out: no rating");
    let printed = refusal(&["level", "train", text(&records), "--out", text(&model)]);
    assert!(printed.contains("no training position in ") && printed.contains(", 16 of held-out"), "{printed}");
    assert!(!model.exists());
    output(&[&prepare[..], &["0"]].concat());
    let lines = output(&["level", "train", text(&records), "--out", text(&model)]);
    assert!(lines[0].starts_with("16 positions learned from"), "{lines:?}");
    // A file is read to its end or refused.
    let whole = fs::read(&records).unwrap();
    fs::write(&records, &whole[..whole.len() - 5]).unwrap();
    let printed = refusal(&["level", "train", text(&records), "--out", text(&model)]);
    assert!(printed.contains("records, line 17: EOF while parsing"), "{printed}");
}

#[test]
fn players_that_do_not_exist_are_refused() {
    for (opponent, expected) in
        [("level:much", "'much' is not a number"), ("level:1200:/nowhere.json", "/nowhere.json")]
    {
        let printed = refusal(&["match", "level:1000", opponent]);
        assert!(printed.contains(expected), "{opponent}: {printed}");
    }
}

#[test]
fn the_last_line_of_a_level_begins_with_its_move_and_a_seed_repeats_the_game_on_any_clock() {
    let play = |seed: u32, clock: &str| {
        let mut program = Program::with(&format!("setoption name LevelSeed value {seed}"));
        program.send("setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value 1300");
        let mut moves: Vec<String> = Vec::new();
        for _ in 0..12 {
            let moves_so_far = moves.join(" ");
            program.send(&format!("position startpos moves {moves_so_far}"));
            let lines = program.search(&format!("go {clock}"));
            let played = lines.last().unwrap().split(' ').nth(1).unwrap().to_string();
            let last = lines.iter().rev().find(|line| line.starts_with("info depth")).unwrap();
            assert!(last.contains(&format!(" pv {played}")), "{last} {played}");
            moves.push(played);
        }
        program.quit();
        moves
    };
    let minute = "wtime 60000 btime 60000";
    let one = play(1, minute);
    assert_eq!(one, play(1, minute));
    assert_eq!(one, play(1, "wtime 3600000 btime 3600000 winc 5000 binc 5000"), "the clock changes nothing");
    assert_ne!(one, play(2, minute));
}
