"""The real service with the simulated cluster, started by hostler-demo, and things in it for every path."""

import http.cookiejar
import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request

PASSWORD = "seven-yellow-donkeys"


class Service:
    """Runs while it is entered. base is its address, keys are API keys by role, own the ids of a key and its user by role,
    and values those of path parameters."""

    def __init__(self, bin):
        self.bin, self.keys, self.own, self.values = bin, {}, {}, {}

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.base = f"http://{address}"
        self.process = subprocess.Popen(
            [self.bin / "hostler-demo", "--bin", self.bin, "--listen", address], stdout=subprocess.PIPE, text=True
        )
        try:
            password = ""
            for line in self.process.stdout:
                found = re.match(r"\s*password\s+(\S+)", line)
                if found:
                    password = found[1]
                if "Ctrl-C" in line:
                    break
            assert password, "hostler-demo named no password"
            self.furnish(password)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def get(self, path, key=None):
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with urllib.request.urlopen(urllib.request.Request(self.base + path, headers=headers), timeout=60) as answer:
            return answer.read()

    def log_in(self, email, password):
        """A function that makes requests of this user: call(method, path, body) is the answer's JSON."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

        def call(method, path, body=None, media="application/json"):
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            request = urllib.request.Request(self.base + "/api/v1" + path, data, {"Content-Type": media}, method=method)
            with opener.open(request, timeout=60) as answer:
                text = answer.read()
            return json.loads(text) if text else None

        call("POST", "/auth/login", {"email": email, "password": password})
        return call

    @staticmethod
    def ended(call, job):
        deadline = time.monotonic() + 60
        while call("GET", f"/jobs/{job}")["status"] in ("queued", "running"):
            assert time.monotonic() < deadline, "the job did not end"
            time.sleep(0.1)

    def value(self, path, name):
        """The value of a path parameter; a storage's name has the word of a snapshot's."""
        return "local" if name == "name" and "/storage/" in path else self.values[name]

    def query(self, name):
        """The value of a parameter that a query must have."""
        return {"target": [f"vm:{self.values['vm_id']}"], "metric": ["cpu"], "host": self.values["host_id"], "sum": "0" * 64, "path": "install.sh",
                "cron": "30 2 * * *"}[name]

    def furnish(self, password):
        owner = self.log_in("owner@example.com", password)
        host = owner("GET", "/hosts")[0]["id"]
        container = owner("GET", "/apps/discovered")[0]
        app = owner("POST", "/apps/adopt", {"items": [{"host_id": host, "vmid": container["vmid"]}]})[0]
        owner("PUT", f"/apps/{app['id']}/script", {"content": "echo hello"})
        vm = next(v for v in owner("GET", "/vms") if v["status"] == "running" and not v["template"])
        job = owner("POST", f"/vms/{vm['id']}/shutdown")["job"]["id"]
        self.ended(owner, job)
        self.ended(owner, owner("POST", "/backups/run", {"targets": [{"vm": vm["id"]}], "storage": "nas"})["jobs"][0]["id"])
        backup = owner("GET", "/backups")[0]["id"]
        upload = "upload-of-the-contract"
        form = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.iso"\r\n\r\nabc\r\n--edge--\r\n'
        try:
            owner("POST", f"/storage/{host}/local/content?upload_id={upload}", form, "multipart/form-data; boundary=edge")
        except urllib.error.HTTPError as refused:
            assert refused.code == 502, refused.read()  # without the privilege, and told of all the same
        schedule = owner("POST", "/schedules", {"name": "Nightly stop", "cron": "0 3 * * *", "job_kind": "vm.stop", "params": {"vm_id": vm["id"]}})
        rules = [{"type": "in", "action": "DROP", "enable": 1, "proto": "tcp", "dport": "23"}]
        change = {"scope": {"kind": "vm", "id": vm["id"]}, "action": "create_rule", "rule": rules[0]}
        draft = owner("POST", "/firewall/drafts", {"host_id": host, "name": "no telnet", "changes": [change]})["id"]
        template = owner("POST", "/firewall/templates", {"name": "no telnet", "content": {"rules": rules}})["id"]
        group = owner("POST", f"/firewall/cluster/{host}/groups", {"group": "web"})["group"]
        for scope in (f"/vms/{vm['id']}/firewall", f"/apps/{app['id']}/firewall", f"/firewall/cluster/{host}"):
            owner("POST", f"{scope}/ipsets", {"name": "before-upgrade"})
            owner("POST", f"{scope}/ipsets/before-upgrade/members", {"cidr": "192.0.2.9"})
        channel = owner("POST", "/notification-channels", {"name": "nowhere", "kind": "webhook", "settings": {"url": "http://127.0.0.1:9/"}})["id"]
        provider = owner("POST", "/identity-providers", {"name": "nowhere", "issuer": "https://127.0.0.1:9", "client_id": "hostler"})["id"]
        rule = owner("POST", "/alert-rules", {"name": "web is down", "kind": "guest_down", "on": {"targets": [f"vm:{vm['id']}"]}})["id"]
        window = owner("POST", "/maintenance-windows", {"name": "night", "cron": "0 1 * * *", "duration_s": 3600})["id"]
        deadline = time.monotonic() + 120
        while not (alerts := owner("GET", f"/alerts?rule={rule}")):  # the VM was shut down above
            assert time.monotonic() < deadline, "no alert was raised"
            time.sleep(0.5)
        team = owner("POST", "/teams", {"name": "Web shop"})["id"]
        user = owner("POST", "/users", {"email": "anna@example.com", "password": PASSWORD})["id"]
        owner("PUT", f"/teams/{team}/members/{user}", {"role": "viewer"})
        callers = {}
        for role in ("owner", "viewer"):
            caller = owner("POST", "/users", {"email": f"{role}.contract@example.com", "password": PASSWORD})["id"]
            owner("PUT", f"/teams/1/members/{caller}", {"role": role})
            callers[role] = caller, self.log_in(f"{role}.contract@example.com", PASSWORD)
        key = [callers["owner"][1]("POST", "/api-keys", {"name": name})["id"] for name in ("spare", "further spare")][0]
        for role, (caller, call) in callers.items():
            made = call("POST", "/api-keys", {"name": "contract"})
            self.keys[role], self.own[role] = made["key"], {"key_id": made["id"], "user_id": caller}
        self.values = {
            "host_id": host, "vm_id": vm["id"], "app_id": app["id"], "job_id": job, "schedule_id": schedule["id"], "team_id": team,
            "user_id": user, "key_id": key, "session_id": 987654321, "passkey_id": 987654321, "node": "pve1", "action": "start", "name": "before-upgrade", "kind": "backup",
            "draft_id": draft, "template_id": template, "channel_id": channel, "provider_id": provider, "alert_id": alerts[0]["id"], "rule_id": rule, "window_id": window, "group": group, "pos": 0, "cidr": "192.0.2.9", "iface": "net0", "drive": "ide2", "backup_id": backup, "upload_id": upload, "recording_id": 987654321, "slug": "no-such-app", "source": "no-such-source", "volid": "local:iso/none.iso",
            "upid": owner("GET", f"/hosts/{host}/tasks")[0]["upid"], "entry_id": owner("GET", "/audit")[0]["id"],
        }
