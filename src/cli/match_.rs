//! `dyad match`: games between two sets of weights, or between two settings of the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use dyad_engine::engine::{MAX_HASH, MAX_THREADS};
use dyad_engine::eval::Weights;
use dyad_engine::tablebase::{Tablebase, Tables};
use dyad_formats::error::Error;
use dyad_formats::files::{self, check_outputs};
use dyad_formats::input::Kind;
use dyad_trainer::arena::matches::{MOST_GAMES, Match, MatchEnd, MatchGame, MatchPlayer, MatchRecord, MatchScore};
use dyad_trainer::arena::openings::{self, Opening, OpeningSettings, RandomOpenings, Variant};
use dyad_trainer::arena::pgn_writer::{PgnFile, today};
use dyad_trainer::arena::play::{Adjudication, DrawRule, SearchLimits, WinRule};
use dyad_trainer::arena::statistics::{Decision, EloModel, Sprt};
use dyad_trainer::base::number::{self, number};
use serde::Serialize;
use serde_json::Value as Json;

use super::limits::{Clock, DEPTH, Limits, parse_clock, parse_move_time};
use super::player::PlayerSpec;
use super::progress::ProgressDisplay;
use super::settings::SettingsFile;
use super::{Outcome, Threads, read_openings, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// First player: weights (a file, `default` or `material`), `level:1600` (Elo of Lichess) or `deepchess:FILE` (a
    /// network)
    a: PlayerSpec,
    /// Second player, as the first
    b: PlayerSpec,
    #[command(flatten)]
    file: SettingsFile,
    #[command(flatten)]
    settings: MatchSettings,
    #[command(flatten)]
    files: Files,
}

/// Nodes per move.
pub const NODES: u64 = 20_000;
/// Games at most.
const GAMES: u64 = 1_000;
/// Plies taken from the games of an opening file.
const PLIES: usize = 16;
/// The largest move overhead in milliseconds.
const OVERHEAD: u64 = 60_000;
/// Seed of openings and of their order.
const SEED: u64 = 1;

/// How a match is played. What is `None` has its default.
#[derive(Args, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[group(skip)]
pub(super) struct MatchSettings {
    #[command(flatten)]
    #[serde(flatten)]
    limits: Limits,
    #[command(flatten)]
    #[serde(flatten)]
    clock: Clock,
    /// Games at most; an odd number is rounded up [default: 1000]
    #[arg(long, value_name = "N", value_parser = number(1..=MOST_GAMES))]
    games: Option<u64>,
    /// Openings: positions (.epd, .fen) or games (.pgn), also packed [default: random openings]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Random openings of Chess960
    #[arg(long, num_args = 0, default_missing_value = "true", conflicts_with_all = ["dfrc", "openings"])]
    chess960: Option<bool>,
    /// Random openings of double Chess960: each side's first rank is drawn separately
    #[arg(long, num_args = 0, default_missing_value = "true", conflicts_with = "openings")]
    dfrc: Option<bool>,
    /// Plies taken from each game of an opening file [default: 16]
    #[arg(long, value_parser = number::<usize>(0..), conflicts_with_all = ["chess960", "dfrc"])]
    plies: Option<usize>,
    /// Seed of random openings, and of the order of those of a file [default: 1]
    #[arg(long, value_parser = number::<u64>(0..))]
    seed: Option<u64>,
    /// Games at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = number(1..=MAX_THREADS))]
    threads: Option<usize>,
    /// Stop when a sequential test of ELO1 against ELO0 has decided, with errors ALPHA and BETA
    #[arg(long, num_args = 4, value_names = ["ELO0", "ELO1", "ALPHA", "BETA"], allow_negative_numbers = true,
          value_parser = number(-10_000.0..=10_000.0))]
    sprt: Option<Vec<f64>>,
    /// Elo of the sequential test [default: logistic]
    #[arg(long, value_enum)]
    elo_model: Option<Model>,
    /// Draw from move FROM on, after both scores were within CENTIPAWNS of 0 for MOVES moves
    #[arg(long, value_parser = number::<u32>(0..), num_args = 3, value_names = ["FROM", "MOVES", "CENTIPAWNS"])]
    draw_adjudication: Option<Vec<u32>>,
    /// Win after both players agreed on CENTIPAWNS or more for MOVES moves
    #[arg(long, value_parser = number::<u32>(0..), num_args = 2, value_names = ["MOVES", "CENTIPAWNS"])]
    win_adjudication: Option<Vec<u32>>,
    /// Folders of endgame tables, separated by `;`, that end games with a known result
    #[arg(long, value_name = "PATH")]
    tablebase: Option<String>,
    /// Draw after PLIES plies [default: no limit]
    #[arg(long, value_parser = number::<u32>(0..), value_name = "PLIES")]
    max_plies: Option<u32>,
    /// Setting of the first player: hash (megabytes), overhead (ms), nodes, depth, tc, movetime (seconds), or
    /// tablebase (folders of endgame tables for its search); may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    options_a: Vec<String>,
    /// Setting of the second player, as --options-a
    #[arg(long, value_name = "NAME=VALUE")]
    options_b: Vec<String>,
    /// Constant of the search of the first or the second player; docs/tuning.md; may be repeated
    #[arg(long, value_name = "A|B:NAME=VALUE")]
    set: Vec<String>,
}

