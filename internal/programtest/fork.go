package programtest

import (
	"context"
	"os/exec"
	"sync"
	"testing"
)

// Fork starts short processes, four at a time, until the test ends: each has all files of this one open for a moment.
func Fork(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		others.Wait()
	})
	for range 4 {
		others.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "/bin/true").Run() // how it ends is no matter
			}
		})
	}
}
