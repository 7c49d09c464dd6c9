package main

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/hostler/hostler/core/problem"
)

// TestTroubleshootingHasEveryError compares the entries of docs/troubleshooting.md with the error identifiers of the code and their
// statuses.
func TestTroubleshootingHasEveryError(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []problem.Code
	for _, entry := range regexp.MustCompile("(?m)^- `([a-z_]+)` \\((\\d+)\\): \\S").FindAllStringSubmatch(string(page), -1) {
		code := problem.Code(entry[1])
		switch {
		case !slices.Contains(problem.Codes(), code):
			t.Errorf("no error has the identifier %s", code)
		case strconv.Itoa(code.Status()) != entry[2]:
			t.Errorf("the status of %s is %d, not %s", code, code.Status(), entry[2])
		case slices.Contains(documented, code):
			t.Errorf("%s has two entries", code)
		}
		documented = append(documented, code)
	}
	for _, code := range problem.Codes() {
		if !slices.Contains(documented, code) {
			t.Errorf("%s has no entry", code)
		}
	}
}
