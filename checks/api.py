"""Sends thousands of generated requests to `cutline serve`, good and bad ones, and checks every answer against its OpenAPI document: no status
and no content that the document does not mention, and no failure of the server.

Usage: api.py CUTLINE SCHEMATHESIS [MAX_EXAMPLES]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def main() -> int:
    cutline, schemathesis = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    examples = sys.argv[3] if len(sys.argv) > 3 else "25"
    with tempfile.TemporaryDirectory() as directory:
        server = subprocess.Popen(
            [cutline, "serve", "api.db?durability=normal", "--bind", "127.0.0.1:0", "--log", "error"],
            cwd=directory,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            line = next(line for line in server.stderr if line.startswith("serving on "))
            url = line.removeprefix("serving on ").strip()
            begin(url)
            command = [schemathesis, "run", f"{url}/openapi.json", "--checks", CHECKS, "--max-examples", examples]
            # A stream does not end, and a campaign that is deleted answers nothing any more.
            command += ["--exclude-path-regex", "/stream$", "--exclude-method", "DELETE"]
            command += ["--seed", "1", "--generation-database", "none", "--no-color", "--request-timeout", "600"]
            done = subprocess.run(command, cwd=directory)
            if server.poll() is not None:
                print("the server has ended", file=sys.stderr)
                return 1
            return done.returncode
        finally:
            server.terminate()
            server.wait()


def begin(url: str) -> None:
    """Begins the campaign `screen`, which the examples of the document name."""
    arms = [{"name": name, "features": [mass, polarity]} for name, mass, polarity in [("ethanol", 46.07, 0.654), ("acetone", 58.08, 0.355)]]
    body = {"name": "screen", "threshold": 0.5, "budget": 400, "columns": ["mass", "polarity"], "arms": arms}
    request = urllib.request.Request(f"{url}/v1/campaigns", json.dumps(body).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


if __name__ == "__main__":
    sys.exit(main())
