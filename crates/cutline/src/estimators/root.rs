//! V⁻¹ as a square root: V⁻¹ = SSᵀ, with V = λI + Σ xxᵀ.
//!
//! Potter's update (Battin 1964; Bierman 1977, ch. II) for one more x: f = Sᵀx, s = 1 + fᵀf, u = Sf = V⁻¹x,
//! S ← S − u fᵀ / (s + √s). It costs 3d² where the rank-one update of V⁻¹ itself costs 2d², and loses half as many
//! digits: V⁻¹ stays positive definite whatever the features' scales.
//!
//! Everything here is to be called within [`vectorised`](crate::vector::vectorised).

use crate::vector::{WIDTH, dot};

/// S, d rows, each filled up with zeros to whole vectors.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    rows: Vec<f64>,
}

/// What one step of [`Root`] computes on the way; kept to save its allocation.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    stride: usize,
    /// x, the arm's features.
    pub(crate) x: Vec<f64>,
    f: Vec<f64>,
    /// u = V⁻¹x, with V before the update.
    pub(crate) u: Vec<f64>,
    /// s = 1 + xᵀV⁻¹x.
    pub(crate) s: f64,
}

impl Root {
    /// S = I/√λ.
    pub(crate) fn new(dimension: usize, lambda: f64) -> Self {
        let stride = dimension.next_multiple_of(WIDTH);
        let mut rows = vec![0.0; dimension * stride];
        rows.iter_mut().step_by(stride + 1).for_each(|diagonal| *diagonal = 1.0 / lambda.sqrt());
        Self { rows }
    }

    /// xᵀV⁻¹x = ‖Sᵀx‖² for the x in `step`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `vectorised`")]
    pub(crate) fn variance(&self, step: &mut Step) -> f64 {
        self.project(step);
        dot(&step.f, &step.f)
    }

    /// u = V⁻¹x for the x in `step`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `vectorised`")]
    pub(crate) fn solve(&self, step: &mut Step) {
        self.project(step);
        for (row, u) in self.rows.chunks_exact(step.stride).zip(&mut step.u) {
            *u = dot(row, &step.f);
        }
    }

    /// Counts one more pull with the features x in `step`: writes the new S to `next`, u and s to `step`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `vectorised`")]
    pub(crate) fn advance(&self, step: &mut Step, next: &mut Root) {
        self.project(step);
        let s = 1.0 + dot(&step.f, &step.f);
        let shrink = 1.0 / (s + s.sqrt());
        step.s = s;
        let f = step.f.as_chunks::<WIDTH>().0;
        let rows = self.rows.chunks_exact(step.stride).zip(next.rows.chunks_exact_mut(step.stride));
        for ((row, next), u) in rows.zip(&mut step.u) {
            *u = dot(row, &step.f);
            let factor = -*u * shrink;
            for ((next, row), f) in next.as_chunks_mut::<WIDTH>().0.iter_mut().zip(row.as_chunks::<WIDTH>().0).zip(f) {
                for lane in 0..WIDTH {
                    next[lane] = f[lane].mul_add(factor, row[lane]);
                }
            }
        }
    }

    /// f = Sᵀx.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `vectorised`")]
    fn project(&self, step: &mut Step) {
        for (start, f) in (0..step.stride).step_by(WIDTH).zip(step.f.as_chunks_mut::<WIDTH>().0) {
            let mut sum = [0.0; WIDTH];
            for (row, &x) in self.rows.chunks_exact(step.stride).zip(&step.x) {
                for (sum, value) in sum.iter_mut().zip(&row[start..start + WIDTH]) {
                    *sum = value.mul_add(x, *sum);
                }
            }
            *f = sum;
        }
    }
}

impl Step {
    pub(crate) fn new(dimension: usize) -> Self {
        let stride = dimension.next_multiple_of(WIDTH);
        let zeros = vec![0.0; stride];
        Self { stride, x: zeros.clone(), f: zeros.clone(), u: zeros, s: 1.0 }
    }
}
