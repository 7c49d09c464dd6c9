package processtest

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// resource is a row of /cluster/resources as a plain program would read it.
type resource struct {
	ID        string  `json:"id"`
	Type      string  `json:"type"`
	Node      string  `json:"node"`
	Name      string  `json:"name"`
	Status    string  `json:"status"`
	Tags      string  `json:"tags"`
	Pool      string  `json:"pool"`
	Lock      string  `json:"lock"`
	VMID      int64   `json:"vmid"`
	Template  int     `json:"template"`
	CPU       float64 `json:"cpu"`
	MaxCPU    float64 `json:"maxcpu"`
	Mem       int64   `json:"mem"`
	MaxMem    int64   `json:"maxmem"`
	Disk      int64   `json:"disk"`
	MaxDisk   int64   `json:"maxdisk"`
	NetIn     int64   `json:"netin"`
	NetOut    int64   `json:"netout"`
	DiskRead  int64   `json:"diskread"`
	DiskWrite int64   `json:"diskwrite"`
	Uptime    int64   `json:"uptime"`
	Storage   string  `json:"storage"`
	Content   string  `json:"content"`
	Shared    int     `json:"shared"`
}

// floor fetches and decodes what one cycle needs and does nothing with it: the least that any client must spend.
func floor(b *testing.B, client *http.Client, s *sim) int {
	b.Helper()
	var rows struct{ Data []resource }
	var status struct{ Data []map[string]any }
	fetch(b, client, s, "/cluster/resources", &rows)
	fetch(b, client, s, "/cluster/status", &status)
	return len(rows.Data)
}

func fetch(b *testing.B, client *http.Client, s *sim, path string, into any) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL+"/api2/json"+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "PVEAPIToken="+s.Tokens["monitoring"].ID+"="+s.Tokens["monitoring"].Secret)
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s", path, resp.Status)
	}
	if err := json.Unmarshal(text, into); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCycle is what one inventory costs the hypervisor in requests, and us in processor time and memory, beside the
// floor in the same run.
func BenchmarkCycle(b *testing.B) {
	for _, guests := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("guests=%d", guests), func(b *testing.B) { benchmarkCycle(b, guests) })
	}
}

func benchmarkCycle(b *testing.B, guests int) {
	cluster := startSim(b, "--scenario", "cluster", "--nodes", "10", "--guests", fmt.Sprint(guests))
	s := startService(b, options{Env: []string{"HOSTLER_LOG_LEVEL=info"}})
	owner := setUp(b, s)
	host := owner.enrol(b, cluster, "lab", "lifecycle")
	quiet(b, s)
	sync := fmt.Sprintf("/api/v1/hosts/%d/sync", host)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the simulator's own certificate, on loopback
		DisableCompression: true,
	}}
	floor(b, client, cluster)
	owner.must(b, http.StatusOK, http.MethodPost, sync, nil, nil) // warm

	processes := family(b, s.cmd.Process.Pid)
	var ours, least time.Duration
	var requests int
	for b.Loop() {
		refresh(b, cluster)
		before, counted := spent(b, processes), cluster.stats(b).Total
		owner.must(b, http.StatusOK, http.MethodPost, sync, nil, nil)
		ours += spent(b, processes) - before
		requests += cluster.stats(b).Total - counted

		refresh(b, cluster)
		started := ownCPU(b)
		if n := floor(b, client, cluster); n < guests {
			b.Fatalf("%d rows for %d guests", n, guests)
		}
		least += ownCPU(b) - started
	}
	n := float64(b.N)
	b.ReportMetric(float64(requests)/n, "requests/cycle")
	b.ReportMetric(ours.Seconds()*1000/n, "cpu-ms/cycle")
	b.ReportMetric(least.Seconds()*1000/n, "floor-cpu-ms/cycle")
	b.ReportMetric(float64(ours)/float64(least), "x-floor")
	var total int64
	for pid, name := range processes {
		size := resident(b, pid)
		total += size
		b.ReportMetric(float64(size)/(1<<20), name+"-MiB")
	}
	b.ReportMetric(float64(total)/(1<<20), "all-MiB")
}

// quiet keeps the poll loop from running beside what is measured.
func quiet(b *testing.B, s *service) {
	b.Helper()
	d := dbtest.Open(b, s.DB)
	if _, err := d.Pool.Exec(b.Context(), "INSERT INTO settings (key, value) VALUES ('poll.interval_s', '3600')"); err != nil {
		b.Fatal(err)
	}
}

// refresh lets the simulator's broadcast pass, so that every figure is a new one.
func refresh(b *testing.B, cluster *sim) {
	b.Helper()
	cluster.control(b, http.MethodPost, "/clock", map[string]any{"advance_s": 11}, nil)
}

// spent is the processor time of all processes so far.
func spent(b *testing.B, processes map[int]string) time.Duration {
	b.Helper()
	var sum time.Duration
	for pid := range processes {
		sum += cpu(b, pid)
	}
	return sum
}

