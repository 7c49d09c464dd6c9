package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	webRules = `"content":{"rules":[{"type":"in","action":"ACCEPT","enable":1,"proto":"tcp","dport":"80,443"},` +
		`{"type":"in","action":"ACCEPT","enable":1,"macro":"SSH","source":"office"}],"aliases":[{"name":"office","cidr":"192.0.2.0/24"}]}`
	firewallTemplates = "firewall/templates"
)

func TestFirewallTemplates(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	l.Exec("INSERT INTO teams (id, name, slug) VALUES (3, 'Three', 'three')")
	other := apitest.In(3, identity.Operator)
	l.Expect(t, "POST", firewallTemplates, `{"name":"web",`+webRules+`}`, apitest.Operator, 201, "", `"id":1`, `"team_id":1`,
		`"shared":false`,
		`"version":1`, `"dport":"80,443"`, `"description":null`)
	l.Expect(t, "POST", firewallTemplates, `{"name":"all","shared":true,"description":"for all",`+webRules+`}`, apitest.Operator, 201, "",
		`"id":2`,
		`"shared":true`)
	l.Expect(t, "POST", firewallTemplates, `{"name":"three","team_id":3,`+webRules+`}`, other, 201, "", `"id":3`, `"team_id":3`)
	// Whose they are.
	l.Expect(t, "GET", firewallTemplates+"?per_page=1", "", other, 200, "", `"name":"all"`)
	l.Expect(t, "GET", firewallTemplates+"/1", "", other, 404, "not_found")
	l.Expect(t, "GET", firewallTemplates+"/2", "", other, 200, "", `"description":"for all"`)
	l.Expect(t, "GET", firewallTemplates+"/3", "", apitest.Viewer, 200, "")
	l.Expect(t, "PUT", firewallTemplates+"/2", `{"version":1,"name":"mine",`+webRules+`}`, other, 404, "not_found")
	l.Expect(t, "DELETE", firewallTemplates+"/2", "", other, 404, "not_found")
	l.Expect(t, "DELETE", firewallTemplates+"/1", "", other, 404, "not_found")
	l.Expect(t, "POST", firewallTemplates, `{"name":"x",`+webRules+`}`, other, 404, "not_found", "team not found")
	l.Expect(t, "POST", firewallTemplates, `{"name":"x","team_id":3,"shared":true,`+webRules+`}`, other, 422, "invalid", `"shared"`)
	l.Expect(t, "POST", firewallTemplates, `{"name":"x","team_id":77,`+webRules+`}`, apitest.Owner, 404, "not_found", "team not found")
	l.Expect(t, "POST", firewallTemplates, `{"name":"x",`+webRules+`}`, apitest.Viewer, 403, "forbidden")
	l.Expect(t, "POST", firewallTemplates, `{"name":"x",`+webRules+`}`, nil, 401, "unauthenticated")
	// A change of what was read is one of what is there.
	l.Expect(t, "PUT", firewallTemplates+"/1", `{"version":1,"name":"pages","content":{"rules":[{"type":"in","action":"DROP"}]}}`,
		apitest.Operator, 200,
		"", `"version":2`, `"name":"pages"`)
	l.Expect(t, "PUT", firewallTemplates+"/1", `{"version":1,"name":"web",`+webRules+`}`, apitest.Operator, 409, "digest_conflict",
		`"current":{"id":1`,
		`"version":2`)
	was := l.Value("SELECT details->'before'->>'name' FROM audit WHERE action = 'firewall.template_change' AND result = 'ok'")
	if was != "web" {
		t.Errorf("the audit log has the name %q before", was)
	}
	// A team that is deleted leaves its templates to the default team, and to nobody else.
	l.Exec("DELETE FROM teams WHERE id = 3")
	l.Expect(t, "GET", firewallTemplates+"/3", "", apitest.Viewer, 200, "", `"team_id":1`, `"shared":false`)
	l.Expect(t, "DELETE", firewallTemplates+"/3", "", apitest.Operator, 204, "")
	l.Expect(t, "DELETE", firewallTemplates+"/3", "", apitest.Operator, 404, "not_found")
}

