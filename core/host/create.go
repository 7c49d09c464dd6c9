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

// EnrolRequest is a request to add or to probe a host.
type EnrolRequest struct {
	// Driver is empty for the usual driver.
	Driver  string
	Address string
	Name    string
	// Form is one of the driver's credential forms, empty for its usual one.
	// TokenID and Secret are the input in that form.
	Form    string
	TokenID string
	Secret  secret.String
	// Paste is the output of a token script, instead of Form, TokenID and
	// Secret: the credentials of all capabilities in it.
	Paste secret.String
	// Capabilities limits what is used from Paste; nil uses all of it.
	Capabilities []string
	Fingerprint  string
	VerifyTLS    bool
	// SSHConsent is true if the caller agrees to SSHConsentText. SSHEnroll
	// requests an SSH key. SSHPort is the port of the machine's SSH server, 0
	// for the standard port.
	SSHConsent bool
	SSHEnroll  bool
	SSHPort    int
}

// parsedRequest is a request after parsing.
type parsedRequest struct {
	driver
	at connection
	// all contains the access for monitoring first. kept are the capabilities
	// in a paste whose tokens existed before.
	all  []access
	kept []string
}

// parse checks everything that can be checked without the network and returns
// all faults together. It accepts an empty address; the caller decides whether
// one is needed.
func (s *Store) parse(ctx context.Context, in EnrolRequest) (parsedRequest, error) {
	d, err := s.choose(ctx, in.Driver, "body", "driver")
	if err != nil {
		return parsedRequest{}, err
	}
	t := parsedRequest{driver: d, at: connection{driver: d.name, verifyTLS: in.VerifyTLS}}
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
		errs = append(errs, pasteAlone(in))
		p, err := s.readPaste(ctx, d, in.Paste)
		p = p.only(in.Capabilities)
		t.all, t.kept, errs = p.all, p.kept, append(errs, err)
	} else {
		read, err := s.readAccess(ctx, d, accessInput{capability: endpoint.Monitoring, form: in.Form, tokenID: in.TokenID, secret: in.Secret})
		t.all, errs = []access{read}, append(errs, err)
	}
	if err := faults(errs...); err != nil {
		return parsedRequest{}, err
	}
	return t, t.pin(!in.Paste.Empty())
}

// pasteAlone returns the fault of a paste together with the fields that it replaces.
func pasteAlone(in EnrolRequest) error {
	if in.Form == "" && in.TokenID == "" && in.Secret.Empty() {
		return nil
	}
	return pasteFault("value_error", "replaces credential_form, token_id and token_secret: leave them out")
}

// pin sets the certificate that codes name. All codes of a paste must be for
// the same server.
func (t *parsedRequest) pin(paste bool) (err error) {
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

// codes reports whether there are only codes, which contain the address of the
// server.
func (t *parsedRequest) codes() bool {
	return !slices.ContainsFunc(t.all, func(a access) bool { return a.code == nil })
}

// faults combines several problems invalid into one. An error of another kind
// is returned at once.
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

// plain reports whether s can be in an HTTP header: printable ASCII without
// spaces.
func plain(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Create verifies a host with its monitoring credential and stores it, with the
// certificate that is pinned. A paste contains the credentials of several
// capabilities: each is verified before any is stored, and one that fails
// refuses all. Missing privileges are reported and do not refuse the host.
//
// Problems: conflict for a name or address that another host has;
// already_enrolled for a server that another host has; hypervisor_error for an
// endpoint that fails; token_rejected for a credential that is not accepted.
// Nothing is stored in these cases. A one-time code is exchanged as late as
// possible; a failure after that names in credential_id and credential_ids the
// credentials that the hypervisor now trusts in vain. An SSH key without
// consent is consent_required, and unsupported if the driver cannot use it;
// both are checked first.
func (s *Store) Create(ctx context.Context, in EnrolRequest) (Host, Verification, error) {
	t, err := s.parse(ctx, in)
	if err == nil && !in.Paste.Empty() {
		err = scriptTokens{t.all, t.kept}.need(endpoint.Monitoring)
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
	// This is checked before the network is used and a code is spent. The
	// transaction checks it again.
	if err := s.free(ctx, called, t.at.address, 0); err != nil {
		return Host{}, Verification{}, err
	}
	if in.SSHEnroll {
		if !in.SSHConsent {
			return Host{}, Verification{}, consentRequired("an SSH key to log in to the machine requires your consent")
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

// describeTokens adds the given tokens to the audit row. The result of a code
// is not known yet.
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

// describeKept adds the stored tokens to the audit row if there are several.
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

// needAddress returns the fault of an empty address.
func needAddress(text string) error {
	if strings.TrimSpace(text) == "" {
		return problem.InvalidField("is required", "missing", "body", "address")
	}
	return nil
}

// create verifies the tokens, the first of which is for monitoring, and stores
// them with the host.
func (s *Store) create(ctx context.Context, in EnrolRequest, called string, t parsedRequest, tokens []endpoint.Credential) (
	Host, Verification, error) {
	e := t.at
	checked, errs := s.verifyEach(ctx, t.driver, e, tokens)
	if err := firstRejection(tokens, checked, errs); err != nil {
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
	// From here on nothing uses the network. Everything that was found out is
	// stored in one transaction, or nothing is.
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := refuseDuplicate(ctx, tx, found, 0, now); err != nil {
			return err
		}
		if err := db.CheckRowLimit(ctx, tx, "hosts", "hosts", MaxHosts); err != nil {
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
		if err := s.storeCredentials(ctx, tx, id, zipTokens(tokens, checked)); err != nil {
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
		if err := idempotency.SaveData(ctx, v); err != nil {
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

// free returns conflict for a name or an address that another host has, before
// the network is used.
func (s *Store) free(ctx context.Context, name, address string, but int64) error {
	var nameTaken, addressTaken bool
	err := s.db.Pool.QueryRow(ctx,
		`SELECT EXISTS (SELECT FROM hosts WHERE name = $1 AND id <> $3), EXISTS (SELECT FROM hosts WHERE address = $2 AND id <> $3)`,
		name, address, but).Scan(&nameTaken, &addressTaken)
	switch {
	case err != nil:
		return db.Problem(fmt.Errorf("comparing the server with other hosts: %w", err))
	case nameTaken:
		return conflict("name")
	case addressTaken:
		return conflict("address")
	}
	return nil
}

// taken converts the violation of a unique index to conflict. It catches two
// requests at the same time.
func taken(err error) error {
	switch {
	case db.IsDuplicate(err, "hosts_name_key"):
		return conflict("name")
	case db.IsDuplicate(err, "hosts_address_key"):
		return conflict("address")
	}
	return fmt.Errorf("storing the host: %w", err)
}

// conflict returns the problem of a field whose value another host has.
func conflict(field string) error {
	return problem.New(problem.CodeConflict, "another host already has this %s", field).With("field", field)
}
