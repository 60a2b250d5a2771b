//! The page of a training, most important sections first.

use std::time::{SystemTime, UNIX_EPOCH};

use dyad_engine::board::{Piece, piece_name};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::MATERIAL;
use dyad_engine::eval::units::SCALE_ONE;
use maud::html;
use serde_json::Value as Json;

use super::ratings::{MatchPoints, ratings};
use super::run_data::{Generation, Now, RunData};
use crate::arena::matches::MatchRecord;
use crate::arena::statistics::{Decision, Estimate, score_of_elo};
use crate::learn::log::{LineKind, LogLine};
use crate::page::figures::{self, Axes, Series};
use crate::page::html::Page;
use crate::selftrain::Distance;
use crate::selftrain::strength::{NODES, Strength};

/// From the most to the least valuable.
const BY_VALUE: [Piece; 5] = [Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight, Piece::Pawn];

/// The script that reloads the page of a running training.
const LIVE: &str = include_str!("assets/live.js");

/// Writes the page.
pub fn page(run: &RunData) -> String {
    let mut page = Page::default();
    under_way(&mut page, run);
    beginning(&mut page, run);
    let rated = rated(run);
    glance(&mut page, run, &rated);
    resuming(&mut page, run);
    summary(&mut page, run);
    generations(&mut page, run, &rated);
    learning(&mut page, run);
    if run.generations.is_empty() {
        identities(&mut page, run);
    } else {
        page.folded("For researchers: every match", |page| {
            matches(page, run);
            identities(page, run);
        });
    }
    settings(&mut page, run);
    let kind = if run.setting("method").is_some() { "Self-training: " } else { "" };
    page.finish(&format!("{kind}{}", run.title))
}

/// The current activity, with the time of the last update.
fn under_way(page: &mut Page, run: &RunData) {
    let Some(now) = &run.now else { return };
    let Now { headline, detail, share, seconds_left, steps, step } = now;
    let written = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    page.put(html! {
        section.now aria-label="Under way" {
            p { strong { (headline) @if let Some(left) = seconds_left { ", about " (spoken(*left)) " left" } } }
            @if !steps.is_empty() {
                ol.steps {
                    @for (number, name) in steps.iter().enumerate() {
                        li aria-current=[(number == *step).then_some("step")] { (name) }
                    }
                }
            }
            @if let Some(share) = share {
                progress value=(format!("{share:.4}")) aria-label="Share that is done" { (percent(*share)) }
            }
            @if !detail.is_empty() { p { (detail) } }
            p #live .muted.live data-written=(written) { "Load this page again to see what is new." }
        }
    });
    page.script(LIVE);
}

fn summary(page: &mut Page, run: &RunData) {
    let iterations: Vec<&LogLine> = run.lines.iter().filter(|line| line.kind == LineKind::Iteration).collect();
    if let (Some(first), Some(last)) = (iterations.first(), iterations.last()) {
        let mut facts = vec![
            (last.iteration.to_string(), "iterations"),
            (last.positions.to_string(), "positions"),
            (spoken(last.seconds), "of training"),
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
            let (own_name, id) = (&weights.meta.name, weights.id());
            page.put(html! { p.muted { (name) ": weights \u{201c}" (own_name) "\u{201d}, identity " (id) "." } });
        }
    }
}

/// What a self-training does, until its first generation is done.
fn beginning(page: &mut Page, run: &RunData) {
    if run.setting("method").is_none() || !run.generations.is_empty() || !run.unchanged.is_empty() {
        return;
    }
    let games = match run.setting("games-file") {
        None => "plays games against itself and makes new weights from them",
        Some(_) => "makes new weights from the games of a file",
    };
    page.paragraph(&format!(
        "Dyad learns chess from the values of the pieces alone. Each generation {games}; then a match decides whether these are stronger than the best \
         weights before. The engine keeps the weights that it plays with until a long match proves a generation stronger."
    ));
}

