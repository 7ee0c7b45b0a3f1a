//! One measurement: a process, in a group of its own, that is told of its ticket and prints a reward.

use super::guard::Guard;
use super::tail::{Followed, Tail, follow};
use cutline::diagnostics::MOST_REWARD;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How long a process has to end once it is asked to.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// How long to wait for the end of the output when the process has ended and others keep it open.
const LINGER: Duration = Duration::from_secs(1);

/// How much of the output is kept, to find its last line, and of what it says on stderr.
const MOST_OUTPUT: usize = 1 << 16;
const MOST_COMPLAINT: usize = 2048;

/// What a measurement hears while its process works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The process has ended.
    Ended,
    /// It is to end, and has time to do so.
    End,
    /// It is to end now.
    Kill,
}

/// How a measurement ended.
#[derive(Debug)]
pub(super) enum Measured {
    Reward(f64),
    /// There is no reward, and why.
    Failed(String),
    /// It was ended before it had one.
    Stopped,
    /// The command cannot be started.
    NotStarted(std::io::Error),
}

/// Measures once: starts a command, gives it `input` and waits for it, with an ear on the news; its own end comes that way too.
pub(super) fn measure(
    mut command: Command,
    input: String,
    timeout: Option<Duration>,
    news: &Receiver<News>,
    sender: &Sender<News>,
    guard: &Guard,
) -> Measured {
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Measured::NotStarted(error),
    };
    let group = Pid::from_child(&child);
    guard.watch(group);
    give(&mut child, input);
    let output = follow(child.stdout.take().expect("it is piped"), MOST_OUTPUT);
    let complaint = follow(child.stderr.take().expect("it is piped"), MOST_COMPLAINT);
    watch(group, sender.clone());
    let cause = wait(group, timeout, news);
    let has_ended = |patience| output.ends_within(patience) && complaint.ends_within(patience);
    if cause != Cause::Itself || !has_ended(LINGER) {
        // Others of the group may keep the output open. The group's number is ours until we have waited for the process.
        signal(group, Signal::KILL);
        has_ended(LINGER);
    }
    guard.release(group);
    let status = child.wait();
    let failed = |what: String| Measured::Failed(with_complaint(what, &complaint));
    match (cause, status) {
        (Cause::Order, _) => Measured::Stopped,
        (Cause::Timeout, _) => failed(format!("it took longer than {} seconds", timeout.unwrap_or_default().as_secs())),
        (Cause::Itself, Err(error)) => failed(format!("it cannot be waited for: {error}")),
        (Cause::Itself, Ok(status)) if !status.success() => failed(exit_reason(status)),
        (Cause::Itself, Ok(_)) => output.look(reward).map_or_else(failed, Measured::Reward),
    }
}

/// Why a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Itself,
    Timeout,
    Order,
}

/// Waits for a process to end and helps it along, once it has to.
fn wait(group: Pid, timeout: Option<Duration>, news: &Receiver<News>) -> Cause {
    let mut cause = Cause::Itself;
    let mut deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        let heard = match deadline {
            Some(deadline) => news.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            None => news.recv().map_err(RecvTimeoutError::from),
        };
        let is_asked = cause != Cause::Itself;
        match heard {
            Ok(News::Ended) => return cause,
            Ok(News::Kill) => {
                (cause, deadline) = (Cause::Order, None);
                signal(group, Signal::KILL);
            }
            Ok(News::End) if is_asked => cause = Cause::Order,
            Err(_) if is_asked => {
                deadline = None;
                signal(group, Signal::KILL);
            }
            Ok(News::End) | Err(_) => {
                cause = if heard.is_ok() { Cause::Order } else { Cause::Timeout };
                deadline = Some(Instant::now() + GRACE);
                signal(group, Signal::TERM);
            }
        }
    }
}

/// Writes the input. A process that does not read it is fine, and so is one that waits before it does.
fn give(child: &mut Child, input: String) {
    let mut stdin = child.stdin.take().expect("it is piped");
    std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
}

/// Says when a process has ended, and leaves it to be waited for.
fn watch(process: Pid, sender: Sender<News>) {
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(process), options), Err(Errno::INTR)) {}
        let _ = sender.send(News::Ended);
    });
}

/// A group that is gone needs no signal.
pub(super) fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

fn exit_reason(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended badly".into(),
    }
}

fn with_complaint(what: String, complaint: &Followed) -> String {
    match complaint.look(Tail::in_one_line) {
        line if line.is_empty() => what,
        line => format!("{what}: {line}"),
    }
}

/// The last line of the output, as a reward.
fn reward(output: &mut Tail) -> Result<f64, String> {
    let shown = |line: &str| line.chars().filter(|c| !c.is_control()).take(60).collect::<String>();
    let line = match output.last_line() {
        Ok(Some(line)) => line,
        Ok(None) => return Err("it printed no reward".into()),
        Err(_) => return Err(format!("the last line it printed is no number: it has over {MOST_OUTPUT} bytes")),
    };
    match line.parse::<f64>() {
        Ok(reward) if reward.abs() <= MOST_REWARD => Ok(reward),
        Ok(_) => Err(format!("it printed `{}`, and a reward must be between -1e140 and 1e140", shown(&line))),
        Err(_) => Err(format!("the last line it printed is no number: `{}`", shown(&line))),
    }
}
