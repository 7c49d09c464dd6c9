package scenarios

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// hostsFixture is the resource on a real database with a hypervisor in memory.
type hostsFixture struct {
	*servicetest.Resource
	t       *testing.T
	driver  *memdriver.Driver
	cluster *memdriver.Cluster
}

// newHosts takes the driver as it is unless it is to be wrapped.
func newHosts(t *testing.T, wrap ...func(hypervisor.Driver) host.Drivers) *hostsFixture {
	t.Helper()
	b := &hostsFixture{t: t, driver: memdriver.New()}
	b.cluster = b.driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 3, Containers: 2})
	installed := host.Drivers(servicetest.Drivers{Driver: b.driver})
	for _, w := range wrap {
		installed = w(b.driver)
	}
	b.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) { hosts.Register(a, d.Hosts) },
		func(c *service.Config) { c.Drivers = installed })
	inventorytest.Team(t, b.DB, 2)
	return b
}

func (b *hostsFixture) body(name, address string, more ...string) string {
	token := b.cluster.Target(endpoint.Monitoring).Credential
	fields := append([]string{fmt.Sprintf(`"name":%q,"address":%q,"token_id":%q,"token_secret":%q`, name, address, token.ID,
		string(token.Secret))}, more...)
	return "{" + strings.Join(fields, ",") + "}"
}

func (b *hostsFixture) pinned(name string) string {
	return b.body(name, "https://POOL.mem",
		fmt.Sprintf(`"tls_fingerprint":%q`, strings.ToLower(strings.ReplaceAll(b.cluster.Fingerprint(), ":", ""))))
}

func (b *hostsFixture) rotate(c endpoint.Capability) string {
	token := b.cluster.Target(c).Credential
	return fmt.Sprintf(`{"capability":%q,"token_id":%q,"token_secret":%q}`, c, token.ID, string(token.Secret))
}

func TestEnrolHost(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	limited := b.cluster.NewToken(endpoint.Monitoring, "small", memdriver.GuestAudit, memdriver.GuestPower).Credential
	post := func(name, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/hosts", body, apitest.Admin, status, code, contains...)
	}
	probe := func(name, address string, status int, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Admin, Status: status, Error: code,
			Body: fmt.Sprintf(`{"address":%q,"tokens":[]}`, address), Contains: contains}
	}
	b.Run(t,
		post("an untrusted certificate", b.body("lab", "pool.mem"), 502, "hypervisor_error", `"reason":"tls_fingerprint"`,
			b.cluster.Fingerprint()),
		post("a pin of another certificate", b.body("lab", "pool.mem", `"tls_fingerprint":"`+strings.Repeat("AB", 32)+`"`), 502,
			"hypervisor_error", `"reason":"tls_fingerprint"`),
		post("a wrong token", strings.Replace(b.pinned("lab"), "secret-of-monitoring", "canary-wrong-1", 1), 502, "token_rejected",
			`"reason":"auth"`),
		post("nobody there", b.body("lab", "nobody.mem", `"verify_tls":false`), 502, "hypervisor_error", `"reason":"unreachable"`),
		post("a loopback address", b.body("lab", "127.0.0.1"), 422, "invalid"),
		post("several faults at once", `{"name":" ","address":"a/b","token_id":"x y","token_secret":"s","tls_fingerprint":"zz"}`, 422,
			"invalid", `"address"`, `"name"`, `"token_id"`, `"tls_fingerprint"`),
		apitest.Scenario{Name: "nothing was stored", Method: "GET", URL: "/api/v1/hosts", As: apitest.Viewer, Status: 200,
			Contains: []string{"[]"}},
		apitest.Scenario{Name: "operators may not", Method: "POST", URL: "/api/v1/hosts", As: apitest.Operator, Body: b.pinned("lab"),
			Status: 403, Error: "forbidden"},
		apitest.Scenario{Name: "probe", Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Admin,
			Body: b.body("lab", "pool.mem", `"verify_tls":false`), Status: 200, Contains: []string{`"reachable":true`, b.cluster.Fingerprint(),
				`"names":["pool.mem"]`, `"issuer":"CN=memory"`, `"not_before":"2020-01-01T00:00:00Z"`, `"days_left":`}},
		probe("the certificate alone", "pool.mem", 200, "", b.cluster.Fingerprint(), `"trusted":false`, `"reachable":false`, `"tokens":[]`),
		probe("the certificate of nobody", "nobody.mem", 502, "hypervisor_error", `"reason":"unreachable"`),
		post("a given pin, with its other privileges told",
			strings.NewReplacer(`service@mem!monitoring`, limited.ID, "secret-of-monitoring",
				string(limited.Secret)).Replace(b.pinned("lab")), 201, "",
			`"address":"pool.mem:8006"`, `"missing":["Node.Audit"]`, `"extra":["Guest.Power"]`, `"status":"pending"`,
			`"remedy":"memctl role set monitoring 'Guest.Audit,Node.Audit'"`,
			`"tls_fingerprint":"`+b.cluster.Fingerprint(), `"key":"monitoring"`),
		post("the name again", b.body("lab", "other.mem", `"verify_tls":false`), 409, "conflict"),
		post("the address again", b.pinned("lab2"), 409, "conflict"),
	)
	b.driver.Add("[2001:db8::1]:8006", memdriver.Spec{})
	// Without a pin and unverified, what was seen is pinned.
	var made struct {
		Fingerprint string `json:"tls_fingerprint"`
		Verify      bool   `json:"verify_tls"`
	}
	b.Expect(t, "POST", "hosts", b.body("v6", "[2001:DB8::1]", `"verify_tls":false`), apitest.Admin, 201, "").Decode(t, &made)
	if made.Fingerprint == "" || made.Verify {
		t.Errorf("%+v", made)
	}
	if n := b.Value("SELECT count(*) FROM audit WHERE action = 'host.create' AND result = 'ok'"); n != "2" {
		t.Errorf("%s rows of the audit log, want 2", n)
	}
	b.readable()
}

