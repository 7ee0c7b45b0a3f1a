//! The columns of the mixed model: standardised features and a level for the linear part, landmarks for the smooth part.
//!
//! The smooth part is a Gaussian process on the standardised features. Its kernel is
//!
//! ```text
//! k(x, x′) = (1 − a) exp(−‖x − x′‖²/(2ℓ²)) + (a/d) Σⱼ 1/(1 + (xⱼ − xⱼ′)²d/(2ℓ²))
//! ```
//!
//! The first term is for functions of all features together, the second for sums of functions of one feature each (the rational
//! quadratic kernel, which has many length scales and needs no exponential). In many dimensions the first alone would hardly vary along one
//! feature. The process is in the Nyström form: its columns are k(X, L)·chol(k(L, L))⁻ᵀ for D landmarks L. What the landmarks miss of an
//! arm's variance, eᵢ = 1 − ‖pᵢ‖², belongs to its own part (the FITC approximation).

use super::evidence::Variances;
use super::products::Products;
use super::settings::{MixedSettings, Parts};
use crate::estimators::gram_basis::GramBasis;
use crate::estimators::triangle::{WIDTH, substitute_down_all};
use crate::features::Features;
use crate::random::draw;
use crate::vector::{LANES, Unit, Vectors, numbers, vectorised, zeros};
use crate::{Arm, Arms, Purpose, stream};
use pulp::f64x4;
use std::sync::Arc;

/// Added to the diagonal of k(L, L), so that landmarks may coincide.
const JITTER: f64 = 1e-6;

/// eᵢ is rounded to a multiple of this, so that arms can be pooled.
const LEVEL: f64 = 1.0 / 16.0;

/// The columns of so many arms are computed at a time.
const ARMS: usize = 4 * WIDTH;

/// What the columns follow from, besides the features.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Key {
    parts: Parts,
    landmarks: usize,
    length: f64,
    additive: f64,
    seed: u64,
}

impl Key {
    fn new(parts: Parts, settings: &MixedSettings, seed: u64) -> Self {
        let MixedSettings { landmarks, length, additive, .. } = *settings;
        Self { parts, landmarks, length, additive, seed }
    }
}

/// The columns zᵢ of every arm.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The linear columns, then the smooth ones.
    pub(super) features: Arc<Features>,
    pub(super) n_linear: usize,
    /// The number of products among the columns, after the linear ones.
    pub(super) n_products: usize,
    /// d, among which the variance of the linear part is divided; 1 if there is a level alone.
    pub(super) dimension: usize,
    /// Whether the features of any two arms differ.
    pub(super) differ: bool,
    /// eᵢ of every arm.
    pub(super) missed: Vec<f64>,
    pub(super) key: Key,
}

impl Columns {
    /// As [`Columns::new`], without computing them again if another learner has the same ones.
    pub(super) fn shared(arms: &Arms, parts: Parts, settings: &MixedSettings, seed: u64) -> Arc<Self> {
        let key = Key::new(parts, settings, seed);
        let make = || Self::new(arms, parts, settings, seed);
        arms.features()
            .map_or_else(|| Arc::new(make()), |raw| raw.shared.get_or(|columns: &Self| columns.key == key, make))
    }

