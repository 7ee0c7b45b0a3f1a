//! What was noticed about a campaign, and what there is to tell about it since.

use crate::clock::{now, rfc3339};
use crate::problem::Problem;
use crate::routes::finite;
use crate::token::hexadecimal;
use cutline::campaign::{CampaignState, Time};
use cutline::{Side, StopReason, Verdict};
use cutline_lab::Standing;
use cutline_store::{WatchedWebhook, WebhookEvent};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many arms a delivery names at most.
const MAX_ARMS: usize = 1_000;

/// What was noticed about a campaign, as a store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noticed {
    /// The number of events up to which the campaign was looked at.
    events: u64,
    /// The side of each arm: `a`, `b` or `u`. Arms that were added since are undecided.
    sides: String,
    /// Why the campaign has ended, if it has.
    ended: Option<String>,
    /// Whether the model does not fit.
    misfit: bool,
    /// When each webhook was last told of a silence.
    silent: BTreeMap<u64, Time>,
}

/// How a campaign stands.
#[derive(Clone, Debug)]
pub(super) struct Look {
    noticed: Noticed,
    fit: (Option<f64>, String),
    /// How many rewards there are, and the time of the last one that came with a ticket.
    pub(super) rewards: u64,
    pub(super) last_reward: Option<Time>,
    open: usize,
    /// How many arms lie above and below, and how many are undecided.
    counts: [usize; 3],
}

/// Something to tell.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct News {
    pub(super) event: WebhookEvent,
    pub(super) data: Value,
}

fn letter(side: Side) -> char {
    match side {
        Side::Above => 'a',
        Side::Below => 'b',
        Side::Undecided => 'u',
    }
}

impl Look {
    pub(super) fn new(state: &mut CampaignState, verdicts: &[Verdict]) -> Self {
        let ended = state.stop_reason().map(|reason| StopReason::name(reason).to_owned());
        let standing = Standing::new(state, verdicts);
        let progress = state.progress();
        let noticed = Noticed {
            events: progress.events,
            sides: verdicts.iter().map(|verdict| letter(verdict.side)).collect(),
            ended,
            misfit: standing.fit.word == "misfit",
            silent: BTreeMap::new(),
        };
        Self {
            noticed,
            fit: (standing.fit.p_value, standing.fit.advice),
            rewards: u64::from(progress.counted) + progress.uncounted,
            last_reward: progress.recent.last().copied(),
            open: progress.open,
            counts: [standing.above, standing.below, standing.undecided],
        }
    }

    pub(super) fn events(&self) -> u64 {
        self.noticed.events
    }

    /// When a silence of `after` milliseconds is to be told to a webhook: the end of the silence that began with the last reward, or with the
    /// webhook itself. `None` if the campaign has ended or the silence was told already.
    fn silence_ends(&self, webhook: &WatchedWebhook, told: Option<Time>) -> Option<Time> {
        let after = webhook.silence.filter(|_| webhook.events.contains(&WebhookEvent::Silent))?;
        let begun = self.last_reward.map_or(webhook.created, |last| last.max(webhook.created));
        let is_told = told.is_some_and(|told| told >= begun);
        (self.noticed.ended.is_none() && !is_told).then(|| begun.saturating_add(after))
    }

    fn silence(&self, after: u64) -> News {
        let data = json!({
            "silence_seconds": after / 1000,
            "last_reward": self.last_reward.map(rfc3339),
            "open_tickets": self.open,
        });
        News { event: WebhookEvent::Silent, data }
    }
}

impl Noticed {
    /// What is known about a campaign that is to be watched from now on.
    pub(crate) fn new(state: &mut CampaignState, verdicts: &[Verdict]) -> Self {
        Look::new(state, verdicts).noticed
    }

