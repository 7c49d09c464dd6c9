package poll

import (
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// What a plugin says is not believed to be text that PostgreSQL takes, or of any bearable length.
const (
	maxName = 255
	maxWord = 128
	maxTags = 64
	// maxGuests, maxNodes and maxStorages bound what one poll may bring.
	maxGuests   = 500_000
	maxNodes    = 4096
	maxStorages = 100_000
)

// clean is s without NUL and invalid UTF-8, cut to at most n bytes.
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

// plain is the usual case: printable ASCII needs no work.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return c != 0 && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
		}
	}
	return true
}

// cleanAll cleans a list; it makes a new one only when something was wrong with the old.
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
