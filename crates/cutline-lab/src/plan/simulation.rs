//! The experiment that answers a plan, and the budgets to try where none are given.

use super::{Plan, PlanError};
use crate::entrant::with_noise;
use crate::{
    DrawSchedule, Entrant, Experiment, Instance, InstanceKind, InstanceSource, RunError, Tally, Threshold, simulate,
};
use cutline::{LearnerError, SpecError};

/// The number of runs per budget while the range of budgets is searched.
const SCOUT_RUNS: u64 = 100;

/// The largest budget × ([`PULL_COST`] + arms × features) that is tried in that search: some seconds for 1,000 runs.
const MAX_WORK: usize = 10_000_000;

/// The cost of a pull apart from its products, in multiplications.
const PULL_COST: usize = 500;

impl Plan {
    /// The experiment that plays these budgets, without the algorithms that cannot take the largest of them.
    ///
    /// # Errors
    /// If the target is not a number from 1e-9 to 1, the budgets do not ascend, an algorithm is listed twice,
    /// none is left, or something does not fit.
    pub fn experiment(&self, budgets: &[u32]) -> Result<Experiment, PlanError> {
        if !(1e-9..1.0).contains(&self.target) {
            return Err(PlanError::Target(self.target));
        }
        let is_ascending = budgets.first().is_some_and(|&first| first > 0) && budgets.is_sorted_by(|a, b| a < b);
        let Some(&most) = budgets.last().filter(|_| is_ascending) else { return Err(PlanError::Budgets) };
        let mut experiment = Experiment {
            name: self.name.clone(),
            runs: self.runs,
            seed: self.seed,
            budgets: budgets.to_vec(),
            noise: self.noise,
            baseline: None,
            source: self.source()?,
            entrants: self.entrants()?,
            published: Vec::new(),
        };
        let instance = first_instance(&experiment)?;
        experiment.check_probabilities(&instance, 0)?;
        let mut refused = None;
        for entrant in std::mem::take(&mut experiment.entrants) {
            match accepts(&experiment, &entrant, &instance, most)? {
                Ok(()) => experiment.entrants.push(entrant),
                Err(too_small) => refused = Some(too_small),
            }
        }
        match refused {
            Some(error) if experiment.entrants.is_empty() => Err(error.into()),
            _ => Ok(experiment),
        }
    }

    /// Budgets worth trying, where none are given: 1, 1.5, 2, 3, 5 and 7 times powers of ten.
    ///
    /// A hundred runs each try budgets from d on, doubling, to find B₁, where the best algorithm's failure rate is half the
    /// target, and B₂, where every algorithm's is at most the target. The range is from B₁/8 to B₂, which is kept between
    /// 2B₁ and 4B₁. It ends at T (500 + K·d) = 10⁷ or T = 2 max(K, d), whichever is larger. `watch` is called with the
    /// number of pulls as they are played.
    ///
    /// # Errors
    /// As [`Plan::experiment`].
    pub fn scout(&self, watch: &(dyn Fn(u64) + Sync)) -> Result<Vec<u32>, PlanError> {
        self.scout_with(|experiment, runs| {
            let pulls_per_run = experiment.pulls_per_run();
            Ok::<_, PlanError>(simulate(experiment, 0..runs, &|runs| watch(runs * pulls_per_run))?)
        })
    }

    /// As [`Plan::scout`], for callers that play the runs themselves: `play` returns the counts of that many first runs.
    ///
    /// # Errors
    /// As [`Plan::experiment`], and those of `play`.
    pub fn scout_with<E: From<PlanError>>(
        &self,
        mut play: impl FnMut(&Experiment, u64) -> Result<Tally, E>,
    ) -> Result<Vec<u32>, E> {
        let (n_arms, dimension) = (self.arms.n_arms(), self.arms.dimension().unwrap_or(1));
        let most = (MAX_WORK / (PULL_COST + n_arms * dimension)).max(2 * n_arms.max(dimension));
        let most = u32::try_from(most).unwrap_or(u32::MAX).min(100_000_000);
        let mut best = None;
        let mut budget = u32::try_from(dimension).unwrap_or(most);
        loop {
            let rates = self.failure_rates(budget, &mut play)?;
            if rates.iter().any(|&rate| rate <= 0.5 * self.target) {
                best = best.or(Some(budget));
            }
            let is_wide = best.is_some_and(|best| budget >= best.saturating_mul(4));
            let are_good = best.is_some() && rates.iter().all(|&rate| rate <= self.target);
            if budget >= most || is_wide || are_good {
                break;
            }
            budget = budget.saturating_mul(2).min(most);
        }
        let (from, to) = match best {
            Some(best) => (best / 8, budget.max(best.saturating_mul(2)).min(most)),
            None => (budget / 64, budget),
        };
        let mut budgets = round_numbers(from, to);
        budgets.retain(|&budget| budget <= most);
        Ok(budgets)
    }

