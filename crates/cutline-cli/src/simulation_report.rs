//! The page about experiments that were run.

use crate::failure::Failure;
use crate::results::{Outcome, TextTable, stopping};
use askama::Template;
use cutline::CovarianceKind;
use cutline_lab::{ArmScales, Experiment, InstanceKind, Oracle, Threshold, Truth};

#[derive(Template)]
#[template(path = "simulation.html")]
struct Page {
    title: &'static str,
    version: &'static str,
    summary: Vec<String>,
    has_erratum: bool,
    sections: Vec<Section>,
}

/// One experiment.
struct Section {
    name: String,
    heading: String,
    svg: String,
    settings: Vec<(String, String)>,
    theory: Vec<String>,
    table: TextTable,
    stopping: Vec<[String; 10]>,
}

/// The page for experiments and their figures.
pub(crate) fn page(outcomes: &[Outcome], drawings: &[String], summary: &[String]) -> Result<String, Failure> {
    let page = Page {
        title: "Simulation report",
        version: env!("CARGO_PKG_VERSION"),
        summary: summary.to_vec(),
        has_erratum: outcomes.iter().any(has_erratum),
        sections: outcomes.iter().zip(drawings).map(|(outcome, svg)| section(outcome, svg)).collect(),
    };
    Ok(cutline::shown(&page.render()?).into_owned())
}

fn has_erratum(outcome: &Outcome) -> bool {
    outcome.experiment.entrants().iter().any(|entrant| entrant.oracle() == Some(Oracle::AsPublished))
}

fn section(outcome: &Outcome, svg: &str) -> Section {
    Section {
        name: outcome.experiment.name().into(),
        heading: outcome.heading(),
        svg: svg.into(),
        settings: settings(&outcome.experiment),
        theory: outcome.theory(),
        table: TextTable::new(outcome),
        stopping: stopping::cells(outcome),
    }
}

/// Every setting of an experiment, by name.
pub(crate) fn settings(experiment: &Experiment) -> Vec<(String, String)> {
    let noise = experiment.noise();
    let scale = match noise.scales() {
        ArmScales::Given(given) => {
            let scales: Vec<String> = given.iter().map(ToString::to_string).collect();
            format!("σ per arm: {}", scales.join(", "))
        }
        ArmScales::Spread(spread) => {
            format!("σ drawn per arm, from {} to {}", noise.scale() / spread / spread, noise.scale())
        }
        _ => format!("σ = {}", noise.scale()),
    };
    let budgets: Vec<String> = experiment.budgets().iter().map(ToString::to_string).collect();
    let mut settings = vec![
        ("runs".to_owned(), experiment.runs().to_string()),
        ("seed".to_owned(), experiment.seed().to_string()),
        ("budgets".to_owned(), budgets.join(", ")),
        ("noise".to_owned(), format!("{}, {scale}", noise.kind_name())),
    ];
    settings.extend(instance_settings(experiment));
    settings
        .extend(experiment.baseline().map(|b| ("baseline".to_owned(), experiment.entrants()[b].label().to_owned())));
    for entrant in experiment.entrants() {
        let mut values: Vec<String> =
            entrant.spec().values().map(|(name, value)| format!("{name} = {value}")).collect();
        values.extend(entrant.oracle().map(|oracle| match oracle {
            Oracle::AsPublished => "exploration = (T − K)/H′".into(),
            Oracle::Gamma { .. } => "γ for which the bound of GrAPL is best, from the true means".into(),
            Oracle::AsSpecified { exponent } => format!("exploration = 4^{exponent} (T − K)/H"),
            Oracle::Allocation => "the best proportions for the true means".into(),
            _ => "exploration computed from the true means".into(),
        }));
        let spec = entrant.spec();
        let parts = format!("{} × {} × {}", spec.algorithm().rule, spec.estimator_name(), spec.stop());
        values.insert(0, parts);
        values.extend(entrant.spec().confidence_stop().map(|sure| {
            let norm = sure.norm().map_or("σ√(d/λ)".into(), |norm| norm.to_string());
            format!("sure by {}, δ = {}, S = {norm}", sure.criterion().name(), sure.delta())
        }));
        settings.push((entrant.label().into(), values.join("; ")));
    }
    settings
}

/// The settings of the instances, whether there is one or one per run.
fn instance_settings(experiment: &Experiment) -> Vec<(String, String)> {
    let source = experiment.source();
    let kind = match source.kind() {
        InstanceKind::Uniform { .. } => "features and θ uniform on [−1, 1]".to_owned(),
        InstanceKind::Features(_) => "features given, θ uniform on [−1, 1]".into(),
        InstanceKind::Fixed(Truth::Linear(..)) => "features and θ given".to_owned(),
        InstanceKind::Fixed(Truth::Means(arms, _)) if arms.dimension().is_some() => {
            "features and means given".to_owned()
        }
        InstanceKind::Fixed(Truth::Means(..)) => "means given".to_owned(),
        InstanceKind::Fixed(Truth::Graph(..)) => "means given, on a graph".to_owned(),
        _ => String::new(),
    };
    let kind = match source.covariance() {
        Some(CovarianceKind::Kernel { kernel, length }) => {
            format!("{kind}; kernel {} of length {length}", kernel.name())
        }
        Some(_) => format!("{kind}; a graph of the arms"),
        None => kind,
    };
    let kind = if source.is_standardised() { format!("{kind}; features standardised") } else { kind };
    let threshold = match (source.threshold(), source.fixed()) {
        (Threshold::Value(threshold), _) => threshold.to_string(),
        (threshold, fixed) => {
            let what = if threshold == Threshold::Median { "median" } else { "mean" };
            let value = fixed.map(|instance| format!("{}, ", instance.question().threshold()));
            format!("{}the {what} of the means", value.unwrap_or_default())
        }
    };
    let mut settings = vec![
        ("instances".to_owned(), kind),
        ("threshold τ".to_owned(), threshold),
        ("precision ε".to_owned(), source.precision().to_string()),
    ];
    if let Ok(instance) = source.instance(0) {
        let dimension = instance.arms().dimension().map_or("none".into(), |d| d.to_string());
        settings.push(("arms".to_owned(), instance.arms().n_arms().to_string()));
        settings.push(("features".to_owned(), dimension));
    }
    settings
}
