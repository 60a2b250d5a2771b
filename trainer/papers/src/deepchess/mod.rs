//! DeepChess: a network that compares two positions, and a search that uses comparisons alone.
//!
//! After David, Netanyahu and Wolf (2016). [`network`] has two copies of the encoder Pos2Vec, which maps a position to
//! a vector, and a comparator on top; [`training`] trains Pos2Vec layer by layer as an autoencoder, then everything end
//! to end on pairs of one position of a game that White won and one of a game that Black won, and distills a small
//! network from a large one; [`measure`] counts how often such pairs are ordered correctly; [`search`] is alpha-beta
//! with positions instead of values. An experiment: the engine's own evaluation and search do not depend on it.

mod file;
pub mod measure;
pub mod network;
pub mod search;
pub mod training;
