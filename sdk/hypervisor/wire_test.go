package hypervisor_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// remote is a cluster in memory behind gRPC.
func remote(t *testing.T) (*memdriver.Cluster, hypervisor.Host) {
	t.Helper()
	driver := memdriver.New()
	cluster := driver.Add("a.mem:8006", memdriver.Spec{VMs: 3})
	client := drivertest.Remote(t, hypervisor.Service{Driver: driver, HostType: (*memdriver.Host)(nil)})
	host, err := client.Open(t.Context(), cluster.Target(endpoint.Monitoring))
	if err != nil {
		t.Fatal("opening:", err)
	}
	return cluster, host
}

// From when on a list of tasks is complete is kept, the beginning of time too; a plugin that says nothing of it knows of none.
func TestCompletenessOfTaskListsSurvives(t *testing.T) {
	t.Parallel()
	for driver, want := range map[*memdriver.Driver]time.Time{memdriver.New(): time.Unix(0, 0), memdriver.NewCertificateDriver().Driver: {}} {
		cluster := driver.Add("a.mem:8006", memdriver.Spec{})
		client := drivertest.Remote(t, hypervisor.Service{Driver: driver, HostType: (*memdriver.Host)(nil)})
		host, err := client.Open(t.Context(), cluster.Target(endpoint.Monitoring))
		if err != nil {
			t.Fatal("opening:", err)
		}
		list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 1})
		if err != nil || !list.CompleteSince.Equal(want) || list.CompleteSince.IsZero() != want.IsZero() {
			t.Errorf("complete since %v, want %v, %v", list.CompleteSince, want, err)
		}
	}
}

func TestErrorsSurvive(t *testing.T) {
	t.Parallel()
	cluster, host := remote(t)
	calls := map[string]func() error{
		"unary": func() error {
			_, err := host.Version(t.Context())
			return err
		},
		"stream": func() error {
			return host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
		},
	}
	for _, kind := range []plugin.ErrorKind{
		plugin.NotFound, plugin.Denied, plugin.TokenRejected, plugin.Unsupported, plugin.Unreachable,
		plugin.Untrusted, plugin.Forbidden, plugin.Timeout, plugin.Conflict, plugin.Invalid, plugin.Busy,
		plugin.Refused, plugin.Protocol, plugin.Internal,
	} {
		want := plugin.Errorf(kind, "ein Grund: %w", errors.New("ström"))
		want.Missing, want.Path, want.Field, want.Fingerprint = []string{"A|B", "C"}, "/pool/x", "name", "AB:CD"
		cluster.SetFault("any", memdriver.Fault{Err: fmt.Errorf("wrapped: %w", want)})
		for form, call := range calls {
			var got *plugin.Error
			if err := call(); !errors.As(err, &got) {
				t.Fatalf("%s %s: error is %v", form, kind, err)
			}
			if got.Kind != kind || got.Message != want.Message || !reflect.DeepEqual(got.Missing, want.Missing) ||
				got.Path != want.Path || got.Field != want.Field || got.Fingerprint != want.Fingerprint {
				t.Errorf("%s %s: error is %+v, want %+v", form, kind, got, want)
			}
		}
	}
}

func TestOtherErrors(t *testing.T) {
	t.Parallel()
	cluster, host := remote(t)
	for name, c := range map[string]struct {
		err  error
		kind plugin.ErrorKind
		has  string
	}{
		"plain":            {errors.New("no idea"), plugin.Internal, "no idea"},
		"a kind of later":  {plugin.Errorf("flooded", "wet"), plugin.Internal, "wet"},
		"own deadline":     {fmt.Errorf("asking: %w", context.DeadlineExceeded), plugin.Timeout, "asking"},
		"own cancellation": {fmt.Errorf("asking: %w", context.Canceled), plugin.Internal, "asking"},
		"not UTF-8":        {plugin.Errorf(plugin.Refused, "gr\xfcn"), plugin.Refused, "gr\uFFFDn"},
		"lines and NUL":    {plugin.Errorf(plugin.Refused, "a\r\nb\x00c%%"), plugin.Refused, "a\r\nb\x00c%"},
		"huge":             {plugin.Errorf(plugin.Refused, "%s", strings.Repeat("x", 1<<20)), plugin.Refused, "xxx"},
		"empty":            {plugin.Errorf(plugin.Refused, ""), plugin.Refused, ""},
	} {
		cluster.SetFault("any", memdriver.Fault{Err: c.err})
		_, err := host.Version(t.Context())
		if kind := plugin.KindOf(err); err == nil || kind != c.kind || !strings.Contains(err.Error(), c.has) || len(err.Error()) > 8192 {
			t.Errorf("%s: error of kind %s with %d bytes: %.100q", name, kind, len(fmt.Sprint(err)), err)
		}
	}
}

