// Package membackend is a firewall in memory behind the Go interface, for
// tests: New makes one that has everything, NewLists one of another shape,
// without order, names for addresses, or groups.
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

// Secret is the secret of the one token that endpoints take which Add made.
const Secret plugin.Secret = "secret-of-mem"

// Backend holds the endpoints by address. An address that was not added is Unreachable.
type Backend struct {
	scopes []firewall.ScopeAbilities

	mu        sync.Mutex
	endpoints map[string]*Endpoint
}

var _ firewall.Backend = (*Backend)(nil)

// New makes a backend without endpoints. Clusters have everything but a log,
// nodes rules, options and a log, guests everything but groups and macros, and
// groups rules.
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

// NewEverywhere makes a backend without endpoints that has everything at every
// scope, as no hypervisor does: for tests of whoever asks.
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

// Endpoint is the firewall at one address.
type Endpoint struct {
	address, fingerprint string
	secret               plugin.Secret
	// admitted are the secrets of tokens that are taken in the place of the one
	// that reads, by their capabilities.
	admitted map[endpoint.Capability]plugin.Secret

	mu     sync.Mutex
	scopes map[string]*state
	// options are those of guests, which are there for guests that nobody knows, too.
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

// Add makes an endpoint at an address, "host:port", and replaces what was
// there. Its cluster scope is there and has nothing.
func (b *Backend) Add(address string) *Endpoint {
	sum := sha256.Sum256([]byte(address))
	return b.AddAt(endpoint.Target{
		Address: address, Fingerprint: endpoint.Fingerprint(&x509.Certificate{Raw: sum[:]}), Credential: endpoint.Credential{Secret: Secret},
	})
}

// AddAt is Add for an endpoint that stands at the target: it shows the target's
// certificate and takes its token only. So the firewall of another hypervisor
// in memory is made.
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

// Target is a pinned target with the proper token.
func (e *Endpoint) Target(capability endpoint.Capability) endpoint.Target {
	return endpoint.Target{
		Address: e.address, Fingerprint: e.fingerprint,
		Credential: endpoint.Credential{Capability: capability, ID: "service@mem", Secret: e.secret},
	}
}

// Admit takes the token of another target for its capability, in place of the one that reads.
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

func (b *Backend) open(target endpoint.Target) *Firewall {
	return &Firewall{backend: b, target: target}
}

// Firewall is one endpoint seen through one token.
type Firewall struct {
	backend *Backend
	target  endpoint.Target
}

var _ firewall.ScopeAbilityReporter = (*Firewall)(nil)

// CanAt implements firewall.ScopeAbilityReporter.
func (f *Firewall) CanAt(kind firewall.ScopeKind, ability string) bool {
	return firewall.Info{Scopes: f.backend.scopes}.Has(kind, ability)
}

// read finds the endpoint and locks it for a token that is admitted. Method is
// the name of the one that was called.
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

// change is read for what changes something.
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

// admit checks certificate and token; it needs the lock.
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
