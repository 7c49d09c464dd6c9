package draft_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestConfirmedDraftStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	d := f.draft(edits)
	want := f.expected(d)
	id := f.commit(d, time.Hour)
	waits := f.becomes(d.ID, "waiting")
	if got := f.states(); got != want || waits.Deadline == nil || *waits.Window != 3600 {
		t.Errorf("it stands\n%s\nwant\n%s", got, want)
	}
	if _, err := f.Confirm(as(t, identity.Viewer), d.ID); problem.CodeOf(err) != problem.CodeForbidden {
		t.Errorf("a viewer confirms: %v", err)
	}
	if _, err := f.Confirm(as(t, identity.Operator), d.ID); err != nil {
		t.Error(err)
	}
	f.ends(id, job.Succeeded)
	if got := f.states(); got != want {
		t.Errorf("it stands\n%s\nwant\n%s", got, want)
	}
	if now := f.becomes(d.ID, "applied"); now.ConfirmedBy == nil || *now.ConfirmedBy != "ann@example.com" {
		t.Errorf("%+v", now)
	}
	if _, err := f.Commit(as(t, identity.Admin), d.ID, time.Hour, nil); problem.CodeOf(err) != problem.CodeInvalidState {
		t.Errorf("it is committed again: %v", err)
	}
}

func TestUnconfirmedDraftIsPutBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	before := f.states()
	d := f.draft(edits)
	want := f.expected(d)
	id := f.commit(d, time.Hour)
	waittest.Until(t, "the changes are made", func() bool { return f.states() == want })
	f.expire(d.ID)
	j := f.ends(id, job.Failed)
	if got := f.states(); got != before || !strings.Contains(j.Error, "was not confirmed") {
		t.Errorf("%s; it stands\n%s\nwant\n%s", j.Error, got, before)
	}
	if _, err := f.Confirm(as(t, identity.Operator), d.ID); problem.CodeOf(err) != problem.CodeInvalidState {
		t.Errorf("it is confirmed too late: %v", err)
	}
	// It can be tried again, and a cancel puts it back.
	id = f.commit(f.becomes(d.ID, "undone"), time.Hour)
	f.becomes(d.ID, "waiting")
	if _, err := f.queue.RequestCancel(as(t, identity.Operator), id, identity.VisibleTeams{All: true}); err != nil {
		t.Fatal(err)
	}
	f.ends(id, job.Canceled)
	if got := f.states(); got != before {
		t.Errorf("it stands\n%s\nwant\n%s", got, before)
	}
}

// What is of the cluster, of nodes and of groups goes the same way.
func TestDraftOfAllScopes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	before := f.states()
	d := f.draft(`[{"scope":{"kind":"group","group":"shared"},"action":"create_group","comment":"for all"},
		{"scope":{"kind":"group","group":"shared"},"action":"create_rule","rule":{"type":"in","action":"ACCEPT","enable":1,"macro":"SSH"}},
		{"scope":{"kind":"cluster"},"action":"create_ipset","name":"bad","members":[{"cidr":"198.51.100.0/24"}]},
		{"scope":{"kind":"cluster"},"action":"create_rule","rule":{"type":"in","action":"DROP","enable":1,"source":"+bad"}},
		{"scope":{"kind":"cluster"},"action":"change_options","options":{"enable":"1","policy_in":"DROP"}},
		{"scope":{"kind":"node","node":"node1"},"action":"create_rule","rule":{"type":"group","action":"shared","enable":1}},
		{"scope":{"kind":"vm","id":2},"action":"create_rule","pos":3,"rule":{"type":"group","action":"shared","enable":1}}]`)
	if d.Role != "admin" {
		t.Errorf("it needs the role %s", d.Role)
	}
	want := f.expected(d)
	_, err := f.Commit(as(t, identity.Operator), d.ID, time.Hour, new("try"))
	if problem.CodeOf(err) != problem.CodeForbidden {
		t.Errorf("an operator commits: %v", err)
	}
	_, err = f.Commit(as(t, identity.Admin), d.ID, time.Hour, nil)
	if problem.CodeOf(err) != problem.CodeSelfTarget || problem.From(err).Members["confirm_phrase"] != "try" {
		t.Errorf("it is not to be confirmed: %v", err)
	}
	answer := plan.ResultIn(func() error {
		_, err := f.Commit(plan.WithRequest(as(t, identity.Admin), plan.Request{Only: true}), d.ID, time.Hour, nil)
		return err
	}())
	if answer == nil || !answer.Plan.IsSelf || len(answer.Plan.Effects) < 5 || f.states() != before {
		t.Errorf("the plan is %+v", answer)
	}
	id := f.commit(d, time.Hour)
	waittest.Until(t, "the changes are made", func() bool { return f.states() == want })
	f.expire(d.ID)
	f.ends(id, job.Failed)
	if got := f.states(); got != before {
		t.Errorf("it stands\n%s\nwant\n%s", got, before)
	}
}

