//! Candidates whose measurements cost different amounts. One suite, run on memory, SQLite and PostgreSQL.

use crate::common::{Place, candidates, reward, settings};
use cutline::StopReason;
use cutline_campaign::{AnyCampaign, CampaignError, Candidates, CandidatesError, Change, Origin, Request};
use cutline_store::{Campaign, Store, StoreError};
use std::time::Duration;

const LEASE: Duration = Duration::from_hours(1);

contract! {
    costs_are_kept_with_the_candidates,
    the_budget_is_in_units_of_cost,
    added_candidates_need_costs,
    predictions_need_no_costs,
    a_copy_has_the_costs,
}

/// 0.5, 1, 1.5, … 5, again and again.
fn costs(n: u32) -> Vec<f64> {
    (0..n).map(|arm| f64::from(1 + arm % 10) * 0.5).collect()
}

fn begin(store: &Store, budget: u32) -> Campaign {
    store.begin("screen", &settings(budget), candidates().with_costs(costs(100)).unwrap()).unwrap()
}

/// Measures until nothing is handed out; returns what it has cost by the tickets.
fn measure(campaign: &mut Campaign) -> f64 {
    let mut spent = 0.0;
    loop {
        let tickets = campaign.ask(7, "w", LEASE).unwrap();
        if tickets.is_empty() {
            return spent;
        }
        for ticket in tickets {
            spent += ticket.cost.unwrap().value();
            campaign.tell(&[(ticket.number, reward(ticket.number, &ticket.features))]).unwrap();
        }
    }
}

fn spent(campaign: &mut Campaign) -> f64 {
    campaign.progress().unwrap().spending.unwrap().spent.value()
}

fn late(n: u32) -> Candidates {
    let names = (0..n).map(|arm| format!("late {arm}")).collect();
    let columns = ["a", "b", "c"].map(String::from).to_vec();
    Candidates::new(names, columns, (0..3 * n).map(|i| f64::from(i % 7) / 3.0 - 1.0).collect()).unwrap()
}

fn costs_are_kept_with_the_candidates(store: &Store) {
    let mut campaign = begin(store, 60);
    let mut other = store.campaign(None).unwrap();
    assert_eq!((campaign.settings().cost.as_deref(), other.settings().cost.as_deref()), (Some("cost"), Some("cost")));
    assert_eq!(other.candidates().unwrap().costs(), Some(&costs(100)[..]));
    let request = Request { replicates: 3, ..Request::new(1, "w", 3_600_000) };
    let ticket = campaign.ask_unless(&request, &|| false).unwrap().remove(0);
    assert_eq!((ticket.replicates, ticket.cost.unwrap().value()), (3, 3.0 * costs(100)[ticket.arm]));
    assert_eq!(other.progress().unwrap().spending.unwrap().open, ticket.cost.unwrap());
}

fn the_budget_is_in_units_of_cost(store: &Store) {
    let mut campaign = begin(store, 60);
    assert_eq!((measure(&mut campaign), spent(&mut campaign)), (60.0, 60.0));
    let mut other = store.campaign(None).unwrap();
    assert_eq!((spent(&mut other), other.stop_reason().unwrap()), (60.0, Some(StopReason::Budget)));
    assert!(other.change(&Change::new().with("budget", 70)).unwrap());
    assert_eq!((measure(&mut campaign), spent(&mut other)), (10.0, 70.0));
    let refused = other.change(&Change::new().with("budget", 69)).unwrap_err();
    assert!(matches!(refused, StoreError::CampaignError(CampaignError::BudgetBelowUsed { .. })), "{refused}");
    assert_eq!(other.void(&[1], "wrong sample").unwrap(), 1);
    assert_eq!(measure(&mut campaign), 70.0 - spent_without_first(&mut other));
}

/// What was spent before the first ticket was taken out.
fn spent_without_first(campaign: &mut Campaign) -> f64 {
    let arm = campaign.state().unwrap().ticket(1).unwrap().0;
    70.0 - costs(100)[arm]
}

fn added_candidates_need_costs(store: &Store) {
    let mut campaign = begin(store, 60);
    let refused = campaign.add(&late(3)).unwrap_err();
    assert!(matches!(refused, StoreError::Candidates(CandidatesError::Costs { is_needed: true })), "{refused}");
    let with_costs = |costs: &[f64]| late(3).with_costs(costs.to_vec()).unwrap();
    assert_eq!(campaign.add(&with_costs(&[9.0, 0.25, 2.0])).unwrap(), 3);
    assert_eq!(campaign.add(&with_costs(&[9.0, 0.25, 2.0])).unwrap(), 0);
    let refused = campaign.add(&with_costs(&[9.0, 0.25, 2.5])).unwrap_err();
    assert!(matches!(&refused, StoreError::OtherCost(name) if name == "late 2"), "{refused}");
    let found = store.campaign(None).unwrap().candidates().unwrap();
    assert_eq!(&found.costs().unwrap()[98..], &[4.5, 5.0, 9.0, 0.25, 2.0]);
    assert_eq!(measure(&mut campaign), 60.0);
    let mut plain = store.begin("plain", &settings(60), candidates()).unwrap();
    let refused = plain.add(&with_costs(&[1.0; 3])).unwrap_err();
    assert!(matches!(refused, StoreError::Candidates(CandidatesError::Costs { is_needed: false })), "{refused}");
}

fn predictions_need_no_costs(store: &Store) {
    // A measurement costs little, so that there are more of them than units in the budget.
    let cheap = candidates().with_costs(vec![0.125; 100]).unwrap();
    let mut campaign = store.begin("screen", &settings(6), cheap).unwrap();
    assert_eq!((measure(&mut campaign), campaign.progress().unwrap().counted), (6.0, 48));
    let predicted = campaign.predict(&late(3)).unwrap();
    campaign.add(&late(3).with_costs(vec![3.0; 3]).unwrap()).unwrap();
    let added = campaign.verdicts().unwrap().split_off(100);
    for (one, other) in predicted.iter().zip(&added) {
        assert!((one.mean - other.mean).abs() < 1e-9 && (one.doubt - other.doubt).abs() < 1e-9);
    }
}

fn a_copy_has_the_costs(store: &Store) {
    let mut campaign = begin(store, 20);
    measure(&mut campaign);
    let mut copy = store.copy(Some("screen"), store, "again", &Origin::default()).unwrap();
    assert_eq!((spent(&mut copy), copy.candidates().unwrap()), (20.0, campaign.candidates().unwrap()));
}

#[test]
fn bad_costs_are_refused() {
    let message = |costs: Vec<f64>| candidates().with_costs(costs).unwrap_err().to_string();
    assert_eq!(message(vec![1.0; 99]), "there are 99 costs, but 100 arms");
    let mut bad = costs(100);
    bad[7] = -2.0;
    assert_eq!(message(bad), "the cost of arm 7 is -2; a cost must be a number between 1e-6 and 1e9");
}