// aliasDriver is a driver whose cluster answers at a second address.
type aliasDriver struct{ hypervisor.Driver }

func (d aliasDriver) Hypervisor(string) hypervisor.Driver { return d }

func (d aliasDriver) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	if target.Address == "alias.mem:8006" {
		target.Address = "pool.mem:8006"
	}
	return d.Driver.Open(ctx, target)
}

func TestOneServerTwiceAsHosts(t *testing.T) {
	t.Parallel()
	b := newHosts(t, func(d hypervisor.Driver) host.Drivers { return aliasDriver{d} })
	b.driver.Add("other.mem:8006", memdriver.Spec{})
	b.Enrol(t, "lab", b.cluster)
	b.Run(t,
		apitest.Scenario{Name: "enrolled again", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin,
			Body: b.body("again", "alias.mem", `"verify_tls":false`, `"driver":"mem"`), Status: 409,
			Error: "already_enrolled", Contains: []string{`"host_id":1`}},
		apitest.Scenario{Name: "another server", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin,
			Body: b.body("other", "other.mem", `"verify_tls":false`, `"driver":"mem"`), Status: 201},
		apitest.Scenario{Name: "another host is sent there", Method: "PATCH", URL: "/api/v1/hosts/2", As: apitest.Owner,
			Body: `{"address":"alias.mem","tls_fingerprint":null}`, Status: 409,
			Error: "already_enrolled", Contains: []string{`"host_id":1`}},
		apitest.Scenario{Name: "the other host is another team's", Method: "PATCH", URL: "/api/v1/hosts/2", As: apitest.Owner,
			Body: `{"team_id":2}`, Status: 200},
		apitest.Scenario{Name: "whose owner is not told more", Method: "PATCH", URL: "/api/v1/hosts/2", As: foreign,
			Body: `{"address":"alias.mem","tls_fingerprint":null}`, Status: 409, Error: "already_enrolled",
			Lacks: []string{"host_id", "lab", "pool"}},
		apitest.Scenario{Name: "the host itself moves", Method: "PATCH", URL: "/api/v1/hosts/1", As: apitest.Admin,
			Body: `{"address":"alias.mem"}`, Status: 200},
	)
	if n := b.Value("SELECT count(*) FROM audit WHERE result = 'refused' AND error = 'already_enrolled'"); n != "3" {
		t.Errorf("%s rows of the audit log record the refusal, want 3", n)
	}
	if text := b.Value("SELECT string_agg(to_jsonb(a)::text, '') FROM audit a WHERE error = " +
		"'already_enrolled' AND action = 'host.update'"); strings.Contains(text, "lab") {
		t.Errorf("the audit log hints at the other host: %s", text)
	}
}

