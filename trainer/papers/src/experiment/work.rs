//! The steps of experiments: each calls the tool that does the work.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::board::Piece;
use dyad_engine::eval::{FloatWeights, Units, Weights, layout};
use dyad_engine::search::Options;
use dyad_formats::error::Error;
use dyad_formats::hash;
use dyad_formats::samples::SampleFile;
use dyad_trainer::arena::matches::{Match, MatchEnd, MatchPlayer};
use dyad_trainer::arena::openings::{self, Opening, OpeningSettings, RandomOpenings};
use dyad_trainer::arena::play::{Adjudication, SearchLimits, WinRule};
use dyad_trainer::base::context::{Context, Progress};
use dyad_trainer::base::json_lines::{self, Log};
use dyad_trainer::data::label::{self, OwnEngine, label};
use dyad_trainer::data::positions::Filters;
use dyad_trainer::data::prepare::{self, prepare};
use dyad_trainer::fit::auc::{Proportion, auc};
use dyad_trainer::learn::examples::FileExamples;
use dyad_trainer::learn::folder::RunFolder;
use dyad_trainer::learn::log::{LineKind, LogLine};
use dyad_trainer::learn::ranking::rank;
use dyad_trainer::learn::settings::{GroupSettings, MachineSettings, TrainingSettings as Training};
use dyad_trainer::learn::training::{self, TrainingProgress};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::deepchess::measure::pair_accuracy;
use crate::deepchess::network::Network;
use crate::deepchess::training::{self as networks, NetworkSettings};
use crate::experiment::hand_tuned::hand_tuned;
use crate::experiment::plan::{Plan, Step, Work, stem};

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StepResult {
    /// Hash of the work and of the results it depends on.
    pub key: String,
    /// Hash of the output: equal in every run if the step is repeatable.
    pub hash: String,
    /// Whether the step is repeatable.
    pub repeatable: bool,
    /// The result.
    pub result: Json,
    /// Duration since the last start or resumption.
    pub seconds: f64,
    /// The program that made it: version, revision and checksum.
    pub program: String,
}

/// All results by the names of their steps.
pub type Results = BTreeMap<String, StepResult>;

/// Progress of a run.
#[derive(Clone, Debug)]
pub enum ExperimentEvent {
    /// A step starts.
    Begin {
        /// Name of the step.
        step: String,
        /// Number of the step, from 1.
        number: usize,
        /// Number of steps.
        of: usize,
    },
    /// Progress of the step.
    Progress(Progress),
    /// The step is done.
    Done {
        /// Name of the step.
        step: String,
        /// Its result.
        result: StepResult,
    },
}

/// The output of a step.
pub struct StepOutput {
    /// Hash of the output.
    pub hash: String,
    /// The result, for the page.
    pub result: Json,
}

/// Executes steps.
pub struct StepRunner<'a, 'b> {
    /// The experiment.
    pub plan: &'a Plan,
    /// The folder of the steps.
    pub folder: &'a Path,
    /// Threads, stop, and the receiver of the events.
    pub context: &'a mut Context<'b, ExperimentEvent>,
}

/// File name of the weights of a step.
pub const WEIGHTS: &str = "weights.json";
pub(super) const SAMPLES: &str = "positions.samples";
const NETWORK: &str = "network.bin";
const GAMES: &str = "games.jsonl";
/// Plies of an opening taken from a game.
pub(super) const BOOK_PLIES: usize = 16;
/// Adjudicates a win once both sides agree on this score.
const WIN: WinRule = WinRule { moves: 3, score: 1500 };

/// The weights with a name.
pub(super) fn weights(plan: &Plan, folder: &Path, name: &str) -> Result<Arc<Weights>, Error> {
    let load = |path: &Path| Ok(Weights::named(path)?);
    match name {
        "default" => Ok(Weights::embedded()),
        "material" => Ok(Arc::new(Weights::material())),
        _ => match plan.inputs.weights.iter().find(|path| stem(path) == name) {
            Some(path) => load(path),
            None => load(&folder.join(name).join(WEIGHTS)),
        },
    }
}

