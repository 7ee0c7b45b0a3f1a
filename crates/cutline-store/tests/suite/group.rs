//! Several operations in one transaction, repeated requests, authors and tokens, on every kind of store.

use crate::common::{Place, candidates};
use cutline_campaign::{
    AnyCampaign, CampaignError, Event, Operation, Origin, Outcome, RequestKey, Settings, Submission,
};
use cutline_store::{Authorship, Campaign, NewCampaign, Role, Store, StoreError, Token};

contract!(
    each_operation_is_refused_by_itself,
    a_partly_decided_operation_leaves_nothing,
    repeated_requests_change_nothing,
    a_key_is_for_one_request,
    repeated_beginnings_are_one_campaign,
    authors_are_recorded,
    tokens_are_kept,
    activity_is_listed,
);

fn ask(n: usize, worker: &str) -> Operation {
    Operation::Ask { n, replicates: 1, worker: worker.into(), lease: 60_000, resume: false }
}

fn tell(rewards: &[(u64, f64)]) -> Operation {
    Operation::Tell(rewards.iter().map(|&(ticket, reward)| (ticket, vec![reward])).collect())
}

fn anonymous(operation: Operation) -> Submission {
    Submission { operation, origin: Origin::default() }
}

fn keyed(operation: Operation, key: &str) -> Submission {
    let fingerprint = format!("{operation:?}");
    let key = RequestKey { key: key.into(), fingerprint };
    Submission { operation, origin: Origin { author: None, key: Some(key) } }
}

fn begin(store: &Store) -> Campaign {
    store.begin("screen", &Settings::new(0.5, 10), candidates()).unwrap()
}

fn perform(campaign: &mut Campaign, submissions: &[Submission]) -> Vec<Result<Outcome, StoreError>> {
    campaign.perform(submissions).unwrap()
}

fn each_operation_is_refused_by_itself(store: &Store) {
    let mut campaign = begin(store);
    let outcomes = perform(
        &mut campaign,
        &[anonymous(ask(2, "a")), anonymous(tell(&[(9, 0.1)])), anonymous(tell(&[(1, 0.7)])), anonymous(ask(1, "b"))],
    );
    let tickets = |outcome: &Result<Outcome, StoreError>| -> Vec<u64> {
        outcome.as_ref().unwrap().tickets.iter().map(|ticket| ticket.number).collect()
    };
    assert_eq!((tickets(&outcomes[0]), tickets(&outcomes[3])), (vec![1, 2], vec![3]));
    assert!(matches!(outcomes[1], Err(StoreError::CampaignError(CampaignError::NoTicket { ticket: 9, last: 2 }))));
    assert_eq!(outcomes[2].as_ref().unwrap().n_events, 1);
    let first = &outcomes[0].as_ref().unwrap().tickets[0];
    assert_eq!(first.features, campaign.candidates().unwrap().row(first.arm));
    let progress = campaign.progress().unwrap();
    assert_eq!((progress.counted, progress.open, progress.events), (1, 2, 4));
    let mut other = store.campaign(None).unwrap();
    assert_eq!(other.events(0).unwrap(), campaign.events(0).unwrap());
}

/// The third reward of the second operation contradicts its first, which shows only after two of them are decided.
fn a_partly_decided_operation_leaves_nothing(store: &Store) {
    let mut campaign = begin(store);
    perform(&mut campaign, &[anonymous(ask(4, "a"))]);
    let outcomes = perform(
        &mut campaign,
        &[anonymous(tell(&[(1, 0.1)])), anonymous(tell(&[(2, 0.2), (3, 0.3), (2, 0.9)])), anonymous(tell(&[(4, 0.4)]))],
    );
    assert!(matches!(outcomes[1], Err(StoreError::CampaignError(CampaignError::OtherReward { ticket: 2, .. }))));
    assert_eq!([0, 2].map(|i| outcomes[i].as_ref().unwrap().n_events), [1, 1]);
    let told: Vec<Event> = campaign.events(4).unwrap().into_iter().map(|record| record.event).collect();
    assert_eq!(told, [Event::Told { ticket: 1, reward: 0.1 }, Event::Told { ticket: 4, reward: 0.4 }]);
}

