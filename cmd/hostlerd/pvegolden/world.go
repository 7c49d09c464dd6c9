// Package pvegolden records what the service asks of Proxmox VE: the requests
// of every operation and kind of job, and the privileges without which they
// fail. Both are observed with the simulator, by the whole service with the
// driver in one process. The recorded files are golden files: a change of them
// shows in a review that an operation became more expensive, or needs more
// rights.
//
// A World is a service with one simulated cluster. An Act is one use of an
// operation; Acts lists those that succeed, and Refusals those that cannot be
// done, whose texts are recorded too. A test prepares the world for an act,
// does it, and looks at the Outcome and at the simulator's statistics.
package pvegolden

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
	"github.com/hostler/hostler/sdk/endpoint"
)

// pace has time limits that only end what hangs, however busy the machine is,
// and polls tasks often, so that the tests are fast.
var pace = pve.Timing{
	Timeouts:  pveapi.Timeouts{Dial: time.Minute, Header: time.Minute, Stall: time.Minute},
	PollFirst: 5 * time.Millisecond, PollMost: 20 * time.Millisecond, Silence: 2 * time.Minute,
}

// World is a service with one host, whose cluster is simulated, and with a VM
// and a container in it. It is used by one test at a time.
type World struct {
	*pvesim.Cluster
	dbtest.SQL
	Service *service.Service

	t       testing.TB
	life    testing.TB // with which it ends; t may be a part of it
	handler http.Handler
	// cookies are those of users by their roles, made when they are needed.
	cookies map[identity.Role]*http.Cookie
	driver  *pve.Driver
	// self says in which guest the service runs: in none, unless an act sets
	// it.
	self *guest.Self
	// capabilities are those that the host has tokens of besides monitoring.
	capabilities []endpoint.Capability
	// vars are the values of the words in braces in an act.
	vars map[string]string
	// other is the cluster of the host far; nil before that is needed.
	other *pvesim.Cluster
	// backups counts those that were put on a storage without a job.
	backups int
	// archive is a storage for backups that other clusters can have as well.
	archive *pvesim.SharedStorage
}

// cluster starts a simulated cluster of two nodes that has the archive.
func cluster(t testing.TB, archive *pvesim.SharedStorage) *pvesim.Cluster {
	t.Helper()
	return pvesimtest.Start(t, pvesim.Options{
		Scenario: pvesim.ScenarioCluster, Nodes: 2, Loopbacks: true, Guests: -1, Recommended: true,
		SharedStorages: []*pvesim.SharedStorage{archive},
	})
}

// NewWorld returns a world whose host has the tokens of these capabilities in
// addition to monitoring.
func NewWorld(t testing.TB, capabilities ...endpoint.Capability) *World {
	t.Helper()
	archive := pvesim.NewSharedStorage(pvesim.StorageSpec{ID: "archive", Size: 8 << 40})
	w := &World{
		t: t, life: t, Cluster: cluster(t, archive), archive: archive, driver: pve.NewWithTiming(nil, pace),
		vars: map[string]string{"node": "pve1", "other_node": "pve2"},
	}
	t.Cleanup(w.driver.Close)
	w.Service = servicetest.New(t, func(c *service.Config) {
		c.Drivers, c.Firewalls = servicetest.Drivers{Driver: w.driver}, servicetest.Firewalls{Backend: pve.NewBackend(w.driver)}
		c.Loops, c.AllowLocal = []service.Loop{service.Jobs}, true
		w.self = &guest.Self{}
		c.Self = w.self
	})
	w.Service.Networks.SteadyTime = time.Nanosecond // however long a look lasts, the second good one is believed
	w.self.DB = w.Service.DB
	if err := w.Service.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.handler = w.Service.Handler() // once: declaring the operations takes longer than most of their answers
	w.SQL = dbtest.On(t, w.Service.DB)
	w.cookies = map[identity.Role]*http.Cookie{}
	w.AddImage("local", "iso", "installer.iso", 1<<20)
	w.reaches(w.Cluster)
	w.capabilities = capabilities
	w.RecreateGuests()
	return w
}

// SetTest sets the test that the world reports to from now on. The world still
// ends with the test that created it.
func (w *World) SetTest(t testing.TB) { w.t, w.SQL = t, dbtest.On(t, w.Service.DB) }

// reaches makes a cluster the one that address, fingerprint, token and secret are of.
func (w *World) reaches(c *pvesim.Cluster) {
	monitoring := c.Tokens()["monitoring"]
	for name, value := range map[string]string{"address": c.URL(""), "fingerprint": c.Fingerprint(""), "token": monitoring.ID,
		"secret": monitoring.Secret, "paste": paste(c)} {
		w.vars[name] = value
	}
}

