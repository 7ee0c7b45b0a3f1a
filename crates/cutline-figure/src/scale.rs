//! From a value to its place on an axis.

/// A linear or logarithmic axis; `low` and `high` are its ends, as exponents of ten when it is logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) logarithmic: bool,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Scale {
    /// A linear axis over the values, at least `least` wide, with a margin.
    pub(crate) fn linear(low: f64, high: f64, least: f64) -> Self {
        Self { logarithmic: false, low, high }.widened(least)
    }

    /// A logarithmic axis over the positive values, at least `least` decades wide, with a margin.
    pub(crate) fn logarithmic(low: f64, high: f64, least: f64) -> Self {
        Self { logarithmic: true, low: low.log10(), high: high.log10() }.widened(least)
    }

    /// The same axis with more room at its low end, as a share of its length.
    pub(crate) fn with_room_below(self, share: f64) -> Self {
        Self { low: self.low - share * (self.high - self.low), ..self }
    }

    /// Where the value is: 0 at the low end, 1 at the high end, never outside.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let place = if self.logarithmic { value.log10() } else { value };
        let share = (place - self.low) / (self.high - self.low);
        // The logarithm of zero is minus infinity and belongs at the low end.
        share.clamp(0.0, 1.0)
    }

    /// Widens towards low values first: most axes here end at 1, and no probability is above that.
    fn widened(self, least: f64) -> Self {
        let low = self.low.min(self.high - least);
        let margin = 0.05 * (self.high - low);
        Self { low: low - margin, high: self.high + margin, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_put_values_in_order_inside_the_ends() {
        for scale in [Scale::linear(0.1, 0.9, 0.05), Scale::logarithmic(0.1, 0.9, 0.05)] {
            let shares = [0.1, 0.3, 0.9].map(|v| scale.share(v));
            assert!(0.0 < shares[0] && shares[0] < shares[1] && shares[1] < shares[2] && shares[2] < 1.0);
        }
        let log = Scale::logarithmic(0.01, 1.0, 0.1);
        assert!((log.share(0.1) - 0.5).abs() < 1e-12);
        assert!(log.share(0.0).abs() < 1e-12);
    }

    #[test]
    fn a_single_value_has_an_axis_around_it() {
        let scale = Scale::logarithmic(1.0, 1.0, 0.1);
        assert!(scale.share(1.0) > 0.9 && scale.share(1.0) < 1.0);
        assert!(scale.with_room_below(0.2).share(1.0) > scale.share(1.0));
    }
}
