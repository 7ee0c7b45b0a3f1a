//! The status of a campaign: its numbers, and the text and tables that `cutline status` prints.

use crate::clock::{rfc3339, span};
use crate::print::{cell, left, short, short_worker, table};
use crate::standing::standing;
use crate::{spending, standing};
use cutline::estimators::Explained;
use cutline::{NoiseSource, StopCriterion, Verdict};
use cutline_campaign::{
    AnyCampaign, CampaignModel, Description, EarlyStop, Pace, Standing, Time, expected_errors, finding,
};
use cutline_store::StoreError;
use serde::Serialize;
use std::fmt::Write;

/// How many open tickets and how many doubtful arms are shown.
const MAX_SHOWN: usize = 5;

/// The status of a campaign at one moment.
#[derive(Debug, Serialize)]
pub(crate) struct StatusSummary {
    campaign: String,
    threshold: f64,
    precision: f64,
    algorithm: String,
    /// `mixed`, `linear` or `independent`.
    model: &'static str,
    n_arms: usize,
    pub(crate) budget: u32,
    /// The rewards that count towards the budget.
    pub(crate) told: u32,
    /// What they have cost, if measurements have costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<f64>,
    /// How much of the budget is used, in words.
    #[serde(skip)]
    used: String,
    /// The rewards that do not: earlier ones, and late ones beyond the budget.
    uncounted: u64,
    failed: u64,
    expired: u64,
    /// The rewards that were taken out, and the arms that are withdrawn.
    voided: u64,
    withdrawn: usize,
    above: usize,
    below: usize,
    pub(crate) undecided: usize,
    noise: f64,
    noise_from: &'static str,
    /// Whether all rewards are 0 or 1, in a campaign that takes them as numbers with noise.
    #[serde(skip)]
    looks_like_pass_or_fail: bool,
    /// What the mixed model found about the features, in words and as shares of the differences between the arms.
    finding: Option<String>,
    explained: Option<ExplainedShares>,
    /// The wrong calls that the mixed model expects: the sum of the doubts.
    expected_errors: Option<f64>,
    #[serde(flatten)]
    standing: Standing,
    /// When the campaign ends before its budget is used up, as it is stored.
    until_sure: Option<String>,
    #[serde(skip)]
    early_stop: Option<EarlyStop>,
    /// The rate of the last rewards, and when the budget will be used at that rate.
    #[serde(rename = "rewards_an_hour")]
    rewards_per_hour: Option<f64>,
    budget_used_at: Option<String>,
    /// The same in milliseconds from now.
    #[serde(skip)]
    budget_used_in: Option<u64>,
    pub(crate) ending: Option<&'static str>,
    #[serde(rename = "out")]
    pub(crate) open_tickets: Vec<OpenTicket>,
    /// The arms with the largest doubt.
    doubtful: Vec<DoubtfulArm>,
    #[serde(skip)]
    pub(crate) now: Time,
    #[serde(skip)]
    pub(crate) events: u64,
}

/// Shares of the differences between the arms.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ExplainedShares {
    linear: f64,
    smooth: f64,
    own: f64,
}

impl From<Explained> for ExplainedShares {
    fn from(Explained { linear, smooth, own }: Explained) -> Self {
        Self { linear, smooth, own }
    }
}

/// A ticket that was handed out and has no reward yet.
#[derive(Debug, Serialize)]
pub(crate) struct OpenTicket {
    ticket: u64,
    arm: String,
    worker: String,
    until: String,
    is_overdue: bool,
    /// The time until the lease runs out or since it did, in milliseconds.
    #[serde(skip)]
    distance: u64,
}

#[derive(Debug, Serialize)]
struct DoubtfulArm {
    arm: String,
    index: usize,
    side: &'static str,
    at_threshold: bool,
    #[serde(skip)]
    side_in_words: &'static str,
    mean: f64,
    lower: f64,
    upper: f64,
    pulls: u32,
    doubt: f64,
}

