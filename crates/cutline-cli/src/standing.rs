//! How a campaign stands, read from its store.

use cutline::Verdict;
use cutline_campaign::{AnyCampaign, Plan, Standing, StoreError};

/// What to do to learn what the rest of a budget would bring.
const PLAN: &str = "`cutline plan STORE`";

/// How a campaign with these verdicts stands, with what the rest of its budget would bring if that is quick to compute.
pub(crate) fn standing(campaign: &mut dyn AnyCampaign, verdicts: &[Verdict]) -> Result<Standing, StoreError> {
    let standing = Standing::new(campaign.state()?, verdicts);
    if !Plan::is_rest_quick(campaign.state()?) {
        return Ok(standing);
    }
    let arms = campaign.candidates()?.arms();
    Ok(standing.with_rest(campaign.state()?, arms))
}

/// It in lines, each with a label: the wrong calls to expect, the fit of the model, what the rest would bring, and whether to stop.
pub(crate) fn lines(standing: &Standing) -> Vec<(&'static str, String)> {
    let lines = [
        ("expected", standing.wrong_calls_in_words()),
        ("model", standing.wrong_calls.map(|_| standing.fit.to_string())),
        ("rest", standing.rest_in_words(PLAN)),
        ("stop", standing.stop_in_words().map(str::to_owned)),
    ];
    lines.into_iter().filter_map(|(label, line)| Some((label, line?))).collect()
}
