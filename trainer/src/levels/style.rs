//! The style of one player: the move model, fine-tuned on their games.
//!
//! A player's games are far too few to train a move model. So the training starts from the model at the rating at which
//! their moves are likeliest, and L2 regularization toward it (a Gaussian prior) lets a coefficient move only as far as
//! the moves support. The strength of the regularization is chosen on the last games: each strength is trained on the
//! others, the one with the smallest loss is taken, and finally all games are used.
//!
//! The result is a move model that is the same at every rating.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::files::OwnFolder;
use dyad_engine::levels::analysis::{DEPTHS, PLIES};
use dyad_engine::levels::file::{MoveModel, round};
use dyad_engine::levels::model::{COEFFICIENTS, SPLINE_KNOTS, SkillLevel, basis};
use dyad_formats::atomic::write_atomic;
use dyad_formats::error::Error;
use dyad_formats::hash;
use serde::{Deserialize, Serialize};

use crate::base::context::{Context, Progress};
use crate::base::number::number;
use crate::data::positions::PERCENT;
use crate::levels::estimate::likeliest;
use crate::levels::examples::MoveExample;
use crate::levels::measure::FIRST_PLY;
use crate::levels::prepare::{PlayedGame, RecordCandidate, analyze_all, has_a_choice, identity, read_games};
use crate::levels::records::{self, Offsets};
use crate::levels::training::{self, ModelQuality, descend, quality};

/// Settings of a style training.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct StyleSettings {
    /// Positions at most, drawn from all games
    #[arg(long, value_name = "N", value_parser = number::<usize>(1..), default_value_t = Self::default().positions)]
    pub positions: usize,
    /// Percentage of the games, the last ones, that select the regularization
    #[arg(long, value_name = "PERCENT", value_parser = number(PERCENT), default_value_t = Self::default().test_percent)]
    pub test_percent: f64,
    /// Strengths of L2 to try: the weight of half the squared distance of a coefficient from its initial value, against
    /// the sum of the losses of all positions.
    #[arg(skip = Self::default().pulls)]
    pub pulls: Vec<f64>,
    /// Number of epochs.
    #[arg(skip = Self::default().epochs)]
    pub epochs: u32,
    /// Initial learning rate (Adam).
    #[arg(skip = Self::default().rate)]
    pub rate: f64,
    /// Seed of all draws
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
    pub seed: u64,
}

impl Default for StyleSettings {
    fn default() -> StyleSettings {
        StyleSettings {
            positions: 8000,
            test_percent: 20.0,
            pulls: vec![10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0],
            epochs: 12,
            rate: 0.02,
            seed: 1,
        }
    }
}

/// The games of a player.
pub struct PlayerGames<'a> {
    /// Games (PGN), also of other players.
    pub files: &'a [PathBuf],
    /// The player's name in the games.
    pub player: &'a str,
}

/// A trained style.
#[derive(Clone, Debug)]
pub struct Style {
    /// The style as a move model.
    pub model: MoveModel,
    /// Games of the player.
    pub games: usize,
    /// Positions used.
    pub positions: usize,
    /// Rating at which the general model makes the moves likeliest.
    pub rating: u32,
    /// Chosen strength of L2.
    pub l2: f64,
    /// Quality of the general model at that rating on the last games, from the sixth move.
    pub before: ModelQuality,
    /// Quality on the last games of the style trained on the others.
    pub after: ModelQuality,
}

/// Minimum number of positions.
pub const FEWEST: usize = 200;

