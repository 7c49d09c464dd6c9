package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestFirewallRulesAreChangedAtEveryScope(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	for _, s := range l.scopes() {
		url, who := s.path+"/rules", callerAs(s.least)
		l.firewall.SetRules(s.sdk, namedRule("first"), namedRule("second"), namedRule("third"))
		l.Expect(t, "POST", url, `{"type":"in","action":"ACCEPT","comment":"new"}`, who, 200, "", `"pos":0`, `"enable":0`, `"digest":"`,
			"disabled")
		l.wantOrder(s.word+" without a place", s.path, "new- first second third")
		l.Expect(t, "POST", url, `{"type":"in","action":"DROP","comment":"last","enable":1,"pos":4,"macro":"SSH",`+quotedDigest(l.digest(url))+
			"}",
			who, 200, "", `"pos":4`, `"enable":1`, `"macro":"SSH"`, `"note":null`)
		l.wantOrder(s.word+" at a place", s.path, "new- first second third last")
		l.Expect(t, "PUT", url+"/4/move", `{"moveto":1,`+quotedDigest(l.digest(url))+"}", who, 200, "", `"pos":1`, `"comment":"last"`)
		l.Expect(t, "PUT", url+"/1", `{"enable":0,"dport":"80","proto":"tcp","delete":"macro",`+quotedDigest(l.digest(url))+"}", who, 200, "",
			`"pos":1`,
			`"macro":null`, `"dport":"80"`, `"action":"DROP"`, "disabled")
		l.Expect(t, "PUT", url+"/1", `{"dport":null,"type":null,"enable":1}`, who, 200, "", `"dport":null`, `"proto":"tcp"`, `"enable":1`)
		l.Expect(t, "DELETE", url+"/0?digest="+l.digest(url), "", who, 200, "", `"pos":0`, `"comment":"new"`)
		l.wantOrder(s.word+" in the end", s.path, "last first second third")
		if r := l.rows(url)[0]; r.Macro != "" || r.DPort != "" || r.Proto != "tcp" || r.Action != "DROP" {
			t.Errorf("%s: %+v", s.word, r)
		}
	}
}

// Whoever is below the role, another team's or nobody changes nothing, at no scope and by no operation.
func TestFirewallRolesOfEveryRow(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	for _, s := range l.scopes() {
		for _, w := range []struct{ method, path, body string }{
			{"POST", "/rules", `{"type":"in","action":"ACCEPT"}`}, {"PUT", "/rules/0", `{"enable":0}`}, {"DELETE", "/rules/0", ""},
			{"PUT", "/rules/0/move", `{"moveto":1}`}, {"POST", "/aliases", `{"name":"a","cidr":"192.0.2.1"}`},
			{"PUT", "/aliases/a", `{"cidr":"192.0.2.1"}`}, {"DELETE", "/aliases/a", ""}, {"POST", "/ipsets", `{"name":"a"}`},
			{"DELETE", "/ipsets/a", ""}, {"POST", "/ipsets/a/members", `{"cidr":"192.0.2.1"}`},
			{"PUT", "/ipsets/a/members/192.0.2.0/24", `{"nomatch":1}`}, {"DELETE", "/ipsets/a/members/192.0.2.0%2F24", ""},
			{"PUT", "/options", `{"enable":1}`},
		} {
			if s.word == "group_firewall" && w.path == "/options" {
				continue
			}
			l.Expect(t, w.method, s.path+w.path, w.body, callerAs(s.least-1), 403, "forbidden")
			l.Expect(t, w.method, s.path+w.path, w.body, foreign, 404, "not_found")
			l.Expect(t, w.method, s.path+w.path, w.body, nil, 401, "unauthenticated")
		}
		l.wantOrder(s.word, s.path, "first second third")
	}
}

