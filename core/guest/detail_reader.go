package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/core/task"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

const (
	// detailTick is how often the reader looks for clusters whose turn it is.
	// maxParallelReads is the number of guests that one instance reads at the same
	// time.
	detailTick       = time.Second
	maxParallelReads = 16
	// turnsPerMinute is the largest number of turns of a cluster. A larger
	// budget reads several guests per turn.
	turnsPerMinute = 30
	// turnLate is how long after its turn a request may begin. Later requests
	// are dropped, or two turns could fall into the same minute.
	turnLate = 2 * time.Second
	// Of each detailFair readings, one is not for guests that changed, so that
	// guests which always change do not keep others from being read. Another
	// one is for guests for which no reading has succeeded, so that guests
	// which always fail do not keep each other from a second attempt.
	detailFair = 4
	// detailAge is the age at which an unchanged guest is read again.
	// detailRetry is when a guest that could not be read is tried again.
	detailAge   = 15 * time.Minute
	detailRetry = 5 * time.Minute
	// detailLimit bounds one reading.
	detailLimit = 20 * time.Second
	// detailIdle is when a cluster is looked at again that had nothing to read,
	// detailAway one that did not answer, and detailUnable one whose driver
	// cannot read configurations. The tasks of that one have turns too.
	detailIdle   = 15 * time.Second
	detailAway   = time.Minute
	detailUnable = task.PollInterval
)

// DetailReader reads the configurations of guests in the background, one
// request per guest: first the guests that changed since they were read, then
// those that were never read or longest ago. While a rule about failed tasks is
// enabled, it also reads the tasks of each cluster every few minutes, in place
// of a guest.
//
// In any period of a minute a cluster gets at most setting.DetailsPerMinute
// requests, from all instances together and across restarts. The time of the
// cluster's next turn is in the database and is moved forward before the turn
// is used, so a crash loses a turn and never repeats one. A failed request is
// not repeated before its time.
type DetailReader struct {
	DB        *db.DB
	Hosts     host.Opener
	Logger    hclog.Logger
	Heartbeat *heartbeat.Monitor
	// HostsUnavailable reports whether another release of the service uses the database
	// now. Nil means never.
	HostsUnavailable func() bool
	// Now returns the time. Nil means the database's clock.
	Now func() time.Time

	// turns counts the readings of each cluster, for detailFair.
	turns struct {
		sync.Mutex
		of map[int64]int64
	}
}

