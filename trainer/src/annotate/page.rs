//! Annotated games as an interactive page.
//!
//! The page is self-contained: style, script and pieces are inline, and its content security policy forbids any
//! request. Without scripts, or printed, it shows the moves with evaluations, better lines and explanations as text; a
//! script adds the board. All text from games is escaped.

use std::fmt::Write as _;
use std::ops::Range;

use dyad_engine::board::{Board, Color, Move, color_name, sign};
use dyad_engine::search::Score;
use dyad_explain::sentence::Mark;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::analysis::{Annotated, Mistake, MoveAnalysis, Ply};
use super::judgement::{Judgement, chances};
use super::pgn::{evaluation, without_commands};
use crate::page::html::{Page, data};

const SCRIPT: &str = include_str!("assets/game.js");
const PIECES: &str = include_str!("assets/pieces.svg");
const LEGEND: &str = "Green arrow: the better move. Red arrow: the reply. Tinted squares: what the reason is about. \
    Scores as those of other engines, + for White: with 1.00 a player wins half of the games.";
/// Half-moves of a better line that are shown at once.
const SHOWN: usize = 5;
const KEYS: &str = "Keys: \u{2190} \u{2192} Home End; F turns the board.";

/// A position that the board can show: first those of the game, then those of the better lines.
#[derive(Serialize)]
struct Node {
    /// The piece placement field of the FEN.
    board: String,
    /// The squares of the move that led here.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#move: Option<[String; 2]>,
    /// The move with its number, sign and evaluation.
    label: String,
    /// The explanation of a mistake.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Whether the mark is good, its square, and the target of an arrow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<(bool, String, Option<String>)>,
    /// The position before.
    #[serde(skip_serializing_if = "Option::is_none")]
    prev: Option<usize>,
    /// The position after.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
}

/// The page of some games. The board is turned if `of` selects Black alone.
pub fn page(games: &[Annotated], of: impl Fn(&str) -> bool) -> String {
    let mut page = Page::default();
    for game in games {
        if games.len() != 1 {
            page.heading(&players(game));
        }
        let [white, black] = [Color::White, Color::Black].map(|color| of(game.player(color)));
        show(&mut page, game, black && !white);
    }
    page.put(html! { p.muted { "Annotated by Dyad." } });
    page.finish(&match games {
        [game] => players(game),
        games => format!("{} games", games.len()),
    })
}

/// Names and result.
fn players(game: &Annotated) -> String {
    let result = game.result.map(|result| format!(", {result}")).unwrap_or_default();
    let [white, black] = [Color::White, Color::Black].map(|color| {
        let side = color_name(color);
        match (game.player(color), game.tag(&format!("{side}Elo"))) {
            ("?", Some(elo)) => format!("{side} ({elo})"),
            ("?", None) => side.to_string(),
            (name, _) => name.to_string(),
        }
    });
    format!("{white} \u{2013} {black}{result}")
}

/// A game on a page: board, curve, moves.
fn show(page: &mut Page, game: &Annotated, turned: bool) {
    if page.script(SCRIPT) {
        page.put(PreEscaped(PIECES.to_string()));
    }
    let nodes = Nodes::of(game);
    let known = |name: &str| game.tag(name).filter(|value| !value.is_empty() && !value.contains('?'));
    let facts = ["Event", "Site", "Date", "Round", "WhiteElo", "BlackElo", "Opening", "TimeControl"];
    let facts = facts.iter().filter_map(|name| Some(format!("{name}: {}", known(name)?)));
    let buttons = [
        ("first", "To the beginning", "|<"),
        ("back", "One move back", "<"),
        ("next", "One move on", ">"),
        ("last", "To the end", ">|"),
        ("turn", "Turn the board", "\u{21C5}"),
    ];
    page.put(html! {
        section.game aria-label=(players(game)) data-turned[turned] {
            div.columns {
                div.view {
                    svg.position viewBox="0 0 360 360" role="img" aria-label="The board" {}
                    div.controls role="group" aria-label="Step through the game" {
                        @for (act, label, sign) in buttons {
                            button type="button" data-act=(act) aria-label=(label) { (sign) }
                        }
                    }
                    p.status aria-live="polite" {}
                    (curve(game))
                    (summary(game))
                    @if game.summary(Color::White).or(game.summary(Color::Black)).is_some() { p.muted { (LEGEND) } }
                    p.muted { (KEYS) }
                    p.muted { (facts.collect::<Vec<_>>().join(" \u{b7} ")) }
                }
                (moves(game, &nodes))
            }
            script type="application/json" { (data(&nodes.all)) }
        }
    });
}

