//! The page of a training, most important sections first.

use std::time::{SystemTime, UNIX_EPOCH};

use dyad_engine::board::{ALL_SQUARES, COLORS, Color, PIECES, Piece, PieceSquare, Square};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{GROUPS, Group, HalfSquare, MATERIAL, PIECE_SQUARE};
use dyad_engine::eval::pairs;
use serde_json::Value as Json;

use super::games;
use super::pieces::{STAGES, can_stand, letter, piece_name, worth_of_pair};
use super::ratings::{MatchPoints, ratings};
use super::run_data::{Generation, Now, RunData};
use crate::arena::matches::MatchRecord;
use crate::arena::statistics::{Decision, Estimate, score_of_elo};
use crate::learn::log::{LineKind, LogLine};
use crate::page::figures::{self, Axes, Board, Series};
use crate::page::html::{Page, escape, flatten};
use crate::selftrain::Distance;

/// Labels of the material axes.
const MATERIAL_AXES: [&str; 2] = ["weight, middlegame", "weight, endgame"];

/// From the most to the least valuable, as in the paper's tables.
const BY_VALUE: [Piece; 5] = [Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight, Piece::Pawn];

/// Opening and endgame weights of [`BY_VALUE`] in the original program and in the trained version CT4 (Tseng, Chen and
/// Wu, "Comparison Training of N-Tuple Networks for Chess", Table X).
const TABLE_X: [[i32; 4]; 5] = [
    [2500, 2670, 2432, 1671],
    [1282, 1373, 1189, 812],
    [826, 891, 898, 499],
    [764, 848, 819, 452],
    [171, 240, 107, 202],
];

/// Maximum number of groups in a chart.
const SHOWN_GROUPS: usize = 12;

/// Size of a chart: as wide as a phone.
const CHART: (u32, u32) = (380, 260);

/// The script that reloads the page of a running training.
const LIVE: &str = include_str!("assets/live.js");

/// Writes the page. `focus` is the piece whose pairs are shown.
#[must_use]
pub fn page(run: &RunData, focus: PieceSquare) -> String {
    let mut page = Page::default();
    under_way(&mut page, run);
    beginning(&mut page, run);
    let rated = rated(run);
    glance(&mut page, run, &rated);
    resuming(&mut page, run);
    summary(&mut page, run);
    generations(&mut page, run, &rated);
    games_to_look_at(&mut page, run);
    if let Some(weights) = run.after.as_ref().or(run.before.as_ref()) {
        locations(&mut page, weights, run.before.as_ref().filter(|_| run.after.is_some()));
        pairs_of(&mut page, weights, focus);
    }
    learning(&mut page, run);
    iterations_section(&mut page, run);
    material(&mut page, run);
    matches(&mut page, run);
    if !run.generations.is_empty() {
        page.folded("For researchers: every match, learning curves of the generations, groups of features", |page| {
            strength(page, run);
            accuracy_of_generations(page, run);
            norms(page, run);
            identities(page, run);
        });
    } else {
        norms(&mut page, run);
        identities(&mut page, run);
    }
    settings(&mut page, run);
    let kind = if run.setting("method").is_some() { "Self-training: " } else { "" };
    page.finish(&format!("{kind}{}", run.title))
}

/// The current activity, with the time of the last update.
fn under_way(page: &mut Page, run: &RunData) {
    let Some(now) = &run.now else { return };
    let Now { headline, detail, share, seconds_left, steps, step } = now;
    page.put(format_args!("<section class=\"now\" aria-label=\"Under way\">\n"));
    let left = seconds_left.map_or(String::new(), |left| format!(", about {} left", spoken(left)));
    page.put(format_args!("<p><strong>{}{left}</strong></p>\n", escape(headline)));
    if !steps.is_empty() {
        page.put(format_args!("<ol class=\"steps\">\n"));
        for (number, name) in steps.iter().enumerate() {
            let here = if number == *step { " aria-current=\"step\"" } else { "" };
            page.put(format_args!("<li{here}>{}</li>\n", escape(name)));
        }
        page.put(format_args!("</ol>\n"));
    }
    if let Some(share) = share {
        page.put(format_args!(
            "<progress value=\"{share:.4}\" aria-label=\"Share that is done\">{}</progress>\n",
            percent(*share)
        ));
    }
    if !detail.is_empty() {
        page.put(format_args!("<p>{}</p>\n", escape(detail)));
    }
    let written = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    page.put(format_args!(
        "<p class=\"muted live\" id=\"live\" data-written=\"{written}\">Load this page again to see what is new.</p>\n</section>\n"
    ));
    page.script(LIVE);
}

