//! An experiment as data: steps in their order, and what is shown of what they found.
//!
//! A step is one call of a tool that exists: positions are prepared or labeled, weights trained, a match played, a measure
//! taken. It names what it uses by the names of other steps. Tables and figures are made of cells that name the step whose
//! result they show, beside what the paper reports. So a plan can be written to a file, compared with the one that a folder
//! was begun with, and carried out by a runner that knows no experiment.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::arena::play::SearchLimits;
use crate::data::positions::Filters;
use crate::deepchess::training::NetworkSettings;
use crate::fit::regression::Settings as Fit;
use crate::learn::settings::Settings as Training;
use crate::selftrain::generator::GeneratorSettings;

/// What a user brings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Inputs {
    /// Games of strong players.
    pub games: Vec<PathBuf>,
    /// Games by rating band, the weakest first: a file a band, called by its stem.
    pub bands: Vec<PathBuf>,
    /// Openings of the matches; random ones without.
    pub openings: Option<PathBuf>,
    /// Weights that are compared besides those built in, called by the stems of their files.
    pub weights: Vec<PathBuf>,
}

/// How large an experiment is. Scales differ in numbers alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Seconds: every table and figure, and no evidence.
    Tiny,
    /// About an hour of one processor.
    Small,
    /// The papers' own numbers: days.
    Full,
}

impl Scale {
    /// After so many plies games of matches are drawn: 400, as in the Chinese-chess paper, and 40 at the tiny scale,
    /// whose games are no evidence.
    #[must_use]
    pub fn plies(self) -> u32 {
        self.pick([40, 400, 400])
    }

    /// The number for this scale.
    #[must_use]
    pub fn pick<T>(self, [tiny, small, full]: [T; 3]) -> T {
        match self {
            Scale::Tiny => tiny,
            Scale::Small => small,
            Scale::Full => full,
        }
    }
}

/// An experiment at a scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// What the command calls it.
    pub name: String,
    /// Heading of its page.
    pub title: String,
    /// Which paper it repeats.
    pub paper: String,
    /// Its scale.
    pub scale: Scale,
    /// Seed of all draws.
    pub seed: u64,
    /// What it is given.
    pub inputs: Inputs,
    /// What is done, each after what it uses.
    pub steps: Vec<Step>,
    /// What is shown.
    pub exhibits: Vec<Exhibit>,
}

/// A named piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Step {
    /// By which others use it: letters, digits, `-` and `_`.
    pub name: String,
    /// What is done.
    pub work: Work,
}

/// What a step does. Weights are named by a step that makes some, `default`, `material`, or the stem of a file that was
/// given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case")]
pub enum Work {
    /// Positions of games.
    Prepare {
        /// The games.
        games: Vec<PathBuf>,
        /// Which positions.
        filters: Filters,
        /// How many.
        count: u64,
        /// Percent of the games that are kept for tests.
        test_percent: f64,
    },
    /// Their desired moves by a search with the weights built in.
    Label {
        /// The positions.
        samples: String,
        /// Nodes for each.
        nodes: u64,
    },
    /// Comparison training from Table I.
    Train {
        /// What it learns from.
        samples: String,
        /// The families or groups that learn; all else stays as at the start.
        learn: Vec<String>,
        /// How; its files and machine settings are filled in by the runner.
        settings: Box<Training>,
    },
    /// Games of weights against themselves, and their positions with what the searches of the games said of them.
    OwnGames {
        /// The weights that play.
        weights: String,
        /// How; half of the games begin after the openings that were given.
        settings: Box<GeneratorSettings>,
        /// Which of their positions are kept.
        filters: Filters,
    },
    /// Weights fitted to scores and results, beginning with the pieces of Table I.
    Fit {
        /// What they are fitted to.
        samples: String,
        /// The weights to the leaves of whose quiescence all samples are led.
        leaves: String,
        /// How; the worth of a score in results is measured.
        settings: Box<Fit>,
        /// The positions whose results say how often a value wins, if they are enough for it.
        chances: String,
        /// The weights whose scale they take: both agree with the scores alike.
        scale_like: String,
    },
    /// The mean of several sets in units of search.
    Mean {
        /// The sets and their shares; chances are those of the first.
        weights: Vec<(String, f64)>,
    },
    /// Weights that a person would write down: pieces, squares and mobility by formulas.
    HandSet {
        /// Whether middlegame and endgame differ.
        tapered: bool,
    },
    /// Weights without some families or groups, not trained anew.
    Without {
        /// The weights.
        weights: String,
        /// What is taken out.
        groups: Vec<String>,
        /// By which the scale is fitted.
        samples: String,
    },
    /// Games of two players from the first one's view.
    Match {
        /// Weights, or networks.
        players: [String; 2],
        /// What each may spend for a move.
        budget: SearchLimits,
        /// Pairs of games, each from one opening with both colors.
        pairs: u64,
        /// After so many plies a game is drawn.
        plies: u32,
    },
    /// How weights order the moves of test positions by pairs: error, recall and precision.
    Ranking {
        /// The weights.
        weights: String,
        /// The positions.
        samples: String,
        /// Plies of the search, as in training.
        depth: u32,
    },
    /// The area under the curve that separates won from lost positions: the pair accuracy of an evaluation.
    Auc {
        /// The weights.
        weights: String,
        /// The positions, of which the test positions count.
        samples: String,
    },
    /// Networks that compare two positions.
    Network {
        /// Positions with results.
        samples: String,
        /// How they are trained.
        settings: Box<NetworkSettings>,
        /// The network to learn from: this one is distilled from it.
        teacher: Option<String>,
    },
    /// How often a network tells the position of the won game from that of the lost one.
    Pairs {
        /// The network.
        network: String,
        /// The positions, of which the test positions count.
        samples: String,
        /// Pairs that are drawn.
        pairs: u64,
    },
    /// Positions a second of a training by threads and batch: times are no part of what is repeatable.
    Speed {
        /// What it learns from.
        samples: String,
        /// What learns.
        learn: Vec<String>,
        /// Depth, batch and all else that decides the training.
        settings: Box<Training>,
        /// Threads.
        threads: usize,
    },
}

