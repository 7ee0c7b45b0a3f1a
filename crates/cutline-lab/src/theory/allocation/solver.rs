//! The w that minimises maxₖ yₖᵀA(w)⁻¹yₖ, yₖ = xₖ/Δₖ, by an interior-point method on a subset of the arms.
//!
//! hₖ(w) = yₖᵀA(w)⁻¹yₖ is convex and hₖ(cw) = hₖ(w)/c, so the value is that of min Σw subject to hₖ(w) ≤ 1, w ≥ 0. Newton's method
//! minimises s Σw − Σ ln(1 − hₖ) − Σ ln wᵢ for growing s (Boyd & Vandenberghe 2004, §11.3); with Gᵢⱼ = xᵢᵀA⁻¹xⱼ and Cᵢₖ = xᵢᵀA⁻¹yₖ,
//! ∂ᵢhₖ = −Cᵢₖ² and ∂ᵢ∂ⱼhₖ = 2 Cᵢₖ Gᵢⱼ Cⱼₖ.
//!
//! **Certificate.** For any weights κ of constraints, Σκ = 1, and any w, the value is at least (Σₖ κₖhₖ)²/maxᵢ Σₖ κₖCᵢₖ²: with
//! M = Σ κₖyₖyₖᵀ = R·Rᵀ and P = A(w)⁻¹R, Cauchy–Schwarz gives tr(RᵀP)² ≤ tr(RᵀA(v)⁻¹R)·tr(PᵀA(v)P) for every v, the first factor is at
//! most maxₖ hₖ(v), and the second at most maxᵢ xᵢᵀPPᵀxᵢ. The barrier's own κₖ ∝ 1/(1 − hₖ) makes it tight.
//!
//! **Subset of arms.** The programme is solved on a few arms; arms that violate its constraints or the certificate are added, and
//! it is solved again, until the certificate holds for all arms.

use cutline::diagnostics::orthonormal_columns;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// How far above the optimum a solution may be, relatively.
const TOLERANCE: f64 = 1e-6;

/// The most arms that are added at a time.
const ADD: usize = 16;

pub(super) struct Solved {
    /// One per arm; their sum is 1.
    pub(super) weights: Vec<f64>,
    /// maxₖ hₖ of the weights.
    pub(super) value: f64,
    /// A lower bound on the value of any weights.
    pub(super) least_value: f64,
}

/// Solves for arms with these features and gaps. `None` if a gap is 0, unless its arm is all zeros and so its mean is known.
pub(super) fn solve(rows: &[Vec<f64>], gaps: &[f64]) -> Option<Solved> {
    let arms: Vec<usize> = (0..rows.len()).filter(|&arm| rows[arm].iter().any(|&x| x != 0.0)).collect();
    if arms.is_empty() {
        let weights = vec![1.0 / rows.len() as f64; rows.len()];
        return Some(Solved { weights, value: 0.0, least_value: 0.0 });
    }
    if arms.iter().any(|&arm| !(gaps[arm] > 0.0)) {
        return None;
    }
    let x = coordinates(rows, &arms);
    // Only the proportions of the gaps matter for w.
    let least = arms.iter().map(|&arm| gaps[arm]).fold(f64::INFINITY, f64::min);
    let gaps: Vec<f64> = arms.iter().map(|&arm| gaps[arm] / least).collect();
    let mut chosen = basis(&x);
    let opposites: Vec<f64> = gaps.iter().map(|gap| -gap).collect();
    let hardest = greatest(ADD, &opposites).into_iter().filter(|arm| !chosen.contains(arm)).collect::<Vec<_>>();
    chosen.extend(hardest);
    loop {
        let gaps_chosen: Vec<f64> = chosen.iter().map(|&arm| gaps[arm]).collect();
        let solution = interior_point(&x.select_rows(&chosen), &gaps_chosen);
        let certificate = certify(&x, &gaps, &chosen, &solution);
        if certificate.value <= certificate.least_value * (1.0 + TOLERANCE) || certificate.missing.is_empty() {
            let mut weights = vec![0.0; rows.len()];
            let total: f64 = solution.weights.iter().sum();
            chosen.iter().zip(&solution.weights).for_each(|(&arm, weight)| weights[arms[arm]] = weight / total);
            let scale = least * least;
            return Some(Solved {
                weights,
                value: certificate.value / scale,
                least_value: certificate.least_value / scale,
            });
        }
        chosen.extend(certificate.missing);
    }
}

