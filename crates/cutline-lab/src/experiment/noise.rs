//! The noise of an experiment: a law or the caller's code, and how σ differs between arms.

use crate::{Noise, NoiseError, NoiseKind};
use cutline::{Purpose, Range, stream};
use rand::{Rng as _, RngExt};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

/// The noise of an experiment: one law for all arms, or the caller's code; σ may differ between arms.
#[derive(Clone, Debug)]
pub struct ExperimentNoise {
    law: Law,
    scales: ArmScales,
}

#[derive(Clone, Debug)]
enum Law {
    Named(Noise),
    /// Its values are multiplied by this σ.
    Custom(Arc<dyn CustomNoise>, f64),
}

/// How σ differs between arms.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ArmScales {
    /// It does not.
    Equal,
    /// This σ per arm.
    Given(Arc<[f64]>),
    /// σ times s^u, with u uniform on [−1, 1) and drawn for every arm with the instance: the ratio of two arms' σ is at most s².
    Spread(f64),
}

/// Noise drawn by the caller's code, for example in Python.
pub trait CustomNoise: Debug + Send + Sync {
    /// Fills in the noise of a run, one number per pull, always the same for the same seed. The numbers should have mean 0 and standard
    /// deviation 1: they are multiplied by σ. To report an error, panic.
    fn draw(&self, seed: u64, variates: &mut [f64]);
}

impl ExperimentNoise {
    /// The same noise for all arms.
    #[must_use]
    pub fn new(noise: Noise) -> Self {
        Self { law: Law::Named(noise), scales: ArmScales::Equal }
    }

    /// The caller's noise times `scale`.
    ///
    /// # Errors
    /// If `scale` is not a positive number.
    pub fn custom(noise: Arc<dyn CustomNoise>, scale: f64) -> Result<Self, NoiseError> {
        if Range::NOISE_SCALE.contains(scale) {
            Ok(Self { law: Law::Custom(noise, scale), scales: ArmScales::Equal })
        } else {
            Err(NoiseError::Scale(scale))
        }
    }

    /// The same law with a σ that differs between arms. [`ArmScales::Given`] replaces the σ of the law.
    ///
    /// # Errors
    /// If a scale or the spread is out of range, or the noise is Bernoulli.
    pub fn with_scales(self, scales: ArmScales) -> Result<Self, NoiseError> {
        let law = match (self.law, &scales) {
            (law, ArmScales::Equal) => law,
            (Law::Named(noise), _) if noise.kind() == NoiseKind::Bernoulli => return Err(NoiseError::NoScale),
            (law, ArmScales::Spread(spread)) => match spread {
                1.0..=1e6 => law,
                _ => return Err(NoiseError::Spread(*spread)),
            },
            (law, ArmScales::Given(given)) => {
                if let Some(&bad) = given.iter().find(|scale| !Range::NOISE_SCALE.contains(**scale)) {
                    return Err(NoiseError::Scale(bad));
                }
                match law {
                    Law::Named(noise) => Law::Named(Noise::new(noise.kind(), 1.0)?),
                    Law::Custom(noise, _) => Law::Custom(noise, 1.0),
                }
            }
        };
        Ok(Self { law, scales })
    }

    /// The law, if it is one of Cutline's and the same for all arms.
    #[must_use]
    pub fn law(&self) -> Option<Noise> {
        match self.law {
            Law::Named(noise) if self.scales == ArmScales::Equal => Some(noise),
            _ => None,
        }
    }

    /// The name of its kind; `own` if it is the caller's.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match &self.law {
            Law::Named(noise) => noise.kind().name(),
            Law::Custom(..) => "own",
        }
    }

    /// How σ differs between arms.
    #[must_use]
    pub fn scales(&self) -> &ArmScales {
        &self.scales
    }

    /// The largest σ that an arm can have, for rules that take one number. See [`Noise::scale`] for kinds that are not sub-Gaussian.
    #[must_use]
    pub fn scale(&self) -> f64 {
        let scale = match &self.law {
            Law::Named(noise) => noise.scale(),
            Law::Custom(_, scale) => *scale,
        };
        match &self.scales {
            ArmScales::Equal => scale,
            ArmScales::Given(given) => given.iter().copied().fold(0.0, f64::max),
            ArmScales::Spread(spread) => scale * spread,
        }
    }

    /// Whether rewards are 0 or 1 with the mean as probability.
    pub(crate) fn is_bernoulli(&self) -> bool {
        self.law().is_some_and(|noise| noise.kind() == NoiseKind::Bernoulli)
    }

    /// Draws the random numbers of a run, one per pull; they do not depend on the arms.
    pub(crate) fn draw(&self, seed: u64, run: u64, variates: &mut [f64]) {
        let mut rng = stream(seed, Purpose::Noise, run);
        match &self.law {
            Law::Named(noise) => noise.draw(&mut rng, variates),
            Law::Custom(noise, scale) => {
                noise.draw(rng.next_u64(), variates);
                for variate in variates {
                    *variate *= scale;
                }
            }
        }
    }

    /// The noise of every arm of an instance; `draw` is the number of the run that drew the instance.
    pub(crate) fn of_arms(&self, seed: u64, draw: u64, n_arms: usize) -> ArmNoise<'_> {
        let factors = match &self.scales {
            ArmScales::Equal => None,
            ArmScales::Given(given) => Some(Cow::Borrowed(&**given)),
            ArmScales::Spread(spread) => {
                let mut rng = stream(seed, Purpose::NoiseScales, draw);
                Some((0..n_arms).map(|_| spread.powf(2.0 * rng.random::<f64>() - 1.0)).collect())
            }
        };
        ArmNoise { is_bernoulli: self.is_bernoulli(), factors }
    }
}

