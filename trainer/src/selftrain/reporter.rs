//! Reports events, and progress at most once a second.

use std::time::{Duration, Instant};

use super::event::{SelfTrainEvent, Stage, StageProgress};
use super::folder::SelfTrainState;
use crate::arena::matches::MatchScore;
use crate::base::context::Progress;

/// Time between two reports of progress. Tests receive all reports, so that they can stop anywhere.
const REPORT_EVERY: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(1) };

/// Reports events.
pub(super) struct Reporter<'a> {
    on_event: &'a mut dyn FnMut(&SelfTrainEvent),
    /// Time at which the stage began or was resumed.
    pub begun: Instant,
    /// Time of the last report of progress.
    reported: Option<Instant>,
    /// Progress of the stage when it began or was resumed.
    first: Option<u64>,
    /// The current stage, with its last progress.
    pub now: StageProgress,
}

impl Reporter<'_> {
    pub fn new(on_event: &mut dyn FnMut(&SelfTrainEvent)) -> Reporter<'_> {
        Reporter { on_event, begun: Instant::now(), reported: None, first: None, now: StageProgress::default() }
    }

    /// Begins or resumes the stage of `state`.
    pub fn begin(&mut self, state: &SelfTrainState, stages: &[Stage], generations: u32) {
        self.begun = Instant::now();
        self.first = None;
        let SelfTrainState { stage, generation, accuracy, .. } = *state;
        let stages = stages.to_vec();
        self.now = StageProgress { stage, stages, generation, generations, accuracy, ..StageProgress::default() };
    }

    pub fn emit(&mut self, event: SelfTrainEvent) {
        (self.on_event)(&event);
    }

    pub fn note(&mut self, text: String) {
        self.emit(SelfTrainEvent::Note(text));
    }

    /// Reports the progress in positions or games.
    pub fn report(&mut self, progress: Progress) {
        self.progress(progress, None);
    }

    /// Reports progress of a match with its score.
    pub fn report_match(&mut self, done: u64, of: u64, standing: &MatchScore) {
        self.progress(Progress { done, of }, Some(*standing));
    }

    fn progress(&mut self, Progress { done, of }: Progress, standing: Option<MatchScore>) {
        let is_first = self.first.is_none();
        let first = *self.first.get_or_insert(done);
        if !is_first && self.reported.is_some_and(|reported| reported.elapsed() < REPORT_EVERY) {
            return;
        }
        self.reported = Some(Instant::now());
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = if seconds > 0.0 { (done - first.min(done)) as f64 / seconds } else { 0.0 };
        let left = (rate > 0.0 && of >= done).then(|| (of - done) as f64 / rate).filter(|_| of > 0);
        self.now = StageProgress { done, of, seconds_left: left, standing, ..std::mem::take(&mut self.now) };
        self.emit(SelfTrainEvent::Progress(self.now.clone()));
    }
}
