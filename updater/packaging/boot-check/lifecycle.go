package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// lifecycle runs all steps in the order in which they happen to an
// installation. Each step relies on the state that the previous ones left.
func (c *check) lifecycle(ctx context.Context) error {
	err := c.steps(ctx,
		step{"keys for releases, and the building of all of them begins", c.build},
		step{"a root of Debian " + suite, c.makeRoot},
		step{"boot", c.boot},
		step{"the package is built", c.firstBuilt},
		step{"install " + firstVersion, c.installFirst},
		step{"first owner, log-in, a team", c.makeData},
		step{"commands for the administrator", c.wrapper},
		step{"exposure of the units", c.exposure},
		step{"a request while no source is named is refused, once", c.refused},
		step{"a release server with an authority of its own", c.serve},
		step{"a release is built", c.secondBuilt},
		step{"a release is found by the schedule", c.look},
		step{"update to " + secondVersion, c.update},
		step{"a release whose service is never ready", c.silent},
		step{"a request that becomes no run", c.noRun},
		step{"a release whose service crashes", c.crash},
		step{"the updater is killed while it tries the migration", c.killedInTrial},
		step{"the package is removed while an update is cut off, and comes back", c.removedCutOff},
		step{"the updater is killed while it migrates", c.killedInMigrate},
		step{"the power fails while it migrates", c.powerCut},
		step{"a reboot while it migrates", c.rebooted},
		step{"the release that was cut off so often is installed", c.heldAtLast},
		step{"a release is tried by hand, and not installed", c.dryRun},
		step{"a package upgrade that cannot be configured, and can later", c.upgradeBroken},
		step{"package upgrade to " + fourthVersion, c.upgrade},
		step{"the upgrade is taken back by hand, and made again", c.takenBack},
		step{"an older package leaves what is installed", c.downgrade},
		step{"the key is rotated", c.rotate},
		step{"remove", c.remove},
		step{"install again", c.reinstall},
		step{"purge", c.purge},
		step{"install after the purge", c.installAnew},
	)
	if err != nil {
		return err
	}
	fmt.Println()
	for _, line := range c.figures {
		fmt.Println(line)
	}
	fmt.Printf("\nAll is well, after %.0f s.\n", time.Since(c.began).Seconds())
	return nil
}

// shortLife runs steps on the second machine that mostly wait: an installation
// into an image, a missing database, and the watchdog.
func (c *check) shortLife(ctx context.Context) error {
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return err
	}
	return c.steps(ctx,
		step{"a root of Debian " + suite, c.makeRoot},
		step{"install into a root that is not booted", c.offline},
		step{"boot", c.offlineBoots},
		step{"first owner, log-in, a team", c.makeData},
		step{"the database is away", c.databaseAway},
		step{"the service hangs and the watchdog ends it", c.hangs},
	)
}

// boot boots the machine. It returns the failed units, if any, for the report.
func (c *check) boot(ctx context.Context) (string, error) {
	if err := c.machine.boot(ctx, c.root()); err != nil {
		return "", err
	}
	var err error
	if c.client, err = newClient(&c.machine); err != nil {
		return "", err
	}
	return c.machine.sh(ctx, "systemctl is-system-running || true; systemctl --no-legend --failed")
}

// dpkg installs a package of this machine in the container.
func (c *check) dpkg(ctx context.Context, deb string) (string, error) {
	if err := c.copyIn(ctx, deb); err != nil {
		return "", err
	}
	return c.machine.sh(ctx, "dpkg -i /root/"+filepath.Base(deb)+" 2>&1")
}

// copyIn copies a package into the container's /root.
func (c *check) copyIn(ctx context.Context, deb string) error {
	_, err := c.program(ctx, "cp", deb, filepath.Join(c.root(), "root"))
	return err
}

// installFirst installs the first package on a booted system. postinst waits
// for the service, so it must be ready when dpkg ends. The step then checks
// units, permissions and links.
func (c *check) installFirst(ctx context.Context) (string, error) {
	var err error
	if c.files, err = c.list(); err != nil {
		return "", err
	}
	if _, err := c.dpkg(ctx, c.releases.first); err != nil {
		return "", err
	}
	// postinst starts the service and waits until it says that it is ready.
	if err := c.client.serves(ctx, firstVersion, time.Second); err != nil {
		return "", err
	}
	for what, line := range map[string]string{
		"units": "systemctl is-active hostler.service hostler-database.service hostler-updater.path && systemctl is-enabled " +
			"hostler.service hostler-updater.path hostler-updater-resume.service",
		"key":    `[ "$(stat -c '%a %U' /etc/hostler/keys /etc/hostler/keys/secret.key | tr '\n' ' ')" = "700 hostler 600 hostler " ]`,
		"hidden": `! nsenter -t "$(systemctl show -p MainPID --value hostler.service)" -m cat /etc/hostler/keys/secret.key`,
		"state":  `[ "$(stat -c '%a %U' /var/lib/hostler)" = "750 hostler" ]`,
		"links": `[ "$(readlink /opt/hostler/current) $(readlink /opt/hostler/updater)" = "releases/1.0.0 ` +
			`releases/1.0.0/bin/hostler-updater" ]`,
		"owner": `[ -z "$(find /opt/hostler /usr/lib/hostler ! -user root)" ]`,
	} {
		if out, err := c.machine.sh(ctx, line); err != nil {
			return out, fmt.Errorf("%s: %w", what, err)
		}
	}
	return "", nil
}

