//! Which tools there are.

use axum::http::Method;
use cutline_store::Role;

/// How a tool is offered, and the route that it calls.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) role: Role,
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// If the body of the route is a list, the argument that has it.
    pub(super) list: Option<&'static str>,
}

/// All tools.
pub(super) const SPECS: [Spec; 13] = [
    Spec {
        name: "list_campaigns",
        title: "List campaigns",
        description: "List the campaigns, the latest first, each with its threshold, budget, rewards so far, and how many arms are above, below and undecided, and proved to be so.",
        role: Role::Viewer,
        method: Method::GET,
        path: "/v1/campaigns",
        list: None,
    },
    Spec {
        name: "campaign_status",
        title: "How a campaign stands",
        description: "Say how a campaign stands: rewards told and budget left, open tickets, arms that are above, below (how many of them proved) and undecided, the wrong calls to expect, whether the \
                      model fits, the pace, and `ending`: why it has ended, or null while it goes on.",
        role: Role::Viewer,
        method: Method::GET,
        path: "/v1/campaigns/{name}/report",
        list: None,
    },
    Spec {
        name: "read_verdicts",
        title: "Read verdicts",
        description: "Read the verdicts on arms: side of the threshold; `basis`, `proved` by the arm's own rewards or only `likely` by the model; estimated mean, interval, \
                      and doubt, the probability that the side is wrong. Filter and sort, \
                      as there may be many: `total` says how many fit.",
        role: Role::Viewer,
        method: Method::GET,
        path: "/v1/campaigns/{name}/verdicts",
        list: None,
    },
    Spec {
        name: "read_events",
        title: "Read events",
        description: "Read the journal of a campaign: tickets asked, rewards told, failures, corrections and changes, in their order, with times and authors. Go on with \
                      `after` set to `next`.",
        role: Role::Viewer,
        method: Method::GET,
        path: "/v1/campaigns/{name}/events",
        list: None,
    },
    Spec {
        name: "list_tickets",
        title: "List open tickets",
        description: "List the tickets that wait for their rewards: arm, worker and end of the lease.",
        role: Role::Viewer,
        method: Method::GET,
        path: "/v1/campaigns/{name}/tickets",
        list: None,
    },
    Spec {
        name: "plan",
        title: "Plan the rest",
        description: "Simulate the rest of a campaign, with true means as the rewards so far suggest: how many wrong calls to expect after parts of the remaining \
                      budget, all of it, and more. Changes nothing; may take half a minute.",
        role: Role::Viewer,
        method: Method::GET,
        path: "/v1/campaigns/{name}/plan",
        list: None,
    },
    Spec {
        name: "ask",
        title: "Ask for measurements",
        description: "Get tickets: the measurements to make next. Each uses a part of the budget until its reward is told, it fails, or its lease ends. Ask for no more than \
                      you can measure within the lease. Without tickets, `ending` says why there will be no more; if it is null, all remaining budget is assigned to open \
                      tickets, so ask again later.",
        role: Role::Worker,
        method: Method::POST,
        path: "/v1/campaigns/{name}/asks",
        list: None,
    },
    Spec {
        name: "tell",
        title: "Tell rewards",
        description: "Record the measured rewards of tickets, all or none. Only values that were really measured. The same reward again changes nothing; another one for the \
                      same ticket is refused.",
        role: Role::Worker,
        method: Method::POST,
        path: "/v1/campaigns/{name}/tells",
        list: Some("rewards"),
    },
    Spec {
        name: "fail",
        title: "Report failed measurements",
        description: "Close tickets that will have no reward, with the reason. The budget gets their measurements back.",
        role: Role::Worker,
        method: Method::POST,
        path: "/v1/campaigns/{name}/failures",
        list: Some("failures"),
    },
    Spec {
        name: "extend_lease",
        title: "Extend a lease",
        description: "Extend the lease of a ticket whose measurement takes longer than expected.",
        role: Role::Worker,
        method: Method::POST,
        path: "/v1/campaigns/{name}/tickets/{ticket}/lease",
        list: None,
    },
    Spec {
        name: "new_campaign",
        title: "Begin a campaign",
        description: "Begin a campaign: candidates (arms) with their features, the threshold, and the budget of measurements. Leave out what you do not know; the defaults \
                      are good.",
        role: Role::Admin,
        method: Method::POST,
        path: "/v1/campaigns",
        list: None,
    },
    Spec {
        name: "change_campaign",
        title: "Change a campaign",
        description: "Change the budget, the threshold or another setting from here on. Everything measured so far counts as if the campaign had begun so.",
        role: Role::Admin,
        method: Method::PATCH,
        path: "/v1/campaigns/{name}",
        list: None,
    },
    Spec {
        name: "amend",
        title: "Correct rewards",
        description: "Correct wrong rewards, or declare them void, with the reason. Both values stay in the journal.",
        role: Role::Admin,
        method: Method::POST,
        path: "/v1/campaigns/{name}/amendments",
        list: None,
    },
];
