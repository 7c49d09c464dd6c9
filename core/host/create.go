package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	Form    string
	TokenID string
	Secret  secret.String
	// Paste is the output of a token script in place of these three: the credentials of all capabilities in it.
	Paste secret.String
	// Capabilities limit what is taken from Paste; nil takes all.
	Capabilities []string
	Fingerprint  string
	VerifyTLS    bool
	// SSHConsent says that the caller agrees to SSHConsentText, SSHEnroll asks for a key, and SSHPort is where the machine's SSH server
	// listens, 0 for the usual port.
	SSHConsent bool
	SSHEnroll  bool
	SSHPort    int
}

// intake is an enrolment as it was understood.
type intake struct {
	driver
	at connection
	// all has the access for monitoring first; kept is that of a paste.
	all  []access
	kept []string
}

// parse checks what can be checked without the network. The address may be missing when it is left empty; that is its caller's
// affair.
func (s *Store) parse(ctx context.Context, in Enrolment) (intake, error) {
	d, err := s.choose(ctx, in.Driver, "body", "driver")
	if err != nil {
		return intake{}, err
	}
	t := intake{driver: d, at: connection{driver: d.name, verifyTLS: in.VerifyTLS}}
	var errs []error
	if strings.TrimSpace(in.Address) != "" {
		if t.at.address, err = s.address(in.Address, d.info.DefaultPort); err != nil {
			errs = append(errs, err)
		}
	}
	if t.at.fingerprint, err = fingerprint(in.Fingerprint); err != nil {
		errs = append(errs, err)
	}
	if !in.Paste.Empty() {
		errs = append(errs, alone(in))
		p, err := s.readPaste(ctx, d, in.Paste)
		p = p.only(in.Capabilities)
		t.all, t.kept, errs = p.all, p.kept, append(errs, err)
	} else {
		read, err := s.readAccess(ctx, d, entered{capability: endpoint.Monitoring, form: in.Form, tokenID: in.TokenID, secret: in.Secret})
		t.all, errs = []access{read}, append(errs, err)
	}
	if err := faults(errs...); err != nil {
		return intake{}, err
	}
	return t, t.pin(!in.Paste.Empty())
}

// alone is the fault of a paste beside what it stands for.
func alone(in Enrolment) error {
	if in.Form == "" && in.TokenID == "" && in.Secret.Empty() {
		return nil
	}
	return pasteFault("value_error", "stands in the place of credential_form, token_id and token_secret: leave these out")
}

