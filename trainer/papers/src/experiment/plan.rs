//! Experiments as data: a list of steps, and the figures and tables of the page.
//!
//! A step is one call of an existing tool: preparing or labeling positions, training weights, playing a match,
//! measuring. It refers to its inputs by the names of other steps. Tables and figures are made of cells that name the
//! step whose result they show, next to what the paper reports. So a plan can be saved to a file, compared with the
//! saved one, and executed by a runner that knows no experiment.

use std::path::PathBuf;

use dyad_engine::eval::units::SCALE_ONE;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::fit::regression::FitSettings as Fit;
use dyad_trainer::learn::settings::TrainingSettings as Training;
use dyad_trainer::selftrain::generator::GeneratorSettings;
use serde::{Deserialize, Serialize};

use crate::deepchess::training::NetworkSettings;

/// Inputs from the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Inputs {
    /// Games of strong players.
    pub games: Vec<PathBuf>,
    /// Games by rating band, the weakest first: one file per band, named by its stem.
    pub bands: Vec<PathBuf>,
    /// Openings of the matches; random ones if `None`.
    pub openings: Option<PathBuf>,
    /// Weights to compare besides the built-in ones, named by the stems of their files.
    pub weights: Vec<PathBuf>,
}

/// The size of an experiment. Scales differ in numbers alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Seconds: every table and figure, without significance.
    Tiny,
    /// About an hour of one processor.
    Small,
    /// A night of a few processors: the data that the papers' claims need.
    Night,
    /// The numbers of the papers: days.
    Full,
}

impl Scale {
    /// Plies after which games of matches are drawn: 400, as in the Chinese chess paper, and 40 at the tiny scale,
    /// whose games are not significant.
    #[must_use]
    pub fn plies(self) -> u32 {
        self.pick([40, 400, 400, 400])
    }

    /// The number for this scale.
    #[must_use]
    pub fn pick<T>(self, [tiny, small, night, full]: [T; 4]) -> T {
        match self {
            Scale::Tiny => tiny,
            Scale::Small => small,
            Scale::Night => night,
            Scale::Full => full,
        }
    }
}

impl Scale {
    /// All of them, the smallest first.
    pub const ALL: [Scale; 4] = [Scale::Tiny, Scale::Small, Scale::Night, Scale::Full];
}

/// [`Units::scale`](dyad_engine::eval::units::Units::scale) of all weights of a paper's experiment: matches compare
/// evaluations, not scales, and the papers have only the factor gamma, which [`Weights`](dyad_engine::eval::Weights)
/// apply.
pub const FIXED_SCALE: i32 = SCALE_ONE;

/// An experiment at a scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// Name on the command line.
    pub name: String,
    /// Heading of its page.
    pub title: String,
    /// The paper it repeats.
    pub paper: String,
    /// Its scale.
    pub scale: Scale,
    /// Random seed.
    pub seed: u64,
    /// Inputs.
    pub inputs: Inputs,
    /// Steps, each after its inputs.
    pub steps: Vec<Step>,
    /// Elements of the page.
    #[serde(rename = "exhibits")]
    pub elements: Vec<PageElement>,
}

/// A named piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Step {
    /// Name for references from other steps: letters, digits, `-` and `_`.
    pub name: String,
    /// The work.
    pub work: Work,
}

