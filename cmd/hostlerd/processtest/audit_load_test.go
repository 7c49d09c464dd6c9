package processtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// The audit log is good at every moment of a service that is written to: beside it, as the key changes, and after it was killed
// in the middle. One changed row is named.
func TestAuditVerifyUnderLoad(t *testing.T) {
	t.Parallel()
	s := startService(t, options{})
	owner := setUp(t, s)
	d := dbtest.Open(t, s.DB)
	var written atomic.Int64
	// load writes until the returned function is called. written counts the successful requests, which have a row each. Refused ones share
	// rows after the first few.
	load := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for writer := range 4 {
			writers.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					path, body := "/api/v1/settings", map[string]any{"poll.interval_s": 30 + i%60}
					if writer > 1 { // refused
						path, body = "/api/v1/teams/1", map[string]any{"slug": "changed", "name": fmt.Sprint("Team ", writer, i)}
					}
					if a, err := owner.try(ctx, http.MethodPatch, path, body); err == nil && a.Status == http.StatusOK {
						written.Add(1)
					}
				}
			})
		}
		return func() { cancel(); writers.Wait() }
	}
	verify := func(when string) {
		t.Helper()
		if out := run(t, s.env, "", "audit", "verify"); out.Code != 0 || !strings.HasPrefix(out.Out, "The audit log is intact: ") {
			t.Fatalf("%s: %d %s%s", when, out.Code, out.Out, out.Err)
		}
	}
	verified := 0
	for round := range 3 {
		stop := load()
		for range 3 {
			verify("under load")
			verified++
		}
		run(t, s.env, "", "keys", "rotate").succeeds(t)
		verify("after a rotation")
		before := written.Load()
		waittest.Succeeds(t, "it is written to", func() error {
			if n := written.Load() - before; n < 50 {
				return fmt.Errorf("%d rows", n)
			}
			return nil
		})
		s.kill()
		stop()
		verify("after a kill")
		verified += 2
		if round == 0 {
			run(t, s.env, "", "keys", "rotate").succeeds(t)
			verify("after a rotation with no service")
		}
		s.start(t)
	}
	s.sealed(t)
	rows := number(t, d, "SELECT count(*) FROM audit")
	t.Logf("%d rows were verified %d times; %d requests succeeded", rows, verified, written.Load())
	if rows < int(written.Load()) {
		t.Errorf("%d rows for %d successful requests", rows, written.Load())
	}
	id := number(t, d, "SELECT id FROM audit ORDER BY id OFFSET $1 LIMIT 1", rows/2)
	if n := alter(t, d, "UPDATE audit SET result = 'failed' WHERE id = $1", id); n != 1 {
		t.Fatalf("%d rows were changed", n)
	}
	out := run(t, s.env, "", "audit", "verify")
	out.fails(t, "was altered", fmt.Sprintf("(id %d)", id))
	if out.Code != 2 || out.Out != "" {
		t.Errorf("it ended with %d and said %q", out.Code, out.Out)
	}
}
