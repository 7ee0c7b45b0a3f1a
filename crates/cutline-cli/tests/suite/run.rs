//! `cutline run`: the input of the command, its output, failures, interruptions and the end of a campaign.

#![cfg(unix)]

use crate::common::process::{Killed, end, happens_within, is_alive, signal, wait_for, wait_for_sleep};
use crate::stored::{Place, candidates, events, named};
use cutline_campaign::{AnyCampaign, Candidates, Event, Settings};
use cutline_store::Campaign;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How the program ended and what it said on stderr.
fn ended(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    assert!(output.stdout.is_empty(), "stdout is for data");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[track_caller]
fn good(command: &mut Command) -> String {
    let (code, said) = ended(command);
    assert_eq!(code, Some(0), "{said}");
    said
}

/// Ends with this code and one line.
#[track_caller]
fn bad(command: &mut Command, code: i32) -> String {
    let (found, said) = ended(command);
    assert_eq!(found, Some(code), "{said}");
    assert!(said.starts_with("error: ") && said.ends_with('\n') && said.lines().count() == 1, "{said}");
    said
}

/// A campaign over some arms.
fn begin(place: &Place, budget: u32) -> Campaign {
    place.begin("screen", &Settings::new(0.0, budget), candidates(5))
}

fn reasons(campaign: &mut Campaign) -> Vec<String> {
    let reason = |event| if let Event::Failed { reason, .. } = event { Some(reason) } else { None };
    events(campaign).into_iter().filter_map(reason).collect()
}

fn rewards(campaign: &mut Campaign) -> Vec<(u64, f64)> {
    let told = |event| if let Event::Told { ticket, reward } = event { Some((ticket, reward)) } else { None };
    events(campaign).into_iter().filter_map(told).collect()
}

/// The first reason for which a measurement by this script, tried once, failed.
fn reason(script: &str, more: &[&str]) -> String {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 10);
    let said = bad(place.run(&["--retries", "0", "--shell", "--measure", script]).args(more), 1);
    let reasons = reasons(&mut campaign);
    assert!(reasons.len() == 5 && reasons.iter().all(|reason| reason == &reasons[0]), "{reasons:?}");
    assert_eq!(campaign.progress().unwrap().open, 0);
    assert_eq!(
        said,
        format!("error: 5 tickets failed in a row; the last one: {}; check the command and run it again\n", reasons[0])
    );
    reasons[0].clone()
}

#[test]
fn a_campaign_is_measured_to_its_end() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 12);
    let measure = "sh -c 'echo measuring >&2; echo first line; echo \" $1 \"; echo' sh 0.{ticket}";
    let said = good(&mut place.run(&["--measure", measure, "--jobs", "3", "--worker", "bench 1"]));
    let mut told = rewards(&mut campaign);
    told.sort_by_key(|&(ticket, _)| ticket);
    let expected: Vec<(u64, f64)> = (1..=12).map(|ticket| (ticket, format!("0.{ticket}").parse().unwrap())).collect();
    assert_eq!(told, expected);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "12 measurements made, 0 failed; 12 of 12 rewards in the store");
    assert!(
        lines[1].contains(" above") && lines[1].ends_with(" undecided; ended because the budget is used up"),
        "{said}"
    );
    assert!(lines[2].starts_with("features explain ") && lines[2].contains(", noise σ ≈ "), "{said}");
    assert!(lines[3].starts_with("expected: ") && lines[3].ends_with("by the model, not guaranteed"), "{said}");
    assert!(lines[4].starts_with("model: adapts: "), "{said}");
    assert!(
        lines[5].starts_with("note: the noise σ rests on only ") && lines[5].contains(" repeated measurements; "),
        "{said}"
    );
    assert_eq!((lines[6], lines.len()), ("see the result with `cutline report screen.db`", 7));
    let is_ours = |event: &Event| match event {
        Event::Asked { worker, .. } => worker.starts_with("bench 1:"),
        _ => true,
    };
    assert!(events(&mut campaign).iter().all(is_ours));
    // The budget is used up: there is nothing to do, and the command is not even started.
    let said = good(&mut place.run(&["--measure", "/nowhere/measure", "--name", "screen"]));
    assert!(
        said.starts_with("0 measurements made, 0 failed; 12 of 12 rewards in the store\n")
            && said.contains("`cutline report screen.db --name screen`"),
        "{said}"
    );
}

