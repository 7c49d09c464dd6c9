package pve

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRolesAreDocumented compares the table of roles in docs/hosts.md with the roles: each row lists privileges of the role that the row,
// or one before it, names.
func TestRolesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/hosts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| Role | Privileges |")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[string][]string{}
	role := ""
	for line := range strings.Lines(table) {
		for _, word := range regexp.MustCompile("`([A-Za-z.]+)`").FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(word[1], "Service") {
				role = word[1]
			} else {
				documented[role] = append(documented[role], word[1])
			}
		}
	}
	want := map[string][]string{}
	for _, r := range roles {
		want[r.name] = slices.Concat(r.privileges, r.recommended)
		if r.name == "ServiceConsole" {
			want[r.name] = append(want[r.name], nodeShell)
		}
	}
	for name := range maps.Keys(want) {
		slices.Sort(want[name])
		slices.Sort(documented[name])
		if !slices.Equal(documented[name], want[name]) {
			t.Errorf("docs/hosts.md gives %s %q, and the role script %q", name, documented[name], want[name])
		}
	}
	if len(documented) != len(want) {
		t.Errorf("docs/hosts.md has %d roles, and there are %d", len(documented), len(want))
	}
}
