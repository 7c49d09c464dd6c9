"""schemathesis sends what the document allows and what it does not, as owner, as viewer and as nobody."""

import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent

# Seconds for each caller: two minutes for all of them.
BUDGET = {"owner": 50, "viewer": 45, "nobody": 20}


def check(tools, folder, service):
    failed = []
    for caller, seconds in BUDGET.items():
        print(f"== schemathesis as {caller}, at most {seconds} s", flush=True)
        config = (HERE / "schemathesis.toml").read_text()
        if caller in service.keys:
            config += f'\n[auth.openapi.api_key]\nbearer = "{service.keys[caller]}"\n'
        (folder / "schemathesis.toml").write_text(config)
        run = [tools / "py/bin/schemathesis", "--config-file", folder / "schemathesis.toml", "--no-color", "run", service.base + "/api/openapi.json"]
        ended = subprocess.run([*run, "--max-time", str(seconds), "--seed", "1"], cwd=folder, timeout=4 * seconds, env=dict(os.environ, NO_COLOR="1"))
        if ended.returncode != 0:
            failed.append(caller)
    assert not failed, f"schemathesis found something as {' and as '.join(failed)}"
