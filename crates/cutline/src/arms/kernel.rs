//! Kernels: the covariance of two means as a function of the distance r between the features of their arms.

use super::Arms;
use super::covariance::{CovarianceError, check_size};
use crate::Range;

/// A stationary kernel, with variance 1 and a length ℓ. See Rasmussen & Williams (2006), chapter 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// exp(−r²/(2ℓ²)): the means are a very smooth function of the features.
    Rbf,
    /// (1 + √5 r/ℓ + 5r²/(3ℓ²)) exp(−√5 r/ℓ): the means are a rougher function, which has two derivatives.
    Matern52,
}

impl Kernel {
    /// The kernels by the names that files and the command line use.
    pub const ALL: &[(&str, Self)] = &[("rbf", Self::Rbf), ("matern52", Self::Matern52)];

    /// The lengths that a kernel may have.
    pub const LENGTH: Range = Range::new(1e-100, 1e100);

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rbf => "rbf",
            Self::Matern52 => "matern52",
        }
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, CovarianceError> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, kernel)| *kernel).ok_or_else(|| CovarianceError::UnknownKernel(name.into()))
    }

    /// The names as a list in a sentence.
    pub(super) fn names() -> String {
        Self::ALL.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
    }

    /// The covariance at a distance of r, for a length of 1.
    fn at(self, r: f64) -> f64 {
        match self {
            Self::Rbf => (-0.5 * r * r).exp(),
            Self::Matern52 => {
                let s = 5.0_f64.sqrt() * r;
                // Beyond this the exponential is 0, and s² might be infinite.
                if s > 1e3 { 0.0 } else { (1.0 + s + s * s / 3.0) * (-s).exp() }
            }
        }
    }
}

impl Arms {
    /// The same arms with means that are a function of the features, drawn from a Gaussian process with this kernel. The length is in units
    /// of the features; [standardise](Arms::standardised) features whose units differ first.
    ///
    /// ```
    /// use cutline::{Arms, Kernel};
    ///
    /// let points = Arms::from_rows(&[[0.0], [0.1], [0.9]])?;
    /// let arms = points.with_kernel(Kernel::Rbf, 0.15)?;
    /// assert_eq!((arms.n_arms(), arms.dimension()), (3, Some(3)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the arms have no features or are too many, or the length is not between 1e-100 and 1e100.
    pub fn with_kernel(&self, kernel: Kernel, length: f64) -> Result<Self, CovarianceError> {
        if !Kernel::LENGTH.contains(length) {
            return Err(CovarianceError::Length(length));
        }
        let features = self.features.as_ref().filter(|features| features.covariance.is_none());
        let features = features.ok_or(CovarianceError::NoFeatures)?;
        let n_arms = self.n_arms;
        check_size(n_arms)?;
        let rows: Vec<Vec<f64>> = (0..n_arms).map(|arm| features.row(arm).iter().collect()).collect();
        let mut covariance = vec![1.0; n_arms * n_arms];
        for arm in 0..n_arms {
            for other in 0..arm {
                let squares = rows[arm].iter().zip(&rows[other]).map(|(a, b)| ((a - b) / length).powi(2));
                let value = kernel.at(squares.sum::<f64>().sqrt());
                covariance[arm * n_arms + other] = value;
                covariance[other * n_arms + arm] = value;
            }
        }
        Self::from_covariance(&covariance, n_arms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covariance(kernel: Kernel, length: f64, rows: &[[f64; 2]]) -> Vec<f64> {
        let arms = Arms::from_rows(rows).unwrap().with_kernel(kernel, length).unwrap();
        arms.features().unwrap().covariance.as_ref().unwrap().to_vec()
    }

    /// The values of `RBF(0.7)` and `Matern(0.7, nu=2.5)` of scikit-learn 1.9.1.
    #[test]
    fn kernels_are_those_of_scikit_learn() {
        for (kernel, expected) in [
            (Kernel::Rbf, [0.7748374288832492, 0.006084316913218737, 0.007090640586340643]),
            (Kernel::Matern52, [0.6980022653648457, 0.019880562752207585, 0.021602622852503358]),
        ] {
            let found = covariance(kernel, 0.7, &[[0.0, 0.0], [0.3, -0.4], [2.0, 1.0]]);
            for (found, expected) in [found[1], found[2], found[5]].into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-15, "{kernel:?}: {found} {expected}");
            }
            assert_eq!(Kernel::ALL.iter().find(|(_, other)| *other == kernel).unwrap().0, kernel.name());
        }
    }

    #[test]
    fn bad_lengths_and_arms_are_refused() {
        let arms = Arms::from_rows(&[[0.0], [1.0]]).unwrap();
        for length in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(arms.with_kernel(Kernel::Rbf, length), Err(CovarianceError::Length(_))), "{length}");
        }
        let bare = Arms::without_features(2).unwrap();
        assert_eq!(bare.with_kernel(Kernel::Rbf, 1.0).unwrap_err(), CovarianceError::NoFeatures);
        let twice = arms.with_kernel(Kernel::Rbf, 1.0).unwrap().with_kernel(Kernel::Rbf, 1.0);
        assert_eq!(twice.unwrap_err(), CovarianceError::NoFeatures);
        let many = Arms::from_slice(&vec![0.0; 5_001], 1).unwrap().with_kernel(Kernel::Rbf, 1.0);
        assert_eq!(many.unwrap_err(), CovarianceError::TooMany(5_001));
    }

    #[test]
    fn arms_infinitely_far_apart_are_unrelated() {
        for kernel in [Kernel::Rbf, Kernel::Matern52] {
            let found = covariance(kernel, 1e-100, &[[0.0, 0.0], [1e300, -1e300], [1e300, -1e300]]);
            assert_eq!(found, [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], "{kernel:?}");
        }
    }
}
