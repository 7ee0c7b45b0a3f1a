//! A plan that was made, in words.

use crate::{BudgetAnswer, Experiment, Forecast, SkippedBudgets, SourceKind, Theorem1Row};
use serde::{Serialize, Serializer};

/// A plan that was made: the experiment that was played, and what came of it. As JSON it is what `cutline plan --format json` prints.
#[derive(Clone, Debug)]
pub struct PlanReport {
    /// What was played.
    pub experiment: Experiment,
    /// What came of it.
    pub forecast: Forecast,
}

impl PlanReport {
    /// What was played, in one line.
    #[must_use]
    pub fn heading(&self) -> String {
        let experiment = &self.experiment;
        let prior = match experiment.source().kind() {
            SourceKind::Features(_, prior) => prior.to_string(),
            _ => String::new(),
        };
        format!("{} runs, seed {}, {prior}", experiment.runs(), experiment.seed())
    }

    /// The budget of each algorithm, and what to try if there is none.
    #[must_use]
    pub fn answers(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.forecast.answers.iter().map(|answer| self.answer(answer)).collect();
        if self.forecast.answers.iter().all(|answer| answer.budget.is_none()) {
            lines.push("No budget will do: try larger budgets, a larger precision or a larger target".into());
        }
        lines
    }

    fn answer(&self, answer: &BudgetAnswer) -> String {
        let BudgetAnswer { algorithm, tried_from, tried_to, .. } = answer;
        let target = self.forecast.target;
        let Some(budget) = answer.budget else {
            let last = self.forecast.prospects.iter().rfind(|prospect| prospect.algorithm == *algorithm);
            let rate = last.map_or(String::new(), |p| format!("{:.4} ({:.4} – {:.4})", p.failure_rate, p.low, p.high));
            return format!(
                "`{algorithm}` does not get to a failure probability of {target}: at T = {tried_to} it is {rate}"
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

    /// What Theorem 1 guarantees, and who was left out where.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let n_arms = match self.experiment.source().kind() {
            SourceKind::Features(arms, _) => arms.n_arms(),
            _ => 0,
        };
        let left_out = |SkippedBudgets { algorithm, budgets, .. }: &SkippedBudgets| {
            let budgets: Vec<String> = budgets.iter().map(ToString::to_string).collect();
            format!("`{algorithm}` pulls each of the {n_arms} arms once first: left out at T = {}", budgets.join(", "))
        };
        self.forecast.left_out.iter().map(left_out).chain(self.theory()).collect()
    }

    fn theory(&self) -> Vec<String> {
        let guarantees = &self.forecast.theorem_1;
        if self.forecast.pilot > 0 {
            return vec!["Theorem 1 is about campaigns without a pilot: here it guarantees nothing.".into()];
        }
        if guarantees.iter().all(|guarantee| guarantee.bound.is_none()) {
            let line = "Theorem 1 guarantees nothing at any of these budgets: in no run does it apply (‖θ‖ < √(T/16H), T ≥ K) \
                        with a bound below 1.";
            return vec![line.into()];
        }
        let (silent, spoken): (Vec<&Theorem1Row>, Vec<&Theorem1Row>) =
            guarantees.iter().partition(|guarantee| guarantee.bound.is_none());
        let silent = (!silent.is_empty()).then(|| {
            let budgets: Vec<String> = silent.iter().map(|guarantee| guarantee.budget.to_string()).collect();
            format!("Theorem 1 guarantees nothing at T = {}", budgets.join(", "))
        });
        let line = |guarantee: &Theorem1Row| {
            let (budget, share) = (guarantee.budget, 100.0 * guarantee.share);
            let bound = guarantee.bound.unwrap_or(1.0);
            let bound = if bound < 0.001 { format!("{bound:.3e}") } else { format!("{bound:.4}") };
            format!(
                "Theorem 1 at T = {budget}: a failure probability of `linear-apt` of at most {bound} over the prior; it says \
                 something of {share:.1} % of the runs"
            )
        };
        silent.into_iter().chain(spoken.into_iter().map(line)).collect()
    }
}

impl Serialize for PlanReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            experiment: &'a str,
            runs: u64,
            seed: u64,
            #[serde(flatten)]
            forecast: &'a Forecast,
        }
        let Self { experiment, forecast } = self;
        Shown { experiment: experiment.name(), runs: experiment.runs(), seed: experiment.seed(), forecast }
            .serialize(serializer)
    }
}
