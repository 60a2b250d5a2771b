//! Regular files: the only ones that are read or replaced.
//!
//! Opening a FIFO blocks until another process writes to it, a device may never end, and a name under `/proc` may be
//! either. An engine in a game cannot wait, so these are refused before they are opened. As outputs they are refused
//! too: replacing a device by a file is never intended. Write protection is respected. Links are followed, but not below an
//! [`OwnFolder`].

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{self, Path, PathBuf};
use std::sync::RwLock;

/// Longest chain of symbolic links that is followed, as in Linux.
const MAX_LINKS: usize = 40;

/// The folders of all [`OwnFolder`]s.
static OWN_FOLDERS: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// A folder of which the user named no file: outputs below it follow no links while this lives.
///
/// Otherwise another program that can create files there chooses which file elsewhere is overwritten.
#[derive(Debug)]
pub struct OwnFolder(PathBuf);

impl OwnFolder {
    /// Outputs below `folder` follow no links from now on.
    ///
    /// # Errors
    /// If the current folder is unknown.
    pub fn new(folder: &Path) -> io::Result<OwnFolder> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let folder = path::absolute(folder)?;
        OWN_FOLDERS.write().map_err(|_| io::Error::other("a thread panicked"))?.push(folder.clone());
        Ok(OwnFolder(folder))
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if let Ok(mut folders) = OWN_FOLDERS.write()
            && let Some(place) = folders.iter().position(|folder| *folder == self.0)
        {
            folders.swap_remove(place);
        }
    }
}

/// Refuses a path through a link below an [`OwnFolder`].
fn check_links(path: &Path) -> io::Result<()> {
    let path = path::absolute(path)?;
    let folders = OWN_FOLDERS.read().map_err(|_| io::Error::other("a thread panicked"))?;
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let below = |folder: &Path| path.ancestors().take_while(|part| *part != folder).find(|part| is_link(part));
    match folders.iter().filter(|folder| path.starts_with(folder)).find_map(|folder| below(folder)) {
        Some(link) => {
            Err(io::Error::other(format!("{} is a link: what is written there would go elsewhere", link.display())))
        }
        None => Ok(()),
    }
}

/// Opens a regular file for reading.
///
/// # Errors
/// If the file cannot be opened or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    check(&fs::metadata(path)?)?;
    let is_system = |path: PathBuf| path.starts_with("/proc") || path.starts_with("/sys");
    if cfg!(target_os = "linux") && fs::canonicalize(path).is_ok_and(is_system) {
        return Err(refusal("a file of the system"));
    }
    let file = File::open(path)?;
    // The file may have been replaced since the first check.
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// If the file cannot be read, is not a regular file, or is longer than `limit`.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= limit {
        // The file may grow while it is read.
        file.take(limit + 1).read_to_end(&mut bytes)?;
    }
    match length.max(bytes.len() as u64) {
        length if length > limit => Err(io::Error::other(format!("{length} bytes, more than the limit of {limit}"))),
        _ => Ok(bytes),
    }
}

/// The path that an output to `path` replaces or creates, after following symbolic links.
///
/// # Errors
/// If something other than a writable regular file exists there, or a link below an [`OwnFolder`] leads there.
pub fn output_path(path: &Path) -> io::Result<PathBuf> {
    check_links(path)?;
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let metadata = match fs::symlink_metadata(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
            metadata => metadata?,
        };
        if metadata.is_symlink() {
            let link = fs::read_link(&target)?;
            target = target.parent().map_or_else(|| link.clone(), |folder| folder.join(&link));
            continue;
        }
        check(&metadata)?;
        // For root, opening a write-protected file succeeds.
        if metadata.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is write-protected"));
        }
        OpenOptions::new().append(true).open(&target)?;
        return Ok(target);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(refusal(kind(metadata))) }
}

fn refusal(kind: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{kind}, not a regular file"))
}

/// The kind of a file that is not regular.
fn kind(metadata: &Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if metadata.is_dir() { "a folder" } else { "something else" }
}
