package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// canary is in the name of everything that belongs to the default team alone.
const canary = "zqcanary"

// teamsFixture is a fixture in which two teams have a host, guests, an app and a job each: the default team, whose things all
// have the canary in their names, and the team blue.
type teamsFixture struct {
	*fixture
	blue int64
	// team is a team with one member, both belonging to the instance.
	team, member int64
	// values are those of path parameters, for things of the default team.
	values map[string]string
	// lab is the default team's cluster, fresh one that is not enrolled, spare one that nothing else uses.
	lab, fresh, spare *memdriver.Cluster
	clusters          []*memdriver.Cluster
	spareID           int64
}

func newTeamsFixture(t *testing.T) *teamsFixture {
	t.Helper()
	e := &teamsFixture{fixture: newFixture(t)}
	e.blue = identitytest.Team(t, e.db, "blue")
	add := func(name string) *memdriver.Cluster {
		cluster := e.driver.Add(name+".mem:8006", memdriver.Spec{Nodes: 1, VMs: 6, Containers: 3, Prefix: name + "-"})
		e.clusters = append(e.clusters, cluster)
		return cluster
	}
	e.lab = add(canary)
	e.host = e.enrol(canary+"-host", canary+".mem", e.lab)
	e.vm, e.app, e.job = e.occupy(e.host)
	blue := e.enrol("blue-host", "blue.mem", add("blue"))
	e.Run(t, apitest.Scenario{Name: "move", Method: "PATCH", URL: fmt.Sprintf("/api/v1/hosts/%d", blue), As: apitest.Owner,
		Body: fmt.Sprintf(`{"team_id":%d}`, e.blue), Status: 200})
	e.occupy(blue)
	e.fresh, e.spare = add(canary+"-fresh"), add(canary+"-spare")
	e.spareID = e.enrol(canary+"-spare", canary+"-spare.mem", e.spare)
	id := func(n int64) string { return fmt.Sprint(n) }
	e.values = map[string]string{
		"host_id": id(e.host), "vm_id": id(e.vm), "app_id": id(e.app), "job_id": id(e.job), "node": canary + "-node1",
		"action": "start", "name": "zqcanary", "kind": "backup", "upid": url.PathEscape(e.task()),
	}
	stranger := identitytest.As(t, e.users, identity.Owner)
	e.values["key_id"] = id(identitytest.Key(t, e.users, stranger, identitytest.KeySpec{}).ID)
	e.values["schedule_id"] = id(e.plan(e.vm, canary+"-plan"))
	e.team = identitytest.Team(t, e.db, "zqcanary-team")
	e.member = identitytest.User(t, e.users, identitytest.In{e.team: identity.Viewer, identity.DefaultTeam: identity.Viewer}).ID
	e.values["user_id"], e.values["team_id"] = id(e.member), id(e.team)
	e.values["session_id"] = id(e.id("SELECT id FROM sessions WHERE user_id = $1", stranger.ID))
	return e
}

// task waits until the hypervisor has one and gives its id.
func (e *teamsFixture) task() (id string) {
	e.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); id == ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			e.t.Fatal("no task began")
		}
		var tasks []struct{ UPID string }
		answer := e.as(http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/tasks", e.host), "", apitest.Owner)
		if err := json.Unmarshal(answer.Body, &tasks); err != nil {
			e.t.Fatalf("%v: %s", err, answer.Body)
		}
		for _, task := range tasks {
			id = task.UPID
		}
	}
	return id
}

// as makes one request and reads its answer.
func (e *teamsFixture) as(method, target, body string, c *apitest.Caller) *apitest.Answer {
	e.t.Helper()
	return e.send(method, target, body, func(r *http.Request) { e.LogIn(r, c) })
}

