//! Input files: what is refused, and the limit to their size.

use crate::convert::integer;
use crate::errors::input;
use cutline_data::input::{InputError, open, set_max_size};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Changes the largest size of a file that is read, in bytes, for this process; by default 8 GiB. What a compressed file decompresses to counts.
///
/// >>> import cutline
/// >>> cutline.set_max_input_size(16 * 2**30)
/// >>> cutline.set_max_input_size(8 * 2**30)
#[pyfunction]
pub(crate) fn set_max_input_size(size: &Bound<'_, PyAny>) -> PyResult<()> {
    set_max_size(integer(size, "`size`", 0, u64::MAX)?);
    Ok(())
}

/// Refuses a file that is too large, or that is a pipe or a device. Other errors are left to whoever reads it.
#[pyfunction]
pub(crate) fn check_input(path: PathBuf) -> PyResult<()> {
    match open(&path).as_ref().err().and_then(InputError::of) {
        None => Ok(()),
        Some(error @ InputError::TooLarge { .. }) => Err(input(format!(
            "cannot read {}: {error}; raise the limit with `cutline.set_max_input_size`",
            path.display()
        ))),
        Some(error) => Err(input(format!("cannot read {}: {error}", path.display()))),
    }
}
