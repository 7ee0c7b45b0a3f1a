//! Shared by the test suites: problems, and a plain implementation of everything to compare with.

#![allow(dead_code, reason = "each suite uses a part of it")]

use cutline::{ALGORITHMS, Algorithm, Arms, AskTell, Purpose, Question, Rng, Spec, below, stream};
use nalgebra::{DMatrix, DVector};
use rand_core::Rng as _;
use std::cell::RefCell;

/// A problem: features row by row, and the means of the arms.
#[derive(Clone, Debug)]
pub struct Problem {
    pub rows: Vec<Vec<f64>>,
    pub means: Vec<f64>,
    pub question: Question,
    /// What an error on each arm costs; 1 where there are none.
    pub costs: Option<Vec<f64>>,
}

impl Problem {
    /// Arms and θ uniform on [−1, 1], with column j scaled by `scale(j)`.
    pub fn new(n_arms: usize, dimension: usize, seed: u64, scale: impl Fn(f64) -> f64) -> Self {
        let mut rng = stream(seed, Purpose::Instance, 0);
        let theta: Vec<f64> = (0..dimension).map(|j| uniform(&mut rng) / scale(j as f64)).collect();
        let row = |rng: &mut Rng| (0..dimension).map(|j| uniform(rng) * scale(j as f64)).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = (0..n_arms).map(|_| row(&mut rng)).collect();
        let means = rows.iter().map(|row| row.iter().zip(&theta).map(|(x, t)| x * t).sum()).collect();
        Self { rows, means, question: Question::new(0.1, 0.01).unwrap(), costs: None }
    }

    pub fn uniform(n_arms: usize, dimension: usize, seed: u64) -> Self {
        Self::new(n_arms, dimension, seed, |_| 1.0)
    }

    pub fn arms(&self) -> Arms {
        let arms = Arms::from_rows(&self.rows).unwrap();
        match &self.costs {
            Some(costs) => arms.with_costs(costs).unwrap(),
            None => arms,
        }
    }

    /// The reward of a pull: the mean and noise uniform on [−1, 1].
    pub fn reward(&self, arm: usize, rng: &mut Rng) -> f64 {
        self.means[arm] + uniform(rng)
    }
}

pub fn uniform(rng: &mut Rng) -> f64 {
    f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0
}

/// Plays to the end with the noise of a seed; returns the arms pulled.
pub fn arms_of(learner: &mut dyn AskTell, problem: &Problem, seed: u64) -> Vec<usize> {
    let mut rng = stream(seed, Purpose::Noise, 0);
    let mut arms = Vec::new();
    while let Some(arm) = learner.ask() {
        learner.tell(arm, problem.reward(arm, &mut rng));
        arms.push(arm);
    }
    arms
}

const SMALL_NOISE: [(&str, f64); 6] =
    [("clucb", 0.1), ("hdoc", 0.1), ("lucb-g", 0.1), ("apt-g", 0.1), ("lil-hdoc", 0.1), ("lse", 0.5)];

/// The algorithm with all parameters set. Those that look for arms whose side is known get a small noise scale, so that there are some after
/// few pulls.
pub fn spec(name: &str) -> Spec {
    let mut spec = Spec::named(name).unwrap();
    if let Some((_, noise)) = SMALL_NOISE.into_iter().find(|(other, _)| *other == name) {
        spec = spec.with("noise", noise).unwrap();
    }
    // The plain ridge is not centred.
    if spec.algorithm().is_centred {
        spec = spec.with_centre(0.0).unwrap();
    }
    for parameter in spec.parameters() {
        if parameter.default.is_none() {
            spec = spec.with(parameter.name, 2.0).unwrap();
        }
    }
    spec
}

/// Whether the choices of its rule are drawn at random.
pub fn is_random(algorithm: &Algorithm) -> bool {
    ["uniform", "random-straddle"].contains(&algorithm.rule)
}

/// Every algorithm that takes a confidence stop.
pub fn with_confidence_stop() -> impl Iterator<Item = &'static Algorithm> {
    ALGORITHMS.iter().filter(|algorithm| !algorithm.starves_arms)
}

