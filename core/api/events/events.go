// Package events is the HTTP resource of the live feed.
package events

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/feed"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Deps is what the resource works with.
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
		ID: "stream_events", Summary: "Follow what changes", Tag: "Events", Role: identity.Viewer, On: op.Anywhere,
		Description: "Server-Sent Events: what changes in the guests, hosts, nodes, jobs and alerts that the caller may see, whoever " +
			"changes it, and the hypervisors' tasks that others started, as polls list them while somebody looks. " +
			"The first event is `hello` with the service's `version`, and `poll_interval_s`, the seconds between two polls of a host. Open " +
			"the stream first and load lists then: what changes meanwhile is in the stream.\n\n" +
			"An event `changes` carries `changes`, one for each object, and comes at most ten times a second: the last state of an " +
			"object wins. A change names `kind` and `id` (of a node `cluster_id` and `node` too) and a `version`, which grows. In `set` " +
			"are the fields that changed, as they are now, with the names that they have in the object's list; with `whole` it is all " +
			"of them, of an object that is new to the caller. With `gone` the object is there no more, or not for the caller. What " +
			"derives from others is not followed: counts of a host, the name of a host at its guests, and the times at which the " +
			"service looked.\n\n" +
			"Figures that move with every poll are left out. With `figures=true` each poll of a cluster is one change of kind `figures` " +
			"whose `id` is the cluster: `guests` and `nodes` are rows in the order of `guest_columns` and `node_columns`. What is not " +
			"running is not among them; its figures are null.\n\n" +
			"A reader that comes back within a quarter of an hour with `Last-Event-ID`, to any instance, misses nothing. Else, and when " +
			"what the caller may see is not what it was, an event `reset` says why in `reason` (`unknown`, `expired`, `rights`, " +
			"`many`): load anew; the stream goes on from there. A stream ends when the caller's rights change, when the reader does " +
			"not take what is sent, and after half an hour: come back.",
	})
}

// streamTime bounds a stream, so that connections do not gather behind a proxy that keeps dead ones.
const streamTime = 30 * time.Minute

type streamInput struct {
	Topics  []string `query:"topics" enum:"guest,host,node,job,alert,task" example:"[\"guest\",\"job\"]" doc:"Only changes of these kinds: words with commas between them. All when it is absent"`
	Figures bool     `query:"figures" default:"false" doc:"Tell the figures of guests and nodes too, once for each poll of a cluster"`
	After   string   `query:"after" maxLength:"8192" doc:"The id of the last event that was seen, for readers that cannot set Last-Event-ID, which goes before it"`
	Last    string   `header:"Last-Event-ID" maxLength:"8192" doc:"The id of the last event that was seen"`
}

// stream sends messages as they come. The reader's sight is that of its beginning: the stream ends when the caller's roles change.
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
	sight := feed.Sight{Visible: identity.FromContext(ctx).Visible(), Figures: in.Figures}
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
