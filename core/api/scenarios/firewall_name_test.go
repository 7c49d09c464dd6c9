package scenarios

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/identity"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// namedRule scopes have aliases and IP sets.
func (l *firewallLab) withNames() (all []firewallPlace) {
	for _, s := range l.scopes() {
		if s.sdk.Kind == sdk.ClusterScope || s.sdk.Kind == sdk.GuestScope {
			all = append(all, s)
		}
	}
	return all
}

func TestFirewallAliasesAndIPSets(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	for _, s := range l.withNames() {
		who := callerAs(s.least)
		ask := func(method, url, body string, status int, code string, contains ...string) {
			t.Helper()
			l.Expect(t, method, s.path+url, body, who, status, code, contains...)
		}
		ask("GET", "/aliases", "", 200, "", "[]")
		ask("POST", "/aliases", `{"name":"backup","cidr":"192.0.2.10","comment":"cellar"}`, 200, "", `{"name":"backup","cidr":"192.0.2.10",`,
			`"comment":"cellar","digest":"`)
		ask("POST", "/aliases", `{"name":"BACKUP","cidr":"192.0.2.11"}`, 409, "conflict")
		ask("PUT", "/aliases/backup", `{"cidr":"192.0.2.12","comment":null}`, 200, "", `"cidr":"192.0.2.12","comment":null`)
		ask("PUT", "/aliases/backup", `{"cidr":"192.0.2.12","rename":"store"}`, 200, "", `{"name":"store"`)
		ask("PUT", "/aliases/backup", `{"cidr":"192.0.2.12"}`, 404, "not_found")
		ask("DELETE", "/aliases/backup", "", 404, "not_found")
		ask("DELETE", "/aliases/store?digest="+l.digest(s.path+"/aliases"), "", 200, "", `{"name":"store"`)
		ask("GET", "/aliases", "", 200, "", "[]")

		ask("POST", "/ipsets", `{"name":"management","comment":"admins"}`, 200, "", `{"name":"management","comment":"admins","digest":"`)
		ask("POST", "/ipsets", `{"name":"management"}`, 409, "conflict")
		ask("POST", "/ipsets/management/members", `{"cidr":"192.0.2.0/24"}`, 200, "", `{"cidr":"192.0.2.0/24","nomatch":0,"comment":null`)
		ask("POST", "/ipsets/management/members", `{"cidr":"192.0.2.0/24"}`, 409, "conflict")
		ask("POST", "/ipsets/none/members", `{"cidr":"192.0.2.0/24"}`, 404, "not_found")
		ask("POST", "/ipsets/management/members", `{"cidr":"no such alias"}`, 422, "invalid", `["body","cidr"]`)
		ask("PUT", "/ipsets/management/members/192.0.2.0/24", `{"nomatch":1,"comment":"all"}`, 200, "", `"nomatch":1,"comment":"all"`)
		ask("PUT", "/ipsets/management/members/192.0.2.0%2F24", `{"nomatch":null}`, 200, "", `"nomatch":0,"comment":"all"`)
		ask("PUT", "/ipsets/management/members/192.0.2.9", `{"nomatch":1}`, 404, "not_found")
		ask("PUT", "/ipsets/management/members/192.0.2.0/24", `{}`, 422, "invalid", "nothing_to_change")
		ask("GET", "/refs", "", 200, "", `{"type":"ipset","name":"management","ref":"+management"`)
		ask("DELETE", "/ipsets/management/members/192.0.2.0%2F24?digest="+l.digest(s.path+"/ipsets/management/members"), "", 200,
			"", `"comment":"all"`)
		ask("GET", "/ipsets/management/members", "", 200, "", "[]")
		ask("DELETE", "/ipsets/management", "", 200, "", `{"name":"management"`)
		for _, wrong := range []struct{ method, url, body, place string }{
			{"POST", "/aliases", `{"name":"-a","cidr":"nowhere"}`, `["body","name"]`},
			{"POST", "/aliases", `{"name":"a","cidr":"nowhere"}`, `["body","cidr"]`},
			{"POST", "/aliases", `{"name":"a","cidr":"fe80::1%eth0"}`, `["body","cidr"]`}, {"PUT", "/aliases/a", `{}`, `["body","cidr"]`},
			{"POST", "/ipsets", `{"name":"../a"}`, `["body","name"]`}, {"DELETE", "/aliases/..%2Fa", "", `["path","name"]`},
			{"POST", "/ipsets", `{"name":"a","comment":"a\nb"}`, `["body","comment"]`},
		} {
			ask(wrong.method, wrong.url, wrong.body, 422, "invalid", wrong.place)
		}
	}
}

