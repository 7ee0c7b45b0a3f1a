//! Four runs of [`Pivot`] with ridge.

use super::design::{Design, dots};
use super::{Best, InStep, by_width, is_alike};
use crate::arms::Features;
use crate::estimators::{
    SHRINK_LIMIT,
    inverse::{Inverse, Step},
};
use crate::rules::{Bar, Pivot};
use crate::vector::{Unit, Vectors, numbers, numbers_mut, vectorised, zeros};
use crate::{Arm, Question};
use pulp::f64x4;
use std::sync::Arc;

/// Four runs that know nothing yet; `None` if they are large or differ in the number of arms or features.
pub(crate) fn in_step(
    rule: [Pivot; 4],
    alone: [&Arc<Features>; 4],
    question: [Question; 4],
    lambda: f64,
) -> Option<Box<dyn InStep>> {
    if !is_alike(alone) {
        return None;
    }
    by_width!(alone[0].dimension, |D| {
        let (design, means) = (Design::<D>::new(alone, lambda), zeros(4 * alone[0].n_arms));
        let mut quartet = Quartet {
            rule,
            question,
            design,
            variances: means.clone(),
            means,
            shrunk: [1.0; 4],
            pivots: [0; 4],
            asked: [0; 4],
            shortlist: vec![0; alone[0].n_arms + 1],
        };
        for lane in 0..4 {
            quartet.recompute_variances(lane, &Inverse::new(alone[0].dimension, lambda));
        }
        Some(Box::new(quartet))
    })
}

/// Does in each lane what [`DesignedRidge`](crate::estimators::DesignedRidge) does while one pull is out at a time.
struct Quartet<const D: usize> {
    rule: [Pivot; 4],
    question: [Question; 4],
    design: Design<D>,
    means: Vectors,
    variances: Vectors,
    /// How much any variance may have shrunk since all were computed afresh: Π s.
    shrunk: [f64; 4],
    pivots: [Arm; 4],
    asked: [Arm; 4],
    /// Room for the arms that a cheap test did not rule out in all runs.
    shortlist: Vec<u32>,
}

impl<const D: usize> InStep for Quartet<D> {
    fn ask(&mut self) -> [Arm; 4] {
        vectorised!(|unit| {
            self.pivots = self.most_doubtful(unit);
            self.asked = self.most_telling(unit);
        });
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        self.design.count(self.asked, rewards);
        let s = pulp::cast(vectorised!(|unit| self.advance(unit, rewards)));
        let is_coarse = self.design.is_coarse(s);
        for lane in 0..4 {
            self.shrunk[lane] *= s[lane];
            if is_coarse[lane] {
                let (inverse, theta) = self.design.refresh(lane);
                self.recompute_means(lane, &theta);
                self.recompute_variances(lane, &inverse);
            } else if self.shrunk[lane] > SHRINK_LIMIT {
                self.recompute_variances(lane, &self.design.inverse_of(lane));
            }
        }
    }

    fn means(&mut self) -> &[[f64; 4]] {
        lanes(&self.means)
    }
}

impl<const D: usize> Quartet<D> {
    /// The pivot of each run.
    #[inline(always)]
    fn most_doubtful<S: Unit>(&mut self, unit: S) -> [Arm; 4] {
        // Copies, so that the compiler knows that nothing changes them and keeps them in registers.
        let (rule, question, pivots) = (self.rule, self.question, self.pivots);
        let (means, variances) = (lanes(&self.means), lanes(&self.variances));
        let mean = [0, 1, 2, 3].map(|lane| means[pivots[lane]][lane]);
        let q = [0, 1, 2, 3].map(|lane| variances[pivots[lane]][lane]);
        // Number by number and not bar by bar, so that the four are computed at once.
        let (mut base, mut slope) = ([0.0; 4], [0.0; 4]);
        for lane in 0..4 {
            let certainty = rule[lane].certainty(&question[lane], mean[lane], q[lane]);
            Bar { base: base[lane], slope: slope[lane] } = Bar::new(certainty, q[lane]);
        }
        let mut n = 0;
        for (arm, (mean, q)) in (0..).zip(means.iter().zip(variances)) {
            let mut may = false;
            for lane in 0..4 {
                let bar = Bar { base: base[lane], slope: slope[lane] };
                may |= rule[lane].may_be_less_certain(&bar, &question[lane], mean[lane], q[lane]);
            }
            // Written in any case and kept if it counts: which arms pass cannot be foreseen by the machine.
            self.shortlist[n] = arm;
            n += usize::from(may);
        }
        // Two at a time; of an odd number the last one twice, which changes nothing.
        self.shortlist[n] = self.shortlist[n.saturating_sub(1)];
        let mut best = Best::new(unit);
        for pair in self.shortlist[..n.next_multiple_of(2)].as_chunks::<2>().0 {
            let mut certainties = [[0.0; 4]; 2];
            for (&arm, certainties) in pair.iter().zip(&mut certainties) {
                let (mean, q) = (&means[arm as usize], &variances[arm as usize]);
                for lane in 0..4 {
                    certainties[lane] = rule[lane].certainty(&question[lane], mean[lane], q[lane]);
                }
            }
            for (&arm, certainties) in pair.iter().zip(certainties) {
                best.take(unit, f64::from(arm), pulp::cast(certainties));
            }
        }
        best.arms(unit)
    }

