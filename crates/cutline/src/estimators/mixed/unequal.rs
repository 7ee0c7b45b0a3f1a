//! Noise that is not equal for all arms, learnt from arms that were measured more than once.
//!
//! The noise variance of an arm is taken to be σᵢ² = νs²/χ²_ν around a common s². The sum of squares Sᵢ of an arm with n rewards is then
//! distributed as a multiple of Fisher's F, which gives the likelihood of ν; half of the prior is on equal noise, ν = ∞. Given ν, the
//! variance of an arm is estimated by (νs² + Sᵢ)/(ν + n − 1), with ν + n − 1 degrees of freedom.

use statrs::function::gamma::ln_gamma;

/// How unequal the noise may be, besides equal.
const FREEDOMS: [f64; 5] = [3.0, 6.0, 12.0, 25.0, 50.0];
/// s², in units of the pooled variance within arms: unequal noise has large variances in a few arms, so s² lies below their mean.
const SCALES: [f64; 7] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// With fewer degrees of freedom within arms, the noise is taken to be equal.
const LEAST_FREEDOM: f64 = 10.0;
/// With ν above this, the noise is taken to be equal.
const MOST_FREEDOM: f64 = 200.0;

/// The factors are rounded to powers of 2^(1/8), so that arms can be pooled.
const LEVELS_PER_OCTAVE: f64 = 8.0;

/// How unequal the noise of the arms is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnequalNoise {
    /// ν.
    freedom: f64,
    /// The pooled variance within arms.
    pooled: f64,
}

impl UnequalNoise {
    /// Learns ν from the numbers of rewards and the sums of squares of the arms; `None` if the noise may as well be equal.
    pub(super) fn learn(counts: &[u32], squares: &[f64]) -> Option<Self> {
        let arms: Vec<(f64, f64)> = counts
            .iter()
            .zip(squares)
            .filter(|(n, _)| **n > 1)
            .map(|(&n, &squares)| (f64::from(n) - 1.0, squares))
            .collect();
        let (freedom, sum) = arms.iter().fold((0.0, 0.0), |(n, s), arm| (n + arm.0, s + arm.1));
        let pooled = sum / freedom;
        if freedom < LEAST_FREEDOM || !pooled.is_normal() {
            return None;
        }
        let total = |log_density: &dyn Fn(f64, f64) -> f64| -> f64 {
            arms.iter().map(|&(n, squares)| log_density(n, squares / pooled)).sum()
        };
        let equal = total(&|n, s| -ln_gamma(0.5 * n) + 0.5 * (n * (0.5 * s).max(f64::MIN_POSITIVE).ln() - s));
        let n_settings = (FREEDOMS.len() * SCALES.len()) as f64;
        let (mut weights, mut inverse_freedom) = (1.0, 0.0);
        let mut most = equal;
        for nu in FREEDOMS {
            for scale in SCALES {
                let log = total(&|n, s| {
                    let ratio = s / (nu * scale);
                    ln_gamma(0.5 * (n + nu)) - ln_gamma(0.5 * n) - ln_gamma(0.5 * nu)
                        + 0.5 * (n * ratio.max(f64::MIN_POSITIVE).ln() - (n + nu) * ratio.ln_1p())
                }) - n_settings.ln();
                // Rescaled, so that the largest weight is 1.
                let rescale = (most - log.max(most)).exp();
                most = log.max(most);
                let weight = (log - most).exp();
                weights = weights * rescale + weight;
                inverse_freedom = inverse_freedom * rescale + weight / nu;
            }
        }
        let freedom = weights / inverse_freedom;
        (freedom < MOST_FREEDOM).then_some(Self { freedom, pooled })
    }

    /// The noise variance of every arm in units of σ², rounded.
    pub(super) fn factors(&self, counts: &[u32], squares: &[f64]) -> Vec<f64> {
        let factor = |(&n, &squares): (&u32, &f64)| {
            let factor = (self.freedom + squares / self.pooled) / self.degrees_of_freedom(n.max(1));
            ((factor.log2() * LEVELS_PER_OCTAVE).round() / LEVELS_PER_OCTAVE).exp2()
        };
        counts.iter().zip(squares).map(factor).collect()
    }

    /// The degrees of freedom of the noise variance of an arm with n rewards; ∞ without any, because its noise does not matter then.
    pub(super) fn degrees_of_freedom(&self, n: u32) -> f64 {
        if n == 0 { f64::INFINITY } else { self.freedom + f64::from(n) - 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Rng, stream};
    use rand_core::Rng as _;

    /// The square of a standard normal variable.
    fn chi2(rng: &mut Rng) -> f64 {
        let mut uniform = || (f64::from(rng.next_u32()) + 0.5) / 2.0_f64.powi(32);
        -2.0 * uniform().ln() * (std::f64::consts::TAU * uniform()).cos().powi(2)
    }

    /// 200 arms of 6 rewards: S = σᵢ²χ²₅ with σᵢ² = ν/χ²_ν.
    fn draw(seed: u64, freedom: Option<u32>) -> (Vec<u32>, Vec<f64>) {
        let mut rng = stream(seed, Purpose::Noise, 0);
        let mut sum = |n: u32| (0..n).map(|_| chi2(&mut rng)).sum::<f64>();
        let squares = (0..200).map(|_| 1e6 * sum(5) * freedom.map_or(1.0, |nu| f64::from(nu) / sum(nu))).collect();
        (vec![6; 200], squares)
    }

    #[test]
    fn the_inequality_of_the_noise_is_learnt() {
        for seed in 0..5 {
            let (counts, squares) = draw(seed, Some(6));
            let unequal = UnequalNoise::learn(&counts, &squares).unwrap();
            assert!((4.0..11.0).contains(&unequal.freedom), "{unequal:?}");
            let (counts, squares) = draw(seed, None);
            assert_eq!(UnequalNoise::learn(&counts, &squares), None);
        }
    }

    /// By hand: ν = 4, a pooled variance of 2.
    #[test]
    fn a_factor_is_the_posterior_mean_of_the_variance() {
        let unequal = UnequalNoise { freedom: 4.0, pooled: 2.0 };
        let factors = unequal.factors(&[0, 1, 5, 5], &[0.0, 0.0, 8.0, 24.0]);
        assert_eq!(factors, [1.0, 1.0, 1.0, 2.0]);
        assert_eq!([0, 1, 5].map(|n| unequal.degrees_of_freedom(n)), [f64::INFINITY, 4.0, 8.0]);
        let rounded = unequal.factors(&[5], &[8.1])[0];
        assert_eq!(rounded, 1.0, "1.00625 is nearest to 2⁰");
    }

    #[test]
    fn too_few_repeats_say_nothing() {
        assert_eq!(UnequalNoise::learn(&[1; 50], &[0.0; 50]), None);
        assert_eq!(UnequalNoise::learn(&[3; 4], &[1.0, 9.0, 1e-9, 400.0]), None);
        assert_eq!(UnequalNoise::learn(&[30; 4], &[0.0; 4]), None, "no noise at all");
    }
}
