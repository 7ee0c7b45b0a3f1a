//! Results next to published numbers.

pub mod exact;
pub mod field;
pub(crate) mod numpy;
pub mod paper;

use crate::{Entrant, Experiment, OptimalGamma, Row, Tally, WholeSum, rows, z_against};
use cutline::statistics::{Z_BAND, z_of_means, z_score};
use serde::Serialize;
use std::fmt::{Display, Formatter};

/// A number that is compared with a published one: the mean of a number per run, or a number that follows from the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// 1 if any arm is classified wrongly, else 0.
    FailureRate,
    /// The number of arms classified wrongly.
    WrongArms,
    /// The number of pulls until the run ended.
    Pulls,
    /// The number of pulls until the first (1), second, … arm was called above for good.
    Output(usize),
    /// The γ for which GrAPL's bound is best; it follows from the instance, for entrants that use it.
    Gamma,
    /// The number of pulls from which on that bound says something.
    BoundPulls,
}

impl Metric {
    /// The metric of a name: `failure rate`, `wrong arms`, `pulls`, `output 1`, `output 2`, …, `gamma`, `pulls of the bound`
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "failure rate" => Some(Self::FailureRate),
            "wrong arms" => Some(Self::WrongArms),
            "pulls" => Some(Self::Pulls),
            "gamma" => Some(Self::Gamma),
            "pulls of the bound" => Some(Self::BoundPulls),
            _ => name.strip_prefix("output ")?.parse().ok().filter(|&output| output > 0).map(Self::Output),
        }
    }

    /// Whether it follows from the instance, so that it needs no runs and is known to all digits.
    #[must_use]
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Gamma | Self::BoundPulls)
    }

    /// Whether an entrant of an experiment has it.
    #[must_use]
    pub fn applies_to(self, entrant: &Entrant, experiment: &Experiment) -> bool {
        !self.is_exact() || optimal_gamma(entrant, experiment).is_some()
    }

    /// The mean, the standard deviation and the number of runs of one entrant at one budget.
    fn measured(self, experiment: &Experiment, tally: &Tally, entrant: usize, column: usize) -> Measured {
        let exact = |of: fn(OptimalGamma) -> f64| {
            let optimal = optimal_gamma(&experiment.entrants()[entrant], experiment);
            Measured { mean: optimal.map_or(f64::NAN, of), deviation: 0.0, runs: tally.cell(entrant, column).runs }
        };
        let (cell, times) = (tally.cell(entrant, column), tally.outputs(entrant, column));
        let sum = match self {
            Self::FailureRate => {
                WholeSum { count: cell.runs, sum: u128::from(cell.failures), squares: u128::from(cell.failures) }
            }
            Self::WrongArms => {
                WholeSum { count: cell.runs, sum: u128::from(cell.errors), squares: cell.squared_errors }
            }
            Self::Pulls => times.end(),
            Self::Output(output) => times.outputs().get(output - 1).copied().unwrap_or_default(),
            Self::Gamma => return exact(|optimal| optimal.gamma),
            Self::BoundPulls => return exact(|optimal| optimal.pulls),
        };
        Measured { mean: sum.mean(), deviation: sum.deviation(), runs: sum.count }
    }
}

impl Display for Metric {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FailureRate => f.write_str("failure rate"),
            Self::WrongArms => f.write_str("wrong arms"),
            Self::Pulls => f.write_str("pulls"),
            Self::Output(output) => write!(f, "output {output}"),
            Self::Gamma => f.write_str("gamma"),
            Self::BoundPulls => f.write_str("pulls of the bound"),
        }
    }
}

/// What an entrant with the best γ computes it from, if it is one and all runs have one instance.
fn optimal_gamma(entrant: &Entrant, experiment: &Experiment) -> Option<OptimalGamma> {
    entrant.optimal_gamma(experiment.source().fixed()?)
}

/// The mean of a metric, as measured.
struct Measured {
    mean: f64,
    deviation: f64,
    runs: u64,
}

/// Published means of one metric, one per budget.
#[derive(Clone, Debug)]
pub struct PublishedMeans {
    pub(crate) curve: String,
    pub(crate) entrant: usize,
    pub(crate) metric: Metric,
    pub(crate) values: Vec<f64>,
    pub(crate) uncertainty: Uncertainty,
}

/// How exact published means are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Uncertainty {
    /// Their standard errors.
    Errors(Vec<f64>),
    /// The standard deviations of single runs, and how many there were.
    Deviations(Vec<f64>, u64),
    /// How many runs there were; their standard deviation is taken to be ours.
    Runs(u64),
}

impl PublishedMeans {
    /// The z-score of a measured mean at the budget in position `column`.
    fn z(&self, column: usize, ours: &Measured) -> f64 {
        let value = self.values[column];
        let of_runs = |deviation: f64, runs: u64| deviation / (runs as f64).sqrt();
        let error = match &self.uncertainty {
            Uncertainty::Runs(runs) if self.metric == Metric::FailureRate => {
                return z_score(ours.mean, ours.runs as f64, value, *runs as f64);
            }
            Uncertainty::Errors(errors) => errors[column],
            Uncertainty::Deviations(deviations, runs) => of_runs(deviations[column], *runs),
            Uncertainty::Runs(runs) => of_runs(ours.deviation, *runs),
        };
        z_of_means(ours.mean, of_runs(ours.deviation, ours.runs.max(1)), value, error)
    }
}

