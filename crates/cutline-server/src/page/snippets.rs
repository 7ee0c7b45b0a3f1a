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
    let token = if needs_token { "export CUTLINE_TOKEN=…\n" } else { "" };
    let cli = format!(
        "{token}# A program that prints the reward of a candidate …\ncutline run {url} --measure './measure.sh {{name}}'\n\
         # … or by hand.\ncutline ask {url} --worker 'lab 2'\ncutline tell {url} 1 0.71\ncutline status {url}\n"
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
            about: "From any machine with Cutline that reaches this server.",
            code: cli,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_words_of_a_shell() {
        let made = snippets("http://localhost:1", "it's $HOME; ls", false);
        assert!(made[2].code.contains("cutline status http://localhost:1/v1/campaigns/it%27s%20%24HOME%3B%20ls\n"));
        assert!(made.iter().all(|snippet| !snippet.code.contains("TOKEN")));
        let made = snippets("http://localhost:1", "a b", true);
        assert!(made[0].code.contains("http://localhost:1/v1/campaigns/a%20b/asks"), "{}", made[0].code);
        assert!(made.iter().all(|snippet| snippet.code.contains("CUTLINE_TOKEN")));
    }
}
