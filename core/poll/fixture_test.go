package poll_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// fixture stands in for the hosts: what each answers is scripted, and how often it was asked is counted.
type fixture struct {
	dbtest.SQL
	t  *testing.T
	db *db.DB

	mu      sync.Mutex
	answers map[int64]func(context.Context, hypervisor.InventoryQuery, func(hypervisor.Page) error) error
	// named makes every answer that of a hypervisor whose guests are known by name and have UIDs.
	named   bool
	asked   map[int64]int
	probed  map[int64]int
	queries []hypervisor.InventoryQuery
	// missing is what every token lacks and lacks what one host's does; a token that lacks something may ask for no single guest. hidden are
	// guests that no token may ask for, and there those that are there though no list has them.
	missing       []string
	lacks         map[int64][]string
	hidden, there map[int64]bool
	// found are guests that are there by their ids, whatever a list has.
	found map[hypervisor.GuestID]hypervisor.Guest
	// rightsErr is what the question for rights fails with; rights and checks count questions for rights and for single guests.
	rightsErr      error
	rights, checks int
	// ends and certificateEnd are told with the rights; members are told of nodes, and what is no error of them fails.
	ends           []hypervisor.CredentialEnd
	certificateEnd time.Time
	members        map[string]hypervisor.Member
	memberErr      error
	// membersAsked are the nodes that were asked about, in order.
	membersAsked []string
	// tasks are told with taskErr, and taskQueries are the questions for them.
	tasks       []hypervisor.Task
	taskErr     error
	taskQueries []hypervisor.TaskQuery
}

func newFixture(t *testing.T) *fixture {
	d := dbtest.New(t)
	return &fixture{SQL: dbtest.On(t, d), t: t, db: d,
		answers: map[int64]func(context.Context, hypervisor.InventoryQuery, func(hypervisor.Page) error) error{}, asked: map[int64]int{},
		probed: map[int64]int{},
		lacks:  map[int64][]string{}, hidden: map[int64]bool{}, there: map[int64]bool{}}
}

// host adds a row of hosts that answers with what report gives at the time.
func (f *fixture) host(report func() hypervisor.Page) int64 {
	f.t.Helper()
	var id int64
	f.mu.Lock()
	n := len(f.answers) + 1
	f.mu.Unlock()
	err := f.db.Pool.QueryRow(f.t.Context(), "INSERT INTO hosts (driver, name, address) VALUES ('fake', $1, $2) RETURNING id",
		fmt.Sprintf("host%d", n), fmt.Sprintf("10.0.0.%d:8006", n)).Scan(&id)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Exec("INSERT INTO host_credentials (host_id, capability, token_id, secret, verified_at) VALUES ($1, 'monitoring', 'a', '', now())", id)
	f.answer(id, func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(report())
	})
	return id
}

func (f *fixture) answer(id int64, fn func(context.Context, hypervisor.InventoryQuery, func(hypervisor.Page) error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[id] = fn
}

func (f *fixture) dead(id int64) {
	f.answer(id, func(context.Context, hypervisor.InventoryQuery, func(hypervisor.Page) error) error {
		return plugin.Errorf(plugin.Unreachable, "no route to host")
	})
}

func (f *fixture) Open(_ context.Context, id int64, capability endpoint.Capability) (hypervisor.Host, error) {
	if capability != endpoint.Monitoring {
		f.t.Errorf("a poll asked for the %s token", capability)
	}
	return &fakeHost{fixture: f, id: id}, nil
}

func (f *fixture) count(id int64) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[id]
}

type fakeHost struct {
	hypervisor.Host
	fixture *fixture
	id      int64
}

func (h *fakeHost) Close() error { return nil }

func (h *fakeHost) Version(ctx context.Context) (hypervisor.Version, error) {
	h.fixture.mu.Lock()
	h.fixture.probed[h.id]++
	answer := h.fixture.answers[h.id]
	h.fixture.mu.Unlock()
	err := answer(ctx, hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
	return hypervisor.Version{Version: "9.2.11"}, err
}

func (h *fakeHost) missing() []string {
	return append(slices.Clone(h.fixture.missing), h.fixture.lacks[h.id]...)
}

func (h *fakeHost) Permissions(context.Context) (hypervisor.Permissions, error) {
	h.fixture.mu.Lock()
	defer h.fixture.mu.Unlock()
	h.fixture.rights++
	return hypervisor.Permissions{Missing: h.missing(), Ends: h.fixture.ends, Version: &hypervisor.Version{Version: "9.2.11",
		NotAfter: h.fixture.certificateEnd}}, h.fixture.rightsErr
}

func (h *fakeHost) Tasks(_ context.Context, query hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	h.fixture.mu.Lock()
	defer h.fixture.mu.Unlock()
	h.fixture.taskQueries = append(h.fixture.taskQueries, query)
	return hypervisor.TaskList{Tasks: h.fixture.tasks}, h.fixture.taskErr
}

// Member implements hypervisor.MemberReader.
func (h *fakeHost) Member(_ context.Context, node string) (hypervisor.Member, error) {
	h.fixture.mu.Lock()
	defer h.fixture.mu.Unlock()
	h.fixture.membersAsked = append(h.fixture.membersAsked, node)
	return h.fixture.members[node], h.fixture.memberErr
}

func (h *fakeHost) Guest(_ context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	h.fixture.mu.Lock()
	defer h.fixture.mu.Unlock()
	h.fixture.checks++
	switch {
	case len(h.missing()) > 0 || h.fixture.hidden[number(ref)]:
		err := plugin.Errorf(plugin.Denied, "it is not allowed")
		err.Missing = []string{"VM.Audit"}
		return hypervisor.Guest{}, err
	case h.fixture.found[ref.ID].Same(ref):
		return h.fixture.found[ref.ID], nil
	case h.fixture.there[number(ref)]:
		return hypervisor.Guest{GuestRef: ref, Status: hypervisor.GuestRunning}, nil
	}
	return hypervisor.Guest{}, plugin.Errorf(plugin.NotFound, "guest not found")
}

func (h *fakeHost) Inventory(ctx context.Context, q hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	h.fixture.mu.Lock()
	h.fixture.asked[h.id]++
	h.fixture.queries = append(h.fixture.queries, q)
	answer := h.fixture.answers[h.id]
	named := h.fixture.named
	h.fixture.mu.Unlock()
	return answer(ctx, q, func(p hypervisor.Page) error {
		if named {
			p = withNames(p)
		}
		return page(p)
	})
}

// inBothShapes runs a test on a hypervisor whose guests have numbers and on one whose guests have names and UIDs, or with
// -short on one of them.
func inBothShapes(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Parallel()
	for _, shape := range sampletest.OneOf(t.Name(), []string{"numbers", "names and UIDs"}) {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.named = shape == "names and UIDs"
			test(t, f)
		})
	}
}

