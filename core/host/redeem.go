package host

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// with calls use with the credential of an access. If the access is a one-time
// code, the code is redeemed first, once, after a look at the endpoint. From
// the moment the code is sent, the caller's cancelation is ignored: the
// hypervisor may trust the new credential already, and only use stores it. If
// use then fails, the error names the credential that the hypervisor trusts and
// nobody has.
func (s *Store) with(ctx context.Context, d driver, at connection, a access, use func(context.Context, endpoint.Credential) error) error {
	if a.code == nil {
		return use(ctx, a.credential)
	}
	credential, err := s.newCredential(ctx, d, at, a.capability)
	if err != nil {
		return err
	}
	if err := s.announce(ctx, credential); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	lost := s.redeem(ctx, d, s.targetOf(at, credential), a.code)
	if lost != nil && isUnused(lost) {
		return codeRefused(lost, a.code)
	}
	if lost != nil {
		s.log.Warn("the answer to a one-time code was lost; trying the credential", "address", at.address,
			"credential", credential.ID, "error", sdk.HideSecrets(lost.Error()))
	}
	if err := use(ctx, credential); err != nil {
		return withLeftover(err, lost, credential.ID, a.code)
	}
	return nil
}

// withAll is with for several accesses that are used together. Codes are
// redeemed in order, each after a look at the endpoint. An error names all
// credentials that the hypervisor trusts in vain.
func (s *Store) withAll(ctx context.Context, d driver, at connection, all []access,
	use func(context.Context, []endpoint.Credential) error) error {
	if len(all) == 0 {
		return use(ctx, nil)
	}
	return s.with(ctx, d, at, all[0], func(ctx context.Context, first endpoint.Credential) error {
		return s.withAll(ctx, d, at, all[1:], func(ctx context.Context, others []endpoint.Credential) error {
			return use(ctx, append([]endpoint.Credential{first}, others...))
		})
	})
}

// newCredential makes a new credential and connects with it once. The hypervisor
// does not know it yet and rejects it; that answer shows that the endpoint is
// there and has the right certificate, before the code is spent.
func (s *Store) newCredential(ctx context.Context, d driver, at connection, capability endpoint.Capability) (endpoint.Credential, error) {
	enroller, err := d.enroller()
	if err != nil {
		return endpoint.Credential{}, err
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	credential, err := enroller.NewCredential(ctx, capability)
	if err != nil {
		return endpoint.Credential{}, plugin.Problem(err)
	}
	if err := d.keepable(credential, capability); err != nil {
		return endpoint.Credential{}, err
	}
	_, err = s.version(ctx, d.name, s.targetOf(at, credential))
	if err != nil && sdk.KindOf(err) != sdk.TokenRejected { // nobody knows it yet
		return endpoint.Credential{}, plugin.Problem(err)
	}
	return credential, nil
}

// announce writes an audit entry before a code is redeemed. If the service dies
// between redeeming and storing, this entry is the only record of the
// credential that the hypervisor may trust.
func (s *Store) announce(ctx context.Context, credential endpoint.Credential) error {
	audit.Describe(ctx, func(entry *audit.Entry) { entry.Detail("token_id", credential.ID) })
	attempt := audit.FromContext(ctx)
	if attempt == nil {
		return nil
	}
	entry := attempt.Entry()
	entry.Action, entry.Result = "host.redeem_code", audit.ResultOK
	return s.db.Tx(ctx, func(tx *db.Tx) error { return audit.WriteEntry(tx, entry) })
}

// redeem trades the code for trust in the target's credential, within the time
// of one call.
func (s *Store) redeem(ctx context.Context, d driver, target endpoint.Target, code *oneTimeCode) error {
	enroller, err := d.enroller()
	if err != nil {
		return err
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	return enroller.Redeem(ctx, target, code.secret)
}

// isUnused reports whether an error of Redeem means that the code was not used.
// Every other error leaves that open.
func isUnused(err error) bool {
	switch sdk.KindOf(err) {
	case sdk.TokenRejected, sdk.Denied, sdk.Invalid, sdk.Untrusted, sdk.Forbidden, sdk.Refused, sdk.Unsupported:
		return true
	}
	return false
}

// codeRefused returns the problem of a code that was not accepted.
func codeRefused(err error, code *oneTimeCode) error {
	if sdk.KindOf(err) != sdk.TokenRejected {
		return fieldFault(err)
	}
	return problem.New(problem.CodeTokenRejected, "the hypervisor rejected the %s: it is unknown, or it was used or has expired",
		code.label).With("reason", plugin.ReasonAuth).WithCause(err)
}

// withLeftover adds to a failure which credential a code has left, or may have
// left, in the hypervisor's list of trusted ones. lost is the error that left
// open whether the code was used; nil means that it was.
func withLeftover(err, lost error, id string, code *oneTimeCode) error {
	after := extended(problem.From(plugin.Problem(err)), "")
	before := problem.From(plugin.Problem(err)).Detail
	ids := []string{id}
	if more, ok := after.Members["credential_ids"].([]string); ok { // of codes that were redeemed after this one
		ids = append(ids, more...)
	}
	if lost != nil {
		after = problem.New(problem.CodeOutcomeUnknown, "the hypervisor's answer to the %s was lost, and then this failed: %s. If the "+
			"hypervisor trusts the credential %s now, remove it there: Hostler did not store it", code.label, before, id)
		err = lost
	} else {
		after.Detail = before + "; the " + code.label + " was used: the hypervisor now trusts the credential " + id +
			", which Hostler did not store: remove it there, and create a new " + code.label
	}
	return after.With("credential_id", id).With("credential_ids", ids).WithCause(err)
}

// Code is what a one-time code contains.
type Code struct {
	Addresses   []string   `json:"addresses" example:"[\"192.0.2.10:8443\"]" doc:"Addresses of the server that the code contains; none is used automatically"`
	Fingerprint *string    `json:"fingerprint" doc:"Fingerprint of the server's certificate, which is pinned"`
	Expires     *time.Time `json:"expires_at" example:"2026-01-31T12:00:00Z"`
}

// codeOf makes the API's form of a code, without its secret.
func codeOf(c *oneTimeCode) *Code {
	out := &Code{Addresses: cleanAll(c.Addresses), Fingerprint: orNil(c.Fingerprint)}
	if !c.Expires.IsZero() {
		expires := c.Expires.UTC()
		out.Expires = &expires
	}
	return out
}
