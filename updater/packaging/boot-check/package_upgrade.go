package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// upgradeBroken upgrades the package while the updater's configuration is
// invalid. dpkg must report the failure, and the old version must go on
// running.
func (c *check) upgradeBroken(ctx context.Context) (string, error) {
	if out, err := c.machine.sh(ctx,
		"cp -p /etc/hostler/updater.json /root/updater.json && echo '{' > /etc/hostler/updater.json"); err != nil {
		return out, err
	}
	p := c.client.probe(ctx)
	defer p.end()
	if out, err := c.dpkg(ctx, c.releases.fourth); err == nil {
		return "", fmt.Errorf("it was configured with a broken configuration: %s", out)
	}
	if err := c.client.serves(ctx, heldVersion, time.Second); err != nil {
		return "", err
	}
	if down := p.end(); down != 0 {
		return "", fmt.Errorf("the service was unavailable for %s", down)
	}
	t, err := c.told(ctx)
	if err == nil && (len(t.Problems) != 1 || !strings.Contains(t.Problems[0], "configuration cannot be read") || t.CanSelfApply ||
		!strings.HasPrefix(t.Hint, "fix /etc/hostler/updater.json")) {
		err = fmt.Errorf("it reports the broken configuration as %+v", t)
	}
	return "", errors.Join(err, c.refuses(ctx, "configuration"), c.data(ctx))
}

// upgrade repairs the configuration and lets dpkg finish. A package's release
// goes through the same steps as any other update.
func (c *check) upgrade(ctx context.Context) (string, error) {
	before, err := c.lastRun(ctx)
	if err != nil {
		return "", err
	}
	p := c.client.probe(ctx)
	defer p.end()
	if out, err := c.machine.sh(ctx, "cp -p /root/updater.json /etc/hostler/updater.json && dpkg --configure hostler 2>&1"); err != nil {
		return out, err
	}
	lines, err := c.ends(ctx, before, time.Second)
	if err != nil {
		return "", err
	}
	want := endOf("done", heldVersion, fourthVersion)
	want.by = "" // nobody has asked the service
	if err := errors.Join(c.ended(ctx, lines, "done", fourthVersion), c.isNow(ctx, want)); err != nil {
		return "", err
	}
	down := p.end()
	c.figure("without service during a package's upgrade: %.2f s", down.Seconds())
	return fmt.Sprintf("%.1f s, including %.2f s without service", took(lines, "backup").Seconds(), down.Seconds()), nil
}

// downgrade installs an older package, which must leave the installed version
// alone and say so.
func (c *check) downgrade(ctx context.Context) (string, error) {
	out, err := c.dpkg(ctx, c.releases.first)
	if err != nil {
		return out, err
	}
	if !strings.Contains(out, "the installed version is newer") {
		return "", fmt.Errorf("it does not report that: %s", out)
	}
	if err := c.client.serves(ctx, fourthVersion, time.Second); err != nil {
		return "", err
	}
	_, err = c.dpkg(ctx, c.releases.fourth)
	return "", errors.Join(err, c.client.serves(ctx, fourthVersion, time.Second), c.data(ctx), c.stands(ctx), c.trailTells(ctx))
}
