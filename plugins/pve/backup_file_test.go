package pve_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/sshdtest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Each type of storage that is a folder of the node tells where its backups lie, and the others say what they are.
func TestFilesOfBackups(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne})
	host := w.host(t, endpoint.Lifecycle)
	made := hypervisor.Backup{ID: "other:backup/vzdump-lxc-101-2026_01_02-03_04_05.tar.zst",
		Storage: "other", Node: "pve1"}
	name := strings.TrimPrefix(made.ID, "other:backup/")
	for want, spec := range map[string]hypervisor.StorageSpec{
		"/srv/a/dump/" + name:      {Name: "sa", Type: "dir", Config: settings("path", "/srv/a")},
		"/srv/b/x/y/" + name:       {Name: "sb", Type: "dir", Config: settings("path", "/srv/b/", "content-dirs", "iso=z, backup=/x/y/")},
		"/mnt/pve/sc/dump/" + name: {Name: "sc", Type: "cifs", Config: settings("server", "192.0.2.1", "share", "s", "path", "/mnt/pve/sc")},
		"/srv/d/dump/" + name:      {Name: "sd", Type: "btrfs", Config: settings("path", "/srv/d")},
		"does not store backups":   {Name: "se", Type: "pbs", Config: settings("server", "192.0.2.1", "datastore", "s")},
	} {
		spec.Config = append(spec.Config, hypervisor.StorageSetting{Key: "content", Value: "backup"})
		if err := host.AttachStorage(t.Context(), spec); err != nil {
			t.Fatal(spec.Name, err)
		}
		query := hypervisor.BackupQuery{Storage: spec.Name, Node: "pve1"}
		file, err := host.BackupFile(t.Context(), query, made)
		if strings.HasPrefix(want, "/") {
			if file != (hypervisor.BackupFile{Path: want, ID: spec.Name + ":backup/" + name}) || err != nil {
				t.Errorf("%s: %+v, %v, want %s", spec.Name, file, err, want)
			}
			continue
		}
		if plugin.KindOf(err) != plugin.Unsupported || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %s", spec.Name, file, err, want)
		}
	}
	for _, id := range []string{"other:backup/../x", "other:backup/vm/101/2026-01-02T03:04:05Z", "other:backup/a.tar",
		"other:iso/vzdump-lxc-101-2026_01_02-03_04_05.tar", "other:backup/vzdump-lxc-101-2026_01_02-03_04_05.tar.zst\n"} {
		file, err := host.BackupFile(t.Context(), hypervisor.BackupQuery{Storage: "sa", Node: "pve1"},
			hypervisor.Backup{ID: id, Storage: "other"})
		if plugin.KindOf(err) != plugin.NotFound {
			t.Errorf("%q: %+v, %v", id, file, err)
		}
	}
}

func settings(pairs ...string) (all []hypervisor.StorageSetting) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, hypervisor.StorageSetting{Key: pairs[i], Value: plugin.Secret(pairs[i+1])})
	}
	return all
}

// A file of a backup goes from one machine to another by real logins: what is told is where the programs of both find it.
func TestFilesOfBackupsGoFromMachineToMachine(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne})
	host := w.host(t, endpoint.Lifecycle)
	folders, paths := []string{t.TempDir(), t.TempDir()}, []string{}
	for i, name := range []string{"here", "there"} {
		if err := os.Mkdir(filepath.Join(folders[i], "dump"), 0o755); err != nil {
			t.Fatal(err)
		}
		spec := hypervisor.StorageSpec{Name: name, Type: "dir", Config: settings("path", folders[i], "content", "backup")}
		if err := host.AttachStorage(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		file, err := host.BackupFile(t.Context(), hypervisor.BackupQuery{Storage: name, Node: "pve1"},
			hypervisor.Backup{ID: "here:backup/vzdump-qemu-100-2026_01_02-03_04_05.vma.zst", Storage: "here"})
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, file.Path)
	}
	content := bytes.Repeat([]byte("a guest\x00\n"), 200_000)
	if err := os.WriteFile(paths[0], content, 0o644); err != nil {
		t.Fatal(err)
	}
	source, target := machineAt(t, w), machineAt(t, w)
	var got bytes.Buffer
	file, err := source.CopyFromNode(t.Context(), paths[0], int64(len(content)), &got)
	if err != nil {
		t.Fatal(err)
	}
	file.Path, file.Mode = paths[1], 0o600
	if sum, err := target.CopyToNode(t.Context(), file, &got); err != nil || sum != file.SHA256 {
		t.Fatal(sum, err)
	}
	if raw, err := os.ReadFile(paths[1]); err != nil || !bytes.Equal(raw, content) {
		t.Errorf("the copy has %d bytes, %v", len(raw), err)
	}
}

// machineAt is a machine of its own, as the driver logs in to it.
func machineAt(t *testing.T, w *fixture) hypervisor.NodeExecutor {
	t.Helper()
	at, err := w.driver.Open(t.Context(), sshdtest.Start(t).Target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = at.Close() })
	return at.(hypervisor.NodeExecutor)
}