impl StepRunner<'_, '_> {
    /// Executes or resumes a step.
    ///
    /// # Errors
    /// Those of the tool; [`Error::Stopped`] if stopped.
    pub fn make(&mut self, step: &Step) -> Result<StepOutput, Error> {
        let folder = self.folder.join(&step.name);
        fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        match &step.work {
            Work::Prepare { games, filters, count, test_percent } => {
                self.prepare(&folder, games, filters, *count, *test_percent)
            }
            Work::Label { samples, nodes } => self.label(&folder, samples, *nodes),
            Work::Train { samples, learn, settings, fixed_scale } => {
                self.train(step, samples, learn, settings, *fixed_scale)
            }
            Work::OwnGames { weights, settings, filters } => self.own_games(&folder, weights, settings, filters),
            Work::Fit { samples, leaves, settings, chances, scale_like } => {
                self.fit(step, [samples, leaves], settings, chances, scale_like)
            }
            Work::Mean { weights } => self.mean(step, weights),
            Work::HandTuned { tapered } => save(&folder, &step.name, hand_tuned(*tapered)),
            Work::Without { weights, groups } => self.without(step, weights, groups),
            Work::Match { players, budget, pairs, plies } => self.play(&folder, players, *budget, *pairs, *plies),
            Work::Ranking { weights, samples, depth } => self.ranking(weights, samples, *depth),
            Work::Auc { weights, samples } => self.auc(weights, samples),
            Work::Network { samples, settings, teacher } => {
                self.network(&folder, samples, settings, teacher.as_deref())
            }
            Work::Pairs { network, samples, pairs } => self.pairs(network, samples, *pairs),
            Work::Speed { samples, learn, settings, threads } => self.speed(step, samples, learn, settings, *threads),
        }
    }

    /// Does a part of the work that reports its events as progress of the step.
    pub(super) fn with_progress<E, T>(
        &mut self,
        progress: &mut dyn FnMut(E) -> Option<Progress>,
        work: impl FnOnce(&mut Context<E>) -> T,
    ) -> T {
        let Context { threads, stop, on_event } = &mut *self.context;
        let mut report = |event: E| {
            if let Some(progress) = progress(event) {
                on_event(ExperimentEvent::Progress(progress));
            }
        };
        work(&mut Context { threads: *threads, stop, on_event: &mut report })
    }

    pub(super) fn samples(&self, name: &str) -> Result<SampleFile, Error> {
        SampleFile::open(&self.folder.join(name).join(SAMPLES))
    }

    pub(super) fn weights(&self, name: &str) -> Result<Arc<Weights>, Error> {
        weights(self.plan, self.folder, name)
    }

    fn prepare(
        &mut self,
        folder: &Path,
        games: &[PathBuf],
        filters: &Filters,
        count: u64,
        test_percent: f64,
    ) -> Result<StepOutput, Error> {
        let settings = prepare::PrepareSettings {
            inputs: games.to_vec(),
            filters: filters.clone(),
            test_percent,
            count: Some(count),
            seed: self.plan.seed,
            ..prepare::PrepareSettings::default()
        };
        let out = folder.join(SAMPLES);
        let counts = self.draw(&settings, &out, 0)?;
        samples_made(&out, json!({ "read": counts.games, "broken": counts.broken }))
    }

    /// Samples positions of games; `of` is the number of games for the progress, 0 if unknown.
    pub(super) fn draw(
        &mut self,
        settings: &prepare::PrepareSettings,
        out: &Path,
        of: u64,
    ) -> Result<prepare::PrepareCounts, Error> {
        let mut progress = |event: prepare::PrepareEvent| match event {
            prepare::PrepareEvent::Progress { games, .. } => Some(Progress { done: games, of }),
            prepare::PrepareEvent::Broken(_) | prepare::PrepareEvent::Partial(_) => None,
        };
        self.with_progress(&mut progress, |context| Ok(prepare(settings, out, context)?.1))
    }

    fn label(&mut self, folder: &Path, samples: &str, nodes: u64) -> Result<StepOutput, Error> {
        let (input, out) = (self.samples(samples)?, folder.join(SAMPLES));
        let settings = label::LabelSettings { nodes, ..label::LabelSettings::default() };
        let weights = Weights::embedded();
        let by = format!("dyad with {} {}", weights.meta.name, weights.id());
        let stop = self.context.stop;
        let make = || OwnEngine::new(weights.clone(), &settings, stop);
        self.with_progress(&mut Some, |context| label(&input, &out, &settings, &by, make, context))?;
        samples_made(&out, json!({ "nodes": nodes }))
    }

