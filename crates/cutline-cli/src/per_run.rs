//! The file of `--per-run`: one row per run, algorithm and budget, as Parquet or CSV.

use crate::failure::Failure;
use crate::output::{Inputs, directory_of, restore_directory, write_file};
use crate::print::csv_record;
use cutline_lab::{Experiment, PerRun};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io::{BufWriter, Error, Result, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The columns of the Parquet file; those of the CSV file have the same names and order.
const SCHEMA: &str = "message per_run {
    required binary experiment (STRING);
    required int64 run;
    required binary algorithm (STRING);
    required int64 budget;
    required int64 errors;
    required boolean is_failure;
    required int64 pulls;
    required binary stop (STRING);
    required double threshold;
    required group true_means (LIST) { repeated group list { required double element; } }
    required group arm_pulls (LIST) { repeated group list { required int32 element; } }
    required group means (LIST) { repeated group list { required double element; } }
    required group above (LIST) { repeated group list { required boolean element; } }
    required group settled_arms (LIST) { repeated group list { required int32 element; } }
    required group settled_after (LIST) { repeated group list { required int64 element; } }
}";

const CSV_HEADER: [&str; 15] = [
    "experiment",
    "run",
    "algorithm",
    "budget",
    "errors",
    "is_failure",
    "pulls",
    "stop",
    "threshold",
    "true_means",
    "arm_pulls",
    "means",
    "above",
    "settled_arms",
    "settled_after",
];

/// How many entries of arms are kept in memory before they are written.
const ENTRIES: usize = 1 << 21;

/// The results on their way into the file. They go to an unnamed file first, so that an interruption leaves nothing behind.
pub(crate) struct PerRunFile {
    path: PathBuf,
    inputs: Inputs,
    writer: Writer,
}

enum Writer {
    Csv(csv::Writer<BufWriter<File>>),
    Parquet(SerializedFileWriter<BufWriter<File>>),
}

impl PerRunFile {
    /// Prepares the file, so that a bad path is reported before the work starts.
    pub(crate) fn create(path: &Path, inputs: Inputs) -> std::result::Result<Self, Failure> {
        let ending = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        let is_csv = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("csv") => true,
            Some("parquet") => false,
            _ => {
                let message = format!("`--per-run` writes `.parquet` or `.csv`, not `{}`", path.display());
                return Err(Failure::Usage(message));
            }
        };
        inputs.check(path)?;
        let open = || {
            let spool = BufWriter::new(tempfile::tempfile_in(directory_of(path))?);
            Ok(if is_csv {
                let mut writer = csv::Writer::from_writer(spool);
                writer.write_record(CSV_HEADER)?;
                Writer::Csv(writer)
            } else {
                let schema = parse_message_type(SCHEMA).map_err(Error::other)?;
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression).build();
                let writer = SerializedFileWriter::new(spool, Arc::new(schema), Arc::new(properties));
                Writer::Parquet(writer.map_err(Error::other)?)
            })
        };
        let writer = open().map_err(|error: Error| Failure::Write { path: path.into(), error: error.kind().into() })?;
        Ok(Self { path: path.into(), inputs, writer })
    }

    /// How many runs to play before their results are written.
    pub(crate) fn runs_at_once(experiment: &Experiment) -> u64 {
        let n_arms = experiment.source().instance(0).map_or(1, |instance| instance.means().len());
        let entries = experiment.entrants().len() * experiment.budgets().len() * n_arms;
        (ENTRIES / entries.max(1)).clamp(16, 1 << 16) as u64
    }

    /// Adds the results of runs.
    pub(crate) fn write(&mut self, experiment: &Experiment, results: &PerRun) -> std::result::Result<(), Failure> {
        let columns = Columns::new(experiment, results);
        let written = match &mut self.writer {
            Writer::Csv(writer) => columns.write_csv(writer),
            Writer::Parquet(writer) => columns.write_parquet(writer).map_err(Error::other),
        };
        written.map_err(|error| Failure::Write { path: self.path.clone(), error })
    }

    /// Moves everything under the file's name.
    pub(crate) fn finish(self) -> std::result::Result<(), Failure> {
        let path = self.path;
        let failed = |error| Failure::Write { path: path.clone(), error };
        let spool = match self.writer {
            Writer::Csv(writer) => writer.into_inner().map_err(csv::IntoInnerError::into_error),
            Writer::Parquet(writer) => writer.into_inner().map_err(Error::other),
        };
        let spool = spool.and_then(|spool| spool.into_inner().map_err(std::io::IntoInnerError::into_error));
        let mut spool = spool.map_err(failed)?;
        spool.rewind().map_err(failed)?;
        restore_directory(&path);
        write_file(&path, &self.inputs, |out| std::io::copy(&mut spool, out).map(|_| ()))
    }
}

