//! Where the games of a match begin.
//!
//! Two deterministic engines play the same game again from the same position, so a match needs as many
//! openings as it has pairs of games: varied, so that many kinds of positions are compared, and balanced,
//! so that the better player can show it. They come from a file of positions or games, or are made here.
//! A made opening is a walk of random moves from the starting position, each of which loses no material at
//! once by static exchange; a short search then throws out what is lost or won, and what is noisy. Positions after such walks
//! are varied, and unlike those that games come to, where both sides have developed their pieces with some sense. So a share of the
//! openings may be [natural](Natural): of each move's chances a look at the replies decides. The n-th
//! opening depends on the seed and on nothing else that runs beside it.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dyad_engine::board::{Board, CHESS960_POSITIONS, ChessMove, Game};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::{LeafBudget, LeafSearcher, Limits, Options};
use dyad_engine::value::{INFINITE, Value, WINS_HALF};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::base::error::Error;
use crate::base::hash;
use crate::data::epd::Epd;
use crate::data::input::{Kind, parse_lines};
use crate::data::pgn::BrokenGame;
use crate::data::source::pieces;

/// A position to begin with and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// Where the moves begin.
    pub start: Board,
    /// Moves from there that both sides are made to play.
    pub moves: Vec<ChessMove>,
}

impl Opening {
    /// An opening without moves.
    #[must_use]
    pub fn from_board(start: Board) -> Opening {
        Opening { start, moves: Vec::new() }
    }

    /// The game after the opening's moves.
    #[must_use]
    pub fn game(&self) -> Game {
        let mut game = Game::new(self.start);
        self.moves.iter().for_each(|&mv| game.push(mv));
        game
    }

    /// The position after the opening's moves.
    #[must_use]
    pub fn board(&self) -> Board {
        *self.game().board()
    }
}

/// Reads the openings of a file: positions (`.epd`, `.fen`), or games, of which the first `plies` are taken.
/// Openings after which the game is over, or that stood in the file before, are left out.
pub fn read(path: &Path, plies: usize) -> Result<Vec<Opening>, Error> {
    let all = match Kind::of(path) {
        Kind::Positions => read_positions(path)?,
        _ => read_games(path, plies)?,
    };
    let mut seen = HashSet::new();
    let playable = |opening: &Opening| {
        let game = opening.game();
        game.ending().is_none() && seen.insert(game.board().key())
    };
    let openings: Vec<Opening> = all.into_iter().filter(playable).collect();
    if openings.is_empty() {
        return Err(Error::content(path, "to its end", "there is no opening in it that could be played on"));
    }
    Ok(openings)
}

fn read_positions(path: &Path) -> Result<Vec<Opening>, Error> {
    parse_lines(path, |_, text| Ok(Opening::from_board(Epd::parse(text)?.board)))
}

fn read_games(path: &Path, plies: usize) -> Result<Vec<Opening>, Error> {
    let mut openings = Vec::new();
    for piece in pieces(path)? {
        for game in piece?.games(None) {
            let place =
                |broken: BrokenGame| Error::content(path, format!("game at line {}", broken.line), broken.problem);
            let game = game.map_err(place)?;
            let moves = game.moves.iter().take(plies).map(|played| played.mv).collect();
            openings.push(Opening { start: game.start, moves });
        }
    }
    Ok(openings)
}

/// Puts openings into the order that belongs to a seed.
pub fn shuffle(openings: &mut [Opening], seed: u64) {
    let mut rng = random(seed, 0);
    for i in (1..openings.len()).rev() {
        openings.swap(i, rng.random_range(0..=i));
    }
}

/// The starting positions of the games that are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The one of standard chess.
    #[default]
    Standard,
    /// The 960 of Chess960, with equal chances.
    Chess960,
    /// Those where both sides have a first rank of Chess960, each its own.
    DoubleChess960,
}

impl Variant {
    /// Whether it is standard chess.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        *self == Variant::Standard
    }

    /// One of the starting positions.
    pub(crate) fn draw(self, rng: &mut Pcg64) -> Board {
        let mut number = || rng.random_range(0..CHESS960_POSITIONS);
        match self {
            Variant::Standard => Board::startpos(),
            Variant::Chess960 => Board::chess960([number(); 2]),
            Variant::DoubleChess960 => Board::chess960([number(), number()]),
        }
    }
}

