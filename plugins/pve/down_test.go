package pve_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// A node whose name the called one cannot resolve says nothing of its guests: they are there and cannot be reached.
func TestANodeThatDoesNotResolveIsUnreachable(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1, ResourcesLag: -1})
	member := w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC, Node: "pve2", Status: "running"})
	stranded := w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC, Status: "running"})
	must(t, "stranding a guest", w.StrandGuest(vmid(t, stranded), "gone"))
	stranded.Node = "gone"
	w.SetNodeResolves("pve2", false)
	w.SetNodeResolves("gone", false)
	for _, ref := range []hypervisor.GuestRef{member, stranded} {
		_, err := w.host(t, endpoint.Monitoring).Guest(t.Context(), ref)
		if e := wantKind(t, err, plugin.Unreachable); !strings.Contains(e.Message, "hostname lookup '"+ref.Node+"'") {
			t.Errorf("%v", err)
		}
		_, err = w.host(t, endpoint.Lifecycle).Act(t.Context(), ref, hypervisor.Stop)
		wantKind(t, err, plugin.Unreachable)
	}
	_, err := w.host(t, endpoint.Monitoring).NodeStatus(t.Context(), "pve2")
	wantKind(t, err, plugin.Unreachable)
	_, err = w.host(t, endpoint.Monitoring).NodeStatus(t.Context(), "gone")
	wantKind(t, err, plugin.NotFound)

	all := gather(t, w.host(t, endpoint.Monitoring), hypervisor.InventoryQuery{})
	if len(all.Guests) != 2 || all.Guests[1].Node != "gone" || all.Guests[1].Status != hypervisor.GuestUnknown ||
		all.Guests[0].Status != hypervisor.GuestRunning {
		t.Errorf("%+v", all.Guests)
	}
	w.SetNodeResolves("pve2", true)
	_, err = w.host(t, endpoint.Monitoring).Guest(t.Context(), member)
	must(t, "reading it again", err)
}

// NotFound is proof that a guest is gone: no other thing that is missing may say so.
func TestOnlyAMissingConfigurationMeansNoGuest(t *testing.T) {
	t.Parallel()
	for reason, kind := range map[string]plugin.ErrorKind{
		"Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist": plugin.NotFound,
		"unable to find configuration file for VM 100 on node 'pve1'":         plugin.NotFound,
		"storage 'nas' does not exist":                                        plugin.Refused,
		"no such logical volume pve/vm-100-disk-0":                            plugin.Refused,
	} {
		w := newFixture(t, pvesim.Options{Guests: 1})
		w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: reason})
		_, err := w.host(t, endpoint.Monitoring).Guest(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "100"})
		wantKind(t, err, kind)
	}
}

// A guest that the token may not see is Denied. One whose id is free is not there.
func TestAHiddenGuestIsDenied(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Guests: 1})
	host := w.open(t, w.target(endpoint.Monitoring, w.token("/", true, "Sys.Audit")))
	_, err := host.Guest(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "100"})
	if e := wantKind(t, err, plugin.Denied); len(e.Missing) != 1 || e.Missing[0] != "VM.Audit" {
		t.Errorf("%+v", e)
	}
	_, err = host.Guest(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "999"})
	wantKind(t, err, plugin.NotFound)
}

// Only the proxy of the API answers: that is told of the host, and of no cluster, where there is none.
func TestTheDaemonAloneIsDown(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what does not come: make check runs it")
	}
	t.Parallel()
	w := newFixture(t, pvesim.Options{Guests: 2})
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultDaemon})
	host := w.host(t, endpoint.Monitoring)
	_, err := host.Version(t.Context())
	must(t, "asking for the version", err)
	_, err = host.Permissions(t.Context())
	must(t, "asking for permissions", err)
	_, err = host.NodeStatus(t.Context(), "pve1")
	must(t, "asking for a node's status", err)
	err = host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
	e := wantKind(t, err, plugin.Unreachable)
	_, err = host.Guest(t.Context(), w.ref(t, 100))
	for _, e := range []*plugin.Error{e, wantKind(t, err, plugin.Unreachable)} {
		if !strings.Contains(e.Message, "API daemon") || !strings.Contains(e.Message, "595 Connection refused") ||
			strings.Contains(e.Message, "cluster") {
			t.Errorf("%q", e.Message)
		}
	}
}

// The result of a task may come a moment after its end.
func TestWaitTaskWaitsForTheResult(t *testing.T) {
	t.Parallel()
	pace := quick
	pace.PollFirst, pace.PollMost = 200*time.Millisecond, 200*time.Millisecond
	for _, c := range []struct {
		lag    time.Duration // of which a second has gone by when the wait begins
		status string
	}{{1300 * time.Millisecond, hypervisor.TaskOK}, {time.Hour, hypervisor.TaskUnknown}} {
		w := newFixture(t, pvesim.Options{Guests: 1})
		w.driver = pve.NewWithTiming(nil, pace)
		t.Cleanup(w.driver.Close)
		id := w.task(t, "qmstart", time.Millisecond, "OK", "starting")
		w.Advance(time.Second)
		w.SetExitLag(c.lag)
		got, err := w.host(t, endpoint.Lifecycle).WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { return nil })
		if err != nil || got.Status != c.status {
			t.Errorf("%v: %+v, %v", c.lag, got, err)
		}
	}
}
