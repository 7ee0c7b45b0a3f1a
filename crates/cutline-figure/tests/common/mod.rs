//! How the tests read a drawing.
#![allow(dead_code, reason = "each test file uses some of it")]

pub mod verdicts;

use cutline::Side;
use roxmltree::{Document, Node};

/// The sides from the top of a figure down.
pub const SIDES: [Side; 3] = [Side::Above, Side::Undecided, Side::Below];

/// The parsed drawing; panics if it is not well-formed.
pub fn parsed(svg: &str) -> Document<'_> {
    Document::parse(svg).expect("well-formed XML")
}

/// The groups of a class, in the order in which they are drawn.
pub fn groups<'a>(document: &'a Document<'_>, class: &str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|n| n.attribute("class") == Some(class)).collect()
}

/// All texts.
pub fn texts(document: &Document<'_>) -> Vec<String> {
    let nodes = document.descendants().filter(|n| n.has_tag_name("text"));
    nodes.map(|n| n.descendants().filter(Node::is_text).filter_map(|t| t.text()).collect()).collect()
}

/// The path data in a group and the groups in it.
pub fn paths<'a>(group: &Node<'a, 'a>) -> Vec<&'a str> {
    group.descendants().filter_map(|n| n.attribute("d")).collect()
}

/// The corners of path data; for an arc, its end.
pub fn places(d: &str) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    let mut at = (0.0, 0.0);
    let starts: Vec<usize> = d.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()).map(|(i, _)| i).collect();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(d.len());
        let numbers: Vec<f64> = d[start + 1..end].split_whitespace().map(|n| n.parse().expect("a number")).collect();
        at = match (&d[*start..=*start], &numbers[..]) {
            ("M" | "L", [x, y]) | ("A", [_, _, _, _, _, x, y]) => (*x, *y),
            ("H", [x]) => (*x, at.1),
            ("V", [y]) => (at.0, *y),
            ("Z", []) => continue,
            other => panic!("{other:?} in {d}"),
        };
        all.push(at);
    }
    all
}

/// The middle of a marker.
pub fn centre(d: &str) -> (f64, f64) {
    let all = places(d);
    // A circle goes to its right end and back.
    let corners = if d.contains('A') { &all[..2] } else { &all[..] };
    let n = corners.len() as f64;
    (corners.iter().map(|p| p.0).sum::<f64>() / n, corners.iter().map(|p| p.1).sum::<f64>() / n)
}

/// Panics unless the drawing is well-formed and lies on the page entirely.
pub fn check_page(svg: &str) {
    let document = parsed(svg);
    let side = |name| document.root_element().attribute(name).and_then(|v| v.parse::<f64>().ok()).expect("a length");
    let (width, height) = (side("width"), side("height"));
    for node in document.descendants() {
        for (x, y) in node.attribute("d").map(places).unwrap_or_default() {
            assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "({x}, {y}) in {svg}");
        }
        for (name, most) in [("x", width), ("y", height)] {
            let place = node.attribute(name).map(|v| v.parse::<f64>().expect("a number"));
            assert!(place.is_none_or(|place| (0.0..=most).contains(&place)), "{name} {place:?} in {svg}");
        }
    }
}

/// Numbers from a small generator with a fixed seed.
pub struct Dice(pub u64);

impl Dice {
    /// A whole number below the bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// From 0 to 1.
    pub fn share(&mut self) -> f64 {
        self.below(1_000_000) as f64 / 1e6
    }
}

/// Whether two coordinates are equal to drawing precision, a hundredth.
pub fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.03
}
