//! The folder of a self-training: its files, its lock and its state.
//!
//! | file | what |
//! |---|---|
//! | `lock` | lock of the operating system, held by the process that trains here |
//! | `settings.json` | settings of the generations to come |
//! | `state.json` | generation, stage and best weights |
//! | `log.jsonl` | a [line](super::SelfTrainLogLine) for each stage and match |
//! | `start.json` | the initial weights, generation 0 |
//! | `best.json` | the best weights, from the first adoption on |
//! | `reference.json` | the weights that the engine plays with until a generation is proven stronger |
//! | `playing.json` | the weights that the engine plays with after that proof |
//! | `report.html` | the page of the training |
//! | `generation-001/` ... | the generations |
//!
//! | file of a generation | what |
//! |---|---|
//! | `settings.json` | settings of the generation |
//! | `games.pgn` | self-play games with scores |
//! | `positions.samples` | positions drawn from the games, if a search labels them |
//! | `labeled.samples` | the positions that the generation learns from |
//! | `fitted.json` | result of the regression |
//! | `training/` | run of the comparison training |
//! | `refinement/` | run of the fine-tuning pass |
//! | `base.json` | weights before the fine-tuning pass, scaled: the next training starts from them |
//! | `trained.json` | weights before the tuning, scaled |
//! | `tuning.json` | values of the tuning and the games that it has played |
//! | `weights.json` | the new weights, scaled |
//! | `match.pgn` | games of the match |
//! | `distance.pgn`, `proof.pgn` | games against the reference, and against the weights that the engine plays with |
//! | `before.pgn` | games of the best weights before this generation against a new reference |
//!
//! One process at a time [locks](crate::base::lock) the folder. `state.json` decides which files are truncated and
//! overwritten, so it has a checksum, and a state that is damaged or contradicts the folder is refused before any file
//! changes.
//!
//! The folder may hold other files. So a training begins only if none of its file names exists, and half-written files
//! have names that only this program uses. The file [`BEGINNING`] exists while a training begins: after a kill it marks
//! the other files as the training's own.

use std::fs;
use std::path::{Path, PathBuf};

use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files::{self, write_atomic, write_json};
use dyad_formats::weights_file;
use serde::{Deserialize, Serialize};

use super::event::{Distance, Stage};
use super::settings::SelfTrainSettings;
use crate::base::is_default;
use crate::base::lock::{self, FolderLock, is_foreign};
use crate::learn::folder::{BEST, CHECKPOINT, LOG, REPORT, SETTINGS};

/// The state of a self-training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SelfTrainState {
    /// The current or next generation.
    pub generation: u32,
    /// Its current or next stage.
    pub stage: Stage,
    /// The generation of the best weights; 0 for the initial weights.
    pub best: u32,
    /// Number of adopted generations.
    pub adopted: u32,
    /// Move-match accuracy of the latest training.
    #[serde(rename = "agreement")]
    pub accuracy: Option<f64>,
    /// Seconds since the training began, without interruptions.
    pub seconds: f64,
    /// The generation that the engine plays with; 0 for the reference.
    #[serde(default, skip_serializing_if = "is_default")]
    pub playing: u32,
    /// The latest distance of the best weights to the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
    /// The latest strength of best weights, in Elo of Lichess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
    /// Length of the log.
    pub log_bytes: u64,
    /// The checksum in the file, see [`SelfTrainState::to_text`].
    #[serde(default, skip_serializing)]
    checksum: Option<String>,
}

impl SelfTrainState {
    /// The text of `state.json`: the fields, followed by the CRC-32 of all bytes before it.
    fn to_text(&self) -> String {
        let fields = serde_json::to_string_pretty(self).expect("plain data");
        let fields = fields.trim_end_matches("\n}");
        format!("{fields}{CHECKSUM}{:08x}\"\n}}\n", crc32fast::hash(fields.as_bytes()))
    }

    /// Parses `state.json`.
    fn from_text(text: &[u8]) -> Result<SelfTrainState, String> {
        let text = str::from_utf8(text).map_err(|error| error.to_string())?;
        let state: SelfTrainState = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if let Some(stated) = &state.checksum {
            let (fields, _) = text.rsplit_once(CHECKSUM).ok_or("the checksum is not at its end")?;
            let computed = format!("{:08x}", crc32fast::hash(fields.as_bytes()));
            if computed != *stated {
                return Err(format!("its checksum is {computed}, but it says {stated}"));
            }
        }
        Ok(state)
    }

