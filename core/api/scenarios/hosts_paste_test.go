package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// pasteOfHost is a body with a paste.
func pasteOfHost(paste plugin.Secret, more string) string {
	text, _ := json.Marshal(string(paste)) // text
	return fmt.Sprintf(`{"paste":%s%s}`, text, more)
}

// readable looks for secrets in everything that is stored.
func (b *hostsFixture) readable(secrets ...string) {
	b.t.Helper()
	for _, column := range []string{"SELECT string_agg(to_jsonb(a)::text, '') FROM audit a",
		"SELECT string_agg(k::text, '') || string_agg(encode(secret, 'escape'), '') FROM host_credentials k"} {
		text := b.Value(column)
		for _, secret := range append(secrets, "secret-of-", "canary") {
			if strings.Contains(text, secret) {
				b.t.Errorf("%.20s is readable: %s", secret, text)
			}
		}
	}
}

var fourCapabilities = []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle, endpoint.Console, endpoint.Backup}

func TestEnrolHostByPaste(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	at := `,"name":"lab","address":"pool.mem","tls_fingerprint":"` + b.cluster.Fingerprint() + `"`
	out := b.cluster.RoleOutput(fourCapabilities, []endpoint.Capability{endpoint.NodePower})
	limited := b.cluster.NewToken(endpoint.Lifecycle, "small", memdriver.GuestAudit, memdriver.NodePower).Credential
	swapped := plugin.Secret(strings.ReplaceAll(string(out), "service@mem!lifecycle secret-of-lifecycle", limited.ID+" "+
		string(limited.Secret)))
	wrong := plugin.Secret(strings.ReplaceAll(string(out), "secret-of-backup", "secret-of-canary"))
	post := func(name, body string, status int, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin, Body: body, Status: status, Error: code,
			Contains: contains, Lacks: []string{"secret-of", "canary"}}
	}
	b.Run(t,
		post("neither token nor paste", `{"name":"lab","address":"pool.mem"}`, 422, "invalid", `["body","token_secret"]`, `"missing"`),
		post("that and a bad name", `{"name":"","address":"pool.mem"}`, 422, "invalid", `["body","token_secret"]`, `["body","name"]`),
		post("a paste and a token", pasteOfHost(out, at+`,"token_id":"a@b!c","token_secret":"canary"`), 422, "invalid", `["body","paste"]`,
			"leave them out"),
		post("an empty paste", pasteOfHost("", at), 422, "invalid", `["body","paste"]`, `"too_short"`),
		post("a blank paste", pasteOfHost(" \n", at), 422, "invalid", `["body","paste"]`, "is empty"),
		post("another text", pasteOfHost("canary", at), 422, "invalid", `["body","paste"]`),
		post("NUL", pasteOfHost("canary\x00", at), 422, "invalid", `["body","paste"]`),
		post("a long text", pasteOfHost(plugin.Secret(strings.Repeat("canary ", 10_000)), at), 422, "invalid", `["body","paste"]`, `"too_long"`),
		post("many bytes", pasteOfHost(plugin.Secret(strings.Repeat("canary-ö ", 6_600)), at), 422, "invalid", `["body","paste"]`, `"too_long"`),
		post("a number", `{"paste":7`+at+`}`, 422, "invalid", `["body","paste"]`, `"string_type"`),
		post("without monitoring", pasteOfHost(b.cluster.RoleOutput(fourCapabilities[1:], nil), at), 422, "invalid",
			"has no token for monitoring"),
		post("with monitoring kept", pasteOfHost(b.cluster.RoleOutput(fourCapabilities[1:], fourCapabilities[:1]), at), 422, "invalid",
			"renew the token"),
		post("a loopback address besides", strings.Replace(pasteOfHost("canary", at), "pool.mem", "127.0.0.1", 1), 422, "invalid",
			`["body","paste"]`,
			`["body","address"]`),
		post("a certificate that nothing vouches for", pasteOfHost(out, `,"name":"lab","address":"pool.mem"`), 502, "hypervisor_error",
			`"reason":"tls_fingerprint"`, `"tokens":[{"key":"monitoring"`),
		post("a token of which one is wrong", pasteOfHost(wrong, at), 502, "token_rejected", "the token for backup: ", `"reason":"auth"`,
			`"tokens":[{"key":"monitoring","token_id":"service@mem!monitoring","form":"token","ok":true`,
			`{"key":"backup","token_id":"service@mem!backup","form":"token","ok":false,"reason":"auth"`),
		apitest.Scenario{Name: "nothing was stored", Method: "GET", URL: "/api/v1/hosts", As: apitest.Viewer, Status: 200,
			Contains: []string{"[]"}},
		post("an unknown capability", pasteOfHost(out, at+`,"capabilities":["root"]`), 422, "invalid", `["body","capabilities",0]`),
		post("none of them", pasteOfHost(out, at+`,"capabilities":["node_power"]`), 422, "invalid", "has no token for monitoring"),
		post("all of them", pasteOfHost(swapped, at), 201, "", `"capabilities":[{"key":"monitoring"`,
			`"key":"lifecycle","token_id":"`+limited.ID,
			`"missing":["Guest.Power"],"extra":["Node.Power"]`, `"key":"console"`, `"key":"backup"`, `"verification":{"version":"1.2.3"`),
		apitest.Scenario{Name: "the service sees with them", Method: "POST", URL: "/api/v1/hosts/1/test", As: apitest.Admin, Status: 200,
			Contains: []string{`"reachable":true`, `"key":"backup","token_id":"service@mem!backup","form":"token","ok":true`}},
	)
	b.readable()
	details := b.Value("SELECT details::text FROM audit WHERE action = 'host.create' AND result = 'ok'")
	for _, want := range []string{`"monitoring", "lifecycle", "console", "backup"`, "service@mem!backup", limited.ID, "pool.mem:8006"} {
		if !strings.Contains(details, want) {
			t.Errorf("the details in the audit log do not contain %s: %s", want, details)
		}
	}
}