// BenchmarkChangeToView is the time from a change at the hypervisor to its sight in the API, with the shortest interval
// that the settings allow and the hypervisor's own list always fresh.
func BenchmarkChangeToView(b *testing.B) {
	cluster := startSim(b, "--scenario", "cluster", "--nodes", "10", "--guests", "1000", "--resources-lag", "-1s")
	s := startService(b, options{Env: []string{"HOSTLER_LOG_LEVEL=info"}})
	owner := setUp(b, s)
	owner.enrol(b, cluster, "lab")
	d := dbtest.Open(b, s.DB)
	if _, err := d.Pool.Exec(b.Context(), "INSERT INTO settings (key, value) VALUES ('poll.interval_s', '5')"); err != nil {
		b.Fatal(err)
	}
	g := find(b, owner, "/api/v1/vms", "running")
	change := func(name string) time.Duration {
		began := time.Now()
		cluster.control(b, http.MethodPost, "/guest", map[string]any{"op": "rename", "vmid": g.VMID, "name": name}, nil)
		waittest.Succeeds(b, "the new name is seen", func() error {
			var now guestView
			owner.must(b, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/vms/%d", g.ID), nil, &now)
			if now.Name != name {
				return errors.New(now.Name)
			}
			return nil
		})
		return time.Since(began)
	}
	change("first") // until then the poll goes by the interval that held before
	var took time.Duration
	i := 0
	for b.Loop() {
		i++
		took += change(fmt.Sprintf("renamed-%d", i))
	}
	b.ReportMetric(took.Seconds()/float64(b.N), "s/change")
}

// BenchmarkListVMs is GET /api/v1/vms with 10,000 VMs beside psql making JSON of the same rows in the same run.
func BenchmarkListVMs(b *testing.B) {
	cluster := startSim(b, "--scenario", "cluster", "--nodes", "10", "--guests", "100")
	s := startService(b, options{Env: []string{"HOSTLER_LOG_LEVEL=info"}})
	owner := setUp(b, s)
	owner.enrol(b, cluster, "lab")
	quiet(b, s)
	d := dbtest.Open(b, s.DB)
	if _, err := d.Pool.Exec(b.Context(), manyVMs); err != nil {
		b.Fatal(err)
	}
	psql := startPsql(b, s.DB)
	var api, sql []time.Duration
	var bytes int
	for b.Loop() {
		for range 10 {
			began := time.Now()
			a := owner.must(b, http.StatusOK, http.MethodGet, "/api/v1/vms", nil, nil)
			api = append(api, time.Since(began))
			bytes = len(a.Body)
			began = time.Now()
			psql.ask(b, psqlList)
			sql = append(sql, time.Since(began))
		}
	}
	slices.Sort(api)
	slices.Sort(sql)
	b.ReportMetric(milliseconds(api, 50), "p50-ms")
	b.ReportMetric(milliseconds(api, 95), "p95-ms")
	b.ReportMetric(milliseconds(sql, 50), "psql-p50-ms")
	b.ReportMetric(milliseconds(sql, 95), "psql-p95-ms")
	b.ReportMetric(milliseconds(api, 50)/milliseconds(sql, 50), "x-psql")
	b.ReportMetric(float64(bytes), "bytes")
}

// manyVMs fills the cache up to 10,000 VMs with copies of the ones that were polled.
const manyVMs = `INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status, tags, cpu, cpus, memory, memory_total, disk,
	disk_total, net_in, net_out, disk_read, disk_write, uptime)
	SELECT cluster_id, host_id, 'vm', 100000 + row_number() OVER (), 100000 + row_number() OVER (), node, name, status, tags, cpu, cpus,
	memory, memory_total, disk, disk_total, net_in, net_out, disk_read, disk_write, uptime
	FROM guests, generate_series(1, 1000) LIMIT 10000 - (SELECT count(*) FROM guests WHERE kind = 'vm')`

// psqlList is the same rows with the same joins as one JSON text.
const psqlList = `SELECT json_agg(r) FROM (SELECT g.*, h.name AS host, c.name AS cluster, j.id AS job_id FROM guests g
	JOIN hosts h ON h.id = g.host_id
	JOIN clusters c ON c.id = g.cluster_id LEFT JOIN jobs j ON j.exclusive = 'guest:' || g.id AND j.status IN ('queued', 'running')
	WHERE g.kind = 'vm' ORDER BY g.cluster_id, g.vmid) r;`

func milliseconds(sorted []time.Duration, percent int) float64 {
	return float64(sorted[(len(sorted)-1)*percent/100].Microseconds()) / 1000
}

// psqlSession is one psql that answers many questions, so that its start does not count.
type psqlSession struct {
	in  io.Writer
	out *bufio.Reader
}

func startPsql(b *testing.B, url string) *psqlSession {
	b.Helper()
	cmd := exec.Command("psql", "-X", "-q", "-A", "-t", url)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatalf("starting psql: %v", err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &psqlSession{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

func (p *psqlSession) ask(b *testing.B, query string) {
	b.Helper()
	if _, err := fmt.Fprintf(p.in, "%s\n\\echo answered\n", query); err != nil {
		b.Fatal(err)
	}
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			b.Fatalf("reading from psql: %v", err)
		}
		if strings.TrimSpace(line) == "answered" {
			return
		}
	}
}
