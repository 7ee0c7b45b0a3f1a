//! Four runs of one algorithm in step, one to a lane of the vector unit.
//!
//! A simulation plays many runs that are alike. Here every operation works on four of them at once, so that what a
//! single run spends on bookkeeping is spent once for four. Each lane does the arithmetic of [`Ridge`](crate::estimators::Ridge)
//! and of the rule, operation by operation in their order: a run gives the same bits alone and in company.

use crate::arms::Features;
use crate::estimators::inverse::{Inverse, Step};
use crate::rules::Index;
use crate::vector::{Unit, numbers, numbers_mut, vectorised};
use crate::{Arm, Question};
use pulp::f64x4;
use std::sync::Arc;

/// Four runs in step: each asks for one arm, then each is told its reward, and so on.
pub trait InStep: Send {
    /// The next arm of each run.
    fn ask(&mut self) -> [Arm; 4];

    /// The reward of the arm that each run asked for. Every ask is followed by one tell.
    ///
    /// # Panics
    /// If a reward is not finite.
    fn tell(&mut self, rewards: [f64; 4]);

    /// The estimates of all means: an entry an arm, with the four runs in it.
    fn means(&mut self) -> &[[f64; 4]];
}

/// The most features a run may have to be worth it: four times as many have to fit the nearest cache.
const MOST_FEATURES: usize = 1024;

/// Four runs of an [`Index`] with ridge.
pub(crate) struct Quartet<I> {
    index: [I; 4],
    question: [Question; 4],
    lambda: f64,
    /// The condition of V when V⁻¹ was last computed afresh; see [`Inverse`].
    condition: [f64; 4],
    /// The features of each run, for when one has to be looked at alone.
    alone: [Arc<Features>; 4],
    /// The features, arm by arm.
    features: Vec<f64x4>,
    /// V⁻¹, column by column.
    inverse: Vec<f64x4>,
    theta: Vec<f64x4>,
    x: Vec<f64x4>,
    u: Vec<f64x4>,
    /// −u/s.
    down: Vec<f64x4>,
    weights: Vec<f64x4>,
    pulls: Vec<[u32; 4]>,
    /// The sum of each arm's rewards.
    rewards: Vec<[f64; 4]>,
    /// How many pulls each run has been told.
    told: usize,
    asked: [Arm; 4],
    means: Vec<f64x4>,
}

impl<I: Index> Quartet<I> {
    /// Four runs that know nothing yet; `None` if they are large or differ in the number of arms or features.
    pub(crate) fn new(index: [I; 4], alone: [&Arc<Features>; 4], question: [Question; 4], lambda: f64) -> Option<Self> {
        let (n_arms, d) = (alone[0].n_arms, alone[0].dimension);
        if n_arms * d > MOST_FEATURES {
            return None;
        }
        if alone.iter().any(|features| (features.n_arms, features.dimension) != (n_arms, d)) {
            return None;
        }
        let zeros = |n: usize| vec![f64x4(0.0, 0.0, 0.0, 0.0); n];
        let mut features = zeros(n_arms * d);
        for (lane, one) in alone.iter().enumerate() {
            for arm in 0..n_arms {
                let row = numbers_mut(&mut features[arm * d..(arm + 1) * d]).iter_mut().skip(lane).step_by(4);
                row.zip(one.row(arm).iter()).for_each(|(to, feature)| *to = feature);
            }
        }
        let mut inverse = zeros(d * d);
        inverse.iter_mut().step_by(d + 1).for_each(|entry| *entry = pulp::cast([1.0 / lambda; 4]));
        Some(Self {
            index,
            question,
            lambda,
            condition: [1.0; 4],
            alone: alone.map(Arc::clone),
            features,
            inverse,
            theta: zeros(d),
            x: zeros(d),
            u: zeros(d),
            down: zeros(d),
            weights: zeros(n_arms),
            pulls: vec![[0; 4]; n_arms],
            rewards: vec![[0.0; 4]; n_arms],
            told: 0,
            asked: [0; 4],
            means: zeros(n_arms),
        })
    }

    /// Computes V⁻¹ and θ̂ of one run afresh, where a step cost too many digits.
    fn refresh(&mut self, lane: usize) {
        let d = self.theta.len();
        let pulls: Vec<u32> = self.pulls.iter().map(|pulls| pulls[lane]).collect();
        let rewards: Vec<f64> = self.rewards.iter().map(|rewards| rewards[lane]).collect();
        let (mut inverse, mut step, mut theta) = (Inverse::new(d, self.lambda), Step::new(d), vec![0.0; d]);
        inverse.refresh(&self.alone[lane], &pulls, &mut step);
        step.regress(&self.alone[lane], &rewards, &mut theta);
        for (to, theta) in numbers_mut(&mut self.theta).iter_mut().skip(lane).step_by(4).zip(theta) {
            *to = theta;
        }
        self.condition[lane] = inverse.condition();
        let inverse = inverse.rows(d);
        for (column, to) in self.inverse.chunks_exact_mut(d).enumerate() {
            for (row, to) in to.iter_mut().enumerate() {
                numbers_mut(std::slice::from_mut(to))[lane] = inverse(row, column);
            }
        }
    }
}

