//! `dyad level calibrate`: the strength of levels by games, and a calibration corrected by it.

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::Args;
use dyad_engine::control::Control;
use dyad_formats::error::Error;
use dyad_formats::files::{AtomicFile, check_outputs};
use dyad_levels::file::MoveModel;
use dyad_trainer::arena::matches::MatchEnd;
use dyad_trainer::arena::play::GameEnd;
use dyad_trainer::base::json_lines::Log;
use dyad_trainer::base::number::number;
use dyad_trainer::external::client::Program;
use dyad_trainer::levels::calibrate::{LevelMatch, LevelOpponent, corrected, errors};
use serde_json::Value as Json;

use super::match_::{GameReporter, MatchSettings, progress_line};
use super::player::PlayerSpec;
use super::settings::check_resume;
use super::{Outcome, model_or_embedded, stop_on_interrupt};

/// Range of the Elo of levels and programs.
const ELO: RangeInclusive<u32> = 0..=4_000;

/// Name of the offset in the settings of a match.
const PROGRAM_OFFSET: &str = "program-offset";

#[derive(Args)]
pub struct Arguments {
    /// Model of the levels [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// UCI engine with `UCI_LimitStrength` and `UCI_Elo`; may be repeated
    #[arg(long, value_name = "PATH,OPTION=VALUE")]
    program: Vec<Program>,
    /// Levels that play against each --program at their Elo less --program-offset, as 1400,1600
    #[arg(long, value_parser = number(ELO), value_name = "ELO", value_delimiter = ',', requires = "program")]
    levels: Vec<u32>,
    /// Elo added to the numbers of a --program, to bring them to the scale of the levels
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "ELO", requires = "program")]
    program_offset: i32,
    /// Levels that play against the one before them in the list, as 1000,1200,1400
    #[arg(long, value_parser = number(ELO), value_name = "ELO", value_delimiter = ',')]
    steps: Vec<u32>,
    /// File of the matches (JSON lines)
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// Continue with the matches that --log lacks
    #[arg(long)]
    resume: bool,
    /// Model to write, with the calibration corrected [default: only the table is printed]
    #[arg(long, short, value_name = "FILE", requires = "levels")]
    out: Option<PathBuf>,
    #[command(flatten)]
    games: MatchSettings,
}

/// A match that is to be played.
struct Planned {
    level: f64,
    rival: LevelOpponent,
    opponent: PlayerSpec,
    /// Name of the opponent in the log.
    name: String,
}

/// Plays the matches that the log lacks, prints the table of all matches and corrects the calibration.
pub fn run(arguments: &Arguments) -> Outcome {
    let model = model_or_embedded(arguments.model.as_deref())?;
    let outputs = [&arguments.log].into_iter().chain(&arguments.out);
    check_outputs(outputs, arguments.model.iter())?;
    check_resume(arguments.resume, &arguments.log)?;
    let planned = plan(arguments);
    if planned.is_empty() {
        return Err("nothing to play: --levels with --program, or two --steps".into());
    }
    let create = |path: &PathBuf| AtomicFile::create(path).map_err(Error::file("write", path));
    let file = arguments.out.as_ref().map(create).transpose()?;
    let (mut log, mut known) = Log::resume(&arguments.log).map_err(Error::file("open", &arguments.log))?;
    let control = stop_on_interrupt();
    let mut level_matches = Vec::new();
    for match_ in planned {
        let level_match = match take(&mut known, &match_, &model, arguments)? {
            Some(level_match) => level_match,
            None => {
                let level_match = play(&match_, &model, arguments, &control)?;
                log.append(&level_match).and_then(|()| log.sync()).map_err(Error::file("write", &arguments.log))?;
                level_match
            }
        };
        level_matches.push(level_match);
    }
    print!("{}", table(&level_matches));
    let errors = errors(&level_matches);
    let (Some(out), Some(mut file)) = (&arguments.out, file) else { return Ok(()) };
    let calibration = corrected(&model.calibration, &errors)?;
    for (before, after) in model.calibration.iter().zip(&calibration) {
        println!("{} -> {}", before.elo, after.elo);
    }
    let text = MoveModel { calibration, ..(*model).clone() }.to_json();
    file.write_all(text.as_bytes()).and_then(|()| file.commit()).map_err(Error::file("write", out))?;
    Ok(())
}

fn plan(arguments: &Arguments) -> Vec<Planned> {
    let programs = arguments.program.iter().flat_map(|program| {
        arguments.levels.iter().map(move |&elo| Planned {
            level: elo.into(),
            rival: LevelOpponent::Program(elo.into()),
            opponent: PlayerSpec::Engine(limited(program, i64::from(elo) - i64::from(arguments.program_offset))),
            name: program.to_string(),
        })
    });
    let steps = arguments.steps.windows(2).map(|step| Planned {
        level: step[1].into(),
        rival: LevelOpponent::Level(step[0].into()),
        opponent: level(step[0].into(), arguments.model.as_deref()),
        name: format!("level {}", step[0]),
    });
    programs.chain(steps).collect()
}