    /// Refuses a state that contradicts the files in `folder`.
    fn check(&self, folder: &Path) -> Result<(), String> {
        let SelfTrainState { generation, best, adopted, playing, .. } = *self;
        let within = |generation: u32| generation_folder(folder, generation);
        // A generation may be the best from its match on.
        let last = generation.saturating_sub(u32::from(self.stage <= Stage::Match));
        let log = fs::metadata(folder.join(LOG)).map_or(0, |metadata| metadata.len());
        let problems = [
            (generation == 0, "generations are counted from 1".to_string()),
            (generation > 1 && !within(generation - 1).is_dir(), format!("there is no generation before {generation}")),
            (best > last, format!("generation {best} cannot be the best before generation {generation} is done")),
            (best > 0 && !within(best).join(WEIGHTS).is_file(), format!("there are no weights of generation {best}")),
            (
                adopted > best || (adopted == 0) != (best == 0),
                format!("{adopted} were not adopted up to generation {best}"),
            ),
            (
                playing > best || (playing > 0 && !folder.join(PLAYING).is_file()),
                format!("the engine cannot play with generation {playing}"),
            ),
            (log < self.log_bytes, format!("{LOG} has {log} bytes and should have {}", self.log_bytes)),
        ];
        problems.into_iter().find(|(wrong, _)| *wrong).map_or(Ok(()), |(_, problem)| Err(problem))
    }

    /// Whether all generations are done.
    pub fn is_over(&self, settings: &SelfTrainSettings) -> bool {
        settings.generations > 0 && self.generation > settings.generations
    }
}

/// The text before the checksum in [`STATE`].
const CHECKSUM: &str = ",\n  \"checksum\": \"";
/// Largest size of a state or of settings, in bytes.
const LARGEST: u64 = 1 << 20;

/// The state.
pub(crate) const STATE: &str = "state.json";
/// The initial weights.
pub(crate) const START: &str = "start.json";
/// The weights that the engine plays with until a generation is proven stronger.
pub(crate) const REFERENCE: &str = "reference.json";
/// The generation that the engine plays with.
pub const PLAYING: &str = "playing.json";
/// Exists while a training begins: without a [`STATE`] it marks the files in the folder as the training's own.
const BEGINNING: &str = "beginning";
/// The folder of the first generation.
const FIRST_GENERATION: &str = "generation-001";

// The files of a generation, as in the table above.
pub(super) const GAMES: &str = "games.pgn";
pub(super) const POSITIONS: &str = "positions.samples";
pub(super) const LABELED: &str = "labeled.samples";
pub(super) const FITTED: &str = "fitted.json";
pub(crate) const TRAINING: &str = "training";
pub(crate) const FINE_TUNING: &str = "refinement";
pub(super) const BASE: &str = "base.json";
pub(super) const TRAINED: &str = "trained.json";
pub(super) const TUNING: &str = "tuning.json";
pub(super) const WEIGHTS: &str = "weights.json";
pub(super) const MATCH: &str = "match.pgn";
pub(super) const DISTANCE: &str = "distance.pgn";
pub(super) const PROOF: &str = "proof.pgn";
pub(super) const DISTANCE_BEFORE: &str = "before.pgn";

/// Files that are written atomically, except those of the runs.
const ATOMIC: [&str; 15] = [
    BEGINNING, SETTINGS, STATE, START, BEST, REFERENCE, PLAYING, REPORT, POSITIONS, LABELED, FITTED, BASE, TRAINED,
    TUNING, WEIGHTS,
];

/// File names, including those of a run, that must not exist where a training begins. Settings may: the user has written
/// them, and they are merged into those of the training.
const RESERVED: [&str; 7] = [LOG, START, BEST, REFERENCE, PLAYING, CHECKPOINT, FIRST_GENERATION];

/// A folder, locked by this process.
pub(super) struct Folder {
    /// The absolute path.
    pub path: PathBuf,
    _lock: FolderLock,
}

impl Folder {
    /// Locks the folder at `path`, and creates it if it is missing.
    pub fn take(path: &Path) -> Result<Folder, Error> {
        fs::create_dir_all(path).map_err(Error::file("make", path))?;
        let path = std::path::absolute(path).map_err(Error::file("find", path))?;
        let lock = FolderLock::take(&path)?;
        Ok(Folder { path, _lock: lock })
    }

    /// Writes the files that a training begins with.
    pub fn begin(&self, settings: &SelfTrainSettings, reference: &Weights) -> Result<SelfTrainState, Error> {
        let beginning = self.file(BEGINNING);
        write_atomic(&beginning, b"").map_err(Error::file("write", &beginning))?;
        weights_file::save(&Weights::material(), &self.weights(0))?;
        weights_file::save(reference, &self.file(REFERENCE))?;
        write_json(&self.file(SETTINGS), &settings.to_json())?;
        let state = SelfTrainState { generation: 1, ..SelfTrainState::default() };
        self.save_state(&state)?;
        remove(&beginning)?;
        Ok(state)
    }

