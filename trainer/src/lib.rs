//! Games to weights: the trainer of Dyad.
