// Package membackend is a firewall in memory, for tests of code that uses
// package firewall. New returns a backend that has every ability at the usual
// scopes, NewEverywhere one that has them at every scope, and NewLists one
// of another shape: rules without an order, and no names for addresses and no
// groups.
//
// A test adds endpoints with Add and fills them with SetRules, AddScope, AddLog
// and similar methods. It passes Endpoint.Target to the code under test.
// Methods of fault.go make calls fail, lose answers, or let a test change
// something between two calls.
//
// What differs from a real firewall:
//
//   - Changes take effect at once and are never partial.
//   - Digests cover exactly the list that is changed.
//   - Evaluation knows a few macros and no connection tracking; it exists
//     to test callers, not rules.
//   - A token is its secret. Only a target with the capability lifecycle
//     may change anything.
package membackend

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"sync"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// Secret is the secret of the only token of endpoints that Add creates.
const Secret plugin.Secret = "secret-of-mem"

// Backend contains the endpoints by address. A call to an address that was not
// added is Unreachable. It is safe for concurrent use.
type Backend struct {
	scopes []firewall.ScopeAbilities

	mu        sync.Mutex
	endpoints map[string]*Endpoint
}

var _ firewall.Backend = (*Backend)(nil)

// New returns a backend without endpoints. The cluster has every ability but a
// log; nodes have rules, options and a log; guests have every ability but
// groups, macros and evaluation; groups have rules.
func New() *Backend {
	rules := []string{"rules", "rule_edit", "rule_move", "rule_check"}
	names := []string{"aliases", "ipsets", "ipset_members", "references", "usage"}
	return &Backend{endpoints: map[string]*Endpoint{}, scopes: []firewall.ScopeAbilities{
		{Kind: firewall.ClusterScope, Abilities: append(append([]string{"options", "groups", "macros", "evaluate"}, rules...), names...)},
		{Kind: firewall.NodeScope, Abilities: append([]string{"options", "log"}, rules...)},
		{Kind: firewall.GuestScope, Abilities: append(append([]string{"options", "log"}, rules...), names...)},
		{Kind: firewall.GroupScope, Abilities: rules},
	}}
}

// NewEverywhere returns a backend without endpoints that has every ability at
// every scope. No hypervisor does that; it is for tests that must reach all
// code of a caller.
func NewEverywhere() *Backend {
	b := New()
	all := []string{"rules", "rule_edit", "rule_move", "rule_check", "options", "log", "aliases", "ipsets", "ipset_members", "references",
		"usage"}
	for i := range b.scopes {
		b.scopes[i].Abilities = append([]string{}, all...)
		if b.scopes[i].Kind == firewall.ClusterScope {
			b.scopes[i].Abilities = append(b.scopes[i].Abilities, "groups", "macros", "evaluate")
		}
	}
	return b
}

// Endpoint is the firewall at one address. Its methods are safe for concurrent
// use.
type Endpoint struct {
	address, fingerprint string
	secret               plugin.Secret
	// admitted are the secrets of further tokens, by their capability.
	admitted map[endpoint.Capability]plugin.Secret

	mu     sync.Mutex
	scopes map[string]*state
	// options are the options of guests, also of guests that no AddScope made
	// known: they appear with the first option.
	options map[firewall.Guest]firewall.Options
	groups  []firewall.Group
	macros  []firewall.Macro
	// clusterPort is the TCP port of the cluster's own traffic; 0 for none.
	clusterPort int
	// nics are the network interfaces of guests and nodes, by endKey.
	nics       map[string][]NIC
	incomplete string
	faults
}

// Add creates an endpoint at an address, such as "host:port", and replaces an
// earlier one. It has a cluster scope without content, and a fingerprint that
// is derived from the address.
func (b *Backend) Add(address string) *Endpoint {
	sum := sha256.Sum256([]byte(address))
	return b.AddAt(endpoint.Target{
		Address: address, Fingerprint: endpoint.Fingerprint(&x509.Certificate{Raw: sum[:]}), Credential: endpoint.Credential{Secret: Secret},
	})
}

