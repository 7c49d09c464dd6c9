"""Calls every operation once with the generated Python client: every answer must decode into what the document declares.

    call.py CALLS BASE KEY

Reads must succeed; a write may be refused, when its refusal decodes as well. It runs in the folder of the client.
"""

import importlib
import inspect
import json
import re
import sys

sys.path.insert(0, ".")

from hostler_client import AuthenticatedClient  # noqa: E402
from hostler_client.types import Unset  # noqa: E402


def snake(name):
    name = re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^A-Z_\W])(?=[A-Z])", "_", name)
    return re.sub(r"[\s-]+", "_", name).lower()


def arguments(function, module, call):
    """The path parameters, those of the query and the body as the function's own types."""
    known = inspect.signature(function).parameters
    # A name that Python has itself gets an underscore.
    given = {name if name in known else name + "_": value for name, value in dict(call["params"], **call["query"]).items()}
    for name, value in given.items():
        wanted = inspect.signature(function).parameters[name].annotation
        if isinstance(value, str) and inspect.isclass(wanted) and wanted is not str:
            given[name] = wanted(value)
    if call["body"] is not None:
        wanted = inspect.signature(function).parameters["body"].annotation
        options = [t for t in getattr(wanted, "__args__", (wanted,)) if t not in (type(None), Unset)]
        given["body"] = options[0].from_dict(call["body"])
    return given


def main():
    calls, base, key = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
    client, failed, succeeded = AuthenticatedClient(base_url=base, token=key, raise_on_unexpected_status=True, timeout=60), 0, 0
    for call in calls:
        module = importlib.import_module(f"hostler_client.api.{snake(call['tag'])}.{call['id']}")
        try:
            answer = module.sync_detailed(client=client, **arguments(module.sync_detailed, module, call))
            status = int(answer.status_code)
            succeeded += status < 300
            read = call["method"] == "get" and not call["refused"]
            if status == 500 or (read and status >= 300) or (answer.parsed is None and answer.content):
                raise ValueError(f"{status} {answer.content[:500]!r}")
        except Exception as error:  # whatever a client trips over is what is looked for
            failed += 1
            print(f"Python: {call['id']}: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"Python: {len(calls)} operations called, {succeeded} did what was asked, {failed} failed", file=sys.stderr)
    sys.exit(1 if failed or succeeded < len(calls) // 3 else 0)


main()
