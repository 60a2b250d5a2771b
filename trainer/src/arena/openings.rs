//! The openings of a match.
//!
//! Two deterministic engines repeat the same game from the same position, so a match needs one opening per pair of
//! games: varied, so that many kinds of positions are compared, and balanced, so that the better player can show it.
//! Openings come from a file of positions or games, or are generated here. A random opening is a sequence of random
//! moves from the starting position that lose no material by static exchange evaluation; a filter with a short search
//! then rejects unbalanced positions. The n-th opening depends on the seed alone.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use dyad_engine::board::{Board, CHESS960_POSITIONS, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::{Limits, Options};
use dyad_engine::value::Value;
use dyad_formats::entries::{Content, entries};
use dyad_formats::error::Error;
use dyad_formats::game::BrokenGame;
use dyad_formats::hash;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// The start of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// The position before the moves.
    pub start: Board,
    /// Moves from there that both sides have to play.
    pub moves: Vec<Move>,
}

impl Opening {
    /// An opening without moves.
    pub fn from_board(start: Board) -> Opening {
        Opening { start, moves: Vec::new() }
    }

    /// The game after the opening's moves.
    pub fn game(&self) -> Game {
        let mut game = Game::new(self.start);
        self.moves.iter().for_each(|&mv| game.push(mv));
        game
    }

    /// The position after the opening's moves.
    pub fn board(&self) -> Board {
        *self.game().board()
    }
}

/// Reads the openings of a file: positions (`.epd`, `.fen`), or games, of which the first `plies` are taken. Openings
/// that end the game and repeated ones are skipped. A line or game that cannot be read is passed to `on_broken` and
/// skipped too.
///
/// # Errors
/// If the file cannot be read, or has no opening.
pub fn read(path: &Path, plies: usize, mut on_broken: impl FnMut(&BrokenGame)) -> Result<Vec<Opening>, Error> {
    let (mut openings, mut seen, mut first_broken) = (Vec::new(), HashSet::new(), None);
    for entry in entries(path)? {
        let opening = match entry?.parse(None) {
            Ok(Content::Position(epd)) => Opening::from_board(epd.board),
            Ok(Content::Game(game)) => {
                let moves = game.moves.iter().take(plies).map(|played| played.mv).collect();
                Opening { start: game.start, moves }
            }
            Err(broken) => {
                on_broken(&broken);
                first_broken.get_or_insert(broken);
                continue;
            }
        };
        let game = opening.game();
        if game.ending().is_none() && seen.insert(game.board().key()) {
            openings.push(opening);
        }
    }
    match (openings.is_empty(), first_broken) {
        (true, Some(broken)) => Err(Error::Nothing(broken.to_string())),
        (true, None) => Err(Error::content(path, "to its end", "there is no opening in it that could be played on")),
        (false, _) => Ok(openings),
    }
}

/// Shuffles openings by a seed.
pub fn shuffle(openings: &mut [Opening], seed: u64) {
    let mut rng = random(seed, 0);
    for i in (1..openings.len()).rev() {
        openings.swap(i, rng.random_range(0..=i));
    }
}

/// The starting positions of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Standard chess.
    #[default]
    Standard,
    /// The 960 of Chess960, with equal probability.
    Chess960,
    /// Both sides have a first rank of Chess960, each its own.
    DoubleChess960,
}

impl Variant {
    /// Draws a starting position.
    pub(crate) fn draw(self, rng: &mut Pcg64) -> Board {
        let mut number = || rng.random_range(0..CHESS960_POSITIONS);
        match self {
            Variant::Standard => Board::startpos(),
            Variant::Chess960 => Board::chess960([number(); 2]),
            Variant::DoubleChess960 => Board::chess960([number(), number()]),
        }
    }
}

/// Settings of generated openings.
#[derive(Clone, Debug, PartialEq)]
pub struct OpeningSettings {
    /// Seed; openings of different seeds are independent.
    pub seed: u64,
    /// Number of random moves.
    pub plies: RangeInclusive<u32>,
    /// Largest accepted advantage of either side, in search units.
    pub limit: Value,
    /// Openings to start the random moves from, drawn at random; if empty, a starting position of the variant.
    pub starts: Vec<Opening>,
    /// The starting positions.
    pub variant: Variant,
}

impl OpeningSettings {
    /// Eight to eleven random moves and an advantage of at most 120 search units, a third of the value that wins half
    /// of the games.
    pub fn new(seed: u64) -> OpeningSettings {
        OpeningSettings { seed, plies: 8..=11, limit: 120, starts: Vec::new(), variant: Variant::Standard }
    }
}

/// Generates openings without end. `evaluate` returns the value of a game's position for the side to move, from a short
/// search, and must depend on the game alone.
pub struct RandomOpenings<J> {
    settings: OpeningSettings,
    evaluate: J,
    attempt: u64,
    seen: HashSet<u64>,
}

