package processtest

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
)

const lxdPackage = "github.com/hostler/hostler/cmd/hostler-plugin-lxd"

// BenchmarkCycleLXD is what one inventory costs an LXD server in requests, and us in processor time and memory, beside the floor in
// the same run: with a real server and its containers, and with answers in the form of recorded ones. With detail it has figures.
func BenchmarkCycleLXD(b *testing.B) {
	b.Run("real/guests=150", func(b *testing.B) { benchmarkCycleLXD(b, realContainers(b, 150), 150) })
	for _, guests := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("recorded/guests=%d", guests), func(b *testing.B) { benchmarkCycleLXD(b, startManyLXD(b, guests), guests) })
	}
}

// realContainers is a server with so many containers that run.
func realContainers(b *testing.B, guests int) endpoint.Target {
	b.Helper()
	server := lxdtest.New(b)
	server.Containers(b, "default", "c", guests)
	const atOnce = 4
	slots, failed := make(chan struct{}, atOnce), make(chan error, guests)
	for i := range guests {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			failed <- server.Do(b.Context(), http.MethodPut, fmt.Sprintf("/1.0/instances/c-%d/state", i), map[string]any{"action": "start"}, nil)
		}()
	}
	for range guests {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
	return server.Trusted(b)
}

// startManyLXD starts a program that answers as a server with so many containers does.
func startManyLXD(b *testing.B, guests int) endpoint.Target {
	b.Helper()
	program := filepath.Join(b.TempDir(), "manylxd")
	if err := programtest.Build(b.Context(), "", program, "./testdata/manylxd"); err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), program, strconv.Itoa(guests))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal("the server has not started: ", err)
	}
	credential, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	if err != nil {
		b.Fatal(err)
	}
	return endpoint.Target{Address: strings.TrimSpace(address), Credential: credential}
}

// countingProxy passes requests on to a server with the certificate of the target, and counts them.
type countingProxy struct {
	front *httputil.ReverseProxy
	count atomic.Int64
}

func (p *countingProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.count.Add(1)
	p.front.ServeHTTP(w, r)
}

