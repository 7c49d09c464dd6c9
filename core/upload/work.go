package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// params are the stored parameters of a job.
type params struct {
	Upload    string                `json:"upload"`
	HostID    int64                 `json:"host_id"`
	File      hypervisor.UploadSpec `json:"file"`
	Overwrite bool                  `json:"overwrite"`
}

// progress is the checkpoint of a job.
type progress struct {
	// Whole is set before the last bytes of the file are sent. While it is
	// false, the hypervisor cannot have accepted the file, and the job may send
	// it again.
	Whole bool `json:"whole"`
}

// step is the name of the job's only step.
const step = "upload"

// checkLimit is how long the hypervisor may take to answer whether it accepts a
// file.
const checkLimit = time.Minute

// send runs a job that sends a file to a storage. If the service was
// interrupted before the last byte was sent, the job sends the file again;
// after any other failure before the last byte, the job fails. If the last byte
// may have been sent and the response was lost, the job never sends the file
// again. Its result is then undetermined and reports what the storage has.
func (s *Store) send(ctx context.Context, run *job.Run) (err error) {
	var p params
	if err := run.Params(&p); err != nil {
		return err
	}
	file, err := s.open(p, run)
	if err != nil {
		return err
	}
	defer func() {
		if file != nil {
			_ = file.Close()
		}
		// What is only interrupted still needs its file; Sweep takes that of a job which is ended without a run.
		if _, verdict := job.Verdict(err); s.Spool != nil && (err == nil || verdict || ctx.Err() == nil) {
			s.Spool.Remove(p.Upload)
		}
	}()
	_, err = run.Do(ctx, s.step(ctx, p, run, file))
	var h *sdk.Error
	switch {
	case err == nil:
		run.Note("stored %s on %s: %d bytes with the SHA-256 %s", p.File.Name, p.File.Storage, p.File.Size, p.File.SHA256)
	case errors.As(err, &h) && h.Kind == sdk.Unsupported:
		return job.Fail("the host's driver no longer supports uploads; nothing was stored")
	case isClosed(run.Canceled()) && errors.Is(err, errCut):
		return job.Stopped("canceled while the file was being sent; nothing was stored")
	}
	return err
}

// open opens the spooled file. It returns nil without an error if the file is
// missing but was sent completely: then the job only has to find out the
// result.
func (s *Store) open(p params, run *job.Run) (*os.File, error) {
	begun := run.StepStarted(step)
	var file *os.File
	err := fs.ErrNotExist
	if s.Spool != nil {
		file, err = s.Spool.Open(p.Upload)
	}
	var done progress
	switch {
	case err == nil:
		return file, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("opening the file: %w", err)
	case !begun:
		return nil, job.Fail("the file no longer exists: the instance of the service that received it has stopped, or its upload " +
			"folder was emptied; nothing was sent")
	}
	if err := run.LoadCheckpoint(&done); err != nil {
		return nil, err
	}
	if !done.Whole {
		return nil, job.Fail("the file no longer exists, and it was not sent completely; nothing was stored")
	}
	return nil, nil
}

