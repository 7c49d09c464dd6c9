package draft_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// remove is a change of one rule of the VM web.
const remove = `[{"scope":{"kind":"vm","id":1},"action":"delete_rule","pos":0}]`

func (f *fixture) cancel(id int64) {
	f.t.Helper()
	if _, err := f.queue.RequestCancel(as(f.t, identity.Operator), id, identity.VisibleTeams{All: true}); err != nil {
		f.t.Fatal(err)
	}
}

// wantFree tells whether a scope is held by nobody.
func (f *fixture) wantFree() {
	f.t.Helper()
	if n := f.Value("SELECT count(*) FROM firewall_draft_locks"); n != "0" {
		f.t.Errorf("%s scopes are still held", n)
	}
}

// A draft whose job ends before it has begun is open again, whoever asks first.
func TestJobCanceledBeforeItBegan(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(f *fixture, d draft.Draft) error{
		"read":     func(f *fixture, d draft.Draft) error { _, err := f.Get(as(t, identity.Viewer), d.ID); return err },
		"replaced": func(f *fixture, d draft.Draft) error { return f.replace(d) },
		"deleted":  func(f *fixture, d draft.Draft) error { return f.Delete(as(t, identity.Admin), d.ID) },
		"another draft": func(f *fixture, _ draft.Draft) error {
			_, err := f.Commit(as(t, identity.Admin), f.draft(remove).ID, time.Hour, nil)
			f.Exec("DELETE FROM firewall_drafts WHERE status = 'committing'")
			return err
		},
		"nobody": func(f *fixture, _ draft.Draft) error { return f.Settle(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			d := f.draft(remove)
			f.cancel(f.commit(d, time.Hour))
			if err := ask(f, d); err != nil {
				t.Error(err)
			}
			f.wantFree()
			if name == "deleted" {
				return
			}
			now := f.becomes(d.ID, "open")
			if name != "replaced" && (now.Outcome == nil || !strings.Contains(*now.Outcome, "nothing was changed")) {
				t.Errorf("the outcome is %v", now.Outcome)
			}
		})
	}
}

func (f *fixture) replace(d draft.Draft) error {
	_, err := f.Replace(as(f.t, identity.Admin), d.ID, d.Version, nil, d.Changes)
	return err
}

// A draft whose job was given up, or deleted, when something was changed already is put back by another job, unless it was confirmed.
func TestJobThatLeavesItsDraft(t *testing.T) {
	t.Parallel()
	const ended = "UPDATE jobs SET status = 'unknown', finished_at = now()"
	for name, test := range map[string]struct {
		lost      string
		confirmed bool
	}{
		"given up":            {ended, false},
		"deleted":             {"DELETE FROM jobs", false},
		"given up, confirmed": {ended, true},
		"deleted, confirmed":  {"DELETE FROM jobs", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before, d := f.states(), f.draft(edits)
			want, end, status := before, job.Failed, "undone"
			if test.confirmed {
				want, end, status = f.expected(d), job.Succeeded, "applied"
			}
			p := f.process(f.serve())
			f.commit(d, time.Hour)
			f.becomes(d.ID, "waiting")
			p.Kill()
			if test.confirmed {
				if _, err := f.Confirm(as(t, identity.Operator), d.ID); err != nil {
					t.Fatal(err)
				}
			}
			f.Exec(test.lost)
			f.start()
			now := f.becomes(d.ID, status)
			f.ends(*now.JobID, end)
			if got := f.states(); got != want {
				t.Errorf("it stands\n%s\nwant\n%s", got, want)
			}
			if f.Value("SELECT requested_by IS NULL FROM jobs WHERE id = $1", *now.JobID) != "true" {
				t.Error("the job is that of who came upon the draft")
			}
		})
	}
}

