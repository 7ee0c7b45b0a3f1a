//! `cutline mcp`: a real process, driven by lines of JSON-RPC.

use crate::common::{Place, screen};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A client of a server that is its child process.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.cutline(&[&["mcp", "screen.db"], args].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, last_id: 0 }
    }

    /// The answer to a line.
    fn line(&mut self, line: &str) -> Value {
        writeln!(self.input.as_ref().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{line}: {answer:?}: {error}"))
    }

    /// The answer to a request.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let answer = self.line(&request.to_string());
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(self.last_id)), "{answer}");
        answer
    }

    /// The result of a tool; an error is what the tool says is wrong.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        if result["isError"] == true {
            assert!(!text.contains('\n') && result["structuredContent"].is_null(), "{answer}");
            return Err(text.into());
        }
        let content: Value = serde_json::from_str(text).unwrap();
        assert_eq!(content, result["structuredContent"]);
        Ok(content)
    }

    /// The names of the tools.
    fn tools(&mut self) -> Vec<String> {
        let answer = self.request("tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Ends the input; the exit code, what was left on stdout, and stderr.
    fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.input.take());
        let (mut rest, mut stderr) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), rest, stderr)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const READING: [&str; 6] =
    ["list_campaigns", "campaign_status", "read_verdicts", "read_events", "list_tickets", "plan"];
const WORKING: [&str; 4] = ["ask", "tell", "fail", "extend_lease"];
const MANAGING: [&str; 3] = ["new_campaign", "change_campaign", "amend"];

