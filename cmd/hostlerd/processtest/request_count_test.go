package processtest

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

var (
	sentFigure = regexp.MustCompile(`(?m)^hostler_hypervisor_requests_total\{driver="pve"\} (\S+)$`)
	busyFigure = regexp.MustCompile(`(?m)^hostler_hypervisor_request_seconds_total\{driver="pve"\} (\S+)$`)
)

// What the service sends to a host is counted over its processes: as many requests as the hypervisor gets, none twice, and those of before
// a restart stay.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--guests", "4")
	s := startService(t, options{})
	owner := setUp(t, s)
	d := dbtest.Open(t, s.DB)
	owner.must(t, http.StatusOK, http.MethodPatch, "/api/v1/settings", map[string]any{"poll.interval_s": 5}, nil)
	host := owner.enrol(t, cluster, "lab")
	got := func() (total int) {
		for _, n := range cluster.stats(t).Requests {
			total += n
		}
		return total
	}
	counted := func() int {
		return dbtest.Value[int](t, d, "SELECT COALESCE(sum(requests), 0)::int FROM host_requests")
	}
	waittest.Until(t, "requests and their time are in the figures for Prometheus", func() bool {
		page := string(owner.must(t, http.StatusOK, http.MethodGet, "/metrics", nil, nil).Body)
		sent, busy := sentFigure.FindStringSubmatch(page), busyFigure.FindStringSubmatch(page)
		if sent == nil || busy == nil {
			return false
		}
		seconds, err := strconv.ParseFloat(busy[1], 64)
		return err == nil && seconds > 0 && sent[1] != "0"
	})
	s.stop(t) // which writes what was counted
	before := counted()
	// Those of the enrolment itself came before there was a host to count them for, or right after.
	if total := got(); before > total || before < total-20 || before == 0 {
		t.Errorf("%d requests are counted, and the hypervisor got %d", before, total)
	}
	s.start(t)
	for range 5 {
		owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil, nil)
	}
	s.stop(t)
	if after := counted(); after < before+10 || after > got() {
		t.Errorf("after a restart %d requests are counted, %d before, and the hypervisor got %d", after, before, got())
	}
	s.start(t)
	var summary struct {
		Hosts []struct {
			Name         string
			RequestsHour *float64 `json:"requests_per_minute_1h"`
		} `json:"by_host"`
	}
	// A minute is shown when it is surely written.
	dbtest.Exec(t, d, "UPDATE host_requests SET minute = minute - interval '10 minutes'")
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/cluster/summary", nil, &summary)
	if len(summary.Hosts) != 1 || summary.Hosts[0].RequestsHour == nil || *summary.Hosts[0].RequestsHour <= 0 {
		t.Errorf("the summary shows %s", fmt.Sprintf("%+v", summary))
	}
}
