package guest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// A driver that never answers must not keep its place among the few jobs that run.
func TestJobOnADriverThatHangsEnds(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.worker.ReadLimit = 50 * time.Millisecond
		b.cluster.SetFault("guest", memdriver.Fault{Block: true})
		b.start(t)
		_, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		j, transcript := b.ended(t, b.enqueue(t, p, hypervisor.Start), job.Failed)
		if !strings.Contains(j.Error, "did not answer within") {
			t.Errorf("%q\n%s", j.Error, transcript)
		}
	})
}
