package pvessh

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxSocketText is the maximum size of the script's output, in bytes.
const maxSocketText = 8 << 20

// readSockets is the script that prints the kernel's socket tables of the
// container $1 (proc_pid_net(5)), as the node sees them. Nothing of the
// container is run, and none of its paths are followed.
//
// It prints the sockets that listen (state 0A of TCP) or are not connected (07
// of UDP), then which processes in the same network namespace hold which
// sockets, and the names of these processes. Addresses are 32-bit numbers in
// the node's byte order; the line "order" is 1 for little-endian and 256 for
// big-endian. The last line is only printed if the container was not restarted
// meanwhile.
const readSockets = findContainer + `LC_ALL=C; export LC_ALL
p=$(lxc-info -H -p -n "$1") && [ -e "/proc/$p/ns/net" ] || exit 22
[ ! "/proc/$p/ns/net" -ef /proc/self/ns/net ] || exit 23
echo order $(printf '\1\0' | od -An -tu2)
while read -r a b c; do echo "uid $a $b $c"; done <"/proc/$p/uid_map"
for t in tcp tcp6 udp udp6; do
	[ -r "/proc/$p/net/$t" ] || continue
	case $t in tcp*) s=0A ;; *) s=07 ;; esac
	echo "table $t"
	grep -E "^ *[0-9]+: [0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:[0-9A-F]{4} $s " "/proc/$p/net/$t" | head -n 5000
done
set -- "$1"
for d in /proc/[0-9]*/ns/net; do
	[ ! "$d" -ef "/proc/$p/ns/net" ] || set -- "$@" "${d%/ns/net}"
done
id=$1; shift
if [ $# -gt 0 ]; then
	echo links
	(for d do shift; set -- "$@" "$d/fd"; done; find "$@" -maxdepth 1 -lname 'socket:*' -printf '%h %l\n') 2>/dev/null | head -n 50000
	echo names
	(for d do shift; set -- "$@" "$d/status"; done; grep -H -m 1 '^Name:' "$@" /dev/null) 2>/dev/null | head -n 20000
fi
[ "$(lxc-info -H -p -n "$id")" != "$p" ] || echo end
`

// uidRange is a line of a uid_map: count user IDs starting at inside are those
// starting at outside on the node.
type uidRange struct{ inside, outside, count int64 }

// socketEntry is a row of a socket table. outside is the user ID on the node.
type socketEntry struct {
	protocol string
	address  netip.AddrPort
	outside  int64
	inode    string
}

// socketTables are the parsed output of the script.
type socketTables struct {
	order   binary.ByteOrder
	uids    []uidRange
	entries []socketEntry
	// holders maps an inode to the process on the node that holds the socket;
	// if several do, the one with the smallest ID, which is usually the parent.
	holders map[string]int
	names   map[int]string
	whole   bool
}

// parseSockets parses the output of readSockets. A container controls the names
// of its processes and its user IDs, so single lines that make no sense are
// skipped; a broken table is an error of kind Protocol. If the container
// stopped or restarted meanwhile, the error is Conflict.
func parseSockets(text string) (hypervisor.SocketList, error) {
	t := socketTables{holders: map[string]int{}, names: map[int]string{}}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "order":
			t.order = map[string]binary.ByteOrder{"1": binary.LittleEndian, "256": binary.BigEndian}[strings.TrimSpace(rest)]
		case word == "uid":
			t.user(strings.Fields(rest))
		case word == "table" && slices.Contains([]string{"tcp", "tcp6", "udp", "udp6"}, rest):
			section = rest
		case line == "links" || line == "names":
			section = line
		case line == "end":
			t.whole = true
		case section == "links":
			t.link(line)
		case section == "names":
			t.name(line)
		case section != "":
			if err := t.entry(section, strings.Fields(line)); err != nil {
				return hypervisor.SocketList{}, err
			}
		}
	}
	switch {
	case t.order == nil:
		return hypervisor.SocketList{}, plugin.Errorf(plugin.Protocol, "the node did not report its byte order")
	case !t.whole:
		return hypervisor.SocketList{}, plugin.Errorf(plugin.Conflict, "the container stopped or restarted while its sockets were read")
	}
	return t.list(), nil
}

// user reads a line of the map of users.
func (t *socketTables) user(fields []string) {
	var r uidRange
	if len(fields) != 3 {
		return
	}
	for i, to := range []*int64{&r.inside, &r.outside, &r.count} {
		n, err := strconv.ParseUint(fields[i], 10, 32)
		if err != nil {
			return
		}
		*to = int64(n)
	}
	t.uids = append(t.uids, r)
}

