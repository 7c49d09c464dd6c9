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
		rows, err := fw.ruleRows(t.Context(), place{path: "/"})
		if sum := digestOfRules(rows); err != nil || sum != digest {
			t.Errorf("%s: %d rules with digest %q, and we make %q of them, %v", r.file, len(rules), digest, sum, err)
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

// TestRecordedFirewallRefusals: every refusal of a firewall that a real host gave is one of a kind, with our name of the field.
func TestRecordedFirewallRefusals(t *testing.T) {
	t.Parallel()
	type refusal struct {
		kind  plugin.ErrorKind
		field string
	}
	stale, none := refusal{plugin.Conflict, "digest"}, refusal{plugin.NotFound, "name"}
	wants := map[string]refusal{ // by the end of the file's name
		"__digest_mismatch": stale, "rules_99__unknown": {plugin.NotFound, "pos"}, "ipset_none__unknown": none, "ipset_none__unknown_set": none,
		"groups_none__unknown": none, "aliases_none__unknown": none, "ipset_set1_10.9.9.9__unknown": {plugin.NotFound, "cidr"},
		"__rename_unknown": none, "ipset_set1__not_empty": {plugin.Conflict, "members"}, "groups_grp1__not_empty": {plugin.Conflict, "rules"},
		"__duplicate": {plugin.Conflict, "name"}, "__duplicate_case": {plugin.Conflict, "name"}, "__rename_duplicate": {plugin.Conflict, "name"},
		"ipset_set1__duplicate": {plugin.Conflict, "cidr"}, "__bad_name": {plugin.Invalid, "name"}, "__one_char_name": {plugin.Invalid, "name"},
		"__range": {plugin.Invalid, "cidr"}, "__bad_cidr": {plugin.Invalid, "cidr"}, "__add_unknown_alias": {plugin.Invalid, "cidr"},
		"__add_dc_alias": {plugin.Invalid, "cidr"}, "__zero_prefix": {plugin.Invalid, "cidr"}, "__update_missing_cidr": {plugin.Invalid, "cidr"},
		"__nested_group": {plugin.Invalid, "type"}, "__forward": {plugin.Invalid, "type"}, "__bad_action": {plugin.Invalid, "action"},
		"__missing_action": {plugin.Invalid, "action"}, "__bad_iface": {plugin.Invalid, "iface"}, "__bad_port": {plugin.Invalid, "dport"},
		"__dport_without_proto": {plugin.Invalid, "proto"}, "__unknown_alias": {plugin.Invalid, "source"},
		"__unknown_ipset": {plugin.Invalid, "source"}, "__ipset": {plugin.Invalid, "source"}, "__unknown_macro": {plugin.Invalid, "macro"},
		"__bad_policy": {plugin.Invalid, "policy_in"}, "__delete_unknown": {plugin.Invalid, "bogus"},
		"__unknown_param": {plugin.Invalid, "bogus"},
		"__delete_type":   {plugin.Invalid, "delete"}, "__forbidden": {plugin.Denied, ""},
		"rules_1_500__issue-reports": {plugin.NotFound, "pos"},
	}
	seen := map[string]bool{}
	for _, r := range replies(t) {
		if r.Status == 200 || !strings.Contains(r.Path, "/firewall") {
			continue
		}
		file, end := strings.TrimSuffix(r.file, ".json"), ""
		if strings.Contains(file, "__forbidden_") {
			file = file[:strings.Index(file, "__forbidden_")] + "__forbidden"
		}
		for candidate := range wants {
			if strings.HasSuffix(file, candidate) && len(candidate) > len(end) {
				end = candidate
			}
		}
		if end == "" {
			t.Errorf("%s: %d %s is not looked at", r.file, r.Status, r.Reason)
			continue
		}
		seen[end] = true
		_, err := serveReply(t, r).api.Post(t.Context(), "/", nil, nil)
		e, ok := asError(firewallError(err))
		if want := wants[end]; !ok || e.Kind != want.kind || e.Field != want.field || e.Message == "" {
			t.Errorf("%s: error is %+v, want %+v", r.file, err, want)
		}
	}
	for end := range wants {
		if !seen[end] {
			t.Errorf("nothing is recorded that ends with %s", end)
		}
	}
}

// TestRecordedFirewallLists reads every other list of a firewall that a real host gave.
func TestRecordedFirewallLists(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for _, r := range replies(t) {
		if r.Status != 200 || r.Method != "GET" || !strings.Contains(r.Path, "/firewall/") {
			continue
		}
		fw, on, n := &Firewall{host: serveReply(t, r)}, firewall.Scope{Kind: firewall.ClusterScope}, 0
		var digest string
		var err error
		what := r.Path[strings.Index(r.Path, "/firewall/")+len("/firewall/"):]
		switch {
		case what == "aliases":
			var all []firewall.Alias
			all, digest, err = fw.Aliases(t.Context(), on)
			for _, a := range all {
				if n++; a.Name == "" || a.CIDR == "" {
					t.Errorf("%s: %+v", r.file, a)
				}
			}
		case what == "ipset":
			var all []firewall.IPSet
			all, digest, err = fw.IPSets(t.Context(), on)
			n = len(all)
		case what == "ipset/set1":
			var all []firewall.IPSetMember
			all, digest, err = fw.IPSetMembers(t.Context(), on, "set1")
			for _, m := range all {
				if n++; m.CIDR == "" || m.NoMatch != (m.CIDR == "10.9.1.5") {
					t.Errorf("%s: %+v", r.file, m)
				}
			}
		case what == "groups":
			var all []firewall.Group
			all, digest, err = fw.Groups(t.Context())
			n = len(all)
		case what == "options":
			var o firewall.Options
			o, err = fw.Options(t.Context(), on)
			digest, n = o.Digest, len(o.Other)+len(o.PolicyIn)+len(o.LogLevelIn)
		case what == "refs":
			var all []firewall.Reference
			all, err = fw.References(t.Context(), on)
			for _, ref := range all {
				short, long := reference(ref.Kind, ref.Name), reference(ref.Kind, "dc/"+ref.Name)
				if n++; ref.Name == "" || ref.Scope == "" || ref.Text != short && ref.Text != long {
					t.Errorf("%s: %+v", r.file, ref)
				}
			}
			digest = emptyDigest
		case what == "log":
			var log firewall.Log
			log, err = fw.Log(t.Context(), firewall.Scope{Kind: firewall.NodeScope, Node: "pve1"}, firewall.LogQuery{})
			if len(log.Lines) > 0 {
				t.Errorf("%s: a log that was never written is %+v", r.file, log)
			}
			digest, n = emptyDigest, 1
		default:
			continue
		}
		found[what] += n
		if err != nil || len(digest) != len(emptyDigest) {
			t.Errorf("%s: digest %q, %v", r.file, digest, err)
		}
	}
	for _, what := range []string{"aliases", "ipset", "ipset/set1", "groups", "options", "refs", "log"} {
		if found[what] == 0 {
			t.Errorf("nothing was read of %s", what)
		}
	}
}
