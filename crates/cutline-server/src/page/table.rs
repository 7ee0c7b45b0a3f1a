//! The table of arms: which arms, in which order, and the addresses that change it. Everything is in the address of the page.

use super::numbers::{count, maybe, number, percent};
use crate::problem::Problem;
use crate::routes::campaigns::escaped;
use crate::routes::verdicts::{AllVerdicts, VerdictQuery};
use crate::state::AppState;
use cutline_campaign::VerdictRow;
use serde::Deserialize;

/// How many arms a page shows.
const PER_PAGE: usize = 50;

/// The order of the arms if none is asked for.
const SORT: &str = "-mean";

/// The doubts by which arms can be filtered.
const DOUBTS: [(&str, &str); 4] =
    [("", "any doubt"), ("0.01", "at least 1 %"), ("0.05", "at least 5 %"), ("0.2", "at least 20 %")];
const SIDES: [(&str, &str); 4] = [("", "any side"), ("above", "above"), ("below", "below"), ("undecided", "undecided")];
const MEASURED: [(&str, &str); 3] = [("", "measured or not"), ("true", "measured"), ("false", "not measured")];

/// What is after the question mark in the address of a campaign's page. Empty texts are those of fields that were left empty.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct TableQuery {
    search: Option<String>,
    side: Option<String>,
    measured: Option<String>,
    doubt: Option<String>,
    sort: Option<String>,
    page: Option<String>,
    /// What was just done, as a word.
    pub(super) notice: Option<String>,
}

fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

impl TableQuery {
    fn sort(&self) -> &str {
        given(self.sort.as_ref()).unwrap_or(SORT)
    }

    fn page(&self) -> usize {
        given(self.page.as_ref()).and_then(|page| page.parse().ok()).unwrap_or(1).max(1)
    }

    /// The same as a query to the API.
    fn verdicts(&self) -> Result<VerdictQuery, Problem> {
        let refused = |what: &str, text: &str| Problem::Refused(format!("`{what}` cannot be `{text}`"));
        let measured = given(self.measured.as_ref());
        let doubt = given(self.doubt.as_ref());
        Ok(VerdictQuery {
            side: given(self.side.as_ref()).map(str::to_owned),
            basis: None,
            search: given(self.search.as_ref()).map(str::to_owned),
            measured: measured.map(|text| text.parse().map_err(|_| refused("measured", text))).transpose()?,
            withdrawn: None,
            min_doubt: doubt.map(|text| text.parse().map_err(|_| refused("doubt", text))).transpose()?,
            sort: Some(self.sort().to_owned()),
            confidence: None,
            offset: Some((self.page() - 1).saturating_mul(PER_PAGE)),
            limit: Some(PER_PAGE),
        })
    }

    /// The address of the same table with another order or page, relative to the page.
    fn address(&self, sort: &str, page: usize) -> String {
        let filters =
            [("search", &self.search), ("side", &self.side), ("measured", &self.measured), ("doubt", &self.doubt)];
        let mut parts: Vec<String> = filters
            .iter()
            .filter_map(|(key, text)| Some(format!("{key}={}", escaped(given(text.as_ref())?))))
            .collect();
        if sort != SORT {
            parts.push(format!("sort={sort}"));
        }
        if page > 1 {
            parts.push(format!("page={page}"));
        }
        format!("?{}#arms", parts.join("&"))
    }
}

/// A choice of a filter.
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) label: &'static str,
    pub(super) is_chosen: bool,
}

fn choices(all: &[(&'static str, &'static str)], chosen: Option<&String>) -> Vec<Choice> {
    let chosen = given(chosen).unwrap_or_default();
    all.iter().map(|&(value, label)| Choice { value, label, is_chosen: value == chosen }).collect()
}

/// The header of a column.
pub(super) struct Header {
    pub(super) label: &'static str,
    pub(super) class: &'static str,
    /// The address that sorts by it; `None` if it cannot.
    pub(super) address: Option<String>,
    /// The value of `aria-sort`, if the table is sorted by it.
    pub(super) sorted: Option<&'static str>,
}

/// A row of the table.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) index: usize,
    pub(super) side: &'static str,
    pub(super) basis: Option<&'static str>,
    pub(super) mean: String,
    pub(super) interval: String,
    pub(super) own_mean: String,
    pub(super) pulls: String,
    pub(super) doubt: String,
    pub(super) probability_above: String,
    pub(super) evidence: String,
    pub(super) withdrawn: bool,
}

impl From<VerdictRow> for Row {
    fn from(body: VerdictRow) -> Self {
        Self {
            interval: interval(body.lower, body.upper),
            mean: maybe(body.mean),
            own_mean: maybe(body.own_mean),
            pulls: count(body.pulls),
            doubt: percent(body.doubt),
            probability_above: percent(body.probability_above),
            evidence: body.evidence.map_or_else(|| "∞".into(), number),
            basis: body.basis.map(cutline::Basis::name),
            name: body.arm,
            index: body.index,
            side: body.side.name(),
            withdrawn: body.withdrawn,
        }
    }
}

