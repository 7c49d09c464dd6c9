package pve_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// quick is a pace for tests: it polls often, and its time-outs end what hangs only, however busy the machine is.
var quick = pve.Timing{
	Timeouts:  pveapi.Timeouts{Dial: time.Minute, Header: time.Minute, Stall: time.Minute},
	PollFirst: 5 * time.Millisecond, PollMost: 20 * time.Millisecond, Silence: 2 * time.Minute,
	SSH: pvessh.Timeouts{Dial: time.Minute, Handshake: time.Minute, Silence: time.Minute, Kill: time.Minute},
}

// impatient is quick with time-outs that are short enough to be waited for.
func impatient() pve.Timing {
	pace := quick
	pace.Timeouts = pveapi.Timeouts{Dial: time.Minute, Header: 2 * time.Second, Stall: 2 * time.Second}
	return pace
}

// fixture is a simulated installation and a driver.
type fixture struct {
	*pvesim.Cluster
	driver *pve.Driver
	next   atomic.Int64
}

func newFixture(t testing.TB, opts pvesim.Options) *fixture {
	t.Helper()
	w := &fixture{Cluster: pvesimtest.Start(t, opts), driver: pve.NewWithTiming(nil, quick)}
	t.Cleanup(w.driver.Close)
	return w
}

// target is the entry node's with the token.
func (w *fixture) target(capability endpoint.Capability, token pvesim.Token) endpoint.Target {
	return endpoint.Target{
		Address: strings.TrimPrefix(w.URL(""), "https://"), Fingerprint: w.Fingerprint(""), AllowLocal: true,
		Credential: endpoint.Credential{Capability: capability, ID: token.ID, Secret: plugin.Secret(token.Secret)},
	}
}

func (w *fixture) open(t testing.TB, target endpoint.Target) *pve.Host {
	t.Helper()
	host, err := w.driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal("opening the host:", err)
	}
	return host.(*pve.Host)
}

// host is opened with the proper token of a capability.
func (w *fixture) host(t testing.TB, capability endpoint.Capability) *pve.Host {
	t.Helper()
	return w.open(t, w.target(capability, w.Tokens()[string(capability)]))
}

// token makes a token that has exactly the privileges at the path.
func (w *fixture) token(path string, propagate bool, privileges ...string) pvesim.Token {
	n := w.next.Add(1)
	role, user := fmt.Sprintf("TestRole%d", n), fmt.Sprintf("tester%d@pve", n)
	w.SetRole(role, privileges...)
	token := w.AddToken(user+"!test", true)
	w.Grant(path, user, role, propagate)
	w.Grant(path, token.ID, role, propagate)
	return token
}

// guest makes a guest and names it.
func (w *fixture) guest(t testing.TB, spec pvesim.GuestSpec) hypervisor.GuestRef {
	t.Helper()
	id, err := w.AddGuest(spec)
	if err != nil {
		t.Fatal("making a guest:", err)
	}
	return w.ref(t, id)
}

func (w *fixture) ref(t testing.TB, id int) hypervisor.GuestRef {
	t.Helper()
	spec, ok := w.Guest(id)
	if !ok {
		t.Fatal("no guest", id)
	}
	kind := hypervisor.VM
	if spec.Type == pvesim.LXC {
		kind = hypervisor.Container
	}
	return hypervisor.GuestRef{Kind: kind, Node: spec.Node, ID: hypervisor.GuestID(strconv.Itoa(id))}
}

// vmid is the number of a guest that the fixture has made.
func vmid(t testing.TB, ref hypervisor.GuestRef) int {
	t.Helper()
	id, err := strconv.Atoi(string(ref.ID))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (w *fixture) fault(t testing.TB, f pvesim.Fault) {
	t.Helper()
	if f.Kind == pvesim.FaultHang { // it is waited for
		w.driver = pve.NewWithTiming(nil, impatient())
		t.Cleanup(w.driver.Close)
	}
	if _, err := w.AddFault(f); err != nil {
		t.Fatal("setting a fault:", err)
	}
}

// task puts a task into the list.
func (w *fixture) task(t testing.TB, kind string, d time.Duration, exit string, lines ...string) string {
	t.Helper()
	id, err := w.StartTask(w.NodeNames()[0], pvesim.ServiceUser+"!lifecycle", kind, "100", d, exit, lines...)
	if err != nil {
		t.Fatal("starting a task:", err)
	}
	return id
}

func wantKind(t testing.TB, err error, kind plugin.ErrorKind) *plugin.Error {
	t.Helper()
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("got error %v, want kind %s", err, kind)
	}
	return e
}

// grantsRole reports whether a command gives the token a role that has the privileges already.
func grantsRole(command, role string, token pvesim.Token) bool {
	return strings.HasPrefix(command, "pveum acl modify '/") && strings.HasSuffix(command, " --tokens '"+token.ID+"' --roles "+role)
}

func must(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// gather reads a whole inventory.
func gather(t testing.TB, host *pve.Host, query hypervisor.InventoryQuery) hypervisor.Page {
	t.Helper()
	var all hypervisor.Page
	must(t, "reading the inventory", host.Inventory(t.Context(), query, func(p hypervisor.Page) error {
		if p.Restart {
			all = hypervisor.Page{}
			return nil
		}
		if p.Cluster != nil {
			all.Cluster = p.Cluster
		}
		all.Nodes, all.Guests = append(all.Nodes, p.Nodes...), append(all.Guests, p.Guests...)
		all.Storages, all.Samples = append(all.Storages, p.Storages...), append(all.Samples, p.Samples...)
		return nil
	}))
	slices.SortFunc(all.Guests, func(a, b hypervisor.Guest) int { return cmp.Compare(*a.Number, *b.Number) })
	return all
}
