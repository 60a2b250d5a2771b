use super::syzygy::{folders, most_plies};
use super::*;
use crate::control::Control;
use crate::engine::Engine;
use crate::eval::Weights;
use crate::eval::tests::board;
use crate::search::{Limits, Options, Score};
use crate::value::TABLEBASE_WIN_IN_MAX;
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use shakmaty_syzygy::{Dtz, MaybeRounded};
use std::fs;
use std::path::PathBuf;

/// All tables with three pieces.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/syzygy");

fn tables() -> Tablebase {
    let (tables, errors) = Tablebase::open(FOLDER);
    assert_eq!((tables.files(), tables.pieces(), errors), (10, 3, Vec::new()));
    tables
}

fn used(base: Tablebase) -> Tables {
    Tables::new(Arc::new(base))
}

#[test]
fn probes_agree_with_python_chess() {
    let cases = [
        ("2K5/5k2/8/8/8/2p5/8/8 b - - 0 1", 2, 1),
        ("2k3r1/8/8/8/8/5K2/8/8 w - - 0 1", -2, -30),
        ("4b2k/8/8/5K2/8/8/8/8 b - - 0 1", 0, 0),
        ("4k3/3P4/8/5K2/8/8/8/8 b - - 0 1", 0, 0),
        ("5K2/kq6/8/8/8/8/8/8 b - - 0 1", 2, 9),
        ("5k2/8/6K1/4R3/8/8/8/8 b - - 0 1", -2, -2),
        ("5n2/8/K7/8/8/7k/8/8 w - - 0 1", 0, 0),
        ("6k1/8/8/2Q5/7K/8/8/8 b - - 0 1", -2, -10),
        ("6q1/8/3K4/8/8/8/1k6/8 b - - 0 1", 2, 13),
        ("8/1K6/8/8/8/4k3/1p6/8 w - - 0 1", -2, -2),
        ("8/3K4/8/8/6r1/8/8/4k3 b - - 0 1", 2, 27),
        ("8/3p4/5k2/8/8/8/8/2K5 w - - 0 1", -2, -8),
        ("8/4k3/8/8/8/K7/5P2/8 w - - 0 1", 0, 0),
        ("8/7r/8/8/2K5/8/8/5k2 w - - 0 1", -2, -28),
        ("8/8/3r3k/2K5/8/8/8/8 w - - 0 1", 0, 0),
        ("8/8/5k2/K7/8/8/8/3Q4 b - - 0 1", -2, -16),
        ("8/8/8/1P6/8/2k2K2/8/8 b - - 0 1", -2, -2),
        ("8/8/8/8/1K5q/8/7k/8 w - - 0 1", -2, -18),
        ("8/8/8/8/1R6/4K3/8/4k3 w - - 0 1", 2, 1),
        ("8/8/8/8/8/4k3/6P1/6K1 w - - 0 1", 2, 13),
        ("8/8/8/8/8/k5K1/8/2R5 b - - 0 1", -2, -24),
        ("K7/8/8/8/8/7k/7Q/8 b - - 0 1", 0, 0),
    ];
    let tables = tables();
    for (fen, wdl, dtz) in cases {
        let board = board(fen);
        let found = (tables.wdl(&board), tables.most_plies(&board));
        assert_eq!(found, (Some(wdl), Some(dtz)), "{fen}");
    }
    for fen in ["8/8/8/8/8/4k3/6P1/4K2R w - - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"] {
        assert_eq!((tables.wdl(&board(fen)), tables.take_error()), (None, None), "{fen}");
    }
}

/// A random position with both kings and a piece; `None` if it is not valid.
fn random_board(piece: (shakmaty::Role, bool), random: &mut Pcg64Mcg) -> Option<Board> {
    let mut fen = [[b'1'; 8]; 8];
    for (role, white) in [(shakmaty::Role::King, true), (shakmaty::Role::King, false), piece] {
        let square = (random.next_u64() % 64) as usize;
        let place = &mut fen[square / 8][square % 8];
        if *place != b'1' {
            return None;
        }
        let letter = role.char();
        *place = if white { letter.to_ascii_uppercase() } else { letter } as u8;
    }
    let rows: Vec<&str> = fen.iter().map(|row| std::str::from_utf8(row).expect("letters")).collect();
    let side = ["w", "b"][(random.next_u64() % 2) as usize];
    Board::from_fen(&format!("{} {side} - - 0 1", rows.join("/"))).ok()
}

