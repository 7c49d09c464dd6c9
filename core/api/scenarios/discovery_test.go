package scenarios

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/discovery"
	"github.com/hostler/hostler/core/api/metrics"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/promtest"
	"github.com/hostler/hostler/internal/waittest"
)

func registerDiscovery(a *op.API, d api.Deps) {
	discovery.Register(a, d.Discovery)
	metrics.Register(a, d.Series)
}

const discoveryPath = "/api/v1/sd/prometheus"

// hostileName is a name that would end labels, lines and JSON.
const hostileName = "we\"b\\\n{}<script>, \u202eevil"

// furnishDiscovery writes VM 1 with a hostile name, VM 2 without an address, the template 3, the containers 4, of the app 1 with pages,
// and 5, of the app 2, which the catalog knows, and VM 6 of team 2.
func furnishDiscovery(t *testing.T, s *servicetest.Resource) {
	t.Helper()
	inventorytest.Team(t, s.DB, 2)
	inventorytest.Write(t, s.DB,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1", Node: "n1"}}, Nodes: []inventorytest.Node{{Name: "n1"}},
			Guests: []inventorytest.Guest{
				{VMID: 100, Node: "n1", Name: hostileName, Tags: []string{"prod", "db"}, Pool: "shop"},
				{VMID: 101, Node: "n1", Name: "silent"},
				{VMID: 102, Node: "n1", Name: "base", Template: true},
				{Container: true, VMID: 103, Node: "n1", Name: "ct1", App: "wiki"},
				{Container: true, VMID: 104, Node: "n1", Name: "ct2", App: "blog", Status: "stopped"},
			}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "far", Node: "m1"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "m1", Name: "theirs"}}})
	for id, addresses := range map[int]string{1: "{fe80::1/64,2001:db8::5/64,192.0.2.5/24,nonsense,127.0.0.1/8}", 2: "{fe80::2,127.0.0.1}",
		3: "{192.0.2.7}", 4: "{2001:db8::8/64}", 5: "{192.0.2.9}", 6: "{198.51.100.1/24}"} {
		s.Exec("UPDATE guests SET addresses = $2 WHERE id = $1", id, addresses)
	}
	s.Exec("UPDATE nodes SET address = '192.0.2.250', version = '9.1' WHERE name = 'n1'")
	s.Exec("UPDATE apps SET printed_url = 'https://10.9.9.9:8443/admin?x=1' WHERE name = 'wiki'")
	s.Exec("UPDATE apps SET slug = 'blog' WHERE name = 'blog'")
	s.Exec(`INSERT INTO catalog_sources (name, enabled, pin) VALUES ('scripts', true, 'a')`)
	s.Exec(`INSERT INTO catalog_entries (source, slug, path, name, digest, entry_type, summary, categories, tags, installable, variant_of,
		icon, words, entry) VALUES ('scripts', 'blog', 'blog', 'Blog', '', 'ct', '', '{}', '{}', true, '', '', '',
		'{"slug":"blog","web":{"port":2368}}')`)
}

func getTargets(name, query string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
	return do(name, "GET", discoveryPath+query, "", as, status, code, contains...)
}

func TestDiscoveryOfTargets(t *testing.T) {
	t.Parallel()
	s := servicetest.NewResource(t, registerDiscovery)
	furnishDiscovery(t, s)
	of := func(one apitest.Scenario, lacks ...string) apitest.Scenario {
		one.Lacks = lacks
		return one
	}
	s.Run(t,
		of(getTargets("guests", "", apitest.Viewer, 200, "", `{"targets":["192.0.2.5:9100"],"labels":{`, `"__meta_hostler_tags":",prod,db,"`,
			`"__meta_hostler_pool":"shop"`, `"__meta_hostler_host":"rack1"`, `"__meta_hostler_kind":"vm"`, `["[2001:db8::8]:9100"]`,
			`"__meta_hostler_app":"wiki"`, `"__meta_hostler_status":"stopped"`, `["198.51.100.1:9100"]`), "silent", "base", "192.0.2.7"),
		getTargets("at a port", "?role=guest&port=9182", apitest.Viewer, 200, "", `["192.0.2.5:9182"]`),
		of(getTargets("of a team", "", apitest.In(2, identity.Viewer), 200, "", `"__meta_hostler_name":"theirs"`), "rack1", "wiki"),
		of(getTargets("apps", "?role=app", apitest.Viewer, 200, "", `{"targets":["[2001:db8::8]:8443"],"labels":{`,
			`"__meta_hostler_web_url":"https://[2001:db8::8]:8443/admin?x=1"`, `{"targets":["192.0.2.9:2368"]`,
			`"__meta_hostler_catalog_entry":"blog"`, `"__meta_hostler_web_url":"http://192.0.2.9:2368/"`), "theirs", "10.9.9.9"),
		getTargets("apps of a team without any", "?role=app", apitest.In(2, identity.Viewer), 200, "", "[]"),
		of(getTargets("nodes", "?role=node&port=1", apitest.Viewer, 200, "", `[{"targets":["192.0.2.250:1"],"labels":{`,
			`"__meta_hostler_version":"9.1"`), "m1"),
		getTargets("nodes of a team without any address", "?role=node", apitest.In(2, identity.Viewer), 200, "", "[]"),
		getTargets("no role", "", apitest.NoRole, 403, "forbidden"),
		getTargets("nobody", "", nil, 401, "unauthenticated"),
	)
	for _, query := range []string{"?role=x", "?role=", "?port=0", "?port=65536", "?port=-1", "?port=99999999999999999999", "?port=x",
		"?role=guest%00"} {
		s.Run(t, getTargets(query, query, apitest.Viewer, 422, "invalid"))
	}
}

