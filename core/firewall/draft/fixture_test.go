package draft_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/host/hosttest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	sdkplugin "github.com/hostler/hostler/sdk/plugin"
)

func TestMain(m *testing.M) { jobtest.Main(m, child) }

// child is an instance in a process of its own, on the hypervisor of the test.
func child(args []string) error {
	url, key, address := args[0], args[1], args[2]
	d, err := db.Open(context.Background(), db.Config{URL: url, Logger: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(address, append(sdkplugin.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return err
	}
	s, q, err := instance(d, key, hypervisor.NewClient(conn), sdk.NewClient(conn))
	if err != nil {
		return err
	}
	if len(args) > 3 {
		if err := limitMemory(); err != nil {
			return err
		}
	}
	if err := q.Start(context.Background()); err != nil || len(args) <= 3 || args[3] == "" {
		return err
	}
	return commitLong(s, args[3])
}

// backends gives every host the same backend.
type backends struct{ sdk.Backend }

func (b backends) Firewall(string) sdk.Backend { return b.Backend }

// instance is one service, which is not started.
func instance(d *db.DB, key string, driver hypervisor.Driver, backend sdk.Backend) (*draft.Store, *job.Queue, error) {
	box, err := secret.Load(context.Background(), key, func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		return nil, nil, err
	}
	hosts := host.New(host.Config{DB: d, Drivers: hosttest.SingleDriver(driver), Keys: box, Driver: "mem", Timeout: time.Minute})
	q, err := job.New(job.Config{DB: d, Workers: 1, ResumeEvery: 200 * time.Millisecond})
	if err != nil {
		return nil, nil, err
	}
	s := &draft.Store{DB: d, Hosts: hosts, Firewalls: &firewall.Store{DB: d, Hosts: hosts, Backends: backends{backend}},
		Actor: &guest.Actor{DB: d, Queue: q, Hosts: hosts}, Tick: 20 * time.Millisecond, Retry: 20 * time.Millisecond}
	s.Register(q)
	return s, q, nil
}

// fixture is a cluster of two nodes with the VMs "web", 1, and "db", 2, with its firewall in memory.
type fixture struct {
	dbtest.SQL
	*draft.Store
	t        *testing.T
	url, key string
	driver   *memdriver.Driver
	cluster  *memdriver.Cluster
	backend  *membackend.Backend
	at       *membackend.Endpoint
	queue    *job.Queue
	guests   map[string]sdk.Scope
}

var clusterScope = sdk.Scope{Kind: sdk.ClusterScope}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, url: dbtest.URL(t), key: filepath.Join(t.TempDir(), "key"), driver: memdriver.New(), backend: membackend.New(),
		guests: map[string]sdk.Scope{}}
	d := dbtest.Open(t, f.url)
	f.SQL = dbtest.On(t, d)
	f.cluster = f.driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 2})
	f.at = f.backend.AddAt(f.cluster.Target(endpoint.Monitoring))
	f.at.Admit(f.cluster.Target(endpoint.Lifecycle))
	f.at.Admit(f.cluster.Target(endpoint.Console))
	var err error
	if f.Store, f.queue, err = instance(d, f.key, f.driver, f.backend); err != nil {
		t.Fatal(err)
	}
	monitoring, lifecycle := f.cluster.Target(endpoint.Monitoring).Credential, f.cluster.Target(endpoint.Lifecycle).Credential
	if _, _, err := f.Hosts.Create(t.Context(), host.EnrolRequest{Name: "pool", Address: "pool.mem", Fingerprint: f.cluster.Fingerprint(),
		TokenID: monitoring.ID, Secret: secret.New(string(monitoring.Secret))}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Hosts.Rotate(t.Context(), 1, host.RotateRequest{Capability: string(endpoint.Lifecycle), TokenID: lifecycle.ID,
		Secret: secret.New(string(lifecycle.Secret))}); err != nil {
		t.Fatal(err)
	}
	f.Exec(`INSERT INTO clusters (team_id, name) VALUES (1, 'pool');
		UPDATE hosts SET cluster_id = 1, entry_node = 'node1';
		INSERT INTO nodes (cluster_id, name, host_id, status, seen_at) VALUES (1, 'node1', 1, 'online', now()),
			(1, 'node2', 1, 'online', now())`)
	for i, name := range []string{"web", "db"} {
		vm := f.cluster.Guests()[i]
		f.cluster.Change(vm.ID, func(g *hypervisor.Guest) { g.Name = name })
		f.Exec(fmt.Sprintf(`INSERT INTO guests (cluster_id, host_id, kind, ref, node, name, status, tags) VALUES
			(1, 1, 'vm', '%s', '%s', '%s', 'running', '{}')`, vm.ID, vm.Node, name))
		f.guests[name] = sdk.Scope{Kind: sdk.GuestScope, Guest: &sdk.Guest{Kind: "vm", Node: vm.Node, ID: string(vm.ID)}}
		f.at.SetRules(f.guests[name], rule("ACCEPT", "22"), rule("ACCEPT", "80"), rule("DROP", "23"))
	}
	for _, node := range []string{"node1", "node2"} {
		f.at.AddScope(sdk.Scope{Kind: sdk.NodeScope, Node: node})
	}
	return f
}

