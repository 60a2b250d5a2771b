//! Annotated games as an interactive page.
//!
//! The page is self-contained: style, script and pieces are inline, and its content security policy forbids any
//! request. Without scripts, or printed, it shows the moves with evaluations, better lines and explanations as text; a
//! script adds the board. All text from games is escaped.

use std::fmt::Write as _;

use dyad_engine::board::{Board, Color, Move, color_name, sign};
use dyad_engine::explain::sentence::{Mark, Place};
use dyad_engine::search::Score;
use serde::Serialize;

use super::analysis::{Annotated, Mistake, MoveAnalysis, Ply};
use super::judgement::{Judgement, chances};
use super::pgn::evaluation;
use crate::page::html::{data, escape, frame};

const STYLE: &str = include_str!("assets/game.css");
const SCRIPT: &str = include_str!("assets/game.js");
const PIECES: &str = include_str!("assets/pieces.svg");
const LEGEND: &str = "Green arrow: the better move. Red arrow: the reply. Tinted squares: what the reason is about.<br>\
    Evaluations in pawns, + for White. Keys: \u{2190} \u{2192} Home End; F turns the board.";

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
#[must_use]
pub fn page(games: &[Annotated], of: impl Fn(&str) -> bool) -> String {
    let title = match games {
        [game] => players(game),
        games => format!("{} games", games.len()),
    };
    let mut body = String::new();
    for game in games {
        let [white, black] = [Color::White, Color::Black].map(|color| of(game.player(color)));
        body += &section(game, games.len() == 1, black && !white);
    }
    let body = format!("{PIECES}{body}<p class=\"muted\">Annotated by Dyad.</p>\n");
    frame(&title, STYLE, &body, &[SCRIPT])
}

fn players(game: &Annotated) -> String {
    let result = game.result.map(|result| format!(", {result}")).unwrap_or_default();
    format!("{} \u{2013} {}{result}", game.player(Color::White), game.player(Color::Black))
}