func benchmarkCycleLXD(b *testing.B, server endpoint.Target, guests int) {
	certificate, err := server.Credential.ClientCertificate()
	if err != nil {
		b.Fatal(err)
	}
	way := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}},
		DisableCompression: true}
	b.Cleanup(way.CloseIdleConnections)
	behind := &url.URL{Scheme: "https", Host: server.Address}
	proxy := &countingProxy{front: &httputil.ReverseProxy{Transport: way, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}}
	shown, fingerprint := proxyTLS(b)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", shown)
	if err != nil {
		b.Fatal(err)
	}
	front := &http.Server{Handler: proxy, ReadHeaderTimeout: hanging}
	go func() { _ = front.Serve(listener) }()
	b.Cleanup(func() { _ = front.Close() })

	s := startService(b, options{Env: []string{"HOSTLER_LOG_LEVEL=info", "HOSTLER_PLUGIN_DIR=" + pluginFolder(b, lxdPackage)}})
	owner, d := setUp(b, s), dbtest.Open(b, s.DB)
	// No poll of its own comes between the measured ones; with a longer interval each would ask for the certificate's rights as well.
	owner.must(b, http.StatusOK, http.MethodPatch, "/api/v1/settings", map[string]any{"poll.interval_s": 600}, nil)
	var host struct{ ID int64 }
	owner.must(b, http.StatusCreated, http.MethodPost, "/api/v1/hosts", map[string]any{"driver": "lxd", "name": "lab",
		"credential_form": endpoint.FormClientCertificate,
		"address":         listener.Addr().String(), "tls_fingerprint": fingerprint, "token_secret": string(server.Credential.Secret)}, &host)
	sync := fmt.Sprintf("/api/v1/hosts/%d/sync", host.ID)
	for range 2 { // the second is the first one with detail
		owner.must(b, http.StatusOK, http.MethodPost, sync, nil, nil)
	}
	if n := number(b, d, "SELECT count(*) FROM guests WHERE status = 'running' AND memory IS NOT NULL"); n != guests {
		b.Fatalf("%d guests run and have figures", n)
	}
	processes := family(b, s.cmd.Process.Pid)
	client := &http.Client{Transport: way}
	for _, c := range []struct {
		name, due string
		most      int64
	}{{"states", "now()", 4}, {"detail", "now() - interval '1 day'", 7}} {
		b.Run(c.name, func(b *testing.B) {
			var ours, least time.Duration
			began := proxy.count.Load()
			for b.Loop() {
				alter(b, d, "UPDATE clusters SET detail_at = "+c.due)
				before := spent(b, processes)
				owner.must(b, http.StatusOK, http.MethodPost, sync, nil, nil)
				ours += spent(b, processes) - before
				started := ownCPU(b)
				if n := floorLXD(b, client, behind.String(), c.name == "detail"); n != guests {
					b.Fatalf("%d rows for %d guests", n, guests)
				}
				least += ownCPU(b) - started
			}
			requests := proxy.count.Load() - began
			if requests > c.most*int64(b.N) {
				b.Errorf("%d requests in %d cycles, whatever the number of guests %d a cycle are enough", requests, b.N, c.most)
			}
			n := float64(b.N)
			b.ReportMetric(float64(requests)/n, "requests/cycle")
			b.ReportMetric(ours.Seconds()*1000/n, "cpu-ms/cycle")
			b.ReportMetric(least.Seconds()*1000/n, "floor-cpu-ms/cycle")
			b.ReportMetric(float64(ours)/float64(least), "x-floor")
			for pid, name := range processes {
				b.ReportMetric(float64(resident(b, pid))/(1<<20), name+"-MiB")
			}
		})
	}
}

// proxyTLS is a server's with a certificate of its own, that takes whatever the client shows.
func proxyTLS(b *testing.B) (shown *tls.Config, fingerprint string) {
	b.Helper()
	credential, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	if err != nil {
		b.Fatal(err)
	}
	certificate, err := credential.ClientCertificate()
	if err != nil {
		b.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		b.Fatal(err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert,
		Certificates: []tls.Certificate{certificate}}, endpoint.Fingerprint(leaf)
}

// lxdInstance is a row of the list as a plain program would read it.
type lxdInstance struct {
	Architecture, Description, Name, Status, Location, Type, Project string
	Config                                                           map[string]string
	ExpandedConfig                                                   map[string]string `json:"expanded_config"`
	Devices                                                          map[string]map[string]string
	ExpandedDevices                                                  map[string]map[string]string `json:"expanded_devices"`
	Profiles                                                         []string
	Created                                                          time.Time `json:"created_at"`
	LastUsed                                                         time.Time `json:"last_used_at"`
}

// floorLXD fetches and decodes what one cycle needs and does nothing with it: with detail the text of all figures, too, line by line.
func floorLXD(b *testing.B, client *http.Client, server string, detail bool) int {
	b.Helper()
	var rows struct{ Metadata []lxdInstance }
	if err := json.Unmarshal(fetchLXD(b, client, server+"/1.0/instances?recursion=1&all-projects=true"), &rows); err != nil {
		b.Fatal(err)
	}
	if detail {
		figures := 0
		for line := range strings.Lines(string(fetchLXD(b, client, server+"/1.0/metrics"))) {
			if i := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") && i > 0 {
				if _, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64); err != nil {
					b.Fatal(err)
				}
				figures++
			}
		}
		if figures < len(rows.Metadata) {
			b.Fatalf("%d figures", figures)
		}
	}
	return len(rows.Metadata)
}

func fetchLXD(b *testing.B, client *http.Client, at string) []byte {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, at, nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v", at, resp.Status, err)
	}
	return text
}
