package appscript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/nodeunit"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Limits of the observation of an app.
const (
	// askLimit bounds one request to a machine or a container, and callLimit
	// one that transfers files.
	askLimit  = time.Minute
	callLimit = 15 * time.Minute
	// maxTold is how many bytes are read of what a container reports.
	maxTold = 64 << 10
)

// observation is the state of an app, as seen from outside and as reported by
// its container.
type observation struct {
	// Version is what the app itself stores as its version. Packages is a
	// checksum over the database of its package manager. Both are empty if
	// unknown.
	Version  string `json:"version,omitempty"`
	Packages string `json:"packages,omitempty"`
	// OS and OSVersion are the container's system.
	OS        string `json:"os,omitempty"`
	OSVersion string `json:"os_version,omitempty"`
	// Web is the result of requesting the app's web page: an HTTP status, 1 if
	// only a connection could be made, 0 if nothing answered or no page is
	// known. At is the URL.
	Web int    `json:"web,omitempty"`
	At  string `json:"at,omitempty"`
	// Ports are the TCP ports on which the app listens, except on loopback
	// addresses.
	Ports []int `json:"ports,omitempty"`
}

// container runs programs in an app's container. Each call is a separate login.
type container struct {
	hosts  *host.Store
	hostID int64
	ref    hypervisor.GuestRef
	limit  time.Duration
}

var _ nodeunit.Container = container{}

// Run implements nodeunit.Container.
func (c container) Run(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (hypervisor.NodeResult,
	error) {
	return host.OnNode(ctx, c.hosts, c.hostID, c.limit,
		func(ctx context.Context, node hypervisor.GuestExecutor) (hypervisor.NodeResult, error) {
			return node.RunInGuest(ctx, c.ref, command, streams)
		})
}

// tells is the script with which a container reports its state. $1 is the file
// with the version, or empty.
const tells = `LC_ALL=C; export LC_ALL
[ -z "$1" ] || [ ! -f "$1" ] || echo "version $(head -c 200 "$1" | head -n 1)"
for f in /var/lib/dpkg/status /lib/apk/db/installed /usr/lib/apk/db/installed /var/lib/rpm/rpmdb.sqlite; do
	[ ! -f "$f" ] || echo "packages $(sha256sum <"$f")"
done
for k in ID VERSION_ID; do
	echo "$k $(sed -n "s/^$k=//p" /etc/os-release 2>/dev/null | head -n 1 | tr -d "\"'")"
done
`

// told reads the container's report. The container may print anything, so every
// value is checked and its size is limited.
func (u *update) told(ctx context.Context, o *observation) error {
	var out bytes.Buffer
	result, err := u.container(askLimit).Run(ctx, hypervisor.NodeCommand{Program: "sh", Limit: askLimit / 2,
		Arguments: []string{"-c", tells, "hostler", u.params.Launch.VersionFile}},
		hypervisor.NodeStreams{Output: &limited{&out, maxTold}})
	if err != nil {
		return err
	}
	if !result.OK() {
		return plugin.Errorf(plugin.Refused, "the container does not run a shell (%d)", result.ExitCode)
	}
	for line := range strings.Lines(out.String()) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		value = host.Clean(strings.TrimSpace(value))
		switch key {
		case "version":
			o.Version = value[:min(len(value), 200)]
		case "packages":
			o.Packages += strings.Fields(value + " -")[0]
		case "ID":
			o.OS = value
		case "VERSION_ID":
			o.OSVersion = value
		}
	}
	return nil
}

// limited is a buffer with a size limit.
type limited struct {
	to   io.Writer
	left int
}

// Write refuses more than the limit, because a container may answer without
// end.
func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, errors.New("the output is too long")
	}
	l.left -= len(p)
	return l.to.Write(p)
}

// listens reads the ports on which the app listens. If that cannot be found
// out, there are none.
func (u *update) listens(ctx context.Context, o *observation) error {
	list, err := host.OnNode(ctx, u.Hosts, u.params.HostID, askLimit,
		func(ctx context.Context, node hypervisor.SocketLister) (hypervisor.SocketList, error) {
			return node.Sockets(ctx, u.ref)
		})
	if plugin.KindOf(err) == plugin.Unsupported {
		return nil
	}
	for _, socket := range list.Sockets[:min(len(list.Sockets), hypervisor.MaxSockets)] {
		address, parsed := netip.ParseAddr(socket.Address)
		if socket.Protocol != hypervisor.TCP || parsed != nil || address.IsLoopback() || slices.Contains(o.Ports, socket.Port) {
			continue
		}
		o.Ports = append(o.Ports, socket.Port)
	}
	slices.Sort(o.Ports)
	return err
}

