package processtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkUpload is what a file costs on its way through the service to the hypervisor, in time and memory, beside curl which sends
// it there straight, in the same run. HOSTLER_BENCH_UPLOAD_MIB is its size, 64 MiB without it; 1024 is what the aims are about: 1.25
// times the time and 32 MiB more memory in each of our processes. What bounds the time is told besides: the seconds of a processor that
// each process uses for a GiB, and how many times the time of curl it takes at least.
func BenchmarkUpload(b *testing.B) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		b.Skip("there is no curl:", err)
	}
	size := int64(64)
	if text := os.Getenv("HOSTLER_BENCH_UPLOAD_MIB"); text != "" {
		if size, err = strconv.ParseInt(text, 10, 64); err != nil || size < 1 {
			b.Fatalf("HOSTLER_BENCH_UPLOAD_MIB is %q", text)
		}
	}
	size <<= 20
	// Its tasks are over at once, since curl waits for none.
	cluster := startSim(b, "--scenario", "one", "--recommended", "--task-duration", "-1ms")
	s := startService(b, options{Env: []string{"HOSTLER_LOG_LEVEL=info"}})
	owner := setUp(b, s)
	host := owner.enrol(b, cluster, "lab", "lifecycle")
	file, sum := filepath.Join(b.TempDir(), "file.iso"), sha256.New()
	out, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(rand.NewChaCha8([32]byte{}), size)); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	sending := time.Duration(0) // the processor time of curl
	run := func(args ...string) []byte {
		cmd := exec.CommandContext(b.Context(), curl, append([]string{"-sS", "--fail-with-body"}, args...)...)
		text, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("curl: %v %s", err, text)
		}
		sending += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		return text
	}
	straight := func() {
		run("-k", "-H", "Authorization: PVEAPIToken="+cluster.AdminToken.ID+"="+cluster.AdminToken.Secret, "-F", "content=iso",
			"-F", "checksum-algorithm=sha256", "-F", "checksum="+hex.EncodeToString(sum.Sum(nil)), "-F", "filename=@"+file+";filename=straight.iso",
			cluster.URL+"/api2/json/nodes/pve1/storage/local/upload")
	}
	base, err := url.Parse(s.Base)
	if err != nil {
		b.Fatal(err)
	}
	var cookies []string
	for _, c := range owner.http.Jar.Cookies(base) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	through := func() (received time.Duration) {
		began := time.Now()
		text := run("-k", "-H", "Cookie: "+strings.Join(cookies, "; "), "-F", "overwrite=true", "-F", "file=@"+file+";filename=through.iso",
			fmt.Sprintf("%s/api/v1/storage/%d/local/content", s.Base, host))
		received = time.Since(began)
		var started struct{ Job jobView }
		if err := json.Unmarshal(text, &started); err != nil {
			b.Fatalf("%v: %s", err, text)
		}
		if end := ended(b, owner, started.Job.ID); end.Status != "succeeded" {
			b.Fatalf("%+v", end)
		}
		return received
	}
	// warm lets the service begin with a page cache that the machine has. A virtual one may have to be given it by its host again as
	// soon as it was free for seconds, which costs five times what writing costs; curl alone needs none of it.
	warm := func() {
		filler := filepath.Join(s.State, "uploads", "filler")
		out, err := os.Create(filler)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.CopyN(out, zeros{}, size); err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(out.Close(), os.Remove(filler)); err != nil {
			b.Fatal(err)
		}
	}
	straight()
	through()
	// The hypervisor is told the checksum ahead of the file, so that nothing can be sent before all of it has gone into the checksum: that
	// is the least that the service adds.
	hash := func() time.Duration {
		began, hashed := time.Now(), sha256.New()
		in, err := os.Open(file)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.CopyBuffer(hashed, struct{ io.Reader }{in}, make([]byte, 1<<20)); err != nil || in.Close() != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	pids := map[string]int{"service": s.cmd.Process.Pid, "plugin": pluginsOf(b, s)[0]}
	for pid, name := range family(b, s.cmd.Process.Pid) {
		if strings.Contains(name, "plugin-pve") {
			pids["plugin"] = pid
		}
	}
	before, most := map[string]int64{}, map[string]*atomic.Int64{}
	for name, pid := range pids {
		before[name], most[name] = resident(b, pid), &atomic.Int64{}
	}
	done, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for tick := time.Tick(20 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick:
			}
			for name, pid := range pids {
				most[name].Store(max(most[name].Load(), resident(b, pid)))
			}
		}
	}()
	parts := maps.Clone(pids)
	parts["simulator"] = cluster.cmd.Process.Pid
	// busy is the processor time of all who take part, by name, while something is sent.
	busy := func(used map[string]time.Duration, send func()) time.Duration {
		began := time.Now()
		for name, pid := range parts {
			used[name] -= cpu(b, pid)
		}
		sending = 0
		send()
		used["curl"] += sending
		for name, pid := range parts {
			used[name] += cpu(b, pid)
		}
		return time.Since(began)
	}
	var ours, received, least, checksum time.Duration
	leastUsed, used := map[string]time.Duration{}, map[string]time.Duration{}
	for b.Loop() {
		checksum += hash()
		least += busy(leastUsed, straight)
		warm()
		ours += busy(used, func() { received += through() })
	}
	close(done)
	<-sampled
	n := float64(b.N)
	b.ReportMetric(least.Seconds()/n, "s/curl")
	b.ReportMetric(ours.Seconds()/n, "s/through")
	b.ReportMetric(received.Seconds()/n, "s/received")
	b.ReportMetric(ours.Seconds()/least.Seconds(), "times/curl")
	b.ReportMetric(1+checksum.Seconds()/least.Seconds(), "times/curl-bound")
	b.ReportMetric(float64(runtime.NumCPU()), "cores")
	gib := n * float64(size) / (1 << 30)
	var all, leastAll time.Duration
	for name := range used {
		all, leastAll = all+used[name], leastAll+leastUsed[name]
		b.ReportMetric(used[name].Seconds()/gib, "cpu-s/GiB-"+name)
	}
	b.ReportMetric(all.Seconds()/gib, "cpu-s/GiB-through")
	b.ReportMetric(leastAll.Seconds()/gib, "cpu-s/GiB-straight")
	for name, pid := range pids {
		b.ReportMetric(float64(before[name])/(1<<20), "MiB-before/"+name)
		b.ReportMetric(float64(resident(b, pid))/(1<<20), "MiB-after/"+name)
		b.ReportMetric(float64(most[name].Load()-before[name])/(1<<20), "MiB-more/"+name)
	}
}
