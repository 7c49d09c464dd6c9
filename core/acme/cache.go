package acme

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/acme/autocert"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/secret"
)

// SealedTable is the column of keys and certificates, for rotating the key.
var SealedTable = secret.Table{Name: "acme_cache", Column: "data", Key: []string{"name"}}

// cache keeps what autocert has in the database, sealed, for all instances.
type cache struct {
	db   *db.DB
	keys secret.Keys
}

var _ autocert.Cache = cache{}

func place(name string) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(name)}
}

// Get implements autocert.Cache. What cannot be opened is an error and not a miss: a certificate would be asked for again and again.
func (c cache) Get(ctx context.Context, name string) ([]byte, error) {
	var sealed []byte
	err := c.db.Pool.QueryRow(ctx, "SELECT data FROM acme_cache WHERE name = $1", name).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, autocert.ErrCacheMiss
	}
	if err != nil {
		return nil, fmt.Errorf("reading the certificate cache: %w", err)
	}
	text, err := c.keys.Open(sealed, place(name))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate cache: %w", err)
	}
	return []byte(text.Reveal()), nil
}

// Put implements autocert.Cache.
func (c cache) Put(ctx context.Context, name string, data []byte) error {
	sealed, err := c.keys.Seal(secret.New(string(data)), place(name))
	if err != nil {
		return fmt.Errorf("encrypting the certificate cache: %w", err)
	}
	_, err = c.db.Pool.Exec(ctx, `INSERT INTO acme_cache (name, data) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET data = excluded.data, updated_at = now()`, name, sealed)
	if err != nil {
		return fmt.Errorf("writing the certificate cache: %w", err)
	}
	return nil
}

// Delete implements autocert.Cache.
func (c cache) Delete(ctx context.Context, name string) error {
	if _, err := c.db.Pool.Exec(ctx, "DELETE FROM acme_cache WHERE name = $1", name); err != nil {
		return fmt.Errorf("deleting from the certificate cache: %w", err)
	}
	return nil
}

// turn reports whether this instance may ask for a domain's first certificate. Another has its turn for as long as autocert asks at most,
// should it die meanwhile.
func (c cache) turn(ctx context.Context, domain string) (mine bool, err error) {
	rows, err := c.db.Pool.Exec(ctx, `INSERT INTO acme_turns AS t (domain, until) VALUES ($1, now() + interval '5 minutes')
		ON CONFLICT (domain) DO UPDATE SET until = excluded.until WHERE t.until < now()`, domain)
	if err != nil {
		return false, fmt.Errorf("locking the request of a certificate: %w", err)
	}
	return rows.RowsAffected() == 1, nil
}

// over ends a turn, also when the service is to end.
func (c cache) over(ctx context.Context, domain string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := c.db.Pool.Exec(ctx, "DELETE FROM acme_turns WHERE domain = $1", domain); err != nil {
		return fmt.Errorf("unlocking the request of a certificate: %w", err)
	}
	return nil
}
