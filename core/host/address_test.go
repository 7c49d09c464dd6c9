package host_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/core/host"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"pve1": "pve1:8006", "PVE1.Example.COM": "pve1.example.com:8006", "pve1.example.com.": "pve1.example.com:8006", "pve1:443": "pve1:443",
		"192.0.2.1": "192.0.2.1:8006", "192.0.2.1:08006": "192.0.2.1:8006", "10.0.0.1:1": "10.0.0.1:1",
		"[2001:DB8::1]": "[2001:db8::1]:8006", "[2001:db8:0:0::1]:443": "[2001:db8::1]:443", "2001:db8::1": "[2001:db8::1]:8006",
		"[::ffff:192.0.2.1]": "192.0.2.1:8006", "https://pve1": "pve1:8006", "HTTPS://PVE1:8006/": "pve1:8006",
		"https://[2001:db8::1]:8007": "[2001:db8::1]:8007",
		"bücher.example":             "xn--bcher-kva.example:8006", " pve1 ": "pve1:8006", "node_1": "node_1:8006",
		"1and1.example": "1and1.example:8006",
	} {
		if got, err := host.ParseAddress(in, "8006", false); err != nil || got != want {
			t.Errorf("%q gave %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", " ", "http://pve1", "ftp://pve1", "https://", "https://u:p@pve1", "u@pve1", "pve1/x", "https://pve1/api2", "https://pve1?x=1",
		"https://pve1#f",
		"pve1?x", "pve1:0", "pve1:65536", "pve1:-1", "pve1:+80", "pve1:http", "pve1:", "[pve1]", "[192.0.2.1]", "[2001:db8::1",
		"2001:db8::1]:80",
		"127.0.0.1", "127.8.8.8:8006", "[::1]", "169.254.1.1", "[fe80::1]", "[fe80::1%25eth0]", "fe80::1%eth0", "0.0.0.0", "[::]", "224.0.0.1",
		"[ff02::1]", "255.255.255.255",
		"[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fd00:ec2::254]", "fd00:ec2::254%eth0", "2001:db8::1%eth0", "[2001:db8::1%25eth0]",
		"100.100.100.200", "[::ffff:168.63.129.16]", "[2002:a83f:8110::]", "localhost", "x.localhost", "LOCALHOST:1", "127.1", "0x7f000001",
		"2130706433", "0177.0.0.1", "localhost.localdomain", "ip6-loopback", "IP6-localhost.", "localhost4:80",
		"pve 1", "pve1\x00", "pve\n1", "-pve", "pve-", "a..b", ".", "https:pve1", "//pve1", `\\pve1`, strings.Repeat("a", 64),
		strings.Repeat("a.", 200) + "a", "\xff",
	} {
		if got, err := host.ParseAddress(in, "8006", false); err == nil {
			t.Errorf("%q was taken as %q", in, got)
		}
	}
	for in, want := range map[string]string{"127.0.0.1:33": "127.0.0.1:33", "localhost": "localhost:8006", "[::1]": "[::1]:8006"} {
		if got, err := host.ParseAddress(in, "8006", true); err != nil || got != want {
			t.Errorf("with local addresses allowed, %q gave %q, %v", in, got, err)
		}
	}
	if _, err := host.ParseAddress("0.0.0.0", "8006", true); err == nil {
		t.Error("the unspecified address was taken")
	}
}

func TestParseAddressOfOtherPorts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"lxd1": "lxd1:8443", "lxd1:8006": "lxd1:8006", "2001:db8::1": "[2001:db8::1]:8443", "https://[2001:db8::1]": "[2001:db8::1]:8443",
	} {
		if got, err := host.ParseAddress(in, "8443", false); err != nil || got != want {
			t.Errorf("%q gave %q, %v; want %q", in, got, err, want)
		}
	}
}