/// What to say where all rewards are 0 or 1, in a campaign that takes them as numbers with noise.
pub(crate) const LOOKS_LIKE_PASS_OR_FAIL: &str = "all rewards are 0 or 1, but this campaign takes them as numbers with noise: begin such campaigns with `--rewards bernoulli`";

impl StatusSummary {
    pub(crate) fn new(campaign: &mut dyn AnyCampaign, now: Time) -> Result<Self, StoreError> {
        let verdicts = campaign.verdicts()?;
        let standing = standing(campaign, &verdicts)?;
        Self::with_standing(campaign, now, &verdicts, standing)
    }

    /// As [`StatusSummary::new`], without what the rest of the budget would bring, which takes long to compute again and again.
    pub(crate) fn watched(campaign: &mut dyn AnyCampaign, now: Time) -> Result<Self, StoreError> {
        let verdicts = campaign.verdicts()?;
        let standing = Standing::new(campaign.state()?, &verdicts);
        Self::with_standing(campaign, now, &verdicts, standing)
    }

    fn with_standing(
        campaign: &mut dyn AnyCampaign,
        now: Time,
        verdicts: &[Verdict],
        standing: Standing,
    ) -> Result<Self, StoreError> {
        let (name, has_features) = (campaign.name().to_owned(), !campaign.columns().is_empty());
        let Description { names, settings, .. } = campaign.description()?.clone();
        let state = campaign.state()?;
        let (progress, noise) = (state.progress(), state.noise());
        let model = CampaignModel::of(state.terms().spec.estimator());
        let open_tickets = state.open_tickets().filter_map(|(ticket, until)| {
            let (arm, worker, _) = state.ticket(ticket).ok()?;
            Some(OpenTicket {
                ticket,
                arm: names[arm].clone(),
                worker: worker.into(),
                until: rfc3339(until),
                is_overdue: until <= now,
                distance: until.abs_diff(now),
            })
        });
        let open_tickets = open_tickets.collect();
        let mut doubtful: Vec<usize> = (0..verdicts.len()).collect();
        doubtful.sort_by(|&a, &b| verdicts[b].doubt.total_cmp(&verdicts[a].doubt));
        doubtful.truncate(MAX_SHOWN);
        let doubtful = doubtful.into_iter().map(|index| {
            let v = &verdicts[index];
            let (arm, side) = (names[index].clone(), v.side.name());
            DoubtfulArm {
                arm,
                index,
                side,
                at_threshold: v.is_at_threshold(),
                side_in_words: v.side_in_words(),
                mean: v.mean,
                lower: v.lower,
                upper: v.upper,
                pulls: v.pulls,
                doubt: v.doubt,
            }
        });
        let pace = Pace::new(&progress, now);
        let budget_used_in = pace.map(|pace| pace.budget_used_in);
        Ok(Self {
            campaign: name,
            threshold: settings.threshold,
            precision: settings.precision,
            algorithm: settings.algorithm(has_features).into(),
            model: model.name(),
            n_arms: names.len(),
            budget: progress.budget,
            told: progress.counted,
            spent: spending::spent(&progress),
            used: spending::used(&progress),
            uncounted: progress.uncounted,
            failed: progress.failed,
            expired: progress.expired,
            voided: progress.voided,
            withdrawn: progress.withdrawn,
            above: standing.above,
            below: standing.below,
            undecided: standing.undecided,
            noise: noise.sigma,
            noise_from: noise.source.name(),
            looks_like_pass_or_fail: state.looks_like_pass_or_fail(),
            finding: finding(state),
            explained: state.explained().map(ExplainedShares::from),
            expected_errors: expected_errors(state, verdicts),
            standing,
            until_sure: settings.until_sure,
            early_stop: state.terms().until_sure,
            rewards_per_hour: pace.map(|pace| pace.rewards_per_hour),
            budget_used_at: budget_used_in.map(|milliseconds| rfc3339(now.saturating_add(milliseconds))),
            budget_used_in,
            ending: state.stop_reason().map(cutline::StopReason::name),
            open_tickets,
            doubtful: doubtful.collect(),
            now,
            events: progress.events,
        })
    }

