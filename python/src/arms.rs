//! Which arm a Python value means: a string is a name; an integer is a name where the names are numbers, and otherwise a position.

use crate::convert::{short_repr, string};
use crate::errors::{ErrorKind, input};
use cutline::Arm;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The names of some arms, with what is needed to look arms up.
///
/// It depends on the names alone, so a campaign that was pickled or opened from a store reads integers as the first one did.
pub(crate) struct ArmNames {
    names: Vec<String>,
    // Both cost O(K), so they are computed on first use.
    by_name: OnceLock<HashMap<String, Arm>>,
    integers: OnceLock<IntegerMeaning>,
}

/// What an integer means as an arm.
#[derive(Clone, Copy, Debug)]
enum IntegerMeaning {
    /// A position from 0: no name is a number, or the names are the positions themselves.
    Position,
    /// A name: all names are numbers.
    Name,
    /// A name or a position: some names are numbers. Only allowed where both mean the same arm.
    Ambiguous,
}

impl IntegerMeaning {
    fn of(names: &[String]) -> Self {
        if names.iter().enumerate().all(|(position, name)| *name == position.to_string()) {
            return Self::Position;
        }
        match names.iter().filter(|name| is_number(name)).count() {
            0 => Self::Position,
            n if n == names.len() => Self::Name,
            _ => Self::Ambiguous,
        }
    }
}

/// Whether a name reads as a number, such as `7`, `007`, `-7` or `7.0`.
fn is_number(name: &str) -> bool {
    // Rust parses `inf` and `nan` too, which are words here.
    let starts_as_one = name.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    starts_as_one && name.parse::<f64>().is_ok()
}

impl ArmNames {
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self { names, by_name: OnceLock::new(), integers: OnceLock::new() }
    }

    /// The names in the order of the arms.
    pub(crate) fn as_slice(&self) -> &[String] {
        &self.names
    }

    /// The arm that a Python value means.
    pub(crate) fn find(&self, value: &Bound<'_, PyAny>) -> PyResult<Arm> {
        if let Ok(name) = value.cast::<PyString>() {
            let name = string(name, "the name of an arm")?;
            return self.named(&name).ok_or_else(|| ErrorKind::NotFound.error(format!("there is no arm `{name}`")));
        }
        let invalid = || input(format!("an arm must be a name or a position from 0, not {}", short_repr(value)));
        if value.is_instance_of::<PyBool>() {
            return Err(invalid());
        }
        let integer = match value.extract::<i64>() {
            Ok(integer) => i128::from(integer),
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
                let missing = || ErrorKind::NotFound.error(format!("there is no arm {}", short_repr(value)));
                value.extract::<u64>().map_err(|_| missing())?.into()
            }
            Err(_) => return Err(invalid()),
        };
        match self.integers.get_or_init(|| IntegerMeaning::of(&self.names)) {
            IntegerMeaning::Position if integer < 0 => Err(invalid()),
            IntegerMeaning::Position => self.at(integer).ok_or_else(|| {
                let last = self.names.len() - 1;
                ErrorKind::NotFound.error(format!("there is no arm {integer}; arms are numbered from 0 to {last}"))
            }),
            IntegerMeaning::Name => self.named(&integer.to_string()).ok_or_else(|| {
                let message = "the names of these arms are numbers, so an integer is a name, not a position";
                ErrorKind::NotFound.error(format!("there is no arm called `{integer}`; {message}"))
            }),
            IntegerMeaning::Ambiguous => {
                let position = self.at(integer);
                position.filter(|_| position == self.named(&integer.to_string())).ok_or_else(|| {
                    let message = "some names of these arms are numbers, so it could be a name or a position";
                    input(format!("the arm {integer} is ambiguous: {message}; give the name as a string"))
                })
            }
        }
    }

    fn named(&self, name: &str) -> Option<Arm> {
        let by_name = || self.names.iter().cloned().zip(0..).collect();
        self.by_name.get_or_init(by_name).get(name).copied()
    }

    fn at(&self, position: i128) -> Option<Arm> {
        usize::try_from(position).ok().filter(|&position| position < self.names.len())
    }
}
