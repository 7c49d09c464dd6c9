package updater

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/installation"
)

// probe asks /healthz every 20 ms; the returned function ends that and gives the longest time without an answer.
func (s *site) probe() func() time.Duration {
	ctx, cancel := context.WithCancel(context.Background())
	longest := make(chan time.Duration, 1)
	go func() {
		var worst time.Duration
		client := &http.Client{Timeout: time.Minute}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for good := time.Now(); ; {
			answer, err := client.Get(s.address() + "/healthz")
			if err == nil {
				_ = answer.Body.Close()
			}
			if err == nil && answer.StatusCode == http.StatusOK {
				worst, good = max(worst, time.Since(good)), time.Now()
			}
			select {
			case <-ctx.Done():
				longest <- max(worst, time.Since(good))
				return
			case <-tick.C:
			}
		}
	}()
	return func() time.Duration { cancel(); return <-longest }
}

// How long nobody is served: while an update goes well, while one is rolled back, and from a rollback by hand.
func TestTimeWithoutService(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	measure := func(what string, o order, want installation.Step) {
		t.Helper()
		end, began := s.probe(), time.Now()
		s.must(s.do(o), want)
		whole := time.Since(began)
		without := end()
		t.Logf("%s: %.2f s without service, %.2f s in all", what, without.Seconds(), whole.Seconds())
		if without >= whole {
			t.Errorf("%s: there was no service all the time", what)
		}
	}
	s.publish(newVersion, `[ "$1" = serve ] && exit 3`)
	config := s.config()
	measure("an update whose service does not start", order{Do: "run", Config: config}, installation.StepRolledBack)
	s.holds(oldVersion, "rolled_back")
	s.publish(newVersion, "")
	measure("an update", order{Do: "run", Config: config}, installation.StepDone)
	s.holds(newVersion, "done")
	measure("a rollback by hand, with the backup", order{Do: "revert", Restore: true, Config: config}, installation.StepRolledBack)
	s.holds(oldVersion, "rolled_back")
}