// Somebody else's change is kept, whenever it comes, and the job says what stands and what would.
func TestForeignChangeIsKept(t *testing.T) {
	t.Parallel()
	foreign := []sdk.Rule{rule("ACCEPT", "22"), rule("ACCEPT", "5432")}
	for _, when := range []string{"before", "in the middle", "in the window", "confirmed", "putting back"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			d := f.draft(edits)
			kept := f.with([]draft.ChangedScope{{Kind: "vm", Name: "db", After: []string{"0: in ACCEPT proto tcp dport 22",
				"1: in ACCEPT proto tcp dport 5432"}}})
			change := func() { f.at.SetRules(f.guests["db"], foreign...) }
			want, status := job.Unknown, "unknown"
			if when == "before" {
				want, status = job.Failed, "open"
			}
			id := f.commit(d, time.Hour)
			switch when {
			case "before":
				change()
				f.start()
			case "in the middle":
				reached, release := f.stop(5)
				f.start()
				f.reaches(reached)
				change()
				release()
			case "putting back":
				f.start()
				f.becomes(d.ID, "waiting")
				reached, release := f.stop(2)
				f.expire(d.ID)
				f.reaches(reached)
				change()
				release()
			default:
				f.start()
				f.becomes(d.ID, "waiting")
				change()
				if when == "confirmed" {
					if _, err := f.Confirm(as(t, identity.Operator), d.ID); err != nil {
						t.Fatal(err)
					}
				} else if _, err := f.queue.RequestCancel(as(t, identity.Operator), id, identity.VisibleTeams{All: true}); err != nil {
					t.Fatal(err)
				}
			}
			j := f.ends(id, want)
			f.becomes(d.ID, status)
			for _, text := range []string{"5432", "only this one", "2: in DROP proto tcp dport 23"} {
				if !strings.Contains(j.Error, text) {
					t.Errorf("the job does not say %q: %s", text, j.Error)
				}
			}
			got := f.states()
			if when != "confirmed" && got != kept {
				t.Errorf("it stands\n%s\nwant\n%s\n%s", got, kept, f.transcript(id))
			}
			if when == "confirmed" && (!strings.Contains(got, "5432") || !strings.Contains(got, "friends")) {
				t.Errorf("it stands\n%s", got)
			}
		})
	}
}

// A hypervisor that is away at any moment delays, and what is to be put back is put back as soon as it answers.
func TestHypervisorAway(t *testing.T) {
	t.Parallel()
	away := plugin.Errorf(plugin.Unreachable, "nothing answers")
	for _, when := range []string{"committing", "committing for long", "waiting", "putting back"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before := f.states()
			d := f.draft(edits)
			want := f.expected(d)
			window := time.Hour
			if when == "committing for long" {
				window = time.Second
			}
			id := f.commit(d, window)
			pause := func() {
				reached, release := f.stop(3)
				f.start()
				f.reaches(reached)
				f.at.Fail(away)
				release()
			}
			switch when {
			case "committing":
				pause()
				waittest.Until(t, "it is noted", func() bool { return strings.Contains(f.transcript(id), "does not answer") })
				f.at.Fail(nil)
				f.becomes(d.ID, "waiting")
				if got := f.states(); got != want {
					t.Errorf("it stands\n%s\nwant\n%s", got, want)
				}
				return
			case "committing for long":
				pause()
			case "waiting":
				f.start()
				f.becomes(d.ID, "waiting")
				f.at.Fail(away)
				f.expire(d.ID)
			case "putting back":
				f.start()
				f.becomes(d.ID, "waiting")
				reached, release := f.stop(3)
				f.expire(d.ID)
				f.reaches(reached)
				f.at.Fail(away)
				release()
			}
			waittest.Until(t, "it is noted", func() bool { return strings.Contains(f.transcript(id), "trying again until it does") })
			f.at.Fail(nil)
			j := f.ends(id, job.Failed)
			if got := f.states(); got != before || !strings.Contains(j.Error, "as soon as the hypervisor answered") {
				t.Errorf("%s; it stands\n%s\nwant\n%s", j.Error, got, before)
			}
		})
	}
}

// What the hypervisor refuses in the middle is no reason to leave half of it.
func TestRefusedChangeIsPutBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before := f.states()
	d := f.draft(edits)
	f.at.FailCall("DeleteRule", plugin.Errorf(plugin.Denied, "the token may not"))
	id := f.commit(d, time.Hour)
	f.start()
	waittest.Until(t, "it is put back", func() bool { return strings.Contains(f.transcript(id), "undoing all changes") })
	f.at.FailCall("DeleteRule", nil)
	j := f.ends(id, job.Failed)
	if got := f.states(); got != before || !strings.Contains(j.Error, "the token may not") {
		t.Errorf("%s; it stands\n%s\nwant\n%s", j.Error, got, before)
	}
}

