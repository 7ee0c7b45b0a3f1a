//! The measurements under way, each with a thread of its own that tells how it ended.

use super::guard::Guard;
use super::measure::{Measure, Told};
use super::process::{self, Measured, News};
use cutline_store::Ticket;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// What the thread that owns the campaign hears.
#[derive(Debug)]
pub(super) enum Message {
    Done {
        ticket: u64,
        measured: Measured,
    },
    /// Somebody wants it to end.
    Interrupt,
}

/// How measurements are made.
#[derive(Debug)]
pub(super) struct How {
    pub(super) measure: Measure,
    pub(super) timeout: Option<Duration>,
    pub(super) retries: u32,
    pub(super) guard: Guard,
}

/// The measurements under way.
pub(super) struct Executor {
    how: Arc<How>,
    sender: Sender<Message>,
    working: BTreeMap<u64, Sender<News>>,
}

impl Executor {
    pub(super) fn new(how: How, sender: Sender<Message>) -> Self {
        Self { how: Arc::new(how), sender, working: BTreeMap::new() }
    }

    /// Starts to measure.
    pub(super) fn start(&mut self, ticket: &Ticket, columns: &[String]) {
        let (number, told) = (ticket.number, Told::new(ticket, columns));
        let (orders, news) = channel();
        self.working.insert(number, orders.clone());
        let (how, sender) = (Arc::clone(&self.how), self.sender.clone());
        std::thread::spawn(move || {
            let measured = how.measure(&told, &news, &orders);
            // If nobody listens any more, the program is ending.
            drop(sender.send(Message::Done { ticket: number, measured }));
        });
    }

    /// A measurement has ended.
    pub(super) fn dismiss(&mut self, ticket: u64) {
        self.working.remove(&ticket);
    }

    /// Tells all who work.
    pub(super) fn order(&self, news: News) {
        for orders in self.working.values() {
            // Who has just ended does not listen.
            let _ = orders.send(news);
        }
    }

    pub(super) fn n_working(&self) -> usize {
        self.working.len()
    }

    pub(super) fn works_on(&self, ticket: u64) -> bool {
        self.working.contains_key(&ticket)
    }
}

impl How {
    /// Measures until there is a reward, as often as may be.
    fn measure(&self, told: &Told, news: &Receiver<News>, orders: &Sender<News>) -> Measured {
        let tries = self.retries + 1;
        let mut attempt = 1;
        loop {
            let command = self.measure.command(told);
            match process::measure(command, told.input.clone(), self.timeout, news, orders, &self.guard) {
                Measured::Failed(_) if attempt < tries => attempt += 1,
                Measured::Failed(reason) if tries > 1 => {
                    return Measured::Failed(format!("in the last of {tries} tries {reason}"));
                }
                other => return other,
            }
        }
    }
}
