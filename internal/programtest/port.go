package programtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
)

// FreePort returns a free TCP port on 127.0.0.1 for a program that cannot report its own. It is below the ephemeral range, and a UDP
// socket on another address reserves it against all other tests until this test ends.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 20_000 + rand.IntN(12_000)
		held, err := net.ListenPacket("udp4", fmt.Sprintf("127.0.0.99:%d", port))
		if err != nil {
			continue
		}
		if !free(port) {
			_ = held.Close()
			continue
		}
		t.Cleanup(func() { _ = held.Close() })
		return port
	}
	t.Fatal("found no free port in a thousand tries")
	return 0
}

// The first start of a process by this one forks once outside of ForkLock, to try whether the kernel has pidfds: that child would hold
// a listener, or a program that Write has open, for a moment longer. Here it is over before the first use.
func init() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release()
	}
}

// free reports whether nobody listens at a port. Nobody forks meanwhile, see Write: the child would listen a moment longer.
func free(port int) bool {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // the kernel may give up the port of the other kind a moment after its end
	l, err := plain.Listen(context.Background(), "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		_ = l.Close()
	}
	return err == nil
}
