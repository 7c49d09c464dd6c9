package processtest

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// What make run starts has every token and nodes that are reached each by its own address, so that all can be tried out there.
func TestDemo(t *testing.T) {
	t.Parallel()
	address := fmt.Sprintf("127.0.0.1:%d", programtest.FreePort(t))
	said := &waittest.Text{}
	demo := exec.Command(filepath.Join(bin(t), "hostler-demo"), "--bin", bin(t), "--listen", address, "--guests", "6")
	demo.Env = environment(t, dbtest.URL(t), t.TempDir())
	demo.Stdout, demo.Stderr = said, said
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = demo.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = demo.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	password := regexp.MustCompile(`password +(\S+)`)
	var found []string
	waittest.Succeeds(t, "the demonstration is ready", func() error {
		select {
		case <-ended:
			t.Fatalf("it has ended: %s", said.String())
		default:
		}
		if found = password.FindStringSubmatch(said.String()); found == nil {
			return fmt.Errorf("it says %q", said.String())
		}
		return nil
	})
	owner := newClient(&service{Base: "http://" + address})
	owner.logIn(t, "owner@example.com", found[1])
	var peers []peerView
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/hosts/1/peers", nil, &peers)
	if len(peers) != 2 || !peers[0].Reachable || !peers[1].Reachable {
		t.Errorf("the peers are %+v", peers)
	}
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/hosts/1/nodes/pve2/power?plan=true", map[string]any{"command": "reboot"}, nil)
}
