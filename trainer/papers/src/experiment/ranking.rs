//! `ranking-svm`: Paulsen and Fürnkranz (2010), Tables 2 to 4, Figs. 1 and 2.
//!
//! The features of their Table 1 and piece-square tables, learned by a ranking SVM from the moves of players of each
//! band, at the leaves of a search. A hand-tuned evaluation replaces TSCP. Games of masters are an addition. Their
//! Table 5, games on a server against people, has no counterpart.

use std::path::PathBuf;

use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::learn::settings::{GroupSettings, ObjectiveSettings, OptimizerSettings, TrainingSettings};

use crate::experiment::plan::{
    Cell, FIXED_SCALE, Inputs, PageElement, Plan, SCALE_COLUMN, Scale, Step, Work, scale_of, score, stem, table, text,
    value,
};

/// The features of Table 1: name in the paper, group in Dyad, index in the group or none for the group's mean, weight in the
/// paper.
const POSITIONAL: [(&str, &str, Option<usize>, f64); 7] = [
    ("double pawn", "pawn_doubled", None, -10.0),
    ("isolated pawn", "pawn_isolated", None, -20.0),
    ("backward pawn", "pawn_backward", None, -8.0),
    ("passed pawn", "passed_rank", None, 20.0),
    ("open file, away from the king", "rook_file", Some(0), 15.0),
    ("half-open file, away from the king", "rook_file", Some(2), 10.0),
    ("rook on 7th rank", "rook_seventh", None, 20.0),
];
const PIECES: [(&str, f64); 5] =
    [("pawn", 100.0), ("knight", 300.0), ("bishop", 300.0), ("rook", 500.0), ("queen", 900.0)];
/// Table 3: error, recall and precision, in percent, by rating.
const PREDICTION: [(u32, [f64; 3]); 4] = [
    (1000, [34.46, 66.96, 72.42]),
    (1200, [33.26, 67.84, 73.30]),
    (1400, [33.55, 67.28, 72.74]),
    (1600, [33.40, 67.18, 72.89]),
];
/// Table 4: points of 1600 in 100 games against 1000, for 1, 2 and 4 plies.
const TOP_AGAINST_LOWEST: [(u32, f64); 3] = [(1, 45.0), (2, 63.5), (4, 53.0)];

struct Numbers {
    positions: u64,
    test_percent: f64,
    depth: u32,
    iterations: u32,
    pairs: u64,
}

const SCALES: [Numbers; 4] = [
    Numbers { positions: 300, test_percent: 20.0, depth: 1, iterations: 1, pairs: 1 },
    Numbers { positions: 12_000, test_percent: 10.0, depth: 1, iterations: 5, pairs: 50 },
    Numbers { positions: 75_000, test_percent: 10.0, depth: 2, iterations: 5, pairs: 500 },
    Numbers { positions: 75_000, test_percent: 10.0, depth: 3, iterations: 20, pairs: 500 },
];

/// L2 of the ranking SVM, the counterpart of its C: the fraction that every update subtracts from the weights. Material
/// has none.
const L2: f64 = 1e-6;
/// Required lead of the desired move, in units: a sixth of a pawn.
const MARGIN: i32 = 30;

/// The plan.
pub(super) fn plan(scale: Scale, inputs: Inputs, seed: u64) -> Plan {
    let numbers = scale.pick(SCALES);
    let mut bands: Vec<(String, Vec<PathBuf>)> =
        inputs.bands.iter().map(|path| (stem(path), vec![path.clone()])).collect();
    if !inputs.games.is_empty() {
        bands.push(("masters".into(), inputs.games.clone()));
    }
    let mut steps = Vec::new();
    for (band, games) in &bands {
        steps.extend(of_band(&numbers, band, games));
    }
    let names: Vec<String> = bands.into_iter().map(|(band, _)| band).collect();
    let mut elements = learned(&names);
    steps.push(Step { name: "hand-tuned".into(), work: Work::HandTuned { tapered: true } });
    for depth in [1, 2, 4] {
        // The paper's program played from 2 plies on.
        let players: Vec<String> = names.iter().cloned().chain((depth > 1).then(|| "hand-tuned".into())).collect();
        elements.push(round_robin(&players, depth, numbers.pairs, scale.plies(), &mut steps));
    }
    elements.push(separation(&names));
    Plan {
        name: "ranking-svm".into(),
        title: "Evaluation functions from games of players of different strengths".into(),
        paper:
            "Paulsen and Fürnkranz, A Moderately Successful Attempt to Train Chess Evaluation Functions of Different \
                Strengths, 2010"
                .into(),
        scale,
        seed,
        inputs,
        steps,
        elements,
    }
}