/// Plays a position to its end by searches of one ply with tables.
fn play_out(engine: &mut Engine, options: &Options, start: Board) -> Game {
    let mut game = Game::new(start);
    while game.ending().is_none() {
        let outcome = engine.search(&game, &Limits::depth(1), options, &Control::new(false), &mut |_| ());
        game.push(outcome.best.expect("the game is not over"));
    }
    game
}

#[test]
fn won_positions_of_three_pieces_are_won_against_the_same_tables() {
    use shakmaty::Role::{Pawn, Queen, Rook};
    let tables = used(tables());
    let options = Options { tables: Some(tables.clone()), ..Options::default() };
    let mut engine = Engine::with_hash(Arc::new(Weights::material()), 1).expect("memory for the smallest table");
    let mut random = Pcg64Mcg::new(3);
    let mut won = 0;
    while won < 30 {
        let piece = [(Queen, true), (Rook, false), (Pawn, true)][(random.next_u64() % 3) as usize];
        let Some(start) = random_board(piece, &mut random) else { continue };
        if tables.base.wdl(&start) != Some(2) || !start.has_legal_move() {
            continue;
        }
        let game = play_out(&mut engine, &options, start);
        assert_eq!(game.ending(), Some(crate::board::Ending::Checkmate), "{start}");
        assert_ne!(game.board().side_to_move(), start.side_to_move(), "{start}");
        won += 1;
    }
    assert_eq!(tables.base.take_error(), None);
}

/// A win that may take 101 plies is not called won.
#[test]
fn rounded_plies_are_counted_as_the_larger_number() {
    let [rounded, precise] = [MaybeRounded::Rounded, MaybeRounded::Precise];
    assert_eq!([100, -100, 0].map(|plies| most_plies(rounded(Dtz(plies)), false)), [101, -101, 0]);
    assert_eq!([100, -100].map(|plies| most_plies(rounded(Dtz(plies)), true)), [100, -100]);
    assert_eq!(most_plies(precise(Dtz(100)), false), 100);
}

#[test]
fn a_search_probes_the_tables() {
    let options = Options { tables: Some(used(tables())), ..Options::default() };
    let mut engine = Engine::with_hash(Arc::new(Weights::material()), 1).expect("memory for the smallest table");
    let mut search = |fen: &str, options: &Options| {
        let mut hits = 0;
        let game = Game::new(board(fen));
        let outcome = engine.search(&game, &Limits::depth(6), options, &Control::new(false), &mut |report| {
            if let crate::search::Report::Info(info) = report {
                hits = info.tbhits;
            }
        });
        engine.clear();
        (outcome, hits)
    };
    // One ply before the tables: capturing the rook wins.
    let (outcome, hits) = search("8/8/8/8/1k6/8/1r2Q3/K7 w - - 0 1", &options);
    assert!(outcome.value >= TABLEBASE_WIN_IN_MAX && hits > 0, "{outcome:?}");
    // In the tables: just the winning moves are searched, and a drawn position has the value of a draw.
    let (outcome, hits) = search("8/8/8/8/8/4k3/6P1/6K1 w - - 0 1", &options);
    assert!(outcome.value >= TABLEBASE_WIN_IN_MAX && hits > 0, "{outcome:?}");
    assert!(matches!(outcome.score, Score::Cp(19_000..) | Score::Mate(1..)), "{outcome:?}");
    let (outcome, _) = search("8/8/8/8/8/8/k7/B6K w - - 0 1", &options);
    assert_eq!(outcome.value, DRAW);
    // The maximum number of pieces is obeyed.
    let limited = Tables { pieces: 2, ..used(tables()) };
    let (_, hits) =
        search("8/8/8/8/1k6/8/1r2Q3/K7 w - - 0 1", &Options { tables: Some(limited), ..Options::default() });
    assert_eq!(hits, 0);
}

