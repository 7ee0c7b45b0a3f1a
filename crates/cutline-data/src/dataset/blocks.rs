//! A CSV file in blocks of whole rows, which can be parsed independently.

use super::DatasetError;
use memchr::{memchr, memchr_iter, memchr2, memrchr};
use std::io::Read;

/// The longest row allowed, in bytes. A longer one means that the file is not CSV, or that a quote was never closed.
const MAX_ROW: usize = 64 << 20;

/// Whole rows of a file.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) text: Vec<u8>,
    /// The line of the file that it begins on.
    pub(crate) line: u64,
}

/// Reads blocks one after another. Lone CRs become LFs, and a byte order mark is dropped.
pub(crate) struct Blocks<R> {
    file: R,
    size: usize,
    /// The text read after the last whole row.
    begun: Vec<u8>,
    line: u64,
    separator: u8,
    is_over: bool,
}

impl<R: Read> Blocks<R> {
    /// Blocks of about `size` bytes.
    pub(crate) fn new(mut file: R, size: usize) -> Result<Self, DatasetError> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        let mut begun = Vec::with_capacity(size);
        file.by_ref().take(MARK.len() as u64).read_to_end(&mut begun)?;
        if begun == MARK {
            begun.clear();
        }
        Ok(Self { file, size, begun, line: 1, separator: b',', is_over: false })
    }

    /// The same blocks with another separator than a comma, which matters for quotes.
    pub(crate) fn separated_by(self, separator: u8) -> Self {
        Self { separator, ..self }
    }

    /// The next block; `None` after the last one and after an error.
    pub(crate) fn next(&mut self) -> Option<Result<Block, DatasetError>> {
        if self.is_over {
            return None;
        }
        let block = self.read();
        self.is_over |= block.is_err();
        Some(block)
    }

    fn read(&mut self) -> Result<Block, DatasetError> {
        let mut text = std::mem::take(&mut self.begun);
        let mut looked_at = 0;
        loop {
            let more = self.size.max(text.len());
            text.reserve(more);
            self.is_over = self.file.by_ref().take(more as u64).read_to_end(&mut text)? < more;
            looked_at = end_lines(&mut text, looked_at, self.is_over);
            let (end, is_quote_open) = whole_rows(&text, self.separator);
            if self.is_over && !is_quote_open {
                break;
            }
            if end > 0 {
                // Rows before a quote that is never closed are parsed first, so that their errors are reported first.
                self.is_over = false;
                self.begun.reserve(self.size + text.len() - end);
                self.begun.extend_from_slice(&text[end..]);
                text.truncate(end);
                break;
            }
            if self.is_over {
                return Err(DatasetError::OpenQuote { row: self.line });
            }
            if text.len() > MAX_ROW {
                return Err(DatasetError::LongRow { row: self.line, most: MAX_ROW });
            }
        }
        let line = self.line;
        self.line += memchr_iter(b'\n', &text).count() as u64;
        Ok(Block { text, line })
    }
}

/// Turns each CR that is not part of a CRLF into a LF, from `start` on. A CR at the very end is left until more text is read;
/// returns where to continue.
pub(super) fn end_lines(text: &mut [u8], mut start: usize, is_over: bool) -> usize {
    while let Some(found) = memchr(b'\r', &text[start..]) {
        let position = start + found;
        match text.get(position + 1) {
            Some(b'\n') => (),
            None if !is_over => return position,
            _ => text[position] = b'\n',
        }
        start = position + 1;
    }
    text.len()
}

/// The end of the last whole row of a text (0 if there is none), and whether a quote is open at the end of the text.
fn whole_rows(text: &[u8], separator: u8) -> (usize, bool) {
    let Some(first_quote) = memchr(b'"', text) else {
        return (memrchr(b'\n', text).map_or(0, |last| last + 1), false);
    };
    let mut end = memrchr(b'\n', &text[..first_quote]).map_or(0, |last| last + 1);
    let mut position = first_quote;
    while let Some(found) = memchr2(b'"', b'\n', &text[position..]) {
        position += found;
        if text[position] == b'\n' {
            position += 1;
            end = position;
        } else if position == 0 || text[position - 1] == separator || text[position - 1] == b'\n' {
            let Some(close) = closing_quote(text, position + 1) else { return (end, true) };
            position = close + 1;
        } else {
            // A quote that is not the first byte of a field is an ordinary character.
            position += 1;
        }
    }
    (end, false)
}

/// The position of the quote that closes a field whose text begins at `start`. Two quotes in a row stand for one in the text.
fn closing_quote(text: &[u8], mut start: usize) -> Option<usize> {
    loop {
        let close = start + memchr(b'"', &text[start..])?;
        if text.get(close + 1) != Some(&b'"') {
            return Some(close);
        }
        start = close + 2;
    }
}
