package updater

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A version is healthy only when it stays ready, and in one process. Settled is longer than what a test would wait for.
func TestHealthMustStay(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*scripted){
		"another process": func(v *scripted) { v.state.Process++ },
		"a restart":       func(v *scripted) { v.state.Restarts++ },
		"not ready":       func(v *scripted) { v.status = http.StatusServiceUnavailable },
		"another version": func(v *scripted) { v.version = newVersion },
		"it is gone":      func(v *scripted) { v.state.Process = 0 },
		"":                nil,
	} {
		t.Run("then "+name, func(t *testing.T) {
			t.Parallel()
			u, v := newUpdater(t, nowhere)
			settled := time.Minute
			if spoil == nil {
				settled = time.Second
			}
			u.hook = func(point string) {
				if point == "ready" && spoil != nil {
					v.change(func() { spoil(v) })
				}
			}
			if err := u.under(thisRun).healthy(t.Context(), oldVersion, settled); (err == nil) != (spoil == nil) {
				t.Error(err)
			}
		})
	}
}

// A service that ends again and again is given up, and one that ends a few times is not.
func TestRestartsAreCounted(t *testing.T) {
	t.Parallel()
	for _, most := range []int{maxRestarts - 1, maxRestarts} {
		u, v := newUpdater(t, nowhere)
		v.state.Restarts, v.status = 40, http.StatusServiceUnavailable // of earlier days
		asked := false
		v.onState = func(state *State) {
			if asked && state.Restarts < 40+most {
				state.Restarts++
			} else if asked {
				v.status = http.StatusOK
			}
			asked = true
		}
		_, err := u.under(thisRun).becomeReady(t.Context(), oldVersion)
		if most < maxRestarts && err != nil || most == maxRestarts && (err == nil || !strings.Contains(err.Error(), "it ended 5 times")) {
			t.Errorf("%d restarts: %v", most, err)
		}
	}
}

// Not every answer at the service's address is the service's.
func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	u, v := newUpdater(t, nowhere)
	r := u.under(thisRun)
	within, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	v.change(func() { v.state.Process, v.stranger = 0, true })
	if state, err := r.becomeReady(within, oldVersion); err == nil {
		t.Errorf("no process runs, and %v is ready", state)
	}
	if err := r.ready(t.Context(), oldVersion); err != nil {
		t.Fatal(err)
	}
	v.change(func() { v.status = http.StatusServiceUnavailable })
	if err := r.ready(t.Context(), oldVersion); err == nil {
		t.Error("it answers that it is not ready, and is")
	}
	if err := r.reachable(t.Context()); err != nil {
		t.Errorf("what is not ready can be asked all the same: %v", err)
	}
	v.change(func() { v.version = newVersion })
	r.cfg.ReadyTime = 300 * time.Millisecond
	if err := r.reachable(t.Context()); err == nil || !strings.Contains(err.Error(), "correct the address") {
		t.Errorf("another version answers: %v", err)
	}
	v.change(func() { v.status, v.version = http.StatusOK, oldVersion })
	r.cfg.Ready = strings.TrimSuffix(r.cfg.Ready, "/readyz") + "/elsewhere"
	if err := r.ready(t.Context(), oldVersion); err == nil {
		t.Error("an answer from elsewhere is taken for the service's")
	}
}
