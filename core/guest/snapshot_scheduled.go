package guest

import (
	"context"
	"regexp"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// ScheduledSnapshot contains the parameters of a schedule that takes snapshots.
type ScheduledSnapshot struct {
	Prefix      string  `json:"name" minLength:"1" maxLength:"24" pattern:"^[A-Za-z][A-Za-z0-9_-]*$" example:"nightly" doc:"Start of the names; each run appends its time in UTC, as in nightly-20260131T120000"`
	Description *string `json:"description,omitempty" nullable:"true" maxLength:"4096"`
}

// snapshotPrefix leaves room for the time: prefix and time together match
// SnapshotName.
var snapshotPrefix = regexp.MustCompile("^[A-Za-z][A-Za-z0-9_-]{0,23}$")

// At returns the snapshot of a run at time t. A malformed prefix is invalid.
func (s ScheduledSnapshot) At(t time.Time) (hypervisor.SnapshotSpec, error) {
	if !snapshotPrefix.MatchString(s.Prefix) {
		return hypervisor.SnapshotSpec{}, problem.InvalidField("must be a letter and up to 23 letters, digits, - or _",
			"string_pattern_mismatch", "body", "params", "name")
	}
	spec := hypervisor.SnapshotSpec{Name: s.Prefix + t.UTC().Format("-20060102T150405")}
	if s.Description != nil {
		spec.Description = *s.Description
	}
	return spec, nil
}

// PrepareSnapshot is TakeSnapshot's Prepare for the run of a schedule. It does
// not ask the hypervisor: a name with a time is rarely taken, the job finds out
// itself, and a host that is away now may be back when the job starts.
func PrepareSnapshot(ctx context.Context, a *Actor, r Request, spec hypervisor.SnapshotSpec) (schedule.Enqueue, error) {
	work := TakeSnapshot
	work.Check = nil
	enqueue, err := work.Prepare(ctx, a, r, spec)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) (*job.Job, error) {
		audit.Describe(ctx, func(e *audit.Entry) { e.Detail("snapshot", spec.Name) })
		return enqueue(ctx, tx)
	}, nil
}