// A paste may have more tokens than are wanted: the others are neither tried nor stored.
func TestEnrolHostBySomeOfAPaste(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	out := b.cluster.RoleOutput(fourCapabilities, []endpoint.Capability{endpoint.NodePower})
	wrong := plugin.Secret(strings.ReplaceAll(string(out), "secret-of-backup", "secret-of-canary"))
	body := pasteOfHost(wrong, `,"capabilities":["console","monitoring"],"address":"pool.mem","tls_fingerprint":"`+
		b.cluster.Fingerprint()+`"`)
	lacks := []string{"lifecycle", `"key":"backup"`, "node_power", "canary"}
	b.Run(t,
		apitest.Scenario{Name: "probe", Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Admin, Body: body, Status: 200,
			Contains: []string{`"key":"monitoring"`, `"key":"console"`, `"kept":[]`}, Lacks: lacks},
		apitest.Scenario{Name: "enrol", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin,
			Body: strings.Replace(body, `"address"`, `"name":"lab","address"`, 1), Status: 201,
			Contains: []string{`"key":"monitoring"`, `"key":"console"`}, Lacks: lacks},
	)
	if got := b.Value("SELECT string_agg(capability, ' ' ORDER BY capability) FROM host_credentials"); got != "console monitoring" {
		t.Errorf("stored are the tokens for %s", got)
	}
}

// Where nothing decides which certificate is right, all tokens go to the one server that was seen first.
func TestEnrolHostByPasteWithoutAPin(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string][]func(hypervisor.Driver) host.Drivers{
		"": nil, "with a driver that looks at no certificate": {func(d hypervisor.Driver) host.Drivers { return blindDriver{d} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newHosts(t, wrap...)
			at := `,"name":"lab","address":"pool.mem","verify_tls":false`
			gone := strings.Replace(at, "pool.mem", "nobody.mem", 1)
			b.Run(t,
				apitest.Scenario{Name: "nobody there", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin,
					Body: pasteOfHost(b.cluster.RoleOutput(fourCapabilities, nil), gone), Status: 502, Error: "hypervisor_error",
					Contains: []string{`"reason":"unreachable"`, `"key":"backup","token_id":"service@mem!backup","form":"token","ok":false`}},
				apitest.Scenario{Name: "enrol", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin,
					Body: pasteOfHost(b.cluster.RoleOutput(fourCapabilities, nil), at), Status: 201,
					Contains: []string{`"tls_fingerprint":"` + b.cluster.Fingerprint(), `"key":"backup"`}},
			)
		})
	}
}

// blindDriver has a driver that reads what its script prints and looks at no certificate.
type blindDriver struct{ of hypervisor.Driver }

func (d blindDriver) Hypervisor(string) hypervisor.Driver {
	return struct {
		hypervisor.Driver
		hypervisor.RoleOutputReader
	}{d.of, d.of.(hypervisor.RoleOutputReader)}
}