/// Each move is reported once, with the value of the tables, best first.
#[test]
fn multipv_reports_moves_of_all_ranks() {
    let tables = used(tables());
    let mut engine = Engine::with_hash(Arc::new(Weights::material()), 1).expect("memory for the smallest table");
    // A queen that may be lost, a queen that may be captured, and a pawn that wins by some moves.
    for (fen, results) in [
        ("8/8/8/8/8/2k5/8/KQ6 w - - 0 1", [1, 0].as_slice()),
        ("8/8/8/8/8/8/1kQ5/7K b - - 0 1", &[0, -1]),
        ("8/8/8/8/8/4k3/6P1/6K1 w - - 0 1", &[1, 0]),
    ] {
        let game = Game::new(board(fen));
        let legal = game.board().moves().len();
        for multipv in [2, legal - 1, legal, 256] {
            let options = Options { tables: Some(tables.clone()), multipv, ..Options::default() };
            let mut lines = Vec::new();
            let outcome = engine.search(&game, &Limits::depth(5), &options, &Control::new(false), &mut |report| {
                if let crate::search::Report::Info(info) = report
                    && info.depth == 5
                {
                    lines.push((info.multipv, info.pv[0], info.value));
                }
            });
            // The last reports repeat all lines.
            let repeated = lines.split_off(lines.len() / 2);
            assert_eq!((outcome.best, &lines), (Some(lines[0].1), &repeated), "{fen}");
            let numbers: Vec<usize> = lines.iter().map(|&(number, ..)| number).collect();
            assert_eq!(numbers, Vec::from_iter(1..=multipv.min(legal)), "{fen}");
            let mut found = Vec::new();
            for &(_, mv, value) in &lines {
                let after = -(tables.base.wdl(&game.board().after(mv)).expect("a table of three pieces"));
                let reported = if value.abs() >= TABLEBASE_WIN_IN_MAX { value.signum() } else { 0 };
                assert_eq!(
                    (reported, value.abs() < TABLEBASE_WIN_IN_MAX),
                    (after.signum(), value == DRAW),
                    "{fen} {mv}"
                );
                found.push(reported);
            }
            assert!(found.is_sorted_by(|first, second| first >= second), "{fen} {found:?}");
            let mut moves: Vec<_> = lines.iter().map(|&(_, mv, _)| mv.to_string()).collect();
            moves.sort();
            moves.dedup();
            assert_eq!(moves.len(), lines.len(), "{fen}");
            if multipv >= legal {
                found.dedup();
                assert_eq!(found, results, "{fen}");
            }
        }
    }
}

#[test]
fn root_moves_obey_the_fifty_move_rule() {
    let tables = used(tables());
    // Mate takes 23 plies.
    let ranked = |tables: &Tables, clock: u32| {
        let game = Game::new(board(&format!("8/8/8/8/8/1k6/8/1K5R w - - {clock} 80")));
        let mut root = tables.root_moves(&game, &[]).expect("the position is in the tables");
        root.keep_best();
        root
    };
    // With a low clock all winning moves have one rank; with a high one, the shortest win alone.
    let (fresh, late) = (ranked(&tables, 0), ranked(&tables, 76));
    assert_eq!((fresh.best().value, late.best().value), (TABLEBASE_WIN, TABLEBASE_WIN));
    assert!(fresh.by_dtz && fresh.moves.len() > late.moves.len(), "{fresh:?} {late:?}");
    // Too late to win, unless the rule is off.
    let cursed = ranked(&tables, 90);
    assert!(cursed.best().value > DRAW && cursed.best().value < TABLEBASE_WIN_IN_MAX, "{cursed:?}");
    for clock in [90, 99, 120] {
        let off = ranked(&Tables { fifty_moves: false, ..tables.clone() }, clock);
        assert_eq!((off.best().value, off.moves.len()), (TABLEBASE_WIN, 1), "{clock}");
    }
}