fn summary(page: &mut Page, run: &RunData) {
    let iterations = iterations(&run.lines);
    if let (Some(first), Some(last)) = (iterations.first(), iterations.last()) {
        let mut facts = vec![
            (last.iteration.to_string(), "iterations"),
            (last.positions.to_string(), "positions"),
            (duration(last.seconds), "of training"),
        ];
        if first.accuracy_positions > 0 {
            let best = iterations.iter().map(|line| accuracy(line)).fold(f64::NAN, f64::max);
            facts.push((percent(accuracy(first)), "accuracy at the start"));
            facts.push((percent(best), "accuracy at best"));
        }
        page.facts(&facts);
        page.paragraph(&format!(
            "Comparison training from the leaves of principal variations, {} updates of the weights. Move-match accuracy: \
             how often the move that should be played is the best by the weights, on {} test positions.",
            last.updates, first.accuracy_positions,
        ));
    }
}

/// Which weights a training began with and made.
fn identities(page: &mut Page, run: &RunData) {
    for (name, weights) in [("Start", &run.before), ("Result", &run.after)] {
        if let Some(weights) = weights {
            page.put(format_args!(
                "<p class=\"muted\">{name}: weights \u{201c}{}\u{201d}, identity {}.</p>\n",
                escape(&weights.meta.name),
                weights.id()
            ));
        }
    }
}

/// The size of a curve on a wide screen.
const WIDE: (u32, u32) = (720, 380);

/// What a self-training does, until its first generation is done.
fn beginning(page: &mut Page, run: &RunData) {
    if run.setting("method").is_none() || !run.generations.is_empty() || !run.unchanged.is_empty() {
        return;
    }
    let from_pieces = run.before.as_ref().is_some_and(|start| start.plays_as(&Weights::material()));
    let from = if from_pieces { "the values of the pieces alone" } else { "the weights that it begins with" };
    let games = match run.setting("source").and_then(|source| source.get("games")) {
        None => "plays games against itself and makes new weights from them",
        Some(_) => "makes new weights from the games of a file",
    };
    page.paragraph(&format!(
        "Dyad learns chess from {from}. Each generation {games}; then a match decides whether these are stronger than the best \
         weights before. The engine keeps the weights that it plays with until a long match proves a generation stronger."
    ));
}

/// How to continue a self-training.
fn resuming(page: &mut Page, run: &RunData) {
    if run.now.is_none() && run.setting("method").is_some() {
        page.paragraph(
            "To continue this training, set Train to resume in your chess program, or run dyad selftrain FOLDER --resume with \
             the folder of this page.",
        );
    }
}

/// A self-training at a glance: the strength of the best weights, and what a player wants to know of them.
fn glance(page: &mut Page, run: &RunData, rated: &[Rated]) {
    if run.generations.is_empty() && run.distances.is_empty() && run.unchanged.is_empty() {
        return;
    }
    let is_proof = |proof: &&Generation| proof.adopted && proof.number == run.proven;
    if let Some(Generation { number, record, .. }) = run.proofs.iter().rfind(is_proof) {
        page.put(format_args!(
            "<p class=\"crossed\">\u{2605} Generation {number} beats {}: {} Elo over {} games.</p>\n",
            escape(&record.names[1]),
            with_error(&record.elo, 0),
            record.tally.games()
        ));
    }
    page.put(format_args!("<div class=\"glance\">\n<div>\n"));
    match run.distances.last() {
        Some((_, Distance { reference, .. })) if !rated.is_empty() => distance_curve(page, run, rated, reference),
        _ => climb_curve(page, run),
    }
    page.put(format_args!("</div>\n<dl>\n"));
    for (name, value) in player_facts(run, rated.last()) {
        page.put(format_args!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(&value)));
    }
    page.put(format_args!("</dl>\n</div>\n"));
}

/// The unit of a time axis for this number of hours, and how many of it an hour has.
fn time_unit(hours: f64) -> (&'static str, f64) {
    if hours < 2.0 { ("minutes of training", 60.0) } else { ("hours of training", 1.0) }
}

/// Weights that were the best, with their Elo against the reference.
struct Rated {
    /// The generation; 0 for the start.
    generation: u64,
    /// Hours since the training began.
    hours: f64,
    elo: Estimate,
}

