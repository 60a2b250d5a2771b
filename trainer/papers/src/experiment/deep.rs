//! `deepchess`: David, Netanyahu and Wolf (2016).

use std::time::Duration;

use dyad_formats::score::GameResult;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;

use crate::deepchess::training::{NetworkSettings, Split};
use crate::experiment::plan::{
    Cell, Inputs, PageElement, Plan, Scale, ScoreRow, Step, Work, scores, stem, table, text, value,
};

/// Validation accuracy of the paper's large network, in percent.
const PAPER_ACCURACY: f64 = 98.0;

struct Numbers {
    positions: u64,
    test_percent: f64,
    encoder_epochs: u32,
    epochs: u32,
    pairs: usize,
    batch: usize,
    tested_pairs: u64,
    nodes: u64,
    move_time: Duration,
    games: u64,
}

const SCALES: [Numbers; 4] = [
    Numbers {
        positions: 400,
        test_percent: 25.0,
        encoder_epochs: 1,
        epochs: 1,
        pairs: 200,
        batch: 128,
        tested_pairs: 200,
        nodes: 20,
        move_time: Duration::from_millis(2),
        games: 1,
    },
    Numbers {
        positions: 600_000,
        test_percent: 10.0,
        encoder_epochs: 2,
        epochs: 10,
        pairs: 300_000,
        batch: 128,
        tested_pairs: 50_000,
        nodes: 1_000,
        move_time: Duration::from_millis(50),
        games: 20,
    },
    Numbers {
        positions: 1_200_000,
        test_percent: 10.0,
        encoder_epochs: 10,
        epochs: 100,
        pairs: 300_000,
        batch: 128,
        tested_pairs: 200_000,
        nodes: 1_000,
        move_time: Duration::from_millis(50),
        games: 100,
    },
    Numbers {
        positions: 2_200_000,
        test_percent: 9.0,
        encoder_epochs: 200,
        epochs: 100,
        pairs: 1_000_000,
        batch: 128,
        tested_pairs: 1_000_000,
        nodes: 100_000,
        move_time: Duration::from_secs(2),
        games: 500,
    },
];

/// The plan.
pub(super) fn plan(scale: Scale, inputs: Inputs, seed: u64) -> Plan {
    let numbers = scale.pick(SCALES);
    let (steps, opponents) = steps(&numbers, scale.plies(), &inputs);
    let elements = elements(&opponents);
    Plan {
        name: "deepchess".into(),
        title: "DeepChess: a network that compares positions".into(),
        paper:
            "David, Netanyahu and Wolf, DeepChess: End-to-End Deep Neural Network for Automatic Learning in Chess, 2016"
                .into(),
        scale,
        seed,
        inputs,
        steps,
        elements,
    }
}

/// The networks: names, descriptions, layers.
const NETWORKS: [(&str, &str, &[usize], &[usize]); 3] = [
    (
        "large",
        "773-600-400-200-100, 200-400-200-100-2, tested on other games",
        &[600, 400, 200, 100],
        &[400, 200, 100, 2],
    ),
    (
        "distilled",
        "773-100-100-100, 200-100-100-2, distilled from it, tested on other games",
        &[100, 100, 100],
        &[100, 100, 2],
    ),
    (
        "large-by-position",
        "as the first, tested on other positions of the same games, as in the paper",
        &[600, 400, 200, 100],
        &[400, 200, 100, 2],
    ),
];

fn steps(numbers: &Numbers, plies: u32, inputs: &Inputs) -> (Vec<Step>, Vec<String>) {
    let step = |name: &str, work: Work| Step { name: name.into(), work };
    // Ten positions of a decided game, not from the first five moves and not right after a capture.
    let filters = Filters {
        plies: [10, 10_000],
        results: vec![GameResult::WhiteWins, GameResult::BlackWins],
        per_game: Some(10),
        skip_after_captures: true,
        ..Filters::default()
    };
    let (games, count, test_percent) = (inputs.games.clone(), numbers.positions, numbers.test_percent);
    let mut steps = vec![step("positions", Work::Prepare { games, filters, count, test_percent })];
    // Evaluations first: they take seconds, networks take hours.
    steps.push(step("hand-tuned", Work::HandTuned { tapered: true }));
    let mut opponents: Vec<String> = vec!["material".into(), "hand-tuned".into()];
    opponents.extend(inputs.weights.iter().map(|path| stem(path)));
    opponents.push("default".into());
    for name in &opponents {
        let auc = Work::Auc { weights: name.clone(), samples: "positions".into() };
        steps.push(step(&format!("auc-{name}"), auc));
    }
    for (name, _, encoder, comparator) in NETWORKS {
        let settings = NetworkSettings {
            encoder: encoder.to_vec(),
            comparator: comparator.to_vec(),
            split: if name == "large-by-position" { Split::Position } else { Split::Game },
            encoder_epochs: numbers.encoder_epochs,
            epochs: numbers.epochs,
            pairs: numbers.pairs,
            batch: numbers.batch,
            encoder_rate: [0.005, 0.98],
            rate: [0.01, 0.99],
            momentum: 0.9,
        };
        let teacher = (name == "distilled").then(|| "large".to_string());
        steps.push(step(name, Work::Network { samples: "positions".into(), settings: Box::new(settings), teacher }));
        let pairs = Work::Pairs { network: name.into(), samples: "positions".into(), pairs: numbers.tested_pairs };
        steps.push(step(&format!("pairs-{name}"), pairs));
    }
    let budgets = [("nodes", SearchLimits::Nodes(numbers.nodes)), ("time", SearchLimits::MoveTime(numbers.move_time))];
    for (kind, budget) in budgets {
        for opponent in &opponents {
            let players = ["distilled".to_string(), opponent.clone()];
            let work = Work::Match { players, budget, pairs: numbers.games, plies };
            steps.push(step(&format!("distilled_{opponent}_{kind}"), work));
        }
    }
    let players = ["large".to_string(), "distilled".to_string()];
    let work = Work::Match { players, budget: SearchLimits::Nodes(numbers.nodes), pairs: numbers.games, plies };
    steps.push(step("large_distilled_nodes", work));
    (steps, opponents)
}

