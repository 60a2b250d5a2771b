//! `weights-default`: the built-in weights, with and without 2-tuples, from self-play games and older weights.
//!
//! The games start from unbalanced as well as balanced positions and use few nodes, so that their positions show what
//! exchanges decide. Weights are fitted from material alone to the search scores of the games, with positions resolved
//! by quiescence.
//!
//! The errors of such a fit and of weights of another origin differ, so their mean is better than either; with weights
//! that come from such a fit themselves it hardly is (T47). (Tuning that mean by short games gained in short games and
//! lost in longer ones: T42.)

use dyad_engine::eval::layout::PAIRS;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::fit::regression::{FitSettings, Target};
use dyad_trainer::selftrain::generator::GeneratorSettings;

use crate::experiment::plan::{Cell, Inputs, PageElement, Plan, Scale, Step, Work, score, stem, table, text, value};

/// L2 of the 2-tuples, in positions: little against millions of positions.
const L2_OF_PAIRS: f64 = 100.0;
/// Weight of the results in the target. The search scores are better: half of results costs some 50 Elo (T38).
const RESULT_SHARE: f64 = 0.0;
/// Weight of a fit in the mean with weights of another origin, whose weight is 1.
const SHARE_OF_FIT: f64 = 2.0;
/// Positions of the self-play games.
const OWN: &str = "own";
/// Positions of the input games.
const GIVEN: &str = "given";
/// The fits: of all features, and without 2-tuples.
const FITTED: &str = "fitted";
const LINEAR: &str = "linear-fitted";

struct Numbers {
    games: u64,
    nodes: u64,
    passes: u32,
    /// Positions of the input games.
    positions: u64,
    match_nodes: u64,
    pairs: u64,
}

const SCALES: [Numbers; 4] = [
    Numbers { games: 24, nodes: 40, passes: 2, positions: 200, match_nodes: 30, pairs: 1 },
    Numbers { games: 20_000, nodes: 1_000, passes: 8, positions: 300_000, match_nodes: 2_500, pairs: 500 },
    Numbers { games: 60_000, nodes: 1_000, passes: 8, positions: 300_000, match_nodes: 20_000, pairs: 500 },
    Numbers { games: 120_000, nodes: 1_000, passes: 8, positions: 300_000, match_nodes: 20_000, pairs: 500 },
];

/// The plan.
pub(super) fn plan(scale: Scale, inputs: Inputs, seed: u64) -> Plan {
    let numbers = scale.pick(SCALES);
    let mut given = inputs.weights.iter().map(|path| stem(path));
    let player = given.next().unwrap_or_else(|| "default".to_string());
    let other = given.next().unwrap_or_else(|| player.clone());
    let without_pairs = given.next();
    let mut build = Build { steps: Vec::new(), numbers: &numbers, player: &player, seed };
    let games = GeneratorSettings { games: numbers.games, nodes: numbers.nodes, seed, ..GeneratorSettings::default() };
    build.add(
        OWN,
        Work::OwnGames { weights: player.clone(), settings: Box::new(games), filters: Filters::with_scores() },
    );
    let filters = Filters { quiet: true, plies: [10, 10_000], ..Filters::default() };
    let (games, count) = (inputs.games.clone(), numbers.positions);
    build.add(GIVEN, Work::Prepare { games, filters, count, test_percent: 5.0 });
    let plies = scale.plies();
    build.fit(FITTED, true, &player);
    build.trained("trained", FITTED, Some(&other));
    build.fit(LINEAR, false, without_pairs.as_ref().unwrap_or(&player));
    build.trained("linear", LINEAR, without_pairs.as_ref());
    let pairs = [("trained", player.as_str()), (FITTED, &player), ("trained", "linear"), ("linear", &player)];
    let matches = pairs.map(|(a, b)| build.play(a, b, plies)).to_vec();
    let row = |name: &str| {
        vec![
            text(name),
            value(name, "/positions", 1.0, 0),
            value(name, "/start_loss", 1.0, 5),
            value(name, "/loss", 1.0, 5),
            value(name, "/scale", 1.0, 0),
        ]
    };
    let rows = [FITTED, LINEAR].map(row).to_vec();
    let boards = [("pawn", 0), ("knight", 1), ("king", 5)];
    let elements = vec![
        PageElement::Text {
            text: "The fits begin with the pieces alone. The mean of twice a fit and weights of another origin makes the weights \
                   called trained and, without 2-tuples and with weights that have none, if they are given, linear."
                .into(),
        },
        table(
            "The fits: training positions, and the loss on test positions of the pieces alone and of the fit.",
            &["Weights", "Positions", "Loss at first", "Loss", "Scale of 1024"],
            rows,
        ),
        table("Matches.", &["Match", "Score, % (95 % interval)", "Games"], matches),
        PageElement::Boards {
            caption: "Piece-square tables of the middlegame, in centipawns.".into(),
            boards: boards.map(|(title, piece)| (title.into(), "trained".into(), piece, 0)).to_vec(),
        },
    ];
    Plan {
        name: "weights-default".into(),
        title: "The weights that are built in".into(),
        paper: "Österlund, Texel's Tuning Method, 2014, with the scores of own searches".into(),
        scale,
        seed,
        inputs,
        steps: build.steps,
        elements,
    }
}

struct Build<'a> {
    steps: Vec<Step>,
    numbers: &'a Numbers,
    /// The weights that play and resolve the positions.
    player: &'a str,
    seed: u64,
}

impl Build<'_> {
    fn add(&mut self, name: &str, work: Work) {
        self.steps.push(Step { name: name.into(), work });
    }

    /// Fits all groups, with or without the 2-tuples, with the player's quiescence leaves and the scale of other
    /// weights.
    fn fit(&mut self, name: &str, pairs: bool, scale_like: &str) {
        let (passes, seed) = (self.numbers.passes, self.seed);
        let target = Target { result_share: RESULT_SHARE, ..Target::default() };
        // Without early stopping, since the rate falls to the end.
        let mut settings = FitSettings { target, epochs: passes, patience: passes, seed, ..FitSettings::default() };
        settings.set_group(PAIRS.name, |group| (group.learn, group.l2) = (pairs, L2_OF_PAIRS));
        self.add(
            name,
            Work::Fit {
                samples: OWN.into(),
                leaves: self.player.into(),
                settings: Box::new(settings),
                chances: GIVEN.into(),
                scale_like: scale_like.into(),
            },
        );
    }

    /// The mean with other weights, if there are some.
    fn trained(&mut self, name: &str, fitted: &str, other: Option<&String>) {
        let other = other.map(|name| (name.clone(), 1.0));
        let weights = [(fitted.into(), SHARE_OF_FIT)].into_iter().chain(other).collect();
        self.add(name, Work::Mean { weights });
    }

    /// A match, as a row of a table.
    fn play(&mut self, a: &str, b: &str, plies: u32) -> Vec<Cell> {
        let (step, players) = (format!("{a}_{b}"), [a, b].map(String::from));
        let Numbers { match_nodes, pairs, .. } = *self.numbers;
        self.add(&step, Work::Match { players, budget: SearchLimits::Nodes(match_nodes), pairs, plies });
        vec![text(format!("{a} against {b}")), score(&step), Cell::Games { step }]
    }
}
