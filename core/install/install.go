// Package install installs entries of the catalog. It runs the scripts of a
// bundle as root on the machine of a host, and makes an app of the container
// that they create.
//
// A request (Install) checks everything that can be known in advance: the
// entry, the overrides, the place of the container, SSH access, the consent of
// the user, and how the source wants the bundle to be run. All of that is
// stored with the job, the bundle by its checksum, so that the job runs exactly
// what the user agreed to.
//
// The job goes through these steps, with checkpoints in between:
//
//	begin          copies the files to the machine
//	start, follow  starts a systemd unit (core/nodeunit) and reads its output
//	decideOutcome  looks for the container and makes the app
//
// The unit keeps running when the service stops, and the next start of the
// service follows it further. The scripts run once, whatever process dies.
//
// An install succeeds only with evidence: the scripts exited well, asked no
// question that nobody could answer, reported that they are done if the source
// defines such a text, and the hypervisor reports exactly one running container
// with the tag of this job. Neither an ID nor a text in the output identifies
// the container.
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

// Kind is the kind of jobs that install an app.
const Kind = "app.install"

// BundleReferences are queries for bundle.Store.References. They return the
// bundles that must be kept: those of apps and of unfinished jobs.
var BundleReferences = []string{
	"SELECT bundle FROM app_installs",
	"SELECT params->>'sum' FROM jobs WHERE kind = '" + Kind + "' AND status IN ('queued', 'running') AND params->>'sum' IS NOT NULL",
}

// Store takes requests and runs their jobs. It is safe for concurrent use. The
// fields down to Bundles are required.
type Store struct {
	DB      *db.DB
	Hosts   *host.Store
	Actor   *guest.Actor
	Catalog *catalog.Store
	Bundles *bundle.Store
	// Sync polls a host now. It is called when there may be a new container;
	// nil leaves that to the next poll.
	Sync func(ctx context.Context, hostID int64) error

	// UnreachableLimit is how long a machine may not answer before the job
	// stops following its run; 0 means an hour.
	UnreachableLimit time.Duration
	// AppearLimit is how long the job looks for the container of successful
	// scripts; 0 means 30 s.
	AppearLimit time.Duration
	// Pause is the delay between two checks while the job waits; 0 means 5 s.
	Pause time.Duration

	// hook is called at named points. Tests use it to stop there.
	hook func(point string, jobID int64)
}

// Register makes the store the worker of its jobs. Call it before the queue
// starts. The jobs take no slot, because they wait most of the time.
func (s *Store) Register(q *job.Queue) {
	if s.hook == nil {
		s.hook = func(string, int64) {}
	}
	q.RegisterUnslotted(Kind, job.WorkerFunc(s.perform))
}
