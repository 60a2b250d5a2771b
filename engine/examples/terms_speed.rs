//! Times the whole-board terms over the positions of random games.

use dyad_engine::board::Board;
use dyad_engine::eval::terms::{king_terms, material_terms, pawn_terms, piece_terms};
use dyad_engine::eval::{PackedSum, Weights};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::hint::black_box;
use std::time::Instant;

fn positions() -> Vec<Board> {
    let mut all = Vec::new();
    for seed in 0..40u64 {
        let mut random = Pcg64Mcg::new(u128::from(seed) * 2 + 1);
        let mut board = Board::startpos();
        for _ in 0..80 {
            let moves = board.moves();
            if moves.is_empty() {
                break;
            }
            board = board.after(moves[random.random_range(0..moves.len())]);
            all.push(board);
        }
    }
    all
}

fn time(name: &str, boards: &[Board], mut run: impl FnMut(&Board) -> i64) {
    let best = (0..15)
        .map(|_| {
            let start = Instant::now();
            let sum: i64 = boards.iter().map(&mut run).sum();
            black_box(sum);
            start.elapsed().as_nanos() as f64 / boards.len() as f64
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name:10} {best:6.0} ns");
}

fn main() {
    let boards = positions();
    let weights = Weights::material();
    time("material", &boards, |board| {
        let mut sum = PackedSum::new(weights.compiled());
        material_terms(board, &mut sum);
        sum.sum()
    });
    time("pawns", &boards, |board| {
        let mut sum = PackedSum::new(weights.compiled());
        black_box(pawn_terms(board, &mut sum));
        sum.sum()
    });
    let input = |board: &Board| {
        let mut sum = PackedSum::new(weights.compiled());
        let balance = material_terms(board, &mut sum);
        let pawns = pawn_terms(board, &mut sum);
        (balance, pawns, king_terms(board, &pawns, &mut sum))
    };
    let inputs: Vec<_> = boards.iter().map(input).collect();
    let mut next = inputs.iter().cycle();
    time("kings", &boards, |board| {
        let (_, pawns, _) = next.next().expect("a cycle");
        let mut sum = PackedSum::new(weights.compiled());
        black_box(king_terms(board, pawns, &mut sum));
        sum.sum()
    });
    let mut next = inputs.iter().cycle();
    time("pieces", &boards, |board| {
        let (balance, pawns, shelters) = next.next().expect("a cycle");
        let mut sum = PackedSum::new(weights.compiled());
        piece_terms(board, balance, pawns, shelters, &mut sum);
        sum.sum()
    });
}
