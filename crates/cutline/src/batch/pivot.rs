//! Four runs of [`Pivot`] with ridge.

mod find_pivots;

use super::{ArgMin, GroupDesign, GroupSettings, RewardSums, RunGroup, with_design};
use crate::estimators::SHRINK_LIMIT;
use crate::estimators::inverse::{Inverse, Step};
use crate::rules::Pivot;
use crate::vector::{BatchUnit, Unit, Vectors, batch_unit, diagonal, numbers, numbers_mut, on_unit, zeros};
use crate::{Arm, Question};
use pulp::f64x4;

/// Four runs of [`Pivot`] before their first pull; `None` if they have too many features (see [`with_design`]) or this machine has not
/// the vector unit.
pub(crate) fn pivot_group(rules: [Pivot; 4], settings: &GroupSettings<'_>) -> Option<Box<dyn RunGroup>> {
    let unit = batch_unit()?;
    with_design!(settings, |design| {
        let n_arms = settings.features[0].n_arms;
        let padded = n_arms.next_multiple_of(4);
        let mut group = PivotGroup {
            unit,
            rules,
            questions: settings.questions,
            design,
            condition: [1.0; 4],
            sums: RewardSums::new(n_arms),
            means: zeros(4 * padded),
            variances: zeros(4 * padded),
            covariances: zeros(4 * padded),
            shrinkage: [1.0; 4],
            pivots: [0; 4],
            runners_up: [0; 4],
            asked: [0; 4],
            shortlist: vec![0; padded + 1],
        };
        on_unit!(unit, || group.compute_variances(unit));
        Some(Box::new(group))
    })
}

/// Four runs. Each lane does what [`Pivot`] and [`DesignedRidge`](crate::estimators::DesignedRidge) do together when every reward is told
/// before the next arm is asked for.
struct PivotGroup<D> {
    unit: BatchUnit,
    rules: [Pivot; 4],
    questions: [Question; 4],
    design: D,
    /// The condition numbers of V when V⁻¹ was last recomputed; see [`Inverse`].
    condition: [f64; 4],
    sums: RewardSums,
    /// One vector per arm. This and the next two fields are padded to a multiple of four with arms whose features are all 0. These are
    /// never chosen: such an arm is never the pivot, a pull of it is not informative, and ties go to the first arm.
    means: Vectors,
    variances: Vectors,
    /// cᵢ = xᵢᵀV⁻¹x, where x are the features of the pivots.
    covariances: Vectors,
    /// The largest factor by which a variance can have shrunk since all were recomputed: Π s.
    shrinkage: [f64; 4],
    pivots: [Arm; 4],
    /// The least certain arms after the pivots; not used with few arms.
    runners_up: [Arm; 4],
    asked: [Arm; 4],
    /// The arms that a cheap test did not rule out as pivots; not used with few arms.
    shortlist: Vec<u32>,
}

impl<D: GroupDesign> RunGroup for PivotGroup<D> {
    fn ask(&mut self) -> [Arm; 4] {
        let unit = self.unit;
        on_unit!(unit, || {
            self.find_pivots(unit);
            self.asked = self.most_informative(unit);
        });
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        self.sums.count(self.asked, rewards);
        let unit = self.unit;
        let (s, is_due) = on_unit!(unit, || self.advance(unit, rewards));
        if is_due {
            self.refresh(s);
        }
    }

    fn means(&mut self) -> &[[f64; 4]] {
        &lanes(&self.means)[..self.sums.n_arms()]
    }
}

impl<D: GroupDesign> PivotGroup<D> {
    /// The arm that is most informative about the pivot, in each run. Also stores the covariances with the pivots.
    #[inline(always)]
    fn most_informative<S: Unit>(&mut self, unit: S) -> [Arm; 4] {
        self.design.pick(unit, self.pivots);
        let (u, arms) = (D::local(self.design.u()), self.design.arms());
        let (mut best, mut arm) = (ArgMin::new(unit), unit.splat_f64s(0.0));
        let covariances = self.covariances.as_chunks_mut::<4>().0;
        for (four, (known, q)) in covariances.iter_mut().zip(self.variances.as_chunks::<4>().0).enumerate() {
            let c = D::products::<S, 4>(unit, arms, 4 * four, &u);
            *known = c;
            for n in 0..4 {
                best.take(unit, arm, negative_information(c[n], q[n]));
                arm = unit.add_f64s(arm, unit.splat_f64s(1.0));
            }
        }
        best.arms(unit)
    }

