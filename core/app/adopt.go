package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Adoption makes one container an app.
type Adoption struct {
	HostID int64
	VMID   int64
	// Name is the app's; nil takes the container's.
	Name        *string
	WebPort     *int
	WebPath     *string
	WebProtocol *string
}

// Adopt makes apps of containers, all or none, with one audit row for all. may says whether the caller may do so for
// things of a team. Problems: not_found for a host or a container that is not there, invalid_state for a template,
// already_adopted for a container that is an app.
func (s *Store) Adopt(ctx context.Context, items []Adoption, may func(team int64) error) ([]App, error) {
	ids := make([]int64, 0, len(items))
	names := make([]any, 0, len(items))
	err := s.Guests.DB.Tx(ctx, func(tx *db.Tx) error {
		ids, names = ids[:0], names[:0]
		for i, item := range items {
			id, name, err := adopt(ctx, tx, item, may)
			if err != nil {
				var p *problem.Error
				if errors.As(err, &p) {
					return p.With("item", i)
				}
				return err
			}
			ids = append(ids, id)
			names = append(names, name)
		}
		if err := idempotency.Keep(ctx, ids); err != nil {
			return err
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind = "app"
			e.Details = map[string]any{"apps": names}
		})
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.Several(ctx, ids)
}

// Several gives the apps with these ids that are there.
func (s *Store) Several(ctx context.Context, ids []int64) ([]App, error) {
	return s.read(ctx, "a.id = ANY($1) ORDER BY a.id", ids)
}

func adopt(ctx context.Context, tx *db.Tx, item Adoption, may func(team int64) error) (id int64, name string, err error) {
	var team int64
	var cluster *int64
	err = tx.Pgx.QueryRow(ctx, "SELECT team_id, cluster_id FROM hosts WHERE id = $1", item.HostID).Scan(&team, &cluster)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, "", problem.New(problem.CodeNotFound, "there is no such host")
	}
	if err != nil {
		return 0, "", fmt.Errorf("reading the host: %w", err)
	}
	if err := may(team); err != nil {
		return 0, "", err
	}
	var host int64
	var template bool
	// The app belongs to the host of the container's node, whichever member of the cluster was named.
	err = tx.Pgx.QueryRow(ctx, `SELECT host_id, name, template FROM guests WHERE cluster_id = $1 AND vmid = $2 AND kind = 'container'`,
		cluster, item.VMID).Scan(&host, &name, &template)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, "", problem.New(problem.CodeNotFound, "the host has no container with the id %d", item.VMID)
	}
	if err != nil {
		return 0, "", fmt.Errorf("reading the container: %w", err)
	}
	if template {
		return 0, "", problem.New(problem.CodeInvalidState, "container %d is a template", item.VMID)
	}
	if item.Name != nil {
		name = *item.Name
	}
	var by *int64
	if caller := identity.FromContext(ctx); caller != nil {
		by = &caller.UserID
	}
	err = tx.Pgx.QueryRow(ctx, `INSERT INTO apps (host_id, cluster_id, vmid, name, web_port, web_path, web_protocol, adopted_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		host, cluster, item.VMID, name, item.WebPort, item.WebPath, item.WebProtocol, by).Scan(&id)
	if db.Duplicate(err, "apps_cluster_id_vmid_key") {
		return 0, "", problem.New(problem.CodeAlreadyAdopted, "container %d is an app already; nothing was adopted", item.VMID)
	}
	if err != nil {
		return 0, "", fmt.Errorf("writing the app: %w", err)
	}
	return id, name, nil
}
