//! Webhooks in stores: numbers that are not used again, deliveries that are written with what was noticed, and claims that one process gets.

use crate::common::{Place, candidates, settings};
use cutline_store::{
    AttemptOutcome, MAX_WEBHOOKS, NewDelivery, NewWebhook, Origin, RequestKey, Store, StoreError, WebhookEvent,
    WebhookSecret,
};

contract!(
    webhooks_are_kept_as_they_were_given,
    a_repeated_request_adds_one_webhook,
    what_is_noticed_is_written_once,
    a_delivery_is_claimed_once,
    old_deliveries_are_forgotten,
    a_webhook_that_is_off_gets_nothing,
    webhooks_go_with_their_campaign,
);

fn begin(store: &Store, name: &str) {
    store.begin(name, &settings(40), candidates()).unwrap();
}

fn webhook(url: &str) -> NewWebhook {
    let events = vec![WebhookEvent::Ended, WebhookEvent::Silent];
    NewWebhook { url: url.into(), secret: WebhookSecret("s3cret".into()), events, silence: Some(60_000) }
}

fn add(store: &Store, campaign: &str) -> u64 {
    store.add_webhook(campaign, &webhook("https://example.org/"), "{}", &Origin::default()).unwrap().id
}

fn delivery(webhook: u64, id: &str) -> NewDelivery {
    NewDelivery { webhook, id: id.into(), event: WebhookEvent::Ended, payload: "{\"ü\": 1}".into(), at: 1_000 }
}

/// The number of the only watched campaign, and the version of what was noticed.
fn watch(store: &Store) -> (i64, u64) {
    let watched = store.watched().unwrap();
    assert_eq!(watched.len(), 1);
    (watched[0].campaign, watched[0].version)
}

fn webhooks_are_kept_as_they_were_given(store: &Store) {
    begin(store, "screen");
    assert!(store.webhooks("screen").unwrap().is_empty() && store.watched().unwrap().is_empty());
    let origin = Origin { author: Some("ada".into()), key: None };
    let added = store.add_webhook("screen", &webhook("https://example.org/ü?a=b"), "first", &origin).unwrap();
    assert_eq!(store.webhooks("screen").unwrap(), std::slice::from_ref(&added));
    assert_eq!((added.id, added.author.as_deref(), added.turned_off.as_deref()), (1, Some("ada"), None));
    assert_eq!(added.settings, webhook("https://example.org/ü?a=b"));
    assert!(!format!("{added:?}").contains("s3cret"));
    assert_eq!(store.watch_state(watch(store).0).unwrap().unwrap().1, "first");
    let watched = &store.watched().unwrap()[0];
    assert_eq!((watched.name.as_str(), watched.events, watched.webhooks[0].silence), ("screen", 0, Some(60_000)));
    // Another one does not change what was noticed, and numbers are not used again.
    store.add_webhook("screen", &webhook("https://example.org/"), "second", &origin).unwrap();
    assert_eq!(store.watch_state(watched.campaign).unwrap().unwrap().1, "first");
    for id in [1, 2] {
        store.delete_webhook("screen", id).unwrap();
    }
    assert!(matches!(store.delete_webhook("screen", 2), Err(StoreError::NoWebhook(2))));
    assert!(matches!(store.delete_webhook("none", 2), Err(StoreError::NoCampaign { .. })));
    let again = store.add_webhook("screen", &webhook("https://example.org/"), "third", &origin).unwrap();
    assert_eq!(again.id, 3);
    assert_eq!(store.watch_state(watched.campaign).unwrap().unwrap().1, "third", "nobody looked in the meantime");
    for _ in 1..MAX_WEBHOOKS {
        add(store, "screen");
    }
    let refused = store.add_webhook("screen", &webhook("https://example.org/"), "", &origin);
    assert!(matches!(refused, Err(StoreError::TooManyWebhooks(MAX_WEBHOOKS))));
}

