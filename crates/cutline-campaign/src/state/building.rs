//! The learner of a campaign, and what its budget must be enough for.

use super::{Terms, TermsError};
use cutline::{Amount, Arms, AskTell, Budget, LearnerError, SpecError};

/// A learner without a budget: the ledger enforces the budget.
pub(super) fn build(terms: &Terms, arms: &Arms, sigma: f64) -> Result<Box<dyn AskTell>, TermsError> {
    Ok(terms.spec(sigma)?.learner_for(arms, terms.question, u32::MAX, horizon(terms, arms), terms.seed)?)
}

/// The number of measurements for which a rule plans: as many as the budget is enough for on average.
fn horizon(terms: &Terms, arms: &Arms) -> u32 {
    let Some(costs) = arms.measurement_costs() else { return terms.budget };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number that is too large becomes the largest"
    )]
    let n = (f64::from(terms.budget) / costs.mean()) as u32;
    n.max(1)
}

/// Refuses a budget that is too small for what the arms cost.
pub(super) fn check_costs(terms: &Terms, arms: &Arms, opens_with_every_arm: bool) -> Result<(), TermsError> {
    let Some(costs) = arms.measurement_costs() else { return Ok(()) };
    Budget::new(terms.budget).map_err(SpecError::from)?;
    let (budget, n_arms, available) = (terms.budget, arms.n_arms(), Amount::units(terms.budget));
    let cheapest = costs.all().iter().copied().min().unwrap_or_default();
    let error = if opens_with_every_arm && costs.total() > available {
        LearnerError::BudgetBelowCosts { budget, n_arms, cost: costs.total() }
    } else if cheapest > available {
        LearnerError::BudgetBelowCheapest { budget, cost: cheapest }
    } else {
        return Ok(());
    };
    Err(SpecError::from(error).into())
}