    /// One step of V⁻¹, the means and the variances in each run; returns s, and whether anything has to be recomputed.
    #[inline(always)]
    fn advance<S: Unit>(&mut self, unit: S, rewards: [f64; 4]) -> ([f64; 4], bool) {
        // An arm is the most informative about itself unless others are very similar. So most often the pivots themselves are pulled,
        // and `most_informative` has already computed u and c.
        let has_products = self.asked == self.pivots;
        if !has_products {
            self.design.pick(unit, self.asked);
        }
        let s = self.design.s(unit);
        let mean = picked(unit, &self.means, self.asked);
        let gain = unit.div_f64s(unit.sub_f64s(pulp::cast(rewards), mean), s);
        let weight = unit.div_f64s(unit.splat_f64s(-1.0), s);
        self.update_moments(unit, has_products, gain, weight);
        self.design.shrink(unit, s);
        let s: [f64; 4] = pulp::cast(s);
        let mut is_due = false;
        for lane in 0..4 {
            self.shrinkage[lane] *= s[lane];
            is_due |= Inverse::is_coarse_at(s[lane], self.condition[lane]);
            is_due |= self.shrinkage[lane] > SHRINK_LIMIT;
        }
        (s, is_due)
    }

    /// Recomputes the runs in which the last step, which had this s, left too few digits.
    fn refresh(&mut self, s: [f64; 4]) {
        for lane in 0..4 {
            if Inverse::is_coarse_at(s[lane], self.condition[lane]) {
                let (inverse, theta) = self.design.refresh(lane, &self.sums);
                self.condition[lane] = inverse.condition();
                self.recompute_means(lane, &theta);
                self.recompute_variances(lane, &inverse);
            } else if self.shrinkage[lane] > SHRINK_LIMIT {
                self.recompute_variances(lane, &self.design.inverse_of(lane));
            }
        }
    }

    /// μ̂ᵢ += cᵢ · gain and qᵢ += cᵢ² · weight for every arm, with cᵢ = xᵢᵀu; `has_products` says that `covariances` has these cᵢ already.
    #[inline(always)]
    fn update_moments<S: Unit>(&mut self, unit: S, has_products: bool, gain: f64x4, weight: f64x4) {
        let (u, arms) = (D::local(self.design.u()), self.design.arms());
        let (means, variances) = (self.means.as_chunks_mut::<4>().0, self.variances.as_chunks_mut::<4>().0);
        let known = self.covariances.as_chunks::<4>().0;
        for (four, ((means, variances), known)) in means.iter_mut().zip(variances).zip(known).enumerate() {
            let c = if has_products { *known } else { D::products::<S, 4>(unit, arms, 4 * four, &u) };
            for n in 0..4 {
                variances[n] = unit.mul_add_f64s(unit.mul_f64s(c[n], weight), c[n], variances[n]);
                means[n] = unit.mul_add_f64s(c[n], gain, means[n]);
            }
        }
    }

    /// qᵢ = xᵢᵀV⁻¹xᵢ in all runs.
    #[inline(always)]
    fn compute_variances<S: Unit>(&mut self, unit: S) {
        for arm in 0..self.sums.n_arms() {
            self.design.pick(unit, [arm; 4]);
            self.variances[arm] = self.design.q(unit);
        }
    }

    /// μ̂ᵢ = xᵢᵀθ̂ in one run.
    fn recompute_means(&mut self, lane: usize, theta: &[f64]) {
        let features = self.design.features_of(lane);
        let mut means = features.zeros();
        features.times(theta, &mut means);
        let lanes = numbers_mut(&mut self.means).iter_mut().skip(lane).step_by(4);
        lanes.take(features.n_arms).zip(numbers(&means)).for_each(|(to, mean)| *to = *mean);
    }

    /// qᵢ = xᵢᵀV⁻¹xᵢ in one run.
    fn recompute_variances(&mut self, lane: usize, inverse: &Inverse) {
        self.shrinkage[lane] = 1.0;
        let features = self.design.features_of(lane);
        let mut step = Step::new(features.dimension);
        let lanes = numbers_mut(&mut self.variances).iter_mut().skip(lane).step_by(4);
        for (arm, to) in lanes.take(features.n_arms).enumerate() {
            inverse.solve_vectorised(features.row(arm), &mut step);
            *to = step.q;
        }
    }
}

/// Each vector as an array with one number per run.
#[inline(always)]
fn lanes(vectors: &Vectors) -> &[[f64; 4]] {
    numbers(vectors).as_chunks().0
}

/// The entry of one arm in each run, from one vector per arm.
#[inline(always)]
fn picked<S: Unit>(unit: S, vectors: &[f64x4], [a, b, c, d]: [Arm; 4]) -> f64x4 {
    diagonal(unit, [vectors[a], vectors[b], vectors[c], vectors[d]])
}

/// The negative of [`Pivot::information`], in each run: the least one is the best.
#[inline(always)]
fn negative_information(c: f64x4, q: f64x4) -> f64x4 {
    f64x4(
        -Pivot::information(c.0, q.0),
        -Pivot::information(c.1, q.1),
        -Pivot::information(c.2, q.2),
        -Pivot::information(c.3, q.3),
    )
}
