// Package job runs changes that take longer than a request. One job is one change that
// a user, a schedule or the service itself asked for. It has a transcript that can be
// followed from any instance of the service.
//
// The package knows neither guests nor hosts: a kind of job is a name and a Worker, and
// the packages of the product register theirs. It does not decide who may start a job,
// and it is not a scheduler; package core/schedule enqueues jobs at their time.
//
// # Main types
//
//   - Queue enqueues, lists, cancels and runs jobs. Spec says what to enqueue, Job is a
//     job as users see it, Event is a line of its transcript.
//   - Worker does the jobs of one kind. It sees its job through a Run: parameters,
//     checkpoints, transcript.
//   - Step is a request to a hypervisor that starts a task. Run.Do sends it once and
//     follows the task.
//   - Hold keeps jobs away from an object while a request changes it directly.
//   - Hub wakes those who follow a job.
//
// # From request to end
//
// A handler calls Queue.Enqueue in the transaction of its request. That writes a row of
// the table jobs, which users see, and a row of River, which only carries the ID. On
// some instance River hands the ID to a runner. The runner takes the job's advisory
// lock, waits for one of a few slots that all instances share, and calls the Worker.
//
// The error that the worker returns decides about the end of the job: nil is success,
// and Fail, Undetermined and Stopped return the other verdicts. An error that means that
// the run cannot go on here, such as a lost database, leaves the job to be resumed.
//
// # Surviving a crash
//
// A process may die at any moment. Its advisory locks disappear with its connection.
// Every instance looks every few seconds for unfinished jobs that nobody holds, and
// gives such a job a new row of River. The column jobs.river_id names the only row of
// River that may run the job, and everything that a run writes is conditional on it. A
// runner that lost its lock without noticing therefore cannot change anything.
//
// A request to a hypervisor is not repeated while the first one may have been accepted;
// see Run.Do. A job on which several processes in a row have crashed ends without
// another run; see crash.go.
//
// # Locks
//
// All advisory locks of an instance are on one connection outside of the pool (type
// locks), so that a busy pool cannot delay them. If that connection breaks, all runs of
// the instance end and are resumed. Spec.Exclusive is not an advisory lock but a unique
// index on unfinished jobs: at most one of them has a given key.
//
// # Errors
//
// Problems of the API are *problem.Error: guest_busy, job_finished and not_found. Errors
// that end a run without ending its job are ErrLost, ErrStopping and ErrSuspended.
package job
