//! Times the whole-board terms over the positions of random games.

use dyad_engine::board::Board;
use dyad_engine::eval::terms::{material_terms, pawn_terms, piece_terms};
use dyad_engine::eval::weights::{Total, Weights};
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

fn time(what: &str, boards: &[Board], mut run: impl FnMut(&Board) -> i64) {
    let best = (0..15)
        .map(|_| {
            let start = Instant::now();
            let sum: i64 = boards.iter().map(&mut run).sum();
            black_box(sum);
            start.elapsed().as_nanos() as f64 / boards.len() as f64
        })
        .fold(f64::INFINITY, f64::min);
    println!("{what:10} {best:6.0} ns");
}

fn main() {
    let boards = positions();
    let weights = Weights::material();
    time("material", &boards, |board| {
        let mut total = Total::new(&weights);
        material_terms(board, &mut total);
        total.sum()
    });
    time("pawns", &boards, |board| {
        let mut total = Total::new(&weights);
        black_box(pawn_terms(board, &mut total));
        total.sum()
    });
    let infos: Vec<_> = boards.iter().map(|board| pawn_terms(board, &mut Total::new(&weights))).collect();
    let mut next = infos.iter().cycle();
    time("pieces", &boards, |board| {
        let mut total = Total::new(&weights);
        piece_terms(board, next.next().expect("a cycle"), &mut total);
        total.sum()
    });
}