/// The program set to this Elo.
fn limited(program: &Program, elo: i64) -> Program {
    let limits = [("UCI_LimitStrength", "true".to_string()), ("UCI_Elo", elo.to_string())];
    let limits = limits.map(|(name, value)| (name.to_string(), value));
    Program { path: program.path.clone(), options: program.options.iter().cloned().chain(limits).collect() }
}

fn level(elo: f64, model: Option<&Path>) -> PlayerSpec {
    PlayerSpec::Level { elo, model: model.map(PathBuf::from) }
}

/// Takes the same match out of `known`; `None` if it was not played before.
fn take(
    known: &mut Vec<LevelMatch>,
    match_: &Planned,
    model: &MoveModel,
    arguments: &Arguments,
) -> Result<Option<LevelMatch>, String> {
    // With the options of the second player.
    let own = level(match_.level, arguments.model.as_deref());
    let planned = arguments.games.to_match([&own, &match_.opponent]).map_err(|error| error.to_string())?;
    let budget = planned.players[1].budget.to_string();
    let (played, id) = (model.calibrated(match_.level), model.id());
    let settings = settings(arguments, match_.rival)?;
    let same = |level_match: &LevelMatch| {
        (level_match.level, level_match.rival) == (match_.level, match_.rival)
            && (&level_match.name, &level_match.budget) == (&match_.name, &budget)
            && (level_match.played, &level_match.model) == (played, &id)
            && level_match.settings == settings
    };
    Ok(known.iter().position(same).map(|index| known.remove(index)))
}

/// The settings that the games depend on: all without threads.
fn settings(arguments: &Arguments, rival: LevelOpponent) -> Result<Json, String> {
    let mut settings = serde_json::to_value(&arguments.games).map_err(|error| error.to_string())?;
    if let Some(fields) = settings.as_object_mut() {
        fields.retain(|name, value| name != "threads" && !value.is_null());
        if arguments.program_offset != 0 && matches!(rival, LevelOpponent::Program(_)) {
            fields.insert(PROGRAM_OFFSET.to_string(), arguments.program_offset.into());
        }
    }
    Ok(settings)
}

fn play(
    match_: &Planned,
    model: &MoveModel,
    arguments: &Arguments,
    control: &Control,
) -> Result<LevelMatch, Box<dyn std::error::Error>> {
    let own = level(match_.level, arguments.model.as_deref());
    let played = arguments.games.to_match([&own, &match_.opponent])?;
    let openings = arguments.games.openings(&played)?;
    let mut reporter = GameReporter::new(&played);
    let record = played.run(openings, control, |game, standing| {
        reporter.report(game);
        // Its losses would count as strength of the level.
        if matches!(game.game.reason, GameEnd::EngineFailure | GameEnd::IllegalMove) {
            return Err(Error::Engine(format!("{}: {}", match_.name, game.game.reason.words())));
        }
        let progress = &mut reporter.progress;
        let elapsed = progress.elapsed();
        progress
            .show(|| format!("{own} against {}: {}", match_.name, progress_line(&played, game, standing, elapsed, 0)));
        Ok(())
    })?;
    drop(reporter);
    if record.end == MatchEnd::Stopped {
        return Err("stopped; add --resume to continue with this match".into());
    }
    Ok(LevelMatch {
        level: match_.level,
        played: model.calibrated(match_.level),
        model: model.id(),
        rival: match_.rival,
        name: match_.name.clone(),
        budget: record.budgets[1].clone(),
        settings: settings(arguments, match_.rival)?,
        tally: record.tally,
    })
}

/// The matches as a table of Markdown.
fn table(level_matches: &[LevelMatch]) -> String {
    let mut text =
        "| level | against | limits | games | score | Elo, 95 % | pairs |\n|---|---|---|---|---|---|---|\n".to_string();
    let mut off: Vec<f64> = Vec::new();
    for level_match in level_matches {
        let against = match level_match.rival {
            LevelOpponent::Program(elo) => {
                off.push(level_match.difference().0.abs());
                let program = level_match.name.parse::<Program>();
                let name = program.map_or_else(|_| level_match.name.clone(), |program| program.name());
                let offset = level_match.settings[PROGRAM_OFFSET].as_f64().unwrap_or(0.0);
                format!("{name}, {}", elo - offset)
            }
            LevelOpponent::Level(_) => level_match.name.clone(),
        };
        let (score, elo) = (level_match.tally.score(), level_match.tally.elo());
        text += &format!(
            "| {} | {against} | {} | {} | {:.1} % | {:+.0} +- {:.0} | {:?} |\n",
            level_match.level,
            level_match.budget,
            level_match.tally.games(),
            100.0 * score.value,
            elo.value,
            elo.error(),
            level_match.tally.pentanomial,
        );
    }
    if !off.is_empty() {
        let (mean, largest) = (off.iter().sum::<f64>() / off.len() as f64, off.iter().copied().fold(0.0, f64::max));
        text += &format!("\nAgainst programs: mean error {mean:.0}, largest {largest:.0}\n");
    }
    text
}
