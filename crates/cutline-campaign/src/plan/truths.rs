//! True means, drawn from a prior for the arms of a plan.

use super::prior::{Distribution, Expectation};
use super::rewards::{normal, uniform};
use cutline::{Arms, Rng};
use std::f64::consts::TAU;

/// Draws true means.
#[derive(Clone, Debug)]
pub(super) struct Truths {
    distribution: Distribution,
    /// Standardised, unless θ is drawn on the features as they are.
    arms: Arms,
    threshold: f64,
}

/// The number of cosines whose sum is a draw of the smooth part (Rahimi & Recht 2007).
const N_WAVES: usize = 256;

impl Truths {
    pub(super) fn new(distribution: Distribution, arms: Arms, threshold: f64) -> Self {
        Self { distribution, arms, threshold }
    }

    /// The means of all arms.
    pub(super) fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let dimension = self.arms.dimension().unwrap_or(0);
        let theta = |theta: Vec<f64>| self.arms.times(&theta).expect("checked to have features");
        match &self.distribution {
            Distribution::Expected(expectation) => self.expected(expectation, rng),
            Distribution::Uniform => theta((0..dimension).map(|_| uniform(rng)).collect()),
            Distribution::Normal(scale) => theta((0..dimension).map(|_| scale * normal(rng)).collect()),
            Distribution::Pilot(pilot) => pilot.draw(rng),
            Distribution::Known(known) => known.means.clone(),
        }
    }

    /// Every part is drawn, centred and scaled to variance 1 over the arms, and then weighted by the root of its share. The sum is scaled
    /// to the spread, and shifted so that the threshold is the quantile of the means that `above` says.
    fn expected(&self, expectation: &Expectation, rng: &mut Rng) -> Vec<f64> {
        let Expectation { explained, linear_share, spread, above } = *expectation;
        let n_arms = self.arms.n_arms();
        let mut sum: Vec<f64> = vec![0.0; n_arms];
        let shares = [explained * linear_share, explained * (1.0 - linear_share), 1.0 - explained];
        let own = (0..n_arms).map(|_| normal(rng)).collect();
        for (part, share) in [self.linear(rng), self.smooth(rng), own].into_iter().zip(shares) {
            for (sum, value) in sum.iter_mut().zip(unit(part)) {
                *sum += share.sqrt() * value;
            }
        }
        let mut means = unit(sum);
        if n_arms == 1 {
            // One arm does not differ from others, so the spread is that of its mean.
            return vec![self.threshold + spread * normal(rng)];
        }
        let mut ascending = means.clone();
        ascending.sort_unstable_by(f64::total_cmp);
        let bar = quantile(&ascending, 1.0 - above, uniform(rng));
        for mean in &mut means {
            *mean = self.threshold + spread * (*mean - bar);
        }
        means
    }

    /// Xβ with β ~ N(0, I); 0 without features.
    fn linear(&self, rng: &mut Rng) -> Vec<f64> {
        let weights: Vec<f64> = (0..self.arms.dimension().unwrap_or(0)).map(|_| normal(rng)).collect();
        self.arms.times(&weights).unwrap_or_else(|| vec![0.0; self.arms.n_arms()])
    }

    /// A Gaussian process of kernel exp(−‖x − x′‖²/(2d)), the mixed model's: Σ cos(wᵀx + b) with w ~ N(0, I/d) and b uniform.
    fn smooth(&self, rng: &mut Rng) -> Vec<f64> {
        let mut sum = vec![0.0; self.arms.n_arms()];
        let Some(d) = self.arms.dimension() else { return sum };
        let scale = 1.0 / (d as f64).sqrt();
        for _ in 0..N_WAVES {
            let weights: Vec<f64> = (0..d).map(|_| scale * normal(rng)).collect();
            let phase = 0.5 * TAU * uniform(rng);
            let angles = self.arms.times(&weights).expect("there are features");
            sum.iter_mut().zip(angles).for_each(|(sum, angle)| *sum += (angle + phase).cos());
        }
        sum
    }
}

/// The values centred and scaled to variance 1; 0 if they do not differ.
fn unit(mut values: Vec<f64>) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    for value in &mut values {
        *value -= mean;
    }
    let variance = values.iter().map(|value| value * value).sum::<f64>() / n;
    let scale = if variance > 1e-20 { 1.0 / variance.sqrt() } else { 0.0 };
    for value in &mut values {
        *value *= scale;
    }
    values
}

