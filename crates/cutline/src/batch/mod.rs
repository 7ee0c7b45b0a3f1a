//! Many runs of one algorithm at once, four at a time on the lanes of the vector unit.
//!
//! A simulation plays many similar runs. Here every operation works on a group of four of them, so the bookkeeping is done once per
//! group instead of once per run. Each lane does exactly the operations of the estimator and the rule, in the same order, so a run gives
//! the same bits in a batch as on its own.

mod arm_design;
mod feature_design;
mod index;
mod mean_index;
mod pivot;
mod reward_sums;

pub(crate) use index::index_group;
pub(crate) use mean_index::mean_index_group;
pub(crate) use pivot::pivot_group;

use crate::estimators::inverse::Inverse;
use crate::features::Features;
use crate::vector::Unit;
use crate::{Arm, Question};
use pulp::f64x4;
use reward_sums::RewardSums;
use std::sync::Arc;

/// Several runs of one algorithm in lockstep: all ask for an arm, then all are told their reward, and so on.
/// [`Spec::batch`](crate::Spec::batch) builds one.
///
/// The runs are played in groups of [`GROUP_SIZE`](Self::GROUP_SIZE); a batch may have any size, but costs as much as the next multiple
/// of the group size.
pub struct BatchLearner {
    n_runs: usize,
    /// Run i is run i mod 4 of group i / 4. The last group is filled up with copies of the last run.
    groups: Vec<Box<dyn RunGroup>>,
}

impl BatchLearner {
    /// How many runs are computed at once. Batches of exactly this size make the best use of the caches.
    pub const GROUP_SIZE: usize = 4;

    /// A batch of `n_runs` runs.
    pub(crate) fn new(n_runs: usize, groups: Vec<Box<dyn RunGroup>>) -> Self {
        Self { n_runs, groups }
    }

    /// The number of runs.
    #[must_use]
    pub fn n_runs(&self) -> usize {
        self.n_runs
    }

    /// Writes the next arm of each run to `arms`.
    ///
    /// # Panics
    /// If `arms` does not have one entry per run.
    pub fn ask(&mut self, arms: &mut [Arm]) {
        assert_eq!(arms.len(), self.n_runs, "one arm per run");
        let (full, rest) = arms.as_chunks_mut::<{ Self::GROUP_SIZE }>();
        let (groups, last) = self.groups.split_at_mut(full.len());
        for (group, arms) in groups.iter_mut().zip(full) {
            *arms = group.ask();
        }
        for group in last {
            rest.copy_from_slice(&group.ask()[..rest.len()]);
        }
    }

    /// Gives each run the reward of the arm it asked for. To be called exactly once after each [`ask`](Self::ask).
    ///
    /// # Panics
    /// If there is not one reward per run, or a reward is not finite.
    pub fn tell(&mut self, rewards: &[f64]) {
        assert_eq!(rewards.len(), self.n_runs, "one reward per run");
        let (full, rest) = rewards.as_chunks::<{ Self::GROUP_SIZE }>();
        let (groups, last) = self.groups.split_at_mut(full.len());
        for (group, rewards) in groups.iter_mut().zip(full) {
            group.tell(*rewards);
        }
        for group in last {
            group.tell(std::array::from_fn(|lane| rest[lane.min(rest.len() - 1)]));
        }
    }

    /// One pull in every run: an [`ask`](Self::ask) and a [`tell`](Self::tell) without buffers for arms and rewards. The reward of a run
    /// is `reward(run, arm)`.
    ///
    /// # Panics
    /// If a reward is not finite.
    #[inline]
    pub fn pull(&mut self, mut reward: impl FnMut(usize, Arm) -> f64) {
        let mut first = 0;
        for group in &mut self.groups {
            let arms = group.ask();
            let mut rewards = [0.0; Self::GROUP_SIZE];
            for lane in 0..Self::GROUP_SIZE {
                let run = first + lane;
                // Copies of the last run get its reward.
                rewards[lane] = if run < self.n_runs { reward(run, arms[lane]) } else { rewards[lane - 1] };
            }
            group.tell(rewards);
            first += Self::GROUP_SIZE;
        }
    }

    /// The estimates μ̂ of all means of one run.
    ///
    /// # Panics
    /// If there is no such run.
    pub fn means(&mut self, run: usize) -> impl Iterator<Item = f64> + '_ {
        assert!(run < self.n_runs, "run {run} of {}", self.n_runs);
        let lane = run % Self::GROUP_SIZE;
        self.groups[run / Self::GROUP_SIZE].means().iter().map(move |means| means[lane])
    }
}

impl std::fmt::Debug for BatchLearner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchLearner").field("n_runs", &self.n_runs).finish_non_exhaustive()
    }
}

/// Four runs, one per lane.
pub(crate) trait RunGroup: Send {
    /// The next arm of each run.
    fn ask(&mut self) -> [Arm; 4];

    /// The reward of the arm that each run asked for.
    ///
    /// # Panics
    /// If a reward is not finite.
    fn tell(&mut self, rewards: [f64; 4]);

    /// The estimates of all means: one entry per arm, which holds the means of the four runs.
    fn means(&mut self) -> &[[f64; 4]];
}

/// V⁻¹ of four runs, one per lane, in the coordinates that ridge works in.
trait GroupDesign: Send {
    /// How loops access a vector of coordinates: a copy that stays in registers, or a reference.
    type Local<'a>;

    fn local(vector: &[f64x4]) -> Self::Local<'_>;

    /// How loops access the coordinates of all arms: a local value, because the compiler would reload fields of `self` after every write.
    type Arms<'a>: Copy
    where
        Self: 'a;

    fn arms(&self) -> Self::Arms<'_>;

