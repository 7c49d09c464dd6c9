package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// startPatience is how long the job waits for a guest that is started again.
const startPatience = 2 * time.Minute

// undoMigration undoes a failed migration: it starts the guest again if that is safe,
// and ends the job with the original failure. Everything that is left behind is
// named in the failure.
func (a *guestRun) undoMigration(ctx context.Context, x *across) error {
	text := x.Failure.Text
	if a.progress.Migration.Running {
		text += "; " + a.restartOriginal(ctx, x)
	}
	if guest, ours, err := a.readOnTarget(ctx, x); err == nil && guest != nil && ours {
		text += fmt.Sprintf("; the restored guest is left on %s as %s", x.HostName, x.ID)
	}
	if x.Transfer != nil {
		left, err := a.removeCopies(ctx, x)
		if err != nil {
			return err
		}
		text = strings.Join(append([]string{text}, left...), "; ")
	}
	switch x.Failure.Status {
	case job.Unknown:
		return job.Undetermined("%s", text)
	case job.Canceled:
		return job.Stopped("%s", text)
	}
	return job.Fail("%s", text)
}

// restartOriginal starts the guest that was stopped, unless the other one runs or
// may be about to run: two running copies would corrupt what they share. It
// returns what happened as a clause for the failure.
func (a *guestRun) restartOriginal(ctx context.Context, x *across) string {
	if x.Backup != nil {
		guest, ours, err := a.awaitReadOnTarget(ctx, x)
		switch {
		case err != nil:
			return fmt.Sprintf("could not find out whether the guest runs on %s, so the original was not started again", x.HostName)
		case guest != nil && ours && guest.Status != hypervisor.GuestStopped:
			return fmt.Sprintf("the guest is %s on %s, so the original was not started again", guest.Status, x.HostName)
		// The request to start it there may still be carried out.
		case guest != nil && ours && x.Failure.Status == job.Unknown && a.run.StepStarted(stepEnter):
			return fmt.Sprintf("the guest may still be started on %s, so the original was not started again", x.HostName)
		}
	}
	status, err := a.startOriginal(ctx)
	switch {
	case err != nil:
		return "the guest could not be started again: " + job.Explain(err)
	case status != hypervisor.GuestRunning:
		return "the request to start the guest again was sent; its status is " + status
	}
	return "the guest is running again at its original place"
}