    /// The columns of these parts; the landmarks are arms, drawn by the seed. Without a linear part, and for arms without features, the
    /// only linear column is a level of 1.
    pub(super) fn new(arms: &Arms, parts: Parts, settings: &MixedSettings, seed: u64) -> Self {
        let n_arms = arms.n_arms();
        let key = Key::new(parts, settings, seed);
        let Some(raw) = arms.features() else {
            let mut features = Features::new(n_arms, 1);
            set_row(&mut features, 0, &vec![1.0; n_arms]);
            return Self {
                features: Arc::new(features),
                n_linear: 1,
                n_products: 0,
                dimension: 1,
                differ: false,
                missed: vec![0.0; n_arms],
                key,
            };
        };
        let d = raw.dimension;
        let n_landmarks = if parts.smooth { settings.landmarks.min(n_arms) } else { 0 };
        // With more features than arms, a triangle with the same inner products has fewer columns.
        let has_triangle = parts.linear && n_arms < d;
        let (n_linear, dimension) = if parts.linear { (d.min(n_arms) + 1, d) } else { (1, 1) };
        let n_products = if parts.products { Products::number(d) } else { 0 };
        let n_fixed = n_linear + n_products;
        let p = n_fixed + n_landmarks;
        // Where the standardised features are columns, they are computed in place.
        let is_in_place = parts.linear && !has_triangle;
        let mut features = if is_in_place { raw.widened(p) } else { raw.zeros_like(p) };
        let separate = (!is_in_place).then(|| arms.clone().standardised());
        if is_in_place {
            features.standardise_first(d);
        }
        let separate = separate.as_ref().and_then(Arms::features);
        let gram_basis = separate.filter(|_| has_triangle).and_then(GramBasis::new);
        let drawn = landmarks(n_arms, n_landmarks, seed);
        let landmarks = Landmarks::new(separate.map_or(&features, |it| &**it), d, &drawn, settings);
        let products = (n_products > 0).then(|| Products::new(separate.map_or(&features, |it| &**it), d));
        let mut missed = vec![0.0; n_arms];
        let mut row = vec![0.0; p];
        row[n_linear - 1] = (dimension as f64).sqrt();
        let mut smooth = zeros(n_landmarks * ARMS);
        for first in (0..n_arms).step_by(ARMS) {
            let missed_here = landmarks.write_columns(separate.map_or(&features, |it| &**it), first, &mut smooth);
            for (lane, arm) in (first..n_arms.min(first + ARMS)).enumerate() {
                let linear = gram_basis.as_ref().map_or(&features, GramBasis::triangle).row(arm);
                row[..n_linear - 1].iter_mut().zip(linear.iter()).for_each(|(to, value)| *to = value);
                let columns = numbers(&smooth).as_chunks::<ARMS>().0;
                if let Some(products) = &products {
                    let standardised = separate.map_or(&features, |it| &**it);
                    products.write(standardised, arm, &mut row[n_linear..n_fixed]);
                }
                row[n_fixed..].iter_mut().zip(columns).for_each(|(to, lanes)| *to = lanes[lane]);
                set_row(&mut features, arm, &row);
                missed[arm] = missed_here[lane];
            }
        }
        let differ = (1..n_arms).any(|arm| raw.row(arm).iter().ne(raw.row(0).iter()));
        Self { features: Arc::new(features), n_linear, n_products, dimension, differ, missed, key }
    }

    /// The order in which arms are [explored](crate::rules::Exploring).
    pub(super) fn exploration_order(&self) -> Vec<Arm> {
        crate::rules::exploration_order(self.key.seed, self.missed.len())
    }

    /// The prior precision of every column.
    pub(super) fn precisions(&self, variances: &Variances) -> Arc<[f64]> {
        let of = |column| match column {
            _ if column < self.n_linear => variances.linear,
            _ if column < self.n_linear + self.n_products => variances.products,
            _ => variances.smooth,
        };
        (0..self.features.dimension).map(|column| 1.0 / of(column)).collect()
    }
}

fn set_row(features: &mut Features, first: Arm, values: &[f64]) {
    features.set_rows(first, values).expect("standardised features and kernels are finite");
}

/// D arms, the first ones of a permutation that the seed determines; all arms if there are fewer.
fn landmarks(n_arms: usize, n: usize, seed: u64) -> Vec<Arm> {
    draw(&mut stream(seed, Purpose::Landmarks, 0), n_arms, n)
}

/// The landmarks L and the factor of their kernel matrix.
struct Landmarks {
    rows: Vec<Vec<f64>>,
    /// −1/(2ℓ²).
    scale: f64,
    /// d/(2ℓ²).
    scale_of_one: f64,
    /// The weights of the two terms of the kernel: 1 − a and a/d.
    weights: [f64; 2],
    /// chol(k(L, L) + jitter), D×D, row by row.
    factor: Vec<f64>,
}