func rule(action, port string) sdk.Rule {
	return sdk.Rule{Direction: "in", Action: action, Enabled: true, Protocol: "tcp", DestinationPort: port}
}

// as is a context of a caller with a role.
func as(t *testing.T, role identity.Role) context.Context {
	t.Helper()
	return identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Email: "ann@example.com",
		Teams: map[int64]identity.Role{identity.DefaultTeam: role}})
}

func (f *fixture) start() {
	f.t.Helper()
	if err := f.queue.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = f.queue.Stop(context.Background()) })
}

// changes are some, as a body has them.
func changes(t *testing.T, body string) (all []draft.Change) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// edits changes a little of everything of the VM web, and a rule of the VM db.
const edits = `[
	{"scope":{"kind":"vm","id":1},"action":"create_alias","name":"office","cidr":"192.0.2.0/24"},
	{"scope":{"kind":"vm","id":1},"action":"create_ipset","name":"friends",
		"members":[{"cidr":"198.51.100.1"},{"cidr":"198.51.100.9","nomatch":true}]},
	{"scope":{"kind":"vm","id":1},"action":"create_rule","pos":1,
		"rule":{"type":"in","action":"ACCEPT","enable":1,"source":"+friends","proto":"tcp","dport":"443"}},
	{"scope":{"kind":"vm","id":1},"action":"delete_rule","pos":0},
	{"scope":{"kind":"vm","id":1},"action":"change_options","options":{"policy_in":"DROP","enable":"1"}},
	{"scope":{"kind":"vm","id":2},"action":"change_rule","pos":0,"rule":{"source":"192.0.2.9","comment":"only this one"}},
	{"scope":{"kind":"vm","id":2},"action":"create_rule","pos":3,"rule":{"type":"out","action":"REJECT","enable":1}}]`

