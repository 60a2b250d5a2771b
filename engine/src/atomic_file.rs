//! Files that are whole or absent.
//!
//! A file is written under another name beside its own, put on the disk and then renamed, so a machine that stops
//! at any moment leaves the old file or the new one. The other name tells what the file was to become and which
//! process wrote it: two processes do not write into the same one, and what a killed process left can be told from
//! files of other programs. What is there already keeps its mode and, where the system lets us, its owner; a link stays
//! and the file it leads to is replaced; [what is no file](crate::regular_file) is not.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::regular_file;

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
    /// When the system does not let a file be made beside it, or what is there is no regular file or write-protected.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let path = regular_file::output(path)?;
        let unfinished = temporary_name(&path)?;
        let file = File::create(&unfinished)?;
        let made = AtomicFile { path, unfinished, file: Some(file) };
        made.take_mode()?;
        Ok(made)
    }

    /// Has the file be like the one it replaces.
    fn take_mode(&self) -> io::Result<()> {
        let (Some(file), Ok(replaced)) = (&self.file, fs::metadata(&self.path)) else { return Ok(()) };
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            // Only root can give a file away; everybody else keeps what is theirs.
            fchown(file, Some(replaced.uid()), Some(replaced.gid())).ok();
        }
        file.set_permissions(replaced.permissions())
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
        let error = write_atomic(&taken, b"text").unwrap_err();
        assert_eq!((names(&folder), error.to_string()), (vec!["taken".into()], "a folder, not a regular file".into()));
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_modes_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder("whole-links");
        let (file, link, second) = (folder.join("file"), folder.join("link"), folder.join("second"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        symlink(&link, &second).unwrap();
        write_atomic(&second, b"new").unwrap();
        assert!(link.is_symlink() && second.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        // A link to a file that is not there makes it.
        fs::remove_file(&file).unwrap();
        write_atomic(&link, b"made").unwrap();
        assert_eq!((link.is_symlink(), fs::read(&file).unwrap()), (true, b"made".to_vec()));
        // One that leads to itself leads nowhere.
        symlink("circle", folder.join("circle")).unwrap();
        write_atomic(&folder.join("circle"), b"lost").unwrap_err();
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_protected_or_no_file_is_not_replaced() {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::net::UnixListener;
        let folder = folder("whole-refused");
        let file = folder.join("file");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        let error = write_atomic(&file, b"new").unwrap_err();
        assert_eq!((error.kind(), fs::read(&file).unwrap()), (io::ErrorKind::PermissionDenied, b"old".to_vec()));
        let socket = folder.join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let error = write_atomic(&socket, b"new").unwrap_err();
        assert_eq!(error.to_string(), "a socket, not a regular file");
        assert_eq!(names(&folder), ["file", "socket"]);
        fs::remove_dir_all(folder).unwrap();
    }
}
