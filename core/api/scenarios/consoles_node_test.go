package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
)

// A console is asked for at the node that it is of, where that is enrolled, and by another way where that does not answer.
func TestConsolesByTheirNode(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	const address = "other.mem:8006"
	f.driver.AddEntry(f.cluster, address, f.cluster.Nodes()[1])
	monitoring := f.cluster.Target(endpoint.Monitoring).Credential
	f.ask(f.owner, "POST", "hosts", fmt.Sprintf(`{"name":"other","address":%q,"tls_fingerprint":%q,"token_id":%q,"token_secret":%q}`, address,
		f.cluster.Fingerprint(), monitoring.ID, string(monitoring.Secret)), 201)
	// The token of that host may do nothing, which shows that it is the one that was asked.
	powerless := f.cluster.NewToken(endpoint.Console, "powerless").Credential
	f.ask(f.owner, "POST", "hosts/2/credentials", fmt.Sprintf(`{"capability":"console","token_id":%q,"token_secret":%q}`, powerless.ID,
		string(powerless.Secret)), 200)
	f.ask(f.owner, "POST", "hosts/2/sync", "", 200)
	f.Exec("DELETE FROM guests WHERE host_id = 2") // nothing shows yet that the two are one cluster
	f.Exec("UPDATE hosts SET cluster_id = (SELECT cluster_id FROM hosts WHERE id = 1) WHERE id = 2")
	for name, ref := range f.refs {
		if name == "off" || name == "wiki" {
			continue
		}
		want := 200
		if ref.Node == "node2" {
			want = 502
		}
		f.ask(f.owner, "POST", f.vm(name)+"/tickets", "", want)
	}
	f.ask(f.owner, "POST", nodeShell+"/tickets?node=node2", "", 200) // node shells are off at the other host
	f.ask(f.owner, "PATCH", "hosts/2", `{"node_shell_enabled":true}`, 200)
	if got := string(f.ask(f.owner, "POST", nodeShell+"/tickets?node=node2", "", 502)); !strings.Contains(got, "permission") {
		t.Errorf("the shell by the powerless token: %s", got)
	}
	f.Exec("UPDATE hosts SET address = 'gone.mem:8006' WHERE id = 2")
	f.ask(f.owner, "POST", nodeShell+"/tickets?node=node2", "", 200)
	for name, ref := range f.refs {
		if ref.Node == "node2" && name != "off" && name != "wiki" {
			f.ask(f.owner, "POST", f.vm(name)+"/tickets", "", 200)
		}
	}
}
