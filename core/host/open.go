package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Open returns the host with the token of a capability, ready for calls. It
// makes no connection. The caller closes the host. The problem is
// capability_missing if no token of the capability is stored, and not_found if
// the host is not there.
func (s *Store) Open(ctx context.Context, id int64, capability endpoint.Capability) (hypervisor.Host, error) {
	driver, target, err := s.target(ctx, id, capability)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, driver, target)
}

// open asks the driver for the host at a target. The driver checks the target's
// form and makes no connection.
func (s *Store) open(ctx context.Context, driver string, target endpoint.Target) (hypervisor.Host, error) {
	host, err := s.drivers.Hypervisor(driver).Open(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("opening the host: %w", err)
	}
	return host, nil
}

// target reads the stored endpoint and decrypts the token of one capability.
// The secret is in memory only for as long as the caller keeps the target.
func (s *Store) target(ctx context.Context, id int64, capability endpoint.Capability) (driver string, t endpoint.Target, err error) {
	var fingerprint, tokenID, form *string
	var credential *int64
	var sealed []byte
	err = s.db.Pool.QueryRow(ctx, `SELECT h.driver, h.address, h.tls_fingerprint, h.verify_tls, k.id, k.token_id, k.form, k.secret
		FROM hosts h LEFT JOIN host_credentials k ON k.host_id = h.id AND k.capability = $2 WHERE h.id = $1`, id, string(capability)).
		Scan(&driver, &t.Address, &fingerprint, &t.VerifyTLS, &credential, &tokenID, &form, &sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", t, noSuchHost()
	}
	if err != nil {
		return "", t, db.Problem(fmt.Errorf("reading the host: %w", err))
	}
	if credential == nil {
		return "", t, s.missing(ctx, driver, capability)
	}
	plain, err := s.keys.Open(sealed, place(*credential))
	if err != nil {
		return "", t, fmt.Errorf("decrypting the %s token of host %d: %w", capability, id, err)
	}
	if fingerprint != nil {
		t.Fingerprint = *fingerprint
	}
	t.AllowLocal = s.allowLocal
	t.Credential = endpoint.Credential{Capability: capability, Form: *form, ID: *tokenID, Secret: sdk.Secret(plain.Reveal())}
	return driver, t, nil
}

// MissingCapability returns the problem capability_missing for a capability without a
// token.
func MissingCapability(capability endpoint.Capability) error {
	return problem.New(problem.CodeCapabilityMissing, "the host has no token for %s; add one first", capability).With("capability",
		string(capability))
}

// missing returns the problem for a capability without a token: unsupported if
// the driver does not have the capability, so that nobody looks for a token
// that cannot exist, else capability_missing. A driver that was never there
// since the start is not asked.
func (s *Store) missing(ctx context.Context, name string, capability endpoint.Capability) error {
	if d, known := s.recall(ctx, name); known {
		if err := d.require(capability); err != nil {
			return err
		}
	}
	return MissingCapability(capability)
}

// Require returns nil if the host has a token of the capability and able
// accepts a host of its driver. Problems: capability_missing, unsupported,
// not_found, and those of able. The hypervisor is not asked. While the plugin
// is away and was never there, able is not called and the result is nil: what
// the driver can do is unknown then, and the operation itself will fail with a
// better error.
func (s *Store) Require(ctx context.Context, id int64, capability endpoint.Capability, able func(hypervisor.Host) error) error {
	var driver string
	target := endpoint.Target{Credential: endpoint.Credential{Capability: capability}}
	var has bool
	err := s.db.Pool.QueryRow(ctx, `SELECT driver, address, EXISTS (SELECT FROM host_credentials WHERE host_id = $1 AND capability = $2)
		FROM hosts WHERE id = $1`, id, string(capability)).Scan(&driver, &target.Address, &has)
	if errors.Is(err, pgx.ErrNoRows) {
		return noSuchHost()
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading a token: %w", err))
	}
	if !has {
		return s.missing(ctx, driver, capability)
	}
	at, err := s.open(ctx, driver, target)
	if err != nil {
		s.log.Debug("could not read the abilities of a driver", "driver", driver, "error", err)
		return nil
	}
	defer func() { _ = at.Close() }()
	return plugin.Problem(able(at))
}

// Has reports whether the host has a token of the capability. The problem is
// unsupported if it has none and its driver does not have the capability; only
// then waiting for a token is pointless.
func (s *Store) Has(ctx context.Context, id int64, capability endpoint.Capability) (bool, error) {
	var has bool
	var driver *string
	err := s.db.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM host_credentials WHERE host_id = $1 AND capability = $2),
		(SELECT driver FROM hosts WHERE id = $1)`, id, string(capability)).Scan(&has, &driver)
	if err != nil {
		return false, db.Problem(fmt.Errorf("reading a token: %w", err))
	}
	if has || driver == nil {
		return has, nil
	}
	if err := s.missing(ctx, *driver, capability); problem.CodeOf(err) == problem.CodeUnsupported {
		return false, err
	}
	return false, nil
}