func TestRotateHostTokensByPaste(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	rotate := func(name string, paste plugin.Secret, more string, status int, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: "/api/v1/hosts/1/credentials", As: apitest.Owner, Body: pasteOfHost(paste,
			more),
			Status: status, Error: code, Contains: contains, Lacks: []string{"secret-of", "canary"}}
	}
	out := b.cluster.RoleOutput(fourCapabilities[1:], []endpoint.Capability{endpoint.Monitoring, endpoint.NodePower})
	wrong := plugin.Secret(strings.ReplaceAll(string(out), "secret-of-console", "secret-of-canary"))
	b.Run(t,
		rotate("a paste and a token", out, `,"token_id":"a@b!c","token_secret":"canary"`, 422, "invalid", `["body","paste"]`),
		rotate("a paste and a capability", out, `,"capability":"lifecycle"`, 422, "invalid", `["body","paste"]`),
		rotate("a paste and an SSH key", out, `,"rotate_ssh":true`, 422, "invalid", `["body","paste"]`),
		rotate("another text", "canary", "", 422, "invalid", `["body","paste"]`),
		rotate("nothing that was made", b.cluster.RoleOutput(nil, fourCapabilities), "", 422, "invalid", "all tokens existed before"),
		rotate("one that is wrong", wrong, "", 502, "token_rejected", "the token for console", `"tokens":[{"key":"lifecycle"`),
		apitest.Scenario{Name: "nothing was stored", Method: "GET", URL: "/api/v1/hosts/1", As: apitest.Viewer, Status: 200,
			Lacks: []string{`"key":"lifecycle"`}},
		apitest.Scenario{Name: "admins may not", Method: "POST", URL: "/api/v1/hosts/1/credentials", As: apitest.Admin, Body: pasteOfHost(out,
			""),
			Status: 403, Error: "forbidden"},
		rotate("three at once", out, "", 200, "", `{"capability":"lifecycle","token_id":"service@mem!lifecycle","form":"token","verification":`,
			`"tokens":[{"capability":"lifecycle"`, `{"capability":"console"`, `{"capability":"backup"`, `"kept":["monitoring","node_power"]`),
		rotate("one alone", b.cluster.RoleOutput(fourCapabilities[:1], nil), "", 200, "", `"capability":"monitoring"`, `"kept":[]`),
		apitest.Scenario{Name: "they are used", Method: "POST", URL: "/api/v1/hosts/1/test", As: apitest.Admin, Status: 200,
			Contains: []string{`"key":"lifecycle"`, `"key":"console"`, `"key":"backup"`}, Lacks: []string{`"ok":false`}},
	)
	b.readable()
	if n := b.Value(`SELECT count(*) FROM audit WHERE action = 'host.rotate_credentials' AND result = 'ok' AND
		details->'capabilities' = '["lifecycle","console","backup"]' AND details->'token_ids'->>2 = 'service@mem!backup'`); n != "1" {
		t.Errorf("%s rows of the audit log name the three tokens, want 1", n)
	}
}