func TestTokensOfHosts(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	path := "/api/v1/hosts/1/credentials"
	rotate := func(name, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", path, body, apitest.Owner, status, code, contains...)
	}
	b.Run(t,
		rotate("nothing", `{}`, 422, "invalid"),
		rotate("an id without a secret", `{"token_id":"a@b!c"}`, 422, "invalid", "token_secret"),
		rotate("a secret without an id", `{"token_secret":"canary-2"}`, 422, "invalid", "token_id"),
		rotate("no such capability", `{"capability":"everything","token_id":"a@b!c","token_secret":"s"}`, 422, "invalid"),
		rotate("an SSH key without consent", `{"rotate_ssh":true}`, 409, "consent_required", `"field":"ssh_consent"`, `"version":2`),
		rotate("an SSH key", `{"rotate_ssh":true,"ssh_consent":true}`, 200, "", `"public_key":"restrict ssh-ed25519 `, `"capability":null`,
			`"tokens":[]`, `"install_command":"mkdir`),
		rotate("a rejected token", `{"token_id":"service@mem!monitoring","token_secret":"canary-3"}`, 502, "token_rejected"),
		apitest.Scenario{Name: "the old one stays", Method: "POST", URL: "/api/v1/hosts/1/sync", As: apitest.Operator, Status: 200},
		rotate("a further capability", b.rotate(endpoint.Lifecycle), 200, "", `"capability":"lifecycle"`, `"missing":[]`),
		apitest.Scenario{Name: "admins may not", Method: "POST", URL: path, As: apitest.Admin, Body: b.rotate(endpoint.Lifecycle), Status: 403,
			Error: "forbidden"},
		apitest.Scenario{Name: "it is listed, in order", Method: "GET", URL: "/api/v1/hosts/1", As: apitest.Viewer, Status: 200,
			Contains: []string{`"key":"monitoring"`, `"key":"lifecycle"`}, Lacks: []string{"secret-of"}},
		apitest.Scenario{Name: "monitoring stays", Method: "DELETE", URL: path + "/monitoring", As: apitest.Owner, Status: 409,
			Error: "capability_required"},
		apitest.Scenario{Name: "lifecycle goes", Method: "DELETE", URL: path + "/lifecycle", As: apitest.Owner, Status: 200,
			Contains: []string{`"removed":true`, `"commands":["`}},
		apitest.Scenario{Name: "and is gone", Method: "DELETE", URL: path + "/lifecycle", As: apitest.Owner, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "no such kind", Method: "DELETE", URL: path + "/root", As: apitest.Owner, Status: 422, Error: "invalid"},
	)
	details := b.Value(`SELECT details::text FROM audit WHERE action = 'host.rotate_credentials' AND error = 'token_rejected'`)
	if !strings.Contains(details, `"monitoring"`) || !strings.Contains(details, "service@mem!monitoring") {
		t.Errorf("the audit log does not tell which token was rejected: %s", details)
	}
	if _, err := b.Hosts.Open(t.Context(), 1, endpoint.Lifecycle); err == nil || !strings.Contains(err.Error(), "capability_missing") {
		t.Errorf("opening without a token: %v", err)
	}
}

