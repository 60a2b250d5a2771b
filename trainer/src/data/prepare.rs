//! From games and positions to a sample file.
//!
//! Reading, decompressing and replaying take the time and run on all threads; duplicates, the draw of positions and
//! writing depend on the order of the files and run in this order. So the result does not depend on the number of
//! threads. To draw an exact number of positions evenly from files of unknown length, they are read twice: the first
//! pass finds the limit of the random numbers of the drawn positions. This takes 8 bytes per position, where a
//! reservoir would take 40.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter;
use std::path::{Path, PathBuf};

use clap::Args;
use dyad_engine::control::Control;
use dyad_formats::entries::{Content, Entry, entries};
use dyad_formats::epd::Epd;
use dyad_formats::error::Error;
use dyad_formats::files::check_output;
use dyad_formats::game::{BrokenGame, GameRecord};
use dyad_formats::hash;
use dyad_formats::input::Kind;
use dyad_formats::packed::Packed;
use dyad_formats::pgn::check_side;
use dyad_formats::samples::{SampleSummary, SampleWriter};
use dyad_formats::score::ScoreSide;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::base::context::Context;
use crate::base::number::number;
use crate::base::parallel::ordered_for_each;
use crate::data::positions::{Filters, PERCENT, PositionCandidate, SkipReason, TEST_PERCENT, is_held_out};

/// Games or lines per unit of work.
const BATCH: usize = 64;

/// Settings of a preparation.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct PrepareSettings {
    /// Games (.pgn) and positions (.epd), plain or packed (.zst, .gz); `-` is standard input
    #[arg(value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Side that the scores in comments are given for: `white` or `mover` (Cute Chess, fastchess) [default: scores are
    /// not read]
    #[arg(long, value_name = "SIDE")]
    pub scores: Option<ScoreSide>,
    /// Filters of positions.
    #[command(flatten, next_help_heading = "Positions")]
    pub filters: Filters,
    /// Percentage of the games that are held out for testing
    #[arg(long, value_name = "PERCENT", value_parser = number(PERCENT), default_value_t = Self::default().test_percent)]
    pub test_percent: f64,
    /// Games that the positions of EPD files come from: a position is held out with the first game it occurs in [default:
    /// each position by itself]
    #[arg(long, value_name = "FILE")]
    pub split_by: Vec<PathBuf>,
    /// Positions to draw [default: all]
    #[serde(rename = "positions")]
    #[arg(long = "positions", value_name = "N", value_parser = number::<u64>(1..))]
    pub count: Option<u64>,
    /// Seed of all draws
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
    pub seed: u64,
}

impl Default for PrepareSettings {
    fn default() -> PrepareSettings {
        PrepareSettings {
            inputs: Vec::new(),
            scores: None,
            filters: Filters::default(),
            test_percent: TEST_PERCENT,
            split_by: Vec::new(),
            count: None,
            seed: 1,
        }
    }
}

/// An event while files are read.
#[derive(Clone, Debug)]
pub enum PrepareEvent {
    /// A game or a line cannot be used.
    Broken(BrokenGame),
    /// Progress of a pass.
    Progress {
        /// The pass.
        pass: PreparePass,
        /// Games, or lines of EPD files, read so far.
        games: u64,
        /// Positions that passed all filters.
        positions: u64,
    },
}

/// The passes over the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreparePass {
    /// Finding how many positions there are.
    Counting,
    /// Writing samples.
    Writing,
}

/// Counts of a preparation.
#[derive(Clone, Debug, Default)]
pub struct PrepareCounts {
    /// Games and lines read, broken ones among them.
    pub games: u64,
    /// Games and lines that cannot be used.
    pub broken: u64,
    /// The first of them, and its problem.
    pub first_broken: Option<String>,
    /// Skipped positions (or whole games), by reason.
    pub left_out: BTreeMap<SkipReason, u64>,
    /// Positions that passed all filters.
    pub positions: u64,
    /// Scores that the games and lines have.
    pub scores: u64,
}

impl PrepareCounts {
    fn leave_out(&mut self, reason: SkipReason) {
        self.leave_out_all(reason, 1);
    }

    fn leave_out_all(&mut self, reason: SkipReason, count: usize) {
        if count > 0 {
            *self.left_out.entry(reason).or_default() += count as u64;
        }
    }