const (
	// email and password are those of the owner, and team is the name of the
	// team that makeData creates and data looks for.
	email    = "owner@example.com"
	password = "nine-quiet-lanterns-42"
	team     = "Web shop"
)

// makeData creates an owner and a team, to see later whether data survives.
func (c *check) makeData(ctx context.Context) (string, error) {
	if out, err := c.machine.sh(ctx, "printf '%s\\n' '"+password+"' | hostlerd owner create --email "+email+" --password-stdin"); err != nil {
		return out, err
	}
	if err := c.logIn(ctx); err != nil {
		return "", err
	}
	if _, err := c.client.call(ctx, "POST", "/api/v1/teams", map[string]string{"name": team}, nil); err != nil {
		return "", err
	}
	return "", c.data(ctx)
}

// logIn starts a new session.
func (c *check) logIn(ctx context.Context) error {
	var err error
	if c.client, err = newClient(&c.machine); err != nil {
		return err
	}
	_, err = c.client.call(ctx, "POST", "/api/v1/auth/login", map[string]string{"email": email, "password": password}, nil)
	return err
}

// data returns an error if the team no longer exists. It uses the session from
// before, which must survive updates too.
func (c *check) data(ctx context.Context) error {
	var teams []struct{ Name string }
	if _, err := c.client.call(ctx, "GET", "/api/v1/teams", nil, &teams); err != nil {
		return err
	}
	for _, t := range teams {
		if t.Name == team {
			return nil
		}
	}
	return fmt.Errorf("the team %q no longer exists: %v", team, teams)
}

// wrapper checks the commands for administrators: they must work as root,
// mostly also as another user, and must not leave files of root in the
// service's folders.
func (c *check) wrapper(ctx context.Context) (string, error) {
	for _, line := range []string{
		`[ "$(hostlerd version)" = 1.0.0 ]`,
		`[ "$(runuser -u nobody -- hostlerd version)" = 1.0.0 ]`,
		`! runuser -u nobody -- hostlerd plugin list`,
		`hostlerd plugin verify`,
		`hostlerd audit verify`,
		`hostler-updater status`,
		`runuser -u nobody -- hostler-updater status`,
		`bash -c '. /usr/share/bash-completion/completions/hostlerd && complete -p hostlerd'`,
		`[ -z "$(find /var/lib/hostler /etc/hostler/keys ! -user hostler)" ]`, // no command has left a file of root's
	} {
		if out, err := c.machine.sh(ctx, line); err != nil {
			return out, err
		}
	}
	return "", nil
}

// exposure records the exposure levels of the units (systemd-analyze security)
// and verifies the unit files.
func (c *check) exposure(ctx context.Context) (string, error) {
	for _, unit := range []string{"hostler.service", "hostler-database.service", "hostler-updater.service",
		"hostler-updater-resume.service"} {
		out, err := c.machine.sh(ctx, "systemd-analyze --no-pager security "+unit+" | tail -1")
		if err != nil {
			return out, err
		}
		number := regexp.MustCompile(`[0-9]+\.[0-9]`).FindString(out)
		if number == "" {
			return "", fmt.Errorf("systemd-analyze says %q", out)
		}
		c.figure("exposure of %s: %s", unit, number)
	}
	out, err := c.machine.sh(ctx, "systemd-analyze --man=no verify /lib/systemd/system/hostler* 2>&1")
	if err == nil && strings.Contains(out, "hostler") {
		err = errors.New(out)
	}
	return "", err
}

// databaseAway stops PostgreSQL and waits for more failed starts than systemd's
// default limit (five in ten seconds) allows. The service must run soon after
// PostgreSQL is back.
func (c *check) databaseAway(ctx context.Context) (string, error) {
	if _, err := c.machine.sh(ctx,
		"systemctl stop postgresql.service 'postgresql@*' && systemctl restart --no-block hostler.service"); err != nil {
		return "", err
	}
	// Longer than systemd's own limit of five starts in ten seconds.
	var restarts string
	err := until(ctx, time.Minute, func() (err error) {
		restarts, err = c.machine.sh(ctx, "n=$(systemctl show -p NRestarts --value hostler.service); echo $n; [ $n -ge 7 ]")
		return err
	})
	if err != nil {
		return "", err
	}
	if _, err := c.machine.sh(ctx, "systemctl start postgresql.service"); err != nil {
		return "", err
	}
	began := time.Now()
	if err := c.client.serves(ctx, firstVersion, 30*time.Second); err != nil {
		return "", err
	}
	return fmt.Sprintf("after %s failed starts it is up %.1f s after PostgreSQL is back", restarts, time.Since(began).Seconds()), c.data(ctx)
}

