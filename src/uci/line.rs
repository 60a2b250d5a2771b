//! Standard input as lines.
//!
//! The input may be anything: invalid UTF-8, an endless line, a closed pipe. Reading must not fail, use unbounded
//! memory, or block the engine. So a separate thread reads bytes, limits the length of a line, and passes on text:
//! UTF-8, or else Latin-1, in which Cute Chess writes. A line over the limit is dropped as a whole, since half a
//! command may be another command.
//!
//! Standard input and output may be non-blocking. A read or write that would block is [retried](retry).

use std::io::{self, BufRead, ErrorKind, Write, stdin};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, bounded};

use super::watch::Pipes;

/// The longest line accepted, in bytes: room for a game of more than 200,000 moves.
pub const MAX_LENGTH: usize = 1 << 20;

/// Lines that are read before they are handled.
const MAX_UNREAD: usize = 1_000;

/// Input of the event loop.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// A line, without its newline.
    Line(String),
    /// A line longer than [`MAX_LENGTH`] was dropped.
    TooLong {
        /// Its first word.
        word: String,
        /// Its length.
        length: usize,
    },
    /// The end of input.
    End,
}

/// Interval between two attempts to continue reading or writing.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// Starts the thread that reads standard input, and sends its lines.
///
/// The thread is never joined, since a blocked read cannot be interrupted; it ends with the program.
///
/// # Errors
/// When the system has no thread.
pub fn spawn_reader(pipes: Arc<Pipes>) -> io::Result<Receiver<Input>> {
    let (sender, receiver) = bounded(MAX_UNREAD);
    let body = move || {
        let mut lines = Lines { source: stdin().lock() };
        loop {
            let input = lines.read();
            let last = input == Input::End;
            if last || is_quit(&input) {
                pipes.note_end();
            }
            if sender.send(input).is_err() || last {
                return;
            }
        }
    };
    thread::Builder::new().name("reader".to_string()).spawn(body)?;
    Ok(receiver)
}

/// Whether the input ends within this time, without another command.
pub fn ends_within(lines: &Receiver<Input>, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    loop {
        match lines.recv_deadline(deadline) {
            Ok(Input::Line(text)) if text.trim().is_empty() => {}
            received => return received == Ok(Input::End),
        }
    }
}

/// Repeats an operation that is interrupted or would block.
fn retry<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(RETRY_INTERVAL),
            done => return done,
        }
    }
}

