//! Quality of a move model on players it was not trained on.
//!
//! The held-out players of a record file are few. [`cross_validated`] measures on all players: they are split into
//! folds, and each fold is tested with a model trained without its players.

use std::collections::HashSet;

use dyad_engine::levels::analysis::DEPTHS;
use dyad_engine::levels::features::loss;
use dyad_engine::levels::model::SkillLevel;
use dyad_engine::value::MATE;
use dyad_formats::error::Error;
use dyad_formats::hash;

use crate::base::parallel::ordered_for_each;
use crate::levels::examples::MoveExample;
use crate::levels::training::{self, ModelQuality, likeliest, quality};

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

impl Row {
    /// Merges two rows of the same band and ratings.
    #[must_use]
    fn with(mut self, other: &Row) -> Row {
        let [merge, mate_rates] =
            [(self.own.count, other.own.count), (self.mates, other.mates)].map(|(here, there)| {
                let share = there as f64 / (here + there).max(1) as f64;
                move |mean: &mut f64, other: f64| *mean += share * (other - *mean)
            });
        let qualities = self.models.iter_mut().chain([&mut self.own]);
        for (quality, other) in qualities.zip(other.models.iter().chain([&other.own])) {
            quality.count += other.count;
            merge(&mut quality.loss, other.loss);
            merge(&mut quality.accuracy, other.accuracy);
        }
        let shares = self.best.iter_mut().chain(&mut self.human).chain(&mut self.model);
        for (share, &other) in shares.zip(other.best.iter().chain(&other.human).chain(&other.model)) {
            merge(share, other);
        }
        self.mates += other.mates;
        self.mate_rates.iter_mut().zip(other.mate_rates).for_each(|(share, other)| mate_rates(share, other));
        self
    }
}

/// Measures models on players they were not trained on: `folds` trainings with the same settings, each without one fold
/// of the players and all their games. Returns a row for each band.
///
/// # Errors
/// When a training cannot be started.
pub fn cross_validated(
    settings: &training::LevelSettings,
    folds: u32,
    bands: &[u32],
    ratings: &[f64],
    examples: &[MoveExample],
    threads: usize,
    mut report: impl FnMut(),
) -> Result<Vec<Row>, Error> {
    let fold = |example: &MoveExample| (hash::fold(hash::mix(settings.seed), example.player) % u64::from(folds)) as u32;
    let mut folded: Vec<Vec<Row>> = Vec::new();
    ordered_for_each(
        threads,
        0..folds,
        || Ok::<_, Error>(()),
        |(), number| {
            let tested: Vec<&MoveExample> = examples.iter().filter(|example| fold(example) == number).collect();
            let games: HashSet<u64> = tested.iter().map(|example| example.game).collect();
            let training_set: Vec<&MoveExample> =
                examples.iter().filter(|example| fold(example) != number && !games.contains(&example.game)).collect();
            let parameters = training::train(settings, &training_set, |_, _| ());
            Ok(bands.iter().map(|&band| row(&parameters, band, ratings, &tested)).collect::<Vec<Row>>())
        },
        |rows| {
            folded.push(rows);
            report();
            Ok(())
        },
    )?;
    let sum = |sums: Vec<Row>, rows: Vec<Row>| sums.into_iter().zip(&rows).map(|(sum, row)| sum.with(row)).collect();
    Ok(folded.into_iter().reduce(sum).unwrap_or_default())
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
#[must_use]
pub fn losses(example: &MoveExample) -> Vec<f64> {
    let highest = |depth: usize| example.values.iter().map(|values| values[depth]).max().unwrap_or(0);
    let best = std::array::from_fn(highest);
    example.values.iter().map(|values| loss(values, &best)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::testing::examples;

    /// With as many folds as players, each player is tested with the model of the other game alone; no band is counted
    /// twice.
    #[test]
    fn players_are_tested_with_models_trained_without_them() {
        let examples: Vec<MoveExample> =
            examples().into_iter().map(|example| MoveExample { ply: FIRST_PLY, ..example }).collect();
        let settings = training::LevelSettings { epochs: 3, batch: 4, ..training::LevelSettings::default() };
        let (bands, ratings) = ([1200, 1400, 2000, 2200], [1200.0, 2200.0]);
        let measured = |folds, threads| {
            let mut reports = 0;
            let rows =
                cross_validated(&settings, folds, &bands, &ratings, &examples, threads, || reports += 1).unwrap();
            assert_eq!(reports, folds);
            rows
        };
        let rows = measured(64, 1);
        for (row, band) in rows.iter().zip(bands) {
            let (tested, others): (Vec<&MoveExample>, Vec<&MoveExample>) =
                examples.iter().partition(|example| example.band == band);
            let of_other_games: Vec<&MoveExample> =
                others.into_iter().filter(|example| example.game != tested[0].game).collect();
            let alone = super::row(&training::train(&settings, &of_other_games, |_, _| ()), band, &ratings, &tested);
            assert_eq!((row.own.count, row.mates), (tested.len(), alone.mates));
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            assert!(close(row.own.loss, alone.own.loss), "{band}: {row:?} {alone:?}");
            assert!(
                row.models
                    .iter()
                    .zip(&alone.models)
                    .all(|(a, b)| close(a.loss, b.loss) && close(a.accuracy, b.accuracy))
            );
            assert!(close(row.human[0], alone.human[0]) && close(row.model[0], alone.model[0]));
        }
        let text = format!("{rows:?}");
        assert_eq!(format!("{:?}", measured(64, 3)), text);
        // With a single fold there is nothing to train on.
        let untrained = measured(1, 1);
        let all: Vec<&MoveExample> = examples.iter().collect();
        let start = super::row(&dyad_engine::levels::model::start(), 1200, &ratings, &all);
        assert_eq!(format!("{:?}", untrained[0]), format!("{start:?}"));
    }

    #[test]
    fn rows_add_up() {
        let examples = examples();
        let examples: Vec<MoveExample> =
            examples.into_iter().map(|example| MoveExample { ply: FIRST_PLY, band: 1200, ..example }).collect();
        let parameters = dyad_engine::levels::model::start();
        let all: Vec<&MoveExample> = examples.iter().collect();
        let [first, second, both] =
            [&all[..5], &all[5..], &all[..]].map(|examples| row(&parameters, 1200, &[1000.0, 2000.0], examples));
        let sum = first.with(&second);
        let numbers = |row: &Row| {
            let qualities = row.models.iter().chain([&row.own]).flat_map(|quality| [quality.loss, quality.accuracy]);
            qualities.chain(row.best).chain(row.human).chain(row.model).chain(row.mate_rates).collect::<Vec<f64>>()
        };
        assert_eq!((sum.own.count, sum.mates), (both.own.count, both.mates));
        assert!(both.mates > 0);
        for (sum, both) in numbers(&sum).into_iter().zip(numbers(&both)) {
            assert!((sum - both).abs() < 1e-12, "{sum} {both}");
        }
    }
}
