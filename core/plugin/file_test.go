package plugin_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// flip changes one byte at the end of a file, where an ELF program keeps nothing that it needs to run.
func flip(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal("reading the plugin:", err)
	}
	content[len(content)-1] ^= 1
	replace(t, path, content)
}

// replace puts a new file in a running program's place, which cannot be written to.
func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	err := programtest.Write(path+".new", content)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal("replacing the plugin:", err)
	}
}

func TestChangedByte(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if _, err := b.Pin(t.Context(), memFile, "test"); err != nil {
		t.Fatal("pinning:", err)
	}
	verdicts, err := b.Verify(t.Context())
	if err != nil || len(verdicts) != 1 || verdicts[0].Err != nil {
		t.Fatalf("verdicts are %+v, error %v, want one good", verdicts, err)
	}
	path := filepath.Join(b.dir, memFile)
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal("reading the plugin:", err)
	}
	flip(t, path)
	verdicts, err = b.Verify(t.Context())
	if err != nil || !errors.Is(verdicts[0].Err, plugin.ErrDigest) || verdicts[0].SHA256 == verdicts[0].Pin.SHA256 {
		t.Errorf("verdicts are %+v, error %v, want a wrong digest", verdicts, err)
	}
	if err := b.Start(t.Context()); err != nil {
		t.Fatal("starting:", err)
	}
	waittest.Until(t, "failed for the digest", func() bool { // it is tried again and again
		s := b.status(t)
		return s.State == plugin.Failed && s.PID == 0 && strings.Contains(s.Error, plugin.ErrDigest.Error())
	})
	replace(t, path, original)
	waittest.Until(t, "running again with the right file", func() bool { return b.status(t).State == plugin.Running })
}

func TestChangedWhileRunning(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	flip(t, filepath.Join(b.dir, memFile))
	if _, err := b.host(t, "exit-version.mem:8006").Version(t.Context()); err == nil {
		t.Fatal("the plugin did not end")
	}
	waittest.Until(t, "the changed file is refused at the restart", func() bool { return b.status(t).State == plugin.Failed })
}

func TestWrongPin(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]string{
		"another digest": strings.Repeat("ab", 32), "no digest": "", "short": "abcd", "no hexadecimal": strings.Repeat("xy", 32),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, startOnce)
			_ = b.pins.Put(t.Context(), plugin.Pin{
				Kind: "hypervisor", Name: "mem", Version: "1.0.0", File: memFile, SHA256: wrong, Enabled: true,
			})
			if err := b.Start(t.Context()); err != nil {
				t.Fatal("starting:", err)
			}
			if s := b.status(t); s.State != plugin.Failed || !strings.Contains(s.Error, plugin.ErrDigest.Error()) {
				t.Errorf("status is %+v, want failed for the digest", s)
			}
		})
	}
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plugin.Pin){
		"version": func(p *plugin.Pin) { p.Version = "2.0.0" },
		"name":    func(p *plugin.Pin) { p.Name = "other" },
		"kind":    func(p *plugin.Pin) { p.Kind = "firewall" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, startOnce)
			found, err := b.Pin(t.Context(), memFile, "test")
			if err != nil {
				t.Fatal("pinning:", err)
			}
			pin := found[0]
			_ = b.pins.Remove(t.Context(), pin.Kind, pin.Name)
			change(&pin)
			_ = b.pins.Put(t.Context(), pin)
			if err := b.Start(t.Context()); err != nil {
				t.Fatal("starting:", err)
			}
			if s := b.status(t); s.State != plugin.Failed || !strings.Contains(s.Error, plugin.ErrMismatch.Error()) || s.PID != 0 {
				t.Errorf("status is %+v, want failed for the mismatch", s)
			}
			if name != "version" {
				if _, err := b.Pin(t.Context(), memFile, "test"); !errors.Is(err, plugin.ErrMismatch) {
					t.Errorf("pinning again: error is %v, want a mismatch", err)
				}
			}
		})
	}
}

func TestNameOfAnotherFile(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.install(t, "hostler-plugin-twin")
	if _, err := b.Pin(t.Context(), memFile, "test"); err != nil {
		t.Fatal("pinning:", err)
	}
	if _, err := b.Pin(t.Context(), "hostler-plugin-twin", "test"); !errors.Is(err, plugin.ErrMismatch) {
		t.Errorf("error is %v, want a mismatch: the name is taken by another file", err)
	}
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	before := b.status(t)
	flip(t, filepath.Join(b.dir, memFile))
	if _, err := b.Pin(t.Context(), memFile, "someone"); err != nil {
		t.Fatal("pinning the new file:", err)
	}
	if err := b.Reload(t.Context()); err != nil {
		t.Fatal("reloading:", err)
	}
	if s := b.status(t); s.State != plugin.Running || s.SHA256 == before.SHA256 || s.PID == before.PID || s.PinnedBy != "someone" {
		t.Errorf("status is %+v, want the new file running", s)
	}
}

