package poll_test

import (
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// A guest that is off stays so while a backup has it started, and one that runs stays so as well.
func TestStateOfAGuestThatIsBackedUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	guest := func(vmid int64, name, status, lock string) hypervisor.Guest {
		g := vm(vmid, "n1", name)
		g.Status, g.Lock = status, lock
		return g
	}
	nodes := []hypervisor.Node{node("n1")}
	var now hypervisor.Page
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	for _, c := range []struct{ off, lock, on, want string }{
		{"stopped", "", "running", "stopped running"}, {"running", "backup", "running", "stopped running"},
		{"paused", "backup", "running", "stopped running"}, {"stopped", "", "running", "stopped running"},
		{"running", "", "running", "running running"}, {"running", "backup", "stopped", "running stopped"},
	} {
		now = report("", "n1", nodes, guest(100, "off", c.off, c.lock), guest(101, "on", c.on, c.lock))
		f.sync(p, id)
		if got := f.Value("SELECT string_agg(status, ' ' ORDER BY vmid) FROM guests"); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