/// The work of a step. Weights are named by a step that makes them, `default`, `material`, or the stem of an input
/// file.
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
        /// Percentage of the games held out for tests.
        test_percent: f64,
    },
    /// Labels positions with a search by the built-in weights.
    Label {
        /// The positions.
        samples: String,
        /// Nodes per position.
        nodes: u64,
    },
    /// Comparison training from Table I.
    Train {
        /// Training samples.
        samples: String,
        /// Families or groups that learn; all others keep their initial weights.
        learn: Vec<String>,
        /// Settings; the runner fills in files and machine settings.
        settings: Box<Training>,
        /// [`Units::scale`](dyad_engine::eval::units::Units::scale) of the trained weights.
        fixed_scale: i32,
    },
    /// Self-play games, and their positions with search scores.
    OwnGames {
        /// The weights that play.
        weights: String,
        /// Settings; half of the games start from the input openings.
        settings: Box<GeneratorSettings>,
        /// Filters of the positions.
        filters: Filters,
    },
    /// Weights fitted to scores and results, starting from the material of Table I.
    Fit {
        /// Samples to fit to.
        samples: String,
        /// Weights whose quiescence resolves the samples.
        leaves: String,
        /// Settings; the scale of the scores is measured.
        settings: Box<Fit>,
        /// Samples whose results calibrate the win rate, if there are enough.
        chances: String,
        /// Weights whose scale is matched on the scores.
        scale_like: String,
    },
    /// The weighted mean of several sets in search units.
    Mean {
        /// The sets and their coefficients; the win rate is that of the first.
        weights: Vec<(String, f64)>,
    },
    /// Hand-tuned weights: material, piece-square tables and mobility by formulas.
    HandTuned {
        /// Whether middlegame and endgame differ.
        tapered: bool,
    },
    /// Weights without some families or groups, not retrained, with the scale of the original.
    Without {
        /// The weights.
        weights: String,
        /// Families or groups to remove.
        groups: Vec<String>,
    },
    /// A match of two players, from the first one's view.
    Match {
        /// Weights, or networks.
        players: [String; 2],
        /// Search limits per move.
        budget: SearchLimits,
        /// Pairs of games, each from one opening with both colors.
        pairs: u64,
        /// Plies after which a game is drawn.
        plies: u32,
    },
    /// Pairwise ranking of the moves of test positions: error, recall and precision.
    Ranking {
        /// The weights.
        weights: String,
        /// The positions.
        samples: String,
        /// Search depth, as in training.
        depth: u32,
    },
    /// The area under the ROC curve for won against lost positions: the pair accuracy of an evaluation.
    Auc {
        /// The weights.
        weights: String,
        /// Samples, whose test positions are used.
        samples: String,
    },
    /// Networks that compare two positions.
    Network {
        /// Positions with results.
        samples: String,
        /// Settings of the training.
        settings: Box<NetworkSettings>,
        /// The teacher network to distill from.
        teacher: Option<String>,
    },
    /// How often a network ranks the position of a won game above that of a lost one.
    Pairs {
        /// The network.
        network: String,
        /// Samples, whose test positions are used.
        samples: String,
        /// Number of pairs.
        pairs: u64,
    },
    /// Speed of a training by threads and batch; times are not repeatable.
    Speed {
        /// Training samples.
        samples: String,
        /// Families or groups that learn.
        learn: Vec<String>,
        /// Depth, batch and all other settings of the training.
        settings: Box<Training>,
        /// Threads.
        threads: usize,
    },
}

impl Work {
    /// The names of its inputs, steps and weights.
    #[must_use]
    pub fn uses(&self) -> Vec<&str> {
        match self {
            Work::Prepare { .. } | Work::HandTuned { .. } => Vec::new(),
            Work::Label { samples, .. } | Work::Train { samples, .. } | Work::Speed { samples, .. } => vec![samples],
            Work::Ranking { weights, samples, .. } | Work::Auc { weights, samples, .. } => vec![weights, samples],
            Work::Without { weights, .. } => vec![weights],
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

    /// Whether its result depends on the built-in weights: by name, or because they filter openings or search.
    #[must_use]
    pub fn uses_built_in(&self, inputs: &Inputs) -> bool {
        let judges = match self {
            Work::Label { .. } => true,
            Work::Match { .. } => inputs.openings.is_none(),
            _ => false,
        };
        judges || self.uses().contains(&"default")
    }

    /// Whether its result is the same on every machine.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        match self {
            Work::Speed { .. } => false,
            Work::Match { budget, .. } => budget.is_deterministic(),
            _ => true,
        }
    }
}

/// An element of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case")]
pub enum PageElement {
    /// A heading.
    Heading {
        /// Its text.
        text: String,
    },
    /// A paragraph.
    Text {
        /// Its text.
        text: String,
    },
    /// A table; the first cell of a row is its name.
    Table {
        /// Caption.
        caption: String,
        /// The columns.
        head: Vec<String>,
        /// The rows.
        rows: Vec<Vec<Cell>>,
    },
    /// A chart of lines.
    Chart {
        /// Caption.
        caption: String,
        /// Label of the x axis, with its unit.
        x: String,
        /// Label of the y axis, with its unit.
        y: String,
        /// Names and points.
        series: Vec<(String, Vec<(f64, Cell)>)>,
    },
    /// Piece-square tables in centipawns.
    Boards {
        /// Caption.
        caption: String,
        /// Title, weights, piece type (0 is the pawn), 0 for the middlegame or 1 for the endgame.
        boards: Vec<(String, String, usize, usize)>,
    },
}

