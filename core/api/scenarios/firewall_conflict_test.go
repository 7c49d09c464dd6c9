package scenarios

import (
	"errors"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// firewallEditor is one change of a list that an editor makes with the digest of what was read; %s stands for it.
type firewallEditor struct{ method, path, body string }

// firewallLists are the lists of a scope, each with every operation that changes it, and how the endpoint is before.
func firewallLists(kind sdk.ScopeKind) map[string][]firewallEditor {
	all := map[string][]firewallEditor{"/rules": {
		{"POST", "/rules", `{"type":"in","action":"DROP","comment":"made","digest":"%s"}`},
		{"POST", "/rules", `{"type":"in","action":"DROP","comment":"placed","enable":1,"pos":2,"digest":"%s"}`},
		{"PUT", "/rules/0", `{"comment":"changed","digest":"%s"}`},
		{"PUT", "/rules/0/move", `{"moveto":2,"digest":"%s"}`},
		{"DELETE", "/rules/0?digest=%s", ""},
	}}
	if kind != sdk.GroupScope {
		all["/options"] = []firewallEditor{
			{"PUT", "/options", `{"policy_in":"DROP","digest":"%s"}`}, {"PUT", "/options", `{"delete":"enable","digest":"%s"}`},
		}
	}
	if kind == sdk.ClusterScope || kind == sdk.GuestScope {
		all["/aliases"] = []firewallEditor{
			{"POST", "/aliases", `{"name":"made","cidr":"192.0.2.7","digest":"%s"}`},
			{"PUT", "/aliases/old", `{"cidr":"192.0.2.8","digest":"%s"}`},
			{"DELETE", "/aliases/old?digest=%s", ""},
		}
		all["/ipsets"] = []firewallEditor{
			{"POST", "/ipsets", `{"name":"made","digest":"%s"}`}, {"DELETE", "/ipsets/spare?digest=%s", ""},
		}
		all["/ipsets/old/members"] = []firewallEditor{
			{"POST", "/ipsets/old/members", `{"cidr":"198.51.100.7","digest":"%s"}`},
			{"PUT", "/ipsets/old/members/198.51.100.0/24", `{"comment":"changed","digest":"%s"}`},
			{"DELETE", "/ipsets/old/members/198.51.100.0%%2F24?digest=%s", ""},
		}
	}
	if kind == sdk.ClusterScope {
		all["/groups"] = []firewallEditor{
			{"POST", "/groups", `{"group":"made","digest":"%s"}`}, {"DELETE", "/groups/spare?digest=%s", ""},
		}
	}
	return all
}

// furnish brings a scope to what lists need, and takes away what they make.
func (l *firewallLab) furnish(s firewallPlace) {
	l.t.Helper()
	ctx, fw := l.t.Context(), l.direct
	l.firewall.SetRules(s.sdk, namedRule("first"), namedRule("second"), namedRule("third"))
	on := true
	ok := func(errs ...error) {
		l.t.Helper()
		if err := errors.Join(errs...); err != nil {
			l.t.Fatal(err)
		}
	}
	if s.sdk.Kind != sdk.GroupScope {
		ok(fw.ChangeOptions(ctx, s.sdk, sdk.OptionsChange{Set: sdk.Options{Enable: &on, PolicyIn: "REJECT"}}))
	}
	if s.sdk.Kind == sdk.ClusterScope || s.sdk.Kind == sdk.GuestScope {
		for _, name := range []string{"made", "old", "spare"} { // they may be there
			_ = fw.DeleteAlias(ctx, s.sdk, name, "")
			_ = fw.DeleteIPSet(ctx, s.sdk, name, true, "")
		}
		ok(fw.CreateAlias(ctx, s.sdk, sdk.Alias{Name: "old", CIDR: "192.0.2.6"}, ""), fw.CreateIPSet(ctx, s.sdk, sdk.IPSet{Name: "old"}, ""),
			fw.CreateIPSet(ctx, s.sdk, sdk.IPSet{Name: "spare"}, ""),
			fw.AddIPSetMember(ctx, s.sdk, "old", sdk.IPSetMember{CIDR: "198.51.100.0/24"}, ""))
	}
	if s.sdk.Kind == sdk.ClusterScope {
		_, _ = fw.DeleteGroup(ctx, "made", ""), fw.DeleteGroup(ctx, "spare", "")
		ok(fw.CreateGroup(ctx, sdk.Group{Name: "spare"}, ""))
	}
}

// current is what a list says now, with its digest.
func (l *firewallLab) current(url string) (text, digest string) {
	l.t.Helper()
	text = strings.TrimSpace(string(l.Expect(l.t, "GET", url, "", apitest.Viewer, 200, "").Body))
	if _, rest, found := strings.Cut(text, `"digest":"`); found {
		digest, _, _ = strings.Cut(rest, `"`)
	}
	return text, digest
}

func (l *firewallLab) edit(s firewallPlace, e firewallEditor, digest string, status int, code string, contains ...string) {
	l.t.Helper()
	with := func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, "%s", digest), "%%", "%")
	}
	l.Expect(l.t, e.method, s.path+with(e.path), with(e.body), callerAs(s.least), status, code, contains...)
}

