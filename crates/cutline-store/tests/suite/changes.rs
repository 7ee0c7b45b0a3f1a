//! A campaign that changes while it runs: settings, candidates, corrections. One suite, run on memory, SQLite and PostgreSQL.

use crate::common::{Place, candidates, reward, settings};
use cutline::{StopReason, Verdict};
use cutline_campaign::{AnyCampaign, CampaignError, CampaignModel, Candidates, Change, Event, Request};
use cutline_store::{Campaign, NewCampaign, Store, StoreError};
use std::time::Duration;

const LEASE: Duration = Duration::from_hours(1);

contract! {
    settings_change_for_every_handle,
    a_change_counts_as_if_the_campaign_had_begun_so,
    a_refused_change_changes_nothing,
    model_and_algorithm_change_midway,
    added_candidates_have_verdicts_at_once,
    adding_again_adds_nothing,
    predictions_are_the_verdicts_of_candidates_that_are_added,
    corrections_reach_every_handle,
    replicates_and_resumed_tickets,
    changes_at_the_same_time_lose_nothing,
    a_changed_campaign_is_copied_with_its_events,
}

fn begin(store: &Store, budget: u32) -> Campaign {
    store.begin("screen", &settings(budget), candidates()).unwrap()
}

fn measure(campaign: &mut Campaign, n: usize) -> usize {
    let tickets = campaign.ask(n, "w", LEASE).unwrap();
    let rewards: Vec<_> = tickets.iter().map(|t| (t.number, reward(t.number, &t.features))).collect();
    campaign.tell(&rewards).unwrap();
    tickets.len()
}

/// Ten candidates that are not in the campaign, called `late 0` to `late 9`.
fn late() -> Candidates {
    let names = (0..10).map(|arm| format!("late {arm}")).collect();
    let columns = ["a", "b", "c"].map(String::from).to_vec();
    let features = (0..30).map(|i| f64::from((i * 6007) % 1000) / 400.0 - 1.2).collect();
    Candidates::new(names, columns, features).unwrap()
}

fn numbers(verdicts: &[Verdict]) -> Vec<[f64; 4]> {
    verdicts.iter().map(|v| [v.mean, v.lower, v.upper, v.doubt]).collect()
}

fn assert_close(one: &[Verdict], other: &[Verdict]) {
    assert_eq!(one.len(), other.len());
    for (one, other) in numbers(one).iter().flatten().zip(numbers(other).iter().flatten()) {
        assert!((one - other).abs() <= 1e-9 * (1.0 + other.abs()), "{one} and {other}");
    }
}

fn settings_change_for_every_handle(store: &Store) {
    let mut one = begin(store, 10);
    let mut other = store.campaign(None).unwrap();
    assert_eq!(measure(&mut one, 20), 10);
    assert_eq!(one.stop_reason().unwrap(), Some(StopReason::Budget));
    let more = Change::new().with("budget", 14).with("threshold", 0.5);
    assert!(one.change(&more).unwrap());
    assert!(!one.change(&more).unwrap(), "a second time it changes nothing");
    let changes = |campaign: &mut Campaign| {
        let records = campaign.events(0).unwrap();
        records.into_iter().filter(|record| record.event.is_revision()).count()
    };
    assert_eq!(changes(&mut one), 1);
    assert_eq!(other.stop_reason().unwrap(), None);
    assert_eq!((other.settings().budget, other.settings().threshold), (14, 0.5));
    assert_eq!(other.first_settings().budget, 10);
    assert_eq!(measure(&mut other, 20), 4);
    assert_eq!(numbers(&one.verdicts().unwrap()), numbers(&other.verdicts().unwrap()));
    let mut opened = store.campaign(None).unwrap();
    assert_eq!(numbers(&one.verdicts().unwrap()), numbers(&opened.verdicts().unwrap()), "opened again");
}

