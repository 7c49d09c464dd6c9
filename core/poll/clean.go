package poll

import (
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// These limit what one poll may bring. A plugin is not trusted to return text
// that PostgreSQL accepts, nor lists of a bearable length.
const (
	maxName = 255
	maxWord = 128
	maxTags = 64
	// maxGuests, maxNodes and maxStorages bound what one poll may bring.
	maxGuests   = 500_000
	maxNodes    = 4096
	maxStorages = 100_000
)

// clean returns s without NUL and invalid UTF-8, cut to at most n bytes.
func clean(s string, n int) string {
	if len(s) <= n && plain(s) {
		return s
	}
	if len(s) > 4*n {
		s = s[:4*n]
	}
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// plain reports printable ASCII, the usual case, which needs no work.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return c != 0 && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
		}
	}
	return true
}

// cleanAll cleans a list. It copies the list only if something was wrong.
func cleanAll(list []string, most, n int) []string {
	list = list[:min(most, len(list))]
	copied := false
	for i, s := range list {
		c := clean(s, n)
		if c == s {
			continue
		}
		if !copied {
			list, copied = append([]string(nil), list...), true
		}
		list[i] = c
	}
	return list
}

// guestStatus accepts only the states that the service knows.
func guestStatus(s string) string {
	switch s {
	case hypervisor.GuestRunning, hypervisor.GuestStopped, hypervisor.GuestPaused, hypervisor.GuestSuspended:
		return s
	}
	return hypervisor.GuestUnknown
}

// nodeStatus accepts only the states that the service knows.
func nodeStatus(s string) string {
	if s == hypervisor.NodeOnline || s == hypervisor.NodeOffline {
		return s
	}
	return hypervisor.NodeUnknown
}
