//! Noise that is not equal for all arms, learnt from arms that were measured more than once.
//!
//! The noise variance of an arm is taken to be `σᵢ² = νs²/χ²_ν` around a common s². The sum of squares Sᵢ of an arm with n rewards is then
//! distributed as a multiple of Fisher's F, which gives the likelihood of ν; half of the prior is on equal noise, ν = ∞.
//!
//! What is learnt widens verdicts; it does not weigh the rewards. Where the noise is skewed, an arm's sum of squares and its average rise and
//! fall together, and weights by the former would bias the latter.

use super::surprises::{N_LEVELS, level};
use statrs::function::gamma::{gamma_ur, ln_gamma};

/// How unequal the noise may be, besides equal.
const FREEDOMS: [f64; 5] = [3.0, 6.0, 12.0, 25.0, 50.0];
/// s², in units of the pooled variance within arms: unequal noise has large variances in a few arms, so s² lies below their mean.
const SCALES: [f64; 7] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// With ν above this, the noise is taken to be equal.
const MOST_FREEDOM: f64 = 200.0;

/// A ν with less probability is left out of the laws.
const NEGLIGIBLE: f64 = 1e-9;

/// The noise variances of the arms by one ν.
#[derive(Clone, Debug)]
pub(super) struct Law {
    /// The probability of ν.
    pub(super) probability: f64,
    /// The probabilities of an arm's noise variance, by level.
    pub(super) levels: [f64; N_LEVELS],
}

/// How unequal the noise of the arms is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnequalNoise {
    /// ν on average: the reciprocal of the posterior mean of 1/ν.
    freedom: f64,
    /// Every ν with its posterior probability.
    posterior: [(f64, f64); FREEDOMS.len() + 1],
    /// The probabilities of s² given each ν of `FREEDOMS`.
    scales: [[f64; SCALES.len()]; FREEDOMS.len()],
}

impl UnequalNoise {
    /// Learns ν from the numbers of rewards and the sums of squares of the arms; `None` if the noise may as well be equal. Without repeated
    /// measurements, ν is that of the prior.
    pub(super) fn learn(counts: &[u32], squares: &[f64]) -> Option<Self> {
        let repeats = |(&n, &squares): (&u32, &f64)| (n > 1).then(|| (f64::from(n) - 1.0, squares));
        let arms: Vec<(f64, f64)> = counts.iter().zip(squares).filter_map(repeats).collect();
        let (freedom, sum) = arms.iter().fold((0.0, 0.0), |(n, s), arm| (n + arm.0, s + arm.1));
        let pooled = sum / freedom;
        let arms = if pooled.is_normal() { &arms[..] } else { &[] };
        let total = |log_density: &dyn Fn(f64, f64) -> f64| -> f64 {
            arms.iter().map(|&(n, squares)| log_density(n, squares / pooled)).sum()
        };
        let log_equal = total(&|n, s| -ln_gamma(0.5 * n) + 0.5 * (n * (0.5 * s).max(f64::MIN_POSITIVE).ln() - s));
        let n_settings = (FREEDOMS.len() * SCALES.len()) as f64;
        let log_unequal = |nu: f64, scale: f64| {
            let log_density = |n: f64, s: f64| {
                let ratio = s / (nu * scale);
                ln_gamma(0.5 * (n + nu)) - ln_gamma(0.5 * n) - ln_gamma(0.5 * nu)
                    + 0.5 * (n * ratio.max(f64::MIN_POSITIVE).ln() - (n + nu) * ratio.ln_1p())
            };
            total(&log_density) - n_settings.ln()
        };
        let mut settings = vec![(0.0, log_equal)];
        settings.extend(FREEDOMS.iter().flat_map(|&nu| SCALES.map(|scale| (1.0 / nu, log_unequal(nu, scale)))));
        let most = settings.iter().map(|setting| setting.1).fold(f64::NEG_INFINITY, f64::max);
        let weigh = |sums: (f64, f64), &(inverse, log): &(f64, f64)| {
            let weight = (log - most).exp();
            (sums.0 + weight, sums.1 + weight * inverse)
        };
        let (weights, inverse) = settings.iter().fold((0.0, 0.0), weigh);
        let mut posterior = [(f64::INFINITY, (log_equal - most).exp() / weights); FREEDOMS.len() + 1];
        let mut scales = [[0.0; SCALES.len()]; FREEDOMS.len()];
        for (position, &nu) in FREEDOMS.iter().enumerate() {
            let of_nu = &settings[1 + position * SCALES.len()..][..SCALES.len()];
            posterior[1 + position] = (nu, of_nu.iter().map(|setting| (setting.1 - most).exp()).sum::<f64>() / weights);
            let most_of_nu = of_nu.iter().map(|setting| setting.1).fold(f64::NEG_INFINITY, f64::max);
            let of_scales: [f64; SCALES.len()] = std::array::from_fn(|scale| (of_nu[scale].1 - most_of_nu).exp());
            scales[position] = of_scales.map(|weight| weight / of_scales.iter().sum::<f64>());
        }
        let freedom = weights / inverse;
        (freedom < MOST_FREEDOM).then_some(Self { freedom, posterior, scales })
    }

