//! The list `[[published]]`: curves of success rates, and means of other metrics.

use super::position;
use crate::experiment::keys::{Field, FileError, Keys};
use crate::published::{Metric, PublishedMeans, Uncertainty};
use crate::{Entrant, Instance, PublishedCurve};

/// Published success rates and means.
pub(super) type Published = (Vec<PublishedCurve>, Vec<PublishedMeans>);

/// `fixed` is the instance of all runs, if they have one.
pub(super) fn published(
    tables: &[Field<'_>],
    entrants: &[Entrant],
    n_budgets: usize,
    fixed: Option<&Instance>,
) -> Result<Published, FileError> {
    let (mut curves, mut means) = (Vec::new(), Vec::new());
    for table in tables {
        let keys = table.keys("[[published]]")?;
        let curve_field = keys.need("curve")?;
        let curve = curve_field.title()?.to_owned();
        let algorithm = keys.get("algorithm");
        let algorithm = algorithm.as_ref().unwrap_or(&curve_field);
        let entrant = position(algorithm, algorithm.text()?, entrants)?;
        if let Some(values_field) = keys.get("values") {
            let (metric, uncertainty) = of_means(&keys, &values_field, n_budgets)?;
            if metric.is_exact() && fixed.and_then(|instance| entrants[entrant].optimal_gamma(instance)).is_none() {
                let what = "is for algorithms with `gamma = \"optimal\"` where all runs have one instance";
                return Err(values_field.error(format!("of \"{metric}\": this metric {what}")));
            }
            let values = numbers(&values_field, n_budgets, "numbers of at least 0", |value| value >= 0.0)?;
            means.push(PublishedMeans { curve, entrant, metric, values, uncertainty });
        } else {
            let runs = runs(&keys.need("runs")?)?;
            let success_field = keys.need("success")?;
            keys.finish()?;
            let is_rate = |rate: f64| (0.0..=1.0).contains(&rate);
            let success = numbers(&success_field, n_budgets, "rates between 0 and 1", is_rate)?;
            curves.push(PublishedCurve { curve, entrant, runs, success });
        }
    }
    Ok((curves, means))
}

/// What was published, and how exact it is.
fn of_means(keys: &Keys<'_>, values: &Field<'_>, n_budgets: usize) -> Result<(Metric, Uncertainty), FileError> {
    let metric_field = keys.need("metric")?;
    let wanted = "\"failure rate\", \"wrong arms\", \"pulls\", \"output 1\", \"output 2\", …, \"gamma\" or \"pulls of the bound\"";
    let metric = Metric::named(metric_field.text()?).ok_or_else(|| metric_field.is_not(wanted))?;
    let (errors, deviations, runs_field) = (keys.get("errors"), keys.get("deviations"), keys.get("runs"));
    keys.finish()?;
    let positive = |field: &Field<'_>| numbers(field, n_budgets, "positive numbers", |number| number > 0.0);
    let uncertainty = match (errors, deviations, runs_field) {
        (Some(errors), None, None) if metric != Metric::FailureRate => Uncertainty::Errors(positive(&errors)?),
        (None, Some(deviations), Some(field)) if metric != Metric::FailureRate => {
            Uncertainty::Deviations(positive(&deviations)?, runs(&field)?)
        }
        (None, None, Some(field)) => Uncertainty::Runs(runs(&field)?),
        _ if metric == Metric::FailureRate => return Err(values.error("of a failure rate go with `runs` alone")),
        _ => return Err(values.error("go with `errors`, with `deviations` and `runs`, or with `runs` alone")),
    };
    Ok((metric, uncertainty))
}

fn runs(field: &Field<'_>) -> Result<u64, FileError> {
    field.whole(1, 1 << 50)
}

/// One number per budget.
fn numbers(
    field: &Field<'_>,
    n_budgets: usize,
    what: &str,
    is_valid: impl Fn(f64) -> bool,
) -> Result<Vec<f64>, FileError> {
    let numbers = field.numbers()?;
    if numbers.len() == n_budgets && numbers.iter().all(|&number| is_valid(number)) {
        Ok(numbers)
    } else {
        Err(field.error(format!("must be {n_budgets} {what}, one per budget")))
    }
}
