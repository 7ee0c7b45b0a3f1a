//! Least squares of rewards on features, one reward at a time: (X y) = Q (R z; 0 ρ) with R upper triangular, by Givens rotations
//! (Golub & Van Loan 2013, §5.1.8 and §6.5). The residual sum of squares is ‖ρ‖² plus the part of ‖z‖² outside the range of R.

use super::qr::{Qr, rank_tolerance};
use crate::{Arm, Arms};

/// R, z and ‖ρ‖² of the rewards added so far. The results are a function of the rewards and their order.
///
/// A reward costs O(d²). [`LeastSquares::residual`] costs O(d²) where the rows of R are clearly independent and O(d³) otherwise.
#[derive(Clone, Debug)]
pub(crate) struct LeastSquares {
    /// The greatest absolute value of each feature over all arms. Features are divided by it, so that their units do not matter.
    scales: Vec<f64>,
    /// Row k of R from its diagonal on, and zₖ at its end; `None` where no row starts at column k.
    rows: Vec<Option<Vec<f64>>>,
    /// ‖ρ‖².
    squares: f64,
    rewards: u64,
    /// The row that is being added.
    incoming: Vec<f64>,
}

/// The part of the rewards that no θ explains.
pub(crate) struct Residual {
    /// The residual sum of squares.
    pub(crate) squares: f64,
    /// The rank of the features of the arms measured.
    pub(crate) rank: u64,
}

impl LeastSquares {
    /// No rewards yet; `None` if the arms have no features.
    pub(crate) fn new(arms: &Arms) -> Option<Self> {
        let features = arms.features()?;
        let mut scales = vec![0.0_f64; features.dimension];
        for arm in 0..arms.n_arms() {
            scales.iter_mut().zip(features.row(arm).iter()).for_each(|(most, x)| *most = most.max(x.abs()));
        }
        scales.iter_mut().filter(|scale| **scale == 0.0).for_each(|scale| *scale = 1.0);
        let rows = vec![None; scales.len()];
        Some(Self { scales, rows, squares: 0.0, rewards: 0, incoming: Vec::new() })
    }

    /// Adds a reward of `arm`. `is_repeat` says that a reward of this arm was added before: then its features lie in the span of R, and
    /// any part of them outside it is a rounding error and is dropped.
    pub(crate) fn add(&mut self, arms: &Arms, arm: Arm, reward: f64, is_repeat: bool) {
        let Self { scales, rows, incoming, .. } = self;
        let Some(features) = arms.features() else { return };
        self.rewards += 1;
        incoming.clear();
        incoming.extend(features.row(arm).iter().zip(scales).map(|(x, scale)| x / *scale));
        incoming.push(reward);
        for (k, row) in rows.iter_mut().enumerate() {
            if incoming[k] == 0.0 {
                continue;
            }
            match row {
                Some(row) => rotate(row, &mut incoming[k..]),
                None if is_repeat => (),
                None => {
                    *row = Some(incoming[k..].to_vec());
                    return;
                }
            }
        }
        self.squares += incoming[rows.len()] * incoming[rows.len()];
    }

    /// The residual sum of squares, and the rank by the same relative tolerance as in a diagnosis.
    pub(crate) fn residual(&self) -> Residual {
        let d = self.rows.len();
        let rows: Vec<(usize, &[f64])> =
            self.rows.iter().enumerate().filter_map(|(k, row)| Some((k, row.as_deref()?))).collect();
        let n_rewards = usize::try_from(self.rewards).unwrap_or(usize::MAX);
        let tolerance = rank_tolerance(n_rewards.max(d));
        if are_independent(&rows, d, tolerance) {
            return Residual { squares: self.squares, rank: rows.len() as u64 };
        }
        let value = |&(k, row): &(usize, &[f64]), column: usize| if column < k { 0.0 } else { row[column - k] };
        let column = |column: usize| rows.iter().map(|row| value(row, column)).collect::<Vec<f64>>();
        let qr = Qr::with_tolerance((0..d).map(column).collect(), &vec![1.0; rows.len()], tolerance);
        let unexplained: f64 = qr.residual(column(d)).iter().map(|e| e * e).sum();
        Residual { squares: self.squares + unexplained, rank: qr.rank() as u64 }
    }
}

/// Rotates two rows so that the first element of `incoming` becomes 0. That element is not written, because it is never read again.
fn rotate(row: &mut [f64], incoming: &mut [f64]) {
    let length = row[0].hypot(incoming[0]);
    let (cosine, sine) = (row[0] / length, incoming[0] / length);
    row[0] = length;
    for (a, b) in row[1..].iter_mut().zip(&mut incoming[1..]) {
        (*a, *b) = (cosine * *a + sine * *b, cosine * *b - sine * *a);
    }
}

/// A sufficient condition, in O(d²), for [`Qr`] to find all rows independent.
///
/// T is the square matrix of all rows and of the columns at which they start, with columns scaled to length 1. Let M have the absolute
/// values of T's elements, with a minus sign off the diagonal. Then ‖T⁻¹‖∞ ≤ ‖M⁻¹1‖∞ (Higham 2002, §8.2), so the least singular value of
/// all i rows is at least 1/(√i ‖M⁻¹1‖∞), and at every step of the decomposition the longest remaining column has at least that length
/// divided by √d.
fn are_independent(rows: &[(usize, &[f64])], d: usize, tolerance: f64) -> bool {
    let mut lengths = vec![0.0_f64; d];
    for &(k, row) in rows {
        lengths[k..].iter_mut().zip(row).for_each(|(sum, value)| *sum += value * value);
    }
    for length in &mut lengths {
        *length = length.sqrt();
    }
    let mut solution = vec![0.0; d];
    let mut most = 0.0_f64;
    for &(k, row) in rows.iter().rev() {
        // Columns at which no row starts have the solution 0, and so take no part.
        let others: f64 = (k + 1..d).map(|j| row[j - k].abs() / lengths[j].max(f64::MIN_POSITIVE) * solution[j]).sum();
        solution[k] = (1.0 + others) * lengths[k] / row[0].abs();
        most = most.max(solution[k]);
    }
    2.0 * ((rows.len() * d) as f64).sqrt() * most * tolerance < 1.0
}
