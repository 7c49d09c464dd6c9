package service

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Health says that the process lives and serves, and nothing else: a restart would not mend the database.
func Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		report(w, http.StatusOK, map[string]string{"status": "ok"})
	})
}

// readyFor is how long an answer of ready holds. Anybody may ask, and asking the database takes a connection: however
// many ask at once, one question is under way.
// An answer that something is missing holds for unreadyFor only: who waits for a start wants to know of its end.
const (
	readyFor   = time.Second
	unreadyFor = 50 * time.Millisecond
)

// ready says whether the service can do its work, and what is missing. Details stay in the log: the page is open.
func ready(d *db.DB, installed plugins.Manager, box *secret.Box, version string) http.Handler {
	var mu sync.Mutex
	var asked time.Time
	var status int
	var checks map[string]string
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		holds := readyFor
		if status != http.StatusOK {
			holds = unreadyFor
		}
		if time.Since(asked) > holds {
			status, checks = look(r.Context(), d, installed, box)
			checks["version"] = version
			asked = time.Now()
		}
		code, body := status, checks
		mu.Unlock()
		report(w, code, body)
	})
}

// look asks the database and the plugins, and what is known of the key. That one reader goes away is no answer for the others.
func look(ctx context.Context, d *db.DB, installed plugins.Manager, box *secret.Box) (status int, checks map[string]string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	checks = map[string]string{"database": "ok", "migrations": "ok", "plugins": "ok", "key": "ok"}
	have, want, err := d.SchemaVersion(ctx)
	switch {
	case err != nil:
		checks["database"], checks["migrations"] = "does not answer", "unknown"
	case have != want:
		checks["migrations"] = fmt.Sprintf("at version %d of %d", have, want)
	}
	running := 0
	var catalogs []string
	for _, s := range installed.Status() {
		switch problem := fmt.Sprintf("%s %s is %s", s.Kind, s.Name, s.State); {
		case s.State == plugin.Running:
			running++
		case !s.Enabled:
		case s.Kind == sdk.KindCatalog && s.State != plugin.Starting:
			catalogs = append(catalogs, problem)
		default:
			checks["plugins"] = problem
		}
	}
	if running == 0 && checks["plugins"] == "ok" {
		checks["plugins"] = "none pinned"
	}
	if box.Outdated() != nil {
		checks["key"] = "the key file missed a rotation"
	}
	status, word := http.StatusOK, "ok"
	for _, result := range checks {
		if result != "ok" {
			status, word = http.StatusServiceUnavailable, "not ready"
		}
	}
	checks["status"] = word
	if len(catalogs) > 0 { // without a catalog only the store stands still
		checks["catalogs"] = strings.Join(catalogs, "; ")
	}
	return status, checks
}

func report(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone when this fails
}
