package processtest

import (
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// An inventory that somebody asks for is two requests per cluster, whatever the number of guests and of enrolled members, and one more
// for detail; a poll is one as long as nothing hints at another membership. Each request is counted by the simulator.
func TestLoadOnTheHypervisor(t *testing.T) {
	t.Parallel()
	for _, guests := range []int{1000, 10000} {
		t.Run(fmt.Sprint(guests), func(t *testing.T) {
			t.Parallel()
			cluster := startSim(t, "--scenario", "cluster", "--nodes", "10", "--guests", fmt.Sprint(guests))
			s := startService(t, options{Env: []string{"HOSTLER_LOG_LEVEL=info"}})
			owner := setUp(t, s)
			// No poll of its own comes between the counted ones; with a longer interval each would ask for the token's rights as well.
			// Configurations are read in the background, at a pace of their own.
			owner.must(t, http.StatusOK, http.MethodPatch, "/api/v1/settings",
				map[string]any{"poll.interval_s": 600, "poll.details_per_minute": 0}, nil)
			host := owner.enrol(t, cluster, "lab")
			sync := fmt.Sprintf("/api/v1/hosts/%d/sync", host)
			want := map[string]int{"GET /cluster/resources": 1, "GET /cluster/status": 1}
			detailed := map[string]int{"GET /cluster/resources": 1, "GET /cluster/status": 1, "GET /cluster/metrics/export": 1}
			exports := 0
			for range 4 {
				cluster.control(t, http.MethodPost, "/stats/reset", nil, nil)
				owner.must(t, http.StatusOK, http.MethodPost, sync, nil, nil)
				switch got := cluster.stats(t).Requests; {
				case maps.Equal(got, detailed):
					exports++
				case !maps.Equal(got, want):
					t.Errorf("the requests of one cycle: %v", got)
				}
			}
			if exports > 1 {
				t.Errorf("%d exports within seconds, and they are meant for every five minutes", exports)
			}
			cluster.control(t, http.MethodPost, "/stats/reset", nil, nil)
			owner.must(t, http.StatusOK, http.MethodPatch, "/api/v1/settings", map[string]any{"poll.interval_s": 5}, nil)
			waittest.Until(t, "four polls", func() bool { return cluster.stats(t).Requests["GET /cluster/resources"] >= 4 })
			if got := cluster.stats(t).Requests; got["GET /cluster/status"] > 1 {
				t.Errorf("the requests of four polls: %v", got)
			}
			if n := len(listVMs(t, owner)); n < guests/3 {
				t.Errorf("%d VMs of %d guests are listed", n, guests)
			}
		})
	}
}