/// Trains a player's style and writes it to `out`. The analysis is stored next to it as `NAME.records` until the
/// training is done; the same call resumes a stopped training. Reports the positions analyzed.
///
/// # Errors
/// When games cannot be read, the player has too few, the work was stopped, or files cannot be written.
pub fn learn(
    settings: &StyleSettings,
    PlayerGames { files, player }: PlayerGames,
    model: &MoveModel,
    weights: &Arc<Weights>,
    out: &Path,
    context: &mut Context<Progress>,
) -> Result<Style, Error> {
    let (games, broken) = read_games(files, |_| ())?;
    let candidates = choose(settings, &games, player);
    if candidates.len() < FEWEST {
        return Err(too_few(player, &games, candidates.len(), broken));
    }
    let records_path = records_path(out);
    let header = serde_json::json!({
        "settings": { "positions": settings.positions, "test-percent": settings.test_percent, "seed": settings.seed },
        "player": player, "positions": format!("{:016x}", identity(settings.seed, &games, &candidates)),
        "weights": weights.id(), "plies": PLIES,
    });
    // Temporary records of a stopped training with other games are not needed any more.
    records::remove_outdated(&records_path, &header, |header| header["player"].is_string())?;
    // The user did not name this file.
    let own =
        OwnFolder::new(records_path.parent().unwrap_or(Path::new(""))).map_err(Error::file("open", &records_path))?;
    analyze_all(&games, &candidates, weights, (&records_path, &header), context)?;
    drop(own);
    let (_, records) = records::read(&records_path)?;
    // All ratings are those of the first knot, so that only this knot is trained.
    let at_first_knot =
        |record| MoveExample { rating: SPLINE_KNOTS[0], ..MoveExample::new(record, &Offsets::default()) };
    let examples: Vec<MoveExample> = records.iter().map(at_first_knot).collect();
    let mut style = fit(settings, model, &examples, context.stop)?;
    style.games = games_of(&games, player).count();
    style.model.name = player.to_string();
    style.model.made = serde_json::json!({
        "player": player, "games": style.games, "positions": style.positions, "rating": style.rating,
        "settings": settings, "from": model.name, "pull": style.l2, "records": header,
        "held-out": {
            "positions": style.after.count, "loss": round(style.after.loss), "accuracy": round(style.after.accuracy),
            "loss-of-the-level": round(style.before.loss), "accuracy-of-the-level": round(style.before.accuracy),
        },
    });
    write_atomic(out, style.model.to_json().as_bytes()).map_err(Error::file("write", out))?;
    // Quickly made again, and not needed any more.
    records::remove(&records_path)?;
    Ok(style)
}

/// Path of the temporary records.
#[must_use]
pub fn records_path(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_os_string();
    name.push(".records");
    out.with_file_name(name)
}

fn games_of<'a>(games: &'a [PlayedGame], player: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let sides = move |(number, game): (usize, &'a PlayedGame)| {
        let names = [game.names[0].as_str(), game.names[1].as_str()];
        (0..2).filter(move |&side| names[side].eq_ignore_ascii_case(player)).map(move |side| (number, side))
    };
    games.iter().enumerate().flat_map(sides)
}

/// The error of too few positions, with the players of the most games: the name may be misspelled.
fn too_few(player: &str, games: &[PlayedGame], positions: usize, broken: usize) -> Error {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for name in games.iter().flat_map(|game| &game.names).filter(|name| !matches!(name.as_str(), "" | "?")) {
        *counts.entry(name).or_default() += 1;
    }
    let mut names: Vec<(&str, usize)> = counts.into_iter().collect();
    names.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    let most: Vec<String> = names.iter().take(5).map(|(name, count)| format!("{name} ({count} games)")).collect();
    let most = if most.is_empty() { "players without a name".to_string() } else { most.join(", ") };
    Error::Settings(format!(
        "{positions} positions of '{}' where {FEWEST} are needed ({} games from the usual position were read, {broken} were broken); most games are of {most}",
        player,
        games.len(),
    ))
}

/// The player's positions, those of the last games as a test.
fn choose(settings: &StyleSettings, games: &[PlayedGame], player: &str) -> Vec<RecordCandidate> {
    let own: Vec<(usize, usize)> = games_of(games, player).collect();
    let learned = own.len() - (own.len() as f64 * settings.test_percent.clamp(0.0, 90.0) / 100.0).ceil() as usize;
    let mut candidates = Vec::new();
    for (index, &(number, side)) in own.iter().enumerate() {
        let game = &games[number];
        let draw = hash::fold(hash::fold(settings.seed, game.hash), side as u64);
        let plies = (side..game.moves.len()).step_by(2);
        candidates.extend(plies.map(|ply| RecordCandidate {
            order: hash::fold(draw, ply as u64),
            game: number,
            ply,
            band: 0,
            test: index >= learned,
        }));
    }
    candidates.sort_unstable_by_key(|candidate| (candidate.order, candidate.game, candidate.ply));
    let chosen = candidates.into_iter().filter(|candidate| has_a_choice(&games[candidate.game], candidate.ply));
    chosen.take(settings.positions).collect()
}

