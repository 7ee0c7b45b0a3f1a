//! Tails of the F and t distributions, the power of an F-test, and p-values of many tests at once.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

/// P(F ≥ f) for F with `upper` and `lower` degrees of freedom: the regularised incomplete beta function
/// I(y; lower/2, upper/2) at y = lower/(lower + upper·f) (DLMF 8.17).
pub(super) fn f_tail(f: f64, upper: f64, lower: f64) -> f64 {
    beta_reg(lower / 2.0, upper / 2.0, lower / (lower + upper * f))
}

/// P(|t| ≥ |x|) for Student's t: t² is F with 1 and `freedom` degrees of freedom.
pub(crate) fn t_tails(x: f64, freedom: f64) -> f64 {
    f_tail(x * x, 1.0, freedom)
}

/// The probability that an F-test at `level` rejects when F has this noncentrality λ: Σⱼ Poisson(j; λ/2) I(y; a, b + j) with
/// a = lower/2, b = upper/2 and y where I(y; a, b) = level (Johnson, Kotz & Balakrishnan 1995, chapter 30).
pub(super) fn f_power(level: f64, upper: f64, lower: f64, noncentrality: f64) -> f64 {
    let (a, b, half) = (lower / 2.0, upper / 2.0, noncentrality / 2.0);
    let y = beta_quantile(a, b, level);
    // All but 1e-16 of the Poisson distribution lies here.
    let (width, mode) = (9.0 * half.sqrt() + 30.0, half.floor());
    let (first, last) = ((mode - width).max(0.0), mode + width);
    // I(y; a, b + 1) = I(y; a, b) + y^a (1 − y)^b/(b B(a, b)): each term follows from the one before (DLMF 8.17.21).
    let mut shape = b + first;
    let mut tail = beta_reg(a, shape, y);
    let ln_beta = ln_gamma(a) + ln_gamma(shape + 1.0) - ln_gamma(a + shape);
    let mut step = (a * y.ln() + shape * (-y).ln_1p() - ln_beta).exp();
    // Weights relative to that of the mode, so that none over- or underflows on the way.
    let mut weight = (first * half.ln() - ln_gamma(first + 1.0) - mode * half.ln() + ln_gamma(mode + 1.0)).exp();
    let (mut sum, mut weights, mut j) = (0.0, 0.0, first);
    while j <= last {
        sum += weight * tail;
        weights += weight;
        j += 1.0;
        weight *= half / j;
        tail += step;
        step *= (1.0 - y) * (a + shape) / (shape + 1.0);
        shape += 1.0;
    }
    (sum / weights).min(1.0)
}

/// y with I(y; a, b) = `probability`, by bisection to the last bit.
fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle == low || middle == high {
            return middle;
        }
        if beta_reg(a, b, middle) < probability { low = middle } else { high = middle }
    }
}

/// Holm's adjusted p-values (Holm 1979): rejecting those ≤ α keeps the probability of any false rejection ≤ α, whatever the
/// dependence between the tests.
pub(super) fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut most = 0.0_f64;
    for (rank, &i) in order.iter().enumerate() {
        most = most.max((p_values.len() - rank) as f64 * p_values[i]).min(1.0);
        adjusted[i] = most;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(ours: f64, theirs: f64, relative: f64) {
        assert!((ours - theirs).abs() <= relative * theirs, "{ours:e} against {theirs:e}");
    }

    /// `scipy.stats.f.sf` and `2 * scipy.stats.t.sf`, version 1.17.
    #[test]
    fn tails_agree_with_scipy() {
        for (f, upper, lower, theirs) in [
            (0.0, 3.0, 4.0, 1.0),
            (0.5, 1.0, 1.0, 0.6081734479693928),
            (2.0, 15.0, 20.0, 0.07394399071816712),
            (50.0, 15.0, 20.0, 1.5091405968999122e-12),
            (1.05, 950.0, 99000.0, 0.13966858730181034),
            (1.01, 100000.0, 100000.0, 0.057827199327151635),
            (5000.0, 15.0, 200.0, 2.0188836489480765e-248),
            (0.001, 2.0, 7.0, 0.9990006425205644),
        ] {
            assert_near(f_tail(f, upper, lower), theirs, 1e-9);
        }
        for (t, freedom, theirs) in [
            (0.1, 1.0, 0.936548965138893),
            (2.5, 3.0, 0.08770664700806556),
            (-4.0, 30.0, 0.0003818456360837564),
            (8.0, 1000000.0, 1.2455063433202503e-15),
            (40.0, 12.0, 3.851229580772032e-14),
        ] {
            assert_near(t_tails(t, freedom), theirs, 1e-9);
        }
        assert_eq!((f_tail(f64::INFINITY, 3.0, 4.0), t_tails(0.0, 5.0)), (0.0, 1.0));
    }

    /// `scipy.stats.ncf.sf(scipy.stats.f.isf(level, upper, lower), upper, lower, noncentrality)`, version 1.17.
    #[test]
    fn power_agrees_with_scipy() {
        for (level, upper, lower, noncentrality, theirs) in [
            (0.025, 15.0, 20.0, 40.0, 0.8178425685973238),
            (0.025, 2.0, 4.0, 8.0, 0.24383876727127268),
            (0.025, 1.0, 1.0, 3.0, 0.055274187659152554),
            (0.025, 146.0, 4.0, 153.0, 0.08861236289912018),
            (0.05, 9.0, 48.0, 60.0, 0.9999005023680584),
            (0.025, 100.0, 1000.0, 1100.5, 1.0),
            (0.025, 3.0, 5.0, 1.0, 0.04291405799691887),
        ] {
            assert_near(f_power(level, upper, lower, noncentrality), theirs, 1e-9);
        }
        assert_near(f_power(0.025, 50.0, 1e6, 1e7), 1.0, 1e-9);
    }

    /// `statsmodels.stats.multitest.multipletests(p_values, method="holm")`, version 0.14.
    #[test]
    fn holm_agrees_with_statsmodels() {
        let ours = holm(&[0.01, 0.04, 0.03, 0.005, 0.6, 0.3]);
        for (ours, theirs) in ours.iter().zip([0.05, 0.12, 0.12, 0.03, 0.6, 0.6]) {
            assert_near(*ours, theirs, 1e-15);
        }
        assert_eq!(holm(&[]), [0.0; 0]);
        assert_eq!(holm(&[0.4, 0.9]), [0.8, 0.9]);
    }
}
