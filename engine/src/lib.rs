//! Chess rules, evaluation and search of Dyad.
