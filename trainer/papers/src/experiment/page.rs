//! The page of an experiment: the results of the paper and Dyad's, side by side.
//!
//! It shows the results so far, with dashes for missing ones, as one self-contained HTML file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::{PIECES, Piece};
use dyad_engine::eval::layout::{HalfSquare, MATERIAL, PIECE_SQUARE};
use dyad_engine::eval::{Weights, pairs};
use dyad_trainer::arena::statistics::{Estimate, MatchResults};
use dyad_trainer::page::figures::{Axes, Board, Series, boards, chart};
use dyad_trainer::page::html::{Page, flatten};

use crate::experiment::plan::{Cell, PageElement, Plan};
use crate::experiment::work::{Results, weights};

/// Size of a chart in pixels.
const CHART: (u32, u32) = (560, 300);
/// Placeholder for a missing result.
const UNKNOWN: &str = "-";
/// The verdict on a score whose interval is on the paper's side of 50 %, on the other side, or on both.
const HOLDS: &str = "holds";
const FAILS: &str = "fails";
const OPEN: &str = "open";

/// Builds the page as HTML.
#[must_use]
pub fn of(plan: &Plan, results: &Results, folder: &Path) -> String {
    let mut writer = Writer { plan, results, folder, weights: BTreeMap::new() };
    let mut page = Page::default();
    let (done, all) = (results.len(), plan.steps.len());
    let seconds: f64 = results.values().map(|result| result.seconds).sum();
    page.paragraph(&format!("After {}.", plan.paper));
    let mut facts = writer.verdicts();
    facts.extend([
        (format!("{done} of {all}"), "steps are done"),
        (format!("{:?}", plan.scale).to_lowercase(), "scale"),
        (plan.seed.to_string(), "seed"),
        (format!("{:.0}", seconds / 60.0), "minutes of work"),
    ]);
    page.facts(&facts);
    if done < all {
        page.paragraph("This experiment is not finished: a dash marks a missing result.");
    }
    page.paragraph(
        "Intervals are those of 95 %. In matches they come from pairs of games, each from one opening with both colors; one \
         that contains 50 % proves nothing. A claim of the paper holds if Dyad's interval lies on its side of 50 %, fails if \
         the interval lies on the other side, and is open otherwise.",
    );
    for element in &plan.elements {
        writer.element(&mut page, element);
    }
    page.heading("How it was made");
    page.folded("Every step, its result and its hash", |page| writer.steps(page));
    page.folded("All settings", |page| {
        let mut rows = Vec::new();
        for step in &plan.steps {
            flatten(&mut rows, step.name.clone(), &serde_json::to_value(&step.work).expect("plain data"));
        }
        page.table("Settings of the steps.", &["Setting", "Value"], &rows);
    });
    page.finish(&plan.title)
}

struct Writer<'a> {
    plan: &'a Plan,
    results: &'a Results,
    folder: &'a Path,
    /// Weights already loaded.
    weights: BTreeMap<String, Option<Arc<Weights>>>,
}

