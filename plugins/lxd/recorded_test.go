package lxd_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// replayed is a server that says what recorded servers said: by path, and by path with query where there are two of one path.
type replayed map[string]lxdtest.Exchange

// recording puts recordings together by their cases. What is asked for is the case's own path.
func recording(t *testing.T, cases ...string) replayed {
	t.Helper()
	all, server := lxdtest.Exchanges(t), replayed{}
	for _, name := range cases {
		i := slices.IndexFunc(all, func(e lxdtest.Exchange) bool { return e.Case == name })
		if i < 0 {
			t.Fatal("there is no recording ", name)
		}
		path, _, _ := strings.Cut(all[i].Path, "?")
		if strings.HasPrefix(path, "/1.0/certificates/") {
			path = "/1.0/certificates/own"
		}
		server[path] = all[i]
	}
	return server
}

func (s replayed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if strings.HasPrefix(path, "/1.0/certificates/") {
		path = "/1.0/certificates/own"
	}
	e, known := s[path]
	if !known {
		refusal(w, http.StatusNotFound, "Certificate not found")
		return
	}
	for _, h := range e.Header {
		if !strings.EqualFold(h[0], "Content-Length") && !strings.EqualFold(h[0], "Transfer-Encoding") {
			w.Header().Set(h[0], h[1])
		}
	}
	w.WriteHeader(e.Status)
	if e.Text != "" {
		_, _ = io.WriteString(w, e.Text)
	} else {
		_, _ = w.Write(e.Response)
	}
}

// host opens a host of it.
func (s replayed) host(t *testing.T) *lxd.Host {
	t.Helper()
	return open(t, newDriver(t, patience), targetOf(t, serveTLS(t, s), endpoint.Lifecycle))
}

// lines are the guests of an inventory in one line each.
func lines(guests []hypervisor.Guest) (all []string) {
	show := func(f *float64) string {
		if f == nil {
			return "-"
		}
		return fmt.Sprintf("%.2f", *f)
	}
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	for _, g := range guests {
		all = append(all, fmt.Sprint(g.Kind, " ", g.Node, " ", g.ID, " ", g.UID[:min(4, len(g.UID))], " ", g.Status, " ", g.Pool, " cpus ",
			show(g.CPUs), " ", show(g.CPUSeconds), " memory ", number(g.Memory), "/", number(g.MemoryTotal), " net ", number(g.NetIn), "/",
			number(g.NetOut),
			" uptime ", number(g.Uptime)))
	}
	return all
}

func wantLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRecordedInventory(t *testing.T) {
	t.Parallel()
	single := recording(t, "GET__root__trusted", "GET__certificates_FINGERPRINT__ok", "GET__instances__all_projects",
		"GET__storage-pools__recursion1", "GET__resources__ok", "GET__metrics__whole_text").host(t)
	all := mustGather(t, single, hypervisor.InventoryQuery{})
	c := *all.Cluster
	if c.ClockAhead == nil {
		t.Error("what the answer says of the clock is not told")
	}
	if c.ClockAhead = nil; c != (hypervisor.Cluster{Quorate: true, Entry: "lxd1", StatesOnly: true}) {
		t.Errorf("%+v", c)
	}
	wantLines(t, "without detail", lines(all.Guests), []string{
		"container lxd1 proud-gull 0cd8 stopped default cpus - - memory -/- net -/- uptime -",
		"container lxd1 web1 9716 running default cpus 2.00 - memory -/209715200 net -/- uptime 137",
		"container lxd1 customers/web1 5666 running customers cpus - - memory -/- net -/- uptime 1",
		"container lxd1 web10 352f stopped default cpus 2.00 - memory -/209715200 net -/- uptime -",
		"container lxd1 web3 352f stopped default cpus 2.00 - memory -/209715200 net -/- uptime -",
		"container lxd1 web6 85ad stopped default cpus 2.00 - memory -/209715200 net -/- uptime -",
	})
	detailed := mustGather(t, single, hypervisor.InventoryQuery{Detail: true})
	t.Log(strings.Join(lines(detailed.Guests), "\n"))
	n := detailed.Nodes[0]
	if detailed.Cluster.StatesOnly || n.Name != "lxd1" || *n.CPUs != 2 || *n.MemoryTotal != 25769803776 || len(detailed.Storages) != 2 {
		t.Errorf("%+v, %+v, %+v", detailed.Cluster, n, detailed.Storages)
	}
	if g := detailed.Guests[1]; g.CPUSeconds == nil || g.Memory == nil || *g.Memory > *g.MemoryTotal || g.NetIn == nil || g.Disk != nil {
		t.Errorf("%+v", g)
	}
	if g := detailed.Guests[2]; g.CPUSeconds != nil || g.Memory != nil { // it is not among the figures
		t.Errorf("%+v", g)
	}
}

func TestRecordedCluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ members, status, storage, limits string }{
		{"GET__cluster_members__two_members", hypervisor.NodeOnline, "available", "2.00 - memory -/25769803776"},
		{"GET__cluster_members__member_offline", hypervisor.NodeOffline, "unknown", "- - memory -/-"},
	} {
		server := recording(t, "GET__root__clustered", "GET__certificates_FINGERPRINT__ok", c.members, "GET__instances__clustered_recursion1",
			"GET__storage-pools__clustered_pools", "GET__resources__clustered_resources_of_member",
			"GET__storage-pools_local_resources__clustered_pool_of_member", "GET__metrics__whole_text")
		host := server.host(t)
		all := mustGather(t, host, hypervisor.InventoryQuery{Detail: true})
		version, err := host.Version(t.Context())
		must(t, "asking for the version", err)
		if all.Cluster.ID != version.Fingerprint || all.Cluster.ID == "" || all.Cluster.Name != "" || all.Cluster.Entry != "lxd1" ||
			version.Node != "lxd1" {
			t.Errorf("%+v", all.Cluster)
		}
		if len(all.Nodes) != 2 || all.Nodes[1].Name != "lxd2" || all.Nodes[1].Status != c.status || all.Nodes[1].Address != "10.88.0.2" ||
			(all.Nodes[1].Memory != nil) != (c.status == hypervisor.NodeOnline) {
			t.Errorf("%+v", all.Nodes)
		}
		wantLines(t, "guests", lines(all.Guests[:4]), []string{
			"container lxd2 cl1 fdeb stopped default cpus " + c.limits + " net -/- uptime -",
			"container lxd2 cl3 3990 stopped default cpus " + c.limits + " net -/- uptime -",
			"container lxd1 proud-gull 0cd8 stopped default cpus 2.00 - memory -/25769803776 net -/- uptime -",
			"vm lxd1 vm1 2eb7 stopped default cpus 2.00 - memory -/268435456 net -/- uptime -",
		})
		if g := all.Guests[3]; g.DiskTotal == nil || *g.DiskTotal != 128<<20 {
			t.Errorf("%+v", g)
		}
		if len(all.Storages) != 4 || all.Storages[3].Node != "lxd2" || all.Storages[3].Status != c.storage || all.Storages[3].Shared {
			t.Errorf("%+v", all.Storages)
		}
		status, err := host.NodeStatus(t.Context(), "lxd2")
		if c.status == hypervisor.NodeOffline {
			wantKind(t, err, plugin.Unreachable)
		} else if err != nil || *status.CPUs != 2 || *status.Cores != 2 || *status.Sockets != 1 || status.CPUModel != "Example CPU" {
			t.Errorf("%+v, %v", status, err)
		}
		_, err = host.NodeStatus(t.Context(), "lxd9")
		wantKind(t, err, plugin.NotFound)
	}
}

