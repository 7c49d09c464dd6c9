package pve

import (
	"strconv"
	"strings"
)

// release is a major and a minor version of Proxmox VE.
type release struct{ major, minor int }

// parseRelease reads "9.2". A text that it cannot read counts as the newest
// release.
func parseRelease(text string) release {
	major, minor, _ := strings.Cut(text, ".")
	a, err := strconv.Atoi(major)
	if err != nil {
		return release{1 << 16, 0}
	}
	b, _ := strconv.Atoi(minor)
	return release{a, b}
}

// before reports whether r is older than o.
func (r release) before(o release) bool {
	return r.major < o.major || r.major == o.major && r.minor < o.minor
}
