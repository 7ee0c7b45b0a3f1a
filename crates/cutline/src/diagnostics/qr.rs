//! XP = QR by Gram–Schmidt with column pivoting (Businger & Golub 1965), each column made orthogonal twice, which keeps Q
//! orthogonal to the last digits (Giraud, Langou & Rozložník 2005).
//!
//! Columns are scaled to length 1 first: that changes neither what they span nor, then, with the units they are measured in,
//! their rank and condition (Belsley, Kuh & Welsch 1980).

/// The decomposition, of the rank that was found.
pub(super) struct Qr {
    /// Orthonormal columns that span what the columns of X span.
    q: Vec<Vec<f64>>,
    /// R, a row for each column of `q`; its columns in the order of X.
    r: Vec<Vec<f64>>,
    n_columns: usize,
}

impl Qr {
    /// Decomposes the matrix with these columns; all have the same length, at least 1, and finite values.
    ///
    /// `weights` multiply the rows.
    pub(super) fn new(mut columns: Vec<Vec<f64>>, weights: &[f64]) -> Self {
        for column in &mut columns {
            scale(column, weights);
        }
        let n_columns = columns.len();
        // A column that depends on others leaves about one rounding a row; NumPy's `matrix_rank` allows for as many. Eight
        // times that also takes in columns that were rounded once more, when they were written down.
        let tolerance = 8.0 * f64::EPSILON * weights.len().max(n_columns) as f64;
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

    /// The ratio of the greatest to the least singular value; none if columns depend on each other.
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

    /// z − Q Qᵀ z, what the columns cannot explain of `z`.
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

/// Takes the part along the unit vector `q` off `v` and says how long it was.
fn remove(v: &mut [f64], q: &[f64]) -> f64 {
    let length = dot(v, q);
    v.iter_mut().zip(q).for_each(|(v, q)| *v -= length * q);
    length
}

/// aᵀb, eight sums side by side so that an addition need not wait for the one before.
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
    // The angles fall quadratically; after pivoting, a handful of sweeps is the rule.
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

/// Makes two vectors orthogonal by a rotation, unless they are.
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
