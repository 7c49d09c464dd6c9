package job

import (
	"context"
	"fmt"
	"time"
)

// placePrefix is the beginning of the names of River's queues for jobs that
// must run at one place.
const placePrefix = "at_"

// queueOf returns River's queue for a job.
func (q *Queue) queueOf(j *Job) string {
	if q.unslotted[j.Kind] {
		return unslottedQueue
	}
	return queueAt(j.place)
}

// queueAt returns River's queue for jobs that must run at a place, or anywhere.
func queueAt(place string) string {
	if place == "" {
		return riverQueue
	}
	return placePrefix + place
}

// registerPlace records that an instance exists at this place. It also gives jobs of
// places without an instance for long to any instance: their workers find that
// what they need is missing, and end them with an error instead of waiting for
// ever.
func (q *Queue) registerPlace(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if q.cfg.Place != "" && !q.isSuspended() {
		_, err := q.db.Pool.Exec(ctx, `INSERT INTO job_places (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET seen_at = now()`, q.cfg.Place)
		if err != nil {
			return fmt.Errorf("recording that this instance is running: %w", err)
		}
	}
	_, err := q.db.Pool.Exec(ctx, `UPDATE river_job r SET queue = $1 FROM jobs j WHERE j.river_id = r.id AND j.status IN ('queued', 'running')
		AND j.place IS NOT NULL AND r.queue <> $1 AND r.state = 'available'
		AND r.scheduled_at < now() AND j.created_at < now() - $2::interval
		AND NOT EXISTS (SELECT FROM job_places p WHERE p.id = j.place AND p.seen_at > now() - $2::interval)`, riverQueue, q.cfg.PlaceLostLimit)
	if err != nil {
		return fmt.Errorf("reading the jobs of instances that stopped: %w", err)
	}
	return nil
}
