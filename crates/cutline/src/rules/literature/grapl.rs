//! GrAPL: arg minᵢ (|μ̂ᵢ − τ| + ε)√(Tᵢ + α) (LeJeune, Dasarathy & Baraniuk 2020, for arms on a graph).

use crate::estimators::Estimator;
use crate::rules::{Choice, Rule, RuleError};
use crate::{Beliefs, Range, Rng};

/// The index of [`Apt`](crate::rules::Apt) with an offset α of the pulls, so that arms need not be pulled once first: the estimator has to tell
/// something about arms without pulls, as ridge does on the arms of a [`Graph`](crate::Graph). Ties go to the first arm.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `alpha` | 1e-8 | α: the smaller, the earlier an arm without pulls is chosen | 0 ≤ α, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct Grapl {
    alpha: f64,
}

impl Grapl {
    /// The values of α.
    pub(crate) const ALPHA: Range = Range::at_least(0.0);

    /// The rule with this α.
    ///
    /// # Errors
    /// If `alpha` is negative or not finite.
    pub fn new(alpha: f64) -> Result<Self, RuleError> {
        Ok(Self { alpha: Self::ALPHA.check("alpha", alpha)? })
    }
}

impl<E: Estimator + ?Sized> Rule<E> for Grapl {
    const OPENS_WITH_EVERY_ARM: bool = false;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let (question, alpha) = (beliefs.question, self.alpha);
        let index = |mean: f64, pulls: u32| question.gap(mean) * (f64::from(pulls) + alpha).sqrt();
        beliefs.settled.arg_min_open(beliefs.estimator.means(), beliefs.pulls, index).into()
    }
}