func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	cluster, host := remote(t)
	for name, knob := range map[string]memdriver.Fault{
		"error": {Leak: true}, "panic": {Panic: "with ", Leak: true}, "late": {Leak: true, Late: true},
	} {
		cluster.SetFault("any", knob)
		cluster.SetFault("inventory", knob)
		_, unary := host.Version(t.Context())
		stream := host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
		for _, err := range []error{unary, stream} {
			if err == nil && !knob.Late {
				t.Errorf("%s: no error", name)
			}
			if err != nil && strings.Contains(err.Error(), string(cluster.Target(endpoint.Monitoring).Credential.Secret)) {
				t.Errorf("%s: the error has the secret: %v", name, err)
			}
		}
	}
	secret := plugin.Secret("hush")
	for _, verb := range []string{"%v", "%s", "%q", "%x", "%#v", "%+v", "%d"} {
		if text := fmt.Sprintf(verb, endpoint.Credential{Secret: secret}); strings.Contains(text, "hush") || strings.Contains(text, "68757368") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

// plain is a driver whose host satisfies nothing optional and whose every answer is what the test says.
type plain struct {
	hypervisor.Driver
	host *plainHost
}

type plainHost struct {
	hypervisor.Host
	page hypervisor.Page
	get  hypervisor.Guest
}

func (d plain) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{Name: "plain", Version: "1", Product: "Plain"}, nil
}

func (d plain) Open(context.Context, endpoint.Target) (hypervisor.Host, error) { return d.host, nil }

func (h *plainHost) Inventory(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	return page(h.page)
}

func (h *plainHost) Guest(context.Context, hypervisor.GuestRef) (hypervisor.Guest, error) {
	return h.get, nil
}

func (h *plainHost) Close() error { return nil }

func open(t *testing.T, h *plainHost) (*hypervisor.Client, hypervisor.Host) {
	t.Helper()
	client := drivertest.Remote(t, hypervisor.Service{Driver: plain{host: h}, HostType: (*plainHost)(nil)})
	host, err := client.Open(t.Context(), endpoint.Target{})
	if err != nil {
		t.Fatal("opening:", err)
	}
	return client, host
}

func TestNothingOptional(t *testing.T) {
	t.Parallel()
	client, host := open(t, &plainHost{})
	if _, ok := hypervisor.As[hypervisor.LifecycleManager](host); ok {
		t.Error("the host is a lifecycler")
	}
	if _, ok := hypervisor.As[hypervisor.TaskStopper](host); ok {
		t.Error("the host is a task stopper")
	}
	if _, ok := hypervisor.As[hypervisor.NodeReader](host); ok {
		t.Error("the host is a node reader")
	}
	if _, ok := hypervisor.As[hypervisor.RoleScriptWriter](client); ok {
		t.Error("the driver is a role scripter")
	}
	// Whoever calls all the same is told so.
	_, err := host.(hypervisor.LifecycleManager).Act(t.Context(), hypervisor.GuestRef{}, hypervisor.Start)
	if plugin.KindOf(err) != plugin.Unsupported {
		t.Errorf("error is %v, want unsupported", err)
	}
}

func TestPanicsStayInside(t *testing.T) {
	t.Parallel()
	_, host := open(t, &plainHost{}) // Version is a nil method and panics
	for range 2 {
		_, err := host.Version(t.Context())
		if plugin.KindOf(err) != plugin.Internal || !strings.Contains(fmt.Sprint(err), "panicked") {
			t.Errorf("error is %v, want one of a panic", err)
		}
	}
}

func TestPromisedHostType(t *testing.T) {
	t.Parallel()
	client := drivertest.Remote(t, hypervisor.Service{Driver: plain{host: &plainHost{}}, HostType: (*memdriver.Host)(nil)})
	host, err := client.Open(t.Context(), endpoint.Target{})
	if err != nil {
		t.Fatal("opening:", err)
	}
	if _, err = host.Guest(t.Context(), hypervisor.GuestRef{}); plugin.KindOf(err) != plugin.Internal {
		t.Errorf("error is %v, want internal: the driver opened another type than it promised", err)
	}
}

func ptr[T any](v T) *T { return &v }

