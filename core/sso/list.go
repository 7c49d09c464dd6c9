package sso

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

const columns = `p.id, p.name, p.issuer, p.client_id, p.client_secret, p.scopes, p.groups_claim, p.accounts, p.trust_email,
	p.allow_private, p.fingerprint, p.enabled, p.created_at, p.updated_at,
	COALESCE((SELECT jsonb_agg(jsonb_build_object('group', r.group_name, 'team_id', r.team_id, 'role', r.role) ORDER BY r.position)
		FROM identity_provider_rules r WHERE r.provider_id = p.id), '[]')`

// stored is a provider with its encrypted client secret; sealed is nil if there
// is none.
type stored struct {
	Provider
	sealed []byte
}

func scan(row pgx.CollectableRow) (p stored, err error) {
	err = row.Scan(&p.ID, &p.Name, &p.Issuer, &p.ClientID, &p.sealed, &p.Scopes, &p.GroupsClaim, &p.Accounts, &p.TrustEmail, &p.AllowPrivate,
		&p.Fingerprint, &p.Enabled, &p.CreatedAt, &p.UpdatedAt, &p.Rules)
	p.SecretSet, p.CreatedAt, p.UpdatedAt = p.sealed != nil, p.CreatedAt.UTC(), p.UpdatedAt.UTC()
	return p, err
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// read reads one provider, or returns the problem not_found. lock is appended
// to the query, such as " FOR UPDATE OF p".
func (s *Store) read(ctx context.Context, from querier, id int64, lock string) (*stored, error) {
	rows, err := from.Query(ctx, "SELECT "+columns+" FROM identity_providers p WHERE p.id = $1"+lock, id)
	var p stored
	if err == nil {
		p, err = pgx.CollectExactlyOneRow(rows, scan)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeNotFound, "provider not found")
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a provider: %w", err))
	}
	s.addresses(&p.Provider)
	return &p, nil
}

// open decrypts the client secret; it is empty if there is none.
func (s *Store) open(p *stored) (secret.String, error) {
	if p.sealed == nil {
		return secret.String{}, nil
	}
	text, err := s.Keys.Open(p.sealed, binding(p.ID))
	if err != nil {
		return text, fmt.Errorf("decrypting the client secret of a provider: %w", err)
	}
	return text, nil
}

// Get returns one provider, or the problem not_found.
func (s *Store) Get(ctx context.Context, id int64) (*Provider, error) {
	p, err := s.read(ctx, s.DB.Pool, id, "")
	if err != nil {
		return nil, err
	}
	return &p.Provider, nil
}

// List returns all providers by name. MaxProviders bounds their number, so
// there are no pages.
func (s *Store) List(ctx context.Context) ([]*Provider, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+" FROM identity_providers p ORDER BY lower(p.name)")
	var found []stored
	if err == nil {
		found, err = db.CollectRows(rows, scan)
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing providers: %w", err))
	}
	all := make([]*Provider, len(found))
	for i := range found {
		all[i] = &found[i].Provider
		s.addresses(all[i])
	}
	return all, nil
}

// Offer is a provider as the login page shows it. Everybody can read it, so it
// has nothing but the name and the ID.
type Offer struct {
	ID   int64  `json:"id" example:"3"`
	Name string `json:"name" example:"Company"`
}

// Offers returns the enabled providers by name. It returns none while the
// service does not know its own address, because no login could succeed.
func (s *Store) Offers(ctx context.Context) ([]Offer, error) {
	if s.BaseURL == "" {
		return nil, nil
	}
	rows, err := s.DB.Pool.Query(ctx, "SELECT id, name FROM identity_providers WHERE enabled ORDER BY lower(name)")
	var all []Offer
	if err == nil {
		all, err = db.CollectRows(rows, pgx.RowToStructByPos[Offer])
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing providers: %w", err))
	}
	return all, nil
}
