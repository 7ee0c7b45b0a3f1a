//! A plain implementation of every rule and estimator.

mod games;
mod good_arms;
mod level_sets;
mod phases;

use super::Problem;
use level_sets::beta;
use nalgebra::{DMatrix, DVector};
use std::cell::RefCell;

/// Everything computed from its definition, by dense linear algebra.
pub struct Plain {
    pub problem: Problem,
    pub lambda: f64,
    /// T, for rules that plan for it.
    pub budget: u32,
    pub pulls: Vec<u32>,
    /// The rewards received, with their arms, in order.
    pub rewards: Vec<(usize, f64)>,
    /// The gains of LinGame's rounds, cached because they are expensive.
    gains: RefCell<Vec<Vec<f64>>>,
    /// The proportions of FWS after each reward, cached for the same reason.
    proportions: RefCell<Vec<Vec<f64>>>,
}

impl Plain {
    pub fn new(problem: &Problem, lambda: f64) -> Self {
        let (pulls, rewards) = (vec![0; problem.rows.len()], Vec::new());
        Self {
            problem: problem.clone(),
            lambda,
            budget: 0,
            pulls,
            rewards,
            gains: RefCell::default(),
            proportions: RefCell::default(),
        }
    }

    /// The means by least squares and their variances, xᵀV⁻¹x + λ‖V⁻¹x‖² with V = Σ xxᵀ; ∞ where x is not in the range of V.
    pub fn least_squares(&self) -> (Vec<f64>, Vec<f64>) {
        let x = self.x();
        let mut v = DMatrix::zeros(x.ncols(), x.ncols());
        let mut b = DVector::zeros(x.ncols());
        for &(arm, reward) in &self.rewards {
            let row = x.row(arm).transpose();
            v += &row * row.transpose();
            b += row * reward;
        }
        let inverse = v.clone().pseudo_inverse(1e-12 * v.amax()).expect("a tolerance of at least 0");
        let of = |arm: usize| {
            let row = x.row(arm).transpose();
            let z = &inverse * &row;
            let is_determined = (&v * &z - &row).amax() <= 1e-7 * row.amax();
            let variance = row.dot(&z) + self.lambda * z.norm_squared();
            (z.dot(&b), if is_determined { variance } else { f64::INFINITY })
        };
        (0..x.nrows()).map(of).unzip()
    }

    fn x(&self) -> DMatrix<f64> {
        let rows = &self.problem.rows;
        DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
    }

    /// λI + Σ nᵢ xᵢxᵢᵀ.
    fn design(&self, pulls: &[f64]) -> DMatrix<f64> {
        let x = self.x();
        let weighted = DMatrix::from_fn(x.nrows(), x.ncols(), |i, j| pulls[i] * x[(i, j)]);
        x.transpose() * weighted + DMatrix::identity(x.ncols(), x.ncols()) * self.lambda
    }

    /// X V⁻¹ b over the rewards received. V itself is never formed: θ̂ is the least-squares solution of xₜᵀθ = rₜ for every pull and
    /// √λ θ = 0, by QR, which loses half the digits that the normal equations lose.
    pub fn ridge_means(&self) -> Vec<f64> {
        let x = self.x();
        let (n, d) = (self.rewards.len(), x.ncols());
        let a = DMatrix::from_fn(n + d, d, |i, j| match self.rewards.get(i) {
            Some(&(arm, _)) => x[(arm, j)],
            None => f64::from(u8::from(i - n == j)) * self.lambda.sqrt(),
        });
        let y = DVector::from_fn(n + d, |i, _| self.rewards.get(i).map_or(0.0, |&(_, reward)| reward));
        let (q, r) = a.qr().unpack();
        let theta = r.solve_upper_triangular(&(q.transpose() * y)).unwrap();
        (x * theta).as_slice().to_vec()
    }

    pub fn sample_means(&self) -> Vec<f64> {
        let mean = |arm| {
            let rewards: Vec<f64> = self.rewards.iter().filter(|(a, _)| *a == arm).map(|(_, r)| *r).collect();
            if rewards.is_empty() { 0.0 } else { rewards.iter().sum::<f64>() / rewards.len() as f64 }
        };
        (0..self.pulls.len()).map(mean).collect()
    }

    /// X V⁻¹ Xᵀ with every pull counted, pending or not.
    pub fn covariances(&self) -> DMatrix<f64> {
        self.design_covariances(|arm| f64::from(self.pulls[arm]))
    }

    /// X A⁻¹ Xᵀ with A = λI + Σ wxxᵀ for these weights.
    fn design_covariances(&self, weight: impl Fn(usize) -> f64) -> DMatrix<f64> {
        let x = self.x();
        let weights: Vec<f64> = (0..self.pulls.len()).map(weight).collect();
        let solved = self.design(&weights).cholesky().unwrap().solve(&x.transpose());
        x * solved
    }

    /// The same without pending pulls.
    pub fn without_pending_pulls(&self) -> Self {
        let mut observed = Self::new(&self.problem, self.lambda);
        for &(arm, reward) in &self.rewards {
            observed.pulls[arm] += 1;
            observed.rewards.push((arm, reward));
        }
        observed
    }

