//! `dyad prepare`: games and positions to a sample file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dyad_formats::atomic::check_output;
use dyad_formats::choice::weights_id;
use dyad_formats::game::BrokenGame;
use dyad_formats::samples::Summary;
use dyad_formats::score::{GameResult, ScoreSide};
use dyad_trainer::data::positions::Duplicates;
use dyad_trainer::data::prepare::{Counts, Event, Job, Settings, Stage, prepare};

use super::progress::Progress;
use super::{Outcome, settings, stop_on_interrupt, threads};

/// Broken games that are shown one by one.
const SHOWN_BROKEN: u64 = 20;

#[derive(Args)]
pub struct Arguments {
    /// Games (.pgn) and positions (.epd), plain, packed (.zst, .gz, .bz2) or in archives (.tar) of such files, as OpenBench
    /// has them; games in viriformat (.vf) and, in builds with that feature, binpack (.binpack); positions in bulletformat
    /// (.bullet).
    files: Vec<PathBuf>,
    /// The sample file to write.
    #[arg(long, short)]
    out: PathBuf,
    /// Settings from a JSON file; the other arguments override it.
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Read the scores in comments, which are given from this side.
    #[arg(long, value_enum)]
    scores: Option<Side>,
    /// Percent of the games that are kept out of training.
    #[arg(long)]
    test_percent: Option<f64>,
    /// Games that the positions of EPD files come from: a position is split with the first game it occurs in.
    #[arg(long)]
    split_by: Vec<PathBuf>,
    /// Draw so many positions.
    #[arg(long)]
    count: Option<u64>,
    /// Seed of all draws.
    #[arg(long)]
    seed: Option<u64>,
    /// Lowest rating of the side to move.
    #[arg(long)]
    min_rating: Option<u32>,
    /// Highest rating of the side to move.
    #[arg(long)]
    max_rating: Option<u32>,
    /// Lowest rating of both players.
    #[arg(long)]
    min_players: Option<u32>,
    /// First ply; 0 is White's first move.
    #[arg(long)]
    min_ply: Option<u32>,
    /// Last ply.
    #[arg(long)]
    max_ply: Option<u32>,
    /// Results to take, such as 1-0,0-1.
    #[arg(long, value_delimiter = ',')]
    results: Vec<GameResult>,
    /// Words of which event or time control must contain one.
    #[arg(long, value_delimiter = ',')]
    event: Vec<String>,
    /// Words of which event and time control must contain none.
    #[arg(long, value_delimiter = ',')]
    not_event: Vec<String>,
    /// At most so many positions of a game.
    #[arg(long)]
    per_game: Option<usize>,
    /// Only positions with a score.
    #[arg(long)]
    scored: bool,
    /// Leave out scores from so many pawns on, and mates.
    #[arg(long)]
    max_score: Option<f64>,
    /// Only positions not in check, with a move that neither captures nor promotes.
    #[arg(long)]
    quiet: bool,
    /// Only positions not in check where no capture and no promotion wins material.
    #[arg(long)]
    still: bool,
    /// Leave out positions in check.
    #[arg(long)]
    no_checks: bool,
    /// Take positions with a single legal move.
    #[arg(long)]
    forced: bool,
    /// Take moves out of an opening book.
    #[arg(long)]
    book: bool,
    /// Take moves that mate.
    #[arg(long)]
    mates: bool,
    /// A move is to be learned only where the engine told (option PgnComment) that it is so many centipawns better than the
    /// second best.
    #[arg(long, value_name = "CENTIPAWNS")]
    decided: Option<u32>,
    /// Only positions of which the engine told (option PgnComment) that it chose with the weights of this id.
    #[arg(long, value_name = "ID")]
    told_by: Option<String>,
    /// What to do with positions that came before.
    #[arg(long, value_enum)]
    duplicates: Option<Repeats>,
    /// Folders with endgame tables, separated by `;`: positions that they hold get the result that they know.
    #[arg(long, value_name = "PATH")]
    tablebase: Option<String>,
    /// Threads [default: one per processor].
    #[arg(long)]
    threads: Option<usize>,
}

/// Whose point of view scores have.
#[derive(Clone, Copy, ValueEnum)]
pub enum Side {
    /// Positive is good for White.
    White,
    /// Positive is good for the side that made the move, as Cute Chess and fastchess write it.
    Mover,
}

