//! Tables of any cells from CSV, with any separator, on all threads. Files of numbers alone are read by [`super::csv`], which is faster.

use super::DatasetError;
use super::blocks::{Block, Blocks, end_lines};
use super::csv::header;
use super::fields::{self, Rows};
use super::layout::{Layout, Role};
use super::options::ReadOptions;
use super::raw::RowNumbers;
use super::table::{Cells, Problems, Table};
use rayon::prelude::*;
use std::borrow::Cow;
use std::io::Read;

/// The separators that are detected; the first is preferred.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// The separator of a CSV file by its beginning, which may be cut off: the one that splits the header into the most fields, and the first
/// row into as many.
pub(crate) fn separator(start: &[u8], is_cut_off: bool) -> u8 {
    let mut text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).to_vec();
    end_lines(&mut text, 0, true);
    let n_fields = |separator: u8| {
        let (mut rows, mut fields) = (Rows::new(&text, 1).separated_by(separator), Vec::new());
        let header = rows.next(&mut fields).map_or(0, |_| fields.len());
        let row = rows.next(&mut fields).map(|_| fields.len());
        let row = row.filter(|_| !is_cut_off || !rows.rest().0.is_empty());
        if row.is_none_or(|row| row == header) { header } else { 0 }
    };
    let most = SEPARATORS.map(n_fields).into_iter().max().unwrap_or(0);
    if most < 2 {
        return b',';
    }
    SEPARATORS.into_iter().find(|&separator| n_fields(separator) == most).unwrap_or(b',')
}

/// A table from CSV in blocks of about `size` bytes, and what is wrong with its rows.
pub(super) fn read(
    csv: impl Read + Send,
    separator: u8,
    options: &ReadOptions,
    size: usize,
) -> Result<(Table, Problems), DatasetError> {
    let mut blocks = Blocks::new(csv, size)?.separated_by(separator);
    let (layout, first) = header(&mut blocks, separator, options.features.as_deref(), options.id.as_deref())?;
    let parser =
        Parser { separator, decimal_comma: options.decimal_comma, is_text: layout.text_features(options)?, layout };
    let mut table = Part::new(&parser.layout);
    let mut batch = vec![Ok(first)];
    let n_blocks = 2 * rayon::current_num_threads();
    while !batch.is_empty() {
        let parse = || batch.into_par_iter().map(|block| block.map(|block| parser.part(&block))).collect::<Vec<_>>();
        let read_ahead = || (0..n_blocks).map_while(|_| blocks.next()).collect();
        let (parts, next) = rayon::join(parse, read_ahead);
        for part in parts {
            match part {
                Ok(part) => table.append(part),
                // Nothing follows it, and what is wrong before it is still reported.
                Err(DatasetError::OpenQuote { row }) => table.problems.push(row, || DatasetError::OpenQuote { row }),
                Err(error) => return Err(error),
            }
        }
        batch = next;
    }
    let Part { names, columns, rows, problems } = table;
    if rows.n_rows == 0 {
        problems.check()?;
        return Err(DatasetError::Empty);
    }
    let columns = parser.layout.features.into_iter().zip(columns).collect();
    Ok((Table { names, columns, rows }, problems))
}

/// The cells of one block.
struct Part {
    names: Vec<String>,
    columns: Vec<Cells>,
    rows: RowNumbers,
    problems: Problems,
}

impl Part {
    fn new(layout: &Layout) -> Self {
        let columns = vec![Cells::default(); layout.features.len()];
        Self { names: Vec::new(), columns, rows: RowNumbers::default(), problems: Problems::default() }
    }

    fn append(&mut self, later: Self) {
        self.names.extend(later.names);
        for (cells, later) in self.columns.iter_mut().zip(later.columns) {
            cells.append(later);
        }
        self.rows.append(&later.rows);
        self.problems.append(later.problems);
    }
}

struct Parser {
    separator: u8,
    decimal_comma: bool,
    /// Whether a feature is read as text, even where it is a number.
    is_text: Vec<bool>,
    layout: Layout,
}

impl Parser {
    fn part(&self, block: &Block) -> Part {
        let mut part = Part::new(&self.layout);
        let mut rows = Rows::new(&block.text, block.line).separated_by(self.separator);
        let mut fields = Vec::new();
        while let Some(row) = rows.next(&mut fields) {
            let (expected, found) = (self.layout.header.len(), fields.len());
            if expected != found {
                part.problems.push(row, || DatasetError::Ragged { row, expected, found });
                continue;
            }
            part.rows.push(row);
            self.row(&fields, row, &mut part);
        }
        part
    }

    fn row(&self, fields: &[Cow<'_, [u8]>], row: u64, part: &mut Part) {
        for ((field, column), role) in fields.iter().zip(&self.layout.header).zip(&self.layout.roles) {
            if *role == Role::None {
                continue;
            }
            // A field that is not UTF-8 has its problem, so that what stands for it must not cause another one.
            let text = fields::text(field, row, column);
            match (*role, &text) {
                (Role::Feature(feature), Ok(text)) => {
                    match fields::finite(text, self.decimal_comma).filter(|_| !self.is_text[feature]) {
                        Some(number) => part.columns[feature].push_number(number),
                        None => part.columns[feature].push_text((*text).to_owned()),
                    }
                }
                (Role::Feature(feature), Err(_)) => part.columns[feature].push_number(0.0),
                (_, Ok(text)) => part.names.push((*text).to_owned()),
                (_, Err(_)) => part.names.push(format!("row {row}")),
            }
            if let Err(error) = text {
                part.problems.push(row, || error);
            }
        }
    }
}