fn elements(opponents: &[String]) -> Vec<PageElement> {
    let heading = |text: &str| PageElement::Heading { text: text.into() };
    let dash = || text("-");
    let accuracy = |label: &str, published: Cell, step: &str, pairs: Cell| {
        let at = |name: &str| value(step, name, 1.0, 0);
        vec![text(label), published, value(step, "/accuracy", 1.0, 2), pairs, at("/positions"), at("/games")]
    };
    let mut rows: Vec<Vec<Cell>> = NETWORKS
        .iter()
        .map(|(name, about, _, _)| {
            let published =
                if *name == "large-by-position" { Cell::Paper { value: PAPER_ACCURACY, decimals: 1 } } else { dash() };
            let step = format!("pairs-{name}");
            accuracy(&format!("{name}: {about}"), published, &step, value(&step, "/pairs", 1.0, 0))
        })
        .collect();
    rows.extend(
        opponents
            .iter()
            .map(|name| accuracy(&format!("evaluation: {name}"), dash(), &format!("auc-{name}"), text("all"))),
    );
    let cost = |(name, _, _, _): &(&str, &str, &[usize], &[usize])| {
        vec![
            text(*name),
            value(name, "/parameters", 1.0, 0),
            value(name, "/positions", 1.0, 0),
            value(name, "/training_seconds", 1.0, 0),
            value(name, "/pairs_per_second", 1.0, 0),
            value(&format!("pairs-{name}"), "/pairs_per_second", 1.0, 0),
        ]
    };
    // As many as the largest scale has; missing ones are left out of a chart.
    let curve = |(name, _, _, _): &(&str, &str, &[usize], &[usize])| {
        let epochs = SCALES.map(|numbers| numbers.epochs as usize).into_iter().max().unwrap_or_default();
        let point = |epoch: usize| {
            let at = format!("/curve/{}", epoch - 1);
            (epoch as f64, Cell::Value { step: (*name).into(), at, factor: 1.0, decimals: 4 })
        };
        (name.to_string(), (1..=epochs).map(point).collect())
    };
    let against = |kind: &str| -> Vec<ScoreRow> {
        let row =
            |opponent: &String| (format!("distilled vs. {opponent}"), None, format!("distilled_{opponent}_{kind}"));
        opponents.iter().map(row).collect()
    };
    let mut nodes = against("nodes");
    nodes.push(("large vs. distilled".into(), None, "large_distilled_nodes".into()));
    vec![
        heading("Which of two positions was won?"),
        table(
            "Pairs ordered correctly, in percent with 95 % intervals: one position of a game that White won, one of a game \
             that Black won. For an evaluation it is the area under the curve, over all pairs.",
            &["Evaluation", "Paper, %", "Dyad, %", "Pairs", "Test positions", "Test games"],
            rows,
        ),
        heading("Training"),
        table(
            "Cost of the networks on this machine. Other programs running at the time change it.",
            &[
                "Network",
                "Parameters",
                "Positions learned from",
                "Seconds of training",
                "Pairs/s, training",
                "Pairs/s, answering",
            ],
            NETWORKS.iter().map(cost).collect(),
        ),
        PageElement::Chart {
            caption: "Loss of the end-to-end training; for the distilled network the cross-entropy with the outputs of the large one.".into(),
            x: "epoch".into(),
            y: "cross-entropy, nats a pair".into(),
            series: NETWORKS.iter().map(curve).collect(),
        },
        heading("Play"),
        PageElement::Text {
            text: "The network plays by alpha-beta over positions: it has no values, keeps the best position that either side \
                   is sure of, and asks whether a new one is better. Its opponents search as the engine does."
                .into(),
        },
        scores("At equal nodes a move.", &nodes),
        scores("At equal time a move, which is not reproducible.", &against("time")),
    ]
}