fn a_change_counts_as_if_the_campaign_had_begun_so(store: &Store) {
    let mut campaign = begin(store, 80);
    measure(&mut campaign, 60);
    campaign.change(&Change::new().with("threshold", -0.2).with("precision", 0.05)).unwrap();
    let mut same = NewCampaign::new(
        "same",
        {
            let mut s = settings(80);
            s.threshold = -0.2;
            s.precision = 0.05;
            s
        },
        candidates(),
    )
    .unwrap();
    let mut arms = vec![0];
    for record in campaign.events(0).unwrap() {
        match record.event {
            Event::Asked { arm, .. } => arms.push(arm),
            Event::Told { ticket, reward } => {
                same.observe(&[(arms[usize::try_from(ticket).unwrap()], reward)], true).unwrap();
            }
            _ => (),
        }
    }
    let expected = Store::memory().begin_new(same).unwrap().verdicts().unwrap();
    assert_close(&campaign.verdicts().unwrap(), &expected);
}

fn a_refused_change_changes_nothing(store: &Store) {
    let mut campaign = begin(store, 10);
    measure(&mut campaign, 4);
    campaign.ask(2, "w", LEASE).unwrap();
    let mut refused = |change: Change| campaign.change(&change).unwrap_err().to_string();
    let used = refused(Change::new().with("budget", 5));
    assert_eq!(used, "the budget cannot be 5: 6 of it are used, counting open tickets");
    assert!(refused(Change::new().with("threshold", f64::NAN)).contains("NaN"));
    assert!(refused(Change::new().with("precision", -1.0)).contains("-1"));
    assert!(refused(Change::new().with("noise", 0.0)).contains('0'));
    assert!(refused(Change::new().with("algorithm", "magic")).contains("magic"));
    let guaranteed = Change::new().with("until_sure", "intervals");
    assert!(refused(guaranteed).contains("no stop `intervals`"));
    assert_eq!((campaign.settings().budget, campaign.events(0).unwrap().len()), (10, 10));
    assert_eq!(campaign.ask(9, "w", LEASE).unwrap().len(), 4, "it goes on");
}

fn model_and_algorithm_change_midway(store: &Store) {
    let mut campaign = begin(store, 300);
    measure(&mut campaign, 60);
    assert!(campaign.change(&Change::new().with("algorithm", "straddle")).unwrap());
    let names = |campaign: &Campaign| {
        let settings = campaign.settings();
        (settings.algorithm.clone().unwrap(), settings.estimator.unwrap().name())
    };
    assert_eq!(names(&campaign), ("straddle".into(), "mixed"), "the model stays");
    assert_eq!(measure(&mut campaign, 5), 5);
    for (model, expected) in [
        (CampaignModel::Linear, ("pivot", "ridge")),
        (CampaignModel::Independent, ("apt", "sample-mean")),
        (CampaignModel::Mixed, ("pivot", "mixed")),
    ] {
        assert!(campaign.change(&Change::new().with("model", model)).unwrap());
        let found = names(&store.campaign(None).unwrap());
        assert_eq!((found.0.as_str(), found.1), expected);
        assert_eq!(measure(&mut campaign, 5), 5);
        assert_eq!(campaign.verdicts().unwrap().len(), 100);
    }
    let sure = Change::new().with("until_sure", "expected-errors 100");
    assert!(campaign.change(&sure).unwrap());
    assert_eq!(campaign.stop_reason().unwrap(), Some(StopReason::ExpectedErrors));
}

