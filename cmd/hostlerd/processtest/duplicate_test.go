package processtest

import (
	"net/http"
	"strings"
	"testing"
)

// One server by two of its addresses, over real processes; other servers of the same node name and other members stay
// hosts of their own.
func TestOneServerByTwoAddresses(t *testing.T) {
	t.Parallel()
	alone, other := startSim(t, "--scenario", "one", "--auth-delay", "0"),
		startSim(t, "--scenario", "one", "--auth-delay", "0", "--seed", "9")
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "2", "--auth-delay", "0")
	s := startService(t, options{})
	owner := setUp(t, s)
	enrol := func(status int, name, url, fingerprint string, token apiToken) answer {
		t.Helper()
		return owner.must(t, status, http.MethodPost, "/api/v1/hosts", map[string]any{
			"name": name, "address": url, "tls_fingerprint": fingerprint, "token_id": token.ID, "token_secret": token.Secret,
		}, nil)
	}
	byName := func(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }
	refused := func(a answer, id int64) {
		t.Helper()
		var p struct {
			Error  string
			HostID int64 `json:"host_id"`
		}
		if a.into(t, &p); p.Error != "already_enrolled" || p.HostID != id {
			t.Errorf("the refusal is %s, want already_enrolled with host %d", a.Body, id)
		}
	}
	first := owner.enrol(t, alone, "alone")
	enrol(http.StatusCreated, "other", other.URL, other.Fingerprint, other.Tokens["monitoring"])
	refused(enrol(http.StatusConflict, "twice", byName(alone.URL), alone.Fingerprint, alone.Tokens["monitoring"]), first)
	member := owner.enrol(t, cluster, "member")
	enrol(http.StatusCreated, "member2", cluster.Nodes[1].URL, cluster.Nodes[1].Fingerprint, cluster.Tokens["monitoring"])
	refused(enrol(http.StatusConflict, "twice", byName(cluster.URL), cluster.Fingerprint, cluster.Tokens["monitoring"]), member)
	var hosts []struct{ Name string }
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/hosts", nil, &hosts)
	if len(hosts) != 4 {
		t.Errorf("%d hosts are enrolled: %v", len(hosts), hosts)
	}
}
