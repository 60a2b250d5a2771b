//! `dyad level`: opponents that play like people of a given rating.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dyad_engine::eval::Weights;
use dyad_engine::levels::analysis::PLIES;
use dyad_engine::levels::file::{self, MoveModel};
use dyad_formats::atomic::{check_output, write_atomic};
use dyad_formats::error::Error;
use dyad_trainer::levels::estimate::{self, EstimateEvent, FEWEST_MOVES};
use dyad_trainer::levels::examples::Example;
use dyad_trainer::levels::measure::{self, LOSSES, Row};
use dyad_trainer::levels::prepare::{self, Settings};
use dyad_trainer::levels::records::{self, Offsets};
use dyad_trainer::levels::{style, training};

use super::prepare::show_broken;
use super::progress::Progress;
use super::settings::set;
use super::{Outcome, calibrate, model_or_embedded, settings, stop_on_interrupt, threads};
use crate::display::counted;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Finds what the moves of positions of people's games are worth, to train and test the model with.
    Prepare(Prepare),
    /// Trains the model.
    Train(Train),
    /// Measures a model on held-out players: each band by the model of each band.
    Measure(Measure),
    /// Estimates the ratings of players from their games.
    Estimate(EstimateArguments),
    /// Learns how one player plays, for `StyleFile` and `dyad match style:FILE`.
    Style(StyleArguments),
    /// Plays levels against programs of known strength and against each other, and corrects what they are worth.
    Calibrate(Box<calibrate::Arguments>),
}

#[derive(Args)]
struct Prepare {
    /// Games (PGN), plain or packed.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The file of records to write; one that was begun is resumed.
    #[arg(long, short)]
    out: PathBuf,
    /// Settings from a JSON file; the other arguments override it.
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Positions of each band to learn from.
    #[arg(long)]
    train: Option<usize>,
    /// Positions of each band to test with.
    #[arg(long)]
    test: Option<usize>,
    /// Positions of each player in a game.
    #[arg(long)]
    per_game: Option<usize>,
    /// Games that a player counts for at most.
    #[arg(long)]
    player_games: Option<usize>,
    /// Percent of the players that are held out.
    #[arg(long)]
    test_percent: Option<f64>,
    /// Seed of all draws.
    #[arg(long)]
    seed: Option<u64>,
    /// Threads [default: one per processor].
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Args)]
struct Train {
    /// Records of `dyad level prepare`.
    records: PathBuf,
    /// The model to write.
    #[arg(long, short)]
    out: PathBuf,
    /// Settings from a JSON file; the other arguments override it.
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Passes through the records.
    #[arg(long)]
    epochs: Option<u32>,
    /// Positions of a step.
    #[arg(long)]
    batch: Option<usize>,
    /// Learning rate at the beginning.
    #[arg(long)]
    rate: Option<f64>,
    /// Penalty on the steps of a coefficient from knot to knot of the rating.
    #[arg(long)]
    smooth: Option<f64>,
    /// Penalty on the size of a cue.
    #[arg(long)]
    shrink: Option<f64>,
    /// Penalty on steps from knot to knot for squares.
    #[arg(long)]
    smooth_squares: Option<f64>,
    /// Penalty on size for squares.
    #[arg(long)]
    shrink_squares: Option<f64>,
    #[command(flatten)]
    offsets: OffsetArguments,
    /// Seed of the order.
    #[arg(long)]
    seed: Option<u64>,
    /// A model whose calibration is kept.
    #[arg(long)]
    calibrated_as: Option<PathBuf>,
}

#[derive(Args)]
struct Measure {
    /// Records of `dyad level prepare`.
    records: PathBuf,
    /// The model [default: the one built in].
    #[arg(long)]
    model: Option<PathBuf>,
    /// Measure on all players, dealt to so many folds: each fold by a model trained without its players.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1000), conflicts_with = "model")]
    folds: Option<u32>,
    /// Settings of these trainings from a JSON file.
    #[arg(long, requires = "folds")]
    settings: Option<PathBuf>,
    /// Threads, of which each trains a model for a fold [default: one per processor].
    #[arg(long, requires = "folds")]
    threads: Option<usize>,
    #[command(flatten)]
    offsets: OffsetArguments,
}