// What a backend has at other scopes only is 501, and says so.
func TestFirewallAbilitiesThatAScopeLacks(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	for _, s := range l.scopes() {
		lacks := s.sdk.Kind == sdk.NodeScope || s.sdk.Kind == sdk.GroupScope
		for _, w := range []struct{ method, path, body string }{
			{"GET", "/aliases", ""}, {"POST", "/aliases", `{"name":"a","cidr":"192.0.2.1"}`}, {"PUT", "/aliases/a", `{"cidr":"192.0.2.1"}`},
			{"DELETE", "/aliases/a", ""}, {"GET", "/ipsets", ""}, {"POST", "/ipsets", `{"name":"a"}`}, {"DELETE", "/ipsets/a", ""},
			{"GET", "/ipsets/a/members", ""}, {"POST", "/ipsets/a/members", `{"cidr":"192.0.2.1"}`},
			{"PUT", "/ipsets/a/members/192.0.2.1", `{"nomatch":1}`}, {"DELETE", "/ipsets/a/members/192.0.2.1", ""}, {"GET", "/refs", ""},
		} {
			if lacks && (w.path != "/refs" || s.sdk.Kind == sdk.NodeScope) {
				l.Expect(t, w.method, s.path+w.path, w.body, apitest.Admin, 501, "unsupported_at_scope", `"scope":"`+string(s.sdk.Kind)+`"`)
			}
		}
	}
	l.Expect(t, "GET", "firewall/cluster/1/log", "", apitest.Viewer, 501, "unsupported_at_scope", `"ability":"log"`)
}

func TestFirewallRuleRequestsThatAreWrong(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	url := l.VM("running") + "/firewall/rules"
	l.firewall.FailCall("CreateRule", plugin.Errorf(plugin.Internal, "this was not to be asked"))
	l.firewall.FailCall("ChangeRule", plugin.Errorf(plugin.Internal, "this was not to be asked"))
	l.firewall.FailCall("MoveRule", plugin.Errorf(plugin.Internal, "this was not to be asked"))
	for _, c := range []struct {
		method, path, body string
		status             int
		contains           []string
	}{
		{"POST", "", `{"type":"sideways","enable":2,"pos":-1,"colour":"red"}`, 422,
			[]string{`["body","type"]`, `["body","action"]`, `["body","enable"]`, `["body","pos"]`, `["body","colour"]`}},
		{"POST", "", `{"type":"in","action":"ACCEPT","source":"a\nb","comment":"a\u0007b"}`, 422,
			[]string{`["body","source"]`, `["body","comment"]`}},
		{"POST", "", `{"type":"group","action":"../etc"}`, 422, []string{`["body","action"]`}},
		{"POST", "", `{"type":"in","action":"ACCEPT","pos":4}`, 422, []string{`["body","pos"]`, "at most 3"}},
		{"POST", "", `{"type":"in","action":"ACCEPT","source":"` + strings.Repeat("ö", 400) + `"}`, 422, []string{`["body","source"]`}},
		{"PUT", "/0", `{}`, 422, []string{"nothing_to_change"}},
		{"PUT", "/0", `{"digest":"x"}`, 422, []string{"nothing_to_change"}},
		{"PUT", "/0", `{"delete":"type"}`, 422, []string{`["body","delete"]`}},
		{"PUT", "/0", `{"delete":"comment","comment":"x"}`, 422, []string{`["body","comment"]`}},
		{"PUT", "/0", `{"delete":"enable","enable":1}`, 422, []string{`["body","enable"]`}},
		{"PUT", "/3", `{"enable":0}`, 404, []string{"the firewall has 3 rules"}},
		{"PUT", "/x", `{"enable":0}`, 422, []string{`["path","pos"]`}},
		{"PUT", "/0/move", `{"moveto":3}`, 422, []string{`["body","moveto"]`, "at most 2"}},
		{"PUT", "/3/move", `{"moveto":0}`, 404, nil},
		{"DELETE", "/3", "", 404, nil},
		{"DELETE", "/0?digest=", "", 422, []string{`["query","digest"]`}},
	} {
		code := map[int]string{404: "not_found", 422: "invalid"}[c.status]
		l.Expect(t, c.method, url+c.path, c.body, apitest.Operator, c.status, code, c.contains...)
	}
	l.Expect(t, "POST", "firewall/cluster/1/groups/web/rules", `{"type":"group","action":"web"}`, apitest.Admin, 422, "invalid",
		"cannot contain another group")
	l.Expect(t, "POST", "firewall/nodes/1/node9/rules", `{"type":"in","action":"ACCEPT"}`, apitest.Admin, 404, "not_found")
	l.Expect(t, "GET", "firewall/cluster/1/groups/none/rules", "", apitest.Viewer, 404, "not_found")
	l.wantOrder("afterwards", l.VM("running")+"/firewall", "first second third")
}

