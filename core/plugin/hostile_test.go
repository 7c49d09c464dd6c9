package plugin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Programs that are no plugins, or bad ones.
var hostile = map[string]string{
	"exits":            `exit 1`,
	"says nothing":     `echo $$ >>"$0.pid"; exec sleep 600`,
	"prints garbage":   `echo 'hello, I am no plugin'; exec sleep 600`,
	"prints a lot":     `exec cat /dev/zero`,
	"wrong protocol":   `echo '1|99|unix|/tmp/nowhere|grpc|'; exec sleep 600`,
	"net/rpc":          `echo '1|1|unix|/tmp/nowhere|netrpc|'; exec sleep 600`,
	"socket of nobody": `echo '1|1|unix|/tmp/nowhere/at/all|grpc|'; exec sleep 600`,
	"bad certificate":  `echo '1|1|unix|/tmp/nowhere|grpc|` + strings.Repeat("!", 80) + `'; exec sleep 600`,
}

func TestHostilePrograms(t *testing.T) {
	t.Parallel()
	for name, body := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(cfg *plugin.Config) {
				cfg.StartTimeout, cfg.MinBackoff, cfg.MaxBackoff = 500*time.Millisecond, time.Hour, time.Hour
				cfg.CallWait = 100 * time.Millisecond
			})
			const file = "hostler-plugin-hostile"
			b.script(t, file, body)
			pin := func() {
				if _, err := b.Pin(t.Context(), file, "test"); err == nil {
					t.Fatal("it could be pinned")
				} else if len(err.Error()) > 600 {
					t.Errorf("the error has %d bytes", len(err.Error()))
				}
			}
			pin()
			if name == "says nothing" {
				waittest.Until(t, "the program got as far as writing its number", func() bool {
					if content, err := os.ReadFile(filepath.Join(b.dir, file+".pid")); err == nil && len(content) > 0 {
						return true
					}
					pin() // on a machine that is busy it may be ended before it begins
					return false
				})
			}
			_ = b.pins.Put(t.Context(), plugin.Pin{
				Kind: "hypervisor", Name: "mem", Version: "1", File: file, SHA256: sum(t, filepath.Join(b.dir, file)), Enabled: true,
			})
			if err := b.Start(t.Context()); err != nil {
				t.Fatal("starting:", err)
			}
			if s := b.status(t); s.State == plugin.Running || s.Error == "" {
				t.Errorf("status is %+v, want one that does not run and says why", s)
			}
			_, err := b.Hypervisor("mem").Info(t.Context())
			if !errors.Is(err, sdk.ErrGone) {
				t.Errorf("error is %v, want ErrGone", err)
			}
			b.Stop()
			if name == "says nothing" {
				content, err := os.ReadFile(filepath.Join(b.dir, file+".pid"))
				if err != nil {
					t.Fatal("reading the program's number:", err)
				}
				for number := range strings.FieldsSeq(string(content)) {
					pid, err := strconv.Atoi(number)
					if err != nil {
						t.Fatal("reading the program's number:", err)
					}
					if alive(pid) {
						t.Error("the program is still there")
					}
				}
			}
		})
	}
}

// A file that the kernel cannot start fails like all else.
func TestNoProgramAtAll(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, content := range map[string]string{"empty": "", "text": "just text", "cut off": "\x7fELF\x02\x01\x01"} {
		if err := programtest.Write(filepath.Join(b.dir, "hostler-plugin-none"), []byte(content)); err != nil {
			t.Fatal("writing the file:", err)
		}
		if _, err := b.Pin(t.Context(), "hostler-plugin-none", "test"); err == nil {
			t.Errorf("%s: it could be pinned", name)
		}
	}
}

// A child that the program leaves behind ends with it.
func TestChildrenEnd(t *testing.T) {
	t.Parallel()
	b := setup(t, nil) // what it says is no greeting, which ends it at once
	const file = "hostler-plugin-parent"
	b.script(t, file, `sleep 600 & echo $! >"$0.pid"; echo nonsense; wait`)
	if _, err := b.Pin(t.Context(), file, "test"); err == nil {
		t.Fatal("it could be pinned")
	}
	content, err := os.ReadFile(filepath.Join(b.dir, file+".pid"))
	if err != nil {
		t.Fatal("reading the child's number:", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal("reading the child's number:", err)
	}
	waittest.Until(t, "the child is gone", func() bool { return !alive(pid) })
}