    /// The number of coordinates.
    fn width(&self) -> usize;

    /// Picks one arm per run. In what follows x are its coordinates. Sets u to V⁻¹x.
    fn pick<S: Unit>(&mut self, unit: S, arms: [Arm; 4]);

    /// V⁻¹x of the arms picked.
    fn u(&self) -> &[f64x4];

    /// q = xᵀu of the arms picked.
    fn q<S: Unit>(&self, unit: S) -> f64x4;

    /// s = 1 + q of the arms picked.
    #[inline(always)]
    fn s<S: Unit>(&self, unit: S) -> f64x4 {
        unit.add_f64s(unit.splat_f64s(1.0), self.q(unit))
    }

    /// xᵀv of the arms picked.
    fn at_pick<S: Unit>(&self, unit: S, v: &[f64x4]) -> f64x4;

    /// xᵀv of the `N` arms from `first` on.
    fn products<S: Unit, const N: usize>(unit: S, arms: Self::Arms<'_>, first: Arm, v: &Self::Local<'_>) -> [f64x4; N];

    /// V⁻¹ −= u uᵀ/s. Overwrites u.
    fn shrink<S: Unit>(&mut self, unit: S, s: f64x4);

    /// Recomputes V⁻¹ of one run from its pulls; returns it and θ̂.
    fn refresh(&mut self, lane: usize, sums: &RewardSums) -> (Inverse, Vec<f64>);

    /// V⁻¹ of one run.
    fn inverse_of(&self, lane: usize) -> Inverse;

    /// The coordinates of the arms of one run.
    fn features_of(&self, lane: usize) -> &Features;
}

/// The largest K·d for which a batch is faster: the features of four runs have to fit in the first-level cache.
const MAX_ENTRIES: usize = 4096;

/// `with_design!(settings, |design| work)` does `work` with the [`GroupDesign`] for these features; it is `None` if an arm has more than
/// 32 features and there are more arms than features.
///
/// With no more arms than features the design is an [`ArmDesign`](arm_design::ArmDesign), else a
/// [`FeatureDesign`](feature_design::FeatureDesign) of constant width: the features are padded with zeros up to the next width below, so
/// that loops over them unroll and sums stay in registers.
macro_rules! with_design {
    ($settings:expr, |$design:ident| $work:expr) => {{
        let (features, lambda) = ($settings.features, $settings.lambda);
        macro_rules! width {
            ($width:literal) => {{
                let $design = $crate::batch::feature_design::FeatureDesign::<$width>::new(features, lambda);
                $work
            }};
        }
        match features[0].dimension {
            dimension if features[0].n_arms <= dimension => {
                let $design = $crate::batch::arm_design::ArmDesign::new(features, lambda);
                $work
            }
            1 => width!(1),
            2 => width!(2),
            3 => width!(3),
            4 => width!(4),
            5 => width!(5),
            6 => width!(6),
            7 => width!(7),
            8 => width!(8),
            9..=10 => width!(10),
            11..=12 => width!(12),
            13 => width!(13),
            14..=16 => width!(16),
            17..=20 => width!(20),
            21..=24 => width!(24),
            25..=32 => width!(32),
            _ => None,
        }
    }};
}
use with_design;

/// The inputs from which a group of four runs is built. All four runs have the same number of arms and of features.
pub(crate) struct GroupSettings<'a> {
    features: [&'a Arc<Features>; 4],
    questions: [Question; 4],
    lambda: f64,
}

impl<'a> GroupSettings<'a> {
    /// `None` if the runs differ in shape or have so many features that a batch would not be faster.
    pub(crate) fn new(features: [&'a Arc<Features>; 4], questions: [Question; 4], lambda: f64) -> Option<Self> {
        let shape = |features: &Features| (features.n_arms, features.dimension);
        let (n_arms, dimension) = shape(features[0]);
        let have_one_shape = features.iter().all(|features| shape(features) == (n_arms, dimension));
        (have_one_shape && n_arms * dimension <= MAX_ENTRIES).then_some(Self { features, questions, lambda })
    }
}

/// A running arg min: the least value of each run so far, and its arm.
struct ArgMin {
    least: f64x4,
    /// The arms, as floats.
    found: f64x4,
}

impl ArgMin {
    #[inline(always)]
    fn new<S: Unit>(unit: S) -> Self {
        Self { least: unit.splat_f64s(f64::INFINITY), found: unit.splat_f64s(0.0) }
    }

    /// Takes one more arm per run and its value. Arms must come in ascending order: ties go to the first.
    #[inline(always)]
    fn take<S: Unit>(&mut self, unit: S, arms: f64x4, value: f64x4) {
        let is_less = unit.less_than_f64s(value, self.least);
        self.least = unit.min_f64s(value, self.least);
        self.found = unit.select_f64s(is_less, arms, self.found);
    }

    /// Which arms [`ArgMin::take`] would drop, the old or the new one of each run, and their values.
    #[inline(always)]
    fn displaced<S: Unit>(&self, unit: S, arms: f64x4, value: f64x4) -> (f64x4, f64x4) {
        let is_less = unit.less_than_f64s(value, self.least);
        (unit.select_f64s(is_less, self.found, arms), unit.select_f64s(is_less, self.least, value))
    }

    /// The arms found, as integers: adding 2⁵² to a float moves its integer value into the low bits.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are the number of the arm")]
    fn arms<S: Unit>(&self, unit: S) -> [Arm; 4] {
        let found = unit.add_f64s(self.found, unit.splat_f64s(4_503_599_627_370_496.0));
        let bits: [u64; 4] = pulp::cast(found);
        [bits[0] as u32 as usize, bits[1] as u32 as usize, bits[2] as u32 as usize, bits[3] as u32 as usize]
    }
}
