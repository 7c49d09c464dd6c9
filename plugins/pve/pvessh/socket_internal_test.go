package pvessh

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// what readSockets prints of a container with shifted users, on a machine with the small end first.
const little = `order 1
uid          0     100000      65536
table tcp
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 100033        0 11 1
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000 100000        0 12 1
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000 100000        0 13 1
   3: 0100007F:1F91 0100007F:8000 01 00000000:00000000 00:00000000 00000000 100033        0 14 1
table tcp6
   0: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 0:0 0:0 0     7        0 15 1
   1: 0000000000000000FFFF00000205A8C0:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 100000        0 16 1
   2: B80D0120000000000000000001000000:0051 00000000000000000000000000000000:0000 0A 0:0 0:0 0 100000        0 16 1
table udp
  99: 3500007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000 100000        0 17 2 0000000000000000 0
 100: 00000000:0000 00000000:0000 07 00000000:00000000 00:00000000 00000000 100000        0 18 2 0000000000000000 0
links
/proc/4003/fd socket:[11]
/proc/4002/fd socket:[12]
/proc/4001/fd socket:[12]
/proc/4001/fd socket:[13]
/proc/9/fd pipe:[15]
names
/proc/4001/status:Name:	sshd
/proc/4002/status:Name:	sshd-session
/proc/4003/status:Name:	a\nb\\c` + "\x1b[31m" + `
end
`

func shown(list hypervisor.SocketList) string {
	var lines []string
	for _, s := range list.Sockets {
		user := "-"
		if s.UserID != nil {
			user = fmt.Sprint(*s.UserID)
		}
		lines = append(lines, fmt.Sprintf("%s %s %d %q %s", s.Protocol, s.Address, s.Port, s.Program, user))
	}
	return strings.Join(lines, "\n")
}

func TestParseSockets(t *testing.T) {
	t.Parallel()
	const want = `tcp 0.0.0.0 22 "sshd" 0
tcp 192.168.5.2 80 "" 0
tcp 2001:db8::1 81 "" 0
tcp :: 443 "" -
tcp 127.0.0.1 8080 "a b\\c[31m" 33
udp 127.0.0.53 53 "" 0`
	big := strings.NewReplacer("order 1\n", "order 256\n", "0100007F:1F90", "7F000001:1F90", "0000000000000000FFFF00000205A8C0",
		"00000000000000000000FFFFC0A80502", "B80D0120000000000000000001000000", "20010DB8000000000000000000000001", "3500007F", "7F000035").
		Replace(little)
	noIPv6 := little[:strings.Index(little, "table tcp6")] + little[strings.Index(little, "table udp\n"):]
	var fewer []string
	for line := range strings.SplitSeq(want, "\n") {
		if !strings.Contains(line, "::") && !strings.Contains(line, " 80 ") {
			fewer = append(fewer, line)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"little-endian": {little, want}, "big-endian": {big, want}, "no IPv6": {noIPv6, strings.Join(fewer, "\n")},
		"nothing": {"order 1\nend\n", ""},
	} {
		list, err := parseSockets(c.text)
		if err != nil || shown(list) != c.want || list.More {
			t.Errorf("%s:\n%s\n%v, want\n%s", name, shown(list), err, c.want)
		}
	}
	for name, c := range map[string]struct {
		text string
		want plugin.ErrorKind
	}{
		"nothing at all": {"", plugin.Protocol}, "no order": {strings.Replace(little, "order 1", "order 7", 1), plugin.Protocol},
		"cut":                    {strings.TrimSuffix(little, "end\n"), plugin.Conflict},
		"a line of another form": {strings.Replace(little, "0100007F:1F90", "0100007F1F90", 1), plugin.Protocol},
		"an address too long":    {strings.Replace(little, "0100007F:1F90", "0100007F00:1F90", 1), plugin.Protocol},
		"no user":                {strings.Replace(little, "100033", "-1", 1), plugin.Protocol},
	} {
		if list, err := parseSockets(c.text); plugin.KindOf(err) != c.want {
			t.Errorf("%s: %v, %v, want %s", name, list, err, c.want)
		}
	}
}

func TestSocketsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("order 1\nuid 0 0 4294967295\ntable tcp\n")
	for port := 1; port <= hypervisor.MaxSockets+1; port++ {
		fmt.Fprintf(&b, "%4d: 00000000:%04X 00000000:0000 0A 0:0 00:0 0 0 0 %d\n", port, port, port)
	}
	b.WriteString("end\n")
	list, err := parseSockets(b.String())
	if err != nil || len(list.Sockets) != hypervisor.MaxSockets || !list.More {
		t.Errorf("%d sockets, more %v, %v", len(list.Sockets), list.More, err)
	}
}

func FuzzParseSockets(f *testing.F) {
	f.Add(little)
	f.Add("order 256\ntable tcp6\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseSockets(text)
		if err != nil && len(list.Sockets) > 0 || len(list.Sockets) > hypervisor.MaxSockets {
			t.Fatalf("%d sockets with %v", len(list.Sockets), err)
		}
		for _, s := range list.Sockets {
			address, err := netip.ParseAddr(s.Address)
			if err != nil || address.Is4In6() || s.Port < 1 || s.Port > 65535 || len(s.Program) > 64 || strings.ContainsAny(s.Program, "\n\x1b") {
				t.Fatalf("a socket is %+v", s)
			}
		}
	})
}
