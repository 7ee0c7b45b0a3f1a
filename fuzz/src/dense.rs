//! What every estimator estimates, by its definition and dense linear algebra.

use cutline::estimators::Explained;
use cutline::{Arm, Arms};
use nalgebra::{DMatrix, DVector};

/// All rewards of some arms.
pub(crate) struct Dense<'a> {
    pub(crate) arms: &'a Arms,
    pub(crate) rewards: &'a [(Arm, f64)],
}

/// Means and variances in units of σ².
pub(crate) type Moments = (Vec<f64>, Vec<f64>);

/// The variances that the mixed model has learnt, in its own words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Learnt {
    pub(crate) explained: Explained,
    /// ω, the variance of the means in units of σ².
    pub(crate) scale: f64,
}

impl Dense<'_> {
    fn n_arms(&self) -> usize {
        self.arms.n_arms()
    }

    /// The rows of the arms' features.
    fn features(arms: &Arms) -> DMatrix<f64> {
        let dimension = arms.dimension().unwrap_or(0);
        let rows: Vec<Vec<f64>> = (0..arms.n_arms()).map(|arm| arms.row(arm).unwrap_or_default()).collect();
        DMatrix::from_fn(arms.n_arms(), dimension, |arm, column| rows[arm][column])
    }

    pub(crate) fn counts(&self) -> Vec<u32> {
        let count = |arm| self.rewards.iter().filter(|(of, _)| *of == arm).count();
        (0..self.n_arms()).map(|arm| u32::try_from(count(arm)).expect("few rewards")).collect()
    }

    /// The mean of each arm's rewards; 0 without rewards.
    pub(crate) fn averages(&self) -> Vec<f64> {
        let sum = |arm| self.rewards.iter().filter(|(of, _)| *of == arm).map(|(_, reward)| reward).sum::<f64>();
        self.counts().iter().enumerate().map(|(arm, &n)| if n == 0 { 0.0 } else { sum(arm) / f64::from(n) }).collect()
    }

    fn own_variances(&self) -> Vec<f64> {
        self.counts().iter().map(|&n| 1.0 / f64::from(n)).collect()
    }

    pub(crate) fn sample_means(&self) -> Moments {
        (self.averages(), self.own_variances())
    }

    /// μᵢ = max over s ≤ i of min over t ≥ i of the mean of all rewards of arms s to t. An arm without rewards has the mean of the one before
    /// it, or of the first one with rewards.
    pub(crate) fn isotonic(&self) -> Moments {
        let (counts, averages) = (self.counts(), self.averages());
        let measured: Vec<Arm> = (0..self.n_arms()).filter(|&arm| counts[arm] > 0).collect();
        let pooled = |from: usize, to: usize| {
            let n: f64 = measured[from..=to].iter().map(|&arm| f64::from(counts[arm])).sum();
            measured[from..=to].iter().map(|&arm| f64::from(counts[arm]) * averages[arm]).sum::<f64>() / n
        };
        let fitted = |i: usize| {
            let least = |from: usize| (i..measured.len()).map(|to| pooled(from, to)).fold(f64::INFINITY, f64::min);
            (0..=i).map(least).fold(f64::NEG_INFINITY, f64::max)
        };
        let of = |arm: Arm| {
            let before = measured.iter().rposition(|&other| other <= arm);
            before.or((!measured.is_empty()).then_some(0)).map_or(0.0, fitted)
        };
        ((0..self.n_arms()).map(of).collect(), self.own_variances())
    }

    /// θ̂ of min Σ (r − c − xᵀθ)² + λ‖θ‖², by QR; the means are c + Xθ̂ and the variances xᵀV⁻¹x.
    pub(crate) fn ridge(&self, lambda: f64, centre: f64) -> Moments {
        let x = Self::features(self.arms);
        let (n, d) = (self.rewards.len(), x.ncols());
        let a = DMatrix::from_fn(n + d, d, |i, j| match self.rewards.get(i) {
            Some(&(arm, _)) => x[(arm, j)],
            None => f64::from(u8::from(i - n == j)) * lambda.sqrt(),
        });
        let y = DVector::from_fn(n + d, |i, _| self.rewards.get(i).map_or(0.0, |&(_, reward)| reward - centre));
        let (q, r) = a.qr().unpack();
        let theta = r.solve_upper_triangular(&(q.transpose() * y)).expect("λ is above 0");
        let means = (&x * theta).iter().map(|mean| mean + centre).collect();
        // xᵀV⁻¹x = ‖R⁻ᵀx‖².
        let of = |arm: Arm| {
            let row = x.row(arm).transpose();
            r.transpose().solve_lower_triangular(&row).expect("λ is above 0").norm_squared()
        };
        (means, (0..self.n_arms()).map(of).collect())
    }

    /// The Gaussian posterior of the mixed model without its smooth part, at the variances that it has learnt. The linear part is that of the
    /// standardised features and a level.
    pub(crate) fn mixed(&self, learnt: Learnt, threshold: f64) -> Moments {
        let z = Self::features(&self.arms.clone().standardised());
        let d = if z.ncols() == 0 { 1.0 } else { z.ncols() as f64 };
        let (counts, averages) = (self.counts(), self.averages());
        let Learnt { explained: Explained { linear, own, .. }, scale } = learnt;
        let n_arms = self.n_arms();
        let prior = DMatrix::from_fn(n_arms, n_arms, |i, j| {
            let related = z.row(i).dot(&z.row(j)) / d + 1.0;
            scale * (linear * related + if i == j { own } else { 0.0 })
        });
        let measured: Vec<Arm> = (0..n_arms).filter(|&arm| counts[arm] > 0).collect();
        let m = measured.len();
        let cross = DMatrix::from_fn(n_arms, m, |i, j| prior[(i, measured[j])]);
        let rewards = DMatrix::from_fn(m, m, |i, j| {
            let noise = if i == j { 1.0 / f64::from(counts[measured[i]]) } else { 0.0 };
            prior[(measured[i], measured[j])] + noise
        });
        let factor = rewards.cholesky().expect("noise on its diagonal");
        let y = DVector::from_fn(m, |i, _| averages[measured[i]] - threshold);
        let means = (&cross * factor.solve(&y)).iter().map(|mean| mean + threshold).collect();
        let posterior = &prior - &cross * factor.solve(&cross.transpose());
        (means, posterior.diagonal().iter().copied().collect())
    }
}
