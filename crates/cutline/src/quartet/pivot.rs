//! Four runs of [`Pivot`] with ridge.

use super::{Alike, Best, InStep, Ledger, Plane, in_plane};
use crate::estimators::{
    SHRINK_LIMIT,
    inverse::{Inverse, Step},
};
use crate::rules::{Bar, Pivot};
use crate::vector::{Unit, Vectors, diagonal, numbers, numbers_mut, vectorised, zeros};
use crate::{Arm, Question};
use pulp::f64x4;

/// Four runs that know nothing yet; `None` if they have too many features.
pub(crate) fn in_step(rule: [Pivot; 4], alike: &Alike<'_>) -> Option<Box<dyn InStep>> {
    in_plane!(alike, |plane| {
        let n_arms = alike.features[0].n_arms;
        let mut quartet = Quartet {
            rule,
            question: alike.question,
            plane,
            condition: [1.0; 4],
            ledger: Ledger::new(n_arms),
            means: zeros(4 * n_arms),
            variances: zeros(4 * n_arms),
            shrunk: [1.0; 4],
            pivots: [0; 4],
            asked: [0; 4],
            shortlist: (0..).take(n_arms + 1).collect(),
        };
        for lane in 0..4 {
            quartet.recompute_variances(lane, &quartet.plane.inverse_of(lane));
        }
        Some(Box::new(quartet))
    })
}

/// Up to how many arms a test of each costs more than it saves.
const FEW_ARMS: usize = 64;

/// Does in each lane what [`DesignedRidge`](crate::estimators::DesignedRidge) does while one pull is out at a time.
struct Quartet<P> {
    rule: [Pivot; 4],
    question: [Question; 4],
    plane: P,
    /// The condition of V when V⁻¹ was last computed afresh; see [`Inverse`].
    condition: [f64; 4],
    ledger: Ledger,
    means: Vectors,
    variances: Vectors,
    /// How much any variance may have shrunk since all were computed afresh: Π s.
    shrunk: [f64; 4],
    pivots: [Arm; 4],
    asked: [Arm; 4],
    /// The arms that a cheap test did not rule out in all runs, or all arms if they are few.
    shortlist: Vec<u32>,
}

impl<P: Plane> InStep for Quartet<P> {
    fn ask(&mut self) -> [Arm; 4] {
        vectorised!(|unit| {
            self.pivots = self.most_doubtful(unit);
            self.asked = self.most_telling(unit);
        });
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        self.ledger.count(self.asked, rewards);
        let s: [f64; 4] = pulp::cast(vectorised!(|unit| self.advance(unit, rewards)));
        for lane in 0..4 {
            self.shrunk[lane] *= s[lane];
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

    fn means(&mut self) -> &[[f64; 4]] {
        lanes(&self.means)
    }
}

impl<P: Plane> Quartet<P> {
    /// Shortens the list to the arms that may be the pivot of some run; returns how many there are.
    #[inline(always)]
    fn shorten(&mut self) -> usize {
        let (rule, question, pivots) = (self.rule, self.question, self.pivots);
        let (means, variances) = (lanes(&self.means), lanes(&self.variances));
        if means.len() <= FEW_ARMS {
            return means.len();
        }
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
        n
    }

    /// The pivot of each run.
    #[inline(always)]
    fn most_doubtful<S: Unit>(&mut self, unit: S) -> [Arm; 4] {
        // Copies, so that the compiler knows that nothing changes them and keeps them in registers.
        let (rule, question) = (self.rule, self.question);
        let n = self.shorten();
        let (means, variances) = (lanes(&self.means), lanes(&self.variances));
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
        self.plane.pick(unit, self.pivots);
        let u = P::local(self.plane.u());
        let (fours, last) = self.variances.as_chunks::<4>();
        let (mut best, mut arm) = (Best::new(unit), 0.0);
        for (four, variances) in fours.iter().enumerate() {
            let c = self.plane.products::<S, 4>(unit, 4 * four, &u);
            for n in 0..4 {
                best.take(unit, arm, untold(c[n], variances[n]));
                arm += 1.0;
            }
        }
        for (n, &q) in last.iter().enumerate() {
            let c = self.plane.products::<S, 1>(unit, 4 * fours.len() + n, &u)[0];
            best.take(unit, arm, untold(c, q));
            arm += 1.0;
        }
        best.arms(unit)
    }

    /// One step of V⁻¹, the means and the variances in each run; returns s.
    #[inline(always)]
    fn advance<S: Unit>(&mut self, unit: S, rewards: [f64; 4]) -> f64x4 {
        let Self { plane, means, variances, asked, .. } = self;
        plane.pick(unit, *asked);
        let s = plane.s(unit);
        let known = diagonal(unit, [means[asked[0]], means[asked[1]], means[asked[2]], means[asked[3]]]);
        let gain = unit.div_f64s(unit.sub_f64s(pulp::cast(rewards), known), s);
        let weight = unit.div_f64s(unit.splat_f64s(-1.0), s);
        reach(unit, plane, means, variances, gain, weight);
        plane.shrink(unit, s);
        s
    }

    /// μ̂ᵢ = xᵢᵀθ̂ in one run.
    fn recompute_means(&mut self, lane: usize, theta: &[f64]) {
        let features = self.plane.features_of(lane);
        let mut means = features.zeros();
        features.times(theta, &mut means);
        let lanes = numbers_mut(&mut self.means).iter_mut().skip(lane).step_by(4);
        lanes.zip(numbers(&means)).for_each(|(to, mean)| *to = *mean);
    }

    /// qᵢ = xᵢᵀV⁻¹xᵢ in one run.
    fn recompute_variances(&mut self, lane: usize, inverse: &Inverse) {
        self.shrunk[lane] = 1.0;
        let features = self.plane.features_of(lane);
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

/// cᵢ = xᵢᵀu, μ̂ᵢ += cᵢ · gain and qᵢ += cᵢ² · weight for every arm.
#[inline(always)]
fn reach<S: Unit, P: Plane>(
    unit: S,
    plane: &P,
    means: &mut [f64x4],
    variances: &mut [f64x4],
    gain: f64x4,
    weight: f64x4,
) {
    let u = P::local(plane.u());
    let (means, last_means) = means.as_chunks_mut::<4>();
    let (variances, last_variances) = variances.as_chunks_mut::<4>();
    let first_of_last = 4 * means.len();
    for (four, (means, variances)) in means.iter_mut().zip(variances).enumerate() {
        let c = plane.products::<S, 4>(unit, 4 * four, &u);
        for n in 0..4 {
            variances[n] = unit.mul_add_f64s(unit.mul_f64s(c[n], weight), c[n], variances[n]);
            means[n] = unit.mul_add_f64s(c[n], gain, means[n]);
        }
    }
    for (arm, (mean, q)) in (first_of_last..).zip(last_means.iter_mut().zip(last_variances)) {
        let c = plane.products::<S, 1>(unit, arm, &u)[0];
        *q = unit.mul_add_f64s(unit.mul_f64s(c, weight), c, *q);
        *mean = unit.mul_add_f64s(c, gain, *mean);
    }
}