// A guest that the hypervisor has no more is 404, and its firewall, which would take the change, is not asked to.
func TestFirewallRulesOfAGuestThatIsGone(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	url := l.VM("running") + "/firewall"
	l.Cluster.Remove(l.Refs["running"].ID)
	l.Expect(t, "POST", url+"/rules", `{"type":"in","action":"ACCEPT"}`, apitest.Operator, 404, "not_found")
	l.Expect(t, "PUT", url+"/options", `{"enable":1}`, apitest.Operator, 404, "not_found")
	l.wantOrder("afterwards", url, "first second third")
}

// The second half of a creation may fail: the answer says what stands, and that is switched off.
func TestFirewallCreationThatIsDoneInPart(t *testing.T) {
	if testing.Short() {
		t.Skip("loses responses: make check runs it")
	}
	t.Parallel()
	l := newFirewallLab(t)
	url := l.VM("running") + "/firewall"
	const body = `{"type":"in","action":"DROP","comment":"new","enable":1,"pos":2}`
	for _, c := range []struct {
		method, failed, order string
		err                   error
		status                int
		code                  string
	}{
		{"MoveRule", "move", "new- first second third", plugin.Errorf(plugin.Refused, "not today"), 502, "hypervisor_error"},
		{"MoveRule", "move", "new- first second third", sdk.Stale(), 409, "digest_conflict"},
		{"ChangeRule", "enable", "first second new- third", plugin.Errorf(plugin.Refused, "not today"), 502, "hypervisor_error"},
	} {
		l.firewall.FailCall(c.method, c.err)
		place := strings.Index(c.order, "new-") / len("first ")
		if place > 0 {
			place = 2
		}
		l.Expect(t, "POST", url+"/rules", body, apitest.Operator, c.status, c.code, `"failed":"`+c.failed+`"`, `"done":["create"`,
			fmt.Sprintf(`"pos":%d`, place), `"digest":"`, `"enable":0`, "the rule was created at place")
		l.wantOrder(c.method, url, c.order)
		l.firewall.FailCall(c.method, nil)
		l.Expect(t, "DELETE", fmt.Sprintf("%s/rules/%d", url, place), "", apitest.Operator, 200, "", `"comment":"new"`)
	}
	l.Expect(t, "POST", url+"/rules", body, apitest.Operator, 200, "", `"pos":2`, `"enable":1`)
	if got := l.AuditLog("firewall.rule_create"); !strings.Contains(got, `failed hypervisor_error`) ||
		!strings.Contains(got, `"failed": "move"`) || !strings.Contains(got, `"done": ["create"]`) {
		t.Errorf("the audit log: %s", got)
	}
}

// An answer that is lost is looked for in the list, and what was done is not done again.
func TestFirewallAnswersLost(t *testing.T) {
	if testing.Short() {
		t.Skip("loses responses: make check runs it")
	}
	t.Parallel()
	l := newFirewallLab(t)
	url := l.VM("running") + "/firewall"
	lost := plugin.Errorf(plugin.Unreachable, "the line broke")
	for method, c := range map[string]struct{ method, path, body, order string }{
		"CreateRule": {"POST", "/rules", `{"type":"in","action":"DROP","comment":"new"}`, "new- first second third"},
		"MoveRule":   {"PUT", "/rules/0/move", `{"moveto":2}`, "second third first"},
		"ChangeRule": {"PUT", "/rules/0", `{"enable":0}`, "first- second third"},
		"DeleteRule": {"DELETE", "/rules/0", "", "second third"},
	} {
		l.firewall.SetRules(l.scopes()[0].sdk, namedRule("first"), namedRule("second"), namedRule("third"))
		l.firewall.LoseAnswer(method, lost)
		l.Expect(t, c.method, url+c.path, c.body, apitest.Operator, 200, "", `"digest":"`)
		l.wantOrder(method+" done", url, c.order)
		l.firewall.LoseAnswer(method, nil)

		l.firewall.SetRules(l.scopes()[0].sdk, namedRule("first"), namedRule("second"), namedRule("third"))
		l.firewall.FailCall(method, lost)
		l.Expect(t, c.method, url+c.path, c.body, apitest.Operator, 502, "hypervisor_error", "reading the rules afterwards showed no change")
		l.wantOrder(method+" not done", url, "first second third")
		l.firewall.FailCall(method, nil)

		l.firewall.LoseAnswer(method, lost)
		l.firewall.Before(func(called string) {
			if called == method { // from then on nothing can be read
				l.firewall.FailCall("Rules", lost)
			}
		})
		l.Expect(t, c.method, url+c.path, c.body, apitest.Operator, 504, "outcome_unknown")
		l.firewall.Before(nil)
		l.firewall.LoseAnswer(method, nil)
		l.firewall.FailCall("Rules", nil)
	}
}

