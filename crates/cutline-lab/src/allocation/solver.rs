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
    let gaps = DVector::from_iterator(arms.len(), arms.iter().map(|&arm| gaps[arm] / least));
    let mut chosen = basis(&x);
    chosen.extend(
        greatest(ADD, &gaps.map(|gap| -gap)).into_iter().filter(|arm| !chosen.contains(arm)).collect::<Vec<_>>(),
    );
    loop {
        let rows_chosen = x.select_rows(&chosen);
        let solution = interior_point(&rows_chosen, &gaps.select_rows(&chosen));
        let certificate = certify(&x, &gaps, &chosen, &solution);
        if certificate.value <= certificate.least_value * (1.0 + TOLERANCE) || certificate.missing.is_empty() {
            let mut weights = vec![0.0; rows.len()];
            let total = solution.weights.sum();
            chosen.iter().zip(solution.weights.iter()).for_each(|(&arm, weight)| weights[arms[arm]] = weight / total);
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
    let mut x = DMatrix::from_fn(arms.len(), rows[0].len(), |i, j| rows[arms[i]][j]);
    for mut column in x.column_iter_mut() {
        let largest = column.amax();
        if largest > 0.0 {
            column /= largest;
            column /= column.norm();
        }
    }
    let svd = x.svd(true, false);
    let (u, values) = (svd.u.expect("asked for"), svd.singular_values);
    let cut = values.max() * 1e-11;
    let kept: Vec<usize> = (0..values.len()).filter(|&j| values[j] > cut).collect();
    u.select_columns(&kept)
}

/// A basis among the rows, one arm per dimension: by Gram and Schmidt, the longest residual first.
fn basis(x: &DMatrix<f64>) -> Vec<usize> {
    let mut residual = x.clone();
    let mut chosen = Vec::new();
    for _ in 0..x.ncols() {
        let norms = DVector::from_fn(residual.nrows(), |i, _| residual.row(i).norm_squared());
        let arm = norms.imax();
        let direction = residual.row(arm).transpose() / norms[arm].sqrt();
        let along = &residual * &direction;
        residual -= along * direction.transpose();
        chosen.push(arm);
    }
    chosen
}

/// The positions of the `n` greatest values, greatest first.
fn greatest(n: usize, values: &DVector<f64>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order.truncate(n);
    order
}

/// Weights of arms and of constraints.
struct Solution {
    weights: DVector<f64>,
    multipliers: DVector<f64>,
}

/// min Σw subject to hₖ(w) ≤ 1, w ≥ 0.
fn interior_point(x: &DMatrix<f64>, gaps: &DVector<f64>) -> Solution {
    let n = x.nrows();
    let equal = DVector::from_element(n, 1.0);
    let most = Point::new(x, gaps, equal.clone()).map_or(1.0, |point| point.h.max());
    let mut point = Point::new(x, gaps, equal * (2.0 * most)).expect("hₖ ≤ ½ there");
    let mut s = n as f64 / point.w.sum();
    loop {
        for _ in 0..100 {
            let (step, decrement) = point.newton(s);
            if decrement < 1e-12 {
                break;
            }
            let Some(next) = point.search(x, gaps, s, &step, decrement) else { break };
            point = next;
        }
        if 2.0 * n as f64 / s < 0.1 * TOLERANCE * point.w.sum() {
            let multipliers = point.h.map(|h| 1.0 / (1.0 - h));
            let total = multipliers.sum();
            return Solution { weights: point.w, multipliers: multipliers / total };
        }
        s *= 10.0;
    }
}

/// A point with hₖ < 1 and w > 0, and the matrices of Newton's method there.
struct Point {
    w: DVector<f64>,
    h: DVector<f64>,
    /// G.
    inner: DMatrix<f64>,
    /// C.
    cross: DMatrix<f64>,
}

impl Point {
    /// `None` if a weight is not positive or A(w) is singular.
    fn new(x: &DMatrix<f64>, gaps: &DVector<f64>, w: DVector<f64>) -> Option<Self> {
        if !w.iter().all(|&w| w > 0.0) {
            return None;
        }
        let solved = design(x, &w)?.solve(&x.transpose());
        let inner = x * solved;
        let mut cross = inner.clone();
        for (mut column, gap) in cross.column_iter_mut().zip(gaps) {
            column /= *gap;
        }
        let h = DVector::from_fn(w.len(), |k, _| cross[(k, k)] / gaps[k]);
        Some(Self { w, h, inner, cross })
    }

    fn barrier(&self, s: f64) -> f64 {
        s * self.w.sum()
            - self.h.iter().map(|h| (1.0 - h).ln()).sum::<f64>()
            - self.w.iter().map(|w| w.ln()).sum::<f64>()
    }

    /// Newton's step and decrement: twice the decrease of the barrier if it were quadratic.
    fn newton(&self, s: f64) -> (DVector<f64>, f64) {
        let n = self.w.len();
        let squares = self.cross.component_mul(&self.cross);
        let slack = self.h.map(|h| 1.0 / (1.0 - h));
        let gradient = DVector::from_fn(n, |i, _| s - 1.0 / self.w[i]) - &squares * &slack;
        let (mut first, mut second) = (squares, self.cross.clone());
        for k in 0..n {
            first.column_mut(k).scale_mut(slack[k]);
            second.column_mut(k).scale_mut(slack[k].sqrt());
        }
        let curvature = (&second * second.transpose()).component_mul(&self.inner) * 2.0;
        let mut hessian = &first * first.transpose() + curvature;
        for i in 0..n {
            hessian[(i, i)] += self.w[i].powi(-2);
        }
        // In units of w all entries have a similar size.
        let scaled = DMatrix::from_fn(n, n, |i, j| hessian[(i, j)] * self.w[i] * self.w[j]);
        let right = gradient.component_mul(&self.w);
        let Some(factor) = Cholesky::new(scaled) else { return (DVector::zeros(n), 0.0) };
        let step = -factor.solve(&right).component_mul(&self.w);
        let decrement = -step.dot(&gradient);
        (step, decrement)
    }

    /// The next point along a step, by backtracking until the barrier decreases enough (Armijo's rule).
    fn search(
        &self,
        x: &DMatrix<f64>,
        gaps: &DVector<f64>,
        s: f64,
        step: &DVector<f64>,
        decrement: f64,
    ) -> Option<Self> {
        let here = self.barrier(s);
        let mut length = 1.0;
        while length > 1e-10 {
            let point = Self::new(x, gaps, &self.w + step * length);
            if let Some(point) = point.filter(|point| point.h.max() < 1.0)
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
fn design(x: &DMatrix<f64>, w: &DVector<f64>) -> Option<Cholesky<f64, Dyn>> {
    let weighted = DMatrix::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] * w[i]);
    Cholesky::new(x.transpose() * weighted)
}

/// The bounds proved for a solution, and the arms that it lacks.
struct Certificate {
    value: f64,
    least_value: f64,
    missing: Vec<usize>,
}

/// Computes over all arms the value of a solution on the arms `chosen`, and from its multipliers a bound on any other.
fn certify(x: &DMatrix<f64>, gaps: &DVector<f64>, chosen: &[usize], solution: &Solution) -> Certificate {
    let rows = x.select_rows(chosen);
    let factor = design(&rows, &solution.weights).expect("w > 0 on a basis");
    let solved = factor.solve(&x.transpose());
    let h = DVector::from_fn(x.nrows(), |k, _| x.row(k).transpose().dot(&solved.column(k)) / gaps[k].powi(2));
    let cross = rows * solved;
    let weight = |k: usize| solution.multipliers[k] / gaps[chosen[k]].powi(2);
    let information =
        DVector::from_fn(x.nrows(), |i, _| (0..chosen.len()).map(|k| weight(k) * cross[(k, i)].powi(2)).sum());
    let mixed: f64 = chosen.iter().zip(solution.multipliers.iter()).map(|(&arm, weight)| weight * h[arm]).sum();
    let most = |of: &DVector<f64>| of.max();
    let inside = |of: &DVector<f64>| chosen.iter().map(|&arm| of[arm]).fold(0.0, f64::max);
    let mut missing: Vec<usize> = Vec::new();
    for values in [&h, &information] {
        let limit = inside(values) * (1.0 + 0.1 * TOLERANCE);
        missing.extend(greatest(ADD, values).into_iter().filter(|&arm| values[arm] > limit && !chosen.contains(&arm)));
    }
    missing.sort_unstable();
    missing.dedup();
    Certificate { value: most(&h) * solution.weights.sum(), least_value: mixed * mixed / most(&information), missing }
}
