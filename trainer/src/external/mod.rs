//! UCI engines in other processes: the [`client`] searches positions for labels, the [`player`] plays matches.

pub mod client;
pub mod player;
#[cfg(test)]
pub(crate) mod testing;
