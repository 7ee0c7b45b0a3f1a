//! A PostgreSQL server in all its moods: other isolation levels, deadlocks, answers that are lost, locks and silence.

use crate::common::{Place, begin, candidates, settings, wait_for};
use cutline_campaign::{AnyCampaign, CampaignError};
use cutline_store::{Campaign, OpenOptions, Store, StoreError};
use postgres::{Client, NoTls};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const HOUR: Duration = Duration::from_hours(1);

/// A connection of a test's own to the database of a store.
fn client(place: &Place) -> Client {
    Client::connect(&place.address, NoTls).unwrap()
}

fn open(address: &str) -> Campaign {
    Store::open(address).unwrap().campaign(None).unwrap()
}

/// The campaign at an address whose limits are so short that a busy machine may exceed them now and then.
fn open_with_limits(address: &str) -> Campaign {
    let mut opened = None;
    wait_for("answer within the limits", || {
        opened = Store::open(address).and_then(|store| store.campaign(None)).ok();
        opened.is_some()
    });
    opened.unwrap()
}

/// A store whose database begins transactions with another isolation level by default, used by eight at once.
fn works_under(level: &str) {
    let place = Place::postgres();
    let database = place.address.rsplit_once('/').unwrap().1;
    client(&place)
        .batch_execute(&format!("ALTER DATABASE {database} SET default_transaction_isolation = '{level}'"))
        .unwrap();
    begin(&place, 200);
    thread::scope(|scope| {
        for worker in 0..8 {
            let address = &place.address;
            scope.spawn(move || {
                let mut campaign = open(address);
                for _ in 0..5 {
                    let ticket = campaign.ask(1, &format!("worker {worker}"), HOUR).unwrap().remove(0);
                    assert_eq!(campaign.tell(&[(ticket.number, 0.5)]).unwrap(), 1);
                }
            });
        }
    });
    assert_eq!(open(&place.address).progress().unwrap().counted, 40);
}

#[test]
fn under_repeatable_read() {
    works_under("repeatable read");
}

#[test]
fn under_serializable() {
    works_under("serializable");
}

/// The server ends a deadlock by undoing the store's transaction, not the other one's, because that one would wait for an hour.
#[test]
fn a_deadlock_is_survived() {
    let place = Place::postgres();
    begin(&place, 10);
    let mut campaign = open(&place.address);
    let ticket = campaign.ask(1, "worker", HOUR).unwrap().remove(0);
    let mut other = client(&place);
    other
        .batch_execute("SET deadlock_timeout = '1h'; BEGIN; LOCK TABLE cutline_events IN ACCESS EXCLUSIVE MODE")
        .unwrap();
    let undone = Arc::new(AtomicBool::new(false));
    let teller = thread::spawn({
        let undone = Arc::clone(&undone);
        move || {
            let told = campaign.tell(&[(ticket.number, 0.5)]);
            assert!(undone.load(Ordering::SeqCst), "it did not wait");
            told
        }
    });
    let mut watcher = client(&place);
    wait_for_lock(&mut watcher);
    // The teller has the row and waits for the table; this waits for the row, until the teller is undone.
    other.batch_execute("SELECT id FROM cutline_campaigns FOR UPDATE").unwrap();
    undone.store(true, Ordering::SeqCst);
    other.batch_execute("COMMIT").unwrap();
    assert_eq!(teller.join().unwrap().unwrap(), 1);
    assert_eq!(open(&place.address).progress().unwrap().counted, 1);
}

/// Waits until a connection of the store waits for a lock.
fn wait_for_lock(watcher: &mut Client) {
    let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'cutline' \
                   AND datname = current_database()";
    wait_for("wait for a lock", || !watcher.query(waiting, &[]).unwrap().is_empty());
}

#[test]
fn a_held_lock_ends_the_wait() {
    let place = Place::postgres();
    begin(&place, 10);
    let mut campaign = open_with_limits(&format!("{}?lock_timeout=500ms", place.address));
    let mut other = client(&place);
    other.batch_execute("BEGIN; SELECT id FROM cutline_campaigns FOR UPDATE").unwrap();
    let error = campaign.ask(1, "worker", HOUR).unwrap_err();
    assert!(error.to_string().contains("kept it locked for 0.5 s (`lock_timeout`); try again"), "{error}");
    other.batch_execute("ROLLBACK").unwrap();
    assert_eq!(
        campaign.ask(1, "worker", HOUR).unwrap()[0].number,
        1,
        "the connection still works, and nothing was written"
    );
    // Reading waits for the lock of a table.
    other.batch_execute("BEGIN; LOCK TABLE cutline_events").unwrap();
    let error = campaign.progress().unwrap_err();
    assert!(error.to_string().contains("(`lock_timeout`)"), "{error}");
}

#[test]
fn a_slow_statement_is_ended_by_the_server() {
    let place = Place::postgres();
    begin(&place, 10);
    let mut campaign = open_with_limits(&format!("{}?statement_timeout=500ms&lock_timeout=0", place.address));
    let mut other = client(&place);
    other.batch_execute("BEGIN; SELECT id FROM cutline_campaigns FOR UPDATE").unwrap();
    let error = campaign.ask(1, "worker", HOUR).unwrap_err();
    assert!(error.to_string().contains("(`statement_timeout` is 0.5 s)"), "{error}");
    assert!(matches!(error, StoreError::Database { .. }));
}

/// What a [`Proxy`] does with bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Forward,
    /// Forwards a commit, and closes both sides instead of forwarding its answer.
    LoseCommit,
    /// A commit was forwarded, and its answer is the next that the server sends.
    CommitSent,
    /// Takes bytes and forwards none.
    BlackHole,
}

