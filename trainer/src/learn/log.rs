//! The log of a training: one JSON object a line.
//!
//! Whoever draws learning curves reads [`LogLine`]s and nothing else. All numbers but the times depend
//! on settings and data alone. A line is written whole or, when the machine stops in the middle of it,
//! is the last; a training that goes on from a checkpoint first cuts the log to what it was then.

use dyad_engine::eval::{FloatWeights, layout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

/// One line of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// What the line ends.
    pub kind: LineKind,
    /// The iteration, from 1; 0 in the one line about the weights at the start.
    pub iteration: u32,
    /// Positions of the iteration that are done, of [`LogLine::of`].
    pub done: u64,
    /// Positions in an iteration.
    pub of: u64,
    /// Positions of all iterations together that counted: those done, less those skipped.
    pub positions: u64,
    /// Updates of all iterations together.
    pub updates: u64,
    /// Skipped since the last line of this kind: one legal move, in check, mates and draws.
    pub skipped: u64,
    /// Mean size of S, the siblings valued above the desired move, since the last line of this kind.
    pub mean_s: f64,
    /// Share of the positions with an empty S, ditto.
    pub empty_s: f64,
    /// Mean loss, ditto.
    pub loss: f64,
    /// Mean nodes searched for a position, ditto.
    pub nodes: f64,
    /// Agreement on test positions, 0 to 1, of the averaged weights; none without test positions.
    pub agreement: Option<f64>,
    /// On how many test positions.
    pub agreement_positions: u64,
    /// Euclidean norm of the weights as they stand, opening and endgame, by group.
    pub norms: BTreeMap<String, [f64; 2]>,
    /// Opening and endgame weight of each piece type from pawn to king, averaged, in the search's
    /// integers (section 3.3).
    pub material: Vec<[i32; 2]>,
    /// Training positions per second since the last line of this kind.
    pub positions_per_second: f64,
    /// Seconds since the training began, without those between a stop and going on.
    pub seconds: f64,
    /// The weights file of the iteration, relative to the run folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether these are the best weights so far.
    #[serde(default)]
    pub best: bool,
}

/// What a line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    /// A stretch of positions.
    #[default]
    Report,
    /// An iteration; its agreement is that on all test positions.
    Iteration,
}

/// The norms of a set of weights by group.
pub fn norms(weights: &FloatWeights) -> BTreeMap<String, [f64; 2]> {
    let norm = |weights: &[f64]| weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let of_group = |group: &layout::Group| {
        let [mg, eg] = [&weights.mg, &weights.eg].map(|stage| norm(&stage[group.range()]));
        (group.name.to_string(), [mg, eg])
    };
    layout::GROUPS.iter().map(of_group).collect()
}

/// A log being written.
pub struct Log {
    file: File,
    bytes: u64,
}

impl Log {
    /// Opens the log at `path` and keeps its first `bytes` bytes.
    pub fn open(path: &Path, bytes: u64) -> io::Result<Log> {
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        let bytes = bytes.min(file.metadata()?.len());
        file.set_len(bytes)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Log { file, bytes })
    }

    /// Appends a line: a [`LogLine`], or what another job logs.
    pub fn append(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line).expect("a line is plain data");
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Puts what was written on the disk and says how long the log is.
    pub fn sync(&mut self) -> io::Result<u64> {
        self.file.sync_data()?;
        Ok(self.bytes)
    }
}

/// Reads the lines of a log. A last line that is not whole is left out.
pub fn read(path: &Path) -> io::Result<Vec<LogLine>> {
    let mut lines = Vec::new();
    let mut reader = BufReader::new(File::open(path)?);
    let mut text = String::new();
    while reader.read_line(&mut text)? > 0 && text.ends_with('\n') {
        let line = serde_json::from_str(&text).map_err(|e| {
            let message = format!("{}, line {}: {e}", path.display(), lines.len() + 1);
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        lines.push(line);
        text.clear();
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_to_a_checkpoint_and_read_without_a_broken_end() {
        let path = std::env::temp_dir().join(format!("dyad-log-{}", std::process::id()));
        std::fs::remove_file(&path).ok();
        let line = |iteration| LogLine { iteration, ..LogLine::default() };
        let mut log = Log::open(&path, 0).unwrap();
        log.append(&line(1)).unwrap();
        let bytes = log.sync().unwrap();
        log.append(&line(2)).unwrap();
        drop(log);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"kind").unwrap();
        assert_eq!(read(&path).unwrap(), [line(1), line(2)]);
        let mut log = Log::open(&path, bytes).unwrap();
        log.append(&line(3)).unwrap();
        assert_eq!(read(&path).unwrap(), [line(1), line(3)]);
        std::fs::remove_file(&path).unwrap();
    }
}
