package problem_test

import (
	"testing"

	"github.com/hostler/hostler/core/problem"
)

func TestSize(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{0: "0 bytes", 100: "100 bytes", 1 << 10: "1 KiB", 1536: "1536 bytes", 64 << 10: "64 KiB",
		1 << 20: "1 MiB", 1<<20 + 1<<10: "1025 KiB", 3 << 30: "3072 MiB"} {
		if got := problem.Size(bytes); got != want {
			t.Errorf("%d is %q, want %q", bytes, got, want)
		}
	}
}
