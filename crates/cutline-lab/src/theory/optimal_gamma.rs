//! The γ of GrAPL for which its bound is best, which depends on the true means (LeJeune, Dasarathy & Baraniuk 2020).
//!
//! With m = μ − τ, ‖m‖² = mᵀ(L + ρI)m, H = Σ (|mᵢ| + ε)⁻² and the eigenvalues κ₀ ≤ κ₁ ≤ … of L + ρI:
//! M = max(√(1 + α), √(α/(γρ))), Q = 2H(3M + 1)²‖m‖², d = #{j: j ≤ Q/(κⱼ ln(1 + Q/ρ))}, γ = (σ/‖m‖)√(2d ln(1 + Q/ρ)).
//! γ is on both sides and is found by iteration.

use crate::Instance;
use crate::theory::complexity;

/// The best γ, and the numbers it is computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptimalGamma {
    /// γ, which is ridge's λ.
    pub gamma: f64,
    /// d, the effective dimension.
    pub dimension: usize,
    /// M.
    pub factor: f64,
    /// T = γH(3M + 1)²‖m‖², the number of pulls from which on the bound says something.
    pub pulls: f64,
}

impl OptimalGamma {
    /// The best γ for an instance on a graph, for rewards of scale `sigma` and the α of the rule; `None` if it is not on a graph. Where all
    /// means are at the threshold, γ is as large as it may be.
    #[must_use]
    pub fn new(instance: &Instance, sigma: f64, alpha: f64) -> Option<Self> {
        let prior = instance.graph()?;
        let threshold = instance.question().threshold();
        let m: Vec<f64> = instance.means().iter().map(|mean| mean - threshold).collect();
        let (norm2, h, ridge) = (prior.norm2(&m), complexity(instance), prior.ridge());
        let mut gamma = f64::INFINITY;
        let mut best = None;
        // It converges in a few steps; a cycle of rounding errors ends too.
        for _ in 0..100 {
            let factor = (1.0 + alpha).sqrt().max((alpha / (gamma * ridge)).sqrt());
            let square = h * (3.0 * factor + 1.0).powi(2) * norm2;
            let q = 2.0 * square;
            let log = (q / ridge).ln_1p();
            let is_inside = |(j, kappa): &(usize, &f64)| *j as f64 <= q / (log * **kappa);
            let dimension = prior.eigenvalues().iter().enumerate().filter(is_inside).count();
            let next = (sigma / norm2.sqrt() * (2.0 * dimension as f64 * log).sqrt()).clamp(1e-12, 1e12);
            let next = if next.is_nan() { 1e12 } else { next };
            best = Some(Self { gamma: next, dimension, factor, pulls: next * square });
            if next == gamma {
                break;
            }
            gamma = next;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::graphs::{GraphInstances, GraphModel};
    use crate::{Instance, Threshold, Truth};
    use cutline::{Purpose, stream};

    /// The numbers printed in a notebook of the authors (github.com/dlej/grapl): 20 disjoint cliques of 50 nodes, ρ = 1e-5, τ = 0, ε = 0.1,
    /// α = 1e-8, σ = ½.
    #[test]
    fn cliques_have_the_gamma_of_the_authors() {
        let instances =
            GraphInstances { model: GraphModel::Cliques { n_cliques: 20, size: 50 }, ridge: 1e-5, means: None };
        let Truth::Graph(prior, means) = instances.truth(&mut stream(0, Purpose::Instance, 0)).unwrap() else {
            unreachable!()
        };
        let instance = Instance::on_graph(prior, means, Threshold::Value(0.0), 0.1).unwrap();
        let found = OptimalGamma::new(&instance, 0.5, 1e-8).unwrap();
        assert_eq!(found.dimension, 20);
        assert!((found.gamma - 130.731121549).abs() < 0.5e-9, "{}", found.gamma);
        assert!((found.factor - 1.000000005).abs() < 0.5e-9, "{}", found.factor);
        assert!((found.pulls - 17286.7600093).abs() < 0.5e-7, "{}", found.pulls);
    }

    #[test]
    fn only_graphs_have_a_gamma() {
        let instance = Instance::unstructured(vec![1.0, 2.0], Threshold::Mean, 0.0).unwrap();
        assert_eq!(OptimalGamma::new(&instance, 1.0, 1.0), None);
    }
}
