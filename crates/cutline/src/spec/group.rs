//! Batches of runs, by name.

use super::builder::ridge_parameters;
use super::{EstimatorKind, Spec};
use crate::batch::{BatchLearner, GroupSettings, RunGroup, index_group, pivot_group};
use crate::estimators::Ridge;
use crate::rules::{Index, Pivot, RuleError};
use crate::{Arms, Question};

const GROUP_SIZE: usize = BatchLearner::GROUP_SIZE;

/// Everything that a group of runs is built from except the rules.
pub(super) struct GroupBuilder<'a> {
    settings: GroupSettings<'a>,
    /// The parameters of each rule.
    parameters: [&'a [f64]; GROUP_SIZE],
}

impl GroupBuilder<'_> {
    /// For rules that are an index.
    pub(super) fn index<I: Index + Send + 'static>(
        &self,
        index: impl Fn(&[f64]) -> Result<I, RuleError>,
    ) -> Option<Box<dyn RunGroup>> {
        index_group(self.rules(index)?, &self.settings)
    }

    /// For [`Pivot`].
    pub(super) fn pivot(&self, pivot: impl Fn(&[f64]) -> Result<Pivot, RuleError>) -> Option<Box<dyn RunGroup>> {
        pivot_group(self.rules(pivot)?, &self.settings)
    }

    /// One rule per run.
    fn rules<R>(&self, rule: impl Fn(&[f64]) -> Result<R, RuleError>) -> Option<[R; GROUP_SIZE]> {
        all(self.parameters.iter().map(|parameters| rule(parameters).ok()))
    }
}

/// One item per run of a group, if all of them exist.
fn all<T>(items: impl Iterator<Item = Option<T>>) -> Option<[T; GROUP_SIZE]> {
    items.collect::<Option<Vec<T>>>()?.try_into().ok()
}

impl Spec {
    /// A batch of runs, one per entry of the three slices, each with its own arms, question and parameters of one algorithm.
    /// They pull what individual [learners](Spec::learner) would pull, to the last bit, and are faster. The caller keeps count
    /// of the budget.
    ///
    /// `None` if there are no runs, the algorithm cannot be played in batches, the runs differ in the number of arms or features or in
    /// the parameters of the estimator, or one has a [confidence stop](Spec::with_confidence_stop) and may end before the others.
    /// Then build individual learners: they work, or return the error.
    ///
    /// ```
    /// use cutline::{Arms, Question, Spec};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (spec, question) = (Spec::named("linear-apt")?, Question::new(0.0, 0.1)?);
    /// let arms = [Arms::from_rows(&[[1.0], [-1.0]])?, Arms::from_rows(&[[0.5], [2.0]])?];
    /// let mut runs = Spec::batch(&[&spec; 2], &[&arms[0], &arms[1]], &[question; 2]).expect("runs of one shape");
    /// let mut asked = [0; 2];
    /// runs.ask(&mut asked);
    /// runs.tell(&[0.3, -0.2]);
    /// assert_eq!(runs.means(1).count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the slices differ in length.
    #[must_use]
    pub fn batch(specs: &[&Spec], arms: &[&Arms], questions: &[Question]) -> Option<BatchLearner> {
        assert!(specs.len() == arms.len() && arms.len() == questions.len(), "one spec, arms and question per run");
        let algorithm = specs.first()?.algorithm;
        let build = algorithm.batch?;
        let n_rule = algorithm.rule_parameters.len();
        let can_join = |spec: &&Spec| {
            std::ptr::eq(spec.algorithm, algorithm)
                && spec.estimator == EstimatorKind::Ridge
                && spec.confidence_stop.is_none()
        };
        if !specs.iter().all(can_join) {
            return None;
        }
        let values: Vec<Vec<f64>> = specs.iter().map(|spec| spec.complete().ok()).collect::<Option<_>>()?;
        let lambda = values[0][n_rule];
        let shape = |arms: &Arms| (arms.n_arms(), arms.dimension());
        for (values, &run_arms) in values.iter().zip(arms) {
            // A centre or an intercept is only supported in individual learners.
            let has_one_design = *ridge_parameters(&values[n_rule..]) == [lambda, 0.0, 0.0];
            if !has_one_design || shape(run_arms) != shape(arms[0]) || Ridge::check(run_arms, lambda).is_err() {
                return None;
            }
        }
        let group = |first: usize| {
            // The last group is filled up with copies of the last run.
            let runs: [usize; GROUP_SIZE] = std::array::from_fn(|lane| (first + lane).min(specs.len() - 1));
            let features = all(runs.iter().map(|&run| arms[run].features()))?;
            let settings = GroupSettings::new(features, runs.map(|run| questions[run]), lambda)?;
            build(&GroupBuilder { settings, parameters: runs.map(|run| &values[run][..n_rule]) })
        };
        let groups: Vec<_> = (0..specs.len()).step_by(GROUP_SIZE).map(group).collect::<Option<_>>()?;
        Some(BatchLearner::new(specs.len(), groups))
    }
}
