//! Sets of runs, as ranges of their numbers.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A set of runs: ascending ranges of run numbers, none of them empty, with at least one run missing between two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Range<u64>>", into = "Vec<Range<u64>>")]
pub struct RunRanges(Vec<Range<u64>>);

impl RunRanges {
    /// The runs of one range.
    #[must_use]
    pub fn new(runs: Range<u64>) -> Self {
        Self(if runs.is_empty() { Vec::new() } else { vec![runs] })
    }

    /// The ranges, in ascending order.
    #[must_use]
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    /// The number of runs.
    #[must_use]
    pub fn n_runs(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// The first range of runs that are in both sets.
    #[must_use]
    pub fn overlap(&self, other: &Self) -> Option<Range<u64>> {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(our), Some(their)) = (ours.peek(), theirs.peek()) {
            let common = our.start.max(their.start)..our.end.min(their.end);
            if !common.is_empty() {
                return Some(common);
            }
            if our.end <= their.end {
                ours.next()
            } else {
                theirs.next()
            };
        }
        None
    }

    /// Adds the runs of another set.
    pub fn extend(&mut self, other: &Self) {
        let mut all: Vec<Range<u64>> = self.0.iter().chain(&other.0).cloned().collect();
        all.sort_unstable_by_key(|range| range.start);
        self.0.clear();
        for range in all {
            match self.0.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => self.0.push(range),
            }
        }
    }

    /// The runs of `runs` that are not in this set, in ascending ranges.
    #[must_use]
    pub fn missing(&self, runs: Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let mut next = runs.start;
        for range in self.0.iter().filter(|range| range.end > runs.start) {
            missing.push(next..range.start.min(runs.end));
            next = next.max(range.end);
        }
        missing.push(next..runs.end);
        missing.retain(|range| !range.is_empty());
        missing
    }
}

impl From<RunRanges> for Vec<Range<u64>> {
    fn from(runs: RunRanges) -> Self {
        runs.0
    }
}

impl TryFrom<Vec<Range<u64>>> for RunRanges {
    type Error = &'static str;

    fn try_from(ranges: Vec<Range<u64>>) -> Result<Self, Self::Error> {
        let is_apart = |pair: &[Range<u64>]| pair[0].end < pair[1].start;
        if ranges.iter().any(Range::is_empty) || !ranges.windows(2).all(is_apart) {
            return Err("the ranges of runs are not in order");
        }
        Ok(Self(ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(all: &[Range<u64>]) -> RunRanges {
        let mut set = RunRanges::default();
        for range in all {
            set.extend(&RunRanges::new(range.clone()));
        }
        set
    }

    #[test]
    fn neighbours_become_one() {
        assert_eq!(ranges(&[10..20, 0..5, 5..10, 7..7]).as_slice(), std::slice::from_ref(&(0..20)));
        let apart = ranges(&[30..31, 0..5, 6..10]);
        assert_eq!((apart.as_slice(), apart.n_runs()), (&[0..5, 6..10, 30..31][..], 10));
    }

    #[test]
    fn overlaps_are_found() {
        let set = ranges(&[0..5, 10..20]);
        assert_eq!(set.overlap(&ranges(&[5..10, 20..30])), None);
        assert_eq!(set.overlap(&RunRanges::new(5..11)), Some(10..11));
        assert_eq!(set.overlap(&ranges(&[7..8, 4..5])), Some(4..5));
        assert_eq!(set.overlap(&RunRanges::default()), None);
    }

    #[test]
    fn what_is_missing() {
        let set = ranges(&[3..5, 10..20]);
        assert_eq!(set.missing(0..25), [0..3, 5..10, 20..25]);
        assert_eq!(set.missing(4..12), std::slice::from_ref(&(5..10)));
        assert_eq!(set.missing(11..15), []);
        assert_eq!(RunRanges::default().missing(2..4), std::slice::from_ref(&(2..4)));
    }
}
