package main

import (
	"net"
	"strings"
	"testing"
)

func TestRun_RefusesAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	address := other.Addr().String()
	err = run(t.Context(), t.TempDir(), address, 1, 0)
	if err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "in use") ||
		!strings.Contains(err.Error(), "make run LISTEN=") {
		t.Errorf("%v", err)
	}
	_ = other.Close()
	if err := checkFree(t.Context(), address); err != nil {
		t.Errorf("a free port: %v", err)
	}
}
