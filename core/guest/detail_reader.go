package guest

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// detailTick is how often a reader looks for clusters whose turn it is, and detailsAtOnce how many guests one instance reads at the
	// same time.
	detailTick    = time.Second
	detailsAtOnce = 16
	// detailAge is how old a reading becomes before it is made again, where nothing has changed; detailAgain is when a guest that could
	// not be read is tried again.
	detailAge   = 15 * time.Minute
	detailAgain = 5 * time.Minute
	// detailLimit bounds one reading.
	detailLimit = 20 * time.Second
	// detailIdle is when a cluster is looked at again that had nothing to be read, detailAway when one that did not answer, and
	// detailUnable one whose kind of hypervisor tells no configurations.
	detailIdle   = 15 * time.Second
	detailAway   = time.Minute
	detailUnable = time.Hour
)

// DetailReader reads the configurations of guests in the background, one request each: those first that changed, then those that were
// read longest ago. Of each cluster it asks for at most setting.DetailsPerMinute a minute, over all instances together and through
// restarts: the next turn of a cluster is in the database, and is moved on before it is used.
type DetailReader struct {
	DB        *db.DB
	Hosts     host.Opener
	Logger    hclog.Logger
	Heartbeat *heartbeat.Monitor
	// Unable says that another release serves the database now; nil is never.
	Unable func() bool
	// Now is the time; nil is the database's.
	Now func() time.Time
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

// Turn reads one guest of each cluster whose turn it is, and returns when that is done.
func (r *DetailReader) Turn(ctx context.Context) error {
	perMinute, err := setting.Get(ctx, r.DB, setting.DetailsPerMinute)
	if err != nil || perMinute == 0 {
		return err
	}
	// What is moved on is the turn; nothing is read that is not paid for. A cluster that was away has saved up nothing.
	rows, err := r.DB.Pool.Query(ctx, `UPDATE clusters SET next_detail_at = COALESCE($1, now()) + $2 WHERE id IN (
		SELECT id FROM clusters c WHERE next_detail_at <= COALESCE($1, now())
			AND EXISTS (SELECT FROM hosts h WHERE h.cluster_id = c.id AND h.status = 'online')
		ORDER BY next_detail_at LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING id`,
		r.now(), time.Minute/time.Duration(perMinute), detailsAtOnce)
	if err != nil {
		return fmt.Errorf("looking for clusters whose guests are to be read: %w", err)
	}
	clusters, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("looking for clusters whose guests are to be read: %w", err)
	}
	errs := make([]error, len(clusters))
	var all sync.WaitGroup
	for i, id := range clusters {
		all.Go(func() { errs[i] = r.readOne(ctx, id) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// readOne reads the guest of a cluster whose turn it is.
func (r *DetailReader) readOne(ctx context.Context, clusterID int64) error {
	g, began, err := r.pick(ctx, clusterID)
	if err != nil {
		return err
	}
	if g == nil {
		return r.rest(ctx, clusterID, detailIdle)
	}
	config, err := host.AskWithin(ctx, r.Hosts, detailLimit, g.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.ConfigReader) (hypervisor.Config, error) {
			return at.Config(ctx, g.At())
		})
	switch {
	case err == nil:
		return keepDetail(ctx, r.DB, g.ID, began, config)
	case ctx.Err() != nil:
		return nil
	}
	switch problem.CodeOf(plugin.Problem(err)) {
	case problem.CodeUnsupported:
		return r.rest(ctx, clusterID, detailUnable)
	case problem.CodeNotFound:
		return nil // the next poll knows where it is
	}
	r.log().Debug("a guest's configuration could not be read", "guest", g.ID, "error", err)
	return r.rest(ctx, clusterID, detailAway)
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

// pick takes the guest of a cluster that is to be read next; nil when none is.
func (r *DetailReader) pick(ctx context.Context, clusterID int64) (*Guest, time.Time, error) {
	var g Guest
	var began time.Time
	err := r.DB.Pool.QueryRow(ctx, `WITH at AS (SELECT COALESCE($2::timestamptz, now()) AS now), next AS (
			SELECT g.id, at.now FROM at, guests g JOIN hosts h ON h.id = g.host_id LEFT JOIN guest_details d ON d.guest_id = g.id
				CROSS JOIN LATERAL (SELECT d.as_of IS NULL OR COALESCE(d.stale_at >= d.as_of, false) OR d.ident <> `+detailIdent+` AS changed) c
			WHERE g.cluster_id = $1 AND h.status = 'online' AND g.status <> 'unknown'
				AND (c.changed OR d.as_of < at.now - $3::interval) AND (d.tried_at IS NULL OR d.tried_at < at.now - $4::interval
					OR d.as_of >= d.tried_at)
			ORDER BY c.changed DESC, d.as_of NULLS FIRST, g.id LIMIT 1),
		tried AS (INSERT INTO guest_details AS d (guest_id, tried_at) SELECT id, now FROM next
			ON CONFLICT (guest_id) DO UPDATE SET tried_at = EXCLUDED.tried_at RETURNING guest_id, tried_at)
		SELECT g.id, g.kind, g.name, g.vmid, g.ref, COALESCE(g.uid, ''), g.host_id, g.node, g.cluster_id, t.tried_at
		FROM tried t JOIN guests g ON g.id = t.guest_id`, clusterID, r.now(), detailAge, detailAgain).
		Scan(&g.ID, &g.Kind, &g.Name, &g.VMID, &g.Ref, &g.uid, &g.HostID, &g.Node, &g.clusterID, &began)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, began, nil
	}
	if err != nil {
		return nil, began, fmt.Errorf("looking for the guest that is to be read next: %w", err)
	}
	return &g, began, nil
}
