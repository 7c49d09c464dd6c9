package pve_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Every node tells its own release and certificate, by three requests.
func TestMember(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1, Version: "9.2.11"})
	must(t, "giving a node a newer package", w.SetNodeVersion("pve2", "9.2.12"))
	host := w.host(t, endpoint.Monitoring)
	w.ResetStats()
	for node, version := range map[string]string{"pve1": "9.2.11", "pve2": "9.2.12"} {
		m, err := host.Member(t.Context(), node)
		must(t, "reading "+node, err)
		days := int(time.Until(m.NotAfter).Hours() / 24)
		if m.Version != version || m.Fingerprint != w.Fingerprint(node) || days < 700 || m.Subscription == nil ||
			m.Subscription.Status != "active" {
			t.Errorf("%s tells %+v", node, m)
		}
	}
	if got := w.Stats().Total; got != 6 {
		t.Errorf("%d requests for two nodes", got)
	}
	// A part that cannot be read is empty.
	for _, path := range []string{"/nodes/{node}/subscription", "/nodes/{node}/certificates/info"} {
		w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Match: pvesim.Match{Path: path}, Status: 500})
	}
	if m, err := host.Member(t.Context(), "pve1"); err != nil || m.Version != "9.2.11" || !m.NotAfter.IsZero() || m.Subscription != nil {
		t.Errorf("%+v, error %v", m, err)
	}
	must(t, "switching a node off", w.SetNodeOnline("pve3", false))
	_, err := host.Member(t.Context(), "pve3")
	wantKind(t, err, plugin.Unreachable)
}

// The monitoring token tells when its user's tokens end, unless it may not audit users; no other token asks.
func TestEndsOfTokens(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Guests: -1})
	end := w.Now().Add(48 * time.Hour).Truncate(time.Second)
	must(t, "ending a token", w.SetTokenEnd(pvesim.ServiceUser+"!lifecycle", end))
	p, err := w.host(t, endpoint.Monitoring).Permissions(t.Context())
	must(t, "asking for permissions", err)
	told := map[string]time.Time{}
	for _, e := range p.Ends {
		told[e.ID] = e.At
	}
	if got := told[pvesim.ServiceUser+"!lifecycle"]; !got.Equal(end) {
		t.Errorf("the token for lifecycle ends at %s, want %s", got, end)
	}
	if got, ok := told[pvesim.ServiceUser+"!monitoring"]; !ok || !got.IsZero() {
		t.Errorf("the token for monitoring ends at %s, told: %t", got, ok)
	}
	if p.Version == nil || p.Version.Version == "" || p.Version.Fingerprint != w.Fingerprint("") || p.Version.NotAfter.IsZero() {
		t.Errorf("the release on the way: %+v", p.Version)
	}
	p, err = w.host(t, endpoint.Lifecycle).Permissions(t.Context())
	if err != nil || len(p.Ends) != 0 {
		t.Errorf("another token tells %v, error %v", p.Ends, err)
	}
	lacking := w.token("/", true, "VM.Audit", "Datastore.Audit", "Pool.Audit")
	w.ResetStats()
	p, err = w.open(t, w.target(endpoint.Monitoring, lacking)).Permissions(t.Context())
	if err != nil || len(p.Ends) != 0 || w.Stats().Total != 2 {
		t.Errorf("a token that may not audit tells %v by %d requests, error %v", p.Ends, w.Stats().Total, err)
	}
}
