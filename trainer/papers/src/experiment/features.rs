//! `ct-features`: the feature sets, tapering, batches and depths of the Chinese-chess paper, on chess.
//!
//! | paper | Dyad |
//! |---|---|
//! | MATL, LOC, MOB | `material`, `location`, `mobility` (of four piece types; the paper has two) |
//! | AKA, attacks on squares next to the king | `king_attack`: one feature for each number, as in the paper, separate with and without a queen |
//! | SPC, safe potential checks | `safe_checks`: one for each number, and by piece type |
//! | COP, chasing an opponent's piece | `attacked`: by both piece types as in the paper, separate by the defense of the piece |
//! | MATL2, LOC2 | `material_pairs`, `pairs` |

use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::learn::settings::TrainingSettings;

use crate::experiment::plan::{
    Cell, FIXED_SCALE, Inputs, PageElement, Plan, SCALE_COLUMN, Scale, ScoreRow, Step, Work, paper, scale_of, score,
    scores, table, text, value,
};

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
/// The only number of Fig. 3, in the text.
const EVAL13_SCORE: f64 = 81.65;
/// Fig. 4 in the text: EVAL13 with batches of 50, 100, 200 against no batches.
const BATCHES: [(usize, f64); 3] = [(50, 50.56), (100, 50.21), (200, 49.53)];
/// Fig. 6 in the text: 4- against 3-ply training of EVAL5, EVAL10 and EVAL13.
const FOUR_PLY: [(usize, f64); 3] = [(5, 55.56), (10, 49.37), (13, 51.49)];
/// Fig. 5 in the text: the smallest and the largest speed-up by four threads, by batch.
const SPEEDUPS: [(usize, &str); 3] = [(50, "2.87 to 3.59"), (100, "3.37 to 3.68"), (200, "3.57 to 3.7")];

struct Numbers {
    positions: u64,
    test_percent: f64,
    iterations: u32,
    nodes: u64,
    pairs: u64,
    /// Versions trained with other batches and depths as well.
    varied: &'static [usize],
    /// Versions whose training is timed, and the number of positions.
    timed: &'static [usize],
    timed_positions: usize,
    threads: &'static [usize],
}

const EVERY: [usize; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

const SCALES: [Numbers; 4] = [
    Numbers {
        positions: 320,
        test_percent: 20.0,
        iterations: 1,
        nodes: 30,
        pairs: 1,
        varied: &[0],
        timed: &[0],
        timed_positions: 40,
        threads: &[1, 2],
    },
    Numbers {
        positions: 4_000,
        test_percent: 10.0,
        iterations: 2,
        nodes: 1_000,
        pairs: 60,
        varied: &[0, 10, 13],
        timed: &[0, 13],
        timed_positions: 2_000,
        threads: &[1, 2],
    },
    Numbers {
        positions: 200_000,
        test_percent: 5.0,
        iterations: 1,
        nodes: 20_000,
        pairs: 500,
        varied: &[0, 10, 13],
        timed: &[0, 13],
        timed_positions: 10_000,
        threads: &[1, 4],
    },
    Numbers {
        positions: 1_400_000,
        test_percent: 28.5,
        iterations: 10,
        nodes: 400_000,
        pairs: 1_071,
        varied: &EVERY,
        timed: &EVERY,
        timed_positions: 20_000,
        threads: &[1, 4],
    },
];

/// Default batch and depth of the versions.
const BATCH: usize = 50;
const DEPTH: u32 = 3;

/// The plan.
pub(super) fn plan(scale: Scale, inputs: Inputs, seed: u64) -> Plan {
    let numbers = scale.pick(SCALES);
    let mut build = Build { numbers: &numbers, plies: scale.plies(), steps: Vec::new() };
    let filters = Filters { plies: [10, 10_000], ..Filters::default() };
    let (count, test_percent) = (numbers.positions, numbers.test_percent);
    build.add("positions", Work::Prepare { games: inputs.games.clone(), filters, count, test_percent });
    let elements = build.elements();
    Plan {
        name: "ct-features".into(),
        title: "Features, tapering, batches and depth in comparison training".into(),
        paper: "Tseng, Chen, Wu and Wei, Comparison Training for Computer Chinese Chess, 2018".into(),
        scale,
        seed,
        inputs,
        steps: build.steps,
        elements,
    }
}

struct Build<'a> {
    numbers: &'a Numbers,
    plies: u32,
    steps: Vec<Step>,
}