/// How to continue a self-training.
fn resuming(page: &mut Page, run: &RunData) {
    if run.now.is_none() && run.setting("method").is_some() {
        page.paragraph(
            "To continue this training, set Train to resume in your chess program, or run dyad selftrain --out FOLDER --resume with \
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
        let (elo, games) = (with_error(&record.elo, 0), record.tally.games());
        page.put(html! {
            p.crossed { "\u{2605} Generation " (number) " beats " (record.names[1]) ": " (elo) " Elo over " (games) " games." }
        });
    }
    let curve = page.within(|page| match run.distances.last() {
        Some((_, Distance { reference, .. })) if !rated.is_empty() => distance_curve(page, run, rated, reference),
        _ => {}
    });
    page.put(html! {
        div.glance {
            div { (curve) }
            dl { @for (name, value) in player_facts(run, rated.last()) { dt { (name) } dd { (value) } } }
        }
    });
}

/// Weights that were the best, with their Elo against the reference.
struct Rated {
    /// The generation; 0 for the start.
    generation: u32,
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
    let distances = |generation: u32| {
        let all = run.distances.iter().map(|(_, distance)| distance);
        all.filter(move |one| one.reference == *reference && one.generation == generation)
    };
    let adopted: Vec<&Generation> = run.generations.iter().filter(|generation| generation.adopted).collect();
    let points = |record: &MatchRecord| MatchPoints::new(record.tally.games(), record.score.value);
    let direct = |generation: u32| {
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
    let best_known = |generation: u32, all: Estimate| {
        let own = distances(generation).map(|distance| distance.elo);
        own.fold(all, |best, elo| if elo.error() < best.error() { elo } else { best })
    };
    let rate = |((generation, hours), elo)| Rated { generation, hours, elo: best_known(generation, elo) };
    let rated = all.zip(ratings(&steps, &games)).map(rate).zip(&games);
    // Strength is not known before games against the reference measure it.
    let is_known = |elo: &Estimate| elo.error() <= Distance::FAR || elo.high < 0.0 || elo.low > 0.0;
    rated.filter(|(rated, own)| own.games > 0.0 && is_known(&rated.elo)).map(|(rated, _)| rated).collect()
}

/// The strength of the best weights against the reference, which is the line at zero.
fn distance_curve(page: &mut Page, run: &RunData, rated: &[Rated], reference: &str) {
    const LONGEST: f64 = 200.0;
    let ends = rated.iter().map(|rated| rated.hours).chain(run.generations.iter().map(|generation| generation.hours));
    let end = ends.fold(0.02, f64::max);
    let (x, unit) = if end < 2.0 { ("minutes of training", 60.0) } else { ("hours of training", 1.0) };
    let at = |rated: &Rated| rated.hours * unit;
    let points = rated.iter().map(|rated| (at(rated), rated.elo.value)).collect();
    // The intervals of few games reach far, and are cut.
    let ends = |elo: &Estimate| (elo.low.max(elo.value - LONGEST), elo.high.min(elo.value + LONGEST));
    let intervals = rated.iter().map(|rated| (at(rated), ends(&rated.elo).0, ends(&rated.elo).1)).collect();
    let lines = [
        Series { intervals, ..Series::marked("best weights of this training", points) },
        Series::line(reference, vec![(0.0, 0.0), (end * unit, 0.0)]),
    ];
    let y = format!("Elo against {reference}");
    page.figure(
        &figures::chart(&Axes { x, y: &y, from_zero: true }, &lines),
        &format!(
            "Strength of the best weights against {reference}, the line at 0, by all games of the training: against these and \
             of each generation against the one before. Bars are 95 % intervals."
        ),
    );
}

/// What a player wants to know of a training.
fn player_facts(run: &RunData, best: Option<&Rated>) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let adopted = run.generations.iter().filter(|generation| generation.adopted);
    if let Some((_, Distance { reference, elo, games, .. })) = run.distances.last() {
        let elo = best.map_or(elo, |best| &best.elo);
        let distance = |elo: &Estimate| with_error(elo, 0).trim_start_matches('+').to_string();
        facts.push((
            "Strength",
            match games {
                0 => format!("as strong as {reference}: nothing is learned yet"),
                _ if elo.high < 0.0 => format!("still {} Elo below {reference}", distance(&elo.opposite())),
                _ if elo.low > 0.0 => format!("{} Elo above {reference}", distance(elo)),
                _ if elo.error() > Distance::FAR => format!("too few games to be compared with {reference}"),
                _ => format!("about as strong as {reference} ({} Elo)", with_error(elo, 0)),
            },
        ));
        let proven = match run.proven {
            0 => format!("no generation: the engine plays with {reference}"),
            number => format!("generation {number}"),
        };
        if let Some(Strength { generation, elo, error, games }) = run.strength {
            let like = format!("a Lichess {elo:.0} \u{b1} {error:.0} with {NODES} nodes a move");
            facts.push(("Plays like", format!("{like} (generation {generation}, {games} games against the levels)")));
        }
        facts.push(("Proven stronger", proven));
    }
    let played = run.generations.iter().map(|generation| generation.number);
    if let Some(last) = played.chain(run.unchanged.iter().copied()).max() {
        let unchanged = match run.unchanged.len() {
            0 => String::new(),
            count => format!(", {count} without a change of the weights"),
        };
        facts.push(("Generations", format!("{last}, {} adopted{unchanged}", adopted.count())));
    }
    if let Some(last) = run.generations.last() {
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
        let value = |piece: Piece| {
            let [mg, eg] = weights.ints()[MATERIAL.at(piece)].map(f64::from);
            (mg + eg) / 2.0 / pawn(weights)
        };
        let pieces = BY_VALUE.iter().map(|&piece| format!("{} {:.1}", piece_name(piece), value(piece)));
        facts.push(("Pieces in pawns", pieces.collect::<Vec<_>>().join(", ")));
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
            (false, _) if matches!(record.decision, Some(Decision::H0)) => "not proven stronger",
            (false, _) => "not decided",
        };
        let mut row = vec![
            number.to_string(),
            outcome.to_string(),
            rated.map_or_else(String::new, |rated| with_error(&rated.elo, 0)),
            format!("{:.0} %", 100.0 * record.score.value),
            record.tally.games().to_string(),
            spoken(3600.0 * generation.hours),
        ];
        row.extend(generation.accuracy.map(percent));
        row
    };
    let rows: Vec<Vec<String>> = run.generations.iter().rev().map(row).collect();
    let columns = if run.generations.iter().any(|generation| generation.accuracy.is_some()) { 7 } else { 6 };
    let line = run.distances.last().map_or("the line", |(_, distance)| &distance.reference);
    page.table(
        &format!("The generations, the latest first: score against the best before it, and Elo against {line} of those that were the best."),
        &["Generation", "Outcome", "Elo", "Score", "Games", "After", "Accuracy"][..columns],
        &rows,
    );
}

