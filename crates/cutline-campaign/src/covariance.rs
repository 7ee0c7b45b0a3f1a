//! How the means of a campaign's arms are related before the first measurement, as it is stored.

use cutline::{CovarianceError, CovarianceKind, Graph, Kernel};
use serde::{Deserialize, Serialize};

/// How the means are related, if the model is not linear in the features: by a kernel of them, or by a graph of the arms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum CampaignCovariance {
    /// A kernel of the features as they are prepared.
    Kernel {
        /// Which one.
        #[serde(with = "crate::names")]
        kernel: Kernel,
        /// Its length, in units of the features as they are prepared.
        length: f64,
    },
    /// A graph whose nodes are the arms.
    Graph {
        /// Two arms and the weight of the edge between them.
        edges: Vec<(u32, u32, f64)>,
        /// ρ, which is added to the diagonal of the Laplacian.
        ridge: f64,
    },
}

impl CampaignCovariance {
    /// A kernel with this length.
    #[must_use]
    pub fn kernel(kernel: Kernel, length: f64) -> Self {
        Self::Kernel { kernel, length }
    }

    /// A graph with its default ρ.
    ///
    /// # Panics
    /// Never: a graph has at most 5,000 nodes.
    #[must_use]
    pub fn graph(graph: &Graph) -> Self {
        let node = |node: usize| u32::try_from(node).expect("a graph has at most 5,000 nodes");
        let edges = graph.edges().iter().map(|&(one, other, weight)| (node(one), node(other), weight)).collect();
        Self::Graph { edges, ridge: Graph::DEFAULT_RIDGE }
    }

    /// Whether it is computed from the features.
    #[must_use]
    pub fn uses_features(&self) -> bool {
        matches!(self, Self::Kernel { .. })
    }

    /// The same for the engine, for a campaign with this many arms.
    ///
    /// # Errors
    /// If the graph does not fit.
    pub fn kind(&self, n_arms: usize) -> Result<CovarianceKind, CovarianceError> {
        match self {
            Self::Kernel { kernel, length } => Ok(CovarianceKind::Kernel { kernel: *kernel, length: *length }),
            Self::Graph { edges, ridge } => {
                let edges: Vec<_> = edges.iter().map(|&(one, other, w)| (one as usize, other as usize, w)).collect();
                Ok(CovarianceKind::Graph { graph: Graph::new(n_arms, &edges)?, ridge: *ridge })
            }
        }
    }
}
