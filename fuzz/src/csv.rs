//! Tables of candidates: CSV, gzip and Excel, as every command reads them.

use cutline_campaign::Candidates;
use cutline_data::dataset::{self, Loaded, ReadOptions, Source};
use std::collections::HashSet;
use std::io::Read;

/// Reads a table. The first byte chooses the options, the rest is the file.
pub fn check(data: &[u8]) {
    let Some((&choice, file)) = data.split_first() else { return };
    let whole = load(file, &options(choice));
    if choice == 0 {
        assert_same_in_small_reads(file);
    }
    if let Some(loaded) = whole {
        assert_reads_back(&loaded.candidates);
    }
}

fn options(choice: u8) -> ReadOptions {
    let has = |bit: u8| choice & (1 << bit) != 0;
    ReadOptions {
        features: has(0).then(|| if has(1) { vec!["a".into(), "b".into()] } else { vec!["a".into()] }),
        categories: if has(2) { vec!["a".into()] } else { Vec::new() },
        id: has(3).then(|| "b".into()),
        cost: has(6).then(|| "b".into()),
        fills_missing: has(4),
        decimal_comma: has(5),
    }
}

/// Loads a file, which is refused with a reason or gives candidates that keep their promises.
pub(crate) fn load(file: &[u8], options: &ReadOptions) -> Option<Loaded> {
    let source = Source::Bytes(bytes::Bytes::copy_from_slice(file));
    match dataset::load(&source, options) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
        Ok(loaded) => {
            assert_sound(&loaded.candidates);
            let again = loaded.encoding.as_ref().map(|encoding| dataset::load_encoded(&source, encoding, options));
            if let Some(again) = again {
                let again = again.expect("the same table by its own encoding").candidates;
                assert_eq!(again, loaded.candidates, "by its own encoding");
            }
            Some(loaded)
        }
    }
}

/// What [`Candidates`] promise.
fn assert_sound(candidates: &Candidates) {
    let names: HashSet<&String> = candidates.names().iter().collect();
    assert!(candidates.n_arms() > 0 && names.len() == candidates.n_arms(), "names are distinct");
    assert!(names.iter().all(|name| !name.is_empty() && !name.chars().any(char::is_control)));
    assert_eq!(candidates.features().len(), candidates.n_arms() * candidates.columns().len());
    assert!(candidates.features().iter().all(|feature| feature.is_finite()));
    let columns: HashSet<&String> = candidates.columns().iter().collect();
    assert_eq!(columns.len(), candidates.columns().len(), "columns are distinct");
}

/// Candidates that are written as CSV by another program are read as they are.
fn assert_reads_back(candidates: &Candidates) {
    let is_name = |column: &String| column.trim().eq_ignore_ascii_case("name");
    let is_trimmed = |text: &String| text.trim() == text;
    let columns = candidates.columns();
    if columns.iter().any(|column| is_name(column) || !is_trimmed(column) || column.chars().any(char::is_control)) {
        return;
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(["name"].into_iter().chain(columns.iter().map(String::as_str))).unwrap();
    for (arm, name) in candidates.names().iter().enumerate() {
        let features = candidates.row(arm).iter().map(|feature| format!("{feature:?}"));
        writer.write_record([name.clone()].into_iter().chain(features)).unwrap();
    }
    let written = writer.into_inner().unwrap();
    let read = dataset::candidates(&written[..], None);
    let read = read.unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&written)));
    // Costs are a column of their own, which is not written here.
    let without_costs = |candidates: &Candidates| {
        let (names, columns) = (candidates.names().to_vec(), candidates.columns().to_vec());
        (names, columns, candidates.features().to_vec())
    };
    assert_eq!(without_costs(&read), without_costs(candidates), "written and read back");
}

/// A reader that returns a few bytes at a time.
struct SmallReads<'a>(&'a [u8]);

impl Read for SmallReads<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(7);
        self.0.read(&mut buffer[..n])
    }
}

/// It does not matter how a stream is cut into reads.
fn assert_same_in_small_reads(file: &[u8]) {
    let message = |read: Result<Candidates, dataset::DatasetError>| read.map_err(|error| error.to_string());
    let whole = message(dataset::candidates(file, None));
    assert_eq!(message(dataset::candidates(SmallReads(file), None)), whole, "read a few bytes at a time");
}
