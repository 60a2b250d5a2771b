//! Locks: one process at a time works in a folder, and one appends to a file.
//!
//! Two processes that train in one folder would mix their logs and overwrite each other's files. So a process locks a
//! file `lock` in its folder with a lock of the operating system, which is released when the process ends, for any
//! reason; a crash never leaves a stale lock. The file contains the process number. While the folder is locked, links
//! in it are not followed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use dyad_formats::error::Error;
use dyad_formats::files::{self, OwnFolder};

/// The file that is held.
pub const NAME: &str = "lock";
/// What it says, before the number of the process.
const OWNER: &str = "process ";

/// A folder is this process's own as long as this lives.
#[derive(Debug)]
pub struct FolderLock {
    _file: LockedFile,
    _folder: OwnFolder,
}

/// A file that is unlocked when it is closed.
///
/// Closing alone is not enough on Unix: a child process that is being started has a copy of the open file until it
/// executes its program, and the lock would last until then.
#[derive(Debug)]
pub struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Some file systems have no locks.
        let _ = self.0.unlock();
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl FolderLock {
    /// Takes a folder, which must be there.
    ///
    /// # Errors
    /// When another process has it, or the system refuses.
    pub fn take(folder: &Path) -> Result<FolderLock, Error> {
        if let Some(link) = link_in(folder, SUBFOLDERS) {
            let link = link.display();
            return Err(Error::Folder(format!(
                "{link} is a link: what is written there would go elsewhere; remove it"
            )));
        }
        if is_foreign(folder) {
            return Err(Error::Folder(format!("{} is a file of another program", folder.join(NAME).display())));
        }
        let path = folder.join(NAME);
        let wrong = |error| Error::file("lock", &path)(error);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(wrong)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                file.read_to_string(&mut by).ok();
                let by = if by.trim().is_empty() { "another process".into() } else { by.trim().to_string() };
                return Err(Error::Folder(format!("{} is in use: {by} trains there", folder.display())));
            }
            Err(TryLockError::Error(error)) => return Err(wrong(error)),
        }
        let file = LockedFile(file);
        let name = format!("{OWNER}{}\n", std::process::id());
        file.set_len(0).and_then(|()| (&*file).write_all(name.as_bytes())).map_err(wrong)?;
        Ok(FolderLock { _file: file, _folder: OwnFolder::new(folder).map_err(wrong)? })
    }
}

/// Opens or creates a file for reading and writing. Until it is closed no other process can open it like this: two
/// writers would mix what they write. Readers are not hindered.
///
/// # Errors
/// If the file cannot be read and written, is not a regular file, or another process writes it.
pub fn open_alone(path: &Path) -> io::Result<LockedFile> {
    let path = files::output_path(path)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let in_use = || io::Error::new(io::ErrorKind::ResourceBusy, "another process writes it");
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        const SHARE_READ: u32 = 1;
        const SHARING_VIOLATION: i32 = 32;
        // A lock of Windows would hinder readers.
        options.share_mode(SHARE_READ).open(path).map(LockedFile).map_err(|error| match error.raw_os_error() {
            Some(SHARING_VIOLATION) => in_use(),
            _ => error,
        })
    }
    #[cfg(not(windows))]
    {
        let file = options.open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(in_use()),
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(LockedFile(file)),
        }
    }
}

/// Whether the file with the name of the lock in `folder` belongs to another program.
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

/// Levels of folders below one that is taken.
const SUBFOLDERS: usize = 2;

/// A symbolic link in a folder, or in its folders down to this level.
fn link_in(folder: &Path, levels: usize) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => Some(entry.path()),
        Ok(kind) if kind.is_dir() && levels > 0 => link_in(&entry.path(), levels - 1),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::Temporary;

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

    #[cfg(unix)]
    #[test]
    fn a_folder_with_a_link_is_refused_and_the_link_not_followed() {
        use std::os::unix::fs::symlink;
        let (folder, elsewhere) = (Temporary::folder(), Temporary::folder());
        fs::create_dir(folder.join("generation-001")).unwrap();
        for link in ["lock", "state.json", "generation-001/weights.json", "generation-002"] {
            symlink(elsewhere.join("target"), folder.join(link)).unwrap();
            let error = FolderLock::take(&folder).unwrap_err().to_string();
            assert!(error.contains(link) && error.contains(" is a link: "), "{error}");
            fs::remove_file(folder.join(link)).unwrap();
        }
        assert_eq!(fs::read_dir(&*elsewhere).unwrap().count(), 0);
        FolderLock::take(&folder).unwrap();
    }

    /// Links that appear while the folder is locked are not followed by any writer.
    #[cfg(unix)]
    #[test]
    fn links_planted_in_a_locked_folder_are_not_followed() {
        use crate::base::json_lines::Log;
        use dyad_formats::files::write_atomic;
        use std::os::unix::fs::symlink;
        let (folder, elsewhere) = (Temporary::folder(), Temporary::folder());
        let held = FolderLock::take(&folder).unwrap();
        fs::write(elsewhere.join("mine"), "mine").unwrap();
        for target in ["mine", "missing"] {
            symlink(elsewhere.join(target), folder.join("file")).unwrap();
            symlink(&*elsewhere, folder.join("generation-001")).unwrap();
            for name in ["file", "generation-001/mine", "generation-001/missing"] {
                let path = folder.join(name);
                let errors = [
                    write_atomic(&path, b"text").unwrap_err(),
                    Log::open(&path, 0).err().unwrap(),
                    open_alone(&path).unwrap_err(),
                ];
                assert!(errors.iter().all(|error| error.to_string().contains(" is a link: ")), "{errors:?}");
            }
            fs::remove_file(folder.join("file")).unwrap();
            fs::remove_file(folder.join("generation-001")).unwrap();
        }
        assert_eq!(fs::read_to_string(elsewhere.join("mine")).unwrap(), "mine");
        assert!(!elsewhere.join("missing").exists());
        // In a folder that is not locked, the user named the file.
        drop(held);
        symlink(elsewhere.join("missing"), folder.join("file")).unwrap();
        write_atomic(&folder.join("file"), b"text").unwrap();
        assert!(elsewhere.join("missing").exists());
    }

    #[test]
    fn a_file_has_one_writer() {
        let folder = Temporary::folder();
        let path = folder.join("file");
        let first = open_alone(&path).unwrap();
        assert!(open_alone(&path).unwrap_err().to_string().contains("another process writes it"));
        fs::read(&path).unwrap();
        drop(first);
        open_alone(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_of_the_open_file_in_a_new_process_does_not_keep_the_lock() {
        let folder = Temporary::folder();
        let path = folder.join("file");
        let file = open_alone(&path).unwrap();
        let _copy = file.try_clone().unwrap();
        drop(file);
        open_alone(&path).unwrap();
        let held = FolderLock::take(&folder).unwrap();
        let _copy = held._file.try_clone().unwrap();
        drop(held);
        FolderLock::take(&folder).unwrap();
    }
}
