//! The state of a campaign does not depend on how its events are split.

use cutline::{Purpose, Verdict, below, stream};
use cutline_campaign::{CampaignState, Record};

/// Compares progress, means, intervals, doubts and the next arms to the last bit.
fn assert_same(one: &mut CampaignState, other: &mut CampaignState, context: &str) {
    assert_eq!(one.progress(), other.progress(), "{context}");
    assert_eq!(one.noise(), other.noise(), "{context}");
    let bits = |campaign: &mut CampaignState| -> Vec<_> {
        let numbers = |v: &Verdict| [v.mean, v.lower, v.upper, v.doubt].map(f64::to_bits);
        let words = |v: &Verdict| (v.side, v.pulls, v.settled_after, v.is_withdrawn);
        campaign.verdicts().iter().map(|verdict| (numbers(verdict), words(verdict))).collect()
    };
    assert_eq!(bits(one), bits(other), "{context}");
    assert_eq!(one.ask(3, "w", 2_000, 9), other.ask(3, "w", 2_000, 9), "{context}");
}

/// Checks that a campaign that made the events of `journal` itself has the state that follows from them, at once and in pieces.
pub fn assert_replayed(mut live: CampaignState, journal: &[Record], fresh: impl Fn() -> CampaignState, context: &str) {
    let mut rng = stream(1, Purpose::Rule, 0);
    let mut in_pieces = fresh();
    let mut rest = journal;
    while !rest.is_empty() {
        let (piece, others) = rest.split_at(below(&mut rng, rest.len().min(40)) + 1);
        in_pieces.extend(piece).unwrap();
        rest = others;
    }
    let at_once = || {
        let mut state = fresh();
        state.extend(journal).unwrap();
        state
    };
    assert_same(&mut in_pieces, &mut at_once(), context);
    assert_same(&mut live, &mut at_once(), context);
}
