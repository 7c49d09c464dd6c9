package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/host/hosttest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// newHostsOfForms is the resource with a driver of tokens, which is the usual one, one of certificates, and one that is away.
func newHostsOfForms(t *testing.T) (*hostsFixture, *memdriver.Cluster) {
	t.Helper()
	certified := memdriver.NewCertificateDriver()
	b := newHosts(t, func(d hypervisor.Driver) host.Drivers {
		return hosttest.DriverTable{"pve": d, "certmem": certified, "away": nil}
	})
	return b, certified.Add("certs.mem:8443", memdriver.Spec{Nodes: 1})
}

// enrolByCertificate is the body that enrols or probes a cluster of certificates.
func enrolByCertificate(t *testing.T, name string, secret plugin.Secret, more string) string {
	t.Helper()
	text, err := json.Marshal(string(secret))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"driver":"certmem","name":%q,"address":%q,"token_secret":%s%s}`, name, name+".mem", text, more)
}

func TestEnrolHostWithOtherForms(t *testing.T) {
	t.Parallel()
	b, cluster := newHostsOfForms(t)
	code := cluster.NewCode(endpoint.Monitoring, time.Hour)
	proper := cluster.Target(endpoint.Backup).Credential.Secret
	post := func(name, url, body string, status int, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: "/api/v1/hosts" + url, As: apitest.Owner, Body: body, Status: status,
			Error: code, Contains: contains, Lacks: []string{"PRIVATE KEY", string(proper)[:40]}}
	}
	long := plugin.Secret(strings.Repeat("A", 17<<10))
	b.Run(t,
		post("a driver that is not installed", "", strings.Replace(b.body("x", "x.mem"), "{", `{"driver":"hyper-v",`, 1), 422, "invalid",
			"running drivers: certmem, pve", `"driver"`),
		post("a driver that is away", "", strings.Replace(b.body("x", "x.mem"), "{", `{"driver":"away",`, 1), 503, "plugin_unavailable"),
		post("a token without its id", "", `{"name":"x","address":"x.mem","token_secret":"s"}`, 422, "invalid", `"token_id"`, `"missing"`),
		post("a form of another driver", "", strings.Replace(b.body("x", "x.mem"), "{", `{"credential_form":"join_token",`, 1), 422, "invalid",
			`"credential_form"`, "must be one of token"),
		post("17 KiB", "", enrolByCertificate(t, "certs", long, ""), 422, "invalid", `"token_secret"`),
		post("no code", "", enrolByCertificate(t, "certs", "canary-word", ""), 422, "invalid", `"token_secret"`),
		post("NUL", "", enrolByCertificate(t, "certs", code+"\x00", ""), 422, "invalid", `"token_secret"`),
		post("a probe of a code", "/probe", enrolByCertificate(t, "certs", code, ""), 200, "", `"reachable":true`,
			`"one_time_code":{"addresses":["certs.mem:8443"]`, cluster.Fingerprint()),
		post("a probe of a code alone", "/probe", strings.Replace(enrolByCertificate(t, "certs", code, ""), `"address":"certs.mem",`, "", 1),
			200, "",
			`"reachable":false`, `"certs.mem:8443"`),
		post("a probe of a token alone", "/probe", `{"token_id":"a","token_secret":"s"}`, 422, "invalid", `"address"`),
		post("a code", "", enrolByCertificate(t, "certs", code, ""), 201, "", `"address":"certs.mem:8443"`, `"driver":"certmem"`,
			`"form":"client_certificate"`, `"tls_fingerprint":"`+cluster.Fingerprint()),
		post("a certificate for another capability", "/1/credentials", strings.Replace(enrolByCertificate(t, "x", proper,
			`,"credential_form":"client_certificate","capability":"backup"`), `"driver":"certmem","name":"x","address":"x.mem",`, "", 1), 200, "",
			`"form":"client_certificate"`, `"missing":[]`, cluster.Target(endpoint.Backup).Credential.ID),
		post("a capability that the driver does not have", "/1/credentials",
			`{"capability":"node_power","token_secret":"s"}`, 501, "unsupported", "certmem", `"capability":"node_power"`),
		post("a script of the driver", "/token-script", `{"driver":"certmem","path":"/project/a"}`, 200, "", "/project/a"),
		post("a script for what it does not have", "/token-script", `{"driver":"certmem","node_power":true}`, 501, "unsupported", "certmem"),
		post("a script of no driver", "/token-script", `{"driver":"hyper-v"}`, 422, "invalid", "running drivers"),
		apitest.Scenario{Name: "capabilities", Method: "GET", URL: "/api/v1/hosts/capabilities?driver=certmem", As: apitest.Viewer, Status: 200,
			Contains: []string{`"key":"backup"`}, Lacks: []string{"node_power"}},
		apitest.Scenario{Name: "capabilities of no driver", Method: "GET", URL: "/api/v1/hosts/capabilities?driver=hyper-v", As: apitest.Viewer,
			Status: 422, Error: "invalid", Contains: []string{"running drivers"}},
		apitest.Scenario{Name: "drivers", Method: "GET", URL: "/api/v1/hosts/drivers", As: apitest.Viewer, Status: 200,
			Contains: []string{`"name":"certmem"`, `"default_port":8443`, `"one_time":true`, `"name":"pve"`, `"id_label":"Token ID"`},
			Lacks:    []string{`"away"`}},
		apitest.Scenario{Name: "the service sees with it", Method: "POST", URL: "/api/v1/hosts/1/sync", As: apitest.Operator, Status: 200,
			Contains: []string{`"status":"online"`}},
		apitest.Scenario{Name: "removing tells which", Method: "DELETE", URL: "/api/v1/hosts/1/credentials/backup", As: apitest.Owner,
			Status: 200, Contains: []string{cluster.Target(endpoint.Backup).Credential.ID}},
	)
	b.readable(string(code), "PRIVATE KEY", string(proper)[30:60])
}

// What cannot be found out about a code that was sent is told with what the hypervisor may trust by now.
func TestEnrolHostWithACodeWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	b, cluster := newHostsOfForms(t)
	cluster.SetFault("redeem", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "the connection broke")})
	b.Run(t, apitest.Scenario{Name: "lost", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin,
		Body: enrolByCertificate(t, "certs", cluster.NewCode(endpoint.Monitoring, time.Hour), ""), Status: 504, Error: "outcome_unknown",
		Contains: []string{`"credential_id":"`}})
	cluster.SetFault("redeem", memdriver.Fault{})
	cluster.SetFault("inventory", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	b.Run(t, apitest.Scenario{Name: "used in vain", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin,
		Body: enrolByCertificate(t, "certs", cluster.NewCode(endpoint.Monitoring, time.Hour), ""), Status: 502, Error: "hypervisor_error",
		Contains: []string{`"credential_id":"`, `"reason":"unreachable"`, "remove it there"}})
	if n := b.Value("SELECT count(*) FROM hosts"); n != "0" {
		t.Errorf("%s hosts were stored", n)
	}
	if n := b.Value("SELECT count(*) FROM audit WHERE action = 'host.redeem_code'"); n != "2" {
		t.Errorf("%s rows of the audit log are about a code, want 2", n)
	}
}

// Whoever wrote a secret into a task's log, the service does not pass it on.
func TestTaskLogsOfHostsTellNoSecrets(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	task := b.cluster.NewTask("copy", 1)
	elsewhere := memdriver.NewCertificateDriver().Add("a.mem:8443", memdriver.Spec{})
	b.cluster.AddLine(task, "with "+string(elsewhere.NewCode(endpoint.Monitoring, time.Hour)))
	b.cluster.AddLine(task, "downloading https://files.example.com/a.iso?X-Signature=zqcanary to /a.iso")
	b.Run(t, apitest.Scenario{Name: "log", Method: "GET", URL: "/api/v1/hosts/1/tasks/" + task + "/log", As: apitest.Viewer, Status: 200,
		Contains: []string{"line 1 of copy", "with [secret]", "https://files.example.com/a.iso?[secret] to /a.iso"},
		Lacks:    []string{"eyJ", "zqcanary"}})
}