/// What is added to ratings to bring them to the scale of Lichess [default: as the settings, or the model measured, have it].
#[derive(Args)]
struct OffsetArguments {
    /// What is added to ratings over the board, to bring them to the scale of Lichess.
    #[arg(long, allow_negative_numbers = true)]
    board_offset: Option<f64>,
    /// What is added to ratings of FICS.
    #[arg(long, allow_negative_numbers = true)]
    fics_offset: Option<f64>,
    /// What is added to ratings of Chess.com.
    #[arg(long, allow_negative_numbers = true)]
    chess_com_offset: Option<f64>,
}

impl OffsetArguments {
    fn set(&self, settings: &mut training::Settings) {
        set(&mut settings.board_offset, &self.board_offset);
        set(&mut settings.fics_offset, &self.fics_offset);
        set(&mut settings.chess_com_offset, &self.chess_com_offset);
    }
}

#[derive(Args)]
struct EstimateArguments {
    /// Games (PGN), plain or packed.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Only this player.
    #[arg(long)]
    player: Option<String>,
    /// Only players with so many games.
    #[arg(long, default_value_t = 1)]
    min_games: usize,
    /// So many games of each are looked at.
    #[arg(long, default_value_t = 20)]
    games: usize,
    /// So many players, those with the most games first.
    #[arg(long, default_value_t = 20)]
    players: usize,
    /// Only players whom `prepare` holds out of these files, to see how well it estimates.
    #[arg(long)]
    held_out: bool,
    /// The model [default: the one built in].
    #[arg(long)]
    model: Option<PathBuf>,
    /// Threads [default: one per processor].
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Args)]
struct StyleArguments {
    /// Games (PGN), plain or packed.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The player, as the games write the name.
    #[arg(long)]
    player: String,
    /// The style to write.
    #[arg(long, short)]
    out: PathBuf,
    /// Settings from a JSON file; the other arguments override it.
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Positions at most.
    #[arg(long)]
    positions: Option<usize>,
    /// Percent of the games, the last ones, by which the style is judged before it learns from them too.
    #[arg(long)]
    test_percent: Option<f64>,
    /// Seed of all draws.
    #[arg(long)]
    seed: Option<u64>,
    /// The model to begin with [default: the one built in].
    #[arg(long)]
    model: Option<PathBuf>,
    /// Threads [default: one per processor].
    #[arg(long)]
    threads: Option<usize>,
}

/// Runs the tool that the arguments name.
pub fn run(arguments: Arguments) -> Outcome {
    match arguments.tool {
        Tool::Prepare(arguments) => prepare(arguments),
        Tool::Train(arguments) => train(arguments),
        Tool::Measure(arguments) => measure(&arguments),
        Tool::Estimate(arguments) => estimate(arguments),
        Tool::Style(arguments) => style(arguments),
        Tool::Calibrate(arguments) => calibrate::run(&arguments),
    }
}

fn prepare(arguments: Prepare) -> Outcome {
    let mut settings: Settings = settings::load(arguments.settings.as_deref(), "level-prepare")?;
    set(&mut settings.train, &arguments.train);
    set(&mut settings.test, &arguments.test);
    set(&mut settings.per_game, &arguments.per_game);
    set(&mut settings.player_games, &arguments.player_games);
    set(&mut settings.test_percent, &arguments.test_percent);
    set(&mut settings.seed, &arguments.seed);
    check_output(&arguments.out, arguments.files.iter().chain(&arguments.settings).map(PathBuf::as_path))?;
    let control = stop_on_interrupt();
    let mut progress = Progress::new();
    let mut first = None;
    let mut report = |done: usize, of: usize| {
        let new = done - *first.get_or_insert(done - 1);
        let rate = new as f64 / progress.elapsed().as_secs_f64().max(1e-3);
        progress.show(|| format!("{done} of {of} positions, {rate:.0} positions/s"));
    };
    let mut job = prepare::Job {
        files: arguments.files,
        out: arguments.out.clone(),
        threads: threads("threads", arguments.threads)?,
        control: &control,
        report: &mut report,
    };
    let summary = match prepare::prepare(&settings, &Weights::embedded(), &mut job) {
        Err(Error::Stopped) => return Err("stopped; the same command resumes it".into()),
        other => other?,
    };
    drop(progress);
    let prepare::Summary { games, broken, records } = summary;
    println!("{records} positions of {games} games in {} ({broken} games could not be read)", arguments.out.display());
    Ok(())
}

