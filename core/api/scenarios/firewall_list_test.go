package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Lists have how much there is of what drafts and templates consist of, and nothing of it, however much it is.
func TestListsOfFirewallDraftsAndTemplatesAreShort(t *testing.T) {
	t.Parallel()
	const copies, changes = 40, 150
	l := newFirewallLab(t)
	var rules []sdk.Rule
	var made, kept []string
	for i := range changes {
		rules = append(rules, namedRule(fmt.Sprint("rule ", i)))
		rule := fmt.Sprintf(`{"type":"in","action":"DROP","enable":1,"proto":"tcp","dport":"%d","comment":"canary"}`, 1000+i)
		kept = append(kept, rule)
		made = append(made, fmt.Sprintf(`{"scope":{"kind":"vm","id":%s},"action":"create_rule","pos":%d,"rule":%s}`,
			strings.TrimPrefix(l.VM("running"), "vms/"), 2*i, rule))
	}
	l.firewall.SetRules(l.scopes()[0].sdk, rules...)
	l.Expect(t, "POST", "firewall/drafts", `{"host_id":1,"name":"long","changes":[`+strings.Join(made, ",")+`]}`, apitest.Admin, 201, "")
	l.Exec(`INSERT INTO firewall_drafts (host_id, cluster_id, name, changes, scopes, role, outcome)
		SELECT host_id, cluster_id, name, changes, scopes, role, repeat('canary ', 10000) FROM firewall_drafts, generate_series(2, $1)`, copies)
	l.Expect(t, "POST", "firewall/templates", `{"name":"long","content":{"rules":[`+strings.Join(kept, ",")+`],
		"aliases":[{"name":"canary","cidr":"192.0.2.1"}]}}`, apitest.Admin, 201, "")
	l.Exec(`INSERT INTO firewall_templates (team_id, name, description, content, created_by)
		SELECT team_id, name, description, content, created_by FROM firewall_templates, generate_series(2, $1)`, copies)
	for url, counts := range map[string]string{
		"firewall/drafts?per_page=500":    fmt.Sprintf(`"change_count":%d,"scope_count":1,`, changes),
		"firewall/templates?per_page=500": fmt.Sprintf(`"rule_count":%d,"alias_count":1,"ipset_count":0,`, changes),
	} {
		body := string(l.Expect(t, "GET", url, "", apitest.Viewer, 200, "").Body)
		t.Logf("%s: %d bytes", url, len(body))
		if len(body) > copies*1200 || strings.Count(body, counts) != copies || strings.Contains(body, `"canary"`) {
			t.Errorf("%s: %d bytes for %d entries: %.1000s", url, len(body), copies, body)
		}
	}
}

// A team whose hosts have as many drafts as they may makes no further one; those that are over do not count.
func TestFirewallDraftsDoNotGatherWithoutBound(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	l.Exec(`INSERT INTO firewall_drafts (host_id, cluster_id, name, changes, scopes, role)
		SELECT h.id, h.cluster_id, 'x', '[]', '[]', 'admin' FROM hosts h, generate_series(1, 502) WHERE h.id = 1`)
	const body = `{"host_id":1,"name":"more","changes":[{"scope":{"kind":"cluster"},"action":"create_ipset","name":"x"}]}`
	l.Expect(t, "POST", "firewall/drafts", body, apitest.Admin, 409, "conflict", "502 drafts", "delete 3 first")
	l.Exec("UPDATE firewall_drafts SET status = CASE WHEN id % 2 = 0 THEN 'applied' ELSE 'undone' END WHERE id > 499")
	l.Expect(t, "POST", "firewall/drafts", body, apitest.Admin, 201, "")
}
