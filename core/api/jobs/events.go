package jobs

import (
	"context"
	"strconv"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
)

// event is one line of a transcript in the form of the API.
type event struct {
	Seq  int       `json:"seq" example:"3" doc:"Sequence number within the job, from 1"`
	At   time.Time `json:"at"`
	Kind string    `json:"kind" enum:"log,note,status" doc:"log: a line of the hypervisor's task log; note: a message of the service; status: the new status of the job"`
	Text string    `json:"text" example:"TASK OK"`
}

func view(e job.Event) event { return event{e.Seq, e.At, e.Kind, e.Text} }

type eventsInput struct {
	After int `query:"after" default:"0" minimum:"0" maximum:"2147483647" doc:"Only events with a higher number"`
	Limit int `query:"limit" default:"200" minimum:"1" maximum:"1000" doc:"Maximum number of events"`
}

func (h handlers) events(ctx context.Context, in *eventsInput) (*op.Body[[]event], error) {
	found, err := h.queue.Events(ctx, op.ResourceOf(ctx).ID, in.After, in.Limit)
	if err != nil {
		return nil, err
	}
	events := make([]event, 0, len(found))
	for _, e := range found {
		events = append(events, view(e))
	}
	return &op.Body[[]event]{Body: events}, nil
}

type streamInput struct {
	After int    `query:"after" default:"0" minimum:"0" maximum:"2147483647" doc:"Only events with a higher number; Last-Event-ID takes precedence"`
	Last  string `header:"Last-Event-ID" maxLength:"10" pattern:"^[0-9]*$" doc:"Number of the last received event"`
}

// Bounds of a stream.
const (
	// streamTime is the maximum length of a stream. It keeps connections from
	// accumulating behind a proxy that does not close dead ones.
	streamTime = 30 * time.Minute
	// lookAnyway is how often the stream reads the table without a wake-up. It
	// is also the pause after an error of the database.
	lookAnyway = 5 * time.Second
)

// stream sends the existing events and then each new one. The hub wakes it, but
// it reads the events from the table. So a slow reader delays nobody, and no
// event is lost or sent twice.
func (h handlers) stream(ctx context.Context, in *streamInput, out *op.EventStream) error {
	after := in.After
	if in.Last != "" {
		n, err := strconv.ParseInt(in.Last, 10, 32)
		if err != nil {
			return problem.InvalidField("must be the number of an event", "too_large", "header", "Last-Event-ID")
		}
		after = int(n)
	}
	ctx, cancel := context.WithTimeout(ctx, streamTime)
	defer cancel()
	// The subscription comes before the first read, so that no event falls
	// between the two.
	woken := h.queue.Hub().Subscribe(op.ResourceOf(ctx).ID)
	defer woken.Close()
	caller := identity.FromContext(ctx).Visible()
	if _, err := h.queue.Get(ctx, op.ResourceOf(ctx).ID, caller); err != nil {
		return err
	}
	if err := out.Open(); err != nil {
		return err
	}
	for {
		ended, err := h.catchUp(ctx, op.ResourceOf(ctx).ID, caller, &after, out)
		if ended || err != nil {
			return err
		}
		select {
		case <-woken.C:
		case <-time.After(lookAnyway):
		case <-h.queue.Stopping():
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// catchUp sends the events after a number, and the event end if the job has
// ended. It reads the job before its events: a job that has ended gets no
// further events, so the ones it reads then are complete. An error of the
// database does not end the stream.
func (h handlers) catchUp(ctx context.Context, id int64, caller identity.VisibleTeams, after *int, out *op.EventStream) (ended bool,
	err error) {
	j, err := h.queue.Get(ctx, id, caller)
	if err != nil {
		if problem.CodeOf(err) == problem.CodeNotFound {
			return true, nil
		}
		return false, nil
	}
	for {
		events, err := h.queue.Events(ctx, id, *after, job.MaxEvents)
		if err != nil {
			return false, nil
		}
		for _, e := range events {
			if err := out.Send(strconv.Itoa(e.Seq), e.Kind, view(e)); err != nil {
				return false, err
			}
			*after = e.Seq
		}
		if len(events) < job.MaxEvents {
			break
		}
	}
	if !j.Status.Finished() {
		return false, nil
	}
	return true, out.Send(strconv.Itoa(*after), "end", j.View())
}