fn train(arguments: Train) -> Outcome {
    let mut settings: training::Settings = settings::load(arguments.settings.as_deref(), "level-train")?;
    set(&mut settings.epochs, &arguments.epochs);
    set(&mut settings.batch, &arguments.batch);
    set(&mut settings.rate, &arguments.rate);
    set(&mut settings.smooth, &arguments.smooth);
    set(&mut settings.shrink, &arguments.shrink);
    set(&mut settings.smooth_squares, &arguments.smooth_squares);
    set(&mut settings.shrink_squares, &arguments.shrink_squares);
    arguments.offsets.set(&mut settings);
    set(&mut settings.seed, &arguments.seed);
    let others = [&arguments.settings, &arguments.calibrated_as].into_iter().flatten();
    check_output(&arguments.out, others.chain([&arguments.records]).map(PathBuf::as_path))?;
    let calibration = match &arguments.calibrated_as {
        Some(path) => MoveModel::load(path)?.calibration,
        None => MoveModel::embedded().calibration.clone(),
    };
    let (header, records) = records::read(&arguments.records)?;
    let offsets = settings.offsets();
    let examples: Vec<Example> = records.iter().map(|record| Example::new(record, &offsets)).collect();
    let learned_from: Vec<&Example> = examples.iter().filter(|example| !example.test).collect();
    let held_out = || examples.iter().filter(|example| example.test);
    let parameters = training::train(&settings, &learned_from, |epoch, loss| {
        eprintln!("pass {epoch} of {}: loss {loss:.4}", settings.epochs);
    });
    let parameters: Vec<f64> = parameters.into_iter().map(file::round).collect();
    let quality = training::quality(&parameters, None, held_out());
    let made = serde_json::json!({
        "records": header, "positions": learned_from.len(), "settings": settings,
        "held-out": { "positions": quality.count, "loss": file::round(quality.loss), "accuracy": file::round(quality.accuracy) },
    });
    let model = MoveModel { name: "levels".to_string(), made, calibration, parameters };
    write_atomic(&arguments.out, model.to_json().as_bytes())?;
    println!(
        "{} positions learned from; of {} held-out ones: loss {:.4}, accuracy {:.2} %",
        learned_from.len(),
        quality.count,
        quality.loss,
        100.0 * quality.accuracy
    );
    Ok(())
}

fn estimate(arguments: EstimateArguments) -> Outcome {
    let model = model_or_embedded(arguments.model.as_deref())?;
    let control = stop_on_interrupt();
    let job = estimate::Job {
        files: arguments.files,
        player: arguments.player,
        games: [arguments.min_games.max(1), arguments.games],
        players: arguments.players,
        held_out: arguments.held_out,
        threads: threads("threads", arguments.threads)?,
        control: &control,
    };
    println!(
        "| player | games | moves | scale | rating in the games | estimate | 95 % |\n|---|---|---|---|---|---|---|"
    );
    let mut errors = Vec::new();
    let mut players = 0;
    let mut broken = 0;
    let progress = Progress::new();
    estimate::estimate(&model, &Weights::embedded(), &job, |event| {
        let estimate::Estimate { name, games, moves, pool, written, rating, interval: [low, high] } = match event {
            EstimateEvent::Estimate(estimate) => estimate,
            EstimateEvent::Broken(game) => {
                broken += 1;
                return show_broken(&progress, game, broken);
            }
            EstimateEvent::TooFewMoves { name, moves } => {
                let moves = counted(moves as u64, "move", "moves");
                return progress.say(&format!("{name}: {moves}, too few for an estimate ({FEWEST_MOVES})"));
            }
        };
        players += 1;
        errors.extend(written.map(|written| (f64::from(rating) - written).abs()));
        let written = written.map_or_else(|| "unknown".to_string(), |written| format!("{written:.0}"));
        println!("| {name} | {games} | {moves} | {pool} | {written} | {rating} | {low} to {high} |");
    })?;
    if players == 0 {
        let games = arguments.min_games.max(1);
        return Err(format!("no player with at least {games} games and {FEWEST_MOVES} moves in the files").into());
    }
    if !errors.is_empty() {
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        println!("\n{} players with known ratings: mean error {mean:.0}", errors.len());
    }
    Ok(())
}

