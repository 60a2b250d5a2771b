//! The priority of threads: a training works in the background of a game.
//!
//! On Linux a thread begins with the priority of the thread that starts it. On Windows each begins with the usual one,
//! so a training at low priority would work at the usual one.

use std::io;
#[cfg(windows)]
use windows_sys::Win32::System::Threading::{
    GetCurrentThread, GetThreadPriority, SetThreadPriority, THREAD_PRIORITY_BELOW_NORMAL,
};

/// The priority of a thread.
#[derive(Clone, Copy)]
pub struct Priority(#[cfg(windows)] i32);

impl Priority {
    /// That of the calling thread.
    pub fn of_this_thread() -> Priority {
        Priority(
            // SAFETY: both functions have no requirements.
            #[cfg(windows)]
            unsafe {
                GetThreadPriority(GetCurrentThread())
            },
        )
    }

    /// Gives it to this thread, where threads do not inherit it.
    pub fn take(self) {
        #[cfg(windows)]
        // SAFETY: both functions have no requirements; a value that is no priority is refused. Without it the thread
        // works as well, at the usual priority.
        unsafe {
            SetThreadPriority(GetCurrentThread(), self.0);
        }
    }
}

/// Lowers the priority of this thread below that of the search, to about a tenth of the processor time if they compete,
/// which suffices to write a checkpoint. On Linux and Windows the priority is relative to that of the engine.
///
/// # Errors
/// When the system refuses it, or has no priority for a single thread.
pub fn lower_priority() -> io::Result<()> {
    /// Each increment lowers the share of processor time by a fifth; on Linux the nice value is that of a thread.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const NICE: i32 = 10;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return Ok(rustix::process::nice(NICE).map(|_| ())?);
    #[cfg(windows)]
    // SAFETY: both functions have no requirements.
    return match unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    #[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
    Err(io::ErrorKind::Unsupported.into())
}
