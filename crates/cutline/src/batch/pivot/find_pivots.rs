//! The first step of [`Pivot`]: the pivot, which is the arm whose side is least certain.

use super::super::{ArgMin, GroupDesign};
use super::{PivotGroup, lanes, picked};
use crate::rules::{CertaintyBound, Pivot};
use crate::vector::Unit;
use crate::{Arm, Question};
use pulp::f64x4;

/// Up to this many arms a cheap test of each costs more than it saves.
const FEW_ARMS: usize = 64;

impl<D: GroupDesign> PivotGroup<D> {
    /// Sets the pivot of each run.
    #[inline(always)]
    pub(super) fn find_pivots<S: Unit>(&mut self, unit: S) {
        if self.means.len() <= FEW_ARMS { self.find_among_few(unit) } else { self.find_among_many(unit) }
    }

    /// Compares rough certainties first, which are cheaper and suffice unless another arm comes close to the least certain one.
    #[inline(always)]
    fn find_among_few<S: Unit>(&mut self, unit: S) {
        let (best, second) = self.scan(unit, Pivot::rough_certainty);
        let (least, second): ([f64; 4], [f64; 4]) = (pulp::cast(best.least), pulp::cast(second));
        let mut is_decided = true;
        for lane in 0..4 {
            is_decided &= second[lane] - least[lane] > Pivot::rough_margin(least[lane]);
        }
        self.pivots = if is_decided { best.arms(unit) } else { self.scan(unit, Pivot::certainty).0.arms(unit) };
    }

    /// The least certain arm of each run, and how certain the next one is.
    #[inline(always)]
    fn scan<S: Unit>(&self, unit: S, certainty: impl Fn(&Pivot, &Question, f64, f64) -> f64) -> (ArgMin, f64x4) {
        // Copies, so that the compiler knows that nothing changes them and keeps them in registers.
        let (rules, questions) = (self.rules, self.questions);
        // Two arms at a time: their operations overlap, and more do not fit the registers.
        let (means, variances) = (lanes(&self.means).as_chunks::<2>().0, lanes(&self.variances).as_chunks::<2>().0);
        let (mut best, mut arm) = (ArgMin::new(unit), unit.splat_f64s(0.0));
        let mut second = best.least;
        for (means, variances) in means.iter().zip(variances) {
            let mut certainties = [[0.0; 4]; 2];
            for n in 0..2 {
                for lane in 0..4 {
                    certainties[n][lane] =
                        certainty(&rules[lane], &questions[lane], means[n][lane], variances[n][lane]);
                }
            }
            for certainties in certainties {
                let certainties = pulp::cast(certainties);
                second = unit.min_f64s(best.displaced(unit, arm, certainties).1, second);
                best.take(unit, arm, certainties);
                arm = unit.add_f64s(arm, unit.splat_f64s(1.0));
            }
        }
        (best, second)
    }

    /// Compares the arms on the shortlist. Also finds the runners-up.
    #[inline(always)]
    fn find_among_many<S: Unit>(&mut self, unit: S) {
        let n = self.update_shortlist(unit);
        let (rules, questions, shortlist) = (self.rules, self.questions, &self.shortlist[..n.next_multiple_of(2)]);
        let (means, variances) = (lanes(&self.means), lanes(&self.variances));
        let (mut best, mut second) = (ArgMin::new(unit), ArgMin::new(unit));
        for pair in shortlist.as_chunks::<2>().0 {
            let mut certainties = [best.least; 2];
            for n in 0..2 {
                let arm = pair[n] as usize;
                certainties[n] = certainty(&rules, &questions, &means[arm], &variances[arm]);
            }
            for n in 0..2 {
                let arm = unit.splat_f64s(f64::from(pair[n]));
                let (displaced, value) = best.displaced(unit, arm, certainties[n]);
                best.take(unit, arm, certainties[n]);
                second.take(unit, displaced, value);
            }
        }
        (self.pivots, self.runners_up) = (best.arms(unit), second.arms(unit));
    }

    /// The mean and the variance of an arm of each run, and how certain its side is.
    #[inline(always)]
    fn certainty_of<S: Unit>(&self, unit: S, arms: [Arm; 4]) -> (f64x4, f64x4, f64x4) {
        let (mean, q) = (picked(unit, &self.means, arms), picked(unit, &self.variances, arms));
        (mean, q, certainty(&self.rules, &self.questions, &pulp::cast(mean), &pulp::cast(q)))
    }

    /// The certainty below which an arm may be the pivot, in each run.
    #[inline(always)]
    fn bounds<S: Unit>(&self, unit: S) -> [CertaintyBound; 4] {
        // The last pivots were most often pulled, so the runners-up may be less certain by now.
        let (last, next) = (self.certainty_of(unit, self.pivots), self.certainty_of(unit, self.runners_up));
        let is_overtaken = unit.less_than_f64s(next.2, last.2);
        let mean: [f64; 4] = pulp::cast(unit.select_f64s(is_overtaken, next.0, last.0));
        let q: [f64; 4] = pulp::cast(unit.select_f64s(is_overtaken, next.1, last.1));
        let mut bounds = [CertaintyBound::default(); 4];
        for lane in 0..4 {
            bounds[lane] = self.rules[lane].bound(&self.questions[lane], mean[lane], q[lane]);
        }
        bounds
    }

    /// Writes the arms that may be the pivot of some run to the shortlist; returns their number. If it is odd, the last arm
    /// is listed twice, which changes nothing.
    #[inline(always)]
    fn update_shortlist<S: Unit>(&mut self, unit: S) -> usize {
        let (rules, questions, bounds) = (self.rules, self.questions, self.bounds(unit));
        let (means, variances) = (lanes(&self.means), lanes(&self.variances));
        let shortlist = &mut self.shortlist[..=means.len()];
        let mut n = 0;
        for (arm, (mean, q)) in (0..).zip(means.iter().zip(variances)) {
            let mut may_be_pivot = false;
            for lane in 0..4 {
                may_be_pivot |= rules[lane].may_be_less_certain(&bounds[lane], &questions[lane], mean[lane], q[lane]);
            }
            // Written unconditionally and kept by counting: a branch here would often be mispredicted.
            shortlist[n] = arm;
            n += usize::from(may_be_pivot);
        }
        shortlist[n] = shortlist[n.saturating_sub(1)];
        n
    }
}

/// How certain the side of an arm is, in each run.
#[inline(always)]
fn certainty(rules: &[Pivot; 4], questions: &[Question; 4], mean: &[f64; 4], q: &[f64; 4]) -> f64x4 {
    let mut certainty = [0.0; 4];
    for lane in 0..4 {
        certainty[lane] = rules[lane].certainty(&questions[lane], mean[lane], q[lane]);
    }
    pulp::cast(certainty)
}