fn style(arguments: StyleArguments) -> Outcome {
    let mut settings: style::Settings = settings::load(arguments.settings.as_deref(), "level-style")?;
    set(&mut settings.positions, &arguments.positions);
    set(&mut settings.test_percent, &arguments.test_percent);
    set(&mut settings.seed, &arguments.seed);
    let others = [&arguments.settings, &arguments.model].into_iter().flatten();
    check_output(&arguments.out, arguments.files.iter().chain(others).map(PathBuf::as_path))?;
    let model = model_or_embedded(arguments.model.as_deref())?;
    let control = stop_on_interrupt();
    let mut progress = Progress::new();
    let mut report = |done: usize, of: usize| progress.show(|| format!("{done} of {of} positions"));
    let mut job = style::Job {
        files: arguments.files,
        player: arguments.player,
        out: arguments.out.clone(),
        threads: threads("threads", arguments.threads)?,
        control: &control,
        report: &mut report,
    };
    let learned = match style::learn(&settings, &model, &Weights::embedded(), &mut job) {
        Err(Error::Stopped) => return Err("stopped; the same command resumes it".into()),
        other => other?,
    };
    drop(progress);
    println!("{}: {}", arguments.out.display(), style::summary(&learned));
    let strength = f64::from(learned.rating);
    let traits = style::traits(&learned.model, &model, strength);
    let told: Vec<String> = traits.iter().take(8).map(|(name, by)| format!("{name} {by:+.2}")).collect();
    println!("unlike others of that rating (utility of a cue): {}", told.join(", "));
    Ok(())
}

fn measure(arguments: &Measure) -> Outcome {
    let model = model_or_embedded(arguments.model.as_deref())?;
    let mut settings: training::Settings = settings::load(arguments.settings.as_deref(), "level-train")?;
    if arguments.settings.is_none() {
        let Offsets { board, fics, chess_com } = Offsets::of(&model);
        (settings.board_offset, settings.fics_offset, settings.chess_com_offset) = (board, fics, chess_com);
    }
    arguments.offsets.set(&mut settings);
    let threads = threads("threads", arguments.threads)?;
    let (_, records) = records::read(&arguments.records)?;
    let offsets = settings.offsets();
    let examples: Vec<Example> = records.iter().map(|record| Example::new(record, &offsets)).collect();
    let bands: Vec<u32> = (800..=2600).step_by(200).collect();
    let ratings: Vec<f64> = bands.iter().map(|&band| f64::from(band)).collect();
    let rows = match arguments.folds {
        Some(folds) => {
            let mut progress = Progress::new();
            let mut done = 0;
            measure::cross_validated(&settings, folds, &bands, &ratings, &examples, threads, || {
                done += 1;
                progress.show(|| format!("{done} of {folds} folds"));
            })?
        }
        None => {
            let held_out: Vec<&Example> = examples.iter().filter(|example| example.test).collect();
            bands.iter().map(|&band| measure::row(&model.parameters, band, &ratings, &held_out)).collect()
        }
    };
    print_tables(&ratings, &rows.into_iter().filter(|row| row.own.count > 0).collect::<Vec<Row>>());
    Ok(())
}

fn print_tables(ratings: &[f64], rows: &[Row]) {
    let head = |title: &str, columns: Vec<String>| {
        println!("\n{title}\n\n| band | positions | {} |", columns.join(" | "));
        println!("|---|---|{}", "---|".repeat(columns.len()));
    };
    let line = |row: &Row, cells: Vec<String>| println!("| {} | {} | {} |", row.band, row.own.count, cells.join(" | "));
    let models = || ratings.iter().map(|rating| format!("model {rating}")).chain(["own rating".to_string()]).collect();
    head("Accuracy, %", models());
    for row in rows {
        line(row, row.models.iter().chain([&row.own]).map(|q| format!("{:.1}", 100.0 * q.accuracy)).collect());
    }
    head("Negative log-likelihood", models());
    for row in rows {
        line(row, row.models.iter().chain([&row.own]).map(|q| format!("{:.4}", q.loss)).collect());
    }
    head(
        "Accuracy of the best move by plies, %",
        PLIES.iter().map(|&plies| counted(plies.into(), "ply", "plies")).collect(),
    );
    for row in rows {
        line(row, row.best.iter().map(|share| format!("{:.1}", 100.0 * share)).collect());
    }
    head("Mates in one that are played, %", ["positions with one", "people", "model"].map(str::to_string).to_vec());
    for row in rows {
        let [people, model] = row.mate_rates.map(|share| format!("{:.1}", 100.0 * share));
        line(row, vec![row.mates.to_string(), people, model]);
    }
    let columns = |&loss: &f64| [format!("{}: people", counted(loss as u64, "pawn", "pawns")), "model".to_string()];
    head("Share of moves that lose so much, %", LOSSES.iter().flat_map(columns).collect());
    for row in rows {
        let cells = row.human.iter().zip(&row.model).flat_map(|(human, model)| [human, model]);
        line(row, cells.map(|share| format!("{:.2}", 100.0 * share)).collect());
    }
}
