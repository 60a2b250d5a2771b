//! Files: only regular ones are read and replaced, and replacing one is atomic.

mod atomic;
mod regular;

pub use atomic::{AtomicFile, write_atomic};
pub use regular::{OwnFolder, open, output_path, read};

use crate::error::Error;
use atomic::{folder_of, intended_name};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum size of settings, a state, a plan or a log.
const LARGEST: u64 = 1 << 26;

/// Reads a file of settings, a state, a plan or a log.
///
/// # Errors
/// When it cannot be read, is no regular file, or is too large.
pub fn read_text(path: &Path) -> io::Result<Vec<u8>> {
    read(path, LARGEST)
}

/// Reads a value from a file of JSON.
///
/// # Errors
/// When the file cannot be read, or holds something else.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = read_text(path).map_err(Error::file("read", path))?;
    serde_json::from_slice(&text).map_err(|error| Error::content(path, "JSON", error))
}

/// Writes a value as JSON, atomically.
///
/// # Errors
/// When the file cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(value).expect("plain data");
    write_atomic(path, &text).map_err(Error::file("write", path))
}

/// Removes the temporary files that killed processes left in `folder`, of the files whose names `is_ours` accepts.
///
/// # Errors
/// When such a file cannot be removed.
pub fn clean(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Result<(), Error> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        if name.to_str().and_then(intended_name).is_some_and(&is_ours) && path.is_file() {
            fs::remove_file(&path).map_err(Error::file("remove", &path))?;
        }
    }
    Ok(())
}

/// Refuses an output that is one of the inputs, which would be overwritten.
///
/// # Errors
/// When it is the same file, by any path.
pub fn check_output(out: &Path, inputs: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<(), Error> {
    check_outputs([out], inputs)
}

/// Refuses outputs that are an input or another output.
///
/// # Errors
/// When two of them are the same file, by any path.
pub fn check_outputs(
    outputs: impl IntoIterator<Item = impl AsRef<Path>>,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), Error> {
    let of_input = |input: &Path| (place(input), format!("the input {}, which would be lost", input.display()));
    let mut taken: Vec<(PathBuf, String)> = inputs.into_iter().map(|input| of_input(input.as_ref())).collect();
    for out in outputs {
        let (out, at) = (out.as_ref(), place(out.as_ref()));
        if let Some((_, what)) = taken.iter().find(|(taken, _)| *taken == at) {
            return Err(Error::Settings(format!("the output {} is {what}", out.display())));
        }
        taken.push((at, "another output".to_string()));
    }
    Ok(())
}

/// The canonical path of a file, which need not exist.
fn place(path: &Path) -> PathBuf {
    let would_be = || Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(would_be).unwrap_or_else(|| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Temporary, names};

    #[test]
    fn only_unfinished_files_of_known_names_are_removed() {
        let folder = Temporary::folder();
        let kept = ["best.json", "best.json.new", "best.json.tmp", "other.12.tmp", "best.json.x.tmp", "12.tmp"];
        for name in kept.iter().chain(&["best.json.0123456789aZ.tmp"]) {
            fs::write(folder.join(name), "text").unwrap();
        }
        clean(&folder, |name| name == "best.json").unwrap();
        let mut kept = kept.to_vec();
        kept.sort_unstable();
        assert_eq!(names(&folder), kept);
    }

    #[test]
    fn an_output_that_is_an_input_is_refused() {
        let folder = Temporary::folder();
        let input = folder.join("in");
        fs::write(&input, "text").unwrap();
        let detour = folder.join(".").join("in");
        let (out, same) = (folder.join("out"), folder.join(".").join("out"));
        let refused = |outputs: &[&Path], inputs: &[&Path]| {
            check_outputs(outputs, inputs).err().map_or_else(String::new, |error| error.to_string())
        };
        assert!(refused(&[&detour], &[&folder, &input]).contains("in, which would be lost"));
        assert!(refused(&[&out, &detour], &[&input]).contains("is the input"));
        assert!(refused(&[&out, &same], &[]).contains("is another output"));
        assert_eq!(refused(&[&out], &[&input]), "");
        #[cfg(unix)]
        {
            let link = folder.join("link");
            std::os::unix::fs::symlink(&input, &link).unwrap();
            assert!(refused(&[&link], &[&input]).contains("would be lost"));
        }
    }
}
