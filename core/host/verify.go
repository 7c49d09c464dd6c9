package host

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Verification is what a check of an endpoint with one token has found.
type Verification struct {
	Version     string     `json:"version" example:"9.2.11"`
	Node        *string    `json:"node" example:"pve1" doc:"The node that answered"`
	Fingerprint string     `json:"fingerprint" doc:"The certificate that was shown"`
	NotAfter    *time.Time `json:"not_after" example:"2028-01-31T12:00:00Z" doc:"When that certificate ends"`
	// Certificate is nil where nothing was told.
	Certificate *Certificate `json:"certificate" doc:"What that certificate says of itself; null where the driver does not tell"`
	LatencyMS   int64        `json:"latency_ms" example:"18"`
	Missing     []string     `json:"missing" doc:"Privileges that the capability needs and the token lacks: a feature will fail"`
	Extra       []string     `json:"extra" doc:"Privileges that the token has beyond need"`
	Recommended []string     `json:"recommended" doc:"Privileges that this release of the hypervisor wants in addition"`
	Paths       []string     `json:"paths" doc:"Where the privileges hold"`
}

// connection is where a host is and how its certificate is checked, before it is stored.
type connection struct {
	driver, address, fingerprint string
	verifyTLS                    bool
}

func (s *Store) targetOf(e connection, credential endpoint.Credential) endpoint.Target {
	return endpoint.Target{Address: e.address, Fingerprint: e.fingerprint, VerifyTLS: e.verifyTLS, AllowLocal: s.allowLocal,
		Credential: credential}
}

// verify asks the endpoint for its version and for what the token may do. Where neither a fingerprint nor the
// authorities decide, the certificate that the first call saw must be the one of the second call too.
func (s *Store) verify(ctx context.Context, driver string, target endpoint.Target) (Verification, error) {
	ctx, cancel := s.timed(ctx)
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
	v.Missing, v.Extra, v.Recommended, v.Paths = cleanAll(p.Missing), cleanAll(p.Extra), cleanAll(p.Recommended), cleanAll(p.Paths)
	return v, nil
}

func (s *Store) version(ctx context.Context, driver string, target endpoint.Target) (hypervisor.Version, error) {
	host, err := s.open(ctx, driver, target)
	if err != nil {
		return hypervisor.Version{}, err
	}
	defer func() { _ = host.Close() }()
	return host.Version(ctx)
}

// pin is what is stored as the host's certificate after the check: a given one, or the one seen where nothing else
// would decide; nil leaves the decision to the authorities.
func (e connection) pin(seen string) *string {
	switch {
	case e.fingerprint != "":
		return &e.fingerprint
	case !e.verifyTLS && seen != "":
		return &seen
	}
	return nil
}

// Probed is what Probe has found.
type Probed struct {
	Reachable bool `json:"reachable" example:"true"`
	Verification
	// Code is nil unless a one-time code was given: what it says of itself. Nothing was asked with it, so that all that needs
	// access is empty.
	Code *Code `json:"one_time_code" doc:"What a one-time code says of itself, which is not used by this; null without one"`
}

// Probe checks an endpoint that is not enrolled. It stores nothing. With a one-time code it looks whether the endpoint is there and
// shows the certificate that the code names, and without an address it only tells what the code says.
func (s *Store) Probe(ctx context.Context, in Enrolment) (Probed, error) {
	d, e, read, err := s.parse(ctx, in)
	if read.code == nil { // what was entered is no code, or something is wrong with it
		err = faults(err, needAddress(in.Address))
	}
	if err != nil {
		return Probed{}, err
	}
	if read.code == nil {
		v, err := s.verify(ctx, e.driver, s.targetOf(e, read.credential))
		return Probed{Reachable: err == nil, Verification: v}, rejected(err)
	}
	found := Probed{Code: codeOf(read.code)}
	found.Missing, found.Extra, found.Recommended, found.Paths = []string{}, []string{}, []string{}, []string{}
	if e.address == "" {
		return found, nil
	}
	began := time.Now()
	if _, err := s.newcomer(ctx, d, e, endpoint.Monitoring); err != nil {
		return Probed{}, err
	}
	found.Reachable, found.Fingerprint, found.LatencyMS = true, e.fingerprint, time.Since(began).Milliseconds()
	return found, nil
}

// fingerprint reads a certificate's fingerprint as people paste it.
func fingerprint(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	parsed, err := endpoint.ParseFingerprint(text)
	if err != nil {
		return "", problem.InvalidField("must be the SHA-256 of a certificate: 32 bytes in hexadecimal, with or without colons", "fingerprint",
			"body", "tls_fingerprint")
	}
	return parsed, nil
}
