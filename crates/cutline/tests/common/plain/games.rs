//! Rules that learn proportions of pulls: LinGame and FWS.

use super::Plain;

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
    /// The proportions of FWS after the rewards received.
    pub(super) fn fws(&self) -> Vec<f64> {
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

    /// The weights of LinGame before the first reward and after each.
    pub(super) fn game(&self) -> Vec<Vec<f64>> {
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
