//! The run folder: its files and their names.
//!
//! | file | what |
//! |---|---|
//! | `lock` | held by the process that trains here |
//! | `settings.json` | the settings |
//! | `log.jsonl` | the log, see [`crate::learn::log::LogLine`] |
//! | `checkpoint.bin` | the last checkpoint |
//! | `iteration-00.json` | the initial weights |
//! | `iteration-01.json`, ... | the weights after each iteration |
//! | `best.json` | the weights with the best move-match accuracy on the test positions |
//! | `report.html` | the report page, refreshed during the training |
//!
//! Every file but the log is written [atomically](dyad_formats::files).

use std::path::Path;

/// The settings; self-training uses the same name.
pub const SETTINGS: &str = "settings.json";
/// The log; self-training uses the same name.
pub const LOG: &str = "log.jsonl";
/// The last checkpoint.
pub const CHECKPOINT: &str = "checkpoint.bin";
/// The best weights; self-training uses the same name.
pub const BEST: &str = "best.json";
/// The report page; self-training uses the same name.
pub const REPORT: &str = "report.html";

/// The weights after iteration `iteration`; 0 is for the initial weights.
pub fn iteration_name(iteration: u32) -> String {
    format!("iteration-{iteration:02}.json")
}

/// Whether a folder contains a run.
pub fn holds_run(folder: &Path) -> bool {
    folder.join(SETTINGS).exists()
}

/// Whether a run folder writes a file of this name atomically.
pub(crate) fn is_known(name: &str) -> bool {
    let number = name.strip_prefix("iteration-").and_then(|rest| rest.strip_suffix(".json"));
    let is_iteration = number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    is_iteration || [SETTINGS, CHECKPOINT, BEST, REPORT].contains(&name)
}
