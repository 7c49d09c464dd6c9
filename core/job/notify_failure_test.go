package job_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Who asked for a job is told that it has failed, with the guest's tags, once; of what went well, or was asked for by nobody, nothing is.
func TestFailedJobsAreTold(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		i := w.start(t, map[string]job.Worker{
			"fails":   job.WorkerFunc(func(context.Context, *job.Run) error { return job.Fail("the disk is full") }),
			"unknown": job.WorkerFunc(func(context.Context, *job.Run) error { return job.Undetermined("nobody knows") }),
			"works":   job.WorkerFunc(func(context.Context, *job.Run) error { return nil }),
		})
		i.exec(t, `INSERT INTO clusters (team_id, name) VALUES (1, 'c');
			INSERT INTO hosts (cluster_id, driver, name, address) VALUES (1, 'mem', 'h', 'h:1');
			INSERT INTO guests (cluster_id, host_id, kind, ref, node, name, status, tags) VALUES (1, 1, 'vm', '100', 'n', 'web1', 'running',
				'{prod}');
			INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two')`)
		user := identitytest.As(t, identitytest.New(i.db), identity.Operator)
		mine := identity.WithCaller(t.Context(), &identity.Caller{UserID: user.ID, Email: user.Email})
		for _, o := range []struct {
			ctx  context.Context
			kind string
			want job.Status
		}{
			{mine, "fails", job.Failed}, {mine, "unknown", job.Unknown}, {mine, "works", job.Succeeded}, {t.Context(), "fails", job.Failed},
		} {
			id, err := i.tryEnqueue(o.ctx, job.Spec{Kind: o.kind, TeamID: 2, Target: job.Target{Kind: "vm", ID: 1, Name: "web1"}})
			if err != nil {
				t.Fatal(err)
			}
			i.ended(t, id, o.want)
		}
		got := dbtest.Value[string](t, i.db, `SELECT string_agg(concat_ws('|', kind, state, severity, team_id, title, body, tags, link), E'\n'
			ORDER BY id)
			FROM notification_events`)
		want := "job_failed|told|warning|2|fails failed: web1|the disk is full\n\nRequested by " + user.Email + "|{prod}|/jobs/1\n" +
			"job_failed|told|warning|2|Unknown result of unknown: web1|nobody knows\n\nRequested by " + user.Email + "|{prod}|/jobs/2"
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}
