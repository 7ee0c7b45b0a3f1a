//! The end of a campaign by the number of errors that it expects.

use super::early_stop::{Checkpoints, EarlyStop};
use super::{CampaignState, Terms, TermsError};
use cutline::estimators::{FitHistory, History};
use cutline::{Arms, AskTell, Spec};

impl CampaignState {
    /// Whether the campaign ends by [`EarlyStop::ExpectedErrors`].
    pub(super) fn expects_few_errors(&mut self) -> bool {
        let Some(EarlyStop::ExpectedErrors(most)) = self.terms.until_sure else { return false };
        let Some(Checkpoints { last: Some(last), before: Some(before), .. }) = &self.ledger.checkpoints else {
            return false;
        };
        let errors = [before, last].map(|rewards| (rewards.n_rewards(), self.expected_errors_at(rewards)));
        self.expected_errors = errors.map(Some);
        errors.iter().all(|&(_, errors)| errors <= most)
    }

    /// The sum of the doubts of all verdicts by these rewards of the mixed model.
    fn expected_errors_at(&self, rewards: &FitHistory) -> f64 {
        let mut known = self.expected_errors.iter().flatten();
        if let Some(&(_, errors)) = known.find(|(n_rewards, _)| *n_rewards == rewards.n_rewards()) {
            return errors;
        }
        let mut learner =
            with_plain_rule(&self.terms, &self.arms, self.noise.sigma).expect("as when the campaign began");
        let n_arms = self.arms.n_arms();
        let (means, pending) = (vec![0.0; n_arms], vec![0; n_arms]);
        let n_rewards = rewards.counts();
        learner.restore(&History { n_rewards, means: &means, pending: &pending, fit_history: Some(rewards) }, 0);
        let confidence = self.terms.confidence(self.noise).expect("a noise in range, as when the campaign began");
        let mut beliefs = learner.beliefs();
        let verdicts = beliefs.verdicts(&confidence).enumerate();
        verdicts.filter(|(arm, _)| !self.ledger.withdrawn.contains_key(arm)).map(|(_, verdict)| verdict.doubt).sum()
    }
}

/// A learner with the estimator of the campaign and a rule without state, so that it can be restored: for verdicts, which no rule changes.
fn with_plain_rule(terms: &Terms, arms: &Arms, sigma: f64) -> Result<Box<dyn AskTell>, TermsError> {
    let plain = plain_spec(&Terms { spec: terms.spec(sigma)?, ..terms.clone() })?;
    Ok(plain.learner(arms, terms.question, u32::MAX, terms.seed)?)
}

/// The estimator of the campaign with its parameters, and a rule without state.
pub(super) fn plain_spec(terms: &Terms) -> Result<Spec, TermsError> {
    let spec = &terms.spec;
    let mut plain = Spec::named("random")?.with_estimator(spec.estimator().name())?;
    let is_of_estimator = |name| spec.estimator().parameters().iter().any(|parameter| parameter.name == name);
    for (name, value) in spec.values().filter(|&(name, _)| is_of_estimator(name)) {
        plain = plain.with(name, value)?;
    }
    Ok(plain)
}