// Codes in a paste are traded one after the other; what is left behind is told, all of it.
func TestEnrolHostByPasteOfCodes(t *testing.T) {
	t.Parallel()
	b, cluster := newHostsOfForms(t)
	paste := func(made, kept []endpoint.Capability) string {
		return pasteOfHost(cluster.RoleOutput(made, kept), `,"driver":"certmem","name":"certs","address":"certs.mem"`)
	}
	post := func(name, url, body string, status int, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: "/api/v1/hosts" + url, As: apitest.Owner, Body: body, Status: status,
			Error: code, Contains: contains, Lacks: []string{"PRIVATE KEY", "eyJ"}}
	}
	two := fourCapabilities[:2]
	other := memdriver.NewCertificateDriver().Add("other.mem:8443", memdriver.Spec{Nodes: 1})
	mixed := string(cluster.RoleOutput(fourCapabilities[:1], nil)) + string(other.RoleOutput(fourCapabilities[1:2], nil))
	alone := pasteOfHost(cluster.RoleOutput(two, nil), `,"driver":"certmem"`)
	b.Run(t,
		post("a probe uses none", "/probe", paste(two, fourCapabilities[2:3]), 200, "", `"reachable":true`, cluster.Fingerprint(),
			`"kept":["console"]`,
			`{"key":"lifecycle","token_id":null,"form":"join_token","ok":true`, `"one_time_code":{"addresses":["certs.mem:8443"]`,
			`"expires_at":"2`),
		post("a probe without an address", "/probe", alone, 200, "", `"reachable":false`, `"addresses":["certs.mem:8443"]`),
		post("codes of two servers", "", pasteOfHost(plugin.Secret(mixed), `,"driver":"certmem","name":"x","address":"certs.mem"`), 422,
			"invalid",
			"codes for different servers", `["body","paste"]`),
	)
	cluster.SetFault("permissions", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	lost := post("used in vain", "", paste(two, nil), 502, "hypervisor_error", `"reason":"unreachable"`)
	lost.After = func(t *testing.T, answer *apitest.Response) {
		var told struct {
			ID  string   `json:"credential_id"`
			IDs []string `json:"credential_ids"`
		}
		if err := json.Unmarshal(answer.Body, &told); err != nil || len(told.IDs) != 2 || told.IDs[0] != told.ID || told.IDs[0] == told.IDs[1] ||
			!cluster.HasToken(told.IDs[0]) || !cluster.HasToken(told.IDs[1]) {
			t.Errorf("%v: %s", err, answer.Body)
		}
	}
	b.Run(t, lost)
	cluster.SetFault("permissions", memdriver.Fault{})
	foreign := pasteOfHost(other.RoleOutput(fourCapabilities[2:3], nil), "")
	b.Run(t,
		post("enrol", "", paste(two, nil), 201, "", `"key":"lifecycle"`, `"form":"client_certificate"`,
			`"tls_fingerprint":"`+cluster.Fingerprint()),
		post("codes of another server", "/1/credentials", foreign, 422, "invalid", `["body","paste"]`, "for another server"),
		post("two more", "/1/credentials", pasteOfHost(cluster.RoleOutput(fourCapabilities[2:], nil), ""), 200, "", `"capability":"console"`,
			`"capability":"backup"`, `"form":"client_certificate"`),
	)
	b.readable("eyJ", "PRIVATE KEY", "MIGHAgEAMBM")
	if n := b.Value("SELECT count(*) FROM audit WHERE action = 'host.redeem_code'"); n != "6" {
		t.Errorf("%s rows of the audit log are about a code, want 6", n)
	}
}

func TestProbeHostWithSeveralTokens(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	limited := b.cluster.NewToken(endpoint.Backup, "small", memdriver.NodePower).Credential
	token := func(c endpoint.Capability, id, secret string) string {
		return fmt.Sprintf(`{"capability":%q,"token_id":%q,"token_secret":%q}`, c, id, secret)
	}
	tokens := `,"tokens":[` + strings.Join([]string{
		token(endpoint.Monitoring, "service@mem!monitoring", "secret-of-monitoring"), token(endpoint.Lifecycle, "service@mem!lifecycle",
			"canary"),
		token(endpoint.Console, "service@mem!console=canary", "canary"), token(endpoint.Backup, limited.ID, string(limited.Secret)),
		`{"capability":"node_power","credential_form":"handshake","token_secret":"canary"}`,
	}, ",") + `]`
	pin := `,"tls_fingerprint":"` + b.cluster.Fingerprint() + `"`
	post := func(name, body string, status int, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Admin, Body: body, Status: status,
			Error:    code,
			Contains: contains, Lacks: []string{"secret-of", "canary"}}
	}
	rows := []string{
		`"tokens":[{"key":"monitoring","token_id":"service@mem!monitoring","form":"token","ok":true,"reason":null`,
		`{"key":"lifecycle","token_id":"service@mem!lifecycle","form":"token","ok":false,"reason":"auth"`,
		`{"key":"console","token_id":null,"form":null,"ok":false,"reason":"invalid","error":"token_id must be only the token ID`,
		`{"key":"backup","token_id":"` + limited.ID + `","form":"token","ok":false,"reason":null,"error":null,"missing":["Guest.Backup"],` +
			`"extra":["Node.Power"]`,
		`{"key":"node_power","token_id":null,"form":null,"ok":false,"reason":"invalid","error":"credential_form must be one of token`,
	}
	b.Run(t,
		post("a token and tokens", `{"address":"pool.mem","token_id":"a","token_secret":"canary"`+tokens+`}`, 422, "invalid",
			`["body","tokens"]`),
		post("no address", `{`+tokens[1:]+`}`, 422, "invalid", `["body","address"]`),
		post("no such capability", `{"address":"pool.mem","tokens":[{"capability":"root","token_secret":"canary"}]}`, 422, "invalid",
			`["body","tokens",0,"capability"]`),
		post("each has a row", `{"address":"pool.mem"`+pin+tokens+`}`, 200, "", append(rows, `"reachable":true`, `"version":"1.2.3"`,
			`"missing":[]`, `"certificate":{"fingerprint":"`+b.cluster.Fingerprint()+`","subject":"pool.mem","names":["pool.mem"]`,
			`"trusted":false,"distrust":"no authority`)...),
		post("without a pin", `{"address":"pool.mem","verify_tls":false`+tokens+`}`, 200, "", append(rows, `"reachable":true`)...),
		post("another certificate", `{"address":"pool.mem","tls_fingerprint":"`+strings.Repeat("ab", 32)+`"`+tokens+`}`, 200, "",
			`"reachable":false`, `{"key":"monitoring","token_id":"service@mem!monitoring","form":"token","ok":false,"reason":"tls_fingerprint"`,
			`"certificate":{"fingerprint":"`+b.cluster.Fingerprint()),
		post("nobody there", `{"address":"nobody.mem"`+tokens+`}`, 200, "", `"reachable":false`, `"certificate":null`, `"version":""`,
			`"key":"monitoring","token_id":"service@mem!monitoring","form":"token","ok":false,"reason":"unreachable"`, `"reason":"invalid"`),
		post("a paste", pasteOfHost(b.cluster.RoleOutput(fourCapabilities, []endpoint.Capability{endpoint.NodePower}),
			`,"address":"pool.mem"`+pin), 200, "",
			`{"key":"backup","token_id":"service@mem!backup","form":"token","ok":true`, `"kept":["node_power"]`),
		post("a paste of kept tokens", pasteOfHost(b.cluster.RoleOutput(nil, fourCapabilities), `,"address":"pool.mem"`+pin), 422, "invalid",
			`["body","paste"]`,
			"renew them"),
		apitest.Scenario{Name: "operators may not", Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Operator,
			Body: `{"address":"pool.mem"` + pin + tokens + `}`, Status: 403, Error: "forbidden"},
	)
}

