//! Candidates from Parquet: files written by other programs, and files that cannot be read.

use cutline_campaign::Candidates;
use cutline_data::dataset::{DatasetError, open, open_with_labels};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The features in the files that other programs wrote.
const NUMBERS: [(&str, [f64; 5]); 10] = [
    ("f64", [0.1, -2.5, 1e300, -0.0, 5e-324]),
    ("f32", [0.1_f32 as f64, -2.5, 3.0, 4.0, 1e-40_f32 as f64]),
    ("i8", [-128.0, 0.0, 1.0, 2.0, 127.0]),
    ("i16", [-32768.0, 0.0, 1.0, 2.0, 32767.0]),
    ("i32", [-2147483648.0, 0.0, 1.0, 2.0, 2147483647.0]),
    ("i64", [-9223372036854775808.0, 0.0, 1.0, 2.0, 9007199254740992.0]),
    ("u8", [0.0, 1.0, 2.0, 3.0, 255.0]),
    ("u16", [0.0, 1.0, 2.0, 3.0, 65535.0]),
    ("u32", [0.0, 1.0, 2.0, 3.0, 4294967295.0]),
    ("u64", [0.0, 1.0, 2.0, 3.0, 18446744073709551615.0]),
];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet").join(name)
}

fn chosen(path: &Path, columns: &[&str]) -> Result<Candidates, DatasetError> {
    open(path, Some(&columns.iter().map(ToString::to_string).collect::<Vec<_>>()))
}

fn column(candidates: &Candidates, feature: usize) -> Vec<f64> {
    candidates.features().iter().skip(feature).step_by(candidates.columns().len()).copied().collect()
}

#[test]
fn files_of_other_programs() {
    for name in ["pandas.parquet", "polars.parquet", "duckdb.parquet"] {
        let candidates = open(&file(name), None).unwrap();
        assert_eq!(candidates.names(), ["ant", "bee", "żółw", "ant-4", "🐢"]);
        assert_eq!(candidates.columns(), NUMBERS.map(|(name, _)| name));
        for (feature, (name, expected)) in NUMBERS.into_iter().enumerate() {
            assert_eq!(column(&candidates, feature), expected, "{name}");
        }
    }
}

#[test]
fn halves_and_decimals_and_names_in_a_dictionary() {
    let candidates = chosen(&file("pyarrow.parquet"), &["large", "f16", "small"]).unwrap();
    assert_eq!(candidates.names()[4], "🐢");
    assert_eq!(column(&candidates, 0), [0.1, -1234567890123456789012.3, 99.9, 0.0, 9007199254740993.0]);
    assert_eq!(column(&candidates, 1), [0.5, -2.0, 5.960464477539063e-8, 65504.0, 0.0]);
    assert_eq!(column(&candidates, 2), [0.01, -1.23, 99.99, 0.0, -99.99]);
}

#[test]
fn types_that_are_not_numbers() {
    for (column, expected) in [
        ("flag", "boolean"),
        ("text", "string"),
        ("blob", "binary"),
        ("list", "list"),
        ("struct", "struct"),
        ("date", "date"),
        ("when", "timestamp"),
        ("time", "time"),
        ("nothing", "null"),
    ] {
        let message = chosen(&file("pyarrow.parquet"), &["f64", column]).unwrap_err().to_string();
        assert_eq!(message, format!("column `{column}` is of type {expected}; features must be numbers"));
    }
    let message = open(&file("pyarrow.parquet"), None).unwrap_err().to_string();
    assert_eq!(message, "column `date` is of type date; features must be numbers");
    let message = chosen(&file("pandas.parquet"), &["f64", "x"]).unwrap_err().to_string();
    assert!(message.starts_with("there is no column `x`; the columns are `f64`, `f32`, `i8`"), "{message}");
}

