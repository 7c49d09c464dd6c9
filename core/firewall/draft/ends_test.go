package draft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
)

// remove is a change of one rule of the VM web.
const remove = `[{"scope":{"kind":"vm","id":1},"action":"delete_rule","pos":0}]`

func (f *fixture) cancel(id int64) {
	f.t.Helper()
	if _, err := f.queue.RequestCancel(as(f.t, identity.Operator), id, identity.Visible{All: true}); err != nil {
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
	if now := f.becomes(d.ID, "unknown"); !strings.Contains(*now.Outcome, "what stands is not known") {
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