impl<J: FnMut(&Game) -> Value> RandomOpenings<J> {
    /// Openings with these settings.
    pub fn new(settings: OpeningSettings, evaluate: J) -> RandomOpenings<J> {
        RandomOpenings { settings, evaluate, attempt: 0, seen: HashSet::new() }
    }

    /// The next attempt, if it is accepted.
    fn attempt(&mut self) -> Option<Opening> {
        let mut rng = random(self.settings.seed, self.attempt);
        self.attempt += 1;
        let mut opening = match &self.settings.starts[..] {
            [] => Opening::from_board(self.settings.variant.draw(&mut rng)),
            starts => starts[rng.random_range(0..starts.len())].clone(),
        };
        let mut game = opening.game();
        let plies = rng.random_range(self.settings.plies.clone());
        walk(&mut game, &mut opening, plies, |board| random_move(board, &mut rng))?;
        let fresh = self.seen.insert(game.board().key());
        (fresh && (self.evaluate)(&game).abs() <= self.settings.limit).then_some(opening)
    }
}

impl<J: FnMut(&Game) -> Value> Iterator for RandomOpenings<J> {
    type Item = Opening;

    /// Returns `None` only after a thousand rejected attempts in a row: then no position near the starts is balanced.
    fn next(&mut self) -> Option<Opening> {
        (0..1_000).find_map(|_| self.attempt())
    }
}

/// Nodes of the filter search for an opening of a match.
pub const FILTER_NODES: u64 = 3_000;

/// An opening filter: the value of a position after a search of `nodes` nodes with an empty table.
pub fn opening_filter(weights: Arc<Weights>, nodes: u64) -> impl FnMut(&Game) -> Value + Send {
    // A small table is cleared quickly.
    let mut engine = Engine::with_hash(weights, 1).expect("memory for the smallest table");
    let limits = Limits::nodes(nodes);
    let control = Control::new(false);
    move |game| {
        engine.clear();
        engine.search(game, &limits, &Options::default(), &control, &mut |_| ()).value
    }
}

/// Plays `plies` moves from `draw` and appends them to the opening. `None` if there is no move, or the game ends or
/// stands in check after them.
pub(crate) fn walk(
    game: &mut Game,
    opening: &mut Opening,
    plies: u32,
    mut draw: impl FnMut(&Board) -> Option<Move>,
) -> Option<()> {
    for _ in 0..plies {
        let mv = draw(game.board())?;
        game.push(mv);
        opening.moves.push(mv);
    }
    (game.ending().is_none() && !game.board().in_check()).then_some(())
}

/// A random move that loses no material by static exchange evaluation, or any move if all lose some.
fn random_move(board: &Board, rng: &mut Pcg64) -> Option<Move> {
    let moves = board.moves();
    let sound: Vec<Move> = moves.iter().copied().filter(|&mv| board.see_ge(mv, 0)).collect();
    let from = if sound.is_empty() { &moves[..] } else { &sound[..] };
    any_move(from, rng)
}

/// A random one of these moves, if there are any.
pub(crate) fn any_move(moves: &[Move], rng: &mut Pcg64) -> Option<Move> {
    (!moves.is_empty()).then(|| moves[rng.random_range(0..moves.len())])
}

