//! The contract of all stores: one suite, run on memory, SQLite and PostgreSQL.

use crate::common;
use crate::common::{Place, candidates, reward, settings};
use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{EstimatorKind, Graph, Kernel, Rng, SpecError, StopCriterion, StopReason, Verdict};
use cutline_campaign::{
    AnyCampaign, CampaignCovariance, CampaignError, CampaignModel, Candidates, Event, Preparation, Record, TermsError,
    Ticket, TicketStatus,
};
use cutline_store::{Campaign, NewCampaign, Store, StoreError};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LEASE: Duration = Duration::from_hours(1);

contract! {
    campaigns_have_distinct_names,
    settings_and_candidates_are_read_back_exactly,
    each_ticket_is_handed_out_and_told_once,
    two_handles_see_each_others_events,
    the_budget_holds_among_threads,
    a_batch_is_told_completely_or_not_at_all,
    expired_tickets_are_handed_out_again,
    failures_and_observations_are_stored,
    bad_settings_begin_no_campaign,
    a_new_campaign_keeps_its_first_rewards,
    a_new_campaign_takes_over_events_of_another,
    the_state_is_a_function_of_the_events,
    a_custom_rule_must_be_given_again,
    a_kernel_and_a_graph_are_stored,
}

fn begin(store: &Store, budget: u32) -> Campaign {
    store.begin("screen", &settings(budget), candidates()).unwrap()
}

/// Asks for one measurement and tells its reward; false if there is none to make.
fn measure(campaign: &mut Campaign) -> bool {
    let tickets = campaign.ask(1, "w", LEASE).unwrap();
    for ticket in &tickets {
        let told = campaign.tell(&[(ticket.number, reward(ticket.number, &ticket.features))]).unwrap();
        assert_eq!(told, 1);
    }
    !tickets.is_empty()
}

fn bits(verdicts: &[Verdict]) -> Vec<[u64; 4]> {
    verdicts.iter().map(|v| [v.mean, v.lower, v.upper, v.doubt].map(f64::to_bits)).collect()
}

fn campaigns_have_distinct_names(store: &Store) {
    let message = |error: StoreError| error.to_string();
    assert!(message(store.campaign(None).unwrap_err()).contains("has no campaign yet"));
    begin(store, 10);
    assert_eq!(
        message(store.begin("screen", &settings(10), candidates()).unwrap_err()),
        "there is already a campaign `screen`"
    );
    assert_eq!(store.campaign(None).unwrap().name(), "screen");
    store.begin("zweite Kampagne 2 ⚗", &settings(20), candidates()).unwrap();
    assert_eq!(
        message(store.campaign(None).unwrap_err()),
        "the store has 2 campaigns: `screen`, `zweite Kampagne 2 ⚗`"
    );
    assert!(
        message(store.campaign(Some("third")).unwrap_err())
            .starts_with("there is no campaign `third`; the store has 2: `screen`")
    );
    assert_eq!(store.campaign(Some("zweite Kampagne 2 ⚗")).unwrap().settings().budget, 20);
    for bad in ["", "a\nb", &"x".repeat(201)] {
        assert!(matches!(store.begin(bad, &settings(10), candidates()), Err(StoreError::BadName(_))));
    }
    let names: Vec<String> = store.campaigns().unwrap().into_iter().map(|campaign| campaign.name).collect();
    assert_eq!(names, ["screen", "zweite Kampagne 2 ⚗"]);
}

