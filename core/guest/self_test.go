package guest

import (
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestContainerID(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]hypervisor.GuestID{
		"lxc-101_</var/lib/lxc>": "101",
		"lxc-101_</var/lib/lxc>//&:lxc-101_<-var-lib-lxc>:unconfined": "101",
		"unconfined":                  "",
		"lxc-_</var/lib/lxc>":         "",
		"lxc-99999999999_</var/lib>":  "",
		"docker-lxc-101_</var/lib/x>": "",
		"":                            "",
	} {
		if got := containerID(label); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}
