package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/catalog"
	"github.com/hostler/hostler/core/api/catalog/catalogtest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/catalog"
	sources "github.com/hostler/hostler/sdk/catalog/catalogtest"
)

func registerCatalog(a *op.API, d api.Deps) { catalog.Register(a, d.Catalog) }

// catalogFixture is the resource with a source that is on and was refreshed.
type catalogFixture struct {
	*servicetest.Resource
	mem *sources.Memory
}

func newCatalog(t *testing.T) *catalogFixture {
	t.Helper()
	f := &catalogFixture{mem: catalogtest.Source()}
	f.Resource = servicetest.NewResource(t, registerCatalog, func(c *service.Config) {
		c.Catalogs, c.Loops = servicetest.Catalogs{"mem": f.mem}, []service.Loop{service.Jobs}
	})
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	inventorytest.Write(t, f.DB, inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "lab", Node: "n1"}},
		Nodes: []inventorytest.Node{{Name: "n1"}}},
		inventorytest.Cluster{Team: 7, Hosts: []inventorytest.Host{{Name: "theirs"}}})
	return f
}

func (f *catalogFixture) ask(t *testing.T, method, url, body string, as *apitest.Caller, status int, code string,
	contains ...string) []byte {
	t.Helper()
	return f.Expect(t, method, "catalog"+url, body, as, status, code, contains...).Body
}

func (f *catalogFixture) on(t *testing.T) {
	t.Helper()
	f.ask(t, "PATCH", "/sources/mem", fmt.Sprintf(`{"enabled":true,"trust_digest":%q}`, catalogtest.Trust()), apitest.Owner, 200, "",
		`"enabled":true`)
}

func (f *catalogFixture) refresh(t *testing.T) {
	t.Helper()
	f.ask(t, "POST", "/refresh", "", apitest.Admin, 202, "", `"kind":"catalog.refresh"`)
	waittest.Until(t, "the refresh", func() bool { return f.Value("SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')") == "0" })
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	f := newCatalog(t)
	f.ask(t, "GET", "/status", "", apitest.Viewer, 200, "", `"stale":true`, `"age_s":null`, `"sources":[]`)
	f.ask(t, "GET", "", "", apitest.Viewer, 200, "", "[]")
	f.on(t)
	f.refresh(t)
	f.ask(t, "GET", "/status", "", apitest.Viewer, 200, "", `"stale":false`, `"entries":2`)
	f.ask(t, "GET", "?entry_type=ct&q=wikki&sort=nonsense", "", apitest.Viewer, 200, "", `[{"slug":"mem/wiki","name":"Wiki"`,
		`"category":"documents"`)
	f.ask(t, "GET", "", "", &apitest.Caller{Role: identity.Viewer, Team: 7}, 200, "", `"mem/wiki"`)
	f.ask(t, "GET", "?q=", "", apitest.Viewer, 422, "invalid")
	f.ask(t, "GET", "/mem%2Fwiki", "", apitest.Viewer, 200, "", `"description":"A wiki that everybody can edit"`, `"commit":"memory@`)
	f.ask(t, "GET", "/wiki", "", apitest.Viewer, 404, "not_found")
	f.ask(t, "GET", "/mem%2F..%2Fwiki", "", apitest.Viewer, 404, "not_found")
	f.ask(t, "GET", "/mem%2Fwiki/icon", "", apitest.Viewer, 404, "not_found")
	f.ask(t, "GET", "", "", nil, 401, "unauthenticated")
	f.ask(t, "POST", "/refresh", "", apitest.Operator, 403, "forbidden")
	f.ask(t, "POST", "/refresh", "", &apitest.Caller{Role: identity.Owner, Team: 7}, 403, "forbidden")
}

func TestIconsOfTheCatalog(t *testing.T) {
	t.Parallel()
	f := newCatalog(t)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	data := append(picture.Bytes(), make([]byte, 2000)...)
	f.mem.SetIcon("mine", data)
	f.mem.Add(sources.State{Entries: []sdk.Entry{{Slug: "a", Name: "A", Icon: "mine"}, {Slug: "b", Name: "B"}}})
	f.on(t)
	f.refresh(t)
	var tag string
	f.Run(t, apitest.Scenario{Name: "icon", URL: "/api/v1/catalog/mem%2Fa/icon", As: apitest.Viewer, Status: 200, After: func(t *testing.T,
		a *apitest.Response) {
		tag = a.Header.Get("ETag")
		policy := a.Header.Get("Content-Security-Policy")
		if a.Header.Get("Content-Type") != "image/png" || a.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(policy,
			"sandbox") ||
			string(a.Body) != string(data) || a.Header.Get("Content-Disposition") != "" {
			t.Errorf("%v, %d bytes", a.Header, len(a.Body))
		}
	}})
	f.Run(t, apitest.Scenario{Name: "again", URL: "/api/v1/catalog/mem%2Fa/icon", As: apitest.Viewer, Status: http.StatusNotModified,
		Headers: map[string]string{"If-None-Match": tag}})
	f.Run(t, apitest.Scenario{Name: "another", URL: "/api/v1/catalog/mem%2Fa/icon", As: apitest.Viewer, Status: 200,
		Headers: map[string]string{"If-None-Match": `"another"`}})
	f.ask(t, "GET", "/mem%2Fb/icon", "", apitest.Viewer, 404, "not_found")
}

