package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/notifications/notificationstest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// canary is in the name of everything that belongs to the default team alone.
const canary = requesttest.Canary

// teamsFixture is a fixture in which two teams have a host, guests, an app and a job each: the default team, whose things all
// have the canary in their names, and the team blue.
type teamsFixture struct {
	*fixture
	blue int64
	// requested is what good requests are about, and changes are those of each resource once they were asked for.
	requested *requesttest.Fixture
	changes   map[string][]requesttest.Change
	// values are those of path parameters, for things of the default team.
	values map[string]string
}

func newTeamsFixture(t *testing.T) *teamsFixture {
	t.Helper()
	e := &teamsFixture{fixture: newFixture(t), changes: map[string][]requesttest.Change{}}
	e.blue = identitytest.Team(t, e.db, "blue")
	e.requested = &requesttest.Fixture{API: e.API, T: t, DB: e.db, Users: e.users, Driver: e.driver}
	spec := memdriver.Spec{Nodes: 2, VMs: 6, Containers: 3}
	e.requested.Lab = e.requested.NewCluster(canary, spec)
	e.host = e.enrol(canary+"-host", canary+".mem", e.requested.Lab)
	e.vm, e.app, e.job = e.occupy(e.host)
	blue := e.enrol("blue-host", "blue.mem", e.requested.NewCluster("blue", spec))
	e.Run(t, apitest.Scenario{Name: "move", Method: "PATCH", URL: fmt.Sprintf("/api/v1/hosts/%d", blue), As: apitest.Owner,
		Body: fmt.Sprintf(`{"team_id":%d}`, e.blue), Status: 200})
	vm, _, _ := e.occupy(blue)
	e.Run(t, post("draft", "/api/v1/firewall/drafts", fmt.Sprintf(`{"host_id":%d,"name":"blue-draft","changes":[`+
		`{"scope":{"kind":"vm","id":%d},"action":"create_rule","pos":0,"rule":{"type":"in","action":"DROP"}}]}`, blue, vm), 201))
	e.Run(t, post("template", "/api/v1/firewall/templates", fmt.Sprintf(
		`{"name":"blue-rules","team_id":%d,"content":{"rules":[{"type":"in","action":"DROP"}]}}`, e.blue), 201))
	e.Run(t, post("channel", "/api/v1/notification-channels",
		strings.Replace(notificationstest.Webhook("blue-channel"), "{", fmt.Sprintf(`{"team_id":%d,`, e.blue), 1), 201))
	e.Run(t, post("test", fmt.Sprintf("/api/v1/notification-channels/%d/test", e.id("SELECT max(id) FROM notification_channels")), "", 200))
	e.exec(`INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity)
		SELECT team_id, id, 'host', id, name, 'host.offline', 'critical' FROM hosts WHERE id = $1`, blue)
	e.exec("UPDATE guests SET addresses = '{192.0.2.5/24}', addresses_at = now()") // without one a guest is nothing to watch
	e.requested.Host, e.requested.VM, e.requested.App = e.host, e.vm, e.app
	e.values = e.pathValues()
	return e
}

// send makes one request and reads its answer.
func (e *teamsFixture) send(method, target, body string, logIn func(*http.Request)) *apitest.Response {
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
	statuses := map[string]int{}
	for id, read := range reads() {
		statuses[id] = read.Status
	}
	e.MatrixWith(t, apitest.MatrixConfig{
		Columns: e.columns(), Values: e.values, Bodies: e.bodies(), Reads: statuses,
		Golden: filepath.Join("testdata", "matrix.txt"), GoldenRows: goldenFiles("matrix.txt"), Sample: 12,
	})
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
	for _, c := range e.allChanges() {
		o := operations[c.Operation]
		if o.Spec.On != op.Anywhere || o.Spec.Role == identity.NoRole {
			continue
		}
		answer := e.send(o.Method, fill(o.Path, e.values), c.Body, func(r *http.Request) { r.AddCookie(stranger.Cookie) })
		refused := answer.Status == http.StatusNotFound
		if c.Skips {
			refused = answer.Status == o.Spec.Status && allSkipped(t, answer.Body)
		}
		if c.Nameless { // which the canary below tells, that all names of the other team have
			refused = answer.Status == o.Spec.Status && len(jobsIn(answer.Body)) == 0
		}
		if !refused || strings.Contains(string(answer.Body), canary) {
			t.Errorf("%s on another team's things: %d %s", c.Operation, answer.Status, answer.Body)
		}
	}
}

