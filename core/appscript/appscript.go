// Package appscript keeps the scripts of apps: by which one an app was
// installed, how people edited it, what the catalog has now, and how that
// updates an app.
//
// # Versions
//
// A script has versions, which are added and never changed. An upstream version
// is the main file of a bundle of the catalog. An edited version is a text that
// somebody wrote; it is stored, compared and shown, but never run: an app whose
// newest version is edited is not updated until that version is reverted.
// Upstream versions name their bundle, which is kept as long as a version
// refers to it.
//
// # Updates
//
// An update runs a bundle inside the app's container, as a job;
// update_worker.go describes its steps. Each step is done once, however often
// the service dies in between. Before the script runs, the job makes a way back
// (a snapshot, or a backup); afterwards it compares the app with its state
// before, and goes back if the app became worse.
//
// Store is the only main type. Its errors for users are problems of package
// core/problem.
package appscript

import (
	"time"

	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
)

// BundleReferences is the query for the bundles to which scripts and unfinished updates
// refer; see bundle.Store.
const BundleReferences = `SELECT bundle FROM app_script_versions WHERE bundle IS NOT NULL UNION
	SELECT u.bundle FROM app_updates u JOIN jobs j ON j.id = u.job_id WHERE j.status IN ('queued', 'running')`

// Limits of scripts.
const (
	// MaxScript is the size of an edited script, in bytes of UTF-8.
	MaxScript = 256 << 10
	// maxVersions is how many versions a script may have before users can add
	// no more. Updates still add versions.
	maxVersions = 2000
)

// These are the origins of versions.
const (
	OriginUpstream = "upstream"
	OriginEdited   = "edited"
)

// Store keeps the scripts of an instance. All fields are required. It is safe
// for concurrent use.
type Store struct {
	DB      *db.DB
	Apps    *app.Store
	Catalog *catalog.Store
	Bundles *bundle.Store
	Hosts   *host.Store
	Actor   *guest.Actor
	Queue   *job.Queue
	// Worker performs the steps of jobs that change containers.
	Worker *guest.Worker
	// Pauses are the delays of jobs; zero values mean the defaults.
	Pauses Timing
}

// Timing are the waits of an update's job. Zero values stand for the defaults.
type Timing struct {
	// Turn is the delay between two checks whether it is the job's turn; 0
	// means 3 seconds.
	Turn time.Duration
	// Probe is the delay between two checks whether the app answers, and Probes
	// their number; 0 means 5 seconds and 12.
	Probe  time.Duration
	Probes int
	// Limit is how long a script may run if its source sets no limit; 0 means
	// an hour.
	Limit time.Duration
}