impl<I: Index + Send> InStep for Quartet<I> {
    fn ask(&mut self) -> [Arm; 4] {
        self.asked = if self.told < self.pulls.len() {
            [self.told; 4]
        } else {
            let Self { index, question, features, theta, weights, .. } = self;
            vectorised!(|unit| scan(unit, (index, question), features, theta, weights))
        };
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        let (d, arms) = (self.theta.len(), self.asked);
        for lane in 0..4 {
            assert!(rewards[lane].is_finite(), "a reward must be finite, not {}", rewards[lane]);
            self.rewards[arms[lane]][lane] += rewards[lane];
            let pulls = &mut self.pulls[arms[lane]][lane];
            *pulls += 1;
            numbers_mut(&mut self.weights)[4 * arms[lane] + lane] = self.index[lane].weight(*pulls);
        }
        self.told += 1;
        let rows = numbers(&self.features);
        let rows: [&[f64]; 4] = std::array::from_fn(|lane| &rows[4 * d * arms[lane]..4 * d * (arms[lane] + 1)]);
        for (j, x) in self.x.iter_mut().enumerate() {
            *x = f64x4(rows[0][4 * j], rows[1][4 * j + 1], rows[2][4 * j + 2], rows[3][4 * j + 3]);
        }
        let Self { inverse, theta, x, u, down, .. } = self;
        let s = vectorised!(|unit| advance(unit, pulp::cast(rewards), inverse, theta, x, u, down));
        for (lane, s) in pulp::cast::<f64x4, [f64; 4]>(s).into_iter().enumerate() {
            if Inverse::is_coarse_at(s, self.condition[lane]) {
                self.refresh(lane);
            }
        }
    }

    fn means(&mut self) -> &[[f64; 4]] {
        let Self { features, theta, means, .. } = self;
        vectorised!(|unit| {
            for (mean, row) in means.iter_mut().zip(features.chunks_exact(theta.len())) {
                *mean = dots::<_, 1>(unit, row, theta)[0];
            }
        });
        numbers(&self.means).as_chunks().0
    }
}

/// The first arm with the least index, in each lane.
#[inline(always)]
fn scan<S: Unit, I: Index>(
    unit: S,
    (index, question): (&[I; 4], &[Question; 4]),
    features: &[f64x4],
    theta: &[f64x4],
    weights: &[f64x4],
) -> [Arm; 4] {
    // A copy, so that the compiler knows that nothing changes it and keeps it in registers.
    let question = *question;
    let mut best = Best { least: unit.splat_f64s(f64::INFINITY), found: unit.splat_f64s(0.0), arm: 0.0 };
    let (fours, rest) = weights.as_chunks::<4>();
    let mut rows = features.chunks_exact(4 * theta.len());
    for (rows, weights) in (&mut rows).zip(fours) {
        let means = dots::<S, 4>(unit, rows, theta);
        for n in 0..4 {
            best.take(unit, indices(index, &question, means[n], weights[n]));
        }
    }
    for (row, &weight) in rows.remainder().chunks_exact(theta.len()).zip(rest) {
        best.take(unit, indices(index, &question, dots::<S, 1>(unit, row, theta)[0], weight));
    }
    best.arms(unit)
}

/// The index of one arm in each lane.
#[inline(always)]
fn indices<I: Index>(index: &[I; 4], question: &[Question; 4], mean: f64x4, weight: f64x4) -> f64x4 {
    f64x4(
        index[0].index(&question[0], mean.0, weight.0),
        index[1].index(&question[1], mean.1, weight.1),
        index[2].index(&question[2], mean.2, weight.2),
        index[3].index(&question[3], mean.3, weight.3),
    )
}

/// The least value of each lane so far, the arm it belongs to, and the number of the next arm.
struct Best {
    least: f64x4,
    found: f64x4,
    arm: f64,
}

impl Best {
    #[inline(always)]
    fn take<S: Unit>(&mut self, unit: S, value: f64x4) {
        let is_less = unit.less_than_f64s(value, self.least);
        self.least = unit.select_f64s(is_less, value, self.least);
        self.found = unit.select_f64s(is_less, unit.splat_f64s(self.arm), self.found);
        self.arm += 1.0;
    }

