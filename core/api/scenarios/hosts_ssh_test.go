package scenarios

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// someHostKey is some host key's fingerprint.
var someHostKey = endpoint.HostKeyFingerprint([]byte("some"))

func TestSSHOfHosts(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	const credentials, verify = "/api/v1/hosts/1/credentials", "/api/v1/hosts/1/ssh/verify"
	as := func(who *apitest.Caller, name, method, url, body string, status int, code string, contains ...string) {
		t.Helper()
		b.Run(t, do(name, method, url, body, who, status, code, contains...))
	}
	with := func(more string) string { return strings.TrimSuffix(b.pinned("lab"), "}") + more + "}" }
	as(apitest.Admin, "a key without consent", "POST", "/api/v1/hosts", with(`,"ssh_enroll":true`), 409, "consent_required", `"version":2`)
	as(apitest.Admin, "a port out of bounds", "POST", "/api/v1/hosts", with(`,"ssh_port":65536`), 422, "invalid", "ssh_port")
	b.Run(t, apitest.Scenario{Name: "enrolled with a key", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin,
		Body: with(`,"ssh_enroll":true,"ssh_consent":true,"ssh_port":2022`), Status: 201, Lacks: []string{"PRIVATE"},
		After: func(t *testing.T, answer *apitest.Response) {
			var made struct {
				SSH struct {
					Enrolled bool
					Port     int
					Pending  *struct {
						PublicKey string `json:"public_key"`
					}
					Consent *struct{ By string }
				}
			}
			if err := json.Unmarshal(answer.Body, &made); err != nil || made.SSH.Enrolled || made.SSH.Port != 2022 || made.SSH.Pending == nil ||
				!strings.HasPrefix(made.SSH.Pending.PublicKey, "restrict ssh-ed25519 ") || made.SSH.Consent == nil || made.SSH.Consent.By == "" {
				t.Errorf("%v: %s", err, answer.Body)
			}
		}})
	as(apitest.Operator, "operators do not verify", "POST", verify, "", 403, "forbidden")
	as(foreign, "nor does another team", "POST", verify, "", 404, "not_found")
	as(apitest.Admin, "no such host", "POST", "/api/v1/hosts/77/ssh/verify", "", 404, "not_found")
	as(apitest.Admin, "a first check", "POST", verify, "", 200, "", `"pinned":true`, `"activated":true`, `"user":"root"`,
		`"remove_command":null`)
	as(apitest.Viewer, "it is seen", "GET", "/api/v1/hosts/1", "", 200, "", `"enrolled":true`, `"pending":null`)
	as(apitest.Admin, "admins do not rotate", "POST", credentials, `{"rotate_ssh":true}`, 403, "forbidden")
	as(apitest.Owner, "a second key", "POST", credentials, `{"rotate_ssh":true}`, 200, "", `"public_key":"restrict `)
	as(apitest.Admin, "takes the first one's place", "POST", verify, "", 200, "", `"pinned":false`, `"activated":true`, `grep -vF -e 'AAAA`)
	b.cluster.ChangeMachine(func(m *memdriver.Machine) { m.HostKey = someHostKey })
	as(apitest.Admin, "another host key", "POST", verify, "", 409, "ssh_host_key_changed", `"fingerprint":"`+someHostKey+`"`,
		`"pinned_fingerprint":"SHA256:`)
	as(apitest.Admin, "accepted", "PATCH", "/api/v1/hosts/1", `{"ssh_host_key_fingerprint":"`+someHostKey+`"}`, 200, "")
	as(apitest.Admin, "a check", "POST", verify, "", 200, "", `"fingerprint":"`+someHostKey+`"`)
	b.cluster.ChangeMachine(func(m *memdriver.Machine) { m.Keys = []string{} })
	as(apitest.Admin, "a key that the machine does not take", "POST", verify, "", 502, "hypervisor_error", `"reason":"auth"`,
		`"install_command"`)
	b.cluster.SetFault("checklogin", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "the connection broke")})
	as(apitest.Admin, "a machine that is away", "POST", verify, "", 502, "hypervisor_error", `"reason":"unreachable"`)
	as(apitest.Admin, "admins do not delete it", "DELETE", credentials+"/ssh_key", "", 403, "forbidden")
	as(apitest.Owner, "deleted", "DELETE", credentials+"/ssh_key", "", 200, "", `"removed":true`, "authorized_keys")
	as(apitest.Owner, "and gone", "DELETE", credentials+"/ssh_key", "", 404, "not_found")
	as(apitest.Admin, "no check without consent", "POST", verify, "", 409, "consent_required")
	as(apitest.Owner, "enrolled again", "POST", credentials, `{"rotate_ssh":true,"ssh_consent":true}`, 200, "")
	b.Exec("DELETE FROM host_ssh_keys")
	as(apitest.Admin, "no check without a key", "POST", verify, "", 409, "ssh_not_enrolled", `"remedy"`)
	if got := b.Value(`SELECT string_agg(DISTINCT action, ' ' ORDER BY action) FROM audit
		WHERE action LIKE 'host.%' AND details::text LIKE '%ssh%' OR action = 'host.verify_ssh'`); !strings.Contains(got, "host.verify_ssh") ||
		!strings.Contains(got, "host.create") || !strings.Contains(got, "host.rotate_credentials") ||
		!strings.Contains(got, "host.delete_credential") {
		t.Errorf("the audit log has %q", got)
	}
}
