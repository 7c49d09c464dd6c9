package host

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// access is the access to a hypervisor that a user entered, as its driver has
// read it: a credential, or a code that is exchanged for one.
type access struct {
	capability endpoint.Capability
	credential endpoint.Credential
	code       *oneTimeCode
}

// oneTimeCode is a code with the information in it. It is never stored.
type oneTimeCode struct {
	hypervisor.Code
	form, label string
	secret      sdk.Secret
}

// accessInput is access in the form in which a user entered it.
type accessInput struct {
	capability endpoint.Capability
	// form is empty for the driver's usual form.
	form    string
	tokenID string
	secret  secret.String
}

// readAccess lets the driver validate what was entered, without using the
// network. Input that the driver does not accept is the problem invalid.
func (s *Store) readAccess(ctx context.Context, d driver, in accessInput) (access, error) {
	form, ok := d.info.Form(in.form)
	if !ok {
		var names []string
		for _, f := range d.info.Forms {
			names = append(names, f.Name)
		}
		return access{}, problem.InvalidField("must be one of "+strings.Join(names, ", "), "enum", "body", "credential_form")
	}
	given := endpoint.Credential{
		Capability: in.capability, Form: form.Name, ID: strings.TrimSpace(in.tokenID), Secret: sdk.Secret(in.secret.Reveal()),
	}
	// Faults of both fields are reported together.
	if err := faults(idFault(form, given.ID), secretFault(string(given.Secret))); err != nil {
		return access{}, err
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if form.OneTime {
		code, err := inspect(ctx, d, form, given.Secret)
		return access{capability: in.capability, code: code}, err
	}
	read := func(context.Context, endpoint.Credential) (endpoint.Credential, error) {
		return hypervisor.ReadToken(given)
	}
	if reader, ok := hypervisor.As[hypervisor.CredentialReader](d.Driver); ok {
		read = reader.ReadCredential
	}
	credential, err := read(ctx, given)
	if err != nil {
		return access{}, fieldFault(err)
	}
	return access{capability: in.capability, credential: credential}, d.keepable(credential, in.capability)
}

// idFault returns the fault of a token ID for a form of credentials.
func idFault(form hypervisor.CredentialForm, id string) error {
	switch {
	case id == "" && form.IDLabel != "":
		return problem.InvalidField("is required with token_secret", "missing", "body", "token_id")
	case id != "" && form.OneTime:
		return problem.InvalidField("must be left out: a "+form.Label+" does not use it", "value_error", "body", "token_id")
	case len(id) > 255 || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == utf8.RuneError }):
		return problem.InvalidField("must have at most 255 printable characters", "value_error", "body", "token_id")
	}
	return nil
}

// secretFault returns the fault of a secret. The texts never contain the
// secret.
func secretFault(text string) error {
	switch {
	case text == "":
		return problem.InvalidField("is required", "missing", "body", "token_secret")
	case len(text) > endpoint.MaxSecret:
		return problem.InvalidField("must be at most "+problem.Size(endpoint.MaxSecret), "too_long", "body", "token_secret")
	case strings.Contains(text, "\x00") || !utf8.ValidString(text):
		return problem.InvalidField("must be text without NUL characters", "value_error", "body", "token_secret")
	}
	return nil
}

// keepable returns an error for a credential that a driver must not have
// returned. A plugin is not trusted to return what can be stored and sent.
func (d driver) keepable(c endpoint.Credential, of endpoint.Capability) error {
	form, ok := d.info.Form(c.Form)
	if !ok || c.Form == "" || form.OneTime || c.Capability != of || !plain(c.ID, 255) || secretFault(string(c.Secret)) != nil {
		return d.unfitError("a credential")
	}
	return nil
}

// lateness is the tolerated difference of a hypervisor's clock: a code that
// expired longer ago is not sent.
const lateness = 5 * time.Minute

// inspect lets the driver decode a code. An expired code is the problem
// invalid.
func inspect(ctx context.Context, d driver, form hypervisor.CredentialForm, secret sdk.Secret) (*oneTimeCode, error) {
	enroller, err := d.enroller()
	if err != nil {
		return nil, err
	}
	code, err := enroller.Inspect(ctx, secret)
	if err != nil {
		return nil, fieldFault(err)
	}
	if code.Fingerprint != "" {
		if code.Fingerprint, err = endpoint.ParseFingerprint(code.Fingerprint); err != nil {
			return nil, d.unfitError("a fingerprint")
		}
	}
	if !code.Expires.IsZero() && time.Since(code.Expires) > lateness {
		return nil, problem.InvalidField("expired at "+code.Expires.UTC().Format(time.RFC3339), "expired", "body", "token_secret")
	}
	return &oneTimeCode{Code: code, form: form.Name, label: form.Label, secret: secret}, nil
}

// enroller returns the driver's interface for codes, or the problem
// unsupported.
func (d driver) enroller() (hypervisor.Enroller, error) {
	enroller, ok := hypervisor.As[hypervisor.Enroller](d.Driver)
	if !ok {
		return nil, plugin.Problem(MissingAbility("driver", hypervisor.AbilityName[hypervisor.Enroller]()))
	}
	return enroller, nil
}

// pinned returns the connection with the certificate that the code names. A
// code must only be sent to the server that it was made for. A given
// fingerprint that differs from the code's is invalid, and so is a code without
// fingerprint if nothing else identifies the server.
func (c *oneTimeCode) pinned(e connection) (connection, error) {
	switch {
	case c.Fingerprint == "" && e.fingerprint == "" && !e.verifyTLS:
		return e, problem.InvalidField("is required, because the "+c.label+" contains no fingerprint; or set verify_tls",
			"missing", "body", "tls_fingerprint")
	case c.Fingerprint == "":
	case e.fingerprint == "":
		e.fingerprint = c.Fingerprint
	case !endpoint.EqualFingerprint(e.fingerprint, c.Fingerprint):
		return e, problem.InvalidField("does not match the certificate in the "+
			c.label+", which is for another server", "fingerprint", "body",
			"tls_fingerprint")
	}
	return e, nil
}
