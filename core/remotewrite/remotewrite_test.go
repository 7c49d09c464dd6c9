package remotewrite_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/remotewrite"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/promtest"
	"github.com/hostler/hostler/sdk/endpoint"
)

// receiver stands in for one: it decodes what it is sent, and answers as it is told.
type receiver struct {
	*httptest.Server
	mu sync.Mutex
	// got are the samples that were taken: "name{labels} value @time".
	got      []string
	requests int
	headers  http.Header
	faults   []string
	// refuses names a label value whose samples it refuses, and answers is what it answers to everything in place of taking it.
	refuses string
	answers func(w http.ResponseWriter, r *http.Request)
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	c := &receiver{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	t.Cleanup(func() {
		for _, fault := range c.faults {
			t.Error(fault)
		}
	})
	return c
}

func (c *receiver) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.headers = r.Header.Clone()
	if c.answers != nil {
		c.answers(w, r)
		return
	}
	packed, _ := io.ReadAll(r.Body)
	body, err := s2.Decode(nil, packed)
	if err != nil || r.Header.Get("Content-Encoding") != "snappy" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.faults = append(c.faults, fmt.Sprintf("a body that is none: %v, %v", err, r.Header))
	}
	var samples []string
	seen := map[string]bool{}
	for _, series := range fields(body, 1) {
		var labels []string
		for _, label := range fields(series, 1) {
			name, value := fields(label, 1), fields(label, 2)
			if len(value) != 1 || len(value[0]) == 0 {
				c.faults = append(c.faults, fmt.Sprintf("the label %q is empty", name))
				continue
			}
			labels = append(labels, string(name[0])+"="+string(value[0]))
		}
		if !slices.IsSorted(labels) || !strings.HasPrefix(labels[0], "__name__=") || seen[strings.Join(labels, ",")] {
			c.faults = append(c.faults, fmt.Sprintf("labels out of order, or a series twice: %q", labels))
		}
		seen[strings.Join(labels, ",")] = true
		for _, sample := range fields(series, 2) {
			samples = append(samples, fmt.Sprintf("%s{%s} %v @%d", labels[0][9:], strings.Join(labels[1:], ","), number(sample), at(sample)))
		}
	}
	if c.refuses != "" && strings.Contains(strings.Join(samples, "\n"), c.refuses) {
		http.Error(w, "out of order sample", http.StatusBadRequest)
		return
	}
	c.got = append(c.got, samples...)
	w.WriteHeader(http.StatusNoContent)
}

// fields are the values of one field of bytes.
func fields(message []byte, number protowire.Number) (found [][]byte) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		message = message[size:]
		size = protowire.ConsumeFieldValue(n, kind, message)
		if n == number && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message)
			found = append(found, value)
		}
		message = message[size:]
	}
	return found
}

func number(sample []byte) float64 {
	bits, _ := protowire.ConsumeFixed64(sample[1:])
	return math.Float64frombits(bits)
}

func at(sample []byte) int64 {
	millis, _ := protowire.ConsumeVarint(sample[10:])
	return int64(millis)
}

// taken are the samples that were taken, and how many requests there were.
func (c *receiver) taken() (samples []string, requests int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got), c.requests
}

func (c *receiver) answer(f func(w http.ResponseWriter, r *http.Request)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = f
}

type fixture struct {
	*remotewrite.Store
	t testing.TB
	// began is when the first sample is of.
	began time.Time
}

