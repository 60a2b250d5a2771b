//! One generation: its folder, its settings, and what it begins with.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dyad_engine::eval::Weights;
use serde_json::json;

use super::error::SelfTrainError;
use super::event::Stage;
use super::folder::{Folder, GenerationFolder, LABELED, State, clean, load_settings, remove, save};
use super::settings::Settings;
use super::window::Window;
use crate::base::error::Error;
use crate::base::hash;
use crate::fit::averaging;
use crate::fit::calibration::{calibrate_by_points, expectation_scale};
use crate::learn::folder::Folder as RunFolder;
use crate::learn::settings::{MachineSettings, ObjectiveSettings, Settings as RunSettings};
use crate::learn::training::saved_settings;

/// Test positions for the move-match accuracy while a training runs.
const REPORT_POSITIONS: usize = 500;
/// Time between two checkpoints.
pub(super) const CHECKPOINT: Duration = Duration::from_secs(20);

/// What draws belong to; each has random numbers of its own.
#[derive(Clone, Copy)]
pub(super) enum Draw {
    Games,
    Positions,
    Training,
    Match,
    Anchor,
    Refinement,
    Tuning,
}

/// What the stage of training consists of.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// From the base of the best weights.
    Training,
    /// From there, if there are positions enough.
    Refinement,
}

/// What a generation has of its own.
pub(super) struct Generation {
    pub number: u32,
    pub folder: GenerationFolder,
    /// As they were when it had its first game or position, but for the threads.
    pub settings: Settings,
    pub best: Arc<Weights>,
    pub best_name: String,
    /// The best weights before their refinement: what is trained.
    pub base: Arc<Weights>,
    /// The weights at the very start: what a fit, which begins anew each time, is taken the mean with.
    pub oldest: Arc<Weights>,
    /// How much of the way to the trained weights it goes, where games do not say it.
    step: f64,
    /// Pairs of games that say it, or none.
    pub tuning_pairs: u64,
}

impl Generation {
    /// Opens the generation of `state`, or begins it. One that has nothing yet, as where the games named for it could
    /// not be read, begins again with the settings of now.
    pub fn open(folder: &Folder, settings: &Settings, state: &mut State) -> Result<Generation, SelfTrainError> {
        let own_folder = folder.generation(state.generation);
        let path = own_folder.path();
        fs::create_dir_all(path).map_err(SelfTrainError::file("make", path))?;
        clean(path)?;
        let saved = own_folder.settings();
        let drawn = [own_folder.games(), own_folder.positions(), own_folder.labeled()];
        let has_nothing =
            [Stage::Games, Stage::Positions].contains(&state.stage) && !drawn.iter().any(|file| file.exists());
        if has_nothing || !saved.exists() {
            save(&saved, settings)?;
        }
        if has_nothing {
            state.stage = Stage::Games;
        }
        let own = load_settings(&saved)?;
        let (threads, generations) = (settings.threads, settings.generations);
        // In its last stage a generation may be the best already.
        let rejected = state.generation.saturating_sub(state.best + 1);
        Ok(Generation {
            number: state.generation,
            folder: own_folder,
            step: own.step_after(rejected),
            tuning_pairs: own.tuning_pairs_after(rejected),
            settings: Settings { threads, generations, ..own },
            best: Arc::new(Weights::load(&folder.weights(state.best))?),
            best_name: name_of(state.best),
            base: Arc::new(Weights::load(&folder.base(state.best))?),
            oldest: Arc::new(Weights::load(&folder.weights(0))?),
        })
    }

    pub fn name(&self) -> String {
        name_of(self.number)
    }

    /// The run folder of a step.
    pub fn run(&self, step: Step) -> PathBuf {
        match step {
            Step::Training => self.folder.training(),
            Step::Refinement => self.folder.refinement(),
        }
    }

    /// Whether there are positions enough for a refinement.
    pub fn is_refined(&self, window: &Window) -> bool {
        let from = self.settings.refine_from;
        from > 0 && window.learned() >= from
    }