impl Landmarks {
    /// The standardised features are the first `d` columns.
    fn new(standardised: &Features, d: usize, arms: &[Arm], settings: &MixedSettings) -> Self {
        let rows: Vec<Vec<f64>> = arms.iter().map(|&arm| standardised.row(arm).iter().take(d).collect()).collect();
        let MixedSettings { length, additive, .. } = *settings;
        let scale = -0.5 / (length * length * d as f64);
        let scale_of_one = 0.5 / (length * length);
        let weights = [1.0 - additive, additive / d as f64];
        let n = rows.len();
        let mut landmarks = Self { rows, scale, scale_of_one, weights, factor: vec![0.0; n * n] };
        for i in 0..n {
            for j in 0..=i {
                let factor = &landmarks.factor;
                let below: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
                let rest = landmarks.kernel(i, &landmarks.rows[j]) - below;
                let pivot = factor[j * n + j];
                landmarks.factor[i * n + j] = if i == j { (rest + JITTER).max(JITTER).sqrt() } else { rest / pivot };
            }
        }
        landmarks
    }

    /// k of a landmark and x.
    fn kernel(&self, landmark: usize, x: &[f64]) -> f64 {
        let squares = || self.rows[landmark].iter().zip(x).map(|(a, b)| (a - b) * (a - b));
        self.mixture(squares().sum(), squares().map(|square| 1.0 / (1.0 + self.scale_of_one * square)).sum())
    }

    /// k from ‖x − x′‖² and from the sum over features. Without an additive term it is the exponential to the last bit.
    fn mixture(&self, distance2: f64, sum: f64) -> f64 {
        let [of_all, of_one] = self.weights;
        of_all * (self.scale * distance2).exp() + of_one * sum
    }

    /// Writes the smooth columns p of the arms from `first` on, one arm per lane: the solutions of factor·p = k(L, x). Returns
    /// e = 1 − ‖p‖² of each arm, rounded.
    fn write_columns(&self, standardised: &Features, first: Arm, p: &mut Vectors) -> [f64; ARMS] {
        let p = p.as_chunks_mut::<WIDTH>().0;
        if p.is_empty() {
            return [0.0; ARMS];
        }
        let blocks: [&[[f64x4; 2]]; ARMS / LANES] =
            std::array::from_fn(|block| standardised.block(first / LANES + block));
        for (row, p) in self.rows.iter().zip(&mut *p) {
            for (block, p) in blocks.iter().zip(p.as_chunks_mut::<2>().0) {
                let distances2 = vectorised!(|unit| distances2(unit, row, block));
                let has_sums = self.weights[1] != 0.0;
                let sums =
                    if has_sums { vectorised!(|unit| sums(unit, self.scale_of_one, row, block)) } else { [0.0; LANES] };
                *p =
                    pulp::cast(std::array::from_fn::<f64, LANES, _>(|lane| self.mixture(distances2[lane], sums[lane])));
            }
        }
        let held: [f64; ARMS] = pulp::cast(vectorised!(|unit| solve(unit, &self.factor, p)));
        held.map(|held| ((1.0 - held).max(0.0) / LEVEL).round() * LEVEL)
    }
}

/// ‖x − row‖² of the arms of one block.
#[inline(always)]
fn distances2<S: Unit>(unit: S, row: &[f64], block: &[[f64x4; 2]]) -> [f64; LANES] {
    let mut sums = [unit.splat_f64s(0.0); 2];
    for (&value, x) in row.iter().zip(block) {
        for half in 0..2 {
            let difference = unit.sub_f64s(unit.splat_f64s(value), x[half]);
            sums[half] = unit.add_f64s(sums[half], unit.mul_f64s(difference, difference));
        }
    }
    pulp::cast(sums)
}

/// Σⱼ 1/(1 + scale·(xⱼ − rowⱼ)²) of the arms of one block.
#[inline(always)]
fn sums<S: Unit>(unit: S, scale: f64, row: &[f64], block: &[[f64x4; 2]]) -> [f64; LANES] {
    let mut sums = [unit.splat_f64s(0.0); 2];
    let (scale, one) = (unit.splat_f64s(scale), unit.splat_f64s(1.0));
    for (&value, x) in row.iter().zip(block) {
        for half in 0..2 {
            let difference = unit.sub_f64s(unit.splat_f64s(value), x[half]);
            let denominator = unit.add_f64s(one, unit.mul_f64s(scale, unit.mul_f64s(difference, difference)));
            sums[half] = unit.add_f64s(sums[half], unit.div_f64s(one, denominator));
        }
    }
    pulp::cast(sums)
}

