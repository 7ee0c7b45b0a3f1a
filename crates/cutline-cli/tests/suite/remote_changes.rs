//! A server is a store: campaigns are begun, listed, changed, renamed, copied and deleted there as in a file.

use crate::common::process::wait_for;
use crate::common::{ARMS, Place};
use crate::remote::lossy_proxy;
use crate::serve::Server;
use serde_json::Value;

/// A store in a file, `here.db`, and a server on another one, `screen.db`, that are used in the same way.
struct Both {
    place: Place,
    server: Server,
}

impl Both {
    fn new() -> Self {
        let place = Place::new();
        place.write("arms.csv", ARMS);
        // Both begin with a store that has no campaign.
        place.write("one.csv", "name\na\n");
        for store in ["here.db", "screen.db"] {
            place.good(&["new", store, "one.csv", "--threshold", "1", "--budget", "3"]);
            place.good(&["delete", store, "--yes", "one"]);
        }
        let server = Server::start(&place, &[]);
        Self { place, server }
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Runs a command on the file and on the server, which must print and exit in the same way, and returns what was printed. `STORE` in the
    /// arguments is the store.
    #[track_caller]
    fn same(&self, args: &[&str]) -> String {
        let [here, there] = ["here.db".to_owned(), self.url()].map(|store| {
            let args: Vec<String> = args.iter().map(|arg| arg.replace("STORE", &store)).collect();
            let ran = self.place.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
            let plain = |text: &str| {
                let text = text.replace(&format!("{store}/v1/campaigns"), "STORE").replace(&store, "STORE");
                // The address of a campaign is one word.
                let text = text.replace("STORE/more", "STORE --name more").replace("STORE/arms", "STORE");
                without_times(&text)
            };
            (ran.code, plain(&ran.stdout), plain(&ran.stderr))
        });
        assert_eq!(there, here, "{args:?}");
        format!("{}{}", here.1, here.2)
    }

    /// The same for JSON without times.
    fn json(&self, store: &str, args: &[&str]) -> Value {
        let (command, rest) = args.split_first().unwrap();
        let text = self.place.good(&[&[command, store][..], rest, &["--format", "json"]].concat()).stdout;
        serde_json::from_str(&without_times(&text)).unwrap()
    }
}

/// A text in which every time is the same.
fn without_times(text: &str) -> String {
    let mut plain = text.to_owned();
    let mut from = 0;
    while let Some(at) = plain[from..].find('T').map(|at| from + at) {
        let is_time = at >= 10
            && plain
                .get(at - 10..at + 14)
                .is_some_and(|time| time.ends_with('Z') && time.chars().filter(char::is_ascii_digit).count() == 17);
        if is_time {
            plain.replace_range(at - 10..at + 14, "TIME");
            from = at - 10 + 4;
        } else {
            from = at + 1;
        }
    }
    plain
}

const TABLE: &str = "id;mass;kind;price;note\na;1,5;salt;1;x\nb;;acid;2;y\nc;3,25;salt;1,5;z\nd;4,1;acid;3;w\n";
const EARLIER: &str = "arm,reward\na,1\nb,0\n\"c, d\",0\n";

/// Every option of `cutline new` arrives at the server as it was given, to the last bit.
#[test]
fn a_campaign_begun_over_http_is_the_one_begun_in_a_store() {
    let both = Both::new();
    both.place.write("table.csv", TABLE);
    both.place.write("edges.csv", "one,other,weight\na,b,1\nb,\"c, d\",0.3\n");
    both.place.write("earlier.csv", EARLIER);
    both.place.write("plain.csv", "arm,reward\n0,0.1\n1,0.30000000000000004\n0,1e-3\n");
    let arms: &[&[&str]] = &[
        &[],
        &["--precision", "0.1", "--noise", "0.30000000000000004", "--seed", "18446744073709551615"],
        &["--rewards", "bernoulli", "--until-sure", "proved", "--confidence", "0.9"],
        &["--model", "linear", "--prepare", "centre,standardise", "--parameter", "lambda=0.1"],
        &["--model", "linear", "--raw", "--standardise", "--interval", "anytime", "--algorithm", "straddle"],
        &["--model", "independent", "--features", "y"],
        &["--kernel", "matern52", "--length", "0.7", "--parameter", "lambda=0.3"],
        &["--graph", "edges.csv"],
        &["--algorithm", "linear-apt"],
        &["--observed", "earlier.csv"],
        &["--observed", "plain.csv", "--count-observed"],
        &["--until-sure", "expected-errors 1", "--category", "x"],
        &["--min", "-1.5", "--max", "1e3", "--guarantee", "fdr"],
        &["--rewards", "count", "--guarantee", "all"],
    ];
    let table: &[&[&str]] = &[&[
        "--id",
        "id",
        "--decimal",
        ",",
        "--missing",
        "mean",
        "--category",
        "kind",
        "--cost",
        "price",
        "--features",
        "mass,kind",
    ]];
    let all = arms.iter().map(|args| ("arms.csv", args)).chain(table.iter().map(|args| ("table.csv", args)));
    let mut given = vec!["--threshold", "--budget", "--name"];
    // In a store with one campaign, its name need not be given.
    both.same(&["new", "STORE", "arms.csv", "--threshold", "0.5", "--budget", "12"]);
    for (number, (file, options)) in all.enumerate() {
        let name = format!("more{number}");
        let args =
            [&["new", "STORE", file, "--threshold", "0.5", "--budget", "12", "--name", &name], *options].concat();
        let said = both.same(&args).replace(&format!("{number}"), "");
        assert!(said.contains("began the campaign"), "{options:?}: {said}");
        let address = format!("{}/v1/campaigns/{name}", both.url());
        for command in [&["show"][..], &["status"], &["export", "--events"], &["export", "--verdicts"]] {
            let there = both.json(&address, command);
            let here = both.json("here.db", &[command, &["--name", &name]].concat());
            assert_eq!(there, here, "{options:?} {command:?}");
        }
        // The arms, with all their digits: both campaigns choose the same ones.
        let ask = |store: &str| both.json(store, &["ask", "-n", "9", "--name", &name]);
        assert_eq!(ask(&both.url()), ask("here.db"), "{options:?}");
        given.extend(options.iter().filter(|option| option.starts_with("--")));
    }
    // An option that is new in `cutline new` has to be tried here.
    let help = both.place.good(&["new", "--help"]).stdout;
    let options = help.lines().filter_map(|line| line.trim().strip_prefix("--")?.split(' ').next());
    let known = ["--token-file", "--plain", "--max-input-size"];
    for option in options.map(|option| format!("--{option}")) {
        let option = option.as_str();
        assert!(given.contains(&option) || known.contains(&option), "{option} is not tried");
    }
    assert_eq!(both.server.end(), Some(0));
}

#[test]
fn a_server_is_used_as_a_store_of_several_campaigns() {
    let both = Both::new();
    let new =
        |name: &str| both.same(&["new", "STORE", "arms.csv", "--threshold", "0.5", "--budget", "9", "--name", name]);
    assert!(both.same(&["list", "STORE"]).contains("campaign"));
    assert!(both.same(&["status", "STORE"]).contains("has no campaign yet; begin a campaign with `cutline new`"));
    assert!(new("arms").contains("began the campaign `arms`"));
    assert!(new("arms").contains("error: there is already a campaign `arms`; choose another name with `--name`"));
    assert!(new("a\u{7}").contains("cannot be a name"));
    both.same(&["ask", "STORE", "-n", "3"]);
    both.same(&["tell", "STORE", "1", "0.5", "2", "0.25", "3", "1"]);
    new("more");
    for format in ["table", "json", "csv"] {
        assert!(both.same(&["list", "STORE", "--format", format]).contains("more"));
    }
    assert!(
        both.same(&["status", "STORE"]).contains("the store has 2 campaigns: `arms`, `more`; choose one with `--name`")
    );
    assert!(
        both.same(&["report", "STORE", "--name", "x"])
            .contains("there is no campaign `x`; the store has 2: `arms`, `more`")
    );
    both.same(&["status", "STORE", "--name", "arms", "--format", "json"]);
    // Settings.
    let arms = ["--name", "arms"];
    let change = |args: &[&str]| both.same(&[args, &arms].concat());
    assert!(change(&["extend", "STORE", "--budget", "40"]).starts_with("changed: budget = 40; 37 to go"));
    assert!(change(&["extend", "STORE", "--budget", "40"]).contains("nothing to change"));
    assert!(change(&["extend", "STORE", "--budget", "2"]).contains("error: "));
    change(&["set", "STORE", "--threshold", "0.30000000000000004", "--precision", "0.05", "--noise", "0.1"]);
    change(&["set", "STORE", "--confidence", "0.9", "--until-sure", "proved", "--noise", "0.2"]);
    change(&["set", "STORE", "--noise", "estimated", "--until-sure", "never"]);
    assert!(change(&["set", "STORE", "--until-sure", "intervals"]).contains("use `proved`"));
    change(&["set", "STORE", "--algorithm", "straddle"]);
    change(&["set", "STORE", "--model", "linear"]);
    change(&["show", "STORE", "--format", "json"]);
    // Candidates.
    both.place.write("more.csv", "y,name,x\n0.25,i,7\n0.1,a,1\n");
    assert!(change(&["add", "STORE", "more.csv"]).starts_with("1 candidate added, 1 known already"));
    both.place.write("other.csv", "y,name,x\n0.25,a,7\n");
    assert!(change(&["add", "STORE", "other.csv"]).contains("has a candidate `a` already, with other features"));
    change(&["export", "STORE", "--verdicts"]);
    change(&["export", "STORE", "--events"]);
    // Names.
    assert!(change(&["copy", "STORE", "more"]).contains("there is already a campaign `more`; choose another name"));
    assert!(change(&["copy", "STORE", "b/c"]).starts_with("copied the campaign to `b/c`, with 1"));
    assert!(change(&["rename", "STORE", "more"]).contains("there is already a campaign `more`; choose another name"));
    assert_eq!(both.same(&["rename", "STORE", "d e", "--name", "b/c"]), "the campaign is called `d e`\n");
    both.same(&["export", "STORE", "--events", "--name", "d e"]);
    assert!(both.same(&["delete", "STORE", "--name", "d e"]).contains("repeat its name with `--yes`"));
    assert!(both.same(&["delete", "STORE", "--name", "d e", "--yes", "d"]).contains("so nothing was deleted"));
    assert!(both.same(&["delete", "STORE", "--name", "none", "--yes", "none"]).contains("there is no campaign `none`"));
    assert_eq!(both.same(&["delete", "STORE", "--name", "d e", "--yes", "d e"]), "deleted the campaign `d e`\n");
    assert!(!both.same(&["list", "STORE"]).contains("d e"));
    assert_eq!(both.server.end(), Some(0));
}

#[test]
fn campaigns_are_copied_between_servers_and_files() {
    let both = Both::new();
    let place = &both.place;
    place.good(&["new", "here.db", "arms.csv", "--threshold", "0.5", "--budget", "9", "--noise", "0.1"]);
    place.good(&["ask", "here.db", "-n", "2", "--replicates", "2"]);
    place.good(&["tell", "here.db", "1", "0.5", "0.1"]);
    place.good(&["tell", "here.db", "--fail", "3", "--reason", "lost"]);
    place.good(&["amend", "here.db", "1", "0.7", "--reason", "swapped"]);
    place.good(&["amend", "here.db", "--void", "2"]);
    place.good(&["withdraw", "here.db", "b"]);
    place.good(&["restore", "here.db", "b"]);
    place.good(&["set", "here.db", "--threshold", "0.6", "--budget", "20"]);
    place.write("more.csv", "y,name,x\n0.25,i,7\n");
    place.good(&["add", "here.db", "more.csv"]);
    let said = place.good(&["copy", "here.db", "up", "--to", &both.url()]).stderr;
    assert!(said.starts_with("copied the campaign to `up`, with "), "{said}");
    let address = format!("{}/v1/campaigns/up", both.url());
    assert_eq!(place.good(&["copy", &address, "down", "--to", "other.db"]).stderr, said.replace("`up`", "`down`"));
    for args in [&["--events"][..], &["--verdicts"]] {
        let export = |store: &str| place.good(&[&["export", store], args].concat()).stdout;
        assert_eq!([export(&address), export("other.db")], [export("here.db"), export("here.db")]);
    }
    assert_eq!(place.json(&["show", "other.db"])["threshold"], 0.6);
    assert_eq!(both.server.end(), Some(0));
}

#[test]
fn addresses_and_names_that_contradict_each_other_are_one_line() {
    let both = Both::new();
    let (place, url) = (&both.place, both.url());
    let begin = ["arms.csv", "--threshold", "0.5", "--budget", "9"];
    // The address of a campaign that is to be names it.
    let address = format!("{url}/v1/campaigns/a%20b");
    let said = place.good(&[&["new", &address], &begin[..]].concat()).stderr;
    assert!(said.contains("began the campaign `a b`\n"), "{said}");
    assert!(
        said.ends_with(&format!("next: cutline ask '{address}', or cutline run '{address}' --measure COMMAND\n")),
        "{said}"
    );
    let other = place.refuses(&[&["new", &address, "--name", "c"], &begin[..]].concat());
    assert_eq!(
        other,
        "error: the address is that of the campaign `a b`, and the name is `c`; leave out `--name`, or give the address of the server, as in \
         `http://HOST:PORT`"
    );
    assert!(place.refuses(&["status", &address, "--name", "c"]).contains("the name is `c`"));
    assert_eq!(place.json(&["list", &address])[0]["campaign"], "a b");
    let none = place.refuses(&["status", &format!("{url}/v1/campaigns/none")]);
    assert!(none.contains("there is no campaign `none`; the store has `a b`"), "{none}");
    for wrong in [format!("{url}/campaigns/a"), format!("{address}/asks"), format!("{url}/lab")] {
        let line = place.refuses(&["list", &wrong]);
        assert!(
            line.contains("`http://HOST:PORT`, and that of a campaign on it `http://HOST:PORT/v1/campaigns/NAME`"),
            "{line}"
        );
    }
    for args in [&["token", "list", &url][..], &["serve", &url]] {
        let line = place.refuses(args);
        assert!(
            line.contains("this cannot be done at the address of a server; run the command on the store"),
            "{line}"
        );
    }
    assert_eq!(both.server.end(), Some(0));
}

#[test]
fn tokens_are_for_all_commands() {
    let both = Both::new();
    let place = &both.place;
    for role in ["admin", "viewer"] {
        let secret = place.good(&["token", "create", "screen.db", "--name", role, "--role", role]).stdout;
        place.write(&format!("{role}.token"), &secret);
    }
    let url = both.url();
    wait_for("server that knows of the tokens", || place.run(&["list", &url]).code == Some(1));
    let (admin, viewer) = (["--token-file", "admin.token"], ["--token-file", "viewer.token"]);
    let new = ["new", &url, "arms.csv", "--threshold", "0.5", "--budget", "9"];
    assert!(place.refuses(&new).contains("the server asks for a token"));
    assert!(place.refuses(&[&new[..], &viewer].concat()).contains("the role `admin`, and yours has the role `viewer`"));
    place.good(&[&new[..], &admin].concat());
    assert!(place.refuses(&["list", &url]).contains("the server asks for a token"));
    assert!(place.good(&[&["list", &url][..], &viewer].concat()).stdout.contains("arms"));
    for args in [
        &["extend", &url, "--budget", "12"][..],
        &["set", &url, "--threshold", "0.6"],
        &["add", &url, "arms.csv"],
        &["rename", &url, "b"],
        &["copy", &url, "c"],
        &["delete", &url, "--name", "b", "--yes", "b"],
    ] {
        let refused = place.refuses(&[args, &viewer].concat());
        // The last one has its name by then.
        assert!(
            refused.contains("the role `admin`") || refused.contains("there is no campaign `b`"),
            "{args:?} {refused}"
        );
        place.good(&[args, &admin].concat());
    }
    assert!(place.good(&[&["diagnose", &url][..], &viewer].concat()).code == Some(0));
    assert_eq!(both.server.end(), Some(0));
}

#[test]
fn a_lost_answer_changes_nothing_twice() {
    let both = Both::new();
    let place = &both.place;
    let lines = &[
        "POST /v1/campaigns ",
        "PATCH /v1/campaigns/arms ",
        "POST /v1/campaigns/arms/arms ",
        "POST /v1/campaigns/arms/copies ",
        "PATCH /v1/campaigns/copied ",
        "DELETE /v1/campaigns/renamed?confirm=renamed ",
    ];
    let url = format!("http://{}", lossy_proxy(both.server.address(), lines));
    place.good(&["new", &url, "arms.csv", "--threshold", "0.5", "--budget", "9"]);
    let changed = place.good(&["extend", &url, "--budget", "12"]).stderr;
    assert_eq!(changed, "changed: budget = 12; 12 to go\n");
    place.write("more.csv", "y,name,x\n0.25,i,7\n");
    assert!(place.good(&["add", &url, "more.csv"]).stderr.starts_with("1 candidate added"), "once");
    assert_eq!(place.good(&["copy", &url, "copied"]).stderr, "copied the campaign to `copied`, with 2 events\n");
    place.good(&["rename", &url, "renamed", "--name", "copied"]);
    place.good(&["delete", &url, "--name", "renamed", "--yes", "renamed"]);
    let list = place.json(&["list", "screen.db"]);
    assert_eq!((list.as_array().unwrap().len(), &list[0]["budget"], &list[0]["n_arms"]), (1, &12.into(), &7.into()));
    assert_eq!(both.server.end(), Some(0));
}