    /// The share of a fit to so many positions in the mean with the oldest weights, as far as games do not say it; nothing where
    /// nothing is fitted.
    pub fn share(&self, positions: u64) -> Option<f64> {
        self.settings.fit.map(|fit| self.step.min(fit.share(positions)))
    }

    /// The weights of this generation, which goes only a part of the way to `trained`: from the base of the best, or for a fit
    /// to so many positions from the oldest weights. All of it where games say how far to go.
    pub fn part_of_the_way(&self, trained: Weights, positions: u64) -> Result<Weights, SelfTrainError> {
        if self.step >= 1.0 || self.tuning_pairs > 0 {
            return Ok(trained);
        }
        let (from, share) = match self.share(positions) {
            // With the best in place of the oldest, what these know and fits do not would be a third of a third after two of them.
            Some(share) => (&self.oldest, share),
            None => (&self.base, self.step),
        };
        let way = averaging::Interpolation { groups: "*", stages: [true; 2], goal: &trained, coefficient: share };
        let mut weights = averaging::changed(from, &[way], &[]).map_err(SelfTrainError::Settings)?;
        weights.meta.provenance =
            json!({ "by": "dyad selftrain", "share": share, "from": from.id(), "of": trained.meta.provenance });
        Ok(weights)
    }

    /// What came out of a finished step.
    pub fn trained(&self, step: Step) -> Result<PathBuf, SelfTrainError> {
        if self.settings.fit.is_some() {
            return Ok(self.folder.fitted());
        }
        let folder = self.run(step);
        let run = RunFolder::open(&folder).map_err(SelfTrainError::file("open", &folder))?;
        Ok(run.iteration(saved_settings(&folder)?.iterations))
    }

    /// Removes what nobody needs once the weights are there: most of the space of a night.
    pub fn tidy(&self) -> Result<(), SelfTrainError> {
        remove(&self.folder.fitted())?;
        for folder in [Step::Training, Step::Refinement].map(|step| self.run(step)) {
            if !folder.exists() {
                continue;
            }
            let run = RunFolder::open(&folder).map_err(SelfTrainError::file("open", &folder))?;
            for iteration in 0..=saved_settings(&folder)?.iterations {
                remove(&run.iteration(iteration))?;
            }
            remove(&run.checkpoint())?;
            remove(&run.best())?;
        }
        Ok(())
    }

    pub fn seed(&self, draw: Draw) -> u64 {
        let generation = hash::fold(hash::mix(self.settings.seed), u64::from(self.number));
        hash::fold(generation, draw as u64)
    }

    /// The settings of a step that starts from the weights in the file `start`.
    pub fn training_settings(&self, window: &Window, step: Step, start: PathBuf) -> Result<RunSettings, Error> {
        let (mut settings, draw) = match step {
            Step::Training => (self.settings.training(), Draw::Training),
            Step::Refinement => (self.settings.refinement(), Draw::Refinement),
        };
        if let ObjectiveSettings::Logistic { outcome_scale, .. } | ObjectiveSettings::Listwise { outcome_scale, .. } =
            &mut settings.objective
        {
            let mut base = Weights::clone(&self.base);
            // Where the results say nothing, the weights keep what they say themselves.
            calibrate_by_points(&mut base, window.samples().iter())?;
            *outcome_scale = expectation_scale(&base);
        }
        Ok(RunSettings {
            samples: LABELED.into(),
            start: Some(start),
            seed: self.seed(draw),
            report_every: (window.learned() / 4).max(1),
            report_positions: REPORT_POSITIONS,
            machine: MachineSettings { threads: self.settings.threads, checkpoint_seconds: CHECKPOINT.as_secs() },
            ..settings
        })
    }
}

/// What the weights of a generation are called; 0 for those at the start.
pub(super) fn name_of(generation: u32) -> String {
    match generation {
        0 => "start".to_string(),
        _ => format!("generation {generation}"),
    }
}