/// Writes a file with one column `x` and, unless `names` is empty, a column of names, in row groups of `rows`.
fn write(path: &Path, names: &str, x: &[Option<f64>], rows: usize, compression: Compression, version: WriterVersion) {
    let with_names = if names.is_empty() { "" } else { "required binary name; " };
    let schema = parse_message_type(&format!("message arms {{ {with_names}optional double x; }}")).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_writer_version(version)
        .set_data_page_row_count_limit(1_000)
        .set_write_batch_size(100)
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    for part in x.chunks(rows) {
        let mut group = writer.next_row_group().unwrap();
        if !names.is_empty() {
            let names: Vec<ByteArray> =
                part.iter().map(|x| x.map_or(vec![0xff], |x| format!("{names}{x}").into_bytes()).into()).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&names, None, None).unwrap();
            column.close().unwrap();
        }
        let levels: Vec<i16> = part.iter().map(|x| x.is_some().into()).collect();
        let values: Vec<f64> = part.iter().copied().flatten().collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn many_rows_in_groups_of_any_size() {
    let directory = tempfile::tempdir().unwrap();
    // Parquet is recognised by its first bytes, not by the file's name.
    let path = directory.path().join("arms");
    let x: Vec<Option<f64>> = (0..20_000).map(|x| Some(f64::from(x % 7_000) / 7.0)).collect();
    let expected: Vec<f64> = x.iter().copied().flatten().collect();
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())] {
        for (rows, version) in
            [(1, WriterVersion::PARQUET_1_0), (4_097, WriterVersion::PARQUET_2_0), (20_000, WriterVersion::PARQUET_1_0)]
        {
            let n = if rows == 1 { 50 } else { x.len() };
            write(&path, "arm ", &x[..n], rows, compression, version);
            let (candidates, labels) = open_with_labels(&path).unwrap();
            assert_eq!(candidates.features(), &expected[..n]);
            assert_eq!((candidates.n_arms(), labels.len()), (n, n));
            assert_eq!(labels[n - 1], format!("arm {}", expected[n - 1]));
        }
    }
    let refused = open(&path, None).unwrap_err();
    let refused = refused.to_string();
    assert!(refused.starts_with("names that are there twice: `arm 0` in rows 1 and 7001, `arm 0.1"), "{refused}");
    assert!(refused.ends_with("; and 12980 more problems"), "{refused}");
}

#[test]
fn refused_values_are_reported_with_row_and_column() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("arms.parquet");
    let message = |names: &str, x: &[Option<f64>]| {
        write(&path, names, x, 6_000, Compression::SNAPPY, WriterVersion::PARQUET_1_0);
        open(&path, None).unwrap_err().to_string()
    };
    let with = |bad: &[(usize, Option<f64>)]| {
        let mut x = vec![Some(1.0); 15_000];
        for &(row, value) in bad {
            x[row - 1] = value;
        }
        x
    };
    let null = "row 11000, column `x`: the value is missing (null)";
    assert_eq!(message("", &with(&[(11_000, None), (11_001, Some(f64::NAN)), (14_000, None)])), null);
    let infinite = "row 11000, column `x`: `inf` is not a finite number";
    assert_eq!(
        message("", &with(&[(11_000, Some(f64::INFINITY)), (11_001, None), (14_000, Some(f64::NAN))])),
        infinite
    );
    assert_eq!(message("", &with(&[(3, Some(f64::NAN))])), "row 3, column `x`: `NaN` is not a finite number");
    assert_eq!(message("x", &with(&[(7, None)])), "row 7, column `name`: the field is not UTF-8");
    assert_eq!(
        message("x", &with(&[(6, Some(f64::NAN)), (7, None)])),
        "row 6, column `x`: `NaN` is not a finite number"
    );
    assert_eq!(message("", &[]), "there are no arms: the file needs a header and one row per arm");
}

#[test]
fn truncated_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("arms.parquet");
    let good = std::fs::read(file("polars.parquet")).unwrap();
    for length in (0..good.len()).step_by(13) {
        std::fs::write(&path, &good[..length]).unwrap();
        let message = open(&path, None).unwrap_err().to_string();
        assert!(message.starts_with("the Parquet file cannot be read: "), "{length}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}