func TestFirewallTemplateRequestsThatAreWrong(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	for _, test := range []struct{ name, body, says string }{
		{"nothing", ``, `body`},
		{"no JSON", `{`, `body`},
		{"no content", `{"name":"x"}`, `"content"`},
		{"no rules", `{"name":"x","content":{"rules":[]}}`, `"rules"`},
		{"a rule that is none", `{"name":"x","content":{"rules":[{"type":"in"}]}}`, `"rules",0,"action"`},
		{"an unknown key", `{"name":"x","content":{"rules":[{"type":"in","action":"DROP","nonsense":1}]}}`, `"nonsense"`},
		{"a name with a bell", `{"name":"a\u0007","content":{"rules":[{"type":"in","action":"DROP"}]}}`, `"name"`},
		{"NUL in a comment", `{"name":"x","content":{"rules":[{"type":"in","action":"DROP","comment":"\u0000"}]}}`, `"rules",0,"comment"`},
		{"an alias named ..", `{"name":"x","content":{"rules":[{"type":"in","action":"DROP"}],"aliases":[{"name":"..","cidr":"::1"}]}}`,
			`"aliases",0,"name"`},
		{"a huge team", `{"name":"x","team_id":99999999999999999999,` + webRules + `}`, `"team_id"`},
	} {
		l.Expect(t, "POST", firewallTemplates, test.body, apitest.Operator, 422, "invalid", test.says)
	}
	l.Expect(t, "GET", firewallTemplates+"/0", "", apitest.Viewer, 422, "invalid")
	l.Expect(t, "GET", firewallTemplates+"/99999999999999999999", "", apitest.Viewer, 422, "invalid")
	if n := l.Value("SELECT count(*) FROM firewall_templates"); n != "0" {
		t.Errorf("%s templates", n)
	}
}

func TestFirewallTemplateBecomesADraft(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	l.Expect(t, "POST", firewallTemplates, `{"name":"web",`+webRules+`}`, apitest.Operator, 201, "")
	into := func(scope string) string { return fmt.Sprintf(`{"host_id":1,"scopes":[%s]}`, scope) }
	vm := fmt.Sprintf(`{"kind":"vm","id":%s}`, strings.TrimPrefix(l.VM("running"), "vms/"))
	drafts := firewallTemplates + "/1/drafts"
	l.Expect(t, "POST", drafts, into(vm), apitest.Operator, 201, "", `"name":"web"`, `"status":"open"`, `"action":"create_alias"`,
		`"role":"operator"`)
	l.Expect(t, "POST", drafts, fmt.Sprintf(`{"host_id":1,"name":"mine","replace":true,"scopes":[%s]}`, vm), apitest.Operator, 201, "",
		`"name":"mine"`)
	l.Expect(t, "POST", drafts, into(`{"kind":"cluster"}`), apitest.Operator, 403, "forbidden")
	l.Expect(t, "POST", drafts, into(`{"kind":"cluster"}`), apitest.Admin, 201, "", `"role":"admin"`)
	l.Expect(t, "POST", drafts, into(`{"kind":"node","node":"node1"}`), apitest.Admin, 501, "unsupported_at_scope", `"scope":"node"`)
	l.Expect(t, "POST", drafts, into(`{"kind":"node","node":"node9"}`), apitest.Admin, 404, "not_found")
	l.Expect(t, "POST", drafts, into(`{"kind":"vm"}`), apitest.Operator, 422, "invalid", `"scopes",0,"id"`)
	l.Expect(t, "POST", drafts, into(``), apitest.Operator, 422, "invalid", `"scopes"`)
	l.Expect(t, "POST", drafts, into(vm), apitest.Viewer, 403, "forbidden")
	l.Expect(t, "POST", drafts, into(vm), foreign, 404, "not_found")
	l.Expect(t, "POST", firewallTemplates+"/9/drafts", into(vm), apitest.Operator, 404, "not_found")
	// A shared template does not open what is another team's.
	l.Exec("UPDATE firewall_templates SET shared = true")
	l.Expect(t, "POST", drafts, into(vm), foreign, 404, "not_found")
	l.firewall.FailCall("Rules", plugin.Errorf(plugin.Unreachable, "no route"))
	l.Expect(t, "POST", drafts, into(vm), apitest.Operator, 502, "hypervisor_error")
	l.firewall.FailCall("Rules", nil)
	if n := l.Value("SELECT count(*) FROM firewall_drafts"); n != "3" {
		t.Errorf("%s drafts", n)
	}
}

