package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ask asks for an update as an administrator does.
func (c *check) ask(ctx context.Context, version string) error {
	var t told
	if _, err := c.client.call(ctx, http.MethodPost, "/meta/update", map[string]string{"version": version}, &t); err != nil {
		return fmt.Errorf("asking for %s: %w", version, err)
	}
	c.asked++
	if t.State != "requested" && t.State != "running" || t.Request != nil && (t.Request.Version != version || t.Request.RequestedBy != email) || t.available() != version {
		return fmt.Errorf("the answer to who asked for %s is %+v", version, t)
	}
	return nil
}

// request writes the file by which the service asks.
func (c *check) request(ctx context.Context, text string) error {
	_, err := c.machine.sh(ctx, "runuser -u hostler -- sh -c 'umask 077; cd /var/lib/hostler && printf %s \"$1\" > .request && mv .request update-request.json' sh '"+text+"'")
	return err
}

// line is one of the updater's journal.
type line struct {
	At    time.Time
	Run   string
	Step  string
	Event string
	Text  string
}

// journal is the last run's.
func (c *check) journal(ctx context.Context) ([]line, error) {
	text, err := c.machine.sh(ctx, "cat /var/lib/hostler-updater/journal.jsonl 2>/dev/null || true")
	if err != nil || text == "" {
		return nil, err
	}
	var all []line
	for raw := range strings.Lines(text) {
		var l line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			return nil, err
		}
		if len(all) > 0 && all[0].Run != l.Run {
			all = nil
		}
		all = append(all, l)
	}
	return all, nil
}

func final(step string) bool { return step == "done" || step == "rolled back" || step == "failed" }

// ends waits for the end of a run that began after another one, and says how it ended.
func (c *check) ends(ctx context.Context, after string, within time.Duration) (lines []line, err error) {
	err = until(ctx, within, func() (err error) {
		if lines, err = c.journal(ctx); err != nil {
			return err
		}
		if len(lines) == 0 || lines[0].Run == after || !final(lines[len(lines)-1].Step) {
			return errors.New("the update is not at its end")
		}
		return nil
	})
	return lines, err
}

// lastRun is the id of the last run, "" before the first.
func (c *check) lastRun(ctx context.Context) (string, error) {
	lines, err := c.journal(ctx)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	return lines[0].Run, nil
}

// reaches waits until a run begins a step.
func (c *check) reaches(ctx context.Context, after, step string, within time.Duration) error {
	return until(ctx, within, func() error {
		lines, err := c.journal(ctx)
		if err != nil {
			return err
		}
		if len(lines) > 0 && lines[0].Run != after && lines[len(lines)-1].Step == step {
			return nil
		}
		return fmt.Errorf("the update has not come to %s", step)
	})
}

// took is the time from the beginning of a step to the end of the run.
func took(lines []line, step string) time.Duration {
	for _, l := range lines {
		if l.Step == step {
			return lines[len(lines)-1].At.Sub(l.At)
		}
	}
	return 0
}

// attempt asks for an update and waits for its end, while somebody looks all the time whether the service answers and what
// it tells. Before and after, it must tell of the last end and of nothing else.
func (c *check) attempt(ctx context.Context, version, end string, want standing) (lines []line, down time.Duration, err error) {
	if err := c.stands(ctx); err != nil {
		return nil, 0, err
	}
	before, err := c.lastRun(ctx)
	if err != nil {
		return nil, 0, err
	}
	p, w := c.client.probe(ctx), c.watch(ctx)
	defer func() { down = p.end() }()
	defer w.end()
	if err := c.ask(ctx, version); err != nil {
		return nil, 0, err
	}
	if lines, err = c.ends(ctx, before, 6*time.Minute); err != nil {
		return nil, 0, err
	}
	if err := errors.Join(c.ended(ctx, lines, end, want.serves), c.isNow(ctx, want)); err != nil {
		return nil, 0, err
	}
	seen := w.end()
	must := []string{want.from + " running migrate"}
	if want.state == "done" {
		must = append(must, want.to+" running health-check")
	}
	for _, one := range must {
		if !slices.Contains(seen, one) {
			return nil, 0, fmt.Errorf("nobody was told of %q: %q", one, seen)
		}
	}
	return lines, 0, nil
}

