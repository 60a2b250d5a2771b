//! Runs an experiment in a folder.
//!
//! | file | what |
//! |---|---|
//! | `settings.json` | the settings, and the checksums of the input files |
//! | `steps/NAME.json` | the result of a step |
//! | `steps/NAME/` | its output: samples, weights, a training, games |
//! | `results.json`, `results.md` | all results; the tables |
//!
//! A step is done if its file `steps/NAME.json` is there.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files::{self, clean, write_atomic, write_json};
use dyad_trainer::base::context::{Context, Progress};
use dyad_trainer::base::lock::FolderLock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::experiment::{ExperimentSettings, Size, stem};

const SETTINGS: &str = "settings.json";
const RESULTS: &str = "results.json";
/// The tables.
pub const PAGE: &str = "results.md";
const STEPS: &str = "steps";

/// Progress of a run.
#[derive(Clone, Debug)]
pub enum ExperimentEvent {
    /// The step of this name begins.
    Begin(String),
    /// Progress of the step.
    Progress(Progress),
    /// The step is done.
    Done {
        /// Hash of its output.
        hash: String,
        /// Time that it took.
        seconds: f64,
    },
}

pub(super) struct Run<'a, 'b> {
    pub settings: &'a ExperimentSettings,
    /// Threads, stop, and the receiver of the events.
    pub context: &'a mut Context<'b, ExperimentEvent>,
    folder: &'a Path,
    /// The content of [`SETTINGS`], with the running program.
    saved: Json,
    /// The files of the steps that are done.
    results: BTreeMap<String, Json>,
    pub(super) page: String,
}

/// Runs or resumes an experiment in a folder, with a program of this source revision. Returns the number of its steps.
///
/// # Errors
/// When the settings cannot be used, the folder contains another experiment or is in use, a step fails, or it was
/// stopped.
pub fn run(
    settings: &ExperimentSettings,
    folder: &Path,
    revision: &str,
    context: &mut Context<ExperimentEvent>,
) -> Result<usize, Error> {
    let (experiment, saved) = (settings.experiment()?, saved(settings, revision)?);
    fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    let _lock = FolderLock::take(folder)?;
    clean(folder, |name| [SETTINGS, RESULTS, PAGE].contains(&name))?;
    check(&folder.join(SETTINGS), &saved)?;
    fs::create_dir_all(folder.join(STEPS)).map_err(Error::file("create", folder))?;
    clean(&folder.join(STEPS), |_| true)?;
    let mut run = Run { settings, context, folder, saved, results: BTreeMap::new(), page: String::new() };
    run.begin_page(experiment.title, experiment.about);
    (experiment.steps)(&mut run)?;
    run.end_page();
    run.save(true)?;
    Ok(run.results.len())
}

/// The settings with absolute paths, the checksums of the files, which may move, and the running program.
fn saved(settings: &ExperimentSettings, revision: &str) -> Result<Json, Error> {
    let mut settings = settings.clone();
    let ExperimentSettings { games_file, openings, weights, .. } = &mut settings;
    let mut inputs = Vec::new();
    for path in games_file.iter_mut().chain(openings).chain(weights) {
        inputs.push(input_file(path)?);
        *path = std::path::absolute(&*path).map_err(Error::file("find", path))?;
    }
    let mut saved = serde_json::to_value(&settings).expect("plain data");
    saved["inputs"] = inputs.into();
    // They search, filter random openings, and are a player.
    saved["built-in"] = Weights::embedded().id().into();
    saved["program"] = program(revision).into();
    Ok(saved)
}

/// The settings of the experiment in a folder.
pub fn saved_settings(folder: &Path) -> Result<ExperimentSettings, Error> {
    let path = folder.join(SETTINGS);
    let none = || Error::Settings(format!("{} is not the folder of an experiment", folder.display()));
    serde_json::from_value(read(&path)?.ok_or_else(none)?).map_err(|error| Error::content(&path, "settings", error))
}

fn input_file(path: &Path) -> Result<Json, Error> {
    let (mut file, mut crc) = (files::open(path).map_err(Error::file("read", path))?, crc32fast::Hasher::new());
    let (mut buffer, mut bytes) = (vec![0; 1 << 16], 0);
    loop {
        let count = file.read(&mut buffer).map_err(Error::file("read", path))?;
        if count == 0 {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return Ok(json!({ "name": name, "bytes": bytes, "crc32": format!("{:08x}", crc.finalize()) }));
        }
        crc.update(&buffer[..count]);
        bytes += count;
    }
}

