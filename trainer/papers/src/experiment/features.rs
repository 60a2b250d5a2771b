//! `ct-features`: the feature sets, tapering, batches and depths of the Chinese-chess paper, on chess. Its Fig. 5, the
//! speed-up by threads, is not repeated: `dyad train --threads N` shows the positions a second.
//!
//! | paper | Dyad |
//! |---|---|
//! | MATL, LOC, MOB | `material`, `piece_square`, `mobility` (of four piece types; the paper has two) |
//! | AKA, attacks on squares next to the king | `king_attack`: one feature for each number, as in the paper, separate with and without a queen |
//! | SPC, safe potential checks | `safe_checks`: one for each number, and by piece type |
//! | COP, chasing an opponent's piece | `attacked`: by both piece types as in the paper, separate by the defense of the piece |
//! | MATL2, LOC2 | `material_pairs`, `pairs` |

use std::collections::BTreeMap;

use dyad_formats::error::Error;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::learn::settings::TrainingSettings;

use crate::experiment::page::{Pairing, SCALE_COLUMN};
use crate::experiment::run::Run;
use crate::experiment::steps::Trained;

const EVAL0: [&str; 3] = ["material", "piece_square", "mobility"];
const AKA: &str = "king_attack";
const SPC: &str = "safe_checks";
const COP: &str = "attacked";
const MATL2: &str = "material_pairs";
const LOC2: &str = "pairs";