// newFixture is an inventory with samples of the last minutes, of guests each minute, of the rest once.
func newFixture(t testing.TB, guests int) *fixture {
	t.Helper()
	d := dbtest.New(t)
	inventorytest.Write(t, d, inventorytest.Cluster{Name: "c", Hosts: []inventorytest.Host{{Name: "h", Node: "n1"}},
		Nodes: []inventorytest.Node{{Name: "n1"}}, Storages: []inventorytest.Storage{{Node: "n1", Name: "local"}}})
	for i := range guests {
		dbtest.Exec(t, d, `INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status) VALUES (1, 1, 'vm', $1,
			$1::bigint::text, 'n1', $2, 'running')`, 100+i, fmt.Sprint("vm", i+1))
	}
	if err := metric.EnsurePartitions(t.Context(), d, time.Now()); err != nil {
		t.Fatal(err)
	}
	keys, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "keys", "secret.key"),
		func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{&remotewrite.Store{DB: d, Keys: keys, AllowLocal: true}, t, time.Now().UTC().Truncate(time.Second).Add(-10 * time.Minute)}
	for i := range 5 {
		f.exec(`INSERT INTO metric_samples (at, target_kind, target_id, cpu, memory, net_in) SELECT $1, 'guest', id, 0.5, id * 1000, $2::bigint
			FROM guests`, f.began.Add(time.Duration(i)*time.Minute), i*100)
	}
	f.exec(`INSERT INTO metric_samples (at, target_kind, target_id, cpu, disk, net_in) VALUES ($1, 'host', 1, 0.25, 5, 7),
		($1, 'node', 1, 0.75, NULL, 8), ($1, 'storage', 1, NULL, 9, NULL), ($1, 'guest', 999, 1, 1, 1)`, f.began)
	return f
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	dbtest.Exec(f.t, f.DB, sql, args...)
}

// to sets the receiver, from the first sample on.
func (f *fixture) to(url string) {
	f.t.Helper()
	if _, err := f.Set(f.t.Context(), remotewrite.Receiver{URL: url}); err != nil {
		f.t.Fatal(err)
	}
	f.exec("UPDATE remote_write SET sent_at = $1", f.began.Add(-time.Second))
}

func (f *fixture) turn() {
	f.t.Helper()
	if err := f.Turn(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) state() *remotewrite.State {
	f.t.Helper()
	state, err := f.Get(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return state
}

func TestSendsEverySampleOnceInOrder(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t, 2), newReceiver(t)
	f.to(c.URL + "/api/v1/write?tenant=1")
	f.turn()
	got, requests := c.taken()
	var want []string
	for i := range 5 {
		millis := f.began.Add(time.Duration(i) * time.Minute).UnixMilli()
		for g := 1; g <= 2; g++ {
			labels := fmt.Sprintf("{cluster=c,id=%d,kind=vm,name=vm%d}", g, g)
			want = append(want, fmt.Sprintf("hostler_guest_cpu_usage_ratio%s 0.5 @%d", labels, millis),
				fmt.Sprintf("hostler_guest_memory_used_bytes%s %d @%d", labels, g*1000, millis),
				fmt.Sprintf("hostler_guest_network_receive_bytes_total%s %d @%d", labels, i*100, millis))
		}
		if i == 0 { // and nothing of the guest that is gone, nor of a host's traffic
			want = append(want, fmt.Sprintf("hostler_host_cpu_usage_ratio{id=1,name=h} 0.25 @%d", millis),
				fmt.Sprintf("hostler_host_disk_used_bytes{id=1,name=h} 5 @%d", millis),
				fmt.Sprintf("hostler_node_cpu_usage_ratio{cluster=c,node=n1} 0.75 @%d", millis),
				fmt.Sprintf("hostler_node_network_receive_bytes_total{cluster=c,node=n1} 8 @%d", millis),
				fmt.Sprintf("hostler_storage_disk_used_bytes{cluster=c,node=n1,storage=local} 9 @%d", millis))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if requests != 5 {
		t.Errorf("%d requests", requests)
	}
	state := f.state()
	if state.SamplesSent != int64(len(want)) || state.LastOKAt == nil || state.LastError != nil || *state.LateS > 120 {
		t.Errorf("%+v", state)
	}
	f.turn()
	f.Store = &remotewrite.Store{DB: f.DB, Keys: f.Keys, AllowLocal: true} // another process
	f.turn()
	if got, requests := c.taken(); len(got) != len(want) || requests != 5 {
		t.Errorf("sent again: %d samples, %d requests", len(got), requests)
	}
	// Samples wait for what a poll may still add to their time, and for a poll whose transaction has not ended.
	f.exec("INSERT INTO metric_samples (at, target_kind, target_id, cpu) VALUES (now(), 'guest', 1, 1)")
	f.turn()
	if got, _ := c.taken(); len(got) != len(want) {
		t.Error("a sample was sent at once")
	}
}

func TestWaitsForAPollThatIsUnderWay(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t, 1), newReceiver(t)
	f.to(c.URL)
	poll, err := f.DB.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = poll.Exec(t.Context(), "INSERT INTO metric_samples (at, target_kind, target_id) VALUES (now(), 'guest', 1)"); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, f.DB, `INSERT INTO settings (key, value) VALUES ('poll.interval_s', '5')`)
	_, to, more, err := metric.Export(t.Context(), f.DB, metric.Cursor{At: time.Now().Add(-time.Minute)}, 10)
	began := dbtest.Value[time.Time](t, f.DB, `SELECT min(xact_start) FROM pg_stat_activity WHERE datname = current_database()
		AND backend_xid IS NOT NULL`)
	if err != nil || more || to.At.After(began) {
		t.Errorf("up to %s, and a poll began at %s: %v", to.At, began, err)
	}
	if err := poll.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestOneThatIsRefusedCostsNotTheOthers(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t, 20), newReceiver(t)
	f.to(c.URL)
	c.refuses = "name=vm7}"
	f.turn()
	got, _ := c.taken()
	state := f.state()
	if len(got) != 19*5*3+5 || state.SamplesSent != int64(len(got)) || state.SamplesRefused != 15 || state.LastError == nil ||
		!strings.Contains(*state.LastError, "400 Bad Request: out of order sample") || state.Failures != 0 {
		t.Errorf("%d were taken: %+v", len(got), state)
	}
}

// What answers 400 to everything from the first request on is no receiver, and gets nothing to lose.
func TestWhatTakesNothingLosesNothing(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t, 3), newReceiver(t)
	f.to(c.URL)
	c.refuses = "hostler_"
	f.turn()
	if state := f.state(); state.SamplesRefused != 0 || state.Failures != 1 || !state.SentTo.Before(f.began) {
		t.Errorf("%+v", state)
	}
	c.refuses = ""
	f.exec("UPDATE remote_write SET next_at = now()")
	f.turn()
	if got, _ := c.taken(); len(got) != 3*5*3+5 {
		t.Errorf("%d samples", len(got))
	}
}

