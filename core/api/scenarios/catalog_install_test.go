package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/catalog/catalogtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/catalog"
	sources "github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// installs is a Lab whose machine can be logged in to, with a catalog.
type installs struct {
	*servicetest.Lab
	mem *sources.Memory
	sum string
}

func newInstalls(t *testing.T) *installs {
	t.Helper()
	i := &installs{mem: &sources.Memory{Name: "scripts"}}
	i.mem.Add(sources.State{Entries: []sdk.Entry{
		{Slug: "wiki", Name: "Wiki", Architectures: []string{"amd64"}, Defaults: sdk.Defaults{OS: "debian", OSVersion: "13"},
			Overrides: []sdk.Option{
				{Key: "cpu", Type: sdk.Integer, Min: 1, Max: 64, Description: "The number of cores."},
				{Key: "ssh", Type: sdk.Boolean, Description: "Whether root may log in."},
				{Key: "token", Type: sdk.Line, Secret: true, Description: "A token."},
			}},
		{Slug: "gone", Name: "Gone", Removed: "its authors are gone"}, {Slug: "vm", Name: "A VM", Type: sdk.VMEntry},
		{Slug: "arm", Name: "Arm", Architectures: []string{"arm64"}},
	}, Files: map[string]map[string]string{"wiki": {"install.sh": "echo all done\n", "overlay/clear": "#!/bin/sh\n"},
		"arm": {"install.sh": "echo all done\n", "overlay/clear": "#!/bin/sh\n"}}})
	i.Lab = servicetest.NewLab(t, memdriver.Tokens, registerCatalog,
		func(c *service.Config) {
			c.Catalogs, c.Loops = servicetest.Catalogs{"scripts": i.mem}, []service.Loop{service.Jobs}
		})
	if err := i.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	i.Expect(t, "PATCH", "catalog/sources/scripts", fmt.Sprintf(`{"enabled":true,"trust_digest":%q}`, catalogtest.Trust()), apitest.Owner,
		200, "")
	i.Expect(t, "POST", "catalog/refresh", "", apitest.Admin, 202, "")
	waittest.Until(t, "the refresh", func() bool { return i.Value("SELECT bool_and(finished_at IS NOT NULL) FROM jobs") == "true" })
	i.Queue.Suspend() // what is asked for from now on never begins
	i.Expect(t, "POST", "hosts/1/credentials", `{"rotate_ssh":true,"ssh_consent":true}`, apitest.Owner, 200, "")
	i.Expect(t, "POST", "hosts/1/ssh/verify", "", apitest.Admin, 200, "")
	i.sum = i.planned(t, "wiki")
	return i
}

func (i *installs) planned(t *testing.T, slug string) string {
	t.Helper()
	var plan struct{ Sum string }
	i.Expect(t, "GET", "catalog/"+slug+"/plan?host=1", "", apitest.Admin, 200, "").Decode(t, &plan)
	return plan.Sum
}

// body is a good request with further members.
func (i *installs) body(more string) string {
	return fmt.Sprintf(`{"host_id":1,"name":"wiki","consent":true,"sum":%q%s}`, i.sum, more)
}

