//! The posterior of the means given the rewards received.

use super::inverse::{Inverse, Step};
use crate::features::Features;
use crate::interval::{fast_tail, quantile};
use crate::verdict::doubt;
use crate::{Arm, Question};

/// The posterior of each mean, μᵢ ~ N(μ̂ᵢ, σ²qᵢ), given the rewards received. Pending pulls do not count.
///
/// For ridge this is the posterior of θ ~ N(0, σ²/λ I) and Gaussian noise, for the sample mean that of a flat prior.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Posterior<'a> {
    /// The estimates μ̂ of all means.
    pub means: &'a [f64],
    /// The variances qᵢ of the means, in units of σ²: 1/nᵢ for the sample mean, ∞ without a reward; xᵢᵀV⁻¹xᵢ for ridge.
    pub variances: &'a [f64],
    /// The number of rewards of each arm.
    pub n_rewards: &'a [u32],
    /// How the means are related.
    pub model: Model,
}

impl<'a> Posterior<'a> {
    /// The posterior of an estimator with this model, one number per arm in each slice.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[must_use]
    pub fn new(means: &'a [f64], variances: &'a [f64], n_rewards: &'a [u32], model: Model) -> Self {
        assert!(means.len() == variances.len() && means.len() == n_rewards.len(), "one number per arm");
        Self { means, variances, n_rewards, model }
    }
}

/// The relation between means that an estimator assumes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// The means are independent.
    Unrelated,
    /// The means are linear in d features; V = λI + Σ xxᵀ over the rewards received.
    Linear {
        /// The number of features d.
        dimension: usize,
        /// The regularisation λ.
        lambda: f64,
        /// ln(det V/λᵈ).
        log_det: f64,
    },
    /// The means have a linear, a smooth and an own part: [`Mixed`](super::Mixed).
    Mixed,
}

/// The posterior of every mean, for verdicts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Marginals {
    /// The means of the distributions.
    pub means: Vec<f64>,
    /// Their standard deviations. [`interval`](Marginals::interval) has the ends of an interval.
    pub deviations: Vec<f64>,
    /// The degrees of freedom of the t distribution, or of those that are mixed; ∞ for normal ones.
    pub degrees_of_freedom: Vec<f64>,
    /// The probability that the side of the mean is an error.
    pub doubts: Vec<f64>,
    /// The distributions, where they are mixtures of t distributions.
    mixtures: Option<Vec<Vec<MixturePart>>>,
}

/// One of the t distributions of a mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MixturePart {
    pub(crate) weight: f64,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Marginals {
    /// Distributions of these means, standard deviations, degrees of freedom and doubts, one of each per arm. For Student's t distribution itself,
    /// [`student_t`](Marginals::student_t) computes the doubts.
    ///
    /// # Panics
    /// If the vectors differ in length.
    #[must_use]
    pub fn new(means: Vec<f64>, deviations: Vec<f64>, degrees_of_freedom: Vec<f64>, doubts: Vec<f64>) -> Self {
        let n_arms = means.len();
        assert!([deviations.len(), degrees_of_freedom.len(), doubts.len()] == [n_arms; 3], "one number per arm");
        Self { means, deviations, degrees_of_freedom, doubts, mixtures: None }
    }

    /// Mixtures of t distributions; each has weights of sum 1.
    pub(crate) fn mixtures(
        means: Vec<f64>,
        doubts: Vec<f64>,
        mixtures: Vec<Vec<MixturePart>>,
        degrees_of_freedom: f64,
    ) -> Self {
        let deviation = |parts: &Vec<MixturePart>| {
            let mean: f64 = parts.iter().map(|part| part.weight * part.mean).sum();
            let square = |part: &MixturePart| part.weight * (part.deviation.powi(2) + (part.mean - mean).powi(2));
            parts.iter().map(square).sum::<f64>().sqrt()
        };
        let deviations = mixtures.iter().map(deviation).collect();
        let degrees_of_freedom = vec![degrees_of_freedom; means.len()];
        Self { mixtures: Some(mixtures), ..Self::new(means, deviations, degrees_of_freedom, doubts) }
    }

    /// The interval of level 1 − δ of an arm: with probability δ/2 its mean lies below it, and with δ/2 above.
    #[must_use]
    pub fn interval(&self, arm: Arm, delta: f64) -> (f64, f64) {
        let (mean, freedom) = (self.means[arm], self.degrees_of_freedom[arm]);
        let t = quantile(delta, freedom);
        let Some(mixtures) = &self.mixtures else {
            let half = t * self.deviations[arm];
            return (mean - half, mean + half);
        };
        let parts = &mixtures[arm];
        let end = |sign: f64| sign * mixture_quantile(parts, sign, delta / 2.0, t, freedom);
        (end(-1.0).min(mean), end(1.0).max(mean))
    }

    /// Student's t distribution around each mean: μᵢ = mᵢ + sᵢt with ν degrees of freedom, where sᵢ is called a deviation here.
    ///
    /// ```
    /// use cutline::{Question, estimators::Marginals};
    ///
    /// let question = Question::new(0.0, 0.0)?;
    /// let marginals = Marginals::student_t(question, vec![1.0, 0.0], vec![1.0, 1.0], 1.0); // Cauchy
    /// assert!((marginals.doubts[0] - 0.25).abs() < 1e-9 && marginals.doubts[1] == 0.5);
    /// # Ok::<(), cutline::QuestionError>(())
    /// ```
    ///
    /// # Panics
    /// If the vectors differ in length.
    #[must_use]
    pub fn student_t(question: Question, means: Vec<f64>, deviations: Vec<f64>, degrees_of_freedom: f64) -> Self {
        let doubt = |(&mean, &deviation)| doubt(question, mean, deviation, degrees_of_freedom);
        let doubts = means.iter().zip(&deviations).map(doubt).collect();
        let degrees_of_freedom = vec![degrees_of_freedom; means.len()];
        Self::new(means, deviations, degrees_of_freedom, doubts)
    }
}

