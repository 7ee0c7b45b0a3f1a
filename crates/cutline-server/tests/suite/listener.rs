//! A server with real connections: TLS, slow clients, an end that loses nothing.

use crate::common::{PATIENCE, Place, screen, wait_for};
use cutline_campaign::AnyCampaign;
use cutline_server::{AppState, Limits, serve, tls};
use cutline_store::Store;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A server on a free port.
pub struct Running {
    pub address: SocketAddr,
    end: Arc<Notify>,
    task: JoinHandle<()>,
}

pub async fn start(place: &Place, limits: Limits, tls: Option<TlsAcceptor>) -> Running {
    let state = AppState::new(Store::create(&place.address).unwrap(), limits, true).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let end = Arc::new(Notify::new());
    let ended = Arc::clone(&end);
    let task = tokio::spawn(async move { serve(listener, state, tls, async move { ended.notified().await }).await });
    Running { address, end, task }
}

/// Sends a request, the last one on its connection. The server may have closed it already.
async fn send(stream: &mut (impl AsyncWriteExt + Unpin), method: &str, path: &str, body: &str) {
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    drop(stream.write_all(text.as_bytes()).await);
}

/// Everything that is left to read until the server closes the connection; how it closes does not matter.
pub async fn rest(stream: &mut (impl AsyncReadExt + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
    assert!(read.is_ok(), "the server has not closed the connection");
    bytes
}

/// A request on a connection of its own, and the whole answer.
async fn request(
    stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin),
    method: &str,
    path: &str,
    body: &str,
) -> String {
    send(stream, method, path, body).await;
    String::from_utf8_lossy(&rest(stream).await).into_owned()
}

pub async fn fetch(address: SocketAddr, method: &str, path: &str, body: &str) -> String {
    request(&mut TcpStream::connect(address).await.unwrap(), method, path, body).await
}

/// Connections on which the beginning of a request was sent.
async fn slow_clients(server: &Running) -> Vec<TcpStream> {
    let mut slow = Vec::new();
    for _ in 0..19 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        drop(stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localh").await);
        slow.push(stream);
    }
    slow
}

/// Nothing ends the slow clients of this server while others are answered.
#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_do_not_hold_others_up() {
    let place = Place::sqlite();
    let server = start(&place, Limits { headers: 2 * PATIENCE, connections: 20, ..Limits::default() }, None).await;
    let slow = slow_clients(&server).await;
    for path in ["/healthz", "/readyz"] {
        assert!(fetch(server.address, "GET", path, "").await.starts_with("HTTP/1.1 200"));
    }
    drop(slow);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_and_garbage_are_cut_off() {
    let place = Place::sqlite();
    let limits = Limits { headers: Duration::from_millis(300), connections: 20, ..Limits::default() };
    let server = start(&place, limits, None).await;
    for mut stream in slow_clients(&server).await {
        rest(&mut stream).await;
    }
    for garbage in
        ["\r\n\r\n\u{1}\u{2}", "GET / HTTP/9.9\r\n\r\n", "POST /v1/campaigns HTTP/1.1\r\ncontent-length: -1\r\n\r\n"]
    {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        drop(stream.write_all(garbage.as_bytes()).await);
        assert!(!rest(&mut stream).await.starts_with(b"HTTP/1.1 5"));
    }
    // On a busy machine, an honest client may be too slow as well.
    let is_ready = async || fetch(server.address, "GET", "/readyz", "").await.starts_with("HTTP/1.1 200");
    wait_for("answer", is_ready).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let place = Place::sqlite();
    let server = start(&place, Limits { request: Duration::from_millis(300), ..Limits::default() }, None).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /v1/campaigns HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ending_server_answers_what_it_has_begun() {
    let place = Place::sqlite();
    let server = start(&place, Limits::default(), None).await;
    let begun = fetch(server.address, "POST", "/v1/campaigns", &screen("screen", 90).to_string()).await;
    assert!(begun.starts_with("HTTP/1.1 201"), "{begun}");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET /v1/campaigns/screen/stream HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    let mut campaign = Store::open(&place.address).unwrap().campaign(None).unwrap();
    let mut asks = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        send(&mut stream, "POST", "/v1/campaigns/screen/asks", "{\"worker\": \"w\"}").await;
        asks.push(stream);
    }
    wait_for("ticket", async || campaign.progress().unwrap().open > 0).await;
    server.end.notify_one();
    let mut answered = 0;
    for stream in &mut asks {
        answered += usize::from(rest(stream).await.starts_with(b"HTTP/1.1 200"));
    }
    tokio::time::timeout(PATIENCE, server.task).await.expect("streams end, too").unwrap();
    assert_eq!(campaign.progress().unwrap().open, answered);
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_encrypted_with_tls() {
    let place = Place::sqlite();
    let directory = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = start(&place, Limits::default(), Some(tls(&certificate, &key).unwrap())).await;
    let mut roots = tokio_rustls::rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = tokio_rustls::rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(server.address).await.unwrap();
    let name = tokio_rustls::rustls::pki_types::ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, stream).await.unwrap();
    assert!(request(&mut stream, "GET", "/healthz", "").await.starts_with("HTTP/1.1 200"));
    assert!(!fetch(server.address, "GET", "/healthz", "").await.contains("200"), "not without TLS");
    let swapped = tls(&key, &certificate).err().unwrap().to_string();
    assert!(swapped.contains("no certificate in PEM format"), "{swapped}");
    let missing = tls(&directory.path().join("none.pem"), &key).err().unwrap().to_string();
    assert!(missing.starts_with("cannot read ") && missing.contains("none.pem"), "{missing}");
}
