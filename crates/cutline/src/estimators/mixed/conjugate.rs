//! Priors of pass rates and of rates of counts, which the own rewards of an arm turn into posteriors of the same kind.
//!
//! For rewards of 0 or 1, and for small counts, a Gaussian posterior is wrong where it matters: one pass among rare ones is weak evidence, and
//! by a normal distribution it would be overwhelming.

use statrs::function::beta::{beta_reg, ln_beta};
use statrs::function::gamma::{gamma_lr, ln_gamma};

/// The rewards that are no numbers with Gaussian noise.
#[derive(Clone, Copy, Debug)]
pub(super) enum Discrete {
    /// 0 or 1, with the rate of passes among all of them.
    PassFail(f64),
    /// Small whole numbers, with their mean.
    Counts(f64),
}

/// A distribution of a rate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conjugate {
    /// Of passes and fails, or of those that the prior is worth.
    Beta { passes: f64, fails: f64 },
    /// Of a sum of counts and a number of them; the noise variance in units of the mean.
    Gamma { sum: f64, number: f64, dispersion: f64 },
}

/// How far rates are believed to differ where too few passes, or fails, show how far: a deviation of this much in the logarithm of the odds.
const LEAST_DIFFERENCE: f64 = 0.5;

/// How many passes, or fails, show how far rates differ.
const SHOWING: f64 = 10.0;

impl Discrete {
    /// The prior of this mean and variance, for `n` rewards in all and a noise variance that the model has learnt.
    pub(super) fn prior(self, n: f64, noise_variance: f64, mean: f64, variance: f64) -> Conjugate {
        match self {
            Self::PassFail(rate) => {
                let rarer = rate.min(1.0 - rate);
                let mean = mean.clamp(0.1 * rarer, 1.0 - 0.1 * rarer);
                let spread = mean * (1.0 - mean);
                let least = (LEAST_DIFFERENCE * spread).powi(2) * SHOWING / (SHOWING + n * rarer);
                let size = (spread / (variance + least) - 1.0).max(1.0);
                Conjugate::Beta { passes: mean * size, fails: (1.0 - mean) * size }
            }
            Self::Counts(rate) => {
                let mean = mean.max(0.1 * rate);
                let least = (LEAST_DIFFERENCE * mean).powi(2) * SHOWING / (SHOWING + n * rate);
                let number = mean / (variance + least);
                Conjugate::Gamma {
                    sum: mean * number,
                    number,
                    dispersion: (noise_variance / rate).max(f64::MIN_POSITIVE),
                }
            }
        }
    }
}

impl Conjugate {
    /// The posterior after `n` rewards of this sum.
    pub(super) fn after(self, n: f64, of_rewards: f64) -> Self {
        match self {
            Self::Beta { passes, fails } => Self::Beta { passes: passes + of_rewards, fails: fails + n - of_rewards },
            Self::Gamma { sum, number, dispersion } => {
                Self::Gamma { sum: sum + of_rewards / dispersion, number: number + n / dispersion, dispersion }
            }
        }
    }

    /// The logarithm of the probability of rewards that lead to this posterior, up to a constant of the rewards.
    pub(super) fn log_likelihood(self, posterior: Self) -> f64 {
        match (self, posterior) {
            (Self::Beta { passes, fails }, Self::Beta { passes: p, fails: f }) => {
                ln_beta(p, f) - ln_beta(passes, fails)
            }
            (Self::Gamma { sum, number, .. }, Self::Gamma { sum: s, number: n, .. }) => {
                ln_gamma(s) - ln_gamma(sum) + sum * number.ln() - s * n.ln()
            }
            _ => f64::NEG_INFINITY,
        }
    }

    pub(super) fn mean(self) -> f64 {
        match self {
            Self::Beta { passes, fails } => passes / (passes + fails),
            Self::Gamma { sum, number, .. } => sum / number,
        }
    }

    pub(super) fn variance(self) -> f64 {
        match self {
            Self::Beta { passes, fails } => self.mean() * (1.0 - self.mean()) / (passes + fails + 1.0),
            Self::Gamma { sum, number, .. } => sum / (number * number),
        }
    }

    /// The probability of a rate below x.
    pub(super) fn below(self, x: f64) -> f64 {
        match self {
            Self::Beta { passes, fails } => beta_reg(passes, fails, x.clamp(0.0, 1.0)),
            Self::Gamma { sum, number, .. } => {
                if x > 0.0 {
                    gamma_lr(sum, number * x)
                } else {
                    0.0
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.betabinom`, `nbinom`, `beta` and `gamma`, version 1.17. The constants of the rewards are the binomial coefficient and
    /// 1/Π r!.
    #[test]
    fn agree_with_scipy() {
        let prior = Conjugate::Beta { passes: 2.0, fails: 6.0 };
        let posterior = prior.after(5.0, 2.0);
        let likelihood = prior.log_likelihood(posterior).exp() * 10.0;
        assert!((likelihood - BETA_BINOMIAL).abs() < 1e-12, "{likelihood}");
        assert!((posterior.below(0.3) - BETA_BELOW).abs() < 1e-10, "{}", posterior.below(0.3));
        assert!((posterior.mean() - 4.0 / 13.0).abs() < 1e-15);
        assert!((posterior.variance() - 36.0 / (169.0 * 14.0)).abs() < 1e-15);
        let prior = Conjugate::Gamma { sum: 3.0, number: 2.0, dispersion: 1.0 };
        let posterior = prior.after(1.0, 4.0);
        let likelihood = prior.log_likelihood(posterior).exp() / 24.0;
        assert!((likelihood - GAMMA_POISSON).abs() < 1e-12, "{likelihood}");
        assert!((posterior.below(2.0) - GAMMA_BELOW).abs() < 1e-10, "{}", posterior.below(2.0));
        assert_eq!((posterior.mean(), posterior.variance(), posterior.below(-1.0)), (7.0 / 3.0, 7.0 / 9.0, 0.0));
    }

    const BETA_BINOMIAL: f64 = 0.21212121212121196;
    const BETA_BELOW: f64 = 0.5074842265649997;
    const GAMMA_POISSON: f64 = 0.05486968449931414;
    const GAMMA_BELOW: f64 = 0.3936972175874086;
}