    /// The settings of a training from Table I with only some families or groups learning.
    fn settings(&self, samples: &str, learn: &[String], settings: &Training) -> Result<Training, Error> {
        let mut settings = settings.clone();
        settings.samples = self.folder.join(samples).join(SAMPLES);
        settings.seed = self.plan.seed;
        for group in &layout::GROUPS {
            if !is_named(group, learn) {
                let frozen = GroupSettings { learn: false, ..GroupSettings::default() };
                settings.groups.insert(group.name.to_string(), frozen);
            }
        }
        settings.machine = MachineSettings { threads: self.context.threads, ..MachineSettings::default() };
        settings.check().map_err(Error::Settings)?;
        Ok(settings)
    }

    fn train(
        &mut self,
        step: &Step,
        samples: &str,
        learn: &[String],
        settings: &Training,
        fixed_scale: i32,
    ) -> Result<StepOutput, Error> {
        let folder = self.folder.join(&step.name);
        let settings = self.settings(samples, learn, settings)?;
        let (run, file) = (folder.join("training"), self.samples(samples)?);
        let material = Weights::material();
        let examples = FileExamples::new(&file, &material);
        let mut progress = |progress: TrainingProgress| Some(progress.of_all_iterations());
        let summary = self.with_progress(&mut progress, |context| {
            if RunFolder::holds_run(&run) {
                training::resume(&run, &|_| (), &examples, context)
            } else {
                training::begin(&settings, &run, &examples, context)
            }
        });
        let summary = summary.map_err(Error::part(&step.name))?;
        if !summary.finished {
            return Err(Error::Stopped);
        }
        let mut weights = Weights::load(&summary.file)?;
        weights.units = Units { scale: fixed_scale, ..Units::default() };
        let lines = iterations(&run)?;
        let iterations: Vec<Json> = lines
            .iter()
            .map(|line| json!({ "iteration": line.iteration, "accuracy": line.accuracy, "loss": line.loss }))
            .collect();
        let learned = layout::GROUPS.iter().filter(|group| settings.group(group.name).learn);
        let features: usize = learned.map(|group| group.len).sum();
        let mut made = save(&folder, &step.name, weights)?;
        let percent = summary.accuracy.map(|accuracy| 100.0 * accuracy);
        made.result["accuracy"] = json!({ "value": percent });
        made.result["iterations"] = iterations.into();
        made.result["best"] = summary.best.into();
        made.result["features"] = features.into();
        Ok(made)
    }

    fn without(&self, step: &Step, weights: &str, groups: &[String]) -> Result<StepOutput, Error> {
        let source = self.weights(weights)?;
        let mut floats = FloatWeights::from(&*source);
        for group in &layout::GROUPS {
            if is_named(group, groups) {
                floats.mg[group.range()].fill(0.0);
                floats.eg[group.range()].fill(0.0);
            }
        }
        let made = json!({ "by": "dyad experiment", "parent": source.id(), "without": groups });
        let mut rest = Weights::from_floats(&floats, made)?;
        rest.units = source.units;
        save(&self.folder.join(&step.name), &step.name, rest)
    }

    /// A match player by name, and whether its scores are meaningful.
    fn player(&self, name: &str, budget: SearchLimits) -> Result<(MatchPlayer, bool), Error> {
        let is_network = |step: &&Step| step.name == name && matches!(step.work, Work::Network { .. });
        let network = self.plan.steps.iter().any(|step| is_network(&step));
        let mut player = if network {
            MatchPlayer::new(name, Arc::new(self.load_network(name)?), budget)
        } else {
            MatchPlayer::new(name, self.weights(name)?, budget)
        };
        player.hash = 4;
        player.options = Options::default();
        Ok((player, !network))
    }

