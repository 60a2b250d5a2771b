//! Estimates a player's rating from games: the rating at which the model makes the moves played most likely.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::game::BrokenGame;
use dyad_levels::analysis::MoveAnalyzer;
use dyad_levels::file::MoveModel;
use dyad_levels::model::SkillLevel;

use crate::base::context::Context;
use crate::base::number::number;
use crate::base::parallel::ordered_for_each;
use crate::base::words::counted;
use crate::levels::examples::MoveExample;
use crate::levels::prepare::{HeldOut, PlayedGame, RecordSettings, read_games, record};
use crate::levels::records::{Offsets, Pool};

/// Range and step of the ratings tried.
const RATINGS: (u32, u32, u32) = (400, 2900, 20);
/// Log-likelihood drop at the ends of the interval: 95 % by the chi-squared distribution with one degree of freedom.
const DROP: f64 = 1.92;

/// The games and players of an estimation.
#[derive(Debug, Args)]
#[group(skip)]
pub struct EstimateInput {
    /// Games (PGN, also packed; `-` is standard input)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Players to estimate: part of a name, ignoring case [default: all]
    #[arg(long, value_name = "NAME")]
    pub player: Option<String>,
    /// Games that a player must have
    #[arg(long, value_name = "N", value_parser = number::<usize>(1..), default_value_t = 1)]
    pub min_games: usize,
    /// At most N players, those with the most games first
    #[arg(long, value_name = "N", value_parser = number::<usize>(1..), default_value_t = 20)]
    pub max_players: usize,
    /// Only players whom `dyad level prepare` holds out of these files
    #[arg(long)]
    pub held_out: bool,
}

/// Most games of a player from which a rating is estimated: the interval is narrow then.
const MOST_GAMES: usize = 20;

/// A rating estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct RatingEstimate {
    /// Name in the games.
    pub name: String,
    /// Games used.
    pub games: usize,
    /// Moves used.
    pub moves: usize,
    /// Rating system of the games and of the ratings.
    pub pool: Pool,
    /// Mean of the ratings in the games.
    pub written: Option<f64>,
    /// The most likely rating.
    pub rating: u32,
    /// The 95 % interval.
    pub interval: [u32; 2],
}

/// Moves before this ply are opening theory.
const FIRST_PLY: usize = 10;

/// Fewest moves of an estimate: with less the interval is as wide as the scale.
pub const FEWEST_MOVES: usize = 10;

/// What an estimation reports.
#[derive(Debug)]
pub enum EstimateEvent {
    /// A player.
    Estimate(RatingEstimate),
    /// A game cannot be read and is skipped.
    Broken(BrokenGame),
    /// What else is skipped.
    Note(String),
}

/// Games of a player, with the player's side.
type Sides<'a> = Vec<(&'a PlayedGame, usize)>;

/// Estimates players in turn, those with the most games first, and reports each.
///
/// # Errors
/// When games cannot be read, or the work was stopped.
pub fn estimate(
    model: &MoveModel,
    weights: &Arc<Weights>,
    input: &EstimateInput,
    context: &mut Context<EstimateEvent>,
) -> Result<(), Error> {
    let on_broken = |broken| (context.on_event)(EstimateEvent::Broken(broken));
    let (mut games, left_out, unread) = read_games(&input.files, on_broken)?;
    for (reason, count) in left_out {
        let games = counted(count as u64, "game", "games");
        (context.on_event)(EstimateEvent::Note(format!("{games} left out: {}", reason.name())));
    }
    if !unread.is_empty() {
        (context.on_event)(EstimateEvent::Note(unread.to_string()));
    }
    // The held-out players depend on the games that `prepare` would use.
    if input.held_out {
        games.retain(|game| game.ratings.iter().any(Option::is_some));
    }
    let settings = RecordSettings::default();
    let held_out = HeldOut::new(&settings, &games);
    let part = input.player.as_ref().map(|part| part.to_lowercase());
    let mut players: BTreeMap<(&str, u64, Pool), Sides> = BTreeMap::new();
    for game in &games {
        for side in 0..2 {
            let (name, id) = (game.names[side].as_str(), game.players[side]);
            let wanted = part.as_ref().is_none_or(|part| name.to_lowercase().contains(part));
            if wanted && !matches!(name, "" | "?") && (!input.held_out || held_out.holds(id)) {
                players.entry((name, id, game.pool)).or_default().push((game, side));
            }
        }
    }
    let mut players: Vec<_> = players.into_iter().filter(|(_, games)| games.len() >= input.min_games).collect();
    players.sort_by_key(|(key, games)| (std::cmp::Reverse(games.len()), *key));
    players.truncate(input.max_players);
    for ((name, _, pool), games) in players {
        let games = &games[..games.len().min(MOST_GAMES)];
        let mut examples = Vec::new();
        ordered_for_each(
            context.threads,
            games.iter(),
            || Ok::<_, Error>(MoveAnalyzer::new(Arc::clone(weights))),
            |analyzer, (game, side)| {
                let examples = moves_of(analyzer, game, *side, context.stop);
                if context.stop.stopped() { Err(Error::Stopped) } else { Ok(examples) }
            },
            |more| {
                examples.extend(more);
                Ok(())
            },
        )?;
        if examples.len() < FEWEST_MOVES {
            let moves = counted(examples.len() as u64, "move", "moves");
            let note = format!("{name}: {moves}, too few for an estimate ({FEWEST_MOVES})");
            (context.on_event)(EstimateEvent::Note(note));
            continue;
        }
        let ratings: Vec<f64> = games.iter().filter_map(|(game, side)| game.ratings[*side]).map(f64::from).collect();
        let written = (!ratings.is_empty()).then(|| ratings.iter().sum::<f64>() / ratings.len() as f64);
        let (rating, interval) = likeliest(&model.parameters, &examples.iter().collect::<Vec<_>>());
        let offset = pool.offset(&Offsets::of(model));
        let of_pool = |rating: u32| (f64::from(rating) - offset).max(0.0).round() as u32;
        (context.on_event)(EstimateEvent::Estimate(RatingEstimate {
            name: name.to_string(),
            games: games.len(),
            moves: examples.len(),
            pool,
            written,
            rating: of_pool(rating),
            interval: interval.map(of_pool),
        }));
    }
    Ok(())
}

