//! Ridge where there are no more arms than features: the arms themselves are the coordinates.
//!
//! Only the means xᵢᵀθ̂ matter, not θ̂ itself. With K ≤ d these K numbers are the shorter description: C = XV⁻¹Xᵀ (K×K), initially
//! XXᵀ/λ, takes the place of V⁻¹ (d×d), unit vectors that of the features, and the means that of θ̂. Every step is otherwise the
//! same, and a pull costs O(K²) instead of O(d²).
//!
//! To recompute C, the features are rotated: X = T·Q with T a lower triangle and Q·Qᵀ = I, so T has the inner products of X and
//! C = T (λI + Σ ttᵀ)⁻¹ Tᵀ.

use crate::features::Features;
use crate::vector::{Vectors, numbers_mut};
use crate::{Arm, Arms};
use std::sync::{Arc, OnceLock};

/// The features of arms that are coordinates themselves.
#[derive(Debug)]
pub(crate) struct GramBasis {
    features: Arc<Features>,
    triangle: OnceLock<Arms>,
}

impl GramBasis {
    /// The basis, if there are no more arms than features.
    pub(super) fn new(features: &Arc<Features>) -> Option<Self> {
        let is_shorter = features.n_arms <= features.dimension;
        is_shorter.then(|| Self { features: Arc::clone(features), triangle: OnceLock::new() })
    }

    /// The unit vectors of the arms.
    pub(super) fn unit_vectors(&self) -> Arc<Features> {
        let n_arms = self.features.n_arms;
        let mut rows = vec![0.0; n_arms * n_arms];
        rows.iter_mut().step_by(n_arms + 1).for_each(|one| *one = 1.0);
        square(&rows, n_arms).features().map(Arc::clone).expect("features")
    }

    /// The features of the arms.
    pub(super) fn features(&self) -> &Features {
        &self.features
    }

    /// The number of features d.
    pub(super) fn dimension(&self) -> usize {
        self.features.dimension
    }

    /// xᵢᵀxⱼ for all i.
    pub(super) fn inner_products(&self, arm: Arm, products: &mut Vectors) {
        if let Some(covariance) = &self.features.covariance {
            let n_arms = self.features.n_arms;
            numbers_mut(products)[..n_arms].copy_from_slice(&covariance[arm * n_arms..][..n_arms]);
            return;
        }
        let row: Vec<f64> = self.features.row(arm).iter().collect();
        self.features.times(&row, products);
    }

    /// A buffer for the inner products with one arm.
    pub(super) fn zeros(&self) -> Vectors {
        self.features.zeros()
    }

    /// T, computed when it is first needed. Arms from a covariance have K×K features already, which need not be a triangle.
    pub(super) fn triangle(&self) -> &Features {
        if self.features.covariance.is_some() {
            return &self.features;
        }
        let triangle = self.triangle.get_or_init(|| triangle(&self.features));
        triangle.features().expect("features")
    }
}

/// T by the Gram–Schmidt process, each row made orthogonal twice, because once is not enough where rows are nearly dependent.
fn triangle(features: &Features) -> Arms {
    let n_arms = features.n_arms;
    let mut t = vec![0.0; n_arms * n_arms];
    let mut directions: Vec<Vec<f64>> = Vec::with_capacity(n_arms);
    for arm in 0..n_arms {
        let mut rest: Vec<f64> = features.row(arm).iter().collect();
        let length = norm(&rest);
        for _ in 0..2 {
            for (j, direction) in directions.iter().enumerate() {
                let along: f64 = direction.iter().zip(&rest).map(|(q, x)| q * x).sum();
                t[arm * n_arms + j] += along;
                rest.iter_mut().zip(direction).for_each(|(x, q)| *x -= along * q);
            }
        }
        // The remainder of a row that depends on others is a rounding error in an arbitrary direction.
        let left = Some(norm(&rest)).filter(|left| *left > 1e-14 * length).unwrap_or(0.0);
        t[arm * n_arms + arm] = left;
        for x in &mut rest {
            *x = if left > 0.0 { *x / left } else { 0.0 };
        }
        directions.push(rest);
    }
    square(&t, n_arms)
}

fn square(values: &[f64], n_arms: usize) -> Arms {
    Arms::from_slice(values, n_arms).expect("as many finite values as arms, for each arm")
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, stream};
    use rand_core::Rng as _;

    /// Inner products to the last digits, for rows that depend on each other too.
    #[test]
    fn the_triangle_has_the_inner_products_of_the_features() {
        let mut rng = stream(1, Purpose::Instance, 0);
        let mut rows: Vec<Vec<f64>> =
            (0..6).map(|_| (0..9).map(|_| f64::from(rng.next_u32()) / 1e9 - 2.0).collect()).collect();
        rows[3] = rows[1].iter().zip(&rows[2]).map(|(a, b)| 2.0 * a - b).collect();
        rows[4] = vec![0.0; 9];
        rows[5] = rows[0].iter().enumerate().map(|(j, x)| if j == 0 { x + 1e-6 } else { *x }).collect();
        let basis = GramBasis::new(Arms::from_rows(&rows).unwrap().features().unwrap()).unwrap();
        let triangle: Vec<Vec<f64>> = (0..6).map(|arm| basis.triangle().row(arm).iter().collect()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for i in 0..6 {
            assert!(triangle[i][i + 1..].iter().all(|above| *above == 0.0));
            let difference =
                |rows: &[Vec<f64>]| -> Vec<f64> { rows[i].iter().zip(&rows[0]).map(|(a, b)| a - b).collect() };
            let (ours, theirs) = (norm(&difference(&triangle)), norm(&difference(&rows)));
            assert!((ours - theirs).abs() <= 1e-9 * theirs, "‖x{i} − x0‖: {ours} {theirs}");
            for j in 0..6 {
                assert!(
                    (dot(&triangle[i], &triangle[j]) - dot(&rows[i], &rows[j])).abs()
                        < 1e-13 * dot(&rows[i], &rows[i]).max(1.0)
                );
            }
        }
    }
}