func TestEverythingSurvives(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	full := hypervisor.Guest{
		GuestRef: hypervisor.GuestRef{Kind: hypervisor.Container, Node: "n", ID: "a/ä", UID: "u-1"}, Number: ptr(int64(1 << 40)),
		Name: "ä", Status: hypervisor.GuestPaused,
		Template: true, HA: true, Lock: "backup", Pool: "p", Tags: []string{"a", "b"}, CPU: ptr(0.0), CPUs: ptr(0.5),
		Memory: ptr(int64(0)), MemoryTotal: ptr(int64(-1)), Disk: ptr(int64(1 << 62)), DiskTotal: ptr(int64(4)),
		NetIn: ptr(int64(5)), NetOut: ptr(int64(6)), DiskRead: ptr(int64(7)), DiskWrite: ptr(int64(8)), Uptime: ptr(int64(9)),
	}
	want := hypervisor.Page{
		Cluster: &hypervisor.Cluster{Name: "c", Quorate: true, Entry: "n", Partial: true},
		Nodes: []hypervisor.Node{{Name: "n", Status: hypervisor.NodeOnline, Address: "10.0.0.1", Fingerprint: "AB", CPU: ptr(0.1),
			CPUs: ptr(4.0), Memory: ptr(int64(1)), MemoryTotal: ptr(int64(2)), Disk: ptr(int64(3)), DiskTotal: ptr(int64(4)),
			Uptime: ptr(int64(5)), Level: "c"}, {Name: "o"}},
		Guests: []hypervisor.Guest{full, {GuestRef: hypervisor.GuestRef{ID: "2"}}},
		Storages: []hypervisor.Storage{{Name: "s", Node: "n", Type: "dir", Shared: true, Status: "available", Content: []string{"iso"},
			Used: ptr(int64(0)), Total: ptr(int64(1))}, {}},
		Samples: []hypervisor.Sample{
			{Guest: &full.GuestRef, At: at, Metric: "cpu", Value: 0.5},
			{Guest: &full.GuestRef, At: at.Add(time.Second), Metric: "net_in", Value: 1e15},
			{Node: "n", At: at, Metric: "load", Value: -1}, {Node: "n", Storage: "s", At: at, Metric: "disk_total", Value: 3},
			{Guest: &full.GuestRef, At: at, Metric: "memory_total", Value: 0},
		},
	}
	guest := full
	guest.At = at
	_, host := open(t, &plainHost{page: want, get: guest})
	var got []hypervisor.Page
	err := host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
		got = append(got, p)
		return nil
	})
	if err != nil || len(got) != 1 {
		t.Fatalf("%d pages, error %v", len(got), err)
	}
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("page is\n%+v, want\n%+v", got[0], want)
	}
	one, err := host.Guest(t.Context(), guest.GuestRef)
	if err != nil || !reflect.DeepEqual(one, guest) {
		t.Errorf("guest is\n%+v, error %v, want\n%+v", one, err, guest)
	}
}

func TestLargePageIsCut(t *testing.T) {
	t.Parallel()
	page := hypervisor.Page{Cluster: &hypervisor.Cluster{}, Guests: make([]hypervisor.Guest, 3000),
		Samples: make([]hypervisor.Sample, 20_000)}
	for i := range page.Guests {
		page.Guests[i] = hypervisor.Guest{GuestRef: hypervisor.GuestRef{ID: hypervisor.GuestID(strconv.Itoa(i))}, Name: "b\xffd"}
	}
	for i := range page.Samples {
		page.Samples[i] = hypervisor.Sample{Node: "n", Metric: "cpu", Value: float64(i)}
	}
	page.Samples[7].Metric = "of a later release" // is left out
	_, host := open(t, &plainHost{page: page})
	var guests, samples, clusters int
	err := host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
		if len(p.Guests) > 512 || len(p.Samples) > 8192 {
			t.Errorf("a page has %d guests and %d samples", len(p.Guests), len(p.Samples))
		}
		for _, g := range p.Guests {
			if g.ID != hypervisor.GuestID(strconv.Itoa(guests)) || g.Name != "b\uFFFDd" {
				t.Fatalf("guest %d is %s %q", guests, g.ID, g.Name)
			}
			guests++
		}
		samples += len(p.Samples)
		if p.Cluster != nil {
			clusters++
		}
		return nil
	})
	if err != nil || guests != 3000 || samples != 19_999 || clusters != 1 {
		t.Errorf("%d guests, %d samples, %d clusters, error %v", guests, samples, clusters, err)
	}
}

func TestLongLog(t *testing.T) {
	t.Parallel()
	cluster, host := remote(t)
	id := cluster.NewTask("copy", 2500)
	for range 30 {
		cluster.AddLine(id, strings.Repeat("x", 900_000)) // 27 MB in all, more than one message may have
	}
	cluster.AddLine(id, strings.Repeat("y", 20<<20))
	cluster.AddLine(id, "latin: \xe4")
	cluster.EndTask(id, hypervisor.TaskOK, "OK")
	log, err := host.TaskLog(t.Context(), id, hypervisor.LogQuery{})
	if err != nil || len(log.Lines) != 2532 || log.Total != 2532 {
		t.Fatalf("%d lines of %d, error %v", len(log.Lines), log.Total, err)
	}
	n := 0
	result, err := host.WaitTask(t.Context(), id, 0, func(line hypervisor.LogLine) error {
		if line != log.Lines[n] {
			t.Errorf("line %d is number %d with %d bytes", n+1, line.N, len(line.Text))
		}
		n++
		return nil
	})
	if err != nil || !result.OK() || n != 2532 {
		t.Errorf("%d lines, result %+v, error %v", n, result, err)
	}
	if last := log.Lines[2531].Text; last != "latin: \uFFFD" {
		t.Errorf("the last line is %q", last)
	}
}