/// The start and the adopted generations, rated by all games: their own against the reference, and those against each
/// other.
fn rated(run: &RunData) -> Vec<Rated> {
    /// Equal weights count as this number of drawn games.
    const EQUAL: u64 = 10_000;
    let Some((_, Distance { reference, .. })) = run.distances.last() else { return Vec::new() };
    let distances = |generation: u64| {
        let all = run.distances.iter().map(|(_, distance)| distance);
        all.filter(move |one| one.reference == *reference && u64::from(one.generation) == generation)
    };
    let adopted: Vec<&Generation> = run.generations.iter().filter(|generation| generation.adopted).collect();
    let points = |record: &MatchRecord| MatchPoints::new(record.tally.games(), record.score.value);
    let direct = |generation: u64| {
        let distances = distances(generation).map(|Distance { elo, games, .. }| match games {
            0 => MatchPoints::new(EQUAL, 0.5),
            games => MatchPoints::new(*games, score_of_elo(elo.value)),
        });
        let proofs =
            run.proofs.iter().filter(|proof| proof.number == generation && proof.record.names[1] == *reference);
        distances.chain(proofs.map(|proof| points(&proof.record))).fold(MatchPoints::default(), MatchPoints::plus)
    };
    let all = [(0, 0.0)].into_iter().chain(adopted.iter().map(|generation| (generation.number, generation.hours)));
    let games: Vec<MatchPoints> = all.clone().map(|(generation, _)| direct(generation)).collect();
    if games.iter().all(|points| points.games == 0.0) {
        return Vec::new();
    }
    let steps: Vec<MatchPoints> = adopted.iter().map(|generation| points(&generation.record)).collect();
    // The interval of the games against the reference alone is the better one where these are all that count.
    let best_known = |generation: u64, all: Estimate| {
        let own = distances(generation).map(|distance| distance.elo);
        own.fold(all, |best, elo| if elo.error() < best.error() { elo } else { best })
    };
    let rate = |((generation, hours), elo)| Rated { generation, hours, elo: best_known(generation, elo) };
    all.zip(ratings(&steps, &games)).map(rate).collect()
}

/// The strength of the best weights against the reference, which is the line at zero.
fn distance_curve(page: &mut Page, run: &RunData, rated: &[Rated], reference: &str) {
    /// Intervals of few games reach far.
    const LONGEST: f64 = 200.0;
    let ends = rated.iter().map(|rated| rated.hours).chain(run.generations.iter().map(|generation| generation.hours));
    let end = ends.filter(|hours| hours.is_finite()).fold(0.02, f64::max);
    let (x, unit) = time_unit(end);
    let points = rated.iter().map(|rated| (rated.hours * unit, rated.elo.value)).collect();
    let interval = |Rated { hours, elo, .. }: &Rated| {
        (hours * unit, elo.low.max(elo.value - LONGEST), elo.high.min(elo.value + LONGEST))
    };
    let intervals = rated.iter().map(interval).collect();
    let lines = [
        Series { intervals, ..Series::marked("best weights of this training", points) },
        Series::line(reference, vec![(0.0, 0.0), (end * unit, 0.0)]),
    ];
    let y = format!("Elo against {reference}");
    let axes = Axes { x, y: &y, from_zero: true, whole: false };
    page.figure(
        &figures::both(&axes, &lines, CHART, WIDE),
        &format!(
            "Strength of the best weights against {reference}, the line at 0, by all games of the training: against these and \
             of each generation against the one before. Bars are 95 % intervals."
        ),
    );
}

/// The strength of the best weights as the sum of their matches, where no other is known.
fn climb_curve(page: &mut Page, run: &RunData) {
    let climb = climb(&run.generations);
    let end = run.generations.last().map_or(0.0, |generation| generation.hours);
    // A log without times is drawn by generation.
    let (x, unit) = if end.is_finite() { time_unit(end) } else { ("generation", 1.0) };
    let at = |generation: &Generation| if end.is_finite() { generation.hours * unit } else { generation.number as f64 };
    let xs: Vec<f64> = [0.0].into_iter().chain(run.generations.iter().map(at)).collect();
    let points = xs.iter().zip(&climb).map(|(&x, elo)| (x, elo.value)).collect();
    let axes = Axes { x, y: "Elo above the start", from_zero: true, whole: !end.is_finite() };
    page.figure(
        &figures::both(&axes, &[Series::marked("", points)], CHART, WIDE),
        "Strength of the best weights: the sum of what each adopted generation won against the one before it.",
    );
}

