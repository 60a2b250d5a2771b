//! Speed of the evaluation: update and evaluate, load weights, apply a training step.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dyad_engine::board::{Board, Delta};
use dyad_engine::eval::layout::{LEN, MATERIAL, PAIRS, PIECE_SQUARE};
use dyad_engine::eval::{Evaluator, FloatWeights, Weights};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// Material, and random weights for the features `first..end`.
fn floats(first: usize, end: usize) -> FloatWeights {
    let mut random = Pcg64::seed_from_u64(1);
    let mut weights = FloatWeights::material();
    for feature in first..end {
        weights.mg[feature] += random.random_range(-60.0..60.0);
        weights.eg[feature] += random.random_range(-60.0..60.0);
    }
    weights
}

fn compiled(floats: &FloatWeights) -> Weights {
    Weights::from_floats(floats, Value::Null).expect("random weights are small")
}

/// A position and its successors.
struct Node {
    board: Board,
    children: Vec<(Delta, Board)>,
}

/// Positions of random games, enough to exceed the L1 cache with the rows they use.
fn nodes() -> Vec<Node> {
    let mut random = Pcg64::seed_from_u64(2);
    let mut nodes = Vec::new();
    while nodes.len() < 200 {
        let mut board = Board::startpos();
        for ply in 0..100 {
            let moves = board.moves();
            if moves.is_empty() {
                break;
            }
            if ply % 10 == 5 {
                let child = |&mv: &_| {
                    let mut next = board;
                    let delta = board.make_move(mv, &mut next);
                    (delta, next)
                };
                nodes.push(Node { board, children: moves.iter().map(child).collect() });
            }
            board = board.after(moves[random.random_range(0..moves.len())]);
        }
    }
    nodes
}

/// Make a move, evaluate, take it back.
fn evaluation(criterion: &mut Criterion) {
    let nodes = nodes();
    let children = nodes.iter().map(|node| node.children.len() as u64).sum();
    let mut group = criterion.benchmark_group("evaluate");
    group.throughput(Throughput::Elements(children));
    let kinds = [
        ("piece-square only", 0, PIECE_SQUARE.range().end),
        ("pairs without terms", PAIRS.start, LEN),
        ("terms without pairs", 0, PAIRS.start),
        ("everything", 0, LEN),
    ];
    for (name, first, end) in kinds {
        let weights = Arc::new(compiled(&floats(first, end)));
        let at = |node: &Node| {
            let mut evaluator = Evaluator::new(weights.clone());
            evaluator.reset(&node.board);
            evaluator
        };
        let mut evaluators: Vec<_> = nodes.iter().map(at).collect();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut sum = 0;
                for (evaluator, node) in evaluators.iter_mut().zip(&nodes) {
                    for (delta, board) in &node.children {
                        evaluator.push(delta);
                        sum += evaluator.evaluate(board);
                        evaluator.pop();
                    }
                }
                black_box(sum)
            })
        });
    }
    group.finish();
}

fn weights(criterion: &mut Criterion) {
    let floats = floats(0, LEN);
    let weights = compiled(&floats);
    let text = weights.to_json();
    let mut group = criterion.benchmark_group("weights");
    group
        .bench_function("load", |bencher| bencher.iter(|| Weights::from_json(black_box(&text)).map(|w| w.units.scale)));
    group.bench_function("from floats", |bencher| bencher.iter(|| compiled(black_box(&floats)).units.scale));
    let mut random = Pcg64::seed_from_u64(3);
    let changed: Vec<usize> = (0..20_000).map(|_| random.random_range(PIECE_SQUARE.range().end..LEN)).collect();
    for (name, knight) in [("refresh 20,000", 0.0), ("refresh 20,000 and material", 0.1)] {
        let mut next = floats.clone();
        next.mg[MATERIAL.nth(1)] += knight;
        for &feature in &changed {
            next.mg[feature] += 1.0;
        }
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || weights.clone(),
                |weights| weights.refresh(changed.iter().copied(), &next).map(|()| weights.units.scale),
                BatchSize::LargeInput,
            )
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(2));
    targets = evaluation, weights
}
criterion_main!(benches);
