//! Training examples: positions with desired moves, by index.

use dyad_engine::board::{Board, Move};
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::packed::Sample;
use dyad_formats::samples::SampleFile;
use dyad_formats::score::Score;

/// A training example.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The position.
    pub board: Board,
    /// Its desired move.
    pub desired: Move,
    /// Result of the game for the side to move, 0 to 1, if known.
    pub result: Option<f64>,
    /// A searched score for the side to move, in units of evaluation, if there is one.
    pub score: Option<f64>,
    /// Whether the desired move has the margin over the second-best move. Otherwise it is not compared with its
    /// siblings, and only result and score are learned, at its leaf.
    pub has_margin: bool,
}

/// A source of examples, read by all threads at once.
pub trait Examples: Sync {
    /// Identity: equal if and only if all examples are equal.
    fn identity(&self) -> String;

    /// The examples that are kept for testing, or the others.
    fn indices(&self, test: bool) -> Vec<u32>;

    /// Example `index`.
    fn get(&self, index: usize) -> Result<Example, Error>;
}

impl Example {
    /// The example of a sample, its score in the units of the initial weights `start`; `None` for a sample without a
    /// desired move.
    pub fn new(sample: &Sample, start: &Weights) -> Option<Example> {
        let score = |Score(score)| {
            let centipawns = f64::from(score.clamp(-Score::LARGEST, Score::LARGEST));
            start.units.evaluation_of(centipawns, start.phase(&sample.board))
        };
        Some(Example {
            board: sample.board,
            desired: sample.desired?,
            result: sample.points(),
            score: sample.score.map(score),
            has_margin: sample.has_margin,
        })
    }
}

/// The samples of a file.
pub struct FileExamples<'a> {
    /// The file.
    pub file: &'a SampleFile,
    /// The initial weights, in whose units the scores are.
    pub start: &'a Weights,
}

impl Examples for FileExamples<'_> {
    fn identity(&self) -> String {
        format!("{:016x}", self.file.summary.identity)
    }

    fn indices(&self, test: bool) -> Vec<u32> {
        self.file.indices(test)
    }

    fn get(&self, index: usize) -> Result<Example, Error> {
        let FileExamples { file, start } = *self;
        let no_move = || Error::content(&file.path, format!("sample {index}"), "it has no desired move");
        Example::new(&file.read(index)?, start).ok_or_else(no_move)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::walk;

    /// A score is that of the search with these weights: 100 centipawns win half of the games in every phase.
    #[test]
    fn scores_are_in_the_units_of_the_weights() {
        let sample = walk(50).into_iter().find(|sample| sample.desired.is_some()).unwrap();
        let sample = Sample { score: Some(Score(100)), ..sample };
        let mut start = Weights::material();
        for (scale, units) in [(1024, 360.0), (512, 720.0)] {
            start.units.scale = scale;
            assert_eq!(Example::new(&sample, &start).unwrap().score, Some(units));
        }
        let start = Weights::embedded();
        let example = Example::new(&sample, &start).unwrap();
        let value = start.units.scaled(example.score.unwrap().round() as i32);
        assert_eq!(start.units.win_rate.centipawns(value, start.phase(&example.board)), 100);
    }
}
