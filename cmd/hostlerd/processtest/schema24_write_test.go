package processtest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// schema24 is the folder of a dump that the service wrote when its schema was at version 24: see the README there.
const schema24 = "../../../migrations/testdata/schema24"

// schema24Programs names a folder with the programs of that time.
const schema24Programs = "HOSTLER_SCHEMA24_PROGRAMS"

// schema24Fleet starts the hypervisors that the dump knows: a cluster of three nodes, and a host in another team.
func schema24Fleet(t testing.TB) *sim {
	t.Helper()
	fleet := startSim(t, "--scenario", "fleet", "--nodes", "4", "--guests", "24", "--seed", "24", "--auth-delay", "0",
		"--resources-lag", "-1s", "--task-duration", "10ms")
	if len(fleet.Hosts) != 2 {
		t.Fatalf("the fleet has %d hosts", len(fleet.Hosts))
	}
	return fleet
}

// The names of what the dump has.
const (
	schema24Lab, schema24Shop = "lab", "shop" // hosts
	schema24App               = "schema24"
	schema24Hang              = "/nodes/{node}/qemu/{vmid}/status/current"
)

// Writes the dump anew, by the programs of that time: through the API, as users do.
func TestWriteSchema24(t *testing.T) {
	programs := os.Getenv(schema24Programs)
	if programs == "" {
		t.Skip("it writes a dump that is there; set " + schema24Programs + " as " + schema24 + "/README.md says to write it anew")
	}
	fleet := schema24Fleet(t)
	s := startService(t, options{Program: filepath.Join(programs, "hostlerd"), DB: dbtest.EmptyURL(t),
		Env: []string{"HOSTLER_PLUGIN_DIR=" + filepath.Join(programs, "plugins")}})
	owner, d := setUp(t, s), dbtest.Open(t, s.DB)
	if n := number(t, d, "SELECT max(version_id) FROM goose_db_version"); n != 24 {
		t.Fatalf("these programs write version %d", n)
	}
	var team struct{ ID int64 }
	owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/teams", map[string]any{"name": "Web shop"}, &team)
	for _, host := range []struct {
		name string
		at   *sim
		team int64
	}{{schema24Lab, &fleet.Hosts[0], 1}, {schema24Shop, &fleet.Hosts[1], team.ID}} {
		var made struct{ ID int64 }
		owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", map[string]any{
			"name": host.name, "address": host.at.URL, "tls_fingerprint": host.at.Fingerprint,
			"token_id": host.at.Tokens["monitoring"].ID, "token_secret": host.at.Tokens["monitoring"].Secret}, &made)
		owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/credentials", made.ID), map[string]any{
			"capability": "lifecycle", "token_id": host.at.Tokens["lifecycle"].ID, "token_secret": host.at.Tokens["lifecycle"].Secret}, nil)
		owner.must(t, http.StatusOK, http.MethodPatch, fmt.Sprintf("/api/v1/hosts/%d", made.ID), map[string]any{"team_id": host.team}, nil)
		for range 2 {
			owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", made.ID), nil, nil)
		}
	}
	member := owner.user(t, "operator", "viewer")
	owner.must(t, http.StatusOK, http.MethodPut, fmt.Sprintf("/api/v1/teams/%d/members/%d", team.ID, member.ID),
		map[string]any{"role": "operator"}, nil)
	var key struct{ Key string }
	owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/api-keys", map[string]any{"name": "backup script"}, &key)
	member.as(t, s)

	w := schema24Writer{t, owner}
	host := int64(number(t, d, "SELECT id FROM hosts WHERE name = $1", schema24Lab))
	container := number(t, d, "SELECT min(vmid) FROM guests WHERE host_id = $1 AND kind = 'container' AND status = 'running'", host)
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt",
		map[string]any{"items": []any{map[string]any{"host_id": host, "vmid": container, "name": schema24App}}}, nil)
	app := fmt.Sprintf("/api/v1/apps/%d", number(t, d, "SELECT id FROM apps"))
	stopped := find(t, owner, fmt.Sprintf("/api/v1/vms?host=%d", host), "stopped")
	vm := fmt.Sprintf("/api/v1/vms/%d", stopped.ID)
	for _, path := range []string{vm, app} { // at the end all is at the hypervisor as it was
		w.does(http.MethodPost, path+"/snapshots", map[string]any{"name": "before", "description": "before the change"})
		w.does(http.MethodDelete, path+"/snapshots/before", nil)
	}
	w.does(http.MethodPost, app+"/restart", nil)
	w.does(http.MethodPost, vm+"/start", nil)
	w.does(http.MethodPost, vm+"/stop", nil)
	newSchedule(t, owner, "vm.start", map[string]any{"vm_id": stopped.ID})
	newSchedule(t, owner, "app.restart", map[string]any{"app_id": number(t, d, "SELECT id FROM apps")})
	ran := w.asks(http.MethodPost, fmt.Sprintf("/api/v1/schedules/%d/run", newSchedule(t, owner, "vm.start",
		map[string]any{"vm_id": stopped.ID})), nil)
	if end := ended(t, owner, ran.ID); end.Status != "succeeded" {
		t.Fatal(end)
	}
	w.does(http.MethodPost, vm+"/stop", nil)

	// A job that is under way as the service dies: its request has not been sent.
	fleet.fault(t, map[string]any{"kind": "hang", "match": map[string]any{"path": schema24Hang}})
	act(t, owner, vm+"/start")
	waittest.Succeeds(t, "the job is under way", func() error {
		if struck(t, fleet) == 0 {
			return errors.New("it is not")
		}
		return nil
	})
	waittest.Succeeds(t, "sealing the audit log", func() error {
		if n := number(t, d, "SELECT count(*) FROM audit_pending"); n > 0 {
			return fmt.Errorf("%d rows are not sealed", n)
		}
		return nil
	})
	s.kill()
	writeSchema24(t, s, key.Key)
}

// schema24Writer asks for what the dump has.
type schema24Writer struct {
	t     *testing.T
	owner *client
}

func (w schema24Writer) asks(method, path string, in any) jobView {
	w.t.Helper()
	var reply struct{ Job jobView }
	w.owner.must(w.t, http.StatusAccepted, method, path, in, &reply)
	return reply.Job
}

func (w schema24Writer) does(method, path string, in any) {
	w.t.Helper()
	if end := ended(w.t, w.owner, w.asks(method, path, in).ID); end.Status != "succeeded" {
		w.t.Fatalf("%s %s: %+v", method, path, end)
	}
}

// notSQL are lines of a dump that are psql's own commands, or settings that older servers do not know.
var notSQL = regexp.MustCompile(`(?m)^(\\.*|SET transaction_timeout .*)\n`)

func writeSchema24(t *testing.T, s *service, key string) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "pg_dump", "--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=1000",
		"--dbname="+s.DB).Output()
	if err != nil {
		t.Fatal("dumping the database: ", err)
	}
	sealer, err := os.ReadFile(filepath.Join(s.State, "keys", "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{s.State, os.Getenv(schema24Programs), os.Getenv("HOME") + "/"} {
		if bytes.Contains(text, []byte(private)) {
			t.Errorf("the dump names %s", private)
		}
	}
	for name, content := range map[string][]byte{"database.sql": notSQL.ReplaceAll(text, nil), "secret.key": sealer,
		"api-key": []byte(key + "\n")} {
		if err := os.WriteFile(filepath.Join(schema24, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
