package scenarios

import (
	"cmp"
	"net/http"
	"net/url"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/search"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
)

func registerSearch(a *op.API, d api.Deps) { search.Register(a, d.Search) }

func TestSearch(t *testing.T) {
	t.Parallel()
	r := servicetest.NewResource(t, registerSearch)
	inventorytest.Write(t, r.DB,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1", Node: "pve1"}},
			Nodes: []inventorytest.Node{{Name: "pve1"}}, Guests: []inventorytest.Guest{
				{VMID: 101, Node: "pve1", Name: "web", Tags: []string{"prod"}}, {VMID: 102, Node: "pve1", Name: "web-2"}}},
		inventorytest.Cluster{Team: 7, Hosts: []inventorytest.Host{{Name: "lab"}}, Guests: []inventorytest.Guest{{VMID: 5, Name: "web-lab"}}})
	at := func(q string) string { return "/api/v1/search?q=" + url.QueryEscape(q) }
	scenarios := []apitest.Scenario{
		{Name: "words", URL: at("web"), As: apitest.Viewer, Contains: []string{`[{"kind":"vm","id":1,"name":"web"`, `"web-2"`,
			`"web-lab"`}},
		{Name: "fields", URL: at("tag:prod node:pve* is:vm"), As: apitest.Viewer, Contains: []string{`"web"`},
			Lacks: []string{"web-2"}},
		{Name: "everything", URL: "/api/v1/search", As: apitest.Viewer, Contains: []string{`"rack1"`, `"kind":"node"`, `"lab"`}},
		{Name: "a page", URL: at("web") + "&per_page=1&page=2", As: apitest.Viewer, Contains: []string{`"web-2"`},
			Lacks: []string{`"name":"web"`}},
		{Name: "nothing", URL: at("zebra"), As: apitest.Viewer, Contains: []string{"[]"}},
		{Name: "another team", URL: "/api/v1/search", As: apitest.In(7, identity.Viewer), Contains: []string{`"web-lab"`, `"lab"`},
			Lacks: []string{"rack1", "pve1", `"web"`}},
		{Name: "another team asks for it", URL: at("web tag:prod"), As: apitest.In(7, identity.Owner), Contains: []string{"[]"}},
		{Name: "a stranger", URL: at("web"), Status: http.StatusUnauthorized, Error: "unauthenticated"},
		{Name: "too many terms", URL: at("a b c d e f g h i j k l m"), As: apitest.Viewer, Status: 422, Error: "invalid",
			Contains: []string{"too_many_terms", `"q"`}},
		{Name: "empty", URL: "/api/v1/search?q=", As: apitest.Viewer, Status: 422, Error: "invalid"},
		{Name: "NUL", URL: "/api/v1/search?q=a%00b", As: apitest.Viewer, Status: 422, Error: "invalid"},
		{Name: "no UTF-8", URL: "/api/v1/search?q=a%ffb", As: apitest.Viewer, Status: 422, Error: "invalid"},
		{Name: "hostile", URL: at(`'); DROP TABLE guests; -- %_\ $1 {6} ?`), As: apitest.Viewer, Contains: []string{"[]"}},
	}
	for i := range scenarios {
		scenarios[i].Method, scenarios[i].Status = http.MethodGet, cmp.Or(scenarios[i].Status, http.StatusOK)
	}
	r.Run(t, scenarios...)
}
