package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
)

const (
	// fillingDays is how soon a storage must be full to be listed, in days, and
	// maxFilling how many storages are listed.
	fillingDays = 90
	maxFilling  = 5
	// growthAge is how long forecasts are cached. They change only with the
	// hourly samples, and computing them reads two weeks of samples of every
	// storage.
	growthAge = 10 * time.Minute
	// maxForecasts bounds the cached forecasts.
	maxForecasts = 10_000
)

// StorageForecast is a storage that will soon be full if it grows as in the last two weeks.
type StorageForecast struct {
	HostID        int64   `json:"host_id" example:"1"`
	Host          string  `json:"host" example:"lab" doc:"Name of the host"`
	Storage       string  `json:"storage" example:"local-zfs"`
	Node          *string `json:"node" example:"pve1" doc:"Node that the storage belongs to; null for a shared storage"`
	DaysUntilFull float64 `json:"days_until_full" example:"12.5"`
}

// forecast caches the storages that will be full, soonest first, for all
// requests of the next minutes.
type forecast struct {
	refreshing atomic.Bool
	known      atomic.Pointer[forecasts]
}

// forecasts has the IDs of storages, and in how many days each will be full.
type forecasts struct {
	at   time.Time
	ids  []int64
	days []float64
}

// filling returns the visible storages that will be full soonest. A shared
// storage appears once, with the earliest of the forecasts of its nodes.
func (s *Store) filling(ctx context.Context, visible identity.VisibleTeams) ([]StorageForecast, error) {
	known, err := s.forecast.read(ctx, s.DB)
	if err != nil || len(known.ids) == 0 {
		return []StorageForecast{}, err
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT host_id, host, name, node, days FROM (
			SELECT DISTINCT ON (s.cluster_id, s.name, CASE WHEN s.shared THEN '' ELSE s.node END) s.host_id, h.name AS host, s.name,
				CASE WHEN NOT s.shared THEN s.node END AS node, f.days
			FROM unnest($3::bigint[], $4::float8[]) f (id, days) JOIN storages s ON s.id = f.id JOIN hosts h ON h.id = s.host_id
			WHERE $1 OR h.team_id = ANY ($2)
			ORDER BY s.cluster_id, s.name, CASE WHEN s.shared THEN '' ELSE s.node END, f.days) each
		ORDER BY days, name, node LIMIT $5`, visible.All, visible.Teams, known.ids, known.days, maxFilling)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing storages that are filling up: %w", err))
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[StorageForecast])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing storages that are filling up: %w", err))
	}
	return found, nil
}

// read returns the cached forecasts. Once they are too old, one request renews
// them, and the others use the old ones meanwhile: nobody waits for a query of
// somebody else. Before the first forecast is known, they get none.
func (f *forecast) read(ctx context.Context, d *db.DB) (forecasts, error) {
	known := f.known.Load()
	if known == nil {
		known = &forecasts{}
	}
	if time.Since(known.at) < growthAge || !f.refreshing.CompareAndSwap(false, true) {
		return *known, nil
	}
	defer f.refreshing.Store(false)
	renewed, err := foresee(ctx, d)
	if err != nil {
		return forecasts{}, err
	}
	f.known.Store(&renewed)
	return renewed, nil
}

// foresee forecasts all storages in two queries.
func foresee(ctx context.Context, d *db.DB) (forecasts, error) {
	rows, err := d.Pool.Query(ctx, "SELECT id FROM storages WHERE status = 'available' AND used > 0 AND total > 0")
	if err != nil {
		return forecasts{}, db.Problem(fmt.Errorf("listing storages: %w", err))
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return forecasts{}, db.Problem(fmt.Errorf("listing storages: %w", err))
	}
	full, err := metric.DaysUntilFull(ctx, d, all)
	if err != nil {
		return forecasts{}, err
	}
	all = slices.DeleteFunc(all, func(id int64) bool { days, known := full[id]; return !known || days > fillingDays })
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(full[a], full[b]) })
	found := forecasts{at: time.Now(), ids: slices.Clone(all[:min(len(all), maxForecasts)])}
	for _, id := range found.ids {
		found.days = append(found.days, full[id])
	}
	return found, nil
}
