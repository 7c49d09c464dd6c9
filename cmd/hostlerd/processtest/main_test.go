//go:build !linux

package processtest

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	removePrograms()
	os.Exit(code)
}
