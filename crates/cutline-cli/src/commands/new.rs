//! `cutline new STORE CANDIDATES`

use super::{candidates, read, reference, token_of};
use crate::args::CampaignOptions;
use crate::failure::Failure;
use crate::print::{listed, note};
use crate::{args, interrupt};
use cutline::{EstimatorKind, Kernel, RewardKind};
use cutline_campaign::{AnyCampaign, CampaignCovariance, CampaignError, Candidates, Description, Settings};
use cutline_data::dataset::Loaded;
use cutline_data::edges::graph;
use cutline_data::rewards::rewards;
use cutline_report::spending::{costs_in_words, measurements, weighing_in_words};
use cutline_report::{describe, finding, words};
use cutline_store::{NewCampaign, OpenOptions, Store, StoreError};
use std::path::Path;

pub(crate) fn new(args: &args::New) -> Result<(), Failure> {
    // Everything that can be refused without a store is refused here, so that no empty store is left behind.
    let new = new_campaign(args)?;
    let constant = constant_columns(new.candidates());
    let token = token_of(&args.token)?;
    let guard = interrupt::hold_for(&args.store);
    let store =
        OpenOptions::new().create(true).interrupt(interrupt::waits()).token(token.as_deref()).host(&args.store)?;
    let is_first = store.campaigns()?.is_empty();
    let mut campaign = store.begin_new(new)?;
    drop(guard);
    for line in summary(&mut *campaign, &constant)? {
        note(&line);
    }
    let is_obvious = is_first && !Store::is_over_http(&args.store);
    let reference = reference(&args.store, Some(campaign.name()).filter(|_| !is_obvious));
    note(&format!("next: cutline ask {reference}, or cutline run {reference} --measure COMMAND"));
    Ok(())
}

/// The campaign that the arguments and files describe, checked.
fn new_campaign(args: &args::New) -> Result<NewCampaign, Failure> {
    let path = &args.candidates;
    let reading = args.options.read_options();
    let Loaded { candidates, encoding, .. } = candidates(path, &reading)?;
    let observed = match &args.observed {
        Some(path) => {
            read(path, "", |csv| rewards(csv, candidates.n_arms(), candidates.names(), reading.decimal_comma))?
        }
        None => Vec::new(),
    };
    let mut settings = settings(&args.options, args.threshold, &candidates)?;
    settings.budget = args.budget;
    settings.algorithm.clone_from(&args.algorithm);
    settings.seed = args.seed;
    settings.encoding = encoding;
    let name = args.name.clone().or_else(|| Store::name_in(&args.store)).unwrap_or_else(|| default_name(path));
    if settings.rewards.is_none() && is_pass_or_fail(&settings, &observed) {
        settings.rewards = Some(RewardKind::Bernoulli);
        note(
            "the earlier rewards are all 0 or 1, so the rewards are taken as pass or fail; `--rewards gaussian` prevents that",
        );
    }
    let mut new = NewCampaign::new(&name, settings, candidates)?;
    new.observe(&observed, args.count_observed).map_err(|error| match error {
        StoreError::CampaignError(
            CampaignError::BudgetUsed { budget } | CampaignError::BudgetBelowCost { budget, .. },
        ) => Failure::Usage(format!(
            "{} earlier rewards cannot count towards a budget of {budget}; raise `--budget`, or leave out \
             `--count-observed`",
            observed.len()
        )),
        error => error.into(),
    })?;
    Ok(new)
}

/// The name of a campaign after its file of candidates: `penguins` for `penguins.csv.gz`.
fn default_name(path: &Path) -> String {
    if path == Path::new("-") {
        return "campaign".into();
    }
    let is_compressed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let path = if is_compressed { &path.with_extension("") } else { path };
    path.file_stem().unwrap_or_default().to_string_lossy().replace(char::is_control, "-")
}

/// The settings that the options describe, without a limit to the budget.
pub(super) fn settings(
    options: &CampaignOptions,
    threshold: f64,
    candidates: &Candidates,
) -> Result<Settings, Failure> {
    let given = options.given().with("threshold", threshold).with("budget", u32::MAX);
    let mut settings = given.settings().map_err(StoreError::from)?;
    for (parameter, value) in &options.parameter {
        if settings.parameters.insert(parameter.clone(), *value).is_some() {
            return Err(Failure::Usage(format!("the parameter `{parameter}` is given twice")));
        }
    }
    settings.preparation = options.preparation();
    settings.covariance = covariance(options, candidates)?;
    Ok(settings)
}

/// Whether earlier rewards, of which there are both, are pass or fail, and nothing else in the settings contradicts that.
fn is_pass_or_fail(settings: &Settings, observed: &[(usize, f64)]) -> bool {
    let has = |value: f64| observed.iter().any(|&(_, reward)| reward == value);
    let has_range = settings.min.is_some() || settings.max.is_some();
    let is_allowed = settings.noise.is_none() && !has_range && settings.threshold > 0.0 && settings.threshold < 1.0;
    is_allowed && has(0.0) && has(1.0) && observed.iter().all(|&(_, reward)| RewardKind::is_pass_or_fail(reward))
}

