//! What a reader of a campaign's verdicts relies on, checked on the finished drawing.

mod common;

use common::{Dice, centre, check_page, groups, parsed, paths, places, texts};
use cutline_figure::{ArmVerdict, Side, VerdictFigure, png};

const TAU: f64 = 0.5;
const EPSILON: f64 = 0.1;

fn arm(name: &str, mean: f64, half: f64, side: Side) -> ArmVerdict {
    ArmVerdict { name: name.into(), mean, lower: mean - half, upper: mean + half, side, pulls: 7 }
}

fn figure(arms: Vec<ArmVerdict>) -> VerdictFigure {
    VerdictFigure { title: "Title".into(), threshold: TAU, precision: EPSILON, arms, note: Some("Note".into()) }
}

/// Arms with all different means from 0 to 1; every tenth is undecided.
fn many(n: usize) -> Vec<ArmVerdict> {
    let make = |k: usize| {
        // Steps that share no divisor with n visit every place, out of order.
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

fn three() -> Vec<ArmVerdict> {
    vec![arm("low", 0.1, 0.2, Side::Below), arm("high", 0.9, 0.2, Side::Above), arm("open", 0.6, 0.25, Side::Undecided)]
}

/// Coordinates are drawn to a hundredth.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.03
}

#[test]
fn rows_stand_in_order_of_their_means_at_their_places() {
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
fn sides_differ_by_shape_and_undecided_rows_have_a_ground() {
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
    let (ground, ring) = (places(tints[0]), &undecided.0);
    assert!(ground[0].1 < ring[0].1 && ring[0].1 < ground[2].1);
}

#[test]
fn bars_of_pulls_start_at_zero_and_say_their_number() {
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
fn an_end_that_is_not_known_is_an_arrow_at_the_frame() {
    let unknown = ArmVerdict { lower: f64::NEG_INFINITY, upper: f64::NAN, ..three()[2].clone() };
    for n in [1, 150, 2000] {
        let mut arms = many(n);
        assert!(!figure(arms.clone()).to_svg().contains("beyond the frame"), "{n}");
        arms[n / 2] = unknown.clone();
        let svg = figure(arms).to_svg();
        check_page(&svg);
        let document = parsed(&svg);
        let heads: Vec<&str> = groups(&document, "open").iter().flat_map(paths).collect();
        assert_eq!(heads.iter().map(|d| d.matches('M').count()).sum::<usize>(), 2, "{n}");
        assert!(svg.contains("interval goes on beyond the frame"));
    }
}

#[test]
fn without_precision_there_is_no_band_and_without_threshold_no_line() {
    for n in [3, 150, 2000] {
        let lines = |threshold, precision| {
            let svg = VerdictFigure { threshold, precision, ..figure(many(n)) }.to_svg();
            check_page(&svg);
            let n_lines = groups(&parsed(&svg), "threshold").iter().map(|g| paths(g).len()).sum::<usize>();
            (n_lines, svg.contains("threshold τ"), svg.contains('ε'))
        };
        assert_eq!(lines(0.5, 0.1), (2, true, true));
        for precision in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(lines(0.5, precision), (1, true, false));
        }
        for threshold in [f64::NAN, f64::INFINITY, f64::MAX] {
            assert_eq!(lines(threshold, 0.1), (0, false, false));
        }
    }
}

#[test]
fn names_are_shown_as_they_are_and_long_ones_are_cut() {
    let long = "very long ".repeat(30);
    let names = ["<a & \"b\" 'c'>", "שלום", "🙂 🚀", "\u{202e}back", "\u{0}\n", "", &long];
    let arms = names.map(|name| arm(name, 0.5, 0.1, Side::Below)).to_vec();
    let svg = figure(arms).to_svg();
    check_page(&svg);
    let document = parsed(&svg);
    let shown = texts(&document);
    for name in &names[..4] {
        assert!(shown.iter().any(|t| t == name), "{name}");
    }
    assert!(shown.iter().any(|t| t.starts_with("very long") && t.ends_with('…')));
    let tooltip = groups(&document, "below").last().and_then(|g| g.descendants().find(|n| n.has_tag_name("title")));
    let tooltip = tooltip.and_then(|n| n.text()).expect("a tooltip");
    assert!(tooltip.starts_with(&long[..200]) && tooltip.ends_with(": below, mean 0.5, from 0.4 to 0.6, pulls 7"));
    assert!(figure(vec![arm(&"x".repeat(1_000_000), 0.5, 0.1, Side::Below)]).to_svg().len() < 10_000);
}

#[test]
fn forty_arms_have_names_and_one_more_has_not() {
    let has_names = |n| figure(many(n)).to_svg().contains(">arm 3<");
    assert!(has_names(40) && !has_names(41));
    let is_columns = |n| figure(many(n)).to_svg().contains("A column is");
    assert!(!is_columns(300) && is_columns(301));
}

#[test]
fn by_rank_every_arm_has_its_interval_its_marker_its_lane_and_its_bar() {
    let svg = figure(many(150)).to_svg();
    check_page(&svg);
    let document = parsed(&svg);
    let starts = |d: &str| d.matches('M').count();
    let mut n_arms = 0;
    let lanes = groups(&document, "lane");
    for (lane, side) in lanes.iter().zip(Side::ALL) {
        let parts = paths(&groups(&document, side.name())[0]);
        // An arc is not a new start, so a ring counts once as well.
        assert_eq!(starts(parts[0]), starts(parts[1]), "{}", side.name());
        let marks = paths(lane).last().map(|d| places(d)).expect("marks");
        assert_eq!(marks.len(), 4 * starts(parts[0]));
        for (interval, mark) in places(parts[0]).chunks(2).zip(marks.chunks(4)) {
            assert!(mark[0].0 < interval[0].0 && interval[0].0 < mark[1].0, "a mark stands under its interval");
        }
        n_arms += starts(parts[0]);
    }
    assert_eq!(n_arms, 150);
    let bars = paths(&groups(&document, "pulls")[0]);
    assert_eq!(bars.iter().map(|d| starts(d)).sum::<usize>(), 150);
    // The means fall from left to right, through the threshold in the middle.
    let line = places(paths(&groups(&document, "threshold")[0])[1]);
    let above = places(paths(&groups(&document, "above")[0])[0]);
    let below = places(paths(&groups(&document, "below")[0])[0]);
    assert!(above.chunks(2).all(|ends| f64::midpoint(ends[0].1, ends[1].1) <= line[0].1 + 0.01));
    assert!(below.chunks(2).all(|ends| f64::midpoint(ends[0].1, ends[1].1) > line[0].1));
    assert!(above.iter().all(|a| below.iter().all(|b| a.0 < b.0)));
}

#[test]
fn one_undecided_arm_among_many_has_its_mark() {
    let n = 9000;
    let mut arms = many(n);
    for arm in &mut arms {
        arm.side = if arm.mean >= TAU { Side::Above } else { Side::Below };
    }
    let position = arms.iter().position(|arm| arm.mean == 0.75).expect("a mean");
    arms[position].side = Side::Undecided;
    let svg = figure(arms).to_svg();
    check_page(&svg);
    let document = parsed(&svg);
    let lanes = groups(&document, "lane");
    let marks: Vec<Vec<(f64, f64)>> = lanes.iter().map(|lane| places(paths(lane).last().expect("marks"))).collect();
    assert_eq!([marks[0].len(), marks[1].len(), marks[2].len()], [4 * 90, 4, 4 * 90]);
    let ends = (marks[0][0].0, marks[2].last().expect("a mark").0);
    let mark = &marks[1];
    // Its rank is 2,250 of 9,000: the end of the first quarter.
    let quarter = ends.0 + (mark[1].0 - mark[0].0) * 45.0;
    assert!(
        mark[0].0 < quarter + 0.1 && quarter < mark[1].0 + 0.1 && mark[2].1 - mark[0].1 >= 2.0,
        "{mark:?} {ends:?}"
    );
    assert!(texts(&document).iter().any(|t| t == "undecided: 1"));
    assert!(svg.contains("A column is 50 arms"));
}

#[test]
fn columns_show_the_median_interval_and_the_range_of_most() {
    // All means alike; of ten neighbours one has a far wider interval, and three a wider one.
    let half = |k: usize| [0.3, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1][k % 10];
    let arms: Vec<ArmVerdict> = (0..1800).map(|k| arm("", 0.5, half(k), Side::Above)).collect();
    let svg = figure(arms).to_svg();
    let document = parsed(&svg);
    let bars = paths(&groups(&document, "intervals")[0]);
    let height = |d: &str| places(d)[2].1 - places(d)[0].1;
    let threshold = paths(&groups(&document, "threshold")[0]);
    let unit = height(threshold[0]) / 0.2;
    assert!(near(height(bars[0]) / unit, 0.4) && near(height(bars[1]) / unit, 0.2));
    assert_eq!(places(bars[0]).len(), 4 * 180);
    let means = places(paths(&groups(&document, "means")[0])[0]);
    let line = places(threshold[1])[0].1;
    assert!(means.len() == 180 && means.iter().all(|p| p.1 == line));
}

#[test]
fn a_file_stays_small_whatever_the_number_of_arms() {
    let mut dice = Dice(3);
    for (n, unknown) in [(300, false), (300, true), (301, true), (3000, false), (100_000, false), (100_000, true)] {
        let mut random = |k: usize| {
            let (mean, half) = (dice.share() * 10.0 - 5.0, if unknown { f64::INFINITY } else { dice.share() });
            let side = Side::ALL[usize::try_from(dice.below(3)).expect("small")];
            ArmVerdict { pulls: dice.below(1000), ..arm(&format!("a long name of arm {k}"), mean, half, side) }
        };
        let svg = figure((0..n).map(&mut random).collect()).to_svg();
        assert!(svg.len() < 100_000, "{n} arms, {} bytes", svg.len());
        if unknown && n > 300 {
            let document = parsed(&svg);
            let heads = paths(&groups(&document, "open")[0]).len();
            assert!((60..100).contains(&heads), "arrows along both edges that do not touch: {heads}");
        }
        check_page(&svg);
    }
}

#[test]
fn the_same_arms_in_any_order_give_the_same_bytes() {
    for n in [20, 150, 2000] {
        let arms = many(n);
        let turned = arms.iter().rev().cloned().collect();
        assert_eq!(figure(arms).to_svg(), figure(turned).to_svg());
    }
}

#[test]
fn arms_without_a_mean_are_counted_and_said_to_be_left_out() {
    let mut arms = three();
    arms[2].mean = f64::NAN;
    let svg = figure(arms.clone()).to_svg();
    assert!(svg.contains("undecided: 1") && svg.contains("1 arm has no finite mean"));
    arms[1].mean = f64::INFINITY;
    assert!(figure(arms).to_svg().contains("2 arms have no finite mean"));
    assert!(!figure(three()).to_svg().contains("finite mean"));
    assert!(figure(Vec::new()).to_svg().contains("no data"));
}

#[test]
fn text_can_be_read_on_a_phone() {
    for n in [3, 150, 2000] {
        let svg = figure(many(n)).to_svg();
        let document = parsed(&svg);
        let width: f64 = document.root_element().attribute("width").and_then(|w| w.parse().ok()).expect("a width");
        let sizes = document.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.attribute("font-size"));
        let smallest = sizes.map(|size| size.parse::<f64>().expect("a size")).fold(f64::INFINITY, f64::min);
        assert!(smallest * 360.0 / width >= 9.0, "{smallest} units of {width}");
    }
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
            side: Side::ALL[k % 3],
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
