package processtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/private"
	"github.com/hostler/hostler/internal/waittest"
)

// pollInterval is the default time between two polls of a cluster.
const pollInterval = 30 * time.Second

// BenchmarkScale is what one instance with its plugin and its private PostgreSQL uses of a machine while it polls 200 clusters of 500
// guests every 30 s: processor time as parts of one core and memory, by program, and how old the oldest data became. Each turn is one
// interval. The simulator has a process of its own, which is told apart. HOSTLER_BENCH_CLUSTERS is the number of clusters, 200 when it
// is not set.
func BenchmarkScale(b *testing.B) {
	clusters := 200
	if text := os.Getenv("HOSTLER_BENCH_CLUSTERS"); text != "" {
		var err error
		if clusters, err = strconv.Atoi(text); err != nil || clusters < 1 {
			b.Fatalf("HOSTLER_BENCH_CLUSTERS is %q", text)
		}
	}
	const nodes, guests = 3, 500
	fleet := startSim(b, "--scenario", "fleet", "--nodes", fmt.Sprint(clusters*nodes), "--fleet-nodes", fmt.Sprint(nodes),
		"--guests", fmt.Sprint(clusters*guests))
	s := startService(b, options{DB: privateDatabase, Env: []string{"HOSTLER_LOG_LEVEL=info"}})
	owner := setUp(b, s)
	for i := range fleet.Hosts {
		owner.enrol(b, &fleet.Hosts[i], fmt.Sprintf("lab%d", i))
	}
	address, err := private.Attach(filepath.Join(s.State, "postgresql"))
	if err != nil {
		b.Fatal(err)
	}
	d := dbtest.Open(b, address)
	if n := dbtest.Value[int](b, d, "SELECT count(*) FROM guests"); n != clusters*guests {
		b.Fatalf("there are %d guests", n)
	}
	// As it is after some hours: each guest's configuration was read once.
	dbtest.Exec(b, d, "INSERT INTO guest_details (guest_id, as_of) SELECT id, now() - random() * interval '1 hour' FROM guests ON "+
		"CONFLICT DO NOTHING")
	dbtest.Exec(b, d, "ANALYZE")
	since := dbtest.Value[time.Time](b, d, "SELECT now()")
	waittest.Until(b, "the polls that came with the enrolment are over, and each cluster was polled since", func() bool {
		return dbtest.Value[bool](b, d, "SELECT bool_and(seen_at > $1) FROM clusters", since)
	})
	asked := func() int {
		n := 0
		for i := range fleet.Hosts {
			n += fleet.Hosts[i].stats(b).Total
		}
		return n
	}
	var oldest, ages, looks float64
	polls, samples, requests, took := -sampled(b, d, "host"), -sampled(b, d, "guest"), -asked(), time.Duration(0)
	used := parts(b, s, fleet)
	for b.Loop() {
		began := time.Now()
		for tick := time.Tick(time.Second); time.Since(began) < pollInterval; <-tick {
			age := dbtest.Value[float64](b, d, "SELECT extract(epoch FROM now() - min(seen_at))::float8 FROM clusters")
			oldest, ages, looks = max(oldest, age), ages+age, looks+1
		}
		took += time.Since(began)
	}
	after := parts(b, s, fleet)
	polls, samples, requests = polls+sampled(b, d, "host"), samples+sampled(b, d, "guest"), requests+asked()
	if n := dbtest.Value[int](b, d, "SELECT count(*) FROM hosts WHERE failures > 0"); n > 0 {
		b.Errorf("%d hosts failed", n)
	}
	b.ReportMetric(float64(runtime.NumCPU()), "cores")
	b.ReportMetric(oldest, "s/oldest")
	b.ReportMetric(ages/looks, "s/oldest-mean")
	b.ReportMetric(float64(polls)/took.Seconds(), "polls/s")
	b.ReportMetric(float64(requests)/float64(polls), "requests/poll")
	b.ReportMetric(float64(samples)/float64(polls), "running-guests/poll")
	all := 0.0
	for name, p := range after {
		share := (p.cpu - used[name].cpu).Seconds() / took.Seconds()
		b.ReportMetric(100*share, "%core-"+name)
		b.ReportMetric(float64(p.memory)/(1<<20), name+"-MiB")
		if name != "simulator" {
			all += share
		}
	}
	b.ReportMetric(100*all, "%core-all")
}

// sampled is how many samples there are of clusters, of which each poll leaves one, or of guests, of which it leaves one of each that
// runs.
func sampled(b *testing.B, d *db.DB, kind string) int {
	b.Helper()
	return dbtest.Value[int](b, d, "SELECT count(*) FROM metric_samples WHERE target_kind = $1", kind)
}

// part is what a part of the installation has used and uses.
type part struct {
	cpu    time.Duration
	memory int64
}

// parts are those of a service with a private database, and the simulator.
func parts(b *testing.B, s *service, fleet *sim) map[string]part {
	b.Helper()
	all := map[string]part{}
	all["simulator"], _ = usage(b, fleet.cmd.Process.Pid)
	for pid, name := range family(b, s.cmd.Process.Pid) {
		used, ok := usage(b, pid)
		if !ok {
			continue // it has ended meanwhile, and is in its parent's
		}
		switch {
		case strings.HasPrefix(name, "postgres"):
			name = "postgresql"
		case strings.HasPrefix(name, "hostler-plugin"):
			name = "plugin"
		default:
			name = "service"
		}
		p := all[name]
		p.cpu, p.memory = p.cpu+used.cpu, p.memory+used.memory
		all[name] = p
	}
	return all
}

// usage is what a process has used, with its children that have ended, such as the workers of autovacuum, and the memory that it has, in
// which what several share counts once. It is false for one that has ended.
func usage(b *testing.B, pid int) (part, bool) {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	rollup, rollupErr := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil || rollupErr != nil {
		return part{}, false
	}
	p := part{cpu: times(b, stat, 11, 15)}
	for line := range strings.Lines(string(rollup)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			p.memory = kb << 10
		}
	}
	return p, true
}