#[test]
fn a_whole_campaign() {
    let place = screen(&["--budget", "9", "--noise", "0.3"]);
    let mut client = Client::start(&place, &["--author", "assistant"]);
    let request =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begun = client.request("initialize", &request)["result"].clone();
    assert_eq!((&begun["protocolVersion"], &begun["serverInfo"]["name"]), (&json!("2025-06-18"), &json!("cutline")));
    assert!(begun["capabilities"]["tools"].is_object() && begun["instructions"].as_str().unwrap().contains("`ask`"));
    // Notifications have no answer.
    writeln!(client.input.as_ref().unwrap(), r#"{{"jsonrpc": "2.0", "method": "notifications/initialized"}}"#).unwrap();
    assert_eq!(client.request("ping", &Value::Null)["result"], json!({}));
    assert_eq!(client.tools(), [&READING[..], &WORKING].concat());
    assert_eq!(client.call("list_campaigns", &json!({})).unwrap()["campaigns"][0]["name"], "arms");
    let ask = json!({"campaign": "arms", "worker": "robot", "count": 2});
    let first = client.call("ask", &ask).unwrap();
    let ticket = |asked: &Value, n: usize| asked["tickets"][n]["ticket"].as_u64().unwrap();
    let failures = json!([{"ticket": ticket(&first, 1), "reason": "sample lost"}]);
    assert_eq!(client.call("fail", &json!({"campaign": "arms", "failures": failures})).unwrap()["changed"], 1);
    let lease = json!({"campaign": "arms", "ticket": ticket(&first, 0), "lease_seconds": 7200});
    assert_eq!(client.call("extend_lease", &lease).unwrap()["tickets"][0]["ticket"], ticket(&first, 0));
    assert_eq!(client.call("list_tickets", &json!({"campaign": "arms"})).unwrap()["total"], 1);
    let tell = |ticket: u64| json!({"campaign": "arms", "rewards": [{"ticket": ticket, "reward": 0.7}]});
    assert_eq!(client.call("tell", &tell(ticket(&first, 0))).unwrap()["changed"], 1);
    let plan = client.call("plan", &json!({"campaign": "arms", "runs": 3})).unwrap();
    assert!(plan["answers_in_words"].is_array() || plan["answers_in_words"].is_string(), "{plan}");
    loop {
        let asked = client.call("ask", &ask).unwrap();
        let tickets = asked["tickets"].as_array().unwrap().len();
        if tickets == 0 {
            assert_eq!(asked["ending"], "budget");
            break;
        }
        for n in 0..tickets {
            client.call("tell", &tell(ticket(&asked, n))).unwrap();
        }
    }
    let status = client.call("campaign_status", &json!({"campaign": "arms"})).unwrap();
    assert_eq!((&status["told"], &status["ending"]), (&json!(9), &json!("budget")));
    let verdicts = json!({"campaign": "arms", "sort": "-mean", "search": "C, D", "limit": 5});
    let verdicts = client.call("read_verdicts", &verdicts).unwrap();
    assert_eq!((&verdicts["total"], &verdicts["verdicts"][0]["arm"]), (&json!(1), &json!("c, d")));
    let events = client.call("read_events", &json!({"campaign": "arms", "after": 2, "limit": 3})).unwrap();
    assert_eq!((&events["events"][0]["event"], &events["events"][0]["by"]), (&json!("failed"), &json!("assistant")));
    assert_eq!(client.end(), (Some(0), String::new(), String::new()));
    assert_eq!(place.json(&["status", "screen.db"])["told"], 9);
}

#[test]
fn roles_and_campaigns_limit_a_client() {
    let place = screen(&["--budget", "9"]);
    let mut viewer = Client::start(&place, &["--role", "viewer"]);
    assert_eq!(viewer.tools(), READING);
    let refused = viewer.call("ask", &json!({"campaign": "arms", "worker": "w"})).unwrap_err();
    assert_eq!(refused, "`ask` needs the role `worker`, and this server was started with `--role viewer`");
    let mut admin = Client::start(&place, &["--role", "admin"]);
    assert_eq!(admin.tools(), [&READING[..], &WORKING, &MANAGING].concat());
    let arms = json!([{"name": "a", "features": [1.0]}, {"name": "b", "features": [2.0]}]);
    let new = json!({"name": "new / one", "threshold": 0.5, "budget": 4, "columns": ["x"], "arms": arms});
    assert_eq!(admin.call("new_campaign", &new).unwrap()["n_arms"], 2);
    admin.call("change_campaign", &json!({"campaign": "new / one", "budget": 5})).unwrap();
    admin.call("ask", &json!({"campaign": "new / one", "worker": "w"})).unwrap();
    admin.call("tell", &json!({"campaign": "new / one", "rewards": [{"ticket": 1, "reward": 7.1}]})).unwrap();
    let amend = json!({"campaign": "new / one", "amendments": [{"ticket": 1, "reward": 0.71}], "reason": "typo"});
    assert_eq!(admin.call("amend", &amend).unwrap()["changed"], 1);
    let status = admin.call("campaign_status", &json!({"campaign": "new / one"})).unwrap();
    assert_eq!((&status["budget"], &status["told"]), (&json!(5), &json!(1)));
    let mut limited = Client::start(&place, &["--campaign", "arms"]);
    assert_eq!(limited.call("list_campaigns", &json!({})).unwrap()["total"], 1);
    let refused = limited.call("ask", &json!({"campaign": "new / one", "worker": "w"})).unwrap_err();
    assert_eq!(refused, "this server was started with `--campaign`, for others than `new / one`");
    limited.call("ask", &json!({"campaign": "arms", "worker": "w"})).unwrap();
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let place = screen(&["--budget", "9"]);
    let mut client = Client::start(&place, &[]);
    let code = |answer: Value| answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(code(client.line("{")), -32700);
    assert_eq!(code(client.line("[]")), -32600);
    assert_eq!(code(client.line(r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#)), -32600);
    assert_eq!(code(client.request("tools/destroy", &json!({}))), -32601);
    assert_eq!(code(client.request("tools/call", &json!({"name": "destroy"}))), -32602);
    assert_eq!(code(client.request("tools/call", &json!({"arguments": {}}))), -32602);
    assert_eq!(code(client.request("tools/call", &json!({"name": "ask", "arguments": 7}))), -32602);
    let latest = client.request("initialize", &json!({"protocolVersion": "1999-01-01"}));
    assert_eq!(latest["result"]["protocolVersion"], "2025-11-25", "an unknown version gets the latest");
    for (tool, arguments, what) in [
        ("campaign_status", json!({}), "the argument `campaign` is missing"),
        ("campaign_status", json!({"campaign": "none"}), "there is no campaign `none`"),
        ("campaign_status", json!({"campaign": ""}), "`campaign` is empty"),
        ("campaign_status", json!({"campaign": ["arms"]}), "`campaign` must be a text, a number, true or false"),
        ("read_events", json!({"campaign": "arms", "since": 3}), "`read_events` has no argument `since`; it takes"),
        ("read_events", json!({"campaign": "arms", "limit": 0}), "`limit` must be 1 to"),
        ("read_verdicts", json!({"campaign": "arms", "side": "left"}), "`left`"),
        ("ask", json!({"campaign": "arms"}), "the argument `worker` is missing"),
        ("ask", json!({"campaign": "arms", "worker": "w", "count": 0}), "there are no tickets"),
        ("ask", json!({"campaign": "arms", "worker": "w", "count": "two"}), "invalid type"),
        ("tell", json!({"campaign": "arms", "rewards": []}), "there are no rewards"),
        ("tell", json!({"campaign": "arms", "rewards": [{"ticket": 1, "reward": 0.5}]}), "ticket 1"),
        ("fail", json!({"campaign": "arms", "failures": [{"ticket": 1, "reason": "a\nb"}]}), "control character"),
    ] {
        let refused = client.call(tool, &arguments).unwrap_err();
        assert!(refused.contains(what), "{tool} {arguments}: {refused}");
    }
    assert_eq!(client.end(), (Some(0), String::new(), String::new()));
    assert_eq!(place.json(&["export", "screen.db", "--events"]), json!([]), "nothing happened");
    assert!(place.refuses(&["mcp", "none.db"]).contains("none.db"));
    assert_eq!(place.run(&["mcp", "screen.db", "--role", "king"]).code, Some(2));
}

/// Every tool has a description and the schema of its arguments.
#[test]
fn tools_describe_themselves() {
    let place = screen(&["--budget", "9"]);
    let mut client = Client::start(&place, &["--role", "admin"]);
    let answer = client.request("tools/list", &json!({}));
    for tool in answer["result"]["tools"].as_array().unwrap() {
        let (schema, name) = (&tool["inputSchema"], &tool["name"]);
        assert!(tool["description"].as_str().unwrap().len() > 40, "{tool}");
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{name}");
        assert!(!schema.to_string().contains("$ref"), "{name}: {schema}");
        let arguments = schema["properties"].as_object().unwrap();
        for (argument, schema) in arguments {
            assert!(schema.to_string().contains("\"description\""), "{name}: {argument}: {schema}");
        }
        let required = schema["required"].as_array().unwrap();
        assert!(required.iter().all(|argument| arguments.contains_key(argument.as_str().unwrap())), "{name}: {schema}");
        let is_reading = READING.contains(&name.as_str().unwrap());
        assert_eq!(tool["annotations"]["readOnlyHint"], is_reading, "{name}");
    }
    let ask = &answer["result"]["tools"][READING.len()]["inputSchema"];
    assert_eq!(ask["required"], json!(["campaign", "worker"]));
    assert!(ask["properties"]["lease_seconds"]["description"].as_str().unwrap().contains("seconds"), "{ask}");
}
