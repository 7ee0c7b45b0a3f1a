//! The verdicts as tables, one per side.

use super::Sort;
use cutline::{Side, Verdict, grouped};
use cutline_campaign::View;

/// The most rows per side, so that the page stays readable.
const MAX_ROWS: usize = 200;

/// The arms on one side.
pub(super) struct Group {
    pub(super) side: &'static str,
    /// How many there are, and how many of them are listed if not all.
    pub(super) count: String,
    pub(super) rows: Vec<Row>,
    pub(super) is_cut: bool,
}

/// An arm as text.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) basis: &'static str,
    pub(super) mean: String,
    pub(super) interval: String,
    /// The mean of the arm's own rewards.
    pub(super) own: String,
    pub(super) pulls: String,
    pub(super) doubt: String,
    pub(super) probability_above: String,
    pub(super) evidence: String,
}

/// The sides that have arms, each with its arms.
pub(super) fn groups(view: &View, sort: Sort) -> Vec<Group> {
    let digits = Digits::of(&view.verdicts);
    let group = |side: Side| {
        let arms = sorted(view, side, sort);
        let row = |&arm: &usize| {
            let verdict = &view.verdicts[arm];
            Row {
                name: view.names[arm].clone(),
                basis: verdict.basis.map_or("", cutline::Basis::name),
                mean: mean(verdict, digits),
                interval: format!("{} to {}", digits.write(verdict.lower), digits.write(verdict.upper)),
                own: own(view, arm, digits),
                pulls: pulls(verdict),
                doubt: doubt(verdict.doubt),
                probability_above: format!("{:.4}", verdict.probability_above()),
                evidence: evidence(verdict.evidence),
            }
        };
        let is_cut = arms.len() > MAX_ROWS;
        let count = grouped(arms.len() as u64);
        let count = if is_cut { format!("{MAX_ROWS} of {count}") } else { count };
        Group { side: side.name(), count, rows: arms.iter().take(MAX_ROWS).map(row).collect(), is_cut }
    };
    let sides = match sort {
        Sort::Undecided => [Side::Undecided, Side::Above, Side::Below],
        _ => [Side::Above, Side::Undecided, Side::Below],
    };
    let groups = sides.map(group);
    groups.into_iter().filter(|group| !group.rows.is_empty()).collect()
}

/// The arms on a side, in the order that was asked for.
fn sorted(view: &View, side: Side, sort: Sort) -> Vec<usize> {
    let mut arms = view.arms(side);
    match sort {
        Sort::Mean | Sort::Undecided => (),
        Sort::Name => arms.sort_by(|&a, &b| view.names[a].cmp(&view.names[b])),
        Sort::Doubt => arms.sort_by(|&a, &b| view.verdicts[b].doubt.total_cmp(&view.verdicts[a].doubt)),
    }
    arms
}

/// The estimate, and that it is the threshold itself if it is.
fn mean(verdict: &Verdict, digits: Digits) -> String {
    let at_threshold = if verdict.is_at_threshold() { ", at the threshold" } else { "" };
    format!("{}{at_threshold}", digits.write(verdict.mean))
}

/// The mean of an arm's own rewards.
fn own(view: &View, arm: usize, digits: Digits) -> String {
    if view.verdicts[arm].pulls == 0 {
        "never measured".into()
    } else {
        digits.write(view.state.reward_stats().mean(arm))
    }
}

/// How often an arm was measured, when its side was settled if it was, and whether it is withdrawn.
fn pulls(verdict: &Verdict) -> String {
    let pulls = grouped(verdict.pulls.into());
    let settled = verdict.settled_after.map(|after| format!("; decided at measurement {}", grouped(after)));
    let withdrawn = if verdict.is_withdrawn { "; withdrawn" } else { "" };
    format!("{pulls}{}{withdrawn}", settled.unwrap_or_default())
}

fn doubt(doubt: f64) -> String {
    if doubt < 5e-5 && doubt > 0.0 { "< 0.0001".into() } else { format!("{doubt:.4}") }
}

