//! The last part of the output of a process, however long it is.

use super::helper_thread::HelperThread;
use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The last bytes of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    most: usize,
    /// Whether earlier bytes were dropped.
    is_cut: bool,
}

impl Tail {
    /// An empty tail that keeps the last `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most, is_cut: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Up to twice as much is collected before it is cut, so that each byte is moved once at most.
        if self.bytes.len() > 2 * self.most {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.most);
        self.is_cut |= surplus > 0;
        self.bytes.drain(..surplus);
    }

    /// The last line that is not blank; `Err` with the kept part if it is longer than that.
    pub(super) fn last_line(&mut self) -> Result<Option<String>, String> {
        self.cut();
        let lines = self.bytes.split(|&byte| byte == b'\n').enumerate();
        let text = |line: &[u8]| String::from_utf8_lossy(line).trim().to_owned();
        let last = lines.map(|(number, line)| (number, text(line))).filter(|(_, line)| !line.is_empty()).last();
        match last {
            Some((0, line)) if self.is_cut => Err(line),
            last => Ok(last.map(|(_, line)| line)),
        }
    }

    /// The kept bytes as one line; control characters and invalid UTF-8 become blanks.
    pub(super) fn in_one_line(&mut self) -> String {
        self.cut();
        let text = String::from_utf8_lossy(&self.bytes);
        let words = text.split(|c: char| c.is_whitespace() || c.is_control() || c == char::REPLACEMENT_CHARACTER);
        let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if self.is_cut { format!("… {line}") } else { line }
    }
}

/// A stream that a thread reads to its end.
pub(super) struct TailReader {
    tail: Arc<Mutex<Tail>>,
    /// Closes at the end of the stream; no message is ever sent.
    end: Receiver<()>,
}

/// Reads a stream to its end in a thread, so that its writer never blocks, and keeps the last `most` bytes.
pub(super) fn read_tail(thread: HelperThread, mut stream: impl Read + Send + 'static, most: usize) -> TailReader {
    let tail = Arc::new(Mutex::new(Tail::new(most)));
    let (open, end) = channel();
    let shared = Arc::clone(&tail);
    thread.run(move || {
        let _open = open;
        let mut chunk = vec![0; 1 << 16];
        loop {
            match stream.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => shared.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..n]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => (),
                Err(_) => break,
            }
        }
    });
    TailReader { tail, end }
}

impl TailReader {
    /// Waits for the end of the stream; whether it has ended.
    pub(super) fn ends_within(&self, patience: Duration) -> bool {
        self.end.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected)
    }

    /// Calls a function with what was read so far.
    pub(super) fn inspect<T>(&self, inspect: impl FnOnce(&mut Tail) -> T) -> T {
        inspect(&mut self.tail.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(most: usize, pieces: &[&[u8]]) -> Tail {
        let mut tail = Tail::new(most);
        for piece in pieces {
            tail.push(piece);
        }
        tail
    }

    #[test]
    fn the_last_line_is_found() {
        let last = |text: &str| tail(100, &[text.as_bytes()]).last_line();
        assert_eq!(last(""), Ok(None));
        assert_eq!(last(" \n\r\n"), Ok(None));
        assert_eq!(last("0.5"), Ok(Some("0.5".into())));
        assert_eq!(last("first\n 0.5 \r\n\n \n"), Ok(Some("0.5".into())));
        assert_eq!(tail(100, &[b"a\n0.", b"25\n"]).last_line(), Ok(Some("0.25".into())));
    }

    #[test]
    fn a_cut_line_is_an_error() {
        assert_eq!(tail(4, &[b"123456"]).last_line(), Err("3456".into()));
        assert_eq!(tail(4, &[b"123456", b"\n7\n"]).last_line(), Ok(Some("7".into())));
        assert_eq!(tail(4, &[b"1234"]).last_line(), Ok(Some("1234".into())));
    }

    #[test]
    fn memory_is_bounded() {
        let mut kept = Tail::new(1000);
        for number in 0..100_000 {
            kept.push(format!("line {number}\n").as_bytes());
            assert!(kept.bytes.capacity() <= 8000);
        }
        assert_eq!(kept.last_line(), Ok(Some("line 99999".into())));
        kept.push(&vec![b'x'; 50_000]);
        assert_eq!(kept.in_one_line(), format!("… {}", "x".repeat(1000)));
    }

    #[test]
    fn control_characters_become_blanks() {
        let text = b"Traceback:\n\tfile \"a\", \x1b[31mline 3\x00\r\n\xff\xfe caf\xc3\xa9\n";
        assert_eq!(tail(100, &[text]).in_one_line(), "Traceback: file \"a\", [31mline 3 café");
    }

    #[test]
    fn a_stream_is_read_to_its_end() {
        let reader = read_tail(HelperThread::start().unwrap(), std::io::Cursor::new(b"x\n".repeat(100_000)), 8);
        assert!(reader.ends_within(Duration::from_mins(10)));
        assert_eq!(reader.inspect(Tail::last_line), Ok(Some("x".into())));
        let (_writer, stream) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(
            !read_tail(HelperThread::start().unwrap(), stream, 8).ends_within(Duration::from_millis(20)),
            "it is still open"
        );
    }
}