func TestSourcesOfTheCatalog(t *testing.T) {
	t.Parallel()
	f := newCatalog(t)
	f.ask(t, "GET", "/sources", "", apitest.Admin, 200, "", `"name":"mem"`, `"enabled":false`, `"installed":true`, `Whoever has started it."`)
	f.ask(t, "GET", "/sources", "", apitest.Viewer, 403, "forbidden")
	f.ask(t, "PATCH", "/sources/mem", `{"enabled":true}`, apitest.Admin, 403, "forbidden")
	f.ask(t, "PATCH", "/sources/mem", `{"enabled":true,"options":{"nothing":"x"}}`, apitest.Owner, 422, "invalid",
		"does not have this option")
	f.ask(t, "PATCH", "/sources/mem", `{"enabled":true}`, apitest.Owner, 409, "consent_required", `"trust":"Whoever has started it."`,
		`"trust_digest":"`+catalogtest.Trust())
	f.ask(t, "PATCH", "/sources/mem", `{}`, apitest.Owner, 422, "invalid")
	f.ask(t, "PATCH", "/sources/mem", `{"options":{"note":1}}`, apitest.Owner, 422, "invalid")
	f.ask(t, "PATCH", "/sources/mem", `{"options":{"nothing":"x"}}`, apitest.Owner, 422, "invalid")
	f.ask(t, "PATCH", "/sources/nobody", `{"enabled":false}`, apitest.Owner, 404, "not_found")
	f.ask(t, "PATCH", "/sources/..", `{"enabled":false}`, apitest.Owner, 404, "not_found")
	f.on(t)
	f.ask(t, "PATCH", "/sources/mem", `{"options":{"note":"x"},"allow_private":true}`, apitest.Owner, 200, "", `"value":"x"`,
		`"allow_private":true`)
	if got := f.Value("SELECT string_agg(result || ' ' || error, ', ' ORDER BY id) FROM audit WHERE action = " +
		"'catalog_source.update'"); !strings.Contains(got,
		"refused consent_required") || !strings.HasSuffix(got, "ok , ok ") {
		t.Error(got)
	}
	f.refresh(t)
	f.mem.Add(sources.State{Entries: []sdk.Entry{{Slug: "new", Name: "New"}}})
	f.refresh(t)
	var all []struct {
		Held struct {
			Digest  string
			Removed []string
		}
	}
	if err := json.Unmarshal(f.ask(t, "GET", "/sources", "", apitest.Admin, 200, "", `"removed":["mem/old","mem/wiki"]`), &all); err != nil {
		t.Fatal(err)
	}
	f.ask(t, "POST", "/sources/mem/accept", fmt.Sprintf(`{"digest":%q}`, catalogtest.Trust()), apitest.Owner, 409, "plan_stale")
	f.ask(t, "POST", "/sources/mem/accept", fmt.Sprintf(`{"digest":%q}`, all[0].Held.Digest), apitest.Admin, 403, "forbidden")
	f.ask(t, "POST", "/sources/mem/accept", fmt.Sprintf(`{"digest":%q}`, all[0].Held.Digest), apitest.Owner, 202, "", `"job"`)
	waittest.Until(t, "the refresh", func() bool { return f.Value("SELECT string_agg(slug, ' ') FROM catalog_entries") == "new" })
}

func TestPlanOfAnInstall(t *testing.T) {
	t.Parallel()
	f := newCatalog(t)
	f.on(t)
	f.refresh(t)
	answer := f.ask(t, "GET", "/mem%2Fwiki/plan?host=1", "", apitest.Admin, 200, "", `"path":"install.sh"`, `"given":false`,
		`"consent_required"`)
	var plan struct{ Sum string }
	if err := json.Unmarshal(answer, &plan); err != nil {
		t.Fatal(err)
	}
	f.ask(t, "GET", "/mem%2Fwiki/files?path=install.sh&sum="+plan.Sum, "", apitest.Admin, 200, "", `"text":"echo all done\n"`)
	f.ask(t, "GET", "/mem%2Fwiki/files?path=../install.sh&sum="+plan.Sum, "", apitest.Admin, 404, "not_found")
	f.ask(t, "GET", "/mem%2Fold/files?path=install.sh&sum="+plan.Sum, "", apitest.Admin, 404, "not_found")
	f.ask(t, "GET", "/mem%2Fwiki/files?path=install.sh&sum="+plan.Sum, "", apitest.Operator, 403, "forbidden")
	f.ask(t, "GET", "/mem%2Fwiki/plan", "", apitest.Admin, 422, "invalid")
	f.ask(t, "GET", "/mem%2Fwiki/plan?host=99", "", apitest.Admin, 404, "not_found")
	f.ask(t, "GET", "/mem%2Fwiki/plan?host=1", "", apitest.Operator, 403, "forbidden")
	f.ask(t, "GET", "/mem%2Fwiki/plan?host=1", "", &apitest.Caller{Role: identity.Owner, Team: 7}, 404, "not_found")
	f.ask(t, "GET", "/mem%2Fwiki/plan?host=2", "", &apitest.Caller{Role: identity.Admin, Team: 7}, 200, "", `"name":"theirs"`)
	f.mem.SetFault(func(string) error { return fmt.Errorf("secret-canary") })
	f.ask(t, "GET", "/mem%2Fwiki/plan?host=1", "", apitest.Admin, 200, "") // it is kept
	body := f.ask(t, "GET", "/mem%2Fwiki/plan?host=1&purpose=update", "", apitest.Admin, 502, "catalog_source_error", `"reason":"internal"`)
	if strings.Contains(string(body), "secret-canary") {
		t.Errorf("%s", body)
	}
}