// step returns the request of the job. It connects to the node that has the
// storage, because any other node of the cluster would first store the whole
// file itself.
func (s *Store) step(ctx context.Context, p params, run *job.Run, file *os.File) job.Step {
	check := func(ctx context.Context) (hypervisor.UploadCheck, error) {
		return host.CallWithTimeout(ctx, s.Actor.Hosts, checkLimit, p.HostID, endpoint.Lifecycle,
			func(ctx context.Context, at hypervisor.Uploader) (hypervisor.UploadCheck, error) {
				return at.CheckUpload(ctx, p.File)
			})
	}
	return job.Step{
		Name: step, Long: true,
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			// Any other member of the cluster takes the whole file before it sends it on.
			by, err := host.ByNode(ctx, s.DB, p.HostID, p.File.Node, endpoint.Lifecycle)
			if err != nil {
				return nil, err
			}
			return s.Actor.Hosts.Open(ctx, by, endpoint.Lifecycle)
		},
		Watch: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Actor.Hosts.Open(ctx, p.HostID, endpoint.Monitoring)
		},
		Before: func(ctx context.Context) (time.Time, bool, error) {
			found, err := check(ctx)
			switch {
			case err != nil:
				return time.Time{}, false, err
			case found.Present && !p.Overwrite:
				return time.Time{}, false, job.Fail("the storage has a file %s now; nothing was sent", found.Name)
			case found.Present:
				run.Note("replacing the file %s", found.Name)
			}
			run.Note("sending %s to %s on %s: %d bytes", found.Name, p.File.Storage, p.File.Node, p.File.Size)
			return time.Now(), false, nil
		},
		Send: func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.AsAbility[hypervisor.Uploader](at)
			if err != nil {
				return "", err
			}
			if _, err := file.Seek(0, io.SeekStart); err != nil {
				return "", err
			}
			sent := &sending{run: run, file: file, size: p.File.Size}
			ctx, breakOff := context.WithCancel(ctx)
			defer breakOff()
			defer sent.watch(breakOff)()
			task, err := able.Upload(ctx, p.File, sent)
			return task, sent.judge(err)
		},
		Query: func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Node: p.File.Node} },
		// Tasks do not tell which file they store, so that none is taken for this job's.
		IsOurs: func(hypervisor.Task) bool { return false },
		OnMissing: func(ctx context.Context, _ time.Time, _ bool) error {
			var done progress
			if err := run.LoadCheckpoint(&done); err != nil {
				return err
			}
			if !done.Whole {
				run.Note("the file was not sent completely, so the hypervisor did not accept it")
				return nil
			}
			found, err := check(ctx)
			if err != nil {
				return err
			}
			return job.Undetermined("the file was sent but the answer was lost; it is not sent again. %s", whatIs(found, p))
		},
	}
}

// whatIs describes what the storage has after a response was lost.
func whatIs(found hypervisor.UploadCheck, p params) string {
	switch {
	case !found.Present:
		return fmt.Sprintf("The storage %s does not have a file %s", p.File.Storage, found.Name)
	case found.PresentSize == nil:
		return fmt.Sprintf("The storage %s has a file %s of unknown size", p.File.Storage, found.Name)
	case *found.PresentSize == p.File.Size:
		return fmt.Sprintf("The storage %s has a file %s of the same size, %d bytes; its checksum was not compared",
			p.File.Storage, found.Name, *found.PresentSize)
	}
	return fmt.Sprintf("The storage %s has a file %s of %d bytes instead of %d",
		p.File.Storage, found.Name, *found.PresentSize, p.File.Size)
}

// errCut is the cause of a request that the service itself interrupted before
// the last byte.
var errCut = errors.New("the service was interrupted")

// The states of a sending. It leaves underWay once, for whole or for cut; both
// sides use a compare-and-swap, so exactly one of them wins.
const (
	underWay int32 = iota
	whole          // the last byte may have gone out
	cut            // the service broke off before
)

// sending is the body of the request: the file with progress, checkpoint and
// interruption. size and sent are in bytes.
type sending struct {
	run   *job.Run
	file  io.Reader
	size  int64
	sent  int64
	state atomic.Int32
}

// watch cancels the request when the job is to stop, unless the last byte may
// have been sent. The caller must call stop.
func (f *sending) watch(breakOff func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-f.run.Stopping():
		case <-f.run.Canceled():
		case <-done:
			return
		}
		if f.state.CompareAndSwap(underWay, cut) {
			breakOff()
		}
	}()
	return func() { close(done) }
}

// Read implements io.Reader. Before it returns the last bytes of the file, or
// the end of an empty file, it saves the checkpoint that says so.
func (f *sending) Read(p []byte) (int, error) {
	n, err := f.file.Read(p[:min(len(p), chunk)])
	f.sent += int64(n)
	if f.sent >= f.size && f.state.CompareAndSwap(underWay, whole) {
		if err := f.run.SaveCheckpoint(context.Background(), progress{Whole: true}); err != nil {
			return 0, err
		}
	}
	if f.state.Load() == cut {
		return 0, errCut
	}
	if f.size > 0 {
		f.run.SetProgress(float64(f.sent) / float64(f.size))
	}
	return n, err
}

// judge turns an error of a request into one of kind Refused if not all of the
// file was sent, because then the hypervisor stored nothing.
func (f *sending) judge(err error) error {
	switch {
	case err == nil || f.state.Load() == whole || job.Refused(err):
		return err
	case f.state.Load() == cut:
		return sdk.Errorf(sdk.Refused, "%w before the whole file was sent", errCut)
	}
	return sdk.Errorf(sdk.Refused, "the file was not sent completely, only about %d of %d bytes: %s; nothing was stored", f.sent, f.size,
		job.Explain(err))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