    /// ln(det V/λᵈ) with every pull counted: the sum over the eigenvalues of V/λ.
    pub fn log_det(&self) -> f64 {
        let pulls: Vec<f64> = self.pulls.iter().map(|&n| f64::from(n)).collect();
        (self.design(&pulls) / self.lambda).symmetric_eigenvalues().iter().map(|value| value.ln()).sum()
    }

    /// The distance of an arm from a proof, in pulls, with those beyond it counted four times.
    fn pulls_to_prove(&self, pulls: f64, gap: f64) -> f64 {
        let level = 2.0 * (self.pulls.len() as f64 / 0.05).ln() + pulls.ln_1p();
        let missing = level / gap.powi(2) - pulls;
        missing.max(-4.0 * missing)
    }

    /// The index of every arm by the definition of the rule; the least is chosen. `None` where the rule draws an arm at random.
    ///
    /// # Panics
    /// If the rule has no definition here.
    pub fn indices(&self, rule: &str, means: &[f64]) -> Option<Vec<f64>> {
        let gap = |arm: usize| self.problem.question.gap(means[arm]);
        let pulls = |arm: usize| f64::from(self.pulls[arm]);
        let arms = 0..self.pulls.len();
        let indices = match rule {
            "apt" => self.after_opening(|arm| pulls(arm).sqrt() * gap(arm)),
            "easiest" => self.after_opening(|arm| self.pulls_to_prove(pulls(arm), gap(arm))),
            "ucb-e" => self.after_opening(|arm| gap(arm) - (2.0 / pulls(arm)).sqrt()),
            "lsa" => self.after_opening(|arm| self.x_of(arm, means) + pulls(arm).ln()),
            "fwt" => self.after_opening(|arm| {
                let (x, cost) = (self.x_of(arm, means).max(1.0), self.problem.costs.as_ref().map_or(1.0, |c| c[arm]));
                x - x.ln() + (pulls(arm) / cost).ln()
            }),
            "fwt-gaps" => self.after_opening(|arm| {
                let y = self.x_of(arm, means).max(1.5);
                y - 1.5 * y.ln() + 1.5 * pulls(arm).ln()
            }),
            "pivot" => {
                let c = self.covariances();
                let certainty = |&arm: &usize| gap(arm).powi(2) / c[(arm, arm)] - c[(arm, arm)].ln();
                let pivot = arms.clone().min_by(|a, b| certainty(a).total_cmp(&certainty(b))).unwrap();
                arms.map(|arm| -c[(arm, pivot)].powi(2) / (1.0 + c[(arm, arm)])).collect()
            }
            "straddle" => {
                let (c, threshold) = (self.covariances(), self.problem.question.threshold());
                arms.map(|arm| (means[arm] - threshold).abs() - 1.96 * c[(arm, arm)].sqrt()).collect()
            }
            "clucb" => {
                let t: f64 = arms.clone().map(pulls).sum();
                let log = (4.0 * self.pulls.len() as f64 * t.powi(3) / 0.05).ln();
                let radius = |arm| 0.1 * (2.0 * log / pulls(arm)).sqrt();
                let is_undecided = |arm: &usize| gap(*arm) < radius(*arm);
                let candidates: Vec<usize> = arms.clone().filter(is_undecided).collect();
                let candidates = if candidates.is_empty() { arms.clone().collect() } else { candidates };
                self.after_opening(|arm| if candidates.contains(&arm) { -radius(arm) } else { f64::INFINITY })
            }
            "lingame" => {
                let weights = self.game();
                let rounds = self.pulls.iter().sum::<u32>() as usize + 1;
                // The weights of the last round are used for the rounds whose rewards are pending.
                let sum = |arm: usize| (0..rounds).map(|t| weights[t.min(weights.len() - 1)][arm]).sum::<f64>();
                arms.map(|arm| pulls(arm) - sum(arm)).collect()
            }
            "lse" => {
                let (settled, (lower, upper)) = (self.settled(rule), self.intervals());
                let (c, threshold) = (self.covariances(), self.problem.question.threshold());
                let half = |arm: usize| (beta(self.rewards.len() + 1, self.pulls.len()) * c[(arm, arm)]).sqrt();
                let ambiguity = |arm: usize| {
                    let (lower, upper) =
                        (lower[arm].max(means[arm] - half(arm)), upper[arm].min(means[arm] + half(arm)));
                    (upper - threshold).min(threshold - lower)
                };
                arms.map(|arm| if settled.contains(&arm) { f64::INFINITY } else { -ambiguity(arm) }).collect()
            }
            "grapl" => arms.map(|arm| (pulls(arm) + 1e-8).sqrt() * gap(arm)).collect(),
            // `level_sets.rs` has its definition, with the random numbers.
            "hdoc" | "lil-hdoc" => {
                let t = arms.clone().map(pulls).sum::<f64>() + 1.0;
                self.among_open(rule, |arm| -means[arm] - 0.1 * (2.0 * t.ln() / pulls(arm)).sqrt())
            }
            "lucb-g" => self.among_open(rule, |arm| -means[arm] - self.width(rule, pulls(arm))),
            "apt-g" => self.among_open(rule, |arm| pulls(arm).sqrt() * gap(arm)),
            "explore" => {
                let (node, fresh, _) = self.search();
                let pending = |arm| pulls(arm) - self.rewards.iter().filter(|r| r.0 == arm).count() as f64;
                let count = |arm| fresh.iter().filter(|r| r.0 == arm).count() as f64 + pending(arm);
                arms.map(|arm| if Self::asks(node, arm) { count(arm) } else { f64::INFINITY }).collect()
            }
            "csar" => {
                let settled = self.settled(rule);
                arms.map(|arm| if settled.contains(&arm) { f64::INFINITY } else { pulls(arm) }).collect()
            }
            "lingape" => {
                let (c, t) = (self.covariances(), self.pulls.iter().sum::<u32>() + 1);
                let width = (2.0 * ((1.0 / 0.05_f64).ln() + 2.0 * f64::from(t + 1).ln())).sqrt();
                let score = |&arm: &usize| width * c[(arm, arm)].sqrt() - gap(arm);
                let doubtful = arms.clone().max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
                self.after_opening(|arm| -c[(arm, doubtful)].powi(2) / (1.0 + c[(arm, arm)]))
            }
            "lucb" => {
                let t = self.pulls.iter().sum::<u32>() + 1;
                let level = (f64::from(t + 1) / 0.05).ln();
                self.after_opening(|arm| gap(arm) - (2.0 * level / pulls(arm)).sqrt())
            }
            "fws" => {
                let proportions = self.fws();
                self.after_opening(|arm| -proportions[arm] / pulls(arm))
            }
            "g-allocation" => self.largest_variances(&self.pulls, &[]),
            "t-adaptive" => {
                let (settled, start) = self.phases();
                let mut pulls = self.pulls.clone();
                self.rewards[..start].iter().for_each(|&(arm, _)| pulls[arm] -= 1);
                self.largest_variances(&pulls, &settled)
            }
            "uniform" if self.pulls.contains(&0) => self.after_opening(|_| 0.0),
            "uniform" | "random-straddle" => return None,
            _ => panic!("write the definition of the rule `{rule}` into `Plain::indices`"),
        };
        Some(indices)
    }