/// A new folder with a copy of all tables, each modified by `change`.
fn changed(name: &str, change: impl Fn(&str, Vec<u8>) -> Vec<u8>) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("dyad-tables-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    for entry in fs::read_dir(FOLDER).expect("the tables are there").flatten() {
        let name = entry.file_name().into_string().expect("plain names");
        if name.starts_with('K') {
            fs::write(folder.join(&name), change(&name, fs::read(entry.path()).expect("they can be read")))
                .expect("room");
        }
    }
    folder
}

fn probe_all(tables: &Tablebase, count: usize) -> usize {
    use shakmaty::Role::{Pawn, Queen, Rook};
    let mut random = Pcg64Mcg::new(9);
    let mut found = 0;
    for _ in 0..count {
        for piece in [Pawn, Rook, Queen] {
            if let Some(board) = random_board((piece, true), &mut random) {
                found += usize::from(tables.wdl(&board).is_some()) + usize::from(tables.most_plies(&board).is_some());
            }
        }
    }
    found
}

#[test]
fn missing_and_damaged_files_are_reported() {
    let (nothing, errors) = Tablebase::open("/nowhere/at all;/nor here");
    assert_eq!((nothing.files(), nothing.pieces(), errors.len()), (0, 0, 2));
    assert_eq!(nothing.wdl(&board("8/8/8/8/8/4k3/6P1/6K1 w - - 0 1")), None);

    // Truncated files are found when the folder is read.
    let folder = changed("cut", |_, bytes| bytes[..bytes.len() - 7].to_vec());
    let (cut, errors) = Tablebase::open(folder.to_str().expect("a plain path"));
    assert_eq!((cut.files(), errors.len()), (0, 10), "{errors:?}");
    fs::remove_dir_all(folder).expect("it was made");

    // Missing.
    let is_damage = |error: &str| error.ends_with("is damaged") || error.contains("cannot be read");
    let folder = changed("missing", |_, bytes| bytes);
    fs::remove_file(folder.join("KQvK.rtbw")).expect("it was copied");
    let (missing, errors) = Tablebase::open(folder.to_str().expect("a plain path"));
    assert_eq!((missing.files(), errors.len()), (9, 0));
    assert_eq!(missing.wdl(&board("8/8/8/8/8/4k3/6Q1/6K1 b - - 0 1")), None);
    let error = missing.take_error().expect("the error was kept");
    assert!(error.contains("KQvK") && !is_damage(&error), "a missing table is not damaged: {error}");
    assert_eq!(missing.take_error(), None);
    fs::remove_dir_all(folder).expect("it was made");

    // Of the right length, with random bytes changed.
    for seed in 0..40 {
        let folder = changed("damaged", |name, mut bytes| {
            let mut random = Pcg64Mcg::new(seed * 1_000 + name.len() as u128 + u128::from(name.as_bytes()[1]));
            for _ in 0..1 + seed % 20 {
                let at = (random.next_u64() % bytes.len().min(200) as u64) as usize;
                bytes[at] ^= random.next_u64() as u8;
            }
            bytes
        });
        let (damaged, _) = Tablebase::open(folder.to_str().expect("a plain path"));
        let found = probe_all(&damaged, 30);
        let all = probe_all(&tables(), 30);
        assert!(
            found == all || damaged.take_error().is_some_and(|error| is_damage(&error)),
            "seed {seed}: {found} of {all}"
        );
        fs::remove_dir_all(folder).expect("it was made");
    }
}

#[test]
fn several_folders_are_searched() {
    let parted: Vec<PathBuf> = folders("/a b; c ;;/d").collect();
    assert_eq!(parted, [PathBuf::from("/a b"), PathBuf::from("c"), PathBuf::from("/d")]);
    assert_eq!(folders("/a:/b").count(), if cfg!(windows) { 1 } else { 2 });
    let (tables, errors) = Tablebase::open(&format!("{FOLDER};{FOLDER}"));
    assert_eq!((tables.pieces(), errors.len()), (3, 0));
}