    /// Sets the weights that the engine plays with until a generation is proven stronger; `None` keeps them. A new
    /// reference resets the distance and the generation that the engine plays with, which is returned if there is one.
    pub fn set_reference(&self, state: &mut SelfTrainState, reference: Option<&Weights>) -> Result<Option<u32>, Error> {
        let path = self.file(REFERENCE);
        let saved = weights_file::load(&path)?;
        let is_playing = |new: &Weights| {
            state.playing > 0 && weights_file::load(&self.file(PLAYING)).is_ok_and(|playing| playing.plays_as(new))
        };
        let Some(reference) = reference.filter(|new| !is_playing(new) && !saved.plays_as(new)) else { return Ok(None) };
        let was_playing = Some(std::mem::take(&mut state.playing)).filter(|playing| *playing > 0);
        state.distance = None;
        self.save_state(state)?;
        let generation = self.generation(state.generation);
        let games = [DISTANCE, DISTANCE_BEFORE, PROOF];
        games.iter().try_for_each(|name| remove(&generation.join(name)))?;
        weights_file::save(reference, &path)?;
        Ok(was_playing)
    }

    /// Removes the half-written files of a killed process.
    pub fn clean(&self) -> Result<(), Error> {
        if super::is_begun(&self.path) {
            remove(&self.file(BEGINNING))?;
        }
        clean(&self.path)
    }

    /// The file with this name.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn generation(&self, generation: u32) -> PathBuf {
        generation_folder(&self.path, generation)
    }

    /// The weights of a generation; 0 for the initial weights.
    pub fn weights(&self, generation: u32) -> PathBuf {
        match generation {
            0 => self.file(START),
            _ => self.generation(generation).join(WEIGHTS),
        }
    }

    /// The weights of a generation before its fine-tuning pass, if it had one.
    pub fn base(&self, generation: u32) -> PathBuf {
        let base = self.generation(generation).join(BASE);
        if base.exists() { base } else { self.weights(generation) }
    }

    pub fn save_state(&self, state: &SelfTrainState) -> Result<(), Error> {
        let path = self.file(STATE);
        write_atomic(&path, state.to_text().as_bytes()).map_err(Error::file("write", &path))
    }
}

/// The folder of a generation of the training in `folder`.
fn generation_folder(folder: &Path, generation: u32) -> PathBuf {
    folder.join(format!("generation-{generation:03}"))
}

/// Reads settings and checks them.
pub(super) fn load_settings(path: &Path) -> Result<SelfTrainSettings, Error> {
    let text = files::read(path, LARGEST).map_err(Error::file("read", path))?;
    let settings = serde_json::from_slice(&text).map_err(|error| error.to_string());
    settings.and_then(|settings: SelfTrainSettings| settings.check().map(|()| settings)).map_err(damaged(path))
}

fn damaged(path: &Path) -> impl FnOnce(String) -> Error {
    let path = path.to_path_buf();
    move |problem| {
        let (path, then) = (path.display(), "nothing was changed. Put back a copy of it, or train in another folder");
        Error::Folder(format!("{path} is damaged: {problem}; {then}"))
    }
}

/// State and settings of the self-training in `folder`.
///
/// # Errors
/// When there is no training, or one of the files is damaged.
pub fn saved(folder: &Path) -> Result<(SelfTrainState, SelfTrainSettings), Error> {
    let path = folder.join(STATE);
    if !path.exists() {
        return Err(Error::Folder(format!("there is no training in {}", folder.display())));
    }
    let text = files::read(&path, LARGEST).map_err(Error::file("read", &path))?;
    let state = SelfTrainState::from_text(&text).map_err(damaged(&path))?;
    state.check(folder).map_err(damaged(&path))?;
    let settings = load_settings(&folder.join(SETTINGS))?;
    let own = generation_folder(folder, state.generation).join(SETTINGS);
    if own.exists() {
        load_settings(&own)?;
    }
    Ok((state, settings))
}

/// Removes a file, if it exists.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes the half-written files of a killed process from `folder`.
pub(super) fn clean(folder: &Path) -> Result<(), Error> {
    dyad_formats::files::clean(folder, |name| ATOMIC.contains(&name))
}

/// Refuses a folder with files of others that a training would overwrite.
pub(super) fn check_free(folder: &Path) -> Result<(), Error> {
    if fs::canonicalize(folder).is_ok_and(|folder| folder.parent().is_none()) {
        let folder = folder.display();
        return Err(Error::Folder(format!("{folder} is the root of a file system: name a folder in it")));
    }
    let foreign = RESERVED
        .into_iter()
        .find(|name| folder.join(name).exists())
        .or_else(|| is_foreign(folder).then_some(lock::NAME));
    // Checked last: another process may begin a training here at the same time, and its files are not foreign.
    match foreign.filter(|_| !folder.join(BEGINNING).exists() && !folder.join(STATE).exists()) {
        Some(name) => Err(Error::Folder(format!(
            "{} holds {name}, but no self-training: a new one would overwrite it, choose another folder",
            folder.display()
        ))),
        None => Ok(()),
    }
}
