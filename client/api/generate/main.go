// Command generate makes the table of operations and the types of the package api. It runs in that package's folder.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hostler/hostler/client/api/generate/table"
)

// codegen is what makes the types where OAPI_CODEGEN names no program, as the Makefile does.
const codegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	document, err := table.Document("../..")
	if err != nil {
		return err
	}
	operations, err := table.Write(document)
	if err != nil {
		return err
	}
	part, sum, err := table.Part(document)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hostler-api-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	types, err := models(dir, part)
	if err != nil {
		return err
	}
	types = bytes.Replace(types, []byte("// Package api provides primitives to interact with the openapi HTTP API.\n//\n"), nil, 1)
	types = append([]byte(table.SumLine(sum)), table.Wrap(types)...)
	if err := os.WriteFile("models.gen.go", types, 0o644); err != nil {
		return err
	}
	return os.WriteFile("operations.gen.go", operations, 0o644)
}

// models has oapi-codegen make the types of a document.
func models(dir string, document []byte) ([]byte, error) {
	in, config, out := filepath.Join(dir, "openapi.json"), filepath.Join(dir, "config.yaml"), filepath.Join(dir, "models.go")
	settings := "package: api\ngenerate:\n  models: true\noutput-options:\n  skip-prune: true\n"
	if err := os.WriteFile(in, document, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-config", config, "-o", out, in}
	cmd := exec.Command("go", append([]string{"run", codegen}, args...)...)
	if program := os.Getenv("OAPI_CODEGEN"); program != "" {
		cmd = exec.Command(program, args...)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("making the types: %w", err)
	}
	return os.ReadFile(out)
}
