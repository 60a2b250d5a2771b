//! Games on a page: a board to step through, with its moves.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use dyad_engine::board::{Board, color_name};
use dyad_engine::files;
use dyad_formats::game::GameRecord;
use dyad_formats::input::Lines;
use dyad_formats::pgn::GameTexts;

use crate::page::figures;
use crate::page::html::{Page, data, escape};

const SCRIPT: &str = include_str!("assets/game.js");

/// Bytes read from the end of a file: a dozen games.
const TAIL: u64 = 1 << 16;

/// The solid figures from pawn to king; the style colors them.
const FIGURES: [&str; 6] = ["\u{265F}\u{FE0E}", "\u{265E}", "\u{265D}", "\u{265C}", "\u{265B}", "\u{265A}"];

/// The last complete game of a file, if there is one that can be read.
pub(super) fn latest(path: &Path) -> Option<GameRecord> {
    let mut file = files::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut text = Vec::new();
    file.take(TAIL).read_to_end(&mut text).ok()?;
    // The file may be growing: text after the last blank line is an incomplete game.
    text.truncate(text.windows(2).rposition(|part| part == b"\n\n")? + 2);
    let first = text.windows(7).position(|part| part == b"[Event ")?;
    let lines = Lines::new(Box::new(BufReader::new(Cursor::new(text.split_off(first)))), path);
    let games = GameTexts::new(lines, path).map_while(Result::ok);
    let parsed = games.filter_map(|game| game.parse(None).ok());
    parsed.filter(|game| game.result.is_some() && !game.moves.is_empty()).last()
}

/// A board to step through.
pub(super) fn show(page: &mut Page, title: &str, game: &GameRecord) {
    let mut boards: Vec<Board> = game.positions().map(|(board, _)| board).collect();
    let moves: Vec<String> = boards.iter().zip(&game.moves).map(|(board, played)| board.san(played.mv)).collect();
    let last = game.moves.last().zip(boards.last()).map_or(game.start, |(played, board)| board.after(played.mv));
    boards.push(last);
    let placements: Vec<String> =
        boards.iter().map(|board| board.fen().split(' ').next().unwrap_or_default().to_string()).collect();
    let [white, black] = &game.tags.players;
    let result = game.result.map(|result| result.to_string()).unwrap_or_default();
    let (title, players) = (escape(title), escape(&format!("{white} - {black}, {result}")));
    page.put(format_args!(
        "<h3>{title}: {players}</h3>\n<div class=\"game\">\n<div>\n{}<div class=\"buttons\">\n",
        board_of(&last)
    ));
    for (label, sign) in
        [("First position", "|&lt;"), ("Move back", "&lt;"), ("Next move", "&gt;"), ("Last position", "&gt;|")]
    {
        page.put(format_args!("<button type=\"button\" aria-label=\"{label}\">{sign}</button>\n"));
    }
    page.put(format_args!("</div>\n</div>\n<p class=\"moves\" tabindex=\"0\">\n"));
    let first = 2 * (game.start.fullmove_number() as usize) - 2
        + usize::from(game.start.side_to_move() == dyad_engine::board::Color::Black);
    for (index, text) in moves.iter().enumerate() {
        let ply = first + index;
        let number = match ply % 2 {
            0 => format!("{}. ", ply / 2 + 1),
            _ if index == 0 => format!("{}... ", ply / 2 + 1),
            _ => String::new(),
        };
        page.put(format_args!("<span>{number}<button type=\"button\">{}</button></span>\n", escape(text)));
    }
    page.put(format_args!(
        "{}</p>\n<script type=\"application/json\">{}</script>\n</div>\n",
        result,
        data(&placements)
    ));
    page.script(SCRIPT);
}

/// A position as SVG: first the squares, a1 first, then the pieces on them, for the script to change.
fn board_of(board: &Board) -> String {
    const CELL: usize = 40;
    const EDGE: usize = 16;
    let size = 8 * CELL + EDGE;
    let corner = |square: usize| (EDGE + square % 8 * CELL, (7 - square / 8) * CELL);
    let mut text =
        format!("<svg viewBox=\"0 0 {size} {size}\" role=\"img\" aria-label=\"Position\" class=\"position\">\n");
    for square in 0..64 {
        let (x, y) = corner(square);
        let color = if (square / 8 + square) % 2 == 1 { "light" } else { "dark" };
        text += &format!("<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" class=\"{color}\"/>");
    }
    for (index, square) in dyad_engine::board::ALL_SQUARES.into_iter().enumerate() {
        let (x, y) = corner(index);
        let figure = board.piece_on(square).map_or("", |piece| FIGURES[piece.to_index()]);
        let color = board.color_on(square).map_or_else(String::new, |color| color_name(color).to_lowercase());
        let (x, y) = (x + CELL / 2, y + CELL * 4 / 5);
        text += &format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"32\" text-anchor=\"middle\" class=\"piece {color}\">{figure}</text>"
        );
    }
    text + &figures::edges(CELL, EDGE, 12) + "</svg>\n"
}
