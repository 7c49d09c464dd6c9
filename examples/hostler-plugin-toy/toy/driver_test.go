package toy_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/plugin"

	"example.com/hostler-plugin-toy/toy"
)

// open opens a host of a new driver.
func open(t *testing.T, target endpoint.Target) hypervisor.Host {
	t.Helper()
	host, err := toy.New(hclog.NewNullLogger()).Open(t.Context(), target)
	if err != nil {
		t.Fatal("opening:", err)
	}
	return host
}

// What is left out is reported and never reached, even by somebody who calls it all the same.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	w := start(t)
	driver := drivertest.Remote(t, hypervisor.Service{Driver: toy.New(hclog.NewNullLogger()), HostType: (*toy.Host)(nil)})
	info, err := driver.Info(t.Context())
	if want := []string{"lifecycle", "snapshot", "credential_read", "enrol"}; err != nil || !slices.Equal(info.Abilities, want) {
		t.Fatalf("info is %+v, error %v, want the abilities %q", info, err, want)
	}
	host, err := driver.Open(t.Context(), w.target(t, endpoint.Lifecycle))
	if err != nil {
		t.Fatal("opening:", err)
	}
	if _, ok := hypervisor.As[hypervisor.TaskStopper](host); ok {
		t.Error("the host is a task stopper")
	}
	if _, ok := hypervisor.As[hypervisor.RoleScriptWriter](driver); ok {
		t.Error("the driver is a role scripter")
	}
	err = host.(hypervisor.TaskStopper).StopTask(t.Context(), w.NewTask("running", ""))
	if plugin.KindOf(err) != plugin.Unsupported {
		t.Errorf("error is %v, want unsupported", err)
	}
}

// elsewhere is an endpoint with a right certificate and any answer.
func elsewhere(t *testing.T, answer http.HandlerFunc) endpoint.Target {
	t.Helper()
	server := httptest.NewTLSServer(answer)
	t.Cleanup(server.Close)
	return endpoint.Target{
		Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()), AllowLocal: true,
		Credential: endpoint.Credential{ID: "me", Secret: "hush-hush"},
	}
}

func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		kind   plugin.ErrorKind
	}{
		"a web page":       {200, "<html>", plugin.Protocol},
		"nothing":          {200, "", plugin.Protocol},
		"other JSON":       {200, `"text"`, plugin.Protocol},
		"a number too big": {200, `{"version":1e999}`, plugin.Protocol},
		"a broken page":    {502, "<html>Bad Gateway</html>", plugin.Protocol},
		"a redirect":       {302, "", plugin.Protocol},
		"its own reasons":  {500, `{"error":"out of toys"}`, plugin.Refused},
		"no end":           {200, `{"version":"` + strings.Repeat("x", 5<<20), plugin.Protocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			host := open(t, elsewhere(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Location", "/v1/elsewhere")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			_, err := host.Version(t.Context())
			if plugin.KindOf(err) != c.kind || strings.Contains(err.Error(), "hush") {
				t.Errorf("error is %v, want %s", err, c.kind)
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
		})
	}
}

// A list that was cut short must be an error: whoever takes it for whole takes the rest for deleted.
func TestCutList(t *testing.T) {
	t.Parallel()
	for _, list := range []string{``, `[`, `[{"name":"a"},`, `[{"name":"a"}`, `[{"name":"a"},{"name":`, `null`, `{"a":[]}`, `[[]]`} {
		host := open(t, elsewhere(t, func(w http.ResponseWriter, r *http.Request) {
			body := list
			if r.URL.Path == "/v1/machine" {
				body = `{"name":"toy1"}`
			}
			_, _ = io.WriteString(w, body)
		}))
		err := host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
		if kind := plugin.KindOf(err); kind != plugin.Protocol && kind != plugin.Unreachable {
			t.Errorf("%q: error is %v, want protocol or unreachable", list, err)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := start(t)
	for range 1000 {
		w.NewGuest("vm", "down", "")
	}
	pages, guests := 0, 0
	err := open(t, w.target(t, endpoint.Monitoring)).Inventory(t.Context(), hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
		pages++
		guests += len(p.Guests)
		return nil
	})
	if err != nil || guests != 1000 || pages != 6 {
		t.Errorf("%d guests in %d pages, error %v, want 1000 in 6", guests, pages, err)
	}
}

func TestSecretStaysOutOfTheLog(t *testing.T) {
	t.Parallel()
	w := start(t)
	var log bytes.Buffer
	driver := toy.New(hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &log}))
	for _, target := range []endpoint.Target{w.target(t, endpoint.Monitoring), w.wrong(t, endpoint.Monitoring)} {
		host, err := driver.Open(t.Context(), target)
		if err != nil {
			t.Fatal("opening:", err)
		}
		_, _ = host.Version(t.Context())
		_, key, _ := strings.Cut(string(target.Credential.Secret), "BEGIN PRIVATE KEY-----\n")
		if log.Len() == 0 || len(key) < 64 || strings.Contains(log.String(), key[:64]) {
			t.Errorf("the log is %q: want requests, and no secret", log.String())
		}
	}
}

