package firewalltest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/hostler/hostler/core/api/requesttest"
)

// drafted is a change of the VM that is good whatever its firewall has.
func drafted(f *requesttest.Fixture) string {
	return fmt.Sprintf(
		`{"scope":{"kind":"vm","id":%d},"action":"create_rule","pos":0,"rule":{"type":"in","action":"DROP","enable":1,"proto":"tcp",`+
			`"dport":"23","comment":"text"}}`, f.VM)
}

// draftID is the id of a new draft.
func draftID(f *requesttest.Fixture) string { return newDraft(f, drafted(f)) }

func newDraft(f *requesttest.Fixture, change string) string {
	var made struct{ ID int64 }
	answer := f.Expect("POST", "/api/v1/firewall/drafts", draftBody(f, change), 201)
	if err := json.Unmarshal(answer.Body, &made); err != nil {
		f.T.Fatal(err)
	}
	return fmt.Sprint(made.ID)
}

func draftBody(f *requesttest.Fixture, change string) string {
	return fmt.Sprintf(`{"host_id":%d,"name":%q,"changes":[%s]}`, f.Host, name, change)
}

// draftChanges are those of drafts and templates.
func draftChanges(f *requesttest.Fixture) []requesttest.Change {
	// That of a group which nothing else changes: a draft is refused once its scope has changed.
	commits := map[string]string{"draft_id": newDraft(f, `{"scope":{"kind":"group","group":"drafted"},"action":"create_group"}`)}
	return []requesttest.Change{
		{Operation: "create_firewall_draft", Body: draftBody(f, drafted(f))},
		{Operation: "change_firewall_draft", Body: fmt.Sprintf(`{"version":1,"name":"text","changes":[%s]}`, drafted(f))},
		{Operation: "commit_firewall_draft", Path: commits, Body: fmt.Sprintf(`{"window_seconds":60,"confirm":%q}`, name)},
		{Operation: "confirm_firewall_draft", Path: map[string]string{"draft_id": draftID(f)}, Status: http.StatusConflict,
			Code: "invalid_state", Why: "no job waits for it; the tests of drafts confirm those of which one does"},
		{Operation: "delete_firewall_draft", Spoils: true},
		{Operation: "create_firewall_template", Body: fmt.Sprintf(`{"name":%q,"description":"text",%s}`, name, templated)},
		{Operation: "change_firewall_template", Body: fmt.Sprintf(`{"version":1,"name":"for all","shared":true,%s}`, templated)},
		{Operation: "create_firewall_draft_of_template", Body: fmt.Sprintf(`{"host_id":%d,"scopes":[{"kind":"vm","id":%d}],"name":%q,"pos":1}`,
			f.Host, f.VM, name)},
		{Operation: "delete_firewall_template", Spoils: true},
	}
}

// templated is the content of templates: one rule that no scope has yet.
const templated = `"content":{"rules":[{"type":"in","action":"DROP","enable":1,"proto":"tcp","dport":"515","comment":"text"}]}`

// templateID is the id of a new template, which all teams may read: so it tells nothing of the one that owns it.
func templateID(f *requesttest.Fixture) string {
	var made struct{ ID int64 }
	f.Expect("POST", "/api/v1/firewall/templates", fmt.Sprintf(`{"name":%q,%s}`, name, templated), 201)
	answer := f.Expect("POST", "/api/v1/firewall/templates", fmt.Sprintf(`{"name":"for all","shared":true,%s}`, templated), 201)
	if err := json.Unmarshal(answer.Body, &made); err != nil {
		f.T.Fatal(err)
	}
	return fmt.Sprint(made.ID)
}
