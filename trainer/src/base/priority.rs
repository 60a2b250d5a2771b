//! The priority of threads that work for another one.
//!
//! On Linux a thread begins with the priority of the thread that starts it. On Windows each begins with the usual one,
//! so a training at low priority would work at the usual one.

/// The priority of a thread.
#[derive(Clone, Copy)]
pub(crate) struct Priority(#[cfg(windows)] Option<thread_priority::ThreadPriority>);

impl Priority {
    pub(crate) fn of_this_thread() -> Priority {
        Priority(
            #[cfg(windows)]
            thread_priority::get_current_thread_priority().ok(),
        )
    }

    /// Gives it to this thread, where threads do not inherit it.
    pub(crate) fn take(self) {
        #[cfg(windows)]
        if let Some(priority) = self.0 {
            // Without it the thread works as well, at the usual priority.
            let _ = thread_priority::set_current_thread_priority(priority);
        }
    }
}
