package nodetest_test

import (
	"bytes"
	"testing"

	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestMachine(t *testing.T) {
	t.Parallel()
	m := nodetest.Start(t)
	before := m.Run("cat /proc/sys/kernel/random/boot_id; touch /var/lib/kept; systemd-run --quiet -p Type=oneshot touch /run/gone")
	login := m.Login()
	var out bytes.Buffer
	end, err := login.RunOnNode(t.Context(), hypervisor.NodeCommand{Program: "cat", Arguments: []string{"/etc/hostname", "/run/gone"}},
		hypervisor.NodeStreams{Output: &out})
	if err != nil || !end.OK() || out.String() != "node\n" {
		t.Errorf("over SSH: %q, %+v, %v", out.String(), end, err)
	}
	m.PowerOff()
	m.Boot()
	if after := m.Run("cat /proc/sys/kernel/random/boot_id; ls /var/lib/kept; ! ls /run/gone 2>/dev/null"); after == before {
		t.Errorf("after a boot: %q, before %q", after, before)
	}
}
