//! The own parts of the arms: how much an arm's own rewards count against its features.
//!
//! With n pulls of an arm, gᵢ = 1/(1 + ρᵢn) and wᵢ = nᵢgᵢ. One more pull adds gᵢgᵢ′ to wᵢ, where gᵢ′ is gᵢ after it.

use crate::Arm;
use crate::estimators::History;
use crate::vector::{Unit, Vectors, numbers, numbers_mut, vectorised, zeros};
use pulp::f64x4;

/// gᵢ of every arm for one count of pulls, and the variances that follow from it.
#[derive(Clone, Debug)]
pub(super) struct Shrinkage {
    pub(super) pulls: Vec<u32>,
    /// ρᵢ.
    own: Vec<f64>,
    /// gᵢ.
    factors: Vectors,
    /// ρᵢgᵢ.
    base: Vectors,
    /// qᵢ = ρᵢgᵢ + gᵢ²hᵢ.
    pub(super) variances: Vectors,
}

impl Shrinkage {
    pub(super) fn new(n_arms: usize) -> Self {
        let zeros = zeros(n_arms);
        Self {
            pulls: vec![0; n_arms],
            own: vec![0.0; n_arms],
            factors: zeros.clone(),
            base: zeros.clone(),
            variances: zeros,
        }
    }

    /// Changes ρ of every arm.
    pub(super) fn set_own_variances(&mut self, own: impl Iterator<Item = f64>) {
        self.own.iter_mut().zip(own).for_each(|(to, own)| *to = own);
        for arm in 0..self.own.len() {
            self.update(arm);
        }
    }

    /// The same pulls and ρ as another; the variances are not copied.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.pulls.copy_from_slice(&other.pulls);
        self.own.copy_from_slice(&other.own);
        self.factors.copy_from_slice(&other.factors);
        self.base.copy_from_slice(&other.base);
    }

    fn update(&mut self, arm: Arm) {
        let own = self.own[arm];
        let factor = 1.0 / (1.0 + own * f64::from(self.pulls[arm]));
        numbers_mut(&mut self.factors)[arm] = factor;
        numbers_mut(&mut self.base)[arm] = own * factor;
    }

    /// Counts one more pull; returns what it adds to w.
    pub(super) fn add(&mut self, arm: Arm) -> f64 {
        let before = self.factor(arm);
        self.pulls[arm] += 1;
        self.update(arm);
        before * self.factor(arm)
    }

    /// g.
    pub(super) fn factor(&self, arm: Arm) -> f64 {
        numbers(&self.factors)[arm]
    }

    /// w = ng.
    pub(super) fn weight(&self, arm: Arm) -> f64 {
        f64::from(self.pulls[arm]) * self.factor(arm)
    }

    /// ρg, the variance of what is unknown of the own part.
    pub(super) fn own_variance(&self, arm: Arm) -> f64 {
        numbers(&self.base)[arm]
    }

    /// q of an arm with this h.
    pub(super) fn variance(&self, arm: Arm, h: f64) -> f64 {
        let factor = self.factor(arm);
        numbers(&self.base)[arm] + factor * factor * h
    }

    /// The variances of all arms for these h.
    pub(super) fn update_variances(&mut self, h: &[f64x4]) {
        let Self { factors, base, variances, .. } = self;
        vectorised!(|unit| variances_of(unit, factors, base, h, variances));
    }

    /// Writes the covariances gᵢgₐzᵢᵀA⁻¹zₐ + [i = a]ρₐgₐ, given the products zᵢᵀA⁻¹zₐ.
    pub(super) fn write_covariances(&self, arm: Arm, products: &[f64x4], covariances: &mut [f64x4]) {
        let factor = self.factor(arm);
        vectorised!(|unit| scale(unit, products, factor, &self.factors, covariances));
        numbers_mut(covariances)[arm] += numbers(&self.base)[arm];
    }
}