// ended holds the end of a run against what it should be: the step, the version that serves, and the data.
func (c *check) ended(ctx context.Context, lines []line, end, serves string) error {
	last := lines[len(lines)-1]
	if last.Step != end {
		return fmt.Errorf("the run is %s, not %s: %s", last.Step, end, last.Text)
	}
	if err := c.client.serves(ctx, serves, 10*time.Second); err != nil {
		return err
	}
	out, err := c.machine.sh(ctx, `readlink /opt/hostler/current; runuser -u postgres -- psql -Atc "SELECT datname FROM pg_database WHERE datname ~ '^hostler_'"`)
	if err == nil && out != "releases/"+serves {
		err = fmt.Errorf("the link and the databases beside the live one: %q", out)
	}
	return errors.Join(err, c.data(ctx))
}

// refused asks before anybody has named a source. The service refuses that; who writes the request past it gets a run that
// fails, or nothing. The unit must not go round.
func (c *check) refused(ctx context.Context) (string, error) {
	c.last = standing{state: "idle", serves: firstVersion}
	t, err := c.told(ctx)
	if err == nil && (t.Shape != "package" || t.CanSelfApply || !strings.Contains(t.Hint, "name source and channel in /etc/hostler/updater.json")) {
		err = fmt.Errorf("it tells %+v", t)
	}
	if err := errors.Join(err, c.stands(ctx), c.refuses(ctx, "not_configured")); err != nil {
		return "", err
	}
	asHostler := func(line string) func() error {
		return func() error {
			_, err := c.machine.sh(ctx, "runuser -u hostler -- "+line)
			return err
		}
	}
	for _, put := range []func() error{
		func() error { return c.request(ctx, `{"id":"check-0","version":"9.9.9"}`) },
		asHostler("mkdir -p /var/lib/hostler/update-request.json/deep"),
		asHostler("ln -s /etc/shadow /var/lib/hostler/update-request.json"),
	} {
		if err := put(); err != nil {
			return "", err
		}
		if err := until(ctx, 20*time.Second, func() error {
			out, err := c.machine.sh(ctx, "[ ! -e /var/lib/hostler/update-request.json ] && [ ! -L /var/lib/hostler/update-request.json ] && systemctl show -p ActiveState --value hostler-updater.service")
			if err == nil && out != "failed" && out != "inactive" {
				err = errors.New(out)
			}
			return err
		}); err != nil {
			return "", err
		}
	}
	if err := c.isNow(ctx, standing{state: "failed", from: firstVersion, step: "failed", reason: "names no source of releases", serves: firstVersion}); err != nil {
		return "", err
	}
	out, err := c.machine.sh(ctx, "systemctl is-active hostler-updater.path && [ -s /etc/shadow ] && journalctl -q -u hostler-updater.service | grep -c 'Starting '")
	if err == nil && !strings.HasSuffix(out, "\n3") {
		err = fmt.Errorf("three requests, and starts: %s", out)
	}
	return "", err
}

// look lets the service find a release by its schedule, which is there once a source and a channel are named.
func (c *check) look(ctx context.Context) (string, error) {
	if err := c.publish(ctx, secondVersion); err != nil {
		return "", err
	}
	if _, err := c.machine.sh(ctx, "systemctl restart hostler.service"); err != nil {
		return "", err
	}
	var id int64
	if err := until(ctx, 20*time.Second, func() error {
		var schedules []struct {
			ID      int64
			JobKind string `json:"job_kind"`
			Enabled bool
		}
		if _, err := c.client.call(ctx, http.MethodGet, "/api/v1/schedules?per_page=500", nil, &schedules); err != nil {
			return err
		}
		for _, s := range schedules {
			if s.JobKind == "update.check" && s.Enabled {
				id = s.ID
				return nil
			}
		}
		return fmt.Errorf("no schedule looks for releases: %v", schedules)
	}); err != nil {
		return "", err
	}
	t, err := c.told(ctx)
	if err == nil && (t.Available != nil || t.LastCheck != nil || !t.CanSelfApply || t.Channel != "stable" || !strings.Contains(t.Hint, "nobody has looked for releases yet")) {
		err = fmt.Errorf("before anybody has looked it tells %+v", t)
	}
	if err != nil {
		return "", err
	}
	if _, err := c.client.call(ctx, http.MethodPost, fmt.Sprintf("/api/v1/schedules/%d/run", id), nil, nil); err != nil {
		return "", err
	}
	c.last.available = secondVersion
	began := time.Now()
	if err := until(ctx, 20*time.Second, func() error { return c.stands(ctx) }); err != nil {
		return "", err
	}
	if t, err = c.told(ctx); err == nil && (t.Hint != "" || t.LastCheck == nil || t.LastCheck.Error != "") {
		err = fmt.Errorf("it tells %+v", t)
	}
	return fmt.Sprintf("%s is found %.1f s after the schedule was run", secondVersion, time.Since(began).Seconds()), err
}

