// Package guest knows the VMs and containers of all hosts and runs the work that
// people request on them: power actions, snapshots, backups, restores, clones,
// migrations, changes of the configuration, and destruction.
//
// The package does not poll: core/poll writes the rows that it reads. It does not
// speak to hypervisors directly either; it calls the driver interfaces of
// sdk/hypervisor through core/host. Packages core/vm and core/app are the two views
// that people know: all VMs, and those containers that are apps.
//
// # Main types
//
//   - Guest is a row of the list. Store reads lists and single rows. Entry is a guest
//     with its app and its team.
//   - Actor does what a request asks for, on behalf of its caller: it reads from the
//     hypervisor (Config, Network), changes something while the caller waits (Do), or
//     enqueues a job.
//   - Request names the guest of an API request. Subject is a guest that is being
//     looked at, with what was already read of it.
//   - Work describes one kind of job: what its plan says, what it refuses, and its
//     Steps. Lifecycle, RunBackup, Destroy and others are values of it.
//   - Worker carries out jobs. An act is one run of a job, step by step. Ending is
//     passed to the work when all steps have succeeded.
//   - DetailReader reads the configurations of all guests in the background, within a
//     budget of requests.
//
// # Life cycle of a job
//
// Work.Prepare checks the request, writes or compares the plan (core/plan), and
// returns a function that enqueues the job in the transaction of the caller. The job
// has the key of the guest as its exclusive key, so only one job works on a guest.
//
// The Worker sends each step's request once. It stores a checkpoint before the request
// is sent and the ID of the hypervisor's task after that. If the service dies in
// between, the next run looks for the task, or for the wanted state of the guest,
// instead of repeating the request. If neither decides, the job ends as undetermined;
// nothing is sent twice.
//
// # Invariants
//
//   - A request that changes something is sent at most once.
//   - A guest whose ID now belongs to another guest is never changed: ref and UID are
//     compared immediately before each step.
//   - The audit row of a change is written before the request is sent.
//   - Everything that a driver returns is untrusted: texts go through host.Clean, lists
//     are cut to a maximum.
//
// # Errors
//
// Problems of a request are *problem.Error with a code of the API. A step that fails
// ends the job with job.Fail; one whose result is unknown ends it with
// job.Undetermined.
package guest