/// The results of some runs, and where the rows of each run and the arms of each row are.
struct Columns<'a> {
    experiment: &'a Experiment,
    results: &'a PerRun,
    rows_per_run: usize,
}

impl<'a> Columns<'a> {
    fn new(experiment: &'a Experiment, results: &'a PerRun) -> Self {
        Self { experiment, results, rows_per_run: experiment.entrants().len() * experiment.budgets().len() }
    }

    /// For each row the value of its run.
    fn by_run<T>(&self, values: impl Iterator<Item = T>) -> impl Iterator<Item = T>
    where
        T: Clone,
    {
        let rows_per_run = self.rows_per_run;
        values.flat_map(move |value| std::iter::repeat_n(value, rows_per_run))
    }

    fn runs(&self) -> impl Iterator<Item = u64> {
        self.by_run(self.results.runs.iter().copied())
    }

    fn n_arms(&self) -> impl Iterator<Item = usize> {
        self.by_run(self.results.n_arms.iter().copied())
    }

    fn labels(&self) -> impl Iterator<Item = &str> {
        let n_budgets = self.experiment.budgets().len();
        let labels = self.experiment.entrants().iter().map(cutline_lab::Entrant::label);
        let of_run = labels.flat_map(move |label| std::iter::repeat_n(label, n_budgets));
        self.results.runs.iter().flat_map(move |_| of_run.clone())
    }

    fn budgets(&self) -> impl Iterator<Item = u32> {
        self.experiment.budgets().iter().copied().cycle().take(self.results.n_rows())
    }

    /// For each row the true means of its run.
    fn true_means(&self) -> impl Iterator<Item = &[f64]> {
        self.by_run(split(&self.results.true_means, self.results.n_arms.iter().copied()))
    }

