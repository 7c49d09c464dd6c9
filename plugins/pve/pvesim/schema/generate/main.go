// Command generate makes methods.txt and macros.txt of package schema from what a real server says about itself. Without that it
// leaves the files as they are: a clone of the repository alone has none.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("from", "", "folder with api-schema.json, api-version-diff.json and firewall-macros.json "+
		"(default: $HOSTLER_REFERENCE_DIR/pve, or ../shared/pve beside the repository)")
	out := flag.String("o", ".", "folder to write to")
	flag.Parse()
	if err := run(*dir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(dir, out string) error {
	named := dir != ""
	if !named {
		dir = referenceDir()
	}
	methods, err := generateMethods(dir)
	if errors.Is(err, fs.ErrNotExist) && !named {
		fmt.Fprintf(os.Stderr, "generate: no schema in %s: the files stay as they are\n", dir)
		return nil
	}
	if err != nil {
		return err
	}
	macros, err := generateMacros(dir)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(out, "methods.txt"), methods, 0o644), os.WriteFile(filepath.Join(out, "macros.txt"), macros, 0o644))
}

// referenceDir is where the reference data is when nobody says: in the folder of the environment, or beside the repository.
func referenceDir() string {
	if dir := os.Getenv("HOSTLER_REFERENCE_DIR"); dir != "" {
		return filepath.Join(dir, "pve")
	}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Join(dir, "..", "shared", "pve")
}

func readJSON(dir, name string, into any) error {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decoding %s: %w", name, err)
	}
	return nil
}
