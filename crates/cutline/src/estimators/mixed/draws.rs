//! Draws of the means from the posterior of the mixed model.
//!
//! With L·Lᵀ = A and independent standard normal ε and εᵢ, the means μ̂ᵢ + σ(gᵢzᵢᵀL⁻ᵀε + √(ρᵢgᵢ)εᵢ) have the covariances of the posterior.

use super::Mixed;
use super::evidence::Pooled;
use super::judgement::weighted_settings;
use crate::estimators::Estimator;
use crate::vector::numbers;

impl Mixed {
    /// The model at each of the settings that its verdicts average over, with the setting's weight; none while rewards say nothing. To draw
    /// means from all that the model believes possible, choose one by its weight and [draw](Mixed::draw) from it.
    #[must_use]
    pub fn settings(&self) -> Vec<(f64, Self)> {
        let now = &self.rewards.now;
        let known_noise = self.grid.known_noise.or(now.known_noise());
        let pooled = Pooled::new(&self.columns, &now.statistics(), known_noise);
        let at = |setting: super::judgement::WeightedSetting| {
            let mut model = self.clone();
            model.fit.variances = setting.variances;
            model.fit.noise_variance = Some(setting.noise_variance);
            model.rebuild();
            (setting.weight, model)
        };
        weighted_settings(&self.grid, &pooled).into_iter().flatten().map(at).collect()
    }

    /// The means of all arms, drawn from the posterior by the rewards received, at the variances learnt; σ is 1 before the first reward.
    /// `normal` returns independent standard normal numbers.
    ///
    /// ```
    /// use cutline::estimators::{Estimator, Mixed, MixedSettings};
    /// use cutline::{Arms, Question};
    ///
    /// let arms = Arms::from_rows(&[[0.0], [1.0], [2.0]])?;
    /// let mut mixed = Mixed::new(&arms, Question::new(1.0, 0.0)?, &MixedSettings::default(), 0)?;
    /// mixed.observe(2, 4.0);
    /// assert_eq!(mixed.draw(|| 0.0), mixed.means()); // no deviation from the posterior mean
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn draw(&mut self, mut normal: impl FnMut() -> f64) -> Vec<f64> {
        let sigma = self.noise_scale().unwrap_or(1.0);
        let Self { linear, observed, own, .. } = self;
        let (features, inverse, step) = linear.scratch();
        inverse.refresh(features, |arm| observed.weight(arm), step);
        let theta = step.deviation(&mut normal);
        let means = &numbers(&own.means)[..features.n_arms];
        let draw = |(arm, mean): (usize, &f64)| {
            let own = observed.own_variance(arm).sqrt() * normal();
            mean + sigma * (observed.factor(arm) * features.row(arm).times(theta) + own)
        };
        means.iter().enumerate().map(draw).collect()
    }
}
