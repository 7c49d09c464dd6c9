package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// memFile is the plugin that the tests start, built once.
const memFile = "hostler-plugin-mem"

// patience is how long calls and starts may take: it is waited out by what hangs only, however busy the machine is.
const patience = time.Minute

var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("HOSTLER_TEST_HOST_DIR"); dir != "" {
		beHost(dir, os.Getenv("HOSTLER_TEST_HOST_FILE"), os.Getenv("HOSTLER_TEST_HOST_SHA256"))
		return
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// program gives the path of the built plugin.
func program(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "hostler-mem-"); built.err != nil {
			return
		}
		built.err = programtest.Build(context.Background(), "", built.dir+"/", "github.com/hostler/hostler/sdk/hypervisor/memdriver/"+memFile)
	})
	if built.err != nil {
		t.Fatal("building the plugin:", built.err)
	}
	return filepath.Join(built.dir, memFile)
}

// pins is a PinStore in memory.
type pins struct {
	mu   sync.Mutex
	list []plugin.Pin
}

func (p *pins) List(context.Context) ([]plugin.Pin, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list), nil
}

func (p *pins) Get(_ context.Context, kind, name string) (plugin.Pin, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.index(kind, name); i >= 0 {
		return p.list[i], nil
	}
	return plugin.Pin{}, plugin.ErrNotPinned
}

func (p *pins) Put(_ context.Context, pin plugin.Pin) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.index(pin.Kind, pin.Name); i >= 0 {
		p.list[i] = pin
	} else {
		p.list = append(p.list, pin)
	}
	return nil
}

func (p *pins) Remove(_ context.Context, kind, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.index(kind, name)
	if i < 0 {
		return plugin.ErrNotPinned
	}
	p.list = slices.Delete(p.list, i, i+1)
	return nil
}

func (p *pins) index(kind, name string) int {
	return slices.IndexFunc(p.list, func(pin plugin.Pin) bool { return pin.Kind == kind && pin.Name == name })
}

// fixture is a plugin folder with its manager.
type fixture struct {
	*plugin.Manager
	dir  string
	pins *pins
	log  *waittest.Text
}

// setup makes a folder with the built plugin and a manager on it that is stopped after the test. Nothing is pinned.
func setup(t *testing.T, change func(*plugin.Config)) *fixture {
	t.Helper()
	b := &fixture{dir: t.TempDir(), pins: &pins{}, log: &waittest.Text{}}
	b.install(t, memFile)
	b.manage(t, change)
	return b
}

// startOnce is for what fails to start and shall stay so while it is looked at.
func startOnce(cfg *plugin.Config) { cfg.MinBackoff, cfg.MaxBackoff = time.Hour, time.Hour }

// manage makes the manager of the folder, which is stopped after the test.
func (b *fixture) manage(t *testing.T, change func(*plugin.Config)) {
	t.Helper()
	cfg := plugin.Config{
		Dir: b.dir, Pins: b.pins, AllowWritableDir: true,
		Logger:     hclog.New(&hclog.LoggerOptions{Name: "plugin", Level: hclog.Trace, Output: b.log}),
		MinBackoff: 10 * time.Millisecond, MaxBackoff: 100 * time.Millisecond,
		CallWait: patience, StartTimeout: patience,
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if b.Manager, err = plugin.New(cfg); err != nil {
		t.Fatal("making the manager:", err)
	}
	t.Cleanup(func() {
		b.Stop()
		if t.Failed() {
			t.Log(b.log.String())
		}
	})
}

// running is setup with the plugin pinned and running.
func running(t *testing.T, change func(*plugin.Config)) *fixture {
	t.Helper()
	b := setup(t, change)
	if _, err := b.Pin(t.Context(), memFile, "test"); err != nil {
		t.Fatal("pinning:", err)
	}
	if err := b.Start(t.Context()); err != nil {
		t.Fatal("starting:", err)
	}
	if s := b.status(t); s.State != plugin.Running {
		t.Fatalf("status is %+v, want running", s)
	}
	return b
}

// install copies the built plugin into the folder under a name.
func (b *fixture) install(t *testing.T, name string) {
	t.Helper()
	content, err := os.ReadFile(program(t))
	if err == nil {
		err = programtest.Write(filepath.Join(b.dir, name), content)
	}
	if err != nil {
		t.Fatal("installing the plugin:", err)
	}
}

// script writes a shell script as a plugin.
func (b *fixture) script(t *testing.T, name, body string) {
	t.Helper()
	if err := programtest.Write(filepath.Join(b.dir, name), []byte("#!/bin/sh\n"+body+"\n")); err != nil {
		t.Fatal("writing the script:", err)
	}
}

// status is that of the one plugin there is.
func (b *fixture) status(t *testing.T) plugin.Status {
	t.Helper()
	all := b.Status()
	if len(all) != 1 {
		t.Fatalf("%d plugins, want 1", len(all))
	}
	return all[0]
}

// host opens a host of the plugin at an address that says how it behaves.
func (b *fixture) host(t *testing.T, address string) hypervisor.Host {
	t.Helper()
	host, err := b.Hypervisor("mem").Open(t.Context(), endpoint.Target{
		Address:    address,
		Credential: endpoint.Credential{Capability: endpoint.Monitoring, ID: "a@b!c", Secret: "some-secret"},
	})
	if err != nil {
		t.Fatal("opening a host:", err)
	}
	return host
}

// alive tells whether a process runs; a dead one that nobody has waited for yet does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, after, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(after, []byte("Z"))
}

// beHost is what the test program does when it is started as a host: it runs a pinned plugin until it is killed.
func beHost(dir, file, sum string) {
	store := &pins{list: []plugin.Pin{{
		Kind: "hypervisor", Name: "mem", Version: "1.0.0", File: file, SHA256: sum, Enabled: true,
	}}}
	m, err := plugin.New(plugin.Config{
		Dir: dir, Pins: store, RunDir: os.Getenv("HOSTLER_TEST_HOST_RUN"), AllowWritableDir: true, StartTimeout: time.Minute,
	})
	if err == nil {
		go func() { // a plugin that never comes up keeps Start waiting
			for {
				if s := m.Status(); len(s) == 1 && s[0].PID != 0 {
					fmt.Println(s[0].PID)
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
		err = m.Start(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
