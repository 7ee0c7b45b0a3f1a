//! XP = QR by Gram–Schmidt with column pivoting (Businger & Golub 1965), each column made orthogonal twice, which keeps Q
//! orthogonal to the last digits (Giraud, Langou & Rozložník 2005).
//!
//! Columns are scaled to length 1 first. That does not change their span, and makes rank and condition independent of the units in
//! which the columns are measured (Belsley, Kuh & Welsch 1980).

/// The length up to which the rest of a unit column counts as rounding, for a matrix whose longer side is `size`.
///
/// A column that depends on others leaves about one rounding error per row; NumPy's `matrix_rank` allows for as many. Eight times that
/// also covers columns that were rounded once more when they were written to a file.
pub(super) fn rank_tolerance(size: usize) -> f64 {
    8.0 * f64::EPSILON * size as f64
}

/// Orthonormal columns with the same span as these, which have finite values and are scaled to length 1 first. A column is taken to depend
/// on others if what is left of it is not longer than `tolerance`.
///
/// ```
/// let [one, other] = [vec![3.0, 0.0, 4.0], vec![0.0, 2.0, 0.0]];
/// let found = cutline::diagnostics::orthonormal_columns(vec![one.clone(), other, one], 1e-11);
/// assert_eq!(found.len(), 2);
/// ```
#[must_use]
pub fn orthonormal_columns(columns: Vec<Vec<f64>>, tolerance: f64) -> Vec<Vec<f64>> {
    let weights = vec![1.0; columns.first().map_or(0, Vec::len)];
    Qr::with_tolerance(columns, &weights, tolerance).q
}

/// The decomposition, of the rank that was found.
pub(super) struct Qr {
    /// Orthonormal columns with the same span as the columns of X.
    q: Vec<Vec<f64>>,
    /// R, one row per column of `q`; its columns in the order of X.
    r: Vec<Vec<f64>>,
    n_columns: usize,
}

impl Qr {
    /// Decomposes the matrix with these columns; all have the same length, at least 1, and finite values.
    ///
    /// `weights` multiply the rows.
    pub(super) fn new(columns: Vec<Vec<f64>>, weights: &[f64]) -> Self {
        let tolerance = rank_tolerance(weights.len().max(columns.len()));
        Self::with_tolerance(columns, weights, tolerance)
    }

    /// The same; a column is taken to depend on others if what is left of it is not longer than `tolerance`.
    pub(super) fn with_tolerance(mut columns: Vec<Vec<f64>>, weights: &[f64], tolerance: f64) -> Self {
        for column in &mut columns {
            scale(column, weights);
        }
        let n_columns = columns.len();
        let mut remaining: Vec<usize> = (0..n_columns).collect();
        let (mut q, mut r): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        while q.len() < weights.len() {
            let longest = |&(_, a): &(usize, f64), &(_, b): &(usize, f64)| a.total_cmp(&b);
            let lengths = remaining.iter().map(|&column| dot(&columns[column], &columns[column]).sqrt()).enumerate();
            let Some((position, _)) = lengths.max_by(longest) else { break };
            let pivot = remaining.swap_remove(position);
            let mut direction = std::mem::take(&mut columns[pivot]);
            for q in &q {
                remove(&mut direction, q);
            }
            let length = dot(&direction, &direction).sqrt();
            if !(length > tolerance) {
                break;
            }
            divide(&mut direction, length);
            let mut row = vec![0.0; n_columns];
            row[pivot] = length;
            for &column in &remaining {
                row[column] = remove(&mut columns[column], &direction);
            }
            q.push(direction);
            r.push(row);
        }
        Self { q, r, n_columns }
    }

    pub(super) fn rank(&self) -> usize {
        self.q.len()
    }

    /// The ratio of the greatest to the least singular value; `None` if columns depend on each other.
    pub(super) fn condition(&self) -> Option<f64> {
        (self.rank() == self.n_columns).then(|| {
            let lengths = singular_values(self.r.clone());
            lengths.iter().copied().fold(0.0, f64::max) / lengths.iter().copied().fold(f64::INFINITY, f64::min)
        })
    }

    /// ‖Qᵀeᵢ‖² for every row i, the diagonal of the hat matrix.
    pub(super) fn leverages(&self, n_rows: usize) -> Vec<f64> {
        let mut leverages = vec![0.0; n_rows];
        for q in &self.q {
            leverages.iter_mut().zip(q).for_each(|(sum, q)| *sum += q * q);
        }
        leverages
    }

    /// z − Q Qᵀ z, the part of `z` that the columns do not explain.
    pub(super) fn residual(&self, mut z: Vec<f64>) -> Vec<f64> {
        for _ in 0..2 {
            for q in &self.q {
                remove(&mut z, q);
            }
        }
        z
    }
}

/// Multiplies by the weights and scales to length 1, whatever the magnitudes; a column of zeros stays.
fn scale(column: &mut [f64], weights: &[f64]) {
    let most = column.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    if most == 0.0 {
        return;
    }
    column.iter_mut().zip(weights).for_each(|(value, weight)| *value = *value / most * weight);
    let length = dot(column, column).sqrt();
    divide(column, length);
}

fn divide(column: &mut [f64], length: f64) {
    for value in column {
        *value /= length;
    }
}

/// Subtracts from `v` its component along the unit vector `q`; returns the length of that component.
fn remove(v: &mut [f64], q: &[f64]) -> f64 {
    let length = dot(v, q);
    v.iter_mut().zip(q).for_each(|(v, q)| *v -= length * q);
    length
}

/// aᵀb, in eight independent sums so that no addition waits for the one before.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// The singular values of the matrix with these rows: rows are rotated in pairs until all are orthogonal (Hestenes 1958).
fn singular_values(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    const ORTHOGONAL: f64 = 1e-14;
    // Convergence is quadratic; after pivoting, a handful of sweeps is usual.
    for _ in 0..60 {
        let mut is_done = true;
        for p in 1..rows.len() {
            let (before, from) = rows.split_at_mut(p);
            for other in before {
                is_done &= !rotate(other, &mut from[0], ORTHOGONAL);
            }
        }
        if is_done {
            break;
        }
    }
    rows.iter().map(|row| dot(row, row).sqrt()).collect()
}

/// Makes two vectors orthogonal by a rotation; returns whether they were not so before.
fn rotate(a: &mut [f64], b: &mut [f64], orthogonal: f64) -> bool {
    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
    if !(ab.abs() > orthogonal * (aa * bb).sqrt()) {
        return false;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = cosine * tangent;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
    true
}
