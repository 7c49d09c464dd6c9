package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// start builds the program and starts it as the service does.
func start(t *testing.T) (*catalog.Client, int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "hostler-plugin-folder")
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
	if err != nil || len(served) != 1 || served[0].Kind != plugin.KindCatalog || served[0].Name != "folder" {
		t.Fatalf("it serves %+v, %v", served, err)
	}
	source := catalog.NewClient(conn)
	if _, err := source.Info(t.Context()); err != nil {
		t.Fatal("asking for the info:", err)
	}
	return source, client.ReattachConfig().Pid
}

// The process serves a folder.
func TestFolder(t *testing.T) {
	t.Parallel()
	source, pid := start(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"app.json": `{"name":"A"}`, "ct.sh": "true", "install.sh": "true"} {
		if err := os.MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := source.Open(t.Context(), catalog.Config{Cache: t.TempDir(), Options: map[string]string{"folder": dir}})
	if err != nil {
		t.Fatal(err)
	}
	synced, err := catalog.VerifySync(t.Context(), c, catalog.SyncRequest{}, nil, func(catalog.SyncStep) error { return nil })
	if err != nil || synced.Added != 1 || pid == 0 {
		t.Errorf("%+v, %v", synced, err)
	}
	m, err := catalog.ReadBundle(t.Context(), c, catalog.BundleRequest{Slug: "a", Pin: synced.Begin.Pin, Purpose: catalog.Install},
		catalog.BundleStore{})
	if err != nil || len(m.Files) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}
