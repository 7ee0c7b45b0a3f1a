//! Settled arms: those whose side is fixed for good, whatever is measured afterwards; and withdrawn arms, which cannot be measured.

use crate::{Amount, Arm, MeasurementCosts, arg_min};

/// The arms whose side is fixed for good, with the number of rewards after which that happened.
///
/// A [`Stop`](crate::Stop) settles arms, a [rule](crate::rules::Rule) chooses among the others, the *open* arms, and a learner ends when no
/// arm is open. An arm that is *withdrawn* is not open either, and may not be pulled at all; its side is not fixed.
///
/// ```
/// use cutline::Settled;
///
/// let mut settled = Settled::none(3);
/// settled.settle(2, true, 57);
/// assert!(settled.is_open(0) && !settled.is_open(2));
/// assert_eq!((settled.side(2), settled.after(2), settled.n_open()), (Some(true), Some(57), 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    n_arms: usize,
    /// For every arm its position in `order`; empty while there is no room.
    positions: Vec<Option<usize>>,
    order: Vec<SettledArm>,
    /// For every arm whether it is withdrawn; empty while none is.
    withdrawn: Vec<bool>,
}

/// An arm whose side is fixed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettledArm {
    /// The arm.
    pub arm: Arm,
    /// Whether it was settled as above.
    pub is_above: bool,
    /// The number of rewards received, of all arms, when it was settled.
    pub after: u64,
}

impl SettledArm {
    /// `arm` was settled as above, or below, after this many rewards of all arms.
    #[must_use]
    pub fn new(arm: Arm, is_above: bool, after: u64) -> Self {
        Self { arm, is_above, after }
    }
}

impl Settled {
    /// No arm of `n_arms` is settled.
    #[must_use]
    pub fn none(n_arms: usize) -> Self {
        Self { n_arms, ..Self::default() }
    }

    /// Makes room for all arms, so that settling allocates nothing.
    pub(crate) fn reserve(&mut self) {
        if self.positions.is_empty() {
            self.positions.resize(self.n_arms, None);
            self.order.reserve(self.n_arms);
        }
    }