fn evidence(evidence: f64) -> String {
    if evidence < 1000.0 { format!("{evidence:.1}") } else { format!("{evidence:.0e}") }
}

/// How many digits the numbers on the page have: as many as the widths of the intervals justify.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Digits {
    /// With this many decimals.
    Fixed(usize),
    /// With a power of ten.
    Scientific,
}

impl Digits {
    /// The median half-width of an interval gets two digits.
    fn of(verdicts: &[Verdict]) -> Self {
        let finite = |number: &f64| number.is_finite() && *number != 0.0;
        let mut halves: Vec<f64> = verdicts.iter().map(|v| (v.upper - v.lower) / 2.0).filter(finite).collect();
        if halves.is_empty() {
            halves = verdicts.iter().map(|verdict| verdict.mean.abs()).filter(finite).collect();
        }
        let middle = halves.len() / 2;
        let typical = if halves.is_empty() { 1.0 } else { *halves.select_nth_unstable_by(middle, f64::total_cmp).1 };
        let most = verdicts.iter().map(|verdict| verdict.mean.abs()).filter(finite).fold(0.0, f64::max);
        let first = typical.log10().floor();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 8")]
        match 1.0 - first {
            decimals if decimals > 8.0 || first > 6.0 || most >= 1e9 => Self::Scientific,
            decimals => Self::Fixed(decimals.max(0.0) as usize),
        }
    }

    fn write(self, number: f64) -> String {
        let text = match self {
            _ if number == f64::INFINITY => "∞".into(),
            _ if number == f64::NEG_INFINITY => "-∞".into(),
            _ if number.is_nan() => return "unknown".into(),
            Self::Fixed(decimals) => format!("{number:.decimals$}"),
            Self::Scientific => format!("{number:.4e}"),
        };
        // Zero has no sign, and a minus is as wide as a plus.
        let is_zero = text.trim_start_matches('-').bytes().all(|byte| b"0.e".contains(&byte));
        if is_zero { text.replace('-', "") } else { text.replace('-', "−") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline::{Arms, Confidence, IntervalKind, Question, Spec};

    /// The verdict on an arm with these four rewards, at noise `sigma`.
    fn verdicts(reward: f64, sigma: f64) -> Vec<Verdict> {
        let arms = Arms::without_features(2).unwrap();
        let question = Question::new(0.0, 0.0).unwrap();
        let mut learner = Spec::named("apt").unwrap().learner(&arms, question, 9, 0).unwrap();
        (0..4).for_each(|_| learner.tell(0, reward).unwrap());
        let confidence = Confidence::new(IntervalKind::Fixed, 0.05, sigma).unwrap();
        learner.beliefs().verdicts(&confidence).collect()
    }

    #[test]
    fn numbers_have_the_digits_that_intervals_justify() {
        let written = |reward, sigma| Digits::of(&verdicts(reward, sigma)).write(reward);
        assert_eq!(written(1234.56789, 1.0), "1234.57");
        assert_eq!(written(1234.56789, 100.0), "1235");
        assert_eq!(written(-1234.56789, 10.0), "−1234.6");
        assert_eq!(written(0.5, 0.0001), "0.500000");
        assert_eq!(written(0.5, 1e-9), "5.0000e−1");
        assert_eq!(written(3e9, 1.0), "3.0000e9");
        assert_eq!(written(-0.0004, 1.0), "0.00", "no minus before a zero");
    }

    #[test]
    fn infinite_and_unknown_numbers_are_words_or_symbols() {
        let digits = Digits::Fixed(2);
        let numbers = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -2.0];
        assert_eq!(numbers.map(|number| digits.write(number)), ["∞", "−∞", "unknown", "0.00", "−2.00"]);
        let unknown = &verdicts(0.0, 1.0)[1..];
        assert_eq!(Digits::of(unknown), Digits::Fixed(1), "neither an interval nor a mean is known");
    }

    #[test]
    fn small_doubts_are_not_zero() {
        assert_eq!([0.5, 0.01234, 1e-9, 0.0].map(doubt), ["0.5000", "0.0123", "< 0.0001", "0.0000"]);
    }
}