// allSkipped reports whether nothing was done, because nothing that was named is there.
func allSkipped(t *testing.T, body []byte) bool {
	t.Helper()
	var answer struct {
		Jobs    []json.RawMessage
		Skipped []struct{ Error string }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	for _, s := range answer.Skipped {
		if s.Error != "not_found" {
			return false
		}
	}
	return len(answer.Jobs) == 0 && len(answer.Skipped) > 0
}

// Reads that name no thing show nothing of another team, nor count it, whatever they are asked to look for.
func TestListsShowNothingOfOtherTeams(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	owner := identitytest.As(t, e.users, identity.Owner)
	lists := slices.DeleteFunc(declared().Operations(), func(o *op.Operation) bool {
		return o.Method != http.MethodGet || strings.Contains(o.Path, "{") || o.Stream || o.Socket
	})
	reads, unsaid := reads(), map[string]bool{}
	for _, o := range lists {
		all := e.send(http.MethodGet, o.Path+longest, "", func(r *http.Request) { r.AddCookie(owner.Cookie) })
		if all.Status != cmp.Or(reads[o.Spec.ID].Status, http.StatusOK) {
			t.Errorf("%s as owner: %d %s", o.Spec.ID, all.Status, all.Body)
		}
		switch shows := strings.Contains(string(all.Body), canary); {
		case shows && nameless(reads[o.Spec.ID]):
			t.Errorf("%s is said to show no name of a team's, and shows an owner things of the default team: %.2000s", o.Spec.ID, all.Body)
		case !shows && !nameless(reads[o.Spec.ID]):
			t.Errorf("%s shows an owner no name of the default team's. Where that is right, say Teamless or Figures in Reads of its "+
				"<resource>test, which has a line in core/api/requests_test.go. It shows: %.2000s", o.Spec.ID, all.Body)
			unsaid[o.Spec.ID] = true
		}
	}
	accounts := make([]*identitytest.Account, identity.Owner+1)
	for role := range accounts {
		accounts[role] = identitytest.User(t, e.users, identitytest.In{e.blue: identity.Role(role)})
	}
	looks := 0
	for _, o := range lists {
		if unsaid[o.Spec.ID] {
			continue
		}
		for role, account := range accounts {
			role := identity.Role(role)
			for _, query := range e.queries(o) {
				if !sampletest.Selected(o.Spec.ID+role.String()+query, 12) {
					continue
				}
				e.leaks(t, o, nameless(reads[o.Spec.ID]), query, role, account)
				looks++
			}
		}
	}
	t.Logf("%d looks", looks)
}

// nameless reports whether the read shows no name of anything that belongs to a team.
func nameless(r requesttest.Read) bool { return r.Teamless != "" || r.Figures && !r.Names }

// Figures over what a caller may see count nothing of another team: when that gets more, they stay as they are.
func TestFiguresCountNothingOfOtherTeams(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	owner := identitytest.As(t, e.users, identity.Owner)
	theirs := identitytest.User(t, e.users, identitytest.In{e.blue: identity.Owner})
	type figures struct{ owner, theirs string }
	read := func() map[string]figures {
		all := map[string]figures{}
		for _, o := range declared().Operations() {
			if !reads()[o.Spec.ID].Figures {
				continue
			}
			ask := func(as *identitytest.Account) string {
				answer := e.send(http.MethodGet, o.Path, "", func(r *http.Request) { r.AddCookie(as.Cookie) })
				if answer.Status != http.StatusOK {
					t.Errorf("%s: %d %s", o.Spec.ID, answer.Status, answer.Body)
				}
				return string(answer.Body)
			}
			all[o.Spec.ID] = figures{ask(owner), ask(theirs)}
		}
		return all
	}
	before := read()
	e.enrol(canary+"-more", canary+"-more.mem", e.requested.NewCluster(canary+"-more", memdriver.Spec{Nodes: 2, VMs: 3, Containers: 2}))
	for id, now := range read() {
		if now.theirs != before[id].theirs {
			t.Errorf("%s of a team counts another team's host:\n%s\n%s", id, before[id].theirs, now.theirs)
		}
		if now.owner == before[id].owner || now.owner == now.theirs {
			t.Errorf("%s of an owner does not count a new host: %s", id, now.owner)
		}
	}
	if len(before) == 0 {
		t.Error("no operation has figures")
	}
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
func (e *teamsFixture) leaks(t *testing.T, o *op.Operation, teamless bool, query string, role identity.Role, as *identitytest.Account) {
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
		if !teamless && !strings.Contains(string(answer.Body), "blue-") {
			t.Errorf("%s shows %s of a team nothing of their own: %s", o.Spec.ID, role, answer.Body)
		}
	}
}