#[test]
fn the_command_gets_its_ticket() {
    let place = Place::sqlite();
    place.begin("screen", &Settings::new(0.0, 5), candidates(5));
    place.write("measure.sh", "cat > stdin-$CUTLINE_TICKET\nprintf '%s\\n' \"$@\" > words-$CUTLINE_TICKET\nenv | grep ^CUTLINE_ | grep -v ^CUTLINE_TEST_ | sort > env-$CUTLINE_TICKET\necho 1\n");
    good(&mut place.run(&["--measure", "sh measure.sh {name} '{index} x' {features} --ticket={ticket}"]));
    for ticket in 1..=5 {
        let text = |what: &str| place.text(&format!("{what}-{ticket}"));
        let told: serde_json::Value = serde_json::from_str(&text("stdin")).unwrap();
        let arm = told["index"].as_u64().unwrap();
        let row = candidates(5).row(usize::try_from(arm).unwrap()).to_vec();
        let features = serde_json::json!({ "x": row[0], "y": row[1] });
        assert_eq!(
            told,
            serde_json::json!({ "ticket": ticket, "name": format!("arm {arm}"), "index": arm, "features": features })
        );
        let [x, y] = [row[0], row[1]];
        let json = format!("{{\"x\":{x:?},\"y\":{y:?}}}");
        assert_eq!(text("words"), format!("arm {arm}\n{arm} x\n{json}\n--ticket={ticket}\n"));
        assert_eq!(
            text("env"),
            format!(
                "CUTLINE_FEATURES={json}\nCUTLINE_FEATURE_X={x}\nCUTLINE_FEATURE_Y={y}\nCUTLINE_INDEX={arm}\nCUTLINE_NAME=arm {arm}\nCUTLINE_TICKET={ticket}\n"
            )
        );
    }
}

/// Names are data: no shell ever reads them.
#[test]
fn names_are_never_code() {
    const NAMES: [&str; 7] =
        ["; touch pwned", "$(touch pwned)", "`touch pwned`", "-rf", "a'b\"c\\", "| touch pwned #", "{ticket} *"];
    for args in
        [&["--measure", "sh measure.sh {name}"][..], &["--shell", "--measure", "sh measure.sh \"$CUTLINE_NAME\""]]
    {
        let place = Place::sqlite();
        let mut settings = Settings::new(0.5, 7);
        settings.algorithm = Some("apt".into());
        let mut campaign = place.begin("screen", &settings, named(&NAMES));
        place.write("measure.sh", "printf '%s\\n' \"$1\" >> names\necho 1\n");
        good(&mut place.run(args));
        assert!(!place.path("pwned").exists());
        let mut names: Vec<String> = place.text("names").lines().map(str::to_owned).collect();
        names.sort_unstable();
        let mut expected = NAMES;
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert_eq!(rewards(&mut campaign).len(), 7);
    }
}

#[test]
fn failures_are_recorded_with_their_reason() {
    assert_eq!(
        reason("echo 'no sample\n\n left' >&2; echo 1; exit 3", &[]),
        "the command exited with code 3: no sample left"
    );
    assert_eq!(reason("kill -9 $$", &[]), "the command was killed by signal 9");
    assert_eq!(
        reason("echo hello; echo; echo why >&2", &[]),
        "the last line that the command printed is not a number: `hello`: why"
    );
    assert_eq!(reason("true", &[]), "the command printed no reward");
    assert_eq!(reason("echo NaN", &[]), "the command printed `NaN`, and a reward must be between -1e80 and 1e80");
    assert_eq!(
        reason("echo 0.5; echo -inf", &[]),
        "the command printed `-inf`, and a reward must be between -1e80 and 1e80"
    );
    assert_eq!(reason("echo '0.5 V'", &[]), "the last line that the command printed is not a number: `0.5 V`");
    assert_eq!(reason("exec nowhere-to-be-found 2> /dev/null", &[]), "the command exited with code 127");
}

