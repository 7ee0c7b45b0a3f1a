//! The figures of failure probabilities and plans, checked on the finished drawing.

use crate::common::{groups, parsed, places, texts};
use cutline_figure::{BudgetRange, Curve, FailureFigure, PlanCurve, PlanFigure, PlanTarget, Point, png};
use resvg::tiny_skia::Pixmap;
use roxmltree::Node;

fn curve(label: &str, rates: &[(f64, f64)]) -> Curve {
    let point = |&(budget, rate): &(f64, f64)| Point { budget, rate, low: rate * 0.9, high: (rate * 1.1).min(1.0) };
    Curve { label: label.into(), points: rates.iter().map(point).collect(), published: Vec::new() }
}

fn figure(curves: Vec<Curve>) -> FailureFigure {
    FailureFigure { title: "Title".into(), curves, note: Some("Note".into()) }
}

#[test]
fn both_panels_show_every_point_and_every_published_value() {
    let mut curves = vec![curve("apt", &[(1.0, 0.5), (2.0, 0.2)]), curve("pivot", &[(1.0, 0.4), (2.0, 0.1)])];
    curves[0].published = vec![(1.0, 0.5), (2.0, 0.2), (3.0, 0.1)];
    let svg = figure(curves).to_svg();
    let document = parsed(&svg);
    let shapes = |class| {
        groups(&document, class).iter().map(|g| g.children().filter(Node::is_element).count()).collect::<Vec<_>>()
    };
    assert_eq!(shapes("bands"), [2, 2]);
    assert_eq!(shapes("lines"), [2, 2]);
    assert_eq!(shapes("markers"), [4, 4]);
    assert_eq!(shapes("published"), [3, 3]);
    let open = groups(&document, "published")[0].children().find(Node::is_element).expect("a marker");
    assert_eq!(open.attribute("fill"), Some("none"));
    assert_eq!(texts(&document).iter().filter(|t| *t == "Budget T").count(), 2);
    assert_eq!(texts(&document).iter().filter(|t| *t == "Failure probability").count(), 2);
}

#[test]
fn the_legend_explains_only_symbols_that_are_used() {
    let plain = Curve { points: vec![Point { budget: 1.0, rate: 0.5, low: 0.5, high: 0.5 }], ..curve("apt", &[]) };
    let bare = figure(vec![plain]).to_svg();
    assert!(!bare.contains("open markers") && !bare.contains("95 %") && !bare.contains("arrow"));
    let mut rich = curve("apt", &[(1.0, 0.5), (2.0, 0.0)]);
    rich.published = vec![(1.0, 0.5)];
    let rich = figure(vec![rich]).to_svg();
    assert!(rich.contains("open markers: published") && rich.contains("band: 95 % interval") && rich.contains("arrow"));
}

#[test]
fn a_zero_has_an_arrow_on_the_logarithmic_panel_only() {
    let svg = figure(vec![curve("apt", &[(1.0, 0.5), (2.0, 0.0), (3.0, 0.0)])]).to_svg();
    let document = parsed(&svg);
    let arrows = |g: &Node<'_, '_>| g.descendants().filter(|n| n.attribute("class") == Some("zero")).count();
    let counts: Vec<usize> = groups(&document, "markers").iter().map(arrows).collect();
    assert_eq!(counts, [2, 0]);
}

#[test]
fn labels_with_markup_are_drawn_unchanged() {
    let nasty = "<a & \"b\" 'c'>";
    let svg =
        FailureFigure { title: nasty.into(), note: Some(nasty.into()), ..figure(vec![curve(nasty, &[(1.0, 0.5)])]) };
    let svg = svg.to_svg();
    assert_eq!(texts(&parsed(&svg)).iter().filter(|t| *t == nasty).count(), 3);
    let long = "very long ".repeat(100);
    let svg = figure(vec![curve(&long, &[(1.0, 0.5)]), curve("short", &[(1.0, 0.4)])]).to_svg();
    let document = parsed(&svg);
    assert!(texts(&document).iter().any(|t| t.ends_with('…')));
    let tooltip = groups(&document, "entry")[0].descendants().find(|n| n.has_tag_name("title"));
    assert_eq!(tooltip.and_then(|n| n.text()), Some(long.as_str()));
}

