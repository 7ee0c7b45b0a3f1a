//! Four runs of [`Pivot`] with ridge.

mod doubtful;

use super::{Alike, BatchLearner, Best, Ledger, Plane, in_plane};
use crate::estimators::{
    SHRINK_LIMIT,
    inverse::{Inverse, Step},
};
use crate::rules::Pivot;
use crate::vector::{Unit, Vectors, diagonal, numbers, numbers_mut, vectorised, zeros};
use crate::{Arm, Question};
use pulp::f64x4;

/// Four runs that know nothing yet; `None` if they have too many features.
pub(crate) fn in_step(rule: [Pivot; 4], alike: &Alike<'_>) -> Option<Box<dyn BatchLearner>> {
    in_plane!(alike, |plane| {
        let n_arms = alike.features[0].n_arms;
        let filled = n_arms.next_multiple_of(4);
        let mut quartet = Quartet {
            rule,
            question: alike.question,
            plane,
            condition: [1.0; 4],
            ledger: Ledger::new(n_arms),
            means: zeros(4 * filled),
            variances: zeros(4 * filled),
            covariances: zeros(4 * filled),
            shrunk: [1.0; 4],
            pivots: [0; 4],
            runners_up: [0; 4],
            asked: [0; 4],
            shortlist: vec![0; filled + 1],
        };
        vectorised!(|unit| quartet.compute_variances(unit));
        Some(Box::new(quartet))
    })
}

/// Does in each lane what [`DesignedRidge`](crate::estimators::DesignedRidge) does while one pull is out at a time.
struct Quartet<P> {
    rule: [Pivot; 4],
    question: [Question; 4],
    plane: P,
    /// The condition of V when V⁻¹ was last computed afresh; see [`Inverse`].
    condition: [f64; 4],
    ledger: Ledger,
    /// As the next two, filled up with arms of zeros to whole fours. Those are never chosen: an arm of zeros is never the pivot,
    /// tells nothing, and of equals the first counts.
    means: Vectors,
    variances: Vectors,
    /// cᵢ = xᵢᵀV⁻¹x, with x of the pivots.
    covariances: Vectors,
    /// How much any variance may have shrunk since all were computed afresh: Π s.
    shrunk: [f64; 4],
    pivots: [Arm; 4],
    /// The most doubtful arms but for the pivots, where there are many arms.
    runners_up: [Arm; 4],
    asked: [Arm; 4],
    /// The arms that a cheap test did not rule out, where there are many.
    shortlist: Vec<u32>,
}

impl<P: Plane> BatchLearner for Quartet<P> {
    fn ask(&mut self) -> [Arm; 4] {
        vectorised!(|unit| {
            self.find_pivots(unit);
            self.asked = self.most_telling(unit);
        });
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        self.ledger.count(self.asked, rewards);
        let (s, is_due) = vectorised!(|unit| self.advance(unit, rewards));
        if is_due {
            self.refresh(s);
        }
    }

    fn means(&mut self) -> &[[f64; 4]] {
        &lanes(&self.means)[..self.ledger.n_arms()]
    }
}

impl<P: Plane> Quartet<P> {
    /// The arm that tells most about the pivot, in each run; keeps the covariances with the pivots.
    #[inline(always)]
    fn most_telling<S: Unit>(&mut self, unit: S) -> [Arm; 4] {
        self.plane.pick(unit, self.pivots);
        let (u, arms) = (P::local(self.plane.u()), self.plane.arms());
        let (mut best, mut arm) = (Best::new(unit), unit.splat_f64s(0.0));
        let covariances = self.covariances.as_chunks_mut::<4>().0;
        for (four, (kept, q)) in covariances.iter_mut().zip(self.variances.as_chunks::<4>().0).enumerate() {
            let c = P::products::<S, 4>(unit, arms, 4 * four, &u);
            *kept = c;
            for n in 0..4 {
                best.take(unit, arm, untold(c[n], q[n]));
                arm = unit.add_f64s(arm, unit.splat_f64s(1.0));
            }
        }
        best.arms(unit)
    }