// paste is what the token script prints where it has made all tokens, as text of JSON.
func paste(c *pvesim.Cluster) string {
	var out strings.Builder
	for _, capability := range endpoint.Capabilities() {
		token := c.Tokens()[string(capability)]
		fmt.Fprintf(&out, `  %s\n    token id: %s\n    secret:   %s\n`, capability, token.ID, token.Secret)
	}
	return out.String()
}

// AddCluster enrolls another cluster as the host of this name. It has the
// archive too, and its ID is available in braces under the name.
func (w *World) AddCluster(name string) *pvesim.Cluster {
	w.t.Helper()
	c := cluster(w.life, w.archive)
	w.reaches(c)
	w.enrol(name, c)
	w.want(http.MethodPost, "/hosts/{"+name+"}/sync", "", http.StatusOK)
	w.reaches(w.Cluster)
	return c
}

// enrol enrols a cluster as a host with the world's tokens.
func (w *World) enrol(name string, c *pvesim.Cluster) {
	w.t.Helper()
	w.want(http.MethodPost, "/hosts", `{"name":"`+name+`","address":"{address}","tls_fingerprint":"{fingerprint}","token_id":"{token}",
		"token_secret":"{secret}"}`, http.StatusCreated)
	id := w.Value("SELECT id FROM hosts WHERE name = $1", name)
	w.vars[name] = id
	for _, capability := range w.capabilities {
		w.give(id, c, capability)
	}
}

// give gives a host the cluster's token of a capability.
func (w *World) give(host string, c *pvesim.Cluster, capability endpoint.Capability) {
	w.t.Helper()
	token := c.Tokens()[string(capability)]
	w.want(http.MethodPost, "/hosts/"+host+"/credentials", fmt.Sprintf(`{"capability":%q,"token_id":%q,"token_secret":%q}`, capability,
		token.ID, token.Secret), http.StatusOK)
}

// RecreateGuests removes whatever acts have left and gives the world a new VM
// named vm and a new container named app. It is much faster than a new world.
func (w *World) RecreateGuests() {
	w.t.Helper()
	for _, node := range w.NodeNames() {
		if err := w.SetNodeOnline(node, true); err != nil {
			w.t.Fatal(err)
		}
	}
	w.SetExtraVotes(0)
	w.ClearFaults()
	w.SetTaskDuration(0)
	waittest.Until(w.t, "no job is left", func() bool {
		return w.Value("SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')") == "0"
	})
	w.self.Hostname = ""
	if w.other != nil {
		w.Exec("UPDATE hosts SET driver = 'pve' WHERE name = 'far'")
		w.equip("far", w.other)
		w.other.SetExtraVotes(0)
		if w.Value("SELECT count(*) FROM clusters WHERE NOT quorate") != "0" {
			w.syncFar()
		}
		for _, id := range w.other.Guests() {
			_ = w.other.RemoveGuest(id) // there is nobody else
		}
	}
	if w.Value("SELECT count(*) FROM hosts WHERE name = 'lab'") == "0" {
		w.enrol("lab", w.Cluster)
	}
	if id := w.Value("SELECT COALESCE(max(id), 0) FROM hosts WHERE name = $1", w.vars["other_node"]); id != "0" { // a peer
		w.want(http.MethodDelete, "/hosts/"+id, `{"confirm":"{other_node}"}`, http.StatusOK)
	}
	w.vars["host"] = w.Value("SELECT id FROM hosts WHERE name = 'lab'")
	w.equip("host", w.Cluster)
	for _, name := range []string{"vm", "app"} {
		if w.vars[name+"_vmid"] != "" {
			_ = w.RemoveGuest(w.VMID(name)) // an act may have destroyed it
		}
	}
	w.Exec("DELETE FROM apps")
	w.Exec("DELETE FROM destroyed_guests") // the next ones have the same numbers at once
	w.AddVM("vm", pvesim.GuestSpec{})
	w.AddApp("app", pvesim.GuestSpec{})
}

// equip gives a host, by what stands for its id in braces, the tokens that an act has taken away.
func (w *World) equip(host string, c *pvesim.Cluster) {
	w.t.Helper()
	for _, capability := range w.capabilities {
		if w.Value("SELECT count(*) FROM host_credentials WHERE host_id = $1 AND capability = $2", w.vars[host], capability) == "0" {
			w.give(w.vars[host], c, capability)
		}
	}
}

// AddVM makes a VM of this name and lets the service see it; its id stands in braces for its name from now on.
func (w *World) AddVM(name string, spec pvesim.GuestSpec) {
	w.t.Helper()
	spec.Type = pvesim.QEMU
	w.add(name, spec)
	w.vars[name] = w.Value("SELECT g.id FROM guests g JOIN hosts h ON h.cluster_id = g.cluster_id WHERE h.name = 'lab' AND g.vmid = $1",
		w.VMID(name))
}

