package lxd_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// within answers one path with a handler and all else as a small server.
func within(path string, handler http.HandlerFunc) http.HandlerFunc {
	all := small("[]")
	all["/1.0/resources"], all["/1.0/storage-pools/local/resources"], all["/1.0/metrics"] = "{}", "{}", "# none\n"
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			handler(w, r)
			return
		}
		all.ServeHTTP(w, r)
	}
}

func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// endless repeats a text until the other side has enough.
func endless(head, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, head)
		chunk := []byte(strings.Repeat(text, 1000))
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
}

// An inventory of a server gone wrong ends with an error that says so, soon and without filling the memory.
func TestHostileInventory(t *testing.T) {
	t.Parallel()
	const list, one = `{"type":"sync","metadata":[`, `{"name":"web1","type":"container"}`
	protocol := []plugin.ErrorKind{plugin.Protocol}
	either := []plugin.ErrorKind{plugin.Protocol, plugin.Timeout} // whichever limit comes first
	nameless := `{"type":"sync","metadata":{"auth":"trusted","environment":{"server_version":"5"}}}`
	redirect := http.RedirectHandler("https://127.0.0.1:1/", http.StatusFound).ServeHTTP
	for name, c := range map[string]struct {
		path    string
		handler http.HandlerFunc
		kinds   []plugin.ErrorKind
	}{
		"garbage":                  {"/1.0", say("\x00\x01\xff"), protocol},
		"another product":          {"/1.0", say(`{"data":{"version":"9.2"}}`), protocol},
		"no name":                  {"/1.0", say(nameless), protocol},
		"a redirect":               {"/1.0/instances", redirect, protocol},
		"an endless answer":        {"/1.0/instances", endless(list+`{"name":"`, "a"), either},
		"endless instances":        {"/1.0/instances", endless(list+one, ","+one), either},
		"endless white space":      {"/1.0/instances", endless(list, " "), either},
		"deep JSON":                {"/1.0/instances", say(list + strings.Repeat("[", 1<<20)), protocol},
		"an instance with no name": {"/1.0/instances", say(list + `{"type":"container"}]}`), protocol},
		"a name that climbs":       {"/1.0/instances", say(list + `{"name":"../../1.0","type":"container"}]}`), protocol},
		"an object for a list":     {"/1.0/storage-pools", say(`{"type":"sync","metadata":{}}`), protocol},
		"cut off":                  {"/1.0/instances", cutOff(list + `{"name":"web1"`), []plugin.ErrorKind{plugin.Unreachable}},
		"endless metrics":          {"/1.0/metrics", endless("", "lxd_procs_total{name=\"a\",project=\"default\"} 1\n"), either},
		"metrics that are none":    {"/1.0/metrics", say("<html>{"), nil},
		"metrics that are denied":  {"/1.0/metrics", func(w http.ResponseWriter, _ *http.Request) { refusal(w, 403, "not authorized") }, nil},
		"resources that are none":  {"/1.0/resources", say("no"), nil}, // one figure less
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := patience
			if slices.Contains(c.kinds, plugin.Timeout) {
				limit = 3 * impatience
			}
			host := serve(t, limit, within(c.path, c.handler))
			_, _, err := gather(t.Context(), host, hypervisor.InventoryQuery{Detail: true})
			if len(c.kinds) == 0 {
				must(t, "reading the inventory", err)
				return
			}
			if !slices.Contains(c.kinds, plugin.KindOf(err)) {
				t.Errorf("error is %v, want one of %q", err, c.kinds)
			}
		})
	}
}

func cutOff(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(text)+100))
		_, _ = io.WriteString(w, text)
	}
}

