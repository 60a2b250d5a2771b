//! `ct-chess`: Tseng, Chen and Wu (2018), Tables II to X.
//!
//! The paper's original program was hand-tuned for years; Dyad's is trained from the same Table I on the same positions
//! without 2-tuples, so that only the 2-tuples differ.

use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::learn::settings::TrainingSettings;

use crate::experiment::plan::{
    Cell, FIXED_SCALE, Inputs, PageElement, Plan, SCALE_COLUMN, Scale, ScoreRow, Step, Work, paper, scale_of, score,
    scores, table, text, value,
};

/// Families that stand for the sub-functions with non-linear features: imbalance, king, passed, space, initiative.
const NON_LINEAR: [&str; 5] = ["material_pairs", "king", "passed", "space", "winnability"];
const LINEAR: [&str; 6] = ["material", "piece_square", "mobility", "pawns", "pieces", "threats"];

/// Tables IV to VII: CT1 to CT4 and CT5 to CT8 against ORI1 and against ORI2.
const AGAINST_BASE1: [f64; 8] = [33.83, 40.10, 38.77, 41.30, 21.70, 24.30, 26.13, 28.15];
const AGAINST_BASE2: [f64; 8] = [72.33, 77.05, 75.40, 78.28, 58.92, 62.25, 65.03, 65.25];
/// Tables VIII and IX: 2- against 1-ply, 3- against 2-ply, 4- against 3-ply.
const DEEPER: [[f64; 3]; 2] = [[57.70, 50.95, 51.65], [57.65, 52.90, 50.90]];
/// Table X: middlegame and endgame weights of ORI1 and CT4.
const MATERIAL: [(&str, [f64; 4]); 5] = [
    ("queen", [2500.0, 2670.0, 2432.0, 1671.0]),
    ("rook", [1282.0, 1373.0, 1189.0, 812.0]),
    ("bishop", [826.0, 891.0, 898.0, 499.0]),
    ("knight", [764.0, 848.0, 819.0, 452.0]),
    ("pawn", [171.0, 240.0, 107.0, 202.0]),
];

struct Numbers {
    positions: u64,
    test_percent: f64,
    /// Nodes of the search whose moves are learned; `None` for the moves of the games.
    label_nodes: Option<u64>,
    /// Depths of training, from 1.
    depths: u32,
    iterations: u32,
    batch: usize,
    nodes: u64,
    pairs: u64,
    /// Depths that are trained on the moves of the games as well.
    own_moves: &'static [u32],
}

const SCALES: [Numbers; 4] = [
    Numbers {
        positions: 300,
        test_percent: 20.0,
        label_nodes: Some(100),
        depths: 4,
        iterations: 1,
        batch: 20,
        nodes: 30,
        pairs: 2,
        own_moves: &[1],
    },
    Numbers {
        positions: 12_000,
        test_percent: 8.0,
        label_nodes: Some(2_000),
        depths: 4,
        iterations: 2,
        batch: 50,
        nodes: 1_000,
        pairs: 60,
        own_moves: &[2],
    },
    Numbers {
        positions: 5_000_000,
        test_percent: 2.0,
        label_nodes: None,
        depths: 3,
        iterations: 1,
        batch: 50,
        nodes: 20_000,
        pairs: 500,
        own_moves: &[],
    },
    Numbers {
        positions: 5_500_000,
        test_percent: 9.0,
        label_nodes: Some(200_000),
        depths: 4,
        iterations: 10,
        batch: 50,
        nodes: 100_000,
        pairs: 1_000,
        own_moves: &[1, 2, 3, 4],
    },
];

/// The plan.
pub(super) fn plan(scale: Scale, inputs: Inputs, seed: u64) -> Plan {
    let numbers = scale.pick(SCALES);
    let mut steps = steps(&numbers, &inputs);
    let mut matches = Vec::new();
    let elements = elements(&numbers, scale.plies(), &mut matches);
    steps.extend(matches);
    Plan {
        name: "ct-chess".into(),
        title: "Comparison training of 2-tuples for chess".into(),
        paper: "Tseng, Chen and Wu, Comparison Training of N-Tuple Networks for Chess, 2018".into(),
        scale,
        seed,
        inputs,
        steps,
        elements,
    }
}

fn learn(families: &[&[&str]]) -> Vec<String> {
    families.concat().into_iter().map(String::from).collect()
}

