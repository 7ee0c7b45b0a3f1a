//! Where an arm lies, and how that looks: by shape and by colour, so that either alone says it.

use crate::curves::stroke;
use crate::key::{Key, SAMPLE};
use crate::label::grouped;
use crate::marker::Marker;
use crate::svg::{Svg, number, path};

/// Where an arm lies.
///
/// ```
/// use cutline_figure::Side;
///
/// assert_eq!(Side::ALL.map(Side::name), ["above", "undecided", "below"]);
/// assert_eq!(Side::default(), Side::Undecided);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// At or above the threshold.
    Above,
    /// Below the threshold.
    Below,
    /// Its interval does not say.
    #[default]
    Undecided,
}

impl Side {
    /// All of them, from the top of a figure down.
    pub const ALL: [Self; 3] = [Self::Above, Self::Undecided, Self::Below];

    /// What it is called everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Above => "above",
            Self::Below => "below",
            Self::Undecided => "undecided",
        }
    }

    /// Blue, grey and vermilion differ for readers of any colour sight.
    pub(crate) fn colour(self) -> &'static str {
        match self {
            Self::Above => "#0072b2",
            Self::Below => "#6b6b6b",
            Self::Undecided => "#d55e00",
        }
    }

    pub(crate) fn dash(self) -> &'static str {
        match self {
            Self::Above => "none",
            Self::Below => "6 2",
            Self::Undecided => "2 2",
        }
    }

    pub(crate) fn marker(self) -> Marker {
        match self {
            Self::Above => Marker::Up,
            Self::Below => Marker::Down,
            Self::Undecided => Marker::Circle,
        }
    }

    /// Its marker: filled when it is decided, a ring when it is not.
    pub(crate) fn draw(self, svg: &mut Svg, at: (f64, f64), radius: f64) {
        self.draw_outlines(svg, &self.marker().outline(at, radius), 0.5);
    }

    /// Many markers at once, as the path data of their outlines; filled ones have a white edge of this width.
    pub(crate) fn draw_outlines(self, svg: &mut Svg, d: &str, edge: f64) {
        let (fill, stroke, width) = match self {
            Self::Undecided => ("#ffffff", self.colour(), 1.4),
            Self::Above | Self::Below => (self.colour(), "#ffffff", edge),
        };
        svg.element("path", &[("d", d), ("fill", fill), ("stroke", stroke), ("stroke-width", &number(width))]);
    }

    /// What its marker means and how many arms there are; on a line with a dash, if it stands on one.
    pub(crate) fn key(self, n_arms: f64, line: Option<&'static str>) -> Key {
        Key::new(format!("{}: {}", self.name(), grouped(n_arms)), move |svg, (x, y)| {
            if let Some(dash) = line {
                stroke(svg, &path([(x - SAMPLE / 2.0, y), (x + SAMPLE / 2.0, y)]), self.colour(), dash);
            }
            self.draw(svg, (x, y), 3.8);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_differ_in_colour_in_marker_and_in_dash() {
        for (index, side) in Side::ALL.iter().enumerate() {
            for other in &Side::ALL[..index] {
                assert!(side.colour() != other.colour() && side.marker() != other.marker());
                assert_ne!(side.dash(), other.dash());
            }
        }
    }
}
