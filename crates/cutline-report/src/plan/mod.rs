//! A plan in words.
//!
//! Sentences are plain text without markup, so that a terminal, a web page and Python can show them as they are.

mod figure;

pub use figure::plan_figure;

use crate::words::rest_in_words;
use cutline::rounded;
use cutline_campaign::{BudgetAnswer, Forecast, Goal, Plan, Rest, SkippedBudgets};
use serde::{Serialize, Serializer};

/// A finished plan: what was simulated, at which budgets, and its forecast. It serialises to the JSON of a plan.
#[derive(Clone, Debug)]
pub struct PlanReport {
    /// The plan.
    pub plan: Plan,
    /// The budgets that were tried.
    pub budgets: Vec<u32>,
    /// Its forecast.
    pub forecast: Forecast,
    /// What remains of the budget of a campaign in progress; `None` for a plan before the campaign.
    pub remaining: Option<u32>,
}

impl PlanReport {
    /// The runs, the seed and what is expected, in one line.
    #[must_use]
    pub fn heading(&self) -> String {
        let Plan { runs, seed, noise, prior, campaigns, batch, .. } = &self.plan;
        let mut estimators: Vec<&str> = campaigns.iter().map(|campaign| campaign.terms.spec.estimator_name()).collect();
        estimators.dedup();
        let (estimators, sigma) = (estimators.join(", "), rounded(*noise, 4));
        let batches = if batch.get() > 1 { format!("; in batches of {batch}") } else { String::new() };
        let costs = self.plan.costs().map_or_else(String::new, |costs| {
            format!("; budgets in units of cost, {} per measurement on average", rounded(costs.mean(), 4))
        });
        format!("{runs} runs, seed {seed}; estimator {estimators}; {prior}; noise σ = {sigma}{batches}{costs}")
    }

    /// What the remaining budget would bring, if it was one of the budgets tried.
    #[must_use]
    pub fn rest(&self) -> Option<Rest> {
        let row = self.forecast.prospects.iter().find(|row| Some(row.budget) == self.remaining)?;
        Some(Rest::new(row, &self.plan))
    }

    /// What the remaining budget would bring to a campaign in progress, the budget of each campaign, one line each, and what to try if
    /// no budget is enough.
    #[must_use]
    pub fn answers(&self) -> Vec<String> {
        let rest = self.rest().map(|rest| format!("The rest of the budget: {}", rest_in_words(&rest)));
        let answers = self.forecast.answers.iter().map(|answer| self.answer(answer));
        let mut lines: Vec<String> = rest.into_iter().chain(answers).collect();
        if self.forecast.answers.iter().all(|answer| answer.budget.is_none()) {
            lines.push("No budget is enough: try larger budgets, a larger precision or a larger target".into());
        }
        lines
    }

    fn answer(&self, answer: &BudgetAnswer) -> String {
        let BudgetAnswer { algorithm, tried_from, tried_to, .. } = answer;
        let goal = self.plan.goal;
        let Some(budget) = answer.budget else {
            let last = self.forecast.prospects.iter().rfind(|row| row.algorithm == *algorithm);
            let reached = last.map_or(String::new(), |row| match goal {
                Goal::WrongShare(_) => {
                    let percent = |errors: f64| 100.0 * errors / self.plan.arms.n_arms() as f64;
                    let (mean, low, high) =
                        (percent(row.mean_errors), percent(row.errors_low), percent(row.errors_high));
                    format!("{mean:.1} % ({low:.1} – {high:.1})")
                }
                Goal::FailureProbability(_) => format!("{:.4} ({:.4} – {:.4})", row.failure_rate, row.low, row.high),
            });
            return format!("`{algorithm}` does not reach {goal}: at T = {tried_to} it is {reached}");
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
        let needed = match self.plan.costs() {
            Some(_) => format!("to spend {at_most}{budget}{}", if more.is_empty() { "" } else { " more" }),
            None => format!("{at_most}{budget} {more}measurement{plural}"),
        };
        format!("`{algorithm}` needs {needed}{smallest} for {goal} (95 % interval: {interval})")
    }

    /// The budgets that campaigns do not take, one line each, and how far a plan can be relied on.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let n_arms = self.plan.arms.n_arms();
        let skipped = |SkippedBudgets { algorithm, budgets, .. }: &SkippedBudgets| {
            let budgets: Vec<String> = budgets.iter().map(ToString::to_string).collect();
            format!("`{algorithm}` pulls each of the {n_arms} arms once first: left out at T = {}", budgets.join(", "))
        };
        let caution = "A plan is only as good as what it expects of the arms: plan again with other numbers to see what depends on them.";
        self.forecast.left_out.iter().map(skipped).chain([caution.into()]).collect()
    }

    /// Every setting, by name.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        let Plan { question, noise, prior, campaigns, goal, runs, seed, batch, .. } = &self.plan;
        let budgets: Vec<String> = self.budgets.iter().map(ToString::to_string).collect();
        let mut settings = vec![
            ("target".to_owned(), goal.to_string()),
            ("runs".to_owned(), runs.to_string()),
            ("seed".to_owned(), seed.to_string()),
            ("budgets".to_owned(), budgets.join(", ")),
            ("threshold".to_owned(), question.threshold().to_string()),
            ("precision".to_owned(), question.precision().to_string()),
            ("true means".to_owned(), prior.to_string()),
            ("noise".to_owned(), format!("Gaussian, σ = {}", *noise)),
        ];
        if batch.get() > 1 {
            settings.push(("batch".to_owned(), batch.to_string()));
        }
        for campaign in campaigns {
            let spec = &campaign.terms.spec;
            let values: Vec<String> = spec.values().map(|(name, value)| format!("{name} = {value}")).collect();
            let sigma = campaign.terms.noise.map_or("σ is estimated".into(), |sigma| format!("σ = {sigma} is given"));
            let value = format!("{}; {}; {sigma}", spec.estimator_name(), values.join(", "));
            settings.push((campaign.label.clone(), value));
        }
        settings
    }
}

impl Serialize for PlanReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            experiment: &'a str,
            runs: u64,
            seed: u64,
            noise: f64,
            batch: u32,
            /// What a measurement costs on average; without costs, budgets are numbers of measurements.
            #[serde(skip_serializing_if = "Option::is_none")]
            mean_cost: Option<f64>,
            #[serde(flatten)]
            forecast: &'a Forecast,
            #[serde(skip_serializing_if = "Option::is_none")]
            remaining: Option<u32>,
            #[serde(skip_serializing_if = "Option::is_none")]
            rest: Option<Rest>,
        }
        let Self { plan: Plan { name, runs, seed, noise, batch, .. }, forecast, remaining, .. } = self;
        let (remaining, rest) = (*remaining, self.rest());
        let (noise, batch) = (*noise, batch.get());
        let mean_cost = self.plan.costs().map(cutline::MeasurementCosts::mean);
        Json { experiment: name, runs: *runs, seed: *seed, noise, batch, mean_cost, forecast, remaining, rest }
            .serialize(serializer)
    }
}
