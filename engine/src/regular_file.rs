//! Which files are read, and which may be replaced: regular ones.
//!
//! Opening a FIFO waits for whoever writes into it, a device need never end, and a name under `/proc` may be either,
//! whatever the system calls it. A program that has a game to play cannot wait for them, so they are refused before
//! they are opened. As an output they would be replaced by a file, which is what nobody means who names a device; a
//! link means the file it points to, and a file that is write-protected is so for a reason.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Links are followed so far, as the systems do.
const MOST_LINKS: usize = 40;

/// Opens a file to read it.
///
/// # Errors
/// When the system refuses, or it is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    check(&fs::metadata(path)?)?;
    let of_the_system = |path: PathBuf| path.starts_with("/proc") || path.starts_with("/sys");
    if cfg!(target_os = "linux") && fs::canonicalize(path).is_ok_and(of_the_system) {
        return Err(refusal("a file of the system"));
    }
    let file = File::open(path)?;
    // It may have been replaced meanwhile.
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a file of at most so many bytes.
///
/// # Errors
/// When the system refuses, it is no regular file, or it is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= most {
        // It may grow while it is read.
        file.take(most + 1).read_to_end(&mut bytes)?;
    }
    match length.max(bytes.len() as u64) {
        length if length > most => Err(io::Error::other(format!("{length} bytes are too many, {most} are the most"))),
        _ => Ok(bytes),
    }
}

/// The file that is meant by an output of this name: the one that links lead to, which need not be there.
///
/// # Errors
/// When it is there, and is no regular file or must not be written.
pub fn output(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
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
        // Root may write whatever is protected.
        if metadata.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is write-protected"));
        }
        OpenOptions::new().append(true).open(&target)?;
        return Ok(target);
    }
    Err(io::Error::other("too many links lead to it"))
}

fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(refusal(kind(metadata))) }
}

fn refusal(kind: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{kind}, not a regular file"))
}

/// What something is that is no regular file.
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
