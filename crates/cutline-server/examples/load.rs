//! `make load`: asks and tells per second over HTTP, compared with bare commits to the same kind of store.
//!
//! Serves a campaign on a loopback address and lets 1 and 64 workers, each with a connection of its own, ask for tickets and tell their rewards, in
//! batches of 1 and 16. Prints a row per case: tickets acknowledged per second and the median and 99th percentile of the time of a request.

use cutline_server::{AppState, Limits, serve};
use cutline_store::{Candidates, Settings, Store};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// How long each case is measured.
const MEASURED: Duration = Duration::from_secs(3);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A connection that is kept alive.
struct Client(BufReader<TcpStream>);

impl Client {
    async fn connect(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// The answer to a request, and how long it took.
    async fn post(&mut self, path: &str, body: &Value) -> Result<(Value, Duration), Failure> {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let begun = Instant::now();
        self.0.get_mut().write_all(request.as_bytes()).await?;
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            self.0.read_line(&mut line).await?;
            let header = line.trim_end().to_ascii_lowercase();
            if let Some(found) = header.strip_prefix("content-length:") {
                length = found.trim().parse()?;
            }
            if header.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        self.0.read_exact(&mut answer).await?;
        Ok((serde_json::from_slice(&answer)?, begun.elapsed()))
    }
}

/// The times of requests of one kind, and how many tickets they were about.
#[derive(Default)]
struct Measured {
    times: Vec<Duration>,
    tickets: usize,
}

impl Measured {
    fn row(&mut self, what: &str, elapsed: Duration) -> String {
        self.times.sort_unstable();
        let at = |share: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in the list")]
            let position = (share * (self.times.len().max(1) - 1) as f64) as usize;
            self.times.get(position).copied().unwrap_or_default().as_secs_f64() * 1e3
        };
        let rate = self.tickets as f64 / elapsed.as_secs_f64();
        format!("{what:<28}{rate:>12.0}/s   p50 {:>8.2} ms   p99 {:>8.2} ms", at(0.5), at(0.99))
    }
}

/// Workers that ask and tell until the time is over: asks, tells.
async fn play(address: SocketAddr, workers: usize, batch: usize) -> Result<(Measured, Measured, Duration), Failure> {
    let begun = Instant::now();
    let worker = |number: usize| async move {
        let mut client = Client::connect(address).await?;
        let (mut asks, mut tells) = (Measured::default(), Measured::default());
        while begun.elapsed() < MEASURED {
            let ask = json!({"count": batch, "worker": format!("w {number}")});
            let (asked, time) = client.post("/v1/campaigns/load/asks", &ask).await?;
            asks.times.push(time);
            let tickets = asked["tickets"].as_array().ok_or("no tickets")?;
            asks.tickets += tickets.len();
            let reward = |ticket: &Value| {
                let number = ticket["ticket"].as_f64().unwrap_or_default();
                json!({"ticket": ticket["ticket"], "reward": (number * 0.7).sin()})
            };
            let rewards: Vec<Value> = tickets.iter().map(reward).collect();
            let (told, time) = client.post("/v1/campaigns/load/tells", &json!(rewards)).await?;
            tells.times.push(time);
            tells.tickets += usize::try_from(told["changed"].as_u64().ok_or("not told")?)?;
        }
        Ok::<_, Failure>((asks, tells))
    };
    let tasks: Vec<_> = (0..workers).map(|number| tokio::spawn(worker(number))).collect();
    let (mut asks, mut tells) = (Measured::default(), Measured::default());
    for task in tasks {
        let (asked, told) = task.await??;
        for (all, one) in [(&mut asks, asked), (&mut tells, told)] {
            all.times.extend(one.times);
            all.tickets += one.tickets;
        }
    }
    Ok((asks, tells, begun.elapsed()))
}

/// Commits of one small row per second, without anything else.
fn bare_commits(path: &std::path::Path) -> Result<f64, Failure> {
    let connection = rusqlite::Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (x)")?;
    let (begun, mut n) = (Instant::now(), 0);
    while begun.elapsed() < MEASURED {
        connection.execute("INSERT INTO rows VALUES (1)", [])?;
        n += 1;
    }
    Ok(f64::from(n) / begun.elapsed().as_secs_f64())
}

fn begin(address: &str) -> Result<Store, Failure> {
    let store = Store::create(address)?;
    let names = (0..200).map(|arm| format!("arm {arm}")).collect();
    let features = (0..800).map(|i| f64::from((i * 7919) % 1000) / 500.0 - 1.0).collect();
    let candidates = Candidates::new(names, ["a", "b", "c", "d"].map(String::from).to_vec(), features)?;
    let mut settings = Settings::new(0.1, u32::MAX);
    // The time of the store and the server is to be measured, not that of the model.
    settings.model = Some(cutline_store::CampaignModel::Independent);
    settings.noise = Some(1.0);
    store.begin("load", &settings, candidates)?;
    Ok(store)
}

fn main() -> Result<(), Failure> {
    let directory = tempfile::tempdir_in(std::env::current_dir()?)?;
    println!("bare commits, SQLite full: {:.0}/s", bare_commits(&directory.path().join("bare.db"))?);
    let mut stores = vec![("SQLite full", directory.path().join("load.db").display().to_string())];
    if let Ok(server) = std::env::var("CUTLINE_TEST_POSTGRES") {
        stores.push(("PostgreSQL", format!("{server}/postgres")));
    }
    let runtime = tokio::runtime::Runtime::new()?;
    for (name, address) in stores {
        println!("{name}");
        let state = AppState::new(begin(&address)?, Limits::default(), true, None)?;
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            tokio::spawn(serve(listener, state, None, std::future::pending()));
            for (workers, batch) in [(1, 1), (64, 1), (1, 16), (64, 16)] {
                let (mut asks, mut tells, elapsed) = play(address, workers, batch).await?;
                let case = format!("{workers} workers × {batch}");
                println!("  {}", asks.row(&format!("{case}, asks"), elapsed));
                println!("  {}", tells.row(&format!("{case}, tells"), elapsed));
            }
            Ok::<_, Failure>(())
        })?;
    }
    Ok(())
}
