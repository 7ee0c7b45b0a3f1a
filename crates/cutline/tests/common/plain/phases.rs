//! Rules with phases: CSAR, Explore and T-adaptive.

use super::Plain;

impl Plain {
    /// Explore: the node (l, r) after all rewards, the rewards of this round, and whether all rounds are over.
    pub(super) fn search(&self) -> ((usize, usize), Vec<(usize, f64)>, bool) {
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
    pub(super) fn asks((l, r): (usize, usize), arm: usize) -> bool {
        [l, r].contains(&(arm + 1)) || (r > l + 1 && arm + 1 == usize::midpoint(l, r))
    }

    /// CSAR: while every open arm has ⌈(T − K)/(L n)⌉ rewards, L = Σ 1/i and n the number of open arms, the one furthest from τ is settled.
    pub(super) fn end_phases(&self, budget: u32, settled: &mut Vec<usize>) {
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

    /// T-adaptive: the arms it has settled, in order, and the number of rewards before the current phase.
    pub(super) fn phases(&self) -> (Vec<usize>, usize) {
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
}
