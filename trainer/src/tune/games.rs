//! The tuning loop.
//!
//! A batch of trials is played from the same values. Each trial is a pair of games from its own opening with colors
//! swapped, and the results update the values in the order of the trials. So the result depends on the settings, not on
//! the number of threads. Signs and openings come from the seed and the number of the trial. The state is saved in one
//! file, from which a tuning that was stopped resumes and ends bit for bit as an uninterrupted one; a batch that was
//! stopped is played again.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use dyad_formats::files;
use dyad_formats::hash;
use serde::{Deserialize, Serialize};

use crate::arena::matches::{Match, MatchGame, MatchPlayer};
use crate::arena::openings::{self, FILTER_NODES, OpeningSettings, RandomOpenings};
use crate::arena::play::{Adjudication, SearchLimits};
use crate::arena::statistics::Points;
use crate::base::context::{Context, Progress};
use crate::base::parallel::ordered_map;
use crate::tune::spsa::{Parameter, Trial};

/// Trials played from the same values between two updates.
const BATCH: u64 = 16;

/// A tuning.
pub struct Tuning<'a> {
    /// The tuned values.
    pub parameters: Vec<Parameter>,
    /// Makes the weights of a player from its values.
    pub weights: &'a (dyn Fn(&[f64]) -> Result<Weights, Error> + Sync),
    /// Number of trials, pairs of games.
    pub pairs: u64,
    /// Seed of signs and openings.
    pub seed: u64,
    /// Nodes per move.
    pub nodes: u64,
    /// Hash of each player, in megabytes.
    pub hash: usize,
    /// Adjudication rules.
    pub adjudication: Adjudication,
}

/// The state of a tuning, as its file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TuningState {
    parameters: Vec<Parameter>,
    /// Trials played.
    done: u64,
    values: Vec<f64>,
    /// Mean of the values over the trials played of the second half.
    mean: Vec<f64>,
}

impl TuningState {
    /// Adds the values to the mean if trial `number` is in the second half of `all` (Polyak and Juditsky 1992).
    fn average(&mut self, number: u64, all: u64) {
        let count = number.saturating_sub(all / 2);
        for (mean, value) in self.mean.iter_mut().zip(&self.values).filter(|_| count > 0) {
            *mean += (value - *mean) / count as f64;
        }
    }
}