/// What is kept of a match.
#[derive(Args, Default)]
#[group(skip)]
pub(super) struct Files {
    /// File (PGN) to which the games are appended
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Continue the match whose games --pgn has
    #[arg(long, num_args = 0, default_missing_value = "true")]
    resume: Option<bool>,
    /// File to which the result is appended as a line of JSON; `matches.jsonl` of a run folder is for its report
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Model {
    Logistic,
    Normalized,
}

/// Plays the match and prints its result.
pub fn run(arguments: Arguments) -> Outcome {
    let Arguments { a, b, file, settings, files } = arguments;
    let played = settings.to_match([&a, &b])?;
    settings.check_limits([&a, &b])?;
    check_files([&a, &b], file.settings.as_deref(), &settings, &files)?;
    let mut openings = settings.openings(&played)?;
    let event = settings.event(&played);
    let mut pgn = match &files.pgn {
        Some(path) => Some(PgnFile::append_to(path).map_err(Error::file("open", path))?),
        None => None,
    };
    let mut before = Vec::new();
    if files.resume == Some(true) {
        let path = files.pgn.as_ref().ok_or("resume: pgn says which file has the games that were played")?;
        let (results, all) = played.results_in(path, &event, openings)?;
        (before, openings) = (results, Box::new(all));
        eprintln!("{} games of this match are in {}", before.len(), path.display());
    }
    let control = stop_on_interrupt();
    let results = files.results.as_deref().map(ResultsFile::open).transpose()?;
    let date = today();
    let mut reporter = GameReporter::new(&played);
    let mut standing = MatchScore::default();
    let record = played.resume(&before, openings, &control, |game, score| {
        if let (Some(file), Some(path)) = (&mut pgn, &files.pgn) {
            let written = file.write(&played.pgn(game, &event, &date));
            written.map_err(Error::file("write", path))?;
        }
        standing = *score;
        reporter.report(game);
        let elapsed = reporter.progress.elapsed();
        reporter.progress.show(|| progress_line(&played, game, score, elapsed, before.len()));
        Ok(())
    });
    let GameReporter { reasons, .. } = reporter;
    let record = record.inspect_err(|_| eprintln!("score so far: {}", standing.tally))?;
    print!("{}", summary(&record, &reasons, before.len()));
    let is_stopped = record.end == MatchEnd::Stopped;
    // A stopped match whose games are kept can be resumed, and has its result when it has ended.
    if let Some(mut results) = results.filter(|_| !is_stopped || files.pgn.is_none()) {
        let is_new = files.resume != Some(true) || !reasons.is_empty();
        if is_new || !results.has(&record)? {
            results.append(&record)?;
        }
    }
    match (is_stopped, &files.pgn) {
        (false, _) => Ok(()),
        (true, Some(path)) => Err(format!("stopped; --resume continues from {}", path.display()).into()),
        (true, None) => Err("stopped; the match is not complete".into()),
    }
}

/// Reports what went wrong in the games of a match, and counts their endings.
pub(super) struct GameReporter {
    pub(super) progress: ProgressDisplay,
    reasons: BTreeMap<&'static str, u64>,
    tables: Vec<Arc<Tablebase>>,
    /// What was wrong with the tables.
    faults: BTreeSet<String>,
}

impl GameReporter {
    pub(super) fn new(played: &Match) -> GameReporter {
        let of_players = played.players.iter().filter_map(|player| player.options.tables.as_ref());
        let tables = played.tables.iter().chain(of_players.map(|tables| &tables.base)).cloned().collect();
        let progress = ProgressDisplay::new();
        GameReporter { progress, reasons: BTreeMap::new(), tables, faults: BTreeSet::new() }
    }

