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
	if t.State != "requested" && t.State != "running" || t.Request != nil &&
		(t.Request.Version != version || t.Request.RequestedBy != email) || t.available() != version {
		return fmt.Errorf("the requester of %s is %+v", version, t)
	}
	return nil
}

// request writes the file by which the service asks.
func (c *check) request(ctx context.Context, text string) error {
	_, err := c.machine.sh(ctx, "runuser -u hostler -- sh -c 'umask 077; cd /var/lib/hostler && printf %s \"$1\" > .request && mv "+
		".request update-request.json' sh '"+text+"'")
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
func (c *check) attempt(ctx context.Context, version, end string, want updateState) (lines []line, down time.Duration, err error) {
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
			return nil, 0, fmt.Errorf("no notification about %q: %q", one, seen)
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
	out, err := c.machine.sh(ctx,
		`readlink /opt/hostler/current; runuser -u postgres -- psql -Atc "SELECT datname FROM pg_database WHERE datname ~ '^hostler_'"`)
	if err == nil && out != "releases/"+serves {
		err = fmt.Errorf("the link and the databases beside the live one: %q", out)
	}
	return errors.Join(err, c.data(ctx))
}

// refused asks before anybody has named a source. The service refuses that; who writes the request past it gets a run that
// fails, or nothing. The unit must not go round.
func (c *check) refused(ctx context.Context) (string, error) {
	c.last = updateState{state: "idle", serves: firstVersion}
	t, err := c.told(ctx)
	if err == nil && (t.Shape != "package" || t.CanSelfApply || !strings.Contains(t.Hint, "set source and channel in "+
		"/etc/hostler/updater.json")) {
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
			out, err := c.machine.sh(ctx, "[ ! -e /var/lib/hostler/update-request.json ] && [ ! -L /var/lib/hostler/update-request.json ] && "+
				"systemctl show -p ActiveState --value hostler-updater.service")
			if err == nil && out != "failed" && out != "inactive" {
				err = errors.New(out)
			}
			return err
		}); err != nil {
			return "", err
		}
	}
	if err := c.isNow(ctx, updateState{state: "failed", from: firstVersion, step: "failed", reason: "has no source of releases",
		serves: firstVersion}); err != nil {
		return "", err
	}
	out, err := c.machine.sh(ctx,
		"systemctl is-active hostler-updater.path && [ -s /etc/shadow ] && journalctl -q -u hostler-updater.service | grep -c 'Starting '")
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
	if err == nil && (t.Available != nil || t.LastCheck != nil || !t.CanSelfApply || t.Channel != "stable" ||
		!strings.Contains(t.Hint, "releases have not been checked yet")) {
		err = fmt.Errorf("before the first check for releases it reports %+v", t)
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
func endOf(state, from, to string) updateState {
	w := updateState{state: state, from: from, to: to,
		step: map[string]string{"done": "done", "failed": "failed", "rolled_back": "rolled back"}[state], by: email}
	if w.serves = to; state != "done" {
		w.serves, w.available = from, to
	}
	return w
}

func (w updateState) because(reason string) updateState {
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
	return fmt.Sprintf("%.1f s, including %.2f s without service", took(lines, "backup").Seconds(), down.Seconds()), err
}

func (c *check) rollsBack(ctx context.Context, version string) (string, error) {
	lines, down, err := c.attempt(ctx, version, "rolled back",
		endOf("rolled_back", secondVersion, version).because("health-check: the service did not become ready"))
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
		want := updateState{state: "refused", to: crashVersion, reason: "is incomplete", by: email, serves: secondVersion,
			available: crashVersion}
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
