package guest

import "testing"

func TestContainerID(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]int64{
		"lxc-101_</var/lib/lxc>": 101,
		"lxc-101_</var/lib/lxc>//&:lxc-101_<-var-lib-lxc>:unconfined": 101,
		"unconfined":                  0,
		"lxc-_</var/lib/lxc>":         0,
		"lxc-99999999999_</var/lib>":  0,
		"docker-lxc-101_</var/lib/x>": 0,
		"":                            0,
	} {
		if got := containerID(label); got != want {
			t.Errorf("%q: %d, want %d", label, got, want)
		}
	}
}
