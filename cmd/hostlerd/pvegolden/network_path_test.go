package pvegolden_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/cmd/hostlerd/pvegolden/layouttest"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

// TestPathOfFiles holds the plan of an apply against files of interfaces, present and staged: whether it says that the way to the node is
// touched, by how the files were made.
func TestPathOfFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every place of a file: make check runs it")
	}
	t.Parallel()
	w := pvegolden.NewWorld(t, endpoint.Lifecycle)
	// The service knows the node by a name, which has the addresses of the case.
	w.Exec("UPDATE hosts SET address = replace(address, '127.0.0.1', 'localhost')")
	var dialled []netip.Addr
	w.Service.Networks.Resolve = func(context.Context, string) ([]netip.Addr, error) { return dialled, nil }
	agree, by := 0, map[layouttest.Verdict]int{}
	cases := layouttest.Cases()
	for _, c := range cases {
		dialled = c.Layout.Dialled
		if err := w.SetNodeFiles("pve1", pvesim.NodeFiles{Interfaces: c.Current, Staged: c.Pending, Links: c.Layout.Links}); err != nil {
			t.Fatal(err)
		}
		got, differ, why := verdictOf(t, w)
		by[got]++
		if got == c.Want && maps.Equal(differ, c.Differ) {
			agree++
			continue
		}
		t.Errorf("%s: %s, want %s: %s\ndiffer %v, want %v\nin force:\n%s\nstaged:\n%s", c.Name, got, c.Want, why, differ, c.Differ, c.Current,
			c.Pending)
	}
	t.Logf("%d of %d cases agree: %v", agree, len(cases), by)
	if len(cases) < 200 {
		t.Errorf("only %d cases", len(cases))
	}
}

// interfaceEffect is the line of a plan that says what becomes of an interface.
var interfaceEffect = regexp.MustCompile(`^The interface (\S+) is (added|changed|removed)\.$`)

// verdictOf is what the plan of an apply says of the way in its first line, and of each interface.
func verdictOf(t *testing.T, w *pvegolden.World) (verdict layouttest.Verdict, differ map[string]string, why string) {
	t.Helper()
	answer := w.Request(http.MethodPost, "/network/{host}/pve1/apply?plan=true", "")
	var p struct{ Plan plan.Plan }
	if err := json.Unmarshal(answer.Body, &p.Plan); err != nil || answer.Status != http.StatusOK || len(p.Plan.Effects) == 0 {
		t.Fatalf("%d: %v: %s", answer.Status, err, answer.Body)
	}
	first := p.Plan.Effects[0].Text
	differ = map[string]string{}
	for _, e := range p.Plan.Effects {
		if m := interfaceEffect.FindStringSubmatch(e.Text); m != nil {
			differ[m[1]] = m[2]
		}
	}
	blocked := len(p.Plan.Blockers) > 0
	switch {
	case strings.Contains(first, "and may cut it") && p.Plan.IsSelf && !blocked:
		return layouttest.Affected, differ, first
	case strings.Contains(first, "cannot determine") && p.Plan.IsSelf && !blocked:
		return layouttest.Unclear, differ, first
	case strings.Contains(first, "does not affect") && !p.Plan.IsSelf && blocked && p.Plan.Blockers[0].Error == "invalid_state":
		return layouttest.NoChange, differ, first
	case strings.Contains(first, "does not affect") && !p.Plan.IsSelf && !blocked:
		return layouttest.Unaffected, differ, first
	}
	t.Fatalf("a plan that says nothing of the way: %s", answer.Body)
	return "", nil, ""
}