func TestAReceiverThatIsAwayGetsAllLater(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t, 2), newReceiver(t)
	f.to(c.URL)
	const all = 2*5*3 + 5
	c.answer(func(w http.ResponseWriter, _ *http.Request) {
		if c.requests == 3 {
			c.answers = nil
		}
		w.Header().Set("Retry-After", "120")
		http.Error(w, "later,\n please", http.StatusServiceUnavailable)
	})
	next := func() float64 {
		return dbtest.Value[float64](t, f.DB, "SELECT extract(epoch FROM next_at - now())::float8 FROM remote_write")
	}
	f.turn()
	state := f.state()
	if state.Failures != 1 || state.LastError == nil ||
		*state.LastError != "the receiver answered 503 Service Unavailable: later, please" ||
		state.LastErrorAt == nil || *state.LateS < 500 {
		t.Errorf("%+v", state)
	}
	if wait := next(); wait < 100 || wait > 120 {
		t.Errorf("the next try is in %v s", wait)
	}
	f.turn() // it is left alone
	if _, requests := c.taken(); requests != 1 {
		t.Errorf("%d requests", requests)
	}
	for range 2 {
		f.exec("UPDATE remote_write SET next_at = now()")
		f.turn()
	}
	if state := f.state(); state.Failures != 3 {
		t.Errorf("%+v", state)
	}
	f.exec("UPDATE remote_write SET next_at = now()")
	f.turn()
	if got, _ := c.taken(); len(got) != all {
		t.Errorf("%d samples, want %d", len(got), all)
	}
	if state := f.state(); state.Failures != 0 || state.SamplesSent != all || state.LastError == nil {
		t.Errorf("%+v", state)
	}
	// One that is gone altogether: longer waits without its word, and the text has nothing of the URL's query.
	f.exec("UPDATE remote_write SET failures = 8, url = $1, sent_at = $2", "http://127.0.0.1:1/?key=canary", f.began.Add(-time.Second))
	f.turn()
	if state := f.state(); state.Failures != 9 || strings.Contains(*state.LastError, "canary") {
		t.Errorf("%s", *state.LastError)
	}
	if wait := next(); wait < 290 || wait > 300 {
		t.Errorf("the next try is in %v s", wait)
	}
}

