//! The file of partial results of a labeling.
//!
//! A million labels take a day, so a kill must not cost more than a chunk. Each chunk has its count and CRC-32; an
//! incomplete one is truncated when the file is reopened. The header has a hash of positions and settings: others do
//! not resume it.

use std::fs;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use dyad_formats::error::Error;
use dyad_formats::files::OwnFolder;

use crate::base::lock::{LockedFile, open_alone};

const MAGIC: [u8; 8] = *b"DyadLbl\0";
pub(super) const HEADER_BYTES: usize = 20;
pub(super) const RECORD_BYTES: usize = 8;
/// Bytes of a label.
pub(super) const LABEL_BYTES: usize = 4;
/// Maximum number of labels in a chunk.
pub(super) const CHUNK: usize = 256;

/// Path of the partial results.
#[must_use]
pub fn journal_name(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_os_string();
    name.push(".labels");
    out.with_file_name(name)
}

/// Labels found so far: a header, then chunks of count, CRC-32 and labels.
pub(super) struct Journal {
    path: PathBuf,
    file: LockedFile,
    /// Labels in the file.
    pub done: usize,
}

impl Journal {
    /// Opens or creates the partial results of the positions and settings with the hash `key`. An incomplete chunk is
    /// truncated.
    pub fn open(path: &Path, key: u64, positions: usize) -> Result<Journal, Error> {
        // The user did not name this file.
        let folder = path.parent().unwrap_or(Path::new(""));
        let opened = OwnFolder::new(folder).and_then(|_own| open_alone(path));
        let mut file = opened.map_err(Error::file("open", path))?;
        let length = file.metadata().map_err(Error::file("read", path))?.len();
        let header = header(key);
        let mut whole = HEADER_BYTES as u64;
        let mut done = 0;
        let other = || {
            let problem = "these labels are of other positions or settings; remove the file to start again";
            Error::content(path, "header", problem)
        };
        if length < whole {
            // Empty, or an incomplete header after a kill. Foreign files stay.
            let mut begun = Vec::new();
            file.read_to_end(&mut begun).map_err(Error::file("read", path))?;
            if !header.starts_with(&begun) {
                return Err(other());
            }
            file.rewind().map_err(Error::file("write", path))?;
            file.set_len(0).and_then(|()| file.write_all(&header)).map_err(Error::file("write", path))?;
        } else {
            let mut input = BufReader::new(&*file);
            let mut found = [0; HEADER_BYTES];
            input.read_exact(&mut found).map_err(Error::file("read", path))?;
            if found != header {
                return Err(other());
            }
            while let Some(labels) = read_chunk(&mut input).map_err(Error::file("read", path))? {
                done += labels.len();
                whole += (RECORD_BYTES + labels.len() * LABEL_BYTES) as u64;
            }
        }
        if done > positions {
            return Err(Error::content(path, "end", format!("{done} labels for {positions} positions")));
        }
        let end = file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0)));
        end.map_err(Error::file("write", path))?;
        Ok(Journal { path: path.to_path_buf(), file, done })
    }

    pub fn append(&mut self, labels: &[[u8; LABEL_BYTES]]) -> Result<(), Error> {
        let body = labels.concat();
        let mut record = Vec::with_capacity(RECORD_BYTES + body.len());
        record.extend((labels.len() as u32).to_le_bytes());
        record.extend(crc32fast::hash(&body).to_le_bytes());
        record.extend(body);
        let written = self.file.write_all(&record).and_then(|()| self.file.sync_data());
        written.map_err(Error::file("write", &self.path))?;
        self.done += labels.len();
        Ok(())
    }

    /// All labels.
    pub fn labels(&mut self) -> Result<Vec<[u8; LABEL_BYTES]>, Error> {
        let path = self.path.clone();
        let mut read = || -> io::Result<_> {
            self.file.seek(SeekFrom::Start(HEADER_BYTES as u64))?;
            let mut input = BufReader::new(&*self.file);
            let mut all = Vec::with_capacity(self.done);
            while let Some(labels) = read_chunk(&mut input)? {
                all.extend(labels);
            }
            Ok(all)
        };
        read().map_err(Error::file("read", &path))
    }

    pub fn remove(self) -> Result<(), Error> {
        drop(self.file);
        fs::remove_file(&self.path).map_err(Error::file("remove", &self.path))
    }
}

fn header(key: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&key.to_le_bytes());
    let sum = crc32fast::hash(&header[..16]);
    header[16..].copy_from_slice(&sum.to_le_bytes());
    header
}

/// The next complete chunk.
fn read_chunk(input: &mut impl Read) -> io::Result<Option<Vec<[u8; LABEL_BYTES]>>> {
    let mut record = [0; RECORD_BYTES];
    if !read_whole(input, &mut record)? {
        return Ok(None);
    }
    let [a, b, c, d, sum @ ..] = record;
    let count = u32::from_le_bytes([a, b, c, d]) as usize;
    let mut body = vec![0; count.min(CHUNK) * LABEL_BYTES];
    if count > CHUNK || !read_whole(input, &mut body)? || crc32fast::hash(&body) != u32::from_le_bytes(sum) {
        return Ok(None);
    }
    Ok(Some(body.chunks_exact(LABEL_BYTES).map(|label| [label[0], label[1], label[2], label[3]]).collect()))
}

/// Fills a buffer; false if the file ends before.
fn read_whole(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
