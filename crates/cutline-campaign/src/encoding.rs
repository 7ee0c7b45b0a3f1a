//! How the columns of a table become features: numbers as they are, missing numbers filled in, categories as indicators.

/// How each column of a table becomes features, so that a later table is read in the same way. Readers make it from the first table;
/// campaigns keep it.
///
/// | values of the column `c` | features |
/// |---|---|
/// | numbers | `c` |
/// | numbers, some of them missing | `c`, with the mean in place of what is missing, and `c missing`: 1 where it is missing, otherwise 0 |
/// | a category | one per level, `c=level`: 1 at that level, otherwise 0; and `c missing` if some values are missing |
///
/// ```
/// use cutline_campaign::{ColumnValues, EncodedColumn, Encoding};
///
/// let values = ColumnValues::Category { levels: vec!["f".into(), "m".into()], has_missing: true };
/// let encoding = Encoding { id: None, columns: vec![EncodedColumn { name: "sex".into(), values }] };
/// assert_eq!(encoding.features(), ["sex=f", "sex=m", "sex missing"]);
/// assert!(!encoding.is_plain());
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// The column with the names of the candidates, if it was chosen; `None` for the default, the column `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The columns that are features, in the order of the features.
    pub columns: Vec<EncodedColumn>,
}

/// One column of an [`Encoding`].
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodedColumn {
    /// Its name in the table.
    pub name: String,
    /// What it holds.
    pub values: ColumnValues,
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum ColumnValues {
    /// Numbers.
    Number,
    /// Numbers, some of them missing.
    Filled {
        /// The number in place of a missing one: the mean of the others in the first table.
        mean: f64,
    },
    /// Text or numbers of which only equality matters.
    Category {
        /// The values of the first table, sorted.
        levels: Vec<String>,
        /// Whether some values of the first table are missing.
        has_missing: bool,
    },
}

impl Encoding {
    /// The encoding of columns that all hold numbers, with the names of the candidates in the column `name`.
    #[must_use]
    pub fn numbers(columns: &[String]) -> Self {
        let column = |name: &String| EncodedColumn { name: name.clone(), values: ColumnValues::Number };
        Self { id: None, columns: columns.iter().map(column).collect() }
    }

    /// Whether the features are the columns themselves, and the names in the column `name`: it is then the same as
    /// [`Encoding::numbers`] of the features.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.id.is_none() && self.columns.iter().all(|column| column.values == ColumnValues::Number)
    }

    /// The names of the features.
    #[must_use]
    pub fn features(&self) -> Vec<String> {
        self.columns.iter().flat_map(EncodedColumn::features).collect()
    }
}

impl EncodedColumn {
    /// The names of the features that the column becomes.
    #[must_use]
    pub fn features(&self) -> Vec<String> {
        let Self { name, values } = self;
        let missing = || format!("{name} missing");
        match values {
            ColumnValues::Number => vec![name.clone()],
            ColumnValues::Filled { .. } => vec![name.clone(), missing()],
            ColumnValues::Category { levels, has_missing } => {
                let levels = levels.iter().map(|level| format!("{name}={level}"));
                levels.chain(has_missing.then(missing)).collect()
            }
        }
    }
}