    /// The numbers for the whole campaign, by name.
    pub(crate) fn numbers(&self) -> Vec<(&'static str, String)> {
        let or_empty = |value: Option<String>| value.unwrap_or_default();
        let number = |value: Option<f64>| or_empty(value.map(|value| format!("{value:?}")));
        let share = |of: fn(ExplainedShares) -> f64| number(self.explained.map(of));
        let numbers = [
            ("campaign", self.campaign.clone()),
            ("threshold", format!("{:?}", self.threshold)),
            ("precision", format!("{:?}", self.precision)),
            ("algorithm", self.algorithm.clone()),
            ("model", self.model.into()),
            ("n_arms", self.n_arms.to_string()),
            ("budget", self.budget.to_string()),
            ("told", self.told.to_string()),
            ("uncounted", self.uncounted.to_string()),
            ("out", self.open_tickets.len().to_string()),
            ("failed", self.failed.to_string()),
            ("expired", self.expired.to_string()),
            ("voided", self.voided.to_string()),
            ("withdrawn", self.withdrawn.to_string()),
            ("above", self.above.to_string()),
            ("below", self.below.to_string()),
            ("undecided", self.undecided.to_string()),
            ("noise", format!("{:?}", self.noise)),
            ("noise_from", self.noise_from.into()),
            ("explained_linear", share(|explained| explained.linear)),
            ("explained_smooth", share(|explained| explained.smooth)),
            ("explained_own", share(|explained| explained.own)),
            ("expected_errors", number(self.expected_errors)),
            ("until_sure", or_empty(self.until_sure.clone())),
            ("rewards_an_hour", number(self.rewards_per_hour)),
            ("budget_used_at", or_empty(self.budget_used_at.clone())),
            ("ending", self.ending.unwrap_or_default().into()),
        ];
        let spent = self.spent.map(|spent| ("spent", format!("{spent:?}")));
        numbers.into_iter().chain(spent).chain(self.standing.fields()).collect()
    }

    /// The numbers that change, in one line.
    pub(crate) fn line(&self) -> String {
        let Self { used, failed, undecided, .. } = self;
        let rewards = if self.spent.is_some() { "" } else { " rewards" };
        let ending = self.ending.map_or_else(String::new, |ending| format!("; ended: {ending}"));
        let (at, open) = (rfc3339(self.now), self.open_tickets.len());
        format!("{at} {used}{rewards}, {open} open tickets, {failed} failed, {undecided} arms undecided{ending}")
    }