func TestPathRules(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	outside := t.TempDir()
	link := func(name, to string) {
		if err := os.Symlink(to, filepath.Join(b.dir, name)); err != nil {
			t.Fatal("linking:", err)
		}
	}
	link("hostler-plugin-outside", program(t))
	link("hostler-plugin-up", "../"+filepath.Base(outside))
	link("hostler-plugin-loop", "hostler-plugin-loop")
	link("hostler-plugin-inside", memFile)
	b.script(t, "other-program", "exit 0")
	if err := os.Mkdir(filepath.Join(b.dir, "hostler-plugin-dir"), 0o755); err != nil {
		t.Fatal("making a folder:", err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "hostler-plugin-text"), []byte("text"), 0o644); err != nil {
		t.Fatal("writing a file:", err)
	}
	b.install(t, "hostler-plugin-open")
	if err := os.Chmod(filepath.Join(b.dir, "hostler-plugin-open"), 0o777); err != nil {
		t.Fatal("changing the mode:", err)
	}
	for _, file := range []string{
		"hostler-plugin-outside", "hostler-plugin-up", "hostler-plugin-loop", "hostler-plugin-dir", "hostler-plugin-text",
		"hostler-plugin-open", "hostler-plugin-none", "other-program", "", ".", "..", "../hostler-plugin-mem", "/bin/sh",
		"hostler-plugin-mem/../hostler-plugin-mem", "hostler-plugin-\x00",
	} {
		if _, err := b.Pin(t.Context(), file, "test"); !errors.Is(err, plugin.ErrPath) {
			t.Errorf("%q: error is %v, want a forbidden path", file, err)
		}
	}
	if _, err := b.Pin(t.Context(), "hostler-plugin-inside", "test"); err != nil {
		t.Error("a link inside the folder:", err)
	}
}

func TestOpenFolder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if err := os.Chmod(b.dir, 0o777); err != nil {
		t.Fatal("changing the mode:", err)
	}
	if _, err := b.Pin(t.Context(), memFile, "test"); !errors.Is(err, plugin.ErrPath) {
		t.Errorf("error is %v, want a forbidden path: anybody may write to the folder", err)
	}
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.script(t, "hostler-plugin-other", "exit 0")
	b.script(t, "readme", "exit 0")
	found, err := b.Discover()
	if err != nil || len(found) != 2 || found[0] != memFile || found[1] != "hostler-plugin-other" {
		t.Errorf("found %v, error %v", found, err)
	}
}

// A second folder has the plugins that do not belong to the release: they are found and pinned in the same way.
func TestOwnFolder(t *testing.T) {
	t.Parallel()
	own := t.TempDir()
	b := setup(t, func(cfg *plugin.Config) { cfg.OwnDir = own })
	discovers := func(want ...string) {
		t.Helper()
		if found, err := b.Discover(); err != nil || !slices.Equal(found, want) {
			t.Errorf("found %v, error %v", found, err)
		}
	}
	discovers(memFile)
	const mine = "hostler-plugin-mine"
	if err := os.Rename(filepath.Join(b.dir, memFile), filepath.Join(own, mine)); err != nil {
		t.Fatal(err)
	}
	b.script(t, "hostler-plugin-other", "exit 0")
	discovers(mine, "hostler-plugin-other")
	if shipped, err := b.Shipped(); err != nil || !slices.Equal(shipped, []string{"hostler-plugin-other"}) {
		t.Errorf("the release has %v, error %v", shipped, err)
	}
	if _, err := b.Pin(t.Context(), mine, "test"); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(own); err != nil {
		t.Fatal(err)
	}
	discovers("hostler-plugin-other")
}

// A file of the release is not replaced by one of the same name in the second folder.
func TestOwnFolderHidesNothing(t *testing.T) {
	t.Parallel()
	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, memFile), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(cfg *plugin.Config) { cfg.OwnDir = own })
	if _, err := b.Pin(t.Context(), memFile, "test"); err != nil {
		t.Error(err)
	}
}
