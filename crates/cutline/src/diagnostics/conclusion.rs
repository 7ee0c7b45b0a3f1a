//! The conclusion of a diagnosis, in one sentence.

use super::{Diagnostics, LEVEL, POWER};
use crate::rounded;
use std::fmt;

/// Whether the linear model is believable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conclusion {
    /// Neither the F-test nor any arm contradicts it, and a misfit as large as the noise would probably have been found.
    Believable,
    /// The F-test or an arm contradicts it.
    NotBelievable,
    /// There is not enough data to decide.
    NotEnoughData(MissingEvidence),
    /// There are as many independent features as arms, so any means are linear in them.
    AlwaysTrue,
    /// There is no linear model without features.
    NoFeatures,
}

/// What is missing for a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingEvidence {
    /// Rewards: there are none.
    Rewards,
    /// More different arms: any means of the arms pulled so far are linear in their features.
    Arms,
    /// Replicates: no arm was pulled twice.
    Replicates,
    /// Noise: the rewards of each arm are all the same.
    Noise,
    /// Power: a misfit as large as the noise would be missed too often.
    Power,
}

impl Conclusion {
    pub(super) fn of(diagnostics: &Diagnostics) -> Self {
        let (Some(features), Some(design)) = (diagnostics.features, diagnostics.design) else {
            return Self::NoFeatures;
        };
        if features.rank == diagnostics.n_arms {
            return Self::AlwaysTrue;
        }
        match diagnostics.lack_of_fit {
            Some(lack) if lack.p_value <= LEVEL / 2.0 => Self::NotBelievable,
            Some(_) if diagnostics.disagreeing().next().is_some() => Self::NotBelievable,
            Some(lack) if lack.power < POWER => Self::NotEnoughData(MissingEvidence::Power),
            Some(_) => Self::Believable,
            None if diagnostics.pulls == 0 => Self::NotEnoughData(MissingEvidence::Rewards),
            None if diagnostics.arms.len() <= design.rank => Self::NotEnoughData(MissingEvidence::Arms),
            None if diagnostics.replicates.is_none() => Self::NotEnoughData(MissingEvidence::Replicates),
            None => Self::NotEnoughData(MissingEvidence::Noise),
        }
    }

    /// Its name, for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Believable => "believable",
            Self::NotBelievable => "not-believable",
            Self::NotEnoughData(_) => "not-enough-data",
            Self::AlwaysTrue => "always-true",
            Self::NoFeatures => "no-features",
        }
    }
}

impl MissingEvidence {
    /// Its name, for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rewards => "rewards",
            Self::Arms => "arms",
            Self::Replicates => "replicates",
            Self::Noise => "noise",
            Self::Power => "power",
        }
    }
}

/// The share of the differences from which on the linear model is called as good as the mixed one.
const LINEAR_ENOUGH: f64 = 0.9;

/// Features that explain less say little about the arms.
const LITTLE: f64 = 0.3;

/// What the features do not explain is mentioned from this share on.
const OWN: f64 = 0.1;

impl Diagnostics {
    /// The model of a campaign that these numbers support, by its name: `linear` where a line is enough, `mixed` where it is not,
    /// `independent` without features; `None` if they do not say.
    #[must_use]
    pub fn model(&self) -> Option<&'static str> {
        match self.conclusion {
            Conclusion::NoFeatures => Some("independent"),
            Conclusion::NotBelievable => Some("mixed"),
            _ if self.learnt.is_some_and(|learnt| learnt.explained.linear >= LINEAR_ENOUGH) => Some("linear"),
            _ => None,
        }
    }

    /// What follows for a campaign, in sentences.
    fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        match self.model() {
            Some("linear") => advice.push("A campaign on `linear` would do as well as one on `mixed`.".to_owned()),
            Some("mixed") => advice.push(
                "That matters only to campaigns on `linear`: `mixed` learns what a line does not explain.".to_owned(),
            ),
            _ => (),
        }
        if let Some(learnt) = self.learnt.filter(|learnt| self.features.is_some() && learnt.explained.own >= OWN) {
            if learnt.explained.features() < LITTLE {
                advice.push("The features say little about these arms.".into());
            }
            let (spread, pulls) = (rounded(learnt.own_spread(), 2), learnt.pulls_per_arm());
            let times = if pulls == 1.0 { "measurement" } else { "measurements" };
            let pulls = if pulls < 1e6 { pulls.to_string() } else { format!("{pulls:.1e}") };
            advice.push(format!(
                "What they do not explain has a spread of {spread}: about {pulls} {times} of an arm bring its error to half of that."
            ));
        }
        advice
    }
}

/// The conclusion about the linear model with the numbers that led to it, and what follows.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.conclusion {
            Conclusion::Believable => write!(
                f,
                "The linear model is believable: the means lie no further from it than the noise explains ({}).",
                evidence(self)
            )?,
            Conclusion::NotBelievable => write!(
                f,
                "The linear model is not believable: means lie further from it than the noise explains ({}).",
                evidence(self)
            )?,
            Conclusion::NotEnoughData(missing) => {
                write!(f, "Not enough data to tell whether the linear model holds: {}.", remedy(self, missing))?;
            }
            Conclusion::AlwaysTrue => write!(
                f,
                "The linear model holds whatever the rewards: the features of the {} arms are linearly independent, so any means fit it.",
                self.n_arms
            )?,
            Conclusion::NoFeatures => {
                write!(f, "The arms have no features, so there is no linear model: every arm has to be measured.")?;
            }
        }
        self.advice().iter().try_for_each(|sentence| write!(f, " {sentence}"))
    }
}

fn evidence(diagnostics: &Diagnostics) -> String {
    let p_value = diagnostics.lack_of_fit.map_or(f64::NAN, |lack| lack.p_value);
    let p_value = if p_value < 1e-4 { format!("{p_value:.1e}") } else { format!("{p_value:.4}") };
    let disagree = match diagnostics.disagreeing().count() {
        0 => "no arm disagrees".into(),
        1 => "1 arm disagrees".into(),
        n => format!("{n} arms disagree"),
    };
    format!("lack of fit p = {p_value}, {disagree}")
}

fn remedy(diagnostics: &Diagnostics, missing: MissingEvidence) -> String {
    match missing {
        MissingEvidence::Rewards => "there are no rewards yet".into(),
        MissingEvidence::Arms => {
            format!(
                "any means of the arms pulled so far ({}) would fit it; pull other arms too",
                diagnostics.arms.len()
            )
        }
        MissingEvidence::Replicates => "no arm was pulled twice, so the noise is unknown; pull some arms again".into(),
        MissingEvidence::Noise => {
            "the rewards of each arm are all the same, so there is no noise to measure the fit by".into()
        }
        MissingEvidence::Power => {
            let power = diagnostics.lack_of_fit.map_or(f64::NAN, |lack| lack.power);
            format!(
                "a misfit as large as the noise would be detected with a probability of only {power:.2}; measure more"
            )
        }
    }
}
