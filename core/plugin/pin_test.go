package plugin_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/plugin"
)

func TestStore(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	store := plugin.NewStore(d)
	ctx := t.Context()
	if list, err := store.List(ctx); err != nil || len(list) != 0 {
		t.Fatalf("a new store has %v, error %v", list, err)
	}
	if _, err := store.Get(ctx, "hypervisor", "pve"); !errors.Is(err, plugin.ErrNotPinned) {
		t.Errorf("error is %v, want ErrNotPinned", err)
	}
	pin := plugin.Pin{
		Kind: "hypervisor", Name: "pve", Version: "1.0.0", File: "hostler-plugin-pve", SHA256: "ab", Enabled: false,
		PinnedAt: time.Now().UTC().Truncate(time.Millisecond), PinnedBy: "owner@example.org",
	}
	other := pin
	other.Kind = "firewall"
	for _, p := range []plugin.Pin{pin, other} {
		if err := store.Put(ctx, p); err != nil {
			t.Fatal("writing:", err)
		}
	}
	got, err := store.Get(ctx, "hypervisor", "pve")
	if err != nil {
		t.Fatal("reading:", err)
	}
	if got.PinnedAt = got.PinnedAt.UTC(); got != pin {
		t.Errorf("pin is %+v, want %+v", got, pin)
	}
	pin.SHA256, pin.Version, pin.Enabled = "cd", "2.0.0", true
	if err := store.Put(ctx, pin); err != nil {
		t.Fatal("replacing:", err)
	}
	list, err := store.List(ctx)
	if err != nil || len(list) != 2 || list[0].Kind != "firewall" || list[1].SHA256 != "cd" || !list[1].Enabled {
		t.Errorf("list is %+v, error %v", list, err)
	}
	if err := store.Remove(ctx, "firewall", "pve"); err != nil {
		t.Error("removing:", err)
	}
	if err := store.Remove(ctx, "firewall", "pve"); !errors.Is(err, plugin.ErrNotPinned) {
		t.Errorf("removing twice: error is %v, want ErrNotPinned", err)
	}
	rows, _, err := audit.List(ctx, d, audit.Filter{AllTeams: true, Limit: 10})
	var trail []string
	for _, row := range rows {
		trail = append(trail, row.Action+" "+row.TargetName+" by "+row.ActorEmail)
	}
	const by = "plugin.pin pve by owner@example.org"
	if want := []string{"plugin.remove pve by ", by, by, by}; err != nil || !slices.Equal(trail, want) {
		t.Errorf("the audit log is %q, want %q, %v", trail, want, err)
	}
}
