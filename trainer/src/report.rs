//! A training on one page.
//!
//! What a training did can be seen from its log, the weights before and after, and matches; put side by side
//! with the figures of the paper it follows, they make the page one would print in a paper. The page is
//! one file of HTML without scripts, fonts or pictures from elsewhere, so that it can be kept and sent. A
//! run that has only begun, or an older log that lacks some figures, gives a page with fewer sections.

mod figures;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use dyad_engine::board::{ALL_SQUARES, COLORS, Color, PIECES, Piece, PieceSquare, Square};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{GROUPS, Group, LOCATION, MATERIAL};
use dyad_engine::eval::pairs::{self, pair};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::arena::matches::MatchRecord;
use crate::arena::statistics::Estimate;
use crate::base::error::Error;
use crate::learn::log::{LineKind, LogLine};
use figures::{Axes, Board, Series};

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

/// One generation of a self-training.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Its number.
    pub number: u64,
    /// Hours since the training began.
    pub hours: f64,
    /// Its match against the best before it.
    pub record: MatchRecord,
    /// Whether it became the best.
    pub adopted: bool,
}

/// Everything the page shows.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// What the page is called.
    pub title: String,
    /// Settings and identity of the data, by file name.
    pub settings: Vec<(String, Json)>,
    /// The log.
    pub lines: Vec<LogLine>,
    /// Weights at the start.
    pub before: Option<Weights>,
    /// Weights at the end.
    pub after: Option<Weights>,
    /// Matches, of generations and others.
    pub matches: Vec<MatchRecord>,
    /// Generations of a self-training.
    pub generations: Vec<Generation>,
    /// Its matches of the best weights against those at the start.
    pub anchors: Vec<Generation>,
}

impl Material {
    /// Collects what the folder of a run or of a self-training holds: `settings.json`, `data.json`, `log.jsonl`,
    /// `matches.jsonl`, the weights of `iteration-00.json` or `start.json`, and of `best.json`. What is not there is
    /// left out; a folder with none of it is an error.
    pub fn load(folder: &Path) -> Result<Material, Error> {
        let mut material = Material { title: name_of(folder), ..Material::default() };
        for name in ["settings.json", "data.json"] {
            if let Some(text) = read_if_there(&folder.join(name))?
                && let Ok(value) = serde_json::from_str(&text)
            {
                material.settings.push((name.trim_end_matches(".json").to_string(), value));
            }
        }
        for name in ["log.jsonl", "matches.jsonl"] {
            for line in read_if_there(&folder.join(name))?.unwrap_or_default().lines() {
                material.take_line(line);
            }
        }
        material.before = match weights_if_there(&folder.join("iteration-00.json"))? {
            None => weights_if_there(&folder.join("start.json"))?,
            some => some,
        };
        material.after = weights_if_there(&folder.join("best.json"))?;
        if material.lines.is_empty() && material.matches.is_empty() && material.after.is_none() {
            let problem = "there is no log, match or weights file in it".to_string();
            return Err(Error::content(folder, "the folder", problem));
        }
        Ok(material)
    }

    /// A line of a log is about a match, a generation with its match, or a training. Lines that are cut, or
    /// of a kind this program does not know, say nothing.
    fn take_line(&mut self, line: &str) {
        let Ok(value) = serde_json::from_str::<Json>(line) else { return };
        let Ok(record) = MatchRecord::deserialize(value.get("match").unwrap_or(&value)) else {
            self.lines.extend(log_line(&value));
            return;
        };
        for (name, list) in [("generation", &mut self.generations), ("anchor", &mut self.anchors)] {
            if let Some(number) = value.get(name).and_then(Json::as_u64) {
                let hours = value.get("seconds").and_then(Json::as_f64).unwrap_or(f64::NAN) / 3600.0;
                let adopted = value.get("adopted").and_then(Json::as_bool).unwrap_or(false);
                list.push(Generation { number, hours, record: record.clone(), adopted });
            }
        }
        self.matches.push(record);
    }
}

/// A line of a training; what an older or newer program did not write is as in an empty line.
fn log_line(value: &Json) -> Option<LogLine> {
    value.get("iteration")?;
    let mut whole = serde_json::to_value(LogLine::default()).ok()?;
    for (name, value) in value.as_object()? {
        whole[name] = value.clone();
    }
    serde_json::from_value(whole).ok()
}

fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    whole.file_name().map_or_else(|| "training".into(), |name| name.to_string_lossy().into_owned())
}

fn read_if_there(path: &Path) -> Result<Option<String>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
    }
}

fn weights_if_there(path: &Path) -> Result<Option<Weights>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    Weights::load(path).map(Some).map_err(|error| Error::content(path, "weights", error.to_string()))
}

/// Writes the page. `focus` is the piece whose pairs are shown.
#[must_use]
pub fn page(material: &Material, focus: PieceSquare) -> String {
    let mut page = Page::default();
    page.summary(material);
    page.learning(material);
    page.iterations(material);
    page.generations(material);
    page.material(material);
    page.norms(material);
    if let Some(weights) = &material.after {
        page.locations(weights);
        page.pairs(weights, focus);
    }
    page.matches(material);
    page.settings(material);
    let title = escape(&material.title);
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

    fn summary(&mut self, material: &Material) {
        let iterations = iterations(&material.lines);
        if let (Some(first), Some(last)) = (iterations.first(), iterations.last()) {
            let mut text = format!(
                "Comparison training from the leaves of principal variations: {} iterations, {} positions and {} \
                 updates in {}.",
                last.iteration,
                last.positions,
                last.updates,
                duration(last.seconds),
            );
            if first.agreement_positions > 0 {
                let best = iterations.iter().map(|line| agreement(line)).fold(f64::NAN, f64::max);
                text += &format!(
                    " Agreement with the desired moves of {} test positions: {} at the start, at best {}.",
                    first.agreement_positions,
                    percent(agreement(first)),
                    percent(best),
                );
            }
            self.paragraph(&text);
        }
        if let (Some(last), Some(elo)) = (material.generations.last(), climb(&material.generations).last()) {
            let adopted = material.generations.iter().filter(|generation| generation.adopted).count();
            self.paragraph(&format!(
                "Self-training: {} generations in {}, {adopted} of them adopted, {:+.0} Elo by the sum of their matches.",
                material.generations.len(),
                duration(3600.0 * last.hours),
                elo.value,
            ));
        }
        for (name, weights) in [("Start", &material.before), ("Result", &material.after)] {
            if let Some(weights) = weights {
                self.paragraph(&format!("{name}: weights \"{}\", identity {}.", weights.name, weights.id()));
            }
        }
    }

    fn learning(&mut self, material: &Material) {
        let lines: Vec<&LogLine> = material.lines.iter().filter(|line| line.positions > 0).collect();
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
                draw("agreement, %", false, &|line| 100.0 * agreement(line)),
                draw("siblings above the desired move", true, &|line| line.mean_s),
            ],
            "Agreement of the averaged weights with the desired moves of test positions, and mean size of S, the set of \
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

    fn iterations(&mut self, material: &Material) {
        let lines = iterations(&material.lines);
        if lines.is_empty() {
            return;
        }
        self.heading("Agreement by iteration");
        let points = lines.iter().map(|line| (f64::from(line.iteration), 100.0 * agreement(line))).collect();
        let axes = Axes { x: "iteration", y: "agreement, %", from_zero: false, whole: true };
        self.figure(
            &[figures::chart(&axes, &[Series::marked("", points)], CHART)],
            "Agreement on all test positions; iteration 0 is the start. A desired move that ties with others at the top \
             counts as one part of so many.",
        );
        let rows: Vec<Vec<String>> = lines
            .iter()
            .map(|line| {
                vec![
                    line.iteration.to_string(),
                    line.positions.to_string(),
                    percent(agreement(line)),
                    format!("{:.3}", line.mean_s),
                    format!("{:.4}", line.loss),
                    format!("{:.0}", line.positions_per_second),
                    duration(line.seconds),
                    if line.best { "best so far".into() } else { String::new() },
                ]
            })
            .collect();
        let head = ["Iteration", "Positions", "Agreement", "Mean |S|", "Loss", "Positions/s", "Time", ""];
        self.table("The iterations.", &head, &rows);
    }

    fn generations(&mut self, material: &Material) {
        if material.generations.is_empty() {
            return;
        }
        self.heading("Self-training");
        let climb = climb(&material.generations);
        let draw = |x: &str, whole: bool, at: &dyn Fn(&Generation) -> f64| {
            let xs: Vec<f64> = [0.0].into_iter().chain(material.generations.iter().map(at)).collect();
            let axes = Axes { x, y: "Elo above the start", from_zero: true, whole };
            let points = xs.iter().zip(&climb).map(|(&x, elo)| (x, elo.value)).collect();
            let intervals = xs.iter().zip(&climb).filter(|(x, _)| x.is_finite());
            let intervals = intervals.map(|(&x, elo)| (x, elo.low, elo.high)).collect();
            let sum = Series { intervals, ..Series::marked("sum of matches", points) };
            let anchors = material.anchors.iter().filter(|anchor| at(anchor).is_finite());
            let elo = anchors.clone().map(|anchor| (at(anchor), anchor.record.elo.value)).collect();
            let bars = anchors.map(|anchor| (at(anchor), anchor.record.elo.low, anchor.record.elo.high)).collect();
            let direct = Series { intervals: bars, ..Series::marked("against the start", elo) };
            let both = if material.anchors.is_empty() { vec![sum] } else { vec![sum, direct] };
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
        let rows: Vec<Vec<String>> = material.generations.iter().zip(&climb[1..]).map(row).collect();
        let head = ["Generation", "Hours", "Games", "Score", "Elo", "LLR", "", "Best, sum of Elo"];
        self.table("The generations, each against the best before it.", &head, &rows);
    }

    fn material(&mut self, material: &Material) {
        let Some(after) = &material.after else { return };
        self.heading("Material weights");
        let value = |weights: Option<&Weights>, piece: Piece, stage: usize| {
            weights
                .map_or_else(|| "-".into(), |weights| weights.ints()[MATERIAL.at(piece.to_index())][stage].to_string())
        };
        let rows: Vec<Vec<String>> = BY_VALUE
            .into_iter()
            .zip(TABLE_X)
            .map(|(piece, paper)| {
                let ours = [material.before.as_ref(), Some(after)]
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

    fn norms(&mut self, material: &Material) {
        let lines: Vec<&LogLine> = material.lines.iter().filter(|line| !line.norms.is_empty()).collect();
        if let (None, None) = (lines.last(), &material.after) {
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
        let sets = [material.before.as_ref(), material.after.as_ref()];
        let used = |weights: &Weights, group: &Group| {
            weights.ints()[group.range()].iter().filter(|weight| **weight != [0; 2]).count()
        };
        let norm = |weights: &Weights, group: &Group, stage: usize| {
            let squares = weights.ints()[group.range()].iter().map(|weight| f64::from(weight[stage]).powi(2));
            format!("{:.0}", squares.sum::<f64>().sqrt())
        };
        let row = |group: &Group| {
            let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
            let used = or_dash(material.after.as_ref().map(|weights| used(weights, group).to_string()));
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
                f64::from(weights.ints()[LOCATION.at(piece.to_index() * pairs::ROWS + row)][stage])
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
        if !weights.has_pairs() {
            return;
        }
        self.heading("Pair weights");
        let board = |color: Color, piece: Piece, stage: usize| {
            let value = |square: Square| {
                let other = PieceSquare::new(color, piece, square);
                let views = [pair(focus, other), pair(other, focus)];
                views.iter().map(|view| f64::from(view.sign * weights.ints()[view.feature()][stage])).sum::<f64>()
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

    fn matches(&mut self, material: &Material) {
        if material.matches.is_empty() {
            return;
        }
        self.heading("Matches");
        let rows: Vec<Vec<String>> = material.matches.iter().map(match_row).collect();
        let head = ["Match", "Budget", "Games", "+", "=", "-", "Score", "Elo", "nElo", "Pairs", "LLR"];
        self.table(
            "Matches over paired openings, with 95 % intervals from the pentanomial variance; pairs by points made: 0, \
             1/2, 1, 3/2, 2.",
            &head,
            &rows,
        );
    }

    fn settings(&mut self, material: &Material) {
        if material.settings.is_empty() {
            return;
        }
        self.heading("How it was made");
        for (name, value) in &material.settings {
            let text = serde_json::to_string_pretty(value).unwrap_or_default();
            self.put(format_args!("<p>{}</p>\n<pre>{}</pre>\n", escape(name), escape(&text)));
        }
    }
}

fn iterations(lines: &[LogLine]) -> Vec<&LogLine> {
    lines.iter().filter(|line| line.kind == LineKind::Iteration).collect()
}

/// Agreement of a line, where it was measured.
fn agreement(line: &LogLine) -> f64 {
    line.agreement.unwrap_or(f64::NAN)
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
mod tests {
    use super::*;
    use crate::arena::matches::MatchEnd;
    use crate::arena::statistics::{Decision, EloModel, Sprt, Tally};
    use dyad_engine::eval::FloatWeights;
    use dyad_engine::eval::layout::PAIRS;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn record(wins: u64) -> MatchRecord {
        let tally = Tally { wins, draws: 10, losses: 190 - wins, pentanomial: [5, 20, 40, 25, 10] };
        MatchRecord {
            names: ["new <1>".into(), "old".into()],
            ids: ["00000001".into(), "00000002".into()],
            budgets: ["5000 nodes a move".into(), "5000 nodes a move".into()],
            score: tally.score(),
            elo: tally.elo(),
            normalized_elo: tally.normalized_elo(),
            superiority: tally.superiority(),
            tally,
            sprt: Sprt::new(0.0, 10.0, 0.05, 0.05, EloModel::Logistic).ok(),
            llr: Some(1.5),
            decision: Some(Decision::Continue),
            end: MatchEnd::Complete,
            seconds: 12.0,
        }
    }

    fn line(kind: LineKind, iteration: u32, positions: u64) -> LogLine {
        LogLine {
            kind,
            iteration,
            positions,
            agreement: Some(0.25 + 0.01 * f64::from(iteration)),
            agreement_positions: 2000,
            mean_s: 3.5,
            loss: 0.7,
            material: vec![[100 + 20 * iteration as i32, 200]; 6],
            norms: GROUPS.iter().map(|group| (group.name.to_string(), [positions as f64, 2.0])).collect(),
            positions_per_second: 1500.0,
            seconds: positions as f64 / 1500.0,
            best: true,
            ..LogLine::default()
        }
    }

    fn weights() -> Weights {
        let mut floats = FloatWeights::material();
        for (index, feature) in LOCATION.range().chain(PAIRS.range()).enumerate() {
            floats.mg[feature] = (index % 37) as f64 - 18.0;
            floats.eg[feature] = (index % 23) as f64 - 11.0;
        }
        Weights::from_floats(&floats, Json::Null).unwrap()
    }

    fn folder(name: &str) -> std::path::PathBuf {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("dyad-report-{}-{count}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn whole_run() -> Material {
        let folder = folder("whole & <run>");
        let json = |value: &dyn Fn() -> Json| value().to_string();
        let mut log = String::new();
        for iteration in 0..3 {
            for part in [LineKind::Report, LineKind::Iteration] {
                let positions = u64::from(iteration) * 50_000 + u64::from(part == LineKind::Iteration) * 20_000;
                log.push_str(&json(&|| serde_json::to_value(line(part, iteration, positions)).unwrap()));
                log.push('\n');
            }
        }
        log.push_str(
            "{\"kind\":\"iteration\",\"iteration\":3,\"positions\":200000}\n{\"something\":1}\n{\"kind\":\"it",
        );
        fs::write(folder.join("log.jsonl"), log).unwrap();
        let mut matches = serde_json::to_string(&record(100)).unwrap() + "\n";
        for generation in 1..4 {
            let line = serde_json::json!({
                "generation": generation, "seconds": 900 * generation, "adopted": generation != 2, "match": record(110),
            });
            matches.push_str(&format!("{line}\n"));
        }
        fs::write(folder.join("matches.jsonl"), matches).unwrap();
        fs::write(folder.join("settings.json"), "{\"depth\": 2, \"note\": \"<&>\"}").unwrap();
        Weights::material().save(&folder.join("iteration-00.json")).unwrap();
        weights().save(&folder.join("best.json")).unwrap();
        let material = Material::load(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        material
    }

    /// Elements open and close in order, attributes are quoted, and nothing is left unescaped.
    fn check_markup(text: &str) {
        let mut open: Vec<&str> = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find('<') {
            assert!(!rest[..start].contains('>'), "stray > before {}", &rest[start..rest.len().min(start + 60)]);
            rest = &rest[start + 1..];
            let end = rest.find('>').expect("every tag ends");
            let tag = &rest[..end];
            rest = &rest[end + 1..];
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "{name} closes");
            } else if !tag.starts_with(['!', '?']) {
                assert_eq!(tag.matches('"').count() % 2, 0, "quotes in <{tag}>");
                assert!(!tag.contains('<'), "<{tag}>");
                if !tag.ends_with('/') {
                    open.push(tag.split_ascii_whitespace().next().expect("a tag has a name"));
                }
            }
        }
        assert!(open.is_empty(), "left open: {open:?}");
        for entity in text.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "apos;", "#"];
            assert!(known.iter().any(|name| entity.starts_with(name)), "&{}", &entity[..entity.len().min(9)]);
        }
    }

    #[test]
    fn a_whole_run_has_all_sections() {
        let material = whole_run();
        assert_eq!((material.lines.len(), material.matches.len(), material.generations.len()), (7, 4, 3));
        assert_eq!(
            material.lines[6],
            LogLine { kind: LineKind::Iteration, iteration: 3, positions: 200_000, ..LogLine::default() }
        );
        let html = page(&material, parse_focus("Nf5").unwrap());
        for section in [
            "Learning curves",
            "Agreement by iteration",
            "Self-training",
            "Material weights",
            "Groups of features",
            "Piece-square weights",
            "Pair weights",
            "Matches",
            "How it was made",
        ] {
            assert!(html.contains(&format!("<h2>{section}</h2>")), "{section}");
        }
        // Table X: the queen before and after training, and in the paper.
        assert!(html.contains("<td>2432</td><td>1671</td></tr>"));
        assert!(html.contains("new &lt;1&gt; - old"));
        check_markup(&html);
        for drawing in html.split("<svg").skip(1) {
            let drawing = drawing.split("</svg>").next().unwrap();
            assert!(drawing.contains("xmlns=\"http://www.w3.org/2000/svg\"") && drawing.len() > 500);
        }
        assert_eq!(html.matches("<svg").count(), 14);
        let outside = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http") && !outside.contains("<script") && !outside.contains("NaN"));
    }

    #[test]
    fn whatever_is_missing_is_left_out() {
        let whole = whole_run();
        let focus = parse_focus("Qd1").unwrap();
        for material in [
            Material { lines: Vec::new(), ..whole.clone() },
            Material { after: None, before: None, ..whole.clone() },
            Material { matches: Vec::new(), generations: Vec::new(), settings: Vec::new(), ..whole.clone() },
            Material { lines: whole.lines[6..].to_vec(), ..Material::default() },
            Material { after: Some(Weights::material()), ..Material::default() },
        ] {
            let html = page(&material, focus);
            check_markup(&html);
            assert!(!html.contains("of 0 test positions"));
        }
        assert!(page(&whole, focus).contains("of 2000 test positions: 25.00 % at the start, at best 27.00 %"));
        let empty = folder("empty");
        assert!(Material::load(&empty).is_err());
        fs::remove_dir(&empty).unwrap();
        assert!(Material::load(Path::new("/nowhere/at/all")).is_err());
    }

    #[test]
    fn adopted_generations_add_up() {
        let material = whole_run();
        let elo = record(110).elo;
        let climb = climb(&material.generations);
        let values: Vec<f64> = climb.iter().map(|estimate| estimate.value).collect();
        assert_eq!(values, [0.0, elo.value, elo.value, 2.0 * elo.value]);
        assert!((climb[3].error() - 2f64.sqrt() * elo.error()).abs() < 1e-9);
    }

    #[test]
    fn pieces_on_squares() {
        let knight = PieceSquare::new(Color::White, Piece::Knight, Square::F5);
        assert_eq!(parse_focus("Nf5"), Ok(knight));
        assert_eq!(parse_focus("nF5"), Ok(knight));
        assert_eq!(parse_focus("e4").unwrap().piece, Piece::Pawn);
        for text in ["", "x", "Nf9", "Pe1", "Xe4", "Nf55", "\u{e9}4", "e4\u{e9}"] {
            assert!(parse_focus(text).is_err(), "{text}");
        }
    }
}