/// Removes and returns a random element.
pub fn take<T>(items: &mut Vec<T>, rng: &mut Rng) -> T {
    let position = below(rng, items.len());
    items.swap_remove(position)
}

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

/// βₜ of LSE for δ = 0.05, times its σ² = 0.25.
fn beta(t: usize, n_arms: usize) -> f64 {
    0.25 * 2.0 * (n_arms as f64 * (std::f64::consts::PI * t as f64).powi(2) / (6.0 * 0.05)).ln()
}

/// The weights of AdaHedge before and after each round.
fn ada_hedge(gains: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let (mut sums, mut gap) = (vec![0.0; n], 0.01);
    let mut all = vec![vec![1.0 / n as f64; n]];
    for gains in gains {
        let (w, eta) = (&all[all.len() - 1], (n as f64).ln() / gap);
        let mean: f64 = w.iter().zip(gains).map(|(w, g)| w * g).sum();
        let mixed = if gap == 0.0 {
            gains.iter().zip(w).filter(|(_, w)| **w > 0.0).map(|(g, _)| *g).fold(f64::NEG_INFINITY, f64::max)
        } else {
            w.iter().zip(gains).map(|(w, g)| w * (eta * g).exp()).sum::<f64>().ln() / eta
        };
        gap += (mixed - mean).max(0.0);
        sums.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += gain);
        let (most, eta) = (sums.iter().copied().fold(f64::NEG_INFINITY, f64::max), (n as f64).ln() / gap);
        let share = |&sum: &f64| if sum == most { 1.0 } else { (eta * (sum - most)).exp() };
        let shares: Vec<f64> = sums.iter().map(share).collect();
        all.push(shares.iter().map(|share| share / shares.iter().sum::<f64>()).collect());
    }
    all
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

    /// Good arms: the arm just told is settled if its interval lies on one side of τ.
    fn test_arm(&self, rule: &str, arm: usize, settled: &mut Vec<usize>) {
        let distance = self.sample_means()[arm] - self.problem.question.threshold();
        let width = self.width(rule, f64::from(self.pulls[arm]));
        if !settled.contains(&arm) && (distance + width < 0.0 || distance - width >= 0.0) {
            settled.push(arm);
        }
    }

    /// Half the width of an interval of the good-arm rules after n rewards, for σ = 0.1, δ = 0.05 and lil'HDoC's ε = 0.01.
    fn width(&self, rule: &str, n: f64) -> f64 {
        let (k, delta, e) = (self.pulls.len() as f64, 0.05, 0.01_f64);
        if rule == "lil-hdoc" {
            let c = (2.0 + e) / e * (1.0 / (1.0 + e).ln()).powf(1.0 + e);
            let log = (((1.0 + e) * n).ln() / (delta / (c * k))).ln();
            0.1 * (1.0 + e.sqrt()) * (2.0 * (1.0 + e) * log / n).sqrt()
        } else {
            0.1 * (2.0 * (4.0 * k * n * n / delta).ln() / n).sqrt()
        }
    }

    /// Explore: the node (l, r) after all rewards, the rewards of this round, and whether all rounds are over.
    fn search(&self) -> ((usize, usize), Vec<(usize, f64)>, bool) {
        let k = self.pulls.len();
        let rounds = (6.0 * (k as f64).ln()).ceil().max(1.0);
        let round_pulls = (f64::from(self.budget) / (3.0 * rounds)).floor().max(1.0);
        let (mut path, mut fresh, mut n_over) = (vec![(0, k + 1)], Vec::new(), 0.0);
        for &(arm, reward) in &self.rewards {
            fresh.push((arm, reward));
            let (l, r) = path[path.len() - 1];
            let of = |number: usize| fresh.iter().filter(move |r| r.0 + 1 == number).map(|r| r.1).collect::<Vec<f64>>();
            let asked = (0..k).filter(|&arm| Self::asks((l, r), arm));
            if n_over == rounds || asked.clone().any(|arm| (of(arm + 1).len() as f64) < round_pulls) {
                continue;
            }
            let mean = |number: usize| of(number).iter().sum::<f64>() / of(number).len() as f64;
            let (threshold, m) = (self.problem.question.threshold(), usize::midpoint(l, r));
            let is_inside = (l == 0 || mean(l) <= threshold) && (r == k + 1 || mean(r) >= threshold);
            if !is_inside {
                path.truncate((path.len() - 1).max(1));
            } else if r == l + 1 {
                path.push((l, r));
            } else {
                path.push(if mean(m) >= threshold { (l, m) } else { (m, r) });
            }
            (fresh, n_over) = (Vec::new(), n_over + 1.0);
        }
        (path[path.len() - 1], fresh, n_over == rounds)
    }

    /// Whether Explore pulls `arm`, numbered from 0, at the node (l, r), numbered from 1.
    fn asks((l, r): (usize, usize), arm: usize) -> bool {
        [l, r].contains(&(arm + 1)) || (r > l + 1 && arm + 1 == usize::midpoint(l, r))
    }

    /// CSAR: while every open arm has ⌈(T − K)/(L n)⌉ rewards, L = Σ 1/i and n the number of open arms, the one furthest from τ is settled.
    fn end_phases(&self, budget: u32, settled: &mut Vec<usize>) {
        let k = self.pulls.len();
        let harmonic: f64 = (1..=k).map(|i| 1.0 / i as f64).sum();
        loop {
            let open: Vec<usize> = (0..k).filter(|arm| !settled.contains(arm)).collect();
            let target = ((f64::from(budget) - k as f64) / (harmonic * open.len() as f64)).ceil().max(1.0);
            if open.is_empty() || open.iter().any(|&arm| f64::from(self.pulls[arm]) < target) {
                return;
            }
            let means = self.sample_means();
            let distance = |arm: usize| (means[arm] - self.problem.question.threshold()).abs();
            let most = open.iter().map(|&arm| distance(arm)).fold(0.0, f64::max);
            settled.extend(open.iter().find(|&&arm| distance(arm) == most));
        }
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

    /// T-adaptive: the arms it has settled, in order, and the number of rewards before the current phase.
    fn phases(&self) -> (Vec<usize>, usize) {
        let (k, d) = (self.pulls.len(), self.problem.rows[0].len() as f64);
        let (mut settled, mut start, mut phase) = (Vec::new(), 0, 1.0);
        let mut end = 0.1 / (d * (d + 1.0) + 1.0);
        for t in 1..=self.rewards.len() {
            let mut past = Self::new(&self.problem, self.lambda);
            past.rewards = self.rewards[start..t].to_vec();
            past.rewards.iter().for_each(|&(arm, _)| past.pulls[arm] += 1);
            let c = past.covariances();
            let open: Vec<usize> = (0..k).filter(|arm| !settled.contains(arm)).collect();
            let progress = open.iter().map(|&arm| c[(arm, arm)]).fold(0.0, f64::max) / (d + (t - start) as f64);
            if progress >= end {
                continue;
            }
            let means = past.ridge_means();
            let level = (std::f64::consts::PI.powi(2) * k as f64 * phase * phase / (3.0 * 0.05)).ln();
            let is_clear =
                |arm: &usize| self.problem.question.gap(means[*arm]) >= (2.0 * c[(*arm, *arm)] * level).sqrt();
            settled.extend(open.into_iter().filter(is_clear));
            (start, phase, end) = (t, phase + 1.0, 0.1 * progress);
        }
        (settled, start)
    }

    /// The proportions of FWS after the rewards received.
    fn fws(&self) -> Vec<f64> {
        let k = self.pulls.len();
        let known = self.proportions.borrow().len();
        for t in known + 1..=self.rewards.len() {
            let mut past = Self::new(&self.problem, self.lambda);
            past.rewards = self.rewards[..t].to_vec();
            past.rewards.iter().for_each(|&(arm, _)| past.pulls[arm] += 1);
            // The shares of the rewards, until every arm has one.
            let shares: Vec<f64> = past.pulls.iter().map(|&n| f64::from(n) / t as f64).collect();
            if past.pulls.contains(&0) {
                self.proportions.borrow_mut().push(shares);
                continue;
            }
            let last = self.proportions.borrow().last().cloned().filter(|last| !last.contains(&0.0));
            let x = last.unwrap_or(shares);
            let (means, c) = (past.ridge_means(), past.design_covariances(|arm| t as f64 * x[arm]));
            let gap = |arm: usize| self.problem.question.gap(means[arm]);
            let evidence = |&arm: &usize| gap(arm).powi(2) / c[(arm, arm)];
            let challenger = (0..k).min_by(|a, b| evidence(a).total_cmp(&evidence(b))).unwrap();
            let first_most =
                (0..k).rev().max_by(|&a, &b| c[(a, challenger)].abs().total_cmp(&c[(b, challenger)].abs()));
            let is_square = |n: usize| (0..=n).any(|root| root * root == n);
            let is_uniform = is_square((t + 1) / k);
            let z = |arm| if is_uniform { 1.0 / k as f64 } else { f64::from(u8::from(Some(arm) == first_most)) };
            let next = (0..k).map(|arm| (t as f64 * x[arm] + z(arm)) / (t + 1) as f64).collect();
            self.proportions.borrow_mut().push(next);
        }
        self.proportions.borrow().last().cloned().unwrap_or_else(|| vec![0.0; k])
    }

    /// LSE: the intersection of the intervals before the first reward and after each.
    fn intervals(&self) -> (Vec<f64>, Vec<f64>) {
        let k = self.pulls.len();
        let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; k], vec![f64::INFINITY; k]);
        let mut past = Self::new(&self.problem, self.lambda);
        for n in 0..=self.rewards.len() {
            if let Some(&(arm, reward)) = n.checked_sub(1).and_then(|last| self.rewards.get(last)) {
                past.rewards.push((arm, reward));
                past.pulls[arm] += 1;
            }
            let (means, c) = (past.ridge_means(), past.covariances());
            for arm in 0..k {
                let half = (beta(n + 1, k) * c[(arm, arm)]).sqrt();
                lower[arm] = lower[arm].max(means[arm] - half);
                upper[arm] = upper[arm].min(means[arm] + half);
            }
        }
        (lower, upper)
    }

    /// LSE: an arm is settled when min C + ε > τ or max C − ε ≤ τ, or C is empty.
    fn settle_by_intervals(&self, settled: &mut Vec<usize>) {
        let (lower, upper) = self.intervals();
        let (threshold, precision) = (self.problem.question.threshold(), self.problem.question.precision());
        for arm in 0..self.pulls.len() {
            let is_decided = lower[arm] + precision > threshold || upper[arm] - precision <= threshold;
            if !settled.contains(&arm) && (is_decided || lower[arm] > upper[arm]) {
                settled.push(arm);
            }
        }
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

    /// The weights of LinGame before the first reward and after each.
    fn game(&self) -> Vec<Vec<f64>> {
        let known = self.gains.borrow().len();
        for t in known + 1..=self.rewards.len() {
            let mut past = Self::new(&self.problem, self.lambda);
            past.rewards = self.rewards[..t].to_vec();
            past.rewards.iter().for_each(|&(arm, _)| past.pulls[arm] += 1);
            let weights = ada_hedge(&self.gains.borrow(), self.pulls.len()).pop().unwrap();
            let (means, c) = (past.ridge_means(), past.design_covariances(|arm| t as f64 * weights[arm]));
            let gap = |arm: usize| self.problem.question.gap(means[arm]);
            let evidence = |&arm: &usize| gap(arm).powi(2) / c[(arm, arm)];
            let k = (0..means.len()).min_by(|a, b| evidence(a).total_cmp(&evidence(b))).unwrap();
            let apart = |arm| gap(k) * c[(arm, k)] / c[(k, k)];
            let gains = (0..means.len()).map(|arm| 0.5 * apart(arm).powi(2)).collect();
            self.gains.borrow_mut().push(gains);
        }
        ada_hedge(&self.gains.borrow(), self.pulls.len())
    }
}

/// Asserts that two lists of numbers agree to `tolerance` times the largest finite one of them, or times 0.001 if that is more.
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, name: &str) {
    let scale = expected.iter().filter(|x| x.is_finite()).fold(1e-3_f64, |most, x| most.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(a == b || (a - b).abs() <= tolerance * scale, "{name}: arm {i}: {a} instead of {b} (scale {scale})");
    }
}