// Two editors have read the same list of a cluster, a node, a VM, an app or a group. Whichever comes second, with whatever operation, gets
// 409 with what is there now, and the first one's change stays.
func TestTwoEditorsOfEachFirewallList(t *testing.T) {
	if testing.Short() {
		t.Skip("lets two requests race: make check runs it")
	}
	t.Parallel()
	l := newFirewallLab(t)
	for _, s := range l.scopes() {
		if s.word == "firewall_node" { // another name of node
			continue
		}
		for list, editors := range firewallLists(s.sdk.Kind) {
			for _, first := range editors {
				for _, second := range editors {
					l.furnish(s)
					_, digest := l.current(s.path + list)
					l.edit(s, first, digest, 200, "")
					now, after := l.current(s.path + list)
					if after == digest {
						t.Errorf("%s%s: %s %s changes no digest", s.word, list, first.method, first.path)
					}
					has := []string{`"current":` + now}
					if after != "" { // an empty list has one that its rows cannot tell
						has = append(has, `"digest":"`+after+`"`)
					}
					l.edit(s, second, digest, 409, "digest_conflict", has...)
					if then, _ := l.current(s.path + list); then != now {
						t.Errorf("%s: %s %s was lost to %s %s:\n%s\n%s", s.word, first.method, first.path, second.method, second.path, now, then)
					}
				}
			}
		}
	}
}

// Who comes in between the reading and the sending of a change is not overwritten either, whether the change names a digest or not.
func TestFirewallEditorInBetween(t *testing.T) {
	if testing.Short() {
		t.Skip("lets two requests race: make check runs it")
	}
	t.Parallel()
	l := newFirewallLab(t)
	methods := map[string]string{"POST /rules": "CreateRule", "PUT /rules/0": "ChangeRule", "PUT /rules/0/move": "MoveRule",
		"DELETE /rules/0?digest=%s": "DeleteRule"}
	s := l.scopes()[0]
	for _, e := range firewallLists(s.sdk.Kind)["/rules"] {
		method := methods[e.method+" "+e.path]
		for _, digested := range []bool{true, false} {
			l.furnish(s)
			digest := l.digest(s.path + "/rules")
			if !digested {
				e = firewallEditor{e.method, strings.TrimSuffix(e.path, "?digest=%s"), strings.Replace(e.body, `,"digest":"%s"`, "", 1)}
			}
			l.firewall.Before(func(called string) {
				if called == method {
					l.firewall.Before(nil)
					l.firewall.SetRules(s.sdk, namedRule("theirs"), namedRule("first"))
				}
			})
			l.edit(s, e, digest, 409, "digest_conflict", `"current":[{"pos":0`, `"comment":"theirs"`)
			l.wantOrder(method, s.path, "theirs first")
		}
	}
}

// A digest is given to nobody who cannot know the list that it is of: somebody else's change comes right after the caller's own.
func TestFirewallEditorRightAfter(t *testing.T) {
	if testing.Short() {
		t.Skip("lets two requests race: make check runs it")
	}
	t.Parallel()
	l := newFirewallLab(t)
	s := l.scopes()[0]
	reads := 0
	l.firewall.Before(func(called string) {
		if called == "Rules" {
			if reads++; reads == 2 {
				l.firewall.Before(nil)
				l.firewall.SetRules(s.sdk, namedRule("theirs"), namedRule("first"), namedRule("second"))
			}
		}
	})
	l.Expect(t, "DELETE", s.path+"/rules/2", "", apitest.Operator, 200, "", `"digest":null`, `"pos":null`, "Someone else changed")
}
