//! The page of a running training, refreshed at every stage and at least once a minute.
//!
//! The training reports its progress; a separate thread reads the folder and writes the page, so that the training does
//! not wait. The page shows only what the training writes to its folder anyway, and so changes no result. It is written
//! atomically, and the last page, at the end of the training, does not reload itself.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dyad_engine::board::{Color, Piece, PieceSquare, Square};
use dyad_engine::files;
use dyad_formats::atomic::write_atomic;

use super::page::page;
use super::run_data::{Now, RunData};
use crate::learn::folder::REPORT;
use crate::learn::training;
use crate::page::html::MARK;
use crate::selftrain::{SelfTrainEvent, Stage};

/// Interval between refreshes.
const REFRESH_EVERY: Duration = Duration::from_secs(30);

/// Start of the pages of release 0.1.0, which had no mark.
const OLD_MARK: &str = "<style>body{max-width:1120px;margin:2em auto;";

/// The piece whose pairs are shown.
const FOCUS: PieceSquare = PieceSquare { color: Color::White, piece: Piece::Knight, square: Square::F5 };

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
    /// The last reported activity: a stage of a generation, or an iteration.
    stage: Option<(u32, Stage)>,
    writer: Option<Writer>,
    /// The reason why there is no page.
    problem: Arc<Mutex<Option<String>>>,
    refused: bool,
}

struct Writer {
    news: Sender<News>,
    thread: JoinHandle<()>,
}

/// A message to the writer thread.
struct News {
    now: Now,
    /// Whether to refresh the page at once.
    at_once: bool,
}

impl LivePage {
    /// The page of the training in `folder`. Nothing is written before the first event: until then the folder may
    /// belong to another program.
    #[must_use]
    pub fn new(folder: &Path) -> LivePage {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        LivePage { folder, stage: None, writer: None, problem: Arc::default(), refused: false }
    }

    /// Absolute path of the page.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.join(REPORT)
    }

    /// Handles an event of a self-training.
    pub fn on_event(&mut self, event: &SelfTrainEvent) -> Option<PageNote> {
        match event {
            SelfTrainEvent::Progress(progress) => {
                let stage = Some((progress.generation, progress.stage));
                let begins = std::mem::replace(&mut self.stage, stage) != stage;
                self.refresh(Now::from(progress), begins)
            }
            _ => self.take_problem().map(PageNote::Problem),
        }
    }

    /// Handles the progress of a comparison training.
    pub fn on_progress(&mut self, progress: &training::TrainingProgress) -> Option<PageNote> {
        self.refresh(Now::from(progress), progress.line.is_some())
    }

    /// Writes the last page at the end of the training, also if a killed process left an unfinished one. Returns the
    /// problem if the page could not be written.
    #[must_use]
    pub fn finish(mut self) -> Option<String> {
        match self.writer.take() {
            Some(writer) => {
                writer.end();
                self.take_problem()
            }
            None if self.refused || !self.path().exists() || is_foreign(&self.path()) => None,
            None => write(&self.folder, None).err(),
        }
    }

    fn refresh(&mut self, now: Now, at_once: bool) -> Option<PageNote> {
        if self.refused {
            return None;
        }
        let Some(writer) = &self.writer else {
            let begun = self.begin(now);
            self.refused = begun.is_err();
            return Some(begun.map_or_else(PageNote::Problem, PageNote::Begun));
        };
        // A writer that has panicked has reported it.
        writer.news.send(News { now, at_once }).ok();
        self.take_problem().map(PageNote::Problem)
    }

    /// Writes the first page, so that it exists when its path is reported, and starts the writer. Returns the path.
    fn begin(&mut self, now: Now) -> Result<PathBuf, String> {
        let path = self.path();
        if is_foreign(&path) {
            return Err(format!("no page: {} is a file of another program", path.display()));
        }
        write(&self.folder, Some(now.clone()))?;
        let (news, messages) = channel();
        let (folder, problem) = (self.folder.clone(), Arc::clone(&self.problem));
        let body = move || {
            let report = |text| *problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
            let write = AssertUnwindSafe(|| keep_writing(&folder, now, &messages, &report));
            if catch_unwind(write).is_err() {
                report("no page: internal error".to_string());
            }
        };
        let thread = thread::Builder::new().name("page".to_string()).spawn(body);
        let thread = thread.map_err(|error| format!("no page: no thread for it: {error}"))?;
        self.writer = Some(Writer { news, thread });
        Ok(path)
    }

    fn take_problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for LivePage {
    /// Writes the last page.
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.end();
        }
    }
}

impl Writer {
    /// Lets the thread write the last page.
    fn end(self) {
        drop(self.news);
        self.thread.join().ok();
    }
}

