package pve

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/firewall"
)

// logLevels are the levels of rules, by the number in the log.
var logLevels = []string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"}

// logGuest is the form of the guest's id at the beginning of a line.
var logGuest = regexp.MustCompile(`^(0|[1-9][0-9]{2,8})$`)

// groupChain is the form of the name of a group's chain.
var groupChain = regexp.MustCompile(`^GROUP-([A-Za-z][A-Za-z0-9_-]+)-(?:IN|OUT|FORWARD)$`)

// logTime is the layout of times in the log.
const logTime = "02/Jan/2006:15:04:05 -0700"

// logEntry reads a line of the log: the guest's id or 0 for the node, the
// level, the chain, the time, the verdict, and the packet in the kernel's
// notation. Example: "0 6 PVEFW-HOST-IN 25/Nov/2026:10:00:00 +0100 policy DROP:
// IN=vmbr0 SRC=192.0.2.1 DST=192.0.2.2 PROTO=TCP SPT=1 DPT=22". It returns nil
// for every other line, such as those of the logger about itself.
func logEntry(line string) *firewall.LogEntry {
	words := strings.SplitN(line, " ", 6)
	if len(words) < 6 || !logGuest.MatchString(words[0]) || words[2] == "" || words[2] == "-" {
		return nil
	}
	at, err := time.Parse(logTime, words[3]+" "+words[4])
	level, levelErr := strconv.ParseUint(words[1], 10, 8)
	done, packet, found := strings.Cut(words[5], ": ")
	if err != nil || levelErr != nil || level >= uint64(len(logLevels)) || !found || at.Year() < 1970 {
		return nil
	}
	entry := &firewall.LogEntry{Time: at.UTC(), Level: logLevels[level], Chain: words[2], Direction: chainDirection(words[2])}
	if entry.Scope = firewall.NodeScope; words[0] != "0" {
		entry.Guest, entry.Scope = words[0], firewall.GuestScope
	}
	if m := groupChain.FindStringSubmatch(words[2]); m != nil {
		entry.Scope, entry.Group = firewall.GroupScope, m[1]
	}
	if entry.Action = strings.TrimPrefix(done, "policy "); entry.Action == "" || strings.ContainsAny(entry.Action, " =") {
		return nil
	}
	readPacket(entry, packet)
	return entry
}

// chainDirection returns the direction in the name of a chain.
func chainDirection(chain string) string {
	switch {
	case strings.HasSuffix(chain, "-IN"):
		return firewall.DirectionIn
	case strings.HasSuffix(chain, "-OUT"):
		return firewall.DirectionOut
	case strings.HasSuffix(chain, "-FORWARD"), strings.HasPrefix(chain, "PVEFW-FWBR-"):
		return firewall.DirectionForward
	}
	return ""
}

// readPacket reads the kernel's notation of a packet: NAME=VALUE, the first of
// each name. An ICMP error repeats the packet that it concerns in brackets,
// which must not overwrite the outer one. On a bridge both interfaces are the
// bridge, and its ports are more useful.
func readPacket(entry *firewall.LogEntry, text string) {
	text, _, _ = strings.Cut(text, "[")
	fields := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		name, value, found := strings.Cut(word, "=")
		if _, twice := fields[name]; found && !twice && len(fields) < 64 {
			fields[name] = value
		}
	}
	address := func(name string) string {
		a, err := netip.ParseAddr(fields[name])
		if err != nil || a.Zone() != "" {
			return ""
		}
		return a.String()
	}
	port := func(name string) string {
		if _, err := strconv.ParseUint(fields[name], 10, 16); err != nil {
			return ""
		}
		return fields[name]
	}
	entry.Protocol = strings.ToLower(fields["PROTO"])
	entry.Source, entry.Destination = address("SRC"), address("DST")
	entry.SourcePort, entry.DestinationPort = port("SPT"), port("DPT")
	entry.InterfaceIn, entry.InterfaceOut = fields["IN"], fields["OUT"]
	if entry.InterfaceIn == entry.InterfaceOut {
		if p := fields["PHYSIN"]; p != "" {
			entry.InterfaceIn = p
		}
		if p := fields["PHYSOUT"]; p != "" {
			entry.InterfaceOut = p
		}
	}
}
