//! What is posted: how a campaign stands now, compared with how it stood before.

use crate::routes::finite;
use cutline::{Basis, Side, StopReason, Verdict};
use cutline_campaign::now;
use cutline_campaign::{CampaignState, Fit, ModelFit, rfc3339};
use cutline_report::words::fit_advice;
use serde_json::{Value, json};

/// How many arms a notice names at most.
const MAX_ARMS: usize = 1_000;

/// Something to post.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Notice {
    /// `decided`, `misfit`, `ended` or `silent`.
    pub(super) kind: &'static str,
    pub(super) data: Value,
}

/// How a campaign stands, as far as notices are about it.
#[derive(Clone, Debug, Default)]
pub(super) struct Stand {
    pub(super) n_events: u64,
    pub(super) n_rewards: u64,
    pub(super) ended: Option<StopReason>,
    sides: Vec<Side>,
    is_misfit: bool,
}

impl Stand {
    /// How a campaign stands, and what there is to post if it stood as `before`.
    pub(super) fn new(state: &mut CampaignState, names: &[String], before: &Self) -> (Self, Vec<Notice>) {
        let verdicts = state.verdicts();
        let fit = ModelFit::new(state, &verdicts);
        let count = |side| verdicts.iter().filter(|verdict| verdict.side == side).count();
        let proved = |side| verdicts.iter().filter(|verdict| verdict.side == side && verdict.is_proved()).count();
        let progress = state.progress();
        let stand = Self {
            n_events: progress.events,
            n_rewards: u64::from(progress.counted) + progress.uncounted,
            ended: state.stop_reason(),
            sides: verdicts.iter().map(|verdict| verdict.side).collect(),
            is_misfit: fit.fit == Fit::Misfit,
        };
        let counts = json!({
            "above": count(Side::Above), "above_proved": proved(Side::Above),
            "below": count(Side::Below), "below_proved": proved(Side::Below), "undecided": count(Side::Undecided),
        });
        let mut notices = Vec::new();
        let decided = decided(&verdicts, names, &before.sides);
        if !decided.is_empty() {
            let mut data = counts.clone();
            data["n_arms"] = decided.len().into();
            data["arms"] = decided.into_iter().take(MAX_ARMS).collect();
            notices.push(Notice { kind: "decided", data });
        }
        if stand.is_misfit && !before.is_misfit {
            let data = json!({"p_value": fit.p_value, "advice": fit_advice(&fit)});
            notices.push(Notice { kind: "misfit", data });
        }
        if let Some(reason) = stand.ended
            && before.ended.is_none()
        {
            let mut data = counts;
            data["reason"] = reason.name().into();
            notices.push(Notice { kind: "ended", data });
        }
        (stand, notices)
    }
}

/// The arms that are decided now and were not, or had another side. Their names are texts of users.
fn decided(verdicts: &[Verdict], names: &[String], before: &[Side]) -> Vec<Value> {
    let before = before.iter().copied().chain(std::iter::repeat(Side::Undecided));
    let arms = verdicts.iter().zip(names).zip(before).enumerate();
    let decided = arms.filter(|(_, ((verdict, _), before))| verdict.is_decided() && verdict.side != *before);
    let arm = |(index, ((verdict, name), before)): (usize, ((&Verdict, &String), Side))| {
        json!({
            "name": name,
            "index": index,
            "side": verdict.side.name(),
            "basis": verdict.basis.map(Basis::name),
            "before": before.name(),
            "mean": finite(verdict.mean),
            "lower": finite(verdict.lower),
            "upper": finite(verdict.upper),
            "doubt": finite(verdict.doubt),
            "pulls": verdict.pulls,
        })
    };
    decided.map(arm).collect()
}

impl Notice {
    /// That no reward has come for this long.
    pub(super) fn silent(seconds: u64) -> Self {
        Self { kind: "silent", data: json!({"silence_seconds": seconds}) }
    }

    /// The body that is posted; `id` stays the same when it is posted again.
    pub(super) fn body(&self, id: &str, (name, number): (&str, i64), n_events: u64) -> String {
        let body = json!({
            "id": id,
            "type": self.kind,
            "campaign": name,
            "campaign_id": number,
            "time": rfc3339(now()),
            "event": n_events,
            "data": self.data,
        });
        body.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline_campaign::{Candidates, Settings};
    use cutline_store::Store;

    fn stand(rewards: &[(usize, f64)], budget: u32, before: &Stand) -> (Stand, Vec<Notice>) {
        let names = ["x", "y", "z"].map(String::from).to_vec();
        let mut settings = Settings::new(0.5, budget);
        settings.noise = Some(0.1);
        let candidates = Candidates::new(names.clone(), vec![], vec![]).unwrap();
        let mut campaign = Store::memory().begin("c", &settings, candidates).unwrap();
        let state = campaign.state().unwrap();
        for &(arm, reward) in rewards {
            state.observe(arm, reward, true, 0).unwrap();
        }
        Stand::new(state, &names, before)
    }

    #[test]
    fn each_change_is_a_notice_once() {
        let (first, notices) = stand(&[], 9, &Stand::default());
        assert_eq!(notices, []);
        let rewards = [(0, 1.0), (0, 1.0), (1, 0.0), (1, 0.0)];
        let (second, notices) = stand(&rewards, 9, &first);
        assert_eq!((notices.len(), notices[0].kind, &notices[0].data["n_arms"]), (1, "decided", &json!(2)));
        let arms = &notices[0].data["arms"];
        assert_eq!(
            (&arms[0]["name"], &arms[0]["side"], &arms[1]["side"]),
            (&json!("x"), &json!("above"), &json!("below"))
        );
        assert_eq!(stand(&rewards, 9, &second).1, [], "it is posted once");
        assert_eq!(stand(&[], 9, &second).1, [], "back to undecided is no notice");
        let (_, flipped) = stand(&[(0, 0.0), (0, 0.0), (1, 0.0), (1, 0.0)], 9, &second);
        assert_eq!((&flipped[0].data["n_arms"], &flipped[0].data["arms"][0]["before"]), (&json!(1), &json!("above")));
        let rewards = [(0, 0.6), (1, 0.4), (2, 0.5)];
        let (last, notices) = stand(&rewards, 3, &Stand::default());
        let ended = notices.last().unwrap();
        assert_eq!((ended.kind, &ended.data["reason"]), ("ended", &json!("budget")));
        assert_eq!(stand(&rewards, 3, &last).1, []);
    }
}