/// Learning curves of a comparison training.
fn learning(page: &mut Page, run: &RunData) {
    if run.lines.iter().all(|line| line.positions == 0) {
        return;
    }
    page.heading("Learning curves");
    let x = "training positions";
    let chart = |y: &str, from_zero: bool, value: &dyn Fn(&LogLine) -> Option<f64>| {
        let points = run.lines.iter().filter_map(|line| Some((line.positions as f64, value(line)?))).collect();
        figures::chart(&Axes { x, y, from_zero }, &[Series::line("", points)])
    };
    // At the start only the accuracy is known.
    let trained = |line: &LogLine, value: f64| (line.positions > 0).then_some(value);
    page.charts(
        &[
            chart("move-match accuracy, %", false, &|line| Some(100.0 * line.accuracy?)),
            chart("siblings above the desired move", true, &|line| trained(line, line.mean_s)),
        ],
        "Move-match accuracy of the averaged weights on test positions, and mean size of S, the set of siblings valued \
         above the desired move, on training positions.",
    );
    page.charts(
        &[
            chart("loss", true, &|line| trained(line, line.loss)),
            chart("positions with empty S, %", false, &|line| trained(line, 100.0 * line.empty_s)),
        ],
        "Mean loss, and share of the training positions that changed nothing because no sibling was valued above the \
         desired move.",
    );
    let unit = run.after.as_ref().or(run.before.as_ref()).map_or(1.0, pawn);
    let material = [(0, "middlegame"), (1, "endgame")].map(|(stage, name)| {
        let curve = |piece: Piece| {
            let value = |line: &LogLine| Some(f64::from(line.material.get(piece.to_index())?[stage]) / unit);
            let points = run.lines.iter().filter_map(|line| Some((line.positions as f64, value(line)?))).collect();
            Series::line(piece_name(piece), points)
        };
        let y = format!("pawns, {name}");
        figures::chart(&Axes { x, y: &y, from_zero: true }, &BY_VALUE.map(curve))
    });
    page.charts(&material, "Values of the pieces.");
}

/// All matches: the long ones against the weights that the engine played with, and those of the generations, the latest
/// first.
fn matches(page: &mut Page, run: &RunData) {
    let all = run.proofs.iter().chain(run.generations.iter().rev());
    let rows: Vec<Vec<String>> = all.map(|entry| match_row(&entry.record)).collect();
    page.heading("Matches");
    page.table(
        "Matches over paired openings, with 95 % intervals from the pentanomial variance; pairs by points made: 0, 1/2, 1, \
         3/2, 2. LLR: log-likelihood ratio of the match's test.",
        &["Match", "Score", "Elo", "nElo", "Games", "Pairs by points", "+", "=", "-", "LLR", "Limits"],
        &rows,
    );
}

fn settings(page: &mut Page, run: &RunData) {
    if !run.settings.is_null() {
        page.heading("How it was made");
        page.values("settings.json", &run.settings);
    }
}

/// How much of a weight is a pawn.
fn pawn(weights: &Weights) -> f64 {
    1.0 / weights.pawns(f64::from(weights.units.scale) / f64::from(SCALE_ONE))
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
    estimate.text(digits).replace("+-", "\u{b1}")
}

/// Move-match accuracy of a line, where it was measured.
fn accuracy(line: &LogLine) -> f64 {
    line.accuracy.unwrap_or(f64::NAN)
}

fn match_row(record: &MatchRecord) -> Vec<String> {
    let [a, b] = &record.names;
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
        tally.pentanomial.map(|count| count.to_string()).join(" "),
        tally.wins.to_string(),
        tally.draws.to_string(),
        tally.losses.to_string(),
        llr,
        record.limits.clone(),
    ]
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.2} %", 100.0 * share) } else { "-".to_string() }
}

#[cfg(test)]
mod tests;
