//! Experiments: each repeats a paper with one command, from games to the paper's tables, with Dyad's results next
//! to it.
//!
//! An experiment is a function that takes one step after another (`steps.rs`): it prepares positions, trains weights,
//! plays matches, and writes tables (`page.rs`). A step that is done is read from its file, so the same call starts and
//! resumes an experiment (`run.rs`).

mod chess;
mod deep;
mod features;
mod hand_tuned;
mod page;
mod ranking;
mod run;
mod steps;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dyad_formats::error::Error;
use dyad_trainer::base::number::number;
use serde::{Deserialize, Serialize};

pub use run::{ExperimentEvent, PAGE, run, saved_settings};

/// What decides the results of an experiment.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExperimentSettings {
    /// Name of the experiment; --resume needs none, and none of the options
    #[arg(default_value = "", hide_default_value = true)]
    pub name: String,
    /// Size of the experiment
    #[arg(long, value_enum, default_value_t = Size::Small)]
    pub size: Size,
    /// Games of strong players; for `ranking-svm` a file for each band of ratings, the weakest first
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub games_file: Vec<PathBuf>,
    /// Openings of the matches: positions (.epd, .fen) or games (.pgn), also packed [default: random openings]
    #[arg(long, value_name = "FILE")]
    pub openings: Option<PathBuf>,
    /// Weights to measure in `deepchess` in addition to the built-in ones, named by their files
    #[arg(long, num_args = 1..)]
    pub weights: Vec<PathBuf>,
    /// Positions of games to draw, in place of the number of the size
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..))]
    pub positions: Option<u64>,
    /// Rate of the comparison training; the papers have 1 [default: for each set of features that of 1, 3, 10 and 30 with
    /// the best accuracy on validation games]
    #[arg(long, value_parser = number(1e-6..=1e6))]
    pub rate: Option<f64>,
    /// Seed of all draws
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = 1)]
    pub seed: u64,
}

/// The size of an experiment. Sizes differ in numbers alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Seconds: every table, no evidence
    Tiny,
    /// About an hour of one processor
    Small,
    /// A night of a few processors: the data that the papers' claims need
    Night,
    /// The numbers of the papers: days
    Full,
}

/// An experiment.
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// What it repeats.
    pub about: &'static str,
    /// Required inputs.
    pub needs: &'static str,
    /// Heading of its page.
    title: &'static str,
    steps: fn(&mut run::Run) -> Result<(), Error>,
}

/// All of them.
pub const ALL: [Experiment; 4] = [
    Experiment {
        name: "ct-chess",
        about: "Tseng, Chen and Wu, Comparison Training of N-Tuple Networks for Chess, 2018",
        needs: "--games-file of masters",
        title: "Comparison training of 2-tuples for chess",
        steps: chess::steps,
    },
    Experiment {
        name: "ct-features",
        about: "Tseng, Chen, Wu and Wei, Comparison Training for Computer Chinese Chess, 2018",
        needs: "--games-file of masters",
        title: "Features, tapering, batches and depth in comparison training",
        steps: features::steps,
    },
    Experiment {
        name: "ranking-svm",
        about: "Paulsen and Fürnkranz, A Moderately Successful Attempt to Train Chess Evaluation Functions of Different \
                Strengths, 2010",
        needs: "--games-file for each band of ratings, at least two",
        title: "Evaluation functions from games of players of different strengths",
        steps: ranking::steps,
    },
    Experiment {
        name: "deepchess",
        about: "David, Netanyahu and Wolf, DeepChess: End-to-End Deep Neural Network for Automatic Learning in Chess, 2016",
        needs: "--games-file, most of them decided",
        title: "DeepChess: a network that compares positions",
        steps: deep::steps,
    },
];

impl ExperimentSettings {
    fn experiment(&self) -> Result<&'static Experiment, Error> {
        let name = &self.name;
        let found = ALL.iter().find(|experiment| experiment.name == name).ok_or_else(|| {
            let names = ALL.map(|experiment| experiment.name).join(", ");
            Error::Settings(format!("no experiment is called '{name}'; there are {names}"))
        })?;
        let bands = if name == "ranking-svm" { &self.games_file[..] } else { &[] };
        if self.games_file.is_empty() || name == "ranking-svm" && bands.len() < 2 {
            return Err(Error::Settings(format!("{name} needs {}", found.needs)));
        }
        if self.rate.is_some() && name == "deepchess" {
            return Err(Error::Settings(format!("{name} has another training: leave --rate out")));
        }
        let names: Vec<String> = self.weights.iter().chain(bands).map(|path| stem(path)).collect();
        if let Some(name) = names.iter().find(|name| BUILT_IN.contains(&name.as_str())) {
            return Err(Error::Settings(format!("'{name}' are weights of the program: give the file another name")));
        }
        names.iter().try_for_each(|name| run::check_name(name))?;
        Ok(found)
    }
}

/// The names of the weights that are in the program.
const BUILT_IN: [&str; 2] = ["default", "material"];

/// The stem of a file name, up to the first dot: `amateur_1000` of `amateur_1000.pgn.zst`.
fn stem(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_string()
}
