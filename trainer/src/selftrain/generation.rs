//! A generation: its folder, its settings and its initial weights.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files::write_json;
use dyad_formats::samples::SampleFile;
use dyad_formats::weights_file;

use super::event::Stage;
use super::folder::{
    FINE_TUNING, FITTED, Folder, GAMES, LABELED, POSITIONS, SelfTrainState, TRAINING, clean, load_settings, remove,
};
use super::recipe::{self, RandomStream};
use super::settings::{Method, SelfTrainSettings};
use crate::fit::calibration::{calibrate_by_points, expectation_scale};
use crate::learn::folder::{BEST, CHECKPOINT, SETTINGS, iteration_name};
use crate::learn::settings::{ObjectiveName, TrainingSettings as RunSettings};
use crate::learn::training::saved_settings;

/// A run of a comparison training.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// From the base of the best weights.
    Training,
    /// From the result of the training, if there are enough positions.
    FineTuning,
}

/// A generation.
pub(super) struct Generation {
    pub number: u32,
    pub folder: PathBuf,
    /// The settings when it began, but the current `threads` and `generations`, and the pairs of its own tuning.
    pub settings: SelfTrainSettings,
    pub best: Arc<Weights>,
    pub best_name: String,
    /// The best weights before their fine-tuning pass, from which a comparison training starts.
    pub base: Arc<Weights>,
    /// The initial weights, generation 0.
    pub initial: Arc<Weights>,
}

impl Generation {
    /// Opens or begins the generation of `state`. A generation without games and positions begins with the current
    /// settings.
    pub fn open(
        folder: &Folder,
        settings: &SelfTrainSettings,
        state: &mut SelfTrainState,
    ) -> Result<Generation, Error> {
        let own_folder = folder.generation(state.generation);
        fs::create_dir_all(&own_folder).map_err(Error::file("make", &own_folder))?;
        clean(&own_folder)?;
        let saved = own_folder.join(SETTINGS);
        let drawn = [own_folder.join(GAMES), own_folder.join(POSITIONS), own_folder.join(LABELED)];
        let is_empty =
            [Stage::Games, Stage::Positions].contains(&state.stage) && !drawn.iter().any(|file| file.exists());
        if is_empty || !saved.exists() {
            write_json(&saved, &settings.to_json())?;
        }
        if is_empty {
            state.stage = Stage::Games;
        }
        let own = load_settings(&saved)?;
        let (threads, generations) = (settings.threads, settings.generations);
        // The generation itself may already be the best.
        let rejected = state.generation.saturating_sub(state.best + 1);
        Ok(Generation {
            number: state.generation,
            folder: own_folder,
            settings: SelfTrainSettings { threads, generations, tuning_pairs: own.tuning_pairs_of(rejected), ..own },
            best: Arc::new(weights_file::load(&folder.weights(state.best))?),
            best_name: name_of(state.best),
            base: Arc::new(weights_file::load(&folder.base(state.best))?),
            initial: Arc::new(weights_file::load(&folder.weights(0))?),
        })
    }

    pub fn name(&self) -> String {
        name_of(self.number)
    }

    /// The run folder of a step.
    pub fn run(&self, step: Step) -> PathBuf {
        match step {
            Step::Training => self.folder.join(TRAINING),
            Step::FineTuning => self.folder.join(FINE_TUNING),
        }
    }

    /// Whether there are enough positions for the fine-tuning pass of a comparison training.
    pub fn is_fine_tuned(&self, window: &SampleFile) -> bool {
        let (from, learned) = (self.settings.fine_tune_from, window.summary.count - window.summary.tests);
        self.settings.method == Method::Comparison && from > 0 && learned >= from
    }

    /// The result of a finished step of a comparison training.
    pub fn trained(&self, step: Step) -> Result<PathBuf, Error> {
        let folder = self.run(step);
        Ok(folder.join(iteration_name(saved_settings(&folder)?.iterations)))
    }

    /// Removes files that are not needed after the weights are saved, most of the disk space of a training.
    pub fn tidy(&self) -> Result<(), Error> {
        remove(&self.folder.join(FITTED))?;
        for folder in [Step::Training, Step::FineTuning].map(|step| self.run(step)) {
            if !folder.exists() {
                continue;
            }
            for iteration in 0..=saved_settings(&folder)?.iterations {
                remove(&folder.join(iteration_name(iteration)))?;
            }
            remove(&folder.join(CHECKPOINT))?;
            remove(&folder.join(BEST))?;
        }
        Ok(())
    }

    pub fn seed(&self, stream: RandomStream) -> u64 {
        recipe::seed(&self.settings, self.number, stream)
    }

    /// The settings of a step that starts from the weights in the file `start`.
    pub fn run_settings(&self, window: &SampleFile, step: Step, start: PathBuf) -> Result<RunSettings, Error> {
        let (mut settings, stream) = match step {
            Step::Training => (self.settings.training(), RandomStream::Training),
            Step::FineTuning => (self.settings.fine_tuning(), RandomStream::FineTuning),
        };
        if settings.objective != ObjectiveName::Perceptron {
            let mut base = Weights::clone(&self.base);
            // Without game results the weights keep their own scale.
            calibrate_by_points(&mut base, &window.samples)?;
            settings.outcome_scale = Some(expectation_scale(&base));
        }
        Ok(RunSettings { samples: LABELED.into(), weights: Some(start), seed: self.seed(stream), ..settings })
    }
}

/// The name of the weights of a generation; 0 for the initial weights.
pub(super) fn name_of(generation: u32) -> String {
    match generation {
        0 => "start".to_string(),
        _ => format!("generation {generation}"),
    }
}
