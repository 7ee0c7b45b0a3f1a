//! Instances on graphs: cliques, block models, Newman–Watts graphs and paths, with means that vary little along edges.

use crate::instance::source::{CustomInstances, RandomNumbers, Truth};
use cutline::{Arms, CovarianceError, Edge, Graph, Purpose, Rng, below, stream};
use nalgebra::DMatrix;
use std::sync::{Arc, OnceLock};

/// A graph of arms and ρ: before the first pull the means have the precision L + ρI, in units of λ/σ².
#[derive(Debug)]
pub struct GraphPrior {
    graph: Graph,
    ridge: f64,
    arms: Arms,
    eigenvalues: OnceLock<Vec<f64>>,
}

impl GraphPrior {
    /// The prior of a graph with ρ = `ridge`.
    ///
    /// # Errors
    /// If ρ is out of range.
    pub fn new(graph: Graph, ridge: f64) -> Result<Self, CovarianceError> {
        Ok(Self { arms: graph.arms(ridge)?, graph, ridge, eigenvalues: OnceLock::new() })
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// ρ.
    #[must_use]
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// The arms, whose covariance is (L + ρI)⁻¹.
    #[must_use]
    pub fn arms(&self) -> &Arms {
        &self.arms
    }

    /// The eigenvalues of L + ρI, ascending. Computed when they are first needed: O(K³).
    #[must_use]
    pub fn eigenvalues(&self) -> &[f64] {
        self.eigenvalues.get_or_init(|| {
            let n_nodes = self.graph.n_nodes();
            let matrix = DMatrix::from_row_slice(n_nodes, n_nodes, &self.graph.precision(self.ridge));
            let mut eigenvalues: Vec<f64> =
                matrix.symmetric_eigenvalues().iter().map(|value| value.max(self.ridge)).collect();
            eigenvalues.sort_unstable_by(f64::total_cmp);
            eigenvalues
        })
    }

    /// mᵀ(L + ρI)m, the squared norm of means m. It is computed with the matrix, as the authors of GrAPL do: a sum over the edges would be more
    /// accurate, but the γ that they print has the rounding errors of the diagonal.
    #[must_use]
    pub fn norm2(&self, m: &[f64]) -> f64 {
        let matrix = self.graph.precision(self.ridge);
        let times_m = |row: &[f64]| row.iter().zip(m).map(|(entry, m)| entry * m).sum::<f64>();
        matrix.chunks_exact(m.len()).zip(m).map(|(row, m)| m * times_m(row)).sum()
    }
}

/// How a graph is made.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum GraphModel {
    /// Cliques without edges between them.
    Cliques {
        /// How many.
        n_cliques: usize,
        /// The number of nodes of each.
        size: usize,
    },
    /// A stochastic block model: blocks of equal size, the first ones larger by a node where they cannot be.
    Blocks {
        /// The number of nodes.
        n_arms: usize,
        /// The number of blocks.
        n_blocks: usize,
        /// The probability of an edge within a block.
        p_in: f64,
        /// The probability of an edge between blocks.
        p_cross: f64,
    },
    /// A ring in which every node has edges to its nearest neighbours, and a shortcut is added with probability p for every such edge
    /// (Newman & Watts 1999).
    NewmanWatts {
        /// The number of nodes.
        n_arms: usize,
        /// The number of nearest neighbours on the ring, rounded down to an even number.
        neighbours: usize,
        /// p.
        p: f64,
    },
    /// A path.
    Path {
        /// The number of nodes.
        n_arms: usize,
    },
}

impl GraphModel {
    /// The number of nodes.
    #[must_use]
    pub fn n_arms(self) -> usize {
        match self {
            Self::Cliques { n_cliques, size } => n_cliques * size,
            Self::Blocks { n_arms, .. } | Self::NewmanWatts { n_arms, .. } | Self::Path { n_arms } => n_arms,
        }
    }