fn steps(numbers: &Numbers, inputs: &Inputs) -> Vec<Step> {
    let step = |name: &str, work: Work| Step { name: name.into(), work };
    let training = |samples: &str, depth: u32, learn: Vec<String>| Work::Train {
        samples: samples.into(),
        learn,
        settings: Box::new(TrainingSettings {
            depth,
            batch: numbers.batch,
            iterations: numbers.iterations,
            keep_going: true,
            ..TrainingSettings::default()
        }),
        fixed_scale: FIXED_SCALE,
    };
    let filters = Filters { plies: [10, 10_000], ..Filters::default() };
    let (games, count, test_percent) = (inputs.games.clone(), numbers.positions, numbers.test_percent);
    let mut steps = vec![step("positions", Work::Prepare { games, filters, count, test_percent })];
    let samples = match numbers.label_nodes {
        Some(nodes) => {
            steps.push(step("desired", Work::Label { samples: "positions".into(), nodes }));
            "desired"
        }
        None => "positions",
    };
    steps.push(step("base1", training(samples, 2, learn(&[&LINEAR, &NON_LINEAR]))));
    steps.push(step("base2", Work::Without { weights: "base1".into(), groups: learn(&[&NON_LINEAR]) }));
    for depth in 1..=numbers.depths {
        steps.push(step(&format!("ct{depth}"), training(samples, depth, learn(&[&LINEAR, &NON_LINEAR, &["pairs"]]))));
        steps.push(step(&format!("ct{}", depth + 4), training(samples, depth, learn(&[&LINEAR, &["pairs"]]))));
    }
    for &depth in numbers.own_moves {
        steps.push(step(
            &format!("own{depth}"),
            training("positions", depth, learn(&[&LINEAR, &NON_LINEAR, &["pairs"]])),
        ));
    }
    steps
}