// AddAt creates an endpoint at the address of a target, with the target's
// fingerprint and secret. It gives a hypervisor in memory a firewall at the
// same address.
func (b *Backend) AddAt(target endpoint.Target) *Endpoint {
	e := &Endpoint{
		address: target.Address, fingerprint: target.Fingerprint, secret: target.Credential.Secret,
		admitted: map[endpoint.Capability]plugin.Secret{}, options: map[firewall.Guest]firewall.Options{}, scopes: map[string]*state{},
		macros: []firewall.Macro{
			{Name: "DNS", Description: "Domain Name System traffic (udp and tcp)"}, {Name: "HTTP", Description: "Hypertext Transfer Protocol"},
			{Name: "HTTPS", Description: "Hypertext Transfer Protocol over SSL"}, {Name: "Ping", Description: "ICMP echo request"},
			{Name: "SSH", Description: "Secure shell traffic"},
		},
	}
	e.AddScope(firewall.Scope{Kind: firewall.ClusterScope})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endpoints[e.address] = e
	return e
}

// Target returns a working target with the pinned fingerprint and the right
// secret.
func (e *Endpoint) Target(capability endpoint.Capability) endpoint.Target {
	return endpoint.Target{
		Address: e.address, Fingerprint: e.fingerprint,
		Credential: endpoint.Credential{Capability: capability, ID: "service@mem", Secret: e.secret},
	}
}

// Admit accepts the secret of another target for the target's capability, in
// addition to the endpoint's own secret.
func (e *Endpoint) Admit(target endpoint.Target) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.admitted[target.Credential.Capability] = target.Credential.Secret
}

// Info implements firewall.Backend.
func (b *Backend) Info(context.Context) (firewall.Info, error) {
	return firewall.Info{Name: "mem", Version: "1.0.0", Scopes: b.scopes}, nil
}

// Open implements firewall.Backend.
func (b *Backend) Open(_ context.Context, target endpoint.Target) (firewall.Firewall, error) {
	return b.open(target), nil
}

// open returns the firewall of a target. Nothing is checked before the first
// call, as with a real backend.
func (b *Backend) open(target endpoint.Target) *Firewall {
	return &Firewall{backend: b, target: target}
}

// Firewall is an endpoint as one token sees it. Several may be open at the same
// time.
type Firewall struct {
	backend *Backend
	target  endpoint.Target
}

var _ firewall.ScopeAbilityReporter = (*Firewall)(nil)

// CanAt implements firewall.ScopeAbilityReporter.
func (f *Firewall) CanAt(kind firewall.ScopeKind, ability string) bool {
	return firewall.Info{Scopes: f.backend.scopes}.Has(kind, ability)
}

// read runs a call: it finds the endpoint, calls the hook of Before without the
// lock, checks certificate and token, applies faults, and runs do with the
// lock. method is the name of the interface's method, for faults.
func (f *Firewall) read(ctx context.Context, method string, do func(*Endpoint) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.backend.mu.Lock()
	e, ok := f.backend.endpoints[f.target.Address]
	f.backend.mu.Unlock()
	if !ok {
		return plugin.Errorf(plugin.Unreachable, "nothing answers at %s", f.target.Address)
	}
	if before := e.hook(); before != nil {
		before(method)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.admit(f.target); err != nil {
		return err
	}
	if err := e.failing(method); err != nil {
		return err
	}
	return do(e)
}

// change is read for calls that change something. It requires a token for
// lifecycle, and returns the error of LoseAnswer after the change was made.
func (f *Firewall) change(ctx context.Context, method string, do func(*Endpoint) error) error {
	return f.read(ctx, method, func(e *Endpoint) error {
		if f.target.Credential.Capability != endpoint.Lifecycle {
			return plugin.Errorf(plugin.Denied, "the token may not change the firewall")
		}
		if err := do(e); err != nil {
			return err
		}
		return e.losing(method)
	})
}

// admit checks the certificate and the token of a target. The caller holds the
// lock.
func (e *Endpoint) admit(target endpoint.Target) error {
	switch {
	case target.Fingerprint != "" && !endpoint.EqualFingerprint(target.Fingerprint, e.fingerprint),
		target.Fingerprint == "" && target.VerifyTLS:
		err := plugin.Errorf(plugin.Untrusted, "the endpoint's certificate is not the pinned or a trusted one")
		err.Fingerprint = e.fingerprint
		return err
	case target.Credential.Secret != e.secret && target.Credential.Secret != e.admitted[target.Credential.Capability]:
		return plugin.Errorf(plugin.TokenRejected, "token %s is wrong", target.Credential.ID)
	}
	return nil
}

// Close implements firewall.Firewall.
func (f *Firewall) Close() error { return nil }