impl Writer<'_> {
    /// How many results of the paper hold, do not, or are not decided; empty if the plan compares none.
    fn verdicts(&mut self) -> Vec<(String, &'static str)> {
        let rows = self.plan.elements.iter().filter_map(|element| match element {
            PageElement::Table { rows, .. } => Some(rows),
            _ => None,
        });
        let cells = rows.flatten().flatten().filter(|cell| matches!(cell, Cell::Verdict { .. }));
        let verdicts: Vec<String> = cells.map(|cell| self.cell_text(cell)).collect();
        if verdicts.is_empty() {
            return Vec::new();
        }
        let count = |wanted: &str| verdicts.iter().filter(|verdict| *verdict == wanted).count();
        let [hold, fail, open] = [HOLDS, FAILS, OPEN].map(count);
        let missing = verdicts.len() - hold - fail - open;
        let mut facts = vec![(format!("{hold} of {}", verdicts.len()), "results of the paper hold")];
        let others = [(open, "open"), (fail, "fail"), (missing, "not measured yet")];
        facts.extend(others.into_iter().filter(|(count, _)| *count > 0).map(|(count, name)| (count.to_string(), name)));
        facts
    }

    fn element(&mut self, page: &mut Page, element: &PageElement) {
        match element {
            PageElement::Heading { text } => page.heading(text),
            PageElement::Text { text } => page.paragraph(text),
            PageElement::Table { caption, head, rows } => {
                let head: Vec<&str> = head.iter().map(String::as_str).collect();
                let rows: Vec<Vec<String>> =
                    rows.iter().map(|row| row.iter().map(|cell| self.cell_text(cell)).collect()).collect();
                page.table(caption, &head, &rows);
            }
            PageElement::Chart { caption, x, y, series } => {
                let all: Vec<Series> = series.iter().map(|(name, points)| self.series(name, points)).collect();
                let axes = Axes { x, y, from_zero: false, whole: true };
                match chart(&axes, &all, CHART) {
                    drawn if drawn.is_empty() => page.paragraph(&format!("{caption} Nothing is known of it yet.")),
                    drawn => page.charts(&[drawn], caption),
                }
            }
            PageElement::Boards { caption, boards: wanted } => {
                let drawn: Vec<Board> = wanted
                    .iter()
                    .filter_map(|(title, weights, piece, stage)| {
                        Some(squares(title, &*self.load_weights(weights)?, *piece, *stage))
                    })
                    .collect();
                if drawn.is_empty() {
                    page.paragraph(&format!("{caption} Nothing is known of it yet."));
                } else {
                    page.figure(&boards(&drawn), caption);
                }
            }
        }
    }

    fn series(&mut self, name: &str, points: &[(f64, Cell)]) -> Series {
        let numbers: Vec<(f64, Estimate)> =
            points.iter().filter_map(|(x, cell)| Some((*x, self.number(cell)?))).collect();
        let intervals = numbers.iter().filter(|(_, found)| found.high > found.low);
        Series {
            intervals: intervals.map(|&(x, Estimate { low, high, .. })| (x, low, high)).collect(),
            ..Series::marked(name, numbers.iter().map(|(x, found)| (*x, found.value)).collect())
        }
    }

    /// The weights of this name, if available.
    fn load_weights(&mut self, name: &str) -> Option<Arc<Weights>> {
        let is_step = self.plan.steps.iter().any(|step| step.name == name);
        if is_step && !self.results.contains_key(name) {
            return None;
        }
        let (plan, folder) = (self.plan, self.folder);
        self.weights.entry(name.to_string()).or_insert_with(|| weights(plan, folder, name).ok()).clone()
    }

    /// A number with its interval; a number without one has an empty interval.
    fn number(&mut self, cell: &Cell) -> Option<Estimate> {
        let exact = |value: f64| Estimate { value, low: value, high: value };
        match cell {
            Cell::Text { .. } | Cell::Verdict { .. } => None,
            Cell::Paper { value, .. } => Some(exact(*value)),
            Cell::Score { step, reversed } => self.score(step, *reversed),
            Cell::Games { step } => Some(exact(self.tally(step)?.games() as f64)),
            Cell::Total { steps } => {
                let mut points = [0.0; 2];
                for (step, reversed) in steps {
                    let tally = self.tally(step)?;
                    let own = tally.points();
                    points[0] += if *reversed { tally.games() as f64 - own } else { own };
                    points[1] += tally.games() as f64;
                }
                Some(exact(100.0 * points[0] / points[1].max(1.0)))
            }
            Cell::Value { step, at, factor, .. } => {
                let found = self.results.get(step)?.result.pointer(at)?;
                let of = |name: &str| found.get(name).and_then(serde_json::Value::as_f64).map(|value| value * factor);
                match found.as_f64() {
                    Some(value) => Some(exact(value * factor)),
                    None => {
                        let value = of("value")?;
                        Some(Estimate { value, low: of("low").unwrap_or(value), high: of("high").unwrap_or(value) })
                    }
                }
            }
            Cell::Ratio { step, by, at } => {
                let of = |step: &str| self.results.get(step)?.result.pointer(at)?.as_f64();
                Some(exact(of(step)? / of(by)?)).filter(|found| found.value.is_finite())
            }
            Cell::Weight { weights, group, index, stage, centipawns } => {
                let weights = self.load_weights(weights)?;
                let all = weights.group(group)?;
                let sum: f64 = match index {
                    Some(index) => all.get(*index)?[*stage].into(),
                    None => all.iter().map(|weight| f64::from(weight[*stage])).sum::<f64>() / all.len() as f64,
                };
                Some(exact(if *centipawns { sum * unit(&weights)? } else { sum }))
            }
        }
    }

    fn tally(&self, step: &str) -> Option<MatchResults> {
        serde_json::from_value(self.results.get(step)?.result.get("tally")?.clone()).ok()
    }

    /// In percent.
    fn score(&self, step: &str, reversed: bool) -> Option<Estimate> {
        let Estimate { value, low, high } = self.tally(step)?.score();
        Some(match reversed {
            false => Estimate { value: 100.0 * value, low: 100.0 * low, high: 100.0 * high },
            true => Estimate { value: 100.0 * (1.0 - value), low: 100.0 * (1.0 - high), high: 100.0 * (1.0 - low) },
        })
    }

    fn cell_text(&mut self, cell: &Cell) -> String {
        let numbers = self.number(cell);
        match cell {
            Cell::Text { text } => text.clone(),
            Cell::Paper { value, decimals } => format!("{value:.decimals$}"),
            Cell::Score { .. } => {
                let interval = |found: Estimate| format!("{:.1} ({:.1} to {:.1})", found.value, found.low, found.high);
                numbers.map_or_else(|| UNKNOWN.into(), interval)
            }
            Cell::Games { .. } => numbers.map_or_else(|| UNKNOWN.into(), |found| format!("{:.0}", found.value)),
            Cell::Total { .. } => numbers.map_or_else(|| UNKNOWN.into(), |found| format!("{:.1}", found.value)),
            Cell::Verdict { step, paper } => {
                self.score(step, false).map_or_else(|| UNKNOWN.into(), |found| verdict(found, *paper).into())
            }
            Cell::Value { decimals, .. } => {
                let decimals = *decimals;
                let write = |found: Estimate| {
                    let mut text = format!("{:.decimals$}", found.value);
                    if found.high > found.low {
                        text += &format!(" ({:.decimals$} to {:.decimals$})", found.low, found.high);
                    }
                    text
                };
                numbers.map_or_else(|| UNKNOWN.into(), write)
            }
            Cell::Ratio { .. } => numbers.map_or_else(|| UNKNOWN.into(), |found| format!("{:.2}", found.value)),
            Cell::Weight { .. } => numbers.map_or_else(|| UNKNOWN.into(), |found| format!("{:.0}", found.value)),
        }
    }

    fn steps(&self, page: &mut Page) {
        let row = |step: &crate::experiment::plan::Step| {
            let kind = serde_json::to_value(&step.work).expect("plain data")["kind"].as_str().map(String::from);
            let (hash, seconds, program) = match self.results.get(&step.name) {
                Some(found) => (
                    if found.repeatable { found.hash.clone() } else { "not repeatable".into() },
                    format!("{:.0}", found.seconds),
                    found.program.clone(),
                ),
                None => (UNKNOWN.into(), UNKNOWN.into(), UNKNOWN.into()),
            };
            vec![step.name.clone(), kind.unwrap_or_default(), hash, seconds, program]
        };
        let rows: Vec<Vec<String>> = self.plan.steps.iter().map(row).collect();
        page.table("The steps.", &["Step", "Work", "Hash of what it made", "Seconds", "By"], &rows);
    }
}

