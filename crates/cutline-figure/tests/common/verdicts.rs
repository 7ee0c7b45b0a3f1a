//! Verdicts to draw.

use cutline::Side;
use cutline_figure::{ArmVerdict, VerdictFigure};

/// The threshold of the figures.
pub const TAU: f64 = 0.5;
/// Their precision.
pub const EPSILON: f64 = 0.1;

/// An arm with an interval of this half-width.
pub fn arm(name: &str, mean: f64, half: f64, side: Side) -> ArmVerdict {
    ArmVerdict { name: name.into(), mean, lower: mean - half, upper: mean + half, side, pulls: 7 }
}

/// A figure of these arms.
pub fn figure(arms: Vec<ArmVerdict>) -> VerdictFigure {
    VerdictFigure { title: "Title".into(), threshold: TAU, precision: EPSILON, arms, note: Some("Note".into()) }
}

/// Arms with all different means from 0 to 1; every tenth is undecided.
pub fn many(n: usize) -> Vec<ArmVerdict> {
    let make = |k: usize| {
        // A step that shares no divisor with n visits every rank, out of order.
        let mean = ((k * 7919) % n) as f64 / n as f64;
        let side = if k.is_multiple_of(10) {
            Side::Undecided
        } else if mean >= TAU {
            Side::Above
        } else {
            Side::Below
        };
        ArmVerdict { pulls: k as u64 % 50, ..arm(&format!("arm {k}"), mean, 0.05, side) }
    };
    (0..n).map(make).collect()
}

/// One arm per side.
pub fn three() -> Vec<ArmVerdict> {
    vec![arm("low", 0.1, 0.2, Side::Below), arm("high", 0.9, 0.2, Side::Above), arm("open", 0.6, 0.25, Side::Undecided)]
}