// The service tells of itself where it is asked. What is no name of a server is not repeated.
func TestDiscoveryOfTheServiceItself(t *testing.T) {
	t.Parallel()
	s := servicetest.NewResource(t, registerDiscovery)
	for host, want := range map[string]string{
		"hostler.example": "hostler.example:80", "hostler.example:8480": "hostler.example:8480", "[2001:db8::1]": "[2001:db8::1]:80",
		"[2001:db8::1]:443": "[2001:db8::1]:443", "a b": "", "u:p@a": "", `a"b`: "", "a/b": "", ":80": "", "a:b": "", "ünï": "",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", discoveryPath+"?role=service", http.NoBody)
		r.Host = host
		answer, err := s.Do(t.Context(), r, apitest.Viewer)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if answer.Status != 422 || !strings.Contains(string(answer.Body), `["header","Host"]`) {
				t.Errorf("%s: %d %s", host, answer.Status, answer.Body)
			}
			continue
		}
		if answer.Status != 200 || strings.Count(string(answer.Body), `{"targets":["`+want+`"],"labels":{`) != 2 ||
			!strings.Contains(string(answer.Body), `"__metrics_path__":"/api/v1/metrics/guests","__scheme__":"http"`) {
			t.Errorf("%s: %d %s", host, answer.Status, answer.Body)
		}
	}
}

// A real Prometheus takes the targets of every role, names that are hostile among them, and reads the service's own figures.
func TestPrometheusTakesTheTargets(t *testing.T) {
	t.Parallel()
	s := servicetest.NewResourceOfUsers(t, registerDiscovery)
	furnishDiscovery(t, s)
	server := httptest.NewServer(s.API.Handler)
	t.Cleanup(server.Close)
	key := strings.TrimPrefix(identitytest.Key(t, s.Users, s.Account(apitest.Viewer), identitytest.KeySpec{Scopes: []string{"read"}}).Header,
		"Bearer ")
	configuration := "scrape_configs:\n"
	for _, role := range []string{"guest", "app", "node", "service"} {
		every := "1h"
		if role == "service" {
			every = "1s"
		}
		configuration += fmt.Sprintf(`- job_name: %s
  scrape_interval: %s
  scrape_timeout: 1s
  authorization: {type: Bearer, credentials: %q}
  http_sd_configs:
  - url: %q
    refresh_interval: 1s
    authorization: {type: Bearer, credentials: %[3]q}
  relabel_configs:
  - {source_labels: [__meta_hostler_name], target_label: name}
  - {source_labels: [__meta_hostler_tags], regex: ".*,prod,.*", target_label: stage, replacement: prod}
`, role, every, key, server.URL+discoveryPath+"?role="+role)
	}
	p := promtest.Start(t, configuration)
	found := map[string]promtest.Target{}
	waittest.Until(t, "prometheus has the targets", func() bool {
		for _, target := range p.Targets(t) {
			found[target.ScrapePool+" "+target.ScrapeURL] = target
		}
		return len(found) >= 9
	})
	address := server.URL
	want := []string{
		"app http://192.0.2.9:2368/metrics", "app http://[2001:db8::8]:8443/metrics",
		"guest http://192.0.2.5:9100/metrics", "guest http://192.0.2.9:9100/metrics", "guest http://198.51.100.1:9100/metrics",
		"guest http://[2001:db8::8]:9100/metrics", "node http://192.0.2.250:9100/metrics", "service " + address + "/api/v1/metrics/guests",
		"service " + address + "/metrics",
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Errorf("prometheus has\n%s", strings.Join(got, "\n"))
	}
	if got := found["guest http://192.0.2.5:9100/metrics"].DiscoveredLabels["__meta_hostler_name"]; got != hostileName {
		t.Errorf("the guest's name is %q", got)
	}
	if got := found["guest http://192.0.2.5:9100/metrics"].Labels["stage"]; got != "prod" {
		t.Errorf("a rule by the guest's tag says %q", got)
	}
	waittest.Until(t, "prometheus has read the guests", func() bool { return p.Query(t, `up{figures="guests"}`) == "1" })
	if got := p.Query(t, "count(hostler_guest_info)"); got != "6" {
		t.Errorf("it has read of %s guests", got)
	}
}
