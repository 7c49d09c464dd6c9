package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/alerts/alertstest"
	"github.com/hostler/hostler/core/api/apps/appstest"
	"github.com/hostler/hostler/core/api/appscripts/appscriptstest"
	"github.com/hostler/hostler/core/api/audit/audittest"
	"github.com/hostler/hostler/core/api/auth/authtest"
	"github.com/hostler/hostler/core/api/backups/backupstest"
	"github.com/hostler/hostler/core/api/catalog/catalogtest"
	"github.com/hostler/hostler/core/api/clones/clonestest"
	"github.com/hostler/hostler/core/api/cluster/clustertest"
	"github.com/hostler/hostler/core/api/configs/configstest"
	"github.com/hostler/hostler/core/api/consoles/consolestest"
	"github.com/hostler/hostler/core/api/firewall/firewalltest"
	"github.com/hostler/hostler/core/api/guests/gueststest"
	"github.com/hostler/hostler/core/api/hosts/hoststest"
	"github.com/hostler/hostler/core/api/jobs/jobstest"
	"github.com/hostler/hostler/core/api/keys/keystest"
	"github.com/hostler/hostler/core/api/meta/metatest"
	"github.com/hostler/hostler/core/api/metrics/metricstest"
	"github.com/hostler/hostler/core/api/migrations/migrationstest"
	"github.com/hostler/hostler/core/api/network/networktest"
	"github.com/hostler/hostler/core/api/nics/nicstest"
	"github.com/hostler/hostler/core/api/notifications/notificationstest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/options/optionstest"
	"github.com/hostler/hostler/core/api/plugins/pluginstest"
	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/api/schedules/schedulestest"
	"github.com/hostler/hostler/core/api/settings/settingstest"
	"github.com/hostler/hostler/core/api/setup/setuptest"
	"github.com/hostler/hostler/core/api/snapshots/snapshotstest"
	"github.com/hostler/hostler/core/api/sso/ssotest"
	"github.com/hostler/hostler/core/api/storage/storagetest"
	"github.com/hostler/hostler/core/api/teams/teamstest"
	"github.com/hostler/hostler/core/api/uploads/uploadstest"
	"github.com/hostler/hostler/core/api/users/userstest"
	"github.com/hostler/hostler/core/api/vms/vmstest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/internal/waittest"
)

// requests are those of all resources, by folder. A resource of which nothing is to be said has none.
var requests = map[string]requesttest.Requests{
	"alerts":     alertstest.Requests,
	"apps":       appstest.Requests,
	"appscripts": appscriptstest.Requests,
	"audit":      audittest.Requests,
	"auth":       authtest.Requests,
	"backups":    backupstest.Requests,
	"catalog":    catalogtest.Requests,
	"clones":     clonestest.Requests,
	"cluster":    clustertest.Requests,
	"configs":    configstest.Requests,
	"consoles":   consolestest.Requests,
	"firewall":   firewalltest.Requests,
	"guests":     gueststest.Requests,
	"hosts":      hoststest.Requests,
	"jobs":       jobstest.Requests,
	"keys":       keystest.Requests,
	"meta":       metatest.Requests,
	"metrics":    metricstest.Requests,
	"nics":       nicstest.Requests,
	"options":    optionstest.Requests,
	"plugins":    pluginstest.Requests,
	"schedules":  schedulestest.Requests,
	"settings":   settingstest.Requests,
	"setup":      setuptest.Requests,
	"snapshots":  snapshotstest.Requests,
	"network":    networktest.Requests,
	"sso":        ssotest.Requests,
	"storage":    storagetest.Requests,
	"teams":      teamstest.Requests,
	"uploads":    uploadstest.Requests,
	"users":      userstest.Requests,
	"vms":        vmstest.Requests,

	"migrations":    migrationstest.Requests,
	"notifications": notificationstest.Requests,
}

// folders are those of the resources that have requests, in the order of the alphabet.
func folders() []string { return slices.Sorted(maps.Keys(requests)) }

// reads is what the resources say of operations that read.
func reads() map[string]requesttest.Read {
	all := map[string]requesttest.Read{}
	for _, r := range requests {
		maps.Copy(all, r.Reads)
	}
	return all
}

// pathValues are those of all path parameters.
func (e *teamsFixture) pathValues() map[string]string {
	e.t.Helper()
	all := map[string]string{}
	for name, id := range map[string]int64{"host_id": e.host, "vm_id": e.vm, "app_id": e.app, "job_id": e.job} {
		all[name] = fmt.Sprint(id)
	}
	for _, folder := range folders() {
		if requests[folder].Values == nil {
			continue
		}
		for name, value := range requests[folder].Values(e.requested) {
			if other, taken := all[name]; taken && other != value {
				e.t.Errorf("%s: %s is %q, and elsewhere %q", folder, name, value, other)
			}
			all[name] = value
		}
	}
	return all
}