fn of_band(numbers: &Numbers, band: &str, games: &[PathBuf]) -> Vec<Step> {
    let positions = format!("positions-{band}");
    // About one position every ten plies, at random; they took each tenth.
    let filters = Filters { per_game: Some(7), ..Filters::default() };
    let (count, test_percent) = (numbers.positions, numbers.test_percent);
    let mut learn: Vec<String> = vec!["material".into(), "piece_square".into()];
    for (_, group, _, _) in POSITIONAL {
        if !learn.iter().any(|known| known == group) {
            learn.push(group.into());
        }
    }
    let held = GroupSettings { l2: L2, ..GroupSettings::default() };
    let groups = learn.iter().filter(|name| *name != "material").map(|name| (name.clone(), held)).collect();
    let settings = TrainingSettings {
        depth: numbers.depth,
        batch: 50,
        iterations: numbers.iterations,
        objective: ObjectiveSettings::RankingSvm { margin: MARGIN },
        optimizer: OptimizerSettings::default(),
        groups,
        keep_going: true,
        ..TrainingSettings::default()
    };
    let (samples, settings) = (positions.clone(), Box::new(settings));
    let train = Work::Train { samples, learn, settings, fixed_scale: FIXED_SCALE };
    let ranking = Work::Ranking { weights: band.into(), samples: positions.clone(), depth: numbers.depth };
    vec![
        Step { name: positions.clone(), work: Work::Prepare { games: games.to_vec(), filters, count, test_percent } },
        Step { name: band.into(), work: train },
        Step { name: format!("prediction-{band}"), work: ranking },
    ]
}