fn a_repeated_request_adds_one_webhook(store: &Store) {
    begin(store, "screen");
    let key = |fingerprint: &str| Origin {
        author: None,
        key: Some(RequestKey { key: "k".into(), fingerprint: fingerprint.into() }),
    };
    let add = |fingerprint: &str| store.add_webhook("screen", &webhook("https://example.org/"), "", &key(fingerprint));
    let first = add("a").unwrap();
    let mut other = webhook("https://example.org/");
    other.secret = WebhookSecret("another".into());
    assert_eq!(store.add_webhook("screen", &other, "", &key("a")).unwrap(), first);
    assert!(matches!(add("b"), Err(StoreError::OtherRequest)));
    let test = Origin { author: None, key: Some(RequestKey { key: "t".into(), fingerprint: "t".into() }) };
    let sent = store.add_delivery("screen", &delivery(1, "x"), &test).unwrap();
    assert_eq!(store.add_delivery("screen", &delivery(1, "y"), &test).unwrap(), sent);
    assert_eq!((sent.number, sent.id.as_str(), store.waiting_deliveries().unwrap()), (1, "x", 1));
    store.delete_webhook("screen", 1).unwrap();
    assert!(matches!(add("a"), Err(StoreError::NoWebhook(1))), "it is not added again");
}

fn what_is_noticed_is_written_once(store: &Store) {
    begin(store, "screen");
    let webhook = add(store, "screen");
    let (campaign, version) = watch(store);
    let told = [delivery(webhook, "a"), delivery(webhook, "b"), delivery(99, "nobody")];
    assert!(store.advance_watch(campaign, version, "{\"events\":7}", &told).unwrap());
    assert!(!store.advance_watch(campaign, version, "{}", &told).unwrap(), "another server was first");
    let (_, next) = watch(store);
    assert_eq!(store.watch_state(campaign).unwrap(), Some((next, "{\"events\":7}".into())));
    let found = store.deliveries("screen", webhook, None, 10).unwrap();
    let ids: Vec<_> = found.iter().map(|delivery| (delivery.number, delivery.id.as_str())).collect();
    assert_eq!(ids, [(2, "b"), (1, "a")]);
    let earlier = store.deliveries("screen", webhook, Some(2), 10).unwrap();
    assert_eq!((earlier.len(), earlier[0].number), (1, 1));
    assert!(matches!(store.deliveries("screen", 99, None, 1), Err(StoreError::NoWebhook(99))));
    // Two servers notice the same at the same time.
    let (store_1, store_2) = (store.clone().with_own_connection(), store.clone().with_own_connection());
    let advance = |store: Store| {
        std::thread::spawn(move || store.advance_watch(campaign, next, "{}", &[delivery(webhook, "c")]).unwrap())
    };
    let won = [advance(store_1), advance(store_2)].map(|thread| thread.join().unwrap());
    assert_eq!(won.iter().filter(|&&won| won).count(), 1, "{won:?}");
    assert_eq!(store.deliveries("screen", webhook, None, 10).unwrap().len(), 3);
}