/// Table III: the feature sets of each version beyond EVAL0, and their name and number of features in the paper.
const VERSIONS: [(&[&str], &str, u32); 14] = [
    (&[], "MATL+LOC+MOB", 226),
    (&[AKA], "EVAL0+AKA", 231),
    (&[SPC], "EVAL0+SPC", 231),
    (&[COP], "EVAL0+COP", 258),
    (&[AKA, SPC], "EVAL0+AKA+SPC", 236),
    (&[AKA, COP], "EVAL0+AKA+COP", 263),
    (&[SPC, COP], "EVAL0+SPC+COP", 263),
    (&[AKA, SPC, COP], "EVAL0+AKA+SPC+COP", 268),
    (&[MATL2], "EVAL0+MATL2", 688),
    (&[AKA, SPC, COP, MATL2], "EVAL7+MATL2", 730),
    (&[LOC2], "EVAL0+LOC2", 120_186),
    (&[AKA, SPC, COP, LOC2], "EVAL7+LOC2", 120_228),
    (&[MATL2, LOC2], "EVAL0+MATL2+LOC2", 120_648),
    (&[AKA, SPC, COP, MATL2, LOC2], "EVAL7+MATL2+LOC2", 120_690),
];
/// The last version, with all features.
const ALL: usize = 13;
const EVERY: [usize; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
/// The only number of Fig. 3, in the text.
const EVAL13_SCORE: f64 = 81.65;
/// Fig. 4 in the text: EVAL13 with batches of 50, 100, 200 against no batches.
const BATCHES: [(usize, f64); 3] = [(50, 50.56), (100, 50.21), (200, 49.53)];
/// Fig. 6 in the text: 4- against 3-ply training of EVAL5, EVAL10 and EVAL13.
const FOUR_PLY: [(usize, f64); 3] = [(5, 55.56), (10, 49.37), (13, 51.49)];

const BATCH: usize = 50;

pub(super) fn steps(run: &mut Run) -> Result<(), Error> {
    // Numbers of the sizes tiny, small, night and full.
    let positions = run.positions([320, 4_000, 200_000, 1_400_000]);
    let test_percent = run.pick([40.0, 20.0, 5.0, 28.5]);
    let iterations = run.pick([1, 2, 1, 10]);
    let depth = run.pick([2, 3, 3, 3]);
    let deepest = run.pick([2, 4, 4, 4]);
    let limits = SearchLimits::Nodes(run.pick([30, 1_000, 20_000, 400_000]));
    let pairs = run.pick([1, 60, 500, 1_071]);
    // Versions trained with other batches and depths as well.
    let varied: &[usize] = run.pick([&[0], &[0, 10, 13], &[0, 10, 13], &EVERY]);

    let filters = Filters { min_ply: 10, ..Filters::default() };
    run.prepare("positions", &run.settings.games_file, filters, positions, test_percent)?;
    let mut versions = Versions { run, iterations, depth, trained: BTreeMap::new() };
    let names = (0..=ALL).map(|version| versions.train(version, BATCH, depth, false));
    let names = names.collect::<Result<Vec<String>, Error>>()?;
    let mut rows = Vec::new();
    for (number, (name, (_, sets, features))) in names.iter().zip(VERSIONS).enumerate() {
        let (trained, scale) = (&versions.trained[name], versions.run.scale(name)?);
        let (features, of_paper) = (trained.features.to_string(), features.to_string());
        let row = vec![format!("EVAL{number}"), sets.into(), of_paper, features, scale];
        rows.push([row, trained.cells().to_vec()].concat());
    }
    versions.run.heading("Versions");
    versions.run.table(
        "Features, as Tables I and III: those of the paper for Chinese chess, Dyad's for chess.",
        &[&["Version", "Feature sets", "Features, paper", "Features, Dyad", SCALE_COLUMN][..], &Trained::HEAD].concat(),
        &rows,
    );

    versions.run.heading("Training and tapering");
    let untapered = versions.train(0, BATCH, depth, true)?;
    versions.run.hand_tuned("hand-tuned", true)?;
    versions.run.hand_tuned("hand-tuned-untapered", false)?;
    let tapering = [
        ("trained vs. hand-tuned", untapered.as_str(), "hand-tuned-untapered", 82.94),
        ("trained* vs. hand-tuned*", &names[0], "hand-tuned", 86.58),
        ("hand-tuned* vs. hand-tuned", "hand-tuned", "hand-tuned-untapered", 53.76),
        ("trained* vs. trained", &names[0], &untapered, 62.75),
    ];
    let tapering =
        tapering.map(|(label, a, b, paper)| Pairing { label: label.to_string(), ..Pairing::new(a, b, Some(paper)) });
    let caption = "EVAL0: trained against hand-tuned, with tapering (*) and without, as Table IV.";
    versions.run.matches(caption, limits, pairs, &tapering)?;

    versions.run.heading("Feature sets");
    let against = |version: usize| Pairing::new(&names[version], &names[0], (version == ALL).then_some(EVAL13_SCORE));
    let caption = "Each version against EVAL0, as Fig. 3. The paper gives only one of its numbers.";
    versions.run.matches(caption, limits, pairs, &(1..=ALL).map(against).collect::<Vec<_>>())?;

    versions.run.heading("Batches");
    let mut batches = Vec::new();
    for &version in varied {
        let without = versions.train(version, 1, depth, false)?;
        for (batch, published) in BATCHES {
            let with = versions.train(version, batch, depth, false)?;
            batches.push(Pairing::new(&with, &without, (version == ALL).then_some(published)));
        }
    }
    versions.run.matches("With batches against without, as Fig. 4.", limits, pairs, &batches)?;

    versions.run.heading("Depth of training");
    let mut depths = Vec::new();
    for (version, depth) in varied.iter().flat_map(|&version| (2..=deepest).map(move |depth| (version, depth))) {
        let deeper = versions.train(version, BATCH, depth, false)?;
        let other = versions.train(version, BATCH, depth - 1, false)?;
        let of_version = FOUR_PLY.iter().find(|(known, _)| depth == 4 && *known == version);
        depths.push(Pairing::new(&deeper, &other, of_version.map(|(_, published)| *published)));
    }
    versions.run.matches("d-ply against (d-1)-ply training, as Fig. 6.", limits, pairs, &depths)
}

struct Versions<'r, 'a, 'b> {
    run: &'r mut Run<'a, 'b>,
    iterations: u32,
    depth: u32,
    trained: BTreeMap<String, Trained>,
}

impl Versions<'_, '_, '_> {
    /// Trains a version unless it is trained, and returns its name. Other batches and depths have the rate of the default
    /// ones, which is chosen.
    fn train(&mut self, version: usize, batch: usize, depth: u32, untapered: bool) -> Result<String, Error> {
        let mut name = format!("eval{version}");
        if batch != BATCH {
            name += &format!("-batch{batch}");
        }
        if depth != self.depth {
            name += &format!("-ply{depth}");
        }
        if untapered {
            name += "-untapered";
        }
        if !self.trained.contains_key(&name) {
            let settings = TrainingSettings { untapered, iterations: self.iterations, ..training(batch, depth) };
            let rate = self.trained.get(&format!("eval{version}")).filter(|_| !untapered).map(|base| base.rate);
            let trained = self.run.train(&name, "positions", &groups(version), settings, rate)?;
            self.trained.insert(name.clone(), trained);
        }
        Ok(name)
    }
}

fn training(batch: usize, depth: u32) -> TrainingSettings {
    TrainingSettings { depth, batch, ..TrainingSettings::default() }
}

fn groups(version: usize) -> Vec<&'static str> {
    [&EVAL0[..], VERSIONS[version].0].concat()
}
