package processtest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
)

// timetable is schedules of a test.
type timetable struct {
	*pair
	wakeTicker
	cluster *sim
	ids     []int64
	rounds  int
}

// due makes all of them due in a moment, which both instances know of.
func (s *timetable) due(t testing.TB, clients ...*client) {
	t.Helper()
	alter(t, s.db, "UPDATE schedules SET next_run_at = clock_timestamp() + interval '300 milliseconds' WHERE id = ANY($1)", s.ids)
	s.wake(t, clients...)
	s.rounds++
}

// fired is how many jobs the schedules have started.
func (s *timetable) fired(t testing.TB) int {
	t.Helper()
	return number(t, s.db, "SELECT count(*) FROM jobs WHERE schedule_id = ANY($1)", s.ids)
}

// settled waits until each has started one job a round and all have ended, and checks that none has started more.
func (s *timetable) settled(t testing.TB) {
	t.Helper()
	waittest.Succeeds(t, "the jobs of all schedules end", func() error {
		if n := number(t, s.db, "SELECT count(*) FROM jobs WHERE schedule_id = ANY($1) AND status NOT IN ('queued', 'running')",
			s.ids); n < s.rounds*len(s.ids) {
			return fmt.Errorf("%d of %d have ended", n, s.rounds*len(s.ids))
		}
		return nil
	})
	for what, query := range map[string]string{
		"due":              "SELECT count(*) FROM schedules WHERE id = ANY($1) AND (NOT enabled OR next_run_at < now() OR last_error <> '')",
		"jobs that failed": "SELECT count(*) FROM jobs WHERE schedule_id = ANY($1) AND status <> 'succeeded'",
		"uneven": fmt.Sprintf("SELECT count(*) FROM (SELECT FROM jobs WHERE schedule_id = ANY($1) GROUP BY schedule_id HAVING "+
			"count(*) <> %d) x", s.rounds),
		"audited starts": fmt.Sprintf("SELECT count(*) - %d FROM audit WHERE action = 'schedule.fire' AND target_id::bigint = ANY($1)",
			s.rounds*len(s.ids)),
		"audited failures": "SELECT count(*) FROM audit WHERE action = 'schedule.fire' AND result <> 'ok' AND target_id::bigint = ANY($1)",
		"not those of the end": "SELECT count(*) FROM schedules s WHERE id = ANY($1) AND last_job_id <> (SELECT max(id) FROM jobs WHERE " +
			"schedule_id = s.id)",
	} {
		if n := number(t, s.db, query, s.ids); n != 0 {
			t.Fatalf("round %d: %s: %d", s.rounds, what, n)
		}
	}
	if n := s.cluster.sent(t, "reset"); n != s.rounds*len(s.ids) {
		t.Fatalf("round %d: the hypervisor was asked %d times", s.rounds, n)
	}
}

// Schedules over two instances and a simulated cluster.
func TestSchedules(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "30", "--auth-delay", "0")
	cluster.control(t, http.MethodPost, "/option", map[string]any{"task_ms": 10}, nil)
	p.owner.enrol(t, cluster, "lab", "lifecycle")
	s := &timetable{pair: p, cluster: cluster}
	for _, vm := range listVMs(t, p.owner) {
		if vm.Status == "running" && len(s.ids) < 6 {
			s.ids = append(s.ids, newSchedule(t, p.owner, "vm.reset", map[string]any{"vm_id": vm.ID}))
		}
	}
	if len(s.ids) < 6 {
		t.Fatalf("only %d VMs run", len(s.ids))
	}
	s.wake(t, p.owner, p.other)
	t.Run("start a VM", s.startVM)
	t.Run("of a writer who is gone", s.writerGone)
	t.Run("that came with the service", s.seeds)
	t.Run("fire once", func(t *testing.T) {
		for range 10 {
			s.due(t, p.owner, p.other)
			s.settled(t)
		}
	})
	t.Run("fire once when an instance is killed", s.killed)
}

func (s *timetable) startVM(t *testing.T) {
	vm := find(t, s.owner, "/api/v1/vms", "stopped")
	one := &timetable{pair: s.pair, ids: []int64{newSchedule(t, s.owner, "vm.start", map[string]any{"vm_id": vm.ID})}}
	alter(t, s.db, "UPDATE schedules SET next_run_at = clock_timestamp() WHERE id = $1", one.ids[0])
	s.wake(t, s.owner, s.other)
	waittest.Succeeds(t, "the VM runs", func() error {
		var now guestView
		if s.other.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/vms/%d", vm.ID), nil, &now); now.Status != "running" {
			return fmt.Errorf("it is %s", now.Status)
		}
		return nil
	})
	if n := s.cluster.sent(t, "start"); n != 1 || one.fired(t) != 1 {
		t.Errorf("%d jobs asked the hypervisor %d times", one.fired(t), n)
	}
}

