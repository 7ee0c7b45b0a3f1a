//! The settings that are weighed by their evidence, and their averages.

use super::columns::Columns;
use super::evidence::{Evidence, Pooled, Variances};
use super::settings::{MixedSettings, Parts};
use crate::estimators::Explained;

/// The shares that the smooth and the own part may have beside a linear part.
const SHARES: [f64; 5] = [0.0, 0.05, 0.3, 0.7, 1.0];
/// The shares that the second of two parts may have.
const SHARES_OF_TWO: [f64; 13] = [0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 1.0];
/// A share of 0 stands for this: every part keeps a little.
const LEAST_SHARE: f64 = 1e-4;
/// ω, the variance of the means in units of σ², with three parts and with fewer.
const SCALES: [f64; 6] = [0.03, 0.3, 1.0, 3.0, 10.0, 100.0];
const SCALES_OF_TWO: [f64; 10] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// The model as learnt from the rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) shares: Explained,
    pub(super) variances: Variances,
    /// σ²; `None` if it is not known and no reward has said anything about it.
    pub(super) noise_variance: Option<f64>,
    /// Whether rewards have said anything.
    pub(super) is_learnt: bool,
}

/// All combinations of shares and ω, with their prior.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) parts: Parts,
    /// d, among which the variance of the linear part is divided.
    pub(super) dimension: f64,
    /// σ², if it is known.
    pub(super) known_noise: Option<f64>,
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
    /// The grid for d = `dimension` features. Half of the prior is on the purely linear model, if there is a linear part; the other
    /// half, or all of it, is divided equally among all other shares. All ω are equally likely.
    pub(super) fn new(dimension: usize, parts: Parts, settings: &MixedSettings) -> Self {
        let has_all = parts.linear && parts.smooth && parts.own;
        let (shares, scales): (&[f64], &[f64]) =
            if has_all { (&SHARES, &SCALES) } else { (&SHARES_OF_TWO, &SCALES_OF_TWO) };
        let shares = settings.shares.as_deref().unwrap_or(shares);
        let scales = settings.scales.as_deref().unwrap_or(scales);
        // The first part has what the others leave.
        let smooth_shares = if parts.linear && parts.smooth { shares } else { &[0.0] };
        let own_shares = if parts.own && (parts.linear || parts.smooth) { shares } else { &[0.0] };
        let mut combinations = Vec::new();
        for &own in own_shares {
            let possible = smooth_shares.iter().filter(|smooth| own + **smooth < 1.0 + 1e-9);
            combinations.extend(possible.map(|&smooth| (smooth, own)));
        }
        let log_odds = (combinations.len() as f64 - 1.0).max(1.0).ln();
        let dimension = dimension as f64;
        let mut grid = Self {
            parts,
            dimension,
            known_noise: settings.known_noise.map(|noise| noise * noise),
            settings: Vec::new(),
            variances: Vec::new(),
        };
        for (smooth, own) in combinations {
            let is_linear = parts.linear && smooth + own == 0.0;
            let log_prior = if is_linear { log_odds } else { 0.0 };
            let curved = Shares::new(smooth, own, parts);
            let has_both = parts.products && curved.smooth > LEAST_SHARE;
            let both = if has_both { &[curved, curved.with_products()][..] } else { &[curved] };
            for (shares, scale) in both.iter().flat_map(|&shares| scales.iter().map(move |scale| (shares, scale))) {
                let log_scale = scale.ln();
                grid.settings.push(Setting { shares, log_scale, log_prior });
                grid.variances.push(grid.variances_of(&shares, log_scale.exp()));
            }
        }
        grid
    }

    /// The variances at ω = `scale`. Without a linear part, the only linear column is the level.
    fn variances_of(&self, shares: &Shares, scale: f64) -> Variances {
        let linear = if self.parts.linear { scale * shares.linear / self.dimension } else { scale };
        Variances { linear, smooth: scale * shares.smooth, products: scale * shares.products, own: scale * shares.own }
    }

    /// The model before the first reward.
    pub(super) fn prior(&self) -> Fit {
        let equal = vec![Evidence { log_likelihood: 0.0, noise_variance: 1.0 }; self.settings.len()];
        Fit { noise_variance: self.known_noise, is_learnt: false, ..self.average(&equal, 1.0) }
    }

    /// The model by the rewards. It is the prior if all of them equal τ and σ is not known, or they are too large or too small to be squared.
    ///
    /// Times a power of two, rewards and known σ give the same shares to the last bit, and σ times that power.
    pub(super) fn fit(&self, columns: &Columns, rewards: &super::rewards::ArmRewards) -> Fit {
        let known = self.known_noise.or(rewards.known_noise());
        let pooled = Pooled::new(columns, &rewards.statistics(), known);
        if !pooled.has_evidence() {
            return self.prior();
        }
        let fit = self.average(&pooled.evidence(&self.variances), pooled.unit());
        Fit { noise_variance: known.or(fit.noise_variance), ..fit }
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
            shares.products += weight * setting.shares.products;
            shares.own += weight * setting.shares.own;
            log_scale += weight * setting.log_scale;
            log_noise += weight * evidence.noise_variance.ln();
        }
        let shares = shares.divided_by(sum);
        let variances = self.variances_of(&shares, (log_scale / sum).exp());
        let Shares { linear, smooth, products, own } = shares;
        let shares = Explained { linear, smooth: smooth + products, own };
        Fit { shares, variances, noise_variance: Some(unit * (log_noise / sum).exp()), is_learnt: true }
    }
}