impl From<Side> for ScoreSide {
    fn from(side: Side) -> ScoreSide {
        match side {
            Side::White => ScoreSide::White,
            Side::Mover => ScoreSide::Mover,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Repeats {
    /// Keep the first.
    Drop,
    /// Keep the first with each move.
    Moves,
    /// Keep all.
    Keep,
}

impl From<Repeats> for Duplicates {
    fn from(repeats: Repeats) -> Duplicates {
        match repeats {
            Repeats::Drop => Duplicates::Drop,
            Repeats::Moves => Duplicates::Moves,
            Repeats::Keep => Duplicates::Keep,
        }
    }
}

/// Makes a sample file and says what it holds.
pub fn run(arguments: Arguments) -> Outcome {
    let mut settings: Settings = settings::load(arguments.settings.as_deref(), "prepare")?;
    check_output(&arguments.out, arguments.settings.as_deref())?;
    let (out, asked) = (arguments.out.clone(), arguments.threads);
    arguments.fill(&mut settings);
    let stop = stop_on_interrupt();
    let mut progress = Progress::new();
    let mut broken = 0;
    let mut report = |event: Event<'_>| match event {
        Event::Broken(game) | Event::Partial(game) => {
            broken += 1;
            show_broken(&progress, game, broken);
        }
        Event::Progress { stage, games, positions } => {
            let (stage, seconds) = (name(stage), progress.elapsed().as_secs());
            progress.show(|| format!("{stage}: {games} games, {positions} positions, {seconds} s"));
        }
    };
    let mut job = Job { threads: threads("threads", asked)?, stop: &stop, report: &mut report };
    let (summary, counts) = prepare(&settings, &out, &mut job)?;
    drop(progress);
    if settings.scores.is_some() && counts.scores == 0 {
        eprintln!("warning: no game or line has a score in a form that is known");
    }
    print(&summary, &counts);
    Ok(())
}

impl Arguments {
    /// Overrides what was given.
    fn fill(self, settings: &mut Settings) {
        fn over<T>(place: &mut T, given: Option<T>) {
            if let Some(given) = given {
                *place = given;
            }
        }
        fn over_list<T>(place: &mut Vec<T>, given: Vec<T>) {
            if !given.is_empty() {
                *place = given;
            }
        }
        let filters = &mut settings.filters;
        over_list(&mut settings.inputs, self.files);
        over_list(&mut settings.split_by, self.split_by);
        over(&mut settings.test_percent, self.test_percent);
        over(&mut settings.seed, self.seed);
        settings.scores = self.scores.map(ScoreSide::from).or(settings.scores);
        settings.count = self.count.or(settings.count);
        settings.tablebase = self.tablebase.or(settings.tablebase.take());
        over_list(&mut filters.results, self.results);
        over_list(&mut filters.event_words, self.event);
        over_list(&mut filters.event_not_words, self.not_event);
        over(&mut filters.plies[0], self.min_ply);
        over(&mut filters.plies[1], self.max_ply);
        over(&mut filters.decided, self.decided);
        filters.told_by = self.told_by.or(filters.told_by.take());
        over(&mut filters.duplicates, self.duplicates.map(Duplicates::from));
        filters.mover_rating =
            [self.min_rating.or(filters.mover_rating[0]), self.max_rating.or(filters.mover_rating[1])];
        filters.players_rating = self.min_players.or(filters.players_rating);
        filters.per_game = self.per_game.or(filters.per_game);
        filters.largest_score = self.max_score.or(filters.largest_score);
        filters.scored |= self.scored;
        filters.quiet |= self.quiet;
        filters.still |= self.still;
        filters.no_checks |= self.no_checks;
        filters.forced |= self.forced;
        filters.book |= self.book;
        filters.mates |= self.mates;
    }
}

/// Reports one of `count` broken games so far.
pub(super) fn show_broken(progress: &Progress, game: &BrokenGame, count: u64) {
    if count <= SHOWN_BROKEN {
        progress.say(&game.to_string());
    } else if count == SHOWN_BROKEN + 1 {
        progress.say("further broken games are only counted");
    }
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Splitting => "finding held-out positions",
        Stage::Counting => "counting",
        Stage::Writing => "writing",
    }
}

fn print(summary: &Summary, counts: &Counts) {
    println!("{} games or lines read, {} of them broken", counts.games, counts.broken);
    for (reason, count) in &counts.left_out {
        println!("{count:>10} left out: {}", reason.name());
    }
    for (weights, count) in &counts.told {
        println!("{count:>10} with a runner-up told by weights {}", weights_id(*weights));
    }
    println!(
        "{:>10} positions written, {} of them for testing, from {} games; identity {:016x}",
        summary.count, summary.tests, summary.games, summary.identity
    );
}