// Run reads until the context ends. Every instance runs it; the database shares
// out the turns.
func (r *DetailReader) Run(ctx context.Context) {
	ticker := time.NewTicker(detailTick)
	defer ticker.Stop()
	for ctx.Err() == nil {
		r.Heartbeat.Beat(detailLimit + 10*detailTick)
		if r.HostsUnavailable == nil || !r.HostsUnavailable() {
			if err := r.Turn(ctx); err != nil && ctx.Err() == nil {
				r.log().Warn("could not read the configurations of guests; trying again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// log returns a logger that is never nil.
func (r *DetailReader) log() hclog.Logger {
	if r.Logger == nil {
		return hclog.NewNullLogger()
	}
	return r.Logger
}

// now returns the time as an SQL parameter. Null means the database's own
// clock.
func (r *DetailReader) now() *time.Time {
	if r.Now == nil {
		return nil
	}
	now := r.Now()
	return &now
}

// Turn reads guests of each cluster whose turn it is and returns when that is
// complete.
func (r *DetailReader) Turn(ctx context.Context) error {
	perMinute, err := setting.Get(ctx, r.DB, setting.DetailsPerMinute)
	if err != nil || perMinute == 0 {
		return err
	}
	batch, pause := paceOf(perMinute)
	began := r.clock()
	// The turn is moved forward before anything is read. A turn that is at most
	// one tick late does not delay the next one, while a cluster that was away
	// for long does not accumulate turns.
	rows, err := r.DB.Pool.Query(ctx, `UPDATE clusters SET next_detail_at = greatest(next_detail_at, COALESCE($1, now()) - $4::interval) + $2
		WHERE id IN (
		SELECT id FROM clusters c WHERE next_detail_at <= COALESCE($1, now())
			AND EXISTS (SELECT FROM hosts h WHERE h.cluster_id = c.id AND h.status = 'online')
		ORDER BY next_detail_at LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING id`,
		r.now(), pause, maxParallelReads, detailTick)
	if err != nil {
		return fmt.Errorf("reading the clusters whose guests are due: %w", err)
	}
	clusters, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("reading the clusters whose guests are due: %w", err)
	}
	tasks, err := (&task.Store{DB: r.DB}).Due(ctx, clusters, r.now())
	if err != nil {
		return err
	}
	// If a turn is one request, the reading of tasks uses it up.
	next, err := r.pick(ctx, slices.DeleteFunc(slices.Clone(clusters), func(id int64) bool { return tasks[id] != 0 && batch == 1 }))
	if err != nil {
		return err
	}
	errs := make([]error, len(clusters))
	var all sync.WaitGroup
	for i, id := range clusters {
		all.Go(func() {
			left := batch
			if at := tasks[id]; at != 0 {
				left--
				errs[i] = r.readTasks(ctx, id, at)
			}
			if left > 0 && errs[i] == nil {
				errs[i] = r.readSome(ctx, id, next[id], left, began)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// readTasks reads the tasks of a cluster through one of its hosts, for the
// rules about failed tasks. A host that does not answer is not an error.
func (r *DetailReader) readTasks(ctx context.Context, clusterID, hostID int64) error {
	hostErr, err := (&task.Store{DB: r.DB}).Read(ctx, r.Hosts, hostID, clusterID)
	if hostErr != nil && ctx.Err() == nil {
		r.log().Debug("a host does not report its tasks", "host", hostID, "error", hostErr)
	}
	return err
}

// paceOf returns the number of guests per turn and the time between two turns.
// The pause is somewhat longer than its share of a minute: a request begins up
// to a tick and turnLate after its turn, and any period of a minute must still
// stay within the budget.
func paceOf(perMinute int) (batch int, pause time.Duration) {
	batch = (perMinute + turnsPerMinute - 1) / turnsPerMinute
	return batch, (time.Minute + detailTick + turnLate) / time.Duration(perMinute/batch)
}

// readSome reads up to batch guests of a cluster, the given one first, in a
// turn that began at began. It stops when the turn becomes late.
func (r *DetailReader) readSome(ctx context.Context, clusterID int64, g *picked, batch int, began time.Time) error {
	for left := batch; ; {
		more, err := r.readOne(ctx, clusterID, g, began)
		if left--; err != nil || !more || left == 0 || r.clock().Sub(began) > turnLate {
			return err
		}
		next, err := r.pick(ctx, []int64{clusterID})
		if err != nil {
			return err
		}
		g = next[clusterID]
	}
}

// clock returns the time within a turn.
func (r *DetailReader) clock() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// readOne reads the guest g, nil if there is none, in a turn that began at
// turn. It reports whether another guest may be read in the same turn.
func (r *DetailReader) readOne(ctx context.Context, clusterID int64, g *picked, turn time.Time) (bool, error) {
	if g == nil {
		return false, r.rest(ctx, clusterID, detailIdle)
	}
	late := false
	config, err := host.CallWithTimeout(ctx, r.Hosts, detailLimit, g.HostID, endpoint.Monitoring,
		// The connection to the host may have had to wait for a slot. A request
		// that would begin too late is not sent.
		func(ctx context.Context, at hypervisor.ConfigReader) (c hypervisor.Config, err error) {
			if late = r.clock().Sub(turn) > turnLate; late {
				return c, context.DeadlineExceeded
			}
			return at.Config(sdk.Once(ctx), g.At())
		})
	switch {
	case late:
		return false, nil
	case err == nil:
		return true, keepDetail(ctx, r.DB, g.ID, g.began, config)
	case ctx.Err() != nil:
		return false, nil
	case problem.CodeOf(plugin.Problem(err)) == problem.CodeUnsupported:
		return false, r.rest(ctx, clusterID, detailUnable)
	}
	r.log().Debug("could not read a guest's configuration", "guest", g.ID, "error", err)
	// These errors concern this guest only, so others of the cluster may be
	// read. All other errors concern the host.
	switch sdk.KindOf(err) {
	case sdk.NotFound, sdk.Denied, sdk.Refused, sdk.Invalid, sdk.Protocol:
		return true, nil // it is the guest's alone, which is tried again later
	}
	return false, r.rest(ctx, clusterID, detailAway)
}

// rest postpones the next turn of a cluster.
func (r *DetailReader) rest(ctx context.Context, clusterID int64, d time.Duration) error {
	_, err := r.DB.Pool.Exec(ctx, "UPDATE clusters SET next_detail_at = greatest(next_detail_at, COALESCE($3, now()) + $2) WHERE id = $1",
		clusterID, d, r.now())
	if err != nil {
		return fmt.Errorf("pausing the reads of a cluster: %w", err)
	}
	return nil
}

// picked is a guest to read, and the time at which its reading began.
type picked struct {
	Guest
	began time.Time
}

// pickNext selects the guest of each cluster in $1 that is read next, and
// records the attempt. The array $5 says for each cluster which guests come
// first; see detailFair. Without OFFSET 0 the planner reads the details of all
// clusters for the guests of one.
const pickNext = `WITH at AS (SELECT COALESCE($2::timestamptz, now()) AS now), next AS (
		SELECT n.id, at.now FROM at CROSS JOIN unnest($1::bigint[], $5::bigint[]) AS c (id, turn) CROSS JOIN LATERAL (
			SELECT g.id FROM guests g JOIN hosts h ON h.id = g.host_id
				LEFT JOIN LATERAL (SELECT * FROM guest_details WHERE guest_id = g.id OFFSET 0) d ON true
				CROSS JOIN LATERAL (SELECT d.as_of IS NULL OR COALESCE(d.stale_at >= d.as_of, false) OR d.ident <> ` + detailIdent + ` AS changed) e
			WHERE g.cluster_id = c.id AND h.status = 'online' AND g.status <> 'unknown'
				AND (e.changed OR d.as_of < at.now - $3::interval) AND (d.tried_at IS NULL OR d.tried_at < at.now - $4::interval
					OR d.as_of >= d.tried_at)
			ORDER BY (e.changed AND num_nonnulls(d.as_of, d.stale_at) > 0 AND c.turn <> 0) DESC,
				(d.as_of IS NULL AND d.tried_at IS NOT NULL AND c.turn = 1) DESC, greatest(d.as_of, d.tried_at) NULLS FIRST, g.id LIMIT 1) n),
	tried AS (INSERT INTO guest_details AS d (guest_id, tried_at) SELECT id, now FROM next
		ON CONFLICT (guest_id) DO UPDATE SET tried_at = EXCLUDED.tried_at RETURNING guest_id, tried_at)
	SELECT g.id, g.kind, g.name, g.vmid, g.ref, COALESCE(g.uid, ''), g.host_id, g.node, g.cluster_id, t.tried_at
	FROM tried t JOIN guests g ON g.id = t.guest_id`

// pick returns the guest to read next for each cluster. A cluster without one
// is not in the map.
func (r *DetailReader) pick(ctx context.Context, clusters []int64) (map[int64]*picked, error) {
	next := map[int64]*picked{}
	if len(clusters) == 0 {
		return next, nil
	}
	rows, err := r.DB.Pool.Query(ctx, pickNext, clusters, r.now(), detailAge, detailRetry, r.turnsOf(clusters))
	if err != nil {
		return nil, fmt.Errorf("reading the guests that are due next: %w", err)
	}
	var g picked
	_, err = pgx.ForEachRow(rows, []any{&g.ID, &g.Kind, &g.Name, &g.VMID, &g.Ref, &g.uid, &g.HostID, &g.Node, &g.clusterID, &g.began},
		func() error {
			found := g
			next[g.clusterID] = &found
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("reading the guests that are due next: %w", err)
	}
	return next, nil
}

// turnsOf counts one reading for each cluster and returns its number within
// detailFair.
func (r *DetailReader) turnsOf(clusters []int64) []int64 {
	r.turns.Lock()
	defer r.turns.Unlock()
	if r.turns.of == nil {
		r.turns.of = map[int64]int64{}
	}
	turns := make([]int64, len(clusters))
	for i, id := range clusters {
		r.turns.of[id] = (r.turns.of[id] + 1) % detailFair
		turns[i] = r.turns.of[id]
	}
	return turns
}
