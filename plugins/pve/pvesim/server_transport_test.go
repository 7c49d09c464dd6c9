package pvesim_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

func TestTransportRefuses(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	admin := c.AdminToken()
	auth := "PVEAPIToken=" + admin.ID + "=" + admin.Secret
	form := "application/x-www-form-urlencoded"
	acl := "/api2/json/access/acl"
	for name, tc := range map[string]struct {
		r      rawRequest
		status int
		reason string
	}{
		"chunked body": {rawRequest{method: "GET", path: acl, header: map[string]string{"Transfer-Encoding": "chunked"},
			body: "0\r\n\r\n"}, 501, "chunked transfer encoding not supported"},
		"body on DELETE": {rawRequest{method: "DELETE", path: acl, header: map[string]string{"Content-Length": "2"}, body: `""`}, 501,
			"Unexpected content for method 'DELETE'"},
		"body on GET": {rawRequest{method: "GET", path: acl, header: map[string]string{"Content-Length": "2"}, body: `{}`}, 501,
			"Unexpected content for method 'GET'"},
		"HEAD":    {rawRequest{method: "HEAD", path: acl}, 501, "method 'HEAD' not available"},
		"OPTIONS": {rawRequest{method: "OPTIONS", path: acl}, 501, "method 'OPTIONS' not available"},
		"text body": {rawRequest{method: "PUT", path: acl, header: map[string]string{"Content-Type": "text/plain"}, body: "x"}, 506,
			"upload 'Content-Type 'text/plain' not implemented"},
		"multipart body": {rawRequest{method: "PUT", path: acl,
			header: map[string]string{"Content-Type": "multipart/form-data; boundary=x"}, body: "x"}, 506,
			"upload 'Content-Type 'multipart/form-data; boundary=x' not implemented"},
		"too large": {rawRequest{method: "PUT", path: acl, header: map[string]string{"Content-Type": form},
			body: strings.Repeat("a", 512<<10+1)}, 501, "for data too large"},
		"outside the API": {rawRequest{method: "GET", path: "/favicon.ico"}, 501, "no such file '/favicon.ico'"},
		"traversal": {rawRequest{method: "GET", path: "/api2/json/nodes/..%2f..%2fetc/status"}, 501,
			"Method 'GET /nodes/../../etc/status' not implemented"},
		"duplicate of URI": {rawRequest{method: "GET", path: "/api2/json/nodes/pve1/status?node=x"}, 400, "Parameter verification failed."},
		"repeated parameter": {rawRequest{method: "GET", path: "/api2/json/cluster/resources?type=vm&type=node"}, 400,
			"Parameter verification failed."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.r.header == nil {
				tc.r.header = map[string]string{}
			}
			tc.r.header["Authorization"] = auth
			if got := send(t, c.URL(""), tc.r); got.status != tc.status || got.reason != tc.reason {
				t.Errorf("%d %q, want %d %q", got.status, got.reason, tc.status, tc.reason)
			}
		})
	}
}

func TestSemicolonSeparatesParameters(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	root := as(t, c, c.AdminToken())
	root.refused("GET", "/cluster/nextid?vmid=100;bogus=1", "", 400, "Parameter verification failed.")
	var id string
	root.get("/cluster/nextid?vmid=4711;_dc=12", &id)
	if id != "4711" {
		t.Errorf("next id %q", id)
	}
	root.decode("PUT", "/access/acl", "path=/vms;roles=PVEVMUser;users=root%40pam", nil)
}

// client is a plain client for the whole cluster that keeps connections.
func client(c *pvesim.Cluster, token pvesim.Token) (*http.Client, func(method, path string) (*http.Response, error)) {
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	h := &http.Client{Transport: tr, Timeout: time.Minute}
	return h, func(method, path string) (*http.Response, error) {
		r, err := http.NewRequest(method, c.URL("")+"/api2/json"+path, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "PVEAPIToken="+token.ID+"="+token.Secret)
		resp, err := h.Do(r)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return resp, errors.Join(err, resp.Body.Close())
	}
}

func TestConnectionsAreKeptUntilAnError(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	h, do := client(c, c.AdminToken())
	defer h.CloseIdleConnections()
	count := func(path string, n int) int64 {
		before := c.Stats().ConnectionsTotal
		for range n {
			resp, err := do("GET", path)
			if err != nil {
				t.Fatal(err)
			}
			if resp.ProtoMajor != 1 {
				t.Fatalf("protocol %s", resp.Proto)
			}
		}
		return c.Stats().ConnectionsTotal - before
	}
	if n := count("/version", 5); n != 1 {
		t.Errorf("5 good requests took %d connections, want 1", n)
	}
	if n := count("/version", 200); n != 2 { // 95 on the connection of before, 100 on the next, 5 on a third
		t.Errorf("200 more took %d new connections, want 2", n)
	}
	if n := count("/nope", 3); n != 2 {
		t.Errorf("3 bad requests after a good one took %d new connections, want 2", n)
	}
	if n := count("/cluster/status", 3); n != 3 {
		t.Errorf("3 requests to the privileged daemon took %d connections, want 3", n)
	}
}

