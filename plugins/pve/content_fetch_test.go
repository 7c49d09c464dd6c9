package pve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// fetchFixture is a cluster whose token for lifecycle may fetch files.
func fetchFixture(t *testing.T) *fixture {
	t.Helper()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1, TaskDuration: -1})
	w.SetRole("ServiceLifecycle", append(pve.Privileges(endpoint.Lifecycle), "Datastore.AllocateTemplate", "Sys.AccessNetwork")...)
	return w
}

const signed = "https://files.example.com/a.iso?signature=canary-of-an-address"

func fetching(change func(*hypervisor.DownloadSpec)) hypervisor.DownloadSpec {
	spec := hypervisor.DownloadSpec{Storage: "nas", Node: "pve1", Content: "iso", Filename: "a.iso", URL: signed}
	if change != nil {
		change(&spec)
	}
	return spec
}

func TestDownload(t *testing.T) {
	t.Parallel()
	w := fetchFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	id, err := host.Download(t.Context(), fetching(nil))
	if result := ended(t, host, id, err); !result.OK() {
		t.Fatalf("it ended %+v", result)
	}
	if result := again(t, host, fetching(nil)); result.OK() || !strings.Contains(result.Message, "refusing to override") {
		t.Errorf("a file that is there: %+v", result)
	}
	down := fetching(func(d *hypervisor.DownloadSpec) { d.URL, d.Filename = "https://nothing.invalid/b.iso", "b.iso" })
	if result := again(t, host, down); result.Status != hypervisor.TaskFailed || !strings.Contains(result.Message, "download failed") {
		t.Errorf("a server that is not there: %+v", result)
	}
}

// The reason that only the log has is in the error, also of a task that is followed from the end of its log.
func TestDownload_SaysWhyItFailed(t *testing.T) {
	t.Parallel()
	w := fetchFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	id, err := host.Download(t.Context(), fetching(func(d *hypervisor.DownloadSpec) {
		d.URL, d.Filename = "https://files.example.com/missing.iso", "missing.iso"
	}))
	must(t, "downloading", err)
	lines, result, err := follow(t, host, id, 0)
	must(t, "waiting", err)
	_, later, err := follow(t, host, id, len(lines))
	must(t, "waiting again", err)
	for _, got := range []hypervisor.TaskResult{result, later} {
		if !strings.HasSuffix(got.Message, "failed: exit code 8: ERROR 404: Not Found.") || strings.Contains(got.Message, "missing.iso") {
			t.Errorf("it ended %+v", got)
		}
	}
}

func again(t *testing.T, host *pve.Host, spec hypervisor.DownloadSpec) hypervisor.TaskResult {
	t.Helper()
	id, err := host.Download(t.Context(), spec)
	return ended(t, host, id, err)
}

