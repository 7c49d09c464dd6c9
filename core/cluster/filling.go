package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
)

const (
	// fillingDays is how soon a storage must be full to be listed, and maxFilling how many are.
	fillingDays = 90
	maxFilling  = 5
	// growthAge is how old a forecast may be. It changes with the hourly samples only, and reads two weeks of them for every storage.
	growthAge = 10 * time.Minute
	// maxForecasts bounds what is kept between two forecasts.
	maxForecasts = 10_000
)

// Filling is a storage that will soon be full if it grows as in the last two weeks.
type Filling struct {
	HostID        int64   `json:"host_id" example:"1"`
	Host          string  `json:"host" example:"lab" doc:"Name of the host"`
	Storage       string  `json:"storage" example:"local-zfs"`
	Node          *string `json:"node" example:"pve1" doc:"Node that the storage belongs to; null for a shared storage"`
	DaysUntilFull float64 `json:"days_until_full" example:"12.5"`
}

// forecast keeps when storages will be full, the soonest first, for all requests of the next minutes.
type forecast struct {
	mu   sync.Mutex
	at   time.Time
	ids  []int64
	days []float64
}

// filling returns the storages that may be seen and will be full soonest, one row for a shared one.
func (s *Store) filling(ctx context.Context, visible identity.Visible) ([]Filling, error) {
	ids, days, err := s.forecast.read(ctx, s.DB)
	if err != nil || len(ids) == 0 {
		return []Filling{}, err
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT host_id, host, name, node, days FROM (
			SELECT DISTINCT ON (s.cluster_id, s.name, CASE WHEN s.shared THEN '' ELSE s.node END) s.host_id, h.name AS host, s.name,
				CASE WHEN NOT s.shared THEN s.node END AS node, f.days
			FROM unnest($3::bigint[], $4::float8[]) f (id, days) JOIN storages s ON s.id = f.id JOIN hosts h ON h.id = s.host_id
			WHERE $1 OR h.team_id = ANY ($2)
			ORDER BY s.cluster_id, s.name, CASE WHEN s.shared THEN '' ELSE s.node END, f.days) each
		ORDER BY days, name, node LIMIT $5`, visible.All, visible.Teams, ids, days, maxFilling)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing storages that fill up: %w", err))
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Filling])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing storages that fill up: %w", err))
	}
	return found, nil
}

// read returns the ids of storages and in how many days each will be full. One request forecasts while others wait for it.
func (f *forecast) read(ctx context.Context, d *db.DB) (ids []int64, days []float64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.at) < growthAge {
		return f.ids, f.days, nil
	}
	rows, err := d.Pool.Query(ctx, "SELECT id FROM storages WHERE status = 'available' AND used > 0 AND total > 0")
	if err != nil {
		return nil, nil, db.Problem(fmt.Errorf("listing storages: %w", err))
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, nil, db.Problem(fmt.Errorf("listing storages: %w", err))
	}
	full, err := metric.DaysUntilFull(ctx, d, all)
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(id int64) bool { days, known := full[id]; return !known || days > fillingDays })
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(full[a], full[b]) })
	all = all[:min(len(all), maxForecasts)]
	days = make([]float64, len(all))
	for i, id := range all {
		days[i] = full[id]
	}
	f.at, f.ids, f.days = time.Now(), all, days
	return all, days, nil
}
