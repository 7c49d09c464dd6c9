package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// hold is a script that makes a migration wait while a file exists:
// /run/hold-trial for the trial on a copy, /run/hold-live for the live
// database.
const hold = `case "$1 $HOSTLER_DATABASE_URL" in
"migrate "*/hostler_trial_*) while [ -e /run/hold-trial ]; do sleep 0.1; done ;;
"migrate "*) while [ -e /run/hold-live ]; do sleep 0.1; done ;;
esac`

// held requests the update whose migration waits, and returns when it waits.
// before is the ID of the previous run.
func (c *check) held(ctx context.Context, file, step string) (before string, err error) {
	if before, err = c.lastRun(ctx); err != nil {
		return "", err
	}
	if _, err := c.machine.sh(ctx, "touch /run/"+file); err != nil {
		return "", err
	}
	if err := c.ask(ctx, heldVersion); err != nil {
		return "", err
	}
	if err := c.reaches(ctx, before, step, time.Minute); err != nil {
		return "", err
	}
	return before, until(ctx, 20*time.Second, func() error {
		// The brackets keep this command from finding itself.
		_, err := c.machine.sh(ctx,
			"for f in /proc/[0-9]*/cmdline; do if tr '\\0' ' ' <$f | grep -q '/"+heldVersion+"/bin/hostlerd [m]igrate'; then exit 0; fi; done "+
				"2>/dev/null; exit 1")
		return err
	})
}

// resumeUnit is the unit that finishes an interrupted run.
const resumeUnit = "hostler-updater-resume.service"

// killedInTrial kills the updater during the trial, while the resume unit is
// masked. The interrupted run must be visible, must block new requests and key
// rotation, and must end as failed once the unit may run. The service must have
// been available all the time.
func (c *check) killedInTrial(ctx context.Context) (string, error) {
	if err := c.publish(ctx, heldVersion); err != nil {
		return "", err
	}
	said, down, err := c.killed(ctx, "hold-trial", "trial",
		endOf("failed", secondVersion, heldVersion).because("in the step trial"), interval{
			before: func() error {
				t, err := c.told(ctx)
				if err == nil && (t.State != "running" || t.Run == nil || t.Run.Step != "migrate" || t.Run.To != heldVersion ||
					t.Run.FinishedAt != nil || t.Run.RequestedBy != email) {
					err = fmt.Errorf("during the trial it reports %+v", t)
				}
				return errors.Join(err, c.refuses(ctx, "running"), c.maskResume(ctx))
			},
			after: func() error {
				if err := errors.Join(c.cutOff(ctx), c.refuses(ctx, "interrupted")); err != nil {
					return err
				}
				// Nor may the key change now: the old one is in the backup.
				_, err := c.machine.sh(ctx,
					"! hostlerd keys rotate && systemctl unmask --runtime --quiet "+resumeUnit+" && systemctl start "+resumeUnit)
				return err
			},
		})
	c.figure("killed in the trial: %s", said)
	if err == nil && down != 0 {
		err = fmt.Errorf("nothing had changed, and the service was unavailable for %s", down)
	}
	return said, err
}

// maskResume keeps systemd from finishing the next interrupted run.
func (c *check) maskResume(ctx context.Context) error {
	_, err := c.machine.sh(ctx, "systemctl mask --runtime --quiet "+resumeUnit)
	return err
}

// cutOff waits until the service reports an interrupted run with a hint that
// names the resume unit.
func (c *check) cutOff(ctx context.Context) error {
	return until(ctx, 10*time.Second, func() error {
		t, err := c.told(ctx)
		if err == nil && (t.State != "interrupted" || t.Run == nil || t.Run.Step != "migrate" || t.Run.FinishedAt != nil ||
			!strings.Contains(t.Hint, resumeUnit)) {
			err = fmt.Errorf("after the kill it reports %+v", t)
		}
		return err
	})
}

// removedCutOff removes the package while an update is interrupted, and
// installs it again. The program that finishes the update must not be removed
// with the package.
func (c *check) removedCutOff(ctx context.Context) (string, error) {
	said, _, err := c.killed(ctx, "hold-trial", "trial", endOf("failed", secondVersion, heldVersion).because("in the step trial"),
		interval{
			before: func() error { return c.maskResume(ctx) },
			after: func() error {
				if err := c.cutOff(ctx); err != nil {
					return err
				}
				if _, err := c.machine.sh(ctx,
					"dpkg -r hostler && [ -x /opt/hostler/updater ] && systemctl unmask --runtime --quiet "+resumeUnit); err != nil {
					return err
				}
				_, err := c.dpkg(ctx, c.releases.first)
				return err
			},
		})
	return said, err
}

// killedInMigrate kills the updater while it migrates the live database. The
// update must be rolled back.
func (c *check) killedInMigrate(ctx context.Context) (string, error) {
	nothing := func() error { return nil }
	said, _, err := c.killed(ctx, "hold-live", "migrate",
		endOf("rolled_back", secondVersion, heldVersion).because("in the step migrate"), interval{nothing, nothing})
	c.figure("killed in migrate: %s", said)
	return said, err
}

