// Package acl is a firewall backend for servers that keep access lists. They have rules without an order, for everything and for each
// guest, and nothing else: no aliases, no sets of addresses, no macros, no groups, no options, no log, and nothing for nodes.
package acl

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
)

// Backend opens firewalls.
type Backend struct {
	mu  sync.Mutex
	way map[endpoint.Target]*http.Transport
}

var _ firewall.Backend = (*Backend)(nil)

// New makes a backend.
func New() *Backend { return &Backend{way: map[endpoint.Target]*http.Transport{}} }

// Info implements firewall.Backend. The name is that of the driver whose hosts have this firewall.
func (b *Backend) Info(context.Context) (firewall.Info, error) {
	rules := []string{firewall.AbilityName[firewall.RuleLister](), firewall.AbilityName[firewall.RuleEditor]()}
	return firewall.Info{Name: "acl", Version: "1.0.0", Scopes: []firewall.ScopeAbilities{
		{Kind: firewall.ClusterScope, Abilities: rules}, {Kind: firewall.GuestScope, Abilities: rules},
	}}, nil
}

// Open implements firewall.Backend.
func (b *Backend) Open(_ context.Context, target endpoint.Target) (firewall.Firewall, error) {
	transport, err := b.transport(target)
	if err != nil {
		return nil, err
	}
	return &Firewall{client{target, transport}}, nil
}

// maxTargets is how many targets have connections at a time.
const maxTargets = 256

// transport gives the connections of a target, which all its credentials share: the token goes with each request.
func (b *Backend) transport(target endpoint.Target) (*http.Transport, error) {
	target.Credential = endpoint.Credential{}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, ok := b.way[target]; ok {
		return t, nil
	}
	trust, err := endpoint.TLSConfig(target, nil) // the pinned certificate, on every connection
	if err != nil {
		return nil, err
	}
	// The control judges the address that is really dialled. It is worth nothing behind a proxy, so that there is none.
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: endpoint.DialControl(target)}
	t := &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: trust, TLSHandshakeTimeout: 10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second, MaxConnsPerHost: 4, IdleConnTimeout: 75 * time.Second,
	}
	if len(b.way) >= maxTargets {
		for old, gone := range b.way { // any one: who needs it again connects again
			delete(b.way, old)
			gone.CloseIdleConnections()
			break
		}
	}
	b.way[target] = t
	return t, nil
}