// Who says the id of a known certificate and has another key gets no connection of the known one.
func TestAnIDProvesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	driver := toy.New(hclog.NewNullLogger())
	known, other := w.target(t, endpoint.Monitoring), w.wrong(t, endpoint.Monitoring)
	other.Credential.ID = known.Credential.ID
	for target, want := range map[endpoint.Target]plugin.ErrorKind{known: "", other: plugin.TokenRejected} {
		for range 2 {
			host, err := driver.Open(t.Context(), target)
			if err != nil {
				t.Fatal("opening:", err)
			}
			if _, err = host.Version(t.Context()); err == nil && want != "" || err != nil && plugin.KindOf(err) != want {
				t.Errorf("error is %v, want %q", err, want)
			}
		}
	}
}

// A code is sent to the server that it names, even by somebody who has pinned none.
func TestACodePinsItsServer(t *testing.T) {
	t.Parallel()
	w := start(t)
	driver := toy.New(hclog.NewNullLogger())
	code := w.newCode(t, endpoint.Monitoring, time.Hour)
	var asked atomic.Int32
	fraud := elsewhere(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	made, err := driver.NewCredential(t.Context(), endpoint.Monitoring)
	if err != nil {
		t.Fatal("making a credential:", err)
	}
	fraud.Fingerprint, fraud.Credential = "", made
	if err := driver.Redeem(t.Context(), fraud, code); plugin.KindOf(err) != plugin.Untrusted || asked.Load() != 0 {
		t.Errorf("error is %v after %d requests, want untrusted and none", err, asked.Load())
	}
	right := endpoint.Target{Address: w.Address(), AllowLocal: true, Credential: made}
	if err := driver.Redeem(t.Context(), right, code); err != nil {
		t.Error("redeeming it at its server:", err)
	}
}

// A guest that loses its name between the driver's look and its action is left alone.
func TestAGuestThatIsReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	uuids := []string{"first", "second"}
	var acted atomic.Value
	host := open(t, elsewhere(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			acted.Store(r.URL.Query().Get("uuid"))
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"no such guest"}`)
			return
		}
		_, _ = io.WriteString(w, `{"name":"web","uuid":"`+uuids[0]+`","type":"vm","node":"toy1","state":"down"}`)
	}))
	ref := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "toy1", ID: "web"}
	for _, uid := range uuids {
		ref.UID = uid
		if _, err := host.(*toy.Host).Act(t.Context(), ref, hypervisor.Start); plugin.KindOf(err) != plugin.NotFound {
			t.Errorf("UID %q: error is %v, want not found", uid, err)
		}
	}
	if got := acted.Load(); got != uuids[0] {
		t.Errorf("the action was for the guest %v, want %s", got, uuids[0])
	}
}
