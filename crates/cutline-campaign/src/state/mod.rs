//! Campaigns of real measurements, which are handed out as tickets and whose rewards may be told in any order.
//!
//! A [`CampaignState`] is a fold over events: it is a function of its arms, its [`Terms`] and its [`Event`]s. Its methods make decisions,
//! apply them to the state and return them as events. To keep a campaign, store its events; to restore it,
//! [extend](CampaignState::extend) a new campaign with them. Restoring does not repeat the decisions: it adds up counts and sums and
//! computes V from the counts, which is cheap for any K.
//!
//! However a journal is split into calls of `extend`, the state is the same to the last bit: after every [`REBUILD_INTERVAL`] events the
//! learner is rebuilt from the counts and the means of the rewards, and the noise scale is a function of the journal.

mod answers;
mod ask;
mod building;
mod corrections;
mod early_stop;
mod error;
mod event;
mod expected_errors;
mod history;
mod ledger;
mod opening;
mod progress;
mod proving;
mod tell;
mod terms;

pub use ask::Request;
pub use early_stop::EarlyStop;
pub use error::{BrokenJournal, CampaignError};
pub use event::{Event, Record, TicketId, Time};
pub use history::DecisionPoint;
pub use ledger::{Spending, TicketStatus};
pub use progress::Progress;
pub use terms::{Terms, TermsError};

use building::{build, check_costs};
use cutline::estimators::{Explained, History};
use cutline::{Arms, AskTell, EstimatorKind, NoiseEstimate, NoiseSource};
use ledger::{LearnerUpdate, Ledger};
use opening::Opening;
use proving::Proving;

/// The greatest reward that a campaign takes, in absolute value, and the greatest threshold and precision: σ estimated from such rewards is
/// well within the [range](cutline::Range::NOISE_SCALE) in which estimates and doubts are computed. Journals of earlier versions may have
/// rewards up to [`diagnostics::MAX_REWARD`](cutline::diagnostics::MAX_REWARD), and can still be read.
pub const MAX_REWARD: f64 = 1e80;

/// The number of events after which the learner is rebuilt from counts and means.
pub const REBUILD_INTERVAL: u64 = 64;

/// A campaign in progress.
///
/// ```
/// use cutline_campaign::{CampaignState, Event, Terms};
/// use cutline::{Arms, Question, Spec};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let terms = Terms { noise: Some(0.1), seed: 7, ..Terms::new(Question::new(0.5, 0.02)?, Spec::named("pivot")?, 60) };
/// let arms = Arms::from_rows(&[[1.0, 0.2], [0.4, 0.9], [0.1, -0.8]])?;
/// let mut campaign = CampaignState::new(arms, terms)?;
/// let (now, lease) = (0, 60_000);
/// while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "me", now, lease)[..] {
///     campaign.tell(ticket, [0.9, 0.1, -0.3][arm], now)?;
/// }
/// assert!(campaign.verdicts()[0].lower > 0.5);
/// # Ok(())
/// # }
/// ```
pub struct CampaignState {
    terms: Terms,
    arms: Arms,
    ledger: Ledger,
    learner: Box<dyn AskTell>,
    /// The noise scale that the learner uses at present.
    noise: NoiseEstimate,
    /// Whether rewards have arrived since σ was last estimated.
    is_noise_stale: bool,
    /// What the model has learnt about the features, if it learns that.
    explained: Option<Explained>,
    spread: Option<f64>,
    /// The expected number of errors at the last checkpoints for which it was computed, by their number of rewards.
    expected_errors: [Option<(u64, f64)>; 2],
    /// The proofs, once they were needed.
    proving: Option<Box<Proving>>,
    opening: Opening,
}

impl CampaignState {
    /// A campaign without events.
    ///
    /// # Errors
    /// If the terms are out of range or do not fit the arms.
    pub fn new(arms: Arms, terms: Terms) -> Result<Self, TermsError> {
        terms.check_rewards()?;
        let mut ledger = Ledger::new(&arms, &terms);
        let noise = ledger.noise();
        terms.confidence(noise)?;
        // Checks the budget, which may be too small for the arms. The campaign's own learner has no budget: the ledger enforces it.
        // It is kept until there are two, because they share what is expensive to compute.
        let checked = if arms.measurement_costs().is_none() {
            let spec = terms.spec(noise.sigma)?;
            Some(spec.learner_for(&arms, terms.question, terms.budget, terms.budget, terms.seed)?)
        } else {
            None
        };
        let learner = build(&terms, &arms, noise.sigma)?;
        drop(checked);
        check_costs(&terms, &arms, learner.opens_with_every_arm())?;
        let estimator = terms.spec.estimator();
        if let Some(EarlyStop::ExpectedErrors(_)) = terms.until_sure
            && estimator != EstimatorKind::Mixed
        {
            return Err(TermsError::ExpectedErrorsNeedMixed(estimator));
        }
        let is_custom = terms.spec.algorithm().name != terms.spec.name();
        let needs_noise = terms.spec.algorithm().needs_fixed_noise || (is_custom && learner.depends_on_order());
        if needs_noise && terms.fixed_noise().is_none() {
            return Err(TermsError::NeedsNoise(terms.spec.name().into()));
        }
        Ok(Self {
            terms,
            arms,
            ledger,
            learner,
            noise,
            is_noise_stale: false,
            explained: None,
            spread: None,
            expected_errors: [None; 2],
            proving: None,
            opening: Opening::default(),
        })
    }