#[test]
fn a_timeout_ends_the_whole_group() {
    // The shell waits for a process of its own, which ignores SIGTERM and keeps the output open.
    let script =
        "sh -c 'trap \"\" TERM; echo $$ >> pids; sleep 1000' & echo $! > /dev/null; trap 'exit 0' TERM; echo 5; wait";
    let place = Place::sqlite();
    let mut campaign = begin(&place, 3);
    let args = ["--retries", "0", "--timeout", "1s", "--jobs", "3", "--shell", "--measure", script];
    let child = place.run(&args).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("failure", || reasons(&mut campaign).len() >= 3);
    assert!(reasons(&mut campaign).iter().all(|reason| reason == "the command took longer than 1s"));
    let pids: Vec<String> = place.text("pids").lines().take(3).map(str::to_owned).collect();
    wait_for("end of the group", || pids.iter().all(|pid| !is_alive(pid)));
    end(child);
}

#[test]
fn a_failed_measurement_is_tried_again() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 6);
    place.write("measure.sh", "echo x >> tries-$1\ntest $(wc -l < tries-$1) -ge 3 || exit 1\necho 0.25\n");
    let said = good(&mut place.run(&["--measure", "sh measure.sh {ticket}", "--jobs", "2"]));
    assert!(said.starts_with("6 measurements made, 0 failed; 6 of 6 rewards in the store"), "{said}");
    assert_eq!(rewards(&mut campaign).len(), 6);
    assert_eq!(place.text("tries-4").lines().count(), 3);
    // Two tries are not enough.
    let place = Place::sqlite();
    let mut campaign = begin(&place, 6);
    place.write("measure.sh", "echo x >> tries-$1\ntest $(wc -l < tries-$1) -ge 3 || exit 1\necho 0.25\n");
    bad(&mut place.run(&["--measure", "sh measure.sh {ticket}", "--retries", "1"]), 1);
    assert_eq!(reasons(&mut campaign), ["after 2 tries: the command exited with code 1"; 5]);
}

#[test]
fn failures_between_successes_do_not_end_it() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 10);
    let script = "test $((CUTLINE_TICKET % 5)) = 0 || exit 1; echo 1";
    let said = good(&mut place.run(&["--retries", "0", "--give-up", "0", "--shell", "--measure", script]));
    assert!(said.starts_with("10 measurements made, 40 failed; 10 of 10 rewards in the store"), "{said}");
    assert_eq!((rewards(&mut campaign).len(), reasons(&mut campaign).len()), (10, 40));
}

#[test]
fn a_command_that_cannot_be_started_ends_at_once() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 10);
    let said = bad(&mut place.run(&["--jobs", "4", "--measure", "./nowhere.sh {name}"]), 1);
    assert!(said.starts_with("error: cannot start `./nowhere.sh`: No such file or directory"), "{said}");
    place.write("measure.sh", "echo 1\n");
    let said = bad(&mut place.run(&["--measure", "./measure.sh"]), 1);
    assert!(said.starts_with("error: cannot start `./measure.sh`: Permission denied"), "{said}");
    let progress = campaign.progress().unwrap();
    assert_eq!(
        (progress.open, progress.failed, progress.counted),
        (0, 0, 0),
        "the tickets were returned to the budget"
    );
}

#[test]
fn wrong_calls_are_refused() {
    let place = Place::sqlite();
    begin(&place, 10);
    assert!(bad(&mut place.run(&["--measure", "a 'b"]), 2).contains("a quote ' is not closed"));
    let said = bad(&mut place.run(&["--measure", "./m {nmae}"]), 2);
    assert!(said.starts_with("error: `--measure`: `{nmae}` is not a placeholder; use `{name}`, "), "{said}");
    assert!(bad(&mut place.run(&["--measure", "{name}"]), 2).contains("the program cannot depend on the arm"));
    let said = bad(&mut place.run(&["--shell", "--measure", "./m {name}"]), 2);
    assert!(said.contains("write \"$CUTLINE_NAME\" instead of `{name}`"), "{said}");
    assert!(bad(&mut place.run(&["--measure", "m", "--name", "other"]), 1).contains("there is no campaign `other`"));
    for args in
        [&["--jobs", "0"][..], &["--timeout", "0s"], &["--timeout", "5"], &["--worker", ""], &["--retries", "-1"]]
    {
        assert_eq!(ended(place.run(&["--measure", "m"]).args(args)).0, Some(2), "{args:?}");
    }
}