    /// The failure rates of all algorithms in a few runs, in no order; 1 for an algorithm that does not take the budget.
    fn failure_rates<E: From<PlanError>>(
        &self,
        budget: u32,
        play: &mut impl FnMut(&Experiment, u64) -> Result<Tally, E>,
    ) -> Result<Vec<f64>, E> {
        let runs = self.runs.clamp(1, SCOUT_RUNS);
        let mut rates = vec![1.0; self.algorithms.len()];
        match self.experiment(&[budget]) {
            Ok(experiment) => {
                let tally = play(&experiment, runs)?;
                for entrant in 0..experiment.entrants().len() {
                    rates[entrant] = tally.cell(entrant, 0).failures as f64 / runs as f64;
                }
                Ok(rates)
            }
            Err(PlanError::Run(error)) if is_too_small(&error) => Ok(rates),
            Err(error) => Err(error.into()),
        }
    }

    fn source(&self) -> Result<InstanceSource, PlanError> {
        let kind = InstanceKind::Features(self.arms.clone(), self.prior.clone());
        let threshold = Threshold::Value(self.question.threshold());
        let source = InstanceSource::new(kind, DrawSchedule::EveryRun, self.seed, threshold, self.question.precision());
        Ok(source.map_err(|error| RunError::Instance { run: 0, error })?)
    }

    fn entrants(&self) -> Result<Vec<Entrant>, PlanError> {
        let mut entrants: Vec<Entrant> = Vec::new();
        for spec in &self.algorithms {
            let name = spec.algorithm().name;
            if entrants.iter().any(|entrant| entrant.label() == name) {
                return Err(PlanError::Twice(name));
            }
            let spec = with_noise(spec.clone(), self.noise);
            let spec = spec.map_err(|error| RunError::Algorithm { label: name.into(), error })?;
            entrants.push(Entrant::new(name.into(), spec, None));
        }
        if entrants.is_empty() { Err(PlanError::NoAlgorithms) } else { Ok(entrants) }
    }
}

/// The instance of run 0, to try learners on.
pub(super) fn first_instance(experiment: &Experiment) -> Result<Instance, RunError> {
    let instance = experiment.source().instance(0).map_err(|error| RunError::Instance { run: 0, error })?;
    Ok(instance.into_owned())
}

/// Whether an algorithm takes a budget. The inner error is that of a budget too small to pull every arm once; any other
/// reason is the outer error.
pub(super) fn accepts(
    experiment: &Experiment,
    entrant: &Entrant,
    instance: &Instance,
    budget: u32,
) -> Result<Result<(), RunError>, RunError> {
    match experiment.learner(entrant, instance, budget, 0) {
        Ok(_) => Ok(Ok(())),
        Err(error) if is_too_small(&error) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

fn is_too_small(error: &RunError) -> bool {
    let too_small = |error: &SpecError| matches!(error, SpecError::Learner(LearnerError::BudgetBelowArms { .. }));
    matches!(error, RunError::Algorithm { error, .. } if too_small(error))
}

/// The whole numbers among 1, 1.5, 2, 3, 5, 7 · 10ᵏ, from the last that is at most `low` to the first that is at least
/// `high`.
fn round_numbers(low: u32, high: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        (0..9).flat_map(|k| [2, 3, 4, 6, 10, 14].map(|halves| halves * 10_u32.pow(k) / 2)).collect();
    numbers.dedup();
    let start = numbers.partition_point(|&number| number <= low).saturating_sub(1);
    let end = numbers.partition_point(|&number| number < high) + 1;
    numbers.truncate(end);
    numbers.split_off(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_round() {
        assert_eq!(round_numbers(1, 20), [1, 2, 3, 5, 7, 10, 15, 20]);
        assert_eq!(round_numbers(0, 1), [1]);
        assert_eq!(round_numbers(14, 151), [10, 15, 20, 30, 50, 70, 100, 150, 200]);
        assert_eq!(round_numbers(15, 150), [15, 20, 30, 50, 70, 100, 150]);
        assert_eq!(round_numbers(60_000_000, 100_000_000), [50_000_000, 70_000_000, 100_000_000]);
    }
}
