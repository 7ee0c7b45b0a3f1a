//! The verdict figure of a few arms, checked on the finished drawing.

use crate::common::verdicts::{EPSILON, TAU, arm, figure, three};
use crate::common::{Dice, SIDES, centre, check_page, groups, near, parsed, paths, places, texts};
use cutline::Side;
use cutline_figure::{ArmVerdict, VerdictFigure, png};

#[test]
fn rows_are_in_order_of_their_means_and_values_at_their_positions() {
    let svg = figure(three()).to_svg();
    let document = parsed(&svg);
    let shown: Vec<String> =
        texts(&document).into_iter().filter(|t| ["low", "high", "open"].contains(&t.as_str())).collect();
    assert_eq!(shown, ["high", "open", "low"]);

    // A row is an interval with two ends and a marker on it.
    let row = |class: &str| {
        let parts = paths(&groups(&document, class)[0]);
        assert_eq!(parts.len(), 4, "{class}");
        (places(parts[0])[0].0, centre(parts[3]).0, places(parts[0])[1].0)
    };
    let (low, open, high) = (row("below"), row("undecided"), row("above"));
    let unit = (high.1 - low.1) / 0.8;
    let place = |value: f64| low.1 + unit * (value - 0.1);
    assert!(near(low.0, place(-0.1)) && near(low.2, place(0.3)), "{low:?}");
    assert!(near(open.0, place(0.35)) && near(open.1, place(0.6)) && near(open.2, place(0.85)), "{open:?}");
    assert!(near(high.0, place(0.7)) && near(high.2, place(1.1)), "{high:?}");

    let threshold = paths(&groups(&document, "threshold")[0]);
    let (band, line) = (places(threshold[0]), places(threshold[1]));
    assert!(near(line[0].0, place(TAU)) && near(line[1].0, place(TAU)), "{line:?}");
    assert!(near(band[0].0, place(TAU - EPSILON)) && near(band[1].0, place(TAU + EPSILON)), "{band:?}");
    for text in ["Mean and interval", "Pulls", "threshold τ = 0.5", "τ ± ε, ε = 0.1", "above: 1", "undecided: 1"] {
        assert!(texts(&document).iter().any(|t| t == text), "{text}");
    }
}

#[test]
fn sides_differ_by_shape_and_undecided_rows_have_a_background() {
    let svg = figure(three()).to_svg();
    let document = parsed(&svg);
    let marker = |class: &str| {
        let node = groups(&document, class)[0].descendants().rfind(|n| n.has_attribute("d")).expect("a marker");
        (places(node.attribute("d").expect("a path")), node.attribute("fill").expect("a filling"))
    };
    let (above, below, undecided) = (marker("above"), marker("below"), marker("undecided"));
    assert!(above.0.len() == 3 && above.0[0].1 < above.0[1].1, "points up");
    assert!(below.0.len() == 3 && below.0[0].1 > below.0[1].1, "points down");
    assert_eq!(undecided.1, "#ffffff", "a ring");
    let tints = paths(&groups(&document, "tints")[0]);
    assert_eq!(tints.len(), 1);
    let (background, ring) = (places(tints[0]), &undecided.0);
    assert!(background[0].1 < ring[0].1 && ring[0].1 < background[2].1);
}

#[test]
fn bars_of_pulls_start_at_zero_and_are_labelled() {
    let mut arms = three();
    (arms[0].pulls, arms[1].pulls, arms[2].pulls) = (0, 3000, 1500);
    let svg = figure(arms).to_svg();
    let document = parsed(&svg);
    let pulls = groups(&document, "pulls")[0];
    let lengths: Vec<f64> = paths(&pulls).iter().map(|d| places(d)).map(|p| p[1].0 - p[0].0).collect();
    assert!(lengths[0] > 20.0 && near(lengths[1], lengths[0] / 2.0) && lengths[2] == 0.0, "{lengths:?}");
    let numbers: Vec<&str> = pulls.children().filter_map(|n| n.text()).filter(|t| !t.trim().is_empty()).collect();
    assert_eq!(numbers, ["3,000", "1,500", "0"]);
}

