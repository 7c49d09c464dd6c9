package task

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	// readTimeout bounds the question for tasks: nothing depends on it.
	readTimeout = 10 * time.Second
	// PollInterval is how often tasks are looked at for rules.
	PollInterval = 3 * time.Minute

	maxID   = 300 // of a task, in bytes
	maxText = 1000
	maxName = 255
	maxType = 128
)

// Read asks a host for the newest tasks of its cluster, by one small request, and keeps those that others started. The first error is the
// host's, of which nothing depends; the second one is ours.
func (s *Store) Read(ctx context.Context, hosts host.Opener, id, cluster int64) (hostErr, err error) {
	list, hostErr := host.CallWithTimeout(ctx, hosts, readTimeout, id, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (hypervisor.TaskList, error) {
			return at.Tasks(plugin.Once(ctx), hypervisor.TaskQuery{Limit: ListLimit})
		})
	if hostErr != nil {
		return hostErr, nil
	}
	return nil, s.Save(ctx, cluster, id, list.Tasks)
}

// dueForRules are those of the clusters $1 whose tasks are due for a rule about failed ones at the time $2, now without, with the host
// that is to be asked; their next turn is $3 later. While somebody looks polls bring them.
const dueForRules = `UPDATE clusters c SET next_tasks_at = COALESCE($2::timestamptz, now()) + $3
	WHERE id = ANY ($1) AND next_tasks_at <= COALESCE($2::timestamptz, now())
		AND EXISTS (SELECT FROM alert_rules WHERE kind = 'task_failed' AND enabled)
		AND NOT EXISTS (SELECT FROM task_watch WHERE until > now())
		AND EXISTS (SELECT FROM hosts h WHERE h.cluster_id = c.id AND h.status = 'online')
	RETURNING id, (SELECT h.id FROM hosts h WHERE h.cluster_id = c.id AND h.status = 'online' ORDER BY h.error_reason <> '', h.id LIMIT 1)`

// Due takes those of some clusters whose tasks are to be read for rules, by cluster the host that is to be asked. A nil time is now.
func (s *Store) Due(ctx context.Context, clusters []int64, now *time.Time) (map[int64]int64, error) {
	due := map[int64]int64{}
	if len(clusters) == 0 {
		return due, nil
	}
	rows, err := s.DB.Pool.Query(ctx, dueForRules, clusters, now, PollInterval)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading clusters whose tasks are due: %w", err))
	}
	var cluster, at int64
	if _, err := pgx.ForEachRow(rows, []any{&cluster, &at}, func() error {
		due[cluster] = at
		return nil
	}); err != nil {
		return nil, db.Problem(fmt.Errorf("reading clusters whose tasks are due: %w", err))
	}
	return due, nil
}

// clean brings what a plugin told into bounds. One without an id, or of a time that cannot be, is none.
func clean(t hypervisor.Task) (hypervisor.Task, bool) {
	if len(t.ID) > maxID || t.Started.Year() < 1970 || t.Started.Year() > 9999 {
		return t, false
	}
	t.ID, t.Node, t.Type = host.CleanTo(t.ID, maxID), host.CleanTo(t.Node, maxName), host.CleanTo(t.Type, maxType)
	t.User, t.TokenID = host.CleanTo(t.User, maxName), host.CleanTo(t.TokenID, maxName)
	t.Error = host.CleanTo(plugin.HideSecrets(t.Error[:min(len(t.Error), 4*maxText)]), maxText)
	if !t.GuestID.Valid() {
		t.GuestID = ""
	}
	if t.Ended.Before(t.Started) || t.Ended.Year() > 9999 { // zero too
		t.Ended = time.Time{}
	}
	switch t.Status {
	case hypervisor.TaskRunning:
		t.Ended = time.Time{}
	case hypervisor.TaskOK, hypervisor.TaskWarning, hypervisor.TaskFailed:
	default:
		t.Status = hypervisor.TaskUnknown
	}
	return t, strings.TrimSpace(t.ID) != ""
}
