//! `ct-chess`: Tseng, Chen and Wu (2018), Tables II to X.
//!
//! The paper's original program was hand-tuned for years; Dyad's is trained from the same Table I on the same positions
//! without 2-tuples, so that only the 2-tuples differ.

use dyad_engine::board::Piece;
use dyad_engine::eval::layout::MATERIAL;
use dyad_formats::error::Error;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::learn::settings::{Averaging, TrainingSettings};

use crate::experiment::page::{Pairing, SCALE_COLUMN};
use crate::experiment::run::Run;
use crate::experiment::steps::Trained;

/// Families that stand for the sub-functions with non-linear features: imbalance, king, passed, space, initiative.
const NON_LINEAR: [&str; 5] = ["material_pairs", "king", "passed", "space", "winnability"];
const LINEAR: [&str; 6] = ["material", "piece_square", "mobility", "pawns", "pieces", "threats"];
const TUPLES: [&str; 1] = ["pairs"];

/// Tables IV to VII: CT1 to CT4 and CT5 to CT8 against ORI1 and against ORI2.
const AGAINST_BASE1: [f64; 8] = [33.83, 40.10, 38.77, 41.30, 21.70, 24.30, 26.13, 28.15];
const AGAINST_BASE2: [f64; 8] = [72.33, 77.05, 75.40, 78.28, 58.92, 62.25, 65.03, 65.25];
/// Tables VIII and IX: 2- against 1-ply, 3- against 2-ply, 4- against 3-ply.
const DEEPER: [[f64; 3]; 2] = [[57.70, 50.95, 51.65], [57.65, 52.90, 50.90]];
/// Table X: middlegame and endgame weights of ORI1 and CT4.
pub(super) const MATERIAL_OF_PAPER: [(Piece, &str, [u32; 4]); 5] = [
    (Piece::Queen, "queen", [2500, 2670, 2432, 1671]),
    (Piece::Rook, "rook", [1282, 1373, 1189, 812]),
    (Piece::Bishop, "bishop", [826, 891, 898, 499]),
    (Piece::Knight, "knight", [764, 848, 819, 452]),
    (Piece::Pawn, "pawn", [171, 240, 107, 202]),
];

