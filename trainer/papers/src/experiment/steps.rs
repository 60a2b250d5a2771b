//! The steps of experiments: each calls the tool that does the work. Weights are named by the step that makes them,
//! `default`, `material`, or the stem of an input file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::eval::layout::{self, MATERIAL};
use dyad_engine::eval::units::SCALE_ONE;
use dyad_engine::eval::{FloatWeights, Units, Weights};
use dyad_formats::error::Error;
use dyad_formats::hash;
use dyad_formats::samples::{SampleFile, SampleWriter};
use dyad_formats::weights_file;
use dyad_trainer::arena::matches::{Match, MatchEnd, MatchPlayer, MatchRecord};
use dyad_trainer::arena::openings::{self, Opening, OpeningSettings, RandomOpenings};
use dyad_trainer::arena::pgn_writer::today;
use dyad_trainer::arena::play::{Adjudication, SearchLimits, WinRule};
use dyad_trainer::arena::statistics::Estimate;
use dyad_trainer::base::context::Progress;
use dyad_trainer::base::json_lines;
use dyad_trainer::data::label::{self, label};
use dyad_trainer::data::positions::Filters;
use dyad_trainer::data::prepare::{PrepareEvent, PrepareSettings, prepare};
use dyad_trainer::learn::examples::FileExamples;
use dyad_trainer::learn::folder::{LOG, iteration_name};
use dyad_trainer::learn::log::{LineKind, LogLine};
use dyad_trainer::learn::ranking::{Ranking, rank};
use dyad_trainer::learn::settings::TrainingSettings;
use dyad_trainer::learn::training::{self, TrainingProgress, TrainingSummary};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::deepchess::network::Network;
use crate::experiment::hand_tuned::hand_tuned;
use crate::experiment::page::{in_percent, interval};
use crate::experiment::run::Run;
use crate::experiment::{BUILT_IN, stem};

const WEIGHTS: &str = "weights.json";
const SAMPLES: &str = "positions.samples";
pub(super) const NETWORK: &str = "network.json";
const GAMES: &str = "games.pgn";
/// Rates of which a training takes the best one, unless the user gives one.
const RATES: [f64; 4] = [1.0, 3.0, 10.0, 30.0];
/// The scale of all weights of a paper's experiment: matches compare evaluations, not scales, and the papers have only
/// the factor gamma, which [`Weights`] apply.
pub(super) const FIXED_SCALE: i32 = SCALE_ONE;
/// Plies of an opening taken from a game.
const BOOK_PLIES: usize = 16;
/// Adjudicates a win once both sides agree on this score.
const WIN: WinRule = WinRule { moves: 3, score: 1500 };

/// How a comparison training ended.
#[derive(Serialize, Deserialize)]
pub(super) struct Trained {
    /// The rate with the best move-match accuracy on the validation games.
    pub rate: f64,
    /// The iteration with the best one at this rate.
    pub best: u32,
    /// Loss and mean weight of each iteration at this rate.
    pub iterations: Vec<[f64; 2]>,
    /// Move-match accuracy on the test games, 0 to 1.
    pub accuracy: Estimate,
    /// Number of features that learned.
    pub features: usize,
}

impl Trained {
    /// The columns of [`Trained::cells`].
    pub const HEAD: [&str; 4] =
        ["Rate", "Loss by iteration", "Mean weight by iteration", "Move-match accuracy, % (95 % interval)"];

    /// How it was trained, and the accuracy.
    pub fn cells(&self) -> [String; 4] {
        let of_all = |index: usize| {
            let numbers: Vec<String> = self.iterations.iter().map(|one| format!("{:.1}", one[index])).collect();
            numbers.join(", ")
        };
        [self.rate.to_string(), of_all(0), of_all(1), interval(in_percent(self.accuracy), 1)]
    }
}

impl Run<'_, '_> {
    pub fn samples(&self, name: &str) -> Result<SampleFile, Error> {
        SampleFile::open(&self.folder_of(name).join(SAMPLES))
    }

    /// The weights with a name.
    pub fn weights(&self, name: &str) -> Result<Arc<Weights>, Error> {
        let input = self.settings.weights.iter().find(|path| stem(path) == name).cloned();
        let path = match BUILT_IN.contains(&name) {
            true => PathBuf::from(name),
            false => input.unwrap_or_else(|| self.folder_of(name).join(WEIGHTS)),
        };
        Ok(weights_file::named(&path)?)
    }

    /// Saves the weights of a step. Returns their hash.
    fn save_weights(&self, name: &str, mut weights: Weights) -> Result<String, Error> {
        weights.meta.name = name.to_string();
        weights_file::save(&weights, &self.folder_of(name).join(WEIGHTS))?;
        Ok(weights.id())
    }

    pub fn network(&self, name: &str) -> Result<Network, Error> {
        Network::load(&self.folder_of(name).join(NETWORK))
    }

