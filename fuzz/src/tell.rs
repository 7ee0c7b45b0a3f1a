//! Files of rewards: what `cutline tell --file` reads, and what campaigns begin with.

use cutline::diagnostics::MAX_REWARD;
use cutline_data::rewards::{TicketReward, rewards, ticket_rewards};
use std::fmt::Write;

/// Reads a file of rewards by ticket and one of rewards by arm.
pub fn check(data: &[u8]) {
    by_ticket(data);
    by_arm(data);
    // With a decimal comma the same bytes are other numbers, or none.
    let _ = (ticket_rewards(data, true), rewards(data, 3, &[], true));
}

fn by_ticket(file: &[u8]) {
    let told = match ticket_rewards(file, false) {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(told) => told,
    };
    assert!(!told.is_empty());
    assert!(told.iter().all(|told| told.ticket > 0 && told.reward.abs() <= MAX_REWARD));
    assert!(told.windows(2).all(|pair| pair[0].row < pair[1].row), "rows ascend");
    let mut text = String::from("ticket,reward\n");
    for TicketReward { ticket, reward, .. } in &told {
        writeln!(text, "{ticket},{reward:?}").expect("a text takes everything");
    }
    let again = ticket_rewards(text.as_bytes(), false).expect("a plain file");
    let plain = |told: &[TicketReward]| told.iter().map(|told| (told.ticket, told.reward)).collect::<Vec<_>>();
    assert_eq!(plain(&again), plain(&told), "written and read back");
}

fn by_arm(file: &[u8]) {
    for names in [&[][..], &["a".to_owned(), "b".to_owned(), "c d".to_owned()]] {
        match rewards(file, 3, names, false) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(rewards) => {
                assert!(!rewards.is_empty());
                assert!(rewards.iter().all(|&(arm, reward)| arm < 3 && reward.abs() <= MAX_REWARD));
            }
        }
    }
}
