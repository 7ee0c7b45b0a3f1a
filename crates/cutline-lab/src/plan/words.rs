//! A plan in words.
//!
//! Sentences are plain text without markup, so that a terminal, a web page and Python can show them as they are.

use super::{BudgetAnswer, Forecast, SkippedBudgets, Theorem1Row};
use crate::{Experiment, InstanceKind};
use serde::{Serialize, Serializer};

/// A finished plan: the experiment that was played and its forecast. It serialises to the JSON of a plan.
#[derive(Clone, Debug)]
pub struct PlanReport {
    /// The experiment that was played.
    pub experiment: Experiment,
    /// Its forecast.
    pub forecast: Forecast,
}

impl PlanReport {
    /// The runs, the seed and the prior, in one line.
    #[must_use]
    pub fn heading(&self) -> String {
        let experiment = &self.experiment;
        let prior = match experiment.source().kind() {
            InstanceKind::Features(_, prior) => prior.to_string(),
            _ => String::new(),
        };
        format!("{} runs, seed {}, {prior}", experiment.runs(), experiment.seed())
    }

    /// The budget of each algorithm, one line each, and what to try if no budget is enough.
    #[must_use]
    pub fn answers(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.forecast.answers.iter().map(|answer| self.answer(answer)).collect();
        if self.forecast.answers.iter().all(|answer| answer.budget.is_none()) {
            lines.push("No budget is enough: try larger budgets, a larger precision or a larger target".into());
        }
        lines
    }

    fn answer(&self, answer: &BudgetAnswer) -> String {
        let BudgetAnswer { algorithm, tried_from, tried_to, .. } = answer;
        let target = self.forecast.target;
        let Some(budget) = answer.budget else {
            let last = self.forecast.prospects.iter().rfind(|row| row.algorithm == *algorithm);
            let rate =
                last.map_or(String::new(), |row| format!("{:.4} ({:.4} – {:.4})", row.failure_rate, row.low, row.high));
            return format!(
                "`{algorithm}` does not reach a failure probability of {target}: at T = {tried_to} it is {rate}"
            );
        };
        let interval = match (answer.low, answer.high) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("{low} to more than {tried_to}, the largest budget tried"),
            (None, Some(high)) => format!("up to {high}"),
            (None, None) => format!("up to more than {tried_to}, the largest budget tried"),
        };
        let more = if self.forecast.pilot > 0 { "more " } else { "" };
        let plural = if budget == 1 { "" } else { "s" };
        let at_most = if budget == *tried_from { "at most " } else { "" };
        let smallest = if budget == *tried_from { ", the smallest budget tried," } else { "" };
        format!(
            "`{algorithm}` needs {at_most}{budget} {more}measurement{plural}{smallest} for a failure probability of {target} (95 % interval: {interval})"
        )
    }

    /// The budgets that algorithms do not take, and what Theorem 1 guarantees; one line each.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let n_arms = match self.experiment.source().kind() {
            InstanceKind::Features(arms, _) => arms.n_arms(),
            _ => 0,
        };
        let skipped = |SkippedBudgets { algorithm, budgets, .. }: &SkippedBudgets| {
            let budgets: Vec<String> = budgets.iter().map(ToString::to_string).collect();
            format!("`{algorithm}` pulls each of the {n_arms} arms once first: left out at T = {}", budgets.join(", "))
        };
        self.forecast.left_out.iter().map(skipped).chain(self.theory()).collect()
    }

    fn theory(&self) -> Vec<String> {
        let guarantees = &self.forecast.theorem_1;
        if self.forecast.pilot > 0 {
            return vec!["Theorem 1 is about campaigns without a pilot: here it guarantees nothing.".into()];
        }
        if guarantees.iter().all(|guarantee| guarantee.bound.is_none()) {
            let line = "Theorem 1 guarantees nothing at any of these budgets: in no run does it apply (‖θ‖ < √((T − K)/16H)) \
                        with a bound below 1.";
            return vec![line.into()];
        }
        let (without, with): (Vec<&Theorem1Row>, Vec<&Theorem1Row>) =
            guarantees.iter().partition(|guarantee| guarantee.bound.is_none());
        let without = (!without.is_empty()).then(|| {
            let budgets: Vec<String> = without.iter().map(|guarantee| guarantee.budget.to_string()).collect();
            format!("Theorem 1 guarantees nothing at T = {}", budgets.join(", "))
        });
        let line = |guarantee: &Theorem1Row| {
            let (budget, share) = (guarantee.budget, 100.0 * guarantee.share);
            let bound = guarantee.bound.unwrap_or(1.0);
            let bound = if bound < 0.001 { format!("{bound:.3e}") } else { format!("{bound:.4}") };
            format!(
                "Theorem 1 at T = {budget}: `linear-apt` fails with probability at most {bound} over the prior; the bound is \
                 below 1 in {share:.1} % of the runs"
            )
        };
        without.into_iter().chain(with.into_iter().map(line)).collect()
    }
}

impl Serialize for PlanReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            experiment: &'a str,
            runs: u64,
            seed: u64,
            #[serde(flatten)]
            forecast: &'a Forecast,
        }
        let Self { experiment, forecast } = self;
        Json { experiment: experiment.name(), runs: experiment.runs(), seed: experiment.seed(), forecast }
            .serialize(serializer)
    }
}