/// The shares of the parts in the prior variance of a mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Shares {
    linear: f64,
    smooth: f64,
    products: f64,
    own: f64,
}

impl Shares {
    /// These shares of the smooth and the own part, the rest for the first part that there is. Parts that are left out have none.
    fn new(smooth: f64, own: f64, parts: Parts) -> Self {
        let rest = 1.0 - own - smooth;
        let share = |is_there: bool, share: f64| if is_there { share.max(LEAST_SHARE) } else { 0.0 };
        let linear = share(parts.linear, rest);
        let smooth = share(parts.smooth, if parts.linear { smooth } else { rest });
        let own = share(parts.own, if parts.linear || parts.smooth { own } else { rest });
        let products = share(parts.products, 0.0);
        Self { linear, smooth, products, own }.divided_by(linear + smooth + products + own)
    }

    /// The same with products in place of curves.
    fn with_products(self) -> Self {
        Self { smooth: self.products, products: self.smooth, ..self }
    }

    fn divided_by(self, sum: f64) -> Self {
        let Self { linear, smooth, products, own } = self;
        Self { linear: linear / sum, smooth: smooth / sum, products: products / sum, own: own / sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Parts = Parts { linear: true, smooth: true, products: false, own: true };

    fn grid(parts: Parts) -> Grid {
        Grid::new(4, parts, &MixedSettings::default())
    }

    /// Half of the prior is on the purely linear model wherever there is one; parts that are left out have nothing, the others something.
    #[test]
    fn half_of_the_prior_is_linear() {
        for (linear, smooth, own, n_shares, n_scales) in [
            (true, true, true, 17, 6),
            (true, false, true, 13, 10),
            (true, true, false, 13, 10),
            (false, true, true, 13, 10),
            (true, false, false, 1, 10),
            (false, true, false, 1, 10),
            (false, false, true, 1, 10),
        ] {
            let grid = grid(Parts { linear, smooth, products: false, own });
            assert_eq!(grid.settings.len(), n_shares * n_scales);
            let weight = |s: &Setting| s.log_prior.exp();
            let is_linear = |s: &&Setting| s.shares.linear > 0.999;
            let linear_weight: f64 = grid.settings.iter().filter(is_linear).map(weight).sum();
            let all: f64 = grid.settings.iter().map(weight).sum();
            let expected = if linear { [1.0, 0.5][usize::from(n_shares > 1)] } else { 0.0 };
            assert!((linear_weight / all - expected).abs() < 1e-12, "{linear_weight} of {all}");
            for (setting, variances) in grid.settings.iter().zip(&grid.variances) {
                let Shares { linear: s_linear, smooth: s_smooth, own: s_own, .. } = setting.shares;
                assert!((s_linear + s_smooth + s_own - 1.0).abs() < 1e-15);
                assert_eq!([s_linear > 0.0, s_smooth > 0.0, s_own > 0.0], [linear, smooth, own]);
                let level = if linear { s_linear / 4.0 } else { 1.0 };
                assert!((variances.linear / (setting.log_scale.exp() * level) - 1.0).abs() < 1e-15);
            }
        }
    }

    /// Wherever the smooth part has a share, it may be one of products instead.
    #[test]
    fn products_take_the_place_of_curves() {
        let with = grid(Parts { products: true, ..ALL });
        let shares = |grid: &Grid| -> Vec<Shares> { grid.settings.iter().map(|it| it.shares).collect() };
        let (products, curves): (Vec<Shares>, Vec<Shares>) =
            shares(&with).into_iter().partition(|s| s.products > s.smooth);
        assert_eq!((products.len(), curves.len()), (12 * 6, 17 * 6));
        assert!(products.iter().all(|it| curves.contains(&it.with_products())));
    }

    #[test]
    fn the_grid_can_be_replaced() {
        let settings = MixedSettings { shares: Some(vec![0.5, 0.25]), scales: Some(vec![2.0]), ..Default::default() };
        let shares = |parts| -> Vec<[f64; 3]> {
            let grid = Grid::new(4, parts, &settings);
            grid.settings.iter().map(|s| [s.shares.linear, s.shares.smooth, s.shares.own]).collect()
        };
        let close = |found: Vec<[f64; 3]>, expected: &[[f64; 3]]| {
            let pairs = found.iter().flatten().zip(expected.iter().flatten());
            assert!(found.len() == expected.len() && pairs.clone().all(|(a, b)| (a - b).abs() < 2e-4), "{found:?}");
        };
        close(shares(ALL), &[[0.0, 0.5, 0.5], [0.25, 0.25, 0.5], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]);
        close(shares(Parts { smooth: false, ..ALL }), &[[0.5, 0.0, 0.5], [0.75, 0.0, 0.25]]);
        close(shares(Parts { linear: false, ..ALL }), &[[0.0, 0.5, 0.5], [0.0, 0.75, 0.25]]);
        assert!(
            Grid::new(4, ALL, &settings).settings.iter().all(|s| s.log_scale == 2.0_f64.ln() && s.log_prior == 0.0)
        );
    }

    /// The averages by hand, for evidence that leaves two settings: weights 1 : 3.
    #[test]
    fn averages_are_weighted_by_prior_and_evidence() {
        let grid = grid(Parts { smooth: false, ..ALL });
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
