//! A graph of arms: neighbours are likely to have similar means. The prior precision is L + ρI with the Laplacian L of the graph.

use super::Arms;
use super::covariance::{CovarianceError, check_size};
use crate::estimators::invert_precision;
use crate::{Arm, Range};
use std::collections::HashSet;

/// An undirected graph whose nodes are the arms. An edge of weight w adds w(μᵢ − μⱼ)² to the penalty of the means, so that means vary
/// little along edges of large weight; nodes without a path between them are unrelated.
///
/// ```
/// use cutline::{Graph, estimators::{Estimator, Ridge}};
///
/// let path = Graph::new(3, &[(0, 1, 1.0), (1, 2, 1.0)])?;
/// let mut ridge = Ridge::new(&path.arms(0.5)?, 1.0)?;
/// ridge.observe(0, 1.0);
/// let means = ridge.means();
/// assert!(means[0] > means[1] && means[1] > means[2] && means[2] > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    n_nodes: usize,
    edges: Vec<Edge>,
}

/// The two nodes of an edge and its weight.
pub type Edge = (Arm, Arm, f64);

impl Graph {
    /// The weights that an edge may have.
    pub const WEIGHT: Range = Range::new(1e-12, 1e12);

    /// The values that ρ may have.
    pub const RIDGE: Range = Range::new(1e-12, 1e12);

    /// The ρ of the GrAPL paper's code.
    pub const DEFAULT_RIDGE: f64 = 1e-3;

    /// The graph with these edges, in any order and direction.
    ///
    /// # Errors
    /// If there are no nodes or more than [`Arms::MAX_WITH_COVARIANCE`], an edge has an unknown node or leads from a node to itself, an edge
    /// is listed twice, or a weight is not between 1e-12 and 1e12.
    pub fn new(n_nodes: usize, edges: &[Edge]) -> Result<Self, CovarianceError> {
        check_size(n_nodes)?;
        let mut seen = HashSet::with_capacity(edges.len());
        for &(one, other, weight) in edges {
            if let Some(node) = [one, other].into_iter().find(|&node| node >= n_nodes) {
                return Err(CovarianceError::UnknownNode { node, n_nodes });
            }
            if one == other {
                return Err(CovarianceError::SelfLoop(one));
            }
            if !Self::WEIGHT.contains(weight) {
                return Err(CovarianceError::Weight { one, other, weight });
            }
            if !seen.insert((one.min(other), one.max(other))) {
                return Err(CovarianceError::Twice { one, other });
            }
        }
        Ok(Self { n_nodes, edges: edges.into() })
    }

    /// The number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// The edges, as they were given.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// L + ρI, row by row. The Laplacian L has the sum of the weights at a node on its diagonal, and −w where there is an edge.
    #[must_use]
    pub fn precision(&self, ridge: f64) -> Vec<f64> {
        let n = self.n_nodes;
        let mut matrix = vec![0.0; n * n];
        for &(one, other, weight) in &self.edges {
            matrix[one * (n + 1)] += weight;
            matrix[other * (n + 1)] += weight;
            matrix[one * n + other] = -weight;
            matrix[other * n + one] = -weight;
        }
        matrix.iter_mut().step_by(n + 1).for_each(|entry| *entry += ridge);
        matrix
    }

    /// Arms whose means have the covariance (L + ρI)⁻¹ before the first pull, in units of σ²/λ; λ is the γ of GrAPL. The smaller ρ, the less
    /// is known about the level of the means.
    ///
    /// # Errors
    /// If ρ is not between 1e-12 and 1e12.
    pub fn arms(&self, ridge: f64) -> Result<Arms, CovarianceError> {
        if !Self::RIDGE.contains(ridge) {
            return Err(CovarianceError::Ridge(ridge));
        }
        let (factor, covariance) = invert_precision(self.precision(ridge), self.n_nodes, ridge);
        Ok(Arms::with_factor(&factor, covariance.into(), self.n_nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_graphs_are_refused() {
        let refused = |n_nodes, edges: &[Edge]| Graph::new(n_nodes, edges).unwrap_err().to_string();
        assert_eq!(refused(0, &[]), "there are no arms; at least one is needed");
        assert_eq!(refused(2, &[(0, 2, 1.0)]), "an edge has the node 2, but there are only 2, from 0 on");
        assert_eq!(refused(2, &[(1, 1, 1.0)]), "an edge leads from node 1 to itself");
        assert_eq!(refused(2, &[(0, 1, 1.0), (1, 0, 2.0)]), "the edge between nodes 1 and 0 is listed twice");
        for weight in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            assert!(
                refused(2, &[(0, 1, weight)]).starts_with("the edge between nodes 0 and 1 has the weight"),
                "{weight}"
            );
        }
        for ridge in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = Graph::new(1, &[]).unwrap().arms(ridge).unwrap_err();
            assert!(
                error.to_string().starts_with("the ridge of a graph must be a number between 1e-12 and 1000000000000"),
                "{error}"
            );
        }
    }

    /// A node without edges has the variance 1/ρ.
    #[test]
    fn nodes_without_edges_are_unrelated() {
        let arms = Graph::new(3, &[(0, 2, 2.0)]).unwrap().arms(0.25).unwrap();
        let covariance = arms.features().unwrap().covariance.clone().unwrap();
        assert_eq!((covariance[4], covariance[1], covariance[5]), (4.0, 0.0, 0.0));
        // (2.25 −2; −2 2.25)⁻¹ = (2.25 2; 2 2.25)/1.0625
        for (entry, numerator) in [(0, 2.25), (2, 2.0), (6, 2.0), (8, 2.25)] {
            assert!((covariance[entry] - numerator / 1.0625).abs() < 1e-14);
        }
    }
}
