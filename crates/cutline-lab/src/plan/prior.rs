//! The distribution of the true means before a campaign: every planned run draws its truth from it.

use super::Pilot;
use crate::source::RandomNumbers;
use cutline::{Arm, Arms, Range, Rng};
use std::f64::consts::TAU;
use std::sync::Arc;
use thiserror::Error;

/// What is expected of the arms, in the words of the mixed model: μ = level + linear part + smooth part + own part.
///
/// | field | default | meaning | range |
/// |---|---|---|---|
/// | `explained` | 0.7 | the share of the differences between the arms (of their variance) that the features explain | 0 to 1 |
/// | `linear_share` | 0.7 | the share of what the features explain that is linear; the rest is a smooth curve | 0 to 1 |
/// | `spread` | 1 | the standard deviation of the arms' true means | 1e-100 to 1e100 |
/// | `above` | 0.5 | the share of the arms above the threshold | 0 to 1 |
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the table above says it")]
pub struct Expectation {
    pub explained: f64,
    pub linear_share: f64,
    pub spread: f64,
    pub above: f64,
}

impl Default for Expectation {
    fn default() -> Self {
        Self { explained: 0.7, linear_share: 0.7, spread: 1.0, above: 0.5 }
    }
}

/// σ and the spread of the means, from two of σ, σ/spread and the spread; by default σ/spread = ½ and the spread is 1.
///
/// ```
/// use cutline_lab::noise_and_spread;
///
/// assert_eq!(noise_and_spread(None, None, None), Ok((0.5, 1.0)));
/// assert_eq!(noise_and_spread(Some(3.0), None, None), Ok((3.0, 6.0)));
/// assert_eq!(noise_and_spread(Some(3.0), None, Some(12.0)), Ok((3.0, 12.0)));
/// assert_eq!(noise_and_spread(None, Some(2.0), Some(12.0)), Ok((24.0, 12.0)));
/// assert!(noise_and_spread(Some(3.0), Some(2.0), Some(12.0)).is_err());
/// ```
///
/// # Errors
/// If all three are given, or a number is not between 1e-100 and 1e100.
pub fn noise_and_spread(noise: Option<f64>, ratio: Option<f64>, spread: Option<f64>) -> Result<(f64, f64), PriorError> {
    if noise.is_some() && ratio.is_some() && spread.is_some() {
        return Err(PriorError::Overdetermined);
    }
    let ratio = ratio.unwrap_or(0.5);
    let checked = |name, value: f64| {
        if Range::NOISE_SCALE.contains(value) { Ok(value) } else { Err(PriorError::Noise { name, value }) }
    };
    checked("noise scale", noise.unwrap_or(1.0))?;
    checked("noise ratio", ratio)?;
    let spread = spread.unwrap_or_else(|| noise.map_or(1.0, |noise| noise / ratio));
    if !Range::NOISE_SCALE.contains(spread) {
        return Err(PriorError::Spread(spread));
    }
    Ok((checked("noise scale", noise.unwrap_or(ratio * spread))?, spread))
}

/// The distribution that the true means are drawn from.
///
/// ```
/// use cutline_lab::{Expectation, Prior};
///
/// assert_eq!("normal:0.5".parse(), Prior::normal(0.5));
/// assert!(Prior::normal(-1.0).is_err());
/// assert!(Prior::expected(Expectation { explained: 1.5, ..Expectation::default() }).is_err());
/// # Ok::<(), cutline_lab::PriorError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prior(Distribution);

#[derive(Clone, Debug)]
enum Distribution {
    Expected(Expectation),
    Uniform,
    Normal(f64),
    Pilot(Arc<Pilot>),
    Known(Arc<Known>),
}

/// True means, and the rewards that campaigns get first.
#[derive(Debug)]
struct Known {
    means: Vec<f64>,
    pilot: Vec<(Arm, f64)>,
}

/// Why a prior was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PriorError {
    /// There is no prior of that name.
    #[error("unknown prior `{0}`; use `uniform` or `normal:s`")]
    Unknown(String),
    /// A normal prior without a scale, or with one that is not a number.
    #[error("a normal prior needs its standard deviation s: `normal:s`, as in `normal:0.5`")]
    NoScale,
    /// The scale of a normal prior is not a positive number.
    #[error("the prior's scale must be a number between 1e-100 and 1e100, not {0}")]
    Scale(f64),
    /// A share is not between 0 and 1.
    #[error("`{name}` is a share: it must be a number between 0 and 1, not {value}")]
    Share {
        /// The field of [`Expectation`].
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Noise, their ratio and the spread are all given.
    #[error("noise, noise ratio and spread are all given, and two of them determine the third; leave one out")]
    Overdetermined,
    /// The noise or its ratio to the spread is not a positive number.
    #[error("the {name} must be a number between 1e-100 and 1e100, not {value}")]
    Noise {
        /// Which of them.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The spread is not a positive number.
    #[error("the spread must be a number between 1e-100 and 1e100, not {0}")]
    Spread(f64),
    /// θ is to be drawn, but the arms have no features.
    #[error("the arms have no features, so there is no θ to draw")]
    NoFeatures,
    /// The known means are not one per arm.
    #[error("there are {found} means for {expected} arms; give one per arm")]
    Means {
        /// The number of arms.
        expected: usize,
        /// The number of means.
        found: usize,
    },
    /// The precision is so large that any verdicts would meet the goal.
    #[error(
        "the precision {precision} leaves nothing to decide: with a spread of {spread}, {within:.0} % of the arms lie within it of the \
         threshold, where either verdict is right; threshold, precision, spread and noise are in the units of the rewards"
    )]
    NothingToDecide {
        /// ε.
        precision: f64,
        /// The spread of the means.
        spread: f64,
        /// The percentage of the arms within ε of the threshold.
        within: f64,
    },
    /// θ is drawn on features that are so large that means overflow.
    #[error("the features are too large for this prior; scale them down")]
    TooLarge,
}

