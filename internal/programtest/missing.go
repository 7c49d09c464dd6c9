package programtest

import (
	"os"
	"testing"
)

// ServersRequired is the variable by which make check says that this machine can start every server that tests need.
const ServersRequired = "HOSTLER_SERVERS_REQUIRED"

// Missing ends a test that cannot run here, for the reason why: it skips, and fails where ServersRequired is set.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(ServersRequired) != "" && !testing.Short() {
		t.Fatal(why + ", and " + ServersRequired + " is set")
	}
	t.Skip(why)
}
