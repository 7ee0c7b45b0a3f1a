//! The schema of an experiment file, read strictly. `docs/experiments.md` describes it for users.

mod instance;
mod noise;
mod published;
mod related;
mod stop;

use crate::experiment::keys::{Field, FileError, Keys, parse};
use crate::experiment::{Experiment, Extensions, Overrides};
use crate::instance::source::{DrawSchedule, InstanceSource};
use crate::run::entrant::{ExtraStop, with_noise, with_stop};
use crate::theory::tracking::{ORACLE, oracle_spec};
use crate::{Entrant, ExperimentNoise, Oracle, RunError, Threshold};
use cutline::{Decision, ParameterRole, Question, Spec};
use std::path::Path;
use std::sync::OnceLock;

/// The largest number of pulls per run: its noise is kept in memory.
const MAX_PULLS: u64 = 100_000_000;

/// The name of a variant's table in error messages.
const VARIANT: &str = "[[variant]]";

/// Reads the experiments of a file: one, or one per `[[variant]]`. `stem` is the name of an experiment without one; the files
/// that it names are relative to `directory`.
pub(crate) fn experiments(
    text: &str,
    stem: &str,
    directory: &Path,
    overrides: Overrides,
    extensions: &Extensions,
) -> Result<Vec<Experiment>, FileError> {
    let document = parse(text)?;
    let file = || Keys::new(text, document.get_ref());
    let read = |keys: &Keys<'_>| experiment(keys, stem, directory, overrides, extensions);
    let Some(variants) = file().get("variant") else { return Ok(vec![read(&file())?]) };
    let mut experiments: Vec<Experiment> = Vec::new();
    for variant in variants.list()? {
        let name = variant.keys(VARIANT)?.need("name")?;
        if let Some(nested) = variant.keys(VARIANT)?.get("variant") {
            return Err(nested.error("cannot be in a variant"));
        }
        let experiment = read(&variant.keys(VARIANT)?.or(file()))?;
        if experiments.iter().any(|other| other.name == experiment.name) {
            return Err(name.error(format!("\"{}\" names two variants; names must differ", name.text()?)));
        }
        experiments.push(experiment);
    }
    if experiments.is_empty() { Err(variants.error("must hold at least one variant")) } else { Ok(experiments) }
}

/// Reads one experiment from the keys of a file, or from those of a variant with the file's as defaults.
fn experiment(
    keys: &Keys<'_>,
    stem: &str,
    directory: &Path,
    overrides: Overrides,
    extensions: &Extensions,
) -> Result<Experiment, FileError> {
    let name = keys.get("name").map_or(Ok(stem), |field| field.title())?.to_owned();
    let runs = keys.get("runs").map_or(Ok(10_000), |field| field.whole(1, 1 << 50))?;
    let seed = keys.get("seed").map_or(Ok(0), |field| field.whole(0, u64::MAX))?;
    let budgets = budgets(&keys.need("budgets")?)?;
    let stop_field = keys.get("stop");
    let threshold = threshold(&keys.need("threshold")?)?;
    let precision = keys.get("precision").map_or(Ok(0.0), |field| precision(&field))?;
    let noise_field = keys.get("noise");
    let baseline = keys.get("baseline");
    let instance_field = keys.need("instance")?;
    let algorithms_field = keys.need("algorithm")?;
    let published_field = keys.get("published");
    keys.bottom().get("variant");
    keys.finish()?;

    let seed = overrides.seed.unwrap_or(seed);
    let table = instance::instance(&keys.need_table("instance")?, directory, extensions)?;
    let noise = noise::noise(noise_field.as_ref(), table.noise, extensions)?;
    if table.noise_is_fixed && noise.law().is_none_or(|law| law.kind() != table.noise) {
        let (kind, noise) = (table.noise.name(), noise_field.as_ref().unwrap_or(&instance_field));
        return Err(noise.error(format!("must be {{ kind = \"{kind}\" }} or be left out: the instance says so")));
    }
    let schedule = if overrides.redraw { DrawSchedule::EveryRun } else { table.schedule };
    let source = InstanceSource::new(table.kind, schedule, seed, threshold, precision)
        .and_then(|source| source.with_offset(table.offset))
        .map_err(|error| instance_field.refused(error))?;
    let source = if table.is_standardised { source.standardised() } else { source };
    let source = match table.covariance {
        Some(kind) => source.related(kind).map_err(|error| instance_field.refused(error))?,
        None => source,
    };
    let file = instance_field.keys("[instance]")?.get("file");
    let source = source.with_file(file.and_then(|field| field.text().ok().map(|name| directory.join(name))));
    let stop = stop_field.map_or(Ok(None), |field| stop::stop(&field, &noise, extensions))?;
    let algorithms = keys.lists("algorithm")?;
    if algorithms.is_empty() {
        return Err(algorithms_field.error("must name at least one algorithm"));
    }
    let entrants = entrants(&algorithms, &noise, stop.as_ref(), extensions)?;
    let has_graph = source.instance(0).is_ok_and(|instance| instance.graph().is_some());
    let needs_graph = |entrant: &Entrant| matches!(entrant.oracle(), Some(Oracle::Gamma { .. }));
    if let Some(position) = entrants.iter().position(needs_graph).filter(|_| !has_graph) {
        return Err(algorithms[position].error("cannot have `gamma = \"optimal\"`: the arms are not on a graph"));
    }
    let baseline = match baseline {
        None => None,
        Some(field) => Some(position(&field, field.text()?, &entrants)?),
    };
    let (published, published_means) = match published_field {
        Some(_) if !overrides.redraw => {
            published::published(&keys.lists("published")?, &entrants, budgets.len(), source.fixed())?
        }
        _ => Default::default(),
    };
    let runs = overrides.runs.unwrap_or(runs);
    let name = if overrides.redraw { format!("{name}-redrawn") } else { name };
    let fingerprint = OnceLock::new();
    let experiment = Experiment {
        name,
        runs,
        seed,
        budgets,
        noise,
        baseline,
        source,
        entrants,
        published,
        published_means,
        fingerprint,
    };
    match experiment.check() {
        Ok(()) => Ok(experiment),
        Err(RunError::Algorithm { label, error }) => {
            let position = position(&algorithms_field, &label, &experiment.entrants)?;
            Err(algorithms[position].error(format!("`{label}` does not fit: {error}")))
        }
        Err(error @ (RunError::NoProbability { .. } | RunError::Scales { .. })) => {
            Err(noise_field.unwrap_or(instance_field).refused(error))
        }
        Err(error @ (RunError::Instance { .. } | RunError::Reward { .. } | RunError::Interrupted)) => {
            Err(instance_field.refused(error))
        }
    }
}

