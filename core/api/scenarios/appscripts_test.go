package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/appscripts"
	"github.com/hostler/hostler/core/api/catalog"
	"github.com/hostler/hostler/core/api/configs"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/appscript"
	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// scripts is a lab with a source in memory, whose entry "tool" the app 2, "wiki", is made of.
type scripts struct {
	*servicetest.Lab
	mem *catalogtest.Memory
	pin sdk.Pin
}

// state adds a state of the source, which the catalog takes.
func (f *scripts) state(t *testing.T, script, engine string) {
	t.Helper()
	f.pin = f.mem.Add(catalogtest.State{
		Entries: []sdk.Entry{{Slug: "tool", Name: "Tool"}},
		Files: map[string]map[string]string{"tool": {"install.sh": "echo all done\n", "update.sh": script, "engine/lib.sh": engine,
			"overlay/clear": "#!/bin/sh\n"}},
	})
	var made struct{ Job struct{ ID int64 } }
	f.Expect(t, "POST", "catalog/refresh", "", apitest.Admin, 202, "").Decode(t, &made)
	waittest.Until(t, "the refresh is done", func() bool {
		return f.Value("SELECT status FROM jobs WHERE id = $1", made.Job.ID) == "succeeded"
	})
}

func newScripts(t *testing.T, more ...func(*op.API, api.Deps)) *scripts {
	t.Helper()
	f := &scripts{mem: &catalogtest.Memory{Name: "scripts"}}
	f.Lab = servicetest.NewLab(t, memdriver.Shapes()[0], func(a *op.API, d api.Deps) {
		appscripts.Register(a, d.Scripts)
		catalog.Register(a, d.Catalog)
		for _, register := range more {
			register(a, d)
		}
	}, func(c *service.Config) { c.Catalogs = servicetest.Catalogs{"scripts": f.mem} })
	source, err := f.Catalog.Source(t.Context(), "scripts")
	if err != nil {
		t.Fatal(err)
	}
	f.Expect(t, "PATCH", "catalog/sources/scripts", fmt.Sprintf(`{"enabled":true,"trust_digest":%q}`, *source.TrustDigest), apitest.Owner,
		200, "")
	if err := f.Queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// install makes the app 2 one that was installed by the present state.
func (f *scripts) install(t *testing.T) {
	t.Helper()
	key := bundle.Key{Source: "scripts", Slug: "tool", Purpose: sdk.Install, Pin: f.pin}
	opened, err := f.mem.Open(t.Context(), sdk.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Bundles.Fetch(t.Context(), opened, key)
	if err != nil {
		t.Fatal(err)
	}
	f.Exec("UPDATE apps SET slug = 'tool' WHERE id = 2")
	err = f.DB.Tx(t.Context(), func(tx *db.Tx) error {
		return appscript.AddFirstVersion(t.Context(), tx, appscript.Installation{AppID: 2, By: "ann@example.com", Key: key, Sum: b.Sum,
			Program: "update.sh", Commit: f.pin.String()})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *scripts) script(t *testing.T, query string) (s appscript.Script) {
	t.Helper()
	f.Expect(t, "GET", "apps/2/script"+query, "", apitest.Operator, 200, "").Decode(t, &s)
	return s
}

// A script is installed, edited, compared and reverted, and every version stays.
func TestVersionsOfScripts(t *testing.T) {
	t.Parallel()
	f := newScripts(t)
	f.state(t, "echo one\necho two\n", "engine one\n")
	f.Expect(t, "GET", "apps/2/script", "", apitest.Operator, 404, "not_found")
	f.Expect(t, "GET", "apps/2/script", "", apitest.Viewer, 403, "forbidden")
	f.Expect(t, "GET", "apps/99/script", "", apitest.Operator, 404, "not_found")
	f.Expect(t, "POST", "apps/2/script/revert", "", apitest.Admin, 409, "invalid_state", `"reason":"no_entry"`)
	f.Expect(t, "GET", "apps/2/update", "", apitest.Viewer, 200, "", `"available":false,"reason":"no_entry"`)
	f.install(t)

	first := f.script(t, "")
	if first.Version.Version != 1 || first.Source != "upstream" || first.Reason != "install" || *first.Content != "echo one\necho two\n" ||
		*first.Commit != f.pin.String() || first.Drift == nil || first.Drift.Drifted || *first.CreatedBy != "ann@example.com" {
		t.Errorf("the first version is %+v", first)
	}
	f.Expect(t, "PUT", "apps/2/script", `{"content":"x"}`, apitest.Operator, 403, "forbidden")
	f.Expect(t, "PUT", "apps/2/script", `{"content":"a\u0000b"}`, apitest.Admin, 422, "invalid")
	f.Expect(t, "PUT", "apps/2/script", `{"content":""}`, apitest.Admin, 422, "invalid")
	f.Expect(t, "PUT", "apps/2/script", fmt.Sprintf(`{"content":%q}`, strings.Repeat("ä", appscript.MaxScript/2+1)), apitest.Admin, 422,
		"invalid")
	f.Expect(t, "PUT", "apps/2/script", fmt.Sprintf(`{"content":"echo one\necho three\n","digest":%q}`, first.SHA256), apitest.Admin, 200, "",
		`"version":2,"source":"edited","reason":"edit"`, `"drifted":true,"version":1`, `"added":1,"removed":1`, `-echo two\n+echo three\n`)
	// Who edits what is no longer the newest is told so, and nothing is lost.
	f.Expect(t, "PUT", "apps/2/script", fmt.Sprintf(`{"content":"echo lost\n","digest":%q}`, first.SHA256), apitest.Admin, 409,
		"digest_conflict", f.script(t, "").SHA256)
	f.Expect(t, "PUT", "apps/2/script", `{"content":"echo one\necho three\n"}`, apitest.Admin, 200, "", `"version":2`)
	f.Expect(t, "GET", "apps/2/update", "", apitest.Viewer, 200, "", `"available":false,"reason":"edited"`, `"commit":null`)
	f.Expect(t, "POST", "apps/2/update", `{"consent":true}`, apitest.Operator, 409, "invalid_state", `"reason":"edited"`)

	f.state(t, "echo one\necho four\n", "engine two\n")
	f.Expect(t, "POST", "apps/2/script/revert", "", apitest.Operator, 403, "forbidden")
	f.Expect(t, "POST", "apps/2/script/revert", "", apitest.Admin, 200, "", `"version":3,"source":"upstream","reason":"revert"`, `echo four`,
		`"drifted":false`, f.pin.String())
	f.Expect(t, "GET", "apps/2/update", "", apitest.Viewer, 200, "", `"available":false,"reason":"current"`)
	if old := f.script(t, "?version=1"); old.SHA256 != first.SHA256 || *old.Content != *first.Content || old.Current {
		t.Errorf("the first version is %+v by now", old)
	}
	f.Expect(t, "GET", "apps/2/script?version=4", "", apitest.Operator, 404, "not_found")
	f.Expect(t, "GET", "apps/2/script/versions?per_page=2", "", apitest.Operator, 200, "", `[{"version":3`, `{"version":2`)
	// The list has no texts, however long they are.
	f.Exec(`INSERT INTO app_script_versions (app_id, number, origin, reason, sha256, size, content)
		SELECT 2, number, 'edited', 'edit', repeat('a', 64), 262144, repeat('x', 262144) FROM generate_series(4, 153) number`)
	f.Expect(t, "GET", "apps/2/script/versions?per_page=500", "", apitest.Operator, 200, "", `[{"version":153,`, `"version":1,`)
	trail := f.AuditLog("app.script_edit") + f.AuditLog("app.script_revert")
	for _, want := range []string{first.SHA256, "digest_conflict", `"version": 2`, `"before"`, `"bundle"`} {
		if !strings.Contains(trail, want) {
			t.Errorf("the audit log has no %s: %s", want, trail)
		}
	}
	if strings.Contains(trail, "echo") {
		t.Errorf("the audit log has a script: %s", trail)
	}
}

// An update is told of with what is different, the entry's own files first, and only where there is one.
func TestUpdateStateOfApps(t *testing.T) {
	t.Parallel()
	f := newScripts(t)
	f.state(t, "echo one\n", "engine one\n")
	f.install(t)
	installed := f.pin.String()
	f.state(t, "echo one\n", "engine two\n") // which is nothing of the entry's own
	f.Expect(t, "GET", "apps/2/update", "", apitest.Viewer, 200, "", `"available":false,"reason":"current"`, `"diff":null`)
	f.state(t, "echo two\n", "engine two\n")
	f.Expect(t, "GET", "apps/2/update", "", apitest.Viewer, 200, "", `"available":true,"reason":null`,
		`"own":{"files":1,"added":1,"removed":1}`, `"engine":{"files":1,`, `"files":[{"path":"update.sh","class":"own","change":"changed"`,
		installed, f.pin.String(), `"last":null`)
	f.Expect(t, "GET", "apps/updates", "", apitest.Viewer, 200, "", `"app":"wiki","available":true,"reason":null,"detail":null,"script":1`,
		`"app":"files","available":false,"reason":"no_entry"`, `"catalog_commit":"`+f.pin.String(), `"version":null,"outcome":null`)
	// The machine of the app's node is not logged in to, so that nothing can run.
	f.Expect(t, "POST", "apps/2/update", `{"consent":true}`, apitest.Operator, 409, "consent_required", "ssh_consent")
	f.Expect(t, "POST", "apps/2/update", `{"consent":true}`, apitest.Viewer, 403, "forbidden")
	f.Expect(t, "POST", "apps/update-all", `{"consent":true}`, apitest.Operator, 202, "", `"jobs":[]`, `"app":"files","reason":"no_entry"`,
		`"app":"wiki","reason":"`)
	f.Exec("UPDATE catalog_entries SET entry = jsonb_set(entry::jsonb, '{App}', '[]')")
	f.Expect(t, "GET", "apps/2/update", "", apitest.Viewer, 200, "", `"available":false,"reason":"no_commit"`)
	f.Exec("DELETE FROM app_script_versions")
	f.Exec("UPDATE catalog_entries SET entry = jsonb_set(entry::jsonb, '{App}', $1)",
		fmt.Sprintf(`[{"Repository":"own","Commit":%q}]`, strings.Repeat("b", 40)))
	f.Expect(t, "GET", "apps/2/update", "", apitest.Viewer, 200, "", `"available":true,"reason":null`, `"commit":null`)
}

// An app that was adopted has the entry that somebody names, or the one of its container's name. It has an update, of which nobody knows
// from which state, and is not updated together with others before somebody has said that the entry is the right one.
func TestAdoptedAppHasAnEntry(t *testing.T) {
	t.Parallel()
	f := newScripts(t, func(a *op.API, d api.Deps) {
		configs.Register(a, d.Configs)
	})
	f.state(t, "echo one\n", "engine one\n")
	adopt := func(name, more string, status int, code string, contains ...string) {
		t.Helper()
		ref := f.Cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
		f.Cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = name })
		f.Expect(t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
		f.Expect(t, "POST", "apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"guest_ref":%q%s}]}`, ref.ID, more), apitest.Admin, status, code,
			contains...)
	}
	adopt("other", "", 200, "", `"slug":null`)
	adopt("other", `,"slug":"tool"`, 200, "", `"slug":"tool"`)
	adopt("tool", `,"slug":null`, 200, "", `"slug":null`)
	adopt("other", `,"slug":"no-such"`, 422, "invalid", `["body","items",0,"slug"]`)
	adopt("To-ol", `,"name":"mine"`, 200, "", `"slug":"tool"`)
	id := f.Value("SELECT id FROM apps WHERE name = 'mine'")
	path := "apps/" + id
	f.Expect(t, "GET", path+"/update", "", apitest.Viewer, 200, "", `"available":true,"reason":null,"detail":null,"commit":null`,
		`"change":"added"`)
	f.Expect(t, "POST", "apps/update-all", `{"consent":true}`, apitest.Operator, 202, "", `"jobs":[]`, `"app":"mine","reason":"no_script"`)
	f.Expect(t, "GET", "apps/updates", "", apitest.Viewer, 200, "", `"app":"mine","available":false,"reason":"no_script"`, `"script":null`)
	f.Expect(t, "POST", path+"/script/revert", "", apitest.Admin, 200, "", `"version":1,"source":"upstream"`)
	f.Expect(t, "GET", path+"/update", "", apitest.Viewer, 200, "", `"available":false,"reason":"current"`)
	f.state(t, "echo two\n", "engine one\n")
	f.Expect(t, "GET", path+"/update", "", apitest.Viewer, 200, "", `"available":true`, `"own":{"files":1,"added":1,"removed":1}`)

	f.Expect(t, "PATCH", path, `{"slug":null}`, apitest.Operator, 403, "forbidden")
	f.Expect(t, "PATCH", path, `{"slug":"no-such"}`, apitest.Admin, 422, "invalid", `["body","slug"]`)
	f.Expect(t, "PATCH", path, `{"slug":null}`, apitest.Admin, 200, "", `"slug":null`)
	f.Expect(t, "GET", path+"/update", "", apitest.Viewer, 200, "", `"reason":"no_entry"`)
	f.Expect(t, "PATCH", path, `{"slug":"tool"}`, apitest.Admin, 200, "", `"slug":"tool"`)
	// A script of another entry says nothing of this one.
	f.Exec("UPDATE app_script_versions SET slug = 'earlier' WHERE app_id = $1::bigint", id)
	f.Expect(t, "GET", path+"/update", "", apitest.Viewer, 200, "", `"available":true,"reason":null,"detail":null,"commit":null`)
	f.Exec(`INSERT INTO jobs (kind, status, target_kind, target_id, target_name, params, asked)
		VALUES ('app.update', 'queued', 'app', $1::bigint, 'mine', '{}', '{}')`, id)
	f.Exec(`INSERT INTO app_updates (job_id, app_id, source, slug, bundle, pin, app_commit)
		SELECT max(id), $1::bigint, 'scripts', 'tool', '', '', '' FROM jobs`, id)
	f.Expect(t, "PATCH", path, `{"slug":null}`, apitest.Admin, 409, "guest_busy", `"job_id":`)
}
