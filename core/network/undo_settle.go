package network

import (
	"context"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
)

// clock formats a time of day for transcripts.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }

// callOff stops the rollback timer if nothing was applied. A failure does no
// harm, because the timer then finds nothing to restore.
func (s *Store) callOff(ctx context.Context, run *job.Run) {
	var known applied
	if run.LoadCheckpoint(&known) != nil || known.Undo == nil {
		return
	}
	if _, err := s.disarm(ctx, known.Undo); err != nil {
		run.Note("could not stop the rollback timer on the machine (%s); it will find nothing to restore", job.Explain(err))
	}
}

// resolve ends an apply whose node answers again. It stops the rollback timer
// if everything is well or nothing was applied. Otherwise it lets the timer
// restore the old network.
func (s *Store) resolve(ctx context.Context, run *job.Run, a *armed, staged bool, verdict error) error {
	if a == nil {
		return verdict
	}
	if verdict != nil && !staged {
		run.Note("the machine restores its old network at %s; waiting for that", clock(a.Until))
		return s.putBack(ctx, run, a, verdict)
	}
	for told := false; ; {
		undone, err := s.disarm(ctx, a)
		switch {
		case err == nil && undone:
			return job.Fail("the rollback timer was not stopped in time, and the machine restored its old network; the applied changes " +
				"are not active")
		case err == nil && verdict == nil:
			run.Note("the rollback timer was stopped: the network stays as it is now")
			return nil
		case err == nil:
			return verdict
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Now().After(a.Until):
			return s.putBack(ctx, run, a, job.Fail("the node answers, but logging in to its machine no longer works (%s)",
				strings.TrimSuffix(job.Explain(err), ".")))
		case !told:
			told = true
			run.Note("could not stop the rollback timer on the machine (%s); trying again until %s", job.Explain(err), clock(a.Until))
		}
		if err := pause(ctx, min(lookPause, time.Until(a.Until))); err != nil {
			return err
		}
	}
}

// putBack waits until the timer has restored the old network, and adds that to
// the verdict.
func (s *Store) putBack(ctx context.Context, run *job.Run, a *armed, verdict error) error {
	// While the machine only waits there is nothing to ask.
	if err := pause(ctx, time.Until(a.Until)); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, undoTime)
	defer cancel()
	back, out, err := s.over(limited, a)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for line := range strings.Lines(string(out)) {
		run.Log(host.Clean(strings.TrimRight(line, "\r\n")))
	}
	said := strings.TrimSuffix(job.Text(verdict), ".")
	switch {
	case err != nil:
		return job.Undetermined("%s. It is unknown whether the machine restored its old network (%s)", said,
			strings.TrimSuffix(job.Explain(err), "."))
	case back && saidLine(out, "undone"):
		return job.Fail("%s. The machine has restored its old network", said)
	case back:
		return job.Undetermined("%s. The machine failed to restore its old network: see the transcript", said)
	}
	return job.Undetermined("%s. The machine has not restored its old network: it was restarted, or someone stopped the rollback timer",
		said)
}
