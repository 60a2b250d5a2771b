//! Executes a plan in a folder.
//!
//! | file | what |
//! |---|---|
//! | `plan.json` | the plan, and the checksums of the input files |
//! | `steps/NAME.json` | the result of the step, with a hash of everything it depends on |
//! | `steps/NAME/` | its output: samples, weights, a training, games; in `key` the same hash |
//! | `results.json`, `report.html` | all results; the page |
//!
//! A step whose file exists, for the same work and the same results of its inputs, is done. So the same command starts
//! and resumes an experiment. Partial output of a step is used for the same work only: for another one its folder is
//! emptied first.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use dyad_engine::eval::Weights;
use dyad_engine::files;
use dyad_formats::atomic::{self, clean, write_atomic};
use dyad_formats::error::Error;
use dyad_formats::hash;
use dyad_trainer::base::context::Context;
use dyad_trainer::base::lock::FolderLock;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::experiment::page;
use crate::experiment::plan::{Inputs, Plan, Step};
use crate::experiment::work::{ExperimentEvent, Results, StepOutput, StepResult, StepRunner};

const PLAN: &str = "plan.json";
const RESULTS: &str = "results.json";
const PAGE: &str = "report.html";
/// The folder of the steps.
const STEPS: &str = "steps";
/// File with the key of a step's folder.
const KEY: &str = "key";

/// An input file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct InputFile {
    name: String,
    bytes: u64,
    crc32: String,
}

/// The plan as saved in the folder.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SavedPlan {
    plan: Plan,
    files: Vec<InputFile>,
}

/// Runs or resumes an experiment in a folder, with a program of this source revision. The same call resumes a stopped
/// experiment.
///
/// # Errors
/// When the plan is not valid, the folder contains another experiment or is in use, a step fails, or it was stopped.
pub fn run(
    plan: &Plan,
    folder: &Path,
    revision: &str,
    context: &mut Context<ExperimentEvent>,
) -> Result<Results, Error> {
    plan.check().map_err(Error::Settings)?;
    fs::create_dir_all(folder.join(STEPS)).map_err(Error::file("create", folder))?;
    let _lock = FolderLock::take(folder)?;
    clean(folder, |name| [PLAN, RESULTS, PAGE].contains(&name))?;
    let files = files(&plan.inputs)?;
    begin(plan, &files, folder)?;
    let program = program(revision);
    let mut results = Results::new();
    for (number, step) in (1..).zip(&plan.steps) {
        let path = folder.join(STEPS).join(format!("{}.json", step.name));
        let key = key(step, plan, &files, &results);
        if let Some(done) = load(&path)?.filter(|done| done.key == key) {
            results.insert(step.name.clone(), done);
            continue;
        }
        (context.on_event)(ExperimentEvent::Begin { step: step.name.clone(), number, of: plan.steps.len() });
        let begun = Instant::now();
        begin_step(&folder.join(STEPS).join(&step.name), &key)?;
        let mut runner = StepRunner { plan, folder: &folder.join(STEPS), context };
        let StepOutput { hash, result } = runner.make(step)?;
        let (seconds, repeatable) = (begun.elapsed().as_secs_f64(), step.work.is_repeatable());
        let made = StepResult { key, hash, repeatable, result, seconds, program: program.clone() };
        write(&path, &made)?;
        (context.on_event)(ExperimentEvent::Done { step: step.name.clone(), result: made.clone() });
        results.insert(step.name.clone(), made);
        write_report(plan, &files, folder, &results)?;
        if context.stop.stopped() && number < plan.steps.len() {
            return Err(Error::Stopped);
        }
    }
    write_report(plan, &files, folder, &results)?;
    Ok(results)
}

/// Saves the plan, or compares it with the saved one.
fn begin(plan: &Plan, files: &[InputFile], folder: &Path) -> Result<(), Error> {
    let path = folder.join(PLAN);
    let now = SavedPlan { plan: plan.clone(), files: files.to_vec() };
    if !path.exists() {
        return write(&path, &now);
    }
    let text = atomic::read(&path).map_err(Error::file("read", &path))?;
    let begun: SavedPlan = serde_json::from_slice(&text).map_err(|error| Error::content(&path, "plan", error))?;
    let (before, after) = (&begun.plan, &now.plan);
    if (&before.name, before.scale, before.seed) != (&after.name, after.scale, after.seed) || begun.files != now.files {
        let problem = format!(
            "{} holds the experiment {} ({:?}, seed {}) with these files or others; name another folder",
            folder.display(),
            before.name,
            before.scale,
            before.seed,
        );
        return Err(Error::Settings(problem));
    }
    // Steps whose work differs in a later program are repeated; all others stay.
    if begun == now { Ok(()) } else { write(&path, &now) }
}

