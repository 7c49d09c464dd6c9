package programtest_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
)

// Programs are written and started while others start processes all the time.
func TestWrittenProgramsStart(t *testing.T) {
	t.Parallel()
	programtest.Fork(t)
	dir := t.TempDir()
	for i := range 200 {
		program := filepath.Join(dir, fmt.Sprint(i))
		if err := programtest.Write(program, []byte("#!/bin/sh\nexit 0\n")); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), program).CombinedOutput(); err != nil {
			t.Fatalf("program %d: %v %s", i, err, out)
		}
	}
}
