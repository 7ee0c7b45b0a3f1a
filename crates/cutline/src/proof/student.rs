//! Numbers with an unknown σ: H: the mean is at most the bar, for every σ, against effect sizes (μ − τ)/σ > 0.
//!
//! The numerator and the denominator are averaged over σ with the right-Haar measure dσ/σ, which makes their ratio a test martingale at the bar
//! whatever σ is. With b = Σy/√Σy² of the n rewards y relative to the bar and effect sizes N(m, c²) truncated to (0, ∞):
//!
//! ```text
//! E = ∫ (c√A)⁻¹ exp(B²/2A − m²/2c²) Φ(B/√A)/Φ(m/c) dχₙ(u)        A = n + 1/c², B = bu + m/c²
//!   = (1 + nc²)^(−½) (1 − a²)^(−n/2) 2Tₙ(√n a/√(1 − a²))          a = bc/√(1 + nc²), for m = 0
//! ```
//!
//! where χₙ is the chi distribution and Tₙ the distribution function of Student's t. E grows with t = (r̄ − τ)/(s/√n), because every effect size
//! is positive; so for a mean below the bar, where every t is smaller, it is said no more often than at the bar.

use super::normal::{NormalPrior, ln_normal};
use crate::diagnostics::t_tails;
use statrs::function::gamma::ln_gamma;

/// The terms of the sum that replaces the integral.
const TERMS: u32 = 96;

/// The integrand is ignored where it is this much smaller than its maximum, on the scale of logarithms.
const DROP: f64 = 27.0;

/// ln E after `n` rewards whose mean is on the right side of the bar by `gain`, with Σ(r − r̄)² = `squares`.
pub(super) fn ln_evidence(prior: NormalPrior, gain: f64, squares: f64, n: f64) -> f64 {
    if gain == 0.0 {
        return ln_evidence_of(prior, 0.0, n);
    }
    // Σy = n·gain and Σy² = Σ(r − r̄)² + n·gain².
    ln_evidence_of(prior, n * gain / n.mul_add(gain * gain, squares).sqrt(), n)
}

/// ln E after `n` rewards with this b.
pub(super) fn ln_evidence_of(prior: NormalPrior, b: f64, n: f64) -> f64 {
    let evidence =
        if prior.mean == 0.0 { centred(prior.deviation, b, n) } else { Integrand::new(prior, b, n).ln_integral() };
    // E grows with b, and is below 1 at b = 0; far below, the terms of the closed form cancel.
    if b <= 0.0 { evidence.min(0.0) } else { evidence }
}

/// ln E for m = 0.
fn centred(c: f64, b: f64, n: f64) -> f64 {
    let spread = 1.0 + n * c * c;
    let a = b * c / spread.sqrt();
    let rest = 1.0 - a * a;
    let tails = t_tails((n / rest).sqrt() * a, n);
    let twice_t = if b > 0.0 { 2.0 - tails } else { tails };
    -0.5 * spread.ln() - 0.5 * n * rest.ln() + twice_t.ln()
}

/// The integrand as a function of v = ln u, in which it is smooth and falls quickly on both sides.
struct Integrand {
    b: f64,
    n: f64,
    /// m/c².
    shift: f64,
    /// A.
    a: f64,
    /// What does not depend on u.
    constant: f64,
}

impl Integrand {
    fn new(NormalPrior { mean: m, deviation: c }: NormalPrior, b: f64, n: f64) -> Self {
        let precision = c.powi(-2);
        let a = n + precision;
        let chi = (0.5 * n - 1.0) * 2.0_f64.ln() + ln_gamma(0.5 * n);
        let constant = -0.5 * (a / precision).ln() - 0.5 * m * m * precision - ln_normal(m / c) - chi;
        Self { b, n, shift: m * precision, a, constant }
    }

    /// The logarithm of the integrand, u of the change of variables included.
    fn at(&self, v: f64) -> f64 {
        let u = v.exp();
        let b = self.b.mul_add(u, self.shift);
        self.n * v - 0.5 * u * u + 0.5 * b * b / self.a + ln_normal(b / self.a.sqrt())
    }

    /// The first v in this direction from the maximum where the integrand has dropped enough.
    fn end(&self, mode: f64, direction: f64) -> f64 {
        let (top, mut step) = (self.at(mode), 0.5 / self.n.sqrt());
        while self.at(direction.mul_add(step, mode)) > top - DROP {
            step *= 1.2;
        }
        direction.mul_add(step, mode)
    }

    /// The maximum, by golden sections: the integrand has only one.
    fn mode(&self) -> f64 {
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = (-6.0, 0.5 * self.n.ln() + 8.0);
        while high - low > 0.1 / self.n.sqrt() {
            let width = golden * (high - low);
            let (left, right) = (high - width, low + width);
            if self.at(left) > self.at(right) { high = right } else { low = left }
        }
        f64::midpoint(low, high)
    }

    fn ln_integral(&self) -> f64 {
        let mode = self.mode();
        let (low, high) = (self.end(mode, -1.0), self.end(mode, 1.0));
        let (step, top) = ((high - low) / f64::from(TERMS), self.at(mode));
        // The trapezoid rule converges exponentially for a smooth function that vanishes at both ends.
        let sum: f64 = (1..TERMS).map(|i| (self.at(f64::from(i).mul_add(step, low)) - top).exp()).sum();
        self.constant + top + (sum * step).ln()
    }
}
