package plugin_test

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// kindsFile is a program that serves the kinds "catalog" and "firewall".
const kindsFile = "hostler-plugin-kinds"

// One process serves two kinds: each is pinned, described, called and outlives the process under its own name.
func TestKinds(t *testing.T) {
	t.Parallel()
	b := &fixture{dir: t.TempDir(), pins: &pins{}, log: &waittest.Text{}}
	if err := programtest.Build(t.Context(), "", b.dir+"/", "./testdata/"+kindsFile); err != nil {
		t.Fatal(err)
	}
	b.manage(t, nil)
	if pins, err := b.Pin(t.Context(), kindsFile, "test"); err != nil || len(pins) != 2 {
		t.Fatalf("pins are %+v, %v", pins, err)
	}
	source, backend := b.Catalog("mem"), b.Firewall("mem") // before anything runs
	if _, err := source.Info(t.Context()); !errors.Is(err, sdk.ErrGone) {
		t.Errorf("before the start: %v, want ErrGone", err)
	}
	if err := b.Start(t.Context()); err != nil {
		t.Fatal("starting:", err)
	}
	says, err := firewall.Describe(t.Context(), membackend.New(), (*membackend.Firewall)(nil))
	if err != nil {
		t.Fatal("describing the backend:", err)
	}
	all := b.Status()
	if len(all) != 2 || all[0].State != plugin.Running || all[0].PID != all[1].PID ||
		!slices.Equal(all[1].Abilities, says.Abilities) {
		t.Fatalf("status is %+v", all)
	}
	if _, err := b.Hypervisor("mem").Info(t.Context()); sdk.KindOf(err) != sdk.Unsupported || errors.Is(err, sdk.ErrGone) {
		t.Errorf("a kind that the plugin does not serve: %v, want unsupported", err)
	}
	if _, err := b.Hypervisor("other").Info(t.Context()); !errors.Is(err, sdk.ErrGone) {
		t.Errorf("a plugin that is not there: %v, want ErrGone", err)
	}
	call := func() {
		t.Helper()
		if info, err := source.Info(t.Context()); err != nil || info.Name != "mem" {
			t.Errorf("the catalog's info is %+v, %v", info, err)
		}
		var slugs []string
		opened, err := source.Open(t.Context(), catalog.Config{})
		if err != nil {
			t.Fatal("opening the catalog:", err)
		}
		err = opened.Sync(t.Context(), catalog.SyncRequest{}, func(step catalog.SyncStep) error {
			if step.Entry != nil {
				slugs = append(slugs, step.Entry.Slug)
			}
			return nil
		})
		if err != nil || !slices.Equal(slugs, []string{"a", "b"}) {
			t.Errorf("entries are %q, %v", slugs, err)
		}
		fw, err := backend.Open(t.Context(), endpoint.Target{Address: "fw.mem:8006", Credential: endpoint.Credential{Secret: membackend.Secret}})
		if err != nil {
			t.Fatal("opening the firewall:", err)
		}
		lister, ok := firewall.As[firewall.RuleLister](fw)
		if !ok {
			t.Fatal("the firewall lists no rules")
		}
		_, reads := firewall.AsAt[firewall.LogReader](fw, firewall.NodeScope)
		if _, too := firewall.AsAt[firewall.LogReader](fw, firewall.ClusterScope); !reads || too {
			t.Errorf("there is a log of nodes: %t, of the cluster: %t", reads, too)
		}
		rules, digest, err := lister.Rules(t.Context(), firewall.Scope{Kind: firewall.NodeScope, Node: "node1"})
		if err != nil || len(rules) != 1 || rules[0].Action != "ACCEPT" || digest == "" {
			t.Errorf("rules are %+v, %q, %v", rules, digest, err)
		}
		_, _, err = lister.Rules(t.Context(), firewall.Scope{Kind: "planet"})
		if sdk.KindOf(err) != sdk.Invalid {
			t.Errorf("an error of the plugin is %v, want invalid", err)
		}
	}
	call()
	if err := syscall.Kill(all[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the process is replaced", func() bool { s := b.Status()[0]; return s.Restarts == 1 && s.State == plugin.Running })
	call()
}
