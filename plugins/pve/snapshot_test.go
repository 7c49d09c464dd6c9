package pve_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// A snapshot that is being taken, and what a delete that failed has left of one, is told from a whole one.
func TestIncompleteSnapshots(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: time.Hour})
		ref := w.guest(t, pvesim.GuestSpec{Type: kind, Status: pvesim.StatusStopped})
		w.Advance(2 * time.Hour)
		host := w.host(t, endpoint.Lifecycle)
		seen := func(want string) {
			t.Helper()
			list, err := w.host(t, endpoint.Monitoring).Snapshots(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, s := range list {
				got += fmt.Sprintf("%s %v ", s.Name, s.Incomplete)
			}
			if got != want {
				t.Errorf("%v: the snapshots are %q, want %q", kind, got, want)
			}
		}
		change := func(_ string, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		change(host.TakeSnapshot(t.Context(), ref, hypervisor.SnapshotSpec{Name: "one"}))
		seen("one true ")
		w.Advance(2 * time.Hour)
		seen("one false ")
		if err := w.ChangeGuest(vmid(t, ref), func(s *pvesim.GuestSpec) { s.SnapshotError = "lvremove failed: exit code 5" }); err != nil {
			t.Fatal(err)
		}
		change(host.DeleteSnapshot(t.Context(), ref, "one"))
		w.Advance(2 * time.Hour)
		seen("one true ")
	}
}