fn random(seed: u64, stream: u64) -> Pcg64 {
    Pcg64::seed_from_u64(hash::fold(hash::mix(seed), stream))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::Temporary;
    use std::fs;

    /// Counts pieces: an evaluation without search.
    fn material(game: &Game) -> Value {
        let board = game.board();
        let pieces = |color| board.colors(color).popcnt() as Value;
        100 * (pieces(board.side_to_move()) - pieces(!board.side_to_move()))
    }

    fn made(seed: u64, count: usize) -> Vec<Opening> {
        RandomOpenings::new(OpeningSettings::new(seed), material).take(count).collect()
    }

    /// Reads an opening file of this name and text.
    fn read_text(name: &str, text: &str, plies: usize) -> Result<Vec<Opening>, Error> {
        let folder = Temporary::folder();
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        read(&path, plies, |_| ())
    }

    #[test]
    fn generated_openings_depend_on_the_seed() {
        let openings = made(7, 200);
        assert_eq!(openings, made(7, 200));
        assert_ne!(openings, made(8, 200));
        assert_eq!(openings[..20], made(7, 20));
    }

    #[test]
    fn generated_openings_are_varied_balanced_and_playable() {
        let openings = made(1, 500);
        let mut keys = HashSet::new();
        let mut first_moves = HashSet::new();
        let mut black_to_move = 0;
        for opening in &openings {
            assert!((8..=11).contains(&opening.moves.len()));
            let mut board = opening.start;
            for &mv in &opening.moves {
                assert!(board.is_legal(mv));
                board = board.after(mv);
            }
            let game = opening.game();
            assert!(game.ending().is_none() && !game.board().in_check());
            assert!(material(&game).abs() <= 120);
            assert!(keys.insert(board.key()), "the same position twice");
            first_moves.insert(opening.moves[0].to_string());
            black_to_move += usize::from(board.side_to_move() == dyad_engine::board::Color::Black);
        }
        assert!(first_moves.len() >= 18, "{}", first_moves.len());
        assert!((150..350).contains(&black_to_move), "{black_to_move}");
    }

    #[test]
    fn chess960_openings_cover_the_starting_positions() {
        let starts = |variant| -> Vec<Board> {
            let settings = OpeningSettings { variant, ..OpeningSettings::new(3) };
            RandomOpenings::new(settings, material).take(300).map(|opening| opening.start).collect()
        };
        let fens = |boards: &[Board]| boards.iter().map(Board::fen).collect::<HashSet<_>>().len();
        let mirrored = |board: &Board| {
            let rows: Vec<String> = board.fen().split([' ', '/']).take(8).map(str::to_string).collect();
            rows[0] == rows[7].to_lowercase()
        };
        let single = starts(Variant::Chess960);
        assert!(fens(&single) > 240 && single.iter().all(mirrored), "{}", fens(&single));
        let double = starts(Variant::DoubleChess960);
        assert!(fens(&double) > 290 && double.iter().filter(|board| mirrored(board)).count() < 5);
        assert_eq!(fens(&starts(Variant::Standard)), 1);
    }

    #[test]
    fn impossible_settings_end() {
        let settings = OpeningSettings { limit: -1, ..OpeningSettings::new(1) };
        assert_eq!(RandomOpenings::new(settings, material).next(), None);
    }

    #[test]
    fn positions_are_read_with_their_clocks() {
        let text = "\u{FEFF}\
            r1bqk2r/p2p1ppp/2n1p3/2p5/1bP1n3/1QN2NP1/PP2PPBP/R1B1K2R w KQkq - hmvc 3; fmvn 9; c0 \"8 moves\";\n\
            \n# a remark\n\
            rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n\
            rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - c0 \"again\";\n\
            7k/5Q2/6K1/8/8/8/8/8 b - - c0 \"stalemate\";\n";
        let openings = read_text("some.epd", text, 8).unwrap();
        let fens: Vec<String> = openings.iter().map(|opening| opening.board().fen()).collect();
        assert_eq!(
            fens,
            [
                "r1bqk2r/p2p1ppp/2n1p3/2p5/1bP1n3/1QN2NP1/PP2PPBP/R1B1K2R w KQkq - 3 9",
                "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
            ]
        );
    }

    #[test]
    fn games_are_read_to_a_depth() {
        let text =
            "[Event \"a\"]\n[Result \"*\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n\n[Event \"b\"]\n\n1. d4 d5 *\n\n";
        let openings = read_text("some.pgn", text, 4).unwrap();
        assert_eq!(openings.iter().map(|opening| opening.moves.len()).collect::<Vec<_>>(), [4, 2]);
        assert!(openings[0].board().fen().starts_with("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w"));
    }

    #[test]
    fn a_broken_line_or_game_costs_itself_alone() {
        let epd = "nonsense\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n8/8/8/8 w - -\n";
        let pgn = "[Event \"a\"]\n\n1. e4 Ke4 *\n\n[Event \"b\"]\n\n1. d4 d5 *\n";
        for (name, text, problems) in
            [("some.epd", epd, &["some.epd:1: ", "some.epd:3: "][..]), ("some.pgn", pgn, &["some.pgn:1: 1... Ke4"])]
        {
            let folder = Temporary::folder();
            fs::write(folder.join(name), text).unwrap();
            let mut broken = Vec::new();
            let openings = read(&folder.join(name), 8, |error| broken.push(error.to_string())).unwrap();
            assert_eq!((openings.len(), broken.len()), (1, problems.len()), "{broken:?}");
            assert!(broken.iter().zip(problems).all(|(error, problem)| error.contains(problem)), "{broken:?}");
        }
        let error = read_text("bad.epd", "nonsense\n", 8).unwrap_err().to_string();
        assert!(error.contains("bad.epd:1: "), "{error}");
        assert!(read_text("empty.epd", "\n", 8).is_err());
    }

    #[test]
    fn shuffling_keeps_all_and_follows_the_seed() {
        let sorted = made(3, 50);
        let shuffled = |seed| {
            let mut openings = sorted.clone();
            shuffle(&mut openings, seed);
            openings
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        assert!(sorted.iter().all(|opening| shuffled(1).contains(opening)));
    }
}