    pub fn prepare(
        &mut self,
        name: &str,
        inputs: &[PathBuf],
        filters: Filters,
        count: u64,
        test_percent: f64,
    ) -> Result<(), Error> {
        let (inputs, count, seed) = (inputs.to_vec(), Some(count), self.settings.seed);
        let settings = PrepareSettings { inputs, filters, test_percent, count, seed, ..PrepareSettings::default() };
        self.step(name, |run, folder| {
            let mut progress = |event: PrepareEvent| match event {
                PrepareEvent::Progress { games, .. } => Some(Progress { done: games, of: 0 }),
                PrepareEvent::Broken(_) => None,
            };
            run.with_progress(&mut progress, |context| prepare(&settings, &folder.join(SAMPLES), context))?;
            Ok((run.samples_hash(name)?, ()))
        })
    }

    fn samples_hash(&self, name: &str) -> Result<String, Error> {
        Ok(format!("{:016x}", self.samples(name)?.summary.identity))
    }

    /// Labels samples with a search by the built-in weights.
    pub fn label(&mut self, name: &str, samples: &str, nodes: u64) -> Result<(), Error> {
        self.step(name, |run, folder| {
            let (input, out) = (run.samples(samples)?, folder.join(SAMPLES));
            let settings = label::LabelSettings { nodes, ..label::LabelSettings::default() };
            let weights = Weights::embedded();
            run.with_progress(&mut Some, |context| label(&input, &out, &weights, &settings, context))?;
            Ok((run.samples_hash(name)?, ()))
        })
    }

    /// A part of samples, written when it is first needed: what is learned from, with the held-out games that choose rate
    /// and iteration, or every second held-out game, for the accuracies that are reported.
    fn part(&self, samples: &str, is_test: bool) -> Result<SampleFile, Error> {
        let path = self.folder_of(samples).join(if is_test { "test.samples" } else { "training.samples" });
        if !path.exists() {
            let mut part = SampleWriter::create(&path, json!({ "part-of": samples }))?;
            let mut game = 0;
            for sample in &self.samples(samples)?.samples {
                game += u64::from(sample.starts_game());
                if (sample.is_test() && game % 2 == 0) == is_test {
                    part.push(sample)?;
                }
            }
            part.finish()?;
        }
        SampleFile::open(&path)
    }

    /// Comparison training from Table I in which only some families or groups learn, at the rate that the user gave, else
    /// at this one, else at the best of [`RATES`].
    pub fn train(
        &mut self,
        name: &str,
        samples: &str,
        learn: &[&str],
        mut settings: TrainingSettings,
        rate: Option<f64>,
    ) -> Result<Trained, Error> {
        settings.samples = self.part(samples, false)?.path;
        settings.seed = self.settings.seed;
        settings.keep_going = true;
        let frozen = layout::GROUPS.iter().filter(|group| !is_named(group, learn));
        settings.freeze.extend(frozen.map(|group| group.name.to_string()));
        settings.check().map_err(Error::Settings)?;
        let several = &RATES[..self.pick([2, 4, 4, 4])];
        let rates = self.settings.rate.or(rate).map_or(several.to_vec(), |rate| vec![rate]);
        self.step(name, |run, folder| {
            let (file, material) = (SampleFile::open(&settings.samples)?, Weights::material());
            let examples = FileExamples { file: &file, start: &material };
            let mut best: Option<(f64, PathBuf, TrainingSummary)> = None;
            for rate in rates {
                let folder = folder.join(format!("rate-{rate}"));
                let settings = TrainingSettings { rate, ..settings.clone() };
                let mut progress = |progress: TrainingProgress| Some(progress.of_all_iterations());
                let summary =
                    run.with_progress(&mut progress, |context| training::train(&settings, &folder, &examples, context));
                let summary = summary.map_err(Error::part(&folder.display().to_string()))?;
                if !summary.finished {
                    return Err(Error::Stopped);
                }
                if best.as_ref().is_none_or(|(_, _, before)| summary.accuracy > before.accuracy) {
                    best = Some((rate, folder, summary));
                }
            }
            let (rate, training, summary) = best.expect("there is a rate");
            let mut weights = weights_file::load(&summary.file)?;
            weights.units = Units { scale: FIXED_SCALE, ..Units::default() };
            let hash = run.save_weights(name, weights)?;
            let (weights, test) = (run.weights(name)?, run.part(samples, true)?);
            let ranking = run.with_progress(&mut Some, |context| rank(&weights, &test, settings.depth, context))?;
            let (best, accuracy, learns) = (summary.best, ranking.accuracy, settings.learns());
            let iterations = iterations(&training, &learns)?;
            let features = learns.into_iter().filter(|&learns| learns).count();
            Ok((hash, Trained { rate, best, iterations, accuracy, features }))
        })
    }

    pub fn hand_tuned(&mut self, name: &str, tapered: bool) -> Result<(), Error> {
        self.step(name, |run, _| Ok((run.save_weights(name, hand_tuned(tapered))?, ())))
    }

