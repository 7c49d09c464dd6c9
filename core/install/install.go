// Package install installs entries of the catalog: it runs the scripts of a bundle on the machine of a host, as root, and makes an app of
// the container that they have made.
//
// A request checks all that can be known before, and keeps with its job what will run: the bundle by its checksum, how the source says
// that it is run, and the consent of the person. The job brings the bundle to the machine and starts it as a unit of systemd
// (core/nodeunit),
// which goes on when the service does not. It runs once, whatever dies.
//
// Nothing is taken for success but evidence: the scripts have ended well, have asked nothing that nobody answers, have said that they
// are done, and the hypervisor tells of exactly one running container with the mark that this job alone has. Neither a number nor
// a text on
// the screen says which container it is.
package install

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
)

// Kind is the kind of the jobs.
const Kind = "app.install"

// BundleReferences are queries for bundle.Store.References: the bundles of apps, and of jobs that have not ended.
var BundleReferences = []string{
	"SELECT bundle FROM app_installs",
	"SELECT params->>'sum' FROM jobs WHERE kind = '" + Kind + "' AND status IN ('queued', 'running') AND params->>'sum' IS NOT NULL",
}

// Store takes requests and does their jobs. It is safe for several goroutines. All fields but the last are required.
type Store struct {
	DB      *db.DB
	Hosts   *host.Store
	Actor   *guest.Actor
	Catalog *catalog.Store
	Bundles *bundle.Store
	// Sync polls a host now; it is called when a container may have come to be. Nil leaves that to the next poll.
	Sync func(ctx context.Context, hostID int64) error

	// UnreachableLimit is for how long a machine may not answer before the job gives up to follow what runs there; zero is an hour.
	UnreachableLimit time.Duration
	// AppearLimit is for how long the container of scripts that have ended well is looked for; zero is 30 s.
	AppearLimit time.Duration
	// Pause is the time between two looks at what a job waits for; zero is 5 s.
	Pause time.Duration

	// hook is called at named points, for tests that stop there.
	hook func(point string, jobID int64)
}

// Register makes the store the worker of its jobs. They wait for others most of the time, and take no slot.
func (s *Store) Register(q *job.Queue) {
	if s.hook == nil {
		s.hook = func(string, int64) {}
	}
	q.RegisterUnslotted(Kind, job.WorkerFunc(s.perform))
}
