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
	// usualUndoAfter is how long a node's machine waits before it puts its old
	// network back, where a request does not say. MinUndoAfter and MaxUndoAfter
	// are what one may say.
	usualUndoAfter = 2 * time.Minute
	MinUndoAfter   = 30 * time.Second
	MaxUndoAfter   = time.Hour
	// undoTime is how long it may take to put it back.
	undoTime = 2 * time.Minute
	// armLimit bounds getting the machine to wait, and its being called off.
	armLimit = 90 * time.Second
	// undoOutput is what is read of what the machine says, in bytes.
	undoOutput = 16 << 10
)

// waiter is the program on the machine. A signal stops it while it sleeps, and
// not any more once it restores the network: half a configuration would be
// worse than either.
const waiter = `#!/bin/sh
sh ./undo keep || exit 3
echo kept
sleep "$1"
trap '' TERM
echo undoing
sh ./undo back || exit 4
echo undone
`

// armed is a machine that restores its old network unless it is stopped.
type armed struct {
	// Host is the one whose machine it is, Run the name of the run there, and
	// Until when it begins, by the service's clock.
	Host  int64     `json:"host"`
	Run   string    `json:"run"`
	Until time.Time `json:"until"`
}

// undoOf decides whether the machine of a node restores its network by itself,
// to which host it belongs, and after how long; zero for not, with the reason.
// after is the wish of the request: nil for none, zero for no undo. The
// problems ssh_not_enrolled, consent_required and unsupported occur only if the
// request asks for the undo.
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

// arm makes a machine wait. If an earlier attempt has armed it already, that
// one is stopped first.
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

// notArmed returns the end of an apply that would be less safe than requested.
func notArmed(err error) error {
	return job.Fail("could not start the rollback timer on the machine: %s. Nothing was applied; to apply without a rollback timer, "+
		"set undo_after_s to 0", strings.TrimSuffix(job.Explain(err), "."))
}

// keeps waits until a machine has saved what it may have to restore.
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

// disarm stops a machine and removes its files. undone reports that it was too
// late: the old network is back, or the machine's output tells why not. It may
// be called again.
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

// over waits for the end of an undo, removes its files, and returns its output.
func (s *Store) over(ctx context.Context, a *armed) (undone bool, out []byte, err error) {
	var said bytes.Buffer
	if _, _, err := nodeunit.Follow(ctx, s.machine(a), a.Run, 0, &said); err != nil {
		return false, nil, err
	}
	return saidLine(said.Bytes(), "undoing"), said.Bytes(), nodeunit.Remove(ctx, s.machine(a), a.Run)
}