/// Output that nobody reads would stop the command, and output that is kept would fill the memory.
#[test]
fn much_output_is_read_and_not_kept() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 2);
    let script = "exec 0<&-; head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2; echo; echo 0.5";
    good(&mut place.run(&["--shell", "--measure", script]));
    assert_eq!(rewards(&mut campaign), [(1, 0.5), (2, 0.5)]);
}

/// A process in the background keeps the output open; the reward is there all the same.
#[test]
fn a_background_process_does_not_delay_the_end() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 1);
    good(&mut place.run(&["--shell", "--measure", "sleep 1000 & echo $! > pid; echo 0.5"]));
    assert_eq!(rewards(&mut campaign), [(1, 0.5)]);
    assert!(!is_alive(place.text("pid").trim()));
}

#[test]
fn more_jobs_than_budget() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 3);
    good(&mut place.run(&["--jobs", "16", "--measure", "echo 1"]));
    assert_eq!(rewards(&mut campaign).len(), 3);
    assert_eq!(campaign.progress().unwrap().events, 6);
}

#[test]
fn it_ends_when_every_side_is_certain() {
    let place = Place::sqlite();
    let mut settings = Settings::new(0.0, 1000);
    settings.until_sure = Some(cutline::StopCriterion::Evidence.into());
    settings.noise = Some(0.1);
    let arms = Candidates::new(vec![], vec!["x".into()], vec![-2.0, -1.0, 1.0, 2.0]).unwrap();
    let mut campaign = place.begin("screen", &settings, arms);
    let said = good(&mut place.run(&["--shell", "--measure", "echo $CUTLINE_FEATURE_X"]));
    assert!(
        said.contains("2 above (") && said.contains(" 0 undecided; ended because every verdict is certain\n"),
        "{said}"
    );
    assert!(rewards(&mut campaign).len() < 1000);
}

/// A second less than measurements have to end after an interruption: a `run` that ends sooner did not wait for that time to pass.
const GRACE: Duration = Duration::from_secs(4);

/// Interrupted: the measurements end, their tickets are returned to the budget, and the same command continues.
#[test]
fn interrupted_and_resumed() {
    for name in ["INT", "TERM"] {
        happens_within(GRACE, || end_and_resume(name));
    }
}

/// How long `run` takes to end after a signal.
fn end_and_resume(name: &str) -> Duration {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 8);
    let script = "echo $$ >> pids; test $CUTLINE_TICKET -le 2 || test -e go || sleep 1000; echo 0.5";
    let args = ["--jobs", "2", "--shell", "--measure", script];
    let child = place.run(&args).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("two at work", || rewards(&mut campaign).len() == 2 && place.text("pids").lines().count() == 4);
    let asked = Instant::now();
    signal(child.id(), name);
    let output = end(child);
    let time = asked.elapsed();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert_eq!(said, "interrupted; 2 tickets were returned to the budget; run the same command again to continue\n");
    let progress = campaign.progress().unwrap();
    assert_eq!((progress.counted, progress.open, progress.expired, progress.failed), (2, 0, 2, 0));
    assert!(place.text("pids").lines().all(|pid| !is_alive(pid)));
    place.write("go", "");
    good(&mut place.run(&args));
    assert_eq!(rewards(&mut campaign).len(), 8);
    time
}

/// The second interruption kills measurements that ignore SIGTERM.
#[test]
fn interrupted_twice() {
    happens_within(GRACE, end_after_two_interruptions);
}

