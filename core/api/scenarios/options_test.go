package scenarios

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/options"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// optionsLab has a firewall beside the hypervisor.
type optionsLab struct {
	*servicetest.Lab
	firewall *membackend.Endpoint
}

func newOptions(t *testing.T, shape memdriver.Shape, edits ...func(*service.Config)) *optionsLab {
	t.Helper()
	firewalls := membackend.New()
	edits = append([]func(*service.Config){func(c *service.Config) { c.Firewalls = servicetest.Firewalls{Backend: firewalls} }}, edits...)
	b := servicetest.NewLab(t, shape, func(a *op.API, d api.Deps) { options.Register(a, d.Options) }, edits...)
	at := firewalls.AddAt(b.Cluster.Target(endpoint.Monitoring))
	at.Admit(b.Cluster.Target(endpoint.Lifecycle))
	at.Admit(b.Cluster.Target(endpoint.Console))
	return &optionsLab{b, at}
}

// optionsInBothShapes runs a test on a lab of each shape.
func optionsInBothShapes(t *testing.T, test func(t *testing.T, b *optionsLab), edits ...func(*service.Config)) {
	t.Helper()
	servicetest.InBothShapes(t, func(t *testing.T, shape memdriver.Shape) { test(t, newOptions(t, shape, edits...)) })
}

// bareBackend is a backend whose firewalls can do nothing.
type bareBackend struct{ firewall.Backend }

type bareFirewall struct{}

func (bareFirewall) Close() error { return nil }

func (bareBackend) Open(context.Context, endpoint.Target) (firewall.Firewall, error) {
	return bareFirewall{}, nil
}

func TestOptionsAreChanged(t *testing.T) {
	t.Parallel()
	optionsInBothShapes(t, func(t *testing.T, b *optionsLab) {
		url := b.VM("stopped") + "/options"
		var now struct {
			Digest   string
			Firewall struct{ Digest string }
		}
		b.Get(t, url, &now)
		b.Expect(t, "GET", url, "", apitest.Viewer, 200, "", `"firewall":{"enable":null,"dhcp":null`, `"options":{"onboot":false}`,
			`"pending":{}`,
			`{"name":"weight","type":"integer","values":null,"min":1,"max":500,"max_length":null,"autostart":false}`)
		b.Expect(t, "PUT", url,
			fmt.Sprintf(`{"onboot":true,"weight":30,"startup":"order=2","protection":1,"enable":1,"dhcp":0,"policy_in":"DROP",`+
				`"digest":%q}`, now.Digest), apitest.Operator, 200, "", `"enable":1,"dhcp":0,"ndp":null`, `"policy_in":"DROP","policy_out":null`,
			`"onboot":true`, `"weight":30`, `"startup":"order=2"`, `"protection":true`)
		b.Expect(t, "PUT", url, `{"startup":null,"enable":null,"delete":"weight, policy_in"}`, apitest.Operator, 200, "",
			`"enable":null,"dhcp":0`,
			`"policy_in":null`, `"options":{"onboot":true,"protection":true}`)
		b.Expect(t, "PUT", url, fmt.Sprintf(`{"onboot":false,"digest":%q}`, now.Digest), apitest.Operator, 409, "digest_conflict")
		b.Expect(t, "PUT", url, fmt.Sprintf(`{"radv":1,"digest":%q}`, now.Firewall.Digest), apitest.Operator, 409, "digest_conflict")
		b.Get(t, url, &now)
		b.Expect(t, "PUT", url, fmt.Sprintf(`{"onboot":false,"digest":%q}`, now.Firewall.Digest), apitest.Operator, 409, "digest_conflict")
		b.Expect(t, "PUT", url, fmt.Sprintf(`{"radv":1,"digest":%q}`, now.Firewall.Digest), apitest.Operator, 200, "", `"radv":1`)
		want := `ok {"changed": ["onboot", "protection", "startup", "weight", "dhcp", "enable", "policy_in"]}; ` +
			`ok {"changed": ["startup", "weight", "policy_in", "enable"]}; refused digest_conflict`
		if got := b.AuditLog("vm.change_options"); !strings.HasPrefix(got, want) {
			t.Errorf("the audit log:\n%s\nwant\n%s", got, want)
		}
	})
}