impl Work {
    /// The names it uses, of steps and of weights.
    #[must_use]
    pub fn uses(&self) -> Vec<&str> {
        match self {
            Work::Prepare { .. } | Work::HandSet { .. } => Vec::new(),
            Work::Label { samples, .. } | Work::Train { samples, .. } | Work::Speed { samples, .. } => vec![samples],
            Work::Without { weights, samples, .. }
            | Work::Ranking { weights, samples, .. }
            | Work::Auc { weights, samples, .. } => vec![weights, samples],
            Work::Match { players, .. } => players.iter().map(String::as_str).collect(),
            Work::OwnGames { weights, .. } => vec![weights],
            Work::Fit { samples, leaves, chances, scale_like, .. } => vec![samples, leaves, chances, scale_like],
            Work::Mean { weights } => weights.iter().map(|(name, _)| name.as_str()).collect(),
            Work::Network { samples, teacher, .. } => {
                [samples].into_iter().chain(teacher).map(String::as_str).collect()
            }
            Work::Pairs { network, samples, .. } => vec![network, samples],
        }
    }

    /// Whether what it finds depends on the weights that are built into the program: by their name, or because they
    /// judge openings or search.
    #[must_use]
    pub fn uses_built_in(&self, inputs: &Inputs) -> bool {
        let judges = match self {
            Work::Label { .. } => true,
            Work::Match { .. } => inputs.openings.is_none(),
            _ => false,
        };
        judges || self.uses().contains(&"default")
    }

    /// Whether it finds the same on every machine.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        match self {
            Work::Speed { .. } => false,
            Work::Match { budget, .. } => budget.is_deterministic(),
            _ => true,
        }
    }
}

/// What is shown, from the top of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case")]
pub enum Exhibit {
    /// A heading.
    Heading {
        /// Its words.
        text: String,
    },
    /// A paragraph.
    Text {
        /// Its words.
        text: String,
    },
    /// A table; the first cell of a row is its name.
    Table {
        /// Under what name.
        caption: String,
        /// The columns.
        head: Vec<String>,
        /// The rows.
        rows: Vec<Vec<Cell>>,
    },
    /// A chart of lines.
    Chart {
        /// What it shows.
        caption: String,
        /// The axis below, with its unit.
        x: String,
        /// The axis at the left, with its unit.
        y: String,
        /// Names and points.
        series: Vec<(String, Vec<(f64, Cell)>)>,
    },
    /// Piece-square tables in centipawns.
    Boards {
        /// What they show.
        caption: String,
        /// Title, weights, piece type (0 is the pawn), 0 for the middlegame or 1 for the endgame.
        boards: Vec<(String, String, usize, usize)>,
    },
}