func TestSecretsCrossToTheReceiverOnly(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t, 1), newReceiver(t)
	secure := httptest.NewTLSServer(c.Config.Handler)
	t.Cleanup(secure.Close)
	c.answer(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "you sent "+r.Header.Get("Authorization"), http.StatusForbidden)
	})
	set := func(r remotewrite.Receiver) error {
		r.URL = secure.URL
		_, err := f.Set(t.Context(), r)
		f.exec("UPDATE remote_write SET sent_at = $1, next_at = now()", f.began.Add(-time.Second))
		return err
	}
	for _, test := range []struct {
		receiver   remotewrite.Receiver
		auth, sent string
	}{
		{remotewrite.Receiver{Secret: secret.New("canary-token")}, "bearer", "Bearer canary-token"},
		{remotewrite.Receiver{Username: "me", Secret: secret.New("canary")}, "basic", "Basic bWU6Y2FuYXJ5"},
		{remotewrite.Receiver{Username: "me", Secret: secret.New("p7")}, "basic", "Basic bWU6cDc="},
		{remotewrite.Receiver{}, "none", ""},
	} {
		if err := set(test.receiver); err != nil {
			t.Fatal(err)
		}
		f.turn()
		if state := f.state(); !strings.Contains(*state.LastError, "not trusted") {
			t.Errorf("an unknown certificate: %+v", state)
		}
		test.receiver.Fingerprint = fingerprint(secure)
		if err := set(test.receiver); err != nil {
			t.Fatal(err)
		}
		f.turn()
		state := f.state()
		if got := c.headers.Get("Authorization"); got != test.sent || state.Auth != test.auth {
			t.Errorf("%s: sent %q, want %q", state.Auth, got, test.sent)
		}
		if !strings.Contains(*state.LastError, "403") || strings.Contains(*state.LastError, "canary") ||
			strings.Contains(*state.LastError, "bWU6") {
			t.Errorf("it says %s", *state.LastError)
		}
		if text := dbtest.Value[string](t, f.DB, "SELECT row_to_json(w)::text FROM remote_write w"); strings.Contains(text, "canary") {
			t.Errorf("stored as it is: %s", text)
		}
	}
	// It does not go elsewhere when it is told to.
	elsewhere := newReceiver(t)
	c.answer(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	f.exec("UPDATE remote_write SET next_at = now()")
	f.turn()
	if _, requests := elsewhere.taken(); requests != 0 || !strings.Contains(*f.state().LastError, "307") {
		t.Errorf("%d requests elsewhere, %s", requests, *f.state().LastError)
	}
}

