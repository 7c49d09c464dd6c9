package draft_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// webServer has a rule that the fixture's VMs have, with another comment, and two that they have not.
const webServer = `{
	"rules":[{"type":"in","action":"ACCEPT","enable":1,"source":"office","macro":"SSH"},
		{"type":"in","action":"ACCEPT","enable":1,"proto":"tcp","dport":"80","comment":"pages"},
		{"type":"in","action":"DROP","enable":1,"source":"+bad"}],
	"aliases":[{"name":"office","cidr":"192.0.2.0/24"}],
	"ipsets":[{"name":"bad","members":[{"cidr":"198.51.100.0/24"},{"cidr":"198.51.100.9","nomatch":true}]}],
	"options":{"policy_in":"DROP","enable":"1"}}`

func content(t *testing.T, body string) (c draft.Content) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// fill makes a draft of a content.
func (f *fixture) fill(body string, replace bool, pos int, scopes ...draft.ScopeRef) (draft.Draft, error) {
	f.t.Helper()
	return f.Create(as(f.t, identity.Admin), draft.Request{HostID: 1, Name: "try", Filling: &draft.Filling{Content: content(f.t, body),
		Scopes: scopes, Replace: replace, Pos: pos}})
}

// keep carries a draft out.
func (f *fixture) keep(d draft.Draft) {
	f.t.Helper()
	id := f.commit(d, time.Hour)
	f.becomes(d.ID, "waiting")
	if _, err := f.Confirm(as(f.t, identity.Admin), d.ID); err != nil {
		f.t.Fatal(err)
	}
	f.ends(id, job.Succeeded)
}

func actions(d draft.Draft) string {
	var all []string
	for _, c := range d.Changes {
		all = append(all, c.Action)
	}
	return strings.Join(all, " ")
}

func TestFillingAddsWhatIsMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	web, db := draft.ScopeRef{Kind: "vm", ID: 1}, draft.ScopeRef{Kind: "vm", ID: 2}
	f.at.SetRules(f.guests["db"])
	d, err := f.fill(webServer, false, 1, web, db, web)
	if err != nil {
		t.Fatal(err)
	}
	const missing = "create_alias create_ipset create_rule create_rule"
	if got := actions(d); got != missing+" change_options "+missing+" create_rule change_options" {
		t.Errorf("its changes are %s", got)
	}
	after := []string{"option enable 1", "option policy_in DROP", "alias office 192.0.2.0/24", "ipset bad", "ipset bad 198.51.100.0/24",
		"ipset bad !198.51.100.9", "0: in ACCEPT proto tcp dport 22", "1: in ACCEPT macro SSH source office", "2: in DROP source +bad",
		"3: in ACCEPT proto tcp dport 80", "4: in DROP proto tcp dport 23"}
	if len(d.Scopes) != 2 || !slices.Equal(d.Scopes[0].After, after) {
		t.Errorf("%d scopes; after it stands\n%s", len(d.Scopes), strings.Join(d.Scopes[0].After, "\n"))
	}
	// What is changed like this can be sent again as it is.
	again, err := f.Replace(as(t, identity.Admin), d.ID, d.Version, nil, d.Changes)
	if err != nil || actions(again) != actions(d) {
		t.Errorf("sent again: %s, %v", actions(again), err)
	}
}

func TestFillingReplaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	on := draft.ScopeRef{Kind: "vm", ID: 1}
	f.keep(f.draft(`[{"scope":{"kind":"vm","id":1},"action":"create_alias","name":"office","cidr":"203.0.113.0/24"},
		{"scope":{"kind":"vm","id":1},"action":"create_alias","name":"home","cidr":"203.0.113.1"},
		{"scope":{"kind":"vm","id":1},"action":"create_ipset","name":"bad","members":[{"cidr":"198.51.100.9"},{"cidr":"203.0.113.7"}]}]`))
	d, err := f.fill(webServer, true, 0, on)
	if err != nil {
		t.Fatal(err)
	}
	if got := actions(d); got != "change_alias remove_member change_member add_member delete_rule delete_rule delete_rule create_rule "+
		"create_rule create_rule change_options" {
		t.Errorf("its changes are %s", got)
	}
	want := f.expected(d)
	f.keep(d)
	after := []string{"option enable 1", "option policy_in DROP", "alias home 203.0.113.1", "alias office 192.0.2.0/24", "ipset bad",
		"ipset bad 198.51.100.0/24", "ipset bad !198.51.100.9", "0: in ACCEPT macro SSH source office",
		"1: in ACCEPT proto tcp dport 80 # pages", "2: in DROP source +bad"}
	if got := f.states(); got != want || !slices.Equal(d.Scopes[0].After, after) {
		t.Errorf("it stands\n%s\nwant\n%s\nas in\n%s", got, want, strings.Join(d.Scopes[0].After, "\n"))
	}
	for _, replace := range []bool{true, false} {
		if _, err := f.fill(webServer, replace, 0, on); problem.CodeOf(err) != problem.CodeInvalidState {
			t.Errorf("filled again: %v", err)
		}
	}
}

