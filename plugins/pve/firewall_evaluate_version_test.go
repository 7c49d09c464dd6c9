package pve_test

import (
	"cmp"
	"fmt"
	"reflect"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
)

// dual is a container with an address of each version of IP, which end in the same number.
func (w *fixture) dual(t *testing.T, n int) firewall.Guest {
	t.Helper()
	nic := fmt.Sprintf("name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:0%d,firewall=1,ip=192.0.2.%d/24,ip6=fd00::%d/64,type=veth", n, n, n)
	return *guestScope(w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC, Config: map[string]any{"net0": nic}})).Guest
}

// openTo are states in which a guest lets in tcp 443 from some sources and nothing else.
func openTo(to, from firewall.Guest, sources ...string) []firewall.State {
	on := firewall.Options{Enable: new(true), PolicyIn: "DROP", PolicyOut: "ACCEPT"}
	open := firewall.State{Scope: firewall.Scope{Kind: firewall.GuestScope, Guest: &to}, Options: on}
	for i, source := range sources {
		open.Rules = append(open.Rules, firewall.Rule{Position: i, Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true,
			Protocol: "tcp", DestinationPort: "443", Source: source})
	}
	return []firewall.State{{Scope: clusterScope, Options: on},
		{Scope: firewall.Scope{Kind: firewall.GuestScope, Guest: &from}, Options: on}, open}
}

const ofIPv4, ofIPv6 = "192.0.2.0/24", "fd00::/64"

// A change that opens or closes one version of IP only is told, beside what the other one does.
func TestCompareTellsEachVersionOfIP(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Guests: -1})
	from, to := w.dual(t, 1), w.dual(t, 2)
	fw := w.firewall(t, endpoint.Monitoring)
	for name, one := range map[string]struct {
		before, after []string
		gains, loses  bool
		address       string
	}{
		"opens IPv6":              {nil, []string{ofIPv6}, true, false, "fd00::1"},
		"opens IPv6 beside IPv4":  {[]string{ofIPv4}, []string{ofIPv4, ofIPv6}, true, false, "fd00::1"},
		"closes IPv6 beside IPv4": {[]string{ofIPv4, ofIPv6}, []string{ofIPv4}, false, true, "fd00::1"},
		"opens IPv4 beside IPv6":  {[]string{ofIPv6}, []string{ofIPv4, ofIPv6}, true, false, "192.0.2.1"},
		"opens both":              {nil, []string{ofIPv4, ofIPv6}, true, false, "192.0.2.1"},
		"one for the other":       {[]string{ofIPv4}, []string{ofIPv6}, true, true, "192.0.2.1"},
		"opens IPv6 from outside": {[]string{ofIPv4}, []string{ofIPv4, "2001:db8:ffff::/48"}, true, false, "2001:db8:ffff::77"},
		"others":                  {[]string{ofIPv4, ofIPv6}, []string{ofIPv4, ofIPv6, "fd00:9::/64"}, false, false, ""},
	} {
		answer, err := fw.Compare(t.Context(), firewall.CompareQuery{Guests: []firewall.Guest{from, to},
			Before: openTo(to, from, one.before...), After: openTo(to, from, one.after...)})
		must(t, "comparing", err)
		if one.address == "" {
			if len(answer.Pairs) > 0 {
				t.Errorf("%s: %+v", name, answer.Pairs)
			}
			continue
		}
		https := []firewall.Ports{{Protocol: "tcp", First: 443, Last: 443}}
		var gained, lost []firewall.Ports
		if one.gains {
			gained = https
		}
		if one.loses {
			lost = https
		}
		if len(answer.Pairs) != 1 {
			t.Errorf("%s: %+v", name, answer.Pairs)
			continue
		}
		pair := answer.Pairs[0]
		if pair.Unknown != "" || pair.To.Guest == nil || pair.To.Guest.ID != to.ID || pair.From.Address != one.address ||
			!reflect.DeepEqual(pair.Gained, gained) || !reflect.DeepEqual(pair.Lost, lost) || pair.GainsEcho || pair.LosesEcho {
			t.Errorf("%s: %+v", name, pair)
		}
	}
}

// Who gets through by one version of IP gets through, unless the question names an address of the other.
func TestReachByEachVersionOfIP(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Guests: -1})
	from, to := w.dual(t, 1), w.dual(t, 2)
	sender := func(address string) firewall.End {
		return firewall.End{Kind: firewall.GuestEnd, Guest: &from, Address: address}
	}
	senders := []firewall.End{{Kind: firewall.OutsideEnd}, sender(""), sender("192.0.2.1"), sender("fd00::1")}
	for target, want := range map[string][]string{
		"":          {"- 203.0.113.77", "443 192.0.2.1", "- 192.0.2.1", "443 fd00::1"},
		"192.0.2.2": {"- 203.0.113.77", "- 192.0.2.1", "- 192.0.2.1", "unknown"},
		"fd00::2":   {"- 2001:db8:ffff::77", "443 fd00::1", "unknown", "443 fd00::1"},
	} {
		answer, err := w.firewall(t, endpoint.Monitoring).Reach(t.Context(), firewall.ReachQuery{From: senders,
			To: firewall.End{Kind: firewall.GuestEnd, Guest: &to, Address: target}, Assume: openTo(to, from, ofIPv6)})
		must(t, "asking who gets through", err)
		var got []string
		for _, row := range answer.Rows {
			text := "-"
			for _, p := range row.Open {
				text = fmt.Sprint(p.First)
			}
			if text += " " + row.From.Address; row.Unknown != "" {
				text = "unknown"
			}
			got = append(got, text)
		}
		if !reflect.DeepEqual(got, want) || answer.To.Address != cmp.Or(target, "192.0.2.2") {
			t.Errorf("to %q: %q, %+v, want %q", target, got, answer.To, want)
		}
	}
}
