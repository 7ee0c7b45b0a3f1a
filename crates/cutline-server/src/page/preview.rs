//! A table of candidates before anything is spent: how it is read, what is wrong with it, and what a budget would bring.

use super::numbers::{count, number};
use crate::problem::Problem;
use crate::routes::campaigns::escaped;
use crate::routes::new_campaign::TableQuery;
use crate::routes::plan::{before, cost_per_run};
use crate::state::AppState;
use bytes::Bytes;
use cutline_campaign::{Candidates, ColumnValues, Encoding, Plan};
use cutline_data::dataset;
use cutline_data::dataset::{Loaded, Source};
use cutline_report::{PlanReport, plan_figure};

/// How many columns and rows are shown.
const COLUMNS: usize = 40;
const SAMPLE_ROWS: usize = 5;
const SAMPLE_COLUMNS: usize = 8;

/// How many campaigns are simulated, by their size, and how many of them at once.
const RUNS: u64 = 40;
const FEWEST_RUNS: u64 = 8;
const AT_ONCE: u64 = 2;

/// The most multiplications of all of them: a few seconds.
const COST: f64 = 3e9;

/// How a table is read.
pub(super) struct Preview {
    /// What is wrong; then there is nothing else.
    pub(super) problems: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) arms: String,
    pub(super) names: &'static str,
    pub(super) columns: Vec<Column>,
    pub(super) more_columns: usize,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// A column of features.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) values: String,
}

impl Preview {
    /// How a table is read with these options.
    pub(super) fn new(table: Bytes, query: &TableQuery) -> Result<Self, Problem> {
        match dataset::load(&Source::Bytes(table), &query.options()?) {
            Ok(loaded) => Ok(Self::of(&loaded)),
            Err(error) => Ok(Self {
                problems: error
                    .to_string()
                    .lines()
                    .map(|line| line.trim().to_owned())
                    .filter(|line| !line.is_empty())
                    .collect(),
                notes: Vec::new(),
                arms: String::new(),
                names: "",
                columns: Vec::new(),
                more_columns: 0,
                header: Vec::new(),
                rows: Vec::new(),
            }),
        }
    }

    fn of(Loaded { candidates, has_names, encoding, notes, .. }: &Loaded) -> Self {
        let mut columns = columns(candidates, encoding.as_ref());
        let more_columns = columns.len().saturating_sub(COLUMNS);
        columns.truncate(COLUMNS);
        let header = candidates.columns().iter().take(SAMPLE_COLUMNS).cloned().collect();
        let row = |arm: usize| {
            let features = if candidates.has_features() { candidates.row(arm) } else { &[] };
            let numbers = features.iter().take(SAMPLE_COLUMNS).map(|&value| number(value));
            [candidates.names()[arm].clone()].into_iter().chain(numbers).collect()
        };
        Self {
            problems: Vec::new(),
            notes: notes.iter().map(ToString::to_string).collect(),
            arms: count(candidates.n_arms()),
            names: if *has_names {
                "Their names are in the table."
            } else {
                "They are called by their numbers from 0, because the table has no names."
            },
            columns,
            more_columns,
            header,
            rows: (0..candidates.n_arms().min(SAMPLE_ROWS)).map(row).collect(),
        }
    }
}

/// The columns of a table that became features.
fn columns(candidates: &Candidates, encoding: Option<&Encoding>) -> Vec<Column> {
    let plain = Encoding::numbers(candidates.columns());
    let encoding = encoding.unwrap_or(&plain);
    let mut first = 0;
    let mut columns = Vec::new();
    for column in &encoding.columns {
        let feature = first;
        first += column.features().len();
        let (kind, values) = match &column.values {
            ColumnValues::Category { levels, .. } => ("category", listed(levels)),
            _ => ("number", range(candidates, feature)),
        };
        columns.push(Column { name: column.name.clone(), kind, values });
    }
    columns
}

/// The first levels of a category.
fn listed(levels: &[String]) -> String {
    const SHOWN: usize = 6;
    let shown = levels.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if levels.len() > SHOWN { format!("{shown} and {} more", levels.len() - SHOWN) } else { shown }
}