func TestFillingThatCannotBe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, test := range []struct {
		name, body string
		on         draft.ScopeRef
		code       problem.Code
		says       string
	}{
		{"a node has no aliases", webServer, draft.ScopeRef{Kind: "node", Node: "node1"}, problem.CodeUnsupportedAtScope, "aliases"},
		{"no such group", webServer, draft.ScopeRef{Kind: "group", Group: "none"}, problem.CodeInvalid, "group not found"},
		{"a group in a group", `{"rules":[{"type":"group","action":"other"}]}`, draft.ScopeRef{Kind: "group", Group: "web"}, problem.CodeInvalid,
			"cannot be applied to the group web"},
		{"no such VM", webServer, draft.ScopeRef{Kind: "vm", ID: 99}, problem.CodeNotFound, ""},
		{"no id", webServer, draft.ScopeRef{Kind: "vm"}, problem.CodeInvalid, "required for VMs and apps"},
	} {
		f.at.AddScope(sdk.Scope{Kind: sdk.GroupScope, Group: "web"})
		_, err := f.fill(test.body, false, 0, test.on)
		if problem.CodeOf(err) != test.code {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		p := problem.From(err)
		if test.code == problem.CodeInvalid && (!strings.Contains(p.Faults[0].Msg, test.says) || p.Faults[0].Loc[1] != "scopes") {
			t.Errorf("%s: %+v", test.name, p.Faults)
		}
	}
}

func TestContentCheck(t *testing.T) {
	t.Parallel()
	if err := content(t, webServer).Check(); err != nil {
		t.Error(err)
	}
	for _, test := range []struct{ name, body, loc string }{
		{"a rule without action", `{"rules":[{"type":"in","action":"ACCEPT"},{"type":"in"}]}`, "[body rules 1 action]"},
		{"a rule with NUL", `{"rules":[{"type":"in","action":"ACCEPT","comment":"a\u0000"}]}`, "[body rules 0 comment]"},
		{"aliases of one name", `{"aliases":[{"name":"a","cidr":"192.0.2.1"},{"name":"A","cidr":"192.0.2.2"}]}`, "[body aliases 1 name]"},
		{"an alias named ..", `{"aliases":[{"name":"../x","cidr":"192.0.2.1"}]}`, "[body aliases 0 name]"},
		{"sets of one name", `{"ipsets":[{"name":"a"},{"name":"a"}]}`, "[body ipsets 1 name]"},
		{"a member twice", `{"ipsets":[{"name":"a","members":[{"cidr":"192.0.2.1"},{"cidr":"192.0.2.1"}]}]}`, "[body ipsets 0 members 1 cidr]"},
		{"an option that is no switch", `{"options":{"enable":"yes"}}`, "[body options enable]"},
	} {
		p := problem.From(content(t, test.body).Check())
		if len(p.Faults) == 0 || fmt.Sprint(p.Faults[0].Loc) != test.loc {
			t.Errorf("%s: %+v", test.name, p)
		}
	}
}

