package lxd

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Each instance has one id, and each id one instance.
func TestGuestIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[hypervisor.GuestID]lxdapi.InstanceRef{
		"web1": {Project: "default", Name: "web1"}, "customers/web1": {Project: "customers", Name: "web1"},
		"a.b_c/W-1": {Project: "a.b_c", Name: "W-1"}, "kundenä/x": {Project: "kundenä", Name: "x"},
	} {
		got, err := instanceRef(id)
		if err != nil || got != want || guestID(want.Project, want.Name) != id {
			t.Errorf("%q: %+v, %v, and back %q", id, got, err, guestID(want.Project, want.Name))
		}
	}
	for _, id := range []hypervisor.GuestID{
		"", "/", "default/web1", "/web1", "web1/", "a/b/c", "../web1", "./web1", "*/web1", "web_1", "1web", "-web", "web1 ", " web1", "web.1",
		"a b/web1", "a'/web1", "web1\x00", "web1\n", "a\xff/web1", "customers/..", hypervisor.GuestID(strings.Repeat("n", 64)),
		hypervisor.GuestID(strings.Repeat("p", 251) + "/web1"),
	} {
		if got, err := instanceRef(id); plugin.KindOf(err) != plugin.NotFound {
			t.Errorf("%.80q: %+v, %v", id, got, err)
		}
	}
}