// interval contains what is done immediately before and after the kill.
type interval struct{ before, after func() error }

// killed runs an update to a step, kills the updater there, and checks how the
// run ends. It returns a description, and how long the service was unavailable.
func (c *check) killed(ctx context.Context, file, step string, want updateState, at interval) (said string, down time.Duration,
	err error) {
	if err := c.stands(ctx); err != nil {
		return "", 0, err
	}
	p := c.client.probe(ctx)
	defer func() { down = p.end() }()
	before, err := c.held(ctx, file, step)
	if err != nil {
		return "", 0, err
	}
	if err := at.before(); err != nil {
		return "", 0, err
	}
	began := time.Now()
	if _, err := c.machine.sh(ctx, "systemctl kill --kill-whom=main -s KILL hostler-updater.service; rm /run/"+file); err != nil {
		return "", 0, err
	}
	if err := at.after(); err != nil {
		return "", 0, err
	}
	lines, err := c.ends(ctx, before, time.Minute)
	if err != nil {
		return "", 0, err
	}
	if err := errors.Join(c.ended(ctx, lines, want.step, secondVersion), c.isNow(ctx, want)); err != nil {
		return "", 0, err
	}
	said = fmt.Sprintf("%s, %.1f s later, and %.2f s without service", want.step, time.Since(began).Seconds(), p.end().Seconds())
	return said, 0, c.quiet(ctx)
}

// quiet waits until no run is in progress and the updater waits for requests
// again.
func (c *check) quiet(ctx context.Context) error {
	return until(ctx, 40*time.Second, func() error {
		out, err := c.machine.sh(ctx,
			"systemctl show -p ActiveState --value hostler-updater-resume.service; systemctl is-active hostler-updater.path")
		if err == nil && out != "inactive\nactive" {
			err = errors.New(out)
		}
		return err
	})
}

// powerCut kills the whole container during the migration and boots it again.
// The old version must run after the boot.
func (c *check) powerCut(ctx context.Context) (string, error) {
	if err := c.stands(ctx); err != nil {
		return "", err
	}
	before, err := c.held(ctx, "hold-live", "migrate")
	if err != nil {
		return "", err
	}
	if err := c.machine.kill(); err != nil {
		return "", err
	}
	began := time.Now()
	if err := c.machine.boot(ctx, c.root()); err != nil {
		return "", err
	}
	lines, err := c.ends(ctx, before, time.Minute)
	if err != nil {
		return "", err
	}
	if err := c.ended(ctx, lines, "rolled back", secondVersion); err != nil {
		return "", err
	}
	c.figure("from a loss of power in migrate to the old version: %.1f s, with the boot", time.Since(began).Seconds())
	return "", errors.Join(c.isNow(ctx, endOf("rolled_back", secondVersion, heldVersion).because("in the step migrate")),
		c.quiet(ctx), c.listenForReleases())
}

// rebooted reboots the container during the migration, which ends while the
// system shuts down. The service cannot be started at that point, so the update
// must be rolled back.
func (c *check) rebooted(ctx context.Context) (string, error) {
	if err := c.stands(ctx); err != nil {
		return "", err
	}
	before, err := c.held(ctx, "hold-live", "migrate")
	if err != nil {
		return "", err
	}
	began := time.Now()
	// The migration goes on for a while: the machine waits for it.
	if _, err := c.machine.sh(ctx, "systemd-run --quiet --property=DefaultDependencies=no sh -c 'sleep 4; rm /run/hold-live'"); err != nil {
		return "", err
	}
	if err := c.machine.reboot(ctx); err != nil {
		return "", err
	}
	lines, err := c.ends(ctx, before, time.Minute)
	if err != nil {
		return "", err
	}
	last := lines[len(lines)-1].Step
	serves := secondVersion
	if last == "done" { // it came to its end before the machine went down
		return "", errors.New("the update was completed although the service could not be started")
	}
	if err := c.ended(ctx, lines, "rolled back", serves); err != nil {
		return "", err
	}
	took := time.Since(began)
	err = errors.Join(c.isNow(ctx, endOf("rolled_back", secondVersion, heldVersion).because("starting the service")), c.quiet(ctx),
		c.listenForReleases())
	return fmt.Sprintf("%s, %.1f s with the reboot", last, took.Seconds()), err
}

// heldAtLast installs the release that was interrupted before, now without
// interruption.
func (c *check) heldAtLast(ctx context.Context) (string, error) {
	if err := c.trailTells(ctx); err != nil {
		return "", err
	}
	_, down, err := c.attempt(ctx, heldVersion, "done", endOf("done", secondVersion, heldVersion))
	return fmt.Sprintf("%.2f s without service", down.Seconds()), err
}
