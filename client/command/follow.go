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

// errTimeout is the cause of a context that ended because of --timeout. The
// cause tells it apart from Ctrl-C, which ends the outer context.
var errTimeout = errors.New("timed out")

// followToEnd follows a job until it ends: it prints the transcript and draws
// the progress below it. It returns nil if the job succeeded, and otherwise an
// error whose exit status says how it ended. A timeout of zero means no limit.
// Ctrl-C and the timeout only end the command; the job goes on, and a message
// says how to follow it again.
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

// ended returns the result of a job. The state unknown means that the service
// cannot tell whether the hypervisor finished the work, for example after a
// crash; scripts must check before they repeat the command.
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

// took returns the run time of a job as " in 3 min", or nothing for a job that
// never started.
func took(job *api.JobView) string {
	if job.DurationS == nil {
		return ""
	}
	return " in " + output.Duration(*job.DurationS)
}

// patience is how often in a row a broken stream is opened again, one second
// apart. A service that restarts or updates is back within that time.
const patience = 90

// followJob reads the events of a job until the event end, which contains the
// job as it ended. A goroutine reads the stream and reconnects, while this
// goroutine prints and draws, so that only one of them uses the screen. It
// returns the job and its JSON as sent.
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

// readTranscript sends the events of a job to lines. It reconnects after a
// broken connection and continues after the last event, so no line is lost or
// printed twice. Each event resets the count of failures. A refusal of the API
// ends it at once, except for 429 and 503, which pass. The receiver must read
// until it cancels ctx.
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

// transcript prints a line of a job. A carriage return inside of the line means
// that a tool redrew its progress; then only the last version is printed, as a
// terminal would show it. With --json or --jq the line goes to standard error,
// because standard output is for the result.
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

// drawProgress draws how far a job is, with its status and its last line.
// Errors are ignored: if the service is unreachable, the transcript reports it.
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

// jobCommands returns the command job wait. It follows the jobs one after the
// other, so its exit status is that of the last job that did not succeed.
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
