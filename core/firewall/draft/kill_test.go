package draft_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/plugin"
)

// few are changes that take five requests, and five to be put back.
const few = `[{"scope":{"kind":"vm","id":1},"action":"create_rule","pos":2,
	"rule":{"type":"in","action":"ACCEPT","enable":1,"proto":"tcp","dport":"443"}},
	{"scope":{"kind":"vm","id":1},"action":"delete_rule","pos":1},
	{"scope":{"kind":"vm","id":2},"action":"change_options","options":{"policy_in":"DROP"}}]`

const requests = 5

// A service that is killed at any request goes on: another instance makes what is left of the changes, or of putting them back, also when
// the request of the dead one is carried out only then.
func TestKilledAtEachRequest(t *testing.T) {
	t.Parallel()
	for n := range requests {
		t.Run(fmt.Sprint("making, ", n), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			d := f.draft(few)
			want := f.expected(d)
			reached, release := f.stop(n)
			defer release()
			p := f.process(f.serve())
			id := f.commit(d, time.Hour)
			f.reaches(reached)
			p.Kill()
			f.start()
			release()
			f.becomes(d.ID, "waiting")
			if got := f.states(); got != want {
				t.Errorf("it stands\n%s\nwant\n%s\n%s", got, want, f.transcript(id))
			}
			if _, err := f.Confirm(as(t, identity.Operator), d.ID); err != nil {
				t.Fatal(err)
			}
			f.ends(id, job.Succeeded)
		})
		t.Run(fmt.Sprint("putting back, ", n), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before, d := f.states(), f.draft(few)
			p := f.process(f.serve())
			id := f.commit(d, time.Hour)
			f.becomes(d.ID, "waiting")
			reached, release := f.stop(n)
			defer release()
			if _, err := f.queue.RequestCancel(as(t, identity.Operator), id, identity.VisibleTeams{All: true}); err != nil {
				t.Fatal(err)
			}
			f.reaches(reached)
			p.Kill()
			f.start()
			release()
			f.ends(id, job.Canceled)
			if got := f.states(); got != before {
				t.Errorf("it stands\n%s\nwant\n%s\n%s", got, before, f.transcript(id))
			}
		})
	}
}

// A service that is killed while it waits puts everything back once it is there again, or keeps what was confirmed.
func TestKilledWhileItWaits(t *testing.T) {
	t.Parallel()
	for _, confirmed := range []bool{true, false} {
		t.Run(fmt.Sprint("confirmed ", confirmed), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			want, end := f.states(), job.Failed
			d := f.draft(few)
			if confirmed {
				want, end = f.expected(d), job.Succeeded
			}
			p := f.process(f.serve())
			id := f.commit(d, time.Hour)
			f.becomes(d.ID, "waiting")
			p.Kill()
			if confirmed {
				if _, err := f.Confirm(as(t, identity.Operator), d.ID); err != nil {
					t.Fatal(err)
				}
			} else {
				f.expire(d.ID)
			}
			f.start()
			f.ends(id, end)
			if got := f.states(); got != want {
				t.Errorf("it stands\n%s\nwant\n%s\n%s", got, want, f.transcript(id))
			}
		})
	}
}

// Two instances and two drafts on one scope, again and again: the rules are exactly those before or those after, as the job says.
func TestRoundsOfTwoDrafts(t *testing.T) {
	if testing.Short() {
		t.Skip("lets two drafts race: make check runs it")
	}
	t.Parallel()
	f := newFixture(t)
	f.start()
	other, queue, err := instance(dbtest.Open(t, f.url), f.key, f.driver, f.backend)
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = queue.Stop(t.Context()) })
	r := rand.New(rand.NewPCG(3, 4))
	committed, refused := 0, 0
	for round := range 50 {
		before := f.states()
		one := func(port int) draft.Draft {
			return f.draft(fmt.Sprintf(`[{"scope":{"kind":"vm","id":1},"action":"delete_rule","pos":%d},{"scope":{"kind":"vm","id":1},
				"action":"create_rule","pos":%d,"rule":{"type":"in","action":"DROP","enable":1,"proto":"tcp","dport":"%d"}}]`, r.IntN(3), r.IntN(3),
				port))
		}
		drafts := []draft.Draft{one(1000 + round), one(2000 + round)}
		after := []string{f.expected(drafts[0]), f.expected(drafts[1])}
		var jobs [2]int64
		var errs [2]error
		var both sync.WaitGroup
		for i, s := range []*draft.Store{f.Store, other} {
			both.Go(func() {
				started, err := s.Commit(as(t, identity.Operator), drafts[i].ID, time.Hour, nil)
				jobs[i], errs[i] = started.Job.ID, err
			})
		}
		both.Wait()
		for i := range drafts {
			if errs[i] != nil {
				refused++
				if code := problem.CodeOf(errs[i]); code != problem.CodeFirewallBusy && code != problem.CodeDigestConflict {
					t.Fatal(errs[i])
				}
				continue
			}
			committed++
			f.becomes(drafts[i].ID, "waiting")
			want, end := after[i], job.Succeeded
			if r.IntN(2) == 0 {
				want, end = before, job.Canceled
				_, err = f.queue.RequestCancel(as(t, identity.Operator), jobs[i], identity.VisibleTeams{All: true})
			} else {
				_, err = other.Confirm(as(t, identity.Operator), drafts[i].ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.ends(jobs[i], end)
			if got := f.states(); got != want {
				t.Fatalf("round %d: it stands\n%s\nwant\n%s\n%s", round, got, want, f.transcript(jobs[i]))
			}
		}
	}
	if committed != 50 || refused != 50 {
		t.Errorf("%d drafts were tried out, and %d refused", committed, refused)
	}
}

// A hypervisor that goes away at any request, of making and of putting back, has in the end what the job says.
func TestHypervisorAwayAtEachRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the hypervisor away at each request: make check runs it")
	}
	t.Parallel()
	for n := range requests {
		for _, back := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, putting back %t", n, back), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				before, d := f.states(), f.draft(few)
				want := f.expected(d)
				leaves := func(begin func()) {
					reached, release := f.stop(n)
					begin()
					f.reaches(reached)
					f.at.Fail(plugin.Errorf(plugin.Unreachable, "nothing answers"))
					release()
				}
				id := f.commit(d, time.Hour)
				if back {
					f.start()
					f.becomes(d.ID, "waiting")
					leaves(func() {
						if _, err := f.queue.RequestCancel(as(t, identity.Operator), id, identity.VisibleTeams{All: true}); err != nil {
							t.Fatal(err)
						}
					})
				} else {
					leaves(f.start)
				}
				waittest.Until(t, "it is noted", func() bool { return strings.Contains(f.transcript(id), "nothing answers") })
				f.at.Fail(nil)
				end := job.Canceled
				if !back {
					f.becomes(d.ID, "waiting")
					if _, err := f.Confirm(as(t, identity.Operator), d.ID); err != nil {
						t.Fatal(err)
					}
					before, end = want, job.Succeeded
				}
				f.ends(id, end)
				if got := f.states(); got != before {
					t.Errorf("it stands\n%s\nwant\n%s\n%s", got, before, f.transcript(id))
				}
			})
		}
	}
}