    /// Weights without some families or groups, not retrained, with the scale of the original.
    pub fn without(&mut self, name: &str, weights: &str, groups: &[&str]) -> Result<(), Error> {
        self.step(name, |run, _| {
            let source = run.weights(weights)?;
            let mut floats = FloatWeights::from(&*source);
            for group in layout::GROUPS.iter().filter(|group| is_named(group, groups)) {
                floats.mg[group.range()].fill(0.0);
                floats.eg[group.range()].fill(0.0);
            }
            let made = json!({ "by": "dyad experiment", "parent": source.id(), "without": groups });
            let mut rest = Weights::from_floats(&floats, made)?;
            rest.units = source.units;
            Ok((run.save_weights(name, rest)?, ()))
        })
    }

    /// A match player by name, and whether its scores are meaningful: those of a network are not.
    fn player(&self, name: &str) -> Result<(MatchPlayer, bool), Error> {
        let is_network = self.folder_of(name).join(NETWORK).exists();
        let player = match is_network {
            true => self.network(name)?.player(name),
            false => MatchPlayer::new(name, self.weights(name)?),
        };
        Ok((player, !is_network))
    }

    fn openings(&self) -> Result<Box<dyn Iterator<Item = Opening> + Send>, Error> {
        match &self.settings.openings {
            None => {
                let filter = openings::opening_filter(Weights::embedded(), openings::FILTER_NODES);
                Ok(Box::new(RandomOpenings::new(OpeningSettings::new(self.settings.seed), filter)))
            }
            Some(path) => {
                let mut list = openings::read(path, BOOK_PLIES, |_| ())?;
                openings::shuffle(&mut list, self.settings.seed);
                Ok(Box::new(list.into_iter()))
            }
        }
    }

    /// Plays a match of two players, weights or networks: pairs of games, each from one opening with both colors.
    pub fn play(
        &mut self,
        name: &str,
        players: &[String; 2],
        limits: SearchLimits,
        pairs: u64,
    ) -> Result<MatchRecord, Error> {
        self.step(name, |run, folder| {
            let (a, a_scores) = run.player(&players[0])?;
            let (b, b_scores) = run.player(&players[1])?;
            // Games are drawn after 400 plies, as in the Chinese chess paper; those of the tiny size have no weight.
            let plies = Some(run.pick([40, 400, 400, 400]));
            let played = Match {
                players: [a, b],
                limits,
                hash: 4,
                pairs,
                threads: run.context.threads,
                adjudication: Adjudication { draw: None, win: (a_scores && b_scores).then_some(WIN), plies },
                sprt: None,
            };
            let (path, event) = (folder.join(GAMES), format!("{}: {name}", run.settings.name));
            let (mut file, before, openings) = played.continue_file(&path, &event, run.openings()?)?;
            let (date, stop) = (today(), run.context.stop);
            let record = run.with_progress(&mut Some, |context| {
                played.play(&before, openings, stop, |game, _| {
                    (context.on_event)(Progress { done: game.number + 1, of: 2 * pairs });
                    file.write(&played.pgn(game, &event, &date))
                })
            })?;
            if record.end == MatchEnd::Stopped {
                return Err(Error::Stopped);
            }
            Ok((hash_of(&format!("{:?} {:?}", record.tally, record.ids)), record))
        })
    }

    /// How well weights rank the moves of test positions, by searches of this depth.
    pub fn rank(&mut self, name: &str, weights: &str, samples: &str, depth: u32) -> Result<Ranking, Error> {
        self.step(name, |run, _| {
            let (weights, samples) = (run.weights(weights)?, run.part(samples, true)?);
            let found = run.with_progress(&mut Some, |context| rank(&weights, &samples, depth, context))?;
            Ok((hash_of_json(&found), found))
        })
    }
}

/// Loss and mean weight of each iteration of a training: the mean over the features that learn and are not zero, without
/// the values of the pieces, which do not start at zero.
fn iterations(folder: &Path, learns: &[bool]) -> Result<Vec<[f64; 2]>, Error> {
    let path = folder.join(LOG);
    let lines = json_lines::read::<LogLine>(&path).map_err(Error::file("read", &path))?;
    let lines = lines.into_iter().filter(|line| line.kind == LineKind::Iteration && line.iteration > 0);
    let of_line = |line: LogLine| -> Result<[f64; 2], Error> {
        let weights = weights_file::load(&folder.join(iteration_name(line.iteration)))?;
        let all = weights.ints().iter().zip(learns).skip(MATERIAL.range().end);
        let sizes = all.filter(|&(weight, &learns)| learns && *weight != [0, 0]);
        let sizes: Vec<f64> = sizes.map(|([mg, eg], _)| f64::from(mg.abs() + eg.abs()) / 2.0).collect();
        Ok([line.loss, sizes.iter().fold(0.0, |sum, size| sum + size) / sizes.len().max(1) as f64])
    };
    lines.map(of_line).collect()
}

/// Whether a group, or its family, is one of these names.
fn is_named(group: &layout::Group, names: &[&str]) -> bool {
    names.iter().any(|&name| group.family.name() == name || group.name == name)
}

pub(super) fn hash_of_json(result: &impl Serialize) -> String {
    hash_of(&serde_json::to_value(result).expect("plain data").to_string())
}

fn hash_of(text: &str) -> String {
    format!("{:016x}", hash::fold_text(0, text))
}
