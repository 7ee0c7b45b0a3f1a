//! Stores that earlier versions wrote still open and report the same verdicts.

use cutline::{EstimatorKind, StopCriterion, StopReason};
use cutline_campaign::{
    AnyCampaign, Candidates, Change, Event, Operation, Origin, Preparation, Settings, Submission, TermsError,
    TicketStatus,
};
use cutline_store::{Campaign, NewCampaign, Store, StoreError};
use std::path::Path;
use std::time::Duration;

/// The campaign of a copy of a store that an earlier version of the command line wrote.
fn copied(directory: &Path, file: &str, name: &str) -> Campaign {
    let path = directory.join(file);
    if !path.exists() {
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file), &path).unwrap();
    }
    Store::open(path.to_str().unwrap()).unwrap().campaign(Some(name)).unwrap()
}

fn schema_1(directory: &Path, name: &str) -> Campaign {
    copied(directory, "schema-1.db", name)
}

/// Checks mean, lower, upper and doubt of every arm. The last digits depend on how the engine was compiled. Means, and intervals for a
/// given σ, are those of the version that wrote the store. Doubts allow for ε, and intervals for an estimated σ use Student's t
/// distribution; these numbers agree with `scipy.stats`.
fn assert_verdicts(campaign: &mut Campaign, expected: &[[f64; 4]]) {
    let found: Vec<_> = campaign.verdicts().unwrap().iter().map(|v| [v.mean, v.lower, v.upper, v.doubt]).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!((found - expected).abs() <= 1e-12, "{found} instead of {expected}");
    }
}

#[test]
fn a_campaign_with_features() {
    let directory = tempfile::tempdir().unwrap();
    let mut campaign = schema_1(directory.path(), "screen");
    let settings = campaign.settings();
    assert_eq!((settings.threshold, settings.precision, settings.budget), (0.4, 0.01, 20));
    assert_eq!((settings.algorithm.as_deref(), settings.noise), (Some("pivot"), Some(0.3)));
    assert_eq!((settings.parameters["lambda"], settings.until_sure), (0.5, Some(StopCriterion::Evidence.into())));
    assert_eq!(campaign.columns(), ["mass", "polarity"]);
    assert_eq!(campaign.arm_names(), ["water", "ethanol", "acetone", "hexane", "toluene", "ether, ü"]);
    assert_eq!(campaign.candidates().unwrap().row(5), [74.12, 0.117]);
    let expected = [
        [0.7437744482914002, 0.20920377804531287, 1.2783451185374874, 0.09730046276681402],
        [0.5887651408058985, 0.2510363733385706, 0.9264939082732264, 0.1243511609023532],
        [0.4462241254548046, 0.16871341752685826, 0.7237348333827509, 0.3456498375462773],
        [0.29124640640554805, 0.02085787957375035, 0.5616349332373458, 0.1946717366608478],
        [0.34087308123539356, 0.09092546860280495, 0.5908206938679822, 0.29388904374840874],
        [0.3373122598204405, 0.049152060527483166, 0.6254724591133978, 0.3105131430201574],
    ];
    assert_verdicts(&mut campaign, &expected);
    let progress = campaign.progress().unwrap();
    assert_eq!((progress.counted, progress.uncounted, progress.open, progress.failed), (6, 2, 3, 1));
    let events = campaign.events(0).unwrap();
    assert_eq!(events.len(), 22);
    assert_eq!(events[0].event, Event::Observed { arm: 0, reward: 0.9, is_counted: false });
    assert_eq!(events[8].event, Event::Failed { ticket: 3, reason: "sample lost".into() });
    assert_eq!(events[12].event, Event::Expired { ticket: 6 });
    assert_eq!((events[21].at, &events[21].event), (1_794_872_980_025, &Event::Told { ticket: 5, reward: 0.3 }));
    let state = campaign.state().unwrap();
    assert_eq!((state.ticket(10).unwrap().1, state.ticket(6).unwrap().2), ("bench 2", TicketStatus::Expired));
    assert_eq!(campaign.tell(&[(10, 0.35)]).unwrap(), 1, "and it continues");
}

