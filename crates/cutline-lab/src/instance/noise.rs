//! The noise of a measurement, for arms that all have the same; [`ExperimentNoise`](crate::ExperimentNoise) is for arms that differ.

use cutline::Rng;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal, StudentT};
use thiserror::Error;

/// The kinds of noise.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NoiseKind {
    /// N(0, σ²).
    Gaussian,
    /// −σ or σ, each with probability ½.
    Rademacher,
    /// Uniform on [−√3 σ, √3 σ].
    Uniform,
    /// The reward is 1 with probability μ, else 0; for means in [0, 1].
    Bernoulli,
    /// Student's t with ν > 2 degrees of freedom, times σ√((ν − 2)/ν): heavy tails on both sides.
    StudentT {
        /// ν.
        degrees_of_freedom: f64,
    },
    /// σ (exp(sZ − s²/2) − 1)/√(exp(s²) − 1) with Z standard normal: a heavy tail on one side.
    Lognormal {
        /// s, the standard deviation of the logarithm.
        shape: f64,
    },
}

impl NoiseKind {
    /// Its name in experiment files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Rademacher => "rademacher",
            Self::Uniform => "uniform",
            Self::Bernoulli => "bernoulli",
            Self::StudentT { .. } => "t",
            Self::Lognormal { .. } => "lognormal",
        }
    }
}

/// Noise of one kind and standard deviation σ.
///
/// ```
/// use cutline_lab::{Noise, NoiseKind};
///
/// let noise = Noise::new(NoiseKind::Rademacher, 2.0)?;
/// assert_eq!(noise.reward(0.5, -2.0), -1.5);
/// # Ok::<(), cutline_lab::NoiseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    kind: NoiseKind,
    scale: f64,
}

/// Why noise was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NoiseError {
    /// The scale is not a positive number.
    #[error("the noise scale must be a number between 1e-100 and 1e100, not {0:?}")]
    Scale(f64),
    /// Student's t has no variance, or too many degrees of freedom.
    #[error("the degrees of freedom must be a number above 2 and at most 1e6, not {0:?}")]
    DegreesOfFreedom(f64),
    /// The shape of a lognormal is out of range.
    #[error("the shape must be a number between 1e-6 and 5, not {0:?}")]
    Shape(f64),
    /// The spread of the scales is out of range.
    #[error("the spread must be a number between 1 and 1e6, not {0:?}")]
    Spread(f64),
    /// The spread of Bernoulli rewards follows from their mean.
    #[error("bernoulli noise has no scale: its spread follows from the mean")]
    NoScale,
}

impl Noise {
    /// Noise with standard deviation `scale`. The spread of Bernoulli noise follows from the mean: `scale` is ignored, and the
    /// bound ½ takes its place.
    ///
    /// # Errors
    /// If `scale` is not a positive number, or a parameter of the kind is out of range.
    pub fn new(kind: NoiseKind, scale: f64) -> Result<Self, NoiseError> {
        if !cutline::Range::NOISE_SCALE.contains(scale) {
            return Err(NoiseError::Scale(scale));
        }
        match kind {
            NoiseKind::StudentT { degrees_of_freedom: nu } if !(nu > 2.0 && nu <= 1e6) => {
                Err(NoiseError::DegreesOfFreedom(nu))
            }
            NoiseKind::Lognormal { shape } if !(1e-6..=5.0).contains(&shape) => Err(NoiseError::Shape(shape)),
            NoiseKind::Bernoulli => Ok(Self { kind, scale: 0.5 }),
            _ => Ok(Self { kind, scale }),
        }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> NoiseKind {
        self.kind
    }

    /// σ, for rules that take it. Rules and stops assume rewards that are σ-sub-Gaussian. [`NoiseKind::StudentT`] and
    /// [`NoiseKind::Lognormal`] have standard deviation σ and are not sub-Gaussian: guarantees do not hold for them.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Draws the random numbers of [`Noise::reward`], one per pull; they do not depend on the arms.
    ///
    /// # Panics
    /// Never: the degrees of freedom were checked.
    pub fn draw(&self, rng: &mut Rng, variates: &mut [f64]) {
        let scale = self.scale;
        match self.kind {
            NoiseKind::Gaussian => variates.fill_with(|| scale * normal(rng)),
            NoiseKind::Rademacher => variates.fill_with(|| if rng.random() { scale } else { -scale }),
            NoiseKind::Uniform => {
                let width = 3.0_f64.sqrt() * scale;
                variates.fill_with(|| width * (2.0 * rng.random::<f64>() - 1.0));
            }
            NoiseKind::Bernoulli => variates.fill_with(|| rng.random()),
            NoiseKind::StudentT { degrees_of_freedom: nu } => {
                let (law, unit) = (StudentT::new(nu).expect("checked"), ((nu - 2.0) / nu).sqrt());
                variates.fill_with(|| scale * unit * law.sample(rng));
            }
            NoiseKind::Lognormal { shape } => {
                let (centre, deviation) = (0.5 * shape * shape, (shape * shape).exp_m1().sqrt());
                variates.fill_with(|| scale * (shape * normal(rng) - centre).exp_m1() / deviation);
            }
        }
    }

    /// The reward of a pull of an arm with this mean.
    #[inline]
    #[must_use]
    pub fn reward(&self, mean: f64, variate: f64) -> f64 {
        match self.kind {
            NoiseKind::Bernoulli => f64::from(variate < mean),
            _ => mean + variate,
        }
    }
}

/// Inlined everywhere, because a run draws one number per pull.
#[inline(always)]
fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline::{Purpose, stream};