    pub(crate) fn to_json(&self) -> Result<String, Problem> {
        serde_json::to_string(self).map_err(|error| Problem::internal(&error))
    }

    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// What all webhooks are to be told about a campaign that stands so, and what is known then.
    pub(super) fn compare(&self, look: &Look, verdicts: &[Verdict], names: &[String]) -> (Self, Vec<News>) {
        let mut news = Vec::new();
        let before = self.sides.chars().chain(std::iter::repeat('u'));
        let decided: Vec<Value> = verdicts
            .iter()
            .zip(names)
            .zip(before)
            .enumerate()
            .filter(|(_, ((verdict, _), before))| verdict.is_decided() && letter(verdict.side) != *before)
            .map(|(index, ((verdict, name), before))| arm(index, name, verdict, before))
            .collect();
        if !decided.is_empty() {
            let [above, below, undecided] = look.counts;
            let data = json!({
                "n_arms": decided.len(),
                "arms": decided.into_iter().take(MAX_ARMS).collect::<Vec<_>>(),
                "above": above, "below": below, "undecided": undecided,
            });
            news.push(News { event: WebhookEvent::Decided, data });
        }
        if look.noticed.misfit && !self.misfit {
            let (p_value, advice) = &look.fit;
            news.push(News { event: WebhookEvent::Misfit, data: json!({"p_value": p_value, "advice": advice}) });
        }
        if let Some(reason) = &look.noticed.ended
            && self.ended.is_none()
        {
            let [above, below, undecided] = look.counts;
            let data = json!({"reason": reason, "above": above, "below": below, "undecided": undecided});
            news.push(News { event: WebhookEvent::Ended, data });
        }
        (Self { silent: self.silent.clone(), ..look.noticed.clone() }, news)
    }

    /// Whether nothing is known that was not known before.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        Self { events: other.events, ..self.clone() } == *other
    }

    /// The silences that are to be told now, by webhook. Each counts as told from now on.
    pub(super) fn silences(&mut self, look: &Look, webhooks: &[WatchedWebhook], now: Time) -> Vec<(u64, News)> {
        let mut news = Vec::new();
        for webhook in webhooks {
            let told = self.silent.get(&webhook.id).copied();
            if look.silence_ends(webhook, told).is_some_and(|end| end <= now) {
                self.silent.insert(webhook.id, now);
                news.push((webhook.id, look.silence(webhook.silence.unwrap_or_default())));
            }
        }
        news
    }
}

/// An arm that was decided. Its name is a text of a user.
fn arm(index: usize, name: &str, verdict: &Verdict, before: char) -> Value {
    let before = match before {
        'a' => Side::Above,
        'b' => Side::Below,
        _ => Side::Undecided,
    };
    json!({
        "name": name,
        "index": index,
        "side": verdict.side.name(),
        "before": before.name(),
        "mean": finite(verdict.mean),
        "lower": finite(verdict.lower),
        "upper": finite(verdict.upper),
        "doubt": finite(verdict.doubt),
        "pulls": verdict.pulls,
    })
}

/// A new identity of a delivery.
pub(crate) fn new_delivery_id() -> Result<String, Problem> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|error| Problem::internal(&error))?;
    Ok(hexadecimal(&bits))
}