// What hypervisors rewrite is in a draft as they keep it.
func TestFormsOfADraft(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	d := f.draft(`[{"scope":{"kind":"vm","id":1},"action":"create_alias","name":"one","cidr":"192.0.2.1/32","comment":" a "},
		{"scope":{"kind":"vm","id":1},"action":"create_ipset","name":"all","comment":" b ","members":[{"cidr":"10.0.0.5/24","comment":" c "},
			{"cidr":"2001:db8::1/128"},{"cidr":"one"},{"cidr":"0.0.0.0/0"}]},
		{"scope":{"kind":"vm","id":1},"action":"create_rule","rule":{"type":"in","action":"DROP","macro":"ssh","comment":" d "}}]`)
	want := []string{"alias one 192.0.2.1 # a", "ipset all # b", "ipset all 0.0.0.0/0", "ipset all 10.0.0.0/24 # c", "ipset all 2001:db8::1",
		"ipset all one", "0: (off) in DROP macro SSH # d"}
	if got := d.Scopes[0].After[:len(want)]; !slices.Equal(got, want) {
		t.Errorf("it is\n%s", strings.Join(got, "\n"))
	}
	for _, test := range []struct{ name, body, loc string }{
		{"an alias of nothing", `[{"scope":{"kind":"vm","id":1},"action":"create_alias","name":"a","cidr":"hello"}]`, "[body changes 0 cidr]"},
		{"a macro that is none", `[{"scope":{"kind":"vm","id":1},"action":"create_rule","rule":{"type":"in","action":"DROP","macro":"none"}}]`,
			"[body changes 0 rule macro]"},
		{"ports that the firewall refuses", `[{"scope":{"kind":"vm","id":1},"action":"create_alias","name":"a","cidr":"192.0.2.1"},
			{"scope":{"kind":"vm","id":1},"action":"create_rule","rule":{"type":"in","action":"DROP","dport":"80"}}]`,
			"[body changes 1 rule dport]"},
		{"an action that the firewall refuses", `[{"scope":{"kind":"cluster"},"action":"create_rule","rule":{"type":"in","action":"EXPLODE"}}]`,
			"[body changes 0 rule action]"},
		{"a member twice, in two forms", `[{"scope":{"kind":"vm","id":1},"action":"create_ipset","name":"a",
			"members":[{"cidr":"10.0.0.1/24"},{"cidr":"10.0.0.2/24"}]}]`, "[body changes 0 members 1 cidr]"},
	} {
		_, err := f.Create(as(t, identity.Admin), draft.Request{HostID: 1, Name: "try", Changes: changes(t, test.body)})
		if p := problem.From(err); len(p.Faults) == 0 || fmt.Sprint(p.Faults[0].Loc) != test.loc {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A template with rules that the firewall refuses makes no draft.
func TestFillingWithRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.fill(`{"rules":[{"type":"in","action":"ACCEPT","dport":"80"}]}`, false, 0, draft.ScopeRef{Kind: "vm", ID: 1})
	if p := problem.From(err); p.Code != problem.CodeInvalid || len(p.Faults) == 0 || fmt.Sprint(p.Faults[0].Loc) != "[body dport]" {
		t.Errorf("%v", err)
	}
}

func TestFillingWhatIsThereOtherwise(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	f.keep(f.draft(`[{"scope":{"kind":"vm","id":1},"action":"create_alias","name":"Office","cidr":"203.0.113.0/24"},
		{"scope":{"kind":"vm","id":1},"action":"create_ipset","name":"bad","members":[{"cidr":"198.51.100.9"}]}]`))
	on := draft.ScopeRef{Kind: "vm", ID: 1}
	for name, body := range map[string]string{
		"already has the value 203.0.113.0/24": `{"rules":[{"type":"in","action":"DROP"}],
			"aliases":[{"name":"office","cidr":"192.0.2.0/24"}]}`,
		"198.51.100.9 with the opposite": `{"rules":[{"type":"in","action":"DROP"}],
			"ipsets":[{"name":"bad","members":[{"cidr":"198.51.100.9/32","nomatch":true}]}]}`,
	} {
		_, err := f.fill(body, false, 0, on)
		if p := problem.From(err); len(p.Faults) == 0 || !strings.Contains(p.Faults[0].Msg, name) {
			t.Errorf("%s: %v", name, err)
		}
		if d, err := f.fill(body, true, 0, on); err != nil || !strings.HasPrefix(actions(d), "change_") {
			t.Errorf("%s: replaced by %s, %v", name, actions(d), err)
		}
	}
	// The same in another case or form is there already.
	d, err := f.fill(`{"rules":[{"type":"in","action":"DROP"}],"aliases":[{"name":"OFFICE","cidr":"203.0.113.0/24"}],
		"ipsets":[{"name":"bad","members":[{"cidr":"198.51.100.9/32"}]}]}`, false, 0, on)
	if err != nil || actions(d) != "create_rule" {
		t.Errorf("filled with what is there: %s, %v", actions(d), err)
	}
}

// Long lists that differ are told in time and memory that grow with their length.
func TestDifferencesOfLongLists(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var members []string
	for i := range 5000 {
		members = append(members, fmt.Sprintf(`{"cidr":"10.%d.%d.1"}`, i/250, i%250))
	}
	var body []string
	for some := range slices.Chunk(members, 1000) {
		body = append(body, `{"scope":{"kind":"vm","id":1},"action":"add_member","name":"all","members":[`+strings.Join(some, ",")+`]}`)
	}
	d := f.draft(`[{"scope":{"kind":"vm","id":1},"action":"create_ipset","name":"all"},` + strings.Join(body, ",") + "]")
	if got := d.Scopes[0].Diff; len(got) != 5001 || !strings.HasPrefix(got[5000], "+ ipset all 10.") {
		t.Errorf("%d lines differ", len(got))
	}
}
