//! Network files: JSON.

use std::path::Path;

use dyad_formats::error::Error;
use dyad_formats::files::{read_json, write_atomic};
use serde::Serialize;

use crate::deepchess::network::{ANSWERS, Layer, Network};

impl Network {
    /// Identity of the network: eight hexadecimal digits.
    pub fn id(&self) -> String {
        let mut crc = crc32fast::Hasher::new();
        crc.update(format!("{:?}", self.sizes()).as_bytes());
        self.layers().flat_map(Layer::numbers).for_each(|number| crc.update(&number.to_le_bytes()));
        format!("{:08x}", crc.finalize())
    }

    /// Writes the file.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        write(path, self)
    }

    /// Reads the file.
    pub fn load(path: &Path) -> Result<Network, Error> {
        let network: Network = read_json(path)?;
        let shapes = network.sizes().shapes().concat();
        let fits = network.layers().zip(shapes).all(|(layer, shape)| layer.weights.dim() == shape)
            && !network.encoder.is_empty()
            && network.comparator.last().is_some_and(|layer| layer.bias.len() == ANSWERS);
        if fits { Ok(network) } else { Err(Error::content(path, "network", "its layers do not fit together")) }
    }
}

pub(super) fn write(path: &Path, content: &impl Serialize) -> Result<(), Error> {
    write_atomic(path, &serde_json::to_vec(content).expect("plain data")).map_err(Error::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deepchess::network::Sizes;
    use dyad_formats::testing::Temporary;
    use std::fs;

    #[test]
    fn networks_are_read_back_or_refused() {
        let folder = Temporary::folder();
        let path = folder.join("net.json");
        let network = Network::random(&Sizes { encoder: vec![4, 3], comparator: vec![3, 2] }, 5);
        network.save(&path).unwrap();
        let read = Network::load(&path).unwrap();
        assert_eq!((&read, read.id()), (&network, network.id()));
        let good = fs::read(&path).unwrap();
        for length in [0, 10, good.len() - 1] {
            fs::write(&path, &good[..length]).unwrap();
            assert!(Network::load(&path).unwrap_err().to_string().contains("net.json"));
        }
        for change in [
            |network: &mut Network| drop(network.encoder.pop()),
            |network: &mut Network| network.encoder.clear(),
            |network: &mut Network| drop(network.comparator.pop()),
            |network: &mut Network| network.comparator.swap(0, 1),
            |network: &mut Network| network.comparator[0].bias[0] = f32::NAN,
        ] {
            let mut bad = network.clone();
            change(&mut bad);
            bad.save(&path).unwrap();
            assert!(Network::load(&path).is_err(), "{bad:?}");
        }
    }
}