// Incus says the same in the same words, but for what a restricted certificate may see.
func TestRecordedIncus(t *testing.T) {
	t.Parallel()
	whole := recording(t, "incus/GET__root__trusted", "GET__certificates_FINGERPRINT__ok", "incus/GET__instances__recursion1",
		"incus/GET__storage-pools__recursion1", "incus/GET__resources__resources", "incus/GET__metrics__metrics",
		"incus/GET__storage-pools_local_resources__ok").host(t)
	version, err := whole.Version(t.Context())
	if err != nil || version.Version != "6.0.4" || version.Release != "6.0" || version.Node != "incus1" {
		t.Errorf("%+v, %v", version, err)
	}
	all := mustGather(t, whole, hypervisor.InventoryQuery{Detail: true})
	if len(all.Guests) != 2 || len(all.Storages) != 1 || all.Storages[0].Used == nil || all.Nodes[0].Memory == nil {
		t.Errorf("%+v", all)
	}
	for _, g := range all.Guests {
		if g.Status != hypervisor.GuestRunning || g.CPUSeconds == nil || g.Memory == nil || g.NetIn == nil || g.Uptime == nil || g.UID == "" {
			t.Errorf("%+v", g)
		}
	}
	restricted := recording(t, "incus/GET__root__trusted", "incus/GET__instances__recursion1",
		"incus/GET__storage-pools__restricted_pools").host(t)
	seen := mustGather(t, restricted, hypervisor.InventoryQuery{}) // Incus shows no such certificate here
	if len(seen.Guests) != 2 || len(seen.Storages) != 0 || !seen.Cluster.Partial {
		t.Errorf("%+v", seen)
	}
	ref := hypervisor.GuestRef{Kind: hypervisor.Container, Node: "incus1", ID: "nothing"}
	_, err = recording(t, "incus/GET__root__trusted", "incus/GET__instances_nothing__unknown").host(t).Guest(t.Context(), ref)
	wantKind(t, err, plugin.NotFound)
	foreign := recording(t, "incus/GET__root__trusted", "incus/GET__instances__restricted_other_project")
	foreign["/1.0/instances/web1"] = foreign["/1.0/instances"]
	ref.ID = "web1"
	_, err = foreign.host(t).Guest(t.Context(), ref)
	if e := wantKind(t, err, plugin.Denied); !slices.Equal(e.Missing, []string{"project default"}) {
		t.Errorf("%+v", e)
	}
	unknown := recording(t, "incus/GET__root__unknown_certificate").host(t)
	_, err = unknown.Version(t.Context())
	wantKind(t, err, plugin.TokenRejected)
}

// One guest as it runs, is stopped and lies on disk with its memory, and one that may not be seen.
func TestRecordedGuest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind hypervisor.GuestKind
		id   hypervisor.GuestID
		want string
	}{
		"GET__instances_web1__recursion1_running": {hypervisor.Container, "web1",
			"container lxd1 web1 9716 running default cpus 1.00 0.04 memory 548864/134217728 net 0/426 uptime 1"},
		"GET__instances_web1__recursion1_stopped": {hypervisor.Container, "web1",
			"container lxd1 web1 9716 stopped default cpus 1.00 - memory -/134217728 net -/- uptime -"},
		"GET__instances_vm1__vm_after_stateful_stop": {hypervisor.VM, "vm1",
			"vm lxd1 vm1 2eb7 suspended default cpus 2.00 - memory -/268435456 net -/- uptime -"},
		"incus/GET__instances_web1__running": {hypervisor.Container, "web1",
			"container lxd1 web1 9ee0 running default cpus - 0.04 memory 925696/67108864 net 90/266 uptime 1"},
		"GET__instances_web1__restricted_other_guest": {hypervisor.Container, "web1", ""},
	} {
		host := recording(t, "GET__root__trusted", name).host(t)
		guest, err := host.Guest(t.Context(), hypervisor.GuestRef{Kind: c.kind, Node: "lxd1", ID: c.id})
		if c.want == "" {
			wantKind(t, err, plugin.Denied)
			continue
		}
		must(t, name, err)
		wantLines(t, name, lines([]hypervisor.Guest{guest}), []string{c.want})
		if guest.At.IsZero() {
			t.Error(name, "has no clock")
		}
	}
}
