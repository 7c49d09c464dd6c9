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
	// callLimit bounds a call to a machine that has no limit of its own.
	callLimit = 2 * time.Minute
)

// progress is the checkpoint.
type progress struct {
	// Begun says that the run was started, or was about to be: it is never brought to the machine again.
	Begun bool `json:"begun"`
	output
	// Stopped says that the run was told to end because the job shall be canceled.
	Stopped bool `json:"stopped,omitempty"`
	// End is how the scripts have ended; nil while they have not, or nobody knows.
	End *end `json:"end,omitempty"`
}

// end is how the scripts have ended.
type end struct {
	Phase       nodeunit.Phase `json:"phase"`
	ExitCode    int            `json:"exit_code"`
	Signal      string         `json:"signal,omitempty"`
	TimedOut    bool           `json:"timed_out,omitempty"`
	Changed     bool           `json:"changed,omitempty"`
	OutOfMemory bool           `json:"out_of_memory,omitempty"`
	StartedAt   time.Time      `json:"started_at,omitzero"`
	EndedAt     time.Time      `json:"ended_at,omitzero"`
	// Asked is what the scripts asked for that nobody answers, or wanted to load.
	Asked string `json:"asked,omitempty"`
	// Unread says that it could not be found out whether there is something that they asked for.
	Unread bool `json:"unread,omitempty"`
	// Why is what the machine said, of a run that was not started or cannot be followed.
	Why string `json:"why,omitempty"`
}

// Phases of an end besides those of a unit.
const (
	// refusedPhase is a run that was not started, because what was on the machine was not what it should be.
	refusedPhase nodeunit.Phase = "refused"
	// gonePhase is a run whose folder is not on the machine any more, and lostPhase one whose machine does not answer.
	gonePhase nodeunit.Phase = "gone"
	lostPhase nodeunit.Phase = "unreachable"
)

// work is one job.
type work struct {
	*Store
	params
	progress
	run      *job.Run
	manifest sdk.Manifest
	node     *machine
	// life is what a cancel of the job does not end.
	life context.Context
}

// machine is the host's, which notes when it has answered last.
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

// perform does a job, or goes on with it.
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

// begin brings the bundle to the machine and has it started. Up to then a cancel ends the job without a trace.
func (w *work) begin(ctx context.Context) error {
	given, err := w.Bundles.FindConsent(ctx, w.HostID, sdk.Install, w.Sum)
	if err != nil {
		return err
	}
	if given == nil {
		return job.Fail("nobody has agreed to run the bundle %.12s on this host; nothing was run", w.Sum)
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

// abandon ends a job whose run was not started, and takes away what it has brought. A job that is to be resumed keeps it.
func (w *work) abandon(err error) error {
	if w.life.Err() != nil {
		return context.Cause(w.life)
	}
	w.cleanUp()
	return err
}

// alone waits until no other job and no other run works on the machine.
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

// others is a run besides this job's that goes on at the machine; empty for none.
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

// pause waits a moment, or until the context ends.
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

// contents reads the files of the bundle, each held against its checksum.
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