    /// The arms found: beside 2⁵² a float's last bits are the whole number that was added.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a few bits")]
    fn arms<S: Unit>(&self, unit: S) -> [Arm; 4] {
        let found = unit.add_f64s(self.found, unit.splat_f64s(4_503_599_627_370_496.0));
        let bits: [u64; 4] = pulp::cast(found);
        [bits[0] as u32 as usize, bits[1] as u32 as usize, bits[2] as u32 as usize, bits[3] as u32 as usize]
    }
}

/// One step of V⁻¹ and θ̂ in each lane; returns s.
#[inline(always)]
fn advance<S: Unit>(
    unit: S,
    rewards: f64x4,
    inverse: &mut [f64x4],
    theta: &mut [f64x4],
    x: &[f64x4],
    u: &mut [f64x4],
    down: &mut [f64x4],
) -> f64x4 {
    let d = x.len();
    let (fours, rest) = u.as_chunks_mut::<4>();
    let mut columns = inverse.chunks_exact(4 * d);
    for (u, columns) in fours.iter_mut().zip(&mut columns) {
        *u = dots_crosswise::<S, 4>(unit, columns, x);
    }
    for (u, column) in rest.iter_mut().zip(columns.remainder().chunks_exact(d)) {
        *u = dots_crosswise::<S, 1>(unit, column, x)[0];
    }
    let s = unit.add_f64s(unit.splat_f64s(1.0), dots_crosswise::<S, 1>(unit, x, u)[0]);
    let scale = unit.div_f64s(unit.splat_f64s(-1.0), s);
    let surprise = unit.sub_f64s(rewards, dots::<S, 1>(unit, x, theta)[0]);
    let gain = unit.div_f64s(surprise, s);
    for (((down, theta), &u), _) in down.iter_mut().zip(theta.iter_mut()).zip(u.iter()).zip(x) {
        *down = unit.mul_f64s(u, scale);
        *theta = unit.mul_add_f64s(u, gain, *theta);
    }
    let (fours, rest) = u.as_chunks::<4>();
    let mut columns = inverse.chunks_exact_mut(4 * d);
    for (u, columns) in fours.iter().zip(&mut columns) {
        shrink::<S, 4>(unit, columns, u, down);
    }
    for (u, column) in rest.iter().zip(columns.into_remainder().chunks_exact_mut(d)) {
        shrink::<S, 1>(unit, column, &[*u], down);
    }
    s
}

/// aᵀb for `N` vectors a that lie one after the other, one product after the other.
#[inline(always)]
fn dots<S: Unit, const N: usize>(unit: S, a: &[f64x4], b: &[f64x4]) -> [f64x4; N] {
    let d = b.len();
    let a = split::<N>(a, d);
    let mut sums = [unit.splat_f64s(0.0); N];
    for j in 0..d {
        for n in 0..N {
            sums[n] = unit.mul_add_f64s(a[n][j], b[j], sums[n]);
        }
    }
    sums
}

/// As [`dots`], even and odd products apart.
#[inline(always)]
fn dots_crosswise<S: Unit, const N: usize>(unit: S, a: &[f64x4], b: &[f64x4]) -> [f64x4; N] {
    let d = b.len();
    let a = split::<N>(a, d);
    let mut even = [unit.splat_f64s(0.0); N];
    let mut odd = even;
    for j in (0..d - d % 2).step_by(2) {
        for n in 0..N {
            even[n] = unit.mul_add_f64s(a[n][j], b[j], even[n]);
            odd[n] = unit.mul_add_f64s(a[n][j + 1], b[j + 1], odd[n]);
        }
    }
    for n in 0..N {
        if d % 2 == 1 {
            even[n] = unit.mul_add_f64s(a[n][d - 1], b[d - 1], even[n]);
        }
        even[n] = unit.add_f64s(even[n], odd[n]);
    }
    even
}

/// (column n) += uₙ · down for `N` columns that lie one after the other.
#[inline(always)]
fn shrink<S: Unit, const N: usize>(unit: S, columns: &mut [f64x4], u: &[f64x4; N], down: &[f64x4]) {
    let d = down.len();
    let mut rest = columns;
    for &u in u {
        let (column, others) = rest.split_at_mut(d);
        for (value, &down) in column.iter_mut().zip(down) {
            *value = unit.mul_add_f64s(u, down, *value);
        }
        rest = others;
    }
}

/// `N` vectors of length d that lie one after the other.
#[inline(always)]
fn split<const N: usize>(a: &[f64x4], d: usize) -> [&[f64x4]; N] {
    let mut parts: [&[f64x4]; N] = [&[]; N];
    for (n, part) in parts.iter_mut().enumerate() {
        *part = &a[n * d..(n + 1) * d];
    }
    parts
}