// prefix begins the names that guests get of their numbers.
const prefix = "lab/g"

// ref is the id of the guest with a number in the fixture's shape.
func (f *fixture) ref(n int64) hypervisor.GuestID {
	id := hypervisor.GuestID(strconv.FormatInt(n, 10))
	if f.named {
		return prefix + id
	}
	return id
}

func number(ref hypervisor.GuestRef) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(string(ref.ID), prefix), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// withNames is a page of the other shape. The numbers stay beside the names, so that tests find the rows by them.
func withNames(p hypervisor.Page) hypervisor.Page {
	name := func(ref hypervisor.GuestRef) hypervisor.GuestRef {
		if ref.UID == "" && ref.ID.Valid() {
			ref.ID, ref.UID = prefix+ref.ID, fmt.Sprintf("uid of %s %s", ref.Kind, ref.ID)
		}
		return ref
	}
	p.Guests, p.Samples = slices.Clone(p.Guests), slices.Clone(p.Samples)
	for i := range p.Guests {
		p.Guests[i].GuestRef = name(p.Guests[i].GuestRef)
	}
	for i := range p.Samples {
		if p.Samples[i].Guest != nil {
			ref := name(*p.Samples[i].Guest)
			p.Samples[i].Guest = &ref
		}
	}
	return p
}

func (f *fixture) poller(d *db.DB, edit ...func(*poll.Config)) *poll.Poller {
	config := poll.Config{DB: d, Hosts: f, Logger: hclog.NewNullLogger()}
	for _, e := range edit {
		e(&config)
	}
	p := poll.New(config)
	f.t.Cleanup(p.Close)
	return p
}

// run starts a poller's loop; it is stopped at the end of the test, or before by the function returned.
func run(t *testing.T, p *poll.Poller) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// sync polls a host and fails the test when that fails.
func (f *fixture) sync(p *poll.Poller, id int64) {
	f.t.Helper()
	if err := p.Sync(f.t.Context(), id); err != nil {
		f.t.Fatalf("polling host %d: %v", id, err)
	}
}

type row struct {
	ID, Host, Cluster, VMID  int64
	Kind, Node, Name, Status string
	Memory                   *int64
	Ref, UID                 string
}

func (f *fixture) guests() []row {
	f.t.Helper()
	rows, err := f.db.Pool.Query(f.t.Context(), `SELECT id, host_id, cluster_id, coalesce(vmid, 0), kind, node, name, status, memory,
		ref, coalesce(uid, '') FROM guests ORDER BY cluster_id, vmid, ref, kind`)
	if err != nil {
		f.t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (g row, err error) {
		return g, r.Scan(&g.ID, &g.Host, &g.Cluster, &g.VMID, &g.Kind, &g.Node, &g.Name, &g.Status, &g.Memory, &g.Ref, &g.UID)
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// adopt makes apps of all guests; a condition may follow.
const adopt = `INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, guest_uid, vmid, name)
	SELECT host_id, cluster_id, id, ref, uid, vmid, name FROM guests`

func ptr[T any](v T) *T { return &v }

func vm(id int64, node, name string) hypervisor.Guest {
	return hypervisor.Guest{
		GuestRef: hypervisor.GuestRef{Kind: hypervisor.VM, Node: node, ID: hypervisor.GuestID(strconv.FormatInt(id, 10))},
		Number:   &id, Name: name, Status: hypervisor.GuestRunning,
		CPU: ptr(0.25), CPUs: ptr(2.0), Memory: ptr(id * 1000), MemoryTotal: ptr(int64(1 << 30)), NetIn: ptr(int64(5)), Uptime: ptr(int64(60)),
		Tags: []string{"a", "b"},
	}
}

func ct(id int64, node, name string) hypervisor.Guest {
	g := vm(id, node, name)
	g.Kind = hypervisor.Container
	return g
}

func node(name string) hypervisor.Node {
	return hypervisor.Node{Name: name, Status: hypervisor.NodeOnline, Address: "192.0.2." + name[len(name)-1:], CPU: ptr(0.5),
		CPUs: ptr(8.0), Memory: ptr(int64(1)), MemoryTotal: ptr(int64(2))}
}

// report is a page as a member at the given entry node would give it.
func report(cluster, entry string, nodes []hypervisor.Node, guests ...hypervisor.Guest) hypervisor.Page {
	return hypervisor.Page{Cluster: &hypervisor.Cluster{Name: cluster, Quorate: true, Entry: entry}, Nodes: nodes, Guests: guests}
}
