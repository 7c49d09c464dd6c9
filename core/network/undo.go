package network

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// These are the limits of the time until a node undoes a change on its own.
const (
	// usualUndoAfter is the default time of the rollback timer. MinUndoAfter
	// and MaxUndoAfter are the limits for a request: the job needs time to
	// check the node, and a node must not stay cut off for long.
	usualUndoAfter = 2 * time.Minute
	MinUndoAfter   = 30 * time.Second
	MaxUndoAfter   = time.Hour
	// undoTime is how long restoring the old network may take.
	undoTime = 2 * time.Minute
	// armLimit bounds starting the rollback timer, and stopping it.
	armLimit = 90 * time.Second
	// undoOutput is how many bytes are read of the timer's output.
	undoOutput = 16 << 10
)

// waiter is the rollback timer, a shell script on the node. It first saves the
// current configuration, then sleeps, then restores. A signal stops it while it
// sleeps, but not once it restores: half of a configuration would be worse than
// either of them. Its lines of output tell the service how far it is.
const waiter = `#!/bin/sh
sh ./undo keep || exit 3
echo kept
sleep "$1"
trap '' TERM
echo undoing
sh ./undo back || exit 4
echo undone
`

// armed is a running rollback timer, as the checkpoint of the job stores it.
type armed struct {
	// Host is the host on whose machine the timer runs, Run its unit there, and
	// Until its end by the service's clock.
	Host  int64     `json:"host"`
	Run   string    `json:"run"`
	Until time.Time `json:"until"`
}

// undoOf decides whether a rollback timer is used, on the machine of which
// host, and for how long. A zero duration means none, and why is the reason.
// after is the value of the request: nil for none, zero to disable it.
//
// The problems ssh_not_enrolled, consent_required and unsupported are returned
// only if the request asks for a timer; otherwise they are the reason.
func (s *Store) undoOf(ctx context.Context, p *host.NodeRef, n hypervisor.NodeNetwork, after *time.Duration) (hostID int64,
	d time.Duration,
	why string, err error) {
	if after != nil && *after == 0 {
		return 0, 0, "the request disables it", nil
	}
	if n.Undo == "" {
		err = problem.New(problem.CodeUnsupported, "the driver of this host cannot restore a network on the machine")
	} else if hostID, err = host.HostOfNode(ctx, s.DB, p.HostID, p.Node); err == nil {
		err = s.Hosts.RequireSSH(ctx, hostID)
	}
	if err == nil {
		return hostID, *cmp.Or(after, new(cmp.Or(s.UndoAfter, usualUndoAfter))), "", nil
	}
	switch refused := problem.From(err); refused.Code {
	case problem.CodeUnsupported, problem.CodeSSHNotEnrolled, problem.CodeConsentRequired:
		if after == nil {
			return 0, 0, refused.Detail, nil
		}
	}
	return 0, 0, "", err
}

// tellUndo writes into a plan whether the machine restores its network.
func tellUndo(p *host.NodeRef, v *verdict, after time.Duration, why string, pl *plan.Plan) {
	switch {
	case after > 0:
		pl.Add(plan.KindHost, p.Node, "The machine of %s restores its current network after %s, unless this service reaches it before "+
			"then and finds that all is well.", p.Node, after)
	case v.asks():
		pl.Warn("Nothing restores the current network if the node is cut off: %s.", strings.TrimSuffix(why, "."))
	}
}

// machine returns access to the machine of an undo. Each call is a separate
// login, so that no login is held while the machine waits.
func (s *Store) machine(a *armed) host.Login {
	return host.Login{Hosts: s.Hosts, HostID: a.Host, Limit: armLimit}
}

// arm starts the rollback timer on the node. It saves the checkpoint before it
// starts the timer, so that a resumed job knows of it. If an earlier attempt
// started one already, arm stops that one first.
func (s *Store) arm(ctx context.Context, run *job.Run, params applyParams, script string) (*armed, error) {
	var known applied
	if err := run.LoadCheckpoint(&known); err != nil {
		return nil, err
	}
	if known.Undo != nil {
		if _, err := s.disarm(ctx, known.Undo); err != nil {
			return nil, notArmed(err)
		}
	}
	after := time.Duration(params.UndoAfterS) * time.Second
	a := &armed{Host: params.UndoHost, Run: nodeunit.NewRun("network"), Until: time.Now().Add(after)}
	known.Undo = a
	if err := run.SaveCheckpoint(ctx, known); err != nil {
		return nil, err
	}
	spec := nodeunit.Spec{Run: a.Run, Program: "./wait", Arguments: []string{fmt.Sprint(params.UndoAfterS)}, Limit: after + 2*undoTime,
		Files: []nodeunit.File{nodeunit.Bytes("wait", 0o700, []byte(waiter)), nodeunit.Bytes("undo", 0o600, []byte(script))}}
	_, err := host.OnNode(ctx, s.Hosts, a.Host, armLimit, func(ctx context.Context, node hypervisor.NodeExecutor) (struct{}, error) {
		if err := nodeunit.Prepare(ctx, node, spec); err != nil {
			return struct{}{}, err
		}
		if err := nodeunit.Start(ctx, node, spec); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, keeps(ctx, node, a.Run)
	})
	if err != nil {
		return nil, notArmed(err)
	}
	return a, nil
}

// notArmed ends an apply that would be less safe than requested.
func notArmed(err error) error {
	return job.Fail("could not start the rollback timer on the machine: %s. Nothing was applied; to apply without a rollback timer, "+
		"set undo_after_s to 0", strings.TrimSuffix(job.Explain(err), "."))
}

// keeps waits until the timer has saved the configuration that it may have to
// restore. Nothing is applied before that.
func keeps(ctx context.Context, node hypervisor.NodeExecutor, run string) error {
	for {
		state, out, err := nodeunit.ReadState(ctx, node, run, 0, undoOutput)
		switch {
		case err != nil:
			return err
		case state.Final():
			return sdk.Errorf(sdk.Refused, "the machine could not store its current network: %s", host.Clean(string(out)))
		case saidLine(out, "kept"):
			return nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// saidLine reports whether the machine has printed a line.
func saidLine(out []byte, line string) bool {
	return bytes.Contains(append([]byte("\n"), out...), []byte("\n"+line+"\n"))
}

// disarm stops a rollback timer and removes its files. undone reports that it
// was too late: the timer has begun to restore the old network. disarm may be
// called again.
func (s *Store) disarm(ctx context.Context, a *armed) (undone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, armLimit)
	defer cancel()
	err = nodeunit.Stop(ctx, s.machine(a), a.Run) // which changes nothing where it has ended
	if sdk.KindOf(err) == sdk.NotFound {
		return false, nil // called off before, or never asked
	}
	if err != nil {
		return false, err
	}
	undone, _, err = s.over(ctx, a)
	return undone, err
}

// over waits for the end of a rollback timer, removes its files, and returns
// its output.
func (s *Store) over(ctx context.Context, a *armed) (undone bool, out []byte, err error) {
	var said bytes.Buffer
	if _, _, err := nodeunit.Follow(ctx, s.machine(a), a.Run, 0, &said); err != nil {
		return false, nil, err
	}
	return saidLine(said.Bytes(), "undoing"), said.Bytes(), nodeunit.Remove(ctx, s.machine(a), a.Run)
}
