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

// Open gives the host with the capability's token, ready for calls; the caller closes it. It does not use the network.
// A capability without a token is the problem capability_missing.
func (s *Store) Open(ctx context.Context, id int64, capability endpoint.Capability) (hypervisor.Host, error) {
	driver, target, err := s.target(ctx, id, capability)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, driver, target)
}

func (s *Store) open(ctx context.Context, driver string, target endpoint.Target) (hypervisor.Host, error) {
	host, err := s.drivers.Hypervisor(driver).Open(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("opening the host: %w", err)
	}
	return host, nil
}

// target is the stored endpoint with one opened token.
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
		return "", t, fmt.Errorf("opening the %s token of host %d: %w", capability, id, err)
	}
	if fingerprint != nil {
		t.Fingerprint = *fingerprint
	}
	t.AllowLocal = s.allowLocal
	t.Credential = endpoint.Credential{Capability: capability, Form: *form, ID: *tokenID, Secret: sdk.Secret(plain.Reveal())}
	return driver, t, nil
}

// Missing is the problem of an operation whose capability has no token.
func Missing(capability endpoint.Capability) error {
	return problem.New(problem.CodeCapabilityMissing, "the host has no token for %s; add one first", capability).With("capability",
		string(capability))
}

// missing is Missing, or unsupported where the capability means nothing to the host's driver.
func (s *Store) missing(ctx context.Context, name string, capability endpoint.Capability) error {
	if d, known := s.recall(ctx, name); known {
		if err := d.require(capability); err != nil {
			return err
		}
	}
	return Missing(capability)
}

// Require is the problem capability_missing when the host has no token for the capability, and unsupported when able fails
// for a host of its driver. It asks no hypervisor. While the plugin is away and was never there, able is not asked: what its
// driver can do is not known then.
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
		return db.Problem(fmt.Errorf("looking for a token: %w", err))
	}
	if !has {
		return s.missing(ctx, driver, capability)
	}
	at, err := s.open(ctx, driver, target)
	if err != nil {
		s.log.Debug("what a driver can do is not known", "driver", driver, "error", err)
		return nil
	}
	defer func() { _ = at.Close() }()
	return plugin.Problem(able(at))
}

// Has reports whether the host has a token for the capability. Where it has none and the capability means nothing to the host's
// driver, there is the problem unsupported.
func (s *Store) Has(ctx context.Context, id int64, capability endpoint.Capability) (bool, error) {
	var has bool
	var driver *string
	err := s.db.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM host_credentials WHERE host_id = $1 AND capability = $2),
		(SELECT driver FROM hosts WHERE id = $1)`, id, string(capability)).Scan(&has, &driver)
	if err != nil {
		return false, db.Problem(fmt.Errorf("looking for a token: %w", err))
	}
	if has || driver == nil {
		return has, nil
	}
	if err := s.missing(ctx, *driver, capability); problem.CodeOf(err) == problem.CodeUnsupported {
		return false, err
	}
	return false, nil
}
