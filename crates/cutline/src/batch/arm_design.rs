//! Four runs with no more arms than features: the arms are the coordinates, and C = XV⁻¹Xᵀ takes the place of V⁻¹.
//!
//! Nothing has to be solved or multiplied here: V⁻¹x is a row of C, and the product with an arm is one of its entries.

use super::{GroupDesign, RewardSums};
use crate::Arm;
use crate::estimators::inverse::{Inverse, Step};
use crate::features::Features;
use crate::vector::{Unit, Vectors, diagonal, numbers, numbers_mut, zeros};
use pulp::f64x4;
use std::sync::Arc;

pub(super) struct ArmDesign {
    /// The unit vectors of the arms, and C when it was last recomputed, of each run.
    individual: [(Arc<Features>, Inverse); 4],
    /// C, row by row, each padded to a multiple of four.
    rows: Vectors,
    u: Vectors,
    picked: [Arm; 4],
}

impl ArmDesign {
    pub(super) fn new(individual: [&Arc<Features>; 4], lambda: f64) -> Self {
        let n_arms = individual[0].n_arms;
        let width = n_arms.next_multiple_of(4);
        let individual = individual.map(|features| Inverse::for_features(features, lambda));
        let mut design = Self { individual, rows: zeros(4 * n_arms * width), u: zeros(4 * width), picked: [0; 4] };
        for lane in 0..4 {
            design.set(lane);
        }
        design
    }

    /// Copies C of one run from `individual`.
    fn set(&mut self, lane: usize) {
        let (width, n_arms) = (self.u.len(), self.individual[lane].0.n_arms);
        for (row, to) in numbers_mut(&mut self.rows).chunks_exact_mut(4 * width).enumerate() {
            for (column, to) in to.iter_mut().skip(lane).step_by(4).take(n_arms).enumerate() {
                *to = self.individual[lane].1.entry(n_arms, row, column);
            }
        }
    }

    /// The entry of the arm picked in each run, from one vector per arm.
    #[inline(always)]
    fn at<S: Unit>(&self, unit: S, v: &[f64x4]) -> f64x4 {
        let [a, b, c, d] = self.picked;
        diagonal(unit, [v[a], v[b], v[c], v[d]])
    }
}

impl GroupDesign for ArmDesign {
    type Local<'a> = &'a [f64x4];
    type Arms<'a> = ();

    #[inline(always)]
    fn local(vector: &[f64x4]) -> &[f64x4] {
        vector
    }

    fn width(&self) -> usize {
        self.u.len()
    }

    #[inline(always)]
    fn pick<S: Unit>(&mut self, unit: S, arms: [Arm; 4]) {
        self.picked = arms;
        let width = self.u.len();
        let row = [arms[0] * width, arms[1] * width, arms[2] * width, arms[3] * width];
        let rows = [
            &self.rows[row[0]..row[0] + width],
            &self.rows[row[1]..row[1] + width],
            &self.rows[row[2]..row[2] + width],
            &self.rows[row[3]..row[3] + width],
        ];
        for j in 0..width {
            self.u[j] = diagonal(unit, [rows[0][j], rows[1][j], rows[2][j], rows[3][j]]);
        }
    }

    #[inline(always)]
    fn u(&self) -> &[f64x4] {
        &self.u
    }

    #[inline(always)]
    fn q<S: Unit>(&self, unit: S) -> f64x4 {
        self.at(unit, &self.u)
    }

    #[inline(always)]
    fn at_pick<S: Unit>(&self, unit: S, v: &[f64x4]) -> f64x4 {
        self.at(unit, v)
    }

    #[inline(always)]
    fn arms(&self) {}

    #[inline(always)]
    fn products<S: Unit, const N: usize>(_: S, (): (), first: Arm, v: &&[f64x4]) -> [f64x4; N] {
        *v[first..].first_chunk().expect("`N` arms from `first` on")
    }

    /// With w = u/√s it is C −= w wᵀ, in blocks of 4×4.
    #[inline(always)]
    fn shrink<S: Unit>(&mut self, unit: S, s: f64x4) {
        let scale = unit.div_f64s(unit.splat_f64s(1.0), unit.sqrt_f64s(s));
        for w in self.u.iter_mut() {
            *w = unit.mul_f64s(*w, scale);
        }
        let width = self.u.len();
        let (fours, _) = self.u.as_chunks::<4>();
        for (row, w) in self.rows.chunks_exact_mut(width).zip(self.u.iter()) {
            let down = unit.neg_f64s(*w);
            for (entries, w) in row.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
                for n in 0..4 {
                    entries[n] = unit.mul_add_f64s(w[n], down, entries[n]);
                }
            }
        }
    }

    fn refresh(&mut self, lane: usize, sums: &RewardSums) -> (Inverse, Vec<f64>) {
        let (features, inverse) = &mut self.individual[lane];
        let (mut step, mut means) = (Step::new(features.dimension), vec![0.0; features.dimension]);
        let pulls = sums.pulls(lane);
        inverse.refresh(features, |arm| f64::from(pulls[arm]), &mut step);
        inverse.regress(features, &sums.sums(lane), &mut step, &mut means);
        let inverse = inverse.clone();
        self.set(lane);
        (inverse, means)
    }

    fn inverse_of(&self, lane: usize) -> Inverse {
        let (rows, width) = (numbers(&self.rows), self.u.len());
        Inverse::from_entries(self.individual[lane].0.n_arms, |row, column| rows[4 * (width * row + column) + lane])
    }

    fn features_of(&self, lane: usize) -> &Features {
        &self.individual[lane].0
    }
}