/// A campaign that was begun when ridge on prepared features was the default goes on with it.
#[test]
fn an_old_default_stays_ridge_on_prepared_features() {
    let directory = tempfile::tempdir().unwrap();
    let mut campaign = schema_1(directory.path(), "screen");
    let settings = campaign.settings();
    assert_eq!((settings.estimator, settings.preparation), (None, Some(Preparation::default())));
    let state = campaign.state().unwrap();
    assert_eq!((state.terms().spec.estimator(), state.arms().dimension()), (EstimatorKind::Ridge, Some(3)));
    // The leases of the open tickets end at a certain date, and the test does not depend on today's.
    for ticket in [4, 10, 11] {
        assert!(campaign.fail(ticket, "closed").unwrap());
    }
    let asked = campaign.ask(8, "w", Duration::from_hours(1)).unwrap();
    let arms: Vec<&str> = asked.iter().map(|ticket| ticket.name.as_str()).collect();
    let as_before = ["acetone", "ether, ü", "toluene", "water", "ether, ü", "toluene", "ether, ü", "toluene"];
    assert_eq!(arms, as_before, "the arms that the earlier version proposed");
}

/// A campaign on the mixed model, begun before settings and candidates could change. It goes on as before, and can change.
#[test]
fn a_campaign_on_the_mixed_model() {
    let directory = tempfile::tempdir().unwrap();
    let mut campaign = copied(directory.path(), "schema-1-mixed.db", "arms");
    let found = campaign.verdicts().unwrap();
    let expected = [(0, -0.5606993561773951, 0.011661735135429039), (4, -0.17522881898797757, 0.00012832015854188014)];
    for (arm, mean, doubt) in expected {
        let verdict = found[arm];
        assert!((verdict.mean - mean).abs() < 1e-9 && (verdict.doubt - doubt).abs() < 1e-9, "{verdict:?}");
    }
    // The lease of the open ticket ends at a certain date, and the test does not depend on today's.
    assert!(campaign.fail(30, "closed").unwrap());
    let asked = campaign.ask(6, "w", Duration::from_hours(1)).unwrap();
    let arms: Vec<usize> = asked.iter().map(|ticket| ticket.arm).collect();
    assert_eq!(arms, [11, 4, 11, 8, 4, 8], "the arms that the model proposes");
    assert!(campaign.change(&Change::new().with("budget", 60)).unwrap());
    assert_eq!(campaign.ask(60, "w", Duration::from_hours(1)).unwrap().len(), 60 - 28 - 6);
}

#[test]
fn a_campaign_without_features() {
    let directory = tempfile::tempdir().unwrap();
    let mut campaign = schema_1(directory.path(), "bare");
    assert_eq!((campaign.settings().algorithm.as_deref(), campaign.settings().noise), (Some("apt"), None));
    let expected = [
        [0.6799999999999999, 0.22304337758488868, 1.136956622415111, 0.1788627130187228],
        [0.15000000000000002, -0.30695662241511124, 0.6069566224151113, 0.05303631942024646],
        [0.52, -0.1262342528356517, 1.1662342528356517, 0.4698382830036723],
    ];
    assert_verdicts(&mut campaign, &expected);
    assert_eq!(campaign.progress().unwrap().counted, 5);
}

/// Earlier versions began campaigns with the guaranteed stop and without a given σ. They open, keep their rewards and never stop early,
/// because nothing is guaranteed for an estimate of σ. New ones are refused.
#[test]
fn a_guaranteed_stop_without_noise_opens_and_never_stops_early() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sure.db");
    let location = path.to_str().unwrap();
    let mut settings = Settings::new(0.5, 40);
    settings.until_sure = Some(StopCriterion::Intervals.into());
    let candidates = || Candidates::new(["a", "b"].map(String::from).to_vec(), Vec::new(), Vec::new()).unwrap();
    let refused = NewCampaign::new("sure", settings.clone(), candidates()).unwrap_err();
    assert!(matches!(refused, StoreError::Terms(TermsError::IntervalsReplaced)), "{refused}");
    let old = NewCampaign::continued("sure", settings, candidates(), Vec::new()).unwrap();
    let mut campaign = Store::create(location).unwrap().begin_new(old).unwrap();
    let measure = |campaign: &mut Campaign| {
        let ticket = campaign.ask(1, "w", Duration::from_mins(1)).unwrap().pop()?;
        campaign.tell(&[(ticket.number, [5.0, -5.0][ticket.arm])]).unwrap();
        Some(())
    };
    (0..30).for_each(|_| measure(&mut campaign).unwrap());
    drop(campaign);
    let mut campaign = Store::open(location).unwrap().campaign(Some("sure")).unwrap();
    assert_eq!((campaign.events(0).unwrap().len(), campaign.stop_reason().unwrap()), (60, None));
    (0..10).for_each(|_| measure(&mut campaign).unwrap());
    assert_eq!(campaign.stop_reason().unwrap(), Some(StopReason::Budget));
    assert!(campaign.verdicts().unwrap().iter().all(cutline::Verdict::is_decided));
}

