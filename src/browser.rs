//! Opens a page in the user's browser.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Opens a local page in the default browser, without waiting for it.
///
/// # Errors
/// When the system has no program that opens pages.
pub fn open(page: &Path) -> io::Result<()> {
    let program = match () {
        () if cfg!(windows) => "explorer",
        () if cfg!(target_os = "macos") => "open",
        () => "xdg-open",
    };
    // Its output must not mix with that of the protocol.
    let mut command = Command::new(program);
    let mut child = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // The system keeps an ended process until someone waits for it.
    thread::Builder::new().name("browser".to_string()).spawn(move || child.wait())?;
    Ok(())
}
