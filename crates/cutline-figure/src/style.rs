//! How algorithms and sides look: colour, marker and dash, the same in all figures.
//!
//! The colours are Okabe and Ito's, without the yellow that vanishes on white, and two of Paul Tol's. Marker and dash carry
//! the same information, for readers who do not see the colours or print in grey.

use std::f64::consts::{FRAC_PI_2, TAU};

use cutline::Side;

use crate::legend::{KEY_SAMPLE, Key};
use crate::svg::{Svg, number, path};
use crate::text::grouped;

/// How a curve looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    /// The colour of line, band and markers.
    pub(crate) colour: &'static str,
    /// Filled for our rates, open for published ones.
    pub(crate) marker: Marker,
    /// A value of `stroke-dasharray`.
    pub(crate) dash: &'static str,
}

const fn style(colour: &'static str, marker: Marker, dash: &'static str) -> Style {
    Style { colour, marker, dash }
}

/// The algorithms with a fixed style. No other label gets it, even in figures where they do not appear.
const KNOWN: [(&str, Style); 8] = [
    ("random", style("#666666", Marker::Square, "1.5 2")),
    ("apt", style("#e69f00", Marker::Diamond, "6 2")),
    ("linear-apt", style("#0072b2", Marker::Circle, "none")),
    ("ucbe(-1)", style("#56b4e9", Marker::Up, "4 2")),
    ("ucbe(0)", style("#009e73", Marker::Left, "6 2 1.5 2")),
    ("ucbe(4)", style("#cc79a7", Marker::Down, "3 1.5")),
    ("ucbe(as-published)", style("#882255", Marker::Pentagon, "8 2 1.5 2 1.5 2")),
    ("pivot", style("#d55e00", Marker::Star, "none")),
];

const COLOURS: [&str; 8] = ["#332288", "#d55e00", "#009e73", "#cc79a7", "#0072b2", "#882255", "#e69f00", "#56b4e9"];

const DASHES: [&str; 3] = ["none", "5 2", "2 2"];

/// The style of each label: a known label has its fixed style, any other gets the next unused one.
///
/// A label that appears twice has one style. Styles repeat only after all combinations are used up.
pub(crate) fn assign<'a>(labels: impl IntoIterator<Item = &'a str>) -> Vec<Style> {
    let mut spare = spare_styles().cycle();
    let mut assigned: Vec<(&str, Style)> = Vec::new();
    for label in labels {
        let earlier = KNOWN.iter().chain(&assigned).find(|(name, _)| *name == label).map(|(_, style)| *style);
        if let Some(style) = earlier.or_else(|| spare.next()) {
            assigned.push((label, style));
        }
    }
    assigned.into_iter().map(|(_, style)| style).collect()
}

/// All combinations of colour and marker, neighbours differing in both; the dash changes from round to round.
fn spare_styles() -> impl Iterator<Item = Style> + Clone {
    let count = COLOURS.len() * Marker::ALL.len();
    (0..count)
        .map(|k| {
            let round = k / COLOURS.len();
            // Moving on by one marker per round reaches every pair, since the rounds start at different markers.
            let marker = Marker::ALL[(k + round * 3) % Marker::ALL.len()];
            style(COLOURS[k % COLOURS.len()], marker, DASHES[round % DASHES.len()])
        })
        .filter(|spare| !KNOWN.iter().any(|(_, known)| known.colour == spare.colour && known.marker == spare.marker))
}

/// The shape of an algorithm's or a side's marker. All have about the same area, so that none outweighs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Star,
    Plus,
    Pentagon,
    Cross,
    Left,
}

impl Marker {
    /// All shapes, in the order in which other labels get them.
    pub(crate) const ALL: [Self; 10] = [
        Self::Plus,
        Self::Pentagon,
        Self::Cross,
        Self::Left,
        Self::Circle,
        Self::Square,
        Self::Up,
        Self::Diamond,
        Self::Down,
        Self::Star,
    ];

