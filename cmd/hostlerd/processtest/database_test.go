package processtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// PostgreSQL dies again and again while the API is used: clear errors, nothing lost, recovery without a hand.
func TestDatabaseKilledUnderLoad(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "20")
	s := startService(t, options{DB: privateDatabase})
	owner := setUp(t, s)
	owner.enrol(t, cluster, "lab", "lifecycle")
	all := listVMs(t, owner)

	load, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for load.Err() == nil {
				a, err := owner.try(load, http.MethodGet, "/api/v1/vms", nil)
				if err == nil && a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable {
					t.Errorf("a reader got %d: %s", a.Status, a.Body)
					return
				}
			}
		})
	}
	taken := map[int64]string{}
	for i, g := range all {
		if i == 2 || i == 5 {
			killPostgres(t, s)
		}
		if g.Status != "running" {
			continue
		}
		// The request is made until it was taken: a refusal must not have left a job behind.
		waittest.Succeeds(t, "the job is taken", func() error {
			a, err := owner.try(t.Context(), http.MethodPost, fmt.Sprintf("/api/v1/vms/%d/stop", g.ID), nil)
			if err != nil {
				return err
			}
			var reply struct{ Job jobView }
			switch a.Status {
			case http.StatusAccepted:
				_ = json.Unmarshal(a.Body, &reply)
				taken[reply.Job.ID] = g.Name
				return nil
			case http.StatusServiceUnavailable:
				return fmt.Errorf("%s", a.Body)
			default:
				t.Fatalf("the request got %d: %s", a.Status, a.Body)
				return nil
			}
		})
	}
	killPostgres(t, s)
	for id, name := range taken {
		if j := ended(t, owner, id); j.Status != "succeeded" {
			t.Errorf("the job on %s ended %s: %s", name, j.Status, j.Error)
		}
	}
	stop()
	readers.Wait()
	if n := cluster.sent(t, "stop"); n != len(taken) {
		t.Errorf("%d requests for %d jobs", n, len(taken))
	}
	waittest.Succeeds(t, "the service is ready", func() error {
		if a, err := owner.try(t.Context(), http.MethodGet, "/readyz", nil); err != nil || a.Status != http.StatusOK {
			return fmt.Errorf("%v %s", err, a.Body)
		}
		return nil
	})
	s.stop(t)
}

// killPostgres ends the private cluster's postmaster without a word.
func killPostgres(t *testing.T, s *service) {
	t.Helper()
	waittest.Succeeds(t, "PostgreSQL runs", func() error {
		text, err := os.ReadFile(filepath.Join(s.State, "postgresql", "data", "postmaster.pid"))
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]))
		if err != nil {
			return err
		}
		if !alive(pid) {
			return errors.New("the process of the pid file is gone")
		}
		return syscall.Kill(pid, syscall.SIGKILL)
	})
}

// Two instances on one database take jobs for the same guests: each is done once, and each can be seen on both.
func TestTwoInstances(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "40")
	p := startPair(t)
	a, owner, other := p.a, p.owner, p.other
	owner.enrol(t, cluster, "lab", "lifecycle")

	var running []guestView
	for _, g := range listVMs(t, owner) {
		if g.Status == "running" {
			running = append(running, g)
		}
	}
	if len(running) < 5 {
		t.Fatalf("only %d guests run", len(running))
	}
	var mu sync.Mutex
	taken := map[int64]bool{}
	var askers sync.WaitGroup
	for _, g := range running {
		for _, c := range []*client{owner, other} {
			askers.Go(func() {
				reply, err := c.try(t.Context(), http.MethodPost, fmt.Sprintf("/api/v1/vms/%d/stop", g.ID), nil)
				if err != nil {
					t.Error(err)
					return
				}
				switch reply.Status {
				case http.StatusAccepted:
					var body struct{ Job jobView }
					_ = json.Unmarshal(reply.Body, &body)
					mu.Lock()
					defer mu.Unlock()
					taken[body.Job.ID] = true
				case http.StatusConflict: // the other instance has a job on it, or it is stopped by now
				default:
					t.Errorf("%d %s", reply.Status, reply.Body)
				}
			})
		}
	}
	askers.Wait()
	a.kill() // one dies with jobs running and queued: the other ends them
	for id := range taken {
		if j := ended(t, other, id); j.Status != "succeeded" {
			t.Errorf("job %d ended %s: %s\n%s", id, j.Status, j.Error, transcript(t, other, id))
		}
	}
	for _, g := range listVMs(t, other) {
		if g.Status == "running" {
			t.Errorf("%s still runs", g.Name)
		}
	}
	if n := cluster.sent(t, "stop"); n != len(running) {
		t.Errorf("%d requests for %d guests", n, len(running))
	}
}
