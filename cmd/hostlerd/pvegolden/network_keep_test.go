package pvegolden_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

// TestEditKeepsWhatItDoesNotName edits an interface whose part of the file has settings that the service does not know, and such that it
// knows and that the request does not name.
func TestEditKeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	w := pvegolden.NewWorld(t, endpoint.Lifecycle)
	const file = `auto lo
iface lo inet loopback

iface eno1 inet manual

auto vmbr9
iface vmbr9 inet static
	address 198.51.100.9/24
	bridge-ports eno1
	bridge-stp on
	bridge-fd 7
	bridge-vlan-aware yes
	bridge-vids 2-99
	bridge-ageing 300
	mtu 1500
	post-up ip route add 203.0.113.0/24 via 198.51.100.1
# the uplink

iface vmbr9 inet6 static
	address fd00:9::9/64
	post-up sysctl -w net.ipv6.conf.vmbr9.accept_ra=0
`
	kept := []string{"auto vmbr9", "address 198.51.100.9/24", "bridge-ports eno1", "bridge-stp on", "bridge-fd 7", "bridge-vlan-aware yes",
		"bridge-vids 2-99", "bridge-ageing 300", "post-up ip route add 203.0.113.0/24 via 198.51.100.1", "# the uplink", "address fd00:9::9/64",
		"post-up sysctl -w net.ipv6.conf.vmbr9.accept_ra=0"}
	for body, change := range map[string][]string{
		`{"config":{"mtu":1400}}`:                  {"mtu 1500", "mtu 1400"},
		`{"config":{"mtu":null}}`:                  {"mtu 1500", ""},
		`{"config":{"cidr6":"fd00:9::8/64"}}`:      {"address fd00:9::9/64", "address fd00:9::8/64"},
		`{"config":{"comment":"the other one\n"}}`: {"# the uplink", "#the other one"},
	} {
		if err := w.SetNodeFiles("pve1", pvesim.NodeFiles{Interfaces: file}); err != nil {
			t.Fatal(err)
		}
		if a := w.Request(http.MethodPut, "/network/bridges/{host}/pve1/vmbr9?confirm=vmbr9", body); a.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
		files, err := w.NodeFiles("pve1")
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		for line := range strings.Lines(files.Staged) {
			said[strings.Join(strings.Fields(line), " ")] = true
		}
		for _, line := range append(kept, change[1]) {
			if line != change[0] && !said[line] {
				t.Errorf("%s: %q is lost:\n%s", body, line, files.Staged)
			}
		}
		if said[change[0]] {
			t.Errorf("%s: %q is still there:\n%s", body, change[0], files.Staged)
		}
	}
}
