//! The page: a section for each thing that a training shows.

use std::fmt::Write as _;

use dyad_engine::board::{ALL_SQUARES, COLORS, Color, PIECES, Piece, PieceSquare, Square};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{GROUPS, Group, HalfSquare, LOCATION, MATERIAL, PAIRS};
use dyad_engine::eval::pairs::{self, pair};

use super::figures::{self, Axes, Board, Series};
use super::run_data::{Generation, RunData};
use crate::arena::matches::MatchRecord;
use crate::arena::statistics::Estimate;
use crate::learn::log::{LineKind, LogLine};

/// Both stages, as the figures call them.
const STAGES: [&str; 2] = ["opening", "endgame"];

/// From the most to the least valuable, as in the paper's tables.
const BY_VALUE: [Piece; 5] = [Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight, Piece::Pawn];

/// Opening and endgame weights of [`BY_VALUE`] in the original program and in the trained version CT4
/// (Tseng, Chen and Wu, "Comparison Training of N-Tuple Networks for Chess", Table X).
const TABLE_X: [[i32; 4]; 5] = [
    [2500, 2670, 2432, 1671],
    [1282, 1373, 1189, 812],
    [826, 891, 898, 499],
    [764, 848, 819, 452],
    [171, 240, 107, 202],
];

/// Groups that a chart can show without becoming a tangle.
const SHOWN_GROUPS: usize = 12;

/// Size of a chart.
const CHART: (u32, u32) = (520, 300);

/// Writes the page. `focus` is the piece whose pairs are shown.
#[must_use]
pub fn page(run: &RunData, focus: PieceSquare) -> String {
    let mut page = Page::default();
    page.summary(run);
    page.learning(run);
    page.iterations(run);
    page.generations(run);
    page.material(run);
    page.norms(run);
    if let Some(weights) = &run.after {
        page.locations(weights);
        page.pairs(weights, focus);
    }
    page.matches(run);
    page.settings(run);
    let title = escape(&run.title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{}</body>\n</html>\n",
        page.body
    )
}

const STYLE: &str = "\
body{max-width:1120px;margin:2em auto;padding:0 1em;font:16px/1.45 Georgia,'Times New Roman',serif;color:#111}\
h1{font-size:1.7em;margin-bottom:.2em}h2{font-size:1.2em;margin-top:2em}\
figure{margin:1em 0;text-align:center}figure svg{max-width:100%;height:auto}\
figcaption,caption{font-size:.9em;color:#333;text-align:left;margin:.4em 0;caption-side:top}\
table{border-collapse:collapse;border-top:2px solid #111;border-bottom:2px solid #111;margin:1em auto;font-size:.92em}\
th{border-bottom:1px solid #111;font-weight:normal;font-style:italic}th,td{padding:.2em .8em;text-align:right}\
th:first-child,td:first-child{text-align:left}pre{font-size:.8em;background:#f6f6f6;padding:.8em;overflow:auto}";

/// The page as it grows.
#[derive(Default)]
struct Page {
    body: String,
    figures: u32,
    tables: u32,
}

impl Page {
    fn heading(&mut self, text: &str) {
        self.put(format_args!("<h2>{}</h2>\n", escape(text)));
    }

    fn paragraph(&mut self, text: &str) {
        self.put(format_args!("<p>{}</p>\n", escape(text)));
    }

    /// Drawings side by side under one caption; nothing if all are empty.
    fn figure(&mut self, drawings: &[String], caption: &str) {
        if drawings.iter().all(String::is_empty) {
            return;
        }
        self.figures += 1;
        let (number, drawings) = (self.figures, drawings.concat());
        let caption = escape(caption);
        self.put(format_args!("<figure>\n{drawings}<figcaption>Figure {number}. {caption}</figcaption>\n</figure>\n"));
    }

    fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        self.tables += 1;
        let (number, caption) = (self.tables, escape(caption));
        self.put(format_args!("<table>\n<caption>Table {number}. {caption}</caption>\n<thead><tr>"));
        head.iter().for_each(|cell| self.put(format_args!("<th>{}</th>", escape(cell))));
        self.put(format_args!("</tr></thead>\n<tbody>\n"));
        for row in rows {
            self.put(format_args!("<tr>"));
            row.iter().for_each(|cell| self.put(format_args!("<td>{}</td>", escape(cell))));
            self.put(format_args!("</tr>\n"));
        }
        self.put(format_args!("</tbody>\n</table>\n"));
    }

    fn put(&mut self, text: std::fmt::Arguments) {
        self.body.write_fmt(text).expect("writing to a string does not fail");
    }

    fn summary(&mut self, run: &RunData) {
        let iterations = iterations(&run.lines);
        if let (Some(first), Some(last)) = (iterations.first(), iterations.last()) {
            let mut text = format!(
                "Comparison training from the leaves of principal variations: {} iterations, {} positions and {} \
                 updates in {}.",
                last.iteration,
                last.positions,
                last.updates,
                duration(last.seconds),
            );
            if first.accuracy_positions > 0 {
                let best = iterations.iter().map(|line| accuracy(line)).fold(f64::NAN, f64::max);
                text += &format!(
                    " Move-match accuracy on {} test positions: {} at the start, at best {}.",
                    first.accuracy_positions,
                    percent(accuracy(first)),
                    percent(best),
                );
            }
            self.paragraph(&text);
        }
        if let (Some(last), Some(elo)) = (run.generations.last(), climb(&run.generations).last()) {
            let adopted = run.generations.iter().filter(|generation| generation.adopted).count();
            self.paragraph(&format!(
                "Self-training: {} generations in {}, {adopted} of them adopted, {:+.0} Elo by the sum of their matches.",
                run.generations.len(),
                duration(3600.0 * last.hours),
                elo.value,
            ));
        }
        for (name, weights) in [("Start", &run.before), ("Result", &run.after)] {
            if let Some(weights) = weights {
                self.paragraph(&format!("{name}: weights \"{}\", identity {}.", weights.meta.name, weights.id()));
            }
        }
    }

    fn learning(&mut self, run: &RunData) {
        let lines: Vec<&LogLine> = run.lines.iter().filter(|line| line.positions > 0).collect();
        if lines.is_empty() {
            return;
        }
        self.heading("Learning curves");
        let curve = |what: &dyn Fn(&LogLine) -> f64| -> Vec<(f64, f64)> {
            lines.iter().map(|line| (line.positions as f64, what(line))).collect()
        };
        let draw = |y: &str, from_zero: bool, what: &dyn Fn(&LogLine) -> f64| {
            let axes = Axes { x: "training positions", y, from_zero, whole: false };
            figures::chart(&axes, &[Series::line("", curve(what))], CHART)
        };
        self.figure(
            &[
                draw("move-match accuracy, %", false, &|line| 100.0 * accuracy(line)),
                draw("siblings above the desired move", true, &|line| line.mean_s),
            ],
            "Move-match accuracy of the averaged weights on test positions, and mean size of S, the set of \
             siblings valued above the desired move, on training positions.",
        );
        self.figure(
            &[
                draw("loss", true, &|line| line.loss),
                draw("positions with empty S, %", false, &|line| 100.0 * line.empty_s),
            ],
            "Mean loss, and share of the training positions that changed nothing because no sibling was valued above \
             the desired move.",
        );
        self.figure(
            &[draw("positions per second", true, &|line| line.positions_per_second), material_curves(&lines)],
            "Speed of the training, and opening weights of the pieces in the scale of the search.",
        );
    }

    fn iterations(&mut self, run: &RunData) {
        let lines = iterations(&run.lines);
        if lines.is_empty() {
            return;
        }
        self.heading("Move-match accuracy by iteration");
        let points = lines.iter().map(|line| (f64::from(line.iteration), 100.0 * accuracy(line))).collect();
        let axes = Axes { x: "iteration", y: "move-match accuracy, %", from_zero: false, whole: true };
        self.figure(
            &[figures::chart(&axes, &[Series::marked("", points)], CHART)],
            "Move-match accuracy on all test positions; iteration 0 is the start. A desired move that ties with others at the top \
             counts as one part of so many.",
        );
        let rows: Vec<Vec<String>> = lines
            .iter()
            .map(|line| {
                vec![
                    line.iteration.to_string(),
                    line.positions.to_string(),
                    percent(accuracy(line)),
                    format!("{:.3}", line.mean_s),
                    format!("{:.4}", line.loss),
                    format!("{:.0}", line.positions_per_second),
                    duration(line.seconds),
                    if line.best { "best so far".into() } else { String::new() },
                ]
            })
            .collect();
        let head = ["Iteration", "Positions", "Accuracy", "Mean |S|", "Loss", "Positions/s", "Time", ""];
        self.table("The iterations.", &head, &rows);
    }

    fn generations(&mut self, run: &RunData) {
        if run.generations.is_empty() {
            return;
        }
        self.heading("Self-training");
        let climb = climb(&run.generations);
        let draw = |x: &str, whole: bool, at: &dyn Fn(&Generation) -> f64| {
            let xs: Vec<f64> = [0.0].into_iter().chain(run.generations.iter().map(at)).collect();
            let axes = Axes { x, y: "Elo above the start", from_zero: true, whole };
            let points = xs.iter().zip(&climb).map(|(&x, elo)| (x, elo.value)).collect();
            let intervals = xs.iter().zip(&climb).filter(|(x, _)| x.is_finite());
            let intervals = intervals.map(|(&x, elo)| (x, elo.low, elo.high)).collect();
            let sum = Series { intervals, ..Series::marked("sum of matches", points) };
            let anchors = run.anchors.iter().filter(|anchor| at(anchor).is_finite());
            let elo = anchors.clone().map(|anchor| (at(anchor), anchor.record.elo.value)).collect();
            let bars = anchors.map(|anchor| (at(anchor), anchor.record.elo.low, anchor.record.elo.high)).collect();
            let direct = Series { intervals: bars, ..Series::marked("against the start", elo) };
            let both = if run.anchors.is_empty() { vec![sum] } else { vec![sum, direct] };
            figures::chart(&axes, &both, CHART)
        };
        self.figure(
            &[
                draw("generation", true, &|generation| generation.number as f64),
                draw("hours", false, &|generation| generation.hours),
            ],
            "Strength of the best weights: the sum of what each adopted generation won against the one before it, and \
             what they won against the start where they played it, with 95 % intervals.",
        );
        let row = |(generation, elo): (&Generation, &Estimate)| {
            let record = &generation.record;
            vec![
                generation.number.to_string(),
                format!("{:.2}", generation.hours),
                record.tally.games().to_string(),
                percent(record.score.value),
                format!("{:+.0} \u{b1} {:.0}", record.elo.value, record.elo.error()),
                record.llr.map_or_else(String::new, |llr| format!("{llr:+.2}")),
                if generation.adopted { "adopted".into() } else { "rejected".to_string() },
                format!("{:+.0} \u{b1} {:.0}", elo.value, elo.error()),
            ]
        };
        let rows: Vec<Vec<String>> = run.generations.iter().zip(&climb[1..]).map(row).collect();
        let head = ["Generation", "Hours", "Games", "Score", "Elo", "LLR", "", "Best, sum of Elo"];
        self.table("The generations, each against the best before it.", &head, &rows);
    }

    fn material(&mut self, run: &RunData) {
        let Some(after) = &run.after else { return };
        self.heading("RunData weights");
        let value = |weights: Option<&Weights>, piece: Piece, stage: usize| {
            weights.map_or_else(|| "-".into(), |weights| weights.ints()[MATERIAL.at(piece)][stage].to_string())
        };
        let rows: Vec<Vec<String>> = BY_VALUE
            .into_iter()
            .zip(TABLE_X)
            .map(|(piece, paper)| {
                let ours = [run.before.as_ref(), Some(after)]
                    .into_iter()
                    .flat_map(|weights| [0, 1].map(|stage| value(weights, piece, stage)));
                [piece_name(piece).to_string()]
                    .into_iter()
                    .chain(ours)
                    .chain(paper.map(|weight| weight.to_string()))
                    .collect()
            })
            .collect();
        self.table(
            "Opening and endgame weights of material before and after training, beside those of the paper's Table X: \
             ORI1, hand-tuned, and CT4, trained.",
            &["Piece", "before, w_o", "w_e", "after, w_o", "w_e", "ORI1, w_o", "w_e", "CT4, w_o", "w_e"],
            &rows,
        );
    }

    fn norms(&mut self, run: &RunData) {
        let lines: Vec<&LogLine> = run.lines.iter().filter(|line| !line.norms.is_empty()).collect();
        if let (None, None) = (lines.last(), &run.after) {
            return;
        }
        self.heading("Groups of features");
        let curve = |group: &str, stage: usize| {
            let point = |line: &&LogLine| Some((line.positions as f64, line.norms.get(group)?[stage]));
            lines.iter().filter_map(point).collect::<Vec<_>>()
        };
        let draw = |stage: usize| {
            let mut all: Vec<Series> =
                GROUPS.iter().map(|group| Series::line(group.name, curve(group.name, stage))).collect();
            let last = |series: &Series| series.points.last().map_or(0.0, |point| point.1);
            all.sort_by(|one, other| last(other).total_cmp(&last(one)));
            all.truncate(SHOWN_GROUPS);
            let y = format!("norm, {}", STAGES[stage]);
            figures::chart(&Axes { x: "training positions", y: &y, from_zero: true, whole: false }, &all, CHART)
        };
        let caption = format!("Euclidean norms of the weights, of the {SHOWN_GROUPS} groups where they are largest.");
        self.figure(&[draw(0), draw(1)], &caption);
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
            self.table(
                "Groups that have a weight: their features, how many of these have one, and the norms of the integer \
                 weights.",
                &["Group", "Features", "with weight", "before, w_o", "w_e", "after, w_o", "w_e"],
                &rows,
            );
        }
    }

    fn locations(&mut self, weights: &Weights) {
        self.heading("Piece-square weights");
        let board = |piece: Piece, stage: usize| {
            let value = |square: Square| {
                let row = pairs::row(PieceSquare::new(Color::White, piece, square));
                f64::from(weights.ints()[LOCATION.at(piece, HalfSquare(row))][stage])
            };
            let values = ALL_SQUARES.map(|square| can_stand(piece, square).then(|| value(square)));
            Board { title: format!("{}, {}", piece_name(piece), STAGES[stage]), values, mark: None }
        };
        let all: Vec<Board> = [0, 1].into_iter().flat_map(|stage| PIECES.map(|piece| board(piece, stage))).collect();
        self.figure(
            &[figures::boards(&all, 6)],
            "What a White piece gains from its square, without its material, in the units of the material weights. Left \
             and right share their weights.",
        );
    }

    fn pairs(&mut self, weights: &Weights, focus: PieceSquare) {
        if weights.linear.compiled().rows().is_empty() {
            return;
        }
        self.heading("Pair weights");
        let board = |color: Color, piece: Piece, stage: usize| {
            let value = |square: Square| {
                let other = PieceSquare::new(color, piece, square);
                let views = [pair(focus, other), pair(other, focus)];
                views.iter().map(|view| f64::from(view.sign * weights.ints()[PAIRS.at(*view)][stage])).sum::<f64>()
            };
            let there = |square: Square| square != focus.square && can_stand(piece, square);
            let values = ALL_SQUARES.map(|square| there(square).then(|| value(square)));
            let owner = if color == focus.color { "own" } else { "enemy" };
            let title = format!("{owner} {}, {}", piece_name(piece).to_lowercase(), STAGES[stage]);
            Board { title, values, mark: Some((focus.square.to_index(), letter(focus.piece))) }
        };
        for stage in [0, 1] {
            let all: Vec<Board> =
                COLORS.iter().flat_map(|&color| PIECES.map(|piece| board(color, piece, stage))).collect();
            self.figure(
                &[figures::boards(&all, 6)],
                &format!(
                    "Pairs with a White {} on {}, {}: what the pair is worth to White when the other piece stands on the \
                     square, from both pieces' views together.",
                    piece_name(focus.piece).to_lowercase(),
                    focus.square,
                    STAGES[stage],
                ),
            );
        }
    }

    fn matches(&mut self, run: &RunData) {
        if run.matches.is_empty() {
            return;
        }
        self.heading("Matches");
        let rows: Vec<Vec<String>> = run.matches.iter().map(match_row).collect();
        let head = ["Match", "Budget", "Games", "+", "=", "-", "Score", "Elo", "nElo", "Pairs", "LLR"];
        self.table(
            "Matches over paired openings, with 95 % intervals from the pentanomial variance; pairs by points made: 0, \
             1/2, 1, 3/2, 2.",
            &head,
            &rows,
        );
    }

    fn settings(&mut self, run: &RunData) {
        if run.settings.is_empty() {
            return;
        }
        self.heading("How it was made");
        for (name, value) in &run.settings {
            let text = serde_json::to_string_pretty(value).unwrap_or_default();
            self.put(format_args!("<p>{}</p>\n<pre>{}</pre>\n", escape(name), escape(&text)));
        }
    }
}

