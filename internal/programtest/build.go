package programtest

import (
	"context"
	"fmt"
	"os/exec"
)

// Build makes programs as make build does. dir is the folder in which packages are looked for, the test's own when empty; out is a file,
// or a folder where it ends with a slash. The error has what the compiler says.
func Build(ctx context.Context, dir, out string, packages ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-o", out},
		packages...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %v: %w: %s", packages, err, said)
	}
	return nil
}
