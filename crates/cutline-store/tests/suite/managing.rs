//! Renaming, deleting and copying campaigns, on memory, SQLite and PostgreSQL.

use crate::common::{Place, candidates, reward, settings};
use cutline_campaign::{AnyCampaign, Origin};
use cutline_store::{Campaign, Store, StoreError};
use std::time::Duration;

const LEASE: Duration = Duration::from_hours(1);

contract! {
    a_campaign_gets_another_name,
    a_deleted_campaign_is_gone_for_everybody,
    the_number_of_a_deleted_campaign_is_not_used_again,
    a_copy_goes_on_by_itself,
    a_campaign_is_copied_to_another_store,
}

/// A campaign with a few measurements and an open ticket.
fn measured(store: &Store, name: &str) -> Campaign {
    let mut campaign = store.begin(name, &settings(40), candidates()).unwrap();
    for ticket in campaign.ask(5, "w", LEASE).unwrap() {
        campaign.tell(&[(ticket.number, reward(ticket.number, &ticket.features))]).unwrap();
    }
    campaign.ask(1, "w", LEASE).unwrap();
    campaign
}

fn names(store: &Store) -> Vec<String> {
    store.campaigns().unwrap().into_iter().map(|campaign| campaign.name).collect()
}

fn a_campaign_gets_another_name(store: &Store) {
    let mut open = measured(store, "first");
    measured(store, "second");
    store.rename(Some("first"), "third ⚗").unwrap();
    assert_eq!(names(store), ["third ⚗", "second"]);
    assert_eq!(open.progress().unwrap().counted, 5, "a handle goes on");
    open.tell(&[(6, 0.5)]).unwrap();
    assert_eq!(store.campaign(Some("third ⚗")).unwrap().progress().unwrap().counted, 6);
    store.rename(Some("third ⚗"), "third ⚗").unwrap();
    let message = |done: Result<(), StoreError>| done.unwrap_err().to_string();
    assert_eq!(message(store.rename(Some("second"), "third ⚗")), "there is already a campaign `third ⚗`");
    assert!(message(store.rename(Some("first"), "x")).starts_with("there is no campaign `first`"));
    assert!(message(store.rename(None, "x")).starts_with("the store has 2 campaigns"));
    for bad in ["", "a\nb", "\u{7f}1"] {
        assert!(matches!(store.rename(Some("second"), bad), Err(StoreError::BadName(_))), "{bad:?}");
    }
    assert_eq!(names(store), ["third ⚗", "second"]);
}

/// Whoever has the campaign open gets an error with every operation, and no event is lost silently.
fn a_deleted_campaign_is_gone_for_everybody(store: &Store) {
    let mut open = measured(store, "first");
    let mut other = store.campaign(Some("first")).unwrap();
    measured(store, "second");
    assert!(matches!(store.delete("third"), Err(StoreError::NoCampaign { .. })));
    store.delete("first").unwrap();
    assert_eq!(names(store), ["second"]);
    for campaign in [&mut open, &mut other] {
        let errors = [
            campaign.tell(&[(6, 0.5)]).map(drop),
            campaign.ask(1, "w", LEASE).map(drop),
            campaign.fail(6, "lost").map(drop),
            campaign.state().map(drop),
            campaign.verdicts().map(drop),
            campaign.events(0).map(drop),
            campaign.candidates().map(drop),
        ];
        for error in errors.map(Result::unwrap_err) {
            assert!(matches!(error, StoreError::Deleted) && error.is_store_gone(), "{error}");
        }
    }
    assert!(matches!(store.delete("first"), Err(StoreError::NoCampaign { .. })));
    assert_eq!(store.campaign(None).unwrap().name(), "second");
}

/// A handle of a deleted campaign does not write to the one that was begun next, under the same name or another.
fn the_number_of_a_deleted_campaign_is_not_used_again(store: &Store) {
    let mut open = measured(store, "first");
    store.delete("first").unwrap();
    assert!(matches!(store.campaign(None), Err(StoreError::NoCampaigns(_))));
    let mut next = measured(store, "first");
    assert!(matches!(open.tell(&[(6, 0.5)]), Err(StoreError::Deleted)));
    assert_eq!((next.progress().unwrap().counted, next.progress().unwrap().open), (5, 1));
    assert_eq!(names(store), ["first"]);
}

fn a_copy_goes_on_by_itself(store: &Store) {
    let mut first = measured(store, "first");
    let mut copy = store.copy(None, store, "copy", &Origin::default()).unwrap();
    assert_eq!(names(store), ["first", "copy"]);
    assert_eq!(copy.events(0).unwrap(), first.events(0).unwrap());
    assert_eq!(copy.candidates().unwrap(), first.candidates().unwrap());
    assert_eq!(copy.settings(), first.settings());
    assert_eq!(copy.verdicts().unwrap(), first.verdicts().unwrap());
    copy.tell(&[(6, 0.5)]).unwrap();
    first.tell(&[(6, -0.5)]).unwrap();
    assert_ne!(copy.verdicts().unwrap(), first.verdicts().unwrap());
    let taken = store.copy(Some("first"), store, "copy", &Origin::default()).unwrap_err();
    assert!(matches!(taken, StoreError::NameTaken(_)), "{taken}");
}

fn a_campaign_is_copied_to_another_store(store: &Store) {
    let mut first = measured(store, "first");
    let to = Store::memory();
    let mut copy = store.copy(Some("first"), &to, "first", &Origin::default()).unwrap();
    store.delete("first").unwrap();
    assert!(first.events(0).is_err());
    assert_eq!((copy.progress().unwrap().counted, copy.progress().unwrap().open), (5, 1));
    assert!(to.copy(None, store, "back", &Origin::default()).unwrap().verdicts().unwrap() == copy.verdicts().unwrap());
    assert_eq!((names(store), names(&to)), (vec!["back".to_owned()], vec!["first".to_owned()]));
}