/// Saves the settings of a new experiment, or compares them with those of the old one, whose program may be another.
fn check(path: &Path, now: &Json) -> Result<(), Error> {
    let Some(before) = read(path)? else { return write_json(path, now) };
    // Files may move: their checksums are compared.
    let free = ["games-file", "openings", "weights", "program"];
    let mut fields = now.as_object().into_iter().flatten().filter(|(name, _)| !free.contains(&name.as_str()));
    match fields.find(|(name, value)| before[name.as_str()] != **value) {
        None => Ok(()),
        Some((name, value)) => {
            let (path, before) = (path.display(), &before[name.as_str()]);
            Err(Error::Settings(format!("{path} has {before} for '{name}', not {value}; name another folder")))
        }
    }
}

/// Refuses names of steps, which come from the names of files, that cannot be names of folders.
pub(super) fn check_name(name: &str) -> Result<(), Error> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(is_name) {
        true => Ok(()),
        false => Err(Error::Settings(format!("a step cannot be called '{name}'"))),
    }
}

/// The content of a file, if it is there.
fn read(path: &Path) -> Result<Option<Json>, Error> {
    path.exists().then(|| files::read_json(path)).transpose()
}

fn program(revision: &str) -> String {
    let crc = std::env::current_exe().and_then(fs::read).map(|bytes| crc32fast::hash(&bytes));
    let crc = crc.map_or_else(|_| "unknown".to_string(), |crc| format!("{crc:08x}"));
    format!("Dyad {}, revision {revision}, executable {crc}", env!("CARGO_PKG_VERSION"))
}

impl Run<'_, '_> {
    /// The number for the size of this experiment.
    pub fn pick<T>(&self, [tiny, small, night, full]: [T; 4]) -> T {
        match self.settings.size {
            Size::Tiny => tiny,
            Size::Small => small,
            Size::Night => night,
            Size::Full => full,
        }
    }

    /// The number of positions for the size, unless the user gave one.
    pub fn positions(&self, of_sizes: [u64; 4]) -> u64 {
        self.settings.positions.unwrap_or(self.pick(of_sizes))
    }

    pub fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.join(STEPS).join(name)
    }

    /// The result of the step `name`, which is made by `work` unless its file is there. `work` gets the step's folder;
    /// it also returns the hash of its output, which is equal in every run.
    pub fn step<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self, &Path) -> Result<(String, T), Error>,
    ) -> Result<T, Error> {
        let (folder, path) = (self.folder_of(name), self.folder.join(STEPS).join(format!("{name}.json")));
        check_name(name)?;
        if self.results.contains_key(name) || self.settings.weights.iter().any(|path| stem(path) == name) {
            return Err(Error::Settings(format!("'{name}' is the name of two steps or weights")));
        }
        let done = match read(&path)? {
            Some(done) => done,
            None if self.context.stop.stopped() => return Err(Error::Stopped),
            None => {
                (self.context.on_event)(ExperimentEvent::Begin(name.to_string()));
                fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
                let begun = Instant::now();
                let (hash, result) = work(self, &folder)?;
                let seconds = begun.elapsed().as_secs_f64();
                let done =
                    json!({ "hash": hash, "result": result, "seconds": seconds, "program": self.saved["program"] });
                write_json(&path, &done)?;
                self.results.insert(name.to_string(), done.clone());
                self.save(false)?;
                (self.context.on_event)(ExperimentEvent::Done { hash, seconds });
                done
            }
        };
        let result = T::deserialize(&done["result"]).map_err(|error| Error::content(&path, "result", error))?;
        self.results.insert(name.to_string(), done);
        Ok(result)
    }

    /// Does a part of the work that reports its events as progress of the step.
    pub fn with_progress<E, T>(
        &mut self,
        progress: &mut dyn FnMut(E) -> Option<Progress>,
        work: impl FnOnce(&mut Context<E>) -> T,
    ) -> T {
        let Context { threads, stop, on_event } = &mut *self.context;
        let mut report = |event: E| {
            if let Some(progress) = progress(event) {
                on_event(ExperimentEvent::Progress(progress));
            }
        };
        work(&mut Context { threads: *threads, stop, on_event: &mut report })
    }

    /// The steps so far: name, hash, seconds, program.
    pub fn steps(&self) -> Vec<Vec<String>> {
        let row = |(name, done): (&String, &Json)| {
            let [hash, program] = ["hash", "program"].map(|field| done[field].as_str().unwrap_or("-").to_string());
            vec![name.clone(), hash, format!("{:.0}", done["seconds"].as_f64().unwrap_or_default()), program]
        };
        self.results.iter().map(row).collect()
    }

    /// Writes the results and the tables so far.
    fn save(&self, finished: bool) -> Result<(), Error> {
        let hashes: BTreeMap<&String, &Json> = self.results.iter().map(|(name, done)| (name, &done["hash"])).collect();
        let all = json!({ "settings": self.saved, "finished": finished, "hashes": hashes, "results": self.results });
        write_json(&self.folder.join(RESULTS), &all)?;
        let path = self.folder.join(PAGE);
        write_atomic(&path, self.page.as_bytes()).map_err(Error::file("write", &path))
    }
}
