//! What Python gives, checked: every complaint says what was wanted and what was there.

use crate::errors::{ErrorKind, input};
use cutline::Arm;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The most characters of a value that are shown.
const SHOWN: usize = 60;

/// A number. What range it has to be in is for others to say.
pub(crate) fn number(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    value.extract().map_err(|_| input(format!("{what} must be a number, not {}", shown(value))))
}

/// A whole number from `least` to `most`.
pub(crate) fn whole(value: &Bound<'_, PyAny>, what: &str, least: u64, most: u64) -> PyResult<u64> {
    let number = value.extract::<u64>().ok().filter(|number| (least..=most).contains(number));
    number
        .ok_or_else(|| input(format!("{what} must be a whole number between {least} and {most}, not {}", shown(value))))
}

/// An arm, by its number or by a name that `find` knows.
pub(crate) fn arm(value: &Bound<'_, PyAny>, find: impl FnOnce(&str) -> Option<Arm>) -> PyResult<Arm> {
    if let Ok(name) = value.cast::<PyString>() {
        let name = text(name, "the name of an arm")?;
        return find(&name).ok_or_else(|| ErrorKind::NotFound.error(format!("there is no arm `{name}`")));
    }
    value.extract().map_err(|_| input(format!("an arm is a number from 0 or a name, not {}", shown(value))))
}

/// A text.
pub(crate) fn text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    value.extract().map_err(|_| input(format!("{what} must be a text, not {}", shown(value))))
}

/// A list of texts.
pub(crate) fn texts(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<String>> {
    each(value, what)?.iter().map(|value| text(value, what)).collect()
}

/// The elements of anything that has some, but for a text.
pub(crate) fn each<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let is_list = !value.is_instance_of::<PyString>();
    let elements = if is_list { value.try_iter().ok() } else { None };
    elements.ok_or_else(|| input(format!("{what} must be a list, not {}", shown(value))))?.collect()
}

/// A value as Python writes it, in one line.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(text) = value.repr() else { return "what it is".into() };
    let text = text.to_string_lossy();
    let mut line: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > SHOWN {
        line.push('…');
    }
    line
}
