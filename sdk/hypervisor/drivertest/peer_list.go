package drivertest

import (
	"context"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// peerList tests PeerLister. The peers are exactly the nodes of the inventory,
// and exactly one of them is marked as the node that was called.
func (s *suite) peerList(t *testing.T) {
	need[hypervisor.PeerLister](t, s)
	s.run(t, "every node of the inventory", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		all := gather(t, ctx, host, hypervisor.InventoryQuery{})
		peers, err := as[hypervisor.PeerLister](t, host).Peers(ctx)
		must(t, "listing peers", err)
		var names, nodes []string
		self := 0
		for _, p := range peers {
			names = append(names, p.Name)
			if parsed, err := endpoint.ParseFingerprint(p.Fingerprint); p.Fingerprint != "" && (err != nil || parsed != p.Fingerprint) {
				t.Errorf("%s has the fingerprint %q", p.Name, p.Fingerprint)
			}
			if !p.Self {
				continue
			}
			self++
			if all.Cluster.Entry != "" && p.Name != all.Cluster.Entry {
				t.Errorf("%s claims that it was called, but %s answers", p.Name, all.Cluster.Entry)
			}
			if shown := s.version(t, ctx, host).Fingerprint; p.Fingerprint != "" && shown != "" && p.Fingerprint != shown {
				t.Errorf("the called node reports the fingerprint %s, but presents %s", p.Fingerprint, shown)
			}
		}
		for _, n := range all.Nodes {
			nodes = append(nodes, n.Name)
		}
		slices.Sort(names)
		slices.Sort(nodes)
		if !slices.Equal(names, nodes) || self != 1 {
			t.Errorf("the peers are %v, %d of them called, but the nodes are %v", names, self, nodes)
		}
	})
	s.run(t, "a token without the right", func(t *testing.T, ctx context.Context) {
		hook(t, "Lacking", s.Lacking != nil)
		target, _ := s.Lacking(t, endpoint.Monitoring)
		_, err := as[hypervisor.PeerLister](t, s.open(t, target)).Peers(ctx)
		if err != nil && plugin.KindOf(err) != plugin.Denied {
			t.Errorf("error is %v, want denied or none", err)
		}
	})
	s.run(t, "canceled", func(t *testing.T, ctx context.Context) {
		lister := as[hypervisor.PeerLister](t, s.host(t, endpoint.Monitoring))
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := lister.Peers(canceled); err == nil {
			t.Error("no error")
		}
	})
}

// version returns the host's version.
func (s *suite) version(t *testing.T, ctx context.Context, host hypervisor.Host) hypervisor.Version {
	t.Helper()
	version, err := host.Version(ctx)
	must(t, "asking for the version", err)
	return version
}
