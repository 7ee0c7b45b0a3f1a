//! How fast candidates are loaded from CSV and Parquet, next to a plain read of the same bytes and Python peers.
//!
//! `make bench WHAT=load`, or `cargo run --release --package cutline-lab --example load -- [K] [PYTHON]`, where PYTHON has polars and
//! pandas. Contenders take turns, and the fastest of several rounds counts.

use cutline::{Purpose, stream};
use cutline_data::dataset::{self, ReadOptions, Source};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use rand::RngExt;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const DIMENSION: usize = 64;
const ROUNDS: usize = 5;
const ROWS_PER_GROUP: usize = 262_144;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let n_arms: usize = arguments.next().map_or(Ok(1_000_000), |n_arms| n_arms.parse())?;
    let python = arguments.next();
    let directory = tempfile::tempdir()?;
    let threads = rayon::current_num_threads();
    println!("K = {n_arms}, d = {DIMENSION}, {threads} threads; the fastest of {ROUNDS}\n");
    println!("| file | MB | contender | seconds | MB/s |");
    println!("|---|---|---|---|---|");
    for name in ["all digits.csv", "6 digits.csv", "snappy.parquet", "zstd.parquet"] {
        let path = directory.path().join(name);
        if name.ends_with("csv") {
            write_csv(&path, n_arms, name.starts_with('6'))?;
        } else {
            let zstd = Compression::ZSTD(ZstdLevel::default());
            write_parquet(&path, n_arms, if name.starts_with('z') { zstd } else { Compression::SNAPPY })?;
        }
        let bytes = path.metadata()?.len() as f64;
        for (contender, seconds) in race(&path, python.as_deref())? {
            println!("| {name} | {:.0} | {contender} | {seconds:.3} | {:.0} |", bytes / 1e6, bytes / seconds / 1e6);
        }
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// The fastest time of every contender, in seconds.
fn race(path: &Path, python: Option<&str>) -> Outcome<BTreeMap<String, f64>> {
    let mut least = BTreeMap::new();
    let mut note = |contender: &str, seconds: f64| {
        let known = least.entry(contender.to_owned()).or_insert(seconds);
        *known = known.min(seconds);
    };
    for _ in 0..ROUNDS {
        let start = Instant::now();
        plain_read(path)?;
        note("plain read", start.elapsed().as_secs_f64());
        let start = Instant::now();
        let candidates = dataset::open(path, None)?;
        note("cutline", start.elapsed().as_secs_f64());
        let arms = candidates.arms();
        drop(candidates);
        note("cutline, with arms built", start.elapsed().as_secs_f64());
        drop(arms);
        let start = Instant::now();
        dataset::load(&Source::File(path.into()), &ReadOptions::default())?;
        note("cutline, as `cutline new` reads it", start.elapsed().as_secs_f64());
        if let Some(python) = python {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/peers/load.py");
            let output = Command::new(python).arg(script).arg(path).output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
            for line in String::from_utf8(output.stdout)?.lines() {
                let (contender, seconds) = line.split_once(' ').ok_or("a contender and its seconds")?;
                note(contender, seconds.parse()?);
            }
        }
    }
    Ok(least)
}

/// Reads all bytes, a megabyte at a time, and discards them.
fn plain_read(path: &Path) -> Outcome<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    while file.read(&mut buffer)? > 0 {}
    Ok(())
}

fn write_csv(path: &Path, n_arms: usize, is_short: bool) -> Outcome<()> {
    let mut numbers = stream(0, Purpose::Instance, 0);
    let mut file = BufWriter::new(File::create(path)?);
    write!(file, "name")?;
    (0..DIMENSION).try_for_each(|column| write!(file, ",x{column}"))?;
    for arm in 0..n_arms {
        write!(file, "\narm {arm}")?;
        for _ in 0..DIMENSION {
            let number: f64 = 2.0 * numbers.random::<f64>() - 1.0;
            if is_short { write!(file, ",{number:.6}") } else { write!(file, ",{number}") }?;
        }
    }
    writeln!(file)?;
    Ok(file.flush()?)
}

fn write_parquet(path: &Path, n_arms: usize, compression: Compression) -> Outcome<()> {
    let columns: Vec<String> = (0..DIMENSION).map(|column| format!("optional double x{column};")).collect();
    let schema = parse_message_type(&format!("message arms {{ optional binary name (UTF8); {} }}", columns.join(" ")))?;
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = SerializedFileWriter::new(File::create(path)?, Arc::new(schema), Arc::new(properties))?;
    let mut numbers = stream(0, Purpose::Instance, 0);
    for start in (0..n_arms).step_by(ROWS_PER_GROUP) {
        let end = n_arms.min(start + ROWS_PER_GROUP);
        let levels = vec![1; end - start];
        let mut group = writer.next_row_group()?;
        let names: Vec<ByteArray> = (start..end).map(|arm| format!("arm {arm}").into_bytes().into()).collect();
        let mut column = group.next_column()?.ok_or("a column of names")?;
        column.typed::<ByteArrayType>().write_batch(&names, Some(&levels), None)?;
        column.close()?;
        while let Some(mut column) = group.next_column()? {
            let values: Vec<f64> = levels.iter().map(|_| 2.0 * numbers.random::<f64>() - 1.0).collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
