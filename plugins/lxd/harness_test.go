package lxd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// patience is how long a server may keep its driver waiting; what is tested for hanging has impatience.
// What counts requests has endurance: nothing is asked for twice because a machine is slow.
const patience, impatience, endurance = time.Minute, 2 * time.Second, 10 * time.Minute

// uuid is the id of an operation.
const uuid = "4a25b882-e5a2-401e-8715-be2b56615ee4"

// canary is a secret that servers say in tests.
const canary = "f00dcanary1234567890f00dcanary12"

// newDriver makes a driver that waits so long for an answer and no longer, and tries again soon.
func newDriver(t testing.TB, limit time.Duration) *lxd.Driver {
	return pacedDriver(t, lxd.Timing{Timeouts: lxdapi.Timeouts{Dial: patience, Header: limit, Body: limit}, Silence: patience})
}

// pacedDriver makes a driver that tries again soon.
func pacedDriver(t testing.TB, pace lxd.Timing) *lxd.Driver {
	pace.Retry, pace.Step = 20*time.Millisecond, time.Second
	driver := lxd.NewWithTiming(nil, pace)
	t.Cleanup(driver.Close)
	return driver
}

// open opens a host of a driver.
func open(t testing.TB, driver *lxd.Driver, target endpoint.Target) *lxd.Host {
	t.Helper()
	host, err := driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal("opening:", err)
	}
	return host.(*lxd.Host)
}

// serveTLS starts a server that takes client certificates, as LXD does.
func serveTLS(t testing.TB, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// targetOf is a target at a server with a new certificate.
func targetOf(t testing.TB, server *httptest.Server, capability endpoint.Capability) endpoint.Target {
	t.Helper()
	credential, err := endpoint.NewClientCertificate(capability)
	if err != nil {
		t.Fatal(err)
	}
	return endpoint.Target{Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()),
		AllowLocal: true, Credential: credential}
}

// serve starts a server that answers with handler, and opens a host of it.
func serve(t testing.TB, limit time.Duration, handler http.HandlerFunc) *lxd.Host {
	t.Helper()
	return open(t, newDriver(t, limit), targetOf(t, serveTLS(t, handler), endpoint.Lifecycle))
}

// answers are what a server says to what is asked for by path; all else is 404.
type answers map[string]string

func (a answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if strings.HasPrefix(path, "/1.0/certificates/") {
		path = "/1.0/certificates/own"
	}
	metadata, known := a[path]
	switch {
	case !known:
		refusal(w, http.StatusNotFound, "Thing not found")
	case strings.HasPrefix(metadata, "# "):
		_, _ = io.WriteString(w, metadata)
	default:
		answer(w, metadata)
	}
}

// What a small server says.
const (
	aServer = `{"auth":"trusted","environment":{"server":"lxd","server_version":"5.0.2","server_name":"lxd1","kernel_version":"6.1.0",
		"storage_supported_drivers":[{"Name":"dir","Remote":false},{"Name":"ceph","Remote":true}]}}`
	anUnrestricted = `{"name":"c","type":"client","restricted":false,"projects":[]}`
	onePool        = `[{"name":"local","driver":"dir","status":"Created","locations":["none"]}]`
)

// small is a server with these instances.
func small(instances string) answers {
	return answers{"/1.0": aServer, "/1.0/certificates/own": anUnrestricted, "/1.0/storage-pools": onePool, "/1.0/instances": instances}
}

// answer writes an envelope.
func answer(w http.ResponseWriter, metadata string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"type":"sync","status":"Success","status_code":200,"operation":"","error_code":0,"error":"","metadata":%s}`, metadata)
}

// refusal writes an envelope of the type error.
func refusal(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"error","error_code":%d,"error":%q,"metadata":null}`, status, text)
}

// began writes the answer to what became an operation.
func began(w http.ResponseWriter) {
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"type":"async","operation":"/1.0/operations/%s","metadata":%s}`, uuid, operation(103, ""))
}

// operation is one in JSON.
func operation(status int, err string) string {
	return fmt.Sprintf(`{"id":%q,"class":"task","description":"Starting instance","status_code":%d,"err":%q,
		"created_at":"2026-11-22T00:00:00Z","resources":{"instances":["/1.0/instances/web1"]},"metadata":null,
		"location":"none"}`, uuid, status, err)
}

// gather reads a whole inventory.
func gather(ctx context.Context, host hypervisor.Host, query hypervisor.InventoryQuery) (all hypervisor.Page, pages int, err error) {
	err = host.Inventory(ctx, query, func(page hypervisor.Page) error {
		if pages++; page.Cluster != nil {
			all.Cluster = page.Cluster
		}
		all.Nodes = append(all.Nodes, page.Nodes...)
		all.Guests = append(all.Guests, page.Guests...)
		all.Storages = append(all.Storages, page.Storages...)
		return nil
	})
	return all, pages, err
}

func mustGather(t testing.TB, host hypervisor.Host, query hypervisor.InventoryQuery) hypervisor.Page {
	t.Helper()
	all, _, err := gather(t.Context(), host, query)
	if err != nil {
		t.Fatal("reading the inventory:", err)
	}
	return all
}

func wantKind(t testing.TB, err error, kind plugin.ErrorKind) *plugin.Error {
	t.Helper()
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("got error %v, want kind %s", err, kind)
	}
	if strings.Contains(err.Error(), "PRIVATE KEY") || strings.Contains(err.Error(), canary) {
		t.Fatalf("a secret is in the error: %v", err)
	}
	return e
}

func must(t testing.TB, doing string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", doing, err)
	}
}