// startOriginal starts the guest unless it runs. Sending the request more than once
// is harmless, since it has no effect on a running guest.
func (a *guestRun) startOriginal(ctx context.Context) (status string, err error) {
	if err := a.locate(ctx); err != nil {
		return "", err
	}
	var guest hypervisor.Guest
	read := func() (hypervisor.Guest, error) {
		err := a.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
			guest, err = callHost(ctx, a, func(ctx context.Context, at hypervisor.Host) (hypervisor.Guest, error) { return at.Guest(ctx, a.ref) })
			return err
		})
		return guest, err
	}
	err = a.run.RetryUnreachable(ctx, func(ctx context.Context) error {
		if _, err := read(); err != nil || guest.Status == hypervisor.GuestRunning {
			return err
		}
		_, err := host.CallWithTimeout(ctx, a.Hosts, a.readLimit(), a.hostID, endpoint.Lifecycle,
			func(ctx context.Context, at hypervisor.LifecycleManager) (string, error) {
				return at.Act(ctx, a.ref, hypervisor.Start)
			})
		// The guest is already starting, or somebody else has started it.
		if sdk.KindOf(err) == sdk.Conflict {
			return nil
		}
		return err
	})
	if err != nil || guest.Status == hypervisor.GuestRunning {
		return guest.Status, err
	}
	for ends := time.Now().Add(startPatience); ; {
		if guest, err = read(); err != nil || guest.Status == hypervisor.GuestRunning || time.Now().After(ends) {
			if err == nil {
				err = a.show(ctx, a.requested.GuestID, guest)
			}
			return guest.Status, err
		}
		select {
		case <-a.run.Stopping():
			return guest.Status, nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// settleOnTarget marks the original guest as moved and makes the service follow
// the new one: lists, apps and schedules.
func (a *guestRun) settleOnTarget(ctx context.Context, x *across) error {
	if err := a.locate(ctx); err != nil {
		return err
	}
	marked := a.markMoved(ctx)
	a.sync(ctx, a.run, x.HostID)
	a.appear(ctx, a.run, x.HostID, a.targetRef(x))
	a.sync(ctx, a.run, a.hostID)
	if target := a.run.Job().Target; target.Kind == targets[hypervisor.Container] {
		if err := a.moveApp(ctx, x, target.ID); err != nil { // its schedules name the app
			return err
		}
	} else if err := a.moveSchedules(ctx, x); err != nil {
		return err
	}
	if x.Transfer != nil {
		left, err := a.removeCopies(ctx, x)
		if err != nil {
			return err
		}
		for _, text := range left {
			a.run.Note("%s", text)
		}
	}
	if marked != nil {
		return job.Fail("the guest is on %s as %s. The original is stopped but could not be tagged (%s): make sure that it is not "+
			"started with its node", x.HostName, x.ID, job.Explain(marked))
	}
	a.run.Note("the guest is on %s as %s; the original is kept, stopped, with the tag %s", x.HostName, x.ID, movedTag)
	return nil
}

// markTries is how often the mark is written if an answer is lost. Each attempt
// first looks whether the mark is there.
const markTries = 3

// markMoved gives the original guest the tag and disables its start with the
// node. Otherwise a reboot of the node would start a second copy.
func (a *guestRun) markMoved(ctx context.Context) (err error) {
	for range markTries {
		var autostart []string
		var config hypervisor.Config
		failed := a.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
			config, autostart, err = a.startsItself(ctx)
			return err
		})
		if failed != nil {
			return failed
		}
		tagged := slices.Contains(config.Tags, movedTag)
		if tagged && len(autostart) == 0 {
			return showNamed(ctx, a.DB, a.requested.GuestID, "", config.Tags)
		}
		// The digest protects a change that somebody makes at the same time.
		change := hypervisor.ConfigChange{Digest: config.Digest, Options: map[string]*string{}}
		if !tagged {
			change.Tags, change.TagsSet = append(slices.Clone(config.Tags), movedTag), true
		}
		for _, key := range autostart {
			change.Options[key] = nil
		}
		_, err = host.CallWithTimeout(ctx, a.Hosts, a.readLimit(), a.hostID, endpoint.Lifecycle,
			func(ctx context.Context, at hypervisor.ConfigEditor) (struct{}, error) {
				return struct{}{}, at.Reconfigure(ctx, a.ref, change)
			})
		if err == nil && !tagged {
			return showNamed(ctx, a.DB, a.requested.GuestID, "", change.Tags)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// startsItself reads the guest's configuration and the keys of the options that
// start it with its node.
func (a *guestRun) startsItself(ctx context.Context) (config hypervisor.Config, keys []string, err error) {
	config, err = callHost(ctx, a, func(ctx context.Context, at hypervisor.Host) (config hypervisor.Config, err error) {
		reader, err := host.AsAbility[hypervisor.ConfigReader](at)
		if err != nil {
			return config, err
		}
		if config, err = reader.Config(ctx, a.ref); err != nil {
			return config, err
		}
		able, err := host.AsAbility[hypervisor.ConfigEditor](at)
		if err != nil {
			return config, err
		}
		all, err := able.OptionKeys(ctx, a.ref.Kind)
		for _, key := range all {
			if on := config.Options[key.Name]; key.Autostart && on != "" && on != "0" && on != "false" {
				keys = append(keys, key.Name)
			}
		}
		return config, err
	})
	return config, keys, err
}

// moveApp moves the app to the new container. The row of the app stays, with
// everything that belongs to it. If the container is not listed yet, the next
// poll connects it by its ID.
func (a *guestRun) moveApp(ctx context.Context, x *across, id int64) error {
	_, err := a.DB.Pool.Exec(ctx, `UPDATE apps SET host_id = h.id, cluster_id = h.cluster_id, guest_id = g.id, guest_ref = $3,
		guest_uid = g.uid, vmid = COALESCE(g.vmid, CASE WHEN $3 ~ '^[0-9]{1,18}$' THEN $3::bigint END), updated_at = now()
		FROM hosts h LEFT JOIN guests g ON g.cluster_id = h.cluster_id AND g.kind = 'container' AND g.ref = $3
		WHERE h.id = $2 AND apps.id = $1`, id, x.HostID, string(x.ID))
	// Somebody has adopted the new container as another app in the meantime.
	if db.IsDuplicate(err, "apps_guest_id_key") || db.IsDuplicate(err, "apps_cluster_id_identity_key") {
		a.run.Note("the container already belongs to another app; this app stays with the original container")
		return nil
	}
	if err != nil {
		return db.Problem(fmt.Errorf("moving the app to its new container: %w", err))
	}
	return nil
}

// moveSchedules moves schedules to the new VM. If the VM is not listed yet,
// they are disabled: they must not act on the original, which has the same
// addresses.
func (a *guestRun) moveSchedules(ctx context.Context, x *across) error {
	var made int64
	err := a.DB.Pool.QueryRow(ctx, `SELECT g.id FROM hosts h JOIN guests g ON g.cluster_id = h.cluster_id AND g.kind = 'vm' AND g.ref = $2
		WHERE h.id = $1 AND g.first_seen_at >= $3 ORDER BY g.id DESC LIMIT 1`, x.HostID, string(x.ID), a.run.Job().CreatedAt).Scan(&made)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return db.Problem(fmt.Errorf("finding the moved guest: %w", err))
	}
	why := fmt.Sprintf("the VM %s was moved to the host %s, as %s", a.requested.Name, x.HostName, x.ID)
	if made == 0 {
		why += ", which is not known yet: add the new VM to the schedule"
	}
	follow, left, err := schedule.Retarget(ctx, a.DB, a.requested.GuestID, made, why)
	if err != nil {
		return db.Problem(err)
	}
	for _, name := range follow {
		a.run.Note("the schedule %s now uses the new guest", name)
	}
	for _, name := range left {
		a.run.Note("the schedule %s no longer includes this guest: the new guest is not known yet on %s", name, x.HostName)
	}
	return nil
}