// Jobs that all leave the draft come to an end, which gives its scopes back.
func TestJobsThatAllLeaveTheDraft(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	d := f.draft(edits)
	p := f.process(f.serve())
	f.commit(d, time.Hour)
	f.becomes(d.ID, "waiting")
	p.Kill()
	for range 4 {
		f.Exec("UPDATE jobs SET status = 'failed', finished_at = now()")
		if err := f.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.wantFree()
	if now := f.becomes(d.ID, "unknown"); !strings.Contains(*now.Outcome, "it is unknown which of the changes are in effect") {
		t.Error(*now.Outcome)
	}
	if err := f.Delete(as(t, identity.Admin), d.ID); err != nil {
		t.Error(err)
	}
}

// A draft whose host leaves the cluster for another team is carried on by that host.
func TestHostLeavesTheCluster(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	before, d := f.states(), f.draft(edits)
	id := f.commit(d, time.Hour)
	f.becomes(d.ID, "waiting")
	f.Exec("UPDATE hosts SET cluster_id = NULL")
	f.cancel(id)
	f.ends(id, job.Canceled)
	if got := f.states(); got != before {
		t.Errorf("it stands\n%s\nwant\n%s", got, before)
	}
}

// both takes a rule of the VM db away and gives one to the VM web; it is put back by CreateRule and DeleteRule.
const both = `[{"scope":{"kind":"vm","id":2},"action":"delete_rule","pos":0},
	{"scope":{"kind":"vm","id":1},"action":"create_rule","pos":0,"rule":{"type":"in","action":"DROP","enable":1,"proto":"tcp","dport":"25"}}]`

// A scope that the hypervisor refuses to put back for good does not keep the others from it, nor anybody waiting.
func TestScopeThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range []plugin.ErrorKind{plugin.Invalid, plugin.Refused, plugin.Unsupported, plugin.NotFound} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Retry = 2 * time.Millisecond
			f.start()
			d := f.draft(both)
			want := f.with(d.Scopes[:1]) // that of the VM db
			id := f.commit(d, time.Hour)
			f.becomes(d.ID, "waiting")
			f.at.FailCall("CreateRule", plugin.Errorf(kind, "no such macro"))
			f.cancel(id)
			j := f.ends(id, job.Unknown)
			if got := f.states(); got != want {
				t.Errorf("it stands\n%s\nwant\n%s", got, want)
			}
			for _, text := range []string{"the VM db", "no such macro", "0: in ACCEPT proto tcp dport 22", "0: in ACCEPT proto tcp dport 80"} {
				if !strings.Contains(j.Error, text) {
					t.Errorf("the job does not say %q: %s", text, j.Error)
				}
			}
			if strings.Contains(j.Error, "omeone else") || strings.Contains(j.Error, "VM web") {
				t.Errorf("the job says %s", j.Error)
			}
		})
	}
}

// A refusal that ends is no last word.
func TestScopeThatIsRefusedForAWhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	before, d := f.states(), f.draft(both)
	id := f.commit(d, time.Hour)
	f.becomes(d.ID, "waiting")
	f.at.FailCall("CreateRule", plugin.Errorf(plugin.Refused, "no quorum"))
	f.cancel(id)
	waittest.Until(t, "it is noted", func() bool { return strings.Contains(f.transcript(id), "trying again until it does") })
	f.at.FailCall("CreateRule", nil)
	f.ends(id, job.Canceled)
	if got := f.states(); got != before {
		t.Errorf("it stands\n%s\nwant\n%s", got, before)
	}
}

// A node that the hypervisor does not find any more does not keep the others from being put back.
func TestNodeIsRemovedWhileTheDraftWaits(t *testing.T) {
	t.Parallel()
	t.Run("known", func(t *testing.T) { t.Parallel(); nodeRemoved(t, func(*fixture) {}) })
	t.Run("gone from the inventory", func(t *testing.T) {
		t.Parallel()
		nodeRemoved(t, func(f *fixture) { f.Exec("DELETE FROM nodes WHERE name = 'node2'") })
	})
}

func nodeRemoved(t *testing.T, also func(f *fixture)) {
	t.Helper()
	f := newFixture(t)
	f.Retry = 2 * time.Millisecond
	f.start()
	node := sdk.Scope{Kind: sdk.NodeScope, Node: "node2"}
	before, d := f.states(), f.draft(`[{"scope":{"kind":"node","node":"node2"},"action":"create_rule",
		"rule":{"type":"in","action":"ACCEPT","enable":1,"proto":"tcp","dport":"22"}},
		{"scope":{"kind":"vm","id":1},"action":"delete_rule","pos":0}]`)
	id := f.commit(d, time.Hour)
	f.becomes(d.ID, "waiting")
	f.at.RemoveScope(node)
	also(f)
	f.cancel(id)
	f.ends(id, job.Canceled)
	if now := f.becomes(d.ID, "undone"); !strings.Contains(*now.Outcome, "the node node2 no longer exists") {
		t.Error(*now.Outcome)
	}
	if got := f.states(); got != before {
		t.Errorf("it stands\n%s\nwant\n%s", got, before)
	}
}

