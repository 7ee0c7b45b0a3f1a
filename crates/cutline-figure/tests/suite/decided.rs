//! The figure of a campaign's progress, checked on the finished drawing.

use crate::common::{Dice, SIDES, centre, check_page, groups, parsed, paths, places, texts};
use cutline::Side;
use cutline_figure::{DecidedCount, DecidedFigure, png};

fn figure(points: &[(u64, u64, u64)]) -> DecidedFigure {
    let point = |&(pulls, above, below): &(u64, u64, u64)| DecidedCount { pulls, above, below };
    let points = points.iter().map(point).collect();
    DecidedFigure { title: "Title".into(), n_arms: 10, budget: Some(100), points, note: Some("Note".into()) }
}

const POINTS: [(u64, u64, u64); 4] = [(0, 0, 0), (20, 1, 2), (50, 4, 2), (80, 3, 5)];

#[test]
fn steps_are_at_their_pulls_and_numbers() {
    let svg = figure(&POINTS).to_svg();
    check_page(&svg);
    let document = parsed(&svg);
    let curve = |side: Side| places(paths(&groups(&document, side.name())[0])[0]);
    let (above, below, undecided) = (curve(Side::Above), curve(Side::Below), curve(Side::Undecided));
    let (zero, right) = (above[0], above.last().expect("an end").0);
    let place = |pulls: f64, arms: f64| {
        (zero.0 + (right - zero.0) * pulls / 80.0, zero.1 - (zero.1 - undecided[0].1) * arms / 10.0)
    };
    let meet = |curve: &[(f64, f64)], expected: &[(f64, f64)]| {
        let expected: Vec<(f64, f64)> = expected.iter().map(|(pulls, arms)| place(*pulls, *arms)).collect();
        assert_eq!(curve.len(), expected.len(), "{curve:?}");
        for (a, b) in curve.iter().zip(expected) {
            assert!((a.0 - b.0).abs() < 0.03 && (a.1 - b.1).abs() < 0.03, "{a:?} is not {b:?}");
        }
    };
    let steps = |h: [f64; 4]| {
        [(0.0, h[0]), (20.0, h[0]), (20.0, h[1]), (50.0, h[1]), (50.0, h[2]), (80.0, h[2]), (80.0, h[3]), (80.0, h[3])]
    };
    meet(&above, &steps([0.0, 1.0, 4.0, 3.0]));
    meet(&undecided, &steps([10.0, 7.0, 4.0, 2.0]));
    meet(&below, &[(0.0, 0.0), (20.0, 0.0), (20.0, 2.0), (80.0, 2.0), (80.0, 5.0), (80.0, 5.0)]);
    let budget = places(paths(&groups(&document, "budget")[0])[0]);
    assert!((budget[0].0 - place(100.0, 0.0).0).abs() < 0.03 && budget[0].0 == budget[1].0);
    let marker = centre(paths(&groups(&document, "above")[0])[1]);
    assert!((marker.0 - right).abs() < 0.03);
    for text in ["above: 3", "undecided: 2", "below: 5", "budget T = 100", "Measurements used", "Note"] {
        assert!(texts(&document).iter().any(|t| t == text), "{text}");
    }
}

#[test]
fn more_decided_arms_than_there_are_arms_stay_inside_the_panel() {
    let svg = figure(&[(0, 20, 5), (9, 40, 5)]).to_svg();
    let document = parsed(&svg);
    let above = places(paths(&groups(&document, "above")[0])[0]);
    let undecided = places(paths(&groups(&document, "undecided")[0])[0]);
    let (zero, first, last) = (undecided[0].1, above[0].1, above.last().expect("an end").1);
    assert!((zero - last - 2.0 * (zero - first)).abs() < 0.03, "40 is twice as high as 20");
}

#[test]
fn curves_differ_by_dash_and_marker() {
    let svg = figure(&POINTS).to_svg();
    let document = parsed(&svg);
    let looks = SIDES.map(|side| {
        let group = groups(&document, side.name())[0];
        let dash = group.descendants().find_map(|n| n.attribute("stroke-dasharray")).expect("a dash");
        let marker = places(paths(&group)[1]);
        // Corner by corner from the middle, so that only the shape counts.
        let middle = centre(paths(&group)[1]);
        let shape: Vec<String> =
            marker.iter().map(|p| format!("{:.1} {:.1}", p.0 - middle.0, p.1 - middle.1)).collect();
        (dash.to_owned(), shape)
    });
    for (index, look) in looks.iter().enumerate() {
        assert!(looks[..index].iter().all(|other| other.0 != look.0 && other.1 != look.1));
    }
}

#[test]
fn the_order_of_the_points_does_not_matter() {
    let mut turned = POINTS;
    turned.reverse();
    assert_eq!(figure(&POINTS).to_svg(), figure(&turned).to_svg());
    let twice = [(0, 0, 0), (20, 9, 0), (20, 1, 2), (50, 4, 2), (80, 3, 5)];
    assert!(figure(&twice[..3]).to_svg().contains("above: 1"), "the later point counts");
}

#[test]
fn many_points_make_a_small_file_that_keeps_a_single_spike() {
    let n = 200_000;
    let mut dice = Dice(5);
    let mut points: Vec<DecidedCount> =
        (0..n).map(|k| DecidedCount { pulls: k, above: k / 1000 + dice.below(3), below: k / 800 }).collect();
    points[120_000].above = 900;
    let svg = DecidedFigure { n_arms: 1000, budget: None, points, ..figure(&[]) }.to_svg();
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
    check_page(&svg);
    let document = parsed(&svg);
    let above = places(paths(&groups(&document, "above")[0])[0]);
    let spike = above.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a }).expect("a place");
    let (left, right) = (above[0].0, above.last().expect("an end").0);
    assert!(((spike.0 - left) / (right - left) - 0.6).abs() < 0.01, "the spike is at 120,000 of 200,000");
    let end = above.last().expect("an end").1;
    assert!(spike.1 < end - 100.0);
    assert!(groups(&document, "budget").is_empty() && !svg.contains("budget"));
}

#[test]
fn unusual_campaigns_are_drawn() {
    let cases = [
        figure(&[]),
        figure(&[(0, 0, 0)]),
        figure(&[(5, 11, 12)]),
        figure(&[(u64::MAX, u64::MAX, u64::MAX)]),
        figure(&[(1_000_000_000_000, 3, 3), (7, 0, 0)]),
        DecidedFigure { n_arms: 0, budget: Some(0), ..figure(&[(0, 0, 0)]) },
        DecidedFigure { n_arms: u64::MAX, budget: Some(u64::MAX), ..figure(&POINTS) },
        DecidedFigure { title: "<&\u{0}>".repeat(60), ..figure(&POINTS) },
    ];
    for case in cases {
        let svg = case.to_svg();
        check_page(&svg);
        assert_eq!(svg, case.to_svg());
        assert!(png(&svg, 0.5).is_ok());
    }
    assert!(figure(&[]).to_svg().contains("no data"));
}
