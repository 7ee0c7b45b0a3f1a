//! What a change of a campaign on a server transfers: the request and its answer, not the campaign.

use crate::common::Place;
use crate::serve::Server;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// More than all requests and answers of one command may have together, and far less than the arms of the campaign have.
const MOST: u64 = 20_000;

const N_ARMS: usize = 20_000;

/// A proxy to a server, and the number of bytes that went through it in both directions.
fn counting_proxy(server: &str) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, server) = (listener.local_addr().unwrap().to_string(), server.to_owned());
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, upstream) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            for (from, to) in [(&client, &upstream), (&upstream, &client)] {
                let (from, to, counted) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&counted));
                std::thread::spawn(move || pump(from, to, &counted));
            }
        }
    });
    (address, count)
}

fn pump(mut from: TcpStream, mut to: TcpStream, counted: &AtomicU64) {
    let mut bytes = vec![0; 65536];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        // Before they are passed on, so that whoever has an answer finds its bytes counted.
        counted.fetch_add(n as u64, Ordering::SeqCst);
        if to.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
}

#[test]
fn a_change_transfers_a_request_and_its_answer() {
    let place = Place::new();
    let mut table = String::from("name,x\n");
    for arm in 0..N_ARMS {
        writeln!(table, "arm {arm},{}", arm as f64 / N_ARMS as f64).unwrap();
    }
    place.write("arms.csv", &table);
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "0.5", "--budget", "50", "--model", "linear"]);
    let server = Server::start(&place, &[]);
    let (proxy, count) = counting_proxy(server.address());
    let url = format!("http://{proxy}/v1/campaigns/arms");
    let transferred = |command: &str, args: &[&str]| {
        count.store(0, Ordering::SeqCst);
        let ran = place.run(&[&[command, &url], args].concat());
        (ran.code, ran.stderr, count.load(Ordering::SeqCst))
    };
    place.write("rewards.csv", "ticket,reward\n6,0.5\n5,0.25\n5,0.5\n");
    for (command, args, said) in [
        ("ask", &["-n", "4"][..], ""),
        ("ask", &["--replicates", "2"], ""),
        ("tell", &["1", "0.5"], "1 reward recorded; 49 to go\n"),
        ("tell", &["2", "0.25", "3", "0.5"], "2 rewards recorded; 47 to go\n"),
        ("tell", &["5", "0.25", "0.5"], "2 rewards recorded (ticket 5: 0.25, 0.5); 45 to go\n"),
        ("tell", &["--file", "rewards.csv"], "0 rewards recorded, 3 already known; 45 to go\n"),
        ("tell", &["--fail", "4"], "ticket 4 recorded as failed; 45 to go\n"),
        ("amend", &["1", "0.75"], "1 reward corrected; 45 to go\n"),
        ("amend", &["--void", "5"], "1 reward taken out (the other replicate, ticket 6, stays as it is); 46 to go\n"),
    ] {
        let (code, stderr, bytes) = transferred(command, args);
        assert_eq!((code, stderr.as_str()), (Some(0), said), "{command} {args:?}");
        assert!((1..MOST).contains(&bytes), "{command} {args:?}: {bytes} bytes");
    }
    for args in [&["2", "0.5"][..], &["77", "0.5"], &["--fail", "2"], &["4", "0.5"]] {
        let (code, stderr, bytes) = transferred("tell", args);
        assert_eq!((code, &stderr), (Some(1), &place.run(&[&["tell", "screen.db"], args].concat()).stderr), "{args:?}");
        assert!((1..MOST).contains(&bytes), "{args:?}: {bytes} bytes");
    }
    let (code, _, bytes) = transferred("status", &[]);
    assert!(code == Some(0) && bytes > MOST, "what computes verdicts here needs the campaign: {bytes} bytes");
    assert_eq!(server.end(), Some(0));
}