fn a_delivery_is_claimed_once(store: &Store) {
    begin(store, "screen");
    let webhook = add(store, "screen");
    let (campaign, version) = watch(store);
    store.advance_watch(campaign, version, "{}", &[delivery(webhook, "a"), delivery(webhook, "b")]).unwrap();
    assert!(store.claim_deliveries(999, 5_000, &[], 9).unwrap().is_empty(), "not due yet");
    assert!(store.claim_deliveries(1_000, 5_000, &[(campaign, webhook)], 9).unwrap().is_empty(), "busy");
    assert!(store.claim_deliveries(1_000, 5_000, &[], 0).unwrap().is_empty());
    let claim = |store: Store| std::thread::spawn(move || store.claim_deliveries(1_000, 5_000, &[], 9).unwrap());
    let threads = [0; 4].map(|_| claim(store.clone().with_own_connection()));
    let mut claimed: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    claimed.sort_by_key(|claimed| claimed.number);
    let ids: Vec<_> = claimed.iter().map(|claimed| (claimed.id.as_str(), claimed.attempts)).collect();
    assert!(ids == [("a", 1), ("b", 1)] || ids == [("a", 1)], "{ids:?}");
    let a = claimed.swap_remove(0);
    assert_eq!((a.payload.as_str(), a.url.as_str(), &a.secret.0[..]), ("{\"ü\": 1}", "https://example.org/", "s3cret"));
    let failed =
        AttemptOutcome { status: Some(500), error: Some("no".into()), next_attempt: Some(7_000), ..Default::default() };
    store.settle_delivery(&a, &failed).unwrap();
    // Of a server that was killed, the claim ends.
    let again = store.claim_deliveries(8_000, 9_000, &[], 9).unwrap();
    assert_eq!(again.iter().filter(|claimed| claimed.id == "a").map(|claimed| claimed.attempts).next(), Some(2));
    let late = AttemptOutcome { status: Some(200), delivered: Some(8_000), ..Default::default() };
    store.settle_delivery(&a, &late).unwrap();
    let found = |id: &str| {
        let all = store.deliveries("screen", webhook, None, 10).unwrap();
        all.into_iter().find(|delivery| delivery.id == id).unwrap()
    };
    assert_eq!(
        (found("a").status, found("a").next_attempt),
        (Some(500), Some(9_000)),
        "an attempt that is not the last"
    );
    store.settle_delivery(&again[0], &late).unwrap();
    let done = found("a");
    assert_eq!((done.status, done.error, done.delivered, done.next_attempt), (Some(200), None, Some(8_000), None));
}

fn old_deliveries_are_forgotten(store: &Store) {
    begin(store, "screen");
    let webhook = add(store, "screen");
    for n in 0..150 {
        let (campaign, version) = watch(store);
        store.advance_watch(campaign, version, "{}", &[delivery(webhook, &n.to_string())]).unwrap();
        if n < 149 {
            let claimed = store.claim_deliveries(1_000, 2_000, &[], 1).unwrap();
            store.settle_delivery(&claimed[0], &AttemptOutcome { delivered: Some(1), ..Default::default() }).unwrap();
        }
    }
    let found = store.deliveries("screen", webhook, None, 1000).unwrap();
    assert_eq!((found.len(), found[0].number, found[99].number), (100, 150, 51));
}

fn a_webhook_that_is_off_gets_nothing(store: &Store) {
    begin(store, "screen");
    let webhook = add(store, "screen");
    let (campaign, version) = watch(store);
    store.advance_watch(campaign, version, "{}", &[delivery(webhook, "a")]).unwrap();
    store.turn_webhook_off(campaign, webhook, "gone").unwrap();
    assert_eq!(store.webhooks("screen").unwrap()[0].turned_off.as_deref(), Some("gone"));
    assert!(store.watched().unwrap().is_empty() && store.waiting_deliveries().unwrap() == 0);
    assert_eq!(store.deliveries("screen", webhook, None, 1).unwrap()[0].error.as_deref(), Some("gone"));
    let refused = store.add_delivery("screen", &delivery(webhook, "b"), &Origin::default());
    assert!(matches!(refused, Err(StoreError::NoWebhook(_))));
}

fn webhooks_go_with_their_campaign(store: &Store) {
    begin(store, "screen");
    let webhook = add(store, "screen");
    let (campaign, version) = watch(store);
    store.advance_watch(campaign, version, "{}", &[delivery(webhook, "a")]).unwrap();
    store.rename(Some("screen"), "renamed").unwrap();
    assert_eq!((store.watched().unwrap()[0].name.as_str(), store.webhooks("renamed").unwrap().len()), ("renamed", 1));
    store.copy(Some("renamed"), store, "copy").unwrap();
    assert!(store.webhooks("copy").unwrap().is_empty());
    store.delete("renamed").unwrap();
    assert!(store.watched().unwrap().is_empty() && store.waiting_deliveries().unwrap() == 0);
    assert!(store.claim_deliveries(9_000, 9_001, &[], 9).unwrap().is_empty());
    assert!(!store.advance_watch(campaign, version + 1, "{}", &[delivery(webhook, "b")]).unwrap());
}
