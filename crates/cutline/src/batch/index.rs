//! Four runs of an [`Index`] with ridge.

use super::{ArgMin, GroupDesign, GroupSettings, RewardSums, RunGroup, with_design};
use crate::estimators::inverse::Inverse;
use crate::rules::Index;
use crate::vector::{BatchUnit, Unit, Vectors, batch_unit, numbers, numbers_mut, on_unit, zeros};
use crate::{Arm, Question};
use pulp::f64x4;

/// Four runs before their first pull; `None` if they have too many features or this machine has not the vector unit.
pub(crate) fn index_group<I: Index<Weight = f64> + Send + 'static>(
    index: [I; 4],
    settings: &GroupSettings<'_>,
) -> Option<Box<dyn RunGroup>> {
    let unit = batch_unit()?;
    with_design!(settings, |design| {
        let n_arms = settings.features[0].n_arms;
        Some(Box::new(IndexGroup {
            unit,
            index,
            questions: settings.questions,
            theta: zeros(4 * design.width()),
            design,
            condition: [1.0; 4],
            sums: RewardSums::new(n_arms),
            weights: zeros(4 * n_arms),
            n_rewards: 0,
            asked: [0; 4],
            means: zeros(4 * n_arms),
            is_stale: false,
        }))
    })
}

struct IndexGroup<I, D> {
    unit: BatchUnit,
    index: [I; 4],
    questions: [Question; 4],
    design: D,
    theta: Vectors,
    /// The condition numbers of V when V⁻¹ was last recomputed; see [`Inverse`].
    condition: [f64; 4],
    sums: RewardSums,
    weights: Vectors,
    /// The number of rewards of each run.
    n_rewards: usize,
    asked: [Arm; 4],
    means: Vectors,
    /// Whether rewards have arrived since the means were computed.
    is_stale: bool,
}

impl<I: Index<Weight = f64> + Send, D: GroupDesign> RunGroup for IndexGroup<I, D> {
    fn ask(&mut self) -> [Arm; 4] {
        let (unit, opening) = (self.unit, self.n_rewards);
        self.asked = if opening < self.sums.n_arms() { [opening; 4] } else { on_unit!(unit, || self.scan(unit)) };
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        self.n_rewards += 1;
        self.is_stale = true;
        let unit = self.unit;
        let (s, is_due) = on_unit!(unit, || {
            self.update_weights(rewards);
            self.advance(unit, pulp::cast(rewards))
        });
        if is_due {
            self.refresh(s);
        }
    }

    fn means(&mut self) -> &[[f64; 4]] {
        if self.is_stale {
            let Self { unit, design, theta, means, .. } = self;
            let unit = *unit;
            on_unit!(unit, || {
                let theta = D::local(theta);
                for (arm, mean) in means.iter_mut().enumerate() {
                    *mean = D::products::<_, 1>(unit, design.arms(), arm, &theta)[0];
                }
            });
            self.is_stale = false;
        }
        numbers(&self.means).as_chunks().0
    }
}

impl<I: Index<Weight = f64>, D: GroupDesign> IndexGroup<I, D> {
    /// The first arm with the least index, in each run.
    #[inline(always)]
    fn scan<S: Unit>(&self, unit: S) -> [Arm; 4] {
        // Copies, so that the compiler knows that nothing changes them and keeps them in registers.
        let (questions, theta, arms) = (self.questions, D::local(&self.theta), self.design.arms());
        let (mut best, mut arm) = (ArgMin::new(unit), unit.splat_f64s(0.0));
        let (fours, last) = self.weights.as_chunks::<4>();
        for (four, weights) in fours.iter().enumerate() {
            let means = D::products::<S, 4>(unit, arms, 4 * four, &theta);
            for n in 0..4 {
                best.take(unit, arm, indices(&self.index, &questions, means[n], weights[n]));
                arm = unit.add_f64s(arm, unit.splat_f64s(1.0));
            }
        }
        for (n, &weight) in last.iter().enumerate() {
            let mean = D::products::<S, 1>(unit, arms, 4 * fours.len() + n, &theta)[0];
            best.take(unit, arm, indices(&self.index, &questions, mean, weight));
            arm = unit.add_f64s(arm, unit.splat_f64s(1.0));
        }
        best.arms(unit)
    }

    /// Counts the pulls of the arms asked for and updates their weights.
    #[inline(always)]
    fn update_weights(&mut self, rewards: [f64; 4]) {
        let pulls = self.sums.count(self.asked, rewards);
        let mut updated = [0.0; 4];
        for lane in 0..4 {
            updated[lane] = self.index[lane].weight(self.asked[lane], pulls[lane]);
        }
        for lane in 0..4 {
            // A whole vector is written at a time, for the reason given at `diagonal`.
            let weights = &mut self.weights[self.asked[lane]];
            let mut lanes: [f64; 4] = pulp::cast(*weights);
            lanes[lane] = updated[lane];
            *weights = pulp::cast(lanes);
        }
    }

    /// One step of V⁻¹ and θ̂ in each run; returns s, and whether anything has to be recomputed.
    #[inline(always)]
    fn advance<S: Unit>(&mut self, unit: S, rewards: f64x4) -> ([f64; 4], bool) {
        let Self { design, theta, .. } = self;
        design.pick(unit, self.asked);
        let s = design.s(unit);
        let surprise = unit.sub_f64s(rewards, design.at_pick(unit, theta));
        let gain = unit.div_f64s(surprise, s);
        for (theta, &u) in theta.iter_mut().zip(design.u()) {
            *theta = unit.mul_add_f64s(u, gain, *theta);
        }
        design.shrink(unit, s);
        let s: [f64; 4] = pulp::cast(s);
        let mut is_due = false;
        for lane in 0..4 {
            is_due |= Inverse::is_coarse_at(s[lane], self.condition[lane]);
        }
        (s, is_due)
    }

    /// Recomputes the runs in which the last step, which had this s, left too few digits.
    fn refresh(&mut self, s: [f64; 4]) {
        for lane in 0..4 {
            if Inverse::is_coarse_at(s[lane], self.condition[lane]) {
                let (inverse, theta) = self.design.refresh(lane, &self.sums);
                self.condition[lane] = inverse.condition();
                let lanes = numbers_mut(&mut self.theta).iter_mut().skip(lane).step_by(4);
                lanes.zip(theta).for_each(|(to, theta)| *to = theta);
            }
        }
    }
}

/// The index of one arm in each run.
#[inline(always)]
fn indices<I: Index<Weight = f64>>(index: &[I; 4], questions: &[Question; 4], mean: f64x4, weight: f64x4) -> f64x4 {
    f64x4(
        index[0].index(&questions[0], mean.0, weight.0),
        index[1].index(&questions[1], mean.1, weight.1),
        index[2].index(&questions[2], mean.2, weight.2),
        index[3].index(&questions[3], mean.3, weight.3),
    )
}
