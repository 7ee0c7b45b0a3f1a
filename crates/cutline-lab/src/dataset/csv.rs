//! Candidates from CSV, on all threads: one reads ahead while the others parse.

use super::blocks::{Block, Blocks};
use super::candidates::Places;
use super::fields::{self, Rows};
use super::layout::{Layout, Role};
use super::{Candidates, DatasetError};
use memchr::memchr2;
use rayon::prelude::*;
use std::borrow::Cow;
use std::io::Read;

/// How many bytes are parsed at once, unless a test says otherwise.
pub(super) const BLOCK: usize = 1 << 20;

/// Candidates from CSV, in blocks of about `size` bytes.
pub(super) fn read(csv: impl Read + Send, asked: Option<&[String]>, size: usize) -> Result<Candidates, DatasetError> {
    let mut blocks = Blocks::new(csv, size)?;
    let (layout, first) = header(&mut blocks, asked)?;
    let mut candidates = Candidates::default();
    let mut batch = vec![Ok(first)];
    let n_blocks = 2 * rayon::current_num_threads();
    while !batch.is_empty() {
        let parse = || batch.into_par_iter().map(|block| part(&block?, &layout)).collect::<Vec<_>>();
        let read_ahead = || (0..n_blocks).map_while(|_| blocks.next()).collect();
        let (parts, next) = rayon::join(parse, read_ahead);
        for part in parts {
            let part = part?;
            candidates.names.extend(part.names);
            candidates.features.extend_from_slice(&part.features);
            candidates.places.append(&part.places);
        }
        batch = next;
    }
    if candidates.n_arms() == 0 {
        return Err(DatasetError::Empty);
    }
    Ok(Candidates { columns: layout.features, ..candidates })
}

/// Reads the header, and gives back what follows in its block.
fn header<R: Read>(blocks: &mut Blocks<R>, asked: Option<&[String]>) -> Result<(Layout, Block), DatasetError> {
    while let Some(block) = blocks.next() {
        let block = block?;
        let mut rows = Rows::new(&block.text, block.line);
        let mut header = Vec::new();
        let Some(row) = rows.next(&mut header) else { continue };
        let header = fields::header(&header, row)?;
        if header.iter().all(|field| field.parse::<f64>().is_ok()) {
            return Err(DatasetError::NoHeader);
        }
        if header.len() == 1 && header[0].contains([';', '\t', '|']) {
            return Err(DatasetError::Separator(super::error::shown(&header[0])));
        }
        let (rest, line) = rows.rest();
        return Ok((Layout::new(header, asked)?, Block { text: rest.to_vec(), line }));
    }
    Err(DatasetError::Empty)
}

/// What a block holds.
#[derive(Default)]
struct Part {
    names: Vec<String>,
    features: Vec<f64>,
    places: Places,
}

/// Parses a block. Rows that are no plain numbers and names go the long way, which alone knows what an error is.
fn part(block: &Block, layout: &Layout) -> Result<Part, DatasetError> {
    let mut part = Part::default();
    let (mut text, mut line) = (&block.text[..], block.line);
    let mut row = vec![0.0; layout.features.len()];
    let mut fields = Vec::new();
    while !text.is_empty() {
        if let Some((name, end)) = plain_row(text, layout, &mut row) {
            part.names.extend(name.map(str::to_owned));
            part.places.push(line);
            (text, line) = (&text[end..], line + 1);
        } else {
            let mut rows = Rows::new(text, line);
            let Some(row_line) = rows.next(&mut fields) else { break };
            part.names.extend(any_row(&fields, row_line, layout, &mut row)?);
            part.places.push(row_line);
            (text, line) = rows.rest();
        }
        part.features.extend_from_slice(&row);
    }
    Ok(part)
}

/// Any row, by its fields: the name, and the features into `row`.
fn any_row(
    fields: &[Cow<'_, [u8]>],
    line: u64,
    layout: &Layout,
    row: &mut [f64],
) -> Result<Option<String>, DatasetError> {
    let (expected, found) = (layout.header.len(), fields.len());
    if expected != found {
        return Err(DatasetError::Ragged { row: line, expected, found });
    }
    let mut name = None;
    for ((field, column), role) in fields.iter().zip(&layout.header).zip(&layout.roles) {
        match *role {
            Role::Name => name = Some(fields::text(field, line, column)?.to_owned()),
            Role::Feature(feature) => row[feature] = fields::number(fields::text(field, line, column)?, line, column)?,
            Role::None => (),
        }
    }
    Ok(name)
}

/// The first row of a text, if there is nothing special about it: its name, and where the next row begins. The features go
/// into `row`. It reads a number up to where it ends instead of looking for the comma first.
fn plain_row<'a>(text: &'a [u8], layout: &Layout, row: &mut [f64]) -> Option<(Option<&'a str>, usize)> {
    if matches!(text, [b'\n' | b'\r', ..]) {
        return None;
    }
    let mut name = None;
    let mut position = 0;
    let last = layout.roles.len() - 1;
    for (column, role) in layout.roles.iter().enumerate() {
        if let Role::Feature(feature) = *role {
            position += spaces(&text[position..]);
            let (value, length) = fast_float2::parse_partial::<f64, _>(&text[position..]).ok()?;
            if !value.is_finite() {
                return None;
            }
            row[feature] = value;
            position += length;
            position += spaces(&text[position..]);
        } else {
            let field = &text[position..];
            let length = memchr2(b',', b'\n', field)?;
            if field[0] == b'"' {
                return None;
            }
            if *role == Role::Name {
                name = Some(std::str::from_utf8(&field[..length]).ok()?.trim());
            }
            position += length;
        }
        let is_end = match text.get(position..)? {
            [b',', ..] => false,
            [b'\n', ..] => true,
            [b'\r', b'\n', ..] => {
                position += 1;
                true
            }
            _ => return None,
        };
        if is_end != (column == last) {
            return None;
        }
        position += 1;
    }
    Some((name, position))
}

/// How many spaces a text begins with.
fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b' ').count()
}