    /// A filled marker with a thin white edge that separates it from its neighbours.
    pub(crate) fn draw_filled(self, svg: &mut Svg, at: (f64, f64), radius: f64, colour: &str) {
        let d = self.outline(at, radius);
        svg.element("path", &[("d", &d), ("fill", colour), ("stroke", "#ffffff"), ("stroke-width", "0.6")]);
    }

    /// Only the outline, so that a published rate does not hide ours.
    pub(crate) fn draw_open(self, svg: &mut Svg, at: (f64, f64), radius: f64, colour: &str) {
        let d = self.outline(at, radius);
        svg.element("path", &[("d", &d), ("fill", "none"), ("stroke", colour), ("stroke-width", "1.1")]);
    }

    /// The path data of the shape.
    pub(crate) fn outline(self, (x, y): (f64, f64), r: f64) -> String {
        let corners = match self {
            Self::Circle => return circle(x, y, r),
            Self::Square => ring(4, &[1.25], FRAC_PI_2 / 2.0),
            Self::Up => ring(3, &[1.4], -FRAC_PI_2),
            Self::Diamond => ring(4, &[1.3], 0.0),
            Self::Down => ring(3, &[1.4], FRAC_PI_2),
            Self::Star => ring(10, &[1.8, 0.8], -FRAC_PI_2),
            Self::Plus => plus(0.0),
            Self::Pentagon => ring(5, &[1.15], -FRAC_PI_2),
            Self::Cross => plus(FRAC_PI_2 / 2.0),
            Self::Left => ring(3, &[1.4], 2.0 * FRAC_PI_2),
        };
        path(corners.into_iter().map(|(dx, dy)| (x + r * dx, y + r * dy))) + "Z"
    }
}

fn circle(x: f64, y: f64, r: f64) -> String {
    let (left, right, y, r) = (number(x - r), number(x + r), number(y), number(r));
    format!("M{left} {y}A{r} {r} 0 1 1 {right} {y}A{r} {r} 0 1 1 {left} {y}Z")
}

/// Corners at even angles around the centre; their distances alternate.
fn ring(corners: u8, distances: &[f64], start: f64) -> Vec<(f64, f64)> {
    (0..corners)
        .zip(distances.iter().cycle())
        .map(|(k, distance)| {
            let angle = start + TAU * f64::from(k) / f64::from(corners);
            (distance * angle.cos(), distance * angle.sin())
        })
        .collect()
}

/// A plus sign, wide enough to show as an outline, rotated by an angle.
fn plus(turn: f64) -> Vec<(f64, f64)> {
    let (far, near) = (1.3, 0.45);
    let arm = [(near, -near), (far, -near), (far, near)];
    (0..4_u8)
        .flat_map(|quarter| arm.map(|corner| (quarter, corner)))
        .map(|(quarter, (x, y))| {
            let (sin, cos) = (turn + FRAC_PI_2 * f64::from(quarter)).sin_cos();
            (x * cos - y * sin, x * sin + y * cos)
        })
        .collect()
}

/// The line of a curve, in a panel or in the legend.
pub(crate) fn stroke(svg: &mut Svg, d: &str, colour: &str, dash: &str) {
    svg.element(
        "path",
        &[("d", d), ("stroke", colour), ("stroke-width", "1.4"), ("stroke-dasharray", dash), ("fill", "none")],
    );
}

/// All sides, from the top of a figure down.
pub(crate) const SIDES: [Side; 3] = [Side::Above, Side::Undecided, Side::Below];

/// How a side of the threshold looks.
pub(crate) trait SideStyle: Copy {
    fn colour(self) -> &'static str;

    fn dash(self) -> &'static str;

    fn marker(self) -> Marker;

    /// One marker: filled for a decided arm, a ring for an undecided one.
    fn draw(self, svg: &mut Svg, at: (f64, f64), radius: f64);

    /// Many markers at once, as the path data of their outlines; filled ones have a white edge of this width.
    fn draw_outlines(self, svg: &mut Svg, d: &str, edge: f64);