/// How long `run` takes to end after the first of two interruptions.
fn end_after_two_interruptions() -> Duration {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 8);
    let script = "trap 'echo > asked' TERM; echo > here; while :; do sleep 0.05; done";
    let child = place.run(&["--shell", "--measure", script]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("measurement", || place.path("here").exists());
    let asked = Instant::now();
    signal(child.id(), "INT");
    wait_for("signal", || place.path("asked").exists());
    signal(child.id(), "INT");
    assert_eq!(end(child).status.code(), Some(130));
    let time = asked.elapsed();
    assert_eq!(campaign.progress().unwrap().open, 0);
    time
}

/// Killed: its measurements are ended, and the next `run` returns its tickets at once; those of a live worker are not touched.
#[cfg(target_os = "linux")]
#[test]
fn killed_and_resumed() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 4);
    let start = || {
        let before = place.text("pids").lines().count();
        let script = "echo $$ >> pids; while ! test -e go; do sleep 0.05; done; echo 0.5";
        let child = place.run(&["--shell", "--measure", script]).stderr(Stdio::null()).spawn().unwrap();
        wait_for("measurement", || place.text("pids").lines().count() > before);
        Killed(child)
    };
    let mut killed = start();
    let mut other = start();
    killed.0.kill().unwrap();
    killed.0.wait().unwrap();
    let pids: Vec<String> = place.text("pids").lines().map(str::to_owned).collect();
    wait_for("end of its measurement", || !is_alive(&pids[0]));
    assert!(is_alive(&pids[1]));
    assert_eq!(campaign.progress().unwrap().open, 2);
    let mut third = start();
    let out: Vec<u64> = campaign.state().unwrap().open_tickets().map(|(ticket, _)| ticket).collect();
    assert_eq!(out, [2, 3], "ticket 1 was returned to the budget, ticket 2 is being measured");
    place.write("go", "");
    assert!(other.0.wait().unwrap().success() && third.0.wait().unwrap().success());
    assert_eq!(rewards(&mut campaign).len(), 4);
}

/// Others have all open tickets: it waits until those have their rewards or have failed.
#[test]
fn it_waits_for_others() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 3);
    let tickets = campaign.ask(3, "somebody", Duration::from_hours(1)).unwrap();
    let mut child = Killed(place.run(&["--measure", "echo 0.5"]).stderr(Stdio::null()).spawn().unwrap());
    wait_for_sleep(child.0.id());
    assert!(child.0.try_wait().unwrap().is_none());
    campaign.tell(&[(tickets[0].number, 0.25)]).unwrap();
    campaign.fail(tickets[1].number, "dropped").unwrap();
    wait_for("measurement", || campaign.progress().unwrap().counted == 2);
    campaign.tell(&[(tickets[2].number, 0.75)]).unwrap();
    assert!(child.0.wait().unwrap().success());
    let mut told = rewards(&mut campaign);
    told.sort_by_key(|&(ticket, _)| ticket);
    assert_eq!(told, [(1, 0.25), (3, 0.75), (4, 0.5)]);
}

/// The reward of a ticket that others have given another reward is refused; the rest of the batch is recorded.
#[test]
fn a_late_reward_is_refused_alone() {
    let place = Place::sqlite();
    let mut campaign = begin(&place, 4);
    let script = "touch at-$CUTLINE_TICKET; while ! test -e go; do sleep 0.05; done; echo 0.5";
    let child = place.run(&["--jobs", "2", "--shell", "--measure", script]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("both", || place.path("at-1").exists() && place.path("at-2").exists());
    campaign.tell(&[(1, 0.125)]).unwrap();
    place.write("go", "");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.starts_with("the reward 0.5 of ticket 1 was refused: ticket 1 already has the reward 0.125"),
        "{said}"
    );
    assert_eq!(rewards(&mut campaign).len(), 4);
}