    fn openings(&self) -> Result<Box<dyn Iterator<Item = Opening> + Send>, Error> {
        match &self.plan.inputs.openings {
            None => {
                let filter = openings::opening_filter(Weights::embedded(), openings::FILTER_NODES);
                Ok(Box::new(RandomOpenings::new(OpeningSettings::new(self.plan.seed), filter)))
            }
            Some(path) => {
                let mut list = openings::read(path, BOOK_PLIES, |_| ())?;
                openings::shuffle(&mut list, self.plan.seed);
                Ok(Box::new(list.into_iter()))
            }
        }
    }

    /// Plays a match: `pairs` pairs of games of at most `plies` plies.
    fn play(
        &mut self,
        folder: &Path,
        players: &[String; 2],
        budget: SearchLimits,
        pairs: u64,
        plies: u32,
    ) -> Result<StepOutput, Error> {
        let (a, a_scores) = self.player(&players[0], budget)?;
        let (b, b_scores) = self.player(&players[1], budget)?;
        // Scores of a network cannot adjudicate.
        let win = (a_scores && b_scores).then_some(WIN);
        let played = Match {
            players: [a, b],
            pairs,
            threads: self.context.threads,
            adjudication: Adjudication { draw: None, win, plies: Some(plies) },
            tables: None,
            sprt: None,
        };
        let path = folder.join(GAMES);
        let (mut log, before) = Log::resume(&path).map_err(Error::file("open", &path))?;
        let openings = self.openings()?;
        let record = played.resume(&before, openings, self.context.stop, |game, _| {
            (self.context.on_event)(ExperimentEvent::Progress(Progress { done: game.number + 1, of: 2 * pairs }));
            log.append(&game.game.result).map_err(Error::file("write", &path))
        })?;
        if record.end == MatchEnd::Stopped {
            return Err(Error::Stopped);
        }
        let hash = format!("{:?} {:?}", record.tally, record.ids);
        let result = json!({
            "players": players,
            "ids": record.ids,
            "budget": record.budgets[0],
            "tally": record.tally,
            "games": record.tally.games(),
            "score": record.score,
            "elo": record.elo,
            "superiority": record.los,
        });
        Ok(StepOutput { hash: hash_of(&hash), result })
    }

    fn ranking(&mut self, weights: &str, samples: &str, depth: u32) -> Result<StepOutput, Error> {
        let weights = self.weights(weights)?;
        let samples = self.samples(samples)?;
        let found = self.with_progress(&mut Some, |context| rank(&weights, &samples, depth, context))?;
        Ok(measurement(json!({
            "positions": found.positions,
            "pairs": found.pairs,
            "error": found.error,
            "recall": found.recall,
            "precision": found.precision,
        })))
    }

    fn auc(&mut self, weights: &str, samples: &str) -> Result<StepOutput, Error> {
        let found = auc(&self.weights(weights)?, &self.samples(samples)?)?;
        let positions = found.won + found.lost;
        Ok(measurement(json!({ "accuracy": percent(found.proportion), "positions": positions, "games": found.games })))
    }

    fn load_network(&self, name: &str) -> Result<Network, Error> {
        Network::load(&self.folder.join(name).join(NETWORK))
    }

    fn network(
        &mut self,
        folder: &Path,
        samples: &str,
        settings: &NetworkSettings,
        teacher: Option<&str>,
    ) -> Result<StepOutput, Error> {
        let teacher = teacher.map(|name| self.load_network(name)).transpose()?;
        let samples = self.samples(samples)?;
        let seed = self.plan.seed;
        let trained = self.with_progress(&mut Some, |context| {
            networks::train(settings, seed, &samples, teacher.as_ref(), folder, context)
        })?;
        trained.network.save(&folder.join(NETWORK))?;
        let hash = trained.network.id();
        let result = json!({
            "id": hash,
            "layers": settings.encoder.iter().chain(&settings.comparator).collect::<Vec<_>>(),
            "parameters": trained.network.parameters(),
            "epochs": trained.epochs,
            "curve": trained.epochs.iter().filter(|epoch| epoch.layer == 0).map(|epoch| epoch.loss).collect::<Vec<_>>(),
            "training_seconds": trained.seconds,
            "pairs_per_second": trained.pairs_per_second,
            "positions": trained.positions,
        });
        Ok(StepOutput { hash, result })
    }