// An answer that is lost is no answer: what stands is read, and each change is made once.
func TestLostAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("loses responses: make check runs it")
	}
	t.Parallel()
	f := newFixture(t)
	f.start()
	for method := range changing {
		f.at.LoseAnswer(method, plugin.Errorf(plugin.Timeout, "no answer"))
	}
	before, d := f.states(), f.draft(edits)
	want := f.expected(d)
	id := f.commit(d, time.Hour)
	f.becomes(d.ID, "waiting")
	if got := f.states(); got != want {
		t.Errorf("it stands\n%s\nwant\n%s", got, want)
	}
	if _, err := f.queue.RequestCancel(as(t, identity.Operator), id, identity.VisibleTeams{All: true}); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "it is put back", func() bool { return f.states() == before })
}

// Of two drafts on one scope one is refused while the other is tried out, and those of other scopes are not.
func TestOneDraftAtAScope(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	one := func(vm string) draft.Draft {
		return f.draft(`[{"scope":{"kind":"vm","id":` + vm + `},"action":"delete_rule","pos":0}]`)
	}
	a, b, other := one("1"), one("1"), one("2")
	f.commit(a, time.Hour)
	f.becomes(a.ID, "waiting")
	if _, err := f.Commit(as(t, identity.Admin), b.ID, time.Hour, nil); problem.CodeOf(err) != problem.CodeFirewallBusy {
		t.Errorf("a second draft: %v", err)
	}
	f.commit(other, time.Hour) // the one slot for jobs is free
	f.becomes(other.ID, "waiting")
	if err := f.Delete(as(t, identity.Admin), a.ID); problem.CodeOf(err) != problem.CodeInvalidState {
		t.Errorf("a draft in its window is deleted: %v", err)
	}
	if _, err := f.Confirm(as(t, identity.Operator), a.ID); err != nil {
		t.Error(err)
	}
	waittest.Until(t, "it has ended", func() bool { return f.becomes(a.ID, "applied").Outcome != nil })
	if _, err := f.Commit(as(t, identity.Admin), b.ID, time.Hour, nil); problem.CodeOf(err) != problem.CodeDigestConflict {
		t.Errorf("a draft of an older firewall: %v", err)
	}
	now, err := f.Replace(as(t, identity.Operator), b.ID, b.Version, nil, b.Changes)
	if err != nil || now.Version != 2 || len(now.Scopes[0].After) != 1 {
		t.Errorf("%+v, %v", now, err)
	}
	if _, err := f.Replace(as(t, identity.Operator), b.ID, b.Version, nil, b.Changes); problem.CodeOf(err) != problem.CodeDigestConflict {
		t.Errorf("an older version is replaced: %v", err)
	}
	if err := f.Delete(as(t, identity.Operator), b.ID); err != nil {
		t.Error(err)
	}
}