func TestChangeOptionsRefuses(t *testing.T) {
	t.Parallel()
	optionsInBothShapes(t, func(t *testing.T, b *optionsLab) {
		url := b.VM("running") + "/options"
		ask := func(body string, as *apitest.Caller, status int, code string, contains ...string) {
			t.Helper()
			b.Expect(t, "PUT", url, body, as, status, code, contains...)
		}
		ask(`{"onboot":true}`, apitest.Viewer, 403, "forbidden")
		ask(`{"onboot":true}`, foreign, 404, "not_found")
		b.Expect(t, "GET", url, "", foreign, 404, "not_found")
		b.Expect(t, "GET", url, "", nil, 401, "unauthenticated")
		b.Expect(t, "PUT", "vms/999/options", `{"onboot":true}`, apitest.Operator, 404, "not_found")
		for _, nothing := range []string{`{}`, `{"digest":"x"}`, `{"delete":null}`} {
			ask(nothing, apitest.Operator, 422, "invalid", "nothing_to_change")
		}
		ask(`[]`, apitest.Operator, 422, "invalid")
		ask(`{"enable":2,"dhcp":true,"policy_in":"PERHAPS","policy_out":1,"digest":7,"delete":[],"no name":1}`, apitest.Operator, 422, "invalid",
			`["body","enable"]`, `["body","dhcp"]`, `["body","policy_in"]`, `["body","policy_out"]`, `["body","digest"]`, `["body","delete"]`,
			`["body","no name"]`)
		ask(`{"onboot":"yes","weight":501,"startup":7,"boot":"a\nb","nope":1,"delete":"onboot,nothing"}`, apitest.Operator, 422, "invalid",
			`["body","onboot"]`, `["body","weight"]`, "must be at most 500", `["body","startup"]`, `["body","boot"]`, `["body","nope"]`,
			"known options: enable, dhcp, ndp, radv, macfilter, ipfilter, policy_in, policy_out, boot, onboot", `["body","delete"]`)
		for _, body := range []string{`{"weight":0}`, `{"weight":1.5}`, `{"weight":1e400}`, `{"weight":"7"}`, `{"weight":{}}`, `{"startup":""}`,
			`{"startup":"` + strings.Repeat("x", 101) + `"}`, `{"onboot":2}`, `{"nope":null}`, `{"delete":","}`} {
			ask(body, apitest.Operator, 422, "invalid")
		}
		b.Expect(t, "POST", b.VM("running")+"/stop", "", apitest.Operator, 202, "")
		ask(`{"onboot":true}`, apitest.Operator, 409, "guest_busy")
		b.Exec("UPDATE jobs SET status = 'failed'")
		b.Cluster.SetFault("reconfigure", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "no")})
		ask(`{"onboot":true,"enable":1}`, apitest.Operator, 502, "hypervisor_error", `"done":[]`)
		b.Cluster.SetFault("reconfigure", memdriver.Fault{})
		b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
		ask(`{"onboot":true}`, apitest.Operator, 409, "capability_missing")
	})
}

// Where the firewall has no options for guests the VM's own are there all the same.
func TestOptionsWithoutAFirewall(t *testing.T) {
	t.Parallel()
	optionsInBothShapes(t, func(t *testing.T, b *optionsLab) {
		url := b.VM("running") + "/options"
		b.Expect(t, "GET", url, "", apitest.Viewer, 200, "", `"firewall":null`, `"onboot":false`)
		b.Expect(t, "PUT", url, `{"onboot":true}`, apitest.Operator, 200, "", `"firewall":null`, `"onboot":true`)
		b.Expect(t, "PUT", url, `{"onboot":false,"enable":1}`, apitest.Operator, 501, "unsupported")
		b.Expect(t, "GET", url, "", apitest.Viewer, 200, "", `"onboot":true`)
	}, func(c *service.Config) { c.Firewalls = servicetest.Firewalls{Backend: bareBackend{membackend.New()}} })
}

// What was done before the firewall fails stays, and the answer says so.
func TestOptionsWithAFirewallThatFails(t *testing.T) {
	t.Parallel()
	optionsInBothShapes(t, func(t *testing.T, b *optionsLab) {
		b.WrapChanges(func(h *memdriver.Host) hypervisor.Host {
			return breakingHost{h, func() { b.firewall.Fail(plugin.Errorf(plugin.Unreachable, "no route")) }}
		})
		b.Expect(t, "PUT", b.VM("running")+"/options", `{"onboot":true,"enable":1}`, apitest.Operator, 504, "outcome_unknown",
			`"done":["onboot"]`,
			`"unknown":["enable"]`)
		want := `failed outcome_unknown {"done": ["onboot"], "changed": ["onboot", "enable"], "unknown": ["enable"]}`
		if got := b.AuditLog("vm.change_options"); !strings.Contains(got, want) {
			t.Errorf("the audit log:\n%s\nwant\n%s in it", got, want)
		}
	})
}

// breakingHost is a host after whose change something else breaks.
type breakingHost struct {
	*memdriver.Host
	after func()
}

func (h breakingHost) Reconfigure(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.ConfigChange) error {
	defer h.after()
	return h.Host.Reconfigure(ctx, ref, change)
}