    /// Whether graphs are drawn at random.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::Blocks { .. } | Self::NewmanWatts { .. })
    }

    /// The clique or block of a node; `None` if the graph has none.
    #[must_use]
    pub fn group(self, node: usize) -> Option<usize> {
        match self {
            Self::Cliques { size, .. } => Some(node / size),
            Self::Blocks { n_arms, n_blocks, .. } => Some(node * n_blocks / n_arms),
            _ => None,
        }
    }

    /// The edges, all of weight 1.
    fn edges(self, rng: &mut Rng) -> Vec<Edge> {
        let pairs = |n: usize| (0..n).flat_map(move |one| (one + 1..n).map(move |other| (one, other, 1.0)));
        let mut happens = |p: f64| 0.5 * (rng.uniform() + 1.0) < p;
        match self {
            Self::Cliques { .. } => {
                pairs(self.n_arms()).filter(|&(one, other, _)| self.group(one) == self.group(other)).collect()
            }
            Self::Blocks { n_arms, p_in, p_cross, .. } => pairs(n_arms)
                .filter(|&(one, other, _)| happens(if self.group(one) == self.group(other) { p_in } else { p_cross }))
                .collect(),
            Self::NewmanWatts { n_arms, neighbours, p } => newman_watts(n_arms, neighbours, p, rng),
            Self::Path { n_arms } => (1..n_arms).map(|node| (node - 1, node, 1.0)).collect(),
        }
    }

    /// A graph from random numbers.
    ///
    /// # Errors
    /// If there are no nodes or too many.
    pub fn draw(self, rng: &mut Rng) -> Result<Graph, CovarianceError> {
        Graph::new(self.n_arms(), &self.edges(rng))
    }
}

/// The ring, and then a shortcut from the first node of an edge of the ring to another node, drawn until there is no such edge yet.
fn newman_watts(n_arms: usize, neighbours: usize, p: f64, rng: &mut Rng) -> Vec<Edge> {
    let mut is_edge = vec![false; n_arms * n_arms];
    let mut degrees = vec![0; n_arms];
    let mut edges = Vec::new();
    let mut add = |one: usize, other: usize, degrees: &mut Vec<usize>, is_edge: &mut Vec<bool>| {
        if one != other && !is_edge[one * n_arms + other] {
            is_edge[one * n_arms + other] = true;
            is_edge[other * n_arms + one] = true;
            degrees[one] += 1;
            degrees[other] += 1;
            edges.push((one, other, 1.0));
        }
    };
    let lattice = || (1..=neighbours / 2).flat_map(|step| (0..n_arms).map(move |node| (node, (node + step) % n_arms)));
    lattice().for_each(|(one, other)| add(one, other, &mut degrees, &mut is_edge));
    for (one, _) in lattice() {
        if 0.5 * (rng.uniform() + 1.0) < p && degrees[one] < n_arms - 1 {
            let other = loop {
                let other = below(rng, n_arms);
                if other != one && !is_edge[one * n_arms + other] {
                    break other;
                }
            };
            add(one, other, &mut degrees, &mut is_edge);
        }
    }
    edges
}

/// Instances on graphs of a model: means of +1 and −1 in turn from group to group, given means, or means drawn from the prior.
#[derive(Clone, Debug)]
pub(crate) struct GraphInstances {
    pub(crate) model: GraphModel,
    pub(crate) ridge: f64,
    pub(crate) means: Option<Vec<f64>>,
}

impl GraphInstances {
    /// Whether every draw is the same.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.model.is_random() && (self.means.is_some() || self.model.group(0).is_some())
    }

    /// An instance from random numbers: first the graph, then the means.
    pub(crate) fn truth(&self, rng: &mut Rng) -> Result<Truth, CovarianceError> {
        let prior = GraphPrior::new(self.model.draw(rng)?, self.ridge)?;
        let side = |node: usize| self.model.group(node).map(|group| if group % 2 == 0 { 1.0 } else { -1.0 });
        let sides: Option<Vec<f64>> = (0..self.model.n_arms()).map(side).collect();
        let means = self.means.clone().or(sides).unwrap_or_else(|| sample(prior.arms(), rng));
        Ok(Truth::Graph(Arc::new(prior), means))
    }
}

