package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Storage is a storage that can hold backups, and the state of the last
// listing. Error and Detail are those of the last attempt; AsOf is the last
// successful one.
type Storage struct {
	HostID  int64      `json:"host_id" example:"1" doc:"The host through which it is reached"`
	Host    string     `json:"host" example:"lab"`
	Cluster string     `json:"cluster" example:"prod" doc:"Name of the cluster; empty for a standalone host"`
	Node    *string    `json:"node" example:"pve1" doc:"Node that has it; null if all nodes share it"`
	Name    string     `json:"name" example:"nas"`
	Backups int64      `json:"backups" doc:"Number of known backups"`
	AsOf    *time.Time `json:"as_of" doc:"When its backups were last listed; null if never"`
	// Error is a problem code.
	Error  *string `json:"error" example:"capability_missing" doc:"Why the last attempt to list them failed; null if it succeeded"`
	Detail string  `json:"detail" doc:"The error as a sentence; empty if there was none"`
}

// tokenOf is the SQL condition that a host of the storage's cluster has a token
// for backups.
const tokenOf = `EXISTS (SELECT FROM hosts o JOIN host_credentials k ON k.host_id = o.id AND k.capability = 'backup'
	WHERE o.cluster_id = s.cluster_id)`

// Storages returns the visible backup storages by host and name. A storage for
// which no host has a token for backups has the error capability_missing,
// whatever an earlier listing reported.
func (s *Store) Storages(ctx context.Context, visible identity.VisibleTeams) ([]Storage, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT s.host_id, h.name, c.name, NULLIF(s.node, ''), s.name,
		(SELECT count(*) FROM backups b WHERE b.storage_id = s.id), s.as_of, s.error_code, s.error, `+tokenOf+`
		FROM backup_storages s JOIN hosts h ON h.id = s.host_id JOIN clusters c ON c.id = s.cluster_id
		WHERE $1 OR h.team_id = ANY($2) ORDER BY s.host_id, s.name, s.node`, visible.All, visible.Teams)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing the backup storages: %w", err))
	}
	all, err := db.CollectRows(rows, func(row pgx.CollectableRow) (Storage, error) {
		var t Storage
		var code string
		var token bool
		err := row.Scan(&t.HostID, &t.Host, &t.Cluster, &t.Node, &t.Name, &t.Backups, &t.AsOf, &code, &t.Detail, &token)
		if !token {
			code, t.Detail = string(problem.CodeCapabilityMissing), "no host has a token for backups; add one first"
		}
		if code != "" {
			t.Error = &code
		}
		if t.AsOf != nil {
			*t.AsOf = t.AsOf.UTC()
		}
		return t, err
	})
	return all, db.Problem(err)
}
