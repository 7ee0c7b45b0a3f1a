//! What follows from failed measurements: a candidate that fails again and again is withdrawn; if everything fails, the run ends.

use std::collections::HashMap;

/// The number of tickets that may fail before the first reward of a run: most likely the command is wrong.
const MAX_FIRST_FAILURES: u32 = 5;

/// The number of candidates that may be withdrawn without a reward in between: most likely something else has broken.
const MAX_WITHDRAWN_IN_A_ROW: usize = 3;

/// The failures of a run so far.
#[derive(Debug)]
pub(super) struct Failures {
    /// After how many failures a candidate is withdrawn; 0 for never.
    give_up: u32,
    /// The failures of a candidate since its last reward, by its name.
    counts: HashMap<String, u32>,
    in_a_row: u32,
    /// The candidates that this run has withdrawn since the last reward.
    withdrawn: Vec<String>,
    /// What to say about candidates that were withdrawn before the first reward, once it is clear that the command works.
    notes: Vec<String>,
    has_rewards: bool,
}

/// What follows from a failure.
#[derive(Debug, PartialEq)]
pub(super) enum Consequence {
    GoOn,
    /// The candidate has failed so often that it is withdrawn.
    Withdraw {
        failures: u32,
    },
    /// The run ends; these candidates are available again, because not they were the reason.
    GiveUp {
        tickets: u32,
        restore: Vec<String>,
    },
}

impl Failures {
    pub(super) fn new(give_up: u32) -> Self {
        Self {
            give_up,
            counts: HashMap::new(),
            in_a_row: 0,
            withdrawn: Vec::new(),
            notes: Vec::new(),
            has_rewards: false,
        }
    }

    /// There was a reward of this candidate. Returns what can be said about withdrawn candidates from here on.
    pub(super) fn succeeded(&mut self, candidate: &str) -> Vec<String> {
        self.counts.remove(candidate);
        self.in_a_row = 0;
        self.withdrawn.clear();
        self.has_rewards = true;
        std::mem::take(&mut self.notes)
    }

    /// Keeps what is to be said about a withdrawn candidate until there is a reward, and returns it if there was one.
    pub(super) fn say(&mut self, note: String) -> Option<String> {
        if self.has_rewards {
            return Some(note);
        }
        self.notes.push(note);
        None
    }

    /// A ticket of this candidate failed.
    pub(super) fn failed(&mut self, candidate: &str) -> Consequence {
        self.in_a_row += 1;
        let failures = {
            let count = self.counts.entry(candidate.into()).or_default();
            *count += 1;
            *count
        };
        let may_withdraw = self.give_up > 0;
        let is_broken = if self.has_rewards && may_withdraw {
            failures == self.give_up && self.withdrawn.len() + 1 >= MAX_WITHDRAWN_IN_A_ROW
        } else {
            self.in_a_row >= MAX_FIRST_FAILURES
        };
        if is_broken {
            let (tickets, restore) = self.give_up();
            return Consequence::GiveUp { tickets, restore };
        }
        if may_withdraw && failures == self.give_up {
            // If somebody makes it available again, it has as many tries again.
            self.counts.remove(candidate);
            self.withdrawn.push(candidate.into());
            return Consequence::Withdraw { failures };
        }
        Consequence::GoOn
    }

    /// The last candidate could not be withdrawn, nor can others: from here on, too many failures in a row end the run.
    pub(super) fn cannot_withdraw(&mut self) {
        self.withdrawn.pop();
        self.give_up = 0;
    }

    /// Whether candidates were withdrawn since the last reward, or since the beginning.
    pub(super) fn nothing_worked(&self) -> bool {
        !self.withdrawn.is_empty()
    }

    /// The number of tickets that failed in a row, and the candidates to make available again.
    pub(super) fn give_up(&mut self) -> (u32, Vec<String>) {
        (self.in_a_row, std::mem::take(&mut self.withdrawn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_fails_is_withdrawn() {
        let mut failures = Failures::new(3);
        failures.succeeded("z");
        assert_eq!([failures.failed("a"), failures.failed("a")], [Consequence::GoOn, Consequence::GoOn]);
        assert_eq!(failures.failed("a"), Consequence::Withdraw { failures: 3 });
        failures.succeeded("z");
        assert_eq!(failures.failed("b"), Consequence::GoOn);
    }

    #[test]
    fn a_candidate_that_somebody_restores_is_withdrawn_again() {
        let mut failures = Failures::new(2);
        failures.succeeded("z");
        let mut all = Vec::new();
        for _ in 0..2 {
            all.extend(["a", "a"].map(|candidate| failures.failed(candidate)));
        }
        assert_eq!([&all[1], &all[3]], [&Consequence::Withdraw { failures: 2 }; 2]);
    }

    #[test]
    fn where_nothing_can_be_withdrawn_five_failures_in_a_row_end_the_run() {
        let mut failures = Failures::new(3);
        failures.succeeded("z");
        failures.failed("a");
        failures.failed("a");
        assert_eq!(failures.failed("a"), Consequence::Withdraw { failures: 3 });
        failures.cannot_withdraw();
        assert_eq!(failures.failed("a"), Consequence::GoOn);
        assert_eq!(failures.failed("a"), Consequence::GiveUp { tickets: 5, restore: Vec::new() });
    }

    #[test]
    fn a_command_that_never_works_withdraws_nothing() {
        let mut failures = Failures::new(3);
        let mut last = Consequence::GoOn;
        for candidate in ["a", "a", "a", "b", "b"] {
            last = failures.failed(candidate);
        }
        assert_eq!(last, Consequence::GiveUp { tickets: 5, restore: vec!["a".into()] });
    }

    #[test]
    fn an_instrument_that_breaks_ends_the_run() {
        let mut failures = Failures::new(2);
        failures.succeeded("z");
        let all: Vec<Consequence> = ["a", "a", "b", "b", "c", "c"].map(|candidate| failures.failed(candidate)).into();
        assert_eq!(all[3], Consequence::Withdraw { failures: 2 });
        assert_eq!(all[5], Consequence::GiveUp { tickets: 6, restore: vec!["a".into(), "b".into()] });
    }

    #[test]
    fn without_withdrawing_five_failures_in_a_row_end_the_run() {
        let mut failures = Failures::new(0);
        failures.succeeded("z");
        for _ in 0..4 {
            assert_eq!(failures.failed("a"), Consequence::GoOn);
        }
        assert_eq!(failures.failed("a"), Consequence::GiveUp { tickets: 5, restore: Vec::new() });
    }
}