/// What stands in a table, or is a point of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case")]
pub enum Cell {
    /// Words.
    Text {
        /// What they are.
        text: String,
    },
    /// A number of the paper.
    Paper {
        /// The number.
        value: f64,
        /// Digits behind the point.
        decimals: usize,
    },
    /// What a match scored for its first player, in percent, with its interval.
    Score {
        /// The match.
        step: String,
        /// Whether it is seen by the second player.
        reversed: bool,
    },
    /// The share of the points of all these matches, in percent.
    Total {
        /// The matches, and whether each is seen by its second player.
        steps: Vec<(String, bool)>,
    },
    /// How many games that were.
    Games {
        /// The match.
        step: String,
    },
    /// Whether the interval lies on the paper's side of one half.
    Verdict {
        /// The match.
        step: String,
        /// Percent in the paper.
        paper: f64,
    },
    /// A number of a step's result, with its interval where there are `low` and `high` beside it.
    Value {
        /// The step.
        step: String,
        /// Where, as a JSON pointer.
        at: String,
        /// Multiplied by this.
        factor: f64,
        /// Digits behind the point.
        decimals: usize,
    },
    /// A number of a step's result divided by the same number of another's.
    Ratio {
        /// The step of the dividend.
        step: String,
        /// The step of the divisor.
        by: String,
        /// Where it is in both results, as a JSON pointer.
        at: String,
    },
    /// The mean weight of a group, or one weight of it, in centipawns where a pawn of the middlegame is 100, or in
    /// units.
    Weight {
        /// The weights.
        weights: String,
        /// The group.
        group: String,
        /// Which feature of it; the mean of all without.
        index: Option<usize>,
        /// 0 for the middlegame, 1 for the endgame.
        stage: usize,
        /// Whether it is in centipawns.
        centipawns: bool,
    },
}

/// Words in a table.
#[must_use]
pub fn text(text: impl Into<String>) -> Cell {
    Cell::Text { text: text.into() }
}

/// Percent as the paper writes them.
#[must_use]
pub fn paper(value: f64) -> Cell {
    Cell::Paper { value, decimals: 2 }
}

/// A number of a result.
#[must_use]
pub fn value(step: &str, at: &str, factor: f64, decimals: usize) -> Cell {
    Cell::Value { step: step.into(), at: at.into(), factor, decimals }
}

/// A table.
#[must_use]
pub fn table(caption: impl Into<String>, head: &[&str], rows: Vec<Vec<Cell>>) -> Exhibit {
    Exhibit::Table { caption: caption.into(), head: head.iter().map(|&cell| cell.into()).collect(), rows }
}

/// The columns of [`scores`].
const SCORES: [&str; 5] = ["Match", "Paper, %", "Here, % (95 % interval)", "Games", "Does it hold?"];

/// A table of matches in the form of the papers: who, what it scored there, and here.
#[must_use]
pub fn scores(caption: impl Into<String>, rows: &[(String, Option<f64>, String)]) -> Exhibit {
    let row = |(label, there, step): &(String, Option<f64>, String)| {
        vec![
            text(label),
            there.map_or_else(|| text("not played"), paper),
            Cell::Score { step: step.clone(), reversed: false },
            Cell::Games { step: step.clone() },
            there.map_or_else(|| text("-"), |paper| Cell::Verdict { step: step.clone(), paper }),
        ]
    };
    table(caption, &SCORES, rows.iter().map(row).collect())
}

/// The stem of a file, up to the first point: `amateur_1000` of `amateur_1000.pgn.zst`.
#[must_use]
pub fn stem(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_string()
}

impl Plan {
    /// Says what is wrong with a plan that cannot be carried out.
    ///
    /// # Errors
    /// When a name is there twice, is none for a file, or is used before it is made.
    pub fn check(&self) -> Result<(), String> {
        let mut known: Vec<String> = ["default", "material"].map(String::from).to_vec();
        known.extend(self.inputs.weights.iter().map(|path| stem(path)));
        for step in &self.steps {
            let name = &step.name;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if name.is_empty() || !name.chars().all(is_name) {
                return Err(format!("a step cannot be called '{name}'"));
            }
            if known.contains(name) {
                return Err(format!("'{name}' is the name of two steps or weights"));
            }
            if let Some(missing) = step.work.uses().into_iter().find(|used| !known.iter().any(|known| known == used)) {
                return Err(format!("the step '{name}' uses '{missing}', which no step before it makes"));
            }
            known.push(name.clone());
        }
        Ok(())
    }
}
