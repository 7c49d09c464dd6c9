package pve_test

import (
	"net"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestPeers(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: 1, Loopbacks: true})
	must(t, "switching pve3 off", w.SetNodeOnline("pve3", false))
	w.ResetStats()
	host := w.host(t, endpoint.Monitoring)
	peers, err := host.Peers(t.Context())
	must(t, "listing peers", err)
	n := int64(0)
	for _, of := range w.Stats().Requests {
		n += of
	}
	if n != 2 {
		t.Errorf("it took %d requests", n)
	}
	if len(peers) != 3 {
		t.Fatalf("peers are %+v", peers)
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(w.URL(""), "https://"))
	must(t, "reading the port", err)
	for i, p := range peers {
		if p.Name != []string{"pve1", "pve2", "pve3"}[i] || p.Address != []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}[i] ||
			p.Online != (i < 2) || p.Self != (i == 0) || p.Fingerprint == "" {
			t.Errorf("peer %d is %+v", i, p)
		}
		if !p.Online {
			continue
		}
		// The token of one member is good at the others, where the certificate is the one that was told.
		target := w.target(endpoint.Monitoring, w.Tokens()["monitoring"])
		target.Address, target.Fingerprint = net.JoinHostPort(p.Address, port), p.Fingerprint
		version, err := w.open(t, target).Version(t.Context())
		must(t, "asking "+p.Name, err)
		if version.Node != "" && version.Node != p.Name {
			t.Errorf("%s answered for %s", version.Node, p.Name)
		}
	}
}

func TestPeersOfAMachineAlone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: 1})
	peers, err := w.host(t, endpoint.Monitoring).Peers(t.Context())
	if err != nil || len(peers) != 1 || !peers[0].Self || !peers[0].Online || peers[0].Fingerprint == "" {
		t.Errorf("%+v, %v", peers, err)
	}
}

func TestPeersWithoutThePrivilege(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Guests: 1})
	_, err := w.host(t, endpoint.Lifecycle).Peers(t.Context())
	if plugin.KindOf(err) != plugin.Denied || !strings.Contains(err.Error(), "Sys.Audit") {
		t.Errorf("error is %v", err)
	}
}
