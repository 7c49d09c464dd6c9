// Command generate makes decoration.jsonl and categories.json of the reference data: what the catalog of the community scripts said of
// each
// entry when it was still in their repositories. It takes facts that are shown to people, and nothing that runs.
//
//	generate [-reference FOLDER] [-out FOLDER]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hostler/hostler/plugins/scripts/decoration"
)

func main() {
	reference := flag.String("reference", decoration.Reference("."), "the folder with the reference data "+
		"(default: $HOSTLER_REFERENCE_DIR/catalog, or ../shared/catalog beside the repository)")
	out := flag.String("out", "decoration", "where the files are written")
	flag.Parse()
	if err := run(*reference, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(reference, out string) error {
	files, err := decoration.Generate(reference)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil { //nolint:gosec // sources are for everybody
			return err
		}
	}
	return nil
}