/// What a player wants to know of a training.
fn player_facts(run: &RunData, best: Option<&Rated>) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let adopted = run.generations.iter().filter(|generation| generation.adopted);
    if let Some((_, Distance { reference, elo, games, .. })) = run.distances.last() {
        let elo = best.map_or(elo, |best| &best.elo);
        let distance = format!("{:.0} \u{b1} {:.0} Elo", elo.value.abs(), elo.error());
        facts.push((
            "Strength",
            match games {
                0 => format!("as strong as {reference}: nothing is learned yet"),
                _ if elo.high < 0.0 => format!("still {distance} below {reference}"),
                _ if elo.low > 0.0 => format!("{distance} above {reference}"),
                _ if elo.error() > Distance::FAR => format!("too few games to be compared with {reference}"),
                _ => format!("about as strong as {reference} ({:+.0} \u{b1} {:.0} Elo)", elo.value, elo.error()),
            },
        ));
        let proven = match run.proven {
            0 => format!("no generation: the engine plays with {reference}"),
            number => format!("generation {number}"),
        };
        facts.push(("Proven stronger", proven));
    } else if let (Some(anchor), true) = (run.anchors.last(), run.distances.is_empty()) {
        facts.push(("Strength", format!("{} Elo against the start", with_error(&anchor.record.elo, 0))));
    }
    let played = run.generations.iter().map(|generation| generation.number);
    if let Some(last) = played.chain(run.unchanged.iter().copied()).max() {
        let unchanged = match run.unchanged.len() {
            0 => String::new(),
            count => format!(", {count} without a change of the weights"),
        };
        facts.push(("Generations", format!("{last}, {} adopted{unchanged}", adopted.count())));
    }
    if let Some(last) = run.generations.last().filter(|last| last.hours.is_finite()) {
        facts.push(("Time", spoken(3600.0 * last.hours)));
    }
    if let Some(method) = run.setting("method").and_then(Json::as_str) {
        let how = match method {
            "comparison" => "comparison: the moves of deeper searches or of a file should come out on top",
            _ => "regression: values should predict the scores of searches and the results of games",
        };
        facts.push(("Learns by", how.to_string()));
    }
    if let Some(weights) = run.after.as_ref().or(run.before.as_ref()) {
        let value = |piece: Piece| weights.ints()[MATERIAL.at(piece)].iter().sum::<i32>();
        let pawn = f64::from(value(Piece::Pawn));
        let pieces = BY_VALUE[..4]
            .iter()
            .map(|&piece| format!("{} {:.1}", piece_name(piece).to_lowercase(), f64::from(value(piece)) / pawn));
        if pawn > 0.0 {
            facts.push(("Pieces in pawns", pieces.collect::<Vec<_>>().join(", ")));
        }
    }
    facts
}

/// The generations as a player sees them.
fn generations(page: &mut Page, run: &RunData, rated: &[Rated]) {
    if run.generations.is_empty() {
        return;
    }
    page.heading("Generations");
    let row = |generation: &Generation| {
        let record = &generation.record;
        let number = generation.number;
        let rated = rated.iter().find(|rated| rated.generation == number);
        let proof = run.proofs.iter().rfind(|proof| proof.number == number);
        let outcome = match (generation.adopted, proof) {
            (true, Some(Generation { adopted: true, .. })) => "best, proven stronger",
            (true, _) => "best",
            (false, _) if matches!(record.decision, Some(Decision::H0)) => "not stronger",
            (false, _) => "not decided",
        };
        vec![
            number.to_string(),
            outcome.to_string(),
            rated.map_or_else(String::new, |rated| with_error(&rated.elo, 0)),
            format!("{:.0} %", 100.0 * record.score.value),
            record.tally.games().to_string(),
            if generation.hours.is_finite() { spoken(3600.0 * generation.hours) } else { String::new() },
        ]
    };
    let rows: Vec<Vec<String>> = run.generations.iter().rev().map(row).collect();
    let line = run.distances.last().map_or("the line", |(_, distance)| &distance.reference);
    page.table(
        &format!("The generations, the latest first: score against the best before it, and Elo against {line} of those that were the best."),
        &["Generation", "Outcome", "Elo", "Score", "Games", "After"],
        &rows,
    );
}

/// Elo of the best weights, generation by generation, in full.
fn strength(page: &mut Page, run: &RunData) {
    if run.generations.is_empty() {
        return;
    }
    page.heading("Strength");
    let climb = climb(&run.generations);
    // A log without times is drawn by generation.
    let timed = run.generations.iter().all(|generation| generation.hours.is_finite());
    let at = |generation: &Generation| if timed { generation.hours } else { generation.number as f64 };
    let (x, unit) = if timed { time_unit(run.generations.last().map_or(0.0, at)) } else { ("generation", 1.0) };
    let at = |generation: &Generation| unit * at(generation);
    let xs: Vec<f64> = [0.0].into_iter().chain(run.generations.iter().map(at)).collect();
    let points = xs.iter().zip(&climb).map(|(&x, elo)| (x, elo.value)).collect();
    let intervals = xs.iter().zip(&climb).map(|(&x, elo)| (x, elo.low, elo.high)).collect();
    let mut lines = vec![Series { intervals, ..Series::marked("sum of matches", points) }];
    if !run.anchors.is_empty() {
        let anchors = || run.anchors.iter().filter(|anchor| at(anchor).is_finite());
        let elo = anchors().map(|anchor| (at(anchor), anchor.record.elo.value)).collect();
        let intervals = anchors().map(|anchor| (at(anchor), anchor.record.elo.low, anchor.record.elo.high)).collect();
        lines.push(Series { intervals, ..Series::marked("against the start", elo) });
    }
    let axes = Axes { x, y: "Elo above the start", from_zero: true, whole: !timed };
    page.charts(
        &[figures::chart(&axes, &lines, CHART)],
        "Strength of the best weights: the sum of what each adopted generation won against the one before it, and what \
         they won against the start where they played it, with 95 % intervals.",
    );
    let row = |(generation, elo): (&Generation, &Estimate)| {
        let record = &generation.record;
        vec![
            generation.number.to_string(),
            if generation.adopted { "adopted".into() } else { "rejected".to_string() },
            with_error(elo, 0),
            with_error(&record.elo, 0),
            percent(record.score.value),
            record.tally.games().to_string(),
            pentanomial(record),
            record.llr.map_or_else(String::new, |llr| format!("{llr:+.2}")),
            generation.accuracy.map_or_else(String::new, percent),
            if generation.hours.is_finite() { duration(3600.0 * generation.hours) } else { String::new() },
        ]
    };
    // The latest generation first.
    let rows: Vec<Vec<String>> = run.generations.iter().zip(&climb[1..]).rev().map(row).collect();
    let head = [
        "Generation",
        "Outcome",
        "Best, sum of Elo",
        "Elo",
        "Score",
        "Games",
        "Pairs by points",
        "LLR",
        "Accuracy",
        "Time",
    ];
    page.table(
        "The generations, each against the best before it. Pairs of games by points made: 0, 1/2, 1, 3/2, 2. LLR: \
         log-likelihood ratio of the match's test.",
        &head,
        &rows,
    );
}