    pub(super) fn report(&mut self, game: &MatchGame) {
        let number = game.number + 1;
        *self.reasons.entry(game.game.reason.words()).or_default() += 1;
        for fault in self.tables.iter().filter_map(|tables| tables.take_damage()) {
            if self.faults.insert(fault.clone()) {
                self.progress.say(&format!("game {number}: {fault}"));
            }
        }
    }
}

/// Refuses files to write that would replace what the match is played with, or each other.
fn check_files(
    players: [&PlayerSpec; 2],
    settings_file: Option<&Path>,
    settings: &MatchSettings,
    files: &Files,
) -> Result<(), Error> {
    let inputs = players.iter().filter_map(|player| player.file());
    let inputs = inputs.chain(settings.openings.as_deref()).chain(settings_file);
    check_outputs(files.pgn.iter().chain(&files.results), inputs)?;
    files.results.as_deref().map_or(Ok(()), check_results)
}

/// Bytes of the longest line of results that is examined.
const LONGEST_RECORD: u64 = 1 << 20;

/// Refuses to append results to a file of something else.
fn check_results(path: &Path) -> Result<(), Error> {
    let mut line = String::new();
    match files::open(path).and_then(|file| BufReader::new(file.take(LONGEST_RECORD)).read_line(&mut line)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(Error::file("read", path))?,
    };
    let is_record = |record: Json| record.get("tally").is_some() && record.get("names").is_some();
    match line.is_empty() || serde_json::from_str(&line).is_ok_and(is_record) {
        true => Ok(()),
        false => {
            Err(Error::content(path, "line 1", "not the result of a match: results are appended to no other file"))
        }
    }
}

impl MatchSettings {
    pub(super) fn to_match(&self, specs: [&PlayerSpec; 2]) -> Result<Match, Box<dyn std::error::Error>> {
        let [a, b] = specs;
        let [mut name_a, mut name_b] = specs.map(PlayerSpec::name);
        if name_a == name_b {
            name_a.push_str(" A");
            name_b.push_str(" B");
        }
        let budget = self.budget()?;
        self.check_use(specs)?;
        let mut players = [
            with_options(a.player(&name_a, budget)?, &self.options_a)?,
            with_options(b.player(&name_b, budget)?, &self.options_b)?,
        ];
        let mut set = BTreeSet::new();
        for text in &self.set {
            let (side, name, value) = constant(text)?;
            if !set.insert((side, name)) {
                return Err(format!("--set '{text}': it is the second value of {name}").into());
            }
            players[side].options.params.set(name, value)?;
        }
        for (spec, player) in specs.iter().zip(&players) {
            spec.check_clock(player.budget)?;
        }
        Ok(Match {
            players,
            pairs: self.pairs()?,
            threads: Threads { threads: self.threads }.checked()?,
            adjudication: self.adjudication()?,
            tables: self.tablebase.as_deref().map(Tablebase::open_all).transpose()?.map(Arc::new),
            sprt: self.sprt()?,
        })
    }

    /// Refuses settings that would change nothing.
    fn check_use(&self, [a, b]: [&PlayerSpec; 2]) -> Result<(), String> {
        let constant_of =
            |text: &&String, side: &str| text.split(':').next().is_some_and(|of| of.eq_ignore_ascii_case(side));
        for (spec, side, options) in [(a, "A", &self.options_a), (b, "B", &self.options_b)] {
            let unused = spec.unused_options();
            let named = options.iter().filter_map(|option| Some(option.split_once('=')?.0.to_lowercase()));
            if let Some(name) = named.into_iter().find(|name| unused.contains(&name.as_str())) {
                return Err(format!("option {name}: it changes nothing for '{spec}'"));
            }
            let constant = self.set.iter().find(|text| constant_of(text, side));
            if let Some(text) = constant.filter(|_| !unused.is_empty()) {
                return Err(format!("--set '{text}': '{spec}' does not search with these constants"));
            }
        }
        if self.elo_model.is_some() && self.sprt.is_none() {
            return Err("elo-model: it changes nothing without sprt".to_string());
        }
        match (&self.openings, self.chess960 == Some(true), self.dfrc == Some(true)) {
            _ if self.plies.is_some() && !has_plies(self.openings.as_deref()) => {
                Err("plies: it changes nothing without openings from games".to_string())
            }
            (_, true, true) => Err("chess960 and dfrc: openings are of one variant".to_string()),
            (Some(_), true, _) => Err("chess960: it changes nothing with openings of a file".to_string()),
            (Some(_), _, true) => Err("dfrc: it changes nothing with openings of a file".to_string()),
            _ => Ok(()),
        }
    }

