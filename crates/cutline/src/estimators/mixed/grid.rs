//! The settings that are weighed by their evidence, and their averages.

use super::evidence::{Evidence, Pooled, Variances};
use crate::estimators::Explained;

/// The shares that the smooth and the own part may have, where there is a smooth part.
const SHARES: [f64; 5] = [0.0, 0.05, 0.3, 0.7, 1.0];
/// The shares that the own part may have, where there is no smooth part.
const OWN_SHARES: [f64; 13] = [0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 1.0];
/// A share of 0 stands for this: every part keeps a little.
const LEAST_SHARE: f64 = 1e-4;
/// ω, the variance of the means in units of σ², with a smooth part and without.
const SCALES: [f64; 6] = [0.03, 0.3, 1.0, 3.0, 10.0, 100.0];
const SCALES_WITHOUT_SMOOTH: [f64; 10] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// The model as learnt from the rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) shares: Explained,
    pub(super) variances: Variances,
    /// σ²; `None` if no reward has said anything about it.
    pub(super) noise_variance: Option<f64>,
}

/// All combinations of shares and ω, with their prior.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// d, among which the variance of the linear part is divided.
    dimension: f64,
    settings: Vec<Setting>,
    variances: Vec<Variances>,
}

#[derive(Clone, Copy, Debug)]
struct Setting {
    shares: Shares,
    log_scale: f64,
    log_prior: f64,
}

impl Grid {
    /// The grid for d = `dimension` features. Half of the prior is on the purely linear model, the other half is divided equally among
    /// all other shares; all ω are equally likely.
    pub(super) fn new(dimension: usize, has_smooth: bool) -> Self {
        let (smooth_shares, own_shares, scales): (&[f64], &[f64], &[f64]) =
            if has_smooth { (&SHARES, &SHARES, &SCALES) } else { (&SHARES[..1], &OWN_SHARES, &SCALES_WITHOUT_SMOOTH) };
        let mut shares = Vec::new();
        for &own in own_shares {
            let possible = smooth_shares.iter().filter(|smooth| own + **smooth < 1.0 + 1e-9);
            shares.extend(possible.map(|&smooth| Shares::new(smooth, own, has_smooth)));
        }
        let log_odds = (shares.len() as f64 - 1.0).ln();
        let setting = |position: usize, scale: f64| Setting {
            shares: shares[position],
            log_scale: scale.ln(),
            log_prior: if position == 0 { log_odds } else { 0.0 },
        };
        let settings: Vec<Setting> = (0..shares.len())
            .flat_map(|position| scales.iter().map(move |&scale| (position, scale)))
            .map(|(position, scale)| setting(position, scale))
            .collect();
        let dimension = dimension as f64;
        let variances = settings.iter().map(|s| s.shares.variances(s.log_scale.exp(), dimension)).collect();
        Self { dimension, settings, variances }
    }

    /// The model before the first reward.
    pub(super) fn prior(&self) -> Fit {
        let equal = vec![Evidence { log_likelihood: 0.0, noise_variance: 1.0 }; self.settings.len()];
        Fit { noise_variance: None, ..self.average(&equal, 1.0) }
    }

    /// The model by the rewards; `None` if all of them equal τ, or they are too large or too small to be squared.
    ///
    /// Times a power of two, rewards give the same shares to the last bit, and σ times that power.
    pub(super) fn fit(&self, rewards: &Pooled) -> Option<Fit> {
        let unit = rewards.mean_square();
        unit.is_normal().then(|| self.average(&rewards.evidence(&self.variances), unit))
    }

    /// The posterior means of the shares, of ln ω and of ln σ². Variances in the evidence are in units of `unit`.
    fn average(&self, evidence: &[Evidence], unit: f64) -> Fit {
        let logs = || self.settings.iter().zip(evidence).map(|(s, e)| s.log_prior + e.log_likelihood);
        let most = logs().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut log_scale, mut log_noise) = (0.0, 0.0, 0.0);
        let mut shares = Shares::default();
        for ((setting, evidence), log) in self.settings.iter().zip(evidence).zip(logs()) {
            let weight = (log - most).exp();
            sum += weight;
            shares.linear += weight * setting.shares.linear;
            shares.smooth += weight * setting.shares.smooth;
            shares.own += weight * setting.shares.own;
            log_scale += weight * setting.log_scale;
            log_noise += weight * evidence.noise_variance.ln();
        }
        let shares = Shares { linear: shares.linear / sum, smooth: shares.smooth / sum, own: shares.own / sum };
        let variances = shares.variances((log_scale / sum).exp(), self.dimension);
        Fit { shares, variances, noise_variance: Some(unit * (log_noise / sum).exp()) }
    }
}

/// The shares of the parts in the prior variance of a mean.
type Shares = Explained;

impl Shares {
    fn new(smooth: f64, own: f64, has_smooth: bool) -> Self {
        let smooth_share = if has_smooth { smooth.max(LEAST_SHARE) } else { 0.0 };
        let (linear, own) = ((1.0 - own - smooth).max(LEAST_SHARE), own.max(LEAST_SHARE));
        let sum = linear + smooth_share + own;
        Self { linear: linear / sum, smooth: smooth_share / sum, own: own / sum }
    }

    /// The variances at ω = `scale`.
    fn variances(&self, scale: f64, dimension: f64) -> Variances {
        Variances { linear: scale * self.linear / dimension, smooth: scale * self.smooth, own: scale * self.own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_prior_is_linear() {
        for (has_smooth, n_shares, n_scales) in [(true, 17, 6), (false, 13, 10)] {
            let grid = Grid::new(4, has_smooth);
            assert_eq!(grid.settings.len(), n_shares * n_scales);
            let weight = |s: &Setting| s.log_prior.exp();
            let is_linear = |s: &&Setting| s.shares.linear > 0.999;
            let linear: f64 = grid.settings.iter().filter(is_linear).map(weight).sum();
            let all: f64 = grid.settings.iter().map(weight).sum();
            assert!((linear / all - 0.5).abs() < 1e-12, "{linear} of {all}");
            for setting in &grid.settings {
                let Shares { linear, smooth, own } = setting.shares;
                assert!((linear + smooth + own - 1.0).abs() < 1e-15 && linear > 0.0 && own > 0.0);
                assert_eq!(smooth > 0.0, has_smooth);
            }
        }
    }

    /// The averages by hand, for evidence that leaves two settings: weights 1 : 3.
    #[test]
    fn averages_are_weighted_by_prior_and_evidence() {
        let grid = Grid::new(4, false);
        let mut evidence = vec![Evidence { log_likelihood: -1e9, noise_variance: 1.0 }; grid.settings.len()];
        let (a, b) = (25, 77);
        evidence[a] = Evidence { log_likelihood: 0.0, noise_variance: 2.0 };
        evidence[b] = Evidence { log_likelihood: 3.0_f64.ln(), noise_variance: 8.0 };
        let fit = grid.average(&evidence, 16.0);
        let (sa, sb) = (grid.settings[a], grid.settings[b]);
        let own = 0.25 * sa.shares.own + 0.75 * sb.shares.own;
        assert!((fit.shares.own - own).abs() < 1e-14);
        let scale = (0.25 * sa.log_scale + 0.75 * sb.log_scale).exp();
        assert!((fit.variances.own / (scale * own) - 1.0).abs() < 1e-13);
        assert!((fit.variances.linear / (scale * fit.shares.linear / 4.0) - 1.0).abs() < 1e-13);
        assert!((fit.noise_variance.unwrap() / (16.0 * 2.0 * 4.0_f64.powf(0.75)) - 1.0).abs() < 1e-13);
    }
}
