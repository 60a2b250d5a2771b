//! Basics for all modules of the trainer: a parallel map whose results do not depend on the number of threads, folder
//! locks, numeric settings, and files of JSON lines. It uses no other module.

pub mod json_lines;
pub mod lock;
pub mod number;
pub mod parallel;