/// The elements of the page, and the matches they need.
fn elements(numbers: &Numbers, plies: u32, matches: &mut Vec<Step>) -> Vec<PageElement> {
    let mut play = |a: &str, b: &str| {
        let name = format!("{a}-{b}");
        let (players, budget) = ([a.to_string(), b.to_string()], SearchLimits::Nodes(numbers.nodes));
        matches.push(Step { name: name.clone(), work: Work::Match { players, budget, pairs: numbers.pairs, plies } });
        name
    };
    let called = |name: &str| name.to_uppercase();
    let mut row =
        |a: &str, b: &str, published: Option<f64>| (format!("{} vs. {}", called(a), called(b)), published, play(a, b));
    let depths = numbers.depths as usize;
    let against = |base: &'static str, first: usize, published: &[f64; 8]| -> Vec<(String, String, Option<f64>)> {
        (first..first + depths)
            .map(|number| (format!("ct{}", number + 1), base.to_string(), Some(published[number])))
            .collect()
    };
    let mut rows = |all: Vec<(String, String, Option<f64>)>| -> Vec<ScoreRow> {
        all.iter().map(|(a, b, published)| row(a, b, *published)).collect()
    };
    let base = rows(vec![("base1".into(), "base2".into(), Some(82.0))]);
    let four = rows(against("base1", 0, &AGAINST_BASE1));
    let five = rows(against("base1", 4, &AGAINST_BASE1));
    let six = rows(against("base2", 0, &AGAINST_BASE2));
    let seven = rows(against("base2", 4, &AGAINST_BASE2));
    let mut deeper = |first: usize, published: [f64; 3]| {
        let pair =
            |step: usize| (format!("ct{}", first + step + 1), format!("ct{}", first + step), Some(published[step]));
        rows((0..depths - 1).map(pair).collect())
    };
    let (eight, nine) = (deeper(1, DEEPER[0]), deeper(5, DEEPER[1]));
    let own: Vec<(String, String, Option<f64>)> =
        numbers.own_moves.iter().map(|depth| (format!("ct{depth}"), format!("own{depth}"), None)).collect();
    let own = rows(own);

    let versions = [
        ("base1", "All groups without 2-tuples, trained 2-ply from Table I"),
        ("base2", "BASE1 without the groups of the nonlinear sub-functions, not retrained"),
    ];
    let described = |depth: u32| {
        let all = format!("All groups and 2-tuples, {depth}-ply training");
        let linear = format!("The linear groups and 2-tuples, {depth}-ply training");
        [(format!("ct{depth}"), all), (format!("ct{}", depth + 4), linear)]
    };
    let mut list: Vec<(String, String)> = versions.map(|(name, about)| (name.into(), about.into())).to_vec();
    list.extend((1..=numbers.depths).map(|depth| described(depth)[0].clone()));
    list.extend((1..=numbers.depths).map(|depth| described(depth)[1].clone()));
    let version = |(name, about): &(String, String)| {
        let features = match name.as_str() {
            "base2" => text("-"),
            _ => value(name, "/features", 1.0, 0),
        };
        let accuracy = match name.as_str() {
            "base2" => text("-"),
            _ => value(name, "/accuracy", 1.0, 2),
        };
        vec![text(called(name)), text(about), features, scale_of(name), accuracy]
    };
    let weight = |name: &str, piece: &str, stage: usize| value(name, &format!("/{piece}/{stage}"), 1.0, 0);
    let deepest = format!("ct{depths}");
    let material = MATERIAL.iter().map(|(piece, published)| {
        let mut row = vec![text(*piece)];
        for (side, name) in ["base1", &deepest].into_iter().enumerate() {
            for stage in 0..2 {
                row.push(Cell::Paper { value: published[2 * side + stage], decimals: 0 });
                row.push(weight(name, piece, stage));
            }
        }
        row
    });
    let [all_groups, linear_groups] = [0, 4].map(|first| format!("CT{} to CT{}", first + 1, first + depths));
    let point = |(index, (_, published, step)): (usize, &ScoreRow)| {
        let x = (index + 1) as f64;
        ((x, published.map_or_else(|| text("-"), paper)), (x, score(step)))
    };
    let chart = |caption: &str, all: [&[ScoreRow]; 2]| {
        let mut series = Vec::new();
        for (label, rows) in [&all_groups, &linear_groups].into_iter().zip(all) {
            let (published, measured): (Vec<_>, Vec<_>) = rows.iter().enumerate().map(point).unzip();
            series.push((format!("{label}, Dyad"), measured));
            series.push((format!("{label}, paper"), published));
        }
        PageElement::Chart {
            caption: caption.into(),
            x: "depth of training, plies".into(),
            y: "score, %".into(),
            series,
        }
    };
    let heading = |text: &str| PageElement::Heading { text: text.into() };
    let mut page = vec![
        heading("Versions"),
        PageElement::Text {
            text: "The paper's ORI1 is a program tuned by hand for years, with non-linear sub-functions. BASE1 is the linear \
                   evaluation with all groups, trained on the same positions and from the same Table I as the others, but \
                   without 2-tuples; BASE2 lacks the groups that stand for those sub-functions."
                .into(),
        },
        table(
            "Versions, as Table II.",
            &["Version", "What it is", "Features", SCALE_COLUMN, "Move-match accuracy on test positions, %"],
            list.iter().map(version).collect(),
        ),
        heading("Baselines"),
        scores("BASE1 against BASE2, as Table III.", &base),
        heading("Trained with 2-tuples against the baselines"),
        scores(format!("{all_groups} against BASE1, as Table IV."), &four),
        scores(format!("{linear_groups} against BASE1, as Table V."), &five),
        scores(format!("{all_groups} against BASE2, as Table VI."), &six),
        scores(format!("{linear_groups} against BASE2, as Table VII."), &seven),
        chart("Score against BASE1 by depth of training, with 95 % intervals.", [&four, &five]),
        chart("Score against BASE2 by depth of training, with 95 % intervals.", [&six, &seven]),
        heading("Deeper training"),
        scores("d-ply against (d-1)-ply training, as Table VIII.", &eight),
        scores("d-ply against (d-1)-ply training, linear groups, as Table IX.", &nine),
    ];
    if !own.is_empty() {
        page.push(heading("Desired moves of the search or of the masters"));
        let caption = "Trained on moves of a search (CT) against trained on the moves that the masters played (OWN).";
        page.push(scores(caption, &own));
    }
    page.extend([
        heading("Weights of the pieces"),
        table(
            "Weights of the pieces in units, middlegame and endgame, as Table X.",
            &[
                "Piece",
                "ORI1 mg",
                "BASE1 mg",
                "ORI1 eg",
                "BASE1 eg",
                "CT4 mg, paper",
                &format!("{} mg, Dyad", called(&deepest)),
                "CT4 eg, paper",
                &format!("{} eg, Dyad", called(&deepest)),
            ],
            material.collect(),
        ),
    ]);
    page
}
