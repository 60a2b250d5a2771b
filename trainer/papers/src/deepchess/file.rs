//! Network files, also used as checkpoints: a JSON header line, all numbers, a checksum.

use std::path::Path;

use dyad_formats::error::Error;
use dyad_formats::files::{self, write_atomic};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::deepchess::network::{ANSWERS, Layer, Network, Sizes};

const FORMAT: &str = "dyad-network-1";
/// Maximum number of units of a layer.
const LARGEST: usize = 65_536;
/// Maximum number of layers.
const MOST_LAYERS: usize = 16;
/// Maximum file size in bytes.
const LARGEST_FILE: u64 = 64 << 20;

/// The header.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Header {
    format: String,
    sizes: Sizes,
    /// Additional data of the writer.
    note: Json,
}

impl Network {
    /// Identity of the network: eight hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> String {
        let mut crc = crc32fast::Hasher::new();
        crc.update(format!("{:?}", self.sizes()).as_bytes());
        self.layers().flat_map(Layer::numbers).for_each(|number| crc.update(&number.to_le_bytes()));
        format!("{:08x}", crc.finalize())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        self.save_with(path, Json::Null)
    }

    /// Writes the file with a note.
    pub(super) fn save_with(&self, path: &Path, note: Json) -> Result<(), Error> {
        let header = Header { format: FORMAT.to_string(), sizes: self.sizes(), note };
        let mut bytes = serde_json::to_vec(&header).expect("plain data");
        bytes.push(b'\n');
        bytes.extend(self.layers().flat_map(Layer::numbers).flat_map(f32::to_le_bytes));
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        write_atomic(path, &bytes).map_err(Error::file("write", path))
    }

    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read, is no network, or is damaged.
    pub fn load(path: &Path) -> Result<Network, Error> {
        Network::load_with(path).map(|(network, _)| network)
    }

    /// Reads the file with its note.
    pub(super) fn load_with(path: &Path) -> Result<(Network, Json), Error> {
        let bytes = files::read(path, LARGEST_FILE).map_err(Error::file("read", path))?;
        let wrong = |problem: &str| Error::content(path, "network", problem);
        let (data, sum) = bytes.split_last_chunk::<4>().ok_or_else(|| wrong("it has no checksum"))?;
        if crc32fast::hash(data).to_le_bytes() != *sum {
            return Err(wrong("its checksum is another one"));
        }
        let end = data.iter().position(|&byte| byte == b'\n').ok_or_else(|| wrong("there is no first line"))?;
        let header: Header = serde_json::from_slice(&data[..end]).map_err(|error| wrong(&error.to_string()))?;
        if header.format != FORMAT {
            return Err(wrong(&format!("its format is '{}', not '{FORMAT}'", header.format)));
        }
        let Sizes { encoder, comparator } = &header.sizes;
        let fits = |sizes: &[usize]| (1..=MOST_LAYERS).contains(&sizes.len());
        let all = || encoder.iter().chain(comparator);
        let ends = comparator.last() == Some(&ANSWERS);
        if !fits(encoder) || !fits(comparator) || !ends || all().any(|&size| !(1..=LARGEST).contains(&size)) {
            return Err(wrong("there is no network of such layers"));
        }
        let (length, expected) = (data.len() - end - 1, 4 * header.sizes.parameters());
        if length != expected {
            return Err(wrong(&format!("{length} bytes of numbers follow the first line, expected {expected}")));
        }
        let mut network = Network::zeros(&header.sizes);
        let numbers = network.layers_mut().flat_map(Layer::numbers_mut);
        for (number, bytes) in numbers.zip(data[end + 1..].chunks_exact(4)) {
            *number = f32::from_le_bytes(bytes.try_into().expect("four bytes"));
            if !number.is_finite() {
                return Err(wrong("some of its numbers are none"));
            }
        }
        Ok((network, header.note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::Temporary;
    use std::fs;

    #[test]
    fn networks_are_read_back_and_damage_is_detected() {
        let folder = Temporary::folder();
        let path = folder.join("net.bin");
        let network = Network::random(&Sizes { encoder: vec![4, 3], comparator: vec![3, 2] }, 5);
        network.save(&path).unwrap();
        let read = Network::load(&path).unwrap();
        assert_eq!(read, network);
        assert_eq!(read.id(), network.id());
        let good = fs::read(&path).unwrap();
        for at in [0, 20, good.len() / 2, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, bad).unwrap();
            let error = Network::load(&path).unwrap_err().to_string();
            assert!(error.contains("net.bin"), "{error}");
        }
        for length in [0, 10, good.len() - 1] {
            fs::write(&path, &good[..length]).unwrap();
            assert!(Network::load(&path).is_err());
        }
    }
}