// draft makes a draft.
func (f *fixture) draft(body string) draft.Draft {
	f.t.Helper()
	d, err := f.Create(as(f.t, identity.Admin), draft.Request{HostID: 1, Name: "try", Changes: changes(f.t, body)})
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

// commit commits a draft and gives its job.
func (f *fixture) commit(d draft.Draft, window time.Duration) int64 {
	f.t.Helper()
	started, err := f.Commit(as(f.t, identity.Admin), d.ID, window, new(d.Name))
	if err != nil {
		f.t.Fatal(err)
	}
	return started.Job.ID
}

// expire ends the window of a draft that waits.
func (f *fixture) expire(id int64) {
	f.t.Helper()
	f.becomes(id, "waiting")
	f.Exec("UPDATE firewall_drafts SET deadline = clock_timestamp() WHERE id = $1", id)
}

// becomes waits until a draft has a state.
func (f *fixture) becomes(id int64, status string) draft.Draft {
	f.t.Helper()
	var now draft.Draft
	waittest.Succeeds(f.t, "the draft becomes "+status, func() (err error) {
		if now, err = f.Get(as(f.t, identity.Viewer), id); err == nil && now.Status != status {
			err = fmt.Errorf("it is %s: %s", now.Status, f.transcript(*now.JobID))
		}
		return err
	})
	return now
}

func (f *fixture) transcript(id int64) string {
	return f.Value("SELECT string_agg(text, chr(10) ORDER BY seq) FROM job_events WHERE job_id = $1", id)
}

// ends waits for the end of a job.
func (f *fixture) ends(id int64, want job.Status) *job.Job {
	f.t.Helper()
	var j *job.Job
	waittest.Succeeds(f.t, "the job ends", func() (err error) {
		if j, err = f.queue.Get(f.t.Context(), id, identity.VisibleTeams{All: true}); err == nil && !j.Status.Finished() {
			err = fmt.Errorf("it is %s: %s", j.Status, f.transcript(id))
		}
		return err
	})
	if j.Status != want {
		f.t.Errorf("the job ended %s, want %s: %s\n%s", j.Status, want, j.Error, f.transcript(id))
	}
	if n := f.Value("SELECT count(*) FROM firewall_draft_locks"); n != "0" {
		f.t.Errorf("%s scopes are still held", n)
	}
	return j
}

// all are the scopes of the fixture, by what drafts call them.
func (f *fixture) all() []struct {
	title string
	on    sdk.Scope
} {
	return []struct {
		title string
		on    sdk.Scope
	}{{"vm web", f.guests["web"]}, {"vm db", f.guests["db"]}, {"cluster pool", clusterScope},
		{"node node1", sdk.Scope{Kind: sdk.NodeScope, Node: "node1"}}, {"group shared", sdk.Scope{Kind: sdk.GroupScope, Group: "shared"}}}
}

// states are all scopes as they are, in one text.
func (f *fixture) states() string { return f.with(nil) }

// expected is all as states gives it once a draft's changes are made.
func (f *fixture) expected(d draft.Draft) string { return f.with(d.Scopes) }

func (f *fixture) with(changed []draft.ChangedScope) string {
	f.t.Helper()
	fw, err := f.backend.Open(f.t.Context(), f.cluster.Target(endpoint.Monitoring))
	if err != nil {
		f.t.Fatal(err)
	}
	var b strings.Builder
	for _, at := range f.all() {
		s, err := sdk.ReadState(f.t.Context(), fw, at.on)
		if err != nil {
			f.t.Fatal(err)
		}
		lines := draft.Text(s)
		for _, c := range changed {
			if c.Kind+" "+c.Name == at.title {
				lines = c.After
			}
		}
		fmt.Fprintf(&b, "%s\n\t%s\n", at.title, strings.Join(lines, "\n\t"))
	}
	return b.String()
}

// serve serves the hypervisor to other processes.
func (f *fixture) serve() (address string) {
	f.t.Helper()
	server := sdkplugin.NewServer(hclog.NewNullLogger())
	if err := sdkplugin.Register(server, hypervisor.Service{Driver: f.driver, HostType: (*memdriver.Host)(nil)},
		sdk.Service{Backend: f.backend, FirewallType: (*membackend.Firewall)(nil)}); err != nil {
		f.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	f.t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// process is an instance in a process of its own.
func (f *fixture) process(address string) *jobtest.Process {
	f.t.Helper()
	return jobtest.Start(f.t, f.url, f.key, address)
}

// changing are the methods that change something.
var changing = map[string]bool{"CreateRule": true, "MoveRule": true, "ChangeRule": true, "DeleteRule": true, "CreateAlias": true,
	"ChangeAlias": true, "DeleteAlias": true, "CreateIPSet": true, "DeleteIPSet": true, "AddIPSetMember": true, "ChangeIPSetMember": true,
	"RemoveIPSetMember": true, "ChangeOptions": true, "CreateGroup": true, "ChangeGroup": true, "DeleteGroup": true}

// stop stands still at the n-th change from now on, from 0, and says so; release lets it go on.
func (f *fixture) stop(n int) (reached <-chan struct{}, release func()) {
	at, gone := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	f.at.Before(func(method string) {
		mu.Lock()
		mine := changing[method] && n == 0
		if changing[method] {
			n--
		}
		mu.Unlock()
		if mine {
			close(at)
			<-gone
		}
	})
	var once sync.Once
	return at, func() { once.Do(func() { close(gone) }) }
}

// reaches waits until stop says that it stands still.
func (f *fixture) reaches(reached <-chan struct{}) {
	f.t.Helper()
	waittest.Until(f.t, "the request is made", func() bool {
		select {
		case <-reached:
			return true
		default:
			return false
		}
	})
}
