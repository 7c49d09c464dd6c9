// Package membackend is a firewall in memory behind the Go interface, for tests.
package membackend

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"slices"
	"sync"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// Secret is the secret of the one token that endpoints take which Add made.
const Secret plugin.Secret = "secret-of-mem"

// Backend holds the endpoints by address. An address that was not added is Unreachable.
type Backend struct {
	mu        sync.Mutex
	endpoints map[string]*Endpoint
}

var _ firewall.Backend = (*Backend)(nil)

// New makes a backend without endpoints.
func New() *Backend { return &Backend{endpoints: map[string]*Endpoint{}} }

// Endpoint is the firewall at one address.
type Endpoint struct {
	address, fingerprint string
	secret               plugin.Secret
	// changing is the secret of the token that changes options.
	changing plugin.Secret

	mu      sync.Mutex
	lists   map[string][]firewall.Rule
	options map[firewall.Guest]firewall.GuestOptions
	err     error
}

// Add makes an endpoint at an address, "host:port", and replaces what was there. Its cluster scope is there and has no rules.
func (b *Backend) Add(address string) *Endpoint {
	sum := sha256.Sum256([]byte(address))
	return b.AddAt(endpoint.Target{
		Address: address, Fingerprint: endpoint.Fingerprint(&x509.Certificate{Raw: sum[:]}), Credential: endpoint.Credential{Secret: Secret},
	})
}

// AddAt is Add for an endpoint that stands at the target: it shows the target's certificate and takes its token only. So the
// firewall of another hypervisor in memory is made.
func (b *Backend) AddAt(target endpoint.Target) *Endpoint {
	e := &Endpoint{
		address: target.Address, fingerprint: target.Fingerprint, secret: target.Credential.Secret,
		changing: target.Credential.Secret, options: map[firewall.Guest]firewall.GuestOptions{},
		lists: map[string][]firewall.Rule{key(firewall.Scope{Kind: firewall.ClusterScope}): nil},
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endpoints[e.address] = e
	return e
}

// Target is a pinned target with the proper token.
func (e *Endpoint) Target(capability endpoint.Capability) endpoint.Target {
	return endpoint.Target{
		Address: e.address, Fingerprint: e.fingerprint,
		Credential: endpoint.Credential{Capability: capability, ID: "service@mem", Secret: e.secret},
	}
}

// Admit makes changes take the token of another target in place of the one that reads.
func (e *Endpoint) Admit(target endpoint.Target) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changing = target.Credential.Secret
}

// SetRules makes a scope with these rules, whose positions are set.
func (e *Endpoint) SetRules(scope firewall.Scope, rules ...firewall.Rule) {
	for i := range rules {
		rules[i].Position = i
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lists[key(scope)] = rules
}

// Fail makes every call fail with an error; nil ends it.
func (e *Endpoint) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

func key(s firewall.Scope) string {
	if s.Guest != nil {
		return fmt.Sprintf("%s %q %+v", s.Kind, s.Node, *s.Guest)
	}
	return fmt.Sprintf("%s %q", s.Kind, s.Node)
}

// Info implements firewall.Backend.
func (b *Backend) Info(context.Context) (firewall.Info, error) {
	return firewall.Info{Name: "mem", Version: "1.0.0"}, nil
}

// Open implements firewall.Backend.
func (b *Backend) Open(_ context.Context, target endpoint.Target) (firewall.Firewall, error) {
	return &Firewall{backend: b, target: target}, nil
}

// Firewall is one endpoint seen through one token.
type Firewall struct {
	backend *Backend
	target  endpoint.Target
}

var _ firewall.RuleLister = (*Firewall)(nil)

// Rules implements firewall.RuleLister.
func (f *Firewall) Rules(ctx context.Context, scope firewall.Scope) ([]firewall.Rule, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	e, err := f.enter()
	if err != nil {
		return nil, "", err
	}
	defer e.mu.Unlock()
	if !firewall.ValidScope(scope) {
		err := plugin.Errorf(plugin.Invalid, "%.80q is no scope", key(scope))
		err.Field = "scope"
		return nil, "", err
	}
	rules, ok := e.lists[key(scope)]
	if !ok {
		return nil, "", plugin.Errorf(plugin.NotFound, "there is no %.80s", key(scope))
	}
	return slices.Clone(rules), fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, rules)))[:40], nil
}

// enter finds the endpoint and locks it for a token that is admitted.
func (f *Firewall) enter() (*Endpoint, error) {
	f.backend.mu.Lock()
	e, ok := f.backend.endpoints[f.target.Address]
	f.backend.mu.Unlock()
	if !ok {
		return nil, plugin.Errorf(plugin.Unreachable, "nothing answers at %s", f.target.Address)
	}
	e.mu.Lock()
	if err := e.admit(f.target); err != nil {
		e.mu.Unlock()
		return nil, err
	}
	return e, nil
}

// admit checks certificate and token; it needs the lock.
func (e *Endpoint) admit(target endpoint.Target) error {
	switch {
	case e.err != nil:
		return e.err
	case target.Fingerprint != "" && !endpoint.EqualFingerprint(target.Fingerprint, e.fingerprint),
		target.Fingerprint == "" && target.VerifyTLS:
		err := plugin.Errorf(plugin.Untrusted, "the endpoint's certificate is not the pinned or a trusted one")
		err.Fingerprint = e.fingerprint
		return err
	case target.Credential.Secret != e.secret &&
		(target.Credential.Capability != endpoint.Lifecycle || target.Credential.Secret != e.changing):
		return plugin.Errorf(plugin.TokenRejected, "token %s is wrong", target.Credential.ID)
	}
	return nil
}

// Close implements firewall.Firewall.
func (f *Firewall) Close() error { return nil }