/// A cell of a table or a point of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case")]
pub enum Cell {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A number of the paper.
    Paper {
        /// The number.
        value: f64,
        /// Decimals.
        decimals: usize,
    },
    /// Score of a match for its first player, in percent, with its interval.
    Score {
        /// The match.
        step: String,
        /// Whether to show it from the second player's view.
        reversed: bool,
    },
    /// Fraction of the points of several matches, in percent.
    Total {
        /// The matches, and whether each is shown from the second player's view.
        steps: Vec<(String, bool)>,
    },
    /// Number of games of a match.
    Games {
        /// The match.
        step: String,
    },
    /// Whether the interval is on the same side of one half as the paper's score.
    Verdict {
        /// The match.
        step: String,
        /// Score in the paper, in percent.
        paper: f64,
    },
    /// A number of a step's result, with its interval if there are `low` and `high` next to it.
    Value {
        /// The step.
        step: String,
        /// JSON pointer into the result.
        at: String,
        /// Factor.
        factor: f64,
        /// Decimals.
        decimals: usize,
    },
    /// Quotient of a number in two steps' results.
    Ratio {
        /// Step of the dividend.
        step: String,
        /// Step of the divisor.
        by: String,
        /// JSON pointer into both results.
        at: String,
    },
    /// The mean weight of a group, or one weight of it, in centipawns where a pawn of the middlegame is 100, or in
    /// units.
    Weight {
        /// The weights.
        weights: String,
        /// The group.
        group: String,
        /// Index of the feature; the mean of all if `None`.
        index: Option<usize>,
        /// 0 for the middlegame, 1 for the endgame.
        stage: usize,
        /// Whether it is in centipawns.
        centipawns: bool,
    },
}

/// A text cell.
#[must_use]
pub fn text(text: impl Into<String>) -> Cell {
    Cell::Text { text: text.into() }
}

/// A percentage of the paper.
#[must_use]
pub fn paper(value: f64) -> Cell {
    Cell::Paper { value, decimals: 2 }
}

/// The score of a match for its first player.
#[must_use]
pub fn score(step: &str) -> Cell {
    Cell::Score { step: step.into(), reversed: false }
}

/// A number of a step's result.
#[must_use]
pub fn value(step: &str, at: &str, factor: f64, decimals: usize) -> Cell {
    Cell::Value { step: step.into(), at: at.into(), factor, decimals }
}

/// The column of [`scale_of`].
pub const SCALE_COLUMN: &str = "Scale, 1/1024";

/// The scale of a step's weights.
#[must_use]
pub fn scale_of(step: &str) -> Cell {
    value(step, "/scale", 1.0, 0)
}

/// A table element.
#[must_use]
pub fn table(caption: impl Into<String>, head: &[&str], rows: Vec<Vec<Cell>>) -> PageElement {
    PageElement::Table { caption: caption.into(), head: head.iter().map(|&cell| cell.into()).collect(), rows }
}

/// The columns of [`scores`].
const SCORES: [&str; 5] = ["Match", "Paper, %", "Dyad, % (95 % interval)", "Games", "The paper's claim"];

/// A row of [`scores`]: the players, the paper's score in percent, the step of the match.
pub type ScoreRow = (String, Option<f64>, String);

/// A table of matches: players, the paper's score, Dyad's score.
#[must_use]
pub fn scores(caption: impl Into<String>, rows: &[ScoreRow]) -> PageElement {
    let row = |(label, published, step): &ScoreRow| {
        vec![
            text(label),
            published.map_or_else(|| text("not played"), paper),
            score(step),
            Cell::Games { step: step.clone() },
            published.map_or_else(|| text("-"), |paper| Cell::Verdict { step: step.clone(), paper }),
        ]
    };
    table(caption, &SCORES, rows.iter().map(row).collect())
}

/// The stem of a file name, up to the first dot: `amateur_1000` of `amateur_1000.pgn.zst`.
#[must_use]
pub fn stem(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_string()
}

impl Plan {
    /// Checks the plan.
    ///
    /// # Errors
    /// When a name occurs twice, is not a valid file name, or is used before it is made.
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