// end of an update that somebody has asked for at the service.
func endOf(state, from, to string) standing {
	w := standing{state: state, from: from, to: to, step: map[string]string{"done": "done", "failed": "failed", "rolled_back": "rolled back"}[state], by: email}
	if w.serves = to; state != "done" {
		w.serves, w.available = from, to
	}
	return w
}

func (w standing) because(reason string) standing {
	w.reason = reason
	return w
}

func (c *check) update(ctx context.Context) (string, error) {
	lines, down, err := c.attempt(ctx, secondVersion, "done", endOf("done", firstVersion, secondVersion))
	if err != nil {
		return "", err
	}
	c.figure("without service during an update: %.2f s", down.Seconds())
	out, err := c.machine.sh(ctx, `runuser -u postgres -- psql -Atc "SELECT note FROM second_release" hostler; readlink /opt/hostler/updater`)
	if err == nil && out != "migrated\nreleases/"+secondVersion+"/bin/hostler-updater" {
		err = errors.New(out)
	}
	return fmt.Sprintf("%.1f s, of these %.2f s without service", took(lines, "backup").Seconds(), down.Seconds()), err
}

func (c *check) rollsBack(ctx context.Context, version string) (string, error) {
	lines, down, err := c.attempt(ctx, version, "rolled back", endOf("rolled_back", secondVersion, version).because("health-check: the service does not become ready"))
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("rolled back in %.1f s, %.2f s without service in all", took(lines, "rollback").Seconds(), down.Seconds())
	c.figure("%s: %s", version, said)
	return said, nil
}

func (c *check) crash(ctx context.Context) (string, error) { return c.rollsBack(ctx, crashVersion) }

// silent waits for two minutes, in which much else is done.
func (c *check) silent(ctx context.Context) (string, error) {
	if err := c.publish(ctx, silentVersion); err != nil {
		return "", err
	}
	others := c.buildOthers()
	second := c.releases.errand(func() error {
		err := c.second.shortLife(c.releases.meanwhile)
		if err != nil && c.releases.meanwhile.Err() == nil {
			c.second.tellWhatHappened()
		}
		return errors.Join(err, c.second.machine.kill())
	})
	said, err := c.rollsBack(ctx, silentVersion)
	if err != nil {
		return said, err
	}
	return said, errors.Join(others.wait(), second.wait())
}

// slowEnd is a drop-in that keeps the updater's unit from its end while /run/hold-end is there.
const slowEnd = `[Service]
ExecStart=
ExecStart=/bin/sh -c '/opt/hostler/updater run --requested; was=$?; while [ -e /run/hold-end ]; do sleep 0.1; done; exit $was'
`

