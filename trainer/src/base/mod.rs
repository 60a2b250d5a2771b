//! Basics for all modules of the trainer: what a caller gives to a long work, a parallel map whose results do not
//! depend on the number of threads, folder locks, numeric settings, numbers by group, files of JSON lines, the
//! logistic function, optimizers, and numbers in words. It uses no other module.

pub mod context;
pub mod group_value;
pub mod json_lines;
pub mod lock;
pub mod logistic;
pub mod number;
pub mod optim;
pub mod parallel;
pub mod words;

/// The normal quantile of a two-sided 95 % interval.
pub const Z95: f64 = 1.959_963_984_540_054;

/// For `skip_serializing_if`: a setting at its default is not written, so that files without it, of releases that did
/// not know it, are equal.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