// What rules name is not deleted, nor given another name, unless somebody says so by name.
func TestWhatIsInUseInAFirewall(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	cluster, vm := l.scopes()[2], l.scopes()[0]
	ask := func(method, url, body string, status int, code string, contains ...string) {
		t.Helper()
		l.Expect(t, method, "firewall/cluster/1"+url, body, apitest.Admin, status, code, contains...)
	}
	ask("POST", "/aliases", `{"name":"backup","cidr":"192.0.2.10"}`, 200, "")
	ask("POST", "/ipsets", `{"name":"management"}`, 200, "")
	ask("POST", "/ipsets", `{"name":"full"}`, 200, "")
	ask("POST", "/ipsets/full/members", `{"cidr":"backup"}`, 200, "")
	l.firewall.SetRules(vm.sdk, sdk.Rule{Direction: "in", Action: "ACCEPT", Source: "+management"},
		sdk.Rule{Direction: "in", Action: "ACCEPT", Destination: "backup"}, sdk.Rule{Direction: "group", Action: "web"})
	id := strings.Split(l.VM("running"), "/")[1]
	rule := func(pos string) string {
		return `{"scope":"vm","node":null,"group":null,"vm_id":` + id + `,"app_id":null,"guest":"running","kind":"rule","pos":` + pos
	}
	const said = `"confirm_phrase":"`
	ask("DELETE", "/aliases/backup", "", 409, "in_use", said+`backup"`, rule("1"), `"kind":"ipset_member","pos":null,"ipset":"full"`)
	ask("DELETE", "/aliases/backup?confirm=other", "", 409, "in_use")
	ask("PUT", "/aliases/backup", `{"cidr":"192.0.2.11","rename":"store"}`, 409, "in_use", rule("1"))
	ask("PUT", "/aliases/backup", `{"cidr":"192.0.2.11"}`, 200, "", `"cidr":"192.0.2.11"`)
	ask("PUT", "/aliases/backup?confirm=backup", `{"cidr":"192.0.2.11","rename":"store"}`, 200, "", `"name":"store"`)
	ask("DELETE", "/ipsets/management", "", 409, "in_use", said+`management"`, rule("0"), `"members":0`)
	ask("DELETE", "/ipsets/management?confirm=management", "", 200, "")
	ask("DELETE", "/ipsets/full", "", 409, "in_use", `"members":1`, `"places":[]`)
	ask("DELETE", "/ipsets/full?confirm=full", "", 200, "")
	ask("DELETE", "/groups/web", "", 409, "invalid_state", `"rules":3`)
	l.firewall.SetRules(sdk.Scope{Kind: sdk.GroupScope, Group: "web"})
	ask("DELETE", "/groups/web", "", 409, "in_use", rule("2"))
	ask("DELETE", "/groups/web?confirm=web", "", 200, "", `{"group":"web"`)
	l.firewall.SetIncomplete("the token sees no rules of guests")
	ask("DELETE", "/aliases/store", "", 409, "in_use", `"incomplete":"the token sees no rules of guests"`, `"places":[]`)
	ask("DELETE", "/aliases/store?confirm=store", "", 200, "")
	if got := l.AuditLog("firewall.ipset_delete"); !strings.Contains(got, "in_use") {
		t.Errorf("the audit log: %s", got)
	}
	l.wantOrder("the cluster's own", cluster.path, "first second third")
}

