//! Results as rows, for tables, JSON and CSV.

use crate::{Allocation, Experiment, NoiseKind, PublishedCurve, StoppingTimes, Tally, WholeSum};
use cutline::EstimatorKind;
use cutline::statistics::{paired_difference, wilson, z_score};
use serde::Serialize;

/// One entrant at one budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The experiment's name.
    pub experiment: String,
    /// The entrant's label.
    pub algorithm: String,
    /// The budget T.
    pub budget: u32,
    /// The number of runs.
    pub runs: u64,
    /// The runs with at least one wrong verdict.
    pub failures: u64,
    /// `failures`/`runs`.
    pub failure_rate: f64,
    /// The lower end of its 95 % Wilson interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The mean number of wrong verdicts per run.
    pub mean_errors: f64,
    /// The mean number of pulls at which the first, second, … arm was called above for good, each over the runs that had so many; empty if
    /// no arm was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<f64>,
    /// The paired difference to the baseline, if there is one.
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
    /// When runs stopped, if they could stop before the budget was used up.
    #[serde(flatten)]
    pub stopping: Option<StoppingRow>,
}

/// The failure rate minus that of the baseline on the same runs, with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The baseline's label.
    pub baseline: String,
    /// The difference of the failure rates; negative where this entrant is better.
    pub difference: f64,
    /// The lower end of its interval.
    pub difference_low: f64,
    /// The upper end.
    pub difference_high: f64,
}

/// When runs stopped, for an entrant that may stop before the budget is used up.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StoppingRow {
    /// The stopping criterion, for example `intervals`, or the name of a custom stop.
    pub by: String,
    /// The probability of an error that the criterion allows; none for a custom stop.
    pub delta: Option<f64>,
    /// The runs that stopped by the criterion; the others used up the budget.
    pub sure: u64,
    /// The runs that stopped by the criterion with at least one wrong verdict.
    pub sure_and_wrong: u64,
    /// `sure_and_wrong`/`runs`, which should be at most δ.
    pub error_rate: f64,
    /// The mean number of pulls per run.
    pub mean_pulls: f64,
    /// The 10 % quantile of the number of pulls.
    pub pulls_10: u64,
    /// The median.
    pub pulls_50: u64,
    /// The 90 % quantile.
    pub pulls_90: u64,
    /// The lower bound on the mean number of pulls of any test at level δ; for one instance and Gaussian noise.
    pub fewest_pulls: Option<f64>,
}

/// The rows of an experiment: entrants in their order, budgets ascending.
#[must_use]
pub fn rows(experiment: &Experiment, tally: &Tally) -> Vec<Row> {
    let bounds = Bounds::new(experiment);
    let mut rows = Vec::new();
    for (position, entrant) in experiment.entrants().iter().enumerate() {
        for (column, &budget) in experiment.budgets().iter().enumerate() {
            let cell = tally.cell(position, column);
            let spec = entrant.spec();
            let criterion = match (spec.confidence_stop(), spec.custom_stop()) {
                (Some(stop), _) => Some((stop.criterion().name(), Some(stop.delta()))),
                (None, custom) => custom.map(|stop| (stop.name(), None)),
            };
            let stopping = criterion.map(|(by, delta)| {
                let fewest = delta.and_then(|delta| bounds.fewest_pulls(spec.estimator(), delta));
                stopping((by, delta), tally.stopped(position, column), cell.runs, budget, fewest)
            });
            let (low, high) = wilson(cell.failures, cell.runs);
            rows.push(Row {
                experiment: experiment.name().into(),
                algorithm: entrant.label().into(),
                budget,
                runs: cell.runs,
                failures: cell.failures,
                failure_rate: rate(cell.failures, cell.runs),
                low,
                high,
                mean_errors: rate(cell.errors, cell.runs),
                outputs: tally.outputs(position, column).outputs().iter().map(WholeSum::mean).collect(),
                comparison: experiment
                    .baseline()
                    .map(|baseline| compare(experiment, tally, [position, baseline], column)),
                stopping,
            });
        }
    }
    rows
}

/// T* with the features and without, each where it is known and an entrant with a stop needs it.
struct Bounds {
    with_features: Option<Allocation>,
    without: Option<Allocation>,
}

impl Bounds {
    fn new(experiment: &Experiment) -> Self {
        let uses = |estimator| {
            let entrants = experiment.entrants().iter().map(crate::Entrant::spec);
            entrants.filter(|spec| spec.confidence_stop().is_some()).any(|spec| spec.estimator() == estimator)
        };
        let noise = experiment.noise();
        let is_gaussian = noise.law().is_some_and(|law| law.kind() == NoiseKind::Gaussian);
        let instance = experiment.source().fixed().filter(|_| is_gaussian);
        // Without θ the means are not linear in the features, so the bound with features does not apply.
        let with = instance.filter(|instance| uses(EstimatorKind::Ridge) && instance.theta().is_some());
        let without = instance.filter(|_| uses(EstimatorKind::SampleMean));
        Self {
            with_features: with.and_then(|instance| Allocation::new(instance, noise.scale())),
            without: without.and_then(|instance| Allocation::without_features(instance, noise.scale())),
        }
    }

    fn fewest_pulls(&self, estimator: EstimatorKind, delta: f64) -> Option<f64> {
        let allocation = if estimator == EstimatorKind::Ridge { &self.with_features } else { &self.without };
        allocation.as_ref().map(|allocation| allocation.fewest_pulls(delta))
    }
}

fn stopping(
    (by, delta): (&str, Option<f64>),
    stopped: &StoppingTimes,
    runs: u64,
    budget: u32,
    fewest_pulls: Option<f64>,
) -> StoppingRow {
    let quantile = |percent| stopped.quantile(percent, runs, budget);
    StoppingRow {
        by: by.into(),
        delta,
        sure: stopped.runs(),
        sure_and_wrong: stopped.failures(),
        error_rate: rate(stopped.failures(), runs),
        mean_pulls: stopped.mean(runs, budget),
        pulls_10: quantile(10),
        pulls_50: quantile(50),
        pulls_90: quantile(90),
        fewest_pulls,
    }
}

/// The failure rate of the first of two entrants minus that of the second, at the budget in position `column`.
///
/// # Panics
/// If there is no such entrant or budget.
#[must_use]
pub fn compare(experiment: &Experiment, tally: &Tally, entrants: [usize; 2], column: usize) -> Comparison {
    let [position, baseline] = entrants;
    let (difference, difference_low, difference_high) = if position == baseline {
        (0.0, 0.0, 0.0)
    } else {
        let only = |one, other| tally.only(one, other, column);
        paired_difference(only(position, baseline), only(baseline, position), tally.cell(position, column).runs)
    };
    let baseline = experiment.entrants()[baseline].label().into();
    Comparison { baseline, difference, difference_low, difference_high }
}

/// The z-score of a failure rate of `runs` runs against the published one, at the budget in position `column`.
#[must_use]
pub fn z_against(published: &PublishedCurve, column: usize, failure_rate: f64, runs: u64) -> f64 {
    z_score(failure_rate, runs as f64, 1.0 - published.success()[column], published.runs() as f64)
}

fn rate(count: u64, runs: u64) -> f64 {
    if runs == 0 { 0.0 } else { count as f64 / runs as f64 }
}
