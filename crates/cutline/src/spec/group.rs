//! Batches of runs, by name.

use super::builder::ridge_parameters;
use super::{EstimatorKind, Spec};
use crate::batch::{BatchLearner, GroupSettings, RunGroup, index_group, mean_index_group, pivot_group};
use crate::estimators::Ridge;
use crate::rules::{Index, Pivot, RuleError};
use crate::{Arms, Question};

const GROUP_SIZE: usize = BatchLearner::GROUP_SIZE;

/// Everything that a group of runs is built from except the rules.
pub(super) struct GroupBuilder<'a> {
    arms: [&'a Arms; GROUP_SIZE],
    questions: [Question; GROUP_SIZE],
    estimator: EstimatorKind,
    /// λ, if the estimator is ridge.
    lambda: f64,
    /// The parameters of each rule.
    parameters: [&'a [f64]; GROUP_SIZE],
}

impl GroupBuilder<'_> {
    /// For rules that are an index whose weight is one number.
    pub(super) fn index<I: Index<Weight = f64> + Send + 'static>(
        &self,
        index: impl Fn(&Arms, &[f64]) -> Result<I, RuleError>,
    ) -> Option<Box<dyn RunGroup>> {
        match self.estimator {
            EstimatorKind::Ridge => index_group(self.rules(index)?, &self.settings()?),
            _ => self.mean_index(index),
        }
    }

    /// For rules that are any index, with sample means only.
    pub(super) fn mean_index<I: Index + Send + 'static>(
        &self,
        index: impl Fn(&Arms, &[f64]) -> Result<I, RuleError>,
    ) -> Option<Box<dyn RunGroup>> {
        let rules = self.rules(index)?;
        let n_arms = self.arms[0].n_arms();
        (self.estimator == EstimatorKind::SampleMean).then(|| mean_index_group(rules, self.questions, n_arms))
    }

    /// For [`Pivot`].
    pub(super) fn pivot(&self, pivot: impl Fn(&[f64]) -> Result<Pivot, RuleError>) -> Option<Box<dyn RunGroup>> {
        pivot_group(self.rules(|_, parameters| pivot(parameters))?, &self.settings()?)
    }

    /// One rule per run.
    fn rules<R>(&self, rule: impl Fn(&Arms, &[f64]) -> Result<R, RuleError>) -> Option<[R; GROUP_SIZE]> {
        all(self.arms.iter().zip(self.parameters).map(|(arms, parameters)| rule(arms, parameters).ok()))
    }

    /// The settings of a group with ridge.
    fn settings(&self) -> Option<GroupSettings<'_>> {
        if self.estimator != EstimatorKind::Ridge {
            return None;
        }
        GroupSettings::new(all(self.arms.iter().map(|arms| arms.features()))?, self.questions, self.lambda)
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
    /// the parameters of the estimator, or one has a [confidence](Spec::with_confidence_stop) or a [custom stop](Spec::with_custom_stop) and may end before the others.
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
        let &&Spec { algorithm, estimator, .. } = specs.first()?;
        let build = algorithm.batch?;
        let n_rule = algorithm.rule_parameters.len();
        let can_join = |spec: &&Spec| {
            let may_end = spec.confidence_stop.is_some() || spec.custom_stop.is_some();
            std::ptr::eq(spec.algorithm, algorithm) && spec.estimator == estimator && !may_end
        };
        if !specs.iter().all(can_join) {
            return None;
        }
        let values: Vec<Vec<f64>> = specs.iter().map(|spec| spec.complete().ok()).collect::<Option<_>>()?;
        if arms.iter().any(|run_arms| run_arms.n_arms() != arms[0].n_arms()) {
            return None;
        }
        let lambda = match estimator {
            EstimatorKind::SampleMean => 0.0,
            EstimatorKind::Ridge => common_lambda(values.iter().map(|values| &values[n_rule..]), arms)?,
            _ => return None,
        };
        let group = |first: usize| {
            // The last group is filled up with copies of the last run.
            let runs: [usize; GROUP_SIZE] = std::array::from_fn(|lane| (first + lane).min(specs.len() - 1));
            let (arms, questions) = (runs.map(|run| arms[run]), runs.map(|run| questions[run]));
            let parameters = runs.map(|run| &values[run][..n_rule]);
            build(&GroupBuilder { arms, questions, estimator, lambda, parameters })
        };
        let groups: Vec<_> = (0..specs.len()).step_by(GROUP_SIZE).map(group).collect::<Option<_>>()?;
        Some(BatchLearner::new(specs.len(), groups))
    }
}

/// λ, if it is the same in all runs, the arms have equally many features, and there is neither a centre nor an intercept, which only
/// individual learners support.
fn common_lambda<'a>(ridge: impl Iterator<Item = &'a [f64]>, arms: &[&Arms]) -> Option<f64> {
    let mut ridge = ridge.map(|parameters| *ridge_parameters(parameters)).peekable();
    let [lambda, ..] = *ridge.peek()?;
    let have_one_design = ridge.all(|parameters| parameters == [lambda, 0.0, 0.0])
        && arms.iter().all(|run_arms| run_arms.dimension() == arms[0].dimension());
    (have_one_design && arms.iter().all(|run_arms| Ridge::check(run_arms, lambda).is_ok())).then_some(lambda)
}
