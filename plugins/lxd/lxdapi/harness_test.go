package lxdapi_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// patience is how long a server may keep its client waiting; what is tested for hanging has impatience.
const patience, impatience = 10 * time.Minute, 2 * time.Second

// uuid is the id of an operation.
const uuid = "4a25b882-e5a2-401e-8715-be2b56615ee4"

// identity is the client certificate of all tests that do not need one of their own.
var identity = sync.OnceValues(func() (plugin.Secret, error) {
	made, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	return made.Secret, err
})

// serve starts a server that answers with handler, and gives a client for it.
func serve(t *testing.T, handler http.HandlerFunc, change ...func(*endpoint.Target)) *lxdapi.Client {
	t.Helper()
	return serveWithin(t, patience, handler, change...)
}

func serveWithin(t *testing.T, limit time.Duration, handler http.HandlerFunc, change ...func(*endpoint.Target)) *lxdapi.Client {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true // the client must not take it
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return clientOf(t, server, limit, change...)
}

func clientOf(t *testing.T, server *httptest.Server, limit time.Duration, change ...func(*endpoint.Target)) *lxdapi.Client {
	t.Helper()
	secret, err := identity()
	if err != nil {
		t.Fatal(err)
	}
	target := endpoint.Target{
		Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()), AllowLocal: true,
		Credential: endpoint.Credential{Secret: secret},
	}
	for _, f := range change {
		f(&target)
	}
	return connect(t, target, limit)
}

// connect makes a client for a target, with connections of its own. The limit is for an answer.
func connect(t testing.TB, target endpoint.Target, limit time.Duration) *lxdapi.Client {
	t.Helper()
	pool := lxdapi.NewPool(lxdapi.Timeouts{Dial: patience, Header: limit, Body: limit})
	t.Cleanup(pool.Close)
	client, err := pool.NewClient(target)
	if err != nil {
		t.Fatal(err)
	}
	return client
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

// canary is a secret that servers say in tests.
const canary = "f00dcanary1234567890f00dcanary12"

// answer writes an envelope.
func answer(w http.ResponseWriter, metadata string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"type":"sync","status":"Success","status_code":200,"operation":"","error_code":0,"error":"","metadata":%s}`, metadata)
}

// began writes the answer to what became an operation.
func began(w http.ResponseWriter, id string) {
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"type":"async","operation":"/1.0/operations/%s","metadata":%s}`, id, operation(id, 103, ""))
}

// operation is one in JSON.
func operation(id string, status int, err string) string {
	return fmt.Sprintf(`{"id":%q,"class":"task","status_code":%d,"err":%q,"resources":{"instances":["/1.0/instances/web1"]},"metadata":null}`,
		id, status, err)
}

// refusal writes an envelope of the type error.
func refusal(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"error","error_code":%d,"error":%q,"metadata":null}`, status, text)
}
