//! A CSV file in blocks that begin and end where rows do, so that they can be parsed on their own.

use super::DatasetError;
use memchr::{memchr, memchr_iter, memchr2, memrchr};
use std::io::Read;

/// The most bytes that a row may have. What is longer is no CSV, or a quote that nobody closed.
const MOST_ROW: usize = 64 << 20;

/// Whole rows of a file.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) text: Vec<u8>,
    /// The line of the file that it begins with.
    pub(crate) line: u64,
}

/// Reads blocks one after another, with every line ended by LF or CRLF, whatever the file has, and without a byte order mark.
pub(crate) struct Blocks<R> {
    file: R,
    size: usize,
    /// What was read after the last whole row.
    begun: Vec<u8>,
    line: u64,
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
        Ok(Self { file, size, begun, line: 1, is_over: false })
    }

    /// The next block, `None` after the last and after an error.
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
            let (end, is_quote_open) = whole_rows(&text);
            if self.is_over && !is_quote_open {
                break;
            }
            if end > 0 {
                // Rows before a quote that is never closed are read before it is complained about.
                self.is_over = false;
                self.begun.reserve(self.size + text.len() - end);
                self.begun.extend_from_slice(&text[end..]);
                text.truncate(end);
                break;
            }
            if self.is_over {
                return Err(DatasetError::OpenQuote { row: self.line });
            }
            if text.len() > MOST_ROW {
                return Err(DatasetError::LongRow { row: self.line, most: MOST_ROW });
            }
        }
        let line = self.line;
        self.line += memchr_iter(b'\n', &text).count() as u64;
        Ok(Block { text, line })
    }
}

/// Makes a CR that is not part of a CRLF a LF, from `start` on. The last byte waits for what follows, if anything does;
/// gives where to go on.
fn end_lines(text: &mut [u8], mut start: usize, is_over: bool) -> usize {
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

/// Where the last whole row of a text ends, 0 if there is none, and whether a quote is open at the end of the text.
fn whole_rows(text: &[u8]) -> (usize, bool) {
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
        } else if position == 0 || matches!(text[position - 1], b',' | b'\n') {
            let Some(close) = closing_quote(text, position + 1) else { return (end, true) };
            position = close + 1;
        } else {
            // A quote that is not the first byte of a field is a character like others.
            position += 1;
        }
    }
    (end, false)
}

/// The quote that closes a field, whose text begins at `start`; two in a row stand for one in the text.
fn closing_quote(text: &[u8], mut start: usize) -> Option<usize> {
    loop {
        let close = start + memchr(b'"', &text[start..])?;
        if text.get(close + 1) != Some(&b'"') {
            return Some(close);
        }
        start = close + 2;
    }
}
