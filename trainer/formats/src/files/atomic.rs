//! Atomic replacement: a file is complete or absent.
//!
//! A file is written under a temporary name in the same folder, synced to disk and renamed, so a crash at any moment
//! leaves the old file or the new one. The temporary name is the final name with random letters, and the file must not
//! exist yet: a link that was put there is not followed, and leftovers of a killed process are recognizable. A replaced
//! file keeps its mode and, where permitted, its owner; a link is kept and its target replaced.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::regular;

/// Random letters and digits in a temporary name.
const RANDOM: usize = 12;

/// A file being written. [`commit`](AtomicFile::commit) gives it its name; dropping it without leaves nothing behind.
pub struct AtomicFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl AtomicFile {
    /// Starts a file that will replace `path`.
    ///
    /// # Errors
    /// If the temporary file cannot be created, or `path` is not a regular file or is write-protected.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let path = regular::output_path(path)?;
        let mut begins = path.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?.to_os_string();
        begins.push(".");
        let mut builder = Builder::new();
        builder.prefix(&begins).suffix(".tmp").rand_bytes(RANDOM);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder_of(&path))?;
        if let Ok(replaced) = fs::metadata(&path) {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};
                // Only root may change the owner.
                fchown(file.as_file(), Some(replaced.uid()), Some(replaced.gid())).ok();
            }
            file.as_file().set_permissions(replaced.permissions())?;
        }
        Ok(AtomicFile { path, file })
    }

    /// Syncs the file to disk and renames it to its final name.
    ///
    /// # Errors
    /// If either fails; the temporary file is then removed.
    pub fn commit(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path)?;
        // Syncing the folder makes the rename durable. Not all systems can open a folder.
        if let Ok(folder) = File::open(folder_of(&self.path)) {
            folder.sync_all().ok();
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.as_file().seek(to)
    }
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Replaces the file at `path` atomically.
///
/// # Errors
/// If the file cannot be written; the old file is then unchanged.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// The final name of an unfinished temporary file; `None` for other names.
pub(super) fn intended_name(temporary: &str) -> Option<&str> {
    let (name, random) = temporary.strip_suffix(".tmp")?.rsplit_once('.')?;
    (random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Temporary, names};

    #[test]
    fn a_file_appears_only_on_commit() {
        let folder = Temporary::folder();
        let path = folder.join("file");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert!(!path.exists());
        drop(file);
        assert!(names(&folder).is_empty());
        write_atomic(&path, b"whole").unwrap();
        assert_eq!((names(&folder), fs::read(&path).unwrap()), (vec!["file".to_string()], b"whole".to_vec()));
    }

    #[test]
    fn temporary_names_cannot_be_foretold() {
        let folder = Temporary::folder();
        let path = folder.join("file");
        let files: Vec<_> = (0..3).map(|_| AtomicFile::create(&path).unwrap()).collect();
        let names = names(&folder);
        assert!(names.len() == 3 && names.iter().all(|name| intended_name(name) == Some("file")), "{names:?}");
        let guess = format!("file.{}.tmp", std::process::id());
        assert!(!names.contains(&guess), "{names:?}");
        drop(files);
    }

    #[test]
    fn a_failure_leaves_no_temporary_file() {
        let folder = Temporary::folder();
        // A folder cannot be replaced by a file.
        let taken = folder.join("taken");
        fs::create_dir_all(taken.join("within")).unwrap();
        let error = write_atomic(&taken, b"text").unwrap_err();
        assert_eq!((names(&folder), error.to_string()), (vec!["taken".into()], "a folder, not a regular file".into()));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Temporary::folder();
        let (file, link, second) = (folder.join("file"), folder.join("link"), folder.join("second"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        symlink(&link, &second).unwrap();
        write_atomic(&second, b"new").unwrap();
        assert!(link.is_symlink() && second.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        // Writing through a dangling link creates its target.
        fs::remove_file(&file).unwrap();
        write_atomic(&link, b"made").unwrap();
        assert_eq!((link.is_symlink(), fs::read(&file).unwrap()), (true, b"made".to_vec()));
        // A link to itself is an error.
        symlink("circle", folder.join("circle")).unwrap();
        write_atomic(&folder.join("circle"), b"lost").unwrap_err();
    }
}
