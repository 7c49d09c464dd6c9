package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Enrolment is a host to enrol, or to probe.
type Enrolment struct {
	// Driver is the usual one when empty.
	Driver  string
	Address string
	Name    string
	// Form is one of the driver's forms of credentials, its usual one when empty. TokenID and Secret are what was entered in it.
	Form        string
	TokenID     string
	Secret      secret.String
	Fingerprint string
	VerifyTLS   bool
	SSHConsent  bool
	SSHEnroll   bool
}

// parse checks what can be checked without the network. The address may be missing when it is left empty; that is its caller's
// affair.
func (s *Store) parse(ctx context.Context, in Enrolment) (driver, connection, access, error) {
	d, err := s.choose(ctx, in.Driver, "body", "driver")
	if err != nil {
		return driver{}, connection{}, access{}, err
	}
	e := connection{driver: d.name, verifyTLS: in.VerifyTLS}
	var errs []error
	if strings.TrimSpace(in.Address) != "" {
		if e.address, err = s.address(in.Address, d.info.DefaultPort); err != nil {
			errs = append(errs, err)
		}
	}
	if e.fingerprint, err = fingerprint(in.Fingerprint); err != nil {
		errs = append(errs, err)
	}
	read, err := s.readAccess(ctx, d, entered{capability: endpoint.Monitoring, form: in.Form, tokenID: in.TokenID, secret: in.Secret})
	if err := faults(append(errs, err)...); err != nil {
		return driver{}, connection{}, access{}, err
	}
	if read.code != nil {
		e, err = read.code.pinned(e)
	}
	return d, e, read, err
}

// faults makes one 422 of several.
func faults(errs ...error) error {
	var all []problem.Fault
	for _, err := range errs {
		var p *problem.Error
		if errors.As(err, &p) && p.Code == problem.CodeInvalid {
			all = append(all, p.Faults...)
		} else if err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	return problem.Invalid(all...)
}

// plain holds for what can stand in a header: printable ASCII without spaces.
func plain(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Create verifies a host with its monitoring credential and stores it, with the certificate that is to be pinned. Missing
// privileges are told and do not refuse it. A name or address that another host has is conflict, a server that another
// host is enrolled for already_enrolled; an endpoint that fails is hypervisor_error, a credential that it does not take
// token_rejected, and then nothing is stored. A one-time code is traded before all that needs access, and after all that does
// not; what fails afterwards names, in credential_id, what the hypervisor trusts in vain.
func (s *Store) Create(ctx context.Context, in Enrolment) (Host, Verification, error) {
	d, e, read, err := s.parse(ctx, in)
	called, nameErr := name(in.Name)
	if err := faults(err, nameErr, needAddress(in.Address)); err != nil {
		return Host{}, Verification{}, err
	}
	audit.Describe(ctx, func(entry *audit.Entry) {
		entry.TargetKind, entry.TargetName = "host", called
		entry.Details = map[string]any{"address": e.address, "driver": e.driver}
		if read.code == nil {
			entry.Details["token_id"] = read.credential.ID
		}
	})
	if err := s.free(ctx, called, e.address, 0); err != nil {
		return Host{}, Verification{}, err
	}
	var h Host
	var v Verification
	err = s.with(ctx, d, e, read, endpoint.Monitoring, func(ctx context.Context, credential endpoint.Credential) (err error) {
		h, v, err = s.create(ctx, in, called, e, credential)
		return err
	})
	return h, v, err
}

func needAddress(text string) error {
	if strings.TrimSpace(text) == "" {
		return problem.InvalidField("is needed", "missing", "body", "address")
	}
	return nil
}

func (s *Store) create(ctx context.Context, in Enrolment, called string, e connection, credential endpoint.Credential) (
	Host, Verification, error) {
	target := s.targetOf(e, credential)
	v, err := s.verify(ctx, e.driver, target)
	if err != nil {
		return Host{}, Verification{}, rejected(err)
	}
	found, err := s.identify(ctx, e.driver, target, v)
	if err != nil {
		return Host{}, Verification{}, rejected(err)
	}
	now, err := s.renewed(ctx, found, 0)
	if err != nil {
		return Host{}, Verification{}, err
	}
	var id int64
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := refuseDuplicate(ctx, tx, found, 0, now); err != nil {
			return err
		}
		err := tx.Pgx.QueryRow(ctx,
			`INSERT INTO hosts (driver, name, address, tls_fingerprint, verify_tls, ssh_consent, ssh_enroll, version, entry_node)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, COALESCE($9, '')) RETURNING id`,
			e.driver, called, e.address, e.pin(v.Fingerprint), e.verifyTLS, in.SSHConsent, in.SSHEnroll, v.Version, v.Node).Scan(&id)
		if err != nil {
			return taken(err)
		}
		if err := keepServer(ctx, tx, id, found); err != nil {
			return err
		}
		if err := s.storeCredential(ctx, tx, id, credential, v); err != nil {
			return err
		}
		if err := idempotency.Keep(ctx, v); err != nil {
			return err
		}
		audit.Describe(ctx, func(entry *audit.Entry) { entry.TargetID, entry.HostID = fmt.Sprint(id), &id })
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return Host{}, Verification{}, err
	}
	h, err := s.Get(ctx, id)
	return h, v, err
}

// free refuses a name or an address that another host has, before the network is asked.
func (s *Store) free(ctx context.Context, name, address string, but int64) error {
	var nameTaken, addressTaken bool
	err := s.db.Pool.QueryRow(ctx,
		`SELECT EXISTS (SELECT FROM hosts WHERE name = $1 AND id <> $3), EXISTS (SELECT FROM hosts WHERE address = $2 AND id <> $3)`,
		name, address, but).Scan(&nameTaken, &addressTaken)
	switch {
	case err != nil:
		return db.Problem(fmt.Errorf("comparing with other hosts: %w", err))
	case nameTaken:
		return conflict("name")
	case addressTaken:
		return conflict("address")
	}
	return nil
}

// taken turns the database's word for the same into the same.
func taken(err error) error {
	switch {
	case db.Duplicate(err, "hosts_name_key"):
		return conflict("name")
	case db.Duplicate(err, "hosts_address_key"):
		return conflict("address")
	}
	return fmt.Errorf("storing the host: %w", err)
}

func conflict(field string) error {
	return problem.New(problem.CodeConflict, "another host has this %s", field).With("field", field)
}
