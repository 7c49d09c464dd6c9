package processtest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// typist is an end of a console, in whichever way it came here.
type typist struct {
	write func(p []byte) error
	read  func() ([]byte, error)
}

// await reads until so many bytes have come.
func (o typist) await(b *testing.B, n int) {
	b.Helper()
	for n > 0 {
		p, err := o.read()
		if err != nil {
			b.Fatal(err)
		}
		n -= len(p)
	}
}

// says types a text and waits for what comes.
func (o typist) says(b *testing.B, text string, comes string) {
	b.Helper()
	if err := o.write([]byte(text)); err != nil {
		b.Fatal(err)
	}
	for shown := []byte(nil); !bytes.Contains(shown, []byte(comes)); {
		p, err := o.read()
		if err != nil {
			b.Fatal(err)
		}
		shown = append(shown, p...)
	}
}

// keys are how long each of so many keys takes until it is shown, sorted.
func (o typist) keys(b *testing.B, n int) (took []time.Duration) {
	b.Helper()
	for range n {
		began := time.Now()
		if err := o.write([]byte("x")); err != nil {
			b.Fatal(err)
		}
		o.await(b, 1)
		took = append(took, time.Since(began))
	}
	o.says(b, "\r", "$ ")
	slices.Sort(took)
	return took
}

// floods has so many bytes shown and gives their number in a second.
func (o typist) floods(b *testing.B, n int) float64 {
	b.Helper()
	command := fmt.Sprintf("cat %d", n)
	o.says(b, command, command)
	if err := o.write([]byte("\r")); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	o.await(b, n)
	took := time.Since(began)
	o.says(b, "echo through\r", "through\r\n")
	return float64(n) / took.Seconds()
}

// BenchmarkConsole is a container's console through the service beside one that the driver opens without it, in the same run: how long a
// key takes until it is shown, how much is shown in a second, and how much memory the service and its plugin take for each open console.
func BenchmarkConsole(b *testing.B) {
	cluster := startSim(b, "--scenario", "one", "--recommended")
	s := startService(b, options{Env: []string{"HOSTLER_LOG_LEVEL=info"}})
	owner := setUp(b, s)
	host := owner.enrol(b, cluster, "lab", "console")
	app, vmid := owner.running(b, host)
	token := cluster.Tokens["console"]
	at, err := pve.New(hclog.NewNullLogger()).Open(b.Context(), endpoint.Target{
		Address: strings.TrimPrefix(cluster.URL, "https://"), Fingerprint: cluster.Fingerprint, AllowLocal: true,
		Credential: endpoint.Credential{Capability: endpoint.Console, Form: endpoint.FormToken, ID: token.ID, Secret: sdk.Secret(token.Secret)},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer at.Close()
	able, ok := hypervisor.As[hypervisor.ConsoleOpener](at)
	if !ok {
		b.Fatal("the driver gives no consoles")
	}
	opened, err := able.OpenConsole(b.Context(), hypervisor.ConsoleSpec{Guest: &hypervisor.GuestRef{
		Kind: hypervisor.Container, Node: cluster.Nodes[0].Name, ID: hypervisor.GuestID(strconv.FormatInt(vmid, 10)),
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer opened.Close()
	buffer := make([]byte, 32<<10)
	direct := typist{func(p []byte) error { _, err := opened.Write(p); return err }, func() ([]byte, error) {
		n, err := opened.Read(buffer)
		return buffer[:n], err
	}}
	c := owner.console(b, app)
	through := typist{func(p []byte) error { return c.Write(b.Context(), websocket.MessageBinary, p) }, func() ([]byte, error) {
		_, p, err := c.Read(b.Context())
		return p, err
	}}
	for _, o := range []typist{direct, through} {
		o.says(b, "echo ready\r", "ready\r\n")
		o.keys(b, 100)
	}
	memory := func() (all int64) {
		for _, pid := range append(pluginsOf(b, s), s.cmd.Process.Pid) {
			all += resident(b, pid)
		}
		return all
	}
	before := memory()
	const more = 15
	for range more {
		owner.console(b, app)
	}
	console := float64(memory()-before) / more / 1024 // before the flood, whose memory is given back late
	const keys, flood = 1000, 32 << 20
	var added [2]time.Duration
	var ratio float64
	for b.Loop() {
		straight, own := direct.keys(b, keys), through.keys(b, keys)
		added = [2]time.Duration{own[keys/2] - straight[keys/2], own[keys*99/100] - straight[keys*99/100]}
		there := direct.floods(b, flood)
		here := through.floods(b, flood)
		ratio = here / there
		b.ReportMetric(here/(1<<20), "MiB/s")
	}
	b.ReportMetric(float64(added[0].Microseconds()), "µs/key-added-p50")
	b.ReportMetric(float64(added[1].Microseconds()), "µs/key-added-p99")
	b.ReportMetric(ratio, "of-direct")
	b.ReportMetric(console, "KiB/console")
	owner.must(b, http.StatusOK, http.MethodGet, "/api/v1/apps", nil, nil)
}
