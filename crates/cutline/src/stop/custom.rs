//! Custom stops: [`Stop`]s from outside this crate, by name.

use super::{Stop, StopReason};
use crate::estimators::Estimator;
use crate::{Arm, Beliefs, NameError, Named, Problem};
use std::error::Error;
use std::sync::Arc;

/// A custom [`Stop`] and its name, for [`Spec::with_custom_stop`](crate::Spec::with_custom_stop). If the stop is known at compile time and needs
/// no name, give it to [`Learner::new`](crate::Learner::new) instead.
///
/// ```
/// use cutline::estimators::Estimator;
/// use cutline::{Arms, Beliefs, NamedStop, Question, Spec, Stop, StopReason};
///
/// /// Ends when every mean is at least `gap` away from the threshold.
/// struct AllFar {
///     gap: f64,
/// }
///
/// impl Stop<dyn Estimator> for AllFar {
///     fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, dyn Estimator>) -> Option<StopReason> {
///         let (threshold, has_all) = (beliefs.question.threshold(), beliefs.first_unpulled.is_none());
///         let is_far = |mean: &f64| (mean - threshold).abs() >= self.gap;
///         (has_all && beliefs.means().iter().all(is_far)).then_some(StopReason::Custom)
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stop = NamedStop::new("all-far", |_| Ok(Box::new(AllFar { gap: 0.5 })))?;
/// let spec = Spec::named("apt")?.with_custom_stop(stop);
/// let mut learner = spec.learner(&Arms::without_features(2)?, Question::new(0.0, 0.1)?, 100, 0)?;
/// while let Some(arm) = learner.ask() {
///     learner.tell(arm, [1.0, -1.0][arm])?;
/// }
/// assert_eq!((learner.beliefs().total_pulls, learner.stop_reason()), (2, Some(StopReason::Custom)));
/// # Ok(())
/// # }
/// ```
pub type NamedStop = Named<StopFactory>;

/// Makes the stop of one learner.
type StopFactory = dyn Fn(&Problem<'_>) -> Made + Send + Sync;

type Made = Result<Box<dyn Stop<dyn Estimator> + Send>, Box<dyn Error + Send + Sync>>;

impl NamedStop {
    /// A stop with a name, by which an experiment file can refer to it; `make` makes it afresh for every learner, or says why it does not fit the
    /// problem.
    ///
    /// # Errors
    /// If a built-in stop has this name, or the name is not valid.
    pub fn new(name: &str, make: impl Fn(&Problem<'_>) -> Made + Send + Sync + 'static) -> Result<Self, NameError> {
        let is_taken = ["budget", "confidence", "confidence or budget"].contains(&name);
        Self::checked(("stop", "stops"), name, is_taken, Arc::new(make))
    }

    pub(crate) fn make(&self, problem: &Problem<'_>) -> Result<CustomStop, Box<dyn Error + Send + Sync>> {
        Ok(CustomStop((self.part())(problem)?))
    }
}

/// A custom stop for a learner with any estimator.
pub(crate) struct CustomStop(Box<dyn Stop<dyn Estimator> + Send>);

impl<E: Estimator + 'static> Stop<E> for CustomStop {
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<StopReason> {
        self.0.stop_reason(&mut beliefs.of_any_estimator())
    }

    fn request(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<Arm> {
        self.0.request(&mut beliefs.of_any_estimator())
    }

    fn budget(&self) -> Option<u32> {
        self.0.budget()
    }

    fn settles(&self) -> bool {
        self.0.settles()
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, told: Arm, newly: &mut Vec<(Arm, bool)>) {
        self.0.settle(&mut beliefs.of_any_estimator(), told, newly);
    }

    fn restricts_rules(&self) -> bool {
        self.0.restricts_rules()
    }

    fn set_noise(&mut self, noise: f64) {
        self.0.set_noise(noise);
    }

    fn set_learnt_noise(&mut self, noise: f64) {
        self.0.set_learnt_noise(noise);
    }
}