pub(super) fn steps(run: &mut Run) -> Result<(), Error> {
    // Numbers of the sizes tiny, small, night and full.
    let positions = run.positions([300, 12_000, 5_000_000, 5_500_000]);
    let test_percent = run.pick([40.0, 16.0, 2.0, 9.0]);
    // Nodes of the search whose moves are learned; `None` for the moves of the games.
    let label_nodes = run.pick([Some(100), Some(2_000), None, Some(200_000)]);
    let depths = run.pick([2, 4, 3, 4]);
    let iterations = run.pick([1, 2, 1, 10]);
    let batch = run.pick([20, 50, 50, 50]);
    let limits = SearchLimits::Nodes(run.pick([30, 1_000, 20_000, 100_000]));
    let pairs = run.pick([2, 60, 500, 1_000]);
    // Depths that are trained on the moves of the games as well.
    let own_moves: &[u32] = run.pick([&[1], &[2], &[], &[1, 2, 3, 4]]);

    let filters = Filters { min_ply: 10, ..Filters::default() };
    run.prepare("positions", &run.settings.games_file, filters, positions, test_percent)?;
    let mut samples = "positions";
    if let Some(nodes) = label_nodes {
        samples = "desired";
        run.label(samples, "positions", nodes)?;
    }

    let averaging = Averaging::All;
    let training = |depth| TrainingSettings { depth, batch, iterations, averaging, ..TrainingSettings::default() };
    let without_tuples = [&LINEAR[..], &NON_LINEAR].concat();
    let all = [&without_tuples[..], &TUPLES].concat();
    let linear = [&LINEAR[..], &TUPLES].concat();
    let base1 = run.train("base1", samples, &without_tuples, training(2), None)?;
    run.without("base2", "base1", &NON_LINEAR)?;
    let about = "All groups without 2-tuples, trained 2-ply from Table I";
    let mut versions = vec![("base1".to_string(), about.to_string(), Some(base1))];
    let about = "BASE1 without the groups of the nonlinear sub-functions, not retrained";
    versions.push(("base2".to_string(), about.to_string(), None));
    for (first, groups, label) in [(0, &all, "All groups"), (4, &linear, "The linear groups")] {
        for depth in 1..=depths {
            let (name, about) = (ct(first + depth), format!("{label} and 2-tuples, {depth}-ply training"));
            let trained = run.train(&name, samples, groups, training(depth), None)?;
            versions.push((name, about, Some(trained)));
        }
    }
    for &depth in own_moves {
        run.train(&format!("own{depth}"), "positions", &all, training(depth), None)?;
    }

    run.heading("Versions");
    run.text(
        "The paper's ORI1 is a program tuned by hand for years, with non-linear sub-functions. BASE1 is the linear evaluation \
         with all groups, trained on the same positions and from the same Table I as the others, but without 2-tuples; BASE2 \
         lacks the groups that stand for those sub-functions.",
    );
    let mut rows = Vec::new();
    for (name, about, trained) in versions {
        let features = trained.as_ref().map_or("-".to_string(), |trained| trained.features.to_string());
        let cells = trained.map_or(["-"; 4].map(String::from), |trained| trained.cells());
        rows.push([vec![name.to_uppercase(), about, features, run.scale(&name)?], cells.to_vec()].concat());
    }
    let head = [&["Version", "What it is", "Features", SCALE_COLUMN][..], &Trained::HEAD].concat();
    run.table("Versions, as Table II.", &head, &rows);

    let names = [format!("CT1 to CT{depths}"), format!("CT5 to CT{}", 4 + depths)];
    let against = |base: &str, first: u32, published: &[f64; 8]| -> Vec<Pairing> {
        (first..first + depths)
            .map(|number| Pairing::new(&ct(number + 1), base, Some(published[number as usize])))
            .collect()
    };
    let deeper = |first: u32, published: &[f64]| -> Vec<Pairing> {
        let numbers = (first + 2..=first + depths).zip(published);
        numbers.map(|(number, &paper)| Pairing::new(&ct(number), &ct(number - 1), Some(paper))).collect()
    };
    run.heading("Baselines");
    let base = [Pairing::new("base1", "base2", Some(82.0))];
    run.matches("BASE1 against BASE2, as Table III.", limits, pairs, &base)?;
    run.heading("Trained with 2-tuples against the baselines");
    for (name, base, first, published, number) in [
        (&names[0], "base1", 0, AGAINST_BASE1, "IV"),
        (&names[1], "base1", 4, AGAINST_BASE1, "V"),
        (&names[0], "base2", 0, AGAINST_BASE2, "VI"),
        (&names[1], "base2", 4, AGAINST_BASE2, "VII"),
    ] {
        let caption = format!("{name} against {}, as Table {number}.", base.to_uppercase());
        run.matches(&caption, limits, pairs, &against(base, first, &published))?;
    }
    run.heading("Deeper training");
    let [all, linear] = &DEEPER;
    run.matches("d-ply against (d-1)-ply training, as Table VIII.", limits, pairs, &deeper(0, all))?;
    let caption = "d-ply against (d-1)-ply training, linear groups, as Table IX.";
    run.matches(caption, limits, pairs, &deeper(4, linear))?;
    if !own_moves.is_empty() {
        run.heading("Desired moves of the search or of the masters");
        let caption = "Trained on moves of a search (CT) against trained on the moves that the masters played (OWN).";
        let own = |&depth: &u32| Pairing::new(&ct(depth), &format!("own{depth}"), None);
        run.matches(caption, limits, pairs, &own_moves.iter().map(own).collect::<Vec<_>>())?;
    }

    run.heading("Weights of the pieces");
    let (base, deepest) = (run.weights("base1")?, run.weights(&ct(depths))?);
    let row = |(piece, name, published): (Piece, &str, [u32; 4])| {
        let [base, deepest] = [&base, &deepest].map(|weights| weights.ints()[MATERIAL.at(piece)]);
        let own = base.into_iter().chain(deepest);
        let cells = published.iter().zip(own).flat_map(|(paper, own)| [paper.to_string(), own.to_string()]);
        [name.to_string()].into_iter().chain(cells).collect()
    };
    let deepest = format!("CT{depths}");
    let head = [
        "Piece",
        "ORI1 mg",
        "BASE1 mg",
        "ORI1 eg",
        "BASE1 eg",
        "CT4 mg, paper",
        &format!("{deepest} mg, Dyad"),
        "CT4 eg, paper",
        &format!("{deepest} eg, Dyad"),
    ];
    let caption = "Weights of the pieces in units, middlegame and endgame, as Table X.";
    run.table(caption, &head, &MATERIAL_OF_PAPER.map(row));
    Ok(())
}

fn ct(number: u32) -> String {
    format!("ct{number}")
}
