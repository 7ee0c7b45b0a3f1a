//! Means that are computed only when a rule needs them.

use crate::features::Features;
use crate::vector::{LANES, Vectors, numbers};

/// The means μ̂ᵢ = xᵢᵀθ̂ of an [`Estimator`](super::Estimator) that keeps θ̂: a rule may compute those of a few arms, or of all.
#[derive(Debug)]
pub struct LazyMeans<'a> {
    pub(crate) features: &'a Features,
    pub(crate) theta: &'a [f64],
    /// The length of the path that θ̂ has travelled so far, rounded up.
    pub(crate) travelled: f64,
    /// All means when they were last computed, and whether θ̂ has moved since.
    pub(crate) means: &'a mut Vectors,
    pub(crate) is_stale: &'a mut bool,
}

impl LazyMeans<'_> {
    /// All means, brought up to date, block by block.
    pub(crate) fn all(&mut self) -> &[[f64; LANES]] {
        if *self.is_stale {
            self.features.times(self.theta, self.means);
            *self.is_stale = false;
        }
        numbers(self.means).as_chunks().0
    }
}
