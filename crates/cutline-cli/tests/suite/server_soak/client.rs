//! A client that keeps its connection alive, and repeats requests until they are answered.

use crate::common::process::PATIENCE;
use serde_json::Value;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Who speaks to a server.
pub struct Client {
    address: String,
    token: String,
    connection: Option<BufReader<TcpStream>>,
    /// How long each request took that was answered at the first try.
    pub times: Vec<Duration>,
    /// How many requests got no answer, or were asked to come again.
    pub n_repeated: u64,
}

impl Client {
    pub fn new(address: &str, token: &str) -> Self {
        let (address, token) = (address.to_owned(), token.to_owned());
        Self { address, token, connection: None, times: Vec::new(), n_repeated: 0 }
    }

    /// The status and the body of an answer.
    pub fn send(&mut self, method: &str, path: &str, key: Option<&str>, body: &str) -> std::io::Result<(u16, String)> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => BufReader::new(TcpStream::connect(&self.address)?),
        };
        connection.get_ref().set_read_timeout(Some(PATIENCE))?;
        connection.get_ref().set_nodelay(true)?;
        let key = key.map_or_else(String::new, |key| format!("idempotency-key: {key}\r\n"));
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n{key}\
             content-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        connection.get_mut().write_all(request.as_bytes())?;
        let (mut head, mut length, mut is_kept) = (String::new(), 0, true);
        loop {
            let before = head.len();
            if connection.read_line(&mut head)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let line = head[before..].trim_end().to_ascii_lowercase();
            if let Some(found) = line.strip_prefix("content-length:") {
                length = found.trim().parse().map_err(|_| ErrorKind::InvalidData)?;
            }
            is_kept &= line != "connection: close";
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(ErrorKind::InvalidData)?;
        self.connection = Some(connection).filter(|_| is_kept);
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }

    /// The answer to a request that must succeed, however often it has to be repeated.
    pub fn insist(&mut self, path: &str, key: Option<&str>, body: &Value) -> Value {
        let (begun, body) = (Instant::now(), body.to_string());
        for tries in 0.. {
            let start = Instant::now();
            match self.send("POST", path, key, &body) {
                Ok((200 | 201, answer)) => {
                    if tries == 0 {
                        self.times.push(start.elapsed());
                    }
                    return serde_json::from_str(&answer).unwrap();
                }
                // A connection that was idle may be closed at any time, and a server that was killed is back soon.
                Ok((503, _)) | Err(_) => {
                    self.n_repeated += 1;
                    assert!(begun.elapsed() < PATIENCE, "{path} {body}: no answer");
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok((status, answer)) => panic!("{path} {body}: {status}: {answer}"),
            }
        }
        unreachable!("it is repeated until it is answered")
    }
    /// Deletes something, however often that has to be repeated.
    pub fn remove(&mut self, path: &str) {
        let begun = Instant::now();
        // If the answer to an earlier try was lost, it is gone.
        while !matches!(self.send("DELETE", path, None, ""), Ok((200..=299 | 404, _))) {
            assert!(begun.elapsed() < PATIENCE, "{path} is not deleted");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