// Drafts whose bodies are hostile, and those of others.
func TestFirewallDraftRequestsThatAreWrong(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	vm := strings.TrimPrefix(l.VM("running"), "vms/")
	with := func(change string) string { return fmt.Sprintf(`{"host_id":1,"name":"x","changes":[%s]}`, change) }
	on := `{"scope":{"kind":"vm","id":` + vm + `},`
	const drafts = "firewall/drafts"
	l.firewall.FailCall("CreateRule", plugin.Errorf(plugin.Internal, "this was not to be asked"))
	for _, test := range []struct {
		name, body string
		status     int
		code, says string
	}{
		{"no JSON", `{"host_id":`, 422, "invalid", "body"},
		{"no changes", `{"host_id":1,"name":"x","changes":[]}`, 422, "invalid", `"changes"`},
		{"an unknown action", with(on + `"action":"explode"}`), 422, "invalid", `"action"`},
		{"an unknown scope", with(`{"scope":{"kind":"rack"},"action":"create_rule"}`), 422, "invalid", `"kind"`},
		{"a VM without id", with(`{"scope":{"kind":"vm"},"action":"create_rule"}`), 422, "invalid", `"changes",0,"scope","id"`},
		{"a cluster with id", with(`{"scope":{"kind":"cluster","id":1},"action":"create_rule"}`), 422, "invalid", `"id"`},
		{"a place beyond the end", with(on + `"action":"create_rule","pos":99,"rule":{"type":"in","action":"DROP"}}`), 422, "invalid", `"pos"`},
		{"a huge place", with(on + `"action":"delete_rule","pos":18446744073709551616}`), 422, "invalid", `"pos"`},
		{"a negative place", with(on + `"action":"delete_rule","pos":-1}`), 422, "invalid", `"pos"`},
		{"a rule of nothing", with(on + `"action":"create_rule","rule":{}}`), 422, "invalid", `"changes",0,"rule"`},
		{"NUL in a comment", with(on + `"action":"create_rule","rule":{"type":"in","action":"DROP","comment":"a\u0000b"}}`), 422, "invalid",
			`"comment"`},
		{"a line end in a source", with(on + `"action":"create_rule","rule":{"type":"in","action":"DROP","source":"a\nb"}}`), 422, "invalid",
			`"source"`},
		{"a set named ..", with(on + `"action":"create_ipset","name":".."}`), 422, "invalid", `"name"`},
		{"an alias of nothing", with(on + `"action":"create_alias","name":"a"}`), 422, "invalid", `"cidr"`},
		{"an option with NUL", with(on + `"action":"change_options","options":{"a\u0000":"1"}}`), 422, "invalid", `"options"`},
		{"a guest that is not there", with(`{"scope":{"kind":"vm","id":99},"action":"delete_rule","pos":0}`), 404, "not_found", ""},
		{"a host that is not there", `{"host_id":99,"name":"x","changes":[` + on + `"action":"delete_rule","pos":0}]}`, 404, "not_found", ""},
		{"a group that is not there", with(`{"scope":{"kind":"group","group":"none"},"action":"create_rule","rule":{"type":"in","action":` +
			`"DROP"}}`), 422, "invalid", "group not found"},
	} {
		l.Expect(t, "POST", drafts, test.body, apitest.Admin, test.status, test.code, test.says)
	}
	if n := l.Value("SELECT count(*) FROM firewall_drafts"); n != "0" {
		t.Errorf("%s drafts", n)
	}
	// Another team has no draft of this one, in no way.
	good := with(on + `"action":"create_rule","rule":{"type":"in","action":"DROP"}}`)
	l.Expect(t, "POST", drafts, good, foreign, 404, "not_found")
	l.Expect(t, "POST", drafts, good, apitest.Operator, 201, "", `"id":1`)
	l.Expect(t, "GET", drafts, "", foreign, 200, "", "[]")
	for _, w := range []struct{ method, path, body string }{
		{"GET", "/1", ""}, {"PUT", "/1", `{"version":1,"changes":[` + on + `"action":"delete_rule","pos":0}]}`}, {"DELETE", "/1", ""},
		{"POST", "/1/commit", "{}"}, {"POST", "/1/confirm", ""},
	} {
		l.Expect(t, w.method, drafts+w.path, w.body, foreign, 404, "not_found")
		if w.method != "GET" {
			l.Expect(t, w.method, drafts+w.path, w.body, apitest.Viewer, 403, "forbidden")
		}
	}
	for _, body := range []string{`{"window_seconds":9}`, `{"window_seconds":3601}`, `{"window_seconds":1e30}`, `{"confirm":7}`, `[]`} {
		l.Expect(t, "POST", drafts+"/1/commit", body, apitest.Operator, 422, "invalid")
	}
	l.Expect(t, "POST", drafts+"/1/confirm", "", apitest.Operator, 409, "invalid_state")
	l.Expect(t, "PUT", drafts+"/1", `{"version":7,"changes":[`+on+`"action":"delete_rule","pos":0}]}`, apitest.Operator, 409,
		"digest_conflict",
		`"current"`)
}
