//! The experiments by name.

use crate::experiment::plan::{Inputs, Plan, Scale};
use crate::experiment::{built_in, chess, deep, features, ranking};

/// An experiment of the catalog.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    /// Required inputs.
    pub needs: &'static str,
    plan: fn(Scale, Inputs, u64) -> Plan,
}

/// All of them.
pub const ALL: [Entry; 5] = [
    Entry {
        name: "ct-chess",
        about: "comparison training with 2-tuples for chess (Tseng, Chen and Wu 2018)",
        needs: "--games-file of masters",
        plan: chess::plan,
    },
    Entry {
        name: "ct-features",
        about: "features, tapering, batches and depth (Tseng, Chen, Wu and Wei 2018, on Chinese chess)",
        needs: "--games-file of masters",
        plan: features::plan,
    },
    Entry {
        name: "ranking-svm",
        about: "evaluations from games of players of different strengths (Paulsen and Fürnkranz 2010)",
        needs: "--band for each band of ratings, at least two; --games-file of masters for one band more",
        plan: ranking::plan,
    },
    Entry {
        name: "deepchess",
        about: "a network that compares positions, and a search that asks it (David, Netanyahu and Wolf 2016)",
        needs: "--games-file, most of them decided",
        plan: deep::plan,
    },
    Entry {
        name: "weights-default",
        about: "the weights that are built in, from own games and older weights",
        needs: "--games-file of engines, used to fit the win-rate model; --openings for half of its own games; --weights: those that play, if they are not the built-in ones, those in the mean with the fit, if they are others, and those in the mean without 2-tuples",
        plan: built_in::plan,
    },
];

/// Builds the plan of an experiment.
///
/// # Errors
/// When no experiment has this name, or a required input is missing.
pub fn plan(name: &str, scale: Scale, inputs: Inputs, seed: u64) -> Result<Plan, String> {
    let entry = ALL.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names = ALL.map(|entry| entry.name).join(", ");
        format!("no experiment is called '{name}'; there are {names}")
    })?;
    let given = if name == "ranking-svm" { inputs.bands.len() >= 2 } else { !inputs.games.is_empty() };
    match given {
        true => Ok((entry.plan)(scale, inputs, seed)),
        false => Err(format!("{name} needs {}", entry.needs)),
    }
}
