package scenarios

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// crowd are many readers in a process of their own, so that what the service uses is told apart from what they use.
type crowd struct {
	URL string
	// Cookies are those of the readers, one each.
	Cookies []string
	// Objects are the guests whose last name ends the reading: it is "end".
	Objects int
}

// crowdSeen is what the readers of a crowd saw together.
type crowdSeen struct {
	Messages int
	// Delays are in microseconds, from a change to its arrival.
	Delays []int64
	// Disorder counts names that came after a later one of their guest; Burst are seconds in which a reader got more than ten messages, and
	// Many are readers that got more than ten a second on the whole.
	Disorder, Burst, Many int
	Err                   string
}

const crowdVariable = "HOSTLER_TEST_CROWD"

// TestCrowdOfReaders is the process of readers: it says that all are there, and what they saw in the end.
func TestCrowdOfReaders(t *testing.T) {
	if os.Getenv(crowdVariable) == "" {
		t.Skip("only in a process that another test starts")
	}
	var c crowd
	if err := json.NewDecoder(os.Stdin).Decode(&c); err != nil {
		t.Fatal(err)
	}
	var all crowdSeen
	var mu sync.Mutex
	var there, over sync.WaitGroup
	transport := &http.Transport{MaxIdleConnsPerHost: len(c.Cookies)}
	for _, cookie := range c.Cookies {
		there.Add(1)
		over.Go(func() {
			one, err := c.read(t.Context(), &http.Client{Transport: transport}, cookie, sync.OnceFunc(there.Done))
			mu.Lock()
			defer mu.Unlock()
			all.Messages += one.Messages
			all.Delays = append(all.Delays, one.Delays...)
			all.Disorder += one.Disorder
			all.Burst += one.Burst
			all.Many += one.Many
			if err != nil {
				all.Err = err.Error()
			}
		})
	}
	there.Wait()
	fmt.Println("there")
	over.Wait()
	encoded, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(encoded))
}

// read follows the feed until all guests have ended. A name is the time of its change.
func (c *crowd) read(ctx context.Context, client *http.Client, cookie string, there func()) (s crowdSeen, err error) {
	defer there()
	began := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/api/v1/events/stream", http.NoBody)
	if err != nil {
		return s, err
	}
	r.Header.Set("Cookie", cookie)
	response, err := client.Do(r)
	if err != nil {
		return s, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return s, fmt.Errorf("status %d", response.StatusCode)
	}
	lines := bufio.NewReaderSize(response.Body, 64<<10)
	last, ended := map[int64]int64{}, map[int64]bool{}
	var times []time.Time
	for len(ended) < c.Objects {
		line, err := lines.ReadString('\n')
		if err != nil {
			return s, fmt.Errorf("after %d messages: %w", s.Messages, err)
		}
		if strings.HasPrefix(line, "event: hello") {
			there()
		}
		data, ok := strings.CutPrefix(line, "data: {\"changes\":")
		if !ok {
			continue
		}
		now := time.Now()
		s.Messages++
		if times = append(times, now); len(times) > 11 && now.Sub(times[len(times)-12]) < time.Second {
			s.Burst++
		}
		var changes []struct {
			ID  int64
			Set struct{ Name string }
		}
		if err := json.Unmarshal([]byte(strings.TrimSuffix(data, "}\n")), &changes); err != nil {
			return s, err
		}
		for _, one := range changes {
			if one.Set.Name == "end" {
				ended[one.ID] = true
				continue
			}
			at, _ := strconv.ParseInt(one.Set.Name, 10, 64)
			if at < last[one.ID] || ended[one.ID] {
				s.Disorder++
			}
			last[one.ID] = at
			s.Delays = append(s.Delays, (now.UnixNano()-at)/1000)
		}
	}
	if s.Messages > int(time.Since(began)/(100*time.Millisecond))+2 {
		s.Many = 1
	}
	return s, nil
}

