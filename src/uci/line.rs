//! Standard input as lines.
//!
//! What comes in may be anything: bytes that are no UTF-8, a line without end, nothing at all any
//! more. Reading must survive it, must not need memory without bound, and must not keep the engine
//! from answering while it searches. So a thread of its own reads bytes, caps the length of a line,
//! and passes on text: UTF-8, or what else comes as Latin-1, in which Cute Chess writes. A line over the cap is
//! dropped whole, since half a command may mean something else than the command.
//!
//! Whoever starts the program may have set the ends of its pipes, or the terminal, not to block. Then it is no end that
//! nothing comes just now, nor that nothing can be written: both are [tried again](patiently).

use std::io::{self, BufRead, ErrorKind, Write, stdin};
use std::thread;
use std::time::Duration;

use crossbeam::channel::{Receiver, bounded};

/// The longest line accepted, in bytes: room for a game of more than 200,000 moves.
pub const MAX_LENGTH: usize = 1 << 20;

/// What the reader found.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// A line, without its end.
    Line(String),
    /// A line longer than [`MAX_LENGTH`] was dropped; so long it was.
    TooLong(usize),
    /// There will be no more lines.
    End,
}

/// Starts the thread that reads standard input. `at_end` is called, on a thread of its own, when it has ended or a
/// line says `quit`.
///
/// The thread is never joined: nothing can wake it from a read, and the end of the program ends it.
pub fn spawn_reader(at_end: impl FnOnce() + Send + 'static) -> Receiver<Input> {
    let (sender, receiver) = bounded(64);
    let mut at_end = Some(at_end);
    thread::spawn(move || {
        let mut lines = Lines::new(stdin().lock());
        loop {
            let input = lines.read();
            let last = input == Input::End;
            if (last || is_quit(&input))
                && let Some(at_end) = at_end.take()
            {
                thread::spawn(at_end);
            }
            if sender.send(input).is_err() || last {
                return;
            }
        }
    });
    receiver
}

/// Tries until it succeeds or fails for good.
fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const PAUSE: Duration = Duration::from_millis(2);
    loop {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(PAUSE),
            done => return done,
        }
    }
}

/// Writes all of the bytes, whether the output blocks or not.
///
/// # Errors
/// When nobody can read them any more.
pub fn write_patiently(output: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match patiently(|| output.write(bytes))? {
            0 => return Err(ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    patiently(|| output.flush())
}

fn is_quit(input: &Input) -> bool {
    matches!(input, Input::Line(line) if line.trim().eq_ignore_ascii_case("quit"))
}

/// Cuts bytes into lines.
struct Lines<R> {
    source: R,
}

impl<R: BufRead> Lines<R> {
    fn new(source: R) -> Self {
        Lines { source }
    }

    fn read(&mut self) -> Input {
        let mut line = Vec::new();
        let mut length = 0;
        loop {
            // Asked for again, what is there comes without another read; an end may not come twice.
            let more = patiently(|| self.source.fill_buf().map(|chunk| !chunk.is_empty()));
            let chunk = if more.unwrap_or(false) { self.source.fill_buf().unwrap_or_default() } else { &[] };
            let at_end = chunk.is_empty();
            let newline = chunk.iter().position(|&byte| byte == b'\n');
            let part = &chunk[..newline.unwrap_or(chunk.len())];
            length += part.len();
            if length <= MAX_LENGTH {
                line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.source.consume(used);
            if newline.is_some() || at_end {
                return finish(line, length, at_end);
            }
        }
    }
}

/// A last line without a newline is a line like any other.
fn finish(line: Vec<u8>, length: usize, at_end: bool) -> Input {
    if length > MAX_LENGTH {
        Input::TooLong(length)
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
        let mut lines = Lines::new(bytes);
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
        let mut lines = Lines::new(io::BufReader::new(source));
        assert_eq!([lines.read(), lines.read(), lines.read()], [line("isready"), line("quit"), Input::End]);
        let mut output = Hesitant::default();
        write_patiently(&mut output, b"readyok\n").unwrap();
        assert_eq!(output.bytes, b"readyok\n");
        let full = write_patiently(&mut &mut [0; 4][..], b"readyok\n");
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
        assert_eq!(inputs(&bytes), [Input::TooLong(MAX_LENGTH + 4), line("isready"), Input::End]);
    }
}
