package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/power"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// newPoweredHosts is newHosts with jobs, and with a host that may power its nodes. The cluster has a second address at its second node.
// Limits are long, but for that after which a node that was switched off is taken for off.
func newPoweredHosts(t *testing.T, limits ...func(*power.Store)) *hostsFixture {
	t.Helper()
	b := &hostsFixture{t: t, driver: memdriver.New()}
	b.cluster = b.driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 3, Containers: 2})
	b.driver.AddEntry(b.cluster, "second.mem:8006", "node2")
	b.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) {
		d.Hosts.Power.ShutdownLimit, d.Hosts.Power.BootLimit, d.Hosts.Power.OffTime, d.Hosts.Power.Pause = 2*time.Minute, 2*time.Minute,
			300*time.Millisecond, 20*time.Millisecond
		for _, limit := range limits {
			limit(d.Hosts.Power)
		}
		hosts.Register(a, d.Hosts)
		jobs.Register(a, d.Jobs)
	}, func(c *service.Config) {
		c.Drivers, c.Loops = servicetest.Drivers{Driver: b.driver}, []service.Loop{service.Jobs}
	})
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	inventorytest.Team(t, b.DB, 2)
	b.Enrol(t, "lab", b.cluster, endpoint.NodePower)
	return b
}

// power asks for a node to be rebooted or switched off, and gives the answer.
func (b *hostsFixture) power(node, query, body string, as *apitest.Caller, status int, code string, contains ...string) *apitest.Response {
	b.t.Helper()
	return b.Expect(b.t, "POST", "hosts/1/nodes/"+node+"/power"+query, body, as, status, code, contains...)
}

// powered has a node do what it is told, and gives the job's transcript when it has ended.
func (b *hostsFixture) powered(node, command, status string, meanwhile func(job int64)) string {
	b.t.Helper()
	var started struct{ Job struct{ ID int64 } }
	b.power(node, "", fmt.Sprintf(`{"command":%q,"confirm":%q}`, command, node), apitest.Owner, 202, "", `"kind":"node.power"`).Decode(b.t,
		&started)
	if meanwhile != nil {
		meanwhile(started.Job.ID)
	}
	waittest.Until(b.t, "the job has ended", func() bool {
		return dbtest.Value[bool](b.t, b.DB, "SELECT status NOT IN ('queued', 'running') FROM jobs WHERE id = $1", started.Job.ID)
	})
	text := dbtest.Value[string](b.t, b.DB, `SELECT j.status || ': ' || COALESCE(j.error, '') || E'\n' ||
		(SELECT string_agg(e.text, E'\n' ORDER BY e.seq) FROM job_events e WHERE e.job_id = j.id) FROM jobs j WHERE j.id = $1`, started.Job.ID)
	if !strings.HasPrefix(text, status+":") {
		b.t.Errorf("the job is to end %s: %s", status, text)
	}
	return text
}

