package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// start builds the program and starts it as the service does.
func start(t *testing.T) (*catalog.Client, int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "hostler-plugin-scripts")
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
	if err != nil || len(served) != 1 || served[0].Kind != plugin.KindCatalog || served[0].Name != "scripts" {
		t.Fatalf("it serves %+v, %v", served, err)
	}
	source := catalog.NewClient(conn)
	if _, err := source.Info(t.Context()); err != nil {
		t.Fatal("asking for the info:", err)
	}
	return source, client.ReattachConfig().Pid
}

// TestThousandEntriesInLittleMemory syncs a large repository through the real process.
func TestThousandEntriesInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory: make check runs it")
	}
	t.Parallel()
	source, pid := start(t)
	server := scriptstest.NewServer(t)
	files := scriptstest.Many(1000)
	commit := server.Push(files)
	config := server.Config()
	config.Cache = t.TempDir()
	c, err := source.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	cursor, known := "", map[string]string(nil)
	for i := range 10 {
		began := time.Now()
		synced, err := catalog.VerifySync(t.Context(), c, catalog.SyncRequest{Cursor: cursor}, known,
			func(catalog.SyncStep) error { return nil })
		if err != nil || len(synced.Digests) != 1000 {
			t.Fatalf("%d entries, %v", len(synced.Digests), err)
		}
		if i < 2 {
			t.Logf("sync %d: %d came in %s with %d requests", i, synced.Added, time.Since(began).Round(time.Millisecond), len(server.Requests()))
		}
		cursor, known = synced.End.Cursor, synced.Digests
	}
	pin := catalog.Pin{{Repository: scriptstest.Name, Commit: commit}}
	if _, err := catalog.ReadBundle(t.Context(), c, catalog.BundleRequest{Slug: "first", Pin: pin, Purpose: catalog.Install},
		catalog.BundleStore{}); err != nil {
		t.Error(err)
	}
	memory := resident(t, pid)
	t.Logf("resident memory of the plugin after ten syncs of 1,000 entries: %d MiB", memory>>20)
	if memory > 100<<20 {
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
