//! Rates, their intervals and their differences.
//!
//! Own code, because each is a formula of a few lines and no dependency has them; tests compare them with statsmodels.

/// The 97.5 % quantile of the standard normal, for 95 % intervals.
const Z: f64 = 1.959_963_984_540_054;

/// The 99.95 % quantile of the standard normal: the two-sided 99.9 % band.
pub const Z_BAND: f64 = 3.290_526_731_491_926;

/// Wilson's 95 % interval for a rate of `successes` in `n` (Wilson 1927). (0, 1) if `n` is 0.
///
/// ```
/// let (low, high) = cutline::statistics::wilson(10, 100);
/// assert!((low - 0.05523).abs() < 1e-5 && (high - 0.17437).abs() < 1e-5);
/// ```
#[must_use]
pub fn wilson(successes: u64, n: u64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (n as f64, successes as f64 / n as f64);
    let centre = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    let low = if successes == 0 { 0.0 } else { (centre - half) / scale };
    let high = if p == 1.0 { 1.0 } else { (centre + half) / scale };
    (low, high)
}

/// The 95 % interval of the mean of `n` counts with this sum and this sum of squares. (0, ∞) if `n` is 0.
///
/// It holds every μ with |x̄ − μ| ≤ z √(φμ/n): the score interval of a Poisson mean (Brown, Cai & Das Gupta 2003), with
/// the dispersion φ = s²/x̄ of the counts (Wedderburn 1974), because wrong verdicts come in clusters; φ = 1 if all counts
/// are 0.
///
/// ```
/// let (low, high) = cutline::statistics::mean_count(100, 100, 400); // 100 ones in 400: a rate of ¼
/// assert!((low - 0.211).abs() < 1e-3 && (high - 0.296).abs() < 1e-3);
/// ```
#[must_use]
pub fn mean_count(sum: u64, sum_of_squares: u128, n: u64) -> (f64, f64) {
    if n == 0 {
        return (0.0, f64::INFINITY);
    }
    let n = n as f64;
    let mean = sum as f64 / n;
    let variance = (sum_of_squares as f64 / n - mean * mean).max(0.0);
    let dispersion = if sum == 0 { 1.0 } else { variance / mean };
    let centre = mean + Z * Z * dispersion / (2.0 * n);
    let half = Z * (dispersion * mean / n + (Z * dispersion / (2.0 * n)).powi(2)).sqrt();
    // If all counts are 0, `centre` and `half` differ only by rounding.
    (if sum == 0 { 0.0 } else { centre - half }, centre + half)
}

/// The difference of two rates measured on the same `n` runs, with its 95 % interval: `first` runs failed only under the
/// first algorithm, `second` only under the second.
///
/// The interval is that of Agresti & Min (2005): the normal one after ½ is added to each cell of the 2×2 table, which
/// keeps its level also where few runs differ.
#[must_use]
pub fn paired_difference(first: u64, second: u64, n: u64) -> (f64, f64, f64) {
    if n == 0 {
        return (0.0, -1.0, 1.0);
    }
    let difference = (first as f64 - second as f64) / n as f64;
    let (b, c, n) = (first as f64 + 0.5, second as f64 + 0.5, n as f64 + 2.0);
    let centre = (b - c) / n;
    let half = Z * ((b + c) - (b - c).powi(2) / n).sqrt() / n;
    (difference, (centre - half).max(-1.0), (centre + half).min(1.0))
}

/// The z-score of the difference of two rates from independent runs, with the pooled variance; 0 if both are 0 or both are 1.
#[must_use]
pub fn z_score(rate: f64, n: f64, other: f64, m: f64) -> f64 {
    let pooled = (rate * n + other * m) / (n + m);
    let deviation = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    if deviation > 0.0 { (rate - other) / deviation } else { 0.0 }
}