fn added_candidates_have_verdicts_at_once(store: &Store) {
    let mut campaign = begin(store, 150);
    let mut other = store.campaign(None).unwrap();
    measure(&mut campaign, 100);
    assert_eq!(campaign.add(&late()).unwrap(), 10);
    let verdicts = other.verdicts().unwrap();
    assert_eq!((verdicts.len(), other.arm_names()[105].as_str(), verdicts[105].pulls), (110, "late 5", 0));
    assert!(verdicts[100..].iter().filter(|verdict| verdict.doubt < 0.2).count() > 2, "by their features");
    assert_eq!(other.candidates().unwrap(), candidates().with(&late()).unwrap());
    other.withdraw(&(0..100).collect::<Vec<_>>(), "only the late ones").unwrap();
    let tickets = other.ask(5, "w", LEASE).unwrap();
    assert_eq!(tickets.len(), 5);
    for ticket in tickets {
        assert!(ticket.name.starts_with("late"), "{}", ticket.name);
        assert_eq!(ticket.features, late().row(ticket.arm - 100));
    }
}

fn adding_again_adds_nothing(store: &Store) {
    let mut campaign = begin(store, 150);
    assert_eq!(campaign.add(&late()).unwrap(), 10);
    assert_eq!(campaign.add(&late()).unwrap(), 0);
    let message = |campaign: &mut Campaign, names: &[&str], columns: &[&str], features: &[f64]| {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        let more = Candidates::new(texts(names), texts(columns), features.to_vec()).unwrap();
        campaign.add(&more).unwrap_err().to_string()
    };
    let other = message(&mut campaign, &["new", "late 3"], &["a", "b", "c"], &[0.0; 6]);
    assert_eq!(other, "the campaign has a candidate `late 3` already, with other features");
    let columns = message(&mut campaign, &["new"], &["a", "b"], &[0.0; 2]);
    assert_eq!(columns, "the columns `a`, `b`, `c` were expected, not `a`, `b`");
    assert_eq!(campaign.candidates().unwrap().n_arms(), 110);
}

fn predictions_are_the_verdicts_of_candidates_that_are_added(store: &Store) {
    let mut campaign = begin(store, 150);
    measure(&mut campaign, 100);
    let predicted = campaign.predict(&late()).unwrap();
    assert_eq!(
        (predicted.len(), campaign.verdicts().unwrap().len(), campaign.events(0).unwrap().len()),
        (10, 100, 200)
    );
    assert_eq!(campaign.predict(&candidates()).unwrap().len(), 100, "names may be the same");
    campaign.add(&late()).unwrap();
    assert_eq!(numbers(&predicted), numbers(&campaign.verdicts().unwrap()[100..]));
    // APT measures every candidate once, so there cannot be more of them than the budget allows; predictions measure nothing.
    let mut tight = settings(100);
    tight.algorithm = Some("apt".into());
    let mut tight = store.begin("tight", &tight, candidates()).unwrap();
    assert!(tight.add(&late()).unwrap_err().to_string().contains("a budget of 100 is too small for 110 arms"));
    assert_eq!(tight.predict(&late()).unwrap().len(), 10);
}

fn corrections_reach_every_handle(store: &Store) {
    let mut one = begin(store, 60);
    let mut other = store.campaign(None).unwrap();
    measure(&mut one, 40);
    assert_eq!(one.amend(&[(3, 7.5), (4, -7.5)], "mistyped").unwrap(), 2);
    assert_eq!(one.amend(&[(3, 7.5)], "mistyped").unwrap(), 0);
    assert_eq!(one.void(&[5], "wrong sample").unwrap(), 1);
    assert_eq!(one.withdraw(&[0, 1], "broken").unwrap(), 2);
    assert_eq!(one.restore(&[1]).unwrap(), 1);
    assert_eq!(other.progress().unwrap().counted, 39);
    let withdrawn: Vec<_> = other.state().unwrap().withdrawn().map(|(arm, why)| (arm, why.to_owned())).collect();
    assert_eq!(withdrawn, [(0, "broken".into())]);
    let mut opened = store.campaign(None).unwrap();
    let verdicts = numbers(&one.verdicts().unwrap());
    assert_eq!(verdicts, numbers(&other.verdicts().unwrap()));
    assert_eq!(verdicts, numbers(&opened.verdicts().unwrap()));
    let kinds: Vec<&str> = opened.events(80).unwrap().iter().map(|record| record.event.name()).collect();
    assert_eq!(kinds, ["amended", "amended", "voided", "withdrawn", "withdrawn", "restored"]);
    let amended = Event::Amended { ticket: 3, reward: 7.5, reason: "mistyped".into() };
    assert_eq!(opened.events(80).unwrap()[0].event, amended);
    // All or none.
    let refused = one.amend(&[(6, 1.0), (99, 1.0)], "").unwrap_err();
    assert!(matches!(refused, StoreError::CampaignError(CampaignError::NoTicket { ticket: 99, .. })), "{refused}");
    assert_eq!(one.events(80).unwrap().len(), 6);
}