#[test]
fn the_legend_is_below_the_axes_however_long_it_is() {
    for curves in [1, 8, 30] {
        let all = (0..curves).map(|k| curve(&format!("rule {k}"), &[(1.0, 0.5), (2.0, 0.3)])).collect();
        let svg = figure(all).to_svg();
        let document = parsed(&svg);
        let y = |n: &Node<'_, '_>| n.attribute("y").and_then(|y| y.parse::<f64>().ok());
        let axis_label =
            document.descendants().find(|n| n.text() == Some("Budget T")).as_ref().and_then(y).expect("a label");
        let entries = groups(&document, "entry");
        assert_eq!(entries.len(), curves);
        for entry in entries {
            let text = entry.children().find(|n| n.has_tag_name("text")).as_ref().and_then(y).expect("a text");
            assert!(text > axis_label + 10.0);
        }
    }
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    let make = || figure(vec![curve("mine", &[(1.0, 0.5)]), curve("pivot", &[(1.0, 0.25)]), curve("other", &[])]);
    let (first, second) = (make().to_svg(), make().to_svg());
    assert_eq!(first, second);
    assert_eq!(png(&first, 1.0), png(&second, 1.0));
}

#[test]
fn the_png_has_the_size_of_the_drawing_and_is_not_blank() {
    let svg = figure(vec![curve("linear-apt", &[(1.0, 0.5), (2.0, 0.25)])]).to_svg();
    let document = parsed(&svg);
    let side = |name| document.root_element().attribute(name).and_then(|v| v.parse::<f64>().ok()).expect("a length");
    let picture = Pixmap::decode_png(&png(&svg, 2.0).expect("a picture")).expect("a PNG");
    assert_eq!(picture.width(), 1520);
    assert!((f64::from(picture.height()) - 2.0 * side("height")).abs() <= 1.0);
    let is_blue = |p: &&resvg::tiny_skia::PremultipliedColorU8| (p.red(), p.green(), p.blue()) == (0x00, 0x72, 0xb2);
    assert!(picture.pixels().iter().filter(is_blue).count() > 500);
}

#[test]
fn corner_cases_are_drawn() {
    let line = |rate| curve("apt", &[(1.0, rate), (2.0, rate)]);
    let wide: Vec<(f64, f64)> = (0..7).map(|e| (10_f64.powi(e), 0.5_f64.powi(e))).collect();
    let cases = [
        vec![],
        vec![curve("empty", &[])],
        vec![line(1.0), line(1.0)],
        vec![line(0.0)],
        vec![line(1e-300)],
        vec![curve("single", &[(100.0, 0.3)])],
        vec![curve("zero budget", &[(0.0, 0.3)])],
        vec![curve("wide", &wide)],
        vec![curve("not finite", &[(f64::NAN, 0.3), (1.0, f64::INFINITY)])],
        (0..30).map(|k| curve(&format!("rule {k}"), &wide)).collect(),
    ];
    for curves in cases {
        let svg = figure(curves).to_svg();
        parsed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("inf "));
        assert!(png(&svg, 0.5).is_ok());
    }
}