func TestTrailOfFirewallRules(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	url := l.VM("running") + "/firewall/rules"
	l.Expect(t, "POST", url, `{"type":"in","action":"DROP","comment":"password=hunter2 svc_0123456789abcdef0123","pos":1}`,
		apitest.Operator, 200, "")
	l.Expect(t, "PUT", url+"/0", `{"dport":"80"}`, apitest.Operator, 200, "")
	l.Expect(t, "PUT", url+"/0/move", `{"moveto":3}`, apitest.Operator, 200, "")
	l.Expect(t, "DELETE", url+"/3", "", apitest.Operator, 200, "")
	l.Expect(t, "DELETE", url+"/0?digest=0", "", apitest.Operator, 409, "digest_conflict")
	for action, want := range map[string][]string{
		"firewall.rule_create": {`"before": null`, `"action": "DROP"`, `"comment": "[redacted]"`, `"to": 1`},
		"firewall.rule_change": {`"before": {`, `"dport": "22"`, `"after": {`, `"dport": "80"`},
		"firewall.rule_move":   {`"to": 3`, `"comment": "first"`},
		"firewall.rule_delete": {`"after": null`, `"dport": "80"`, "refused digest_conflict"},
	} {
		got := l.Value(fmt.Sprintf(`SELECT string_agg(result || ' ' || error || ' ' || details::text, '; ' ORDER BY id) FROM audit
			WHERE action = '%s'`, action))
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s: %s\nhas no %s", action, got, text)
			}
		}
	}
}

// Rules of lists without an order are changed as well; there is no place to put one at.
func TestFirewallRulesWithoutAnOrder(t *testing.T) {
	t.Parallel()
	lists := membackend.NewLists()
	l := newFirewallLabOf(t, lists.Backend, lists)
	url := l.VM("running") + "/firewall"
	l.firewall.SetRules(l.scopes()[0].sdk, sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT", Comment: "b"})
	const unordered = "have no order"
	l.Expect(t, "POST", url+"/rules", `{"type":"in","action":"ACCEPT","comment":"c"}`, apitest.Operator, 200, "", `"pos":1`, unordered)
	l.Expect(t, "POST", url+"/rules", `{"type":"in","action":"ACCEPT","comment":"a","enable":1}`, apitest.Operator, 200, "", `"pos":0`,
		unordered)
	l.wantOrder("made", url, "a b- c-")
	l.Expect(t, "PUT", url+"/rules/0", `{"action":"DROP",`+quotedDigest(l.digest(url+"/rules"))+"}", apitest.Operator, 200, "",
		`"pos":2`, `"comment":"a"`)
	l.wantOrder("changed", url, "b- c- a")
	l.Expect(t, "DELETE", url+"/rules/0", "", apitest.Operator, 200, "", `"comment":"b"`)
	l.Expect(t, "POST", url+"/rules", `{"type":"in","action":"ACCEPT","pos":0}`, apitest.Operator, 501, "unsupported", "rule_move")
	l.Expect(t, "PUT", url+"/rules/0/move", `{"moveto":1}`, apitest.Operator, 501, "unsupported", "rule_move")
	l.Expect(t, "POST", "firewall/cluster/1/rules", `{"type":"in","action":"ACCEPT"}`, apitest.Admin, 501, "unsupported_at_scope",
		"rule_edit")
	l.Expect(t, "GET", url+"/aliases", "", apitest.Viewer, 501, "unsupported", "aliases")
	l.wantOrder("in the end", url, "c- a")
}
