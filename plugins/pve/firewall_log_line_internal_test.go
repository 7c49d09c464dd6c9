package pve

import (
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/firewall"
)

func TestFirewallLogLines(t *testing.T) {
	t.Parallel()
	const at = " 25/Nov/2026:10:00:00 +0000 "
	when := time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	for line, want := range map[string]firewall.LogEntry{
		"0 6 PVEFW-HOST-OUT" + at + "ACCEPT: IN= OUT=vmbr0 SRC=10.0.0.1 DST=10.0.0.2 PROTO=TCP SPT=1 DPT=65535": {
			Scope: firewall.NodeScope, Level: "info", Chain: "PVEFW-HOST-OUT", Direction: "out", Action: "ACCEPT",
			Protocol: "tcp", Source: "10.0.0.1",
			Destination: "10.0.0.2", SourcePort: "1", DestinationPort: "65535", InterfaceOut: "vmbr0"},
		// An error of ICMP tells of another packet.
		"0 0 PVEFW-FORWARD" + at + "DROP: IN=a OUT=b SRC=10.0.0.1 DST=10.0.0.2 PROTO=ICMP TYPE=3 CODE=1 [SRC=10.0.0.3 DST=10.0.0.4 SPT=5 ]": {
			Scope: firewall.NodeScope, Level: "emerg", Chain: "PVEFW-FORWARD", Direction: "forward", Action: "DROP",
			Protocol: "icmp", Source: "10.0.0.1",
			Destination: "10.0.0.2", InterfaceIn: "a", InterfaceOut: "b"},
		"999999999 7 PVEFW-blacklist" + at + "DROP: SRC=::ffff:10.0.0.1 DST=fe80::1%eth0 PROTO=47 SPT=65536 DPT=-1": {
			Guest: "999999999", Scope: firewall.GuestScope, Level: "debug", Chain: "PVEFW-blacklist", Action: "DROP", Protocol: "47",
			Source: "::ffff:10.0.0.1"},
		"100 6 veth100i1-IN" + at + "policy REJECT: IN=fwbr100i1 OUT=fwbr100i1 PHYSIN=fwln100i1 PHYSOUT=veth100i1 SRC=1.2.3.4 SRC=5.6.7.8": {
			Guest: "100", Scope: firewall.GuestScope, Level: "info", Chain: "veth100i1-IN", Direction: "in", Action: "REJECT", Source: "1.2.3.4",
			InterfaceIn: "fwln100i1", InterfaceOut: "veth100i1"},
		"0 6 PVEFW-HOST-IN" + at + "DROP: nothing of this is known": {
			Scope: firewall.NodeScope, Level: "info", Chain: "PVEFW-HOST-IN", Direction: "in", Action: "DROP"},
		"100 6 GROUP-web-tier-OUT" + at + "DROP: SRC=10.0.0.1": {Guest: "100", Scope: firewall.GroupScope, Group: "web-tier", Level: "info",
			Chain: "GROUP-web-tier-OUT", Direction: "out", Action: "DROP", Source: "10.0.0.1"},
		"0 6 GROUP-a-IN-IN" + at + "DROP: SRC=10.0.0.1": {Scope: firewall.GroupScope, Group: "a-IN", Level: "info", Chain: "GROUP-a-IN-IN",
			Direction: "in", Action: "DROP", Source: "10.0.0.1"},
	} {
		want.Time = when
		if got := logEntry(line); got == nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s\nis  %+v\nnot %+v", line, got, want)
		}
	}
	for _, line := range []string{
		"", " ", "no content", "0 5 -" + at + "starting pvefw logger", "0 5 -" + at + "DROP: SRC=10.0.0.1", "a 6 X-IN" + at + "DROP: x=1",
		"0 8 X-IN" + at + "DROP: x=1", "0 -1 X-IN" + at + "DROP: x=1", "0 6 X-IN 25/Nov/2026:10:00:00 DROP: x=1",
		"007 6 X-IN" + at + "DROP: x=1",
		"0 6 X-IN 31/Feb/2026:10:00:00 +0000 DROP: x=1", "0 6 X-IN 25/Nov/0001:10:00:00 +0000 DROP: x=1", "0 6 X-IN" + at + "DROP:x=1",
		"0 6 X-IN" + at + ": x=1", "0 6 X-IN" + at + "policy : x=1", "0 6 X-IN" + at + "two words: x=1", "9999999999 6 X-IN" + at + "DROP: x=1",
	} {
		if got := logEntry(line); got != nil {
			t.Errorf("%q is %+v, want none", line, got)
		}
	}
}

// FuzzFirewallLogLine: whatever a line is, what is read of it is what the words promise.
func FuzzFirewallLogLine(f *testing.F) {
	f.Add("0 6 PVEFW-HOST-IN 25/Nov/2026:10:00:00 +0100 policy DROP: IN=vmbr0 PHYSIN=eno1 SRC=192.0.2.7 DST=192.0.2.1 PROTO=TCP SPT=1 DPT=22")
	f.Add("100 4 tap100i0-OUT 25/Nov/2026:10:00:00 -1159 REJECT: IN=a OUT=a PHYSIN=b PHYSOUT=c SRC=2001:0db8::1 DST=ff02::1 PROTO=ICMPv6")
	f.Add("0 5 - 25/Nov/2026:10:00:00 +0100 starting pvefw logger")
	f.Add("0 6 A 25/Nov/2026:10:00:00 +0000 DROP: ==== [ SRC=[ SRC= =SRC SPT=00000000001 DPT=1e1\x00")
	f.Fuzz(func(t *testing.T, line string) {
		e := logEntry(line)
		if e == nil {
			return
		}
		if e.Time.IsZero() || e.Chain == "" || e.Action == "" || !slices.Contains(logLevels, e.Level) {
			t.Errorf("%q is %+v", line, e)
		}
		if e.Direction != "" && !slices.Contains(firewall.Directions(), e.Direction) {
			t.Errorf("%q has the direction %q", line, e.Direction)
		}
		if e.Guest != "" && !guestNumber.MatchString(e.Guest) {
			t.Errorf("%q is of the guest %q", line, e.Guest)
		}
		for _, address := range []string{e.Source, e.Destination} {
			if a, err := netip.ParseAddr(address); address != "" && (err != nil || a.String() != address) {
				t.Errorf("%q has the address %q", line, address)
			}
		}
		for _, port := range []string{e.SourcePort, e.DestinationPort} {
			if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 0 || n > 65535) {
				t.Errorf("%q has the port %q", line, port)
			}
		}
	})
}
