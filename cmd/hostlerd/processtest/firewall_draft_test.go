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
	if end.Status != "failed" || !strings.Contains(end.Error, "the draft was not confirmed") || !strings.Contains(end.Error, "as before") {
		t.Errorf("the job ended %s: %s\n%s", end.Status, end.Error, text)
	}
	if after := rules(); !slices.Equal(after, before) || verdict() != "ACCEPT" {
		t.Errorf("the rules are\n%+v, want\n%+v\n%s", after, before, text)
	}
}

// draftRound is one way of a draft that is tried out: the requests by which it is made and then put back, at each of which the victim
// dies, at the first before or once the hypervisor gets it, and so on by turns. One that is put back by nothing is confirmed.
type draftRound struct {
	first           string
	changes, undoes []string
}

// draftRounds have each request once before the hypervisor gets it, or once it has carried it out. The last one of those that are made
// switches the rule on, which was made switched off.
var draftRounds = map[string]draftRound{
	"put back": {carriedOut, []string{"POST {firewall}/aliases", "POST {firewall}/rules", "PUT {firewall}/rules/{pos}",
		"PUT {firewall}/options"},
		[]string{"PUT {firewall}/options", "DELETE {firewall}/rules/{pos}", "DELETE {firewall}/aliases/{name}"}},
	"confirmed": {lost, []string{"POST {firewall}/aliases", "POST {firewall}/rules", "PUT {firewall}/rules/{pos}",
		"PUT {firewall}/options"}, nil},
}

// The service, or the plugin, is killed at each request by which a draft is made and put back, before the hypervisor gets it or once it
// has carried it out, and between its confirmation and the last look at what stands: in the end the rules are those after or those before,
// as the job says.
func TestKilledWhileADraftIsTriedOut(t *testing.T) {
	t.Parallel()
	for _, dies := range []victim{serviceDies, pluginDies} {
		for name, round := range draftRounds {
			t.Run(fmt.Sprintf("%s, %s dies", name, dies), func(t *testing.T) {
				t.Parallel()
				round.run(lifeOn(t, "vm", dies, startSim(t, "--scenario", "one", "--guests", "1", "--auth-delay", "0", "--recommended")))
			})
		}
	}
}

// points are those of some requests to the firewall of the guest, the first of which is armed.
func (r draftRound) points(l *life, first string, requests ...string) (all []*strikePoint) {
	l.t.Helper()
	whens := []string{carriedOut, lost}
	for i, request := range requests {
		if first == lost {
			i++
		}
		all = append(all, &strikePoint{at: l.cluster, sends: strings.ReplaceAll(request, "{firewall}", "/nodes/{node}/qemu/{vmid}/firewall"),
			when: whens[i%2], later: len(all) > 0})
	}
	all[0].arm(l.t)
	return all
}

func (r draftRound) run(l *life) {
	t := l.t
	var vms []guestView
	l.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms", nil, &vms)
	path := fmt.Sprintf("/api/v1/vms/%d/firewall", vms[0].ID)
	stands := func() (text string) {
		l.owner.answered(t, http.MethodGet, path+"/rules")
		for _, list := range []string{"/rules", "/aliases", "/options"} {
			text += string(l.owner.must(t, http.StatusOK, http.MethodGet, path+list, nil, nil).Body)
		}
		return text
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
	changes := r.points(l, r.first, r.changes...)
	job := started(t, l.owner, one+"/commit", map[string]any{"window_seconds": 3600, "confirm": "try"})
	l.strikeAt(changes, job.ID)
	waittest.Until(t, "the draft waits", func() bool {
		var now struct{ Status string }
		l.owner.must(t, http.StatusOK, http.MethodGet, one, nil, &now)
		if j := progress(t, l.owner, job.ID); j.Status != "queued" && j.Status != "running" {
			t.Fatalf("it ended %s: %s\n%s", j.Status, j.Error, transcript(t, l.owner, job.ID))
		}
		return now.Status == "waiting"
	})
	after := stands()
	if after == before || !strings.Contains(after, `"name":"one"`) || !strings.Contains(after, `"enable":1`) {
		t.Errorf("it stands\n%s\n%s", after, transcript(t, l.owner, job.ID))
	}
	want, status := before, "canceled"
	if r.undoes == nil {
		want, status = after, "succeeded"
		look := r.points(l, lost, "GET {firewall}/rules")
		l.owner.must(t, http.StatusOK, http.MethodPost, one+"/confirm", nil, nil)
		l.strikeAt(look, job.ID)
	} else {
		undoes := r.points(l, r.first, r.undoes...)
		l.owner.must(t, http.StatusAccepted, http.MethodPost, fmt.Sprintf("/api/v1/jobs/%d/cancel", job.ID), nil, nil)
		l.strikeAt(undoes, job.ID)
	}
	end := ended(t, l.owner, job.ID)
	if now := stands(); now != want || end.Status != status {
		t.Errorf("it ended %s: %s; it stands\n%s\nwant\n%s\n%s", end.Status, end.Error, now, want, transcript(t, l.owner, job.ID))
	}
}
