package pveapi_test

import (
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// A proxy of the environment would see the tokens' way, and the address that is dialled would not be the host's any more.
// Go reads these variables once for each process, and never uses a proxy for loopback addresses.
func TestProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	t.Parallel()
	const inside = "PVEAPI_TEST_BEHIND_A_PROXY"
	if os.Getenv(inside) != "" {
		client, err := pveapi.NewPool(pveapi.Timeouts{}).NewClient(endpoint.Target{Address: "no-such-host.invalid:8006"})
		if err != nil {
			t.Fatal(err)
		}
		for _, send := range []func() error{
			func() error { _, err := client.Get(t.Context(), "/version", nil, nil); return err },
			func() error { _, err := client.Post(t.Context(), "/version", nil, nil); return err },
		} {
			wantKind(t, send(), plugin.Unreachable)
		}
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	var connections atomic.Int32
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = conn.Close()
		}
	}()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), inside+"=1")
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		command.Env = append(command.Env, name+"=http://"+listener.Addr().String())
	}
	command.Env = append(command.Env, "NO_PROXY=", "no_proxy=")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	if n := connections.Load(); n > 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}
