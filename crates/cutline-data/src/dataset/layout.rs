//! What each column of a file is: names, a feature, or ignored.

use super::DatasetError;
use super::error::shortened;
use super::options::ReadOptions;
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
    /// The features are the columns in `chosen`, in that order, or else all columns but the names. The names are in the column `id`, or
    /// else in `name`; with `id`, a column `name` is only read if it is chosen.
    pub(super) fn new(header: Vec<String>, chosen: Option<&[String]>, id: Option<&str>) -> Result<Self, DatasetError> {
        let is_name = |column: &String| column.eq_ignore_ascii_case("name");
        let name = match id {
            Some(id) => Some(header.iter().position(|column| column == id).ok_or_else(|| no_column(id, &header))?),
            None => header.iter().position(is_name),
        };
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
            None => {
                let others =
                    header.iter().enumerate().filter(|&(position, column)| Some(position) != name && !is_name(column));
                others.map(|(_, column)| column.clone()).collect()
            }
            Some(chosen) => chosen.to_vec(),
        };
        for (feature, column) in features.iter().enumerate() {
            let Some(&position) = positions.get(column.as_str()).filter(|&&position| Some(position) != name) else {
                return Err(match name {
                    Some(name) if header[name] == *column || (id.is_none() && is_name(column)) => {
                        DatasetError::NamesAsFeature(header[name].clone())
                    }
                    _ => no_column(column, &header),
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

    /// Which features are read as text: the chosen categories.
    pub(super) fn text_features(&self, options: &ReadOptions) -> Result<Vec<bool>, DatasetError> {
        for category in &options.categories {
            if !self.features.contains(category) {
                return Err(match self.header.iter().position(|column| column == category) {
                    None => no_column(category, &self.header),
                    Some(position) if self.roles[position] == Role::Name => {
                        DatasetError::NamesAsFeature(category.clone())
                    }
                    Some(_) => DatasetError::CategoryNotChosen(shortened(category)),
                });
            }
        }
        Ok(self.features.iter().map(|feature| options.categories.contains(feature)).collect())
    }
}

pub(super) fn no_column(column: &str, header: &[String]) -> DatasetError {
    DatasetError::NoColumn { column: shortened(column), columns: list(header) }
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
