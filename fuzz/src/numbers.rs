//! Numbers for the checks, drawn from the bytes of an input.

use arbitrary::{Result, Unstructured};

/// A number between −2 and 2 on a grid, so that ties occur.
pub(crate) fn small(bytes: &mut Unstructured<'_>) -> Result<f64> {
    Ok(f64::from(bytes.arbitrary::<i8>()?) / 64.0)
}

/// A number that may be anything: mostly small, often 0 or 1, sometimes huge, tiny or not a number.
pub(crate) fn any(bytes: &mut Unstructured<'_>) -> Result<f64> {
    Ok(match bytes.int_in_range(0..=24_u8)? {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => 1e140,
        3 => -1.000_1e140,
        4 => -0.0,
        5 => 1e-300,
        6 => bytes.arbitrary()?,
        7..=9 => 0.0,
        10..=12 => 1.0,
        _ => small(bytes)?,
    })
}
