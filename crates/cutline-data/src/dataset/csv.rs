//! Candidates from CSV, on all threads: one reads ahead while the others parse.

use super::DatasetError;
use super::blocks::{Block, Blocks};
use super::fields::{self, Rows};
use super::layout::{Layout, Role};
use super::raw::{RawCandidates, RowNumbers};
use memchr::memchr2;
use rayon::prelude::*;
use std::borrow::Cow;
use std::io::Read;

/// The size of a block in bytes; tests use others.
pub(super) const BLOCK: usize = 1 << 20;

/// Candidates from CSV, in blocks of about `size` bytes.
pub(super) fn read(
    csv: impl Read + Send,
    columns: Option<&[String]>,
    id: Option<&str>,
    size: usize,
) -> Result<RawCandidates, DatasetError> {
    let mut blocks = Blocks::new(csv, size)?;
    let (layout, first) = header(&mut blocks, b',', columns, id)?;
    let mut candidates = RawCandidates::default();
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
            candidates.rows.append(&part.rows);
        }
        batch = next;
    }
    if candidates.rows.n_rows == 0 {
        return Err(DatasetError::Empty);
    }
    Ok(RawCandidates { columns: layout.features, ..candidates })
}

/// Reads the header; returns the layout and the rest of the header's block.
pub(super) fn header<R: Read>(
    blocks: &mut Blocks<R>,
    separator: u8,
    columns: Option<&[String]>,
    id: Option<&str>,
) -> Result<(Layout, Block), DatasetError> {
    while let Some(block) = blocks.next() {
        let block = block?;
        let mut rows = Rows::new(&block.text, block.line).separated_by(separator);
        let mut header = Vec::new();
        let Some(row) = rows.next(&mut header) else { continue };
        let header = fields::header(&header, row)?;
        if header.iter().all(|field| field.parse::<f64>().is_ok()) {
            return Err(DatasetError::NoHeader);
        }
        if header.len() == 1 && header[0].contains([';', '\t', '|']) {
            return Err(DatasetError::Separator(super::error::shortened(&header[0])));
        }
        let (rest, line) = rows.rest();
        return Ok((Layout::new(header, columns, id)?, Block { text: rest.to_vec(), line }));
    }
    Err(DatasetError::Empty)
}

/// The candidates of one block.
#[derive(Default)]
struct Part {
    names: Vec<String>,
    features: Vec<f64>,
    rows: RowNumbers,
}

/// Parses a block. Plain rows take a fast path; all others go through [`any_row`], the only one that reports errors.
fn part(block: &Block, layout: &Layout) -> Result<Part, DatasetError> {
    let mut part = Part::default();
    let (mut text, mut line) = (&block.text[..], block.line);
    let mut row = vec![0.0; layout.features.len()];
    let mut fields = Vec::new();
    while !text.is_empty() {
        if let Some((name, end)) = plain_row(text, layout, &mut row) {
            part.names.extend(name.map(str::to_owned));
            part.rows.push(line);
            (text, line) = (&text[end..], line + 1);
        } else {
            let mut rows = Rows::new(text, line);
            let Some(row_line) = rows.next(&mut fields) else { break };
            part.names.extend(any_row(&fields, row_line, layout, &mut row)?);
            part.rows.push(row_line);
            (text, line) = rows.rest();
        }
        part.features.extend_from_slice(&row);
    }
    Ok(part)
}

/// Parses any row from its fields: returns the name and puts the features into `row`.
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
            Role::Feature(feature) => {
                row[feature] = fields::number(fields::text(field, line, column)?, line, column, false)?;
            }
            Role::None => (),
        }
    }
    Ok(name)
}

/// Parses the first row of a text if it is plain (no quotes, finite numbers): returns its name and where the next row begins, and
/// puts the features into `row`. A number is parsed up to its end, without looking for the comma first.
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

#[cfg(test)]
mod tests {
    use super::*;
    use cutline::{Purpose, Rng, below, stream};

