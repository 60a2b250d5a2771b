//! What a long work gets from its caller.

use dyad_engine::control::Control;

/// Threads, a way to stop, and a receiver of events.
pub struct Context<'a, E> {
    /// Threads; the result does not depend on their number.
    pub threads: usize,
    /// Stops the work; what is done is kept wherever the work can be resumed.
    pub stop: &'a Control,
    /// Receives the events, on the caller's thread.
    pub on_event: &'a mut dyn FnMut(E),
}

/// Items of a work that are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Items done.
    pub done: u64,
    /// All items; 0 if unknown.
    pub of: u64,
}
