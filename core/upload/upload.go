// Package upload receives files for a storage of a hypervisor, such as
// installation images, and hands them to jobs that send them there.
//
// An upload has two phases:
//
//	client --form--> Receive --file--> Spool --job--> hypervisor
//	        receiving                  received
//
// Receive writes the file to the Spool, a folder of this instance, and streams
// nothing to the hypervisor meanwhile: a slow client would block a request
// there, and a checksum must be compared before anything is stored. The job
// must run where the folder is (job.Spec.Place). It removes the file when it
// ends, whatever its result.
//
// If a process dies, the next Sweep of any instance with the folder removes
// what it was receiving. A row of the table uploads shows the progress from
// every instance; it is deleted 7 days after its last change.
package upload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
)

// Kind is the kind of jobs that send a file to a storage.
const Kind = "storage.upload"

// Store receives uploads and runs their jobs.
type Store struct {
	DB    *db.DB
	Actor *guest.Actor
	// Spool is where files wait; nil refuses all uploads.
	Spool *Spool
	// Logger gets failures that no request reports; nil logs nothing.
	Logger hclog.Logger
	// Heartbeat gets a beat at every turn of Run; nil is allowed.
	Heartbeat *heartbeat.Monitor
}

func (s *Store) log() hclog.Logger {
	if s.Logger == nil {
		return hclog.NewNullLogger()
	}
	return s.Logger
}

// Upload is the progress of an upload. The JSON names are those of the API.
type Upload struct {
	ID       string  `json:"id" example:"f4c1b7a0-5d0e-4a57-9d0b-2f6f5c0f8a11"`
	HostID   int64   `json:"host_id" example:"1"`
	Storage  string  `json:"storage" example:"local"`
	Name     string  `json:"name" example:"debian-13.iso" doc:"Name of the file on the storage; empty until the file part starts"`
	Status   string  `json:"status" enum:"receiving,received,failed" doc:"received: the service has the whole file and the job sends it to the storage"`
	Received int64   `json:"received_bytes" example:"734003200" doc:"Bytes of the file that the service has received"`
	Size     *int64  `json:"request_bytes" example:"790626304" doc:"Length of the request in bytes, which is slightly more than the file; null if the sender does not announce it"`
	SHA256   string  `json:"sha256" doc:"SHA-256 of the file; empty until the whole file has arrived"`
	JobID    *int64  `json:"job_id" example:"57" doc:"The job that sends the file to the storage; null until the whole file has arrived"`
	Error    *string `json:"error" example:"request_timeout" doc:"Error id if the upload failed; null otherwise"`
	Detail   string  `json:"detail" doc:"The error as a sentence; empty if there was none"`

	CreatedAt time.Time `json:"created_at"`
	ChangedAt time.Time `json:"changed_at" doc:"When the last bytes arrived or the status last changed"`
}

// Get returns an upload to a host, or the problem not_found. The caller must
// check whether the host may be seen.
func (s *Store) Get(ctx context.Context, hostID int64, id string) (Upload, error) {
	var u Upload
	var code string
	err := s.DB.Pool.QueryRow(ctx, `SELECT u.id, u.host_id, u.storage, u.name, u.status, u.received, u.size, u.sha256, u.job_id, u.error_code,
		u.error, u.created_at, u.changed_at FROM uploads u WHERE u.host_id = $1 AND u.id = $2`, hostID, id).
		Scan(&u.ID, &u.HostID, &u.Storage, &u.Name, &u.Status, &u.Received, &u.Size, &u.SHA256, &u.JobID, &code, &u.Detail,
			&u.CreatedAt, &u.ChangedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return u, problem.New(problem.CodeNotFound, "upload not found")
	}
	if err != nil {
		return u, db.Problem(fmt.Errorf("reading an upload: %w", err))
	}
	if code != "" {
		u.Error = &code
	}
	u.CreatedAt, u.ChangedAt = u.CreatedAt.UTC(), u.ChangedAt.UTC()
	return u, nil
}

// UploadResult is the result of an upload that has arrived. The file is not on
// the storage yet; Job sends it there.
type UploadResult struct {
	Job    job.View `json:"job"`
	Upload Upload   `json:"upload"`
}

// Register makes the store the worker of jobs that send files. Call it before
// the queue starts.
func (s *Store) Register(q *job.Queue) { q.Register(Kind, job.WorkerFunc(s.send)) }

const (
	// tick is how often Run sweeps. kept is how long rows are kept after their
	// last change, as a PostgreSQL interval.
	tick = 10 * time.Second
	kept = "7 days"
)

// Run sweeps the spool until the context ends. Every instance runs it for its
// own folder.
func (s *Store) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	s.Heartbeat.Beat(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.log().Warn("could not clean up the upload folder; trying again", "error", err)
		}
		s.Heartbeat.Beat(tick)
		timer.Reset(tick)
	}
}

// Sweep deletes files whose upload or job has ended, marks uploads whose
// process died as failed, and deletes old rows. It waits for one minute without
// a change before it marks an upload, because the row of an upload exists
// before its file does.
func (s *Store) Sweep(ctx context.Context) error {
	if s.Spool == nil {
		return nil
	}
	var before time.Time
	if err := s.DB.Pool.QueryRow(ctx, "SELECT now()").Scan(&before); err != nil {
		return db.Problem(fmt.Errorf("reading the time: %w", err))
	}
	received, err := s.Spool.Sweep(ctx, s.needed)
	if err != nil {
		return err
	}
	// One that began meanwhile has its row before it has its file.
	if _, err := s.DB.Pool.Exec(ctx, `UPDATE uploads SET status = 'failed', error_code = $3, changed_at = now(),
		error = 'the service stopped while the file was being received' WHERE place = $1 AND status = 'receiving' AND NOT id = ANY($2)
		AND changed_at < $4::timestamptz - interval '1 minute'`, s.Spool.ID(), received, string(problem.CodeStopping), before); err != nil {
		return db.Problem(fmt.Errorf("recording the end of uploads: %w", err))
	}
	if _, err := s.DB.Pool.Exec(ctx, "DELETE FROM uploads WHERE changed_at < now() - $1::interval", kept); err != nil {
		return db.Problem(fmt.Errorf("deleting old uploads: %w", err))
	}
	return nil
}

// needed returns which of the files still have an unfinished job.
func (s *Store) needed(ctx context.Context, ids []string) (map[string]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT u.id FROM uploads u JOIN jobs j ON j.id = u.job_id
		WHERE u.id = ANY($1) AND j.status IN ('queued', 'running')`, ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading jobs of uploads: %w", err))
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading jobs of uploads: %w", err))
	}
	keep := map[string]bool{}
	for _, id := range all {
		keep[id] = true
	}
	return keep, nil
}