/// Fits the style to the examples.
fn fit(
    settings: &StyleSettings,
    model: &MoveModel,
    examples: &[MoveExample],
    control: &Control,
) -> Result<Style, Error> {
    let (test, learned): (Vec<&MoveExample>, Vec<&MoveExample>) = examples.iter().partition(|example| example.test);
    let counted: Vec<&MoveExample> = learned.iter().copied().filter(|example| example.ply >= FIRST_PLY).collect();
    let (rating, _) = likeliest(&model.parameters, &counted);
    let start = everywhere(&model.parameters, f64::from(rating));
    let tested = || test.iter().copied().filter(|example| example.ply >= FIRST_PLY);
    let before = quality(&start, None, tested());
    let mut best: Option<(f64, ModelQuality)> = None;
    for &l2 in &settings.pulls {
        if control.stopped() {
            return Err(Error::Stopped);
        }
        let after = quality(&toward(settings, &start, &learned, l2), None, tested());
        if best.as_ref().is_none_or(|(_, best)| after.loss < best.loss) {
            best = Some((l2, after));
        }
    }
    let (l2, after) = best.ok_or_else(|| Error::Settings("pulls: none is given".to_string()))?;
    let all: Vec<&MoveExample> = examples.iter().collect();
    let parameters = toward(settings, &start, &all, l2).into_iter().map(round).collect();
    let model = MoveModel { calibration: Vec::new(), parameters, ..model.clone() };
    Ok(Style { model, games: 0, positions: examples.len(), rating, l2, before, after })
}

/// The coefficients of one rating, copied to every knot.
fn everywhere(parameters: &[f64], rating: f64) -> Vec<f64> {
    let shares = basis(rating);
    let at = |coefficient: usize| -> f64 {
        let knots = &parameters[coefficient * SPLINE_KNOTS.len()..][..SPLINE_KNOTS.len()];
        knots.iter().zip(shares).map(|(knot, share)| knot * share).sum()
    };
    (0..COEFFICIENTS).flat_map(|coefficient| [at(coefficient); SPLINE_KNOTS.len()]).collect()
}

/// Trains from `start` with L2 toward it, on examples at the first knot.
fn toward(settings: &StyleSettings, start: &[f64], examples: &[&MoveExample], l2: f64) -> Vec<f64> {
    let l2 = l2 / examples.len().max(1) as f64;
    let descent = training::LevelSettings {
        epochs: settings.epochs,
        batch: 64,
        rate: settings.rate,
        seed: settings.seed,
        ..training::LevelSettings::default()
    };
    let back = |parameters: &[f64], gradient: &mut [f64]| {
        for ((slope, now), start) in gradient.iter_mut().zip(parameters).zip(start) {
            *slope += l2 * (now - start);
        }
    };
    let trained = descend(&descent, start.to_vec(), examples, back, |_, _| ());
    everywhere(&trained, SPLINE_KNOTS[0])
}

/// A one-sentence summary.
#[must_use]
pub fn summary(style: &Style) -> String {
    let Style { games, positions, rating, before, after, .. } = style;
    let percent = |quality: &ModelQuality| 100.0 * quality.accuracy;
    format!(
        "{positions} positions of {games} games, most like players rated {rating} (on the scale of Lichess); of the last games \
         (tested before they were learned from, {} positions) it expects {:.1} % of the moves, loss {:.4}; the model at that \
         rating {:.1} %, loss {:.4}",
        after.count,
        percent(after),
        after.loss,
        percent(before),
        before.loss,
    )
}

