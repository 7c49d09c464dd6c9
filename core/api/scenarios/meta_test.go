package scenarios

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/meta"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/selfupdate/selfupdatetest"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
)

// updatePaths are the two places of the same operations.
var updatePaths = []string{"/meta/update", "/api/v1/meta/update"}

type updatesFixture struct {
	*servicetest.Resource
	*selfupdatetest.Installation
}

func newUpdates(t *testing.T, edit func(*selfupdate.Config)) *updatesFixture {
	t.Helper()
	installed := selfupdatetest.New(t, "1.0.0")
	return &updatesFixture{servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) { meta.Register(a, d.Meta) },
		func(c *service.Config) {
			c.Version = "1.0.0"
			c.Updates = selfupdate.Config{ConfigFile: installed.File, Machine: installed.Machine(), Architecture: selfupdatetest.Architecture}
			if edit != nil {
				edit(&c.Updates)
			}
		}), installed}
}

func (s *updatesFixture) trail() string {
	return s.Value(`SELECT coalesce(string_agg(action || ' ' || result || ' ' || actor_type || ' ' || target_name || ' ' || error,
		E'\n' ORDER BY id), '') FROM audit WHERE action LIKE 'update.%'`)
}

func getUpdate(name, path string, contains ...string) apitest.Scenario {
	return do(name, "GET", path, "", apitest.Viewer, 200, "", contains...)
}

func refusedUpdate(name, path, body string, contains ...string) apitest.Scenario {
	return do(name, "POST", path, body, apitest.Admin, 409, "invalid_state", contains...)
}

// Both paths are the same, for everybody.
func TestWhoMayUpdate(t *testing.T) {
	t.Parallel()
	s := newUpdates(t, nil)
	for _, path := range updatePaths {
		s.Run(t,
			getUpdate("viewer", path, `"current_version":"1.0.0","available":null,"last_check":null,"shape":"package","can_self_apply":true,`,
				`"channel":"stable","state":"idle","request":null,"run":null,"problems":[]}`),
			apitest.Scenario{Name: "nobody", Method: "GET", URL: path, Status: 401, Error: "unauthenticated"},
			apitest.Scenario{Name: "nobody asks", Method: "POST", URL: path, Status: 401, Error: "unauthenticated"},
			apitest.Scenario{Name: "no role", Method: "GET", URL: path, As: apitest.NoRole, Status: 403, Error: "forbidden"},
			apitest.Scenario{Name: "owner of a team", Method: "GET", URL: path, As: apitest.In(7, identity.Owner), Status: 403, Error: "forbidden"},
			apitest.Scenario{Name: "owner of a team asks", Method: "POST", URL: path, As: apitest.In(7, identity.Owner), Status: 403,
				Error: "forbidden"},
			apitest.Scenario{Name: "operator asks", Method: "POST", URL: path, As: apitest.Operator, Status: 403, Error: "forbidden"},
			apitest.Scenario{Name: "another method", Method: "DELETE", URL: path, As: apitest.Owner, Status: 405, Error: "method_not_allowed"},
			apitest.Scenario{Name: "below", Method: "GET", URL: path + "/x", As: apitest.Owner, Status: 404, Error: "not_found"},
		)
	}
}

