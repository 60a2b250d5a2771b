//! Progress, reported often enough and not too often.

use std::time::{Duration, Instant};

use super::event::{Event, Progress, Stage};
use super::folder::State;
use super::settings::Settings;
use crate::arena::matches::MatchScore;

/// Progress is told at most so often; tests hear of all of it, to stop anywhere.
const TELL_EVERY: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(1) };

/// Tells of progress.
pub(super) struct Teller<'a> {
    report: &'a mut dyn FnMut(&Event),
    /// When the stage began, or was resumed.
    pub begun: Instant,
    /// When progress was told.
    told: Option<Instant>,
    /// What was done of the stage when it was resumed.
    first: Option<u64>,
    generation: u32,
    generations: u32,
    stage: Stage,
    /// The latest move-match accuracy.
    pub accuracy: Option<f64>,
}

impl Teller<'_> {
    /// Nothing was told yet.
    pub fn new(report: &mut dyn FnMut(&Event)) -> Teller<'_> {
        Teller {
            report,
            begun: Instant::now(),
            told: None,
            first: None,
            generation: 0,
            generations: 0,
            stage: Stage::Games,
            accuracy: None,
        }
    }

    /// A stage begins, or is resumed.
    pub fn begin(&mut self, state: &State, settings: &Settings) {
        self.begun = Instant::now();
        self.first = None;
        self.generation = state.generation;
        self.generations = settings.generations;
        self.stage = state.stage;
        self.accuracy = state.accuracy;
    }

    /// Tells of an event.
    pub fn say(&mut self, event: Event) {
        (self.report)(&event);
    }

    /// Tells something a user should know.
    pub fn note(&mut self, text: String) {
        self.say(Event::Note(text));
    }

    /// Reports what is under way where no more is known of it.
    pub fn tell_stage(&mut self) {
        self.progress(0, 0, None);
    }

    /// Tells how much of the stage is done, of how much; 0 where nobody knows.
    pub fn tell(&mut self, done: u64, of: u64) {
        self.progress(done, of, None);
    }

    /// Tells the same of a match, with its standing.
    pub fn tell_match(&mut self, done: u64, of: u64, standing: &MatchScore) {
        self.progress(done, of, Some(*standing));
    }

    fn progress(&mut self, done: u64, of: u64, standing: Option<MatchScore>) {
        let begins = self.first.is_none();
        let first = *self.first.get_or_insert(done);
        if !begins && self.told.is_some_and(|told| told.elapsed() < TELL_EVERY) {
            return;
        }
        self.told = Some(Instant::now());
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = if seconds > 0.0 { (done - first.min(done)) as f64 / seconds } else { 0.0 };
        let left = (rate > 0.0 && of >= done).then(|| (of - done) as f64 / rate).filter(|_| of > 0);
        let Teller { generation, generations, stage, accuracy, .. } = *self;
        let positions_per_second = rate;
        self.say(Event::Progress(Progress {
            stage,
            generation,
            generations,
            done,
            of,
            positions_per_second,
            accuracy,
            seconds_left: left,
            standing,
        }));
    }
}