/// x with P(sign·X > x) = `tail_probability`, by bisection between the ends of the parts' own intervals, which are `t` deviations long.
fn mixture_quantile(parts: &[MixturePart], sign: f64, tail_probability: f64, t: f64, freedom: f64) -> f64 {
    let ends = || parts.iter().map(|part| sign * part.mean + t * part.deviation);
    let (mut low, mut high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
    let beyond = |x: f64| -> f64 {
        let of_part = |part: &MixturePart| {
            let z = (x - sign * part.mean) / part.deviation;
            let tail = fast_tail(z.abs(), freedom);
            part.weight * if z < 0.0 { 1.0 - tail } else { tail }
        };
        parts.iter().map(of_part).sum()
    };
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > tail_probability { low = middle } else { high = middle }
    }
    high
}

/// How much of the differences between the means each part of the [mixed model](super::Mixed) explains, as learnt from the rewards: shares
/// of their variance, whose sum is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Explained {
    /// The share that is linear in the features.
    pub linear: f64,
    /// The share that is a smooth, but not linear, function of the features.
    pub smooth: f64,
    /// The share that the features do not explain.
    pub own: f64,
}

impl Explained {
    /// The share that the features explain.
    #[must_use]
    pub fn features(&self) -> f64 {
        self.linear + self.smooth
    }
}

/// The variances and the model of ridge by Cholesky factorisation: O(Kd² + d³). `inverse` and `step` are overwritten.
pub(super) fn linear(
    features: &Features,
    n_rewards: &[u32],
    inverse: &mut Inverse,
    step: &mut Step,
    variances: &mut Vec<f64>,
) -> Model {
    inverse.refresh(features, |arm| f64::from(n_rewards[arm]), step);
    variances.clear();
    let basis = inverse.basis(features);
    step.variances(basis, |_, variance| variances.push(variance));
    let lambda = inverse.lambda();
    Model::Linear { dimension: inverse.dimension(features), lambda, log_det: step.log_det(lambda) }
}

/// Deviations of the means from their posterior means, σXL⁻ᵀε with V = L·Lᵀ: `n` times one number per arm. `inverse` and `step` are overwritten.
pub(super) fn linear_deviations(
    features: &Features,
    n_rewards: &[u32],
    inverse: &mut Inverse,
    step: &mut Step,
    noise: f64,
    n: usize,
    normal: &mut dyn FnMut() -> f64,
) -> Vec<Vec<f64>> {
    inverse.refresh(features, |arm| f64::from(n_rewards[arm]), step);
    let basis = inverse.basis(features);
    let mut deviation = || {
        let theta = step.deviation(&mut || normal());
        (0..n_rewards.len()).map(|arm| noise * basis.row(arm).times(theta)).collect()
    };
    (0..n).map(|_| deviation()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.9 N(0, 1) + 0.1 N(1, 16), and the same of t distributions: roots of `SciPy`'s tails, version 1.17.
    #[test]
    fn quantiles_of_mixtures_agree_with_scipy() {
        let parts = vec![
            MixturePart { weight: 0.9, mean: 0.0, deviation: 1.0 },
            MixturePart { weight: 0.1, mean: 1.0, deviation: 4.0 },
        ];
        let interval =
            |freedom: f64| Marginals::mixtures(vec![0.1], vec![0.5], vec![parts.clone()], freedom).interval(0, 0.05);
        let (lower, upper) = interval(f64::INFINITY);
        assert!((lower - LOWER).abs() < 1e-8 && (upper - UPPER).abs() < 1e-8, "{lower}, {upper}");
        let (_, upper) = interval(12.0);
        assert!((upper - UPPER_T).abs() < 1e-6, "{upper}");
    }

    const LOWER: f64 = -2.4854613026046355;
    const UPPER: f64 = 3.7097234151207696;
    const UPPER_T: f64 = 3.907374659642964;
}
