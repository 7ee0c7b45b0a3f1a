//! One measurement: a process, in a process group of its own, that gets its ticket and prints a reward.

use super::helper_thread::HelperThread;
use super::tail::{Tail, TailReader, read_tail};
use super::watchdog::Watchdog;
use cutline_campaign::MAX_REWARD;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How long a process may take to end after SIGTERM.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// How long to wait for the end of the output after the process has ended, in case other processes keep the output open.
const LINGER: Duration = Duration::from_secs(1);

/// How many bytes are kept of stdout, to find its last line, and of stderr.
const MAX_STDOUT: usize = 1 << 16;
const MAX_STDERR: usize = 2048;

/// A message to the thread of a measurement while its process is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// The process has ended.
    Ended,
    /// End the process, with time to clean up.
    Terminate,
    /// Kill the process.
    Kill,
}

/// The result of a measurement.
#[derive(Debug)]
pub(super) enum MeasurementResult {
    Reward(f64),
    /// There is no reward, for this reason.
    Failed(String),
    /// It was stopped before there was a reward.
    Stopped,
    /// The command cannot be started.
    NotStarted(std::io::Error),
    /// The system allows no more processes, threads, open files or memory for now; nothing was started.
    NoResources(std::io::Error),
}

/// Measures once: starts a command with `input` on its stdin and waits for it. Messages arrive at `receiver`; one of them says
/// that the process has ended, and is sent through `sender`.
pub(super) fn measure(
    mut command: Command,
    input: String,
    timeout: Option<Duration>,
    receiver: &Receiver<Control>,
    sender: &Sender<Control>,
    watchdog: &Watchdog,
) -> MeasurementResult {
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let [stdin, stdout, stderr, end] = match HelperThread::start_all() {
        Ok(threads) => threads,
        Err(error) => return MeasurementResult::NoResources(error),
    };
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if lacks_resources(&error) => return MeasurementResult::NoResources(error),
        Err(error) => return MeasurementResult::NotStarted(error),
    };
    let group = Pid::from_child(&child);
    watchdog.watch(group);
    write_stdin(stdin, &mut child, input);
    let stdout = read_tail(stdout, child.stdout.take().expect("stdio is piped"), MAX_STDOUT);
    let stderr = read_tail(stderr, child.stderr.take().expect("stdio is piped"), MAX_STDERR);
    report_end(end, group, sender.clone());
    let cause = wait(group, timeout, receiver);
    let output_ends = |timeout| stdout.ends_within(timeout) && stderr.ends_within(timeout);
    if cause != Cause::Itself || !output_ends(LINGER) {
        // Other processes of the group may keep the output open. The number of the group stays valid until the process is waited for.
        signal(group, Signal::KILL);
        output_ends(LINGER);
    }
    watchdog.release(group);
    let status = child.wait();
    let failed = |what: String| MeasurementResult::Failed(with_stderr(what, &stderr));
    match (cause, status) {
        (Cause::Stopped, _) => MeasurementResult::Stopped,
        (Cause::Timeout, _) => {
            failed(format!("the command took longer than {}", humantime::format_duration(timeout.unwrap_or_default())))
        }
        (Cause::Itself, Err(error)) => failed(format!("the exit code of the command is not known: {error}")),
        (Cause::Itself, Ok(status)) if !status.success() => failed(exit_reason(status)),
        (Cause::Itself, Ok(_)) => stdout.inspect(reward).map_or_else(failed, MeasurementResult::Reward),
    }
}

/// Why a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Itself,
    Timeout,
    Stopped,
}

/// Waits for a process to end, and ends it on a timeout or a message.
fn wait(group: Pid, timeout: Option<Duration>, receiver: &Receiver<Control>) -> Cause {
    let mut cause = Cause::Itself;
    let mut deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        let message = match deadline {
            Some(deadline) => receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            None => receiver.recv().map_err(RecvTimeoutError::from),
        };
        let is_ending = cause != Cause::Itself;
        match message {
            Ok(Control::Ended) => return cause,
            Ok(Control::Kill) => {
                (cause, deadline) = (Cause::Stopped, None);
                signal(group, Signal::KILL);
            }
            Ok(Control::Terminate) if is_ending => cause = Cause::Stopped,
            Err(_) if is_ending => {
                deadline = None;
                signal(group, Signal::KILL);
            }
            Ok(Control::Terminate) | Err(_) => {
                cause = if message.is_ok() { Cause::Stopped } else { Cause::Timeout };
                deadline = Some(Instant::now() + GRACE);
                signal(group, Signal::TERM);
            }
        }
    }
}

/// Writes the input in a thread: a process may read it late or not at all.
fn write_stdin(thread: HelperThread, child: &mut Child, input: String) {
    let mut stdin = child.stdin.take().expect("stdio is piped");
    thread.run(move || drop(stdin.write_all(input.as_bytes())));
}

/// Whether a process could not be started because the system allows no more for now.
fn lacks_resources(error: &std::io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE))
}

/// Sends a message when a process has ended, without reaping it.
fn report_end(thread: HelperThread, process: Pid, sender: Sender<Control>) {
    thread.run(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(process), options), Err(Errno::INTR)) {}
        let _ = sender.send(Control::Ended);
    });
}

/// Sends a signal to a process group, which may have ended.
pub(super) fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

fn exit_reason(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("the command exited with code {code}"),
        (None, Some(signal)) => format!("the command was killed by signal {signal}"),
        (None, None) => "the command ended abnormally".into(),
    }
}

fn with_stderr(what: String, stderr: &TailReader) -> String {
    match stderr.inspect(Tail::in_one_line) {
        line if line.is_empty() => what,
        line => format!("{what}: {line}"),
    }
}

/// The reward on the last line of stdout.
fn reward(output: &mut Tail) -> Result<f64, String> {
    let excerpt = |line: &str| line.chars().filter(|c| !c.is_control()).take(60).collect::<String>();
    let line = match output.last_line() {
        Ok(Some(line)) => line,
        Ok(None) => return Err("the command printed no reward".into()),
        Err(_) => {
            return Err(format!(
                "the last line that the command printed is not a number: it has over {MAX_STDOUT} bytes"
            ));
        }
    };
    match line.parse::<f64>() {
        Ok(reward) if reward.abs() <= MAX_REWARD => Ok(reward),
        Ok(_) => Err(format!("the command printed `{}`, and a reward must be between -1e80 and 1e80", excerpt(&line))),
        Err(_) => Err(format!("the last line that the command printed is not a number: `{}`", excerpt(&line))),
    }
}
