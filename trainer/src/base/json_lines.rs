//! Logs of one JSON object a line.
//!
//! A line is written to its end or, when the machine stops in the middle of it, is the last; a job that is resumed
//! first cuts the log to what it was then.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use dyad_formats::files;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::lock::{LockedFile, open_alone};

/// A log being written.
pub struct Log {
    file: LockedFile,
    bytes: u64,
}

impl Log {
    /// Opens the log at `path` and keeps its first `bytes` bytes.
    pub fn open(path: &Path, bytes: u64) -> io::Result<Log> {
        let file = open_alone(path)?;
        let bytes = bytes.min(file.metadata()?.len());
        file.set_len(bytes)?;
        (&*file).seek(SeekFrom::End(0))?;
        Ok(Log { file, bytes })
    }

    /// Opens the log at `path`, which need not be there, behind the lines that were written to their end, and gives
    /// them.
    ///
    /// # Errors
    /// When the file cannot be read, or a line cannot be parsed.
    pub fn resume<T: DeserializeOwned>(path: &Path) -> io::Result<(Log, Vec<T>)> {
        let (lines, bytes) = match whole_lines(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Vec::new(), 0),
            read => read?,
        };
        Ok((Log::open(path, bytes)?, lines))
    }

    /// Appends a line.
    pub fn append(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line).expect("a line is plain data");
        text.push(b'\n');
        (&*self.file).write_all(&text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Puts what was written on the disk and says how long the log is.
    pub fn sync(&mut self) -> io::Result<u64> {
        self.file.sync_data()?;
        Ok(self.bytes)
    }
}

/// Reads the lines of a log. A last line that is cut is left out.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    whole_lines(path).map(|(lines, _)| lines)
}

/// The lines that were written to their end, and how many bytes they take.
fn whole_lines<T: DeserializeOwned>(path: &Path) -> io::Result<(Vec<T>, u64)> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    let mut reader = BufReader::new(files::open(path)?);
    let mut text = String::new();
    // The beginning of a line, or zeros after a power failure.
    let may_be_cut =
        |text: &str| !text.ends_with('\n') && (text.starts_with('{') || text.trim_matches('\0').is_empty());
    let is_cut = |text: &str| may_be_cut(text) && serde_json::from_str::<IgnoredAny>(text).is_err();
    while reader.read_line(&mut text)? > 0 && !is_cut(&text) {
        let line = serde_json::from_str(&text).map_err(|e| {
            let message = format!("{}, line {}: {e}", path.display(), lines.len() + 1);
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        // The line's end may be missing.
        if !text.ends_with('\n') {
            break;
        }
        lines.push(line);
        bytes += text.len() as u64;
        text.clear();
    }
    Ok((lines, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::Temporary;

    #[test]
    fn a_log_is_cut_to_a_checkpoint_and_read_without_a_broken_end() {
        let folder = Temporary::folder();
        let path = folder.join("log.jsonl");
        let line = |iteration: u32| serde_json::json!({ "iteration": iteration });
        let mut log = Log::open(&path, 0).unwrap();
        log.append(&line(1)).unwrap();
        let bytes = log.sync().unwrap();
        log.append(&line(2)).unwrap();
        drop(log);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"kind").unwrap();
        assert_eq!(read::<serde_json::Value>(&path).unwrap(), [line(1), line(2)]);
        let mut log = Log::open(&path, bytes).unwrap();
        log.append(&line(3)).unwrap();
        assert_eq!(read::<serde_json::Value>(&path).unwrap(), [line(1), line(3)]);
        drop(log);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"kind").unwrap();
        let (mut log, lines) = Log::resume::<serde_json::Value>(&path).unwrap();
        assert_eq!(lines, [line(1), line(3)]);
        log.append(&line(4)).unwrap();
        assert_eq!(read::<serde_json::Value>(&path).unwrap(), [line(1), line(3), line(4)]);
    }

    #[test]
    fn a_file_that_is_no_log_stays() {
        #[derive(serde::Deserialize)]
        struct Line {
            #[serde(rename = "iteration")]
            _iteration: u32,
        }
        let folder = Temporary::folder();
        let path = folder.join("weights.json");
        for (text, line) in [
            ("{\"format\": 2}", 1),
            ("8/8/8/4k3/8/8/8/4K2R w K - 0 1", 1),
            ("{\"iteration\": 1}\n{\"iteration\": null}\n", 2),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Log::resume::<Line>(&path).err().unwrap().to_string();
            assert!(error.contains(&format!("weights.json, line {line}: ")), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