/// The body of a delivery.
pub(crate) fn body(id: &str, event: WebhookEvent, campaign: (&str, i64), n_events: u64, data: &Value) -> String {
    let (name, number) = campaign;
    let body = json!({
        "id": id,
        "type": event.name(),
        "campaign": name,
        "campaign_id": number,
        "time": rfc3339(now()),
        "event": n_events,
        "data": data,
    });
    body.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline_store::{Candidates, Settings, Store};

    /// A campaign of three arms with these rewards, and how it stands.
    fn look(rewards: &[(usize, f64)], budget: u32) -> (Look, Vec<Verdict>) {
        let names = ["x", "y", "z"].map(String::from).to_vec();
        let mut settings = Settings::new(0.5, budget);
        settings.noise = Some(0.1);
        let candidates = Candidates::new(names, vec![], vec![]).unwrap();
        let mut campaign = Store::memory().begin("c", &settings, candidates).unwrap();
        let state = campaign.state().unwrap();
        for &(arm, reward) in rewards {
            state.observe(arm, reward, true, 0).unwrap();
        }
        let verdicts = state.verdicts();
        (Look::new(state, &verdicts), verdicts)
    }

    #[test]
    fn each_change_is_news_once() {
        let names = ["x", "y", "z"].map(String::from);
        let (start, verdicts) = look(&[], 9);
        let (first, news) = Noticed::default().compare(&start, &verdicts, &names);
        assert!(news.is_empty() && first.sides == "uuu", "{news:?}");
        let (decided, verdicts) = look(&[(0, 1.0), (0, 1.0), (1, 0.0), (1, 0.0)], 9);
        let (second, news) = first.compare(&decided, &verdicts, &names);
        assert_eq!((news.len(), second.sides.as_str()), (1, "abu"));
        assert_eq!((news[0].event, &news[0].data["n_arms"]), (WebhookEvent::Decided, &json!(2)));
        let arms = &news[0].data["arms"];
        assert_eq!(
            (&arms[0]["name"], &arms[0]["side"], &arms[1]["side"]),
            (&json!("x"), &json!("above"), &json!("below"))
        );
        assert_eq!(second.compare(&decided, &verdicts, &names).1, [], "it is told once");
        assert!(!first.says_the_same(&second) && second.says_the_same(&Noticed { events: 99, ..second.clone() }));
        // Back to undecided is no news, another side is.
        let (third, news) = second.compare(&start, &look(&[], 9).1, &names);
        assert_eq!((third.sides.as_str(), news.len()), ("uuu", 0));
        let (flipped, verdicts) = look(&[(0, 0.0), (0, 0.0), (1, 0.0), (1, 0.0)], 9);
        let (_, news) = second.compare(&flipped, &verdicts, &names);
        assert_eq!((&news[0].data["n_arms"], &news[0].data["arms"][0]["before"]), (&json!(1), &json!("above")));
        let (ended, verdicts) = look(&[(0, 0.6), (1, 0.4), (2, 0.5)], 3);
        let (last, news) = Noticed::default().compare(&ended, &verdicts, &names);
        assert_eq!(
            news.last().map(|news| (news.event, &news.data["reason"])),
            Some((WebhookEvent::Ended, &json!("budget")))
        );
        assert!(last.compare(&ended, &verdicts, &names).1.is_empty());
        assert_eq!(serde_json::from_str::<Noticed>(&last.to_json().unwrap()).unwrap(), last);
    }

    #[test]
    fn a_silence_is_told_once() {
        let (mut look, _) = look(&[], 9);
        let events = vec![WebhookEvent::Silent];
        let store = Store::memory();
        store
            .begin("c", &Settings::new(0.5, 9), Candidates::new(vec!["a".into(), "b".into()], vec![], vec![]).unwrap())
            .unwrap();
        let secret = cutline_store::WebhookSecret("s".into());
        let new = cutline_store::NewWebhook { url: "http://a/".into(), secret, events, silence: Some(1_000) };
        store.add_webhook("c", &new, "", &cutline_store::Origin::default()).unwrap();
        let mut webhooks = store.watched().unwrap()[0].webhooks.clone();
        webhooks[0].created = 10_000;
        let mut noticed = Noticed::default();
        assert!(noticed.silences(&look, &webhooks, 10_999).is_empty(), "since the webhook was created");
        assert_eq!(noticed.silences(&look, &webhooks, 11_000).len(), 1);
        assert!(noticed.silences(&look, &webhooks, 99_000).is_empty(), "the same silence");
        look.last_reward = Some(20_000);
        assert!(noticed.silences(&look, &webhooks, 20_999).is_empty());
        let told = noticed.silences(&look, &webhooks, 21_500);
        assert_eq!((told[0].0, &told[0].1.data["last_reward"]), (1, &json!("1970-01-01T00:00:20.000Z")));
        look.last_reward = Some(30_000);
        look.noticed.ended = Some("budget".into());
        assert!(noticed.silences(&look, &webhooks, 99_000).is_empty(), "nothing is expected any more");
    }
}
