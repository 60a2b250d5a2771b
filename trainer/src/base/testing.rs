//! Folders for tests.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The names of what is in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The path of a folder for each use; what was made there is removed at the end.
pub struct Temporary(PathBuf);

impl Temporary {
    /// Another path, where nothing is yet.
    pub fn new() -> Temporary {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dyad-run-{}-{number}", std::process::id()));
        fs::remove_dir_all(&path).ok();
        Temporary(path)
    }

    /// Another folder, which is empty.
    pub fn folder() -> Temporary {
        let folder = Temporary::new();
        fs::create_dir(&folder).expect("the temporary folder can be written");
        folder
    }
}

impl Deref for Temporary {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Temporary {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// A UCI engine as a shell script: `options` are the lines it prints before `uciok`, `go` is its reaction to a search,
/// with the last position command in `$position`. Its input is logged to a file next to it, with the extension `.log`.
#[cfg(unix)]
pub fn fake_engine(name: &str, options: &str, go: &str) -> PathBuf {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let folder = engines();
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let path = folder.join(name);
    fs::remove_file(log_of(&path)).ok();
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do\necho \"$line\" >>\"$0.log\"\ncase $line in\n\
         uci) echo '{options}'; echo uciok ;;\nisready) echo readyok ;;\nposition*) position=$line ;;\n\
         go*) {go} ;;\nquit) exit ;;\nesac\ndone\n"
    );
    // A file open for writing cannot be executed, and child processes inherit open files.
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >\"$0\" && chmod +x \"$0\""]).arg(&path).stdin(Stdio::piped());
    let mut shell = shell.spawn().expect("there is a shell");
    shell.stdin.take().expect("it was asked for").write_all(script.as_bytes()).expect("the shell reads");
    assert!(shell.wait().expect("it ends").success());
    path
}

/// Where the engines of this process are.
#[cfg(unix)]
pub fn engines() -> PathBuf {
    std::env::temp_dir().join(format!("dyad-engines-{}", std::process::id()))
}

/// Path of the input log of a [`fake_engine`].
#[cfg(unix)]
pub fn log_of(engine: &Path) -> PathBuf {
    engine.with_added_extension("log")
}