    fn add(&mut self, other: PrepareCounts) {
        self.games += other.games;
        self.broken += other.broken;
        self.first_broken = self.first_broken.take().or(other.first_broken);
        for (reason, count) in other.left_out {
            *self.left_out.entry(reason).or_default() += count;
        }
        self.scores += other.scores;
    }
}

/// Makes a sample file.
///
/// # Errors
/// When settings contradict each other or the files, a file cannot be read or written, no position is found, or the
/// work was stopped.
pub fn prepare(
    settings: &PrepareSettings,
    out: &Path,
    context: &mut Context<PrepareEvent>,
) -> Result<(SampleSummary, PrepareCounts), Error> {
    if settings.inputs.is_empty() {
        return Err(Error::Settings("no files to read".to_string()));
    }
    check_output(out, settings.inputs.iter().chain(&settings.split_by))?;
    if let Some(side) = settings.scores {
        check_side(settings.inputs.iter().map(PathBuf::as_path), side)?;
    }
    let mut writer = SampleWriter::create(out, described(settings))?;
    let origins = origins(settings, context.stop)?;
    let limit = draw_limit(settings, &origins, context)?;
    let mut selection = Selection::new(settings);
    let mut counts = PrepareCounts::default();
    read(settings, &origins, PreparePass::Writing, context, &mut counts, |batch, counts| {
        for game in batch {
            let mut starts_game = true;
            for (mut candidate, priority) in selection.select(game, counts) {
                if priority > limit {
                    counts.leave_out(SkipReason::Count);
                    continue;
                }
                candidate.sample.set_starts_game(starts_game);
                starts_game = false;
                counts.positions += 1;
                writer.push(&candidate.sample)?;
            }
        }
        Ok(())
    })?;
    if counts.positions == 0 {
        let scores = match settings.scores {
            _ if counts.scores > 0 => "",
            Some(_) => ", and no score",
            None if settings.filters.scored => "; scores in comments are read with --scores white or --scores mover",
            None => "",
        };
        let reasons: Vec<String> =
            counts.left_out.iter().map(|(reason, count)| format!("{count} left out: {}", reason.name())).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!("; {}", reasons.join(", ")) };
        let first = counts.first_broken.map_or_else(String::new, |first| format!("; {first}"));
        return Err(Error::Nothing(format!(
            "no position was found in {} games and lines, {} of them broken{scores}{reasons}{first}",
            counts.games, counts.broken
        )));
    }
    writer.note("read", json!({ "games": counts.games, "broken": counts.broken }));
    Ok((writer.finish()?, counts))
}

/// Draws samples from games in memory: those that [`prepare`] draws from a file of these games.
pub fn draw(settings: &PrepareSettings, games: &[GameRecord]) -> Vec<Packed> {
    let mut output = Output::default();
    games.iter().for_each(|game| output.game(game, settings));
    let (mut selection, mut counts) = (Selection::new(settings), PrepareCounts::default());
    let games: Vec<Vec<(PositionCandidate, u64)>> =
        output.selected.into_iter().map(|game| selection.select(game, &mut counts)).collect();
    let limit = limit_of(settings.count, games.iter().flatten().map(|&(_, priority)| priority).collect());
    let mut samples = Vec::new();
    for game in games {
        for (number, (mut candidate, _)) in game.into_iter().filter(|&(_, priority)| priority <= limit).enumerate() {
            candidate.sample.set_starts_game(number == 0);
            samples.push(candidate.sample);
        }
    }
    samples
}

/// The largest of the random numbers with which `count` positions are drawn.
fn limit_of(count: Option<u64>, mut priorities: Vec<u64>) -> u64 {
    match count {
        Some(count) if (count as usize) < priorities.len() => *priorities.select_nth_unstable(count as usize - 1).1,
        _ => u64::MAX,
    }
}

/// The settings in the sample file: the names of files without folders.
fn described(settings: &PrepareSettings) -> serde_json::Value {
    let name = |path: &PathBuf| PathBuf::from(path.file_name().unwrap_or_default());
    let [inputs, split_by] = [&settings.inputs, &settings.split_by].map(|paths| paths.iter().map(name).collect());
    json!({ "prepare": PrepareSettings { inputs, split_by, ..settings.clone() } })
}

/// Whether the positions of EPD files are held out, by key; `None` for those of no known game.
type Origins = HashMap<u64, Option<bool>>;