/// A game: board, curve, moves. A single game has its heading already.
fn section(game: &Annotated, alone: bool, turned: bool) -> String {
    let (nodes, title) = (Nodes::of(game), escape(&players(game)));
    let turned = if turned { " data-turned" } else { "" };
    let mut text = format!("<section class=\"game\" aria-label=\"{title}\"{turned}>\n");
    if !alone {
        let _ = writeln!(text, "<h2>{title}</h2>");
    }
    let known = |name: &str| game.tag(name).filter(|value| !value.is_empty() && !value.contains('?'));
    let facts = ["Event", "Site", "Date", "Round", "WhiteElo", "BlackElo", "Opening", "TimeControl"];
    let facts: Vec<String> =
        facts.iter().filter_map(|name| known(name).map(|value| format!("{name}: {value}"))).collect();
    let facts = escape(&facts.join(" \u{b7} "));
    let _ = write!(
        text,
        "<div class=\"columns\">\n<div class=\"view\">\n\
         <svg class=\"board\" viewBox=\"0 0 360 360\" role=\"img\" aria-label=\"The board\"></svg>\n\
         <div class=\"controls\" role=\"group\" aria-label=\"Step through the game\">\n"
    );
    for (act, label, sign) in [
        ("first", "To the beginning", "|&lt;"),
        ("back", "One move back", "&lt;"),
        ("next", "One move on", "&gt;"),
        ("last", "To the end", "&gt;|"),
        ("turn", "Turn the board", "&#8645;"),
    ] {
        let _ = writeln!(text, "<button type=\"button\" data-act=\"{act}\" aria-label=\"{label}\">{sign}</button>");
    }
    let _ = write!(
        text,
        "</div>\n<p class=\"status\" aria-live=\"polite\"></p>\n{}{}\
         <p class=\"muted\">{LEGEND}</p>\n<p class=\"muted\">{facts}</p>\n</div>\n",
        curve(game),
        summary(game)
    );
    text += &moves(game, &nodes);
    let _ = write!(text, "</div>\n<script type=\"application/json\">{}</script>\n</section>\n", data(&nodes.all));
    text
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
                node.why = Some(unbroken(&format!("{}. {}", mistake.judgement.name(), mistake.explanation)));
                node.marks = marks(&mistake.marks);
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
    fn add_line(&mut self, start: usize, mut board: Board, mistake: &Mistake) {
        for (place, &mv) in mistake.line.iter().enumerate() {
            let here = self.all.len();
            let mut node = self.after(if place == 0 { start } else { here - 1 }, &board, mv);
            node.label.insert_str(0, "Better: ");
            if place + 1 == mistake.line.len() {
                let _ = write!(node.label, " ({})", shown(mistake.better));
                node.marks = marks(&mistake.goal);
            } else {
                node.next = Some(here + 1);
            }
            self.all.push(node);
            board = board.after(mv);
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
    let one = |mark: &Mark| match mark.place {
        Place::Arrow(from, to) => (mark.good, from.to_string(), Some(to.to_string())),
        Place::Square(square) => (mark.good, square.to_string(), None),
    };
    marks.iter().map(one).collect()
}

/// A score for people.
fn shown(score: Score) -> String {
    match score {
        Score::Cp(centipawns) if centipawns > 0 => format!("+{}", evaluation(score)),
        _ => evaluation(score),
    }
}

fn class(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Inaccuracy => "inaccuracy",
        Judgement::Mistake => "mistake",
        Judgement::Blunder => "blunder",
    }
}

/// The evaluation curve: White's chances over the moves, with a dot for each mistake.
fn curve(game: &Annotated) -> String {
    const WIDTH: f64 = 600.0;
    const HEIGHT: f64 = 120.0;
    let height = |analysis: &MoveAnalysis, board: &Board| {
        let mated = || f64::from(sign(board.side_to_move()));
        (1.0 - analysis.score.map_or_else(mated, chances)) / 2.0 * HEIGHT
    };
    let step = WIDTH / game.plies.len().max(1) as f64;
    let mut points = vec![(0.0, HEIGHT / 2.0)];
    let mut dots = String::new();
    for (index, (board, ply)) in game.positions().enumerate() {
        let Some(analysis) = &ply.analysis else { break };
        let (x, y) = ((index + 1) as f64 * step, height(analysis, &board));
        points.push((x, y));
        if let Some(mistake) = &analysis.mistake {
            let class = class(mistake.judgement);
            let _ = write!(dots, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" class=\"{class}\"/>");
        }
    }
    if points.len() < 2 {
        return String::new();
    }
    let end = points.last().map_or(0.0, |point| point.0);
    let line: String = points.iter().map(|(x, y)| format!("L{x:.1} {y:.1}")).collect();
    let label = "White's chances over the game";
    format!(
        "<figure>\n<svg class=\"curve\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">\
         <rect width=\"{end:.1}\" height=\"{HEIGHT}\" class=\"black-side\"/>\
         <path d=\"M0 {HEIGHT}{line}L{end:.1} {HEIGHT}Z\" class=\"white-side\"/>\
         <line x1=\"0\" x2=\"{WIDTH}\" y1=\"60\" y2=\"60\" class=\"middle\"/>{dots}\
         <line x1=\"0\" x2=\"0\" y1=\"0\" y2=\"{HEIGHT}\" class=\"here\"/></svg>\n\
         <figcaption>White's chances, move by move; dots are inaccuracies (blue), mistakes (yellow) and blunders \
         (red).</figcaption>\n</figure>\n"
    )
}

/// Accuracy and mistakes of both players.
fn summary(game: &Annotated) -> String {
    let row = |color: Color| {
        let summary = game.summary(color)?;
        let counts: String = summary.mistake_counts.iter().map(|count| format!("<td>{count}</td>")).collect();
        let name = match game.player(color) {
            "?" => color_name(color),
            name => name,
        };
        Some(format!(
            "<tr><th scope=\"row\">{}</th><td>{:.0}\u{a0}%</td>{counts}</tr>\n",
            escape(name),
            summary.accuracy
        ))
    };
    let rows: String = [Color::White, Color::Black].into_iter().filter_map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    let heads = Judgement::ALL.map(|judgement| {
        let (class, name, sign) = (class(judgement), judgement.name(), judgement.sign());
        format!("<th scope=\"col\" class=\"{class}\"><abbr title=\"{name}\">{sign}</abbr></th>")
    });
    format!(
        "<table class=\"summary\"><thead><tr><th scope=\"col\">Player</th><th scope=\"col\">Accuracy</th>{}</tr></thead>\
         <tbody>\n{rows}</tbody></table>\n",
        heads.concat()
    )
}

/// The text with a no-break space between the number of a move and the move.
fn unbroken(text: &str) -> String {
    let (mut joined, mut after_number) = (String::with_capacity(text.len()), false);
    for (place, word) in text.split(' ').enumerate() {
        if place > 0 {
            joined.push(if after_number { '\u{a0}' } else { ' ' });
        }
        joined.push_str(word);
        let digits = word.trim_end_matches('.');
        after_number = word.ends_with('.') && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    }
    joined
}

/// The moves with their comments.
fn moves(game: &Annotated, nodes: &Nodes) -> String {
    let mut text = String::from("<ol class=\"moves\" aria-label=\"Moves\">\n");
    let mut open = false;
    for (index, (board, ply)) in game.positions().enumerate() {
        let white = board.side_to_move() == Color::White;
        if white || !open {
            let _ = write!(text, "<li><span class=\"number\">{}.</span>", board.fullmove_number());
            open = true;
            if !white {
                text.push_str("<span>\u{2026}</span>");
            }
        }
        let sign = ply.mistake().map(|mistake| {
            let (class, sign) = (class(mistake.judgement), mistake.judgement.sign());
            format!("<span class=\"{class}\">{sign}</span>")
        });
        let score = ply.analysis.as_ref().and_then(|analysis| analysis.score).map(shown).unwrap_or_default();
        let _ = write!(
            text,
            "<span class=\"move\"><button type=\"button\" data-node=\"{}\">{}{}</button><span class=\"eval\">{score}</span></span>",
            index + 1,
            escape(&board.san(ply.mv)),
            sign.unwrap_or_default()
        );
        let remark = remark(&board, ply, nodes.lines[index]);
        let last = index + 1 == game.plies.len();
        // A remark ends the row; Black's move then starts another.
        if !remark.is_empty() || !white || last {
            if white && remark.is_empty() {
                text.push_str("<span></span>");
            }
            let _ = writeln!(text, "{remark}</li>");
            open = false;
        }
    }
    if let Some(result) = game.result {
        let _ = writeln!(text, "<li><span></span><strong>{result}</strong></li>");
    }
    text + "</ol>\n"
}

/// The game's own comment on a move, the explanation of a mistake, and the better line.
fn remark(board: &Board, ply: &Ply, line: Option<usize>) -> String {
    let mistake = ply.mistake();
    let own: Vec<String> = ply.comments().map(without_commands).collect();
    let own = own.join(" ").trim().to_string();
    let mut inside = String::new();
    if !own.is_empty() {
        let _ = write!(inside, "<p>{}</p>", escape(&own));
    }
    if let (Some(mistake), Some(line)) = (mistake, line) {
        let class = class(mistake.judgement);
        let _ = write!(
            inside,
            "<p><strong class=\"{class}\">{}.</strong> {}</p>",
            mistake.judgement.name(),
            escape(&unbroken(&mistake.explanation))
        );
        inside.push_str("<p class=\"line\">Better: ");
        let mut board = *board;
        for (place, &mv) in mistake.line.iter().enumerate() {
            let number = match board.side_to_move() {
                Color::White => format!("{}.", board.fullmove_number()),
                Color::Black if place == 0 => format!("{}\u{2026}", board.fullmove_number()),
                Color::Black => String::new(),
            };
            let san = escape(&board.san(mv));
            let _ = write!(
                inside,
                "<span class=\"ply\">{number}<button type=\"button\" data-node=\"{}\">{san}</button></span> ",
                line + place
            );
            board = board.after(mv);
        }
        let _ = write!(inside, "<span class=\"eval\">{}</span></p>", shown(mistake.better));
    }
    match inside.is_empty() {
        true => String::new(),
        false => {
            let class = mistake.map(|mistake| class(mistake.judgement)).unwrap_or_default();
            format!("<div class=\"remark {class}\">{inside}</div>")
        }
    }
}

/// A comment without its commands.
fn without_commands(comment: &str) -> String {
    let (mut text, mut rest) = (String::new(), comment);
    while let Some(begin) = rest.find("[%") {
        let Some(length) = rest[begin..].find(']') else { break };
        text += &rest[..begin];
        rest = &rest[begin + length + 1..];
    }
    text + rest
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
            "<strong class=\"blunder\">Blunder.</strong>",
            "3...\u{a0}Nf6 allows mate: 4.\u{a0}Qxf7#; ",
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
