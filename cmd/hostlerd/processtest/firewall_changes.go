package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// firewallChanges is a day at the firewall over real processes: names, rules that go to their places, somebody else who comes in between,
// what is in use, options, and the audit log of it all.
func firewallChanges(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "6", "--auth-delay", "100ms", "--recommended")
	host := owner.enrol(t, cluster, "changed firewalls", "lifecycle")
	vm := listVMs(t, owner, host)[0].ID
	at := fmt.Sprintf("/api/v1/vms/%d/firewall", vm)
	center := fmt.Sprintf("/api/v1/firewall/cluster/%d", host)
	node := fmt.Sprintf("/api/v1/firewall/nodes/%d/pve1", host)
	type m = map[string]any
	type changed struct {
		Pos    *int
		Digest *string
		Rule   ruleView
		Note   *string
	}
	refused := func(status int, code, method, path string, body any, says ...string) {
		t.Helper()
		a := owner.do(t, method, path, body)
		if a.Status != status || a.problem() != code {
			t.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
		}
		for _, text := range says {
			if !strings.Contains(string(a.Body), text) {
				t.Errorf("%s %s: no %s in %s", method, path, text, a.Body)
			}
		}
	}
	order := func(path string) (all []string) {
		t.Helper()
		var rules []struct{ Comment string }
		owner.must(t, http.StatusOK, http.MethodGet, path+"/rules", nil, &rules)
		for _, r := range rules {
			all = append(all, r.Comment)
		}
		return all
	}
	create := func(path, comment string, more m) (c changed) {
		t.Helper()
		body := m{"type": "in", "action": "ACCEPT", "proto": "tcp", "dport": "22", "comment": comment}
		for name, value := range more {
			body[name] = value
		}
		owner.must(t, http.StatusOK, http.MethodPost, path+"/rules", body, &c)
		return c
	}

	for _, path := range []string{at, node, center, center + "/groups/web"} {
		if strings.HasSuffix(path, "/web") {
			owner.must(t, http.StatusOK, http.MethodPost, center+"/groups", m{"group": "web", "comment": "of all"}, nil)
		}
		for range order(path) { // what the scenario has
			owner.must(t, http.StatusOK, http.MethodDelete, path+"/rules/0", nil, nil)
		}
		if c := create(path, "a", nil); c.Pos == nil || *c.Pos != 0 || c.Digest == nil || c.Note == nil || c.Rule.Enable != 0 {
			t.Errorf("%s: %+v", path, c)
		}
		create(path, "b", nil)
		c := create(path, "c", m{"pos": 2, "enable": 1})
		if c.Pos == nil || *c.Pos != 2 || c.Rule.Enable != 1 {
			t.Errorf("%s: %+v", path, c)
		}
		if got := order(path); !slices.Equal(got, []string{"b", "a", "c"}) {
			t.Errorf("%s: %v", path, got)
		}
		stale := *c.Digest
		owner.must(t, http.StatusOK, http.MethodPut, path+"/rules/2/move", m{"moveto": 0, "digest": stale}, &c)
		refused(http.StatusConflict, "digest_conflict", http.MethodPut, path+"/rules/0/move", m{"moveto": 1, "digest": stale},
			`"current":[{"pos":0`, *c.Digest)
		owner.must(t, http.StatusOK, http.MethodPut, path+"/rules/1", m{"dport": "80", "delete": "comment", "digest": *c.Digest}, &c)
		if c.Rule.Dport != "80" || *c.Pos != 1 {
			t.Errorf("%s: %+v", path, c)
		}
		owner.must(t, http.StatusOK, http.MethodDelete, path+"/rules/1?digest="+*c.Digest, nil, nil)
		if got := order(path); !slices.Equal(got, []string{"c", "a"}) {
			t.Errorf("%s: %v", path, got)
		}
		refused(http.StatusUnprocessableEntity, "invalid", http.MethodPost, path+"/rules",
			m{"type": "in", "action": "ACCEPT", "source": "no/where"}, `"source"`)
		refused(http.StatusNotFound, "not_found", http.MethodPut, path+"/rules/7", m{"enable": 0})
	}

	firstRules(t, owner, host)

	owner.must(t, http.StatusOK, http.MethodPost, center+"/aliases", m{"name": "backup", "cidr": "192.0.2.10"}, nil)
	owner.must(t, http.StatusOK, http.MethodPost, center+"/ipsets", m{"name": "admins"}, nil)
	owner.must(t, http.StatusOK, http.MethodPost, center+"/ipsets/admins/members", m{"cidr": "198.51.100.0/24"}, nil)
	owner.must(t, http.StatusOK, http.MethodPut, center+"/ipsets/admins/members/198.51.100.0/24", m{"comment": "office"}, nil)
	create(at, "used", m{"source": "+dc/admins", "dest": "dc/backup"})
	owner.must(t, http.StatusOK, http.MethodPost, at+"/rules", m{"type": "group", "action": "web"}, nil)
	used := fmt.Sprintf(`"vm_id":%d`, vm)
	refused(http.StatusConflict, "in_use", http.MethodDelete, center+"/aliases/backup", nil, used, `"confirm_phrase":"backup"`)
	refused(http.StatusConflict, "in_use", http.MethodDelete, center+"/ipsets/admins", nil, used, `"members":1`)
	refused(http.StatusConflict, "invalid_state", http.MethodDelete, center+"/groups/web", nil, `"rules":2`)
	owner.must(t, http.StatusOK, http.MethodDelete, center+"/aliases/backup?confirm=backup", nil, nil)
	owner.must(t, http.StatusOK, http.MethodDelete, center+"/ipsets/admins?confirm=admins", nil, nil)
	refused(http.StatusNotImplemented, "unsupported_at_scope", http.MethodGet, node+"/aliases", nil)
	refused(http.StatusNotImplemented, "unsupported_at_scope", http.MethodGet, center+"/groups/web/ipsets", nil)

	var options struct {
		Enable *int
		Policy string `json:"policy_in"`
	}
	owner.must(t, http.StatusOK, http.MethodPut, at+"/options", m{"enable": 1, "policy_in": "REJECT"}, &options)
	if options.Enable == nil || *options.Enable != 1 || options.Policy != "REJECT" {
		t.Errorf("%+v", options)
	}
	var macros []struct{ Name string }
	owner.must(t, http.StatusOK, http.MethodGet, center+"/macros", nil, &macros)
	if len(macros) < 50 {
		t.Errorf("%d macros", len(macros))
	}
	var rows []struct{ Details m }
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit?action=firewall.rule_delete&per_page=500", nil, &rows)
	if !slices.ContainsFunc(rows, func(r struct{ Details m }) bool {
		before, _ := r.Details["before"].(m)
		return before["dport"] == "80" && r.Details["after"] == nil
	}) {
		t.Errorf("the audit log does not say what was deleted: %+v", rows)
	}
}