// A request from either path, with all that is refused before, and the updater's end of it.
func TestUpdateOfTheService(t *testing.T) {
	t.Parallel()
	for n, path := range updatePaths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			other := updatePaths[1-n]
			s := newUpdates(t, nil)
			s.Run(t, apitest.Scenario{Name: "nothing published", Method: "POST", URL: path, As: apitest.Admin, Status: 502,
				Error: "release_source_error", Contains: []string{`"reason":"missing"`}})
			s.Publish("1.1.0", nil)
			s.Run(t,
				refusedUpdate("another version", path, `{"version":"1.0.9"}`, `"reason":"another_version"`, `"version":"1.1.0"`),
				apitest.Scenario{Name: "a typo", Method: "POST", URL: path, Body: `{"verison":"1.1.0"}`, As: apitest.Admin, Status: 422,
					Error: "invalid"},
				apitest.Scenario{Name: "a number", Method: "POST", URL: path, Body: `{"version":1.1}`, As: apitest.Admin, Status: 422,
					Error: "invalid"},
				apitest.Scenario{Name: "a long text", Method: "POST", URL: path, Body: fmt.Sprintf(`{"version":%q}`, strings.Repeat("1", 65)),
					As: apitest.Admin, Status: 422, Error: "invalid"},
				getUpdate("it is there", other,
					`"available":{"version":"1.1.0","channel":"stable","date":"2025-05-05T12:00:00Z","notes_url":"https://hostler.example/1.1.0"`),
				apitest.Scenario{Name: "agreed", Method: "POST", URL: path, Body: `{"version":"1.1.0"}`, As: apitest.Admin, Status: 202,
					Contains: []string{`"state":"requested","request":{"id":"`, `"version":"1.1.0","requested_by":"`}},
				refusedUpdate("once more", other, "", `"reason":"requested"`),
				getUpdate("it waits", other, `"state":"requested"`),
			)
			if want := "update.request failed user  release_source_error\n" + "update.request refused user  invalid_state\n" +
				strings.Repeat("update.request refused user  invalid\n", 3) +
				"update.request ok user 1.1.0 \n" + "update.request refused user  invalid_state"; s.trail() != want {
				t.Errorf("the audit log has\n%s\nwant\n%s", s.trail(), want)
			}
			taken := s.Take()
			if taken == nil || taken.Version != "1.1.0" {
				t.Fatalf("%+v", taken)
			}
			plan := fmt.Sprintf(`"plan":{"from":"1.0.0","to":"1.1.0","request":%q}`, taken.ID)
			s.Journal(`{"at":"2025-05-04T12:00:00Z","run":"a","step":"backup","event":"begun",` + plan + "}")
			free := s.Lock()
			s.Run(t, getUpdate("running", path, `"state":"running"`, `"step":"backup"`), refusedUpdate("while it runs", path, "",
				`"reason":"running"`))
			s.Journal(`{"at":"2025-05-04T12:00:00Z","run":"a","step":"backup","event":"begun",`+plan+"}",
				`{"at":"2025-05-04T12:01:00Z","run":"a","step":"rolled back","event":"ended","text":"health-check: no",`+plan+"}")
			free()
			s.Run(t, getUpdate("rolled back", path, `"state":"rolled_back"`, `"step":"rolled back"`, `"reason":"health-check: no"`,
				`"request":"`+taken.ID, `"finished_at":"2025-05-04T12:01:00Z"`))
		})
	}
}

// Shapes that cannot update themselves say what to do.
func TestUpdateByShape(t *testing.T) {
	t.Parallel()
	for shape, hint := range map[selfupdate.Shape]string{selfupdate.ShapeContainer: "image", selfupdate.ShapeSource: "build"} {
		s := newUpdates(t, func(c *selfupdate.Config) { c.Shape = shape })
		s.Publish("1.1.0", nil)
		for _, path := range updatePaths {
			s.Run(t,
				getUpdate(string(shape), path, `"shape":"`+string(shape)+`","can_self_apply":false,"hint":"`, hint),
				refusedUpdate(string(shape)+" asks", path, `{"version":"1.1.0"}`, `"reason":"`+string(shape)+`"`, `"hint":"`, hint),
			)
		}
		if _, err := os.Lstat(s.Config.Request); err == nil {
			t.Errorf("%s: a request was written", shape)
		}
	}
	s := newUpdates(t, nil)
	if err := os.Remove(s.File); err != nil {
		t.Fatal(err)
	}
	s.Run(t, getUpdate("no configuration", updatePaths[0], `"can_self_apply":false,"hint":"set source and channel in `+s.File),
		refusedUpdate("no configuration", updatePaths[0], "", `"reason":"not_configured"`, s.File))
}

// The answer comes with what is known when the updater's files are broken, and never as a 500.
func TestUpdateWithBrokenFiles(t *testing.T) {
	t.Parallel()
	s := newUpdates(t, nil)
	s.Journal("not JSON")
	s.Run(t, getUpdate("journal", updatePaths[0], `"current_version":"1.0.0"`, `"state":"idle"`,
		`"problems":["the updater's journal cannot be read`), refusedUpdate("journal", updatePaths[0], "", `"reason":"unknown"`))
	s.Write(s.File, "not JSON")
	s.Run(t, getUpdate("configuration", updatePaths[0], `"problems":["the updater's configuration cannot be read`),
		refusedUpdate("configuration", updatePaths[0], "", `"reason":"configuration"`))
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	s.Run(t, getUpdate("nothing left", updatePaths[0], `"current_version":"1.0.0"`, `"problems":[]`))
}