// pin takes the certificate that codes name.
func (t *intake) pin(paste bool) (err error) {
	given := t.at.fingerprint != ""
	for _, a := range t.all {
		if a.code == nil {
			continue
		}
		if t.at, err = a.code.pinned(t.at); err != nil && paste && !given && a.code.Fingerprint != "" {
			return pasteFault("fingerprint", "has codes for different servers")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// codes reports whether there is nothing but codes, which tell where the server is.
func (t *intake) codes() bool {
	return !slices.ContainsFunc(t.all, func(a access) bool { return a.code == nil })
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

// Create verifies a host with its monitoring credential and stores it, with the certificate that is to be pinned. A paste brings the
// credentials of further capabilities: each is verified before any is stored, and one that fails refuses all. Missing
// privileges are told and do not refuse it. A name or address that another host has is conflict, a server that another
// host is enrolled for already_enrolled; an endpoint that fails is hypervisor_error, a credential that it does not take
// token_rejected, and then nothing is stored. A one-time code is traded before all that needs access, and after all that does
// not; what fails afterwards names, in credential_id and credential_ids, what the hypervisor trusts in vain. A key for SSH that is asked
// for without consent is consent_required, and one at a hypervisor whose driver has no use for it unsupported, before all that.
func (s *Store) Create(ctx context.Context, in Enrolment) (Host, Verification, error) {
	t, err := s.parse(ctx, in)
	if err == nil && !in.Paste.Empty() {
		err = pasted{t.all, t.kept}.need(endpoint.Monitoring)
	}
	called, nameErr := name(in.Name)
	if err := faults(err, nameErr, needAddress(in.Address)); err != nil {
		return Host{}, Verification{}, err
	}
	audit.Describe(ctx, func(entry *audit.Entry) {
		entry.TargetKind, entry.TargetName = "host", called
		entry.Details = map[string]any{"address": t.at.address, "driver": t.at.driver}
		describeTokens(entry, t.all)
	})
	if err := s.free(ctx, called, t.at.address, 0); err != nil {
		return Host{}, Verification{}, err
	}
	if in.SSHEnroll {
		if !in.SSHConsent {
			return Host{}, Verification{}, consentRequired("a key to log in to the machine with needs your consent")
		}
		if err := s.sshAble(ctx, t.at); err != nil {
			return Host{}, Verification{}, err
		}
	}
	var h Host
	var v Verification
	err = s.withAll(ctx, t.driver, t.at, t.all, func(ctx context.Context, tokens []endpoint.Credential) (err error) {
		h, v, err = s.create(ctx, in, called, t, tokens)
		return err
	})
	return h, v, err
}

// describeTokens says in the trail which tokens were given. What a code is traded for is not known yet.
func describeTokens(entry *audit.Entry, all []access) {
	if len(all) == 1 {
		if all[0].code == nil {
			entry.Detail("token_id", all[0].credential.ID)
		}
		return
	}
	ids, of := []string{}, []string{}
	for _, a := range all {
		of = append(of, string(a.capability))
		if a.code == nil {
			ids = append(ids, a.credential.ID)
		}
	}
	entry.Detail("capabilities", of)
	entry.Detail("token_ids", ids)
}

// describeKept says in the trail which tokens were stored, where that is more than one.
func describeKept(ctx context.Context, tokens []endpoint.Credential) {
	if len(tokens) < 2 {
		return
	}
	var all []access
	for _, token := range tokens {
		all = append(all, access{capability: token.Capability, credential: token})
	}
	audit.Describe(ctx, func(entry *audit.Entry) { describeTokens(entry, all) })
}

func needAddress(text string) error {
	if strings.TrimSpace(text) == "" {
		return problem.InvalidField("is needed", "missing", "body", "address")
	}
	return nil
}

// create verifies the tokens, of which the first is for monitoring, and stores them with the host.
func (s *Store) create(ctx context.Context, in Enrolment, called string, t intake, tokens []endpoint.Credential) (
	Host, Verification, error) {
	e := t.at
	checked, errs := s.verifyEach(ctx, t.driver, e, tokens)
	if err := takenAll(tokens, checked, errs); err != nil {
		return Host{}, Verification{}, err
	}
	v := checked[0]
	found, err := s.identify(ctx, e.driver, s.targetOf(e, tokens[0]), v)
	if err != nil {
		return Host{}, Verification{}, rejected(err)
	}
	now, err := s.renewed(ctx, found, 0)
	if err != nil {
		return Host{}, Verification{}, err
	}
	describeKept(ctx, tokens)
	from, err := s.sshFrom(ctx)
	if err != nil {
		return Host{}, Verification{}, err
	}
	var id int64
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := refuseDuplicate(ctx, tx, found, 0, now); err != nil {
			return err
		}
		if err := db.Bound(ctx, tx, "hosts", "hosts", MaxHosts); err != nil {
			return err
		}
		err := tx.Pgx.QueryRow(ctx,
			`INSERT INTO hosts (driver, name, address, tls_fingerprint, verify_tls, ssh_port, version, entry_node)
			VALUES ($1, $2, $3, $4, $5, $6, $7, COALESCE($8, '')) RETURNING id`,
			e.driver, called, e.address, e.pin(v.Fingerprint), e.verifyTLS, cmp.Or(in.SSHPort, endpoint.SSHPort), v.Version, v.Node).Scan(&id)
		if err != nil {
			return taken(err)
		}
		if err := keepServer(ctx, tx, id, found); err != nil {
			return err
		}
		if err := s.storeCredentials(ctx, tx, id, together(tokens, checked)); err != nil {
			return err
		}
		switch {
		case in.SSHEnroll:
			_, err = s.enrolSSH(ctx, tx, id, true, from)
		case in.SSHConsent:
			err = keepConsent(ctx, tx, id)
		}
		if err != nil {
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