    /// One step of V⁻¹, the means and the variances in each run; returns s, and whether something is to be computed afresh.
    #[inline(always)]
    fn advance<S: Unit>(&mut self, unit: S, rewards: [f64; 4]) -> ([f64; 4], bool) {
        // An arm tells most about itself unless others are much like it: most often the pivots are asked for, and all products
        // with them are known.
        let is_known = self.asked == self.pivots;
        if !is_known {
            self.plane.pick(unit, self.asked);
        }
        let s = self.plane.s(unit);
        let known = picked(unit, &self.means, self.asked);
        let gain = unit.div_f64s(unit.sub_f64s(pulp::cast(rewards), known), s);
        let weight = unit.div_f64s(unit.splat_f64s(-1.0), s);
        self.reach(unit, is_known, gain, weight);
        self.plane.shrink(unit, s);
        let s: [f64; 4] = pulp::cast(s);
        let mut is_due = false;
        for lane in 0..4 {
            self.shrunk[lane] *= s[lane];
            is_due |= Inverse::is_coarse_at(s[lane], self.condition[lane]);
            is_due |= self.shrunk[lane] > SHRINK_LIMIT;
        }
        (s, is_due)
    }

    /// Computes afresh what the step with s has left too few digits of.
    fn refresh(&mut self, s: [f64; 4]) {
        for lane in 0..4 {
            if Inverse::is_coarse_at(s[lane], self.condition[lane]) {
                let (inverse, theta) = self.plane.refresh(lane, &self.ledger);
                self.condition[lane] = inverse.condition();
                self.recompute_means(lane, &theta);
                self.recompute_variances(lane, &inverse);
            } else if self.shrunk[lane] > SHRINK_LIMIT {
                self.recompute_variances(lane, &self.plane.inverse_of(lane));
            }
        }
    }

    /// μ̂ᵢ += cᵢ · gain and qᵢ += cᵢ² · weight for every arm, with cᵢ = xᵢᵀu as kept or computed.
    #[inline(always)]
    fn reach<S: Unit>(&mut self, unit: S, is_known: bool, gain: f64x4, weight: f64x4) {
        let (u, arms) = (P::local(self.plane.u()), self.plane.arms());
        let (means, variances) = (self.means.as_chunks_mut::<4>().0, self.variances.as_chunks_mut::<4>().0);
        let kept = self.covariances.as_chunks::<4>().0;
        for (four, ((means, variances), kept)) in means.iter_mut().zip(variances).zip(kept).enumerate() {
            let c = if is_known { *kept } else { P::products::<S, 4>(unit, arms, 4 * four, &u) };
            for n in 0..4 {
                variances[n] = unit.mul_add_f64s(unit.mul_f64s(c[n], weight), c[n], variances[n]);
                means[n] = unit.mul_add_f64s(c[n], gain, means[n]);
            }
        }
    }

    /// qᵢ = xᵢᵀV⁻¹xᵢ in all runs.
    #[inline(always)]
    fn compute_variances<S: Unit>(&mut self, unit: S) {
        for arm in 0..self.ledger.n_arms() {
            self.plane.pick(unit, [arm; 4]);
            self.variances[arm] = self.plane.q(unit);
        }
    }

    /// μ̂ᵢ = xᵢᵀθ̂ in one run.
    fn recompute_means(&mut self, lane: usize, theta: &[f64]) {
        let features = self.plane.features_of(lane);
        let mut means = features.zeros();
        features.times(theta, &mut means);
        let lanes = numbers_mut(&mut self.means).iter_mut().skip(lane).step_by(4);
        lanes.take(features.n_arms).zip(numbers(&means)).for_each(|(to, mean)| *to = *mean);
    }

    /// qᵢ = xᵢᵀV⁻¹xᵢ in one run.
    fn recompute_variances(&mut self, lane: usize, inverse: &Inverse) {
        self.shrunk[lane] = 1.0;
        let features = self.plane.features_of(lane);
        let mut step = Step::new(features.dimension);
        let lanes = numbers_mut(&mut self.variances).iter_mut().skip(lane).step_by(4);
        for (arm, to) in lanes.take(features.n_arms).enumerate() {
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

/// Of a vector an arm, the entry of one arm in each run.
#[inline(always)]
fn picked<S: Unit>(unit: S, vectors: &[f64x4], [a, b, c, d]: [Arm; 4]) -> f64x4 {
    diagonal(unit, [vectors[a], vectors[b], vectors[c], vectors[d]])
}

/// How little a pull tells: the negative of [`Pivot::telling`], in each run.
#[inline(always)]
fn untold(c: f64x4, q: f64x4) -> f64x4 {
    f64x4(-Pivot::telling(c.0, q.0), -Pivot::telling(c.1, q.1), -Pivot::telling(c.2, q.2), -Pivot::telling(c.3, q.3))
}