func TestHostNodePowerIsConfirmed(t *testing.T) {
	t.Parallel()
	b := newPoweredHosts(t)
	for _, body := range []string{"", "{}", `{"command":"halt"}`, `{"command":"REBOOT"}`, `{"command":7}`,
		`{"command":"reboot","confirm":7}`} {
		b.power("node2", "", body, apitest.Owner, 422, "invalid")
	}
	b.power("node2", "", `{"command":"reboot","confirm":"node2"}`, apitest.Admin, 403, "forbidden")
	b.power("node9", "", `{"command":"reboot","confirm":"node9"}`, apitest.Owner, 404, "not_found")
	b.power("..%2Fnode2", "", `{"command":"reboot","confirm":"../node2"}`, apitest.Owner, 404, "not_found")
	running := dbtest.Value[string](t, b.DB, "SELECT min(name) FROM guests WHERE node = 'node2' AND status = 'running'")
	b.power("node2", "", `{"command":"reboot"}`, apitest.Owner, 409, "confirm_required", `"confirm_phrase":"node2"`,
		`The node node2 is rebooted.`, `"kind":"uptime"`, running+` is shut down.`, `set to start at boot`, `Of 2 nodes, 1 remains online`)
	b.power("node2", "", `{"command":"shutdown","confirm":"node1"}`, apitest.Owner, 409, "confirm_required",
		`The node node2 is shut down.`, `cannot switch the node on again`)
	b.power("node2", "?plan=true", `{"command":"reboot"}`, apitest.Owner, 200, "", `"is_self":false`, `"blockers":[]`)
	b.Expect(t, "PUT", "hosts/self", `{"host_id":1}`, apitest.Owner, 200, "")
	b.power("node1", "", `{"command":"reboot"}`, apitest.Owner, 409, "self_target", `"is_self":true`, `This service runs on the node node1`)
	b.cluster.SetFault("nodestatus", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	b.power("node2", "", `{"command":"reboot","confirm":"node2"}`, apitest.Owner, 502, "hypervisor_error", `"reason":"unreachable"`)
	b.power("node2", "?plan=true", `{"command":"reboot"}`, apitest.Owner, 200, "", `The hypervisor did not answer: no route`)
	if n := b.cluster.Calls("powernode"); n != 0 {
		t.Errorf("the hypervisor was told %d times", n)
	}
	b.Expect(t, "DELETE", "hosts/1/credentials/node_power", "", apitest.Owner, 200, "")
	b.power("node2", "", `{"command":"reboot","confirm":"node2"}`, apitest.Owner, 409, "capability_missing", `"capability":"node_power"`)
	b.power("node2", "?plan=true", `{"command":"reboot"}`, apitest.Owner, 200, "", `"blockers":[{"error":"capability_missing"`)
}

// A node is followed down and up again, by what it says itself or another member of its cluster.
func TestHostNodePower(t *testing.T) {
	t.Parallel()
	reads := func(b *hostsFixture) func() int { return func() int { return b.cluster.Calls("nodestatus") } }
	lost := plugin.Errorf(plugin.Unreachable, "connection reset")
	// back switches the node on once the job has seen that it is away.
	back := func(b *hostsFixture, job int64) {
		waittest.Until(b.t, "it is seen to be away", func() bool {
			return dbtest.Value[bool](b.t, b.DB, `SELECT EXISTS (SELECT FROM job_events WHERE job_id = $1
				AND text LIKE '%no longer answers%')`, job)
		})
		b.cluster.PowerOn("node2")
	}
	downSoon := func(s *power.Store) { s.ShutdownLimit = 2 * time.Second }
	for name, c := range map[string]struct {
		command, status string
		set             func(b *hostsFixture)
		meanwhile       func(b *hostsFixture, job int64)
		texts           []string
		told            int
		limits          []func(*power.Store)
	}{
		"a reboot": {"reboot", "succeeded", func(b *hostsFixture) { b.cluster.SetPower("node2", memdriver.Power{Lost: true}) }, back,
			[]string{"has been up for 1h0m0s; sending the command reboot", "no longer answers (node node2 is offline)",
				"the node is back: it did not answer for"}, 1, nil},
		"switched off": {"shutdown", "succeeded", nil, nil, []string{"while other members of its cluster have: it is off"}, 1, nil},
		"it never goes down": {"reboot", "failed", func(b *hostsFixture) { b.cluster.SetPower("node2", memdriver.Power{Stays: true}) }, nil,
			[]string{"accepted the command but did not go down within 2s", "up for 1h0m0s"}, 1, []func(*power.Store){downSoon}},
		"it never comes back": {"reboot", "failed", func(b *hostsFixture) { b.cluster.SetPower("node2", memdriver.Power{Lost: true}) }, nil,
			[]string{"is not back after 2s", "check it at its console"}, 1,
			[]func(*power.Store){func(s *power.Store) { s.BootLimit = 2 * time.Second }}},
		"an answer that is lost": {"reboot", "succeeded",
			func(b *hostsFixture) {
				b.cluster.SetFault("powernode", memdriver.Fault{Err: lost, Late: true})
				b.cluster.SetPower("node2", memdriver.Power{Lost: true})
			}, back,
			[]string{"the answer to the request was lost", "the node is back"}, 1, nil},
		"a request that is lost": {"reboot", "unknown", func(b *hostsFixture) { b.cluster.SetFault("powernode", memdriver.Fault{Err: lost}) },
			nil,
			[]string{"did not go down within 2s", "nothing was sent again"}, 0,
			[]func(*power.Store){downSoon}},
		"it is refused": {"reboot", "failed",
			func(b *hostsFixture) {
				b.cluster.SetFault("powernode", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "not today")})
			}, nil,
			[]string{"not today"}, 0, nil},
		"it is switched on again": {"shutdown", "succeeded", nil, func(b *hostsFixture, _ int64) {
			waittest.Until(b.t, "it is told", func() bool { return len(b.cluster.PowerCommands("node2")) > 0 })
			b.cluster.PowerOn("node2")
		}, []string{"was switched on again"}, 1, []func(*power.Store){func(s *power.Store) { s.OffTime = time.Hour }}},
		"it is canceled while it is watched": {"reboot", "canceled",
			func(b *hostsFixture) { b.cluster.SetPower("node2", memdriver.Power{Lost: true}) }, func(b *hostsFixture, job int64) {
				waittest.Until(b.t, "it is told", func() bool { return len(b.cluster.PowerCommands("node2")) > 0 })
				seen := reads(b)()
				waittest.Until(b.t, "it is watched", func() bool { return reads(b)() > seen+2 })
				b.Expect(b.t, "POST", fmt.Sprintf("jobs/%d/cancel", job), "", apitest.Owner, 202, "")
			}, []string{"the command reboot was sent to the node and cannot be taken back"}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPoweredHosts(t, c.limits...)
			if c.set != nil {
				c.set(b)
			}
			text := b.powered("node2", c.command, c.status, func(job int64) {
				if c.meanwhile != nil {
					c.meanwhile(b, job)
				}
			})
			for _, want := range c.texts {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in:\n%s", want, text)
				}
			}
			if told := b.cluster.PowerCommands("node2"); len(told) != c.told {
				t.Errorf("it was told %v", told)
			}
		})
	}
}

// Where no other member of the cluster is enrolled, the node's own silence has to do, and the job says so. Where one is, it is asked.
func TestHostNodePowerIsWatchedByOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	b := newPoweredHosts(t)
	if text := b.powered("node1", "shutdown", "succeeded", nil); !strings.Contains(text, "no other member of its cluster reports") {
		t.Error(text)
	}
	b.cluster.PowerOn("node1")
	token := b.cluster.Target(endpoint.Monitoring).Credential
	b.Run(t, apitest.Scenario{Name: "the second member", Method: "POST", URL: "/api/v1/hosts", As: apitest.Admin, Status: 201,
		Body: fmt.Sprintf(`{"name":"second","address":"https://second.mem","tls_fingerprint":%q,"token_id":%q,"token_secret":%q}`,
			b.cluster.Fingerprint(), token.ID, string(token.Secret))},
		apitest.Scenario{Name: "is polled", Method: "POST", URL: "/api/v1/hosts/2/sync", As: apitest.Owner, Status: 200})
	b.Exec("UPDATE hosts SET cluster_id = 1 WHERE id = 2") // hypervisors in memory do not tell that they are of one cluster
	if text := b.powered("node1", "shutdown", "succeeded", nil); !strings.Contains(text, "while other members of its cluster have") {
		t.Error(text)
	}
}
