//! One look an algorithm in all figures: colour, marker and dash.
//!
//! The colours are Okabe and Ito's, without the yellow that vanishes on white, and two of Paul Tol's; readers who do not
//! see them, or print in grey, have the marker and the dash.

use crate::marker::Marker;

/// How a curve looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    /// Of line, band and markers.
    pub(crate) colour: &'static str,
    /// Ours filled, published ones open.
    pub(crate) marker: Marker,
    /// As in `stroke-dasharray`.
    pub(crate) dash: &'static str,
}

const fn style(colour: &'static str, marker: Marker, dash: &'static str) -> Style {
    Style { colour, marker, dash }
}

/// The algorithms with a look of their own. It stays theirs in figures where they do not appear.
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

/// The style of each label: its own if it is known, otherwise the next that neither is known nor was taken before.
///
/// A label that appears twice has one style. Styles repeat only after all combinations are used up.
pub(crate) fn assign<'a>(labels: impl IntoIterator<Item = &'a str>) -> Vec<Style> {
    let mut spare = spare_styles().cycle();
    let mut given: Vec<(&str, Style)> = Vec::new();
    for label in labels {
        let earlier = KNOWN.iter().chain(&given).find(|(name, _)| *name == label).map(|(_, style)| *style);
        if let Some(style) = earlier.or_else(|| spare.next()) {
            given.push((label, style));
        }
    }
    given.into_iter().map(|(_, style)| style).collect()
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
    fn a_known_label_looks_the_same_in_any_company() {
        let alone = assign(["pivot"]);
        let crowd = assign(["mine", "apt", "other", "pivot"]);
        assert_eq!(alone[0], crowd[3]);
        assert_eq!(alone[0], style("#d55e00", Marker::Star, "none"));
    }

    #[test]
    fn sixty_unknown_labels_are_all_distinct_and_none_poses_as_known() {
        let labels: Vec<String> = (0..60).map(|k| format!("rule {k}")).collect();
        let known = KNOWN.iter().map(|(name, _)| *name);
        assert!(distinct(&assign(known.chain(labels.iter().map(String::as_str)))));
    }

    #[test]
    fn a_label_used_twice_has_one_style_and_too_many_labels_still_have_some() {
        let styles = assign(["mine", "apt", "mine"]);
        assert_eq!(styles[0], styles[2]);
        let labels: Vec<String> = (0..500).map(|k| k.to_string()).collect();
        assert_eq!(assign(labels.iter().map(String::as_str)).len(), 500);
    }
}
