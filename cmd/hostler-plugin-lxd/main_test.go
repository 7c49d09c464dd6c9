package main_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// start builds the program and starts it as the service does.
func start(t *testing.T) (*hypervisor.Client, int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "hostler-plugin-lxd")
	if err := programtest.Build(t.Context(), "", binary, "."); err != nil {
		t.Fatal(err)
	}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: plugin.Handshake(), VersionedPlugins: plugin.VersionedSet(), Cmd: exec.Command(binary),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC}, AutoMTLS: true, SkipHostEnv: true,
		Logger: hclog.NewNullLogger(), StartTimeout: time.Minute, GRPCDialOptions: plugin.DialOptions(),
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
	if err != nil || len(served) != 1 || served[0].Kind != plugin.KindHypervisor || served[0].Name != "lxd" {
		t.Fatalf("it serves %+v, %v", served, err)
	}
	driver := hypervisor.NewClient(conn)
	if _, err := driver.Info(t.Context()); err != nil {
		t.Fatal("asking for the info:", err)
	}
	return driver, client.ReattachConfig().Pid
}

const guests = 10000

// server answers as one with many guests does.
func server(t *testing.T) *httptest.Server {
	t.Helper()
	var list, metrics strings.Builder
	for i := range guests {
		fmt.Fprintf(&list, `,{"name":"guest-%d","project":"default","type":"container","status":"Running","location":"none",
			"last_used_at":"2026-11-22T00:00:00Z","expanded_config":{"volatile.uuid":"0cd8d3bc-253a-42ee-a954-%012d","image.note":%q}}`,
			i, i, strings.Repeat("n", 1500))
		for _, figure := range []string{"cpu_seconds_total{mode=\"user\",", "memory_MemTotal_bytes{", "memory_MemAvailable_bytes{"} {
			fmt.Fprintf(&metrics, "lxd_%sname=\"guest-%d\",project=\"default\",type=\"container\"} 1e6\n", figure, i)
		}
	}
	answers := map[string]string{
		"/1.0":               `{"auth":"trusted","environment":{"server":"lxd","server_version":"5.0.2","server_name":"lxd1"}}`,
		"/1.0/storage-pools": "[]", "/1.0/resources": "{}", "/1.0/instances": "[" + list.String()[1:] + "]",
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/1.0/metrics" {
			_, _ = io.WriteString(w, metrics.String())
			return
		}
		metadata, known := answers[r.URL.Path]
		if !known {
			metadata = `{"type":"client","restricted":false}`
		}
		_, _ = io.WriteString(w, `{"type":"sync","metadata":`+metadata+"}")
	}))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// TestTenThousandGuestsInLittleMemory polls a large server through the real process.
func TestTenThousandGuestsInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory: make check runs it")
	}
	t.Parallel()
	driver, pid := start(t)
	info, err := driver.Info(t.Context())
	if err != nil || info.Name != "lxd" || len(info.Abilities) != 10 || info.DefaultPort != "8443" {
		t.Fatalf("info is %+v, %v", info, err)
	}
	large := server(t)
	credential, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	host, err := driver.Open(t.Context(), endpoint.Target{Address: large.Listener.Addr().String(),
		Fingerprint: endpoint.Fingerprint(large.Certificate()), AllowLocal: true, Credential: credential})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		count := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := host.Inventory(ctx, hypervisor.InventoryQuery{Detail: i%5 == 4}, func(p hypervisor.Page) error {
			count += len(p.Guests)
			return nil
		})
		cancel()
		if err != nil || count != guests {
			t.Fatalf("%d guests, %v", count, err)
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