#[test]
fn arrows_are_clear_of_the_markers() {
    let arms = (0..60).map(|_| arm("", 0.0, f64::INFINITY, Side::Undecided)).collect();
    let svg = VerdictFigure { precision: 0.0, ..figure(arms) }.to_svg();
    let document = parsed(&svg);
    let head = places(paths(&groups(&document, "open")[0])[0]);
    let marker = paths(&groups(&document, "undecided")[0]).last().map(|d| centre(d)).expect("a marker");
    let (up, down) = (&head[..3], &head[3..6]);
    let line = places(paths(&groups(&document, "threshold")[0])[0])[0].1;
    assert!(up.iter().all(|p| p.1 < line - 10.0), "above the threshold");
    assert!(down.iter().all(|p| p.1 > marker.1 + 10.0), "below the means");
}

#[test]
fn names_are_drawn_unchanged_and_long_ones_are_cut() {
    let long = "very long ".repeat(30);
    let names = ["<a & \"b\" 'c'>", "שלום", "🙂 🚀", "\u{202e}back", "\u{0}\n", "", &long];
    let arms = names.map(|name| arm(name, 0.5, 0.1, Side::Below)).to_vec();
    let svg = figure(arms).to_svg();
    check_page(&svg);
    let document = parsed(&svg);
    let shown = texts(&document);
    for name in &names[..3] {
        assert!(shown.iter().any(|t| t == name), "{name}");
    }
    assert!(shown.iter().any(|t| t == "\\u{202e}back"), "a direction override is shown and has no effect");
    assert!(shown.iter().any(|t| t.starts_with("very long") && t.contains('…')));
    let tooltip = groups(&document, "below").last().and_then(|g| g.descendants().find(|n| n.has_tag_name("title")));
    let tooltip = tooltip.and_then(|n| n.text()).expect("a tooltip");
    assert!(tooltip.starts_with(&long[..200]) && tooltip.ends_with(": below, mean 0.5, from 0.4 to 0.6, pulls 7"));
    assert!(figure(vec![arm(&"x".repeat(1_000_000), 0.5, 0.1, Side::Below)]).to_svg().len() < 10_000);
}

#[test]
fn a_note_counts_the_arms_without_a_mean() {
    let mut arms = three();
    arms[2].mean = f64::NAN;
    let svg = figure(arms.clone()).to_svg();
    assert!(svg.contains("undecided: 1") && svg.contains("1 arm has no finite mean"));
    arms[1].mean = f64::INFINITY;
    assert!(figure(arms).to_svg().contains("2 arms have no finite mean"));
    assert!(!figure(three()).to_svg().contains("finite mean"));
    assert!(figure(Vec::new()).to_svg().contains("no data"));
}

/// Values that a careless caller may hand over.
#[test]
fn odd_figures_stay_on_the_page() {
    let odd = [0.0, -0.0, 1.0, -1.0, 1e-12, 5e-324, 1e15, 1e150, 1e300, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY];
    let mut dice = Dice(1);
    for round in 0..1500 {
        // Now and then all numbers are alike.
        let same = odd[usize::try_from(dice.below(13)).expect("small")];
        let mut value = || match dice.below(if round % 3 == 0 { 2 } else { 4 }) {
            0 => same,
            1 => odd[usize::try_from(dice.below(13)).expect("small")] * [1.0, -1.0][usize::from(round % 2 == 0)],
            _ => dice.share() * 20.0 - 10.0,
        };
        let n = [0, 1, 2, 5, 40, 41, 120, 320][round % 8];
        let mut make = |k: usize| ArmVerdict {
            name: format!("<{k}&\u{1}"),
            mean: value(),
            lower: value(),
            upper: value(),
            side: SIDES[k % 3],
            pulls: [0, 1, 1000, u64::MAX][(k + round) % 4],
        };
        let arms = (0..n).map(&mut make).collect();
        let svg = VerdictFigure { threshold: value(), precision: value(), ..figure(arms) }.to_svg();
        check_page(&svg);
        if round < 24 {
            assert!(png(&svg, 0.5).is_ok());
        }
    }
}

#[test]
fn far_away_values_have_labels_that_fit() {
    for (mean, half) in [(1e9, 1.0), (-1e9, 1e-3), (3e-8, 1e-9), (123_456.0, 0.01), (1e100, 1e99), (1e100, 0.0)] {
        let arms = (0..60).map(|k| arm("", mean + half * f64::from(k), half, Side::Above)).collect();
        let svg = VerdictFigure { threshold: mean, precision: half, ..figure(arms) }.to_svg();
        check_page(&svg);
        assert!(texts(&parsed(&svg)).iter().all(|t| t.chars().count() < 40), "{svg}");
        let area: f64 = places(paths(&groups(&parsed(&svg), "threshold")[0]).last().expect("a line"))[0].0;
        assert!(area < 140.0, "labels take {area} of 440 units");
    }
}