/// Runs a campaign whose store `remove` removes during the third measurement: exit code 1. The directory, and what was printed.
fn vanished(remove: impl FnOnce(&Place)) -> (Place, String) {
    let place = Place::sqlite();
    begin(&place, 60);
    let script = "test $CUTLINE_TICKET -lt 3 || { touch waiting; while ! test -e go; do sleep 0.05; done; }; echo 0.25";
    let child = place.run(&["--shell", "--measure", script]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("third measurement", || place.path("waiting").exists());
    remove(&place);
    place.write("go", "");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    (place, said)
}

#[test]
fn a_deleted_store_is_noticed_and_the_rewards_are_kept() {
    let (place, said) = vanished(|place| {
        for name in ["screen.db", "screen.db-wal", "screen.db-shm"] {
            std::fs::remove_file(place.path(name)).unwrap();
        }
    });
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines[0],
        "1 reward was not saved in the store; it is in screen.db.unsaved-rewards.csv; once the store is back, record it with \
         `cutline tell screen.db --file screen.db.unsaved-rewards.csv`"
    );
    assert!(lines.len() == 2 && lines[1].starts_with("error: ") && lines[1].contains("screen.db"), "{said}");
    let text = place.text("screen.db.unsaved-rewards.csv");
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!((rows[0], rows.len()), ("ticket,arm,reward", 2));
    assert!(rows[1].starts_with("3,arm ") && rows[1].ends_with(",0.25"), "{text}");
    // The store takes them once it is back.
    cutline_store::Store::create(place.path("screen.db").to_str().unwrap()).unwrap();
    let mut campaign = begin(&place, 60);
    for ticket in 1..=2 {
        campaign.ask(1, "w", Duration::from_mins(1)).unwrap();
        campaign.tell(&[(ticket, 0.25)]).unwrap();
    }
    campaign.ask(1, "w", Duration::from_mins(1)).unwrap();
    let mut tell = place.command(env!("CARGO_BIN_EXE_cutline"));
    good(tell.args(["tell", "screen.db", "--file", "screen.db.unsaved-rewards.csv"]));
    assert_eq!(rewards(&mut campaign), [(1, 0.25), (2, 0.25), (3, 0.25)]);
}

/// The rewards are kept, and nothing is said about recording them in a campaign that nobody can bring back.
#[test]
fn a_deleted_campaign_is_noticed_and_the_rewards_are_kept() {
    let (place, said) = vanished(|place| {
        let mut delete = place.command(env!("CARGO_BIN_EXE_cutline"));
        good(delete.args(["delete", "screen.db", "--yes", "screen"]));
    });
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "1 reward was not saved in the store; it is in screen.db.unsaved-rewards.csv");
    assert!(lines.len() == 2 && lines[1].starts_with("error: the campaign was deleted"), "{said}");
    assert!(place.text("screen.db.unsaved-rewards.csv").ends_with(",0.25\n"));
}

#[test]
fn a_store_that_was_moved_away_is_noticed() {
    let (place, said) = vanished(|place| std::fs::rename(place.path("screen.db"), place.path("old.db")).unwrap());
    assert!(said.starts_with("1 reward was not saved in the store; "), "{said}");
    assert!(place.text("screen.db.unsaved-rewards.csv").ends_with(",0.25\n"));
}

/// The directory of the store is gone as well: the file is in the current directory.
#[test]
fn a_deleted_directory() {
    let place = Place::sqlite();
    begin(&place, 60);
    std::fs::create_dir(place.path("stores")).unwrap();
    std::fs::rename(place.path("screen.db"), place.path("stores/screen.db")).unwrap();
    let script = "touch waiting; while ! test -e go; do sleep 0.05; done; echo 0.25";
    let mut command = place.command(env!("CARGO_BIN_EXE_cutline"));
    command.args(["run", "stores/screen.db", "--jobs", "2", "--shell", "--measure", script]);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    wait_for("measurement", || place.path("waiting").exists());
    std::fs::remove_dir_all(place.path("stores")).unwrap();
    place.write("go", "");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("in screen.db.unsaved-rewards.csv; once the store is back, record"), "{said}");
    let text = place.text("screen.db.unsaved-rewards.csv");
    assert!(text.starts_with("ticket,arm,reward\n") && text.contains(",0.25\n"), "{text}");
}
