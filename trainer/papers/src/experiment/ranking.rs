//! `ranking-svm`: Paulsen and Fürnkranz (2010), Tables 2 to 4, Figs. 1 and 2.
//!
//! The features of their Table 1 and piece-square tables, learned by a ranking SVM from the moves of players of each
//! band, at the leaves of a search. A hand-tuned evaluation replaces TSCP. Their
//! Table 5, games on a server against people, has no counterpart.

use dyad_engine::eval::layout::MATERIAL;
use dyad_formats::error::Error;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::base::group_value::GroupValue;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::learn::settings::{ObjectiveName, TrainingSettings};

use crate::experiment::page::{SCALE_COLUMN, in_percent, interval, score, verdict};
use crate::experiment::run::Run;
use crate::experiment::stem;
use crate::experiment::steps::Trained;

/// The features of Table 1: name in the paper, group in Dyad, index in the group or none for the group's mean, weight in
/// the paper.
type Feature = (&'static str, &'static str, Option<usize>, i32);
const POSITIONAL: [Feature; 7] = [
    ("double pawn", "pawn_doubled", None, -10),
    ("isolated pawn", "pawn_isolated", None, -20),
    ("backward pawn", "pawn_backward", None, -8),
    ("passed pawn", "passed_rank", None, 20),
    ("open file, away from the king", "rook_file", Some(0), 15),
    ("half-open file, away from the king", "rook_file", Some(2), 10),
    ("rook on 7th rank", "rook_seventh", None, 20),
];
const PIECES: [Feature; 5] = [
    ("pawn", "material", Some(0), 100),
    ("knight", "material", Some(1), 300),
    ("bishop", "material", Some(2), 300),
    ("rook", "material", Some(3), 500),
    ("queen", "material", Some(4), 900),
];
const GROUPS: [&str; 8] = [
    "material",
    "piece_square",
    "pawn_doubled",
    "pawn_isolated",
    "pawn_backward",
    "passed_rank",
    "rook_file",
    "rook_seventh",
];
/// Tables 2 and 3, by rating: positions and examples; error, recall and precision, in percent.
const OF_PAPER: [(u32, [&str; 2], [&str; 3]); 4] = [
    (1000, ["20732", "614246"], ["34.46", "66.96", "72.42"]),
    (1200, ["39170", "1185524"], ["33.26", "67.84", "73.30"]),
    (1400, ["75196", "2325861"], ["33.55", "67.28", "72.74"]),
    (1600, ["75114", "2352536"], ["33.40", "67.18", "72.89"]),
];
/// Table 4: points of 1600 in 100 games against 1000, for 1, 2 and 4 plies.
const TOP_AGAINST_LOWEST: [(u32, &str); 3] = [(1, "45.0"), (2, "63.5"), (4, "53.0")];

/// L2 of the ranking SVM, the counterpart of its C: the fraction that every update subtracts from the weights. Material
/// has none.
const L2: f64 = 1e-6;
/// Required lead of the desired move, in units: a sixth of a pawn.
const MARGIN: i32 = 30;

pub(super) fn steps(run: &mut Run) -> Result<(), Error> {
    // Numbers of the sizes tiny, small, night and full.
    let positions = run.positions([300, 12_000, 75_000, 75_000]);
    let test_percent = run.pick([40.0, 20.0, 10.0, 10.0]);
    let depth = run.pick([1, 1, 2, 3]);
    let iterations = run.pick([1, 5, 5, 20]);
    let pairs = run.pick([1, 50, 500, 500]);

    let files = &run.settings.games_file;
    let names: Vec<String> = files.iter().map(|path| stem(path)).collect();
    let (mut data, mut predictions, mut trainings) = (Vec::new(), Vec::new(), Vec::new());
    for (band, games) in names.iter().zip(files) {
        let samples = format!("positions-{band}");
        // About one position every ten plies, at random; they took each tenth.
        let filters = Filters { per_game: Some(7), ..Filters::default() };
        run.prepare(&samples, std::slice::from_ref(games), filters, positions, test_percent)?;
        let settings = TrainingSettings {
            depth,
            batch: 50,
            iterations,
            objective: ObjectiveName::RankingSvm,
            margin: MARGIN,
            l2: GROUPS[1..].iter().map(|group| GroupValue::new(group, L2)).collect(),
            ..TrainingSettings::default()
        };
        let trained = run.train(band, &samples, &GROUPS, settings, None)?;
        let ranking = run.rank(&format!("prediction-{band}"), band, &samples, depth)?;
        let (summary, pairs) = (run.samples(&samples)?.summary, ranking.pairs.to_string());
        let (amounts, published) = OF_PAPER
            .iter()
            .find(|(known, ..)| rating(band) == Some(*known))
            .map_or((["-"; 2], ["-"; 3]), |(_, amounts, published)| (*amounts, *published));
        let [positions, examples] = amounts.map(String::from);
        let (games, count) = (summary.games.to_string(), summary.count.to_string());
        data.push(vec![band.clone(), positions, examples, games, count, pairs.clone()]);
        let own = [ranking.error, ranking.recall, ranking.precision].map(|share| format!("{:.2}", 100.0 * share));
        let cells = published.into_iter().zip(own).flat_map(|(paper, own)| [paper.to_string(), own]);
        predictions.push([band.clone()].into_iter().chain(cells).chain([pairs]).collect());
        let row = vec![band.clone(), run.scale(band)?, trained.best.to_string()];
        trainings.push([row, trained.cells().to_vec()].concat());
    }
    run.hand_tuned("hand-tuned", true)?;

    run.heading("Data");
    let head = ["Band", "Positions, paper", "Examples, paper", "Games", "Positions, Dyad", "Pairs tested"];
    run.table("Data, as Table 2.", &head, &data);
    run.heading("Prediction of moves");
    run.table(
        "Error, recall and precision of pairs of moves in percent, as Table 3. Paper: estimates of the SVM; Dyad: held-out \
         games.",
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
        &predictions,
    );
    run.heading("What was learned");
    run.table(
        "Scale of the weights, the same for all bands, and the trainings.",
        &[&["Band", SCALE_COLUMN, "Iteration"][..], &Trained::HEAD].concat(),
        &trainings,
    );
    let caption = "Values of the pieces in the middlegame, in centipawns, as Fig. 1 (a).";
    weights(run, caption, &names, &PIECES)?;
    let caption = "Positional features in the middlegame, in centipawns, as Figs. 1 (b) and (c); where one feature of the \
                   paper is a group in Dyad, the mean of the group.";
    weights(run, caption, &names, &POSITIONAL)?;
    run.text("`dyad report steps/BAND/weights.json` draws the piece-square tables of a band, as Fig. 2.");

    run.heading("Round robins");
    let mut separation = Vec::new();
    for (depth, published) in TOP_AGAINST_LOWEST {
        // The paper's program played from 2 plies on.
        let players: Vec<String> = names.iter().cloned().chain((depth > 1).then(|| "hand-tuned".into())).collect();
        separation.push(round_robin(run, &players, names.len(), depth, pairs, published)?);
    }
    run.table(
        "The strongest band against the weakest: the paper's 1600 against its 1000, ours the last against the first. 75 % \
         would be a difference of 200 Elo.",
        &["Match", "Paper, %", "Dyad, % (95 % interval)", "Games", "Is the stronger band stronger?"],
        &separation,
    );
    Ok(())
}