/// Difference of each feature of a style from the model at its rating, largest first: name and difference of the
/// utility, mean over the depths.
#[must_use]
pub fn traits(style: &MoveModel, model: &MoveModel, rating: f64) -> Vec<(&'static str, f64)> {
    let (own, others) = (SkillLevel::new(&style.parameters, rating), SkillLevel::new(&model.parameters, rating));
    let names = dyad_engine::levels::features::NAMES.iter().enumerate();
    let mean = |level: &SkillLevel, feature: usize| -> f64 {
        (0..DEPTHS).map(|depth| level.coefficients[SkillLevel::depth_feature(depth, feature)]).sum::<f64>()
            / DEPTHS as f64
    };
    let difference = |feature: usize| mean(&own, feature) - mean(&others, feature);
    let mut traits: Vec<(&str, f64)> = names.map(|(feature, &name)| (name, difference(feature))).collect();
    traits.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    traits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::testing::{GAMES, played};
    use dyad_engine::levels::file::Strength;
    use dyad_engine::levels::model::{FIRST_DEPTH_FEATURE, FIRST_SQUARE_FEATURE};
    use dyad_formats::testing::Temporary;

    fn learned(folder: &Path, name: &str, pgn: &str, player: &str, threads: usize) -> Result<Style, Error> {
        learned_under(&Control::new(false), folder, name, pgn, player, threads)
    }

    fn learned_under(
        control: &Control,
        folder: &Path,
        name: &str,
        pgn: &str,
        player: &str,
        threads: usize,
    ) -> Result<Style, Error> {
        let games = folder.join("games.pgn");
        std::fs::write(&games, pgn).unwrap();
        let settings = StyleSettings { pulls: vec![10.0, 100.0], ..StyleSettings::default() };
        let games = PlayerGames { files: &[games], player };
        let mut context = Context { threads, stop: control, on_event: &mut |_| () };
        let (model, weights) = (MoveModel::embedded(), Weights::embedded());
        learn(&settings, games, &model, &weights, &folder.join(name), &mut context)
    }

    /// A player who moves like the model but loves the edge of the board is recognized on held-out games.
    #[test]
    fn a_style_predicts_its_player_better_than_the_general_model() {
        let mut model = (*MoveModel::embedded()).clone();
        let squares = FIRST_SQUARE_FEATURE * SPLINE_KNOTS.len()..FIRST_DEPTH_FEATURE * SPLINE_KNOTS.len();
        for (index, parameter) in model.parameters[squares].iter_mut().enumerate() {
            let bend = hash::unit(hash::mix((index / SPLINE_KNOTS.len()) as u64)) - 0.5;
            *parameter += 4.0 * bend;
        }
        let strength = Strength { rating: 1500.0, inverse_temperature: 0.0, nodes: 0 };
        let model = Arc::new(model);
        let pgn: String = (0..12).map(|seed| played(&model, strength, seed, 100)).collect();
        let folder = Temporary::folder();
        let style = learned(&folder, "a.json", &pgn, "X", 2).unwrap();
        assert_eq!((style.games, style.model.calibration.len()), (12, 0));
        assert!(style.after.loss < style.before.loss - 0.02, "{:?} {:?}", style.after, style.before);
        let text = std::fs::read(folder.join("a.json")).unwrap();
        assert!(text.len() < 200_000 && !folder.join("a.json.records").exists());
        let read = MoveModel::from_json(&text).unwrap();
        assert_eq!(read, style.model);
        let at = |rating: f64| SkillLevel::new(&read.parameters, rating).coefficients;
        assert_eq!(at(900.0), at(2500.0), "a style has no rating");
        assert_eq!(learned(&folder, "b.json", &pgn, "x", 1).unwrap().model.parameters, style.model.parameters);
        assert!(!traits(&style.model, &MoveModel::embedded(), 1500.0).is_empty());
    }

    #[test]
    fn outdated_records_of_a_stopped_training_are_replaced() {
        let (folder, control) = (Temporary::folder(), Control::new(false));
        let strength = Strength { rating: 1500.0, inverse_temperature: 0.0, nodes: 0 };
        let games: Vec<String> = (0..9).map(|seed| played(&MoveModel::embedded(), strength, seed, 100)).collect();
        control.stop();
        let stopped = |pgn: &[String]| learned_under(&control, &folder, "a.json", &pgn.concat(), "X", 1);
        let records = folder.join("a.json.records");
        let header = || records::read(&records).unwrap().0;
        assert!(matches!(stopped(&games[1..]), Err(Error::Stopped)));
        let before = header();
        // With other games the records are replaced, with the same games they are continued.
        for _ in 0..2 {
            assert!(matches!(stopped(&games), Err(Error::Stopped)));
            assert_ne!(header(), before);
        }
        let mut older = std::fs::read(&records).unwrap();
        older[7] = b'1';
        std::fs::write(&records, older).unwrap();
        assert!(matches!(stopped(&games), Err(Error::Stopped)) && header() != before);
        // Records not made for a style are not touched.
        let mut writer = records::Writer::open(&folder.join("b.json.records"), &serde_json::json!({})).unwrap();
        writer.sync().unwrap();
        drop(writer);
        let refused = learned_under(&control, &folder, "b.json", &games.concat(), "X", 1).unwrap_err().to_string();
        assert!(refused.contains("other games or settings"), "{refused}");
    }

    #[test]
    fn an_unknown_player_gets_a_list_of_players() {
        let problem = learned(&Temporary::folder(), "a.json", GAMES, "Nobody", 1).unwrap_err().to_string();
        assert!(problem.contains("'Nobody'") && problem.contains("a (1 games)"), "{problem}");
    }
}
