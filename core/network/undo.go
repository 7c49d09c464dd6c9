package network

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
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

const (
	// usualUndoAfter is how long a node's machine waits before it puts its old network back, where a request does not say. MinUndoAfter
	// and MaxUndoAfter are what one may say.
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

// waiter is the program on the machine. It is called off by a signal while it sleeps, and not any more once it puts the network back.
const waiter = `#!/bin/sh
sh ./undo keep || exit 3
echo kept
sleep "$1"
trap '' TERM
echo undoing
sh ./undo back || exit 4
echo undone
`

// armed is a machine that puts its old network back unless it is called off.
type armed struct {
	// Host is the one whose machine it is, Run the name of the run there, and Until when it begins, by the service's clock.
	Host  int64     `json:"host"`
	Run   string    `json:"run"`
	Until time.Time `json:"until"`
}

// undoOf says whether the machine of a node puts its network back by itself, of which host it is, and after how long; zero for not, and
// then why. after is what the request says: nil for nothing, zero for none. Problems where a request wants what cannot be:
// ssh_not_enrolled, consent_required, unsupported.
func (s *Store) undoOf(ctx context.Context, p *host.Place, n hypervisor.NodeNetwork, after *time.Duration) (hostID int64, d time.Duration,
	why string, err error) {
	if after != nil && *after == 0 {
		return 0, 0, "the request says so", nil
	}
	if n.Undo == "" {
		err = problem.New(problem.CodeUnsupported, "the driver of this host knows no way to put a network back on the machine")
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

// tellUndo writes into a plan whether the machine puts its network back.
func tellUndo(p *host.Place, v *verdict, after time.Duration, why string, pl *plan.Plan) {
	switch {
	case after > 0:
		pl.Add(plan.KindHost, p.Node, "The machine of %s puts its present network back by itself %s after it was asked, unless this service "+
			"reaches it before and finds that all is well.", p.Node, after)
	case v.asks():
		pl.Warn("Nothing puts the present network back when the node is cut off: %s.", strings.TrimSuffix(why, "."))
	}
}

// arm has a machine wait. It was asked before where a request was not made then: that is called off first.
func (s *Store) arm(ctx context.Context, run *job.Run, params applyParams, script string) (*armed, error) {
	var known applied
	if err := run.Progress(&known); err != nil {
		return nil, err
	}
	count := 1
	if known.Undo != nil {
		if _, err := s.disarm(ctx, known.Undo); err != nil {
			return nil, notArmed(err)
		}
		_, _ = fmt.Sscanf(known.Undo.Run[strings.LastIndexByte(known.Undo.Run, '-')+1:], "%d", &count)
		count++
	}
	a := &armed{Host: params.UndoHost, Run: fmt.Sprintf("network-%d-%d", run.Job().ID, count)}
	a.Until = time.Now().Add(time.Duration(params.UndoAfterS) * time.Second)
	known.Undo = a
	if err := run.SaveProgress(ctx, known); err != nil {
		return nil, err
	}
	spec := nodeunit.Spec{Run: a.Run, Program: "./wait", Arguments: []string{fmt.Sprint(params.UndoAfterS)},
		Files: []nodeunit.File{runFile("wait", waiter), runFile("undo", script)},
		Limit: time.Duration(params.UndoAfterS)*time.Second + undoTime + undoTime}
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

// notArmed is the end of an apply that would not be as safe as it was asked for.
func notArmed(err error) error {
	return job.Fail("the machine could not be asked to put its network back if need be: %s. Nothing was applied; undo_after_s 0 applies "+
		"without", strings.TrimSuffix(job.Explain(err), "."))
}

func runFile(name, content string) nodeunit.File {
	return nodeunit.File{Name: name, Mode: 0o700, Size: int64(len(content)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(content))),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

// keeps waits until a machine has kept what it is to put back.
func keeps(ctx context.Context, node hypervisor.NodeExecutor, run string) error {
	return looking(ctx, func() (bool, error) {
		state, out, err := nodeunit.Look(ctx, node, run, 0, undoOutput)
		switch {
		case err != nil:
			return false, err
		case saidLine(out, "kept"):
			return true, nil
		case state.Final():
			return false, sdk.Errorf(sdk.Refused, "it could not keep its present network: %s", host.Clean(string(out)))
		}
		return false, nil
	})
}

// looking asks until it is so, in pauses.
func looking(ctx context.Context, ask func() (bool, error)) error {
	for {
		if done, err := ask(); done || err != nil {
			return err
		}
		timer := time.NewTimer(200 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// saidLine reports whether the machine has said a line.
func saidLine(out []byte, line string) bool {
	return bytes.Contains(append([]byte("\n"), out...), []byte("\n"+line+"\n"))
}

// disarm calls a machine off, and takes what is its own away. undone says that it was too late: the old network is back, or what the
// machine says tells why not. It may be called again.
func (s *Store) disarm(ctx context.Context, a *armed) (undone bool, err error) {
	return host.OnNode(ctx, s.Hosts, a.Host, armLimit, func(ctx context.Context, node hypervisor.NodeExecutor) (bool, error) {
		state, _, err := nodeunit.Look(ctx, node, a.Run, 0, 0)
		if err == nil && !state.Final() {
			err = nodeunit.Stop(ctx, node, a.Run)
		}
		if sdk.KindOf(err) == sdk.NotFound {
			return false, nil // called off before, or never asked
		}
		if err != nil {
			return false, err
		}
		undone, _, err := s.over(ctx, node, a)
		return undone, err
	})
}

// over waits for the end of a run, and takes it away.
func (s *Store) over(ctx context.Context, node hypervisor.NodeExecutor, a *armed) (undone bool, out []byte, err error) {
	err = looking(ctx, func() (bool, error) {
		var state nodeunit.State
		state, out, err = nodeunit.Look(ctx, node, a.Run, 0, undoOutput)
		return err == nil && state.Final(), err
	})
	if err != nil {
		return false, nil, err
	}
	return saidLine(out, "undoing"), out, nodeunit.Remove(ctx, node, a.Run)
}

// undone waits until a machine has put its network back, or was cut off from doing so, and gives what it has said.
func (s *Store) undone(ctx context.Context, a *armed) (back bool, out []byte, err error) {
	type end struct {
		back bool
		out  []byte
	}
	e, err := host.OnNode(ctx, s.Hosts, a.Host, max(0, time.Until(a.Until))+undoTime,
		func(ctx context.Context, node hypervisor.NodeExecutor) (end, error) {
			back, out, err := s.over(ctx, node, a)
			return end{back, out}, err
		})
	return e.back, e.out, err
}
