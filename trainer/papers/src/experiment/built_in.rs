//! `weights-default`: the built-in weights, with and without 2-tuples, from self-play games and older weights.
//!
//! The games start from unbalanced as well as balanced positions and use few nodes, so that their positions show what
//! exchanges decide. Weights are fitted from material alone to the search scores of the games, with positions resolved
//! by quiescence.
//!
//! The errors of such a fit and of weights of another origin differ, so their mean is better than either; with weights
//! that come from such a fit themselves it hardly is (T47). (Tuning that mean by short games gained in short games and
//! lost in longer ones: T42.)

use std::fs;

use dyad_engine::eval::layout::PAIRS;
use dyad_engine::eval::{FloatWeights, Weights};
use dyad_formats::error::Error;
use dyad_formats::score::ScoreSide;
use dyad_trainer::arena::openings;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::base::context::Progress;
use dyad_trainer::base::group_value::GroupValue;
use dyad_trainer::data::leaves::at_leaves;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::data::prepare::PrepareSettings;
use dyad_trainer::fit::averaging::{in_units_of_search, mean};
use dyad_trainer::fit::calibration::{pawns_of_e, scale_like};
use dyad_trainer::fit::regression::{self, Calibration, Data, FitSettings, Target};
use dyad_trainer::selftrain::generator::{GeneratorProgress, GeneratorSettings, generate};
use serde_json::{Value as Json, json};

use crate::experiment::page::score;
use crate::experiment::run::Run;
use crate::experiment::stem;
use crate::experiment::steps::{BOOK_PLIES, SAMPLES};

/// L2 of the 2-tuples, in positions: little against millions of positions.
const L2_OF_PAIRS: f64 = 100.0;
/// Weight of the results in the target. The search scores are better: half of results costs some 50 Elo (T38).
const RESULT_SHARE: f64 = 0.0;
/// Weight of a fit in the mean with weights of another origin, whose weight is 1.
const SHARE_OF_FIT: f64 = 2.0;
/// Positions of the self-play games.
const OWN: &str = "own";
/// Positions of the input games.
const GIVEN: &str = "given";
/// The fits: of all features, and without 2-tuples.
const FITTED: &str = "fitted";
const LINEAR: &str = "linear-fitted";

pub(super) fn steps(run: &mut Run) -> Result<(), Error> {
    // Numbers of the sizes tiny, small, night and full.
    let games = run.pick([24, 20_000, 60_000, 120_000]);
    let nodes = run.pick([40, 1_000, 1_000, 1_000]);
    let passes = run.pick([2, 8, 8, 8]);
    let positions = run.pick([200, 300_000, 300_000, 300_000]);
    let limits = SearchLimits::Nodes(run.pick([30, 2_500, 20_000, 20_000]));
    let pairs = run.pick([1, 500, 500, 500]);

    let mut given = run.settings.weights.iter().map(|path| stem(path));
    let player = given.next().unwrap_or_else(|| "default".to_string());
    let other = given.next().unwrap_or_else(|| player.clone());
    let without_pairs = given.next();
    own_games(run, &player, games, nodes)?;
    let filters = Filters { quiet: true, min_ply: 10, ..Filters::default() };
    run.prepare(GIVEN, &run.settings.games_file, filters, positions, 5.0)?;
    let mut fits = Vec::new();
    fits.push(fit(run, FITTED, &player, true, passes, &player)?);
    mean_of(run, "trained", &[(FITTED, SHARE_OF_FIT), (&other, 1.0)])?;
    fits.push(fit(run, LINEAR, &player, false, passes, without_pairs.as_ref().unwrap_or(&player))?);
    match &without_pairs {
        Some(other) => mean_of(run, "linear", &[(LINEAR, SHARE_OF_FIT), (other, 1.0)])?,
        None => mean_of(run, "linear", &[(LINEAR, SHARE_OF_FIT)])?,
    }
    run.text(
        "The fits begin with the pieces alone. The mean of twice a fit and weights of another origin makes the weights called \
         trained and, without 2-tuples and with weights that have none, if they are given, linear.",
    );
    run.table(
        "The fits: training positions, and the loss on test positions of the pieces alone and of the fit.",
        &["Weights", "Positions", "Loss at first", "Loss", "Scale of 1024"],
        &fits,
    );
    let mut rows = Vec::new();
    for (a, b) in [("trained", player.as_str()), (FITTED, &player), ("trained", "linear"), ("linear", &player)] {
        let played = run.play(&format!("{a}_{b}"), &[a.to_string(), b.to_string()], limits, pairs)?;
        rows.push(vec![format!("{a} against {b}"), score(&played), played.tally.games().to_string()]);
    }
    run.table("Matches.", &["Match", "Score, % (95 % interval)", "Games"], &rows);
    Ok(())
}

