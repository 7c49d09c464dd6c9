package guest

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// create runs a job that creates a VM. It recognises the VM by the mark in its
// configuration.
func (w *Worker) create(ctx context.Context, run *job.Run) error {
	var params createParams
	if err := run.Params(&params); err != nil {
		return err
	}
	spec := params.Spec
	c := &creation{Worker: w, run: run, progress: creationProgress{ID: spec.ID}, hostID: params.HostID, kind: hypervisor.VM, node: spec.Node,
		name: spec.Name, noun: "VM", wanted: params.Wanted, needs: endpoint.Lifecycle, step: "create", operation: hypervisor.OperationCreate,
		note: "creating the VM " + spec.Name}
	// After a restart of the service the warnings are already in the
	// transcript.
	if !run.StepStarted(c.stepName()) {
		for _, warning := range params.Warnings {
			run.Note("%s", warning)
		}
	}
	c.send = func(ctx context.Context, at hypervisor.Host, id hypervisor.GuestID) (string, error) {
		able, err := host.AsAbility[hypervisor.Provisioner](at)
		if err != nil {
			return "", err
		}
		spec := spec
		spec.ID = id
		return able.CreateVM(ctx, spec)
	}
	// If a guest has the ID, its mark shows whether this job created it or
	// somebody else.
	c.find = func(ctx context.Context) (there, mine bool, err error) {
		limit := c.ReadLimit
		if limit == 0 {
			limit = defaultReadLimit
		}
		config, err := host.CallWithTimeout(ctx, c.Hosts, limit, c.hostID, endpoint.Monitoring,
			func(ctx context.Context, at hypervisor.ConfigReader) (hypervisor.Config, error) {
				return at.Config(ctx, c.ref())
			})
		if sdk.KindOf(err) == sdk.NotFound {
			return false, false, nil
		}
		return err == nil, err == nil && config.HasMark(spec.Mark), err
	}
	if err := c.execute(ctx, params.Start); err != nil {
		return err
	}
	return c.retarget(context.WithoutCancel(ctx))
}

// retarget makes the VM the target of the job, once a poll has listed it.
// Before that the job's target is the host.
func (c *creation) retarget(ctx context.Context) error {
	var id int64
	err := c.DB.Pool.QueryRow(ctx, `UPDATE jobs j SET target_kind = 'vm', target_id = g.id, target_name = g.name
		FROM guests g JOIN hosts h ON h.cluster_id = g.cluster_id
		WHERE j.id = $1 AND h.id = $2 AND g.kind = 'vm' AND g.ref = $3 RETURNING g.id`, c.run.Job().ID, c.hostID,
		string(c.progress.ID)).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return db.Problem(fmt.Errorf("storing the VM of the job: %w", err))
	}
	return nil
}