/// Finds the game of every position of an EPD file: the first one it occurs in. If any held-out game counted instead,
/// nearly all well-known openings would be test positions.
fn origins(settings: &PrepareSettings, stop: &Control) -> Result<Origins, Error> {
    let mut origins = Origins::new();
    let is_list = |path: &&PathBuf| !settings.split_by.is_empty() && Kind::of(path) == Kind::Positions;
    let lists: Vec<PathBuf> = settings.inputs.iter().filter(is_list).cloned().collect();
    for batch in batches(&lists).chain(batches(&settings.split_by)) {
        if stop.stopped() {
            return Err(Error::Stopped);
        }
        for content in batch?.into_iter().filter_map(|entry| entry.parse(None).ok()) {
            match content {
                Content::Position(epd) => drop(origins.entry(epd.board.key()).or_default()),
                Content::Game(game) => {
                    let test = is_held_out(game.hash(), settings.test_percent);
                    for (board, _) in game.positions() {
                        origins.entry(board.key()).and_modify(|origin| *origin = origin.or(Some(test)));
                    }
                }
            }
        }
    }
    Ok(origins)
}

/// The limit of the random numbers of the positions that are drawn.
fn draw_limit(
    settings: &PrepareSettings,
    origins: &Origins,
    context: &mut Context<PrepareEvent>,
) -> Result<u64, Error> {
    if settings.count.is_none() {
        return Ok(u64::MAX);
    }
    let mut priorities = Vec::new();
    let mut selection = Selection::new(settings);
    let mut counts = PrepareCounts::default();
    read(settings, origins, PreparePass::Counting, context, &mut counts, |batch, counts| {
        for game in batch {
            priorities.extend(selection.select(game, counts).into_iter().map(|(_, priority)| priority));
        }
        counts.positions = priorities.len() as u64;
        Ok(())
    })?;
    Ok(limit_of(settings.count, priorities))
}

/// The selection that depends on the order of games: duplicates and draws.
struct Selection<'a> {
    settings: &'a PrepareSettings,
    games: HashSet<u64>,
    positions: HashSet<u64>,
    drawn: u64,
}

impl Selection<'_> {
    fn new(settings: &PrepareSettings) -> Selection<'_> {
        Selection { settings, games: HashSet::new(), positions: HashSet::new(), drawn: 0 }
    }

    /// The selected positions of a game, with their random numbers.
    fn select(&mut self, game: Selected, counts: &mut PrepareCounts) -> Vec<(PositionCandidate, u64)> {
        // A later copy of the game may have ratings or scores that this one lacks.
        if game.candidates.is_empty() {
            return Vec::new();
        }
        if game.hash.is_some_and(|hash| !self.games.insert(hash)) {
            counts.leave_out(SkipReason::DuplicateGame);
            return Vec::new();
        }
        let mut taken = game.candidates;
        let before = taken.len();
        taken.retain(|candidate| self.positions.insert(candidate.identity));
        counts.leave_out_all(SkipReason::Duplicate, before - taken.len());
        if let Some(most) = self.settings.filters.per_game.filter(|&most| most < taken.len()) {
            counts.leave_out_all(SkipReason::PerGame, taken.len() - most);
            let seed = hash::fold(self.settings.seed, self.drawn);
            let number = |candidate: &PositionCandidate| hash::fold(seed, candidate.identity);
            let limit = limit_of(Some(most as u64), taken.iter().map(number).collect());
            taken.retain(|candidate| number(candidate) <= limit);
        }
        let number = |drawn: &mut u64| {
            *drawn += 1;
            hash::fold(hash::mix(self.settings.seed), *drawn)
        };
        taken.into_iter().map(|candidate| (candidate, number(&mut self.drawn))).collect()
    }
}

/// The candidates of a game or of a line of an EPD file.
struct Selected {
    /// Hash of the game; `None` for a line.
    hash: Option<u64>,
    candidates: Vec<PositionCandidate>,
}

/// The result of a unit of work.
#[derive(Default)]
struct Output {
    counts: PrepareCounts,
    broken: Vec<BrokenGame>,
    selected: Vec<Selected>,
}