/// Plays games and samples their positions. Half of the games start from the input openings.
fn own_games(run: &mut Run, player: &str, games: u64, nodes: u64) -> Result<(), Error> {
    let seed = run.seed;
    run.step(OWN, |run, folder| {
        let (weights, file, out) = (run.weights(player)?, folder.join("games.pgn"), folder.join(SAMPLES));
        let openings = match &run.settings.openings {
            Some(path) => openings::read(path, BOOK_PLIES, |_| ())?,
            None => Vec::new(),
        };
        if !out.exists() {
            let settings = GeneratorSettings { games, nodes, seed, ..GeneratorSettings::default() };
            let mut progress = |played: GeneratorProgress| Some(Progress { done: played.games, of: games });
            run.with_progress(&mut progress, |context| generate(&settings, &weights, &openings, &file, context))?;
            let draw = PrepareSettings {
                inputs: vec![file.clone()],
                scores: Some(ScoreSide::Mover),
                filters: Filters::with_scores(),
                seed,
                ..PrepareSettings::default()
            };
            run.draw(&draw, &out, games)?;
        }
        // The positions contain all that is needed, in a fifth of the space.
        if file.exists() {
            fs::remove_file(&file).map_err(Error::file("remove", &file))?;
        }
        Ok((run.samples_hash(OWN)?, ()))
    })
}

/// Fits all groups, with or without the 2-tuples, to the own games resolved by the player's quiescence, with the scale
/// of other weights; restarted if it was stopped. Returns a row of the table.
fn fit(
    run: &mut Run,
    name: &str,
    player: &str,
    pairs: bool,
    passes: u32,
    scale_of: &str,
) -> Result<Vec<String>, Error> {
    let (positions, losses): (u64, [Option<f64>; 2]) = run.step(name, |run, _| {
        let all = run.samples(OWN)?.samples;
        let all = at_leaves(&all, &run.weights(player)?, run.context.threads, run.context.stop)?;
        let target = Target { result_share: RESULT_SHARE, pawns: pawns_of_e(&all)? };
        // Without early stopping, since the rate falls to the end.
        let seed = run.seed;
        let mut settings = FitSettings { target, epochs: passes, patience: passes, seed, ..FitSettings::default() };
        settings.l2.push(GroupValue::new(PAIRS.name, L2_OF_PAIRS));
        settings.freeze.extend((!pairs).then(|| PAIRS.name.to_string()));
        let data = Data::of(&all, &target)?;
        drop(all);
        let of = data.train.len() as u64;
        let mut progress = |event: regression::FitEvent| {
            event.done(of).map(|done| Progress { done, of: u64::from(settings.epochs) * of })
        };
        let start = Weights::material();
        let fitted = run.with_progress(&mut progress, |context| {
            regression::fit(&settings, &data, &FloatWeights::from(&start), context)
        })?;
        if fitted.stopped {
            return Err(Error::Stopped);
        }
        let losses = [fitted.start_loss, fitted.test_loss()];
        let made = json!({
            "by": "dyad experiment",
            "experiment": run.settings.name,
            "positions": of,
            "settings": settings,
            "loss": losses,
            "of": start.id(),
        });
        // The win rate comes from the input games, the search scale from the scores.
        let weights = fitted.calibrated(made, Calibration::File(&run.samples(GIVEN)?), target.pawns);
        let (mut weights, _) = weights.map_err(Error::part(name))?;
        scale_like(&mut weights, &*run.weights(scale_of)?, &data.train, target.pawns)?;
        Ok((run.save_weights(name, weights)?, (of, losses)))
    })?;
    let losses = losses.map(|loss| loss.map_or_else(|| "-".to_string(), |loss| format!("{loss:.5}")));
    let row = [name.to_string(), positions.to_string()].into_iter().chain(losses);
    Ok(row.chain([run.scale(name)?]).collect())
}

/// The weighted mean of sets of weights in search units; the win rate is that of the first.
fn mean_of(run: &mut Run, name: &str, shares: &[(&str, f64)]) -> Result<(), Error> {
    run.step(name, |run, _| {
        let sets = shares.iter().map(|(name, share)| Ok((run.weights(name)?, *share)));
        let sets = sets.collect::<Result<Vec<_>, Error>>()?;
        let of: Vec<Json> = sets.iter().map(|(weights, share)| json!({ "id": weights.id(), "share": share })).collect();
        let made = json!({ "by": "dyad experiment", "experiment": run.settings.name, "mean-of": of });
        let shares: Vec<(&Weights, f64)> = sets.iter().map(|(weights, share)| (&**weights, *share)).collect();
        let weights = in_units_of_search(&mean(&shares), made);
        let mut weights = weights.map_err(Error::part(name))?;
        weights.units.win_rate = shares[0].0.units.win_rate;
        Ok((run.save_weights(name, weights)?, ()))
    })
}
