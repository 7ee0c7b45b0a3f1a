//! The native half of the Python package `cutline`. Its public face is `cutline/`.
#![expect(clippy::doc_link_with_quotes, reason = "docs are for Python, with lists of strings in their examples")]
#![expect(clippy::needless_pass_by_value, reason = "Python hands over by value")]
#![expect(clippy::too_many_arguments, reason = "the public functions take keywords")]

mod arms;
mod campaign;
mod convert;
mod custom;
mod custom_parts;
mod diagnostics;
mod errors;
mod events;
mod experiment;
mod frames;
mod handle;
mod inputs;
mod interruptible;
mod per_run;
mod plan;
mod pool;
mod replay;
mod rewards;
mod settings;
mod tally;
mod ticket;
mod verdict;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::campaign::Campaign;
    #[pymodule_export]
    use super::custom::Beliefs;
    #[pymodule_export]
    use super::experiment::{Experiment, field, paper, variants};
    #[pymodule_export]
    use super::frames::encode_columns;
    #[pymodule_export]
    use super::handle::{CampaignHandle, begin, campaigns, copy, delete, find, rename, restore};
    #[pymodule_export]
    use super::inputs::{check_input, set_max_input_size};
    #[pymodule_export]
    use super::plan::Planning;
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::tally::Tally;
    #[pymodule_export]
    use super::ticket::Ticket;
    #[pymodule_export]
    use super::verdict::{Progress, Verdict};
    #[pymodule_export]
    use super::{pdf, png, version};
}

/// Renders SVG as PNG, with `scale` pixels per unit.
#[pyfunction]
fn png(py: Python<'_>, svg: &str, scale: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    #[expect(clippy::cast_possible_truncation, reason = "a few digits are enough for a scale")]
    let scale = convert::number(scale, "`scale`")? as f32;
    py.detach(|| cutline_figure::png(svg, scale)).map_err(errors::input)
}

/// SVG as PDF.
#[pyfunction]
fn pdf(py: Python<'_>, svg: &str) -> PyResult<Vec<u8>> {
    py.detach(|| cutline_figure::pdf(svg)).map_err(errors::input)
}

/// The version of Cutline.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
