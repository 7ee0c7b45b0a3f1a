//! Workers that ask and tell, each on a connection of its own that is kept alive. They do as little as possible besides, because they share
//! the processors with the server.

use crate::Failure;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The times of requests of one kind, and how many tickets they were about.
#[derive(Default)]
pub struct Measured {
    times: Vec<Duration>,
    pub tickets: usize,
}

impl Measured {
    fn add(&mut self, (tickets, time): (usize, Duration)) {
        self.times.push(time);
        self.tickets += tickets;
    }

    /// The time in milliseconds within which a share of the requests was answered.
    pub fn within(&mut self, share: f64) -> f64 {
        self.times.sort_unstable();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in the list")]
        let position = (share * (self.times.len().max(1) - 1) as f64) as usize;
        self.times.get(position).copied().unwrap_or_default().as_secs_f64() * 1e3
    }

    pub fn join(&mut self, other: Self) {
        self.times.extend(other.times);
        self.tickets += other.tickets;
    }
}

/// A worker of the campaign `load`.
pub struct Worker {
    stream: TcpStream,
    name: usize,
    bytes: Vec<u8>,
}

impl Worker {
    pub async fn connect(address: SocketAddr, name: usize) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, name, bytes: Vec::new() })
    }

    /// Asks for tickets: their numbers, and how long it took.
    pub async fn ask(&mut self, n: usize) -> Result<(Vec<u64>, Duration), Failure> {
        let body = format!("{{\"count\":{n},\"worker\":\"w {}\",\"lease_seconds\":86400}}", self.name);
        let time = self.post("asks", &body).await?;
        let answer = std::str::from_utf8(&self.bytes)?;
        let numbers = answer.split("\"ticket\":").skip(1).map(leading_number);
        Ok((numbers.collect::<Result<_, _>>()?, time))
    }

    /// Tells the rewards of tickets: how many are new, and how long it took.
    pub async fn tell(&mut self, tickets: &[u64]) -> Result<(usize, Duration), Failure> {
        let reward = |ticket: &u64| {
            let reward = (*ticket as f64 * 0.7).sin();
            format!("{{\"ticket\":{ticket},\"reward\":{reward}}}")
        };
        let rewards: Vec<String> = tickets.iter().map(reward).collect();
        let time = self.post("tells", &format!("[{}]", rewards.join(","))).await?;
        let answer = std::str::from_utf8(&self.bytes)?;
        let changed = answer.split("\"changed\":").nth(1).ok_or("the answer does not say what has changed")?;
        Ok((usize::try_from(leading_number(changed)?)?, time))
    }

    /// Sends a request; the body of the answer is in `bytes` then. Returns how long it took.
    async fn post(&mut self, what: &str, body: &str) -> Result<Duration, Failure> {
        let request = format!(
            "POST /v1/campaigns/load/{what} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let begun = Instant::now();
        self.stream.write_all(request.as_bytes()).await?;
        self.bytes.clear();
        let end = loop {
            if self.stream.read_buf(&mut self.bytes).await? == 0 {
                return Err("the server has closed the connection".into());
            }
            if let Some(end) = self.bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let head = std::str::from_utf8(&self.bytes[..end])?;
        if !head.starts_with("HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(&self.bytes).into());
        }
        let length = head.split("content-length: ").nth(1).ok_or("the answer has no length")?;
        let length = end + usize::try_from(leading_number(length)?)?;
        while self.bytes.len() < length {
            if self.stream.read_buf(&mut self.bytes).await? == 0 {
                return Err("the answer breaks off".into());
            }
        }
        let time = begun.elapsed();
        self.bytes.drain(..end);
        Ok(time)
    }

    /// Asks and tells until the end.
    pub async fn ask_and_tell(mut self, batch: usize, end: Instant) -> Result<[Measured; 2], Failure> {
        let [mut asks, mut tells] = [Measured::default(), Measured::default()];
        while Instant::now() < end {
            let (tickets, time) = self.ask(batch).await?;
            asks.add((tickets.len(), time));
            tells.add(self.tell(&tickets).await?);
        }
        Ok([asks, tells])
    }

    /// Tells the rewards of tickets that were asked for before, until the end or until there are no more.
    pub async fn tell_all(mut self, tickets: Vec<u64>, batch: usize, end: Instant) -> Result<[Measured; 2], Failure> {
        let mut tells = Measured::default();
        for tickets in tickets.chunks(batch) {
            if Instant::now() >= end {
                break;
            }
            tells.add(self.tell(tickets).await?);
        }
        Ok([Measured::default(), tells])
    }
}

fn leading_number(text: &str) -> Result<u64, Failure> {
    let digits = text.split(|character: char| !character.is_ascii_digit()).next().unwrap_or_default();
    Ok(digits.parse()?)
}
