package pve

import (
	"errors"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestRecordedSnapshots reads what a real host said of snapshots.
func TestRecordedSnapshots(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{ // the names, each with its parent, by the recording's file
		"GET__nodes_pve1_qemu_200_snapshot__ok.json":  {"s1<"},
		"GET__nodes_pve1_lxc_114_snapshot__two.json":  {"s1<", "s2<s1"},
		"GET__nodes_pve1_lxc_114_snapshot__none.json": nil,
	}
	kinds := map[string]plugin.ErrorKind{
		"GET__nodes_pve1_qemu_999_snapshot__unknown_guest.json":         plugin.NotFound,
		"POST__nodes_pve1_lxc_110_snapshot__current.json":               plugin.Invalid,
		"POST__nodes_pve1_lxc_110_snapshot__bad_name.json":              plugin.Invalid,
		"POST__nodes_pve1_lxc_101_snapshot__forbidden_snapname.json":    plugin.Denied,
		"POST__nodes_pve1_qemu_200_snapshot__create.json":               "",
		"DELETE__nodes_pve1_lxc_114_snapshot_s2__ok.json":               "",
		"POST__nodes_pve1_qemu_200_snapshot_s1_rollback__ok.json":       "",
		"POST__nodes_pve1_lxc_114_snapshot_none_rollback__unknown.json": "", // its task fails
	}
	ref := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "200"}
	seen := 0
	for _, r := range replies(t) {
		names, isList := lists[r.file]
		kind, isCall := kinds[r.file]
		if !isList && !isCall {
			continue
		}
		seen++
		t.Run(strings.TrimSuffix(r.file, ".json"), func(t *testing.T) {
			t.Parallel()
			host := serveReply(t, r)
			var task string
			var err error
			switch {
			case r.Method == "GET":
				var found []hypervisor.Snapshot
				found, err = host.Snapshots(t.Context(), ref)
				if isList && (err != nil || len(found) != len(names)) {
					t.Fatalf("%+v, %v", found, err)
				}
				for i, s := range found {
					if s.Name+"<"+s.Parent != names[i] || s.TakenAt.IsZero() || strings.HasSuffix(s.Description, "\n") {
						t.Errorf("snapshot is %+v, want %s", s, names[i])
					}
				}
			case r.Method == "DELETE":
				task, err = host.DeleteSnapshot(t.Context(), ref, "s2")
			case strings.HasSuffix(r.Path, "/rollback"):
				task, err = host.RollBack(t.Context(), ref, hypervisor.RollbackSpec{Name: "s1"})
			default:
				task, err = host.TakeSnapshot(t.Context(), ref, hypervisor.SnapshotSpec{Name: "s1"})
			}
			if isList {
				return
			}
			var e *plugin.Error
			switch {
			case kind == "" && (err != nil || !strings.HasPrefix(task, "UPID:")):
				t.Errorf("task %q, %v", task, err)
			case kind != "" && (!errors.As(err, &e) || e.Kind != kind || kind == plugin.Invalid && e.Field != "name"):
				t.Errorf("error is %+v, want %s", err, kind)
			}
		})
	}
	if want := len(lists) + len(kinds); seen != want {
		t.Errorf("%d recordings, want %d", seen, want)
	}
}

// TestRecordedRules reads every list of rules that a real host gave.
func TestRecordedRules(t *testing.T) {
	t.Parallel()
	read, comments := 0, 0
	for _, r := range replies(t) {
		if r.Method != "GET" || !strings.HasSuffix(r.Path, "/firewall/rules") {
			continue
		}
		fw := &Firewall{host: serveReply(t, r)}
		rules, digest, err := fw.Rules(t.Context(), firewall.Scope{Kind: firewall.ClusterScope})
		switch {
		case r.Status == 403:
			if plugin.KindOf(err) != plugin.Denied {
				t.Errorf("%s: error is %v, want denied", r.file, err)
			}
			continue
		case r.Status != 200:
			if err == nil {
				t.Errorf("%s: no error for %d %s", r.file, r.Status, r.Reason)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", r.file, err)
			continue
		}
		read++
		if (len(rules) > 0) != (digest != "") {
			t.Errorf("%s: %d rules with digest %q", r.file, len(rules), digest)
		}
		for i, rule := range rules {
			if rule.Position != i || rule.Direction == "" || rule.Action == "" {
				t.Errorf("%s: rule %d is %+v", r.file, i, rule)
			}
			if rule.Comment == "umlaut äöü € %20" {
				comments++
			}
		}
	}
	if read < 10 || comments == 0 {
		t.Errorf("%d lists, %d comments: what is recorded was not read", read, comments)
	}
}
