package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/service/servicetest"
)

// BenchmarkActOnAll asks for an action on as many VMs as one request may name, until all jobs are enqueued; beside it one VM.
func BenchmarkActOnAll(b *testing.B) {
	r := servicetest.NewResource(b, registerGuests)
	var vms []inventorytest.Guest
	for i := range guest.MaxTargets {
		vms = append(vms, inventorytest.Guest{VMID: int64(100 + i), Node: "n1", Name: fmt.Sprintf("vm-%d", i)})
	}
	inventorytest.Write(b, r.DB, inventorytest.Cluster{Name: "prod", Guests: vms,
		Hosts: []inventorytest.Host{{Name: "rack1", Capabilities: []string{"lifecycle"}}}})
	for _, n := range []int{1, guest.MaxTargets} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var targets []string
			for i := range n {
				targets = append(targets, fmt.Sprintf(`{"vm":%d}`, i+1))
			}
			body := `{"action":"stop","targets":[` + strings.Join(targets, ",") + `]}`
			for b.Loop() {
				b.StopTimer()
				r.Exec("UPDATE jobs SET status = 'failed' WHERE status = 'queued'")
				b.StartTimer()
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, guestsURL+"/actions", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				answer, err := r.Do(b.Context(), req, apitest.Operator)
				if err != nil || answer.Status != http.StatusAccepted || strings.Count(string(answer.Body), `"kind":"vm.stop"`) != n {
					b.Fatalf("%v %d %.300s", err, answer.Status, answer.Body)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/float64(n), "ms/job")
		})
	}
}