    /// The meaning of the marker with the number of arms; drawn on a line if `line` gives its dash.
    fn key(self, n_arms: f64, line: Option<&'static str>) -> Key;
}

impl SideStyle for Side {
    // Blue, grey and vermilion differ for readers of any colour sight.
    fn colour(self) -> &'static str {
        match self {
            Self::Above => "#0072b2",
            Self::Below => "#6b6b6b",
            Self::Undecided => "#d55e00",
        }
    }

    fn dash(self) -> &'static str {
        match self {
            Self::Above => "none",
            Self::Below => "6 2",
            Self::Undecided => "2 2",
        }
    }

    fn marker(self) -> Marker {
        match self {
            Self::Above => Marker::Up,
            Self::Below => Marker::Down,
            Self::Undecided => Marker::Circle,
        }
    }

    fn draw(self, svg: &mut Svg, at: (f64, f64), radius: f64) {
        self.draw_outlines(svg, &self.marker().outline(at, radius), 0.5);
    }

    fn draw_outlines(self, svg: &mut Svg, d: &str, edge: f64) {
        let (fill, stroke, width) = match self {
            Self::Undecided => ("#ffffff", self.colour(), 1.4),
            Self::Above | Self::Below => (self.colour(), "#ffffff", edge),
        };
        svg.element("path", &[("d", d), ("fill", fill), ("stroke", stroke), ("stroke-width", &number(width))]);
    }

    fn key(self, n_arms: f64, line: Option<&'static str>) -> Key {
        Key::new(format!("{}: {}", self.name(), grouped(n_arms)), move |svg, (x, y)| {
            if let Some(dash) = line {
                stroke(svg, &path([(x - KEY_SAMPLE / 2.0, y), (x + KEY_SAMPLE / 2.0, y)]), self.colour(), dash);
            }
            self.draw(svg, (x, y), 3.8);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(styles: &[Style]) -> bool {
        let pair = |s: &Style| (s.colour, s.marker);
        styles.iter().enumerate().all(|(i, s)| styles[..i].iter().all(|t| pair(s) != pair(t)))
    }

    #[test]
    fn known_styles_differ_in_colour_and_in_marker() {
        for (index, (_, style)) in KNOWN.iter().enumerate() {
            for (_, other) in &KNOWN[..index] {
                assert!(style.colour != other.colour && style.marker != other.marker);
            }
        }
    }

    #[test]
    fn a_known_label_has_the_same_style_among_other_labels() {
        let single = assign(["pivot"]);
        let several = assign(["mine", "apt", "other", "pivot"]);
        assert_eq!(single[0], several[3]);
        assert_eq!(single[0], style("#d55e00", Marker::Star, "none"));
    }

    #[test]
    fn sixty_other_labels_are_all_distinct_and_none_gets_a_known_style() {
        let labels: Vec<String> = (0..60).map(|k| format!("rule {k}")).collect();
        let known = KNOWN.iter().map(|(name, _)| *name);
        assert!(distinct(&assign(known.chain(labels.iter().map(String::as_str)))));
    }

    #[test]
    fn a_label_used_twice_has_one_style_and_styles_repeat_when_they_run_out() {
        let styles = assign(["mine", "apt", "mine"]);
        assert_eq!(styles[0], styles[2]);
        let labels: Vec<String> = (0..500).map(|k| k.to_string()).collect();
        assert_eq!(assign(labels.iter().map(String::as_str)).len(), 500);
    }

    #[test]
    fn shapes_differ() {
        let paths: Vec<String> = Marker::ALL.iter().map(|m| m.outline((50.0, 50.0), 4.0)).collect();
        for (index, path) in paths.iter().enumerate() {
            assert!(!paths[..index].contains(path));
            assert!(path.starts_with('M') && path.ends_with('Z'));
        }
    }

    #[test]
    fn sides_differ_in_colour_in_marker_and_in_dash() {
        for (index, side) in SIDES.iter().enumerate() {
            for other in &SIDES[..index] {
                assert!(side.colour() != other.colour() && side.marker() != other.marker());
                assert_ne!(side.dash(), other.dash());
            }
        }
    }
}
