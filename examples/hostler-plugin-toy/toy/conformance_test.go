package toy_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/plugin"

	"example.com/hostler-plugin-toy/toy"
	"example.com/hostler-plugin-toy/toyhv"
)

// The suite runs each of its cases twice: with the driver itself, and over gRPC as the service calls it. A hook that is
// left out skips the cases that need it, and a case about an ability that the driver does not have is skipped too.
func TestConformance(t *testing.T) {
	t.Parallel()
	w := start(t)
	for range 450 {
		w.NewGuest("vm", "up", "")
	}
	drivertest.Run(t, drivertest.Config{
		Driver: toy.New(hclog.NewNullLogger()), HostType: (*toy.Host)(nil),
		Target: w.target, Lacking: w.lacking, Exceeding: w.exceeding,
		Guests: w.guests, NewGuest: w.newGuest,
		LockedGuest: func(testing.TB) hypervisor.GuestRef { return ref(w.NewGuest("vm", "down", "backup")) },
		RunningTask: func(testing.TB) string { return w.NewTask("running", "", "one", "two") },
		EndedTask:   func(testing.TB) string { return w.NewTask("done", "", "one", "two", "three", "four", "five") },
		FailedTask:  func(testing.TB) string { return w.NewTask("failed", "the disk is full", "one") },
	})
}

// fixture is a toy hypervisor with the hooks of the suite.
type world struct{ *toyhv.Server }

func start(t testing.TB) world {
	t.Helper()
	server, err := toyhv.Start("127.0.0.1:0", 20*time.Millisecond)
	if err != nil {
		t.Fatal("starting the toy hypervisor:", err)
	}
	t.Cleanup(server.Close)
	return world{server}
}

// scopes are those of a proper token for each capability.
var scopes = map[endpoint.Capability][]string{
	endpoint.Monitoring: {toyhv.NodesRead, toyhv.GuestsRead}, endpoint.Lifecycle: {toyhv.GuestsRead, toyhv.GuestsPower},
}

func (w world) with(c endpoint.Capability, scopes ...string) endpoint.Target {
	id, secret := w.NewToken(scopes...)
	return endpoint.Target{
		Address: w.Address(), Fingerprint: w.Fingerprint(), AllowLocal: true,
		Credential: endpoint.Credential{Capability: c, ID: id, Secret: plugin.Secret(secret)},
	}
}

func (w world) target(_ testing.TB, c endpoint.Capability) endpoint.Target {
	return w.with(c, scopes[c]...)
}

// lacking leaves the last scope out, and none where none is needed.
func (w world) lacking(_ testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
	keep := max(len(scopes[c])-1, 0)
	return w.with(c, scopes[c][:keep]...), scopes[c][keep:]
}

func (w world) exceeding(_ testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
	return w.with(c, append([]string{"everything"}, scopes[c]...)...), []string{"everything"}
}

func (w world) newGuest(_ testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef {
	return ref(w.NewGuest(string(kind), map[string]string{hypervisor.GuestRunning: "up", hypervisor.GuestStopped: "down"}[status], ""))
}

func (w world) guests(testing.TB) (refs []hypervisor.GuestRef) {
	for _, g := range w.Guests() {
		refs = append(refs, ref(g))
	}
	return refs
}

func ref(g toyhv.Guest) hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: hypervisor.GuestKind(g.Type), Node: g.Node, ID: hypervisor.GuestID(strconv.FormatInt(g.ID, 10))}
}