// changesOf are a resource's good requests that change something. They are made once: some make what they are about.
func (e *teamsFixture) changesOf(folder string) []requesttest.Change {
	e.t.Helper()
	if _, made := e.changes[folder]; !made && requests[folder].Changes != nil {
		e.changes[folder] = requests[folder].Changes(e.requested)
	}
	return e.changes[folder]
}

// allChanges are those of all resources.
func (e *teamsFixture) allChanges() (all []requesttest.Change) {
	e.t.Helper()
	for _, folder := range folders() {
		all = append(all, e.changesOf(folder)...)
	}
	return all
}

// bodies are those of the good requests, by operation.
func (e *teamsFixture) bodies() map[string]string {
	e.t.Helper()
	bodies := map[string]string{}
	for _, c := range e.allChanges() {
		bodies[c.Operation] = c.Body
	}
	return bodies
}

// A resource whose package of good requests has no line among requests would be as one that says nothing.
func TestRequestsAreListed(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("*/*test")
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, path := range found {
		folder, name := filepath.Split(path)
		folder = filepath.Clean(folder)
		if _, listed := requests[folder]; name == folder+"test" && !listed {
			t.Errorf("core/api/%s has no line among the requests in core/api/requests_test.go", path)
		}
	}
}

// What is said of a read is said by its resource.
func TestReadsBelongToTheirResource(t *testing.T) {
	t.Parallel()
	resources := operations()
	for _, folder := range folders() {
		own := resources[folder]
		if own == nil {
			t.Errorf("%s is no resource", folder)
		}
		for id := range requests[folder].Reads {
			if own[id] == nil || own[id].Method != http.MethodGet {
				t.Errorf("%s is no operation of %s that reads", id, folder)
			}
		}
	}
}

// operations are those of all resources, by folder and id.
func operations() map[string]map[string]*op.Operation {
	all, resources := declared().Operations(), map[string]map[string]*op.Operation{}
	for _, r := range api.Resources() {
		resources[r.Folder] = map[string]*op.Operation{}
		for _, o := range all {
			if slices.Contains(r.Operations, o.Spec.ID) {
				resources[r.Folder][o.Spec.ID] = o
			}
		}
	}
	return resources
}

// Every operation that changes something succeeds for an owner with a good request of its resource, or says why it does not. In
// both orders, because no resource's requests need those of another.
func TestEveryChangeSucceeds(t *testing.T) {
	t.Parallel()
	resources, backwards := operations(), folders()
	slices.Reverse(backwards)
	for name, order := range map[string][]string{"forwards": folders(), "backwards": backwards} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTeamsFixture(t)
			e.finished(e.job)
			missing := map[string]bool{}
			for _, o := range declared().Operations() {
				missing[o.Spec.ID] = o.Method != http.MethodGet
			}
			owner := identitytest.As(t, e.users, identity.Owner)
			for _, folder := range order {
				own := resources[folder]
				for _, c := range e.changesOf(folder) {
					if own[c.Operation] == nil || !missing[c.Operation] {
						t.Errorf("%s is no operation of %s that changes something, or stands there twice", c.Operation, folder)
						continue
					}
					delete(missing, c.Operation)
					if (c.Status == 0) != (c.Why == "") {
						t.Errorf("%s: say why it is no success, and only then", c.Operation)
					}
					e.do(t, own[c.Operation], c, owner)
				}
			}
			for id, changes := range missing {
				if changes {
					t.Errorf("there is no good request for %s below the folder of its resource", id)
				}
			}
		})
	}
}

func (e *teamsFixture) do(t *testing.T, o *op.Operation, c requesttest.Change, as *identitytest.Account) {
	t.Helper()
	if c.As != nil {
		as = c.As
	}
	values := maps.Clone(e.values)
	maps.Copy(values, c.Path)
	answer := e.send(o.Method, fill(o.Path, values), c.Body, func(r *http.Request) {
		c.SetHeaders(r)
		if !o.Spec.Public {
			r.AddCookie(as.Cookie)
		}
	})
	good := answer.Status >= 200 && answer.Status < 300
	if c.Status != 0 {
		good = answer.Status == c.Status && answer.Problem() == c.Code
	}
	if !good {
		t.Errorf("%s: %d, want %d %s\n%s", c.Operation, answer.Status, c.Status, c.Code, answer.Body)
	}
}

// fill puts values into the placeholders of a path.
func fill(path string, values map[string]string) string {
	return parameter.ReplaceAllStringFunc(path, func(p string) string { return values[p[1:len(p)-1]] })
}

// finished waits for the end of a job.
func (e *teamsFixture) finished(job int64) {
	e.t.Helper()
	waittest.Until(e.t, "the job has ended", func() bool {
		return e.id("SELECT count(*) FROM jobs WHERE id = $1 AND status IN ('queued', 'running')", job) == 0
	})
}
