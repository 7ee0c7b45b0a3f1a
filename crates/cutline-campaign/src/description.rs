//! What a campaign is made of, beside its state: its settings and the names of its candidates.

use crate::{CampaignState, Candidates, Change, Record, Revised, Settings, StoreError, TermsError, settings_change};
use cutline::{Arm, Verdict};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The settings of a campaign and the names of its candidates and features.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The settings it began with.
    pub first_settings: Settings,
    /// Its settings after all changes.
    pub settings: Settings,
    /// The names of its arms, those that were added included.
    pub names: Vec<String>,
    /// The names of the features.
    pub columns: Vec<String>,
}

impl Description {
    /// The description and the state of a campaign that began with `first_settings` and `first_n_arms` arms, after these events; `None` if
    /// there are more candidates than the events say, because others have added some since the events were read.
    ///
    /// # Errors
    /// If the events and the candidates do not fit together, or the campaign has a custom rule that was not given.
    pub fn fold(
        first_settings: &Settings,
        first_n_arms: usize,
        candidates: Candidates,
        records: &[Record],
        location: &str,
    ) -> Result<Option<(Self, CampaignState)>, StoreError> {
        let Revised { settings, n_added } = Revised::new(first_settings, records.iter().map(|record| &record.event))
            .map_err(|what| StoreError::damaged(location, what))?;
        match candidates.n_arms().cmp(&first_n_arms.saturating_add(n_added)) {
            Ordering::Less => return Err(StoreError::damaged(location, "added arms are missing")),
            Ordering::Greater => return Ok(None),
            Ordering::Equal => (),
        }
        check_custom_rule(&settings)?;
        let state = state_after(&settings, first_settings.budget, &candidates, records, location)?;
        let (names, columns) = candidates.into_names_and_columns();
        Ok(Some((Self { first_settings: first_settings.clone(), settings, names, columns }, state)))
    }

    /// The budget after a change of the settings, and the change as it is stored; `None` if nothing changes.
    ///
    /// # Errors
    /// If the new settings are refused.
    pub fn changed(&self, change: &Change, candidates: &Candidates) -> Result<Option<(u32, String)>, StoreError> {
        let settings = change.apply(&self.settings, !self.columns.is_empty())?;
        let Some(text) = settings_change(&self.settings, &settings) else { return Ok(None) };
        match settings.begin(candidates)?.terms().check_guarantee() {
            // A campaign may keep the stop that it has.
            Err(TermsError::IntervalsReplaced) if settings.until_sure == self.settings.until_sure => (),
            result => result?,
        }
        Ok(Some((settings.budget, text)))
    }

    /// Those of `more` that are not among the candidates of the campaign yet, and the number of the first of them; `None` if all are.
    ///
    /// # Errors
    /// If the columns differ, a name is taken by a candidate with other features or another cost, or only some candidates have costs.
    pub fn added(&self, candidates: &Candidates, more: &Candidates) -> Result<Option<(Arm, Candidates)>, StoreError> {
        let Some(more) = new_candidates(candidates, more)? else { return Ok(None) };
        self.settings.begin(&candidates.with(&more)?)?;
        Ok(Some((candidates.n_arms(), more)))
    }

    /// The verdicts that candidates would have if they were added to a campaign with these candidates and events.
    pub(crate) fn predict(
        &self,
        candidates: &Candidates,
        records: &[Record],
        others: &Candidates,
    ) -> Result<Vec<Verdict>, StoreError> {
        let numbered = |from: usize, candidates: &Candidates| {
            let names = (from..from + candidates.n_arms()).map(|number| number.to_string()).collect();
            candidates.clone().renamed(names)
        };
        let n_arms = candidates.n_arms();
        // They are never measured, so that any cost will do.
        let others = match candidates.costs() {
            Some(_) => others.clone().with_costs(vec![1.0; others.n_arms()])?,
            None => others.clone().without_costs(),
        };
        let all = numbered(0, candidates)?.with(&numbered(n_arms, &others)?)?;
        // A budget that is too small for so many candidates is no hindrance.
        let n_all = u32::try_from(all.n_arms()).unwrap_or(u32::MAX);
        let every_arm = all.measurement_costs().map_or(n_all, |costs| costs.total().whole_units().saturating_add(1));
        let settings = Settings { budget: self.settings.budget.max(every_arm), ..self.settings.clone() };
        let mut state = state_after(&settings, self.first_settings.budget, &all, records, "the campaign")?;
        Ok(state.verdicts().split_off(n_arms))
    }
}

/// The state with these settings and candidates after some events.
fn state_after(
    settings: &Settings,
    first_budget: u32,
    candidates: &Candidates,
    records: &[Record],
    location: &str,
) -> Result<CampaignState, StoreError> {
    let mut state = settings.begin(candidates)?.with_first_budget(first_budget);
    state.extend(records).map_err(|error| StoreError::damaged(location, error.to_string()))?;
    Ok(state)
}

/// Checks that the caller gave the custom rule of this campaign, if it uses one, and no other.
fn check_custom_rule(settings: &Settings) -> Result<(), StoreError> {
    let Some(algorithm) = &settings.algorithm else { return Ok(()) };
    match &settings.custom_rule {
        None if cutline::algorithm(algorithm).is_none() => Err(StoreError::CustomRuleMissing(algorithm.clone())),
        Some(rule) if rule.name() != algorithm => {
            Err(StoreError::CustomRuleMismatch { expected: algorithm.clone(), found: rule.name().into() })
        }
        _ => Ok(()),
    }
}

/// Those of `more` that are not among `candidates` yet.
fn new_candidates(candidates: &Candidates, more: &Candidates) -> Result<Option<Candidates>, StoreError> {
    if candidates.columns() != more.columns() || candidates.costs().is_some() != more.costs().is_some() {
        // The error says what differs.
        return Ok(Some(candidates.with(more)?));
    }
    let names: HashMap<&str, Arm> = candidates.names().iter().map(String::as_str).zip(0..).collect();
    let cost = |candidates: &Candidates, arm: Arm| candidates.costs().map(|costs| costs[arm]);
    let mut new = Vec::new();
    for (arm, name) in more.names().iter().enumerate() {
        match names.get(name.as_str()) {
            Some(&known) if candidates.row(known) != more.row(arm) => {
                return Err(StoreError::OtherFeatures(name.clone()));
            }
            Some(&known) if cost(candidates, known) != cost(more, arm) => {
                return Err(StoreError::OtherCost(name.clone()));
            }
            Some(_) => (),
            None => new.push(arm),
        }
    }
    Ok(if new.is_empty() { None } else { Some(more.select(&new)?) })
}
