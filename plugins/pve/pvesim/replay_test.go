package pvesim_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// disagreements are recorded exchanges that the simulator answers otherwise, each with the reason why that stays. One
// that agrees after all, or one that is not listed, fails the test.
var disagreements = map[string]string{
	"GET__nodes_pve1_disks_list__ok": "the recorded host has no disk that it lists",
}

// replayed also has recordings that lead to no endpoint: they show how that is refused.
var replayedBesides = []string{
	"GET__nope__unknown_path", "GET__nodes_pve1_nope__unknown_path", "POST__version__wrong_method", "PATCH__version__bad_http_method",
	"GET__api2_extjs_version__extjs", "GET__api2_nope_version__unknown_format",
	"PUT__nodes_pve1_lxc_101_config__bad_content_type", "PUT__nodes_pve1_lxc_101_config__bad_json",
	"POST__nodes_pve1_lxc_101_config__post_not_put",
}

func TestReplayRecordedExchanges(t *testing.T) {
	t.Parallel()
	served := pvesim.Endpoints()
	agree, replayed, total := 0, 0, 0
	for _, e := range pvetest.Exchanges(t) {
		leads := slices.ContainsFunc(served, func(s pvesim.EndpointInfo) bool { return leadsTo(s, e) })
		if !leads && strings.Contains(e.Path, "/firewall") {
			t.Errorf("%s %s (%s) is not simulated", e.Method, e.Path, e.Case)
		}
		if !leads && !slices.Contains(replayedBesides, e.Case) {
			continue
		}
		total++
		if !sampletest.Selected(e.Case, 3) {
			continue
		}
		replayed++
		faults := replay(t, e)
		reason, listed := disagreements[e.Case]
		switch {
		case len(faults) == 0 && listed:
			t.Errorf("%s agrees, but is listed as a disagreement (%s)", e.Case, reason)
		case len(faults) > 0 && !listed:
			t.Errorf("%s %s (%s):\n\t%s", e.Method, e.Path, e.Case, strings.Join(faults, "\n\t"))
		case len(faults) > 0:
			t.Logf("%s disagrees: %s", e.Case, reason)
		}
		if len(faults) == 0 {
			agree++
		}
	}
	t.Logf("%d of %d recorded exchanges agree", agree, replayed)
	if total < 350 {
		t.Errorf("only %d recordings can be replayed", total)
	}
}

// leadsTo reports whether a recorded request belongs to the endpoint.
func leadsTo(endpoint pvesim.EndpointInfo, e pvetest.Exchange) bool {
	method, template := endpoint.Method, endpoint.Path
	want := strings.FieldsFunc(template, func(r rune) bool { return r == '/' })
	got := strings.FieldsFunc(e.Path, func(r rune) bool { return r == '/' })
	if method != e.Method || len(want) != len(got) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(want[i], "{") && want[i] != got[i] {
			return false
		}
	}
	return true
}

// prepare brings the server into the state that the recorded one had.
func (w *recordedServer) prepare(e pvetest.Exchange) {
	w.t.Helper()
	all := slices.Concat(w.preparations(), w.changePreparations())
	if strings.Contains(e.Path, "/firewall/") {
		all = slices.Concat(all, w.firewallPreparations(), w.objectPreparations())
	}
	for _, p := range all {
		if p.cases == "" || slices.ContainsFunc(strings.Fields(p.cases), func(c string) bool { return strings.HasSuffix(e.Case, c) }) {
			p.f()
		}
	}
}

// replay sends one recorded request to a simulator in the fitting state and tells how the answers differ.
func replay(t *testing.T, e pvetest.Exchange) []string {
	t.Helper()
	w := newRecordedServer(t)
	w.prepare(e)
	req := w.request(e)
	got := send(t, w.cluster.URL(""), req)
	var faults []string
	if got.status != e.Status {
		faults = append(faults, fmt.Sprintf("status %d, recorded %d", got.status, e.Status))
	}
	if got.reason != e.Reason {
		faults = append(faults, fmt.Sprintf("reason %q, recorded %q", got.reason, e.Reason))
	}
	if len(e.Header) > 0 {
		for _, name := range []string{"Connection", "Content-Type", "Cache-Control", "Pragma", "Server"} {
			if have, want := got.header.Values(name), e.HeaderValues(name); !slices.Equal(have, want) {
				faults = append(faults, fmt.Sprintf("header %s %q, recorded %q", name, have, want))
			}
		}
		if have, want := len(got.header.Values("Content-Length")), len(e.HeaderValues("Content-Length")); have != want {
			faults = append(faults, fmt.Sprintf("%d Content-Length headers, recorded %d", have, want))
		}
	}
	if string(e.Response) == "null" {
		if len(got.body) > 0 {
			faults = append(faults, fmt.Sprintf("body %q, recorded none", got.body))
		}
		return faults
	}
	var want any
	if err := json.Unmarshal(e.Response, &want); err != nil {
		t.Fatalf("%s: %v", e.Case, err)
	}
	if text, isText := want.(string); isText {
		if string(got.body) != text {
			faults = append(faults, fmt.Sprintf("body %q, recorded %q", got.body, text))
		}
		return faults
	}
	var have any
	if err := json.Unmarshal(got.body, &have); err != nil {
		return append(faults, fmt.Sprintf("body %q is no JSON", got.body))
	}
	if e.Status != 200 { // texts of errors are compared as they are
		if !jsonEqual(have, want) {
			faults = append(faults, fmt.Sprintf("body %s, recorded %s", got.body, e.Response))
		}
		return faults
	}
	return append(faults, compareShapes("", shapeOf(have), shapeOf(want))...)
}
