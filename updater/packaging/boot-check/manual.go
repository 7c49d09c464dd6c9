package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// dryRun tries a release with hostler-updater run --dry-run. Nothing may change
// and nothing may be left.
func (c *check) dryRun(ctx context.Context) (string, error) {
	if err := errors.Join(c.pack(ctx, fourthVersion, fourthVersion, ""), c.publish(ctx, fourthVersion)); err != nil {
		return "", err
	}
	listing := "ls -A /opt/hostler /opt/hostler/releases /opt/hostler/quarantine /var/lib/hostler-updater/backups"
	before, err := c.machine.sh(ctx, listing)
	if err != nil {
		return "", err
	}
	run, err := c.lastRun(ctx)
	if err != nil {
		return "", err
	}
	p := c.client.probe(ctx)
	defer p.end()
	if out, err := c.machine.sh(ctx, "hostler-updater run --dry-run"); err != nil {
		return out, err
	}
	lines, err := c.ends(ctx, run, time.Second)
	if err != nil {
		return "", err
	}
	want := endOf("done", heldVersion, fourthVersion)
	want.by, want.serves, want.dry = "", heldVersion, true
	if err := errors.Join(c.ended(ctx, lines, "done", heldVersion), c.isNow(ctx, want)); err != nil {
		return "", err
	}
	if after, err := c.machine.sh(ctx, listing); err != nil || after != before {
		return "", errors.Join(err, fmt.Errorf("before %q, after %q", before, after))
	}
	if down := p.end(); down != 0 {
		return "", fmt.Errorf("the service was unavailable for %s", down)
	}
	return fmt.Sprintf("%.1f s", took(lines, "backup").Seconds()), nil
}

// takenBack rolls back a successful update by hand, with the database from
// before it, and then lets the package install the release again. Without the
// backup the command must refuse, because the database was migrated.
func (c *check) takenBack(ctx context.Context) (string, error) {
	if out, err := c.machine.sh(ctx, "! hostler-updater rollback 2>&1"); err != nil || !strings.Contains(out, "restores the backup from "+
		"before the update") {
		return "", errors.Join(err, fmt.Errorf("without the backup it says: %s", out))
	}
	before, err := c.lastRun(ctx)
	if err != nil {
		return "", err
	}
	p := c.client.probe(ctx)
	defer p.end()
	if out, err := c.machine.sh(ctx, "hostler-updater rollback --restore-database"); err != nil {
		return out, err
	}
	lines, err := c.ends(ctx, before, time.Second)
	if err != nil {
		return "", err
	}
	want := endOf("rolled_back", heldVersion, fourthVersion).because(askedFor)
	want.by, want.available = "", ""
	if err := errors.Join(c.ended(ctx, lines, "rolled back", heldVersion), c.isNow(ctx, want)); err != nil {
		return "", err
	}
	down := p.end()
	said := fmt.Sprintf("%.1f s, including %.2f s without service", took(lines, "backup").Seconds(), down.Seconds())
	c.figure("taken back by hand, with the backup: %s", said)
	if before, err = c.lastRun(ctx); err != nil {
		return "", err
	}
	if out, err := c.dpkg(ctx, c.releases.fourth); err != nil {
		return out, err
	}
	if lines, err = c.ends(ctx, before, time.Second); err != nil {
		return "", err
	}
	want = endOf("done", heldVersion, fourthVersion)
	want.by = ""
	return said, errors.Join(c.ended(ctx, lines, "done", fourthVersion), c.isNow(ctx, want))
}