    const KINDS: [NoiseKind; 6] = [
        NoiseKind::Gaussian,
        NoiseKind::Rademacher,
        NoiseKind::Uniform,
        NoiseKind::Bernoulli,
        NoiseKind::StudentT { degrees_of_freedom: 10.0 },
        NoiseKind::Lognormal { shape: 0.25 },
    ];

    fn drawn(kind: NoiseKind, scale: f64) -> (Noise, Vec<f64>) {
        let noise = Noise::new(kind, scale).unwrap();
        let mut variates = vec![0.0; 200_000];
        noise.draw(&mut stream(1, Purpose::Noise, 0), &mut variates);
        (noise, variates)
    }

    /// Means and standard deviations of 200,000 rewards; 6 standard errors, so a false-alarm rate below 3e-8 (12 numbers). The
    /// kurtosis of each kind is at most 4.1, so the standard error of a deviation is below that of a mean.
    #[test]
    fn rewards_have_their_mean_and_spread() {
        for kind in KINDS {
            let (noise, variates) = drawn(kind, 1.7);
            let name = kind.name();
            let (mean, spread) = if kind == NoiseKind::Bernoulli { (0.3, 0.21_f64.sqrt()) } else { (0.3, 1.7) };
            let rewards: Vec<f64> = variates.iter().map(|&v| noise.reward(mean, v)).collect();
            let n = 200_000.0_f64;
            let average = rewards.iter().sum::<f64>() / n;
            let deviation = (rewards.iter().map(|r| (r - average).powi(2)).sum::<f64>() / n).sqrt();
            assert!((average - mean).abs() < 6.0 * spread / n.sqrt(), "{name}: mean {average}");
            assert!((deviation - spread).abs() < 6.0 * spread / n.sqrt(), "{name}: deviation {deviation}");
        }
    }

    /// Shares of 200,000 values; 5 standard errors, so a false-alarm rate below 2e-6 (3 shares). The 97.5 % point of Student's t with
    /// three degrees of freedom is 3.182446, as in any table; the median and the 97.5 % point of exp(Z) are 1 and exp(1.959964), and
    /// exp(Z) has mean √e and standard deviation √(e(e − 1)).
    #[test]
    fn tails_have_their_shape() {
        let share = |kind, is_in: &dyn Fn(f64) -> bool| {
            let (_, variates) = drawn(kind, 2.0);
            variates.iter().filter(|&&v| is_in(v)).count() as f64 / 200_000.0
        };
        let is_near = |share: f64, expected: f64| {
            (share - expected).abs() < 5.0 * (expected * (1.0 - expected) / 200_000.0).sqrt()
        };
        let t = share(NoiseKind::StudentT { degrees_of_freedom: 3.0 }, &|v| v.abs() > 2.0 * 3.182446 / 3.0_f64.sqrt());
        assert!(is_near(t, 0.05), "{t}");
        let e = 1.0_f64.exp();
        let value = |log: f64| 2.0 * (log.exp() - e.sqrt()) / (e * (e - 1.0)).sqrt();
        let lognormal = NoiseKind::Lognormal { shape: 1.0 };
        let below = share(lognormal, &|v| v < value(0.0));
        let above = share(lognormal, &|v| v > value(1.959964));
        assert!(is_near(below, 0.5) && is_near(above, 0.025), "{below}, {above}");
    }

    #[test]
    fn refuses_numbers_out_of_range() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Noise::new(NoiseKind::Gaussian, bad).is_err());
            let shape = NoiseKind::Lognormal { shape: bad };
            assert!(matches!(Noise::new(shape, 1.0), Err(NoiseError::Shape(_))));
        }
        for degrees_of_freedom in [2.0, 1.0, f64::NAN, f64::INFINITY] {
            let refused = Noise::new(NoiseKind::StudentT { degrees_of_freedom }, 1.0);
            assert!(matches!(refused, Err(NoiseError::DegreesOfFreedom(_))));
        }
    }
}