/// The rewards of every arm, as y = r − τ, and the means that follow from them.
#[derive(Clone, Debug)]
pub(super) struct OwnParts {
    /// ȳ of every arm; 0 without a reward.
    pub(super) averages: Vec<f64>,
    /// Σ (y − ȳ)² of every arm.
    squares: Vec<f64>,
    /// wᵢȳᵢ, the terms of b.
    pub(super) targets: Vec<f64>,
    /// τ + (1 − gᵢ)ȳᵢ.
    base: Vectors,
    /// τ + gᵢzᵢᵀA⁻¹b + (1 − gᵢ)ȳᵢ.
    pub(super) means: Vectors,
}

impl OwnParts {
    pub(super) fn new(n_arms: usize) -> Self {
        let (numbers, vectors) = (vec![0.0; n_arms], zeros(n_arms));
        Self {
            averages: numbers.clone(),
            squares: numbers.clone(),
            targets: numbers,
            base: vectors.clone(),
            means: vectors,
        }
    }

    /// Σ (y − ȳ)² of every arm.
    pub(super) fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// W, the sum of squares within arms.
    pub(super) fn within(&self) -> f64 {
        self.squares.iter().sum()
    }

    /// Adds a reward that is counted in `observed` already (Welford 1962).
    pub(super) fn add(&mut self, arm: Arm, reward: f64, threshold: f64, observed: &Shrinkage) {
        let y = reward - threshold;
        let deviation = y - self.averages[arm];
        self.averages[arm] += deviation / f64::from(observed.pulls[arm]);
        self.squares[arm] += deviation * (y - self.averages[arm]);
        self.update(arm, threshold, observed);
    }

    /// Takes the rewards of a past; [`OwnParts::update_all`] has to follow.
    pub(super) fn restore(&mut self, past: &History<'_>, threshold: f64) {
        for (arm, &n) in past.n_rewards.iter().enumerate() {
            self.averages[arm] = if n == 0 { 0.0 } else { past.means[arm] - threshold };
            self.squares[arm] = if n == 0 { 0.0 } else { past.squares[arm] };
        }
    }

    fn update(&mut self, arm: Arm, threshold: f64, observed: &Shrinkage) {
        let average = self.averages[arm];
        self.targets[arm] = observed.weight(arm) * average;
        numbers_mut(&mut self.base)[arm] = threshold + (1.0 - observed.factor(arm)) * average;
    }

    /// After all gᵢ have changed.
    pub(super) fn update_all(&mut self, threshold: f64, observed: &Shrinkage) {
        for arm in 0..self.averages.len() {
            self.update(arm, threshold, observed);
        }
    }

    /// The means of all arms for these zᵢᵀA⁻¹b.
    pub(super) fn update_means(&mut self, observed: &Shrinkage, linear: &[f64x4]) {
        let Self { base, means, .. } = self;
        vectorised!(|unit| means_of(unit, &observed.factors, base, linear, means));
    }
}

#[inline(always)]
fn variances_of<S: Unit>(unit: S, g: &[f64x4], base: &[f64x4], h: &[f64x4], variances: &mut [f64x4]) {
    for (((variance, &g), &base), &h) in variances.iter_mut().zip(g).zip(base).zip(h) {
        *variance = unit.mul_add_f64s(unit.mul_f64s(g, g), h, base);
    }
}

#[inline(always)]
fn means_of<S: Unit>(unit: S, g: &[f64x4], base: &[f64x4], linear: &[f64x4], means: &mut [f64x4]) {
    for (((mean, &g), &base), &linear) in means.iter_mut().zip(g).zip(base).zip(linear) {
        *mean = unit.mul_add_f64s(g, linear, base);
    }
}

#[inline(always)]
fn scale<S: Unit>(unit: S, products: &[f64x4], factor: f64, g: &[f64x4], covariances: &mut [f64x4]) {
    let factor = unit.splat_f64s(factor);
    for ((covariance, &product), &g) in covariances.iter_mut().zip(products).zip(g) {
        *covariance = unit.mul_f64s(product, unit.mul_f64s(g, factor));
    }
}
