//! Strict reading of TOML: every error names the line, the key and what is allowed.

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

/// A table whose keys are read one by one; [`Keys::finish`] refuses those that were never read.
pub(crate) struct Keys<'a> {
    text: &'a str,
    /// The name of the table in error messages.
    place: String,
    start: usize,
    table: &'a DeTable<'a>,
    read: RefCell<Vec<&'static str>>,
    /// The table that has the values of keys missing here.
    defaults: Option<Box<Keys<'a>>>,
}

/// A value with its key and its position in the file.
pub(crate) struct Field<'a> {
    text: &'a str,
    key: String,
    start: usize,
    value: &'a DeValue<'a>,
}

/// Parses a document. Of several errors it reports the first: the others often follow from it.
pub(crate) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, FileError> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let Some(error) = errors.into_iter().min_by_key(start) else { return Ok(document) };
    let message = error.message().replace('\n', ", ");
    let line = || text.get(..start(&error)).unwrap_or(text).matches('\n').count();
    let culprit = error.span().and_then(|span| text.get(span)?.lines().next()).filter(|culprit| !culprit.is_empty());
    let culprit = culprit.or_else(|| text.lines().nth(line())).unwrap_or_default().trim();
    let message = if culprit.is_empty() { message } else { format!("{message}: `{culprit}`") };
    Err(at(text, start(&error), &message))
}

/// An error about the byte at `start`. Control characters in the message are escaped, so that it is one line.
fn at(text: &str, start: usize, message: &str) -> FileError {
    let line = text.get(..start).unwrap_or(text).matches('\n').count() + 1;
    let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    FileError { line, message: message.chars().map(escaped).collect() }
}

/// The text of a file, if it is UTF-8.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, FileError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (good, _) = bytes.split_at(error.valid_up_to());
        at(&String::from_utf8_lossy(good), good.len(), "the file must be UTF-8, and this line is not")
    })
}

impl<'a> Keys<'a> {
    pub(crate) fn new(text: &'a str, table: &'a DeTable<'a>) -> Self {
        Self { text, place: "the file".into(), start: 0, table, read: RefCell::default(), defaults: None }
    }

    /// The same table, with the values of `defaults` for the keys that it lacks.
    pub(crate) fn or(self, defaults: Self) -> Self {
        Self { defaults: Some(Box::new(defaults)), ..self }
    }

