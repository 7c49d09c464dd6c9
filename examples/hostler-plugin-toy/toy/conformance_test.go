package toy_test

import (
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
		Target: w.target, Wrong: w.wrong, Lacking: w.lacking, Exceeding: w.exceeding, NewCode: w.newCode,
		Guests: w.guests, NewGuest: w.newGuest, Rename: w.rename, SnapshotGuest: w.newGuest,
		LockedGuest: func(testing.TB) hypervisor.GuestRef { return ref(w.NewGuest("vm", "down", "backup")) },
		RunningTask: func(testing.TB) string { return w.NewTask("running", "", "one", "two") },
		EndedTask:   func(testing.TB) string { return w.NewTask("done", "", "one", "two", "three", "four", "five") },
		FailedTask:  func(testing.TB) string { return w.NewTask("failed", "the disk is full", "one") },
	})
}

// fixture is a toy hypervisor with the hooks of the suite.
type fixture struct{ *toyhv.Server }

func start(t testing.TB) fixture {
	t.Helper()
	server, err := toyhv.Start("127.0.0.1:0", 20*time.Millisecond)
	if err != nil {
		t.Fatal("starting the toy hypervisor:", err)
	}
	t.Cleanup(server.Close)
	return fixture{server}
}

// scopes are those of a proper certificate for each capability.
var scopes = map[endpoint.Capability][]string{
	endpoint.Monitoring: {toyhv.NodesRead, toyhv.GuestsRead}, endpoint.Lifecycle: {toyhv.GuestsRead, toyhv.GuestsPower},
}

// wrong is a target with a certificate that the hypervisor does not know.
func (w fixture) wrong(t testing.TB, c endpoint.Capability) endpoint.Target {
	t.Helper()
	made, err := endpoint.NewClientCertificate(c)
	if err != nil {
		t.Fatal("making a certificate:", err)
	}
	return endpoint.Target{Address: w.Address(), Fingerprint: w.Fingerprint(), AllowLocal: true, Credential: made}
}

// with is a target with a certificate of exactly these scopes.
func (w fixture) with(t testing.TB, c endpoint.Capability, scopes ...string) endpoint.Target {
	t.Helper()
	target := w.wrong(t, c)
	w.Trust(target.Credential.ID, scopes...)
	return target
}

func (w fixture) target(t testing.TB, c endpoint.Capability) endpoint.Target {
	t.Helper()
	return w.with(t, c, scopes[c]...)
}

// lacking leaves the last scope out.
func (w fixture) lacking(t testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
	t.Helper()
	keep := len(scopes[c]) - 1
	return w.with(t, c, scopes[c][:keep]...), scopes[c][keep:]
}

func (w fixture) exceeding(t testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
	t.Helper()
	return w.with(t, c, append([]string{"everything"}, scopes[c]...)...), []string{"everything"}
}

func (w fixture) newCode(_ testing.TB, c endpoint.Capability, valid time.Duration) plugin.Secret {
	return plugin.Secret(w.NewCode(valid, scopes[c]...))
}

func (w fixture) newGuest(_ testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef {
	return ref(w.NewGuest(string(kind), map[string]string{hypervisor.GuestRunning: "up", hypervisor.GuestStopped: "down"}[status], ""))
}

func (w fixture) rename(t testing.TB, ref hypervisor.GuestRef) hypervisor.GuestRef {
	t.Helper()
	before := ref.ID
	if ref.ID = "renamed-" + before; !w.Rename(string(before), string(ref.ID)) {
		t.Fatal("the guest could not be renamed")
	}
	return ref
}

func (w fixture) guests(testing.TB) (refs []hypervisor.GuestRef) {
	for _, g := range w.Guests() {
		refs = append(refs, ref(g))
	}
	return refs
}

func ref(g toyhv.Guest) hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: hypervisor.GuestKind(g.Type), Node: g.Node, ID: hypervisor.GuestID(g.Name), UID: g.UUID}
}
