//! The final decision which arms are above: each by its own mean, all of them together, or by a custom function.

use crate::estimators::Estimator;
use crate::{Beliefs, NameError, Named};
use std::sync::Arc;

/// How the sides of the arms are decided at the end.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// Each arm by its own mean: above if μ̂ ≥ τ. This makes the expected number of errors least.
    #[default]
    Separate,
    /// All arms together, so that they are all right with the largest probability: [`Beliefs::joint_sides`].
    Joint,
    /// By a custom function.
    Custom(NamedDecision),
}

impl Decision {
    /// The built-in decisions, by the names that files use.
    pub const ALL: &[(&str, Self)] = &[("separate", Self::Separate), ("joint", Self::Joint)];
}

/// A custom decision and its name: what papers call the recommendation.
///
/// The function gets the beliefs and σ, and returns whether each arm is above. Settled arms should keep their side.
///
/// ```
/// use cutline::{Arms, Decision, NamedDecision, Question, Spec};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Only arms that are clearly above.
/// let cautious = NamedDecision::new("cautious", |beliefs, noise| {
///     let (threshold, posterior) = (beliefs.question.threshold(), beliefs.estimator.posterior());
///     let lower = posterior.means.iter().zip(posterior.variances).map(|(mean, q)| mean - noise * q.sqrt());
///     lower.map(|lower| lower >= threshold).collect()
/// })?;
/// let mut learner = Spec::named("apt")?.learner(&Arms::without_features(2)?, Question::new(0.0, 0.0)?, 8, 0)?;
/// for (arm, reward) in [(0, 0.5), (1, 2.0)] {
///     learner.tell(arm, reward)?;
/// }
/// assert_eq!(learner.beliefs().sides(&Decision::Separate, 1.0, 0), [true, true]);
/// assert_eq!(learner.beliefs().sides(&Decision::Custom(cautious), 1.0, 0), [false, true]);
/// # Ok(())
/// # }
/// ```
pub type NamedDecision = Named<Decide>;

/// Decides the side of every arm.
type Decide = dyn Fn(&mut Beliefs<'_, dyn Estimator>, f64) -> Vec<bool> + Send + Sync;

impl NamedDecision {
    /// A decision with a name, by which an experiment file can refer to it.
    ///
    /// # Errors
    /// If a built-in decision has this name, or the name is not valid.
    pub fn new(
        name: &str,
        decide: impl Fn(&mut Beliefs<'_, dyn Estimator>, f64) -> Vec<bool> + Send + Sync + 'static,
    ) -> Result<Self, NameError> {
        let is_taken = Decision::ALL.iter().any(|(built_in, _)| *built_in == name);
        Self::checked(("decision", "decisions"), name, is_taken, Arc::new(decide))
    }
}

impl Beliefs<'_, dyn Estimator> {
    /// Whether each arm is above, by this decision. Rewards have standard deviation `noise`; `seed` is for the draws of a joint decision.
    ///
    /// # Panics
    /// If a custom decision returns another number of sides than there are arms.
    pub fn sides(&mut self, decision: &Decision, noise: f64, seed: u64) -> Vec<bool> {
        match decision {
            Decision::Separate => {
                let (settled, question) = (self.settled, self.question);
                let side = |(arm, &mean)| settled.side(arm).unwrap_or_else(|| question.is_above(mean));
                self.means().iter().enumerate().map(side).collect()
            }
            Decision::Joint => self.joint_sides(noise, seed),
            Decision::Custom(custom) => {
                let noise = self.estimator.noise_scale().unwrap_or(noise);
                let sides = (custom.part())(self, noise);
                let (name, n_arms) = (custom.name(), self.pulls.len());
                assert!(sides.len() == n_arms, "`{name}` decided {} sides of {n_arms} arms", sides.len());
                sides
            }
        }
    }
}
