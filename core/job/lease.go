package job

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
)

// lease is the right to run one job: the job's lock, and one of the slots that
// all instances share.
type lease struct {
	queue   *Queue
	session *session
	jobID   int64
	// slot is 0 for a job that takes no slot.
	slot int64
}

// free gives both locks back and wakes those who wait for a slot, on all
// instances.
func (s *lease) free() {
	s.session.free(db.LockJobSlot, s.slot)
	s.session.free(db.LockJob, s.jobID)
	ctx, cancel := context.WithTimeout(context.Background(), statementLimit)
	defer cancel()
	// Those who wait also look by themselves every second.
	_ = signal(ctx, s.queue.db.Pool, channelSlots, 0)
}

// acquireLease waits for a lease, with a slot unless the job is one of those beside the
// others. It returns nil if the River row is void, or if the queue stops or is
// suspended.
func (q *Queue) acquireLease(ctx context.Context, jobID, riverID int64, beside bool) *lease {
	for !q.isSuspended() {
		s, ok := q.locks.current(ctx, q.stopping)
		if !ok {
			return nil
		}
		state, err := q.rowState(ctx, jobID, riverID)
		if err == nil && state == "" {
			return nil
		}
		if err == nil && !q.running(jobID) {
			var mine bool
			if mine, err = s.try(db.LockJob, jobID); mine {
				lease, void := q.wait(ctx, s, jobID, riverID, beside)
				if lease != nil {
					return lease
				}
				s.free(db.LockJob, jobID)
				if void {
					return nil
				}
			}
		}
		if err != nil {
			q.log.Debug("a job is waiting for the database", "job", jobID, "error", err)
		}
		// The lock is held for a moment by an instance that looks for abandoned
		// jobs, or by a run that is about to end.
		select {
		case <-time.After(100 * time.Millisecond):
		case <-q.stopping:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// wait waits for a slot while it holds the job's lock. It returns void if there
// is nothing more to wait for.
func (q *Queue) wait(ctx context.Context, s *session, jobID, riverID int64, beside bool) (taken *lease, void bool) {
	suspended := q.suspended()
	for {
		// The channel is fetched before the slots are tried. A slot that
		// becomes free in between still closes it.
		freed := q.hub.slotFreed()
		state, err := q.rowState(ctx, jobID, riverID)
		if err == nil && state == "" {
			return nil, true
		}
		if err == nil && beside {
			return &lease{queue: q, session: s, jobID: jobID}, false
		}
		if err == nil && state != "behind" {
			slot, err := q.trySlots(s)
			if err != nil {
				return nil, false
			}
			if slot != 0 {
				return &lease{queue: q, session: s, jobID: jobID, slot: slot}, false
			}
		}
		select {
		case <-freed:
		case <-time.After(time.Second):
		case <-s.lost:
			return nil, false
		case <-suspended:
			return nil, true
		case <-q.stopping:
			return nil, true
		case <-ctx.Done():
			return nil, true
		}
	}
}

// trySlots takes any free slot and returns its number, or 0.
func (q *Queue) trySlots(s *session) (int64, error) {
	for slot := int64(1); slot <= int64(q.cfg.Workers); slot++ {
		got, err := s.try(db.LockJobSlot, slot)
		if err != nil {
			return 0, err
		}
		if got {
			return slot, nil
		}
	}
	return 0, nil
}

// running reports whether a run of the job is still active on this instance. A
// run that lost its lock takes a moment to end.
func (q *Queue) running(jobID int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.runs[jobID] != nil
}

// rowState returns the position of a job: "" if its River row is void, "behind"
// if an older job is waiting on any instance, and "next" otherwise. A job that
// was begun before precedes all that were not.
func (q *Queue) rowState(ctx context.Context, jobID, riverID int64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	var state string
	err := q.db.Pool.QueryRow(ctx, `
		SELECT coalesce((
			SELECT CASE WHEN mine.status = 'queued' AND EXISTS (
				SELECT FROM jobs other JOIN river_job row ON row.id = other.river_id
				WHERE other.status = 'queued' AND other.id < mine.id AND row.state = 'running' AND row.queue <> $3
			) THEN 'behind' ELSE 'next' END
			FROM jobs mine WHERE mine.id = $1 AND mine.river_id = $2 AND mine.status IN ('queued', 'running')
		), '')`, jobID, riverID, unslottedQueue).Scan(&state)
	if err != nil {
		return "", fmt.Errorf("reading the job's status: %w", err)
	}
	return state, nil
}
