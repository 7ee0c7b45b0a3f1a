//! The kinds `graph` and `kernel` of `[instance]`, and its keys `kernel` and `graph`, which say how algorithms take the means to be related.

use super::instance::index;
use crate::InstanceError;
use crate::experiment::keys::{Field, FileError, Keys};
use crate::instance::graphs::{GraphInstances, GraphModel, SampledFunctions};
use crate::instance::source::{InstanceKind, Truth};
use cutline::{Arms, CovarianceKind, Graph, Kernel, Purpose, Range, stream};
use cutline_data::{dataset, edges};
use std::path::Path;
use std::sync::Arc;

/// The largest number of arms with a kernel or a graph.
const MAX_ARMS: u64 = Arms::MAX_WITH_COVARIANCE as u64;

/// Arms on a graph: `model` says which, and `means` what their means are.
pub(super) fn graph(keys: &Keys<'_>, _: &Path) -> Result<InstanceKind, FileError> {
    type Make = fn(&Keys<'_>) -> Result<GraphModel, FileError>;
    const MODELS: &[(&str, Make)] = &[
        ("cliques", |keys| {
            let n_cliques = keys.need("n_cliques")?.whole(1, MAX_ARMS)?;
            let field = keys.need("size")?;
            let size = field.whole(1, MAX_ARMS)?;
            if n_cliques * size > MAX_ARMS {
                return Err(field.error(format!("times `n_cliques` must be at most {MAX_ARMS}")));
            }
            Ok(GraphModel::Cliques { n_cliques: index(n_cliques), size: index(size) })
        }),
        ("blocks", |keys| {
            let n_arms = keys.need("n_arms")?.whole(1, MAX_ARMS)?;
            let n_blocks = keys.get("n_blocks").map_or(Ok(2), |field| field.whole(1, n_arms))?;
            let (p_in, p_cross) = (probability(&keys.need("p_in")?)?, probability(&keys.need("p_cross")?)?);
            Ok(GraphModel::Blocks { n_arms: index(n_arms), n_blocks: index(n_blocks), p_in, p_cross })
        }),
        ("newman-watts", |keys| {
            let n_arms = keys.need("n_arms")?.whole(1, MAX_ARMS)?;
            let neighbours = keys.need("neighbours")?.whole(0, n_arms.saturating_sub(1))?;
            let p = probability(&keys.need("p")?)?;
            Ok(GraphModel::NewmanWatts { n_arms: index(n_arms), neighbours: index(neighbours), p })
        }),
        ("path", |keys| Ok(GraphModel::Path { n_arms: index(keys.need("n_arms")?.whole(1, MAX_ARMS)?) })),
    ];
    let model_field = keys.need("model")?;
    let model = model_field.choice(MODELS)?(keys)?;
    let ridge = ridge(keys)?;
    let means = keys.get("means").map(|field| means(&field, model.n_arms())).transpose()?;
    let instances = GraphInstances { model, ridge, means };
    if !instances.is_fixed() {
        return Ok(InstanceKind::Custom(Arc::new(instances)));
    }
    let truth = instances.truth(&mut stream(0, Purpose::Instance, 0)).map_err(|error| model_field.refused(error))?;
    Ok(InstanceKind::Fixed(truth))
}

/// Points with a kernel: `n_arms` of them at equal distances on [0, 1], or those of a file; the means are given, or a function that is drawn
/// from the Gaussian process.
pub(super) fn kernel(keys: &Keys<'_>, directory: &Path) -> Result<InstanceKind, FileError> {
    let kernel_field = keys.need("kernel")?;
    let kind = CovarianceKind::Kernel { kernel: kernel_field.choice(Kernel::ALL)?, length: length(keys)? };
    let points = if let Some(field) = keys.get("file") {
        points(keys, directory, &field)?
    } else {
        let n_arms = index(keys.need("n_arms")?.whole(1, MAX_ARMS)?);
        let last = (n_arms - 1).max(1) as f64;
        let points: Vec<f64> = (0..n_arms).map(|point| point as f64 / last).collect();
        Arms::from_slice(&points, 1).map_err(|error| kernel_field.refused(error))?
    };
    let arms = kind.arms(&points).map_err(|error| kernel_field.refused(error))?;
    Ok(match keys.get("means") {
        Some(field) => {
            let means = means(&field, arms.n_arms())?;
            InstanceKind::Fixed(Truth::Means(arms, means))
        }
        None => InstanceKind::Custom(Arc::new(SampledFunctions(arms))),
    })
}

/// The points of a file.
fn points(keys: &Keys<'_>, directory: &Path, field: &Field<'_>) -> Result<Arms, FileError> {
    if let Some(n_arms) = keys.get("n_arms") {
        return Err(n_arms.error("does not go with `file`: the file has as many points as it has rows"));
    }
    let path = directory.join(field.text()?);
    let refused = |error: &dyn std::fmt::Display| field.refused(format!("{}: {error}", path.display()));
    let (candidates, _) = dataset::open_with_labels(&path).map_err(|error| refused(&error))?;
    Ok(dataset::with_features(candidates).map_err(|error| refused(&error))?.arms())
}

/// How algorithms take the means of any other kind of instance to be related, if the table says it.
pub(super) fn covariance(
    keys: &Keys<'_>,
    directory: &Path,
    kind: &InstanceKind,
) -> Result<Option<CovarianceKind>, FileError> {
    let (kernel, graph) = (keys.get("kernel"), keys.get("graph"));
    match (kernel, graph) {
        (Some(_), Some(graph)) => Err(graph.error("does not go with `kernel`: give one of them")),
        (Some(kernel), None) => {
            Ok(Some(CovarianceKind::Kernel { kernel: kernel.choice(Kernel::ALL)?, length: length(keys)? }))
        }
        (None, Some(field)) => {
            let (n_arms, names) = names(keys, directory, kind, &field)?;
            let path = directory.join(field.text()?);
            let refused = |error: &dyn std::fmt::Display| field.refused(format!("{}: {error}", path.display()));
            let file = cutline_data::input::read(&path).map_err(|error| refused(&error))?;
            let graph = edges::graph(&file[..], n_arms, &names).map_err(|error| refused(&error))?;
            Ok(Some(CovarianceKind::Graph { graph, ridge: ridge(keys)? }))
        }
        (None, None) => Ok(None),
    }
}

/// The number of arms of an instance, and their names if they come from a file that has names.
fn names(
    keys: &Keys<'_>,
    directory: &Path,
    kind: &InstanceKind,
    field: &Field<'_>,
) -> Result<(usize, Vec<String>), FileError> {
    let n_arms = match kind {
        InstanceKind::Uniform { n_arms, .. } => *n_arms,
        InstanceKind::Features(arms) | InstanceKind::Fixed(Truth::Linear(arms, _) | Truth::Means(arms, _)) => {
            arms.n_arms()
        }
        InstanceKind::Fixed(Truth::Graph(..)) | InstanceKind::Custom(_) => {
            return Err(field.error("does not go with an instance that has its own arms; a graph is given with them"));
        }
    };
    let file = keys.get("file").and_then(|field| field.text().ok());
    let labels = file.and_then(|name| dataset::open_with_labels(&directory.join(name)).ok()).map(|(_, labels)| labels);
    Ok((n_arms, labels.unwrap_or_default()))
}

fn length(keys: &Keys<'_>) -> Result<f64, FileError> {
    checked(&keys.need("length")?, Kernel::LENGTH)
}

fn ridge(keys: &Keys<'_>) -> Result<f64, FileError> {
    keys.get("ridge").map_or(Ok(Graph::DEFAULT_RIDGE), |field| checked(&field, Graph::RIDGE))
}

fn probability(field: &Field<'_>) -> Result<f64, FileError> {
    checked(field, Range::new(0.0, 1.0))
}

fn checked(field: &Field<'_>, range: Range) -> Result<f64, FileError> {
    let value = field.number()?;
    if range.contains(value) { Ok(value) } else { Err(field.is_not(&format!("a number {range}"))) }
}

fn means(field: &Field<'_>, expected: usize) -> Result<Vec<f64>, FileError> {
    let means = field.numbers()?;
    let found = means.len();
    if found == expected { Ok(means) } else { Err(field.refused(InstanceError::MeansLength { expected, found })) }
}