// gatherCrowd starts a crowd of readers on an instance with guests, and waits until all are there. wait gives what they saw.
func gatherCrowd(t testing.TB, i *eventsInstance, readers, objects int) (wait func() crowdSeen) {
	t.Helper()
	c := crowd{URL: i.URL, Objects: objects}
	var account *identitytest.Account
	for n := range readers {
		if n%50 == 0 { // a user may have 64 streams
			account = identitytest.As(t, i.Users, identity.Viewer)
		}
		c.Cookies = append(c.Cookies, account.Cookie.Name+"="+account.Cookie.Value)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrowdOfReaders$")
	cmd.Env = append(os.Environ(), crowdVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if err := json.NewEncoder(in).Encode(c); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "there\n" {
		t.Fatalf("the readers say %q: %v", line, err)
	}
	return func() (s crowdSeen) {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		_, _ = io.Copy(io.Discard, lines)
		slices.Sort(s.Delays)
		return s
	}
}

// change makes n changes at a rate over the guests, by four writers, and ends each guest then.
func (i *eventsInstance) change(ctx context.Context, n, objects int, rate float64) error {
	began := time.Now()
	var writing sync.WaitGroup
	errs := make(chan error, 4)
	for w := range 4 {
		writing.Go(func() {
			for k := w; k < n; k += 4 {
				if wait := time.Duration(float64(k)/rate*float64(time.Second)) - time.Since(began); wait > 0 {
					time.Sleep(wait)
				}
				// The time is taken under the lock of the row: later names are later changes.
				if _, err := i.DB.Pool.Exec(ctx, "UPDATE guests SET name = (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint::text "+
					"WHERE id = $1", 1+k%objects); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	writing.Wait()
	close(errs)
	if err := <-errs; err != nil {
		return err
	}
	_, err := i.DB.Pool.Exec(ctx, "UPDATE guests SET name = 'end' WHERE id <= $1", objects)
	return err
}

// Many readers hear of many changes: each of the last state of all, in order, and in at most ten messages a second.
func TestManyReadersOfEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many streams: make check runs it")
	}
	t.Parallel()
	i := newEvents(t, "")
	const readers, objects, changes = 60, 40, 200
	inventorytest.Many(t, i.DB, objects, 0)
	wait := gatherCrowd(t, i, readers, objects)
	if err := i.change(t.Context(), changes, objects, 100); err != nil {
		t.Fatal(err)
	}
	s := wait()
	if s.Err != "" || s.Disorder > 0 || s.Many > 0 || len(s.Delays) == 0 {
		t.Errorf("%s; %d out of order, %d readers with too many messages, %d delays", s.Err, s.Disorder, s.Many, len(s.Delays))
	}
	if len(s.Delays) > 0 {
		t.Logf("%d messages; delay p50 %d µs, p99 %d µs", s.Messages, s.Delays[len(s.Delays)/2], s.Delays[len(s.Delays)*99/100])
	}
}

// cpuUsed is the processor time that this process has used: not PostgreSQL, and not the readers.
func cpuUsed() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEventStream is 200 changes a second, one an op, to many readers over sockets: -benchtime 3000x is fifteen seconds of them. The
// changes are made by this process, too: no readers show what they take.
func BenchmarkEventStream(b *testing.B) {
	for _, readers := range []int{0, 1, 100, 500} {
		b.Run(fmt.Sprint("readers=", readers), func(b *testing.B) {
			i := newEvents(b, "")
			const objects = 1000
			inventorytest.Many(b, i.DB, objects, 0)
			wait := func() crowdSeen { return crowdSeen{} }
			if readers > 0 {
				wait = gatherCrowd(b, i, readers, objects)
			}
			before := cpuUsed()
			b.ResetTimer()
			if err := i.change(b.Context(), b.N, objects, 200); err != nil {
				b.Fatal(err)
			}
			s := wait()
			b.StopTimer()
			took := cpuUsed() - before
			if s.Err != "" || s.Disorder > 0 || s.Burst > 0 {
				b.Errorf("%s; %d out of order, %d bursts", s.Err, s.Disorder, s.Burst)
			}
			b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "cpu-ms/change")
			if len(s.Delays) > 0 {
				b.ReportMetric(float64(s.Delays[len(s.Delays)/2])/1000, "p50-ms")
				b.ReportMetric(float64(s.Delays[len(s.Delays)*99/100])/1000, "p99-ms")
				b.ReportMetric(float64(s.Messages)/float64(readers)/b.Elapsed().Seconds(), "messages/s/reader")
			}
		})
	}
}
