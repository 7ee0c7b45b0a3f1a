//! Clients that want to harm the server: it stays up, takes no more than its limits say, and answers honest requests.

use crate::common::{PATIENCE, Place, screen, wait_for};
use crate::listener::{Running, fetch, rest, start};
use cutline_server::{Limits, create_token};
use cutline_store::{Role, Store};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// So long that nothing but the server itself ends a connection during a test.
const NEVER: Duration = Duration::from_hours(10);

/// A connection on which something was sent.
async fn sent(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may have closed it already.
    drop(stream.write_all(bytes).await);
    stream
}

/// Some honest requests, which are answered.
async fn honest(server: &Running) {
    for _ in 0..15 {
        let answer = timeout(PATIENCE, fetch(server.address, "GET", "/healthz", "")).await.expect("no answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_make_room_for_others() {
    let place = Place::sqlite();
    let server = start(&place, Limits { connections: 60, headers: NEVER, ..Limits::default() }, None).await;
    let mut idle = Vec::new();
    for number in 0..1500 {
        let part: &[u8] = if number % 2 == 0 { b"" } else { b"GET /healthz HTTP/1.1\r\nhost: lo" };
        idle.push(sent(server.address, part).await);
    }
    honest(&server).await;
    // Whatever is still open has nothing to read.
    let is_open = |stream: &&TcpStream| {
        stream.try_read(&mut [0; 1]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    };
    wait_for("end of the idle connections", async || idle.iter().filter(is_open).count() <= 60).await;
}

/// A connection with a request in progress, such as a stream, is not idle.
#[tokio::test(flavor = "multi_thread")]
async fn busy_connections_are_not_closed_for_others() {
    let place = Place::sqlite();
    let server = start(&place, Limits { connections: 8, headers: NEVER, ..Limits::default() }, None).await;
    let begun = fetch(server.address, "POST", "/v1/campaigns", &screen("screen", 90).to_string()).await;
    assert!(begun.starts_with("HTTP/1.1 201"), "{begun}");
    let request = b"GET /v1/campaigns/screen/stream?after=0 HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut stream = sent(server.address, request).await;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(sent(server.address, b"GET").await);
    }
    let asked = fetch(server.address, "POST", "/v1/campaigns/screen/asks", "{\"worker\": \"w\"}").await;
    assert!(asked.starts_with("HTTP/1.1 200"), "{asked}");
    let mut seen = String::new();
    while !seen.contains("event: asked") {
        let mut part = [0; 1024];
        let n = timeout(PATIENCE, stream.read(&mut part)).await.expect("no event").unwrap();
        assert!(n > 0, "the stream was closed: {seen}");
        seen.push_str(&String::from_utf8_lossy(&part[..n]));
    }
}

/// Connections on which headers and bodies come slowly.
async fn slow_clients(server: &Running) -> Vec<TcpStream> {
    let mut slow = Vec::new();
    for number in 0..400 {
        let part: &[u8] = match number % 3 {
            0 => b"GET /healthz HTTP/1.1\r\nx: ",
            1 => b"POST /v1/campaigns HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
            _ => b"POST /v1/campaigns HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                   transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
        };
        slow.push(sent(server.address, part).await);
    }
    slow
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_headers_and_slow_bodies_are_cut_off() {
    let place = Place::sqlite();
    let limit = Duration::from_millis(700);
    let server = start(&place, Limits { headers: limit, request: limit, ..Limits::default() }, None).await;
    for mut stream in slow_clients(&server).await {
        // One more byte now and then does not help.
        drop(stream.write_all(b" ").await);
        let answer = rest(&mut stream).await;
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&answer));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_headers_and_slow_bodies_hold_nobody_up() {
    let place = Place::sqlite();
    let server = start(&place, Limits { headers: NEVER, request: NEVER, ..Limits::default() }, None).await;
    let slow = slow_clients(&server).await;
    honest(&server).await;
    drop(slow);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_cut_off() {
    const N: usize = 4000;
    let place = Place::sqlite();
    let server = start(&place, Limits { request: Duration::from_millis(700), ..Limits::default() }, None).await;
    let requests = "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(N);
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let (mut reading, mut writing) = stream.split();
    // The server does not take more requests than it can answer, so that writing ends when it closes the connection.
    let written = timeout(PATIENCE, async { while writing.write_all(requests.as_bytes()).await.is_ok() {} }).await;
    assert!(written.is_ok(), "the connection is still open");
    let mut answers = Vec::new();
    drop(timeout(PATIENCE, reading.read_to_end(&mut answers)).await.expect("it is closed"));
    let n_answers = String::from_utf8_lossy(&answers).matches("HTTP/1.1 200").count();
    assert!(n_answers < N, "{n_answers} answers");
    // With so short a limit, a busy machine may be too slow for an honest client now and then.
    let is_answered = async || fetch(server.address, "GET", "/healthz", "").await.starts_with("HTTP/1.1 200");
    wait_for("answer", is_answered).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_headers_and_bodies_are_refused_early() {
    let place = Place::sqlite();
    let limits = Limits { body: 1 << 20, small_body: 1 << 16, ..Limits::default() };
    let server = start(&place, limits, None).await;
    let begun = fetch(server.address, "POST", "/v1/campaigns", &screen("screen", 90).to_string()).await;
    assert!(begun.starts_with("HTTP/1.1 201"), "{begun}");
    let many = "x: y\r\n".repeat(10_000);
    let long = format!("x: {}\r\n", "y".repeat(2 << 20));
    for headers in [many, long] {
        let request = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        let answer = rest(&mut sent(server.address, request.as_bytes()).await).await;
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&answer));
    }
    for (path, kind) in [("/screen/asks", "application/json"), ("?name=t&threshold=0.5&budget=9", "text/csv")] {
        let head = format!("POST /v1/campaigns{path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n");
        let mut declared = sent(server.address, format!("{head}content-length: 99999999999\r\n\r\n").as_bytes()).await;
        let mut status = [0; 12];
        timeout(PATIENCE, declared.read_exact(&mut status)).await.expect("nothing was waited for").unwrap();
        assert_eq!(&status, b"HTTP/1.1 413", "{path}");
        // Without a length, it is refused once it is too long.
        let mut endless = sent(server.address, format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes()).await;
        let chunk = format!("{:x}\r\n{}\r\n", 1 << 16, "[".repeat(1 << 16));
        let mut n_sent = 0_u64;
        while n_sent < 1 << 30 && matches!(timeout(PATIENCE, endless.write_all(chunk.as_bytes())).await, Ok(Ok(()))) {
            n_sent += chunk.len() as u64;
        }
        assert!(n_sent < 1 << 28, "{path}: {n_sent} bytes were taken");
    }
    // Compressed requests are not decompressed.
    let bomb = "POST /v1/campaigns/screen/asks HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
                content-encoding: gzip\r\ncontent-length: 4\r\n\r\n\u{1f}\u{8}\u{8}\u{0}";
    let answer = rest(&mut sent(server.address, bomb.as_bytes()).await).await;
    assert!(answer.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&answer));
    honest(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_tokens_in_thousands_hold_nobody_up() {
    let place = Place::sqlite();
    let secret = create_token(&Store::create(&place.address).unwrap(), "ada", Role::Admin, None).unwrap();
    let server = start(&place, Limits::default(), None).await;
    let address = server.address;
    // The guesses go on while honest requests are answered.
    let are_answered = Arc::new(AtomicBool::new(false));
    let guess = |guesser: u32| {
        let are_answered = Arc::clone(&are_answered);
        async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            for number in 0.. {
                if number >= 500 && are_answered.load(Ordering::Relaxed) {
                    break;
                }
                let request = format!(
                    "GET /v1/campaigns HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer cutline_{guesser:08x}{number:056x}\r\n\r\n"
                );
                stream.write_all(request.as_bytes()).await.unwrap();
                let mut answer = vec![0; 4096];
                let n = stream.read(&mut answer).await.unwrap();
                assert!(answer[..n].starts_with(b"HTTP/1.1 401"), "{}", String::from_utf8_lossy(&answer[..n]));
            }
        }
    };
    let guessers: Vec<_> = (0..8).map(|guesser| tokio::spawn(guess(guesser))).collect();
    honest(&server).await;
    are_answered.store(true, Ordering::Relaxed);
    for guesser in guessers {
        guesser.await.unwrap();
    }
    let request = format!(
        "GET /v1/campaigns HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {secret}\r\n\r\n"
    );
    assert!(rest(&mut sent(address, request.as_bytes()).await).await.starts_with(b"HTTP/1.1 200"));
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// `GET /` of an authority `x`, as HPACK writes it.
const GET: &[u8] = &[0x82, 0x86, 0x84, 0x41, 0x01, b'x'];

#[tokio::test(flavor = "multi_thread")]
async fn rapid_resets_and_huge_header_lists_of_http_2_are_refused() {
    const GOAWAY: u8 = 7;
    let place = Place::sqlite();
    let server = start(&place, Limits::default(), None).await;
    let mut reset = PREFACE.to_vec();
    for stream in (0..50_000).map(|number| 2 * number + 1) {
        reset.extend(frame(1, 0b101, stream, GET));
        reset.extend(frame(3, 0, stream, &8_u32.to_be_bytes()));
    }
    // One list that never ends, in frames that continue it.
    let mut list = [PREFACE, &frame(1, 0b001, 1, GET)].concat();
    let header = [&[0x40, 0x01, b'y', 0x7f, 0x80, 0x7f][..], &[b'z'; 16_255]].concat();
    for _ in 0..400 {
        list.extend(frame(9, 0, 1, &header));
    }
    for attack in [reset, list] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let (mut reading, mut writing) = stream.split();
        let (_, read) = tokio::join!(writing.write_all(&attack), async {
            let mut bytes = Vec::new();
            timeout(PATIENCE, reading.read_to_end(&mut bytes)).await.map(|_| bytes)
        });
        let bytes = read.expect("the server has closed the connection");
        let mut kinds = Vec::new();
        let mut left = &bytes[..];
        while left.len() >= 9 {
            kinds.push(left[3]);
            let length = u32::from_be_bytes([0, left[0], left[1], left[2]]) as usize;
            left = left.get(9 + length..).unwrap_or_default();
        }
        assert!(kinds.contains(&GOAWAY) || kinds.len() < 200, "{} frames", kinds.len());
    }
    honest(&server).await;
}
