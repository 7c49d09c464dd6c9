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
	// detailTick is how often a reader looks for clusters whose turn it is, and detailsAtOnce how many guests one instance reads at the
	// same time.
	detailTick    = time.Second
	detailsAtOnce = 16
	// turnsPerMinute is how many turns a cluster has at most: what is more than that is read several in a turn.
	turnsPerMinute = 30
	// turnLate is how long after its turn a request may begin: what comes later than that is left out.
	turnLate = 2 * time.Second
	// Of detailFair readings one is not for those that changed, so that some that always do keep nobody from being read, and another one
	// for those of which no reading has succeeded: it may have been cut off, and others that always fail keep nobody from being read.
	detailFair = 4
	// detailAge is how old a reading becomes before it is made again, where nothing has changed; detailAgain is when a guest that could
	// not be read is tried again.
	detailAge   = 15 * time.Minute
	detailAgain = 5 * time.Minute
	// detailLimit bounds one reading.
	detailLimit = 20 * time.Second
	// detailIdle is when a cluster is looked at again that had nothing to be read, detailAway when one that did not answer, and
	// detailUnable one whose kind of hypervisor tells no configurations: its tasks have turns too.
	detailIdle   = 15 * time.Second
	detailAway   = time.Minute
	detailUnable = task.Every
)

// DetailReader reads the configurations of guests in the background, one request each: those first that changed since they were read, then
// those that were never read, or longest ago. While a rule about failed tasks is enabled it also reads the tasks of each cluster every few
// minutes, in the place of a guest. No minute, whenever it begins, has more requests to a cluster than
// setting.DetailsPerMinute, over all instances together and through restarts: the next turn of a cluster is in the database, and is moved
// on before it is used; and what fails is not sent again before its time.
type DetailReader struct {
	DB        *db.DB
	Hosts     host.Opener
	Logger    hclog.Logger
	Heartbeat *heartbeat.Monitor
	// Unable says that another release serves the database now; nil is never.
	Unable func() bool
	// Now is the time; nil is the database's.
	Now func() time.Time

	// turns counts the readings of each cluster.
	turns struct {
		sync.Mutex
		of map[int64]int64
	}
}