// firstRules puts the first rule into firewalls that have no file at the hypervisor, by a draft and by a template.
func firstRules(t *testing.T, owner *client, host int64) {
	t.Helper()
	type m = map[string]any
	list := func(path string) (rules []ruleView) {
		t.Helper()
		owner.must(t, http.StatusOK, http.MethodGet, path, nil, &rules)
		return rules
	}
	commit := func(path string, body m) {
		t.Helper()
		var made struct{ ID int64 }
		owner.must(t, http.StatusCreated, http.MethodPost, path, body, &made)
		one := fmt.Sprintf("/api/v1/firewall/drafts/%d", made.ID)
		job := started(t, owner, one+"/commit", m{"window_seconds": 600, "confirm": body["name"]})
		waittest.Until(t, "the draft waits", func() bool {
			var now struct{ Status string }
			owner.must(t, http.StatusOK, http.MethodGet, one, nil, &now)
			if j := progress(t, owner, job.ID); j.Status != "queued" && j.Status != "running" {
				t.Fatalf("%s: the job ended %s: %s\n%s", path, j.Status, j.Error, transcript(t, owner, job.ID))
			}
			return now.Status == "waiting"
		})
		owner.must(t, http.StatusOK, http.MethodPost, one+"/confirm", nil, nil)
		if end := ended(t, owner, job.ID); end.Status != "succeeded" {
			t.Errorf("%s: the job ended %s: %s", path, end.Status, end.Error)
		}
	}
	rule := m{"type": "in", "action": "ACCEPT", "enable": 1, "comment": "first"}

	vms := listVMs(t, owner, host)
	ofVM := func(vm guestView) string { return fmt.Sprintf("/api/v1/vms/%d/firewall/rules", vm.ID) }
	i := slices.IndexFunc(vms, func(vm guestView) bool { return len(list(ofVM(vm))) == 0 })
	if i < 0 {
		t.Fatal("every VM has rules")
	}
	commit("/api/v1/firewall/drafts", m{"host_id": host, "name": "first", "changes": []m{
		{"scope": m{"kind": "vm", "id": vms[i].ID}, "action": "create_rule", "pos": 0, "rule": rule}}})

	ofNode := fmt.Sprintf("/api/v1/firewall/nodes/%d/pve2/rules", host)
	for range list(ofNode) { // what the scenario has
		owner.must(t, http.StatusOK, http.MethodDelete, ofNode+"/0", nil, nil)
	}
	var kept struct{ ID int64 }
	owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/firewall/templates",
		m{"name": "base", "content": m{"rules": []m{rule}}}, &kept)
	commit(fmt.Sprintf("/api/v1/firewall/templates/%d/drafts", kept.ID), m{"host_id": host, "name": "base",
		"scopes": []m{{"kind": "node", "node": "pve2"}}})

	for _, path := range []string{ofVM(vms[i]), ofNode} {
		if rules := list(path); len(rules) != 1 || rules[0].Enable != 1 {
			t.Errorf("%s: %+v", path, rules)
		}
	}
}