/// Orthonormal coordinates of the span of the arms, one row per arm. The hₖ do not depend on coordinates; these make A(w) well
/// conditioned, and regular where features are linearly dependent.
fn coordinates(rows: &[Vec<f64>], arms: &[usize]) -> DMatrix<f64> {
    let columns = (0..rows[0].len()).map(|j| arms.iter().map(|&arm| rows[arm][j]).collect()).collect();
    let orthonormal = orthonormal_columns(columns, 1e-11);
    DMatrix::from_fn(arms.len(), orthonormal.len(), |i, j| orthonormal[j][i])
}

/// A basis among the rows, one arm per dimension: by Gram and Schmidt, the longest residual first.
fn basis(x: &DMatrix<f64>) -> Vec<usize> {
    let mut residuals = x.transpose();
    let mut chosen = Vec::new();
    for _ in 0..x.ncols() {
        let norms: Vec<f64> = residuals.column_iter().map(|residual| residual.norm_squared()).collect();
        let arm = greatest(1, &norms)[0];
        let direction = residuals.column(arm).normalize();
        for mut residual in residuals.column_iter_mut() {
            let along = residual.dot(&direction);
            residual.axpy(-along, &direction, 1.0);
        }
        chosen.push(arm);
    }
    chosen
}

/// The positions of the `n` greatest values, greatest first.
fn greatest(n: usize, values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order.truncate(n);
    order
}

/// Weights of arms and of constraints.
struct Solution {
    weights: Vec<f64>,
    multipliers: Vec<f64>,
}

/// min Σw subject to hₖ(w) ≤ 1, w ≥ 0.
fn interior_point(x: &DMatrix<f64>, gaps: &[f64]) -> Solution {
    let n = x.nrows();
    let most = Point::new(x, gaps, vec![1.0; n]).map_or(1.0, |point| most(&point.h));
    let mut point = Point::new(x, gaps, vec![2.0 * most; n]).expect("hₖ ≤ ½ there");
    let mut s = n as f64 / point.w.iter().sum::<f64>();
    loop {
        for _ in 0..100 {
            let (step, decrement) = point.newton(s);
            if decrement < 1e-12 {
                break;
            }
            let Some(next) = point.search(x, gaps, s, &step, decrement) else { break };
            point = next;
        }
        if 2.0 * n as f64 / s < 0.1 * TOLERANCE * point.w.iter().sum::<f64>() {
            let slack = point.inverse_slack();
            let total: f64 = slack.iter().sum();
            return Solution { weights: point.w, multipliers: slack.into_iter().map(|slack| slack / total).collect() };
        }
        s *= 10.0;
    }
}

/// A point with hₖ < 1 and w > 0, and the matrices of Newton's method there.
struct Point {
    w: Vec<f64>,
    h: Vec<f64>,
    /// G.
    inner: DMatrix<f64>,
    /// C.
    cross: DMatrix<f64>,
}

impl Point {
    /// `None` if a weight is not positive or A(w) is singular.
    fn new(x: &DMatrix<f64>, gaps: &[f64], w: Vec<f64>) -> Option<Self> {
        if !w.iter().all(|&w| w > 0.0) {
            return None;
        }
        let whitened = whitened(x, &design(x, &w)?);
        let inner = whitened.tr_mul(&whitened);
        let cross = DMatrix::from_fn(w.len(), w.len(), |i, k| inner[(i, k)] / gaps[k]);
        let h = (0..w.len()).map(|k| cross[(k, k)] / gaps[k]).collect();
        Some(Self { w, h, inner, cross })
    }

    /// 1/(1 − hₖ).
    fn inverse_slack(&self) -> Vec<f64> {
        self.h.iter().map(|h| 1.0 / (1.0 - h)).collect()
    }

    fn barrier(&self, s: f64) -> f64 {
        s * self.w.iter().sum::<f64>()
            - self.h.iter().map(|h| (1.0 - h).ln()).sum::<f64>()
            - self.w.iter().map(|w| w.ln()).sum::<f64>()
    }