/// How the means are related, if the arguments say it.
fn covariance(options: &CampaignOptions, candidates: &Candidates) -> Result<Option<CampaignCovariance>, Failure> {
    if let (Some(kernel), Some(length)) = (&options.kernel, options.length) {
        let kernel = Kernel::named(kernel).map_err(StoreError::from)?;
        return Ok(Some(CampaignCovariance::kernel(kernel, length)));
    }
    let Some(path) = &options.graph else { return Ok(None) };
    let bytes =
        cutline_data::input::read(path).map_err(|error| Failure::Read { path: path.clone(), error, hint: "" })?;
    let graph = graph(&*bytes, candidates.n_arms(), candidates.names())
        .map_err(|error| Failure::Edges { path: path.clone(), error })?;
    Ok(Some(CampaignCovariance::graph(&graph)))
}

/// The columns with the same value for all arms; none if there is only one arm.
fn constant_columns(candidates: &Candidates) -> Vec<String> {
    let (columns, features) = (candidates.columns(), candidates.features());
    let is_constant =
        |column: usize| features.iter().skip(column).step_by(columns.len()).all(|&x| x == features[column]);
    let constant = (0..columns.len()).filter(|&column| candidates.n_arms() > 1 && is_constant(column));
    constant.map(|column| columns[column].clone()).collect()
}

/// The settings of the new campaign, one line each.
fn summary(campaign: &mut dyn AnyCampaign, constant: &[String]) -> Result<Vec<String>, Failure> {
    let progress = campaign.progress()?;
    let state = campaign.state()?;
    let (estimator, until_sure, found) = (state.terms().spec.estimator(), state.terms().until_sure, finding(state));
    let weighing = weighing_in_words(state.terms().spec.algorithm().weighs_costs);
    let costs = state.arms().measurement_costs().map(costs_in_words);
    let name = campaign.name().to_owned();
    let Description { settings, columns, names, .. } = campaign.description()?;
    let algorithm = settings.algorithm(!columns.is_empty());
    let model = describe(estimator, settings);
    let mut lines = vec![
        format!("began the campaign `{name}`"),
        format!("  arms       {}: {}", names.len(), listed(names)),
        match &columns[..] {
            [] if settings.covariance.is_some() => "  features   none".into(),
            [] => "  features   none: every arm is estimated separately".into(),
            columns => format!("  features   {}: {}", columns.len(), listed(columns)),
        },
    ];
    if !constant.is_empty() {
        lines.push(format!("  constant   {}: the same for all arms, so ignored", listed(constant)));
    }
    let within =
        if settings.precision > 0.0 { format!(", give or take {}", settings.precision) } else { String::new() };
    lines.push(format!("  question   which means lie above {}{within}?", settings.threshold));
    let sure = until_sure.map_or_else(String::new, |stop| format!(", or fewer {}", words::early_stop(stop)));
    let budget = match (&settings.cost, &costs) {
        (Some(column), Some(_)) => format!("{} in units of `{column}`", settings.budget),
        _ => measurements(settings.budget),
    };
    lines.push(format!("  budget     {budget}{sure}"));
    lines.extend(costs.map(|costs| format!("  costs      {costs}; {weighing}")));
    lines.push(format!("  model      {model}"));
    let is_default = |name: &str, value: f64| {
        EstimatorKind::Mixed
            .parameters()
            .iter()
            .any(|parameter| parameter.name == name && parameter.default == Some(value))
    };
    let parameters = settings.parameters.iter().filter(|(name, value)| !is_default(name, **value));
    let parameters = parameters.map(|(name, value)| format!(", {name} = {value}"));
    lines.push(format!("  algorithm  {algorithm}{}", parameters.collect::<String>()));
    let rewards = words::rewards(settings);
    if let Some(rewards) = &rewards {
        lines.push(format!("  rewards    {rewards}"));
    }
    lines.push(match settings.noise {
        _ if settings.rewards == Some(RewardKind::Bernoulli) => "  noise      that of rewards of 0 or 1".into(),
        _ if settings.rewards == Some(RewardKind::Count) => "  noise      estimated from the rewards".into(),
        Some(sigma) => format!("  noise      {sigma}, as given"),
        None => "  noise      estimated from the rewards; set it with `--noise`".into(),
    });
    let observed = u64::from(progress.counted) + progress.uncounted;
    if observed > 0 {
        let counted = if progress.counted > 0 { "counted" } else { "not counted" };
        let plural = if observed == 1 { "" } else { "s" };
        lines.push(format!("  observed   {observed} earlier reward{plural}, {counted} towards the budget"));
        lines.extend(found.map(|found| format!("  found      {found}")));
    }
    Ok(lines)
}
