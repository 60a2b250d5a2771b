//! Positions as they stand in the tree of a search, from positions of games.
//!
//! An evaluation is asked about leaves of search trees. Those are not positions of games: somebody has just hung a piece,
//! moved the king away or opened a file for no reason, and was allowed to. Weights that learn from games alone never see
//! what such moves cost. So each position goes astray by some random moves, half of them any legal move and half of them
//! one that loses nothing by static exchange, and then to the leaf of its quiescence, where evaluations are made.
//! Nothing is known of the result, so results, moves and scores are left out: `label` searches for new ones.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::{Board, ChessMove};
use dyad_engine::eval::Weights;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::json;

use crate::base::atomic::check_output;
use crate::base::error::Error;
use crate::base::hash;
use crate::data::leaves::Leaves;
use crate::data::packed::{Packed, Sample};
use crate::data::samples::{SampleFile, SampleWriter, Summary};

/// Leads every sample of `input` astray by so many random moves and writes the leaves to `out`. A position of the game
/// gives `copies` of them, or fewer: where the game is over or has no quiet leaf, nothing is written.
///
/// # Errors
/// When a file cannot be read or written, or `plies` is empty.
pub fn stray(
    input: &SampleFile,
    out: &Path,
    plies: RangeInclusive<u32>,
    copies: u32,
    seed: u64,
    weights: &Arc<Weights>,
) -> Result<Summary, Error> {
    check_output(out, [input.path()])?;
    if plies.is_empty() {
        return Err(Error::Settings(format!("{} to {} random moves", plies.start(), plies.end())));
    }
    let source = input.summary();
    let settings = json!({
        "stray": { "plies": [plies.start(), plies.end()], "copies": copies, "seed": seed },
        "by": format!("dyad with {} {}", weights.meta.name, weights.id()),
        "input": { "identity": format!("{:016x}", source.identity), "made": source.settings },
    });
    let mut writer = SampleWriter::create(out, settings)?;
    let (mut leaves, mut number) = (Leaves::new(weights), 0u64);
    for block in input.blocks()? {
        for packed in block? {
            let sample = packed.unpack().map_err(Error::Settings)?;
            let mut random = Pcg64::seed_from_u64(hash::fold(hash::mix(seed), number));
            number += 1;
            let mut starts_game = sample.starts_game;
            for _ in 0..copies {
                let board = astray(&sample.board, random.random_range(plies.clone()), &mut random);
                let Some(board) = board.and_then(|board| leaves.find(&board)) else { continue };
                let starts_game = std::mem::take(&mut starts_game);
                let lost = Sample { desired: None, result: None, score: None, decided: true, ..sample };
                writer.push(&Packed::new(&Sample { board, starts_game, ..lost }))?;
            }
        }
    }
    writer.finish()
}

/// The position after so many random moves; none where the game ends before.
fn astray(board: &Board, plies: u32, random: &mut Pcg64) -> Option<Board> {
    let mut board = *board;
    for _ in 0..plies {
        let moves = board.moves();
        let sound: Vec<ChessMove> = match random.random_range(0..2) {
            0 => moves.iter().copied().filter(|&mv| board.see_ge(mv, 0)).collect(),
            _ => Vec::new(),
        };
        let from = if sound.is_empty() { &moves[..] } else { &sound[..] };
        if from.is_empty() {
            return None;
        }
        board = board.after(from[random.random_range(0..from.len())]);
    }
    Some(board)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::testing::Temporary;
    use crate::data::testing::walk;
    use std::collections::HashSet;

    fn strayed(seed: u64, copies: u32) -> (Vec<Sample>, Vec<Sample>) {
        let folder = Temporary::folder();
        let (from, to) = (folder.join("in.samples"), folder.join("out.samples"));
        let samples = walk(300);
        let mut writer = SampleWriter::create(&from, json!({})).unwrap();
        samples.iter().for_each(|sample| writer.push(&Packed::new(sample)).unwrap());
        writer.finish().unwrap();
        let input = SampleFile::open(&from).unwrap();
        stray(&input, &to, 1..=3, copies, seed, &Arc::new(Weights::material())).unwrap();
        let output = SampleFile::open(&to).unwrap();
        let strayed = (0..output.len()).map(|index| output.read(index).unwrap()).collect();
        (samples, strayed)
    }

    fn fens(samples: &[Sample]) -> Vec<String> {
        samples.iter().map(|sample| sample.board.fen()).collect()
    }

    /// Other positions than those of the games, quiet, without what is not known of them, and of the same side of the split.
    #[test]
    fn what_goes_astray() {
        let (samples, strayed) = strayed(1, 1);
        assert!(strayed.len() > samples.len() / 2, "{}", strayed.len());
        let known: HashSet<String> = fens(&samples).into_iter().collect();
        let new = fens(&strayed).iter().filter(|fen| !known.contains(*fen)).count();
        assert!(new > strayed.len() * 9 / 10, "{new}");
        for sample in &strayed {
            assert!(sample.result.is_none() && sample.score.is_none() && sample.desired.is_none());
            assert!(sample.board.has_legal_move() && !sample.board.in_check(), "{}", sample.board);
        }
        let tests = |samples: &[Sample]| samples.iter().filter(|sample| sample.test).count();
        assert!((1..=tests(&samples)).contains(&tests(&strayed)));
    }

    #[test]
    fn it_follows_from_the_seed() {
        let (samples, once) = strayed(5, 2);
        assert!(once.len() > samples.len());
        assert_eq!(fens(&once), fens(&strayed(5, 2).1));
        assert_ne!(fens(&once), fens(&strayed(6, 2).1));
    }
}
