//! `report.html`: everything about a simulation, a plan or a campaign on one page that needs no other file.

mod answer;
mod arms;
mod campaign;
mod figures;
mod model;
mod settings;
mod tickets;
mod view;

pub(crate) use answer::{BudgetAnswer, grouped};
pub(crate) use campaign::campaign;
pub(crate) use view::View;

use crate::compare::Outcome;
use crate::failure::Failure;
use crate::forecast::errors;
use crate::print::{difference, heading};
use crate::stopping;
use askama::Template;
use cutline_lab::{
    Experiment, ForecastRow, NoiseKind, Oracle, PlanReport, PublishedResult, SourceKind, Threshold, Truth,
};

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    title: &'static str,
    version: &'static str,
    summary: Vec<String>,
    has_erratum: bool,
    sections: Vec<Section>,
}

struct Section {
    name: String,
    heading: String,
    svg: String,
    settings: Vec<(String, String)>,
    theory: Vec<String>,
    baseline: Option<String>,
    has_published: bool,
    rows: Vec<Line>,
    stopping: Vec<[String; 10]>,
}

/// A row of the table, formatted.
struct Line {
    algorithm: String,
    budget: u32,
    rate: String,
    interval: String,
    errors: String,
    difference: String,
    curve: String,
    published: String,
    z: String,
    is_out_of_band: bool,
}

/// The page for experiments that were run and their drawings.
pub(crate) fn html(outcomes: &[Outcome], drawings: &[String], summary: &[String]) -> Result<String, Failure> {
    let page = Page {
        title: "Simulation report",
        version: env!("CARGO_PKG_VERSION"),
        summary: summary.to_vec(),
        has_erratum: outcomes.iter().any(has_erratum),
        sections: outcomes.iter().zip(drawings).map(|(outcome, svg)| section(outcome, svg)).collect(),
    };
    Ok(page.render()?)
}

/// The page for a plan and its drawing.
pub(crate) fn plan(planned: &PlanReport, svg: &str) -> Result<String, Failure> {
    let PlanReport { experiment, forecast } = planned;
    let mut settings = settings(experiment);
    settings.insert(0, ("target".to_owned(), forecast.target.to_string()));
    let section = Section {
        name: experiment.name().into(),
        heading: planned.heading(),
        svg: svg.into(),
        settings,
        theory: planned.remarks(),
        baseline: None,
        has_published: false,
        rows: forecast.prospects.iter().map(prospect_line).collect(),
        stopping: Vec::new(),
    };
    let page = Page {
        title: "Plan",
        version: env!("CARGO_PKG_VERSION"),
        summary: planned.answers(),
        has_erratum: false,
        sections: vec![section],
    };
    Ok(page.render()?)
}

fn prospect_line(prospect: &ForecastRow) -> Line {
    Line {
        algorithm: prospect.algorithm.clone(),
        budget: prospect.budget,
        rate: format!("{:.4}", prospect.failure_rate),
        interval: format!("{:.4} – {:.4}", prospect.low, prospect.high),
        errors: errors(prospect),
        difference: String::new(),
        curve: String::new(),
        published: String::new(),
        z: String::new(),
        is_out_of_band: false,
    }
}

fn has_erratum(outcome: &Outcome) -> bool {
    outcome.experiment.entrants().iter().any(|entrant| entrant.oracle() == Some(Oracle::AsPublished))
}

fn section(outcome: &Outcome, svg: &str) -> Section {
    Section {
        name: outcome.experiment.name().into(),
        heading: heading(outcome),
        svg: svg.into(),
        settings: settings(&outcome.experiment),
        theory: outcome.theory(),
        baseline: outcome.experiment.baseline().map(|b| outcome.experiment.entrants()[b].label().into()),
        has_published: !outcome.experiment.published().is_empty(),
        rows: outcome.compared().iter().map(line).collect(),
        stopping: stopping::cells(outcome),
    }
}

fn line(compared: &PublishedResult) -> Line {
    let row = &compared.row;
    let cell = compared.published.as_ref();
    Line {
        algorithm: row.algorithm.clone(),
        budget: row.budget,
        rate: format!("{:.4}", row.failure_rate),
        interval: format!("{:.4} – {:.4}", row.low, row.high),
        errors: format!("{:.3}", row.mean_errors),
        difference: difference(row),
        curve: cell.map_or(String::new(), |cell| cell.curve.clone()),
        published: cell.map_or(String::new(), |cell| format!("{:.4}", cell.published)),
        z: cell.map_or(String::new(), |cell| format!("{:+.2}", cell.z)),
        is_out_of_band: cell.is_some_and(|cell| !cell.is_within()),
    }
}

/// Every setting, by name.
fn settings(experiment: &Experiment) -> Vec<(String, String)> {
    let noise = experiment.noise();
    let kind = NoiseKind::ALL.iter().find(|(_, kind)| *kind == noise.kind()).map_or("", |(name, _)| name);
    let budgets: Vec<String> = experiment.budgets().iter().map(ToString::to_string).collect();
    let mut settings = vec![
        ("runs".to_owned(), experiment.runs().to_string()),
        ("seed".to_owned(), experiment.seed().to_string()),
        ("budgets".to_owned(), budgets.join(", ")),
        ("noise".to_owned(), format!("{kind}, σ = {}", noise.scale())),
    ];
    settings.extend(instance_settings(experiment));
    settings
        .extend(experiment.baseline().map(|b| ("baseline".to_owned(), experiment.entrants()[b].label().to_owned())));
    for entrant in experiment.entrants() {
        let mut values: Vec<String> =
            entrant.spec().values().map(|(name, value)| format!("{name} = {value}")).collect();
        values.extend(entrant.oracle().map(|oracle| match oracle {
            Oracle::AsPublished => "exploration = (T − K)/H′".into(),
            Oracle::AsSpecified { exponent } => format!("exploration = 4^{exponent} (T − K)/H"),
            _ => "exploration from the truth".into(),
        }));
        let (algorithm, estimator) = (entrant.spec().algorithm(), entrant.spec().estimator());
        let parts = format!("{} × {} × {}", algorithm.rule, estimator.name(), entrant.spec().stop());
        values.insert(0, parts);
        values.extend(entrant.spec().confidence_stop().map(|sure| {
            let norm = sure.norm().map_or("σ√(d/λ)".into(), |norm| norm.to_string());
            format!("sure by {}, δ = {}, S = {norm}", sure.criterion().name(), sure.delta())
        }));
        settings.push((entrant.label().into(), values.join("; ")));
    }
    settings
}

/// What the instances are, whether there is one or one a run.
fn instance_settings(experiment: &Experiment) -> Vec<(String, String)> {
    let source = experiment.source();
    let kind = match source.kind() {
        SourceKind::Uniform { .. } => "features and θ uniform on [−1, 1]".to_owned(),
        SourceKind::Features(_, prior) => format!("features given, {prior}"),
        SourceKind::Given(Truth::Linear(..)) => "features and θ given".to_owned(),
        SourceKind::Given(Truth::Means(arms, _)) if arms.dimension().is_some() => "features and means given".to_owned(),
        SourceKind::Given(Truth::Means(..)) => "means given".to_owned(),
        _ => String::new(),
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
