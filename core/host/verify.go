package host

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Verification is the result of the check of an endpoint with one token.
type Verification struct {
	Version     string     `json:"version" example:"9.2.11"`
	Node        *string    `json:"node" example:"pve1" doc:"Node that responded"`
	Fingerprint string     `json:"fingerprint" doc:"Fingerprint of the presented certificate"`
	NotAfter    *time.Time `json:"not_after" example:"2028-01-31T12:00:00Z" doc:"When the presented certificate expires"`
	// Certificate is nil where nothing was told.
	Certificate   *Certificate   `json:"certificate" doc:"Contents of the presented certificate; null if the driver does not report them"`
	LatencyMS     int64          `json:"latency_ms" example:"18"`
	Missing       []string       `json:"missing" doc:"Required privileges that the token lacks; features that use them fail"`
	Extra         []string       `json:"extra" doc:"Privileges that the token has but does not need"`
	Recommended   []string       `json:"recommended" doc:"Additional privileges that this release of the hypervisor requires for some features"`
	Remedy        *string        `json:"remedy" doc:"Command for an administrator of the hypervisor that adds the missing privileges and removes the unneeded ones from the role; null if nothing needs a fix or the driver knows no command"`
	Paths         []string       `json:"paths" doc:"Paths on which the privileges apply"`
	ConsoleLimits []ConsoleLimit `json:"console_limits" doc:"For a console token: consoles that this release of the hypervisor does not open with a token"`

	// facts is what is kept besides.
	facts TokenFacts
}

// connection is the endpoint of a host, and how its certificate is checked.
type connection struct {
	driver, address, fingerprint string
	verifyTLS                    bool
}

// targetOf joins the endpoint with a credential.
func (s *Store) targetOf(e connection, credential endpoint.Credential) endpoint.Target {
	return endpoint.Target{Address: e.address, Fingerprint: e.fingerprint, VerifyTLS: e.verifyTLS, AllowLocal: s.allowLocal,
		Credential: credential}
}

// verify asks the endpoint for its version and for the rights of the token. If
// neither a fingerprint nor an authority decides about the certificate, the
// second call pins the one that the first has seen: both answers then come from
// one server.
func (s *Store) verify(ctx context.Context, driver string, target endpoint.Target) (Verification, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	began := time.Now()
	version, err := s.version(ctx, driver, target)
	if err != nil {
		return Verification{}, err
	}
	v := Verification{Version: Clean(version.Version), Fingerprint: version.Fingerprint, LatencyMS: time.Since(began).Milliseconds()}
	if version.Node != "" {
		node := Clean(version.Node)
		v.Node = &node
	}
	if !version.NotAfter.IsZero() {
		v.NotAfter = &version.NotAfter
		v.Certificate = certificateOf(version, time.Now())
	}
	if target.Fingerprint == "" && !target.VerifyTLS {
		target.Fingerprint = version.Fingerprint
	}
	host, err := s.open(ctx, driver, target)
	if err != nil {
		return Verification{}, err
	}
	defer func() { _ = host.Close() }()
	p, err := host.Permissions(ctx)
	if err != nil {
		return Verification{}, err
	}
	v.facts, v.ConsoleLimits = TokenFactsOf(p, version), s.consoleLimits(ctx, host, target.Credential.Capability)
	v.Missing, v.Extra, v.Recommended, v.Paths = cleanAll(p.Missing), cleanAll(p.Extra), cleanAll(p.Recommended), cleanAll(p.Paths)
	v.Remedy = orNil(CleanTo(p.Remedy, 4096))
	return v, nil
}

// version opens the host for a single call.
func (s *Store) version(ctx context.Context, driver string, target endpoint.Target) (hypervisor.Version, error) {
	host, err := s.open(ctx, driver, target)
	if err != nil {
		return hypervisor.Version{}, err
	}
	defer func() { _ = host.Close() }()
	return host.Version(ctx)
}

// pin returns the fingerprint to store after the check: the given one, or the
// one that was seen if nothing else decides. nil leaves the decision to the
// authorities.
func (e connection) pin(seen string) *string {
	switch {
	case e.fingerprint != "":
		return &e.fingerprint
	case !e.verifyTLS && seen != "":
		return &seen
	}
	return nil
}

// fingerprint reads the fingerprint of a certificate as users paste it.
func fingerprint(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	parsed, err := endpoint.ParseFingerprint(text)
	if err != nil {
		return "", problem.InvalidField("must be the SHA-256 fingerprint of a certificate: 32 bytes in hexadecimal, with or without "+
			"colons", "fingerprint",
			"body", "tls_fingerprint")
	}
	return parsed, nil
}
