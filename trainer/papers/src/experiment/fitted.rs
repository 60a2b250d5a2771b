//! Steps of the experiment that makes the built-in weights: self-play games, fits, and means.

use std::fs;
use std::path::Path;

use dyad_engine::eval::{FloatWeights, Weights};
use dyad_formats::error::Error;
use dyad_formats::score::ScoreSide;
use dyad_trainer::arena::openings;
use dyad_trainer::base::context::Progress;
use dyad_trainer::data::leaves::at_leaves;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::data::prepare;
use dyad_trainer::fit::averaging::{in_units_of_search, mean};
use dyad_trainer::fit::calibration::{pawns_of_e, scale_like};
use dyad_trainer::fit::regression::{self, Calibration, Data, FitSettings, Target};
use dyad_trainer::selftrain::generator::{GeneratorProgress, GeneratorSettings, generate};
use serde_json::{Value as Json, json};

use super::plan::Step;
use super::work::{BOOK_PLIES, SAMPLES, StepOutput, StepRunner, samples_made, save};

/// The games, until their positions are sampled.
const OWN_GAMES: &str = "games.pgn";

impl StepRunner<'_, '_> {
    /// Plays the remaining games and samples their positions.
    pub(super) fn own_games(
        &mut self,
        folder: &Path,
        weights: &str,
        settings: &GeneratorSettings,
        filters: &Filters,
    ) -> Result<StepOutput, Error> {
        let (weights, games, out) = (self.weights(weights)?, folder.join(OWN_GAMES), folder.join(SAMPLES));
        let openings = match &self.plan.inputs.openings {
            Some(path) => openings::read(path, BOOK_PLIES, |_| ())?,
            None => Vec::new(),
        };
        if !out.exists() {
            let mut progress = |played: GeneratorProgress| Some(Progress { done: played.games, of: settings.games });
            let finished =
                self.with_progress(&mut progress, |context| generate(settings, &weights, &openings, &games, context))?;
            if !finished {
                return Err(Error::Stopped);
            }
            let draw = prepare::PrepareSettings {
                inputs: vec![games.clone()],
                scores: Some(ScoreSide::Mover),
                filters: filters.clone(),
                seed: self.plan.seed,
                ..prepare::PrepareSettings::default()
            };
            self.draw(&draw, &out, settings.games)?;
        }
        // The positions contain all that is needed, in a fifth of the space.
        if games.exists() {
            fs::remove_file(&games).map_err(Error::file("remove", &games))?;
        }
        samples_made(&out, json!({ "own-games": settings.games, "weights": weights.id() }))
    }

    /// Fits weights to samples resolved by quiescence with other weights; restarted if it was stopped.
    pub(super) fn fit(
        &mut self,
        step: &Step,
        [samples, leaves]: [&str; 2],
        settings: &FitSettings,
        chances: &str,
        scale_of: &str,
    ) -> Result<StepOutput, Error> {
        let all = self.samples(samples)?.load()?;
        let all = at_leaves(&all, &self.weights(leaves)?, self.context.threads, self.context.stop)?;
        let target = Target { pawns: pawns_of_e(&all)?, ..settings.target };
        let settings = FitSettings { target, ..settings.clone() };
        let data = Data::of(&all, &target)?;
        drop(all);
        let of = data.train.len() as u64;
        let mut progress = |event: regression::FitEvent| {
            event.done(of).map(|done| Progress { done, of: u64::from(settings.epochs) * of })
        };
        let start = Weights::material();
        let fitted = self.with_progress(&mut progress, |context| {
            regression::fit(&settings, &data, &FloatWeights::from(&start), context)
        })?;
        if fitted.stopped {
            return Err(Error::Stopped);
        }
        let made = json!({
            "by": "dyad experiment",
            "experiment": self.plan.name,
            "positions": of,
            "settings": settings,
            "loss": [fitted.start_loss, fitted.test_loss()],
            "of": start.id(),
        });
        // The win rate comes from these games, the search scale from the scores.
        let chances = self.samples(chances)?;
        let weights = fitted.calibrated(made, Calibration::File(&chances), target.pawns);
        let (mut weights, _) = weights.map_err(Error::part(&step.name))?;
        scale_like(&mut weights, &*self.weights(scale_of)?, &data.train, target.pawns)?;
        let mut made = save(&self.folder.join(&step.name), &step.name, weights)?;
        made.result["positions"] = of.into();
        made.result["pawns"] = target.pawns.into();
        made.result["start_loss"] = fitted.start_loss.into();
        made.result["loss"] = fitted.test_loss().into();
        Ok(made)
    }

    /// The weighted mean of sets of weights.
    pub(super) fn mean(&self, step: &Step, shares: &[(String, f64)]) -> Result<StepOutput, Error> {
        let sets = shares.iter().map(|(name, _)| self.weights(name)).collect::<Result<Vec<_>, _>>()?;
        let of: Vec<Json> = sets
            .iter()
            .zip(shares)
            .map(|(weights, (_, share))| json!({ "id": weights.id(), "share": share }))
            .collect();
        let made = json!({ "by": "dyad experiment", "experiment": self.plan.name, "mean-of": of });
        let shares: Vec<(&Weights, f64)> =
            sets.iter().zip(shares).map(|(weights, (_, share))| (&**weights, *share)).collect();
        let weights = in_units_of_search(&mean(&shares), made);
        let mut weights = weights.map_err(Error::part(&step.name))?;
        if let Some(first) = sets.first() {
            weights.units.win_rate = first.units.win_rate;
        }
        save(&self.folder.join(&step.name), &step.name, weights)
    }
}
