// Command generate makes decoration.jsonl and categories.json from the reference data: what the catalog of the community scripts said of
// each entry when it was still in their repositories. It takes facts that are shown to people, and nothing that runs. Without reference
// data it leaves the files as they are.
//
//	generate [-reference FOLDER] [-out FOLDER]
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hostler/hostler/plugins/scripts/decoration"
)

func main() {
	reference := flag.String("reference", "", "the folder with the reference data "+
		"(default: $HOSTLER_REFERENCE_DIR/catalog, or ../shared/catalog beside the repository)")
	out := flag.String("out", "decoration", "where the files are written")
	flag.Parse()
	if err := run(*reference, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the generated files. Without reference data at the default place
// it changes nothing, so that builds work without it; an explicit place must
// exist.
func run(reference, out string) error {
	named := reference != ""
	if !named {
		reference = decoration.Reference(".")
	}
	files, err := decoration.Generate(reference)
	if errors.Is(err, fs.ErrNotExist) && !named {
		fmt.Fprintf(os.Stderr, "generate: no reference data in %s: the files stay as they are\n", reference)
		return nil
	}
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
