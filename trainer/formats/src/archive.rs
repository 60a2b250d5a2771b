//! Archives of texts, read as one text.
//!
//! OpenBench publishes the games of a workload as a tar of `.pgn.bz2` files. Its members are read one after another as
//! if they were one file, each decompressed by its own format, so that nothing is extracted to disk. Headers are parsed
//! by the `tar` crate; its own reader borrows the members and cannot return them as a stream.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a header; the length of each member is rounded up to a multiple.
pub(super) const BLOCK: usize = 512;

/// Whether a file with these first bytes is a tar archive.
pub(super) fn is_archive(start: &[u8]) -> bool {
    start.get(257..262) == Some(b"ustar")
}

/// Decompresses a member.
pub(super) type Unpack = fn(Box<dyn BufRead + Send>) -> io::Result<Box<dyn BufRead + Send>>;

/// The source of all members.
struct Source {
    input: Box<dyn BufRead + Send>,
    name: String,
    /// Unread bytes of the current member, and the padding of its last block.
    left: u64,
    padding: u64,
}

impl Source {
    /// Advances to the next member that is a file. False at the end.
    fn next(&mut self) -> io::Result<bool> {
        loop {
            self.skip(self.left + self.padding)?;
            (self.left, self.padding) = (0, 0);
            let mut block = [0; BLOCK];
            // Some writers leave out the two empty blocks at the end.
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            self.input.read_exact(&mut block).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => damaged("it ends within a header"),
                _ => error,
            })?;
            if block == [0; BLOCK] {
                return Ok(false);
            }
            let header = tar::Header::from_byte_slice(&block);
            let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
            let own: u32 = block[148..156].iter().map(|&byte| u32::from(byte)).sum();
            if header.cksum().ok() != Some(sum - own + 8 * u32::from(b' ')) {
                return Err(damaged("a header has another sum than it says"));
            }
            self.left = header.entry_size().map_err(|_| damaged("a header has no valid size"))?;
            self.padding = self.left.next_multiple_of(BLOCK as u64) - self.left;
            self.name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
            if header.entry_type().is_file() {
                return Ok(true);
            }
        }
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.input).take(bytes), &mut io::sink())?;
        if skipped < bytes { Err(damaged(&format!("it ends within {}", self.name))) } else { Ok(()) }
    }
}

fn damaged(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a damaged archive: {problem}"))
}

type Shared = Arc<Mutex<Source>>;

fn lock(source: &Shared) -> MutexGuard<'_, Source> {
    source.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The raw bytes of the current member.
struct Member(Shared);

impl Read for Member {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut source = lock(&self.0);
        let wanted = source.left.min(bytes.len() as u64) as usize;
        let read = source.input.read(&mut bytes[..wanted])?;
        if read == 0 && wanted > 0 {
            return Err(damaged(&format!("it ends within {}", source.name)));
        }
        source.left -= read as u64;
        Ok(read)
    }
}

/// The texts of an archive, one after another, each followed by a line break.
pub(super) struct Texts {
    source: Shared,
    unpack: Unpack,
    text: Option<Box<dyn BufRead + Send>>,
    /// Unread bytes of the line break.
    rest: &'static [u8],
}

impl Texts {
    pub(super) fn new(input: Box<dyn BufRead + Send>, unpack: Unpack) -> Texts {
        let source = Source { input, name: String::new(), left: 0, padding: 0 };
        Texts { source: Arc::new(Mutex::new(source)), unpack, text: None, rest: b"" }
    }

    fn named(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", lock(&self.source).name))
    }

    /// Advances to the next unread byte. False at the end.
    fn advance(&mut self) -> io::Result<bool> {
        while self.rest.is_empty() {
            if let Some(text) = &mut self.text {
                match text.fill_buf().map(<[u8]>::is_empty) {
                    Ok(false) => return Ok(true),
                    Ok(true) => (self.text, self.rest) = (None, b"\n"),
                    Err(error) => return Err(self.named(&error)),
                }
            } else if lock(&self.source).next()? {
                let member = Box::new(BufReader::new(Member(Arc::clone(&self.source))));
                self.text = Some((self.unpack)(member).map_err(|error| self.named(&error))?);
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl BufRead for Texts {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.advance()? {
            return Ok(b"");
        }
        match &mut self.text {
            Some(text) => text.fill_buf(),
            None => Ok(self.rest),
        }
    }

    fn consume(&mut self, bytes: usize) {
        match &mut self.text {
            Some(text) => text.consume(bytes),
            None => self.rest = &self.rest[bytes..],
        }
    }
}

impl Read for Texts {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(bytes)?;
        self.consume(read);
        Ok(read)
    }
}