fn iterations(lines: &[LogLine]) -> Vec<&LogLine> {
    lines.iter().filter(|line| line.kind == LineKind::Iteration).collect()
}

/// Move-match accuracy of a line, where it was measured.
fn accuracy(line: &LogLine) -> f64 {
    line.accuracy.unwrap_or(f64::NAN)
}

fn material_curves(lines: &[&LogLine]) -> String {
    let curve = |piece: Piece| {
        let weight =
            |line: &&LogLine| Some((line.positions as f64, f64::from(line.material.get(piece.to_index())?[0])));
        lines.iter().filter_map(weight).collect::<Vec<_>>()
    };
    let all: Vec<Series> = BY_VALUE.iter().map(|&piece| Series::line(piece_name(piece), curve(piece))).collect();
    figures::chart(&Axes { x: "training positions", y: "opening weight", from_zero: true, whole: false }, &all, CHART)
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
        if budget_a == budget_b { budget_a.clone() } else { format!("{budget_a} - {budget_b}") },
        tally.games().to_string(),
        tally.wins.to_string(),
        tally.draws.to_string(),
        tally.losses.to_string(),
        percent(record.score.value),
        format!("{:+.1} \u{b1} {:.1}", record.elo.value, record.elo.error()),
        format!("{:+.1} \u{b1} {:.1}", record.normalized_elo.value, record.normalized_elo.error()),
        tally.pentanomial.map(|count| count.to_string()).join(" "),
        llr,
    ]
}

fn can_stand(piece: Piece, square: Square) -> bool {
    piece != Piece::Pawn || (8..56).contains(&square.to_index())
}

fn piece_name(piece: Piece) -> &'static str {
    ["Pawn", "Knight", "Bishop", "Rook", "Queen", "King"][piece.to_index()]
}

fn letter(piece: Piece) -> char {
    ['P', 'N', 'B', 'R', 'Q', 'K'][piece.to_index()]
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.2} %", 100.0 * share) } else { "-".to_string() }
}

fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    format!("{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
