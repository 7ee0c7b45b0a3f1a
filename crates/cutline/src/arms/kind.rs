//! The two ways to say how the means of given arms are related.

use super::covariance::CovarianceError;
use super::{Arms, Graph, Kernel};

/// How the means of arms are related before the first pull.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CovarianceKind {
    /// By a kernel of the features: see [`Arms::with_kernel`].
    Kernel {
        /// The kernel.
        kernel: Kernel,
        /// Its length, in units of the features.
        length: f64,
    },
    /// By a graph of the arms; features are not used: see [`Graph::arms`].
    Graph {
        /// The graph, with one node per arm.
        graph: Graph,
        /// ρ.
        ridge: f64,
    },
}

impl CovarianceKind {
    /// The same arms with means that are related in this way.
    ///
    /// # Errors
    /// If there are too many arms, a kernel finds no features, the graph has another number of nodes, or a number is out of range.
    pub fn arms(&self, arms: &Arms) -> Result<Arms, CovarianceError> {
        match self {
            Self::Kernel { kernel, length } => arms.with_kernel(*kernel, *length),
            Self::Graph { graph, ridge } if graph.n_nodes() == arms.n_arms() => graph.arms(*ridge),
            Self::Graph { graph, .. } => {
                Err(CovarianceError::Nodes { n_nodes: graph.n_nodes(), n_arms: arms.n_arms() })
            }
        }
    }
}