impl CustomInstances for GraphInstances {
    fn draw(&self, seed: u64) -> Truth {
        self.truth(&mut stream(seed, Purpose::Instance, 0)).expect("a size and a ridge that were checked before")
    }
}

/// Functions on points, drawn from a Gaussian process: the arms have its covariance.
#[derive(Clone, Debug)]
pub(crate) struct SampledFunctions(pub(crate) Arms);

impl CustomInstances for SampledFunctions {
    fn draw(&self, seed: u64) -> Truth {
        let means = sample(&self.0, &mut stream(seed, Purpose::Instance, 0));
        Truth::Means(self.0.clone(), means)
    }
}

/// Means with the covariance of the arms.
fn sample(arms: &Arms, rng: &mut Rng) -> Vec<f64> {
    let theta: Vec<f64> = (0..arms.dimension().unwrap_or(0)).map(|_| rng.normal()).collect();
    arms.times(&theta).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(model: GraphModel) -> Vec<Edge> {
        model.edges(&mut stream(1, Purpose::Instance, 0))
    }

    #[test]
    fn graphs_without_chance() {
        let cliques = GraphModel::Cliques { n_cliques: 2, size: 3 };
        let expected = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)].map(|(one, other)| (one, other, 1.0));
        assert_eq!(edges(cliques), expected);
        assert_eq!(edges(GraphModel::Path { n_arms: 3 }), [(0, 1, 1.0), (1, 2, 1.0)]);
        let ring = edges(GraphModel::NewmanWatts { n_arms: 6, neighbours: 4, p: 0.0 });
        assert_eq!(ring.len(), 12);
        assert!(ring.contains(&(5, 0, 1.0)) && ring.contains(&(4, 0, 1.0)) && !ring.contains(&(0, 3, 1.0)));
        assert_eq!(edges(GraphModel::NewmanWatts { n_arms: 3, neighbours: 4, p: 1.0 }).len(), 3, "nothing to add");
    }

    /// The number of edges of each kind is binomial: a distance of 6 standard deviations has probability below 2e-9 each.
    #[test]
    fn edges_of_random_graphs_have_their_probabilities() {
        let model = GraphModel::Blocks { n_arms: 300, n_blocks: 2, p_in: 0.1, p_cross: 0.02 };
        let (inside, across): (Vec<Edge>, Vec<Edge>) =
            edges(model).into_iter().partition(|&(one, other, _)| (one < 150) == (other < 150));
        for (found, n, p) in [(inside.len(), 2 * 150 * 149 / 2, 0.1), (across.len(), 150 * 150, 0.02)] {
            let (mean, deviation) = (f64::from(n) * p, (f64::from(n) * p * (1.0 - p)).sqrt());
            assert!((found as f64 - mean).abs() < 6.0 * deviation, "{found} {mean}");
        }
        let ring = edges(GraphModel::NewmanWatts { n_arms: 1_000, neighbours: 4, p: 0.1 });
        assert!((ring.len() as f64 - 2_200.0).abs() < 6.0 * 180.0_f64.sqrt(), "{}", ring.len());
    }

    #[test]
    fn norms_are_those_of_the_matrix() {
        let prior = GraphPrior::new(Graph::new(3, &[(0, 1, 2.0), (1, 2, 0.5)]).unwrap(), 0.25).unwrap();
        let m = [1.0, -1.0, 2.0];
        let matrix = DMatrix::from_row_slice(3, 3, &prior.graph().precision(0.25));
        let m_vector = nalgebra::DVector::from_column_slice(&m);
        assert!((prior.norm2(&m) - m_vector.dot(&(&matrix * &m_vector))).abs() < 1e-13);
        assert!((prior.eigenvalues()[0] - 0.25).abs() < 1e-14, "a connected graph has one eigenvalue ρ");
    }
}
