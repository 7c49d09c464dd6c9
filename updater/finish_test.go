package updater

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hostler/hostler/updater/release"
)

// Of the old releases the newest stay, in the order of versions and not of letters, beside the present one and the one before.
func TestReleasesThatStay(t *testing.T) {
	t.Parallel()
	u, _ := newUpdater(t, nowhere)
	for _, version := range []string{"0.2.0", "0.8.0", "0.9.0", "0.10.0", "0.10.1-rc.1"} {
		u.brings(t, version, "exit 0")
	}
	r := u.under(thisRun)
	r.plan.From = "0.2.0" // an update over several releases
	l := u.cfg.Layout
	if err := errors.Join(l.point(newVersion), l.pointUpdater(oldVersion), os.MkdirAll(l.release("lost+found"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.pruneReleases(); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(u.cfg.Layout.releases())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if want := []string{"0.10.0", "0.10.1-rc.1", "0.2.0", oldVersion, newVersion, "lost+found"}; !slices.Equal(names, want) {
			t.Errorf("%v stay, want %v", names, want)
		}
	}
}

// A release that withdraws every key that is trusted withdraws none.
func TestKeysAreNeverAllWithdrawn(t *testing.T) {
	t.Parallel()
	u, _ := newUpdater(t, nowhere)
	var ids []string
	for _, name := range []string{"first.pub", "second.pub"} {
		signer, text := newSigner(t)
		ids = append(ids, signer.Key.ID)
		if err := os.WriteFile(filepath.Join(u.cfg.Layout.Keys, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := u.under(thisRun)
	if err := r.withdrawKeys(ids); err == nil {
		t.Error("all keys were withdrawn")
	}
	if keys, err := release.TrustedKeys(u.cfg.Layout.Keys); err != nil || len(keys) != 2 {
		t.Errorf("%v, %v", keys, err)
	}
	if err := r.withdrawKeys(ids[:1]); err != nil {
		t.Error(err)
	}
	if keys, err := release.TrustedKeys(u.cfg.Layout.Keys); err != nil || len(keys) != 1 || keys[0].ID != ids[1] {
		t.Errorf("%v, %v", keys, err)
	}
}