    /// Newton's step and decrement: twice the decrease of the barrier if it were quadratic.
    fn newton(&self, s: f64) -> (DVector<f64>, f64) {
        let (n, w) = (self.w.len(), &self.w);
        let slack = self.inverse_slack();
        let first = DMatrix::from_fn(n, n, |i, k| self.cross[(i, k)].powi(2) * slack[k]);
        let second = DMatrix::from_fn(n, n, |i, k| self.cross[(i, k)] * slack[k].sqrt());
        let gradient = DVector::from_fn(n, |i, _| s - 1.0 / w[i] - first.row(i).sum());
        let mut hessian = &first * first.transpose();
        let curvature = &second * second.transpose();
        for i in 0..n {
            for j in 0..n {
                // In units of w all entries have a similar size.
                hessian[(i, j)] = (hessian[(i, j)] + 2.0 * curvature[(i, j)] * self.inner[(i, j)]) * w[i] * w[j];
            }
            hessian[(i, i)] += 1.0;
        }
        let Some(factor) = Cholesky::new(hessian) else { return (DVector::zeros(n), 0.0) };
        let w = DVector::from_column_slice(w);
        let step = -factor.solve(&gradient.component_mul(&w)).component_mul(&w);
        let decrement = -step.dot(&gradient);
        (step, decrement)
    }

    /// The next point along a step, by backtracking until the barrier decreases enough (Armijo's rule).
    fn search(&self, x: &DMatrix<f64>, gaps: &[f64], s: f64, step: &DVector<f64>, decrement: f64) -> Option<Self> {
        let here = self.barrier(s);
        let mut length = 1.0;
        while length > 1e-10 {
            let point = Self::new(x, gaps, self.w.iter().zip(step).map(|(w, step)| w + step * length).collect());
            if let Some(point) = point.filter(|point| most(&point.h) < 1.0)
                && point.barrier(s) <= here - 0.1 * length * decrement
            {
                return Some(point);
            }
            length *= 0.5;
        }
        None
    }
}

/// A(w), factorised.
fn design(x: &DMatrix<f64>, w: &[f64]) -> Option<Cholesky<f64, Dyn>> {
    let weighted = DMatrix::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] * w[i]);
    Cholesky::new(x.tr_mul(&weighted))
}

/// L⁻¹xᵢ, one column per arm, where L·Lᵀ = A(w): their inner products are xᵢᵀA(w)⁻¹xⱼ.
fn whitened(x: &DMatrix<f64>, factor: &Cholesky<f64, Dyn>) -> DMatrix<f64> {
    let mut columns = x.transpose();
    factor.l_dirty().solve_lower_triangular_unchecked_mut(&mut columns);
    columns
}

/// The greatest of numbers that are not negative.
fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The bounds proved for a solution, and the arms that it lacks.
struct Certificate {
    value: f64,
    least_value: f64,
    missing: Vec<usize>,
}

/// Computes over all arms the value of a solution on the arms `chosen`, and from its multipliers a bound on any other.
fn certify(x: &DMatrix<f64>, gaps: &[f64], chosen: &[usize], solution: &Solution) -> Certificate {
    let factor = design(&x.select_rows(chosen), &solution.weights).expect("w > 0 on a basis");
    let whitened = whitened(x, &factor);
    let h: Vec<f64> = whitened.column_iter().zip(gaps).map(|(arm, gap)| arm.norm_squared() / gap.powi(2)).collect();
    let weights: Vec<f64> =
        chosen.iter().zip(&solution.multipliers).map(|(&arm, multiplier)| multiplier / gaps[arm].powi(2)).collect();
    let information_of = |i: usize| {
        chosen
            .iter()
            .zip(&weights)
            .map(|(&arm, weight)| weight * whitened.column(arm).dot(&whitened.column(i)).powi(2))
            .sum()
    };
    let information: Vec<f64> = (0..x.nrows()).map(information_of).collect();
    let mixed: f64 = chosen.iter().zip(&solution.multipliers).map(|(&arm, weight)| weight * h[arm]).sum();
    let mut missing: Vec<usize> = Vec::new();
    for values in [&h, &information] {
        let inside = chosen.iter().map(|&arm| values[arm]).fold(0.0, f64::max);
        let limit = inside * (1.0 + 0.1 * TOLERANCE);
        missing.extend(greatest(ADD, values).into_iter().filter(|&arm| values[arm] > limit && !chosen.contains(&arm)));
    }
    missing.sort_unstable();
    missing.dedup();
    let total: f64 = solution.weights.iter().sum();
    Certificate { value: most(&h) * total, least_value: mixed * mixed / most(&information), missing }
}