    /// The arm that tells most about the pivot, in each run.
    #[inline(always)]
    fn most_telling<S: Unit>(&mut self, unit: S) -> [Arm; 4] {
        self.design.pick(unit, self.pivots);
        let u = *self.design.u();
        let (rows, last_rows) = self.design.rows().as_chunks::<4>();
        let (variances, last_variances) = self.variances.as_chunks::<4>();
        let (mut best, mut arm) = (Best::new(unit), 0.0);
        for (rows, variances) in rows.iter().zip(variances) {
            let c = dots(unit, rows, &u);
            for n in 0..4 {
                best.take(unit, arm, untold(c[n], variances[n]));
                arm += 1.0;
            }
        }
        for (row, &q) in last_rows.iter().zip(last_variances) {
            let c = dots(unit, std::array::from_ref(row), &u)[0];
            best.take(unit, arm, untold(c, q));
            arm += 1.0;
        }
        best.arms(unit)
    }

    /// One step of V⁻¹, the means and the variances in each run; returns s.
    #[inline(always)]
    fn advance<S: Unit>(&mut self, unit: S, rewards: [f64; 4]) -> f64x4 {
        let Self { design, means, variances, asked, .. } = self;
        design.pick(unit, *asked);
        let s = design.s(unit);
        let known = [means[asked[0]].0, means[asked[1]].1, means[asked[2]].2, means[asked[3]].3];
        let gain = unit.div_f64s(unit.sub_f64s(pulp::cast(rewards), pulp::cast(known)), s);
        let weight = unit.div_f64s(unit.splat_f64s(-1.0), s);
        let u = *design.u();
        let (rows, last_rows) = design.rows().as_chunks::<4>();
        let (means, last_means) = means.as_chunks_mut::<4>();
        let (variances, last_variances) = variances.as_chunks_mut::<4>();
        for ((rows, means), variances) in rows.iter().zip(means).zip(variances) {
            let c = dots(unit, rows, &u);
            for n in 0..4 {
                variances[n] = unit.mul_add_f64s(unit.mul_f64s(c[n], weight), c[n], variances[n]);
                means[n] = unit.mul_add_f64s(c[n], gain, means[n]);
            }
        }
        for ((row, mean), q) in last_rows.iter().zip(last_means).zip(last_variances) {
            let c = dots(unit, std::array::from_ref(row), &u)[0];
            *q = unit.mul_add_f64s(unit.mul_f64s(c, weight), c, *q);
            *mean = unit.mul_add_f64s(c, gain, *mean);
        }
        design.shrink(unit, s);
        s
    }

    /// μ̂ᵢ = xᵢᵀθ̂ in one run.
    fn recompute_means(&mut self, lane: usize, theta: &[f64]) {
        let features = self.design.features_of(lane);
        let mut means = features.zeros();
        features.times(theta, &mut means);
        let lanes = numbers_mut(&mut self.means).iter_mut().skip(lane).step_by(4);
        lanes.zip(numbers(&means)).for_each(|(to, mean)| *to = *mean);
    }

    /// qᵢ = xᵢᵀV⁻¹xᵢ in one run.
    fn recompute_variances(&mut self, lane: usize, inverse: &Inverse) {
        self.shrunk[lane] = 1.0;
        let features = self.design.features_of(lane);
        let mut step = Step::new(features.dimension);
        for (arm, to) in numbers_mut(&mut self.variances).iter_mut().skip(lane).step_by(4).enumerate() {
            vectorised!(|unit| inverse.solve(unit, features.row(arm), &mut step));
            *to = step.q;
        }
    }
}

/// The runs in every vector.
#[inline(always)]
fn lanes(vectors: &Vectors) -> &[[f64; 4]] {
    numbers(vectors).as_chunks().0
}

/// How little a pull tells: the negative of [`Pivot::telling`], in each run.
#[inline(always)]
fn untold(c: f64x4, q: f64x4) -> f64x4 {
    f64x4(-Pivot::telling(c.0, q.0), -Pivot::telling(c.1, q.1), -Pivot::telling(c.2, q.2), -Pivot::telling(c.3, q.3))
}
