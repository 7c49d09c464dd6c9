package pvesim

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// release is a version of Proxmox VE. What came with a certain release asks for it.
type release struct{ major, minor, patch int }

// releasePattern is the form of a release.
var releasePattern = regexp.MustCompile(`^(\d{1,4})\.(\d{1,4})(?:[.-](\d{1,4}))?$`)

// parseRelease reads "9.2.11", "9.2" and the older form "7.4-16".
func parseRelease(s string) (release, error) {
	m := releasePattern.FindStringSubmatch(s)
	if m == nil {
		return release{}, fmt.Errorf("version %q is not of the form 9.2.11 or 7.4-16", s)
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // digits, or nothing
	}
	return release{n[0], n[1], n[2]}, nil
}

// atLeast reports whether the simulated release is not older than another one.
func (r release) atLeast(major, minor, patch int) bool {
	switch {
	case r.major != major:
		return r.major > major
	case r.minor != minor:
		return r.minor > minor
	}
	return r.patch >= patch
}

// before reports whether something that came with a release ("8.2", empty for
// always) is not there yet.
func (r release) before(since string) bool {
	if since == "" {
		return false
	}
	s, err := parseRelease(since)
	return err == nil && !r.atLeast(s.major, s.minor, s.patch)
}

// privileges of the release: 9 split VM.Monitor into those of the guest agent
// and brought VM.Replicate; 8 brought mappings and SDN.Use.
func (r release) privileges() []string {
	list := privileges
	if r.major < 9 {
		list = append(privilegesBut("VM.GuestAgent.", "VM.Replicate"), "VM.Monitor")
	}
	if r.major < 8 {
		list = without(list, "Mapping.", "SDN.Use")
	}
	return list
}

// without returns a list without the names that begin with one of the prefixes.
func without(list []string, prefixes ...string) []string {
	var out []string
	for _, p := range list {
		keep := true
		for _, x := range prefixes {
			keep = keep && !strings.HasPrefix(p, x)
		}
		if keep {
			out = append(out, p)
		}
	}
	return out
}