impl Build<'_> {
    fn add(&mut self, name: &str, work: Work) {
        self.steps.push(Step { name: name.into(), work });
    }

    fn settings(&self, batch: usize, depth: u32) -> TrainingSettings {
        TrainingSettings {
            depth,
            batch,
            iterations: self.numbers.iterations,
            keep_going: true,
            ..TrainingSettings::default()
        }
    }

    fn groups(version: usize) -> Vec<String> {
        EVAL0.iter().chain(VERSIONS[version].0).map(|&name| name.into()).collect()
    }

    /// Trains a version and returns its name.
    fn train(&mut self, version: usize, batch: usize, depth: u32, untapered: bool) -> String {
        let mut name = format!("eval{version}");
        if batch != BATCH {
            name += &format!("-batch{batch}");
        }
        if depth != DEPTH {
            name += &format!("-ply{depth}");
        }
        if untapered {
            name += "-untapered";
        }
        if !self.steps.iter().any(|step| step.name == name) {
            let settings = Box::new(TrainingSettings { untapered, ..self.settings(batch, depth) });
            let (samples, learn) = ("positions".into(), Build::groups(version));
            self.add(&name, Work::Train { samples, learn, settings, fixed_scale: FIXED_SCALE });
        }
        name
    }

    fn play(&mut self, a: &str, b: &str, published: Option<f64>) -> ScoreRow {
        let name = format!("{a}_{b}");
        let (players, budget) = ([a.to_string(), b.to_string()], SearchLimits::Nodes(self.numbers.nodes));
        self.add(&name, Work::Match { players, budget, pairs: self.numbers.pairs, plies: self.plies });
        (format!("{a} vs. {b}"), published, name)
    }

    fn elements(&mut self) -> Vec<PageElement> {
        let heading = |text: &str| PageElement::Heading { text: text.into() };
        let versions: Vec<String> = (0..=ALL).map(|version| self.train(version, BATCH, DEPTH, false)).collect();
        let described = versions.iter().zip(VERSIONS).enumerate().map(|(number, (name, (_, sets, features)))| {
            vec![
                text(format!("EVAL{number}")),
                text(sets),
                Cell::Paper { value: features.into(), decimals: 0 },
                value(name, "/features", 1.0, 0),
                scale_of(name),
                value(name, "/accuracy", 1.0, 2),
            ]
        });
        let described = described.collect();
        let tapering = self.tapering(&versions[0]);
        let sets: Vec<ScoreRow> = (1..=ALL)
            .map(|version| {
                let published = (version == ALL).then_some(EVAL13_SCORE);
                self.play(&versions[version], &versions[0], published)
            })
            .collect();
        let batches = self.batches();
        let depths = self.depths();
        let speeds = self.speeds();
        let by_version = sets.iter().enumerate().map(|(number, row)| ((number + 1) as f64, score(&row.2)));
        vec![
            heading("Versions"),
            table(
                "Features, as Tables I and III: those of the paper for Chinese chess, Dyad's for chess.",
                &[
                    "Version",
                    "Feature sets",
                    "Features, paper",
                    "Features, Dyad",
                    SCALE_COLUMN,
                    "Move-match accuracy, %",
                ],
                described,
            ),
            heading("Training and tapering"),
            scores("EVAL0: trained against hand-tuned, with tapering (*) and without, as Table IV.", &tapering),
            heading("Feature sets"),
            scores("Each version against EVAL0, as Fig. 3. The paper gives only one of its numbers.", &sets),
            PageElement::Chart {
                caption: "Score of EVAL1 to EVAL13 against EVAL0, with 95 % intervals, as Fig. 3.".into(),
                x: "version".into(),
                y: "score, %".into(),
                series: vec![
                    ("Dyad".into(), by_version.collect()),
                    ("paper".into(), vec![(ALL as f64, paper(EVAL13_SCORE))]),
                ],
            },
            heading("Batches"),
            scores("With batches against without, as Fig. 4.", &batches.0),
            batches.1,
            speeds,
            heading("Depth of training"),
            scores("d-ply against (d-1)-ply training, as Fig. 6.", &depths.0),
            depths.1,
        ]
    }

    /// Table IV.
    fn tapering(&mut self, trained: &str) -> Vec<ScoreRow> {
        let untapered = self.train(0, BATCH, DEPTH, true);
        self.add("hand-tuned", Work::HandTuned { tapered: true });
        self.add("hand-tuned-untapered", Work::HandTuned { tapered: false });
        let rows = [
            ("trained vs. hand-tuned", untapered.as_str(), "hand-tuned-untapered", 82.94),
            ("trained* vs. hand-tuned*", trained, "hand-tuned", 86.58),
            ("hand-tuned* vs. hand-tuned", "hand-tuned", "hand-tuned-untapered", 53.76),
            ("trained* vs. trained", trained, &untapered, 62.75),
        ];
        rows.map(|(label, a, b, published)| (label.to_string(), Some(published), self.play(a, b, None).2)).to_vec()
    }

    /// Fig. 4.
    fn batches(&mut self) -> (Vec<ScoreRow>, PageElement) {
        let (mut rows, mut series) = (Vec::new(), Vec::new());
        for &version in self.numbers.varied {
            let without = self.train(version, 1, DEPTH, false);
            let mut points = Vec::new();
            for (batch, published) in BATCHES {
                let with = self.train(version, batch, DEPTH, false);
                let row = self.play(&with, &without, (version == ALL).then_some(published));
                points.push((batch as f64, score(&row.2)));
                rows.push(row);
            }
            series.push((format!("EVAL{version}"), points));
        }
        series.push((
            "EVAL13, paper".into(),
            BATCHES.map(|(batch, published)| (batch as f64, paper(published))).to_vec(),
        ));
        let caption = "Score with batches against without, with 95 % intervals, as Fig. 4.".to_string();
        let (x, y) = ("positions in a batch".into(), "score, %".into());
        (rows, PageElement::Chart { caption, x, y, series })
    }

    /// Fig. 6.
    fn depths(&mut self) -> (Vec<ScoreRow>, PageElement) {
        let (mut rows, mut series) = (Vec::new(), Vec::new());
        for &version in self.numbers.varied {
            let mut points = Vec::new();
            for depth in 2..=4 {
                let [deeper, other] = [depth, depth - 1].map(|depth| self.train(version, BATCH, depth, false));
                let of_version = FOUR_PLY.iter().find(|(known, _)| depth == 4 && *known == version);
                let row = self.play(&deeper, &other, of_version.map(|(_, published)| *published));
                points.push((f64::from(depth), score(&row.2)));
                rows.push(row);
            }
            series.push((format!("EVAL{version}"), points));
        }
        let caption = "Score of d-ply against (d-1)-ply training, with 95 % intervals, as Fig. 6.".to_string();
        (rows, PageElement::Chart { caption, x: "d, plies".into(), y: "score, %".into(), series })
    }

    /// Fig. 5.
    fn speeds(&mut self) -> PageElement {
        let mut rows = Vec::new();
        for &version in self.numbers.timed {
            for (batch, published) in SPEEDUPS {
                let names: Vec<String> = self
                    .numbers
                    .threads
                    .iter()
                    .map(|&threads| {
                        let name = format!("speed-eval{version}-batch{batch}-threads{threads}");
                        let settings = Box::new(TrainingSettings {
                            iterations: 1,
                            train_positions: Some(self.numbers.timed_positions),
                            test_positions: Some(1),
                            ..self.settings(batch, DEPTH)
                        });
                        let learn = Build::groups(version);
                        self.add(&name, Work::Speed { samples: "positions".into(), learn, settings, threads });
                        name
                    })
                    .collect();
                let (first, last) = (&names[0], &names[names.len() - 1]);
                let at = "/positions_per_second".to_string();
                rows.push(vec![
                    text(format!("EVAL{version}, batches of {batch}")),
                    text(published),
                    value(first, &at, 1.0, 0),
                    value(last, &at, 1.0, 0),
                    Cell::Ratio { step: last.clone(), by: first.clone(), at },
                ]);
            }
        }
        let most = self.numbers.threads.last().copied().unwrap_or(1);
        let (threads, speedup) = (format!("Positions/s, {most} threads"), format!("Speed-up of {most} threads, Dyad"));
        let head = ["Training", "Speed-up of 4 threads, paper", "Positions/s, 1 thread", &threads, &speedup];
        table("Speed-up by threads, as Fig. 5. Other programs running at the time change it.", &head, rows)
    }
}
