package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	defaultLost   = time.Hour
	defaultAppear = 30 * time.Second
	defaultPause  = 5 * time.Second
	// callLimit bounds a call to a machine if the call has no limit of its own.
	callLimit = 2 * time.Minute
)

// progress is the checkpoint of a job.
type progress struct {
	// Begun says that the run was started or may have been. Its files are never
	// copied to the machine again.
	Begun bool `json:"begun"`
	output
	// Stopped says that the run was told to stop because the job was canceled.
	Stopped bool `json:"stopped,omitempty"`
	// End says how the scripts ended; nil while they run.
	End *end `json:"end,omitempty"`
}

// end says how the scripts ended.
type end struct {
	Phase       nodeunit.Phase `json:"phase"`
	ExitCode    int            `json:"exit_code"`
	Signal      string         `json:"signal,omitempty"`
	TimedOut    bool           `json:"timed_out,omitempty"`
	Changed     bool           `json:"changed,omitempty"`
	OutOfMemory bool           `json:"out_of_memory,omitempty"`
	StartedAt   time.Time      `json:"started_at,omitzero"`
	EndedAt     time.Time      `json:"ended_at,omitzero"`
	// Asked is what the scripts asked and nobody can answer, or wanted to load
	// although it is not in the bundle.
	Asked string `json:"asked,omitempty"`
	// Unread says that it is unknown whether the scripts asked something.
	Unread bool `json:"unread,omitempty"`
	// Why is the reason of the machine if the run was not started or cannot be
	// followed.
	Why string `json:"why,omitempty"`
}

// Phases of an end besides those of a unit.
const (
	// refusedPhase is a run that was not started, because the files on the
	// machine were not the expected ones.
	refusedPhase nodeunit.Phase = "refused"
	// gonePhase is a run whose folder no longer exists on the machine, and
	// lostPhase one whose machine does not answer.
	gonePhase nodeunit.Phase = "gone"
	lostPhase nodeunit.Phase = "unreachable"
)

// work is one execution of a job.
type work struct {
	*Store
	params
	progress
	run      *job.Run
	manifest sdk.Manifest
	node     *machine
	// life is the context of the execution. Unlike the ctx of perform, it does
	// not end when the job is canceled: stopping the scripts and cleaning up
	// use it.
	life context.Context
}

// machine is the connection to the host's machine. heard counts its answers, so
// that follow can tell a silent machine from a slow script.
type machine struct {
	host.Login
	heard atomic.Int64
}

// RunOnNode implements hypervisor.NodeExecutor.
func (m *machine) RunOnNode(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (hypervisor.NodeResult,
	error) {
	result, err := m.Login.RunOnNode(ctx, command, streams)
	if err == nil {
		m.heard.Add(1)
	}
	return result, err
}

// perform runs a job from its checkpoint.
func (s *Store) perform(ctx context.Context, run *job.Run) error {
	w := &work{Store: s, run: run, life: run.Context()}
	if err := run.Params(&w.params); err != nil {
		return err
	}
	if err := run.LoadCheckpoint(&w.progress); err != nil {
		return err
	}
	for _, text := range w.secrets() {
		run.Redact(text)
	}
	kept, err := s.Bundles.Get(ctx, w.Source, w.Slug, w.Sum)
	if err != nil {
		return err
	}
	w.manifest = kept.Manifest
	w.node = &machine{Login: host.Login{Hosts: s.Hosts, HostID: w.HostID, Limit: callLimit}}
	if w.End == nil && !w.Begun {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	if w.End == nil {
		if err := w.follow(ctx); err != nil {
			return err
		}
	}
	s.hook("ended", run.Job().ID)
	return w.decideOutcome(w.life)
}

// save stores the checkpoint.
func (w *work) save() error { return w.run.SaveCheckpoint(w.life, w.progress) }

// begin copies the bundle to the machine. It checks the consent again and waits
// until no other scripts run there. If the job is canceled before it returns,
// nothing has run and nothing stays.
func (w *work) begin(ctx context.Context) error {
	given, err := w.Bundles.FindConsent(ctx, w.HostID, sdk.Install, w.Sum)
	if err != nil {
		return err
	}
	if given == nil {
		return job.Fail("nobody has approved the bundle %.12s for this host; nothing was run", w.Sum)
	}
	w.run.Note("bundle %s of %s at %s; agreed to by %s", w.Sum, w.Path, w.Pin, given.ActorEmail)
	if err := w.alone(ctx); err != nil {
		return err
	}
	contents, err := w.contents(ctx)
	if err != nil {
		return err
	}
	w.hook("taken", w.run.Job().ID)
	spec := w.spec(&w.manifest, contents)
	w.run.Note("copying %d files to the node %s", len(spec.Files), w.Node)
	err = w.run.RetryUnreachable(ctx, func(ctx context.Context) error { return nodeunit.Prepare(ctx, w.node, spec) })
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return w.abandon(err)
	}
	w.hook("prepared", w.run.Job().ID)
	w.Begun = true
	return w.save()
}

// abandon ends a job whose run was not started, and removes what was copied. A
// job that will be resumed keeps the files.
func (w *work) abandon(err error) error {
	if w.life.Err() != nil {
		return context.Cause(w.life)
	}
	w.cleanUp()
	return err
}

// alone waits until no other job and no other run works on the machine. The
// lease in the database covers the jobs of this service; the list of units
// covers runs of other services and of crashed jobs.
func (w *work) alone(ctx context.Context) error {
	told := ""
	for {
		holder, err := nodeunit.AcquireLease(ctx, w.DB, w.ClusterID, w.Node, w.run.Job().ID)
		if err != nil {
			return err
		}
		waits := ""
		if holder != 0 {
			waits = fmt.Sprintf("job %d is running scripts on the node %s; waiting for it to end", holder, w.Node)
		} else if other, err := w.others(ctx); err != nil {
			return err
		} else if other != "" {
			waits = fmt.Sprintf("scripts of another run, %s, are still running on the node %s; waiting for them to end", other, w.Node)
		}
		if waits == "" {
			return nil
		}
		if waits != told {
			w.run.Note("%s", waits)
			told = waits
		}
		if err := w.pause(ctx); err != nil {
			return err
		}
	}
}

// others returns the name of another run that is going on on the machine; empty
// if there is none.
func (w *work) others(ctx context.Context) (other string, err error) {
	err = w.run.RetryUnreachable(ctx, func(ctx context.Context) error {
		other = ""
		runs, err := nodeunit.List(ctx, w.node)
		for _, run := range runs {
			if run == w.Mark {
				continue
			}
			state, _, err := nodeunit.ReadState(ctx, w.node, run, 0, 0)
			if err != nil && plugin.KindOf(err) != plugin.NotFound && plugin.KindOf(err) != plugin.Protocol {
				return err
			}
			if err == nil && state.Phase == nodeunit.Running {
				other = run
			}
		}
		return err
	})
	return other, err
}

// pause waits for Pause, or until the context ends.
func (w *work) pause(ctx context.Context) error {
	timer := time.NewTimer(cmp.Or(w.Pause, defaultPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// contents reads the files of the bundle and verifies their checksums.
func (w *work) contents(ctx context.Context) (map[string][]byte, error) {
	all := map[string][]byte{}
	err := w.Bundles.Each(ctx, w.manifest, func(f sdk.File, content io.Reader) (err error) {
		all[f.Sum], err = io.ReadAll(content)
		return err
	})
	if errors.Is(err, bundle.ErrAltered) {
		return nil, job.Fail("a stored file of the bundle is not the one that was agreed to; nothing was run")
	}
	return all, err
}