/// Empties a step's folder unless its content was made by the same work.
fn begin_step(folder: &Path, key: &str) -> Result<(), Error> {
    let path = folder.join(KEY);
    if atomic::read(&path).is_ok_and(|before| before == key.as_bytes()) {
        return Ok(());
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file("empty", folder)(error)),
        _ => Ok(()),
    }?;
    fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    write_atomic(&path, key.as_bytes()).map_err(Error::file("write", &path))
}

fn files(inputs: &Inputs) -> Result<Vec<InputFile>, Error> {
    let Inputs { games, bands, openings, weights } = inputs;
    let all = games.iter().chain(bands).chain(openings).chain(weights);
    all.map(|path| {
        let wrong = |error| Error::file("read", path)(error);
        let (mut file, mut crc, mut bytes) = (files::open(path).map_err(wrong)?, crc32fast::Hasher::new(), 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = file.read(&mut buffer).map_err(|error| Error::file("read", path)(error))?;
            if count == 0 {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                return Ok(InputFile { name, bytes, crc32: format!("{:08x}", crc.finalize()) });
            }
            crc.update(&buffer[..count]);
            bytes += count as u64;
        }
    })
    .collect()
}

/// Hash of everything that a step's result depends on.
fn key(step: &Step, plan: &Plan, files: &[InputFile], results: &Results) -> String {
    // The content of files matters, not their folders.
    let nameless = without_folders(serde_json::to_value(&step.work).expect("plain data"));
    let mut key = hash::fold_text(plan.seed, &nameless.to_string());
    for used in step.work.uses() {
        if let Some(result) = results.get(used) {
            key = hash::fold_text(key, &result.hash);
        }
    }
    if step.work.uses_built_in(&plan.inputs) {
        key = hash::fold_text(key, &Weights::embedded().id());
    }
    for file in files {
        key = hash::fold_text(key, &format!("{} {} {}", file.name, file.bytes, file.crc32));
    }
    format!("{key:016x}")
}

fn without_folders(value: Json) -> Json {
    match value {
        Json::String(text) => {
            let name = Path::new(&text).file_name().map(|name| name.to_string_lossy().into_owned());
            Json::String(name.unwrap_or(text))
        }
        Json::Array(all) => all.into_iter().map(without_folders).collect(),
        Json::Object(fields) => fields.into_iter().map(|(name, value)| (name, without_folders(value))).collect(),
        other => other,
    }
}

fn load(path: &Path) -> Result<Option<StepResult>, Error> {
    match atomic::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
        Ok(text) => {
            let result = serde_json::from_slice(&text);
            result.map(Some).map_err(|error| Error::content(path, "result", error))
        }
    }
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(value).expect("plain data");
    write_atomic(path, &text).map_err(Error::file("write", path))
}

/// Version, revision and checksum of the running program.
fn program(revision: &str) -> String {
    let crc = std::env::current_exe().and_then(fs::read).map(|bytes| crc32fast::hash(&bytes));
    let crc = crc.map_or_else(|_| "unknown".to_string(), |crc| format!("{crc:08x}"));
    format!("Dyad {}, revision {revision}, executable {crc}", env!("CARGO_PKG_VERSION"))
}

/// Writes the results and the page.
fn write_report(plan: &Plan, files: &[InputFile], folder: &Path, results: &Results) -> Result<(), Error> {
    let finished = results.len() == plan.steps.len();
    let hashes: BTreeMap<&String, &String> =
        results.iter().filter(|(_, result)| result.repeatable).map(|(name, result)| (name, &result.hash)).collect();
    let all = json!({
        "experiment": plan.name,
        "paper": plan.paper,
        "scale": plan.scale,
        "seed": plan.seed,
        "finished": finished,
        "files": files,
        "hashes": hashes,
        "results": results,
        "steps": plan.steps,
    });
    write(&folder.join(RESULTS), &all)?;
    let path = folder.join(PAGE);
    let page = page::of(plan, results, &folder.join(STEPS));
    write_atomic(&path, page.as_bytes()).map_err(Error::file("write", &path))
}
