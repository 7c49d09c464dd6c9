package pvegolden_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// TestDetailRequests holds the reader of guests' configurations, and of tasks for rules about failed ones, to its budget in what arrives
// at the hypervisor: two instances, an hour, and guests, nodes and answers that fail in every way that is tried again for others.
func TestDetailRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("plays hours of polls: make check runs it")
	}
	t.Parallel()
	w := pvegolden.NewWorld(t)
	const perMinute, guests = 20, 60
	for range guests {
		if _, err := w.AddGuest(pvesim.GuestSpec{Type: pvesim.QEMU}); err != nil {
			t.Fatal(err)
		}
	}
	if a := w.Request(http.MethodPost, "/hosts/{host}/sync", ""); a.Status != http.StatusOK {
		t.Fatalf("%d: %s", a.Status, a.Body)
	}
	var mu sync.Mutex
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	w.Exec("UPDATE clusters SET next_detail_at = $1, next_tasks_at = $1", now)
	var readers [2]*guest.DetailReader
	for i := range readers {
		readers[i] = &guest.DetailReader{DB: w.Service.DB, Hosts: w.Service.Hosts, Now: clock}
	}
	requests := func() int { return int(w.Stats().Total) }
	faults := []pvesim.Fault{
		{Kind: pvesim.FaultStatus, Status: 595, Reason: "No route to host"}, {Kind: pvesim.FaultStatus, Status: 596, Reason: "Broken pipe"},
		{Kind: pvesim.FaultStatus, Status: 503}, {Kind: pvesim.FaultStatus, Status: 500}, {Kind: pvesim.FaultStatus, Status: 403},
		{Kind: pvesim.FaultStatus, Status: 401}, {Kind: pvesim.FaultCut}, {Kind: pvesim.FaultRefuse}, {Kind: pvesim.FaultTruncate},
		{Kind: pvesim.FaultEmpty},
	}
	var minute []int // those of each second of the last minute
	all, before := 0, requests()
	for second := range 3600 {
		if second%180 == 0 {
			w.ClearFaults()
			w.Exec("UPDATE guest_details SET tried_at = NULL, stale_at = $1", now) // all are to be read anew
			if round := second / 180; round%2 == 1 {
				if _, err := w.AddFault(faults[round/2]); err != nil {
					t.Fatal(err)
				}
			}
			// A node that the cluster does not have.
			w.Exec("UPDATE guests SET node = CASE id % 3 WHEN $1 THEN 'pve9' ELSE 'pve1' END", second/180%5)
		}
		var both sync.WaitGroup
		for _, r := range readers {
			both.Go(func() {
				if err := r.Turn(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		n := requests() - before
		before += n
		all += n
		if minute = append(minute, n); len(minute) > 60 {
			minute = minute[1:]
		}
		sum := 0
		for _, n := range minute {
			sum += n
		}
		if sum > perMinute {
			t.Fatalf("%d requests in the minute up to second %d, where %d are allowed: %v", sum, second, perMinute, minute)
		}
		mu.Lock()
		now = now.Add(time.Second)
		mu.Unlock()
	}
	t.Logf("%d requests in an hour: %v", all, w.Stats().Requests)
	if least := 300; all < least {
		t.Errorf("only %d requests in an hour", all)
	}
	// The tasks of the cluster have their turns within it, every three minutes but while the host is away.
	if n := w.Stats().Requests["GET /cluster/tasks"]; n < 10 || n > 20 {
		t.Errorf("%d requests for tasks in an hour", n)
	}
	unread := w.Value("SELECT count(*) FROM guests g LEFT JOIN guest_details d ON d.guest_id = g.id WHERE d.as_of IS NULL")
	if unread != "0" {
		t.Errorf("%s guests were never read", unread)
	}
}
