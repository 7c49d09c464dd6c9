package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Reachable opens a new connection to a host. It finds out whether new
// connections pass: a firewall that was just changed lets established ones
// continue, so that a call over a kept connection would prove nothing. If the
// driver cannot read a certificate alone, the host is asked for its version,
// perhaps over a kept connection.
func (s *Store) Reachable(ctx context.Context, id int64) error {
	var driver string
	var at connection
	err := s.db.Pool.QueryRow(ctx, "SELECT driver, address FROM hosts WHERE id = $1", id).Scan(&driver, &at.address)
	if errors.Is(err, pgx.ErrNoRows) {
		return noSuchHost()
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading the host: %w", err))
	}
	if reader, ok := hypervisor.As[hypervisor.CertificateReader](s.drivers.Hypervisor(driver)); ok {
		ctx, cancel := s.withTimeout(ctx)
		defer cancel()
		_, err = reader.ReadCertificate(ctx, s.targetOf(at, endpoint.Credential{}))
		if sdk.KindOf(err) != sdk.Unsupported {
			return plugin.Problem(err)
		}
	}
	_, err = Call(ctx, s, id, endpoint.Monitoring, func(ctx context.Context, h hypervisor.Host) (hypervisor.Version, error) {
		return h.Version(ctx)
	})
	return err
}