func TestCallsOfHostsToTheHypervisor(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	task := b.cluster.NewTask("backup", 3)
	get := func(name, url string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "GET", "/api/v1/hosts/1/tasks"+url, "", apitest.Viewer, status, code, contains...)
	}
	b.Run(t,
		get("tasks", "?limit=500", 200, "", `"type":"backup"`, `"status":"running"`, `"ended_at":null`),
		get("limit 0", "?limit=0", 422, "invalid"), get("limit 501", "?limit=501", 422, "invalid"), get("no number", "?limit=x", 422, "invalid"),
		get("log", "/"+task+"/log?start=1&limit=1", 200, "", `"total":3`, `"n":2`),
		get("no such task", "/nothing/log", 404, "not_found"),
		apitest.Scenario{Name: "an unknown host", Method: "GET", URL: "/api/v1/hosts/9/tasks", As: apitest.Viewer, Status: 404,
			Error: "not_found"},
		apitest.Scenario{Name: "another team's host", Method: "GET", URL: "/api/v1/hosts/1", As: foreign, Status: 404,
			Error: "not_found"},
		apitest.Scenario{Name: "test", Method: "POST", URL: "/api/v1/hosts/1/test", As: apitest.Admin, Status: 200,
			Contains: []string{`"reachable":true`, `"ok":true`}},
		apitest.Scenario{Name: "token script", Method: "POST", URL: "/api/v1/hosts/token-script", As: apitest.Admin,
			Body: `{"capabilities":["lifecycle"],"node_power":true,"path":"/pool/a"}`, Status: 200,
			Contains: []string{`"script":"`,
				`"undo":["memctl token remove 'service@mem!lifecycle'",`}},
		apitest.Scenario{Name: "token script for a new host", Method: "POST", URL: "/api/v1/hosts/token-script", As: apitest.Admin,
			Body: `{"capabilities":["monitoring"]}`, Status: 200,
			Contains: []string{`"undo":["memctl token remove 'service@mem!monitoring'"`}},
		apitest.Scenario{Name: "token script with recommended privileges", Method: "POST", URL: "/api/v1/hosts/token-script", As: apitest.Admin,
			Body: `{"recommended":true}`, Status: 200, Contains: []string{"--recommended"}},
		apitest.Scenario{Name: "token script for anything", Method: "POST", URL: "/api/v1/hosts/token-script", As: apitest.Admin,
			Body: `{"capabilities":["root"],"path":"/pool/$(reboot)"}`, Status: 422, Error: "invalid", Contains: []string{"capabilities", "path"}},
		apitest.Scenario{Name: "capabilities", Method: "GET", URL: "/api/v1/hosts/capabilities", As: apitest.Viewer, Status: 200,
			Contains: []string{`[{"key":"monitoring"`, `"required":true`, "node_power"}},
	)
	b.cluster.SetFault("tasklog", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "no")})
	b.cluster.SetFault("inventory", memdriver.Fault{Err: plugin.Errorf(plugin.Timeout, "no answer")})
	b.Run(t,
		get("a log fails", "/"+task+"/log", 502, "hypervisor_error", `"reason":"refused"`),
		apitest.Scenario{Name: "sync takes too long", Method: "POST", URL: "/api/v1/hosts/1/sync", As: apitest.Operator, Status: 504,
			Error: "timeout"},
	)
	b.cluster.SetFault("tasks", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "no")})
	b.cluster.SetFault("inventory", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	b.Run(t,
		get("tasks fail", "", 502, "hypervisor_error", `"reason":"refused"`),
		apitest.Scenario{Name: "sync fails", Method: "POST", URL: "/api/v1/hosts/1/sync", As: apitest.Operator, Status: 502,
			Error: "hypervisor_error", Contains: []string{`"reason":"unreachable"`}},
		apitest.Scenario{Name: "the host says so", Method: "GET", URL: "/api/v1/hosts/1", As: apitest.Viewer, Status: 200,
			Contains: []string{`"status":"unreachable"`, `"reason":"unreachable"`, "no route"}},
	)
	b.cluster.SetFault("inventory", memdriver.Fault{})
	b.cluster.Revoke(b.cluster.Target(endpoint.Monitoring))
	b.Run(t, apitest.Scenario{Name: "test of a revoked token", Method: "POST", URL: "/api/v1/hosts/1/test", As: apitest.Admin, Status: 200,
		Contains: []string{`"reachable":false`, `"reason":"auth"`}})
}