/// Values out of any range, from a small generator with a fixed seed.
#[test]
fn random_figures_are_well_formed() {
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let odd = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-12, 5e-324, 1e15, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, 1e-9, 3.0];
    for _ in 0..2000 {
        let mut value = || match next(3) {
            0 => odd[usize::try_from(next(14)).expect("small")],
            1 => f64::from(u32::try_from(next(1000)).expect("small")) / 999.0,
            _ => f64::from(u32::try_from(next(1_000_000)).expect("small")),
        };
        let mut make = |n: usize| {
            let points =
                (0..n).map(|_| Point { budget: value(), rate: value(), low: value(), high: value() }).collect();
            Curve { label: format!("<{n}&\u{1}"), points, published: (0..n).map(|_| (value(), value())).collect() }
        };
        let svg = figure((0..6).map(&mut make).collect()).to_svg();
        parsed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

fn forecast(label: &str, planned: Option<BudgetRange>) -> PlanCurve {
    let counts = [(50.0, 6.5), (100.0, 2.0), (400.0, 0.0)];
    let point = |(budget, rate): (f64, f64)| Point { budget, rate, low: rate * 0.9, high: rate * 1.1 + 0.01 };
    let failures = curve(label, &[(50.0, 0.5), (100.0, 0.2), (400.0, 0.0)]).points;
    PlanCurve { label: label.into(), failures, errors: counts.map(point).to_vec(), planned }
}

fn plan(forecasts: Vec<PlanCurve>) -> PlanFigure {
    PlanFigure { title: "Plan".into(), target: PlanTarget::Failures(0.05), forecasts, note: Some("Note".into()) }
}

#[test]
fn a_plan_shows_rates_counts_the_target_and_the_budget() {
    let found = BudgetRange { budget: 200.0, low: 150.0, high: 300.0 };
    let svg = plan(vec![forecast("pivot", Some(found)), forecast("apt", None)]).to_svg();
    let document = parsed(&svg);
    let shapes = |class| {
        groups(&document, class).iter().map(|g| g.children().filter(Node::is_element).count()).collect::<Vec<_>>()
    };
    assert_eq!(shapes("markers"), [8, 8], "every point in both panels, and an arrow for a zero");
    assert_eq!(shapes("bands"), [2, 2]);
    assert_eq!(shapes("target"), [2, 1], "the target at the left, a line down from the budget in both");
    assert_eq!(shapes("planned"), [5], "a bar with two ends, and a ring on white");
    let all = texts(&document);
    for text in ["Failure probability", "Wrong verdicts per run", "target", "planned budget, 95 % interval", "Note"] {
        assert!(all.iter().any(|t| t == text), "{text}");
    }

    // The target lies where its rate would: below 0.2, at the height of the interval; the budget between 100 and 400.
    let target = groups(&document, "target")[0].children().find(Node::is_element).and_then(|n| n.attribute("d"));
    let bar = groups(&document, "planned")[0].children().find(Node::is_element).and_then(|n| n.attribute("d"));
    let (target, bar) = (places(target.expect("a line")), places(bar.expect("a bar")));
    assert!([target[1].1, bar[0].1, bar[1].1].iter().all(|y| *y == target[0].1), "{target:?} and {bar:?}");
    let line = groups(&document, "lines")[0].children().find(Node::is_element).and_then(|n| n.attribute("d"));
    let line = places(line.expect("a curve"));
    assert!(line[1].1 < target[0].1, "0.2 is above 0.05");
    assert!(line[1].0 < bar[0].0 && bar[0].0 < bar[1].0 && bar[1].0 < line[2].0, "150 to 300 lies between 100 and 400");
}

/// A target of wrong verdicts is drawn in the right panel, at its own height.
#[test]
fn a_target_of_wrong_verdicts_belongs_to_the_right_panel() {
    let found = BudgetRange { budget: 200.0, low: 150.0, high: 300.0 };
    let target = PlanTarget::Errors(1.0);
    let svg = PlanFigure { target, ..plan(vec![forecast("pivot", Some(found))]) }.to_svg();
    let document = parsed(&svg);
    let shapes: Vec<usize> =
        groups(&document, "target").iter().map(|g| g.children().filter(Node::is_element).count()).collect();
    assert_eq!(shapes, [1, 2]);
    let first = |class, panel: usize| {
        let line = groups(&document, class)[panel].children().find(Node::is_element);
        places(line.and_then(|line| line.attribute("d")).expect("a line"))
    };
    assert!(first("lines", 1)[1].1 < first("target", 1)[0].1, "2 is above 1");
}

#[test]
fn a_plan_without_an_answer_explains_no_answer() {
    let svg = plan(vec![forecast("pivot", None)]).to_svg();
    assert!(svg.contains(">target<") && !svg.contains("planned budget"));
    assert!(
        !PlanFigure { target: PlanTarget::Failures(f64::NAN), ..plan(vec![forecast("pivot", None)]) }
            .to_svg()
            .contains(">target<")
    );
}

#[test]
fn unusual_plans_are_drawn() {
    let odd = |budget, low, high| Some(BudgetRange { budget, low, high });
    let cases = [
        vec![],
        vec![PlanCurve::default()],
        vec![forecast("a", odd(f64::NAN, 1.0, 2.0)), forecast("b", odd(1e300, 1.0, f64::INFINITY))],
        vec![forecast("beyond", odd(1e9, 1.0, 1e12))],
        (0..20).map(|k| forecast(&format!("rule {k}"), odd(60.0, 50.0, 400.0))).collect(),
    ];
    for forecasts in cases {
        let numbers = [0.05, 0.0, 1.0, -3.0, f64::NAN, f64::INFINITY, 1e-300, 1e300];
        for target in numbers.into_iter().flat_map(|number| [PlanTarget::Failures(number), PlanTarget::Errors(number)])
        {
            let svg = PlanFigure { target, ..plan(forecasts.clone()) }.to_svg();
            parsed(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("inf "));
            assert_eq!(svg, PlanFigure { target, ..plan(forecasts.clone()) }.to_svg());
            assert!(png(&svg, 0.5).is_ok());
        }
    }
}