    /// Refuses a limit of the match that neither player searches with.
    fn check_limits(&self, specs: [&PlayerSpec; 2]) -> Result<(), String> {
        let Limits { nodes, depth, movetime } = &self.limits;
        let given = [nodes.is_some(), depth.is_some(), movetime.is_some(), self.clock.tc.is_some()];
        let Some(limit) = LIMITS.into_iter().zip(given).find_map(|(name, given)| given.then_some(name)) else {
            return Ok(());
        };
        let has_own = |options: &[String]| {
            options.iter().filter_map(|option| option.split_once('=')).any(|(name, _)| is_limit(&name.to_lowercase()))
        };
        let ignores =
            |(spec, options): (&PlayerSpec, &[String])| spec.unused_options().contains(&limit) || has_own(options);
        match specs.into_iter().zip([&self.options_a[..], &self.options_b]).all(ignores) {
            true => Err(format!("{limit}: it changes nothing for either player")),
            false => Ok(()),
        }
    }

    fn pairs(&self) -> Result<u64, String> {
        let games = self.games.unwrap_or(GAMES);
        number::check("games", games, &(1..=MOST_GAMES))?;
        Ok(games.div_ceil(2))
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(SEED)
    }

    /// What the games are tagged with: that by which a resumed match knows its own.
    fn event(&self, played: &Match) -> String {
        let budgets = played.players.each_ref().map(|player| player.budget.to_string());
        format!("dyad match, {}, seed {}", budgets_of_both(&budgets), self.seed())
    }

    fn variant(&self) -> Variant {
        match (self.chess960, self.dfrc) {
            (Some(true), _) => Variant::Chess960,
            (_, Some(true)) => Variant::DoubleChess960,
            _ => Variant::Standard,
        }
    }

    pub(super) fn budget(&self) -> Result<SearchLimits, String> {
        match (self.limits.get()?, self.clock.get()?) {
            (Some(_), Some(_)) => Err("a clock (tc) and another limit: one is possible".to_string()),
            (limit, clock) => Ok(limit.or(clock).unwrap_or(SearchLimits::Nodes(NODES))),
        }
    }

    fn adjudication(&self) -> Result<Adjudication, String> {
        let score =
            |score: u32| i16::try_from(score).map_err(|_| format!("adjudication: no score is {score} centipawns"));
        let draw = match self.draw_adjudication.as_deref() {
            None => None,
            Some(&[from, moves, limit]) => Some(DrawRule { from, moves, score: score(limit)? }),
            Some(_) => return Err("draw-adjudication takes three numbers: from, moves, score".to_string()),
        };
        let win = match self.win_adjudication.as_deref() {
            None => None,
            Some(&[moves, limit]) => Some(WinRule { moves, score: score(limit)? }),
            Some(_) => return Err("win-adjudication takes two numbers: moves, score".to_string()),
        };
        let rules = Adjudication { draw, win, plies: self.max_plies };
        rules.check().map(|()| rules)
    }

    fn sprt(&self) -> Result<Option<Sprt>, String> {
        let model = match self.elo_model {
            None | Some(Model::Logistic) => EloModel::Logistic,
            Some(Model::Normalized) => EloModel::Normalized,
        };
        match self.sprt.as_deref() {
            None => Ok(None),
            Some(&[elo0, elo1, alpha, beta]) => Sprt::new(elo0, elo1, alpha, beta, model).map(Some),
            Some(_) => Err("sprt takes four numbers: elo0, elo1, alpha, beta".to_string()),
        }
    }