/// The positions of a game and of its better lines.
struct Nodes {
    all: Vec<Node>,
    /// For each move of the game, the index of its better line.
    lines: Vec<Option<usize>>,
}

impl Nodes {
    fn of(game: &Annotated) -> Nodes {
        let mut nodes = Nodes { all: vec![Node::start(&game.start)], lines: Vec::new() };
        for (board, ply) in game.positions() {
            let prev = nodes.all.len() - 1;
            let mut node = nodes.after(prev, &board, ply.mv);
            if let Some(mistake) = ply.mistake() {
                node.label += mistake.judgement.sign();
                node.why = Some(mistake.words());
                node.marks = marks(&mistake.explanation.marks);
            }
            if let Some(score) = ply.analysis.as_ref().and_then(|analysis| analysis.score) {
                let _ = write!(node.label, " ({})", shown(score));
            }
            nodes.all[prev].next = Some(prev + 1);
            nodes.all.push(node);
        }
        for (number, (board, ply)) in game.positions().enumerate() {
            let mistake = ply.mistake();
            nodes.lines.push(mistake.map(|_| nodes.all.len()));
            if let Some(mistake) = mistake {
                nodes.add_line(number, board, mistake);
            }
        }
        nodes
    }

    /// Adds a better line that starts in position `start`.
    fn add_line(&mut self, start: usize, board: Board, mistake: &Mistake) {
        for (place, (board, mv)) in board.along(&mistake.line).enumerate() {
            let here = self.all.len();
            let mut node = self.after(if place == 0 { start } else { here - 1 }, &board, mv);
            node.label.insert_str(0, "Better: ");
            if place + 1 == mistake.line.len() {
                let _ = write!(node.label, " ({})", shown(mistake.better));
                node.marks = marks(&mistake.explanation.goal);
            } else {
                node.next = Some(here + 1);
            }
            self.all.push(node);
        }
    }

    fn after(&self, prev: usize, board: &Board, mv: Move) -> Node {
        let dots = if board.side_to_move() == Color::White { "." } else { "..." };
        Node {
            r#move: Some([mv.from().to_string(), mv.to().to_string()]),
            label: format!("{}{dots}\u{a0}{}", board.fullmove_number(), board.san(mv)),
            prev: Some(prev),
            ..Node::start(&board.after(mv))
        }
    }
}

