package poll_test

import (
	"math"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// A poll keeps what the answering node's clock shows, of that node alone, and nothing that cannot be.
func TestClockOfNodes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ahead *float64
	id := f.host(func() hypervisor.Page {
		page := report("prod", "n1", []hypervisor.Node{node("n1"), node("n2")}, vm(100, "n1", "a"))
		page.Cluster.ClockAhead = ahead
		return page
	})
	p := f.poller(f.db)
	for _, c := range []struct {
		told *float64
		want string
	}{
		{nil, "n1 -, n2 -"}, {new(-90.25), "n1 -90.25, n2 -"}, {nil, "n1 -90.25, n2 -"}, {new(-90.5), "n1 -90.25, n2 -"},
		{new(math.NaN()), "n1 -90.25, n2 -"}, {new(math.Inf(1)), "n1 -90.25, n2 -"}, {new(1e300), "n1 -90.25, n2 -"},
		{new(3.0), "n1 3, n2 -"},
	} {
		ahead = c.told
		f.sync(p, id)
		if got := f.Value(`SELECT string_agg(name || ' ' || coalesce(clock_ahead::text, '-'), ', ' ORDER BY name) FROM nodes
			WHERE (clock_ahead IS NULL) = (clock_at IS NULL)`); got != c.want {
			t.Errorf("kept is %s and not %s", got, c.want)
		}
	}
}
