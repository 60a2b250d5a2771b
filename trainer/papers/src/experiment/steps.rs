//! The steps of experiments: each calls the tool that does the work. Weights are named by the step that makes them,
//! `default`, `material`, or the stem of an input file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::eval::units::SCALE_ONE;
use dyad_engine::eval::{FloatWeights, Units, Weights, layout};
use dyad_formats::error::Error;
use dyad_formats::hash;
use dyad_formats::samples::SampleFile;
use dyad_formats::weights_file;
use dyad_trainer::arena::matches::{Match, MatchEnd, MatchPlayer, MatchRecord};
use dyad_trainer::arena::openings::{self, Opening, OpeningSettings, RandomOpenings};
use dyad_trainer::arena::play::{Adjudication, SearchLimits, WinRule};
use dyad_trainer::base::context::Progress;
use dyad_trainer::base::json_lines::Log;
use dyad_trainer::data::label::{self, label};
use dyad_trainer::data::positions::Filters;
use dyad_trainer::data::prepare::{PrepareEvent, PrepareSettings, prepare};
use dyad_trainer::learn::examples::FileExamples;
use dyad_trainer::learn::ranking::{Ranking, rank};
use dyad_trainer::learn::settings::TrainingSettings;
use dyad_trainer::learn::training::{self, TrainingProgress};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::deepchess::network::Network;
use crate::experiment::hand_tuned::hand_tuned;
use crate::experiment::run::Run;
use crate::experiment::{BUILT_IN, stem};

const WEIGHTS: &str = "weights.json";
pub(super) const SAMPLES: &str = "positions.samples";
pub(super) const NETWORK: &str = "network.bin";
const GAMES: &str = "games.jsonl";
/// The scale of all weights of a paper's experiment: matches compare evaluations, not scales, and the papers have only
/// the factor gamma, which [`Weights`] apply.
pub(super) const FIXED_SCALE: i32 = SCALE_ONE;
/// Plies of an opening taken from a game.
pub(super) const BOOK_PLIES: usize = 16;
/// Adjudicates a win once both sides agree on this score.
const WIN: WinRule = WinRule { moves: 3, score: 1500 };

/// How a comparison training ended.
#[derive(Serialize, Deserialize)]
pub(super) struct Trained {
    /// The iteration with the best move-match accuracy.
    pub best: u32,
    /// That accuracy, 0 to 1.
    pub accuracy: Option<f64>,
    /// Number of features that learned.
    pub features: usize,
}

impl Trained {
    /// The accuracy in percent.
    pub fn percent(&self) -> String {
        self.accuracy.map_or_else(|| "-".to_string(), |accuracy| format!("{:.2}", 100.0 * accuracy))
    }
}

impl Run<'_, '_> {
    /// The samples of a step.
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
    pub fn save_weights(&self, name: &str, mut weights: Weights) -> Result<Option<String>, Error> {
        weights.meta.name = name.to_string();
        weights_file::save(&weights, &self.folder_of(name).join(WEIGHTS))?;
        Ok(Some(weights.id()))
    }

    /// The network of a step.
    pub fn network(&self, name: &str) -> Result<Network, Error> {
        Network::load(&self.folder_of(name).join(NETWORK))
    }

