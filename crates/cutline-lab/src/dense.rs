//! Small dense matrices: products, Cholesky factors and the eigenvalues of symmetric matrices.
//!
//! The lab needs no more than this, for matrices of some hundred rows. `nalgebra` and its dependencies would take a fifteenth of a first
//! build; it is what the tests compare with.

use std::ops::{Index, IndexMut};

/// A dense matrix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    n_columns: usize,
    /// Row by row.
    entries: Vec<f64>,
}

impl Matrix {
    /// The matrix with these entries, row by row.
    pub(crate) fn new(n_columns: usize, entries: Vec<f64>) -> Self {
        Self { n_columns, entries }
    }

    /// The matrix whose entry in row i and column j is f(i, j).
    pub(crate) fn from_fn(n_rows: usize, n_columns: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut entries = Vec::with_capacity(n_rows * n_columns);
        for i in 0..n_rows {
            entries.extend((0..n_columns).map(|j| f(i, j)));
        }
        Self { n_columns, entries }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.entries.len() / self.n_columns
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.n_columns
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.n_columns..][..self.n_columns]
    }

    fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.entries[i * self.n_columns..][..self.n_columns]
    }

    /// The rows with these numbers, in this order.
    pub(crate) fn select_rows(&self, rows: &[usize]) -> Self {
        Self { n_columns: self.n_columns, entries: rows.iter().flat_map(|&row| self.row(row)).copied().collect() }
    }

    pub(crate) fn transpose(&self) -> Self {
        Self::from_fn(self.n_columns, self.n_rows(), |i, j| self[(j, i)])
    }

    /// The product with another matrix, which has as many rows as this one has columns.
    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut product = Self::new(other.n_columns, vec![0.0; self.n_rows() * other.n_columns]);
        for i in 0..self.n_rows() {
            for k in 0..self.n_columns {
                add(product.row_mut(i), self[(i, k)], other.row(k));
            }
        }
        product
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.entries[i * self.n_columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.entries[i * self.n_columns + j]
    }
}

/// aᵀb.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `factor` times `other`.
fn add(sums: &mut [f64], factor: f64, other: &[f64]) {
    sums.iter_mut().zip(other).for_each(|(sum, other)| *sum += factor * other);
}

/// L with L·Lᵀ = A.
#[derive(Debug)]
pub(crate) struct Cholesky(Matrix);