// The certificate is told with what a single token failed with, and no token goes where it is not trusted.
func TestProbeHostTellsTheCertificateOfWhatFails(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	told := `"certificate":{"fingerprint":"` + b.cluster.Fingerprint()
	post := func(name, body string, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Admin, Body: body, Status: 502, Error: code,
			Contains: contains, Lacks: []string{"secret-of"}}
	}
	b.Run(t,
		post("a wrong token", strings.Replace(b.pinned("lab"), "secret-of-monitoring", "secret-of-canary", 1), "token_rejected", told,
			`"days_left":`, `"issuer":"CN=memory"`),
		post("nothing vouches for it", b.body("lab", "pool.mem"), "hypervisor_error", `"reason":"tls_fingerprint"`, told, `"trusted":false`),
		post("another pin", b.body("lab", "pool.mem", `"tls_fingerprint":"`+strings.Repeat("AB", 32)+`"`), "hypervisor_error",
			`"reason":"tls_fingerprint"`, told),
	)
	if n := b.cluster.Calls("permissions"); n != 0 {
		t.Errorf("%d times the endpoint was asked with a token that it rejects or that it must not see", n)
	}
	// What stands before the hypervisor repeats one token to all.
	b.cluster.SetFault("version", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "no: secret-of-backup: no")})
	b.Run(t, apitest.Scenario{Name: "a token is repeated", Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Admin, Status: 200,
		Body: pasteOfHost(b.cluster.RoleOutput(fourCapabilities, nil),
			`,"address":"pool.mem","tls_fingerprint":"`+b.cluster.Fingerprint()+`"`),
		Contains: []string{`"error":"no: [secret]: no"`}, Lacks: []string{"secret-of"}})
	b.cluster.SetFault("version", memdriver.Fault{})
	b.cluster.SetFault("certificate", memdriver.Fault{Err: plugin.Errorf(plugin.Timeout, "no answer")})
	b.Run(t, apitest.Scenario{Name: "no answer", Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Admin, Body: b.pinned("lab"),
		Status: 504,
		Error:  "timeout", Lacks: []string{"certificate"}})
	b.cluster.SetFault("certificate", memdriver.Fault{Delay: time.Millisecond})
	b.Run(t, apitest.Scenario{Name: "and again", Method: "POST", URL: "/api/v1/hosts/probe", As: apitest.Admin, Body: b.pinned("lab"),
		Status:   200,
		Contains: []string{told, `"reachable":true`, `"tokens":[{"key":"monitoring"`, `"kept":[]`}})
}