func TestPatchHost(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	patch := func(name, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "PATCH", "/api/v1/hosts/1", body, apitest.Admin, status, code, contains...)
	}
	b.Run(t,
		patch("nothing", `{}`, 422, "invalid"),
		patch("a typo", `{"nmae":"x"}`, 422, "invalid"),
		patch("a name", `{"name":"rack"}`, 200, "", `"name":"rack"`),
		patch("no name", `{"name":null}`, 422, "invalid"),
		patch("another address and another certificate by an admin", `{"address":"nobody.mem","tls_fingerprint":null}`, 403, "forbidden",
			`"role":"owner"`),
		patch("an address where nobody is", `{"address":"nobody.mem"}`, 502, "hypervisor_error", `"reason":"unreachable"`),
		patch("another certificate", `{"tls_fingerprint":"`+strings.Repeat("cd", 32)+`"}`, 502, "hypervisor_error",
			`"reason":"tls_fingerprint"`),
		apitest.Scenario{Name: "nothing was changed by these", Method: "GET", URL: "/api/v1/hosts/1", As: apitest.Viewer, Status: 200,
			Contains: []string{`"address":"pool.mem:8006"`, b.cluster.Fingerprint()}},
		patch("the node shell", `{"node_shell_enabled":true,"ssh_host_key_fingerprint":"`+someHostKey+`","ssh_port":2222}`, 200, "",
			`"node_shell_enabled":true`, `"ssh_host_key_fingerprint":"`+someHostKey+`"`, `"port":2222`),
		patch("no host key", `{"ssh_host_key_fingerprint":"SHA256:abc"}`, 422, "invalid", "ssh_host_key_fingerprint"),
		patch("no port", `{"ssh_port":0}`, 422, "invalid", "ssh_port"),
		patch("cleared", `{"node_shell_enabled":null,"ssh_host_key_fingerprint":null,"ssh_port":null}`, 200, "", `"node_shell_enabled":false`,
			`"ssh_host_key_fingerprint":null`, `"port":22`),
		patch("a team that is not there", `{"team_id":77}`, 422, "invalid"),
		patch("another team", `{"team_id":2}`, 200, "", `"team_id":2`),
		apitest.Scenario{Name: "which sees it now", Method: "GET", URL: "/api/v1/hosts", As: apitest.In(2, identity.Viewer), Status: 200,
			Contains: []string{`"rack"`}},
		apitest.Scenario{Name: "and cannot give it away", Method: "PATCH", URL: "/api/v1/hosts/1", Body: `{"team_id":1}`,
			As: apitest.In(2, identity.Admin), Status: 422, Error: "invalid"},
	)
	if b.Value("SELECT team_id FROM clusters") != "2" {
		t.Error("the cluster did not move along")
	}
}