// A server that drips is left, and one with a certificate of its own is not told anything.
func TestHostileConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers that do not respond: make check runs it")
	}
	t.Parallel()
	host := serve(t, impatience, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	_, err := host.Version(t.Context())
	wantKind(t, err, plugin.Timeout)

	var asked atomic.Int32
	server := serveTLS(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	target := targetOf(t, server, endpoint.Lifecycle)
	target.Fingerprint = strings.Repeat("AB:", 31) + "AB"
	other := open(t, newDriver(t, patience), target)
	ref := hypervisor.GuestRef{Kind: hypervisor.Container, Node: "lxd1", ID: "web1"}
	_, err = other.Act(t.Context(), ref, hypervisor.Stop)
	wantKind(t, err, plugin.Untrusted)
	_, err = other.Guest(t.Context(), ref)
	wantKind(t, err, plugin.Untrusted)
	if asked.Load() != 0 {
		t.Errorf("a server with a wrong certificate was asked %d times", asked.Load())
	}
}

// A hostile list is bounded in what is asked after it: pools without number do not make requests without number.
func TestHostileNumbersOfPools(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	pools := make([]string, 5000)
	for i := range pools {
		pools[i] = fmt.Sprintf(`{"name":"p%d","driver":"dir","status":"Created","locations":["none"]}`, i)
	}
	all := small("[]")
	all["/1.0/storage-pools"] = "[" + strings.Join(pools, ",") + "]"
	all["/1.0/resources"], all["/1.0/metrics"] = `{"cpu":{"total":2},"memory":{"used":-1,"total":9}}`, "# none\n"
	host := serve(t, patience, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if strings.HasSuffix(r.URL.Path, "/resources") && strings.HasPrefix(r.URL.Path, "/1.0/storage-pools/") {
			answer(w, `{"space":{"used":7,"total":3}}`) // more than there is
			return
		}
		all.ServeHTTP(w, r)
	})
	got := mustGather(t, host, hypervisor.InventoryQuery{Detail: true})
	if len(got.Storages) != 5000 || asked.Load() > 300 {
		t.Errorf("%d storages in %d requests", len(got.Storages), asked.Load())
	}
	if s := got.Storages[0]; s.Used != nil || s.Total != nil || got.Nodes[0].Memory != nil {
		t.Errorf("%+v, %+v", s, got.Nodes[0])
	}
}

// A certificate for more projects than are read says so, and none of their lists is asked for.
func TestManyProjects(t *testing.T) {
	t.Parallel()
	names := make([]string, 101)
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprint("p", i))
	}
	all := small("[]")
	all["/1.0/certificates/own"] = `{"type":"client","restricted":true,"projects":[` + strings.Join(names, ",") + `]}`
	delete(all, "/1.0/instances")
	_, _, err := gather(t.Context(), serve(t, patience, all.ServeHTTP), hypervisor.InventoryQuery{})
	if e := wantKind(t, err, plugin.Refused); !strings.Contains(e.Message, "101") {
		t.Error(e)
	}
}

// What a server says is not handed on with the secrets in it.
func TestSecretsInAnswers(t *testing.T) {
	t.Parallel()
	failed := strings.Replace(operation(400, "secret="+canary), `"metadata":null`, `"metadata":{"fds":{"0":"`+canary+`"}}`, 1)
	host := serve(t, patience, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/1.0/operations/" + uuid, "/1.0/operations/" + uuid + "/wait":
			answer(w, failed)
		case "/1.0/operations":
			answer(w, `{"failure":[`+failed+`]}`)
		case "/1.0/projects":
			answer(w, `[{"name":"default"}]`)
		default:
			small("[]").ServeHTTP(w, r)
		}
	})
	list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 5})
	must(t, "listing", err)
	log, err := host.TaskLog(t.Context(), uuid, hypervisor.LogQuery{})
	must(t, "reading the log", err)
	result, err := host.WaitTask(t.Context(), uuid, 0, func(hypervisor.LogLine) error { return nil })
	must(t, "waiting", err)
	text := fmt.Sprintf("%+v %+v %+v %+v", list, log, result, host)
	if strings.Contains(text, canary) || strings.Contains(text, "PRIVATE KEY") ||
		len(list.Tasks) != 1 || result.Status != hypervisor.TaskFailed {
		t.Error(text)
	}
	if !list.CompleteSince.IsZero() {
		t.Errorf("the list says that it is complete since %v", list.CompleteSince)
	}
}