/// The rating in the name of a band, if there is one.
fn rating(band: &str) -> Option<u32> {
    band.rsplit(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?.parse().ok()
}

/// Adds a table of middlegame weights in centipawns, where a pawn is 100.
fn weights(run: &mut Run, caption: &str, bands: &[String], features: &[Feature]) -> Result<(), Error> {
    let sets = bands.iter().map(|band| run.weights(band)).collect::<Result<Vec<_>, _>>()?;
    let row = |&(label, group, index, published): &Feature| {
        let own = sets.iter().map(|weights| {
            let pawn = f64::from(weights.ints()[MATERIAL.nth(0)][0]);
            let all = weights.group(group).expect("a group of the layout");
            let all = index.map_or(all, |index| &all[index..=index]);
            let sum: f64 = all.iter().map(|weight| f64::from(weight[0])).sum();
            format!("{:.0}", 100.0 * sum / all.len() as f64 / pawn)
        });
        [label.to_string(), published.to_string()].into_iter().chain(own).collect()
    };
    let rows: Vec<Vec<String>> = features.iter().map(row).collect();
    let head: Vec<&str> = ["Feature", "TSCP"].into_iter().chain(bands.iter().map(String::as_str)).collect();
    run.table(caption, &head, &rows);
    Ok(())
}

/// Table 4 at one depth. Returns the row of the last against the first of the bands.
fn round_robin(
    run: &mut Run,
    players: &[String],
    bands: usize,
    depth: u32,
    pairs: u64,
    published: &str,
) -> Result<Vec<String>, Error> {
    let count = players.len();
    let mut cells = vec![vec!["-".to_string(); count]; count];
    let (mut points, mut draws, mut separation) = (vec![0.0; count], vec![0; count], Vec::new());
    for (first, a) in players.iter().enumerate() {
        for (second, b) in players.iter().enumerate().skip(first + 1) {
            let name = format!("{b}_{a}_ply{depth}");
            let played = run.play(&name, &[b.clone(), a.clone()], SearchLimits::Depth(depth), pairs)?;
            let opposite = played.tally.opposite();
            cells[second][first] = score(&played);
            cells[first][second] = interval(in_percent(opposite.score()), 1);
            points[second] += played.tally.points();
            points[first] += opposite.points();
            for player in [first, second] {
                draws[player] += played.tally.draws;
            }
            if (first, second) == (0, bands - 1) {
                let verdict = verdict(played.score, 75.0).to_string();
                let games = played.tally.games().to_string();
                let label = format!("{b} vs. {a}, {depth} plies");
                separation = vec![label, published.to_string(), score(&played), games, verdict];
            }
        }
    }
    let games = 2 * pairs * (count as u64 - 1);
    let rows = players.iter().zip(cells).zip(points.into_iter().zip(draws)).map(|((name, cells), (points, draws))| {
        let totals = [points, draws as f64].map(|number| format!("{:.1}", 100.0 * number / games as f64));
        [name.clone()].into_iter().chain(cells).chain(totals).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let names = players.iter().map(String::as_str);
    let head: Vec<&str> = ["Score of"].into_iter().chain(names).chain(["All games", "Draws"]).collect();
    let games = 2 * pairs;
    let caption = format!(
        "Round robin at {depth} plies, {games} games a pair, as Table 4: scores in percent of the row's player against the \
         column's."
    );
    run.table(&caption, &head, &rows);
    Ok(separation)
}
