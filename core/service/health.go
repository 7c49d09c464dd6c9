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

// Health returns the handler for liveness. It answers 200 as long as the
// process serves requests. It does not check the database, because a restart,
// which follows a failed liveness check, would not fix the database.
func Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		report(w, http.StatusOK, map[string]string{"status": "ok"})
	})
}

// readyFor is how long an answer of ready is reused. The endpoint is public and
// a check takes a database connection, so at most one check runs at a time,
// however many clients ask.
//
// A negative answer is reused for unreadyFor only, so that a client that waits
// for the start sees its end soon.
const (
	readyFor   = time.Second
	unreadyFor = 50 * time.Millisecond
)

// ready returns the handler for readiness: 200 if the service can do its work,
// otherwise 503. The body names each check with ok or a short reason. Details
// are only in the log, because the endpoint is public. The mutex is held during
// a check: other clients wait for the same answer.
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

// look checks the database, the schema, the plugins and the key file, in at
// most 3 s. It ignores the cancellation of ctx, because the answer is for all
// clients. A catalog plugin that is not running is reported but does not make
// the service unready.
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