func TestEachNodeHasItsCertificate(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var rows []row
	as(t, c, c.AdminToken()).get("/nodes", &rows)
	seen := map[string]bool{}
	for _, n := range c.Addresses() {
		got := leafFingerprint(t, n.URL)
		if got != n.Fingerprint || rowWith(rows, "node", n.Name)["ssl_fingerprint"] != got {
			t.Errorf("node %s shows %s, its address says %s", n.Name, got, n.Fingerprint)
		}
		seen[got] = true
	}
	if len(seen) != 3 || c.URL("") != c.URL("pve1") {
		t.Errorf("%d different certificates at %v", len(seen), c.Addresses())
	}
	renewed, err := c.RenewCertificate("pve2")
	noError(t, err)
	if now := leafFingerprint(t, c.URL("pve2")); seen[now] || now != renewed {
		t.Errorf("after the renewal pve2 shows %s, want %s", now, renewed)
	}
	if len(renewed) != 95 || strings.ToUpper(renewed) != renewed {
		t.Errorf("fingerprint %q", renewed)
	}
}

func leafFingerprint(t *testing.T, url string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"),
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	noError(t, err)
	defer conn.Close()
	if p := conn.ConnectionState().NegotiatedProtocol; p != "http/1.1" {
		t.Errorf("negotiated %q", p)
	}
	return fingerprint(conn.ConnectionState().PeerCertificates[0].Raw)
}

func TestAnswersArePackedOnRequest(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	admin := c.AdminToken()
	ask := func(path, encoding string) rawAnswer {
		return send(t, c.URL(""), rawRequest{method: "GET", path: "/api2/json" + path, header: map[string]string{
			"Authorization": "PVEAPIToken=" + admin.ID + "=" + admin.Secret, "Accept-Encoding": encoding,
		}})
	}
	if a := ask("/cluster/resources", "identity"); a.header.Get("Content-Encoding") != "" || !json.Valid(a.body) {
		t.Errorf("header %v", a.header)
	}
	if a := ask("/version", "gzip"); a.header.Get("Content-Encoding") != "" {
		t.Error("a short answer is packed")
	}
	for range 2 {
		a := ask("/cluster/resources", "gzip, deflate")
		z, err := gzip.NewReader(bytes.NewReader(a.body))
		noError(t, err)
		plain, err := io.ReadAll(z)
		noError(t, err)
		if a.header.Get("Content-Encoding") != "gzip" || !json.Valid(plain) || len(plain) < len(a.body) {
			t.Errorf("header %v, %d bytes from %d", a.header, len(plain), len(a.body))
		}
	}
}

func TestFailedAuthenticationIsLate(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Bare: true, AuthDelay: 300 * time.Millisecond})
	start := time.Now()
	ans := as(t, c, pvesim.Token{ID: "root@pam!admin", Secret: "x"}).refused("GET", "/version", "", 401, "Authentication failed!")
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("the 401 came after %s", took)
	}
	if len(ans.body) != 0 || ans.header.Get("Content-Type") != "" {
		t.Errorf("body %q of type %q", ans.body, ans.header.Get("Content-Type"))
	}
}

func TestCloseEndsHangingRequests(t *testing.T) {
	t.Parallel()
	c, err := pvesim.New(pvesim.Options{Bare: true})
	noError(t, err)
	_, err = c.Start("127.0.0.1:0")
	noError(t, err)
	_, err = c.AddFault(pvesim.Fault{Kind: pvesim.FaultHang})
	noError(t, err)
	done := make(chan error, 1)
	_, do := client(c, c.AdminToken())
	go func() { _, err := do("GET", "/version"); done <- err }()
	waittest.Until(t, "the fault to strike", func() bool { return c.Faults()[0].Struck == 1 })
	noError(t, c.Close())
	if err := <-done; err == nil {
		t.Error("the hanging request got an answer")
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(c.URL(""), "https://")); err == nil {
		t.Error("the listener is still open")
	}
	if _, err := c.Start("127.0.0.1:0"); err == nil {
		t.Error("a closed simulator started again")
	}
}

func TestStartReportsAnAddressInUse(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer ln.Close()
	c, err := pvesim.New(pvesim.Options{Bare: true})
	noError(t, err)
	defer c.Close()
	if _, err := c.Start(ln.Addr().String()); err == nil || !strings.Contains(fmt.Sprint(err), "pve1") {
		t.Errorf("error %v", err)
	}
}