/// Reads the files. Broken games are reported by the last pass alone.
fn read(
    settings: &PrepareSettings,
    origins: &Origins,
    pass: PreparePass,
    context: &mut Context<PrepareEvent>,
    counts: &mut PrepareCounts,
    mut take: impl FnMut(Vec<Selected>, &mut PrepareCounts) -> Result<(), Error>,
) -> Result<(), Error> {
    let digest = |output: Output| {
        counts.add(output.counts);
        if pass == PreparePass::Writing {
            output.broken.into_iter().map(PrepareEvent::Broken).for_each(&mut *context.on_event);
        }
        take(output.selected, counts)?;
        (context.on_event)(PrepareEvent::Progress { pass, games: counts.games, positions: counts.positions });
        if context.stop.stopped() { Err(Error::Stopped) } else { Ok(()) }
    };
    let work = |(): &mut (), batch: Result<Vec<Entry>, Error>| batch.map(|batch| work(batch, settings, origins));
    ordered_for_each(context.threads, batches(&settings.inputs), || Ok(()), work, digest)
}

fn work(batch: Vec<Entry>, settings: &PrepareSettings, origins: &Origins) -> Output {
    let mut output = Output::default();
    for entry in batch {
        output.counts.games += 1;
        match entry.parse(settings.scores) {
            Ok(Content::Game(game)) => output.game(&game, settings),
            Ok(Content::Position(epd)) => output.position(&epd, settings, origins),
            Err(broken) => output.broken(broken),
        }
    }
    output
}

impl Output {
    fn broken(&mut self, broken: BrokenGame) {
        self.counts.broken += 1;
        self.counts.first_broken.get_or_insert_with(|| broken.to_string());
        self.broken.push(broken);
    }

    fn game(&mut self, game: &GameRecord, settings: &PrepareSettings) {
        self.counts.scores += game.moves.iter().filter(|played| played.score.is_some()).count() as u64;
        if let Err(reason) = settings.filters.game(game) {
            return self.counts.leave_out(reason);
        }
        let hash = game.hash();
        let test = is_held_out(hash, settings.test_percent);
        let candidates = settings.filters.positions(game, test, |reason| self.counts.leave_out(reason));
        self.selected.push(Selected { hash: Some(hash), candidates });
    }

    fn position(&mut self, epd: &Epd, settings: &PrepareSettings, origins: &Origins) {
        self.counts.scores += u64::from(epd.score.is_some());
        let key = epd.board.key();
        let test = origins.get(&key).copied().flatten().unwrap_or_else(|| is_held_out(key, settings.test_percent));
        match settings.filters.position(epd, test) {
            Ok(candidate) => self.selected.push(Selected { hash: None, candidates: vec![candidate] }),
            Err(reason) => self.counts.leave_out(reason),
        }
    }
}