fn repeated_requests_change_nothing(store: &Store) {
    let mut campaign = begin(store);
    let submission = keyed(ask(3, "a"), "k");
    let first = perform(&mut campaign, std::slice::from_ref(&submission)).remove(0).unwrap();
    assert!(first.tickets.len() == 3 && !first.is_repeated);
    perform(&mut campaign, &[anonymous(tell(&[(2, 0.4)])), anonymous(ask(1, "b"))]);
    // In another process, after other events, and twice at once.
    let mut other = store.campaign(None).unwrap();
    for again in perform(&mut other, &[submission.clone(), submission]) {
        let again = again.unwrap();
        assert!(again.is_repeated);
        assert_eq!(again.tickets, first.tickets);
    }
    let twice = perform(&mut campaign, &[keyed(tell(&[(1, 0.9)]), "t"), keyed(tell(&[(1, 0.9)]), "t")]);
    let repeated = twice.iter().map(|outcome| outcome.as_ref().unwrap().is_repeated);
    assert_eq!(repeated.collect::<Vec<_>>(), [false, true]);
    assert_eq!(campaign.progress().unwrap().events, 6);
    store.forget_requests(u64::MAX / 2).unwrap();
    let forgotten = perform(&mut campaign, &[keyed(ask(1, "a"), "k")]).remove(0).unwrap();
    assert!(!forgotten.is_repeated && forgotten.tickets[0].number == 5);
}

fn a_key_is_for_one_request(store: &Store) {
    let mut campaign = begin(store);
    let outcomes = perform(&mut campaign, &[keyed(ask(1, "a"), "k"), keyed(ask(2, "a"), "k"), keyed(ask(2, "a"), "l")]);
    assert!(matches!(outcomes[1], Err(StoreError::OtherRequest)));
    assert_eq!(campaign.progress().unwrap().open, 3);
    // A refused request has no effect, so its key is free.
    let refused = perform(&mut campaign, &[keyed(tell(&[(7, 0.5)]), "m")]).remove(0);
    assert!(refused.is_err());
    assert!(perform(&mut campaign, &[keyed(tell(&[(1, 0.5)]), "m")]).remove(0).is_ok());
    let origin = |fingerprint: &str| {
        let key = Some(RequestKey { key: "add".into(), fingerprint: fingerprint.into() });
        Origin { author: None, key }
    };
    let more =
        cutline_campaign::Candidates::new(vec!["new".into()], campaign.columns().to_vec(), vec![0.5; 3]).unwrap();
    let (raise, lower) = [20, 15].map(|budget| cutline_campaign::Change::new().with("budget", budget)).into();
    let keyed_change = Origin { author: None, key: Some(RequestKey { key: "raise".into(), fingerprint: "r".into() }) };
    let keyed_change = Submission { operation: Operation::Change(Box::new(raise)), origin: keyed_change };
    assert_eq!(campaign.submit(keyed_change.clone()).unwrap().n_events, 1);
    campaign.change(&lower).unwrap();
    assert_eq!(campaign.submit(keyed_change).unwrap().n_events, 1, "the answer of the first time");
    assert_eq!(campaign.settings().budget, 15, "and nothing has changed");
    let add = |fingerprint: &str| Submission {
        operation: Operation::Add(Box::new(more.clone())),
        origin: origin(fingerprint),
    };
    assert_eq!(campaign.submit(add("x")).unwrap().n_added, 1);
    assert_eq!(campaign.submit(add("x")).unwrap().n_added, 1, "the answer of the first time");
    assert!(matches!(campaign.submit(add("y")), Err(StoreError::OtherRequest)));
}