func TestInstallApp(t *testing.T) {
	t.Parallel()
	i := newInstalls(t)
	const one = "catalog/wiki/install"
	i.Expect(t, "POST", one, `{"host_id":1,"name":"wiki"}`, apitest.Admin, 409, "consent_required", `"sum":"`+i.sum,
		`"consent":"These scripts will run on the host lab`)
	i.Expect(t, "POST", one, `{"host_id":1,"name":"wiki","consent":true}`, apitest.Admin, 409, "consent_required")
	i.Expect(t, "POST", one+"?plan=true", `{"host_id":1,"name":"wiki"}`, apitest.Admin, 200, "", `"error":"consent_required"`, i.sum)
	i.Expect(t, "POST", one+"?plan=true", i.body(""), apitest.Admin, 200, "", `"blockers":[]`, "run as root on the machine of lab",
		"There is no template of debian 13 on local", "disks on local, from a template on local, on the bridge br0")
	i.Cluster.AddVolume("local", hypervisor.Volume{Name: "debian-12-standard_12.7-1_amd64.tar.zst", Kind: hypervisor.VolumeTemplate})
	i.Cluster.AddVolume("local", hypervisor.Volume{Name: "debian-13-standard_13.1-2_amd64.tar.zst", Kind: hypervisor.VolumeTemplate})
	i.Expect(t, "POST", one+"?plan=true", i.body(""), apitest.Admin, 200, "",
		"created from the template debian-13-standard_13.1-2_amd64.tar.zst on local")
	i.Cluster.SetFault("content", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "the disk is gone")})
	i.Expect(t, "POST", one+"?plan=true", i.body(""), apitest.Admin, 422, "invalid", `["body","template_storage"]`)
	i.Cluster.SetFault("content", memdriver.Fault{Err: plugin.Errorf(plugin.Denied, "no")})
	i.Expect(t, "POST", one+"?plan=true", i.body(""), apitest.Admin, 200, "", "It is not known whether a template of debian 13 is on local")
	i.Cluster.SetFault("content", memdriver.Fault{})
	if n := i.Value("SELECT (SELECT count(*) FROM jobs WHERE kind = 'app.install') || ' ' || (SELECT count(*) FROM consents)"); n != "0 0" {
		t.Errorf("without consent there are jobs and consents: %s", n)
	}
	i.Expect(t, "POST", one, i.body(`,"overrides":{"cpu":2,"ssh":true,"token":"canary-token"},"ctid":900`), apitest.Admin, 202, "",
		`"kind":"app.install"`, `"overrides":{"cpu":"2","ssh":"true","token":null}`, `"is_self":false`)
	rows := i.Value(`SELECT string_agg(j::text, '') || (SELECT string_agg(a::text, '') FROM audit a) || (SELECT string_agg(c::text, '')
		FROM consents c) FROM jobs j`)
	if strings.Contains(rows, "canary-token") {
		t.Error("the token is readable in the database")
	}
	if got := i.AuditLog("app.install"); strings.Count(got, "consent_required") != 2 || !strings.Contains(got, `"sum": "`+i.sum) {
		t.Errorf("the audit log has %s", got)
	}
	// The number is kept for the job, also from an install that asks for it.
	i.Expect(t, "POST", one, i.body(`,"ctid":900`), apitest.Admin, 422, "invalid", `["body","ctid"]`)
	// By now the same person has agreed to the same bundle on the same host.
	i.Expect(t, "POST", one, `{"host_id":1,"name":"wiki","consent":true}`, apitest.Admin, 202, "")
	i.Expect(t, "POST", one, `{"host_id":1,"name":"wiki"}`, apitest.Admin, 409, "consent_required")
}

func TestInstallAppRefuses(t *testing.T) {
	t.Parallel()
	i := newInstalls(t)
	const one = "catalog/wiki/install"
	for _, s := range []struct {
		url, body string
		as        *apitest.Caller
		status    int
		code      string
		text      string
	}{
		{one, i.body(""), nil, 401, "unauthenticated", ""},
		{one, i.body(""), apitest.Operator, 403, "forbidden", ""},
		{one, i.body(""), &apitest.Caller{Role: identity.Owner, Team: 2}, 404, "not_found", ""},
		{"catalog/nothing/install", i.body(""), apitest.Admin, 404, "not_found", ""},
		{"catalog/gone/install", i.body(""), apitest.Admin, 409, "invalid_state", `"reason":"removed"`},
		{"catalog/vm/install", i.body(""), apitest.Admin, 409, "invalid_state", `"reason":"entry_type"`},
		{one, strings.Replace(i.body(""), i.sum, strings.Repeat("0", 64), 1), apitest.Admin, 409, "invalid_state", `"reason":"no_bundle"`},
		{"catalog/arm/install", strings.Replace(i.body(""), i.sum, i.planned(t, "arm"), 1), apitest.Admin, 409, "invalid_state",
			`"reason":"architecture"`},
		{one, i.body(`,"storage":"nowhere"`), apitest.Admin, 422, "invalid", `["body","storage"]`},
		{one, i.body(`,"template_storage":"nowhere"`), apitest.Admin, 422, "invalid", `["body","template_storage"]`},
		{one, i.body(`,"bridge":"nowhere"`), apitest.Admin, 422, "invalid", `["body","bridge"]`},
		{one, i.body(`,"ctid":1`), apitest.Admin, 422, "invalid", `["body","ctid"]`},
		{one, i.body(`,"nothing":1`), apitest.Admin, 422, "invalid", ""},
		{one, i.body(`,"answers":["a\nb"]`), apitest.Admin, 422, "invalid", `["body","answers",0]`},
		{one, i.body(`,"overrides":{"token":null}`), apitest.Admin, 422, "invalid", "secrets must be sent again"},
		{one, i.body(`,"overrides":{"cpu":0}`), apitest.Admin, 422, "invalid", `["body","overrides","cpu"]`},
		{one, i.body(`,"overrides":{"cpu":1.5}`), apitest.Admin, 422, "invalid", `["body","overrides","cpu"]`},
		{one, i.body(`,"overrides":{"cpu":[1]}`), apitest.Admin, 422, "invalid", `["body","overrides","cpu"]`},
		{one, i.body(`,"overrides":{"token":""}`), apitest.Admin, 422, "invalid", `["body","overrides","token"]`},
		{one, i.body(`,"overrides":{"token":"zqsecret\u0000x"}`), apitest.Admin, 422, "invalid", `["body","overrides","token"]`},
		{one, i.body(`,"overrides":{"post_install":"/x"}`), apitest.Admin, 422, "invalid", `["body","overrides","post_install"]`},
		{one, i.body(`,"overrides":{"PATH":"/x","LD_PRELOAD":"/x","BASH_ENV":"/x","mode":"x"}`), apitest.Admin, 422, "invalid",
			`["body","overrides","LD_PRELOAD"]`},
	} {
		i.Run(t, apitest.Scenario{Name: s.url + " " + s.body, Method: "POST", URL: "/api/v1/" + s.url, Body: s.body, As: s.as, Status: s.status,
			Error: s.code, Contains: []string{s.text}, After: func(t *testing.T, a *apitest.Response) {
				t.Helper()
				if strings.Contains(string(a.Body), "zqsecret") {
					t.Errorf("a secret is repeated: %s", a.Body)
				}
			}})
	}
	for _, name := range []string{" ", "a b", "a'b", `a\"b`, `a\nb`, "$(id)", "`id`", "a;b", `a\u0000b`, "--help", "ü", "../x", "-a", "a-"} {
		body := strings.Replace(i.body(""), `"name":"wiki"`, `"name":"`+name+`"`, 1)
		i.Expect(t, "POST", one, body, apitest.Admin, 422, "invalid", `["body","name"]`)
	}
	if n := i.Value("SELECT (SELECT count(*) FROM jobs WHERE kind = 'app.install') || ' ' || (SELECT count(*) FROM consents)"); n != "0 0" {
		t.Errorf("jobs and consents: %s", n)
	}
	i.Expect(t, "DELETE", "hosts/1/credentials/ssh_key", "", apitest.Owner, 200, "")
	i.Expect(t, "POST", one, i.body(""), apitest.Admin, 409, "consent_required", "ssh_consent")
}

