//! Four runs of an [`Index`] with ridge.

use super::{Alike, BatchLearner, Best, Ledger, Plane, in_plane};
use crate::estimators::inverse::Inverse;
use crate::rules::Index;
use crate::vector::{Unit, Vectors, numbers, numbers_mut, vectorised, zeros};
use crate::{Arm, Question};
use pulp::f64x4;

/// Four runs that know nothing yet; `None` if they have too many features.
pub(crate) fn in_step<I: Index + Send + 'static>(index: [I; 4], alike: &Alike<'_>) -> Option<Box<dyn BatchLearner>> {
    in_plane!(alike, |plane| {
        let n_arms = alike.features[0].n_arms;
        Some(Box::new(Quartet {
            index,
            question: alike.question,
            theta: zeros(4 * plane.width()),
            plane,
            condition: [1.0; 4],
            ledger: Ledger::new(n_arms),
            weights: zeros(4 * n_arms),
            told: 0,
            asked: [0; 4],
            means: zeros(4 * n_arms),
        }))
    })
}

struct Quartet<I, P> {
    index: [I; 4],
    question: [Question; 4],
    plane: P,
    theta: Vectors,
    /// The condition of V when V⁻¹ was last computed afresh; see [`Inverse`].
    condition: [f64; 4],
    ledger: Ledger,
    weights: Vectors,
    /// How many pulls each run has been told.
    told: usize,
    asked: [Arm; 4],
    means: Vectors,
}

impl<I: Index + Send, P: Plane> BatchLearner for Quartet<I, P> {
    fn ask(&mut self) -> [Arm; 4] {
        self.asked =
            if self.told < self.ledger.n_arms() { [self.told; 4] } else { vectorised!(|unit| self.scan(unit)) };
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        self.told += 1;
        let (s, is_due) = vectorised!(|unit| {
            self.weigh(rewards);
            self.advance(unit, pulp::cast(rewards))
        });
        if is_due {
            self.refresh(s);
        }
    }

    fn means(&mut self) -> &[[f64; 4]] {
        let Self { plane, theta, means, .. } = self;
        vectorised!(|unit| {
            let theta = P::local(theta);
            for (arm, mean) in means.iter_mut().enumerate() {
                *mean = P::products::<_, 1>(unit, plane.arms(), arm, &theta)[0];
            }
        });
        numbers(&self.means).as_chunks().0
    }
}

impl<I: Index, P: Plane> Quartet<I, P> {
    /// The first arm with the least index, in each run.
    #[inline(always)]
    fn scan<S: Unit>(&self, unit: S) -> [Arm; 4] {
        // A copy, so that the compiler knows that nothing changes it and keeps it in registers.
        let (question, theta, arms) = (self.question, P::local(&self.theta), self.plane.arms());
        let (mut best, mut arm) = (Best::new(unit), unit.splat_f64s(0.0));
        let (fours, last) = self.weights.as_chunks::<4>();
        for (four, weights) in fours.iter().enumerate() {
            let means = P::products::<S, 4>(unit, arms, 4 * four, &theta);
            for n in 0..4 {
                best.take(unit, arm, indices(&self.index, &question, means[n], weights[n]));
                arm = unit.add_f64s(arm, unit.splat_f64s(1.0));
            }
        }
        for (n, &weight) in last.iter().enumerate() {
            let mean = P::products::<S, 1>(unit, arms, 4 * fours.len() + n, &theta)[0];
            best.take(unit, arm, indices(&self.index, &question, mean, weight));
            arm = unit.add_f64s(arm, unit.splat_f64s(1.0));
        }
        best.arms(unit)
    }

    /// Counts the pulls of the arms asked for, and weighs them anew.
    #[inline(always)]
    fn weigh(&mut self, rewards: [f64; 4]) {
        let counts = self.ledger.count(self.asked, rewards);
        let mut heavier = [0.0; 4];
        for lane in 0..4 {
            heavier[lane] = self.index[lane].weight(counts[lane]);
        }
        for lane in 0..4 {
            // A whole vector at a time; see `diagonal`.
            let weights = &mut self.weights[self.asked[lane]];
            let mut lanes: [f64; 4] = pulp::cast(*weights);
            lanes[lane] = heavier[lane];
            *weights = pulp::cast(lanes);
        }
    }

    /// One step of V⁻¹ and θ̂ in each run; returns s, and whether something is to be computed afresh.
    #[inline(always)]
    fn advance<S: Unit>(&mut self, unit: S, rewards: f64x4) -> ([f64; 4], bool) {
        let Self { plane, theta, .. } = self;
        plane.pick(unit, self.asked);
        let s = plane.s(unit);
        let surprise = unit.sub_f64s(rewards, plane.at_pick(unit, theta));
        let gain = unit.div_f64s(surprise, s);
        for (theta, &u) in theta.iter_mut().zip(plane.u()) {
            *theta = unit.mul_add_f64s(u, gain, *theta);
        }
        plane.shrink(unit, s);
        let s: [f64; 4] = pulp::cast(s);
        let mut is_due = false;
        for lane in 0..4 {
            is_due |= Inverse::is_coarse_at(s[lane], self.condition[lane]);
        }
        (s, is_due)
    }

    /// Computes afresh what the step with s has left too few digits of.
    fn refresh(&mut self, s: [f64; 4]) {
        for lane in 0..4 {
            if Inverse::is_coarse_at(s[lane], self.condition[lane]) {
                let (inverse, theta) = self.plane.refresh(lane, &self.ledger);
                self.condition[lane] = inverse.condition();
                let lanes = numbers_mut(&mut self.theta).iter_mut().skip(lane).step_by(4);
                lanes.zip(theta).for_each(|(to, theta)| *to = theta);
            }
        }
    }
}

/// The index of one arm in each run.
#[inline(always)]
fn indices<I: Index>(index: &[I; 4], question: &[Question; 4], mean: f64x4, weight: f64x4) -> f64x4 {
    f64x4(
        index[0].index(&question[0], mean.0, weight.0),
        index[1].index(&question[1], mean.1, weight.1),
        index[2].index(&question[2], mean.2, weight.2),
        index[3].index(&question[3], mean.3, weight.3),
    )
}
