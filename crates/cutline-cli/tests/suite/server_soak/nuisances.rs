//! Clients that only watch, and clients that nobody wants.

use super::client::Client;
use super::{Site, encoded};
use crate::nothing_is_lost::Random;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Scope;
use std::time::Duration;

/// How many connections are half open at a time.
const HALF_OPEN: usize = 60;

/// What is not HTTP, or not all of it.
const GARBAGE: [&[u8]; 7] = [
    b"\r\n\r\n\x01\x02\xff\xfe",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /v1/campaigns HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
    b"POST /v1/campaigns HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    b"GET /v1/campaigns/%ff%00 HTTP/1.1\r\nhost: x\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x09\x09\x09\x09\x09\x09",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
];

pub fn start<'scope>(site: &'scope Site, scope: &'scope Scope<'scope, '_>) {
    let clients: [fn(&Site, &mut Random, &mut Vec<TcpStream>); 5] =
        [stream, read, guess_token, send_garbage, leave_half_open];
    for (seed, client) in (1..).zip(clients) {
        scope.spawn(move || {
            let (mut random, mut connections) = (Random(seed), Vec::new());
            while !site.is_over.load(Relaxed) {
                client(site, &mut random, &mut connections);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    }
}

fn campaign(site: &Site) -> String {
    encoded(&site.current.lock().unwrap())
}

/// A connection, unless the server is gone at the moment.
fn connect(site: &Site) -> Option<TcpStream> {
    let stream = TcpStream::connect(&site.address).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(500))).ok()?;
    Some(stream)
}

/// Follows a stream for a moment, and drops it.
fn stream(site: &Site, random: &mut Random, _: &mut Vec<TcpStream>) {
    let Some(mut stream) = connect(site) else { return };
    let request = format!(
        "GET /v1/campaigns/{}/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
        campaign(site),
        site.token
    );
    if stream.write_all(request.as_bytes()).is_ok() && stream.read(&mut [0; 512]).is_ok() {
        std::thread::sleep(Duration::from_millis(random.below(200)));
        site.figures.streams.fetch_add(1, Relaxed);
    }
}

/// Reads a page. The campaign may be deleted meanwhile.
fn read(site: &Site, random: &mut Random, _: &mut Vec<TcpStream>) {
    let campaign = campaign(site);
    let pages = [
        "/".into(),
        "/metrics".into(),
        "/v1/campaigns".into(),
        format!("/campaigns/{campaign}"),
        format!("/v1/campaigns/{campaign}/report"),
        format!("/v1/campaigns/{campaign}/verdicts"),
        format!("/v1/campaigns/{campaign}/events?after=10"),
        format!("/v1/campaigns/{campaign}/figure.svg"),
    ];
    let path: &String = &pages[usize::try_from(random.below(pages.len() as u64)).unwrap()];
    if let Ok((status, answer)) = Client::new(&site.address, &site.token).send("GET", path, None, "") {
        assert!(status < 500 || status == 503, "{path}: {status}: {answer}");
        site.figures.pages.fetch_add(1, Relaxed);
    }
}

fn guess_token(site: &Site, random: &mut Random, _: &mut Vec<TcpStream>) {
    let mut client = Client::new(&site.address, &format!("cutline_{:032x}", random.below(u64::MAX)));
    for _ in 0..20 {
        if let Ok((status, answer)) = client.send("GET", "/v1/campaigns", None, "") {
            assert_eq!(status, 401, "{answer}");
            site.figures.wrong_tokens.fetch_add(1, Relaxed);
        }
    }
}

fn send_garbage(site: &Site, random: &mut Random, _: &mut Vec<TcpStream>) {
    let Some(mut stream) = connect(site) else { return };
    let garbage = GARBAGE[usize::try_from(random.below(GARBAGE.len() as u64)).unwrap()];
    if stream.write_all(garbage).is_ok() {
        drop(stream.read(&mut [0; 512]));
        site.figures.garbage.fetch_add(1, Relaxed);
    }
}

/// Sends a part of a request, or nothing, and leaves the connection open for a while.
fn leave_half_open(site: &Site, random: &mut Random, connections: &mut Vec<TcpStream>) {
    let Some(mut stream) = connect(site) else { return };
    let request =
        b"POST /v1/campaigns HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n{";
    let part = &request[..usize::try_from(random.below(request.len() as u64 + 1)).unwrap()];
    if stream.write_all(part).is_ok() {
        site.figures.half_open.fetch_add(1, Relaxed);
        connections.push(stream);
    }
    if connections.len() > HALF_OPEN {
        drop(connections.remove(0));
    }
}