/// A server between the store and PostgreSQL.
struct Proxy {
    address: String,
    mood: Arc<std::sync::Mutex<Mood>>,
}

impl Proxy {
    fn new(place: &Place) -> Self {
        let (login, server) = place.address.split_once('@').unwrap();
        let (server, database) = server.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{login}@{}/{database}", listener.local_addr().unwrap());
        let mood = Arc::new(std::sync::Mutex::new(Mood::Forward));
        let (server, shared) = (server.to_owned(), Arc::clone(&mood));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let (to_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let mood = Arc::clone(&shared);
                thread::spawn(move || forward(client, &to_server, &mood, true));
                let mood = Arc::clone(&shared);
                thread::spawn(move || forward(server, &to_client, &mood, false));
            }
        });
        Self { address, mood }
    }

    fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
}

fn forward(mut from: TcpStream, mut to: &TcpStream, mood: &std::sync::Mutex<Mood>, is_from_client: bool) {
    let mut buffer = [0; 8192];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..n];
        {
            let mut mood = mood.lock().unwrap();
            match *mood {
                Mood::BlackHole => continue,
                Mood::LoseCommit if is_from_client && bytes.windows(7).any(|word| word == b"COMMIT\0") => {
                    *mood = Mood::CommitSent;
                }
                Mood::CommitSent if !is_from_client => break,
                _ => (),
            }
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    drop(from.shutdown(Shutdown::Both));
    drop(to.shutdown(Shutdown::Both));
}

/// A commit whose answer is lost: the error says that nobody knows, and telling again is safe.
#[test]
fn a_lost_answer_is_admitted() {
    let place = Place::postgres();
    begin(&place, 10);
    let proxy = Proxy::new(&place);
    let mut campaign = open(&format!("{}?sslmode=disable", proxy.address));
    let ticket = campaign.ask(1, "worker", HOUR).unwrap().remove(0);
    proxy.set(Mood::LoseCommit);
    let error = campaign.tell(&[(ticket.number, 0.5)]).unwrap_err();
    assert!(matches!(error, StoreError::Unconfirmed { .. }), "{error:?}");
    assert!(error.to_string().ends_with("it is not known whether the change was saved"), "{error}");
    assert!(error.may_pass());
    let mut again = open(&place.address);
    assert_eq!(again.tell(&[(ticket.number, 0.5)]).unwrap(), 0, "it was saved, and counts once");
    assert_eq!(again.progress().unwrap().counted, 1);
    let other = again.tell(&[(ticket.number, 0.75)]).unwrap_err();
    assert!(matches!(other, StoreError::CampaignError(CampaignError::OtherReward { .. })), "{other}");
}

/// A server that falls silent on an open connection: the client's own limit ends the wait, reading and writing.
#[test]
fn silence_ends_the_wait() {
    let place = Place::postgres();
    begin(&place, 10);
    let proxy = Proxy::new(&place);
    let address = format!("{}?sslmode=disable&statement_timeout=500ms&connect_timeout=1", proxy.address);
    let (mut reader, mut writer) = (open_with_limits(&address), open_with_limits(&address));
    proxy.set(Mood::BlackHole);
    let error = reader.progress().unwrap_err();
    assert!(error.to_string().ends_with("the server has not answered for 0.5 s (`statement_timeout`)"), "{error}");
    let error = writer.ask(1, "worker", HOUR).unwrap_err();
    assert!(error.to_string().ends_with("(`statement_timeout`); nothing was saved"), "{error}");
    let error = writer.ask(1, "worker", HOUR).unwrap_err();
    assert!(error.to_string().contains("the connection was closed after an earlier failure"), "{error}");
    let error = Store::open(&address).unwrap_err();
    assert!(error.to_string().ends_with("the server did not answer within 1 s (`connect_timeout`)"), "{error}");
    assert_eq!(open(&place.address).ask(1, "worker", HOUR).unwrap()[0].number, 1, "nothing was written");
}

/// An interrupt cuts short a wait that is under way, and those that follow.
#[test]
fn an_interrupt_ends_the_wait() {
    let place = Place::postgres();
    begin(&place, 10);
    let interrupt = cutline_store::Interrupt::new();
    let mut campaign = OpenOptions::new().interrupt(&interrupt).open(&place.address).unwrap().campaign(None).unwrap();
    let mut other = client(&place);
    other.batch_execute("BEGIN; SELECT id FROM cutline_campaigns FOR UPDATE").unwrap();
    let asker = thread::spawn(move || campaign.ask(1, "worker", HOUR));
    wait_for_lock(&mut client(&place));
    assert!(!interrupt.is_set());
    interrupt.shorten_waits(Duration::from_millis(100));
    let error = asker.join().unwrap().unwrap_err();
    assert!(error.to_string().ends_with("interrupted while waiting for the server; nothing was saved"), "{error}");
    assert!(interrupt.is_set());
    drop(other);
    assert_eq!(open(&place.address).progress().unwrap().events, 0);
}

/// Key-value pairs are an address too, and never a file.
#[test]
fn key_value_pairs_are_an_address() {
    let place = Place::postgres();
    let (server, database) = place.address.rsplit_once('/').unwrap();
    let (user, host) = server.strip_prefix("postgresql://").unwrap().split_once('@').unwrap();
    let (host, port) = host.split_once(':').unwrap();
    let address = format!("host={host} port={port} user={user} password='not needed' dbname={database}");
    Store::create(&address).unwrap().begin("screen", &settings(10), candidates()).unwrap();
    assert_eq!(open(&place.address).name(), "screen");
    assert!(!std::path::Path::new(&address).exists());
    let debug = format!("{:?} {:?}", Store::open(&address), open(&address));
    assert!(!debug.contains("not needed"), "{debug}");
}