impl Prior {
    /// Means with these shares of a linear, a smooth and an own part, on the standardised features.
    ///
    /// # Errors
    /// If a share is not between 0 and 1, or the spread is not between 1e-100 and 1e100.
    pub fn expected(expectation: Expectation) -> Result<Self, PriorError> {
        let Expectation { explained, linear_share, spread, above } = expectation;
        for (name, value) in [("explained", explained), ("linear share", linear_share), ("above", above)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(PriorError::Share { name, value });
            }
        }
        if !Range::NOISE_SCALE.contains(spread) {
            return Err(PriorError::Spread(spread));
        }
        Ok(Self(Distribution::Expected(expectation)))
    }

    /// μ = Xθ with θ from U([−1, 1]^d), as in the paper, on the features as they are.
    #[must_use]
    pub fn uniform() -> Self {
        Self(Distribution::Uniform)
    }

    /// μ = Xθ with θ from N(0, s²I) and s = `scale`, on the features as they are.
    ///
    /// # Errors
    /// If `scale` is not between 1e-100 and 1e100.
    pub fn normal(scale: f64) -> Result<Self, PriorError> {
        if !Range::NOISE_SCALE.contains(scale) {
            return Err(PriorError::Scale(scale));
        }
        Ok(Self(Distribution::Normal(scale)))
    }

    /// The posterior given a pilot. Every campaign gets the pilot's rewards before its first ask.
    #[must_use]
    pub fn pilot(pilot: Pilot) -> Self {
        Self(Distribution::Pilot(Arc::new(pilot)))
    }

    /// These means in every run, and a pilot, which may be empty: to compare a plan with what really happens.
    #[must_use]
    pub fn known(means: Vec<f64>, pilot: Vec<(Arm, f64)>) -> Self {
        Self(Distribution::Known(Arc::new(Known { means, pilot })))
    }

    /// The rewards that every campaign gets first; none unless there is a pilot.
    pub(super) fn rewards(&self) -> &[(Arm, f64)] {
        match &self.0 {
            Distribution::Pilot(pilot) => pilot.rewards(),
            Distribution::Known(known) => &known.pilot,
            _ => &[],
        }
    }

    /// The arms that every campaign has under measurement from the start.
    pub(super) fn open(&self) -> &[Arm] {
        match &self.0 {
            Distribution::Pilot(pilot) => pilot.open(),
            _ => &[],
        }
    }

    /// The arms that cannot be measured.
    pub(super) fn withdrawn(&self) -> &[Arm] {
        match &self.0 {
            Distribution::Pilot(pilot) => pilot.withdrawn(),
            _ => &[],
        }
    }

    /// The spread of the means, where it was stated.
    pub(super) fn spread(&self) -> Option<f64> {
        match &self.0 {
            Distribution::Expected(expectation) => Some(expectation.spread),
            _ => None,
        }
    }

    /// What draws true means on these arms; `threshold` is τ.
    pub(super) fn truths(&self, arms: &Arms, threshold: f64) -> Result<Truths, PriorError> {
        let is_linear = matches!(self.0, Distribution::Uniform | Distribution::Normal(_));
        if is_linear && arms.dimension().is_none() {
            return Err(PriorError::NoFeatures);
        }
        if let Distribution::Known(known) = &self.0
            && known.means.len() != arms.n_arms()
        {
            return Err(PriorError::Means { expected: arms.n_arms(), found: known.means.len() });
        }
        let arms = if is_linear { arms.clone() } else { arms.clone().standardised() };
        Ok(Truths { prior: self.clone(), arms, threshold })
    }
}

/// Reads `uniform`, or `normal:s` for [`Prior::normal`].
impl std::str::FromStr for Prior {
    type Err = PriorError;

    fn from_str(text: &str) -> Result<Self, PriorError> {
        match text.split_once(':') {
            None if text == "uniform" => Ok(Self::uniform()),
            None if text == "normal" => Err(PriorError::NoScale),
            Some(("normal", scale)) => Self::normal(scale.parse().map_err(|_| PriorError::NoScale)?),
            _ => Err(PriorError::Unknown(text.into())),
        }
    }
}

