//! Marker shapes as path data, of about equal area so that none outweighs another.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::svg::{Svg, number, path};

/// The shape that stands for an algorithm.
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
    /// All shapes, in the order in which unknown labels take them.
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

    /// A marker in full colour with a thin white edge that parts it from its neighbours.
    pub(crate) fn draw_filled(self, svg: &mut Svg, at: (f64, f64), radius: f64, colour: &str) {
        let d = self.outline(at, radius);
        svg.element("path", &[("d", &d), ("fill", colour), ("stroke", "#ffffff"), ("stroke-width", "0.6")]);
    }

    /// Only the outline, so that what is published does not hide what is ours.
    pub(crate) fn draw_open(self, svg: &mut Svg, at: (f64, f64), radius: f64, colour: &str) {
        let d = self.outline(at, radius);
        svg.element("path", &[("d", &d), ("fill", "none"), ("stroke", colour), ("stroke-width", "1.1")]);
    }

    /// Its path data.
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

/// Corners evenly around the centre, their distances taken in turn.
fn ring(corners: u8, distances: &[f64], start: f64) -> Vec<(f64, f64)> {
    (0..corners)
        .zip(distances.iter().cycle())
        .map(|(k, distance)| {
            let angle = start + TAU * f64::from(k) / f64::from(corners);
            (distance * angle.cos(), distance * angle.sin())
        })
        .collect()
}

/// A plus with arms wide enough to show as an outline, turned by an angle.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_differ() {
        let paths: Vec<String> = Marker::ALL.iter().map(|m| m.outline((50.0, 50.0), 4.0)).collect();
        for (index, path) in paths.iter().enumerate() {
            assert!(!paths[..index].contains(path));
            assert!(path.starts_with('M') && path.ends_with('Z'));
        }
    }
}