/// The games and lines of the files, which are opened one after another, in units of work.
fn batches(inputs: &[PathBuf]) -> impl Iterator<Item = Result<Vec<Entry>, Error>> + Send {
    let of_file = |path: &PathBuf| entries(path).unwrap_or_else(|error| Box::new(iter::once(Err(error))));
    let mut all = inputs.iter().flat_map(of_file);
    iter::from_fn(move || {
        let batch: Result<Vec<Entry>, Error> = all.by_ref().take(BATCH).collect();
        Some(batch).filter(|batch| batch.as_ref().map_or(true, |batch| !batch.is_empty()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board;
    use dyad_formats::packed::Sample;
    use dyad_formats::samples::SampleFile;
    use dyad_formats::testing::Temporary;
    use dyad_formats::testing::{MATE, SPECIAL};
    use std::fs;

    /// Random games that end after `plies` plies.
    fn random_games(count: u64, plies: usize) -> String {
        (0..count)
            .map(|game| {
                let (mut board, mut pgn) = (Board::startpos(), String::new());
                for ply in 0..plies as u64 {
                    let moves = board.moves();
                    if moves.is_empty() {
                        break;
                    }
                    let mv = moves[(hash::fold(game, ply) % moves.len() as u64) as usize];
                    pgn += &format!("{} ", board.san(mv));
                    board = board.after(mv);
                }
                format!("[White \"{game}\"]\n\n{pgn}1/2-1/2\n\n")
            })
            .collect()
    }

    fn run_with(
        settings: &PrepareSettings,
        out: &Path,
        threads: usize,
        on_event: &mut dyn FnMut(PrepareEvent),
    ) -> Result<(SampleSummary, PrepareCounts), Error> {
        prepare(settings, out, &mut Context { threads, stop: &Control::new(false), on_event })
    }

    fn samples(content: &str, settings: PrepareSettings) -> (Vec<Sample>, PrepareCounts) {
        let folder = Temporary::folder();
        let input = folder.join(if content.contains("c9") { "in.epd" } else { "in.pgn" });
        fs::write(&input, content).unwrap();
        let out = folder.join("out.samples");
        let settings = PrepareSettings { inputs: vec![input], ..settings };
        let (_, counts) = run_with(&settings, &out, 2, &mut |_| ()).unwrap();
        let file = SampleFile::open(&out).unwrap();
        ((0..file.samples.len()).map(|index| file.read(index).unwrap()).collect(), counts)
    }

    fn filtered(filters: Filters) -> (usize, PrepareCounts) {
        let settings = PrepareSettings { filters, scores: Some(ScoreSide::Mover), ..PrepareSettings::default() };
        let (samples, counts) = samples(&format!("{SPECIAL}\n{MATE}"), settings);
        (samples.len(), counts)
    }

    #[test]
    fn every_filter_counts_what_it_takes() {
        // 30 and 7 positions; a book move and a mating move; the initial position and that after 1. e4 twice.
        let all = Filters::default();
        let cases = [
            ("all", all.clone(), 33, SkipReason::Duplicate, 2),
            ("book", all.clone(), 33, SkipReason::Book, 1),
            ("mates", all.clone(), 33, SkipReason::Mate, 1),
            ("players", Filters { players_rating: Some(2400), ..all.clone() }, 6, SkipReason::Rating, 1),
            ("decisive", Filters { decisive: true, ..all.clone() }, 33, SkipReason::Duplicate, 2),
            ("ply", Filters { min_ply: 4, ..all.clone() }, 28, SkipReason::Ply, 8),
            ("per-game", Filters { per_game: Some(5), ..all.clone() }, 9, SkipReason::PerGame, 24),
            ("scored", Filters { scored: true, ..all.clone() }, 5, SkipReason::Score, 31),
            ("large", Filters { largest_score: Some(10.0), ..all.clone() }, 31, SkipReason::Score, 2),
            ("quiet", Filters { quiet: true, ..all.clone() }, 27, SkipReason::Noisy, 7),
            ("quiescent", Filters { quiescent: true, ..all.clone() }, 23, SkipReason::Tactical, 11),
        ];
        for (name, filters, expected, reason, times) in cases {
            let (count, counts) = filtered(filters);
            assert_eq!(count, expected, "{name}: {counts:?}");
            assert_eq!(counts.left_out.get(&reason).copied(), Some(times), "{name}: {counts:?}");
            assert_eq!((counts.games, counts.broken, counts.positions), (2, 0, count as u64), "{name}");
        }
    }

    #[test]
    fn broken_games_are_reported_and_equal_games_dropped() {
        let folder = Temporary::folder();
        let input = folder.join("in.pgn");
        fs::write(&input, format!("{MATE}\n1. e4 Ke6 *\n\n{MATE}\n{SPECIAL}")).unwrap();
        let settings = PrepareSettings { inputs: vec![input], ..PrepareSettings::default() };
        let mut broken = Vec::new();
        let (summary, counts) = run_with(&settings, &folder.join("out"), 1, &mut |event| {
            if let PrepareEvent::Broken(game) = event {
                broken.push(game.to_string());
            }
        })
        .unwrap();
        assert_eq!(broken.len(), 1);
        assert!(broken[0].contains("in.pgn:9: ") && broken[0].contains("1... Ke6"), "{broken:?}");
        assert_eq!((counts.games, counts.broken, summary.games), (4, 1, 2));
        assert_eq!(counts.left_out[&SkipReason::DuplicateGame], 1);
    }

    #[test]
    fn a_number_of_positions_is_drawn_exactly_and_by_seed() {
        let games = random_games(40, 60);
        let draw = |seed, count| {
            let (samples, _) = samples(&games, PrepareSettings { count, seed, ..PrepareSettings::default() });
            samples.iter().map(|sample| sample.board.key()).collect::<Vec<_>>()
        };
        let all = draw(1, None);
        let some = draw(1, Some(500));
        assert!(all.len() > 1_500);
        assert_eq!(some.len(), 500);
        assert_eq!(draw(1, Some(500)), some);
        assert_ne!(draw(2, Some(500)), some);
        // Evenly: the first half of the file gives about half.
        let half: HashSet<u64> = all[..all.len() / 2].iter().copied().collect();
        let first = some.iter().filter(|key| half.contains(key)).count();
        assert!((200..300).contains(&first), "{first}");
        assert_eq!(draw(1, Some(1_000_000)), all);
    }

    #[test]
    fn games_are_split_whole() {
        let settings = PrepareSettings { test_percent: 30.0, ..PrepareSettings::default() };
        let (samples, _) = samples(&random_games(60, 40), settings);
        let games: Vec<&[Sample]> = samples.chunk_by(|_, next| !next.starts_game).collect();
        assert_eq!(games.len(), 60);
        assert!(games.iter().all(|game| game.iter().all(|sample| sample.test == game[0].test)));
        let tests = games.iter().filter(|game| game[0].test).count();
        assert!((10..28).contains(&tests), "{tests}");
        let keys = |test| -> HashSet<u64> {
            samples.iter().filter(|sample| sample.test == test).map(|sample| sample.board.key()).collect()
        };
        assert!(keys(true).is_disjoint(&keys(false)));
    }

    #[test]
    fn lines_are_split_by_the_games_they_come_from() {
        let folder = Temporary::folder();
        let [games, epd, out] = ["games.pgn", "lines.epd", "out"].map(|name| folder.join(name));
        fs::write(&games, random_games(60, 40)).unwrap();
        let read = |inputs: &Path, split_by: &[PathBuf]| -> Vec<Sample> {
            let (inputs, split_by) = (vec![inputs.to_path_buf()], split_by.to_vec());
            let settings = PrepareSettings { inputs, split_by, test_percent: 30.0, ..PrepareSettings::default() };
            run_with(&settings, &out, 2, &mut |_| ()).unwrap();
            let file = SampleFile::open(&out).unwrap();
            (0..file.samples.len()).map(|index| file.read(index).unwrap()).collect()
        };
        let samples = read(&games, &[]);
        let lines = samples.iter().rev().map(|sample| sample.board.fen() + " c9 \"1-0\";\n");
        fs::write(&epd, lines.collect::<String>()).unwrap();
        let tests = |samples: Vec<Sample>| -> HashSet<u64> {
            samples.into_iter().filter(|sample| sample.test).map(|sample| sample.board.key()).collect()
        };
        assert_eq!(tests(read(&epd, std::slice::from_ref(&games))), tests(samples));
    }

    #[test]
    fn positions_of_lines_keep_result_and_move() {
        let lines = "\u{FEFF}4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; c9 \"1-0\"; ce 120;\n  # a remark\n\n\
            4k3/8/8/8/8/8/4P3/4K3 b - - c9 \"0-1\";\nnonsense\n4k3/8/8/8/8/8/4P3/4K3 w - - c9 \"0-1\";\n";
        let (samples, counts) = samples(lines, PrepareSettings::default());
        assert_eq!((counts.games, counts.broken, samples.len()), (4, 1, 2));
        assert_eq!(samples[0].desired.map(|mv| mv.to_string()).as_deref(), Some("e2e4"));
        assert_eq!(samples[0].score.map(|score| score.0), Some(120));
        assert_eq!(samples[1].points(), Some(1.0));
        assert!(samples.iter().all(|sample| sample.starts_game));
    }

    #[test]
    fn threads_change_nothing() {
        let folder = Temporary::folder();
        let input = folder.join("in.pgn");
        fs::write(&input, random_games(300, 30)).unwrap();
        let filters = Filters { per_game: Some(7), ..Filters::default() };
        let settings =
            PrepareSettings { inputs: vec![input], filters, count: Some(1_000), ..PrepareSettings::default() };
        let identities: HashSet<u64> = [1, 2, 4]
            .map(|threads| run_with(&settings, &folder.join("out"), threads, &mut |_| ()).unwrap().0.identity)
            .into();
        assert_eq!(identities.len(), 1);
    }

    #[test]
    fn a_stop_leaves_no_file() {
        let folder = Temporary::folder();
        let input = folder.join("in.pgn");
        fs::write(&input, random_games(300, 30)).unwrap();
        let stop = Control::new(false);
        let mut on_event = |event: PrepareEvent| {
            if matches!(event, PrepareEvent::Progress { .. }) {
                stop.stop();
            }
        };
        let settings = PrepareSettings { inputs: vec![input], ..PrepareSettings::default() };
        let out = folder.join("out");
        let stopped = prepare(&settings, &out, &mut Context { threads: 2, stop: &stop, on_event: &mut on_event });
        assert!(matches!(stopped, Err(Error::Stopped)));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