// Places of other teams are counted and not named.
func TestFirewallPlacesOfOtherTeams(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	l.Expect(t, "POST", "firewall/cluster/1/aliases", `{"name":"backup","cidr":"192.0.2.10"}`, apitest.Admin, 200, "")
	l.firewall.SetRules(l.scopes()[0].sdk, sdk.Rule{Direction: "in", Action: "ACCEPT", Source: "backup"})
	// The VM's host belongs to the default team, and the cluster's other one to the caller's.
	l.Exec(`INSERT INTO hosts (id, name, address, driver, team_id, cluster_id) OVERRIDING SYSTEM VALUE
		SELECT 99, 'theirs', 'theirs.mem:8006', driver, 1, cluster_id FROM hosts WHERE id = 1`)
	l.Exec("UPDATE guests SET host_id = 99 WHERE ref = $1", string(l.Refs["running"].ID))
	l.Exec("UPDATE hosts SET team_id = 2 WHERE id = 1")
	l.Expect(t, "DELETE", "firewall/cluster/1/aliases/backup", "", apitest.In(2, identity.Admin), 409, "in_use", `"others":1`, `"places":[]`)
	l.Expect(t, "DELETE", "firewall/cluster/1/aliases/backup?confirm=backup", "", apitest.In(2, identity.Admin), 200, "")
}

func TestFirewallGroupsAndMacros(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	ask := func(method, url, body string, as *apitest.Caller, status int, code string, contains ...string) {
		t.Helper()
		l.Expect(t, method, "firewall/cluster/1"+url, body, as, status, code, contains...)
	}
	ask("GET", "/groups", "", apitest.Viewer, 200, "", `[{"group":"web","comment":null,"digest":"`)
	ask("POST", "/groups", `{"group":"mail","comment":"all of them"}`, apitest.Admin, 200, "", `{"group":"mail","comment":"all of them"`)
	ask("POST", "/groups", `{"group":"mail"}`, apitest.Admin, 409, "conflict")
	ask("POST", "/groups", `{"group":"a b"}`, apitest.Admin, 422, "invalid", `["body","group"]`)
	ask("POST", "/groups", `{"group":"x"}`, apitest.Operator, 403, "forbidden")
	ask("DELETE", "/groups/none", "", apitest.Admin, 404, "not_found")
	ask("DELETE", "/groups/-x", "", apitest.Admin, 422, "invalid", `["path","group"]`)
	ask("DELETE", "/groups/mail", "", apitest.Operator, 403, "forbidden")
	ask("DELETE", "/groups/mail?digest="+l.digest("firewall/cluster/1/groups"), "", apitest.Admin, 200, "", `{"group":"mail"`)
	ask("GET", "/macros", "", apitest.Viewer, 200, "", `{"name":"SSH","description":"Secure shell traffic"}`)
}

func TestFirewallOptionsOfEachScope(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	for _, s := range l.scopes() {
		if s.sdk.Kind == sdk.GroupScope {
			continue
		}
		url, who := s.path+"/options", callerAs(s.least)
		l.Expect(t, "PUT", url, `{"enable":1,"policy_in":"DROP","log_level_in":"info","other":{"nosmurfs":"1"}}`, who, 200, "", `"enable":1`,
			`"policy_in":"DROP"`, `"log_level_in":"info"`, `"other":{"nosmurfs":"1"}`, `"digest":"`)
		l.Expect(t, "PUT", url, `{"policy_in":null,"delete":"log_level_in, nosmurfs"}`, who, 200, "", `"enable":1`, `"policy_in":null`,
			`"log_level_in":null`, `"other":{}`)
		l.Expect(t, "PUT", url, `{"enable":null,"other":{"nosmurfs":null}}`, who, 200, "", `"enable":null`)
		for body, at := range map[string]string{
			`{}`: "nothing_to_change", `{"enable":2}`: `["body","enable"]`, `{"policy_in":"drop"}`: `["body","policy_in"]`,
			`{"delete":"no name"}`: `["body","delete"]`, `{"delete":"enable","enable":1}`: `["body","delete"]`,
			`{"other":{"enable":"1"}}`: `["body","other"]`, `{"other":{"none_such":"1"}}`: "none_such", `{"speed":1}`: `["body","speed"]`,
		} {
			l.Expect(t, "PUT", url, body, who, 422, "invalid", at)
		}
	}
	if got := l.AuditLog("firewall.options_change"); !strings.Contains(got,
		`"before": {"enable": true, "nosmurfs": "1", "policy_in": "DROP"`) &&
		!strings.Contains(got, `"changed": ["enable"`) {
		t.Errorf("the audit log: %s", got)
	}
}