/// The least and the largest value of a feature.
fn range(candidates: &Candidates, feature: usize) -> String {
    let n_features = candidates.columns().len();
    let values = candidates.features().iter().skip(feature).step_by(n_features.max(1));
    let ends =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| (least.min(value), most.max(value)));
    format!("{} to {}", number(ends.0), number(ends.1))
}

/// What a budget would bring.
pub(super) struct Prospect {
    pub(super) heading: String,
    pub(super) answers: Vec<String>,
    pub(super) remarks: Vec<String>,
    /// The figure as a data URL.
    pub(super) figure: String,
}

impl Prospect {
    /// Simulates the campaign that these settings begin.
    pub(super) fn new(table: Bytes, mut query: TableQuery, state: &AppState) -> Result<Self, Problem> {
        if !["threshold", "budget"].iter().all(|key| query.settings.contains_key(*key)) {
            return Err(Problem::Refused("enter a threshold and a budget to see what to expect".into()));
        }
        query.name = query.name.filter(|name| !name.is_empty()).or(Some("plan".into()));
        let (new, _) = query.campaign(table, state)?;
        let plan = before(new.name(), new.candidates().arms(), new.state(), RUNS)?;
        let report = simulate(plan, new.settings().budget)?;
        let svg = plan_figure(&report).to_svg();
        let without_code = |line: String| line.replace('`', "");
        let answers = report.answers().into_iter().map(without_code).map(|line| {
            let line = line.replace("The rest of the budget:", "With this budget:");
            line.replacen(" more measurement", " measurement", 1)
        });
        Ok(Self {
            heading: report.heading(),
            answers: answers.collect(),
            remarks: report.remarks().into_iter().map(without_code).collect(),
            figure: format!("data:image/svg+xml,{}", escaped(&svg)),
        })
    }
}

/// Plays a plan for a few seconds. Others who use the same threads wait for a few of its runs at most.
fn simulate(mut plan: Plan, budget: u32) -> Result<PlanReport, Problem> {
    let refused = |error: cutline_campaign::PlanError| Problem::Refused(error.to_string());
    let too_large = || {
        let words =
            "this campaign is too large to be simulated here in a few seconds; `cutline plan` takes the time it needs";
        Problem::Refused(words.into())
    };
    let budgets = plan.budgets_around(budget);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 40")]
    let most = (COST / cost_per_run(&plan, &budgets)?).min(RUNS as f64) as u64;
    if most < FEWEST_RUNS {
        return Err(too_large());
    }
    let mut tally = plan.play(&budgets, 0..AT_ONCE, &|_| ()).map_err(refused)?;
    let mut runs = AT_ONCE;
    while runs + AT_ONCE <= most {
        tally += &plan.play(&budgets, runs..runs + AT_ONCE, &|_| ()).map_err(refused)?;
        runs += AT_ONCE;
    }
    plan.runs = runs;
    let forecast = plan.forecast(&budgets, &tally);
    Ok(PlanReport { plan, budgets, forecast, remaining: Some(budget) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preview(csv: &'static str) -> Preview {
        Preview::new(Bytes::from_static(csv.as_bytes()), &TableQuery::default()).unwrap()
    }

    #[test]
    fn a_table_is_shown_as_it_is_read() {
        let found = preview("name,mass,colour\na,1,red\nb,2.5,blue\nc,3,red\nd,4,blue\n");
        assert_eq!((found.problems.len(), found.arms.as_str()), (0, "4"));
        let kinds: Vec<_> =
            found.columns.iter().map(|column| (column.name.as_str(), column.kind, column.values.as_str())).collect();
        assert_eq!(kinds, [("mass", "number", "1.000 to 4.000"), ("colour", "category", "blue, red")]);
        assert_eq!(found.rows[1][..2], ["b", "2.500"]);
    }

    #[test]
    fn problems_are_listed() {
        let found = preview("name,mass\na,1\na,x\n");
        assert!(!found.problems.is_empty() && found.columns.is_empty());
        assert!(found.problems.iter().any(|line| line.contains('x')), "{:?}", found.problems);
    }
}