fn repeated_beginnings_are_one_campaign(store: &Store) {
    let new = |name: &str, fingerprint: &str| {
        let key = RequestKey { key: "k".into(), fingerprint: fingerprint.into() };
        let new = NewCampaign::new(name, Settings::new(0.5, 10), candidates()).unwrap();
        new.with_origin(Origin { author: Some("ada".into()), key: Some(key) })
    };
    store.begin_new(new("screen", "1")).unwrap();
    store.rename(None, "renamed").unwrap();
    assert_eq!(store.begin_new(new("screen", "1")).unwrap().name(), "renamed");
    assert!(matches!(store.begin_new(new("screen", "2")), Err(StoreError::OtherRequest)));
    assert_eq!(store.campaigns().unwrap().len(), 1);
    let authors = store.campaign(None).unwrap().authors(0, 9).unwrap();
    assert_eq!(authors.iter().map(|range| (range.first, range.last)).collect::<Vec<_>>(), [(0, 0)]);
    store.delete("renamed").unwrap();
    assert!(matches!(store.begin_new(new("screen", "1")), Err(StoreError::Deleted)));
}

fn authors_are_recorded(store: &Store) {
    let mut campaign = begin(store);
    let by =
        |operation, author: &str| Submission { operation, origin: Origin { author: Some(author.into()), key: None } };
    let submissions =
        [by(ask(2, "w"), "ada"), by(tell(&[(1, 0.1)]), "ada"), anonymous(tell(&[(2, 0.2)])), by(ask(1, "w"), "bob")];
    assert!(perform(&mut campaign, &submissions).iter().all(Result::is_ok));
    let raise = cutline_campaign::Change::new().with("budget", 20);
    campaign.submit(by(Operation::Change(Box::new(raise)), "ada")).unwrap();
    let ranges = |campaign: &mut Campaign, first, last| -> Vec<(u64, u64, String)> {
        let range = |Authorship { first, last, author, .. }| (first, last, author);
        campaign.authors(first, last).unwrap().into_iter().map(range).collect()
    };
    let (ada, bob) = (String::from("ada"), String::from("bob"));
    assert_eq!(ranges(&mut campaign, 0, 99), [(1, 3, ada.clone()), (5, 5, bob.clone()), (6, 6, ada)]);
    assert_eq!(ranges(&mut campaign, 4, 5), [(5, 5, bob)]);
    campaign.tell(&[(3, 0.3)]).unwrap();
    assert_eq!(campaign.some_events(5, 1).unwrap()[0].number, 6);
}

fn tokens_are_kept(store: &Store) {
    assert!(store.tokens().unwrap().is_empty());
    let ada = Token::new("ada", "00ff".into(), Role::Admin, None);
    let bob = Token::new("bob, 2", "11ee".into(), Role::Worker, Some(vec!["a \"b\"".into(), "c".into()]));
    store.add_token(&ada).unwrap();
    store.add_token(&bob).unwrap();
    assert_eq!(store.tokens().unwrap(), [ada.clone(), bob.clone()]);
    assert!(matches!(store.add_token(&ada), Err(StoreError::TokenNameTaken(name)) if name == "ada"));
    assert!(matches!(store.revoke_token("eve"), Err(StoreError::NoToken(name)) if name == "eve"));
    store.revoke_token("bob, 2").unwrap();
    let revoked = store.tokens().unwrap()[1].revoked;
    assert!(revoked.is_some());
    store.revoke_token("bob, 2").unwrap();
    assert_eq!(store.tokens().unwrap()[1].revoked, revoked, "revoking again changes nothing");
    assert!(store.add_token(&bob).is_err(), "the name stays taken");
}

fn activity_is_listed(store: &Store) {
    let mut campaign = begin(store);
    store.begin("gone", &Settings::new(0.5, 10), candidates()).unwrap();
    store.begin("quiet", &Settings::new(0.5, 10), candidates()).unwrap();
    store.delete("gone").unwrap();
    campaign.observe(&[(0, 1.0), (1, 2.0)], true).unwrap();
    let found = store.activity().unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.events, one.last_event.is_some())).collect();
    assert_eq!(found, [("screen", 2, true), ("quiet", 0, false)]);
    assert!(campaign.has_its_name().unwrap());
    store.rename(Some("screen"), "other").unwrap();
    assert!(!campaign.has_its_name().unwrap());
}