    /// Applies events from the journal, for example those that another process wrote.
    ///
    /// # Errors
    /// If an event cannot follow those before it. The campaign must not be used after that.
    pub fn extend(&mut self, records: &[Record]) -> Result<(), BrokenJournal> {
        self.fold(records.iter().map(|record| (record.at, &record.event)))
    }

    /// Applies events that this state has decided, once they are in the journal.
    ///
    /// # Panics
    /// If an event cannot follow those before it: other events were applied in the meantime.
    pub fn record(&mut self, at: Time, events: &[Event]) {
        self.fold(events.iter().map(|event| (at, event))).expect("events that were decided in this state");
    }

    fn fold<'a>(&mut self, events: impl ExactSizeIterator<Item = (Time, &'a Event)>) -> Result<(), BrokenJournal> {
        let last = self.ledger.events + events.len() as u64;
        let rebuild_at = if self.learner.depends_on_order() { 0 } else { last - last % REBUILD_INTERVAL };
        let mut has_rewards = false;
        for (at, event) in events {
            let number = self.ledger.events + 1;
            let update = self.ledger.apply(at, event).map_err(|refusal| BrokenJournal { number, refusal })?;
            has_rewards |= update.changes_rewards();
            self.follow(update);
            match number.cmp(&rebuild_at) {
                // The rebuild will include it.
                std::cmp::Ordering::Less => (),
                std::cmp::Ordering::Equal => self.rebuild(),
                std::cmp::Ordering::Greater => self.update_learner(update),
            }
        }
        if has_rewards {
            self.is_noise_stale = true;
            self.update_learnt();
        }
        Ok(())
    }

    /// Applies an event that was checked, and returns it.
    fn apply_and_return(&mut self, now: Time, event: Event) -> Event {
        self.apply(now, &event);
        event
    }

    /// Applies an event that was checked.
    fn apply(&mut self, now: Time, event: &Event) {
        let update = self.ledger.apply(now, event).expect("an event that was checked");
        self.follow(update);
        if self.ledger.events.is_multiple_of(REBUILD_INTERVAL) && !self.learner.depends_on_order() {
            self.rebuild();
        } else {
            self.update_learner(update);
        }
        if update.changes_rewards() {
            self.is_noise_stale = true;
            self.update_learnt();
        }
    }

    fn update_learner(&mut self, update: LearnerUpdate) {
        match update {
            LearnerUpdate::Assign(arm) => self.learner.assign(arm),
            LearnerUpdate::Tell(arm, reward) => self.learner.tell(arm, reward).expect("a reward that was checked"),
            LearnerUpdate::Forget(arm) => self.learner.forget(arm),
            LearnerUpdate::Add(arm, reward) => {
                self.learner.assign(arm);
                self.learner.tell(arm, reward).expect("a reward that was checked");
            }
            LearnerUpdate::Relearn => self.relearn(),
            LearnerUpdate::Withdraw(..) | LearnerUpdate::Nothing => (),
        }
    }

    /// What an update changes besides the estimates of the learner, whether these are updated at once or by a later rebuild.
    fn follow(&mut self, update: LearnerUpdate) {
        self.opening.follow(update);
        match update {
            LearnerUpdate::Relearn => self.relearn_ledger(),
            LearnerUpdate::Withdraw(arm, is_withdrawn) => {
                self.learner.set_withdrawn(arm, is_withdrawn);
                self.expected_errors = [None; 2];
            }
            _ => (),
        }
    }

    /// Recomputes the estimates of the learner from counts and means, so that rounding errors do not depend on where the journal was split.
    fn rebuild(&mut self) {
        let Ledger { rewards, counts, pending, changes, fit_history, .. } = &self.ledger;
        let means: Vec<f64> = (0..counts.len()).map(|arm| rewards.mean(arm)).collect();
        let fit_history = fit_history.as_deref();
        self.learner.restore(&History { n_rewards: counts, means: &means, pending, fit_history }, *changes);
    }

    /// Takes σ and the shares of the parts from a model that learns them.
    fn update_learnt(&mut self) {
        if !self.terms.spec.estimator().learns_noise() {
            return;
        }
        let estimator = self.learner.beliefs().estimator;
        self.explained = estimator.explained();
        self.spread = estimator.spread();
        if self.terms.noise.is_none() {
            let learnt = estimator.noise_scale().map(|sigma| NoiseEstimate {
                sigma,
                source: NoiseSource::Model,
                degrees_of_freedom: None,
            });
            self.noise = learnt.unwrap_or(NoiseEstimate::NOTHING);
        }
        self.is_noise_stale = false;
    }

    /// Brings σ up to date with the rewards in the ledger, for rule, stop and verdicts alike. Everything that uses σ calls this first.
    fn update_noise(&mut self) {
        if self.is_noise_stale && self.terms.fixed_noise().is_none() {
            self.noise = self.ledger.noise();
            self.learner.set_noise(self.noise.sigma);
        }
        self.is_noise_stale = false;
    }
}

impl std::fmt::Debug for CampaignState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let progress = self.progress();
        f.debug_struct("CampaignState").field("terms", &self.terms).field("progress", &progress).finish_non_exhaustive()
    }
}
