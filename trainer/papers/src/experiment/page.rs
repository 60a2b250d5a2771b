//! The tables of an experiment, in Markdown: the results of the paper and Dyad's, side by side.

use std::fmt::Write as _;

use dyad_formats::error::Error;
use dyad_trainer::arena::matches::MatchRecord;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::arena::statistics::Estimate;

use crate::experiment::run::Run;

pub(super) const SCALE_COLUMN: &str = "Scale, 1/1024";

/// A match to play and to show.
pub(super) struct Pairing {
    pub label: String,
    pub step: String,
    pub players: [String; 2],
    /// The first player's score in the paper, in percent.
    pub paper: Option<f64>,
}

impl Pairing {
    pub fn new(a: &str, b: &str, paper: Option<f64>) -> Pairing {
        Pairing { label: format!("{a} vs. {b}"), step: format!("{a}_{b}"), players: [a, b].map(String::from), paper }
    }
}

impl Run<'_, '_> {
    pub fn begin_page(&mut self, title: &str, paper: &str) {
        let (size, seed) = (self.settings.size, self.settings.seed);
        self.page = format!("# {title}\n\n{paper}. Size {size:?}, seed {seed}.\n");
        self.text(
            "Intervals are those of 95 %. In matches they come from pairs of games, each from one opening with both colors; \
             one that contains 50 % proves nothing, and one in twenty misses what it estimates. A claim of the paper holds \
             if Dyad's interval lies on its side of 50 %, fails if the interval lies on the other side, and is open \
             otherwise. Where the paper found no difference, at most three points, the claim holds if the interval lies \
             within 45 to 55 %, and fails if it lies outside. Rate and iteration of a training are chosen by validation \
             games, and accuracies are those of other, test games; the mean weight, in units, is that of the features that \
             learned and are not zero, without the values of the pieces.",
        );
    }

    pub fn heading(&mut self, text: &str) {
        let _ = write!(self.page, "\n## {text}\n");
    }

    pub fn text(&mut self, text: &str) {
        let _ = write!(self.page, "\n{text}\n");
    }

    pub fn table<S: AsRef<str>>(&mut self, caption: &str, head: &[S], rows: &[Vec<String>]) {
        self.text(caption);
        let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
        let _ = write!(self.page, "\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
        for row in rows {
            let _ = writeln!(self.page, "| {} |", row.join(" | "));
        }
    }

    /// Plays matches and adds their table.
    pub fn matches(
        &mut self,
        caption: &str,
        limits: SearchLimits,
        pairs: u64,
        pairings: &[Pairing],
    ) -> Result<(), Error> {
        let mut rows = Vec::new();
        for Pairing { label, step, players, paper } in pairings {
            let played = self.play(step, players, limits, pairs)?;
            let verdict = paper.map_or("-", |paper| verdict(played.score, paper)).to_string();
            let paper = paper.map_or_else(|| "-".to_string(), |paper| format!("{paper:.2}"));
            rows.push(vec![label.clone(), paper, score(&played), played.tally.games().to_string(), verdict]);
        }
        self.table(caption, &["Match", "Paper, %", "Dyad, % (95 % interval)", "Games", "The paper's claim"], &rows);
        Ok(())
    }

    pub fn scale(&self, name: &str) -> Result<String, Error> {
        Ok(self.weights(name)?.units.scale.to_string())
    }

    /// Adds the table of the steps.
    pub fn end_page(&mut self) {
        let steps = self.steps();
        self.heading("How it was made");
        self.table("The steps.", &["Step", "Hash", "Seconds", "By"], &steps);
    }
}

pub(super) fn interval(found: Estimate, decimals: usize) -> String {
    format!("{:.decimals$} ({:.decimals$} to {:.decimals$})", found.value, found.low, found.high)
}

pub(super) fn score(played: &MatchRecord) -> String {
    interval(in_percent(played.score), 1)
}

pub(super) fn in_percent(found: Estimate) -> Estimate {
    found.map(|share| 100.0 * share)
}

/// Compares a score with the paper's, which is in percent.
pub(super) fn verdict(found: Estimate, paper: f64) -> &'static str {
    let (holds, fails) = match paper {
        47.0..=53.0 => (found.low > 0.45 && found.high < 0.55, found.low > 0.55 || found.high < 0.45),
        _ if paper > 50.0 => (found.low > 0.5, found.high < 0.5),
        _ => (found.high < 0.5, found.low > 0.5),
    };
    match (holds, fails) {
        (true, _) => "holds",
        (_, true) => "fails",
        _ => "open",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_holds_where_its_interval_does() {
        let of = |low: f64, high: f64| Estimate { value: (low + high) / 2.0, low, high };
        for (found, paper, expected) in [
            (of(0.51, 0.60), 65.0, "holds"),
            (of(0.51, 0.60), 40.0, "fails"),
            (of(0.40, 0.49), 65.0, "fails"),
            (of(0.40, 0.49), 33.8, "holds"),
            (of(0.49, 0.55), 65.0, "open"),
            (of(0.46, 0.54), 50.9, "holds"),
            (of(0.46, 0.56), 50.9, "open"),
            (of(0.56, 0.60), 50.9, "fails"),
        ] {
            assert_eq!(verdict(found, paper), expected, "{found:?} {paper}");
        }
    }
}
