//! Folder locks: one process at a time works in a folder.
//!
//! Two processes that train in one folder would mix their logs and overwrite each other's files. So a process locks a
//! file `lock` in its folder with a lock of the operating system, which is released when the process ends, for any
//! reason; a crash never leaves a stale lock. The file contains the process number.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file that is held.
pub const NAME: &str = "lock";
/// What it says, before the number of the process.
const OWNER: &str = "process ";

/// A folder is this process's own as long as this lives.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

/// Why a folder could not be had.
#[derive(Debug)]
pub enum LockError {
    /// Another process works in it.
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The process, if known.
        by: String,
    },
    /// A file of another program has the name of the lock.
    Foreign(PathBuf),
    /// The system refused to make, read or lock the file.
    File(PathBuf, io::Error),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::InUse { folder, by } => write!(f, "{} is in use: {by} trains there", folder.display()),
            LockError::Foreign(path) => write!(f, "{} is a file of another program", path.display()),
            LockError::File(path, error) => write!(f, "cannot lock {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for LockError {}

impl FolderLock {
    /// Takes a folder, which must be there.
    ///
    /// # Errors
    /// When another process has it, or the system refuses.
    pub fn take(folder: &Path) -> Result<FolderLock, LockError> {
        if is_foreign(folder) {
            return Err(LockError::Foreign(folder.join(NAME)));
        }
        let path = folder.join(NAME);
        let wrong = |error| LockError::File(path.clone(), error);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(wrong)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                file.read_to_string(&mut by).ok();
                let by = if by.trim().is_empty() { "another process".into() } else { by.trim().to_string() };
                return Err(LockError::InUse { folder: folder.to_path_buf(), by });
            }
            Err(TryLockError::Error(error)) => return Err(wrong(error)),
        }
        let name = format!("{OWNER}{}\n", std::process::id());
        file.set_len(0).and_then(|()| file.write_all(name.as_bytes())).map_err(wrong)?;
        Ok(FolderLock { _file: file })
    }
}

/// Whether what has the lock's name in `folder` is none.
#[must_use]
pub fn is_foreign(folder: &Path) -> bool {
    let path = folder.join(NAME);
    // While another process holds it some systems do not let it be read.
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => {
            fs::read(&path).is_ok_and(|text| !text.is_empty() && !text.starts_with(OWNER.as_bytes()))
        }
        Ok(_) => true,
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::testing::Temporary;

    #[test]
    fn a_folder_has_one_owner_and_files_of_others_stay() {
        let folder = Temporary::folder();
        let held = FolderLock::take(&folder).unwrap();
        let error = FolderLock::take(&folder).unwrap_err().to_string();
        assert!(error.contains(" is in use: ") && error.ends_with(" trains there"), "{error}");
        drop(held);
        drop(FolderLock::take(&folder).unwrap());
        fs::write(folder.join(NAME), "of a text editor").unwrap();
        let error = FolderLock::take(&folder).unwrap_err().to_string();
        assert!(error.ends_with("is a file of another program"), "{error}");
        assert_eq!(fs::read(folder.join(NAME)).unwrap(), b"of a text editor");
    }
}
