package draft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
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
// begins, and not when it is put back.
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
		if now := f.becomes(d.ID, "open"); *now.Outcome != "the VM web is not there any more; nothing was done" {
			t.Error(*now.Outcome)
		}
		if got := f.rules(); got != was {
			t.Errorf("the other VM has %s and not %s", got, was)
		}
	})
	t.Run("while it waits", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.start()
		d := f.draft(both)
		id := f.commit(d, time.Hour)
		f.becomes(d.ID, "waiting")
		f.reuse(f.state().Rules...) // as with the draft, which could be put back
		was := f.rules()
		f.cancel(id)
		f.ends(id, job.Canceled)
		if now := f.becomes(d.ID, "undone"); !strings.Contains(*now.Outcome, "the VM web is not there any more") {
			t.Error(*now.Outcome)
		}
		if got := f.rules(); got != was {
			t.Errorf("the other VM has %s and not %s", got, was)
		}
	})
}