/// The noise of every arm of an instance.
pub(crate) struct ArmNoise<'a> {
    is_bernoulli: bool,
    /// What a random number is multiplied by, per arm; `None` if that is 1 for all.
    factors: Option<Cow<'a, [f64]>>,
}

impl ArmNoise<'_> {
    /// The reward of a pull of an arm with this mean.
    #[inline]
    pub(crate) fn reward(&self, arm: usize, mean: f64, variate: f64) -> f64 {
        match &self.factors {
            None if self.is_bernoulli => f64::from(variate < mean),
            None => mean + variate,
            Some(factors) => mean + factors[arm] * variate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(scale: f64) -> ExperimentNoise {
        ExperimentNoise::new(Noise::new(NoiseKind::Gaussian, scale).unwrap())
    }

    fn rewards(noise: &ExperimentNoise, arm: usize) -> Vec<f64> {
        let mut variates = vec![0.0; 100_000];
        noise.draw(3, 8, &mut variates);
        let arms = noise.of_arms(3, 8, 3);
        variates.iter().map(|&variate| arms.reward(arm, 1.0, variate)).collect()
    }

    fn deviation(rewards: &[f64]) -> f64 {
        (rewards.iter().map(|reward| (reward - 1.0).powi(2)).sum::<f64>() / rewards.len() as f64).sqrt()
    }

    #[test]
    fn equal_scales_are_one_scale() {
        let given = gaussian(7.0).with_scales(ArmScales::Given([2.0; 3].into())).unwrap();
        assert_eq!(rewards(&given, 1), rewards(&gaussian(2.0), 1));
        assert_eq!((given.scale(), given.law()), (2.0, None));
        let spread = gaussian(2.0).with_scales(ArmScales::Spread(1.0)).unwrap();
        assert_eq!(rewards(&spread, 2), rewards(&gaussian(2.0), 2));
    }

    /// 5 standard errors of 100,000 rewards each.
    #[test]
    fn every_arm_has_its_scale() {
        let given = gaussian(1.0).with_scales(ArmScales::Given([0.5, 2.0, 8.0].into())).unwrap();
        assert_eq!(given.scale(), 8.0);
        for (arm, scale) in [0.5, 2.0, 8.0].into_iter().enumerate() {
            assert!((deviation(&rewards(&given, arm)) / scale - 1.0).abs() < 0.012, "arm {arm}");
        }
    }

    /// log₃(σᵢ/σ) is uniform on [−1, 1): of 10,000 values the mean is 0 ± 0.0058 and the extremes are near −1 and 1.
    #[test]
    fn a_spread_is_drawn_per_arm() {
        let noise = gaussian(2.0).with_scales(ArmScales::Spread(3.0)).unwrap();
        let arms = noise.of_arms(1, 0, 10_000);
        let logs: Vec<f64> = (0..10_000).map(|arm| arms.reward(arm, 0.0, 1.0).ln() / 3.0_f64.ln()).collect();
        let (least, most) = logs.iter().fold((1.0_f64, -1.0_f64), |(low, high), &x| (low.min(x), high.max(x)));
        assert!((logs.iter().sum::<f64>() / 10_000.0).abs() < 0.03 && least < -0.99 && most > 0.99);
        assert!(least >= -1.0 && most <= 1.0 && noise.scale() == 6.0);
        assert_ne!(noise.of_arms(1, 1, 1).reward(0, 0.0, 1.0), arms.reward(0, 0.0, 1.0), "another instance");
    }

    #[test]
    fn custom_noise_is_a_function_of_seed_and_run() {
        #[derive(Debug)]
        struct Seeds;
        impl CustomNoise for Seeds {
            fn draw(&self, seed: u64, variates: &mut [f64]) {
                variates.fill((seed >> 11) as f64);
            }
        }
        let noise = ExperimentNoise::custom(Arc::new(Seeds), 0.5).unwrap();
        let drawn = |seed, run| {
            let mut variates = [0.0; 2];
            noise.draw(seed, run, &mut variates);
            variates
        };
        assert_eq!(drawn(1, 2), drawn(1, 2));
        assert!(drawn(1, 2) != drawn(1, 3) && drawn(1, 2) != drawn(2, 2));
        assert_eq!((noise.kind_name(), noise.scale()), ("own", 0.5));
    }

    #[test]
    fn refusals() {
        let bernoulli = || ExperimentNoise::new(Noise::new(NoiseKind::Bernoulli, 1.0).unwrap());
        assert_eq!(bernoulli().with_scales(ArmScales::Spread(2.0)).unwrap_err(), NoiseError::NoScale);
        for bad in [0.5, f64::NAN, f64::INFINITY] {
            assert!(matches!(gaussian(1.0).with_scales(ArmScales::Spread(bad)), Err(NoiseError::Spread(_))));
        }
        assert_eq!(gaussian(1.0).with_scales(ArmScales::Given([1.0, 0.0].into())).unwrap_err(), NoiseError::Scale(0.0));
    }
}
