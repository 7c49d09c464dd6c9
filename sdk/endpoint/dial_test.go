package endpoint_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	const never, local, always = 0, 1, 2
	for address, when := range map[string]int{
		"127.0.0.1": local, "127.255.255.254": local, "::1": local, "::ffff:127.0.0.1": local, "::127.0.0.1": local, "64:ff9b::127.0.0.1": local,
		"2002:7f00:1::1": local, "2002:a9fe:a9fe::": local, "2002::1": never, "2002:0a00:1::1": always, "::ffff:0:127.0.0.1": local,
		"64:ff9b:1::127.0.0.1":            local,
		"64:ff9b:1:abcd::169.254.169.254": local, "64:ff9b:1::10.0.0.1": always,
		"169.254.169.254": local, "169.254.0.1": local, "fe80::1": local, "fe80::1%eth0": local, "::ffff:169.254.169.254": local,
		"fd00:ec2::254": local, "fd00:ec2::23": local, "fd20:ce::254": local, "fd00:c1::a9fe:a9fe": local, "fd00:42::42": local,
		"fd00:a9fe:a9fe::1": local,
		"100.100.100.200":   local, "168.63.129.16": local, "192.0.0.192": local, "::ffff:100.100.100.200": local,
		"64:ff9b::100.100.100.200": local, "2002:a83f:8110::1": local,
		// An address with a zone is one of a link, whatever it begins with; a zone must not hide what the address is.
		"fd00:ec2::254%eth0": local, "::1%lo": local, "::127.0.0.1%lo": local, "64:ff9b::169.254.169.254%eth0": local,
		"2002:7f00:1::1%eth0": local, "2001:db8::1%eth0": local,
		"ff02::1%eth0": never, "64:ff9b::0.0.0.0%eth0": never, "::%eth0": never,
		"2001:0:5ef5:79fb::5601:5601": local, "2001:0:5ef5:79fb::80ff:fffe": local, "2001:0:5ef5:79fb::f5ff:fffe": always,
		"2001:0:5ef5:79fb::ffff:ffff": never,
		"fd00:ec1::254":               always, "fd00:ec3::254": always, "fd20:ce::253": always, "100.100.100.201": always,
		"168.63.129.17": always,
		"0.0.0.0":       never, "0.1.2.3": never, "::": never, "::ffff:0.0.0.0": never, "224.0.0.1": never, "239.255.255.255": never,
		"ff02::1": never, "255.255.255.255": never,
		"::ffff:224.0.0.1": never, "64:ff9b::0.0.0.0": never,
		"10.0.0.1": always, "172.16.0.1": always, "192.168.1.1": always, "100.64.0.1": always, "8.8.8.8": always, "fd00::1": always,
		"2001:db8::1": always, "64:ff9b::8.8.8.8": always,
	} {
		for _, allow := range []bool{false, true} {
			err := endpoint.CheckAddress(netip.MustParseAddr(address), allow)
			want := when == always || when == local && allow
			if (err == nil) != want {
				t.Errorf("%s, local allowed %v: error is %v", address, allow, err)
			}
			if err != nil && plugin.KindOf(err) != plugin.Forbidden {
				t.Errorf("%s: error is %v, want forbidden", address, err)
			}
		}
	}
	if err := endpoint.CheckAddress(netip.Addr{}, true); plugin.KindOf(err) != plugin.Forbidden {
		t.Errorf("no address: error is %v, want forbidden", err)
	}
}

// The rule is about what a name points to.
func TestDialControl(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("listening:", err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	dial := func(allow bool) error {
		target := endpoint.Target{Address: "localhost:" + port, AllowLocal: allow}
		dialer := net.Dialer{Control: endpoint.DialControl(target), Timeout: time.Minute}
		conn, err := dialer.DialContext(t.Context(), "tcp", target.Address)
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	if err := dial(true); err != nil {
		t.Error("with local addresses allowed:", err)
	}
	if err := dial(false); plugin.KindOf(err) != plugin.Forbidden {
		t.Errorf("error is %v, want forbidden", err)
	}
	for _, address := range []string{"[fd00:ec2::254]:80", "[fd00:ec2::254%eth0]:80", "[fe80::1%2]:8006", "[64:ff9b::127.0.0.1%lo]:8006",
		"127.0.0.1", ""} {
		if err := endpoint.DialControl(endpoint.Target{})("tcp6", address, nil); plugin.KindOf(err) != plugin.Forbidden {
			t.Errorf("%q: error is %v, want forbidden", address, err)
		}
	}
	if err := endpoint.DialControl(endpoint.Target{})("unix", "/tmp/socket", nil); plugin.KindOf(err) != plugin.Forbidden {
		t.Errorf("a unix socket: error is %v, want forbidden", err)
	}
}
