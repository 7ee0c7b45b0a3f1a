//! The files of `--figure`: the figure of every experiment, in the format that the ending names.

use crate::commands::file_names;
use crate::failure::Failure;
use crate::output::{Inputs, directory_of, restore_directory, write_file};
use crate::results::Outcome;
use cutline_figure::PngError;
use cutline_lab::figures::failure_figure;
use std::path::{Path, PathBuf};

/// Makes a file from a drawing.
type Format = fn(&str) -> Result<Vec<u8>, PngError>;

/// The formats by the ending of their files.
const FORMATS: [(&str, Format); 3] = [
    ("pdf", cutline_figure::pdf),
    ("svg", |svg| Ok(svg.as_bytes().to_vec())),
    ("png", |svg| cutline_figure::png(svg, 2.0)),
];

/// Where the figures go.
pub(crate) struct FigureFiles {
    paths: Vec<PathBuf>,
    format: Format,
    inputs: Inputs,
}

impl FigureFiles {
    /// Checks the ending, that the directory is there, and that no file is replaced that must be kept. Where there are several experiments, their names become part of
    /// the names of the files.
    pub(crate) fn new(path: &Path, names: &[&str], inputs: Inputs) -> Result<Self, Failure> {
        let ending = path.extension().unwrap_or_default();
        let Some(&(_, format)) = FORMATS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)) else {
            let message = format!("`--figure` draws `.pdf`, `.svg` or `.png`, not `{}`", path.display());
            return Err(Failure::Usage(message));
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let of = |name: &String| path.with_file_name(format!("{stem}-{name}.{}", ending.display()));
        let paths = if names.len() == 1 { vec![path.into()] } else { file_names(names).iter().map(of).collect() };
        paths.iter().try_for_each(|path| inputs.check(path))?;
        directory_of(path).metadata().map_err(|error| Failure::Write { path: path.into(), error })?;
        Ok(Self { paths, format, inputs })
    }

    /// Draws the figures.
    pub(crate) fn write(&self, outcomes: &[Outcome]) -> Result<(), Failure> {
        for (path, outcome) in self.paths.iter().zip(outcomes) {
            let svg = failure_figure(&outcome.experiment, &outcome.rows).to_svg();
            let name = outcome.experiment.name().to_owned();
            let bytes = (self.format)(&svg).map_err(|error| Failure::Figure { name, error })?;
            restore_directory(path);
            write_file(path, &self.inputs, |out| out.write_all(&bytes))?;
        }
        Ok(())
    }
}