// A VM that is destroyed takes its rules along; the draft goes on with the others.
func TestGuestIsDestroyedWhileTheDraftWaits(t *testing.T) {
	t.Parallel()
	for _, confirmed := range []bool{true, false} {
		t.Run(fmt.Sprint("confirmed ", confirmed), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.start()
			d := f.draft(both)
			id := f.commit(d, time.Hour)
			f.becomes(d.ID, "waiting")
			f.at.RemoveScope(f.guests["web"])
			f.Exec("DELETE FROM guests WHERE name = 'web'")
			f.guests["web"] = f.guests["db"] // only that is left to be looked at
			end, status, want := job.Canceled, "undone", "0: in ACCEPT proto tcp dport 22"
			if confirmed {
				end, status, want = job.Succeeded, "applied", "0: in ACCEPT proto tcp dport 80"
				if _, err := f.Confirm(as(t, identity.Viewer), d.ID); problem.CodeOf(err) != problem.CodeForbidden {
					t.Errorf("a viewer confirms: %v", err)
				}
				if _, err := f.Confirm(as(t, identity.Operator), d.ID); err != nil {
					t.Error(err)
				}
			} else {
				f.cancel(id)
			}
			f.ends(id, end)
			now := f.becomes(d.ID, status)
			if !strings.Contains(*now.Outcome, "the VM web no longer exists") || strings.Contains(*now.Outcome, "omeone else") {
				t.Error(*now.Outcome)
			}
			if got := f.states(); !strings.Contains(got, want) {
				t.Errorf("it stands\n%s", got)
			}
			if !confirmed {
				if _, err := f.Commit(as(t, identity.Operator), d.ID, time.Hour, nil); problem.CodeOf(err) != problem.CodeNotFound {
					t.Errorf("a draft of a VM that is gone is committed: %v", err)
				}
				rest := changes(t, `[{"scope":{"kind":"vm","id":2},"action":"delete_rule","pos":0}]`)
				if _, err := f.Replace(as(t, identity.Operator), d.ID, d.Version, nil, rest); err != nil {
					t.Error(err)
				}
			}
			if err := f.Delete(as(t, identity.Operator), d.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// Before anything was changed it is enough to say so.
func TestGuestIsDestroyedBeforeTheDraftBegins(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before, d := f.states(), f.draft(both)
	id := f.commit(d, time.Hour)
	f.Exec("DELETE FROM guests WHERE name = 'web'")
	f.start()
	f.ends(id, job.Failed)
	if now := f.becomes(d.ID, "open"); *now.Outcome != "the VM web no longer exists; nothing was done" {
		t.Error(*now.Outcome)
	}
	if got := f.states(); got != before {
		t.Errorf("it stands\n%s\nwant\n%s", got, before)
	}
}

// postpone has a draft that waits do so for as long as its test takes.
func (f *fixture) postpone(id int64) {
	f.t.Helper()
	f.becomes(id, "waiting")
	f.Exec("UPDATE firewall_drafts SET deadline = deadline + interval '1 hour' WHERE id = $1", id)
}

// A node without a host of its own is asked for by way of another: that it goes away puts everything back.
func TestNodeGoesAwayWhileTheDraftWaits(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a host that does not respond: make check runs it")
	}
	t.Parallel()
	f := newFixture(t)
	before, d := f.states(), f.draft(remove)
	id := f.commit(d, 30*time.Second) // the nodes are asked every second
	f.start()
	f.postpone(d.ID)
	f.cluster.SetFault("nodestatus", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route to host")})
	j := f.ends(id, job.Failed)
	if !strings.Contains(j.Error, "the node node2 no longer answers") {
		t.Error(j.Error)
	}
	if got := f.states(); got != before {
		t.Errorf("it stands\n%s\nwant\n%s", got, before)
	}
}

// A node whose host may only be looked at is asked like the others: by a new connection of its own, or by way of another host where that
// did not get through before either.
func TestNodeThatMayOnlyBeLookedAtGoesAway(t *testing.T) {
	t.Parallel()
	gone := memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route to host")}
	for name, one := range map[string]struct {
		before    memdriver.Fault
		noted, by string
	}{
		"its host answers":         {memdriver.Fault{}, "2 of 2 hosts of the cluster answer, plus 0 other nodes", "the host 2"},
		"its host does not answer": {gone, "1 of 2 hosts of the cluster answer, plus 1 other node", "the node node2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			second := f.driver.Add("second.mem:8006", memdriver.Spec{})
			second.SetFault("certificate", one.before)
			f.Exec(`INSERT INTO hosts (team_id, cluster_id, driver, name, address, entry_node, status)
				VALUES (1, 1, 'mem', 'second', 'second.mem:8006', 'node2', 'online')`)
			before, d := f.states(), f.draft(remove)
			id := f.commit(d, 30*time.Second) // the nodes are asked every second
			f.start()
			f.postpone(d.ID)
			waittest.Until(t, "it is noted that "+one.noted, func() bool { return strings.Contains(f.transcript(id), one.noted) })
			second.SetFault("certificate", gone)
			if one.by != "the host 2" {
				f.cluster.SetFault("nodestatus", gone)
			}
			j := f.ends(id, job.Failed)
			if !strings.Contains(j.Error, one.by+" no longer answers") {
				t.Error(j.Error)
			}
			if got := f.states(); got != before {
				t.Errorf("it stands\n%s\nwant\n%s", got, before)
			}
		})
	}
}
