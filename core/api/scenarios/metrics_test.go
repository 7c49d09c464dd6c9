package scenarios

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/metrics"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/promtest"
	"github.com/hostler/hostler/internal/waittest"
)

func registerMetrics(a *op.API, d api.Deps) { metrics.Register(a, d.Series) }

// newMetrics serves the resource on the hosts 1, of the default team, and 2, of team 2, with a VM each.
func newMetrics(t *testing.T) *servicetest.Resource {
	t.Helper()
	s := servicetest.NewResource(t, registerMetrics)
	inventorytest.Write(t, s.DB,
		inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "a", Node: "n1"}}, Nodes: []inventorytest.Node{{Name: "n1"}},
			Storages: []inventorytest.Storage{{Node: "n1", Name: "local"}}, Guests: []inventorytest.Guest{{VMID: 100, Name: "web"}}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "b", Node: "n1"}}, Guests: []inventorytest.Guest{{VMID: 100,
			Name: "db"}}})
	if err := metric.EnsurePartitions(t.Context(), s.DB, time.Now()); err != nil {
		t.Fatal(err)
	}
	return s
}

const metricsQuery = "/api/v1/metrics/query"

func TestQueryMetrics(t *testing.T) {
	t.Parallel()
	s := newMetrics(t)
	from := time.Now().UTC().Truncate(time.Minute).Add(-time.Hour)
	s.Exec("INSERT INTO metric_samples (at, target_kind, target_id, cpu) VALUES ($1, 'guest', 1, 0.5)", from.Add(30*time.Second))
	s.Exec(`INSERT INTO jobs (kind, status, team_id, target_kind, target_id, target_name, created_at) VALUES ('vm.start', 'queued', 1, 'vm',
		1, 'web', $1)`, from)
	span := "&from=" + url.QueryEscape(from.Format(time.RFC3339)) + "&to=" + url.QueryEscape(from.Add(90*time.Second).Format(time.RFC3339))
	ask := func(name, parameters string, as *apitest.Caller, status int, code string, contains ...string) {
		s.Run(t, apitest.Scenario{Name: name, Method: "GET", URL: metricsQuery + parameters, As: as, Status: status, Error: code,
			Contains: contains})
	}
	ask("two series", "?target=vm:1&target=host:1&metric=cpu"+span, apitest.Viewer, 200, "",
		`"resolution":"raw","step_s":30,"complete_to":"`,
		`"series":[{"target":"vm:1","name":"web","metric":"cpu","unit":"ratio","points":[null,0.5,null]},`+
			`{"target":"host:1","name":"a","metric":"cpu","unit":"ratio","points":[null,null,null]}],"marks":[{"kind":"job","id":1,`+
			`"target":"vm:1","title":"vm.start","state":"queued","at":"`)
	ask("two metrics", "?target=storage:1/local&metric=disk&metric=disk_total&metric=cpu", apitest.Viewer, 200, "", `"metric":"disk_total"`)
	ask("nothing rolled up", "?target=vm:1&metric=cpu&resolution=1h"+span, apitest.Viewer, 200, "", `"complete_to":null`)
	ask("own team", "?target=vm:2&metric=cpu", apitest.In(2, identity.Viewer), 200, "", `"name":"db"`)
	ask("another team", "?target=vm:1&metric=cpu", apitest.In(2, identity.Owner), 404, "not_found")
	ask("not there", "?target=vm:1&target=vm:9&metric=cpu", apitest.Viewer, 404, "not_found")
	ask("wrong before missing", "?target=vm:9&metric=cpus", apitest.Viewer, 422, "invalid", `"query","metric"`)
	ask("no role", "?target=vm:1&metric=cpu", apitest.NoRole, 403, "forbidden")
	for name, parameters := range map[string]string{
		"nothing": "", "no metric": "?target=vm:1", "no target": "?metric=cpu", "a kind": "?target=job:1&metric=cpu",
		"a resolution": "?target=vm:1&metric=cpu&resolution=2h", "a time": "?target=vm:1&metric=cpu&from=yesterday",
		"order": "?target=vm:1&metric=cpu&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
		"span":  "?target=vm:1&metric=cpu&from=2001-01-02T00:00:00Z", "NUL": "?target=vm:1%00&metric=cpu",
	} {
		ask(name, parameters, apitest.Viewer, 422, "invalid")
	}
}

func TestMetricsOfGuests(t *testing.T) {
	t.Parallel()
	s := newMetrics(t)
	const path = "/api/v1/metrics/guests"
	s.Run(t,
		apitest.Scenario{Name: "all", Method: "GET", URL: path, As: apitest.Viewer, Status: 200, Contains: []string{
			"# TYPE hostler_guest info\n", "hostler_guest_running{id=\"1\",kind=\"vm\",name=\"web\",cluster=\"\"} 1\n", "\n# EOF\n"},
			After: func(t *testing.T, a *apitest.Response) {
				t.Helper()
				if got := a.Header.Get("Content-Type"); got != metric.OpenMetrics {
					t.Errorf("it is %s", got)
				}
			}},
		apitest.Scenario{Name: "of a team", Method: "GET", URL: path, As: apitest.In(2, identity.Viewer), Status: 200,
			Contains: []string{`name="db"`}, Lacks: []string{`name="web"`}},
		apitest.Scenario{Name: "no role", Method: "GET", URL: path, As: apitest.NoRole, Status: 403, Error: "forbidden"},
		apitest.Scenario{Name: "nobody", Method: "GET", URL: path, Status: 401, Error: "unauthenticated"},
	)
}

