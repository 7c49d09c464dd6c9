package schedule_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
)

// noon is when the tests begin.
var noon = time.Date(2026, 5, 4, 12, 0, 30, 0, time.UTC)

// fixture is one database with a clock that the test sets, for any number of instances.
type fixture struct {
	dbtest.SQL
	t     testing.TB
	url   string
	db    *db.DB
	users *identity.Store
	store *schedule.Store

	mu  sync.Mutex
	now time.Time
	// refusal is what Prepare of the kind "touch" answers; nil lets it pass.
	refusal error
	// collisions is how many transactions are given up for another one after the job was written into them.
	collisions int
	// preparedFor are the callers that Prepare saw, 0 for the service itself.
	preparedFor []int64
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	b := &fixture{t: t, url: dbtest.URL(t), now: noon}
	b.db = dbtest.Open(t, b.url)
	b.SQL = dbtest.On(t, b.db)
	// Those that come with the service are tested where their jobs are.
	b.Exec("DELETE FROM schedules; ALTER TABLE schedules ALTER COLUMN id RESTART")
	b.users = identitytest.New(b.db)
	b.store = b.instance(b.db)
	return b
}

// instance is one service on the database. Its jobs are enqueued and never begin.
func (b *fixture) instance(d *db.DB) *schedule.Store {
	return schedule.New(b.config(d))
}

func (b *fixture) config(d *db.DB) schedule.Config {
	b.t.Helper()
	queue, err := job.New(job.Config{DB: d})
	if err != nil {
		b.t.Fatal(err)
	}
	queue.Register("touch", job.WorkerFunc(func(context.Context, *job.Run) error { return nil }))
	touch := schedule.NewKind("touch", "Touch a thing", func(ctx context.Context, p touchParams) (schedule.Enqueue, error) {
		caller := identity.FromContext(ctx)
		b.mu.Lock()
		defer b.mu.Unlock()
		if caller == nil {
			b.preparedFor = append(b.preparedFor, 0)
		} else {
			b.preparedFor = append(b.preparedFor, caller.UserID)
			if caller.Instance() < identity.Operator {
				return nil, problem.New(problem.CodeForbidden, "this requires the role operator")
			}
		}
		if p.Panic {
			panic("a kind's fault")
		}
		return func(ctx context.Context, tx *db.Tx) (*job.Job, error) {
			spec := job.Spec{Kind: "touch", Target: job.Target{Kind: "thing", ID: p.ThingID, Name: "t"}}
			if p.Alone {
				spec.Exclusive = fmt.Sprintf("thing:%d", p.ThingID)
			}
			made, err := queue.Enqueue(ctx, tx, spec)
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.collisions > 0 && err == nil {
				b.collisions--
				return nil, &pgconn.PgError{Code: "40P01"}
			}
			return made, err
		}, b.refusal
	})
	touch.Scope = "things"
	return schedule.Config{DB: d, Users: b.users, Kinds: []schedule.Kind{touch}, CheckInterval: 50 * time.Millisecond, Now: func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.now
	}}
}

type touchParams struct {
	ThingID int64  `json:"thing_id" minimum:"1"`
	Alone   bool   `json:"alone,omitempty"`
	Panic   bool   `json:"panic,omitempty"`
	Text    string `json:"text,omitempty"`
}

func (b *fixture) at(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now
}

func (b *fixture) refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refusal = err
}

// as is the context of a request of the user.
func (b *fixture) as(user *identity.User) context.Context {
	b.t.Helper()
	caller, err := b.users.CallerOf(b.t.Context(), user.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, _ := audit.Begin(identity.WithCaller(b.t.Context(), caller),
		audit.Entry{ActorType: audit.ActorUser, ActorID: &user.ID, ActorEmail: user.Email, Action: "test"})
	return ctx
}

func (b *fixture) user(role identity.Role) *identity.User {
	b.t.Helper()
	return identitytest.As(b.t, b.users, role).User
}

var hourly = schedule.Input{Name: "Hourly", Cron: "0 * * * *", Timezone: "UTC", JobKind: "touch", Params: []byte(`{"thing_id":1}`),
	Enabled: true}

func (b *fixture) create(user *identity.User, d schedule.Input) *schedule.Schedule {
	b.t.Helper()
	made, err := b.store.Create(b.as(user), d, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

func (b *fixture) get(id int64) *schedule.Schedule {
	b.t.Helper()
	all, _, err := b.store.List(b.t.Context(), 0, 500)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, s := range all {
		if s.ID == id {
			return s
		}
	}
	b.t.Fatalf("there is no schedule %d", id)
	return nil
}

func (b *fixture) sweep() time.Duration {
	b.t.Helper()
	wait, err := b.store.Sweep(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return wait
}

func (b *fixture) expect(want, sql string, args ...any) {
	b.t.Helper()
	if got := b.Value(sql, args...); got != want {
		b.t.Errorf("%s: %s, want %s", sql, got, want)
	}
}

func isAt(t *time.Time, want time.Time) bool { return t != nil && t.Equal(want) }
