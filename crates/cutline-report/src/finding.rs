//! What the mixed model of a campaign has found, for people to read. Every surface says it in these words.

use crate::numbers::two_digits;
use cutline::NoiseSource;
use cutline::diagnostics::Diagnostics;
use cutline::estimators::Explained;
use cutline_campaign::CampaignState;

/// What the mixed model has learnt about features and noise, without a full stop: `features explain 71 % of the differences
/// (linear 55 %, smooth 16 %), noise σ ≈ 4.4`. `None` for other models, without features, and before arms have different rewards: until then
/// nothing is learnt, and the shares are those of the prior.
#[must_use]
pub fn finding(state: &CampaignState) -> Option<String> {
    let (explained, noise) = (state.learnt()?, state.noise());
    Some(learnt_in_words(explained, noise.sigma, noise.source))
}

/// The same from its numbers.
pub(crate) fn learnt_in_words(explained: Explained, sigma: f64, source: NoiseSource) -> String {
    let (features, linear) = ((100.0 * explained.features()).round(), (100.0 * explained.linear).round());
    // The two parts add up to the whole as it is printed.
    let smooth = (features - linear).max(0.0);
    let sigma = match source {
        NoiseSource::Given => format!("= {sigma} as given"),
        _ => format!("≈ {}", two_digits(sigma)),
    };
    format!("features explain {features} % of the differences (linear {linear} %, smooth {smooth} %), noise σ {sigma}")
}

/// A diagnosis in sentences: what the model found, whether a line would do, and what follows.
#[must_use]
pub fn diagnosis(finding: Option<&str>, diagnostics: &Diagnostics) -> String {
    match finding {
        Some(finding) => format!("{}. {diagnostics}", finding.replacen('f', "F", 1)),
        None => diagnostics.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline_campaign::{Candidates, Settings};

    fn state(settings: &Settings, columns: &[&str]) -> CampaignState {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let features = (0..20 * columns.len()).map(|i| f64::from(u32::try_from(i * 7 % 20).unwrap())).collect();
        let names = (0..20).map(|arm| format!("arm {arm}")).collect();
        let candidates = Candidates::new(names, columns, features).unwrap();
        let mut settings = settings.clone();
        settings.resolve(candidates.has_features()).unwrap();
        let terms = settings.terms(candidates.has_features()).unwrap();
        CampaignState::new(candidates.arms(), terms).unwrap()
    }

    #[test]
    fn the_sentence_follows_the_model() {
        let mut settings = Settings::new(10.0, 99);
        let mut mixed = state(&settings, &["x"]);
        assert_eq!(finding(&mixed), None, "no rewards yet");
        for arm in 0..20 {
            let mean = (arm * 7 % 20) as f64;
            for noise in [2.0, -2.0] {
                mixed.observe(arm, mean + noise, true, 0).unwrap();
            }
        }
        let said = finding(&mixed).unwrap();
        let parts: Vec<u32> =
            said.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).take(3).collect();
        assert!(said.starts_with("features explain ") && said.contains(" % of the differences (linear "), "{said}");
        assert!(said.contains(" %), noise σ ≈ 2."), "{said}");
        assert!(parts[0] >= 90 && parts[0] == parts[1..].iter().sum::<u32>(), "{said}");
        settings.noise = Some(0.25);
        let mut given = state(&settings, &["x"]);
        for (arm, reward) in [(0, 1.0), (0, 2.0), (1, 1.0)] {
            assert_eq!(finding(&given), None, "one arm, which says nothing about differences");
            given.observe(arm, reward, true, 0).unwrap();
        }
        assert!(finding(&given).unwrap().ends_with(", noise σ = 0.25 as given"));
        let mut equal = state(&settings, &["x"]);
        (0..20).for_each(|arm| drop(equal.observe(arm, 1.0, true, 0).unwrap()));
        assert_eq!(finding(&equal), None, "nothing differs");
        settings.model = Some(cutline_campaign::CampaignModel::Independent);
        let mut independent = state(&settings, &["x"]);
        independent.observe(0, 1.0, true, 0).unwrap();
        assert_eq!(finding(&independent), None);
    }
}
