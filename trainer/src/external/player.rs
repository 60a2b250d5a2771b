//! External UCI engines as players of matches.
//!
//! A program that does not answer loses the game and is restarted before the next. The game records the failure; a
//! program that always fails ends the match.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::engine::{AnyEngine, AnyModel, EngineStatus};
use dyad_engine::search::{HashError, Limits, Options, Outcome, Report, Score};
use dyad_formats::error::Error;

use crate::external::client::{Program, UciAnswer, UciEngine};

/// Time limit for starting, for getting ready, and for searches with few nodes.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Extra time after its limit before the program counts as hung.
const OVERTIME: Duration = Duration::from_secs(2);
/// Slowest expected search, in nodes per second, and longest search to a fixed depth.
const FEWEST_NODES: u64 = 1_000;
const LONGEST_DEPTH: Duration = Duration::from_secs(3600);

/// An external program that plays matches.
#[derive(Clone, Debug)]
pub struct ExternalPlayer(Program);

impl ExternalPlayer {
    /// Starts the program once to check that it works.
    ///
    /// # Errors
    /// When it cannot be started, or does not speak UCI.
    pub fn new(program: Program) -> Result<ExternalPlayer, Error> {
        UciEngine::start(&program, 16, START_TIMEOUT)?;
        Ok(ExternalPlayer(program))
    }
}

impl AnyModel for ExternalPlayer {
    fn id(&self) -> String {
        let mut id = self.0.path.display().to_string();
        for (name, value) in &self.0.options {
            let _ = write!(id, " {name}={value}");
        }
        id
    }

    fn engine(self: Arc<ExternalPlayer>, megabytes: usize, _threads: usize) -> Result<Box<dyn AnyEngine>, HashError> {
        Ok(Box::new(EngineInstance {
            program: self.0.clone(),
            megabytes,
            running: None,
            status: EngineStatus::default(),
        }))
    }
}

/// One instance of the program.
struct EngineInstance {
    program: Program,
    megabytes: usize,
    running: Option<UciEngine>,
    status: EngineStatus,
}

impl EngineInstance {
    /// The running program, started if necessary.
    fn running(&mut self) -> Result<&mut UciEngine, Error> {
        Ok(match &mut self.running {
            Some(running) => running,
            none => none.insert(UciEngine::start(&self.program, self.megabytes, START_TIMEOUT)?),
        })
    }

    fn answer(&mut self, game: &Game, limits: &Limits, control: &Control) -> Result<Outcome, Error> {
        let answer = self.running()?.play(game, &go(limits), timeout(limits), control)?;
        self.status.unscored = answer.score.is_none();
        if answer.mv.is_none() {
            let (program, fen) = (self.program.name(), game.board().fen());
            self.status.illegal = Some(format!("{program} answered '{}' in {fen}", answer.text));
        }
        let score = match answer.score {
            Some(score) if score.is_mate() => {
                let moves = i32::from(dyad_formats::score::Score::MATE - score.0.abs());
                Score::Mate(if score.0 > 0 { moves } else { -moves })
            }
            score => Score::Cp(score.map_or(0, |score| i32::from(score.0))),
        };
        let UciAnswer { mv: best, depth, nodes, .. } = answer;
        Ok(Outcome { best, ponder: None, value: 0, score, depth, nodes, pv: best.into_iter().collect() })
    }
}

impl AnyEngine for EngineInstance {
    /// Starts a program that is not running, before its clock starts. If that fails, the failure is reported at its
    /// first move.
    fn clear(&mut self) {
        if self.running.as_mut().is_some_and(|running| running.new_game().is_err()) {
            self.running = None;
        }
        let _ = self.running();
    }

    fn status(&self) -> Option<&EngineStatus> {
        Some(&self.status)
    }

    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        _options: &Options,
        control: &Control,
        _report: &mut (dyn FnMut(&Report) + Send),
    ) -> Outcome {
        self.status = EngineStatus::default();
        self.answer(game, limits, control).unwrap_or_else(|error| {
            self.running = None;
            self.status.failure = Some(match error {
                Error::Engine(problem) => problem,
                other => other.to_string(),
            });
            Outcome { best: None, ponder: None, value: 0, score: Score::Cp(0), depth: 0, nodes: 0, pv: Vec::new() }
        })
    }
}

/// Time after which the program counts as hung.
fn timeout(limits: &Limits) -> Duration {
    let clock = limits.clock.as_ref().map(|clock| clock.remaining);
    match (limits.movetime.or(clock), limits.nodes) {
        (Some(time), _) => time + OVERTIME,
        (None, Some(nodes)) => START_TIMEOUT.saturating_add(Duration::from_secs(nodes / FEWEST_NODES)),
        (None, None) => LONGEST_DEPTH,
    }
}

/// The `go` command. The clock of the side to move is sent for both sides.
fn go(limits: &Limits) -> String {
    let mut text = "go".to_string();
    let mut add = |word: &str, number: Option<u128>| {
        if let Some(number) = number {
            let _ = write!(text, " {word} {number}");
        }
    };
    add("nodes", limits.nodes.map(u128::from));
    add("depth", limits.depth.map(u128::from));
    add("movetime", limits.movetime.map(|time| time.as_millis()));
    if let Some(clock) = &limits.clock {
        let (left, increment) = (clock.remaining.as_millis().max(1), clock.increment.as_millis());
        for (word, number) in [("wtime", left), ("btime", left), ("winc", increment), ("binc", increment)] {
            add(word, Some(number));
        }
    }
    text
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::external::testing::{fake_engine, log_of};

    #[test]
    fn the_timeout_exceeds_the_time_limit() {
        use dyad_engine::search::Clock;
        let seconds = Duration::from_secs;
        let clock = |remaining| Some(Clock { remaining, ..Clock::default() });
        for (limits, shortest, longest) in [
            (Limits { movetime: Some(seconds(300)), ..Limits::default() }, 300, 310),
            (Limits { movetime: Some(seconds(1)), ..Limits::default() }, 1, 10),
            (Limits { clock: clock(seconds(7200)), ..Limits::default() }, 7200, 7210),
            (Limits { clock: clock(seconds(8)), ..Limits::default() }, 8, 18),
            (Limits::nodes(300), 60, 600),
            (Limits::nodes(1_000_000_000), 100_000, 10_000_000),
            (Limits::depth(30), 600, 36_000),
        ] {
            let timeout = timeout(&limits);
            assert!((seconds(shortest) + OVERTIME..=seconds(longest)).contains(&timeout), "{limits:?}: {timeout:?}");
        }
        // Huge node limits do not overflow.
        assert!(timeout(&Limits::nodes(u64::MAX)) > seconds(1_000_000));
    }

    /// The program is ready before its clock starts.
    #[test]
    fn a_program_is_started_with_the_game() {
        let program = Program { path: fake_engine("start", "", "echo bestmove e2e4"), options: Vec::new() };
        let mut instance = Arc::new(ExternalPlayer(program.clone())).engine(1, 1).unwrap();
        for game in 0..2 {
            instance.clear();
            let commands = std::fs::read_to_string(log_of(&program.path)).unwrap();
            assert_eq!(commands.lines().last(), Some("isready"), "{game}: {commands}");
        }
        let commands = std::fs::read_to_string(log_of(&program.path)).unwrap();
        assert_eq!(commands.lines().filter(|&line| line == "uci").count(), 1, "{commands}");
    }
}