fn settings_and_candidates_are_read_back_exactly(store: &Store) {
    // More arms than one row of the database holds, and numbers that are easily rounded.
    let n_arms = 5_000;
    let names: Vec<String> = (0..n_arms).map(|arm| format!("'; -- \"{arm}\" ü")).collect();
    let features: Vec<f64> = (0..2 * n_arms).map(|i| f64::from(i).sin() * 10.0_f64.powi(i % 300 - 150)).collect();
    let expected = Candidates::new(names.clone(), vec!["x".into(), "ÿ \"".into()], features.clone()).unwrap();
    let mut settings = settings(7_000);
    (settings.threshold, settings.noise, settings.delta) = (0.1 + 0.2, Some(1e-3 / 3.0), 0.07);
    settings.parameters.insert("lambda".into(), 0.3);
    settings.model = Some(CampaignModel::Linear);
    settings.seed = u64::MAX;
    store.begin("screen", &settings, expected.clone()).unwrap();
    let mut campaign = store.campaign(None).unwrap();
    settings.resolve(true).unwrap();
    assert_eq!(campaign.settings(), &settings);
    let chosen = (settings.algorithm.as_deref(), settings.estimator.map(EstimatorKind::name), settings.preparation);
    assert_eq!(chosen, (Some("pivot"), Some("ridge"), Some(Preparation::default())), "all explicit");
    assert_eq!((campaign.arm_names(), campaign.columns()), (&names[..], expected.columns()));
    assert_eq!(campaign.candidates().unwrap(), expected);
    for ticket in campaign.ask(40, "w", LEASE).unwrap() {
        assert_eq!(ticket.name, names[ticket.arm]);
        assert_eq!(ticket.features, expected.row(ticket.arm), "to the last bit");
    }
    let bare = Candidates::new(vec!["a".into(), "b".into()], vec![], vec![]).unwrap();
    store.begin("bare", &common::settings(10), bare.clone()).unwrap();
    let mut campaign = store.campaign(Some("bare")).unwrap();
    let chosen = (campaign.settings().algorithm.as_deref(), campaign.settings().estimator.map(EstimatorKind::name));
    assert_eq!(chosen, (Some("apt"), Some("sample-mean")), "there are no features to use");
    assert_eq!(campaign.candidates().unwrap(), bare);
    assert_eq!(campaign.ask(1, "w", LEASE).unwrap()[0].features, [0.0; 0]);
}

