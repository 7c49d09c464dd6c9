package guest

import (
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Each disk and bridge is named, but not once more what the hypervisor has reported itself.
func TestFindingsNameEverything(t *testing.T) {
	t.Parallel()
	m := newMigrationCheck(nil, nil, 0, 1, hypervisor.GuestRef{}, MigrationRequest{})
	m.reported = map[string]bool{}
	m.block("locked", "The guest is locked.")
	m.Blockers = m.report(m.Blockers, []hypervisor.MigrationFinding{
		{Code: "locked", Message: "VM is locked"}, {Code: "passthrough", Message: "hostpci0"}, {Code: "passthrough", Message: "hostpci1"},
	})
	m.block("passthrough", "hostpci0 is a device of the node.")
	m.block("bridge_missing", "no bridge vmbr1")
	m.block("bridge_missing", "no bridge vmbr2")
	m.block("bridge_missing", "no bridge vmbr1")
	want := []MigrationFinding{{"locked", "The guest is locked."}, {"passthrough", "hostpci0"}, {"passthrough", "hostpci1"},
		{"bridge_missing", "no bridge vmbr1"}, {"bridge_missing", "no bridge vmbr2"}}
	if !slices.Equal(m.Blockers, want) {
		t.Errorf("got %v\nwant %v", m.Blockers, want)
	}
}