fn replicates_and_resumed_tickets(store: &Store) {
    let mut campaign = begin(store, 60);
    let request = Request { replicates: 3, ..Request::new(2, "lab", 3_600_000) };
    let tickets = campaign.ask_unless(&request, &|| false).unwrap();
    assert_eq!(tickets.iter().map(|t| (t.number, t.replicates)).collect::<Vec<_>>(), [(1, 3), (4, 3)]);
    assert_eq!(campaign.tell_replicates(1, &[0.1, 0.2, 0.3]).unwrap(), 3);
    assert_eq!(campaign.tell_replicates(1, &[0.1, 0.2, 0.3]).unwrap(), 0);
    let refused = campaign.tell_replicates(4, &[0.1; 4]).unwrap_err().to_string();
    assert_eq!(refused, "ticket 4 is for 3 measurements, not for 4");
    let again = Request { resume: true, ..Request::new(1, "lab", 3_600_000) };
    let resumed = store.campaign(None).unwrap().ask_unless(&again, &|| false).unwrap();
    assert_eq!((resumed.len(), resumed[0].number, resumed[0].replicates), (1, 4, 3));
    assert_eq!((resumed[0].arm, &resumed[0].features), (tickets[1].arm, &tickets[1].features));
    assert!(campaign.fail(4, "spilt").unwrap());
    assert_eq!((campaign.progress().unwrap().open, campaign.progress().unwrap().failed), (0, 3));
}

fn changes_at_the_same_time_lose_nothing(store: &Store) {
    begin(store, 40);
    let threads: Vec<_> = (0..4)
        .map(|thread: u32| {
            let store = store.clone();
            std::thread::spawn(move || {
                let mut campaign = store.campaign(None).unwrap();
                for round in 0..5 {
                    measure(&mut campaign, 2);
                    let name = format!("late {thread} {round}");
                    let features = [thread, round, 1].map(f64::from).to_vec();
                    let columns = ["a", "b", "c"].map(String::from).to_vec();
                    let more = Candidates::new(vec![name], columns, features).unwrap();
                    assert_eq!(campaign.add(&more).unwrap(), 1);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let mut campaign = store.campaign(None).unwrap();
    assert_eq!((campaign.arm_names().len(), campaign.verdicts().unwrap().len()), (120, 120));
    assert_eq!(campaign.progress().unwrap().counted, 40);
}

fn a_changed_campaign_is_copied_with_its_events(store: &Store) {
    let mut campaign = begin(store, 50);
    measure(&mut campaign, 50);
    campaign.add(&late()).unwrap();
    campaign.change(&Change::new().with("budget", 70)).unwrap();
    measure(&mut campaign, 20);
    let (first, all) = (campaign.first_settings().clone(), campaign.candidates().unwrap());
    let new = NewCampaign::continued("copy", first, all, campaign.events(0).unwrap()).unwrap();
    store.begin_new(new).unwrap();
    let mut copy = store.campaign(Some("copy")).unwrap();
    assert_eq!(numbers(&copy.verdicts().unwrap()), numbers(&campaign.verdicts().unwrap()));
    assert_eq!((copy.settings().budget, copy.arm_names().len()), (70, 110));
}
