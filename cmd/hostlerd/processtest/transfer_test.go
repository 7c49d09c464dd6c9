package processtest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/sshdtest"
	"github.com/hostler/hostler/internal/waittest"
)

// transferSide is one of two clusters that share nothing, each with a machine of its own.
type transferSide struct {
	*sim
	ssh    *sshdtest.Server
	folder string
	host   int64
}

// A guest goes to a cluster that shares nothing with its own, by a backup that is copied from one node's machine to the other's. The
// service is killed while the target is asked to restore it. The guest runs there then, is stopped where it was, and no file is left.
func TestGuestIsTransferred(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("who logs in is root, and the SSH server of a test lets in only who runs the test")
	}
	s := startService(t, options{})
	owner := setUp(t, s)
	from, to := newTransferSide(t, owner, "here"), newTransferSide(t, owner, "there")
	vm := owner.newGuest(t, from.sim, map[string]any{"name": "mover", "status": "running"})
	owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", from.host), nil, nil)
	guests := &snapshotRun{t: t, owner: owner, cluster: from.sim, vmid: vm}
	path := fmt.Sprintf("/api/v1/vms/%d", guests.idOf("/api/v1/vms", from.host, vm))
	var check struct {
		Possible bool
		Strategy string
	}
	a := owner.must(t, http.StatusOK, http.MethodPost, path+"/migrate/preflight", map[string]any{"target_host_id": to.host}, &check)
	if !check.Possible || check.Strategy != "transfer" {
		t.Fatalf("the check says %s", a.Body)
	}
	to.fault(t, map[string]any{"kind": "delay", "delay_ms": 30000, "times": 1, "after": true,
		"match": map[string]any{"method": "POST", "path": "/nodes/{node}/qemu"}})
	id := started(t, owner, path+"/migrate", map[string]any{"target_host_id": to.host, "confirm": "mover"}).ID
	waittest.Succeeds(t, "the target is asked to restore it", func() error {
		if j := progress(t, owner, id); j.Status != "queued" && j.Status != "running" {
			t.Fatalf("the job ended %s: %s\n%s", j.Status, j.Error, transcript(t, owner, id))
		}
		if struck(t, to.sim) == 0 {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	s.kill()
	to.healFaults(t)
	s.start(t)
	end := ended(t, owner, id)
	text := transcript(t, owner, id)
	if end.Status != "succeeded" || !strings.Contains(text, "the file is the same on both machines, with the SHA-256") {
		t.Fatalf("the job ended %s: %s\n%s", end.Status, end.Error, text)
	}
	if n := to.stats(t).Requests["POST /nodes/{node}/qemu"]; n != 1 {
		t.Errorf("the target was asked %d times\n%s", n, text)
	}
	for _, side := range []*transferSide{from, to} {
		owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", side.host), nil, nil)
		left, err := filepath.Glob(side.folder + "/dump/*")
		if err != nil || len(left) > 0 {
			t.Errorf("the machine has %v, %v\n%s", left, err, text)
		}
		var all []guestView
		owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/vms?host=%d", side.host), nil, &all)
		want := map[*transferSide]string{from: "stopped", to: "running"}[side]
		if len(all) != 1 || all[0].Status != want {
			t.Errorf("the host %d has %+v, want one that is %s\n%s", side.host, all, want, text)
		}
	}
}

func newTransferSide(t *testing.T, owner *client, name string) *transferSide {
	t.Helper()
	side := &transferSide{ssh: sshdtest.Start(t), folder: t.TempDir()}
	side.sim = startSim(t, "--scenario", "one", "--guests", "-1", "--auth-delay", "0", "--resources-lag", "0", "--recommended",
		"--task-duration", "50ms", "--backup-folder", side.folder, "--node-prefix", name)
	var host struct {
		ID  int64
		SSH sshView
	}
	owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", map[string]any{
		"name": name, "address": side.URL, "tls_fingerprint": side.Fingerprint, "ssh_enroll": true, "ssh_consent": true,
		"ssh_port": side.ssh.Port(), "token_id": side.Tokens["monitoring"].ID, "token_secret": side.Tokens["monitoring"].Secret,
	}, &host)
	side.host = host.ID
	side.ssh.Authorize(host.SSH.Pending.PublicKey)
	path := fmt.Sprintf("/api/v1/hosts/%d", host.ID)
	owner.must(t, http.StatusOK, http.MethodPost, path+"/ssh/verify", nil, nil)
	for _, capability := range []string{"lifecycle", "backup"} {
		owner.must(t, http.StatusOK, http.MethodPost, path+"/credentials", map[string]any{"capability": capability,
			"token_id": side.Tokens[capability].ID, "token_secret": side.Tokens[capability].Secret}, nil)
	}
	owner.must(t, http.StatusOK, http.MethodPost, path+"/sync", nil, nil)
	return side
}