// AddApp makes a container of this name and adopts it.
func (w *World) AddApp(name string, spec pvesim.GuestSpec) {
	w.t.Helper()
	spec.Type = pvesim.LXC
	w.add(name, spec)
	w.want(http.MethodPost, "/apps/adopt", `{"items":[{"host_id":{host},"vmid":{`+name+`_vmid}}]}`, http.StatusOK)
	w.vars[name] = w.Value("SELECT id FROM apps WHERE vmid = $1", w.VMID(name))
}

// add creates a guest at the hypervisor and lets the service see it.
func (w *World) add(name string, spec pvesim.GuestSpec) {
	w.t.Helper()
	spec.Name = name
	id, err := w.AddGuest(spec)
	if err != nil {
		w.t.Fatal(err)
	}
	w.vars[name+"_vmid"] = strconv.Itoa(id)
	w.Sync()
}

// VMID is the number of a guest that was made under this name.
func (w *World) VMID(name string) int {
	id, err := strconv.Atoi(w.vars[name+"_vmid"])
	if err != nil {
		w.t.Fatalf("there is no guest %s", name)
	}
	return id
}

// Change changes a guest without the service, and then lets the service see the
// change.
func (w *World) Change(name string, f func(*pvesim.GuestSpec)) {
	w.t.Helper()
	if err := w.ChangeGuest(w.VMID(name), f); err != nil {
		w.t.Fatal(err)
	}
	w.Sync()
}

// Running starts a guest behind the service's back.
func (w *World) Running(name string) {
	w.t.Helper()
	w.Change(name, func(s *pvesim.GuestSpec) { s.Status = pvesim.StatusRunning })
}

// Snapshot takes a snapshot of a guest behind the service's back.
func (w *World) Snapshot(guest, name string) {
	w.t.Helper()
	if err := w.AddSnapshot(w.VMID(guest), pvesim.SnapshotSpec{Name: name}); err != nil {
		w.t.Fatal(err)
	}
}

// Sync has the service poll the host.
func (w *World) Sync() {
	w.t.Helper()
	w.Exec("UPDATE guests SET read_at = NULL") // else what a job of the act before has read holds for a while
	w.want(http.MethodPost, "/hosts/{host}/sync", "", http.StatusOK)
}

// Response is what an operation answered.
type Response struct {
	Status int
	Body   []byte
}

// Request sends a request of an owner to a path below /api/v1, in which words in braces are replaced by their values.
func (w *World) Request(method, path, body string) Response {
	w.t.Helper()
	return w.ask(identity.Owner, method, path, body, "")
}

// ask is Request of a user with a role, zero is an owner, with a body of a media type; empty is JSON.
func (w *World) ask(as identity.Role, method, path, body, media string) Response {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, "/api/v1"+w.fill(path), strings.NewReader(w.fill(body)))
	as = cmp.Or(as, identity.Owner)
	if w.cookies[as] == nil {
		w.cookies[as] = identitytest.As(w.t, w.Service.Users, as).Cookie
	}
	r.AddCookie(w.cookies[as])
	if body != "" {
		r.Header.Set("Content-Type", cmp.Or(media, "application/json"))
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	text, _ := io.ReadAll(rec.Result().Body) // from memory
	return Response{rec.Code, text}
}

// want is Request for an answer with a status.
func (w *World) want(method, path, body string, status int) Response {
	w.t.Helper()
	a := w.Request(method, path, body)
	if a.Status != status {
		w.t.Fatalf("%s %s: %d, not %d: %s", method, path, a.Status, status, a.Body)
	}
	return a
}

// fill replaces the words in braces by their values.
func (w *World) fill(text string) string {
	for name, value := range w.vars {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// ended waits for the jobs of a response and returns them as they ended, sorted
// by kind.
func (w *World) ended(a Response) []job.View {
	w.t.Helper()
	var told struct {
		Job  *job.View
		Jobs []job.View
	}
	if a.Status >= 300 || len(a.Body) == 0 || a.Body[0] != '{' {
		return nil
	}
	if err := json.Unmarshal(a.Body, &told); err != nil {
		w.t.Fatalf("decoding %s: %v", a.Body, err)
	}
	jobs := told.Jobs
	if told.Job != nil && !slices.ContainsFunc(jobs, func(j job.View) bool { return j.ID == told.Job.ID }) {
		jobs = append(jobs, *told.Job)
	}
	for i := range jobs {
		waittest.Until(w.t, fmt.Sprintf("job %d has ended", jobs[i].ID), func() bool {
			now := w.want(http.MethodGet, fmt.Sprintf("/jobs/%d", jobs[i].ID), "", http.StatusOK)
			if err := json.Unmarshal(now.Body, &jobs[i]); err != nil {
				w.t.Fatal(err)
			}
			return jobs[i].FinishedAt != nil
		})
	}
	slices.SortFunc(jobs, func(a, b job.View) int { return strings.Compare(a.Kind, b.Kind) })
	return jobs
}