/// The `share` quantile of K ascending values. The i-th of them, from 0, is the (i + ½)/K quantile, and there are straight lines in
/// between. `jitter`, uniform on [−1, 1], moves `share` by up to 1/(2K), so that the quantile is anywhere between two values.
fn quantile(ascending: &[f64], share: f64, jitter: f64) -> f64 {
    let last = ascending.len() - 1;
    let place = (share * ascending.len() as f64 - 0.5 + 0.5 * jitter).clamp(0.0, last as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the last position")]
    let below = (place as usize).min(last.saturating_sub(1));
    let part = place - below as f64;
    ascending[below] + part * (ascending[(below + 1).min(last)] - ascending[below])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Prior;
    use cutline::{Purpose, stream};
    use nalgebra::{DMatrix, DVector};

    fn arms(n_arms: usize, dimension: usize) -> Arms {
        let mut rng = stream(2, Purpose::Instance, 0);
        let values: Vec<f64> = (0..n_arms * dimension).map(|_| 100.0 + 7.0 * normal(&mut rng)).collect();
        Arms::from_slice(&values, dimension).unwrap()
    }

    fn truths(arms: &Arms, expectation: Expectation) -> Truths {
        Prior::expected(expectation).unwrap().truths(arms, 3.0).unwrap()
    }

    /// R² of least squares on the features and a level.
    fn explained_by_a_line(arms: &Arms, means: &[f64]) -> f64 {
        let d = arms.dimension().unwrap();
        let rows: Vec<Vec<f64>> = (0..arms.n_arms()).map(|arm| arms.row(arm).unwrap()).collect();
        let x = DMatrix::from_fn(arms.n_arms(), d + 1, |i, j| if j < d { rows[i][j] - 100.0 } else { 1.0 });
        let y = DVector::from_column_slice(means);
        let fit = &x * x.clone().svd(true, true).solve(&y, 1e-12).unwrap();
        let residual = (&y - fit).norm_squared();
        1.0 - residual / y.add_scalar(-y.mean()).norm_squared()
    }

    /// In every draw the spread is as stated, and so is the number of arms above, to within one arm.
    #[test]
    fn spread_and_share_above_are_as_stated() {
        let arms = arms(90, 3);
        for (run, above) in [0.5, 0.1, 0.9, 0.0, 1.0, 0.25].into_iter().enumerate() {
            let truths = truths(&arms, Expectation { spread: 2.5, above, ..Expectation::default() });
            let means = truths.draw(&mut stream(1, Purpose::Instance, run as u64));
            let mean = means.iter().sum::<f64>() / 90.0;
            let deviation = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 90.0).sqrt();
            assert!((deviation - 2.5).abs() < 1e-9, "{deviation}");
            let count = means.iter().filter(|&&mean| mean >= 3.0).count() as f64;
            assert!((count - 90.0 * above).abs() <= 1.0, "{count} of 90 above, not {above}");
        }
    }

    /// R² of a line over 200 draws: 1 where all is linear; about d/(K − 1) where nothing is explained; `explained` for linear and own
    /// parts, which are not quite orthogonal in a draw. The standard error of a mean is at most 0.1/√200 = 0.007; tolerance 0.03.
    #[test]
    fn shares_are_as_stated() {
        let arms = arms(120, 3);
        for (explained, linear_share, expected) in
            [(1.0, 1.0, 1.0), (0.0, 0.3, 0.025), (0.6, 1.0, 0.61), (0.3, 1.0, 0.32)]
        {
            let truths = truths(&arms, Expectation { explained, linear_share, ..Expectation::default() });
            let draw = |run| explained_by_a_line(&arms, &truths.draw(&mut stream(1, Purpose::Instance, run)));
            let mean = (0..200).map(draw).sum::<f64>() / 200.0;
            assert!((mean - expected).abs() < 0.03, "{explained}, {linear_share}: R² = {mean}, not {expected}");
        }
    }

    /// The covariance of the smooth part is `N_WAVES`/2 times the kernel: over n = 20,000 draws the standard error of a product is at most
    /// √2·`N_WAVES`/2/√n; 5 of them, so that one of the 6 numbers is off for one seed in 3·10⁵.
    #[test]
    fn the_smooth_part_has_its_kernel() {
        let arms = Arms::from_rows(&[[0.0, 1.0], [1.0, 0.0], [4.0, 2.0]]).unwrap();
        let truths = truths(&arms, Expectation::default());
        let rows: Vec<Vec<f64>> = (0..3).map(|arm| truths.arms.row(arm).unwrap()).collect();
        let n = 20_000;
        let mut sums = [[0.0; 3]; 3];
        for run in 0..n {
            let f = truths.smooth(&mut stream(4, Purpose::Instance, run));
            (0..3).for_each(|i| (0..3).for_each(|j| sums[i][j] += f[i] * f[j]));
        }
        let scale = N_WAVES as f64 / 2.0;
        for i in 0..3 {
            for j in 0..3 {
                let distance2: f64 = rows[i].iter().zip(&rows[j]).map(|(a, b)| (a - b).powi(2)).sum();
                let (found, expected) = (sums[i][j] / n as f64 / scale, (-distance2 / 4.0).exp());
                assert!((found - expected).abs() < 5.0 * (2.0 / n as f64).sqrt(), "{i} {j}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn odd_arms_have_truths() {
        let rng = || stream(1, Purpose::Instance, 0);
        let one = truths(&arms(1, 2), Expectation::default()).draw(&mut rng());
        assert!(one.len() == 1 && one[0] != 3.0 && one[0].is_finite());
        let equal = Arms::from_slice(&[7.0; 8], 2).unwrap();
        let bare = Arms::without_features(4).unwrap();
        for arms in [equal, bare] {
            let means = truths(&arms, Expectation { explained: 1.0, ..Expectation::default() }).draw(&mut rng());
            assert!(means.iter().all(|mean| mean.is_finite()), "nothing differs, and nothing is divided by 0");
            let means = truths(&arms, Expectation::default()).draw(&mut rng());
            assert!(means[0] != means[1] && means.iter().all(|mean| mean.is_finite()));
        }
    }

    #[test]
    fn quantiles_are_between_the_values() {
        let values = [1.0, 2.0, 4.0, 8.0];
        for (share, jitter, expected) in
            [(0.5, 0.0, 3.0), (0.5, 1.0, 4.0), (0.5, -1.0, 2.0), (0.0, 0.0, 1.0), (1.0, 0.5, 8.0)]
        {
            assert_eq!(quantile(&values, share, jitter), expected, "{share} {jitter}");
        }
        assert_eq!(quantile(&[5.0], 0.5, 0.3), 5.0);
    }
}