/// Compares a score with the paper's.
fn verdict(found: Estimate, paper: f64) -> &'static str {
    let (above, below) = (found.low > 50.0, found.high < 50.0);
    match paper > 50.0 {
        true if above => HOLDS,
        true if below => FAILS,
        false if below => HOLDS,
        false if above => FAILS,
        _ => OPEN,
    }
}

/// Centipawns per unit: a middlegame pawn is 100.
fn unit(weights: &Weights) -> Option<f64> {
    let pawn = f64::from(weights.ints()[MATERIAL.nth(0)][0]);
    (pawn > 0.0).then_some(100.0 / pawn)
}

/// A piece-square table.
fn squares(title: &str, weights: &Weights, piece: usize, stage: usize) -> Board {
    let piece = PIECES[piece % PIECES.len()];
    let unit = unit(weights).unwrap_or(1.0);
    let mut values = [None; 64];
    for row in 0..pairs::ROWS {
        let square = pairs::square_of_row(row).to_index();
        if piece == Piece::Pawn && !(8..56).contains(&square) {
            continue;
        }
        let value = f64::from(weights.ints()[PIECE_SQUARE.at(piece, HalfSquare(row))][stage]) * unit;
        // Both halves of the board share their weights.
        values[square] = Some(value);
        values[square ^ 7] = Some(value);
    }
    Board { title: title.to_string(), values, mark: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_holds_where_its_interval_does() {
        let of = |low: f64, high: f64| Estimate { value: (low + high) / 2.0, low, high };
        for (found, paper, expected) in [
            (of(51.0, 60.0), 65.0, HOLDS),
            (of(51.0, 60.0), 40.0, FAILS),
            (of(40.0, 49.0), 65.0, FAILS),
            (of(40.0, 49.0), 33.8, HOLDS),
            (of(49.0, 55.0), 65.0, OPEN),
        ] {
            assert_eq!(verdict(found, paper), expected, "{found:?} {paper}");
        }
    }
}
