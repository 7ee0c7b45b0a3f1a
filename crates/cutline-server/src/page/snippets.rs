//! What a worker runs: to be copied.

use crate::routes::campaigns::location;

/// A program that measures.
pub(super) struct Snippet {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) code: String,
}

/// The snippets for a campaign on the server at `base`; `needs_token` if nobody is served without.
pub(super) fn snippets(base: &str, name: &str, needs_token: bool) -> Vec<Snippet> {
    let url = format!("{base}{}", location(name));
    let header = if needs_token { " \\\n  -H \"Authorization: Bearer $CUTLINE_TOKEN\"" } else { "" };
    let curl = format!(
        "# Ask for a measurement …\ncurl {url}/asks \\\n  -H 'Content-Type: application/json'{header} \\\n  \
         -d '{{\"worker\": \"lab 2\", \"count\": 1, \"lease_seconds\": 3600}}'\n\
         # … and tell its reward.\ncurl {url}/tells \\\n  -H 'Content-Type: application/json'{header} \\\n  \
         -d '[{{\"ticket\": 1, \"reward\": 0.71}}]'\n"
    );
    let import =
        if needs_token { "import os, time, uuid\nimport requests" } else { "import time, uuid\nimport requests" };
    let me = if needs_token { "{\"Authorization\": f\"Bearer {os.environ['CUTLINE_TOKEN']}\"}" } else { "{}" };
    let python = format!(
        "{import}\n\nurl = \"{url}\"\nme = {me}\nwhile True:\n    key = {{\"Idempotency-Key\": str(uuid.uuid4())}}\n    \
         asked = requests.post(f\"{{url}}/asks\", json={{\"worker\": \"robot 1\"}}, headers=me | key).json()\n    \
         for ticket in asked[\"tickets\"]:\n        reward = measure(ticket[\"arm\"], ticket[\"features\"])  # your measurement\n        \
         told = [{{\"ticket\": ticket[\"ticket\"], \"reward\": reward}}]\n        \
         requests.post(f\"{{url}}/tells\", json=told, headers=me).raise_for_status()\n    \
         if asked[\"ending\"]:\n        break\n    if not asked[\"tickets\"]:\n        time.sleep(10)\n"
    );
    let name = quoted(name);
    let cli = format!(
        "cutline ask STORE --name {name} --worker 'lab 2' -n 1\ncutline tell STORE --name {name} 1 0.71\ncutline status STORE --name {name}\n"
    );
    vec![
        Snippet { id: "curl", title: "curl", about: "From any machine that reaches this server.", code: curl },
        Snippet {
            id: "python",
            title: "Python",
            about: "A worker that measures until the campaign has ended.",
            code: python,
        },
        Snippet {
            id: "cli",
            title: "Command line",
            about: "On a machine that can open the store: STORE is its file or its address.",
            code: cli,
        },
    ]
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && !text.starts_with('-');
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_shell() {
        assert_eq!(quoted("screen-1"), "screen-1");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        let made = snippets("http://localhost:1", "a b", true);
        assert!(made[0].code.contains("http://localhost:1/v1/campaigns/a%20b/asks"), "{}", made[0].code);
        assert!(made.iter().take(2).all(|snippet| snippet.code.contains("CUTLINE_TOKEN")));
    }
}