// A real Prometheus reads the figures with an API key of the scope read.
func TestPrometheusReadsGuests(t *testing.T) {
	t.Parallel()
	s := servicetest.NewResourceOfUsers(t, registerMetrics)
	inventorytest.Write(t, s.DB, inventorytest.Cluster{Name: "c", Hosts: []inventorytest.Host{{Name: "a", Node: "n1"}},
		Guests: []inventorytest.Guest{{VMID: 100, Node: "n1", Name: `we"b\`, CPU: 0.25}, {VMID: 101, Node: "n1", Name: "db", CPU: 0.5}}})
	s.Exec("UPDATE guests SET net_in = 4711")
	server := httptest.NewServer(s.API.Handler)
	t.Cleanup(server.Close)
	key := identitytest.Key(t, s.Users, s.Account(apitest.Viewer), identitytest.KeySpec{Scopes: []string{"read"}})
	p := promtest.Start(t, fmt.Sprintf(`scrape_configs:
- job_name: hostler
  scrape_interval: 1s
  metrics_path: /api/v1/metrics/guests
  authorization: {credentials: %q}
  static_configs: [{targets: [%q]}]
`, strings.TrimPrefix(key.Header, "Bearer "), strings.TrimPrefix(server.URL, "http://")))
	waittest.Until(t, "prometheus has read the guests", func() bool { return p.Query(t, "up") == "1" })
	for query, want := range map[string]string{
		"sum(hostler_guest_cpu_usage_ratio)": "0.75", `hostler_guest_cpu_usage_ratio{name="we\"b\\",kind="vm",cluster="c"}`: "0.25",
		`hostler_guest_network_receive_bytes_total{name="db"}`: "4711", "count(hostler_guest_info{host=\"a\",node=\"n1\"})": "2",
	} {
		// A scrape that took longer than a second takes all away until the next one.
		waittest.Succeeds(t, "prometheus tells "+query, func() error {
			if got := p.Query(t, query); got != want {
				return fmt.Errorf("it is %q, want %q", got, want)
			}
			return nil
		})
	}
}

func TestRemoteWrite(t *testing.T) {
	t.Parallel()
	s := newMetrics(t)
	const path = "/api/v1/metrics/remote-write"
	ask := func(method, body string, as *apitest.Caller, status int, code string, contains ...string) {
		t.Helper()
		s.Run(t, apitest.Scenario{Name: method + " " + body, Method: method, URL: path, Body: body, As: as, Status: status, Error: code,
			Contains: contains, Lacks: []string{"canary"}})
	}
	ask("GET", "", apitest.Admin, 200, "", `{"url":null,"tls_fingerprint":null,"auth":"none",`, `"late_s":null`)
	ask("DELETE", "", apitest.Admin, 404, "not_found")
	ask("PUT", `{"url":"https://metrics.example.com/w","username":"me","password":"canary"}`, apitest.Admin, 200, "",
		`{"url":"https://metrics.example.com/w","tls_fingerprint":null,"auth":"basic","username":"me",`, `"samples_sent":0`)
	ask("PUT", `{"url":"https://metrics.example.com/w","bearer_token":"canary"}`, apitest.Owner, 200, "", `"auth":"bearer","username":null`)
	for _, body := range []string{
		"", "{}", `{"url":null}`, `{"url":""}`, `{"url":"x"}`, `{"url":"https://a.example","username":"me"}`,
		`{"url":"https://a.example","password":"canary"}`, `{"url":"https://a.example","username":"me","password":"x","bearer_token":"canary"}`,
		`{"url":"https://a.example","bearer_token":"can ary"}`, `{"url":"https://a.example","bearer_token":"canary\r\nX: y"}`,
		`{"url":"http://a.example","bearer_token":"canary"}`, `{"url":"https://127.0.0.1/w"}`, `{"url":"https://a.example","more":1}`,
	} {
		ask("PUT", body, apitest.Admin, 422, "invalid")
	}
	ask("GET", "", apitest.Admin, 200, "", `"auth":"bearer"`)
	for _, as := range []*apitest.Caller{apitest.Operator, apitest.In(2, identity.Owner)} {
		ask("GET", "", as, 403, "forbidden")
		ask("PUT", `{"url":"https://a.example"}`, as, 403, "forbidden")
		ask("DELETE", "", as, 403, "forbidden")
	}
	ask("DELETE", "", apitest.Admin, 204, "")
	ask("GET", "", apitest.Admin, 200, "", `"url":null`)
	if trail := s.Value(`SELECT string_agg(action || ' ' || target_name || ' ' || details::text, '; ' ORDER BY id) FROM audit
		WHERE result = 'ok'`); trail != "metrics.remote_write metrics.example.com {}; metrics.remote_write metrics.example.com {}; "+
		"metrics.remote_write_end metrics.example.com {}" {
		t.Errorf("the audit log says %s", trail)
	}
}

func TestThroughputOfNetworks(t *testing.T) {
	t.Parallel()
	s := newMetrics(t)
	const path = "/api/v1/network/throughput"
	s.Run(t,
		apitest.Scenario{Name: "all", Method: "GET", URL: path, As: apitest.Viewer, Status: 200, Contains: []string{`"step_s":30`,
			`"target":"host:1","name":"a","metric":"net_in","unit":"bytes_per_second","points":[null,`, `"target":"host:2","name":"b"`}},
		apitest.Scenario{Name: "of a team", Method: "GET", URL: path + "?hours=48", As: apitest.In(2, identity.Viewer), Status: 200,
			Contains: []string{`"step_s":300`, `"host:2"`}, Lacks: []string{`"host:1"`}},
	)
	for _, hours := range []string{"0", "49", "-1", "x", "99999999999999999999"} {
		s.Run(t, apitest.Scenario{Name: hours, Method: "GET", URL: path + "?hours=" + hours, As: apitest.Viewer, Status: 422,
			Error: "invalid"})
	}
}