/// What made openings are like.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Openings of different seeds have nothing to do with each other.
    pub seed: u64,
    /// How many random moves are played.
    pub plies: RangeInclusive<u32>,
    /// The largest advantage of either side that is accepted, in search units.
    pub limit: Value,
    /// Where the random moves begin, chosen at random; a starting position of the variant if there is nothing here.
    pub starts: Vec<Opening>,
    /// Which starting positions there are.
    pub variant: Variant,
}

impl Recipe {
    /// Eight to eleven random moves and an advantage of at most 120 units of search, a third of what wins half of the
    /// games.
    #[must_use]
    pub fn new(seed: u64) -> Recipe {
        Recipe { seed, plies: 8..=11, limit: 120, starts: Vec::new(), variant: Variant::Standard }
    }
}

/// Makes openings without end. `judge` gives the value of a game's position for the side to move, from a
/// short search, and must depend on nothing but the game.
pub struct RandomOpenings<J> {
    recipe: Recipe,
    judge: J,
    attempt: u64,
    seen: HashSet<u64>,
    /// Makes a share of them, if there is one.
    natural: Option<Natural>,
}

impl<J: FnMut(&Game) -> Value> RandomOpenings<J> {
    /// Openings by this recipe.
    pub fn new(recipe: Recipe, judge: J) -> RandomOpenings<J> {
        RandomOpenings { recipe, judge, attempt: 0, seen: HashSet::new(), natural: None }
    }

    /// The same with a share of openings whose moves `weights` find natural.
    #[must_use]
    pub fn with_natural(self, share: f64, weights: Arc<Weights>) -> RandomOpenings<J> {
        RandomOpenings { natural: Natural::new(share, weights), ..self }
    }

    /// What the next attempt brings, if it is any good.
    fn attempt(&mut self) -> Option<Opening> {
        let mut rng = random(self.recipe.seed, self.attempt);
        self.attempt += 1;
        let mut opening = match &self.recipe.starts[..] {
            [] => Opening::from_board(self.recipe.variant.draw(&mut rng)),
            starts => starts[rng.random_range(0..starts.len())].clone(),
        };
        let mut game = opening.game();
        let natural = self.natural.as_mut().filter(|natural| natural.is_next(&mut rng));
        match natural {
            Some(natural) => natural.walk(&mut game, &mut opening, &mut rng)?,
            None => {
                let plies = rng.random_range(self.recipe.plies.clone());
                walk(&mut game, &mut opening, plies, |board| random_move(board, &mut rng))?;
            }
        }
        let quiet = game.ending().is_none() && !game.board().in_check();
        let fresh = quiet && self.seen.insert(game.board().key());
        (fresh && (self.judge)(&game).abs() <= self.recipe.limit).then_some(opening)
    }
}

impl<J: FnMut(&Game) -> Value> Iterator for RandomOpenings<J> {
    type Item = Opening;

    /// Always finds one, unless a thousand attempts in a row fail: then no position near the starts is
    /// balanced in the judge's eyes.
    fn next(&mut self) -> Option<Opening> {
        (0..1_000).find_map(|_| self.attempt())
    }
}

/// Draws moves as players with some sense open a game: the better after a look at the replies, the likelier.
///
/// No book is as large as what comes of this, and none is needed: after a few moves of each side pieces are developed, kings castle,
/// pawns stand in the center or are exchanged there, in ever other ways.
pub struct Natural {
    /// The share of openings that are to be natural.
    share: f64,
    searcher: LeafSearcher,
}

impl Natural {
    /// Plies of an opening.
    const PLIES: RangeInclusive<u32> = 6..=16;
    /// Plies before quiescence by which a move is judged.
    const DEPTH: u32 = 1;
    /// A move that is worse than another by so much, in units of search, is e times less likely: a fifth of a pawn.
    const TEMPERATURE: f64 = WINS_HALF as f64 / 5.0;
    /// A move that is worse than the best by so many temperatures is not played.
    const WORST: f64 = 4.0;
    /// Nodes for a move; few need more than a thousand.
    const NODES: u64 = 20_000;

