//! How often the motifs agree with the themes of puzzles: `zstdcat puzzles.csv.zst | cargo run --release --example motifs`.
//!
//! Reads the puzzles of Lichess (CSV with the columns FEN, Moves and Themes). Precision: the part of the puzzles with
//! the motif that have its theme. Recall: the part of the puzzles with the theme that have the motif.

use std::io::BufRead;

use dyad_engine::board::{Board, Move};
use dyad_explain::difference::PvEnd;
use dyad_explain::line::Line;
use dyad_explain::motif::{Kind, motifs};

/// The motifs with the themes that mean the same.
const THEMES: [(Kind, &[&str]); 10] = [
    (Kind::Fork, &["fork"]),
    (Kind::Pin, &["pin"]),
    (Kind::Skewer, &["skewer"]),
    (Kind::Discovery, &["discoveredAttack", "discoveredCheck"]),
    (Kind::Removal, &["capturingDefender"]),
    (Kind::Deflection, &["deflection"]),
    (Kind::Trap, &["trappedPiece"]),
    (Kind::BackRank, &["backRankMate"]),
    (Kind::InBetween, &["intermezzo"]),
    (Kind::Promotion, &["promotion"]),
];
/// Most puzzles of a theme that are counted.
const MOST: usize = 2_000;

fn main() {
    // For each motif: puzzles with the theme, those of them with the motif, puzzles with the motif, with both.
    let mut counts = [[0; 4]; THEMES.len()];
    let show = std::env::args().nth(1);
    for line in std::io::stdin().lock().lines().skip(1).map_while(Result::ok) {
        let fields: Vec<&str> = line.split(',').collect();
        let [_, fen, moves, _, _, _, themes, ..] = fields[..] else { panic!("not a line of puzzles: {line}") };
        let found = of_puzzle(fen, moves);
        let tagged = |names: &[&str]| themes.split(' ').any(|theme| names.contains(&theme));
        for ((kind, names), count) in THEMES.iter().zip(&mut counts) {
            let (has, is) = (found.contains(kind), tagged(names));
            if is && count[0] < MOST {
                count[0] += 1;
                count[1] += usize::from(has);
            }
            count[2] += usize::from(has);
            count[3] += usize::from(has && is);
            if show.as_deref() == Some(kind.name()) && has != is {
                println!("{} {line}", if has { "+" } else { "-" });
            }
        }
    }
    println!("{:18} {:>7} {:>8} {:>9} {:>10}", "motif", "puzzles", "recall", "said", "precision");
    for ((kind, _), [puzzles, recalled, said, right]) in THEMES.iter().zip(counts) {
        let percent = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        let (recall, precision) = (percent(recalled, puzzles), percent(right, said));
        println!("{:18} {puzzles:>7} {recall:>7.1}% {said:>9} {precision:>9.1}%", kind.name());
    }
}

/// The motifs behind the moves of a puzzle's solution. The first move of the puzzle is the opponent's.
fn of_puzzle(fen: &str, moves: &str) -> Vec<Kind> {
    let mut board = Board::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
    let mut line: Vec<Move> = Vec::new();
    let (mut before, mut start) = (None, board);
    for (ply, text) in moves.split(' ').enumerate() {
        let mv = board.parse_uci(text).unwrap_or_else(|error| panic!("{fen}: {error}"));
        match ply {
            0 => {
                before = board.is_capture(mv).then(|| mv.to());
                start = board.after(mv);
            }
            _ => line.push(mv),
        }
        board = board.after(mv);
    }
    let line = Line::new(&start, &line, PvEnd::Evaluated, 0);
    (0..line.moves.len()).step_by(2).flat_map(|at| motifs(&line, at, before)).map(|motif| motif.kind).collect()
}
