//! The verdicts of a campaign: the mean and interval of every arm against the threshold, and its pulls.

mod columns;
mod ranking;
mod ranks;
mod rows;

use cutline::{IntervalKind, Question, Side, Verdict};

use crate::legend::Key;
use crate::page::{NarrowPage, count};
use crate::style::{SIDES, SideStyle};
use crate::verdict::ranking::{RankedArms, ThresholdLine, open_end_key};

/// A verdict as the figure shows it: a [`Verdict`] with the arm's name. Its numbers need not be finite.
///
/// An end of the interval that is NaN counts as infinite, that is, unknown. An arm whose mean is not finite is counted and not
/// drawn. Numbers beyond ±10¹⁵⁰ are not measurements and count as infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmVerdict {
    /// The arm's name.
    pub name: String,
    /// The estimate of its mean.
    pub mean: f64,
    /// The lower end of the interval; −∞ if it is unknown.
    pub lower: f64,
    /// The upper end of the interval; ∞ if it is unknown.
    pub upper: f64,
    /// The side.
    pub side: Side,
    /// How often it was measured.
    pub pulls: u64,
}

impl ArmVerdict {
    /// The verdict on the arm of this name.
    #[must_use]
    pub fn new(name: &str, verdict: &Verdict) -> Self {
        let Verdict { mean, lower, upper, side, pulls, .. } = *verdict;
        let at_threshold = if verdict.is_at_threshold() { " (at the threshold)" } else { "" };
        let name = format!("{}{at_threshold}", cutline::shown(name));
        Self { name, mean, lower, upper, side, pulls: pulls.into() }
    }
}

/// Every arm's mean and interval against the threshold τ and the band τ ± ε, highest mean first, with its pulls.
///
/// Up to 40 arms are rows with names. More are points by rank, with their pulls in a second panel below. More than 300 are
/// drawn in columns of neighbouring ranks, so that a million arms make a small file too; of the pulls a column shows the
/// median and the maximum, so that a few arms with all the pulls stay visible.
///
/// ```
/// use cutline::{Arms, Confidence, IntervalKind, Question, Spec};
/// use cutline_figure::VerdictFigure;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (arms, question) = (Arms::without_features(2)?, Question::new(0.5, 0.05)?);
/// let mut learner = Spec::named("apt")?.learner(&arms, question, 100, 0)?;
/// for _ in 0..16 {
///     learner.tell(0, 1.5)?;
/// }
/// let (kind, delta) = (IntervalKind::Fixed, 0.05);
/// let verdicts: Vec<_> = learner.beliefs().verdicts(&Confidence::new(kind, delta, 1.0)?).collect();
/// let names = ["brief", "polite"].map(String::from);
/// let svg = VerdictFigure::new("Prompts", &names, &verdicts, question, (kind, delta)).to_svg();
/// assert!(svg.contains("above: 1") && svg.contains("undecided: 1") && svg.contains("95 % intervals"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerdictFigure {
    /// The title above the figure.
    pub title: String,
    /// The threshold τ; not drawn if it is not finite.
    pub threshold: f64,
    /// The precision ε; there is no band if it is not positive.
    pub precision: f64,
    /// The verdicts, in any order.
    pub arms: Vec<ArmVerdict>,
    /// Small print under the figure.
    pub note: Option<String>,
}

/// With more arms than this, arms have no rows of their own: the page would be too long.
const MAX_ROWS: usize = 40;

/// With more arms than this, arms have no marks of their own: they would be less than one unit apart.
const MAX_RANKS: usize = 300;

impl VerdictFigure {
    /// The figure of a campaign: one name and one verdict per arm, with a note on the intervals (their kind and δ).
    #[must_use]
    pub fn new(
        title: &str,
        names: &[String],
        verdicts: &[Verdict],
        question: Question,
        intervals: (IntervalKind, f64),
    ) -> Self {
        Self {
            title: title.into(),
            threshold: question.threshold(),
            precision: question.precision(),
            arms: names.iter().zip(verdicts).map(|(name, verdict)| ArmVerdict::new(name, verdict)).collect(),
            note: Some(interval_note(intervals.0, intervals.1)),
        }
    }

    /// The figure as an SVG document, 440 units wide. An arrow at the frame marks an interval that extends beyond it.
    ///
    /// ```
    /// # use cutline_figure::VerdictFigure;
    /// assert!(VerdictFigure { title: "A & B".into(), ..VerdictFigure::default() }.to_svg().contains("A &amp; B"));
    /// ```
    #[must_use]
    pub fn to_svg(&self) -> String {
        let ranked = RankedArms::new(self);
        let mut page = NarrowPage::new(&self.title);
        let n_drawn = ranked.arms.len();
        let bottom = match n_drawn {
            0..=MAX_ROWS => rows::draw(&mut page, &ranked),
            n if n <= MAX_RANKS => ranks::draw(&mut page, &ranked),
            _ => columns::draw(&mut page, &ranked),
        };
        let is_columns = n_drawn > MAX_RANKS;
        // The intervals of a column belong to no side, so the markers of the sides are drawn without a line.
        let mut keys = self.side_keys((!is_columns).then_some("none"));
        keys.extend(ranked.threshold.map(ThresholdLine::keys).into_iter().flatten());
        keys.extend(ranked.has_open_end().then(open_end_key));
        let columns = is_columns.then(|| columns::meaning(n_drawn));
        let notes: Vec<String> = columns.into_iter().chain(ranked.left_out_note()).chain(self.note.clone()).collect();
        page.finish(bottom, &keys, &notes)
    }

    /// One key per side that has an arm.
    fn side_keys(&self, line: Option<&'static str>) -> Vec<Key> {
        let n_arms = |side| count(self.arms.iter().filter(|arm| arm.side == side).count());
        let used = SIDES.map(|side| (side, n_arms(side))).into_iter().filter(|(_, n_arms)| *n_arms > 0.0);
        used.map(|(side, n_arms)| side.key(n_arms, line)).collect()
    }
}

/// A sentence that says what the intervals of a campaign cover, by their kind and δ.
///
/// ```
/// use cutline::IntervalKind;
/// use cutline_figure::interval_note;
///
/// assert!(interval_note(IntervalKind::Fixed, 0.001).starts_with("99.9 % intervals"));
/// ```
#[must_use]
pub fn interval_note(kind: IntervalKind, delta: f64) -> String {
    let percent = percent(delta);
    match kind {
        IntervalKind::Anytime => format!("{percent} % intervals, for all arms and at all times together."),
        _ => format!("{percent} % intervals, each for one arm at one time."),
    }
}

/// A sentence about intervals that come from a Bayesian model, such as the mixed model.
#[must_use]
pub fn model_interval_note(delta: f64) -> String {
    format!("{} % intervals: by the model, each holds its mean with this probability.", percent(delta))
}

/// 100 (1 − δ) without digits that come from rounding.
fn percent(delta: f64) -> f64 {
    ((1.0 - delta) * 1e10).round() / 1e8
}