    pub(super) fn openings(&self, played: &Match) -> Result<Box<dyn Iterator<Item = Opening> + Send>, Error> {
        let Some(path) = &self.openings else {
            let filter = openings::opening_filter(Weights::embedded(), openings::FILTER_NODES);
            let opening_settings = OpeningSettings { variant: self.variant(), ..OpeningSettings::new(self.seed()) };
            return Ok(Box::new(RandomOpenings::new(opening_settings, filter)));
        };
        let mut list = read_openings(path, self.plies.unwrap_or(PLIES))?;
        openings::shuffle(&mut list, self.seed());
        if (list.len() as u64) < played.pairs && played.is_deterministic() {
            eprintln!(
                "{} holds {} openings, which make {} different games at fixed nodes or depth: no more are played",
                path.display(),
                list.len(),
                2 * list.len(),
            );
            return Ok(Box::new(list.into_iter()));
        }
        Ok(Box::new(list.into_iter().cycle()))
    }
}

/// Whether openings are the first plies of games.
pub fn has_plies(openings: Option<&Path>) -> bool {
    openings.is_some_and(|path| Kind::of(path) != Kind::Positions)
}

/// The options that limit the search, of which a player has one.
const LIMITS: [&str; 4] = ["nodes", "depth", "movetime", "tc"];

fn is_limit(option: &str) -> bool {
    LIMITS.contains(&option)
}

fn with_options(mut player: MatchPlayer, options: &[String]) -> Result<MatchPlayer, String> {
    let mut given: Vec<String> = Vec::new();
    for option in options {
        let (name, value) =
            option.split_once('=').ok_or_else(|| format!("'{option}' is not of the form name=value"))?;
        let wrong = |error: String| format!("option {name}: '{value}': {error}");
        let lower_case = name.to_lowercase();
        let is_same = |other: &String| *other == lower_case || is_limit(other) && is_limit(&lower_case);
        if let Some(other) = given.iter().find(|other| is_same(other)) {
            return Err(format!("option {name}: '{value}': this player has {other} already, one is possible"));
        }
        match lower_case.as_str() {
            "hash" => player.hash = number(1..=MAX_HASH)(value).map_err(wrong)?,
            "overhead" => {
                let milliseconds = number(0..=OVERHEAD)(value).map_err(wrong)?;
                player.options.move_overhead = Duration::from_millis(milliseconds);
            }
            "nodes" => player.budget = SearchLimits::Nodes(number(1..)(value).map_err(wrong)?),
            "depth" => player.budget = SearchLimits::Depth(number(DEPTH)(value).map_err(wrong)?),
            "tc" => player.budget = parse_clock(value).map_err(wrong)?,
            "movetime" => player.budget = parse_move_time(value).map_err(wrong)?,
            "tablebase" => {
                let base = Tablebase::open_all(value).map_err(wrong)?;
                player.options.tables = Some(Tables::new(Arc::new(base)));
            }
            _ => {
                return Err(format!(
                    "there is no option '{name}': hash, overhead, nodes, depth, tc, movetime, tablebase"
                ));
            }
        }
        given.push(lower_case);
    }
    Ok(player)
}

/// The constant that a text like `A:rfp_depth=7` sets: the player's index, its name and its value.
fn constant(text: &str) -> Result<(usize, &str, i32), String> {
    let parts = text.split_once(':').and_then(|(side, rest)| Some((side, rest.split_once('=')?)));
    let (side, (name, value)) = parts.ok_or_else(|| format!("--set '{text}' is not of the form A:name=value"))?;
    let side = match side {
        "A" | "a" => 0,
        "B" | "b" => 1,
        _ => return Err(format!("--set '{text}': the player is A or B, not '{side}'")),
    };
    let value = value.trim().parse().map_err(|_| format!("--set '{text}': '{value}' is not a whole number"))?;
    Ok((side, name.trim(), value))
}

fn budgets_of_both([a, b]: &[String; 2]) -> String {
    if a == b { a.clone() } else { format!("{a} against {b}") }
}

/// The file that the result is appended to. It is opened before the first game: a match is not played for a result that
/// cannot be written.
struct ResultsFile<'a> {
    path: &'a Path,
    file: File,
}

impl ResultsFile<'_> {
    fn open(path: &Path) -> Result<ResultsFile<'_>, Error> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let opened = files::output_path(path).and_then(|path| options.open(path));
        Ok(ResultsFile { path, file: opened.map_err(Error::file("open", path))? })
    }

    /// Whether the file has the same result, whatever time it took.
    fn has(&mut self, record: &MatchRecord) -> Result<bool, Error> {
        let timeless = |line: &[u8]| {
            let mut record: Json = serde_json::from_slice(line).ok()?;
            record.as_object_mut()?.remove("seconds")?;
            Some(record)
        };
        let wanted = timeless(line_of(record).as_bytes());
        let read = self.file.rewind().and_then(|()| BufReader::new(&self.file).split(b'\n').collect());
        let lines: Vec<Vec<u8>> = read.map_err(Error::file("read", self.path))?;
        Ok(lines.iter().any(|line| timeless(line) == wanted))
    }

    fn append(&mut self, record: &MatchRecord) -> Result<(), Error> {
        append_line(&mut self.file, line_of(record)).map_err(Error::file("write", self.path))
    }
}