fn each_ticket_is_handed_out_and_told_once(store: &Store) {
    let mut campaign = begin(store, 10);
    let tickets = campaign.ask(4, "w", LEASE).unwrap();
    assert_eq!(tickets.iter().map(|ticket| ticket.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(campaign.tell(&[(2, 0.5), (1, -0.0)]).unwrap(), 2);
    assert_eq!(campaign.tell(&[(2, 0.5), (1, -0.0)]).unwrap(), 0, "the same rewards again");
    let mut later = store.campaign(None).unwrap();
    assert_eq!(later.tell(&[(1, 0.0)]).unwrap(), 0, "-0 is 0");
    let other = later.tell(&[(2, 0.25)]).unwrap_err();
    assert_eq!(other.to_string(), "ticket 2 already has the reward 0.5, so 0.25 is refused");
    assert!(matches!(
        campaign.tell(&[(9, 0.0)]),
        Err(StoreError::CampaignError(CampaignError::NoTicket { ticket: 9, last: 4 }))
    ));
    assert!(matches!(
        campaign.tell(&[(3, f64::NAN)]),
        Err(StoreError::CampaignError(CampaignError::NotAReward { .. }))
    ));
    assert_eq!(campaign.ask(100, "w", LEASE).unwrap().len(), 6, "the rest of the budget");
    assert!(campaign.ask(1, "w", LEASE).unwrap().is_empty());
    let rest: Vec<(u64, f64)> = (3..=10).map(|ticket| (ticket, 1.0)).collect();
    assert_eq!(campaign.tell(&rest).unwrap(), 8);
    assert_eq!(campaign.stop_reason().unwrap(), Some(StopReason::Budget));
    let progress = campaign.progress().unwrap();
    assert_eq!((progress.counted, progress.open, progress.events), (10, 0, 20));
}

fn two_handles_see_each_others_events(store: &Store) {
    let mut one = begin(store, 60);
    let mut other = store.campaign(None).unwrap();
    // The same campaign with a single handle; it must not matter which handle asks and which one tells.
    let mut single = begin_another(store, 60);
    for round in 0..20 {
        let (asker, teller) = if round % 2 == 0 { (&mut one, &mut other) } else { (&mut other, &mut one) };
        let tickets = asker.ask(3, "w", LEASE).unwrap();
        let rewards: Vec<_> = tickets.iter().map(|t| (t.number, reward(t.number, &t.features))).collect();
        assert_eq!(teller.tell(&rewards).unwrap(), 3);
        let expected = single.ask(3, "w", LEASE).unwrap();
        let arms = |tickets: &[Ticket]| tickets.iter().map(|t| (t.number, t.arm)).collect::<Vec<_>>();
        assert_eq!(arms(&tickets), arms(&expected), "round {round}");
        assert_eq!(single.tell(&rewards).unwrap(), 3);
    }
    assert_eq!(one.progress().unwrap().counted, 60);
    let expected = bits(&single.verdicts().unwrap());
    assert_eq!(bits(&one.verdicts().unwrap()), expected);
    assert_eq!(bits(&other.verdicts().unwrap()), expected);
}

fn begin_another(store: &Store, budget: u32) -> Campaign {
    store.begin("another", &settings(budget), candidates()).unwrap()
}

fn the_budget_holds_among_threads(store: &Store) {
    begin(store, 90);
    let start = &std::sync::Barrier::new(6);
    let told: usize = std::thread::scope(|scope| {
        let work = move || {
            let mut campaign = store.campaign(Some("screen")).unwrap();
            start.wait();
            std::iter::from_fn(|| measure(&mut campaign).then_some(())).count()
        };
        let workers: Vec<_> = (0..6).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(told, 90, "no reward is lost or counted twice");
    let mut campaign = store.campaign(None).unwrap();
    assert_eq!(campaign.progress().unwrap().counted, 90);
    let numbers: Vec<u64> = campaign.events(0).unwrap().iter().map(|record| record.number).collect();
    assert_eq!(numbers, (1..=180).collect::<Vec<_>>(), "without gaps");
}

fn a_batch_is_told_completely_or_not_at_all(store: &Store) {
    let mut campaign = begin(store, 10);
    campaign.ask(3, "w", LEASE).unwrap();
    assert!(campaign.tell(&[(1, 1.0), (2, 2.0), (7, 1.0)]).is_err());
    assert_eq!(campaign.progress().unwrap().counted, 0);
    assert_eq!(store.campaign(None).unwrap().progress().unwrap().counted, 0);
    assert!(campaign.tell(&[(1, 1.0), (1, 2.0)]).is_err(), "two rewards of one ticket");
    assert!(campaign.observe(&[(0, 1.0), (100, 1.0)], false).is_err());
    assert_eq!(campaign.tell(&[(1, 1.0), (2, 2.0), (3, 1.0)]).unwrap(), 3, "refused calls changed nothing");
    assert_eq!(campaign.verdicts().unwrap().iter().map(|v| v.pulls).sum::<u32>(), 3);
}

fn expired_tickets_are_handed_out_again(store: &Store) {
    let mut campaign = begin(store, 3);
    let first = campaign.ask(2, "slow", Duration::ZERO).unwrap();
    let mut other = store.campaign(None).unwrap();
    let second = other.ask(3, "fast", LEASE).unwrap();
    assert_eq!(second.len(), 3, "the first two tickets expired");
    assert_eq!(campaign.tell(&[(first[0].number, 1.0)]).unwrap(), 1, "late");
    assert!(other.ask(1, "fast", LEASE).unwrap().is_empty(), "the rest of the budget is out twice");
    assert!(other.fail(second[0].number, "spilt").unwrap());
    assert_eq!(campaign.expire(&[first[0].number, second[1].number]).unwrap(), 1, "only one of them is open");
    let mut reopened = store.campaign(None).unwrap();
    let state = reopened.state().unwrap();
    assert_eq!(state.ticket(second[1].number).unwrap().2, TicketStatus::Expired);
    assert_eq!(state.ticket(second[2].number).unwrap().1, "fast");
}

fn failures_and_observations_are_stored(store: &Store) {
    let mut campaign = begin(store, 5);
    campaign.ask(1, "w", LEASE).unwrap();
    assert!(campaign.fail(1, "no signal: `x` < 3\nline 2").unwrap());
    assert!(!campaign.fail(1, "again").unwrap());
    campaign.observe(&[(3, 0.5), (4, 0.25)], false).unwrap();
    campaign.observe(&[(3, 0.75)], true).unwrap();
    let progress = store.campaign(None).unwrap().progress().unwrap();
    assert_eq!((progress.counted, progress.uncounted, progress.failed), (1, 2, 1));
    let events: Vec<Event> = campaign.events(1).unwrap().into_iter().map(|record| record.event).collect();
    assert_eq!(
        events,
        [
            Event::Failed { ticket: 1, reason: "no signal: `x` < 3\nline 2".into() },
            Event::Observed { arm: 3, reward: 0.5, is_counted: false },
            Event::Observed { arm: 4, reward: 0.25, is_counted: false },
            Event::Observed { arm: 3, reward: 0.75, is_counted: true },
        ]
    );
}

fn bad_settings_begin_no_campaign(store: &Store) {
    let refusal = |change: fn(&mut cutline_campaign::Settings)| {
        let mut settings = settings(50);
        change(&mut settings);
        store.begin("screen", &settings, candidates()).unwrap_err()
    };
    let message = |change: fn(&mut cutline_campaign::Settings)| refusal(change).to_string();
    let terms = |change: fn(&mut cutline_campaign::Settings)| match refusal(change) {
        StoreError::Terms(terms) => terms,
        other => panic!("{other}"),
    };
    assert!(message(|s| s.budget = 0).contains("at least 1"));
    assert!(message(|s| s.threshold = f64::NAN).contains("threshold"));
    assert!(message(|s| s.precision = -1.0).contains("precision"));
    assert!(message(|s| s.noise = Some(0.0)).contains("noise"));
    let unknown = terms(|s| s.algorithm = Some("best".into()));
    assert!(matches!(&unknown, TermsError::Spec(SpecError::Unknown(name)) if name == "best"), "{unknown}");
    assert!(message(|s| s.algorithm = Some("linear-apt".into())).contains("too small for 100 arms"));
    let unknown = terms(|s| s.parameters.extend([("mu".into(), 1.0)]));
    assert!(
        matches!(&unknown, TermsError::Spec(SpecError::UnknownParameter { parameter, .. }) if parameter == "mu"),
        "{unknown}"
    );
    assert!(store.campaigns().unwrap().is_empty());
}

fn a_new_campaign_keeps_its_first_rewards(store: &Store) {
    let mut new = NewCampaign::new("screen", settings(3), candidates()).unwrap();
    new.observe(&[(3, 0.5), (4, 0.25)], false).unwrap();
    new.observe(&[(3, 0.75)], true).unwrap();
    let mut begun = store.begin_new(new).unwrap();
    let mut opened = store.campaign(None).unwrap();
    assert_eq!(opened.progress().unwrap(), begun.progress().unwrap());
    let progress = opened.progress().unwrap();
    assert_eq!((progress.counted, progress.uncounted, progress.events), (1, 2, 3));
    assert_eq!(bits(&opened.verdicts().unwrap()), bits(&begun.verdicts().unwrap()));
    assert_eq!(opened.ask(9, "w", LEASE).unwrap().len(), 2, "one of three measurements is used");
    assert_eq!(begun.tell(&[(1, 1.0)]).unwrap(), 1, "the journal continues from there");
    let mut new = NewCampaign::new("second", settings(3), candidates()).unwrap();
    let refused = new.observe(&[(0, 0.5); 4], true).unwrap_err();
    assert!(refused.to_string().contains("the budget of 3 is used"), "{refused}");
    assert!(matches!(NewCampaign::new("a\nb", settings(3), candidates()), Err(StoreError::BadName(_))));
}

fn a_new_campaign_takes_over_events_of_another(store: &Store) {
    let mut campaign = begin(store, 60);
    (0..40).for_each(|_| assert!(measure(&mut campaign)));
    campaign.ask(3, "w", LEASE).unwrap();
    campaign.fail(41, "dropped").unwrap();
    let records = campaign.events(0).unwrap();
    let settings = campaign.settings().clone();
    let new = NewCampaign::continued("second", settings.clone(), candidates(), records.clone()).unwrap();
    let mut second = store.begin_new(new).unwrap();
    assert_eq!(second.events(0).unwrap(), records, "with their times");
    assert_eq!(bits(&second.verdicts().unwrap()), bits(&campaign.verdicts().unwrap()));
    assert_eq!(second.ask(1, "w", LEASE).unwrap()[0].arm, campaign.ask(1, "w", LEASE).unwrap()[0].arm);
    let broken = NewCampaign::continued("third", settings, candidates(), records[1..].to_vec());
    assert!(matches!(broken, Err(StoreError::Damaged { .. })));
}

fn the_state_is_a_function_of_the_events(store: &Store) {
    let mut campaign = begin(store, 120);
    for round in 0..70 {
        measure(&mut campaign);
        if round % 10 == 3 {
            campaign.ask(2, "w", Duration::ZERO).unwrap();
            campaign.observe(&[(round, 0.5)], round % 20 == 3).unwrap();
        }
    }
    let records: Vec<Record> = campaign.events(0).unwrap();
    let live = bits(&campaign.verdicts().unwrap());
    let mut opened = store.campaign(None).unwrap();
    assert_eq!(bits(&opened.verdicts().unwrap()), live, "opened again");
    let mut copy = begin_another(store, 120);
    let fresh = copy.state().unwrap();
    for piece in records.chunks(7) {
        fresh.extend(piece).unwrap();
    }
    assert_eq!(bits(&fresh.verdicts()), live, "replayed in pieces");
    let expected = campaign.ask(1, "w", LEASE).unwrap()[0].arm;
    let Event::Asked { arm, .. } = fresh_ask(&records, &mut begin_third(store)) else { panic!("no measurement") };
    assert_eq!(arm, expected, "the next measurement is a function of the events");
}

fn begin_third(store: &Store) -> Campaign {
    store.begin("third", &settings(120), candidates()).unwrap()
}

/// The next event of a campaign with these events, asked for one measurement.
fn fresh_ask(records: &[Record], campaign: &mut Campaign) -> Event {
    let state = campaign.state().unwrap();
    state.extend(records).unwrap();
    let now = records.last().unwrap().at + 1;
    state.ask(1, "w", now, 1).pop().unwrap()
}

/// Pulls the arms in turn; panics while its flag is set.
struct RoundRobin(Arc<AtomicBool>);

impl CustomRule for RoundRobin {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        if self.0.load(Ordering::Relaxed) {
            resume_unwind(Box::new("no arm"));
        }
        Choice::Pull(context.pulls().iter().sum::<u32>() as usize % context.pulls().len())
    }
}

fn a_custom_rule_must_be_given_again(store: &Store) {
    let panics = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&panics);
    let named = NamedRule::new("in-turn", move || Box::new(RoundRobin(Arc::clone(&flag)))).unwrap();
    let mut with_rule = settings(40);
    with_rule.custom_rule = Some(named.clone());
    // The mixed model would explore an arm before some pulls, without calling the rule.
    with_rule.parameters.insert("explore".into(), 0.0);
    let mut campaign = store.begin("custom", &with_rule, candidates()).unwrap();
    assert!(measure(&mut campaign));
    panics.store(true, Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| campaign.ask(1, "w", LEASE))).is_err());
    panics.store(false, Ordering::Relaxed);
    assert_eq!(campaign.progress().unwrap().events, 2, "the panic changed nothing");
    assert_eq!(campaign.ask(1, "w", LEASE).unwrap()[0].arm, 1, "and left no transaction open");

    let mut again = store.clone().with_rule(named).campaign(Some("custom")).unwrap();
    assert_eq!(again.ask(1, "w", LEASE).unwrap()[0].arm, 2);
    let other = NamedRule::new("other", || Box::new(RoundRobin(Arc::default()))).unwrap();
    if let Err(refused) = store.campaign(Some("custom")) {
        // A store in memory still has the rule itself.
        assert_eq!(refused.to_string(), "the campaign uses the custom rule `in-turn`, which was not given");
    }
    let refused = store.clone().with_rule(other.clone()).campaign(Some("custom")).unwrap_err();
    assert_eq!(refused.to_string(), "the campaign uses `in-turn`, not `other`");
    begin(store, 10);
    let refused = store.clone().with_rule(other).campaign(Some("screen")).unwrap_err();
    assert_eq!(refused.to_string(), "the campaign uses `pivot`, not `other`");
}

