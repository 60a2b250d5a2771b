//! Quality of a move model on players it was not trained on.

use dyad_engine::value::MATE;
use dyad_levels::analysis::DEPTHS;
use dyad_levels::features::loss;
use dyad_levels::model::SkillLevel;

use crate::levels::examples::MoveExample;
use crate::levels::training::{ModelQuality, likeliest, quality};

/// Moves before this ply are opening theory; published figures leave them out.
pub const FIRST_PLY: u32 = 10;
/// Thresholds of blunders, in pawns.
pub const LOSSES: [f64; 3] = [1.0, 2.0, 5.0];

/// Measurements of one band.
#[derive(Clone, Debug)]
pub struct Row {
    /// The band.
    pub band: u32,
    /// The model at each requested rating.
    pub models: Vec<ModelQuality>,
    /// The model at the players' own ratings.
    pub own: ModelQuality,
    /// Accuracy of the move with the best value at each depth.
    pub best: [f64; DEPTHS],
    /// Fraction of the moves played that lose at least each of [`LOSSES`], by the deepest values.
    pub human: [f64; LOSSES.len()],
    /// The same fractions as predicted by the model at the players' own ratings.
    pub model: [f64; LOSSES.len()],
    /// Positions with a mate in one.
    pub mates: usize,
    /// Fraction of them in which it was played, and the model's prediction.
    pub mate_rates: [f64; 2],
}

/// Measures a model at these ratings on the examples of a band.
#[must_use]
pub fn row(parameters: &[f64], band: u32, ratings: &[f64], examples: &[&MoveExample]) -> Row {
    let of_band = || examples.iter().copied().filter(|example| example.band == band && example.ply >= FIRST_PLY);
    let mut best = [0.0; DEPTHS];
    let (mut mates, mut mate_rates) = (0, [0.0; 2]);
    let (mut human, mut model) = ([0.0; LOSSES.len()], [0.0; LOSSES.len()]);
    for example in of_band() {
        for (depth, share) in best.iter_mut().enumerate() {
            let values: Vec<f64> = example.values.iter().map(|values| f64::from(values[depth])).collect();
            *share += f64::from(u8::from(likeliest(&values) == example.played));
        }
        let losses = losses(example);
        let is_mate = |index: usize| example.values[index][1] >= MATE - 1;
        let moves = SkillLevel::new(parameters, example.rating).predict(&example.input).moves;
        for (index, loss) in LOSSES.iter().enumerate() {
            human[index] += f64::from(u8::from(losses[example.played] >= *loss));
            model[index] += moves.iter().zip(&losses).filter(|(_, lost)| *lost >= loss).map(|(p, _)| p).sum::<f64>();
        }
        if (0..moves.len()).any(is_mate) {
            mates += 1;
            mate_rates[0] += f64::from(u8::from(is_mate(example.played)));
            mate_rates[1] += (0..moves.len()).filter(|&index| is_mate(index)).map(|index| moves[index]).sum::<f64>();
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
        mate_rates: mate_rates.map(|share| share / mates.max(1) as f64),
    }
}

/// The loss of each move, in pawns.
fn losses(example: &MoveExample) -> Vec<f64> {
    let highest = |depth: usize| example.values.iter().map(|values| values[depth]).max().unwrap_or(0);
    let best = std::array::from_fn(highest);
    example.values.iter().map(|values| loss(values, &best)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::testing::examples;

    #[test]
    fn a_row_has_the_moves_of_its_band_behind_the_opening() {
        let examples: Vec<MoveExample> = examples()
            .into_iter()
            .zip(0..)
            .map(|(example, number)| MoveExample { ply: FIRST_PLY - u32::from(number == 0), band: 1200, ..example })
            .collect();
        let parameters = dyad_levels::model::start();
        let all: Vec<&MoveExample> = examples.iter().collect();
        let whole = row(&parameters, 1200, &[1000.0, 2000.0], &all);
        assert_eq!((whole.own.count, row(&parameters, 1400, &[], &all).own.count), (all.len() - 1, 0));
        assert!(whole.mates > 0 && whole.mate_rates.iter().all(|share| (0.0..=1.0).contains(share)));
        // Means over parts add up to those over all.
        let parts = [&all[1..5], &all[5..]].map(|part| (part.len() as f64, row(&parameters, 1200, &[1000.0], part)));
        let mean = |of: &dyn Fn(&Row) -> f64| {
            parts.iter().map(|(count, part)| count * of(part)).sum::<f64>() / whole.own.count as f64
        };
        let values: [&dyn Fn(&Row) -> f64; 5] =
            [&|row| row.own.loss, &|row| row.models[0].accuracy, &|row| row.best[1], &|row| row.human[0], &|row| {
                row.model[0]
            }];
        for value in values {
            assert!((mean(value) - value(&whole)).abs() < 1e-12, "{} {}", mean(value), value(&whole));
        }
    }
}
