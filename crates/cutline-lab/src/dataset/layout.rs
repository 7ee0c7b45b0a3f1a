//! What the columns of a file are: names, features, or passed over.

use super::DatasetError;
use super::error::shown;
use std::collections::HashMap;

/// What is done with a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    /// It holds the names.
    Name,
    /// It is the feature of this number.
    Feature(usize),
    /// It is passed over.
    None,
}

/// The columns of a file, in its order.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) header: Vec<String>,
    pub(super) roles: Vec<Role>,
    /// The names of the features, in their order.
    pub(super) features: Vec<String>,
}

impl Layout {
    /// All columns but the names are features, or those that are asked for, in the order in which they are.
    pub(super) fn new(header: Vec<String>, asked: Option<&[String]>) -> Result<Self, DatasetError> {
        let is_name = |column: &String| column.eq_ignore_ascii_case("name");
        let name = header.iter().position(is_name);
        let mut positions = HashMap::with_capacity(header.len());
        for (position, column) in header.iter().enumerate() {
            let key = if is_name(column) { "name" } else { column };
            if let Some(first) = positions.insert(key, position) {
                let (first, second) = (first + 1, position + 1);
                return Err(DatasetError::SameColumn { column: shown(column), first, second });
            }
        }
        let mut roles = vec![Role::None; header.len()];
        let features: Vec<String> = match asked {
            None => header.iter().filter(|column| !is_name(column)).cloned().collect(),
            Some(asked) => asked.to_vec(),
        };
        for (feature, column) in features.iter().enumerate() {
            let Some(&position) = positions.get(column.as_str()).filter(|&&position| Some(position) != name) else {
                return Err(match name {
                    Some(name) if is_name(column) => DatasetError::NamesAsked(header[name].clone()),
                    _ => DatasetError::NoColumn { column: shown(column), columns: list(&header) },
                });
            };
            if roles[position] != Role::None {
                return Err(DatasetError::AskedTwice(shown(column)));
            }
            roles[position] = Role::Feature(feature);
        }
        if let Some(name) = name {
            roles[name] = Role::Name;
        }
        Ok(Self { header, roles, features })
    }
}

/// The columns that can be features, as a message lists them.
fn list(header: &[String]) -> String {
    const MOST: usize = 30;
    let columns: Vec<&String> = header.iter().filter(|column| !column.eq_ignore_ascii_case("name")).collect();
    let quoted: Vec<String> = columns.iter().take(MOST).map(|column| format!("`{}`", shown(column))).collect();
    match columns.len() {
        0 => "none but names".into(),
        n if n > MOST => format!("{} and {} more", quoted.join(", "), n - MOST),
        _ => quoted.join(", "),
    }
}