impl Node {
    fn start(board: &Board) -> Node {
        let fen = board.fen();
        let pieces = fen.split(' ').next().unwrap_or_default().to_string();
        let label = "The first position.".into();
        Node { board: pieces, r#move: None, label, why: None, marks: Vec::new(), prev: None, next: None }
    }
}

fn marks(marks: &[Mark]) -> Vec<(bool, String, Option<String>)> {
    let one = |mark: &Mark| (mark.good, mark.square.to_string(), mark.to.map(|to| to.to_string()));
    marks.iter().map(one).collect()
}

/// A score for people.
fn shown(score: Score) -> String {
    match score {
        Score::Cp(centipawns) if centipawns > 0 => format!("+{}", evaluation(score)),
        _ => evaluation(score),
    }
}

/// The evaluation curve: White's chances over the moves, with a dot for each mistake.
fn curve(game: &Annotated) -> Markup {
    const WIDTH: f64 = 600.0;
    const HEIGHT: f64 = 120.0;
    let height = |analysis: &MoveAnalysis, board: &Board| {
        let mated = || f64::from(sign(board.side_to_move()));
        (1.0 - analysis.score.map_or_else(mated, chances)) / 2.0 * HEIGHT
    };
    let step = WIDTH / game.plies.len().max(1) as f64;
    let analyzed = game.positions().map_while(|(board, ply)| Some((board, ply.analysis.as_ref()?)));
    let points: Vec<(String, String, Option<&Mistake>)> = analyzed
        .zip(1..)
        .map(|((board, analysis), number)| {
            let (x, y) = (step * f64::from(number), height(analysis, &board));
            (format!("{x:.1}"), format!("{y:.1}"), analysis.mistake.as_ref())
        })
        .collect();
    let Some((end, ..)) = points.last() else { return html! {} };
    let line: String = points.iter().map(|(x, y, _)| format!("L{x} {y}")).collect();
    html! {
        figure {
            svg.curve viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label="White's chances over the game" {
                rect.black-side width=(end) height=(HEIGHT) {}
                path.white-side d={ "M0 " (HEIGHT) "L0 " (HEIGHT / 2.0) (line) "L" (end) " " (HEIGHT) "Z" } {}
                path.middle d={ "M0 " (HEIGHT / 2.0) "H" (WIDTH) } {}
                @for (x, y, mistake) in &points {
                    @if let Some(mistake) = mistake { circle cx=(x) cy=(y) r="4" class=(mistake.judgement.name()) {} }
                }
                line.here x1="0" x2="0" y1="0" y2=(HEIGHT) {}
            }
            figcaption {
                "White's chances, move by move; dots are inaccuracies (blue), mistakes (yellow) and blunders (red)."
            }
        }
    }
}

/// Accuracy and mistakes of both players.
fn summary(game: &Annotated) -> Markup {
    let players = [Color::White, Color::Black].map(|color| (color, game.summary(color)));
    html! {
        @if players.iter().any(|(_, summary)| summary.is_some()) {
            table.summary {
                thead { tr {
                    th scope="col" { "Player" }
                    th scope="col" { "Accuracy" }
                    @for judgement in Judgement::ALL {
                        th scope="col" class=(judgement.name()) { abbr title=(judgement.name()) { (judgement.sign()) } }
                    }
                } }
                tbody { @for (color, summary) in players { @if let Some(summary) = summary { tr {
                    th scope="row" { @match game.player(color) { "?" => (color_name(color)), name => (name) } }
                    td { (format!("{:.0}\u{a0}%", summary.accuracy)) }
                    @for count in summary.mistake_counts { td { (count) } }
                } } } }
            }
        }
    }
}

/// A row of the list of moves. A remark ends it; Black's move then starts another.
struct Row {
    number: u32,
    moves: [Option<Markup>; 2],
    remark: Option<Markup>,
}

/// The moves with their comments.
fn moves(game: &Annotated, nodes: &Nodes) -> Markup {
    let mut rows: Vec<Row> = Vec::new();
    for (index, (board, ply)) in game.positions().enumerate() {
        let mistake = ply.mistake();
        let score = ply.analysis.as_ref().and_then(|analysis| analysis.score);
        let mv = html! {
            span.move {
                button type="button" data-node=(index + 1) {
                    (board.san(ply.mv))
                    @if let Some(mistake) = mistake {
                        span class=(mistake.judgement.name()) { (mistake.judgement.sign()) }
                    }
                }
                span.eval { @if let Some(score) = score { (shown(score)) } }
            }
        };
        let (remark, number) = (remark(&board, ply, nodes.lines[index]), board.fullmove_number());
        match (board.side_to_move(), rows.last_mut()) {
            (Color::White, _) => rows.push(Row { number, moves: [Some(mv), None], remark }),
            (Color::Black, Some(row)) if row.remark.is_none() => {
                row.moves[1] = Some(mv);
                row.remark = remark;
            }
            (Color::Black, _) => rows.push(Row { number, moves: [None, Some(mv)], remark }),
        }
    }
    html! {
        ol.moves tabindex="0" aria-label="Moves" {
            @for Row { number, moves: [white, black], remark } in &rows {
                li {
                    span.number { (number) "." }
                    @if let Some(white) = white { (white) } @else { span { "\u{2026}" } }
                    @if let Some(black) = black { (black) }
                    @if let Some(remark) = remark { (remark) }
                }
            }
            @if let Some(result) = game.result { li { span {} strong { (result) } } }
        }
    }
}

/// The game's own comment on a move, the explanation of a mistake, and the better line.
fn remark(board: &Board, ply: &Ply, line: Option<usize>) -> Option<Markup> {
    let own: Vec<String> = ply.comments().map(without_commands).collect();
    let (own, mistake) = (own.join(" "), ply.mistake().zip(line));
    let number = |place: usize, board: &Board| match board.side_to_move() {
        Color::White => format!("{}.", board.fullmove_number()),
        Color::Black if place == 0 => format!("{}\u{2026}", board.fullmove_number()),
        Color::Black => String::new(),
    };
    let class = mistake.map_or("", |(mistake, _)| mistake.judgement.name());
    let plies = |part: Range<usize>| {
        let line = mistake.map(|(mistake, line)| (board.along(&mistake.line).enumerate(), line));
        let shown = line.into_iter().flat_map(|(moves, line)| moves.map(move |(place, at)| (place, at, line)));
        html! {
            @for (place, (board, mv), line) in shown.filter(|(place, ..)| part.contains(place)) {
                span.ply {
                    (number(place - part.start, &board)) button type="button" data-node=(line + place) { (board.san(mv)) }
                }
                " "
            }
        }
    };
    let markup = html! {
        div class={ "remark " (class) } {
            @if !own.trim().is_empty() { p { (own.trim()) } }
            @if let Some((mistake, _)) = mistake {
                p { strong class=(class) { (class) "." } " " (mistake.explanation.text) }
                p.line {
                    "Better: " (plies(0..mistake.line.len().min(SHOWN)))
                    span.eval { (shown(mistake.better)) }
                }
                @if mistake.line.len() > SHOWN {
                    details.line { summary { "The rest of the line" } (plies(SHOWN..mistake.line.len())) }
                }
            }
        }
    };
    (mistake.is_some() || !own.trim().is_empty()).then_some(markup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::testing::{MISTAKES, annotated};

    #[test]
    fn the_page_is_self_contained_and_escapes_text() {
        let page = page(&[annotated(MISTAKES, 2_000)], |_| false);
        for expected in [
            "A &quot;quoted&quot; {name} \u{2013} &lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;, 1-0</h1>",
            "Event: &lt;b&gt;Club&lt;/b&gt; &amp; &quot;open&quot;",
            "&lt;img src=x onerror=alert(2)&gt;",
            "the king's pawn</p>",
            "<strong class=\"Blunder\">Blunder.</strong>",
            "3... Nf6 allows mate: 4. Qxf7#; ",
            "default-src 'none'",
        ] {
            assert!(page.contains(expected), "{expected}\n{page}");
        }
        assert_eq!(page.matches("<h2>").count(), 0);
        for wrong in ["<img", "<b>Club", "alert(1)</script>", "[%clk", "src=\"", "url(", "@import", "\"http"] {
            let plain = page.replace("\"http://www.w3.org/2000/svg\"", "");
            assert!(!plain.contains(wrong), "{wrong}\n{page}");
        }
        assert_eq!(page.matches("<script").count(), 2);
    }

    #[test]
    fn positions_are_linked() {
        let game = annotated(MISTAKES, 2_000);
        let nodes = Nodes::of(&game);
        for (number, node) in nodes.all.iter().enumerate() {
            if let Some(next) = node.next {
                assert_eq!(nodes.all[next].prev, Some(number));
            }
            let prev = node.prev.map(|prev| &nodes.all[prev]);
            assert_eq!(prev.is_none(), number == 0);
        }
        let mut end = 0;
        while let Some(next) = nodes.all[end].next {
            end = next;
        }
        assert_eq!(end, game.plies.len());
        let line = nodes.lines[5].expect("the blunder has a better line");
        assert_eq!(nodes.all[line].prev, Some(5));
        assert!(nodes.all[line].label.starts_with("Better: 3...\u{a0}"), "{}", nodes.all[line].label);
        assert!(!nodes.all[6].marks.is_empty());
    }

    #[test]
    fn games_without_analyses_have_a_page() {
        let mut game = annotated(MISTAKES, 1_000);
        game.plies.iter_mut().for_each(|ply| ply.analysis = None);
        let text = page(&[game.clone()], |_| true);
        assert!(text.contains(">Qxf7#</button>") && !text.contains("<figure>"), "{text}");
        game.plies.clear();
        let two = page(&[game.clone(), game], |_| true);
        assert!(two.contains("<h1>2 games</h1>") && two.matches("<h2>").count() == 2, "{two}");
        assert!(page(&[], |_| true).contains("<h1>0 games</h1>"));
    }
}