/// The rating in the name of a band, if there is one.
fn rating(band: &str) -> Option<u32> {
    band.rsplit(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?.parse().ok()
}

/// Tables 2 and 3, Figs. 1 and 2.
fn learned(bands: &[String]) -> Vec<PageElement> {
    let heading = |text: &str| PageElement::Heading { text: text.into() };
    let data = |band: &String| {
        let positions = format!("positions-{band}");
        vec![
            text(band),
            value(&positions, "/games", 1.0, 0),
            value(&positions, "/positions", 1.0, 0),
            value(&format!("prediction-{band}"), "/pairs", 1.0, 0),
        ]
    };
    let prediction = |band: &String| {
        let published = rating(band).and_then(|rating| PREDICTION.iter().find(|(known, _)| *known == rating));
        let step = format!("prediction-{band}");
        let mut row = vec![text(band)];
        for (index, at) in ["/error", "/recall", "/precision"].into_iter().enumerate() {
            row.push(published.map_or_else(|| text("-"), |(_, all)| Cell::Paper { value: all[index], decimals: 2 }));
            row.push(value(&step, at, 100.0, 2));
        }
        row.push(value(&step, "/pairs", 1.0, 0));
        row
    };
    let fitted = |band: &String| vec![text(band), scale_of(band), value(band, "/best", 1.0, 0)];
    let weight = |band: &str, group: &str, index: Option<usize>| Cell::Weight {
        weights: band.into(),
        group: group.into(),
        index,
        stage: 0,
        centipawns: true,
    };
    let row = |label: &str, published: f64, group: &str, index: Option<usize>| {
        let mut row = vec![text(label), Cell::Paper { value: published, decimals: 0 }];
        row.extend(bands.iter().map(|band| weight(band, group, index)));
        row
    };
    let head: Vec<&str> = ["Feature", "TSCP"].into_iter().chain(bands.iter().map(String::as_str)).collect();
    let pieces =
        PIECES.iter().enumerate().map(|(index, (label, published))| row(label, *published, "material", Some(index)));
    let positional = POSITIONAL.iter().map(|(label, group, index, published)| row(label, *published, group, *index));
    // Bands without a rating come last.
    let place = |number: usize, band: &str| rating(band).map_or(2_400.0 + number as f64, f64::from);
    let series = |label: &str, group: &str, index: Option<usize>| {
        let points = bands.iter().enumerate().map(|(number, band)| (place(number, band), weight(band, group, index)));
        (label.to_string(), points.collect())
    };
    let chart = |caption: &str, series: Vec<(String, Vec<(f64, Cell)>)>| PageElement::Chart {
        caption: caption.into(),
        x: "rating of the players (masters at the right)".into(),
        y: "weight, centipawns".into(),
        series,
    };
    let boards = |piece: usize, stage: usize| {
        let ends = [bands.first(), bands.last()];
        ends.into_iter().flatten().map(move |band| (band.clone(), band.clone(), piece, stage)).collect()
    };
    let squares = |name: &str, piece: usize, stage: usize| PageElement::Boards {
        caption: format!("Piece-square tables in centipawns, {name}, of the first and the last band, as Fig. 2."),
        boards: boards(piece, stage),
    };
    vec![
        heading("Data"),
        table(
            "Training data, as Table 2.",
            &["Band", "Games", "Positions", "Pairs held out"],
            bands.iter().map(data).collect(),
        ),
        heading("Prediction of moves"),
        table(
            "Error, recall and precision of pairs of moves in percent, as Table 3. Paper: estimates of the SVM; Dyad: held-out games.",
            &[
                "Band",
                "Error, paper",
                "Error, Dyad",
                "Recall, paper",
                "Recall, Dyad",
                "Precision, paper",
                "Precision, Dyad",
                "Pairs, Dyad",
            ],
            bands.iter().map(prediction).collect(),
        ),
        heading("What was learned"),
        table(
            "Scale of the weights, the same for all bands, and the iteration with the best move-match accuracy.",
            &["Band", SCALE_COLUMN, "Iteration"],
            bands.iter().map(fitted).collect(),
        ),
        table("Values of the pieces in the middlegame, in centipawns, as Fig. 1 (a).", &head, pieces.collect()),
        table(
            "Positional features in the middlegame, in centipawns, as Figs. 1 (b) and (c); where one feature of the paper is a \
             group in Dyad, the mean of the group.",
            &head,
            positional.collect(),
        ),
        chart(
            "Values of the pieces by rating, as Fig. 1 (a).",
            PIECES
                .iter()
                .enumerate()
                .skip(1)
                .map(|(index, (label, _))| series(label, "material", Some(index)))
                .collect(),
        ),
        chart(
            "Pawn features by rating, as Fig. 1 (b).",
            POSITIONAL[..4].iter().map(|(label, group, index, _)| series(label, group, *index)).collect(),
        ),
        chart(
            "Rook features by rating, as Fig. 1 (c).",
            POSITIONAL[4..].iter().map(|(label, group, index, _)| series(label, group, *index)).collect(),
        ),
        squares("pawn, middlegame", 0, 0),
        squares("knight, middlegame", 1, 0),
        squares("bishop, middlegame", 2, 0),
        squares("king, middlegame", 5, 0),
        squares("king, endgame", 5, 1),
        heading("Round robins"),
    ]
}

fn match_name(a: &str, b: &str, depth: u32) -> String {
    format!("{a}_{b}_ply{depth}")
}

/// Table 4 at one depth.
fn round_robin(players: &[String], depth: u32, pairs: u64, plies: u32, steps: &mut Vec<Step>) -> PageElement {
    for (number, a) in players.iter().enumerate() {
        for b in &players[number + 1..] {
            let (players, budget) = ([b.clone(), a.clone()], SearchLimits::Depth(depth));
            steps.push(Step { name: match_name(b, a, depth), work: Work::Match { players, budget, pairs, plies } });
        }
    }
    let row = |(number, own): (usize, &String)| {
        let mut row = vec![text(own)];
        let mut all = Vec::new();
        for (index, other) in players.iter().enumerate() {
            if index == number {
                row.push(text("-"));
                continue;
            }
            let (step, reversed) = match index < number {
                true => (match_name(own, other, depth), false),
                false => (match_name(other, own, depth), true),
            };
            all.push((step.clone(), reversed));
            row.push(Cell::Score { step, reversed });
        }
        row.push(Cell::Total { steps: all });
        row
    };
    let rows = players.iter().enumerate().map(row).collect();
    let head: Vec<&str> =
        ["Score of"].into_iter().chain(players.iter().map(String::as_str)).chain(["All games"]).collect();
    let games = 2 * pairs;
    let caption = format!(
        "Round robin at {depth} plies, {games} games a pair, as Table 4: scores in percent of the row's player against the column's."
    );
    table(caption, &head, rows)
}

/// Whether games of stronger players made the stronger program.
fn separation(bands: &[String]) -> PageElement {
    let (Some(lowest), Some(top)) = (bands.first(), bands.last()) else {
        return PageElement::Text { text: "There are no bands.".into() };
    };
    let row = |(depth, published): (u32, f64)| {
        let step = match_name(top, lowest, depth);
        vec![
            text(format!("{top} vs. {lowest}, {depth} plies")),
            Cell::Paper { value: published, decimals: 1 },
            score(&step),
            Cell::Games { step: step.clone() },
            Cell::Verdict { step, paper: 75.0 },
        ]
    };
    table(
        "The strongest band against the weakest: the paper's 1600 against its 1000, ours the last against the first. 75 % would be \
         a difference of 200 Elo.",
        &["Match", "Paper, %", "Dyad, % (95 % interval)", "Games", "Is the stronger band stronger?"],
        TOP_AGAINST_LOWEST.into_iter().map(row).collect(),
    )
}
