package appscript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// ran is how the script ended.
type ran struct {
	nodeunit.State
	// Asked is what the script asked, or wanted to download, as the overlay
	// recorded it; empty for nothing.
	Asked string `json:"asked,omitempty"`
	// Begun says that the run reached the program of the bundle.
	Begun bool `json:"begun"`
	// Canceled says that it was stopped because the job was canceled.
	Canceled bool `json:"canceled,omitempty"`
	// Gone says that it could not be determined how the script ended.
	Gone bool `json:"gone,omitempty"`
}

// enter moves the bundle to its place in the container, verifies it there, and
// executes its program. $1 is the bundle's folder, $2 the interpreter, $3 the
// program; the folders of PATH come before "--", and the program's arguments
// after it.
const enter = `#!/bin/sh
set -u; umask 022
run=$(dirname -- "$PWD")
at=$1 interpreter=$2 program=$3; shift 3
mkdir -p -- "$(dirname -- "$at")" && rm -rf -- "$at" && cp -R -- bundle "$at" || {
	echo "hostler: the bundle cannot be brought to $at" >&2
	exit 125
}
while IFS= read -r line; do
	mode=${line%% *}; chmod "$mode" -- "$at/${line#* }" || exit 125
done <modes
(cd -- "$at" && sha256sum -c "$run/files/sums" >/dev/null 2>&1) || {
	echo "hostler: the bundle at $at does not match its checksums" >&2
	exit 126
}
while [ $# -gt 0 ] && [ "$1" != -- ]; do PATH=$at/$1:$PATH; shift; done
shift
HOSTLER_RUN=$run; export PATH HOSTLER_RUN
: >"$run/begun" || exit 125
cd / && exec "$interpreter" "$at/$program" "$@"
`

// spec returns the run of the bundle in the container.
func (u *update) spec(b *bundle.Bundle) nodeunit.Spec {
	l, m := u.params.Launch, &b.Manifest
	arguments := []string{sdk.BundleFolder + "/" + m.Place, l.Interpreter, l.Program}
	for _, folder := range slices.Backward(l.PathFolders) { // each comes before those that were put there
		arguments = append(arguments, folder)
	}
	arguments = append(append(arguments, "--"), l.Arguments...)
	spec := nodeunit.Spec{Run: u.runName(), Program: "./enter", Arguments: arguments, Input: []byte(l.Input), Limit: u.limit()}
	for _, v := range u.params.Environment {
		spec.Environment = append(spec.Environment, hypervisor.NodeVariable{Name: v.Name, Value: plugin.Secret(v.Value.Reveal())})
	}
	var sums, modes bytes.Buffer
	for _, f := range m.Files {
		mode := uint32(0o644)
		if f.Executable {
			mode = 0o755
		}
		fmt.Fprintf(&sums, "%s  %s\n", f.Sum, f.Path)
		fmt.Fprintf(&modes, "%o %s\n", mode, f.Path)
		spec.Files = append(spec.Files, nodeunit.File{Name: "bundle/" + f.Path, Mode: mode, Size: f.Size, SHA256: f.Sum,
			Open: func() (io.ReadCloser, error) {
				data, err := u.Bundles.Read(context.WithoutCancel(u.hold), f) // which holds it against its checksum
				return io.NopCloser(bytes.NewReader(data)), err
			}})
	}
	for name, content := range map[string][]byte{"enter": []byte(enter), "sums": sums.Bytes(), "modes": modes.Bytes()} {
		spec.Files = append(spec.Files, nodeunit.Bytes(name, 0o755, content))
	}
	slices.SortFunc(spec.Files, func(a, b nodeunit.File) int { return strings.Compare(a.Name, b.Name) })
	return spec
}

// runName returns the name of the run's folder. It is in the checkpoint, so
// that a continued job finds its run.
func (u *update) runName() string { return u.progress.Run }

// limit returns how long the script may run.
func (u *update) limit() time.Duration {
	switch {
	case u.params.Launch.Limit > 0:
		return u.params.Launch.Limit
	case u.Pauses.Limit > 0:
		return u.Pauses.Limit
	}
	return time.Hour
}

// runScript copies the bundle into the container, starts it once, and follows
// it to its end.
func (u *update) runScript(ctx context.Context) error {
	node := nodeunit.InGuest(u.container(callLimit))
	if !u.progress.Started {
		if err := u.start(ctx, node); err != nil {
			return err
		}
	}
	state, err := u.follow(ctx, node)
	if err != nil {
		return err
	}
	r := &ran{State: state, Canceled: u.canceled()}
	u.progress.Ran = r
	if state.Phase != "" {
		err = u.run.RetryUnreachable(u.hold, func(ctx context.Context) error { return u.collect(ctx, r) })
	}
	switch {
	case u.hold.Err() != nil:
		return context.Cause(u.hold)
	case err != nil && state.Phase == nodeunit.Rebooted:
		r.Begun = true // as far as anybody can tell
	case err != nil || state.Phase == "":
		r.Gone, r.Begun = true, true
	}
	return u.save(u.hold)
}