    /// The names and features that the crate `csv` reads, or `None` if it refuses the file.
    fn by_the_csv_crate(csv: &[u8]) -> Option<(Vec<String>, Vec<f64>)> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(csv);
        let header = reader.headers().ok()?.clone();
        let (mut names, mut features) = (Vec::new(), Vec::new());
        for record in reader.records() {
            for (field, column) in record.ok()?.iter().zip(&header) {
                if column == "name" {
                    names.push(field.to_owned());
                } else {
                    features.push(field.parse().ok().filter(|value: &f64| value.is_finite())?);
                }
            }
        }
        (!names.is_empty()).then_some((names, features))
    }

    /// A file with odd fields, one in `oddity`.
    fn awkward_file(rng: &mut Rng, oddity: usize) -> Vec<u8> {
        const FIELDS: [&str; 8] = ["1", "-2.5e3", "0.1234567890123456789", ".5", "7.", "+0", "1e-320", "\"12\""];
        const NAMES: [&str; 9] =
            ["x", "żółw", "\"a,b\"", "\"a\nb\"", "\"a\r\nb\"", "\"say \"\"x\"\"\"", "5\" pipe", "", "🐢"];
        const ODD: [&str; 14] =
            ["", " 3 ", "\u{a0}3", "x", "inf", "1e999", "\"1\"2", "1\"", "\"", "1,2", "\r", "\n", "1 2", "\u{feff}"];
        const ENDS: [&str; 4] = ["\n", "\r\n", "\r", "\n\n"];
        let ends = below(rng, 4);
        let pick = |rng: &mut Rng, from: &[&'static str]| from[below(rng, from.len())];
        let mut file = String::from(["", "\u{feff}", "\n", "\r\n"][below(rng, 4)]);
        let columns = ["name,a,b", "a,name,b", "\"a\",b,name", "b,a,\"name\""][below(rng, 4)];
        file.push_str(columns);
        for _ in 0..below(rng, 12) {
            file.push_str(ENDS[if below(rng, oddity) == 0 { below(rng, 4) } else { ends }]);
            let mut fields = columns.split(',').map(|column| {
                let is_odd = below(rng, oddity) == 0;
                let pool: &[&'static str] = if column.contains("name") { &NAMES } else { &FIELDS };
                pick(rng, if is_odd { &ODD } else { pool })
            });
            file.push_str(&fields.by_ref().collect::<Vec<_>>().join(if below(rng, 9) == 0 { ", " } else { "," }));
        }
        file.push_str(["", "\n", "\r\n"][below(rng, 3)]);
        let mut file = file.into_bytes();
        if below(rng, 4 * oddity) == 0 && !file.is_empty() {
            let position = below(rng, file.len());
            file[position] = 0xff;
        }
        file
    }

    #[test]
    fn blocks_of_any_size_and_the_csv_crate_agree() {
        let (mut accepted, mut refused) = (0, 0);
        for index in 0..2_000 {
            let mut rng = stream(1, Purpose::Instance, index);
            let oddity = [20, 60, 500][below(&mut rng, 3)];
            let file = awkward_file(&mut rng, oddity);
            let text = String::from_utf8_lossy(&file).into_owned();
            let whole = read(&file[..], None, None, BLOCK);
            match (&whole, by_the_csv_crate(&file)) {
                (Ok(ours), Some((names, features))) => {
                    accepted += 1;
                    // A lone CR in quotes is a LF here.
                    let plain =
                        |names: &[String]| names.iter().map(|name| name.replace('\r', "\n")).collect::<Vec<_>>();
                    assert_eq!((plain(&ours.names), &ours.features), (plain(&names), &features), "{text:?}");
                }
                (Err(_), None) | (Err(DatasetError::OpenQuote { .. }), _) => refused += 1,
                (ours, theirs) => panic!("{text:?}: {ours:?}, but the crate reads {theirs:?}"),
            }
            for size in (1..=9).chain([16, 31, 64]) {
                match (&whole, &read(&file[..], None, None, size)) {
                    (Ok(whole), Ok(blocks)) => assert_eq!(whole, blocks, "{text:?} in blocks of {size}"),
                    (Err(whole), Err(blocks)) => {
                        assert_eq!(whole.to_string(), blocks.to_string(), "{text:?} in blocks of {size}");
                    }
                    (whole, blocks) => panic!("{text:?} in blocks of {size}: {blocks:?} instead of {whole:?}"),
                }
            }
        }
        assert!(accepted > 500 && refused > 200, "{accepted} accepted, {refused} refused");
    }

    #[test]
    fn row_numbers_are_lines_of_the_file() {
        let file = "\n\nname,a\r\nx,1\n\n\"y\n\nz\",2\rw,3\n \"v\",4";
        for size in 1..50 {
            let candidates = read(file.as_bytes(), None, None, size).unwrap();
            assert_eq!(candidates.names, ["x", "y\n\nz", "w", "\"v\""]);
            assert_eq!([0, 1, 2, 3].map(|arm| candidates.rows.row(arm)), [4, 6, 9, 10]);
        }
    }

    #[test]
    fn numbers_equal_those_of_the_standard_library() {
        let mut rng = stream(2, Purpose::Instance, 0);
        let mut file = String::from("a\n");
        let mut expected = Vec::new();
        for _ in 0..20_000 {
            let bits = below(&mut rng, usize::MAX) as u64;
            let value = f64::from_bits(bits);
            if value.is_finite() {
                let text = match below(&mut rng, 3) {
                    0 => format!("{value:e}"),
                    1 => format!("{value:.30e}"),
                    _ => format!("{}.{}e{}", bits % 1000, bits, i64::try_from(bits % 600).unwrap() - 300),
                };
                expected.push(text.parse::<f64>().unwrap());
                file.extend([&text, "\n"]);
            }
        }
        assert_eq!(read(file.as_bytes(), None, None, BLOCK).unwrap().features, expected);
    }

    #[test]
    fn errors_in_the_text_come_before_a_failure_to_read_on() {
        struct Broken<'a>(&'a [u8]);
        impl Read for Broken<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                if self.0.is_empty() { Err(std::io::Error::other("disk failure")) } else { self.0.read(buffer) }
            }
        }
        let message = |csv: &str| read(Broken(csv.as_bytes()), None, None, 4).unwrap_err().to_string();
        assert_eq!(message("a\n1\n2\n3\n"), "disk failure");
        assert_eq!(message("a\n1\nx\n3\n4\n5\n"), "row 3, column `a`: `x` is not a finite number");
    }

    #[test]
    fn a_row_without_an_end_is_refused() {
        let message = read(std::io::repeat(b'x').take(200 << 20), None, None, BLOCK).unwrap_err().to_string();
        assert_eq!(message, "row 1 is longer than 64 MB; is this a CSV file, and is every quote closed?");
    }
}
