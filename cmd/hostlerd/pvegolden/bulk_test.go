package pvegolden_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

// BenchmarkActOnAllToTheEnd asks for an action on as many VMs as one request may name, until all jobs have ended. Each task of the
// hypervisor takes 10 ms, and four jobs run at a time.
func BenchmarkActOnAllToTheEnd(b *testing.B) {
	w := pvegolden.NewWorld(b, endpoint.Lifecycle)
	for i := range guest.MaxTargets {
		if _, err := w.AddGuest(pvesim.GuestSpec{VMID: 1000 + i}); err != nil {
			b.Fatal(err)
		}
	}
	w.Sync()
	w.SetTaskDuration(10 * time.Millisecond)
	targets := w.Value(`SELECT string_agg('{"vm":' || id || '}', ',') FROM guests WHERE vmid >= 1000`)
	action := "start"
	for b.Loop() {
		a := w.Request(http.MethodPost, "/guests/actions", fmt.Sprintf(`{"action":%q,"targets":[%s]}`, action, targets))
		if n := strings.Count(string(a.Body), `"kind":"vm.`); a.Status != http.StatusAccepted || n != guest.MaxTargets {
			b.Fatalf("%d: %d jobs: %.300s", a.Status, n, a.Body)
		}
		waittest.Until(b, "all jobs have ended", func() bool {
			return w.Value("SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')") == "0"
		})
		action = map[string]string{"start": "stop", "stop": "start"}[action]
	}
	if n := w.Value("SELECT count(*) FROM jobs WHERE status <> 'succeeded'"); n != "0" {
		b.Fatalf("%s jobs did not succeed", n)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/guest.MaxTargets, "ms/job")
}
