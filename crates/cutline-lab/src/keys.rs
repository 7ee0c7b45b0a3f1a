//! Strict reading of TOML: every complaint names the line, the key and what is allowed.

use std::cell::RefCell;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a file, and where. Lines count from 1.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{line}: {message}")]
pub struct FileError {
    /// The line.
    pub line: usize,
    /// What is wrong, and what is allowed.
    pub message: String,
}

/// A table whose keys are taken one by one; [`Keys::finish`] refuses those nobody asked for.
pub(crate) struct Keys<'a> {
    text: &'a str,
    /// How the file calls the table.
    place: String,
    start: usize,
    table: &'a DeTable<'a>,
    asked: RefCell<Vec<&'static str>>,
}

/// A value with its key and place.
pub(crate) struct Field<'a> {
    text: &'a str,
    key: String,
    start: usize,
    value: &'a DeValue<'a>,
}

/// Parses a document.
pub(crate) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, FileError> {
    DeTable::parse(text).map_err(|error| {
        let message = error.message().replace('\n', ", ");
        at(text, error.span().map_or(0, |span| span.start), message)
    })
}

fn at(text: &str, start: usize, message: String) -> FileError {
    let line = text.get(..start).unwrap_or(text).matches('\n').count() + 1;
    FileError { line, message }
}

impl<'a> Keys<'a> {
    pub(crate) fn new(text: &'a str, table: &'a DeTable<'a>) -> Self {
        Self { text, place: "the file".into(), start: 0, table, asked: RefCell::default() }
    }

    /// The value of `key`, if it is there.
    pub(crate) fn get(&self, key: &'static str) -> Option<Field<'a>> {
        self.asked.borrow_mut().push(key);
        let (found, value) = self.table.iter().find(|(found, _)| found.get_ref().as_ref() == key)?;
        let start = found.span().start;
        Some(Field { text: self.text, key: key.into(), start, value: value.get_ref() })
    }

    /// The value of `key`, which has to be there.
    pub(crate) fn need(&self, key: &'static str) -> Result<Field<'a>, FileError> {
        self.get(key).ok_or_else(|| self.error(format!("{} needs the key `{key}`", self.place)))
    }

    /// Refuses keys that nobody asked for.
    pub(crate) fn finish(&self) -> Result<(), FileError> {
        let asked = self.asked.borrow();
        let unknown = self.table.iter().filter(|(key, _)| !asked.iter().any(|asked| key.get_ref() == asked));
        let Some((key, _)) = unknown.min_by_key(|(key, _)| key.span().start) else { return Ok(()) };
        let known: Vec<String> = asked.iter().map(|key| format!("`{key}`")).collect();
        let message = format!("unknown key `{}` in {}; allowed are {}", key.get_ref(), self.place, known.join(", "));
        Err(at(self.text, key.span().start, message))
    }

    /// A complaint about the table as a whole.
    pub(crate) fn error(&self, message: String) -> FileError {
        at(self.text, self.start, message)
    }
}

impl<'a> Field<'a> {
    /// A complaint about this value: "`key` " and then `message`.
    pub(crate) fn error(&self, message: impl std::fmt::Display) -> FileError {
        at(self.text, self.start, format!("`{}` {message}", self.key))
    }

    fn is_not(&self, wanted: &str) -> FileError {
        let shown = match self.value {
            DeValue::String(text) => format!("the text \"{text}\""),
            DeValue::Integer(number) => number.as_str().into(),
            DeValue::Float(number) => number.as_str().into(),
            other => format!("a value of type {}", other.type_str()),
        };
        self.error(format!("must be {wanted}, not {shown}"))
    }

    pub(crate) fn number(&self) -> Result<f64, FileError> {
        let parsed = match self.value {
            DeValue::Float(number) => number.as_str().replace('_', "").parse().ok(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().replace('_', "").parse().ok(),
            _ => None,
        };
        parsed.filter(|number: &f64| number.is_finite()).ok_or_else(|| self.is_not("a finite number"))
    }

    /// A whole number from `least` to `most`.
    pub(crate) fn whole(&self, least: u64, most: u64) -> Result<u64, FileError> {
        let parsed = match self.value {
            DeValue::Integer(number) => u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok(),
            _ => None,
        };
        let parsed = parsed.filter(|number| (least..=most).contains(number));
        parsed.ok_or_else(|| self.is_not(&format!("a whole number between {least} and {most}")))
    }

    pub(crate) fn flag(&self) -> Result<bool, FileError> {
        self.value.as_bool().ok_or_else(|| self.is_not("true or false"))
    }

    pub(crate) fn text(&self) -> Result<&'a str, FileError> {
        self.value.as_str().ok_or_else(|| self.is_not("a text in quotes"))
    }

    /// A text that is one of `choices`.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, FileError> {
        let found = self.value.as_str().and_then(|text| choices.iter().find(|(name, _)| *name == text));
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.is_not(&format!("one of {}", names.join(", ")))
        })
    }

    pub(crate) fn is_text(&self) -> bool {
        self.value.is_str()
    }

    pub(crate) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// The elements of a list, each under the list's key.
    pub(crate) fn list(&self) -> Result<Vec<Field<'a>>, FileError> {
        let list = self.value.as_array().ok_or_else(|| self.is_not("a list"))?;
        let element = |value: &'a Spanned<DeValue<'a>>| Field {
            text: self.text,
            key: self.key.clone(),
            start: value.span().start,
            value: value.get_ref(),
        };
        Ok(list.iter().map(element).collect())
    }

    pub(crate) fn numbers(&self) -> Result<Vec<f64>, FileError> {
        self.list()?.iter().map(Field::number).collect()
    }

    /// The keys of a table, called `place` in complaints.
    pub(crate) fn keys(&self, place: &str) -> Result<Keys<'a>, FileError> {
        let table = self.value.as_table().ok_or_else(|| self.is_not("a table"))?;
        Ok(Keys { text: self.text, place: place.into(), start: self.start, table, asked: RefCell::default() })
    }
}
