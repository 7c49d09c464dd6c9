package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// start builds the program and starts it as the service does.
func start(t *testing.T) (*hypervisor.Client, int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "hostler-plugin-pve")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", binary, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: plugin.Handshake(), VersionedPlugins: plugin.VersionedSet(), Cmd: exec.Command(binary),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC}, AutoMTLS: true, SkipHostEnv: true,
		Logger: hclog.NewNullLogger(), StartTimeout: 30 * time.Second, GRPCDialOptions: plugin.DialOptions(),
	})
	t.Cleanup(client.Kill)
	protocol, err := client.Client()
	if err != nil {
		t.Fatal("starting:", err)
	}
	conn, err := plugin.Connect(protocol)
	if err != nil {
		t.Fatal("connecting:", err)
	}
	served, err := conn.Describe(t.Context())
	if err != nil || len(served) != 2 || served[0].Kind != plugin.KindHypervisor || served[1].Kind != plugin.KindFirewall {
		t.Fatalf("it serves %+v, %v", served, err)
	}
	driver := hypervisor.NewClient(conn)
	if _, err := driver.Info(t.Context()); err != nil {
		t.Fatal("asking for the info:", err)
	}
	return driver, client.ReattachConfig().Pid
}

// TestTenThousandGuestsInLittleMemory polls a large cluster through the real process.
func TestTenThousandGuestsInLittleMemory(t *testing.T) {
	t.Parallel()
	driver, pid := start(t)
	info, err := driver.Info(t.Context())
	if want := hypervisor.Abilities(&pve.Driver{}, &pve.Host{}); err != nil || info.Name != "pve" || !slices.Equal(info.Abilities, want) {
		t.Fatalf("info is %+v, %v", info, err)
	}
	cluster := pvesimtest.Start(t, pvesim.Options{Nodes: 10, Guests: 10000})
	token := cluster.Tokens()["monitoring"]
	host, err := driver.Open(t.Context(), endpoint.Target{
		Address: strings.TrimPrefix(cluster.URL(""), "https://"), Fingerprint: cluster.Fingerprint(""), AllowLocal: true,
		Credential: endpoint.Credential{Capability: endpoint.Monitoring, ID: token.ID, Secret: plugin.Secret(token.Secret)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		guests := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := host.Inventory(ctx, hypervisor.InventoryQuery{Detail: i%5 == 4, Since: time.Now().Add(-5 * time.Minute)},
			func(p hypervisor.Page) error {
				guests += len(p.Guests)
				return nil
			})
		cancel()
		if err != nil || guests != 10000 {
			t.Fatalf("%d guests, %v", guests, err)
		}
	}
	memory := resident(t, pid)
	t.Logf("resident memory of the plugin after ten inventories of 10,000 guests: %d MiB", memory>>20)
	if memory > 60<<20 {
		t.Errorf("the plugin takes %d MiB", memory>>20)
	}
}

// resident is the present memory of a process in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("this system does not tell the memory of processes:", err)
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
