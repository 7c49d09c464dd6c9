package programtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
)

// FreePort is a TCP port of 127.0.0.1 for a program that cannot tell its own. It is below those that the system gives to whoever asks
// for any, and no other test gets it until this one is over, whichever program it is of: a UDP socket of another address holds it.
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
