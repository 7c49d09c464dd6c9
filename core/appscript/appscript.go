// Package appscript knows the scripts of apps: which one an app was installed by, what people made of it since, what the catalog has
// by now, and how that brings an app up to date.
//
// A script has versions, which are added and never changed. An upstream version is the main file of a bundle of the catalog; an edited one
// is a text of somebody's, and is kept, compared and shown, but never run: an app whose newest version is edited is not updated until that
// was reverted. Upstream versions name their bundle, which is kept while they are there.
//
// An update runs the bundle inside the app's container, as a job: see update_worker.go.
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

// Refers is the query for the bundles that scripts and unfinished updates of apps refer to; see bundle.Store.
const Refers = `SELECT bundle FROM app_script_versions WHERE bundle IS NOT NULL UNION
	SELECT u.bundle FROM app_updates u JOIN jobs j ON j.id = u.job_id WHERE j.status IN ('queued', 'running')`

// Limits of scripts.
const (
	// MaxScript is the size of an edited script, in bytes of UTF-8.
	MaxScript = 256 << 10
	// maxVersions is how many versions an app's script may have before nobody can add one by hand.
	maxVersions = 2000
)

// Where a version comes from.
const (
	Upstream = "upstream"
	Edited   = "edited"
)

// Store has the scripts of an instance. All fields are required.
type Store struct {
	DB      *db.DB
	Apps    *app.Store
	Catalog *catalog.Store
	Bundles *bundle.Store
	Hosts   *host.Store
	Actor   *guest.Actor
	Queue   *job.Queue
	// Worker does what jobs do with containers.
	Worker *guest.Worker
	// Pauses of jobs; zero for the usual ones.
	Pauses Pauses
}

// Pauses are how long the job of an update waits.
type Pauses struct {
	// Turn is between two looks whether it is its turn; 3 seconds when zero.
	Turn time.Duration
	// Probe is between two looks whether the app answers, of which there are Probes; 5 seconds and 12 when zero.
	Probe  time.Duration
	Probes int
	// Limit is how long a script may run where its source does not say; an hour when zero.
	Limit time.Duration
}
