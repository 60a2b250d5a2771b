//! DeepChess: a network that says which of two positions is better, and a search that needs nothing else.
//!
//! After David, Netanyahu and Wolf (2016). [`network`] is Pos2Vec, which makes a vector of a position, twice side by side, and
//! a comparator on top; [`training`] learns Pos2Vec layer by layer as an autoencoder, then all of it end to end from pairs of one
//! position of a game that White won and one of a game that Black won, and distills a small network from a large one;
//! [`measure`] counts how often such pairs are told apart; [`search`] is alpha-beta that keeps positions in place of values.
//! An experiment: nothing of the engine's own evaluation or search depends on it.

mod file;
pub mod measure;
pub mod network;
pub mod search;
pub mod training;
