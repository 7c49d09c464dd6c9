package install

import "testing"

func TestTemplateOfASystem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, os, version string
		want              bool
	}{
		{"debian-13-standard_13.1-2_amd64.tar.zst", "debian", "13", true},
		{"debian-13-standard_13.1-2_amd64.tar.zst", "debian", "1", false},
		{"debian-12-standard_12.7-1_amd64.tar.zst", "debian", "13", false},
		{"local:vztmpl/alpine-3.22-default_20250617_amd64.tar.xz", "Alpine", "3.22", true},
		{"alpine-3.22-default_20250617_amd64.tar.xz", "alpine", "3.2", false},
		{"ubuntu-24.04-standard_24.04-2_amd64.tar.zst", "ubuntu", "", true},
		{"ubuntu-24.04-standard_24.04-2_amd64.tar.zst", "ubuntu", "24.04", true},
		{"", "debian", "13", false},
		{"debian", "debian", "", false},
	} {
		if got := ofSystem(c.name, c.os, c.version); got != c.want {
			t.Errorf("%s of %s %s: %v", c.name, c.os, c.version, got)
		}
	}
}
