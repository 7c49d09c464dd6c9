package install

import (
	"context"
	"slices"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// cleanLimit bounds removing what a run left on the machine.
const cleanLimit = 2 * time.Minute

// cleanUp removes the files of the run and the bundle from the machine. It
// leaves them if the run may still be going on there, and notes in the
// transcript what stays. A failure does not change the result of the job.
func (w *work) cleanUp() {
	if w.End != nil && (w.End.Phase == lostPhase || w.End.Phase == gonePhase && w.node.heard.Load() == 0) {
		w.run.Note("left on the machine: %s and %s", nodeunit.FolderOf(w.Mark), placeOf(&w.manifest))
		return
	}
	ctx, cancel := context.WithTimeout(w.life, cleanLimit)
	defer cancel()
	err := w.run.RetryUnreachable(ctx, func(ctx context.Context) error {
		if err := nodeunit.Remove(ctx, w.node, w.Mark); err != nil {
			return err
		}
		result, err := w.node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "rm", Arguments: []string{"-rf", "--", placeOf(&w.manifest)},
			Limit: callLimit}, hypervisor.NodeStreams{})
		if err == nil && !result.OK() {
			err = plugin.Errorf(plugin.Refused, "rm exited with %d", result.ExitCode)
		}
		return err
	})
	if err != nil && w.life.Err() == nil {
		w.run.Note("left on the machine, which did not answer (%s): %s and %s", job.Explain(err), nodeunit.FolderOf(w.Mark),
			placeOf(&w.manifest))
	}
}

// tagFailed adds the tag hostler-failed to the containers that a failed install
// left, if the host has a token that may change them. They keep the tag of the
// job.
func (w *work) tagFailed(ctx context.Context, found []hypervisor.Guest) {
	for _, g := range found {
		if slices.Contains(g.Tags, failedTag) {
			continue
		}
		_, err := host.CallWithTimeout(ctx, w.Hosts, askLimit, w.HostID, endpoint.Lifecycle,
			func(ctx context.Context, at hypervisor.ConfigEditor) (struct{}, error) {
				change := hypervisor.ConfigChange{Tags: append(slices.Clone(g.Tags), failedTag), TagsSet: true}
				return struct{}{}, at.Reconfigure(ctx, g.GuestRef, change)
			})
		if err != nil && ctx.Err() == nil {
			w.run.Note("the container %s could not be tagged %s (%s); it keeps the tag %s", name(g), failedTag, job.Explain(err), w.Mark)
		}
	}
}