func (e *teamsFixture) send(method, target, body string, logIn func(*http.Request)) *apitest.Answer {
	e.t.Helper()
	r, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	logIn(r)
	answer, err := e.Do(e.t.Context(), r, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return answer
}

func (e *teamsFixture) exec(sql string, args ...any) {
	e.t.Helper()
	dbtest.Exec(e.t, e.db, sql, args...)
}

// columns are all kinds of callers, each with a session of its own.
func (e *teamsFixture) columns() []apitest.Column {
	session := func(roles identitytest.In) (*identitytest.Account, func(*http.Request, string)) {
		account := identitytest.User(e.t, e.users, roles)
		return account, func(r *http.Request, _ string) { r.AddCookie(account.Cookie) }
	}
	all := []apitest.Column{{Name: "anon", Legend: "nobody", Unknown: true}}
	add := func(c apitest.Column, roles identitytest.In) *identitytest.Account {
		account, logIn := session(roles)
		c.LogIn = logIn
		all = append(all, c)
		return account
	}
	short := []string{"none", "view", "oper", "adm", "own"}
	for role := identity.NoRole; role <= identity.Owner; role++ {
		legend := "logged in, " + role.String() + " of the default team"
		if role == identity.NoRole {
			legend = "logged in, without any role"
		}
		add(apitest.Column{Name: short[role], Legend: legend, Role: role}, identitytest.In{identity.DefaultTeam: role})
	}
	for role := identity.Viewer; role <= identity.Owner; role++ {
		add(apitest.Column{Name: "f." + short[role], Legend: role.String() + " of another team only than the one whose things are asked for",
			Elsewhere: role},
			identitytest.In{e.blue: role})
	}
	add(apitest.Column{Name: "mixed", Legend: "viewer of the default team and owner of another", Role: identity.Viewer,
		Elsewhere: identity.Owner},
		identitytest.In{identity.DefaultTeam: identity.Viewer, e.blue: identity.Owner})
	owner := identitytest.In{identity.DefaultTeam: identity.Owner}
	revoked := add(apitest.Column{Name: "s.rev", Legend: "an owner's session that was revoked", Unknown: true}, owner)
	e.exec("DELETE FROM sessions WHERE user_id = $1", revoked.ID)
	deactivated := add(apitest.Column{Name: "deact", Legend: "an owner's session, the user being deactivated", Unknown: true}, owner)
	e.exec("UPDATE users SET is_active = false WHERE id = $1", deactivated.ID)
	all = append(all, e.keyColumns()...)
	add(apitest.Column{Name: "off", Legend: "an owner while all features are switched off", Role: identity.Owner, Off: true,
		Around: e.switchedOff}, owner)
	return all
}

// keyColumns are the kinds of API keys.
func (e *teamsFixture) keyColumns() []apitest.Column {
	owner, viewer := identitytest.As(e.t, e.users, identity.Owner), identitytest.As(e.t, e.users, identity.Viewer)
	column := func(name, legend string, as *identitytest.Account, role identity.Role, scopes func(string) []string) apitest.Column {
		made := map[string]*identitytest.APIKey{} // one for all operations of a resource
		return apitest.Column{Name: name, Legend: legend, Role: role, Key: scopes, LogIn: func(r *http.Request, scope string) {
			var wanted []string
			if scopes != nil {
				wanted = scopes(scope)
			}
			name := strings.Join(wanted, " ")
			if made[name] == nil {
				made[name] = identitytest.Key(e.t, e.users, as, identitytest.KeySpec{Scopes: wanted})
			}
			made[name].Set(r)
		}}
	}
	read := func(string) []string { return []string{"read"} }
	right := func(scope string) []string { return []string{scope} }
	wrong := func(scope string) []string {
		if scope == "hosts:write" {
			return []string{"vms:write", "apps:write"}
		}
		return []string{"hosts:write"}
	}
	none := func(name, legend string, key *identitytest.APIKey) apitest.Column {
		return apitest.Column{Name: name, Legend: legend, Unknown: true, LogIn: func(r *http.Request, _ string) { key.Set(r) }}
	}
	revoked := identitytest.Key(e.t, e.users, owner, identitytest.KeySpec{})
	e.exec("DELETE FROM api_keys WHERE id = $1", revoked.ID)
	gone := identitytest.As(e.t, e.users, identity.Owner)
	deactivated := identitytest.Key(e.t, e.users, gone, identitytest.KeySpec{})
	e.exec("UPDATE users SET is_active = false WHERE id = $1", gone.ID)
	past := time.Now().Add(-time.Hour)
	return []apitest.Column{
		column("key", "an owner's API key without scopes", owner, identity.Owner, nil),
		column("k.read", "an owner's API key of the scope read", owner, identity.Owner, read),
		column("k.right", "an owner's API key of the write scope of the operation's own resource", owner, identity.Owner, right),
		column("k.wrong", "an owner's API key of the write scope of another resource", owner, identity.Owner, wrong),
		column("k.view", "a viewer's API key of the write scope of the operation's own resource", viewer, identity.Viewer, right),
		none("k.exp", "an owner's API key that has expired", identitytest.Key(e.t, e.users, owner, identitytest.KeySpec{ExpiresAt: &past})),
		none("k.rev", "an owner's API key that was revoked", revoked),
		none("k.deact", "an owner's API key, the user being deactivated", deactivated),
	}
}

// switchedOff runs fn while all features that operations declare are off.
func (e *teamsFixture) switchedOff(fn func()) {
	names := []string{}
	for _, o := range declared().Operations() {
		if o.Spec.Entitlement != "" {
			names = append(names, o.Spec.Entitlement)
		}
	}
	value, err := json.Marshal(names)
	if err != nil {
		e.t.Fatal(err)
	}
	e.exec("INSERT INTO settings (key, value) VALUES ('entitlements.disabled', $1)", string(value))
	defer e.exec("DELETE FROM settings WHERE key = 'entitlements.disabled'")
	fn()
}

// Every operation against every kind of caller. The table shows what the declarations say; the service must agree.
func TestGoldenMatrix(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	bodies := map[string]string{}
	for _, d := range e.deeds() {
		bodies[d.operation] = d.body
	}
	e.MatrixWith(t, apitest.MatrixConfig{
		Columns: e.columns(), Values: e.values, Bodies: bodies, Reads: reads,
		Golden: filepath.Join("testdata", "matrix.txt"), GoldenRows: goldenFiles("matrix.txt"),
	})
}

// reads are the statuses of reads that the fixture does not answer with 200.
var reads = map[string]int{"get_setup": http.StatusConflict} // there are users

// change is a good request that changes something.
type change struct {
	operation string
	body      string
	// path are values that differ from the fixture's.
	path map[string]string
	// as is who does it: one owner for all when nil.
	as *identitytest.Account
	// status and code are what it comes to where that is no success; why says for what reason.
	status int
	code   string
	why    string
}

// takeSnapshot takes one of a guest behind the service's back.
func (e *teamsFixture) takeSnapshot(vmid int64, name string) {
	e.t.Helper()
	at, err := e.driver.Open(e.t.Context(), e.lab.Target(endpoint.Lifecycle))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, ref := range e.lab.Guests() {
		if ref.ID != vmid {
			continue
		}
		task, err := at.(hypervisor.Snapshotter).TakeSnapshot(e.t.Context(), ref, hypervisor.SnapshotSpec{Name: name})
		if err == nil {
			_, err = at.WaitTask(e.t.Context(), task, 0, func(hypervisor.LogLine) error { return nil })
		}
		if err != nil && plugin.KindOf(err) != plugin.Conflict {
			e.t.Fatal(err)
		}
	}
}

// deeds are good requests to all operations that change something, in an order in which each can succeed.
func (e *teamsFixture) deeds() []change {
	id := func(n int64) string { return fmt.Sprint(n) }
	spare := map[string]string{"host_id": id(e.spareID), "kind": "lifecycle"}
	other := e.id("SELECT vmid FROM guests WHERE kind = 'container' AND host_id = $1 ORDER BY vmid DESC LIMIT 1", e.host)
	guest := identitytest.As(e.t, e.users, identity.Viewer)
	leaving, renewing, cleaning := identitytest.As(e.t, e.users, identity.Owner), identitytest.As(e.t, e.users, identity.Owner),
		identitytest.As(e.t, e.users, identity.Owner)
	identitytest.LogIn(e.t, e.users, cleaning.User)
	key := identitytest.Key(e.t, e.users, cleaning, identitytest.KeySpec{})
	careful, enrolling := identitytest.As(e.t, e.users, identity.Owner), identitytest.As(e.t, e.users, identity.Owner)
	factor, begun := identitytest.TOTP(e.t, e.users, careful), identitytest.Enrol(e.t, e.users, enrolling)
	logIn := func(email string) string {
		return fmt.Sprintf(`{"email":%q,"password":%q}`, email, identitytest.Password)
	}
	for _, guest := range []int64{e.id("SELECT vmid FROM guests WHERE id = $1", e.vm), e.id("SELECT vmid FROM apps WHERE id = $1", e.app)} {
		e.takeSnapshot(guest, "zqcanary")
	}
	var half struct{ Pending string }
	answer := e.send(http.MethodPost, "/api/v1/auth/login", logIn(careful.Email), func(*http.Request) {})
	if err := json.Unmarshal(answer.Body, &half); err != nil {
		e.t.Fatal(err)
	}
	return []change{
		{operation: "complete_setup", body: `{"setup_token":"x","email":"first@example.com","password":"mehlwurm-zebra-19"}`, status: 409,
			code: "already_set_up",
			why:  "there are users; the setup's own tests begin without"},
		{operation: "log_in", body: logIn(guest.Email)},
		{operation: "complete_log_in", body: fmt.Sprintf(`{"pending":%q,"code":%q}`, half.Pending, factor.Code(e.t, 1))},
		{operation: "probe_host", body: strings.Replace(enrolment("x", canary+"-fresh.mem", e.fresh), `"name":"x",`, "", 1)},
		{operation: "write_token_script", body: `{"capabilities":["lifecycle"]}`},
		{operation: "create_host", body: enrolment(canary+"-fresh", canary+"-fresh.mem", e.fresh)},
		{operation: "patch_host", body: `{"node_shell_enabled":true}`},
		{operation: "set_self_host", body: `{"host_id":null}`},
		{operation: "sync_host"},
		{operation: "test_host"},
		{operation: "adopt_apps", body: fmt.Sprintf(`{"items":[{"host_id":%d,"vmid":%d}]}`, e.host, other)},
		{operation: "act_on_app"},
		{operation: "act_on_vm", path: map[string]string{"action": "start",
			"vm_id": id(e.id("SELECT max(id) FROM guests WHERE kind = 'vm' AND host_id = $1", e.host))}},
		{operation: "create_vm_snapshot", body: `{"name":"zqcanary"}`,
			path: map[string]string{"vm_id": id(e.id("SELECT id FROM guests WHERE kind = 'vm' AND host_id = $1 ORDER BY id DESC OFFSET 1 LIMIT 1",
				e.host))}},
		{operation: "create_app_snapshot", body: `{"name":"current"}`, status: 422, code: "invalid",
			why: "current means the present state; the resource's own tests take one"},
		{operation: "delete_vm_snapshot", path: map[string]string{"name": "none"}, status: 404, code: "not_found",
			why: "it has no snapshot; the resource's own tests delete one"},
		{operation: "delete_app_snapshot", path: map[string]string{"name": "none"}, status: 404, code: "not_found",
			why: "it has no snapshot; the resource's own tests delete one"},
		{operation: "rollback_vm_snapshot", body: `{"confirm":"x"}`, status: 409, code: "confirm_required",
			why: "another name is typed; the resource's own tests go back to one"},
		{operation: "rollback_app_snapshot", body: `{"confirm":"x"}`, status: 409, code: "confirm_required",
			why: "another name is typed; the resource's own tests go back to one"},
		{operation: "cancel_job", status: 409, code: "job_finished", why: "its job has ended; the resource's own tests cancel one that runs"},
		{operation: "rotate_host_credentials", body: lifecycleToken(e.spare), path: spare},
		{operation: "delete_host_credential", path: spare},
		{operation: "remove_host", body: fmt.Sprintf(`{"confirm":%q}`, canary+"-spare"), path: spare},
		{operation: "create_api_key", body: `{"name":"backup"}`},
		{operation: "revoke_api_key", as: cleaning, path: map[string]string{"key_id": id(key.ID)}},
		{operation: "create_user", body: `{"email":"zqcanary@example.com","password":"mehlwurm-zebra-19"}`},
		{operation: "patch_user", body: `{"display_name":"zqcanary"}`},
		{operation: "reset_password", body: `{"password":"mehlwurm-zebra-19"}`},
		{operation: "create_team", body: `{"name":"zqcanary"}`},
		{operation: "patch_team", body: `{"description":"x"}`},
		{operation: "set_team_member", body: `{"role":"operator"}`},
		{operation: "remove_team_member"},
		{operation: "delete_team"},
		{operation: "delete_user"},
		{operation: "patch_settings", body: `{"poll.interval_s":60}`},
		{operation: "create_schedule",
			body: fmt.Sprintf(`{"name":"zqcanary","cron":"0 3 * * *","job_kind":"vm.start","params":{"vm_id":%d}}`, e.vm)},
		{operation: "update_schedule", body: `{"enabled":false}`},
		{operation: "run_schedule"},
		{operation: "delete_schedule"},
		{operation: "request_update", body: `{"version":"1.1.0"}`},
		{operation: "request_meta_update", status: 409, code: "invalid_state", why: "the update was requested at its other path"},
		{operation: "clear_audit", body: `{"confirm":"clear audit log"}`},
		{operation: "enroll_totp"},
		{operation: "confirm_totp", as: enrolling, body: fmt.Sprintf(`{"code":%q}`, begun.Code(e.t, 0))},
		{operation: "disable_totp", as: careful, body: fmt.Sprintf(`{"password":%q}`, identitytest.Password)},
		{operation: "change_password", body: fmt.Sprintf(`{"current":%q,"new":"mehlwurm-zebra-19"}`, identitytest.Password), as: renewing},
		{operation: "revoke_session", as: cleaning,
			path: map[string]string{"session_id": id(e.id("SELECT max(id) FROM sessions WHERE user_id = $1", cleaning.ID))}},
		{operation: "log_out", as: leaving},
	}
}

// Every operation that changes something succeeds for an owner with a good request, or says why it does not.
func TestEveryChangeSucceeds(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	operations := map[string]*op.Operation{}
	for _, o := range declared().Operations() {
		if o.Method != http.MethodGet {
			operations[o.Spec.ID] = o
		}
	}
	e.finished(e.job)
	owner := identitytest.As(t, e.users, identity.Owner)
	for _, d := range e.deeds() {
		o := operations[d.operation]
		if o == nil {
			t.Errorf("%s is no operation that changes something, or stands here twice", d.operation)
			continue
		}
		delete(operations, d.operation)
		if (d.status == 0) != (d.why == "") {
			t.Errorf("%s: say why it is no success, and only then", d.operation)
		}
		e.do(t, o, d, owner)
	}
	for id := range operations {
		t.Errorf("there is no good request for %s among the deeds", id)
	}
}

func (e *teamsFixture) do(t *testing.T, o *op.Operation, d change, as *identitytest.Account) {
	t.Helper()
	if d.as != nil {
		as = d.as
	}
	values := maps.Clone(e.values)
	maps.Copy(values, d.path)
	answer := e.send(o.Method, fill(o.Path, values), d.body, func(r *http.Request) {
		if !o.Spec.Public {
			r.AddCookie(as.Cookie)
		}
	})
	good := answer.Status >= 200 && answer.Status < 300
	if d.status != 0 {
		good = answer.Status == d.status && answer.Problem() == d.code
	}
	if !good {
		t.Errorf("%s: %d, want %d %s\n%s", d.operation, answer.Status, d.status, d.code, answer.Body)
	}
}

// fill puts values into the placeholders of a path.
func fill(path string, values map[string]string) string {
	return parameter.ReplaceAllStringFunc(path, func(p string) string { return values[p[1:len(p)-1]] })
}

// finished waits for the end of a job.
func (e *teamsFixture) finished(job int64) {
	e.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for e.id("SELECT count(*) FROM jobs WHERE id = $1 AND status IN ('queued', 'running')", job) > 0 {
		if time.Now().After(deadline) {
			e.t.Fatal("the job did not end")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// What a body names is as little there for another team as what a path names.
func TestBodiesReachNothingOfOtherTeams(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	operations := map[string]*op.Operation{}
	for _, o := range declared().Operations() {
		operations[o.Spec.ID] = o
	}
	stranger := identitytest.User(t, e.users, identitytest.In{e.blue: identity.Owner})
	for _, d := range e.deeds() {
		o := operations[d.operation]
		if o.Spec.On != op.Anywhere || o.Spec.Role == identity.NoRole {
			continue
		}
		answer := e.send(o.Method, fill(o.Path, e.values), d.body, func(r *http.Request) { r.AddCookie(stranger.Cookie) })
		if answer.Status != http.StatusNotFound || strings.Contains(string(answer.Body), canary) {
			t.Errorf("%s on another team's things: %d %s", d.operation, answer.Status, answer.Body)
		}
	}
}

// ofNoTeam are reads that name no thing and show nothing that belongs to a team.
var ofNoTeam = map[string]string{
	"get_setup":           "says whether there is a user",
	"get_me":              "the caller's own account",
	"list_sessions":       "the caller's own sessions",
	"list_api_keys":       "the caller's own keys",
	"list_capabilities":   "the same everywhere",
	"list_schedule_kinds": "the same everywhere",
	"list_entitlements":   "the instance's features",
	"list_settings":       "the instance's settings",
	"get_cluster_summary": "counts only; the resource's own tests hold them for two teams",
	"get_update":          "the service's own updates",
	"get_meta_update":     "the same",
	"list_plugins":        "the machine's own, for admins of the instance",
}

// Reads that name no thing show nothing of another team, nor count it, whatever they are asked to look for.
func TestListsShowNothingOfOtherTeams(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	owner := identitytest.As(t, e.users, identity.Owner)
	lists := slices.DeleteFunc(declared().Operations(), func(o *op.Operation) bool {
		return o.Method != http.MethodGet || strings.Contains(o.Path, "{") || o.Stream
	})
	for _, o := range lists {
		all := e.send(http.MethodGet, o.Path+longest, "", func(r *http.Request) { r.AddCookie(owner.Cookie) })
		if all.Status != cmp.Or(reads[o.Spec.ID], http.StatusOK) {
			t.Errorf("%s as owner: %d %s", o.Spec.ID, all.Status, all.Body)
		}
		if _, none := ofNoTeam[o.Spec.ID]; none == strings.Contains(string(all.Body), canary) {
			t.Errorf("%s stands among those that show nothing of a team: %v; an owner sees %.2000s", o.Spec.ID, none, all.Body)
		}
	}
	looks := 0
	for _, o := range lists {
		for role := identity.NoRole; role <= identity.Owner; role++ {
			account := identitytest.User(t, e.users, identitytest.In{e.blue: role})
			for _, query := range e.queries(o) {
				e.leaks(t, o, query, role, account)
				looks++
			}
		}
	}
	t.Logf("%d looks", looks)
}

// longest asks for as much as a list gives at once.
const longest = "?per_page=500&limit=100"

// queries are query strings that look for the default team's things.
func (e *teamsFixture) queries(o *op.Operation) []string {
	return []string{
		longest, "", "?q=" + canary, "?search=" + canary, "?action=*",
		fmt.Sprintf("?host=%d", e.host), fmt.Sprintf("?host_id=%d", e.host), fmt.Sprintf("?vm=%d&app=%d", e.vm, e.app),
		fmt.Sprintf("?target=vm:%d", e.vm), fmt.Sprintf("?target=host:%d", e.host),
		fmt.Sprintf("?team=%d&team_id=%d", identity.DefaultTeam, identity.DefaultTeam),
	}
}

// leaks looks for the canary, and for a count that is not that of what is shown.
func (e *teamsFixture) leaks(t *testing.T, o *op.Operation, query string, role identity.Role, as *identitytest.Account) {
	t.Helper()
	answer := e.send(http.MethodGet, o.Path+query, "", func(r *http.Request) { r.AddCookie(as.Cookie) })
	body := strings.ReplaceAll(string(answer.Body), query[min(len(query), 1):], "")
	if strings.Contains(body, canary) || answer.Status >= 500 {
		t.Errorf("%s%s as %s of another team: %d %s", o.Spec.ID, query, role, answer.Status, answer.Body)
	}
	var list []json.RawMessage
	count := answer.Header.Get("X-Total-Count")
	if answer.Status == http.StatusOK && count != "" && json.Unmarshal(answer.Body, &list) == nil && count != fmt.Sprint(len(list)) {
		t.Errorf("%s%s as %s of another team counts %s and shows %d", o.Spec.ID, query, role, count, len(list))
	}
	if query == longest && o.Spec.On == op.Anywhere && o.Spec.Role != identity.NoRole && role >= o.Spec.Role {
		if _, none := ofNoTeam[o.Spec.ID]; !none && !strings.Contains(string(answer.Body), "blue-") {
			t.Errorf("%s shows %s of a team nothing of their own: %s", o.Spec.ID, role, answer.Body)
		}
	}
}