/// A campaign with a kernel or a graph reopens with the same bits, and its tickets have the features as they were given.
fn a_kernel_and_a_graph_are_stored(store: &Store) {
    let edges: Vec<_> = (1..100).map(|arm| (arm / 2, arm, 0.1 + arm as f64 / 7.0)).collect();
    let graph = CampaignCovariance::graph(&Graph::new(100, &edges).unwrap());
    let bare = Candidates::new(candidates().names().to_vec(), Vec::new(), Vec::new()).unwrap();
    let mut means = Vec::new();
    for (name, covariance, candidates) in [
        ("rbf", CampaignCovariance::kernel(Kernel::Rbf, 0.5), candidates()),
        ("matern", CampaignCovariance::kernel(Kernel::Matern52, 0.5), candidates()),
        ("shorter", CampaignCovariance::kernel(Kernel::Rbf, 0.3), candidates()),
        ("graph", graph, bare),
    ] {
        let mut settings = settings(30);
        settings.covariance = Some(covariance.clone());
        let mut campaign = store.begin(name, &settings, candidates.clone()).unwrap();
        while let Some(ticket) = campaign.ask(1, "w", LEASE).unwrap().pop() {
            assert_eq!(ticket.features, candidates.row(ticket.arm), "{name}");
            campaign
                .tell(&[(ticket.number, reward(ticket.number, &[ticket.arm as f64 / 50.0 - 1.0, 0.0, 0.0]))])
                .unwrap();
        }
        let verdicts = campaign.verdicts().unwrap();
        let mut again = store.campaign(Some(name)).unwrap();
        assert_eq!(again.settings().covariance, Some(covariance));
        assert_eq!(again.settings().estimator, Some(EstimatorKind::Ridge));
        assert_eq!(again.verdicts().unwrap(), verdicts, "{name}");
        let found: Vec<f64> = verdicts.iter().map(|verdict| verdict.mean).collect();
        assert!(!means.contains(&found), "{name} differs from the others");
        means.push(found);
    }
    let mut settings = settings(30);
    settings.covariance = Some(CampaignCovariance::kernel(Kernel::Rbf, -1.0));
    let refused = store.begin("bad", &settings, candidates()).unwrap_err().to_string();
    assert_eq!(refused, "the length of a kernel must be a number between 1e-100 and 1e100, not -1");
    settings.covariance = None;
    settings.algorithm = Some("straddle".into());
    settings.until_sure = Some(StopCriterion::Evidence.into());
    let refused = store.begin("bad", &settings, candidates()).unwrap_err().to_string();
    assert!(refused.ends_with("so it takes no confidence stop"), "{refused}");
}