/// Learning curves of the generations.
fn accuracy_of_generations(page: &mut Page, run: &RunData) {
    if run.trainings.is_empty() {
        return;
    }
    page.heading("Learning");
    // Within a generation by the fraction of its positions.
    let place = |number: u32, line: &LogLine, lines: &[LogLine]| {
        let all = lines.last().map_or(1, |last| last.positions).max(1);
        f64::from(number - 1) + line.positions as f64 / all as f64
    };
    let curves = |what: &dyn Fn(&LogLine) -> Option<f64>| -> Vec<Series> {
        let mut names: Vec<&str> = run.trainings.iter().map(|(_, name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let curve = |name: &str| {
            let of_name = run.trainings.iter().filter(|(_, own, _)| *own == name);
            let points = of_name.flat_map(|(number, _, lines)| {
                // The accuracy is known at the start already.
                lines.iter().filter_map(|line| Some((place(*number, line, lines), what(line)?))).collect::<Vec<_>>()
            });
            Series::line(name, points.collect())
        };
        names.into_iter().map(curve).collect()
    };
    let axes = |y: &'static str, from_zero: bool| Axes { x: "generation", y, from_zero, whole: true };
    let draw = |y: &'static str, from_zero: bool, what: &dyn Fn(&LogLine) -> Option<f64>| {
        figures::chart(&axes(y, from_zero), &curves(what), CHART)
    };
    page.charts(
        &[
            draw("move-match accuracy, %", false, &|line| line.accuracy.map(|share| 100.0 * share)),
            draw("loss", true, &|line| Some(line.loss).filter(|loss| *loss > 0.0)),
        ],
        "Move-match accuracy on test positions of each generation's own data, and mean loss on those it learned from, \
         while each generation is trained. Generations have other positions, so that a step between two says little.",
    );
    let weight = |piece: Piece, stage: usize| {
        let start = run.before.iter().map(|weights| (0.0, f64::from(weights.ints()[MATERIAL.at(piece)][stage])));
        let trained = run.trainings.iter().filter_map(|(number, _, lines)| {
            Some((f64::from(*number), f64::from(lines.last()?.material.get(piece.to_index())?[stage])))
        });
        Series::line(piece_name(piece), start.chain(trained).collect())
    };
    let material = |stage: usize| {
        let all: Vec<Series> = BY_VALUE.iter().map(|&piece| weight(piece, stage)).collect();
        figures::chart(&axes(MATERIAL_AXES[stage], true), &all, CHART)
    };
    page.charts(
        &[material(0), material(1)],
        "Values of the pieces after each generation's training, in the scale of the search.",
    );
}

fn learning(page: &mut Page, run: &RunData) {
    let all: Vec<&LogLine> = run.lines.iter().collect();
    let lines: Vec<&LogLine> = all.iter().copied().filter(|line| line.positions > 0).collect();
    if lines.is_empty() {
        return;
    }
    page.heading("Learning curves");
    let draw_of = |lines: &[&LogLine], y: &str, from_zero: bool, what: &dyn Fn(&LogLine) -> f64| {
        let axes = Axes { x: "training positions", y, from_zero, whole: false };
        let curve = lines.iter().map(|line| (line.positions as f64, what(line))).collect();
        figures::chart(&axes, &[Series::line("", curve)], CHART)
    };
    let draw = |y: &str, from_zero: bool, what: &dyn Fn(&LogLine) -> f64| draw_of(&lines, y, from_zero, what);
    page.charts(
        &[
            // The accuracy is known at the start already.
            draw_of(&all, "move-match accuracy, %", false, &|line| 100.0 * accuracy(line)),
            draw("siblings above the desired move", true, &|line| line.mean_s),
        ],
        "Move-match accuracy of the averaged weights on test positions, and mean size of S, the set of siblings valued \
         above the desired move, on training positions.",
    );
    page.charts(
        &[
            draw("loss", true, &|line| line.loss),
            draw("positions with empty S, %", false, &|line| 100.0 * line.empty_s),
        ],
        "Mean loss, and share of the training positions that changed nothing because no sibling was valued above the \
         desired move.",
    );
    page.charts(
        &[material_curves(&lines, 0), material_curves(&lines, 1)],
        "Values of the pieces, in the scale of the search.",
    );
    page.charts(&[draw("positions per second", true, &|line| line.positions_per_second)], "Speed of the training.");
}

fn iterations_table(page: &mut Page, lines: &[&LogLine]) {
    let row = |line: &&LogLine| {
        vec![
            line.iteration.to_string(),
            line.positions.to_string(),
            percent(accuracy(line)),
            if line.best { "best so far".into() } else { String::new() },
            format!("{:.3}", line.mean_s),
            format!("{:.4}", line.loss),
            format!("{:.0}", line.positions_per_second),
            duration(line.seconds),
        ]
    };
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    let head = ["Iteration", "Positions", "Accuracy", "Note", "Mean |S|", "Loss", "Positions/s", "Time"];
    page.table("The iterations; 0 is the start.", &head, &rows);
}

fn iterations_section(page: &mut Page, run: &RunData) {
    let lines = iterations(&run.lines);
    if lines.is_empty() {
        return;
    }
    page.heading("Move-match accuracy by iteration");
    let points = lines.iter().map(|line| (f64::from(line.iteration), 100.0 * accuracy(line))).collect();
    let axes = Axes { x: "iteration", y: "move-match accuracy, %", from_zero: false, whole: true };
    page.charts(
        &[figures::chart(&axes, &[Series::marked("", points)], CHART)],
        "Move-match accuracy on all test positions; iteration 0 is the start. A desired move that ties with others at the \
         top counts as 1 over the number of these moves.",
    );
    iterations_table(page, &lines);
}

fn material(page: &mut Page, run: &RunData) {
    let Some(after) = &run.after else { return };
    page.heading("Material");
    let value = |weights: Option<&Weights>, piece: Piece, stage: usize| {
        weights.map_or_else(|| "-".into(), |weights| weights.ints()[MATERIAL.at(piece)][stage].to_string())
    };
    let row = |(piece, paper): (Piece, [i32; 4])| {
        let sets = [run.before.as_ref(), Some(after)].into_iter();
        let ours = sets.flat_map(|weights| [0, 1].map(|stage| value(weights, piece, stage)));
        let first = [piece_name(piece).to_string()].into_iter();
        first.chain(ours).chain(paper.map(|weight| weight.to_string())).collect()
    };
    let rows: Vec<Vec<String>> = BY_VALUE.into_iter().zip(TABLE_X).map(row).collect();
    page.table(
        "Weights of the pieces in middlegame and endgame, before and after training, next to those of the paper's Table X: \
         ORI1, hand-tuned, and CT4, trained.",
        &[
            "Piece",
            "before, middlegame",
            "endgame",
            "after, middlegame",
            "endgame",
            "ORI1, middlegame",
            "endgame",
            "CT4, middlegame",
            "endgame",
        ],
        &rows,
    );
}

fn norms(page: &mut Page, run: &RunData) {
    let lines: Vec<&LogLine> = run.lines.iter().filter(|line| !line.norms.is_empty()).collect();
    if let (None, None) = (lines.last(), &run.after) {
        return;
    }
    page.heading("Groups of features");
    let curve = |group: &Group, stage: usize| {
        // Logs of release 0.2.0 have the names of weights files.
        let norms = |line: &LogLine| line.norms.get(group.name).or_else(|| line.norms.get(group.stored_name)).copied();
        let point = |line: &&LogLine| Some((line.positions as f64, norms(line)?[stage]));
        lines.iter().filter_map(point).collect::<Vec<_>>()
    };
    let draw = |stage: usize| {
        let mut all: Vec<Series> = GROUPS.iter().map(|group| Series::line(group.name, curve(group, stage))).collect();
        let last = |series: &Series| series.points.last().map_or(0.0, |point| point.1);
        all.sort_by(|one, other| last(other).total_cmp(&last(one)));
        all.truncate(SHOWN_GROUPS);
        let y = format!("norm, {}", STAGES[stage]);
        figures::chart(&Axes { x: "training positions", y: &y, from_zero: true, whole: false }, &all, CHART)
    };
    let caption = format!("Euclidean norms of the weights, of the {SHOWN_GROUPS} groups where they are largest.");
    page.charts(&[draw(0), draw(1)], &caption);
    let sets = [run.before.as_ref(), run.after.as_ref()];
    let used = |weights: &Weights, group: &Group| {
        weights.ints()[group.range()].iter().filter(|weight| **weight != [0; 2]).count()
    };
    let norm = |weights: &Weights, group: &Group, stage: usize| {
        let squares = weights.ints()[group.range()].iter().map(|weight| f64::from(weight[stage]).powi(2));
        format!("{:.0}", squares.sum::<f64>().sqrt())
    };
    let row = |group: &Group| {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let used = or_dash(run.after.as_ref().map(|weights| used(weights, group).to_string()));
        let start = [group.name.to_string(), group.len.to_string(), used];
        let norms = sets.iter().flat_map(|set| [0, 1].map(|stage| or_dash(set.map(|set| norm(set, group, stage)))));
        start.into_iter().chain(norms).collect()
    };
    let has_weight = |group: &&Group| sets.iter().flatten().any(|set| used(set, group) > 0);
    let rows: Vec<Vec<String>> = GROUPS.iter().filter(has_weight).map(row).collect();
    if !rows.is_empty() {
        page.folded(&format!("All {} groups that have a weight", rows.len()), |page| {
            page.table(
                "Groups that have a weight: their features, how many of these have one, and the norms of the integer \
                 weights.",
                &["Group", "Features", "with weight", "before, middlegame", "endgame", "after, middlegame", "endgame"],
                &rows,
            );
        });
    }
}

fn locations(page: &mut Page, weights: &Weights, start: Option<&Weights>) {
    if weights.ints()[PIECE_SQUARE.range()].iter().all(|weight| *weight == [0; 2]) {
        return;
    }
    page.heading("Piece-square weights");
    let weight = |weights: &Weights, piece: Piece, stage: usize, square: Square| {
        let row = pairs::row(PieceSquare::new(Color::White, piece, square));
        f64::from(weights.ints()[PIECE_SQUARE.at(piece, HalfSquare(row))][stage])
    };
    let draw = |value: &dyn Fn(Piece, usize, Square) -> f64| {
        let board = |piece: Piece, stage: usize| {
            let values = ALL_SQUARES.map(|square| can_stand(piece, square).then(|| value(piece, stage, square)));
            Board { title: format!("{}, {}", piece_name(piece), STAGES[stage]), values, mark: None }
        };
        let all: Vec<Board> = [0, 1].into_iter().flat_map(|stage| PIECES.map(|piece| board(piece, stage))).collect();
        figures::boards(&all)
    };
    page.figure(
        &draw(&|piece, stage, square| weight(weights, piece, stage, square)),
        "What a White piece gains from its square, without its material, in the units of the material weights. Left and \
         right share their weights.",
    );
    if let Some(start) = start {
        page.folded("How they have changed since the start", |page| {
            page.figure(
                &draw(&|piece, stage, square| {
                    weight(weights, piece, stage, square) - weight(start, piece, stage, square)
                }),
                "The same less what it was at the start.",
            );
        });
    }
}

fn pairs_of(page: &mut Page, weights: &Weights, focus: PieceSquare) {
    if !weights.compiled().has_pairs() {
        return;
    }
    page.heading("Pair weights");
    let board = |color: Color, piece: Piece, stage: usize| {
        let value =
            |square: Square| f64::from(worth_of_pair(weights, focus, PieceSquare::new(color, piece, square))[stage]);
        let there = |square: Square| square != focus.square && can_stand(piece, square);
        let values = ALL_SQUARES.map(|square| there(square).then(|| value(square)));
        let owner = if color == focus.color { "own" } else { "enemy" };
        let title = format!("{owner} {}, {}", piece_name(piece).to_lowercase(), STAGES[stage]);
        Board { title, values, mark: Some((focus.square.to_index(), letter(focus.piece))) }
    };
    let piece = format!("a White {} on {}", piece_name(focus.piece).to_lowercase(), focus.square);
    for stage in [0, 1] {
        page.folded(&format!("Pairs with {piece}, {}", STAGES[stage]), |page| {
            let all: Vec<Board> =
                COLORS.iter().flat_map(|&color| PIECES.map(|piece| board(color, piece, stage))).collect();
            page.figure(
                &figures::boards(&all),
                &format!(
                    "Pairs with {piece}, {}: the value of the pair for White when the other piece stands on the square, \
                     from both pieces' views together.",
                    STAGES[stage],
                ),
            );
        });
    }
}

/// The matches other than those of generations.
fn matches(page: &mut Page, run: &RunData) {
    let rows: Vec<Vec<String>> = run.matches.iter().map(match_row).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Matches");
    let head = ["Match", "Score", "Elo", "nElo", "Games", "Pairs by points", "+", "=", "-", "LLR", "Limits"];
    page.table(
        "Matches over paired openings, with 95 % intervals from the pentanomial variance; pairs by points made: 0, 1/2, 1, \
         3/2, 2.",
        &head,
        &rows,
    );
}

fn games_to_look_at(page: &mut Page, run: &RunData) {
    if run.games.is_empty() {
        return;
    }
    page.heading("Games");
    for (title, game) in &run.games {
        games::show(page, title, game);
    }
}

fn settings(page: &mut Page, run: &RunData) {
    if run.settings.is_empty() {
        return;
    }
    page.heading("How it was made");
    for (name, value) in &run.settings {
        let mut rows = Vec::new();
        flatten(&mut rows, String::new(), value);
        page.folded(&format!("{name}.json"), |page| {
            page.table(&format!("What is in {name}.json."), &["Setting", "Value"], &rows);
        });
    }
}

/// A duration for readers.
fn spoken(seconds: f64) -> String {
    match seconds.max(0.0) {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

fn with_error(estimate: &Estimate, digits: usize) -> String {
    format!("{:+.digits$} \u{b1} {:.digits$}", estimate.value, estimate.error())
}

fn pentanomial(record: &MatchRecord) -> String {
    record.tally.pentanomial.map(|count| count.to_string()).join(" ")
}

fn iterations(lines: &[LogLine]) -> Vec<&LogLine> {
    lines.iter().filter(|line| line.kind == LineKind::Iteration).collect()
}

/// Move-match accuracy of a line, where it was measured.
fn accuracy(line: &LogLine) -> f64 {
    line.accuracy.unwrap_or(f64::NAN)
}

fn material_curves(lines: &[&LogLine], stage: usize) -> String {
    let curve = |piece: Piece| {
        let weight =
            |line: &&LogLine| Some((line.positions as f64, f64::from(line.material.get(piece.to_index())?[stage])));
        lines.iter().filter_map(weight).collect::<Vec<_>>()
    };
    let all: Vec<Series> = BY_VALUE.iter().map(|&piece| Series::line(piece_name(piece), curve(piece))).collect();
    figures::chart(
        &Axes { x: "training positions", y: MATERIAL_AXES[stage], from_zero: true, whole: false },
        &all,
        CHART,
    )
}

/// Elo of the best weights above the start: at the start and after each generation.
fn climb(generations: &[Generation]) -> Vec<Estimate> {
    let step = |(sum, variance): &mut (f64, f64), generation: Option<&Generation>| {
        if let Some(Generation { adopted: true, record, .. }) = generation {
            *sum += record.elo.value;
            *variance += record.elo.error().powi(2);
        }
        let error = variance.sqrt();
        Some(Estimate { value: *sum, low: *sum - error, high: *sum + error })
    };
    [None].into_iter().chain(generations.iter().map(Some)).scan((0.0, 0.0), step).collect()
}

fn match_row(record: &MatchRecord) -> Vec<String> {
    let [a, b] = &record.names;
    let [budget_a, budget_b] = &record.budgets;
    let tally = &record.tally;
    let llr = match (record.llr, &record.sprt) {
        (Some(llr), Some(sprt)) => format!("{llr:+.2} [{}, {}]", sprt.elo0, sprt.elo1),
        _ => String::new(),
    };
    vec![
        format!("{a} - {b}"),
        percent(record.score.value),
        with_error(&record.elo, 1),
        with_error(&record.normalized_elo, 1),
        tally.games().to_string(),
        pentanomial(record),
        tally.wins.to_string(),
        tally.draws.to_string(),
        tally.losses.to_string(),
        llr,
        if budget_a == budget_b { budget_a.clone() } else { format!("{budget_a} - {budget_b}") },
    ]
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.2} %", 100.0 * share) } else { "-".to_string() }
}

fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    format!("{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Reads a piece on its square, as in `Nf5`; a pawn may be written without its letter.
pub fn parse_focus(text: &str) -> Result<PieceSquare, String> {
    let fault = || format!("'{text}' is not a piece on a square like Nf5 or Pe4");
    let (piece, square) = match text.len() {
        2 => ("P", text),
        3 if text.is_char_boundary(1) => text.split_at(1),
        _ => return Err(fault()),
    };
    let index = "PNBRQK".find(&piece.to_uppercase()).ok_or_else(fault)?;
    let square: Square = square.to_lowercase().parse().map_err(|_| fault())?;
    if !can_stand(PIECES[index], square) {
        return Err(format!("no pawn stands on {square}"));
    }
    Ok(PieceSquare::new(Color::White, PIECES[index], square))
}

#[cfg(test)]
mod tests;
