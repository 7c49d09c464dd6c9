package programtest_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
)

// Nobody gets a port twice, and one can listen there.
func TestFreePort(t *testing.T) {
	t.Parallel()
	given := map[int]bool{}
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // with the other kind, the kernel once said that the address was in use
	for range 100 {
		port := programtest.FreePort(t)
		if given[port] {
			t.Fatalf("%d was given twice", port)
		}
		given[port] = true
		l, err := plain.Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}