/// A row with the published cell that it is compared with, if there is one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedResult {
    /// The row.
    #[serde(flatten)]
    pub row: Row,
    /// The cell.
    #[serde(flatten)]
    pub published: Option<PublishedCell>,
}

/// A published cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedCell {
    /// The name of the curve in the publication.
    pub curve: String,
    /// The [`Metric`] that was published.
    pub metric: String,
    /// Our mean of it.
    pub ours: f64,
    /// The published mean.
    pub published: f64,
    /// The z-score of the difference.
    pub z: f64,
}

impl PublishedCell {
    /// Whether the difference lies within its 99.9 % band.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.z.abs() <= Z_BAND
    }
}

/// One metric of one entrant at all budgets, next to the published numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComparedLine {
    /// The entrant's label.
    pub algorithm: String,
    /// The metric.
    pub metric: Metric,
    /// Our means, one per budget.
    pub ours: Vec<f64>,
    /// The published cells, one per budget, if there are any.
    pub published: Option<Vec<PublishedCell>>,
}

/// Every entrant's metrics next to each published curve, or alone if there is none. The metrics are those that something was published
/// about; failure rates if nothing was.
#[must_use]
pub fn compared_lines(experiment: &Experiment, tally: &Tally) -> Vec<ComparedLine> {
    let metrics = metrics(experiment);
    let mut lines = Vec::new();
    for (position, entrant) in experiment.entrants().iter().enumerate() {
        for &metric in metrics.iter().filter(|metric| metric.applies_to(entrant, experiment)) {
            let columns = 0..experiment.budgets().len();
            let ours =
                || columns.clone().map(|column| metric.measured(experiment, tally, position, column).mean).collect();
            let line = |published| ComparedLine { algorithm: entrant.label().into(), metric, ours: ours(), published };
            let cells: Vec<Vec<PublishedCell>> =
                columns.clone().map(|column| cells(experiment, tally, position, column, metric)).collect();
            let n_curves = cells.first().map_or(0, Vec::len);
            let curve = |curve: usize| Some(cells.iter().map(|column| column[curve].clone()).collect());
            lines.extend((0..n_curves).map(|number| line(curve(number))));
            if n_curves == 0 {
                lines.push(line(None));
            }
        }
    }
    lines
}

/// The metrics that something was published about, in the order of the file; failure rates if there are none.
fn metrics(experiment: &Experiment) -> Vec<Metric> {
    let mut metrics = Vec::new();
    if !experiment.published().is_empty() || experiment.published_means().is_empty() {
        metrics.push(Metric::FailureRate);
    }
    for published in experiment.published_means() {
        if !metrics.contains(&published.metric) {
            metrics.push(published.metric);
        }
    }
    metrics
}

/// The published cells of one metric of one entrant at one budget, by their positions.
fn cells(experiment: &Experiment, tally: &Tally, entrant: usize, column: usize, metric: Metric) -> Vec<PublishedCell> {
    let ours = metric.measured(experiment, tally, entrant, column);
    let curves = experiment.published().iter().filter(|published| published.entrant() == entrant);
    let rates = curves.filter(|_| metric == Metric::FailureRate).map(|published| PublishedCell {
        curve: published.curve().into(),
        metric: metric.to_string(),
        ours: ours.mean,
        published: 1.0 - published.success()[column],
        z: z_against(published, column, ours.mean, ours.runs),
    });
    let is_it = |published: &&PublishedMeans| published.entrant == entrant && published.metric == metric;
    let means = experiment.published_means().iter().filter(is_it).map(|published| PublishedCell {
        curve: published.curve.clone(),
        metric: metric.to_string(),
        ours: ours.mean,
        published: published.values[column],
        z: published.z(column, &ours),
    });
    rates.chain(means).collect()
}

/// Every row of an experiment, once per published number that it is compared with, or once if there is none.
#[must_use]
pub fn compared(experiment: &Experiment, tally: &Tally) -> Vec<PublishedResult> {
    let n_budgets = experiment.budgets().len();
    let metrics = metrics(experiment);
    let mut compared = Vec::new();
    for (position, row) in rows(experiment, tally).into_iter().enumerate() {
        let (entrant, column) = (position / n_budgets, position % n_budgets);
        let of_metric = |&metric: &Metric| cells(experiment, tally, entrant, column, metric);
        let cells: Vec<PublishedCell> = metrics.iter().flat_map(of_metric).collect();
        let is_alone = cells.is_empty();
        compared.extend(cells.into_iter().map(|cell| PublishedResult { row: row.clone(), published: Some(cell) }));
        if is_alone {
            compared.push(PublishedResult { row, published: None });
        }
    }
    compared
}

/// The number of published cells within their 99.9 % band, and the number of all.
#[must_use]
pub fn within_band<'a>(compared: impl IntoIterator<Item = &'a PublishedResult>) -> (usize, usize) {
    let cells = compared.into_iter().filter_map(|compared| compared.published.as_ref());
    cells.fold((0, 0), |(within, all), cell| (within + usize::from(cell.is_within()), all + 1))
}