/// A campaign of schema 2, of before there were costs, with corrected rewards, a withdrawn and an added candidate and changed settings. It
/// opens as it was, and goes on with a budget in measurements.
#[test]
fn a_campaign_without_costs() {
    let directory = tempfile::tempdir().unwrap();
    let mut campaign = copied(directory.path(), "schema-2.db", "screen");
    let settings = campaign.settings();
    assert_eq!((settings.threshold, settings.budget, settings.cost.as_deref()), (0.45, 12, None));
    assert_eq!(campaign.arm_names(), ["water", "ethanol", "acetone", "hexane", "ammonia", "toluene"]);
    assert_eq!(campaign.columns(), ["mass", "polar", "kind=inorganic", "kind=organic"]);
    let candidates = campaign.candidates().unwrap();
    assert_eq!((candidates.row(5), candidates.costs()), (&[92.14, 0.099, 0.0, 1.0][..], None));
    let progress = campaign.progress().unwrap();
    assert_eq!((progress.counted, progress.open, progress.withdrawn, progress.spending), (4, 1, 1, None));
    let found = campaign.verdicts().unwrap();
    for (arm, mean, doubt) in [(4, 0.4566, 0.4764), (0, 0.4563, 0.4825), (3, 0.5577, 0.1981)] {
        let verdict = found[arm];
        assert!((verdict.mean - mean).abs() < 1e-4 && (verdict.doubt - doubt).abs() < 1e-4, "{verdict:?}");
    }
    // The lease of the open ticket ends at a certain date, and the test does not depend on today's.
    assert!(campaign.fail(3, "closed").unwrap());
    let asked = campaign.ask(20, "w", Duration::from_hours(1)).unwrap();
    assert_eq!((asked.len(), asked[0].cost), (8, None));
    assert!(asked.iter().all(|ticket| ticket.name != "hexane"));
}

/// A campaign of schema 3, of before there were tokens, authors and keys of requests, with costs. It opens as it was, its earlier events have no
/// authors, and later ones may have.
#[test]
fn a_campaign_without_authors() {
    let directory = tempfile::tempdir().unwrap();
    let mut campaign = copied(directory.path(), "schema-3.db", "screen");
    let settings = campaign.settings();
    assert_eq!((settings.threshold, settings.budget, settings.cost.as_deref()), (0.45, 40, Some("price")));
    let candidates = campaign.candidates().unwrap();
    assert_eq!(
        (candidates.row(5), candidates.costs().unwrap()),
        (&[17.03, 0.9][..], &[1.0, 2.5, 2.0, 4.25, 3.0, 1.5][..])
    );
    let progress = campaign.progress().unwrap();
    assert_eq!((progress.counted, progress.open, progress.withdrawn, progress.spent().value()), (4, 1, 1, 10.25));
    let found = campaign.verdicts().unwrap();
    for (arm, mean, doubt) in [(1, 0.4547, 0.4864), (3, 0.4829, 0.4056), (5, 0.4435, 0.4835)] {
        let verdict = found[arm];
        assert!((verdict.mean - mean).abs() < 1e-4 && (verdict.doubt - doubt).abs() < 1e-4, "{verdict:?}");
    }
    let n_events = progress.events;
    assert_eq!(campaign.authors(0, n_events).unwrap(), []);
    let origin = Origin { author: Some("ada".into()), key: None };
    let tell = Submission { operation: Operation::Tell(vec![(5, vec![0.6])]), origin };
    assert_eq!(campaign.perform(&[tell]).unwrap().pop().unwrap().unwrap().n_events, 1);
    let authors = campaign.authors(0, n_events + 1).unwrap();
    assert_eq!((authors.len(), authors[0].first, authors[0].author.as_str()), (1, n_events + 1, "ada"));
    let store = Store::open(directory.path().join("schema-3.db").to_str().unwrap()).unwrap();
    assert_eq!(store.tokens().unwrap(), []);
}

/// Schema 4 had tables of webhooks, which are gone.
#[test]
fn webhooks_are_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let mut campaign = copied(directory.path(), "schema-4.db", "screen");
    assert_eq!(campaign.progress().unwrap().counted, 1);
    assert_eq!(campaign.tell(&[(2, 0.3)]).unwrap(), 1, "and it continues");
    let database = rusqlite::Connection::open(directory.path().join("schema-4.db")).unwrap();
    let names = "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'cutline_webhooks%' OR name LIKE 'cutline_deliveries%' \
                 OR name LIKE 'cutline_watches%'";
    let count: i64 = database.query_row(names, [], |row| row.get(0)).unwrap();
    assert_eq!(count, 0);
}