// Run reads until the context ends. Every instance runs it.
func (r *DetailReader) Run(ctx context.Context) {
	ticker := time.NewTicker(detailTick)
	defer ticker.Stop()
	for ctx.Err() == nil {
		r.Heartbeat.Beat(detailLimit + 10*detailTick)
		if r.Unable == nil || !r.Unable() {
			if err := r.Turn(ctx); err != nil && ctx.Err() == nil {
				r.log().Warn("the configurations of guests could not be read; that is tried again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

func (r *DetailReader) log() hclog.Logger {
	if r.Logger == nil {
		return hclog.NewNullLogger()
	}
	return r.Logger
}

// now is the time as a parameter of SQL: null for the database's own.
func (r *DetailReader) now() *time.Time {
	if r.Now == nil {
		return nil
	}
	now := r.Now()
	return &now
}

// Turn reads guests of each cluster whose turn it is, and returns when that is done.
func (r *DetailReader) Turn(ctx context.Context) error {
	perMinute, err := setting.Get(ctx, r.DB, setting.DetailsPerMinute)
	if err != nil || perMinute == 0 {
		return err
	}
	batch, pause := paceOf(perMinute)
	// What is moved on is the turn; nothing is read that is not paid for. A turn that comes late by no more than a tick makes the next one
	// no later; a cluster that was away has saved up nothing besides.
	began := r.clock()
	rows, err := r.DB.Pool.Query(ctx, `UPDATE clusters SET next_detail_at = greatest(next_detail_at, COALESCE($1, now()) - $4::interval) + $2
		WHERE id IN (
		SELECT id FROM clusters c WHERE next_detail_at <= COALESCE($1, now())
			AND EXISTS (SELECT FROM hosts h WHERE h.cluster_id = c.id AND h.status = 'online')
		ORDER BY next_detail_at LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING id`,
		r.now(), pause, detailsAtOnce, detailTick)
	if err != nil {
		return fmt.Errorf("looking for clusters whose guests are to be read: %w", err)
	}
	clusters, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("looking for clusters whose guests are to be read: %w", err)
	}
	tasks, err := (&task.Store{DB: r.DB}).Due(ctx, clusters, r.now())
	if err != nil {
		return err
	}
	// Where a turn is one request, that for tasks is all of it.
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

// readTasks reads the tasks of a cluster through one of its hosts, for the rules about failed ones. That the host does not tell is no
// error.
func (r *DetailReader) readTasks(ctx context.Context, clusterID, hostID int64) error {
	hostErr, err := (&task.Store{DB: r.DB}).Read(ctx, r.Hosts, hostID, clusterID)
	if hostErr != nil && ctx.Err() == nil {
		r.log().Debug("a host does not tell its tasks", "host", hostID, "error", hostErr)
	}
	return err
}

// paceOf is how many guests are read in a turn, and the time between two turns. That is somewhat longer than the budget's part of a
// minute: a request begins up to a tick and turnLate after its time, so that those of any minute are of that much more than a minute of
// turns.
func paceOf(perMinute int) (batch int, pause time.Duration) {
	batch = (perMinute + turnsPerMinute - 1) / turnsPerMinute
	return batch, (time.Minute + detailTick + turnLate) / time.Duration(perMinute/batch)
}

// readSome reads as many guests of a cluster as it may in a turn that began then, the given one first.
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

// clock is the time within a turn.
func (r *DetailReader) clock() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// readOne reads the guest of a cluster whose turn it is, nil when there is none, in a turn that began then, and says whether another one
// may be read.
func (r *DetailReader) readOne(ctx context.Context, clusterID int64, g *picked, turn time.Time) (bool, error) {
	if g == nil {
		return false, r.rest(ctx, clusterID, detailIdle)
	}
	late := false
	config, err := host.AskWithin(ctx, r.Hosts, detailLimit, g.HostID, endpoint.Monitoring,
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
	r.log().Debug("a guest's configuration could not be read", "guest", g.ID, "error", err)
	switch sdk.KindOf(err) {
	case sdk.NotFound, sdk.Denied, sdk.Refused, sdk.Invalid, sdk.Protocol:
		return true, nil // it is the guest's alone, which is tried again later
	}
	return false, r.rest(ctx, clusterID, detailAway)
}

// rest moves a cluster's next turn away.
func (r *DetailReader) rest(ctx context.Context, clusterID int64, d time.Duration) error {
	_, err := r.DB.Pool.Exec(ctx, "UPDATE clusters SET next_detail_at = greatest(next_detail_at, COALESCE($3, now()) + $2) WHERE id = $1",
		clusterID, d, r.now())
	if err != nil {
		return fmt.Errorf("letting a cluster rest: %w", err)
	}
	return nil
}

// picked is a guest that is to be read, and when that began.
type picked struct {
	Guest
	began time.Time
}

// pickNext chooses of each of the clusters $1 the guest that is to be read next, and notes that it is tried. $5, of detailFair, says who
// comes first in each. Without OFFSET the planner reads the details of all clusters for the guests of one.
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

// pick takes the guests of some clusters that are to be read next, by cluster; one that has none is not there.
func (r *DetailReader) pick(ctx context.Context, clusters []int64) (map[int64]*picked, error) {
	next := map[int64]*picked{}
	if len(clusters) == 0 {
		return next, nil
	}
	rows, err := r.DB.Pool.Query(ctx, pickNext, clusters, r.now(), detailAge, detailAgain, r.turnsOf(clusters))
	if err != nil {
		return nil, fmt.Errorf("looking for the guests that are to be read next: %w", err)
	}
	var g picked
	_, err = pgx.ForEachRow(rows, []any{&g.ID, &g.Kind, &g.Name, &g.VMID, &g.Ref, &g.uid, &g.HostID, &g.Node, &g.clusterID, &g.began},
		func() error {
			found := g
			next[g.clusterID] = &found
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("looking for the guests that are to be read next: %w", err)
	}
	return next, nil
}

// turnsOf counts a reading of each of some clusters and gives which of its detailFair that is.
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