// noRun asks while the program to which a roll-back would return is gone: that becomes no run. A request that comes between
// the end of the updater and that of its unit must not be lost.
func (c *check) noRun(ctx context.Context) (string, error) {
	if err := c.publish(ctx, crashVersion); err != nil {
		return "", err
	}
	if err := c.stands(ctx); err != nil {
		return "", err
	}
	const program = "/opt/hostler/releases/" + secondVersion + "/bin/hostlerd"
	dropIns := filepath.Join(c.root(), "etc/systemd/system/hostler-updater.service.d")
	if err := errors.Join(os.Mkdir(dropIns, 0o755), os.WriteFile(filepath.Join(dropIns, "slow.conf"), []byte(slowEnd), 0o644)); err != nil {
		return "", err
	}
	if _, err := c.machine.sh(ctx, "systemctl daemon-reload && mv "+program+" /root/hostlerd && touch /run/hold-end"); err != nil {
		return "", err
	}
	for _, release := range []string{"true", "rm /run/hold-end"} {
		if err := c.ask(ctx, crashVersion); err != nil {
			return "", err
		}
		if _, err := c.machine.sh(ctx, release); err != nil {
			return "", err
		}
		if err := until(ctx, 20*time.Second, func() error {
			t, err := c.told(ctx)
			if err == nil && t.State != "refused" {
				err = fmt.Errorf("it is %s", t.State)
			}
			return err
		}); err != nil {
			return "", err
		}
		want := standing{state: "refused", to: crashVersion, reason: "is not whole", by: email, serves: secondVersion, available: crashVersion}
		if err := errors.Join(c.isNow(ctx, want), c.trailTells(ctx)); err != nil {
			return "", err
		}
	}
	err := os.RemoveAll(dropIns)
	if _, moved := c.machine.sh(ctx, "mv /root/hostlerd "+program+" && systemctl daemon-reload"); moved != nil {
		err = errors.Join(err, moved)
	}
	return "", errors.Join(err, c.quiet(ctx))
}

// hold makes a migration wait while a file is there: that of the trial, or that of the live database.
const hold = `case "$1 $HOSTLER_DATABASE_URL" in
"migrate "*/hostler_trial_*) while [ -e /run/hold-trial ]; do sleep 0.1; done ;;
"migrate "*) while [ -e /run/hold-live ]; do sleep 0.1; done ;;
esac`

// held asks for the update that waits, and comes back when it does.
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
		_, err := c.machine.sh(ctx, "for f in /proc/[0-9]*/cmdline; do if tr '\\0' ' ' <$f | grep -q '/"+heldVersion+"/bin/hostlerd [m]igrate'; then exit 0; fi; done 2>/dev/null; exit 1")
		return err
	})
}

const resumeUnit = "hostler-updater-resume.service"

// killedInTrial kills the updater while nobody may bring its run to an end, so that it stands still, cut off; and lets it
// come to its end then.
func (c *check) killedInTrial(ctx context.Context) (string, error) {
	if err := c.publish(ctx, heldVersion); err != nil {
		return "", err
	}
	said, down, err := c.killed(ctx, "hold-trial", "trial", endOf("failed", secondVersion, heldVersion).because("cut off in the step trial"), interval{
		before: func() error {
			t, err := c.told(ctx)
			if err == nil && (t.State != "running" || t.Run == nil || t.Run.Step != "migrate" || t.Run.To != heldVersion || t.Run.FinishedAt != nil || t.Run.RequestedBy != email) {
				err = fmt.Errorf("while the trial runs it tells %+v", t)
			}
			return errors.Join(err, c.refuses(ctx, "running"), c.maskResume(ctx))
		},
		after: func() error {
			if err := errors.Join(c.cutOff(ctx), c.refuses(ctx, "interrupted")); err != nil {
				return err
			}
			// Nor may the key change now: the old one is in the backup.
			_, err := c.machine.sh(ctx, "! hostlerd keys rotate && systemctl unmask --runtime --quiet "+resumeUnit+" && systemctl start "+resumeUnit)
			return err
		},
	})
	c.figure("killed in the trial: %s", said)
	if err == nil && down != 0 {
		err = fmt.Errorf("nothing had changed, and the service was away for %s", down)
	}
	return said, err
}

// maskResume keeps systemd from bringing the next run that is cut off to its end.
func (c *check) maskResume(ctx context.Context) error {
	_, err := c.machine.sh(ctx, "systemctl mask --runtime --quiet "+resumeUnit)
	return err
}

// cutOff waits until the service tells of a run that is cut off.
func (c *check) cutOff(ctx context.Context) error {
	return until(ctx, 10*time.Second, func() error {
		t, err := c.told(ctx)
		if err == nil && (t.State != "interrupted" || t.Run == nil || t.Run.Step != "migrate" || t.Run.FinishedAt != nil || !strings.Contains(t.Hint, resumeUnit)) {
			err = fmt.Errorf("after the kill it tells %+v", t)
		}
		return err
	})
}

