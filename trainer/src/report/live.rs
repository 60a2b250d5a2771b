//! The page of a running training, refreshed at every stage and with its progress.
//!
//! The page shows only what the training writes to its folder anyway, and so changes no result: writing it takes some
//! hundredths of a second every half minute. It is written atomically, and the last page, at the end of the training,
//! does not reload itself.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dyad_formats::files::{self, write_atomic};

use super::page::page;
use super::run_data::{Now, RunData};
use crate::learn::folder::REPORT;
use crate::learn::training;
use crate::page::html::MARK;
use crate::selftrain::{SelfTrainEvent, Stage};

/// Interval between refreshes.
const REFRESH_EVERY: Duration = Duration::from_secs(30);

/// What a [`LivePage`] reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageNote {
    /// The first page is written, to this absolute path.
    Begun(PathBuf),
    /// Why there is no page.
    Problem(String),
}

impl fmt::Display for PageNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageNote::Begun(path) => write!(f, "page {}", path.display()),
            PageNote::Problem(problem) => f.write_str(problem),
        }
    }
}

/// The page of a running training.
pub struct LivePage {
    folder: PathBuf,
    /// The last reported stage of a generation.
    stage: Option<(u32, Stage)>,
    /// When the page was last written, or could not be.
    tried: Option<Instant>,
    state: State,
}

/// What is known of the page of a running training.
#[derive(PartialEq)]
enum State {
    /// Nothing is written yet: until the first event the folder may belong to another program.
    New,
    /// There is a page, and it says what is under way.
    Written,
    /// The page cannot be written, as on a full disk: reported once, and tried again.
    Failed,
    /// The file is of another program.
    Foreign,
}

impl LivePage {
    /// The page of the training in `folder`. Nothing is written before the first event.
    pub fn new(folder: &Path) -> LivePage {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        LivePage { folder, stage: None, tried: None, state: State::New }
    }

    /// Absolute path of the page.
    pub fn path(&self) -> PathBuf {
        self.folder.join(REPORT)
    }

    /// Handles an event of a self-training.
    pub fn on_event(&mut self, event: &SelfTrainEvent) -> Option<PageNote> {
        let SelfTrainEvent::Progress(progress) = event else { return None };
        let stage = Some((progress.generation, progress.stage));
        let begins = std::mem::replace(&mut self.stage, stage) != stage;
        self.refresh(Now::from(progress), begins)
    }

    /// Handles the progress of a comparison training.
    pub fn on_progress(&mut self, progress: &training::TrainingProgress) -> Option<PageNote> {
        self.refresh(Now::from(progress), progress.line.is_some())
    }

    /// Writes the last page at the end of the training, also if a killed process left an unfinished one. Returns the
    /// problem if the page could not be written.
    #[must_use]
    pub fn finish(mut self) -> Option<String> {
        if self.state == State::New && own_page(&self.folder).is_some() {
            self.state = State::Written;
        }
        self.end().err()
    }

    /// Writes the page if it is due.
    fn refresh(&mut self, now: Now, begins: bool) -> Option<PageNote> {
        let waits = self.tried.is_some_and(|tried| tried.elapsed() < REFRESH_EVERY);
        if self.state == State::Foreign || waits && !begins {
            return None;
        }
        let path = self.path();
        if self.tried.is_none() && is_foreign(&path) {
            self.state = State::Foreign;
            return Some(PageNote::Problem(format!("no page: {} is a file of another program", path.display())));
        }
        let is_first = self.tried.is_none();
        self.tried = Some(Instant::now());
        match write(&self.folder, Some(now)) {
            Ok(()) => {
                self.state = State::Written;
                is_first.then_some(PageNote::Begun(path))
            }
            Err(problem) => {
                let is_known = std::mem::replace(&mut self.state, State::Failed) == State::Failed;
                (!is_known).then_some(PageNote::Problem(problem))
            }
        }
    }

    /// Writes the last page if there is one.
    fn end(&mut self) -> Result<(), String> {
        match std::mem::replace(&mut self.state, State::New) {
            State::New | State::Foreign => Ok(()),
            State::Written | State::Failed => write(&self.folder, None),
        }
    }
}

impl Drop for LivePage {
    /// Writes the last page.
    fn drop(&mut self) {
        self.end().ok();
    }
}

