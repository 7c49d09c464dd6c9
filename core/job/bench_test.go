package job_test

import (
	"testing"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// BenchmarkJob is the time from a job's commit to its end, with a task of 10 ms.
func BenchmarkJob(b *testing.B) {
	w := newFixture(b, memdriver.Spec{})
	i := w.start(b, nil)
	ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
	wait, run := 0.0, 0.0
	for b.Loop() {
		id := i.enqueue(b, w.spec(ref, hypervisor.Restart))
		j := i.ended(b, id, job.Succeeded)
		wait += j.StartedAt.Sub(j.CreatedAt).Seconds()
		run += j.FinishedAt.Sub(*j.StartedAt).Seconds()
	}
	b.ReportMetric(wait/float64(b.N)*1000, "ms-queued/op")
	b.ReportMetric(run/float64(b.N)*1000, "ms-running/op")
}