/// Writes all bytes to a blocking or non-blocking output.
///
/// # Errors
/// When the output is closed or cannot be written.
pub fn write_all(output: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match retry(|| output.write(bytes))? {
            0 => return Err(ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    retry(|| output.flush())
}

fn is_quit(input: &Input) -> bool {
    matches!(input, Input::Line(line) if line.trim().eq_ignore_ascii_case("quit"))
}

/// Splits bytes into lines.
struct Lines<R> {
    source: R,
}

impl<R: BufRead> Lines<R> {
    fn read(&mut self) -> Input {
        let mut line = Vec::new();
        let mut length = 0;
        loop {
            // The second call returns the buffer without a read; a terminal may report its end only once.
            let more = retry(|| self.source.fill_buf().map(|chunk| !chunk.is_empty()));
            let chunk = if more.unwrap_or(false) { self.source.fill_buf().unwrap_or_default() } else { &[] };
            let at_end = chunk.is_empty();
            let newline = chunk.iter().position(|&byte| byte == b'\n');
            let part = &chunk[..newline.unwrap_or(chunk.len())];
            length += part.len();
            // Of a line that is too long the first word is needed.
            let kept = if length <= MAX_LENGTH { part.len() } else { LONGEST_WORD.saturating_sub(line.len()) };
            line.extend_from_slice(&part[..kept.min(part.len())]);
            let used = part.len() + usize::from(newline.is_some());
            self.source.consume(used);
            if newline.is_some() || at_end {
                return finish(line, length, at_end);
            }
        }
    }
}

/// Bytes at the beginning of a dropped line in which the first word is found.
const LONGEST_WORD: usize = 32;

/// The input of a complete line; the last line may lack a newline.
fn finish(line: Vec<u8>, length: usize, at_end: bool) -> Input {
    if length > MAX_LENGTH {
        let word = line[..line.len().min(LONGEST_WORD)]
            .trim_ascii_start()
            .split(u8::is_ascii_whitespace)
            .next()
            .unwrap_or_default();
        Input::TooLong { word: String::from_utf8_lossy(word).into_owned(), length }
    } else if at_end && line.is_empty() {
        Input::End
    } else {
        let latin1 = |bytes: Vec<u8>| bytes.into_iter().map(char::from).collect();
        Input::Line(String::from_utf8(line).unwrap_or_else(|invalid| latin1(invalid.into_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(bytes: &[u8]) -> Vec<Input> {
        let mut lines = Lines { source: bytes };
        let mut found = vec![lines.read()];
        while *found.last().expect("one was put in") != Input::End {
            found.push(lines.read());
        }
        found
    }

    fn line(text: &str) -> Input {
        Input::Line(text.to_string())
    }

    /// An end of a pipe that does not block, and has something to read or room to write two bytes every third time.
    #[derive(Default)]
    struct Hesitant {
        bytes: Vec<u8>,
        done: usize,
        asked: usize,
    }

    impl Hesitant {
        fn hesitate(&mut self) -> io::Result<()> {
            self.asked += 1;
            match self.asked % 3 {
                0 => Ok(()),
                1 => Err(ErrorKind::WouldBlock.into()),
                _ => Err(ErrorKind::Interrupted.into()),
            }
        }
    }

    impl io::Read for Hesitant {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.hesitate()?;
            let read = (&self.bytes[self.done..]).read(&mut into[..2])?;
            self.done += read;
            Ok(read)
        }
    }

    impl Write for Hesitant {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.hesitate()?;
            self.bytes.extend(&bytes[..bytes.len().min(2)]);
            Ok(bytes.len().min(2))
        }

        fn flush(&mut self) -> io::Result<()> {
            self.hesitate()
        }
    }

    #[test]
    fn what_does_not_block_is_tried_again() {
        let source = Hesitant { bytes: b"isready\nquit".to_vec(), ..Hesitant::default() };
        let mut lines = Lines { source: io::BufReader::new(source) };
        assert_eq!([lines.read(), lines.read(), lines.read()], [line("isready"), line("quit"), Input::End]);
        let mut output = Hesitant::default();
        write_all(&mut output, b"readyok\n").unwrap();
        assert_eq!(output.bytes, b"readyok\n");
        let full = write_all(&mut &mut [0; 4][..], b"readyok\n");
        assert_eq!(full.map_err(|error| error.kind()), Err(ErrorKind::WriteZero));
    }

    #[test]
    fn lines_end_at_newlines_and_at_the_end() {
        assert_eq!(inputs(b""), [Input::End]);
        assert_eq!(inputs(b"uci\n\nd"), [line("uci"), line(""), line("d"), Input::End]);
        assert_eq!(inputs(b"uci\r\n"), [line("uci\r"), Input::End]);
    }

    #[test]
    fn invalid_utf8_is_latin1() {
        assert_eq!(inputs(b"d \xff\xfe\n"), [line("d \u{ff}\u{fe}"), Input::End]);
        assert_eq!(inputs(b"Jos\xe9\nJos\xc3\xa9\n"), [line("José"), line("José"), Input::End]);
    }

    #[test]
    fn a_line_over_the_cap_is_dropped_whole() {
        let mut bytes = vec![b'x'; MAX_LENGTH];
        assert_eq!(inputs(&bytes)[0], line(&"x".repeat(MAX_LENGTH)));
        bytes.extend_from_slice(b"quit\nisready\n");
        let long = |word: &str, length| Input::TooLong { word: word.to_string(), length };
        assert_eq!(inputs(&bytes), [long(&"x".repeat(LONGEST_WORD), MAX_LENGTH + 4), line("isready"), Input::End]);
        let moves = format!(" position startpos moves {}\n", "e2e4 ".repeat(MAX_LENGTH / 5));
        assert_eq!(inputs(moves.as_bytes()), [long("position", moves.len() - 1), Input::End]);
    }
}
