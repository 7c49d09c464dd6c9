package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

// errTimeout is the cause when --timeout has passed.
var errTimeout = errors.New("timed out")

// followToEnd follows a job: its transcript as it comes, how far it is below
// that, and in the end an error that says how it ended, nil for one that
// succeeded. A timeout of zero waits as long as it takes.
func (s *session) followToEnd(ctx context.Context, id int64, timeout time.Duration) error {
	outer := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
		defer cancel()
	}
	job, body, err := s.followJob(ctx, id)
	s.screen.Done()
	switch {
	case outer.Err() != nil:
		s.say("Job %d is still running. To follow it: hostler job wait %d", id, id)
		return &failure{status: statusInterrupted}
	case errors.Is(context.Cause(ctx), errTimeout):
		return &failure{statusStillRunning, fmt.Sprintf("job %d is still running; follow it with hostler job wait %d", id, id)}
	case err != nil:
		return err
	}
	if s.machine() {
		if err := s.answer(outer, body, func(any) {}); err != nil {
			return err
		}
	}
	return s.ended(job)
}

// ended tells how a job ended.
func (s *session) ended(job *api.JobView) error {
	status := statusJobFailed
	switch job.Status {
	case api.JobViewStatusSucceeded:
		s.say("Job %d (%s of %s) succeeded%s.", job.Id, job.Kind, job.Target.Name, took(job))
		return nil
	case api.JobViewStatusCanceled:
		status = statusJobCanceled
	case api.JobViewStatusUnknown:
		status = statusJobUnknown
	}
	text := fmt.Sprintf("job %d (%s of %s): %s", job.Id, job.Kind, job.Target.Name, job.Status)
	if job.Error != "" {
		text += ": " + job.Error
	}
	return &failure{status, text}
}

// took writes how long a job took, with a space before it; nothing where it has
// not run.
func took(job *api.JobView) string {
	if job.DurationS == nil {
		return ""
	}
	return " in " + output.Duration(*job.DurationS)
}

// patience is how often a stream that breaks is opened again in a row, a second
// apart: a service that restarts is back by then.
const patience = 90

// followJob reads a job's events until it has ended, and comes back to them
// when a connection breaks. It gives the job and its JSON.
func (s *session) followJob(ctx context.Context, id int64) (*api.JobView, []byte, error) {
	if _, err := s.connection(); err != nil { // made once, before two goroutines want it
		return nil, nil, err
	}
	path := api.Find("stream_job_events").Expand(map[string]string{"job_id": fmt.Sprint(id)})
	lines := make(chan event)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { done <- s.readTranscript(ctx, path, lines) }()
	progress := time.NewTicker(2 * time.Second)
	defer progress.Stop()
	for {
		select {
		case e := <-lines:
			if e.name == "end" {
				var job api.JobView
				if err := json.Unmarshal([]byte(e.data), &job); err != nil {
					return nil, nil, fmt.Errorf("cannot read the job: %w", err)
				}
				return &job, []byte(e.data), nil
			}
			s.transcript(e)
		case <-progress.C:
			if s.screen.ErrTerminal && !s.quiet {
				s.drawProgress(ctx, id)
			}
		case err := <-done:
			return nil, nil, err
		}
	}
}

// readTranscript sends events until the last one was sent; it ends with an error otherwise.
func (s *session) readTranscript(ctx context.Context, path string, lines chan<- event) error {
	last, ended := "", false
	for broken := 0; broken < patience; broken++ {
		var err error
		last, err = s.events(ctx, path, nil, last, func(e event) bool {
			broken = 0
			select {
			case lines <- e:
			case <-ctx.Done():
				return false
			}
			ended = e.name == "end"
			return !ended
		})
		var p *transport.Problem
		switch {
		case ctx.Err() != nil || ended:
			return ctx.Err()
		case errors.As(err, &p) && p.Status != http.StatusServiceUnavailable && p.Status != http.StatusTooManyRequests && p.Code != "":
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return &failure{statusUnreachable, "the connection to the job's transcript failed repeatedly; the job is still running"}
}

// transcript shows a line of a job: where its answer is for a program, beside the answer.
func (s *session) transcript(e event) {
	var line api.JobEvent
	if json.Unmarshal([]byte(e.data), &line) != nil || line.Text == "" || s.quiet {
		return
	}
	text := line.Text
	if i := strings.LastIndexByte(strings.TrimRight(text, "\r"), '\r'); i >= 0 { // what a terminal would have overwritten
		text = text[i+1:]
	}
	text = output.CleanLine(strings.TrimRight(text, "\r\n"))
	if s.machine() {
		s.screen.Say("%s", text)
		return
	}
	s.screen.Print(text + "\n")
}

// drawProgress shows how far a job is, where the service knows.
func (s *session) drawProgress(ctx context.Context, id int64) {
	client, err := s.connection()
	if err != nil {
		return
	}
	path := api.Find("get_job").Expand(map[string]string{"job_id": fmt.Sprint(id)})
	var job api.JobView
	if read(ctx, client, transport.Request{Method: http.MethodGet, Path: path, Repeatable: true}, &job) != nil {
		return // the transcript tells what is wrong
	}
	part := -1.0
	if job.Progress != nil {
		part = *job.Progress
	}
	s.screen.Bar(part, string(job.Status)+"  "+job.Kind+" of "+job.Target.Name+"  "+job.LastLine)
}

// jobCommands are those of the noun job that are no single operation.
func jobCommands(s *session) []*cobra.Command {
	var timeout time.Duration
	wait := &cobra.Command{
		Use: "wait JOB-ID...", Short: "Follow jobs until they end", Args: cobra.MinimumNArgs(1),
		Long: "Follow jobs until they end. The exit status is that of the last job that did not succeed.",
		RunE: func(cmd *cobra.Command, words []string) error {
			var worst error
			for _, word := range words {
				job, err := s.resolve(cmd.Context(), "id", word)
				if err != nil {
					return err
				}
				if err := s.followToEnd(cmd.Context(), job.id, timeout); err != nil {
					worst = err
				}
				if cmd.Context().Err() != nil {
					break
				}
			}
			return worst
		},
	}
	wait.Flags().DurationVar(&timeout, "timeout", 0, "maximum time to wait for each job; 0 for no limit")
	return []*cobra.Command{wait}
}