// What something outside a draft names is deleted only when that is confirmed.
func TestWhatIsInUseIsAskedFor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	f.keep(f.draft(`[{"scope":{"kind":"cluster"},"action":"create_alias","name":"office","cidr":"192.0.2.0/24"},
		{"scope":{"kind":"cluster"},"action":"create_alias","name":"spare","cidr":"192.0.2.0/24"}]`))
	f.at.SetRules(f.guests["web"], sdk.Rule{Direction: "in", Action: "ACCEPT", Enabled: true, Source: "office"})
	f.at.SetRules(f.guests["db"])
	commit := func(body string) error {
		d := f.draft(body)
		_, err := f.Commit(plan.WithRequest(as(t, identity.Admin), plan.Request{Only: true}), d.ID, time.Hour, nil)
		answer := plan.ResultIn(err)
		if answer == nil {
			t.Fatal(err)
		}
		_, err = f.Commit(as(t, identity.Admin), d.ID, time.Hour, nil)
		told := strings.Contains(strings.Join(answer.Plan.Warnings, " "),
			"The alias office, which the draft deletes, is still used in 1 place")
		if told != strings.Contains(fmt.Sprint(err), "office") {
			t.Errorf("told %t and refused with %v", told, err)
		}
		return err
	}
	const office = `[{"scope":{"kind":"cluster"},"action":"delete_alias","name":"office"}`
	if err := commit(office + "]"); problem.CodeOf(err) != problem.CodeSelfTarget && problem.CodeOf(err) != problem.CodeInUse {
		t.Errorf("it is deleted: %v", err)
	}
	// A rule that the draft leaves, or makes, in its own scope counts as well.
	own := `[{"scope":{"kind":"cluster"},"action":"create_rule","rule":{"type":"in","action":"DROP","source":"spare"}},
		{"scope":{"kind":"cluster"},"action":"delete_alias","name":"spare"}]`
	_, err := f.Commit(as(t, identity.Admin), f.draft(own).ID, time.Hour, nil)
	if !strings.Contains(fmt.Sprint(err), "the alias spare, which the draft deletes, is still used in 1 place") {
		t.Errorf("its own rule: %v", err)
	}
	for name, body := range map[string]string{"spare": `[{"scope":{"kind":"cluster"},"action":"delete_alias","name":"spare"}]`,
		"the rule goes with it": office + `,{"scope":{"kind":"vm","id":1},"action":"delete_rule","pos":0}]`} {
		if err := commit(body); problem.CodeOf(err) == problem.CodeInUse {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Changes that no order makes without opening something for a moment are made when that is confirmed.
func TestOrderThatPromisesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	const of = `{"scope":{"kind":"vm","id":1},"action":`
	f.keep(f.draft("[" + of + `"create_alias","name":"office","cidr":"192.0.2.0/24"},` + of +
		`"create_alias","name":"lab","cidr":"198.51.100.0/24"},` + of +
		`"create_alias","name":"spare","cidr":"198.51.100.0/24"}]`))
	f.at.SetRules(f.guests["web"], sdk.Rule{Direction: "in", Action: "DROP", Enabled: true, Source: "lab"},
		sdk.Rule{Direction: "in", Action: "ACCEPT", Enabled: true, Source: "office"})
	for body, asks := range map[string]bool{
		"[" + of + `"change_alias","name":"office","cidr":"192.0.2.128/25"}]`: false,
		"[" + of + `"change_alias","name":"office","cidr":"192.0.2.64/26"},` + of + // one that no rule names
			`"change_alias","name":"spare","cidr":"203.0.113.128/25"}]`: false,
		"[" + of + `"change_alias","name":"office","cidr":"203.0.113.0/24"},` + of +
			`"change_alias","name":"lab","cidr":"203.0.113.128/25"}]`: true,
	} {
		d := f.draft(body)
		_, err := f.Commit(plan.WithRequest(as(t, identity.Admin), plan.Request{Only: true}), d.ID, time.Hour, nil)
		answer := plan.ResultIn(err)
		if answer == nil {
			t.Fatal(err)
		}
		warned := strings.Contains(strings.Join(answer.Plan.Warnings, " "), "While the changes are applied, traffic may pass")
		if warned != asks || answer.Plan.ConfirmPhrase != nil != asks {
			t.Errorf("%s: the plan is %+v", body, answer.Plan)
		}
		if asks {
			_, err := f.Commit(as(t, identity.Admin), d.ID, time.Hour, nil)
			if problem.CodeOf(err) != problem.CodeConfirmRequired || problem.From(err).Members["confirm_phrase"] != d.Name {
				t.Errorf("it is not to be confirmed: %v", err)
			}
		}
		f.keep(d)
	}
}

// A draft that keeps the nodes from hearing each other is refused until that is confirmed, by whatever traffic the hypervisor's
// clusters live on.
func TestClustersOwnTrafficIsCut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	f.at.SetClusterPort(7777)
	f.keep(f.draft(`[{"scope":{"kind":"cluster"},"action":"change_options","options":{"enable":"1"}}]`))
	for i, node := range []string{"node1", "node2"} {
		f.at.SetNICs(sdk.Scope{Kind: sdk.NodeScope, Node: node}, membackend.NIC{Name: "eth0", Address: fmt.Sprintf("192.0.2.%d", i+1)})
		f.at.SetRules(sdk.Scope{Kind: sdk.NodeScope, Node: node}, rule("ACCEPT", "1:65535"))
	}
	for port, cut := range map[string]bool{"7777": true, "7778": false} {
		d := f.draft(`[{"scope":{"kind":"node","node":"node2"},"action":"create_rule","rule":{"type":"in","action":"DROP","enable":1,
			"proto":"tcp","dport":"` + port + `"}}]`)
		_, err := f.Commit(plan.WithRequest(as(t, identity.Admin), plan.Request{Only: true}), d.ID, time.Hour, nil)
		answer := plan.ResultIn(err)
		if answer == nil {
			t.Fatal(err)
		}
		const way = "the cluster traffic from the node node1 to the node node2 (the cluster's own, tcp port 7777)"
		if text := fmt.Sprintf("%+v", answer.Plan); strings.Contains(text, "This breaks "+way) != cut {
			t.Errorf("port %s: the plan is %s", port, text)
		}
		if err := f.Delete(as(t, identity.Admin), d.ID); err != nil {
			t.Fatal(err)
		}
	}
}