func TestOneOfSeveralInstancesSends(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t, 30), newReceiver(t)
	f.to(c.URL)
	var turns sync.WaitGroup
	for range 4 {
		other := *f.Store
		turns.Go(func() {
			if err := other.Turn(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	turns.Wait()
	f.turn()
	got, _ := c.taken()
	if want := 30*5*3 + 5; len(got) != want {
		t.Errorf("%d samples, want %d", len(got), want)
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != 30*5*3+5 {
		t.Error("a sample was sent twice")
	}
}

func TestAnotherReceiverGoesOnWhereTheFirstStood(t *testing.T) {
	t.Parallel()
	f, first, second := newFixture(t, 2), newReceiver(t), newReceiver(t)
	f.to(first.URL)
	first.answer(func(w http.ResponseWriter, _ *http.Request) {
		if first.requests == 2 { // it is replaced while it is being sent to
			if _, err := f.Set(t.Context(), remotewrite.Receiver{URL: second.URL}); err != nil {
				t.Error(err)
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	f.turn()
	f.turn()
	got, _ := second.taken()
	_, requests := first.taken()
	if requests != 2 || len(got) != 4*2*3 {
		t.Errorf("%d requests to the first, %d samples to the second", requests, len(got))
	}
	if err := f.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.turn()
	if state := f.state(); state.URL != nil || state.LateS != nil {
		t.Errorf("%+v", state)
	}
	if err := f.Remove(t.Context()); problem.CodeOf(err) != problem.CodeNotFound || err == nil {
		t.Errorf("removed twice: %v", err)
	}
}

func TestWhatIsNoReceiverIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 0)
	f.AllowLocal = false
	pin := strings.Repeat("AB:", 31) + "AB"
	for name, r := range map[string]remotewrite.Receiver{
		"nothing": {}, "no scheme": {URL: "metrics.example.com/write"}, "a file": {URL: "file:///etc/passwd"}, "no host": {URL: "http:///x"},
		"a user": {URL: "https://me:canary@metrics.example.com/"}, "loopback": {URL: "http://127.0.0.1:9090/api/v1/write"},
		"localhost": {URL: "http://localhost:9090/"}, "metadata": {URL: "http://169.254.169.254/latest"},
		"IPv6 loopback": {URL: "http://[::1]/"},
		"a short form":  {URL: "http://127.1/"}, "a port": {URL: "https://metrics.example.com:99999/"}, "NUL": {URL: "https://a\x00b/"},
		"a fragment":         {URL: "https://metrics.example.com/#x"},
		"a token in clear":   {URL: "http://metrics.example.com/", Secret: secret.New("canary")},
		"a pin in clear":     {URL: "http://metrics.example.com/", Fingerprint: pin},
		"no pin":             {URL: "https://metrics.example.com/", Fingerprint: "x"},
		"a user without one": {URL: "https://metrics.example.com/", Username: "me"},
	} {
		_, err := f.Set(t.Context(), r)
		if p := problem.From(err); err == nil || p.Code != problem.CodeInvalid || strings.Contains(fmt.Sprint(p.Faults), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if state := f.state(); state.URL != nil {
		t.Errorf("%+v", state)
	}
	if state, err := f.Set(t.Context(), remotewrite.Receiver{URL: "https://192.0.2.1/w?x=1", Fingerprint: strings.ToLower(pin),
		Username: "me", Secret: secret.New("x")}); err != nil || *state.Fingerprint != pin || state.Auth != "basic" {
		t.Errorf("%+v, %v", state, err)
	}
}

// A real Prometheus takes what is sent, also what it has already, and answers queries with it.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	p := promtest.Start(t, "global: {scrape_interval: 1h}\n")
	f := newFixture(t, 5)
	f.to(p.URL + "/api/v1/write")
	f.turn()
	all := int64(5*5*3 + 5)
	if state := f.state(); state.SamplesSent != all || state.SamplesRefused != 0 || state.LastError != nil {
		t.Fatalf("%+v", state)
	}
	if got := p.Query(t, `count(last_over_time({__name__=~"hostler_.+"}[1h]))`); got != "20" {
		t.Errorf("%s series", got)
	}
	const count = "sum(count_over_time(hostler_guest_cpu_usage_ratio[1h]))"
	if got := p.Query(t, count); got != "25" {
		t.Errorf("%s samples of 25", got)
	}
	if got := p.Query(t, `last_over_time(hostler_guest_memory_used_bytes{name="vm3",cluster="c",kind="vm"}[1h])`); got != "3000" {
		t.Errorf("the memory of vm3 is %s", got)
	}
	// A process that died before it noted the last request sends it again: nothing is refused for that.
	f.exec("UPDATE remote_write SET sent_at = $1, sent_kind = '', sent_id = 0", f.began.Add(4*time.Minute-time.Second))
	f.turn()
	if state := f.state(); state.SamplesSent != all+15 || state.SamplesRefused != 0 {
		t.Errorf("sent again: %+v", state)
	}
	// What is older than what it has it refuses, and that ends.
	f.exec("UPDATE remote_write SET sent_at = $1, sent_kind = '', sent_id = 0", f.began.Add(-time.Second))
	f.turn()
	if state := f.state(); state.SamplesRefused == 0 || !state.SentTo.After(f.began.Add(4*time.Minute)) ||
		!strings.Contains(*state.LastError, "out of order") {
		t.Errorf("out of order: %+v", state)
	}
	if got := p.Query(t, count); got != "25" {
		t.Errorf("%s samples of 25 in the end", got)
	}
}

func fingerprint(s *httptest.Server) string { return endpoint.Fingerprint(s.Certificate()) }