impl PartialEq for Prior {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Distribution::Expected(this), Distribution::Expected(other)) => this == other,
            (Distribution::Uniform, Distribution::Uniform) => true,
            (Distribution::Normal(this), Distribution::Normal(other)) => this == other,
            (Distribution::Pilot(this), Distribution::Pilot(other)) => this.rewards() == other.rewards(),
            (Distribution::Known(this), Distribution::Known(other)) => {
                (&this.means, &this.pilot) == (&other.means, &other.pilot)
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Prior {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Distribution::Expected(expectation) => {
                let Expectation { explained, linear_share, spread, above } = expectation;
                write!(
                    f,
                    "features explain {explained} of the differences ({linear_share} of that linear), spread {spread}, {above} \
                     of the arms above"
                )
            }
            Distribution::Uniform => write!(f, "θ uniform on [−1, 1]"),
            Distribution::Normal(scale) => write!(f, "θ from N(0, {scale}² I)"),
            Distribution::Pilot(pilot) => write!(f, "{pilot}"),
            Distribution::Known(_) => write!(f, "the true means are known"),
        }
    }
}

/// Draws true means.
#[derive(Clone, Debug)]
pub(super) struct Truths {
    prior: Prior,
    /// Standardised, unless θ is drawn on the features as they are.
    arms: Arms,
    threshold: f64,
}

/// The number of cosines whose sum is a draw of the smooth part (Rahimi & Recht 2007).
const N_WAVES: usize = 256;

impl Truths {
    /// The means of all arms.
    pub(super) fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let dimension = self.arms.dimension().unwrap_or(0);
        let theta = |theta: Vec<f64>| self.arms.times(&theta).expect("checked to have features");
        match &self.prior.0 {
            Distribution::Expected(expectation) => self.expected(expectation, rng),
            Distribution::Uniform => theta((0..dimension).map(|_| rng.uniform()).collect()),
            Distribution::Normal(scale) => theta((0..dimension).map(|_| scale * rng.normal()).collect()),
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
        let own = (0..n_arms).map(|_| rng.normal()).collect();
        for (part, share) in [self.linear(rng), self.smooth(rng), own].into_iter().zip(shares) {
            for (sum, value) in sum.iter_mut().zip(unit(part)) {
                *sum += share.sqrt() * value;
            }
        }
        let mut means = unit(sum);
        if n_arms == 1 {
            // One arm does not differ from others, so the spread is that of its mean.
            return vec![self.threshold + spread * rng.normal()];
        }
        let mut ascending = means.clone();
        ascending.sort_unstable_by(f64::total_cmp);
        let bar = quantile(&ascending, 1.0 - above, rng.uniform());
        for mean in &mut means {
            *mean = self.threshold + spread * (*mean - bar);
        }
        means
    }

    /// Xβ with β ~ N(0, I); 0 without features.
    fn linear(&self, rng: &mut Rng) -> Vec<f64> {
        let weights: Vec<f64> = (0..self.arms.dimension().unwrap_or(0)).map(|_| rng.normal()).collect();
        self.arms.times(&weights).unwrap_or_else(|| vec![0.0; self.arms.n_arms()])
    }

    /// A Gaussian process of kernel exp(−‖x − x′‖²/(2d)), the mixed model's: Σ cos(wᵀx + b) with w ~ N(0, I/d) and b uniform.
    fn smooth(&self, rng: &mut Rng) -> Vec<f64> {
        let mut sum = vec![0.0; self.arms.n_arms()];
        let Some(d) = self.arms.dimension() else { return sum };
        let scale = 1.0 / (d as f64).sqrt();
        for _ in 0..N_WAVES {
            let weights: Vec<f64> = (0..d).map(|_| scale * rng.normal()).collect();
            let phase = 0.5 * TAU * rng.uniform();
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
    use cutline::{Purpose, stream};
    use nalgebra::{DMatrix, DVector};

    fn arms(n_arms: usize, dimension: usize) -> Arms {
        let mut rng = stream(2, Purpose::Instance, 0);
        let values: Vec<f64> = (0..n_arms * dimension).map(|_| 100.0 + 7.0 * rng.normal()).collect();
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

    #[test]
    fn expectations_out_of_range_are_refused() {
        for bad in [-0.1, 1.1, f64::NAN] {
            for expectation in [
                Expectation { explained: bad, ..Expectation::default() },
                Expectation { linear_share: bad, ..Expectation::default() },
                Expectation { above: bad, ..Expectation::default() },
            ] {
                assert!(matches!(Prior::expected(expectation), Err(PriorError::Share { .. })), "{expectation:?}");
            }
        }
        for spread in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Prior::expected(Expectation { spread, ..Expectation::default() }).is_err());
            assert!(
                noise_and_spread(None, None, Some(spread)).is_err()
                    && noise_and_spread(None, Some(spread), None).is_err()
            );
            assert!(noise_and_spread(Some(spread), None, None).is_err() && Prior::normal(spread).is_err());
        }
    }
}