/// Solves factor·p = k in place, one arm per lane; returns ‖p‖².
#[inline(always)]
fn solve<S: Unit>(unit: S, factor: &[f64], p: &mut [[f64x4; WIDTH]]) -> [f64x4; WIDTH] {
    substitute_down_all(unit, factor, p, 0);
    let mut sums = [unit.splat_f64s(0.0); WIDTH];
    for p in p {
        for vector in 0..WIDTH {
            sums[vector] = unit.add_f64s(sums[vector], unit.mul_f64s(p[vector], p[vector]));
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng as _;

    fn arms(n_arms: usize, dimension: usize) -> Arms {
        let mut rng = stream(1, Purpose::Instance, 0);
        let values: Vec<f64> = (0..n_arms * dimension).map(|_| f64::from(rng.next_u32()) / 1e9).collect();
        Arms::from_slice(&values, dimension).unwrap()
    }

    const ALL: Parts = Parts { linear: true, smooth: true, products: false, own: true };

    fn columns_of(arms: &Arms, landmarks: usize, length: f64, seed: u64) -> Columns {
        Columns::new(arms, ALL, &MixedSettings { landmarks, length, ..Default::default() }, seed)
    }

    fn rows(columns: &Columns) -> Vec<Vec<f64>> {
        (0..columns.missed.len()).map(|arm| columns.features.row(arm).iter().collect()).collect()
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// The inner products of the linear columns are those of the standardised features and √d. With all arms as landmarks, those of the smooth columns
    /// are the kernel matrix. Both hold also where there are more features than arms.
    #[test]
    fn inner_products_are_the_covariances_of_the_parts() {
        for (n_arms, d, additive) in [(9, 3, 0.5), (5, 8, 0.0), (1, 1, 0.3), (4, 4, 1.0)] {
            let arms = arms(n_arms, d);
            let settings = MixedSettings { landmarks: n_arms, length: 0.8, additive, ..Default::default() };
            let columns = Columns::new(&arms, ALL, &settings, 3);
            let standardised = arms.standardised();
            let x: Vec<Vec<f64>> = (0..n_arms).map(|arm| standardised.row(arm).unwrap()).collect();
            assert_eq!(columns.features.dimension, n_arms.min(d) + 1 + n_arms);
            let z = rows(&columns);
            for i in 0..n_arms {
                for j in 0..n_arms {
                    let (linear, smooth) = (z[i].split_at(columns.n_linear), z[j].split_at(columns.n_linear));
                    let expected = dot(&x[i], &x[j]) + d as f64;
                    assert!((dot(linear.0, smooth.0) - expected).abs() < 1e-11 * expected.abs().max(1.0));
                    let distance2: f64 = x[i].iter().zip(&x[j]).map(|(a, b)| (a - b).powi(2)).sum();
                    let of_one = x[i].iter().zip(&x[j]).map(|(a, b)| 1.0 / (1.0 + (a - b).powi(2) / (2.0 * 0.64)));
                    let kernel = (1.0 - additive) * (-distance2 / (2.0 * 0.64 * d as f64)).exp()
                        + additive * of_one.sum::<f64>() / d as f64;
                    assert!((dot(linear.1, smooth.1) - kernel).abs() < 1e-5, "{i} {j}: jitter only");
                }
            }
            assert_eq!(columns.missed, vec![0.0; n_arms]);
        }
    }

    /// Between the linear and the smooth columns: xⱼxₖ of standardised features, standardised, divided by the root of their number.
    #[test]
    fn products_of_features_are_columns() {
        let arms = arms(30, 3);
        let settings = MixedSettings { landmarks: 4, ..Default::default() };
        let columns = Columns::new(&arms, Parts { products: true, ..ALL }, &settings, 3);
        assert_eq!((columns.n_linear, columns.n_products, columns.features.dimension), (4, 3, 11));
        let standardised = arms.clone().standardised();
        let x: Vec<Vec<f64>> = (0..30).map(|arm| standardised.row(arm).unwrap()).collect();
        for (column, (j, k)) in [(1, 0), (2, 0), (2, 1)].into_iter().enumerate() {
            let products: Vec<f64> = x.iter().map(|x| x[j] * x[k]).collect();
            let mean = products.iter().sum::<f64>() / 30.0;
            let deviation = (products.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / 30.0).sqrt();
            for (row, product) in rows(&columns).iter().zip(&products) {
                let expected = (product - mean) / deviation / 3.0_f64.sqrt();
                assert!((row[4 + column] - expected).abs() < 1e-12, "{row:?}, {expected}");
            }
        }
        let without = Columns::new(&arms, ALL, &settings, 3);
        for (with, without) in rows(&columns).iter().zip(rows(&without)) {
            assert_eq!([&with[..4], &with[7..]].concat(), without);
        }
    }

    #[test]
    fn landmarks_follow_from_the_seed() {
        let arms = arms(50, 3);
        let found = |seed| rows(&columns_of(&arms, 5, 1.0, seed));
        assert_eq!(found(1), found(1));
        assert_ne!(found(1), found(2));
        let drawn = landmarks(50, 5, 1);
        let distinct: std::collections::HashSet<_> = drawn.iter().collect();
        assert_eq!((drawn.len(), distinct.len()), (5, 5));
        assert_eq!(landmarks(50, 3, 1), drawn[..3], "one permutation");
        assert_eq!(landmarks(3, 9, 1).len(), 3, "no more than there are arms");
    }

    /// An arm far from all landmarks has nearly all of its smooth variance in its own part, a landmark none.
    #[test]
    fn what_the_landmarks_miss_is_own() {
        let arms = arms(40, 4);
        let columns = columns_of(&arms, 2, 0.2, 7);
        let missed = |arm: Arm| columns.missed[arm];
        let landmarks = landmarks(40, 2, 7);
        assert!(landmarks.iter().all(|&arm| missed(arm) == 0.0));
        assert!((0..40).any(|arm| missed(arm) > 0.9));
        assert!(columns.missed.iter().all(|e| (e / LEVEL).fract() == 0.0 && (0.0..=1.0).contains(e)));
    }

    /// Without features there is a level alone; features that are all equal are standardised to 0; equal rows have equal columns.
    #[test]
    fn degenerate_features() {
        let columns = columns_of(&Arms::without_features(3).unwrap(), 40, 1.0, 0);
        assert_eq!(rows(&columns), vec![vec![1.0]; 3]);
        let columns = columns_of(&Arms::from_slice(&[7.0; 6], 2).unwrap(), 40, 1.0, 0);
        for row in rows(&columns) {
            assert_eq!(row[..2], [0.0; 2]);
            assert!((dot(&row[3..], &row[3..]) - 1.0).abs() < 1e-5, "one point");
        }
        let columns = columns_of(&Arms::from_rows(&[[1.0], [2.0], [1.0]]).unwrap(), 40, 1.0, 0);
        let rows = rows(&columns);
        assert_eq!(rows[0], rows[2]);
        assert_eq!(columns_of(&arms(5, 2), 0, 1.0, 0).features.dimension, 3, "no smooth columns");
    }

    #[test]
    fn parts_can_be_left_out() {
        let arms = arms(6, 3);
        let all = rows(&columns_of(&arms, 4, 1.0, 0));
        let settings = MixedSettings { landmarks: 4, ..Default::default() };
        let without_linear = Columns::new(&arms, Parts { linear: false, ..ALL }, &settings, 0);
        let without_smooth = Columns::new(&arms, Parts { smooth: false, ..ALL }, &settings, 0);
        assert_eq!((without_linear.n_linear, without_linear.dimension), (1, 1));
        for (arm, all) in all.iter().enumerate() {
            assert_eq!(rows(&without_linear)[arm], [&[1.0], &all[4..]].concat());
            assert_eq!(rows(&without_smooth)[arm], all[..4]);
        }
    }
}