    /// The arms that the rule has settled, in order, found by going through the rewards received.
    ///
    /// # Panics
    /// If the rule settles no arms.
    pub fn settled(&self, rule: &str) -> Vec<usize> {
        if rule == "t-adaptive" {
            return self.phases().0;
        }
        if rule == "explore" {
            return if self.search().2 { (0..self.pulls.len()).collect() } else { Vec::new() };
        }
        let mut settled = Vec::new();
        let mut past = Self::new(&self.problem, self.lambda);
        for &(arm, reward) in &self.rewards {
            past.rewards.push((arm, reward));
            past.pulls[arm] += 1;
            match rule {
                "csar" => past.end_phases(self.budget, &mut settled),
                "lse" => past.settle_by_intervals(&mut settled),
                "hdoc" | "lucb-g" | "apt-g" | "lil-hdoc" => past.test_arm(rule, arm, &mut settled),
                _ => panic!("write how the rule `{rule}` settles arms into `Plain::settled`"),
            }
        }
        settled
    }

    /// The index of every arm for a rule that opens with every arm and then chooses among the open ones.
    fn among_open(&self, rule: &str, index: impl Fn(usize) -> f64) -> Vec<f64> {
        let settled = self.settled(rule);
        self.after_opening(|arm| if settled.contains(&arm) { f64::INFINITY } else { index(arm) })
    }

    /// For every arm, the largest variance of an open arm after one more pull of it.
    fn largest_variances(&self, pulls: &[u32], settled: &[usize]) -> Vec<f64> {
        let largest = |arm: usize| {
            let mut pulls = pulls.to_vec();
            pulls[arm] += 1;
            let c = self.design_covariances(|arm| f64::from(pulls[arm]));
            (0..pulls.len()).filter(|k| !settled.contains(k)).map(|k| c[(k, k)]).fold(0.0, f64::max)
        };
        (0..pulls.len()).map(largest).collect()
    }

    /// The index of every arm for a rule that pulls every arm once first, in their order.
    fn after_opening(&self, index: impl Fn(usize) -> f64) -> Vec<f64> {
        let is_opening = self.pulls.contains(&0);
        let first = |arm: usize| if self.pulls[arm] == 0 { arm as f64 } else { f64::INFINITY };
        (0..self.pulls.len()).map(|arm| if is_opening { first(arm) } else { index(arm) }).collect()
    }

    /// Tᵢ(μ̂ᵢ − τ)²/2.
    fn x_of(&self, arm: usize, means: &[f64]) -> f64 {
        f64::from(self.pulls[arm]) * (means[arm] - self.problem.question.threshold()).powi(2) / 2.0
    }
}