impl Cholesky {
    /// Factorises a symmetric matrix; `None` if it is not positive definite.
    pub(crate) fn new(mut a: Matrix) -> Option<Self> {
        for i in 0..a.n_rows() {
            for j in 0..=i {
                let rest = a[(i, j)] - dot(&a.row(i)[..j], &a.row(j)[..j]);
                a[(i, j)] = if i > j {
                    rest / a[(j, j)]
                } else if rest > 0.0 {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(Self(a))
    }

    /// L⁻¹B.
    pub(crate) fn solve_lower(&self, mut b: Matrix) -> Matrix {
        for i in 0..b.n_rows() {
            let (above, rest) = b.entries.split_at_mut(i * b.n_columns);
            let row = &mut rest[..b.n_columns];
            for (k, above) in above.chunks_exact(b.n_columns).enumerate() {
                add(row, -self.0[(i, k)], above);
            }
            for entry in row {
                *entry /= self.0[(i, i)];
            }
        }
        b
    }

    /// A⁻¹b.
    pub(crate) fn solve(&self, b: Vec<f64>) -> Vec<f64> {
        let mut b = self.solve_lower(Matrix::new(1, b)).entries;
        for i in (0..b.len()).rev() {
            b[i] /= self.0[(i, i)];
            let (above, from) = b.split_at_mut(i);
            add(above, -from[0], &self.0.row(i)[..i]);
        }
        b
    }
}

/// The eigenvalues of a symmetric matrix, ascending. Reflections make it tridiagonal (Householder 1958), and a Sturm sequence counts the
/// eigenvalues below a number (Givens 1954), so that bisection finds each of them to the last digits of the largest: O(n³) in total.
pub(crate) fn symmetric_eigenvalues(a: Matrix) -> Vec<f64> {
    let (diagonal, beside) = tridiagonal(a);
    let n = diagonal.len();
    // Every eigenvalue lies in a circle around an entry of the diagonal (Gershgorin 1931).
    let radius =
        |i: usize| if i == 0 { 0.0 } else { beside[i - 1].abs() } + beside.get(i).map_or(0.0, |next| next.abs());
    let least = (0..n).map(|i| diagonal[i] - radius(i)).fold(f64::INFINITY, f64::min);
    let greatest = (0..n).map(|i| diagonal[i] + radius(i)).fold(f64::NEG_INFINITY, f64::max);
    let precision = f64::EPSILON * least.abs().max(greatest.abs());
    let mut values = Vec::with_capacity(n);
    for j in 0..n {
        let (mut low, mut high) = (values.last().copied().unwrap_or(least), greatest);
        while high - low > precision {
            let middle = f64::midpoint(low, high);
            if middle == low || middle == high {
                break;
            }
            if n_below(&diagonal, &beside, middle) > j { high = middle } else { low = middle }
        }
        values.push(f64::midpoint(low, high));
    }
    values
}

/// The diagonal, and the entries beside it, of a tridiagonal matrix with the same eigenvalues.
fn tridiagonal(mut a: Matrix) -> (Vec<f64>, Vec<f64>) {
    let n = a.n_rows();
    let mut beside = Vec::with_capacity(n.saturating_sub(1));
    for k in 0..n.saturating_sub(1) {
        // I − 2vvᵀ maps the column below the diagonal to a multiple of its first entry.
        let mut v: Vec<f64> = (k + 1..n).map(|i| a[(i, k)]).collect();
        let length = dot(&v, &v).sqrt();
        let image = if v[0] > 0.0 { -length } else { length };
        beside.push(image);
        v[0] -= image;
        let norm = dot(&v, &v).sqrt();
        if norm == 0.0 {
            continue;
        }
        for v in &mut v {
            *v /= norm;
        }
        // B − 2vwᵀ − 2wvᵀ of the block B that is left, where w = Bv − (vᵀBv)v.
        let mut w: Vec<f64> = (k + 1..n).map(|i| dot(&a.row(i)[k + 1..], &v)).collect();
        let along = dot(&v, &w);
        add(&mut w, -along, &v);
        for i in 0..v.len() {
            let row = &mut a.row_mut(k + 1 + i)[k + 1..];
            add(row, -2.0 * v[i], &w);
            add(row, -2.0 * w[i], &v);
        }
    }
    ((0..n).map(|i| a[(i, i)]).collect(), beside)
}

/// How many eigenvalues of a tridiagonal matrix lie below x: as many as there are negative pivots of T − xI.
fn n_below(diagonal: &[f64], beside: &[f64], x: f64) -> usize {
    let mut pivot = 1.0;
    let mut count = 0;
    for (i, entry) in diagonal.iter().enumerate() {
        let coupling = if i == 0 { 0.0 } else { beside[i - 1] * beside[i - 1] / pivot };
        pivot = entry - x - coupling;
        if pivot == 0.0 {
            pivot = -f64::MIN_POSITIVE;
        }
        count += usize::from(pivot < 0.0);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::source::RandomNumbers;
    use cutline::{Purpose, stream};
    use nalgebra::DMatrix;

    fn random(n_rows: usize, n_columns: usize, seed: u64) -> Matrix {
        let mut rng = stream(seed, Purpose::Instance, 0);
        Matrix::from_fn(n_rows, n_columns, |_, _| rng.normal())
    }

    fn theirs(matrix: &Matrix) -> DMatrix<f64> {
        DMatrix::from_row_slice(matrix.n_rows(), matrix.n_columns(), &matrix.entries)
    }

    fn assert_near(ours: &[f64], theirs: &[f64], tolerance: f64) {
        assert_eq!(ours.len(), theirs.len());
        let error = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error <= tolerance, "{error}");
    }

    #[test]
    fn products_and_solutions_are_those_of_nalgebra() {
        for n in [1, 2, 7, 40] {
            let (x, b) = (random(n + 3, n, 1), random(n, 4, 2));
            let gram = x.transpose().times(&x);
            assert_near(&gram.entries, (theirs(&x).transpose() * theirs(&x)).as_slice(), 1e-12);
            let factor = Cholesky::new(gram.clone()).unwrap();
            let lower = theirs(&gram).cholesky().unwrap();
            let expected = lower.l().solve_lower_triangular(&theirs(&b)).unwrap();
            assert_near(&factor.solve_lower(b.clone()).entries, expected.transpose().as_slice(), 1e-9);
            let column: Vec<f64> = (0..n).map(|i| b[(i, 0)]).collect();
            assert_near(&factor.solve(column), lower.solve(&theirs(&b).column(0)).as_slice(), 1e-8);
        }
        assert!(Cholesky::new(Matrix::new(2, vec![1.0, 2.0, 2.0, 1.0])).is_none(), "indefinite");
        assert!(Cholesky::new(Matrix::new(1, vec![f64::NAN])).is_none());
    }

    #[test]
    fn eigenvalues_are_those_of_nalgebra() {
        for n in [1, 2, 3, 10, 60] {
            let half = random(n, n, n as u64);
            let symmetric = Matrix::from_fn(n, n, |i, j| half[(i, j)] + half[(j, i)]);
            let mut expected = theirs(&symmetric).symmetric_eigenvalues().as_slice().to_vec();
            expected.sort_unstable_by(f64::total_cmp);
            assert_near(&symmetric_eigenvalues(symmetric), &expected, 1e-12);
        }
    }

    /// Equal ones, zeros, a diagonal, and units far from 1.
    #[test]
    fn odd_matrices_have_eigenvalues() {
        let ones = Matrix::from_fn(5, 5, |_, _| 1.0);
        assert_near(&symmetric_eigenvalues(ones), &[0.0, 0.0, 0.0, 0.0, 5.0], 1e-14);
        assert_eq!(symmetric_eigenvalues(Matrix::new(3, vec![0.0; 9])), [0.0; 3]);
        for unit in [1e-150, 1.0, 1e150] {
            let diagonal = Matrix::from_fn(3, 3, |i, j| if i == j { [3.0, -1.0, 2.0][i] * unit } else { 0.0 });
            assert_near(&symmetric_eigenvalues(diagonal), &[-unit, 2.0 * unit, 3.0 * unit], 1e-15 * unit);
        }
    }
}
