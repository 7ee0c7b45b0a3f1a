//! The model of a campaign in words.

use cutline::EstimatorKind;
use cutline_campaign::{CampaignCovariance, CampaignModel, Preparation, Settings};

/// The model of a campaign with this estimator, and how features and rewards are prepared for it.
#[must_use]
pub fn describe(estimator: EstimatorKind, settings: &Settings) -> String {
    let model = CampaignModel::of(estimator);
    let about = match model {
        CampaignModel::Linear => {
            let about = match &settings.covariance {
                None => "linear in the features".into(),
                Some(CampaignCovariance::Kernel { kernel, length }) => {
                    format!("a smooth function of the features, by the kernel {} of length {length}", kernel.name())
                }
                Some(CampaignCovariance::Graph { edges, .. }) => {
                    format!("similar along the {} edges of a graph", edges.len())
                }
                Some(_) => "related by a prior covariance".into(),
            };
            return format!("{about}; {}", preparation_steps(settings.preparation()));
        }
        CampaignModel::Mixed => "a linear, a smooth and an own part per arm, with weights learnt from the rewards",
        CampaignModel::Independent => "every arm is estimated from its own rewards alone",
    };
    format!("{}: {about}", model.name())
}

fn preparation_steps(preparation: Preparation) -> String {
    let Preparation { standardise, intercept, centre } = preparation;
    let steps = [
        (standardise, "features standardised"),
        (intercept != 0.0, "an intercept added"),
        (centre, "rewards measured from the threshold"),
    ];
    let steps: Vec<&str> = steps.into_iter().filter_map(|(is_done, step)| is_done.then_some(step)).collect();
    if steps.is_empty() { "features and rewards are used as given".into() } else { steps.join(", ") }
}