/// Refreshes the page until the sender is dropped, then writes the last page. A page that cannot be written, as on a full
/// disk, is reported once and tried again.
fn keep_writing(folder: &Path, mut now: Now, messages: &Receiver<News>, report: &dyn Fn(String)) {
    let (mut written, mut has_failed) = (Instant::now(), false);
    loop {
        match messages.recv_timeout(REFRESH_EVERY.saturating_sub(written.elapsed())) {
            Ok(news) => {
                // Merge queued messages.
                let News { now: latest, mut at_once } =
                    messages.try_iter().fold(news, |all, news| News { at_once: all.at_once || news.at_once, ..news });
                // Refresh when the remaining time becomes known.
                at_once |= now.seconds_left.is_none() && latest.seconds_left.is_some();
                now = latest;
                if !at_once && written.elapsed() < REFRESH_EVERY {
                    continue;
                }
            }
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(problem) = write(folder, None) {
                    report(problem);
                }
                return;
            }
        }
        match write(folder, Some(now.clone())) {
            Err(problem) if !has_failed => {
                report(problem);
                has_failed = true;
            }
            Err(_) => (),
            Ok(()) => has_failed = false,
        }
        written = Instant::now();
    }
}

fn write(folder: &Path, now: Option<Now>) -> Result<(), String> {
    let run = RunData::with(folder, now).map_err(|error| format!("no page: {error}"))?;
    let path = folder.join(REPORT);
    write_atomic(&path, page(&run, FOCUS).as_bytes()).map_err(|error| format!("no page: {}: {error}", path.display()))
}

/// The page of the training in `folder`, if Dyad wrote one.
#[must_use]
pub fn own_page(folder: &Path) -> Option<PathBuf> {
    let page = std::path::absolute(folder.join(REPORT)).ok()?;
    (page.exists() && !is_foreign(&page)).then_some(page)
}

/// Whether the file at `path` was not written by Dyad.
#[must_use]
pub fn is_foreign(path: &Path) -> bool {
    let mut beginning = Vec::new();
    match files::open(path).and_then(|file| file.take(1024).read_to_end(&mut beginning)) {
        Ok(_) => {
            let beginning = String::from_utf8_lossy(&beginning);
            ![MARK, OLD_MARK].iter().any(|mark| beginning.contains(mark))
        }
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
            stages: vec![Stage::Games, Stage::Match, Stage::RegressionMatch],
            generation: 2,
            generations: 5,
            done,
            of: 40,
            positions_per_second: 4.0,
            accuracy: None,
            seconds_left: Some(200.0),
            standing: None,
        })
    }

    /// Waits until the page contains this text.
    fn await_text(path: &Path, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !fs::read_to_string(path).is_ok_and(|page| page.contains(text)) {
            assert!(Instant::now() < deadline, "{text} does not come");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn the_page_follows_the_stages_and_stops_reloading() {
        let folder = Temporary::folder();
        let mut live = LivePage::new(&folder);
        let path = live.path();
        let note = SelfTrainEvent::Note("nothing that a page is written for".to_string());
        assert_eq!((live.on_event(&note), path.exists()), (None, false));
        assert_eq!(live.on_event(&progress(Stage::Games, 0)), Some(PageNote::Begun(path.clone())));
        assert!(fs::read_to_string(&path).unwrap().contains("Generation 2 of 5: self-play, about 3 min left"));
        assert_eq!(live.on_event(&progress(Stage::Match, 10)), None);
        await_text(&path, "Generation 2 of 5: match");
        await_text(&path, "10 of 40 games");
        let unfinished = fs::read_to_string(&path).unwrap();
        assert!(unfinished.contains("location.reload()"));
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
        // A page of the first release is replaced.
        fs::write(&path, format!("<!DOCTYPE html>{OLD_MARK}")).unwrap();
        assert_eq!(LivePage::new(&folder).on_event(&progress(Stage::Games, 0)), Some(PageNote::Begun(path)));
    }

    #[test]
    fn an_unwritable_page_is_reported_once() {
        let folder = Temporary::folder();
        let mut live = LivePage::new(&folder);
        live.on_event(&progress(Stage::Games, 0)).unwrap();
        // A folder cannot be replaced.
        fs::remove_file(live.path()).unwrap();
        fs::create_dir(live.path()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let message = loop {
            if let Some(note) = live.on_event(&progress(Stage::Match, 0)) {
                break note.to_string();
            }
            assert!(Instant::now() < deadline, "nothing is reported");
            thread::sleep(Duration::from_millis(5));
        };
        assert!(message.contains("no page") && message.contains("report.html"), "{message}");
        assert_eq!(live.on_event(&progress(Stage::RegressionMatch, 1)), None);
        // It is written again as soon as that is possible.
        fs::remove_dir(live.path()).unwrap();
        live.on_event(&progress(Stage::Games, 1));
        await_text(&live.path(), "Generation 2 of 5: self-play");
        assert_eq!(live.finish(), None);
    }
}