func (s *timetable) writerGone(t *testing.T) {
	user := s.owner.user(t, "writer", "admin")
	id := newSchedule(t, user.as(t, s.a), "sessions.prune", nil)
	s.owner.must(t, http.StatusOK, http.MethodPatch, fmt.Sprintf("/api/v1/users/%d", user.ID), map[string]any{"is_active": false}, nil)
	alter(t, s.db, "UPDATE schedules SET next_run_at = clock_timestamp() WHERE id = $1", id)
	s.wake(t, s.owner, s.other)
	var now struct {
		Reason string
		Next   *string
	}
	waittest.Succeeds(t, "the schedule is disabled", func() error {
		var all []struct {
			ID      int64
			Enabled bool
			Reason  string  `json:"disabled_reason"`
			Next    *string `json:"next_run_at"`
		}
		s.other.must(t, http.StatusOK, http.MethodGet, "/api/v1/schedules?per_page=100", nil, &all)
		for _, one := range all {
			if one.ID == id && !one.Enabled {
				now.Reason, now.Next = one.Reason, one.Next
				return nil
			}
		}
		return errors.New("it is on")
	})
	if now.Next != nil || !strings.Contains(now.Reason, user.Email) || !strings.Contains(now.Reason, "not active") {
		t.Errorf("it is off because %q", now.Reason)
	}
	if n := number(t, s.db, "SELECT count(*) FROM jobs WHERE schedule_id = $1", id); n != 0 {
		t.Errorf("it has started %d jobs", n)
	}
	if n := number(t, s.db, "SELECT count(*) FROM audit WHERE action = 'schedule.disable' AND target_id = $1::text", fmt.Sprint(id)); n != 1 {
		t.Errorf("the audit log has it %d times", n)
	}
}

// seeds makes everything due that came with the service.
func (s *timetable) seeds(t *testing.T) {
	s.owner.must(t, http.StatusOK, http.MethodPatch, "/api/v1/settings", map[string]any{"audit.retention_days": 30}, nil)
	alter(t, s.db, `INSERT INTO audit (at, actor_type, action, result) SELECT now() - interval '60 days', 'system', 'test.old', 'ok'
		FROM generate_series(1, 700)`)
	s.a.sealed(t)
	n := alter(t, s.db, "UPDATE schedules SET next_run_at = clock_timestamp() WHERE seeded AND enabled")
	if n != 5 {
		t.Errorf("%d schedules come with the service", n)
	}
	s.wake(t, s.owner, s.other)
	waittest.Succeeds(t, "the jobs end", func() error {
		if done := number(t, s.db,
			"SELECT count(*) FROM jobs j JOIN schedules s ON s.id = j.schedule_id WHERE s.seeded AND j.status = 'succeeded'"); int64(done) != n {
			return fmt.Errorf("%d of %d have succeeded", done, n)
		}
		return nil
	})
	if left := number(t, s.db, "SELECT count(*) FROM audit WHERE action = 'test.old'"); left != 0 {
		t.Errorf("%d old rows are left", left)
	}
	if told := number(t, s.db,
		"SELECT sum((details->>'deleted')::int) FROM audit WHERE action = 'audit.prune' AND actor_type = 'system'"); told != 700 {
		t.Errorf("the audit log says that %d rows were deleted, want 700", told)
	}
	s.a.sealed(t)
	if out := run(t, s.a.env, "", "audit", "verify").succeeds(t).Out; !strings.Contains(out, " 700 cleared") {
		t.Errorf("it says %q", out)
	}
}

// killed kills an instance as both are in the middle of starting a job: between its row and the commit.
func (s *timetable) killed(t *testing.T) {
	for round := range 3 {
		release := hold(t, s.db, "BEFORE UPDATE OF last_job_id ON schedules") // which a start writes, and nothing else
		s.due(t, s.owner, s.other)
		held(t, s.db, 2)
		s.a.kill()
		begun := time.Now()
		release()
		s.settled(t)
		t.Logf("round %d: the other instance had done all after %v", round, time.Since(begun))
		s.a.start(t)
	}
}