func TestSelfAndRemoveHost(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	b.Exec(`INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, guest_uid, vmid, name)
		SELECT host_id, cluster_id, id, ref, uid, vmid, name FROM guests WHERE kind = 'container'`)
	remove := func(name, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "DELETE", "/api/v1/hosts/1", body, apitest.Owner, status, code, contains...)
	}
	b.Run(t,
		apitest.Scenario{Name: "no such host", Method: "PUT", URL: "/api/v1/hosts/self", As: apitest.Admin, Body: `{"host_id":9}`, Status: 404,
			Error: "not_found"},
		apitest.Scenario{Name: "self", Method: "PUT", URL: "/api/v1/hosts/self", As: apitest.Admin, Body: `{"host_id":1}`, Status: 200,
			Contains: []string{`"host_id":1`}},
		apitest.Scenario{Name: "is shown", Method: "GET", URL: "/api/v1/hosts/1", As: apitest.Viewer, Status: 200,
			Contains: []string{`"is_self":true`, `"vms":3`, `"containers":2`, `"apps":2`, `"nodes":2`}},
		remove("without a word", "", 409, "confirm_required", `"confirm_phrase":"lab"`),
		remove("with another word", `{"confirm":"LAB"}`, 409, "confirm_required"),
		remove("with apps", `{"confirm":"lab"}`, 409, "host_has_apps", `"apps":[{"id":1`),
		apitest.Scenario{Name: "by an admin", Method: "DELETE", URL: "/api/v1/hosts/1", As: apitest.Admin, Body: `{"confirm":"lab"}`,
			Status: 403, Error: "forbidden"},
	)
	b.Exec(`INSERT INTO jobs (kind, status, host_id, target_kind, target_id, target_name) VALUES ` +
		`('vm.stop', 'running', 1, 'vm', 1, 'x')`)
	b.Run(t, remove("with a running job", `{"confirm":"lab","forget_apps":true}`, 409, "conflict", `"jobs":[1]`))
	b.Exec(`INSERT INTO schedules (name, cron, timezone, job_kind, params, enabled)
		SELECT 'Nightly', '0 1 * * *', 'UTC', 'vm.stop', jsonb_build_object('vm_id', min(id)), true FROM guests WHERE kind = 'vm'`)
	b.Exec(`INSERT INTO schedules (name, cron, timezone, job_kind, params, enabled)
		VALUES ('Weekly', '0 1 * * 0', 'UTC', 'backup.run', '{"select":{"host_id":1}}', true)`)
	planned := remove("the plan", "", 200, "", `"blockers":[{"error":"conflict"`, `{"error":"host_has_apps"`, `"confirm_phrase":"lab"`,
		`"kind":"credential"`, `"kind":"app","text":"The app `, `5 guests are no longer shown`, `"The schedule Nightly has no targets`,
		`The schedule Weekly selects guests of the host`, `The service itself runs on this host`)
	planned.URL += "?plan=true"
	foreseen := remove("the plan of what forgets apps", `{"forget_apps":true}`, 200, "", `"blockers":[{"error":"conflict"`)
	foreseen.URL += "?plan=true"
	b.Run(t, planned, foreseen)
	b.Exec(`UPDATE jobs SET status = 'failed'`)
	b.Run(t,
		remove("for good", `{"confirm":"lab","forget_apps":true}`, 200, "", `"removed":true`),
		apitest.Scenario{Name: "gone", Method: "GET", URL: "/api/v1/hosts/1", As: apitest.Owner, Status: 404, Error: "not_found"},
	)
	if left := b.Value("SELECT (SELECT count(*) FROM guests) + (SELECT count(*) FROM apps) + (SELECT count(*) FROM host_credentials) + " +
		"(SELECT count(*) FROM clusters) + (SELECT count(*) FROM settings)"); left != "0" {
		t.Errorf("%s rows are left", left)
	}
}

// A host that is not there, and one of another team, are the same to whoever asks.
func TestUnknownHosts(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	for _, o := range []struct{ method, url, body string }{
		{"GET", "", ""}, {"PATCH", "", `{"name":"rack"}`}, {"DELETE", "", `{"confirm":"lab"}`}, {"POST", "/sync", ""}, {"POST", "/test", ""},
		{"GET", "/tasks", ""}, {"GET", "/tasks/some/log", ""}, {"POST", "/credentials", b.rotate(endpoint.Lifecycle)},
		{"POST", "/credentials", pasteOfHost(b.cluster.RoleOutput(fourCapabilities, nil), "")}, {"DELETE", "/credentials/lifecycle", ""}, {"GET",
			"/peers", ""},
		{"POST", "/peers", `{"nodes":["node2"]}`}, {"GET", "/nodes/node1/status", ""}, {"GET", "/nodes/node1/hardware", ""},
		{"POST", "/nodes/node1/power", `{"command":"reboot","confirm":"node1"}`},
	} {
		b.Run(t,
			apitest.Scenario{Name: "no such host: " + o.method + " " + o.url, Method: o.method, URL: "/api/v1/hosts/9" + o.url, Body: o.body,
				As: apitest.Owner, Status: 404, Error: "not_found"},
			apitest.Scenario{Name: "another team's: " + o.method + " " + o.url, Method: o.method, URL: "/api/v1/hosts/1" + o.url, Body: o.body,
				As: foreign, Status: 404, Error: "not_found"},
		)
	}
}
