//! What a campaign says of every arm: means and intervals against the threshold, and the pulls they cost.

mod columns;
mod lanes;
mod ranked;
mod ranks;
mod rows;
mod stack;
mod threshold;

use crate::key::Key;
use crate::layout::count;
use crate::sheet::Sheet;
use crate::side::Side;
use crate::verdict::ranked::Ranked;
use crate::verdict::threshold::Threshold;

/// What is said of one arm.
///
/// An end of the interval that is NaN counts as infinite: nothing is known there. An arm whose mean is not finite is counted
/// and not drawn. Numbers above 10¹⁵⁰ in size are no measurements, and count as infinite.
///
/// ```
/// use cutline_figure::{ArmVerdict, Side};
///
/// let unknown = ArmVerdict { name: "b7".into(), lower: f64::NEG_INFINITY, upper: f64::INFINITY, ..ArmVerdict::default() };
/// assert_eq!((unknown.side, unknown.pulls), (Side::Undecided, 0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArmVerdict {
    /// The arm's name.
    pub name: String,
    /// The estimate of its mean.
    pub mean: f64,
    /// The lower end of the interval; −∞ where nothing is known.
    pub lower: f64,
    /// The upper end of the interval; ∞ where nothing is known.
    pub upper: f64,
    /// The side.
    pub side: Side,
    /// How often it was measured.
    pub pulls: u64,
}

/// Every arm's mean and interval against the threshold τ and the band τ ± ε, highest mean first, and its pulls beside.
///
/// Up to 40 arms are rows with names. More are points by rank, with their pulls in a second panel below; more than 300 are
/// drawn in columns of neighbouring ranks, so that a million arms make a small file too.
///
/// ```
/// use cutline_figure::{ArmVerdict, Side, VerdictFigure};
///
/// let arm = |name: &str, mean, half, side, pulls| {
///     ArmVerdict { name: name.into(), mean, lower: mean - half, upper: mean + half, side, pulls }
/// };
/// let figure = VerdictFigure {
///     title: "Prompts".into(),
///     threshold: 0.5,
///     precision: 0.05,
///     arms: vec![arm("brief", 0.8, 0.1, Side::Above, 12), arm("polite", 0.52, 0.09, Side::Undecided, 30)],
///     note: Some("95 % intervals.".into()),
/// };
/// let svg = figure.to_svg();
/// assert!(svg.contains(">polite<") && svg.contains("undecided: 1"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerdictFigure {
    /// Stands above the figure.
    pub title: String,
    /// The threshold τ; none is drawn if it is not finite.
    pub threshold: f64,
    /// The precision ε; without a band if it is not positive.
    pub precision: f64,
    /// In any order.
    pub arms: Vec<ArmVerdict>,
    /// Small print under the figure.
    pub note: Option<String>,
}

/// More arms than this have no row each: a page would not hold them.
const MOST_ROWS: usize = 40;

/// More arms than this have no mark each: they would be closer than a unit.
const MOST_RANKS: usize = 300;

impl VerdictFigure {
    /// The figure as an SVG document, 440 units wide. An arrow at the frame says that an interval goes on beyond it.
    ///
    /// ```
    /// # use cutline_figure::VerdictFigure;
    /// assert!(VerdictFigure { title: "A & B".into(), ..VerdictFigure::default() }.to_svg().contains("A &amp; B"));
    /// ```
    #[must_use]
    pub fn to_svg(&self) -> String {
        let ranked = Ranked::new(self);
        let mut sheet = Sheet::new(&self.title);
        let n_drawn = ranked.arms.len();
        let bottom = match n_drawn {
            0..=MOST_ROWS => rows::draw(&mut sheet, &ranked),
            n if n <= MOST_RANKS => ranks::draw(&mut sheet, &ranked),
            _ => columns::draw(&mut sheet, &ranked),
        };
        let is_columns = n_drawn > MOST_RANKS;
        // The intervals of a column have no side, so a marker of a side stands on none.
        let mut keys = self.side_keys((!is_columns).then_some("none"));
        keys.extend(ranked.threshold.map(Threshold::keys).into_iter().flatten());
        keys.extend(ranked.has_open_end().then(threshold::open_key));
        let columns = is_columns.then(|| columns::meaning(n_drawn));
        let notes: Vec<String> = columns.into_iter().chain(ranked.left_out()).chain(self.note.clone()).collect();
        sheet.finish(bottom, &keys, &notes)
    }

    /// One for each side that an arm has.
    fn side_keys(&self, line: Option<&'static str>) -> Vec<Key> {
        let number = |side| count(self.arms.iter().filter(|arm| arm.side == side).count());
        let used = Side::ALL.map(|side| (side, number(side))).into_iter().filter(|(_, n_arms)| *n_arms > 0.0);
        used.map(|(side, n_arms)| side.key(n_arms, line)).collect()
    }
}
