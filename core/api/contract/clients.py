"""Clients are generated from the document, compiled, and two of them call every operation once."""

import json
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent

# Operations that would end the session or the key of the calls after them, or never end, as streams and sockets do.
LAST = ["change_password", "log_out", "log_out_at_provider"]
STREAMS = re.compile(r"^stream_(job_)?events$|^follow_\w+_log$|^connect_")

# Reads that may be refused: once the service is set up; of apps, whose logs no driver has; of recordings, since nobody has opened a console;
# of what scopes of firewalls do not have, and of logs that the demo's tokens may not read; of the catalog, which has no source there, and
# of ports of apps whose nodes are not logged in to.
REFUSED = re.compile(r"^(get_setup|get_app_logs|get_console_recording(_cast)?|get_catalog_(entry|icon|file)|plan_catalog_entry|list_app_ports|read_\w+_log|list_(node|group)_firewall_(aliases|ipsets|ipset_members|refs)|list_firewall_node_\w+)$")


def check(tools, oapi_codegen, folder, document, service):
    operations = list_operations(json.loads(document.read_text()), service)
    print(f"== clients: generate and compile, then call {len(operations)} operations", flush=True)
    go(oapi_codegen, folder, document)
    python(tools, folder, document)
    typescript(tools, folder, document, operations)
    # Reads by both come first: the writes delete what is read.
    for kind in ("reads", "writes"):
        chosen = [o for o in operations if (o["method"] == "get") == (kind == "reads")]
        (folder / f"{kind}.json").write_text(json.dumps(chosen))
        call = [tools / "py/bin/python", HERE / "call.py", folder / f"{kind}.json", service.base, service.keys["owner"]]
        subprocess.run(call, cwd=folder / "python", check=True, timeout=300)
        subprocess.run(["node", f"{kind}.js", service.base, service.keys["owner"]], cwd=folder / "typescript", check=True, timeout=300)


def list_operations(document, service):
    """One call per operation, reads first: its id, tag, method, path, path parameters, what its query must have and a body of the examples."""
    calls = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if STREAMS.match(operation["operationId"]):
                continue
            content = operation.get("requestBody", {}).get("content", {"application/json": {}})
            if "application/json" not in content:
                continue  # a form with a file: the clients compile it, and no example of it is a value of theirs
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
            media = list(operation["responses"].get("200", {}).get("content", {"application/json": {}}))
            params = {name: service.value(path, name) for name in re.findall(r"{(\w+)}", path)}
            query = {p["name"]: service.query(p["name"]) for p in operation.get("parameters", []) if p["in"] == "query" and p.get("required")}
            calls.append({"id": operation["operationId"], "tag": operation["tags"][0], "method": method, "path": path, "params": params, "query": query, "body": body, "text": "application/json" not in media, "refused": bool(REFUSED.match(operation["operationId"]))})
    calls.sort(key=lambda call: (call["method"] != "get", call["method"] == "delete", call["id"] in LAST))
    return calls


def go(oapi_codegen, folder, document):
    out = folder / "go"
    out.mkdir()
    subprocess.run([oapi_codegen, "-package", "client", "-o", out / "client.go", document], check=True, timeout=180)
    (out / "go.mod").write_text("module example.org/client\n\ngo 1.24\n")
    # Compiled as make build does, with which it shares what it stands on.
    environment = dict(os.environ, GOFLAGS="-mod=mod -trimpath", GOWORK="off", CGO_ENABLED="0")
    subprocess.run(["go", "get", "github.com/oapi-codegen/runtime@v1.8.0"], cwd=out, check=True, timeout=180, env=environment, capture_output=True)
    subprocess.run(["go", "mod", "tidy"], cwd=out, check=True, timeout=180, env=environment, capture_output=True)
    subprocess.run(["go", "vet", "./..."], cwd=out, check=True, timeout=300, env=environment)


def python(tools, folder, document):
    out = folder / "python"
    config = folder / "python.yaml"
    config.write_text(
        "package_name_override: hostler_client\npost_hooks: []\n"
        # Texts and pictures that the generator does not know.
        "content_type_overrides: {application/openmetrics-text: text/plain, application/x-asciicast: text/plain, image/png: application/octet-stream, image/jpeg: application/octet-stream, image/webp: application/octet-stream}\n"
    )
    subprocess.run(
        [tools / "py/bin/openapi-python-client", "generate", "--meta", "none", "--config", config, "--path", document, "--output-path", out / "hostler_client", "--fail-on-warning"],
        check=True, timeout=180,
    )
    subprocess.run([tools / "py/bin/mypy", "--cache-dir", folder / "mypy", "hostler_client"], cwd=out, check=True, timeout=300)


CALLS = """import createClient from "openapi-fetch";
import type { paths } from "./openapi";

const [base, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: base, headers: { Authorization: `Bearer ${key}` } });
let failed = 0;

async function call(id: string, read: boolean, answer: Promise<{ data?: unknown; error?: unknown; response: Response }>) {
  const { data, error, response } = await answer;
  const decoded = response.status === 204 || data !== undefined || (error as { status?: number } | undefined)?.status === response.status;
  if (!decoded || response.status === 500 || (read && response.status >= 300)) {
    failed++;
    console.error(`TypeScript: ${id}: ${response.status} ${JSON.stringify(data ?? error)}`);
  }
}

"""


def typescript(tools, folder, document, operations):
    out = folder / "typescript"
    out.mkdir()
    (out / "node_modules").symlink_to(tools / "node_modules")
    (out / "package.json").write_text('{"type":"module"}')
    (out / "tsconfig.json").write_text(json.dumps({
        "compilerOptions": {"strict": True, "target": "es2022", "module": "esnext", "moduleResolution": "bundler", "lib": ["es2022", "dom", "dom.iterable"], "types": []},
        "include": ["*.ts"],
    }))
    subprocess.run([tools / "node_modules/.bin/openapi-typescript", document, "-o", out / "openapi.d.ts"], check=True, timeout=180)
    (out / "process.d.ts").write_text("declare const process: { argv: string[]; exit(code: number): never };\n")
    for kind in ("reads", "writes"):
        text = CALLS
        for o in operations:
            if (o["method"] == "get") != (kind == "reads"):
                continue
            options = {}
            if o["params"]:
                options["params"] = {"path": o["params"]}
            if o["query"]:
                options["params"] = {"query": o["query"], **options.get("params", {})}
            if o["body"] is not None:
                options["body"] = o["body"]
            if o["text"]:
                options["parseAs"] = "text"
            text += f"await call({json.dumps(o['id'])}, {json.dumps(o['method'] == 'get' and not o['refused'])}, client.{o['method'].upper()}({json.dumps(o['path'])}"
            text += f", {json.dumps(options)}" if options else ""
            text += "));\n"
        (out / f"{kind}.ts").write_text(text + "process.exit(failed ? 1 : 0);\n")
    subprocess.run([tools / "node_modules/.bin/tsc", "--project", out], cwd=out, check=True, timeout=300)
