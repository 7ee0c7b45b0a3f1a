//! The threshold τ, its band τ ± ε, and the arrows of intervals that go on beyond the frame.

use crate::key::{Key, SAMPLE};
use crate::label::short;
use crate::layout::{Area, TEXT_SIZE};
use crate::panel::INK;
use crate::svg::{Anchor, Svg, path, rectangle};
use crate::verdict::ranked::is_value;

const BAND: &str = "#f0c419";
const BAND_OPACITY: f64 = 0.22;

/// The length of an arrow's head.
const HEAD: f64 = 5.0;

/// A threshold that can be drawn; the precision is 0 if there is no band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    pub(crate) threshold: f64,
    pub(crate) precision: f64,
}

impl Threshold {
    pub(crate) fn new(threshold: f64, precision: f64) -> Option<Self> {
        let precision = if precision > 0.0 && is_value(precision) { precision } else { 0.0 };
        is_value(threshold).then_some(Self { threshold: threshold + 0.0, precision })
    }

    /// The ends τ − ε and τ + ε.
    pub(crate) fn band(self) -> [f64; 2] {
        [self.threshold - self.precision, self.threshold + self.precision]
    }

    /// An upright line through the area with the band around it; `x` places a value.
    pub(crate) fn draw_upright(self, svg: &mut Svg, area: Area, x: impl Fn(f64) -> f64) {
        svg.open("threshold");
        if self.precision > 0.0 {
            let [left, right] = self.band().map(&x);
            draw_band(svg, (left, area.top), (right, area.bottom()));
        }
        let x = x(self.threshold);
        draw_line(svg, (x, area.top), (x, area.bottom()));
        svg.text((x, area.top - 12.0), TEXT_SIZE, Anchor::Middle, "τ");
        svg.close();
    }

    /// A level line through the area with the band around it; `y` places a value.
    pub(crate) fn draw_level(self, svg: &mut Svg, area: Area, y: impl Fn(f64) -> f64) {
        svg.open("threshold");
        if self.precision > 0.0 {
            let [bottom, top] = self.band().map(&y);
            draw_band(svg, (area.left, top), (area.right(), bottom));
        }
        let y = y(self.threshold);
        draw_line(svg, (area.left, y), (area.right(), y));
        svg.text((area.right() + 3.0, y), TEXT_SIZE, Anchor::Start, "τ");
        svg.close();
    }

    /// What line and band mean.
    pub(crate) fn keys(self) -> Vec<Key> {
        let half = SAMPLE / 2.0;
        let line = Key::new(format!("threshold τ = {}", short(self.threshold)), move |svg, (x, y)| {
            draw_line(svg, (x - half, y), (x + half, y));
        });
        let band = (self.precision > 0.0).then(|| {
            Key::new(format!("τ ± ε, ε = {}", short(self.precision)), move |svg, (x, y)| {
                draw_band(svg, (x - half, y - 5.0), (x + half, y + 5.0));
            })
        });
        [line].into_iter().chain(band).collect()
    }
}

fn draw_line(svg: &mut Svg, from: (f64, f64), to: (f64, f64)) {
    svg.dashed(from, to, INK, "7 3");
}

fn draw_band(svg: &mut Svg, corner: (f64, f64), other: (f64, f64)) {
    svg.shape(&rectangle(corner, other), BAND, BAND_OPACITY);
}

/// The head of an arrow: its tip, where it points, and half its width.
pub(crate) fn head((x, y): (f64, f64), (dx, dy): (f64, f64), half: f64) -> String {
    let (foot_x, foot_y) = (x - HEAD * dx, y - HEAD * dy);
    path([(x, y), (foot_x + half * dy, foot_y + half * dx), (foot_x - half * dy, foot_y - half * dx)]) + "Z"
}

/// What an arrow means.
pub(crate) fn open_key() -> Key {
    Key::new("interval goes on beyond the frame", |svg, (x, y)| {
        let tip = x + SAMPLE / 2.0;
        svg.line((x - SAMPLE / 2.0, y), (tip - HEAD, y), INK, 1.4);
        svg.shape(&head((tip, y), (1.0, 0.0), 2.8), INK, 1.0);
    })
}