// removedCutOff removes the package while an update is cut off, and installs it again: what brings the update to its end
// must be there still.
func (c *check) removedCutOff(ctx context.Context) (string, error) {
	said, _, err := c.killed(ctx, "hold-trial", "trial", endOf("failed", secondVersion, heldVersion).because("cut off in the step trial"), interval{
		before: func() error { return c.maskResume(ctx) },
		after: func() error {
			if err := c.cutOff(ctx); err != nil {
				return err
			}
			if _, err := c.machine.sh(ctx, "dpkg -r hostler && [ -x /opt/hostler/updater ] && systemctl unmask --runtime --quiet "+resumeUnit); err != nil {
				return err
			}
			_, err := c.dpkg(ctx, c.releases.first)
			return err
		},
	})
	return said, err
}

func (c *check) killedInMigrate(ctx context.Context) (string, error) {
	nothing := func() error { return nil }
	said, _, err := c.killed(ctx, "hold-live", "migrate", endOf("rolled_back", secondVersion, heldVersion).because("cut off in the step migrate"), interval{nothing, nothing})
	c.figure("killed in migrate: %s", said)
	return said, err
}

// interval is what is done right before and right after the kill.
type interval struct{ before, after func() error }

func (c *check) killed(ctx context.Context, file, step string, want standing, at interval) (said string, down time.Duration, err error) {
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

// quiet says whether nothing is under way and nothing waits for a human.
func (c *check) quiet(ctx context.Context) error {
	return until(ctx, 40*time.Second, func() error {
		out, err := c.machine.sh(ctx, "systemctl show -p ActiveState --value hostler-updater-resume.service; systemctl is-active hostler-updater.path")
		if err == nil && out != "inactive\nactive" {
			err = errors.New(out)
		}
		return err
	})
}

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
	return "", errors.Join(c.isNow(ctx, endOf("rolled_back", secondVersion, heldVersion).because("cut off in the step migrate")), c.quiet(ctx), c.listenForReleases())
}

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
		return "", errors.New("the update was done although the service could not be started any more")
	}
	if err := c.ended(ctx, lines, "rolled back", serves); err != nil {
		return "", err
	}
	took := time.Since(began)
	err = errors.Join(c.isNow(ctx, endOf("rolled_back", secondVersion, heldVersion).because("starting the service")), c.quiet(ctx), c.listenForReleases())
	return fmt.Sprintf("%s, %.1f s with the reboot", last, took.Seconds()), err
}

func (c *check) heldAtLast(ctx context.Context) (string, error) {
	if err := c.trailTells(ctx); err != nil {
		return "", err
	}
	_, down, err := c.attempt(ctx, heldVersion, "done", endOf("done", secondVersion, heldVersion))
	return fmt.Sprintf("%.2f s without service", down.Seconds()), err
}

func (c *check) upgradeBroken(ctx context.Context) (string, error) {
	if out, err := c.machine.sh(ctx, "cp -p /etc/hostler/updater.json /root/updater.json && echo '{' > /etc/hostler/updater.json"); err != nil {
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
		return "", fmt.Errorf("the service was away for %s", down)
	}
	t, err := c.told(ctx)
	if err == nil && (len(t.Problems) != 1 || !strings.Contains(t.Problems[0], "configuration cannot be read") || t.CanSelfApply || !strings.HasPrefix(t.Hint, "mend /etc/hostler/updater.json")) {
		err = fmt.Errorf("of the broken configuration it tells %+v", t)
	}
	return "", errors.Join(err, c.refuses(ctx, "configuration"), c.data(ctx))
}

// upgrade configures what was left half-way: the package's release goes through the updater like any other.
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
	return fmt.Sprintf("%.1f s, of these %.2f s without service", took(lines, "backup").Seconds(), down.Seconds()), nil
}

func (c *check) downgrade(ctx context.Context) (string, error) {
	out, err := c.dpkg(ctx, c.releases.first)
	if err != nil {
		return out, err
	}
	if !strings.Contains(out, "what is installed is newer") {
		return "", fmt.Errorf("it says nothing of that: %s", out)
	}
	if err := c.client.serves(ctx, fourthVersion, time.Second); err != nil {
		return "", err
	}
	_, err = c.dpkg(ctx, c.releases.fourth)
	return "", errors.Join(err, c.client.serves(ctx, fourthVersion, time.Second), c.data(ctx), c.stands(ctx), c.trailTells(ctx))
}
