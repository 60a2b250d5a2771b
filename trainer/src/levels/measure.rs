//! What a move model is worth on players it was not trained on.

use dyad_engine::levels::analysis::DEPTHS;
use dyad_engine::levels::cues::loss;
use dyad_engine::levels::model::Level;
use dyad_engine::value::MATE;

use crate::levels::examples::Example;
use crate::levels::training::{Quality, likeliest, quality};

/// Moves before this ply come out of books; published figures leave them out.
pub const FIRST_PLY: u32 = 10;
/// Losses that are counted as blunders, in pawns.
pub const LOSSES: [f64; 3] = [1.0, 2.0, 5.0];

/// What was measured of one band.
#[derive(Clone, Debug)]
pub struct Row {
    /// The band.
    pub band: u32,
    /// The model at each rating asked for.
    pub models: Vec<Quality>,
    /// The model at the players' own ratings.
    pub own: Quality,
    /// Accuracy of the move with the best value at each depth.
    pub best: [f64; DEPTHS],
    /// Share of the moves played that lose so much by the deepest values.
    pub human: [f64; LOSSES.len()],
    /// What the model at the players' own ratings expects of that.
    pub model: [f64; LOSSES.len()],
    /// Positions with a mate in one.
    pub mates: usize,
    /// Share of them in which it was played, and what the model expects of that.
    pub mated: [f64; 2],
}

/// Measures a model at these ratings on the held-out examples of a band.
#[must_use]
pub fn row(parameters: &[f64], band: u32, ratings: &[f64], examples: &[Example]) -> Row {
    let of_band = || examples.iter().filter(|example| example.test && example.band == band && example.ply >= FIRST_PLY);
    let mut best = [0.0; DEPTHS];
    let (mut mates, mut mated) = (0, [0.0; 2]);
    let (mut human, mut model) = ([0.0; LOSSES.len()], [0.0; LOSSES.len()]);
    for example in of_band() {
        for (depth, share) in best.iter_mut().enumerate() {
            let values: Vec<f64> = example.values.iter().map(|values| f64::from(values[depth])).collect();
            *share += f64::from(u8::from(likeliest(&values) == example.played));
        }
        let losses = losses(example);
        let is_mate = |index: usize| example.values[index][1] >= MATE - 1;
        let moves = Level::new(parameters, example.rating).predict(&example.choice).moves;
        for (index, loss) in LOSSES.iter().enumerate() {
            human[index] += f64::from(u8::from(losses[example.played] >= *loss));
            model[index] += moves.iter().zip(&losses).filter(|(_, lost)| *lost >= loss).map(|(p, _)| p).sum::<f64>();
        }
        if (0..moves.len()).any(is_mate) {
            mates += 1;
            mated[0] += f64::from(u8::from(is_mate(example.played)));
            mated[1] += (0..moves.len()).filter(|&index| is_mate(index)).map(|index| moves[index]).sum::<f64>();
        }
    }
    let count = of_band().count().max(1) as f64;
    Row {
        band,
        models: ratings.iter().map(|&rating| quality(parameters, Some(rating), of_band())).collect(),
        own: quality(parameters, None, of_band()),
        best: best.map(|share| share / count),
        human: human.map(|share| share / count),
        model: model.map(|share| share / count),
        mates,
        mated: mated.map(|share| share / mates.max(1) as f64),
    }
}

/// What each move loses, in pawns.
#[must_use]
pub fn losses(example: &Example) -> Vec<f64> {
    let highest = |depth: usize| example.values.iter().map(|values| values[depth]).max().unwrap_or(0);
    let best = std::array::from_fn(highest);
    example.values.iter().map(|values| loss(values, &best)).collect()
}
