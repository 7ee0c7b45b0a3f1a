//! The verdict figure of few, many and very many arms.

use crate::common::verdicts::{TAU, arm, figure, many, three};
use crate::common::{Dice, SIDES, centre, check_page, groups, near, parsed, paths, places, texts};
use cutline::Side;
use cutline_figure::{ArmVerdict, VerdictFigure};

#[test]
fn an_unknown_end_is_an_arrow_at_the_frame() {
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
        assert!(svg.contains("interval extends beyond the frame"));
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
fn forty_arms_have_names_and_forty_one_do_not() {
    let has_names = |n| figure(many(n)).to_svg().contains(">arm 3<");
    assert!(has_names(40) && !has_names(41));
    let is_columns = |n| figure(many(n)).to_svg().contains("Each column is");
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
    for (lane, side) in lanes.iter().zip(SIDES) {
        let parts = paths(&groups(&document, side.name())[0]);
        // An arc is not a new start, so a ring counts once as well.
        assert_eq!(starts(parts[0]), starts(parts[1]), "{}", side.name());
        let markers = parts[1].split_inclusive('Z').map(centre);
        for (interval, marker) in places(parts[0]).chunks(2).zip(markers) {
            let middle = f64::midpoint(interval[0].1, interval[1].1);
            assert!(near(marker.0, interval[0].0) && near(marker.1, middle), "a marker is at its mean");
        }
        let marks = paths(lane).last().map(|d| places(d)).expect("marks");
        assert_eq!(marks.len(), 4 * starts(parts[0]));
        for (interval, mark) in places(parts[0]).chunks(2).zip(marks.chunks(4)) {
            assert!(mark[0].0 < interval[0].0 && interval[0].0 < mark[1].0, "a mark is below its interval");
        }
        n_arms += starts(parts[0]);
    }
    assert_eq!(n_arms, 150);
    let bars = paths(&groups(&document, "pulls")[0]);
    assert_eq!(starts(bars[0]), 150);
    let heights: Vec<f64> = places(bars[0]).chunks(2).map(|bar| bar[0].1 - bar[1].1).collect();
    let mut arms = many(150);
    arms.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    let unit = heights.iter().copied().fold(0.0, f64::max) / 49.0;
    assert!(heights.iter().zip(&arms).all(|(height, arm)| near(*height, unit * arm.pulls as f64)), "{heights:?}");
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
    assert!(svg.contains("Each column is 50 arms"));
}

#[test]
fn columns_show_the_median_interval_and_the_range_of_most_intervals() {
    // All means alike; of ten neighbours one has a far wider interval, and three a wider one.
    let half = |k: usize| [0.3, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1][k % 10];
    let pulls = |k: usize| [90, 80, 40, 40, 40, 40, 40, 40, 0, 0][k % 10];
    let make = |k| ArmVerdict { pulls: pulls(k), ..arm("", 0.5, half(k), Side::Above) };
    let arms: Vec<ArmVerdict> = (0..1800).map(make).collect();
    let svg = figure(arms).to_svg();
    let document = parsed(&svg);
    let bars = paths(&groups(&document, "intervals")[0]);
    let height = |d: &str| places(d)[2].1 - places(d)[0].1;
    let threshold = paths(&groups(&document, "threshold")[0]);
    let unit = height(threshold[0]) / 0.2;
    assert!(near(height(bars[0]) / unit, 0.4) && near(height(bars[1]) / unit, 0.2));
    assert_eq!(places(bars[0]).len(), 4 * 180);
    let pulls = paths(&groups(&document, "pulls")[0]);
    assert!((4.0 * height(pulls[0]) - 9.0 * height(pulls[1])).abs() < 0.2, "the maximum is 90 pulls, the median 40");
    let means = places(paths(&groups(&document, "means")[0])[0]);
    let line = places(threshold[1])[0].1;
    assert!(means.len() == 180 && means.iter().all(|p| p.1 == line));
}

/// Of 10,000 arms 5 have all the pulls, one of them only 1: each has a bar in its column that a reader can see.
#[test]
fn a_few_arms_with_all_the_pulls_are_visible_among_thousands() {
    let ranks = [0, 2_500, 5_000, 7_777, 9_999];
    let pulls = |rank: usize| ranks.iter().position(|known| *known == rank).map_or(0, |k| [400, 100, 300, 1, 200][k]);
    let make = |rank: usize| {
        let mean = 1.0 - rank as f64 / 1e4;
        ArmVerdict { pulls: pulls(rank), ..arm("", mean, 0.2, Side::Undecided) }
    };
    let svg = figure((0..10_000).map(make).collect()).to_svg();
    check_page(&svg);
    let document = parsed(&svg);
    let maximum = places(paths(&groups(&document, "pulls")[0])[0]);
    let bars: Vec<&[(f64, f64)]> = maximum.chunks(4).collect();
    assert_eq!(bars.len(), 5, "one bar per column with pulls");
    let line = places(paths(&groups(&document, "threshold")[0])[1]);
    let (left, width) = (line[0].0, line[1].0 - line[0].0);
    for (bar, rank) in bars.iter().zip(ranks) {
        let x = left + width * (rank as f64 + 0.5) / 1e4;
        assert!(bar[0].0 <= x + 0.1 && x - 0.1 <= bar[1].0, "the bar of rank {rank} is at {bar:?}, not at {x}");
        assert!(bar[1].0 - bar[0].0 > 1.5, "wide enough to see");
    }
    let heights: Vec<f64> = bars.iter().map(|bar| bar[2].1 - bar[0].1).collect();
    assert!(
        heights[0] > 70.0 && near(heights[0], 4.0 * heights[1]) && near(heights[0], 2.0 * heights[4]),
        "{heights:?}"
    );
    assert!(near(heights[3], 3.0), "a single pull among hundreds is still a mark: {heights:?}");
    assert!(texts(&document).iter().any(|text| text.contains("median (dark) and maximum (pale)")));
}

#[test]
fn a_file_stays_small_whatever_the_number_of_arms() {
    let mut dice = Dice(3);
    for (n, unknown) in [(300, false), (300, true), (301, true), (3000, false), (100_000, false), (100_000, true)] {
        let mut random = |k: usize| {
            let (mean, half) = (dice.share() * 10.0 - 5.0, if unknown { f64::INFINITY } else { dice.share() });
            let side = SIDES[usize::try_from(dice.below(3)).expect("small")];
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
