"""schemathesis sends what the document allows and what it does not, as owner, as viewer and as nobody.

What it sends depends on the document, schemathesis.toml, the versions in requirements.txt and that of Python, and on nothing
else: every caller has a service of its own, fresh, and all three run at once; the tool neither keeps what it saw in earlier
runs nor learns from answers. So a fast machine and a busy one try the same cases, which the line with the digest shows.
"""

import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import subprocess
import urllib.error
import urllib.parse
import zlib

from service import Service

HERE = pathlib.Path(__file__).resolve().parent
CALLERS = ("owner", "viewer", "nobody")

# Seconds for each caller; it takes less than one, and the limit bounds what hangs.
LIMIT = 30 * 60


def check(tools, folder, bin):
    failed = []
    with contextlib.ExitStack() as services:
        # Started one after the other, since each looks for a free port; the callers wait for answers at the same time.
        running = {caller: services.enter_context(Service(bin)) for caller in CALLERS}
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ends = {caller: pool.submit(run, tools, folder / caller, service, caller) for caller, service in running.items()}
            for caller, end in ends.items():
                held, said = end.result()
                print(f"== schemathesis as {caller}\n{said}", flush=True)
                if not held:
                    failed.append(caller)
                if caller in running[caller].keys:
                    still_good(running[caller], caller)
                print(f"{caller}: {digest(folder / caller / 'sent.ndjson')}", flush=True)
    assert not failed, f"schemathesis found something as {' and as '.join(failed)}"


def still_good(service, caller):
    """Fails when a case has ended the rights of the caller: what came after it was answered 401 and proves nothing."""
    try:
        service.get("/api/v1/auth/me", service.keys[caller])
    except urllib.error.HTTPError as error:
        raise AssertionError(f"the key of the {caller} is not good any more ({error.code}): own.py must keep the case away that ended it") from None


def run(tools, work, service, caller):
    """Whether all held, and what the tool has printed."""
    work.mkdir()
    config = (HERE / "schemathesis.toml").read_text()
    # Of the machine only what programs need: neither its proxies, nor what tells of a continuous integration, nor hooks.
    environment = {"PATH": os.environ["PATH"], "HOME": str(work), "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "NO_PROXY": "*", "PYTHONHASHSEED": "0"}
    if caller in service.keys:
        config = f'hooks = "{HERE / "own.py"}"\n{config}\n[auth.openapi.api_key]\nbearer = "{service.keys[caller]}"\n'
        environment |= {f"HOSTLER_{name.upper()}": str(value) for name, value in service.own[caller].items()}
    tried, wholly = chosen(service, caller)
    config += f"\n[[operations]]\nexclude-operation-id = {json.dumps(tried)}\nenabled = false\n"
    config += f"\n[[operations]]\nexclude-operation-id = {json.dumps(wholly or ['none'])}\nphases.coverage.enabled = false\ngeneration.max-examples = 1\n"
    (work / "schemathesis.toml").write_text(config)
    command = [tools / "py/bin/schemathesis", "--config-file", work / "schemathesis.toml", "--no-color", "run", service.base + "/api/openapi.json"]
    command += ["--report", "ndjson", "--report-ndjson-path", work / "sent.ndjson"]
    ended = subprocess.run(command, cwd=work, timeout=LIMIT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ended.returncode == 0, ended.stdout


def chosen(service, caller):
    """The operations that are called, and which of them are sent the whole of their schemas; the others are sent one case.

    Whatever the operation, one reader of schemas refuses what does not fit, one matrix says who may, and tests of ours send garbage to each
    and ask for each as everybody: one of eight stands for its neighbours, chosen by its name, so that a new operation changes nothing for the
    others. HOSTLER_EVERYTHING tries all. Who may not call an operation is refused before anything that they send is looked at; what a viewer
    may call goes the same way as for the owner but for what is seen.
    """
    paths = json.loads(service.get("/api/openapi.json"))["paths"]
    operations = [operation for methods in paths.values() for operation in methods.values()]
    everything = bool(os.environ.get("HOSTLER_EVERYTHING"))
    sample = [o["operationId"] for o in operations if everything or zlib.crc32(o["operationId"].encode()) % 8 == 0]
    if caller == "owner":
        return sample, sample
    found = admitting(operations, caller)
    if caller == "viewer":
        return sample, found if everything else []
    return sorted({*sample, *found}), found


def admitting(operations, caller):
    """Those that admit the caller: those open to all, and for a viewer those whose role they have."""
    found = [operation["operationId"] for operation in operations if admits(operation, caller)]
    listed = {"log_in": "log_in" in found, "list_vms": "list_vms" in found, "create_user": "create_user" in found}
    expected = {"log_in": True, "list_vms": caller == "viewer", "create_user": False}
    assert listed == expected, f"these are said to admit the {caller}: {found}"
    return found


def admits(operation, caller):
    security = operation.get("security")
    return security == [] or {} in (security or []) or caller == "viewer" and operation["x-role"] in ("none", "viewer")


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
