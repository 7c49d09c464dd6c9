package nodetest

import (
	"fmt"
	"strings"

	"github.com/hostler/hostler/internal/waittest"
)

// tools stand in for the programs of LXC, for containers that are name spaces: a container's process 1 is in /run/lxc/ID.
const tools = `mkdir -p /etc/pve/lxc /etc/pve/qemu-server /run/lxc /usr/local/sbin
cat >/usr/local/sbin/lxc-info <<'END'
#!/bin/sh
# lxc-info -H -s|-p -n ID
[ -e "/etc/pve/lxc/$4.conf" ] || exit 1
p=$(cat "/run/lxc/$4" 2>/dev/null) && [ -e "/proc/$p/ns/net" ] || p=
case $2 in
-s) [ -n "$p" ] && echo RUNNING || echo STOPPED ;;
-p) [ -n "$p" ] && echo "$p" ;;
esac
END
cat >/usr/local/sbin/lxc-attach <<'END'
#!/bin/sh
# lxc-attach -n ID --clear-env -- PROGRAM ARGUMENT...
[ "$3 $4" = "--clear-env --" ] || exit 1
p=$(cat "/run/lxc/$2") || exit 1
shift 4
exec nsenter -t "$p" -m -p -n -u -- env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
END
cat >/usr/local/sbin/lxc-start <<'END'
#!/bin/sh
# lxc-start -n ID
mkdir -p /run/lxc
cat >"/run/root-$2" <<'ROOT'
` + root + `
ROOT
setsid unshare --mount --pid --net --uts --fork --kill-child sh -e "/run/root-$2" "$2" >"/run/log-$2" 2>&1 </dev/null &
u=$!
i=0; until p=$(cat /proc/$u/task/$u/children 2>/dev/null) && [ -n "$p" ] && grep -qz infinity /proc/${p%% }/cmdline; do
	i=$((i+1)); [ $i -lt 9000 ] || { cat "/run/log-$2"; exit 1; }; sleep 0.02
done
echo ${p%% } >"/run/lxc/$2"
END
chmod 755 /usr/local/sbin/lxc-info /usr/local/sbin/lxc-attach /usr/local/sbin/lxc-start
`

// root makes a root for a container below /var/roots/$1: programs of the machine's, and all else its own, which a boot keeps.
const root = `r=/var/roots/$1; mkdir -p "$r"; mount --bind "$r" "$r"; cd "$r"
for d in bin sbin lib lib64 usr; do
	if [ -L "/$d" ]; then [ -L "$d" ] || cp -P "/$d" .; elif [ -d "/$d" ]; then mkdir -p "$d"; mount --bind "/$d" "$d"; fi
done
mkdir -p dev etc proc tmp root var/lib
echo root:x:0:0::/root:/bin/sh >etc/passwd
mount -t tmpfs tmpfs dev; for n in null zero full random urandom; do : >dev/$n; mount --bind /dev/$n dev/$n; done
ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
mount -t proc proc proc; ip link set lo up
pivot_root . tmp; umount -l /tmp; hostname "ct$1"; exec sleep infinity`

// Container starts a container of that number, with name spaces of its own for all but users. It ends with the machine, and is started
// again by the machine's lxc-start.
func (m *Machine) Container(id int) {
	m.t.Helper()
	m.Run(tools + fmt.Sprintf(": >/etc/pve/lxc/%[1]d.conf; lxc-start -n %[1]d", id))
}

// Stopped makes a container of that number that does not run.
func (m *Machine) Stopped(id int) {
	m.t.Helper()
	m.Run(tools + fmt.Sprintf(": >/etc/pve/lxc/%d.conf", id))
}

// VM makes a VM of that number that does not run.
func (m *Machine) VM(id int) {
	m.t.Helper()
	m.Run(tools + fmt.Sprintf(": >/etc/pve/qemu-server/%d.conf", id))
}

// InContainer runs a command line in a container, past SSH, and gives what it prints.
func (m *Machine) InContainer(id int, line string) string {
	m.t.Helper()
	return m.Run(fmt.Sprintf("lxc-attach -n %d --clear-env -- sh -c '%s'", id, strings.ReplaceAll(line, "'", `'\''`)))
}

// listener listens at the TCP port of its first argument until it is killed.
const listener = `import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); time.sleep(1e6)
`

// Listen starts a program in a container that listens at a TCP port of 127.0.0.1. It skips the test where there is no Python.
func (m *Machine) Listen(id, port int) {
	m.t.Helper()
	if _, err := m.Try(m.t.Context(), "command -v python3"); err != nil {
		m.t.Skip("there is no python3 to listen with")
	}
	m.InContainer(id, fmt.Sprintf("f=/root/listen-%[1]d; cat >$f <<'END'\n%[2]sEND\nsetsid python3 $f %[1]d >/dev/null 2>&1 </dev/null &",
		port, listener))
	waittest.Until(m.t, "the program listens", func() bool {
		out, _ := m.Try(m.t.Context(), fmt.Sprintf("cat /proc/$(cat /run/lxc/%d)/net/tcp", id))
		return strings.Contains(out, fmt.Sprintf(":%04X 00000000:0000 0A", port))
	})
}
