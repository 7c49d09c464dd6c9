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

// The service, or the plugin, is killed at each request by which a draft is made and put back, before the hypervisor gets it and once it
// has carried it out: in the end the rules are those after or those before, as the job says.
func TestKilledWhileADraftIsTriedOut(t *testing.T) {
	t.Parallel()
	for _, dies := range []victim{serviceDies, pluginDies} {
		t.Run(string(dies), func(t *testing.T) {
			t.Parallel()
			l := lifeOn(t, "vm", dies, startSim(t, "--scenario", "one", "--guests", "1", "--auth-delay", "0", "--recommended"))
			var vms []guestView
			l.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms", nil, &vms)
			path := fmt.Sprintf("/api/v1/vms/%d/firewall", vms[0].ID)
			stands := func() string {
				rules := l.owner.must(t, http.StatusOK, http.MethodGet, path+"/rules", nil, nil)
				return string(rules.Body) + string(l.owner.must(t, http.StatusOK, http.MethodGet, path+"/options", nil, nil).Body)
			}
			const firewall = "/nodes/{node}/qemu/{vmid}/firewall"
			points := func(requests ...string) (all []*strikePoint) {
				for i, request := range requests {
					p := &strikePoint{at: l.cluster, sends: strings.ReplaceAll(request, "{firewall}", firewall),
						when: []string{carriedOut, lost}[i%2], later: i > 0}
					all = append(all, p)
				}
				all[0].arm(t)
				return all
			}
			before := stands()
			var made struct{ ID int64 }
			on := map[string]any{"kind": "vm", "id": vms[0].ID}
			l.owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/firewall/drafts", map[string]any{"host_id": l.host, "name": "try",
				"changes": []map[string]any{
					// In a form in which the hypervisor does not keep it.
					{"scope": on, "action": "create_alias", "name": "one", "cidr": "192.0.2.1/32", "comment": " one "},
					{"scope": on, "action": "create_rule", "pos": 0, "rule": map[string]any{"type": "in", "action": "DROP", "enable": 1,
						"macro": "ssh", "comment": " none "}},
					{"scope": on, "action": "change_options", "options": map[string]string{"policy_in": "DROP"}}}}, &made)
			one := fmt.Sprintf("/api/v1/firewall/drafts/%d", made.ID)
			waits := func(job int64) {
				waittest.Until(t, "the draft waits", func() bool {
					var now struct{ Status string }
					l.owner.must(t, http.StatusOK, http.MethodGet, one, nil, &now)
					if j := progress(t, l.owner, job); j.Status != "queued" && j.Status != "running" {
						t.Fatalf("it ended %s: %s\n%s", j.Status, j.Error, transcript(t, l.owner, job))
					}
					return now.Status == "waiting"
				})
			}
			after := ""
			for _, keeps := range []bool{false, true} {
				changes := points("POST {firewall}/rules", "PUT {firewall}/options")
				job := started(t, l.owner, one+"/commit", map[string]any{"window_seconds": 3600, "confirm": "try"})
				l.strikeAt(changes, job.ID)
				waits(job.ID)
				if now := stands(); now == before || after != "" && now != after {
					t.Errorf("it stands\n%s\n%s", now, transcript(t, l.owner, job.ID))
				}
				want, status := before, "canceled"
				after = stands()
				if keeps {
					want, status = after, "succeeded"
					l.owner.must(t, http.StatusOK, http.MethodPost, one+"/confirm", nil, nil)
				} else {
					undoes := points("PUT {firewall}/options", "DELETE {firewall}/rules/{pos}")
					l.owner.must(t, http.StatusAccepted, http.MethodPost, fmt.Sprintf("/api/v1/jobs/%d/cancel", job.ID), nil, nil)
					l.strikeAt(undoes, job.ID)
				}
				end := ended(t, l.owner, job.ID)
				if now := stands(); now != want || end.Status != status {
					t.Errorf("it ended %s: %s; it stands\n%s\nwant\n%s\n%s", end.Status, end.Error, now, want, transcript(t, l.owner, job.ID))
				}
			}
		})
	}
}
