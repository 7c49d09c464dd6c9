package app

import (
	"cmp"
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

// Adoption makes one container an app. Exactly one of VMID and GuestRef names
// the container; the API checks that. A nil field of the web page is left to
// WebURL, which then asks the catalog and the output of the install script.
type Adoption struct {
	HostID int64
	// VMID is for hypervisors with numeric IDs. GuestRef is the ID of the
	// container in the hypervisor's own format and works with every driver.
	VMID     *int64
	GuestRef *string
	// Name is the app's; nil takes the container's.
	Name        *string
	WebPort     *int
	WebPath     *string
	WebProtocol *string
	// Slug is the entry of the catalog that has made the container; one that is not set is guessed by the container's name.
	Slug Optional[string]
}

// Adopt makes apps of containers, all or none, and writes one row of the audit
// log for all. The result is in the order of the app IDs.
//
// may returns an error if the caller may not adopt containers of a team. It
// runs inside the transaction, once per item, because an item names a host and
// only the host's row tells the team.
//
// Problems: not_found for a host or a container that does not exist,
// invalid_state for a template, already_adopted for a container that is already
// an app, and invalid for a slug that the catalog does not have. The member
// item of a problem is the index of the item at fault.
func (s *Store) Adopt(ctx context.Context, items []Adoption, may func(team int64) error) ([]App, error) {
	guess, err := s.guesses(ctx, items)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(items))
	names := make([]any, 0, len(items))
	err = s.Guests.DB.Tx(ctx, func(tx *db.Tx) error {
		ids, names = ids[:0], names[:0]
		for i, item := range items {
			id, name, err := adopt(ctx, tx, item, guess, may)
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
		if err := idempotency.SaveData(ctx, ids); err != nil {
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
	return s.ByIDs(ctx, ids)
}

// ByIDs returns the apps with these IDs by ID. It leaves out those that do not
// exist. The caller must check whether they may be seen.
func (s *Store) ByIDs(ctx context.Context, ids []int64) ([]App, error) {
	return s.read(ctx, "a.id = ANY($1) ORDER BY a.id", ids)
}

// container returns the column of guests that identifies the container, and the
// value to look for. The column is one of two constants, so the caller may put
// it into SQL.
func (a Adoption) container() (column string, value any) {
	if a.VMID != nil {
		return "vmid", *a.VMID
	}
	return "ref", *cmp.Or(a.GuestRef, new(string))
}

// guesses returns a function that guesses the catalog entry of a container by
// its name, for items without a slug. It first checks the slugs that the items
// give. Both happen before the transaction, so that no lock waits for the
// catalog.
func (s *Store) guesses(ctx context.Context, items []Adoption) (func(name string) string, error) {
	if s.Catalog == nil {
		return func(string) string { return "" }, nil
	}
	for i, item := range items {
		if err := s.checkSlug(ctx, item.Slug, "body", "items", i, "slug"); err != nil {
			return nil, err
		}
	}
	return s.Catalog.Guess(ctx)
}

// checkSlug refuses a slug if the catalog has no entry of that name that makes
// a container. loc is the place of the field in the request. A nil slug is
// always allowed: it clears the field.
func (s *Store) checkSlug(ctx context.Context, slug Optional[string], loc ...any) error {
	if slug.Value == nil {
		return nil
	}
	if s.Catalog != nil {
		if there, err := s.Catalog.Has(ctx, *slug.Value); err != nil || there {
			return err
		}
	}
	return problem.InvalidField("the catalog has no such entry for a container", "value_error", loc...)
}

// adopt inserts the app of one item and returns its ID and name. FOR KEY SHARE
// keeps a poll from deleting the container's row before the transaction ends.
func adopt(ctx context.Context, tx *db.Tx, item Adoption, guess func(name string) string, may func(team int64) error) (id int64,
	name string, err error) {
	var team int64
	var cluster *int64
	err = tx.Pgx.QueryRow(ctx, "SELECT team_id, cluster_id FROM hosts WHERE id = $1", item.HostID).Scan(&team, &cluster)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, "", problem.New(problem.CodeNotFound, "host not found")
	}
	if err != nil {
		return 0, "", fmt.Errorf("reading the host: %w", err)
	}
	if err := may(team); err != nil {
		return 0, "", err
	}
	var guest int64
	var ref string
	var template bool
	// Of two containers of one id the one is there that the last poll listed.
	column, value := item.container()
	err = tx.Pgx.QueryRow(ctx, `SELECT id, ref, name, template FROM guests WHERE cluster_id = $1 AND kind = 'container' AND `+column+
		` = $2 ORDER BY listed_at DESC NULLS FIRST, id DESC LIMIT 1 FOR KEY SHARE`, cluster, value).Scan(&guest, &ref, &name, &template)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, "", problem.New(problem.CodeNotFound, "the host has no container with the ID %v", value)
	}
	if err != nil {
		return 0, "", fmt.Errorf("reading the container: %w", err)
	}
	if template {
		return 0, "", problem.New(problem.CodeInvalidState, "container %s is a template", ref)
	}
	slug := item.Slug.Value
	if guessed := guess(name); !item.Slug.Set && guessed != "" {
		slug = &guessed
	}
	if item.Name != nil {
		name = *item.Name
	}
	var by *int64
	if caller := identity.FromContext(ctx); caller != nil {
		by = &caller.UserID
	}
	// The app belongs to the host of the container's node, whichever member of the cluster was named.
	err = tx.Pgx.QueryRow(ctx, `INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, guest_uid, vmid, guest_name, name, web_port,
		web_path, web_protocol, adopted_by, slug) SELECT host_id, cluster_id, id, ref, uid, vmid, name, $2, $3::integer, $4, $5, $6::bigint, $7
		FROM guests WHERE id = $1 RETURNING id`,
		guest, name, item.WebPort, item.WebPath, item.WebProtocol, by, slug).Scan(&id)
	if db.IsDuplicate(err, "apps_guest_id_key") {
		return 0, "", problem.New(problem.CodeAlreadyAdopted, "container %s is already an app; nothing was adopted", ref)
	}
	if db.IsDuplicate(err, "apps_cluster_id_identity_key") {
		return 0, "", problem.New(problem.CodeAlreadyAdopted, "another app had the ID %s, and its container no longer exists; remove "+
			"that app from Hostler first; nothing was adopted", ref)
	}
	if err != nil {
		return 0, "", fmt.Errorf("writing the app: %w", err)
	}
	return id, name, nil
}
