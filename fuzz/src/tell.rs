//! Files of rewards: what `cutline tell --file` reads, and what campaigns begin with.

use cutline::diagnostics::MAX_REWARD;
use cutline_lab::rewards::{rewards, ticket_rewards};
use std::fmt::Write;

/// Reads a file of rewards by ticket and one of rewards by arm.
pub fn check(data: &[u8]) {
    by_ticket(data);
    by_arm(data);
}

fn by_ticket(file: &[u8]) {
    let told = match ticket_rewards(file) {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(told) => told,
    };
    assert!(!told.is_empty());
    assert!(told.iter().all(|&(_, ticket, reward)| ticket > 0 && reward.abs() <= MAX_REWARD));
    assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "rows ascend");
    let mut text = String::from("ticket,reward\n");
    for (_, ticket, reward) in &told {
        writeln!(text, "{ticket},{reward:?}").expect("a text takes everything");
    }
    let again = ticket_rewards(text.as_bytes()).expect("a plain file");
    let plain = |told: &[(u64, u64, f64)]| told.iter().map(|&(_, ticket, reward)| (ticket, reward)).collect::<Vec<_>>();
    assert_eq!(plain(&again), plain(&told), "written and read back");
}

fn by_arm(file: &[u8]) {
    for names in [&[][..], &["a".to_owned(), "b".to_owned(), "c d".to_owned()]] {
        match rewards(file, 3, names) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(rewards) => {
                assert!(!rewards.is_empty());
                assert!(rewards.iter().all(|&(arm, reward)| arm < 3 && reward.abs() <= MAX_REWARD));
            }
        }
    }
}
