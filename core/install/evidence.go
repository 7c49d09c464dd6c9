package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// askLimit bounds one request to the hypervisor.
const askLimit = time.Minute

// decideOutcome ends the job: it looks for the container, decides, tags what a
// failed install left, cleans up, and makes the app. It runs again from the
// start after an interruption, so all its steps can be repeated.
func (w *work) decideOutcome(ctx context.Context) error {
	found, err := w.containers(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.cleanUp()
		return job.Undetermined("%s; the hypervisor does not report its containers (%s): look for one with the tag %s", w.outcomeText(),
			job.Explain(err), w.Mark)
	}
	w.hook("found", w.run.Job().ID)
	verdict := w.verdict(found)
	if verdict != nil {
		w.tagFailed(ctx, found)
	}
	w.cleanUp()
	w.hook("cleaned", w.run.Job().ID)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(found) > 0 && w.Sync != nil {
		if err := w.Sync(ctx, w.HostID); err != nil && ctx.Err() == nil {
			w.run.Note("the host could not be polled (%s); the next poll will show the container", job.Explain(err))
		}
	}
	if verdict != nil {
		return verdict
	}
	w.run.Note("%s, and the container %s with the tag %s is running on the node %s", w.outcomeText(), name(found[0]), w.Mark, found[0].Node)
	w.createApp(found[0])
	return nil
}

// succeeded reports whether the scripts ended as successful ones do. An exit
// status of 0 is not enough if the source defines a text that successful
// scripts print.
func (w *work) succeeded() bool {
	e := w.End
	return e.Phase == nodeunit.Ended && e.ExitCode == 0 && e.Signal == "" && !e.TimedOut && !e.Changed && !e.OutOfMemory && e.Asked == "" &&
		(w.Done || w.Launch.Succeeded == "")
}

// containers returns the containers with the tag of the job as the hypervisor
// reports them now. If the scripts succeeded, it waits up to AppearLimit for a
// running one, because a hypervisor may list a new container late.
func (w *work) containers(ctx context.Context) (found []hypervisor.Guest, err error) {
	until := time.Now().Add(cmp.Or(w.AppearLimit, defaultAppear))
	for {
		err = w.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
			found, err = w.marked(ctx)
			return err
		})
		if err != nil {
			return nil, err
		}
		runs := len(found) > 0 && found[0].Status == hypervisor.GuestRunning
		if !w.succeeded() || runs || time.Now().After(until) {
			return found, nil
		}
		if err := w.pause(ctx); err != nil {
			return nil, err
		}
	}
}

// marked asks the hypervisor for the containers with the tag. It reads each one
// separately, because the list of a cluster may come from a cache and have an
// old status.
func (w *work) marked(ctx context.Context) (found []hypervisor.Guest, err error) {
	return host.CallWithTimeout(ctx, w.Hosts, askLimit, w.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) ([]hypervisor.Guest, error) {
			var found []hypervisor.Guest
			err := at.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
				for _, g := range page.Guests {
					if g.Kind == hypervisor.Container && slices.Contains(g.Tags, w.Mark) {
						found = append(found, g)
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			kept := found[:0]
			for _, g := range found {
				now, err := at.Guest(ctx, g.GuestRef)
				if plugin.KindOf(err) == plugin.NotFound {
					continue
				}
				if err != nil {
					return nil, err
				}
				g.Status, g.Lock = now.Status, now.Lock
				kept = append(kept, g)
			}
			return kept, nil
		})
}

// outcomeText says how the scripts ended.
func (w *work) outcomeText() string {
	e := w.End
	switch {
	case e.Phase == refusedPhase:
		return "nothing was run: " + e.Why
	case e.Phase == gonePhase:
		return "the folder of the run no longer exists on the machine, so it is unknown how the scripts ended"
	case e.Phase == lostPhase:
		return "the machine no longer answers" + because(e.Why) + "; the scripts may still be running there, as " +
			nodeunit.Unit(w.Mark)
	case e.Phase == nodeunit.Prepared:
		return "the scripts were prevented from starting"
	case e.Changed:
		return "nothing was run: files on the machine no longer matched what was agreed to"
	case e.Phase == nodeunit.Rebooted:
		return "the machine went down while the scripts were running"
	case e.Phase == nodeunit.Lost:
		return "it is unknown how the scripts ended"
	case w.Stopped && (e.Signal != "" || e.ExitCode != 0):
		return "the scripts were stopped"
	case e.TimedOut:
		return fmt.Sprintf("the scripts did not end within %s and were stopped", w.Launch.Limit)
	case e.OutOfMemory:
		return "the kernel killed the scripts because the machine ran out of memory"
	case e.Asked != "":
		return "the scripts asked a question that nobody can answer, or needed something that is not in the bundle: " + e.Asked
	case e.Signal != "":
		return "the scripts were killed by the signal " + e.Signal
	case e.ExitCode != 0:
		return fmt.Sprintf("the scripts exited with status %d%s", e.ExitCode, w.explained(e.ExitCode))
	case w.Launch.Succeeded != "" && !w.Done:
		return "the scripts exited with status 0, but did not report that they were done"
	}
	return "the scripts succeeded"
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// explained returns what the source says about an exit status.
func (w *work) explained(status int) string {
	for _, e := range w.Launch.Exits {
		if e.Status == status {
			return ": " + strings.TrimSuffix(host.Clean(e.Text), ".")
		}
	}
	return ""
}

// verdict returns nil if everything proves that the install succeeded,
// otherwise the result of the job.
func (w *work) verdict(found []hypervisor.Guest) error {
	text := w.outcomeText() + w.remains(found)
	one := len(found) == 1 && found[0].Status == hypervisor.GuestRunning
	switch {
	case w.succeeded() && one && w.End.Unread:
		return job.Undetermined("%s, but it could not be read whether they asked for something%s", w.outcomeText(), w.remains(found))
	case w.succeeded() && one:
		if w.Stopped {
			w.run.Note("the scripts succeeded before they could be stopped")
		}
		return nil
	case w.Stopped && w.End.Phase != lostPhase && w.End.Phase != gonePhase:
		return job.Stopped("%s", text)
	case w.End.Phase == lostPhase, w.End.Phase == gonePhase, w.End.Phase == nodeunit.Lost:
		return job.Undetermined("%s", text)
	case w.succeeded() && len(found) == 0:
		return job.Fail("the scripts succeeded, but the monitoring token sees no container with the tag %s", w.Mark)
	case w.succeeded() && len(found) > 1:
		return job.Fail("the scripts succeeded, but more than one container has the tag of this job, so it is unclear which one is the "+
			"app's%s",
			w.remains(found))
	case w.succeeded():
		return job.Fail("the scripts succeeded, but the container is not running%s", w.remains(found))
	}
	return job.Fail("%s", text)
}

// remains says which containers exist and how to destroy them.
func (w *work) remains(found []hypervisor.Guest) string {
	if len(found) == 0 {
		return "; this job created no container"
	}
	names := make([]string, 0, len(found))
	for _, g := range found {
		names = append(names, fmt.Sprintf("%s on the node %s", name(g), host.Clean(g.Node)))
	}
	return fmt.Sprintf("; what was created is kept for inspection: the container %s. DELETE /api/v1/catalog/installs/%d destroys it",
		strings.Join(names, ", "), w.run.Job().ID)
}

func name(g hypervisor.Guest) string {
	if g.Name == "" || g.Name == string(g.ID) {
		return host.Clean(string(g.ID))
	}
	return fmt.Sprintf("%s (%s)", host.Clean(string(g.ID)), host.Clean(g.Name))
}