/// The z-score of the difference of two means with these standard errors; 0 if they are equal and exact, infinite if they differ and are
/// exact.
#[must_use]
pub fn z_of_means(mean: f64, error: f64, other: f64, other_error: f64) -> f64 {
    let difference = mean - other;
    if difference == 0.0 { 0.0 } else { difference / error.hypot(other_error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `statsmodels.stats.proportion.proportion_confint(count, nobs, method="wilson")`, version 0.15.
    #[test]
    fn wilson_agrees_with_statsmodels() {
        let table = [
            (0, 10, 0.0, 0.277_532_799_862_889_26),
            (1, 10, 0.017_876_213_095_072_924, 0.404_150_026_795_238_54),
            (10, 100, 0.055_229_137_060_675_09, 0.174_365_661_504_913_48),
            (5_000, 10_000, 0.490_202_061_815_404_77, 0.509_797_938_184_595_2),
            (9_999, 10_000, 0.999_433_731_102_598_7, 0.999_982_347_326_398_9),
            (10, 10, 0.722_467_200_137_110_6, 1.0),
        ];
        for (count, n, low, high) in table {
            let (ours_low, ours_high) = wilson(count, n);
            assert!((ours_low - low).abs() < 1e-12 && (ours_high - high).abs() < 1e-12, "{count} of {n}");
        }
    }

    /// `statsmodels.stats.rates.confint_poisson(sum, n, method="score")`, version 0.15; the sums of squares make φ = 1.
    #[test]
    fn mean_counts_agree_with_statsmodels() {
        let table = [
            (100, 125, 400, 0.20556800108531967, 0.30403564596641564),
            (0, 0, 1_000, 0.0, 0.003841458820694127),
            (2_500, 8_750, 1_000, 2.403903709188331, 2.599937749632363),
        ];
        for (sum, squares, n, low, high) in table {
            let (ours_low, ours_high) = mean_count(sum, squares, n);
            assert!((ours_low - low).abs() < 1e-12 && (ours_high - high).abs() < 1e-12, "{sum} in {n}");
        }
    }

    /// The same mean in clusters of nine has nine times the dispersion, so the interval is about three times as wide.
    #[test]
    fn clusters_widen_the_interval() {
        let width = |squares| {
            let (low, high) = mean_count(900, squares, 10_000);
            high - low
        };
        assert!((width(9 * 900) / width(900 + 81) - 3.0).abs() < 0.05, "{}", width(9 * 900) / width(900 + 81));
        assert_eq!(mean_count(0, 0, 0), (0.0, f64::INFINITY));
        assert_eq!(mean_count(30, 90, 10), (3.0, 3.0), "all counts alike");
    }

    #[test]
    fn the_ends_are_exact() {
        assert_eq!(wilson(0, 50).0, 0.0);
        assert_eq!(wilson(50, 50).1, 1.0);
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }

    /// 10 runs failed only under the first, 30 only under the second, of 1,000: worked out by hand from the formula.
    #[test]
    fn paired_difference_by_hand() {
        let (difference, low, high) = paired_difference(10, 30, 1_000);
        assert!((difference + 0.02).abs() < 1e-15);
        let half = 1.959_963_984_540_054 * (41.0_f64 - 400.0 / 1_002.0).sqrt() / 1_002.0;
        assert!((low - (-20.0 / 1_002.0 - half)).abs() < 1e-15);
        assert!((high - (-20.0 / 1_002.0 + half)).abs() < 1e-15);
    }

    #[test]
    fn z_by_hand() {
        // p = 0.5, √(0.25 · 2/100) = 0.0707…
        assert!((z_score(0.55, 100.0, 0.45, 100.0) - 0.1 / 0.005_f64.sqrt()).abs() < 1e-12);
        assert_eq!(z_score(1.0, 10.0, 1.0, 20.0), 0.0);
    }

    #[test]
    fn z_of_means_by_hand() {
        assert_eq!(z_of_means(10.0, 3.0, 20.0, 4.0), -2.0);
        assert_eq!((z_of_means(1.0, 0.0, 1.0, 0.0), z_of_means(2.0, 0.0, 1.0, 0.0)), (0.0, f64::INFINITY));
    }
}