    /// For each row the values of its arms.
    fn arms<'b, T>(&self, values: &'b [T]) -> impl Iterator<Item = &'b [T]> {
        split(values, self.n_arms())
    }

    /// For each row the values of its settled arms.
    fn settled<'b, T>(&self, values: &'b [T]) -> impl Iterator<Item = &'b [T]> {
        split(values, self.results.n_settled.iter().copied())
    }

    fn write_csv(&self, writer: &mut csv::Writer<impl Write>) -> Result<()> {
        let results = self.results;
        let thresholds = self.by_run(results.thresholds.iter().copied());
        let heads = self.runs().zip(self.labels()).zip(self.budgets()).zip(thresholds).zip(self.true_means());
        let lists = self.arms(&results.arm_pulls).zip(self.arms(&results.means)).zip(self.arms(&results.above));
        let settled = self.settled(&results.settled_arms).zip(self.settled(&results.settled_after));
        for (row, ((head, ((pulls, means), above)), (arms, after))) in heads.zip(lists).zip(settled).enumerate() {
            let ((((run, label), budget), threshold), true_means) = head;
            let errors = results.errors[row];
            let fields = [
                self.experiment.name(),
                &run.to_string(),
                label,
                &budget.to_string(),
                &errors.to_string(),
                &(errors > 0).to_string(),
                &results.pulls[row].to_string(),
                results.stops[row].name(),
                &format!("{threshold:?}"),
                &format!("{true_means:?}"),
                &format!("{pulls:?}"),
                &format!("{means:?}"),
                &format!("{above:?}"),
                &format!("{arms:?}"),
                &format!("{after:?}"),
            ];
            csv_record(writer, fields)?;
        }
        Ok(())
    }

    fn write_parquet(
        &self,
        writer: &mut SerializedFileWriter<impl Write + Send>,
    ) -> std::result::Result<(), ParquetError> {
        let results = self.results;
        if results.n_rows() == 0 {
            return Ok(());
        }
        let text = |text: &str| ByteArray::from(text);
        let mut group = writer.next_row_group()?;
        let name = text(self.experiment.name());
        column::<ByteArrayType>(&mut group, results.errors.iter().map(|_| name.clone()))?;
        column::<Int64Type>(&mut group, self.runs().map(u64::cast_signed))?;
        column::<ByteArrayType>(&mut group, self.labels().map(text))?;
        column::<Int64Type>(&mut group, self.budgets().map(i64::from))?;
        column::<Int64Type>(&mut group, results.errors.iter().map(|&errors| errors.into()))?;
        column::<BoolType>(&mut group, results.errors.iter().map(|&errors| errors > 0))?;
        column::<Int64Type>(&mut group, results.pulls.iter().map(|&pulls| pulls.cast_signed()))?;
        column::<ByteArrayType>(&mut group, results.stops.iter().map(|stop| text(stop.name())))?;
        column::<DoubleType>(&mut group, self.by_run(results.thresholds.iter().copied()))?;
        lists::<DoubleType, _>(&mut group, self.true_means(), |&mean| mean)?;
        lists::<Int32Type, _>(&mut group, self.arms(&results.arm_pulls), |&pulls| pulls.cast_signed())?;
        lists::<DoubleType, _>(&mut group, self.arms(&results.means), |&mean| mean)?;
        lists::<BoolType, _>(&mut group, self.arms(&results.above), |&above| above)?;
        lists::<Int32Type, _>(&mut group, self.settled(&results.settled_arms), |&arm| arm.cast_signed())?;
        lists::<Int64Type, _>(&mut group, self.settled(&results.settled_after), |&after| after.cast_signed())?;
        group.close()?;
        Ok(())
    }
}

/// Consecutive parts of these lengths.
fn split<T>(values: &[T], lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = &[T]> {
    let mut rest = values;
    lengths.map(move |n| {
        let (part, later) = rest.split_at(n);
        rest = later;
        part
    })
}

type Group<'a, W> = SerializedRowGroupWriter<'a, W>;

/// Writes the next column, one value per row.
fn column<T: DataType>(
    group: &mut Group<'_, impl Write + Send>,
    values: impl Iterator<Item = T::T>,
) -> std::result::Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    writer.typed::<T>().write_batch(&values.collect::<Vec<_>>(), None, None)?;
    writer.close()
}

/// Writes the next column, one list per row. A value begins a list (level 0) or continues it (level 1); an empty list has no value.
fn lists<'a, T: DataType, V: 'a>(
    group: &mut Group<'_, impl Write + Send>,
    lists: impl Iterator<Item = &'a [V]>,
    stored: impl Fn(&V) -> T::T,
) -> std::result::Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    let (mut values, mut has_value, mut continues) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        values.extend(list.iter().map(&stored));
        has_value.extend(std::iter::repeat_n(i16::from(!list.is_empty()), list.len().max(1)));
        continues.push(0);
        continues.extend(std::iter::repeat_n(1, list.len().saturating_sub(1)));
    }
    writer.typed::<T>().write_batch(&values, Some(&has_value), Some(&continues))?;
    writer.close()
}