    /// Draws moves that these weights find natural, for a share of the openings; nothing for no share.
    #[must_use]
    pub fn new(share: f64, weights: Arc<Weights>) -> Option<Natural> {
        (share > 0.0).then(|| Natural { share, searcher: LeafSearcher::new(weights) })
    }

    /// Says what is wrong with a share that cannot be meant.
    pub(crate) fn check(share: f64) -> Result<(), String> {
        match (0.0..=1.0).contains(&share) {
            true => Ok(()),
            false => Err(format!("natural must be 0 to 1, not {share}")),
        }
    }

    /// Whether the next opening is to be natural.
    pub(crate) fn is_next(&self, rng: &mut Pcg64) -> bool {
        rng.random_bool(self.share)
    }

    /// Plays an opening's moves. Nothing if the game ended.
    pub(crate) fn walk(&mut self, game: &mut Game, opening: &mut Opening, rng: &mut Pcg64) -> Option<()> {
        let plies = rng.random_range(Natural::PLIES);
        walk(game, opening, plies, |board| self.draw(board, rng))
    }

    /// One of the moves of a position, if there are any.
    fn draw(&mut self, board: &Board, rng: &mut Pcg64) -> Option<ChessMove> {
        let margin = (Natural::WORST * Natural::TEMPERATURE) as Value;
        let mut best = -INFINITE;
        let mut moves: Vec<(ChessMove, Value)> = Vec::new();
        self.searcher.begin_position();
        for &mv in board.moves().iter() {
            let budget = LeafBudget { nodes: Natural::NODES, stop: &AtomicBool::new(false) };
            // What is far below the best need not be known exactly.
            let beta = margin.saturating_sub(best).min(INFINITE);
            let after = board.after(mv);
            let Ok(reply) = self.searcher.search(&after, Natural::DEPTH, (-INFINITE, beta), &budget) else {
                continue;
            };
            best = best.max(-reply.value);
            moves.push((mv, -reply.value));
        }
        let chance = |value: Value| match value + margin >= best {
            true => (f64::from(value - best) / Natural::TEMPERATURE).exp(),
            false => 0.0,
        };
        let mut left = rng.random_range(0.0..1.0) * moves.iter().map(|&(_, value)| chance(value)).sum::<f64>();
        let drawn = moves.iter().find(|&&(_, value)| {
            left -= chance(value);
            left < 0.0
        });
        drawn.or_else(|| moves.iter().max_by_key(|&&(_, value)| value)).map(|&(mv, _)| mv)
    }
}

/// Nodes by which an opening of a match is judged.
pub const JUDGE_NODES: u64 = 3_000;

/// A judge that searches: what each position is worth after so many nodes, with an engine that has
/// forgotten all others.
pub fn judge(weights: Arc<Weights>, nodes: u64) -> impl FnMut(&Game) -> Value + Send {
    // A small table is soon emptied.
    let mut engine = Engine::with_hash(weights, 1).expect("memory for the smallest table");
    let limits = Limits::nodes(nodes);
    let control = Control::new(false);
    move |game| {
        engine.clear();
        engine.search(game, &limits, &Options::default(), &control, &mut |_| ()).value
    }
}

/// Plays so many moves, drawn one by one, as an opening's. Nothing if there was none to draw.
pub(crate) fn walk(
    game: &mut Game,
    opening: &mut Opening,
    plies: u32,
    mut draw: impl FnMut(&Board) -> Option<ChessMove>,
) -> Option<()> {
    for _ in 0..plies {
        let mv = draw(game.board())?;
        game.push(mv);
        opening.moves.push(mv);
    }
    Some(())
}

/// One of the moves that lose no material at once, or of all moves if they all do.
fn random_move(board: &Board, rng: &mut Pcg64) -> Option<ChessMove> {
    let moves = board.moves();
    let sound: Vec<ChessMove> = moves.iter().copied().filter(|&mv| board.see_ge(mv, 0)).collect();
    let from = if sound.is_empty() { &moves[..] } else { &sound[..] };
    any_move(from, rng)
}

/// One of these moves, if there are any.
pub(crate) fn any_move(moves: &[ChessMove], rng: &mut Pcg64) -> Option<ChessMove> {
    (!moves.is_empty()).then(|| moves[rng.random_range(0..moves.len())])
}

