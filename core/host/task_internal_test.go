package host

import (
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// A task's guest is told as the hypervisor calls it, and as a number where that is one.
func TestGuestOfATask(t *testing.T) {
	t.Parallel()
	for id, want := range map[hypervisor.GuestID]int64{
		"100": 100, "9223372036854775807": 9223372036854775807, "9223372036854775808": 0, "customers/web": 0, "0100": 0, "+100": 0, "-1": 0,
		"0": 0, "1e2": 0,
	} {
		got := taskOf(hypervisor.Task{GuestID: id})
		if got.Guest == nil || *got.Guest != string(id) || (got.VMID == nil) != (want == 0) || got.VMID != nil && *got.VMID != want {
			t.Errorf("%q: %v, %v", id, got.Guest, got.VMID)
		}
	}
	for _, id := range []hypervisor.GuestID{"", "a\x00b", "a\nb"} {
		if got := taskOf(hypervisor.Task{GuestID: id}); got.Guest != nil || got.VMID != nil {
			t.Errorf("%q: %v, %v", id, *got.Guest, got.VMID)
		}
	}
}