    /// The whole summary as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (what, value) in self.facts() {
            writeln!(text, "{what:<11}{value}").expect("writing to a string does not fail");
        }
        for (title, table) in self.open_table().into_iter().chain([self.doubt_table()]) {
            write!(text, "\n{title}\n{table}\n").expect("writing to a string does not fail");
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let Self { campaign, threshold, n_arms, algorithm, used, .. } = self;
        let within = if self.precision > 0.0 { format!(", give or take {}", self.precision) } else { String::new() };
        let mut facts = vec![
            ("campaign", cell(campaign)),
            ("question", format!("which of {n_arms} arms have a mean above {threshold}{within}?")),
            ("algorithm", format!("{algorithm}, {} model", self.model)),
            ("rewards", format!("{used}{}", more(self.uncounted, "more that do not count towards the budget"))),
        ];
        let overdue = self.open_tickets.iter().filter(|ticket| ticket.is_overdue).count();
        facts.push(("tickets", format!("{} open{}", self.open_tickets.len(), more(overdue as u64, "of them overdue"))));
        if self.failed + self.expired > 0 {
            facts.push(("lost", format!("{} failed, {} expired", self.failed, self.expired)));
        }
        if self.voided > 0 {
            facts.push(("taken out", format!("{} rewards", self.voided)));
        }
        if self.withdrawn > 0 {
            facts.push(("withdrawn", format!("{} of {} arms", self.withdrawn, self.n_arms)));
        }
        facts.push(("verdicts", self.standing.sides_in_words()));
        facts.extend(standing::lines(&self.standing));
        if let Some(finding) = &self.finding {
            facts.push(("found", finding.clone()));
        }
        let is_known = self.noise_from != NoiseSource::Nothing.name();
        facts.push((
            "noise",
            if is_known { format!("{}, {}", short(self.noise), self.source()) } else { self.source().into() },
        ));
        if self.looks_like_pass_or_fail {
            facts.push(("note", LOOKS_LIKE_PASS_OR_FAIL.into()));
        }
        if let (Some(stop), None) = (self.early_stop, self.ending) {
            facts.push(("ends", stop_in_words(stop)));
        }
        if let Some(ending) = self.ending {
            facts.push(("ended", reason_in_words(ending).into()));
        } else if let (Some(pace), Some(left)) = (self.rewards_per_hour, self.budget_used_in) {
            facts.push((
                "pace",
                format!("{} rewards per hour; at this rate the budget is used up in {}", short(pace), span(left)),
            ));
        }
        facts
    }

    fn source(&self) -> &'static str {
        match self.noise_from {
            "given" => "as given",
            "bernoulli" => "the bound for rewards of 0 or 1",
            "steps" => "half the smallest difference between two rewards, which vary less within arms",
            "replicates" => "estimated from arms measured more than once",
            "residuals" => "estimated from the residuals of the linear fit",
            "model" => "learnt by the model",
            "rewards" => "or less: an upper estimate from the distances of the rewards to the threshold",
            _ => "not known yet",
        }
    }

    fn open_table(&self) -> Option<(String, comfy_table::Table)> {
        let mut table = left(table(&["ticket", "arm", "worker", "lease"]), &[1, 2, 3]);
        for open in self.open_tickets.iter().take(MAX_SHOWN) {
            let lease = if open.is_overdue { "overdue by" } else { "runs out in" };
            let lease = format!("{lease} {}", span(open.distance));
            table.add_row([open.ticket.to_string(), cell(&open.arm), short_worker(&open.worker), lease]);
        }
        let title = format!("open tickets{}", first_of(self.open_tickets.len()));
        (!self.open_tickets.is_empty()).then_some((title, table))
    }

    fn doubt_table(&self) -> (String, comfy_table::Table) {
        let mut table = left(table(&["arm", "side", "mean", "lower", "upper", "pulls", "doubt"]), &[1]);
        for arm in &self.doubtful {
            let [mean, lower, upper, doubt] = [arm.mean, arm.lower, arm.upper, arm.doubt].map(short);
            table.add_row([cell(&arm.arm), arm.side_in_words.into(), mean, lower, upper, arm.pulls.to_string(), doubt]);
        }
        (format!("most doubtful arms{}", first_of(self.n_arms)), table)
    }
}

/// When a campaign ends early, as part of a sentence.
pub(crate) fn stop_in_words(stop: EarlyStop) -> String {
    match stop {
        EarlyStop::ExpectedErrors(errors) => {
            format!("once at most {errors} wrong calls are expected, which is an expectation and not a guarantee")
        }
        EarlyStop::Sure(StopCriterion::Intervals) => {
            "once every verdict is certain by the intervals, guaranteed".into()
        }
        stop => format!("once every verdict is certain by the {stop}, a heuristic"),
    }
}

/// Why a campaign has ended, by the name of the reason.
pub(crate) fn reason_in_words(ending: &str) -> &'static str {
    match ending {
        "budget" => "the budget is used up",
        "expected-errors" => "few enough wrong calls are expected, which is not a guarantee",
        "settled" => "every arm is settled",
        "withdrawn" => "every arm that is not settled is withdrawn",
        "done" => "the rule asks for no more measurements",
        _ => "every verdict is certain",
    }
}

fn more(count: u64, what: &str) -> String {
    if count == 0 { String::new() } else { format!(", {count} {what}") }
}

fn first_of(total: usize) -> String {
    if total > MAX_SHOWN { format!(", {MAX_SHOWN} of {total}") } else { String::new() }
}
