package processtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
)

// sideBySide is a service with two hosts of different kinds: a simulated
// Proxmox VE cluster and a real LXD. It shows that one does not affect the
// other, and that no word of one kind appears in responses about the other.
type sideBySide struct {
	service *service
	owner   *client
	db      *db.DB
	pve     *sim
	lxd     *lxdtest.Server
	proxy   *lxdProxy
	// pveHost and lxdHost are their hosts' ids.
	pveHost, lxdHost int64
	// node is what the LXD server calls itself.
	node string
	// vm is a VM of the cluster that runs.
	vm guestView
	// apps are the LXD containers that are apps, by their ids at the server.
	apps map[string]*lxdApp
}

// lxdApp is a container of the LXD server that is an app.
type lxdApp struct {
	lxdapi.InstanceRef
	id   int64
	path string
}

// otherProject is the project of those containers that are not in the default one.
const otherProject = "customers"

// sideGuest is what the tests read of a guest of either kind.
type sideGuest struct {
	ID        int64
	Kind      string
	Name      string
	VMID      *int64
	Ref       string `json:"guest_ref"`
	Status    string
	HostID    int64  `json:"host_id"`
	Host      string `json:"host"`
	Node      string
	Pool      string
	AppID     *int64 `json:"app_id"`
	CPUs      *float64
	Memory    *int64 `json:"memory_bytes"`
	ClusterID int64  `json:"cluster_id"`
}

// startSideBySide starts all and enrols both hosts as people do: one with tokens, the other with one-time join tokens.
func startSideBySide(t *testing.T) *sideBySide {
	t.Helper()
	s := &sideBySide{lxd: lxdtest.New(t), apps: map[string]*lxdApp{}}
	s.pve = startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "8", "--auth-delay", "0")
	s.lxd.Project(t, otherProject)
	for ref, image := range map[lxdapi.InstanceRef]string{
		{Project: "default", Name: "idle"}: lxdtest.Tiny, {Project: "default", Name: "web"}: lxdtest.Tiny,
		{Project: "default", Name: "spare"}: lxdtest.Tiny, {Project: otherProject, Name: "web"}: lxdtest.Tiny,
		{Project: "default", Name: "deaf"}: lxdtest.Stubborn, {Project: otherProject, Name: "deaf-too"}: lxdtest.Stubborn,
	} {
		s.lxd.Container(t, ref.Project, ref.Name, image)
		if ref.Name != "idle" && ref.Name != "spare" {
			s.lxd.SetStatus(t, ref, "Running")
			s.lxd.Listening(t, ref)
		}
	}
	plugins := pluginFolder(t, modulePath+"cmd/hostler-plugin-pve", modulePath+"cmd/hostler-plugin-lxd")
	s.service = startService(t, options{Env: []string{"HOSTLER_PLUGIN_DIR=" + plugins}})
	s.db = dbtest.Open(t, s.service.DB)
	s.owner = setUp(t, s.service)
	s.pveHost = s.owner.enrol(t, s.pve, "rack", "lifecycle")
	s.enrolLXD(t)
	s.adopt(t)
	s.vm = find(t, s.owner, fmt.Sprintf("/api/v1/vms?host=%d", s.pveHost), "running")
	return s
}

const modulePath = "github.com/hostler/hostler/"

// enrolLXD trades a join token for each of two capabilities.
func (s *sideBySide) enrolLXD(t *testing.T) {
	t.Helper()
	s.node = s.lxd.Name(t)
	projects := []string{"default", otherProject}
	var host struct {
		ID           int64
		Driver       string
		Fingerprint  string `json:"tls_fingerprint"`
		Capabilities []struct{ Key, Form string }
	}
	s.owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", map[string]any{
		"driver": "lxd", "name": "edge", "address": s.lxd.Address, "token_secret": string(s.lxd.JoinToken(t, "monitoring", projects...)),
	}, &host)
	if host.Driver != "lxd" || host.Fingerprint != s.lxd.Fingerprint || len(host.Capabilities) != 1 ||
		host.Capabilities[0].Form != "client_certificate" {
		t.Errorf("%+v", host)
	}
	s.lxdHost = host.ID
	s.owner.must(t, http.StatusOK, http.MethodPost, s.hostPath(s.lxdHost, "/credentials"), map[string]any{
		"capability": "lifecycle", "token_secret": string(s.lxd.JoinToken(t, "lifecycle", projects...)),
	}, nil)
	// The first inventory of a host is without figures where those cost requests of their own.
	waittest.Succeeds(t, "the LXD host has figures", func() error {
		s.owner.must(t, http.StatusOK, http.MethodPost, s.hostPath(s.lxdHost, "/sync"), nil, nil)
		if number(t, s.db, "SELECT count(*) FROM nodes WHERE host_id = $1 AND memory > 0", s.lxdHost) == 0 {
			return errors.New("it has none")
		}
		return nil
	})
}

func (s *sideBySide) hostPath(host int64, below string) string {
	return fmt.Sprintf("/api/v1/hosts/%d%s", host, below)
}

// adopt makes apps of all LXD containers but one.
func (s *sideBySide) adopt(t *testing.T) {
	t.Helper()
	var items []any
	for _, g := range s.guests(t, fmt.Sprintf("?host=%d", s.lxdHost)) {
		if g.Ref != "spare" {
			items = append(items, map[string]any{"host_id": s.lxdHost, "guest_ref": g.Ref, "name": strings.ReplaceAll(g.Ref, "/", " ")})
		}
	}
	var made []struct {
		ID  int64
		Ref string `json:"guest_ref"`
	}
	s.owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt", map[string]any{"items": items}, &made)
	for _, a := range made {
		project, name, found := strings.Cut(a.Ref, "/")
		if !found {
			project, name = "default", a.Ref
		}
		s.apps[a.Ref] = &lxdApp{lxdapi.InstanceRef{Project: project, Name: name}, a.ID, fmt.Sprintf("/api/v1/apps/%d", a.ID)}
	}
	if len(s.apps) != 5 {
		t.Fatalf("%+v", made)
	}
}

// guests is the list of all guests with this query.
func (s *sideBySide) guests(t *testing.T, query string) (all []sideGuest) {
	t.Helper()
	s.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/guests"+query, nil, &all)
	return all
}

// refs are the guests' ids at their hypervisors, sorted.
func refs(all []sideGuest) []string {
	ids := []string{}
	for _, g := range all {
		ids = append(ids, g.Ref)
	}
	slices.Sort(ids)
	return ids
}

// pluginProcess is the process of a driver's plugin.
func (s *sideBySide) pluginProcess(t *testing.T, driver string) int {
	t.Helper()
	for _, p := range pluginList(t, s.owner) {
		if p.Name == driver && p.PID != nil {
			return *p.PID
		}
	}
	t.Fatalf("no process of %s", driver)
	return 0
}
