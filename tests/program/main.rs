//! Conversations with the built program, as a GUI holds them.
//!
//! All of them are in one test program: each costs a link of the whole engine.

mod annotate;
mod architecture;
mod arguments;
mod conversations;
mod data;
mod documents;
mod driver;
mod ends;
mod experiments;
mod gui_training;
mod hostile;
mod levels;
mod matches;
mod options;
mod search;
mod selftraining;
mod training;
#[cfg(unix)]
mod tutorial;
