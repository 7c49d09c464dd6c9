package drivertest

import (
	"context"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// memberRead tests MemberReader: it reads a node through another one. What it
// reports about the node that was called must agree with Version and with the
// certificate of the connection.
func (s *suite) memberRead(t *testing.T) {
	need[hypervisor.MemberReader](t, s)
	s.run(t, "every node of the inventory", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		reader, version := as[hypervisor.MemberReader](t, host), s.version(t, ctx, host)
		all := gather(t, ctx, host, hypervisor.InventoryQuery{})
		for _, node := range s.nodes(t, ctx) {
			m, err := reader.Member(ctx, node)
			must(t, "reading node "+node, err)
			if m.Version == "" && m.NotAfter.IsZero() && m.Subscription == nil {
				t.Errorf("%s has no data and no error", node)
			}
			if parsed, err := endpoint.ParseFingerprint(m.Fingerprint); m.Fingerprint != "" && (err != nil || parsed != m.Fingerprint) {
				t.Errorf("%s has the fingerprint %q", node, m.Fingerprint)
			}
			if node != all.Cluster.Entry {
				continue
			}
			if m.Version != "" && m.Version != version.Version {
				t.Errorf("the called node runs %s, but reports %s as a member", version.Version, m.Version)
			}
			if m.Fingerprint != "" && version.Fingerprint != "" && m.Fingerprint != version.Fingerprint {
				t.Errorf("the called node presents %s, but reports %s as a member", version.Fingerprint, m.Fingerprint)
			}
		}
	})
	s.run(t, "names of no node", func(t *testing.T, ctx context.Context) {
		reader, node := as[hypervisor.MemberReader](t, s.host(t, endpoint.Monitoring)), s.nodes(t, ctx)[0]
		for _, name := range []string{"", "..", "no-such-node", node + "/../" + node, node + "\x00", node + "?x=1", "localhost"} {
			_, err := reader.Member(ctx, name)
			switch plugin.KindOf(err) {
			case plugin.NotFound, plugin.Invalid:
			default:
				t.Errorf("node %.80q: error is %.200v, want not found or invalid", name, err)
			}
		}
	})
	s.run(t, "wrong token", func(t *testing.T, ctx context.Context) {
		node := s.nodes(t, ctx)[0]
		_, err := as[hypervisor.MemberReader](t, s.open(t, s.wrong(t, endpoint.Monitoring))).Member(ctx, node)
		wantKind(t, err, plugin.TokenRejected)
	})
	s.run(t, "canceled", func(t *testing.T, ctx context.Context) {
		node := s.nodes(t, ctx)[0]
		reader := as[hypervisor.MemberReader](t, s.host(t, endpoint.Monitoring))
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		_, err := reader.Member(canceled, node)
		wantCanceled(t, err)
	})
}
