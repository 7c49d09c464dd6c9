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
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// reuse destroys the VM web at the hypervisor and makes another one under its id, which no poll has seen; its firewall is as given.
func (f *fixture) reuse(rules ...sdk.Rule) {
	f.t.Helper()
	ref := f.cluster.Guests()[0]
	f.cluster.Remove(ref.ID)
	f.cluster.NewGuestAs(hypervisor.VM, hypervisor.GuestRunning, ref.ID)
	f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name, g.Node = "other", ref.Node })
	f.at.SetRules(f.guests["web"], rules...)
}

// state is the firewall of what has the number of the VM web, and rules its text.
func (f *fixture) state() sdk.State {
	f.t.Helper()
	fw, err := f.backend.Open(f.t.Context(), f.cluster.Target(endpoint.Monitoring))
	if err != nil {
		f.t.Fatal(err)
	}
	s, err := sdk.ReadState(f.t.Context(), fw, f.guests["web"])
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func (f *fixture) rules() string { return strings.Join(draft.Text(f.state()), "; ") }

// Where a VM's number is another one's between two polls, nothing is written to that: not when a draft is committed, not when its job
// begins, and not when it is put back, whether the other one has its own firewall or none yet.
func TestNumberOfGuestIsUsedAgain(t *testing.T) {
	t.Parallel()
	before := []sdk.Rule{rule("ACCEPT", "22"), rule("ACCEPT", "80"), rule("DROP", "23")} // the same as the draft was made for
	t.Run("before it is committed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		d := f.draft(both)
		f.reuse(before...)
		was := f.rules()
		if _, err := f.Commit(as(t, identity.Admin), d.ID, time.Hour, new(d.Name)); problem.CodeOf(err) != problem.CodeNotFound ||
			!strings.Contains(err.Error(), `now called "other"`) {
			t.Error(err)
		}
		if got := f.rules(); got != was {
			t.Errorf("the other VM has %s and not %s", got, was)
		}
	})
	t.Run("before its job begins", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		d := f.draft(both)
		id := f.commit(d, time.Hour)
		f.reuse(before...)
		was := f.rules()
		f.start()
		f.ends(id, job.Failed)
		if now := f.becomes(d.ID, "open"); *now.Outcome != "the VM web no longer exists; nothing was done" {
			t.Error(*now.Outcome)
		}
		if got := f.rules(); got != was {
			t.Errorf("the other VM has %s and not %s", got, was)
		}
	})
	for name, other := range map[string][]sdk.Rule{"its own": {rule("ACCEPT", "22"), rule("DROP", "23")}, "as before": before, "none": nil} {
		t.Run("while it waits, "+name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.start()
			changes := both
			if other == nil { // the draft leaves nothing, as a new VM has it
				changes = "[" + strings.Repeat(`{"scope":{"kind":"vm","id":1},"action":"delete_rule","pos":0},`, 2) + remove[1:]
			}
			d := f.draft(changes)
			id := f.commit(d, time.Hour)
			f.becomes(d.ID, "waiting")
			f.reuse(other...)
			was := f.rules()
			f.cancel(id)
			f.ends(id, job.Canceled)
			if now := f.becomes(d.ID, "undone"); !strings.Contains(*now.Outcome, "the VM web no longer exists") {
				t.Error(*now.Outcome)
			}
			if got := f.rules(); got != was {
				t.Errorf("the other VM has %s and not %s", got, was)
			}
		})
	}
}

// rename gives the VM web another name at the hypervisor.
func (f *fixture) rename(name string) {
	f.cluster.Change(f.cluster.Guests()[0].ID, func(g *hypervisor.Guest) { g.Name = name })
}

// A VM that is renamed while a draft waits, or is made, has what the draft has made of its firewall, which tells that it is the same one:
// it is put back, or kept. That holds when the service is killed at any request of making it and of putting it back.
func TestRenamedWhileADraftIsTriedOut(t *testing.T) {
	t.Parallel()
	for n := range requests {
		t.Run(fmt.Sprint("making, ", n), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before, d := f.states(), f.draft(strings.ReplaceAll(few, `"id":2`, `"id":1`))
			want := f.expected(d)
			reached, release := f.stop(n)
			defer release()
			p := f.process(f.serve())
			id := f.commit(d, time.Hour)
			f.reaches(reached)
			p.Kill()
			release() // which carries out the request of the dead one
			waittest.Until(t, "the request of the dead one is carried out", func() bool { return f.states() != before })
			f.rename("renamed")
			f.start()
			f.becomes(d.ID, "waiting")
			if got := f.states(); got != want {
				t.Errorf("it stands\n%s\nwant\n%s\n%s", got, want, f.transcript(id))
			}
			if n%2 == 0 {
				f.cancel(id)
				f.ends(id, job.Canceled)
				want = before
			} else {
				if _, err := f.Confirm(as(t, identity.Operator), d.ID); err != nil {
					t.Fatal(err)
				}
				f.ends(id, job.Succeeded)
			}
			if got := f.states(); got != want {
				t.Errorf("it stands\n%s\nwant\n%s\n%s", got, want, f.transcript(id))
			}
		})
		t.Run(fmt.Sprint("putting back, ", n), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before, d := f.states(), f.draft(few)
			p := f.process(f.serve())
			id := f.commit(d, time.Hour)
			f.becomes(d.ID, "waiting")
			f.rename("renamed")
			reached, release := f.stop(n)
			defer release()
			f.cancel(id)
			f.reaches(reached)
			p.Kill()
			f.start()
			release()
			f.ends(id, job.Canceled)
			if got := f.states(); got != before {
				t.Errorf("it stands\n%s\nwant\n%s\n%s", got, before, f.transcript(id))
			}
			if now := f.becomes(d.ID, "undone"); strings.Contains(*now.Outcome, "no longer exists") ||
				!strings.Contains(f.transcript(id), `the VM web is now called "renamed"`) {
				t.Errorf("%s\n%s", *now.Outcome, f.transcript(id))
			}
		})
	}
}

// One that was renamed and whose firewall somebody else has changed as well cannot be told from another one.
func TestRenamedAndChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	d := f.draft(both)
	id := f.commit(d, time.Hour)
	f.becomes(d.ID, "waiting")
	f.rename("renamed")
	f.at.SetRules(f.guests["web"], rule("DROP", "9"))
	was := f.rules()
	f.cancel(id)
	f.ends(id, job.Canceled)
	if now := f.becomes(d.ID, "undone"); !strings.Contains(*now.Outcome, "the VM web no longer exists") {
		t.Error(*now.Outcome)
	}
	if got := f.rules(); got != was {
		t.Errorf("it has %s and not %s", got, was)
	}
}