/// The moves of one side, without opening moves and forced moves.
fn moves_of(analyzer: &mut MoveAnalyzer, played: &PlayedGame, side: usize, control: &Control) -> Vec<MoveExample> {
    let mut game = Game::default();
    let mut examples = Vec::new();
    for (ply, &mv) in played.moves.iter().enumerate() {
        if ply % 2 == side && ply >= FIRST_PLY && game.board().count_moves() > 1 {
            examples.push(MoveExample::new(&record(analyzer, &game, mv, control), &Offsets::default()));
        }
        game.push(mv);
    }
    examples
}

/// The rating with the highest likelihood, and its interval.
fn likeliest(parameters: &[f64], examples: &[&MoveExample]) -> (u32, [u32; 2]) {
    let (from, to, step) = RATINGS;
    let likelihood = |rating: u32| -> f64 {
        let level = SkillLevel::new(parameters, f64::from(rating));
        examples.iter().map(|example| level.predict(&example.input).moves[example.played].max(1e-12).ln()).sum()
    };
    let curve: Vec<(u32, f64)> =
        (from..=to).step_by(step as usize).map(|rating| (rating, likelihood(rating))).collect();
    let (rating, highest) = curve.iter().copied().rev().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((from, 0.0));
    let likely = || curve.iter().filter(|(_, likelihood)| *likelihood >= highest - DROP).map(|&(rating, _)| rating);
    (rating, [likely().min().unwrap_or(from), likely().max().unwrap_or(to)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::testing::played;
    use dyad_formats::testing::Temporary;

    fn input(path: PathBuf) -> EstimateInput {
        let player = Some("x".to_string());
        EstimateInput { files: vec![path], player, min_games: 1, max_players: 9, held_out: false }
    }

    /// The estimates for player "x" in these games.
    fn estimates(model: &MoveModel, pgn: &str) -> Vec<RatingEstimate> {
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        std::fs::write(&path, pgn).unwrap();
        let control = Control::new(false);
        let mut found = Vec::new();
        let mut on_event = |event| {
            if let EstimateEvent::Estimate(estimate) = event {
                found.push(estimate);
            }
        };
        let mut context = Context { threads: 2, stop: &control, on_event: &mut on_event };
        estimate(model, &Weights::embedded(), &input(path), &mut context).unwrap();
        found
    }

    /// Games played by the model at a rating are estimated at about that rating.
    #[test]
    fn the_rating_of_the_model_is_recovered() {
        let model = MoveModel::embedded();
        let mut found = Vec::new();
        for rating in [800.0, 2600.0] {
            let mut pgn = String::new();
            for seed in 0..2 {
                pgn.push_str(&played(rating, seed, 60));
            }
            found.extend(estimates(&model, &pgn));
        }
        assert_eq!((found.len(), found[0].games, found[0].written), (2, 2, Some(800.0)));
        assert!(found[0].interval[0] <= found[0].rating && found[0].rating <= found[0].interval[1]);
        assert!(found[0].rating + 500 < found[1].rating, "{found:?}");
    }

    #[test]
    fn a_name_in_two_rating_systems_is_two_players() {
        let model = MoveModel::embedded();
        let games = [0, 1].map(|seed| played(1800.0, seed, 60));
        let on_site = |site: &str| games.each_ref().map(|game| format!("[Site \"{site}\"]\n{game}")).concat();
        let found = estimates(&model, &(on_site("FICS") + &on_site("https://lichess.org/x")));
        let [lichess, fics] = &found[..] else { panic!("{found:?}") };
        assert_eq!((lichess.pool, fics.pool, lichess.moves), (Pool::Lichess, Pool::Fics, fics.moves));
        assert_eq!(f64::from(lichess.rating), f64::from(fics.rating) + Offsets::of(&model).fics);
    }
}
