package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// newAppLab has the hypervisor in memory. What its register would declare is there already.
func newAppLab(t *testing.T) *servicetest.Lab {
	t.Helper()
	return servicetest.NewLab(t, memdriver.Shapes()[0], func(*op.API, api.Deps) {}, func(c *service.Config) { c.AllowLocal = true })
}

func TestPortsOfApps(t *testing.T) {
	t.Parallel()
	b := newAppLab(t)
	wiki := b.Refs["wiki"]
	b.Exec("UPDATE hosts SET entry_node = 'elsewhere' WHERE id = 1")
	b.Expect(t, "GET", "apps/2/ports", "", apitest.Viewer, 409, "ssh_not_enrolled", `"remedy":"POST /api/v1/hosts/{host_id}/peers"`)
	b.Exec("UPDATE hosts SET entry_node = $1 WHERE id = 1", wiki.Node)
	b.Expect(t, "GET", "apps/2/ports", "", apitest.Viewer, 409, "consent_required")
	b.Expect(t, "POST", "hosts/1/credentials", `{"rotate_ssh":true,"ssh_consent":true}`, apitest.Owner, 200, "")
	b.Expect(t, "GET", "apps/2/ports", "", apitest.Viewer, 409, "ssh_not_enrolled", `"remedy":"POST /api/v1/hosts/{host_id}/ssh/verify"`)
	b.Expect(t, "POST", "hosts/1/ssh/verify", "", apitest.Admin, 200, "")
	b.Expect(t, "GET", "apps/2/ports", "", apitest.Viewer, 200, "", "[]")
	b.Cluster.SetSockets(wiki.ID,
		hypervisor.Socket{Protocol: hypervisor.TCP, Address: "::ffff:127.0.0.1", Port: 5432, Program: "post\x1bgres"},
		hypervisor.Socket{Protocol: hypervisor.UDP, Address: "::", Port: 53, UserID: new(int64(7))},
		hypervisor.Socket{Protocol: hypervisor.TCP, Address: "0.0.0.0", Port: 80, Program: "nginx"},
		hypervisor.Socket{Protocol: "sctp", Address: "0.0.0.0", Port: 80},
		hypervisor.Socket{Protocol: hypervisor.TCP, Address: "none", Port: 81},
		hypervisor.Socket{Protocol: hypervisor.TCP, Address: "::", Port: 65536})
	b.Expect(t, "GET", "apps/2/ports", "", apitest.Viewer, 200, "",
		`[{"protocol":"tcp","address":"0.0.0.0","port":80,"local":false,"program":"nginx","user_id":null},`+
			`{"protocol":"tcp","address":"127.0.0.1","port":5432,"local":true,"program":"post`,
		`{"protocol":"udp","address":"::","port":53,"local":false,"program":null,"user_id":7}]`)
	b.Expect(t, "GET", "apps/2/ports", "", apitest.In(2, identity.Owner), 404, "not_found")
	b.Expect(t, "GET", "apps/2/ports", "", nil, 401, "unauthenticated")
	b.Exec("UPDATE hosts SET entry_node = $1 WHERE id = 1", b.Refs["files"].Node)
	b.Expect(t, "GET", "apps/1/ports", "", apitest.Viewer, 409, "invalid_state", "start it first")
	b.Exec("UPDATE hosts SET entry_node = $1 WHERE id = 1", wiki.Node)
	for code, fault := range map[string]error{
		"invalid_state":    plugin.Errorf(plugin.Conflict, "the container does not run"),
		"hypervisor_error": plugin.Errorf(plugin.Unreachable, "no"),
	} {
		b.Cluster.SetFault("sockets", memdriver.Fault{Err: fault})
		b.Expect(t, "GET", "apps/2/ports", "", apitest.Viewer, map[string]int{"invalid_state": 409, "hypervisor_error": 502}[code], code)
	}
	b.Cluster.SetFault("sockets", memdriver.Fault{Err: plugin.Errorf(plugin.NotFound, "it is not here")})
	b.Expect(t, "GET", "apps/2/ports", "", apitest.Viewer, 409, "invalid_state", "the container is no longer on the node")
}

// appTelling is a host whose guests tell the addresses that a test says.
type appTelling struct {
	*memdriver.Host
	mac       string
	addresses []string
}

func (h appTelling) Addresses(context.Context, hypervisor.GuestRef) ([]hypervisor.NICAddresses, error) {
	return []hypervisor.NICAddresses{{Name: "eth0", MAC: h.mac, Addresses: h.addresses}}, nil
}

// silentPort is a port of this machine that is taken and at which nothing listens.
func silentPort(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	address, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(address.(*syscall.SockaddrInet4).Port)
}