// What is refused names the field or the privilege, and never has the address in it.
func TestDownloadIsRefused(t *testing.T) {
	t.Parallel()
	w := fetchFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	refused := func(host *pve.Host, spec hypervisor.DownloadSpec, kinds ...plugin.ErrorKind) *plugin.Error {
		t.Helper()
		_, err := host.Download(t.Context(), spec)
		if err == nil || !slices.Contains(kinds, plugin.KindOf(err)) {
			t.Errorf("%+v: %v", spec.Filename, err)
			return &plugin.Error{}
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("the address is in %v", err)
		}
		return wantKind(t, err, plugin.KindOf(err))
	}
	for name, filename := range map[string]string{
		"a path": "../a.iso", "a sign": "a b.iso", "an ending": "a.txt", "only an ending": ".iso", "NUL": "a\x00.iso",
		"too long": strings.Repeat("a", 260) + ".iso", "none": "",
	} {
		spec := fetching(func(d *hypervisor.DownloadSpec) { d.Filename = filename })
		if e := refused(host, spec, plugin.Invalid); e.Field != "filename" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := refused(host, fetching(func(d *hypervisor.DownloadSpec) { d.Content = "snippets" }), plugin.Invalid); e.Field != "content" {
		t.Errorf("%+v", e)
	}
	refused(host, fetching(func(d *hypervisor.DownloadSpec) { d.Storage = "none" }), plugin.NotFound, plugin.Refused)
	refused(host, fetching(func(d *hypervisor.DownloadSpec) { d.Storage = "../nas" }), plugin.NotFound)
	refused(host, fetching(func(d *hypervisor.DownloadSpec) { d.Node = "pve9" }), plugin.NotFound)
	refused(host, fetching(func(d *hypervisor.DownloadSpec) { d.Storage = "local-lvm" }), plugin.Invalid, plugin.Refused)
	if n := w.Stats().Requests["POST /nodes/{node}/storage/{storage}/download-url"]; n > 3 {
		t.Errorf("%d requests were sent", n)
	}
	for missing, path := range map[string]string{"Datastore.AllocateTemplate": "/storage/nas", "Sys.AccessNetwork": "/nodes/pve1"} {
		has := slices.DeleteFunc([]string{"Datastore.AllocateTemplate", "Sys.AccessNetwork", "Datastore.Audit", "Sys.Audit"},
			func(p string) bool { return p == missing })
		without := w.open(t, w.target(endpoint.Lifecycle, w.token("/", true, has...)))
		if e := refused(without, fetching(nil), plugin.Denied); !slices.Equal(e.Missing, []string{missing}) || e.Path != path || e.Remedy == "" {
			t.Errorf("without %s: %+v", missing, e)
		}
	}
	// A hypervisor that repeats what it was sent.
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "cannot fetch " + signed, Match: pvesim.Match{Method: "POST"}})
	refused(host, fetching(nil), plugin.Refused)
	w.ClearFaults()
	before := w.Stats().Requests["POST /nodes/{node}/storage/{storage}/download-url"]
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultCut, After: true, Match: pvesim.Match{Method: "POST"}})
	refused(host, fetching(nil), plugin.Unreachable)
	if n := w.Stats().Requests["POST /nodes/{node}/storage/{storage}/download-url"] - before; n != 1 {
		t.Errorf("a request whose answer was lost was sent %d times", n)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	w := fetchFixture(t)
	reading, host := w.host(t, endpoint.Monitoring), w.host(t, endpoint.Lifecycle)
	all, err := reading.Templates(t.Context(), "pve1")
	must(t, "listing", err)
	if len(all) != 2 || all[0].Name == "" || all[0].Title == "" || all[0].OS == "" || all[0].Version == "" {
		t.Fatalf("there are %+v", all)
	}
	spec := hypervisor.TemplateSpec{Storage: "nas", Node: "pve1", Name: all[0].Name}
	id, err := host.FetchTemplate(t.Context(), spec)
	if result := ended(t, host, id, err); !result.OK() {
		t.Fatalf("it ended %+v", result)
	}
	for name, c := range map[string]struct {
		change func(*hypervisor.TemplateSpec)
		kinds  []plugin.ErrorKind
		field  string
	}{
		"a template": {func(s *hypervisor.TemplateSpec) { s.Name = "none.tar.gz" }, []plugin.ErrorKind{plugin.Invalid}, "template"},
		"a storage":  {func(s *hypervisor.TemplateSpec) { s.Storage = "none" }, []plugin.ErrorKind{plugin.NotFound, plugin.Refused}, ""},
		"a path":     {func(s *hypervisor.TemplateSpec) { s.Storage = "../nas" }, []plugin.ErrorKind{plugin.NotFound}, ""},
		"a node":     {func(s *hypervisor.TemplateSpec) { s.Node = "pve9" }, []plugin.ErrorKind{plugin.NotFound}, ""},
		"a bad node": {func(s *hypervisor.TemplateSpec) { s.Node = "../pve1" }, []plugin.ErrorKind{plugin.Invalid, plugin.NotFound}, ""},
		"disks only": {func(s *hypervisor.TemplateSpec) { s.Storage = "local-lvm" }, []plugin.ErrorKind{plugin.Refused}, ""},
	} {
		wrong := spec
		c.change(&wrong)
		_, err := host.FetchTemplate(t.Context(), wrong)
		if err == nil || !slices.Contains(c.kinds, plugin.KindOf(err)) {
			t.Errorf("%s: %v", name, err)
		} else if e := wantKind(t, err, plugin.KindOf(err)); c.field != "" && e.Field != c.field {
			t.Errorf("%s: %+v", name, e)
		}
	}
	_, err = reading.FetchTemplate(t.Context(), spec)
	if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 || e.Remedy == "" {
		t.Errorf("without the privilege: %+v", e)
	}
}

// A list of templates that is not what it should be is cut to what can be shown.
func TestHostileTemplates(t *testing.T) {
	t.Parallel()
	list := func(answer string) ([]hypervisor.Template, error) {
		return saying(t, map[string]string{"GET /nodes/pve1/aplinfo": answer}).Templates(t.Context(), "pve1")
	}
	all, err := list(`[{"template":""},{},{"template":"` + strings.Repeat("x", 300) + `"},{"template":"a.tar.gz","headline":"` +
		strings.Repeat("h", 100_000) + `","version":7,"description":"` + strings.Repeat("d", 100_000) + `"}]`)
	must(t, "listing", err)
	if len(all) != 1 || all[0].Name != "a.tar.gz" || all[0].Version != "7" || len(all[0].Title) > 10_000 || len(all[0].Description) > 5_000 {
		t.Errorf("there are %d, %+.200v", len(all), all)
	}
	all, err = list("[" + strings.TrimSuffix(strings.Repeat(`{"template":"a.tar.gz"},`, 6000), ",") + "]")
	if err != nil || len(all) != 5000 {
		t.Errorf("of 6000 there are %d, %v", len(all), err)
	}
	for _, answer := range []string{`{"a":1}`, `"text"`, `[1]`, ``, `[{"template":"a`} {
		if all, err := list(answer); err == nil {
			t.Errorf("%s is taken for %+v", answer, all)
		}
	}
}