/// An interval in words.
pub(super) fn interval(lower: Option<f64>, upper: Option<f64>) -> String {
    match (lower, upper) {
        (None, None) => "unknown".into(),
        (lower, upper) => {
            let end = |end: Option<f64>, open: &str| end.map_or_else(|| open.to_owned(), number);
            format!("{} to {}", end(lower, "−∞"), end(upper, "∞"))
        }
    }
}

/// The table of arms.
pub(super) struct ArmTable {
    pub(super) search: String,
    pub(super) sort: String,
    pub(super) sides: Vec<Choice>,
    pub(super) measured: Vec<Choice>,
    pub(super) doubts: Vec<Choice>,
    pub(super) headers: Vec<Header>,
    pub(super) rows: Vec<Row>,
    pub(super) total: String,
    /// The first and the last of the shown arms, from 1.
    pub(super) shown: Option<(String, String)>,
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
    pub(super) is_filtered: bool,
}

impl ArmTable {
    pub(super) fn new(state: &AppState, all: &AllVerdicts, query: &TableQuery) -> Result<Self, Problem> {
        let verdicts = query.verdicts()?;
        let found = all.page(state, &verdicts)?;
        let offset = verdicts.offset.unwrap_or(0);
        let shown = (!found.verdicts.is_empty()).then(|| (count(offset + 1), count(offset + found.verdicts.len())));
        let (sort, page) = (query.sort(), query.page());
        let is_filtered = [&query.search, &query.side, &query.measured, &query.doubt]
            .into_iter()
            .any(|text| given(text.as_ref()).is_some());
        Ok(Self {
            search: query.search.clone().unwrap_or_default(),
            sides: choices(&SIDES, query.side.as_ref()),
            measured: choices(&MEASURED, query.measured.as_ref()),
            doubts: choices(&DOUBTS, query.doubt.as_ref()),
            headers: headers(query),
            previous: (page > 1).then(|| query.address(sort, page - 1)),
            next: (offset + PER_PAGE < found.total).then(|| query.address(sort, page + 1)),
            sort: sort.to_owned(),
            total: count(found.total),
            rows: found.verdicts.into_iter().map(Row::from).collect(),
            shown,
            is_filtered,
        })
    }
}

/// The columns, and by which key of the API each is sorted; numbers the largest first.
const COLUMNS: [(&str, &str, &str); 9] = [
    ("Arm", "", "name"),
    ("Side", "", ""),
    ("Mean", "number", "-mean"),
    ("Interval", "number", ""),
    ("Own mean", "number", ""),
    ("Count", "number", "-pulls"),
    ("Doubt", "number", "-doubt"),
    ("Above", "number wide", ""),
    ("Evidence", "number wide", ""),
];

fn headers(query: &TableQuery) -> Vec<Header> {
    let sort = query.sort();
    let header = |&(label, class, key): &(&'static str, &'static str, &'static str)| {
        let column = key.trim_start_matches('-');
        let is_sorted = !key.is_empty() && sort.trim_start_matches('-') == column;
        let opposite = match sort.strip_prefix('-') {
            Some(column) => column.to_owned(),
            None => format!("-{sort}"),
        };
        let target = if is_sorted { opposite } else { key.to_owned() };
        let direction = if sort.starts_with('-') { "descending" } else { "ascending" };
        let address = (!key.is_empty()).then(|| query.address(&target, 1));
        Header { label, class, address, sorted: is_sorted.then_some(direction) }
    };
    COLUMNS.iter().map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_in_the_address() {
        let query = TableQuery {
            search: Some("a&b".into()),
            side: Some("above".into()),
            measured: Some(String::new()),
            ..TableQuery::default()
        };
        assert_eq!(query.address("-mean", 1), "?search=a%26b&side=above#arms");
        assert_eq!(query.address("name", 3), "?search=a%26b&side=above&sort=name&page=3#arms");
        let found = headers(&query);
        assert_eq!(found[2].sorted, Some("descending"));
        assert_eq!(found[2].address.as_deref(), Some("?search=a%26b&side=above&sort=mean#arms"));
        assert_eq!((found[0].sorted, found[1].address.as_deref()), (None, None));
    }

    #[test]
    fn bad_filters_are_refused() {
        let bad = TableQuery { doubt: Some("much".into()), ..TableQuery::default() };
        assert_eq!(bad.verdicts().unwrap_err().to_string(), "`doubt` cannot be `much`");
        let good = TableQuery { doubt: Some("0.05".into()), page: Some("3".into()), ..TableQuery::default() };
        let good = good.verdicts().unwrap();
        assert_eq!((good.min_doubt, good.offset, good.measured), (Some(0.05), Some(100), None));
    }
}
