package processtest

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/programtest"
)

// appMachine is the machine of a simulated hypervisor's node: a booted one with a real sshd, whose programs make containers. The
// simulator hears of these, and what the service asks of it for a container is done with the container, too.
type appMachine struct {
	*nodetest.Machine
	t       testing.TB
	cluster *sim
	// front is the hypervisor's API as the service sees it.
	front *sim
}

// pctOfNode makes containers: it waits until the test has done so.
const pctOfNode = `#!/bin/sh
# pct create ID NAME TAGS | start ID | exec ID -- PROGRAM ARGUMENT...
[ "$1" != exec ] || { id=$2; shift 2; exec /usr/local/sbin/lxc-attach -n "$id" "$@"; }
mkdir -p /run/pct; n=$$
echo "$*" >"/run/pct/$n.new"; mv "/run/pct/$n.new" "/run/pct/$n.asked"
while [ ! -e "/run/pct/$n.done" ]; do sleep 0.05; done
rm "/run/pct/$n.done"
`

// attachOfNode is lxc-attach with the environment or without. What it runs is in the container's control group, and does not end with the
// unit that it was run by.
const attachOfNode = `#!/bin/sh
# lxc-attach -n ID [--clear-env] -- PROGRAM ARGUMENT...
p=$(cat "/run/lxc/$2") || exit 1
mkdir -p "/sys/fs/cgroup/lxc-$2" && echo $$ >"/sys/fs/cgroup/lxc-$2/cgroup.procs" || true
clean=
[ "$3" != --clear-env ] || { clean="env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin"; set -- "$1" "$2" "$@"; shift 2; }
while [ "$1" != -- ]; do shift; done
shift
exec nsenter -t "$p" -m -p -n -u -- $clean "$@"
`

// newAppMachine boots one for the only node of a simulator.
func newAppMachine(t testing.TB) *appMachine {
	t.Helper()
	m := &appMachine{Machine: nodetest.Start(t), t: t}
	if _, err := m.Try(t.Context(), "command -v python3 curl ip"); err != nil {
		programtest.Missing(t, "there is no python3, curl and ip to serve and fetch pages with")
	}
	m.cluster = startSim(t, "--scenario", "one", "--guests", "-1", "--auth-delay", "0", "--resources-lag", "0", "--recommended",
		"--task-duration", "50ms")
	at, err := url.Parse(m.cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // it is the test's own
		MaxIdleConnsPerHost: 8}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.pass(proxy, w, r) }))
	t.Cleanup(server.Close)
	front := *m.cluster
	front.URL = server.URL
	sum := sha256.Sum256(server.Certificate().Raw)
	front.Fingerprint = strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
	m.front = &front
	m.Stopped(100) // which makes the programs
	m.Run("rm /etc/pve/lxc/100.conf")
	m.programs()
	return m
}

func (m *appMachine) programs() {
	m.t.Helper()
	for name, text := range map[string]string{"pct": pctOfNode, "lxc-attach": attachOfNode} {
		m.Run(fmt.Sprintf("cat >/usr/local/sbin/%[1]s <<'END'\n%[2]sEND\nchmod 755 /usr/local/sbin/%[1]s", name, text))
	}
}

// asks is what changes what a container has: its number, what is asked, and the name of a snapshot.
var asks = regexp.MustCompile(`/lxc/([0-9]+)(?:/(snapshot|status/start)(?:/([^/]+)(/rollback)?)?)?$`)

// kept are the files of a container that snapshots have.
const kept = "root var/lib"

// pass hands a request on, and does with the container what it asks for.
func (m *appMachine) pass(next http.Handler, w http.ResponseWriter, r *http.Request) {
	found := asks.FindStringSubmatch(r.URL.Path)
	if found == nil || r.Method == http.MethodGet {
		next.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	id, what, name := found[1], found[2], found[3]
	line := ""
	switch {
	case r.Method == http.MethodPost && what == "snapshot" && name == "":
		line = fmt.Sprintf("tar -C /var/roots/%[1]s -cf /run/newest-%[1]s.tar %[2]s", id, kept)
	case r.Method == http.MethodPost && what == "snapshot" && found[4] != "":
		line = fmt.Sprintf(`nsenter -t "$(cat /run/lxc/%[1]s)" -m -p -- sh -c 'kill -KILL -1' || true
			cd /var/roots/%[1]s && rm -rf root var/lib && tar -xf /run/newest-%[1]s.tar`, id)
	case r.Method == http.MethodPost && what == "status/start":
		line = fmt.Sprintf("lxc-attach -n %s --clear-env -- sh /root/start", id)
	}
	next.ServeHTTP(answer, r)
	if line != "" && answer.Code == http.StatusOK {
		if _, err := m.Try(r.Context(), line); err != nil {
			m.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
	}
	for key, values := range answer.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// addressOf is the address of a container as the simulator tells it; the machine reaches it.
func addressOf(id int) string { return fmt.Sprintf("10.99.%d.%d", byte(id>>8), byte(id)) }

// serve answers the programs that make containers, where one waits.
func (m *appMachine) serve() {
	m.t.Helper()
	for line := range strings.Lines(m.Run("cd /run/pct 2>/dev/null && grep -H . *.asked 2>/dev/null || true")) {
		file, words, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(words)
		var id int
		if _, err := fmt.Sscan(fields[1], &id); err != nil {
			m.t.Fatalf("pct was asked for %q", words)
		}
		if fields[0] == "create" {
			m.cluster.control(m.t, http.MethodPost, "/guest", map[string]any{"op": "create", "type": "lxc", "vmid": id, "name": fields[2],
				"tags": fields[3]}, nil)
		} else {
			m.boot(id)
			m.cluster.control(m.t, http.MethodPost, "/guest", map[string]any{"op": "status", "vmid": id, "status": "running"}, nil)
		}
		number := strings.TrimSuffix(file, ".asked")
		m.Run(fmt.Sprintf("cd /run/pct && rm %[1]s.asked && : >%[1]s.done", number))
	}
}

// boot starts a container, with a network that the machine reaches.
func (m *appMachine) boot(id int) {
	m.t.Helper()
	m.Container(id)
	m.programs()
	m.Run(fmt.Sprintf(`p=$(cat /run/lxc/%[1]d); ip link add ve%[1]d type veth peer name eth0 netns "$p"
		ip link set ve%[1]d up; ip route add %[2]s dev ve%[1]d; ip addr add 10.98.0.1/32 dev ve%[1]d
		nsenter -t "$p" -n sh -c 'ip addr add %[2]s/32 dev eth0; ip link set eth0 up; ip route add 10.98.0.1 dev eth0'`, id, addressOf(id)))
}

// page is what an app's page says by now; empty where nothing answers.
func (m *appMachine) page(id int) string {
	out, _ := m.Try(m.t.Context(), fmt.Sprintf("curl -s --max-time 3 http://%s:8080/", addressOf(id)))
	return strings.TrimSpace(out)
}

// left is what runs have left on the machine: nothing, where all went well.
func (m *appMachine) left() string {
	m.t.Helper()
	return m.Run("ls -A /var/lib/hostler/runs /var/lib/hostler/bundles /run/hostler-runs 2>/dev/null | grep -v ':$' | grep . || true; " +
		"systemctl list-units --all --no-legend 'hostler-run-*'")
}