/// Writes the page. A bug of it does not end the training.
fn write(folder: &Path, now: Option<Now>) -> Result<(), String> {
    let path = folder.join(REPORT);
    let text = catch_unwind(AssertUnwindSafe(|| RunData::with(folder, now).map(|run| page(&run))));
    let text = text.map_err(|_| "no page: internal error")?.map_err(|error| format!("no page: {error}"))?;
    write_atomic(&path, text.as_bytes()).map_err(|error| format!("no page: {}: {error}", path.display()))
}

/// The page of the training in `folder`, if Dyad wrote one.
pub fn own_page(folder: &Path) -> Option<PathBuf> {
    let page = std::path::absolute(folder.join(REPORT)).ok()?;
    (page.exists() && !is_foreign(&page)).then_some(page)
}

/// Whether the file at `path` was not written by Dyad.
pub fn is_foreign(path: &Path) -> bool {
    let mut beginning = Vec::new();
    match files::open(path).and_then(|file| file.take(1024).read_to_end(&mut beginning)) {
        Ok(_) => !String::from_utf8_lossy(&beginning).contains(MARK),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::Temporary;
    use std::fs;

    fn progress(stage: Stage, done: u64) -> SelfTrainEvent {
        SelfTrainEvent::Progress(crate::selftrain::StageProgress {
            stage,
            stages: vec![Stage::Games, Stage::Match, Stage::Distance],
            generation: 2,
            generations: 5,
            done,
            of: 40,
            accuracy: None,
            seconds_left: Some(200.0),
            standing: None,
        })
    }

    fn text(live: &LivePage) -> String {
        fs::read_to_string(live.path()).unwrap()
    }

    #[test]
    fn the_page_follows_the_stages_and_stops_reloading() {
        let folder = Temporary::folder();
        let mut live = LivePage::new(&folder);
        let path = live.path();
        let note = SelfTrainEvent::Note("nothing that a page is written for".to_string());
        assert_eq!((live.on_event(&note), path.exists()), (None, false));
        assert_eq!(live.on_event(&progress(Stage::Games, 0)), Some(PageNote::Begun(path.clone())));
        assert!(text(&live).contains("Generation 2 of 5: self-play, about 3 min left"));
        assert_eq!(live.on_event(&progress(Stage::Match, 10)), None);
        assert!(text(&live).contains("Generation 2 of 5: match") && text(&live).contains("10 of 40 games"));
        // Within a stage it waits.
        assert_eq!(live.on_event(&progress(Stage::Match, 20)), None);
        let unfinished = text(&live);
        assert!(unfinished.contains("10 of 40 games") && unfinished.contains("location.reload()"));
        assert_eq!(live.finish(), None);
        let last = fs::read_to_string(&path).unwrap();
        assert!(!last.contains("Generation 2 of 5") && !last.contains("location.reload()"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        // The page of a killed process is finished; without a page none is written.
        fs::write(&path, unfinished).unwrap();
        assert_eq!(LivePage::new(&folder).finish(), None);
        assert!(!fs::read_to_string(&path).unwrap().contains("location.reload()"));
        fs::remove_file(&path).unwrap();
        assert_eq!((LivePage::new(&folder).finish(), path.exists()), (None, false));
    }

    #[test]
    fn a_foreign_file_is_kept() {
        let folder = Temporary::folder();
        let path = folder.join(REPORT);
        fs::write(&path, "<html>mine").unwrap();
        let mut live = LivePage::new(&folder);
        let message = live.on_event(&progress(Stage::Games, 0)).unwrap().to_string();
        assert!(message.contains("no page") && message.contains("of another program"), "{message}");
        assert_eq!(live.on_event(&progress(Stage::Match, 0)), None);
        assert_eq!(live.finish(), None);
        assert_eq!(LivePage::new(&folder).finish(), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), "<html>mine");
    }

    #[test]
    fn an_unwritable_page_is_reported_once() {
        let folder = Temporary::folder();
        let mut live = LivePage::new(&folder);
        live.on_event(&progress(Stage::Games, 0)).unwrap();
        // A folder cannot be replaced.
        fs::remove_file(live.path()).unwrap();
        fs::create_dir(live.path()).unwrap();
        let message = live.on_event(&progress(Stage::Match, 0)).unwrap().to_string();
        assert!(message.contains("no page") && message.contains("report.html"), "{message}");
        assert_eq!(live.on_event(&progress(Stage::Distance, 1)), None);
        // It is written again as soon as that is possible.
        fs::remove_dir(live.path()).unwrap();
        live.on_event(&progress(Stage::Games, 1));
        assert!(text(&live).contains("Generation 2 of 5: self-play"));
        assert_eq!(live.finish(), None);
    }
}
