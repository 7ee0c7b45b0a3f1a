//! The own parts of the arms: how much an arm's own rewards count against its features.
//!
//! With n pulls of an arm, gᵢ = 1/(1 + ρᵢn) and wᵢ = nᵢgᵢ. One more pull adds gᵢgᵢ′ to wᵢ, where gᵢ′ is gᵢ after it.

use crate::Arm;
use crate::vector::{Unit, Vectors, numbers, numbers_mut, vectorised, zeros};
use pulp::f64x4;

/// gᵢ of every arm for one count of pulls.
#[derive(Clone, Debug)]
pub(super) struct Shrinkage {
    pub(super) pulls: Vec<u32>,
    /// ρᵢ.
    own: Vectors,
    /// gᵢ.
    factors: Vectors,
}

impl Shrinkage {
    pub(super) fn new(n_arms: usize) -> Self {
        Self { pulls: vec![0; n_arms], own: zeros(n_arms), factors: zeros(n_arms) }
    }

    /// Changes ρ of every arm.
    pub(super) fn set_own_variances(&mut self, own: impl Iterator<Item = f64>) {
        numbers_mut(&mut self.own).iter_mut().zip(own).for_each(|(to, own)| *to = own);
        for arm in 0..self.pulls.len() {
            self.update(arm);
        }
    }

    /// The same pulls and ρ as another.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.pulls.copy_from_slice(&other.pulls);
        self.own.copy_from_slice(&other.own);
        self.factors.copy_from_slice(&other.factors);
    }

    fn update(&mut self, arm: Arm) {
        let factor = 1.0 / (1.0 + self.own(arm) * f64::from(self.pulls[arm]));
        numbers_mut(&mut self.factors)[arm] = factor;
    }

    /// Counts one more pull; returns what it adds to w.
    pub(super) fn add(&mut self, arm: Arm) -> f64 {
        let before = self.factor(arm);
        self.pulls[arm] += 1;
        self.update(arm);
        before * self.factor(arm)
    }

    /// ρ.
    fn own(&self, arm: Arm) -> f64 {
        numbers(&self.own)[arm]
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
        self.own(arm) * self.factor(arm)
    }

    /// q = ρg + g²h of an arm with this h.
    pub(super) fn variance(&self, arm: Arm, h: f64) -> f64 {
        let factor = self.factor(arm);
        self.own(arm) * factor + factor * factor * h
    }

    /// Writes q of all arms, for these h.
    pub(super) fn write_variances(&self, h: &[f64x4], variances: &mut [f64x4]) {
        vectorised!(|unit| variances_of(unit, &self.factors, &self.own, h, variances));
    }

    /// Writes the covariances gᵢgₐzᵢᵀA⁻¹zₐ + [i = a]ρₐgₐ, given the products zᵢᵀA⁻¹zₐ.
    pub(super) fn write_covariances(&self, arm: Arm, products: &[f64x4], covariances: &mut [f64x4]) {
        let factor = self.factor(arm);
        vectorised!(|unit| scale(unit, products, factor, &self.factors, covariances));
        numbers_mut(covariances)[arm] += self.own(arm) * factor;
    }
}

/// The means of all arms by their own rewards, and with the linear part.
#[derive(Clone, Debug)]
pub(super) struct OwnParts {
    /// wᵢȳᵢ, the terms of b.
    pub(super) targets: Vec<f64>,
    /// τ + (1 − gᵢ)ȳᵢ.
    base: Vectors,
    /// τ + gᵢzᵢᵀA⁻¹b + (1 − gᵢ)ȳᵢ.
    pub(super) means: Vectors,
}

impl OwnParts {
    pub(super) fn new(n_arms: usize) -> Self {
        Self { targets: vec![0.0; n_arms], base: zeros(n_arms), means: zeros(n_arms) }
    }

    /// After gᵢ or the average ȳᵢ of an arm has changed.
    pub(super) fn update(&mut self, arm: Arm, average: f64, threshold: f64, observed: &Shrinkage) {
        self.targets[arm] = observed.weight(arm) * average;
        numbers_mut(&mut self.base)[arm] = threshold + (1.0 - observed.factor(arm)) * average;
    }

    /// The means of all arms for these zᵢᵀA⁻¹b.
    pub(super) fn update_means(&mut self, observed: &Shrinkage, linear: &[f64x4]) {
        let Self { base, means, .. } = self;
        vectorised!(|unit| means_of(unit, &observed.factors, base, linear, means));
    }
}

#[inline(always)]
fn variances_of<S: Unit>(unit: S, g: &[f64x4], own: &[f64x4], h: &[f64x4], variances: &mut [f64x4]) {
    for (((variance, &g), &own), &h) in variances.iter_mut().zip(g).zip(own).zip(h) {
        *variance = unit.mul_add_f64s(unit.mul_f64s(g, g), h, unit.mul_f64s(own, g));
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
