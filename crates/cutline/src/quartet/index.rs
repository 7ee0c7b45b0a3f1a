//! Four runs of an [`Index`] with ridge.

use super::design::{Design, dots};
use super::{Best, InStep, by_width, is_alike};
use crate::arms::Features;
use crate::rules::Index;
use crate::vector::{Unit, Vectors, numbers, numbers_mut, vectorised, zeros};
use crate::{Arm, Question};
use pulp::f64x4;
use std::sync::Arc;

/// Four runs that know nothing yet; `None` if they are large or differ in the number of arms or features.
pub(crate) fn in_step<I: Index + Send + 'static>(
    index: [I; 4],
    alone: [&Arc<Features>; 4],
    question: [Question; 4],
    lambda: f64,
) -> Option<Box<dyn InStep>> {
    if !is_alike(alone) {
        return None;
    }
    by_width!(alone[0].dimension, |D| {
        let (design, n_arms) = (Design::<D>::new(alone, lambda), alone[0].n_arms);
        let (theta, weights, means) = (zeros(4 * D), zeros(4 * n_arms), zeros(4 * n_arms));
        Some(Box::new(Quartet { index, question, design, theta, weights, told: 0, asked: [0; 4], means }))
    })
}

struct Quartet<I, const D: usize> {
    index: [I; 4],
    question: [Question; 4],
    design: Design<D>,
    theta: Vectors,
    weights: Vectors,
    /// How many pulls each run has been told.
    told: usize,
    asked: [Arm; 4],
    means: Vectors,
}

impl<I: Index + Send, const D: usize> InStep for Quartet<I, D> {
    fn ask(&mut self) -> [Arm; 4] {
        self.asked =
            if self.told < self.design.n_arms() { [self.told; 4] } else { vectorised!(|unit| self.scan(unit)) };
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        let counts = self.design.count(self.asked, rewards);
        for lane in 0..4 {
            // A whole vector at a time; see `diagonal`.
            let weights = &mut self.weights[self.asked[lane]];
            let mut lanes: [f64; 4] = pulp::cast(*weights);
            lanes[lane] = self.index[lane].weight(counts[lane]);
            *weights = pulp::cast(lanes);
        }
        self.told += 1;
        let s = vectorised!(|unit| self.advance(unit, pulp::cast(rewards)));
        let is_coarse = self.design.is_coarse(pulp::cast(s));
        for lane in (0..4).filter(|&lane| is_coarse[lane]) {
            let (_, theta) = self.design.refresh(lane);
            let lanes = numbers_mut(&mut self.theta).iter_mut().skip(lane).step_by(4);
            lanes.zip(theta).for_each(|(to, theta)| *to = theta);
        }
    }

    fn means(&mut self) -> &[[f64; 4]] {
        let Self { design, theta, means, .. } = self;
        vectorised!(|unit| {
            let theta = theta.as_chunks::<D>().0;
            for (mean, row) in means.iter_mut().zip(design.rows()) {
                *mean = dots(unit, std::array::from_ref(row), &theta[0])[0];
            }
        });
        numbers(&self.means).as_chunks().0
    }
}

impl<I: Index, const D: usize> Quartet<I, D> {
    /// The first arm with the least index, in each run.
    #[inline(always)]
    fn scan<S: Unit>(&self, unit: S) -> [Arm; 4] {
        // A copy, so that the compiler knows that nothing changes it and keeps it in registers.
        let question = self.question;
        let theta = &self.theta.as_chunks::<D>().0[0];
        let (mut best, mut arm) = (Best::new(unit), 0.0);
        let (rows, last_rows) = self.design.rows().as_chunks::<4>();
        let (weights, last_weights) = self.weights.as_chunks::<4>();
        for (rows, weights) in rows.iter().zip(weights) {
            let means = dots(unit, rows, theta);
            for n in 0..4 {
                best.take(unit, arm, indices(&self.index, &question, means[n], weights[n]));
                arm += 1.0;
            }
        }
        for (row, &weight) in last_rows.iter().zip(last_weights) {
            let mean = dots(unit, std::array::from_ref(row), theta)[0];
            best.take(unit, arm, indices(&self.index, &question, mean, weight));
            arm += 1.0;
        }
        best.arms(unit)
    }

    /// One step of V⁻¹ and θ̂ in each run; returns s.
    #[inline(always)]
    fn advance<S: Unit>(&mut self, unit: S, rewards: f64x4) -> f64x4 {
        let Self { design, theta, .. } = self;
        let theta = &mut theta.as_chunks_mut::<D>().0[0];
        design.pick(unit, self.asked);
        let s = design.s(unit);
        let surprise = unit.sub_f64s(rewards, dots(unit, std::array::from_ref(design.x()), theta)[0]);
        let gain = unit.div_f64s(surprise, s);
        for (theta, &u) in theta.iter_mut().zip(design.u()) {
            *theta = unit.mul_add_f64s(u, gain, *theta);
        }
        design.shrink(unit, s);
        s
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