fn budgets(field: &Field<'_>) -> Result<Vec<u32>, FileError> {
    let mut budgets: Vec<u32> = Vec::new();
    for element in field.list()? {
        let budget = element.whole(1, MAX_PULLS)?;
        let budget = u32::try_from(budget).map_err(|error| element.error(error))?;
        if budgets.last().is_some_and(|&last| last >= budget) {
            return Err(element.error(format!("must ascend, but {budget} is not larger than the one before")));
        }
        budgets.push(budget);
    }
    if budgets.is_empty() { Err(field.error("must name at least one budget")) } else { Ok(budgets) }
}

fn threshold(field: &Field<'_>) -> Result<Threshold, FileError> {
    if field.is_text() {
        let choices = [("mean", Threshold::Mean), ("median", Threshold::Median)];
        return field.choice(&choices).map_err(|_| field.is_not("a finite number, \"mean\" or \"median\""));
    }
    let threshold = field.number()?;
    Question::new(threshold, 0.0).map_err(|error| field.refused(error))?;
    Ok(Threshold::Value(threshold))
}

fn precision(field: &Field<'_>) -> Result<f64, FileError> {
    let precision = field.number()?;
    Question::new(0.0, precision).map_err(|error| field.refused(error))?;
    Ok(precision)
}

fn entrants(
    tables: &[Field<'_>],
    noise: &ExperimentNoise,
    stop: Option<&ExtraStop>,
    extensions: &Extensions,
) -> Result<Vec<Entrant>, FileError> {
    let mut entrants: Vec<Entrant> = Vec::new();
    for table in tables {
        let entrant = entrant(table, noise, stop, extensions)?;
        if entrants.iter().any(|other| other.label() == entrant.label()) {
            return Err(table.error(format!("`{}` is listed twice; give one a `label`", entrant.label())));
        }
        entrants.push(entrant);
    }
    Ok(entrants)
}

fn entrant(
    field: &Field<'_>,
    noise: &ExperimentNoise,
    stop: Option<&ExtraStop>,
    extensions: &Extensions,
) -> Result<Entrant, FileError> {
    let keys = field.keys("[[algorithm]]")?;
    let name_field = keys.need("name")?;
    let name = name_field.text()?;
    let label = keys.get("label");
    let mut spec = match extensions.rules.iter().find(|rule| rule.name() == name) {
        Some(rule) => Spec::custom(rule.clone()),
        None if name == ORACLE.0 => oracle_spec(),
        None => Spec::named(name).map_err(|error| name_field.refused(error))?,
    };
    if let Some(field) = keys.get("estimator") {
        let estimator = field.text()?;
        let custom = extensions.estimators.iter().find(|custom| custom.name() == estimator);
        spec = match custom {
            Some(custom) => spec.with_custom_estimator(custom.clone()),
            None => spec.with_estimator(estimator),
        }
        .map_err(|error| field.refused(error))?;
    }
    let own_stop = keys.get("stop").map(|field| stop::stop(&field, noise, extensions)).transpose()?;
    let stop = own_stop.as_ref().map_or(stop, Option::as_ref);
    spec = with_noise(spec, noise).and_then(|spec| with_stop(spec, stop)).map_err(|error| name_field.refused(error))?;
    let mut is_explored = false;
    for parameter in spec.parameters() {
        if let Some(value) = keys.get(parameter.name) {
            spec = spec.with(parameter.name, value.number()?).map_err(|error| value.refused(error))?;
            is_explored |= parameter.role == ParameterRole::OracleExploration;
        }
    }
    let takes_oracle = !is_explored && spec.takes(ParameterRole::OracleExploration);
    let is_oracle = name == ORACLE.0 && extensions.rules.iter().all(|rule| rule.name() != name);
    let mut oracle = match (takes_oracle, is_oracle) {
        (true, _) => Some(oracle(&keys)?),
        (_, true) => Some((String::new(), Oracle::Allocation)),
        _ => None,
    };
    if let Some(name) = spec.algorithm().lambda_in_paper {
        (spec, oracle) = lambda_in_paper(&keys, name, spec, noise)?;
    }
    let decision = keys.get("decision").map_or(Ok(Decision::Separate), |field| decision(&field, extensions))?;
    keys.finish()?;
    let label = match (label, &oracle) {
        (Some(label), _) => label.title()?.to_owned(),
        (None, Some((suffix, _))) if !suffix.is_empty() => format!("{name}({suffix})"),
        (None, _) => name.to_owned(),
    };
    Ok(Entrant::new(label, spec, oracle.map(|(_, oracle)| oracle)).with_decision(decision))
}

/// One of the built-in decisions or a custom one, by name.
fn decision(field: &Field<'_>, extensions: &Extensions) -> Result<Decision, FileError> {
    let custom = extensions.decisions.iter().map(|decision| (decision.name(), Decision::Custom(decision.clone())));
    field.choice(&Decision::ALL.iter().cloned().chain(custom).collect::<Vec<_>>())
}

/// The paper's name of ridge's λ, for example GrAPL's γ: a number, or `"optimal"` for the one that follows from the true means.
fn lambda_in_paper(
    keys: &Keys<'_>,
    name: &'static str,
    spec: Spec,
    noise: &ExperimentNoise,
) -> Result<(Spec, Option<(String, Oracle)>), FileError> {
    let Some(field) = keys.get(name) else { return Ok((spec, None)) };
    if let Some(lambda) = keys.get("lambda") {
        return Err(lambda.error(format!("and `{name}` are two names of the same number; give one")));
    }
    if field.is_text() {
        field.choice(&[("optimal", ())]).map_err(|_| field.is_not("a finite number or \"optimal\""))?;
        return Ok((spec, Some(("optimal".into(), Oracle::Gamma { noise: noise.scale() }))));
    }
    let gamma = field.number()?;
    Ok((spec.with_regularisation(gamma).map_err(|error| field.refused(error))?, None))
}

/// How UCB-E's exploration follows from the true means, and the suffix of its label.
fn oracle(keys: &Keys<'_>) -> Result<(String, Oracle), FileError> {
    let exponent = keys.get("exponent").map(|field| field.number()).transpose()?;
    let is_published = match keys.get("complexity") {
        None => false,
        Some(field) => field.choice(&[("as-published", true), ("as-specified", false)])?,
    };
    Ok(match (is_published, exponent) {
        (true, None) => ("as-published".into(), Oracle::AsPublished),
        (true, Some(exponent)) => (format!("{exponent}, as-published"), Oracle::AsPublished),
        (false, exponent) => {
            let exponent = exponent.unwrap_or(0.0);
            (exponent.to_string(), Oracle::AsSpecified { exponent })
        }
    })
}

fn position(field: &Field<'_>, label: &str, entrants: &[Entrant]) -> Result<usize, FileError> {
    entrants.iter().position(|entrant| entrant.label() == label).ok_or_else(|| {
        let labels: Vec<String> = entrants.iter().map(|entrant| format!("\"{}\"", entrant.label())).collect();
        field.error(format!("must be one of the algorithms {}, not \"{label}\"", labels.join(", ")))
    })
}
