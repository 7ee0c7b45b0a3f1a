//! The noise of a measurement.

use cutline::Rng;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use thiserror::Error;

/// The kinds of noise, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl NoiseKind {
    /// All of them, with their names.
    pub const ALL: &[(&str, Self)] = &[
        ("gaussian", Self::Gaussian),
        ("rademacher", Self::Rademacher),
        ("uniform", Self::Uniform),
        ("bernoulli", Self::Bernoulli),
    ];
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

/// The scale is not a positive number.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("the noise scale must be a number between 1e-100 and 1e100, not {0:?}")]
pub struct NoiseError(pub f64);

impl Noise {
    /// Noise with standard deviation `scale`. The spread of Bernoulli noise follows from the mean: `scale` is ignored, and the
    /// bound ½ takes its place.
    ///
    /// # Errors
    /// If `scale` is not a positive number.
    pub fn new(kind: NoiseKind, scale: f64) -> Result<Self, NoiseError> {
        if !cutline::Range::NOISE_SCALE.contains(scale) {
            return Err(NoiseError(scale));
        }
        let scale = if kind == NoiseKind::Bernoulli { 0.5 } else { scale };
        Ok(Self { kind, scale })
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> NoiseKind {
        self.kind
    }

    /// σ, for rules that take it: every kind is σ-sub-Gaussian.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Draws the random numbers of [`Noise::reward`], one per pull; they do not depend on the arms.
    pub fn draw(&self, rng: &mut Rng, variates: &mut [f64]) {
        let scale = self.scale;
        match self.kind {
            NoiseKind::Gaussian => {
                variates.fill_with(|| scale * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, rng));
            }
            NoiseKind::Rademacher => variates.fill_with(|| if rng.random() { scale } else { -scale }),
            NoiseKind::Uniform => {
                let width = 3.0_f64.sqrt() * scale;
                variates.fill_with(|| width * (2.0 * rng.random::<f64>() - 1.0));
            }
            NoiseKind::Bernoulli => variates.fill_with(|| rng.random()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use cutline::{Purpose, stream};

    /// Means and standard deviations of 200,000 rewards; 6 standard errors, so a false-alarm rate below 2e-8 (8 numbers).
    #[test]
    fn rewards_have_their_mean_and_spread() {
        for &(name, kind) in NoiseKind::ALL {
            let noise = Noise::new(kind, 1.7).unwrap();
            let (mean, spread) = if kind == NoiseKind::Bernoulli { (0.3, 0.21_f64.sqrt()) } else { (0.3, 1.7) };
            let mut variates = vec![0.0; 200_000];
            noise.draw(&mut stream(1, Purpose::Noise, 0), &mut variates);
            let rewards: Vec<f64> = variates.iter().map(|&v| noise.reward(mean, v)).collect();
            let n = 200_000.0_f64;
            let average = rewards.iter().sum::<f64>() / n;
            let deviation = (rewards.iter().map(|r| (r - average).powi(2)).sum::<f64>() / n).sqrt();
            assert!((average - mean).abs() < 6.0 * spread / n.sqrt(), "{name}: mean {average}");
            assert!((deviation - spread).abs() < 6.0 * spread / n.sqrt(), "{name}: deviation {deviation}");
        }
    }

    #[test]
    fn refuses_scales_that_are_not_positive() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Noise::new(NoiseKind::Gaussian, bad).is_err());
        }
    }
}
