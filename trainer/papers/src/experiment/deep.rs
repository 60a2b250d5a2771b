//! `deepchess`: David, Netanyahu and Wolf (2016).

use dyad_formats::error::Error;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;

use crate::deepchess::measure::{Ordered, of_evaluation, of_network};
use crate::deepchess::network::Sizes;
use crate::deepchess::training::{NetworkSettings, Split, TrainingRecord, train};
use crate::experiment::page::{Pairing, interval};
use crate::experiment::run::Run;
use crate::experiment::stem;
use crate::experiment::steps::{NETWORK, hash_of_json};

/// Validation accuracy of the paper's large network, in percent.
const PAPER_ACCURACY: &str = "98.0";

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

pub(super) fn steps(run: &mut Run) -> Result<(), Error> {
    // Numbers of the sizes tiny, small, night and full.
    let positions = run.positions([400, 600_000, 1_200_000, 2_200_000]);
    let test_percent = run.pick([25.0, 10.0, 10.0, 9.0]);
    let encoder_epochs = run.pick([1, 2, 10, 200]);
    let epochs = run.pick([1, 10, 100, 100]);
    let pairs = run.pick([200, 300_000, 300_000, 1_000_000]);
    let tested_pairs = run.pick([200, 50_000, 200_000, 1_000_000]);
    let nodes = SearchLimits::Nodes(run.pick([20, 1_000, 1_000, 100_000]));
    let games = run.pick([1, 20, 100, 500]);

    // Ten positions of a decided game, not from the first five moves and not right after a capture.
    let filters =
        Filters { min_ply: 10, decisive: true, per_game: Some(10), skip_after_captures: true, ..Filters::default() };
    run.prepare("positions", &run.settings.games_file, filters, positions, test_percent)?;
    // Evaluations first: they take seconds, networks take hours.
    run.hand_tuned("hand-tuned", true)?;
    let inputs = run.settings.weights.iter().map(|path| stem(path));
    let built_in = ["material", "hand-tuned"].map(String::from);
    let opponents: Vec<String> = built_in.into_iter().chain(inputs).chain(["default".to_string()]).collect();
    let mut evaluations = Vec::new();
    for name in &opponents {
        let ordered = run.step(&format!("auc-{name}"), |run, _| {
            let ordered = of_evaluation(&run.weights(name)?, &run.samples("positions")?)?;
            Ok((hash_of_json(&ordered), ordered))
        })?;
        evaluations.push(accuracy_row(&format!("evaluation: {name}"), "-", &ordered));
    }
    let (mut accuracies, mut costs) = (Vec::new(), Vec::new());
    for (name, about, encoder, comparator) in NETWORKS {
        let by_position = name == "large-by-position";
        let settings = NetworkSettings {
            sizes: Sizes { encoder: encoder.to_vec(), comparator: comparator.to_vec() },
            split: if by_position { Split::Position } else { Split::Game },
            encoder_epochs,
            epochs,
            pairs,
            rate: [0.01, 0.99],
        };
        let record: TrainingRecord = run.step(name, |run, folder| {
            let teacher = if name == "distilled" { Some(run.network("large")?) } else { None };
            let (samples, seed) = (run.samples("positions")?, run.settings.seed);
            let trained = run.with_progress(&mut Some, |context| {
                train(&settings, seed, &samples, teacher.as_ref(), folder, context)
            });
            let (network, record) = trained?;
            network.save(&folder.join(NETWORK))?;
            Ok((network.id(), record))
        })?;
        // Times differ from run to run, so they are not part of the hash.
        let (ordered, speed): (Ordered, f64) = run.step(&format!("pairs-{name}"), |run, _| {
            let (samples, seed, threads) = (run.samples("positions")?, run.settings.seed, run.context.threads);
            let found = of_network(&run.network(name)?, &samples, settings.split, tested_pairs, seed, threads)?;
            Ok((hash_of_json(&found.0), found))
        })?;
        let published = if by_position { PAPER_ACCURACY } else { "-" };
        accuracies.push(accuracy_row(&format!("{name}: {about}"), published, &ordered));
        let parameters = run.network(name)?.sizes().parameters().to_string();
        let mut row = vec![name.to_string(), parameters, record.positions.to_string()];
        row.extend([record.seconds, record.pairs_per_second, speed].map(|number| format!("{number:.0}")));
        row.extend(record.losses.last().map(|loss| format!("{loss:.4}")));
        costs.push(row);
    }
    run.heading("Which of two positions was won?");
    accuracies.extend(evaluations);
    run.table(
        "Pairs ordered correctly, in percent with 95 % intervals: one position of a game that White won, one of a game that \
         Black won. For an evaluation it is the area under the curve, over all pairs.",
        &["Evaluation", "Paper, %", "Dyad, %", "Pairs", "Test positions", "Test games"],
        &accuracies,
    );
    run.heading("Training");
    run.table(
        "Cost of the networks on this machine (other programs running at the time change it), and the loss of the last epoch \
         end to end, in nats a pair; for the distilled network the cross-entropy with the outputs of the large one. The \
         losses of all epochs are in `results.json`.",
        &[
            "Network",
            "Parameters",
            "Positions learned from",
            "Seconds of training",
            "Pairs/s, training",
            "Pairs/s, answering",
            "Loss",
        ],
        &costs,
    );
    run.heading("Play");
    run.text(
        "The network plays by alpha-beta over positions: it has no values, keeps the best position that either side is sure \
         of, and asks whether a new one is better. Its opponents search as the engine does.",
    );
    let mut pairings: Vec<Pairing> = opponents.iter().map(|name| Pairing::new("distilled", name, None)).collect();
    pairings.push(Pairing::new("large", "distilled", None));
    run.matches("At equal nodes a move.", nodes, games, &pairings)
}

fn accuracy_row(label: &str, published: &str, ordered: &Ordered) -> Vec<String> {
    let pairs = ordered.pairs.map_or_else(|| "all".to_string(), |pairs| pairs.to_string());
    let counts = [pairs, ordered.positions.to_string(), ordered.games.to_string()];
    let accuracy = interval(ordered.accuracy, 2);
    [label.to_string(), published.to_string(), accuracy].into_iter().chain(counts).collect()
}
