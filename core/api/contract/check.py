"""What make contract runs: the real service with the simulated cluster, its OpenAPI document through a linter and three
client generators, one call per operation by two of the clients, and schemathesis as owner, viewer and nobody.

    check.py --bin BIN --tools TOOLS --oapi-codegen PROGRAM [lint] [clients] [fuzz]

BIN holds the programs, TOOLS node_modules and the virtual environment py, PROGRAM generates the client in Go. Everything else
is made in a temporary folder. The exit status is 1 when anything failed, and the lines before say what.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import clients  # noqa: E402
import fuzz  # noqa: E402
from service import Service  # noqa: E402


def lint(tools, document):
    """The linter's errors fail; its warnings are printed."""
    subprocess.run(
        [tools / "node_modules/.bin/redocly", "lint", "--config", HERE / "redocly.yaml", "--format=stylish", document],
        check=True, timeout=180,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--oapi-codegen", type=pathlib.Path, required=True)
    parser.add_argument("parts", nargs="*", default=[])
    args = parser.parse_args()
    parts = args.parts or ["lint", "clients", "fuzz"]
    with tempfile.TemporaryDirectory(prefix="hostler-contract-") as folder:
        folder, tools, bin = pathlib.Path(folder), args.tools.resolve(), args.bin.resolve()
        if "lint" in parts or "clients" in parts:
            with Service(bin) as service:
                document = folder / "openapi.json"
                document.write_bytes(service.get("/api/openapi.json"))
                if "lint" in parts:
                    print("== lint of the document", flush=True)
                    lint(tools, document)
                if "clients" in parts:
                    clients.check(tools, args.oapi_codegen.resolve(), folder, document, service)
        if "fuzz" in parts:
            fuzz.check(tools, folder, bin)
    print("contract: all held")


if __name__ == "__main__":
    try:
        main()
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired, AssertionError) as error:
        sys.exit(f"contract: {error}")
