package pvesim_test

import (
	"testing"
	"time"
)

func TestFirewallOptions(t *testing.T) {
	t.Parallel()
	_, root := snapshotHost(t)
	for path, of := range map[string]struct {
		form string
		want row
		bad  map[string]string
	}{
		"/cluster/firewall": {
			"enable=1&ebtables=no&policy_in=REJECT&policy_forward=DROP&log_ratelimit=1,rate=2/second",
			row{"enable": 1, "ebtables": 0, "policy_in": "REJECT", "policy_forward": "DROP", "log_ratelimit": "1,rate=2/second"},
			map[string]string{"policy_forward": "REJECT", "enable": "-1", "log_level_in": "info", "nosmurfs": "1"},
		},
		"/nodes/pve1/firewall": {
			"enable=yes&nosmurfs=0&nf_conntrack_max=40000&nf_conntrack_helpers=ftp,sip&log_level_forward=info&protection_synflood_rate=5",
			row{"enable": 1, "nosmurfs": 0, "nf_conntrack_max": 40000, "nf_conntrack_helpers": "ftp,sip", "log_level_forward": "info",
				"protection_synflood_rate": 5},
			map[string]string{"policy_in": "DROP", "nf_conntrack_max": "5", "nf_conntrack_helpers": "ftp,nope", "ebtables": "1"},
		},
		"/nodes/pve1/qemu/100/firewall": {
			"enable=1&dhcp=0&ipfilter=1&macfilter=0&radv=1&policy_out=DROP&log_level_out=nolog",
			row{"enable": 1, "dhcp": 0, "ipfilter": 1, "macfilter": 0, "radv": 1, "policy_out": "DROP", "log_level_out": "nolog"},
			map[string]string{"policy_in": "drop", "log_level_in": "loud", "nftables": "1"},
		},
		"/nodes/pve1/lxc/101/firewall": {"ndp=0", row{"ndp": 0}, map[string]string{"ndp": "maybe"}},
	} {
		path += "/options"
		digest := func() string {
			var o struct{ Digest string }
			root.get(path, &o)
			return o.Digest
		}
		empty := digest()
		root.decode("PUT", path, of.form+"&digest="+empty, nil)
		var shown row
		root.get(path, &shown)
		if delete(shown, "digest"); !jsonEqual(shown, of.want) {
			t.Errorf("%s: %v, want %v", path, shown, of.want)
		}
		set := digest()
		for name, value := range of.bad {
			root.errorOf("PUT", path, name+"="+value, name)
		}
		root.errorOf("PUT", path, "delete=node", "delete")
		root.refused("PUT", path, "delete=enable&digest="+empty, 500,
			"detected modified configuration - file changed by other user? Try again.")
		if digest() != set {
			t.Errorf("%s: a refused request changed something", path)
		}
		for name := range of.want {
			root.decode("PUT", path, "delete="+name, nil)
		}
		if digest() != empty {
			t.Errorf("%s: something is left", path)
		}
	}
}

// TestFirewallOnForAMinute: a number above 1 switches the cluster's firewall on for a minute, so that one can lock oneself out and in.
func TestFirewallOnForAMinute(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	const path = "/cluster/firewall/options"
	root.decode("PUT", path, "enable=2", nil)
	var o struct{ Enable int64 }
	root.get(path, &o)
	if now := c.Now().Unix(); o.Enable < now-60 || o.Enable > now {
		t.Errorf("enable is %d", o.Enable)
	}
	c.Advance(2 * time.Minute)
	if root.get(path, &o); o.Enable != 0 {
		t.Errorf("enable is %d when the minute is over", o.Enable)
	}
}