func TestWebURLOfApps(t *testing.T) {
	t.Parallel()
	b := newAppLab(t)
	mac := b.Cluster.ConfigOf(b.Refs["wiki"].ID).NICs[0].MAC
	tell := func(addresses ...string) {
		b.WrapReads(func(h *memdriver.Host) hypervisor.Host { return appTelling{h, mac, addresses} })
	}
	tell("fe80::1/64", "127.0.0.1/8")
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secure := httptest.NewServer(page), httptest.NewTLSServer(page)
	defer plain.Close()
	defer secure.Close()
	port := func(address string) string { return address[strings.LastIndex(address, ":")+1:] }
	atPlain, atSecure, atNothing := port(plain.URL), port(secure.URL), silentPort(t)
	ask := func(set string, parts ...string) {
		t.Helper()
		b.Exec("UPDATE apps SET web_port = NULL, web_path = NULL, web_protocol = NULL, printed_url = NULL")
		if set != "" {
			b.Exec("UPDATE apps SET " + set + " WHERE id = 2")
		}
		b.Expect(t, "GET", "apps/2/web-url", "", apitest.Viewer, 200, "", parts...)
	}
	url := func(scheme, port, path string) string {
		return fmt.Sprintf(`"url":"%s://127.0.0.1:%s%s"`, scheme, port, path)
	}
	ask("", `"url":null,"decided_by":null,"scheme_by":null,"reachable":false,"detail":"the port of the app's web page is unknown`)
	ask("web_port = "+atPlain+", web_path = '/admin?x=1'", url("http", atPlain, "/admin?x=1"),
		`"decided_by":"operator","scheme_by":"tls_hello"`,
		`"reachable":true,"detail":null`)
	ask("web_port = "+atSecure, url("https", atSecure, "/"), `"decided_by":"operator","scheme_by":"tls_hello","reachable":true`)
	ask("web_port = "+atSecure+", web_protocol = 'http'", url("http", atSecure, "/"),
		`"decided_by":"operator","scheme_by":"operator","reachable":true`)
	ask("web_port = "+atNothing, url("http", atNothing, "/"),
		`"scheme_by":"default","reachable":false,"detail":"nothing answers at 127.0.0.1`)
	ask("printed_url = 'http://192.0.2.9:"+atSecure+"/login'", url("https", atSecure, "/login"),
		`"decided_by":"script","scheme_by":"tls_hello"`)
	ask("printed_url = 'https://192.0.2.9:"+atNothing+"/'", url("https", atNothing, "/"),
		`"decided_by":"script","scheme_by":"script","reachable":false`)
	ask("printed_url = 'http://192.0.2.9/', web_port = "+atPlain, url("http", atPlain, "/"), `"decided_by":"operator"`)
	ask("printed_url = 'javascript:alert(1)'", `"decided_by":null`)
	ask("printed_url = 'http://192.0.2.9:0/'", `"decided_by":null`)
	ask("web_protocol = 'https'", `"url":"https://127.0.0.1/"`, `"decided_by":"operator"`)
	tell()
	b.Exec("UPDATE guests SET addresses = NULL")
	ask("web_port = 80",
		`"url":null,"decided_by":"operator","scheme_by":null,"reachable":false,"detail":"the app's container has no known address`)
	b.Exec("UPDATE guests SET addresses = '{192.0.2.1}'")
	b.Exec("UPDATE apps SET web_port = 8443 WHERE id = 1")
	b.Expect(t, "GET", "apps/1/web-url", "", apitest.Viewer, 200, "", `"decided_by":"operator"`,
		`"reachable":false,"detail":"the app's container is not running"`)
	b.Expect(t, "GET", "apps/2/web-url", "", apitest.In(2, identity.Owner), 404, "not_found")
	b.Expect(t, "GET", "apps/2/web-url", "", nil, 401, "unauthenticated")
}

// What a script prints is kept where it is an address, and forgotten where it is none.
func TestPrintedURLOfApps(t *testing.T) {
	t.Parallel()
	b := newAppLab(t)
	for printed, want := range map[string]string{"http://192.0.2.9:8080/a": "http://192.0.2.9:8080/a", "ftp://192.0.2.9/": "none",
		"http://user:canary@192.0.2.9/": "none", "http://192.0.2.9/" + strings.Repeat("x", 2000): "none",
		"": "none", "\x1b[31mhttp://a": "none"} {
		err := b.DB.Tx(t.Context(), func(tx *db.Tx) error { return app.SetPrintedURL(t.Context(), tx, 2, printed) })
		if got := b.Value("SELECT coalesce(printed_url, 'none') FROM apps WHERE id = 2"); err != nil || got != want {
			t.Errorf("%.40q is kept as %.40q, %v", printed, got, err)
		}
	}
}