fn random(seed: u64, stream: u64) -> Pcg64 {
    Pcg64::seed_from_u64(hash::fold(hash::mix(seed), stream))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::testing::Temporary;
    use std::fs;

    /// Counts pieces, as a judge that needs no search.
    fn material(game: &Game) -> Value {
        let board = game.board();
        let pieces = |color| board.colors(color).popcnt() as Value;
        100 * (pieces(board.side_to_move()) - pieces(!board.side_to_move()))
    }

    fn made(seed: u64, count: usize) -> Vec<Opening> {
        RandomOpenings::new(Recipe::new(seed), material).take(count).collect()
    }

    /// What is read of a file of this name and text.
    fn read_text(name: &str, text: &str, plies: usize) -> Result<Vec<Opening>, Error> {
        let folder = Temporary::folder();
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        read(&path, plies)
    }

    #[test]
    fn made_openings_belong_to_their_seed() {
        let openings = made(7, 200);
        assert_eq!(openings, made(7, 200));
        assert_ne!(openings, made(8, 200));
        assert_eq!(openings[..20], made(7, 20));
    }

    #[test]
    fn made_openings_are_varied_balanced_and_playable() {
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
    fn chess960_openings_begin_all_over_it() {
        let starts = |variant| -> Vec<Board> {
            let recipe = Recipe { variant, ..Recipe::new(3) };
            RandomOpenings::new(recipe, material).take(300).map(|opening| opening.start).collect()
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

    /// They are balanced and varied as others are, belong to their seed, and keep to what a player of sense would do: queens
    /// and pieces are not lost, and most moves bring out a piece or a pawn of the center.
    #[test]
    fn natural_openings_are_those_of_sense() {
        let made = |share, seed| -> Vec<Opening> {
            let openings = RandomOpenings::new(Recipe::new(seed), material);
            openings.with_natural(share, Weights::embedded()).take(40).collect()
        };
        let natural = made(1.0, 4);
        assert_eq!(natural, made(1.0, 4));
        assert_ne!(natural, made(1.0, 5));
        assert_eq!(made(0.0, 4), RandomOpenings::new(Recipe::new(4), material).take(40).collect::<Vec<_>>());
        let firsts: HashSet<String> = natural.iter().map(|opening| opening.moves[0].to_string()).collect();
        assert!(firsts.len() >= 5 && firsts.contains("e2e4") && firsts.contains("d2d4"), "{firsts:?}");
        let boards: HashSet<u64> = natural.iter().map(|opening| opening.board().key()).collect();
        assert_eq!(boards.len(), natural.len());
        let sound = |opening: &Opening| {
            let mut board = opening.start;
            opening
                .moves
                .iter()
                .filter(|&&mv| {
                    let sound = board.see_ge(mv, 0);
                    board = board.after(mv);
                    sound
                })
                .count()
        };
        let plies = |openings: &[Opening]| openings.iter().map(|opening| opening.moves.len()).sum::<usize>();
        assert!(natural.iter().all(|opening| (6..=16).contains(&opening.moves.len())));
        assert!(natural.iter().map(sound).sum::<usize>() * 100 >= plies(&natural) * 98);
        // What strong players would call a good position to begin with is worth little to either side, after random moves it is not.
        let advantage = |openings: &[Opening]| {
            let mut judge = judge(Weights::embedded(), 500);
            openings.iter().map(|opening| judge(&opening.game()).abs()).sum::<Value>() / openings.len() as Value
        };
        let random = made(0.0, 4);
        assert!(2 * advantage(&natural) < advantage(&random), "{} {}", advantage(&natural), advantage(&random));
        let mixed = made(0.5, 4);
        assert!(
            (10..=30).contains(
                &mixed.iter().filter(|opening| natural.contains(opening) || opening.moves.len() > 11).count()
            )
        );
    }

    #[test]
    fn an_impossible_recipe_ends() {
        let recipe = Recipe { limit: -1, ..Recipe::new(1) };
        assert_eq!(RandomOpenings::new(recipe, material).next(), None);
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
    fn faults_name_file_and_line() {
        let error = read_text("bad.epd", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\nnonsense\n", 8)
            .unwrap_err()
            .to_string();
        assert!(error.contains("bad.epd") && error.contains("line 2"), "{error}");
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