impl Tuning<'_> {
    /// Begins the tuning, or resumes it from the file at `path`, which is saved at least every `checkpoint`. Reports the
    /// pairs played. The tuned values, or `None` if it was stopped.
    ///
    /// # Errors
    /// When values make no weights, or the file cannot be used or written.
    pub fn run(
        &self,
        path: &Path,
        checkpoint: Duration,
        context: &mut Context<Progress>,
    ) -> Result<Option<Vec<f64>>, Error> {
        let weights = |of: fn(&Parameter) -> f64| (self.weights)(&self.parameters.iter().map(of).collect::<Vec<_>>());
        let judge = Arc::new(weights(|of| of.value)?);
        // Check all bounds now, not after hours of games.
        weights(|of| of.min)?;
        weights(|of| of.max)?;
        let mut state = self.state(path)?;
        let mut saved = Instant::now();
        while state.done < self.pairs {
            let numbers = state.done + 1..=(state.done + BATCH).min(self.pairs);
            let trial = |number| Trial::new(&self.parameters, &state.values, self.seed, number, self.pairs);
            let trials: Vec<Trial> = numbers.map(trial).collect();
            let Some(results) = self.play_batch(&trials, &judge, context.threads, context.stop)? else {
                files::write_json(path, &state)?;
                return Ok(None);
            };
            for (trial, pair) in trials.iter().zip(results) {
                let lead: f64 = pair.iter().map(|points| points.halves() as f64 - 1.0).sum();
                trial.update(&self.parameters, &mut state.values, lead);
                state.average(trial.number, self.pairs);
            }
            state.done += trials.len() as u64;
            (context.on_event)(Progress { done: state.done, of: self.pairs });
            if saved.elapsed() >= checkpoint || state.done == self.pairs {
                files::write_json(path, &state)?;
                saved = Instant::now();
            }
        }
        Ok(Some(state.mean))
    }

    /// The saved state, or that before the first trial.
    fn state(&self, path: &Path) -> Result<TuningState, Error> {
        let values: Vec<f64> = self.parameters.iter().map(|parameter| parameter.value).collect();
        let mean = vec![0.0; values.len()];
        let start = TuningState { parameters: self.parameters.clone(), done: 0, values, mean };
        if !path.exists() {
            return Ok(start);
        }
        let saved: TuningState = files::read_json(path)?;
        let lengths = [saved.values.len(), saved.mean.len()];
        if saved.parameters != start.parameters || lengths != [start.values.len(); 2] || saved.done > self.pairs {
            let problem =
                "it is of a tuning of other parameters or with fewer games; without it the tuning begins again";
            return Err(Error::content(path, "the state of this tuning", problem));
        }
        Ok(saved)
    }

    /// The results of the trials, from the view of the first player, from openings that `judge` finds balanced; `None` if
    /// stopped.
    fn play_batch(
        &self,
        trials: &[Trial],
        judge: &Arc<Weights>,
        threads: usize,
        control: &Control,
    ) -> Result<Option<Vec<[Points; 2]>>, Error> {
        let mut results = Vec::new();
        let stopped = ordered_map(
            threads.min(trials.len()),
            trials.iter(),
            || Ok(openings::opening_filter(Arc::clone(judge), FILTER_NODES)),
            |filter, trial| match self.play(trial, filter, control) {
                Err(Error::Stopped) => Ok(None),
                played => played.map(Some),
            },
            |pair| {
                results.extend(pair);
                Ok(if pair.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            },
            &AtomicBool::new(false),
        )?;
        Ok(stopped.is_none().then_some(results))
    }

    /// Plays the two games of a trial.
    fn play(
        &self,
        trial: &Trial,
        filter: &mut impl FnMut(&Game) -> Value,
        control: &Control,
    ) -> Result<[Points; 2], Error> {
        let player = |values: &Vec<f64>| Ok::<_, Error>(MatchPlayer::new("", Arc::new((self.weights)(values)?)));
        let [a, b] = &trial.players;
        let (limits, adjudication) = (SearchLimits::Nodes(self.nodes), self.adjudication);
        let players = [player(a)?, player(b)?];
        let played = Match { players, limits, hash: self.hash, pairs: 1, threads: 1, adjudication, sprt: None };
        let settings = OpeningSettings::new(hash::fold(hash::mix(self.seed), trial.number));
        let opening = RandomOpenings::new(settings, filter).next().expect("random openings have no end");
        Ok(played.play_pair(0, &opening, control)?.each_ref().map(MatchGame::points))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::averaging::{in_units_of, mean};
    use crate::tune::factors::factors;
    use dyad_engine::board::Board;
    use dyad_formats::testing::Temporary;
    use std::fs;

    /// Runs a tuning of factors of the built-in weights and saves each batch.
    fn run(
        seed: u64,
        path: &Path,
        threads: usize,
        stop: &Control,
        on_event: &mut dyn FnMut(Progress),
    ) -> Result<Option<Vec<f64>>, Error> {
        let base = Weights::embedded();
        let boards = [Board::from_fen("r4rk1/1bq1bppp/p2ppn2/1p6/3NP3/1BN5/PPP1QPPP/R4RK1 b - - 0 14").unwrap()];
        let factors: Vec<_> = factors(&base, &boards).into_iter().take(3).collect();
        let mut parameters: Vec<Parameter> = factors.iter().map(|factor| factor.parameter.clone()).collect();
        parameters.iter_mut().for_each(|parameter| parameter.r_end = 0.2);
        let weights = |values: &[f64]| {
            let mut floats = mean(&[(&base, 1.0)]);
            factors.iter().zip(values).for_each(|(factor, &value)| factor.multiply(&mut floats, value));
            in_units_of(&base, &floats)
        };
        let tuning = Tuning {
            parameters,
            weights: &weights,
            pairs: 40,
            seed,
            nodes: 40,
            hash: 1,
            adjudication: Adjudication { plies: Some(120), ..Adjudication::default() },
        };
        tuning.run(path, Duration::ZERO, &mut Context { threads, stop, on_event })
    }

    #[test]
    fn the_result_does_not_depend_on_threads_or_stops() {
        let folder = Temporary::folder();
        let [whole, parts] = ["whole.json", "parts.json"].map(|name| folder.join(name));
        let mut batches = 0;
        let values = run(1, &whole, 1, &Control::new(false), &mut |_| batches += 1).unwrap().unwrap();
        assert!(batches == 3 && values.iter().any(|&value| value != 1.0), "{values:?}");
        // Two threads, and a stop after each batch.
        let mut parts_run = 0;
        let last = loop {
            parts_run += 1;
            let control = Control::new(false);
            if let Some(values) = run(1, &parts, 2, &control, &mut |_| control.stop()).unwrap() {
                break values;
            }
        };
        assert!(parts_run == 3 && last == values, "{parts_run}");
        assert_eq!(fs::read(&whole).unwrap(), fs::read(&parts).unwrap());
        // The mean is not that of the last values alone, and a finished tuning stays finished.
        assert_ne!(files::read_json::<TuningState>(&parts).unwrap().values, values);
        let again = run(1, &parts, 1, &Control::new(false), &mut |_| panic!("a game too many")).unwrap();
        assert_eq!(again, Some(values));
    }

    /// A decimal that is off in the last place would change the end.
    #[test]
    fn a_state_is_read_bit_for_bit() {
        let folder = Temporary::folder();
        let path = folder.join("tuning.json");
        let values: Vec<f64> =
            (1..2000).map(|n| f64::from(n).sqrt() / 1000.0).chain([0.968_861_304_637_504_9]).collect();
        let state = TuningState { parameters: Vec::new(), done: 3, mean: values.clone(), values };
        files::write_json(&path, &state).unwrap();
        assert_eq!(files::read_json::<TuningState>(&path).unwrap(), state);
    }

    #[test]
    fn a_state_that_is_damaged_or_of_another_tuning_is_refused() {
        let folder = Temporary::folder();
        let path = folder.join("tuning.json");
        let refused = |text: &[u8]| {
            fs::write(&path, text).unwrap();
            let error = run(1, &path, 1, &Control::new(false), &mut |_| panic!("a game")).unwrap_err().to_string();
            assert!(error.contains("tuning.json") && fs::read(&path).unwrap() == text, "{error}");
            error
        };
        refused(b"");
        refused(b"{\"done\": 3}");
        let other = TuningState { parameters: Vec::new(), done: 1, values: Vec::new(), mean: Vec::new() };
        assert!(refused(&serde_json::to_vec(&other).unwrap()).contains("other parameters"));
    }
}