    /// Draws positions of games.
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
            run.draw(&settings, &folder.join(SAMPLES), 0)?;
            Ok((run.samples_hash(name)?, ()))
        })
    }

    /// Draws positions; `of` is the number of games for the progress, 0 if unknown.
    pub fn draw(&mut self, settings: &PrepareSettings, out: &Path, of: u64) -> Result<(), Error> {
        let mut progress = |event: PrepareEvent| match event {
            PrepareEvent::Progress { games, .. } => Some(Progress { done: games, of }),
            PrepareEvent::Broken(_) => None,
        };
        self.with_progress(&mut progress, |context| prepare(settings, out, context).map(|_| ()))
    }

    /// The hash of a step's samples.
    pub fn samples_hash(&self, name: &str) -> Result<Option<String>, Error> {
        Ok(Some(format!("{:016x}", self.samples(name)?.summary().identity)))
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

    /// The settings of a training from Table I in which only some families or groups learn.
    fn training(&self, samples: &str, learn: &[&str], settings: TrainingSettings) -> Result<TrainingSettings, Error> {
        let mut settings = settings;
        settings.samples = self.folder_of(samples).join(SAMPLES);
        settings.seed = self.settings.seed;
        settings.keep_going = true;
        if let Some(rate) = self.settings.rate {
            settings.rate = rate;
        }
        for group in layout::GROUPS.iter().filter(|group| !is_named(group, learn)) {
            settings.freeze.push(group.name.to_string());
        }
        settings.check().map_err(Error::Settings)?;
        Ok(settings)
    }

    /// Comparison training from Table I.
    pub fn train(
        &mut self,
        name: &str,
        samples: &str,
        learn: &[&str],
        settings: TrainingSettings,
    ) -> Result<Trained, Error> {
        let settings = self.training(samples, learn, settings)?;
        self.step(name, |run, folder| {
            let (folder, file) = (folder.join("training"), run.samples(samples)?);
            let material = Weights::material();
            let examples = FileExamples::new(&file, &material);
            let mut progress = |progress: TrainingProgress| Some(progress.of_all_iterations());
            let summary =
                run.with_progress(&mut progress, |context| training::train(&settings, &folder, &examples, context));
            let summary = summary.map_err(Error::part(name))?;
            if !summary.finished {
                return Err(Error::Stopped);
            }
            let mut weights = weights_file::load(&summary.file)?;
            weights.units = Units { scale: FIXED_SCALE, ..Units::default() };
            let features = layout::GROUPS.iter().filter(|group| is_named(group, learn)).map(|group| group.len).sum();
            let trained = Trained { best: summary.best, accuracy: summary.accuracy, features };
            Ok((run.save_weights(name, weights)?, trained))
        })
    }

    /// Positions a second of a training, which differ from run to run.
    pub fn speed(
        &mut self,
        name: &str,
        samples: &str,
        learn: &[&str],
        settings: TrainingSettings,
        threads: usize,
    ) -> Result<f64, Error> {
        let settings = self.training(samples, learn, settings)?;
        self.step(name, |run, folder| {
            let folder = folder.join("training");
            // An interrupted timing is not valid.
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(Error::file("remove", &folder))?;
            }
            let (file, material) = (run.samples(samples)?, Weights::material());
            let examples = FileExamples::new(&file, &material);
            let mut speed = 0.0;
            let mut progress = |progress: TrainingProgress| {
                speed = progress.positions_per_second;
                None
            };
            let summary = run.with_progress(&mut progress, |context| {
                context.threads = threads;
                training::train(&settings, &folder, &examples, context)
            });
            let summary = summary.map_err(Error::part(name))?;
            if summary.finished { Ok((None, speed)) } else { Err(Error::Stopped) }
        })
    }

    /// Weights by formulas.
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
            let path = folder.join(GAMES);
            let (mut log, before) = Log::resume(&path).map_err(Error::file("open", &path))?;
            let (openings, stop) = (run.openings()?, run.context.stop);
            let record = run.with_progress(&mut Some, |context| {
                played.play(&before, openings, stop, |game, _| {
                    (context.on_event)(Progress { done: game.number + 1, of: 2 * pairs });
                    log.append(&game.game.result).map_err(Error::file("write", &path))
                })
            })?;
            if record.end == MatchEnd::Stopped {
                return Err(Error::Stopped);
            }
            let hash = hash_of(&format!("{:?} {:?}", record.tally, record.ids));
            Ok((limits.is_deterministic().then_some(hash), record))
        })
    }

    /// How well weights rank the moves of test positions, by searches of this depth.
    pub fn rank(&mut self, name: &str, weights: &str, samples: &str, depth: u32) -> Result<Ranking, Error> {
        self.step(name, |run, _| {
            let (weights, samples) = (run.weights(weights)?, run.samples(samples)?);
            let found = run.with_progress(&mut Some, |context| rank(&weights, &samples, depth, context))?;
            Ok((Some(hash_of_json(&found)), found))
        })
    }
}

/// Whether a group, or its family, is one of these names.
fn is_named(group: &layout::Group, names: &[&str]) -> bool {
    names.iter().any(|&name| group.family.name() == name || group.name == name)
}

/// The hash of a measurement.
pub(super) fn hash_of_json(result: &impl Serialize) -> String {
    hash_of(&serde_json::to_value(result).expect("plain data").to_string())
}

fn hash_of(text: &str) -> String {
    format!("{:016x}", hash::fold_text(0, text))
}