    /// Every ν that is not improbable, with the probabilities of the levels of an arm's noise variance in units of σ².
    pub(super) fn laws(&self) -> Vec<Law> {
        let law = |(position, &(nu, probability)): (usize, &(f64, f64))| {
            // P(σᵢ² ≤ x) for σᵢ² = νs²/χ²_ν, averaged over s².
            let cumulative = |x: f64| -> f64 {
                let given_scale = |(weight, scale): (&f64, f64)| weight * gamma_ur(0.5 * nu, 0.5 * nu * scale / x);
                self.scales[position - 1].iter().zip(SCALES).map(given_scale).sum()
            };
            let up_to = |l: usize| match l {
                0 => 0.0,
                N_LEVELS => 1.0,
                _ if nu.is_infinite() => f64::from(u8::from(level(l) > 1.0)),
                _ => cumulative((level(l - 1) * level(l)).sqrt()),
            };
            Law { probability, levels: std::array::from_fn(|l| (up_to(l + 1) - up_to(l)).max(0.0)) }
        };
        self.posterior.iter().enumerate().filter(|(_, of_nu)| of_nu.1 > NEGLIGIBLE).map(law).collect()
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

    /// 200 arms of 6 rewards: S = σᵢ²χ²₅ with `σᵢ² = ν/χ²_ν`.
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
            let equal = UnequalNoise::learn(&counts, &squares);
            assert!(equal.is_none_or(|equal| equal.freedom > 50.0), "{equal:?}");
        }
    }

    /// Half of the prior on equal noise, the rest divided among five ν: the mean of 1/ν is half of their mean of 1/ν.
    #[test]
    fn without_repeats_the_prior_is_left() {
        let prior = 2.0 * 5.0 / (1.0 / 3.0 + 1.0 / 6.0 + 1.0 / 12.0 + 1.0 / 25.0 + 1.0 / 50.0);
        for (counts, squares) in [([1; 4], [0.0; 4]), ([30; 4], [0.0; 4])] {
            let unequal = UnequalNoise::learn(&counts, &squares).unwrap();
            assert!((unequal.freedom / prior - 1.0).abs() < 1e-12, "{unequal:?}, not {prior}");
            let laws = unequal.laws();
            let is_close = |(law, probability): (&Law, f64)| (law.probability - probability).abs() < 1e-12;
            assert!(laws.iter().zip([0.5, 0.1, 0.1, 0.1, 0.1, 0.1]).all(is_close), "{laws:?}");
        }
    }

    /// `scipy.stats.invgamma(1.5, scale=1.5 * s2).cdf`, version 1.17, at the edges √½ and √2 of λ = 1, averaged over the seven s².
    #[test]
    fn levels_of_the_noise_agree_with_scipy() {
        let laws = UnequalNoise::learn(&[1; 4], &[0.0; 4]).unwrap().laws();
        let one = (0..N_LEVELS).position(|l| level(l) == 1.0).unwrap();
        assert_eq!(laws[0].levels[one], 1.0, "equal noise");
        for law in &laws {
            assert!((law.levels.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{law:?}");
        }
        assert!((laws[1].levels[one] - 0.2744120618564306).abs() < 1e-9, "{}", laws[1].levels[one]);
        assert!((laws[5].levels[one] - 0.4788177075583247).abs() < 1e-9, "{}", laws[5].levels[one]);
    }
}
