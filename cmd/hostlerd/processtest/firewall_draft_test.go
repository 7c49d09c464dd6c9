package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// A draft that locks the service out is refused. Forced, and not confirmed, it is put back in time: no new connection gets through, and
// the one that is open carries the request.
func TestLockOutIsUndone(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "1", "--guests", "1", "--auth-delay", "0")
	owner := setUp(t, startService(t, options{}))
	host := owner.enrol(t, cluster, "lab", "lifecycle")
	owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil, nil)
	firewall := fmt.Sprintf("/api/v1/firewall/cluster/%d", host)
	owner.must(t, http.StatusOK, http.MethodPut, firewall+"/options", map[string]any{"enable": 1}, nil)
	cluster.control(t, http.MethodPost, "/firewall/clients", map[string]any{"clients": []map[string]any{
		{"network": "127.0.0.0/8", "as": "10.99.0.200/32"}}}, nil)
	verdict := func() string {
		var status struct {
			Nodes []struct{ Clients []struct{ Verdict string } }
		}
		cluster.control(t, http.MethodGet, "/firewall", nil, &status)
		return status.Nodes[0].Clients[0].Verdict
	}
	if got := verdict(); got != "ACCEPT" {
		t.Fatalf("the service is let in with %s", got)
	}
	rules := func() (all []ruleView) {
		owner.must(t, http.StatusOK, http.MethodGet, firewall+"/rules", nil, &all)
		return all
	}
	before := rules()
	var made struct{ ID int64 }
	owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/firewall/drafts", map[string]any{"host_id": host, "name": "shut",
		"changes": []map[string]any{{"scope": map[string]any{"kind": "cluster"}, "action": "create_rule", "pos": 0,
			"rule": map[string]any{"type": "in", "action": "DROP", "enable": 1}}}}, &made)
	commit := fmt.Sprintf("/api/v1/firewall/drafts/%d/commit", made.ID)
	refused := owner.must(t, http.StatusConflict, http.MethodPost, commit, nil, nil)
	if !strings.Contains(string(refused.Body), "self_target") {
		t.Errorf("the draft is refused with %s", refused.Body)
	}
	job := started(t, owner, commit, map[string]any{"window_seconds": 10, "confirm": "shut"})
	waittest.Until(t, "the node lets nobody in any more", func() bool { return verdict() == "DROP" })
	end := ended(t, owner, job.ID)
	text := transcript(t, owner, job.ID)
	if end.Status != "failed" || !strings.Contains(end.Error, "nobody has confirmed") || !strings.Contains(end.Error, "as before") {
		t.Errorf("the job ended %s: %s\n%s", end.Status, end.Error, text)
	}
	if after := rules(); !slices.Equal(after, before) || verdict() != "ACCEPT" {
		t.Errorf("the rules are\n%+v, want\n%+v\n%s", after, before, text)
	}
}
