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
    for (player, reason) in [
        ("a", "a: 3 moves, too few for an estimate (10)"),
        ("unknown", "no player \"unknown\" with at least 1 game and 10 moves in "),
    ] {
        let error = refusal(&["level", "estimate", text(&games), "--player", player, "--model", text(&model)]);
        assert!(error.contains(reason), "{error}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_estimate_has_an_interval() {
    let folder = folder("estimate");
    let games = folder.join("games.pgn");
    let opera = "1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 \
        10. Nxb5 cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0";
    let tags = "[Site \"https://lichess.org/x\"]\n[White \"a \\\"b\\\"\"]\n[Black \"c\"]\n[WhiteElo \"1900\"]\n\n";
    fs::write(&games, format!("{tags}{opera}\n\n")).unwrap();
    for (player, rated) in [("a \"b\"", true), ("c", false)] {
        let lines = output(&["level", "estimate", text(&games), "--player", player]);
        let cells: Vec<&str> = lines[2].split('|').map(str::trim).collect();
        let rating = if rated { "1900" } else { "unknown" };
        assert_eq!((cells[1], cells[2], cells[4], cells[5]), (player, "1", "Lichess", rating), "{lines:?}");
        let number = |text: &str| text.parse::<u32>().unwrap_or_else(|_| panic!("{lines:?}"));
        let (estimate, (low, high)) = (number(cells[6]), cells[7].split_once(" to ").unwrap());
        assert!(number(low) <= estimate && estimate <= number(high) && low != high, "{lines:?}");
        // Without a rating in the game no error is known.
        let error = format!("1 players with known ratings: mean error {}", estimate.abs_diff(1900));
        assert_eq!(lines.contains(&error), rated, "{lines:?}");
    }
    fs::remove_dir_all(folder).unwrap();
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
        let mut program = Program::start();
        program.send(&format!("setoption name LevelSeed value {seed}"));
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