    fn pairs(&mut self, network: &str, samples: &str, pairs: u64) -> Result<StepOutput, Error> {
        let is_this = |step: &&Step| step.name == network;
        let split = match self.plan.steps.iter().find(is_this).map(|step| &step.work) {
            Some(Work::Network { settings, .. }) => settings.split,
            _ => return Err(Error::Settings(format!("'{network}' is no network"))),
        };
        let (samples, seed) = (self.samples(samples)?, self.plan.seed);
        let found = pair_accuracy(&self.load_network(network)?, &samples, split, pairs, seed, self.context.threads)?;
        let mut made = measurement(json!({
            "accuracy": percent(found.accuracy),
            "pairs": found.pairs,
            "positions": found.positions,
            "games": found.games,
        }));
        // Times differ between runs, so they are shown but not hashed.
        made.result["pairs_per_second"] = found.pairs_per_second.into();
        Ok(made)
    }

    fn speed(
        &mut self,
        step: &Step,
        samples: &str,
        learn: &[String],
        settings: &Training,
        threads: usize,
    ) -> Result<StepOutput, Error> {
        let mut settings = self.settings(samples, learn, settings)?;
        settings.machine.threads = threads;
        let run = self.folder.join(&step.name).join("training");
        // An interrupted timing is not valid.
        if run.exists() {
            fs::remove_dir_all(&run).map_err(Error::file("remove", &run))?;
        }
        let file = self.samples(samples)?;
        let material = Weights::material();
        let examples = FileExamples::new(&file, &material);
        let mut context = Context { threads, stop: self.context.stop, on_event: &mut |_| () };
        let summary = training::begin(&settings, &run, &examples, &mut context);
        let summary = summary.map_err(Error::part(&step.name))?;
        if !summary.finished {
            return Err(Error::Stopped);
        }
        let lines = iterations(&run)?;
        let last = lines.iter().rev().find(|line| line.iteration > 0);
        let speed = last.map_or(0.0, |line| line.positions_per_second);
        Ok(measurement(json!({ "positions_per_second": speed, "threads": threads, "batch": settings.batch })))
    }
}

/// Whether a group, or its family, is one of these names.
fn is_named(group: &layout::Group, names: &[String]) -> bool {
    names.iter().any(|name| group.family.name() == name || group.name == name)
}

/// The iteration lines of a training's log.
fn iterations(run: &Path) -> Result<Vec<LogLine>, Error> {
    let log = RunFolder::open(run).map_err(Error::file("open", run))?.log();
    let mut lines: Vec<LogLine> = json_lines::read(&log).map_err(Error::file("read", &log))?;
    lines.retain(|line| line.kind == LineKind::Iteration);
    Ok(lines)
}

/// Saves weights in a step's folder; the result has their material.
pub(super) fn save(folder: &Path, name: &str, mut weights: Weights) -> Result<StepOutput, Error> {
    weights.meta.name = name.to_string();
    weights.save(&folder.join(WEIGHTS))?;
    let id = weights.id();
    let of = |piece: Piece| weights.ints()[layout::MATERIAL.at(piece)];
    let result = json!({
        "id": id,
        "queen": of(Piece::Queen),
        "rook": of(Piece::Rook),
        "bishop": of(Piece::Bishop),
        "knight": of(Piece::Knight),
        "pawn": of(Piece::Pawn),
        "scale": weights.units.scale,
    });
    Ok(StepOutput { hash: id, result })
}

pub(super) fn samples_made(path: &Path, mut result: Json) -> Result<StepOutput, Error> {
    let file = SampleFile::open(path)?;
    let summary = file.summary();
    result["positions"] = summary.count.into();
    result["tests"] = summary.tests.into();
    result["games"] = summary.games.into();
    Ok(StepOutput { hash: format!("{:016x}", summary.identity), result })
}

/// The output of a measurement: its result.
fn measurement(result: Json) -> StepOutput {
    StepOutput { hash: hash_of(&result.to_string()), result }
}

fn percent(proportion: Proportion) -> Json {
    let Proportion { value, low, high } = proportion;
    json!({ "value": 100.0 * value, "low": 100.0 * low, "high": 100.0 * high })
}

fn hash_of(text: &str) -> String {
    format!("{:016x}", hash::fold_text(0, text))
}
