//! Instances of the literature.

use crate::Truth;
use crate::instance::julia::MersenneTwister;
use cutline::Arms;

impl Truth {
    /// The means of problem 1, 2 or 3 of Locatelli, Gutzeit & Carpentier (2016), for Bernoulli rewards and τ = ½; `None` for another
    /// number.
    #[must_use]
    pub fn locatelli(problem: u32) -> Option<Self> {
        let means: [f64; 10] = match problem {
            1 => [0.1, 0.1, 0.1, 0.35, 0.45, 0.55, 0.65, 0.9, 0.9, 0.9],
            2 => [0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8],
            3 => {
                let power = |i: i32| 0.2_f64.powi(i);
                let (low, high) = (|i| 0.4 - power(i), |i| 0.6 + power(5 - i));
                [low(1), low(2), low(3), low(4), 0.45, 0.55, high(1), high(2), high(3), high(4)]
            }
            _ => return None,
        };
        Some(Self::without_features(means.to_vec()))
    }

    /// Means −`gap` for the first ⌊K/3⌋ arms and +`gap` for the others: a step through τ = 0 for rules that know that means do not
    /// decrease.
    ///
    /// # Panics
    /// If there are no arms.
    #[must_use]
    pub fn step(n_arms: usize, gap: f64) -> Self {
        Self::without_features((0..n_arms).map(|arm| if arm < n_arms / 3 { -gap } else { gap }).collect())
    }

    /// The instance "OSI" of Tirinzoni & Degenne (2022): 50 arms with 20 features, τ = 0. It is drawn by Julia's
    /// `MersenneTwister(123)`, as their `linear_osi.jl` does.
    ///
    /// θ₁..₁₀ = ±(0.1u + 0.1) and θ₁₁..₂₀ = u − 1 with u uniform on [0, 1). The first ten arms are e₁..e₁₀; the others have direction 2u − 1
    /// and length 1, drawn again until |xᵀθ| ≥ ½.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn osi() -> Self {
        const DIMENSION: usize = 20;
        let mut numbers = MersenneTwister::new(123);
        let mut theta: Vec<f64> = (0..10).map(|_| 0.1 * numbers.double() + 0.1).collect();
        for value in &mut theta {
            *value *= (2.0 * numbers.double() - 1.0).signum();
        }
        theta.extend((0..10).map(|_| numbers.double() - 1.0));
        let basis = (0..10).map(|i| (0..DIMENSION).map(|j| f64::from(u8::from(i == j))).collect());
        let mut rows: Vec<Vec<f64>> = basis.collect();
        while rows.len() < 50 {
            let mut row: Vec<f64> = (0..DIMENSION).map(|_| 2.0 * numbers.double() - 1.0).collect();
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            for x in &mut row {
                *x /= length;
            }
            if row.iter().zip(&theta).map(|(x, t)| x * t).sum::<f64>().abs() >= 0.5 {
                rows.push(row);
            }
        }
        Self::Linear(Arms::from_rows(&rows).expect("finite rows of one length"), theta)
    }

    /// Arms without features.
    fn without_features(means: Vec<f64>) -> Self {
        Self::Means(Arms::without_features(means.len()).expect("at least one arm"), means)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_by_hand() {
        let means = |truth: Option<Truth>| match truth {
            Some(Truth::Means(_, means)) => means,
            _ => panic!("means"),
        };
        let third = [0.2, 0.36, 0.392, 0.3984, 0.45, 0.55, 0.6016, 0.608, 0.64, 0.8];
        assert!(means(Truth::locatelli(3)).iter().zip(third).all(|(mean, by_hand)| (mean - by_hand).abs() < 1e-15));
        assert!(Truth::locatelli(0).is_none() && Truth::locatelli(4).is_none());
        assert_eq!(means(Some(Truth::step(8, 0.25))), [-0.25, -0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25]);
    }
}