// start starts the run. If the error is a verdict, nothing has run.
func (u *update) start(ctx context.Context, node hypervisor.NodeExecutor) error {
	key, err := u.params.key()
	if err != nil {
		return err
	}
	b, ok, err := u.Bundles.Find(ctx, key)
	if err != nil {
		return err
	}
	if !ok || b.Sum != u.params.Sum {
		return job.Fail("the approved bundle is no longer stored; nothing was run")
	}
	// A bundle that is not what the user agreed to is not even copied.
	err = u.Bundles.Each(ctx, b.Manifest, func(sdk.File, io.Reader) error { return nil })
	if errors.Is(err, bundle.ErrAltered) {
		return job.Fail("a file of the bundle differs from the approved one: %w", err)
	}
	if err != nil {
		return err
	}
	spec := u.spec(b)
	u.run.Note("copying the bundle %.12s into the container, %d files", b.Sum, len(b.Manifest.Files))
	err = u.run.RetryUnreachable(ctx, func(ctx context.Context) error { return nodeunit.Prepare(ctx, node, spec) })
	if err == nil {
		// From here on the script may run.
		u.progress.Starting = true
		err = u.save(ctx)
	}
	if err == nil {
		u.run.Note("running %s", u.params.Launch.Program)
		err = u.run.RetryUnreachable(ctx, func(ctx context.Context) error { return nodeunit.Start(ctx, node, spec) })
	}
	if err != nil {
		return err
	}
	u.progress.Started = true
	return u.save(u.hold)
}

// patience is how much longer than its limit the job waits for a script whose
// state cannot be read.
const patience = 30 * time.Minute

// follow copies the script's output into the transcript until it ends. A cancel
// stops the script. A state without a phase means that nobody could find out.
func (u *update) follow(ctx context.Context, node hypervisor.NodeExecutor) (nodeunit.State, error) {
	limited, cancel := context.WithTimeout(u.hold, u.limit()+patience)
	defer cancel()
	stopped := context.AfterFunc(ctx, func() {
		if !u.canceled() {
			return
		}
		u.run.Note("stopping the script")
		if err := u.run.RetryUnreachable(limited, func(ctx context.Context) error { return nodeunit.Stop(ctx, node, u.runName()) }); err != nil {
			u.run.Note("the script could not be stopped: %s", job.Explain(err))
		}
	})
	defer stopped()
	var failed error
	out := &nodeunit.Lines{Take: u.takeLine, Keep: func() error {
		failed = u.save(u.hold)
		return failed
	}}
	// The script continues while a plugin restarts.
	var state nodeunit.State
	next := u.progress.Offset
	err := u.run.RetryUnreachable(limited, func(ctx context.Context) (err error) {
		state, next, err = nodeunit.Follow(ctx, node, u.runName(), next, out)
		return err
	})
	if err == nil {
		err = out.Close()
	}
	switch {
	case u.hold.Err() != nil:
		return state, context.Cause(u.hold)
	case failed != nil:
		return state, failed
	case errors.Is(err, job.ErrLost), err != nil && plugin.KindOf(err) == plugin.Internal && db.Unavailable(err):
		return state, err
	case plugin.KindOf(err) == plugin.Conflict: // the container does not run, and the script ends with it
		return nodeunit.State{Phase: nodeunit.Rebooted}, nil
	case err != nil:
		u.run.Note("could not determine how the script is proceeding: %s", job.Explain(err))
		return nodeunit.State{}, nil
	}
	return state, nil
}

// takeLine takes one line of output into the transcript. A line that the script
// overwrites is shown only for a moment.
func (u *update) takeLine(size int64, shown []string) {
	launch := &u.params.Launch
	u.progress.Offset += size
	for _, text := range shown {
		if launch.Succeeded != "" && strings.Contains(text, launch.Succeeded) {
			u.progress.Succeeded = true
		}
		for _, step := range launch.Steps {
			if strings.Contains(text, step.Text) {
				u.run.SetProgress(step.Progress)
			}
		}
	}
	if len(shown) > 0 {
		u.run.Log(shown[len(shown)-1])
	}
}

// collects is the script that reports what a run has left in its folder $1:
// whether it began, and the content of the sentinel $2.
const collects = `cd "$1" 2>/dev/null || { echo none; exit 0; }
[ ! -e begun ] || echo begun
[ -z "$2" ] || [ ! -s "$2" ] || head -c 2000 "$2" | sed 's/^/asked /'
`

// collect reads what the run has left.
func (u *update) collect(ctx context.Context, r *ran) error {
	var out bytes.Buffer
	result, err := u.container(askLimit).Run(ctx, hypervisor.NodeCommand{Program: "sh", Limit: askLimit / 2,
		Arguments: []string{"-c", collects, "hostler", nodeunit.FolderOf(u.runName()), u.params.Launch.Sentinel}},
		hypervisor.NodeStreams{Output: &limited{&out, maxTold}})
	if err == nil && !result.OK() {
		err = plugin.Errorf(plugin.Refused, "the container did not report what the script left (%d)", result.ExitCode)
	}
	if err != nil {
		return err
	}
	var asked []string
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		if text, is := strings.CutPrefix(line, "asked "); is {
			asked = append(asked, host.Clean(text))
		}
		r.Begun = r.Begun || line == "begun"
	}
	r.Asked = strings.Join(asked, "; ")
	return nil
}