// probe is the script that requests an app's pages from the machine's network.
// Its arguments are triples of URL, address and port. It prints the first that
// answers with its HTTP status, or with 1 if only a connection could be made.
const probe = `while [ $# -ge 3 ]; do
	code=000
	if command -v curl >/dev/null; then
		code=$(curl -q -k -s -o /dev/null -w '%{http_code}' --noproxy '*' --max-time 8 -- "$1" </dev/null)
	elif command -v bash >/dev/null && command -v timeout >/dev/null; then
		timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$2" "$3" 2>/dev/null && code=1
	else
		echo "unable"; exit 0
	fi
	case $code in 000 | '') ;; *) echo "$code $1"; exit 0 ;; esac
	shift 3
done
echo "0 -"
`

// tries requests the app's pages.
func (u *update) tries(ctx context.Context, web app.Web, addresses []netip.Addr, o *observation) error {
	if web.Port == 0 || len(addresses) == 0 {
		return nil
	}
	words := []string{"-c", probe, "hostler"}
	schemes := []string{"http", "https"}
	if web.Protocol != "" {
		schemes = []string{web.Protocol}
	}
	for _, address := range addresses {
		for _, scheme := range schemes {
			at := net.JoinHostPort(address.String(), strconv.Itoa(web.Port))
			words = append(words, (&url.URL{Scheme: scheme, Host: at, Path: "/"}).String(), address.String(), strconv.Itoa(web.Port))
		}
	}
	var out bytes.Buffer
	result, err := host.OnNode(ctx, u.Hosts, u.params.HostID, 2*askLimit,
		func(ctx context.Context, node hypervisor.NodeExecutor) (hypervisor.NodeResult, error) {
			return node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "sh", Arguments: words, Limit: askLimit},
				hypervisor.NodeStreams{Output: &limited{&out, maxTold}})
		})
	if err != nil || !result.OK() {
		return err
	}
	code, at, _ := strings.Cut(strings.TrimSpace(out.String()), " ")
	if n, failed := strconv.Atoi(code); failed == nil && n > 0 && n < 1000 {
		o.Web, o.At = n, at
	}
	return nil
}

// observe returns the present state of the app.
func (u *update) observe(ctx context.Context) (*observation, error) {
	if err := u.locate(ctx); err != nil {
		return nil, err
	}
	o := &observation{}
	if err := u.told(ctx, o); err != nil {
		return nil, err
	}
	if err := u.listens(ctx, o); err != nil {
		return nil, err
	}
	g, err := u.Apps.Guests.Get(ctx, guest.Container, u.params.Asked.GuestID)
	if err != nil {
		return nil, err
	}
	web, addresses, err := u.Apps.WebAt(ctx, u.params.AppID, g)
	if err != nil {
		return nil, err
	}
	return o, u.tries(ctx, web, addresses, o)
}

// worse returns what is worse than before; empty if nothing is. If the pages
// answered before, they decide; otherwise the ports do.
func (o *observation) worse(now *observation) string {
	if o.Web > 0 {
		switch {
		case now.Web == 0:
			return fmt.Sprintf("nothing answers at %s any more", o.At)
		case now.Web >= 500 && now.Web != o.Web:
			return fmt.Sprintf("%s answers %d", now.At, now.Web)
		}
		return ""
	}
	for _, port := range o.Ports {
		if !slices.Contains(now.Ports, port) {
			return fmt.Sprintf("nothing listens on port %d any more", port)
		}
	}
	return ""
}

// observeUntil observes the app until it is as before, at most times times, and
// returns the last observation. An app may need minutes to start after an
// update.
func (u *update) observeUntil(ctx context.Context, before *observation, times int) (now *observation, worse string, err error) {
	for try := 0; ; try++ {
		err := u.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
			now, err = u.observe(ctx)
			return err
		})
		if err != nil && (ctx.Err() != nil || try+1 >= times) {
			return nil, "", err
		}
		if err == nil {
			if worse = before.worse(now); worse == "" || try+1 >= times {
				return now, worse, nil
			}
		}
		if err := u.pause(ctx, u.Pauses.Probe, 5*time.Second); err != nil {
			return nil, "", err
		}
	}
}

// probes returns how often the app's page is requested before it counts as
// unavailable.
func (u *update) probes() int {
	if u.Pauses.Probes > 0 {
		return u.Pauses.Probes
	}
	return 12
}