    /// The value of `key`, if it has one.
    pub(crate) fn get(&self, key: &'static str) -> Option<Field<'a>> {
        let [default, own] = self.layers(key);
        own.or(default)
    }

    /// The value of `key` in the defaults and that in the table itself.
    fn layers(&self, key: &'static str) -> [Option<Field<'a>>; 2] {
        let mut read = self.read.borrow_mut();
        if !read.contains(&key) {
            read.push(key);
        }
        let own = self.table.iter().find(|(found, _)| found.get_ref().as_ref() == key).map(|(found, value)| {
            let start = found.span().start;
            Field { text: self.text, key: key.into(), start, value: value.get_ref() }
        });
        [self.defaults.as_ref().and_then(|defaults| defaults.get(key)), own]
    }

    /// The elements of the list `key`: those of the defaults, then those of the table itself.
    pub(crate) fn lists(&self, key: &'static str) -> Result<Vec<Field<'a>>, FileError> {
        let lists = self.layers(key).into_iter().flatten().map(|field| field.list());
        Ok(lists.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The keys of the table `key`, which has to be there, with those of the same table in the defaults for the keys that it
    /// lacks. In error messages it is `[key]`, and `[variant.key]` above defaults.
    pub(crate) fn need_table(&self, key: &'static str) -> Result<Self, FileError> {
        let (place, nested_place) = (format!("[{key}]"), format!("[variant.{key}]"));
        match self.layers(key) {
            [None, None] => Err(self.missing(key)),
            [Some(default), None] => default.keys(&place),
            [None, Some(own)] => own.keys(if self.defaults.is_some() { &nested_place } else { &place }),
            [Some(default), Some(own)] => Ok(own.keys(&nested_place)?.or(default.keys(&place)?)),
        }
    }

    /// The value of `key`, which has to be there.
    pub(crate) fn need(&self, key: &'static str) -> Result<Field<'a>, FileError> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &str) -> FileError {
        if let Some(defaults) = &self.defaults {
            let message = format!("{} needs the key `{key}`, which {} lacks too", self.place, defaults.place);
            return at(self.text, self.start, &message);
        }
        let mut found: Vec<&Spanned<_>> = self.table.iter().map(|(key, _)| key).collect();
        found.sort_by_key(|key| key.span().start);
        let found = quoted(found.iter().map(|key| key.get_ref()));
        at(self.text, self.start, &format!("{} needs the key `{key}`; it has {found}", self.place))
    }

    /// The table of defaults, or this one if it has none.
    pub(crate) fn bottom(&self) -> &Self {
        self.defaults.as_deref().unwrap_or(self)
    }

    /// Refuses keys that were not read.
    pub(crate) fn finish(&self) -> Result<(), FileError> {
        if let Some(defaults) = &self.defaults {
            defaults.finish()?;
        }
        let read = self.read.borrow();
        let unknown = self.table.iter().filter(|(key, _)| !read.iter().any(|read| key.get_ref() == read));
        let Some((key, _)) = unknown.min_by_key(|(key, _)| key.span().start) else { return Ok(()) };
        let known = quoted(read.iter());
        let message = format!("unknown key `{}` in {}; allowed are {known}", key.get_ref(), self.place);
        Err(at(self.text, key.span().start, &message))
    }
}

fn quoted(names: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

impl<'a> Field<'a> {
    /// An error about this value: "`key` " and then `message`.
    pub(crate) fn error(&self, message: impl std::fmt::Display) -> FileError {
        at(self.text, self.start, &format!("`{}` {message}", self.key))
    }

    /// The error of a constructor that refused this value.
    pub(crate) fn refused(&self, error: impl std::fmt::Display) -> FileError {
        self.error(format!("is refused: {error}"))
    }

    pub(crate) fn is_not(&self, wanted: &str) -> FileError {
        let found = match self.value {
            DeValue::String(text) => format!("the text \"{text}\""),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            other => format!("a value of type {}", other.type_str()),
        };
        self.error(format!("must be {wanted}, not {found}"))
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

    /// A text that is printed as a name.
    pub(crate) fn title(&self) -> Result<&'a str, FileError> {
        let title = self.text()?;
        let is_line = !title.trim().is_empty() && !title.contains(char::is_control);
        if is_line { Ok(title) } else { Err(self.is_not("one line of text, without control characters")) }
    }

    /// A text that is one of `choices`.
    pub(crate) fn choice<T: Clone>(&self, choices: &[(&str, T)]) -> Result<T, FileError> {
        let found = self.value.as_str().and_then(|text| choices.iter().find(|(name, _)| *name == text));
        found.map(|(_, choice)| choice.clone()).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let one_of = if names.len() == 1 { "" } else { "one of " };
            self.is_not(&format!("{one_of}{}", names.join(", ")))
        })
    }

    pub(crate) fn is_text(&self) -> bool {
        self.value.is_str()
    }

    pub(crate) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    pub(crate) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// The elements of a list, each under the list's key.
    pub(crate) fn list(&self) -> Result<Vec<Field<'a>>, FileError> {
        let wanted = if self.is_table() { format!("a list, [[{}]]", self.key) } else { "a list".into() };
        let list = self.value.as_array().ok_or_else(|| self.is_not(&wanted))?;
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

    /// The keys of a table, called `place` in error messages.
    pub(crate) fn keys(&self, place: &str) -> Result<Keys<'a>, FileError> {
        let table = self.value.as_table().ok_or_else(|| self.is_not("a table"))?;
        Ok(Keys {
            text: self.text,
            place: place.into(),
            start: self.start,
            table,
            read: RefCell::default(),
            defaults: None,
        })
    }
}
