//! Python values as Rust values. Every error message says what was expected and what was given.

use crate::errors::input;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFrozenSet, PySet, PyString};

/// The longest representation of a value in a message, in characters.
const MAX_REPR: usize = 60;

/// A number. Its range is checked elsewhere.
pub(crate) fn number(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    value.extract().map_err(|_| input(format!("{what} must be a number, not {}", short_repr(value))))
}

/// A whole number from `least` to `most`; `True` and `False` are none.
pub(crate) fn integer(value: &Bound<'_, PyAny>, what: &str, least: u64, most: u64) -> PyResult<u64> {
    let is_bool = value.is_instance_of::<PyBool>();
    let number = value.extract::<u64>().ok().filter(|number| !is_bool && (least..=most).contains(number));
    number.ok_or_else(|| {
        input(format!("{what} must be a whole number between {least} and {most}, not {}", short_repr(value)))
    })
}

/// A string.
pub(crate) fn string(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    value.extract().map_err(|_| input(format!("{what} must be a string, not {}", short_repr(value))))
}

/// A list of strings.
pub(crate) fn strings(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<String>> {
    let each = format!("each of {what}");
    elements(value, what)?.iter().map(|value| string(value, &each)).collect()
}

/// The elements of any iterable except a string, and dicts and sets, whose order or values are not those of a list.
pub(crate) fn elements<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let is_list = !value.is_instance_of::<PyString>()
        && !value.is_instance_of::<PyDict>()
        && !value.is_instance_of::<PySet>()
        && !value.is_instance_of::<PyFrozenSet>();
    let elements = if is_list { value.try_iter().ok() } else { None };
    elements.ok_or_else(|| input(format!("{what} must be a list, not {}", short_repr(value))))?.collect()
}

/// A value's `repr` on one line, shortened for messages.
pub(crate) fn short_repr(value: &Bound<'_, PyAny>) -> String {
    let Ok(text) = value.repr() else { return "a value without `repr`".into() };
    let text = text.to_string_lossy();
    let mut line: String = text.chars().take(MAX_REPR).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > MAX_REPR {
        line.push('…');
    }
    line
}