fn line_of(record: &MatchRecord) -> String {
    serde_json::to_string(record).expect("a record is plain data") + "\n"
}

fn append_line(file: &mut File, mut line: String) -> io::Result<()> {
    // A full disk may have cut the last line.
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        line.insert(0, '\n');
    }
    file.write_all(line.as_bytes())
}

/// Progress after a game; `before` games were played in earlier runs.
pub(super) fn progress_line(
    played: &Match,
    game: &MatchGame,
    score: &MatchScore,
    elapsed: Duration,
    before: usize,
) -> String {
    let (done, all) = (game.number + 1, 2 * played.pairs);
    let left = elapsed.as_secs_f64() / (done - before as u64) as f64 * (all - done) as f64;
    let llr = score.llr.map_or_else(String::new, |llr| format!("  LLR {llr:+.2}"));
    format!("game {done} of {all}, {left:.0} s left  {}{llr}", score.tally)
}

fn summary(record: &MatchRecord, reasons: &BTreeMap<&str, u64>, before: usize) -> String {
    let mut text = String::new();
    let mut line =
        |name: &str, value: String| writeln!(text, "{name:<9}{value}").expect("writing to a string does not fail");
    let [a, b] = &record.names;
    let budget = budgets_of_both(&record.budgets);
    let tally = &record.tally;
    for (player, constants) in ["A", "B"].into_iter().zip(&record.constants) {
        if !constants.is_empty() {
            let constants: Vec<String> = constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
            line("Set", format!("{player}: {}", constants.join(", ")));
        }
    }
    line("Match", format!("{a} ({}) - {b} ({}), {budget}", record.ids[0], record.ids[1]));
    line("Games", format!("{}: +{} ={} -{}", tally.games(), tally.wins, tally.draws, tally.losses));
    let [low, high] = [record.score.low, record.score.high].map(|score| 100.0 * score);
    line("Score", format!("{:.2} % [{low:.2}, {high:.2}]", 100.0 * record.score.value));
    line("Elo", format!("{:+.1} +- {:.1}", record.elo.value, record.elo.error()));
    line("nElo", format!("{:+.1} +- {:.1}", record.normalized_elo.value, record.normalized_elo.error()));
    line("LOS", format!("{:.2} %", 100.0 * record.los));
    line("Pairs", format!("{:?} with 0, 1/2, 1, 3/2, 2 points", tally.pentanomial));
    if let (Some(sprt), Some(llr)) = (&record.sprt, record.llr) {
        let (lower, upper) = sprt.bounds();
        let decision = match record.decision {
            Some(Decision::H0) => "H0 is accepted",
            Some(Decision::H1) => "H1 is accepted",
            _ => "not decided",
        };
        line("LLR", format!("{llr:+.2} ({lower:.2}, {upper:.2}), {sprt}: {decision}"));
    }
    let reasons: Vec<String> = reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    let counted = if before == 0 { String::new() } else { format!(" (without the {before} games played before)") };
    line("Endings", reasons.join(", ") + &counted);
    let end = match record.end {
        MatchEnd::Decided => "the test has decided",
        MatchEnd::Complete => "all games were played",
        MatchEnd::NoMoreOpenings => "there are no more openings",
        MatchEnd::Stopped => "it was stopped",
    };
    line("Ended", format!("after {:.1} s, because {end}", record.seconds));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    fn spec(argument: &str) -> PlayerSpec {
        argument.parse().unwrap()
    }

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn the_help_has_the_defaults() {
        let mut command = <Line as clap::CommandFactory>::command();
        let help = command.render_long_help().to_string();
        for default in [GAMES, PLIES as u64, SEED] {
            assert!(help.contains(&format!("[default: {default}]")), "{help}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let wrong = |settings: MatchSettings, expected: &str| {
            let error = settings.to_match([&spec("material"), &spec("default")]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let option = |text: &str| MatchSettings { options_a: vec![text.into()], ..MatchSettings::default() };
        let draw =
            |rule: [u32; 3]| MatchSettings { draw_adjudication: Some(rule.to_vec()), ..MatchSettings::default() };
        let win = |rule: [u32; 2]| MatchSettings { win_adjudication: Some(rule.to_vec()), ..MatchSettings::default() };
        wrong(option("depth=4294967297"), "option depth: '4294967297'");
        wrong(option("depth=1000000"), "expected a whole number, 1 to 245");
        wrong(option("nodes=0"), "expected a whole number, at least 1");
        wrong(option("hash=2000000"), "expected a whole number, 1 to 1048576");
        wrong(option("overhead=60001"), "expected a whole number, 0 to 60000");
        let depth = Limits { depth: Some(1_000_000), ..Limits::default() };
        wrong(MatchSettings { limits: depth, ..MatchSettings::default() }, "depth must be 1 to 245, not 1000000");
        wrong(option("tc=1.8e19"), "a year");
        let set = |text: &str| MatchSettings { set: vec![text.into()], ..MatchSettings::default() };
        wrong(set("rfp_depth=7"), "A:name=value");
        wrong(set("C:rfp_depth=7"), "A or B, not 'C'");
        wrong(set("A:rfp_debth=7"), "no search parameter 'rfp_debth'");
        wrong(set("A:rfp_depth=x"), "'x' is not a whole number");
        wrong(set("B:rfp_depth=700"), "rfp_depth must be 5 to 14, not 700");
        let list = |texts: [&str; 2]| texts.map(String::from).to_vec();
        let options = |texts| MatchSettings { options_a: list(texts), ..MatchSettings::default() };
        wrong(options(["nodes=50", "depth=2"]), "option depth: '2': this player has nodes already");
        wrong(options(["tc=8+0.08", "tc=8"]), "option tc: '8': this player has tc already");
        wrong(options(["hash=1", "Hash=2"]), "option Hash: '2': this player has hash already");
        let sets = |texts| MatchSettings { set: list(texts), ..MatchSettings::default() };
        wrong(sets(["A:rfp_depth=7", "a:rfp_depth=8"]), "--set 'a:rfp_depth=8': it is the second value of rfp_depth");
        wrong(draw([40, 0, 10]), "draw adjudication takes 1 to");
        wrong(win([0, 600]), "win adjudication takes 1 to");
        wrong(win([u32::MAX / 2 + 1, 600]), "win adjudication takes 1 to");
        wrong(win([4, 40_000]), "no score is 40000 centipawns");
        wrong(MatchSettings { max_plies: Some(0), ..MatchSettings::default() }, "a game of no plies");
        wrong(MatchSettings { games: Some(u64::MAX), ..MatchSettings::default() }, "games must be 1 to");
        wrong(MatchSettings { threads: Some(0), ..MatchSettings::default() }, "threads must be 1 to 1024");
    }

    #[test]
    fn settings_that_would_change_nothing_are_refused() {
        let refusal = |a: &str, b: &str, option: &str, set: &str| {
            let list = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_string()] };
            let settings = MatchSettings { options_a: list(option), set: list(set), ..MatchSettings::default() };
            settings.to_match([&spec(a), &spec(b)]).map_or_else(|error| error.to_string(), |_| String::new())
        };
        for (a, b, option, set, expected) in [
            ("level:1600", "default", "tablebase=x", "", "option tablebase: it changes nothing for 'level:1600'"),
            ("default", "level:1600", "", "B:rfp_depth=7", "'level:1600' does not search with these"),
            ("default", "level:1600", "hash=2", "A:rfp_depth=7", ""),
            ("level:1600", "default", "overhead=4", "B:rfp_depth=7", ""),
            ("level:1600", "default", "Nodes=500", "", "option nodes: it changes nothing for 'level:1600'"),
        ] {
            let error = refusal(a, b, option, set);
            assert!(error.contains(expected) && error.is_empty() == expected.is_empty(), "{a} {option} {set}: {error}");
        }
        let openings = || Some(PathBuf::from("openings.epd"));
        for (settings, expected) in [
            (MatchSettings { elo_model: Some(Model::Normalized), ..MatchSettings::default() }, "elo-model: it changes"),
            (MatchSettings { plies: Some(8), ..MatchSettings::default() }, "plies: it changes nothing"),
            (
                MatchSettings { openings: openings(), plies: Some(8), ..MatchSettings::default() },
                "plies: it changes nothing without openings from games",
            ),
            (MatchSettings { openings: openings(), chess960: Some(true), ..MatchSettings::default() }, "chess960: it"),
            (MatchSettings { openings: openings(), dfrc: Some(true), ..MatchSettings::default() }, "dfrc: it changes"),
            (MatchSettings { chess960: Some(true), dfrc: Some(true), ..MatchSettings::default() }, "chess960 and dfrc"),
            (
                MatchSettings {
                    limits: Limits { nodes: Some(20), ..Limits::default() },
                    clock: Clock { tc: Some("8+0.08".into()) },
                    ..MatchSettings::default()
                },
                "a clock (tc) and another limit",
            ),
            (
                MatchSettings {
                    limits: Limits { nodes: Some(20), depth: Some(4), ..Limits::default() },
                    ..MatchSettings::default()
                },
                "nodes, depth, movetime",
            ),
        ] {
            let error = settings.to_match([&spec("material"), &spec("default")]).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_limit_that_neither_player_searches_with_is_refused() {
        let limits = |nodes, movetime| Limits { nodes, depth: None, movetime };
        for (players, options, limits, expected) in [
            (["default", "default"], ["", ""], limits(Some(50), None), ""),
            (["default", "default"], ["depth=3", "hash=2"], limits(Some(50), None), ""),
            (["default", "default"], ["depth=3", "Nodes=5"], limits(Some(50), None), "nodes: it changes nothing"),
            (["level:1600", "level:1400"], ["", ""], limits(Some(50), None), "nodes: it changes nothing"),
            (["level:1600", "default"], ["", "tc=8"], limits(None, Some(1.0)), ""),
            (["level:1600", "default"], ["", "tc=8"], limits(Some(50), None), "nodes: it changes nothing"),
            (["level:1600", "level:1400"], ["tc=8", "tc=8"], limits(None, None), ""),
        ] {
            let [options_a, options_b] =
                options.map(|text| if text.is_empty() { Vec::new() } else { vec![text.to_string()] });
            let settings = MatchSettings { limits, options_a, options_b, ..MatchSettings::default() };
            let specs = players.map(spec);
            let error = settings.check_limits(specs.each_ref()).err().unwrap_or_default();
            assert!(error.contains(expected) && error.is_empty() == expected.is_empty(), "{players:?}: {error}");
        }
    }

    #[test]
    fn each_player_has_its_own_constants() {
        let set = ["A:rfp_depth=7", "b:qs_see=-10", "B:rfp_depth=12"].map(String::from).to_vec();
        let played =
            MatchSettings { set, ..MatchSettings::default() }.to_match([&spec("default"), &spec("default")]).unwrap();
        let [a, b] = played.players.map(|player| player.options.params.changed());
        assert_eq!((a, b), (vec![("rfp_depth", 7)], vec![("rfp_depth", 12), ("qs_see", -10)]));
    }

    #[test]
    fn budgets() {
        let seconds = Duration::from_secs_f64;
        let clock = SearchLimits::Clock { base: seconds(8.0), increment: seconds(0.08), nps: None };
        let by_nodes =
            SearchLimits::Clock { base: seconds(8.0), increment: seconds(0.08), nps: NonZeroU64::new(200_000) };
        let limited = |limits| MatchSettings { limits, ..MatchSettings::default() };
        let cases = [
            (MatchSettings::default(), SearchLimits::Nodes(20_000)),
            (limited(Limits { nodes: Some(5), ..Limits::default() }), SearchLimits::Nodes(5)),
            (limited(Limits { depth: Some(5), ..Limits::default() }), SearchLimits::Depth(5)),
            (MatchSettings { clock: Clock { tc: Some("8+0.08".into()) }, ..MatchSettings::default() }, clock),
            (MatchSettings { clock: Clock { tc: Some("8+0.08@200000".into()) }, ..MatchSettings::default() }, by_nodes),
            (limited(Limits { movetime: Some(0.5), ..Limits::default() }), SearchLimits::MoveTime(seconds(0.5))),
        ];
        for (settings, budget) in cases {
            assert_eq!(settings.budget(), Ok(budget));
        }
        assert!(spec("deepchess:a.bin").check_clock(by_nodes).unwrap_err().contains("'deepchess:a.bin'"));
        for (argument, budget) in [("deepchess:a.bin", clock), ("default", by_nodes)] {
            assert_eq!(spec(argument).check_clock(budget), Ok(()));
        }
        for text in ["", "x", "-1", "1+", "1e300", "NaN", "1.8e19+1.8e19", "60+1e8", "8+0.08@", "8@0", "@5"] {
            assert!(parse_clock(text).is_err(), "{text}");
        }
    }
}