// link reads "/proc/12/fd socket:[345]".
func (t *socketTables) link(line string) {
	at, target, _ := strings.Cut(line, " ")
	process, ok := processOf(strings.TrimSuffix(at, "/fd"))
	inode, isSocket := strings.CutPrefix(strings.TrimSuffix(target, "]"), "socket:[")
	if !ok || !isSocket {
		return
	}
	if known, there := t.holders[inode]; !there || process < known {
		t.holders[inode] = process
	}
}

// name reads "/proc/12/status:Name:	nginx".
func (t *socketTables) name(line string) {
	at, name, ok := strings.Cut(line, "/status:Name:")
	process, known := processOf(at)
	if ok && known {
		t.names[process] = programName(name)
	}
}

// processOf returns the process ID in a path /proc/N.
func processOf(path string) (int, bool) {
	digits, ok := strings.CutPrefix(path, "/proc/")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil
}

// programName returns the name of a process from its status file, where line
// feeds and backslashes are escaped (proc_pid_status(5)). The container chooses
// it, so it is limited to 64 printable bytes.
func programName(text string) string {
	text = strings.NewReplacer(`\n`, " ", `\\`, `\`).Replace(strings.TrimSpace(text))
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
	return strings.ToValidUTF8(text[:min(len(text), 64)], "")
}

// entry parses a row of a table: number, local and remote address, state,
// queues, timers, retransmits, user, timeout, inode. UDP sockets without a port
// are skipped: they get one with their first datagram.
func (t *socketTables) entry(table string, fields []string) error {
	broken := plugin.Errorf(plugin.Protocol, "the node's table %s has an invalid line", table)
	if t.order == nil || len(fields) < 10 {
		return broken
	}
	protocol, listens := hypervisor.TCP, "0A"
	if strings.HasPrefix(table, "udp") {
		protocol, listens = hypervisor.UDP, "07"
	}
	if fields[3] != listens {
		return nil
	}
	local, ok := t.address(fields[1], strings.HasSuffix(table, "6"))
	user, err := strconv.ParseUint(fields[7], 10, 32)
	if !ok || err != nil {
		return broken
	}
	if local.Port() != 0 { // a socket of UDP gets its port by its first datagram
		t.entries = append(t.entries, socketEntry{protocol, local, int64(user), fields[9]})
	}
	return nil
}

// address parses an address and a port in hexadecimal digits. The kernel prints
// 32-bit words as they are in memory, where the bytes of an address are in
// network order; so the words must be read in the node's byte order. The port
// is an ordinary number. IPv4 addresses in IPv6 form become IPv4.
func (t *socketTables) address(text string, v6 bool) (netip.AddrPort, bool) {
	digits, digitsOfPort, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(digits)
	port, bad := strconv.ParseUint(digitsOfPort, 16, 16)
	if size := map[bool]int{false: 4, true: 16}[v6]; err != nil || bad != nil || len(raw) != size {
		return netip.AddrPort{}, false
	}
	for at := 0; at < len(raw); at += 4 {
		t.order.PutUint32(raw[at:], binary.BigEndian.Uint32(raw[at:]))
	}
	address, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(address.Unmap(), uint16(port)), true
}

// list returns the sockets, sorted and without duplicates: several processes
// can share an address (SO_REUSEPORT). It stops at hypervisor.MaxSockets and
// reports that there are more.
func (t *socketTables) list() hypervisor.SocketList {
	slices.SortFunc(t.entries, func(a, b socketEntry) int {
		return cmp.Or(strings.Compare(a.protocol, b.protocol), cmp.Compare(a.address.Port(), b.address.Port()), a.address.Compare(b.address),
			cmp.Compare(a.outside, b.outside))
	})
	list := hypervisor.SocketList{}
	type told struct {
		hypervisor.Socket
		user int64
	}
	seen := map[told]bool{}
	for _, e := range t.entries {
		s := hypervisor.Socket{Protocol: e.protocol, Address: e.address.Addr().String(), Port: int(e.address.Port())}
		if holder, ok := t.holders[e.inode]; ok && e.inode != "0" {
			s.Program = t.names[holder]
		}
		if seen[told{s, e.outside}] {
			continue
		}
		seen[told{s, e.outside}] = true
		if len(list.Sockets) == hypervisor.MaxSockets {
			list.More = true
			break
		}
		s.UserID = t.inside(e.outside)
		list.Sockets = append(list.Sockets, s)
	}
	return list
}

// inside returns the user ID in the container for one on the node, or nil if
// the container has no such user.
func (t *socketTables) inside(outside int64) *int64 {
	for _, r := range t.uids {
		if outside >= r.outside && outside < r.outside+r.count {
			return new(outside - r.outside + r.inside)
		}
	}
	return nil
}
