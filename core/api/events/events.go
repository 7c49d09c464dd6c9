// Package events is the HTTP resource of the live feed: an event stream that
// tells a client of every change of the objects that its user can see.
package events

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/feed"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Deps has what the operations of this package need.
type Deps struct {
	Feed *feed.Feed
	// Stopping is closed when the service stops; nil is never.
	Stopping <-chan struct{}
}

type handlers struct{ Deps }

// Register declares the operation.
func Register(a *op.API, deps Deps) {
	h := handlers{deps}
	op.Stream(a, "/api/v1/events/stream", h.stream, op.Spec{
		ID: "stream_events", Summary: "Stream changes of objects", Tag: "Events", Role: identity.Viewer, On: op.Anywhere,
		Description: "Sends Server-Sent Events for changes of the guests, hosts, nodes, jobs and alerts that the " +
			"caller can see, regardless of who makes them. It also sends tasks that other users started on the " +
			"hypervisors, which polls read while a client is connected. The first event is `hello` with the " +
			"`version` of the service and `poll_interval_s`, the seconds between two polls of a host. Open the " +
			"stream before you load lists, so that no change is missed.\n\n" +
			"An event `changes` contains `changes`, one for each object, and is sent at most ten times a second with " +
			"the last state of each object. A change has `kind`, `id` (for a node also `cluster_id` and `node`) and an " +
			"increasing `version`. `set` contains the changed fields with their new values, named as in the list of " +
			"these objects; if `whole` is true, it contains all fields, as for an object that is new to the caller. " +
			"`gone` means that the object was deleted or that the caller can no longer see it. Derived values are " +
			"not sent: counts of a host, the name of a host in its guests, and the times at which the service read " +
			"the data.\n\n" +
			"Usage figures, which change with every poll, are left out. With `figures=true` each poll of a cluster " +
			"sends one change of the kind `figures` whose `id` is the cluster: `guests` and `nodes` are rows in the " +
			"order of `guest_columns` and `node_columns`. Guests and nodes that are not running have no row: treat " +
			"their figures as null.\n\n" +
			"A client that reconnects within 15 minutes with `Last-Event-ID`, to any instance, misses nothing. " +
			"Otherwise, and if the caller's access changed, an event `reset` has a `reason` (`unknown`, `expired`, " +
			"`rights`, `many`): reload the lists; the stream continues from there. A stream ends when the caller's " +
			"access changes, when the client reads too slowly, and after 30 minutes; then reconnect.",
	})
}

// streamTime is the maximum length of a stream. It keeps connections from
// accumulating behind a proxy that does not close dead ones. Clients reconnect.
const streamTime = 30 * time.Minute

type streamInput struct {
	Topics  []string `query:"topics" enum:"guest,host,node,job,alert,task" example:"[\"guest\",\"job\"]" doc:"Only changes of these kinds, separated by commas; all kinds if absent"`
	Figures bool     `query:"figures" default:"false" doc:"Also send the usage figures of guests and nodes, once for each poll of a cluster"`
	After   string   `query:"after" maxLength:"8192" doc:"ID of the last received event, for clients that cannot set Last-Event-ID, which takes precedence"`
	Last    string   `header:"Last-Event-ID" maxLength:"8192" doc:"ID of the last received event"`
}

// stream sends the messages as they arrive. What the caller can see is
// determined at the beginning; op ends the stream when the roles of the caller
// change.
func (h handlers) stream(ctx context.Context, in *streamInput, out *op.EventStream) error {
	ctx, cancel := context.WithTimeout(ctx, streamTime)
	defer cancel()
	if h.Stopping != nil {
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			select {
			case <-h.Stopping:
				cancel()
			case <-stop:
			}
		}()
	}
	sight := feed.Filter{Visible: identity.FromContext(ctx).Visible(), Figures: in.Figures}
	for _, topic := range in.Topics {
		sight.Kinds = append(sight.Kinds, feed.Kind(topic))
	}
	last := in.Last
	if last == "" {
		last = in.After
	}
	reader, err := h.Feed.Join(ctx, sight, last)
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		m, err := reader.Next(ctx)
		if err != nil {
			if ctx.Err() != nil || problem.CodeOf(err) == problem.CodeStopping {
				return nil
			}
			return err
		}
		if err := out.SendEncoded(m.ID, m.Event, m.Data); err != nil {
			return err
		}
	}
}
