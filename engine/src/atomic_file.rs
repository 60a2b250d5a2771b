//! Files that are whole or absent.
//!
//! A file is written under another name beside its own, put on the disk and then renamed, so a machine that stops
//! at any moment leaves the old file or the new one. The other name tells what the file was to become and which
//! process wrote it: two processes do not write into the same one, and what a killed process left can be told from
//! files of other programs.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file being written. It appears under its name when it is [committed](AtomicFile::commit); one that is given up
/// before, or cannot be completed, leaves nothing behind.
pub struct AtomicFile {
    path: PathBuf,
    unfinished: PathBuf,
    file: Option<File>,
}

impl AtomicFile {
    /// Begins the file that is to be at `path`.
    ///
    /// # Errors
    /// When the system does not let a file be made beside it.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let unfinished = temporary_name(path)?;
        let file = Some(File::create(&unfinished)?);
        Ok(AtomicFile { path: path.to_path_buf(), unfinished, file })
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// When it cannot be put on the disk or renamed.
    pub fn commit(mut self) -> io::Result<()> {
        self.open().sync_all()?;
        // Some systems do not rename an open file.
        drop(self.file.take());
        if let Err(error) = fs::rename(&self.unfinished, &self.path) {
            fs::remove_file(&self.unfinished).ok();
            return Err(error);
        }
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // The rename itself is on the disk once the folder is; where a folder cannot be opened, it will be before long.
        if let Ok(folder) = File::open(folder) {
            folder.sync_all().ok();
        }
        Ok(())
    }

    fn open(&mut self) -> &mut File {
        self.file.as_mut().expect("a file is taken only at its end")
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.open().seek(to)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            fs::remove_file(&self.unfinished).ok();
        }
    }
}

/// Writes a file so that it is whole or as before, whenever the machine stops.
///
/// # Errors
/// When the system refuses; then the file is as before.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// The name that the file at `path` has while this process writes it, beside its own.
fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    let mut name = path.file_name().ok_or_else(|| io::Error::other("the path names no file"))?.to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(name))
}

/// What a file of this name was to be called, if it is one that was not completed.
#[must_use]
pub fn intended_name(unfinished: &str) -> Option<&str> {
    let (name, process) = unfinished.strip_suffix(".tmp")?.rsplit_once('.')?;
    (!process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("dyad-engine-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_when_it_is_complete() {
        let folder = folder("whole");
        let path = folder.join("file");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert!(!path.exists());
        drop(file);
        assert!(names(&folder).is_empty());
        write_atomic(&path, b"whole").unwrap();
        assert_eq!((names(&folder), fs::read(&path).unwrap()), (vec!["file".to_string()], b"whole".to_vec()));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let folder = folder("whole-failure");
        // A folder cannot be replaced by a file.
        let taken = folder.join("taken");
        fs::create_dir_all(taken.join("within")).unwrap();
        write_atomic(&taken, b"text").unwrap_err();
        assert_eq!(names(&folder), ["taken"]);
        fs::remove_dir_all(folder).unwrap();
    }
}
