//! What each column of a file is: names, a feature, or ignored.

use super::DatasetError;
use super::error::shortened;
use std::collections::HashMap;

/// The role of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    /// It holds the names.
    Name,
    /// It is the feature with this number.
    Feature(usize),
    /// It is ignored.
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
    /// The features are the columns in `chosen`, in that order, or else all columns but the names.
    pub(super) fn new(header: Vec<String>, chosen: Option<&[String]>) -> Result<Self, DatasetError> {
        let is_name = |column: &String| column.eq_ignore_ascii_case("name");
        let name = header.iter().position(is_name);
        let mut positions = HashMap::with_capacity(header.len());
        for (position, column) in header.iter().enumerate() {
            let key = if is_name(column) { "name" } else { column };
            if let Some(first) = positions.insert(key, position) {
                let (first, second) = (first + 1, position + 1);
                return Err(DatasetError::SameColumn { column: shortened(column), first, second });
            }
        }
        let mut roles = vec![Role::None; header.len()];
        let features: Vec<String> = match chosen {
            None => header.iter().filter(|column| !is_name(column)).cloned().collect(),
            Some(chosen) => chosen.to_vec(),
        };
        for (feature, column) in features.iter().enumerate() {
            let Some(&position) = positions.get(column.as_str()).filter(|&&position| Some(position) != name) else {
                return Err(match name {
                    Some(name) if is_name(column) => DatasetError::NamesAsFeature(header[name].clone()),
                    _ => DatasetError::NoColumn { column: shortened(column), columns: list(&header) },
                });
            };
            if roles[position] != Role::None {
                return Err(DatasetError::RequestedTwice(shortened(column)));
            }
            roles[position] = Role::Feature(feature);
        }
        if let Some(name) = name {
            roles[name] = Role::Name;
        }
        Ok(Self { header, roles, features })
    }
}

/// The columns that can be features, as a sentence of a message.
fn list(header: &[String]) -> String {
    const MAX_LISTED: usize = 30;
    let columns: Vec<&String> = header.iter().filter(|column| !column.eq_ignore_ascii_case("name")).collect();
    let quoted: Vec<String> =
        columns.iter().take(MAX_LISTED).map(|column| format!("`{}`", shortened(column))).collect();
    match columns.len() {
        0 => "the file has no columns but the names".into(),
        n if n > MAX_LISTED => format!("the columns are {} and {} more", quoted.join(", "), n - MAX_LISTED),
        _ => format!("the columns are {}", quoted.join(", ")),
    }
}
