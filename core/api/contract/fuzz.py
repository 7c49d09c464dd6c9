"""schemathesis sends what the document allows and what it does not, as owner, as viewer and as nobody.

What it sends depends on the document, schemathesis.toml, the versions in requirements.txt and that of Python, and on nothing
else: every caller has a service of its own, fresh, and the tool neither keeps what it saw in earlier runs nor learns from
answers. So a fast machine and a busy one try the same cases, which the line with the digest shows.
"""

import collections
import hashlib
import json
import os
import pathlib
import subprocess
import urllib.error
import urllib.parse

from service import Service

HERE = pathlib.Path(__file__).resolve().parent
CALLERS = ("owner", "viewer", "nobody")

# Seconds for each caller; it takes less than one, and the limit bounds what hangs.
LIMIT = 30 * 60


def check(tools, folder, bin):
    failed = []
    for caller in CALLERS:
        print(f"== schemathesis as {caller}", flush=True)
        work = folder / caller
        work.mkdir()
        with Service(bin) as service:
            if not run(tools, work, service, caller):
                failed.append(caller)
            if caller in service.keys:
                still_good(service, caller)
        print(f"{caller}: {digest(work / 'sent.ndjson')}", flush=True)
    assert not failed, f"schemathesis found something as {' and as '.join(failed)}"


def still_good(service, caller):
    """Fails when a case has ended the rights of the caller: what came after it was answered 401 and proves nothing."""
    try:
        service.get("/api/v1/auth/me", service.keys[caller])
    except urllib.error.HTTPError as error:
        raise AssertionError(f"the key of the {caller} is not good any more ({error.code}): own.py must keep the case away that ended it") from None


def run(tools, work, service, caller):
    config = (HERE / "schemathesis.toml").read_text()
    # Of the machine only what programs need: neither its proxies, nor what tells of a continuous integration, nor hooks.
    environment = {"PATH": os.environ["PATH"], "HOME": str(work), "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "NO_PROXY": "*", "PYTHONHASHSEED": "0"}
    if caller in service.keys:
        config = f'hooks = "{HERE / "own.py"}"\n{config}\n[auth.openapi.api_key]\nbearer = "{service.keys[caller]}"\n'
        environment |= {f"HOSTLER_{name.upper()}": str(value) for name, value in service.own[caller].items()}
    (work / "schemathesis.toml").write_text(config)
    command = [tools / "py/bin/schemathesis", "--config-file", work / "schemathesis.toml", "--no-color", "run", service.base + "/api/openapi.json"]
    command += ["--report", "ndjson", "--report-ndjson-path", work / "sent.ndjson"]
    return subprocess.run(command, cwd=work, timeout=LIMIT, env=environment).returncode == 0


def digest(report):
    """How many requests were sent, a digest of what they were, and how many of each status were answered."""
    sent, statuses, whole = 0, collections.Counter(), hashlib.sha256()
    with report.open() as events:
        for line in events:
            scenario = json.loads(line).get("ScenarioFinished")
            for interaction in (scenario or {}).get("recorder", {}).get("interactions", {}).values():
                request, answer = interaction["request"], interaction.get("response") or {}
                address = urllib.parse.urlsplit(request["uri"])
                whole.update(json.dumps([request["method"], address.path, address.query, request.get("body")]).encode())
                statuses[answer.get("status_code")] += 1
                sent += 1
    counts = ", ".join(f"{count} x {status}" for status, count in statuses.most_common())
    return f"{sent} requests, digest {whole.hexdigest()[:16]}: {counts}"
