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
		"lxd-web1_</var/lib/lxd>":                                     "web1",
		"lxd-customers_web1_</var/snap/lxd/common/lxd>":               "customers/web1",
		"incus-our_customers_web-1_</var/lib/incus>":                  "our_customers/web-1",
		"unconfined":                  "",
		"lxc-_</var/lib/lxc>":         "",
		"lxd-_</var/lib/lxd>":         "",
		"lxd-web1":                    "",
		"docker-lxc-101_</var/lib/x>": "",
		"":                            "",
	} {
		if got := containerID(label); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}