// hangs stops the process of the service (SIGSTOP). The watchdog must end it
// and systemd must start it again.
func (c *check) hangs(ctx context.Context) (string, error) {
	// It answers a moment before it says so, and from then on systemd watches it.
	if err := until(ctx, 20*time.Second, func() error {
		_, err := c.machine.sh(ctx, "systemctl is-active hostler.service")
		return err
	}); err != nil {
		return "", err
	}
	pid, err := c.machine.sh(ctx, "systemctl show -p MainPID --value hostler.service")
	if err != nil {
		return "", err
	}
	if _, err := c.machine.sh(ctx, "kill -STOP "+pid); err != nil {
		return "", err
	}
	began := time.Now()
	err = until(ctx, 70*time.Second, func() error {
		_, err := c.machine.sh(ctx, `p=$(systemctl show -p MainPID --value hostler.service); [ "$p" != 0 ] && [ "$p" != `+pid+` ]`)
		return err
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("ended after %.0f s", time.Since(began).Seconds()), c.client.serves(ctx, firstVersion, 20*time.Second)
}

// rotate changes the key by the administrator's command, and looks whether all that is sealed can still be read.
func (c *check) rotate(ctx context.Context) (string, error) {
	before, err := c.machine.sh(ctx, "sha256sum /etc/hostler/keys/secret.key; systemctl show -p MainPID --value hostler.service")
	if err != nil {
		return "", err
	}
	if out, err := c.machine.sh(ctx, "hostlerd keys rotate"); err != nil {
		return out, err
	}
	if err := c.client.serves(ctx, fourthVersion, 20*time.Second); err != nil {
		return "", err
	}
	after, err := c.machine.sh(ctx, "sha256sum /etc/hostler/keys/secret.key; systemctl show -p MainPID --value hostler.service")
	if err != nil {
		return "", err
	}
	old, fresh := strings.Split(before, "\n"), strings.Split(after, "\n")
	if len(old) != 2 || len(fresh) != 2 || old[0] == fresh[0] || old[1] == fresh[1] {
		return "", fmt.Errorf("before %q, after %q", before, after)
	}
	if out, err := c.machine.sh(ctx, "hostlerd audit verify"); err != nil {
		return out, err
	}
	// One that fails leaves a service that runs: the key of another user cannot be replaced.
	if out, err := c.machine.sh(ctx, "chown root /etc/hostler/keys && ! hostlerd keys rotate && chown hostler /etc/hostler/keys && "+
		"systemctl is-active hostler.service"); err != nil {
		return out, err
	}
	return "", errors.Join(c.client.serves(ctx, fourthVersion, 20*time.Second), c.data(ctx))
}

// remove removes the package. Programs, units and processes must be gone;
// configuration, key, state and database must stay.
func (c *check) remove(ctx context.Context) (string, error) {
	if out, err := c.machine.sh(ctx, "dpkg -r hostler 2>&1"); err != nil {
		return out, err
	}
	for what, line := range map[string]string{
		"processes": `[ -z "$(find /proc -maxdepth 1 -user hostler)" ]`,
		"units":     "! systemctl is-active hostler.service hostler-updater.path hostler-database.service",
		"programs":  "[ ! -e /opt/hostler ] && [ ! -e /usr/lib/hostler ] && [ ! -e /usr/sbin/hostlerd ]",
		"kept": "[ -s /etc/hostler/keys/secret.key ] && [ -s /etc/hostler/hostlerd.env ] && [ -d /var/lib/hostler ] && [ -s " +
			"/etc/hostler/updater.json ]",
		"database": `runuser -u postgres -- psql -Atc "SELECT 1 FROM teams WHERE name = '` + team + `'" hostler | grep -qx 1`,
	} {
		if out, err := c.machine.sh(ctx, line); err != nil {
			return out, fmt.Errorf("%s: %w", what, err)
		}
	}
	return "", nil
}

// reinstall installs the package again. It must continue with the old data, and
// even the old session.
func (c *check) reinstall(ctx context.Context) (string, error) {
	if out, err := c.dpkg(ctx, c.releases.fourth); err != nil {
		return out, err
	}
	if err := c.client.serves(ctx, fourthVersion, time.Second); err != nil {
		return "", err
	}
	if err := c.data(ctx); err != nil {
		return "", err
	}
	return "the session of before holds still", errors.Join(c.stands(ctx), c.trailTells(ctx), c.logIn(ctx))
}

// purge purges the package. Only the updater's backups may be left, because
// they can be the last copy of the data.
func (c *check) purge(ctx context.Context) (string, error) {
	if out, err := c.machine.sh(ctx, "dpkg -P hostler </dev/null 2>&1"); err != nil {
		return out, err
	}
	for what, line := range map[string]string{
		"user": "! getent passwd hostler && ! getent group hostler",
		"database": `[ -z "$(runuser -u postgres -- psql -Atc "SELECT datname FROM pg_database WHERE datname LIKE 'hostler%'
			UNION SELECT rolname FROM pg_roles WHERE rolname = 'hostler'")" ]`,
		"units": "! systemctl cat hostler.service",
		"dpkg":  "! dpkg -s hostler",
	} {
		if out, err := c.machine.sh(ctx, line); err != nil {
			return out, fmt.Errorf("%s: %w", what, err)
		}
	}
	left, err := c.left()
	if err != nil {
		return "", err
	}
	backups := 0
	for _, path := range left {
		switch {
		case path == "/var/lib/hostler-updater" || path == "/var/lib/hostler-updater/backups":
		case strings.HasPrefix(path, "/var/lib/hostler-updater/backups/"):
			backups++
		default:
			err = errors.Join(err, fmt.Errorf("%s is left", path))
		}
	}
	if backups == 0 {
		err = errors.Join(err, errors.New("no backup is left"))
	}
	return fmt.Sprintf("%d files and folders are left, all of them backups", backups), err
}

// others are folders whose content changes without the package.
var others = []string{"/dev", "/proc", "/sys", "/run", "/tmp", "/var/tmp", "/root", "/var/log", "/var/cache", "/var/lib/postgresql",
	"/var/lib/systemd",
	"/var/lib/dpkg/info", "/var/lib/dpkg/updates", "/var/lib/dpkg/triggers", "/usr/local/share/ca-certificates", "/etc/ssl/certs"}

// backupsOfFiles matches the copies that Debian's programs keep of files that
// they changed, and files of the machine's identity.
var backupsOfFiles = regexp.MustCompile(`^/(etc/(passwd|group|shadow|gshadow|subuid|subgid)-|etc/\.pwd\.lock|var/lib/dpkg/[a-z-]+-old|` +
	`etc/machine-id|etc/hostname)$`)

// list returns all paths of the root that only the package changes.
func (c *check) list() ([]string, error) {
	var paths []string
	err := filepath.WalkDir(c.root(), func(path string, entry os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name := "/" + strings.TrimPrefix(strings.TrimPrefix(path, c.root()), "/")
		if slices.Contains(others, name) {
			return filepath.SkipDir
		}
		if !backupsOfFiles.MatchString(name) {
			paths = append(paths, name)
		}
		return nil
	})
	return paths, err
}

// left returns the paths that did not exist before the package was installed.
func (c *check) left() ([]string, error) {
	now, err := c.list()
	if err != nil {
		return nil, err
	}
	before := map[string]bool{}
	for _, path := range c.files {
		before[path] = true
	}
	return slices.DeleteFunc(now, func(path string) bool { return before[path] }), nil
}

// installAnew finds nothing but the backups of what was here before.
func (c *check) installAnew(ctx context.Context) (string, error) {
	if out, err := c.dpkg(ctx, c.releases.first); err != nil {
		return out, err
	}
	return "", c.client.serves(ctx, firstVersion, time.Second)
}

// offline installs the package into a root that is not booted, like the builder
// of an image does. It does so twice, as after an interrupted installation.
func (c *check) offline(ctx context.Context) (string, error) {
	if err := c.copyIn(ctx, c.releases.first); err != nil {
		return "", err
	}
	for range 2 { // again, as after an installation that was cut off
		if out, err := c.program(ctx, "systemd-nspawn", "--quiet", "--pipe", "-D", c.root(), "--register=no", "--keep-unit",
			"--private-network", "--resolv-conf=off", "--timezone=off",
			"dpkg", "-i", "/root/"+filepath.Base(c.releases.first)); err != nil {
			return out, err
		}
	}
	return "", nil
}

// offlineBoots boots the image. The service must start without help.
func (c *check) offlineBoots(ctx context.Context) (string, error) {
	if _, err := c.boot(ctx); err != nil {
		return "", err
	}
	if err := c.client.serves(ctx, firstVersion, 30*time.Second); err != nil {
		return "", err
	}
	_, err := c.machine.sh(ctx, "systemctl is-active hostler-updater.path && ! systemctl is-failed hostler-updater-resume.service")
	return "", err
}