// What is wrong with a request is told before what it lacks.
func TestInstallApp_RefusesBadInputFirst(t *testing.T) {
	t.Parallel()
	i := newInstalls(t)
	const one = "catalog/wiki/install"
	bad := map[string]string{
		"name": `{"host_id":1,"name":"a;id"}`, "storage": `{"host_id":1,"name":"wiki","storage":"none"}`,
		"bridge": `{"host_id":1,"name":"wiki","bridge":"br9"}`, "ctid": `{"host_id":1,"name":"wiki","ctid":` + string(i.Refs["wiki"].ID) + `}`,
		"overrides": `{"host_id":1,"name":"wiki","overrides":{"nothing":"x"}}`,
	}
	for field, body := range bad {
		i.Expect(t, "POST", one, body, apitest.Admin, 422, "invalid", `["body","`+field+`"`)
	}
	i.Expect(t, "DELETE", "hosts/1/credentials/ssh_key", "", apitest.Owner, 200, "")
	for field, body := range bad {
		i.Expect(t, "POST", one, body, apitest.Admin, 422, "invalid", `["body","`+field+`"`)
	}
}

func TestDiscardInstall(t *testing.T) {
	t.Parallel()
	i := newInstalls(t)
	const mark = "hostler-job-0123456789abcdef"
	ref := i.Cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
	i.Cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Tags, g.Name = []string{mark}, "left" })
	insert := func(status string) string {
		i.Exec(fmt.Sprintf(`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, params)
			SELECT 'app.install', '%s', 1, id, 'host', id, name, jsonb_build_object('host_id', id, 'cluster_id', cluster_id, 'mark', '%s')
			FROM hosts`, status, mark))
		return i.Value("SELECT max(id) FROM jobs")
	}
	failed, good := insert("failed"), insert("succeeded")
	i.Expect(t, "DELETE", "catalog/installs/"+failed, `{"confirm":"left"}`, apitest.Operator, 403, "forbidden")
	i.Expect(t, "DELETE", "catalog/installs/"+failed, `{"confirm":"left"}`, &apitest.Caller{Role: identity.Owner, Team: 2}, 404, "not_found")
	i.Expect(t, "DELETE", "catalog/installs/"+good, `{"confirm":"left"}`, apitest.Admin, 409, "invalid_state")
	i.Expect(t, "DELETE", "catalog/installs/"+failed, "", apitest.Admin, 409, "confirm_required", `"confirm_phrase":"left"`)
	i.Expect(t, "DELETE", "catalog/installs/"+failed+"?plan=true", "", apitest.Admin, 200, "", "left is destroyed")
	i.Expect(t, "DELETE", "catalog/installs/"+failed, `{"confirm":"left"}`, apitest.Admin, 202, "", `"kind":"app.discard"`)
	i.Cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Tags = nil })
	i.Expect(t, "DELETE", "catalog/installs/"+failed, `{"confirm":"left"}`, apitest.Admin, 409, "invalid_state", "no longer has a container")
	i.Cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Tags = []string{mark} })
	i.Queue.Unsuspend()
	waittest.Until(t, "the container is destroyed", func() bool {
		return i.Value("SELECT status FROM jobs WHERE kind = 'app.discard'") == "succeeded"
	})
	if n := i.Value("SELECT count(*) FROM guests WHERE name = 'left'"); n != "0" {
		t.Errorf("%s rows of it are listed", n)
	}
}