    /// Fixes the side of `arm`, after this many rewards. An arm that is settled already keeps its side.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn settle(&mut self, arm: Arm, is_above: bool, after: u64) {
        self.reserve();
        if self.positions[arm].is_none() {
            self.positions[arm] = Some(self.order.len());
            self.order.push(SettledArm { arm, is_above, after });
        }
    }

    /// Opens all settled arms again; withdrawn arms stay withdrawn.
    pub(crate) fn unsettle(&mut self) {
        self.positions.fill(None);
        self.order.clear();
    }

    /// Withdraws `arm`, or with `false` makes it available again.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn set_withdrawn(&mut self, arm: Arm, is_withdrawn: bool) {
        assert!(arm < self.n_arms, "there is no arm {arm}");
        if is_withdrawn && self.withdrawn.is_empty() {
            self.withdrawn.resize(self.n_arms, false);
        }
        if let Some(entry) = self.withdrawn.get_mut(arm) {
            *entry = is_withdrawn;
        }
        if !self.withdrawn.contains(&true) {
            self.withdrawn.clear();
        }
    }

    /// The same for a choice with this much left to spend, if an arm costs more: it is withdrawn then. `None` if every arm can be paid for.
    pub(crate) fn within(&self, costs: &MeasurementCosts, remaining: Amount) -> Option<Self> {
        if costs.most() <= remaining {
            return None;
        }
        let withdrawn = (0..self.n_arms).map(|arm| self.is_withdrawn(arm) || costs.of(arm) > remaining).collect();
        Some(Self { withdrawn, ..self.clone() })
    }

    /// Whether `arm` is withdrawn.
    #[must_use]
    #[inline]
    pub fn is_withdrawn(&self, arm: Arm) -> bool {
        self.withdrawn.get(arm).is_some_and(|&is_withdrawn| is_withdrawn)
    }

    /// Whether any arm is withdrawn.
    #[must_use]
    #[inline]
    pub fn has_withdrawn(&self) -> bool {
        !self.withdrawn.is_empty()
    }

    /// Whether every arm is open.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty() && self.withdrawn.is_empty()
    }

    /// The number of open arms.
    #[must_use]
    pub fn n_open(&self) -> usize {
        if self.has_withdrawn() { self.open().count() } else { self.n_arms - self.order.len() }
    }

    /// Whether `arm` is neither settled nor withdrawn.
    #[must_use]
    #[inline]
    pub fn is_open(&self, arm: Arm) -> bool {
        self.positions.get(arm).is_none_or(Option::is_none) && !self.is_withdrawn(arm)
    }

    /// The open arms, in their order.
    pub fn open(&self) -> impl Iterator<Item = Arm> + Clone + '_ {
        (0..self.n_arms).filter(|&arm| self.is_open(arm))
    }

    /// What is settled about `arm`; `None` if it is not settled.
    #[must_use]
    pub fn get(&self, arm: Arm) -> Option<SettledArm> {
        Some(self.order[(*self.positions.get(arm)?)?])
    }

    /// Whether `arm` was settled as above; `None` if it is not settled.
    #[must_use]
    pub fn side(&self, arm: Arm) -> Option<bool> {
        self.get(arm).map(|settled| settled.is_above)
    }

    /// The number of rewards after which `arm` was settled; `None` if it is not.
    #[must_use]
    pub fn after(&self, arm: Arm) -> Option<u64> {
        self.get(arm).map(|settled| settled.after)
    }

    /// The settled arms, in the order in which they were settled.
    #[must_use]
    pub fn in_order(&self) -> &[SettledArm] {
        &self.order
    }

    /// The first open arm with the least `index(aᵢ, bᵢ)`, as [`arg_min`] finds it among all arms. NaN never wins; if nothing wins, the first
    /// open arm.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[inline]
    pub fn arg_min_open<A: Copy, B: Copy>(&self, a: &[A], b: &[B], index: impl Fn(A, B) -> f64) -> Arm {
        if self.is_empty() {
            return arg_min(a, b, index);
        }
        assert_eq!(a.len(), b.len(), "one value per arm");
        let mut least = (f64::INFINITY, self.open().next().unwrap_or(0));
        for arm in self.open() {
            let value = index(a[arm], b[arm]);
            if value < least.0 {
                least = (value, arm);
            }
        }
        least.1
    }

    /// The first open arm with the greatest `score(aᵢ, bᵢ)`; otherwise as [`arg_min_open`](Settled::arg_min_open).
    ///
    /// # Panics
    /// If the slices differ in length.
    #[inline]
    pub fn arg_max_open<A: Copy, B: Copy>(&self, a: &[A], b: &[B], score: impl Fn(A, B) -> f64) -> Arm {
        self.arg_min_open(a, b, |a, b| -score(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_fixed_for_good() {
        let mut settled = Settled::none(4);
        assert_eq!((settled.n_open(), settled.is_empty(), settled.get(3)), (4, true, None));
        settled.settle(3, false, 5);
        settled.settle(1, true, 9);
        settled.settle(3, true, 12);
        assert_eq!((settled.side(3), settled.after(3)), (Some(false), Some(5)));
        assert_eq!(settled.open().collect::<Vec<_>>(), [0, 2]);
        assert_eq!(settled.in_order().iter().map(|settled| settled.arm).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn a_withdrawn_arm_is_not_open_and_has_no_side() {
        let mut settled = Settled::none(3);
        settled.set_withdrawn(1, true);
        assert!(!settled.is_open(1) && settled.is_withdrawn(1) && settled.side(1).is_none() && !settled.is_empty());
        assert_eq!((settled.n_open(), settled.open().collect::<Vec<_>>()), (2, vec![0, 2]));
        settled.settle(0, true, 4);
        settled.set_withdrawn(0, true);
        assert_eq!((settled.n_open(), settled.side(0)), (1, Some(true)));
        settled.set_withdrawn(0, false);
        settled.set_withdrawn(1, false);
        assert_eq!((settled.n_open(), settled.has_withdrawn(), settled.is_open(0)), (2, false, false));
    }

    #[test]
    fn scans_look_at_open_arms_only() {
        let (values, zeros) = ([3.0, f64::NAN, 1.0, 2.0, 2.0], [0.0; 5]);
        let mut settled = Settled::none(5);
        let least = |settled: &Settled| settled.arg_min_open(&values, &zeros, |a, _| a);
        assert_eq!((least(&settled), settled.arg_max_open(&values, &zeros, |a, _| a)), (2, 0));
        settled.settle(2, true, 1);
        assert_eq!(least(&settled), 3, "ties go to the first");
        for arm in [0, 3, 4] {
            settled.settle(arm, true, 1);
        }
        assert_eq!(least(&settled), 1, "NaN never wins, but an open arm is returned");
    }
}
